#include "service/supervise/supervisor.h"

#include "service/api.h"
#include "service/api_bodies.h"
#include "service/control_socket.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/page.h"
#include "service/settings_cluster.h"
#include "service/settings_load.h"
#include "service/supervise/front.h"
#include "service/supervise/front_headers.h"
#include "service/supervise/joins.h"
#include "service/supervise/orders.h"
#include "service/supervise/processes.h"
#include "service/supervise/states.h"
#include "service/supervise/warden.h"
#include "service/zones/holder.h"

#include "base/error.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIGNALS = 4, BEHIND_WORLDS_NS = 1000000000 }; /* they end by themselves before, if they can */

static const double promised_most = 0.9001;

struct supervisor {
  uv_loop_t *loop;
  struct settings settings;
  int argument_count;
  char **arguments;
  control_socket control;
  struct http *http;
  struct front *front;
  struct metrics *metrics;
  struct processes processes;
  struct holder *holder; /* null = no world is a zone */
  uv_signal_t signals[SIGNALS];
  uv_timer_t alive;
  bool stopping, finishing, ready;
};

/* --------------------------------------------------------------------------------------------------------- requests */

static void refuse_stopped(http_request *request, const world_process *process) {
  char why[STATES_WORDS_BYTES];
  front_headers_say_when(request, states_next_start_s(process));
  http_refuse(request, 503, process_state_name(process->state), NULL, "%s", states_explain(process, why));
}

static void restart_world(http_request *request, world_process *process) {
  if (processes_restart(process))
    states_answer(request, 202, process);
  else
    refuse_stopped(request, process);
}

/* What restart does, and only where a person has to say it. */
static void restore_world(struct supervisor *supervisor, http_request *request, world_process *process) {
  if (supervisor->holder && holder_is_restorable(supervisor->holder, process))
    restart_world(request, process);
  else
    http_refuse(request, 409, "state", NULL,
                "world %s is no zone that the brokers have lost and that stands by here: `muster ctl zones` tells more",
                process->name);
}

static void list_zones(struct supervisor *supervisor, http_request *request) {
  static const char none[] = "{\"cluster\": null, \"node\": null, \"problem\": null, \"zones\": []}\n";
  if (supervisor->holder)
    holder_list_zones(supervisor->holder, request);
  else
    http_answer(request, 200, HTTP_JSON, none, sizeof none - 1);
}

static void list_nodes(struct supervisor *supervisor, http_request *request) {
  static const char none[] = "{\"cluster\": null, \"node\": null, \"problem\": null, \"nodes\": [], "
                             "\"balancer\": {\"node\": null, \"words\": null}}\n";
  if (supervisor->holder)
    holder_list_nodes(supervisor->holder, request);
  else
    http_answer(request, 200, HTTP_JSON, none, sizeof none - 1);
}

static void show_map(struct supervisor *supervisor, http_request *request) {
  static const char none[] = "{\"cluster\": null, \"node\": null, \"side\": 0, \"zones\": []}\n";
  if (supervisor->holder)
    holder_show_atlas(supervisor->holder, request);
  else
    http_answer(request, 200, HTTP_JSON, none, sizeof none - 1);
}

static void move_world(struct supervisor *supervisor, http_request *request, const world_process *process) {
  char node[NAME_BYTES];
  api_problem problem = {0};
  size_t bytes;
  const void *body = http_body(request, &bytes);
  if (!node_name_read(body, bytes, node, &problem))
    api_refuse(request, &problem);
  else if (supervisor->holder)
    holder_move_zone(supervisor->holder, request, process, node);
  else
    http_refuse(request, 409, "state", NULL, "world %s is no zone of a cluster", process->name);
}

static void drain_node(struct supervisor *supervisor, http_request *request) {
  bool drain;
  api_problem problem = {0};
  size_t bytes;
  const void *body = http_body(request, &bytes);
  if (!drain_read(body, bytes, &drain, &problem))
    api_refuse(request, &problem);
  else if (supervisor->holder)
    holder_drain(supervisor->holder, request, drain);
  else
    http_refuse(request, 409, "state", NULL, "this daemon is no node of a cluster");
}

/* Short waits are the request's, too; here it would see its own time-out. */
static bool waits_for_long(const world_process *process) {
  return process->state == PROCESS_WAITING && processes_is_down(process);
}

static void handle_of_world(struct supervisor *supervisor, http_request *request) {
  const char *name = http_path_value(request, "world");
  world_process *process = processes_find(&supervisor->processes, name);
  if (!process)
    api_refuse_world(request, &supervisor->settings, name);
  else if (strcmp(http_route_of(request)->pattern, API_RESTART) == 0)
    restart_world(request, process);
  else if (strcmp(http_route_of(request)->pattern, API_RESTORE) == 0)
    restore_world(supervisor, request, process);
  else if (strcmp(http_route_of(request)->pattern, API_MOVE) == 0)
    move_world(supervisor, request, process);
  else if (process->state >= PROCESS_STOPPING || *process->standby || waits_for_long(process))
    refuse_stopped(request, process);
  else
    front_forward(supervisor->front, request, process->socket);
}

static void supervisor_handle(http_request *request) {
  struct supervisor *supervisor = http_user(request);
  const char *pattern = http_route_of(request)->pattern;
  if (http_has_path_value(request, "world"))
    handle_of_world(supervisor, request);
  else if (strcmp(pattern, API_ZONES) == 0)
    list_zones(supervisor, request);
  else if (strcmp(pattern, API_NODES) == 0)
    list_nodes(supervisor, request);
  else if (strcmp(pattern, API_DRAIN) == 0)
    drain_node(supervisor, request);
  else if (strcmp(pattern, API_MAP) == 0)
    show_map(supervisor, request);
  else if (!joins_handle(request, &(const joins_of){supervisor->front, &supervisor->processes, supervisor->http,
                                                    supervisor->metrics, supervisor->holder}))
    http_route_of(request)->handle(request); /* the page's files, which need no world */
}

/* -------------------------------------------------------------------------------------------------------------- end */

static void close_handle(uv_handle_t *handle, void *user) {
  (void)user;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(void *user) {
  struct supervisor *supervisor = user;
  processes_close(&supervisor->processes);
  control_socket_close(&supervisor->control);
  front_close(supervisor->front);
  http_destroy(supervisor->http, NULL, NULL);
  front_free(supervisor->front);
  uv_walk(supervisor->loop, close_handle, NULL);
}

static void supervisor_finish(struct supervisor *supervisor) {
  if (supervisor->finishing) return;
  supervisor->finishing = true;
  if (supervisor->holder)
    holder_close(supervisor->holder, close_all, supervisor);
  else
    close_all(supervisor);
}

static void supervisor_stop(struct supervisor *supervisor) {
  if (supervisor->stopping) return;
  supervisor->stopping = true;
  notify_stopping();
  processes_stop(&supervisor->processes);
}

/* -------------------------------------------------------------------------------------------------------- processes */

static void tell_deal(const struct settings *settings) {
  deal dealt;
  uint32_t processor;
  orders_deal(settings, &dealt);
  for (uint32_t i = 0; i < settings->world_count; i++)
    log_line(MUSTER_LOG_INFO, "world %s: workers %u, processors %d", settings->worlds[i].name, dealt.workers[i],
             CPU_COUNT(&dealt.processors[i]));
  double promised = deal_most_promised(settings, &dealt, &processor);
  if (promised > promised_most)
    log_line(MUSTER_LOG_WARNING,
             "the worlds that share processor %u promise %.0f %% of its time, the sum of budget x rate: frames will be "
             "late when all use their budgets. Lower a budget or a rate, or give fewer workers",
             processor, promised * 100.0);
}

static void tell_ready(struct supervisor *supervisor) {
  char status[64];
  uint32_t running = 0, starting = 0, all = supervisor->processes.count;
  for (uint32_t i = 0; i < all; i++) {
    running += supervisor->processes.worlds[i].state == PROCESS_RUNNING;
    const world_process *world = &supervisor->processes.worlds[i];
    starting += world->state <= PROCESS_STARTING && !*world->standby && !processes_is_down(world);
  }
  if (starting && !supervisor->ready) return;
  snprintf(status, sizeof status, "%u of %u worlds run", running, all);
  if (!supervisor->ready) log_line(MUSTER_LOG_INFO, "ready: %s", status);
  supervisor->ready = true;
  notify_ready(status);
}

/* What a process has not answered is refused, and what it has not taken must not reach the next one. */
static void drop_requests(struct supervisor *supervisor, const world_process *process) {
  front_drop(supervisor->front, process->socket);
  for (int waiting; (waiting = accept4(process->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) close(waiting);
}

/* All have ended, and what they left is stored. */
static void finish_if_over(struct supervisor *supervisor) {
  uint32_t ended = 0;
  for (uint32_t i = 0; i < supervisor->processes.count; i++)
    ended += supervisor->processes.worlds[i].state == PROCESS_ENDED;
  if (ended < supervisor->processes.count || (supervisor->holder && holder_is_busy(supervisor->holder))) return;
  supervisor_finish(supervisor);
}

static void zones_idle(void *user) {
  struct supervisor *supervisor = user;
  if (supervisor->stopping) finish_if_over(supervisor);
}

static void process_changed(world_process *process, void *user) {
  struct supervisor *supervisor = user;
  if (supervisor->holder) holder_note_change(supervisor->holder, process);
  if (!process->has_process && process->state != PROCESS_STARTING) drop_requests(supervisor, process);
  if (!supervisor->stopping) {
    tell_ready(supervisor);
    return;
  }
  finish_if_over(supervisor);
}

/* ---------------------------------------------------------------------------------------------------------- signals */

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  log_line(MUSTER_LOG_ERROR, "reload: %s%s%s", where, *where ? ": " : "", message);
}

/* Each process reads the settings itself. */
static void reload(struct supervisor *supervisor) {
  settings_call call = {0};
  struct settings *next = calloc(1, sizeof *next);
  if (!next) return;
  notify_reloading();
  if (settings_load(next, &call, supervisor->argument_count, supervisor->arguments, complain, NULL)) {
    settings_keep_fixed(next, &supervisor->settings, complain, NULL);
    supervisor->settings = *next;
    log_set_level((muster_log_level)next->log_level);
    if (api_change(supervisor->http, next)) complain("", muster_last_error(), NULL);
    processes_reload(&supervisor->processes);
    tell_deal(&supervisor->settings);
  } else {
    log_line(MUSTER_LOG_ERROR, "reload: nothing has changed");
  }
  if (supervisor->ready) tell_ready(supervisor);
  free(next);
}

static void supervisor_take_signal(uv_signal_t *handle, int number) {
  struct supervisor *supervisor = handle->data;
  if (number == SIGHUP) {
    reload(supervisor);
  } else if (number == SIGUSR1) {
    processes_save(&supervisor->processes);
  } else {
    log_line(MUSTER_LOG_INFO, "stopping: %s", strsignal(number));
    supervisor_stop(supervisor);
  }
}

static void tell_alive(uv_timer_t *timer) {
  (void)timer;
  notify_alive();
}

static muster_result supervisor_prepare_loop(struct supervisor *supervisor) {
  static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
  int problem = uv_timer_init(supervisor->loop, &supervisor->alive);
  for (size_t i = 0; !problem && i < SIGNALS; i++) {
    problem = uv_signal_init(supervisor->loop, &supervisor->signals[i]);
    supervisor->signals[i].data = supervisor;
    if (!problem) problem = uv_signal_start(&supervisor->signals[i], supervisor_take_signal, numbers[i]);
  }
  uint64_t gap_ms = notify_alive_gap_ms();
  if (!problem && gap_ms) problem = uv_timer_start(&supervisor->alive, tell_alive, gap_ms, gap_ms);
  return problem ? error_set(MUSTER_E_SYSTEM, "cannot prepare the loop: %s", uv_strerror(problem)) : MUSTER_OK;
}

static void log_advice(const char *where, const char *message, void *user) {
  (void)user;
  log_line(MUSTER_LOG_WARNING, "%s%s%s", where, *where ? ": " : "", message);
}

static muster_result supervisor_open_zones(struct supervisor *supervisor) {
  supervisor->holder = holder_open(supervisor->loop, &supervisor->settings, &supervisor->processes);
  if (!supervisor->holder) return muster_last_result();
  settings_advise(&supervisor->settings, log_advice, NULL);
  holder_on_idle(supervisor->holder, zones_idle, supervisor);
  supervisor->processes.may_start = holder_may_start;
  supervisor->processes.give_socket = holder_give_socket;
  supervisor->processes.start_user = supervisor->holder;
  return MUSTER_OK;
}

static muster_result supervisor_start(struct supervisor *supervisor) {
  muster_result result = control_socket_open(&supervisor->control, supervisor->settings.socket);
  if (result) return result;
  result = supervisor_prepare_loop(supervisor);
  page_prepare();
  supervisor->front = front_open(supervisor->loop);
  supervisor->metrics = metrics_create();
  if (!result && !supervisor->front) result = muster_last_result();
  if (!result && !supervisor->metrics) result = error_set(MUSTER_E_MEMORY, "no memory for metrics");
  if (!result)
    supervisor->http = api_serve(supervisor->loop, &supervisor->settings, supervisor->control.descriptor,
                                 supervisor_handle, supervisor);
  if (!result && !supervisor->http) result = muster_last_result();
  supervisor->processes = (struct processes){.loop = supervisor->loop,
                                             .settings = &supervisor->settings,
                                             .arguments = supervisor->arguments,
                                             .changed = process_changed,
                                             .user = supervisor};
  if (!result) tell_deal(&supervisor->settings);
  if (!result && *supervisor->settings.cluster) result = supervisor_open_zones(supervisor);
  if (!result) result = processes_open(&supervisor->processes);
  if (result) control_socket_close(&supervisor->control);
  return result;
}

int supervisor_run(const struct settings *settings, int count, char **arguments) {
  struct supervisor *supervisor = calloc(1, sizeof *supervisor);
  if (!supervisor) {
    log_line(MUSTER_LOG_ERROR, "no memory for the supervisor");
    return EXIT_FAILURE;
  }
  signal(SIGPIPE, SIG_IGN); /* write() reports a closed connection */
  warden_begin(settings->stop_grace_ns + BEHIND_WORLDS_NS);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  supervisor->loop = uv_default_loop();
  supervisor->settings = *settings;
  supervisor->argument_count = count;
  supervisor->arguments = arguments;
  log_set_level((muster_log_level)settings->log_level);
  if (supervisor_start(supervisor) != MUSTER_OK) {
    log_line(MUSTER_LOG_ERROR, "%s", muster_last_error());
    exit(EXIT_FAILURE); /* nothing runs yet that would have to be closed */
  }
  uv_run(supervisor->loop, UV_RUN_DEFAULT);
  int status = supervisor->processes.disorderly ? EXIT_FAILURE : EXIT_SUCCESS;
  curl_global_cleanup();
  metrics_destroy(supervisor->metrics);
  holder_free(supervisor->holder);
  free(supervisor);
  return status;
}
