/* muster/overruns.h - atoms that take longer than their type's limit_ns, the penalties for their agents and types, and
 * how to reinstate these. Not part of muster/muster.h.
 *
 *     overruns -> overrun count -> a cheaper level   (-> quarantine)    an agent
 *     bad seconds ---------------> a cheaper level   (-> quarantine)    a type: many of its agents have overruns
 *
 * By default overruns are counted, written to the log, and lower the level. There is quarantine only where the host
 * asks for it with muster_type_def.overruns.quarantine.
 *
 * In this header an overrun is one atom over the limit; a frame's overrun, past its budget, is another thing
 * (muster_frame_report.overrun_ns). There are three kinds:
 *
 *   cpu       its thread's CPU clock confirms that it took more than the limit. Time that the kernel gave to other
 *             threads does not count.
 *   blocked   for longer than the limit it used no CPU, because it waited: it slept, or asked for a file, a lock,
 *             another machine. Its thread gave up the processor voluntarily, unlike a thread that the kernel preempted.
 *             (A process that is stopped by a signal looks the same, once.)
 *   stuck     it lasts for muster_world_def.watch.stuck_ns: see below.
 *
 * On the wall clock overruns are detected where atoms are timed: in long updates, in one claim of sixteen, and in all
 * claims of a type for 64 frames after a claim took suspiciously long or an overrun was seen. So an atom that blocks
 * among thousands of short updates is named a few frames after it began to block. Under the virtual clock an overrun is
 * an atom whose modelled cost is over the limit, and nothing blocks, so that all of this is as reproducible as the
 * rest.
 *
 * Each agent has an overrun count. An update with an overrun adds one to it, however many of its atoms are over the
 * limit. A window is a second of simulation time or 64 updates of the agent, whichever is longer: each window without
 * an overrun takes one away. A count of overruns.demote brings the agent down one capability level, and the count back
 * to 0. At the agent's cheapest level a count of overruns.quarantine, without the updates that were only blocked,
 * brings it into quarantine. A type is checked each second of simulation time in which at least 64 of its updates were
 * timed: when overruns by CPU time are more than an eighth of these, from at least 8 agents, the whole type goes down a
 * level; after overruns.quarantine such seconds in a row at its cheapest level it goes into quarantine. In a type's
 * definition 0 means never.
 *
 * Overruns do not harm other agents. A frame in which an atom blocks ends later by that time, which nothing prevents;
 * but its worker goes on for as long as it was blocked, so that other agents lose nothing, and the time counts for no
 * cost, no overrun of the frame and no plan (muster_frame_report.blocked_ns). An update that is over the limit counts
 * in its type's cost as the 95th percentile at most (muster_type_cost.high_ns), unless such updates are no exception.
 * And while a type's claims are timed for an overrun by CPU time, few of them are started so shortly before the end of
 * a frame that another overrun as long as the latest would cross it (a quarter of the budget at most, and fading by a
 * 64th per frame): 64 such claims wait until nothing else is left to run in the frame, or lead the next one.
 *
 * An agent in quarantine is not run any more, whatever its period, wakes and messages: wakes are dropped, messages wait
 * in its box. It still exists, can be read, moved, tuned and removed, and costs nothing. An agent whose update had
 * begun goes on where it stopped when it is reinstated; the next update is told all the time that passed. Agents of a
 * type in quarantine that were about to run keep their place, but do not run; agents whose action atoms wait still run
 * these.
 *
 * Penalties last until the agent or the type is reinstated. Each is a warning in the log that says why, and how to
 * reinstate (muster_world_def.watch.reinstate_command). There is a warning, too, for an atom that blocks, and for an
 * agent that repeats its overruns when no penalty is left: for each type once in ten seconds of simulation time, with
 * the number of such events in between. At most 8 such lines are written per second of simulation time, the rest is
 * counted in one line. At most 1024 agents have an overrun count: when more have overruns, the lowest counts are
 * dropped. Quarantine and levels stay with each agent.
 *
 * A worker that is stuck: a thread of the world looks at its workers four times per stuck_ns, in every world, also one
 * that has no workers but the thread of the frames. A worker that is seen in the same atom (in short updates, in the
 * same update) for that long is one incident: a warning while it lasts, from that thread, which says whether it
 * computes, as an endless loop does, or waits; another when the atom returns. When its CPU clock confirms three
 * quarters of stuck_ns, its agent goes down a level at once, or into quarantine where the type has overruns.quarantine;
 * when the worker waited, or the process got no CPU, there is no penalty. Promised: the other workers go on with all
 * other claims of the frame meanwhile; up to 63 short updates that the stuck worker had taken along run when the atom
 * returns. Not promised: that muster_frame_run() returns before the stuck atom does. What that atom may still read is
 * written by the commit, so the frame waits for it; an atom that never returns holds its world for good, and its
 * process must be restarted: the warning names agent and type. Under the virtual clock incidents are logged and
 * counted, but have no penalty, since the same inputs must give the same world. */
#ifndef MUSTER_OVERRUNS_H
#define MUSTER_OVERRUNS_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The atom of an overrun is not known: the worker was stuck. */
#define MUSTER_ATOM_UNKNOWN UINT32_MAX

/* How many overruns a world remembers. */
#define MUSTER_OVERRUNS_KEPT 64u

/* Reinstates an agent: its overrun count is forgotten, it may use all its levels again, and comes out of quarantine,
 * due at once. Queued. It stays where it is while its type is in quarantine. Nothing happens to an agent without an
 * overrun count or a penalty. MUSTER_E_STALE when the id is gone, MUSTER_E_FULL when commands_max commands wait. Any
 * thread, but not inside atoms. */
MUSTER_API muster_result muster_agent_reinstate(muster_world *world, muster_agent agent);

/* The same for a type and all its agents. The intake that takes the command looks at each agent when any of the type is
 * under a penalty of its own: O(agents). MUSTER_E_ARGUMENT for a type that is not registered, MUSTER_E_FULL when
 * commands_max commands wait. Any thread, but not inside atoms. */
MUSTER_API muster_result muster_type_reinstate(muster_world *world, muster_type type);

/* Queues quarantine for a type at the host's request, whatever its overruns: a type that crashed the process, say. The
 * effect is that of a quarantine by Muster: from the intake that takes the command on none of its agents is run, until
 * it is reinstated. A type that is in quarantine already stays so. Errors as above. Any thread, but not inside atoms.
 */
MUSTER_API muster_result muster_type_quarantine(muster_world *world, muster_type type);

/* The same for one agent: one whose callback crashed the process, say. MUSTER_E_STALE when the agent does not exist,
 * MUSTER_E_FULL when commands_max commands wait. Any thread, but not inside atoms. */
MUSTER_API muster_result muster_agent_quarantine(muster_world *world, muster_agent agent);

/* What is known of the overruns of a type since the world was created. */
typedef struct muster_overrun_counts {
  uint32_t size;
  uint64_t overruns;                /* atoms found to be over the limit by CPU time */
  uint64_t worst_ns;                /* the longest of them */
  muster_agent worst_agent;         /* the agent of that atom; it may be gone */
  uint32_t worst_atom;              /* index into the type's atoms, or MUSTER_ATOM_UNKNOWN */
  uint32_t agents_demoted;          /* active agents kept from their best levels by their own overruns */
  uint32_t agents_quarantined;      /* active agents in quarantine for their own overruns */
  uint32_t level_floor;             /* all agents of the type are at this level or a cheaper one */
  bool quarantined;                 /* the whole type */
  uint64_t stuck;                   /* times that a worker was stuck in one of its atoms */
  uint64_t blocked;                 /* atoms found to be blocked for longer than the limit */
  uint64_t worst_blocked_ns;        /* wall time of the longest of them */
  muster_agent worst_blocked_agent; /* the agent of that atom; it may be gone */
  uint32_t worst_blocked_atom;
} muster_overrun_counts;

MUSTER_DEFAULTS(muster_overrun_counts);

/* Reads the overrun counts of a type. MUSTER_E_ARGUMENT for a type that is not registered. O(1). Thread of the frames,
 * between frames. */
MUSTER_API muster_result muster_overrun_counts_read(const muster_world *world, muster_type type,
                                                    muster_overrun_counts *counts);

typedef enum muster_overrun_kind {
  MUSTER_OVERRUN_CPU = 0, /* CPU time over the limit */
  MUSTER_OVERRUN_BLOCKED, /* the atom waited for longer than the limit */
  MUSTER_OVERRUN_STUCK    /* the atom lasted for stuck_ns */
} muster_overrun_kind;

/* One overrun. This struct is fixed for good: it has no size field. */
typedef struct muster_overrun {
  muster_agent agent; /* it may be gone */
  muster_type type;
  uint32_t level;       /* at which the update ran */
  uint32_t atom;        /* index into the type's atoms, or MUSTER_ATOM_UNKNOWN when a worker was stuck */
  uint32_t kind;        /* muster_overrun_kind */
  uint64_t duration_ns; /* cpu: CPU time; blocked: wall time without CPU time; stuck: up to its detection, CPU time
                           when the atom computed, else wall time */
  uint64_t limit_ns;    /* of the type; of a stuck worker: stuck_ns */
  uint64_t frame;       /* muster_frame_report.frame */
} muster_overrun;

/* Copies the last overruns, the latest first; returns how many: at most `capacity` and MUSTER_OVERRUNS_KEPT. Thread of
 * the frames, between frames. */
MUSTER_API uint32_t muster_overruns_read(const muster_world *world, muster_overrun *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
