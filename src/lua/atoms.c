#include "lua/atoms.h"

#include "lua/calls.h"
#include "lua/kept.h"
#include "lua/lines.h"
#include "lua/problems.h"
#include "lua/safepoints.h"
#include "lua/values.h"

#include <muster/overruns.h>
#include <muster/random.h>
#include <muster/snapshot.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- suspended */

static script_suspended *find_suspended(script_state *state, muster_agent agent, uint32_t method) {
  for (uint32_t i = 0; i < state->suspended_count; i++)
    if (muster_agent_equal(state->suspended[i].agent, agent) && state->suspended[i].method == method)
      return &state->suspended[i];
  return NULL;
}

/* Notes an update that was cut so often. */
static script_suspended *add_suspended(script_state *state, muster_agent agent, const script_type *type,
                                       uint32_t method, uint32_t cuts) {
  if (state->suspended_count == state->suspended_room) {
    uint32_t room = state->suspended_room ? 2 * state->suspended_room : 16;
    script_suspended *more = realloc(state->suspended, room * sizeof *more);
    if (!more) abort();
    state->suspended = more;
    state->suspended_room = room;
  }
  script_suspended *one = &state->suspended[state->suspended_count++];
  *one = (script_suspended){.thread_ref = LUA_NOREF, .agent = agent, .type = type, .method = method, .cuts = cuts};
  return one;
}

/* The update that runs was cut: keeps its coroutine, and takes another for the next updates. `one` is what is known of
 * it, when it had to begin anew; or null. */
static void suspend(script_state *state, script_suspended *one, muster_agent agent, const script_type *type,
                    uint32_t method) {
  if (!one) one = add_suspended(state, agent, type, method, 0);
  one->thread = state->runner;
  one->thread_ref = state->runner_ref;
  one->random = state->random;
  one->cuts++;
  state->cuts++;
  state->settles = muster_world_settles(state->scripts->world);
  state_new_runner(state);
}

static void drop_suspended(script_state *state, script_suspended *one) {
  luaL_unref(state->L, LUA_REGISTRYINDEX, one->thread_ref);
  *one = state->suspended[--state->suspended_count];
}

/* The world was saved since: updates that were cut begin anew, as they do in a world that is loaded from it. How often
 * they were cut is kept: else one without an end would run for ever where a world is saved often. */
static void forget_settled(script_state *state) {
  uint64_t settles = muster_world_settles(state->scripts->world);
  if (state->settles == settles) return;
  state->settles = settles;
  for (uint32_t i = 0; i < state->suspended_count; i++) {
    luaL_unref(state->L, LUA_REGISTRYINDEX, state->suspended[i].thread_ref);
    state->suspended[i].thread_ref = LUA_NOREF;
    state->suspended[i].thread = NULL;
  }
}

bool atoms_restore_cuts(script_world *scripts, muster_agent agent, uint32_t type, uint32_t method, uint32_t cuts) {
  script_state *state = scripts->states[scripts_strand(scripts, agent)];
  if (!state || type >= scripts->type_count || method >= METHODS) return false;
  add_suspended(state, agent, &scripts->types[type], method, cuts);
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- errors */

/* An error is on top of the thread's stack. A thread that failed is not used again. */
static void report_error(script_state *state, lua_State *thread, const script_type *type, muster_agent agent,
                         const char *what) {
  lua_State *L = state->L;
  state->errors++;
  state->memory.refuses = false;
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
  problems_note_error(state, thread, what, type, agent);
  if (thread != state->runner) return; /* its owner drops it */
  luaL_unref(L, LUA_REGISTRYINDEX, state->runner_ref);
  state_new_runner(state);
}

/* ---------------------------------------------------------------------------------------------------------- running */

static uint32_t owner_of(const script_world *scripts, muster_agent agent) {
  uint32_t index = muster_agent_index(agent);
  return index < scripts->agents_max ? scripts->owners[index] : 0;
}

static const char *name_of(const script_type *type, uint32_t method) {
  static const char *const names[METHOD_FIRST_SET] = {"spawned", "removed", "sense", "think", "act"};
  return method < METHOD_FIRST_SET ? names[method] : type->methods[method];
}

/* What nearly every update asks for is written into a table that stands behind the agent's own, so that no function
 * is called for it. */
static void atoms_show(lua_State *L, script_shown *shown, const muster_update *update) {
  double x = update->position.x, y = update->position.y, elapsed = (double)update->elapsed_ns * 1e-9;
  if (x == shown->x && y == shown->y && elapsed == shown->elapsed && update->level == shown->level) return;
  *shown = (script_shown){.table = shown->table, .level = update->level, .x = x, .y = y, .elapsed = elapsed};
  lua_rawgeti(L, LUA_REGISTRYINDEX, shown->table);
  lua_pushnumber(L, x);
  lua_setfield(L, -2, "x");
  lua_pushnumber(L, y);
  lua_setfield(L, -2, "y");
  lua_pushnumber(L, elapsed);
  lua_setfield(L, -2, "elapsed");
  lua_pushinteger(L, update->level);
  lua_setfield(L, -2, "level");
  lua_pop(L, 1);
}

/* Readies the state for code of the update's agent. */
static void atoms_enter(script_state *state, muster_update *update, const script_type *type, uint32_t owner,
                        script_bound bound) {
  state->update = update;
  state->bound = bound;
  state->looks = 0;
  state->looks_max = WHOLE_LOOKS_MAX;
  state->ended = false;
  atoms_show(state->L, &state->shown[type->number], update);
  memory_own(&state->memory, owner, type->memory_bytes);
  state->memory.refused = false;
  state->memory.refuses = true;
}

static void leave(script_state *state) {
  state->update = NULL;
  state->memory.refuses = false;
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
}

/* Whether a method that is over returned false: then nothing of its update comes after it. */
static muster_atom_result result_of(lua_State *thread, int results) {
  bool finishes = results > 0 && lua_isboolean(thread, -results) && !lua_toboolean(thread, -results);
  lua_settop(thread, 0);
  return finishes ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

/* Resumes a coroutine until it is over, or failed, which is reported and ends the update. MUSTER_ATOM_MORE: it yielded.
 */
static muster_atom_result resume(script_state *state, lua_State *thread, int arguments, const script_type *type,
                                 uint32_t method) {
  int results;
  muster_agent agent = state->update->agent;
  state->runs = thread;
  safepoints_restart(state, state->L);
  if (lua_gethookmask(thread)) lua_sethook(thread, NULL, 0, 0); /* of the update before */
  int status = lua_resume(thread, state->L, arguments, &results);
  if (__builtin_expect(status == LUA_OK, true)) return result_of(thread, results);
  state->memory.refuses = false; /* nothing is caught here: an error in what tells of one would end the process */
  if (status == LUA_YIELD && !state->ended) return MUSTER_ATOM_MORE;
  if (status == LUA_YIELD)
    lua_pushfstring(thread, "it did not end within %d loops and calls", WHOLE_LOOKS_MAX * SAFEPOINTS_PER_LOOK);
  report_error(state, thread, type, agent, name_of(type, method));
  return MUSTER_ATOM_FINISH; /* what follows would act on what was not thought to its end */
}

/* An update that was cut goes on. */
static muster_atom_result atoms_go_on(script_state *state, script_suspended *one, const script_type *type,
                                      uint32_t method) {
  state->random = one->random;
  muster_atom_result result = resume(state, one->thread, 0, type, method);
  if (result == MUSTER_ATOM_MORE) {
    one->random = state->random;
    one->cuts++;
    state->cuts++;
    leave(state);
    return result;
  }
  leave(state);
  drop_suspended(state, one);
  return result;
}

/* Whether the agent has twice what it may: arrays that grew, which are not refused (lua/memory.h). It is not run, then,
 * until the collector has freed some; what an update of it was doing is given up. */
static bool atoms_is_full(script_state *state, const muster_update *update, const script_type *type, uint32_t owner,
                          script_suspended *one) {
  if (__builtin_expect(state->memory.owned[owner] / 2 <= type->memory_bytes, true)) return false;
  state->errors++;
  if (one) drop_suspended(state, one);
  char where[64];
  snprintf(where, sizeof where, "memory of type '%s'", type->name);
  problems_note(state, where, "an agent is not run: it has twice the memory that it may", "an update", type,
                update->agent);
  return true;
}

/* A method is over: now and then self is looked through. What a method that was cut has put there may not stay. */
static void look_behind(script_state *state, const muster_update *update, const script_type *type, uint32_t owner,
                        muster_atom_result result) {
  if (result == MUSTER_ATOM_MORE || !kept_is_due(&state->looking[type->number])) return;
  kept_look(state, type, update->agent, owner);
}

/* Runs a method of the update's agent. */
static muster_atom_result run_method(muster_update *update, uint32_t method, script_bound bound) {
  const script_type *type = update->type_user;
  script_world *scripts = type->scripts;
  script_state *state = scripts->states[scripts_strand(scripts, update->agent)];
  uint32_t owner = owner_of(scripts, update->agent);
  if (!state || !owner) return MUSTER_ATOM_NEXT; /* without memory at its birth */
  if (__builtin_expect(state->version != scripts->version, false)) state_renew(state);
  if (state->suspended_count) forget_settled(state);
  script_suspended *one = state->suspended_count ? find_suspended(state, update->agent, method) : NULL;
  if (__builtin_expect(state->methods[type->number][method] == LUA_NOREF, false) && !(one && one->thread)) {
    if (one) drop_suspended(state, one);
    return MUSTER_ATOM_NEXT; /* new texts have it no more; what was cut ends with the old one */
  }
  if (atoms_is_full(state, update, type, owner, one)) return MUSTER_ATOM_FINISH;
  atoms_enter(state, update, type, owner, bound);
  if (one && one->thread && bound == BOUND_SLICES) {
    muster_atom_result went_on = atoms_go_on(state, one, type, method);
    look_behind(state, update, type, owner, went_on);
    return went_on;
  }
  state->random = muster_update_random(update);
  lua_State *thread = state->runner;
  lua_rawgeti(thread, LUA_REGISTRYINDEX, state->methods[type->number][method]);
  lua_rawgeti(thread, LUA_REGISTRYINDEX, state->selves);
  lua_rawgeti(thread, -1, owner);
  lua_replace(thread, -2);
  muster_atom_result result = resume(state, thread, 1, type, method);
  if (result == MUSTER_ATOM_MORE)
    suspend(state, one, update->agent, type, method);
  else if (one)
    drop_suspended(state, one);
  leave(state);
  look_behind(state, update, type, owner, result);
  return result;
}

muster_atom_result atoms_begin(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result atoms_sense(muster_update *update) {
  return run_method(update, METHOD_SENSE, BOUND_SLICES);
}

static muster_atom_result atoms_think(muster_update *update) {
  return run_method(update, METHOD_THINK, BOUND_SLICES);
}

static muster_atom_result atoms_act(muster_update *update) {
  return run_method(update, METHOD_ACT, BOUND_WHOLE);
}

muster_atom_result (*atoms_of(script_method method))(muster_update *update) {
  return method == METHOD_SENSE ? atoms_sense : method == METHOD_THINK ? atoms_think : atoms_act;
}

muster_atom_result atoms_set(muster_update *update) {
  return run_method(update, METHOD_FIRST_SET + update->set, BOUND_SLICES);
}

muster_atom_result atoms_act_set(muster_update *update) {
  return run_method(update, METHOD_FIRST_SET + update->set, BOUND_WHOLE);
}

/* -------------------------------------------------------------------------------------------------- birth and death */

/* The state of a strand, which is made when its first agent comes. */
static script_state *state_for(script_world *scripts, uint32_t strand) {
  if (!scripts->states[strand]) scripts->states[strand] = state_create(scripts, strand);
  if (!scripts->states[strand]) lines_say(scripts, "strand %u: %s", strand, muster_last_error());
  return scripts->states[strand];
}

/* Room for the agent's owner number. Frame's thread, while no strand runs. */
static bool make_room(script_world *scripts, uint32_t index) {
  if (index < scripts->agents_max) return true;
  uint32_t room = scripts->agents_max ? scripts->agents_max : 1024;
  while (room <= index) room *= 2;
  uint32_t *owners = realloc(scripts->owners, room * sizeof *owners);
  if (!owners) return false;
  memset(owners + scripts->agents_max, 0, (room - scripts->agents_max) * sizeof *owners);
  scripts->owners = owners;
  scripts->agents_max = room;
  return true;
}

/* A number for a newborn: of one that is gone, and whose memory is collected, or a new one. */
static uint32_t take_owner(script_state *state) {
  if (state->free_count && state->memory.owned[state->free_owners[state->free_first]] == 0) {
    uint32_t owner = state->free_owners[state->free_first];
    state->free_first = (state->free_first + 1) % state->free_room;
    state->free_count--;
    return owner;
  }
  return memory_new_owner(&state->memory);
}

static void give_owner(script_state *state, uint32_t owner) {
  if (state->free_count == state->free_room) {
    uint32_t room = state->free_room ? 2 * state->free_room : 64;
    uint32_t *more = malloc(room * sizeof *more);
    if (!more) return; /* the number is never used again */
    for (uint32_t i = 0; i < state->free_count; i++)
      more[i] = state->free_owners[(state->free_first + i) % state->free_room];
    free(state->free_owners);
    state->free_owners = more;
    state->free_room = room;
    state->free_first = 0;
  }
  state->free_owners[(state->free_first + state->free_count++) % state->free_room] = owner;
}

/* What an agent's table is made of. */
struct self_making {
  const unsigned char *bytes; /* a table; with a count of 0 it is empty */
  size_t count;
  uint32_t type, owner;
};

/* Makes the agent's table, and puts it into the registry's table of agents. */
static int make_self(lua_State *L) {
  script_state *state = state_of(L);
  const struct self_making *making = lua_touserdata(L, 1);
  if (making->count) {
    values_read(L, making->bytes, making->count);
    luaL_checktype(L, -1, LUA_TTABLE);
  } else {
    lua_createtable(L, 0, 4);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->metatables[making->type]);
  lua_setmetatable(L, -2);
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0); /* the registry's table grows for all agents */
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->selves);
  lua_insert(L, -2);
  lua_rawseti(L, -2, making->owner);
  return 0;
}

/* What it is given was within a cap already. On failure a message is on the state's stack. */
static bool give_self(script_state *state, const struct self_making *making) {
  memory_own(&state->memory, making->owner, 0);
  lua_pushcfunction(state->L, make_self);
  lua_pushlightuserdata(state->L, (void *)(uintptr_t)making);
  bool made = lua_pcall(state->L, 1, 0, 0) == LUA_OK;
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
  return made;
}

/* A newborn of a type, or the agent of a snapshot. False after a message. */
static bool add_self(script_world *scripts, muster_agent agent, struct self_making *making) {
  uint32_t index = muster_agent_index(agent);
  script_state *state = state_for(scripts, scripts_strand(scripts, agent));
  if (!state || !make_room(scripts, index)) return false;
  making->owner = take_owner(state);
  if (!making->owner) return false;
  bool made = give_self(state, making);
  if (!made) {
    muster_module_fail(MUSTER_E_INPUT, "agent %u (generation %u) of type '%s': %s", index,
                       muster_agent_generation(agent), scripts->types[making->type].name, lua_tostring(state->L, -1));
    lua_pop(state->L, 1);
    return false;
  }
  scripts->owners[index] = making->owner;
  return true;
}

bool atoms_push_self(script_world *scripts, muster_agent agent, script_state **state) {
  uint32_t owner = owner_of(scripts, agent);
  *state = scripts->states[scripts_strand(scripts, agent)];
  if (!owner || !*state) return false;
  lua_rawgeti((*state)->L, LUA_REGISTRYINDEX, (*state)->selves);
  lua_rawgeti((*state)->L, -1, owner);
  lua_remove((*state)->L, -2);
  return true;
}

bool atoms_restore(script_world *scripts, muster_agent agent, uint32_t type, const void *bytes, size_t count) {
  struct self_making making = {.bytes = bytes, .count = count, .type = type};
  return add_self(scripts, agent, &making);
}

void atoms_spawned(muster_update *update) {
  const script_type *type = update->type_user;
  script_world *scripts = type->scripts;
  script_agent *given = update->state;
  struct self_making making = {.bytes = given->birth, .count = given->birth_bytes, .type = type->number};
  const char *trouble = NULL;
  if (given->birth_bytes > BIRTH_BYTES)
    trouble = "its state is none that muster.spawn has made: spawn it without one";
  else if (!add_self(scripts, update->agent, &making))
    trouble = muster_last_error();
  if (trouble) {
    script_state *full = scripts->states[scripts_strand(scripts, update->agent)];
    char where[64];
    snprintf(where, sizeof where, "birth of type '%s'", type->name);
    if (full)
      problems_note(full, where, trouble, "an update", type, update->agent);
    else
      lines_say(scripts, "a birth failed: %s", trouble);
    return;
  }
  memset(given, 0, sizeof *given);
  const script_state *state = scripts->states[scripts_strand(scripts, update->agent)];
  if (state->methods[type->number][METHOD_SPAWNED] != LUA_NOREF) run_method(update, METHOD_SPAWNED, BOUND_WHOLE);
}

void atoms_removed(muster_update *update) {
  const script_type *type = update->type_user;
  script_world *scripts = type->scripts;
  script_state *state = scripts->states[scripts_strand(scripts, update->agent)];
  uint32_t owner = owner_of(scripts, update->agent), index = muster_agent_index(update->agent);
  if (state && !owner) problems_forget(state, update->agent); /* of a birth that failed */
  if (!state || !owner) return;
  if (state->methods[type->number][METHOD_REMOVED] != LUA_NOREF) run_method(update, METHOD_REMOVED, BOUND_WHOLE);
  for (uint32_t i = state->suspended_count; i-- > 0;)
    if (muster_agent_equal(state->suspended[i].agent, update->agent)) drop_suspended(state, &state->suspended[i]);
  problems_forget(state, update->agent);
  lua_rawgeti(state->L, LUA_REGISTRYINDEX, state->selves);
  lua_pushnil(state->L);
  lua_rawseti(state->L, -2, owner);
  lua_pop(state->L, 1);
  scripts->owners[index] = 0;
  give_owner(state, owner);
}

/* ------------------------------------------------------------------------------------------------------- quarantine */

/* Tells where an update is that never ends, and ends it: a reinstated agent begins anew. */
static void quarantine(script_world *scripts, script_state *state, script_suspended *one) {
  lua_State *L = state->L;
  scripts->quarantines++;
  luaL_traceback(L, one->thread, NULL, safepoints_level(one->thread));
  lines_say(scripts,
            "agent %u (generation %u) of type '%s' goes into quarantine: its update did not end in %u frames; %s",
            muster_agent_index(one->agent), muster_agent_generation(one->agent), one->type->name, one->cuts,
            lua_tostring(L, -1));
  lua_pop(L, 1);
  problems_note_endless(state, one->thread, name_of(one->type, one->method), one->type, one->agent);
  muster_agent_quarantine(scripts->world, one->agent);
  drop_suspended(state, one);
}

void atoms_judge(script_world *scripts) {
  for (uint32_t k = 0; k < scripts->strands; k++) {
    script_state *state = scripts->states[k];
    if (state) forget_settled(state);
    for (uint32_t i = state ? state->suspended_count : 0; i-- > 0;) {
      script_suspended *one = &state->suspended[i];
      if (one->thread && one->cuts >= one->type->cuts_max) quarantine(scripts, state, one);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- metatables */

void atoms_make_metatable(lua_State *L, uint32_t type) {
  script_state *state = state_of(L);
  if (state->metatables[type] == LUA_NOREF) {
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, -1);
    state->metatables[type] = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    calls_refuse_fields(L);
    lua_createtable(L, 0, 4);
    lua_createtable(L, 0, 1);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    state->shown[type].table = luaL_ref(L, LUA_REGISTRYINDEX);
    state->shown[type].elapsed = -1.0; /* so that its fields are there from here on */
    atoms_show(L, &state->shown[type], &(muster_update){0});
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->shown[type].table);
  lua_getmetatable(L, -1);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 2);
}
