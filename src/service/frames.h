/* service/frames.h - the frames' thread: opens the worlds, runs each frame at its time, serves the mailbox in between,
 * and closes everything at the end.
 *
 * Frames are paced by absolute time. A world that is more than a period late does not hurry to catch up: its schedule
 * moves on by the lost time. Several worlds share the pool; the one that is due first runs first. */
#ifndef SERVICE_FRAMES_H
#define SERVICE_FRAMES_H

#include "service/service.h"

/* The body of the thread; `service` is its argument. */
void frames_main(void *service);

/* Changes a world's budget and period, from its next frame on; 0 = leave. MUSTER_E_ARGUMENT when it is out of range, or
 * leaves too little time for requests. Frames' thread. */
muster_result frames_set_pace(struct service *service, hosted_world *world, uint64_t budget_ns, uint64_t period_ns);

/* The same for a pace that was checked beside those of the other worlds (settings_check). Frames' thread. */
void frames_force_pace(hosted_world *world, uint64_t budget_ns, uint64_t period_ns);

/* A paused world runs no frames but `steps`, and its simulation time stands still. Frames' thread. */
void frames_pause(struct service *service, hosted_world *world, uint32_t steps);
void frames_resume(struct service *service, hosted_world *world);

#endif
