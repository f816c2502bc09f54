/* service/exposition.h - writes the text format of Prometheus, version 0.0.4: families of samples with labels. */
#ifndef SERVICE_EXPOSITION_H
#define SERVICE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* A text that grows as it is written to. */
struct exposition {
  char *text; /* bytes of it; owned: exposition_free */
  size_t bytes, room;
  const char *family; /* the family of the samples that follow */
  bool failed;        /* memory was refused: the text is incomplete */
};

typedef struct exposition_label {
  const char *name;
  const char *value; /* any bytes: they are escaped where needed, and invalid UTF-8 becomes '?' */
} exposition_label;

enum { EXPOSITION_LABELS_MAX = 6 };

/* Labels of a sample. */
typedef struct exposition_labels {
  uint32_t count;
  exposition_label labels[EXPOSITION_LABELS_MAX];
} exposition_labels;

/* A number is a counter when its family's name ends in _total, and a gauge otherwise. */
typedef enum exposition_kind { EXPOSITION_NUMBER = 0, EXPOSITION_HISTOGRAM, EXPOSITION_SUMMARY } exposition_kind;

/* Begins a family; each name comes once, and all its samples before the next family. `name` and `help` are used until
 * then. */
void exposition_begin(struct exposition *exposition, const char *name, exposition_kind kind, const char *help);

/* A sample of the family, whose name ends in `suffix` ("" for most). Labels may be null. */
void exposition_write(struct exposition *exposition, const char *suffix, const exposition_labels *labels, double value);
void exposition_write_count(struct exposition *exposition, const char *suffix, const exposition_labels *labels,
                            uint64_t value);

/* Adds one label to the labels. */
exposition_labels exposition_with(const exposition_labels *labels, const char *name, const char *value);

/* Frees the text; it is empty afterwards. */
void exposition_free(struct exposition *exposition);

#endif
