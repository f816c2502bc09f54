#include "service/zones/readers.h"

#include "service/zones/jetstream.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  READER_BUCKETS = 1024,
  BATCH_USUAL = 256,
  BATCH_BYTES = 4 << 20,
  HEARTBEAT_MS = 1000, /* a consumer that has nothing says so as often */
  SILENCE_MS = 4000,   /* one that says nothing for so long is gone */
  EXPIRY_MS = 10000,   /* a question for messages ends after this, and is asked again */
  UNUSED_MS = 30000,   /* a consumer that is not asked for so long is removed by the servers */
  READER_AGAIN_MS = 200
};

typedef enum reader_kind { READER_FOLLOWS, READER_LISTENS } reader_kind;

typedef enum reader_state {
  READER_WAITS, /* for again_ms, then it makes a consumer */
  READER_MAKES, /* a consumer is being made */
  READER_READS  /* the consumer may be asked */
} reader_state;

struct broker_reader {
  TAILQ_ENTRY(broker_reader) link;
  LIST_ENTRY(broker_reader) bucket;
  struct broker *broker;
  reader_kind kind;
  reader_state state;
  uint32_t number, attempt; /* of the reader; of its consumer: both are in the consumer's name */
  uint32_t vain;            /* tries to make a consumer since the last that was made */
  uint32_t batch, left;     /* messages that one question asks for; that are to come still; 0 = nothing is asked */
  uint64_t next;            /* the least sequence that is given */
  uint64_t delivered;       /* messages of the consumer, by its own count */
  uint64_t ask, again_ms, heard_ms;
  broker_each each;
  void *user;
  bool held, giving, gone; /* inside its callback; ended from there */
  char stream[STREAM_BYTES_MAX];
  char subject[BROKER_SUBJECT_BYTES];
};

struct readers {
  struct broker *broker;
  uint32_t numbers; /* given */
  TAILQ_HEAD(, broker_reader) list;
  LIST_HEAD(, broker_reader) buckets[READER_BUCKETS]; /* by number */
};

struct readers *readers_open(struct broker *broker) {
  struct readers *readers = calloc(1, sizeof *readers);
  if (!readers) return NULL;
  readers->broker = broker;
  TAILQ_INIT(&readers->list);
  return readers;
}

void readers_free(struct readers *readers) {
  free(readers);
}

static broker_reader *find_reader(const struct readers *readers, uint32_t number) {
  broker_reader *reader;
  LIST_FOREACH(reader, &readers->buckets[number % READER_BUCKETS], bucket)
  if (reader->number == number) return reader;
  return NULL;
}

static void remove_reader(struct readers *readers, broker_reader *reader) {
  TAILQ_REMOVE(&readers->list, reader, link);
  LIST_REMOVE(reader, bucket);
  free(reader);
}

static broker_reader *make_reader(struct broker *broker, reader_kind kind, const char *subject, broker_each each,
                                  void *user) {
  struct readers *readers = broker->readers;
  broker_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    error_set(MUSTER_E_MEMORY, "no memory for a reader");
    return NULL;
  }
  reader->broker = broker;
  reader->kind = kind;
  reader->each = each;
  reader->user = user;
  do { /* the inbox is 0 */
    if (++readers->numbers == 0) readers->numbers = 1;
  } while (find_reader(readers, readers->numbers));
  reader->number = readers->numbers;
  snprintf(reader->subject, sizeof reader->subject, "%s", subject);
  TAILQ_INSERT_TAIL(&readers->list, reader, link);
  LIST_INSERT_HEAD(&readers->buckets[reader->number % READER_BUCKETS], reader, bucket);
  return reader;
}

/* -------------------------------------------------------------------------------------------------------- consumers */

static void name_consumer(const broker_reader *reader, char name[64]) {
  snprintf(name, 64, "%" PRIx64 "_%" PRIx32 "_%" PRIx32, reader->broker->nonce, reader->number, reader->attempt);
}

/* The servers forget an unused consumer by themselves; this spares them the time until then. */
static void drop_consumer(broker_reader *reader) {
  char subject[BROKER_SUBJECT_BYTES], name[64];
  if (reader->state != READER_READS || reader->broker->closing) return;
  name_consumer(reader, name);
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.DELETE.%s.%s", reader->stream, name);
  nats_link_send(reader->broker->link, subject, NULL, "", 0);
}

static void restart_reader(broker_reader *reader, uint64_t wait_ms) {
  asks_forget(reader->broker->asks, reader->ask);
  drop_consumer(reader);
  reader->ask = 0;
  reader->left = 0;
  reader->state = READER_WAITS;
  reader->again_ms = uv_now(reader->broker->loop) + wait_ms;
}

/* Asks the consumer for messages, unless it is asked already. */
static void ask_consumer(broker_reader *reader) {
  struct broker *broker = reader->broker;
  char subject[BROKER_SUBJECT_BYTES], name[64], reply[LINK_INBOX_BYTES + 32], document[256];
  if (reader->left || reader->held) return;
  name_consumer(reader, name);
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", reader->stream, name);
  snprintf(reply, sizeof reply, "%sr.%" PRIx32 ".%" PRIx32, nats_link_inbox(broker->link), reader->number,
           reader->attempt);
  int length = snprintf(document, sizeof document,
                        "{\"batch\":%u,\"max_bytes\":%d,\"expires\":%d000000,\"idle_heartbeat\":%d000000}",
                        reader->batch, BATCH_BYTES, EXPIRY_MS, HEARTBEAT_MS);
  if (nats_link_send(broker->link, subject, reply, document, (size_t)length) != MUSTER_OK) return; /* later, then */
  reader->left = reader->batch;
  reader->heard_ms = uv_now(broker->loop);
}

static void take_consumer(muster_result result, const struct document *answer, int code, void *user) {
  broker_reader *reader = user;
  (void)answer;
  (void)code;
  reader->ask = 0;
  reader->vain = result == MUSTER_OK ? 0 : reader->vain + 1;
  if (result != MUSTER_OK) {
    if (broker_has_streams(reader->broker))
      complaints_add(&reader->broker->complaints, "reading", "%s: %s", reader->subject, muster_last_error());
    restart_reader(reader, READER_AGAIN_MS);
    return;
  }
  reader->state = READER_READS;
  reader->delivered = 0;
  ask_consumer(reader);
}

static void make_consumer(broker_reader *reader) {
  struct broker *broker = reader->broker;
  char subject[2 * BROKER_SUBJECT_BYTES], name[64], document[DOCUMENT_BYTES];
  json_writer writer;
  reader->attempt++;
  name_consumer(reader, name);
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.CREATE.%s.%s.%s", reader->stream, name, reader->subject);
  json_start(&writer, document, sizeof document);
  json_begin_object(&writer, NULL);
  json_string(&writer, "stream_name", reader->stream);
  json_begin_object(&writer, "config");
  json_string(&writer, "name", name);
  json_string(&writer, "deliver_policy", "by_start_sequence");
  json_uint(&writer, "opt_start_seq", reader->next);
  json_string(&writer, "ack_policy", "none");
  json_string(&writer, "filter_subject", reader->subject);
  json_string(&writer, "replay_policy", "instant");
  json_uint(&writer, "inactive_threshold", UNUSED_MS * (uint64_t)1000000);
  json_uint(&writer, "num_replicas", 1);
  json_bool(&writer, "mem_storage", true);
  json_end_object(&writer);
  json_end_object(&writer);
  json_finish(&writer);
  reader->ask =
      asks_send(broker->asks, subject, document, writer.length, jetstream_wait_ms(reader->vain), take_consumer, reader);
  if (reader->ask)
    reader->state = READER_MAKES;
  else
    reader->again_ms = uv_now(broker->loop) + READER_AGAIN_MS;
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void free_reader(broker_reader *reader) {
  struct readers *readers = reader->broker->readers;
  asks_forget(reader->broker->asks, reader->ask);
  if (reader->kind == READER_LISTENS) {
    if (!reader->broker->closing) nats_link_unlisten(reader->broker->link, reader->number);
  } else {
    drop_consumer(reader);
  }
  remove_reader(readers, reader);
}

static void give_to_reader(broker_reader *reader, uint64_t sequence, const link_message *message) {
  reader->giving = true;
  reader->each(sequence, message->bytes, message->count, reader->user);
  reader->giving = false;
}

void readers_take_told(struct readers *readers, const link_message *message) {
  broker_reader *reader = find_reader(readers, message->number);
  if (!reader || reader->gone) return;
  give_to_reader(reader, 0, message);
  if (reader->gone) free_reader(reader);
}

/* Where a message comes from, as the subject for its acknowledgement says. Newer servers put two words before. */
static bool read_origin(const char *reply, uint64_t *nonce, uint32_t *number, uint32_t *attempt, uint64_t *sequence,
                        uint64_t *count) {
  char stream[STREAM_BYTES_MAX + 1];
  static const char format[] = "%64[^.].%" SCNx64 "_%" SCNx32 "_%" SCNx32 ".%*[^.].%" SCNu64 ".%" SCNu64 ".";
  if (strncmp(reply, "$JS.ACK.", 8) != 0) return false;
  const char *rest = reply + 8;
  if (sscanf(rest, format, stream, nonce, number, attempt, sequence, count) == 6) return true;
  for (int i = 0; i < 2 && rest; i++, rest += rest != NULL) rest = strchr(rest, '.');
  return rest && sscanf(rest, format, stream, nonce, number, attempt, sequence, count) == 6;
}

static void take_of_consumer(broker_reader *reader, uint64_t sequence, uint64_t count, const link_message *message) {
  reader->heard_ms = uv_now(reader->broker->loop);
  if (count <= reader->delivered) return;
  if (count != reader->delivered + 1) {
    restart_reader(reader, 0); /* the one between was lost on its way */
    return;
  }
  reader->delivered = count;
  if (reader->left) reader->left--;
  if (sequence >= reader->next) {
    reader->next = sequence + 1;
    give_to_reader(reader, sequence, message);
    if (reader->gone) {
      free_reader(reader);
      return;
    }
  }
  ask_consumer(reader);
}

bool readers_take_message(struct readers *readers, const link_message *message) {
  uint64_t nonce, sequence, count;
  uint32_t number, attempt;
  if (!read_origin(message->reply, &nonce, &number, &attempt, &sequence, &count)) return false;
  broker_reader *reader = nonce == readers->broker->nonce ? find_reader(readers, number) : NULL;
  if (reader && !reader->gone && reader->state == READER_READS && reader->attempt == attempt)
    take_of_consumer(reader, sequence, count, message);
  return true;
}

/* The servers' word about a question: 100, nothing new; 503, and a consumer that was deleted: there is no consumer;
 * everything else ends the question. */
bool readers_take_status(struct readers *readers, const char *token, const link_message *message) {
  uint32_t number, attempt;
  if (sscanf(token, "r.%" SCNx32 ".%" SCNx32, &number, &attempt) != 2) return false;
  broker_reader *reader = find_reader(readers, number);
  if (!reader || reader->gone || reader->state != READER_READS || reader->attempt != attempt) return true;
  reader->heard_ms = uv_now(readers->broker->loop);
  if (message->status == 100) return true;
  if (message->status == 503 || (message->status == 409 && strstr(message->description, "Consumer"))) {
    restart_reader(reader, READER_AGAIN_MS);
    return true;
  }
  reader->left = 0;
  bool full = message->status == 409 && strstr(message->description, "MaxBytes");
  if (message->status == 408 || full) ask_consumer(reader); /* else later: the servers may say it again */
  return true;
}

void readers_look_after(struct readers *readers) {
  broker_reader *reader;
  uint64_t now_ms = uv_now(readers->broker->loop);
  if (!broker_has_streams(readers->broker)) return;
  TAILQ_FOREACH(reader, &readers->list, link) {
    if (reader->kind == READER_LISTENS || reader->gone) continue;
    if (reader->state == READER_READS && reader->left && now_ms - reader->heard_ms > SILENCE_MS)
      restart_reader(reader, 0);
    if (reader->state == READER_READS) ask_consumer(reader);
    if (reader->state == READER_WAITS && now_ms >= reader->again_ms && !reader->held) make_consumer(reader);
  }
}

void readers_end_all(struct readers *readers) {
  for (broker_reader *reader; (reader = TAILQ_FIRST(&readers->list)) != NULL;) free_reader(reader);
}

void readers_restart(struct readers *readers) {
  broker_reader *reader;
  TAILQ_FOREACH(reader, &readers->list, link)
  if (reader->kind == READER_FOLLOWS) restart_reader(reader, 0);
}

broker_reader *readers_begin(struct broker *broker, const char *stream, const char *subject, uint64_t from,
                             uint32_t batch, broker_each each, void *user) {
  broker_reader *reader = make_reader(broker, READER_FOLLOWS, subject, each, user);
  if (!reader) return NULL;
  memcpy(reader->stream, stream, sizeof reader->stream);
  reader->next = from ? from : 1;
  reader->batch = batch;
  if (broker_has_streams(broker)) make_consumer(reader);
  return reader;
}

/* ------------------------------------------------------------------------------------------------- the broker's face
 */

broker_reader *broker_follow(struct broker *broker, const char *subject, uint64_t from, broker_each each, void *user) {
  char stream[STREAM_BYTES_MAX];
  if (broker->closing) {
    error_set(MUSTER_E_STATE, "the broker is closed");
    return NULL;
  }
  if (broker_check_subject(subject) != MUSTER_OK || !broker_stream_of(broker, subject, stream)) return NULL;
  return readers_begin(broker, stream, subject, from, BATCH_USUAL, each, user);
}

broker_reader *broker_listen(struct broker *broker, const char *subject, broker_each each, void *user) {
  if (broker->closing) {
    error_set(MUSTER_E_STATE, "the broker is closed");
    return NULL;
  }
  if (strlen(subject) >= BROKER_SUBJECT_BYTES || !*subject || strpbrk(subject, " \t\r\n\"\\")) {
    error_set(MUSTER_E_ARGUMENT, "\"%.64s\" is no subject", subject);
    return NULL;
  }
  broker_reader *reader = make_reader(broker, READER_LISTENS, subject, each, user);
  if (reader && nats_link_listen(broker->link, subject, reader->number) == MUSTER_OK) return reader;
  if (reader) remove_reader(broker->readers, reader);
  return NULL;
}

void broker_hold(broker_reader *reader, bool held) {
  reader->held = held;
  if (!held && reader->state == READER_READS && !reader->gone) ask_consumer(reader);
}

void broker_unfollow(broker_reader *reader) {
  if (!reader || reader->gone) return;
  reader->gone = true;
  if (!reader->giving) free_reader(reader);
}
