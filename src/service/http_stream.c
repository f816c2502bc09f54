/* http_stream.c - answers without an end: libmicrohttpd asks for more whenever the client has taken the last bytes. A
 * connection without new bytes sleeps, and is resumed when there may be some. */
#include "service/http_request.h"

#include <stdlib.h>

struct http_stream {
  http_stream_source source;
  struct http *http;
  http_request *request; /* null once the request is gone */
  bool asleep, ending;
};

static bool fall_asleep(http_stream *stream) {
  http_request *request = stream->request;
  if (!request) return false;
  stream->asleep = true;
  request->client->deadline_ms = UINT64_MAX;
  MHD_suspend_connection(request->connection);
  return true;
}

/* Called again as soon as the client has taken what this call gave. */
static ssize_t read_on(void *user, uint64_t position, char *buffer, size_t bytes) {
  http_stream *stream = user;
  (void)position;
  if (stream->ending) return MHD_CONTENT_READER_END_OF_STREAM;
  size_t length = stream->source.read(stream->source.user, buffer, bytes);
  if (length == 0 && !fall_asleep(stream)) return MHD_CONTENT_READER_END_OF_STREAM;
  if (length > 0 && stream->request)
    stream->request->client->deadline_ms = uv_now(stream->http->loop) + stream->http->options.send_ms;
  return (ssize_t)length;
}

static void http_stream_release(void *user) {
  http_stream *stream = user;
  stream->source.closed(stream->source.user);
  if (stream->request) stream->request->stream = NULL;
  free(stream);
}

http_stream *http_answer_stream(http_request *request, const char *type, const http_stream_source *source) {
  enum { PIECE_BYTES = 8192 };
  http_stream *stream = calloc(1, sizeof *stream);
  if (!stream) abort();
  *stream = (http_stream){.source = *source, .http = request->http, .request = request};
  request->stream = stream;
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, read_on, stream, http_stream_release);
  if (response) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (response) http_be_no_page(response);
  /* With HTTP/1.1 libmicrohttpd would end a chunked body that it has not begun; the client would read that as the start
   * of the next answer. */
  if (response && request->head) MHD_set_response_options(response, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
  http_respond(request, 200, type, response);
  return stream;
}

void http_stream_wake(http_stream *stream) {
  if (!stream->asleep || !stream->request) return;
  stream->asleep = false;
  stream->request->client->deadline_ms = uv_now(stream->http->loop) + stream->http->options.send_ms;
  MHD_resume_connection(stream->request->connection);
  http_turn_soon(stream->request->client->listener);
}

void http_stream_end(http_stream *stream) {
  stream->ending = true;
  http_stream_wake(stream);
}

void http_stream_forget(http_stream *stream) {
  stream->request = NULL;
}
