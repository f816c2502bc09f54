#include "recording.h"

#include "catalog.h"
#include "complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------- the options, as a note */

/* Lines of NAME=VALUE: the texts, then numbers. */
typedef struct noted_number {
  const char *name;
  size_t offset, bytes;
} noted_number;

#define NUMBER(name)                                                                                                   \
  { #name, offsetof(run_options, name), sizeof((run_options){0}.name) }

static const noted_number numbers[] = {
    NUMBER(agents),      NUMBER(observers), NUMBER(workers),       NUMBER(budget_ns),
    NUMBER(capacity_ns), NUMBER(cost_ns),   NUMBER(rate),          NUMBER(frames),
    NUMBER(warm_up),     NUMBER(seed),      NUMBER(elastic),       NUMBER(activation_delay),
    NUMBER(audit),       NUMBER(no_pace),   NUMBER(virtual_clock), NUMBER(up_axis),
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Returns the length; 0 when it does not fit. */
static size_t write_note(const run_options *options, char *note, size_t capacity) {
  char whole[PATH_MAX] = "";
  if (options->path && !realpath(options->path, whole)) return 0;
  size_t length = (size_t)snprintf(note, capacity, "scenario=%s\npath=%s\n", options->module->name, whole);
  for (size_t i = 0; i < NUMBERS && length < capacity; i++) {
    uint64_t value = 0;
    memcpy(&value, (const char *)options + numbers[i].offset, numbers[i].bytes);
    length += (size_t)snprintf(note + length, capacity - length, "%s=%lu\n", numbers[i].name, value);
  }
  return length < capacity ? length : 0;
}

static bool read_number(run_options *options, const char *name, const char *text) {
  for (size_t i = 0; i < NUMBERS; i++) {
    if (strcmp(name, numbers[i].name) != 0) continue;
    uint64_t value = strtoull(text, NULL, 10);
    memcpy((char *)options + numbers[i].offset, &value, numbers[i].bytes);
    return true;
  }
  return false;
}

/* Reads the note where it stands: the options' texts point into it. */
static bool read_note(run_options *options, char *note) {
  *options = (run_options){0};
  for (char *line = strtok(note, "\n"); line; line = strtok(NULL, "\n")) {
    char *value = strchr(line, '=');
    if (!value) return false;
    *value++ = '\0';
    if (strcmp(line, "scenario") == 0)
      options->scenario = value;
    else if (strcmp(line, "path") == 0)
      options->path = *value ? value : NULL;
    else if (!read_number(options, line, value))
      return false;
  }
  return options->scenario && options->rate && options->frames && options->workers;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

bool recording_open(struct recording *recording, const run_options *options) {
  bool standard = strcmp(options->record, "-") == 0;
  *recording = (struct recording){.path = standard ? "standard output" : options->record, .options = options};
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
  const char *from = bytes;
  while (count > 0) {
    ssize_t written = write(recording->descriptor, from, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    from += written;
    count -= (size_t)written;
  }
  return true;
}

bool recording_begin(void *user, muster_world *world) {
  struct recording *recording = user;
  char note[RECORDING_NOTE_BYTES];
  muster_record_def def = muster_default_record_def();
  def.note_bytes = (uint32_t)write_note(recording->options, note, sizeof note);
  def.note = note;
  def.write = write_some;
  def.user = recording;
  def.buffer_bytes = (size_t)8 << 30; /* of address space: room for the first frame of the largest population */
  if (def.note_bytes) return muster_record_begin(world, &def) == MUSTER_OK;
  muster_module_fail(MUSTER_E_SYSTEM, "cannot note where '%s' is", recording->options->path);
  return false;
}

bool recording_end(struct recording *recording, muster_world *world) {
  muster_record_status status = muster_default_record_status();
  if (recording->descriptor < 0) return true;
  muster_record_status_read(world, &status);
  bool whole = status.records && muster_record_end(world) == MUSTER_OK;
  bool closed = close(recording->descriptor) == 0;
  recording->descriptor = -1;
  if (whole && closed) return true;
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
  replaying->info = muster_default_record_info();
  if (muster_record_look(replaying->bytes, replaying->count, &replaying->info, NULL) != MUSTER_OK) {
    complain_failure("'%s': %s", path, muster_last_error());
    return false;
  }
  const muster_record_info *info = &replaying->info;
  if (info->cut && until > info->frames) {
    complain_failure("'%s': %s; it has %lu whole frames: give --until %lu", path, muster_last_error(), info->frames,
                     info->frames);
    return false;
  }
  if (info->note_bytes < sizeof replaying->note) memcpy(replaying->note, info->note, info->note_bytes);
  if (info->note_bytes < sizeof replaying->note && read_note(&replaying->options, replaying->note)) return true;
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
  muster_replay_def def = muster_default_replay_def();
  def.bytes = replaying->bytes;
  def.count = replaying->count;
  def.accept_cut = replaying->info.cut;
  return muster_replay_begin(world, &def) == MUSTER_OK;
}

void replaying_close(struct replaying *replaying) {
  if (replaying->bytes) munmap((void *)(uintptr_t)replaying->bytes, replaying->count);
  replaying->bytes = NULL;
}
