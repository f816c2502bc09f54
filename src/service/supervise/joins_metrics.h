/* service/supervise/joins_metrics.h - one document of metrics for Prometheus, made of several that have the same
 * families: each family comes once, with the samples of all. */
#ifndef SERVICE_SUPERVISE_JOINS_METRICS_H
#define SERVICE_SUPERVISE_JOINS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct joins_metrics_part {
  const char *world; /* its samples that name no world get this as their `process`; null: they stay as they are */
  const char *text;  /* what is neither a sample nor a comment on a family in it is left out */
} joins_metrics_part;

/* Writes the document. False: there is no memory. */
bool joins_write_metrics(const joins_metrics_part *parts, uint32_t count, FILE *out);

#endif
