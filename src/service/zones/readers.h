/* service/zones/readers.h - readers of subjects: from streams, by consumers that are asked for messages (pull), and
 * those that listen. Loop's thread.
 *
 * A consumer counts what it delivers. Whenever that count has a gap, the consumer stays silent, or the connection
 * broke, the reader makes another one from the sequence behind the last message that it gave; what comes again below
 * that is left out. So servers need to remember nothing about a reader. */
#ifndef SERVICE_ZONES_READERS_H
#define SERVICE_ZONES_READERS_H

#include "service/zones/asks.h"

/* Null: no memory. */
struct readers *readers_open(struct broker *broker);

/* Frees it, when none is left; null does nothing. */
void readers_free(struct readers *readers);

/* Begins to read a subject of a stream, at most `batch` messages (at least 1) being under way. Null: MUSTER_E_MEMORY.
 */
broker_reader *readers_begin(struct broker *broker, const char *stream, const char *subject, uint64_t from,
                             uint32_t batch, broker_each each, void *user);

/* A message that came by an answer to a reader's question, `token` being what its subject has behind the inbox; or one
 * of a consumer, as its reply's subject shows. False: it is neither. */
bool readers_take_status(struct readers *readers, const char *token, const link_message *message);
bool readers_take_message(struct readers *readers, const link_message *message);

/* A message that was told, by the number of the listener. */
void readers_take_told(struct readers *readers, const link_message *message);

/* Makes what is missing. Called some times a second, and when there are streams. */
void readers_look_after(struct readers *readers);

/* The connection broke: all consumers are made again. */
void readers_restart(struct readers *readers);

/* Ends all that are left. */
void readers_end_all(struct readers *readers);

#endif
