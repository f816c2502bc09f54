/* `muster bench dispatch` and `muster bench priority`: the worker pool beside other job systems, in interleaved rounds
 * of one run. */
#include "bench_pool.h"
#include "rounds.h"

#include "complaint.h"
#include "parse.h"

#include <muster/jobs.h>

#include <math.h>
#include <string.h>

/* The smallest sample that is not exceeded by `percent` of them. */
static double quantile(const double *sorted, uint32_t count, uint32_t percent) {
  uint32_t rank = (uint32_t)(((uint64_t)count * percent + 99) / 100);
  return sorted[rank > 0 ? rank - 1 : 0];
}

static pool_quantiles quantiles_of(bench_samples *samples, bool more_is_better) {
  double *values = samples->values;
  uint32_t count = samples->count;
  double p50 = rounds_median(values, count); /* sorts */
  if (!more_is_better) return (pool_quantiles){p50, quantile(values, count, 99), values[count - 1]};
  uint32_t low = (uint32_t)((uint64_t)count / 100);
  return (pool_quantiles){p50, values[low], values[0]};
}

const pool_row *pool_find(const pool_work *work, const bench_system *system, const bench_series *series,
                          uint32_t workers) {
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if (row->system == system && row->series == series && row->workers == workers) return row;
  }
  return NULL;
}

static bool pool_add(pool_work *work, const bench_system *system, const bench_series *series, uint32_t workers,
                     bench_samples *samples) {
  if (samples->count == 0) return true;
  pool_row *row = (pool_row *)pool_find(work, system, series, workers);
  if (!row && work->row_count == POOL_ROWS_MAX) return false;
  if (!row) {
    row = &work->rows[work->row_count++];
    *row = (pool_row){.system = system, .series = series, .workers = workers};
  }
  row->samples += samples->count;
  row->rounds[row->round_count++] = quantiles_of(samples, series->more_is_better);
  return true;
}

static void pool_note(pool_work *work, const char *text) {
  for (uint32_t i = 0; i < work->note_count; i++)
    if (strcmp(work->notes[i], text) == 0) return;
  if (work->note_count < POOL_NOTES_MAX) snprintf(work->notes[work->note_count++], sizeof work->notes[0], "%s", text);
}

static void finish_row(pool_row *row) {
  double p50[POOL_ROUNDS_MAX], p99[POOL_ROUNDS_MAX], max[POOL_ROUNDS_MAX];
  for (uint32_t i = 0; i < row->round_count; i++) {
    p50[i] = row->rounds[i].p50;
    p99[i] = row->rounds[i].p99;
    max[i] = row->rounds[i].max;
  }
  row->result.p50 = rounds_median(p50, row->round_count); /* sorts */
  row->result.p99 = rounds_median(p99, row->round_count);
  row->result.max = rounds_median(max, row->round_count);
  row->p50_lowest = p50[0];
  row->p50_highest = p50[row->round_count - 1];
}

static void pool_finish(pool_work *work) {
  for (uint32_t i = 0; i < work->row_count; i++) finish_row(&work->rows[i]);
}

/* ---------------------------------------------------------------------------------------------------------- contest */

bool pool_is_reference(const bench_system *system) {
  return system->only != NULL;
}

const pool_row *pool_best_other(const pool_work *work, const pool_row *own) {
  const pool_row *best = NULL;
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if (row->series != own->series || row->workers != own->workers || row->system == own->system) continue;
    if (pool_is_reference(row->system)) continue;
    double p50 = row->result.p50;
    if (!best || (row->series->more_is_better ? p50 > best->result.p50 : p50 < best->result.p50)) best = row;
  }
  return best;
}

/* Whether a value counts as zero, such as the CPU time of a process that sleeps. */
static bool is_nothing(const bench_series *series, double value) {
  return fabs(value) < (strcmp(series->unit, "percent") == 0 ? 0.1 : 0.01);
}

double pool_against(const pool_row *own, const pool_row *other) {
  double ours = own->result.p50, theirs = other->result.p50;
  if (is_nothing(own->series, ours) && is_nothing(own->series, theirs)) return 1;
  if (ours <= 0 || theirs <= 0) return NAN;
  return own->series->more_is_better ? ours / theirs : theirs / ours;
}

enum { NAMES_MAX = 32 };

static const bench_suite *const suites[] = {&bench_dispatch, &bench_priority};

enum { SUITES = sizeof suites / sizeof *suites };

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
  for (const bench_measure *const *measure = suite->measures; *measure; measure++)
    for (uint32_t i = 0; i < (*measure)->series_count && list.count < NAMES_MAX; i++)
      list.names[list.count++] = (*measure)->series[i].key;
  return list;
}

static bool check_list(const char *list, const char *what, const name_list *known) {
  char name[64];
  if (!list) return true;
  for (const char *next = list;; next++) {
    size_t length = strcspn(next, ",");
    bool found = false;
    snprintf(name, sizeof name, "%.*s", (int)length, next);
    for (size_t i = 0; i < known->count; i++) found = found || strcmp(name, known->names[i]) == 0;
    if (!found) {
      complain_unknown(what, name, known->names, known->count, "");
      return false;
    }
    next += length;
    if (!*next) return true;
  }
}

bool pool_wants_system(const pool_work *work, const bench_system *system) {
  if (work->sweep && !work->systems_wanted) return strcmp(system->key, "muster") == 0;
  return options_list_has(work->systems_wanted, system->key);
}

bool pool_wants_measure(const pool_work *work, const bench_measure *measure) {
  if (work->sweep && !measure->in_sweep) return false;
  for (uint32_t i = 0; i < measure->series_count; i++)
    if (options_list_has(work->measures_wanted, measure->series[i].key)) return true;
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- options */

uint32_t pool_next_workers(uint32_t workers, uint32_t last) {
  if (workers >= last) return last + 1;
  uint32_t next = workers < 8 ? workers + 1 : workers + workers / 4;
  return next < last ? next : last;
}

static bool read_workers(void *user, const char *text) {
  pool_work *work = user;
  char first[32];
  const char *dots = strstr(text, "..");
  uint32_t from, to;
  if (!dots) {
    if (!parse_count32("--workers", text, 1, POOL_WORKERS_MAX, &from)) return false;
    work->workers_first = work->workers_last = from;
    work->sweep = false;
    return true;
  }
  snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
  if (!parse_count32("--workers", first, 1, POOL_WORKERS_MAX, &from)) return false;
  if (!parse_count32("--workers", dots + 2, from, POOL_WORKERS_MAX, &to)) return false;
  work->workers_first = from;
  work->workers_last = to;
  work->sweep = true;
  return true;
}

/* Benches of another kind have options of their own, so their name leads. */
static int find_suite(pool_work *work, const char *name) {
  name_list known = {.count = SUITES};
  for (size_t i = 0; i < SUITES; i++) {
    known.names[i] = suites[i]->name;
    if (strcmp(name, suites[i]->name) == 0) work->suite = suites[i];
  }
#ifdef MUSTER_HAS_CTL
  known.names[known.count++] = "all";
#endif
  for (size_t i = 0; benches[i]; i++) known.names[known.count++] = benches[i]->name;
  for (size_t i = SUITES; i < known.count; i++)
    if (strcmp(name, known.names[i]) == 0) return complain_usage("give '%s' before its options", name);
  return work->suite ? STATUS_OK : complain_unknown("bench", name, known.names, known.count, "");
}

/* Whether the measures that are wanted can be taken with so many workers. */
static int check_workers(const pool_work *work) {
  bool any = false;
  for (const bench_measure *const *measure = work->suite->measures; *measure; measure++)
    any = any || (pool_wants_measure(work, *measure) && (*measure)->workers_min <= work->workers_last);
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
    bench_system named = {.key = absence->key}, best = {.key = absence->best};
    if (pool_wants_system(work, &named) || pool_wants_system(work, &best))
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
  name_list known_systems = system_names(), known_measures = measure_names(work->suite);
  if (!check_list(work->systems_wanted, "system", &known_systems)) return STATUS_USAGE;
  if (!check_list(work->measures_wanted, "measure", &known_measures)) return STATUS_USAGE;
  if (work->workers_first == 0) {
    uint32_t processors = muster_available_processors();
    work->workers_first = work->workers_last = processors < 2                  ? 2
                                               : processors > POOL_WORKERS_MAX ? POOL_WORKERS_MAX
                                                                               : processors;
  }
  status = check_workers(work);
  if (status) return status;
  bench_systems_find(&work->systems, work->peers);
  return check_presence(work);
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* One measure of one system, once. */
static bool take(pool_work *work, const bench_measure *measure, const bench_system *system, uint32_t workers,
                 bench_samples *samples) {
  bench_context context = {.system = system, .workers = workers, .quick = work->common.quick, .samples = samples};
  const char *wrong = bench_take(measure, &context);
  if (wrong) {
    char note[256];
    snprintf(note, sizeof note, "%s %s in %s with %u workers", system->name, wrong, measure->series[0].key, workers);
    pool_note(work, note);
    return true;
  }
  for (uint32_t i = 0; i < measure->series_count; i++)
    if (!pool_add(work, system, &measure->series[i], workers, &samples[i])) return false;
  return true;
}

/* One measure of all systems, beginning with another one in each round. On a terminal each step shows. */
static bool take_of_all(pool_work *work, uint32_t round, const bench_measure *measure, bench_samples *samples) {
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[(i + round) % work->systems.present_count];
    if (!pool_wants_system(work, system)) continue;
    for (uint32_t workers = work->workers_first; workers <= work->workers_last;
         workers = pool_next_workers(workers, work->workers_last)) {
      if (!bench_takes_part(system, measure, workers)) continue;
      if (work->common.line.terminal)
        progress_put(&work->common.line, "round %u of %u: %s, %s", round + 1, work->common.rounds,
                     measure->series[0].key, system->name);
      if (!take(work, measure, system, workers, samples)) return false;
    }
  }
  return true;
}

static const char *measure(void *user) {
  pool_work *work = user;
  bench_prepare();
  bench_samples *samples = bench_samples_create();
  bool room = samples != NULL;
  for (uint32_t round = 0; round < work->common.rounds && room; round++) {
    if (!work->common.line.terminal) progress_put(&work->common.line, "round %u of %u", round + 1, work->common.rounds);
    for (const bench_measure *const *measure = work->suite->measures; *measure && room; measure++)
      if (pool_wants_measure(work, *measure)) room = take_of_all(work, round, *measure, samples);
  }
  if (room) pool_finish(work);
  return room ? NULL : samples ? "more than 1024 rows; ask for fewer numbers of workers" : "out of memory";
}

static int judge(const void *user) {
  const pool_work *work = user;
  if (work->note_count > 0) return complain_failure("%s", work->notes[0]);
  if (work->row_count > 0) return STATUS_OK;
  return complain_failure("there is nothing to measure: none of the systems that --only names takes part");
}

static const option_def options[] = {OPTION_BY("workers", read_workers),
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
                              .named = true,
                              .check = check,
                              .measure = measure,
                              .print = pool_print,
                              .write = pool_write,
                              .judge = judge};
