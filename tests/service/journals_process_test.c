/* Journals of worlds in processes of their own, which are confined. */
#include "comeback.h"

TestSuite(journals_process, .init = daemon_expect_deaths, .fini = stop, .timeout = 120);

/* The confined process makes, renames and removes files there, and forks. */
static void expect_process_to_come_back(const char *flags) {
  begin(flags);
  await_count(WORLD, "journal.snapshots", 3);
  long long last = frames_now();
  kill(control_pid_of(&service, "main"), SIGKILL);
  await_log("world main: recovered in ");
  while (starts_of_main() != 2.0 || metric("muster_world_process_state{world=\"main\",state=\"running\"}") != 1.0)
    usleep(5000);
  cr_expect_geq(recovered().frame, last);
  await_count(WORLD, "journal.snapshots", 2);
  json_auto_t *journal = journal_now();
  control_expect(journal, "{'on': true, 'snapshots_failed': 0}");
  EACH(expect_not_logged, "was refused", "snapshots only");
}

Test(journals_process, a_world_in_a_process_of_its_own_comes_back) {
  expect_process_to_come_back("--isolation process --recovery-max 20ms " VIRTUAL);
}

Test(journals_process, a_world_in_a_process_of_its_own_has_its_journal_in_a_folder_in_memory) {
  char folder[] = "/dev/shm/journals-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  expect_process_to_come_back(formed("--isolation process --recovery-max 20ms --journal-folder %s " VIRTUAL, folder));
  end_well(); /* until then files come and go */
  cr_expect_eq(system(formed("ls %s/main/state.main-*.snapshot >/dev/null && rm -r %s", folder, folder)), 0);
}
