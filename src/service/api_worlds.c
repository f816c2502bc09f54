/* api_worlds.c - worlds: what they do, and their pace, workers and weights. */
#include "service/api.h"

#include "base/bands_json.h"
#include "service/api_bodies.h"
#include "service/frames.h"

#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- reading */

static void api_worlds_write_frame(json_writer *writer, const muster_frame_report *report) {
  json_begin_object(writer, "frame");
  json_uint(writer, "number", report->frame);
  json_uint(writer, "wall_ns", report->wall_ns);
  json_uint(writer, "overrun_wall_ns", report->overrun_wall_ns);
  json_uint(writer, "released", report->released);
  json_uint(writer, "completed", report->completed);
  json_uint(writer, "carried", report->carried);
  json_uint(writer, "preempted", report->preempted);
  json_uint(writer, "woken", report->woken);
  json_uint(writer, "commands_waiting", report->commands_waiting);
  api_write_float(writer, "utilisation_desired", report->utilisation_desired);
  api_write_float(writer, "utilisation_nominal", report->utilisation_nominal);
  api_write_float(writer, "utilisation_fitted", report->utilisation_fitted);
  json_uint(writer, "debt_ns", report->debt_ns);
  json_end_object(writer);
}

static void write_levels(json_writer *writer, const muster_frame_report *report) {
  json_begin_array(writer, "levels");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, report->levels[i]);
  json_end_array(writer);
}

static void write_world(json_writer *writer, const char *name, const hosted_world *world,
                        const world_published *published) {
  const muster_frame_report *report = &published->report;
  json_begin_object(writer, name);
  json_string(writer, "world", world->name);
  json_string(writer, "module", world->settings.module);
  json_bool(writer, "paused", published->paused);
  json_bool(writer, "failed", published->failed);
  json_uint(writer, "steps_left", published->steps_left);
  json_uint(writer, "frames", published->frames);
  json_uint(writer, "frames_late", published->frames_late);
  json_uint(writer, "sim_now_ns", published->sim_now_ns);
  json_uint(writer, "budget_ns", published->budget_ns);
  json_uint(writer, "period_ns", published->period_ns);
  json_number(writer, "hz", published->period_ns ? round(1e12 / (double)published->period_ns) / 1e3 : 0.0);
  json_uint(writer, "agents", report->agents);
  json_uint(writer, "spawns_waiting", report->spawns_waiting);
  api_write_float(writer, "pressure", report->pressure);
  api_write_float(writer, "important_load", report->important_load);
  api_write_float(writer, "share", report->share);
  write_levels(writer, report);
  json_uint(writer, "agents_quarantined", report->agents_quarantined);
  json_uint(writer, "types_quarantined", report->types_quarantined);
  json_uint(writer, "bytes_used", published->statistics.bytes_used);
  api_worlds_write_frame(writer, report);
  bands_json(writer, &published->statistics);
  json_end_object(writer);
}

/* Room for an answer that is given at once. */
static bool api_worlds_start(http_request *request, json_writer *writer, size_t room) {
  char *text = malloc(room);
  if (text)
    json_start(writer, text, room);
  else
    http_refuse(request, 429, "busy", NULL, "no memory for the answer now");
  return text != NULL;
}

enum { WORLD_ROOM = 8192 };

static void list_worlds(http_request *request) {
  struct service *service = http_user(request);
  json_writer writer;
  world_published published;
  if (!api_worlds_start(request, &writer, WORLD_ROOM * (service->world_count + 1u))) return;
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "worlds");
  for (uint32_t i = 0; i < service->world_count; i++) {
    world_read_published(&service->worlds[i], &published);
    write_world(&writer, NULL, &service->worlds[i], &published);
  }
  json_end_array(&writer);
  json_end_object(&writer);
  api_answer_now(request, &writer);
}

static void show_world(http_request *request) {
  json_writer writer;
  world_published published;
  hosted_world *world = api_world(request);
  if (!world || !api_worlds_start(request, &writer, WORLD_ROOM)) return;
  world_read_published(world, &published);
  write_world(&writer, NULL, world, &published);
  api_answer_now(request, &writer);
}

static void show_levels(http_request *request) {
  json_writer writer;
  world_published published;
  hosted_world *world = api_world(request);
  if (!world || !api_worlds_start(request, &writer, WORLD_ROOM)) return;
  world_read_published(world, &published);
  json_begin_object(&writer, NULL);
  write_levels(&writer, &published.report);
  json_uint(&writer, "agents_eased", published.report.agents_eased);
  json_uint(&writer, "agents_demoted", published.report.agents_demoted);
  json_number(&writer, "pressure", (double)published.report.pressure);
  json_end_object(&writer);
  api_answer_now(request, &writer);
}

/* --------------------------------------------------------------------------------------------------------- weights */

static void write_tuning(json_writer *writer, const muster_world_tuning *tuning) {
  for (const field_row *field = fields_world; field->name; field++) {
    const char *place = (const char *)tuning + field->tuned;
    if (!field->tuned) continue;
    if (field->kind != FIELD_FLOAT)
      json_uint(writer, field->name, field_whole(field, place));
    else if (field_value(field, place) < 0)
      json_null(writer, field->name);
    else
      api_write_float(writer, field->name, (float)field_value(field, place));
  }
}

static void read_weights(api_call *call) {
  muster_world_tuning tuning = muster_default_world_tuning();
  if (!api_succeeded(call, muster_world_tuning_read(call->world->world, &tuning), NULL)) return;
  write_tuning(&call->writer, &tuning);
  json_uint(&call->writer, "workers", muster_world_workers(call->world->world));
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void api_worlds_write_pace(json_writer *writer, const hosted_world *world) {
  json_string(writer, "world", world->name);
  json_uint(writer, "budget_ns", world->budget_ns);
  json_uint(writer, "period_ns", world->period_ns);
  json_bool(writer, "paused", world->paused);
  json_uint(writer, "steps_left", world->steps_left);
  json_uint(writer, "workers", muster_world_workers(world->world));
}

/* Changes that can be refused come first, and are taken back when a later one is refused. */
static bool change_pace_and_workers(api_call *call, const world_change *change, uint64_t budget_ns,
                                    uint64_t period_ns) {
  hosted_world *world = call->world;
  uint32_t workers = muster_world_workers(world->world);
  if ((budget_ns || period_ns) &&
      !api_succeeded(call, frames_set_pace(call->service, world, budget_ns, period_ns), NULL))
    return false;
  if (change->has_workers && !api_succeeded(call, muster_world_set_workers(world->world, change->workers), "workers"))
    return false;
  if (!change->tunes || api_succeeded(call, muster_world_tune(world->world, &change->tuning), NULL)) return true;
  if (change->has_workers) muster_world_set_workers(world->world, workers);
  return false;
}

static void api_worlds_apply_change(api_call *call) {
  const world_change *change = (const world_change *)(const void *)call->input;
  hosted_world *world = call->world;
  uint64_t budget_ns = world->budget_ns, period_ns = world->period_ns;
  if (!change_pace_and_workers(call, change, change->budget_ns, change->rate ? settings_period_ns(change->rate) : 0)) {
    if (budget_ns != world->budget_ns || period_ns != world->period_ns)
      frames_set_pace(call->service, world, budget_ns, period_ns);
    return;
  }
  if (change->has_paused && change->paused) frames_pause(call->service, world, 0);
  if (change->has_paused && !change->paused) frames_resume(call->service, world);
  api_worlds_write_pace(&call->writer, world);
}

static void take_steps(api_call *call) {
  const uint32_t *frames = (const uint32_t *)(const void *)call->input;
  frames_pause(call->service, call->world, *frames);
  api_worlds_write_pace(&call->writer, call->world);
}

enum { SMALL_BODY = 16384 };

const http_route api_world_routes[] = {
    {.method = "GET", .pattern = "/v1/worlds", .handle = list_worlds, .summary = "all worlds"},
    {.method = "GET", .pattern = "/v1/worlds/{world}", .handle = show_world, .summary = "pace, last frame and sums"},
    {.method = "PATCH",
     .pattern = "/v1/worlds/{world}",
     .handle = api_handle,
     .order = &(const api_order){.work = api_worlds_apply_change,
                                 .read = world_change_read,
                                 .input_bytes = sizeof(world_change)},
     .body_max = SMALL_BODY,
     .summary = "change budget_ns, hz, paused, workers, policy and weights: all or nothing"},
    {.method = "POST",
     .pattern = "/v1/worlds/{world}/step",
     .handle = api_handle,
     .order = &(const api_order){.work = take_steps, .read = step_read, .input_bytes = sizeof(uint32_t)},
     .body_max = SMALL_BODY,
     .summary = "pause and run so many frames"},
    {.method = "GET",
     .pattern = "/v1/worlds/{world}/weights",
     .handle = api_handle,
     .order = &(const api_order){.work = read_weights},
     .summary = "weights and workers in force"},
    {.method = "GET",
     .pattern = "/v1/worlds/{world}/levels",
     .handle = show_levels,
     .summary = "agents by capability level"},
    {0},
};
