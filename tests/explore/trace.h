/* trace.h - what was done in one schedule, operation by operation. */
#ifndef EXPLORE_TRACE_H
#define EXPLORE_TRACE_H

#include "explorer.h"

/* Forgets everything. */
void trace_begin(void);

/* An operation that the fibre is about to do. What the word becomes is read when the next event comes. */
void trace_operation(uint32_t fibre, const explore_site *site, const void *word);

/* Something else that happened, printf-style. */
void trace_note(uint32_t fibre, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the last events. */
void trace_print(uint32_t events_max);

#endif
