/* machine.h - how often the machine itself makes a frame late. Threads that do nothing but read the clocks until the
 * deadline need no time of their own to end there: lateness then comes from the kernel, or from the host of a virtual
 * machine. The host takes the processor unseen, so that much of that time counts as CPU time of the thread that ran.
 *
 * A step is the time between two readings. Its own time is the CPU time of the thread. Of the step that crosses the
 * deadline, what lies after it is late on the wall; late in own time is the smaller of that and the thread's CPU time:
 * the measure of overruns in `muster run`. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_GRACE_NS = 20000, MACHINE_CLAIM_NS = 50000 };

/* The limits of lateness for which frames are counted, ascending. */
enum {
  MACHINE_GRACE, /* 20 us: what the promise allows beside a claim */
  MACHINE_50_US,
  MACHINE_GRACE_AND_CLAIM, /* 70 us */
  MACHINE_100_US,
  MACHINE_LIMITS
};
extern const uint64_t machine_limits_ns[MACHINE_LIMITS];

/* Steps longer than MACHINE_GRACE_NS. */
typedef struct machine_stalls {
  uint64_t count, total_ns, longest_ns;
} machine_stalls;

/* What one thread saw in its current or last frame... Aligned apart, so that no thread waits for a cache line of
 * another.
 */
typedef struct machine_watch {
  _Alignas(128) uint64_t deadline_ns;
  uint64_t mark_ns, mark_cpu_ns, former_cpu_ns; /* former: CPU time at the reading before the mark */
  uint64_t late_own_ns, late_wall_ns;
  uint64_t longest_own_ns; /* step of those that ended before the deadline */
  bool missed;             /* the thread woke after the deadline, and saw nothing */
  /* ...and in all frames. */
  uint64_t steps, watched_ns;
  machine_stalls own, wall;
} machine_watch;

/* Begins a frame with a first reading of the clocks. False: it is over already. */
bool machine_watch_begin(machine_watch *watch, uint64_t deadline_ns, uint64_t now_ns, uint64_t cpu_ns);

/* Takes the next reading. False: the deadline has come. */
bool machine_watch_step(machine_watch *watch, uint64_t now_ns, uint64_t cpu_ns);

/* Frames in which no thread was later than each of the limits, and the latest of all. */
typedef struct machine_lateness {
  uint64_t within[MACHINE_LIMITS];
  uint64_t latest_ns;
} machine_lateness;

typedef struct machine_report {
  uint64_t frames, missed; /* missed: how often a thread woke after the deadline */
  machine_lateness own_late, wall_late;
  uint64_t as_audited; /* frames not later than MACHINE_GRACE_NS and the longest step before the deadline: an audit of
                          claims as short as steps, to which a claim that the machine made longer is a longer claim */
  uint64_t steps, watched_ns; /* of all threads together, as are: */
  machine_stalls own, wall;
} machine_report;

/* Counts a frame that all of the threads have ended. */
void machine_add_frame(machine_report *report, const machine_watch *watches, uint32_t count);

/* Adds what a thread saw in all frames, when these are over. */
void machine_add_watch(machine_report *report, const machine_watch *watch);

/* Of all frames; 0 without any. */
double machine_share(const machine_report *report, uint64_t frames);

/* Stalls per second of one thread's watching, and the share of that time that they took; 0 without any. */
double machine_stalls_per_second(const machine_report *report, const machine_stalls *stalls);
double machine_stalled_share(const machine_report *report, const machine_stalls *stalls);

/* Threads of a pool of their own that watch. */
typedef struct machine_crew machine_crew;

/* Creates a pool of this many threads, the calling one included. Null, and what went wrong. */
machine_crew *machine_crew_create(uint32_t workers, const char **wrong);

/* The threads watch for one frame, which begins now. False with the reason in muster_last_error(). */
bool machine_crew_watch(machine_crew *crew, uint64_t budget_ns, machine_report *report);

/* Adds what each thread saw in all frames. Null: nothing. */
void machine_crew_destroy(machine_crew *crew, machine_report *report);

typedef struct machine_setup {
  uint32_t workers; /* the calling thread included */
  uint64_t frames, budget_ns;
  void (*wait)(void *user, uint64_t frame); /* on the calling thread: returns when the frame is to begin */
  void *user;
} machine_setup;

/* Runs the frames on a pool of its own. Null, or what went wrong. */
const char *machine_measure(const machine_setup *setup, machine_report *report);

#endif
