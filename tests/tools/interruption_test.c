/* What a run that is interrupted says, and what it leaves behind. */
#include "terminal.h"

static char folder[] = "/tmp/muster-test-XXXXXX";

static void make_folder(void) {
  cr_assert_not_null(mkdtemp(folder));
  unsetenv("COLUMNS");
}

static void remove_file(const char *name) {
  unlink(formed("%s/%s", folder, name));
}

static void remove_folder(void) {
  remove_file("report.json");
  remove_file("trace.json");
  remove_file("night.run");
  rmdir(folder);
}

TestSuite(interruption, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* The folder's name replaces each @ of the line. */
static terminal *start(const char *line, unsigned short columns, const char *output, const char *awaited) {
  char words[512] = "";
  for (; *line; line++) {
    char letter[2] = {*line, '\0'};
    strcat(words, *line == '@' ? folder : letter);
  }
  return terminal_start(words, columns, output, awaited);
}

static void expect_partial_report(int signal) {
  terminal_interrupt(
      start("run tan-wong --virtual --frames 1000000 --json @/report.json", 80, "/dev/null", " of 1000000"), signal);
  json_auto_t *json = program_load(formed("%s/report.json", folder));
  cr_assert_gt(program_number(json, "frames"), 0);
  cr_assert_lt(program_number(json, "frames"), 1000000);
  cr_assert(program_true(json, "interrupted"));
  cr_assert_eq(program_entries(folder), 1);
}

Test(interruption, the_report_is_of_what_was_run_and_says_so_and_so_does_the_status) {
  expect_partial_report(SIGINT);
  expect_partial_report(SIGTERM);
}

Test(interruption, a_run_to_its_end_was_not_interrupted) {
  json_auto_t *json = program_json("run tan-wong --virtual --frames 3 --warm-up 0 --json -");
  cr_assert(json_is_false(program_member(json, "interrupted")));
}

Test(interruption, people_read_it_too_and_in_a_replay_of_its_record) {
  const char *path = formed("%s/report.json", folder);
  terminal_interrupt(start("run tan-wong --virtual --frames 900000 --record @/night.run", 80, path, " of 900000"),
                     SIGTERM);
  SCOPED(free_memory) char *text = program_read(path);
  cr_assert(strstr(text, " of 900,000 frames at ") && strstr(text, "INTERRUPTED by SIGTERM"), "%s", text);
  SCOPED_RUN *whole = program_good("replay %s/night.run", folder),
             *part = program_good("replay %s/night.run --until 31", folder);
  cr_assert_not_null(strstr(whole->output, "INTERRUPTED when it was recorded"), "%s", whole->output);
  cr_assert_null(strstr(part->output, "INTERRUPTED"), "%s", part->output);
}

Test(interruption, in_the_warm_up_there_is_nothing_to_report) {
  terminal_interrupt(
      start("run tan-wong --virtual --warm-up 1000000 --json @/report.json", 80, "/dev/null", " of 1000000"), SIGINT);
  cr_assert_eq(program_entries(folder), 0);
}

/* The program is killed, so that it cannot have tidied up: results are begun when they are known. */
Test(interruption, nothing_stays_where_results_were_to_be_written) {
  int ended = terminal_end(start("run tan-wong --virtual --frames 1000000 --json @/report.json --trace @/trace.json",
                                 80, "/dev/null", " of 1000000"),
                           SIGKILL);
  cr_assert(WIFSIGNALED(ended));
  cr_assert_eq(program_entries(folder), 0);
  ended = terminal_end(start("repro wright --json @/report.json", 80, "/dev/null", "wright: "), SIGINT);
  cr_assert(WIFSIGNALED(ended));
  cr_assert_eq(program_entries(folder), 0);
}

/* No line between two returns may be wider than the terminal, or parts of it would stay. */
static void expect_lines_to_fit(const char *seen, size_t columns) {
  for (const char *next = seen; *next;) {
    size_t length = strcspn(next, "\r\n\033");
    cr_expect(length < columns, "%zu columns: %.*s", length, (int)length, next);
    next += length + strspn(next + length, "\r\n");
    if (*next == '\033') next += strcspn(next, "K") + 1;
  }
}

Test(interruption, progress_shows_the_warm_up_and_fits_the_terminal) {
  terminal *run = start("run wildlife --agents 3000 --virtual --warm-up 400000", 44, "/dev/null", " of 400000");
  expect_lines_to_fit(run->seen, 44);
  PROGRAM_EXPECT_SAYS(run->seen, "making the world of 'wildlife'", "warming up, frame ");
  terminal_end(run, SIGINT);
}

Test(interruption, repro_wright_shows_what_it_tries) {
  terminal *run = start("repro wright", 60, "/dev/null", "wright: naive, trying 40 agents");
  expect_lines_to_fit(run->seen, 60);
  terminal_end(run, SIGKILL);
}
