/* muster/conduct.h - runaways: atoms that take longer than their type's limit_ns, what becomes of the agents and types
 * whose atoms do, and how to pardon them. Part of muster/muster.h.
 *
 *     offence -> strikes -> a cheaper level -> quarantine        an agent
 *     bad seconds ---------> a cheaper level -> quarantine       a type, when many of its agents offend
 *
 * An offence is one atom over the limit. On the wall clock it is seen where atoms are timed: in long updates, in one
 * claim of sixteen, and in all claims of a type for 64 frames after a claim took suspiciously long or an offence was
 * seen. Only the worker's own time counts: what the kernel gave to other threads is no offence, and neither is time
 * that an atom slept. Under the virtual clock an offence is an atom whose modelled cost is over the limit, so that all
 * of this is as reproducible as the rest.
 *
 * An update with an offence is a strike. Strikes are of the last second of simulation time or of 64 updates, what is
 * longer: each such window without an offence takes one away. strikes_demote of them bring the agent down one
 * capability level, with none left; at its cheapest level strikes_quarantine of them bring it into quarantine. A type
 * is judged each second of simulation time in which at least 64 of its updates were looked at: when offences are more
 * than an eighth of those, from at least 8 agents, the whole type goes down a level; after strikes_quarantine such
 * seconds in a row at its cheapest level it goes into quarantine. In a definition of a type 0 stands for never.
 *
 * Who is in quarantine is not run any more, whatever its period, wakes and messages: wakes are dropped, messages wait
 * in its box. It still exists, can be read, moved, tuned and removed, and costs nothing. An agent whose update had
 * begun goes on where it stopped when it is pardoned; the next update is told all the time that passed. Members of a
 * type in quarantine that were about to run stay where they are; those whose action atoms wait still run them.
 *
 * Before all penalties stands care: while a type's claims are timed for an offence, none of them is started so shortly
 * before the end of a frame that one more as long as the latest would cross it (a quarter of the budget at most, and
 * fading by a 64th per frame). It leads the next frame instead.
 *
 * Penalties last until a pardon. Each is a warning in the log that says why, and how to pardon; at most 8 such lines
 * are written per second of simulation time, the rest is counted in one line. Strikes of at most 1024 agents are kept:
 * when more offend, the mildest are let off. Quarantine and levels stay with each agent.
 *
 * A worker that is stuck: when the world's pool has several workers, a thread of the world looks at them four times per
 * muster_world_def.stuck_ns. A worker, or the thread of the frames, that is seen in the same atom (in short updates, in
 * the same update) for that long is one incident: a warning while it lasts, from that thread, another when the atom
 * returns, and quarantine for the agent (unless its type's strikes_quarantine is 0), whether the atom computed or
 * slept. Promised: the other workers go on with all other claims of the frame meanwhile; up to 63 short updates that
 * the stuck worker had taken along run when the atom returns. Not promised: that muster_frame_run() returns before the
 * stuck atom does. What that atom may still read is written by the commit, so the frame waits for it; an atom that
 * never returns holds its world for good, and its process must be restarted: the warning names agent and type. Under
 * the virtual clock incidents are told and counted, and nobody is punished, since the same inputs must give the same
 * world. */
#ifndef MUSTER_CONDUCT_H
#define MUSTER_CONDUCT_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of an offence whose atom is not known: the worker was stuck. */
#define MUSTER_ATOM_UNKNOWN UINT32_MAX

/* How many offences a world remembers. */
#define MUSTER_OFFENCES_KEPT 64u

/* Queues a pardon: strikes are forgotten, the agent may use all its levels again, and comes out of quarantine, due at
 * once. It stays where it is while its type is in quarantine. Nothing happens to an agent without strikes or penalty.
 * MUSTER_E_STALE when the id is gone, MUSTER_E_FULL when commands_max commands wait. Any thread. */
MUSTER_API muster_result muster_agent_pardon(muster_world *world, muster_agent agent);

/* The same for a type and all its agents. The intake that takes the command looks at each agent when any of the type is
 * under a penalty of its own: O(agents). MUSTER_E_ARGUMENT for a type that is not registered, MUSTER_E_FULL when
 * commands_max commands wait. Any thread. */
MUSTER_API muster_result muster_type_pardon(muster_world *world, muster_type type);

/* Queues quarantine for a type because the host says so, whatever its conduct: a type that crashed the process, say. It
 * is as if Muster had found it guilty: from the intake that takes the command on none of its agents is run, and a
 * pardon brings it back. Nothing happens to a type in quarantine. Errors as above. Any thread. */
MUSTER_API muster_result muster_type_quarantine(muster_world *world, muster_type type);

/* How a type has behaved since the world was created. */
typedef struct muster_conduct {
  uint32_t size;
  uint64_t offences;           /* atoms seen over the limit */
  uint64_t worst_ns;           /* the longest of them */
  muster_agent worst_agent;    /* whose it was; it may be gone */
  uint32_t worst_atom;         /* index into the type's atoms, or MUSTER_ATOM_UNKNOWN */
  uint32_t agents_demoted;     /* active ones that may not use all levels by their own fault */
  uint32_t agents_quarantined; /* active ones in quarantine by their own fault */
  uint32_t level_floor;        /* all agents of the type are at this level or a cheaper one */
  bool quarantined;            /* the whole type */
  uint64_t stuck;              /* times that a worker was stuck in one of its atoms */
} muster_conduct;

static inline muster_conduct muster_default_conduct(void) {
  muster_conduct conduct = {0};
  conduct.size = (uint32_t)sizeof conduct;
  return conduct;
}

/* Reads how a type behaved. MUSTER_E_ARGUMENT for a type that is not registered. O(1). Thread of the frames, between
 * frames. */
MUSTER_API muster_result muster_conduct_read(const muster_world *world, muster_type type, muster_conduct *conduct);

/* One offence. This struct is fixed for good: it has no size field. */
typedef struct muster_offence {
  muster_agent agent; /* it may be gone */
  muster_type type;
  uint32_t level;       /* at which the update ran */
  uint32_t atom;        /* index into the type's atoms, or MUSTER_ATOM_UNKNOWN when a worker was stuck */
  uint64_t duration_ns; /* own time; of a stuck worker: wall time up to when it was noticed */
  uint64_t limit_ns;    /* of the type; of a stuck worker: stuck_ns */
  uint64_t frame;       /* muster_frame_report.frame */
} muster_offence;

/* Copies the last offences, the latest first; returns how many: at most `capacity` and MUSTER_OFFENCES_KEPT. Thread of
 * the frames, between frames. */
MUSTER_API uint32_t muster_offences_read(const muster_world *world, muster_offence *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
