/* service/supervise/supervisor.h - musterd with `isolation = process`: it runs each world in a process of its own
 * (processes.h), passes requests on to these (front.h), and answers itself what concerns all of them. It never loads a
 * module, so that nothing which a module does can end it. */
#ifndef SERVICE_SUPERVISE_SUPERVISOR_H
#define SERVICE_SUPERVISE_SUPERVISOR_H

#include "service/settings.h"

/* As service_run(). */
int supervisor_run(const struct settings *settings, int count, char **arguments);

#endif
