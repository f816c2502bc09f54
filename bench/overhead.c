/* overhead.c - what scheduling costs: CPU time of all threads in frames, less that of a plain loop over the same
 * callbacks on the same agents, divided by the updates. The two alternate; medians of the rounds are shown.
 *
 *   overhead [WORKERS]    default: all processors */
#include <muster/muster.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, FRAMES = 30, FRAME_NS = 10000000, UPDATES_PER_FRAME = 2000 };

typedef struct creature {
  float x, speed;
} creature;

static void live(creature *self, float seconds) {
  for (int i = 0; i < 16; i++) {
    self->x += self->speed * seconds * 0.0625f;
    if (self->x > 100.0f || self->x < -100.0f) self->speed = -self->speed;
  }
}

static muster_atom_result run(muster_update *update) {
  live(update->state, (float)update->elapsed_ns * 1e-9f);
  return MUSTER_ATOM_NEXT;
}

static uint64_t process_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static muster_world *populate(muster_pool *pool, uint32_t agents) {
  const muster_atom atoms[] = {{run, MUSTER_ROLE_BEHAVIOUR, 100}};
  muster_world_def world_def = muster_default_world_def();
  world_def.pool = pool;
  world_def.agents_max = agents + 1;
  muster_world *world = muster_world_create(&world_def);
  muster_type_def type = muster_default_type_def();
  type.atoms = atoms;
  type.atom_count = 1;
  type.state_bytes = sizeof(creature);
  type.period_ns = (uint64_t)FRAME_NS * agents / UPDATES_PER_FRAME;
  if (type.period_ns < FRAME_NS) type.period_ns = FRAME_NS;
  type.period_max_ns = type.period_ns;
  muster_agent_def agent = muster_default_agent_def();
  agent.type = world ? muster_type_register(world, &type) : (muster_type){0};
  for (uint32_t i = 0; i < agents; i++) {
    creature state = {.x = (float)(i % 200) - 100.0f, .speed = 3.0f};
    agent.state = &state;
    agent.position = (muster_position){rand() % 10000, rand() % 10000, 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &agent))) exit(fprintf(stderr, "%s\n", muster_last_error()) < 0);
  }
  return world;
}

/* CPU of `FRAMES` frames; the updates that they completed are added to *completed. */
static uint64_t frames_cpu_ns(muster_world *world, uint64_t *now_ns, uint64_t *completed) {
  uint64_t begin = process_cpu_ns();
  for (int i = 0; i < FRAMES; i++) {
    muster_frame_report report = muster_default_frame_report();
    *now_ns += FRAME_NS;
    muster_frame_run(world, &(muster_frame){*now_ns, 1000000000u});
    muster_frame_report_read(world, &report);
    *completed += report.completed;
  }
  return process_cpu_ns() - begin;
}

/* CPU of a plain loop that runs as many updates over states in random order. */
static uint64_t loop_cpu_ns(creature *creatures, const uint32_t *order, uint32_t agents, uint64_t updates) {
  uint64_t begin = process_cpu_ns();
  for (uint64_t i = 0; i < updates; i++) live(&creatures[order[i % agents]], 0.01f);
  return process_cpu_ns() - begin;
}

static void measure(muster_pool *pool, uint32_t agents) {
  muster_world *world = populate(pool, agents);
  creature *creatures = calloc(agents, sizeof *creatures);
  uint32_t *order = malloc(agents * sizeof *order);
  double overheads[ROUNDS], loops[ROUNDS];
  uint64_t now_ns = 0, completed = 0;
  for (uint32_t i = 0; i < agents; i++) order[i] = (uint32_t)rand() % agents;
  for (int i = 0; i < 6; i++) frames_cpu_ns(world, &now_ns, &completed); /* spawns, costs and caches settle */
  for (int round = 0; round < ROUNDS; round++) {
    completed = 0;
    uint64_t frames_ns = frames_cpu_ns(world, &now_ns, &completed);
    uint64_t loop_ns = loop_cpu_ns(creatures, order, agents, completed);
    loops[round] = (double)loop_ns / (double)completed;
    overheads[round] = (double)frames_ns / (double)completed - loops[round];
  }
  qsort(overheads, ROUNDS, sizeof *overheads, by_value);
  qsort(loops, ROUNDS, sizeof *loops, by_value);
  printf("%9u %12.0f %16.1f %16.1f\n", agents, (double)completed / FRAMES, loops[ROUNDS / 2], overheads[ROUNDS / 2]);
  free(order);
  free(creatures);
  muster_world_destroy(world);
}

int main(int count, char **arguments) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = count > 1 ? (uint32_t)atoi(arguments[1]) : 0;
  muster_pool *pool = muster_pool_create(&def);
  if (!pool) return fprintf(stderr, "overhead: %s\n", muster_last_error()), 1;
  printf("%u workers\n%9s %12s %16s %16s\n", muster_pool_workers(pool), "agents", "updates", "plain loop", "overhead");
  printf("%9s %12s %16s %16s\n", "", "per frame", "ns per update", "ns per update");
  const uint32_t sizes[] = {2000, 10000, 100000, 1000000};
  for (int i = 0; i < 4; i++) measure(pool, sizes[i]);
  muster_pool_destroy(pool);
  return 0;
}
