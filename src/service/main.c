/* The program `musterd`. */
#include "service/service.h"
#include "service/settings_load.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef MUSTER_VERSION
#define MUSTER_VERSION "(unversioned build)"
#endif

enum { STATUS_USAGE = 2 };

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  fprintf(stderr, "musterd: %s: %s\n", where, message);
}

int main(int count, char **arguments) {
  static settings settings;
  settings_call call = {0};
  bool good = settings_load(&settings, &call, count, arguments, complain, NULL);
  if (call.help) return settings_show_help(), EXIT_SUCCESS;
  if (call.version) return printf("musterd %s\n", MUSTER_VERSION) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  if (!good) return STATUS_USAGE;
  return call.check ? EXIT_SUCCESS : service_run(&settings, count, arguments);
}
