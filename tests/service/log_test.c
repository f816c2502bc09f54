/* The lines of the log: what they begin with, and that no line looks like one that somebody else has said. */
#include "service/log.h"
#include "service/supervise/output.h"

#include "served.h"

#include <regex.h>
#include <sys/ioctl.h>

static char text[16384];

/* Standard error goes there meanwhile. */
static void say_into(int file, void (*say)(void)) {
  int before = dup(STDERR_FILENO);
  dup2(file, STDERR_FILENO);
  say();
  dup2(before, STDERR_FILENO);
  close(before);
}

static void collect(void (*say)(void)) {
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  say_into(ends[1], say);
  close(ends[1]);
  ssize_t length = read(ends[0], text, sizeof text - 1);
  cr_assert_gt(length, 0);
  text[length] = '\0';
  close(ends[0]);
}

static void expect_line(const char *pattern) {
  regex_t compiled;
  cr_assert_eq(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB), 0);
  cr_expect_eq(regexec(&compiled, text, 0, NULL, 0), 0, "%s is not as %s", text, pattern);
  regfree(&compiled);
}

#define TIME "^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z "

static void say_warning(void) {
  log_line(MUSTER_LOG_WARNING, "world %s: two\nlines", "main");
}

static const char *given;

static void say_given(void) {
  log_of_world("main", given);
}

static void collect_of_world(const char *line) {
  given = line;
  collect(say_given);
}

static void on_a_terminal(void) {
  unsetenv("JOURNAL_STREAM");
  unsetenv("MUSTERD_WORLD");
}

TestSuite(log, .init = on_a_terminal);

Test(log, has_time_level_and_world) {
  collect(say_warning);
  expect_line(TIME "musterd: warning: world main: two lines\n$");
  collect_of_world("musterd: world other has failed");
  expect_line(TIME "musterd\\[main\\]: musterd: world other has failed\n$");
  collect_of_world("<3>its frame failed");
  expect_line(TIME "musterd\\[main\\]: error: its frame failed\n$");
}

Test(log, of_the_journal_has_levels_and_leaves_it_the_time) {
  setenv("JOURNAL_STREAM", "8:1234", 1);
  collect(say_warning);
  expect_line("^<4>world main: two lines\n$");
  collect_of_world("<3>its frame failed");
  expect_line("^<3>\\[main\\] its frame failed\n$");
}

Test(log, of_a_worlds_process_leaves_the_rest_to_who_reads_it) {
  setenv("MUSTERD_WORLD", "main", 1);
  collect(say_warning);
  expect_line("^<4>world main: two lines\n$");
}

/* Cursors, ends of lines, directions, and bytes that are nothing. */
Test(log, shows_what_could_make_a_line_look_like_another) {
  static const char *const pairs[][2] = {
      {"plain \t text, gr\303\274\303\237e \xe2\x82\xac \xf0\x9f\x90\xba",
       "plain \t text, gr\303\274\303\237e \xe2\x82\xac \xf0\x9f\x90\xba"},
      {"\rmusterd: error: gone", "\\x0dmusterd: error: gone"},
      {"\x1b[2K\x1b[1Gmusterd", "\\x1b[2K\\x1b[1Gmusterd"},
      {"\x7f\x08", "\\x7f\\x08"},
      {"\302\2332K", "\\xc2\\x9b2K"},
      {"\342\200\256txet \xe2\x81\xa6 \xe2\x80\xa8 \xe2\x80\x8f",
       "\\xe2\\x80\\xaetxet \\xe2\\x81\\xa6 \\xe2\\x80\\xa8 \\xe2\\x80\\x8f"},
      {"\xff\xc3", "\\xff\\xc3"},
  };
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    collect_of_world(pairs[i][0]);
    const char *wanted = formed("musterd[main]: %s\n", pairs[i][1]);
    cr_expect(strstr(text, wanted), "%s has no %s", text, wanted);
  }
}

Test(log, takes_the_longest_line_of_the_strangest_bytes) {
  static char longest[LOG_WORLD_BYTES + 1];
  memset(longest, 0xff, LOG_WORLD_BYTES);
  given = longest;
  text[0] = '\0';
  FILE *file = tmpfile();
  say_into(fileno(file), say_given);
  cr_expect_gt(lseek(fileno(file), 0, SEEK_END), 4 * LOG_WORLD_BYTES);
  fclose(file);
}

/* ------------------------------------------------------------------------------------------------------- a daemon's */

/* A world writes so many lines of a KiB, and the loop takes what it will of them. Returns the bytes that it leaves. */
static int pass_lines(world_output *output, int end, uint32_t lines) {
  static char line[1024];
  int left = 0;
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (uint32_t i = 0; i < lines; i++) {
    cr_assert_eq(write(end, line, sizeof line), (ssize_t)sizeof line);
    uv_run(output->poll.loop, UV_RUN_NOWAIT);
  }
  for (int turn = 0; turn < 100; turn++) uv_run(output->poll.loop, UV_RUN_NOWAIT);
  cr_assert_eq(ioctl(output->pipe, FIONREAD, &left), 0);
  return left;
}

/* However much it has written in its life: each look begins to count anew, also behind one with too much. */
Test(log, takes_what_a_world_writes_up_to_a_bound_between_two_looks) {
  enum { LOOKS = 20, FEW = 40, MANY = 100, BOUND = 64 };
  world_output output;
  uv_loop_t loop;
  cr_assert_eq(uv_loop_init(&loop), 0);
  FILE *file = tmpfile();
  int before = dup(STDERR_FILENO), end = output_begin(&output, &loop, "main");
  cr_assert_geq(end, 0);
  dup2(fileno(file), STDERR_FILENO);
  for (uint32_t i = 0; i < LOOKS; i++) {
    uint32_t lines = i == LOOKS / 2 ? MANY : FEW;
    cr_assert_eq(pass_lines(&output, end, lines), lines == MANY ? (MANY - BOUND) * 1024 : 0, "look %u", i);
    output_go_on(&output);
    cr_assert_eq(pass_lines(&output, end, 0), 0, "look %u", i);
    output_go_on(&output);
  }
  output_end(&output);
  dup2(before, STDERR_FILENO);
  close(before), close(end);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0);
  uint32_t lines = 0, told = 0;
  rewind(file);
  while (fgets(text, sizeof text, file)) {
    lines += strstr(text, "musterd[main]: xxx") != NULL;
    told += strstr(text, "it has to wait") != NULL;
  }
  cr_expect_eq(lines, (LOOKS - 1) * FEW + MANY);
  cr_expect_eq(told, 1);
  fclose(file);
}

/* Each line of the log says who said it. */
TestSuite(log_of_daemon, .fini = stop, .timeout = 60);

Test(log_of_daemon, says_of_each_line_of_a_module_that_it_is_its_world_s) {
  daemon_prepare(&service);
  daemon_write(&service, "how", "say populate\n");
  launch_ready("--isolation process --modules " MUSTER_TEST_MODULES " --world main=crasher --path @/how");
  await_log("musterd[main]: <end>");
  SCOPED(free_memory) char *log = daemon_log(&service);
  expect_in(log, "Z musterd[main]: musterd: error: world other has failed: its process died\n");
  expect_in(log, "Z musterd[main]: error: world other is gone\n");
  expect_in(log, "Z musterd[main]: \\x1b[1Aworld other\\x0dworld third\n");
  expect_in(log, "Z musterd: world main runs in process ");
  for (const char *line = log; *line; line = strchr(line, '\n') + 1) {
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    expect_line(TIME "musterd(\\[main\\])?: ");
  }
}
