#include "service/journals_pieces.h"

#include "service/log.h"
#include "service/poison.h"
#include "service/publish.h"
#include "service/service.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const uint64_t look_gap_ns = 2000000u, again_first_ns = 500000000u, again_most_ns = 10000000000u;

void journals_give_up(hosted_world *world, bool broken, const char *format, ...) {
  world_journal *kept = &world->kept;
  char why[sizeof kept->why];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  kept->broken = broken;
  if (strcmp(why, kept->why) == 0) return; /* as it was told */
  memcpy(kept->why, why, sizeof kept->why);
  log_line(MUSTER_LOG_WARNING, "world %s: snapshots only: %s", world->name, kept->why);
}

/* ----------------------------------------------------------------------------------------------------------- begin */

static uint64_t newest_number(struct snapshots *snapshots) {
  uv_mutex_lock(&snapshots->mutex);
  uint64_t number = snapshots->status.number;
  uv_mutex_unlock(&snapshots->mutex);
  return number;
}

/* What the library cannot see. Null = nothing is against it. */
static const char *obstacle(hosted_world *world) {
  size_t bytes;
  if (!world->module->save) return "its module has no save and resume, nor only register_types";
  if (!journals_try_state(world, &bytes)) return "its module keeps more than 1 MiB beside its agents";
  return NULL;
}

/* What one frame may record at most: reserved of the memory that the process may use, where that is limited. */
static size_t room_for_frame(void) {
  enum { USUAL = 64 << 20, LEAST = 1 << 20, PART = 8 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / PART > USUAL) return USUAL;
  return limit.rlim_cur / PART > LEAST ? limit.rlim_cur / PART : LEAST;
}

/* `anew`: beside what was at the path, which stays until then. */
static muster_result open_journal(struct service *service, hosted_world *world, const char *path, bool anew) {
  static char note[JOURNAL_NOTE_BYTES];
  muster_journal_def def = muster_journal_def_default();
  def.path = path;
  def.sync = (muster_journal_sync)service->settings.journal_sync;
  def.recovery_max_ns = service->settings.recovery_max_ns;
  def.buffer_bytes = room_for_frame();
  def.note = note;
  def.note_bytes = journals_describe(world, note, sizeof note);
  def.save_host = journals_save_host;
  def.end_frame = journals_end_frame;
  def.user = world;
  def.begins_beside = anew;
  if (anew) def.incidents_max = 0; /* what is replaced then is of this run */
  return muster_journal_begin(world->world, &def, &world->journal);
}

/* What the system refused may be had later: a journal is begun then. Each pause is twice as long as the last one, less
 * up to a quarter by chance. A zone's neighbours have heard of what it did since: it goes on without. */
static void begin_later(hosted_world *world) {
  world_journal *kept = &world->kept;
  uint64_t now_ns = clock_system(), pause_ns = kept->again_after_ns ? 2 * kept->again_after_ns : again_first_ns;
  if (world->zone) return;
  kept->again_after_ns = pause_ns < again_most_ns ? pause_ns : again_most_ns;
  kept->again_ns = now_ns + kept->again_after_ns - muster_random_mix(now_ns) % (kept->again_after_ns / 4);
}

static void begin_one(struct service *service, hosted_world *world, uint64_t *incident) {
  char path[JOURNALS_PATH_BYTES];
  uint64_t newest;
  muster_result result = MUSTER_OK;
  world_journal *kept = &world->kept;
  if (!world->world || *kept->why || !journals_path(&service->settings, world->name, path)) return;
  if (!service->settings.journal) {
    journals_put_aside(path, "other"); /* the world goes on without it, and it would bring back a past */
    return;
  }
  const char *against = obstacle(world);
  journals_count_incidents(path, &newest);
  kept->number = newest_number(&service->snapshots);
  kept->sync = service->settings.journal_sync;
  if (against)
    journals_give_up(world, false, "%s", against);
  else if ((result = open_journal(service, world, path, zone_has_followed(world))))
    journals_give_up(world, error_may_pass(result), "%s", muster_last_error());
  if (error_may_pass(result)) begin_later(world);
  kept->incidents = journals_count_incidents(path, incident);
  if (*incident <= newest) *incident = 0; /* the last run left none */
}

void journals_begin(struct service *service) {
  bool soon = false;
  for (uint32_t i = 0; i < service->world_count; i++) {
    hosted_world *world = &service->worlds[i];
    uint64_t incident = 0;
    begin_one(service, world, &incident);
    if (world->world) poison_take(service, world, incident);
    soon = soon || world->kept.save_soon;
    publish_pace(world);
  }
  if (soon && snapshots_take(service)) log_line(MUSTER_LOG_WARNING, "%s", muster_last_error());
}

/* ------------------------------------------------------------------------------------------------------------- end */

static void forget(world_journal *kept) {
  free(kept->noted);
  free(kept->fresh);
  kept->noted = kept->fresh = NULL;
  kept->noted_bytes = kept->noted_room = kept->fresh_room = 0;
  kept->has_noted = false;
}

void journals_end(struct service *service, hosted_world *world) {
  if (world->journal) {
    world->kept.number = newest_number(&service->snapshots);
    if (muster_journal_end(world->journal, false))
      log_line(MUSTER_LOG_ERROR, "world %s: its journal ends without a last snapshot: %s", world->name,
               muster_last_error());
    world->journal = NULL;
  }
  forget(&world->kept);
}

/* Its files stay, which have what was safe: a crash brings that back. Not a zone's: neighbours have what it sends on.
 */
static void stop(hosted_world *world, const char *why) {
  muster_journal_end(world->journal, world->zone != NULL);
  world->journal = NULL;
  world->kept.anew = false;
  forget(&world->kept);
  journals_give_up(world, true, "%s", why);
  publish_pace(world);
}

/* ------------------------------------------------------------------------------------------------------------ again */

/* Once it is time for that, and nothing else is against it. */
static void journals_begin_anew(struct service *service, hosted_world *world) {
  world_journal *kept = &world->kept;
  if (!kept->again_ns || clock_system() < kept->again_ns || world->failed) return;
  kept->again_ns = 0;
  const char *against = obstacle(world);
  if (against) {
    journals_give_up(world, true, "%s", against);
  } else if (open_journal(service, world, kept->path, true)) {
    journals_give_up(world, true, "%s", muster_last_error());
    begin_later(world);
  } else {
    kept->anew = true;
    kept->changes = 0;
  }
  publish_pace(world);
}

/* Its first snapshot is complete. */
static void be_whole_again(hosted_world *world) {
  world_journal *kept = &world->kept;
  log_line(MUSTER_LOG_INFO, "world %s: it has a journal again: no frame is lost from here on", world->name);
  kept->anew = kept->broken = false;
  kept->why[0] = '\0';
  kept->again_after_ns = 0;
  publish_pace(world);
}

/* ---------------------------------------------------------------------------------------------------------- safety */

/* Of a world without a journal nothing waits. */
static muster_journal_status read_status(const hosted_world *world) {
  muster_journal_status status = muster_journal_status_default();
  bool known = world->journal && muster_journal_status_read(world->journal, &status) == MUSTER_OK;
  if (!known) status.frames_safe = status.changes_safe = UINT64_MAX;
  return status;
}

muster_result journals_snapshot(hosted_world *world) {
  if (!world->journal) return MUSTER_OK;
  muster_result result = muster_journal_snapshot(world->journal);
  world->kept.changes += result == MUSTER_OK;
  return result;
}

void journals_hold(hosted_world *world, bool held) {
  muster_journal_hold(world->journal, held);
}

/* ---------------------------------------------------------------------------------------------------------- frames */

static void turn_one(hosted_world *world, uint64_t spare_ns) {
  muster_journal_turn(world->journal, spare_ns);
  muster_journal_status status = read_status(world);
  if (world->kept.too_large) {
    stop(world, "its module keeps more than 1 MiB beside its agents now");
  } else if (!status.runs) {
    stop(world, status.ended_by);
    begin_later(world);
  } else if (world->kept.anew && status.snapshots) {
    be_whole_again(world);
  }
}

void journals_turn(struct service *service, uint64_t spare_ns) {
  const uint64_t end_ns = clock_system() + spare_ns;
  uint64_t number = newest_number(&service->snapshots);
  for (uint32_t i = 0; i < service->world_count; i++) {
    hosted_world *world = &service->worlds[i];
    world->kept.number = number;
    uint64_t now_ns = clock_system();
    if (world->journal)
      turn_one(world, now_ns < end_ns ? end_ns - now_ns : 0);
    else
      journals_begin_anew(service, world);
  }
}

/* Whether a snapshot is on its way that was asked for in a paused world, or a frame is, to the disk, for which answers
 * are held. */
static bool waits(const hosted_world *world, bool held) {
  if (!world->journal) return false;
  if (world->kept.anew) return true;
  if (!held && !world->kept.changes) return false;
  const muster_journal_status status = read_status(world);
  return status.changes_safe < world->kept.changes || (held && status.frames_safe < status.frames_written);
}

uint64_t journals_next_turn_ns(struct service *service, uint64_t until_ns) {
  bool any = false, held = frame_mailbox_holds(&service->mailbox);
  for (uint32_t i = 0; i < service->world_count; i++) any = any || waits(&service->worlds[i], held);
  uint64_t next_ns = any ? clock_system() + look_gap_ns : until_ns;
  for (uint32_t i = 0; i < service->world_count; i++) {
    uint64_t again_ns = service->worlds[i].kept.again_ns;
    if (again_ns && again_ns < next_ns) next_ns = again_ns;
  }
  return next_ns < until_ns ? next_ns : until_ns;
}

/* --------------------------------------------------------------------------------------------------------- publish */

void journals_publish(hosted_world *world, journal_published *published) {
  const world_journal *kept = &world->kept;
  const muster_journal_status status = read_status(world);
  *published = (journal_published){.broken = kept->broken,
                                   .sync = kept->sync,
                                   .incidents = kept->incidents,
                                   .recovered_frames = kept->recovered_frames,
                                   .recovered_ns = kept->recovered_ns};
  memcpy(published->why, kept->why, sizeof published->why);
  published->lost = kept->lost;
  if (!world->journal) return;
  published->on = status.runs && !kept->anew;
  published->holds = status.holds;
  published->frames_written = status.frames_written;
  published->frames_safe = status.frames_safe;
  published->bytes = status.bytes;
  published->snapshots = status.snapshots;
  published->snapshots_failed = status.snapshots_failed;
  published->snapshot_bytes = status.snapshot_bytes;
  published->snapshot_ns = status.snapshot_ns;
  published->pause_ns = status.pause_ns;
  published->sync_ns = status.sync_ns;
  published->recovery_ns = status.recovery_ns;
}
