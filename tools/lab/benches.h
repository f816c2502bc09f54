/* benches.h - all benches. */
#ifndef LAB_BENCHES_H
#define LAB_BENCHES_H

#include "bench.h"

extern const bench_def bench_activation, bench_budget, bench_control, bench_cores, bench_journal, bench_law,
    bench_lines, bench_machine, bench_pool, bench_quality, bench_replication, bench_scale, bench_scripts, bench_sets,
    bench_stages, bench_sweep, bench_zones;

/* Those that have options of their own, by name; ended by a null. */
extern const bench_def *const benches[];

/* `muster bench --help`. */
void bench_show_help(FILE *stream);

#endif
