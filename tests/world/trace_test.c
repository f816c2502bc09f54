/* What a world keeps of its last frames, and what it writes of them. Every event is a line of its own; tools/trace
 * checks that the whole is sound JSON. */
#include "support/trace_text.h"
#include "world/fixture.h"

/* Three atoms, 90 us together, every 10 ms. */
static muster_type_def sheep_type(void) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_PERCEPTION, 20000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 30000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 40000}};
  return WITH(muster_type_def, it.name = "sheep", it.atoms = atoms, it.atom_count = 3, it.period_ns = FRAME_NS,
              it.period_max_ns = 4 * FRAME_NS);
}

static little_world traced_world_of(uint32_t workers, muster_world_def def, muster_type_def type, uint32_t agents) {
  return peopled(typed_world(workers, def, type), agents);
}

static little_world traced_world(uint32_t workers, muster_clock clock, uint32_t frames, uint32_t agents) {
  muster_world_def def = WITH(muster_world_def, it.clock.kind = clock, it.trace.frames = frames);
  return traced_world_of(workers, def, sheep_type(), agents);
}

static uint64_t updates_of_frame(const char *text, uint64_t frame) {
  static const char *const categories[] = {"claim", "update"};
  uint64_t updates = 0;
  for (uint32_t i = 0; i < 2; i++)
    for (const char *event = text; (event = next_event(event, "X", categories[i]));)
      if (number_in(event, "frame") == frame) updates += number_in(event, "updates");
  return updates;
}

Test(trace, is_not_kept_unless_asked_for) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 0, 10);
  struct text text = {.parts_taken = UINT32_MAX};
  run_frames(&little, 3);
  assert_refused(muster_trace_write(little.world, take, &text), MUSTER_E_STATE, "trace.frames");
  cr_assert_eq(text.parts, 0);
}

Test(trace, refuses_absurd_sizes_and_missing_sinks) {
  expect_world_refused(WITH(muster_world_def, it.trace.frames = 4097, it.trace.spans = 2048),
                       "trace.frames 4097 must be at most 4096");
  expect_world_refused(WITH(muster_world_def, it.trace.frames = 10, it.trace.spans = 15),
                       "trace.spans 15 must be 16..65536");
  expect_world_refused(WITH(muster_world_def, it.trace.frames = 10, it.trace.spans = 65537),
                       "trace.spans 65537 must be 16..65536");
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 4, 10);
  cr_assert_eq(muster_trace_write(little.world, NULL, NULL), MUSTER_E_ARGUMENT);
}

Test(trace, stops_when_a_part_is_refused) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 8, 200);
  run_frames(&little, 20);
  SCOPED(text_forget) struct text text = {.parts_taken = 1};
  cr_assert_eq(muster_trace_write(little.world, take, &text), MUSTER_E_SYSTEM);
  cr_assert_eq(text.parts, 2);
}

/* What a world of virtual time keeps of so many frames. */
static struct text trace_of(uint32_t workers, uint32_t frames, uint32_t kept, uint32_t agents) {
  SCOPED_WORLD little = traced_world(workers, MUSTER_CLOCK_VIRTUAL, kept, agents);
  run_frames(&little, frames);
  return write_trace(&little);
}

Test(trace, comes_in_parts_of_16_kib) {
  SCOPED(text_forget) struct text text = trace_of(1, 20, 8, 200);
  cr_assert_leq(text.longest_part, 16384);
  cr_assert_gt(text.parts, 2);
}

Test(trace, keeps_the_last_frames_and_no_others) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 5, 20);
  SCOPED(text_forget) struct text before = write_trace(&little);
  cr_assert_eq(count_of(before.bytes, "\"cat\":\"frame\",\"name\":\"frame "), 0);
  for (uint64_t frame = 1; frame <= 13; frame++) {
    run_frame(&little);
    SCOPED(text_forget) struct text text = write_trace(&little);
    uint64_t kept = frame < 5 ? frame : 5, next = frame - kept + 1;
    cr_assert_eq(count_of(text.bytes, "\"cat\":\"frame\",\"name\":\"frame "), kept);
    for (const char *event = text.bytes; (event = next_event(event, "X", "frame"));)
      cr_assert_eq(number_in(event, "frame"), next++);
  }
}

/* 200 sheep want 18 ms in every 10 ms, of which 5 ms are given: updates are cut between atoms in most frames. */
Test(trace, of_virtual_time_is_the_same_on_any_number_of_workers) {
  SCOPED(text_forget) struct text one = trace_of(1, 40, 16, 200), four = trace_of(4, 40, 16, 200);
  cr_assert_str_eq(one.bytes, four.bytes);
  cr_assert_gt(count_of(one.bytes, "\"name\":\"preempted\""), 0);
  cr_assert_not_null(strstr(one.bytes, "\"clock\":\"virtual\""));
  cr_assert_not_null(strstr(one.bytes, "by what the cost model charged"));
}

Test(trace, of_virtual_time_holds_what_the_reports_say) {
  muster_frame_report reports[40];
  SCOPED_WORLD little = traced_world(2, MUSTER_CLOCK_VIRTUAL, 16, 200);
  for (uint32_t i = 0; i < 40; i++) reports[i] = run_frame(&little);
  SCOPED(text_forget) struct text text = write_trace(&little);
  for (uint32_t i = 24; i < 40; i++)
    cr_assert_eq(updates_of_frame(text.bytes, i + 1), reports[i].completed + reports[i].preempted);
}

/* On the wall clock, with several workers: which worker ran which atom may differ, but nothing is lost. The trace holds
 * the last frames; a slow machine runs more frames until the last ones hold enough updates. */
Test(trace, of_many_workers_holds_what_the_reports_say) {
  enum { FRAMES = 30, FRAMES_MAX = 3000, ENOUGH = 3000 };
  uint64_t done[FRAMES] = {0}, completed = 0, updates = 0;
  uint32_t frame = 0;
  SCOPED_WORLD little = traced_world(4, MUSTER_CLOCK_WALL, FRAMES, 1000);
  while (frame < FRAMES || (completed <= ENOUGH && frame < FRAMES_MAX)) {
    muster_frame_report report = run_frame_with(&little, 20000000);
    completed -= done[frame % FRAMES];
    done[frame % FRAMES] = report.completed + report.preempted;
    completed += done[frame++ % FRAMES];
  }
  SCOPED(text_forget) struct text text = write_trace(&little);
  for (uint32_t i = 0; i < FRAMES; i++) updates += updates_of_frame(text.bytes, frame - i);
  /* A commit that ran out of time settles its last updates in the next frame. */
  cr_assert_geq(updates, completed);
  cr_assert_leq(updates - completed, 1000);
  cr_assert_gt(completed, ENOUGH);
  cr_assert_not_null(strstr(text.bytes, "\"clock\":\"wall\""));
}

/* 18 ms of work in frames of 10 ms. */
Test(trace, frames_that_were_charged_more_than_their_period_push_the_next_back) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 16, 200);
  for (uint32_t i = 0; i < 16; i++) run_frame_with(&little, 20000000);
  SCOPED(text_forget) struct text text = write_trace(&little);
  double end = 0, longest = 0;
  for (const char *event = text.bytes; (event = next_event(event, "X", "frame"));) {
    double begin = real_in(event, "ts"), duration = real_in(event, "dur");
    cr_assert_geq(begin, end - 0.0005);
    end = begin + duration;
    if (duration > longest) longest = duration;
  }
  cr_assert_gt(longest, 10000.0);
}

struct urgency {
  muster_pool *pool;
  uint32_t submits, ran;
};

static void urgent_job(void *argument, uint32_t worker) {
  struct urgency *urgency = argument;
  (void)worker;
  urgency->ran++;
}

static muster_atom_result submit(muster_update *update) {
  struct urgency *urgency = update->type_user;
  if (urgency->submits == 0) return MUSTER_ATOM_NEXT;
  urgency->submits--;
  muster_job_submit(urgency->pool, MUSTER_URGENCY_URGENT, urgent_job, urgency, NULL);
  return MUSTER_ATOM_NEXT;
}

/* A world on the wall clock whose only agent gives way to an urgent job. */
static little_world giving_way(struct urgency *urgency) {
  static const muster_atom atoms[] = {{submit, MUSTER_ROLE_BEHAVIOUR, 0}, {nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  muster_type_def type = CHANGED(sheep_type(), it.atoms = atoms, it.atom_count = 2, it.user = urgency);
  little_world little = traced_world_of(1, WITH(muster_world_def, it.trace.frames = 64), type, 1);
  *urgency = (struct urgency){.pool = little.pool, .submits = 1};
  return little;
}

Test(trace, tells_of_updates_that_gave_way_and_of_what_went_first) {
  struct urgency urgency;
  SCOPED_WORLD little = giving_way(&urgency);
  uint64_t completed = 0, updates = 0;
  while (completed < 3) completed += run_frame_with(&little, 10000000000u).completed;
  SCOPED(text_forget) struct text text = write_trace(&little);
  cr_assert_eq(urgency.ran, 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"interrupted\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"urgent jobs\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"sheep (resumed)\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"preempted\""), 0);
  for (const char *event = text.bytes; (event = next_event(event, "X", "update"));)
    updates += number_in(event, "updates");
  cr_assert_eq(updates, completed);
}

Test(trace, counts_what_finds_no_room) {
  muster_world_def def = WITH(virtual_world_def, it.trace.frames = 4, it.trace.spans = 16);
  SCOPED_WORLD little = traced_world_of(1, def, sheep_type(), 200);
  run_frames(&little, 19);
  muster_frame_report report = run_frame(&little);
  SCOPED(text_forget) struct text text = write_trace(&little);
  const char *last = NULL;
  for (const char *event = text.bytes; (event = next_event(event, "X", "frame"));) last = event;
  cr_assert_gt(report.completed, 16);
  cr_assert_eq(number_in(last, "claims_left_out"), report.completed + report.preempted - 16);
  cr_assert_eq(updates_of_frame(text.bytes, 20), 16);
}

Test(trace, tells_of_the_woken) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 4, 1);
  run_frames(&little, 3);
  SCOPED(text_forget) struct text before = write_trace(&little);
  cr_assert_eq(count_of(before.bytes, "\"name\":\"woken\""), 0);
  muster_agent_wake(little.world, muster_agent_next(little.world, (muster_agent){0}));
  run_frame(&little);
  SCOPED(text_forget) struct text text = write_trace(&little);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"woken\""), 1);
}

Test(trace, names_the_frame_and_each_worker_that_ran_anything) {
  SCOPED(text_forget) struct text text = trace_of(1, 8, 8, 10);
  cr_assert_eq(count_of(text.bytes, "\"thread_name\""), 2);
  cr_assert_eq(count_of(text.bytes, "\"args\":{\"name\":\"virtual worker\"}"), 1);
}

Test(trace, escapes_the_names_of_types) {
  muster_type_def type = CHANGED(sheep_type(), it.name = "a \"wolf\"\\\n");
  SCOPED_WORLD little = traced_world_of(1, WITH(virtual_world_def, it.trace.frames = 4), type, 1);
  run_frames(&little, 4);
  SCOPED(text_forget) struct text text = write_trace(&little);
  cr_assert_not_null(strstr(text.bytes, "\"name\":\"a \\\"wolf\\\"\\\\\\u000a\""), "%s", text.bytes);
}

/* The trace is not part of the world. */
Test(trace, changes_nothing) {
  uint64_t hashes[2];
  for (uint32_t i = 0; i < 2; i++) {
    SCOPED_WORLD little = traced_world(2, MUSTER_CLOCK_VIRTUAL, i ? 8 : 0, 200);
    run_frames(&little, 30);
    hashes[i] = muster_world_hash(little.world);
  }
  cr_assert_eq(hashes[0], hashes[1]);
}

/* --------------------------------------------------------------------------------------------------------- instants */

/* What an instant is about: the event of the same track before it, or the frame. */
typedef struct instants {
  const char *frame, *last;
  uint32_t woken, preempted, interrupted, overrun;
} instants;

static bool is_decision(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"cat\":\"decision\",\"name\":\"%s\",", name);
  return said_in(event, key);
}

static void look_at_instant(instants *seen, const char *event) {
  bool overrun = is_decision(event, "overrun"), woken = is_decision(event, "woken");
  const char *about = overrun ? seen->frame : seen->last;
  cr_assert_not_null(about);
  cr_assert_eq(number_in(event, "tid"), number_in(about, "tid"), "another track has it");
  uint64_t begin_ns = time_in(about, "ts"), duration_ns = time_in(about, "dur");
  cr_assert_gt(duration_ns, 0);
  cr_expect_eq(time_in(event, "ts"), woken ? begin_ns : begin_ns + duration_ns, "%.120s\nabout\n%.120s", event, about);
  seen->woken += woken;
  seen->overrun += overrun;
  seen->preempted += is_decision(event, "preempted");
  seen->interrupted += is_decision(event, "interrupted");
}

/* Whoever was woken was so before it ran; all else is known when something is over. */
static instants expect_instants(const little_world *little) {
  instants seen = {0};
  SCOPED(text_forget) struct text text = write_trace(little);
  for (const char *event = text.bytes; (event = next_line(event, ""));) {
    bool whole = strncmp(event, "{\"ph\":\"X\"", 9) == 0;
    if (whole && strncmp(event + 9, ",\"cat\":\"frame\"", 14) == 0) seen.frame = event;
    if (whole && strncmp(event + 9, ",\"cat\":\"stage\"", 14) != 0) seen.last = event;
    if (strncmp(event, "{\"ph\":\"i\"", 9) == 0) look_at_instant(&seen, event);
  }
  return seen;
}

Test(trace, instants_stand_at_their_end_of_what_they_are_about) {
  static const muster_atom atoms[] = {{.run = nothing, .model_ns = 2000000}, {.run = nothing, .model_ns = 9000000}};
  muster_type_def type = CHANGED(sheep_type(), it.atoms = atoms, it.atom_count = 2, it.limit_ns = 1000000000u);
  SCOPED_WORLD little = careless(traced_world_of(1, WITH(virtual_world_def, it.trace.frames = 64), type, 4));
  for (uint32_t i = 0; i < 30; i++) {
    if (i % 5 == 3) muster_agent_wake(little.world, muster_agent_next(little.world, (muster_agent){0}));
    run_frame(&little);
  }
  instants seen = expect_instants(&little);
  cr_expect(seen.woken && seen.preempted && seen.overrun, "%u woken, %u preempted, %u overruns", seen.woken,
            seen.preempted, seen.overrun);
}

/* Updates that give way lie on the wall clock. */
Test(trace, so_do_those_of_updates_that_gave_way) {
  struct urgency urgency;
  SCOPED_WORLD little = giving_way(&urgency);
  uint32_t frames = 0;
  for (uint64_t completed = 0; completed < 3 && frames < 60; frames++)
    completed += run_frame_with(&little, 10000000000u).completed;
  cr_assert_eq(expect_instants(&little).interrupted, 1, "in %u frames", frames);
}

Test(trace, stages_follow_each_other_to_the_end_of_their_frame) {
  SCOPED_WORLD little = traced_world(1, MUSTER_CLOCK_WALL, 8, 200);
  run_frames(&little, 8);
  SCOPED(text_forget) struct text text = write_trace(&little);
  uint64_t at_ns = 0;
  const char *frame = NULL;
  uint32_t stages = 0;
  for (const char *event = text.bytes; (event = next_line(event, ""));) {
    if (strncmp(event, "{\"ph\":\"X\",\"cat\":\"frame\"", 23) == 0) {
      frame = event;
      at_ns = time_in(frame, "ts");
    }
    if (strncmp(event, "{\"ph\":\"X\",\"cat\":\"stage\"", 23) != 0) continue;
    cr_expect_eq(time_in(event, "ts"), at_ns, "%.120s", event);
    at_ns += time_in(event, "dur");
    cr_expect_leq(at_ns, time_in(frame, "ts") + time_in(frame, "dur"));
    stages++;
  }
  cr_expect_eq(stages, 8 * MUSTER_STAGES);
}
