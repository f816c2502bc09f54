/* service/supervise/front.h - passes requests on to the processes of the worlds, which serve them at unix sockets of
 * their own, by libcurl in the loop. An answer that ends comes back as a whole; one without an end (a stream) is passed
 * on piece by piece, no faster than the client takes it. The names of sockets stay the caller's, and as they are. All
 * functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_FRONT_H
#define SERVICE_SUPERVISE_FRONT_H

#include "service/http.h"

struct front;

/* An answer of a world's process. */
typedef struct front_answer {
  unsigned status;  /* 0 = there was none: `problem` says why */
  const char *type; /* "" = it has no body */
  char *body;       /* a zero follows, which is not counted; freed after the call, unless taken */
  size_t bytes;
  const char *problem;
} front_answer;

/* Null with a message when memory is short. */
struct front *front_open(uv_loop_t *loop);

/* Ends all that is under way: requests are refused, streams end. Before http_destroy. Null is a no-op. */
void front_close(struct front *front);

/* Frees it; after http_destroy. Null is a no-op. */
void front_free(struct front *front);

/* The process at this socket has ended: what it was asked and has not answered is refused. Else a request that it had
 * not taken yet would wait for the next process, and with one that has failed until its time is over. Streams end by
 * themselves. */
void front_drop(struct front *front, const char *socket);

/* Passes a request on, and its answer back. Refuses it (502) when the world's process does not answer. */
void front_forward(struct front *front, http_request *request, const char *socket);

/* Makes a request of its own, like `request` but to `socket`, and gives its answer to `take`, once, also when the front
 * is closed meanwhile. */
void front_ask(struct front *front, const http_request *request, const char *socket,
               void (*take)(front_answer *answer, void *user), void *user);

#endif
