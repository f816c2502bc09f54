/* Scheduled and unscheduled: Muster with enough budget, and a loop over the same callbacks that honours the same
 * periods and delays (Wright & Marshall's unscheduled version). */
#include "sets.h"

#include "base/clock.h"
#include "everyone.h"
#include "rounds.h"
#include "work.h"

#include "scenarios/scaffold.h"

#include <muster/sets.h>

#include <stdlib.h>

enum { SETS = 5, ATOMS_MOST = 3, ROUND_FRAMES = 24, WARM_UP = 48 };

/* The sets, in the order of roles. */
static const struct {
  muster_role role;
  uint32_t atoms, period, delay;
} plan[SETS] = {
    {MUSTER_ROLE_PERCEPTION, 2, 1, 0}, /* which agents are near, where the target is */
    {MUSTER_ROLE_BEHAVIOUR, 3, 4, 0},  /* avoid */
    {MUSTER_ROLE_BEHAVIOUR, 3, 6, 1},  /* follow */
    {MUSTER_ROLE_BEHAVIOUR, 3, 8, 2},  /* plan */
    {MUSTER_ROLE_ACTION, 1, 1, 0},     /* steer */
};

/* The state of an agent. */
struct doer {
  uint64_t done[SETS]; /* atoms of each set */
  uint64_t updates;    /* in the loop: how many it had */
};

struct schedule {
  muster_atom atoms[SETS][ATOMS_MOST];
  muster_set_def sets[SETS];
  struct everyone everyone;
  struct doer *doers; /* of the loop */
};

/* The type's user: what one atom takes, and how many were run. */
struct effort {
  uint32_t turns;
  uint64_t atoms;
};

static muster_atom_result work(muster_update *update) {
  struct effort *effort = update->type_user;
  work_turn(effort->turns);
  ((struct doer *)update->state)->done[update->set]++;
  effort->atoms++;
  return MUSTER_ATOM_NEXT;
}

static bool open_schedule(struct schedule *schedule, const sets_schedule *row, struct effort *effort) {
  muster_type_def type = scaffold_type(NULL, NULL, 0, sizeof(struct doer), EVERYONE_FRAME_NS, EVERYONE_FRAME_NS);
  type.user = effort;
  type.sets.list = schedule->sets;
  type.sets.count = SETS;
  for (uint32_t i = 0; i < SETS; i++) {
    muster_set_def *set = &schedule->sets[i];
    for (uint32_t k = 0; k < plan[i].atoms; k++)
      schedule->atoms[i][k] = (muster_atom){work, plan[i].role, row->atom_ns};
    *set = muster_set_def_default();
    set->role = plan[i].role;
    if (set->role != MUSTER_ROLE_ACTION) set->mode = MUSTER_MODE_SLICEABLE;
    set->atoms = schedule->atoms[i];
    set->atom_count = plan[i].atoms;
    set->period_updates = plan[i].period;
    set->delay_updates = plan[i].delay;
  }
  schedule->doers = calloc(row->agents, sizeof *schedule->doers);
  return schedule->doers && everyone_open(&schedule->everyone, &type, row->agents);
}

/* A frame of the loop: the active sets of all agents, then the actions of all, as in a commit. */
static void loop_frame(struct schedule *schedule, const sets_schedule *row, struct effort *effort) {
  muster_update update = {.elapsed_ns = EVERYONE_FRAME_NS, .type_user = effort};
  for (int acts = 0; acts < 2; acts++)
    for (uint32_t i = 0; i < row->agents; i++) {
      struct doer *doer = update.state = &schedule->doers[i];
      for (update.set = 0; update.set < SETS; update.set++) {
        if ((plan[update.set].role == MUSTER_ROLE_ACTION) != acts) continue;
        if (doer->updates < plan[update.set].delay) continue;
        if ((doer->updates - plan[update.set].delay) % plan[update.set].period) continue;
        for (uint32_t k = 0; k < plan[update.set].atoms; k++) schedule->atoms[update.set][k].run(&update);
      }
      doer->updates += (uint64_t)acts;
    }
}

/* Frames of the loop; CPU of an update. */
static double run_loop(struct schedule *schedule, const sets_schedule *row, uint32_t frames, struct effort *effort) {
  uint64_t begin_ns = clock_thread_cpu();
  for (uint32_t i = 0; i < frames; i++) loop_frame(schedule, row, effort);
  return (double)(clock_thread_cpu() - begin_ns) / ((double)frames * row->agents);
}

/* Rounds have whole cycles of the periods, so that both run the same atoms in each. */
static bool measure(struct schedule *schedule, struct effort efforts[2], uint32_t rounds, sets_schedule *row) {
  double loop_ns[SETS_ROUNDS_MOST], scheduled_ns[SETS_ROUNDS_MOST], overhead[SETS_ROUNDS_MOST];
  if (!everyone_run(&schedule->everyone, WARM_UP, scheduled_ns)) return false;
  run_loop(schedule, row, WARM_UP, &efforts[1]);
  efforts[0].atoms = efforts[1].atoms = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    if (round % 2) loop_ns[round] = run_loop(schedule, row, ROUND_FRAMES, &efforts[1]);
    if (!everyone_run(&schedule->everyone, ROUND_FRAMES, &scheduled_ns[round])) return false;
    if (round % 2 == 0) loop_ns[round] = run_loop(schedule, row, ROUND_FRAMES, &efforts[1]);
    overhead[round] = scheduled_ns[round] / loop_ns[round] - 1.0;
  }
  row->equal = efforts[0].atoms == efforts[1].atoms;
  row->atoms_per_update = (double)efforts[1].atoms / ((double)rounds * ROUND_FRAMES * row->agents);
  row->loop_ns = rounds_median(loop_ns, rounds);
  row->scheduled_ns = rounds_median(scheduled_ns, rounds);
  row->overhead = rounds_median(overhead, rounds);
  row->lowest = overhead[0]; /* they are in order now */
  row->highest = overhead[rounds - 1];
  return true;
}

const char *sets_measure_schedule(uint32_t rounds, sets_schedule *row) {
  struct schedule schedule = {0};
  struct effort efforts[2] = {{.turns = work_turns(row->atom_ns)}, {.turns = work_turns(row->atom_ns)}};
  bool done = open_schedule(&schedule, row, &efforts[0]) && measure(&schedule, efforts, rounds, row);
  everyone_close(&schedule.everyone);
  free(schedule.doers);
  return done ? NULL : muster_last_error();
}
