/* service/supervise/hearing.h - hears the calls of a world's process that its filter does not let pass by itself
 * (confine.h), decides about each, and tells of those that are refused, and of files that Landlock refuses: once each.
 *
 * A process may make calls without end. Only so many are answered between two looks (look.h); then its threads that ask
 * wait for the next one. All functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_HEARING_H
#define SERVICE_SUPERVISE_HEARING_H

#include "service/supervise/processes.h"

/* From now on calls are heard at a descriptor, which is owned then. `folders` names what the process may open, a line
 * each: R/path, W/path, or P/path, which is read whatever file is there now. */
void hearing_begin(world_process *process, int descriptor, const char *folders);

/* The next look has come: as many calls again are answered. */
void hearing_go_on(world_process *process);

/* The process has ended. */
void hearing_end(world_process *process);

#endif
