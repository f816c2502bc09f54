/* service/hosting.h - pool, modules and worlds put together, and taken apart in the opposite order. Frames' thread. */
#ifndef SERVICE_HOSTING_H
#define SERVICE_HOSTING_H

#include "service/service.h"

/* Opens the modules' folder, the pool, and the worlds of the settings. A world that cannot be opened is marked as
 * failed and left out. Fails when none is left; the reasons are in the log, and what was opened is there for
 * hosting_close. */
muster_result hosting_open(struct service *service);

/* Closes what is open. */
void hosting_close(struct service *service);

/* Brings a world one period on: the module's part, and the frame. */
muster_result hosting_run_frame(hosted_world *world);

#endif
