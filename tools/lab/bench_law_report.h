/* bench_law_report.h - the results of `muster bench law` for people and for machines, and what was promised. */
#ifndef TOOLS_BENCH_LAW_REPORT_H
#define TOOLS_BENCH_LAW_REPORT_H

#include "base/json.h"
#include "bench_law_run.h"

/* A world at a load with a seed. */
typedef struct law_row {
  const char *world;
  double own_p99_most; /* of that world */
  double load;
  uint64_t seed;
  law_cell cell;
} law_row;

/* The promises of the law of importance, as bits: those that a row misses. */
typedef enum law_miss {
  LAW_MISS_OWN_P50 = 1 << 0,
  LAW_MISS_OWN_P99 = 1 << 1,
  LAW_MISS_INTERVAL = 1 << 2,
  LAW_MISS_AGE = 1 << 3,
  LAW_MISS_ORDER = 1 << 4,
  LAW_MISS_WAIT = 1 << 5,
  LAW_MISS_IDLE = 1 << 6
} law_miss;

extern const double law_own_p50_most, law_own_p99_most, law_own_p99_most_of_leaps, law_interval_most, law_age_most,
    law_age_frames, law_order_noise;

/* law_miss bits; 0 = all is kept. */
uint32_t law_misses(const law_row *row);

/* The age at the ends of frames that a band's p99 may have. */
double law_age_allowed_s(const law_stay *stay);

void law_print_head(void);
void law_print_row(const law_row *row);

/* What the columns mean, and what was missed. */
void law_print_end(const law_row *rows, uint32_t count);

/* "wildlife at load 6, seed 1: p99, age". */
void law_name_misses(const law_row *row, char *text, size_t bytes);

void law_write_json(const law_row *rows, uint32_t count, json_writer *writer);

#endif
