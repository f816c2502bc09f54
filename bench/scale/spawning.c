/* A crowd that comes at once, and goes at once. */

#include "rounds.h"
#include "square.h"

#include <stdlib.h>

enum { FRAMES_MAX = 10000, SETTLING_FRAMES = 10 };

static const uint64_t budget_ns = 10000000, day_ns = 86400000000000u;

/* The figures of spawning, or of removal. */
struct crowd {
  uint32_t count, rounds;
  double ns[SCALE_ROUNDS_MAX], frames[SCALE_ROUNDS_MAX]; /* of each round; ns: for an agent */
  uint32_t frames_over_budget;                           /* of all */
};

/* Frames until the world holds so many agents and nothing waits; they need not all fit into one. */
static bool carry_out(struct square *square, struct crowd *crowd, uint64_t begin_ns, uint32_t agents) {
  uint32_t frames = 0;
  do {
    if (frames++ == FRAMES_MAX || !square_frame(square)) return false;
    crowd->frames_over_budget += !muster_frame_kept(&square->report);
  } while (square->report.agents != agents || square->report.spawns_waiting > 0);
  crowd->ns[crowd->rounds] = (double)(work_threads_cpu(&square->threads) - begin_ns) / crowd->count;
  crowd->frames[crowd->rounds++] = frames;
  return true;
}

static bool spawn_crowd(struct square *square, struct crowd *crowd, muster_agent *agents) {
  uint64_t begin_ns = work_threads_cpu(&square->threads);
  for (uint32_t i = 0; i < crowd->count; i++) {
    agents[i] = square_spawn(square);
    if (muster_agent_is_null(agents[i])) return false;
  }
  return carry_out(square, crowd, begin_ns, crowd->count);
}

static bool remove_crowd(struct square *square, struct crowd *crowd, const muster_agent *agents) {
  uint64_t begin_ns = work_threads_cpu(&square->threads);
  for (uint32_t i = 0; i < crowd->count; i++)
    if (muster_agent_remove(square->world, agents[i]) != MUSTER_OK) return false;
  return carry_out(square, crowd, begin_ns, 0);
}

/* They go in another order than they came in. */
static void shuffle(struct square *square, muster_agent *agents, uint32_t count) {
  for (uint32_t i = count - 1; i > 0; i--) {
    uint32_t other = (uint32_t)(square_random(square) % (i + 1));
    muster_agent agent = agents[i];
    agents[i] = agents[other];
    agents[other] = agent;
  }
}

/* Every round has a world of its own with untouched memory. No agent is due for hours, so that the frames do nothing
 * else. */
static bool measure_round(const scale_setup *setup, muster_agent *agents, struct crowd *spawned,
                          struct crowd *removed) {
  struct square square = {0};
  square_def def = {.agents_max = spawned->count,
                    .observers = SCALE_OBSERVERS_OF_SPAWNING,
                    .workers = setup->workers,
                    .period_ns = day_ns,
                    .budget_ns = budget_ns,
                    .audit = true};
  bool done =
      square_open(&square, &def) && square_frames(&square, SETTLING_FRAMES) && spawn_crowd(&square, spawned, agents);
  if (done) shuffle(&square, agents, spawned->count);
  done = done && square_frames(&square, SETTLING_FRAMES) && remove_crowd(&square, removed, agents);
  square_close(&square);
  return done;
}

static bool measure_rounds(const scale_setup *setup, muster_agent *agents, uint32_t count, scale_spawning *row) {
  struct crowd spawned = {.count = count}, removed = {.count = count};
  while (spawned.rounds < setup->rounds)
    if (!measure_round(setup, agents, &spawned, &removed)) return false;
  row->spawn_ns = rounds_median(spawned.ns, setup->rounds);
  row->remove_ns = rounds_median(removed.ns, setup->rounds);
  row->spawn_frames = rounds_median(spawned.frames, setup->rounds);
  row->remove_frames = rounds_median(removed.frames, setup->rounds);
  row->frames = row->spawn_frames + row->remove_frames;
  row->frames_over_budget = spawned.frames_over_budget + removed.frames_over_budget;
  return true;
}

const char *scale_measure_spawning(const scale_setup *setup, scale_spawning *row) {
  uint32_t count = setup->quick ? SCALE_SPAWNED_QUICK : SCALE_SPAWNED;
  muster_agent *agents = calloc(count, sizeof *agents);
  *row = (scale_spawning){.agents = count, .observers = SCALE_OBSERVERS_OF_SPAWNING, .workers = setup->workers};
  if (setup->show) setup->show("spawning and removing", setup->user);
  if (!agents) return "out of memory";
  bool done = measure_rounds(setup, agents, count, row);
  free(agents);
  return done ? NULL : square_wrong();
}
