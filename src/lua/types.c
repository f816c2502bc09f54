#include "lua/types.h"

#include "lua/atoms.h"
#include "lua/calls.h"
#include "lua/fields.h"
#include "lua/freeze.h"
#include "lua/mentions.h"
#include "lua/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static muster_type_def standard_of(const char *name) {
  muster_type_def def = muster_type_def_default();
  def.name = name;
  def.state_bytes = sizeof(script_agent);
  def.slices.slice_ns = 250000;
  def.messages.bytes_max = 0;
  return def;
}

/* Whether what is on top of the stack is a table of values without names. */
static bool is_list(lua_State *L) {
  if (!lua_istable(L, -1)) return false;
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_isinteger(L, -2)) continue;
    lua_pop(L, 2);
    return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- sets */

/* A field that a function reads. */
#define OTHER(name, read)                                                                                              \
  { name, TYPE_FIELD_OTHER, 0, read }

/* The set that is read, and its type. */
struct set_reading {
  muster_set_def def; /* first: fields are written into it */
  script_type *type;
  uint32_t number;
};

static void read_role(lua_State *L, void *out) {
  static const char *const roles[] = {"think", "sense", "act", NULL};
  struct set_reading *reading = out;
  reading->def.role = fields_choice(L, "set.role", roles);
}

static void read_method(lua_State *L, void *out) {
  const struct set_reading *reading = out;
  fields_name(L, "set.method", reading->type->methods[METHOD_FIRST_SET + reading->number],
              sizeof reading->type->methods[0]);
}

#define SET(name, kind, place)                                                                                         \
  { name, TYPE_FIELD_##kind, offsetof(muster_set_def, place), NULL }
static const type_field set_fields[] = {SET("share", COUNT, share),     SET("period_updates", COUNT, period_updates),
                                        SET("period", TIME, period_ns), SET("delay_updates", COUNT, delay_updates),
                                        SET("delay", TIME, delay_ns),   SET("levels", COUNT, levels),
                                        SET("asks", COUNT, asks),       OTHER("role", read_role),
                                        OTHER("method", read_method),   {0}};

/* Of two fields of the set on top of the stack, which say the same in two ways. */
static void check_one_of(lua_State *L, const char *one, const char *other) {
  int set = lua_gettop(L);
  if (freeze_get(L, set, one) != LUA_TNIL && freeze_get(L, set, other) != LUA_TNIL)
    luaL_error(L, "set: give %s or %s, not both", one, other);
  lua_settop(L, set);
}

static void read_sets(lua_State *L, void *out) {
  script_type *type = out;
  if (!is_list(L)) luaL_error(L, "sets: give a list of tables, such as {{method = \"look\", role = \"sense\"}}");
  lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  if (count < 1 || count > (lua_Integer)MUSTER_SETS_MAX) luaL_error(L, "sets: give 1 to %d of them", MUSTER_SETS_MAX);
  for (uint32_t i = 0; i < count; i++) {
    struct set_reading reading = {.def = muster_set_def_default(), .type = type, .number = i};
    reading.def.mode = MUSTER_MODE_SLICEABLE;
    lua_rawgeti(L, -1, i + 1);
    fields_read(L, "set", set_fields, &reading);
    check_one_of(L, "period", "period_updates");
    check_one_of(L, "delay", "delay_updates");
    lua_pop(L, 1);
    if (!*type->methods[METHOD_FIRST_SET + i]) luaL_error(L, "set %d: it has no method", (int)i + 1);
    if (reading.def.period_ns) reading.def.period_updates = 0;
    if (reading.def.role == MUSTER_ROLE_ACTION) reading.def.mode = MUSTER_MODE_RUN;
    reading.def.name = type->methods[METHOD_FIRST_SET + i];
    type->sets[i] = reading.def;
  }
  type->def.sets.list = type->sets;
  type->def.sets.count = (uint32_t)count;
}

/* ----------------------------------------------------------------------------------------------------------- groups */

#define IN(name, kind, place)                                                                                          \
  { name, TYPE_FIELD_##kind, offsetof(script_type, place), NULL }
static const type_field message_fields[] = {IN("waiting_max", COUNT, def.messages.waiting_max),
                                            IN("bytes_max", COUNT, def.messages.bytes_max),
                                            IN("sends_max", COUNT, def.messages.sends_max),
                                            IN("wake", SWITCH, def.messages.wake),
                                            {0}};
static const type_field overrun_fields[] = {
    IN("demote", COUNT, def.overruns.demote), IN("quarantine", COUNT, def.overruns.quarantine), {0}};

static void read_importances(lua_State *L, void *out) {
  script_type *type = out;
  if (!is_list(L) || lua_rawlen(L, -1) >= MUSTER_LEVELS)
    luaL_error(L, "levels.importance: give a list of at most %d numbers", MUSTER_LEVELS - 1);
  lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, -1, i + 1);
    if (lua_type(L, -1) != LUA_TNUMBER) luaL_error(L, "levels.importance: give numbers");
    type->def.levels.importance[i] = (float)lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
}

static const type_field level_fields[] = {
    IN("count", COUNT, def.levels.count), OTHER("importance", read_importances), {0}};

static void types_read_published(lua_State *L, void *out) {
  script_type *type = out;
  if (!is_list(L) || lua_rawlen(L, -1) > FIELDS_MAX)
    luaL_error(L, "publishes: give a list of at most %d names, such as {\"hungry\"}", FIELDS_MAX);
  type->field_count = (uint32_t)lua_rawlen(L, -1);
  for (uint32_t i = 0; i < type->field_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    fields_name(L, "publishes", type->fields[i], FIELD_NAME_BYTES);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(type->fields[i], type->fields[k]) == 0) luaL_error(L, "publishes: '%s' stands twice", type->fields[i]);
    lua_pop(L, 1);
  }
  type->def.published_bytes = (uint32_t)(sizeof(script_published) + type->field_count * sizeof(script_field));
}

static void types_read_name(lua_State *L, void *out) {
  script_type *type = out;
  fields_name(L, "muster.type.name", type->name, sizeof type->name);
}

static void types_read_elapsed(lua_State *L, void *out) {
  static const char *const contracts[] = {"delta", "events", NULL};
  script_type *type = out;
  type->def.elapsed.contract =
      fields_choice(L, "muster.type.elapsed", contracts) ? MUSTER_ELAPSED_EVENTS : MUSTER_ELAPSED_DELTA;
}

static void types_read_messages(lua_State *L, void *out) {
  fields_read(L, "messages", message_fields, out);
}

static void types_read_levels(lua_State *L, void *out) {
  fields_read(L, "levels", level_fields, out);
}

static void types_read_overruns(lua_State *L, void *out) {
  fields_read(L, "overruns", overrun_fields, out);
}

static const type_field type_fields[] = {IN("period", TIME, def.period_ns),
                                         IN("period_max", TIME, def.period_max_ns),
                                         IN("period_max_hard", SWITCH, def.period_max_hard),
                                         IN("limit", TIME, def.limit_ns),
                                         IN("wake_gap", TIME, def.wake_gap_ns),
                                         IN("elasticity", FLOAT, def.elasticity),
                                         IN("importance", FLOAT, def.importance),
                                         IN("spawns_max", COUNT, def.spawns_max),
                                         IN("slice", TIME, def.slices.slice_ns),
                                         IN("asks", COUNT, def.slices.asks),
                                         IN("memory", BYTES, memory_bytes),
                                         IN("cost", TIME, cost_ns),
                                         IN("cuts_max", COUNT, cuts_max),
                                         OTHER("name", types_read_name),
                                         OTHER("elapsed", types_read_elapsed),
                                         OTHER("messages", types_read_messages),
                                         OTHER("levels", types_read_levels),
                                         OTHER("overruns", types_read_overruns),
                                         OTHER("publishes", types_read_published),
                                         OTHER("sets", read_sets),
                                         {0}};

/* What says one thing and another. */
static void check_sense(lua_State *L, int index, const script_type *type) {
  int top = lua_gettop(L);
  bool longest = freeze_get(L, index, "period_max") != LUA_TNIL;
  lua_pop(L, 1);
  if (longest && type->def.period_max_ns < type->def.period_ns)
    luaL_error(L, "muster.type '%s': its period_max is shorter than its period", type->name);
  if (!type->def.slices.slice_ns || !type->cuts_max)
    luaL_error(L, "muster.type '%s': slice and cuts_max must be more than 0: an update without an end would have none",
               type->name);
  if (freeze_get(L, index, "levels") == LUA_TTABLE && freeze_get(L, -1, "importance") == LUA_TTABLE &&
      lua_rawlen(L, -1) >= type->def.levels.count)
    luaL_error(L, "muster.type '%s': levels.importance has a number for each level but the last: count is %d",
               type->name, (int)type->def.levels.count);
  lua_settop(L, top);
  if (!type->def.messages.waiting_max && (type->def.messages.bytes_max || type->def.messages.wake))
    luaL_error(L, "muster.type '%s': messages without waiting_max are no box: say how many wait at most", type->name);
}

void types_read(lua_State *L, int index, script_type *type) {
  *type = (script_type){.def = standard_of(type->name), .memory_bytes = 65536, .cuts_max = 20, .cost_ns = 2000};
  lua_pushvalue(L, index);
  fields_read(L, "muster.type", type_fields, type);
  lua_pop(L, 1);
  if (!*type->name) luaL_error(L, "muster.type: it needs a name: name = \"...\"");
  check_sense(L, index, type);
  type->def.name = type->name;
  if (type->def.messages.waiting_max && !type->def.messages.bytes_max) type->def.messages.bytes_max = 128;
  if (type->def.period_max_ns < type->def.period_ns) type->def.period_max_ns = type->def.period_ns;
  if (type->def.sets.count) {
    type->def.sets.slice_ns = type->def.slices.slice_ns;
    type->def.slices.slice_ns = 0;
  }
}

/* ---------------------------------------------------------------------------------------------------------- methods */

static const char *const role_methods[METHOD_FIRST_SET] = {"spawned", "removed", "sense", "think", "act"};

size_t types_methods(const script_type *type, const char *names[METHODS]) {
  size_t count = 0;
  names[count++] = role_methods[METHOD_SPAWNED];
  for (uint32_t method = METHOD_SENSE; method < METHOD_FIRST_SET && !type->def.sets.count; method++)
    names[count++] = role_methods[method];
  for (uint32_t i = 0; i < type->def.sets.count; i++) names[count++] = type->methods[METHOD_FIRST_SET + i];
  names[count++] = role_methods[METHOD_REMOVED];
  return count;
}

bool types_is_role(const char *name) {
  for (uint32_t method = METHOD_SENSE; method < METHOD_FIRST_SET; method++)
    if (strcmp(role_methods[method], name) == 0) return true;
  return false;
}

bool types_is_option(const char *name) {
  return fields_know(type_fields, name);
}

/* The table of types' tables, by their numbers, is in the registry under this. */
static const char types_key = 't';

static void add_type(lua_State *L, script_world *scripts, uint32_t number) {
  script_type *type = &scripts->types[number];
  types_read(L, 1, type);
  for (uint32_t i = 0; i < number; i++)
    if (strcmp(scripts->types[i].name, type->name) == 0)
      luaL_error(L, "muster.type: there are two types '%s'", type->name);
  type->scripts = scripts;
  type->number = number;
  scripts->type_count = number + 1;
}

/* Of sets only how many there are, and their methods, are compared. */
static const char *types_difference(const script_type *one, const script_type *other) {
  const type_field *const lists[] = {type_fields, message_fields, level_fields, overrun_fields};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const char *name = fields_difference(lists[i], one, other);
    if (name) return name;
  }
  if (memcmp(one->def.levels.importance, other->def.levels.importance, sizeof one->def.levels.importance) != 0)
    return "levels.importance";
  if (one->field_count != other->field_count || memcmp(one->fields, other->fields, sizeof one->fields) != 0)
    return "publishes";
  if (one->def.sets.count != other->def.sets.count || memcmp(one->methods, other->methods, sizeof one->methods) != 0)
    return "sets";
  if (one->def.elapsed.contract != other->def.elapsed.contract) return "elapsed";
  return NULL;
}

/* In another state, or after a reload: the same type again. */
static void check_same(lua_State *L, const script_world *scripts, uint32_t number) {
  script_type again;
  types_read(L, 1, &again);
  if (number >= scripts->type_count || strcmp(scripts->types[number].name, again.name) != 0)
    luaL_error(L, "muster.type: type '%s' is new here: a running world keeps its types, in their order", again.name);
  const char *field = types_difference(&scripts->types[number], &again);
  if (field)
    luaL_error(L, "muster.type: type '%s' has another '%s': a running world keeps its types; start it anew for that",
               again.name, field);
}

int types_define(lua_State *L) {
  script_state *state = state_of(L);
  script_world *scripts = state->scripts;
  if (!lua_istable(L, 1) || lua_gettop(L) > 1)
    return luaL_error(L, "muster.type: give a table: muster.type { name = \"...\" }");
  if (!state->loads) return luaL_error(L, "muster.type: only while the scripts are loaded");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &types_key);
  uint32_t number = (uint32_t)lua_rawlen(L, -1);
  if (number >= SCRIPT_TYPES_MAX) return luaL_error(L, "muster.type: more than %d types", SCRIPT_TYPES_MAX);
  if (scripts->typed)
    check_same(L, scripts, number);
  else
    add_type(L, scripts, number);
  lua_createtable(L, 0, 8);
  lua_pushstring(L, scripts->types[number].name);
  lua_setfield(L, -2, "name");
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, number + 1);
  lua_pushinteger(L, number);
  lua_setfield(L, -3, scripts->types[number].name);
  return 1;
}

/* What is neither a type nor a text. */
static void refuse_as_type(lua_State *L, int index) {
  if (lua_isnoneornil(L, index))
    luaL_error(L, "the type is nil: its name is misspelt, or it stands above its definition");
  names_push_value(L, index);
  luaL_error(L, "give what muster.type returned, or a type's name; this is %s", lua_tostring(L, -1));
}

static void types_refuse_name(lua_State *L, const char *name) {
  const script_world *scripts = state_of(L)->scripts;
  const char *names[SCRIPT_TYPES_MAX];
  for (uint32_t i = 0; i < scripts->type_count; i++) names[i] = scripts->types[i].name;
  luaL_error(L, "there is no type '%s'%s", name, names_push_hint(L, name, names, scripts->type_count));
}

uint32_t types_find(lua_State *L, int index) {
  if (lua_type(L, index) == LUA_TTABLE)
    freeze_get(L, index, "name");
  else
    lua_pushvalue(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &types_key);
  lua_insert(L, -2);
  if (lua_type(L, -1) != LUA_TSTRING) refuse_as_type(L, index);
  const char *name = lua_tostring(L, -1);
  if (lua_rawget(L, -2) != LUA_TNUMBER) types_refuse_name(L, name);
  uint32_t number = (uint32_t)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return number;
}

/* A set whose method is not in the type's table, which is on top of the stack. */
static void refuse_set(lua_State *L, const script_type *type, const char *name) {
  const char *names[NAMES_MAX];
  size_t count = names_of_table(L, -1, true, names, 0);
  luaL_error(L, "type '%s': it has no method '%s', which a set names%s", type->name, name,
             names_push_hint(L, name, names, count));
}

/* Keeps a method of the type whose table is on top of the stack. */
static void bind_method(lua_State *L, script_type *type, uint32_t method) {
  script_state *state = state_of(L);
  int *place = &state->methods[type->number][method];
  bool set = method >= METHOD_FIRST_SET;
  const char *name = set ? type->methods[method] : role_methods[method];
  luaL_unref(L, LUA_REGISTRYINDEX, *place);
  *place = LUA_NOREF;
  if (!*name) return;
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    if (set) refuse_set(L, type, name);
    return;
  }
  if (!lua_isfunction(L, -1))
    luaL_error(L, "type '%s': its field '%s' is no function: Muster calls what has this name", type->name, name);
  if (method >= METHOD_SENSE && state->scripts->typed && !(type->bound >> method & 1))
    luaL_error(L, "type '%s': its method '%s' is new: a running world keeps which methods its types have", type->name,
               name);
  if (!state->scripts->typed) type->bound |= 1u << method;
  *place = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void refuse_metatable(lua_State *L, const script_type *type) {
  luaL_error(L,
             "type '%s': its table has a metatable, through which neither Muster nor its agents look: copy what it "
             "shall have, for name, method in pairs(base) do TYPE[name] = method end",
             type->name);
}

void types_bind(lua_State *L) {
  script_world *scripts = state_of(L)->scripts;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &types_key);
  if (lua_rawlen(L, -1) != scripts->type_count)
    luaL_error(L, "the scripts define %d types, before they defined %d: a running world keeps its types",
               (int)lua_rawlen(L, -1), (int)scripts->type_count);
  for (uint32_t i = 0; i < scripts->type_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    if (lua_getmetatable(L, -1)) refuse_metatable(L, &scripts->types[i]);
    for (uint32_t method = 0; method < METHODS; method++) bind_method(L, &scripts->types[i], method);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Finds the texts that the fields' names are in this state: short ones are there but once. */
static void bind_fields(lua_State *L, script_state *state, const script_type *type) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    state->fields[type->number][i] = lua_pushstring(L, type->fields[i]);
    luaL_ref(L, LUA_REGISTRYINDEX); /* for good */
  }
}

void types_bind_agents(lua_State *L) {
  script_state *state = state_of(L);
  types_push_tables(L);
  for (uint32_t i = 0; i < state->scripts->type_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    freeze_open(L, -1);
    calls_add_fields(L);
    atoms_make_metatable(L, i);
    if (!state->fields[i][0]) bind_fields(L, state, &state->scripts->types[i]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

void types_push_tables(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &types_key);
}

void types_begin(lua_State *L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &types_key);
}

/* --------------------------------------------------------------------------------------------------------- register */

/* Puts an atom behind the others when the type has that method. */
static void add_atom(const script_world *scripts, const script_type *type, script_method method, muster_role role,
                     muster_atom *atoms, uint32_t *count) {
  if (scripts->host->methods[type->number][method] == LUA_NOREF) return;
  atoms[(*count)++] = (muster_atom){atoms_of(method), role, (uint32_t)type->cost_ns};
}

/* A type without sets: its first atom begins the update, since the first cannot be cut. */
static uint32_t list_atoms(const script_world *scripts, const script_type *type, muster_atom *atoms) {
  uint32_t count = 0;
  atoms[count++] = (muster_atom){atoms_begin, MUSTER_ROLE_PERCEPTION, 1};
  add_atom(scripts, type, METHOD_SENSE, MUSTER_ROLE_PERCEPTION, atoms, &count);
  add_atom(scripts, type, METHOD_THINK, MUSTER_ROLE_BEHAVIOUR, atoms, &count);
  add_atom(scripts, type, METHOD_ACT, MUSTER_ROLE_ACTION, atoms, &count);
  return count;
}

static muster_result register_one(script_world *scripts, script_type *type) {
  enum { ATOMS = 4 };
  muster_atom atoms[ATOMS], set_atoms[MUSTER_SETS_MAX];
  char name[sizeof scripts->name + sizeof type->name];
  muster_type_def def = type->def;
  snprintf(name, sizeof name, "%s%s%s", scripts->name, *scripts->name ? " " : "", type->name);
  def.name = name;
  def.user = type;
  def.strands.count = scripts->strands;
  def.on_spawned = atoms_spawned;
  def.on_removed = atoms_removed;
  for (uint32_t i = 0; i < def.sets.count; i++) {
    bool acts = type->sets[i].role == MUSTER_ROLE_ACTION;
    set_atoms[i] =
        (muster_atom){acts ? atoms_act_set : atoms_set, (muster_role)type->sets[i].role, (uint32_t)type->cost_ns};
    type->sets[i].atoms = &set_atoms[i];
    type->sets[i].atom_count = 1;
  }
  if (!def.sets.count) {
    def.atoms = atoms;
    def.atom_count = list_atoms(scripts, type, atoms);
  }
  type->id = muster_type_register(scripts->world, &def);
  return type->id.index ? MUSTER_OK : muster_last_result();
}

muster_result types_register_all(script_world *scripts) {
  for (uint32_t i = 0; i < scripts->type_count; i++) {
    muster_result result = register_one(scripts, &scripts->types[i]);
    if (result) return result;
  }
  return MUSTER_OK;
}
