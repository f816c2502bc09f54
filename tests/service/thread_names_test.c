/* The threads of musterd have names that say what they do. */
#include "service/daemon.h"
#include "support/thread_names.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* How many threads of this name the process has, or with `children` all of its children. */
static uint32_t count_of(pid_t process, bool children, const char *name) {
  char path[64];
  int child = 0;
  uint32_t count = 0;
  if (!children) return thread_names_count(process, name);
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
  FILE *list = fopen(path, "re");
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

Test(thread_names, the_service_says_which_thread_runs_frames) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 500 --workers 2 --isolation none");
  await(service.process, false, "musterd-frames\n");
  await(service.process, false, "muster-1\n");
  await(service.process, false, "muster-watch\n");
  cr_assert_geq(count_of(service.process, false, "musterd\n"), 1, "the loop, and helpers of libuv");
  daemon_stop(&service);
}

Test(thread_names, so_does_the_process_of_a_world) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 500 --workers 2 --isolation process");
  await(service.process, true, "musterd-frames\n");
  await(service.process, true, "muster-1\n");
  await(service.process, true, "musterd-warden\n");
  cr_assert_geq(count_of(service.process, true, "musterd\n"), 1, "the loop, and helpers of libuv");
  cr_assert_eq(count_of(service.process, true, "exe\n"), 0, "as which it is started");
  daemon_stop(&service);
}
