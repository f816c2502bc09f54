/* The population module: which agent plays what, bad files, and the shipped village under the virtual clock. */
#include "scenarios/population_cast.h"
#include "scenarios/population_csv.h"
#include "scenarios/scaffold.h"
#include "scenarios/scene.h"

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
  SCOPED(population_rows_free) population_rows rows = zipf_rows(20000, 3000);
  uint8_t families[3000];
  for (uint64_t seed = 1; seed <= 5; seed++) {
    uint32_t agents[POPULATION_FAMILIES] = {0};
    cr_assert(population_cast(&rows, seed, families));
    for (uint32_t i = 0; i < rows.count; i++) agents[families[rows.rows[i].kind]]++;
    for (int i = 0; i < POPULATION_FAMILIES; i++) cr_assert_float_eq(agents[i] / 20000.0, shares[i], 0.002);
  }
}

Test(population, the_seed_decides_which_kinds_play_what) {
  SCOPED(population_rows_free) population_rows rows = zipf_rows(5000, 1000);
  uint8_t first[1000], again[1000], other[1000];
  cr_assert(population_cast(&rows, 1, first));
  cr_assert(population_cast(&rows, 1, again));
  cr_assert(population_cast(&rows, 2, other));
  cr_assert_eq(memcmp(first, again, sizeof first), 0);
  cr_assert_neq(memcmp(first, other, sizeof first), 0);
}

Test(population, thinning_keeps_one_row_of_each_even_stretch) {
  SCOPED(population_rows_free)
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
}

/* ------------------------------------------------------------------------------------------------------- bad files */

static void refuse(muster_module_options options, muster_result result, const char *message) {
  scene_refuses(muster_module_population(), options, result, message);
  cr_assert_str_eq(muster_last_error(), message);
}

static void refuse_path(const char *path, const char *message) {
  refuse(WITH(muster_module_options, it.path = path), MUSTER_E_INPUT, message);
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

static void discard_file(char **path) {
  unlink(*path);
  free(*path);
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
  SCOPED(discard_file) char *path = write_file("x,y\n1,2\n3,four\n");
  char message[256];
  snprintf(message, sizeof message, "%s:3: column 'y': 'four' is not a number", path);
  refuse_path(path, message);
  cr_assert_eq(truncate(path, 0), 0);
  snprintf(message, sizeof message, "%s:1: the file is empty; a header that names x and y or z must come first", path);
  refuse_path(path, message);
  cr_assert_eq(truncate(path, (off_t)POPULATION_FILE_MAX_BYTES + 1), 0);
  snprintf(message, sizeof message, "%s: larger than 2147483648 bytes", path);
  refuse_path(path, message);
}

/* Permissions do not stop the superuser. */
Test(population, refuses_a_file_that_may_not_be_read) {
  SCOPED(discard_file) char *path = write_file("x,y\n1,2\n");
  char message[256];
  cr_assert_eq(chmod(path, 0), 0);
  snprintf(message, sizeof message, "%s: Permission denied", path);
  if (geteuid() != 0) refuse_path(path, message);
}

/* --------------------------------------------------------------------------------------------------------- a world */

/* capacity_ns is the virtual clock's; 0 = the budget. */
static struct scene open_with(muster_module_options options, uint32_t workers, uint64_t capacity_ns) {
  return CHANGED(scene_open(muster_module_population(), options, workers, capacity_ns), it.budget_ns = 5000000);
}

static void run_frames(struct scene *scene, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) scene_frame_at(scene, scene->now_ns += FRAME_NS);
}

static muster_module_options village_options(uint64_t seed) {
  return WITH(muster_module_options, it.path = VILLAGE, it.seed = seed);
}

static uint64_t village_hash(uint32_t workers, uint64_t seed, uint64_t capacity_ns) {
  SCOPED(scene_close) struct scene scene = open_with(village_options(seed), workers, capacity_ns);
  run_frames(&scene, 200);
  return muster_world_hash(scene.world);
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
  SCOPED(scene_close) struct scene scene = open_with(village_options(1), 1, 0);
  cr_assert_eq(scene.needs.agents, 600);
  cr_assert_eq(scene.needs.observers, 16);
  run_frames(&scene, 200);
  cr_assert_float_eq(scene_reported(&scene, "routine_agents"), 420, 6);
  cr_assert_float_eq(scene_reported(&scene, "steering_agents"), 120, 6);
  cr_assert_float_eq(scene_reported(&scene, "sensing_agents"), 48, 6);
  cr_assert_float_eq(scene_reported(&scene, "paths_agents"), 12, 6);
  cr_assert_float_eq(scene_reported(&scene, "partitions"), 2, 0);
  scene_says(&scene, "patrolled_m > 300, wandered_m > 300, activities_changed > 300, choices_changed > 20");
  scene_says(&scene, "paths_found > 50, nodes_expanded > 500");
  /* 16 observers for 10 s at walking speed, less what they stand at spawns. */
  double walked_m = scene_reported(&scene, "observers_walked_m");
  cr_assert(walked_m > 150 && walked_m <= 224.1, "%g m", walked_m);
}

struct census {
  uint32_t agents, moved, important;
};

/* Agents are compared with their rows; they were spawned in the order of the rows. */
static void take_census(const struct scene *scene, const population_rows *rows, struct census *partitions) {
  muster_agent_info info = muster_agent_info_default();
  muster_agent agent = {0};
  for (uint32_t i = 0; i < rows->count; i++) {
    agent = muster_agent_next(scene->world, agent);
    cr_assert_eq(muster_agent_read(scene->world, agent, &info), MUSTER_OK);
    cr_assert_eq(info.partition, rows->rows[i].world);
    struct census *census = &partitions[info.partition];
    const muster_position *home = &rows->rows[i].position;
    double gone_m = hypot(info.position.x - home->x, info.position.y - home->y);
    cr_assert_lt(gone_m, 120, "agent %u ran away", i);
    census->agents++;
    census->moved += gone_m > 0.5;
    census->important += info.importance > 0.9f;
  }
  cr_assert(muster_agent_is_null(muster_agent_next(scene->world, agent)));
}

Test(population, each_world_is_a_partition_with_observers_of_its_own) {
  muster_module_options options = CHANGED(village_options(1), it.observers = 1);
  SCOPED(population_rows_free) population_rows rows;
  cr_assert_eq(population_file_read(VILLAGE, 'y', &rows), MUSTER_OK);
  SCOPED(scene_close) struct scene scene = open_with(options, 1, 0);
  cr_assert_eq(scene.needs.observers, 2);
  run_frames(&scene, 100);
  struct census partitions[2] = {{0}};
  take_census(&scene, &rows, partitions);
  cr_assert_eq(partitions[0].agents, 360);
  cr_assert_eq(partitions[1].agents, 240);
  for (int i = 0; i < 2; i++) {
    cr_assert_gt(partitions[i].moved, partitions[i].agents / 8);
    cr_assert_gt(partitions[i].important, 0);
    cr_assert_lt(partitions[i].important, partitions[i].agents);
  }
}

Test(population, observers_go_where_most_agents_are) {
  enum { CROWD = 900 };
  static char text[CROWD * 24];
  int length = sprintf(text, "x,y,world\n");
  for (int i = 0; i < CROWD; i++) length += sprintf(text + length, "%d,%d,%s\n", i, i % 30, i ? "full" : "lonely");
  SCOPED(discard_file) char *path = write_file(text);
  muster_module_options options = WITH(muster_module_options, it.path = path, it.observers = 10);
  SCOPED(scene_close) struct scene scene = open_with(options, 1, 0);
  run_frames(&scene, 20); /* importance follows within a few frames */
  uint32_t important[2] = {0};
  for (scene_agent one = {0}; scene_next_agent(&scene, &one);)
    important[one.info.partition] += one.info.importance > 0.9f;
  cr_assert_eq(important[0], 1, "the lonely one has its observer");
  cr_assert_gt(important[1], 200, "nine observers see a good part of a crowd of 900 m");
}

/* Of one kind, all are routines; the metres that they should have walked follow from when each was last updated. */
static void check_patrols(const char *path, uint64_t capacity_ns, double *shortest_ns) {
  SCOPED(scene_close) struct scene scene = open_with(WITH(muster_module_options, it.path = path), 1, capacity_ns);
  run_frames(&scene, 300);
  double wanted_m = 0;
  *shortest_ns = INFINITY;
  for (scene_agent one = {0}; scene_next_agent(&scene, &one);) {
    wanted_m += 2.5 * 1e-9 * ((double)one.info.last_update_ns - FRAME_NS);
    *shortest_ns = fmin(*shortest_ns, (double)one.info.period_ns);
    cr_assert_leq(hypot(one.info.position.x, one.info.position.y), 33, "a circuit is at most 32 m across");
  }
  cr_assert_gt(wanted_m, 50 * 2.5 * 12);
  cr_assert_float_eq(scene_reported(&scene, "patrolled_m"), wanted_m, 1e-6 * wanted_m);
}

Test(population, patrols_walk_as_far_when_they_are_throttled) {
  char text[4096];
  int length = sprintf(text, "x,y,kind,patrol,speed\n");
  for (int i = 0; i < 50; i++) length += sprintf(text + length, "0,0,guard,1,2.5\n");
  SCOPED(discard_file) char *path = write_file(text);
  double ample_ns, tight_ns;
  check_patrols(path, 0, &ample_ns);
  /* Fifty routines would like to have 2,500 ns of every frame. */
  check_patrols(path, 800, &tight_ns);
  cr_assert_gt(tight_ns, 2 * ample_ns);
}

Test(population, a_part_of_the_village_is_as_many_agents_as_asked_for) {
  SCOPED(scene_close) struct scene scene = open_with(CHANGED(village_options(1), it.agents = 100), 1, 0);
  cr_assert_eq(scene.needs.agents, 100);
  run_frames(&scene, 10);
  double agents = scene_reported(&scene, "routine_agents") + scene_reported(&scene, "steering_agents") +
                  scene_reported(&scene, "sensing_agents") + scene_reported(&scene, "paths_agents");
  cr_assert_float_eq(agents, 100, 0);
}
