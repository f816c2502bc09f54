/* daemon.h - a real musterd (MUSTERD in the environment) in a temporary folder of its own, for one test.
 *
 *     musterd service;
 *     daemon_start(&service, "--world main=wildlife --agents 500");   ready when it returns
 *     daemon_reply reply;
 *     daemon_ask(&service, "GET", "/v1/worlds", NULL, &reply);        status and body
 *     daemon_stop(&service);                                          by SIGTERM; it must end well
 *
 * Ready is what the service itself says by sd_notify. What waits gives up after a minute, which only a test that
 * fails anyway comes to. The service ends with the test, however that ends. */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DAEMON_PATH_BYTES = 96, DAEMON_REPLY_BYTES = 1 << 20, DAEMON_LOG_BYTES = 1 << 18 };

typedef struct musterd {
  char folder[DAEMON_PATH_BYTES]; /* everything of the test is in here; removed with it, and "" then */
  char socket[DAEMON_PATH_BYTES]; /* of control */
  int notices;                    /* what it tells by sd_notify arrives here */
  const char *program;            /* another than MUSTERD; null = that */
  pid_t process;                  /* 0 = does not run */
  int status;                     /* once it has ended: exit status, or minus the signal */
} musterd;

typedef struct daemon_reply {
  int status;    /* of HTTP; 0 = the connection was closed without an answer */
  size_t length; /* of the body */
  char *body;    /* ends with a zero; in `text` */
  char text[DAEMON_REPLY_BYTES];
} daemon_reply;

/* Makes the folder; nothing runs yet. */
void daemon_prepare(musterd *service);

/* Deaths are what is tested: no core files, and no sanitizer between the signal and its default. */
void daemon_expect_deaths(void);

/* Writes a file in the folder, such as a configuration. */
void daemon_write(const musterd *service, const char *name, const char *text);

/* A text in which @ stands for the folder. */
void daemon_expand(const musterd *service, const char *text, char *out, size_t bytes);

/* Whether MUSTER_TEST_ISOLATION=process has worlds run in processes of their own, where a test does not say how. */
bool daemon_has_processes(void);

/* Starts musterd with these flags, split at blanks, beside those for its socket and the modules of the build; what is
 * written as @ stands for the folder. It is not ready yet. */
void daemon_launch(musterd *service, const char *flags);

/* Waits until it says `notice`, such as "READY=1"; false when it ends instead. */
bool daemon_await(musterd *service, const char *notice);

/* All three, and fails the test when it does not become ready. */
void daemon_start(musterd *service, const char *flags);

/* Waits for the end, which something else brought about, and returns the status. */
int daemon_wait(musterd *service);

void daemon_signal(const musterd *service, int number);

/* A file in the folder, such as what it has logged up to now; the caller frees it. */
char *daemon_read(const musterd *service, const char *name);
char *daemon_log(const musterd *service);

/* Waits until the log has a text; fails the test when the service ends without. */
void daemon_await_log(musterd *service, const char *text);

/* Asks over the unix socket; `body` may be null. The reply is filled by the caller's wish: give static or allocated
 * memory. Fails the test when the connection is not answered. */
void daemon_ask(const musterd *service, const char *method, const char *path, const char *body, daemon_reply *reply);

/* A sample of /metrics, by its name with its labels; -1 when there is none. */
double daemon_metric(const musterd *service, const char *sample);

/* The same with a body of bytes and its content type. */
void daemon_ask_bytes(const musterd *service, const char *method, const char *path, const char *type, const void *body,
                      size_t length, daemon_reply *reply);

/* The same in two: sends a request, which may be one that brings the process down; and takes its answer, by the
 * connection. */
int daemon_begin(const musterd *service, const char *method, const char *path, const char *type, const void *body,
                 size_t length);
void daemon_end(int descriptor, daemon_reply *reply);

/* The same of JSON or of text, or without a body, with an Idempotency-Key; null = none. */
int daemon_begin_once(const musterd *service, const char *method, const char *path, const char *key, const char *body);
void daemon_ask_once(const musterd *service, const char *method, const char *path, const char *key, const char *body,
                     daemon_reply *reply);

/* Whether the reply has a header; its value is copied. */
bool daemon_header(const daemon_reply *reply, const char *name, char *value, size_t bytes);

/* A connection to the unix socket, which the caller closes. */
int daemon_connect(const musterd *service);

/* Takes off what the daemon has told by sd_notify: it waits half a second for each notice that finds no room. */
void daemon_drop_notices(const musterd *service);

/* Whether somebody answers there: behind a death the socket is still to be seen. */
bool daemon_listens(const musterd *service);

/* Stops it by SIGTERM when it still runs, removes the folder, and fails the test when it did not end well. */
void daemon_stop(musterd *service);

/* Ends it by SIGKILL, when it runs; the folder stays. */
void daemon_kill(musterd *service);

/* Removes the folder of one that has ended. */
void daemon_clear(musterd *service);

#endif
