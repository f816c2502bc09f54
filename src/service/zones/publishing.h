/* service/zones/publishing.h - the publishes that wait, by subject. Loop's thread. */
#ifndef SERVICE_ZONES_PUBLISHING_H
#define SERVICE_ZONES_PUBLISHING_H

#include "service/zones/asks.h"

/* Null: no memory. */
struct publishing *publishing_open(struct broker *broker);

/* Frees it, when nothing waits; null does nothing. */
void publishing_free(struct publishing *publishing);

/* Sends what waits for the streams, and gives up what has waited too long. Called some times a second, and when there
 * are streams. */
void publishing_look_after(struct publishing *publishing);

/* Ends all that wait, with MUSTER_E_SYSTEM. */
void publishing_end_all(struct publishing *publishing);

#endif
