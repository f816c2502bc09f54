/* trace_write.c - the ring of trace.h as JSON in the Chrome trace format. */
#include "base/json.h"
#include "world/guard.h"
#include "world/trace.h"

#include <muster/trace.h>

#include <stdarg.h>
#include <stdio.h>

enum { PROCESS = 1, FRAME_TRACK = 1, WORKER_TRACKS = 2, TEXT_BYTES = 16384, NAME_BYTES = 256 };

typedef struct trace_writer {
  const muster_world *world;
  muster_trace_sink sink;
  void *user;
  uint64_t base_ns; /* when the oldest frame began */
  bool any_event, refused;
  size_t length;
  char text[TEXT_BYTES];
} trace_writer;

/* A point in time or a duration in microseconds, to the nanosecond. */
typedef struct micro_text {
  char text[32];
} micro_text;

static micro_text micro(uint64_t ns) {
  micro_text micro;
  snprintf(micro.text, sizeof micro.text, "%lu.%03lu", ns / 1000, ns % 1000);
  return micro;
}

static void hand_over(trace_writer *writer) {
  if (!writer->refused && writer->length > 0)
    writer->refused = !writer->sink(writer->text, writer->length, writer->user);
  writer->length = 0;
}

/* What is put at once is far shorter than the buffer. */
__attribute__((format(printf, 2, 3))) static void put(trace_writer *writer, const char *format, ...) {
  for (int attempt = 0; attempt < 2; attempt++) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = TEXT_BYTES - writer->length;
    size_t length = (size_t)vsnprintf(writer->text + writer->length, room, format, arguments);
    va_end(arguments);
    if (length < room) {
      writer->length += length;
      return;
    }
    hand_over(writer);
  }
}

/* Writes an event up to its arguments. */
static void begin_event(trace_writer *writer, const char *phase, const char *category, const char *quoted_name,
                        uint64_t at_ns, uint32_t track) {
  put(writer, "%s{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":%s,\"ts\":%s,\"pid\":%d,\"tid\":%u",
      writer->any_event ? ",\n" : "\n", phase, category, quoted_name, micro(at_ns - writer->base_ns).text, PROCESS,
      track);
  writer->any_event = true;
}

/* `text` as a JSON string, for names that a host may have chosen freely. */
static const char *quote(char quoted[NAME_BYTES], const char *text) {
  json_writer json;
  json_start(&json, quoted, NAME_BYTES);
  json_string(&json, NULL, text);
  return quoted;
}

/* Of a track, or of the whole process; `value` is JSON. */
static void write_meta(trace_writer *writer, const char *what, uint32_t track, const char *key, const char *value) {
  put(writer,
      "%s{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"%s\",\"ts\":0.000,\"pid\":%d,\"tid\":%u,"
      "\"args\":{\"%s\":%s}}",
      writer->any_event ? ",\n" : "\n", what, PROCESS, track, key, value);
  writer->any_event = true;
}

/* Tracks stand in the order of their numbers. */
static void write_track(trace_writer *writer, uint32_t track, const char *name) {
  char number[16];
  snprintf(number, sizeof number, "%u", track);
  write_meta(writer, "thread_name", track, "name", name);
  write_meta(writer, "thread_sort_index", track, "sort_index", number);
}

/* Workers are named when they ran anything. */
static bool has_spans(const struct trace *trace, uint32_t worker) {
  for (uint32_t k = 0; k < trace_kept(trace); k++)
    if (trace->counts[trace_place(trace, k) * trace->workers + worker]) return true;
  return false;
}

static void write_names(trace_writer *writer) {
  bool virtual = world_is_virtual(writer->world);
  write_meta(writer, "process_name", 0, "name", virtual ? "\"muster (virtual time)\"" : "\"muster\"");
  write_track(writer, FRAME_TRACK, "\"frame\"");
  for (uint32_t i = 0; i < writer->world->trace->workers; i++) {
    char name[64];
    if (!has_spans(writer->world->trace, i)) continue;
    snprintf(name, sizeof name, virtual ? "\"virtual worker\"" : "\"worker %u\"", i);
    write_track(writer, WORKER_TRACKS + i, name);
  }
}

static void write_span_name(const trace_writer *writer, const struct span *span, char quoted[NAME_BYTES]) {
  const char *type = span->flags & SPAN_MIXED ? "mixed" : writer->world->agents.types.types[span->type].name;
  char name[64];
  if (span->flags & SPAN_JOBS)
    snprintf(name, sizeof name, "urgent jobs");
  else if (span->updates > 1)
    snprintf(name, sizeof name, "%s x %u", type, span->updates);
  else
    snprintf(name, sizeof name, "%s%s", type, span->flags & SPAN_RESUMED ? " (resumed)" : "");
  quote(quoted, name);
}

static void write_instant(trace_writer *writer, const char *quoted_name, uint64_t at_ns, uint32_t track,
                          const char *what, uint64_t count) {
  begin_event(writer, "i", "decision", quoted_name, at_ns, track);
  put(writer, ",\"s\":\"t\",\"args\":{\"%s\":%lu}}", what, count);
}

static void write_span(trace_writer *writer, const struct span *span, uint32_t worker, uint64_t frame) {
  char name[NAME_BYTES], type[NAME_BYTES];
  uint32_t track = WORKER_TRACKS + worker;
  bool jobs = span->flags & SPAN_JOBS;
  write_span_name(writer, span, name);
  begin_event(writer, "X", jobs ? "jobs" : span->updates > 1 ? "claim" : "update", name, span->begin_ns, track);
  put(writer, ",\"dur\":%s,\"args\":{\"frame\":%lu", micro(span->end_ns - span->begin_ns).text, frame);
  if (!jobs)
    put(writer, ",\"agent\":%u,\"type\":%s,\"level\":%u,\"updates\":%u,\"mixed\":%s", span->agent,
        quote(type, writer->world->agents.types.types[span->type].name), span->level, span->updates,
        span->flags & SPAN_MIXED ? "true" : "false");
  put(writer, "}}");
  if (span->woken) write_instant(writer, "\"woken\"", span->begin_ns, track, "agents", span->woken);
  if (span->preempted) write_instant(writer, "\"preempted\"", span->end_ns, track, "updates", span->preempted);
  if (span->flags & SPAN_INTERRUPTED) write_instant(writer, "\"interrupted\"", span->end_ns, track, "updates", 1);
}

static void write_counter(trace_writer *writer, const char *quoted_name, uint64_t at_ns, double value) {
  begin_event(writer, "C", "frame", quoted_name, at_ns, FRAME_TRACK);
  put(writer, ",\"args\":{\"value\":%.6g}}", value);
}

static void write_budget(trace_writer *writer, const trace_frame *kept) {
  uint64_t frame = kept->report.frame, budget_ns = kept->deadline_ns - kept->begin_ns;
  begin_event(writer, "b", "budget", "\"budget\"", kept->begin_ns, FRAME_TRACK);
  put(writer, ",\"id\":%lu,\"args\":{\"frame\":%lu,\"budget_ns\":%lu}}", frame, frame, budget_ns);
  begin_event(writer, "e", "budget", "\"budget\"", kept->deadline_ns, FRAME_TRACK);
  put(writer, ",\"id\":%lu,\"args\":{}}", frame);
}

static void write_stages(trace_writer *writer, const trace_frame *kept) {
  static const char *const names[MUSTER_STAGES] = {"\"intake\"",  "\"score\"", "\"fold\"", "\"fit\"",
                                                   "\"release\"", "\"rank\"",  "\"run\"",  "\"commit\""};
  uint64_t at_ns = kept->begin_ns;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
    uint64_t stage_ns = kept->report.stage_ns[i];
    if (world_is_virtual(writer->world) && !stage_ns) continue; /* most take no virtual time */
    begin_event(writer, "X", "stage", names[i], at_ns, FRAME_TRACK);
    put(writer, ",\"dur\":%s,\"args\":{\"frame\":%lu}}", micro(stage_ns).text, kept->report.frame);
    at_ns += stage_ns;
  }
}

static void write_decisions(trace_writer *writer, const trace_frame *kept, uint64_t left_out) {
  const muster_frame_report *report = &kept->report;
  put(writer,
      ",\"args\":{\"frame\":%lu,\"sim_now_ns\":%lu,\"budget_ns\":%lu,\"agents\":%u,\"released\":%u,\"completed\":%u,"
      "\"carried\":%u,\"preempted\":%u,\"actions_waiting\":%u,"
      "\"woken\":%u,\"pressure\":%.6g,\"levels\":[%u,%u,%u,%u],\"claims_left_out\":%lu}}",
      report->frame, report->sim_now_ns, report->budget_ns, report->agents, report->released, report->completed,
      report->carried, report->preempted, report->actions_waiting, report->woken, (double)report->pressure,
      report->levels[0], report->levels[1], report->levels[2], report->levels[3], left_out);
}

static void trace_write_frame(trace_writer *writer, uint32_t place) {
  const struct trace *trace = writer->world->trace;
  const trace_frame *kept = &trace->ring[place];
  const muster_frame_report *report = &kept->report;
  uint64_t budget_ns = kept->deadline_ns - kept->begin_ns;
  char name[64];
  snprintf(name, sizeof name, "\"frame %lu\"", report->frame);
  begin_event(writer, "X", "frame", name, kept->begin_ns, FRAME_TRACK);
  put(writer, ",\"dur\":%s", micro(report->wall_ns).text);
  write_decisions(writer, kept, trace->left_out[place]);
  write_stages(writer, kept);
  write_budget(writer, kept);
  write_counter(writer, "\"pressure\"", kept->begin_ns, (double)report->pressure);
  write_counter(writer, "\"carried\"", kept->begin_ns, report->carried);
  write_counter(writer, "\"budget used %\"", kept->begin_ns,
                budget_ns ? 100.0 * (double)report->wall_ns / (double)budget_ns : 0.0);
  if (report->overrun_wall_ns)
    write_instant(writer, "\"overrun\"", kept->begin_ns + report->wall_ns, FRAME_TRACK, "ns", report->overrun_wall_ns);
  for (uint32_t worker = 0; worker < trace->workers; worker++)
    for (uint32_t i = 0; i < trace->counts[place * trace->workers + worker]; i++)
      write_span(writer, &trace_spans_of(trace, place, worker)[i], worker, report->frame);
}

muster_result muster_trace_write(const muster_world *world, muster_trace_sink sink, void *user) {
  muster_result result = guard_between(world, "trace");
  if (result) return result;
  const struct trace *trace = world->trace;
  if (!sink) return error_set(MUSTER_E_ARGUMENT, "trace: a sink must be given");
  if (!trace_is_on(trace)) return error_set(MUSTER_E_STATE, "trace: this world keeps none; set trace.frames");
  enum occupation before = guard_hold(world);
  trace_writer writer = {.world = world, .sink = sink, .user = user};
  uint32_t kept = trace_kept(trace);
  if (kept) writer.base_ns = trace->ring[trace_place(trace, 0)].begin_ns;
  put(&writer, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"producer\":\"muster\",\"clock\":\"%s\",\"note\":\"%s\"},",
      world_is_virtual(world) ? "virtual" : "wall",
      world_is_virtual(world) ? "virtual time: updates are laid out one after the other by what the cost model charged"
                              : "wall time");
  put(&writer, "\"traceEvents\":[");
  write_names(&writer);
  for (uint32_t k = 0; k < kept; k++) trace_write_frame(&writer, trace_place(trace, k));
  put(&writer, "\n]}\n");
  hand_over(&writer);
  guard_release(world, before);
  return writer.refused ? error_set(MUSTER_E_SYSTEM, "trace: the sink refused a part") : MUSTER_OK;
}
