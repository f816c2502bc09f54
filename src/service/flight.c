#include "service/flight.h"

#include "service/log.h"

#include "base/error.h"
#include "base/files.h"

#include <muster/flight.h>
#include <muster/overruns.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------- fatal signals */

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

enum { FATAL = sizeof fatal / sizeof *fatal, HANDLER_STACK_BYTES = 64 << 10 };

/* What signal handlers can access. */
static struct {
  struct flight *flight; /* null: no recorder is open */
  pid_t process;
  uv_thread_t frames; /* the thread that calls modules; known while a call or a request is under way */
  struct sigaction before[FATAL];
} marking;

static void mark(struct flight *flight, int number) {
  bool inside = false;
  for (uint32_t i = 0; i < flight->part_count; i++) inside = muster_flight_mark(flight->parts[i], number) || inside;
  if (inside) return;
  uv_thread_t self = uv_thread_self();
  flight->head->signal = (uint32_t)number;
  bool here = uv_thread_equal(&self, &marking.frames);
  flight->head->call.hit = flight->head->call.function && here;
  flight->head->request.hit = flight->head->request.under_way && here;
}

/* A faulting instruction is run again, with the signal's earlier action; a signal that was sent is sent again. A child
 * that writes a snapshot has the same file mapped, but is not the service. */
static void take_fatal(int number, siginfo_t *info, void *context) {
  int kept = errno;
  (void)context;
  if (marking.flight && getpid() == marking.process) mark(marking.flight, number);
  for (uint32_t i = 0; i < FATAL; i++)
    if (fatal[i] == number) sigaction(number, &marking.before[i], NULL);
  if (info->si_code <= 0) raise(number);
  errno = kept;
}

/* A callback or a module's function called exit(), unless the service has ended: then nothing is watched any more. */
static void take_exit(void) {
  if (marking.flight && getpid() == marking.process) mark(marking.flight, FLIGHT_EXITED);
}

static void watch_signals(struct flight *flight) {
  static bool watches_exit;
  if (!watches_exit) watches_exit = atexit(take_exit) == 0;
  struct sigaction action = {.sa_sigaction = take_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  marking.flight = flight;
  marking.process = getpid();
  for (uint32_t i = 0; i < FATAL; i++) sigaction(fatal[i], &action, &marking.before[i]);
}

static void leave_signals(void) {
  for (uint32_t i = 0; i < FATAL; i++) sigaction(fatal[i], &marking.before[i], NULL);
  marking.flight = NULL;
}

void flight_call_begin(const char *world, const char *module, flight_function function) {
  if (!marking.flight) return;
  flight_call *call = &marking.flight->head->call;
  marking.frames = uv_thread_self();
  snprintf(call->world, sizeof call->world, "%s", world);
  snprintf(call->module, sizeof call->module, "%s", module);
  call->function = function;
}

void flight_call_end(void) {
  if (marking.flight) marking.flight->head->call.function = FLIGHT_NO_FUNCTION;
}

void flight_request_begin(const char *world, const char *key, const unsigned char digest[KEYS_DIGEST_BYTES]) {
  if (!marking.flight) return;
  flight_request *request = &marking.flight->head->request;
  marking.frames = uv_thread_self();
  snprintf(request->world, sizeof request->world, "%s", world);
  snprintf(request->key, sizeof request->key, "%s", key);
  memcpy(request->digest, digest, sizeof request->digest);
  request->under_way = 1;
}

void flight_request_end(void) {
  if (!marking.flight) return;
  flight_head *head = marking.flight->head;
  head->request.under_way = 0;
  uv_mutex_lock(&marking.flight->mutex);
  if (flight_poisons_forget(&head->poisons, head->request.world, head->request.key)) flight_head_renew_check(head);
  uv_mutex_unlock(&marking.flight->mutex);
}

/* A fault while its signal is blocked would bypass the handler. */
static void let_through(void) {
  sigset_t set;
  sigemptyset(&set);
  for (uint32_t i = 0; i < FATAL; i++) sigaddset(&set, fatal[i]);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* A sanitizer may already have given the thread an alternate stack. */
void flight_thread_begin(void) {
  stack_t own;
  let_through();
  if (sigaltstack(NULL, &own) || !(own.ss_flags & SS_DISABLE)) return;
  void *memory = mmap(NULL, HANDLER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  own = (stack_t){.ss_sp = memory, .ss_size = HANDLER_STACK_BYTES};
  if (sigaltstack(&own, NULL)) munmap(memory, HANDLER_STACK_BYTES);
}

void flight_thread_end(void) {
  stack_t own;
  if (sigaltstack(NULL, &own) || own.ss_flags & SS_DISABLE || own.ss_size != HANDLER_STACK_BYTES) return;
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  munmap(own.ss_sp, HANDLER_STACK_BYTES);
}

/* ----------------------------------------------------------------------------------------------------- the last run */

static void log_inside(muster_log_level level, const flight_inside *inside, const char *what) {
  char text[FLIGHT_TEXT_BYTES];
  flight_describe(inside, text, sizeof text);
  log_line(level, "%s: %s", what, text);
}

static void log_report(const flight_report *report) {
  if (report->clean) return;
  char how[FLIGHT_TEXT_BYTES];
  log_line(MUSTER_LOG_ERROR, "the last run (process %lu) %s", report->process,
           flight_describe_end(report->signal, how, sizeof how));
  if (report->call.function)
    log_line(MUSTER_LOG_ERROR, "crashed by: world %s (module %s): its %s", report->call.world, report->call.module,
             flight_function_name(report->call.function));
  else if (report->signal && !report->culprit_count)
    log_line(MUSTER_LOG_ERROR, "the signal was on no thread that was inside an agent's callback: no type is blamed");
  for (uint32_t i = 0; i < report->culprit_count; i++) log_inside(MUSTER_LOG_ERROR, &report->inside[i], "crashed by");
  for (uint32_t i = report->culprit_count; i < report->inside_count; i++)
    log_inside(MUSTER_LOG_INFO, &report->inside[i], "also running then");
  if (report->damaged_parts)
    log_line(MUSTER_LOG_WARNING, "the flight recorder's part of %u worlds is damaged and was not read",
             report->damaged_parts);
}

static void keep_aside(const char *path, const char *reason) {
  char aside[PATH_BYTES + 16];
  snprintf(aside, sizeof aside, "%s.damaged", path);
  bool kept = rename(path, aside) == 0;
  log_line(MUSTER_LOG_WARNING, "flight recorder %s: %s; %s%s, and crashes are counted anew", path, reason,
           kept ? "it is kept as " : "it cannot be kept aside", kept ? aside : "");
}

static void log_poison(const flight_poison *poison) {
  if (!poison) return;
  log_line(MUSTER_LOG_ERROR, "world %s: it was carrying out the request with the key %s, which %s", poison->world,
           poison->key,
           poison->deaths < FLIGHT_DEATHS ? "may be carried out once more" : "is not carried out any more");
}

/* Reads what the last run left, if possible; the counts then include its crash. */
static void take_last(struct flight *flight, int descriptor, flight_counts *counts, flight_poisons *poisons) {
  size_t size;
  void *bytes = flight_file_load(descriptor, &size);
  muster_result result = bytes ? flight_file_read(bytes, size, &flight->last, counts, poisons) : MUSTER_E_INPUT;
  free(bytes);
  if (result) {
    keep_aside(flight->path, muster_last_error());
    return;
  }
  log_report(&flight->last);
  log_poison(flight_poisons_add(poisons, &flight->last));
  if (!flight_counts_add(counts, &flight->last))
    log_line(MUSTER_LOG_WARNING, "flight recorder %s: %d types are counted already: the crash is not", flight->path,
             FLIGHT_COUNTS_MAX);
}

/* ----------------------------------------------------------------------------------------------------- the new file */

static muster_result refuse(const struct flight *flight, const char *what) {
  return error_set(MUSTER_E_SYSTEM, "flight recorder %s: cannot %s it: %s", flight->path, what, strerror(errno));
}

/* Disk space is set aside at once: a store into a mapped file without space would be fatal. */
static void *map_more(const struct flight *flight, uint64_t offset, uint64_t bytes) {
  int problem = posix_fallocate(flight->descriptor, (off_t)offset, (off_t)bytes);
  errno = problem;
  if (problem) return MAP_FAILED;
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, flight->descriptor, (off_t)offset);
}

/* The lock belongs to this process: a child that was forked to write a snapshot, and outlives it for a moment, does not
 * hold the lock. */
static muster_result lock(const struct flight *flight, int descriptor) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(descriptor, F_SETLK, &whole) == 0) return MUSTER_OK;
  if (errno != EAGAIN && errno != EACCES) return refuse(flight, "lock");
  return error_set(MUSTER_E_STATE, "flight recorder %s: another musterd uses it: give this one a file of its own",
                   flight->path);
}

static uint64_t unix_ns(void) {
  uv_timeval64_t now = {0};
  uv_gettimeofday(&now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_usec * 1000u;
}

/* Writes the new file beside the old one, which is replaced when the new one is complete. */
static muster_result begin_file(struct flight *flight, const flight_counts *counts, const flight_poisons *poisons) {
  char fresh[PATH_BYTES + 8];
  snprintf(fresh, sizeof fresh, "%s.new", flight->path);
  unlink(fresh);
  flight->descriptor = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (flight->descriptor < 0) return refuse(flight, "create");
  muster_result result = lock(flight, flight->descriptor);
  void *memory = result ? MAP_FAILED : map_more(flight, 0, sizeof *flight->head);
  if (!result && memory == MAP_FAILED) result = refuse(flight, "map");
  if (!result) {
    flight->head = memory;
    flight_head_begin(flight->head, (uint64_t)getpid(), unix_ns(), counts, poisons);
    if (rename(fresh, flight->path)) result = refuse(flight, "replace");
  }
  if (!result) return MUSTER_OK;
  if (memory != MAP_FAILED) munmap(memory, sizeof *flight->head);
  unlink(fresh);
  close(flight->descriptor);
  flight->descriptor = -1;
  flight->head = NULL;
  return result;
}

static muster_result open_over(struct flight *flight, int before) {
  flight_counts counts = {0};
  flight_poisons poisons = {0};
  if (before >= 0) {
    muster_result result = lock(flight, before);
    if (result) return result;
    take_last(flight, before, &counts, &poisons);
  }
  return begin_file(flight, &counts, &poisons);
}

muster_result flight_check_path(const char *path) {
  static const char *const taken[] = {"", ".new", ".damaged"};
  char name[PATH_BYTES + 16];
  for (size_t i = 0; *path && i < sizeof taken / sizeof *taken; i++) {
    snprintf(name, sizeof name, "%s%s", path, taken[i]);
    if (files_check_replaceable(name)) return error_set(MUSTER_E_INPUT, "%s: %s", name, muster_last_error());
  }
  return MUSTER_OK;
}

muster_result flight_open(struct flight *flight, const char *path, uint32_t crash_limit) {
  *flight = (struct flight){.descriptor = -1, .crash_limit = crash_limit};
  if (uv_mutex_init(&flight->mutex)) return error_set(MUSTER_E_SYSTEM, "flight recorder: no mutex");
  if (!path[0]) return MUSTER_OK;
  if (flight_check_path(path)) return error_set(MUSTER_E_INPUT, "flight recorder %s", muster_last_error());
  snprintf(flight->path, sizeof flight->path, "%s", path);
  int before = files_open_regular(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
  muster_result result = before < 0 && errno != ENOENT
                             ? error_set(MUSTER_E_SYSTEM, "flight recorder %s: %s", path, muster_last_error())
                             : open_over(flight, before);
  if (before >= 0) close(before);
  if (!result) watch_signals(flight);
  if (result != MUSTER_E_SYSTEM) return result;
  log_line(MUSTER_LOG_ERROR, "%s: it runs without, and a crash of this run will name nobody", muster_last_error());
  return MUSTER_OK;
}

void flight_end(struct flight *flight) {
  if (flight->head) flight->head->clean = 1;
}

void flight_close(struct flight *flight) {
  if (flight->head) {
    leave_signals();
    flight_end(flight);
    for (uint32_t i = 0; i < flight->part_count; i++) munmap(flight->parts[i], flight->head->parts[i].bytes);
    munmap(flight->head, sizeof *flight->head);
    close(flight->descriptor);
    flight->head = NULL;
    flight->descriptor = -1;
    flight->part_count = 0;
  }
  uv_mutex_destroy(&flight->mutex);
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

/* The part of a world that was closed and is opened again; null when there is none. */
static void *find_part(const struct flight *flight, const char *name, size_t bytes) {
  for (uint32_t i = 0; i < flight->part_count; i++)
    if (strcmp(flight->head->parts[i].world, name) == 0 && flight->head->parts[i].bytes == bytes)
      return flight->parts[i];
  return NULL;
}

static void run_without(const struct flight *flight, const char *name, const char *reason) {
  log_line(MUSTER_LOG_ERROR, "flight recorder %s: world %s runs without: %s", flight->path, name, reason);
}

void flight_attach(struct flight *flight, muster_world *world, const char *name, const char *module) {
  if (!flight->head) return;
  size_t bytes = muster_flight_bytes(world);
  void *memory = find_part(flight, name, bytes);
  if (memory) {
    muster_flight_attach(world, memory, bytes);
    return;
  }
  if (flight->part_count == WORLDS_MAX) {
    run_without(flight, name, "its file has no room for another");
    return;
  }
  memory = map_more(flight, flight_head_next_offset(flight->head), bytes);
  if (memory == MAP_FAILED) {
    run_without(flight, name, strerror(errno));
    return;
  }
  if (muster_flight_attach(world, memory, bytes)) {
    run_without(flight, name, muster_last_error());
    munmap(memory, bytes);
    return;
  }
  uv_mutex_lock(&flight->mutex);
  flight_head_add_part(flight->head, name, module, bytes);
  uv_mutex_unlock(&flight->mutex);
  flight->parts[flight->part_count++] = memory;
}

static void set_agent_aside(muster_world *world, const flight_inside *culprit, const char *command) {
  char text[FLIGHT_TEXT_BYTES];
  muster_agent agent = culprit->entry.agent;
  flight_describe(culprit, text, sizeof text);
  muster_result result = muster_agent_quarantine(world, agent);
  if (result == MUSTER_E_STALE)
    log_line(MUSTER_LOG_WARNING, "%s: it came into being in the frame that is lost, and is no more", text);
  else if (result)
    log_line(MUSTER_LOG_ERROR, "%s: it cannot be put into quarantine: %s", text, muster_last_error());
  else
    log_line(MUSTER_LOG_WARNING, "%s: it crashed the last run, and is in quarantine until `%s %u.%u`", text, command,
             muster_agent_index(agent), muster_agent_generation(agent));
}

void flight_set_aside(struct flight *flight, muster_world *world, const char *name, const char *command) {
  const flight_report *last = &flight->last;
  for (uint32_t i = 0; i < last->culprit_count; i++)
    if (strcmp(last->inside[i].world, name) == 0) set_agent_aside(world, &last->inside[i], command);
}

static uint64_t crashes_of(struct flight *flight, const char *world, const char *type) {
  uv_mutex_lock(&flight->mutex);
  const flight_count *count = flight_counts_find(&flight->head->counts, world, type);
  uint64_t crashes = count ? count->crashes : 0;
  uv_mutex_unlock(&flight->mutex);
  return crashes;
}

void flight_judge(struct flight *flight, muster_world *world, const char *name) {
  const char *type;
  if (!flight->head || !flight->crash_limit) return;
  for (uint32_t i = 1; (type = muster_type_name(world, (muster_type){i})) != NULL; i++) {
    uint64_t crashes = crashes_of(flight, name, type);
    if (crashes < flight->crash_limit) continue;
    if (muster_type_quarantine(world, (muster_type){i})) {
      log_line(MUSTER_LOG_ERROR, "world %s: type '%s' cannot be put into quarantine: %s", name, type,
               muster_last_error());
      continue;
    }
    log_line(MUSTER_LOG_WARNING,
             "world %s: type '%s' has crashed the service %lu times: in quarantine until it is reinstated", name, type,
             crashes);
  }
}

void flight_reinstate(struct flight *flight, const char *world, const char *type) {
  if (!flight->head) return;
  uv_mutex_lock(&flight->mutex);
  if (flight_counts_forget(&flight->head->counts, world, type)) flight_head_renew_check(flight->head);
  uv_mutex_unlock(&flight->mutex);
}

uint32_t flight_read_counts(struct flight *flight, flight_count *counts, uint32_t capacity) {
  if (!flight->head) return 0;
  uv_mutex_lock(&flight->mutex);
  uint32_t count = (uint32_t)flight->head->counts.count;
  if (count > capacity) count = capacity;
  memcpy(counts, flight->head->counts.counts, count * sizeof *counts);
  uv_mutex_unlock(&flight->mutex);
  return count;
}

uint32_t flight_read_poisons(struct flight *flight, flight_poison poisons[FLIGHT_POISONS_MAX]) {
  if (!flight->head) return 0;
  uv_mutex_lock(&flight->mutex);
  uint32_t count = (uint32_t)flight->head->poisons.count;
  memcpy(poisons, flight->head->poisons.poisons, count * sizeof *poisons);
  uv_mutex_unlock(&flight->mutex);
  return count;
}
