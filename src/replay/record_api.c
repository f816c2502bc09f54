/* record_api.c - muster/record.h: begins and ends recordings, and replays frame by frame. */
#include "agents/mailbox.h"
#include "base/bits.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "observe/report.h"
#include "record/recorder_fields.h"
#include "replay/replay.h"
#include "run/intake_queues.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_observers.h"

#include <muster/record.h>
#include <muster/snapshot.h>
#include <muster/tune.h>
#include <stdio.h>
#include <string.h>

/* Structures stand in a record as they are in memory: a library with other structures must not read it. */
static uint32_t layout_of_structures(void) {
  static const size_t sizes[] = {
      sizeof(struct command),      sizeof(outgoing),           sizeof(agent_place), sizeof(batch_entry),
      sizeof(muster_frame_report), sizeof(frame_experience),   sizeof(agent_row),   sizeof(muster_type_def),
      sizeof(muster_world_def),    sizeof(muster_world_tuning)};
  return chunks_layout(sizes, sizeof sizes / sizeof *sizes);
}

static muster_result check_world(const muster_world *world, const char *what) {
  muster_result result = guard_between(world, what);
  if (result) return result;
  if (world_is_planned(world))
    return error_set(MUSTER_E_STATE, "%s: not in a world with planner_workers: its host knows what it ran", what);
  if (world->recorder)
    return error_set(MUSTER_E_STATE, "%s: this world records or replays already, or has recorded", what);
  return MUSTER_OK;
}

/* Whether nothing was spawned yet, and no frame run; herds are known by a snapshot alone. */
static bool is_new(const muster_world *world) {
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
  tape_put_number(&recorder->tape, !is_new(world));
  tape_put_number(&recorder->tape, world->frames);
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
  if (!is_new(world)) {
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

/* A recorder with its memory, that of an attempt before as far as it goes; null when there is no memory. */
static struct recorder *reserve_recording(muster_world *world, const muster_record_def *def) {
  struct recorder *recorder = world->recorder_unused ? world->recorder_unused : reserve(world);
  world->recorder_unused = recorder;
  if (!recorder) return NULL;
  if (recorder->room_bytes < def->buffer_bytes) {
    void *room = arena_reserve(&world->arena, def->buffer_bytes, 1);
    if (room) recorder->room = room;
    if (room) recorder->room_bytes = def->buffer_bytes;
  }
  if (!world->arena.failed && !recorder->spawn_log.agents.slots)
    spawn_log_create(&recorder->spawn_log, world->def.limits.agents_max, &world->arena);
  bool failed = world->arena.failed;
  world->arena.failed = false;
  return failed ? NULL : recorder;
}

muster_result muster_record_begin(muster_world *world, const muster_record_def *given) {
  if (!world) return error_missing("record", "world");
  muster_record_def def = muster_record_def_default();
  muster_result result = sized_read(SIZED(record_def), given, &def);
  if (!result) result = check_world(world, "record");
  if (!result) result = check_types(world);
  if (!result) result = check_record(&def);
  if (result) return result;
  struct recorder *recorder = reserve_recording(world, &def);
  if (!recorder) return MUSTER_E_MEMORY;
  recorder->def = def;
  recorder->refused = false;
  recorder->trouble[0] = '\0';
  tape_write_to(&recorder->tape, recorder->room, def.buffer_bytes, layout_of_structures());
  result = write_begin(world, recorder);
  if (result) return result;
  recorder->mode = RECORDER_RECORDS;
  recorder->hash = world_hash;
  world->recorder = recorder;
  world->recorder_unused = NULL;
  return MUSTER_OK;
}

muster_result muster_record_end(muster_world *world) {
  muster_result result = guard_between(world, "record");
  if (result) return result;
  if (!recorder_records(world->recorder)) return error_set(MUSTER_E_STATE, "record: no recording is under way");
  enum occupation before = guard_hold(world);
  bool finished = recorder_finish(world->recorder);
  guard_release(world, before);
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
    whole.bytes = recorder->tape.written;
    whole.lost = recorder->lost;
    memcpy(whole.ended_by, recorder->trouble, sizeof whole.ended_by);
  }
  return sized_write(SIZED(record_status), &whole, status);
}

/* ------------------------------------------------------------------------------------------------------------ look */

struct head {
  uint64_t workers, states;
  muster_world_def world;
  const void *note;
  uint64_t note_bytes;
  uint64_t frames_before; /* that the world had run */
  const void *snapshot;   /* null: the world was new */
  size_t snapshot_bytes;
};

/* The snapshot must be of the frame that the head names: its frames are counted from there. */
static muster_result check_snapshot(const struct head *head) {
  muster_snapshot_info info = muster_snapshot_info_default();
  muster_result result = muster_snapshot_look(head->snapshot, head->snapshot_bytes, &info);
  if (result || info.frames == head->frames_before) return result;
  return error_set(MUSTER_E_INPUT, "record: its head says that it begins after frame %llu, its snapshot after %llu",
                   (unsigned long long)head->frames_before, (unsigned long long)info.frames);
}

/* Reads the head, and stops behind it and the snapshot. */
static muster_result read_head(struct tape *tape, const void *bytes, size_t count, struct head *head) {
  struct chunk section;
  muster_result result = tape_read_from(tape, bytes, count, layout_of_structures());
  if (!result) result = tape_next(tape, &section);
  if (result) return result;
  *head = (struct head){.world = muster_world_def_default()};
  head->workers = tape_take_number(tape);
  head->states = tape_take_number(tape);
  fields_exchange_world(tape, &head->world);
  head->note_bytes = tape_take_number(tape);
  head->note = tape_take_place(tape, (size_t)head->note_bytes);
  uint64_t has_snapshot = tape_take_number(tape);
  head->frames_before = tape_take_number(tape);
  if (section.kind != TAPE_HEAD || tape->failed || head->workers < 1 || head->workers > MUSTER_WORKERS_MAX ||
      head->states < head->workers || head->states > POOL_SLOTS_MAX || has_snapshot > 1)
    return error_set(MUSTER_E_INPUT, "record: offset %d: the head of the record is missing", TAPE_HEADER_BYTES);
  if (!has_snapshot && head->frames_before)
    return error_set(MUSTER_E_INPUT, "record: its head says that it begins after frame %llu, but it has no snapshot",
                     (unsigned long long)head->frames_before);
  if (!has_snapshot) return MUSTER_OK;
  result = tape_next(tape, &section);
  if (result) return result;
  if (section.kind != TAPE_WORLD)
    return error_set(MUSTER_E_INPUT, "record: offset %zu: the snapshot of the world is missing", section.at);
  head->snapshot_bytes = section.bytes;
  head->snapshot = tape_take_place(tape, section.bytes);
  return check_snapshot(head);
}

/* Goes through everything that follows the head. */
static muster_result count_frames(struct tape *tape, uint64_t *frames, bool *cut) {
  struct chunk section;
  for (*frames = 0;;) {
    muster_result result = tape_next(tape, &section);
    *cut = section.cut;
    if (result) return result;
    if (section.kind == TAPE_END) break;
    if (section.kind != TAPE_FRAME || section.number != *frames + 1)
      return error_set(MUSTER_E_INPUT, "record: offset %zu: section %d %llu where frame %llu belongs", section.at,
                       (int)section.kind, (unsigned long long)section.number, (unsigned long long)*frames + 1);
    ++*frames;
  }
  if (tape->end == tape->file_bytes) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT, "record: offset %zu: %zu bytes behind the end", tape->end,
                   tape->file_bytes - tape->end);
}

muster_result muster_record_look(const void *bytes, size_t count, muster_record_info *info,
                                 struct muster_world_def *world) {
  struct tape tape;
  struct head head;
  if (!bytes) return error_set(MUSTER_E_ARGUMENT, "record: its bytes must be given");
  muster_record_info whole = muster_record_info_default();
  muster_result result = sized_check(SIZED(record_info), info);
  if (!result && world) result = sized_check(SIZED(world_def), world);
  if (!result) result = read_head(&tape, bytes, count, &head);
  if (!result) result = count_frames(&tape, &whole.frames, &whole.cut);
  if (result && !whole.cut) return result;
  whole.workers = (uint32_t)head.workers;
  whole.frames_before = head.frames_before;
  whole.note = head.note;
  whole.note_bytes = (uint32_t)head.note_bytes;
  if (world) sized_write(SIZED(world_def), &head.world, world);
  return sized_write(SIZED(record_info), &whole, info);
}

/* ---------------------------------------------------------------------------------------------------------- replay */

static muster_result check_replay(const muster_world *world, const muster_replay_def *def, struct head *head,
                                  uint64_t *frames) {
  struct tape tape;
  bool cut = false;
  muster_result result = check_world(world, "replay");
  if (!result && !is_new(world))
    return error_set(MUSTER_E_STATE, "replay: only in a new world, before anything is spawned and any frame is run");
  if (!result) result = read_head(&tape, def->bytes, def->count, head);
  if (!result) result = count_frames(&tape, frames, &cut);
  if (result && !(cut && def->accept_cut)) return result;
  const char *field = fields_compare_worlds(&head->world, &world->def);
  if (field) return error_set(MUSTER_E_INPUT, "replay: the world's %s is not what it was", field);
  return MUSTER_OK;
}

muster_result muster_replay_begin(muster_world *world, const muster_replay_def *given) {
  if (!world) return error_missing("replay", "world");
  muster_replay_def def = muster_replay_def_default();
  muster_result result = sized_read(SIZED(replay_def), given, &def);
  if (result) return result;
  if (!def.bytes) return error_set(MUSTER_E_ARGUMENT, "replay: the record must be given");
  struct head head;
  uint64_t frames = 0;
  result = check_replay(world, &def, &head, &frames);
  if (result) return result;
  struct recorder *recorder = reserve(world);
  if (!recorder) return MUSTER_E_MEMORY;
  recorder->claims = arena_reserve(&world->arena, world->def.limits.agents_max, sizeof *recorder->claims);
  uint64_t *agents = arena_reserve(&world->arena, bits_words(world->def.limits.agents_max), sizeof *agents);
  uint64_t *observers = arena_reserve(&world->arena, bits_words(world->def.limits.observers_max), sizeof *observers);
  /* One worker may have to take in what all workers of the recorded run did. */
  if (!world->arena.failed) runner_widen_logs(world->runner, RUNNER_LOG_MAX * (uint32_t)head.states, &world->arena);
  if (world->arena.failed) {
    world->arena.failed = false;
    return MUSTER_E_MEMORY;
  }
  result = read_head(&recorder->tape, def.bytes, def.count, &head);
  recorder->mode = RECORDER_REPLAYS;
  recorder->hash = world_hash;
  recorder->asides = (recorder_asides){world, replay_type, replay_logged_spawn};
  if (!world_is_virtual(world)) world->run_stage = replay_run;
  recorder->replays = true;
  recorder->replay = def;
  recorder->frames_before = head.frames_before;
  recorder->frames_max = frames;
  recorder->snapshot = head.snapshot;
  recorder->snapshot_bytes = head.snapshot_bytes;
  world->recorder = recorder;
  world->timed = false;
  world->agents.ids.held = agents;
  world->observers->ids.held = observers;
  world->runner->workers = (uint32_t)head.workers; /* the frames of the record counted on these */
  return result;
}

/* Names the frame as the recorded world counted it. */
static muster_result diverged(const struct recorder *recorder) {
  return error_set(MUSTER_E_INPUT, "replay: frame %llu: %s",
                   (unsigned long long)(recorder->frames_before + recorder->frames) + 1, recorder->trouble);
}

muster_result muster_replay_frame(muster_world *world) {
  struct chunk section;
  muster_result result = guard_frame(world, __builtin_frame_address(0), "replay");
  if (result) return result;
  if (!recorder_replays(world->recorder)) return error_set(MUSTER_E_STATE, "replay: this world does not replay");
  struct recorder *recorder = world->recorder;
  if (recorder->trouble[0]) return diverged(recorder);
  if (recorder->frames == recorder->frames_max)
    return error_set(MUSTER_E_STATE, "replay: all %llu frames of the record were replayed",
                     (unsigned long long)recorder->frames);
  if (recorder->snapshot && (result = replay_load(world))) return result;
  if (recorder->frames == 0 && (result = tape_next(&recorder->tape, &section))) return result;
  muster_frame frame;
  if (replay_until_frame(world, &frame)) frame_run_checked(world, &frame);
  if (recorder->tape.failed) recorder_diverges(recorder, "its record of this frame ends before it");
  if (recorder->trouble[0]) return diverged(recorder);
  recorder->frames++;
  return MUSTER_OK;
}
