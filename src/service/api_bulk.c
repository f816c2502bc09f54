/* api_bulk.c - positions of tens of thousands of agents or observers in one request. */
#include "service/api.h"

#include "service/bulk.h"

static const bulk_positions *input_of(const api_call *call) {
  return (const bulk_positions *)(const void *)call->input;
}

static void tell(api_call *call, uint32_t moved) {
  uint32_t count = input_of(call)->count;
  json_uint(&call->writer, "moved", moved);
  json_uint(&call->writer, "gone", count - moved);
}

static void move_agents(api_call *call) {
  const bulk_positions *input = input_of(call);
  tell(call, muster_agents_move(call->world->world, &input->ids->agent, input->positions, input->count));
}

static void move_observers(api_call *call) {
  const bulk_positions *input = input_of(call);
  tell(call, muster_observers_move(call->world->world, &input->ids->observer, input->positions, input->count));
}

enum { BODY = BULK_HEAD_BYTES + BULK_RECORDS_MAX * BULK_RECORD_BYTES };

const http_route api_bulk_routes[] = {
    {.method = "POST",
     .pattern = "/v1/worlds/{world}/positions",
     .handle = api_handle,
     .order =
         &(const api_order){
             .work = move_agents, .read = bulk_read, .input_bytes = sizeof(bulk_positions), .release = bulk_release},
     .body_max = BODY,
     .body_type = HTTP_BINARY,
     .summary = "move many agents: binary records"},
    {.method = "POST",
     .pattern = "/v1/worlds/{world}/observers/positions",
     .handle = api_handle,
     .order =
         &(const api_order){
             .work = move_observers, .read = bulk_read, .input_bytes = sizeof(bulk_positions), .release = bulk_release},
     .body_max = BODY,
     .body_type = HTTP_BINARY,
     .summary = "move many observers: binary records"},
    {0},
};
