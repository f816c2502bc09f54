/* holder_zones.c - GET /v1/zones: who has which zone of the cluster, and is to have it, what it is here, and what of it
 * is stored. */
#include "service/supervise/states.h"
#include "service/zones/holder_parts.h"

#include "base/clock.h"
#include "base/error.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct zones_list;

typedef struct zones_row {
  struct zones_list *list;
  const struct holding *holding;
  broker_lease lease; /* zero: it never had an owner */
  zone_place version; /* that is stored */
  uint32_t stored_s;  /* land time */
} zones_row;

/* An answer that is gathered. */
typedef struct zones_list {
  struct holder *holder;
  http_request *request;
  uint32_t open; /* calls without an answer */
  bool leases;   /* they are known */
  char problem[NAME_WORDS_BYTES];
  zones_row rows[WORLDS_MAX];
} zones_list;

/* ----------------------------------------------------------------------------------------------------------- states */

bool holding_stands_still(const struct holding *holding) {
  uint64_t ttl_ns = holding->holder->settings.lease_ttl_ns;
  return clock_boot() - holding->leased_ns > ttl_ns / 3 * 2;
}

static const char *zones_state(const struct holding *holding, const broker_lease *lease) {
  switch (holding->stage) {
  case HOLDING_IDLE:
    if (holding->stands_by) return "stands_by";
    return holding->process->state == PROCESS_FAILED ? "failed" : holding->process->elsewhere ? "elsewhere" : "down";
  case HOLDING_ASKING:
    return lease->revision && strcmp(lease->owner, holding->holder->settings.node) != 0 ? "elsewhere" : "asks";
  case HOLDING_RUNNING:
    return holding_stands_still(holding) ? "stands_still" : "runs";
  case HOLDING_GIVING:
    return "moves";
  case HOLDING_STORING:
    return "ends";
  default:
    return "starts";
  }
}

static const char *words_of_move(const struct holding *holding, char words[STATES_WORDS_BYTES]) {
  *words = '\0';
  if (spaces_are_half(holding->births.space.used))
    snprintf(words, STATES_WORDS_BYTES, "it has used %u of its %d birth spaces", holding->births.space.used,
             SPACES_MAX);
  if (holding->move.stage != MOVE_NONE && holding->move.stage != MOVE_OVER)
    snprintf(words, STATES_WORDS_BYTES, "it is being moved to node %s", holding->move.to);
  return words;
}

static const char *zones_words(const struct holding *holding, char words[STATES_WORDS_BYTES]) {
  if (holding->stage == HOLDING_RUNNING && holding_stands_still(holding)) return "its lease was not renewed in time";
  if (holding->stage == HOLDING_RUNNING || holding->stage == HOLDING_GIVING) return words_of_move(holding, words);
  return *holding->process->standby ? holding->process->standby : states_explain(holding->process, words);
}

/* ----------------------------------------------------------------------------------------------------------- answer */

/* Its age is told by land time: whoever stored it may have any wall clock. */
static json_t *describe_stored(const zones_row *row) {
  const struct holder *holder = row->list->holder;
  if (place_is_none(row->version)) return json_pack("n");
  uint64_t now_s = clock_land(holder) / 1000000000u, age_s = now_s > row->stored_s ? now_s - row->stored_s : 0;
  bool known = clock_is_known(holder);
  json_int_t stored_at = known ? (json_int_t)(clock_real() / 1000000000u - age_s) : 0;
  return json_pack("{s:I, s:I, s:I, s:o}", "epoch", (json_int_t)row->version.epoch, "number",
                   (json_int_t)row->version.number, "stored_at", stored_at, "age_s",
                   known ? json_pack("I", (json_int_t)age_s) : json_pack("n"));
}

static json_t *describe_zone(const zones_row *row, bool leases) {
  char words[STATES_WORDS_BYTES];
  const struct holding *holding = row->holding;
  const char *why = zones_words(holding, words);
  json_t *entry = json_pack(
      "{s:I, s:s, s:s?, s:s?, s:I, s:I, s:I, s:b, s:s, s:s?, s:b, s:o}", "zone", (json_int_t)holding->ground.number,
      "world", holding->process->name, "node", leases && row->lease.revision ? row->lease.owner : NULL, "wanted",
      leases && *holding->wanted ? holding->wanted : NULL, "epoch", (json_int_t)row->lease.epoch, "space",
      (json_int_t)row->lease.space.space, "spaces_used", (json_int_t)row->lease.space.used, "free",
      leases && !row->lease.revision, "state", zones_state(holding, &row->lease), "words", *why ? why : NULL,
      "restorable", holding->restorable, "stored", describe_stored(row));
  return entry;
}

static void answer_zones(zones_list *list) {
  const struct settings *settings = &list->holder->settings;
  json_t *zones = json_array();
  for (uint32_t i = 0; i < list->holder->count; i++)
    json_array_append_new(zones, describe_zone(&list->rows[i], list->leases));
  json_t *whole = json_pack("{s:s, s:s, s:s?, s:o}", "cluster", settings->cluster, "node", settings->node, "problem",
                            *list->problem ? list->problem : NULL, "zones", zones);
  char *text = whole ? json_dumps(whole, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
  json_decref(whole);
  if (text)
    http_answer_owned(list->request, 200, HTTP_JSON, text, strlen(text));
  else
    http_refuse(list->request, 429, "busy", NULL, "no memory for the answer: try again in a second");
  free(list);
}

static void close_call(zones_list *list, muster_result result) {
  if (result && !*list->problem) snprintf(list->problem, sizeof list->problem, "%s", muster_last_error());
  if (--list->open == 0) answer_zones(list);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static void take_zone_lease(const broker_lease *lease, void *user) {
  zones_list *list = user;
  for (uint32_t i = 0; i < list->holder->count; i++)
    if (list->rows[i].holding->ground.number == lease->zone) list->rows[i].lease = *lease;
}

static void take_zone_leases(muster_result result, void *user) {
  zones_list *list = user;
  list->leases = result == MUSTER_OK;
  close_call(list, result);
}

static void take_zone_stored(muster_result result, const void *bytes, size_t count, void *user) {
  zones_row *row = user;
  stored_note note;
  if (!result && bytes && count == sizeof note) {
    memcpy(&note, bytes, sizeof note);
    row->version = note.object.version;
    row->stored_s = note.stored_s;
  }
  close_call(row->list, result);
}

void holder_list_zones(struct holder *holder, http_request *request) {
  zones_list *list = calloc(1, sizeof *list);
  if (!list) {
    http_refuse(request, 429, "busy", NULL, "no memory for the answer: try again in a second");
    return;
  }
  *list = (zones_list){.holder = holder, .request = request, .open = holder->count + 1};
  snprintf(list->problem, sizeof list->problem, "%s", holder->name.words);
  for (uint32_t i = 0; i < holder->count; i++)
    list->rows[i] = (zones_row){.list = list, .holding = &holder->holdings[i]};
  uint32_t refused = 0;
  muster_result result = broker_leases_read(holder->broker, take_zone_lease, take_zone_leases, list), last = result;
  refused += result != MUSTER_OK;
  for (uint32_t i = 0; i < holder->count; i++) {
    result = broker_read_stored(holder->broker, list->rows[i].holding->ground.number, take_zone_stored, &list->rows[i]);
    refused += result != MUSTER_OK;
    if (result) last = result;
  }
  while (refused-- > 0) close_call(list, last); /* what was taken answers later */
}

bool holder_is_restorable(const struct holder *holder, const world_process *process) {
  for (uint32_t i = 0; i < holder->count; i++)
    if (holder->holdings[i].process == process) return holder->holdings[i].restorable;
  return false;
}
