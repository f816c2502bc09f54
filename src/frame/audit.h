/* audit.h - what a frame cost: wall time by stage always, and with audit the promise in own (thread CPU) time. */
#ifndef AUDIT_H
#define AUDIT_H

#include "world/world.h"

/* Starts the frame's clocks. */
void audit_begin(struct muster_world *world);

/* A stage is over: its wall time is noted and, for serial stages, a mark is set. */
void audit_stage(struct muster_world *world, muster_stage stage);

/* Workers are back: the end of the frame, the promised one too, moves by the longest that atoms of one worker were
 * blocked since the last call. Returns by how much. */
uint64_t audit_blocked(struct muster_world *world);

/* With audit: the caller waited for the last worker to leave the batch. What CPU it burnt for that after the promised
 * end is own overrun, but none of it was useful. */
void audit_wait(struct muster_world *world);

/* The stages are over: fills the times of the report, for those who learn from them and for the record. */
void audit_close(struct muster_world *world);

/* The frame is over: what was done since then is part of it. In a replay the record knows what that was. */
void audit_end(struct muster_world *world);

#endif
