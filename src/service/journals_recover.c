/* journals_recover.c - a world that comes back by its journal. */
#include "service/hosting.h"
#include "service/journals_pieces.h"
#include "service/log.h"
#include "service/notify.h"
#include "service/service.h"

#include "base/clock.h"
#include "base/error.h"

#include <muster/snapshot.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_GAP_NS = 50000000, PROGRESS_NOTE_NS = 1000000000 };

typedef struct bytes_list {
  unsigned char *bytes;
  size_t count, room;
} bytes_list;

typedef struct past_moment {
  uint64_t frame, bytes;
} past_moment;

/* What the journal of a world's last run has kept. */
typedef struct journal_past {
  hosted_world *world;
  char path[JOURNALS_PATH_BYTES];
  muster_journal_info info;
  bytes_list first, last;        /* what the modules saved: with the snapshot, and at the end */
  bytes_list commands;           /* of the frames since, each behind a past_moment */
  size_t commands_at;            /* where those of the next frame begin */
  bytes_list others;             /* pieces of the keepers, each behind a journal_piece */
  size_t others_first;           /* bytes of them with the snapshot */
  journal_pace pace_first, pace; /* with the snapshot, and at the end */
  struct holds holds_first, holds;
  uint64_t first_ns;                  /* when the first of its frames had been run again */
  uint64_t told_ns, noted_ns;         /* when people, and the supervisor, were told how far it is */
  char refusal[JOURNAL_REASON_BYTES]; /* why a callback refused it; "" = none did */
} journal_past;

/* False, for the library, which says only that it was refused. */
static bool refuse_past(journal_past *past, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse_past(journal_past *past, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(past->refusal, sizeof past->refusal, format, arguments);
  va_end(arguments);
  return false;
}

static bool past_append(bytes_list *list, const void *bytes, size_t count) {
  if (count > list->room - list->count) {
    size_t room = 2 * (list->count + count);
    unsigned char *larger = realloc(list->bytes, room);
    if (!larger) return error_set(MUSTER_E_MEMORY, "no memory for what the journal keeps") == MUSTER_OK;
    list->bytes = larger;
    list->room = room;
  }
  if (count) memcpy(list->bytes + list->count, bytes, count);
  list->count += count;
  return true;
}

static void free_past(journal_past *past) {
  free(past->first.bytes);
  free(past->last.bytes);
  free(past->commands.bytes);
  free(past->others.bytes);
}

/* ------------------------------------------------------------------------------------------------------------- look */

static bool copy_exactly(journal_past *past, void *to, size_t room, const void *bytes, size_t count) {
  if (count != room) return refuse_past(past, "what the service keeps in it is of another build");
  memcpy(to, bytes, count);
  return true;
}

/* A piece, or a note, which replaces the piece of its kind or is added to it. */
static bool take_piece(journal_past *past, unsigned char kind, const void *bytes, size_t count) {
  const journal_piece piece = {.kind = kind, .bytes = count};
  switch (kind) {
  case JOURNAL_STATE:
    past->last.count = 0;
    return past_append(&past->last, bytes, count);
  case JOURNAL_PACE:
    return copy_exactly(past, &past->pace, sizeof past->pace, bytes, count);
  case JOURNAL_HOLDS:
    return copy_exactly(past, &past->holds, sizeof past->holds, bytes, count) && past->holds.count <= HOLDS_MAX;
  default:
    return past_append(&past->others, &piece, sizeof piece) && past_append(&past->others, bytes, count);
  }
}

static bool take_host(const void *bytes, size_t count, void *user) {
  journal_past *past = user;
  const unsigned char *next = bytes;
  for (journal_piece piece; count; next += piece.bytes, count -= piece.bytes) {
    if (count < sizeof piece) return refuse_past(past, "what the service keeps in it is cut");
    memcpy(&piece, next, sizeof piece);
    next += sizeof piece;
    count -= sizeof piece;
    if (piece.bytes > count) return refuse_past(past, "what the service keeps in it is cut");
    if (!take_piece(past, (unsigned char)piece.kind, next, piece.bytes)) return false;
  }
  past->pace_first = past->pace;
  past->holds_first = past->holds;
  past->others_first = past->others.count;
  return past_append(&past->first, past->last.bytes, past->last.count);
}

static bool past_take_notes(const void *bytes, size_t count, uint64_t frame, void *user) {
  journal_past *past = user;
  const unsigned char *note = bytes;
  if (count == 0) return true;
  if (*note != JOURNAL_COMMAND) return take_piece(past, *note, note + 1, count - 1);
  const past_moment moment = {.frame = frame, .bytes = count - 1};
  return past_append(&past->commands, &moment, sizeof moment) && past_append(&past->commands, note + 1, count - 1);
}

/* The first line names the modules; the rest is for people and for `muster replay`. */
static bool past_take_note(const void *bytes, uint32_t count, void *user) {
  journal_past *past = user;
  char line[MODULES_BYTES + 16];
  int length = snprintf(line, sizeof line, "module=%s\n", past->world->settings.module);
  if (count >= (uint32_t)length && memcmp(bytes, line, (size_t)length) == 0) return true;
  return refuse_past(past, "it is of another module: the world's is %s now", past->world->settings.module);
}

static muster_result past_look(journal_past *past) {
  muster_journal_look_def def = muster_journal_look_def_default();
  def.path = past->path;
  def.take_note = past_take_note;
  def.take_host = take_host;
  if (!zone_follows(past->world)) def.take_notes = past_take_notes; /* else as the frames are run */
  def.user = past;
  past->info = muster_journal_info_default();
  return muster_journal_look(&def, &past->info, NULL);
}

/* ---------------------------------------------------------------------------------------------------- whose history */

/* Whether the journal is of the history that the newest snapshot file belongs to. A person who puts an older file in
 * its place, or takes all away, wants that past. A file that was refused at this start says nothing. */
static bool is_same_history(struct service *service, const journal_past *past, const struct snapshot_file *file) {
  uint64_t number = file ? file->number : 0, known = past->pace.number;
  snapshots_status status;
  snapshots_read_status(&service->snapshots, &status);
  if (past->world->zone) return true;   /* it may be of another node, whose lease came first */
  if (number > known + 1) return false; /* a run without a journal came after it */
  return number >= known || status.refused;
}

static bool past_is_wanted(struct service *service, const journal_past *past, const struct snapshot_file *file,
                           const snapshot_file_world *saved) {
  const hosted_world *world = past->world;
  if (!is_same_history(service, past, file)) {
    log_line(MUSTER_LOG_WARNING,
             "world %s: its journal is of frame %lu and snapshot %lu, the snapshot file is %lu: that "
             "one is gone on from",
             world->name, past->info.frames, past->pace.number, file ? file->number : 0);
    journals_put_aside(past->path, "other");
    return false;
  }
  return !saved || past->info.frames >= saved->info.frames;
}

/* ------------------------------------------------------------------------------------------------- the host's part */

static bool drop_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  (void)status, (void)json, (void)text, (void)bytes, (void)user;
  return true;
}

/* A command once more: what it asks of the world stands in the record, what it does to its instance does not. */
static void give_command(hosted_world *world, const unsigned char *bytes, size_t count) {
  journal_command head;
  if (count < sizeof head) return;
  memcpy(&head, bytes, sizeof head);
  const module_part *part = module_parts_find(&world->parts, head.instance);
  char *body = malloc(count - sizeof head + 1);
  if (!part || !part->module->command || !body) {
    free(body);
    return;
  }
  memcpy(body, bytes + sizeof head, count - sizeof head);
  body[count - sizeof head] = '\0';
  const muster_module_call call = {
      .size = sizeof call, .command = head.command, .body = body, .bytes = count - sizeof head, .json = head.json};
  flight_call_begin(world->name, part->name.module, FLIGHT_COMMAND);
  part->module->command(part->instance, world->world, &call, drop_answer, NULL);
  flight_call_end();
  free(body);
}

/* The commands that were given between the frame before and this one. */
static void give_commands(journal_past *past, uint64_t frame) {
  for (past_moment moment; past->commands_at < past->commands.count;) {
    const unsigned char *at = past->commands.bytes + past->commands_at;
    memcpy(&moment, at, sizeof moment);
    if (moment.frame > frame) return;
    past->commands_at += sizeof moment + moment.bytes;
    give_command(past->world, at + sizeof moment, moment.bytes);
  }
}

/* The first of the frames is where the time begins. */
journal_progress journals_progress(uint64_t done, uint64_t all, uint64_t since_ns) {
  uint64_t left = all > done ? all - done : 0;
  double each_ns = done > 1 ? (double)since_ns / (double)(done - 1) : 0;
  return (journal_progress){done, all, (uint64_t)((double)left * each_ns)};
}

void journals_progress_words(const journal_progress *progress, char text[JOURNALS_PROGRESS_BYTES]) {
  uint64_t left_s = (progress->left_ns + 999999999u) / 1000000000u;
  int length = snprintf(text, JOURNALS_PROGRESS_BYTES, "%lu of %lu frames of its journal were run again",
                        progress->done, progress->all);
  if (progress->done > 1 && length < JOURNALS_PROGRESS_BYTES)
    snprintf(text + length, (size_t)(JOURNALS_PROGRESS_BYTES - length), "; the others take about %lu s", left_s);
}

/* A recovery may take long: people are told how far it is, and whoever waits for the start, too. */
static void past_tell_progress(journal_past *past, uint64_t done, uint64_t all) {
  hosted_world *world = past->world;
  uint64_t now_ns = clock_system();
  char text[JOURNALS_PROGRESS_BYTES];
  if (!past->first_ns) past->first_ns = now_ns;
  if (all && now_ns < past->told_ns + PROGRESS_GAP_NS) return;
  past->told_ns = now_ns;
  const journal_progress progress = journals_progress(done, all, now_ns - past->first_ns);
  uv_mutex_lock(&world->mutex);
  world->published.recovery = progress;
  uv_mutex_unlock(&world->mutex);
  if (!all || now_ns < past->noted_ns + PROGRESS_NOTE_NS) return;
  past->noted_ns = now_ns;
  journals_progress_words(&progress, text);
  notify_progress(text);
}

/* The modules move on as they did, beside the frames that are run again. */
static void past_before_frame(muster_world *muster, uint64_t frame, uint64_t sim_now_ns, void *user) {
  journal_past *past = user;
  hosted_world *world = past->world;
  give_commands(past, frame);
  world->module->before_frame(world->instance, muster, sim_now_ns);
}

static void past_after_frame(muster_world *muster, uint64_t frame, uint64_t sim_now_ns, void *user) {
  journal_past *past = user;
  hosted_world *world = past->world;
  const muster_module *module = world->module;
  (void)muster;
  uint64_t first = past->info.snapshot_frames, last = past->info.frames > frame ? past->info.frames : frame;
  if (!zone_follows(world)) past_tell_progress(past, frame - first, last - first);
  world->sim_now_ns = sim_now_ns;
  if (module->skip_ns) world->sim_now_ns += module->skip_ns(world->instance, sim_now_ns);
}

/* --------------------------------------------------------------------------------------------------------- recovery */

static uint64_t past_await_more(muster_world *muster, uint64_t frame, void *user) {
  const journal_past *past = user;
  (void)muster;
  return zone_follow_on(past->world, frame);
}

static muster_result recover(journal_past *past, bool snapshot_only) {
  const hosted_world *world = past->world;
  bool follows = zone_follows(world);
  muster_journal_info info = muster_journal_info_default();
  muster_journal_recover_def def = muster_journal_recover_def_default();
  def.path = past->path;
  def.snapshot_only = snapshot_only;
  def.before_frame = past_before_frame;
  def.after_frame = past_after_frame;
  def.user = past;
  if (follows) def.more = past_await_more;
  if (follows) def.take_notes = past_take_notes;
  past->world->sim_now_ns = past->pace_first.sim_now_ns;
  muster_result result = world->module->resume(world->instance, world->world, past->first.bytes, past->first.count);
  if (!result) result = muster_journal_recover(world->world, &def, &info);
  if (!result && follows) past->info = info;
  return result;
}

static bool take_saved(const void *bytes, size_t count, void *user) {
  return past_append(user, bytes, count);
}

/* Whether an instance is as the modules had saved it: the updates that were run again may have changed it. */
static bool has_state(const hosted_world *world, const bytes_list *state) {
  bytes_list now = {0};
  bool same = world->module->save(world->instance, world->world, take_saved, &now) == MUSTER_OK &&
              now.count == state->count && (!now.count || memcmp(now.bytes, state->bytes, now.count) == 0);
  free(now.bytes);
  return same;
}

static muster_result past_load(hosted_world *world, const bytes_list *state, const bytes_list *saved) {
  muster_load_def def = muster_load_def_default();
  def.bytes = saved->bytes;
  def.count = saved->count;
  muster_result result = world->module->resume(world->instance, world->world, state->bytes, state->count);
  return result ? result : muster_world_load(world->world, &def);
}

/* The world moves to an instance that has what the modules had saved. */
static muster_result move_to_fresh(struct service *service, const journal_past *past) {
  hosted_world *world = past->world;
  bytes_list saved = {0};
  uint64_t sim_now_ns = world->sim_now_ns;
  muster_save_def def = muster_save_def_default();
  def.write = take_saved;
  def.user = &saved;
  muster_result result = muster_world_settle(world->world);
  uint64_t hash = muster_world_hash(world->world);
  if (!result) result = muster_world_save(world->world, &def);
  if (!result) result = hosting_open_again(service, world);
  if (!result) result = past_load(world, &past->last, &saved);
  if (!result && muster_world_hash(world->world) != hash)
    result = error_set(MUSTER_E_INPUT, "the world that came of it is another");
  world->sim_now_ns = sim_now_ns;
  free(saved.bytes);
  return result;
}

static muster_result past_run_again(struct service *service, journal_past *past) {
  muster_result result = recover(past, false);
  if (result || has_state(past->world, &past->last)) return result;
  return move_to_fresh(service, past);
}

/* The journal's snapshot alone, as it was then. */
static muster_result load_snapshot(struct service *service, journal_past *past) {
  muster_result result = hosting_open_again(service, past->world);
  if (!result) result = recover(past, true);
  if (result) return result;
  past->info.frames = past->info.snapshot_frames;
  past->pace = past->pace_first;
  past->holds = past->holds_first;
  past->others.count = past->others_first;
  return MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- back */

static void past_hand_out(const journal_past *past) {
  const unsigned char *next = past->others.bytes, *end = next + past->others.count;
  for (journal_piece piece; next < end; next += piece.bytes) {
    memcpy(&piece, next, sizeof piece);
    next += sizeof piece;
    for (const journal_keeper *keeper = journal_keepers; keeper->kind; keeper++)
      if ((unsigned char)keeper->kind == piece.kind) keeper->take(past->world, next, piece.bytes);
  }
}

/* A pace that was set by command stays, unless the settings have another one since. A service that ended in order has
 * worlds that run. */
static void set_pace(const journal_past *past) {
  hosted_world *world = past->world;
  const journal_pace *pace = &past->pace;
  bool same = pace->usual_budget_ns == world->budget_ns && pace->usual_period_ns == world->period_ns;
  if (past->info.clean) return;
  if (same) {
    world->budget_ns = pace->budget_ns;
    world->period_ns = pace->period_ns;
  }
  world->paused = pace->paused;
  world->steps_left = pace->steps_left;
  world->holds = past->holds;
}

static void tell_back(const journal_past *past, uint64_t begin_ns) {
  hosted_world *world = past->world;
  world->kept.goes_on = true;
  world->kept.recovered_frame = past->info.frames;
  world->kept.recovered_frames = past->info.frames - past->info.snapshot_frames;
  world->kept.recovered_ns = clock_system() - begin_ns;
  log_line(
      MUSTER_LOG_INFO,
      "world %s: recovered in %.0f ms: frame %lu goes on, hash %016lx; of its frames %lu were run again, behind the "
      "snapshot of its journal",
      world->name, (double)world->kept.recovered_ns * 1e-6, past->info.frames, muster_world_hash(world->world),
      world->kept.recovered_frames);
  if (past->info.lost_frames)
    journals_lose(world, past->info.lost_frames, "frames %lu to %lu of its journal are lost, since it is damaged: %s",
                  past->info.frames + 1, past->info.frames + past->info.lost_frames, past->info.damage);
  else if (*past->info.damage)
    journals_lose(world, 0, "%lu bytes behind frame %lu of its journal are lost, since it is damaged: %s",
                  past->info.lost_bytes, past->info.frames, past->info.damage);
}

/* The frames cannot be run again: the newest snapshot stands, of the journal's and of the file's. */
static bool fall_back(struct service *service, journal_past *past, const snapshot_file_world *saved) {
  hosted_world *world = past->world;
  uint64_t last = past->info.frames;
  char why[JOURNAL_REASON_BYTES];
  snprintf(why, sizeof why, "%s", muster_last_error());
  journals_give_up(world, true, "frames %lu to %lu cannot be run again: %s", past->info.snapshot_frames + 1, last, why);
  bool newest = !saved || past->info.snapshot_frames >= saved->info.frames;
  bool back = newest && load_snapshot(service, past) == MUSTER_OK;
  if (newest && !back)
    log_line(MUSTER_LOG_ERROR, "world %s: nor can the snapshot of its journal: %s", world->name, muster_last_error());
  if (!back) hosting_open_again(service, world);
  uint64_t left = back ? past->info.snapshot_frames : saved ? saved->info.frames : 0;
  journals_lose(world, last - left, "frames %lu to %lu of its journal are lost, since they cannot be run again: %s",
                left + 1, last, why);
  if (newest && !back) { /* the settings are others, or the module is: it does not differ from itself */
    world->kept.why[0] = '\0';
    world->kept.broken = false;
  }
  world->kept.save_soon = true;
  return back;
}

static muster_result come_back(struct service *service, journal_past *past, const snapshot_file_world *saved,
                               bool *back) {
  muster_result result = past->info.tried
                             ? error_set(MUSTER_E_STATE, "two processes died meanwhile, one after the other")
                             : past_run_again(service, past);
  if (result && zone_follows(past->world)) { /* it is another node's still, which has all of it */
    log_line(MUSTER_LOG_ERROR, "world %s: what another node runs cannot be followed: %s", past->world->name,
             muster_last_error());
    return MUSTER_OK;
  }
  past_tell_progress(past, 0, 0);
  if (error_may_pass(result)) return result; /* there is nothing wrong with the frames */
  *back = !result || fall_back(service, past, saved);
  if (result) journals_put_aside(past->path, "differing");
  return MUSTER_OK;
}

/* A world that ended in order is in the snapshot file as well: that one is gone on from. */
static muster_result bring_back(struct service *service, journal_past *past, const struct snapshot_file *file,
                                const snapshot_file_world *saved, bool *back) {
  uint64_t begin_ns = clock_system();
  if (!past_is_wanted(service, past, file, saved)) return MUSTER_OK;
  bool same = saved && past->info.frames == saved->info.frames;
  muster_result result = same ? MUSTER_OK : come_back(service, past, saved, back);
  if (result || (!same && !*back)) return result;
  set_pace(past);
  past_hand_out(past);
  if (*back) tell_back(past, begin_ns);
  return MUSTER_OK;
}

static muster_result past_put_off(muster_result result) {
  char why[JOURNAL_REASON_BYTES];
  snprintf(why, sizeof why, "%s", muster_last_error());
  return error_set(result, "its journal cannot be gone on from now: %s", why);
}

muster_result journals_bring_back(struct service *service, hosted_world *world, const struct snapshot_file *file,
                                  const snapshot_file_world *saved, bool *back) {
  journal_past past = {.world = world};
  *back = false;
  if (!service->settings.journal || !journals_path(&service->settings, world->name, past.path)) return MUSTER_OK;
  muster_result result = past_look(&past), problem = result;
  if (!result) problem = bring_back(service, &past, file, saved, back);
  if (error_may_pass(problem)) problem = past_put_off(problem);
  if (result == MUSTER_E_INPUT) {
    log_line(MUSTER_LOG_ERROR, "world %s: its journal is refused: %s%s%s", world->name, muster_last_error(),
             *past.refusal ? ": " : "", past.refusal);
    journals_lose(world, 0, "all frames of its journal are lost, since it is refused: %s%s%s", muster_last_error(),
                  *past.refusal ? ": " : "", past.refusal);
    journals_put_aside(past.path, "damaged");
  } else if (result && result != MUSTER_E_STALE && !error_may_pass(result)) {
    log_line(MUSTER_LOG_ERROR, "world %s: its journal cannot be read: %s", world->name, muster_last_error());
  }
  free_past(&past);
  return error_may_pass(problem) ? problem : MUSTER_OK;
}
