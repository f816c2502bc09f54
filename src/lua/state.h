/* lua/state.h - START HERE for scripts: one Lua state, and how code runs in it.
 *
 * The agents of a world are cut into strands (muster_type_def.strands), and each strand has a Lua state of its own,
 * made when its first agent is spawned. One worker at a time runs updates of a strand, so a state needs no lock. Every
 * state has run the same texts, and after that what they made is read-only: so it does not matter which state an agent
 * is in.
 *
 *   update of an agent   runs as a coroutine: `runner`, which is used again and again. When a look has it yield, it is
 *                        kept as a suspended update, and the next update gets a new one
 *   look                 every SAFEPOINTS_PER_LOOK loops and calls (lua/safepoints.h): asks whether the update must
 * yield (muster_update_should_yield) bounded call         what must run whole (on_spawned, actions, loading): ended
 * after so many looks memory               each block belongs to an agent: lua/memory.h
 *
 * Nothing of a state is reached from another one: agents see each other by what they publish and send. */
#ifndef LUA_STATE_H
#define LUA_STATE_H

#include "lua/memory.h"
#include "lua/source_files.h"

#include <muster/module.h>
#include <muster/sets.h>

#include <lauxlib.h>
#include <lua.h>

enum {
  SCRIPT_STRANDS_MAX = 128,
  SCRIPT_TYPES_MAX = 62,
  SAFEPOINTS_PER_LOOK = 100, /* loops and calls from one look to the next */
  WHOLE_LOOKS_MAX = 200,     /* of a bounded call: 20,000 loops and calls */
  LOADING_LOOKS_MAX = 20000  /* of all texts */
};

/* What an atom or a callback of a type runs. */
typedef enum script_method {
  METHOD_SPAWNED = 0,
  METHOD_REMOVED,
  METHOD_SENSE,
  METHOD_THINK,
  METHOD_ACT,
  METHOD_FIRST_SET, /* and those of the type's sets */
  METHODS = METHOD_FIRST_SET + MUSTER_SETS_MAX
} script_method;

enum { FIELDS_MAX = 16, FIELD_NAME_BYTES = 32 };

/* A published field: its value as other agents read it. Fixed size, no pointers. */
typedef struct script_field {
  uint64_t kind; /* 0 = nil, then as LUA_TBOOLEAN, LUA_TNUMBER; 256 = an integer */
  union {
    int64_t integer;
    double number;
  };
} script_field;

/* What an agent publishes begins with this, so that others know how to read it. */
typedef struct script_published {
  uint32_t magic, type; /* the type's number */
  script_field fields[];
} script_published;

enum { PUBLISHED_MAGIC = 0x6c756131, PUBLISHED_INTEGER = 256 };

/* What all states know of a type; from the definition in the texts. */
typedef struct script_type {
  struct script_world *scripts;
  uint32_t number; /* in the order of definition */
  char name[32];
  muster_type_def def;
  muster_set_def sets[MUSTER_SETS_MAX];
  char methods[METHODS][32]; /* their names; "" = it has none */
  char fields[FIELDS_MAX][FIELD_NAME_BYTES];
  uint32_t field_count;
  uint32_t bound;        /* bits: methods that it had when the world began */
  uint32_t memory_bytes; /* cap of each agent */
  uint64_t cost_ns;      /* of an atom, under the virtual clock */
  uint32_t cuts_max;     /* an update that was cut so often never ends: its agent goes into quarantine */
  muster_type id;        /* in the world, once it is registered */
} script_type;

/* The private state of an agent in Muster: what it was given at its birth, until its state takes it. */
enum { BIRTH_BYTES = 120 };
typedef struct script_agent {
  uint32_t birth_bytes;
  uint32_t unused;
  unsigned char birth[BIRTH_BYTES];
} script_agent;

/* An update that was cut. */
typedef struct script_suspended {
  lua_State *thread; /* null: it begins anew */
  int thread_ref;
  muster_agent agent;
  const script_type *type;
  uint32_t method;
  uint32_t cuts;
  uint64_t random; /* where its random numbers go on */
} script_suspended;

/* What an agent is told without a call, as it stands in the table: it is written when it is another. */
typedef struct script_shown {
  int table; /* stands behind the agents' own; in the registry */
  uint32_t level;
  double x, y, elapsed;
} script_shown;

/* When a look for values that cannot be kept comes next (lua/kept.h). */
typedef struct script_looking {
  uint32_t left, left_out; /* calls of methods until then; how many were left out since the last one */
} script_looking;

/* Lines of one kind in this second (lua/lines.h). */
typedef struct script_lines {
  uint32_t said, left_out;
  uint64_t left_out_ever;
} script_lines;

/* How the code that runs is bounded. */
typedef enum script_bound {
  BOUND_SLICES = 0, /* it yields when the scheduler wants it to */
  BOUND_WHOLE       /* it must end by itself, within looks_max */
} script_bound;

typedef struct script_state {
  struct script_world *scripts;
  uint32_t strand;
  uint64_t version; /* of the texts that it has run */
  lua_State *L;
  lua_State *runner;
  int runner_ref;
  script_memory memory;
  /* what runs now */
  muster_update *update; /* null outside of an agent's code */
  lua_State *runs;       /* the thread that runs an update; only while memory.refuses */
  script_bound bound;
  uint32_t looks, looks_max;
  int counter;        /* of safepoints: lua/safepoints.h */
  bool ended;         /* by its bound */
  bool defines_world; /* muster.world was called */
  bool loads;         /* the texts run: what they make may still be changed */
  uint64_t random;
  /* of each type: its methods, and the metatable of its agents, in the registry; LUA_NOREF = none */
  int methods[SCRIPT_TYPES_MAX][METHODS];
  int metatables[SCRIPT_TYPES_MAX];
  script_shown shown[SCRIPT_TYPES_MAX];             /* of each type's agent that runs, before its methods */
  script_looking looking[SCRIPT_TYPES_MAX];         /* of each type's agents; */
  script_looking looking_at_world;                  /* and of what muster.world's functions keep */
  const char *fields[SCRIPT_TYPES_MAX][FIELDS_MAX]; /* names as this state has them: equal ones are the same text */
  int start, frame, world; /* in the host's state: functions of muster.world, and what they keep */
  int selves;              /* table: agents by owner */
  int refusal;             /* the error of memory */
  script_suspended *suspended;
  uint32_t suspended_count, suspended_room;
  uint32_t *free_owners; /* first in, first out */
  uint32_t free_first, free_count, free_room;
  struct order_key *keys; /* room for lua/order.c */
  uint32_t keys_room;
  uint64_t errors, cuts;
  script_lines of_print;
  struct script_problems *problems; /* its errors by place (lua/problems.h); null = there was none */
  uint64_t collected_bytes;         /* how far the collector has come in memory.allocated_bytes */
  uint64_t collections;             /* that it has ended */
  uint64_t settles; /* muster_world_settles() when updates were cut last: after a change they begin anew */
} script_state;

/* The state that a thread of Lua belongs to. */
static inline script_state *state_of(lua_State *L) {
  script_state *state;
  __builtin_memcpy(&state, lua_getextraspace(L), sizeof state);
  return state;
}

/* A function in C did work like so many instructions: no safepoint sees it, so the next look is sooner. */
static inline void state_charge(lua_State *L, size_t instructions) {
  enum { INSTRUCTION_BYTES = 128 };
  memory_spend(&state_of(L)->memory, (uint64_t)instructions * INSTRUCTION_BYTES);
}

/* Makes a state with all libraries, and runs the texts in it. Null with a message: of the text that fails, with file
 * and line. */
script_state *state_create(struct script_world *scripts, uint32_t strand);

/* Runs the texts anew in a state whose version is old: its agents keep their tables, and have the new methods from here
 * on. Updates that were cut go on with the old ones. While no code of the state runs. */
void state_renew(script_state *state);

/* Frees it with all that is in it. Null is a no-op. */
void state_destroy(script_state *state);

/* Runs the function below `arguments` arguments on the stack of `L`, which must run whole. True: its results, `results`
 * of them, are on the stack. False: an error message is, with file and line. */
bool state_call(script_state *state, int arguments, int results, uint32_t looks_max);

/* Pushes the table of what texts returned, by the texts' names. */
void state_push_modules(lua_State *L);

/* Makes the coroutine in which the next code runs. */
void state_new_runner(script_state *state);

/* Looks whether the code that called it must stop, and then yields, or raises an error where it cannot. What it returns
 * is its last word as a C function. */
int state_look(lua_State *L);

/* Describes the error on top of the thread's stack, with a traceback, in place of it. */
void state_describe_error(lua_State *thread, lua_State *to);

#endif
