#include "service/held.h"

#include "service/journals.h"
#include "service/service.h"

#include "base/clock.h"

/* A snapshot that failed is asked for again so much later. */
static const uint64_t again_ns = 1000000000u;

/* False: nothing is waited for. */
static bool held_read(const hosted_world *world, muster_journal_status *status) {
  *status = muster_journal_status_default();
  return world->journal && !world->kept.anew && muster_journal_status_read(world->journal, status) == MUSTER_OK &&
         status->runs;
}

uint64_t held_last_frame(const hosted_world *world) {
  muster_journal_status status;
  if (held_read(world, &status)) return status.frames_written; /* also after a recovery */
  muster_frame_report report = muster_frame_report_default();
  if (world->world) muster_frame_report_read(world->world, &report);
  return report.frame;
}

held_until held_begin(const hosted_world *world) {
  return (held_until){.frame = held_last_frame(world) + 1};
}

/* Those that are asked for while one is being written share the next. */
static void ask_for_snapshot(hosted_world *world, held_until *until, uint64_t failed) {
  until->asked_ns = clock_system();
  until->failed = failed;
  if (journals_snapshot(world) == MUSTER_OK) until->snapshot = world->kept.changes;
}

/* Whether the snapshot is complete that was asked for, and stored where a zone's is. */
static bool is_in_snapshot(const hosted_world *world, held_until *until, const muster_journal_status *status) {
  if (!until->snapshot || status->changes_safe < until->snapshot) return false;
  if (!until->behind) until->behind = status->snapshots;
  return zone_is_stored(world, until->behind);
}

bool held_is_over(hosted_world *world, held_until *until) {
  muster_journal_status status;
  bool runs = held_read(world, &status);
  if (zone_is_safe(world, until->frame) && (!runs || status.frames_safe >= until->frame)) return true;
  if (!runs) return false;
  if (is_in_snapshot(world, until, &status)) return true;
  bool frames_come = !world->failed && (!world->paused || world->steps_left > 0);
  bool lost = status.snapshots_failed > until->failed && clock_system() - until->asked_ns >= again_ns;
  if (!frames_come && (!until->snapshot || lost)) ask_for_snapshot(world, until, status.snapshots_failed);
  return false;
}
