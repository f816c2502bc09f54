/* service/zones/reads.h - the reads of subjects that have an end. Loop's thread. */
#ifndef SERVICE_ZONES_READS_H
#define SERVICE_ZONES_READS_H

#include "service/zones/readers.h"

/* Begins what broker_read() does, with at most `batch` messages under way. Null with the reason in muster_last_error().
 */
broker_reading *reads_begin(struct broker *broker, const char *subject, uint64_t from, uint64_t through, uint32_t batch,
                            broker_each each, broker_done done, void *user);

/* Holds it back, also from inside its `each`, or lets it go on: as broker_hold(). */
void reads_hold(broker_reading *reading, bool held);

/* Goes on with those that wait, and gives up those without progress. Called some times a second. */
void reads_look_after(struct broker *broker);

/* Ends all, with MUSTER_E_SYSTEM. */
void reads_end_all(struct broker *broker);

#endif
