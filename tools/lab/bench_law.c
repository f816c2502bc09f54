/* `muster bench law`: how often important agents run in overloaded worlds, beside what the law of importance says. */
#include "benches.h"

#include "base/nearest.h"
#include "bench_law_report.h"
#include "complaint.h"
#include "parse.h"
#include "scenarios/scenarios.h"
#include "worlds/worlds.h"

#include <string.h>

enum { SEEDS_MAX = 32, LOADS_MAX = 16, WINDOW = 300, WINDOW_QUICK = 60 };

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

typedef struct law_work {
  bench_work common;
  const char *world; /* alone; null = all */
  uint32_t agents;   /* 0 = as many as the world has */
  uint64_t seeds[SEEDS_MAX];
  double loads[LOADS_MAX];
  uint32_t seed_count, load_count;
  uint32_t count, most;
  law_row rows[WORLDS * SEEDS_MAX * LOADS_MAX];
} law_work;

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
      "  --agents N         so many in each world, with as many observers for each agent; spawn files have their own\n"
      "  --load L           one load alone; may be given again. Default 0.5, 1, 1.5, 3, 6 and 12\n"
      "  --seed S           one seed alone; may be given again\n"
      "  --seeds 1-5        these seeds (default)\n"
      "  --costs NAME       constant (default), or log-normal: updates cost what their models say, times a factor by "
      "chance, of each update, with mean 1 and sigma 1\n"
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
      "says so, to within %.0f %%, or three standard errors where few ran; no wait, for updates or for actions, is "
      "longer than the bound that the reports give; and no frame leaves time for the longest of all updates though "
      "agents wait, nor do frames leave a tenth of it, over the time in which each has its turn, though periods are "
      "stretched.\n"
      "\n"
      "Ends with status 1 when a row misses any of it.\n",
      WINDOW, law_own_p50_most, law_own_p99_most, law_own_p99_most_of_leaps, law_interval_most, law_age_most,
      law_age_frames, law_order_noise * 100);
}

static bool add_seed(law_work *work, uint64_t seed) {
  if (work->seed_count < SEEDS_MAX) {
    work->seeds[work->seed_count++] = seed;
    return true;
  }
  complain_usage("there are more than %d seeds; give fewer", SEEDS_MAX);
  return false;
}

/* "1-5", or one. */
static bool read_seeds(void *user, const char *text) {
  law_work *work = user;
  uint64_t from, to;
  if (!parse_range("--seeds", text, "-", 0, UINT64_MAX - SEEDS_MAX, SEEDS_MAX - 1, &from, &to)) return false;
  for (uint64_t seed = from; seed <= to; seed++)
    if (!add_seed(work, seed)) return false;
  return true;
}

static bool read_load(void *user, const char *text) {
  law_work *work = user;
  uint64_t thousandths;
  if (!parse_rate("--load", text, 100, 100000, &thousandths)) return false;
  if (work->load_count < LOADS_MAX) {
    work->loads[work->load_count++] = (double)thousandths / 1000;
    return true;
  }
  complain_usage("there are more than %d loads; give fewer", LOADS_MAX);
  return false;
}

static bool read_seed(void *user, const char *text) {
  uint64_t seed;
  return parse_count("--seed", text, 0, UINT64_MAX, &seed) && add_seed(user, seed);
}

static bool names_world(const law_work *work, const law_world *world) {
  return !work->world || strcmp(work->world, world->name) == 0;
}

/* Whether a world is measured. */
static bool is_wanted(const law_work *work, const law_world *world) {
  if (!names_world(work, world)) return false;
  if (world->module == muster_module_population) return work->common.spawns != NULL;
  return work->world || !work->common.quick || world->agents_quick > 0;
}

static int check(void *user) {
  law_work *work = user;
  const char *names[WORLDS];
  bool quick = work->common.quick, known = false;
  if (!work->load_count) {
    work->load_count = quick ? LOADS_QUICK : LOADS;
    memcpy(work->loads, quick ? loads_quick : loads, work->load_count * sizeof *loads);
  }
  for (uint64_t seed = 1; work->seed_count < seed && seed <= (quick ? 1 : 5); seed++) add_seed(work, seed);
  for (uint32_t i = 0; i < WORLDS; i++) {
    names[i] = worlds[i].name;
    known = known || names_world(work, &worlds[i]);
    if (is_wanted(work, &worlds[i])) work->most += work->seed_count * work->load_count;
  }
  if (!known)
    return complain_usage("unknown world '%s'; did you mean '%s'?", work->world,
                          nearest_name(work->world, names, WORLDS));
  return work->most ? STATUS_OK : complain_usage("say where the spawns are: --spawns FILE.csv");
}

/* -------------------------------------------------------------------------------------------------------- measuring */

static const char *measure_seed(law_work *work, const law_world *world, uint64_t seed) {
  bool small = work->common.quick && world->agents_quick;
  uint32_t window = work->common.quick ? WINDOW_QUICK : WINDOW;
  uint32_t agents = small ? world->agents_quick : world->agents;
  uint32_t observers = small ? world->observers_quick : world->observers;
  if (work->agents && agents) { /* with as many observers for each */
    observers = (uint32_t)(((uint64_t)observers * work->agents + agents - 1) / agents);
    agents = work->agents;
  }
  load_setup setup = load_setup_of(world->module(), agents, observers, seed);
  if (world->module == muster_module_population) setup.host.options.path = work->common.spawns;
  if (world->full_levels) setup.host.world.levels.pressure = 0.0f;
  double wish_ns = load_find_wish_ns(&setup, window);
  if (wish_ns <= 0) return muster_last_error();
  setup.sigma = work->common.sigma; /* the load is that of the means, so that both are asked of one capacity */
  for (uint32_t i = 0; i < work->load_count; i++) {
    law_row *row = &work->rows[work->count];
    *row = (law_row){.world = world->name,
                     .own_p99_most = world->leaps ? law_own_p99_most_of_leaps : law_own_p99_most,
                     .load = work->loads[i],
                     .seed = seed};
    progress_step(&work->common.line, "row %u of %u: %s at load %g, seed %lu", work->count + 1, work->most, row->world,
                  row->load, row->seed);
    const char *wrong = law_measure(&setup, wish_ns, row->load, window, &row->cell);
    if (wrong) return wrong;
    work->count++;
    progress_end(&work->common.line);
    if (!work->common.quiet) law_print_row(row);
  }
  return NULL;
}

static const char *measure(void *user) {
  law_work *work = user;
  const char *wrong = NULL;
  if (!work->common.quiet) law_print_head();
  for (uint32_t i = 0; i < WORLDS && !wrong; i++)
    for (uint32_t k = 0; k < work->seed_count && is_wanted(work, &worlds[i]) && !wrong; k++)
      wrong = measure_seed(work, &worlds[i], work->seeds[k]);
  return wrong;
}

/* Each row that misses something is named. */
static int judge(const void *user) {
  const law_work *work = user;
  char text[160];
  uint32_t missed = 0;
  for (uint32_t i = 0; i < work->count; i++) {
    if (!law_misses(&work->rows[i])) continue;
    law_name_misses(&work->rows[i], text, sizeof text);
    complain_failure("%s", text);
    missed++;
  }
  if (!missed) return STATUS_OK;
  return complain_failure("the law of importance is missed in %u of %u rows, which are named above", missed,
                          work->count);
}

static void print(const void *user) {
  const law_work *work = user;
  law_print_end(work->rows, work->count);
}

static void write(const void *user, json_writer *writer) {
  const law_work *work = user;
  json_print(writer, "costs=%s", bench_costs_name(&work->common));
  law_write_json(work->rows, work->count, writer);
}

static const option_def options[] = {BENCH_SPAWNS,
                                     OPTION("world", TEXT, law_work, world),
                                     OPTION_WITHIN("agents", COUNT32, law_work, agents, 1000, 1000000),
                                     OPTION_BY("load", read_load),
                                     OPTION_BY("seed", read_seed),
                                     OPTION_BY("seeds", read_seeds),
                                     BENCH_COSTS,
                                     BENCH_QUICK,
                                     BENCH_JSON,
                                     {0}};

const bench_def bench_law = {"law",
                             "how often important agents run in overloaded worlds, beside the law",
                             show_help,
                             options,
                             sizeof(law_work),
                             .check = check,
                             .measure = measure,
                             .print = print,
                             .write = write,
                             .judge = judge};
