/* flight_routes.c - /v1/crash: how the last run ended, and which types have crashed the service how often. */
#include "service/service.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { CRASH_BYTES = 128 << 10 };

static void flight_routes_add_inside(json_writer *writer, const flight_inside *inside) {
  const muster_flight_entry *entry = &inside->entry;
  json_begin_object(writer, NULL);
  json_string(writer, "world", inside->world);
  json_string(writer, "module", inside->module);
  json_string(writer, "type", entry->type_name);
  json_uint(writer, "agent", entry->agent.index);
  json_uint(writer, "generation", entry->agent.generation);
  json_string(writer, "in", muster_flight_doing_name(entry->doing));
  if (entry->doing == MUSTER_FLIGHT_ATOM || entry->doing == MUSTER_FLIGHT_ACTION)
    json_uint(writer, "atom", entry->atom);
  json_uint(writer, "frame", entry->frame);
  json_uint(writer, "worker", entry->worker);
  json_end_object(writer);
}

static void add_last(json_writer *writer, const flight_report *last) {
  if (!last->known) {
    json_null(writer, "last_run");
    return;
  }
  json_begin_object(writer, "last_run");
  json_bool(writer, "clean", last->clean);
  json_uint(writer, "process", last->process);
  json_number(writer, "started", (double)last->started_ns / 1e9);
  json_uint(writer, "signal", last->signal);
  if (last->call.function) {
    json_begin_object(writer, "module_call");
    json_string(writer, "world", last->call.world);
    json_string(writer, "module", last->call.module);
    json_string(writer, "in", flight_function_name(last->call.function));
    json_end_object(writer);
  }
  json_begin_array(writer, "culprits");
  for (uint32_t i = 0; i < last->culprit_count; i++) flight_routes_add_inside(writer, &last->inside[i]);
  json_end_array(writer);
  json_begin_array(writer, "also_running");
  for (uint32_t i = last->culprit_count; i < last->inside_count; i++)
    flight_routes_add_inside(writer, &last->inside[i]);
  json_end_array(writer);
  json_end_object(writer);
}

static void add_counts(json_writer *writer, struct flight *flight, uint32_t limit) {
  flight_count counts[FLIGHT_COUNTS_MAX];
  uint32_t count = flight_read_counts(flight, counts, FLIGHT_COUNTS_MAX);
  json_begin_array(writer, "crashes");
  for (uint32_t i = 0; i < count; i++) {
    json_begin_object(writer, NULL);
    json_string(writer, "world", counts[i].world);
    json_string(writer, "type", counts[i].type);
    json_uint(writer, "count", counts[i].crashes);
    json_bool(writer, "at_limit", limit && counts[i].crashes >= limit);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void show_crash(http_request *request) {
  struct service *service = http_user(request);
  char *text = malloc(CRASH_BYTES);
  json_writer writer;
  if (!text) {
    http_refuse(request, 503, "no_memory", NULL, "no memory for the answer: ask again");
    return;
  }
  json_start(&writer, text, CRASH_BYTES);
  json_begin_object(&writer, NULL);
  json_bool(&writer, "recording", service->flight.head != NULL);
  json_uint(&writer, "crash_limit", service->settings.crash_limit);
  add_last(&writer, &service->flight.last);
  add_counts(&writer, &service->flight, service->settings.crash_limit);
  json_end_object(&writer);
  if (json_finish(&writer)) {
    http_answer_owned(request, 200, HTTP_JSON, text, writer.length);
    return;
  }
  free(text);
  http_refuse(request, 500, "too_long", NULL, "the answer does not fit %d bytes", CRASH_BYTES);
}

const http_route flight_routes[] = {
    {.method = "GET",
     .pattern = "/v1/crash",
     .handle = show_crash,
     .summary = "how the last run ended, and which types have crashed the service"},
    {0},
};
