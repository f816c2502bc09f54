/* Journals of worlds in processes of their own, which are confined. */
#include "comeback.h"

#include <signal.h>

TestSuite(journals_process, .init = daemon_expect_deaths);

/* What the log said last of the world's process. */
static pid_t process_of(const musterd *service) {
  static const char text[] = "world main runs in process ";
  pid_t process = 0;
  char *log = daemon_log(service);
  for (const char *at = log; (at = strstr(at, text)) != NULL; at++) process = atoi(at + strlen(text));
  free(log);
  cr_assert_gt(process, 0);
  return process;
}

/* The confined process makes, renames and removes files there, and forks. */
static void expect_process_to_come_back(const char *flags) {
  musterd service;
  unsigned long long again;
  begin(&service, flags);
  control_await_count(&service, "/v1/worlds/main", "journal.snapshots", 3);
  long long last = frames_of(&service);
  kill(process_of(&service), SIGKILL);
  daemon_await_log(&service, "world main: recovered in ");
  while (daemon_metric(&service, "muster_world_process_starts_total{world=\"main\"}") != 2.0 ||
         daemon_metric(&service, "muster_world_process_state{world=\"main\",state=\"running\"}") != 1.0)
    usleep(5000);
  cr_expect_geq((long long)recovered(&service, &again).frame, last);
  control_await_count(&service, "/v1/worlds/main", "journal.snapshots", 2);
  json_t *journal = journal_of(&service);
  cr_expect(control_is_true(journal, "on"));
  cr_expect_eq(control_count(journal, "snapshots_failed"), 0);
  json_decref(journal);
  expect_log(&service, "was refused", false);
  expect_log(&service, "snapshots only", false);
  daemon_stop(&service);
}

Test(journals_process, a_world_in_a_process_of_its_own_comes_back, .timeout = 120) {
  expect_process_to_come_back("--isolation process --recovery-max 20ms " VIRTUAL);
}

Test(journals_process, a_world_in_a_process_of_its_own_has_its_journal_in_a_folder_in_memory, .timeout = 120) {
  char folder[] = "/dev/shm/journals-XXXXXX", flags[512], command[128];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(flags, sizeof flags, "--isolation process --recovery-max 20ms --journal-folder %s " VIRTUAL, folder);
  expect_process_to_come_back(flags);
  snprintf(command, sizeof command, "ls %s/main/state.main-*.snapshot >/dev/null && rm -r %s", folder, folder);
  cr_expect_eq(system(command), 0);
}
