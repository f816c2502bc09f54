/* service/zones/asks.h - questions over NATS and their answers: the publishes of streams, and JetStream's own calls.
 * Loop's thread. */
#ifndef SERVICE_ZONES_ASKS_H
#define SERVICE_ZONES_ASKS_H

#include "service/zones/parts.h"

/* What came: MUSTER_OK with `answer`, a JSON object without an error. MUSTER_E_SYSTEM: nothing, in time;
 * MUSTER_E_STATE: nobody was there to answer, for now; MUSTER_E_STALE: what was named is not there; MUSTER_E_FULL: no
 * room; MUSTER_E_ARGUMENT: it was refused. All with the reason in muster_last_error(). `code` is JetStream's own; 0 =
 * none. */
typedef void (*ask_take)(muster_result result, const struct document *answer, int code, void *user);

/* Null: no memory. */
struct asks *asks_open(struct broker *broker);

/* Frees it, after the last answer; null does nothing. */
void asks_free(struct asks *asks);

/* Sends a question, whose answer is waited for; the number is for asks_forget(). 0: it is not sent, with the reason in
 * muster_last_error(). */
uint64_t asks_send(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms,
                   ask_take take, void *user);

/* The answer is not wanted any more. A number that is answered, or 0, is none. */
void asks_forget(struct asks *asks, uint64_t number);

/* An answer that came, `token` being what its subject has behind the inbox. */
void asks_answer(struct asks *asks, const char *token, const link_message *message);

/* Gives up those whose time is over; or all. */
void asks_look_after(struct asks *asks);
void asks_end_all(struct asks *asks, const char *reason);

#endif
