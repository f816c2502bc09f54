/* service/supervise/silence.h - watches the signs of life of a world's process. After `stuck_kill` without one it finds
 * out whom the world is stuck in (blame.h), marks that, and has the process killed. All functions are for the loop's
 * thread. */
#ifndef SERVICE_SUPERVISE_SILENCE_H
#define SERVICE_SUPERVISE_SILENCE_H

#include "service/supervise/processes.h"

/* The process runs: from now on it is watched, by its timer. */
void silence_watch(world_process *process);

/* It has given a sign: its next silence is judged by the patience that it had at first. */
void silence_end(world_process *process);

#endif
