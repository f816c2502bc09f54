/* `muster run townsfolk --watch NAME`. */
#include "program.h"

#define DAY "run townsfolk --virtual --agents 98 --hz 4 --warm-up 0 --frames 5760"

Test(watch, tells_a_day_by_the_clock_and_then_reports_as_ever) {
  PROGRAM_EXPECT_PRINTS(DAY " --watch Anna-of-Ashford --workers 2",
                        "Watching Anna of Ashford, baker. Strongest desires: ", "runs at level ",
                        "--  Importance: ", "wants to eat", "done: eat", "wants to sleep", "done: sleep",
                        "gets 3 coins", "day 1 06:", "day 2 0", "meals_eaten");
}

Test(watch, tells_the_same_whatever_the_workers) {
  SCOPED_RUN *one = program_good(DAY " --watch Clara --workers 1 --capacity 0.3ms");
  SCOPED_RUN *three = program_good(DAY " --watch Clara --workers 3 --capacity 0.3ms");
  size_t told = (size_t)(strstr(one->output, "\ntownsfolk: ") - one->output);
  cr_assert_gt(told, 2000);
  cr_assert_eq(strncmp(one->output, three->output, told), 0, "%s", three->output);
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
  SCOPED_RUN *run = program_good("run townsfolk --virtual --agents 49 --frames 30 --watch Anna --json /dev/null");
  cr_assert_not_null(strstr(run->output, "Watching Anna"));
}

/* Characters find their town by their state, so a record has all that a replay needs. */
Test(watch, a_recorded_run_of_townsfolk_is_replayed) {
  SCOPED_FILE file = program_file_make();
  free(program_good("run townsfolk --agents 98 --frames 60 --no-pace --workers 2 --record %s", file.path));
  SCOPED_RUN *replayed = program_good("replay %s", file.path);
  cr_assert_not_null(strstr(replayed->output, "bit for bit"));
}
