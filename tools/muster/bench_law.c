#include "bench_law.h"

#include "base/nearest.h"
#include "bench_law_report.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "progress.h"
#include "scenarios/scenarios.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_SPAWNS = OPTION_OWN, OPTION_SEEDS, OPTION_WORLD, OPTION_LOAD };

enum { SEEDS_MAX = 32, LOADS_MAX = 16, WINDOW = 300, WINDOW_QUICK = 60, JSON_BYTES_PER_ROW = 1 << 13 };

typedef struct law_world {
  const char *name;
  muster_module_get_function module;
  uint32_t agents, observers, agents_quick, observers_quick;
  bool leaps;       /* its players leap, which changes at once which agents matter */
  bool full_levels; /* cheaper levels would take the load away */
} law_world;

static const law_world worlds[] = {
    {"wildlife", muster_module_wildlife, 50000, 17, 5000, 5, false, false},
    {"flashcrowd", muster_module_flashcrowd, 30000, 500, 5000, 200, true, false},
    {"spawns", muster_module_population, 0, 0, 0, 0, false, false},
    {"townsfolk", muster_module_townsfolk, 60000, 300, 0, 0, false, true},
    {"herd", muster_module_herd, 262144, 50, 0, 0, false, false},
};

enum { WORLDS = sizeof worlds / sizeof *worlds };

static const double loads[] = {0.5, 1, 1.5, 3, 6, 12}, loads_quick[] = {1.5, 6};

enum { LOADS = sizeof loads / sizeof *loads, LOADS_QUICK = sizeof loads_quick / sizeof *loads_quick };

typedef struct law_options {
  const char *json, *spawns, *world;
  uint64_t seeds[SEEDS_MAX];
  double loads[LOADS_MAX];
  uint32_t seed_count, load_count;
  bool quick;
} law_options;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench law - how often important agents run, in overloaded worlds, beside what the law of importance "
      "says\n"
      "\n"
      "usage: muster bench law [OPTION]...\n"
      "\n"
      "  --spawns FILE.csv  the NPCs of a spawn file, too\n"
      "  --world NAME       one world alone: wildlife, flashcrowd, spawns, townsfolk, herd\n"
      "  --load L           one load alone; may be given again. Default 0.5, 1, 1.5, 3, 6 and 12\n"
      "  --seed S           one seed alone; may be given again\n"
      "  --seeds 1-5        these seeds (default)\n"
      "  --quick            two small worlds at two loads, with one seed\n"
      "  --json FILE        the rows for machines, times in ns; - is standard output\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  Scenarios of `muster run` at 30 Hz under the virtual clock, each in a world of its own for each load and "
      "seed. A load is what all would take at their longest periods, in parts of the capacity. First comes the time "
      "in which every agent's turn comes once, then the same once more, at least %d frames, is watched. In townsfolk "
      "levels follow importance alone: cheaper ones would take the load away.\n"
      "  An agent's own clock goes from 0 to 1 in one of its periods, whatever that is at the moment. So one that has "
      "just become important is not late because it ran seldom before. Periods are rounded up "
      "to frames: an agent that is due between two of them runs in the second.\n"
      "  Agents that never run count in the interval. Ages are those at the ends of all frames, of agents that have "
      "been in their band of importance since their last update; by the law an agent's age is anything from 0 to its "
      "period.\n"
      "\n"
      "Promised: at importance 0.9 and above p50 of the own clock is at most %.1f and p99 %.1f (flashcrowd, whose "
      "players leap: %.1f), and the interval %.2f times the law's period; p99 of each band's ages is at most %.1f "
      "times the law's and %.0f frames; no band runs less often than one that matters less, as far as the law "
      "says so, to within %.0f %%, or three standard errors where few ran; and no wait, for updates or for actions, is "
      "longer than the bound that the reports give.\n"
      "\n"
      "Ends with status 1 when a row misses any of it.\n",
      WINDOW, law_own_p50_most, law_own_p99_most, law_own_p99_most_of_leaps, law_interval_most, law_age_most,
      law_age_frames, law_order_noise * 100);
}

static bool add_seed(law_options *options, uint64_t seed) {
  if (options->seed_count < SEEDS_MAX) {
    options->seeds[options->seed_count++] = seed;
    return true;
  }
  complain_usage("there are more than %d seeds; give fewer", SEEDS_MAX);
  return false;
}

/* "1-5", or one. */
static bool read_seeds(law_options *options, const char *text) {
  char first[32];
  const char *dash = strchr(text, '-');
  uint64_t from, to;
  snprintf(first, sizeof first, "%.*s", (int)(dash ? dash - text : 31), text);
  if (!parse_count("--seeds", first, 0, UINT64_MAX - SEEDS_MAX, &from)) return false;
  if (!parse_count("--seeds", dash ? dash + 1 : first, from, from + SEEDS_MAX - 1, &to)) return false;
  for (uint64_t seed = from; seed <= to; seed++)
    if (!add_seed(options, seed)) return false;
  return true;
}

static bool read_load(law_options *options, const char *text) {
  uint64_t thousandths;
  if (!parse_rate("--load", text, 100, 100000, &thousandths)) return false;
  if (options->load_count < LOADS_MAX) {
    options->loads[options->load_count++] = (double)thousandths / 1000;
    return true;
  }
  complain_usage("there are more than %d loads; give fewer", LOADS_MAX);
  return false;
}

static bool read_option(void *user, int option, const char *text) {
  law_options *options = user;
  uint64_t seed;
  switch (option) {
  case OPTION_JSON:
    options->json = text;
    return true;
  case OPTION_SPAWNS:
    options->spawns = text;
    return true;
  case OPTION_WORLD:
    options->world = text;
    return true;
  case OPTION_LOAD:
    return read_load(options, text);
  case OPTION_SEEDS:
    return read_seeds(options, text);
  case OPTION_SEED:
    return parse_count("--seed", text, 0, UINT64_MAX, &seed) && add_seed(options, seed);
  default:
    return options->quick = true;
  }
}

static bool names_world(const law_options *options, const law_world *world) {
  return !options->world || strcmp(options->world, world->name) == 0;
}

/* Whether a world is measured. */
static bool is_wanted(const law_options *options, const law_world *world) {
  if (!names_world(options, world)) return false;
  if (world->module == muster_module_population) return options->spawns != NULL;
  return options->world || !options->quick || world->agents_quick > 0;
}

static bool check_world(const law_options *options) {
  const char *names[WORLDS];
  bool known = false;
  for (uint32_t i = 0; i < WORLDS; i++) {
    names[i] = worlds[i].name;
    known = known || names_world(options, &worlds[i]);
  }
  if (!known)
    complain_usage("unknown world '%s'; did you mean '%s'?", options->world,
                   nearest_name(options->world, names, WORLDS));
  bool lacks = known && options->world && strcmp(options->world, "spawns") == 0 && !options->spawns;
  if (lacks) complain_usage("say where the spawns are: --spawns FILE.csv");
  return known && !lacks;
}

static void complete(law_options *options) {
  if (!options->load_count && options->quick)
    for (uint32_t i = 0; i < LOADS_QUICK; i++) options->loads[options->load_count++] = loads_quick[i];
  if (!options->load_count)
    for (uint32_t i = 0; i < LOADS; i++) options->loads[options->load_count++] = loads[i];
  if (!options->seed_count)
    for (uint64_t seed = 1; seed <= (options->quick ? 1 : 5); seed++) add_seed(options, seed);
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(law_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {{"spawns", required_argument, NULL, OPTION_SPAWNS},
                                               {"world", required_argument, NULL, OPTION_WORLD},
                                               {"load", required_argument, NULL, OPTION_LOAD},
                                               {"seed", required_argument, NULL, OPTION_SEED},
                                               {"seeds", required_argument, NULL, OPTION_SEEDS},
                                               {"quick", no_argument, NULL, OPTION_QUICK},
                                               {"json", required_argument, NULL, OPTION_JSON},
                                               {"help", no_argument, NULL, OPTION_HELP},
                                               {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench law", long_options, show_help, read_option};
  *options = (law_options){0};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  *status = STATUS_USAGE;
  if (optind < count) complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  if (optind < count || !check_world(options)) return false;
  complete(options);
  return true;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

typedef struct law_table {
  const law_options *options;
  struct progress line;
  law_row *rows;
  uint32_t count, most;
} law_table;

static bool is_quiet(const law_options *options) {
  return options->json && strcmp(options->json, "-") == 0;
}

static void show_step(law_table *table, const law_row *row) {
  progress_step(&table->line, "row %u of %u: %s at load %g, seed %llu", table->count + 1, table->most, row->world,
                row->load, (unsigned long long)row->seed);
}

/* A world with a seed, at all loads. */
static const char *measure_seed(law_table *table, const law_world *world, uint64_t seed) {
  const law_options *options = table->options;
  law_cell_setup setup = {
      .load = {.module = world->module(),
               .path = world->module == muster_module_population ? options->spawns : NULL,
               .agents = options->quick && world->agents_quick ? world->agents_quick : world->agents,
               .observers = options->quick && world->agents_quick ? world->observers_quick : world->observers,
               .seed = seed,
               .elastic = MUSTER_ELASTIC_IMPORTANCE,
               .order = MUSTER_ORDER_DEADLINE,
               .full_levels = world->full_levels},
      .window_least = options->quick ? WINDOW_QUICK : WINDOW};
  setup.wish_ns = load_find_wish_ns(&setup.load, setup.window_least);
  if (setup.wish_ns <= 0) return muster_last_error();
  for (uint32_t i = 0; i < options->load_count; i++) {
    law_row *row = &table->rows[table->count];
    *row = (law_row){.world = world->name,
                     .own_p99_most = world->leaps ? law_own_p99_most_of_leaps : law_own_p99_most,
                     .load = options->loads[i],
                     .seed = seed};
    show_step(table, row);
    setup.times = row->load;
    const char *wrong = law_measure(&setup, &row->cell);
    if (wrong) return wrong;
    table->count++;
    progress_end(&table->line);
    if (!is_quiet(options)) law_print_row(row);
  }
  return NULL;
}

static const char *measure_all(law_table *table) {
  const char *wrong = NULL;
  for (uint32_t i = 0; i < WORLDS && !wrong; i++)
    for (uint32_t k = 0; k < table->options->seed_count && is_wanted(table->options, &worlds[i]) && !wrong; k++)
      wrong = measure_seed(table, &worlds[i], table->options->seeds[k]);
  return wrong;
}

/* Each row that misses something is named. */
static int judge(const law_table *table) {
  char text[160];
  uint32_t missed = 0;
  for (uint32_t i = 0; i < table->count; i++) {
    if (!law_misses(&table->rows[i])) continue;
    law_name_misses(&table->rows[i], text, sizeof text);
    complain_failure("%s", text);
    missed++;
  }
  if (!missed) return STATUS_OK;
  return complain_failure("the law of importance is missed in %u of %u rows, which are named above", missed,
                          table->count);
}

static int deliver(const law_table *table, struct output *json) {
  json_writer writer;
  size_t bytes = (size_t)JSON_BYTES_PER_ROW * (table->count + 1);
  if (!is_quiet(table->options)) law_print_end(table->rows, table->count);
  if (table->options->json) {
    char *text = malloc(bytes);
    if (!text) return complain_failure("out of memory");
    json_start(&writer, text, bytes);
    law_write_json(table->rows, table->count, &writer);
    bool written = output_commit_json(json, &writer);
    free(text);
    if (!written) return STATUS_FAILED;
  }
  return judge(table);
}

static int measure(const void *user, struct output *json) {
  const law_options *options = user;
  law_table table = {.options = options, .line = progress_begin()};
  for (uint32_t i = 0; i < WORLDS; i++)
    if (is_wanted(options, &worlds[i])) table.most += options->seed_count * options->load_count;
  table.rows = calloc(table.most, sizeof *table.rows);
  if (!table.rows) return complain_failure("out of memory");
  if (!is_quiet(options)) law_print_head();
  const char *wrong = measure_all(&table);
  progress_end(&table.line);
  int status = wrong ? complain_failure("%s", wrong) : deliver(&table, json);
  free(table.rows);
  return status;
}

int bench_law_command(int count, char **arguments) {
  law_options options;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (options.spawns && access(options.spawns, R_OK) != 0)
    return complain_failure("cannot read '%s': %s", options.spawns, strerror(errno));
  return output_of_work(NULL, options.json, measure, &options);
}
