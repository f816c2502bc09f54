/* service/zones/jetstream.h - JetStream's own calls that the broker needs. Loop's thread. */
#ifndef SERVICE_ZONES_JETSTREAM_H
#define SERVICE_ZONES_JETSTREAM_H

#include "service/zones/asks.h"

enum { JETSTREAM_WAIT_MS = 5000 }; /* for one answer: a new leader takes as long */

/* How long to wait for the answer of what may be asked again, by how often it was asked in vain: 1 s at first, as the
 * server that was asked may just have ended. */
uint64_t jetstream_wait_ms(uint32_t tries);

/* Makes the streams that are missing, one after the other, and looks whether those that are there keep what they are
 * given. Called some times a second. */
void jetstream_look_after_streams(struct broker *broker);

/* Asks for the last message of a subject: its sequence is in `answer`'s message. MUSTER_E_STALE: there is none. */
uint64_t jetstream_ask_last(struct broker *broker, const char *stream, const char *subject, uint64_t wait_ms,
                            ask_take take, void *user);

/* That sequence. */
uint64_t jetstream_read_last(const struct document *answer);

/* Removes the messages of a subject (with wildcards, too) below a sequence, or all with 0. */
uint64_t jetstream_ask_purge(struct broker *broker, const char *stream, const char *subject, uint64_t before,
                             ask_take take, void *user);

/* Sends one of JetStream's calls, such as "STREAM.INFO", of a stream. */
uint64_t jetstream_ask(struct broker *broker, const char *call, const char *stream, const char *document, ask_take take,
                       void *user);

#endif
