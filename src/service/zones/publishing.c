#include "service/zones/publishing.h"

#include "service/zones/jetstream.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUCKETS = 1024, PUBLISH_AGAIN_MS = 100 };

typedef void (*publish_done)(muster_result result, uint64_t sequence, void *user);

typedef struct publish {
  STAILQ_ENTRY(publish) link;
  publish_done done;
  void *user;
  size_t count;
  char bytes[];
} publish;

STAILQ_HEAD(publish_list, publish);

/* The publishes of one subject: the first one is sent, the others wait for its answer. */
typedef struct publish_subject {
  LIST_ENTRY(publish_subject) bucket;
  TAILQ_ENTRY(publish_subject) link;
  struct publishing *publishing;
  struct publish_list waiting;
  uint32_t tries;                 /* to send the first */
  uint64_t ask;                   /* the first one's; 0 = it is not sent */
  uint64_t deadline_ms, again_ms; /* of the first */
  char name[];
} publish_subject;

struct publishing {
  struct broker *broker;
  size_t count, bytes;
  LIST_HEAD(, publish_subject) buckets[BUCKETS];
  TAILQ_HEAD(, publish_subject) subjects;
};

struct publishing *publishing_open(struct broker *broker) {
  struct publishing *publishing = calloc(1, sizeof *publishing);
  if (!publishing) return NULL;
  publishing->broker = broker;
  TAILQ_INIT(&publishing->subjects);
  return publishing;
}

void publishing_free(struct publishing *publishing) {
  free(publishing);
}

static uint32_t bucket_of(const char *name) {
  return (uint32_t)(XXH3_64bits(name, strlen(name)) % BUCKETS);
}

static publish_subject *find_publish_subject(const struct publishing *publishing, const char *name) {
  publish_subject *subject;
  LIST_FOREACH(subject, &publishing->buckets[bucket_of(name)], bucket)
  if (strcmp(subject->name, name) == 0) return subject;
  return NULL;
}

static publish_subject *add_publish_subject(struct publishing *publishing, const char *name) {
  size_t length = strlen(name);
  publish_subject *subject = calloc(1, sizeof *subject + length + 1);
  if (!subject) return NULL;
  subject->publishing = publishing;
  memcpy(subject->name, name, length + 1);
  STAILQ_INIT(&subject->waiting);
  LIST_INSERT_HEAD(&publishing->buckets[bucket_of(name)], subject, bucket);
  TAILQ_INSERT_TAIL(&publishing->subjects, subject, link);
  return subject;
}

static void remove_publish_subject(publish_subject *subject) {
  asks_forget(subject->publishing->broker->asks, subject->ask);
  LIST_REMOVE(subject, bucket);
  TAILQ_REMOVE(&subject->publishing->subjects, subject, link);
  free(subject);
}

/* Takes the first one off and tells what it came to. */
static void end_publish(struct publishing *publishing, struct publish_list *list, muster_result result,
                        uint64_t sequence) {
  publish *first = STAILQ_FIRST(list);
  STAILQ_REMOVE_HEAD(list, link);
  publishing->count--;
  publishing->bytes -= first->count;
  if (first->done) first->done(result, sequence, first->user);
  free(first);
}

/* The first one has failed, and so has all that waits behind it: their done() may publish again on the subject. */
static void fail_subject(publish_subject *subject, muster_result result) {
  struct publishing *publishing = subject->publishing;
  struct publish_list failed = STAILQ_HEAD_INITIALIZER(failed);
  char reason[256];
  snprintf(reason, sizeof reason, "%s", muster_last_error());
  STAILQ_CONCAT(&failed, &subject->waiting);
  remove_publish_subject(subject);
  while (!STAILQ_EMPTY(&failed)) {
    error_set(result, "%s", reason);
    end_publish(publishing, &failed, result, 0);
  }
}

static void send_first_publish(publish_subject *subject);

static void begin_first_publish(publish_subject *subject) {
  struct broker *broker = subject->publishing->broker;
  subject->deadline_ms = uv_now(broker->loop) + broker->settings.answer_ms;
  subject->again_ms = 0;
  subject->tries = 0;
  send_first_publish(subject);
}

static void take_publish_answer(muster_result result, const struct document *answer, int code, void *user) {
  publish_subject *subject = user;
  struct publishing *publishing = subject->publishing;
  (void)code;
  subject->ask = 0;
  if (result == MUSTER_OK) {
    uint64_t sequence = (uint64_t)document_number(document_member(answer, "seq"));
    publish *first = STAILQ_FIRST(&subject->waiting);
    STAILQ_REMOVE_HEAD(&subject->waiting, link);
    struct publish_list done = STAILQ_HEAD_INITIALIZER(done);
    STAILQ_INSERT_TAIL(&done, first, link);
    if (STAILQ_EMPTY(&subject->waiting))
      remove_publish_subject(subject);
    else
      begin_first_publish(subject);
    end_publish(publishing, &done, MUSTER_OK, sequence);
    return;
  }
  if (!publishing->broker->closing)
    complaints_add(&publishing->broker->complaints, "publishing", "%s: %s", subject->name, muster_last_error());
  if (result == MUSTER_E_FULL)
    fail_subject(subject, MUSTER_E_FULL);
  else
    subject->again_ms = uv_now(publishing->broker->loop) + PUBLISH_AGAIN_MS; /* until its deadline */
}

/* It is sent again when the answer is late, as a leader may have ended with it, until its deadline. */
static void send_first_publish(publish_subject *subject) {
  struct broker *broker = subject->publishing->broker;
  uint64_t now_ms = uv_now(broker->loop);
  if (subject->ask || now_ms < subject->again_ms || now_ms >= subject->deadline_ms || !broker_has_streams(broker))
    return;
  const publish *first = STAILQ_FIRST(&subject->waiting);
  subject->ask = asks_send(broker->asks, subject->name, first->bytes, first->count, jetstream_wait_ms(subject->tries++),
                           take_publish_answer, subject);
}

void publishing_look_after(struct publishing *publishing) {
  uint64_t now_ms = uv_now(publishing->broker->loop);
  publish_subject *subject = TAILQ_FIRST(&publishing->subjects);
  while (subject) {
    publish_subject *next = TAILQ_NEXT(subject, link);
    if (now_ms >= subject->deadline_ms) {
      error_set(MUSTER_E_SYSTEM, "NATS: no answer to a publish on %s within %u ms", subject->name,
                publishing->broker->settings.answer_ms);
      complaints_add(&publishing->broker->complaints, "publishing", "%s", muster_last_error());
      fail_subject(subject, MUSTER_E_SYSTEM);
      next = TAILQ_FIRST(&publishing->subjects); /* callbacks may have changed the list: those seen are quick to pass */
    } else {
      send_first_publish(subject);
    }
    subject = next;
  }
}

void publishing_end_all(struct publishing *publishing) {
  for (publish_subject *subject; (subject = TAILQ_FIRST(&publishing->subjects)) != NULL;) {
    error_set(MUSTER_E_SYSTEM, "the broker is closed");
    fail_subject(subject, MUSTER_E_SYSTEM);
  }
}

muster_result broker_publish(struct broker *broker, const char *subject, const void *bytes, size_t count,
                             void (*done)(muster_result result, uint64_t sequence, void *user), void *user) {
  struct publishing *publishing = broker->publishing;
  char stream[STREAM_BYTES_MAX];
  muster_result result = broker_check_subject(subject);
  if (result != MUSTER_OK) return result;
  if (broker->closing) return error_set(MUSTER_E_STATE, "the broker is closed");
  if (!broker_stream_of(broker, subject, stream)) return MUSTER_E_ARGUMENT;
  if (count > BROKER_MESSAGE_BYTES_MAX)
    return error_set(MUSTER_E_ARGUMENT, "a message of %zu bytes: at most %d", count, BROKER_MESSAGE_BYTES_MAX);
  if (publishing->count >= BROKER_PUBLISH_COUNT_MAX || publishing->bytes + count > BROKER_PUBLISH_BYTES_MAX)
    return error_set(MUSTER_E_FULL, "%zu messages with %zu bytes wait to be published", publishing->count,
                     publishing->bytes);
  publish *made = malloc(sizeof *made + count);
  publish_subject *at = find_publish_subject(publishing, subject);
  if (made && !at) at = add_publish_subject(publishing, subject);
  if (!made || !at) {
    free(made);
    return error_set(MUSTER_E_MEMORY, "no memory for a message of %zu bytes", count);
  }
  *made = (publish){.done = done, .user = user, .count = count};
  if (count) memcpy(made->bytes, bytes, count);
  bool first = STAILQ_EMPTY(&at->waiting);
  STAILQ_INSERT_TAIL(&at->waiting, made, link);
  publishing->count++;
  publishing->bytes += count;
  if (first) begin_first_publish(at);
  return MUSTER_OK;
}
