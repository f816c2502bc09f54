/* What a trace says of each frame is what the frame's report said: its counters, and what stands beside it. */
#include "support/little_world.h"

#include <muster/trace.h>

#include <jansson.h>
#include <math.h>

enum { AGENTS = 300, FRAMES = 24 };

struct text {
  char *bytes;
  size_t length;
};

static bool take(const char *part, size_t length, void *user) {
  struct text *text = user;
  text->bytes = realloc(text->bytes, text->length + length);
  cr_assert_not_null(text->bytes);
  memcpy(text->bytes + text->length, part, length);
  text->length += length;
  return true;
}

/* An overloaded world in which updates of two atoms wait, now more of them and now fewer. */
static little_world traced_world(void) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_PERCEPTION, 20000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 30000}};
  muster_world_def def = muster_world_def_default();
  muster_type_def type = muster_type_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.trace.frames = FRAMES;
  little_world little = little_world_create(2, &def);
  type.atoms = atoms;
  type.atom_count = 2;
  type.period_ns = FRAME_NS;
  type.period_max_ns = 3 * FRAME_NS;
  register_type(&little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  return little;
}

static json_t *read_trace(const little_world *little) {
  struct text text = {0};
  cr_assert_eq(muster_trace_write(little->world, take, &text), MUSTER_OK, "%s", muster_last_error());
  json_t *trace = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(trace);
  free(text.bytes);
  return trace;
}

static const char *name_of(const json_t *event) {
  return json_string_value(json_object_get(event, "name"));
}

static double argument(const json_t *event, const char *name) {
  const json_t *value = json_object_get(json_object_get(event, "args"), name);
  cr_assert(json_is_number(value), "%s has no %s", name_of(event), name);
  return json_number_value(value);
}

/* The event number `which` of a kind, such as the counter "carried". */
static const json_t *event_of(const json_t *trace, const char *kind, const char *category, const char *name,
                              uint32_t which) {
  size_t i;
  const json_t *event;
  json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
    const char *is = json_string_value(json_object_get(event, "cat"));
    if (strcmp(json_string_value(json_object_get(event, "ph")), kind) || !is || strcmp(is, category)) continue;
    if (name && strcmp(name_of(event), name)) continue;
    if (which-- == 0) return event;
  }
  cr_assert_fail("the trace has fewer events %s %s", kind, category);
  return NULL;
}

static void check_alike(double in_trace, double reported, const char *what, uint32_t frame) {
  cr_assert(fabs(in_trace - reported) <= 1e-5 * fabs(reported), "%s of frame %u: %g, reported %g", what, frame,
            in_trace, reported);
}

static void check_frame(const json_t *trace, const muster_frame_report *report, uint64_t budget_ns, uint32_t i) {
  const json_t *frame = event_of(trace, "X", "frame", NULL, i);
  const struct {
    const char *name;
    double reported;
  } beside[] = {{"frame", (double)report->frame}, {"budget_ns", (double)budget_ns},
                {"agents", report->agents},       {"released", report->released},
                {"completed", report->completed}, {"carried", report->carried},
                {"preempted", report->preempted}, {"actions_waiting", report->actions_waiting},
                {"woken", report->woken},         {"pressure", (double)report->pressure}};
  for (size_t k = 0; k < COUNT_OF(beside); k++)
    check_alike(argument(frame, beside[k].name), beside[k].reported, beside[k].name, i);
  check_alike(argument(event_of(trace, "C", "frame", "pressure", i), "value"), (double)report->pressure, "pressure", i);
  check_alike(argument(event_of(trace, "C", "frame", "carried", i), "value"), report->carried, "carried", i);
  check_alike(json_number_value(json_object_get(frame, "dur")), (double)report->wall_ns / 1000.0, "duration", i);
}

Test(trace_counters, are_what_was_reported_of_each_frame) {
  muster_frame_report reports[FRAMES];
  uint64_t budgets_ns[FRAMES], carried = 0;
  SCOPED(little_world_destroy) little_world little = traced_world();
  run_frames(&little, 20);
  for (uint32_t i = 0; i < FRAMES; i++) {
    budgets_ns[i] = 1000000u + i % 4 * 400000u;
    reports[i] = run_frame_with(&little, budgets_ns[i]);
    carried += reports[i].carried;
  }
  cr_assert_gt(carried, FRAMES, "the world is not short of time");
  json_auto_t *trace = read_trace(&little);
  for (uint32_t i = 0; i < FRAMES; i++) check_frame(trace, &reports[i], budgets_ns[i], i);
}
