/* scenarios/scaffold.h - what all scenarios share: a plan describes a scenario, and one open, populate, frame, save,
 * resume, report and close read it.
 *
 *     open       options checked -> check -> prepare -> arrays -> build
 *     populate   join -> spawn -> observers at their places
 *     frame      clock -> observers walk to their places; or `frame` in place of that
 *     save       settle -> tallies -> the kept fields, what `keep` exchanges, the kept elements of the arrays
 *     resume     join -> the same read back, and refused when it does not fit -> resumed
 *     report     tallies -> one walk over the agents -> conclude -> the lines, in the plan's order
 *     close      release -> arrays
 *
 * Every callback may be null: then there is nothing to do. All run on the thread of the frames. */
#ifndef SCENARIOS_SCAFFOLD_H
#define SCENARIOS_SCAFFOLD_H

#include <muster/jobs.h>
#include <muster/module.h>
#include <muster/random.h>

#include <math.h>

typedef struct scaffold_plan scaffold_plan;

/* Every instance begins with this. */
typedef struct scaffold {
  const scaffold_plan *plan;
  const muster_module_options *options; /* while it is opened, else null */
  muster_module_needs needs;            /* `prepare` may change them */
  uint64_t seed;
  uint32_t version, unused; /* of the snapshot's contents; 0 */
  uint32_t agents, observer_count;
  uint32_t begun;             /* 1 = a frame has begun */
  uint64_t begin_ns, now_ns;  /* simulation time of the first and of the latest frame */
  uint64_t frame_ns;          /* from the frame before to the latest */
  double turns_per_ns;        /* of busy work, where the plan works */
  muster_observer *observers; /* one for each observer */
  muster_position *places;    /* of the observers; they change between frames alone */
  void *tallies;              /* one for each worker, where the plan has a tally */
} scaffold;

/* ------------------------------------------------------------------------------------------------------- arrays */

/* An array of the instance: room for `room` elements, zeroed; a snapshot has `count` of them when they are kept. An
 * array that `prepare` made stays as it is. Elements of whole cache lines begin at cache lines. */
typedef struct scaffold_array {
  size_t at, room_at, count_at; /* the pointer and two numbers in the instance */
  size_t bytes;                 /* of an element */
  bool kept;
} scaffold_array;

#define SCAFFOLD_ROOM(type, pointer, room, count, kept)                                                                \
  { offsetof(type, pointer), offsetof(type, room), offsetof(type, count), sizeof *((type *)0)->pointer, kept }
#define SCAFFOLD_ARRAY(type, pointer, count)      SCAFFOLD_ROOM(type, pointer, count, count, false)
#define SCAFFOLD_KEPT_ARRAY(type, pointer, count) SCAFFOLD_ROOM(type, pointer, count, count, true)
#define SCAFFOLD_KEPT_OBSERVERS                   SCAFFOLD_KEPT_ARRAY(scaffold, observers, observer_count)

/* ------------------------------------------------------------------------------------------------------- tallies */

/* The tally of an instance: numbers of type uint64_t, and nothing else. Updates add to the tally of their own worker,
 * beside each other, and the instance's own has the sums when it is saved or reported: of whole numbers, which come to
 * the same in whatever order workers add. */
#define SCAFFOLD_TALLY(type, member)                                                                                   \
  .tally_at = offsetof(type, member),                                                                                  \
  .tally_bytes = sizeof(((type *)0)->member) + 0 * sizeof(char[sizeof(((type *)0)->member) % 8 ? -1 : 1])

/* The tally of the worker that runs an update. Any atom, and on_removed. */
void *scaffold_tally(const scaffold *base, const muster_update *update);

/* A number that is not whole, as a tally keeps it, to a millionth, modulo 2^64; and a sum of such numbers. */
#define SCAFFOLD_TALLY_UNIT 0x1p20
static inline uint64_t scaffold_tallied(double number) {
  return (uint64_t)llrint(number * SCAFFOLD_TALLY_UNIT);
}
static inline double scaffold_untallied(uint64_t sum) {
  return (double)(int64_t)sum / SCAFFOLD_TALLY_UNIT;
}

/* -------------------------------------------------------------------------------------------------------- fields */

/* SAME: a snapshot with another value is refused. FLAG: 0 or 1. */
typedef enum scaffold_rule { SCAFFOLD_RULE_SAME = 1, SCAFFOLD_RULE_KEPT, SCAFFOLD_RULE_FLAG } scaffold_rule;

/* A field of the instance that a snapshot has. */
typedef struct scaffold_field {
  size_t at, bytes;
  scaffold_rule rule;
} scaffold_field;

#define SCAFFOLD_FIELD(type, member, rule)                                                                             \
  { offsetof(type, member), sizeof(((type *)0)->member), SCAFFOLD_RULE_##rule }
#define SCAFFOLD_SAME(type, member) SCAFFOLD_FIELD(type, member, SAME)
#define SCAFFOLD_KEPT(type, member) SCAFFOLD_FIELD(type, member, KEPT)
#define SCAFFOLD_FLAG(type, member) SCAFFOLD_FIELD(type, member, FLAG)
#define SCAFFOLD_SAME_WORLD                                                                                            \
  SCAFFOLD_SAME(scaffold, version), SCAFFOLD_SAME(scaffold, agents), SCAFFOLD_SAME(scaffold, observer_count)
#define SCAFFOLD_KEPT_TIMES SCAFFOLD_KEPT(scaffold, begin_ns), SCAFFOLD_KEPT(scaffold, now_ns)
#define SCAFFOLD_SAME_SEED_AND_TIMES                                                                                   \
  SCAFFOLD_SAME_WORLD, SCAFFOLD_FLAG(scaffold, begun), SCAFFOLD_SAME(scaffold, seed),                                  \
      SCAFFOLD_KEPT(scaffold, begin_ns), SCAFFOLD_KEPT(scaffold, frame_ns), SCAFFOLD_KEPT(scaffold, now_ns)

/* A snapshot that is written, or read. */
typedef struct scaffold_stream scaffold_stream;

/* Writes these bytes to a snapshot, or reads them from it. False when it is refused, or has no more. */
bool scaffold_exchange(scaffold_stream *stream, void *bytes, size_t count);

/* --------------------------------------------------------------------------------------------------------- lines */

enum { SCAFFOLD_SUMS_BYTES = 4096 };

/* SECONDS: the time since the first frame. */
typedef enum scaffold_number {
  SCAFFOLD_OF_SECONDS = 0,
  SCAFFOLD_BOOL,
  SCAFFOLD_U16,
  SCAFFOLD_U32,
  SCAFFOLD_U64,
  SCAFFOLD_FLOAT,
  SCAFFOLD_DOUBLE
} scaffold_number;

/* Where a number of the report comes from: SUM and MOST, the private states of all agents; AGENTS, how many they are;
 * OWN, the instance; FOUND, the sums that `count` and `conclude` filled, at most SCAFFOLD_SUMS_BYTES, which begin with
 * zeros. */
typedef enum scaffold_source {
  SCAFFOLD_FROM_SUM = 0,
  SCAFFOLD_FROM_MOST,
  SCAFFOLD_FROM_AGENTS,
  SCAFFOLD_FROM_OWN,
  SCAFFOLD_FROM_FOUND
} scaffold_source;

typedef struct scaffold_line {
  const char *name; /* "": this sum is added to that of the last line with a name */
  scaffold_source source;
  scaffold_number number;
  size_t at;
  size_t type_at; /* SUM and MOST: the only type whose states count, in the instance; 0 = all */
} scaffold_line;

#define SCAFFOLD_NUMBER(type, member)                                                                                  \
  _Generic(((type *)0)->member, bool                                                                                   \
           : SCAFFOLD_BOOL, uint16_t                                                                                   \
           : SCAFFOLD_U16, uint32_t                                                                                    \
           : SCAFFOLD_U32, uint64_t                                                                                    \
           : SCAFFOLD_U64, float                                                                                       \
           : SCAFFOLD_FLOAT, double                                                                                    \
           : SCAFFOLD_DOUBLE)
#define SCAFFOLD_LINE(name, source, type, member, type_at)                                                             \
  { name, SCAFFOLD_FROM_##source, SCAFFOLD_NUMBER(type, member), offsetof(type, member), type_at }
#define SCAFFOLD_AGENTS(name)                                                                                          \
  { name, SCAFFOLD_FROM_AGENTS, SCAFFOLD_DOUBLE, 0, 0 }
#define SCAFFOLD_SECONDS(name)                                                                                         \
  { name, SCAFFOLD_FROM_OWN, SCAFFOLD_OF_SECONDS, 0, 0 }
/* The number of agents, and a sum, of one type: that `of`, a muster_type of the instance, holds. */
#define SCAFFOLD_AGENTS_OF(name, instance, of)                                                                         \
  { name, SCAFFOLD_FROM_AGENTS, SCAFFOLD_DOUBLE, 0, offsetof(instance, of.index) }
#define SCAFFOLD_SUM_OF(name, type, member, instance, of)                                                              \
  SCAFFOLD_LINE(name, SUM, type, member, offsetof(instance, of.index))
#define SCAFFOLD_SUM(name, type, member)   SCAFFOLD_LINE(name, SUM, type, member, 0)
#define SCAFFOLD_OWN(name, type, member)   SCAFFOLD_LINE(name, OWN, type, member, 0)
#define SCAFFOLD_FOUND(name, type, member) SCAFFOLD_LINE(name, FOUND, type, member, SCAFFOLD_FITS(type))
/* 0; refused by the compiler when the sums have no room for the type. */
#define SCAFFOLD_FITS(type) (0 * sizeof(char[sizeof(type) <= SCAFFOLD_SUMS_BYTES ? 1 : -1]))

/* What a report looks at: a world, one of its agents, and the sums. */
typedef struct scaffold_look {
  const void *instance;
  const muster_world *world;
  muster_agent_info info;
  void *sums;
} scaffold_look;

/* --------------------------------------------------------------------------------------------------------- plans */

struct scaffold_plan {
  const char *name;
  size_t bytes; /* of the instance */
  uint32_t agents_default, agents_max, observers_default, observers_max;
  size_t tally_at, tally_bytes; /* SCAFFOLD_TALLY, where updates on several workers add to it; else 0 */
  float cell_m;                 /* as in muster_module_needs */
  float near_m, far_m;          /* of its observers; 0 = the library's */
  bool takes_file;              /* `check` looks at the path */
  bool works;                   /* busy work is measured when it is opened */
  bool still;                   /* observers do not walk */
  bool one_by_one;              /* observers are moved with a call for each */
  bool observers_first;         /* and the agents are spawned after them */
  /* Each ends with an entry of zeros. */
  const scaffold_array *arrays;
  const scaffold_field *kept;
  const scaffold_line *lines;

  muster_result (*check)(const muster_module_options *options);
  muster_result (*prepare)(void *instance);                                      /* numbers, before the arrays */
  muster_result (*build)(void *instance);                                        /* what lies in the arrays */
  void (*release)(void *instance);                                               /* after a prepare that failed, too */
  uint32_t kinds;                                                                /* of agents: a type for each */
  muster_result (*join)(void *instance, muster_world *world);                    /* registers the types */
  muster_result (*join_one)(void *instance, muster_world *world, uint32_t kind); /* and the type of a kind */
  muster_result (*spawn)(void *instance, muster_world *world);
  muster_result (*spawn_one)(void *instance, muster_world *world, uint32_t number); /* then each of the agents */
  void (*gather)(void *instance, double seconds); /* before the places of a time are asked for */
  muster_position (*place)(void *instance, uint32_t observer, double seconds);
  void (*frame)(void *instance, muster_world *world);
  void (*settle)(void *instance, const muster_world *world);
  bool (*keep)(void *instance, scaffold_stream *stream);
  bool (*resumed)(void *instance);          /* false = what was read does not fit */
  void (*count)(const scaffold_look *look); /* every agent */
  void (*conclude)(const scaffold_look *look);
};

/* As the functions of a muster_module (muster/module.h). */
muster_result scaffold_open(const scaffold_plan *plan, const muster_module_options *options, void **instance,
                            muster_module_needs *needs);
muster_result scaffold_populate(void *instance, muster_world *world);
void scaffold_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns);
muster_result scaffold_save(void *instance, const muster_world *world, muster_module_write write, void *write_user);
muster_result scaffold_resume(void *instance, muster_world *world, const void *bytes, size_t count);
void scaffold_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user);
void scaffold_close(void *instance);

/* Defines the module of a plan, muster_module_<symbol>(); further fields of muster_module follow. */
#define SCAFFOLD_MODULE(symbol, plan, title, words, ...)                                                               \
  static muster_result symbol##_open(const muster_module_options *options, void **instance,                            \
                                     muster_module_needs *needs) {                                                     \
    return scaffold_open(&(plan), options, instance, needs);                                                           \
  }                                                                                                                    \
  const muster_module *muster_module_##symbol(void) {                                                                  \
    static const muster_module module = {.size = (uint32_t)sizeof module,                                              \
                                         .abi = MUSTER_MODULE_ABI,                                                     \
                                         .name = title,                                                                \
                                         .summary = words,                                                             \
                                         .open = symbol##_open,                                                        \
                                         .populate = scaffold_populate,                                                \
                                         .report = scaffold_report,                                                    \
                                         .close = scaffold_close,                                                      \
                                         __VA_ARGS__};                                                                 \
    return &module;                                                                                                    \
  }
#define SCAFFOLD_FRAMES .before_frame = scaffold_before_frame
#define SCAFFOLD_SAVES  .save = scaffold_save, .resume = scaffold_resume

/* --------------------------------------------------------------------------------------------- for the callbacks */

/* Simulation time since the first frame. */
double scaffold_seconds(const scaffold *base);

/* A walker that goes straight ahead and turns at the edges of a square. */
typedef struct scaffold_walker {
  double x, y; /* where it begins */
  double east_mps, north_mps;
} scaffold_walker;

/* Where it is after that time, in a square whose lowest corner has `low_m` in both coordinates. */
muster_position scaffold_walk(const scaffold_walker *walker, double seconds, double low_m, double side_m);

/* Computes where the observers are at the time of the latest frame; the second moves them there, too. */
void scaffold_gather(void *instance);
void scaffold_move_observers(void *instance, muster_world *world);

/* A definition with what every type has. */
muster_type_def scaffold_type(const char *name, const muster_atom *atoms, uint32_t atom_count, size_t state_bytes,
                              uint64_t period_ns, uint64_t period_max_ns);
#define SCAFFOLD_ATOMS(atoms) atoms, (uint32_t)(sizeof(atoms) / sizeof *(atoms))

/* Registers a type. What the library refuses: its result and its message. */
muster_result scaffold_register(muster_world *world, const muster_type_def *def, muster_type *type);

/* A definition with what every agent has. */
muster_agent_def scaffold_agent(muster_type type, muster_position position, const void *state);

/* Spawns an agent; `agent` may be null. */
muster_result scaffold_spawn(muster_world *world, const muster_agent_def *def, muster_agent *agent);

/* Busy work that takes that long. Any atom, where the plan works. */
void scaffold_spend(const scaffold *base, uint64_t cost_ns);

/* Moves an agent towards a place at that speed, no nearer than stop_m. Returns how far it goes: 0 when that would be a
 * centimetre or less. */
double scaffold_approach(muster_update *update, double x, double y, double stop_m, double speed_mps);

/* The place at that distance and angle from another one. */
static inline muster_position scaffold_beside(muster_position from, double away_m, double angle) {
  return (muster_position){from.x + away_m * cos(angle), from.y + away_m * sin(angle), 0.0};
}

/* The place in a square around the origin that belongs to two shares, 0 <= share < 1. */
static inline muster_position scaffold_spread(double half_m, double across, double along) {
  return (muster_position){half_m * (2.0 * across - 1.0), half_m * (2.0 * along - 1.0), 0.0};
}

/* ------------------------------------------------------------------------------------------------ random numbers */

/* The number that SplitMix64 draws in this state: unlike the mixer alone, not 0 for 0. */
static inline uint64_t scaffold_random(uint64_t number) {
  return muster_random_mix(number + 0x9e3779b97f4a7c15u);
}

/* Spreads a number over 64 bits; not as well as the mixer. */
static inline uint64_t scaffold_scatter(uint64_t number) {
  number = (number + 1) * 0x9e3779b97f4a7c15u;
  number = (number ^ (number >> 32)) * 0xd6e8feb86659fd93u;
  return number ^ (number >> 29);
}

/* The upper 53 bits as a share: 0 <= share < 1. */
static inline double scaffold_share(uint64_t random) {
  return (double)(random >> 11) * 0x1p-53;
}

/* A share of 24 bits that belongs to a number. */
static inline double scaffold_random_share(uint64_t number) {
  return (double)muster_random_share(scaffold_random(number));
}

#endif
