/* snapshots_write.c - the process that writes a snapshot. */
#include "service/log.h"
#include "service/service.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/forked.h"

#include <muster/snapshot.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The result that the process writes to the pipe at its end, in one write. */
struct tidings {
  uint64_t bytes, took_ns;
  bool good;
  char reason[SNAPSHOT_REASON_BYTES];
};

_Static_assert(sizeof(struct tidings) < 512, "a pipe takes it as a whole");

/* -------------------------------------------------------------------------------------------------------- the files */

static muster_result refused(const char *path) {
  return error_set(MUSTER_E_SYSTEM, "%s: %s", path, strerror(errno));
}

/* By the younger calls, as base/files.c opens: a confined process may make them when its supervisor has died. */
static int remove_name(const char *path) {
  return unlinkat(AT_FDCWD, path, 0);
}

static int rename_to(const char *from, const char *to) {
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* The current file becomes the previous one, too. On a file system without hard links the current file is missing for a
 * moment. */
static void keep_previous(const char *path) {
  char previous[SNAPSHOT_PATH_BYTES], linked[SNAPSHOT_PATH_BYTES];
  snprintf(previous, sizeof previous, "%s.previous", path);
  snprintf(linked, sizeof linked, "%s.linked", path);
  remove_name(linked);
  rename_to(linkat(AT_FDCWD, path, AT_FDCWD, linked, 0) == 0 ? linked : path, previous);
}

static muster_result write_file(const char *path, uint64_t number, const snapshot_source *sources, uint32_t count,
                                uint64_t *bytes) {
  char fresh[SNAPSHOT_PATH_BYTES];
  snprintf(fresh, sizeof fresh, "%s.new", path);
  int descriptor = files_open_regular(AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return error_set(MUSTER_E_SYSTEM, "%s: %s", fresh, muster_last_error());
  muster_result result = snapshot_file_write(descriptor, number, sources, count, bytes);
  if (!result && fsync(descriptor) != 0) result = refused(fresh);
  if (close(descriptor) != 0 && !result) result = refused(fresh);
  if (!result) result = snapshots_check_path(path);
  if (result) {
    remove_name(fresh);
    return result;
  }
  keep_previous(path);
  return rename_to(fresh, path) == 0 && files_sync_folder_of(path) ? MUSTER_OK : refused(path);
}

/* ------------------------------------------------------------------------------------------------------ the process */

static uint32_t snapshots_write_gather(struct service *service, snapshot_source sources[WORLDS_MAX]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < service->world_count; i++) {
    const hosted_world *world = &service->worlds[i];
    if (!world->world) continue;
    sources[count++] = (snapshot_source){.name = world->name,
                                         .module_name = module_list_label(world->settings.module),
                                         .module = world->module,
                                         .instance = world->instance,
                                         .world = world->world,
                                         .sim_now_ns = world->sim_now_ns,
                                         .keys = &world->keys};
  }
  return count;
}

static struct tidings snapshots_write_now(struct service *service, uint64_t number) {
  snapshot_source sources[WORLDS_MAX];
  struct tidings tidings;
  memset(&tidings, 0, sizeof tidings);
  uint64_t begin_ns = clock_system();
  uint32_t count = snapshots_write_gather(service, sources);
  tidings.good = write_file(service->snapshots.path, number, sources, count, &tidings.bytes) == MUSTER_OK;
  tidings.took_ns = clock_system() - begin_ns;
  if (!tidings.good) snprintf(tidings.reason, sizeof tidings.reason, "%s", muster_last_error());
  return tidings;
}

/* In the forked process, in which no other thread runs: no lock may be taken that another thread may have held. */
_Noreturn static void be_writer(struct service *service, uint64_t number, pid_t parent, int pipe) {
  forked_begin(parent, service->snapshots.lock, pipe);
  struct tidings tidings = snapshots_write_now(service, number);
  if (write(pipe, &tidings, sizeof tidings) < 0) _exit(EXIT_FAILURE);
  _exit(tidings.good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ------------------------------------------------------------------------------------------------ the loop's thread */

/* A process whose pipe the loop reads. */
struct listener {
  uv_poll_t poll;
  struct snapshots *snapshots;
  struct tidings tidings;
  size_t heard;
  int pipe;
  pid_t process;
};

/* `stood`: the frames paused for a fork; false: they had ended. */
static void snapshots_write_note(struct snapshots *snapshots, const struct tidings *tidings, bool stood) {
  uv_mutex_lock(&snapshots->mutex);
  snapshots_status *status = &snapshots->status;
  if (tidings->good) {
    status->written++;
    status->number++;
    status->bytes = tidings->bytes;
    status->write_ns = tidings->took_ns;
    status->written_at = (int64_t)time(NULL);
  } else {
    status->failed++;
    memcpy(status->failure, tidings->reason, sizeof status->failure);
  }
  status->unsaved = !tidings->good;
  status->running = false;
  uint64_t number = status->number, pause_ns = status->pause_ns;
  uv_cond_broadcast(&snapshots->idle);
  uv_mutex_unlock(&snapshots->mutex);
  if (!tidings->good)
    log_line(MUSTER_LOG_ERROR, "no snapshot was written: %s", tidings->reason);
  else if (stood)
    log_line(MUSTER_LOG_INFO, "snapshot %lu: %.1f MB in %.0f ms, frames stood still for %.2f ms", number,
             (double)tidings->bytes * 1e-6, (double)tidings->took_ns * 1e-6, (double)pause_ns * 1e-6);
  else
    log_line(MUSTER_LOG_INFO, "snapshot %lu, the last: %.1f MB in %.0f ms", number, (double)tidings->bytes * 1e-6,
             (double)tidings->took_ns * 1e-6);
}

static void free_listener(uv_handle_t *handle) {
  free(handle->data);
}

static void hear_end(struct listener *listener) {
  int status = 0;
  uv_poll_stop(&listener->poll);
  close(listener->pipe);
  while (waitpid(listener->process, &status, 0) < 0 && errno == EINTR) continue;
  if (listener->heard < sizeof listener->tidings) {
    listener->tidings.good = false;
    snprintf(listener->tidings.reason, sizeof listener->tidings.reason, "its process ended with %s %d",
             WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  snapshots_write_note(listener->snapshots, &listener->tidings, true);
  uv_close((uv_handle_t *)&listener->poll, free_listener);
}

static void snapshots_write_hear(uv_poll_t *poll, int problem, int events) {
  struct listener *listener = poll->data;
  (void)problem, (void)events;
  unsigned char *to = (unsigned char *)&listener->tidings + listener->heard;
  ssize_t got = read(listener->pipe, to, sizeof listener->tidings - listener->heard);
  if (got > 0) listener->heard += (size_t)got;
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) hear_end(listener);
}

/* If the loop cannot watch the pipe, this thread waits for the process. */
static void listen_to(struct snapshots *snapshots, pid_t process, int pipe) {
  struct listener *listener = calloc(1, sizeof *listener);
  struct tidings none = {.reason = "no memory to hear of its end"};
  if (!listener) {
    close(pipe);
    waitpid(process, NULL, 0);
    snapshots_write_note(snapshots, &none, true);
    return;
  }
  listener->snapshots = snapshots;
  listener->pipe = pipe;
  listener->process = process;
  uv_poll_init(snapshots->loop, &listener->poll, pipe);
  listener->poll.data = listener;
  if (uv_poll_start(&listener->poll, UV_READABLE, snapshots_write_hear) != 0) hear_end(listener);
}

void snapshots_take_news(uv_async_t *news) {
  struct snapshots *snapshots = news->data;
  uv_mutex_lock(&snapshots->mutex);
  int pipe = snapshots->pipe, process = snapshots->process;
  snapshots->pipe = -1;
  uv_mutex_unlock(&snapshots->mutex);
  if (pipe >= 0) listen_to(snapshots, process, pipe);
}

/* ----------------------------------------------------------------------------------------------- the frames' thread */

/* Marks that a snapshot is being written from now on; false when one is being written already. */
static bool snapshots_write_begin(struct snapshots *snapshots, uint64_t *number) {
  uv_mutex_lock(&snapshots->mutex);
  bool free = !snapshots->status.running;
  snapshots->status.running = true;
  *number = snapshots->status.number + 1;
  uv_mutex_unlock(&snapshots->mutex);
  return free;
}

static muster_result snapshots_write_give_up(struct snapshots *snapshots, const char *what) {
  struct tidings tidings = {.good = false};
  snprintf(tidings.reason, sizeof tidings.reason, "%s: %s", what, strerror(errno));
  snapshots_write_note(snapshots, &tidings, true);
  return error_set(MUSTER_E_SYSTEM, "snapshot: %s", tidings.reason);
}

/* Completes what a frame left undone: afterwards memory holds everything to save. */
static void settle(struct service *service) {
  for (uint32_t i = 0; i < service->world_count; i++)
    if (service->worlds[i].world) muster_world_settle(service->worlds[i].world);
}

muster_result snapshots_take(struct service *service) {
  struct snapshots *snapshots = &service->snapshots;
  uint64_t number;
  int ends[2];
  if (!snapshots->path[0]) return error_set(MUSTER_E_STATE, "snapshot: snapshot_file is not set");
  if (!snapshots_write_begin(snapshots, &number)) return error_set(MUSTER_E_FULL, "snapshot: one is being written");
  settle(service);
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return snapshots_write_give_up(snapshots, "no pipe");
  uint64_t begin_ns = clock_system();
  pid_t parent = getpid(), process = fork();
  if (process == 0) be_writer(service, number, parent, ends[1]);
  uint64_t pause_ns = clock_system() - begin_ns;
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return snapshots_write_give_up(snapshots, "no process");
  }
  uv_mutex_lock(&snapshots->mutex);
  snapshots->status.pause_ns = pause_ns;
  snapshots->process = process;
  snapshots->pipe = ends[0];
  uv_mutex_unlock(&snapshots->mutex);
  uv_async_send(&snapshots->news);
  return MUSTER_OK;
}

static void take_asked(mailbox_request *request, struct service *service) {
  (void)request;
  if (snapshots_take(service)) log_line(MUSTER_LOG_WARNING, "%s", muster_last_error());
}

static void forget_asked(mailbox_request *request) {
  free(request);
}

void snapshots_ask(struct service *service) {
  mailbox_request *request = malloc(sizeof *request);
  if (!request) return;
  *request = (mailbox_request){.run = take_asked, .done = forget_asked};
  if (frame_mailbox_post(&service->mailbox, request) == MUSTER_OK) return;
  log_line(MUSTER_LOG_WARNING, "snapshot: %s", muster_last_error());
  free(request);
}

void snapshots_turn(struct service *service) {
  struct snapshots *snapshots = &service->snapshots;
  if (!snapshots->path[0]) return;
  uint64_t now_ns = clock_system();
  uv_mutex_lock(&snapshots->mutex);
  uint64_t interval_ns = snapshots->interval_ns;
  uv_mutex_unlock(&snapshots->mutex);
  if (!interval_ns) return;
  if (!snapshots->due_ns || snapshots->due_ns > now_ns + interval_ns) snapshots->due_ns = now_ns + interval_ns;
  if (now_ns < snapshots->due_ns) return;
  snapshots->due_ns = now_ns + interval_ns;
  if (snapshots_take(service) == MUSTER_E_FULL)
    log_line(MUSTER_LOG_WARNING, "no snapshot: the last one is still being written; snapshot_interval is too short");
}

bool snapshots_finish(struct service *service) {
  struct snapshots *snapshots = &service->snapshots;
  if (!snapshots->path[0]) return true;
  uv_mutex_lock(&snapshots->mutex);
  while (snapshots->status.running) uv_cond_wait(&snapshots->idle, &snapshots->mutex);
  uint64_t number = snapshots->status.number + 1;
  uv_mutex_unlock(&snapshots->mutex);
  settle(service);
  struct tidings tidings = snapshots_write_now(service, number);
  snapshots_write_note(snapshots, &tidings, false);
  return tidings.good;
}
