/* The command line of musterd as a whole. */
#include "daemon.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Runs it to its end, which it must come to by itself, and returns its status; the log is for the caller to free. */
static int run(const char *configuration, const char *flags, char **log) {
  musterd service;
  daemon_prepare(&service);
  if (configuration) daemon_write(&service, "musterd.conf", configuration);
  daemon_launch(&service, flags);
  int status = daemon_wait(&service);
  *log = daemon_log(&service);
  daemon_clear(&service);
  return status;
}

static void expect(const char *configuration, const char *flags, int wanted, const char *says) {
  char *log;
  int status = run(configuration, flags, &log);
  cr_expect(status == wanted, "%s: status %d: %s", flags, status, log);
  cr_expect(says ? strstr(log, says) != NULL : *log == '\0', "%s says: %s", flags, log);
  free(log);
}

Test(command, help_and_version_end_well) {
  expect(NULL, "--help", 0, NULL);
  expect(NULL, "--version", 0, NULL);
  expect(NULL, "--help --world", 0, NULL);
}

Test(command, check_says_whether_the_settings_are_good_and_starts_nothing) {
  expect("[world main]\nmodule = wildlife\n", "--config @/musterd.conf --check", 0, NULL);
  expect("[world main]\nmodule = wildlife\nhz = 0\n", "--config @/musterd.conf --check", 2,
         "musterd.conf:3: hz is '0'");
  expect("[world main]\nmodule = wildlife\n", "--config @/musterd.conf --world main --hz 99 --check", 2,
         "lower a budget or a rate");
  expect(NULL, "--config @/musterd.conf --check", 2, "musterd.conf: cannot be opened");
}

Test(command, mistakes_are_told_before_anything_is_started) {
  expect(NULL, "", 2, "there is no world");
  expect(NULL, "--world main=wildlife --budget 1", 2, "--budget: give a duration with its unit");
  expect(NULL, "--world main=wildlife extra", 2, "extra: this is no flag");
}
