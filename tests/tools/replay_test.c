/* `muster run --record` and `muster replay`: the same report again, on any number of workers, or a refusal. */
#include "program.h"

#include <stdint.h>

/* All of a report but the shares of the CPU that other programs took, which belong to the recorded run alone. */
static json_t *report_of(const program_run *run) {
  json_t *report = json_loads(run->output, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(report, "%s", run->output);
  cr_assert_eq(json_object_del(report, "others_cpu_share"), 0);
  cr_assert_eq(json_object_del(report, "stolen_cpu_share"), 0);
  return report;
}

static void expect_same_report(const char *scenario) {
  SCOPED_FILE file = program_file_make();
  const char *path = file.path;
  SCOPED_RUN *run = program_good("run %s --no-pace --workers 2 --json - --record %s", scenario, path);
  for (int workers = 1; workers <= 4; workers += 3) {
    SCOPED_RUN *replay = program_good("replay %s --json - --workers %d", path, workers);
    json_auto_t *recorded = report_of(run), *replayed = report_of(replay);
    cr_assert(json_equal(recorded, replayed), "%s on %d workers: %s", scenario, workers, replay->output);
    cr_assert_not_null(strstr(replay->errors, "frames bit for bit"), "%s", replay->errors);
  }
  SCOPED_RUN *part = program_good("replay %s --until 3", path);
  cr_assert_not_null(strstr(part->output, "replayed 3 frames bit for bit"), "%s", part->output);
}

Test(replay, fixed_comes_to_the_same_report) {
  expect_same_report("fixed --agents 3000 --frames 20 --warm-up 2 --budget 2ms");
}

Test(replay, settings_of_the_scenario_are_those_of_the_recorded_run) {
  expect_same_report("fixed --agents 500 --set side=50 --frames 20 --warm-up 5");
}

Test(replay, wildlife_comes_to_the_same_report) {
  expect_same_report("wildlife --agents 800 --frames 40 --warm-up 2 --budget 2ms");
}

Test(replay, so_does_a_run_in_virtual_time) {
  expect_same_report("wildlife --agents 500 --frames 20 --warm-up 2 --virtual --capacity 0.3ms");
}

static void expect_refused(const char *path, const char *options, int status, const char *says) {
  SCOPED_RUN *replay = program_ends(status, "replay %s%s", path, options);
  cr_assert_not_null(strstr(replay->errors, says), "%s", replay->errors);
}

/* The same, of a record that begins in the middle: its replays agree about the frames that it holds. */
static void expect_same_rest(const char *scenario) {
  SCOPED_FILE file = program_file_make();
  const char *path = file.path;
  json_auto_t *first = NULL;
  free(program_good("run %s --no-pace --workers 2 --frames 60 --warm-up 2 --record-from 50 --record %s", scenario,
                    path));
  for (int i = 0; i < 3; i++) {
    SCOPED_RUN *replay = program_good("replay %s --json - --workers %d", path, (const int[]){1, 2, 8}[i]);
    cr_assert_not_null(strstr(replay->errors, "frames bit for bit"), "%s", replay->errors);
    json_auto_t *report = json_loads(replay->output, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(report, "%s", replay->output);
    if (!first) first = json_incref(report);
    cr_assert(json_equal(first, report), "%s: %s", scenario, replay->output);
  }
  SCOPED_RUN *part = program_good("replay %s --until 51", path);
  cr_assert_not_null(strstr(part->output, "replayed 2 frames bit for bit"), "%s", part->output);
  expect_refused(path, " --until 49", 2, "it begins with frame 50");
}

Test(replay, a_hostile_run_from_its_middle_on_comes_to_the_same) {
  expect_same_rest("hostile --agents 300 --budget 500us");
}

Test(replay, so_does_one_of_townsfolk) {
  expect_same_rest("townsfolk --agents 300 --budget 500us");
}

Test(replay, so_does_one_of_herds) {
  expect_same_rest("herd --agents 5000 --budget 1ms");
}

Test(replay, a_run_that_ends_before_the_record_begins_says_so) {
  SCOPED_FILE file = program_file_make();
  SCOPED_RUN *run = program_ends(1,
                                 "run fixed --agents 100 --workers 1 --frames 10 --warm-up 1 --no-pace "
                                 "--record-from 90000 --record %s",
                                 file.path);
  cr_assert_not_null(strstr(run->errors, "the run ended before frame 90000"), "%s", run->errors);
  free(program_ends(2, "run fixed --record-from 3"));
}

/* One line: that nothing is recorded would only blame the length of the run. */
Test(replay, a_world_that_cannot_be_recorded_from_its_middle_on_says_only_that) {
  SCOPED_FILE file = program_file_make();
  PROGRAM_EXPECT_REFUSALS_OF("run empty --agents 300 --frames 5 --warm-up 1 --no-pace --record-from 3 --record",
                             {file.path, 1, "frame 3: 'empty' cannot be saved"});
}

Test(replay, a_record_that_is_damaged_or_cut_is_refused) {
  static unsigned char bytes[1 << 20];
  SCOPED_FILE record = program_file_make();
  const char *path = record.path;
  free(program_good("run fixed --agents 500 --frames 10 --warm-up 1 --no-pace --workers 1 --record %s", path));
  FILE *file = fopen(path, "rb");
  size_t count = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  cr_assert(count > 10000 && count < sizeof bytes);
  bytes[count / 2] ^= 4;
  program_write(path, bytes, count);
  expect_refused(path, "", 1, "its checksum is wrong");
  bytes[count / 2] ^= 4;
  program_write(path, bytes, count - 100);
  expect_refused(path, "", 1, "--until");
  free(program_good("replay %s --until 5", path));
  uint64_t head_bytes; /* of what the first section holds; its header stands behind 16 bytes */
  memcpy(&head_bytes, bytes + 32, sizeof head_bytes);
  program_write(path, bytes, 48 + head_bytes + 10);
  expect_refused(path, " --until 5", 1, "it has no whole frame");
}

Test(replay, what_cannot_be_replayed_is_refused_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"replay", 2, "give one file"}, {"replay /nowhere/at-all", 1, "cannot read the record"},
                          {"replay /dev/null", 1, "cannot read the record"}, {"replay x --until 0", 2, "--until"},
                          {"run fixed --agents 10 --record /nowhere/at-all", 1, "choose another file"});
}
