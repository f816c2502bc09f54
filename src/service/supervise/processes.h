/* service/supervise/processes.h - the processes of the worlds: started, watched, ended, and started again by the rules
 * of restarts.h.
 *
 *     waiting --its time--> starting --READY=1--> running --asked to--> stopping --> ended
 *        ^                     |                    |
 *        |                     +---- it ends, or ---+--> failed, when its own code did that too often
 *        +---------------------- gives no sign -----+
 *
 * A person can have a world started at once, by processes_restart: one that runs is stopped in order before that, and
 * goes from stopping to waiting.
 *
 * A world that gives no sign of life for `stuck_kill` is killed: signs make the way through its frames' thread. Whom it
 * was stuck in is found out first (blame.h). Where nobody can be blamed since it got no processor, it has twice as
 * long, a few times. All functions are for the loop's thread. */
#ifndef SERVICE_SUPERVISE_PROCESSES_H
#define SERVICE_SUPERVISE_PROCESSES_H

#include "service/settings.h"
#include "service/supervise/blame.h"
#include "service/supervise/output.h"
#include "service/supervise/restarts.h"

#include <sched.h>
#include <uv.h>

typedef enum process_state {
  PROCESS_WAITING = 0,
  PROCESS_STARTING,
  PROCESS_RUNNING,
  PROCESS_STOPPING,
  PROCESS_ENDED, /* in good order */
  PROCESS_FAILED
} process_state;

/* How a process ended by itself. */
typedef enum process_end {
  PROCESS_END_NONE = 0, /* it never did */
  PROCESS_END_STATUS,
  PROCESS_END_SIGNAL,
  PROCESS_END_STUCK,
  PROCESS_END_UNSTARTED, /* it could not be started */
  PROCESS_ENDS
} process_end;

enum {
  PROCESS_REASON_BYTES = 512,
  PROCESS_STANDBY_BYTES = 192,
  STUCK_BYTES = 128,
  PROBLEM_BYTES = 320,
  CALL_NUMBERS = 512,
  FILES_TOLD_MAX = 16
};

typedef struct world_process {
  struct processes *all;
  char name[NAME_BYTES];
  char socket[SOCKET_BYTES]; /* where it serves its part of the API */
  int listener;              /* that socket; it stays open over restarts, so that requests wait instead of failing */
  int notify;                /* what the process tells; -1 = there is no process */
  process_state state;
  uv_process_t process;
  uv_poll_t news;
  uint32_t closing; /* handles, of the last process or of the last try, that the loop still has */
  int heard;        /* where its refused calls are heard (confine.h); -1 = nowhere */
  uv_poll_t calls;
  uint64_t refused, refused_total;   /* calls, in the present process and in all of them */
  uint64_t told[CALL_NUMBERS / 64];  /* which calls the log has told of: by their numbers */
  char *folders;                     /* what it may open: hearing.h */
  uint32_t file_count;               /* which files the log has told of: */
  uint64_t files[FILES_TOLD_MAX];    /* hashes of their paths */
  cpu_set_t processors;              /* that it is dealt */
  uint32_t memories;                 /* files in memory that it was allowed */
  uint32_t calls_taken, notes_taken; /* since the last look: look.h */
  bool held;                         /* the log has told that it makes too many */
  bool chatters;                     /* and that it sends too many notes */
  bool introduced;                   /* its first note has come, which is from before its module was loaded */
  bool watched;                      /* the warden knows it */
  world_output output;
  uv_timer_t timer; /* waiting: when to start; else: looks whether there was a sign */
  bool has_process;
  uint64_t sign_ns, looked_ns; /* the last sign of life; when the timer looked last */
  uint64_t patience_ns;        /* without a sign for so long it is stuck; 0 = for any time */
  bool looked;                 /* `before` is of this silence */
  blame_look before;
  char problem[PROBLEM_BYTES]; /* what it said itself before it was ready; "" = nothing */
  char stuck[STUCK_BYTES];     /* why it was killed; "" = it was not */
  bool by_code;                /* and that is what its own code does, however often it starts */
  uint64_t ready_ns;           /* since when it runs; 0 = it only starts */
  bool reloads;                /* it is to read the settings again once it runs */
  bool again;                  /* a person asked for its end; then it starts again */
  process_end last_end;
  bool stays_down; /* it would end in the same way again */
  bool exceeds;    /* the log has told that it goes on from more than state_max */
  restart_record restarts;
  uint64_t starts;                     /* since the daemon began */
  char reason[PROCESS_REASON_BYTES];   /* how it ended last; "" = it never did */
  char standby[PROCESS_STANDBY_BYTES]; /* why the world does not run here: `may_start` says no, or its process was
                                          started ahead. "" = it does, or begins to */
  bool elsewhere;                      /* that is how it should be: the world runs on another node */
} world_process;

struct processes {
  uv_loop_t *loop;
  const struct settings *settings;
  char **arguments; /* the command line, for the processes */
  uint32_t count;
  world_process worlds[WORLDS_MAX];
  bool stopping;
  bool disorderly; /* one that was asked to stop has failed to */
  uv_timer_t look; /* look.h */
  uint64_t looks;
  void (*changed)(world_process *process, void *user); /* its state is another */
  void *user;
  /* Whether a process may start now; if not, processes_begin() starts it. And a descriptor that it inherits as
   * ORDERS_ZONE; -1 = none. Null = always, and none. */
  bool (*may_start)(world_process *process, void *start_user);
  int (*give_socket)(world_process *process, void *start_user);
  void *start_user;
};

/* Makes the sockets and folders, and starts all. On failure nothing is left. */
muster_result processes_open(struct processes *processes);

/* Asks all to end, the last first; `changed` is called as each does. */
void processes_stop(struct processes *processes);

/* Ends those at once that have not ended, and removes the sockets. */
void processes_close(struct processes *processes);

/* All read the settings again; those that start do so once they run. */
void processes_reload(struct processes *processes);

/* All that run write a snapshot. */
void processes_save(struct processes *processes);

/* Kills a world's process with all copies of it, and tells why. It starts again by the rules: `by_code` is whether its
 * own code is to blame. */
void processes_kill(world_process *process, bool by_code, const char *why);

/* Whether it has been tried so often in vain that nobody should wait for it. */
bool processes_is_down(const world_process *process);

/* Starts a process that `may_start` held back, unless all are to end: what it waits for may come that late. */
void processes_begin(world_process *process);

/* Kills a world's process, and tells why, as nothing that it has done: it may start again at once. Without a process a
 * no-op. The same of one that was asked to end, which the caller has done. */
void processes_replace(world_process *process, const char *why);
void processes_expect_end(world_process *process, const char *why);

/* Closes a handle whose data is the process; it is not started again before the loop has done so. */
void processes_close_handle(world_process *process, uv_handle_t *handle);

/* The next look has come: as many notes, calls and lines of the process are taken again. */
void processes_hear_on(world_process *process);

/* A person wants a world to start again: at once, or once it has ended in order. Its ends are forgotten. False: all
 * are being stopped. */
bool processes_restart(world_process *process);

/* The world of that name, or null. */
world_process *processes_find(struct processes *processes, const char *name);

/* The state in a word, such as "running"; and the end, such as "signal". Any thread. */
const char *process_state_name(process_state state);
const char *process_end_name(process_end end);

#endif
