#include "service/supervise/processes.h"

#include "service/log.h"
#include "service/supervise/child.h"
#include "service/supervise/division.h"
#include "service/supervise/hearing.h"
#include "service/supervise/listener.h"
#include "service/supervise/look.h"
#include "service/supervise/orders.h"
#include "service/supervise/silence.h"
#include "service/supervise/warden.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "/proc/self/exe"

extern char **environ;

enum {
  ENVIRONMENT_MAX = 256,
  NOTES_IN_LOOK = 1000,
  START_PATIENCE_MS = 600000,
  TROUBLES_WAITED_FOR = 3,
  SIGNS_IN_PATIENCE = 4 /* are asked for, of which each process gives twice as many, as sd_notify(3) advises */
};

static const restart_rules defaults = {
    .window_ns = 60000000000u, .pause_first_ns = 250000000u, .pause_most_ns = 10000000000u};

static void start(world_process *process);

const char *process_state_name(process_state state) {
  static const char *const names[] = {"waiting", "starting", "running", "stopping", "ended", "failed"};
  return names[state];
}

const char *process_end_name(process_end end) {
  static const char *const names[PROCESS_ENDS] = {"none", "status", "signal", "stuck", "unstarted"};
  return names[end];
}

static void set_state(world_process *process, process_state state) {
  process->state = state;
  process->all->changed(process, process->all->user);
}

/* ------------------------------------------------------------------------------------------------------- life signs */

/* It leads a group of its own, which it cannot leave, and its copies neither. */
static void kill_group(const world_process *process) {
  kill(-process->process.pid, SIGKILL);
}

static void kill_as(world_process *process, muster_log_level level, const char *why) {
  snprintf(process->stuck, sizeof process->stuck, "%s", why);
  uv_timer_stop(&process->timer);
  log_line(level, "world %s: %s: its process %d is killed", process->name, why, (int)process->process.pid);
  kill_group(process);
}

void processes_kill(world_process *process, bool by_code, const char *why) {
  process->by_code = by_code;
  kill_as(process, MUSTER_LOG_ERROR, why);
}

static void give_up_start(uv_timer_t *timer) {
  processes_kill(timer->data, false, "its start does not end");
}

static void give_up_stop(uv_timer_t *timer) {
  processes_kill(timer->data, false, "it does not stop");
}

/* What it does cannot be interrupted, and may be anything. */
static void ask_to_stop(world_process *process) {
  uv_timer_start(&process->timer, give_up_stop, process->all->settings->stop_grace_ns / 1000000u, 0);
  set_state(process, PROCESS_STOPPING);
  uv_process_kill(&process->process, SIGTERM);
}

/* What a process says, and what stands in its recorder, may be its module's: only printable characters are taken over,
 * which go into logs and JSON as they are. */
static void keep_printable(char *text) {
  for (; *text; text++)
    if (*text < ' ' || *text > '~') *text = '?';
}

static void take_problem(world_process *process, const char *text) {
  snprintf(process->problem, sizeof process->problem, "%s", text);
  keep_printable(process->problem);
}

static void processes_take_line(world_process *process, const char *line) {
  if (strncmp(line, "STATUS=", 7) == 0 && process->state == PROCESS_STARTING) take_problem(process, line + 7);
  if (strncmp(line, "EXTEND_TIMEOUT_USEC=", 20) == 0 && process->state == PROCESS_STARTING)
    uv_timer_start(&process->timer, give_up_start, START_PATIENCE_MS, 0);
  if (strcmp(line, "READY=1") == 0 && process->state == PROCESS_STARTING) {
    process->problem[0] = '\0';
    process->ready_ns = clock_system();
    log_line(MUSTER_LOG_INFO, "world %s runs in process %d", process->name, (int)process->process.pid);
    set_state(process, PROCESS_RUNNING);
    silence_watch(process);
    if (process->reloads) uv_process_kill(&process->process, SIGHUP);
    process->reloads = false;
  }
  if (strcmp(line, "READY=1") == 0 || strcmp(line, "WATCHDOG=1") == 0) silence_end(process);
}

/* ------------------------------------------------------------------------------------------------------------ notes */

/* A process introduces itself before there is code in it that may be hostile: a descriptor of a later note is not
 * looked at. */
static void take_note(world_process *process, char *text, int descriptor) {
  bool introduces = !process->introduced && strncmp(text, "CALLS=", 6) == 0;
  process->introduced = true;
  if (!process->watched) process->watched = warden_watch(process->process.pid);
  if (introduces && descriptor >= 0)
    hearing_begin(process, descriptor, text + strcspn(text, "\n") + 1);
  else if (descriptor >= 0)
    close(descriptor);
  for (char *line; !introduces && (line = strsep(&text, "\n")) != NULL;) processes_take_line(process, line);
}

static int take_next_note(world_process *process) {
  static char text[CHILD_NOTE_BYTES];
  int descriptor, bytes = child_receive(process->notify, text, sizeof text - 1, &descriptor);
  if (bytes <= 0) return bytes;
  text[bytes] = '\0';
  take_note(process, text, descriptor);
  return bytes;
}

/* So many notes are taken until the next look, whatever the process sends. */
static void take_notes(uv_poll_t *poll, int status, int events) {
  world_process *process = poll->data;
  (void)status, (void)events;
  output_flush(&process->output); /* what it wrote before the note stands before what the note brings about */
  int bytes = take_next_note(process);
  if (bytes == 0 || ++process->notes_taken >= NOTES_IN_LOOK) uv_poll_stop(&process->news);
  if (process->notes_taken == NOTES_IN_LOOK && !process->chatters)
    log_line(MUSTER_LOG_WARNING, "world %s tells more than %d notes a second: it has to wait", process->name,
             NOTES_IN_LOOK);
  process->chatters = process->chatters || process->notes_taken == NOTES_IN_LOOK;
}

/* Of a process that has ended. They may set the timer. */
static void take_last_notes(world_process *process) {
  for (int i = 0; i < NOTES_IN_LOOK && take_next_note(process) > 0; i++) continue;
}

void processes_hear_on(world_process *process) {
  hearing_go_on(process);
  output_go_on(&process->output);
  if (process->notify >= 0 && process->notes_taken >= NOTES_IN_LOOK)
    uv_poll_start(&process->news, UV_READABLE, take_notes);
  process->notes_taken = 0;
}

/* ------------------------------------------------------------------------------------------------------------- ends */

static void note_closed(uv_handle_t *handle) {
  world_process *process = handle->data;
  process->closing--;
}

void processes_close_handle(world_process *process, uv_handle_t *handle) {
  process->closing++;
  uv_close(handle, note_closed);
}

static void forget_news(world_process *process) {
  output_end(&process->output);
  if (process->notify < 0) return;
  uv_poll_stop(&process->news);
  processes_close_handle(process, (uv_handle_t *)&process->news);
  close(process->notify);
  process->notify = -1;
  hearing_end(process);
}

static void start_in_time(uv_timer_t *timer) {
  start(timer->data);
}

static void start_after(world_process *process, uint64_t ms) {
  uv_timer_start(&process->timer, start_in_time, ms, 0);
}

/* Whether the loop still has handles of the last process, or of the last try: then it starts a little later. */
static bool waits_for_loop(world_process *process) {
  if (!process->closing && !process->output.closing) return false;
  start_after(process, 1);
  return true;
}

/* Requests that wait for it would wait in vain: they end with its socket, which is made anew when it starts again. */
static void set_failed(world_process *process) {
  listener_close(&process->listener);
  set_state(process, PROCESS_FAILED);
}

static void fail_for_good(world_process *process) {
  process->restarts.failed = true;
  log_line(MUSTER_LOG_ERROR, "world %s has failed: %s. It stays down until `muster ctl restart %s`", process->name,
           process->reason, process->name);
  set_failed(process);
}

static void start_again(world_process *process, bool by_code) {
  const struct settings *settings = process->all->settings;
  restart_rules rules = defaults;
  rules.most = settings->crash_limit < RESTARTS_KEPT ? settings->crash_limit : RESTARTS_KEPT;
  rules.window_ns = settings->crash_window_ns;
  uint64_t now_ns = clock_system(), ran_ns = process->ready_ns ? now_ns - process->ready_ns : 0;
  uint64_t chance = muster_random_mix(now_ns + (uint64_t)getpid());
  restart_end end = {.at_ns = now_ns, .ran_ns = ran_ns, .by_code = by_code};
  uint64_t due_ns = restarts_ended(&process->restarts, &rules, end, chance);
  if (due_ns == UINT64_MAX) {
    log_line(MUSTER_LOG_ERROR,
             "world %s has failed: it ended more than %u times within %.3g s, the last time because "
             "%s. It stays down "
             "until `muster ctl restart %s`",
             process->name, rules.most, (double)rules.window_ns / 1e9, process->reason, process->name);
    set_failed(process);
    return;
  }
  log_line(MUSTER_LOG_WARNING, "world %s starts again in %.3g s: %s", process->name, (double)(due_ns - now_ns) / 1e9,
           process->reason);
  set_state(process, PROCESS_WAITING);
  start_after(process, (due_ns - now_ns) / 1000000u);
}

/* Of signals that code sends itself by what it does. */
static bool is_of_code(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGABRT ||
         number == SIGTRAP || number == SIGSYS;
}

/* How it ended, and by whom, as far as its recorder tells. Returns whether its own code has brought it about: else it
 * is a trouble that may pass. A process that ends with a status could not go on, such as one without room on the disk,
 * or whose files the last process still has; only where a callback ended it, that is named. */
static bool note_end(world_process *process, int64_t status, int number) {
  char culprit[FLIGHT_TEXT_BYTES], *reason = process->reason;
  int file = orders_open_flight(process->all->settings, process->name);
  blame_read_culprit(file, process->process.pid, culprit, sizeof culprit);
  if (file >= 0) close(file);
  const char *detail = *culprit ? culprit : process->problem, *by = *detail ? ", " : "";
  const char *name = sigabbrev_np(number);
  process->last_end = *process->stuck ? PROCESS_END_STUCK : number ? PROCESS_END_SIGNAL : PROCESS_END_STATUS;
  if (*process->stuck)
    snprintf(reason, PROCESS_REASON_BYTES, "%s%s%s", process->stuck, by, detail);
  else if (number)
    snprintf(reason, PROCESS_REASON_BYTES, "its process died of SIG%s%s%s", name ? name : "?", by, detail);
  else
    snprintf(reason, PROCESS_REASON_BYTES, "its process ended by itself with status %d%s%s", (int)status, by, detail);
  keep_printable(reason);
  return *process->stuck ? process->by_code : is_of_code(number) || *culprit;
}

/* By SIGTERM itself ends one that was only starting, and has nothing to save. */
static void end_for_good(world_process *process, int64_t status, int number) {
  if (status || (number && number != SIGTERM)) {
    note_end(process, status, number);
    log_line(MUSTER_LOG_ERROR, "world %s did not end in order: %s", process->name, process->reason);
    process->all->disorderly = true;
  }
  set_state(process, PROCESS_ENDED);
}

static void start_soon(world_process *process) {
  process->again = false;
  set_state(process, PROCESS_WAITING);
  start_after(process, 0);
}

static void take_end(uv_process_t *handle, int64_t status, int number) {
  world_process *process = handle->data;
  take_last_notes(process);
  uv_timer_stop(&process->timer);
  forget_news(process);
  kill_group(process); /* the copies that it has left */
  process->has_process = false;
  processes_close_handle(process, (uv_handle_t *)handle);
  if (process->all->stopping) {
    end_for_good(process, status, number);
    return;
  }
  if (process->again) {
    start_soon(process);
    return;
  }
  bool by_code = note_end(process, status, number);
  if (process->stays_down)
    fail_for_good(process);
  else
    start_again(process, by_code);
}

/* ----------------------------------------------------------------------------------------------------------- starts */

/* The process's own notes go to the supervisor, not to the manager of services. */
static void fill_environment(const world_process *process, char **environment, char *world, char *watchdog) {
  uint32_t count = 0;
  for (char **at = environ; *at && count < ENVIRONMENT_MAX - 3; at++)
    if (strncmp(*at, "NOTIFY_SOCKET=", 14) != 0 && strncmp(*at, "WATCHDOG_", 9) != 0 &&
        strncmp(*at, ORDERS_WORLD "=", sizeof ORDERS_WORLD) != 0)
      environment[count++] = *at;
  snprintf(world, NAME_BYTES + 32, ORDERS_WORLD "=%s", process->name);
  environment[count++] = world;
  snprintf(watchdog, 64, "WATCHDOG_USEC=%lu", process->all->settings->stuck_kill_ns / (1000u * SIGNS_IN_PATIENCE));
  if (process->all->settings->stuck_kill_ns) environment[count++] = watchdog;
  environment[count] = NULL;
}

static void note_unstarted(world_process *process, const char *what, const char *problem) {
  process->last_end = PROCESS_END_UNSTARTED;
  snprintf(process->reason, sizeof process->reason, "%s: %.400s", what, problem);
  start_again(process, false);
}

static int spawn(world_process *process, int notify, int output) {
  const struct processes *all = process->all;
  int zone = all->give_socket ? all->give_socket(process, all->start_user) : -1;
  char *environment[ENVIRONMENT_MAX], world[NAME_BYTES + 32], watchdog[64];
  uv_stdio_container_t descriptors[] = {
      {.flags = UV_IGNORE},
      {.flags = UV_INHERIT_FD, .data.fd = output},
      {.flags = UV_INHERIT_FD, .data.fd = output},
      [ORDERS_SOCKET] = {.flags = UV_INHERIT_FD, .data.fd = process->listener},
      [ORDERS_NOTIFY] = {.flags = UV_INHERIT_FD, .data.fd = notify},
      [ORDERS_ZONE] = {.flags = UV_INHERIT_FD, .data.fd = zone},
  };
  fill_environment(process, environment, world, watchdog);
  uv_process_options_t options = {.exit_cb = take_end,
                                  .file = PROGRAM,
                                  .args = process->all->arguments,
                                  .flags = UV_PROCESS_DETACHED, /* in a session and a group of its own */
                                  .env = environment,
                                  .stdio_count = zone >= 0 ? ORDERS_ZONE + 1 : ORDERS_ZONE,
                                  .stdio = descriptors};
  process->process.data = process;
  int problem = uv_spawn(process->all->loop, &process->process, &options);
  if (problem) processes_close_handle(process, (uv_handle_t *)&process->process); /* the loop has it all the same */
  return problem;
}

bool processes_is_down(const world_process *process) {
  return process->state <= PROCESS_STARTING && process->restarts.troubles > TROUBLES_WAITED_FOR;
}

void processes_begin(world_process *process) {
  if (!process->all->stopping) start(process);
}

static bool is_held_back(world_process *process) {
  const struct processes *all = process->all;
  if (!all->may_start || all->may_start(process, all->start_user)) {
    process->standby[0] = '\0';
    process->elsewhere = false;
    return false;
  }
  set_state(process, PROCESS_WAITING);
  return true;
}

/* The socket for what the process tells, heard from now on; and the process's end. False with errno. */
static bool open_notes(world_process *process, int *theirs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return false;
  int problem = uv_poll_init(process->all->loop, &process->news, pair[0]);
  if (problem) {
    close(pair[0]), close(pair[1]);
    errno = -problem;
    return false;
  }
  process->notify = pair[0];
  process->news.data = process;
  uv_poll_start(&process->news, UV_READABLE, take_notes);
  *theirs = pair[1];
  return true;
}

/* The program is found by /proc, so that it is this one also when another was installed meanwhile. */
static const char *words_of_spawn(int problem) {
  return problem == UV_ENOENT ? "there is no " PROGRAM ": is /proc mounted?" : uv_strerror(problem);
}

static void start(world_process *process) {
  int theirs;
  if (waits_for_loop(process) || is_held_back(process)) return;
  process->starts++;
  process->stuck[0] = process->problem[0] = '\0';
  process->looked = process->by_code = false;
  process->ready_ns = process->refused = process->notes_taken = 0;
  process->introduced = process->stays_down = process->chatters = process->reloads = false;
  if (listener_renew(&process->listener, process->socket)) {
    note_unstarted(process, "it has no socket for requests", muster_last_error());
    return;
  }
  if (!open_notes(process, &theirs)) {
    note_unstarted(process, "it has no socket for notes", strerror(errno));
    return;
  }
  int output = output_begin(&process->output, process->all->loop, process->name);
  int problem = output < 0 ? -errno : spawn(process, theirs, output);
  close(theirs);
  if (output >= 0) close(output);
  if (problem) {
    forget_news(process);
    note_unstarted(process, "it cannot be started", words_of_spawn(problem));
    return;
  }
  process->has_process = true;
  process->watched = warden_watch(process->process.pid);
  uv_timer_start(&process->timer, give_up_start, START_PATIENCE_MS, 0);
  set_state(process, PROCESS_STARTING);
}

static muster_result make_folder(const char *folder) {
  if (!*folder || mkdir(folder, 0700) == 0 || errno == EEXIST) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "cannot make the folder %s: %s", folder, strerror(errno));
}

static muster_result processes_prepare(struct processes *processes, uint32_t index) {
  const struct settings *settings = processes->settings;
  world_process *process = &processes->worlds[index];
  *process = (world_process){.all = processes, .listener = -1, .notify = -1, .heard = -1, .output.pipe = -1};
  memcpy(process->name, settings->worlds[index].name, sizeof process->name);
  processes->count = index + 1;
  uv_timer_init(processes->loop, &process->timer);
  process->timer.data = process;
  const char *name = settings->worlds[index].name;
  if (snprintf(process->socket, SOCKET_BYTES, "%s.%s", settings->socket, name) >= SOCKET_BYTES)
    return error_set(MUSTER_E_ARGUMENT, "the path %s.%s of a socket is too long: give a shorter --socket",
                     settings->socket, name);
  char snapshots[PATH_BYTES], flight[PATH_BYTES], journals[PATH_BYTES], path[PATH_BYTES];
  if (!orders_path(settings->snapshot_file, process->name, snapshots, path) ||
      !orders_flight_path(settings, process->name, flight, path) || !orders_journals(settings, process->name, journals))
    return error_set(MUSTER_E_ARGUMENT, "the paths of the files of world %s are too long", process->name);
  muster_result result = make_folder(snapshots);
  if (!result) result = make_folder(flight);
  if (!result) result = make_folder(journals);
  return result ? result : listener_make(&process->listener, process->socket);
}

muster_result processes_open(struct processes *processes) {
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < processes->settings->world_count && !result; i++) result = processes_prepare(processes, i);
  if (!result) result = division_make(processes->settings);
  if (result) {
    processes_close(processes);
    return result;
  }
  for (uint32_t i = 0; i < processes->count; i++) start(&processes->worlds[i]);
  look_begin(processes);
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------------- end */

/* One that starts does not take signals yet: it would end by them. */
void processes_reload(struct processes *processes) {
  for (uint32_t i = 0; i < processes->count; i++) {
    world_process *process = &processes->worlds[i];
    process->reloads = process->state == PROCESS_STARTING;
    if (process->state == PROCESS_RUNNING) uv_process_kill(&process->process, SIGHUP);
  }
}

void processes_save(struct processes *processes) {
  for (uint32_t i = 0; i < processes->count; i++)
    if (processes->worlds[i].state == PROCESS_RUNNING) uv_process_kill(&processes->worlds[i].process, SIGUSR1);
}

void processes_stop(struct processes *processes) {
  processes->stopping = true;
  for (uint32_t i = processes->count; i-- > 0;) {
    world_process *process = &processes->worlds[i];
    uv_timer_stop(&process->timer);
    if (!process->has_process) {
      set_state(process, PROCESS_ENDED);
      continue;
    }
    ask_to_stop(process);
  }
}

void processes_close(struct processes *processes) {
  processes->stopping = true;
  for (uint32_t i = 0; i < processes->count; i++) {
    world_process *process = &processes->worlds[i];
    if (process->has_process) kill_group(process);
    forget_news(process);
    listener_close(&process->listener);
    unlink(process->socket);
    orders_forget_flight(process->all->settings, process->name);
  }
}

void processes_replace(world_process *process, const char *why) {
  if (!process->has_process || process->all->stopping) return;
  process->again = true;
  kill_as(process, MUSTER_LOG_INFO, why);
}

void processes_expect_end(world_process *process, const char *why) {
  if (!process->has_process || process->all->stopping) return;
  process->again = true;
  uv_timer_stop(&process->timer);
  log_line(MUSTER_LOG_INFO, "world %s: %s: its process %d ends", process->name, why, (int)process->process.pid);
}

bool processes_restart(world_process *process) {
  if (process->all->stopping) return false;
  log_line(MUSTER_LOG_INFO, "world %s is started again, as asked", process->name);
  restarts_reset(&process->restarts);
  if (!process->has_process) {
    start_soon(process);
  } else if (!process->again) {
    process->again = true;
    ask_to_stop(process);
  }
  return true;
}

world_process *processes_find(struct processes *processes, const char *name) {
  for (uint32_t i = 0; i < processes->count; i++)
    if (strcmp(processes->worlds[i].name, name) == 0) return &processes->worlds[i];
  return NULL;
}
