/* objects.c - files that a majority of the NATS servers keeps, as parts of which each is a message (copies.c). */
#include "service/zones/parts.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PART_BYTES = 512 * 1024 };

/* One file that is stored, or fetched: part by part, which threads read or write. */
typedef struct object_call {
  struct broker *broker;
  broker_object_done done;
  void *user;
  uv_work_t work;
  int file;
  int problem; /* of the file: an errno */
  XXH3_state_t *sum;
  broker_object object; /* as it is wanted, or becomes */
  uint64_t at;          /* bytes that are stored, or written */
  size_t count;         /* of the part that is on its way */
  char name[NAME_BYTES];
  char path[PATH_BYTES], new_path[PATH_BYTES + 16]; /* the second: it is fetched */
  char bytes[PART_BYTES];
} object_call;

static void end_object(object_call *call, muster_result result) {
  if (call->file >= 0) close(call->file);
  if (result != MUSTER_OK && *call->new_path) unlink(call->new_path);
  call->broker->objects--;
  broker_end_call(call->broker);
  call->done(result, &call->object, call->user);
  XXH3_freeState(call->sum);
  free(call);
}

static void end_with_file(object_call *call) {
  const char *words = call->problem == ENODATA ? "it has become shorter" : strerror(call->problem);
  const char *path = *call->new_path ? call->new_path : call->path;
  end_object(call, error_set(*call->new_path ? MUSTER_E_SYSTEM : MUSTER_E_INPUT, "%s: %s", path, words));
}

static void begin_work(object_call *call, uv_work_cb work, uv_after_work_cb after) {
  call->work.data = call;
  if (uv_queue_work(call->broker->loop, &call->work, work, after)) abort();
}

static object_call *begin_object(struct broker *broker, const char *name, const char *path, broker_object_done done,
                                 void *user) {
  ASSERT(broker_name_is_good(name) && strlen(name) < NAME_BYTES && strlen(path) < PATH_BYTES);
  object_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return NULL;
  call->sum = XXH3_createState();
  if (!call->sum || XXH3_64bits_reset(call->sum) != XXH_OK) abort();
  call->broker = broker;
  call->done = done;
  call->user = user;
  call->file = -1;
  snprintf(call->name, sizeof call->name, "%s", name);
  snprintf(call->path, sizeof call->path, "%s", path);
  broker->objects++;
  return call;
}

static uint32_t part_of(uint64_t at) {
  return (uint32_t)(at / PART_BYTES);
}

/* ---------------------------------------------------------------------------------------------------------- storing */

static void read_object_part(uv_work_t *work);
static void take_part_read(uv_work_t *work, int status);

static void take_part_kept(muster_result result, void *user) {
  object_call *call = user;
  if (result != MUSTER_OK) {
    end_object(call, result);
    return;
  }
  call->at += call->count;
  begin_work(call, read_object_part, take_part_read);
}

static void take_part_read(uv_work_t *work, int status) {
  object_call *call = work->data;
  (void)status;
  if (call->broker->closing) {
    end_object(call, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
  } else if (call->problem) {
    end_with_file(call);
  } else if (call->at == call->object.bytes) {
    call->object.checksum = XXH3_64bits_digest(call->sum);
    end_object(call, MUSTER_OK);
  } else if (broker_keep(call->broker, BROKER_OBJECTS, call->name, call->object.version, part_of(call->at), call->bytes,
                         call->count, take_part_kept, call) != MUSTER_OK) {
    end_object(call, MUSTER_E_SYSTEM);
  }
}

/* In another thread: opens the file, if it is not open, and reads the next part. */
static void read_object_part(uv_work_t *work) {
  object_call *call = work->data;
  struct stat status;
  if (call->file < 0) {
    call->file = files_open_regular(AT_FDCWD, call->path, O_RDONLY, 0);
    call->problem = call->file < 0 || fstat(call->file, &status) != 0 ? errno : 0;
    if (call->problem) return;
    call->object.bytes = (uint64_t)status.st_size;
  }
  uint64_t left = call->object.bytes - call->at;
  call->count = left < PART_BYTES ? (size_t)left : PART_BYTES;
  for (size_t got = 0; got < call->count && !call->problem;) {
    ssize_t some = pread(call->file, call->bytes + got, call->count - got, (off_t)(call->at + got));
    if (some < 0 && errno == EINTR) continue;
    call->problem = some < 0 ? errno : some == 0 ? ENODATA : 0;
    got += some > 0 ? (size_t)some : 0;
  }
  XXH3_64bits_update(call->sum, call->bytes, call->count);
}

muster_result broker_store(struct broker *broker, const char *name, zone_place version, const char *path,
                           broker_object_done done, void *user) {
  object_call *call = begin_object(broker, name, path, done, user);
  if (!call) return muster_last_result();
  call->object.version = version;
  begin_work(call, read_object_part, take_part_read);
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- fetching */

/* In another thread: makes the file, if it is not there, and writes the part that came; the last one makes it the file
 * that was wanted. */
static void write_object_part(uv_work_t *work) {
  object_call *call = work->data;
  if (call->file < 0) call->file = files_open_regular(AT_FDCWD, call->new_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (call->file < 0) call->problem = errno;
  for (size_t written = 0; written < call->count && !call->problem;) {
    ssize_t some = write(call->file, call->bytes + written, call->count - written);
    if (some < 0 && errno == EINTR) continue;
    call->problem = some < 0 ? errno : 0;
    written += some > 0 ? (size_t)some : 0;
  }
  XXH3_64bits_update(call->sum, call->bytes, call->count);
  call->at += call->count;
  if (call->problem || call->at < call->object.bytes) return;
  if (XXH3_64bits_digest(call->sum) != call->object.checksum) return;
  if (fsync(call->file) || rename(call->new_path, call->path) || !files_sync_folder_of(call->path))
    call->problem = errno;
}

static void take_part_written(uv_work_t *work, int status);

static void take_part_found(muster_result result, const void *bytes, size_t count, void *user) {
  object_call *call = user;
  uint64_t left = call->object.bytes - call->at;
  if (result != MUSTER_OK) {
    end_object(call, result);
  } else if (count != (left < PART_BYTES ? left : PART_BYTES)) {
    end_object(call, error_set(MUSTER_E_INPUT, "%s: part %u has %zu bytes", call->name, part_of(call->at), count));
  } else {
    call->count = count;
    memcpy(call->bytes, bytes, count);
    begin_work(call, write_object_part, take_part_written);
  }
}

static void take_part_written(uv_work_t *work, int status) {
  object_call *call = work->data;
  (void)status;
  if (call->broker->closing)
    end_object(call, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
  else if (call->problem)
    end_with_file(call);
  else if (call->at < call->object.bytes) {
    if (broker_find(call->broker, BROKER_OBJECTS, call->name, call->object.version, part_of(call->at), take_part_found,
                    call) != MUSTER_OK)
      end_object(call, MUSTER_E_SYSTEM);
  } else if (XXH3_64bits_digest(call->sum) != call->object.checksum)
    end_object(call, error_set(MUSTER_E_INPUT, "%s: what is kept of it is damaged", call->name));
  else
    end_object(call, MUSTER_OK);
}

muster_result broker_fetch(struct broker *broker, const char *name, const broker_object *object, const char *path,
                           broker_object_done done, void *user) {
  object_call *call = begin_object(broker, name, path, done, user);
  if (!call) return muster_last_result();
  call->object = *object;
  snprintf(call->new_path, sizeof call->new_path, "%s.fetching", path);
  begin_work(call, write_object_part, take_part_written); /* nothing, which makes the file */
  return MUSTER_OK;
}
