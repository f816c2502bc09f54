#include "service/zones/objects.h"

#include "service/zones/jetstream.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { PART_TRIES_MAX = 6 };

void object_heads_take(object_heads *heads, const void *bytes, size_t count) {
  object_head head;
  if (count < sizeof head) return;
  memcpy(&head, bytes, sizeof head);
  if (head.magic != OBJECT_MAGIC || head.head_bytes != count - sizeof head || head.head_bytes > BROKER_HEAD_BYTES_MAX)
    return;
  if (heads->any && head.version < heads->best.version) return;
  heads->any = true;
  heads->best = head;
  memcpy(heads->head, (const char *)bytes + sizeof head, head.head_bytes);
}

void object_name_head(const struct broker *broker, const char *name, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.objects.%s.head", broker->settings.world, name);
}

void object_name_parts(const struct broker *broker, const char *name, uint64_t version, uint64_t upload,
                       char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.objects.%s.part.%016" PRIx64 "-%016" PRIx64,
           broker->settings.world, name, version, upload);
}

muster_result object_check_name(const char *name) {
  if (broker_name_is_good(name) && strlen(name) <= OBJECT_NAME_MAX) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "\"%.64s\" is no name of an object: 1 .. %d letters, digits, - and _", name,
                   OBJECT_NAME_MAX);
}

/* ---------------------------------------------------------------------------------------------------------- storing */

/* One file that is stored. Its steps, in order: heads read, file opened, each part read and published, head published,
 * heads read again, what is older removed. */
typedef struct object_store {
  struct broker *broker;
  broker_done done;
  void *user;
  uv_work_t work;
  int file;
  int problem; /* of reading the file: an errno */
  XXH3_state_t *sum;
  object_head head;
  object_heads heads; /* that are there */
  uint32_t next;      /* the part that is read and published */
  uint32_t tries;
  size_t count;    /* bytes in `bytes` */
  char *bytes;     /* a part, or the head */
  uint32_t purges; /* under way */
  char parts[BROKER_SUBJECT_BYTES], heads_subject[BROKER_SUBJECT_BYTES];
  char name[OBJECT_NAME_MAX + 1];
  char path[PATH_BYTES];
  char own_head[BROKER_HEAD_BYTES_MAX];
} object_store;

static void free_store(object_store *store) {
  if (store->file >= 0) close(store->file);
  XXH3_freeState(store->sum);
  free(store->bytes);
  free(store);
}

static void end_store(object_store *store, muster_result result) {
  store->broker->objects--;
  broker_end_call(store->broker);
  broker_done done = store->done;
  void *user = store->user;
  free_store(store);
  if (done) done(result == MUSTER_E_STATE ? MUSTER_E_SYSTEM : result, user);
}

/* What is to be done next, once a thread has read; and what it was before. */
static void begin_reading_part(object_store *store);
static void publish_bytes(object_store *store);

/* The removal of what is older: as far as it goes; the next store goes on. */
static void end_one_purge(object_store *store) {
  if (--store->purges == 0) end_store(store, MUSTER_OK);
}

static void take_part_purge(muster_result result, const struct document *answer, int code, void *user) {
  (void)result;
  (void)answer;
  (void)code;
  end_one_purge(user);
}

static void take_head_purge(muster_result result, void *user) {
  (void)result;
  end_one_purge(user);
}

/* Removes the parts of another upload, unless its version is higher. */
static void purge_parts(const char *subject, void *user) {
  object_store *store = user;
  char stream[STREAM_BYTES_MAX];
  uint64_t version, upload;
  const char *last = strrchr(subject, '.');
  if (!last || sscanf(last + 1, "%16" SCNx64 "-%16" SCNx64, &version, &upload) != 2) return;
  if (version > store->head.version || (version == store->head.version && upload == store->head.upload)) return;
  if (!broker_stream_of(store->broker, subject, stream)) return;
  store->purges++;
  if (!jetstream_ask_purge(store->broker, stream, subject, 0, take_part_purge, store)) store->purges--;
}

static void take_uploads(muster_result result, const struct document *answer, int code, void *user) {
  object_store *store = user;
  (void)code;
  store->purges = 1; /* this one */
  if (result == MUSTER_OK)
    document_names(document_member(document_member(answer, "state"), "subjects"), purge_parts, store);
  store->purges++;
  if (result != MUSTER_OK ||
      broker_purge(store->broker, store->heads_subject, store->head.first, take_head_purge, store) != MUSTER_OK)
    store->purges--;
  end_one_purge(store);
}

/* Another may have stored a higher version meanwhile: then nothing is removed. */
static void end_of_heads_again(muster_result result, void *user) {
  object_store *store = user;
  char stream[STREAM_BYTES_MAX], document[BROKER_SUBJECT_BYTES + 64];
  if (store->heads.any && store->heads.best.version > store->head.version) {
    end_store(store, error_set(MUSTER_E_STALE, "%s: version %" PRIu64 " is stored already", store->name,
                               store->heads.best.version));
    return;
  }
  snprintf(document, sizeof document, "{\"subjects_filter\":\"muster.%s.objects.%s.part.*\"}",
           store->broker->settings.world, store->name);
  if (result != MUSTER_OK || !broker_stream_of(store->broker, store->heads_subject, stream) ||
      !jetstream_ask(store->broker, "STREAM.INFO", stream, document, take_uploads, store))
    end_store(store, MUSTER_OK);
}

static void take_head(uint64_t sequence, const void *bytes, size_t count, void *user) {
  object_store *store = user;
  (void)sequence;
  object_heads_take(&store->heads, bytes, count);
}

static void end_of_publish(muster_result result, uint64_t sequence, void *user) {
  object_store *store = user;
  bool was_head = store->next == store->head.parts;
  if (result != MUSTER_OK) {
    if (result == MUSTER_E_SYSTEM && ++store->tries < PART_TRIES_MAX)
      publish_bytes(store);
    else
      end_store(store, result == MUSTER_E_FULL ? MUSTER_E_FULL : MUSTER_E_SYSTEM);
    return;
  }
  store->tries = 0;
  if (was_head) {
    store->head.first = sequence; /* of the head, from here on: what is below is older */
    if (broker_read(store->broker, store->heads_subject, 1, sequence, take_head, end_of_heads_again, store) !=
        MUSTER_OK)
      end_store(store, MUSTER_OK);
    return;
  }
  if (store->next == 0 || sequence < store->head.first) store->head.first = sequence;
  store->next++;
  begin_reading_part(store);
}

static void publish_bytes(object_store *store) {
  const char *subject = store->next == store->head.parts ? store->heads_subject : store->parts;
  muster_result result = broker_publish(store->broker, subject, store->bytes, store->count, end_of_publish, store);
  if (result != MUSTER_OK) end_store(store, result);
}

static void publish_head(object_store *store) {
  store->head.checksum = XXH3_64bits_digest(store->sum);
  memcpy(store->bytes, &store->head, sizeof store->head);
  memcpy(store->bytes + sizeof store->head, store->own_head, store->head.head_bytes);
  store->count = sizeof store->head + store->head.head_bytes;
  publish_bytes(store);
}

/* In another thread: opens the file, if it is not open, and reads the next part. */
static void read_object_part(uv_work_t *work) {
  object_store *store = work->data;
  struct stat status;
  if (store->file < 0) {
    store->file = files_open_regular(AT_FDCWD, store->path, O_RDONLY, 0);
    store->problem = store->file < 0 || fstat(store->file, &status) != 0 ? errno : 0;
    if (store->problem) return;
    store->head.bytes = (uint64_t)status.st_size;
    store->head.parts = (uint32_t)((store->head.bytes + OBJECT_PART_BYTES - 1) / OBJECT_PART_BYTES);
  }
  uint64_t begin = (uint64_t)store->next * OBJECT_PART_BYTES, left = store->head.bytes - begin;
  size_t wanted = left < OBJECT_PART_BYTES ? (size_t)left : OBJECT_PART_BYTES, got = 0;
  char *bytes = store->bytes + sizeof(object_part);
  while (got < wanted) {
    ssize_t some = pread(store->file, bytes + got, wanted - got, (off_t)(begin + got));
    if (some < 0 && errno == EINTR) continue;
    store->problem = some < 0 ? errno : some == 0 ? ENODATA : 0;
    if (store->problem) return;
    got += (size_t)some;
  }
  XXH3_64bits_update(store->sum, bytes, wanted);
  memcpy(store->bytes, &(object_part){.index = store->next}, sizeof(object_part));
  store->count = sizeof(object_part) + wanted;
}

static void end_of_read_part(uv_work_t *work, int status) {
  object_store *store = work->data;
  (void)status;
  if (store->broker->closing)
    end_store(store, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
  else if (store->problem)
    end_store(store, error_set(MUSTER_E_INPUT, "%s: %s", store->path,
                               store->problem == ENODATA ? "it has become shorter" : strerror(store->problem)));
  else if (store->next == store->head.parts)
    publish_head(store);
  else
    publish_bytes(store);
}

static void begin_reading_part(object_store *store) {
  if (store->file >= 0 && store->next == store->head.parts) {
    publish_head(store);
    return;
  }
  store->work.data = store;
  if (uv_queue_work(store->broker->loop, &store->work, read_object_part, end_of_read_part)) abort();
}

static void end_of_heads(muster_result result, void *user) {
  object_store *store = user;
  if (result != MUSTER_OK)
    end_store(store, result);
  else if (store->heads.any && store->heads.best.version > store->head.version)
    end_store(store, error_set(MUSTER_E_STALE, "%s: version %" PRIu64 " is stored already", store->name,
                               store->heads.best.version));
  else
    begin_reading_part(store);
}

static object_store *make_store(struct broker *broker, size_t head_bytes) {
  object_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  size_t part = sizeof(object_part) + OBJECT_PART_BYTES, head = sizeof(object_head) + head_bytes;
  store->broker = broker;
  store->file = -1;
  store->bytes = malloc(part > head ? part : head);
  store->sum = XXH3_createState();
  if (store->bytes && store->sum && XXH3_64bits_reset(store->sum) == XXH_OK) return store;
  free_store(store);
  return NULL;
}

muster_result broker_store(struct broker *broker, const char *name, uint64_t version, const char *path,
                           const void *head, size_t head_bytes, broker_done done, void *user) {
  if (object_check_name(name) != MUSTER_OK) return MUSTER_E_ARGUMENT;
  if (head_bytes > BROKER_HEAD_BYTES_MAX || strlen(path) >= PATH_BYTES)
    return error_set(MUSTER_E_ARGUMENT, "%s: a head of %zu bytes, or a path that is too long", name, head_bytes);
  muster_result result = broker_count_call(broker);
  if (result != MUSTER_OK) return result;
  object_store *store = make_store(broker, head_bytes);
  if (!store) {
    broker_end_call(broker);
    return error_set(MUSTER_E_MEMORY, "no memory to store %s", name);
  }
  store->done = done;
  store->user = user;
  store->head = (object_head){.magic = OBJECT_MAGIC, .version = version, .head_bytes = (uint32_t)head_bytes};
  if (uv_random(NULL, NULL, &store->head.upload, sizeof store->head.upload, 0, NULL)) abort();
  if (head_bytes) memcpy(store->own_head, head, head_bytes);
  snprintf(store->name, sizeof store->name, "%s", name);
  snprintf(store->path, sizeof store->path, "%s", path);
  object_name_head(broker, name, store->heads_subject);
  object_name_parts(broker, name, version, store->head.upload, store->parts);
  broker->objects++;
  result = broker_read(broker, store->heads_subject, 1, 0, take_head, end_of_heads, store);
  if (result == MUSTER_OK) return result;
  broker->objects--;
  broker_end_call(broker);
  free_store(store);
  return result;
}
