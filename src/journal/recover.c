/* recover.c - muster/journal.h: finds the newest complete snapshot with its record, and brings a world to its end. */
#include "base/error.h"
#include "base/sized.h"
#include "journal/journal.h"
#include "world/guard.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many processes died while they ran the frames again: it is the frames' doing. */
enum { DEATHS_OF_FRAMES = 2 };

/* A snapshot and its record. */
struct found {
  uint64_t number;
  journal_bytes file; /* of the snapshot */
  journal_snapshot snapshot;
  muster_snapshot_info about; /* the world in it */
  journal_bytes record;
  bool grows; /* the record does */
  record_extent extent;
  const unsigned char *note; /* the host's, behind the mark: at any address */
  uint32_t note_bytes;
};

static void found_free(struct found *found) {
  journal_snapshot_free(&found->snapshot);
  journal_file_unmap(&found->file);
  if (found->grows)
    journal_file_unmap_growing(&found->record);
  else
    journal_file_unmap(&found->record);
}

/* ------------------------------------------------------------------------------------------------------------- find */

/* Files of an incident have the name that was given; those of a journal have a number behind it. */
static const char *found_name(const char *path, uint64_t number, const char *ending, journal_name name) {
  if (number) return journal_file_name(path, "", number, ending, name);
  snprintf(name, JOURNAL_NAME_BYTES, "%s%s", path, ending);
  return name;
}

/* The last error, behind the name of the file that it is about. */
static muster_result in_file(muster_result result, const char *name) {
  char reason[256];
  snprintf(reason, sizeof reason, "%s", muster_last_error());
  return error_set(result, "%s: %s", name, reason);
}

static muster_result open_snapshot(const char *path, struct found *found) {
  journal_name name;
  muster_result result = journal_file_map(found_name(path, found->number, ".snapshot", name), &found->file);
  if (result) return result;
  result = journal_snapshot_read(&found->file, &found->snapshot);
  found->about = muster_snapshot_info_default();
  if (!result) result = muster_snapshot_look(found->snapshot.world, found->snapshot.world_bytes, &found->about);
  if (!result && found->number && found->snapshot.mark.number != found->number)
    result = error_set(MUSTER_E_INPUT, "it is the snapshot %llu of a journal",
                       (unsigned long long)found->snapshot.mark.number);
  return result ? in_file(result, name) : MUSTER_OK;
}

static muster_result recover_check_record(struct found *found) {
  const record_head *head = &found->extent.head;
  if (head->note_bytes < sizeof(struct journal_note))
    return error_set(MUSTER_E_INPUT, "it has no mark of a journal's snapshot");
  journal_mark mark;
  memcpy(&mark, head->note, sizeof mark);
  found->note = (const unsigned char *)head->note + sizeof(struct journal_note);
  found->note_bytes = (uint32_t)(head->note_bytes - sizeof(struct journal_note));
  if (mark.id != found->snapshot.mark.id || mark.number != found->snapshot.mark.number)
    return error_set(MUSTER_E_INPUT, "it does not belong to the snapshot of that number, but to another journal's");
  if (head->frames_before != found->about.frames)
    return error_set(MUSTER_E_INPUT, "it begins after frame %llu, the snapshot is of frame %llu",
                     (unsigned long long)head->frames_before, (unsigned long long)found->about.frames);
  return MUSTER_OK;
}

static muster_result open_record(const char *path, struct found *found) {
  journal_name name;
  muster_result result = journal_file_map(found_name(path, found->number, ".journal", name), &found->record);
  if (result) return result == MUSTER_E_STALE ? error_set(MUSTER_E_INPUT, "%s: it is missing", name) : result;
  result = records_look(found->record.bytes, found->record.count, &found->extent, NULL, NULL);
  if (!result) result = recover_check_record(found);
  return result ? in_file(result, name) : MUSTER_OK;
}

static muster_result open_number(const char *path, uint64_t number, struct found *found) {
  *found = (struct found){.number = number};
  muster_result result = open_snapshot(path, found);
  if (!result) result = open_record(path, found);
  if (result) found_free(found);
  return result;
}

/* There are two only when the process died, or the power failed, while one took the place of the other. An older one
 * stands for the newest only where that is damaged. */
static muster_result find_newest(const char *path, struct found *found) {
  journal_numbers numbers;
  journal_name name;
  char first[512] = "";
  bool any = false;
  muster_result result = journal_files_list(path, "", ".snapshot", &numbers), wrong = MUSTER_OK;
  for (uint32_t i = 0; !result && i < numbers.count; i++) {
    struct found one;
    muster_result opened = open_number(path, numbers.numbers[i], &one);
    if (opened && (!wrong || error_may_pass(opened))) {
      wrong = opened;
      snprintf(first, sizeof first, "%s", muster_last_error());
    }
    if (opened) continue;
    bool better = !any || one.about.frames + one.extent.frames > found->about.frames + found->extent.frames;
    if (any) found_free(better ? found : &one);
    if (better) *found = one;
    any = true;
  }
  if (result == MUSTER_E_STALE && access(found_name(path, 0, ".snapshot", name), F_OK) == 0)
    return open_number(path, 0, found);
  if (any && !error_may_pass(wrong)) return MUSTER_OK;
  if (any) found_free(found);
  return result ? result : error_set(wrong, "%s", first);
}

/* ------------------------------------------------------------------------------------------------------------- look */

static void recover_describe(const char *path, const struct found *found, muster_journal_info *info) {
  journal_name name;
  *info = (muster_journal_info){.size = (uint32_t)sizeof *info,
                                .clean = found->extent.ended,
                                .number = found->number,
                                .snapshot_frames = found->about.frames,
                                .frames = found->about.frames + found->extent.frames,
                                .lost_bytes = found->extent.ended ? 0 : found->record.count - found->extent.end};
  struct stat tries;
  bool any = stat(journal_file_name(path, "", found->number, ".replaying", name), &tries) == 0;
  info->tried = any && tries.st_size >= DEATHS_OF_FRAMES;
  info->lost_frames = found->extent.lost;
  snprintf(info->damage, sizeof info->damage, "%s", found->extent.damage);
}

/* The first note that is refused ends the look. */
struct taker {
  const muster_journal_look_def *def;
};

static bool recover_take_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  const struct taker *taker = user;
  return taker->def->take_notes(bytes, count, frame, taker->def->user);
}

static muster_result recover_hand_out(const muster_journal_look_def *def, struct found *found) {
  struct taker taker = {def};
  record_extent again;
  journal_name name;
  if (def->take_note && !def->take_note(found->note, found->note_bytes, def->user))
    return error_set(MUSTER_E_INPUT, "%s: its note was refused",
                     found_name(def->path, found->number, ".journal", name));
  if (def->take_host && !def->take_host(found->snapshot.host, found->snapshot.host_bytes, def->user))
    return error_set(MUSTER_E_INPUT, "%s: what the host had kept was refused",
                     found_name(def->path, found->number, ".snapshot", name));
  if (!def->take_notes) return MUSTER_OK;
  muster_result result = records_look(found->record.bytes, found->record.count, &again, recover_take_note, &taker);
  return result ? in_file(result, def->path) : MUSTER_OK;
}

static muster_result check_path(const char *path) {
  if (!path || !*path) return error_set(MUSTER_E_ARGUMENT, "journal: path must be given");
  if (strlen(path) < JOURNAL_PATH_BYTES) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "journal: path is longer than %d bytes", JOURNAL_PATH_BYTES - 1);
}

muster_result muster_journal_look(const muster_journal_look_def *given, muster_journal_info *info,
                                  struct muster_world_def *world) {
  muster_journal_look_def def = muster_journal_look_def_default();
  muster_journal_info whole;
  struct found found;
  muster_result result = sized_read(SIZED(journal_look_def), given, &def);
  if (!result) result = check_path(def.path);
  if (!result && info) result = sized_check(SIZED(journal_info), info);
  if (!result && world) result = sized_check(SIZED(world_def), world);
  if (!result) result = find_newest(def.path, &found);
  if (result) return result;
  recover_describe(def.path, &found, &whole);
  result = recover_hand_out(&def, &found);
  if (!result && world) result = sized_write(SIZED(world_def), &found.extent.head.world, world);
  found_free(&found);
  if (!result && info) result = sized_write(SIZED(journal_info), &whole, info);
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- recover */

/* If the frames kill this process, the next one finds the file, which has a byte for each try. One death may have been
 * anybody's, such as that of an operator who does not wait; another one is the frames'. */
static void mark_trying(const char *path, uint64_t number, bool begins) {
  journal_name name;
  if (!number) return; /* an incident is only looked at */
  journal_file_name(path, "", number, ".replaying", name);
  if (!begins) unlinkat(AT_FDCWD, name, 0);
  int descriptor = begins ? files_open_regular(AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600) : -1;
  if (descriptor >= 0) journal_file_write(descriptor, "\n", 1);
  if (descriptor >= 0) close(descriptor);
}

/* The record is followed from here on: it is mapped anew, as a file that grows. */
static muster_result recover_map_growing(const char *path, struct found *found) {
  journal_name name;
  size_t seen = found->record.count;
  journal_file_unmap(&found->record);
  muster_result result = journal_file_map_growing(found_name(path, found->number, ".journal", name), &found->record);
  found->grows = true;
  if (!result && found->record.count < seen) result = error_set(MUSTER_E_INPUT, "%s: it has become shorter", name);
  found->record.count = seen;
  return result;
}

/* Notes of the frames that are there; the host may have looked when there were fewer. */
static muster_result recover_take_notes(const muster_journal_recover_def *def, const struct found *found) {
  record_extent again;
  if (!def->take_notes) return MUSTER_OK;
  return records_look(found->record.bytes, found->record.count, &again, def->take_notes, def->user);
}

/* Frames that have come meanwhile; *more is false when no more will. What was run is let go of: it may be much. */
static muster_result recover_follow(muster_world *world, const muster_journal_recover_def *def, struct found *found,
                                    bool *more) {
  uint64_t before = found->extent.frames, run = found->extent.end;
  uint64_t count = def->more ? def->more(world, world->frames, def->user) : 0;
  *more = count != 0;
  if (count <= found->record.count) return MUSTER_OK;
  journal_file_forget(&found->record, run);
  found->record.count = (size_t)count;
  muster_result result =
      records_look_on(found->record.bytes, found->record.count, &found->extent, def->take_notes, def->user);
  if (!result && *found->extent.damage) result = error_set(MUSTER_E_INPUT, "%s", found->extent.damage);
  if (!result) replays_extend(world, found->record.count, found->extent.frames - before);
  return result;
}

static muster_result recover_run_again(muster_world *world, const muster_journal_recover_def *def,
                                       struct found *found) {
  bool more = true;
  muster_result result = def->more ? recover_map_growing(def->path, found) : MUSTER_OK;
  if (!result) result = recover_take_notes(def, found);
  if (result) return result;
  muster_replay_def replay = muster_replay_def_default();
  replay.bytes = found->record.bytes;
  replay.count = found->record.count;
  replay.user_of = def->user_of;
  replay.user = def->user;
  mark_trying(def->path, found->number, true);
  result = replays_begin(world, &replay, found->snapshot.world, found->snapshot.world_bytes);
  for (uint64_t i = 0; !result && more;) {
    for (; !result && i < found->extent.frames; i++) {
      result = replays_frame(world, def->before_frame, def->user);
      if (!result && def->after_frame) def->after_frame(world, world->frames, world->last_now_ns, def->user);
    }
    if (!result) result = recover_follow(world, def, found, &more);
  }
  if (!result) result = replays_finish(world);
  mark_trying(def->path, found->number, false);
  return result;
}

static muster_result recover_load(muster_world *world, const muster_journal_recover_def *def,
                                  const struct found *found) {
  muster_load_def load = muster_load_def_default();
  load.bytes = found->snapshot.world;
  load.count = found->snapshot.world_bytes;
  load.user_of = def->user_of;
  load.user = def->user;
  return muster_world_load(world, &load);
}

muster_result muster_journal_recover(muster_world *world, const muster_journal_recover_def *given,
                                     muster_journal_info *info) {
  if (!world) return error_missing("recover", "world");
  muster_journal_recover_def def = muster_journal_recover_def_default();
  muster_journal_info whole;
  struct found found;
  muster_result result = guard_between(world, "recover");
  if (!result) result = sized_read(SIZED(journal_recover_def), given, &def);
  if (!result) result = check_path(def.path);
  if (!result && info) result = sized_check(SIZED(journal_info), info);
  if (!result) result = find_newest(def.path, &found);
  if (result) return result;
  recover_describe(def.path, &found, &whole);
  result = def.snapshot_only ? recover_load(world, &def, &found) : recover_run_again(world, &def, &found);
  if (def.more) recover_describe(def.path, &found, &whole);
  whole.sim_now_ns = world->last_now_ns;
  if (def.snapshot_only) whole.frames = whole.snapshot_frames;
  found_free(&found);
  if (!result && info) result = sized_write(SIZED(journal_info), &whole, info);
  return result;
}
