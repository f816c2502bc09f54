/* service/supervise/listener.h - the socket at which a world serves its part of the API. The supervisor makes it and
 * hands it on, and keeps it over restarts, so that requests wait instead of failing. */
#ifndef SERVICE_SUPERVISE_LISTENER_H
#define SERVICE_SUPERVISE_LISTENER_H

#include <muster/common.h>

/* Makes the socket at a path, which only this user may connect to, in place of `listener`, which is closed; -1 = there
 * is none. */
muster_result listener_make(int *listener, const char *path);

/* Before the socket is handed on again: a process may have shut it down, or changed the length of its queue. Then it is
 * made anew. */
muster_result listener_renew(int *listener, const char *path);

/* Closes it: requests that wait there end. */
void listener_close(int *listener);

#endif
