/* snapshot_routes.c - /v1/snapshot: reports on the snapshots, and begins one. */
#include "service/api.h"

static void write_status(api_call *call) {
  json_writer *writer = &call->writer;
  snapshots_status status;
  snapshots_read_status(&call->service->snapshots, &status);
  json_bool(writer, "enabled", status.enabled);
  json_bool(writer, "running", status.running);
  json_uint(writer, "number", status.number);
  json_uint(writer, "written", status.written);
  json_uint(writer, "failed", status.failed);
  json_uint(writer, "written_at", (uint64_t)status.written_at);
  json_uint(writer, "bytes", status.bytes);
  json_uint(writer, "write_ns", status.write_ns);
  json_uint(writer, "pause_ns", status.pause_ns);
  json_string(writer, "failure", status.failure);
  json_string(writer, "restored", status.restored);
  json_uint(writer, "refused", status.refused);
}

/* The answer comes once the frames go on; whether the snapshot was written, GET /v1/snapshot tells later. */
static void take(api_call *call) {
  if (!api_succeeded(call, snapshots_take(call->service), NULL)) return;
  call->status = 202;
  write_status(call);
}

const http_route snapshot_routes[] = {
    {.method = "GET",
     .pattern = "/v1/snapshot",
     .handle = api_handle,
     .order = &(const api_order){.work = write_status},
     .summary = "the state of the snapshots"},
    {.method = "POST",
     .pattern = "/v1/snapshot",
     .handle = api_handle,
     .order = &(const api_order){.work = take},
     .summary = "begin to write one now"},
    {0},
};
