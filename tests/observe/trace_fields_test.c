/* Every value of a trace against the reports of its frames and the agents that ran: each in its own place. */
#include "support/trace_text.h"
#include "world/fixture.h"

enum { KEPT = 5, FRAMES = 13, SPANS = 16, AGENTS = 120, WOKEN = 7 };

static void expect_number(const char *event, const char *name, uint64_t expected) {
  cr_expect_eq(number_in(event, name), expected, "%s is %lu, and not %lu, in %.300s", name, number_in(event, name),
               expected, event);
}

static void expect_real(const char *event, const char *name, double expected) {
  cr_expect_leq(fabs(real_in(event, name) - expected), 1e-5 * (1 + fabs(expected)), "%s is not %g in %.300s", name,
                expected, event);
}

/* -------------------------------------------------------------------------------------------------------- frames */

/* What a frame's line tells. */
static void check_frame(const char *event, const muster_frame_report *report) {
  const struct {
    const char *name;
    uint64_t value;
  } numbers[] = {
      {"frame", report->frame},     {"sim_now_ns", report->sim_now_ns}, {"budget_ns", report->budget_ns},
      {"agents", report->agents},   {"released", report->released},     {"completed", report->completed},
      {"carried", report->carried}, {"preempted", report->preempted},   {"actions_waiting", report->actions_waiting},
      {"woken", report->woken}};
  for (uint32_t i = 0; i < COUNT_OF(numbers); i++) expect_number(event, numbers[i].name, numbers[i].value);
  expect_real(event, "pressure", (double)report->pressure);
  cr_expect_eq(time_in(event, "dur"), report->wall_ns);
  char *at = strchr(behind(event, "levels"), '[');
  for (uint32_t i = 0; i < 4; i++) {
    cr_expect_eq(strtoull(at + 1, &at, 10), report->levels[i], "level %u in %.300s", i, event);
    cr_assert_eq(*at, i < 3 ? ',' : ']');
  }
}

/* The lines between a frame's and the next one's. */
static void check_behind_frame(const char *frame_event, const muster_frame_report *report) {
  const char *const names[MUSTER_STAGES] = {"intake", "score", "fold", "fit", "release", "rank", "run", "commit"};
  uint64_t begin_ns = time_in(frame_event, "ts"), at_ns = begin_ns;
  const char *event = frame_event;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
    if (!report->stage_ns[i]) continue;
    cr_assert_not_null(event = next_event(event, "X", "stage"));
    cr_expect(is_called(event, names[i]), "%s in %.300s", names[i], event);
    cr_expect_eq(time_in(event, "ts"), at_ns);
    cr_expect_eq(time_in(event, "dur"), report->stage_ns[i]);
    expect_number(event, "frame", report->frame);
    at_ns += report->stage_ns[i];
  }
  cr_assert_not_null(event = next_event(event, "b", "budget"));
  cr_expect_eq(time_in(event, "ts"), begin_ns);
  expect_number(event, "id", report->frame);
  expect_number(event, "budget_ns", report->budget_ns);
  cr_assert_not_null(event = next_event(event, "e", "budget"));
  cr_expect_eq(time_in(event, "ts"), begin_ns + report->budget_ns);
  expect_number(event, "id", report->frame);
  static const char *const counters[] = {"pressure", "carried", "budget used %"};
  const double values[] = {(double)report->pressure, report->carried,
                           100.0 * (double)report->wall_ns / (double)report->budget_ns};
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_not_null(event = next_event(event, "C", "frame"));
    cr_expect(is_called(event, counters[i]), "%s in %.300s", counters[i], event);
    cr_expect_eq(time_in(event, "ts"), begin_ns);
    expect_number(event, "tid", 1);
    expect_real(event, "value", values[i]);
  }
}

static little_world traced_world(uint32_t workers, uint32_t frames) {
  return careless(little_world_of(workers, WITH(muster_world_def, it.trace.frames = frames)));
}

/* Two types at four levels, woken now and then, with too little time for all. */
static little_world flock_world(muster_agent *agents) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 20000}, {nothing, MUSTER_ROLE_BEHAVIOUR, 30000}};
  static const float floors[] = {0.1f, 0.35f, 0.35f, 0.6f, 0.6f, 0.6f, 1.0f, 1.0f, 1.0f, 1.0f};
  little_world little = careless(little_world_of(1, CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL,
                                                            it.trace.frames = KEPT, it.trace.spans = SPANS)));
  muster_type_def def =
      CHANGED(type_with(atoms, 2), it.levels.count = 4, it.period_ns = FRAME_NS, it.period_max_ns = 4 * FRAME_NS);
  const muster_type types[] = {add_type(&little, CHANGED(def, it.name = "sheep")),
                               add_type(&little, CHANGED(def, it.name = "goat"))};
  for (uint32_t i = 0; i < AGENTS; i++)
    agents[i] =
        spawn_as(&little, WITH(muster_agent_def, it.type = types[i % 3 == 0], it.importance_floor = floors[i % 10]));
  return little;
}

static muster_frame_report flock_frame(little_world *little, const muster_agent *agents, uint32_t frame,
                                       uint64_t budget_ns) {
  for (uint32_t k = 0; k < WOKEN && frame % 2; k++) muster_agent_wake(little->world, agents[frame * 8 + k]);
  return run_frame_with(little, budget_ns);
}

Test(trace_fields, each_value_of_a_frame_is_that_of_its_report) {
  muster_agent agents[AGENTS];
  muster_frame_report reports[FRAMES];
  SCOPED_WORLD little = flock_world(agents);
  uint32_t frames = 0, spans = 0, distinct = 0;
  for (uint32_t i = 0; i < FRAMES; i++) reports[i] = flock_frame(&little, agents, i, 300000u + i * 130000u);
  SCOPED(text_forget) struct text text = write_trace(&little);
  for (const char *event = text.bytes; (event = next_event(event, "X", "frame")); frames++) {
    const muster_frame_report *report = &reports[FRAMES - KEPT + frames];
    uint64_t ran = report->completed + report->preempted;
    if (frames == 0) cr_expect_eq(time_in(event, "ts"), 0, "it is the oldest");
    check_frame(event, report);
    expect_number(event, "claims_left_out", ran > SPANS ? ran - SPANS : 0);
    check_behind_frame(event, report);
    distinct += report->carried != report->completed && report->carried != report->preempted && report->preempted &&
                report->levels[2] != report->levels[3] && report->levels[0] != report->levels[1] &&
                report->budget_ns != report->wall_ns;
  }
  cr_expect_eq(frames, KEPT);
  for (const char *event = text.bytes; (event = next_event(event, "X", "update")); spans++) {
    uint64_t agent = number_in(event, "agent");
    bool goat = agent % 3 == 0;
    cr_assert_lt(agent, AGENTS);
    cr_expect_not_null(said_in(event, goat ? "\"type\":\"goat\"" : "\"type\":\"sheep\""), "%.300s", event);
    cr_expect(is_called(event, goat ? "goat" : "sheep") ||
                  is_called(event, goat ? "goat (resumed)" : "sheep (resumed)"),
              "%.300s", event);
    cr_expect_not_null(said_in(event, "\"mixed\":false"), "%.300s", event);
    expect_number(event, "level", info_of(&little, muster_agent_make((uint32_t)agent, 1)).level);
    expect_number(event, "updates", 1);
    expect_number(event, "tid", 2);
  }
  cr_expect_gt(spans, KEPT * 4);
  cr_expect_gt(distinct, 0, "in some frame values are told apart");
}

/* An instant tells how many it is about; what is about one update says 1. */
Test(trace_fields, instants_tell_how_many) {
  muster_agent agents[AGENTS];
  SCOPED_WORLD little = flock_world(agents);
  uint32_t woken = 0, preempted = 0, cut = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = flock_frame(&little, agents, i, 240000u + i % 3 * 10000u);
    if (i >= FRAMES - KEPT) cut += report.preempted;
  }
  SCOPED(text_forget) struct text text = write_trace(&little);
  for (const char *event = text.bytes; (event = next_event(event, "i", "decision"));) {
    if (is_called(event, "woken")) woken += (uint32_t)number_in(event, "agents");
    if (is_called(event, "preempted")) preempted += (uint32_t)number_in(event, "updates");
    if (!is_called(event, "overrun")) expect_number(event, "tid", 2);
  }
  cr_expect_gt(woken, 0);
  cr_expect_eq(preempted, cut);
  cr_expect_gt(cut, 0);
}

/* By the wall clock what a frame took is not what its updates took. */
Test(trace_fields, counters_of_the_wall_clock_are_those_of_their_frame) {
  muster_frame_report reports[FRAMES];
  SCOPED_WORLD little = traced_world(2, KEPT);
  add_type(&little, due_every(FRAME_NS, type_running(nothing, 0)));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) reports[i] = run_frame_with(&little, 100000000u + i);
  SCOPED(text_forget) struct text text = write_trace(&little);
  const char *event = text.bytes, *first = next_event(event, "X", "frame");
  for (uint32_t i = FRAMES - KEPT; i < FRAMES; i++) {
    cr_assert_not_null(event = next_event(event, "X", "frame"));
    check_frame(event, &reports[i]);
    for (uint32_t k = 0; k < 3; k++) {
      const double values[] = {(double)reports[i].pressure, reports[i].carried,
                               100.0 * (double)reports[i].wall_ns / real_in(first, "budget_ns")};
      cr_assert_not_null(event = next_event(event, "C", "frame"));
      if (k < 2) expect_real(event, "value", values[k]);
      if (k == 2) cr_expect_leq(fabs(real_in(event, "value") / values[k] - 1.0), 0.01, "%.300s", event);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- workers */

/* Which clock the times are of is told by the name of the process, and by the names of its workers. */
Test(trace_fields, the_process_is_called_by_its_clock) {
  for (uint32_t wall = 0; wall < 2; wall++) {
    SCOPED_WORLD little = careless(little_world_of(1, wall ? WITH(muster_world_def, it.trace.frames = 4)
                                                           : WITH(virtual_world_def, it.trace.frames = 4)));
    add_type(&little, due_every(FRAME_NS, type_running(nothing, 1000)));
    spawn_at(&little, 0);
    for (uint32_t i = 0; i < 4; i++) run_frame_with(&little, 100000000u);
    SCOPED(text_forget) struct text text = write_trace(&little);
    cr_expect_eq(count_of(text.bytes, "\"process_name\""), 1);
    cr_expect_eq(count_of(text.bytes, "{\"name\":\"muster\"}"), wall);
    cr_expect_eq(count_of(text.bytes, "{\"name\":\"muster (virtual time)\"}"), 1 - wall);
    cr_expect_eq(count_of(text.bytes, "{\"name\":\"frame\"}"), 1);
    cr_expect_eq(count_of(text.bytes, "{\"name\":\"worker 0\"}"), wall);
    cr_expect_eq(count_of(text.bytes, "{\"name\":\"virtual worker\"}"), 1 - wall);
    cr_expect_eq(count_of(text.bytes, "\"cat\":\"stage\"") == 4 * MUSTER_STAGES, wall,
                 "stages without time are left out");
  }
}

/* The worker ran in the first frames, or in the last ones, of those that are kept. */
Test(trace_fields, a_worker_that_ran_in_any_frame_is_named) {
  for (uint32_t late = 0; late < 2; late++) {
    SCOPED_WORLD little = traced_world(1, 8);
    add_type(&little, due_every(FRAME_NS, type_running(nothing, 1000)));
    if (late) run_frames(&little, 3);
    muster_agent agent = spawn_at(&little, 0);
    for (uint32_t i = 0; i < 4; i++) run_frame_with(&little, 100000000u);
    muster_agent_remove(little.world, agent);
    if (!late) run_frames(&little, 3);
    SCOPED(text_forget) struct text text = write_trace(&little);
    cr_expect_eq(count_of(text.bytes, "\"thread_name\""), 2, "case %u", late);
    cr_expect_eq(count_of(text.bytes, "\"args\":{\"name\":\"worker 0\"}"), 1, "case %u", late);
    cr_expect_eq(count_of(text.bytes, "\"args\":{\"sort_index\":2}"), 1, "case %u", late);
  }
}

/* On the wall clock a claim has many updates, perhaps of both types: then it is called so, and so is its switch. */
Test(trace_fields, claims_of_several_types_are_called_mixed) {
  enum { TRIES = 300, CROWD = 400 };
  SCOPED_WORLD little = traced_world(1, 1);
  muster_type_def def = due_every(FRAME_NS, type_running(nothing, 0));
  const muster_type types[] = {add_type(&little, CHANGED(def, it.name = "sheep")),
                               add_type(&little, CHANGED(def, it.name = "goat"))};
  for (int i = 0; i < CROWD; i++) spawn_as(&little, WITH(muster_agent_def, it.type = types[i % 2], it.position.x = i));
  uint32_t mixed = 0;
  for (uint32_t i = 0; i < TRIES && !mixed; i++) {
    run_frame_with(&little, 100000000u);
    SCOPED(text_forget) struct text text = write_trace(&little);
    for (const char *event = text.bytes; (event = next_event(event, "X", "claim"));) {
      bool is_mixed = said_in(event, "\"mixed\":true") != NULL;
      cr_expect_eq(said_in(event, "\"name\":\"mixed x ") != NULL, is_mixed, "%.300s", event);
      cr_expect_gt(number_in(event, "updates"), 1);
      mixed += is_mixed;
    }
  }
  cr_expect_gt(mixed, 0, "no claim of %u frames had both types", TRIES);
}
