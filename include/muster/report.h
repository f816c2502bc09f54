/* muster/report.h - what happened: the report of a frame, sums over frames, costs of types. Part of muster/muster.h.
 */
#ifndef MUSTER_REPORT_H
#define MUSTER_REPORT_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum muster_stage {
  MUSTER_STAGE_INTAKE = 0,
  MUSTER_STAGE_SCORE,
  MUSTER_STAGE_FOLD,
  MUSTER_STAGE_FIT,
  MUSTER_STAGE_RELEASE,
  MUSTER_STAGE_RANK,
  MUSTER_STAGE_RUN,
  MUSTER_STAGE_COMMIT,
  MUSTER_STAGES
} muster_stage;

/* Why a part of a frame's budget was not used though agents waited. */
typedef enum muster_idle {
  MUSTER_IDLE_FAULT = 0, /* for none of these reasons: a fault of Muster's */
  MUSTER_IDLE_X,         /* updates_per_frame was reached */
  MUSTER_IDLE_LONG,      /* every update that waits is believed to take longer than what was left, as far as was looked:
                            at 256 of them */
  MUSTER_IDLE_HOST       /* in a planner world: the host ran all entries; it may plan again */
} muster_idle;

#define MUSTER_IDLES 4u

/* What happened in the last frame. Under the virtual clock wall times are virtual and overheads zero. */
typedef struct muster_frame_report {
  uint32_t size;
  uint64_t frame; /* counted from 1 */
  uint64_t sim_now_ns;
  uint64_t frame_period_ns; /* T_f: simulation time since the frame before */
  uint64_t budget_ns;
  uint64_t wall_ns; /* of the call */
  uint64_t stage_ns[MUSTER_STAGES];
  uint64_t overrun_wall_ns;  /* past the budget; time that the kernel took included */
  uint64_t overrun_own_ns;   /* the promise: thread CPU spent after the end of the budget, which calls between the
                                frames shorten; with audit, else 0. The atom that crosses that end counts whole; so does
                                a claim in which no clock was read. A frame that repays an overrun aims to end sooner,
                                but is late only after that end. See muster_frame_kept() */
  uint64_t longest_claim_ns; /* with audit: own time of the longest claim (virtual: of the longest update); else 0 */
  uint64_t used_cpu_ns;      /* with audit: thread CPU of all workers spent on the frame */
  uint64_t given_cpu_ns;   /* with audit: workers x the time after which the frame is late (the budget, less what calls
                              between the frames took), less what the kernel took from running workers */
  uint64_t update_cpu_ns;  /* time inside claims, all workers */
  uint64_t overhead_ns;    /* all workers' time in the frame that was not spent inside atoms and not idle */
  uint32_t agents;         /* active */
  uint32_t spawns_waiting; /* queued, not yet active */
  uint32_t released;       /* due for the first time in this frame */
  uint32_t completed;
  uint32_t carried;         /* due but not started; they keep their age */
  uint32_t preempted;       /* updates stopped between two atoms; they continue */
  uint32_t actions_waiting; /* action atoms that found no time and lead the next commit */
  uint32_t woken;
  uint64_t longest_wait_ns;   /* the longest time from release to start among agents that started or wait now */
  float utilisation_desired;  /* U_d = workers x budget / T_f */
  float utilisation_nominal;  /* what all agents at their shortest periods would take */
  float utilisation_fitted;   /* what the fitted periods should take */
  float pressure;             /* 0 = all at wanted periods, 1 = all at their longest, above 1 = even that does not fit.
                                 Under MUSTER_ELASTIC_IMPORTANCE: what all agents would take at their longest periods,
                                 as a part of the capacity; these periods are wishes, and stretch above wish_part */
  double period_deviation_ns; /* mean of T_i - T_io over active agents, as fitted */
  uint32_t levels[MUSTER_LEVELS]; /* active agents per capability level */
  uint32_t commands_waiting;      /* commands left to the next intakes */
  uint32_t scored;                /* agents whose importance was looked at by the score stage */
  uint32_t score_cells;           /* cells of the ground in which observers changed the importance of agents */
  uint32_t score_waiting;         /* observers, cells and agents that the stage left to the next frames: a limit on
                                     its work was reached */
  uint64_t repaid_ns; /* the part of the budget (virtual: of the capacity) that made up for earlier overruns: at most a
                         third */
  uint64_t debt_ns;   /* overruns that no frame has made up for yet, this one's included; bounded by debt_budgets */
  float share;        /* what updates are planned for, as a part of the time that they could have: what those that ran
                         were believed to take, learnt by the controller from frames in which work waited; 1/64..1.25, 1
                         = as predicted. Below 1 they cost more than was believed, or the kernel runs other threads */
  uint32_t overruns;  /* of atoms: over their type's limit by their own CPU time; muster/overruns.h */
  uint32_t agents_demoted;     /* active agents that a penalty keeps from their upper levels now */
  uint32_t agents_quarantined; /* active agents that are not run at all */
  uint32_t types_quarantined;
  uint32_t sets_cut; /* times that a set of some agent was cut: muster/sets.h. Passes that the end of the frame cut
                        short are counted in preempted */

  /* x in force, 0 = no limit but the budget; active agents at a cheaper level than their importance gives, because of
   * the pressure; and further cycles of updates that ran, which are not counted as completed. */
  uint32_t updates_max, agents_shed, cycles;

  /* Herds (muster/herd.h): individuals of the world, herd members and other agents together; leaves of membranes that
   * are agents; herds that are folded, and unfolded; nodes folded and unfolded by this frame's intake; and nodes that
   * stage 3 wants folded or unfolded, left to the next intakes. */
  uint64_t represented;
  uint32_t leaves, herds_folded, herds_unfolded, folds, unfolds, changes_waiting;

  uint32_t nearby_cut;    /* calls of muster_update_nearby() that did not look at every agent */
  uint32_t atoms_blocked; /* atoms that blocked for longer than their type's limit: muster/overruns.h */
  uint64_t blocked_ns;    /* how much later the frame ended because atoms blocked. Wall clock only */

  uint64_t longest_atom_ns; /* with audit: own time of the longest atom, actions included, of those that were timed:
                               long ones, samples, and all that may cross the frame's end. Virtual: of all. Else 0 */

  /* Under MUSTER_ELASTIC_IMPORTANCE: active agents whose period is longer than their period_max_ns; and what exempt
   * agents and hard types want at least, as a part of the capacity: above a half all their rates shrink by the same
   * factor. */
  uint32_t agents_beyond_wish;
  float held_load;

  /* The bound of waits. turn_longest_ns: how long after its release an agent's turn comes at the latest, which is 5/4
   * of the longest period in force (or of guarantee_ns) with MUSTER_ORDER_DEADLINE, and guarantee_ns with other orders.
   * agents_late: agents that wait at the frame's end for their update or actions although their turn should have come
   * (other orders: all agents). Over any number of frames in which work waited, each of T_f, with x the least number of
   * updates that one of them completed: longest_wait_ns <= max turn_longest_ns + (max agents_late / x, rounded up, + 1)
   * T_f. */
  uint64_t turn_longest_ns;
  uint32_t agents_late;

  /* What agents whose importance is above 3/4 now would take at their wanted periods, as a part of the capacity
   * (utilisation_desired). Above 1 even they do not fit, and share the capacity. Agents without a period do not
   * count. */
  float important_load;

  /* What no number of workers makes faster: serial_ns is the time of the frame's thread in which no other worker of the
   * world may run anything. That is planning, the commit and the end of the frame, but not while other workers are
   * called to help in a stage, nor while agents that were held from the last batch, or ranked for this one, are left
   * for them, or run by them, during planning. work_ns is the time of all workers in the frame, this one's stages
   * included. With audit both are thread CPU time (work_ns is used_cpu_ns); else wall time of stages and claims, in
   * which a worker may also have waited. In a planner world work_ns leaves out what the host's workers run. Virtual: 0,
   * and the cost of the updates. */
  uint64_t serial_ns, work_ns;

  /* Time in actions of agents that act one after another (MUSTER_ACT_SERIAL), with what follows from each; a part of
   * serial_ns that the host can change. By Amdahl's law they alone keep any number of workers from running more than
   * work_ns / acts_serial_ns times the updates of one. Wall time, less time for which atoms blocked. Virtual: the cost
   * of these actions. */
  uint64_t acts_serial_ns;

  /* A frame goes on while there is time and agents wait: where the updates that were ranked are over before the time
   * is, more are ranked. How often the frame ranked (1 under the virtual clock), and how many updates it appended so.
   */
  uint32_t rankings, appended;

  /* The time of all workers that was left before the commit when no update ran any more, though agents waited that were
   * due, by the reason; less than 20 us a worker is not counted. Wall clock only. Whatever the reason, at most one of
   * these is not 0. */
  uint64_t idle_ns[MUSTER_IDLES];

  uint64_t announced_ns; /* the part of the budget (virtual: of the capacity) that a load takes which the host
                            announced: muster_world_def.load */

  uint64_t commit_kept_ns; /* what was kept of the budget for the commit, of which stage_ns says what it took; 0 where
                              the deadline put a part of it off to the next frame, and under the virtual clock */

  /* Where the cost of updates is seen to grow with the time that passed since an agent's last update (a + b T:
   * substeps, a distance walked), longer periods save nothing of b: elapsed_load is the sum of b over the agents, what
   * the time that passes costs by itself, as a part of the capacity (utilisation_desired). Periods are fitted to the
   * rest, and a quarter of the capacity at least is left to them. Above 1 no period can help: updates must become
   * cheaper, agents fewer, or the budget larger. elapsed_type has the largest part of it; index 0 = no type has any.
   * Under MUSTER_ELASTIC_IMPORTANCE, while the sum is above three quarters, agents_put_off are put off: those whose
   * time is worth the least for what it costs have the longest period there is, 2^20 times the shortest, so that the
   * others run in time; never all. */
  float elapsed_load;
  muster_type elapsed_type;
  uint32_t agents_put_off;

  /* 1: over the last full 128 frames simulation time moved, but never by as much as 0.15 ms from one frame to the next,
   * which is less than a server's does: milliseconds or microseconds were taken for nanoseconds, and agents hardly ever
   * become due. Below 0.7 ms likewise, where the wall clock is more than 20 times as fast. The log has said so once,
   * and does the same for a budget_ns below 0.1 ms and a 500th of a frame, and for positions in centimetres where no
   * agent is near any observer. Else 0. */
  uint32_t time_hardly_moves;
} muster_frame_report;

MUSTER_DEFAULTS(muster_frame_report);

/* How much a frame may be late beyond its longest atom. */
#define MUSTER_PROMISE_GRACE_NS 20000u

/* Whether a frame kept the promise: its own overrun is at most its longest atom and the grace. The report must be of a
 * world with audit, or with the virtual clock: other reports do not have the data. False for null. Any thread. */
MUSTER_API bool muster_frame_kept(const muster_frame_report *report);

/* Copies the report of the last frame; zeros before the first. For figures of a second, add up its frames, or read
 * muster_statistics twice and take the difference. Thread of the frames, between frames. */
MUSTER_API muster_result muster_frame_report_read(const muster_world *world, muster_frame_report *report);

#define MUSTER_BANDS        5u
#define MUSTER_UPDATE_TIMES 20u

typedef struct muster_quantiles {
  uint64_t p50_ns, p99_ns, max_ns; /* p50 and p99 to within 3 percent, max exact */
} muster_quantiles;

/* How often the agents of a band of importance run: [0] agents of importance 0, [1] above 0 up to 1/4, [2] up to 1/2,
 * [3] up to 3/4, [4] up to 1. Agents without a period (MUSTER_ELAPSED_EVENTS) or in quarantine are in no band. An agent
 * whose importance changes brings its age along; each figure counts the agents that are in the band when it is taken.
 *
 * As of now: `agents`, `agents_beyond_wish`, `wanted_ns` and `period_ns`. These two are means over rates, agents / (sum
 * of 1 / T), so that a band whose agents all run as the rule says has an interval of `period_ns`. Since the statistics
 * were cleared: the others. Times are simulation time; 0 where the band has no agent, or nothing was measured yet. */
typedef struct muster_band {
  uint32_t agents;
  uint32_t agents_beyond_wish; /* agents with a period longer than their period_max_ns */
  uint64_t wanted_ns;          /* T_io, mean */
  uint64_t period_ns;          /* T_i by the rule in force, as fitted in the last frame: mean */
  uint64_t interval_ns;        /* agent_time_ns / completed: what agents really got; agents that never ran count, too */
  double agent_time_ns;        /* sum over frames: agents at the beginning x the time since the frame before */
  uint64_t completed;          /* updates */
  muster_quantiles staleness;  /* elapsed time of completed updates; p50 and p99 of a quarter of these */
  muster_quantiles age; /* at the ends of frames, time since the last update, or since the spawn of an agent that never
                           ran; of a sample of 32 agents of the world in each frame, in turn; max is of the sample,
                           too */
} muster_band;

/* The greatest importance in a band. */
static inline float muster_band_end(uint32_t band) {
  return 0.25f * (float)band;
}

/* Sums since the world was created or the statistics were cleared. */
typedef struct muster_statistics {
  uint32_t size;
  uint64_t frames;
  uint64_t released, completed, carried, preempted, woken; /* sums of the frame reports */
  uint64_t spawned, removed;
  uint64_t positions_refused;   /* moves to places that are not finite or out of range, from updates and arrays */
  uint64_t spawns_refused;      /* inside updates: beyond spawns_max or short of ids */
  uint64_t commands_dropped;    /* inside updates: more than fit */
  uint64_t interrupted;         /* updates that gave way to more urgent work between two atoms */
  uint64_t atoms_over_limit;    /* atoms that took more CPU time than limit_ns: muster/overruns.h */
  uint64_t longest_wait_ns;     /* release to start, the worst of all frames */
  double interval_deviation_ns; /* mean over completed updates of (elapsed - T_io); 0 for agents without a period */
  uint64_t bytes_used;          /* all stores of the world, counting only the parts in use */
  uint64_t bytes_scheduling;    /* of bytes_used, what is not the types' own state */
  uint64_t messages_sent;       /* delivered and dropped ones together; counted at delivery */
  uint64_t messages_delivered;  /* put into a box */
  uint64_t messages_dropped;    /* the box was full; the host's messages also: receiver gone or without a fitting box */
  uint64_t messages_refused;    /* muster_update_send() answered MUSTER_E_FULL */
  uint64_t importances_refused; /* answers of models.importance that had to be clamped */
  uint64_t score_rounds;     /* how often the importance of every agent had to be looked at, spread over frames, because
                                of an observer that sees more than about eight times as far as most, or of a crowd of
                                more than 8,192 agents in one cell */
  uint64_t wakes_delayed;    /* wakes that had to wait for the end of their type's wake_gap_ns */
  uint64_t wakes_timed;      /* times asked for that have come, and released an agent or found it released */
  uint64_t steps_behind_max; /* with bounded steps: the most whole steps that a completed update left undone */
  uint64_t demotions, quarantines; /* of agents and of types, for the overruns of their atoms */
  uint64_t reinstated;             /* agents and types that were under a penalty */
  uint64_t stuck;                  /* times that a worker was stuck in an atom */
  uint64_t sets_cut;               /* sum of the frame reports */
  uint64_t results_refused;        /* results of atoms that count as MUSTER_ATOM_NEXT: unknown ones, and
                                      MUSTER_ATOM_MORE from an action or in a type without sets */

  /* Times of muster_update_react_by() after which the next update began in time, or not; and the cycles of the frame
   * reports. */
  uint64_t reactions_met, reactions_late, cycles;

  /* Herds: nodes folded and unfolded; unfoldings without room or refused by a callback; folds refused by a callback;
   * changes within visible_m of an observer, because it leapt or room was short; values that block updates left not
   * finite, out of range or beyond b^D; and the bytes of folded and of unfolded herds, blocks and pools, without their
   * agents. */
  uint64_t folds, unfolds, unfolds_refused, folds_refused, changes_in_sight, herds_refused;
  uint64_t bytes_folded, bytes_unfolded;

  /* Durations of the updates that were timed: all long ones, and one claim of sixteen of short ones; less the time for
   * which an atom that took too long was away from its processor. [k] counts updates of at most
   * muster_update_time_bound(k) that no bucket before counts; update_times_ns is the sum of all. Wall clock only. */
  uint64_t update_times[MUSTER_UPDATE_TIMES];
  uint64_t update_times_ns;

  uint64_t nearby_cut;    /* sum of the frame reports */
  uint64_t atoms_blocked; /* sum of the frame reports */

  muster_band bands[MUSTER_BANDS]; /* by importance, the least first */

  /* Sums of the frame reports; and serial_ns / work_ns, 0..1, 0 when nothing was measured or under the virtual clock.
   * By Amdahl's law no number of workers runs more than 1 / serial_share times the updates of one, where it was
   * measured with two or more: one worker alone does by itself also what others would help with. */
  uint64_t serial_ns, work_ns;
  float serial_share;

  /* Sums of the frame reports, and in how many frames. */
  uint64_t idle_ns[MUSTER_IDLES], idle_frames[MUSTER_IDLES];

  /* How often estimates were found to be wrong and were mended: when over the longest period in force, and at least 100
   * updates, these took less than nine tenths of the time that they could have had, though periods were stretched. Wall
   * clock only. */
  uint64_t estimates_mended;
} muster_statistics;

/* 128 ns, twice that, and so on; UINT64_MAX for the last bucket, which has no bound. */
static inline uint64_t muster_update_time_bound(uint32_t bucket) {
  return bucket + 1 < MUSTER_UPDATE_TIMES ? 128ull << bucket : UINT64_MAX;
}

MUSTER_DEFAULTS(muster_statistics);

/* Copies, or clears, the sums. Thread of the frames, between frames. */
MUSTER_API muster_result muster_statistics_read(const muster_world *world, muster_statistics *statistics);
MUSTER_API void muster_statistics_clear(muster_world *world);

/* Cost of a type at a level as Muster estimates it now. */
typedef struct muster_type_cost {
  uint32_t size;
  uint32_t agents;  /* active at this level */
  uint64_t mean_ns; /* moving mean of an update */
  uint64_t high_ns; /* moving 95th percentile */
  uint64_t samples; /* measured so far */
  uint32_t levels;  /* that the type has: 1..MUSTER_LEVELS */

  /* Where the cost is seen to grow with elapsed time, of an agent that costs as much as the others in the mean: what
   * each second since its last update adds, and what its updates take besides; and what the time that passes costs for
   * all agents of the level, as a part of the capacity (muster_frame_report.elapsed_load). Else 0, mean_ns, 0. */
  uint64_t per_second_ns;
  uint64_t fixed_ns;
  float elapsed_load;
} muster_type_cost;

MUSTER_DEFAULTS(muster_type_cost);

/* Reads it. MUSTER_E_STALE for a type that is not registered, MUSTER_E_ARGUMENT for a level that it does not have.
 * Thread of the frames, between frames. O(classes). */
MUSTER_API muster_result muster_type_cost_read(const muster_world *world, muster_type type, uint32_t level,
                                               muster_type_cost *cost);

/* A hash over every active agent in agent order: position, schedule, state, published state. Equal worlds have equal
 * hashes. O(agents). Thread of the frames, between frames; 0 with a message inside one. */
MUSTER_API uint64_t muster_world_hash(const muster_world *world);

#ifdef __cplusplus
}
#endif

#endif
