#include "service/publish.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static const uint64_t statistics_gap_ns = 100000000u;

static void copy_costs(const muster_world *world, world_published *published) {
  uint32_t count = 0;
  for (const char *name; count < WORLD_TYPES_MAX; count++) {
    muster_type type = {count + 1};
    if ((name = muster_type_name(world, type)) == NULL) break;
    snprintf(published->types[count].name, sizeof published->types[count].name, "%s", name);
    muster_type_cost *costs = published->types[count].costs;
    for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
      costs[level] = muster_type_cost_default();
      if (level == 0 || level < costs[0].levels) muster_type_cost_read(world, type, level, &costs[level]);
    }
  }
  published->type_count = count;
}

/* Copying the bands is the expensive part. */
static void copy_statistics(hosted_world *world, uint64_t now_ns) {
  world_published *published = &world->published;
  if (published->statistics_ns && now_ns < published->statistics_ns + statistics_gap_ns) return;
  published->statistics = muster_statistics_default();
  muster_statistics_read(world->world, &published->statistics);
  copy_costs(world->world, published);
  published->statistics_ns = now_ns;
}

static void copy_pace(hosted_world *world) {
  world_published *published = &world->published;
  published->sim_now_ns = world->sim_now_ns;
  published->budget_ns = world->budget_ns;
  published->period_ns = world->period_ns;
  published->paused = world->paused;
  published->steps_left = world->steps_left;
  published->failed = world->failed;
  published->changes++;
  memcpy(published->failure, world->failure, sizeof published->failure);
}

void publish_frame(hosted_world *world, uint64_t begin_ns, uint64_t end_ns) {
  ASSERT(begin_ns <= end_ns);
  uv_mutex_lock(&world->mutex);
  world_published *published = &world->published;
  copy_pace(world);
  published->frames = world->frames;
  published->frames_late = world->frames_late;
  published->frame_begin_ns = begin_ns;
  published->frame_end_ns = end_ns;
  published->report = muster_frame_report_default();
  muster_frame_report_read(world->world, &published->report);
  if (!world->failed) timings_add(&published->timings, &published->report);
  copy_statistics(world, end_ns);
  uv_mutex_unlock(&world->mutex);
}

/* A world that was opened just now has types and numbers before its first frame. */
void publish_pace(hosted_world *world) {
  uv_mutex_lock(&world->mutex);
  copy_pace(world);
  if (!world->world) world->published.type_count = 0;
  if (world->world && !world->published.statistics_ns) {
    world->published.report = muster_frame_report_default();
    copy_statistics(world, clock_system());
    world->published.statistics_ns = 0; /* so that the first frame renews the statistics at once */
  }
  uv_mutex_unlock(&world->mutex);
}

void world_read_published(hosted_world *world, world_published *copy) {
  uv_mutex_lock(&world->mutex);
  *copy = world->published;
  uv_mutex_unlock(&world->mutex);
}
