/* service/api_read.h - reads JSON from outside into structs: every member is checked by name, kind and range before
 * anything is done with any of them. Knows neither HTTP nor worlds. Any thread. */
#ifndef SERVICE_API_READ_H
#define SERVICE_API_READ_H

#include "base/fields.h"

#include <muster/muster.h>

struct json_t; /* <jansson.h>, whose names are not all compatible with those of base/json.h */

/* What is wrong with a request. */
typedef struct api_problem {
  unsigned status;   /* of the answer; 0 = nothing is wrong */
  char code[24];     /* a word for programs */
  char field[96];    /* the field at fault; empty = none */
  char message[320]; /* a sentence for people */
} api_problem;

/* Stores the problem, printf-style, and returns false; `field` may be null. */
bool api_complain(api_problem *problem, unsigned status, const char *code, const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Parses a text that must be one JSON value without duplicate members. Null with a problem; the caller releases it. */
struct json_t *api_parse(const void *text, size_t bytes, api_problem *problem);

/* Whether a text is such a value; else with a problem. */
bool api_is_json(const void *text, size_t bytes, api_problem *problem);

/* The fields that a body may have; the last row has no name. */
enum { API_FIELDS = 33 };

/* Appends the rows of a table, for a definition at `offset` in what is read; or those that are live, for a tuning
 * there. A default that stands for itself cannot be given. */
void api_append(field_row rows[API_FIELDS], const field_row *table, bool live, size_t offset);

/* Reads the members of an object into `out`. `path` stands before the names of fields in problems ("agents[3]."). The
 * bits of `given` (may be null) tell which fields were there, by their order. False with a problem. */
bool api_read(const struct json_t *object, const char *path, const field_row *fields, void *out, uint32_t *given,
              api_problem *problem);

#endif
