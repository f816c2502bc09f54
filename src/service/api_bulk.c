/* api_bulk.c - positions of tens of thousands of agents or observers in one request. */
#include "service/api.h"

#include "service/bulk.h"

#include <muster/bulk.h>

static void tell(api_call *call, uint32_t moved) {
  const bulk_positions *input = call->input;
  json_print(&call->writer, "moved=%u gone=%u", moved, input->count - moved);
}

static void move_agents(api_call *call) {
  const bulk_positions *input = call->input;
  tell(call, muster_agents_move(call->world->world, &input->ids->agent, input->positions, input->count));
}

static void move_observers(api_call *call) {
  const bulk_positions *input = call->input;
  tell(call, muster_observers_move(call->world->world, &input->ids->observer, input->positions, input->count));
}

enum { BODY = BULK_HEAD_BYTES + BULK_RECORDS_MAX * BULK_RECORD_BYTES };

const http_route api_bulk_routes[] = {
    {"POST", "/v1/worlds/{world}/positions", "move many agents: binary records",
     API_ORDER(move_agents, bulk_read, sizeof(bulk_positions), .release = bulk_release), .body_max = BODY,
     .body_type = HTTP_BINARY},
    {"POST", "/v1/worlds/{world}/observers/positions", "move many observers: binary records",
     API_ORDER(move_observers, bulk_read, sizeof(bulk_positions), .release = bulk_release), .body_max = BODY,
     .body_type = HTTP_BINARY},
    {0},
};
