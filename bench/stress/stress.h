/* stress.h - loads that are raised step by step, what is measured of a step, and the verdict on it: whether it holds,
 * and what gave way where it does not. Plain values: no world, no clock, no thread. */
#ifndef BENCH_STRESS_H
#define BENCH_STRESS_H

#include <muster/muster.h>

#include <stdbool.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------ loads */

/* What can be raised. Messages, spawns and wakes are those of a frame. */
typedef enum stress_knob {
  STRESS_AGENTS = 0,
  STRESS_OBSERVERS,
  STRESS_MESSAGES,
  STRESS_SPAWNS,
  STRESS_WAKES,
  STRESS_WORKERS,
  STRESS_KNOBS
} stress_knob;

typedef struct stress_load {
  uint32_t knobs[STRESS_KNOBS];
  bool crowd; /* all agents and observers stand in one cell of the ground */
} stress_load;

/* What is raised together. An axis of one knob has the knob's number. The crowd raises agents, all in one cell. */
typedef enum stress_axis { STRESS_CROWD = STRESS_KNOBS, STRESS_ALL, STRESS_AXES } stress_axis;

/* The order in which axes are climbed and told of. */
extern const uint32_t stress_order[STRESS_AXES];

/* The value by which an axis tells a load: of a crowd and of all, the agents. */
uint32_t stress_value(uint32_t axis, const stress_load *load);

/* The name of a knob or an axis; null beyond the last. */
const char *stress_axis_name(uint32_t axis);

/* The load of a step of an axis. Step 0 is the baseline; workers begin at 1, and a crowd at the baseline in one cell.
 * Each step doubles what the axis raises, up to `most`. False: the step before was the last, since all is at its
 * most. */
bool stress_load_of(uint32_t axis, const stress_load *baseline, const stress_load *most, uint32_t step,
                    stress_load *load);

/* What an axis is at, of its first step: 1, 2, 4 .. */
double stress_times(uint32_t axis, const stress_load *baseline, const stress_load *load);

/* --------------------------------------------------------------------------------------------------------- measured */

enum { STRESS_TYPES = 5 };

/* What the agents of a type took in a step: of all completed updates, and of the time of all updates. */
typedef struct stress_type_figures {
  const char *name;
  uint32_t agents;
  double mean_ns; /* of an update, as the library estimates it */
  double updates_share, time_share;
} stress_type_figures;

/* What is measured of a step. A step that was not begun, because it would need more memory than it may, or got none,
 * has no frames, and the bytes that it would need. */
typedef struct stress_figures {
  stress_load load;
  uint32_t processors;   /* that the process may use */
  uint32_t attempts;     /* how often it was measured: this is the last time */
  uint64_t frames, kept; /* all frames, and those that kept the promise */
  uint64_t excused;      /* broken while the host of a virtual machine held back a processor */
  uint64_t budget_ns;    /* of a frame */
  uint64_t wall_p50_ns, wall_p99_ns, wall_max_ns, overrun_own_p99_ns;
  double budget_used_share;  /* CPU of all workers in frames, of the CPU given */
  double waiting_used_share; /* the same over the frames at whose end work waited, */
  double waiting_share;      /* this part of all frames */
  double updates_per_frame, carried_per_frame;
  double pressure, pressure_max, important_load;     /* as in muster_frame_report: mean, most, mean */
  uint32_t important_agents;                         /* of importance above 3/4, at the end */
  double important_wanted_ns, important_interval_ns; /* what they want and what they got; 0: nothing known */
  double overhead_per_update_ns;
  double serial_share, serial_per_frame_ns;
  uint64_t bytes;      /* the world's stores in use */
  bool memory_refused; /* the system gave no memory for it */
  uint64_t longest_wait_ns, longest_atom_ns;
  uint64_t messages_sent, messages_refused, messages_dropped;
  uint64_t wakes_answered;                   /* updates that the host's wakes led to */
  uint64_t spawns_refused, commands_refused; /* by the calls of the host and inside updates */
  double waiting;                            /* spawns and commands that wait for an intake at the end */
  double brought_per_frame;                  /* spawns, removals and wakes that the host asks for */
  uint64_t queries_cut;                      /* for neighbours */
  uint64_t crowd_rounds;                     /* looks at all agents because a cell has more than 8,192 */
  double cell_share;                         /* agents in the fullest cell of the ground, of all */
  bool noise_known;                          /* what other processes and the host took of all processors: */
  double others_share, stolen_share;
  stress_type_figures types[STRESS_TYPES];
} stress_figures;

/* Sums over the frames of a step; room for the frames' times is the caller's. */
typedef struct stress_sums {
  uint64_t *wall_ns, *overrun_own_ns; /* of each frame */
  uint64_t frames, kept, excused;
  uint64_t waiting_frames, waiting_used_ns, waiting_given_ns; /* of frames at whose end work waited */
  uint64_t completed, carried, used_ns, given_ns, overhead_ns, serial_ns, work_ns, longest_atom_ns;
  double pressure, pressure_max, important_load;
  uint32_t waiting; /* after the last frame */
} stress_sums;

/* Adds a frame; stolen: the host of the virtual machine held back a processor meanwhile. */
void stress_add(stress_sums *sums, const muster_frame_report *report, bool stolen);

/* What the sums and the world's statistics come to. Sorts the frames' times. At least one frame. */
void stress_sum_up(stress_sums *sums, const muster_statistics *statistics, stress_figures *figures);

/* ------------------------------------------------------------------------------------------------------ the verdict */

typedef struct stress_limits {
  double kept_least;     /* of frames that are not excused */
  double stretch_most;   /* of what important agents got, in parts of what they want */
  double events_least;   /* messages that were sent and wakes that were answered, of those asked for */
  double waiting_most;   /* what waits for an intake, in frames of what the host brings */
  double cut_most;       /* queries for neighbours that were cut, in parts of all updates */
  uint64_t memory_bytes; /* of the world */
} stress_limits;

/* Without a limit of memory. */
stress_limits stress_default_limits(void);

/* A step holds when it meets all of these. */
typedef enum stress_criterion {
  STRESS_PROMISE = 0, /* kept_least of the frames keep the promise, or all but one */
  STRESS_IMPORTANT,   /* agents of importance above 3/4 run within stretch_most of their wanted period */
  STRESS_EVENTS,      /* events_least of the messages are sent, and of the wakes lead to an update */
  STRESS_DELIVERY,    /* no message is refused or dropped */
  STRESS_ACCEPTANCE,  /* no spawn, wake or removal is refused */
  STRESS_INTAKE,      /* intakes keep up with what the host brings */
  STRESS_NEIGHBOURS,  /* agents see their nearest neighbours */
  STRESS_MEMORY,      /* the world stays within its memory */
  STRESS_CRITERIA
} stress_criterion;

/* What gave way. A cause is named only when figures show it, and when it can explain a criterion that is not met; of
 * several the first in this order is named. */
typedef enum stress_cause {
  STRESS_BY_NOTHING = 0, /* it holds */
  STRESS_BY_MEMORY,
  STRESS_BY_CROWD,
  STRESS_BY_INTAKE,
  STRESS_BY_SERIAL,
  STRESS_BY_TYPE,
  STRESS_BY_CAPACITY,
  STRESS_BY_BOUND,
  STRESS_BY_MACHINE,
  STRESS_BY_UNKNOWN,
  STRESS_CAUSES
} stress_cause;

typedef struct stress_verdict {
  bool holds;
  uint32_t broken;    /* a bit for each criterion that is not met */
  uint32_t shown;     /* a bit for each cause that figures show and that can explain one of these */
  stress_cause cause; /* the first of them */
  uint32_t type;      /* of STRESS_BY_TYPE: which */
} stress_verdict;

stress_verdict stress_judge(const stress_figures *figures, const stress_limits *limits);

/* What the figures of a criterion or a cause have: parts that the report and the verdict both tell. */
double stress_kept_share(const stress_figures *figures);   /* of the frames that are not excused; 0 without any */
double stress_stretch(const stress_figures *figures);      /* of important agents; 0 when it is not known */
double stress_events_share(const stress_figures *figures); /* of messages or of wakes, whichever is less */
double stress_serial_idle(const stress_figures *figures);  /* of the CPU given, what lies idle while one thread works */
double stress_waiting_frames(const stress_figures *figures);
double stress_cut_share(const stress_figures *figures);

/* From what on figures show a cause. */
enum {
  STRESS_CELL_PERCENT = 50,
  STRESS_USED_PERCENT = 80,
  STRESS_WAITING_PERCENT = 50,
  STRESS_SERIAL_IDLE_PERCENT = 25,
  STRESS_TYPE_TIME_PERCENT = 50,
  STRESS_TYPE_UPDATES_PERCENT = 25,
  STRESS_OTHERS_PERCENT = 5,
  STRESS_STOLEN_PERCENT = 2
};

/* Names for reports, such as "promise" and "serial rest"; null beyond the last. */
const char *stress_criterion_name(uint32_t criterion);
const char *stress_cause_name(uint32_t cause);

#endif
