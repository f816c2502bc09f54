#include "lua/calls.h"

#include "lua/freeze.h"
#include "lua/host.h"
#include "lua/kept.h"
#include "lua/names.h"
#include "lua/scripts.h"
#include "lua/types.h"
#include "lua/values.h"

#include <muster/random.h>
#include <muster/tune.h>

#include <string.h>
#include <strings.h>

/* The update whose code calls; raises an error outside of one. */
static muster_update *calling_update(lua_State *L, const char *what) {
  muster_update *update = state_of(L)->update;
  if (!update) luaL_error(L, "muster.%s: only in the methods of an agent", what);
  return update;
}

/* True for success. False: the agent is gone, which is no error. Every other refusal is one, with Muster's sentence. */
static bool succeeded(lua_State *L, muster_result result) {
  if (result == MUSTER_OK) return true;
  if (result != MUSTER_E_STALE) luaL_error(L, "%s", muster_last_error());
  return false;
}

static muster_agent agent_at(lua_State *L, int index) {
  return (muster_agent){(uint64_t)luaL_checkinteger(L, index)};
}

static const char *const axes[] = {"x", "y", "z"};
enum { AXES = 3 };

/* What is at `index` has no such axis, which it needs. */
static void refuse_place(lua_State *L, int index, const char *what, const char *axis) {
  const char *names[NAMES_MAX], *capital = NULL;
  if (!lua_istable(L, index)) luaL_error(L, "%s: give a position, such as {x = 10, y = 5}", what);
  lua_pushvalue(L, index);
  freeze_open(L, -1);
  if (lua_rawgeti(L, -1, 1) != LUA_TNIL)
    luaL_error(L, "%s: a position has names for its numbers: {x = 10, y = 5}, not {10, 5}", what);
  size_t count = names_of_table(L, index, false, names, 0);
  for (size_t i = 0; i < count && !capital; i++)
    if (strcasecmp(names[i], axis) == 0) capital = names[i];
  luaL_error(L, "%s: a position needs x and y, such as {x = 10, y = 5}: its %s is nil%s%s%s", what, axis,
             capital ? ", and its " : "", capital ? capital : "", capital ? " is another name" : "");
}

void calls_read_place(lua_State *L, int index, const char *what, muster_position *place) {
  double *const out[AXES] = {&place->x, &place->y, &place->z};
  if (!lua_istable(L, index)) refuse_place(L, index, what, axes[0]);
  for (int i = 0; i < AXES; i++) {
    int type = freeze_get(L, index, axes[i]);
    if (type == LUA_TNIL && i < AXES - 1) refuse_place(L, index, what, axes[i]);
    if (type != LUA_TNIL && !lua_isnumber(L, -1)) {
      names_push_value(L, -1);
      luaL_error(L, "%s: %s: give a number, in metres; it is %s", what, axes[i], lua_tostring(L, -1));
    }
    if (type != LUA_TNIL) *out[i] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
}

/* ---------------------------------------------------------------------------------------------------------- oneself */

static int call_move(lua_State *L) {
  muster_update *update = calling_update(L, "move");
  if (lua_istable(L, 1)) return luaL_error(L, "muster.move: give x and y, two numbers in metres: muster.move(10, 5)");
  muster_position place = {luaL_checknumber(L, 1), luaL_checknumber(L, 2), luaL_optnumber(L, 3, update->position.z)};
  succeeded(L, muster_update_move(update, place));
  return 0;
}

static int call_now(lua_State *L) {
  const script_state *state = state_of(L);
  lua_pushnumber(L, (double)(state->update ? state->update->now_ns : state->scripts->now_ns) * 1e-9);
  return 1;
}

/* Seconds. A time with its unit, as muster.type takes them, is no number. */
static double seconds_at(lua_State *L, int index) {
  luaL_argcheck(L, lua_isnumber(L, index), index, "give a time in seconds, a number, such as 0.1");
  return lua_tonumber(L, index);
}

static int call_wake_at(lua_State *L) {
  muster_update *update = calling_update(L, "wake_at");
  double seconds = seconds_at(L, 1);
  muster_agent agent = lua_isnone(L, 2) ? update->agent : agent_at(L, 2);
  luaL_argcheck(L, seconds >= 0.0, 1, "give a time in seconds");
  double now = (double)update->now_ns * 1e-9;
  if (seconds > 0.0 && seconds < now / 2.0) /* nobody is so late that it would be a time of the world */
    return luaL_error(L,
                      "muster.wake_at(%f): that was long ago, it is %f s now; give the time at which, such as "
                      "muster.now() + %f",
                      seconds, now, seconds);
  uint64_t at_ns = seconds < 9e9 ? (uint64_t)(seconds * 1e9 + 0.5) : MUSTER_WAKE_NEVER;
  lua_pushboolean(L, succeeded(L, muster_update_wake_at(update, agent, at_ns)));
  return 1;
}

/* Seconds, in steps of a microsecond; nothing is 0. */
static uint64_t duration_at(lua_State *L, int index) {
  double seconds = lua_isnoneornil(L, index) ? 0.0 : seconds_at(L, index);
  luaL_argcheck(L, seconds >= 0.0 && seconds <= 1e6, index, "give a time in seconds");
  luaL_argcheck(L, seconds == 0.0 || seconds >= 1e-6, index, "it is in seconds, and less than a microsecond");
  return (uint64_t)(seconds * 1e6 + 0.5) * 1000;
}

/* `muster.set_period(period [, longest [, who]])`: of oneself, of an agent, or of a type. */
static int call_set_period(lua_State *L) {
  muster_update *update = calling_update(L, "set_period");
  seconds_at(L, 1);
  uint64_t period_ns = duration_at(L, 1), period_max_ns = duration_at(L, 2);
  muster_agent agent = update->agent;
  if (lua_istable(L, 3) || lua_type(L, 3) == LUA_TSTRING) {
    muster_type type = state_of(L)->scripts->types[types_find(L, 3)].id;
    lua_pushboolean(L, succeeded(L, muster_update_set_type_periods(update, type, period_ns, period_max_ns)));
    return 1;
  }
  if (!lua_isnone(L, 3)) agent = agent_at(L, 3); /* a nil is a mistake, not oneself */
  lua_pushboolean(L, succeeded(L, muster_update_set_periods(update, agent, period_ns, period_max_ns)));
  return 1;
}

static int call_progress(lua_State *L) {
  muster_update *update = calling_update(L, "progress");
  double share = luaL_checknumber(L, 1);
  luaL_argcheck(L, share >= 0.0 && share <= 1.0, 1, "give a share from 0 to 1");
  muster_update_progress(update, (float)share);
  return 0;
}

/* -------------------------------------------------------------------------------------------------------- published */

/* The number of the published field of a type whose name is at `index`; FIELDS_MAX = it has none of that name. */
static uint32_t field_at(lua_State *L, int index, const script_type *type) {
  const char *name = luaL_checkstring(L, index), *const *fields = state_of(L)->fields[type->number];
  for (uint32_t i = 0; i < type->field_count; i++)
    if (fields[i] == name) return i;
  return FIELDS_MAX;
}

/* A field at 1 that the type does not publish. */
static int refuse_published(lua_State *L, const script_type *type) {
  const char *names[FIELDS_MAX], *name = lua_tostring(L, 1);
  for (uint32_t i = 0; i < type->field_count; i++) names[i] = type->fields[i];
  if (!type->field_count)
    return luaL_error(L, "type '%s' publishes no '%s': write publishes = {\"%s\"} into its muster.type", type->name,
                      name, name);
  return luaL_error(L, "type '%s' publishes no '%s'%s", type->name, name,
                    names_push_hint(L, name, names, type->field_count));
}

static int call_publish(lua_State *L) {
  muster_update *update = calling_update(L, "publish");
  const script_type *type = update->type_user;
  uint32_t number = field_at(L, 1, type);
  if (number == FIELDS_MAX) return refuse_published(L, type);
  script_published *published = update->published;
  script_field field = {0};
  switch (lua_type(L, 2)) {
  case LUA_TNIL:
    break;
  case LUA_TBOOLEAN:
    field.kind = LUA_TBOOLEAN;
    field.integer = lua_toboolean(L, 2);
    break;
  case LUA_TNUMBER:
    field.kind = lua_isinteger(L, 2) ? PUBLISHED_INTEGER : LUA_TNUMBER;
    if (lua_isinteger(L, 2))
      field.integer = lua_tointeger(L, 2);
    else
      field.number = lua_tonumber(L, 2);
    break;
  default:
    return luaL_argerror(L, 2, "a number, a boolean or nil can be published");
  }
  published->magic = PUBLISHED_MAGIC;
  published->type = type->number;
  published->fields[number] = field;
  return 0;
}

static void push_published(lua_State *L, const script_field *field) {
  switch (field->kind) {
  case LUA_TBOOLEAN:
    lua_pushboolean(L, (int)field->integer);
    break;
  case LUA_TNUMBER:
    lua_pushnumber(L, field->number);
    break;
  case PUBLISHED_INTEGER:
    lua_pushinteger(L, field->integer);
    break;
  default:
    lua_pushnil(L);
  }
}

/* A field that no type publishes is misspelt. */
static void check_is_published(lua_State *L) {
  const script_world *scripts = state_of(L)->scripts;
  const char *names[NAMES_MAX], *name = lua_tostring(L, 2);
  size_t count = 0;
  for (uint32_t i = 0; i < scripts->type_count; i++) {
    const script_type *type = &scripts->types[i];
    if (field_at(L, 2, type) < FIELDS_MAX) return;
    for (uint32_t k = 0; k < type->field_count && count < NAMES_MAX; k++) names[count++] = type->fields[k];
  }
  luaL_error(L, "muster.read: no type publishes '%s'%s", name, names_push_near(L, name, names, count));
}

/* nil for an agent that is gone, or of a type that publishes no such field. */
static int call_read(lua_State *L) {
  const muster_update *update = calling_update(L, "read");
  const script_world *scripts = state_of(L)->scripts;
  const script_published *published = muster_update_published_of(update, agent_at(L, 1));
  uint32_t number = FIELDS_MAX;
  luaL_checkstring(L, 2);
  if (published && published->magic == PUBLISHED_MAGIC && published->type < scripts->type_count)
    number = field_at(L, 2, &scripts->types[published->type]);
  if (number < FIELDS_MAX) {
    push_published(L, &published->fields[number]);
    return 1;
  }
  check_is_published(L);
  lua_pushnil(L);
  return 1;
}

static int call_position(lua_State *L) {
  muster_position place;
  if (!muster_update_position_of(calling_update(L, "position"), agent_at(L, 1), &place)) return 0;
  lua_pushnumber(L, place.x);
  lua_pushnumber(L, place.y);
  lua_pushnumber(L, place.z);
  return 3;
}

static int call_exists(lua_State *L) {
  muster_position place;
  lua_pushboolean(L, muster_update_position_of(calling_update(L, "exists"), agent_at(L, 1), &place));
  return 1;
}

/* ----------------------------------------------------------------------------------------------------------- nearby */

enum { QUERY_INSTRUCTIONS = 10 /* and one for each that is found */ };

/* What a query found, kept until the loop over it is over. */
typedef struct seen_agents {
  uint32_t count, next;
  struct {
    muster_agent agent;
    double x, y, distance;
  } agents[];
} seen_agents;

/* id, distance, x, y of the next. */
static int walk_seen(lua_State *L) {
  seen_agents *seen = lua_touserdata(L, lua_upvalueindex(1));
  if (seen->next >= seen->count) return 0;
  uint32_t i = seen->next++;
  lua_pushinteger(L, (lua_Integer)seen->agents[i].agent.value);
  lua_pushnumber(L, seen->agents[i].distance);
  lua_pushnumber(L, seen->agents[i].x);
  lua_pushnumber(L, seen->agents[i].y);
  return 4;
}

static uint32_t query(lua_State *L, const char *what, muster_neighbour *found, uint32_t most) {
  const script_world *scripts = state_of(L)->scripts;
  const muster_update *update = calling_update(L, what);
  double radius = luaL_checknumber(L, 1);
  muster_type type = {0};
  luaL_argcheck(L, radius >= 0.0 && radius <= 1e9, 1, "give a radius in metres");
  if (lua_type(L, 2) == LUA_TNIL) luaL_error(L, "muster.%s: the type is nil; for all types say \"any\"", what);
  if (!lua_isnone(L, 2) && !(lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "any") == 0))
    type = scripts->types[types_find(L, 2)].id;
  uint32_t count = muster_update_nearby(update, (float)radius, type, found, most);
  state_charge(L, QUERY_INSTRUCTIONS + count);
  return count;
}

/* nearby(radius [, type [, most]]): a walk over the nearest agents. */
static int call_nearby(lua_State *L) {
  muster_neighbour found[MUSTER_NEIGHBOURS_MAX];
  lua_Integer most = luaL_optinteger(L, 3, MUSTER_NEIGHBOURS_MAX);
  luaL_argcheck(L, most >= 1 && most <= (lua_Integer)MUSTER_NEIGHBOURS_MAX, 3, "give 1 to 64");
  uint32_t count = query(L, "nearby", found, (uint32_t)most);
  seen_agents *seen = lua_newuserdatauv(L, sizeof *seen + count * sizeof *seen->agents, 0);
  seen->count = count;
  seen->next = 0;
  for (uint32_t i = 0; i < count; i++) {
    seen->agents[i].agent = found[i].agent;
    seen->agents[i].x = found[i].position.x;
    seen->agents[i].y = found[i].position.y;
    seen->agents[i].distance = (double)found[i].distance_m;
    __builtin_prefetch(found[i].published); /* most loops read it */
  }
  lua_pushcclosure(L, walk_seen, 1);
  return 1;
}

/* nearest(radius [, type]): id, distance, x, y of the nearest; nothing when there is none. */
static int call_nearest(lua_State *L) {
  muster_neighbour found;
  if (!query(L, "nearest", &found, 1)) return 0;
  lua_pushinteger(L, (lua_Integer)found.agent.value);
  lua_pushnumber(L, (double)found.distance_m);
  lua_pushnumber(L, found.position.x);
  lua_pushnumber(L, found.position.y);
  return 4;
}

/* --------------------------------------------------------------------------------------------------------- messages */

static int call_send(lua_State *L) {
  muster_update *update = calling_update(L, "send");
  unsigned char bytes[MUSTER_MESSAGE_BYTES_MAX];
  const void *tables[16];
  values_writer writer = {.bytes = bytes, .room = sizeof bytes, .tables = tables, .table_room = 16};
  luaL_checkany(L, 2);
  if (!values_write(L, 2, &writer, "the message"))
    return luaL_error(L, "muster.send: %s", writer.wrong[0] ? writer.wrong : "the message takes more than 256 bytes");
  lua_pushboolean(L, succeeded(L, muster_update_send(update, agent_at(L, 1), bytes, (uint32_t)writer.count)));
  return 1;
}

/* sender, value of the next message; the host is the sender 0. */
static int walk_messages(lua_State *L) {
  enum { MOST = 1024 };
  static _Thread_local muster_message messages[MOST];
  uint32_t i = (uint32_t)lua_tointeger(L, lua_upvalueindex(1));
  const muster_update *update = calling_update(L, "messages");
  uint32_t count = i < MOST ? muster_update_messages(update, messages, i + 1) : 0;
  state_charge(L, i);
  if (i >= count) return 0;
  lua_pushinteger(L, (lua_Integer)i + 1);
  lua_copy(L, -1, lua_upvalueindex(1));
  lua_pushinteger(L, (lua_Integer)messages[i].sender.value);
  values_read(L, messages[i].bytes, messages[i].size);
  return 2;
}

static int call_messages(lua_State *L) {
  const script_type *type = calling_update(L, "messages")->type_user;
  if (!type->def.messages.waiting_max)
    return luaL_error(L,
                      "muster.messages: type '%s' has no box: write messages = {waiting_max = 4} into its muster.type",
                      type->name);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, walk_messages, 1);
  return 1;
}

/* -------------------------------------------------------------------------------------------------- birth and death */

/* What self has from Muster. */
static const char *const own_fields[] = {"position", "x",  "y",          "z",       "elapsed", "level",
                                         "now",      "id", "importance", "wake_at", NULL};

/* What a newborn's self is to begin with, at 3: what Muster tells would never be seen behind it. */
static void check_birth(lua_State *L) {
  if (!lua_istable(L, 3)) luaL_error(L, "muster.spawn: give the fields of the newborn's self as a table");
  for (int i = 0; own_fields[i]; i++) {
    if (freeze_get(L, 3, own_fields[i]) != LUA_TNIL)
      luaL_error(L,
                 "muster.spawn: the fields of the newborn's self have no '%s', which Muster tells; the place stands "
                 "before them: muster.spawn(type, {x = 10, y = 5}, {age = 0})",
                 own_fields[i]);
    lua_pop(L, 1);
  }
}

/* spawn(type, {x =, y =, z =} [, fields]): the id of the newborn. */
static int call_spawn(lua_State *L) {
  script_state *state = state_of(L);
  const script_type *type = &state->scripts->types[types_find(L, 1)];
  script_agent given = {0};
  const void *tables[16];
  values_writer writer = {.bytes = given.birth, .room = BIRTH_BYTES, .tables = tables, .table_room = 16};
  muster_agent_def def = muster_agent_def_default();
  if (state->update) def.position = state->update->position;
  calls_read_place(L, 2, "muster.spawn", &def.position);
  if (!lua_isnoneornil(L, 3)) {
    check_birth(L);
    if (!values_write(L, 3, &writer, "its fields"))
      return luaL_error(L, "muster.spawn: %s", writer.wrong[0] ? writer.wrong : "its fields take more than 120 bytes");
    given.birth_bytes = (uint32_t)writer.count;
  }
  def.type = type->id;
  def.state = &given;
  muster_agent agent;
  if (state->update)
    agent = muster_update_spawn(state->update, &def);
  else if (state->scripts->world && state == state->scripts->host && !state->loads)
    agent = muster_agent_spawn(state->scripts->world, &def);
  else
    return luaL_error(L, "muster.spawn: only in the methods of an agent, and in the functions of muster.world");
  if (muster_agent_is_null(agent) && !state->update)
    return luaL_error(L, "%s; muster.world says how many there may be: agents, agents_max", muster_last_error());
  if (muster_agent_is_null(agent)) return luaL_error(L, "%s", muster_last_error());
  if (!state->update) state->scripts->started_agents++;
  lua_pushinteger(L, (lua_Integer)agent.value);
  return 1;
}

static int call_remove(lua_State *L) {
  muster_update *update = calling_update(L, "remove");
  muster_agent agent = lua_isnone(L, 1) ? update->agent : agent_at(L, 1); /* a nil is a mistake, not oneself */
  lua_pushboolean(L, succeeded(L, muster_update_remove(update, agent)));
  return 1;
}

static int call_wake(lua_State *L) {
  lua_pushboolean(L, succeeded(L, muster_update_wake(calling_update(L, "wake"), agent_at(L, 1))));
  return 1;
}

/* ----------------------------------------------------------------------------------------------------------- fields */

static void push_own_field(lua_State *L, const muster_update *update, int which) {
  switch (which) {
  case 0:
    lua_createtable(L, 0, 3);
    for (int i = 1; i <= 3; i++) {
      push_own_field(L, update, i);
      lua_setfield(L, -2, own_fields[i]);
    }
    break;
  case 1:
    lua_pushnumber(L, update->position.x);
    break;
  case 2:
    lua_pushnumber(L, update->position.y);
    break;
  case 3:
    lua_pushnumber(L, update->position.z);
    break;
  case 4:
    lua_pushnumber(L, (double)update->elapsed_ns * 1e-9);
    break;
  case 5:
    lua_pushinteger(L, update->level);
    break;
  case 6:
    lua_pushnumber(L, (double)update->now_ns * 1e-9);
    break;
  case 7:
    lua_pushinteger(L, (lua_Integer)update->agent.value);
    break;
  case 8:
    lua_pushnumber(L, (double)update->importance);
    break;
  default:
    lua_pushnumber(L, (double)update->wake_at_ns * 1e-9);
  }
}

/* __index behind a type's own fields. Upvalue: the number of each name. */
static int own_field(lua_State *L) {
  const muster_update *update = state_of(L)->update;
  if (!update || lua_type(L, 2) != LUA_TSTRING) return 0;
  lua_settop(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNUMBER) return 0;
  push_own_field(L, update, (int)lua_tointeger(L, -1));
  return 1;
}

size_t calls_names(const char **names, size_t count) {
  for (int i = 0; own_fields[i] && count < NAMES_MAX; i++) names[count++] = own_fields[i];
  return count;
}

static void push_names(lua_State *L) {
  lua_createtable(L, 0, 16);
  for (int i = 0; own_fields[i]; i++) {
    lua_pushinteger(L, i);
    lua_setfield(L, -2, own_fields[i]);
  }
}

void calls_add_fields(lua_State *L) {
  lua_createtable(L, 0, 1);
  push_names(L);
  lua_pushcclosure(L, own_field, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* The value at 3 is for the field at 2 of self, and cannot be kept. */
static int refuse_kept(lua_State *L) {
  const char *what = kept_refusal(L, 3);
  const char *instead = lua_isfunction(L, 3)        ? "write it as a method, and keep the name of the one to call"
                        : freeze_push_content(L, 3) ? "keep its name, and look it up"
                                                    : "keep plain tables, and call functions with them";
  names_push_value(L, 2);
  return luaL_error(L, "self.%s is %s, which cannot be kept: %s",
                    lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : lua_tostring(L, -1), what, instead);
}

/* __newindex of an agent's table: a new field. Upvalue: the number of each name that Muster tells. */
static int add_field(lua_State *L) {
  enum { PLACES = 4 };
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNUMBER)
    return luaL_error(L, "self.%s is told by Muster and cannot be set%s", lua_tostring(L, 2),
                      lua_tointeger(L, -1) < PLACES ? ": to move, call muster.move(x, y)" : "");
  if (kept_refusal(L, 3)) return refuse_kept(L);
  lua_settop(L, 3);
  lua_rawset(L, 1);
  return 0;
}

void calls_refuse_fields(lua_State *L) {
  push_names(L);
  lua_pushcclosure(L, add_field, 1);
  lua_setfield(L, -2, "__newindex");
}

void calls_open(lua_State *L) {
  static const luaL_Reg calls[] = {{"type", types_define},      {"move", call_move},
                                   {"now", call_now},           {"wake_at", call_wake_at},
                                   {"wake", call_wake},         {"set_period", call_set_period},
                                   {"progress", call_progress}, {"publish", call_publish},
                                   {"read", call_read},         {"position", call_position},
                                   {"exists", call_exists},     {"nearby", call_nearby},
                                   {"nearest", call_nearest},   {"send", call_send},
                                   {"messages", call_messages}, {"spawn", call_spawn},
                                   {"remove", call_remove},     {"world", host_define},
                                   {"observe", host_observe},   {NULL, NULL}};
  luaL_newlib(L, calls);
}
