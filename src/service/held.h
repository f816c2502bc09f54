/* service/held.h - until when an answer is held: it may not promise what a crash could take back.
 *
 * In a world with a journal (muster/journal.h) a change is safe once the frame after it is in the journal. In a world
 * in which no frame comes, since it is paused or has failed, a snapshot of the journal makes it safe: one for all
 * changes that were made before it begins. In a world without a journal, or whose journal has ended by itself, nothing
 * is waited for. In a zone the lease must be good as well, and the journal's stream has the frame, or the brokers have
 * that snapshot. Frames' thread. */
#ifndef SERVICE_HELD_H
#define SERVICE_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct hosted_world;

/* What a change waits for. */
typedef struct held_until {
  uint64_t frame;            /* this one is in the journal, or */
  uint64_t snapshot;         /* so many snapshots that were asked for are complete; 0 = none was asked for yet */
  uint64_t asked_ns, failed; /* when that was; snapshots that had failed by then */
  uint64_t behind;           /* how many the journal has with that one; 0 = it is not complete */
} held_until;

/* What the change waits for that was made just now. */
held_until held_begin(const struct hosted_world *world);

/* Whether it is safe. Asks for a snapshot where no frame comes. */
bool held_is_over(struct hosted_world *world, held_until *until);

/* The number of the world's last frame. */
uint64_t held_last_frame(const struct hosted_world *world);

#endif
