#include "service/supervise/front.h"

#include "service/curl_loop.h"
#include "service/supervise/front_headers.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

enum {
  WAIT_MS = 30000,   /* a world that is asked something answers within this */
  ASK_MS = 2000,     /* the same of a question to all worlds: one that is stuck must not keep the others' facts */
  WAITING_MAX = 128, /* requests that wait for one world: no world takes the connections of all others */
  STREAM_BYTES = 16 * 1024, /* of a stream that wait for its client; then the world has to wait, too: it sends nothing
                               that is outdated */
  ANSWER_BYTES = 16 << 20,  /* of an answer: more is not kept of what a world says, whatever its module makes it say */
  PART_BYTES = 4 << 20,     /* of an answer to a question */
  IDLE_MAX = 64             /* handles that are kept: making one takes longer than its request */
};

/* One request to a world. */
typedef struct front_call {
  LIST_ENTRY(front_call) link;
  struct front *front;
  CURL *curl;
  const char *socket; /* of the world */
  struct curl_slist *headers;
  front_headers said;    /* by the world */
  http_request *request; /* to be answered; null: `take` is called, unless that is null, too */
  void (*take)(front_answer *answer, void *user);
  void *user;
  char *bytes; /* what came and was not passed on yet */
  size_t count, room;
  http_stream *stream; /* the answer has no end and is passed on */
  bool begun, ended;   /* its headers were looked at; the world has ended the stream */
  bool paused;
  char problem[CURL_ERROR_SIZE];
} front_call;

struct front {
  struct curl_loop *curls;
  LIST_HEAD(, front_call) calls;
  uint32_t idle_count;
  CURL *idle[IDLE_MAX];
};

/* ------------------------------------------------------------------------------------------------------------ calls */

static size_t take_bytes(char *bytes, size_t each, size_t count, void *user);

/* What is the same for all requests. */
static void set_up(CURL *curl) {
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, front_headers_take);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none, whatever the environment says */
}

static CURL *take_handle(struct front *front) {
  if (front->idle_count) return front->idle[--front->idle_count];
  CURL *curl = curl_easy_init();
  if (curl) set_up(curl);
  return curl;
}

static void front_give_back(struct front *front, CURL *curl) {
  if (front->idle_count < IDLE_MAX)
    front->idle[front->idle_count++] = curl;
  else
    curl_easy_cleanup(curl);
}

static void free_call(front_call *call) {
  LIST_REMOVE(call, link);
  curl_loop_remove(call->front->curls, call->curl);
  front_give_back(call->front, call->curl);
  curl_slist_free_all(call->headers);
  free(call->bytes);
  free(call);
}

static bool keep_bytes(front_call *call, const char *bytes, size_t count) {
  if (call->count + count > (call->take ? PART_BYTES : ANSWER_BYTES)) return false;
  if (call->count + count + 1 > call->room) {
    size_t room = call->room * 2 > call->count + count + 1 ? call->room * 2 : call->count + count + 1;
    char *more = realloc(call->bytes, room < 4096 ? 4096 : room);
    if (!more) return false;
    call->bytes = more;
    call->room = room < 4096 ? 4096 : room;
  }
  memcpy(call->bytes + call->count, bytes, count);
  call->count += count;
  call->bytes[call->count] = '\0';
  return true;
}

/* A world may say what it wants, and its answers are of the page's origin: a browser gets only types that show nothing
 * and run nothing, and keeps what it is led to as a file. */
static const char *type_for_client(const front_call *call) {
  static const char *const types[] = {HTTP_JSON, HTTP_TEXT, HTTP_EVENTS};
  char *said = NULL;
  curl_easy_getinfo(call->curl, CURLINFO_CONTENT_TYPE, &said);
  size_t length = said ? strcspn(said, "; \t") : 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (length == strcspn(types[i], ";") && strncasecmp(said, types[i], length) == 0) return types[i];
  return HTTP_BINARY;
}

/* ---------------------------------------------------------------------------------------------------------- streams */

static size_t read_stream(void *user, char *buffer, size_t bytes) {
  front_call *call = user;
  size_t count = call->count < bytes ? call->count : bytes;
  memcpy(buffer, call->bytes, count);
  call->count -= count;
  memmove(call->bytes, call->bytes + count, call->count);
  if (call->count == 0 && call->ended) http_stream_end(call->stream);
  if (call->paused && !call->ended && call->count < STREAM_BYTES / 2) {
    call->paused = false;
    curl_easy_pause(call->curl, CURLPAUSE_CONT);
  }
  return count;
}

static void close_stream(void *user) {
  free_call(user);
}

/* The headers have come: an answer without a length is a stream. False: the rest is not wanted. */
static bool begin_answer(front_call *call) {
  curl_off_t length = -1;
  call->begun = true;
  if (!call->request) return true;
  curl_easy_getinfo(call->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length > ANSWER_BYTES) return false;
  if (length >= 0) {
    bool room = http_announce(call->request, (size_t)length);
    if (!room) call->request = NULL; /* refused */
    return room;
  }
  /* A change is answered once it is made; its body is still the request's until then. */
  if (strcmp(http_route_of(call->request)->method, "GET") != 0) return true;
  const http_stream_source source = {read_stream, close_stream, call};
  http_add_header(call->request, "Content-Disposition", "attachment");
  call->stream = http_answer_stream(call->request, type_for_client(call), &source);
  call->request = NULL;
  curl_easy_setopt(call->curl, CURLOPT_TIMEOUT_MS, 0L);
  return true;
}

static size_t take_bytes(char *bytes, size_t each, size_t count, void *user) {
  front_call *call = user;
  count *= each;
  if (!call->begun && !begin_answer(call)) return 0;
  if (call->stream && call->count > STREAM_BYTES) {
    call->paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (!keep_bytes(call, bytes, count)) return 0;
  if (call->stream) http_stream_wake(call->stream);
  return count;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void give_answer(front_call *call, front_answer *answer) {
  if (!call->request) {
    if (call->take) call->take(answer, call->user);
    return;
  }
  if (!answer->status) {
    if (answer->ended)
      front_headers_refuse_ended(call->request, answer->problem);
    else
      http_refuse(call->request, 502, "no_answer", NULL,
                  "world %s does not answer (%s): `muster ctl worlds` tells more",
                  http_path_value(call->request, "world"), answer->problem);
    return;
  }
  front_headers_give(&call->said, call->request);
  char *body = answer->body ? answer->body : strdup("");
  answer->body = NULL;
  if (!body) abort();
  http_add_header(call->request, "Content-Disposition", "attachment");
  http_answer_owned(call->request, answer->status, answer->bytes ? type_for_client(call) : NULL, body, answer->bytes);
}

/* The request has ended, well or not. */
static void end_call(void *request, CURLcode result) {
  front_call *call = request;
  if (call->stream) {
    call->ended = true;
    http_stream_wake(call->stream);
    if (call->count == 0) http_stream_end(call->stream);
    return;
  }
  long status = 0;
  if (!result) curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
  if (!result && (status < 200 || status > 599)) {
    snprintf(call->problem, sizeof call->problem, "status %ld is none of HTTP", status);
    status = 0;
  }
  front_answer answer = {.status = (unsigned)status,
                         .ended = result && result != CURLE_OPERATION_TIMEDOUT && result != CURLE_WRITE_ERROR,
                         .body = call->bytes,
                         .bytes = call->count,
                         .problem = *call->problem ? call->problem : curl_easy_strerror(result)};
  give_answer(call, &answer);
  call->bytes = answer.body;
  free_call(call);
}

struct front *front_open(uv_loop_t *loop) {
  struct front *front = calloc(1, sizeof *front);
  if (front) front->curls = curl_loop_open(loop, end_call);
  if (front && front->curls) return front;
  free(front);
  error_set(MUSTER_E_MEMORY, "no memory for the front");
  return NULL;
}

/* Ends what waits for the answer of a world; null = of any. */
static void refuse_calls(struct front *front, const char *socket, const char *problem) {
  front_call *call, *next;
  for (call = LIST_FIRST(&front->calls); call; call = next) {
    next = LIST_NEXT(call, link);
    if (call->stream || (socket && call->socket != socket)) continue;
    front_answer none = {.problem = problem, .ended = true};
    give_answer(call, &none);
    free_call(call);
  }
}

void front_drop(struct front *front, const char *socket) {
  refuse_calls(front, socket, "its process has ended");
}

void front_close(struct front *front) {
  if (!front) return;
  front_call *call;
  refuse_calls(front, NULL, "the daemon stops");
  LIST_FOREACH(call, &front->calls, link) http_stream_end(call->stream); /* its end frees the call */
}

void front_free(struct front *front) {
  if (!front) return;
  ASSERT(LIST_EMPTY(&front->calls));
  while (front->idle_count) curl_easy_cleanup(front->idle[--front->idle_count]);
  curl_loop_free(front->curls);
  free(front);
}

/* --------------------------------------------------------------------------------------------------------- requests */

/* Writes text, escaped as part of a path or query. */
static void write_escaped(FILE *url, const char *text) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,";
  for (; *text; text++)
    if (strchr(plain, *text))
      fputc(*text, url);
    else
      fprintf(url, "%%%02X", (unsigned char)*text);
}

/* The pattern with the values of its names in their place. */
static void write_path(FILE *url, const http_request *request) {
  const char *at = http_route_of(request)->pattern;
  for (const char *brace; (brace = strchr(at, '{')) != NULL;) {
    const char *end = strchr(brace, '}');
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(end - brace - 1), brace + 1);
    fprintf(url, "%.*s", (int)(brace - at), at);
    write_escaped(url, http_path_value(request, name));
    at = end + 1;
  }
  fputs(at, url);
}

static void write_queries(FILE *url, const http_request *request) {
  const char *names = http_route_of(request)->queries;
  char mark = '?';
  while (names && *names) {
    size_t length = strcspn(names, " ");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    const char *value = http_query_value(request, name);
    if (value) fprintf(url, "%c%s=", mark, name);
    if (value) write_escaped(url, value);
    if (value) mark = '&';
    names += length + strspn(names + length, " ");
  }
}

/* False: no memory. */
static bool set_url(front_call *call, const http_request *request) {
  char *text = NULL;
  size_t bytes;
  FILE *url = open_memstream(&text, &bytes);
  if (!url) return false;
  fputs("http://world", url);
  write_path(url, request);
  write_queries(url, request);
  bool set = fclose(url) == 0 && curl_easy_setopt(call->curl, CURLOPT_URL, text) == CURLE_OK;
  free(text);
  return set;
}

/* The body stays the request's: it lives as long as the call that answers it. False: no memory. */
static bool set_body(front_call *call, const http_request *request) {
  size_t bytes;
  const void *body = http_body(request, &bytes);
  const char *type = http_header_value(request, "Content-Type");
  bool changes = strcmp(http_route_of(request)->method, "GET") != 0;
  curl_easy_setopt(call->curl, CURLOPT_HTTPGET, 1L); /* forgets the body of the handle's last request */
  /* libcurl sends a request again when a connection that was used before breaks: not one that changes something. */
  curl_easy_setopt(call->curl, CURLOPT_FRESH_CONNECT, (long)changes);
  curl_easy_setopt(call->curl, CURLOPT_FORBID_REUSE, (long)changes);
  if (!changes) return true;
  curl_easy_setopt(call->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
  curl_easy_setopt(call->curl, CURLOPT_POSTFIELDS, bytes ? body : "");
  /* Without a value libcurl leaves a header out that it would make itself. */
  return front_headers_add(&call->headers, "Content-Type", type ? type : "") &&
         front_headers_add(&call->headers, "Expect", "") && front_headers_pass_on(&call->headers, request);
}

/* Null when there is no memory for it. */
static front_call *make_call(struct front *front, const http_request *request, const char *socket, long wait_ms) {
  front_call *call = calloc(1, sizeof *call);
  if (call) call->curl = take_handle(front);
  if (!call || !call->curl) {
    free(call);
    return NULL;
  }
  call->front = front;
  call->socket = socket;
  LIST_INSERT_HEAD(&front->calls, call, link);
  curl_easy_setopt(call->curl, CURLOPT_UNIX_SOCKET_PATH, socket);
  curl_easy_setopt(call->curl, CURLOPT_WRITEDATA, call);
  curl_easy_setopt(call->curl, CURLOPT_HEADERDATA, &call->said);
  curl_easy_setopt(call->curl, CURLOPT_PRIVATE, call);
  curl_easy_setopt(call->curl, CURLOPT_ERRORBUFFER, call->problem);
  curl_easy_setopt(call->curl, CURLOPT_TIMEOUT_MS, wait_ms);
  if (set_url(call, request) && set_body(call, request) &&
      curl_easy_setopt(call->curl, CURLOPT_CUSTOMREQUEST, http_route_of(request)->method) == CURLE_OK &&
      curl_easy_setopt(call->curl, CURLOPT_HTTPHEADER, call->headers) == CURLE_OK &&
      curl_loop_add(front->curls, call->curl))
    return call;
  free_call(call);
  return NULL;
}

void front_count(const struct front *front, const char *socket, front_counts *counts) {
  const front_call *call;
  *counts = (front_counts){0};
  LIST_FOREACH(call, &front->calls, link) {
    if (call->socket != socket || call->take) continue;
    counts->waiting += !call->stream;
    counts->streams += call->stream != NULL;
    counts->bytes += call->count;
  }
}

void front_forward(struct front *front, http_request *request, const char *socket) {
  front_counts counts;
  front_count(front, socket, &counts);
  if (counts.waiting >= WAITING_MAX) {
    http_refuse(request, 429, "busy", NULL, "%d requests wait for world %s already: try again in a second", WAITING_MAX,
                http_path_value(request, "world"));
    return;
  }
  front_call *call = make_call(front, request, socket, WAIT_MS);
  if (call)
    call->request = request;
  else
    http_refuse(request, 429, "busy", NULL, "no memory for the request now: try again in a second");
}

void front_ask(struct front *front, const http_request *request, const char *socket,
               void (*take)(front_answer *answer, void *user), void *user) {
  bool changes = strcmp(http_route_of(request)->method, "GET") != 0;
  front_call *call = make_call(front, request, socket, changes ? WAIT_MS : ASK_MS);
  front_answer none = {.problem = "no memory"};
  if (!call) {
    take(&none, user);
    return;
  }
  call->take = take;
  call->user = user;
}
