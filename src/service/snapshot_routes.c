/* snapshot_routes.c - /v1/snapshot: reports on the snapshots, and begins one. */
#include "service/api.h"

static void write_status(api_call *call) {
  snapshots_status status;
  snapshots_read_status(&call->service->snapshots, &status);
  json_print(&call->writer,
             "enabled=%d running=%d number=%lu written=%lu failed=%lu written_at=%lu bytes=%lu write_ns=%lu "
             "pause_ns=%lu failure=%s restored=%s refused=%u",
             status.enabled, status.running, status.number, status.written, status.failed, (uint64_t)status.written_at,
             status.bytes, status.write_ns, status.pause_ns, status.failure, status.restored, status.refused);
}

/* The answer comes once the frames go on; whether the snapshot was written, GET /v1/snapshot tells later. */
static void take(api_call *call) {
  if (api_succeeded(call, snapshots_take(call->service), NULL)) write_status(call);
}

const http_route snapshot_routes[] = {
    {"GET", "/v1/snapshot", "the state of the snapshots", API_ORDER(write_status)},
    {"POST", "/v1/snapshot", "begin to write one now", API_ORDER(take, .status = 202)},
    {0},
};
