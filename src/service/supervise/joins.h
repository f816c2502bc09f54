/* service/supervise/joins.h - answers that concern all worlds, made of what each world's process answers. */
#ifndef SERVICE_SUPERVISE_JOINS_H
#define SERVICE_SUPERVISE_JOINS_H

#include "service/metrics.h"
#include "service/supervise/front.h"
#include "service/supervise/processes.h"
#include "service/zones/holder.h"

/* What the answers are made of; all of them stay the caller's. */
typedef struct joins_of {
  struct front *front;
  struct processes *processes;
  const struct http *http; /* the server that clients ask */
  const struct metrics *metrics;
  const struct holder *holder; /* null = no world is a zone */
} joins_of;

/* Answers a request whose path names no world. False: it is not of this kind, and still open. Loop's thread. */
bool joins_handle(http_request *request, const joins_of *of);

#endif
