/* service/journals.h - the journals of the worlds (muster/journal.h): what answers wait for. Frames' thread. */
#ifndef SERVICE_JOURNALS_H
#define SERVICE_JOURNALS_H

#include <muster/journal.h>

struct hosted_world;

typedef enum journal_kind { JOURNAL_KEYS = 'K' } journal_kind;

/* muster_journal_snapshot: a world in which no frames run is saved as it is now. */
muster_result journals_snapshot(struct hosted_world *world);

/* Adds a note of this kind to the next frame: 'K' = bytes that keys_take reads. Of a world without a journal a no-op.
 */
muster_result journals_note(struct hosted_world *world, char kind, const void *bytes, size_t count);

#endif
