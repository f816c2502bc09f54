/* unlucky.h - the daemon under test (served.h) has calls of the system that fail when it is told (unlucky.c). */
#ifndef UNLUCKY_H
#define UNLUCKY_H

#include "served.h"

/* Lines of unlucky.c; "" = no call fails. In the file "fine", which worlds may read that have it as their path: for the
 * module crasher, "none" is what it is to do. */
static inline void set_trouble(const char *trouble) {
  daemon_write(&service, "fine", formed("none 0\n%s\n", trouble));
}

static inline void unlucky_prepare(void) {
  daemon_expect_deaths();
  daemon_prepare(&service);
  service.program = getenv("MUSTERD_UNLUCKY");
  cr_assert_not_null(service.program, "run this by ctest");
  setenv("MUSTER_TEST_TROUBLE", path_of("fine"), 1);
  set_trouble("");
  forget_log();
}

#endif
