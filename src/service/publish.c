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

static void copy_metrics(hosted_world *world, world_published *published) {
  published->part_count = world->parts.count;
  for (uint32_t i = 0; i < world->parts.count; i++) {
    const module_part *part = &world->parts.parts[i];
    published_part *to = &published->parts[i];
    memcpy(to->instance, part->name.instance, sizeof to->instance);
    memcpy(to->module, part->name.module, sizeof to->module);
    to->tables = part->module;
    memcpy(to->metrics, part->metrics, sizeof to->metrics);
  }
}

/* Only the frames' thread writes it, and may read it without the mutex. */
static bool statistics_are_due(const hosted_world *world, uint64_t now_ns) {
  uint64_t last_ns = world->published.statistics_ns;
  return world->world && (!last_ns || now_ns >= last_ns + statistics_gap_ns);
}

/* A module may take its time for its metrics: it is asked before the mutex is taken. */
static void measure(hosted_world *world, uint64_t now_ns) {
  uint64_t since_ns = (uint64_t)PROBLEM_SECONDS * 1000000000u;
  if (!statistics_are_due(world, now_ns)) return;
  module_parts_measure(&world->parts, world->world);
  since_ns = world->sim_now_ns > since_ns ? world->sim_now_ns - since_ns : 0;
  module_parts_find_problem(&world->parts, world->world, (muster_agent){0}, since_ns, &world->problem);
}

/* Copying the bands is the expensive part. */
static void copy_statistics(hosted_world *world, uint64_t now_ns) {
  world_published *published = &world->published;
  if (!statistics_are_due(world, now_ns)) return;
  published->statistics = muster_statistics_default();
  muster_statistics_read(world->world, &published->statistics);
  copy_costs(world->world, published);
  copy_metrics(world, published);
  published->problem = world->problem;
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
  journals_publish(world, &published->journal);
  zone_publish(world, &published->zone);
  published->changes++;
  memcpy(published->failure, world->failure, sizeof published->failure);
}

/* Audit and virtual clock say whether a frame kept the promise. */
static void publish_history(hosted_world *world, bool late, uint64_t end_ns) {
  const world_published *published = &world->published;
  history_frame frame = {.end_ns = end_ns,
                         .late = late,
                         .audited = world->settings.audit || world->settings.virtual_clock,
                         .report = &published->report,
                         .statistics = &published->statistics};
  history_add(&world->history, &frame);
}

void publish_frame(hosted_world *world, uint64_t begin_ns, uint64_t end_ns) {
  ASSERT(begin_ns <= end_ns);
  bool late = world->frames_late != world->published.frames_late; /* only this thread writes either */
  measure(world, end_ns);
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
  if (!world->failed) publish_history(world, late, end_ns);
  uv_mutex_unlock(&world->mutex);
}

/* A world that was opened just now has types and numbers before its first frame. */
void publish_pace(hosted_world *world) {
  if (!world->published.statistics_ns) measure(world, clock_system());
  uv_mutex_lock(&world->mutex);
  copy_pace(world);
  if (!world->world) world->published.type_count = world->published.part_count = 0;
  if (world->world && !world->published.statistics_ns) {
    world->published.report = muster_frame_report_default();
    copy_statistics(world, clock_system());
    world->published.statistics_ns = 0; /* so that the first frame renews the statistics at once */
  }
  uv_mutex_unlock(&world->mutex);
}

uint64_t world_read_frame(hosted_world *world) {
  uv_mutex_lock(&world->mutex);
  uint64_t frame = world->published.report.frame;
  uv_mutex_unlock(&world->mutex);
  return frame;
}

void world_read_published(hosted_world *world, world_published *copy) {
  uv_mutex_lock(&world->mutex);
  *copy = world->published;
  uv_mutex_unlock(&world->mutex);
}

uint32_t world_read_history(hosted_world *world, uint64_t after, uint64_t now_ns, history_second *out) {
  uv_mutex_lock(&world->mutex);
  history_close_second(&world->history, now_ns);
  uint32_t count = history_read(&world->history, after, now_ns, out);
  uv_mutex_unlock(&world->mutex);
  return count;
}
