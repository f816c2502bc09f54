#include "service/health.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/json.h"
#include "service/verdict.h"

#include <stdio.h>
#include <string.h>

static const uint64_t patience_ns = 1000000000u;

static bool is_late(const health_world *world, uint64_t now_ns) {
  uint64_t most_ns = HEALTH_PERIODS * world->period_ns;
  if (most_ns < patience_ns) most_ns = patience_ns;
  return !world->paused && now_ns > world->frame_end_ns && now_ns - world->frame_end_ns > most_ns;
}

static void add_reason(json_writer *writer, const char *code, const char *message) {
  json_print(writer, "{ code=%s message=%s }", code, message);
}

/* Returns true when there was no reason to add. */
static bool add_reasons(json_writer *writer, const health_world *world, uint64_t now_ns) {
  char late[160];
  const char *code = "late", *message = late;
  if (world->failed) {
    code = "failed";
    message = world->failure;
  } else if (world->paused) {
    return true;
  } else if (!world->frame_end_ns) {
    code = "no_frame";
    message = "no frame has been run yet";
  } else if (is_late(world, now_ns)) {
    snprintf(late, sizeof late, "the last frame ended %.3f s ago; one is due every %.3f s",
             (double)(now_ns - world->frame_end_ns) / 1e9, (double)world->period_ns / 1e9);
  } else {
    return true;
  }
  json_print(writer, "{ world=%s code=%s message=%s }", world->name, code, message);
  return false;
}

static void add_recovering(json_writer *writer, const health_world *world) {
  char message[JOURNALS_PROGRESS_BYTES];
  if (!world->recovery.all) return;
  journals_progress_words(&world->recovery, message);
  json_print(writer, "{ world=%s code=%s message=%s }", world->name, "recovering", message);
}

static void add_lost(json_writer *writer, const health_world *world) {
  char message[JOURNAL_REASON_BYTES + NAME_BYTES + 80];
  if (!world->lost) return;
  snprintf(message, sizeof message, "%s; `muster ctl --world %s acknowledge` when that is known", world->lost,
           world->name);
  json_print(writer, "{ world=%s code=%s message=%s }", world->name, "lost", message);
}

static void add_degraded(json_writer *writer, const health_world *world) {
  char message[JOURNAL_REASON_BYTES + 80];
  if (!world->degraded) return;
  snprintf(message, sizeof message, "a crash loses the time since the last snapshot: %s", world->degraded);
  json_print(writer, "{ world=%s code=%s message=%s }", world->name, "degraded", message);
}

static void add_idle_budget(json_writer *writer, const health_world *world) {
  char message[160];
  if (!world->idle && !world->mended) return;
  snprintf(message, sizeof message,
           "in %d s %u frames left budget though NPCs waited, for no known reason; estimates were mended %u times",
           VERDICT_SECONDS, world->idle_faults, world->mended);
  json_print(writer, "{ world=%s code=%s message=%s }", world->name, "idle", message);
}

static bool add_all(json_writer *writer, service_stage stage, const char *unsaved, const health_world *worlds,
                    uint32_t count, uint64_t now_ns) {
  bool ready = stage == SERVICE_RUNNING && !unsaved;
  json_begin_array(writer, "reasons");
  if (stage == SERVICE_STARTING) add_reason(writer, "starting", "the worlds are not open yet");
  for (uint32_t i = 0; stage == SERVICE_STARTING && i < count; i++) add_recovering(writer, &worlds[i]);
  if (stage == SERVICE_STOPPING) add_reason(writer, "stopping", "the service is being stopped");
  if (unsaved) add_reason(writer, "unsaved", unsaved);
  for (uint32_t i = 0; stage == SERVICE_RUNNING && i < count; i++) {
    ready = add_reasons(writer, &worlds[i], now_ns) && ready;
    add_lost(writer, &worlds[i]);
    add_degraded(writer, &worlds[i]);
    if (worlds[i].errors)
      json_print(writer, "{ world=%s code=%s message=%s }", worlds[i].name, "errors", worlds[i].errors);
    add_idle_budget(writer, &worlds[i]);
  }
  json_end_array(writer);
  return ready;
}

bool health_write(char *text, size_t *bytes, service_stage stage, const char *unsaved, const health_world *worlds,
                  uint32_t count, uint64_t now_ns) {
  json_writer writer;
  json_start(&writer, text, HEALTH_BYTES);
  json_begin_object(&writer, NULL);
  bool ready = add_all(&writer, stage, unsaved, worlds, count, now_ns);
  json_bool(&writer, "ready", ready);
  json_end_object(&writer);
  bool fits = json_finish(&writer);
  ASSERT(fits); /* 5 * WORLDS_MAX + 2 reasons of bounded length */
  (void)fits;
  *bytes = writer.length;
  return ready;
}

static void show_health(http_request *request) {
  static const char alive[] = "{\"alive\": true}\n";
  http_answer(request, 200, HTTP_JSON, alive, sizeof alive - 1);
}

static void show_readiness(http_request *request) {
  struct service *service = http_user(request);
  health_world worlds[WORLDS_MAX];
  char failures[WORLDS_MAX][FAILURE_BYTES], degraded[WORLDS_MAX][JOURNAL_REASON_BYTES];
  char lost[WORLDS_MAX][JOURNAL_REASON_BYTES], errors[WORLDS_MAX][VERDICT_PROBLEM_BYTES];
  char text[HEALTH_BYTES];
  size_t bytes;
  snapshots_status snapshots;
  snapshots_read_status(&service->snapshots, &snapshots);
  const char *unsaved = snapshots.unsaved ? snapshots.failure : NULL;
  for (uint32_t i = 0; i < service->world_count; i++) {
    hosted_world *world = &service->worlds[i];
    world_published published;
    world_read_published(world, &published);
    verdict_facts facts = verdict_facts_of(world, &published);
    memcpy(failures[i], published.failure, FAILURE_BYTES);
    memcpy(degraded[i], published.journal.why, JOURNAL_REASON_BYTES);
    memcpy(lost[i], published.journal.lost.words, JOURNAL_REASON_BYTES);
    worlds[i] =
        (health_world){.name = world->name,
                       .paused = published.paused,
                       .failed = published.failed,
                       .recovery = published.recovery,
                       .failure = failures[i],
                       .degraded = published.journal.broken ? degraded[i] : NULL,
                       .lost = *lost[i] ? lost[i] : NULL,
                       .errors = published.problem.places ? verdict_problem(&published.problem, errors[i]) : NULL,
                       .period_ns = published.period_ns,
                       .frame_end_ns = published.frame_end_ns,
                       .idle = verdict_is_idle(&facts),
                       .idle_faults = facts.idle_faults,
                       .mended = facts.mended};
  }
  bool ready = health_write(text, &bytes, service->stage, unsaved, worlds, service->world_count, clock_system());
  http_answer(request, ready ? 200 : 503, HTTP_JSON, text, bytes);
}

const http_route health_routes[] = {
    {"GET", "/healthz", "whether the service lives", .handle = show_health},
    {"GET", "/readyz", "whether its worlds run and are saved", .handle = show_readiness},
    {0},
};
