/* Under the virtual clock a seed decides everything, whatever the number of workers. */
#include "program.h"

/* Cuts the line that names the member out of a document. */
static void cut_line(char *document, const char *member) {
  char *found = strstr(document, member);
  cr_assert_not_null(found, "there is no %s", member);
  while (found > document && found[-1] != '\n') found--;
  char *next = strchr(found, '\n');
  cr_assert_not_null(next);
  memmove(found, next + 1, strlen(next));
}

/* Cuts a member with all of its lines out of a document. */
static void cut_object(char *document, const char *member) {
  char *found = strstr(document, member), *end = found ? strchr(found, '}') : NULL;
  cr_assert(found && end, "there is no %s", member);
  memmove(found, end + 1, strlen(end));
}

/* The report of a run, with what stands in `options`, on so many workers, without the line that says how many. */
static program_run *report_with(const char *scenario, const char *options, int workers, int seed) {
  program_run *run =
      program_good("run %s --virtual --seed %d --workers %d %s --json -", scenario, seed, workers, options);
  cut_line(run->output, "\"workers\"");
  return run;
}

/* Memory follows from the number of shards; nothing else does. */
static void expect_same_in_all_shards(const char *scenario) {
  static const char *const options[] = {"", "--shards 1", "--shards 2", "--shards 16", "--shards 256"};
  SCOPED_RUN *usual = report_with(scenario, options[0], 1, 5);
  cut_object(usual->output, "\"memory\"");
  for (size_t i = 1; i < COUNT_OF(options); i++) {
    SCOPED_RUN *other = report_with(scenario, options[i], i % 2 ? 1 : 4, 5);
    cut_object(other->output, "\"memory\"");
    cr_assert_str_eq(other->output, usual->output, "%s of %s changes it", options[i], scenario);
  }
}

Test(determinism, every_scenario_is_the_same_in_any_number_of_shards) {
  static const char *const scenarios[] = {"wildlife --agents 3000 --frames 100 --capacity 0.5ms",
                                          "hostile --agents 2000 --frames 100 --capacity 2ms",
                                          "flashcrowd --agents 2000 --frames 60 --capacity 1ms",
                                          "herd --agents 4096 --frames 60 --capacity 1ms",
                                          "townsfolk --agents 1000 --frames 60 --capacity 2ms",
                                          "siege --agents 2000 --frames 60 --capacity 2ms",
                                          "fixed --agents 5000 --frames 100 --capacity 0.3ms",
                                          "pathstorm --agents 300 --frames 40 --capacity 2ms",
                                          "tan-wong --agents 400 --frames 60",
                                          "empty --agents 2000 --frames 30"};
  for (size_t i = 0; i < COUNT_OF(scenarios); i++) expect_same_in_all_shards(scenarios[i]);
}

static void expect_same_on_all_workers(const char *scenario) {
  SCOPED_RUN *one = report_with(scenario, "", 1, 7);
  for (int workers = 2; workers <= 8; workers *= 2) {
    SCOPED_RUN *many = report_with(scenario, "", workers, 7);
    cr_assert_str_eq(many->output, one->output, "%d workers of %s differ from one", workers, scenario);
  }
  SCOPED_RUN *other = report_with(scenario, "", 1, 8);
  cut_line(one->output, "\"seed\"");
  cut_line(other->output, "\"seed\"");
  cr_assert(strcmp(one->output, other->output) != 0, "the seed changes nothing in %s", scenario);
}

Test(determinism, wildlife_is_the_same_on_any_number_of_workers) {
  expect_same_on_all_workers("wildlife --agents 1000 --frames 200");
}

Test(determinism, wildlife_short_of_time_is_the_same_on_any_number_of_workers) {
  expect_same_on_all_workers("wildlife --agents 1000 --frames 200 --capacity 0.2ms");
}

Test(determinism, tan_wong_is_the_same_on_any_number_of_workers) {
  expect_same_on_all_workers("tan-wong --agents 400 --frames 100");
}
