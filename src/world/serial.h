/* serial.h - the serial stages of a frame: whose time they take, and workers that are called to help in one.
 *
 * With audit, what of the caller's time lies after the end that was promised to the host is own overrun: its CPU time,
 * at most the wall time past that end. Everything here is called on the frame's thread. */
#ifndef SERIAL_H
#define SERIAL_H

#include "pool/crew.h"
#include "world/world.h"

/* How many workers to call for so much work: one that sleeps takes a while to come and begins with cold caches, so it
 * must be worth it, or be needed. */
uint32_t serial_helpers_for(const struct muster_world *world, uint64_t work_ns);

/* Runs a crew beside the caller in a serial stage; `work` takes the world. With audit, the time for which the caller
 * sleeps until the last of them leaves is told from its own, and from what the kernel takes. */
void serial_run_crew(struct muster_world *world, struct crew *crew, crew_work work, uint32_t helpers);

/* Whether the time is over that work has which may go on later; never when it ends at UINT64_MAX. */
bool serial_is_over(const struct muster_world *world, uint64_t end_ns);

/* Whether the caller's time is measured: with audit, on the wall clock. */
bool serial_is_audited(const struct muster_world *world);

/* With audit: the serial work since the last mark is over. */
void serial_mark(struct muster_world *world);

/* CPU time since the last mark, which is set anew; what of it lies after the promised end is noted as late. */
uint64_t serial_take_interval(struct muster_world *world, uint64_t *wall_ns);

#endif
