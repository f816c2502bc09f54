/* service/supervise/blame.h - whom a world's process is stuck in, seen from outside: by the lines of its flight
 * recorder and by what the kernel says of its threads. Two looks are compared, of which the second comes when the
 * patience is over.
 *
 * An agent is blamed when its callback ran at both looks, without a change, and
 *   its thread computed for at least half of the time in between, or
 *   its thread slept at both, and nobody else was inside a callback: the others may wait for a lock that it holds.
 * A process that was stopped, or got no processor, blames nobody. */
#ifndef SERVICE_SUPERVISE_BLAME_H
#define SERVICE_SUPERVISE_BLAME_H

#include "service/flight_file.h"

#include <sys/types.h>

/* A thread that is inside a callback. */
typedef struct blame_thread {
  flight_place place;
  uint64_t cpu_ns; /* that it has computed for since it began */
  char state;      /* as in proc(5): R runs or waits for a processor, S and D sleep; '?' = it is gone */
} blame_thread;

typedef struct blame_look {
  uint64_t time_ns;
  uint32_t count;
  blame_thread threads[FLIGHT_INSIDE_MAX];
  uint32_t function; /* of a module, that the frames' thread is in: a flight_function; 0 = none */
  bool stopped;      /* the process */
  uint64_t cpu_ns;   /* that its threads have computed for, all together */
  uint64_t waits_ns; /* that they have waited for a processor */
} blame_look;

typedef enum blame_verdict {
  BLAME_NOBODY = 0, /* nothing that could be told apart: everything sleeps outside of callbacks */
  BLAME_STOPPED,    /* somebody has stopped the process */
  BLAME_STARVED,    /* it wants to run, and gets no processor */
  BLAME_COMPUTES,
  BLAME_BLOCKS,
  BLAME_FUNCTION /* the module's function that the frames' thread has been in at both looks */
} blame_verdict;

/* Looks at a process. `file` is its flight recorder, opened for reading; -1 = it has none. Loop's thread: it reads a
 * file and some of /proc. */
void blame_take_look(int file, pid_t process, uint64_t now_ns, blame_look *look);

/* Compares two looks; `*culprit` is the index of the blamed thread in `after`, when there is one. Any thread. */
blame_verdict blame_judge(const blame_look *before, const blame_look *after, uint32_t *culprit);

/* Marks the blamed line, or the function, in the file, as signals do: the next run of the world finds it there, and
 * counts it. False: it cannot be written. */
bool blame_mark(int file, const blame_look *look, blame_verdict verdict, uint32_t culprit);

/* By whom a process ended, by its flight recorder: "world main (module m): agent 1 ..., in atom 0"; "" when nobody is
 * known, or the file is another process's. */
void blame_read_culprit(int file, pid_t process, char *text, size_t bytes);

#endif
