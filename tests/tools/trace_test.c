/* `muster run --trace`: a file that trace viewers open, and that says what the run did. */
#include "program.h"

#include <inttypes.h>
#include <math.h>

enum { TRACKS_MAX = 300 };

/* A world that is short of time: updates of several atoms are cut, periods stretch, work is carried. */
#define SHORT "run wildlife --virtual --agents 1500 --capacity 0.15ms --frames 60 --fit elastic"

static json_t *trace_of(const char *line) {
  json_t *trace = program_json(line);
  cr_assert_str_eq(program_text(trace, "displayTimeUnit"), "ms");
  cr_assert(json_array_size(program_member(trace, "traceEvents")) > 0);
  return trace;
}

static const char *text_in(json_t *event, const char *name) {
  const char *text = json_string_value(json_object_get(event, name));
  cr_assert_not_null(text, "an event has no %s", name);
  return text;
}

static bool is(json_t *event, const char *phase, const char *category) {
  return strcmp(text_in(event, "ph"), phase) == 0 && strcmp(text_in(event, "cat"), category) == 0;
}

/* Microseconds as nanoseconds. */
static uint64_t time_in(json_t *event, const char *name) {
  double microseconds = program_number(event, name);
  cr_assert_geq(microseconds, 0.0);
  return (uint64_t)llround(microseconds * 1000.0);
}

static uint64_t end_of(json_t *event) {
  return time_in(event, "ts") + time_in(event, "dur");
}

static uint64_t argument(json_t *event, const char *name) {
  return (uint64_t)json_integer_value(program_member(program_member(event, "args"), name));
}

static void check_fields(json_t *event) {
  static const char *const phases = "MXbeiC";
  const char *phase = text_in(event, "ph");
  cr_assert(strlen(phase) == 1 && strchr(phases, *phase), "phase %s", phase);
  text_in(event, "name");
  text_in(event, "cat");
  time_in(event, "ts");
  cr_assert(json_is_integer(program_member(event, "pid")) && json_is_integer(program_member(event, "tid")));
  cr_assert(json_is_object(program_member(event, "args")));
  if (*phase == 'X') time_in(event, "dur");
  if (*phase == 'i') cr_assert_str_eq(text_in(event, "s"), "t");
  if (*phase == 'b' || *phase == 'e') cr_assert(json_is_integer(program_member(event, "id")));
  if (*phase == 'C') program_number(event, "args.value");
}

static void check_trace(json_t *trace) {
  uint64_t ends[TRACKS_MAX] = {0}, frame_begin = 0, frame_end = 0, frame_before = 0;
  PROGRAM_EACH(i, event, program_member(trace, "traceEvents")) {
    check_fields(event);
    json_int_t track = json_integer_value(json_object_get(event, "tid"));
    cr_assert(track >= 0 && track < TRACKS_MAX);
    if (is(event, "X", "frame")) {
      frame_begin = time_in(event, "ts");
      cr_assert_geq(frame_begin, frame_end, "frames overlap");
      frame_end = end_of(event);
      cr_assert(frame_before == 0 || argument(event, "frame") == frame_before + 1);
      frame_before = argument(event, "frame");
    } else if (is(event, "X", "stage")) {
      cr_assert(time_in(event, "ts") >= frame_begin && end_of(event) <= frame_end, "a stage leaves its frame");
    }
    if (is(event, "X", "frame") || strcmp(text_in(event, "ph"), "X") != 0) continue;
    cr_assert_geq(time_in(event, "ts"), ends[track], "what runs on track %d overlaps", (int)track);
    ends[track] = end_of(event);
  }
}

struct sums {
  uint64_t frames, begins, ends, updates, completed, preempted, carried, stopped, counters[3], budget_ns;
  uint64_t waiting; /* the most actions that waited after a frame */
};

static struct sums sums_of(json_t *trace) {
  static const char *const counters[] = {"pressure", "carried", "budget used %"};
  struct sums sums = {0};
  PROGRAM_EACH(i, event, program_member(trace, "traceEvents")) {
    sums.begins += is(event, "b", "budget");
    sums.ends += is(event, "e", "budget");
    if (is(event, "b", "budget")) sums.budget_ns = argument(event, "budget_ns");
    if (is(event, "X", "claim") || is(event, "X", "update")) sums.updates += argument(event, "updates");
    if (strcmp(text_in(event, "name"), "preempted") == 0) sums.stopped += argument(event, "updates");
    for (size_t k = 0; k < 3; k++)
      sums.counters[k] += is(event, "C", "frame") && strcmp(text_in(event, "name"), counters[k]) == 0;
    if (!is(event, "X", "frame")) continue;
    sums.frames++;
    sums.completed += argument(event, "completed");
    sums.preempted += argument(event, "preempted");
    sums.carried += argument(event, "carried");
    if (argument(event, "actions_waiting") > sums.waiting) sums.waiting = argument(event, "actions_waiting");
  }
  return sums;
}

Test(trace, of_virtual_time_is_sound_and_holds_what_the_frames_report) {
  json_auto_t *trace = trace_of(SHORT " --workers 2 --trace-frames 40 --trace -");
  check_trace(trace);
  struct sums sums = sums_of(trace);
  cr_assert_eq(sums.frames, 40);
  cr_assert_eq(sums.begins, 40);
  cr_assert_eq(sums.ends, 40);
  for (size_t i = 0; i < 3; i++) cr_assert_eq(sums.counters[i], 40);
  cr_assert_eq(sums.budget_ns, 150000);
  /* An update with waiting actions is completed by the next frame, or was begun by the one before. */
  uint64_t settled = sums.completed + sums.preempted;
  cr_assert(sums.updates + sums.waiting >= settled && sums.updates <= settled + sums.waiting);
  cr_assert_eq(sums.stopped, sums.preempted);
  cr_assert_gt(sums.carried, 0);
  cr_assert_gt(sums.completed, 40);
}

Test(trace, of_the_wall_clock_is_sound_and_has_every_stage_of_every_frame) {
  json_auto_t *trace =
      trace_of("run fixed --agents 500 --workers 3 --frames 20 --hz 200 --budget 2ms --trace-frames 20 --trace -");
  size_t stages = 0;
  check_trace(trace);
  PROGRAM_EACH(i, event, program_member(trace, "traceEvents")) stages += is(event, "X", "stage");
  struct sums sums = sums_of(trace);
  cr_assert_eq(sums.frames, 20);
  cr_assert_eq(stages, sums.frames * 8);
  cr_assert_eq(sums.begins, sums.frames);
  cr_assert_gt(sums.updates, 0);
  cr_assert_str_eq(program_text(trace, "otherData.clock"), "wall");
}

Test(trace, of_virtual_time_is_the_same_on_any_number_of_workers) {
#define TRACED "run tan-wong --virtual --agents 40 --frames 9 --trace-frames 5 --trace - --workers "
  SCOPED_RUN *one = program_good(TRACED "1"), *four = program_good(TRACED "4");
  cr_assert_gt(strlen(one->output), 1000);
  cr_assert_str_eq(four->output, one->output);
}

Test(trace, goes_to_its_file_beside_the_report) {
  SCOPED_FILE file = program_file_make();
  json_auto_t *report = program_json(formed(SHORT " --trace %s --trace-frames 3 --json -", file.path));
  json_auto_t *trace = program_load(file.path);
  check_trace(trace);
  cr_assert_eq(sums_of(trace).frames, 3);
  cr_assert_eq(program_number(report, "frames"), 60);
}

/* A run of a million frames would take far longer than the test may: the path is looked at first. */
Test(trace, refuses_what_cannot_be_written_before_the_run, .timeout = 20) {
  PROGRAM_EXPECT_REFUSALS(
      {"run tan-wong --virtual --frames 1000000 --trace /nowhere/t.json", 1, "cannot write '/nowhere/t.json'"},
      {"run tan-wong --virtual --frames 1000000 --trace /tmp", 1, "cannot write '/tmp': Is a directory"},
      {"run --trace-frames 5", 2, "add --trace FILE"}, {"run --trace /dev/null --trace-frames 0", 2, "--trace-frames"},
      {"run --trace /dev/null --trace-frames 4097", 2, "from 1 to 4096"},
      {"run --trace - --json -", 2, "both want standard output"}, {"run --trace", 2, "--trace wants a value"});
}

Test(trace, that_does_not_fit_the_disk_fails_the_run) {
  SCOPED_RUN *run = program_ends(1, SHORT " --trace /dev/full");
  cr_assert_not_null(strstr(run->errors, "No space left"), "%s", run->errors);
}
