/* service/stream_texts.h - the events of a world as text, made once for all streams that show them. Loop's thread. */
#ifndef SERVICE_STREAM_TEXTS_H
#define SERVICE_STREAM_TEXTS_H

#include "service/service.h"

/* The values that change when there is something new to show. */
typedef struct stream_state {
  uint64_t frames, budget_ns, period_ns;
  bool paused, failed;
} stream_state;

/* Whether two states are equal: there is nothing new. */
bool stream_states_equal(const stream_state *a, const stream_state *b);

typedef struct stream_text {
  uint64_t made_ms; /* of the loop's clock; 0 = never */
  size_t length, room;
  char *text; /* "event: ...\ndata: ...\n\n" */
} stream_text;

/* The texts of one world; all zero at first. */
typedef struct stream_texts {
  uint64_t read_ms;
  stream_state state;
  stream_text frame, types;
} stream_texts;

/* The state that frame events show now; texts of an older state are made again when they are asked for. */
const stream_state *stream_texts_look(stream_texts *texts, hosted_world *world, uint64_t now_ms);

/* The events, not older than a few milliseconds and a second; null when memory is short. Valid until the next call. */
const stream_text *stream_texts_frame(stream_texts *texts, hosted_world *world, uint64_t now_ms);
const stream_text *stream_texts_types(stream_texts *texts, hosted_world *world, uint64_t now_ms);

/* Frees them. */
void stream_texts_free(stream_texts *texts);

#endif
