/* The threads of musterd have names that say what they do. */
#include "service/daemon.h"
#include "support/thread_names.h"

#include <criterion/criterion.h>

Test(thread_names, the_service_says_which_thread_runs_frames) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 500 --workers 2 --isolation none");
  cr_assert_eq(thread_names_count(service.process, "musterd-frames\n"), 1);
  cr_assert_geq(thread_names_count(service.process, "musterd\n"), 1, "the loop");
  cr_assert_eq(thread_names_count(service.process, "muster-1\n"), 1, "the second worker");
  cr_assert_eq(thread_names_count(service.process, "muster-watch\n"), 1);
  daemon_stop(&service);
}

/* How many threads of this name all children of the process have. */
static uint32_t count_in_children(pid_t process, const char *name) {
  char path[64];
  int child = 0;
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
  FILE *children = fopen(path, "re");
  cr_assert_not_null(children);
  while (fscanf(children, "%d", &child) == 1) count += thread_names_count(child, name);
  fclose(children);
  return count;
}

Test(thread_names, so_does_the_process_of_a_world) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 500 --workers 2 --isolation process");
  cr_assert_eq(count_in_children(service.process, "musterd-frames\n"), 1);
  cr_assert_geq(count_in_children(service.process, "musterd\n"), 1, "its loop, and helpers");
  cr_assert_eq(count_in_children(service.process, "exe\n"), 0, "as which it is started");
  cr_assert_eq(count_in_children(service.process, "muster-1\n"), 1);
  daemon_stop(&service);
}
