#include "lua/snapshot.h"

#include "lua/atoms.h"
#include "lua/order.h"
#include "lua/values.h"

#include <muster/random.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { TABLES_MAGIC = 0x3161756c, TABLES_ROOM_BYTES = 16 << 20, KEYS_ROOM = 1 << 18, TABLE_LEAST_BYTES = 64 };

/* What stands in table_head.type, with the method's number, before the cuts of an update. */
#define OF_CUTS 0x80000000u

/* Of an update that was cut. */
typedef struct cuts_of {
  uint32_t type, cuts;
} cuts_of;

/* Before each agent's bytes; a null agent is the world's own table, and ends them. */
typedef struct table_head {
  uint64_t agent;
  uint32_t type, bytes;
} table_head;

/* Before all of them. */
typedef struct tables_head {
  uint32_t magic, types;
} tables_head;

/* Room of the process's own, so that nothing is asked of an allocator: the process may have been forked for this. */
typedef struct tables_room {
  values_writer writer;
  order_key *keys;
} tables_room;

static void *map_room(size_t bytes) {
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room == MAP_FAILED ? NULL : room;
}

static void close_room(tables_room *room) {
  if (room->writer.bytes) munmap(room->writer.bytes, TABLES_ROOM_BYTES);
  if (room->writer.tables) munmap((void *)(uintptr_t)room->writer.tables, room->writer.table_room * sizeof(void *));
  if (room->keys) munmap(room->keys, KEYS_ROOM * sizeof *room->keys);
}

static bool open_room(tables_room *room) {
  *room = (tables_room){.writer = {.room = TABLES_ROOM_BYTES, .table_room = TABLES_ROOM_BYTES / TABLE_LEAST_BYTES}};
  room->writer.bytes = map_room(TABLES_ROOM_BYTES);
  room->writer.tables = map_room(room->writer.table_room * sizeof(void *));
  room->keys = map_room(KEYS_ROOM * sizeof *room->keys);
  if (room->writer.bytes && room->writer.tables && room->keys) return true;
  close_room(room);
  return false;
}

/* What a table is written with, inside a protected call. */
struct table_writing {
  values_writer *writer;
  const char *name;
  bool written;
};

static int write_self(lua_State *L) {
  struct table_writing *writing = lua_touserdata(L, 2);
  writing->written = values_write(L, 1, writing->writer, writing->name);
  return 0;
}

/* Writes the table on top of the state's stack, and pops it. */
static bool write_popped(script_state *state, tables_room *room, const char *name) {
  struct table_writing writing = {.writer = &room->writer, .name = name};
  order_key *keys = state->keys;
  uint32_t keys_room = state->keys_room;
  state->keys = room->keys;
  state->keys_room = KEYS_ROOM;
  room->writer.count = room->writer.table_count = 0;
  room->writer.full = false;
  lua_pushcfunction(state->L, write_self);
  lua_insert(state->L, -2);
  lua_pushlightuserdata(state->L, &writing);
  bool called = lua_pcall(state->L, 2, 0, 0) == LUA_OK;
  if (!called) lua_pop(state->L, 1);
  state->keys = keys;
  state->keys_room = keys_room;
  return called && writing.written;
}

/* Takes one table: its head and its bytes. */
typedef bool (*table_taker)(const table_head *head, const unsigned char *bytes, void *user);

static muster_result snapshot_take_agent(script_world *scripts, muster_agent agent, const script_type *type,
                                         tables_room *room, table_taker take, void *user) {
  char name[96];
  script_state *state;
  if (!atoms_push_self(scripts, agent, &state)) return MUSTER_OK;
  snprintf(name, sizeof name, "agent %u.%u of type '%s': self", muster_agent_index(agent),
           muster_agent_generation(agent), type->name);
  if (!write_popped(state, room, name))
    return muster_module_fail(MUSTER_E_INPUT, "%s",
                              room->writer.wrong[0] ? room->writer.wrong : "a table is too large");
  table_head head = {agent.value, type->number, (uint32_t)room->writer.count};
  return take(&head, room->writer.bytes, user) ? MUSTER_OK : MUSTER_E_SYSTEM;
}

/* What the functions of muster.world keep. */
static muster_result take_world(script_world *scripts, tables_room *room, table_taker take, void *user) {
  script_state *host = scripts->host;
  table_head head = {0};
  if (host->world != LUA_NOREF) {
    lua_rawgeti(host->L, LUA_REGISTRYINDEX, host->world);
    if (!write_popped(host, room, "world"))
      return muster_module_fail(MUSTER_E_INPUT, "%s",
                                room->writer.wrong[0] ? room->writer.wrong : "the world's table is too large");
    head.bytes = (uint32_t)room->writer.count;
  }
  return take(&head, room->writer.bytes, user) ? MUSTER_OK : MUSTER_E_SYSTEM;
}

/* How often updates were cut that have not ended. */
static bool take_cuts(const script_world *scripts, table_taker take, void *user) {
  for (uint32_t k = 0; k < scripts->strands; k++) {
    const script_state *state = scripts->states[k];
    for (uint32_t i = 0; state && i < state->suspended_count; i++) {
      const script_suspended *one = &state->suspended[i];
      cuts_of cuts = {one->type->number, one->cuts};
      table_head head = {one->agent.value, OF_CUTS | one->method, sizeof cuts};
      if (!take(&head, (const unsigned char *)&cuts, user)) return false;
    }
  }
  return true;
}

static muster_result take_all(script_world *scripts, const muster_world *world, table_taker take, void *user) {
  tables_room room;
  muster_agent_info info = muster_agent_info_default();
  muster_result result = MUSTER_OK;
  if (!open_room(&room)) return muster_module_fail(MUSTER_E_MEMORY, "no memory to save the scripts' tables");
  muster_agent agent = {0};
  while (!result && !muster_agent_is_null(agent = muster_agent_next(world, agent))) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    const script_type *type = scripts_type(scripts, info.type);
    if (type) result = snapshot_take_agent(scripts, agent, type, &room, take, user);
  }
  if (!result && !take_cuts(scripts, take, user)) result = MUSTER_E_SYSTEM;
  if (!result) result = take_world(scripts, &room, take, user);
  close_room(&room);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- save */

struct tables_saving {
  muster_module_write write;
  void *user;
};

static bool save_table(const table_head *head, const unsigned char *bytes, void *user) {
  const struct tables_saving *saving = user;
  return saving->write(head, sizeof *head, saving->user) &&
         (!head->bytes || saving->write(bytes, head->bytes, saving->user));
}

muster_result snapshot_save_tables(script_world *scripts, const muster_world *world, muster_module_write write,
                                   void *write_user) {
  struct tables_saving saving = {write, write_user};
  const tables_head head = {TABLES_MAGIC, scripts->type_count};
  if (!write(&head, sizeof head, write_user)) return MUSTER_E_SYSTEM;
  return take_all(scripts, world, save_table, &saving);
}

static bool hash_table(const table_head *head, const unsigned char *bytes, void *user) {
  uint64_t *hash = user;
  *hash = muster_random_mix(*hash ^ head->agent);
  for (uint32_t at = 0; at < head->bytes; at += 8) {
    uint64_t part = 0;
    memcpy(&part, bytes + at, head->bytes - at < 8 ? head->bytes - at : 8);
    *hash = muster_random_mix(*hash + part);
  }
  return true;
}

uint64_t snapshot_hash(script_world *scripts, const muster_world *world) {
  uint64_t hash = 1;
  return take_all(scripts, world, hash_table, &hash) == MUSTER_OK ? hash : 0;
}

/* ----------------------------------------------------------------------------------------------------------- resume */

static muster_result damaged_tables(void) {
  return muster_module_fail(MUSTER_E_INPUT, "the scripts' tables are damaged, or of another version");
}

static int read_world(lua_State *L) {
  const table_head *head = lua_touserdata(L, 1);
  values_read(L, lua_touserdata(L, 2), head->bytes);
  luaL_checktype(L, -1, LUA_TTABLE);
  return 1;
}

static muster_result snapshot_resume_world(script_world *scripts, const table_head *head, const unsigned char *bytes) {
  script_state *host = scripts->host;
  if (!head->bytes) return MUSTER_OK;
  lua_pushcfunction(host->L, read_world);
  lua_pushlightuserdata(host->L, (void *)(uintptr_t)head);
  lua_pushlightuserdata(host->L, (void *)(uintptr_t)bytes);
  if (lua_pcall(host->L, 2, 1, 0) == LUA_OK) {
    host->world = luaL_ref(host->L, LUA_REGISTRYINDEX);
    return MUSTER_OK;
  }
  lua_pop(host->L, 1);
  return damaged_tables();
}

static muster_result snapshot_resume_cuts(script_world *scripts, const table_head *head, const unsigned char *bytes) {
  cuts_of cuts;
  if (head->bytes != sizeof cuts) return damaged_tables();
  memcpy(&cuts, bytes, sizeof cuts);
  return atoms_restore_cuts(scripts, (muster_agent){head->agent}, cuts.type, head->type & ~OF_CUTS, cuts.cuts)
             ? MUSTER_OK
             : damaged_tables();
}

static muster_result snapshot_resume_agent(script_world *scripts, const table_head *head, const unsigned char *bytes) {
  if (head->type & OF_CUTS) return snapshot_resume_cuts(scripts, head, bytes);
  if (head->type >= scripts->type_count) return damaged_tables();
  return atoms_restore(scripts, (muster_agent){head->agent}, head->type, bytes, head->bytes) ? MUSTER_OK
                                                                                             : muster_last_result();
}

muster_result snapshot_resume_tables(script_world *scripts, const void *bytes, size_t count) {
  const unsigned char *at = bytes, *end = at + count;
  tables_head all;
  if (count < sizeof all) return damaged_tables();
  memcpy(&all, at, sizeof all);
  at += sizeof all;
  if (all.magic != TABLES_MAGIC) return damaged_tables();
  if (all.types != scripts->type_count)
    return muster_module_fail(MUSTER_E_INPUT,
                              "the scripts define %u types, and when the world was saved they defined %u",
                              scripts->type_count, all.types);
  for (table_head head;; at += head.bytes) {
    if ((size_t)(end - at) < sizeof head) return damaged_tables();
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if ((size_t)(end - at) < head.bytes) return damaged_tables();
    if (!head.agent) return at + head.bytes == end ? snapshot_resume_world(scripts, &head, at) : damaged_tables();
    muster_result result = snapshot_resume_agent(scripts, &head, at);
    if (result) return result;
  }
}
