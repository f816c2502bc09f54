/* service/supervise/bounds.h - how much the process of a world uses, with the copies that it made of itself: read from
 * /proc, in bounded time whatever it does. What the kernel limits by itself (confine.h) is one process's own; this is
 * the sum, with what those limits leave out: files in memory, mapped files, files that were unlinked and stay open. */
#ifndef SERVICE_SUPERVISE_BOUNDS_H
#define SERVICE_SUPERVISE_BOUNDS_H

#include <muster/common.h>
#include <sys/types.h>

/* Copies write snapshots. A thread of a world is a worker; a folder's files are snapshots and what the crash left. */
enum { COPIES_MAX = 2, THREADS_MAX = 1024, FOLDER_FILES_MAX = 10000 };

typedef struct bounds_use {
  uint64_t memory_bytes; /* in memory or swapped out, with page tables */
  uint64_t hidden_bytes; /* of the disk, in files that no folder has any more */
  uint32_t threads;
  uint32_t copies;
} bounds_use;

/* Reads it; false when the process is gone. Memory that copies share counts more than once, unless that is more than
 * `memory_most`: then the kernel is asked for what is shared, which takes it a walk through all of it. */
bool bounds_read(pid_t process, uint64_t memory_most, bounds_use *use);

/* How many copies of itself a process has. */
uint32_t bounds_count_copies(pid_t process);

/* How many threads a process has; 0 = it is gone. */
uint32_t bounds_count_threads(pid_t process);

/* Whether a thread is one of a process's. */
bool bounds_has_thread(pid_t process, pid_t thread);

/* What a world may use where the settings do not say: three quarters of the memory of the machine or of the control
 * group that this process runs in, and a quarter of the file system of a folder. */
uint64_t bounds_usual_memory(void);
uint64_t bounds_usual_disk(const char *folder);

#endif
