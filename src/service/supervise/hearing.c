#include "service/supervise/hearing.h"

#include "service/log.h"
#include "service/modules.h"
#include "service/supervise/bounds.h"
#include "service/supervise/confine.h"
#include "service/supervise/orders.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CALLS_IN_LOOK = 2000 };

/* ------------------------------------------------------------------------------------------------------------ files */

/* Whether a path is one of the lines' that begin with one of `kinds`, or lies below it. */
static bool is_within(const char *folders, const char *kinds, const char *path) {
  for (const char *line = folders; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
    size_t length = strcspn(line, "\n") - 1;
    if (strchr(kinds, *line) && strncmp(path, line + 1, length) == 0 && (path[length] == '/' || !path[length]))
      return true;
  }
  return false;
}

/* The path without links, also of a file that is to be made. False: there is no such file, which is no offence. */
static bool find_real(const char *path, int flags, char real[PATH_MAX]) {
  char folder[PATH_MAX];
  if (realpath(path, real)) return true;
  const char *slash = strrchr(path, '/');
  if (!slash || !(flags & O_CREAT)) return false;
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
  if (!realpath(folder, real)) return false;
  size_t length = strlen(real);
  return (size_t)snprintf(real + length, PATH_MAX - length, "%s", slash) < PATH_MAX - length;
}

/* A module writes what it likes; in the log it shall be a word. */
static void make_printable(char *text) {
  for (; *text; text++)
    if (!isprint((unsigned char)*text) || *text == ' ') *text = '?';
}

static uint64_t hash_on(uint64_t hash, const char *text) {
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

static bool is_told(world_process *process, const char *verb, const char *path) {
  uint64_t hash = hash_on(hash_on(14695981039346656037u, verb), path);
  for (uint32_t i = 0; i < process->file_count; i++)
    if (process->files[i] == hash) return true;
  if (process->file_count == FILES_TOLD_MAX) return true;
  process->files[process->file_count++] = hash;
  return false;
}

/* What the kernel shows of a process only to those that may trace it. */
static bool is_of_other(const world_process *process, const char *path) {
  static const char *const parts[] = {"mem", "environ", "maps", "smaps", "auxv", "pagemap", "syscall", "stack"};
  int other;
  const char *name = strrchr(path, '/') + 1;
  if (sscanf(path, "/proc/%d/", &other) != 1 || bounds_has_thread(process->process.pid, other)) return false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(name, parts[i]) == 0) return true;
  return false;
}

/* The file as it is there now. */
static int open_own(const char *real, int flags) {
  struct open_how how = {.flags = (uint64_t)(O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (flags & O_DIRECTORY)),
                         .resolve = RESOLVE_NO_SYMLINKS};
  struct stat status;
  int file = (int)syscall(SYS_openat2, AT_FDCWD, real, &how, sizeof how);
  if (file < 0 || (!fstat(file, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))) return file;
  close(file);
  return -1;
}

/* What the settings of a world name it may read, whatever file has that name now. No part of such a path may lie where
 * the world can put links, and there Landlock lets it read by itself. False: the call goes on like others. */
static bool give_own_file(const world_process *process, const confine_call *call, uint64_t id) {
  static const int harmless = O_CLOEXEC | O_DIRECTORY | O_NONBLOCK | O_LARGEFILE | O_NOCTTY;
  char path[PATH_MAX], real[PATH_MAX];
  int flags;
  if (call->wish != CONFINE_FILE || !confine_read_file(call, 0, path, sizeof path, &flags)) return false;
  if (flags & ~harmless || !realpath(path, real) || !is_within(process->folders, "P", real) ||
      is_within(process->folders, "W", real))
    return false;
  int file = open_own(real, flags);
  bool given = file >= 0 && confine_give_file(process->heard, id, file, flags);
  if (file >= 0) close(file);
  return given;
}

static const char *verb_of(const confine_call *call, bool write) {
  if (call->wish == CONFINE_NAME) return "rename or remove";
  return write ? "write" : "read";
}

/* Landlock refuses the file, not this: what is wrong here is only told wrongly. */
static void tell_path(world_process *process, const confine_call *call, const char *path, int flags) {
  char real[PATH_MAX];
  if (flags & O_PATH || !find_real(path, flags, real)) return;
  bool write = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC || (flags & O_CREAT && access(real, F_OK) != 0);
  if (is_within(process->folders, write ? "W" : "RPW", real) && !is_of_other(process, real)) return;
  process->refused++;
  process->refused_total++;
  if (is_told(process, verb_of(call, write), real)) return;
  make_printable(real);
  log_line(MUSTER_LOG_WARNING, "world %s: its module may not %s %.512s, and was refused%s", process->name,
           verb_of(call, write), real,
           process->file_count == FILES_TOLD_MAX ? "; of further files nothing is told" : "");
}

static void tell_files(world_process *process, const confine_call *call) {
  char path[PATH_MAX];
  int flags;
  for (uint32_t which = 0; confine_read_file(call, which, path, sizeof path, &flags); which++)
    tell_path(process, call, path, flags);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

/* Each kind of call is told once in a process's life. */
static void tell_refused(world_process *process, const confine_call *call) {
  static const char *const reasons[] = {
      [CONFINE_PROCESS] = ": it has as many processes as snapshots need",
      [CONFINE_THREAD] = ": it has as many threads as a world may",
      [CONFINE_MEMORY] = ": it has made as many files in memory as it may load modules",
      [CONFINE_PROCESSORS] = ": the thread is not its own, or the processors are another world's",
      [CONFINE_FORBIDDEN] = "",
      [CONFINE_FILE] = "",
      [CONFINE_NAME] = ""};
  char name[64];
  /* What is allowed a few times has a place of its own behind those of the numbers. */
  uint32_t number = call->wish ? CALL_NUMBERS - call->wish : (uint32_t)call->number % CALL_NUMBERS;
  process->refused++;
  process->refused_total++;
  if (process->told[number / 64] >> (number % 64) & 1) return;
  process->told[number / 64] |= 1ull << (number % 64);
  log_line(MUSTER_LOG_WARNING, "world %s: its module's call of %s was refused%s", process->name,
           confine_call_name(call->number, name, sizeof name), reasons[call->wish]);
}

/* A copy makes no copies: these would be nobody's when it ends. */
static bool may_copy(const world_process *process, const confine_call *call) {
  pid_t world = process->process.pid;
  return bounds_has_thread(world, call->thread) && bounds_count_copies(world) < COPIES_MAX;
}

/* Binds the thread to those of the wanted processors that the world is dealt: no world takes those of another. It is
 * done here, since the caller could put other processors into its memory after they were looked at. */
static bool bind_thread(const world_process *process, const confine_call *call) {
  pid_t thread = call->arguments[0] ? (pid_t)call->arguments[0] : call->thread;
  size_t bytes = call->arguments[1] < sizeof(cpu_set_t) ? call->arguments[1] : sizeof(cpu_set_t);
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  if (!bounds_has_thread(process->process.pid, thread)) return false;
  if (!confine_read_memory(call, call->arguments[2], &wanted, bytes)) return false;
  if (CPU_COUNT(&process->processors)) CPU_AND(&wanted, &wanted, &process->processors);
  return sched_setaffinity(thread, sizeof wanted, &wanted) == 0;
}

static confine_decision hearing_decide(world_process *process, const confine_call *call) {
  switch (call->wish) {
  case CONFINE_PROCESS:
    return may_copy(process, call) ? CONFINE_ALLOW : CONFINE_REFUSE;
  case CONFINE_THREAD:
    return bounds_count_threads(call->thread) < THREADS_MAX ? CONFINE_ALLOW : CONFINE_REFUSE;
  case CONFINE_MEMORY:
    return process->memories++ < MODULES_MAX ? CONFINE_ALLOW : CONFINE_REFUSE;
  case CONFINE_PROCESSORS:
    return bind_thread(process, call) ? CONFINE_DONE : CONFINE_REFUSE;
  case CONFINE_FILE:
  case CONFINE_NAME:
    tell_files(process, call);
    return CONFINE_ALLOW;
  default:
    return CONFINE_REFUSE;
  }
}

static void answer_call(world_process *process, const confine_call *call, uint64_t id) {
  confine_decision decision = hearing_decide(process, call);
  if (decision == CONFINE_REFUSE) tell_refused(process, call);
  confine_answer(process->heard, id, decision);
}

static void take_call(uv_poll_t *poll, int status, int events) {
  world_process *process = poll->data;
  confine_call call;
  uint64_t id;
  (void)events;
  confine_news news = status < 0 ? CONFINE_GONE : confine_hear(process->heard, &call, &id);
  if (news == CONFINE_GONE) uv_poll_stop(&process->calls);
  if (news != CONFINE_CALL) return;
  if (!give_own_file(process, &call, id)) answer_call(process, &call, id);
  if (++process->calls_taken < CALLS_IN_LOOK) return;
  uv_poll_stop(&process->calls);
  if (!process->held)
    log_line(
        MUSTER_LOG_WARNING,
        "world %s: its module makes more than %d calls a second that are not allowed by themselves: it has to wait",
        process->name, CALLS_IN_LOOK);
  process->held = true;
}

void hearing_begin(world_process *process, int descriptor, const char *folders) {
  char real[PATH_MAX];
  size_t bytes = 0;
  if (uv_poll_init(process->all->loop, &process->calls, descriptor)) {
    close(descriptor);
    processes_kill(process, false, "its calls cannot be heard");
    return;
  }
  FILE *out = open_memstream(&process->folders, &bytes);
  for (const char *line = folders; out && *line; line += strcspn(line, "\n"), line += *line == '\n') {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(line, "\n") - 1, line + 1);
    if (realpath(path, real)) fprintf(out, "%c%s\n", *line, real);
  }
  if (out) fclose(out);
  deal dealt;
  orders_deal(process->all->settings, &dealt);
  process->processors = dealt.processors[process - process->all->worlds];
  process->heard = descriptor;
  process->refused = process->file_count = process->memories = process->calls_taken = 0;
  process->held = false;
  memset(process->told, 0, sizeof process->told);
  process->calls.data = process;
  uv_poll_start(&process->calls, UV_READABLE, take_call);
}

void hearing_go_on(world_process *process) {
  if (process->heard < 0) return;
  if (process->calls_taken >= CALLS_IN_LOOK) uv_poll_start(&process->calls, UV_READABLE, take_call);
  process->calls_taken = 0;
}

void hearing_end(world_process *process) {
  if (process->heard < 0) return;
  uv_poll_stop(&process->calls);
  processes_close_handle(process, (uv_handle_t *)&process->calls);
  close(process->heard);
  process->heard = -1;
  free(process->folders);
  process->folders = NULL;
}
