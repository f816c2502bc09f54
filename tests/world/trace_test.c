/* What a world keeps of its last frames, and what it writes of them. Every event is a line of its own; tools/trace
 * checks that the whole is sound JSON. */
#include "support/little_world.h"

#include <muster/trace.h>

#include <stdio.h>
#include <stdlib.h>

/* Three atoms, 90 us together, every 10 ms. */
static muster_type_def sheep_type(void) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_PERCEPTION, 20000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 30000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 40000}};
  muster_type_def def = muster_type_def_default();
  def.name = "sheep";
  def.atoms = atoms;
  def.atom_count = 3;
  def.period_ns = FRAME_NS;
  def.period_max_ns = 4 * FRAME_NS;
  return def;
}

static little_world traced_world(uint32_t workers, muster_clock clock, uint32_t frames, uint32_t agents) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.trace.frames = frames;
  little_world little = little_world_create(workers, &def);
  muster_type_def type = sheep_type();
  register_type(&little, &type);
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, i);
  return little;
}

struct text {
  char *bytes;
  size_t length, capacity, longest_part;
  uint32_t parts, parts_taken; /* parts given so far; parts that are taken before one is refused */
};

static bool take(const char *part, size_t length, void *user) {
  struct text *text = user;
  if (++text->parts > text->parts_taken) return false;
  if (length > text->longest_part) text->longest_part = length;
  while (text->length + length >= text->capacity) {
    text->capacity = text->capacity ? text->capacity * 2 : 65536;
    text->bytes = realloc(text->bytes, text->capacity);
    cr_assert_not_null(text->bytes);
  }
  memcpy(text->bytes + text->length, part, length);
  text->length += length;
  text->bytes[text->length] = '\0';
  return true;
}

static struct text write_trace(const little_world *little) {
  struct text text = {.parts_taken = UINT32_MAX};
  cr_assert_eq(muster_trace_write(little->world, take, &text), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(strlen(text.bytes), text.length);
  return text;
}

/* Returns the number behind `"name":` in the line of an event. */
static uint64_t number_in(const char *event, const char *name) {
  char key[64], line[1024];
  size_t length = 0;
  while (length < sizeof line - 1 && event[length] && event[length] != '\n') length++;
  memcpy(line, event, length);
  line[length] = '\0';
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *found = strstr(line, key);
  cr_assert_not_null(found, "no %s in %s", name, line);
  return strtoull(found + strlen(key), NULL, 10);
}

/* Returns the next event of the category behind `from`; NULL at the end. Looks at beginnings of lines only: a
 * sanitizer's strstr measures all of the rest of the text each time. */
static const char *next_event(const char *from, const char *category) {
  char key[64];
  int length = snprintf(key, sizeof key, "{\"ph\":\"X\",\"cat\":\"%s\"", category);
  for (;;) {
    while (*from && *from != '\n') from++;
    if (!*from) return NULL;
    if (strncmp(++from, key, (size_t)length) == 0) return from;
  }
}

static uint32_t count_of(const char *text, const char *what) {
  uint32_t count = 0;
  for (const char *next = text; (next = strstr(next, what)); next++) count++;
  return count;
}

static uint64_t updates_of_frame(const char *text, uint64_t frame) {
  static const char *const categories[] = {"claim", "update"};
  uint64_t updates = 0;
  for (uint32_t i = 0; i < 2; i++)
    for (const char *event = text; (event = next_event(event, categories[i]));)
      if (number_in(event, "frame") == frame) updates += number_in(event, "updates");
  return updates;
}

Test(trace, is_not_kept_unless_asked_for) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 0, 10);
  struct text text = {.parts_taken = UINT32_MAX};
  run_frames(&little, 3);
  cr_assert_eq(muster_trace_write(little.world, take, &text), MUSTER_E_STATE);
  cr_assert_not_null(strstr(muster_last_error(), "trace.frames"));
  cr_assert_eq(text.parts, 0);
  little_world_destroy(&little);
}

static void world_refused(uint32_t frames, uint32_t spans, const char *says) {
  muster_world_def def = muster_world_def_default();
  def.trace.frames = frames;
  def.trace.spans = spans;
  cr_assert_null(muster_world_create(&def));
  cr_assert_not_null(strstr(muster_last_error(), says), "%s", muster_last_error());
}

Test(trace, refuses_absurd_sizes_and_missing_sinks) {
  world_refused(4097, 2048, "trace.frames 4097 must be at most 4096");
  world_refused(10, 15, "trace.spans 15 must be 16..65536");
  world_refused(10, 65537, "trace.spans 65537 must be 16..65536");
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 4, 10);
  cr_assert_eq(muster_trace_write(little.world, NULL, NULL), MUSTER_E_ARGUMENT);
  little_world_destroy(&little);
}

Test(trace, stops_when_a_part_is_refused) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 8, 200);
  run_frames(&little, 20);
  struct text text = {.parts_taken = 1};
  cr_assert_eq(muster_trace_write(little.world, take, &text), MUSTER_E_SYSTEM);
  cr_assert_eq(text.parts, 2);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, comes_in_parts_of_16_kib) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 8, 200);
  run_frames(&little, 20);
  struct text text = write_trace(&little);
  cr_assert_leq(text.longest_part, 16384);
  cr_assert_gt(text.parts, 2);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, keeps_the_last_frames_and_no_others) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 5, 20);
  struct text text = write_trace(&little);
  cr_assert_eq(count_of(text.bytes, "\"cat\":\"frame\",\"name\":\"frame "), 0);
  free(text.bytes);
  for (uint64_t frame = 1; frame <= 13; frame++) {
    run_frame(&little);
    text = write_trace(&little);
    uint64_t kept = frame < 5 ? frame : 5, next = frame - kept + 1;
    cr_assert_eq(count_of(text.bytes, "\"cat\":\"frame\",\"name\":\"frame "), kept);
    for (const char *event = text.bytes; (event = next_event(event, "frame"));)
      cr_assert_eq(number_in(event, "frame"), next++);
    free(text.bytes);
  }
  little_world_destroy(&little);
}

/* 200 sheep want 18 ms in every 10 ms, of which 5 ms are given: updates are cut between atoms in most frames. */
Test(trace, of_virtual_time_is_the_same_on_any_number_of_workers) {
  struct text texts[2];
  for (uint32_t i = 0; i < 2; i++) {
    little_world little = traced_world(i ? 4 : 1, MUSTER_CLOCK_VIRTUAL, 16, 200);
    run_frames(&little, 40);
    texts[i] = write_trace(&little);
    little_world_destroy(&little);
  }
  cr_assert_str_eq(texts[0].bytes, texts[1].bytes);
  cr_assert_gt(count_of(texts[0].bytes, "\"name\":\"preempted\""), 0);
  cr_assert_not_null(strstr(texts[0].bytes, "\"clock\":\"virtual\""));
  cr_assert_not_null(strstr(texts[0].bytes, "by what the cost model charged"));
  free(texts[0].bytes);
  free(texts[1].bytes);
}

Test(trace, of_virtual_time_holds_what_the_reports_say) {
  muster_frame_report reports[40];
  little_world little = traced_world(2, MUSTER_CLOCK_VIRTUAL, 16, 200);
  for (uint32_t i = 0; i < 40; i++) reports[i] = run_frame(&little);
  struct text text = write_trace(&little);
  for (uint32_t i = 24; i < 40; i++)
    cr_assert_eq(updates_of_frame(text.bytes, i + 1), reports[i].completed + reports[i].preempted);
  free(text.bytes);
  little_world_destroy(&little);
}

/* On the wall clock, with several workers: which worker ran which atom may differ, but nothing is lost. The trace holds
 * the last frames; a slow machine runs more frames until the last ones hold enough updates. */
Test(trace, of_many_workers_holds_what_the_reports_say) {
  enum { FRAMES = 30, FRAMES_MAX = 3000, ENOUGH = 3000 };
  uint64_t done[FRAMES] = {0}, completed = 0, updates = 0;
  uint32_t frame = 0;
  little_world little = traced_world(4, MUSTER_CLOCK_WALL, FRAMES, 1000);
  while (frame < FRAMES || (completed <= ENOUGH && frame < FRAMES_MAX)) {
    muster_frame_report report = run_frame_with(&little, 20000000);
    completed -= done[frame % FRAMES];
    done[frame % FRAMES] = report.completed + report.preempted;
    completed += done[frame++ % FRAMES];
  }
  struct text text = write_trace(&little);
  for (uint32_t i = 0; i < FRAMES; i++) updates += updates_of_frame(text.bytes, frame - i);
  /* A commit that ran out of time settles its last updates in the next frame. */
  cr_assert_geq(updates, completed);
  cr_assert_leq(updates - completed, 1000);
  cr_assert_gt(completed, ENOUGH);
  cr_assert_not_null(strstr(text.bytes, "\"clock\":\"wall\""));
  free(text.bytes);
  little_world_destroy(&little);
}

static double real_in(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  return strtod(strstr(event, key) + strlen(key), NULL);
}

/* 18 ms of work in frames of 10 ms. */
Test(trace, frames_that_were_charged_more_than_their_period_push_the_next_back) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 16, 200);
  for (uint32_t i = 0; i < 16; i++) run_frame_with(&little, 20000000);
  struct text text = write_trace(&little);
  double end = 0, longest = 0;
  for (const char *event = text.bytes; (event = next_event(event, "frame"));) {
    double begin = real_in(event, "ts"), duration = real_in(event, "dur");
    cr_assert_geq(begin, end - 0.0005);
    end = begin + duration;
    if (duration > longest) longest = duration;
  }
  cr_assert_gt(longest, 10000.0);
  free(text.bytes);
  little_world_destroy(&little);
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

Test(trace, tells_of_updates_that_gave_way_and_of_what_went_first) {
  static const muster_atom atoms[] = {{submit, MUSTER_ROLE_BEHAVIOUR, 0}, {nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  struct urgency urgency = {.submits = 1};
  muster_world_def def = muster_world_def_default();
  def.trace.frames = 64;
  little_world little = little_world_create(1, &def);
  muster_type_def type = sheep_type();
  type.atoms = atoms;
  type.atom_count = 2;
  type.user = &urgency;
  urgency.pool = little.pool;
  register_type(&little, &type);
  spawn_at(&little, 0);
  uint64_t completed = 0, updates = 0;
  while (completed < 3) completed += run_frame_with(&little, 10000000000u).completed;
  struct text text = write_trace(&little);
  cr_assert_eq(urgency.ran, 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"interrupted\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"urgent jobs\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"sheep (resumed)\""), 1);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"preempted\""), 0);
  for (const char *event = text.bytes; (event = next_event(event, "update"));) updates += number_in(event, "updates");
  cr_assert_eq(updates, completed);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, counts_what_finds_no_room) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.trace.frames = 4;
  def.trace.spans = 16;
  little_world little = little_world_create(1, &def);
  muster_type_def type = sheep_type();
  register_type(&little, &type);
  for (uint32_t i = 0; i < 200; i++) spawn_at(&little, i);
  muster_frame_report report = {0};
  for (uint32_t i = 0; i < 20; i++) report = run_frame(&little);
  struct text text = write_trace(&little);
  const char *last = NULL;
  for (const char *event = text.bytes; (event = next_event(event, "frame"));) last = event;
  cr_assert_gt(report.completed, 16);
  cr_assert_eq(number_in(last, "claims_left_out"), report.completed + report.preempted - 16);
  cr_assert_eq(updates_of_frame(text.bytes, 20), 16);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, tells_of_the_woken) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 4, 1);
  run_frames(&little, 3);
  struct text text = write_trace(&little);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"woken\""), 0);
  free(text.bytes);
  muster_agent_wake(little.world, muster_agent_next(little.world, (muster_agent){0}));
  run_frame(&little);
  text = write_trace(&little);
  cr_assert_eq(count_of(text.bytes, "\"name\":\"woken\""), 1);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, names_the_frame_and_each_worker_that_ran_anything) {
  little_world little = traced_world(1, MUSTER_CLOCK_VIRTUAL, 8, 10);
  run_frames(&little, 8);
  struct text text = write_trace(&little);
  cr_assert_eq(count_of(text.bytes, "\"thread_name\""), 2);
  cr_assert_eq(count_of(text.bytes, "\"args\":{\"name\":\"virtual worker\"}"), 1);
  free(text.bytes);
  little_world_destroy(&little);
}

Test(trace, escapes_the_names_of_types) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.trace.frames = 4;
  little_world little = little_world_create(1, &def);
  muster_type_def type = sheep_type();
  type.name = "a \"wolf\"\\\n";
  register_type(&little, &type);
  spawn_at(&little, 0);
  run_frames(&little, 4);
  struct text text = write_trace(&little);
  cr_assert_not_null(strstr(text.bytes, "\"name\":\"a \\\"wolf\\\"\\\\\\u000a\""), "%s", text.bytes);
  free(text.bytes);
  little_world_destroy(&little);
}

/* The trace is not part of the world. */
Test(trace, changes_nothing) {
  uint64_t hashes[2];
  for (uint32_t i = 0; i < 2; i++) {
    little_world little = traced_world(2, MUSTER_CLOCK_VIRTUAL, i ? 8 : 0, 200);
    run_frames(&little, 30);
    hashes[i] = muster_world_hash(little.world);
    little_world_destroy(&little);
  }
  cr_assert_eq(hashes[0], hashes[1]);
}

/* --------------------------------------------------------------------------------------------------------- instants */

/* A point in time or a duration in an event, in nanoseconds. */
static uint64_t nanoseconds_in(const char *event, const char *name) {
  char key[64], *end;
  snprintf(key, sizeof key, "\"%s\":", name);
  uint64_t whole = strtoull(strstr(event, key) + strlen(key), &end, 10);
  cr_assert_eq(*end, '.');
  return whole * 1000 + strtoull(end + 1, NULL, 10);
}

/* What an instant is about: the event of the same track before it, or the frame. */
typedef struct instants {
  const char *frame, *last;
  uint32_t woken, preempted, interrupted, overrun;
} instants;

static bool is_called(const char *event, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"cat\":\"decision\",\"name\":\"%s\",", name);
  const char *found = strstr(event, key), *end = strchr(event, '\n');
  return found && found < end;
}

static void look_at_instant(instants *seen, const char *event) {
  bool overrun = is_called(event, "overrun"), woken = is_called(event, "woken");
  const char *about = overrun ? seen->frame : seen->last;
  cr_assert_not_null(about);
  cr_assert_eq(number_in(event, "tid"), number_in(about, "tid"), "another track has it");
  uint64_t begin_ns = nanoseconds_in(about, "ts"), duration_ns = nanoseconds_in(about, "dur");
  cr_assert_gt(duration_ns, 0);
  cr_expect_eq(nanoseconds_in(event, "ts"), woken ? begin_ns : begin_ns + duration_ns, "%.120s\nis about\n%.120s",
               event, about);
  seen->woken += woken;
  seen->overrun += overrun;
  seen->preempted += is_called(event, "preempted");
  seen->interrupted += is_called(event, "interrupted");
}

/* Whoever was woken was so before it ran; all else is known when something is over. */
static instants expect_instants(const little_world *little) {
  instants seen = {0};
  struct text text = write_trace(little);
  for (const char *event = text.bytes; (event = strchr(event, '\n'));) {
    event++;
    bool whole = strncmp(event, "{\"ph\":\"X\"", 9) == 0;
    if (whole && strncmp(event + 9, ",\"cat\":\"frame\"", 14) == 0) seen.frame = event;
    if (whole && strncmp(event + 9, ",\"cat\":\"stage\"", 14) != 0) seen.last = event;
    if (strncmp(event, "{\"ph\":\"i\"", 9) == 0) look_at_instant(&seen, event);
  }
  free(text.bytes);
  return seen;
}

Test(trace, instants_stand_at_their_end_of_what_they_are_about) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 2000000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 9000000}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.trace.frames = 64;
  little_world little = little_world_create(1, &def);
  muster_type_def type = sheep_type();
  type.atoms = atoms;
  type.atom_count = 2;
  type.limit_ns = 1000000000u;
  register_type(&little, &type);
  for (uint32_t i = 0; i < 4; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 30; i++) {
    if (i % 5 == 3) muster_agent_wake(little.world, muster_agent_next(little.world, (muster_agent){0}));
    run_frame(&little);
  }
  instants seen = expect_instants(&little);
  cr_expect(seen.woken && seen.preempted && seen.overrun, "%u woken, %u preempted, %u overruns", seen.woken,
            seen.preempted, seen.overrun);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* Updates that give way lie on the wall clock. */
Test(trace, so_do_those_of_updates_that_gave_way) {
  static const muster_atom atoms[] = {{submit, MUSTER_ROLE_BEHAVIOUR, 0}, {nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  struct urgency urgency = {.submits = 1};
  muster_world_def def = muster_world_def_default();
  def.trace.frames = 64;
  little_world little = little_world_create(1, &def);
  muster_type_def type = sheep_type();
  type.atoms = atoms;
  type.atom_count = 2;
  type.user = &urgency;
  urgency.pool = little.pool;
  register_type(&little, &type);
  spawn_at(&little, 0);
  uint32_t frames = 0;
  for (uint64_t completed = 0; completed < 3 && frames < 60; frames++)
    completed += run_frame_with(&little, 10000000000u).completed;
  cr_assert_eq(expect_instants(&little).interrupted, 1, "in %u frames", frames);
  little_world_destroy(&little);
}

/* Stages of a frame follow each other. */
Test(trace, stages_follow_each_other_to_the_end_of_their_frame) {
  little_world little = traced_world(1, MUSTER_CLOCK_WALL, 8, 200);
  run_frames(&little, 8);
  struct text text = write_trace(&little);
  uint64_t at_ns = 0;
  const char *frame = NULL;
  uint32_t stages = 0;
  for (const char *event = text.bytes; (event = strchr(event, '\n'));) {
    event++;
    if (strncmp(event, "{\"ph\":\"X\",\"cat\":\"frame\"", 23) == 0) {
      frame = event;
      at_ns = nanoseconds_in(frame, "ts");
    }
    if (strncmp(event, "{\"ph\":\"X\",\"cat\":\"stage\"", 23) != 0) continue;
    cr_expect_eq(nanoseconds_in(event, "ts"), at_ns, "%.120s", event);
    at_ns += nanoseconds_in(event, "dur");
    cr_expect_leq(at_ns, nanoseconds_in(frame, "ts") + nanoseconds_in(frame, "dur"));
    stages++;
  }
  cr_expect_eq(stages, 8 * MUSTER_STAGES);
  free(text.bytes);
  little_world_destroy(&little);
}
