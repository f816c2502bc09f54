/* replay_api.c - muster/record.h: looks at records, and replays them frame by frame. */
#include "base/assert.h"
#include "base/bits.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "observe/report.h"
#include "record/recorder_fields.h"
#include "replay/records.h"
#include "replay/replay.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/world_observers.h"
#include "world/world_record.h"
#include "world/world_zone.h"

#include <muster/record.h>
#include <muster/snapshot.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ look */

/* The snapshot must be of the frame that the head names: its frames are counted from there. */
static muster_result check_snapshot(const record_head *head) {
  muster_snapshot_info info = muster_snapshot_info_default();
  muster_result result = muster_snapshot_look(head->snapshot, head->snapshot_bytes, &info);
  if (result || info.frames == head->frames_before) return result;
  return error_set(MUSTER_E_INPUT, "record: its head says that it begins after frame %llu, its snapshot after %llu",
                   (unsigned long long)head->frames_before, (unsigned long long)info.frames);
}

muster_result records_read_head(struct tape *tape, const void *bytes, size_t count, record_head *head) {
  struct chunk section;
  muster_result result = tape_read_from(tape, bytes, count, records_layout());
  if (!result) result = tape_next(tape, &section);
  if (result) return result;
  *head = (record_head){.world = muster_world_def_default()};
  head->workers = tape_take_number(tape);
  head->states = tape_take_number(tape);
  fields_exchange_world(tape, &head->world);
  head->note_bytes = tape_take_number(tape);
  head->note = tape_take_place(tape, (size_t)head->note_bytes);
  uint64_t has_snapshot = tape_take_number(tape);
  head->frames_before = tape_take_number(tape);
  head->first_frame = tape_take_number(tape);
  uint64_t chain = 0;
  tape_take(tape, &chain, sizeof chain);
  head->journal = has_snapshot == RECORD_OF_JOURNAL;
  if (section.kind != TAPE_HEAD || tape->failed || head->workers < 1 || head->workers > MUSTER_WORKERS_MAX ||
      head->states < head->workers || head->states > POOL_SLOTS_MAX || has_snapshot > RECORD_OF_JOURNAL)
    return error_set(MUSTER_E_INPUT, "record: offset %d: the head of the record is missing", TAPE_HEADER_BYTES);
  if (has_snapshot == RECORD_OF_NEW && head->frames_before)
    return error_set(MUSTER_E_INPUT, "record: its head says that it begins after frame %llu, but it has no snapshot",
                     (unsigned long long)head->frames_before);
  if (chain) tape_follow(tape, chain); /* also where the file before has no frame */
  if (has_snapshot != RECORD_AFTER_SNAPSHOT) return MUSTER_OK;
  result = tape_next(tape, &section);
  if (result) return result;
  if (section.kind != TAPE_WORLD)
    return error_set(MUSTER_E_INPUT, "record: offset %zu: the snapshot of the world is missing", section.at);
  head->snapshot_bytes = section.bytes;
  head->snapshot = tape_take_place(tape, section.bytes);
  return check_snapshot(head);
}

/* Goes through everything that follows the head. */
static muster_result count_frames(struct tape *tape, const record_head *head, uint64_t *frames, bool *cut) {
  struct chunk section;
  for (*frames = 0;;) {
    muster_result result = tape_next(tape, &section);
    *cut = section.cut;
    if (result) return result;
    if (section.kind == TAPE_END) break;
    if (section.kind == TAPE_BETWEEN && section.number == head->first_frame + *frames) continue;
    if (section.kind != TAPE_FRAME || section.number != head->first_frame + *frames + 1)
      return error_set(MUSTER_E_INPUT, "record: offset %zu: section %d %llu where frame %llu belongs", section.at,
                       (int)section.kind, (unsigned long long)section.number,
                       (unsigned long long)(head->first_frame + *frames) + 1);
    ++*frames;
  }
  if (tape->end == tape->file_bytes) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT, "record: offset %zu: %zu bytes behind the end", tape->end,
                   tape->file_bytes - tape->end);
}

muster_result muster_record_look(const void *bytes, size_t count, muster_record_info *info,
                                 struct muster_world_def *world) {
  struct tape tape;
  record_head head;
  if (!bytes) return error_set(MUSTER_E_ARGUMENT, "record: its bytes must be given");
  muster_record_info whole = muster_record_info_default();
  muster_result result = sized_check(SIZED(record_info), info);
  if (!result && world) result = sized_check(SIZED(world_def), world);
  if (!result) result = records_read_head(&tape, bytes, count, &head);
  if (!result) result = count_frames(&tape, &head, &whole.frames, &whole.cut);
  if (result && !whole.cut) return result;
  whole.workers = (uint32_t)head.workers;
  whole.frames_before = head.frames_before;
  whole.note = head.note;
  whole.note_bytes = (uint32_t)head.note_bytes;
  if (world) sized_write(SIZED(world_def), &head.world, world);
  return sized_write(SIZED(record_info), &whole, info);
}

/* The notes stand at the end of a frame, and their length behind them. */
static bool replay_take_notes(const struct tape *tape, uint64_t frame, record_take_note take, void *user) {
  struct tape notes = *tape;
  uint64_t bytes = 0;
  if (tape->end - tape->at < sizeof bytes) return true;
  notes.at = tape->end - sizeof bytes;
  tape_take(&notes, &bytes, sizeof bytes);
  if (bytes > tape->end - tape->at - sizeof bytes) return true;
  notes.end -= sizeof bytes;
  notes.at = notes.end - (size_t)bytes;
  while (notes.at < notes.end && !notes.failed) {
    size_t count = (size_t)tape_take_number(&notes);
    const void *place = tape_take_place(&notes, count);
    if (place && !take(place, count, frame, user)) return false;
  }
  return !notes.failed;
}

/* Whether a section is a part of the frame behind those that were seen, or ends it. */
static bool is_of_next_frame(const record_extent *extent, const struct chunk *section) {
  uint64_t seen = extent->head.first_frame + extent->frames;
  return section->kind == TAPE_BETWEEN ? section->number == seen
                                       : section->kind == TAPE_FRAME && section->number == seen + 1;
}

/* What stands behind the last whole frame. */
static void replay_note_end(record_extent *extent, const struct tape *tape, const struct chunk *section,
                            muster_result result) {
  if (!result && section->kind == TAPE_END && tape->end == tape->file_bytes)
    extent->ended = true;
  else if (!result && section->kind == TAPE_END)
    snprintf(extent->damage, sizeof extent->damage, "record: offset %zu: %zu bytes behind the end", tape->end,
             tape->file_bytes - tape->end);
  else if (!result)
    snprintf(extent->damage, sizeof extent->damage, "record: offset %zu: section %d %llu where frame %llu belongs",
             section->at, (int)section->kind, (unsigned long long)section->number,
             (unsigned long long)(extent->head.first_frame + extent->frames) + 1);
  else if (!section->cut)
    snprintf(extent->damage, sizeof extent->damage, "%s", muster_last_error());
  uint64_t seen = extent->head.first_frame + extent->frames;
  extent->lost = 0;
  if (result || *extent->damage)
    extent->lost = tape_last_behind(tape->file, tape->file_bytes, extent->end, TAPE_FRAME, seen) - seen;
  if (extent->lost && !*extent->damage) /* a length that was changed makes a section look as if it were cut */
    snprintf(extent->damage, sizeof extent->damage, "record: offset %zu: frame %llu is damaged", extent->end,
             (unsigned long long)seen + 1);
}

muster_result records_look_on(const void *bytes, size_t count, record_extent *extent, record_take_note take,
                              void *user) {
  struct tape tape = {.file = bytes, .file_bytes = count, .end = extent->end, .checksum = extent->checksum};
  struct chunk section = {0};
  muster_result result;
  while (!(result = tape_next(&tape, &section)) && is_of_next_frame(extent, &section)) {
    if (section.kind != TAPE_FRAME) continue;
    extent->frames++;
    extent->end = tape.end;
    extent->checksum = tape.checksum;
    uint64_t frame = extent->head.frames_before + extent->frames;
    if (take && !replay_take_notes(&tape, frame, take, user))
      return error_set(MUSTER_E_INPUT, "record: offset %zu: a note of frame %llu was refused", section.at,
                       (unsigned long long)frame);
  }
  replay_note_end(extent, &tape, &section, result);
  return MUSTER_OK;
}

muster_result records_look(const void *bytes, size_t count, record_extent *extent, record_take_note take, void *user) {
  struct tape tape;
  *extent = (record_extent){.frames = 0};
  muster_result result = records_read_head(&tape, bytes, count, &extent->head);
  if (result) return result;
  if (!extent->head.journal) return error_set(MUSTER_E_INPUT, "record: it is none of a journal");
  extent->end = tape.end;
  extent->checksum = tape.checksum;
  return records_look_on(bytes, count, extent, take, user);
}

/* ---------------------------------------------------------------------------------------------------------- replay */

static muster_result check_replay(const muster_world *world, const muster_replay_def *def, record_head *head,
                                  uint64_t *frames) {
  struct tape tape;
  bool cut = false;
  muster_result result = records_check_world(world, "replay");
  if (!result && !records_is_new(world))
    return error_set(MUSTER_E_STATE, "replay: only in a new world, before anything is spawned and any frame is run");
  if (!result) result = records_read_head(&tape, def->bytes, def->count, head);
  if (!result) result = count_frames(&tape, head, frames, &cut);
  if (result && !(cut && def->accept_cut)) return result;
  return head->journal ? error_set(MUSTER_E_INPUT, "replay: this is part of a journal, its snapshot stands elsewhere")
                       : MUSTER_OK;
}

/* Memory for what a replay has besides; false when there is none. */
static bool reserve_replay(muster_world *world, struct recorder *recorder, const record_head *head, uint64_t **agents,
                           uint64_t **observers) {
  ARENA_ARRAY(&world->arena, recorder->claims, world->def.limits.agents_max);
  *agents = arena_reserve(&world->arena, bits_words(world->def.limits.agents_max), sizeof **agents);
  *observers = arena_reserve(&world->arena, bits_words(world->def.limits.observers_max), sizeof **observers);
  /* One worker may have to take in what all workers of the recorded run did. */
  if (!world->arena.failed) runner_widen_logs(world->runner, RUNNER_LOG_MAX * (uint32_t)head->states, &world->arena);
  bool failed = world->arena.failed;
  world->arena.failed = false;
  return !failed;
}

/* The world reads from here on instead of deciding. */
static void begin_replay(muster_world *world, struct recorder *recorder, const record_head *head) {
  recorder->before = (struct recorder_before){world->run_stage, world->timed, world->runner->workers};
  recorder->mode = RECORDER_REPLAYS;
  recorder->hash = world_hash;
  recorder->asides = (recorder_asides){world, replay_type, replay_logged_spawn};
  recorder->journal = (recorder_journal){.on = head->journal};
  recorder->replays = true;
  recorder->frames_before = head->frames_before;
  recorder->snapshot = head->snapshot;
  recorder->snapshot_bytes = head->snapshot_bytes;
  if (!world_is_virtual(world)) world->run_stage = replay_run;
  world->recorder = recorder;
  world->timed = false;
  world->runner->workers = (uint32_t)head->workers; /* the frames of the record counted on these */
  world->runner->sums = head->journal;
}

/* A replay of the whole frames, which were counted. */
static muster_result open_replay(muster_world *world, const muster_replay_def *def, record_head *head,
                                 uint64_t frames) {
  const char *field = fields_compare_worlds(&head->world, &world->def, head->journal || head->snapshot);
  if (field) return error_set(MUSTER_E_INPUT, "replay: the world's %s is not what it was", field);
  struct recorder *recorder = arena_reserve(&world->arena, 1, sizeof *recorder);
  uint64_t *agents, *observers;
  world->arena.failed = false;
  if (!recorder || !reserve_replay(world, recorder, head, &agents, &observers)) return MUSTER_E_MEMORY;
  const void *snapshot = head->snapshot;
  size_t snapshot_bytes = head->snapshot_bytes;
  muster_result result = records_read_head(&recorder->tape, def->bytes, def->count, head);
  head->snapshot = snapshot;
  head->snapshot_bytes = snapshot_bytes;
  if (world->zone) zone_restore(world, &head->world.zone);
  recorder->replay = *def;
  recorder->frames_max = frames;
  begin_replay(world, recorder, head);
  world->agents.ids.held = agents;
  world->observers->ids.held = observers;
  return result;
}

muster_result muster_replay_begin(muster_world *world, const muster_replay_def *given) {
  if (!world) return error_missing("replay", "world");
  muster_replay_def def = muster_replay_def_default();
  muster_result result = sized_read(SIZED(replay_def), given, &def);
  if (result) return result;
  if (!def.bytes) return error_set(MUSTER_E_ARGUMENT, "replay: the record must be given");
  record_head head;
  uint64_t frames = 0;
  result = check_replay(world, &def, &head, &frames);
  return result ? result : open_replay(world, &def, &head, frames);
}

bool muster_world_is_replaying(const muster_world *world) {
  return world && recorder_replays(world->recorder);
}

muster_result replays_begin(muster_world *world, const muster_replay_def *def, const void *snapshot,
                            size_t snapshot_bytes) {
  record_extent extent;
  muster_result result = records_check_world(world, "recover");
  /* Types of herds are registered like any others. */
  if (!result && (world->frames || identity_high(&world->agents.ids) || identity_high(&world->observers->ids)))
    return error_set(MUSTER_E_STATE, "recover: only in a new world, before anything is spawned and any frame is run");
  if (!result) result = records_look(def->bytes, def->count, &extent, NULL, NULL);
  if (result) return result;
  extent.head.snapshot = snapshot;
  extent.head.snapshot_bytes = snapshot_bytes;
  result = check_snapshot(&extent.head);
  if (!result) result = open_replay(world, def, &extent.head, extent.frames);
  return result ? result : replay_load(world); /* the host may look at the world before its first frame */
}

/* Names the frame as the recorded world counted it. */
static muster_result diverged(const struct recorder *recorder) {
  return error_set(MUSTER_E_INPUT, "replay: frame %llu: %s",
                   (unsigned long long)(recorder->frames_before + recorder->frames) + 1, recorder->trouble);
}

muster_result replays_finish(muster_world *world) {
  struct recorder *recorder = world->recorder;
  ASSERT(recorder_replays(recorder) && recorder->frames == recorder->frames_max);
  identity_free_rest(&world->agents.ids);
  identity_free_rest(&world->observers->ids);
  world_record_refill(world);
  if (recorder->trouble[0]) return diverged(recorder);
  world->run_stage = recorder->before.run_stage;
  world->timed = recorder->before.timed;
  world->runner->workers = recorder->before.workers;
  world->runner->sums = false;
  recorder->replays = false;
  recorder->mode = RECORDER_ENDED;
  return MUSTER_OK;
}

void replays_extend(muster_world *world, size_t count, uint64_t frames) {
  struct recorder *recorder = world->recorder;
  ASSERT(recorder_replays(recorder) && recorder->frames == recorder->frames_max && count >= recorder->replay.count);
  recorder->replay.count = recorder->tape.file_bytes = count;
  recorder->frames_max += frames;
}

muster_result replays_frame(muster_world *world, replay_before before, void *user) {
  struct chunk section;
  muster_result result;
  if (!recorder_replays(world->recorder)) return error_set(MUSTER_E_STATE, "replay: this world does not replay");
  struct recorder *recorder = world->recorder;
  if (recorder->trouble[0]) return diverged(recorder);
  if (recorder->frames == recorder->frames_max)
    return error_set(MUSTER_E_STATE, "replay: all %llu frames of the record were replayed",
                     (unsigned long long)recorder->frames);
  if (recorder->snapshot && (result = replay_load(world))) return result;
  if (recorder->frames == 0 && (result = tape_next(&recorder->tape, &section))) return result;
  if (recorder->frames == 0) recorder->between = section.kind == TAPE_BETWEEN;
  if (recorder->times_due) frame_record_late_times(world);
  muster_frame frame;
  if (replay_until_frame(world, &frame)) {
    if (before) before(world, world->frames + 1, frame.sim_now_ns, user);
    frame_run_checked(world, &frame);
  }
  if (recorder->tape.failed) recorder_diverges(recorder, "its record of this frame ends before it");
  if (recorder->trouble[0]) return diverged(recorder);
  recorder->frames++;
  return MUSTER_OK;
}

muster_result muster_replay_frame(muster_world *world) {
  muster_result result = guard_frame(world, __builtin_frame_address(0), "replay");
  return result ? result : replays_frame(world, NULL, NULL);
}
