/* service/supervise/front_headers.h - the headers of requests and answers that the front passes on: those of requests
 * that are carried out once (service/api_once.h). Loop's thread. */
#ifndef SERVICE_SUPERVISE_FRONT_HEADERS_H
#define SERVICE_SUPERVISE_FRONT_HEADERS_H

#include "service/http.h"

struct curl_slist;

/* What a world's process said in the headers of its answer; all zero at first. */
typedef struct front_headers {
  char frame[24], retry[8]; /* "" = nothing */
  bool replayed;
} front_headers;

/* Takes a line of the headers of an answer: libcurl calls it, with a front_headers as `user`. Only what such an answer
 * may say is taken: nothing that a world says is trusted. */
size_t front_headers_take(char *line, size_t each, size_t count, void *user);

/* Adds them to the answer that the client gets. */
void front_headers_give(const front_headers *headers, http_request *request);

/* Adds one to those that a world is sent. False: no memory. */
bool front_headers_add(struct curl_slist **headers, const char *name, const char *value);

/* Adds those of a change that its world must know. False: no memory. */
bool front_headers_pass_on(struct curl_slist **headers, const http_request *request);

/* Refuses a request whose world's process has ended: it may be sent again. */
void front_headers_refuse_ended(http_request *request, const char *problem);

/* Says in the answer in how many seconds to ask again; 0 = nothing is said. */
void front_headers_say_when(http_request *request, uint32_t seconds);

#endif
