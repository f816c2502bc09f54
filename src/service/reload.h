/* service/reload.h - SIGHUP: the settings are read again, and live settings take effect.
 *
 * An invalid file changes nothing. A world's budget and rate are then those of the settings again, even if control had
 * changed them. No agent is touched. */
#ifndef SERVICE_RELOAD_H
#define SERVICE_RELOAD_H

#include "service/service.h"

/* Loop's thread. The new paces reach the worlds between two frames; a second call in the meantime runs after the
 * first. */
void reload_begin(struct service *service);

#endif
