/* The threads of musterd have names that say what they do. */
#include "served.h"
#include "support/thread_names.h"

/* How many threads of this name the process has, or with `children` all of its children. */
static uint32_t count_of(pid_t process, bool children, const char *name) {
  int child = 0;
  uint32_t count = 0;
  if (!children) return thread_names_count(process, name);
  FILE *list = fopen(formed("/proc/%d/task/%d/children", (int)process, (int)process), "re");
  cr_assert_not_null(list);
  while (fscanf(list, "%d", &child) == 1) count += thread_names_count(child, name);
  fclose(list);
  return count;
}

/* Each names itself when it has a processor, which may be after the service is ready. */
static void await(pid_t process, bool children, const char *name) {
  for (int tries = 0; count_of(process, children, name) != 1; tries++, usleep(20000))
    cr_assert_lt(tries, 3000, "%u threads are called %s", count_of(process, children, name), name);
}

TestSuite(thread_names, .fini = stop);

static void expect_threads(const char *isolation, const char *other) {
  bool children = strcmp(isolation, "process") == 0;
  daemon_start(&service, formed("--world main=wildlife --agents 500 --workers 2 --isolation %s", isolation));
  await(service.process, children, "musterd-frames\n");
  await(service.process, children, "muster-1\n");
  await(service.process, children, other);
  cr_assert_geq(count_of(service.process, children, "musterd\n"), 1, "the loop, and helpers of libuv");
}

Test(thread_names, the_service_says_which_thread_runs_frames) {
  expect_threads("none", "muster-watch\n");
}

Test(thread_names, so_does_the_process_of_a_world) {
  expect_threads("process", "musterd-warden\n");
  cr_assert_eq(count_of(service.process, true, "exe\n"), 0, "as which it is started");
}
