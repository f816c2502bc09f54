/* service/hosting.h - opens pool, modules and worlds, and closes them in the opposite order. Frames' thread. */
#ifndef SERVICE_HOSTING_H
#define SERVICE_HOSTING_H

#include "service/service.h"

/* Opens the modules' folder, the pool, and the worlds of the settings. A world that cannot be opened is marked as
 * failed and left out. Fails when none is left; the reasons are in the log, and hosting_close must close what was
 * opened. */
muster_result hosting_open(struct service *service);

/* Closes everything that is open. */
void hosting_close(struct service *service);

/* Closes a world and opens it once more, with new instances of its modules, and without types and agents. */
muster_result hosting_open_again(struct service *service, hosted_world *world);

/* Brings a world one period on: the module's part, and the frame. */
muster_result hosting_run_frame(hosted_world *world);

#endif
