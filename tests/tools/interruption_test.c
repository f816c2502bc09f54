/* What a run that is interrupted says, and what it leaves behind. */
#include "program.h"

#include <dirent.h>
#include <pty.h>
#include <signal.h>

enum { SEEN_BYTES = 65536 };

typedef struct started {
  pid_t process;
  int terminal;
  char seen[SEEN_BYTES]; /* on it */
} started;

static char folder[] = "/tmp/muster-test-XXXXXX";

static void make_folder(void) {
  cr_assert_not_null(mkdtemp(folder));
  unsetenv("COLUMNS");
}

static void remove_file(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  unlink(path);
}

static void remove_folder(void) {
  remove_file("report.json");
  remove_file("trace.json");
  remove_file("night.run");
  rmdir(folder);
}

TestSuite(interruption, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* Starts the program with a terminal of so many columns as its standard error and waits until `awaited` stands there.
 * The folder's name replaces each @ of the line. */
static started *start(const char *line, unsigned short columns, const char *output, const char *awaited) {
  char words[512] = "", *arguments[PROGRAM_ARGUMENTS_MAX];
  for (; *line; line++) {
    char letter[2] = {*line, '\0'};
    strcat(words, *line == '@' ? folder : letter);
  }
  started *run = calloc(1, sizeof *run);
  cr_assert_not_null(run);
  struct winsize size = {.ws_row = 24, .ws_col = columns};
  int other;
  posix_spawn_file_actions_t actions;
  program_split(words, arguments);
  cr_assert_eq(openpty(&run->terminal, &other, NULL, NULL, &size), 0);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, other, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&run->process, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(other);
  for (size_t length = 0; !strstr(run->seen, awaited) && length < sizeof run->seen - 1;) {
    ssize_t got = read(run->terminal, run->seen + length, sizeof run->seen - 1 - length);
    cr_assert_gt(got, 0, "the program ended without '%s': %s", awaited, run->seen);
    length += (size_t)got;
    run->seen[length] = '\0';
  }
  return run;
}

/* Ends it by a signal; the status as waitpid gives it. */
static int end(started *run, int signal) {
  int ended;
  cr_assert_eq(kill(run->process, signal), 0);
  cr_assert_eq(waitpid(run->process, &ended, 0), run->process);
  close(run->terminal);
  free(run);
  return ended;
}

/* Files in the folder. */
static int files(void) {
  DIR *directory = opendir(folder);
  int count = 0;
  while (readdir(directory)) count++;
  closedir(directory);
  return count - 2;
}

static json_t *report(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/report.json", folder);
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(json, "there is no report");
  return json;
}

static void expect_partial_report(int signal) {
  int ended = end(start("run tan-wong --virtual --frames 1000000 --json @/report.json", 80, "/dev/null", " of 1000000"),
                  signal);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 128 + signal, "status %x", ended);
  json_t *json = report();
  cr_assert_gt(program_number(json, "frames"), 0);
  cr_assert_lt(program_number(json, "frames"), 1000000);
  cr_assert(json_is_true(program_member(json, "interrupted")));
  json_decref(json);
  cr_assert_eq(files(), 1);
}

Test(interruption, the_report_is_of_what_was_run_and_says_so_and_so_does_the_status) {
  expect_partial_report(SIGINT);
  expect_partial_report(SIGTERM);
}

Test(interruption, a_run_to_its_end_was_not_interrupted) {
  json_t *json = program_json("run tan-wong --virtual --frames 3 --warm-up 0 --json -");
  cr_assert(json_is_false(program_member(json, "interrupted")));
  json_decref(json);
}

static program_run *replay(const char *options) {
  char line[256];
  snprintf(line, sizeof line, "replay %s/night.run%s", folder, options);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  return run;
}

Test(interruption, people_read_it_too_and_in_a_replay_of_its_record) {
  char path[128], text[4096] = "";
  snprintf(path, sizeof path, "%s/report.json", folder);
  int ended =
      end(start("run tan-wong --virtual --frames 900000 --record @/night.run", 80, path, " of 900000"), SIGTERM);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 128 + SIGTERM, "status %x", ended);
  FILE *file = fopen(path, "re");
  cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
  fclose(file);
  cr_assert(strstr(text, " of 900,000 frames at ") && strstr(text, "INTERRUPTED by SIGTERM"), "%s", text);
  program_run *whole = replay(""), *part = replay(" --until 31");
  cr_assert_not_null(strstr(whole->output, "INTERRUPTED when it was recorded"), "%s", whole->output);
  cr_assert_null(strstr(part->output, "INTERRUPTED"), "%s", part->output);
  free(whole);
  free(part);
}

Test(interruption, in_the_warm_up_there_is_nothing_to_report) {
  int ended = end(
      start("run tan-wong --virtual --warm-up 1000000 --json @/report.json", 80, "/dev/null", " of 1000000"), SIGINT);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 128 + SIGINT, "status %x", ended);
  cr_assert_eq(files(), 0);
}

/* The program is killed, so that it cannot have tidied up: results are begun when they are known. */
Test(interruption, nothing_stays_where_results_were_to_be_written) {
  int ended = end(start("run tan-wong --virtual --frames 1000000 --json @/report.json --trace @/trace.json", 80,
                        "/dev/null", " of 1000000"),
                  SIGKILL);
  cr_assert(WIFSIGNALED(ended));
  cr_assert_eq(files(), 0);
  ended = end(start("repro wright --json @/report.json", 80, "/dev/null", "wright: "), SIGINT);
  cr_assert(WIFSIGNALED(ended));
  cr_assert_eq(files(), 0);
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
  started *run = start("run wildlife --agents 3000 --virtual --warm-up 400000", 44, "/dev/null", " of 400000");
  expect_lines_to_fit(run->seen, 44);
  cr_expect_not_null(strstr(run->seen, "making the world of 'wildlife'"));
  cr_expect_not_null(strstr(run->seen, "warming up, frame "));
  end(run, SIGINT);
}

Test(interruption, repro_wright_shows_what_it_tries) {
  started *run = start("repro wright", 60, "/dev/null", "wright: naive, trying 40 agents");
  expect_lines_to_fit(run->seen, 60);
  end(run, SIGKILL);
}
