/* service/api_once.h - requests that are carried out once, whatever becomes of the connection or of the process: a
 * client sends a change with a key (the header Idempotency-Key), and sends it again with that key when it got no
 * answer.
 *
 *     the key is new                    it is carried out, and its answer kept (service/keys.h)
 *     known, and the same request       the kept answer, with the header Idempotent-Replayed: true
 *     known, and another request        422 key_reused
 *     known, and not answered yet       409 under_way, with Retry-After
 *     known, and the process ended      500 ended_process, unless its client insists (service/poison.h)
 *     in its work
 *
 * What makes two requests the same is method, path, query, body and, of a body, its type. Kept are answers of requests
 * that were carried out, also where a module's command answered with an error. A refusal that changed nothing is not
 * kept, so that the request may be corrected, and sent again when there is less to do.
 *
 * All of it is of requests that change something in a world, and are carried out between two frames. Their answers wait
 * until the change is safe (service/held.h), and have the header Muster-Frame: the frame with which it is. Answers that
 * only read have it, too: it is the world's last frame then. */
#ifndef SERVICE_API_ONCE_H
#define SERVICE_API_ONCE_H

#include "service/api.h"

#define ONCE_KEY      "Idempotency-Key"
#define ONCE_REPLAYED "Idempotent-Replayed"
#define ONCE_FRAME    "Muster-Frame"

/* Reads the key, and makes out what the request is. Loop's thread. False with a problem. */
bool once_read(api_call *call);

/* Whether the call is answered, or refused, without doing its work. Frames' thread. */
bool once_is_answered(api_call *call);

/* Does the call's work. A process that ends in it has left its key. Frames' thread. */
void once_work(api_call *call, void (*work)(api_call *call));

/* The work was done: keeps the answer, and notes what it has to wait for. Frames' thread. */
void once_end(api_call *call);

/* Whether the answer may go out. Frames' thread. */
bool once_may_go(mailbox_request *request);

/* Adds the headers to the answer. Loop's thread. */
void once_add_headers(const api_call *call);

#endif
