/* streams.c - nothing is queued for a stream: a timer says that something is due, and what it shows is looked up when
 * the client is ready to take it. So the memory of a stream is one event, however slow its client. */
#include "service/streams.h"

#include "base/error.h"
#include "service/stream_texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { LOOK_MS = 50, TYPES_GAP_MS = 1000, COMMENT_GAP_MS = 5000, RATE = 10, RATE_MAX = 20 };

struct stream {
  LIST_ENTRY(stream) link;
  struct streams *streams;
  http_stream *http;
  hosted_world *world;
  stream_texts *texts; /* of the world */
  uint64_t gap_ms;
  uint64_t frame_ms, types_ms, comment_ms; /* of the loop's clock: when the next of each is due */
  bool told;                               /* the client was sent this state: */
  stream_state state;
  char *event; /* the event that the client is taking */
  size_t length, taken;
};

struct streams {
  struct service *service;
  uv_timer_t timer;
  LIST_HEAD(, stream) list;
  uint32_t count;
  stream_texts worlds[WORLDS_MAX];
};

static uint64_t now_of(const struct streams *streams) {
  return uv_now(streams->service->loop);
}

/* ----------------------------------------------------------------------------------------------------------- events */

/* False: there is no memory now; the event is left out. */
static bool streams_put(struct stream *stream, const char *text, size_t length) {
  if (length == 0) return false;
  stream->event = malloc(length);
  if (!stream->event) return false;
  memcpy(stream->event, text, length);
  stream->length = length;
  stream->taken = 0;
  stream->comment_ms = now_of(stream->streams) + COMMENT_GAP_MS;
  return true;
}

static bool put_text(struct stream *stream, const stream_text *text) {
  return text && streams_put(stream, text->text, text->length);
}

static bool frame_is_due(struct stream *stream, uint64_t now_ms) {
  if (now_ms < stream->frame_ms) return false;
  const stream_state *state = stream_texts_look(stream->texts, stream->world, now_ms);
  return !stream->told || !stream_states_equal(state, &stream->state);
}

static bool streams_put_frame(struct stream *stream, uint64_t now_ms) {
  const stream_text *text = stream_texts_frame(stream->texts, stream->world, now_ms);
  uint64_t next_ms = stream->frame_ms + stream->gap_ms;
  stream->frame_ms = next_ms > now_ms ? next_ms : now_ms + stream->gap_ms;
  stream->state = stream->texts->state;
  stream->told = true;
  return put_text(stream, text);
}

/* The next event, if one is due. */
static bool streams_choose(struct stream *stream) {
  uint64_t now_ms = now_of(stream->streams);
  if (now_ms >= stream->types_ms) {
    stream->types_ms = now_ms + TYPES_GAP_MS;
    return put_text(stream, stream_texts_types(stream->texts, stream->world, now_ms));
  }
  if (frame_is_due(stream, now_ms)) return streams_put_frame(stream, now_ms);
  return now_ms >= stream->comment_ms && streams_put(stream, ":\n\n", 3);
}

static size_t streams_take(void *user, char *buffer, size_t bytes) {
  struct stream *stream = user;
  if (!stream->event && !streams_choose(stream)) return 0;
  size_t left = stream->length - stream->taken, length = left < bytes ? left : bytes;
  memcpy(buffer, stream->event + stream->taken, length);
  stream->taken += length;
  if (stream->taken < stream->length) return length;
  free(stream->event);
  stream->event = NULL;
  return length;
}

/* ---------------------------------------------------------------------------------------------------------- streams */

static void look_at_all(uv_timer_t *timer) {
  struct streams *streams = timer->data;
  struct stream *stream;
  LIST_FOREACH(stream, &streams->list, link) {
    uint64_t now_ms = now_of(streams);
    if (now_ms >= stream->types_ms || now_ms >= stream->comment_ms || frame_is_due(stream, now_ms))
      http_stream_wake(stream->http);
  }
}

static void closed(void *user) {
  struct stream *stream = user;
  struct streams *streams = stream->streams;
  LIST_REMOVE(stream, link);
  if (--streams->count == 0) uv_timer_stop(&streams->timer);
  free(stream->event);
  free(stream);
}

static void streams_add(struct streams *streams, struct stream *stream) {
  stream->streams = streams;
  LIST_INSERT_HEAD(&streams->list, stream, link);
  if (streams->count++ == 0) uv_timer_start(&streams->timer, look_at_all, LOOK_MS, LOOK_MS);
}

static void begin_stream(http_request *request) {
  struct service *service = http_user(request);
  struct streams *streams = service->streams;
  api_problem problem = {0};
  uint64_t hz = RATE;
  hosted_world *world = api_world(request);
  if (!world) return;
  if (!api_query_count(request, "hz", 1, RATE_MAX, &hz, &problem)) {
    api_refuse(request, &problem);
    return;
  }
  struct stream *stream = streams->count < STREAMS_MAX ? calloc(1, sizeof *stream) : NULL;
  if (!stream) {
    http_refuse(request, 429, "busy", NULL, "%u streams are open; close one, or ask again later", streams->count);
    return;
  }
  stream->world = world;
  stream->texts = &streams->worlds[world - service->worlds];
  stream->gap_ms = 1000 / hz;
  stream->comment_ms = now_of(streams) + COMMENT_GAP_MS;
  streams_add(streams, stream);
  stream->http = http_answer_stream(request, HTTP_EVENTS, &(http_stream_source){streams_take, closed, stream});
}

const http_route stream_routes[] = {
    {"GET", "/v1/worlds/{world}/stream", "what happens, as server-sent events: frame and types", .handle = begin_stream,
     .queries = "hz"},
    {0},
};

/* ------------------------------------------------------------------------------------------------------------ whole */

muster_result streams_open(struct service *service) {
  struct streams *streams = calloc(1, sizeof *streams);
  if (!streams) return error_set(MUSTER_E_MEMORY, "no memory for streams");
  streams->service = service;
  uv_timer_init(service->loop, &streams->timer);
  streams->timer.data = streams;
  service->streams = streams;
  return MUSTER_OK;
}

static void release(uv_handle_t *timer) {
  struct streams *streams = timer->data;
  for (uint32_t i = 0; i < WORLDS_MAX; i++) stream_texts_free(&streams->worlds[i]);
  free(streams);
}

void streams_close(struct service *service) {
  if (!service->streams) return;
  uv_close((uv_handle_t *)&service->streams->timer, release);
  service->streams = NULL;
}
