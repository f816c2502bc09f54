/* service/supervise/confine.h - takes away what the process of a world does not need, for good: before its module is
 * loaded and before its first thread is started, so that it holds for all code of the module.
 *
 *   no new privileges   what it could gain by programs with more rights
 *   capabilities        those of root, too, but that it opens files of any owner: Landlock says which
 *   resource limits     memory, open files, the length of a file; none can be raised again, that of core files neither
 *   Landlock            it sees only the files and folders that it is given, those that were there when it was given
 *                       them; by newer kernels no TCP port either, and it can signal no process outside
 *   seccomp             an allow-list of system calls
 *
 * What is not on that list is heard by the supervisor, at a descriptor (confine_hear). It decides about a new thread or
 * process and memory that no limit counts, and binds threads to processors itself. It looks at the files that are
 * opened. Those of `own` it opens itself, by their paths: Landlock knows files, and who saves or exchanges one puts a
 * new one in its place. Of others it only tells that Landlock refuses them: the calls go on in any case, so that it
 * does no harm if their paths change meanwhile. All other calls it refuses: by EPERM. When it has died, such calls
 * answer ENOSYS, and the world, which saves itself then, makes these calls by younger names (openat2, renameat), which
 * are not heard: Landlock refuses them alike, but nothing is told. What the kernel lacks is left out and named. */
#ifndef SERVICE_CONFINE_H
#define SERVICE_CONFINE_H

#include <muster/common.h>
#include <sys/types.h>

typedef struct confine_rules {
  const char *const *read;  /* files and folders with all below them; those that do not exist are passed over */
  const char *const *own;   /* to be read as well, whatever is there at the time (confine_give_file); null = none */
  const char *const *write; /* the same as `read`, also for making, renaming and removing */
  bool network;             /* it may open sockets to the internet; unix sockets that it has stay open in any case */
  uint64_t memory_bytes;    /* of private memory; 0 = no limit */
  uint64_t file_bytes;      /* of one file; 0 = no limit */
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

/* What a call that waits for an answer wants. */
typedef enum confine_wish {
  CONFINE_FORBIDDEN = 0,
  CONFINE_PROCESS,    /* a copy of itself, as snapshots do */
  CONFINE_THREAD,     /* one more */
  CONFINE_MEMORY,     /* a file in memory, as loaded modules are */
  CONFINE_PROCESSORS, /* to bind a thread to processors */
  CONFINE_FILE,       /* a file, which Landlock decides about */
  CONFINE_NAME        /* to remove, rename or link one, which Landlock decides about, too */
} confine_wish;

typedef struct confine_call {
  pid_t thread;
  int number;
  confine_wish wish;
  uint64_t arguments[6];
} confine_call;

typedef enum confine_news { CONFINE_GONE = 0, CONFINE_NONE, CONFINE_CALL } confine_news;

/* Waits for the next call at a descriptor. NONE: it was withdrawn, since a signal came; GONE: the process and all its
 * threads and copies are. Any process that was given the descriptor. */
confine_news confine_hear(int heard, confine_call *call, uint64_t *id);

/* A path of a call that wants a file or a name, its first or its second, and its flags as those of open(2): from the
 * caller's folder, if it does not begin with a slash. False when it has no such path, or it cannot be read. */
bool confine_read_file(const confine_call *call, uint32_t which, char *path, size_t bytes, int *flags);

/* Reads what an argument points to, as it is now: the caller may change it at any time. */
bool confine_read_memory(const confine_call *call, uint64_t address, void *to, size_t bytes);

/* A call that is DONE was made by the one that heard it, for the caller. */
typedef enum confine_decision { CONFINE_REFUSE = 0, CONFINE_ALLOW, CONFINE_DONE } confine_decision;

/* Answers a call that opens a file by opening that one for the caller; `flags` are those of the call. False: the kernel
 * cannot, or the caller may have no more files; the call was not answered. */
bool confine_give_file(int heard, uint64_t id, int file, int flags);

/* Answers a call: lets it be, refuses it by EPERM, or says that it went well. The caller may be gone meanwhile. */
void confine_answer(int heard, uint64_t id, confine_decision decision);

/* The name of a system call; "?" when it is unknown. */
const char *confine_call_name(int number, char *name, size_t bytes);

#endif
