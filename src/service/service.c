#include "service/service.h"

#include "service/api.h"
#include "service/frames.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/notify.h"
#include "service/reload.h"
#include "service/supervise/orders.h"

#include "base/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START_PATIENCE_MS = 1000, BEHIND_SUPERVISOR_MS = 500 };

/* -------------------------------------------------------------------------------------------------------------- end */

static void close_handle(uv_handle_t *handle, void *user) {
  (void)user;
  if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

/* The frames' thread has ended: no more answers are posted, and the loop ends when its handles are closed. */
static void service_finish(struct service *service) {
  uv_thread_join(&service->frames);
  service->has_frames = false;
  watchdog_close(&service->watchdog);
  control_socket_close(&service->control);
  frame_mailbox_close(&service->mailbox);
  api_close(service);
  uv_walk(service->loop, close_handle, NULL);
}

/* The frames' thread cannot be interrupted inside a module. What is safe already is what the next run goes on from. */
static void end_stop(uv_timer_t *timer) {
  struct service *service = timer->data;
  log_line(MUSTER_LOG_ERROR,
           "stopping: a world has not ended within %.3g s: it is given up, and goes on from what is safe next time",
           (double)service->settings.stop_grace_ns / 1e9);
  control_socket_close(&service->control);
  kill(getpid(), SIGKILL); /* nothing of this process may be in its way */
}

/* A supervisor kills the world itself; this is for when it has died. */
static void limit_stop(struct service *service) {
  uint64_t grace_ms = service->settings.stop_grace_ns / 1000000u;
  uv_timer_start(&service->patience, end_stop, grace_ms + (orders_world() ? BEHIND_SUPERVISOR_MS : 0), 0);
}

/* Nor can it be in a start. No frame has been run, and the snapshots are unchanged. */
static void end_start(uv_timer_t *timer) {
  struct service *service = timer->data;
  uv_mutex_lock(&service->news_mutex);
  bool opened = service->opened;
  uv_mutex_unlock(&service->news_mutex);
  if (opened) {
    limit_stop(service);
    return;
  }
  log_line(MUSTER_LOG_WARNING, "stopping: the start is cut short, while a world is being opened");
  control_socket_close(&service->control);
  flight_end(&service->flight);
  journals_cut_short(&service->settings);
  _exit(service->status);
}

bool service_is_to_stop(struct service *service) {
  uv_mutex_lock(&service->news_mutex);
  bool stop = service->stop;
  uv_mutex_unlock(&service->news_mutex);
  return stop;
}

/* The frame under way finishes, then everything is closed in order. A start that does not end within a second, since a
 * module or a large snapshot holds it up, is cut short: there is nothing to save yet. Any other stop has its grace
 * time. A second call does nothing. */
static void service_stop(struct service *service) {
  if (service->stage == SERVICE_STOPPING) return;
  if (service->stage == SERVICE_STARTING)
    uv_timer_start(&service->patience, end_start, START_PATIENCE_MS, 0);
  else
    limit_stop(service);
  service->stage = SERVICE_STOPPING;
  service->status = EXIT_SUCCESS;
  frame_mailbox_refuse(&service->mailbox);
  uv_mutex_lock(&service->news_mutex);
  service->stop = true;
  uv_mutex_unlock(&service->news_mutex);
  notify_stopping(); /* not before: a supervisor that hears of it expects no further world to be opened */
  frame_mailbox_wake(&service->mailbox);
}

/* ----------------------------------------------------------------------------------------------------------- events */

/* The number of worlds that could be opened. */
static uint32_t count_running(struct service *service) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < service->world_count; i++) {
    world_published published;
    world_read_published(&service->worlds[i], &published);
    count += !published.failed;
  }
  return count;
}

static void become_ready(struct service *service) {
  char status[64];
  service->stage = SERVICE_RUNNING;
  watchdog_watch_frames(&service->watchdog);
  uint32_t running = count_running(service), all = service->world_count;
  if (running == all)
    snprintf(status, sizeof status, "%u world%s run%s", all, all == 1 ? "" : "s", all == 1 ? "s" : "");
  else
    snprintf(status, sizeof status, "%u of %u worlds run", running, all);
  log_line(MUSTER_LOG_INFO, "ready: %s", status);
  notify_ready(status);
  if (!service->reload_again) return; /* a reload was asked for during the start */
  service->reload_again = false;
  reload_begin(service);
}

static void take_news(uv_async_t *news) {
  struct service *service = news->data;
  uv_mutex_lock(&service->news_mutex);
  bool opened = service->opened, ended = service->ended, unsaved = service->unsaved;
  uv_mutex_unlock(&service->news_mutex);
  if (opened && !ended && service->stage == SERVICE_STARTING) become_ready(service);
  if (!ended) return;
  if (unsaved || (!opened && service->stage != SERVICE_STOPPING)) service->status = EXIT_FAILURE;
  service->stage = SERVICE_STOPPING;
  if (service->has_frames) service_finish(service);
}

static void take_signal(uv_signal_t *handle, int number) {
  struct service *service = handle->data;
  if (number == SIGHUP) {
    reload_begin(service);
    return;
  }
  if (number == SIGUSR1) {
    if (service->stage == SERVICE_RUNNING) snapshots_ask(service);
    return;
  }
  log_line(MUSTER_LOG_INFO, "stopping: %s", strsignal(number));
  service_stop(service);
}

/* ------------------------------------------------------------------------------------------------------------ start */

static muster_result prepare_worlds(struct service *service) {
  const struct settings *settings = &service->settings;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    hosted_world *world = &service->worlds[i];
    world->settings = settings->worlds[i];
    memcpy(world->name, world->settings.name, sizeof world->name);
    world->budget_ns = world->settings.budget_ns;
    world->period_ns = settings_period_ns(world->settings.rate);
    int problem = uv_mutex_init(&world->mutex);
    if (problem) return error_set(MUSTER_E_SYSTEM, "no mutex for world %s: %s", world->name, uv_strerror(problem));
    service->world_count++;
  }
  return MUSTER_OK;
}

static muster_result prepare_loop(struct service *service) {
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
  int problem = uv_mutex_init(&service->news_mutex);
  if (!problem) problem = uv_async_init(service->loop, &service->frames_news, take_news);
  if (!problem) problem = uv_timer_init(service->loop, &service->patience);
  service->frames_news.data = service->patience.data = service;
  for (size_t i = 0; !problem && i < sizeof numbers / sizeof *numbers; i++) {
    problem = uv_signal_init(service->loop, &service->signals[i]);
    service->signals[i].data = service;
    if (!problem) problem = uv_signal_start(&service->signals[i], take_signal, numbers[i]);
  }
  if (problem) return error_set(MUSTER_E_SYSTEM, "cannot prepare the loop: %s", uv_strerror(problem));
  muster_result result = frame_mailbox_open(&service->mailbox, service->loop);
  if (!result) result = snapshots_open(&service->snapshots, service->loop, &service->settings);
  return result ? result : watchdog_open(&service->watchdog, &service->mailbox, service->loop);
}

/* Only the loop's thread takes signals, so that no frame is interrupted by one. */
static muster_result start_frames(struct service *service) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  int problem = uv_thread_create(&service->frames, frames_main, service);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (problem) return error_set(MUSTER_E_SYSTEM, "cannot start the frames' thread: %s", uv_strerror(problem));
  service->has_frames = true;
  return MUSTER_OK;
}

/* The last run's record is read before the first callback can leave another. */
static muster_result start_measured(struct service *service) {
  service->metrics = metrics_create();
  if (!service->metrics) return error_set(MUSTER_E_MEMORY, "no memory for the metrics");
  muster_result result = flight_open(&service->flight, service->settings.flight_file, service->settings.crash_limit);
  if (!result && (result = start_frames(service))) flight_close(&service->flight);
  return result;
}

static void destroy(struct service *service) {
  for (uint32_t i = 0; i < service->world_count; i++) uv_mutex_destroy(&service->worlds[i].mutex);
  uv_mutex_destroy(&service->news_mutex);
  snapshots_close(&service->snapshots);
  flight_close(&service->flight);
  metrics_destroy(service->metrics);
  free(service);
}

/* The socket comes first: a second service with the same socket ends before it has done anything. */
static muster_result open_control(struct service *service) {
  if (!orders_world()) return control_socket_open(&service->control, service->settings.socket);
  control_socket_inherit(&service->control, ORDERS_SOCKET);
  return MUSTER_OK;
}

static muster_result service_start(struct service *service) {
  muster_result result = open_control(service);
  if (result) return result;
  result = prepare_worlds(service);
  if (!result) result = prepare_loop(service);
  if (!result) result = api_open(service);
  if (!result) result = start_measured(service);
  if (result) control_socket_close(&service->control);
  return result;
}

int service_run(const struct settings *settings, int count, char **arguments) {
  struct service *service = calloc(1, sizeof *service);
  if (!service) {
    log_line(MUSTER_LOG_ERROR, "no memory for the service");
    return EXIT_FAILURE;
  }
  signal(SIGPIPE, SIG_IGN); /* write() reports a closed connection, */
  signal(SIGXFSZ, SIG_IGN); /* and a file that is too long */
  service->loop = uv_default_loop();
  service->modules.descriptor = -1;
  service->settings = *settings;
  service->argument_count = count;
  service->arguments = arguments;
  log_set_level((muster_log_level)settings->log_level);
  if (service_start(service) != MUSTER_OK) {
    log_line(MUSTER_LOG_ERROR, "%s", muster_last_error());
    notify_problem(muster_last_error());
    exit(EXIT_FAILURE); /* nothing runs yet that would have to be closed */
  }
  uv_run(service->loop, UV_RUN_DEFAULT);
  int status = service->status;
  destroy(service);
  return status;
}

hosted_world *service_find_world(struct service *service, const char *name) {
  for (uint32_t i = 0; i < service->world_count; i++)
    if (strcmp(service->worlds[i].name, name) == 0) return &service->worlds[i];
  return NULL;
}
