/* `muster run --record` and `muster replay`: the same report again, on any number of workers, or a refusal. */
#include "program.h"

#include <stdint.h>

#define RECORD "/tmp/muster-test-replay-%d-%s"

static const char *record_path(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, RECORD, (int)getpid(), name);
  return path;
}

static program_run *start(const char *format, const char *first, const char *second) {
  char line[1024];
  snprintf(line, sizeof line, format, first, second);
  return program_start(line);
}

/* All of a report but the shares of the CPU that other programs took, which belong to the recorded run alone. */
static json_t *report_of(const program_run *run) {
  json_t *report = json_loads(run->output, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(report, "%s", run->output);
  cr_assert_eq(json_object_del(report, "others_cpu_share"), 0);
  cr_assert_eq(json_object_del(report, "stolen_cpu_share"), 0);
  return report;
}

static void expect_same_report(const char *scenario, const char *name) {
  const char *path = record_path(name);
  program_run *run = start("run %s --no-pace --workers 2 --json - --record %s", scenario, path);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (int workers = 1; workers <= 4; workers += 3) {
    program_run *replay = start("replay %s --json - --workers %s", path, workers == 1 ? "1" : "4");
    cr_assert_eq(replay->status, 0, "%s", replay->errors);
    json_t *recorded = report_of(run), *replayed = report_of(replay);
    cr_assert(json_equal(recorded, replayed), "%s on %d workers: %s", scenario, workers, replay->output);
    json_decref(recorded);
    json_decref(replayed);
    cr_assert_not_null(strstr(replay->errors, "frames bit for bit"), "%s", replay->errors);
    free(replay);
  }
  program_run *part = start("replay %s --until %s", path, "3");
  cr_assert_eq(part->status, 0, "%s", part->errors);
  cr_assert_not_null(strstr(part->output, "replayed 3 frames bit for bit"), "%s", part->output);
  free(part);
  free(run);
  unlink(path);
}

Test(replay, fixed_comes_to_the_same_report) {
  expect_same_report("fixed --agents 3000 --frames 20 --warm-up 2 --budget 2ms", "fixed");
}

Test(replay, settings_of_the_scenario_are_those_of_the_recorded_run) {
  expect_same_report("fixed --agents 500 --set side=50 --frames 20 --warm-up 5", "settings");
}

Test(replay, wildlife_comes_to_the_same_report) {
  expect_same_report("wildlife --agents 800 --frames 40 --warm-up 2 --budget 2ms", "wildlife");
}

Test(replay, so_does_a_run_in_virtual_time) {
  expect_same_report("wildlife --agents 500 --frames 20 --warm-up 2 --virtual --capacity 0.3ms", "virtual");
}

/* The same, of a record that begins in the middle: its replays agree about the frames that it holds. */
static void expect_same_rest(const char *scenario, const char *name) {
  const char *path = record_path(name);
  json_t *first = NULL;
  program_run *run =
      start("run %s --no-pace --workers 2 --frames 60 --warm-up 2 --record-from 50 --record %s", scenario, path);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (int i = 0; i < 3; i++) {
    program_run *replay = start("replay %s --json - --workers %s", path, (const char *[]){"1", "2", "8"}[i]);
    cr_assert_eq(replay->status, 0, "%s", replay->errors);
    cr_assert_not_null(strstr(replay->errors, "frames bit for bit"), "%s", replay->errors);
    json_t *report = json_loads(replay->output, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(report, "%s", replay->output);
    if (!first) first = json_incref(report);
    cr_assert(json_equal(first, report), "%s: %s", scenario, replay->output);
    json_decref(report);
    free(replay);
  }
  program_run *part = start("replay %s --until %s", path, "51");
  cr_assert_not_null(strstr(part->output, "replayed 2 frames bit for bit"), "%s", part->output);
  free(part);
  part = start("replay %s --until %s", path, "49");
  cr_assert_eq(part->status, 2, "%s", part->output);
  cr_assert_not_null(strstr(part->errors, "it begins with frame 50"), "%s", part->errors);
  json_decref(first);
  free(part);
  free(run);
  unlink(path);
}

Test(replay, a_hostile_run_from_its_middle_on_comes_to_the_same) {
  expect_same_rest("hostile --agents 300 --budget 500us", "hostile-rest");
}

Test(replay, so_does_one_of_townsfolk) {
  expect_same_rest("townsfolk --agents 300 --budget 500us", "folk-rest");
}

Test(replay, so_does_one_of_herds) {
  expect_same_rest("herd --agents 5000 --budget 1ms", "herd-rest");
}

Test(replay, a_run_that_ends_before_the_record_begins_says_so) {
  const char *path = record_path("none");
  program_run *run = start("run %s --no-pace --record-from 90000 --record %s",
                           "fixed --agents 100 --workers 1 --frames 10 --warm-up 1", path);
  cr_assert_eq(run->status, 1, "%s", run->errors);
  cr_assert_not_null(strstr(run->errors, "the run ended before frame 90000"), "%s", run->errors);
  free(run);
  unlink(path);
  run = start("run %s%s", "fixed --record-from 3", "");
  cr_assert_eq(run->status, 2, "%s", run->errors);
  free(run);
}

/* One line: that nothing is recorded would only blame the length of the run. */
Test(replay, a_world_that_cannot_be_recorded_from_its_middle_on_says_only_that) {
  char line[256];
  const char *path = record_path("unsaved");
  snprintf(line, sizeof line, "run empty --agents 300 --frames 5 --warm-up 1 --no-pace --record-from 3 --record %s",
           path);
  PROGRAM_EXPECT_REFUSALS({line, 1, "frame 3: 'empty' cannot be saved"});
  unlink(path);
}

static void write_file(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fwrite(bytes, 1, count, file), count);
  fclose(file);
}

Test(replay, a_record_that_is_damaged_or_cut_is_refused) {
  static unsigned char bytes[1 << 20];
  const char *path = record_path("damaged");
  program_run *run =
      start("run %s --no-pace --workers 1 --record %s", "fixed --agents 500 --frames 10 --warm-up 1", path);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  FILE *file = fopen(path, "rb");
  size_t count = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  cr_assert(count > 10000 && count < sizeof bytes);
  bytes[count / 2] ^= 4;
  write_file(path, bytes, count);
  program_run *replay = start("replay %s%s", path, "");
  cr_assert_eq(replay->status, 1);
  cr_assert_not_null(strstr(replay->errors, "its checksum is wrong"), "%s", replay->errors);
  free(replay);
  bytes[count / 2] ^= 4;
  write_file(path, bytes, count - 100);
  replay = start("replay %s%s", path, "");
  cr_assert_eq(replay->status, 1);
  cr_assert_not_null(strstr(replay->errors, "--until"), "%s", replay->errors);
  free(replay);
  replay = start("replay %s --until %s", path, "5");
  cr_assert_eq(replay->status, 0, "%s", replay->errors);
  free(replay);
  uint64_t head_bytes; /* of what the first section holds; its header stands behind 16 bytes */
  memcpy(&head_bytes, bytes + 32, sizeof head_bytes);
  write_file(path, bytes, 48 + head_bytes + 10);
  replay = start("replay %s --until %s", path, "5");
  cr_assert_eq(replay->status, 1);
  cr_assert_not_null(strstr(replay->errors, "it has no whole frame"), "%s", replay->errors);
  free(replay);
  free(run);
  unlink(path);
}

Test(replay, what_cannot_be_replayed_is_refused_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"replay", 2, "give one file"}, {"replay /nowhere/at-all", 1, "cannot read the record"},
                          {"replay /dev/null", 1, "cannot read the record"}, {"replay x --until 0", 2, "--until"},
                          {"run fixed --agents 10 --record /nowhere/at-all", 1, "choose another file"});
}
