#include "recording.h"

#include "catalog.h"
#include "complaint.h"
#include "output.h"
#include "run_note.h"

#include <muster/record.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool put_state(const void *bytes, size_t count, void *stream) {
  return fwrite(bytes, 1, count, stream) == count;
}

/* Behind the lines stands, when the world is not new, what its module saves. False with the reason in
 * muster_last_error(). */
static bool write_note(const struct recording *recording, const muster_world *world, FILE *stream) {
  const run_options *options = recording->options;
  const struct host *host = recording->host;
  if (!run_note_write(options, host->skipped_ns, stream)) return false;
  if (options->record_from <= 1) return true;
  if (host->module->register_types && !host->module->save) return true;
  if (host->module->save) return host->module->save(host->instance, world, put_state, stream) == MUSTER_OK;
  muster_module_fail(MUSTER_E_STATE, "'%s' cannot be saved: it is recorded from its first frame on only",
                     options->module->name);
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

bool recording_open(struct recording *recording, const run_options *options, const struct host *host) {
  bool standard = strcmp(options->record, "-") == 0;
  *recording =
      (struct recording){.path = standard ? "standard output" : options->record, .options = options, .host = host};
  if (standard)
    recording->descriptor = dup(STDOUT_FILENO);
  else
    recording->descriptor = open(options->record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (recording->descriptor >= 0) return true;
  complain_failure("cannot write '%s': %s; choose another file", recording->path, strerror(errno));
  return false;
}

static bool write_some(const void *bytes, size_t count, void *user) {
  const struct recording *recording = user;
  return output_put(recording->descriptor, bytes, count);
}

bool recording_begin(void *user, muster_world *world) {
  struct recording *recording = user;
  char *note = NULL;
  size_t count = 0;
  FILE *stream = open_memstream(&note, &count);
  bool noted = stream && write_note(recording, world, stream);
  if (!stream || fclose(stream) != 0) noted = muster_module_fail(MUSTER_E_MEMORY, "out of memory for the note") == 0;
  if (noted && count > UINT32_MAX)
    noted = muster_module_fail(MUSTER_E_STATE, "the scenario saves %zu bytes; a record holds 4 GiB of it at most",
                               count) == 0;
  muster_record_def def = muster_record_def_default();
  def.note_bytes = (uint32_t)count;
  def.note = note;
  def.write = write_some;
  def.user = recording;
  def.buffer_bytes = (size_t)8 << 30; /* of address space: room for the first frame of the largest population */
  bool begun = noted && muster_record_begin(world, &def) == MUSTER_OK;
  free(note);
  recording->refused = !begun;
  return begun;
}

bool recording_end(struct recording *recording, muster_world *world) {
  muster_record_status status = muster_record_status_default();
  if (recording->descriptor < 0) return true;
  muster_record_status_read(world, &status);
  bool whole = status.records && muster_record_end(world) == MUSTER_OK;
  bool closed = close(recording->descriptor) == 0;
  recording->descriptor = -1;
  if (whole && closed) return true;
  if (!status.bytes && !recording->refused)
    complain_failure("nothing is recorded in '%s': the run ended before frame %lu", recording->path,
                     recording->options->record_from);
  if (!status.bytes) return false;
  complain_failure("the record '%s' holds %lu frames only: %s", recording->path, status.frames,
                   *status.ended_by ? status.ended_by : "its last write was refused");
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool map_file(struct replaying *replaying, const char *path) {
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  bool known = descriptor >= 0 && fstat(descriptor, &status) == 0;
  void *bytes = MAP_FAILED;
  if (known && status.st_size > 0) bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int reason = known && status.st_size == 0 ? ENODATA : errno;
  if (descriptor >= 0) close(descriptor);
  if (bytes == MAP_FAILED) {
    complain_failure("cannot read the record '%s': %s", path, strerror(reason));
    return false;
  }
  replaying->bytes = bytes;
  replaying->count = (size_t)status.st_size;
  return true;
}

static bool read_info(struct replaying *replaying, const char *path, uint64_t until) {
  replaying->info = muster_record_info_default();
  if (muster_record_look(replaying->bytes, replaying->count, &replaying->info, NULL) != MUSTER_OK) {
    complain_failure("'%s': %s", path, muster_last_error());
    return false;
  }
  const muster_record_info *info = &replaying->info;
  uint64_t last = info->frames_before + info->frames;
  if (info->cut && !info->frames) {
    complain_failure("'%s': %s; it has no whole frame", path, muster_last_error());
    return false;
  }
  if (info->cut && until > last) {
    complain_failure("'%s': %s; it has %lu whole frames: give --until %lu", path, muster_last_error(), info->frames,
                     last);
    return false;
  }
  const char *text = info->note, *end = text ? memchr(text, '\0', info->note_bytes) : NULL;
  if (end && (size_t)(end - text) < sizeof replaying->note) {
    memcpy(replaying->note, text, (size_t)(end - text));
    if (info->frames_before) replaying->state = end + 1;
    replaying->state_bytes = info->note_bytes - (size_t)(end + 1 - text);
    if (run_note_read(&replaying->options, &replaying->skipped_ns, replaying->note) && replaying->options.frames &&
        replaying->options.workers)
      return true;
  }
  complain_failure("'%s' is no record of `muster run`", path);
  return false;
}

bool replaying_open(struct replaying *replaying, const char *path, uint64_t until) {
  int status;
  const char *file;
  *replaying = (struct replaying){0};
  if (!map_file(replaying, path)) return false;
  run_options *options = &replaying->options;
  if (read_info(replaying, path, until)) {
    options->module = catalog_find(options->path ? options->path : options->scenario, &file, &status);
    if (options->module) return true;
  }
  replaying_close(replaying);
  return false;
}

bool replaying_begin(void *user, muster_world *world) {
  const struct replaying *replaying = user;
  muster_replay_def def = muster_replay_def_default();
  def.bytes = replaying->bytes;
  def.count = replaying->count;
  def.accept_cut = replaying->info.cut;
  return muster_replay_begin(world, &def) == MUSTER_OK;
}

void replaying_close(struct replaying *replaying) {
  if (replaying->bytes) munmap((void *)(uintptr_t)replaying->bytes, replaying->count);
  replaying->bytes = NULL;
}
