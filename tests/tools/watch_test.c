/* `muster run townsfolk --watch NAME`. */
#include "program.h"

#define DAY "run townsfolk --virtual --agents 98 --hz 4 --warm-up 0 --frames 5760"

Test(watch, tells_a_day_by_the_clock_and_then_reports_as_ever) {
  program_run *run = program_start(DAY " --watch Anna-of-Ashford --workers 2");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  static const char *const says[] = {"Watching Anna of Ashford, baker. Strongest desires: ",
                                     "runs at level ",
                                     "--  Importance: ",
                                     "wants to eat",
                                     "done: eat",
                                     "wants to sleep",
                                     "done: sleep",
                                     "gets 3 coins",
                                     "day 1 06:",
                                     "day 2 0",
                                     "meals_eaten"};
  for (size_t i = 0; i < sizeof says / sizeof *says; i++)
    cr_assert_not_null(strstr(run->output, says[i]), "no '%s' in: %s", says[i], run->output);
  free(run);
}

Test(watch, tells_the_same_whatever_the_workers) {
  program_run *one = program_start(DAY " --watch Clara --workers 1 --capacity 0.3ms");
  program_run *three = program_start(DAY " --watch Clara --workers 3 --capacity 0.3ms");
  cr_assert_eq(one->status, 0, "%s", one->errors);
  size_t told = (size_t)(strstr(one->output, "\ntownsfolk: ") - one->output);
  cr_assert_gt(told, 2000);
  cr_assert_eq(strncmp(one->output, three->output, told), 0, "%s", three->output);
  free(one);
  free(three);
}

Test(watch, refuses_what_cannot_be_watched) {
  PROGRAM_EXPECT_REFUSALS(
      {"run townsfolk --virtual --watch Gandalf", 2, "nobody is called 'Gandalf'; there are 'Anna "},
      {"run wildlife --watch Anna", 2, "'wildlife' has no agent to watch; use the scenario 'townsfolk'"},
      {"run townsfolk --watch Anna --json -", 2, "--watch writes to standard output"},
      {"run townsfolk --watch Anna --trace -", 2, "--watch writes to standard output"},
      {"explain townsfolk --watch Anna", 2, "--watch is for `muster run`"},
      {"run townsfolk --agents 1", 1, "1 agent is no town"}, {"run townsfolk --watch", 2, "wants a value"});
}

Test(watch, leaves_the_report_for_machines_to_a_file) {
  program_run *run = program_start("run townsfolk --virtual --agents 49 --frames 30 --watch Anna --json /dev/null");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_assert_not_null(strstr(run->output, "Watching Anna"));
  free(run);
}

/* Characters find their town by their state, so a record has all that a replay needs. */
Test(watch, a_recorded_run_of_townsfolk_is_replayed) {
  char path[] = "/tmp/muster-test-XXXXXX", line[256];
  int descriptor = mkostemp(path, O_CLOEXEC);
  cr_assert_geq(descriptor, 0);
  close(descriptor);
  snprintf(line, sizeof line, "run townsfolk --agents 98 --frames 60 --no-pace --workers 2 --record %s", path);
  program_run *recorded = program_start(line);
  cr_assert_eq(recorded->status, 0, "%s", recorded->errors);
  snprintf(line, sizeof line, "replay %s", path);
  program_run *replayed = program_start(line);
  cr_assert_eq(replayed->status, 0, "%s", replayed->errors);
  cr_assert_not_null(strstr(replayed->output, "bit for bit"));
  unlink(path);
  free(recorded);
  free(replayed);
}
