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

/* The report of a run on so many workers, without the line that says how many. */
static program_run *report_of(const char *scenario, int workers, int seed) {
  char line[256];
  snprintf(line, sizeof line, "run %s --virtual --seed %d --workers %d --json -", scenario, seed, workers);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "muster %s: %s", line, run->errors);
  cut_line(run->output, "\"workers\"");
  return run;
}

static void expect_same_on_all_workers(const char *scenario) {
  program_run *one = report_of(scenario, 1, 7);
  for (int workers = 2; workers <= 8; workers *= 2) {
    program_run *many = report_of(scenario, workers, 7);
    cr_assert_str_eq(many->output, one->output, "%d workers of %s differ from one", workers, scenario);
    free(many);
  }
  program_run *other = report_of(scenario, 1, 8);
  cut_line(one->output, "\"seed\"");
  cut_line(other->output, "\"seed\"");
  cr_assert(strcmp(one->output, other->output) != 0, "the seed changes nothing in %s", scenario);
  free(one);
  free(other);
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
