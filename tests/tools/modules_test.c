/* `muster run` with modules: one's own, and those that ship beside the program. */
#include "program.h"

#include <sys/stat.h>

/* A file of the folder in which the program was built. */
static const char *built(const char *name) {
  const char *program = program_path();
  return formed("%.*s/%s", (int)(strrchr(program, '/') - program), program, name);
}

Test(modules, of_ones_own_are_run_and_replayed) {
  SCOPED_FILE record = program_file_make();
  const char *own = built("tests/modules/walkers.so");
  SCOPED_RUN *run =
      program_good("run %s --virtual --agents 300 --frames 20 --set speed=2 --record %s", own, record.path);
  cr_expect(strstr(run->output, "300 agents") != NULL, "%s", run->output);
  SCOPED_RUN *again = program_good("replay %s --workers 2", record.path);
  cr_expect(strstr(again->output, "frames bit for bit") != NULL, "%s%s", again->output, again->errors);
  PROGRAM_EXPECT_TELLINGS({formed("run %s --help-settings", own), "how fast they walk, as a factor"});
  PROGRAM_EXPECT_REFUSALS({formed("run %s --set speed=21", own), 2, "speed is '21'; give a number from 0 to 20"});
}

Test(modules, that_are_none_are_refused_with_the_reason) {
  SCOPED_FILE file = program_file_make();
  const char *text = formed("%s.so", file.path);
  program_write(text, "no object", 9);
  PROGRAM_EXPECT_REFUSALS_OF(
      "run", {"./missing.so", 1, "cannot load the module ./missing.so: No such file or directory"},
      {text, 1, formed("cannot load the module %s: ", text)},
      {built("tests/odd_modules/mute.so"), 1, "mute.so: it exports no muster_module_get"},
      {built("tests/odd_modules/other_abi.so"), 1, "it was built for ABI 2, this program is for 1; build it anew"});
  unlink(text);
}

Test(modules, that_ship_are_known_by_name_and_missed_where_they_are_not) {
  PROGRAM_EXPECT_TELLINGS({"run --help", "  siege            "}, {"run --help", "  pathstorm-whole  "});
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  const char *alone = formed("%s/muster", folder);
  cr_assert_eq(system(formed("cp %s %s", program_path(), alone)), 0);
  setenv("MUSTER", alone, true);
  PROGRAM_EXPECT_REFUSALS_OF("run", {"siege", 1, "the world 'siege' is a module, and there is no siege.so in"},
                             {"seige", 2, "did you mean 'siege'"});
  SCOPED_RUN *help = program_good("run --help");
  PROGRAM_EXPECT_NEVER(help->output, "  siege  ");
  unlink(alone);
  rmdir(folder);
}

/* Each names it in another way. */
Test(modules, of_a_journal_are_known_again) {
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  const char *own = built("tests/modules/walkers.so"), *roundabout = built("tests/../tests/modules/walkers.so");
  free(program_good("run %s --virtual --agents 100 --frames 10 --journal %s/j", own, folder));
  free(program_good("run %s --virtual --frames 10 --journal %s/j --recover", roundabout, folder));
  free(program_good("run --frames 10 --journal %s/j --recover", folder));
  PROGRAM_EXPECT_REFUSALS({formed("run siege --journal %s/j --recover", folder), 2, "walkers.so', not of 'siege'"});
  cr_assert_eq(system(formed("rm -r %s", folder)), 0);
}

/* They are found by their file, whether or not the module of scripts lies beside the program, too. */
Test(modules, of_a_journal_of_scripts_are_found_by_these) {
  static const char script[] = "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
                               "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end }\n";
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  cr_assert_eq(system(formed("cp %s %s/muster", program_path(), folder)), 0);
  setenv("MUSTER", formed("%s/muster", folder), true);
  program_write(formed("%s/a.lua", folder), script, sizeof script - 1);
  free(program_good("run %s/a.lua --virtual --frames 5 --warm-up 0 --journal %s/j", folder, folder));
  SCOPED_RUN *again = program_good("run --frames 5 --warm-up 0 --journal %s/j --recover", folder);
  cr_expect_not_null(strstr(again->errors, "goes on from frame 5"), "%s", again->errors);
  cr_assert_eq(system(formed("rm -r %s", folder)), 0);
}
