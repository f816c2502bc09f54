/* Reading an object into a file. */
#include "service/zones/objects.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { FETCH_BATCH = 8, FETCH_TRIES_MAX = 8, CHECK_BYTES = 1 << 20 };

/* A part that came and is not written yet. */
typedef struct fetched_part {
  STAILQ_ENTRY(fetched_part) link;
  uint32_t index;
  size_t count;
  char bytes[];
} fetched_part;

STAILQ_HEAD(fetched_list, fetched_part);

/* One object that is fetched. Its steps, in order: a mark published, heads read up to it (so that no server's memory of
 * older times counts), parts read and written, the file checked and renamed. When parts are missing, as a newer version
 * has come meanwhile, it begins anew. */
typedef struct object_fetch {
  struct broker *broker;
  broker_fetched done;
  void *user;
  uv_work_t work;
  bool working, read_ended;
  muster_result read_result;
  int file;
  int problem; /* of the file: an errno; or -1, it is damaged */
  uint32_t tries;
  uint32_t missing;        /* parts that have not come */
  uint8_t *came;           /* which have */
  broker_reading *reading; /* of the parts, while it is under way */
  uint32_t waiting_count;
  struct fetched_list waiting, writing;
  char name[OBJECT_NAME_MAX + 1];
  char path[PATH_BYTES], new_path[PATH_BYTES + 16];
  object_heads heads;
} object_fetch;

static void free_parts(struct fetched_list *list) {
  for (fetched_part *part; (part = STAILQ_FIRST(list)) != NULL;) {
    STAILQ_REMOVE_HEAD(list, link);
    free(part);
  }
}

/* Ends with the reason in muster_last_error(). What was written is removed unless it was renamed. */
static void end_fetch(object_fetch *fetch, muster_result result) {
  fetch->broker->objects--;
  broker_end_call(fetch->broker);
  if (fetch->file >= 0) {
    close(fetch->file);
    if (result != MUSTER_OK) unlink(fetch->new_path);
  }
  bool good = result == MUSTER_OK;
  fetch->done(good || result == MUSTER_E_STALE || result == MUSTER_E_INPUT ? result : MUSTER_E_SYSTEM,
              good ? fetch->heads.best.version : 0, good ? fetch->heads.head : NULL,
              good ? fetch->heads.best.head_bytes : 0, fetch->user);
  free_parts(&fetch->waiting);
  free_parts(&fetch->writing);
  free(fetch->came);
  free(fetch);
}

static void begin_fetch(object_fetch *fetch);

static void fetch_again(object_fetch *fetch) {
  free_parts(&fetch->waiting);
  if (fetch->broker->closing)
    end_fetch(fetch, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
  else if (++fetch->tries == FETCH_TRIES_MAX)
    end_fetch(fetch, error_set(MUSTER_E_INPUT, "%s: parts of version %" PRIu64 " are missing or damaged", fetch->name,
                               fetch->heads.best.version));
  else
    begin_fetch(fetch);
}

/* --------------------------------------------------------------------------------------------------- other threads */

static int write_at(int file, const char *bytes, size_t count, off_t at) {
  while (count) {
    ssize_t some = pwrite(file, bytes, count, at);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return errno;
    bytes += some;
    at += some;
    count -= (size_t)some;
  }
  return 0;
}

static void write_object_parts(uv_work_t *work) {
  object_fetch *fetch = work->data;
  fetched_part *part;
  if (fetch->file < 0) {
    fetch->file = files_open_regular(AT_FDCWD, fetch->new_path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (fetch->file < 0) fetch->problem = errno;
  }
  STAILQ_FOREACH(part, &fetch->writing, link)
  if (!fetch->problem)
    fetch->problem = write_at(fetch->file, part->bytes, part->count, (off_t)part->index * OBJECT_PART_BYTES);
}

/* Reads the whole file, as it may be longer than what was written now, and compares its checksum. */
static int check_file(int file, const object_head *head) {
  char *bytes = malloc(CHECK_BYTES);
  XXH3_state_t *sum = XXH3_createState();
  uint64_t at = 0;
  ssize_t got = 0;
  if (!bytes || !sum || XXH3_64bits_reset(sum) != XXH_OK) abort();
  while ((got = pread(file, bytes, CHECK_BYTES, (off_t)at)) > 0 || (got < 0 && errno == EINTR)) {
    if (got < 0) continue;
    XXH3_64bits_update(sum, bytes, (size_t)got);
    at += (uint64_t)got;
  }
  int problem = got < 0 ? errno : at == head->bytes && XXH3_64bits_digest(sum) == head->checksum ? 0 : -1;
  XXH3_freeState(sum);
  free(bytes);
  return problem;
}

static int sync_folder_of(const char *path) {
  char copy[PATH_BYTES];
  snprintf(copy, sizeof copy, "%s", path);
  int folder = files_open_folder(dirname(copy));
  int problem = folder < 0 || fsync(folder) != 0 ? errno : 0;
  if (folder >= 0) close(folder);
  return problem;
}

static void finish_file(uv_work_t *work) {
  object_fetch *fetch = work->data;
  fetch->problem = ftruncate(fetch->file, (off_t)fetch->heads.best.bytes) ? errno : 0;
  if (!fetch->problem) fetch->problem = check_file(fetch->file, &fetch->heads.best);
  if (!fetch->problem && (fsync(fetch->file) || rename(fetch->new_path, fetch->path))) fetch->problem = errno;
  if (!fetch->problem) fetch->problem = sync_folder_of(fetch->path);
}

/* ------------------------------------------------------------------------------------------------------------ parts */

static void end_of_finish(uv_work_t *work, int status) {
  object_fetch *fetch = work->data;
  (void)status;
  fetch->working = false;
  if (fetch->problem < 0)
    fetch_again(fetch);
  else if (fetch->problem)
    end_fetch(fetch, error_set(MUSTER_E_SYSTEM, "%s: %s", fetch->new_path, strerror(fetch->problem)));
  else
    end_fetch(fetch, MUSTER_OK);
}

static void write_waiting(object_fetch *fetch);

/* All that is read is written, and nothing more comes. */
static void end_of_parts(object_fetch *fetch) {
  if (fetch->problem)
    end_fetch(fetch, error_set(MUSTER_E_SYSTEM, "%s: %s", fetch->new_path, strerror(fetch->problem)));
  else if (fetch->read_result != MUSTER_OK)
    end_fetch(fetch, error_set(MUSTER_E_SYSTEM, "%s: its parts do not come", fetch->name));
  else if (fetch->missing)
    fetch_again(fetch);
  else if (fetch->broker->closing)
    end_fetch(fetch, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
  else if (uv_queue_work(fetch->broker->loop, &fetch->work, finish_file, end_of_finish))
    abort();
}

static void end_of_write(uv_work_t *work, int status) {
  object_fetch *fetch = work->data;
  (void)status;
  fetch->working = false;
  free_parts(&fetch->writing);
  if (!STAILQ_EMPTY(&fetch->waiting) && !fetch->problem) {
    write_waiting(fetch);
  } else if (fetch->read_ended) {
    end_of_parts(fetch);
    return;
  }
  if (fetch->reading) reads_hold(fetch->reading, false);
}

/* Writes what waits; nothing, too: then the file is made. */
static void write_waiting(object_fetch *fetch) {
  STAILQ_CONCAT(&fetch->writing, &fetch->waiting);
  fetch->waiting_count = 0;
  fetch->working = true;
  fetch->work.data = fetch;
  if (uv_queue_work(fetch->broker->loop, &fetch->work, write_object_parts, end_of_write)) abort();
}

/* One that came before is left out, and one that is none of this file. */
static void take_object_part(uint64_t sequence, const void *bytes, size_t count, void *user) {
  object_fetch *fetch = user;
  object_part head;
  (void)sequence;
  if (count < sizeof head) return;
  memcpy(&head, bytes, sizeof head);
  if (head.index >= fetch->heads.best.parts || fetch->came[head.index] || count > sizeof head + OBJECT_PART_BYTES)
    return;
  fetched_part *part = malloc(sizeof *part + count);
  if (!part) return; /* it is missing */
  part->index = head.index;
  part->count = count - sizeof head;
  memcpy(part->bytes, (const char *)bytes + sizeof head, part->count);
  fetch->came[head.index] = 1;
  fetch->missing--;
  STAILQ_INSERT_TAIL(&fetch->waiting, part, link);
  if (!fetch->working)
    write_waiting(fetch);
  else if (++fetch->waiting_count >= FETCH_BATCH)
    reads_hold(fetch->reading, true);
}

static void end_of_reading_parts(muster_result result, void *user) {
  object_fetch *fetch = user;
  fetch->reading = NULL;
  fetch->read_ended = true;
  fetch->read_result = result;
  if (!fetch->working) end_of_parts(fetch);
}

static void begin_parts(object_fetch *fetch) {
  char subject[BROKER_SUBJECT_BYTES];
  const object_head *head = &fetch->heads.best;
  free(fetch->came);
  fetch->came = calloc(head->parts + 1, 1);
  if (!fetch->came) abort();
  fetch->missing = head->parts;
  fetch->read_ended = head->parts == 0;
  fetch->read_result = MUSTER_OK;
  write_waiting(fetch);
  if (fetch->read_ended) return;
  object_name_parts(fetch->broker, fetch->name, head->version, head->upload, subject);
  fetch->reading =
      reads_begin(fetch->broker, subject, head->first, 0, FETCH_BATCH, take_object_part, end_of_reading_parts, fetch);
  if (fetch->reading) return;
  fetch->read_ended = true; /* the thread that makes the file is waited for */
  fetch->read_result = MUSTER_E_SYSTEM;
}

/* ------------------------------------------------------------------------------------------------------------ heads */

static void take_fetched_head(uint64_t sequence, const void *bytes, size_t count, void *user) {
  object_fetch *fetch = user;
  (void)sequence;
  object_heads_take(&fetch->heads, bytes, count);
}

static void end_of_fetched_heads(muster_result result, void *user) {
  object_fetch *fetch = user;
  if (result != MUSTER_OK)
    end_fetch(fetch, result);
  else if (!fetch->heads.any)
    end_fetch(fetch, error_set(MUSTER_E_STALE, "nothing is stored as %s", fetch->name));
  else
    begin_parts(fetch);
}

static void end_of_mark(muster_result result, uint64_t sequence, void *user) {
  object_fetch *fetch = user;
  char subject[BROKER_SUBJECT_BYTES];
  object_name_head(fetch->broker, fetch->name, subject);
  fetch->heads.any = false;
  if (result == MUSTER_OK)
    result = broker_read(fetch->broker, subject, 1, sequence, take_fetched_head, end_of_fetched_heads, fetch);
  if (result != MUSTER_OK) end_fetch(fetch, result);
}

static void begin_fetch(object_fetch *fetch) {
  char subject[BROKER_SUBJECT_BYTES];
  object_name_head(fetch->broker, fetch->name, subject);
  muster_result result = broker_publish(fetch->broker, subject, "", 0, end_of_mark, fetch);
  if (result != MUSTER_OK) end_fetch(fetch, result);
}

muster_result broker_fetch(struct broker *broker, const char *name, const char *path, broker_fetched done, void *user) {
  char subject[BROKER_SUBJECT_BYTES];
  if (object_check_name(name) != MUSTER_OK) return MUSTER_E_ARGUMENT;
  if (strlen(path) >= PATH_BYTES) return error_set(MUSTER_E_ARGUMENT, "%s: the path is too long", name);
  muster_result result = broker_count_call(broker);
  if (result != MUSTER_OK) return result;
  object_fetch *fetch = calloc(1, sizeof *fetch);
  if (!fetch) {
    broker_end_call(broker);
    return error_set(MUSTER_E_MEMORY, "no memory to fetch %s", name);
  }
  fetch->broker = broker;
  fetch->done = done;
  fetch->user = user;
  fetch->file = -1;
  STAILQ_INIT(&fetch->waiting);
  STAILQ_INIT(&fetch->writing);
  snprintf(fetch->name, sizeof fetch->name, "%s", name);
  snprintf(fetch->path, sizeof fetch->path, "%s", path);
  snprintf(fetch->new_path, sizeof fetch->new_path, "%s.fetching", path);
  object_name_head(broker, name, subject);
  result = broker_publish(broker, subject, "", 0, end_of_mark, fetch);
  if (result == MUSTER_OK) {
    broker->objects++;
    return result;
  }
  broker_end_call(broker);
  free(fetch);
  return result;
}
