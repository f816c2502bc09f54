/* service/zones/asks.h - questions to one NATS server and their answers: what it is given to keep, what it is asked
 * for, and JetStream's own calls. Loop's thread. */
#ifndef SERVICE_ZONES_ASKS_H
#define SERVICE_ZONES_ASKS_H

#include "service/zones/document.h"
#include "service/zones/nats_link.h"

/* What came: the bytes of a message that was asked for; or a JSON object without an error, where JetStream answers by
 * one (`document`, else null). */
typedef struct ask_answer {
  const struct document *document;
  const void *bytes;
  size_t count;
} ask_answer;

/* MUSTER_OK, with an answer, else null. MUSTER_E_SYSTEM: nothing, in time; MUSTER_E_STATE: nobody was there to answer,
 * for now; MUSTER_E_STALE: what was named is not there; MUSTER_E_FULL: no room; MUSTER_E_ARGUMENT: it was refused. All
 * with the reason in muster_last_error(). */
typedef void (*ask_take)(muster_result result, const ask_answer *answer, void *user);

/* `name`: of the server, for reasons; it stays the caller's. Null: no memory. */
struct asks *asks_open(uv_loop_t *loop, struct nats_link *link, const char *name);

/* Frees it, after the last answer; null does nothing. */
void asks_free(struct asks *asks);

/* Sends a question, whose answer is waited for: a JSON object, or with asks_get() a message. False: it is not sent,
 * with the reason in muster_last_error(). */
bool asks_send(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms, ask_take take,
               void *user);
bool asks_get(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms, ask_take take,
              void *user);

/* An answer that came, `token` being what its subject has behind the inbox. */
void asks_answer(struct asks *asks, const char *token, const link_message *message);

/* Gives up those whose time is over; or all. */
void asks_look_after(struct asks *asks);
void asks_end_all(struct asks *asks, const char *reason);

#endif
