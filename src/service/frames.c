#include "service/frames.h"

#include "service/hosting.h"
#include "service/log.h"
#include "service/publish.h"
#include "service/supervise/orders.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdio.h>
#include <sys/prctl.h>

static const uint64_t forever_ns = UINT64_MAX;

/* Requests have at least this part of the time, however late the frames are. */
enum { REQUESTS_PART = 10 };

static void frames_tell(struct service *service, bool *news) {
  uv_mutex_lock(&service->news_mutex);
  *news = true;
  uv_mutex_unlock(&service->news_mutex);
  uv_async_send(&service->frames_news);
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static bool runs(const hosted_world *world) {
  return !world->failed && zone_may_run(world) && (!world->paused || world->steps_left > 0);
}

/* The world whose frame is next; null when all are paused. */
static hosted_world *find_next(struct service *service) {
  hosted_world *next = NULL;
  for (uint32_t i = 0; i < service->world_count; i++) {
    hosted_world *world = &service->worlds[i];
    if (runs(world) && (!next || world->due_ns < next->due_ns)) next = world;
  }
  return next;
}

/* The time for requests before each frame of each world: together these are that part. */
static uint64_t time_for_requests(const struct service *service, const hosted_world *next) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < service->world_count; i++) running += runs(&service->worlds[i]);
  ASSERT(running > 0);
  return next->period_ns / (REQUESTS_PART * running);
}

/* When the frame after the one that begins now is due. */
static void schedule(hosted_world *world, uint64_t now_ns) {
  bool late = now_ns > world->due_ns + world->period_ns;
  world->frames_late += late;
  world->due_ns = (late ? now_ns : world->due_ns) + world->period_ns;
}

/* A world with a failed frame stops, and its failure is published; the others go on. */
static void run_frame(hosted_world *world) {
  uint64_t begin_ns = clock_system();
  schedule(world, begin_ns);
  if (hosting_run_frame(world) != MUSTER_OK) {
    world->failed = true;
    snprintf(world->failure, sizeof world->failure, "%s", muster_last_error());
    log_line(MUSTER_LOG_ERROR, "world %s stands still: its frame %lu failed: %s", world->name, world->frames + 1,
             world->failure);
  } else {
    world->frames++;
    if (world->paused) world->steps_left--;
    zone_send_out(world);
  }
  publish_frame(world, begin_ns, clock_system());
}

/* How long no frame is due. */
static uint64_t spare_ns(struct service *service) {
  const hosted_world *next = find_next(service);
  uint64_t now_ns = clock_system();
  return next && next->due_ns > now_ns ? next->due_ns - now_ns : 0;
}

/* Between two frames: what neighbours of zones have sent, snapshots that are due. */
static void turn_worlds(struct service *service) {
  for (uint32_t i = 0; i < service->world_count; i++) zone_take_in(&service->worlds[i]);
  journals_turn(service, spare_ns(service));
  snapshots_turn(service);
}

/* Until when the thread may sleep. */
static uint64_t next_turn_ns(struct service *service, uint64_t until_ns) {
  for (uint32_t i = 0; i < service->world_count; i++) until_ns = zone_next_look_ns(&service->worlds[i], until_ns);
  return journals_next_turn_ns(service, until_ns);
}

static void run_worlds(struct service *service) {
  uint64_t now_ns = clock_system();
  for (uint32_t i = 0; i < service->world_count; i++) service->worlds[i].due_ns = now_ns;
  while (!service_is_to_stop(service)) {
    hosted_world *next = find_next(service);
    if (next)
      frame_mailbox_serve(&service->mailbox, service, next_turn_ns(service, next->due_ns),
                          time_for_requests(service, next));
    else
      frame_mailbox_serve(&service->mailbox, service, next_turn_ns(service, forever_ns), 0);
    hosted_world *due = find_next(service); /* a request may have paused it, or changed its pace */
    if (due && due->due_ns <= clock_system() && !service_is_to_stop(service)) run_frame(due);
    turn_worlds(service);
  }
}

/* ------------------------------------------------------------------------------------------------------------- pace */

muster_result frames_set_pace(struct service *service, hosted_world *world, uint64_t budget_ns, uint64_t period_ns) {
  double used = 0;
  uint64_t budget = budget_ns ? budget_ns : world->budget_ns, period = period_ns ? period_ns : world->period_ns;
  for (uint32_t i = 0; i < service->world_count; i++) {
    const hosted_world *other = &service->worlds[i];
    if (other != world) used += (double)other->budget_ns / (double)other->period_ns;
  }
  muster_result result = settings_check_pace(used, budget, period);
  if (result) return result;
  frames_force_pace(world, budget, period);
  frame_mailbox_wake(&service->mailbox); /* it may be waiting for a later frame */
  return MUSTER_OK;
}

/* A frame that is already late is not put off. */
void frames_force_pace(hosted_world *world, uint64_t budget_ns, uint64_t period_ns) {
  uint64_t soonest_ns = clock_system() + period_ns;
  if (world->due_ns > soonest_ns) world->due_ns = soonest_ns;
  world->budget_ns = budget_ns;
  world->period_ns = period_ns;
  publish_pace(world);
}

static void change_pause(struct service *service, hosted_world *world, bool paused, uint32_t steps) {
  world->paused = paused;
  world->steps_left = steps;
  world->due_ns = clock_system();
  publish_pace(world);
  frame_mailbox_wake(&service->mailbox); /* it may be waiting for no frame at all */
}

void frames_pause(struct service *service, hosted_world *world, uint32_t steps) {
  change_pause(service, world, true, steps);
}

void frames_resume(struct service *service, hosted_world *world) {
  if (world->paused) change_pause(service, world, false, 0);
}

/* ----------------------------------------------------------------------------------------------------------- thread */

void frames_main(void *argument) {
  struct service *service = argument;
  prctl(PR_SET_NAME, "musterd-frames");
  orders_bind_thread();
  flight_thread_begin();
  if (hosting_open(service) == MUSTER_OK && !service_is_to_stop(service)) {
    frames_tell(service, &service->opened);
    run_worlds(service);
    if (!snapshots_finish(service)) frames_tell(service, &service->unsaved);
  }
  hosting_close(service);
  flight_thread_end();
  frames_tell(service, &service->ended);
}
