/* rows.h - tables of what is shown of a struct, such as a report in /metrics or in JSON: each row names what is shown
 * and the member that it is of. The rows get values of their own, so that two of them which were swapped are seen. */
#ifndef ROWS_H
#define ROWS_H

#include "room.h"

typedef enum row_kind { ROW_WHOLE_64 = 0, ROW_WHOLE_32, ROW_FRACTION, ROW_PRECISE, ROW_SWITCH } row_kind;

typedef struct shown_row {
  const char *name;
  row_kind kind;
  size_t offset;
} shown_row;

#define ROW_KIND_OF(value)                                                                                             \
  _Generic(value, uint64_t                                                                                             \
           : ROW_WHOLE_64, int64_t                                                                                     \
           : ROW_WHOLE_64, uint32_t                                                                                    \
           : ROW_WHOLE_32, float                                                                                       \
           : ROW_FRACTION, double                                                                                      \
           : ROW_PRECISE, bool                                                                                         \
           : ROW_SWITCH)
#define ROW_OF(whole, name, member)                                                                                    \
  { name, ROW_KIND_OF(((whole *)0)->member), offsetof(whole, member) }

/* A value that a row of that number has, and no other; exact in the row's kind of number. A switch is off: its two
 * values are tried one switch after the other. */
static inline double row_value(const shown_row *row, uint64_t number) {
  if (row->kind == ROW_SWITCH) return 0;
  return row->kind == ROW_FRACTION ? 1 + (double)number / 1024 : 1000003 + 7919 * (double)number;
}

static inline void row_put(const shown_row *row, void *whole, double value) {
  void *place = (char *)whole + row->offset;
  if (row->kind == ROW_WHOLE_64) *(uint64_t *)place = (uint64_t)value;
  if (row->kind == ROW_WHOLE_32) *(uint32_t *)place = (uint32_t)value;
  if (row->kind == ROW_FRACTION) *(float *)place = (float)value;
  if (row->kind == ROW_PRECISE) *(double *)place = value;
  if (row->kind == ROW_SWITCH) *(bool *)place = value != 0;
}

/* Gives the rows the values of the numbers from `first` on. */
static inline void rows_fill(const shown_row *rows, size_t count, void *whole, uint64_t first) {
  for (size_t i = 0; i < count; i++) row_put(&rows[i], whole, row_value(&rows[i], first + i));
}

/* A sample of a text of metrics, by its name and labels. */
static inline void expect_sample(const char *text, double wanted, const char *name) {
  double value = sample_in(text, name);
  cr_expect(value >= 0, "there is no %s", name);
  cr_expect(fabs(value - wanted) <= 1e-12 * fabs(wanted), "%s is %.15g instead of %.15g", name, value, wanted);
}

#endif
