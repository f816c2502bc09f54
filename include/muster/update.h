/* muster/update.h - what an atom sees and may do: the update that it is given, and the calls that take it.
 *
 * Perception and behaviour atoms run in parallel: they write only their own agent (state, published, position) and read
 * what other agents published, as of the last commit. Action atoms run at the commit and may touch other agents, as far
 * as their type says (muster_type_def.act): one agent at a time; or one at a time within a region of the ground, with
 * regions in parallel; or all in parallel. Every function here takes the update that the running atom was given, on the
 * thread that runs it, until the atom returns. With any other update it does nothing and reports MUSTER_E_STATE, or a
 * null id or pointer, false or 0 with a message.
 *
 * At a commit the agents whose actions found no time in earlier frames come first; among them, and then among the
 * others, serial agents act before agents by region, and these before parallel ones. When there is no time for all, the
 * next commit begins with the next of the three kinds. The first agent of a commit acts whatever it costs; all others
 * only while they are expected to end before the deadline. What a serial action does takes effect at once. What other
 * actions ask for (moves, spawns, removals, wakes, messages) takes effect when all of them have acted, in agent order;
 * so do the published states of all agents that acted.
 */
#ifndef MUSTER_UPDATE_H
#define MUSTER_UPDATE_H

#include <muster/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_world muster_world;

/* Ids of agents, observers and herds. An id is one opaque value of 64 bits; 0 is null. Equal ids have equal values, and
 * an id may be kept, compared, hashed, stored and sent as its value. It is made of an index and a generation, and is
 * valid in one world; an agent's id in a world that is a zone has more in it, and is valid in all zones of the larger
 * world (muster/zone.h). So take it apart with these functions only:
 *
 *     muster_agent_index(id)       0 .. agents_max - 1. No two agents have the same at the same time, so it may index
 *                                  a host's arrays. It is given again when the agent is gone: then the ids differ. In a
 *                                  zone: half of the id, which is no index
 *     muster_agent_generation(id)  1 or more; how often that index was given: what logs and tools print as
 *                                  INDEX.GENERATION. In a zone: the other half, printed in the same way
 *     muster_agent_make(i, g)      the id of that index and generation, for ids that were read from such a text
 *     muster_agent_is_null(id)     whether it is null
 *     muster_agent_equal(a, b)     whether both are the same
 *
 * and likewise muster_observer_index(), muster_herd_index() and so on. Any thread. O(1). */
#define MUSTER_ID(id_type)                                                                                             \
  typedef struct id_type {                                                                                             \
    uint64_t value;                                                                                                    \
  } id_type;                                                                                                           \
  static inline uint32_t id_type##_index(id_type id) {                                                                 \
    return (uint32_t)id.value;                                                                                         \
  }                                                                                                                    \
  static inline uint32_t id_type##_generation(id_type id) {                                                            \
    return (uint32_t)(id.value >> 32);                                                                                 \
  }                                                                                                                    \
  static inline id_type id_type##_make(uint32_t index, uint32_t generation) {                                          \
    id_type id = {(uint64_t)generation << 32 | index};                                                                 \
    return id;                                                                                                         \
  }                                                                                                                    \
  static inline bool id_type##_is_null(id_type id) {                                                                   \
    return id.value == 0;                                                                                              \
  }                                                                                                                    \
  static inline bool id_type##_equal(id_type a, id_type b) {                                                           \
    return a.value == b.value;                                                                                         \
  }                                                                                                                    \
  MUSTER_STATIC_ASSERT(sizeof(id_type) == 8, "an id is 64 bits")

/* Of agents and observers. */
MUSTER_ID(muster_agent);
MUSTER_ID(muster_observer);

/* A registered agent type: a small number counted from 1; zero is null. */
typedef struct muster_type {
  uint32_t index;
} muster_type;

/* A place in metres. x and y span the ground plane, z is height. Each must be finite and within +-1e9.
 * Inside, x and y keep a tenth of a millimetre anywhere, z (a float) a millimetre up to 16 km. */
typedef struct muster_position {
  double x, y, z;
} muster_position;

/* What a spawn needs; described in muster/muster.h. */
typedef struct muster_agent_def muster_agent_def;

/* The argument of an atom. Filled by Muster; read-only but for what state and published point at. */
typedef struct muster_update {
  muster_world *world;
  muster_agent agent;
  muster_type type;
  uint64_t now_ns;          /* simulation time that this update brings its agent to */
  uint64_t elapsed_ns;      /* exactly the simulation time since the agent's last completed update (or its spawn):
                               integrate over it, and throttling cannot change what happens per hour. Other contracts
                               (muster_elapsed) tell this time in parts; on_removed is told all of it. Never 0 but in
                               further cycles of an update (`cycle`), and where no whole step is due to an agent that is
                               woken (MUSTER_ELAPSED_STEPS) */
  muster_position position; /* own position as of the last commit; stays what it is when the agent moves. In action
                               atoms: where the parallel atoms moved to */
  void *state;              /* own state_bytes; null when the type has none */
  void *published;          /* own published_bytes, to write; other agents see it after the commit of the frame in which
                               this update completes; begins as what it published last; null when the type has
                               none */
  void *user;               /* the agent definition's user */
  void *type_user;          /* the type definition's user: where an atom finds what it does not know by itself, such as
                               the ids of other types */
  float importance;         /* 0..1 */
  uint32_t level;           /* capability level: 0 = full decision-making, higher = cheaper */
  uint32_t worker;          /* 0..workers-1; of several threads that run frames in one pool, the second and further ones
                               have numbers from workers on, below MUSTER_WORKERS_MAX + MUSTER_EXTERNAL_MAX */
  uint32_t steps;           /* with bounded steps: elapsed_ns = steps x step_ns; else 0 */
  uint64_t step_ns;         /* of the type */
  uint64_t wake_at_ns;      /* the time that was asked for, when this update runs because of muster_agent_wake_at; else
                               0 */
  uint32_t set;             /* in a type with sets: the set that runs, counted in the order of the definition; else 0.
                               now_ns and elapsed_ns are then those of the set: see muster/sets.h */
  uint32_t cycle;           /* cycle of this update in its frame, from 0; above 0 only where cycles_max of the world is
                               above 1 */
} muster_update;

typedef enum muster_atom_result {
  MUSTER_ATOM_NEXT = 0, /* done; go on with the next atom */
  MUSTER_ATOM_FINISH, /* done, and so is the whole update: the remaining atoms are skipped, action atoms included. In a
                         set: so is the set */
  MUSTER_ATOM_MORE    /* in a sliceable set: not done, call it again when there is time. The set is cut here; a
                         suspendable or run set begins anew. An update without sets is preempted here where its type has
                         muster_type_def.slices, and else goes on with the next atom. An unknown value counts as
                         MUSTER_ATOM_NEXT, and in muster_statistics.results_refused */
} muster_atom_result;

/* Sets the agent's position as of the next commit; in a serial action, as of the end of the agent's actions. The last
 * call of the update counts. A position that is not finite or out of range is refused, counted
 * in muster_statistics.positions_refused, and changes nothing. Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_move(muster_update *update, muster_position position);

/* Spawns at the next intake, in agent order whichever worker ran the update. The id is valid at once. The parallel
 * atoms of an update may spawn spawns_max of the type in a frame, its action atoms as many again. Returns a null id
 * (MUSTER_E_FULL) beyond that or when ids are short: actions that are not serial have only the ids that were set aside
 * (spawns_max). Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_agent muster_update_spawn(muster_update *update, const muster_agent_def *def);

/* Removes an agent (oneself is allowed) at the next intake. In a serial action the first caller in agent order gets
 * MUSTER_OK and later ones MUSTER_E_STALE, so a prey is eaten once. With actions by region that holds among the callers
 * in the prey's own region. Elsewhere every caller gets MUSTER_OK. An agent that was removed this way does not act any
 * more, unless it acts in parallel with its remover. For hosts it exists until that intake. MUSTER_E_FULL when there is
 * no room for the request. Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_remove(muster_update *update, muster_agent agent);

/* Wakes an agent: see muster_agent_wake. Under the virtual clock, and in an action atom, at the next intake.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_wake(muster_update *update, muster_agent agent);

/* Asks for a time at which an agent runs: see muster_agent_wake_at. For the agent itself it always succeeds and holds
 * from the commit of this part of the update on; for other agents it holds from the next intake on.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_wake_at(muster_update *update, muster_agent agent, uint64_t at_ns);

/* Another agent's published state or position as of the last commit; null / false when the id is stale.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API const void *muster_update_published_of(const muster_update *update, muster_agent agent);
MUSTER_API bool muster_update_position_of(const muster_update *update, muster_agent agent, muster_position *position);

/* Another agent's private state, to read and write. Action atoms only, and with actions by region only of agents in the
 * same region; null elsewhere and for stale ids. In a parallel action other agents may be writing there. */
MUSTER_API void *muster_update_state_of(muster_update *update, muster_agent agent);

/* The same for a reader that takes them for a struct of so many bytes: null also where the agent's type has another
 * size, or none, which is MUSTER_E_ARGUMENT with that type's name, and is logged once by each worker: it is the state
 * of another type. Of a stale id null without a message. Inside an atom, on_spawned or on_removed. */
MUSTER_API const void *muster_update_published_as(const muster_update *update, muster_agent agent, uint32_t bytes);

/* The same of another agent's private state. Action atoms only. */
MUSTER_API void *muster_update_state_as(muster_update *update, muster_agent agent, uint32_t bytes);

typedef struct muster_neighbour {
  muster_agent agent;
  muster_type type;
  float distance_m;         /* on the ground plane */
  muster_position position; /* as of the last commit */
  const void *published;    /* as of the last commit; null when its type publishes nothing */
} muster_neighbour;

#define MUSTER_NEIGHBOURS_MAX 64u

#define MUSTER_CANDIDATES_MAX 256u

/* The nearest agents within radius_m on the ground plane and in the same partition,
 * oneself excluded: at most `capacity` (<= MUSTER_NEIGHBOURS_MAX) of them, nearest first, equal distances in agent
 * order. `type` narrows to one type, null is all. Returns the number written to `out`; 0 with a message for a radius
 * that is negative or NaN, and for a type that is not registered.
 *
 * A query looks at MUSTER_CANDIDATES_MAX agents at most, of whatever type, oneself included. It looks at the nearest
 * cells of the neighbour grid first, and in a cell of more than 64 agents at its nearest parts, which are squares of
 * down to a 256th of a cell's edge. It ends when all agents left are farther than those found, which are then the
 * nearest. This holds in crowds, too, as long as few enough agents stand in such a square. Otherwise the query is cut,
 * and there may be nearer agents than those that it found: where too many stand in one square; where few are of the
 * type, or `capacity` is large; and where it would have to go more than 32 cells far: there it looks at agents from
 * anywhere within the circle instead. Of agents in one square each sees a group of its own, and is seen by the agents
 * of that group.
 *
 * Which agents are looked at follows from the positions and indices of agents alone: it is the same for any number of
 * workers, whatever the order in which the agents were spawned, and after a snapshot. Cost: one look per such agent and
 * per cell that the circle touches, of which there are up to 4,225 or the world's agents and 64.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API uint32_t muster_update_nearby(const muster_update *update, float radius_m, muster_type type,
                                         muster_neighbour *out, uint32_t capacity);

/* Whether the last muster_update_nearby() of this update was cut; false before the first. Such queries are counted in
 * muster_frame_report.nearby_cut. O(1). Inside an atom, on_spawned or on_removed. */
MUSTER_API bool muster_update_nearby_cut(const muster_update *update);

#define MUSTER_MESSAGE_BYTES_MAX 256u

typedef struct muster_message {
  muster_agent sender; /* null: the host, by muster_agent_send(). It may be gone by now */
  uint64_t sent_ns;    /* simulation time of the frame in which it was sent (from the host: in which it was
                          delivered) */
  uint32_t size;       /* bytes */
  const void *bytes;   /* aligned to 8; valid until the atom returns */
} muster_message;

/* Sends a copy of `size` bytes to an agent; the sender itself is allowed. From parallel atoms it is delivered at this
 * frame's commit (at the next intake, when that ran out of time), in order of (sender's index, order of sending)
 * whichever worker ran the update; from action atoms right after those, in the order in which they take effect; from
 * on_spawned and on_removed at once. So the receiver's next update reads it. MUSTER_OK promises delivery unless the box
 * is full by then; the message is then dropped and counted, and muster_update_messages_lost() tells the sender.
 * MUSTER_E_STALE when the receiver is gone; MUSTER_E_ARGUMENT when its type has no box or one of fewer
 * messages.bytes_max; MUSTER_E_FULL, counted, beyond sends_max of the sender's type: its parallel atoms may send so
 * many in a frame, its action atoms as many again. Places for that many are set aside before the frame runs, in order
 * of rank, so that under the virtual clock the result does not depend on workers. An agent that is ranked after all
 * sends_per_frame places of the world are given out gets MUSTER_E_FULL sooner. For actions that are not serial places
 * are given out in agent order in the same way. Inside an atom, on_spawned or on_removed. */
MUSTER_API muster_result muster_update_send(muster_update *update, muster_agent to, const void *bytes, uint32_t size);

/* The messages that waited when this update began, oldest first: writes at most `capacity` to `out` and returns the
 * number written; with a null `out`, how many there are. They are removed when the update completes; an update that is
 * preempted, or waits for its action atoms, keeps them, and messages that arrive meanwhile stay for the next update. In
 * on_spawned and on_removed: all messages that wait. None for a type without boxes.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API uint32_t muster_update_messages(const muster_update *update, muster_message *out, uint32_t capacity);

/* How many messages of this agent were dropped between the beginning of its last completed update and the beginning of
 * this one, because the receiver's box was full. Inside an atom, on_spawned or on_removed. */
MUSTER_API uint32_t muster_update_messages_lost(const muster_update *update);

/* Random numbers of this update of this agent: the same for the same seed, agent and simulation time, whichever worker
 * runs it. The second gives 0 <= value < 1. Inside an atom, on_spawned or on_removed. */
MUSTER_API uint64_t muster_update_random(muster_update *update);
MUSTER_API float muster_update_random_share(muster_update *update);

#ifdef __cplusplus
}
#endif

#endif
