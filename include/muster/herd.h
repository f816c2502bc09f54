/* muster/herd.h - herds: groups of agents that are one agent far from observers, and many agents near one. Not part of
 * muster/muster.h.
 *
 * A herd is a tree after Osborne & Dickinson: its root stands for all members, its nodes at the greatest depth D stand
 * for one member each, and every node between for the members below it (branching b, b^D members at most). The membrane
 * is the cut of the tree at the nodes that run now: the nearer an observer, the deeper it lies.
 *
 *     folded       the membrane is the root: a few bytes in a block of MUSTER_HERD_BLOCK herds. A block is one agent,
 *                  of a type of its own that Muster registers; its update is one callback for all its herds
 *     unfolded     the membrane lies deeper: each leaf of it is an ordinary agent of the herd type's `member` type,
 *                  with a period, an importance, a level, and a place in the ranking
 *
 * Blocks are agents that a host sees in muster_agent_next() and in counts of agents: they stand out of every observer's
 * sight, removing one does nothing, and the host must not spawn any.
 *
 * What is kept when nodes are folded or unfolded: the number of members, the centroid, the momentum (all members weigh
 * the same) and the totals, each to the rounding of its float. Children that appear are seeded: the same for the same
 * world seed, herd, node and simulation time. Time is kept, too: the time since a node's last update is told to the
 * node that stands for its members next (of several nodes, the mean by members).
 *
 * Stage 3 of a frame looks at blocks and unfolded herds in turn, each once per look_ns, or at once when an observer
 * leapt, and decides what to change; the next intake makes the changes, the nearest first, as many as its share of the
 * frame holds. An unfolding for which there is no room (unfolded_max, agents_max), or that a callback refuses, leaves
 * the herd as it was, at the coarser level of detail, and is counted: no member is ever lost by it.
 *
 * Not in planner worlds. A record of a world with herds begins with a snapshot (muster/record.h); while the world is
 * recorded or replayed, herd types and herds cannot be added and members not be named: MUSTER_E_STATE. Herds that come
 * from another zone do come in (muster/zone.h).
 */
#ifndef MUSTER_HERD_H
#define MUSTER_HERD_H

#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The id of a herd: see MUSTER_ID. */
MUSTER_ID(muster_herd);

/* A registered herd type: a small number counted from 1; zero is null. */
typedef struct muster_herd_type {
  uint32_t index;
} muster_herd_type;

#define MUSTER_HERD_TYPES_MAX   16u
#define MUSTER_HERD_DEPTHS      10u   /* D at most */
#define MUSTER_HERD_MEMBERS_MAX 1024u /* b^D at most */
#define MUSTER_HERD_TOTALS      4u    /* totals at most */
#define MUSTER_HERD_BLOCK       1024u /* herds of a block */

/* The beginning of the published state of every leaf of a herd, which only the leaf writes, as all published state. As
 * many totals as the herd type has follow, and after these the member type's own data. Values that are not finite are
 * ignored: the herd goes on with what the leaf published before. */
typedef struct muster_herd_body {
  float velocity_x, velocity_y; /* m/s */
#ifndef __cplusplus             /* C++ has no such arrays: there the totals begin at body + 1 */
  float totals[];               /* sums over all members that the leaf stands for */
#endif
} muster_herd_body;

/* Folded herds that are due, one entry each in arrays that begin at multiples of 32 bytes and have room for a multiple
 * of eight: made for loops that a compiler vectorises. The callback may write what is not const. Entries with elapsed_s
 * 0 are unused, or of a herd that is not folded here: what is written there is not kept. */
typedef struct muster_herd_block {
  uint32_t count;            /* entries; a multiple of eight */
  double origin_x, origin_y; /* of x and y, metres */
  float *x, *y;              /* the centroid */
  float *velocity_x, *velocity_y;
  uint16_t *members; /* to write for births and deaths: 0..b^D. 0: the herd is removed */
  float *totals[MUSTER_HERD_TOTALS];
  const float *elapsed_s; /* the time to bring each herd forward by */
  const uint32_t *herds;  /* index of each herd's id: a seed for values that differ between herds */
  uint64_t now_ns;        /* simulation time that the herds are brought to */
  uint64_t random;        /* a random number of this block and this update */
  void *user;             /* the herd type's */
} muster_herd_block;

/* A fold or an unfolding: a node and its children. Muster handles positions, velocities and totals; the callbacks
 * handle what the member type keeps in its state. Counts are of members. */
typedef struct muster_herd_change {
  muster_world *world;
  muster_herd herd;
  uint32_t node;  /* the parent: the root is 0, the children of n are b n + 1 .. b n + b */
  uint32_t depth; /* of the parent */
  uint32_t members;
  uint32_t child_count;     /* children with members */
  const uint32_t *children; /* their nodes */
  const uint16_t *child_members;
  muster_agent parent; /* null: the root, folded */
  const muster_agent *child_agents;
  void *parent_state;        /* state_bytes; null for the folded root, or when the type has none */
  void *const *child_states; /* likewise; on unfolding they are zero, or the retained states */
  uint64_t now_ns;
  void *user; /* the herd type's */
} muster_herd_change;

typedef struct muster_herd_type_def {
  uint32_t size;
  const char *name;   /* for reports; copied; at most 23 bytes are kept; default "herd". The blocks' agent type is
                         named after it: "herd blocks" */
  muster_type member; /* required: the type of the leaves. Its published_bytes begin with a muster_herd_body. Its
                         on_spawned and on_removed are called for births and deaths, not for folds and unfoldings: these
                         call fold and unfold */
  uint32_t branching; /* b; default 2; 2..32 */
  uint32_t depth;     /* D; default 5; 1..MUSTER_HERD_DEPTHS, with b^D <= MUSTER_HERD_MEMBERS_MAX */
  float zone_m[MUSTER_HERD_DEPTHS]; /* zone_m[k]: a node this near an observer stands at depth D - k or deeper; so
                                within zone_m[0] members are individuals. The first `depth` of them are used and must
                                increase strictly; default 50, 100, 150 ... */
  float hysteresis;       /* children are folded when their parent is beyond zone x (1 + this), and none of them is in
                             the zone itself; default 0.15; 0.01..1 */
  float visible_m;        /* members are visible within this distance: no node is folded there, and none unfolded unless
                             an observer leapt or room was short (counted in changes_in_sight). zone_m[0] >= visible_m +
                             spread_m; default 35 */
  float spread_m;         /* children of the root appear within this distance of it, those of a node at depth d within
                             spread_m / sqrt(b^d); default 10; 0.01 .. 1000 */
  float spread_mps;       /* and with velocities that differ from their parent's by this at most; default 2; >= 0 */
  uint32_t totals;        /* how many sums over members the host keeps, which are added and divided as nodes fold and
                             unfold; default 0; 0..MUSTER_HERD_TOTALS */
  bool retains;           /* unfolding restores the members as they were folded, relative to their herd, with their
                             state (their published state begins as their parent's, but for the body): for small,
                             important herds. An unfolded herd then keeps its room until it is removed. Default false */
  uint32_t herds_max;     /* default 1024; 1 .. 2^26 */
  uint32_t unfolded_max;  /* herds that may be unfolded at a time (or retained); default 1024; 1 .. 2^20 */
  uint64_t period_ns;     /* of blocks; default 500 ms */
  uint64_t period_max_ns; /* default 2 s */
  uint64_t limit_ns;      /* of one block's update; default 500 us */
  uint32_t model_ns;      /* the cost of that update under the virtual clock; default 5000 */
  uint64_t look_ns;       /* default 200 ms; 1 ms .. 1 h */
  uint64_t hold_ns;       /* a member that was woken (muster_herd_wake) stays an individual for this long, whatever the
                             distance; default 2 s; at most 24 h */
  void (*run_block)(muster_herd_block *block); /* updates a block; default null: its herds move by their velocities. On
                                any worker; several blocks at a time; writes its block alone. An entry with a value that
                                is not finite, out of range or beyond b^D is refused: it keeps its values from before,
                                but for the time */
  muster_result (*unfold)(const muster_herd_change *change); /* at an intake, on the frame's thread: unfold fills the
                                children's states, */
  muster_result (*fold)(const muster_herd_change *change);   /* fold the parent's. Any result but MUSTER_OK refuses the
                                change: it is tried again after look_ns, and counted. May queue commands as any thread
                                may; default null: children get copies of the parent's state, a parent gets its first
                                child's. The user pointer and what muster_agent_tune() set are copied in the same way */
  void *user;
} muster_herd_type_def;

MUSTER_DEFAULTS(muster_herd_type_def);

/* Registers a herd type, and the agent type of its blocks (one of types_max). The null type with a message when a field
 * is out of range, the member type is unknown or publishes too little, the world is planned or recorded, or
 * MUSTER_HERD_TYPES_MAX is reached. Reserves address space for herds_max and unfolded_max. Thread of the frames,
 * between frames. */
MUSTER_API muster_herd_type muster_herd_type_register(muster_world *world, const muster_herd_type_def *def);

/* A new herd. Plain data without a size: arrays of it are passed. */
typedef struct muster_herd_def {
  muster_position position; /* of its centroid; z is not kept */
  float velocity_x, velocity_y;
  uint32_t partition; /* 0..65535 */
  uint32_t members;   /* 1..b^D; 0 = b^D */
  float totals[MUSTER_HERD_TOTALS];
} muster_herd_def;

/* Adds many herds at once, folded; they take part from the next frame on. (A block that has run before is brought
 * forward to the last frame's time first: its run_block may be called here.) Writes their ids to `herds` (null = not
 * wanted) and returns how many were added: it stops, with a message, at the first that is out of range, or when
 * herds_max exist or agents_max agents. Herds are put into blocks in the order given: pass neighbours one after
 * another, which makes looking cheap. Thread of the frames, between frames. O(count). */
MUSTER_API uint32_t muster_herds_add(muster_world *world, muster_herd_type type, const muster_herd_def *defs,
                                     uint32_t count, muster_herd *herds);

/* Queues the removal of a herd with all its members, at the next intake; named members stay, as agents of their own.
 * MUSTER_E_STALE when it is gone, MUSTER_E_FULL when commands_max commands wait. Any thread, but not inside atoms
 * (muster_update_herd_remove); inside fold and unfold too. */
MUSTER_API muster_result muster_herd_remove(muster_world *world, muster_herd herd);

/* Something happened to a member, counted 0 .. members - 1: the next intake unfolds its path, whatever the distance, so
 * that it is an agent of its own, and wakes this agent, so that it runs in that frame. It stays an individual for
 * hold_ns. Without room for the path the deepest node of it that exists is woken, and that is counted
 * (unfolds_refused). Errors as above, and MUSTER_E_ARGUMENT for a member beyond b^D; a number beyond the living members
 * counts from 0 again. Any thread, but not inside atoms (muster_update_herd_wake). */
MUSTER_API muster_result muster_herd_wake(muster_world *world, muster_herd herd, uint32_t member);

/* Gives a member a name: it leaves the tree for good and is an agent of its own, of the member type, never folded,
 * where it stood (or would have been unfolded). The herd has one member less in its tree and one named more. The id
 * that is returned is active at once; null with a message when the herd is gone or its last unnamed member would go, or
 * there is no room (65,536 may have names), or a leaf on the way is in the middle of an update: then try again after
 * the next frame. Thread of the frames, between frames. */
MUSTER_API muster_agent muster_herd_name(muster_world *world, muster_herd herd, uint32_t member);

typedef struct muster_herd_info {
  uint32_t size;
  muster_herd_type type;
  uint32_t partition;
  uint32_t members;             /* in the tree */
  uint32_t named;               /* members outside the tree */
  uint32_t leaves;              /* agents that the membrane consists of; 0 = folded */
  uint32_t depth;               /* of the deepest leaf */
  muster_position position;     /* centroid of the members in the tree */
  float velocity_x, velocity_y; /* mean */
  float totals[MUSTER_HERD_TOTALS];
  uint64_t last_update_ns; /* simulation time that it was brought to; of several leaves the mean by members */
} muster_herd_info;

MUSTER_DEFAULTS(muster_herd_info);

/* Reads a herd as of the last commit. MUSTER_E_STALE when it is gone. Thread of the frames, between frames. O(leaves).
 */
MUSTER_API muster_result muster_herd_read(const muster_world *world, muster_herd herd, muster_herd_info *info);

/* The herd after this one in index order, the first after null; null at the end. Thread of the frames, between frames.
 */
MUSTER_API muster_herd muster_herd_next(const muster_world *world, muster_herd herd);

/* The agents of a herd's membrane, from left to right in the tree (the order of members), and the node of each (either
 * array may be null): at most `capacity`. Returns how many there are; 0 = folded. Thread of the frames, between frames.
 */
MUSTER_API uint32_t muster_herd_leaves(const muster_world *world, muster_herd herd, muster_agent *agents,
                                       uint32_t *nodes, uint32_t capacity);

/* The herd that an agent belongs to, as a leaf or by name; null when there is none. Thread of the frames, between
 * frames. O(1).
 */
MUSTER_API muster_herd muster_herd_of(const muster_world *world, muster_agent agent);

/* A herd near a position. */
typedef struct muster_herd_near {
  muster_herd herd;
  muster_herd_type type;
  float distance_m; /* to the centroid, on the ground plane */
  muster_position position;
  uint32_t members;
  uint32_t leaves; /* 0 = folded */
} muster_herd_near;

/* The nearest herds within radius_m in a partition, nearest first, equal distances in index order: at most `capacity`
 * (<= MUSTER_NEIGHBOURS_MAX). Passes over the blocks whose herds may be in the circle, at one to two nanoseconds per
 * herd. Thread of the frames, between frames. */
MUSTER_API uint32_t muster_herds_nearby(const muster_world *world, muster_position position, uint32_t partition,
                                        float radius_m, muster_herd_near *out, uint32_t capacity);

/* ------------------------------------------------------------------------------------------- inside an update */

/* A leaf's view of its herd's membrane: as of the last commit. Arrays begin at multiples of 32 bytes; beyond `count`,
 * up to a multiple of eight, entries have positions out of every neighbourhood. Valid until the atom returns. */
typedef struct muster_flock {
  muster_herd herd;
  uint32_t node;    /* of this agent: the root is 0, the children of n are b n + 1 .. b n + b */
  uint32_t depth;   /* D = an individual */
  uint32_t members; /* that this agent stands for */
  uint32_t self;    /* the entry of this agent; UINT32_MAX for a named member */
  uint32_t count;   /* leaves, from left to right in the tree. 0 = the herd is folded (seen by a named member) */
  double origin_x, origin_y;
  const float *x, *y; /* relative to the origin */
  const float *velocity_x, *velocity_y;
  const uint16_t *leaf_members;
  float herd_x, herd_y, herd_velocity_x, herd_velocity_y; /* centroid, relative to the origin, and mean velocity: for a
                                                              named member as of the frame's beginning, for a leaf as of
                                                              the last look at its herd */
} muster_flock;

/* Fills `flock` for an update of a leaf or of a named member; false for other agents.
 * Inside an atom, on_spawned or on_removed. */
MUSTER_API bool muster_update_flock(const muster_update *update, muster_flock *flock);

/* As muster_herd_wake() and muster_herd_remove(); takes effect at the next intake, in agent order. Inside an atom,
 * on_spawned or on_removed. */
MUSTER_API muster_result muster_update_herd_wake(muster_update *update, muster_herd herd, uint32_t member);
MUSTER_API muster_result muster_update_herd_remove(muster_update *update, muster_herd herd);

/* As muster_herds_nearby(), around the agent and in its partition. Serial action atoms only; 0 with a message
 * elsewhere. */
MUSTER_API uint32_t muster_update_herds_nearby(const muster_update *update, float radius_m, muster_herd_near *out,
                                               uint32_t capacity);

/* Takes up to `members` out of a herd, dead or carried off: out of a folded herd, or out of the leaf that is nearest to
 * the acting agent; a leaf or a herd without members is removed. Their share of the totals goes with them, into
 * `totals` (may be null). Returns how many were taken. In a serial action it takes effect at once. In other actions a
 * leaf may take members of its own herd, and out of itself alone: its published totals are less at once, and it stands
 * for fewer when all have acted. 0 with a message elsewhere. Action atoms only. */
MUSTER_API uint32_t muster_update_herd_take(muster_update *update, muster_herd herd, uint32_t members, float *totals);

/* Adds to the velocity of a folded herd: it was scared. MUSTER_E_STATE when it is unfolded (its leaves react
 * themselves), MUSTER_E_STALE when it is gone. Serial action atoms only. */
MUSTER_API muster_result muster_update_herd_push(muster_update *update, muster_herd herd, float velocity_x,
                                                 float velocity_y);

#ifdef __cplusplus
}
#endif

#endif
