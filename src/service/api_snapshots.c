/* api_snapshots.c - snapshots: what became of the last one, and one more now. */
#include "service/api.h"

static void write_status(json_writer *writer, const snapshots_status *status) {
  json_bool(writer, "enabled", status->enabled);
  json_bool(writer, "running", status->running);
  json_uint(writer, "number", status->number);
  json_uint(writer, "written", status->written);
  json_uint(writer, "failed", status->failed);
  json_uint(writer, "refused", status->refused);
  json_uint(writer, "bytes", status->bytes);
  json_uint(writer, "write_ns", status->write_ns);
  json_uint(writer, "pause_ns", status->pause_ns);
  json_uint(writer, "written_at", status->written_at > 0 ? (uint64_t)status->written_at : 0);
  json_string(writer, "failure", status->failure);
  json_string(writer, "restored", status->restored);
}

static void show_status(http_request *request) {
  service *service = http_user(request);
  snapshots_status status;
  char text[4096];
  json_writer writer;
  snapshots_read_status(&service->snapshots, &status);
  json_start(&writer, text, sizeof text);
  json_begin_object(&writer, NULL);
  write_status(&writer, &status);
  json_end_object(&writer);
  if (json_finish(&writer)) {
    http_answer(request, 200, HTTP_JSON, text, writer.length);
    return;
  }
  http_refuse(request, 500, "too_large", NULL, "the status does not fit its answer");
}

/* Its end is seen in the status: written or failed count one more. */
static void take(api_call *call) {
  snapshots_status status;
  if (!api_succeeded(call, snapshots_take(call->service), NULL)) return;
  snapshots_read_status(&call->service->snapshots, &status);
  write_status(&call->writer, &status);
}

static void take_snapshot(http_request *request) {
  api_call *call = api_begin(request, take, 0);
  if (!call) return;
  call->status = 202;
  api_post(call);
}

const http_route api_snapshot_routes[] = {
    {.method = "GET", .pattern = "/v1/snapshot", .handle = show_status, .summary = "what became of the last snapshot"},
    {.method = "POST", .pattern = "/v1/snapshot", .handle = take_snapshot, .summary = "begin one now"},
    {0},
};
