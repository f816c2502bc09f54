#include "bench_options.h"

#include "base/nearest.h"
#include "bench_help.h"
#include "complaint.h"
#include "options.h"
#include "parse.h"

#include <muster/jobs.h>

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 32, LIST_BYTES = 512 };

enum { OPTION_ONLY = OPTION_OWN, OPTION_MEASURE, OPTION_PEERS };

static const struct option long_options[] = {{"workers", required_argument, NULL, OPTION_WORKERS},
                                             {"rounds", required_argument, NULL, OPTION_ROUNDS},
                                             {"only", required_argument, NULL, OPTION_ONLY},
                                             {"measure", required_argument, NULL, OPTION_MEASURE},
                                             {"peers", required_argument, NULL, OPTION_PEERS},
                                             {"quick", no_argument, NULL, OPTION_QUICK},
                                             {"json", required_argument, NULL, OPTION_JSON},
                                             {"help", no_argument, NULL, OPTION_HELP},
                                             {NULL, 0, NULL, 0}};

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

static void join(char text[LIST_BYTES], const name_list *known) {
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < known->count && length < LIST_BYTES; i++)
    length += (size_t)snprintf(text + length, LIST_BYTES - length, "%s%s", i ? ", " : "", known->names[i]);
}

static int complain_unknown(const char *what, const char *name, const name_list *known) {
  char list[LIST_BYTES];
  const char *nearest = nearest_name(name, known->names, known->count);
  join(list, known);
  if (nearest) return complain_usage("unknown %s '%s'; did you mean '%s'? Known: %s", what, name, nearest, list);
  return complain_usage("unknown %s '%s'; known: %s", what, name, list);
}

/* Whether `key` stands in a list with commas; a missing list has everything. */
static bool has(const char *list, const char *key) {
  size_t length = strlen(key);
  if (!list) return true;
  for (const char *next = list; *next; next += strspn(next, ",")) {
    size_t here = strcspn(next, ",");
    if (here == length && strncmp(next, key, length) == 0) return true;
    next += here;
  }
  return false;
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
      complain_unknown(what, name, known);
      return false;
    }
    next += length;
    if (!*next) return true;
  }
}

bool bench_options_want_system(const bench_options *options, const bench_system *system) {
  if (options->sweep && !options->systems) return strcmp(system->key, "muster") == 0;
  return has(options->systems, system->key);
}

bool bench_options_want_measure(const bench_options *options, const bench_measure *measure) {
  if (options->sweep && !measure->in_sweep) return false;
  for (uint32_t i = 0; i < measure->series_count; i++)
    if (has(options->measures, measure->series[i].key)) return true;
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- options */

uint32_t bench_options_next_workers(const bench_options *options, uint32_t workers) {
  if (workers >= options->workers_last) return options->workers_last + 1;
  uint32_t next = workers < 8 ? workers + 1 : workers + workers / 4;
  return next < options->workers_last ? next : options->workers_last;
}

static bool read_workers(bench_options *options, const char *text) {
  char first[32];
  const char *dots = strstr(text, "..");
  uint32_t from, to;
  if (!dots) {
    if (!parse_count32("--workers", text, 1, BENCH_WORKERS_MAX, &from)) return false;
    options->workers_first = options->workers_last = from;
    options->sweep = false;
    return true;
  }
  snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
  if (!parse_count32("--workers", first, 1, BENCH_WORKERS_MAX, &from)) return false;
  if (!parse_count32("--workers", dots + 2, from, BENCH_WORKERS_MAX, &to)) return false;
  options->workers_first = from;
  options->workers_last = to;
  options->sweep = true;
  return true;
}

static bool read_option(void *user, int option, const char *text) {
  bench_options *options = user;
  switch (option) {
  case OPTION_WORKERS:
    return read_workers(options, text);
  case OPTION_ROUNDS:
    return parse_count32("--rounds", text, 1, BENCH_ROUNDS_MAX, &options->rounds);
  case OPTION_ONLY:
    options->systems = text;
    return true;
  case OPTION_MEASURE:
    options->measures = text;
    return true;
  case OPTION_PEERS:
    options->peers = text;
    return true;
  case OPTION_JSON:
    options->json = text;
    return true;
  default:
    return options->quick = true;
  }
}

/* Benches of another kind have options of their own, so their name leads. */
static const char *const others[] = {
#ifdef MUSTER_HAS_CTL
    "all",
#endif
    "activation", "control", "law", "machine", "quality", "scale", "sets", "sweep"};

static int find_suite(bench_options *options, const char *name) {
  name_list known = {.count = SUITES};
  for (size_t i = 0; i < SUITES; i++) {
    known.names[i] = suites[i]->name;
    if (strcmp(name, suites[i]->name) == 0) options->suite = suites[i];
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    known.names[known.count++] = others[i];
    if (strcmp(name, others[i]) == 0) return complain_usage("give '%s' before its options", name);
  }
  return options->suite ? STATUS_OK : complain_unknown("bench", name, &known);
}

/* Whether the measures that are wanted can be taken with so many workers. */
static int check_workers(const bench_options *options) {
  bool any = false;
  for (const bench_measure *const *measure = options->suite->measures; *measure; measure++)
    any = any || (bench_options_want_measure(options, *measure) && (*measure)->workers_min <= options->workers_last);
  if (any) return STATUS_OK;
  if (options->sweep)
    return complain_usage("a sweep over workers has submit, parallel-for, claim and queue-claims of dispatch; "
                          "give one number to --workers");
  return complain_usage("what was asked for needs at least 2 workers; give --workers 2");
}

static int complete(bench_options *options, int count, char **arguments) {
  if (optind >= count)
    return complain_usage("give a bench, such as `muster bench dispatch`; see `muster bench --help`");
  if (count - optind > 1) return complain_usage("one bench at a time: '%s' is too many", arguments[optind + 1]);
  int status = find_suite(options, arguments[optind]);
  if (status) return status;
  name_list known_systems = system_names(), known_measures = measure_names(options->suite);
  if (!check_list(options->systems, "system", &known_systems)) return STATUS_USAGE;
  if (!check_list(options->measures, "measure", &known_measures)) return STATUS_USAGE;
  if (options->rounds == 0) options->rounds = options->quick ? 1 : 5;
  if (options->workers_first == 0) {
    uint32_t processors = muster_available_processors();
    options->workers_first = options->workers_last = processors < 2 ? 2 : processors;
    if (options->workers_last > BENCH_WORKERS_MAX) options->workers_first = options->workers_last = BENCH_WORKERS_MAX;
  }
  return check_workers(options);
}

bool bench_options_read(bench_options *options, int count, char **arguments, int *status) {
  static const option_reader reader = {"bench", long_options, bench_show_help, read_option};
  *options = (bench_options){0};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  *status = complete(options, count, arguments);
  return *status == STATUS_OK;
}
