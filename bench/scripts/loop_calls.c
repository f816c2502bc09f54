/* `muster` for the scripts of the loop. */
#include "loop_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- definition */

static void read_published(lua_State *L, loop_type *type) {
  if (lua_getfield(L, 1, "publishes") == LUA_TTABLE)
    for (; type->field_count < LOOP_FIELDS && lua_rawgeti(L, -1, type->field_count + 1) == LUA_TSTRING; lua_pop(L, 1))
      strncpy(type->fields[type->field_count++], lua_tostring(L, -1), FIELD_NAME_BYTES - 1);
}

static int loop_define(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  loop_type *type = &loop->types[loop->type_count];
  luaL_checktype(L, 1, LUA_TTABLE);
  if (loop->type_count == LOOP_TYPES) return luaL_error(L, "too many types");
  *type = (loop_type){.memory_bytes = 65536};
  lua_getfield(L, 1, "name");
  strncpy(type->name, luaL_checkstring(L, -1), sizeof type->name - 1);
  read_published(L, type);
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, loop->type_count++);
  lua_setfield(L, -2, "number");
  lua_pushvalue(L, -1);
  type->table = luaL_ref(L, LUA_REGISTRYINDEX);
  return 1;
}

static int loop_world(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_getfield(L, 1, "start") == LUA_TFUNCTION) loop->start = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/* The loop knows no levels, so no observers. */
static int loop_observe(lua_State *L) {
  lua_pushinteger(L, 1);
  return 1;
}

/* The number of the type at `index`: its table, or its name. LOOP_NONE for any. */
static uint32_t type_at(lua_State *L, int index) {
  const struct scripts_loop *loop = loop_of(L);
  if (lua_isnone(L, index) || (lua_isstring(L, index) && strcmp(lua_tostring(L, index), "any") == 0)) return LOOP_NONE;
  if (lua_istable(L, index)) {
    lua_getfield(L, index, "number");
    uint32_t number = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return number;
  }
  const char *name = luaL_checkstring(L, index);
  for (uint32_t i = 0; i < loop->type_count; i++)
    if (strcmp(loop->types[i].name, name) == 0) return i;
  return (uint32_t)luaL_error(L, "there is no type '%s'", name);
}

/* ---------------------------------------------------------------------------------------------------------- oneself */

static uint32_t running(lua_State *L) {
  uint32_t agent = loop_of(L)->runs;
  if (agent == LOOP_NONE) luaL_error(L, "only in the methods of an agent");
  return agent;
}

/* The table of the agent that runs is the first argument of its method; its fields are set by the loop's C. */
static int loop_move(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  uint32_t agent = running(L);
  double x = luaL_checknumber(L, 1), y = luaL_checknumber(L, 2);
  loop_ground_move(&loop->ground, agent, x, y);
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->state.selves);
  lua_rawgeti(L, -1, agent + 1);
  lua_pushnumber(L, x);
  lua_setfield(L, -2, "x");
  lua_pushnumber(L, y);
  lua_setfield(L, -2, "y");
  return 0;
}

static int loop_now(lua_State *L) {
  lua_pushnumber(L, loop_of(L)->now_s);
  return 1;
}

/* ------------------------------------------------------------------------------------------------------- published */

static int field_of(const loop_type *type, const char *name) {
  for (uint32_t i = 0; i < type->field_count; i++)
    if (strcmp(type->fields[i], name) == 0) return (int)i;
  return -1;
}

static int loop_publish(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  loop_agent *agent = &loop->ground.agents[running(L)];
  int number = field_of(&loop->types[agent->type], luaL_checkstring(L, 1));
  if (number < 0) return luaL_error(L, "no such field is published: '%s'", lua_tostring(L, 1));
  loop_field *field = &agent->fields[number];
  field->kind = lua_isinteger(L, 2) ? PUBLISHED_INTEGER : lua_type(L, 2);
  if (field->kind == PUBLISHED_INTEGER)
    field->integer = lua_tointeger(L, 2);
  else if (field->kind == LUA_TBOOLEAN)
    field->integer = lua_toboolean(L, 2);
  else
    field->number = luaL_optnumber(L, 2, 0);
  return 0;
}

static int loop_read(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  uint32_t index = loop_ground_find(&loop->ground, luaL_checkinteger(L, 1));
  const char *name = luaL_checkstring(L, 2);
  const loop_agent *agent = &loop->ground.agents[index == LOOP_NONE ? 0 : index];
  int number = index == LOOP_NONE ? -1 : field_of(&loop->types[agent->type], name);
  const loop_field *field = &agent->fields[number < 0 ? 0 : number];
  switch (number < 0 ? LUA_TNIL : field->kind) {
  case PUBLISHED_INTEGER:
    lua_pushinteger(L, field->integer);
    break;
  case LUA_TBOOLEAN:
    lua_pushboolean(L, (int)field->integer);
    break;
  case LUA_TNUMBER:
    lua_pushnumber(L, field->number);
    break;
  default:
    lua_pushnil(L);
  }
  return 1;
}

static int loop_position(lua_State *L) {
  const loop_ground *ground = &loop_of(L)->ground;
  uint32_t index = loop_ground_find(ground, luaL_checkinteger(L, 1));
  if (index == LOOP_NONE) return 0;
  lua_pushnumber(L, ground->agents[index].x);
  lua_pushnumber(L, ground->agents[index].y);
  lua_pushnumber(L, 0);
  return 3;
}

static int loop_exists(lua_State *L) {
  lua_pushboolean(L, loop_ground_find(&loop_of(L)->ground, luaL_checkinteger(L, 1)) != LOOP_NONE);
  return 1;
}

/* ----------------------------------------------------------------------------------------------------------- nearby */

typedef struct loop_seen {
  uint32_t count, next;
  struct {
    int64_t id;
    double x, y, distance;
  } agents[];
} loop_seen;

static int walk_found(lua_State *L) {
  loop_seen *seen = lua_touserdata(L, lua_upvalueindex(1));
  if (seen->next >= seen->count) return 0;
  uint32_t i = seen->next++;
  lua_pushinteger(L, seen->agents[i].id);
  lua_pushnumber(L, seen->agents[i].distance);
  lua_pushnumber(L, seen->agents[i].x);
  lua_pushnumber(L, seen->agents[i].y);
  return 4;
}

static int loop_nearby(lua_State *L) {
  const loop_ground *ground = &loop_of(L)->ground;
  loop_near near[LOOP_NEAREST_MOST];
  lua_Integer most = luaL_optinteger(L, 3, LOOP_NEAREST_MOST);
  luaL_argcheck(L, most >= 1 && most <= LOOP_NEAREST_MOST, 3, "give 1 to 64");
  uint32_t count = loop_ground_nearby(ground, running(L), luaL_checknumber(L, 1), type_at(L, 2), (uint32_t)most, near);
  loop_seen *seen = lua_newuserdatauv(L, sizeof *seen + count * sizeof *seen->agents, 0);
  seen->count = count;
  seen->next = 0;
  for (uint32_t i = 0; i < count; i++) {
    const loop_agent *other = &ground->agents[near[i].agent];
    seen->agents[i].id = loop_ground_id(ground, near[i].agent);
    seen->agents[i].x = other->x;
    seen->agents[i].y = other->y;
    seen->agents[i].distance = near[i].distance_m;
  }
  lua_pushcclosure(L, walk_found, 1);
  return 1;
}

static int loop_nearest(lua_State *L) {
  const loop_ground *ground = &loop_of(L)->ground;
  loop_near near[LOOP_NEAREST_MOST];
  if (!loop_ground_nearby(ground, running(L), luaL_checknumber(L, 1), type_at(L, 2), 1, near)) return 0;
  lua_pushinteger(L, loop_ground_id(ground, near[0].agent));
  lua_pushnumber(L, near[0].distance_m);
  lua_pushnumber(L, ground->agents[near[0].agent].x);
  lua_pushnumber(L, ground->agents[near[0].agent].y);
  return 4;
}

/* -------------------------------------------------------------------------------------------------- birth and death */

static double place_at(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  double value = luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return value;
}

static int loop_spawn(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  uint32_t type = type_at(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  uint32_t agent = loop_bear(loop, type, place_at(L, "x"), place_at(L, "y"), lua_istable(L, 3) ? 3 : 0);
  if (agent == LOOP_NONE) return luaL_error(L, "the world is full");
  lua_pushinteger(L, loop_ground_id(&loop->ground, agent));
  return 1;
}

static int loop_remove(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  uint32_t agent = lua_isnoneornil(L, 1) ? running(L) : loop_ground_find(&loop->ground, luaL_checkinteger(L, 1));
  if (agent != LOOP_NONE) {
    loop_ground_remove(&loop->ground, agent);
    lua_rawgeti(L, LUA_REGISTRYINDEX, loop->state.selves);
    lua_pushboolean(L, 0);
    lua_rawseti(L, -2, agent + 1);
  }
  lua_pushboolean(L, agent != LOOP_NONE);
  return 1;
}

void loop_calls_push(lua_State *L) {
  static const luaL_Reg calls[] = {{"type", loop_define},       {"world", loop_world},
                                   {"move", loop_move},         {"now", loop_now},
                                   {"publish", loop_publish},   {"read", loop_read},
                                   {"position", loop_position}, {"exists", loop_exists},
                                   {"nearby", loop_nearby},     {"nearest", loop_nearest},
                                   {"spawn", loop_spawn},       {"remove", loop_remove},
                                   {"observe", loop_observe},   {NULL, NULL}};
  luaL_newlib(L, calls);
}
