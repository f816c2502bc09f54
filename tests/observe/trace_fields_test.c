/* Every value of a trace against the reports of its frames and the agents that ran: each in its own place. */
#include "support/little_world.h"

#include <muster/trace.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEPT = 5, FRAMES = 13, SPANS = 16, AGENTS = 120, WOKEN = 7, TEXT_MOST = 1 << 22 };

static char text[TEXT_MOST];
static size_t text_length;

static bool take(const char *part, size_t length, void *user) {
  (void)user;
  cr_assert_lt(text_length + length, sizeof text);
  memcpy(text + text_length, part, length);
  text_length += length;
  text[text_length] = '\0';
  return true;
}

static void write_trace(const little_world *little) {
  text_length = 0;
  cr_assert_eq(muster_trace_write(little->world, take, NULL), MUSTER_OK, "%s", muster_last_error());
}

/* The next line that begins with an event of this phase and category, as a string of its own; null at the end. */
static const char *next_event(const char **from, const char *phase, const char *category) {
  static char line[1024];
  char key[64];
  size_t key_length = (size_t)snprintf(key, sizeof key, "{\"ph\":\"%s\",\"cat\":\"%s\"", phase, category);
  while ((*from = strchr(*from, '\n'))) {
    if (strncmp(++*from, key, key_length) != 0) continue;
    size_t length = strcspn(*from, "\n");
    cr_assert_lt(length, sizeof line);
    memcpy(line, *from, length);
    line[length] = '\0';
    return line;
  }
  return NULL;
}

static const char *behind(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *found = strstr(event, key);
  cr_assert_not_null(found, "no %s in %s", name, event);
  return found + strlen(key);
}

static double real_in(const char *event, const char *name) {
  return strtod(behind(event, name), NULL);
}

static uint64_t number_in(const char *event, const char *name) {
  return strtoull(behind(event, name), NULL, 10);
}

/* Microseconds with three digits behind the point. */
static uint64_t time_in(const char *event, const char *name) {
  char *end;
  uint64_t whole = strtoull(behind(event, name), &end, 10);
  cr_assert_eq(*end, '.');
  return whole * 1000 + strtoull(end + 1, NULL, 10);
}

static bool is_called(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"name\":\"%s\"", name);
  return strstr(event, key) != NULL;
}

static void expect_number(const char *event, const char *name, uint64_t expected) {
  cr_expect_eq(number_in(event, name), expected, "%s is %lu, and not %lu, in %s", name, number_in(event, name),
               expected, event);
}

static void expect_real(const char *event, const char *name, double expected) {
  cr_expect_leq(fabs(real_in(event, name) - expected), 1e-5 * (1 + fabs(expected)), "%s is not %g in %s", name,
                expected, event);
}

/* -------------------------------------------------------------------------------------------------------- frames */

/* What a frame's line tells. */
static void check_frame(const char *event, const muster_frame_report *report) {
  expect_number(event, "frame", report->frame);
  expect_number(event, "sim_now_ns", report->sim_now_ns);
  expect_number(event, "budget_ns", report->budget_ns);
  expect_number(event, "agents", report->agents);
  expect_number(event, "released", report->released);
  expect_number(event, "completed", report->completed);
  expect_number(event, "carried", report->carried);
  expect_number(event, "preempted", report->preempted);
  expect_number(event, "actions_waiting", report->actions_waiting);
  expect_number(event, "woken", report->woken);
  expect_real(event, "pressure", (double)report->pressure);
  cr_expect_eq(time_in(event, "dur"), report->wall_ns);
  char *at = strchr(behind(event, "levels"), '[');
  for (uint32_t i = 0; i < 4; i++) {
    cr_expect_eq(strtoull(at + 1, &at, 10), report->levels[i], "level %u in %s", i, event);
    cr_assert_eq(*at, i < 3 ? ',' : ']');
  }
}

/* The lines between a frame's and the next one's. */
static void check_behind_frame(const char *frame_event, const char *from, const muster_frame_report *report) {
  static const char *const names[MUSTER_STAGES] = {"intake",  "score", "fold", "fit",
                                                   "release", "rank",  "run",  "commit"};
  uint64_t begin_ns = time_in(frame_event, "ts"), at_ns = begin_ns;
  const char *at = from, *event;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
    if (!report->stage_ns[i]) continue;
    event = next_event(&at, "X", "stage");
    cr_assert_not_null(event);
    cr_expect(is_called(event, names[i]), "%s in %s", names[i], event);
    cr_expect_eq(time_in(event, "ts"), at_ns);
    cr_expect_eq(time_in(event, "dur"), report->stage_ns[i]);
    expect_number(event, "frame", report->frame);
    at_ns += report->stage_ns[i];
  }
  cr_assert_not_null(event = next_event(&at, "b", "budget"));
  cr_expect_eq(time_in(event, "ts"), begin_ns);
  expect_number(event, "id", report->frame);
  expect_number(event, "budget_ns", report->budget_ns);
  cr_assert_not_null(event = next_event(&at, "e", "budget"));
  cr_expect_eq(time_in(event, "ts"), begin_ns + report->budget_ns);
  expect_number(event, "id", report->frame);
  static const char *const counters[] = {"pressure", "carried", "budget used %"};
  const double values[] = {(double)report->pressure, report->carried,
                           100.0 * (double)report->wall_ns / (double)report->budget_ns};
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_not_null(event = next_event(&at, "C", "frame"));
    cr_expect(is_called(event, counters[i]), "%s in %s", counters[i], event);
    cr_expect_eq(time_in(event, "ts"), begin_ns);
    expect_number(event, "tid", 1);
    expect_real(event, "value", values[i]);
  }
}

/* Two types at four levels, woken now and then, with too little time for all. */
static little_world flock_world(muster_agent *agents) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 20000}, {nothing, MUSTER_ROLE_BEHAVIOUR, 30000}};
  static const float floors[] = {0.1f, 0.35f, 0.35f, 0.6f, 0.6f, 0.6f, 1.0f, 1.0f, 1.0f, 1.0f};
  muster_world_def def = papers_world_def();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.trace.frames = KEPT;
  def.trace.spans = SPANS;
  little_world little = little_world_create(1, &def);
  muster_type types[2];
  for (uint32_t i = 0; i < 2; i++) {
    muster_type_def type = type_with(atoms, 2);
    type.name = i ? "goat" : "sheep";
    type.levels.count = 4;
    type.period_ns = FRAME_NS;
    type.period_max_ns = 4 * FRAME_NS;
    register_type(&little, &type);
    types[i] = little.type;
  }
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_def agent = muster_agent_def_default();
    agent.type = types[i % 3 == 0];
    agent.importance_floor = floors[i % 10];
    agents[i] = muster_agent_spawn(little.world, &agent);
  }
  return little;
}

Test(trace_fields, each_value_of_a_frame_is_that_of_its_report) {
  muster_agent agents[AGENTS];
  muster_frame_report reports[FRAMES];
  little_world little = flock_world(agents);
  uint32_t frames = 0, spans = 0, distinct = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    for (uint32_t k = 0; k < WOKEN && i % 2; k++) muster_agent_wake(little.world, agents[i * 8 + k]);
    reports[i] = run_frame_with(&little, 300000u + i * 130000u);
  }
  write_trace(&little);
  const char *at = text, *event;
  while ((event = next_event(&at, "X", "frame"))) {
    const muster_frame_report *report = &reports[FRAMES - KEPT + frames];
    uint64_t ran = report->completed + report->preempted;
    if (frames == 0) cr_expect_eq(time_in(event, "ts"), 0, "it is the oldest");
    check_frame(event, report);
    expect_number(event, "claims_left_out", ran > SPANS ? ran - SPANS : 0);
    check_behind_frame(event, at, report);
    distinct += report->carried != report->completed && report->carried != report->preempted && report->preempted &&
                report->levels[2] != report->levels[3] && report->levels[0] != report->levels[1] &&
                report->budget_ns != report->wall_ns;
    frames++;
  }
  cr_expect_eq(frames, KEPT);
  for (at = text; (event = next_event(&at, "X", "update"));) {
    uint64_t agent = number_in(event, "agent");
    cr_assert_lt(agent, AGENTS);
    cr_expect_not_null(strstr(event, agent % 3 == 0 ? "\"type\":\"goat\"" : "\"type\":\"sheep\""), "%s", event);
    cr_expect(is_called(event, agent % 3 == 0 ? "goat" : "sheep") ||
                  is_called(event, agent % 3 == 0 ? "goat (resumed)" : "sheep (resumed)"),
              "%s", event);
    cr_expect_not_null(strstr(event, "\"mixed\":false"), "%s", event);
    expect_number(event, "level", info_of(&little, muster_agent_make((uint32_t)agent, 1)).level);
    expect_number(event, "updates", 1);
    expect_number(event, "tid", 2);
    spans++;
  }
  cr_expect_gt(spans, KEPT * 4);
  cr_expect_gt(distinct, 0, "in some frame values are told apart");
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* An instant tells how many it is about; what is about one update says 1. */
Test(trace_fields, instants_tell_how_many) {
  muster_agent agents[AGENTS];
  little_world little = flock_world(agents);
  uint32_t woken = 0, preempted = 0, cut = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    for (uint32_t k = 0; k < WOKEN && i % 2; k++) muster_agent_wake(little.world, agents[i * 8 + k]);
    muster_frame_report report = run_frame_with(&little, 240000u + i % 3 * 10000u);
    if (i >= FRAMES - KEPT) cut += report.preempted;
  }
  write_trace(&little);
  const char *at = text, *event;
  while ((event = next_event(&at, "i", "decision"))) {
    if (is_called(event, "woken")) woken += (uint32_t)number_in(event, "agents");
    if (is_called(event, "preempted")) preempted += (uint32_t)number_in(event, "updates");
    if (!is_called(event, "overrun")) expect_number(event, "tid", 2);
  }
  cr_expect_gt(woken, 0);
  cr_expect_eq(preempted, cut);
  cr_expect_gt(cut, 0);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* By the wall clock what a frame took is not what its updates took. */
Test(trace_fields, counters_of_the_wall_clock_are_those_of_their_frame) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_world_def def = muster_world_def_default();
  def.trace.frames = KEPT;
  little_world little = little_world_create(2, &def);
  muster_type_def type = type_with(&atom, 1);
  type.period_ns = type.period_max_ns = FRAME_NS;
  register_type(&little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  muster_frame_report reports[FRAMES];
  for (uint32_t i = 0; i < FRAMES; i++) reports[i] = run_frame_with(&little, 100000000u + i);
  write_trace(&little);
  const char *at = text, *event;
  for (uint32_t i = FRAMES - KEPT; i < FRAMES; i++) {
    cr_assert_not_null(event = next_event(&at, "X", "frame"));
    check_frame(event, &reports[i]);
    for (uint32_t k = 0; k < 3; k++) {
      const double values[] = {(double)reports[i].pressure, reports[i].carried,
                               100.0 * (double)reports[i].wall_ns / real_in(text, "budget_ns")};
      cr_assert_not_null(event = next_event(&at, "C", "frame"));
      if (k < 2) expect_real(event, "value", values[k]);
      if (k == 2) cr_expect_leq(fabs(real_in(event, "value") / values[k] - 1.0), 0.01, "%s", event);
    }
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------------- workers */

static uint32_t count_of(const char *what) {
  uint32_t count = 0;
  for (const char *next = text; (next = strstr(next, what)); next++) count++;
  return count;
}

/* Which clock the times are of is told by the name of the process, and by the names of its workers. */
Test(trace_fields, the_process_is_called_by_its_clock) {
  for (uint32_t wall = 0; wall < 2; wall++) {
    static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
    muster_world_def def = muster_world_def_default();
    def.trace.frames = 4;
    def.clock.kind = wall ? def.clock.kind : MUSTER_CLOCK_VIRTUAL;
    little_world little = little_world_create(1, &def);
    muster_type_def type = type_with(&atom, 1);
    type.period_ns = type.period_max_ns = FRAME_NS;
    register_type(&little, &type);
    spawn_at(&little, 0);
    for (uint32_t i = 0; i < 4; i++) run_frame_with(&little, 100000000u);
    write_trace(&little);
    cr_expect_eq(count_of("\"process_name\""), 1);
    cr_expect_eq(count_of("{\"name\":\"muster\"}"), wall);
    cr_expect_eq(count_of("{\"name\":\"muster (virtual time)\"}"), 1 - wall);
    cr_expect_eq(count_of("{\"name\":\"frame\"}"), 1);
    cr_expect_eq(count_of("{\"name\":\"worker 0\"}"), wall);
    cr_expect_eq(count_of("{\"name\":\"virtual worker\"}"), 1 - wall);
    cr_expect_eq(count_of("\"cat\":\"stage\"") == 4 * MUSTER_STAGES, wall, "stages without time are left out");
    little.provokes_idle = true;
    little_world_destroy(&little);
  }
}

/* The worker ran in the first frames, or in the last ones, of those that are kept. */
Test(trace_fields, a_worker_that_ran_in_any_frame_is_named) {
  for (uint32_t late = 0; late < 2; late++) {
    static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
    muster_world_def def = muster_world_def_default();
    def.trace.frames = 8;
    little_world little = little_world_create(1, &def);
    muster_type_def type = type_with(&atom, 1);
    type.period_ns = type.period_max_ns = FRAME_NS;
    register_type(&little, &type);
    if (late) run_frames(&little, 3);
    muster_agent agent = spawn_at(&little, 0);
    for (uint32_t i = 0; i < 4; i++) run_frame_with(&little, 100000000u);
    muster_agent_remove(little.world, agent);
    if (!late) run_frames(&little, 3);
    write_trace(&little);
    cr_expect_eq(count_of("\"thread_name\""), 2, "case %u", late);
    cr_expect_eq(count_of("\"args\":{\"name\":\"worker 0\"}"), 1, "case %u", late);
    cr_expect_eq(count_of("\"args\":{\"sort_index\":2}"), 1, "case %u", late);
    little.provokes_idle = true;
    little_world_destroy(&little);
  }
}

/* On the wall clock a claim has many updates, perhaps of both types: then it is called so, and so is its switch. */
Test(trace_fields, claims_of_several_types_are_called_mixed) {
  enum { TRIES = 300, CROWD = 400 };
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_world_def def = muster_world_def_default();
  def.trace.frames = 1;
  little_world little = little_world_create(1, &def);
  muster_type types[2];
  for (uint32_t i = 0; i < 2; i++) {
    muster_type_def type = type_with(&atom, 1);
    type.name = i ? "goat" : "sheep";
    type.period_ns = type.period_max_ns = FRAME_NS;
    register_type(&little, &type);
    types[i] = little.type;
  }
  for (uint32_t i = 0; i < CROWD; i++) {
    little.type = types[i % 2];
    spawn_at(&little, i);
  }
  uint32_t mixed = 0;
  for (uint32_t i = 0; i < TRIES && !mixed; i++) {
    run_frame_with(&little, 100000000u);
    write_trace(&little);
    const char *at = text, *event;
    while ((event = next_event(&at, "X", "claim"))) {
      bool is_mixed = strstr(event, "\"mixed\":true") != NULL;
      cr_expect_eq(strstr(event, "\"name\":\"mixed x ") != NULL, is_mixed, "%s", event);
      cr_expect_gt(number_in(event, "updates"), 1);
      mixed += is_mixed;
    }
  }
  cr_expect_gt(mixed, 0, "no claim of %u frames had both types", TRIES);
  little.provokes_idle = true;
  little_world_destroy(&little);
}
