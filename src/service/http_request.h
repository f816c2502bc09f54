/* service/http_request.h - the life of a request; for http.c only. */
#ifndef SERVICE_HTTP_REQUEST_H
#define SERVICE_HTTP_REQUEST_H

#include "service/http_parts.h"

/* What libmicrohttpd calls; `user` is the listener. */
enum MHD_Result http_take(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *piece, size_t *piece_bytes, void **context);

/* The request is over, answered or not. */
void http_close_request(http_request *request);

/* Answers with a response that has all headers but the type's; the request owns it now. Null: there was no memory for
 * it. */
void http_respond(http_request *request, unsigned status, const char *type, struct MHD_Response *response);

/* Adds the headers by which no browser takes the answer for a page. */
void http_be_no_page(struct MHD_Response *response);

#endif
