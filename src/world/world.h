/* world.h - a world: every store and every stage's state in one place. The rooms below it see parts of it alone. */
#ifndef WORLD_H
#define WORLD_H

#include "agents/batch.h"
#include "agents/companions.h"
#include "agents/herds.h"
#include "agents/mailbox.h"
#include "agents/observers.h"
#include "agents/space.h"
#include "agents/store.h"
#include "agents/types.h"
#include "plan/bands.h"
#include "plan/controller.h"
#include "plan/costs.h"
#include "plan/fold.h"
#include "plan/offenders.h"
#include "plan/periods.h"
#include "plan/rank.h"
#include "plan/ready.h"
#include "plan/rhythm.h"
#include "plan/score.h"
#include "plan/shedding.h"
#include "plan/timers.h"
#include "pool/crew.h"
#include "pool/identity.h"
#include "pool/pool.h"
#include "pool/ticket.h"
#include "run/acts.h"
#include "run/herd_ids.h"
#include "run/inbox.h"
#include "run/occupancy.h"
#include "run/runner.h"
#include "run/watchdog.h"
#include "world/trace.h"

/* What the frames have taught about their own serial parts. */
typedef struct frame_experience {
  cost_estimate plan;                /* stages 1 to 6 of a frame */
  cost_estimate prepare;             /* of these, all but the ranking */
  cost_estimate rank;                /* the ranking, per entry of the batch */
  cost_estimate settle;              /* commit, per entry of the batch */
  cost_estimate act;                 /* action atoms of a frame */
  cost_estimate act_each[ACT_KINDS]; /* of one agent */
  cost_estimate act_settle;          /* of one that acted beside others: what the commit does for it afterwards */
  double acts_left_ns;               /* what actions will take that found no time in the last frame */
  double each_ns;                    /* predicted cost of an entry of the last batch that had any */
  uint32_t entries;                  /* of the last batch */
  double holding;                    /* of what a batch could not run, the share that could be held; 0..1 */
  double reserve_ns;                 /* kept free at the end of a budget, beyond the least: plan/controller.h */
  uint32_t planned_only;             /* frames in a row in which planning alone took longer than the budget */
  struct controller controller;
} frame_experience;

/* What a frame expects of itself, from what the frames before it took. Asked once, when the intake is over
 * (frame/forecast.h); the stages read it. */
typedef struct frame_forecast {
  double utilisation;    /* U_d: what the workers can run, as a share of simulation time; infinite in the first frame */
  double settle_ns;      /* the commit settles an entry */
  double entry_ns;       /* an entry is ranked and settled */
  double act_ns;         /* the frame's actions */
  double commit_most_ns; /* the commit is taken to last no longer */
  double gap_ns;         /* what the other workers can run while the caller plans */
  uint64_t reserve_ns;   /* of the budget, kept free at its end */
  uint32_t entries_most; /* that there is time to rank */
} frame_forecast;

/* The frame that is running. */
typedef struct frame_state {
  uint64_t number;
  uint64_t now_ns;                /* simulation time */
  uint64_t elapsed_ns;            /* T_f */
  uint64_t budget_ns;             /* what the host gave, less what calls between frames took and what past frames owe */
  uint64_t begin_ns, deadline_ns; /* wall */
  uint64_t capacity_ns;           /* virtual clock: of this frame, its actions included */
  uint64_t spent_ns;              /* virtual clock: modelled cost so far */
  uint64_t stage_ns;              /* wall clock at the end of the last stage */
  uint64_t mark_ns, mark_cpu_ns;  /* audit: the last look at both clocks */
  uint64_t late_cpu_ns;           /* audit: the caller's thread CPU after the promised end, outside stage 7 */
  uint64_t serial_cpu_ns;         /* audit: the caller's thread CPU outside stage 7 */
  uint64_t stolen_ns;             /* audit: wall time of the caller outside stage 7 that the kernel gave to others */
  bool slept;                     /* audit: the caller did, until the last worker left a crew of a serial stage */
  uint64_t act_ns;                /* spent in action atoms */
  frame_forecast forecast;
  uint64_t commit_ns;  /* what the commit will take: known when the batch is */
  double everybody_ns; /* what one update of everybody takes who has a period */
  double acts_late_ns; /* what the actions will take of those whose turn should have come, */
  uint32_t acts_late;  /* and how many these are */
} frame_state;

/* Of a band of importance, since the statistics were cleared. */
typedef struct settled_band {
  uint64_t completed;
  struct histogram staleness;
} settled_band;

/* What the completed updates of a share of the batch add up to. Shares are settled by different workers at a time. */
typedef struct settle_part {
  _Alignas(64) uint64_t completed; /* in this frame */
  int64_t interval_deviation_sum_ns;
  uint64_t steps_behind_max;
  uint64_t longest_wait_ns; /* in this frame, of those who had waited in line; */
  uint32_t forgotten;       /* so many of them left it */
  settled_band bands[MUSTER_BANDS];
} settle_part;

/* What is known of runaways. */
typedef struct conduct_state {
  struct offenders offenders;
  muster_offence kept[MUSTER_OFFENCES_KEPT]; /* a ring */
  uint64_t kept_count;
  uint32_t types_watched, types_quarantined;
  uint32_t agents_demoted, agents_quarantined;
  uint32_t regrade_next, regrade_left; /* indices whose agents are noted for the score: a type's floor changed */
  uint64_t log_begin_ns;               /* of the second in which lines are counted */
  uint32_t log_lines, log_left_out;
} conduct_state;

/* How far the commit of the last batch got: what found no time is left to the next frame. */
typedef struct commit_progress {
  bool open;
  bool begun;                  /* else the deadline had passed, and all of it is left */
  bool all_settled;            /* what is left is to deliver messages */
  uint32_t settled;            /* entries */
  uint64_t unheld_ns;          /* of those that did not run, what those would take that are never held */
  uint32_t ids_seen, ids_kept; /* of those set aside for spawns */
} commit_progress;

/* Of a planner world: the plan that the host runs. */
typedef struct planner_state {
  uint32_t capacity; /* entries that it has room for */
  uint32_t *numbers; /* by agent: its entry, if that is its */
} planner_state;
struct recorder;

struct muster_world {
  struct arena arena;
  struct living living;
  struct occupancy occupancy;
  muster_world_def def;
  muster_pool *pool, *own_pool;
  struct recorder *recorder; /* null but in a world that records or replays */
  bool timed;                /* decisions look at the clock: not the virtual one, nor in a replay */

  /* agents: what exists */
  agent_store store;
  type_table types;
  struct space space;
  observer_table observers;
  struct mailbox mailbox;
  struct companions companions;
  herd_table herds;

  /* plan: who runs, when, how well */
  class_table classes;
  rhythm_table rhythms;
  cost_table costs;
  struct periods periods;
  ready_set ready;
  score_board board;
  struct timers timers;
  struct timers reactions; /* of agents that must react by a time: when they are looked at next */
  struct shedding shedding;
  judge_factors factor_weights;
  const judge_factors *factors; /* null: importance is the product */
  conduct_state conduct;
  fold_board fold;
  struct fold_blocks fold_blocks; /* that are looked at now */

  /* pool and run: how it runs */
  struct identity agent_ids, observer_ids;
  struct identity *slots;   /* by type */
  struct herd_ids herd_ids; /* of herds */
  struct inbox inbox;
  struct wakes wakes;
  struct batch batch;
  rank_result held;       /* what those held from the last frame take of this one's limits */
  struct crew early_crew; /* runs them while the caller plans */
  struct crew run_crew, settle_crew, act_crew, score_crew, fold_crew;
  shared_u64 score_ticket; /* items of the score stage that no worker has taken yet, several at a time */
  shared_u64 fold_ticket;  /* and blocks of herds of stage 3 */
  bool early_open;
  struct visit visit; /* of the thread that runs the frame, and its seat */
  struct seat *seat;
  const update_context *outer; /* whose callbacks that thread was running before: of another world; null: of none */
  struct runner runner;
  struct watchdog *watchdog; /* null: none */

  struct index_counter places_late; /* for messages: set aside in this frame after the ranking */
  uint32_t *spawn_ids;              /* set aside for spawns from inside updates; kept from frame to frame */
  uint32_t spawn_id_count;
  struct command *deferred;        /* what updates asked of others, in order: the next intake begins with it */
  struct command *deferred_before; /* the other buffer, while the intake reads one */
  uint32_t deferred_count;
  uint64_t *acting, *acting_now; /* bitmaps: agents whose action atoms wait; those of them whose turn it is, only in
                                    the stage that runs them */
  uint32_t acting_count;
  uint32_t act_kinds; /* bitmap of muster_act: those that some type has */
  uint32_t act_first; /* the one whose turn is first */
  struct acts acts;   /* those who act beside each other; reserved with the first type that says so */

  uint8_t *marks;      /* agents_max: what became of the positions of an array */
  uint64_t *seen;      /* bitmap: agents that an array named; all clear outside its call */
  uint64_t prepaid_ns; /* what calls between frames took: the next budget is so much less */

  uint64_t frames;
  uint64_t last_now_ns;
  frame_state frame;
  /* How updates are run is chosen when the world is created. */
  void (*run_stage)(
      struct muster_world *world); /* 7: by workers, or as in a record; null where the host runs updates */
  bool costs_told; /* entries carry what they cost, by a model or by the host's word, instead of samples of workers */
  commit_progress commit;
  struct shares settle_shares;
  planner_state planner;
  uint32_t settle_looked_at[WHEEL_SHARDS]; /* claims, by the share that looked at them */
  frame_experience experience;
  muster_frame_report report;
  muster_statistics statistics; /* the quantiles are filled when it is read */
  struct trace trace;
  settle_part *parts; /* WHEEL_SHARDS: what completed updates add up to */
  struct bands bands;
  uint32_t batch_high;
  uint64_t admitted_ns; /* predicted cost of the last batch */
  uint32_t helpers;     /* workers that were called to run it */
};

/* Whether a frame has begun and not ended. */
static inline bool world_is_in_frame(const struct muster_world *world) {
  enum occupation occupation = occupancy_get(&world->occupancy);
  return occupation == OCCUPIED_BY_FRAME || occupation == OCCUPIED_BY_PLAN;
}

/* Whether the host runs the updates and says what they cost. */
static inline bool world_is_planned(const struct muster_world *world) {
  return world->def.planner_workers > 0;
}

/* How many run updates: the host's, or ours. */
static inline uint32_t world_workers(const struct muster_world *world) {
  return world_is_planned(world) ? world->def.planner_workers : world->runner.workers;
}

/* What the score works on. */
static inline score_inputs world_score_inputs(struct muster_world *world) {
  return (score_inputs){.store = &world->store,
                        .types = &world->types,
                        .space = &world->space,
                        .observers = &world->observers,
                        .classes = &world->classes,
                        .ready = &world->ready,
                        .factors = world->factors};
}

#endif
