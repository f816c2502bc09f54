/* service/zones/reads.h - the reads of subjects that have an end. Loop's thread. */
#ifndef SERVICE_ZONES_READS_H
#define SERVICE_ZONES_READS_H

#include "service/zones/readers.h"

/* Goes on with those that wait, and gives up those without progress. Called some times a second. */
void reads_tick(struct broker *broker);

/* Ends all, with MUSTER_E_SYSTEM. */
void reads_end_all(struct broker *broker);

#endif
