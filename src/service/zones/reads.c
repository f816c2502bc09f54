#include "service/zones/reads.h"

#include "service/zones/jetstream.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  READ_BATCH = 256,
  READ_AGAIN_MS = 200,
  READ_PATIENCE = 6 /* answers' times without any progress, until a read gives up */
};

struct broker_reading {
  LIST_ENTRY(broker_reading) link;
  struct broker *broker;
  uint64_t from, through, end;
  uint64_t ask; /* for the end; 0 = none is under way */
  uint64_t again_ms, progress_ms;
  uint32_t batch, tries; /* tries: to learn the end */
  bool held;
  broker_reader *reader; /* once the end is known */
  broker_each each;
  broker_done done;
  void *user;
  char stream[STREAM_BYTES_MAX];
  char subject[BROKER_SUBJECT_BYTES];
};

/* Also from inside the callback of its reader, which ends behind it. */
static void end_reading(broker_reading *reading, muster_result result) {
  LIST_REMOVE(reading, link);
  asks_forget(reading->broker->asks, reading->ask);
  broker_unfollow(reading->reader);
  broker_end_call(reading->broker);
  reading->done(result, reading->user);
  free(reading);
}

/* One behind the end shows that the last one was purged, as another had come. */
static void take_read(uint64_t sequence, const void *bytes, size_t count, void *user) {
  broker_reading *reading = user;
  reading->progress_ms = uv_now(reading->broker->loop);
  if (sequence <= reading->end) reading->each(sequence, bytes, count, reading->user);
  if (sequence >= reading->end) end_reading(reading, MUSTER_OK);
}

static void take_end_of_subject(muster_result result, const struct document *answer, int code, void *user) {
  broker_reading *reading = user;
  struct broker *broker = reading->broker;
  (void)code;
  reading->ask = 0;
  reading->end = jetstream_read_last(answer);
  bool known = result == MUSTER_OK || result == MUSTER_E_STALE;
  if (!known || reading->end < reading->through) { /* a server that does not lead any more may know less */
    reading->again_ms = uv_now(broker->loop) + READ_AGAIN_MS;
  } else if (reading->end < reading->from) {
    end_reading(reading, MUSTER_OK);
  } else {
    reading->progress_ms = uv_now(broker->loop);
    reading->reader =
        readers_begin(broker, reading->stream, reading->subject, reading->from, reading->batch, take_read, reading);
    if (!reading->reader)
      end_reading(reading, MUSTER_E_SYSTEM);
    else if (reading->held)
      broker_hold(reading->reader, true);
  }
}

static void ask_for_end(broker_reading *reading) {
  struct broker *broker = reading->broker;
  if (reading->reader || reading->ask || uv_now(broker->loop) < reading->again_ms || !broker_has_streams(broker))
    return;
  reading->ask = jetstream_ask_last(broker, reading->stream, reading->subject, jetstream_wait_ms(reading->tries++),
                                    take_end_of_subject, reading);
}

void reads_look_after(struct broker *broker) {
  broker_reading *reading, *next;
  uint64_t patience_ms = READ_PATIENCE * (uint64_t)broker->settings.answer_ms;
  for (reading = LIST_FIRST(&broker->readings); reading; reading = next) {
    next = LIST_NEXT(reading, link);
    if (reading->held || uv_now(broker->loop) - reading->progress_ms < patience_ms) {
      ask_for_end(reading);
      continue;
    }
    end_reading(reading, error_set(MUSTER_E_SYSTEM, "NATS: nothing comes of %s", reading->subject));
    next = LIST_FIRST(&broker->readings); /* the callback may have changed the list */
  }
}

void reads_end_all(struct broker *broker) {
  for (broker_reading *reading; (reading = LIST_FIRST(&broker->readings)) != NULL;)
    end_reading(reading, error_set(MUSTER_E_SYSTEM, "the broker is closed"));
}

void reads_hold(broker_reading *reading, bool held) {
  reading->held = held;
  reading->progress_ms = uv_now(reading->broker->loop);
  if (reading->reader) broker_hold(reading->reader, held);
}

broker_reading *reads_begin(struct broker *broker, const char *subject, uint64_t from, uint64_t through, uint32_t batch,
                            broker_each each, broker_done done, void *user) {
  char stream[STREAM_BYTES_MAX];
  if (broker_check_subject(subject) != MUSTER_OK || !broker_stream_of(broker, subject, stream) ||
      broker_count_call(broker) != MUSTER_OK)
    return NULL;
  broker_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    broker_end_call(broker);
    error_set(MUSTER_E_MEMORY, "no memory for a read");
    return NULL;
  }
  *reading = (broker_reading){.broker = broker,
                              .from = from ? from : 1,
                              .through = through,
                              .batch = batch,
                              .progress_ms = uv_now(broker->loop),
                              .each = each,
                              .done = done,
                              .user = user};
  memcpy(reading->stream, stream, sizeof reading->stream);
  snprintf(reading->subject, sizeof reading->subject, "%s", subject);
  LIST_INSERT_HEAD(&broker->readings, reading, link);
  ask_for_end(reading);
  return reading;
}

muster_result broker_read(struct broker *broker, const char *subject, uint64_t from, uint64_t through, broker_each each,
                          broker_done done, void *user) {
  return reads_begin(broker, subject, from, through, READ_BATCH, each, done, user) ? MUSTER_OK : muster_last_result();
}
