/* muster/explain.h - explains an agent: how important it is, how often it runs and what it waits for, in numbers and in
 * words. Not part of muster/muster.h. */
#ifndef MUSTER_EXPLAIN_H
#define MUSTER_EXPLAIN_H

#include <muster/herd.h>
#include <muster/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for an agent at the moment, as bits of muster_agent_explanation.reasons. */
typedef enum muster_reason {
  /* what it does now: one of these */
  MUSTER_REASON_SPAWN_WAITING = 1 << 0,    /* not active yet: its spawn waits for an intake */
  MUSTER_REASON_ASLEEP = 1 << 1,           /* waits for its period to elapse */
  MUSTER_REASON_CARRIED = 1 << 2,          /* is due, and found no time in the last frame; or see OWED */
  MUSTER_REASON_PREEMPTED = 1 << 3,        /* its update was stopped between two atoms, and goes on */
  MUSTER_REASON_WAITS_FOR_ACTION = 1 << 4, /* its other atoms have run; its action atoms found no time */
  /* why it is in front */
  MUSTER_REASON_WOKEN = 1 << 5,      /* it was woken: it goes before the ranked */
  MUSTER_REASON_HELD = 1 << 6,       /* leads the next frame: other workers run it while that is planned */
  MUSTER_REASON_GUARANTEED = 1 << 7, /* has waited longer than guarantee_ns: it goes before the ranked */
  /* why it matters so much, or so little */
  MUSTER_REASON_NO_OBSERVER_NEAR = 1 << 8, /* no observer gives it importance */
  MUSTER_REASON_LOWERED = 1 << 9,          /* its visibility, bulk or interactivity, or its type, lower it */
  MUSTER_REASON_MODELLED = 1 << 10,        /* its type's own importance model changed it */
  MUSTER_REASON_FLOOR = 1 << 11,           /* the designer's floor raises it */
  MUSTER_REASON_CHEAPER_LEVEL = 1 << 12,   /* runs below its full capability */
  /* why it runs so often, or so seldom */
  MUSTER_REASON_PERIOD_STRETCHED = 1 << 13, /* runs less often than wanted, because of the pressure */
  MUSTER_REASON_PERIOD_LONGEST = 1 << 14,   /* stretched to the longest period of its type */
  MUSTER_REASON_EXEMPT = 1 << 15,           /* its period never gives way: elasticity 0 */
  MUSTER_REASON_ELASTICITY_SET = 1 << 16,   /* its elasticity was set, and does not follow its importance, as it does
                                               under MUSTER_ELASTIC_IMPORTANCE unless it is 0 */
  MUSTER_REASON_OVERLOAD = 1 << 17,         /* pressure above 1: not even the longest periods of all fit the budget */
  MUSTER_REASON_REMOVAL_WAITING = 1 << 18,  /* will be removed at the next intake */
  MUSTER_REASON_NO_PERIOD = 1 << 19,        /* runs when it is woken, or at a time that was asked for, only */
  MUSTER_REASON_TIME_ASKED = 1 << 20,       /* waits for a time that was asked for: wake_at_ns */
  MUSTER_REASON_WAKE_DELAYED = 1 << 21,     /* was woken within its type's wake_gap_ns, or where no time had passed for
                                                it: waits for the end of that */
  MUSTER_REASON_QUARANTINED = 1 << 22,      /* is not run, for its own overruns or its type's: muster/overruns.h */
  MUSTER_REASON_PENALTY = 1 << 23,          /* its overruns, or its type's, keep it from better levels */
  MUSTER_REASON_SHED = 1 << 24,             /* the pressure lowers its level: `shed` */
  MUSTER_REASON_REACTION = 1 << 25,         /* must react by a time: react_by_ns */
  MUSTER_REASON_COMPANY = 1 << 26,          /* a more important agent that it is in company with raises it: `company` */
  MUSTER_REASON_OWED = 1 << 27,             /* one of its sets is owed time: it does not wait for its period */
  MUSTER_REASON_BEYOND_WISH = 1 << 28,      /* its period is longer than its type's period_max_ns, which is a wish */
  MUSTER_REASON_OWN_PERIOD = 1 << 29        /* has periods of its own: muster_agent_set_periods() */
} muster_reason;

/* For an agent that is not active yet only reasons, type, position and the values of its definition are filled in. */
typedef struct muster_agent_explanation {
  uint32_t size;
  uint32_t reasons; /* muster_reason bits */
  muster_agent agent;
  muster_type type;
  char type_name[32];
  uint32_t partition;
  muster_position position;
  uint64_t sim_now_ns; /* of the last frame: the following values are as of then */
  uint64_t frame;
  float pressure;

  /* importance: by_observer x visibility x bulk x interactivity x of_type -> the type's own model, if it has one, and
   * never below the floor */
  float importance;         /* in force; differs a little from its parts (hysteresis, small steps) */
  muster_observer observer; /* the one that gives it most importance; when none gives any, the nearest one of its
                               partition; null when there is none */
  bool observed;            /* that observer gives it importance */
  float distance_m;         /* to that observer; infinite without one */
  float near_m, far_m;      /* of that observer */
  float by_observer;        /* 0..1 */
  float visibility, bulk, interactivity, of_type; /* 0..1 */
  bool modelled;                                  /* its type has a model of its own */
  float by_model;                                 /* the model's answer; without a model, the product of the above */
  float floor;

  /* level and how often it runs */
  uint32_t level, level_count;
  float level_low;  /* below this importance its level becomes cheaper; 0 at the cheapest */
  float level_high; /* from this importance on its level becomes better; above 1 at the best */
  float elasticity; /* in force; under MUSTER_ELASTIC_IMPORTANCE e_i / w_i in parts of what it is at importance 1/2 */
  float elasticity_of_type;
  bool elasticity_derived;         /* from elasticity_of_type and importance; else set for this agent */
  uint64_t nominal_ns, longest_ns; /* bounds of its period */
  uint64_t period_ns;              /* in force at the last frame's pressure */
  uint32_t class_members; /* active agents of the same type, level and elasticity, whose periods stretch alike */

  /* when */
  uint64_t last_update_ns; /* simulation time that its last completed update brought it to */
  uint64_t due_ns;         /* simulation time at which the agent became due; for an agent that is asleep, when that is
                              expected, at the last frame's pressure */
  uint64_t waited_ns;      /* since it became due; 0 when asleep */
  uint32_t delays;         /* frames in which it was due and did not complete, modulo 256 */
  uint32_t atoms_done, atoms; /* of an update that was preempted: done; of an update: all that run in parallel */

  /* what it costs, and its rank while it is due */
  uint64_t cost_mean_ns, cost_high_ns; /* predicted, of an update of its type and level: mean, 95th percentile */
  uint64_t cost_samples;               /* measured so far; 0 = a guess */
  int64_t priority_ns;                 /* the sum of the terms below, as time waited: the greatest goes first */
  int64_t priority_wait_ns;            /* since its last update */
  int64_t priority_importance_ns;
  int64_t priority_progress_ns;  /* for the progress of a preempted update or of a set that is owed time */
  int64_t priority_runs_ns;      /* below 0: it ran often lately */
  uint64_t wake_at_ns;           /* the time that was asked for; 0 = none */
  int64_t priority_reduction_ns; /* more terms of the sum: for its level, */
  int64_t priority_reaction_ns;  /* and for the time by which it must react */
  uint64_t react_by_ns;          /* that time; 0 = none */
  uint32_t shed;                 /* levels by which the pressure lowers it */
  float designer, role, company; /* with MUSTER_IMPORTANCE_FACTORS: d, r and c, 0..1; by_model is then the sum by their
                                    weights, where the type has no model of its own */
  char set_owed[32];             /* name of the first of its sets that is owed time; empty when none is */

  /* muster/herd.h: the herd that the agent belongs to (null: none), and how many members it stands for (0: it
   * is a named member); for a block, how many herds it holds, folded or not */
  muster_herd herd;
  uint32_t herd_members, block_herds;

  int64_t deadline_ns; /* with MUSTER_ORDER_DEADLINE, for an agent that is due: the simulation time by which it shall
                          run; the earliest goes first. Else 0 */

  /* What the agent gets, to compare with its period in force (period_ns). age_ns: the time since its last update, or
   * since its spawn when it never ran. band_interval_ns: what agents of its muster_band got since the statistics were
   * cleared, their interval; 0 when none of them ran. */
  uint64_t age_ns;
  uint64_t band_interval_ns;
  bool has_run;
  bool by_importance;   /* the rule is MUSTER_ELASTIC_IMPORTANCE */
  bool longest_is_wish; /* the rule may stretch longest_ns: the type is not period_max_hard */
  /* What goes wrong in its own code, as its module tells (muster_module.problems): a clause such as "village.lua:12 has
   * failed 312 times ...". Muster leaves it empty; a host that has asked the module writes it here before it prints. */
  char problem[256];
} muster_agent_explanation;

MUSTER_DEFAULTS(muster_agent_explanation);

/* Explains an agent. Asks the importance model of its type, if it has one. MUSTER_E_STALE when the id is gone,
 * MUSTER_E_STATE inside a frame, MUSTER_E_NOT_INITIALISED when the explanation was not set by its default function.
 * Changes nothing. Thread of the frames, between frames. O(observers near); O(observers) when none is near. Priority:
 * the terms of Rankin, Acton & Katchabaw, each times guarantee_ns / priority.wait; zeros in other orders. */
MUSTER_API muster_result muster_agent_explain(const muster_world *world, muster_agent agent,
                                              muster_agent_explanation *explanation);

/* Writes an explanation in plain words, a few lines that each end in a newline, at most `bytes` with the terminating
 * zero; what does not fit is cut off. 2,048 bytes hold any. Returns how many bytes the whole text has without the zero.
 * Any thread. */
MUSTER_API size_t muster_explanation_print(const muster_agent_explanation *explanation, char *text, size_t bytes);

/* Writes an explanation as one JSON object, with its reasons by name and its words, and a terminating zero. 16,384
 * bytes hold any. Returns how many bytes it has without the zero; 0 when it does not fit; the text is then unusable.
 * Any thread. */
MUSTER_API size_t muster_explanation_json(const muster_agent_explanation *explanation, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
