/* budget_run.h - one contender on one shape: the told clock, the agents, and the accounts of frames. */
#ifndef BENCH_BUDGET_RUN_H
#define BENCH_BUDGET_RUN_H

#include "budget.h"
#include "crowd.h"

#include "base/clock.h"

#include <muster/muster.h>

/* What an update costs. */
typedef enum budget_cost {
  COST_EQUAL = 0,
  COST_CHANCE,  /* one in `every` is dear, by chance */
  COST_MEMBERS, /* each agent in `every` is dear */
  COST_LOG,     /* log-normal with sigma 1.3 */
  COST_ELAPSED, /* cost_ns and dear_ns for each second elapsed */
  COST_KINDS    /* log-normal with sigma 1, with the mean of the agent's kind in the spawn file */
} budget_cost;

/* A shape of costs. What is 0 is left to the setup or not so. */
struct shape {
  budget_cost cost;
  double cost_ns, dear_ns;
  uint32_t every;
  uint64_t first_ns;   /* the first update of all, or the first one near the player */
  uint32_t agents, hz; /* of its own */
  uint32_t seconds;    /* at most: what it is about is over then */
  bool player;         /* comes after ten seconds, and makes some agents important */
  bool split;          /* cheap and dear agents have a type each */
  bool joining;        /* agents are spawned while the world runs */
  bool groups;         /* cheap and dear agents are looked at apart */
  bool from_start;
  uint64_t taken_ns, taken_every_ns; /* the kernel takes the processor for so long, so often */
  bool told_only;                    /* not for the wall clock */
  bool noise;                        /* for the wall clock alone, beside a load */
};

extern const struct shape shape_costs[BUDGET_SHAPES];

#define PERIOD_NS     100000000u
#define PERIOD_MAX_NS 1000000000u
#define SECOND_NS     1000000000u

enum { PLAYER_SECOND = 10, NEAR_EVERY = 20 };

struct member {
  uint64_t last_ns;   /* simulation time of its last update, or of its spawn */
  uint64_t period_ns; /* the shortest */
  uint32_t updates;
  uint32_t frame; /* in which it ran last, + 1 */
  double mean_ns; /* of its costs, as the sorted loop knows them */
  uint8_t group;
  bool spawned;
};

/* What a worker counts; each writes its own. */
struct tally {
  _Alignas(128) uint64_t updates, inside_ns, repeats, at_once, faults; /* of the whole run */
  uint64_t group_updates[BUDGET_GROUPS];                               /* in the window */
  uint32_t seconds[BUDGET_GROUPS][BUDGET_SECONDS];                     /* updates in each */
  uint64_t frame_updates, frame_inside_ns, frame_longest_ns;           /* of a frame */
};

/* What an update took. */
struct spent {
  uint64_t own_ns, wall_ns;
};

struct run {
  const budget_setup *setup;
  const struct shape *shape;
  budget_contender contender;
  bool wall; /* on the machine's clock, where updates are busy work; else the clock is told */
  uint32_t count, spawned, hz;
  uint32_t workers; /* indices of workers that run updates... */
  uint32_t share;   /* ...and how many of them the budget counts */
  uint64_t budget_ns, frame_ns;
  double tenth_ns; /* a tenth of what frames of a second have */
  struct member *members;
  struct tally *tallies; /* of each worker */
  struct crowd crowd;
  uint64_t told_ns, told_cpu_ns; /* the clocks by accounting; they differ by what the kernel takes */
  clock_source clock;            /* the machine's */
  double turns_per_ns;           /* of busy work */

  uint64_t sim_ns, begin_ns, deadline_ns;
  uint32_t frame, from_frame, frames;
  uint64_t repaid_ns;                  /* of the frame's budget */
  uint64_t owed_ns;                    /* beyond deadlines, and not repaid */
  bool kept;                           /* the library says that the frame was not late */
  uint64_t level_updates;              /* at level 0 in a shape with a player */
  uint64_t frame_updates;              /* of the last frame */
  double used_ns, given_ns, frames_ns; /* of the window; the last is what its frames took */
  uint32_t late_frames;
  budget_result *result;
  void *loop; /* the contender's own */
};

/* Whether the player is there. */
static inline bool run_has_player(const struct run *run) {
  return run->shape->player && run->sim_ns >= (uint64_t)PLAYER_SECOND * SECOND_NS;
}

/* Whether the agent is near to where the player comes. */
static inline bool run_is_near(const struct run *run, uint32_t agent) {
  return run->shape->player && agent % NEAR_EVERY == 0;
}

static inline bool run_is_dear(const struct shape *shape, uint32_t agent) {
  return shape->cost == COST_MEMBERS && agent % shape->every == 0;
}

/* The capability level at which a loop runs an agent; the library's own contenders are told theirs. */
static inline uint32_t run_level(const struct run *run, uint32_t agent) {
  return run->shape->player && !(run_has_player(run) && run_is_near(run, agent));
}

static inline uint64_t run_age(const struct run *run, uint32_t agent) {
  return run->sim_ns - run->members[agent].last_ns;
}

static inline bool run_is_due(const struct run *run, uint32_t agent) {
  return run->members[agent].spawned && run_age(run, agent) >= run->members[agent].period_ns;
}

static inline uint64_t run_now(const struct run *run) {
  return run->wall ? clock_now(&run->clock) : run->told_ns;
}

static inline uint64_t run_left(const struct run *run) {
  uint64_t now_ns = run_now(run);
  return run->deadline_ns > now_ns ? run->deadline_ns - now_ns : 0;
}

/* Runs an update, which takes its time. On the wall clock several workers at a time. */
struct spent run_update(struct run *run, uint32_t worker, uint32_t agent, uint32_t level, uint64_t elapsed_ns);

/* How much the kernel takes of the told time until then. */
uint64_t run_taken(const struct run *run, uint64_t until_ns);

/* Runs that many frames more. */
bool run_frames(struct run *run, uint32_t count);

/* How a contender runs: what it needs before; agents, up to that many, and the player who come with a frame; the frame;
 * and after. */
struct way {
  bool (*open)(struct run *run), (*come)(struct run *run, uint32_t wanted), (*frame)(struct run *run);
  void (*close)(struct run *run);
};

extern const struct way run_ways[BUDGET_CONTENDERS];

bool world_open(struct run *run);
bool world_come(struct run *run, uint32_t wanted);
bool world_plan_frame(struct run *run);
bool world_run_frame(struct run *run);
void world_close(struct run *run);
bool sorted_open(struct run *run);
bool sorted_frame(struct run *run);
void sorted_close(struct run *run);
bool robin_open(struct run *run);
bool robin_frame(struct run *run);
void robin_close(struct run *run);

#endif
