/* snapshots.c - the snapshot's file: the world, then an index with the mark and what the host keeps, and at the end
 * where the index begins, twice. The world stands there as muster_world_save() writes it, so it is copied and checked
 * once. */
#include "base/chunks.h"
#include "base/error.h"
#include "journal/journal.h"
#include "snapshot/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PART_MARK = 1, PART_HOST, WRITE_BYTES = 1 << 16, END_BYTES = 2 * sizeof(uint64_t) };

static chunks_format format_of(void) {
  static const size_t sizes[] = {sizeof(journal_mark)};
  return (chunks_format){.name = "journal's snapshot",
                         .magic = {'M', 'U', 'J', 'S', 'N', 'A', 'P', '\n'},
                         .version = 2,
                         .layout = chunks_layout(sizes, 1)};
}

/* ---------------------------------------------------------------------------------------------------------- writing */

struct snapshot_sink {
  const muster_journal *journal;
  struct journal_place *place; /* null = it goes to the file */
  chunk_writer writer;
  int descriptor;
  uint64_t bytes;
  bool unnamed; /* an agent's user pointer has the name 0, which is that of none */
};

static bool put_in_place(struct journal_place *place, const void *bytes, size_t count) {
  if (count > place->room - place->count) return false;
  memcpy(place->bytes + place->count, bytes, count);
  place->count += count;
  return true;
}

static bool write_some(const void *bytes, size_t count, void *user) {
  struct snapshot_sink *sink = user;
  sink->bytes += count;
  if (sink->place) return put_in_place(sink->place, bytes, count);
  return journal_file_write(sink->descriptor, bytes, count);
}

static bool put_some(const void *bytes, size_t count, void *user) {
  struct snapshot_sink *sink = user;
  chunks_put(&sink->writer, bytes, count);
  return !sink->writer.failed;
}

static uint64_t name_user(muster_agent agent, void *agent_user, void *user) {
  struct snapshot_sink *sink = user;
  const muster_journal_def *def = &sink->journal->def;
  uint64_t name = def->name_user ? def->name_user(agent, agent_user, def->user) : 1;
  sink->unnamed = sink->unnamed || !name;
  return name;
}

static muster_result snapshots_write_world(struct snapshot_sink *sink) {
  muster_save_def save = muster_save_def_default();
  save.write = write_some;
  save.user = sink;
  save.name_user = name_user;
  muster_result result = snapshot_save_unhashed(sink->journal->world, &save);
  if (sink->unnamed) return error_set(MUSTER_E_ARGUMENT, "name_user gave the user pointer of an agent the name 0");
  return result;
}

static muster_result write_parts(struct snapshot_sink *sink, journal_mark mark) {
  const muster_journal_def *def = &sink->journal->def;
  const chunks_format format = format_of();
  unsigned char buffer[WRITE_BYTES];
  muster_result result = snapshots_write_world(sink);
  if (result) return result;
  const uint64_t end[2] = {sink->bytes, ~sink->bytes};
  chunks_write_to(&sink->writer, &format, write_some, sink, buffer, sizeof buffer);
  chunks_begin(&sink->writer, PART_MARK);
  chunks_put(&sink->writer, &mark, sizeof mark);
  chunks_begin(&sink->writer, PART_HOST);
  errno = 0;
  if (def->save_host && !def->save_host(put_some, sink, def->user))
    return error_set(MUSTER_E_SYSTEM, "what the host keeps could not be written%s%s", errno ? ": " : "",
                     errno ? strerror(errno) : "");
  bool written = chunks_finish(&sink->writer) && write_some(end, sizeof end, sink);
  return written ? MUSTER_OK : error_set(MUSTER_E_SYSTEM, "%s", strerror(errno));
}

/* The folder is written down when the file has its name. */
static muster_result snapshots_complete(const muster_journal *journal, int file, int record, const char *fresh,
                                        uint64_t number) {
  journal_name name;
  journal_file_name(journal->path, "", number, ".snapshot", name);
  bool syncs = journal->def.sync != MUSTER_JOURNAL_SYNC_NONE;
  if (syncs && (fdatasync(file) || fdatasync(record)))
    return error_set(MUSTER_E_SYSTEM, "%s: %s", fresh, strerror(errno));
  if (renameat(AT_FDCWD, fresh, AT_FDCWD, name)) return error_set(MUSTER_E_SYSTEM, "%s: %s", name, strerror(errno));
  if (syncs && !files_sync_folder_of(journal->path))
    return error_set(MUSTER_E_SYSTEM, "%s: its folder cannot be written down: %s", name, strerror(errno));
  return MUSTER_OK;
}

muster_result journal_snapshot_write(const muster_journal *journal, journal_mark mark, int record, uint64_t *bytes) {
  journal_name fresh;
  journal_file_name(journal->path, "", mark.number, ".snapshot.new", fresh);
  struct snapshot_sink sink = {.journal = journal, .descriptor = journal_file_create(fresh)};
  if (sink.descriptor < 0) return MUSTER_E_SYSTEM;
  muster_result result = write_parts(&sink, mark);
  if (!result) result = snapshots_complete(journal, sink.descriptor, record, fresh, mark.number);
  close(sink.descriptor);
  *bytes = sink.bytes;
  return result;
}

/* --------------------------------------------------------------------------------------------------------- a place */

muster_result journal_snapshot_place(muster_journal *journal) {
  struct journal_place *place = &journal->place;
  struct snapshot_sink sink = {.journal = journal, .place = place, .descriptor = -1};
  place->count = 0;
  muster_result result = write_parts(&sink, journal->note->mark);
  if (!result) return MUSTER_OK;
  return sink.bytes > place->room ? error_set(MUSTER_E_MEMORY, "%zu bytes are not enough for it", place->room) : result;
}

void journal_place_free(struct journal_place *place) {
  if (place->bytes) munmap(place->bytes, place->room);
  place->bytes = NULL;
  place->room = 0;
}

void journal_place_prepare(void *user) {
  struct journal_place *place = &((muster_journal *)user)->place;
  journal_place_free(place);
  void *bytes = mmap(NULL, place->wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (bytes == MAP_FAILED) return; /* then each snapshot has a process */
  madvise(bytes, place->wanted, MADV_DONTFORK);
  place->bytes = bytes;
  place->room = place->wanted;
}

void journal_place_write(void *user) {
  muster_journal *journal = user;
  struct journal_place *place = &journal->place;
  journal_name fresh;
  uint64_t number = journal->next.number;
  int file = journal_file_create(journal_file_name(journal->path, "", number, ".snapshot.new", fresh));
  muster_result result = file < 0 ? MUSTER_E_SYSTEM : MUSTER_OK;
  if (!result && !journal_file_write(file, place->bytes, place->count))
    result = error_set(MUSTER_E_SYSTEM, "%s: %s", fresh, strerror(errno));
  if (!result) result = snapshots_complete(journal, file, journal->next.descriptor, fresh, number);
  if (file >= 0) close(file);
  snprintf(place->problem, sizeof place->problem, "%s", result ? muster_last_error() : "");
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* A part of the file: its chunks, one after another, in memory of its own. The system gives the memory as it is
 * written, so there may be more of it. */
static muster_result snapshots_read_part(chunk_reader *reader, uint32_t part, void **bytes, size_t *count) {
  size_t most = reader->count - reader->end;
  if (!chunks_enter(reader, part)) return MUSTER_E_INPUT;
  *bytes = malloc(most + 1);
  if (!*bytes) return error_set(MUSTER_E_MEMORY, "journal's snapshot: no memory for what the host gave it");
  for (*count = 0; !reader->failed && !chunks_is_read(reader);) {
    size_t some = reader->end > reader->at ? reader->end - reader->at : 1;
    if (*count + some > most) return MUSTER_E_INPUT;
    chunks_take(reader, (unsigned char *)*bytes + *count, some);
    *count += some;
  }
  return reader->failed ? MUSTER_E_INPUT : MUSTER_OK;
}

/* Where the index begins; 0 = that is not known. */
static size_t find_index(const journal_bytes *file) {
  uint64_t end[2];
  if (file->count < END_BYTES) return 0;
  memcpy(end, file->bytes + file->count - END_BYTES, sizeof end);
  return end[0] == ~end[1] && end[0] < file->count - END_BYTES ? (size_t)end[0] : 0;
}

muster_result journal_snapshot_read(const journal_bytes *file, journal_snapshot *snapshot) {
  const chunks_format format = format_of();
  chunk_reader reader;
  size_t index = find_index(file);
  *snapshot = (journal_snapshot){.world = file->bytes, .world_bytes = index};
  if (!index) return error_set(MUSTER_E_INPUT, "offset %zu: its end is missing", file->count);
  muster_result result = chunks_read_from(&reader, &format, file->bytes + index, file->count - index - END_BYTES);
  if (result) return result;
  bool marked = chunks_enter(&reader, PART_MARK);
  if (marked) chunks_take(&reader, &snapshot->mark, sizeof snapshot->mark);
  result = marked && !reader.failed ? snapshots_read_part(&reader, PART_HOST, &snapshot->host, &snapshot->host_bytes)
                                    : MUSTER_E_INPUT;
  if (!result) return MUSTER_OK;
  journal_snapshot_free(snapshot);
  if (result == MUSTER_E_MEMORY) return result;
  return error_set(MUSTER_E_INPUT, "journal's snapshot: it has not the parts that it should have");
}

void journal_snapshot_free(journal_snapshot *snapshot) {
  free(snapshot->host);
  *snapshot = (journal_snapshot){.host = NULL};
}
