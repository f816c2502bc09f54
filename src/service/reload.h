/* service/reload.h - SIGHUP: the settings are read again, and what may change while the service runs comes into force.
 *
 * An invalid file changes nothing. What the settings say of a world's budget and rate then holds again, also where
 * control had changed it. No agent is touched. */
#ifndef SERVICE_RELOAD_H
#define SERVICE_RELOAD_H

#include "service/service.h"

/* Loop's thread. The new paces reach the worlds between two frames; a second call in the meantime is taken up after
 * the first. */
void reload_begin(struct service *service);

#endif
