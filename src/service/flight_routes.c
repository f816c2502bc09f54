/* flight_routes.c - /v1/crash: how the last run ended, and which types have crashed the service how often. */
#include "service/api.h"

#include <muster/flight.h>

static void add_inside(json_writer *writer, const char *name, const flight_inside *inside, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) {
    const muster_flight_entry *entry = &inside[i].entry;
    json_print(writer, "{ world=%s module=%s type=%s agent=%u generation=%u in=%s", inside[i].world, inside[i].module,
               entry->type_name, muster_agent_index(entry->agent), muster_agent_generation(entry->agent),
               muster_flight_doing_name(entry->doing));
    if (entry->doing == MUSTER_FLIGHT_ATOM || entry->doing == MUSTER_FLIGHT_ACTION)
      json_uint(writer, "atom", entry->atom);
    json_print(writer, "frame=%lu worker=%u }", entry->frame, entry->worker);
  }
  json_end_array(writer);
}

static void add_last(json_writer *writer, const flight_report *last) {
  if (!last->known) {
    json_null(writer, "last_run");
    return;
  }
  json_print(writer, "last_run{ clean=%d process=%lu started=%g signal=%u", last->clean, last->process,
             (double)last->started_ns / 1e9, last->signal);
  if (last->call.function)
    json_print(writer, "module_call{ world=%s module=%s in=%s }", last->call.world, last->call.module,
               flight_function_name(last->call.function));
  add_inside(writer, "culprits", last->inside, last->culprit_count);
  add_inside(writer, "also_running", last->inside + last->culprit_count, last->inside_count - last->culprit_count);
  json_end_object(writer);
}

static void add_poisons(json_writer *writer, struct flight *flight) {
  flight_poison poisons[FLIGHT_POISONS_MAX];
  uint32_t count = flight_read_poisons(flight, poisons);
  json_begin_array(writer, "requests");
  for (uint32_t i = 0; i < count; i++)
    json_print(writer, "{ world=%s key=%s process=%lu signal=%u refused=%d }", poisons[i].world, poisons[i].key,
               poisons[i].process, poisons[i].signal, poisons[i].deaths >= FLIGHT_DEATHS);
  json_end_array(writer);
}

static void show_crash(api_call *call) {
  struct service *service = call->service;
  uint32_t limit = service->settings.crash_limit;
  flight_count counts[FLIGHT_COUNTS_MAX];
  uint32_t count = flight_read_counts(&service->flight, counts, FLIGHT_COUNTS_MAX);
  json_print(&call->writer, "recording=%d crash_limit=%u", service->flight.head != NULL, limit);
  add_last(&call->writer, &service->flight.last);
  json_begin_array(&call->writer, "crashes");
  for (uint32_t i = 0; i < count; i++)
    json_print(&call->writer, "{ world=%s type=%s count=%lu at_limit=%d }", counts[i].world, counts[i].type,
               counts[i].crashes, limit && counts[i].crashes >= limit);
  json_end_array(&call->writer);
  add_poisons(&call->writer, &service->flight);
}

const http_route flight_routes[] = {
    {"GET", "/v1/crash", "how the last run ended, and which types have crashed the service",
     API_ORDER(show_crash, .at_once = true, .room = 128 << 10)},
    {0},
};
