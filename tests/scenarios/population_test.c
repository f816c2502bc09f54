/* The population module: which agent plays what, bad files, and the shipped village under the virtual clock. */
#include "scenarios/population_cast.h"
#include "scenarios/population_csv.h"
#include "scenarios/scaffold.h"
#include "scenarios/scenarios.h"
#include "support/full_frames.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VILLAGE  MUSTER_SOURCE_DIR "/src/scenarios/village.csv"
#define FRAME_NS 50000000u

/* ------------------------------------------------------------------------------------------------------------ cast */

/* Rows of `kinds` kinds of which the one of rank r has about 1/(r + 6) of the agents: steep, with a long tail. */
static population_rows zipf_rows(uint32_t count, uint32_t kinds) {
  population_rows rows = {.count = count, .kind_count = kinds, .world_count = 1};
  rows.rows = calloc(count, sizeof *rows.rows);
  rows.kinds = calloc(kinds, sizeof *rows.kinds);
  double sum = 0;
  for (uint32_t i = 0; i < kinds; i++) {
    rows.kinds[i] = scaffold_random(i);
    sum += 1.0 / (i + 6);
  }
  for (uint32_t i = 0; i < count; i++) {
    double at = sum * (double)muster_random_share(scaffold_random(i + 1000000));
    uint32_t kind = 0;
    for (; kind + 1 < kinds && at > 1.0 / (kind + 6); kind++) at -= 1.0 / (kind + 6);
    rows.rows[i] = (population_row){.position.x = i, .kind = kind};
  }
  return rows;
}

Test(population, seven_tenths_are_routines_and_one_in_fifty_finds_paths) {
  static const double shares[POPULATION_FAMILIES] = {0.70, 0.20, 0.08, 0.02};
  population_rows rows = zipf_rows(20000, 3000);
  uint8_t families[3000];
  for (uint64_t seed = 1; seed <= 5; seed++) {
    uint32_t agents[POPULATION_FAMILIES] = {0};
    cr_assert(population_cast(&rows, seed, families));
    for (uint32_t i = 0; i < rows.count; i++) agents[families[rows.rows[i].kind]]++;
    for (int i = 0; i < POPULATION_FAMILIES; i++) cr_assert_float_eq(agents[i] / 20000.0, shares[i], 0.002);
  }
  population_rows_free(&rows);
}

Test(population, the_seed_decides_which_kinds_play_what) {
  population_rows rows = zipf_rows(5000, 1000);
  uint8_t first[1000], again[1000], other[1000];
  cr_assert(population_cast(&rows, 1, first));
  cr_assert(population_cast(&rows, 1, again));
  cr_assert(population_cast(&rows, 2, other));
  cr_assert_eq(memcmp(first, again, sizeof first), 0);
  cr_assert_neq(memcmp(first, other, sizeof first), 0);
  population_rows_free(&rows);
}

Test(population, thinning_keeps_one_row_of_each_even_stretch) {
  population_rows rows = zipf_rows(1000, 10), same = zipf_rows(1000, 10), other = zipf_rows(1000, 10);
  population_thin(&rows, 300, 1);
  population_thin(&same, 300, 1);
  population_thin(&other, 300, 2);
  cr_assert_eq(rows.count, 300);
  for (uint32_t i = 0; i < 300; i++) {
    double row = rows.rows[i].position.x;
    cr_assert(row >= floor(i * 1000 / 300.0) && row < floor((i + 1) * 1000 / 300.0), "row %g as number %u", row, i);
  }
  cr_assert_eq(memcmp(rows.rows, same.rows, 300 * sizeof *rows.rows), 0);
  cr_assert_neq(memcmp(rows.rows, other.rows, 300 * sizeof *rows.rows), 0);
  population_thin(&same, 0, 1);
  cr_assert_eq(same.count, 300, "0 keeps all");
  population_rows_free(&rows);
  population_rows_free(&same);
  population_rows_free(&other);
}

/* ------------------------------------------------------------------------------------------------------- bad files */

static void refuse(muster_module_options options, muster_result expected, const char *message) {
  void *instance = NULL;
  muster_module_needs needs = {.size = sizeof needs};
  muster_result result = muster_module_population()->open(&options, &instance, &needs);
  cr_assert_eq(result, expected, "%s", muster_last_error());
  cr_assert_str_eq(muster_last_error(), message);
  cr_assert_null(instance);
}

static void refuse_path(const char *path, const char *message) {
  muster_module_options options = muster_module_options_default();
  options.path = path;
  refuse(options, MUSTER_E_INPUT, message);
}

/* A new file with this text; the caller removes and frees the path. */
static char *write_file(const char *text) {
  char *path = strdup("/tmp/muster_population_XXXXXX");
  int file = mkstemp(path);
  cr_assert_geq(file, 0);
  cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
  close(file);
  return path;
}

static void discard_file(char *path) {
  unlink(path);
  free(path);
}

Test(population, refuses_options_that_no_file_can_meet) {
  muster_module_options options = muster_module_options_default();
  refuse(options, MUSTER_E_ARGUMENT, "population: no file; name a CSV file of NPC spawns");
  options.path = VILLAGE;
  options.agents = 601;
  refuse(options, MUSTER_E_ARGUMENT, VILLAGE ": the file has 600 rows, too few for 601 agents");
  options.agents = 0;
  options.up_axis = 'x';
  refuse(options, MUSTER_E_ARGUMENT, "population: the axis that is up must be 'y' or 'z'");
  options.up_axis = 'y';
  options.observers = 65537;
  refuse(options, MUSTER_E_ARGUMENT, "population: 65537 observers, but at most 65536");
}

Test(population, refuses_what_is_no_file_of_spawns) {
  refuse_path("/nonexistent/spawns.csv", "/nonexistent/spawns.csv: No such file or directory");
  refuse_path("/", "/: is a directory; a CSV file of spawns is needed");
  refuse_path("/dev/zero", "/dev/zero: is neither a file nor a pipe");
  char *path = write_file("x,y\n1,2\n3,four\n"), message[256];
  snprintf(message, sizeof message, "%s:3: column 'y': 'four' is not a number", path);
  refuse_path(path, message);
  cr_assert_eq(truncate(path, 0), 0);
  snprintf(message, sizeof message, "%s:1: the file is empty; a header that names x and y or z must come first", path);
  refuse_path(path, message);
  cr_assert_eq(truncate(path, (off_t)POPULATION_FILE_MAX_BYTES + 1), 0);
  snprintf(message, sizeof message, "%s: larger than 2147483648 bytes", path);
  refuse_path(path, message);
  discard_file(path);
}

/* Permissions do not stop the superuser. */
Test(population, refuses_a_file_that_may_not_be_read) {
  char *path = write_file("x,y\n1,2\n"), message[256];
  cr_assert_eq(chmod(path, 0), 0);
  snprintf(message, sizeof message, "%s: Permission denied", path);
  if (geteuid() != 0) refuse_path(path, message);
  discard_file(path);
}

/* --------------------------------------------------------------------------------------------------------- a world */

struct stage {
  const muster_module *module;
  void *instance;
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t now_ns;
};

/* capacity_ns is the virtual clock's; 0 = the budget. */
static struct stage raise_stage(const muster_module_options *options, uint32_t workers, uint64_t capacity_ns) {
  struct stage stage = {.module = muster_module_population(), .needs.size = sizeof stage.needs};
  cr_assert_eq(stage.module->open(options, &stage.instance, &stage.needs), MUSTER_OK, "%s", muster_last_error());
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = workers;
  stage.pool = muster_pool_create(&pool);
  cr_assert_not_null(stage.pool, "%s", muster_last_error());
  muster_world_def def = muster_world_def_default();
  def.pool = stage.pool;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = capacity_ns;
  def.seed = options->seed;
  def.limits.agents_max = stage.needs.agents_max;
  def.limits.observers_max = stage.needs.observers;
  def.cell_m = stage.needs.cell_m;
  stage.world = muster_world_create(&def);
  cr_assert_not_null(stage.world, "%s", muster_last_error());
  cr_assert_eq(stage.module->populate(stage.instance, stage.world), MUSTER_OK, "%s", muster_last_error());
  return stage;
}

static void run_frames(struct stage *stage, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) {
    stage->now_ns += FRAME_NS;
    stage->module->before_frame(stage->instance, stage->world, stage->now_ns);
    muster_result result = muster_frame_run(stage->world, &(muster_frame){stage->now_ns, 5000000});
    cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  }
}

static void strike_stage(struct stage *stage) {
  destroy_full(stage->world);
  stage->module->close(stage->instance);
  muster_pool_destroy(stage->pool);
}

typedef struct wanted_number {
  const char *name;
  double value;
} wanted_number;

static void keep_wanted(const char *name, double value, void *user) {
  wanted_number *wanted = user;
  if (strcmp(name, wanted->name) == 0) wanted->value = value;
}

static double reported(const struct stage *stage, const char *name) {
  wanted_number wanted = {name, NAN};
  stage->module->report(stage->instance, stage->world, keep_wanted, &wanted);
  cr_assert_not(isnan(wanted.value), "the report has no '%s'", name);
  return wanted.value;
}

static muster_module_options village_options(uint64_t seed) {
  muster_module_options options = muster_module_options_default();
  options.path = VILLAGE;
  options.seed = seed;
  return options;
}

static uint64_t village_hash(uint32_t workers, uint64_t seed, uint64_t capacity_ns) {
  muster_module_options options = village_options(seed);
  struct stage stage = raise_stage(&options, workers, capacity_ns);
  run_frames(&stage, 200);
  uint64_t hash = muster_world_hash(stage.world);
  strike_stage(&stage);
  return hash;
}

Test(population, the_village_is_the_same_on_any_number_of_workers) {
  static const uint64_t capacities_ns[] = {5000000, 60000}; /* the second overloads it */
  for (int i = 0; i < 2; i++) {
    uint64_t alone = village_hash(1, 7, capacities_ns[i]);
    cr_assert_eq(village_hash(2, 7, capacities_ns[i]), alone);
    cr_assert_eq(village_hash(4, 7, capacities_ns[i]), alone);
    cr_assert_neq(village_hash(1, 8, capacities_ns[i]), alone);
  }
}

Test(population, the_village_comes_to_life) {
  muster_module_options options = village_options(1);
  struct stage stage = raise_stage(&options, 1, 0);
  cr_assert_eq(stage.needs.agents, 600);
  cr_assert_eq(stage.needs.observers, 16);
  run_frames(&stage, 200);
  cr_assert_float_eq(reported(&stage, "routine_agents"), 420, 6);
  cr_assert_float_eq(reported(&stage, "steering_agents"), 120, 6);
  cr_assert_float_eq(reported(&stage, "sensing_agents"), 48, 6);
  cr_assert_float_eq(reported(&stage, "paths_agents"), 12, 6);
  cr_assert_float_eq(reported(&stage, "partitions"), 2, 0);
  cr_assert_gt(reported(&stage, "patrolled_m"), 300);
  cr_assert_gt(reported(&stage, "wandered_m"), 300);
  cr_assert_gt(reported(&stage, "activities_changed"), 300);
  cr_assert_gt(reported(&stage, "choices_changed"), 20);
  cr_assert_gt(reported(&stage, "paths_found"), 50);
  cr_assert_gt(reported(&stage, "nodes_expanded"), 500);
  /* 16 observers for 10 s at walking speed, less what they stand at spawns. */
  double walked_m = reported(&stage, "observers_walked_m");
  cr_assert(walked_m > 150 && walked_m <= 224.1, "%g m", walked_m);
  strike_stage(&stage);
}

struct census {
  uint32_t agents, moved, important;
};

/* Agents are compared with their rows; they were spawned in the order of the rows. */
static void take_census(const struct stage *stage, const population_rows *rows, struct census *partitions) {
  muster_agent_info info = muster_agent_info_default();
  muster_agent agent = {0};
  for (uint32_t i = 0; i < rows->count; i++) {
    agent = muster_agent_next(stage->world, agent);
    cr_assert_eq(muster_agent_read(stage->world, agent, &info), MUSTER_OK);
    cr_assert_eq(info.partition, rows->rows[i].world);
    struct census *census = &partitions[info.partition];
    const muster_position *home = &rows->rows[i].position;
    double gone_m = hypot(info.position.x - home->x, info.position.y - home->y);
    cr_assert_lt(gone_m, 120, "agent %u ran away", i);
    census->agents++;
    census->moved += gone_m > 0.5;
    census->important += info.importance > 0.9f;
  }
  cr_assert(muster_agent_is_null(muster_agent_next(stage->world, agent)));
}

Test(population, each_world_is_a_partition_with_observers_of_its_own) {
  muster_module_options options = village_options(1);
  options.observers = 1;
  population_rows rows;
  cr_assert_eq(population_file_read(VILLAGE, 'y', &rows), MUSTER_OK);
  struct stage stage = raise_stage(&options, 1, 0);
  cr_assert_eq(stage.needs.observers, 2);
  run_frames(&stage, 100);
  struct census partitions[2] = {{0}};
  take_census(&stage, &rows, partitions);
  cr_assert_eq(partitions[0].agents, 360);
  cr_assert_eq(partitions[1].agents, 240);
  for (int i = 0; i < 2; i++) {
    cr_assert_gt(partitions[i].moved, partitions[i].agents / 8);
    cr_assert_gt(partitions[i].important, 0);
    cr_assert_lt(partitions[i].important, partitions[i].agents);
  }
  strike_stage(&stage);
  population_rows_free(&rows);
}

Test(population, observers_go_where_most_agents_are) {
  enum { CROWD = 900 };
  char *text = malloc(CROWD * 24), *path;
  int length = sprintf(text, "x,y,world\n");
  for (int i = 0; i < CROWD; i++) length += sprintf(text + length, "%d,%d,%s\n", i, i % 30, i ? "full" : "lonely");
  path = write_file(text);
  muster_module_options options = muster_module_options_default();
  options.path = path;
  options.observers = 10;
  struct stage stage = raise_stage(&options, 1, 0);
  run_frames(&stage, 20); /* importance follows within a few frames */
  uint32_t important[2] = {0};
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = muster_agent_next(stage.world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(stage.world, agent)) {
    cr_assert_eq(muster_agent_read(stage.world, agent, &info), MUSTER_OK);
    important[info.partition] += info.importance > 0.9f;
  }
  cr_assert_eq(important[0], 1, "the lonely one has its observer");
  cr_assert_gt(important[1], 200, "nine observers see a good part of a crowd of 900 m");
  strike_stage(&stage);
  discard_file(path);
  free(text);
}

/* Of one kind, all are routines; the metres that they should have walked follow from when each was last updated. */
static void check_patrols(const char *path, uint64_t capacity_ns, double *shortest_ns) {
  muster_module_options options = muster_module_options_default();
  options.path = path;
  struct stage stage = raise_stage(&options, 1, capacity_ns);
  run_frames(&stage, 300);
  double wanted_m = 0;
  *shortest_ns = INFINITY;
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = muster_agent_next(stage.world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(stage.world, agent)) {
    cr_assert_eq(muster_agent_read(stage.world, agent, &info), MUSTER_OK);
    wanted_m += 2.5 * 1e-9 * ((double)info.last_update_ns - FRAME_NS);
    *shortest_ns = fmin(*shortest_ns, (double)info.period_ns);
    cr_assert_leq(hypot(info.position.x, info.position.y), 33, "a circuit is at most 32 m across");
  }
  cr_assert_gt(wanted_m, 50 * 2.5 * 12);
  cr_assert_float_eq(reported(&stage, "patrolled_m"), wanted_m, 1e-6 * wanted_m);
  strike_stage(&stage);
}

Test(population, patrols_walk_as_far_when_they_are_throttled) {
  char text[4096];
  int length = sprintf(text, "x,y,kind,patrol,speed\n");
  for (int i = 0; i < 50; i++) length += sprintf(text + length, "0,0,guard,1,2.5\n");
  char *path = write_file(text);
  double ample_ns, tight_ns;
  check_patrols(path, 0, &ample_ns);
  /* Fifty routines would like to have 2,500 ns of every frame. */
  check_patrols(path, 800, &tight_ns);
  cr_assert_gt(tight_ns, 2 * ample_ns);
  discard_file(path);
}

Test(population, a_part_of_the_village_is_as_many_agents_as_asked_for) {
  muster_module_options options = village_options(1);
  options.agents = 100;
  struct stage stage = raise_stage(&options, 1, 0);
  cr_assert_eq(stage.needs.agents, 100);
  run_frames(&stage, 10);
  double agents = reported(&stage, "routine_agents") + reported(&stage, "steering_agents") +
                  reported(&stage, "sensing_agents") + reported(&stage, "paths_agents");
  cr_assert_float_eq(agents, 100, 0);
  strike_stage(&stage);
}
