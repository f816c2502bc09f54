/* service/supervise/front.h - passes requests on to the processes of the worlds, which serve them at unix sockets of
 * their own, by libcurl in the loop. An answer that ends comes back as a whole; one without an end (a stream) is passed
 * on piece by piece, no faster than the client takes it. Nothing that a world says is trusted: answers have a most of
 * bytes, and each world a most of requests that wait for it. The names of sockets stay the caller's, and as they are:
 * worlds are told apart by them. All functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_FRONT_H
#define SERVICE_SUPERVISE_FRONT_H

#include "service/http.h"

struct front;

/* What clients have under way to a world now. */
typedef struct front_counts {
  uint32_t waiting, streams; /* requests without an answer; answers without an end */
  uint64_t bytes;            /* of answers and streams, that are here */
} front_counts;

/* An answer of a world's process. */
typedef struct front_answer {
  unsigned status; /* 0 = there was none: `problem` says why */
  bool ended;      /* since the process has ended */
  char *body;      /* a zero follows, which is not counted; freed after the call, unless taken */
  size_t bytes;
  const char *problem;
} front_answer;

/* Null with a message when memory is short. */
struct front *front_open(uv_loop_t *loop);

/* Ends all that is under way: requests are refused, streams end. Before http_destroy. Null is a no-op. */
void front_close(struct front *front);

/* Frees it; after http_destroy. Null is a no-op. */
void front_free(struct front *front);

/* Counts what is under way to the world at this socket. */
void front_count(const struct front *front, const char *socket, front_counts *counts);

/* Passes a request on, and its answer back. Refuses it when the world's process ends before it answers (503), does not
 * answer in time (502), or has too many requests that wait for it already (429). A request that changes something is
 * sent once at most: only its client may send it again, with its Idempotency-Key. */
void front_forward(struct front *front, http_request *request, const char *socket);

/* The process at this socket has ended: what it was asked and has not answered is refused. Else a request that it had
 * not taken yet would wait for the next process, and with one that has failed until its time is over. Streams end by
 * themselves. */
void front_drop(struct front *front, const char *socket);

/* Makes a request of its own, like `request` but to `socket`, and gives its answer to `take`, once, also when the front
 * is closed meanwhile. A question that changes nothing has two seconds for it. */
void front_ask(struct front *front, const http_request *request, const char *socket,
               void (*take)(front_answer *answer, void *user), void *user);

#endif
