/* frame_record.h - what a frame cannot know by itself, written down or read instead (see record/recorder.h): how
 * updates ended, who acted, what was measured, and what the frame came to. Everything here is called on the frame's
 * thread. */
#ifndef FRAME_RECORD_H
#define FRAME_RECORD_H

#include "record/recorder.h"
#include "world/world.h"

/* A recorded frame begins. */
void recorder_begin_frame(struct muster_world *world, const muster_frame *frame);
/* It is over, and so is its report but for what writing it takes. */
void recorder_end_frame(struct muster_world *world);
/* That is known, too. A replay stands at the next section afterwards. */
void recorder_exchange_times(struct muster_world *world);

/* How many cycles each update ran; replaying: is to run. Before and after stage 7 on the wall clock. */
void recorder_keep_cycles(struct muster_world *world);
bool recorder_take_cycles(struct muster_world *world);

/* After stage 7: which entries ran, and who was woken and run beside them. */
void recorder_keep_outcomes(struct muster_world *world);

/* Who of the list of those who act beside each other did so: written down after they ran; or, on the wall clock, read
 * before: the others are left out. */
void recorder_keep_acted(struct muster_world *world);
void recorder_choose_acted(struct muster_world *world);

/* Which claims were settled beside each other: by share, the number of claims it looked at. False when none. */
bool recorder_exchange_shares(struct muster_world *world, bool any, uint32_t looked_at[WHEEL_SHARDS]);

/* The offences that a worker noted, when there are any: written down. */
bool recorder_exchange_offences(struct muster_world *world, offence_list *list);

/* Replaying: the next such list, into an empty one; false when there is no further one. */
bool recorder_next_offences(struct muster_world *world, offence_list *list);

/* A type whose claim took suspiciously long, and an incident of the watchdog: written, or read instead. False when
 * there is none, or no more. */
bool recorder_exchange_suspect(struct muster_world *world, bool any, uint32_t *type);
bool recorder_exchange_incident(struct muster_world *world, bool any, watch_incident *incident);

/* What the workers measured: learnt from the record when replaying. */
void recorder_exchange_costs(struct muster_world *world);

/* Takes measured times that can be; else the replay has diverged, and `own` is kept. */
void recorder_check_experience(struct muster_world *world, const frame_experience *own);

#endif
