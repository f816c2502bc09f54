/* The command line of musterd as a whole. */
#include "served.h"

#define HOSTS    "--world main=wildlife --agents 50"
#define WILDLIFE "[world main]\nmodule = wildlife\n"

/* Runs it to its end, which it must come to by itself: its status; the caller frees the log. */
static int run(const char *configuration, const char *flags, char **log) {
  daemon_prepare(&service);
  if (configuration) configure(configuration);
  daemon_launch(&service, flags);
  int status = daemon_wait(&service);
  *log = daemon_log(&service);
  daemon_clear(&service);
  return status;
}

static void expect(const char *configuration, const char *flags, int wanted, const char *says) {
  SCOPED(free_memory) char *log = NULL;
  int status = run(configuration, flags, &log);
  cr_expect(status == wanted, "%s: status %d: %s", flags, status, log);
  cr_expect(says ? strstr(log, says) != NULL : *log == '\0', "%s says: %s", flags, log);
}

Test(command, help_and_version_end_well) {
  expect(NULL, "--help", 0, NULL);
  expect(NULL, "-h", 0, NULL);
  expect(NULL, "--version", 0, NULL);
  expect(NULL, "--help --world", 0, NULL);
}

static int run_by_shell(const char *rest, char *text, size_t room) {
  FILE *output = popen(formed("%s %s", getenv("MUSTERD"), rest), "re");
  cr_assert_not_null(output);
  text[fread(text, 1, room - 1, output)] = '\0';
  int status = pclose(output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(command, help_has_flags_of_the_service_and_of_worlds_apart) {
  static char text[1 << 15];
  cr_assert_eq(run_by_shell("--help", text, sizeof text), 0);
  const char *of_service = strstr(text, "\nThe service:\n"), *workers = strstr(text, "\n  --workers ");
  const char *hz = strstr(text, "\n  --hz ");
  cr_assert(of_service && workers && hz, "%s", text);
  cr_assert(hz < of_service && of_service < workers);
}

Test(command, a_version_that_could_not_be_written_is_a_failure) {
  char text[64];
  cr_expect_eq(run_by_shell("--version", text, sizeof text), 0);
  cr_expect_eq(strncmp(text, "musterd ", 8), 0, "%s", text);
  cr_expect_eq(run_by_shell("--version >/dev/full", text, sizeof text), 1);
}

Test(command, check_says_whether_the_settings_are_good_and_starts_nothing) {
  expect(WILDLIFE, "--config @/musterd.conf --check", 0, NULL);
  expect(WILDLIFE "hz = 0\n", "--config @/musterd.conf --check", 2, "musterd.conf:3: hz is '0'");
  expect(WILDLIFE, "--config @/musterd.conf --world main --hz 99 --check", 2, "lower a budget or a rate");
  expect(NULL, "--config @/musterd.conf --check", 2, "musterd.conf: cannot be opened");
}

static void expect_refused(const char *flags, const char *says) {
  expect(NULL, formed(HOSTS " %s", flags), 2, says);
  expect(NULL, formed(HOSTS " %s --check", flags), 2, says);
}

Test(command, files_that_are_none_are_refused_before_anything_is_started, .timeout = 100) {
  char fifo[64] = "/tmp/musterd-command-XXXXXX";
  close(mkstemp(fifo));
  cr_assert(unlink(fifo) == 0 && mkfifo(fifo, 0600) == 0);
  EACH_PAIR(expect_refused, {"--token-file /dev/zero", "token_file: /dev/zero: it is a device, not a regular file"},
            {"--token-file @", "it is a folder"}, {"--flight-file /dev/null", "flight_file: /dev/null: it is a device"},
            {"--snapshot-file @", "it is a folder"}, {"--config /dev/zero", "/dev/zero: it is a device"});
  static const char *const names[] = {"token", "flight", "snapshot"};
  for (int i = 0; i < 3; i++) expect_refused(formed("--%s-file %s", names[i], fifo), "it is a FIFO");
  expect_refused(formed("--config %s", fifo), "it is a FIFO");
  expect(NULL, formed("--world main=population --path %s", fifo), 1, "world main is not hosted: path /tmp/");
  expect(NULL, formed("--check --world main=population --path %s", fifo), 2, "it is a FIFO");
  expect(NULL, "--check --world main=absent", 2, "module 'absent': absent.so in ");
  unlink(fifo);
}

Test(command, mistakes_are_told_before_anything_is_started) {
  expect(NULL, "", 2, "there is no world");
  expect(NULL, "--world main=wildlife --budget 1", 2, "--budget is '1'; give a duration with its unit");
  expect(NULL, "--world main=wildlife extra", 2, "'extra' is no option");
}

/* A mistake may be why there is no world, so nothing is said of that. */
Test(command, one_mistake_is_one_line) {
  static const char *const lines[] = {"--bogus",           "--wrld d=wildlife", "--world",
                                      "--config /nowhere", "--check=3",         "-x"};
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    SCOPED(free_memory) char *log = NULL;
    int status = run(NULL, lines[i], &log);
    cr_expect(status == 2, "%s: status %d", lines[i], status);
    cr_expect(strstr(log, "there is no world") == NULL, "%s says: %s", lines[i], log);
    cr_expect(strncmp(log, "musterd: ", 9) == 0 && strchr(log, '\n') == log + strlen(log) - 1, "%s: %s", lines[i], log);
  }
}
