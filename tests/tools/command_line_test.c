/* What the program answers to bad input, and that it answers at all. */
#include "program.h"

#include <sys/stat.h>

Test(command_line, settings_of_a_scenario_are_checked_by_its_table) {
  PROGRAM_EXPECT_REFUSALS({"run fixed --set side", 2, "--set is 'side'; give KEY=VALUE"},
                          {"run fixed --set side=9", 2, "side is '9'; give a number from 10 to 1000000"},
                          {"run fixed --set side=wide", 2, "side is 'wide'; give a number"},
                          {"run fixed --set sid=100", 2, "module fixed has no setting 'sid'; did you mean 'side'"},
                          {"run townsfolk --set side=100", 2, "module townsfolk has no settings"});
  PROGRAM_EXPECT_TELLINGS({"run fixed --help-settings", "--set side=10000"});
}

Test(command_line, refuses_unknown_commands_and_names_the_nearest) {
  PROGRAM_EXPECT_REFUSALS({"", 2, "give a command"}, {"rum", 2, "did you mean 'run'"},
                          {"xyzzy", 2, "unknown command 'xyzzy'; `muster --help`"});
}

Test(command_line, refuses_unknown_scenarios_and_lists_the_known) {
  PROGRAM_EXPECT_REFUSALS_OF("run", {"wildlive", 2, "did you mean 'wildlife'"}, {"wildlive", 2, "tan-wong"},
                             {"moon", 2, "unknown scenario 'moon'; known: wildlife, population, tan-wong"},
                             {"wildlife tan-wong", 2, "one scenario at a time"});
}

Test(command_line, refuses_options_that_it_does_not_know_or_that_lack_a_value) {
  PROGRAM_EXPECT_REFUSALS({"run --agnets 5", 2, "unknown option --agnets"}, {"run -x", 2, "unknown option -x"},
                          {"run --agents", 2, "--agents wants a value"}, {"run --virtual=yes", 2, "takes no value"},
                          {"repro tan-wong --seed 3", 2, "unknown option --seed"});
}

/* getopt_long would take --agent for --agents, and run five agents. */
Test(command_line, takes_no_option_but_by_its_whole_name_and_names_the_nearest) {
  PROGRAM_EXPECT_REFUSALS(
      {"run --agent 5", 2, "unknown option --agent; did you mean '--agents'?"},
      {"run --frame=5", 2, "unknown option --frame; did you mean '--frames'?"},
      {"run wildlife --virt", 2, "did you mean '--virtual'?"},
      {"run --agents 5 --act 3", 2, "did you mean '--activation-delay'?"},
      {"explain --agent 5 --work 2", 2, "did you mean '--workers'?"},
      {"replay --unti 4 file", 2, "did you mean '--until'?"}, {"repro wright --plot x", 2, "did you mean '--plots'?"},
      {"bench dispatch --quik", 2, "did you mean '--quick'?"}, {"bench scale --agent 5", 2, "did you mean '--agents'?"},
      {"run --xyzzy", 2, "unknown option --xyzzy; see `muster run --help`"});
}

Test(command_line, refuses_zero_and_absurd_counts) {
  PROGRAM_EXPECT_REFUSALS_OF(
      "run", {"--agents 0", 2, "--agents is '0'; give a whole number from 1 to"},
      {"--agents 99999999999999999999999", 2, "--agents"}, {"--agents -5", 2, "--agents"},
      {"--agents 1e3", 2, "--agents"}, {"--agents 0x10", 2, "--agents"}, {"--agents 1.5", 2, "--agents"},
      {"--agents=", 2, "--agents"}, {"--workers 0", 2, "--workers"}, {"--workers 257", 2, "from 1 to 256"},
      {"--frames 0", 2, "--frames"}, {"--frames 1000001", 2, "--frames"}, {"--observers 0", 2, "--observers"},
      {"--observers 65537", 2, "--observers"}, {"--seed -1", 2, "--seed"}, {"--seed 18446744073709551616", 2, "--seed"},
      {"--warm-up 1000001", 2, "--warm-up"});
}

Test(command_line, refuses_durations_without_unit_and_out_of_bounds) {
  PROGRAM_EXPECT_REFUSALS_OF(
      "run", {"--budget 10", 2, "such as 10ms"}, {"--budget 5000ns", 2, "unit us, ms or s"},
      {"--budget 0ms", 2, "from 10 us to 10 s"}, {"--budget 9us", 2, "from 10 us to 10 s"},
      {"--budget 11s", 2, "from 10 us to 10 s"}, {"--budget nanms", 2, "--budget"}, {"--budget -1ms", 2, "--budget"},
      {"--budget .5ms", 2, "--budget"}, {"--budget 1.ms", 2, "--budget"}, {"--budget 1e1ms", 2, "--budget"},
      {"--budget 99999999999999999999s", 2, "--budget"}, {"--virtual --capacity 0ms", 2, "--capacity"});
}

Test(command_line, refuses_costs_that_no_update_can_have_and_scenarios_that_take_none) {
  PROGRAM_EXPECT_REFUSALS(
      {"run fixed --cost 5", 2, "such as 10ms"}, {"run fixed --cost 100ns", 2, "unit us, ms or s"},
      {"run fixed --cost 0us", 2, "from 100 ns to 500 us"}, {"run fixed --cost 0.09us", 2, "from 100 ns to 500 us"},
      {"run fixed --cost 501us", 2, "from 100 ns to 500 us"}, {"run fixed --cost -5us", 2, "--cost"},
      {"run fixed --cost=", 2, "--cost"}, {"run fixed --cost", 2, "--cost wants a value"},
      {"run --cost 5us", 2, "'wildlife' takes no --cost"}, {"run tan-wong --cost 5us", 2, "use the scenario 'fixed'"});
}

/* The same world, overloaded alike: only the rule differs, and with it how far periods stretch on average. */
Test(command_line, fits_periods_by_the_rule_that_was_asked_for) {
#define OVERLOADED "run wildlife --virtual --agents 3000 --capacity 0.3ms --workers 1 --frames 30 --json - --fit "
  json_auto_t *first = program_json(OVERLOADED "elastic"), *second = program_json(OVERLOADED "square-root");
  cr_expect_float_eq(program_number(first, "pressure.mean"), program_number(second, "pressure.mean"), 0.1);
  cr_expect_lt(program_number(second, "period.mean_deviation_ns"), program_number(first, "period.mean_deviation_ns"));
}

Test(command_line, hands_the_cost_of_an_update_to_the_scenario) {
  const char *line = "run fixed --virtual --cost 20us --agents 200 --observers 3 --workers 1 --frames 30 --json -";
  json_auto_t *json = program_json(line);
  PROGRAM_EXPECT_VALUES(json, {"agents", 200}, {"longest_claim_ns", 20000}, {"longest_atom_ns", 20000});
}

Test(command_line, refuses_absurd_rates) {
  PROGRAM_EXPECT_REFUSALS_OF("run", {"--hz 0", 2, "--hz"}, {"--hz 0.01", 2, "--hz"}, {"--hz 10001", 2, "--hz"},
                             {"--hz inf", 2, "--hz"}, {"--hz nan", 2, "--hz"}, {"--hz 29.9701", 2, "--hz"});
}

Test(command_line, refuses_options_that_contradict) {
  PROGRAM_EXPECT_REFUSALS({"run --capacity 5ms", 2, "add --virtual"}, {"run --up x", 2, "give y or z"},
                          {"run --fit root", 2, "give importance, elastic or square-root"},
                          {"run --machine --no-audit", 2, "leave out --no-audit"},
                          {"run --machine --virtual", 2, "leave out --virtual"},
                          {"run --machine --no-pace", 2, "leave out --no-pace"},
                          {"run --machine --budget 20ms --hz 30", 2, "a frame is 33.3 ms; lower --budget"},
                          {"explain --agent 1 --machine --audit", 2, "--machine is for `muster run`"});
}

Test(command_line, refuses_one_file_for_two_results_and_results_over_what_is_read) {
  PROGRAM_EXPECT_REFUSALS(
      {"run --json /tmp/x.json --trace /tmp/x.json", 2, "--json and --trace are the same file '/tmp/x.json'"},
      {"run --json /tmp/x.json --trace /tmp/../tmp//x.json", 2, "give each a file of its own"},
      {"run --record /tmp/x.json --trace /tmp/x.json", 2, "--trace and --record are the same file"},
      {"run --json - --trace -", 2, "--json and --trace both want standard output"},
      {"run --json - --record -", 2, "--json and --record both want standard output"},
      {"run " MUSTER_SOURCE_DIR "/src/scenarios/village.csv --json " MUSTER_SOURCE_DIR "/src/scenarios/village.csv", 2,
       "--json would overwrite the population"},
      {"replay " MUSTER_SOURCE_DIR "/README.md --json " MUSTER_SOURCE_DIR "/README.md", 2,
       "--json would overwrite the record"});
}

Test(command_line, refuses_populations_that_cannot_be_read) {
  PROGRAM_EXPECT_REFUSALS({"run /nowhere/npcs.csv", 1, "cannot read the population '/nowhere/npcs.csv': No such file"},
                          {"run nowhere.csv", 1, "cannot read the population 'nowhere.csv'"},
                          {"run /etc/", 1, "there is no file with a name that ends in .lua in the folder '/etc/'"});
}

Test(command_line, refuses_papers_that_it_does_not_know) {
  PROGRAM_EXPECT_REFUSALS({"repro", 2, "give a paper"}, {"repro tan-wang", 2, "did you mean 'tan-wong'"},
                          {"repro newton", 2, "unknown paper 'newton'; known: all, tan-wong"},
                          {"repro tan-wong all", 2, "one paper at a time"});
}

/* A run of a million frames would take far longer than the test may: the path is looked at first. */
Test(command_line, refuses_unwritable_results_before_the_run, .timeout = 20) {
  PROGRAM_EXPECT_REFUSALS(
      {"run tan-wong --virtual --frames 1000000 --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
      {"run tan-wong --virtual --frames 1000000 --json /tmp", 1, "cannot write '/tmp': Is a directory"},
      {"run tan-wong --virtual --frames 1000000 --json=", 1, "cannot write ''"},
      {"repro tan-wong --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
      {"repro tan-wong --plots /nowhere/plots", 1, "cannot make the folder '/nowhere/plots'"},
      {"repro tan-wong --plots /dev/null", 1, "cannot write into the folder '/dev/null'"});
}

Test(command_line, helps_with_every_command) {
  PROGRAM_EXPECT_TELLINGS({"--help", "usage: muster COMMAND"}, {"-h", "usage: muster COMMAND"},
                          {"--version", "muster "}, {"run --help", "--budget 10ms"},
                          {"run wildlife -h", "--budget 10ms"}, {"explain -h", "--agent most-delayed"},
                          {"repro -h", "tan-wong"}, {"repro --help", "tan-wong"}, {"replay -h", "--until FRAME"},
                          {"bench -h", "--rounds R"}, {"bench control -h", "How it is measured"});
}

Test(command_line, leaves_the_whole_result_or_what_was_there_before) {
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  const char *path = formed("%s/result.json", folder), *population = formed("%s/bad.csv", folder);
  program_write(population, "no,such,columns\n1,2,3\n", 22);
  free(program_good("run tan-wong --virtual --frames 5 --json %s", path));
  json_auto_t *before = program_load(path);
  free(program_ends(1, "run %s --json %s", population, path));
  json_auto_t *after = program_load(path);
  cr_assert(json_equal(before, after));
  cr_assert_eq(program_entries(folder), 2, "something was left behind");
  unlink(path);
  unlink(population);
  rmdir(folder);
}

Test(command_line, records_into_a_pipe_or_file_that_standard_output_is) {
  SCOPED_FILE file = program_file_make();
  SCOPED_RUN *run = program_good("run fixed --virtual --agents 100 --frames 5 --warm-up 1 --record -");
  program_write(file.path, run->output, run->length);
  SCOPED_RUN *replay = program_good("replay %s", file.path);
  cr_assert_not_null(strstr(replay->output, "frames bit for bit"));
}

Test(command_line, writes_through_to_what_is_no_plain_file) {
  struct stat status;
  free(program_good("run tan-wong --virtual --frames 5 --json /dev/null"));
  cr_assert_eq(stat("/dev/null", &status), 0);
  cr_assert(S_ISCHR(status.st_mode), "the device was replaced by a file");
}
