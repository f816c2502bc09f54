/* journal.c - muster/journal.h: begins and ends journals, and writes each frame. When a snapshot is due, and the
 * process that writes it, is in rotation.c. */
#include "journal/journal.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "base/sized.h"
#include "journal/rotation.h"
#include "world/guard.h"
#include "world/world_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static muster_result check_def(const muster_journal_def *def) {
  if (!def->path || !*def->path) return error_set(MUSTER_E_ARGUMENT, "journal: path must be given");
  if (strlen(def->path) >= JOURNAL_PATH_BYTES)
    return error_set(MUSTER_E_ARGUMENT, "journal: path is longer than %d bytes", JOURNAL_PATH_BYTES - 1);
  if ((unsigned)def->sync > MUSTER_JOURNAL_SYNC_FRAME)
    return error_set(MUSTER_E_ARGUMENT, "journal: sync %d is unknown", (int)def->sync);
  if (def->recovery_max_ns < 10000000u || def->recovery_max_ns > 3600000000000u)
    return error_set(MUSTER_E_ARGUMENT, "journal: recovery_max_ns %llu must be 10 ms .. 1 h",
                     (unsigned long long)def->recovery_max_ns);
  if (def->note_bytes > 1u << 20 || (def->note_bytes && !def->note))
    return error_set(MUSTER_E_ARGUMENT, "journal: note_bytes %u must be at most 1 MiB, and the note given",
                     def->note_bytes);
  if (def->incidents_max > INCIDENTS_MOST)
    return error_set(MUSTER_E_ARGUMENT, "journal: incidents_max %u must be at most %d", def->incidents_max,
                     INCIDENTS_MOST);
  return MUSTER_OK;
}

/* What no replay could repeat: effects of parallel actions on each other depend on their order. */
static muster_result check_repeatable(const muster_world *world) {
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    const agent_type *type = &world->agents.types.types[i];
    if (type->def.act == MUSTER_ACT_PARALLEL && type->parallel_atoms < type->atom_count)
      return error_set(MUSTER_E_STATE, "journal: type '%s' has parallel actions, whose order no replay repeats",
                       type->name);
  }
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* It ends by itself, for a frame that it could not take: its files have no end, as after a crash. */
static bool has_lost(const struct recorder *recorder) {
  return recorder_records(recorder) && recorder->lost > 0;
}

/* Takes a section of the record. A new file that fails is given up; without the other one there is no journal. */
static bool write_section(const void *bytes, size_t count, void *user) {
  muster_journal *journal = user;
  if (journal->ended || has_lost(journal->world->recorder)) return true;
  bool fails = journal->next.descriptor >= 0 && !journal_file_write(journal->next.descriptor, bytes, count);
  if (fails && journal->current.descriptor >= 0) rotation_give_up(journal, strerror(errno));
  if (journal->current.descriptor < 0 ? fails : !journal_file_write(journal->current.descriptor, bytes, count)) {
    snprintf(journal->status.ended_by, sizeof journal->status.ended_by, "its file cannot be written: %s",
             strerror(errno));
    return false;
  }
  journal->status.bytes += count;
  return true;
}

static void end_frame(void *user) {
  muster_journal *journal = user;
  journal->ends_frame = true;
  if (journal->def.end_frame) journal->def.end_frame(journal, journal->def.user);
  journal->ends_frame = false;
}

muster_result muster_journal_note(muster_journal *journal, const void *bytes, size_t count) {
  if (!journal) return error_missing("journal", "journal");
  if (count && !bytes) return error_missing("journal", "note");
  muster_result result = journal->ends_frame ? MUSTER_OK : guard_between(journal->world, "journal note");
  if (result) return result;
  if (!recorder_records(journal->world->recorder)) return error_set(MUSTER_E_STATE, "journal: it has ended");
  if (recorder_note(journal->world->recorder, bytes, count)) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "journal: the notes of one frame have more than %d bytes", NOTES_BYTES);
}

/* ------------------------------------------------------------------------------------------------------- begin, end */

static uint64_t draw_id(const muster_journal *journal) {
  uint64_t id = clock_system() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid() << 32 ^ (uintptr_t)journal;
  return id ? id : 1;
}

static uint64_t highest_number(const char *path) {
  static const char *const endings[] = {".snapshot", ".snapshot.new", ".journal"};
  uint64_t highest = 0;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    journal_numbers numbers;
    if (journal_files_list(path, "", endings[i], &numbers) == MUSTER_OK && numbers.numbers[0] > highest)
      highest = numbers.numbers[0];
  }
  return highest;
}

/* The journal goes on in files that are on the disk: those before are not needed any more. */
static bool after_move(uint64_t number, void *user) {
  const muster_journal *journal = user;
  if (journal->def.sync != MUSTER_JOURNAL_SYNC_NONE && !files_sync_folder_of(journal->path)) return false;
  journal_files_retire(journal->path, number, 0);
  return true;
}

static muster_result begin_syncer(muster_journal *journal) {
  static const syncer_pace paces[] = {SYNCER_NEVER, SYNCER_SECOND, SYNCER_ALWAYS};
  const syncer_orders orders = {.pace = paces[journal->def.sync], .after = after_move, .user = journal};
  return syncer_begin(&journal->syncer, &orders, journal->current.descriptor, journal->world->frames);
}

static muster_journal *make(muster_world *world, const muster_journal_def *def) {
  muster_journal *journal = calloc(1, sizeof *journal);
  struct journal_note *note = calloc(1, sizeof *note + def->note_bytes);
  if (!journal || !note) {
    free(journal);
    free(note);
    return NULL;
  }
  journal->world = world;
  journal->def = *def;
  snprintf(journal->path, sizeof journal->path, "%s", def->path);
  journal->def.path = journal->path;
  journal->id = draw_id(journal);
  journal->note = note;
  if (def->note_bytes) memcpy(note->host, def->note, def->note_bytes);
  journal->current.descriptor = journal->next.descriptor = journal->pipe = -1;
  return journal;
}

static void release(muster_journal *journal) {
  journal_place_free(&journal->place);
  free(journal->note);
  free(journal);
}

/* The recording's own user is the journal, the host's is another. */
static uint64_t journal_name_of_user(muster_agent agent, void *agent_user, void *user) {
  const muster_journal *journal = user;
  return journal->def.name_user(agent, agent_user, journal->def.user);
}

/* The recording that feeds the journal. */
static muster_result begin_record(muster_journal *journal) {
  muster_record_def def = muster_record_def_default();
  def.write = write_section;
  if (journal->def.name_user) def.name_user = journal_name_of_user;
  def.user = journal;
  def.buffer_bytes = journal->def.buffer_bytes;
  def.hash_every = 0; /* each frame has sums instead */
  journal->note->mark = (journal_mark){journal->id, journal->current.number};
  def.note = journal->note;
  def.note_bytes = (uint32_t)sizeof *journal->note + journal->def.note_bytes;
  const recorder_journal with = {.on = true, .end_frame = end_frame, .user = journal, .notes_max = NOTES_BYTES};
  return records_begin(journal->world, &def, &with);
}

static muster_result begin_files(muster_journal *journal) {
  journal_name name;
  uint64_t bytes = 0;
  journal->current.number = highest_number(journal->path) + 1;
  journal->current.descriptor =
      journal_file_create(journal_file_name(journal->path, "", journal->current.number, ".journal", name));
  if (journal->current.descriptor < 0) return MUSTER_E_SYSTEM;
  muster_result result = begin_record(journal);
  if (result || (journal->def.begins_beside && rotation_begin_beside(journal))) return result;
  uint64_t begin_ns = clock_thread_cpu();
  result = journal_snapshot_write(journal, journal->note->mark, journal->current.descriptor, &bytes);
  rotation_learn(journal, bytes, clock_thread_cpu() - begin_ns);
  rotation_guess_place(journal);
  return result;
}

/* Nothing is left of a journal that did not begin; what was there before is. */
static void undo(muster_journal *journal) {
  if (recorder_records(journal->world->recorder)) records_end(journal->world);
  rotation_give_up(journal, NULL);
  if (journal->current.descriptor >= 0) close(journal->current.descriptor);
  if (journal->current.number) journal_files_remove(journal->path, journal->current.number);
  release(journal);
}

muster_result muster_journal_begin(muster_world *world, const muster_journal_def *given, muster_journal **begun) {
  if (!world || !begun) return error_missing("journal", world ? "place for it" : "world");
  *begun = NULL;
  muster_journal_def def = muster_journal_def_default();
  muster_result result = sized_read(SIZED(journal_def), given, &def);
  if (!result) result = records_check_world(world, "journal");
  if (!result) result = check_def(&def);
  if (!result) result = check_repeatable(world);
  if (!result) result = muster_world_settle(world); /* the snapshot is of the moment at which the record begins */
  if (result) return result;
  muster_journal *journal = make(world, &def);
  if (!journal) return MUSTER_E_MEMORY;
  result = begin_files(journal);
  if (!result) result = begin_syncer(journal);
  if (result) {
    undo(journal);
    return result;
  }
  journal->begun_ns = clock_system();
  journal->owner = getpid();
  journal->frames = world->frames;
  *begun = journal;
  if (journal->current.descriptor < 0) return MUSTER_OK; /* the others are retired when its snapshot is complete */
  journal->status.snapshots = 1;
  journal_files_retire(journal->path, journal->current.number, def.incidents_max);
  return MUSTER_OK;
}

/* The last snapshot has a record without frames, which ends as it should. */
static muster_result write_last(muster_journal *journal) {
  uint64_t bytes = 0;
  rotation_wait(journal);
  if (journal->current.descriptor < 0) return error_set(MUSTER_E_SYSTEM, "journal: %s", journal->status.ended_by);
  muster_result result = rotation_open(journal);
  if (result) return result;
  result = journal_snapshot_write(journal, journal->note->mark, journal->next.descriptor, &bytes);
  if (records_end(journal->world) && !result) result = MUSTER_E_SYSTEM;
  if (result) rotation_give_up(journal, muster_last_error());
  if (!result) rotation_adopt(journal);
  return result;
}

muster_result muster_journal_end(muster_journal *journal, bool remove) {
  muster_result result = MUSTER_OK;
  if (!journal) return MUSTER_OK;
  if ((result = guard_between(journal->world, "journal end"))) return result;
  if (forked_since(journal->owner))
    return error_set(MUSTER_E_STATE, "journal end: this process was forked from the one that writes it, and leaves it");
  bool runs = recorder_records(journal->world->recorder) && !journal->status.ended_by[0];
  journal->ended = !runs;
  if (runs && !remove) result = write_last(journal);
  rotation_give_up(journal, NULL);
  if (recorder_records(journal->world->recorder)) records_end(journal->world);
  syncer_end(&journal->syncer);
  if (remove) journal_files_retire(journal->path, UINT64_MAX, 0);
  release(journal);
  return result;
}

void muster_journal_hold(muster_journal *journal, bool held) {
  if (!journal || guard_between(journal->world, "journal hold")) return;
  journal->held = held;
}

muster_result muster_journal_status_read(muster_journal *journal, muster_journal_status *status) {
  if (!journal) return error_missing("journal status", "journal");
  muster_result result = guard_between(journal->world, "journal status");
  if (result) return result;
  rotation_count_frames(journal);
  muster_journal_status whole = journal->status;
  whole.runs = !journal->ended;
  whole.frames_written = journal->frames;
  whole.frames_safe = whole.runs ? syncer_safe(&journal->syncer) : UINT64_MAX;
  if (!whole.runs) whole.changes_safe = UINT64_MAX;
  whole.sync_ns = syncer_took_ns(&journal->syncer);
  whole.recovery_ns = rotation_predict(journal);
  whole.holds = whole.runs && !journal->warned;
  whole.writes = whole.runs && journal->next.descriptor >= 0;
  return sized_write(SIZED(journal_status), &whole, status);
}
