/* audit.h - what a frame cost: wall time by stage always, and with audit the promise in own (thread CPU) time. A frame
 * calls it when it begins, behind each stage, and when it is over; and wherever workers come back. */
#ifndef AUDIT_H
#define AUDIT_H

#include "world/world.h"

/* Starts the frame's clocks. */
void audit_begin(struct muster_world *world);

/* A stage is over: its wall time is noted. With audit, what the caller spent in it, or waited for the last worker
 * behind stage 7, is told from the rest. Behind stage 8, the last, fills the times of the report, which the forecast
 * and the record read. */
void audit_stage(struct muster_world *world, muster_stage stage);

/* The batch is planned: what the kernel took of the caller's time until now is no debt of the frame's. */
void audit_planned(struct muster_world *world);

/* Workers are back: the end of the frame, and the promised end, move by the longest time for which atoms of one worker
 * were blocked since the last call. Returns by how much. */
uint64_t audit_blocked(struct muster_world *world);

/* The frame is over: what was done since the last stage is part of it. A replay takes it from the record. */
void audit_end(struct muster_world *world);

#endif
