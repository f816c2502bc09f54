/* told_daemon.h - a daemon that answers what it is told to, in this order, and keeps what it was asked: for programs
 * that ask a daemon, of which each request, and all that they make of an answer, is to be seen. */
#ifndef TOLD_DAEMON_H
#define TOLD_DAEMON_H

#include "room.h"

#include <poll.h>
#include <pthread.h>

enum { TOLD_ANSWERS_MAX = 200, TOLD_REQUEST_BYTES = 1 << 14, TOLD_KEY_BYTES = 64, TOLD_TEXT_BYTES = 1 << 17 };

/* "200 {...}", "409 [Retry-After: 1] {...}"; "cut 200 {...}", of which half comes; "closed": the
 * connection is, without an answer; or "gone": so is the daemon, for good. */
typedef struct told_answer {
  const char *to; /* the path that it answers, as often as it is asked for; null: whatever comes next, once */
  const char *text;
} told_answer;

typedef struct told_daemon {
  char folder[64], socket[80];
  int listener;
  pthread_t thread;
  pthread_mutex_t lock;
  told_answer answers[TOLD_ANSWERS_MAX];
  size_t answer_count, answered;
  char asked[1 << 16]; /* a line for each request: "> PATCH /v1/worlds/main key 1 json {...}" */
  size_t asked_bytes;
  char keys[TOLD_ANSWERS_MAX][TOLD_KEY_BYTES];
  size_t key_count;
} told_daemon;

static told_daemon told; /* the one of a file of tests */

/* The value of a header; "" where there is none. */
static inline void told_header(const char *request, const char *name, char *value, size_t bytes) {
  const char *found = strcasestr(request, name);
  *value = '\0';
  if (found)
    snprintf(value, bytes, "%.*s", (int)(strstr(found + 2, "\r\n") - found - strlen(name)), found + strlen(name));
}

/* Which of the keys it is that came so far, from 1 on. */
static inline size_t told_key(const char *key) {
  size_t i = 0;
  while (i < told.key_count && strcmp(told.keys[i], key) != 0) i++;
  if (i == told.key_count && told.key_count < TOLD_ANSWERS_MAX)
    snprintf(told.keys[told.key_count++], TOLD_KEY_BYTES, "%s", key);
  return i + 1;
}

static inline void told_note(const char *request, const char *body) {
  char key[TOLD_KEY_BYTES], token[128], type[128], more[96] = "";
  told_header(request, "\r\nIdempotency-Key: ", key, sizeof key);
  told_header(request, "\r\nAuthorization: ", token, sizeof token);
  told_header(request, "\r\nContent-Type: ", type, sizeof type);
  if (*key) snprintf(more, sizeof more, " key %zu", told_key(key));
  int line = (int)(strcspn(request, "\r") - strlen(" HTTP/1.1"));
  told.asked_bytes +=
      (size_t)snprintf(told.asked + told.asked_bytes, sizeof told.asked - told.asked_bytes, "> %.*s%s%s%s%s%s%s%s\n",
                       line, request, more, *token ? " " : "", token, *type ? " " : "",
                       *type && strrchr(type, '/') ? strrchr(type, '/') + 1 : type, *body ? " " : "", body);
  cr_assert_lt(told.asked_bytes, sizeof told.asked);
}

/* The answer to a request for this path; null: it was told none. */
static inline const char *told_find(const char *request) {
  const char *path = strchr(request, ' ') + 1;
  size_t length = strcspn(path, " ");
  for (size_t i = 0; i < told.answer_count; i++) {
    const char *to = told.answers[i].to;
    if (to && strlen(to) == length && strncmp(to, path, length) == 0) return told.answers[i].text;
  }
  if (told.answered < told.answer_count && !told.answers[told.answered].to) return told.answers[told.answered++].text;
  return NULL;
}

static inline void told_send(int peer, const char *answer) {
  char head[256], header[128] = "";
  int status = 0, behind = 0;
  if (!answer) answer = "500 {\"error\": {\"message\": \"nobody was told to answer this\"}}";
  if (strcmp(answer, "closed") == 0 || strcmp(answer, "gone") == 0) return;
  const bool cut = strncmp(answer, "cut ", 4) == 0;
  if (cut) answer += 4;
  sscanf(answer, "%d %n[%127[^]]] %n", &status, &behind, header, &behind);
  const size_t length = strlen(answer + behind);
  int bytes = snprintf(head, sizeof head, "HTTP/1.1 %d Told\r\n%s%sContent-Length: %zu\r\nConnection: close\r\n\r\n",
                       status, header, *header ? "\r\n" : "", length);
  if (send(peer, head, (size_t)bytes, MSG_NOSIGNAL) == bytes)
    (void)!send(peer, answer + behind, cut ? length / 2 : length, MSG_NOSIGNAL);
}

/* Reads a request and answers it. */
static inline void told_answer_one(int peer) {
  static char request[TOLD_REQUEST_BYTES];
  size_t length = 0, wanted = SIZE_MAX;
  char *body = NULL, bytes[32];
  while (length < wanted && length < sizeof request - 1) {
    ssize_t got = recv(peer, request + length, sizeof request - 1 - length, 0);
    if (got <= 0) break;
    request[length += (size_t)got] = '\0';
    if (body || !(body = strstr(request, "\r\n\r\n"))) continue;
    body += 4;
    told_header(request, "\r\nContent-Length: ", bytes, sizeof bytes);
    wanted = (size_t)(body - request) + strtoul(bytes, NULL, 10);
  }
  if (!body) return;
  pthread_mutex_lock(&told.lock);
  told_note(request, body);
  const char *answer = told_find(request);
  told_send(peer, answer);
  if (answer && strcmp(answer, "gone") == 0) unlink(told.socket);
  pthread_mutex_unlock(&told.lock);
}

static inline void *told_serve(void *unused) {
  (void)unused;
  for (int peer; (peer = accept(told.listener, NULL, NULL)) >= 0; close(peer)) told_answer_one(peer);
  return NULL;
}

/* Listens, where MUSTER_SOCKET says from now on; times are told in UTC. */
static inline void told_start(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  told = (told_daemon){.folder = "/tmp/muster-test-XXXXXX", .lock = PTHREAD_MUTEX_INITIALIZER};
  cr_assert_not_null(mkdtemp(told.folder));
  snprintf(told.socket, sizeof told.socket, "%s/control", told.folder);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", told.socket);
  told.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(bind(told.listener, (const struct sockaddr *)&address, sizeof address), 0);
  cr_assert_eq(listen(told.listener, 16), 0);
  setenv("MUSTER_SOCKET", told.socket, 1);
  setenv("TZ", "UTC", 1);
  unsetenv("COLUMNS");
  cr_assert_eq(pthread_create(&told.thread, NULL, told_serve, NULL), 0);
}

/* Forgets all, and answers with these from now on. */
static inline void told_expect(const told_answer *answers, size_t count) {
  cr_assert_leq(count, TOLD_ANSWERS_MAX);
  pthread_mutex_lock(&told.lock);
  memcpy(told.answers, answers, count * sizeof *answers);
  told.answer_count = count;
  told.answered = told.asked_bytes = told.key_count = 0;
  *told.asked = '\0';
  pthread_mutex_unlock(&told.lock);
}

static inline void told_stop(void) {
  shutdown(told.listener, SHUT_RDWR);
  pthread_join(told.thread, NULL);
  close(told.listener);
  unlink(told.socket);
  rmdir(told.folder);
}

/* ------------------------------------------------------------------------------------------------- files in `told` */

static inline FILE *told_open(const char *name) {
  const char *path = formed("%s/tests/service/told/%s.txt", getenv("MUSTER_SOURCE_DIR"), name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  return file;
}

/* Adds a line behind a mark. */
static inline void told_add(char text[TOLD_TEXT_BYTES], const char *mark, const char *line, size_t bytes) {
  size_t length = strlen(text);
  length += (size_t)snprintf(text + length, TOLD_TEXT_BYTES - length, "%s%s%.*s\n", mark, bytes && *mark ? " " : "",
                             (int)bytes, line);
  cr_assert_lt(length, TOLD_TEXT_BYTES);
}

#endif
