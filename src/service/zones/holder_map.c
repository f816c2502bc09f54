/* holder_map.c - GET /v1/zones/map: where the agents of all zones stand, and who has these. */
#include "service/zones/holder_parts.h"

#include "base/clock.h"

#include <gnutls/gnutls.h>
#include <jansson.h>
#include <string.h>

static const char *const state_names[SHEET_STATES] = {"runs", "stands_still", "starts", "ends"};

/* The counts as base64 of numbers of two bytes; null = no memory. */
static json_t *describe_counts(const zone_sheet *sheet) {
  gnutls_datum_t plain = {(unsigned char *)sheet->counts, sizeof sheet->counts}, coded = {NULL, 0};
  if (gnutls_base64_encode2(&plain, &coded)) return NULL;
  json_t *text = json_pack("s#", coded.data, (int)coded.size);
  gnutls_free(coded.data);
  return text;
}

/* Null stands for what was never told. While nobody looked, nobody listened: that counts for no silence. */
static json_t *describe_entry(const struct holding *holding, const sheet_entry *entry, uint64_t now_ns) {
  uint64_t since_ns = holding->holder->atlas.since_ns,
           last_ns = entry->heard_ns > since_ns ? entry->heard_ns : since_ns;
  const zone_rectangle *ground = &holding->ground.rectangle;
  bool heard = entry->heard_ns;
  json_t *told = json_pack("{s:I, s:s, s:[f,f,f,f], s:s?, s:I, s:s?, s:n}", "zone", (json_int_t)holding->ground.number,
                           "world", holding->process->name, "rectangle", ground->x0, ground->y0, ground->x1, ground->y1,
                           "node", heard ? entry->node : NULL, "epoch", (json_int_t)entry->epoch, "state",
                           heard ? state_names[entry->state] : NULL, "heard_ns");
  if (heard) json_object_set_new(told, "heard_ns", json_pack("I", (json_int_t)(now_ns - last_ns)));
  json_object_set_new(told, "agents", json_pack("I", (json_int_t)entry->sheet.agents));
  json_object_set_new(told, "arrived", json_pack("I", (json_int_t)entry->sheet.arrived));
  json_object_set_new(told, "counts", describe_counts(&entry->sheet));
  return told;
}

void holder_show_atlas(struct holder *holder, http_request *request) {
  atlas_look(holder);
  uint64_t now_ns = clock_boot();
  json_t *zones = json_array();
  for (uint32_t i = 0; i < holder->count; i++)
    json_array_append_new(zones, describe_entry(&holder->holdings[i], &holder->atlas.entries[i], now_ns));
  json_t *whole = json_pack("{s:s, s:s, s:I, s:o}", "cluster", holder->settings.cluster, "node", holder->settings.node,
                            "side", (json_int_t)SHEET_SIDE, "zones", zones);
  char *text = whole ? json_dumps(whole, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
  json_decref(whole);
  if (text)
    http_answer_owned(request, 200, HTTP_JSON, text, strlen(text));
  else
    http_refuse(request, 429, "busy", NULL, "no memory for the answer: try again in a second");
}
