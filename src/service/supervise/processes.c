#include "service/supervise/processes.h"

#include "service/log.h"
#include "service/supervise/child.h"
#include "service/supervise/confine.h"
#include "service/supervise/division.h"
#include "service/supervise/orders.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

enum {
  BACKLOG = 512,
  ENVIRONMENT_MAX = 256,
  START_PATIENCE_MS = 600000,
  STOP_PATIENCE_MS = 60000,
  LOOKS_IN_PATIENCE = 8,    /* how often it is looked for signs */
  SIGNS_IN_PATIENCE = 4,    /* for half of that time there is a sign */
  PATIENCE_DOUBLED_MOST = 3 /* times */
};

static const restart_rules defaults = {
    .window_ns = 60000000000u, .pause_first_ns = 250000000u, .pause_most_ns = 8000000000u};

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

static int open_recorder(const world_process *process) {
  char folder[PATH_BYTES], path[PATH_BYTES];
  orders_flight_path(process->all->settings, process->name, folder, path);
  return files_open_regular(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, 0);
}

static void close_recorder(int file) {
  if (file >= 0) close(file);
}

static void kill_process(world_process *process, const char *why) {
  snprintf(process->stuck, sizeof process->stuck, "%s", why);
  uv_timer_stop(&process->timer);
  log_line(MUSTER_LOG_ERROR, "world %s: %s: its process %d is killed", process->name, why, (int)process->process.pid);
  uv_process_kill(&process->process, SIGKILL);
}

/* It got no processor: that is nobody's fault, and may be over soon. */
static void wait_longer(world_process *process) {
  process->patience_ns *= 2;
  process->looked = false;
  log_line(
      MUSTER_LOG_WARNING,
      "world %s ran no frame for %.3g s, since its threads got no processor: nobody is blamed, and it has %.3g s now",
      process->name, (double)process->patience_ns / 2e9, (double)process->patience_ns / 1e9);
}

static void end_silence(world_process *process, uint64_t now_ns) {
  static const char *const reasons[] = {"nothing tells in what",        "somebody has stopped its process",
                                        "its threads get no processor", "a callback computes without end",
                                        "a callback waits without end", "a function of its module does not return"};
  const struct settings *settings = process->all->settings;
  char why[STUCK_BYTES];
  blame_look *after = malloc(sizeof *after);
  uint32_t culprit = 0;
  int file = open_recorder(process);
  blame_verdict verdict = BLAME_NOBODY;
  if (after) {
    blame_take_look(file, process->process.pid, now_ns, after);
    verdict = blame_judge(&process->before, after, &culprit);
  }
  if (verdict == BLAME_STARVED && process->patience_ns < settings->stuck_kill_ns << PATIENCE_DOUBLED_MOST) {
    wait_longer(process);
  } else {
    if (after) blame_mark(file, after, verdict, culprit);
    snprintf(why, sizeof why, "it ran no frame for %.3g s: %s", (double)(now_ns - process->sign_ns) / 1e9,
             reasons[verdict]);
    kill_process(process, why);
  }
  close_recorder(file);
  free(after);
}

/* When this comes late, this process has got no processor, either: the silence begins anew. */
static void look_for_sign(uv_timer_t *timer) {
  world_process *process = timer->data;
  uint64_t now_ns = clock_system(), gap_ns = uv_timer_get_repeat(timer) * 1000000u;
  bool late = now_ns - process->looked_ns > 3 * gap_ns;
  process->looked_ns = now_ns;
  if (late) {
    process->sign_ns = now_ns;
    process->looked = false;
  } else if (now_ns - process->sign_ns >= process->patience_ns) {
    end_silence(process, now_ns);
  } else if (!process->looked && now_ns - process->sign_ns >= process->patience_ns / 4) {
    int file = open_recorder(process);
    blame_take_look(file, process->process.pid, now_ns, &process->before);
    close_recorder(file);
    process->looked = true;
  }
}

static void watch_silence(world_process *process) {
  uint64_t gap_ms = process->all->settings->stuck_kill_ns / (1000000u * LOOKS_IN_PATIENCE);
  process->patience_ns = process->all->settings->stuck_kill_ns;
  process->looked_ns = clock_system();
  if (process->patience_ns) uv_timer_start(&process->timer, look_for_sign, gap_ms + 1, gap_ms + 1);
}

static void take_sign(world_process *process) {
  process->sign_ns = clock_system();
  process->looked = false;
}

static void give_up_start(uv_timer_t *timer) {
  kill_process(timer->data, "its start does not end");
}

static void give_up_stop(uv_timer_t *timer) {
  kill_process(timer->data, "it does not stop");
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
  if (strcmp(line, "READY=1") == 0 && process->state == PROCESS_STARTING) {
    process->problem[0] = '\0';
    log_line(MUSTER_LOG_INFO, "world %s runs in process %d", process->name, (int)process->process.pid);
    set_state(process, PROCESS_RUNNING);
    watch_silence(process);
  }
  if (strcmp(line, "READY=1") == 0 || strcmp(line, "WATCHDOG=1") == 0) take_sign(process);
}

/* How many processes it has made that are still there. */
static uint32_t count_copies(const world_process *process) {
  char path[64], text[256];
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process->process.pid);
  DIR *threads = opendir(path);
  for (const struct dirent *thread; threads && (thread = readdir(threads)) != NULL;) {
    char name[sizeof path + sizeof thread->d_name + 16];
    snprintf(name, sizeof name, "%s/%s/children", path, thread->d_name);
    FILE *file = *thread->d_name != '.' ? fopen(name, "r") : NULL;
    while (file && fscanf(file, "%255s", text) == 1) count++;
    if (file) fclose(file);
  }
  if (threads) closedir(threads);
  return count;
}

/* Each kind of call is told once in a process's life. */
static void tell_refused(world_process *process, const confine_call *call) {
  char name[64];
  uint32_t number = (uint32_t)call->number % CALL_NUMBERS;
  process->refused++;
  process->refused_total++;
  if (process->told[number / 64] >> (number % 64) & 1) return;
  process->told[number / 64] |= 1ull << (number % 64);
  log_line(MUSTER_LOG_WARNING, "world %s: its module's call of %s was refused%s", process->name,
           confine_call_name(call->number, name, sizeof name),
           call->is_process ? ": it has as many processes as snapshots need" : "");
}

static void take_call(uv_poll_t *poll, int status, int events) {
  world_process *process = poll->data;
  confine_call call;
  uint64_t id;
  (void)events;
  if (status < 0 || !confine_hear(process->heard, &call, &id)) {
    uv_poll_stop(&process->calls);
    return;
  }
  bool allow = call.is_process && count_copies(process) < COPIES_MAX;
  if (!allow) tell_refused(process, &call);
  confine_answer(process->heard, id, allow);
}

static void hear_calls(world_process *process, int descriptor) {
  if (process->heard >= 0) {
    close(descriptor);
    return;
  }
  process->heard = descriptor;
  uv_poll_init(process->all->loop, &process->calls, descriptor);
  process->calls.data = process;
  uv_poll_start(&process->calls, UV_READABLE, take_call);
}

static void take_notes(uv_poll_t *poll, int status, int events) {
  world_process *process = poll->data;
  char text[1024];
  (void)status, (void)events;
  for (int bytes, descriptor; (bytes = child_receive(process->notify, text, sizeof text - 1, &descriptor)) > 0;) {
    text[bytes] = '\0';
    if (descriptor >= 0) hear_calls(process, descriptor);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) processes_take_line(process, line);
  }
}

/* ------------------------------------------------------------------------------------------------------------- ends */

static void forget_news(world_process *process) {
  if (process->notify < 0) return;
  uv_poll_stop(&process->news);
  uv_close((uv_handle_t *)&process->news, NULL);
  close(process->notify);
  process->notify = -1;
  if (process->heard < 0) return;
  uv_poll_stop(&process->calls);
  uv_close((uv_handle_t *)&process->calls, NULL);
  close(process->heard);
  process->heard = -1;
}

static void start_in_time(uv_timer_t *timer) {
  start(timer->data);
}

static void start_again(world_process *process) {
  const struct settings *settings = process->all->settings;
  restart_rules rules = defaults;
  rules.most = settings->crash_limit < RESTARTS_KEPT ? settings->crash_limit : RESTARTS_KEPT;
  rules.window_ns = settings->crash_window_ns;
  uint64_t now_ns = clock_system(), due_ns = restarts_ended(&process->restarts, &rules, now_ns);
  if (due_ns == UINT64_MAX) {
    log_line(MUSTER_LOG_ERROR,
             "world %s has failed: it ended more than %u times within %.3g s, the last time because %s. It stays down "
             "until `muster ctl restart %s`",
             process->name, rules.most, (double)rules.window_ns / 1e9, process->reason, process->name);
    set_state(process, PROCESS_FAILED);
    return;
  }
  log_line(MUSTER_LOG_WARNING, "world %s starts again in %.3g s: %s", process->name, (double)(due_ns - now_ns) / 1e9,
           process->reason);
  set_state(process, PROCESS_WAITING);
  uv_timer_start(&process->timer, start_in_time, (due_ns - now_ns) / 1000000u, 0);
}

/* How it ended, and by whom, as far as its recorder tells. */
static void note_end(world_process *process, int64_t status, int number) {
  char culprit[FLIGHT_TEXT_BYTES], *reason = process->reason;
  int file = open_recorder(process);
  blame_read_culprit(file, process->process.pid, culprit, sizeof culprit);
  close_recorder(file);
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
}

/* Not in this turn of the loop, which still closes the handles of the last process. */
static void start_soon(world_process *process) {
  process->again = false;
  set_state(process, PROCESS_WAITING);
  uv_timer_start(&process->timer, start_in_time, 0, 0);
}

static void take_end(uv_process_t *handle, int64_t status, int number) {
  world_process *process = handle->data;
  take_notes(&process->news, 0, UV_READABLE); /* its last words; they may set the timer */
  uv_timer_stop(&process->timer);
  forget_news(process);
  process->has_process = false;
  uv_close((uv_handle_t *)handle, NULL);
  if (process->all->stopping) {
    set_state(process, PROCESS_ENDED);
    return;
  }
  if (process->again) {
    start_soon(process);
    return;
  }
  note_end(process, status, number);
  start_again(process);
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
  snprintf(process->reason, sizeof process->reason, "%s: %s", what, problem);
  start_again(process);
}

static int spawn(world_process *process, int notify) {
  char *environment[ENVIRONMENT_MAX], world[NAME_BYTES + 32], watchdog[64];
  uv_stdio_container_t descriptors[] = {
      {.flags = UV_IGNORE},
      {.flags = UV_INHERIT_FD, .data.fd = 1},
      {.flags = UV_INHERIT_FD, .data.fd = 2},
      [ORDERS_SOCKET] = {.flags = UV_INHERIT_FD, .data.fd = process->listener},
      [ORDERS_NOTIFY] = {.flags = UV_INHERIT_FD, .data.fd = notify},
  };
  fill_environment(process, environment, world, watchdog);
  uv_process_options_t options = {.exit_cb = take_end,
                                  .file = "/proc/self/exe",
                                  .args = process->all->arguments,
                                  .env = environment,
                                  .stdio_count = sizeof descriptors / sizeof *descriptors,
                                  .stdio = descriptors};
  process->process.data = process;
  return uv_spawn(process->all->loop, &process->process, &options);
}

static void start(world_process *process) {
  int pair[2];
  process->starts++;
  process->stuck[0] = process->problem[0] = '\0';
  process->looked = false;
  process->refused = 0;
  memset(process->told, 0, sizeof process->told);
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair)) {
    note_unstarted(process, "it has no socket for notes", strerror(errno));
    return;
  }
  int problem = spawn(process, pair[1]);
  close(pair[1]);
  if (problem) {
    close(pair[0]);
    note_unstarted(process, "it cannot be started", uv_strerror(problem));
    return;
  }
  process->has_process = true;
  process->notify = pair[0];
  uv_poll_init(process->all->loop, &process->news, process->notify);
  process->news.data = process;
  uv_poll_start(&process->news, UV_READABLE, take_notes);
  uv_timer_start(&process->timer, give_up_start, START_PATIENCE_MS, 0);
  set_state(process, PROCESS_STARTING);
}

static muster_result make_listener(world_process *process) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", process->socket);
  unlink(process->socket); /* the holder of the control socket's lock may */
  process->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  mode_t before = umask(0177);
  bool bound = process->listener >= 0 &&
               bind(process->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
               listen(process->listener, BACKLOG) == 0;
  umask(before);
  return bound ? MUSTER_OK : error_set(MUSTER_E_SYSTEM, "cannot listen on %s: %s", process->socket, strerror(errno));
}

static muster_result make_folder(const char *folder) {
  if (!*folder || mkdir(folder, 0700) == 0 || errno == EEXIST) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "cannot make the folder %s: %s", folder, strerror(errno));
}

static muster_result processes_prepare(struct processes *processes, uint32_t index) {
  const struct settings *settings = processes->settings;
  world_process *process = &processes->worlds[index];
  *process = (world_process){.all = processes, .listener = -1, .notify = -1, .heard = -1};
  memcpy(process->name, settings->worlds[index].name, sizeof process->name);
  processes->count = index + 1;
  uv_timer_init(processes->loop, &process->timer);
  process->timer.data = process;
  const char *name = settings->worlds[index].name;
  if (snprintf(process->socket, SOCKET_BYTES, "%s.%s", settings->socket, name) >= SOCKET_BYTES)
    return error_set(MUSTER_E_ARGUMENT, "the path %s.%s of a socket is too long: give a shorter --socket",
                     settings->socket, name);
  char snapshots[PATH_BYTES], flight[PATH_BYTES], path[PATH_BYTES];
  if (!orders_path(settings->snapshot_file, process->name, snapshots, path) ||
      !orders_flight_path(settings, process->name, flight, path))
    return error_set(MUSTER_E_ARGUMENT, "the paths of the files of world %s are too long", process->name);
  muster_result result = make_folder(snapshots);
  if (!result) result = make_folder(flight);
  return result ? result : make_listener(process);
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
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------------- end */

void processes_signal(struct processes *processes, int number) {
  for (uint32_t i = 0; i < processes->count; i++)
    if (processes->worlds[i].has_process) uv_process_kill(&processes->worlds[i].process, number);
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
    uv_timer_start(&process->timer, give_up_stop, STOP_PATIENCE_MS, 0);
    set_state(process, PROCESS_STOPPING);
    uv_process_kill(&process->process, SIGTERM);
  }
}

void processes_close(struct processes *processes) {
  processes->stopping = true;
  for (uint32_t i = 0; i < processes->count; i++) {
    world_process *process = &processes->worlds[i];
    if (process->has_process) uv_process_kill(&process->process, SIGKILL);
    forget_news(process);
    if (process->listener < 0) continue;
    close(process->listener);
    unlink(process->socket);
    process->listener = -1;
    orders_forget_flight(process->all->settings, process->name);
  }
}

bool processes_restart(world_process *process) {
  if (process->all->stopping) return false;
  log_line(MUSTER_LOG_INFO, "world %s is started again, as asked", process->name);
  restarts_reset(&process->restarts);
  if (!process->has_process) {
    start_soon(process);
  } else if (!process->again) {
    process->again = true;
    set_state(process, PROCESS_STOPPING);
    uv_timer_start(&process->timer, give_up_stop, STOP_PATIENCE_MS, 0);
    uv_process_kill(&process->process, SIGTERM);
  }
  return true;
}

world_process *processes_find(struct processes *processes, const char *name) {
  for (uint32_t i = 0; i < processes->count; i++)
    if (strcmp(processes->worlds[i].name, name) == 0) return &processes->worlds[i];
  return NULL;
}
