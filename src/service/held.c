#include "service/held.h"

#include "service/journals.h"
#include "service/service.h"

/* False: nothing is waited for. */
static bool held_read(const hosted_world *world, muster_journal_status *status) {
  *status = muster_journal_status_default();
  return world->journal && muster_journal_status_read(world->journal, status) == MUSTER_OK && status->runs;
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

/* One snapshot is asked for at a time: changes that are made while it is being written share the next. */
static void ask_for_snapshot(hosted_world *world, held_until *until, const muster_journal_status *status) {
  bool writes = status->changes_safe < world->held.snapshots;
  if (!until->snapshot) until->snapshot = world->held.snapshots + 1;
  if (!writes && until->snapshot > world->held.snapshots && journals_snapshot(world) == MUSTER_OK)
    world->held.snapshots++;
}

bool held_is_over(hosted_world *world, held_until *until) {
  muster_journal_status status;
  if (!held_read(world, &status) || status.frames_safe >= until->frame) return true;
  if (until->snapshot && status.changes_safe >= until->snapshot) return true;
  bool frames_come = !world->failed && (!world->paused || world->steps_left > 0);
  if (!frames_come || until->snapshot) ask_for_snapshot(world, until, &status);
  return false;
}
