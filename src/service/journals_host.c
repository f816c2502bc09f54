/* journals_host.c - what the service keeps in a world's journal beside the world: in its snapshots, and as notes of its
 * frames. */
#include "service/journals_pieces.h"

#include "service/log.h"
#include "service/service.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool save_keys(hosted_world *world, muster_journal_put put, void *put_user) {
  return keys_save(&world->keys, put, put_user);
}

/* The world goes on without them: a request that is sent again may be carried out twice. */
static void take_keys(hosted_world *world, const void *bytes, size_t count) {
  if (!keys_take(&world->keys, bytes, count))
    log_line(MUSTER_LOG_ERROR, "world %s: its journal has no requests that could be read: %s", world->name,
             muster_last_error());
}

const journal_keeper journal_keepers[] = {
    {JOURNAL_KEYS, save_keys, take_keys}, {JOURNAL_ZONE, zone_save, zone_take}, {0}};

/* ------------------------------------------------------------------------------------------------------- snapshots */

static journal_pace pace_of(const hosted_world *world) {
  journal_pace pace;
  memset(&pace, 0, sizeof pace);
  pace.number = world->kept.number;
  pace.budget_ns = world->budget_ns;
  pace.period_ns = world->period_ns;
  pace.usual_budget_ns = world->settings.budget_ns;
  pace.usual_period_ns = settings_period_ns(world->settings.rate);
  pace.paused = world->paused;
  pace.steps_left = world->steps_left;
  return pace;
}

static bool journals_count_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(uint64_t *)user += count;
  return true;
}

static bool put_head(muster_journal_put put, void *put_user, char kind, uint64_t bytes) {
  const journal_piece piece = {.kind = (unsigned char)kind, .bytes = bytes};
  return put(&piece, sizeof piece, put_user);
}

static bool put_piece(muster_journal_put put, void *put_user, char kind, const void *bytes, size_t count) {
  return put_head(put, put_user, kind, count) && put(bytes, count, put_user);
}

static bool put_state(muster_journal_put put, void *put_user, const hosted_world *world) {
  uint64_t bytes = 0;
  const muster_module *module = world->module;
  return module->save(world->instance, world->world, journals_count_bytes, &bytes) == MUSTER_OK &&
         put_head(put, put_user, JOURNAL_STATE, bytes) &&
         module->save(world->instance, world->world, put, put_user) == MUSTER_OK;
}

bool journals_save_host(muster_journal_put put, void *put_user, void *user) {
  hosted_world *world = user;
  journal_pace pace = pace_of(world);
  pace.sim_now_ns = world->sim_now_ns;
  bool good = put_state(put, put_user, world) && put_piece(put, put_user, JOURNAL_PACE, &pace, sizeof pace) &&
              put_piece(put, put_user, JOURNAL_HOLDS, &world->holds, sizeof world->holds);
  for (const journal_keeper *keeper = journal_keepers; keeper->kind && good; keeper++) {
    uint64_t bytes = 0;
    good = keeper->save(world, journals_count_bytes, &bytes) && put_head(put, put_user, keeper->kind, bytes) &&
           keeper->save(world, put, put_user);
  }
  return good;
}

/* ----------------------------------------------------------------------------------------------------------- notes */

/* The modules' state as a note: its kind stands before it. */
struct gathering {
  world_journal *kept;
  size_t bytes;
};

static bool note_room(world_journal *kept, size_t bytes) {
  if (bytes <= kept->fresh_room) return true;
  size_t room = 2 * bytes;
  unsigned char *fresh = realloc(kept->fresh, room);
  if (!fresh) return false;
  kept->fresh = fresh;
  kept->fresh_room = room;
  return true;
}

static bool gather(const void *bytes, size_t count, void *user) {
  struct gathering *gathering = user;
  if (count > JOURNAL_STATE_MAX + 1 - gathering->bytes || !note_room(gathering->kept, gathering->bytes + count))
    return false;
  if (count) memcpy(gathering->kept->fresh + gathering->bytes, bytes, count);
  gathering->bytes += count;
  return true;
}

/* What was noted last, and the room for the next, change places. */
static void remember_state(world_journal *kept, size_t bytes) {
  unsigned char *fresh = kept->noted;
  size_t room = kept->noted_room;
  kept->noted = kept->fresh;
  kept->noted_room = kept->fresh_room;
  kept->noted_bytes = bytes;
  kept->has_noted = true;
  kept->fresh = fresh;
  kept->fresh_room = room;
}

static bool gather_state(hosted_world *world, size_t *bytes) {
  static const unsigned char kind = JOURNAL_STATE;
  struct gathering gathering = {.kept = &world->kept};
  bool good = gather(&kind, 1, &gathering) &&
              world->module->save(world->instance, world->world, gather, &gathering) == MUSTER_OK;
  *bytes = gathering.bytes;
  return good;
}

static void note_state(muster_journal *journal, hosted_world *world) {
  world_journal *kept = &world->kept;
  size_t bytes;
  kept->too_large = !gather_state(world, &bytes);
  if (kept->too_large) return;
  if (kept->has_noted && bytes == kept->noted_bytes && memcmp(kept->noted, kept->fresh, bytes) == 0) return;
  if (muster_journal_note(journal, kept->fresh, bytes) == MUSTER_OK) remember_state(kept, bytes);
}

static muster_result note_to(muster_journal *journal, char kind, const void *bytes, size_t count) {
  unsigned char room[1 + sizeof(struct holds)];
  unsigned char *note = count < sizeof room ? room : malloc(count + 1);
  if (!note) return error_set(MUSTER_E_MEMORY, "no memory for a note of the journal");
  *note = (unsigned char)kind;
  if (count) memcpy(note + 1, bytes, count);
  muster_result result = muster_journal_note(journal, note, count + 1);
  if (note != room) free(note);
  return result;
}

/* The frame that ends is one of the steps of a paused world. */
static void note_pace(muster_journal *journal, hosted_world *world) {
  journal_pace pace = pace_of(world);
  if (pace.paused && pace.steps_left) pace.steps_left--;
  if (memcmp(&pace, &world->kept.noted_pace, sizeof pace) == 0) return;
  if (note_to(journal, JOURNAL_PACE, &pace, sizeof pace) == MUSTER_OK) world->kept.noted_pace = pace;
}

static void note_holds(muster_journal *journal, hosted_world *world) {
  if (memcmp(&world->holds, &world->kept.noted_holds, sizeof world->holds) == 0) return;
  if (note_to(journal, JOURNAL_HOLDS, &world->holds, sizeof world->holds) == MUSTER_OK)
    world->kept.noted_holds = world->holds;
}

/* Of the requests that were carried out before this frame, which have their effect in it. */
static void note_keys(muster_journal *journal, hosted_world *world) {
  unsigned char note[1 + KEYS_RECORD_MAX] = {JOURNAL_KEYS};
  size_t room = KEYS_NOTED_MAX, bytes;
  while ((bytes = keys_note(&world->keys, &room, note + 1)) > 0) muster_journal_note(journal, note, 1 + bytes);
}

void journals_end_frame(muster_journal *journal, void *user) {
  hosted_world *world = user;
  note_state(journal, world);
  note_pace(journal, world);
  note_holds(journal, world);
  note_keys(journal, world);
}

muster_result journals_note(hosted_world *world, char kind, const void *bytes, size_t count) {
  return world->journal ? note_to(world->journal, kind, bytes, count) : MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------- how it is hosted */

void journals_note_command(hosted_world *world, const char *instance, const muster_module_call *call) {
  journal_command head;
  if (!world->journal) return;
  memset(&head, 0, sizeof head);
  snprintf(head.instance, sizeof head.instance, "%s", instance);
  snprintf(head.command, sizeof head.command, "%s", call->command);
  head.json = call->json;
  unsigned char *bytes = malloc(sizeof head + call->bytes);
  if (!bytes) return; /* the frames come to another world then, which is noticed */
  memcpy(bytes, &head, sizeof head);
  if (call->bytes) memcpy(bytes + sizeof head, call->body, call->bytes);
  journals_note(world, JOURNAL_COMMAND, bytes, sizeof head + call->bytes);
  free(bytes);
}

bool journals_try_state(hosted_world *world, size_t *bytes) {
  bool fits = gather_state(world, bytes);
  *bytes -= fits;
  return fits;
}

uint32_t journals_describe(const hosted_world *world, char *text, size_t room) {
  const world_settings *settings = &world->settings;
  char path[PATH_BYTES] = "";
  if (*settings->path && !realpath(settings->path, path)) snprintf(path, sizeof path, "%s", settings->path);
  int length = snprintf(
      text, room,
      "module=%s\nworld=%s\npath=%s\nagents=%u\nagents_max=%u\nobservers=%u\nseed=%lu\nbudget_ns=%lu\n"
      "rate=%lu\nvirtual_clock=%d\ncapacity_ns=%lu\naudit=%d\n",
      settings->module, world->name, path, settings->agents, settings->agents_max, settings->observers, settings->seed,
      settings->budget_ns, settings->rate, settings->virtual_clock, settings->capacity_ns, settings->audit);
  for (uint32_t i = 0; i < settings->setting_count && (size_t)length < room; i++) {
    const module_setting *setting = &settings->settings[i];
    length += snprintf(text + length, room - (size_t)length, "set %s.%s=%s\n", setting->instance, setting->name,
                       setting->text);
  }
  return (size_t)length < room ? (uint32_t)length : (uint32_t)room - 1;
}
