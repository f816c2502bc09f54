/* deliveries.h - the commit delivers what updates sent: little by little, or, where it is much, beside each other:
 *
 *     note    senders     to which receivers' part does each of its messages go?
 *     sort    senders     messages by part, in the order of their senders
 *     put     parts       messages go into the boxes of the part's receivers
 *     -       the caller  counts; senders of dropped messages are noted
 *
 * The agents of a part are whole words of 64 neighbours, so parts share no word of a bitmap. A box gets its messages in
 * the order of their senders, whatever the threads. */
#ifndef DELIVERIES_H
#define DELIVERIES_H

#include "world/world.h"

/* Delivers what the senders sent, in agent order, until the clock passes `end_ns`. True when nothing is left. Frame's
 * thread. */
bool deliveries_run(struct muster_world *world, uint64_t end_ns);

#endif
