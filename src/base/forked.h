/* base/forked.h - a process that was forked to write what its parent had in memory, and a thread that does such work.
 */
#ifndef BASE_FORKED_H
#define BASE_FORKED_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether this process was forked from one that had this number: of its threads, only the one that forked is here. */
bool forked_since(pid_t process);

/* The first that such a process does, in which no other thread runs. It dies with its parent, takes no crash for one of
 * its parent, is called muster-save, and gives way. Connections and locks belong to the parent: all descriptors are
 * closed but standard input, output and error, and these two. */
void forked_begin(pid_t parent, int one, int other);

/* Frames come first, also those of a program with real-time priority: from here on the calling thread, and what it
 * forks, run at a lower priority, if the system lets them. */
void forked_give_way(void);

#endif
