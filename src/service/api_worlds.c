/* api_worlds.c - worlds: what they do, and their pace, workers and weights. */
#include "service/api.h"

#include "base/bands_json.h"
#include "service/api_bodies.h"
#include "service/frames.h"
#include "service/publish.h"
#include "service/verdict.h"

#include <muster/tune.h>

#include <math.h>

/* --------------------------------------------------------------------------------------------------------- reading */

static void write_levels(json_writer *writer, const muster_frame_report *report) {
  json_begin_array(writer, "levels");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) json_uint(writer, NULL, report->levels[i]);
  json_end_array(writer);
}

static void write_journal(json_writer *writer, const journal_published *journal) {
  static const char *const syncs[] = {"none", "second", "frame"};
  json_print(writer,
             "journal{ on=%d why=%s broken=%d sync=%s frames_written=%lu frames_safe=%lu recovery_ns=%lu holds=%d "
             "bytes=%lu snapshots=%lu snapshots_failed=%lu snapshot_bytes=%lu snapshot_ns=%lu pause_ns=%lu sync_ns=%lu "
             "incidents=%u recovered_frames=%lu recovered_ns=%lu losses=%lu lost_frames=%lu lost=%s }",
             journal->on, journal->why, journal->broken, syncs[journal->sync], journal->frames_written,
             journal->frames_safe, journal->recovery_ns, journal->holds, journal->bytes, journal->snapshots,
             journal->snapshots_failed, journal->snapshot_bytes, journal->snapshot_ns, journal->pause_ns,
             journal->sync_ns, journal->incidents, journal->recovered_frames, journal->recovered_ns,
             journal->lost.losses, journal->lost.frames, journal->lost.words);
}

static void write_zone(json_writer *writer, const zone_published *zone) {
  if (!zone->number) return;
  json_print(writer,
             "zone{ number=%u epoch=%lu space=%u spaces_used=%u ids_resting=%u frozen=%d ghosts=%u parcels_waiting=%u "
             "departed=%lu arrived=%lu refused=%lu "
             "messages_sent=%lu messages_delivered=%lu messages_lost=%lu }",
             zone->number, zone->epoch, zone->space, zone->spaces_used, zone->ids_resting, zone->frozen, zone->ghosts,
             zone->waiting, zone->departed, zone->arrived, zone->refused, zone->sent, zone->delivered, zone->lost);
}

/* What frames left though NPCs waited. */
static void write_idle(json_writer *writer, const muster_statistics *sums) {
  json_print(writer, "idle{ fault_ns=%lu fault_frames=%lu at_x_ns=%lu long_ns=%lu estimates_mended=%lu }",
             sums->idle_ns[MUSTER_IDLE_FAULT], sums->idle_frames[MUSTER_IDLE_FAULT], sums->idle_ns[MUSTER_IDLE_X],
             sums->idle_ns[MUSTER_IDLE_LONG], sums->estimates_mended);
}

static void write_world(json_writer *writer, hosted_world *world) {
  world_published published;
  const muster_frame_report *report = &published.report;
  world_read_published(world, &published);
  json_print(
      writer,
      "world=%s module=%s paused=%d failed=%d steps_left=%u frames=%lu frames_late=%lu sim_now_ns=%lu "
      "budget_ns=%lu period_ns=%lu hz=%g agents=%u spawns_waiting=%u pressure=%f important_load=%f elapsed_load=%f "
      "agents_put_off=%u share=%f serial_share=%f",
      world->name, world->settings.module, published.paused, published.failed, published.steps_left, published.frames,
      published.frames_late, published.sim_now_ns, published.budget_ns, published.period_ns,
      published.period_ns ? round(1e12 / (double)published.period_ns) / 1e3 : 0.0, report->agents,
      report->spawns_waiting, report->pressure, report->important_load, report->elapsed_load, report->agents_put_off,
      report->share, published.statistics.serial_share);
  write_levels(writer, report);
  json_print(writer,
             "agents_quarantined=%u types_quarantined=%u bytes_used=%lu frame{ number=%lu wall_ns=%lu "
             "overrun_wall_ns=%lu released=%u completed=%u carried=%u preempted=%u woken=%u commands_waiting=%u "
             "utilisation_desired=%f utilisation_nominal=%f utilisation_fitted=%f debt_ns=%lu "
             "serial_ns=%lu work_ns=%lu }",
             report->agents_quarantined, report->types_quarantined, published.statistics.bytes_used, report->frame,
             report->wall_ns, report->overrun_wall_ns, report->released, report->completed, report->carried,
             report->preempted, report->woken, report->commands_waiting, report->utilisation_desired,
             report->utilisation_nominal, report->utilisation_fitted, report->debt_ns, report->serial_ns,
             report->work_ns);
  write_idle(writer, &published.statistics);
  write_journal(writer, &published.journal);
  write_zone(writer, &published.zone);
  bands_json(writer, &published.statistics);
  verdict_json(writer, world, &published);
}

static void list_worlds(api_call *call) {
  json_begin_array(&call->writer, "worlds");
  for (uint32_t i = 0; i < call->service->world_count; i++) {
    json_begin_object(&call->writer, NULL);
    write_world(&call->writer, &call->service->worlds[i]);
    json_end_object(&call->writer);
  }
  json_end_array(&call->writer);
  json_begin_array(&call->writer, "processes"); /* of a supervisor, which fills it in (service/supervise/) */
  json_end_array(&call->writer);
}

static void show_world(api_call *call) {
  write_world(&call->writer, call->world);
}

static void show_levels(api_call *call) {
  world_published published;
  const muster_frame_report *report = &published.report;
  world_read_published(call->world, &published);
  write_levels(&call->writer, report);
  json_print(&call->writer, "agents_shed=%u agents_demoted=%u pressure=%g", report->agents_shed, report->agents_demoted,
             report->pressure);
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
      json_float(writer, field->name, (float)field_value(field, place));
  }
}

static void read_weights(api_call *call) {
  muster_world_tuning tuning = muster_world_tuning_default();
  if (!api_succeeded(call, muster_world_tuning_read(call->world->world, &tuning), NULL)) return;
  write_tuning(&call->writer, &tuning);
  json_uint(&call->writer, "workers", muster_world_workers(call->world->world));
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void api_worlds_write_pace(api_call *call) {
  const hosted_world *world = call->world;
  json_print(&call->writer, "world=%s budget_ns=%lu period_ns=%lu paused=%d steps_left=%u workers=%u", world->name,
             world->budget_ns, world->period_ns, world->paused, world->steps_left, muster_world_workers(world->world));
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
  const world_change *change = call->input;
  hosted_world *world = call->world;
  uint64_t budget_ns = world->budget_ns, period_ns = world->period_ns;
  if (!change_pace_and_workers(call, change, change->budget_ns, change->rate ? settings_period_ns(change->rate) : 0)) {
    if (budget_ns != world->budget_ns || period_ns != world->period_ns)
      frames_set_pace(call->service, world, budget_ns, period_ns);
    return;
  }
  if (change->has_paused && change->paused) frames_pause(call->service, world, 0);
  if (change->has_paused && !change->paused) frames_resume(call->service, world);
  api_worlds_write_pace(call);
}

static void take_steps(api_call *call) {
  const uint32_t *frames = call->input;
  frames_pause(call->service, call->world, *frames);
  api_worlds_write_pace(call);
}

static void acknowledge(api_call *call) {
  hosted_world *world = call->world;
  journal_lost lost = world->kept.lost;
  if (!api_succeeded(call, journals_acknowledge(world), NULL)) return;
  publish_pace(world);
  json_print(&call->writer, "world=%s losses=%lu lost_frames=%lu lost=%s", world->name, lost.losses, lost.frames,
             lost.words);
}

/* A supervisor does this itself; here the worlds run in one process. */
static void refuse_restart(api_call *call) {
  api_complain(
      &call->problem, 409, "one_process", "isolation",
      "world %s runs in one process with the daemon (isolation = none): restart the daemon, or set isolation = "
      "process",
      call->world->name);
}

static void refuse_restore(api_call *call) {
  api_complain(&call->problem, 409, "state", NULL, "world %s is no zone that the brokers have lost", call->world->name);
}

static void refuse_move(api_call *call) {
  api_complain(&call->problem, 409, "state", NULL, "world %s is no zone of a cluster", call->world->name);
}

static void refuse_drain(api_call *call) {
  api_complain(&call->problem, 409, "state", NULL, "this daemon is no node of a cluster");
}

/* A supervisor answers that itself: only with one there are zones. */
static void list_none(api_call *call, const char *what) {
  const struct settings *settings = &call->service->settings;
  const char *cluster = *settings->cluster ? settings->cluster : NULL, *node = *settings->node ? settings->node : NULL;
  json_print(&call->writer, "cluster=%s node=%s problem=%s", cluster, node,
             cluster ? "zones need isolation = process" : NULL);
  json_begin_array(&call->writer, what);
  json_end_array(&call->writer);
}

static void list_no_zones(api_call *call) {
  list_none(call, "zones");
}

static void list_no_nodes(api_call *call) {
  list_none(call, "nodes");
  json_begin_object(&call->writer, "balancer");
  json_null(&call->writer, "node");
  json_null(&call->writer, "words");
  json_end_object(&call->writer);
}

static void show_no_map(api_call *call) {
  json_null(&call->writer, "cluster");
  json_null(&call->writer, "node");
  json_print(&call->writer, "side=%u", 0u);
  json_begin_array(&call->writer, "zones");
  json_end_array(&call->writer);
}

enum { SMALL_BODY = 16384, WORLD_ROOM = 12288, WORLDS_ROOM = WORLD_ROOM * (WORLDS_MAX + 1) };

const http_route api_world_routes[] = {
    {"GET", "/v1/worlds", "all worlds", API_ORDER(list_worlds, .at_once = true, .room = WORLDS_ROOM)},
    {"GET", "/v1/worlds/{world}", "pace, last frame and sums",
     API_ORDER(show_world, .at_once = true, .room = WORLD_ROOM)},
    {"PATCH", "/v1/worlds/{world}", "change budget_ns, hz, paused, workers, policy and weights: all or nothing",
     API_ORDER(api_worlds_apply_change, world_change_read, sizeof(world_change)), .body_max = SMALL_BODY},
    {"POST", "/v1/worlds/{world}/step", "pause and run so many frames",
     API_ORDER(take_steps, step_read, sizeof(uint32_t)), .body_max = SMALL_BODY},
    {"POST", "/v1/worlds/{world}/acknowledge", "what its journals have lost is known: it is told no more",
     API_ORDER(acknowledge)},
    {"POST", API_RESTART, "stop the world's process in order, if it runs, and start it again at once",
     API_ORDER(refuse_restart, .at_once = true)},
    {"POST", API_RESTORE, "a zone that the brokers have lost goes on from this node's files",
     API_ORDER(refuse_restore, .at_once = true)},
    {"POST", API_MOVE, "a zone is to run on another node",
     API_ORDER(refuse_move, node_name_read, NAME_BYTES, .at_once = true), .body_max = SMALL_BODY},
    {"GET", API_ZONES, "all zones of the cluster", API_ORDER(list_no_zones, .at_once = true)},
    {"GET", API_NODES, "the nodes of the cluster, and what they run", API_ORDER(list_no_nodes, .at_once = true)},
    {"POST", API_DRAIN, "empty the node that is asked, or no longer",
     API_ORDER(refuse_drain, drain_read, sizeof(bool), .at_once = true), .body_max = SMALL_BODY},
    {"GET", API_MAP, "where the agents of all zones stand, for the page", API_ORDER(show_no_map, .at_once = true)},
    {"GET", "/v1/worlds/{world}/weights", "weights and workers in force", API_ORDER(read_weights)},
    {"GET", "/v1/worlds/{world}/levels", "agents by capability level", API_ORDER(show_levels, .at_once = true)},
    {0},
};
