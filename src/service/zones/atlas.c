#include "service/zones/atlas.h"

#include "service/zones/holder_parts.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { WANT_MS = 500, LOOKED_MS = 5000, GIVE_GAP_MS = 400 };

static void atlas_name(const struct holder *holder, const char *what, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.atlas.%s", holder->settings.cluster, what);
}

/* Whether less than so much has passed since then; 0 = it never was. */
static bool is_recent(uint64_t then_ns, uint64_t ms) {
  return then_ns && clock_boot() - then_ns < ms * 1000000;
}

/* ----------------------------------------------------------------------------------------------------------- sheets */

static void take_sheet(const void *bytes, size_t count, void *user) {
  struct holder *holder = user;
  sheet_hear(holder->atlas.entries, holder->count, bytes, count, clock_boot());
}

/* What this node has is taken here, too, also while the brokers are away. */
static void give_sheet(const struct holding *holding, sheet_state state, const zone_sheet *sheet) {
  struct holder *holder = holding->holder;
  char subject[BROKER_SUBJECT_BYTES];
  sheet_message message;
  uint32_t zone = holding->ground.number;
  size_t count = sheet_write(&message, zone, holding->lease.epoch, state, holder->settings.node, sheet);
  atlas_name(holder, "sheet", subject);
  take_sheet(&message, count, holder);
  broker_tell(holder->broker, zone, subject, &message, count);
}

void atlas_take_drawn(const struct holding *holding, const void *bytes, size_t count) {
  zone_sheet sheet;
  if (count != sizeof sheet || holding->stage != HOLDING_RUNNING) return;
  memcpy(&sheet, bytes, sizeof sheet);
  give_sheet(holding, SHEET_RUNS, &sheet);
}

/* A zone that runs is drawn first. */
static void give_zone(struct holding *holding) {
  if (!holding->leased || holding->stage < HOLDING_FETCHING) return;
  if (holding->stage == HOLDING_RUNNING && !holding_stands_still(holding))
    holding_put(holding, (wire_head){.kind = WIRE_DRAW}, NULL);
  else if (holding->stage == HOLDING_RUNNING)
    give_sheet(holding, SHEET_STANDS_STILL, NULL);
  else
    give_sheet(holding, holding->stage == HOLDING_STORING ? SHEET_ENDS : SHEET_STARTS, NULL);
}

/* Some node shows the map. When several do, one drawing is for all of them. */
static void take_wanted(const void *bytes, size_t count, void *user) {
  struct holder *holder = user;
  (void)bytes, (void)count;
  if (is_recent(holder->atlas.given_ns, GIVE_GAP_MS)) return;
  holder->atlas.given_ns = clock_boot();
  for (uint32_t i = 0; i < holder->count; i++) give_zone(&holder->holdings[i]);
}

/* ---------------------------------------------------------------------------------------------------------- looking */

static void atlas_want(struct holder *holder) {
  char subject[BROKER_SUBJECT_BYTES];
  atlas_name(holder, "wanted", subject);
  broker_tell(holder->broker, 0, subject, "", 0);
  take_wanted("", 0, holder);
}

static void atlas_turn(uv_timer_t *timer) {
  struct holder *holder = timer->data;
  if (is_recent(holder->atlas.looked_ns, LOOKED_MS)) {
    atlas_want(holder);
    return;
  }
  uv_timer_stop(timer);
  broker_stop_listening(holder->atlas.sheets);
  holder->atlas.sheets = NULL;
}

void atlas_look(struct holder *holder) {
  struct atlas *atlas = &holder->atlas;
  char subject[BROKER_SUBJECT_BYTES];
  atlas->looked_ns = clock_boot();
  if (holder->closing || uv_is_active((uv_handle_t *)&atlas->timer)) return;
  atlas->since_ns = atlas->looked_ns;
  atlas_name(holder, "sheet", subject);
  atlas->sheets = broker_listen(holder->broker, subject, take_sheet, holder);
  uv_timer_start(&atlas->timer, atlas_turn, WANT_MS, WANT_MS);
  atlas_want(holder);
}

void atlas_close(struct holder *holder) {
  uv_timer_stop(&holder->atlas.timer);
}

bool atlas_open(struct holder *holder) {
  char subject[BROKER_SUBJECT_BYTES];
  struct atlas *atlas = &holder->atlas;
  for (uint32_t i = 0; i < holder->count; i++) atlas->entries[i].zone = holder->holdings[i].ground.number;
  atlas->timer.data = holder;
  atlas_name(holder, "wanted", subject);
  if (uv_timer_init(holder->loop, &atlas->timer)) return false;
  atlas->wanted = broker_listen(holder->broker, subject, take_wanted, holder);
  return atlas->wanted;
}
