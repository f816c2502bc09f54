/* unlucky.h - a daemon under test whose calls of the system fail when it is told (unlucky.c). */
#ifndef UNLUCKY_H
#define UNLUCKY_H

#include "control.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of unlucky.c; "" = no call fails. In the file "fine", which worlds may read that have it as their path: for the
 * module crasher, "none" is what it is to do. */
static inline void unlucky_set(const musterd *service, const char *trouble) {
  char text[256];
  snprintf(text, sizeof text, "none 0\n%s\n", trouble);
  daemon_write(service, "fine", text);
}

static inline void unlucky_prepare(musterd *service) {
  char path[DAEMON_PATH_BYTES + 16];
  daemon_expect_deaths();
  daemon_prepare(service);
  service->program = getenv("MUSTERD_UNLUCKY");
  cr_assert_not_null(service->program, "run this by ctest");
  snprintf(path, sizeof path, "%s/fine", service->folder);
  setenv("MUSTER_TEST_TROUBLE", path, 1);
  unlucky_set(service, "");
  daemon_write(service, "log", "");
}

#endif
