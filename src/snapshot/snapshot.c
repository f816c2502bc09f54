/* snapshot.c - muster/snapshot.h: what may be saved and loaded, the head, and the sections in order. */
#include "snapshot/snapshot.h"
#include "snapshot/prepare.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "herds/herds.h"
#include "observe/report.h"
#include "plan/overrun_table.h"
#include "record/recorder.h"
#include "world/frame_state.h"
#include "world/guard.h"
#include "world/tune.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_zone.h"

#include <muster/herd.h>
#include <muster/snapshot.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER_BYTES = 65536 };

static snapshot_part exchange_head;

/* The sections in order, by number. */
static const struct section {
  const char *name;
  snapshot_part *exchange;
} sections[] = {{NULL, NULL},
                {"head", exchange_head},
                {"types", snapshot_types},
                {"classes", snapshot_classes},
                {"ids", snapshot_ids},
                {"zone", snapshot_zone},
                {"agents", snapshot_agents},
                {"grid", snapshot_grid},
                {"ready", snapshot_ready},
                {"timers", snapshot_timers},
                {"observers", snapshot_observers},
                {"score", snapshot_score},
                {"company", snapshot_companions},
                {"queues", snapshot_queues},
                {"overruns", snapshot_overruns},
                {"learnt", snapshot_learnt},
                {"herds", snapshot_herds},
                {"folds", snapshot_folds}};

_Static_assert(sizeof sections / sizeof *sections == SNAPSHOT_SECTIONS, "each number has its section");

static const char *snapshot_name_of_section(uint32_t section) {
  static const char *const alone[] = {"the agent", "the ghosts", "the herd", "the observer"};
  return section < SNAPSHOT_SECTIONS ? sections[section].name : alone[section - SNAPSHOT_SECTIONS];
}

/* Structures stand in a snapshot as they are in memory: a library with other structures must not read it. */
static chunks_format snapshot_format_of(void) {
  static const size_t sizes[] = {sizeof(agent_row),
                                 sizeof(agent_place),
                                 sizeof(agent_begun),
                                 sizeof(agent_alarm),
                                 sizeof(set_state),
                                 sizeof(set_pass),
                                 sizeof(struct message_head),
                                 sizeof(struct command),
                                 sizeof(observer_row),
                                 sizeof(field_tile),
                                 sizeof(cost_estimate),
                                 sizeof(frame_experience),
                                 sizeof(type_overruns),
                                 sizeof(struct overrun_entry),
                                 sizeof(activation_reservation),
                                 sizeof(struct shedding),
                                 sizeof(activation_share),
                                 sizeof(zone_row),
                                 sizeof(zone_outgoing)};
  return (chunks_format){.name = "snapshot",
                         .magic = {'M', 'U', 'S', 'N', 'A', 'P', 'S', '\n'},
                         .version = SNAPSHOT_VERSION,
                         .layout = chunks_layout(sizes, sizeof sizes / sizeof *sizes)};
}

/* --------------------------------------------------------------------------------------------------------- exchange */

void snapshot_exchange(struct snapshot *snapshot, void *value, size_t bytes) {
  if (snapshot_saves(snapshot))
    chunks_put(&snapshot->writer, value, bytes);
  else
    chunks_take(&snapshot->reader, value, bytes);
}

void snapshot_exchange_own(struct snapshot *snapshot, void *value, size_t bytes) {
  snapshot_exchange(snapshot, snapshot_checks(snapshot) ? NULL : value, bytes);
}

uint32_t snapshot_number(struct snapshot *snapshot, uint32_t number) {
  snapshot_exchange(snapshot, &number, sizeof number);
  return number;
}

/* Other checks may follow, which set the last error: the reason is kept here until the end. */
void snapshot_expect(struct snapshot *snapshot, bool holds, const char *format, ...) {
  char what[192];
  va_list arguments;
  if ((holds && !snapshot->column) || snapshot_saves(snapshot)) return;
  ASSERT(snapshot_checks(snapshot)); /* what passed the check is not refused when it is taken */
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(snapshot->trouble, sizeof snapshot->trouble, "offset %zu, %s: %s%s%s", snapshot->reader.at,
           snapshot_name_of_section(snapshot->reader.section), what, snapshot->column ? ": its " : "",
           snapshot->column ? snapshot->column : "");
  longjmp(snapshot->refused, 1);
}

void snapshot_same(struct snapshot *snapshot, const field_row *field, const void *own, const char *what,
                   const char *name) {
  unsigned char saved[sizeof(uint64_t)];
  char is[FIELD_WORDS], was[FIELD_WORDS];
  ASSERT(field_bytes(field) <= sizeof saved);
  memcpy(saved, own, field_bytes(field));
  snapshot_exchange(snapshot, saved, field_bytes(field));
  snapshot_expect(snapshot, memcmp(saved, own, field_bytes(field)) == 0,
                  name ? "%s '%s': its %s is %s, in the snapshot it was %s"
                       : "%s%s's %s is %s, that of the snapshot was %s",
                  what, name ? name : "", field->name, field_words(field, own, is), field_words(field, saved, was));
}

void snapshot_shape(struct snapshot *snapshot, const char *what, uint32_t number, const char *name, size_t bytes,
                    const field_row *fields, const void *object) {
  char saved[32];
  ASSERT(bytes <= sizeof saved);
  memcpy(saved, name, bytes);
  snapshot_exchange(snapshot, saved, bytes);
  saved[bytes - 1] = '\0';
  snapshot_expect(snapshot, strcmp(saved, name) == 0, "%s %u is '%s', in the snapshot it was '%s'", what, number + 1,
                  name, saved);
  for (const field_row *field = fields; field->name; field++)
    if (field->uses & FIELD_SAME)
      snapshot_same(snapshot, field, (const unsigned char *)object + field->offset, what, name);
}

uint32_t snapshot_count(struct snapshot *snapshot, uint32_t count, uint32_t most, const char *what) {
  count = snapshot_number(snapshot, count);
  snapshot_expect(snapshot, count <= most, "%u %s; there is room for %u", count, what, most);
  return count;
}

uint32_t snapshot_count_own(struct snapshot *snapshot, uint32_t *own, uint32_t most, const char *what) {
  uint32_t count = snapshot_count(snapshot, *own, most, what);
  if (snapshot_loads(snapshot)) *own = count;
  return count;
}

void snapshot_expect_agent(struct snapshot *snapshot, uint32_t index) {
  snapshot_expect(snapshot, index < snapshot->high, "agent %u is none of %u", index, snapshot->high);
}

void snapshot_tie(struct snapshot *snapshot, uint32_t index, uint32_t type, const char *what) {
  ASSERT(snapshot_checks(snapshot));
  snapshot_expect_agent(snapshot, index);
  const agent_row *row = &snapshot->rows[index];
  bool fits = (row->generation & 1) && snapshot_is_active(row) && row->type == type &&
              !(snapshot->marks[index] & SNAPSHOT_TIED);
  snapshot_expect(snapshot, fits, "agent %u cannot be %s", index, what);
  snapshot->marks[index] |= SNAPSHOT_TIED;
}

void snapshot_mark(struct snapshot *snapshot, uint32_t index, uint16_t mark, const char *where) {
  ASSERT(snapshot_checks(snapshot) && mark && !(mark & (mark - 1)));
  snapshot_expect_agent(snapshot, index);
  snapshot_expect(snapshot, !(snapshot->marks[index] & mark), "agent %u is twice in %s", index, where);
  snapshot->marks[index] |= mark;
}

/* ------------------------------------------------------------------------------------------------------------- head */

/* What is live in the definition may have been tuned, and is taken; the rest of what a snapshot tells must be alike. */
static void exchange_fields(struct snapshot *snapshot, muster_world_def *def) {
  for (const field_row *field = fields_world; field->name; field++) {
    unsigned char *own = (unsigned char *)def + field->offset;
    if (field->tuned || field->uses & FIELD_BROUGHT)
      snapshot_exchange(snapshot, own, field_bytes(field));
    else if (field->uses & FIELD_SAME)
      snapshot_same(snapshot, field, own, "the world", NULL);
  }
}

static void exchange_definition(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  muster_world_def def = world->def;
  exchange_fields(snapshot, &def);
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, tune_check_def(&def) == MUSTER_OK, "weights that no world can have");
  if (!snapshot_loads(snapshot)) return;
  world->def = def;
  ready_reweigh(&world->queues->ready, &world->agents.store, &world->def);
  world->score->board.rule = grade_rule_of(&world->def);
  world->plan->periods.wish_part = (double)world->def.importance.wish_part;
  world->score->factor_weights =
      (importance_weights){def.importance.focus, def.importance.designer, def.importance.role, def.importance.company};
}

static uint32_t count_observers(const struct muster_world *world) {
  uint32_t present = 0;
  for (uint32_t i = 0; i < world->observers->table.high; i++) present += world->observers->table.rows[i].present;
  return present;
}

static void exchange_head(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  snapshot_exchange(snapshot, &snapshot->info, sizeof snapshot->info);
  const muster_snapshot_info *info = &snapshot->info;
  snapshot_expect(snapshot, info->frames < UINT64_MAX / 2 && info->sim_now_ns <= (uint64_t)INT64_MAX / 2,
                  "no world has run %llu frames", (unsigned long long)info->frames);
  exchange_definition(snapshot);
  if (!snapshot_loads(snapshot)) return;
  ASSERT(world->frames == 0 && !world->commit->open);
  world->frames = info->frames;
  world->last_now_ns = info->sim_now_ns;
  world->frame->number = info->frames; /* calls between frames look at the last frame's number */
  world->frame->now_ns = info->sim_now_ns;
}

static void snapshot_describe(const struct muster_world *world, bool hashed, muster_snapshot_info *info) {
  *info = (muster_snapshot_info){.size = (uint32_t)sizeof *info,
                                 .types = world->agents.types.count,
                                 .agents = world->agents.store.active_count,
                                 .spawns = spawn_queue_count(&world->commands->queues.spawns),
                                 .observers = count_observers(world),
                                 .frames = world->frames,
                                 .sim_now_ns = world->last_now_ns,
                                 .seed = world->def.seed,
                                 .hash = hashed ? world_hash(world) : 0};
}

/* --------------------------------------------------------------------------------------------------------- sections */

static void exchange_all(struct snapshot *snapshot) {
  for (uint32_t section = SNAPSHOT_HEAD; section < SNAPSHOT_SECTIONS; section++) {
    if (snapshot_saves(snapshot)) {
      chunks_begin(&snapshot->writer, section);
    } else if (!chunks_enter(&snapshot->reader, section)) {
      snprintf(snapshot->trouble, sizeof snapshot->trouble, "offset %zu: the section '%s' is missing",
               snapshot->reader.at, sections[section].name);
      longjmp(snapshot->refused, 1);
    }
    sections[section].exchange(snapshot);
    snapshot_expect(snapshot, chunks_is_read(&snapshot->reader), "the section is longer or shorter than what is in it");
  }
}

bool snapshot_go_through(struct snapshot *snapshot, snapshot_part *part) {
  if (setjmp(snapshot->refused)) return false;
  part(snapshot);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static muster_result snapshot_check_world(const muster_world *world, const char *what) {
  muster_result result = guard_between_here(world, what);
  if (result) return result;
  if (world_is_planned(world))
    return error_set(MUSTER_E_STATE, "%s: not a world with planner_workers: its host knows what it runs", what);
  if (recorder_replays(world->recorder) && !world->recorder->loads)
    return error_set(MUSTER_E_STATE, "%s: not a world that replays", what);
  return MUSTER_OK;
}

uint64_t muster_world_settles(const muster_world *world) {
  return guard_any(world, "world settles") ? 0 : world->settles;
}

muster_result muster_world_settle(muster_world *world) {
  muster_result result = guard_between_here(world, "settle");
  if (!result && recorder_replays(world->recorder) && !world->recorder->loads)
    result = error_set(MUSTER_E_STATE, "settle: not a world that replays");
  if (result) return result;
  uint64_t begin_ns = clock_now(world->clock);
  if (recorder_records(world->recorder)) recorder_put_tag(world->recorder, TAG_SETTLED);
  snapshot_prepare(world);
  if (!world_is_virtual(world)) world->sums->prepaid_ns += clock_now(world->clock) - begin_ns;
  return MUSTER_OK;
}

static muster_result snapshot_save(muster_world *world, const muster_save_def *given, bool hashed) {
  if (!world) return error_missing("save", "world");
  muster_save_def def = muster_save_def_default();
  muster_result result = sized_read(SIZED(save_def), given, &def);
  if (result) return result;
  if (!def.write) return error_set(MUSTER_E_ARGUMENT, "save: write must be given");
  result = snapshot_check_world(world, "save");
  if (!result) result = muster_world_settle(world);
  if (result) return result;
  ASSERT(!world->commit->open && world->links->mailbox.sender_count == 0);
  unsigned char buffer[BUFFER_BYTES];
  const chunks_format format = snapshot_format_of();
  struct snapshot snapshot = {.world = world, .mode = SNAPSHOT_SAVES, .save = &def, .rows = world->agents.store.rows};
  snapshot.indices = world->plan->periods.agents;
  snapshot.high = identity_high(&world->agents.ids);
  snapshot_describe(world, hashed, &snapshot.info);
  enum occupation before = guard_hold(world);
  chunks_write_to(&snapshot.writer, &format, def.write, def.user, buffer, sizeof buffer);
  snapshot_go_through(&snapshot, exchange_all);
  bool written = chunks_finish(&snapshot.writer);
  guard_release(world, before);
  if (!written) return error_set(MUSTER_E_SYSTEM, "save: a write was refused");
  return MUSTER_OK;
}

muster_result muster_world_save(muster_world *world, const muster_save_def *def) {
  return snapshot_save(world, def, true);
}

muster_result snapshot_save_unhashed(muster_world *world, const muster_save_def *def) {
  return snapshot_save(world, def, false);
}

muster_result muster_snapshot_look(const void *bytes, size_t count, muster_snapshot_info *info) {
  if (!bytes) return error_set(MUSTER_E_ARGUMENT, "snapshot: its bytes must be given");
  const chunks_format format = snapshot_format_of();
  chunk_reader reader;
  muster_snapshot_info whole;
  muster_result result = sized_check(SIZED(snapshot_info), info);
  if (!result) result = chunks_read_from(&reader, &format, bytes, count);
  if (result) return result;
  bool entered = chunks_enter(&reader, SNAPSHOT_HEAD);
  if (entered) chunks_take(&reader, &whole, sizeof whole);
  if (!entered || reader.failed)
    return error_set(MUSTER_E_INPUT, "snapshot: offset %zu: the head is missing", reader.at);
  return sized_write(SIZED(snapshot_info), &whole, info);
}

static muster_result snapshot_check_new(const muster_world *world) {
  if (world->frames || identity_high(&world->agents.ids) || identity_high(&world->observers->ids) ||
      ring_count(&world->commands->queues.tunings))
    return error_set(MUSTER_E_STATE, "load: only into a new world, before anything is spawned and any frame is run");
  return MUSTER_OK;
}

static void reserve_herds(struct snapshot *snapshot, struct arena *arena) {
  const herd_table *table = &snapshot->world->herds->table;
  ASSERT(table->count <= MUSTER_HERD_TYPES_MAX);
  for (uint32_t i = 0; i < table->count; i++) {
    const struct herd_type *type = &table->types[i];
    snapshot_herd_pool *pool = &snapshot->pools[i];
    ARENA_ARRAY(arena, pool->homes, (size_t)type->blocks_max * MUSTER_HERD_BLOCK);
    ARENA_ARRAY(arena, pool->claims, type->def.unfolded_max);
    ARENA_ARRAY(arena, pool->entries, type->def.unfolded_max);
    ARENA_ARRAY(arena, pool->nexts, type->def.unfolded_max);
    ARENA_ARRAY(arena, pool->firsts, type->blocks_max);
  }
}

/* Reserves what the check remembers. */
static bool snapshot_reserve(struct snapshot *snapshot, struct arena *arena) {
  const muster_world_def *def = &snapshot->world->def;
  if (arena_create(arena, &def->allocator)) return false;
  ARENA_ARRAY(arena, snapshot->rows, def->limits.agents_max);
  ARENA_ARRAY(arena, snapshot->indices, def->limits.agents_max);
  ARENA_ARRAY(arena, snapshot->marks, def->limits.agents_max);
  ARENA_ARRAY(arena, snapshot->types, UINT16_MAX);
  ARENA_ARRAY(arena, snapshot->members, UINT16_MAX);
  ARENA_ARRAY(arena, snapshot->observers, def->limits.observers_max);
  if (snapshot->world->zone) ARENA_ARRAY(arena, snapshot->ghost_bits, bits_words(def->limits.agents_max));
  uint32_t keys = def->limits.types_max * MUSTER_LEVELS * ELASTICITY_STEPS;
  ARENA_ARRAY(arena, snapshot->seen, bits_words(keys));
  reserve_herds(snapshot, arena);
  return !arena->failed;
}

static muster_result snapshot_load(struct snapshot *snapshot) {
  ASSERT(snapshot_checks(snapshot));
  if (!snapshot_go_through(snapshot, exchange_all)) return error_set(MUSTER_E_INPUT, "snapshot: %s", snapshot->trouble);
  struct muster_world *world = snapshot->world;
  chunks_rewind(&snapshot->reader);
  snapshot->mode = SNAPSHOT_LOADS;
  snapshot->rows = world->agents.store.rows;
  bool loaded = snapshot_go_through(snapshot, exchange_all);
  ASSERT(loaded);
  changes_forget(&world->agents.store.changes); /* no reader has seen what is there now */
  return loaded ? MUSTER_OK : MUSTER_E_INPUT;
}

muster_result muster_world_load(muster_world *world, const muster_load_def *given) {
  if (!world) return error_missing("load", "world");
  muster_load_def def = muster_load_def_default();
  muster_result result = sized_read(SIZED(load_def), given, &def);
  if (result) return result;
  if (!def.bytes) return error_set(MUSTER_E_ARGUMENT, "load: the snapshot must be given");
  result = snapshot_check_world(world, "load");
  if (!result) result = snapshot_check_new(world);
  if (result) return result;
  const chunks_format format = snapshot_format_of();
  struct snapshot snapshot = {.world = world, .mode = SNAPSHOT_CHECKS, .load = &def};
  struct arena arena = {0};
  result = chunks_read_from(&snapshot.reader, &format, def.bytes, def.count);
  enum occupation before = guard_hold(world);
  if (!result) result = snapshot_reserve(&snapshot, &arena) ? snapshot_load(&snapshot) : MUSTER_E_MEMORY;
  guard_release(world, before);
  arena_destroy(&arena);
  return result;
}
