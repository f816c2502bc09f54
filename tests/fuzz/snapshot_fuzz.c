/* snapshot_fuzz.c - any bytes are either a snapshot that a world goes on from, or one message and a world that is as
 * new.
 *
 * With libFuzzer (-fsanitize=fuzzer) this is a fuzzer; with replay.c it is a test. The first byte chooses what the
 * others are: a snapshot, a file of snapshots, or changes to a good snapshot whose checksums are made right again,
 * since no fuzzer would find those: section (1 byte), width of the value (1), where (2), value (4). */
#include "base/chunks.h"
#include "service/snapshot_file.h"
#include "snapshot/snapshot.h"
#include "world/world_sound.h"

#include <muster/herd.h>
#include <muster/sets.h>
#include <muster/snapshot.h>
#include <muster/tune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { BYTES_MAX = 1 << 20, CHANGE_BYTES = 8, AGENTS = 24, HERDS = 16, FRAME_NS = 10000000 };

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "snapshot_fuzz: broken: %s; the message was: %s\n", what, muster_last_error());
  abort();
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

static muster_atom_result live(muster_update *update) {
  uint64_t random = muster_update_random(update);
  muster_neighbour near[2];
  muster_position to = update->position;
  to.x += (double)(random % 9) - 4.0;
  muster_update_move(update, to);
  uint32_t count = muster_update_nearby(update, 20.0f, (muster_type){0}, near, 2);
  if (count) muster_update_send(update, near[0].agent, &random, 8);
  if (random % 8 == 0) muster_update_wake_at(update, update->agent, update->now_ns + random % 100000000u);
  if (random % 8 == 1) muster_update_react_by(update, update->now_ns + 50000000u);
  if (count && random % 8 == 2) muster_update_link(update, near[0].agent);
  return MUSTER_ATOM_NEXT;
}

static void drop(muster_log_level level, const char *message, void *user) {
  (void)level, (void)message, (void)user;
}

static void register_types(muster_world *world) {
  static const muster_atom atoms[] = {
      {live, MUSTER_ROLE_PERCEPTION, 20000}, {live, MUSTER_ROLE_BEHAVIOUR, 20000}, {live, MUSTER_ROLE_ACTION, 5000}};
  muster_type_def type = muster_type_def_default();
  type.atoms = atoms;
  type.atom_count = 3;
  type.state_bytes = type.published_bytes = 8;
  type.messages.waiting_max = 2;
  type.messages.bytes_max = 8;
  type.messages.sends_max = 2;
  type.spawns_max = 1;
  type.period_ns = 3 * FRAME_NS;
  type.period_max_ns = 9 * FRAME_NS;
  type.levels.count = 3;
  type.limit_ns = 10000;
  type.overruns.demote = 2;
  muster_type_register(world, &type);
  type.name = "called";
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  type.messages.wake = true;
  muster_type_register(world, &type);
  muster_set_def sets[2] = {muster_set_def_default(), muster_set_def_default()};
  for (int i = 0; i < 2; i++) {
    sets[i].atoms = atoms + i;
    sets[i].atom_count = 1;
    sets[i].period_updates = 1 + (uint32_t)i;
  }
  type.name = "setter";
  type.elapsed.contract = MUSTER_ELAPSED_DELTA;
  type.atoms = NULL;
  type.atom_count = 0;
  type.sets.list = sets;
  type.sets.count = 2;
  type.sets.slice_ns = 25000;
  muster_type_register(world, &type);
}

static muster_atom_result graze(muster_update *update) {
  muster_herd_body *body = update->published;
  body->velocity_x = (float)(muster_update_random(update) % 5) - 2.0f;
  return MUSTER_ATOM_NEXT;
}

static void register_herds(muster_world *world) {
  static const muster_atom atom = {graze, MUSTER_ROLE_BEHAVIOUR, 5000};
  muster_type_def type = muster_type_def_default();
  muster_herd_type_def herds = muster_herd_type_def_default();
  type.name = "grazer";
  type.atoms = &atom;
  type.atom_count = 1;
  type.state_bytes = 8;
  type.published_bytes = 16;
  type.period_ns = 3 * FRAME_NS;
  herds.member = muster_type_register(world, &type);
  herds.depth = 2;
  herds.totals = 1;
  herds.retains = true;
  herds.herds_max = HERDS;
  herds.unfolded_max = 4;
  herds.period_ns = 5 * FRAME_NS;
  herds.look_ns = 2 * FRAME_NS;
  herds.hold_ns = 3 * FRAME_NS;
  require(muster_herd_type_register(world, &herds).index > 0, "herds can be registered");
}

static muster_world *new_world(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = 300000;
  def.limits.agents_max = 64;
  def.limits.types_max = 6;
  def.limits.observers_max = 4;
  def.limits.commands_max = 64;
  def.limits.sends_per_frame = 256;
  def.importance_model = MUSTER_IMPORTANCE_FACTORS;
  def.activation_delay = 3;
  def.levels.pressure = 0.5f;
  def.log.write = drop;
  muster_world *world = muster_world_create(&def);
  require(world, "a world can be created");
  register_types(world);
  register_herds(world);
  return world;
}

/* Whatever the build: in debug builds every frame ends with this, too. */
static void require_sound(const muster_world *world, const char *when) {
  soundness found = {0};
  if (world_is_sound(world, WORLD_RESTS, &found) && world_ids_are_sound(world, &found)) return;
  fprintf(stderr, "snapshot_fuzz: broken: %s, the world is not sound: %s\n", when, found.trouble);
  abort();
}

static void run_frames(muster_world *world, uint64_t now_ns, int frames) {
  for (int i = 0; i < frames; i++) {
    now_ns += FRAME_NS;
    require(muster_frame_run(world, &(muster_frame){now_ns, 1000000}) == MUSTER_OK, "a frame can be run");
    require_sound(world, "after a frame");
  }
}

/* ------------------------------------------------------------------------------------------------ the good snapshot */

struct buffer {
  unsigned char bytes[BYTES_MAX];
  size_t count;
};

static bool keep(const void *bytes, size_t count, void *user) {
  struct buffer *buffer = user;
  if (count > BYTES_MAX - buffer->count) return false;
  memcpy(buffer->bytes + buffer->count, bytes, count);
  buffer->count += count;
  return true;
}

static void make_good(struct buffer *good) {
  muster_world *world = new_world();
  muster_agent_def agent = muster_agent_def_default();
  muster_observer_def observer = muster_observer_def_default();
  for (uint32_t i = 0; i < AGENTS; i++) {
    agent.type.index = 1 + i % 3;
    agent.position.x = 3.0 * i;
    muster_agent_wake(world, muster_agent_spawn(world, &agent));
  }
  for (uint32_t i = 0; i < HERDS - 4; i++) {
    muster_herd_def herd = {.position.x = 12.0 * i, .members = 1 + i % 4, .totals = {3.0f}};
    require(muster_herds_add(world, (muster_herd_type){1}, &herd, 1, NULL) == 1, "a herd can be added");
  }
  observer.far_m = 50;
  muster_observer_add(world, &observer);
  run_frames(world, 0, 30);
  for (uint32_t i = 0; i < HERDS - 4; i += 3) muster_herd_wake(world, muster_herd_make(i, 1), i);
  muster_herd_name(world, muster_herd_make(4, 1), 0);
  run_frames(world, 30 * FRAME_NS, 10);
  muster_herd_wake(world, muster_herd_make(5, 1), 1);
  muster_herd_remove(world, muster_herd_make(6, 1));
  muster_agent_spawn(world, &agent);
  muster_agent_remove(world, muster_agent_next(world, (muster_agent){0}));
  muster_agent_wake(world, muster_agent_next(world, muster_agent_make(4, 0)));
  observer.position.x = 40;
  muster_observer_add(world, &observer);
  muster_save_def def = muster_save_def_default();
  def.write = keep;
  def.user = good;
  require(muster_world_save(world, &def) == MUSTER_OK, "a world can be saved");
  muster_world_destroy(world);
}

/* Its sections, one after the other. */
struct snapshot_parts {
  chunks_format format;
  unsigned char bytes[BYTES_MAX];
  size_t begin[SNAPSHOT_SECTIONS + 1];
};

static void take_apart(const struct buffer *good, struct snapshot_parts *parts) {
  chunk_reader reader;
  size_t at = 0;
  memcpy(parts->format.magic, good->bytes, sizeof parts->format.magic);
  memcpy(&parts->format.version, good->bytes + 8, 4);
  memcpy(&parts->format.layout, good->bytes + 12, 4);
  parts->format.name = "snapshot";
  require(chunks_read_from(&reader, &parts->format, good->bytes, good->count) == MUSTER_OK, "a snapshot is a stream");
  for (uint32_t section = SNAPSHOT_HEAD; section < SNAPSHOT_SECTIONS; section++) {
    parts->begin[section] = at;
    require(chunks_enter(&reader, section), "a snapshot has all sections");
    while (!chunks_is_read(&reader)) chunks_take(&reader, &parts->bytes[at++], 1);
  }
  parts->begin[SNAPSHOT_SECTIONS] = at;
}

static void change(const struct snapshot_parts *parts, unsigned char *bytes, const uint8_t change[CHANGE_BYTES]) {
  uint32_t section = SNAPSHOT_HEAD + change[0] % (SNAPSHOT_SECTIONS - SNAPSHOT_HEAD), width = 1u << change[1] % 4;
  size_t length = parts->begin[section + 1] - parts->begin[section], at = (size_t)change[2] << 8 | change[3];
  unsigned char value[8] = {change[4], change[5], change[6], change[7]};
  if (change[7] & 128) memset(value + 4, 255, 4); /* negative ones, and numbers that are not */
  if (length < width) return;
  memcpy(bytes + parts->begin[section] + at % (length - width + 1), value, width);
}

/* ----------------------------------------------------------------------------------------------------------- inputs */

/* `sure`: it must load. */
static void load(const void *bytes, size_t count, bool sure) {
  muster_world *world = new_world();
  muster_load_def def = muster_load_def_default();
  muster_snapshot_info info = muster_snapshot_info_default();
  def.bytes = bytes;
  def.count = count;
  muster_result result = muster_world_load(world, &def);
  require(!sure || result == MUSTER_OK, "a snapshot that nobody changed is loaded");
  if (result) {
    require(result == MUSTER_E_INPUT, "a bad snapshot is bad input");
    require(strncmp(muster_last_error(), "snapshot: ", 10) == 0, "messages name the snapshot");
    require(muster_world_hash(world) == 0, "nothing is half-loaded");
    require_sound(world, "after a refusal");
    run_frames(world, 0, 1);
  } else {
    require(muster_snapshot_look(bytes, count, &info) == MUSTER_OK, "what can be loaded can be looked at");
    require_sound(world, "as it was loaded");
    run_frames(world, info.sim_now_ns, 3);
  }
  muster_world_destroy(world);
}

static void load_changed(const struct snapshot_parts *parts, const uint8_t *changes, size_t count) {
  static unsigned char changed[BYTES_MAX], space[4096];
  static struct buffer sealed;
  chunk_writer writer;
  memcpy(changed, parts->bytes, parts->begin[SNAPSHOT_SECTIONS]);
  for (size_t left = count; left >= CHANGE_BYTES; left -= CHANGE_BYTES, changes += CHANGE_BYTES)
    change(parts, changed, changes);
  sealed.count = 0;
  chunks_write_to(&writer, &parts->format, keep, &sealed, space, sizeof space);
  for (uint32_t section = SNAPSHOT_HEAD; section < SNAPSHOT_SECTIONS; section++) {
    chunks_begin(&writer, section);
    chunks_put(&writer, changed + parts->begin[section], parts->begin[section + 1] - parts->begin[section]);
  }
  require(chunks_finish(&writer), "it has room");
  load(sealed.bytes, sealed.count, count < CHANGE_BYTES);
}

static void read_file(const uint8_t *data, size_t bytes) {
  struct snapshot_file file;
  if (snapshot_file_read(&file, data, bytes) != MUSTER_OK) return;
  for (uint32_t i = 0; i < file.world_count; i++) free(file.worlds[i].state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  static struct buffer good;
  static struct snapshot_parts parts;
  if (!good.count) {
    make_good(&good);
    take_apart(&good, &parts);
  }
  if (bytes == 0) return 0;
  if (data[0] == 'w')
    load(data + 1, bytes - 1, false);
  else if (data[0] == 'f')
    read_file(data + 1, bytes - 1);
  else
    load_changed(&parts, data + 1, bytes - 1);
  return 0;
}
