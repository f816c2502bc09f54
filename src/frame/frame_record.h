/* frame_record.h - what a frame cannot know by itself, written down or read instead (see record/recorder.h): how
 * updates ended, which agents acted, what was measured, and what the frame came to. Everything here is called on the
 * frame's thread. */
#ifndef FRAME_RECORD_H
#define FRAME_RECORD_H

#include "world/world.h"

struct frame_experience;
struct watch_incident;
struct overrun_list;

/* A frame begins, with so much of its budget left; agents that hosts have spawned until now are written down before
 * it, or spawned in a replay. */
void frame_record_begin(struct muster_world *world, const muster_frame *frame);
/* The frame is over, and its report is complete except what writing it takes. */
void frame_record_end(struct muster_world *world);
/* The rest of the report is known, too. A replay stands at the next section afterwards. */
void frame_record_times(struct muster_world *world);
/* The same in a replay whose record ended there, and has grown since: before the next frame. */
void frame_record_late_times(struct muster_world *world);

/* While stage 7 runs on the wall clock: whether more is ranked, with how much room; and which agents, so many, were
 * woken and run beside the batch until then. In a replay these stand beside it afterwards. */
bool frame_record_appending(struct muster_world *world, bool any, void *appending, size_t bytes);
void frame_record_adopted(struct muster_world *world, uint32_t woken);

/* In a replay: puts an agent that was woken beside the batch as the entry of that number. False when that cannot be. */
bool frame_record_put_woken(struct muster_world *world, uint32_t entry, uint64_t agent);

/* After stage 7 on the wall clock: which entries ran, how many cycles each, and which agents were woken and run beside
 * them. What runs in a replay is chosen before (replay/replay.c), by this and by the cycles. */
void frame_record_outcomes(struct muster_world *world);
void frame_record_cycles(struct muster_world *world);

/* After stage 7: of the agents that ran, for a journal. */
void frame_record_sum(struct muster_world *world);

/* Which agents of the list that acts beside each other did act: written down after they ran on the wall clock; or read
 * before, and the other agents are left out. */
void frame_record_acted(struct muster_world *world);
void frame_record_choose_acted(struct muster_world *world);

/* Whether entries were settled beside each other, and which of them were not looked at. */
bool frame_record_lots(struct muster_world *world, bool any);

/* The next of a list of overruns by worker, of types with a suspiciously long claim, and of incidents of the watchdog:
 * whether there is one, and which one. */
bool frame_record_overruns(struct muster_world *world, bool any, struct overrun_list *list);
bool frame_record_suspect(struct muster_world *world, bool any, uint32_t *type);
bool frame_record_incident(struct muster_world *world, bool any, struct watch_incident *incident);

/* What the workers measured: learnt from the record when replaying. */
void frame_record_costs(struct muster_world *world);

/* Takes measured times that are possible; else the replay has diverged, and `own` is kept. */
void frame_record_check_experience(struct muster_world *world, const struct frame_experience *own);

#endif
