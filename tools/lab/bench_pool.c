/* `muster bench dispatch` and `muster bench priority`: the worker pool beside other job systems, in interleaved rounds
 * of one run. */
#include "bench_pool.h"
#include "rounds.h"
#include "work.h"

#include "complaint.h"
#include "parse.h"

#include <muster/jobs.h>

#include <math.h>
#include <string.h>

/* The 99th percentile is the smallest sample that 99 % of them do not exceed, or that 99 % reach. */
static void add_round(pool_row *row, bench_samples *samples) {
  double *values = samples->values;
  uint32_t count = samples->count, round = row->round_count++;
  bool more = row->series->more_is_better;
  row->samples += count;
  row->rounds[POOL_P50][round] = rounds_median(values, count); /* sorts */
  row->rounds[POOL_P99][round] = values[more ? count / 100 : (count * 99 + 99) / 100 - 1];
  row->rounds[POOL_MAX][round] = values[more ? 0 : count - 1];
}

const pool_row *pool_find(const pool_work *work, const bench_system *system, const bench_series *series,
                          uint32_t workers) {
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if ((!system || row->system == system) && (!series || row->series == series) &&
        (!workers || row->workers == workers))
      return row;
  }
  return NULL;
}

static void pool_add(pool_work *work, const bench_system *system, const bench_series *series, uint32_t workers,
                     bench_samples *samples) {
  if (samples->count == 0) return;
  pool_row *row = (pool_row *)pool_find(work, system, series, workers);
  if (!row) {
    row = &work->rows[work->row_count++];
    *row = (pool_row){.system = system, .series = series, .workers = workers};
  }
  add_round(row, samples);
}

static void pool_note(pool_work *work, const char *text) {
  for (uint32_t i = 0; i < work->note_count; i++)
    if (strcmp(work->notes[i], text) == 0) return;
  if (work->note_count < POOL_NOTES_MAX) snprintf(work->notes[work->note_count++], sizeof work->notes[0], "%s", text);
}

/* ---------------------------------------------------------------------------------------------------------- contest */

bool pool_is_reference(const bench_system *system) {
  return system->only[0] != NULL;
}

const pool_row *pool_best_other(const pool_work *work, const pool_row *own) {
  const pool_row *best = NULL;
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if (row->series != own->series || row->workers != own->workers || row->system == own->system) continue;
    if (pool_is_reference(row->system)) continue;
    double p50 = row->result[POOL_P50], most = best ? best->result[POOL_P50] : 0;
    if (!best || (row->series->more_is_better ? p50 > most : p50 < most)) best = row;
  }
  return best;
}

/* Whether a value counts as zero, such as the CPU time of a process that sleeps. */
static bool is_nothing(const bench_series *series, double value) {
  return fabs(value) < (strcmp(series->unit, "percent") == 0 ? 0.1 : 0.01);
}

double pool_against(const pool_row *own, const pool_row *other) {
  double ours = own->result[POOL_P50], theirs = other->result[POOL_P50];
  if (is_nothing(own->series, ours) && is_nothing(own->series, theirs)) return 1;
  if (ours <= 0 || theirs <= 0) return NAN;
  return own->series->more_is_better ? ours / theirs : theirs / ours;
}

enum { NAMES_MAX = 32 };

/* ----------------------------------------------------------------------------------------------------- named things */

typedef struct name_list {
  const char *names[NAMES_MAX];
  size_t count;
} name_list;

static name_list system_names(void) {
  name_list list = {.count = 0};
  for (const char *key; list.count < NAMES_MAX && (key = bench_system_key((uint32_t)list.count)) != NULL;)
    list.names[list.count++] = key;
  return list;
}

static name_list measure_names(const bench_suite *suite) {
  name_list list = {.count = 0};
  for (const bench_measure *measure = suite->measures; measure->take; measure++)
    for (const bench_series *series = measure->series; series->key && list.count < NAMES_MAX; series++)
      list.names[list.count++] = series->key;
  return list;
}

static bool check_list(const char *list, const char *what, const name_list *known) {
  char name[OPTION_WORD_BYTES];
  bool found = true;
  while (found && options_list_next(&list, name)) {
    found = false;
    for (size_t i = 0; i < known->count; i++) found = found || strcmp(name, known->names[i]) == 0;
    if (!found) complain_unknown(what, name, known->names, known->count, "");
  }
  return found;
}

bool pool_wants_system(const pool_work *work, const char *key) {
  return options_list_has(work->sweep && !work->systems_wanted ? "muster" : work->systems_wanted, key);
}

bool pool_wants_measure(const pool_work *work, const bench_measure *measure) {
  if (work->sweep && !measure->in_sweep) return false;
  for (const bench_series *series = measure->series; series->key; series++)
    if (options_list_has(work->measures_wanted, series->key)) return true;
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- options */

uint32_t pool_next_workers(uint32_t workers, uint32_t last) {
  if (workers >= last) return last + 1;
  uint32_t next = workers < 8 ? workers + 1 : workers + workers / 4;
  return next < last ? next : last;
}

/* Benches of another kind have options of their own, so their name leads. */
static int find_suite(pool_work *work, const char *name) {
  name_list known = {.count = 0};
  for (const bench_suite *suite = bench_suites; suite->name; suite++) {
    known.names[known.count++] = suite->name;
    if (strcmp(name, suite->name) == 0) work->suite = suite;
  }
  if (work->suite) return STATUS_OK;
  size_t suites = known.count;
#ifdef MUSTER_HAS_CTL
  known.names[known.count++] = "all";
#endif
  for (size_t i = 0; benches[i]; i++) known.names[known.count++] = benches[i]->name;
  for (size_t i = suites; i < known.count; i++)
    if (strcmp(name, known.names[i]) == 0) return complain_usage("give '%s' before its options", name);
  return complain_unknown("bench", name, known.names, known.count, "");
}

/* Whether the measures that are wanted can be taken with so many workers. */
static int check_workers(const pool_work *work) {
  bool any = false;
  for (const bench_measure *measure = work->suite->measures; measure->take; measure++)
    any = any || (pool_wants_measure(work, measure) && measure->workers_min <= work->workers_last);
  if (any) return STATUS_OK;
  if (work->sweep)
    return complain_usage("a sweep over workers has submit, parallel-for, claim and queue-claims of dispatch; "
                          "give one number to --workers");
  return complain_usage("what was asked for needs at least 2 workers; give --workers 2");
}

/* A peer that was named but is not installed is an error; if it were left out silently it would seem measured. */
static int check_presence(const pool_work *work) {
  for (uint32_t i = 0; i < work->systems.absent_count && work->systems_wanted; i++) {
    const bench_absence *absence = &work->systems.absent[i];
    if (pool_wants_system(work, absence->key) || pool_wants_system(work, absence->best))
      return complain_failure("%s is absent: %s; run tools/setup --peers, then configure and build anew", absence->key,
                              absence->reason);
  }
  return STATUS_OK;
}

static int check(void *user) {
  pool_work *work = user;
  char **names = work->common.rest;
  if (!names[0]) return complain_usage("give a bench, such as `muster bench dispatch`; see `muster bench --help`");
  if (names[1]) return complain_usage("one bench at a time: '%s' is too many", names[1]);
  int status = find_suite(work, names[0]);
  if (status) return status;
  work->sweep = work->workers && strstr(work->workers, "..");
  name_list known_systems = system_names(), known_measures = measure_names(work->suite);
  if (!check_list(work->systems_wanted, "system", &known_systems)) return STATUS_USAGE;
  if (!check_list(work->measures_wanted, "measure", &known_measures)) return STATUS_USAGE;
  uint64_t first = muster_available_processors(), last;
  if (first < 2) first = 2;
  last = first = first < POOL_WORKERS_MAX ? first : POOL_WORKERS_MAX;
  if (work->workers &&
      !parse_range("--workers", work->workers, "..", 1, POOL_WORKERS_MAX, POOL_WORKERS_MAX, &first, &last))
    return STATUS_USAGE;
  work->workers_first = (uint32_t)first;
  work->workers_last = (uint32_t)last;
  status = check_workers(work);
  if (status) return status;
  bench_systems_find(&work->systems, work->peers);
  return check_presence(work);
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* One measure of one system, once. */
static void take(pool_work *work, const bench_measure *measure, const bench_system *system, uint32_t workers,
                 bench_samples *samples) {
  bench_context context = {.system = system, .workers = workers, .quick = work->common.quick, .samples = samples};
  const char *wrong = bench_take(measure, &context);
  if (wrong) {
    char note[256];
    snprintf(note, sizeof note, "%s %s in %s with %u workers", system->name, wrong, measure->series->key, workers);
    pool_note(work, note);
    return;
  }
  for (uint32_t i = 0; measure->series[i].key; i++) pool_add(work, system, &measure->series[i], workers, &samples[i]);
}

/* One measure of all systems, beginning with another one in each round. On a terminal each step shows. */
static void take_of_all(pool_work *work, uint32_t round, const bench_measure *measure, bench_samples *samples) {
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[(i + round) % work->systems.present_count];
    if (!pool_wants_system(work, system->key)) continue;
    for (uint32_t workers = work->workers_first; workers <= work->workers_last;
         workers = pool_next_workers(workers, work->workers_last)) {
      if (!bench_takes_part(system, measure, workers)) continue;
      if (work->common.line.terminal)
        progress_put(&work->common.line, "round %u of %u: %s, %s", round + 1, work->common.rounds, measure->series->key,
                     system->name);
      take(work, measure, system, workers, samples);
    }
  }
}

static const char *measure(void *user) {
  pool_work *work = user;
  work_calibrate();
  bench_samples *samples = bench_samples_create();
  if (!samples) return "out of memory";
  for (uint32_t round = 0; round < work->common.rounds; round++) {
    if (!work->common.line.terminal) progress_put(&work->common.line, "round %u of %u", round + 1, work->common.rounds);
    for (const bench_measure *measure = work->suite->measures; measure->take; measure++)
      if (pool_wants_measure(work, measure)) take_of_all(work, round, measure, samples);
  }
  for (pool_row *row = work->rows; row < work->rows + work->row_count; row++)
    for (int i = 0; i < POOL_QUANTILES; i++) row->result[i] = rounds_median(row->rounds[i], row->round_count);
  return NULL;
}

static int judge(const void *user) {
  const pool_work *work = user;
  if (work->note_count > 0) return complain_failure("%s", work->notes[0]);
  if (work->row_count > 0) return STATUS_OK;
  return complain_failure("there is nothing to measure: none of the systems that --only names takes part");
}

static const option_def options[] = {OPTION("workers", TEXT, pool_work, workers),
                                     BENCH_ROUNDS(POOL_ROUNDS_MAX),
                                     OPTION("only", TEXT, pool_work, systems_wanted),
                                     OPTION("measure", TEXT, pool_work, measures_wanted),
                                     OPTION("peers", TEXT, pool_work, peers),
                                     BENCH_QUICK,
                                     BENCH_JSON,
                                     {0}};

const bench_def bench_pool = {.show_help = bench_show_help,
                              .options = options,
                              .bytes = sizeof(pool_work),
                              .rounds = {5, 1},
                              .noisy = true,
                              .check = check,
                              .measure = measure,
                              .print = pool_print,
                              .write = pool_write,
                              .judge = judge};
