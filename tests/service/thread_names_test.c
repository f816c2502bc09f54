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
