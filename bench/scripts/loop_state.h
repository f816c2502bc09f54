/* loop_state.h - what the loop and its functions for scripts share. */
#ifndef BENCH_LOOP_STATE_H
#define BENCH_LOOP_STATE_H

#include "loop.h"
#include "loop_ground.h"

#include "lua/state.h"

enum { LOOP_TYPES = 62 };

enum { LOOP_SPAWNED = 0, LOOP_SENSE, LOOP_THINK, LOOP_ACT, LOOP_METHODS };

typedef struct loop_type {
  char name[32];
  char fields[LOOP_FIELDS][FIELD_NAME_BYTES];
  uint32_t field_count;
  uint32_t memory_bytes;
  int table, metatable;      /* in the registry */
  int methods[LOOP_METHODS]; /* LUA_NOREF = none */
} loop_type;

struct scripts_loop {
  script_state state; /* first: what src/lua needs to know; of a raw loop only L is used */
  loop_kind kind;
  loop_ground ground;
  loop_type types[LOOP_TYPES];
  uint32_t type_count;
  uint32_t agents; /* wanted */
  uint32_t runs;   /* whose code it is; LOOP_NONE = the world's own */
  uint64_t seed;
  double now_s;
  uint32_t *owners; /* of memory, by agent */
  int start;
};

static inline struct scripts_loop *loop_of(lua_State *L) {
  struct scripts_loop *loop;
  __builtin_memcpy(&loop, lua_getextraspace(L), sizeof loop);
  return loop;
}

/* Makes the table `muster`. */
void loop_calls_push(lua_State *L);

/* Lets an agent be born, whose fields are in the table at `fields`; 0 = none. */
uint32_t loop_bear(struct scripts_loop *loop, uint32_t type, double x, double y, int fields);

/* Calls a method of an agent, which returns what `think` does: whether there is something to act upon. */
bool loop_call(struct scripts_loop *loop, uint32_t agent, uint32_t method);

#endif
