/* service/supervise/confine.h - takes away what the process of a world does not need, for good: before its module is
 * loaded and before its first thread is started, so that it holds for all code of the module.
 *
 *   no new privileges   what it could gain by programs with more rights
 *   resource limits     memory, open files, no core files larger than asked for
 *   Landlock            it sees only the files and folders that it is given; by newer kernels no TCP port either, and
 *                       it can signal no process outside
 *   seccomp             an allow-list of system calls; threads are free, a new process is asked for
 *
 * A refused call answers EPERM to the module, and is told: by a descriptor at which the supervisor hears of each one
 * (confine_hear). What the kernel lacks is left out and named. */
#ifndef SERVICE_CONFINE_H
#define SERVICE_CONFINE_H

#include <muster/common.h>
#include <sys/types.h>

typedef struct confine_rules {
  const char *const *read;  /* files and folders with all below them; those that do not exist are passed over */
  const char *const *write; /* the same, also for making, renaming and removing */
  bool network;             /* it may open sockets to the internet; unix sockets that it has stay open in any case */
  uint64_t memory_bytes;    /* of private memory; 0 = no limit */
  uint32_t files_max;       /* open at a time; 0 = as it is */
} confine_rules;

/* What could be put into force. */
typedef struct confine_result {
  int landlock_abi; /* 0 = the kernel has none */
  bool seccomp;     /* the kernel takes the filter */
  int heard;        /* the descriptor at which refused calls are heard, close-on-exec; -1 = they are only refused */
} confine_result;

/* Confines the process. Only while it has a single thread. MUSTER_E_SYSTEM with the reason when the kernel has a part
 * but refuses it: the process must not go on then. */
muster_result confine(const confine_rules *rules, confine_result *confined);

/* A call that waits for an answer. */
typedef struct confine_call {
  pid_t thread;
  int number;
  bool is_process; /* it asks for a copy of itself, as snapshots do, not for something that is not allowed */
  uint64_t arguments[6];
} confine_call;

/* Waits for the next call at a descriptor; false when there is none any more: the process and all threads are gone. Any
 * process that was given the descriptor. */
bool confine_hear(int heard, confine_call *call, uint64_t *id);

/* Answers a call: lets it be, or refuses it by EPERM. The caller may be gone meanwhile. */
void confine_answer(int heard, uint64_t id, bool allow);

/* The name of a system call; "?" when it is unknown. */
const char *confine_call_name(int number, char *name, size_t bytes);

#endif
