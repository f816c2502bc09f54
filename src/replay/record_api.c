/* record_api.c - muster/record.h: begins and ends recordings. */
#include "agents/mailbox.h"
#include "base/assert.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "observe/report.h"
#include "record/recorder_fields.h"
#include "replay/records.h"
#include "run/intake_queues.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_observers.h"
#include "world/world_record.h"

#include <muster/record.h>
#include <muster/snapshot.h>
#include <muster/tune.h>
#include <stdio.h>
#include <string.h>

/* Structures stand in a record as they are in memory: a library with other structures must not read it. */
uint32_t records_layout(void) {
  static const size_t sizes[] = {
      sizeof(struct command),      sizeof(outgoing),           sizeof(agent_place), sizeof(batch_entry),
      sizeof(muster_frame_report), sizeof(frame_experience),   sizeof(agent_row),   sizeof(muster_type_def),
      sizeof(muster_world_def),    sizeof(muster_world_tuning)};
  return chunks_layout(sizes, sizeof sizes / sizeof *sizes);
}

muster_result records_check_world(const muster_world *world, const char *what) {
  muster_result result = guard_between_here(world, what);
  if (result) return result;
  if (world_is_planned(world))
    return error_set(MUSTER_E_STATE, "%s: not in a world with planner_workers: its host knows what it ran", what);
  if (recorder_records(world->recorder) || recorder_replays(world->recorder))
    return error_set(MUSTER_E_STATE, "%s: this world records or replays already", what);
  return MUSTER_OK;
}

bool records_is_new(const muster_world *world) {
  return !world->frames && !identity_high(&world->agents.ids) && !identity_high(&world->observers->ids) &&
         !world->herds->table.count;
}

/* How far a pass comes depends on time, and is not in a record. */
static muster_result check_types(const muster_world *world) {
  for (uint32_t i = 0; i < world->agents.types.count && !world_is_virtual(world); i++)
    if (world->agents.types.types[i].has_sets)
      return error_set(MUSTER_E_STATE, "record: type '%s' has sets: they are recorded under the virtual clock only",
                       world->agents.types.types[i].name);
  return MUSTER_OK;
}

static muster_result check_record(const muster_record_def *def) {
  if (!def->write) return error_set(MUSTER_E_ARGUMENT, "record: write must be given");
  if (def->buffer_bytes < 65536u || def->buffer_bytes > (size_t)1 << 40)
    return error_set(MUSTER_E_ARGUMENT, "record: buffer_bytes %zu must be 64 KiB .. 1 TiB", def->buffer_bytes);
  if (def->note_bytes > def->buffer_bytes / 2 || (def->note_bytes && !def->note))
    return error_set(MUSTER_E_ARGUMENT, "record: note_bytes %u must be at most half of the buffer, and given",
                     def->note_bytes);
  return MUSTER_OK;
}

/* Memory for a recorder; null with the reason when there is no memory. */
static struct recorder *reserve(muster_world *world) {
  struct recorder *recorder = arena_reserve(&world->arena, 1, sizeof *recorder);
  world->arena.failed = false;
  return recorder;
}

static void record_api_put_head(muster_world *world, struct recorder *recorder) {
  tape_put_number(&recorder->tape, world->runner->workers);
  tape_put_number(&recorder->tape, world->runner->state_count);
  fields_exchange_world(&recorder->tape, &world->def);
  tape_put_number(&recorder->tape, recorder->def.note_bytes);
  tape_put(&recorder->tape, recorder->def.note, recorder->def.note_bytes);
  tape_put_number(&recorder->tape, recorder->journal.on ? RECORD_OF_JOURNAL : !records_is_new(world));
  tape_put_number(&recorder->tape, world->frames);
  tape_put_number(&recorder->tape, recorder->frames);
  uint64_t chain = recorder->tape.checksum; /* 0 in the first file */
  tape_put(&recorder->tape, &chain, sizeof chain);
}

static bool put_some(const void *bytes, size_t count, void *user) {
  struct recorder *recorder = user;
  tape_put(&recorder->tape, bytes, count);
  return !recorder->tape.failed;
}

/* In a snapshot the name 0 says that there is no pointer. */
static uint64_t record_api_name_of_user(muster_agent agent, void *agent_user, void *user) {
  struct recorder *recorder = user;
  const muster_record_def *def = &recorder->def;
  uint64_t name = def->name_user ? def->name_user(agent, agent_user, def->user) : 1;
  if (!name && !recorder->trouble[0])
    snprintf(recorder->trouble, sizeof recorder->trouble,
             "name_user gave the user pointer of agent %u the name 0, which is that of none",
             muster_agent_index(agent));
  return name;
}

/* Puts a snapshot of the world as it is now. */
static muster_result put_snapshot(muster_world *world, struct recorder *recorder) {
  muster_save_def save = muster_save_def_default();
  save.write = put_some;
  save.name_user = record_api_name_of_user;
  save.user = recorder;
  muster_result result = muster_world_save(world, &save);
  if (recorder->trouble[0]) return error_set(MUSTER_E_ARGUMENT, "record: %s", recorder->trouble);
  if (recorder->tape.failed)
    return error_set(MUSTER_E_MEMORY, "record: the snapshot of the world is longer than buffer_bytes = %zu",
                     recorder->def.buffer_bytes);
  return result;
}

/* The head; and for a world that is not new, a snapshot of it. Nothing is written before both are whole. */
static muster_result write_begin(muster_world *world, struct recorder *recorder) {
  tape_kind last = TAPE_HEAD;
  record_api_put_head(world, recorder);
  if (!records_is_new(world) && !recorder->journal.on) {
    tape_keep(&recorder->tape, TAPE_HEAD, 0);
    muster_result result = put_snapshot(world, recorder);
    if (result) return result;
    last = TAPE_WORLD;
  }
  enum occupation before = guard_hold(world);
  bool written = recorder_write_out(recorder, last, 0);
  guard_release(world, before);
  return written ? MUSTER_OK : error_set(MUSTER_E_SYSTEM, "record: the first write was refused");
}

/* A recorder with its memory, that of an attempt or of a recording before as far as it goes; null when there is no
 * memory. */
static struct recorder *reserve_recording(muster_world *world, const muster_record_def *def,
                                          const recorder_journal *journal) {
  struct recorder *recorder = world->recorder ? world->recorder : world->recorder_unused;
  if (!recorder) recorder = world->recorder_unused = reserve(world);
  if (!recorder) return NULL;
  if (recorder->room_bytes < def->buffer_bytes) {
    void *room = arena_reserve(&world->arena, def->buffer_bytes, 1);
    if (room) recorder->room = room;
    if (room) recorder->room_bytes = def->buffer_bytes;
  }
  if (!world->arena.failed && !recorder->spawn_log.agents.slots)
    spawn_log_create(&recorder->spawn_log, world->def.limits.agents_max, &world->arena);
  else if (!world->arena.failed)
    spawn_log_reopen(&recorder->spawn_log);
  if (journal && !recorder->journal.notes) ARENA_ARRAY(&world->arena, recorder->journal.notes, journal->notes_max);
  bool failed = world->arena.failed;
  world->arena.failed = false;
  return failed ? NULL : recorder;
}

/* As before any recording; its memory stays. */
static void begin_anew(struct recorder *recorder, const muster_record_def *def, const recorder_journal *journal) {
  unsigned char *notes = recorder->journal.notes;
  recorder->def = *def;
  recorder->journal = journal ? *journal : (recorder_journal){.on = false};
  recorder->journal.notes = notes;
  recorder->frames = recorder->lost = recorder->bytes = 0;
  recorder->types_known = 0;
  recorder->refused = false;
  recorder->trouble[0] = '\0';
  tape_write_to(&recorder->tape, recorder->room, def->buffer_bytes, records_layout());
}

muster_result records_begin(muster_world *world, const muster_record_def *def, const recorder_journal *journal) {
  muster_result result = records_check_world(world, "record");
  if (!result) result = check_types(world);
  if (!result) result = check_record(def);
  if (result) return result;
  struct recorder *recorder = reserve_recording(world, def, journal);
  if (!recorder) return MUSTER_E_MEMORY;
  begin_anew(recorder, def, journal);
  result = write_begin(world, recorder);
  if (result) return result;
  recorder->mode = RECORDER_RECORDS;
  recorder->hash = world_hash;
  world->recorder = recorder;
  world->recorder_unused = NULL;
  world->runner->sums = recorder->journal.on;
  return MUSTER_OK;
}

muster_result muster_record_begin(muster_world *world, const muster_record_def *given) {
  if (!world) return error_missing("record", "world");
  muster_record_def def = muster_record_def_default();
  muster_result result = sized_read(SIZED(record_def), given, &def);
  return result ? result : records_begin(world, &def, NULL);
}

const void *records_head(muster_world *world, size_t *count) {
  struct recorder *recorder = world->recorder;
  ASSERT(recorder_records(recorder) && recorder->journal.on);
  world_record_newborns(world);
  if (!recorder_write_between(recorder)) return NULL;
  tape_head_begin(&recorder->tape, records_layout());
  record_api_put_head(world, recorder);
  return tape_head_end(&recorder->tape, count);
}

muster_result muster_record_end(muster_world *world) {
  muster_result result = guard_between(world, "record");
  if (result) return result;
  if (recorder_records(world->recorder) && world->recorder->journal.on)
    return error_set(MUSTER_E_STATE, "record: it is that of a journal: muster_journal_end()");
  return records_end(world);
}

muster_result records_end(muster_world *world) {
  muster_result result = guard_between(world, "record");
  if (result) return result;
  if (!recorder_records(world->recorder)) return error_set(MUSTER_E_STATE, "record: no recording is under way");
  enum occupation before = guard_hold(world);
  bool finished = recorder_finish(world->recorder);
  guard_release(world, before);
  world->runner->sums = false;
  if (finished) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "record: the last write was refused");
}

muster_result muster_record_status_read(const muster_world *world, muster_record_status *status) {
  muster_result result = guard_read(world, "record status");
  if (result) return result;
  const struct recorder *recorder = world->recorder;
  muster_record_status whole = {.records = recorder_records(world->recorder)};
  if (recorder) {
    whole.frames = recorder->frames;
    whole.bytes = recorder->bytes;
    whole.lost = recorder->lost;
    memcpy(whole.ended_by, recorder->trouble, sizeof whole.ended_by);
  }
  return sized_write(SIZED(record_status), &whole, status);
}
