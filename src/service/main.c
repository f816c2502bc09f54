/* The program `musterd`. */
#include "service/service.h"
#include "service/settings_flags.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef MUSTER_VERSION
#define MUSTER_VERSION "(unversioned build)"
#endif

enum { STATUS_USAGE = 2 };

static void complain(const char *where, const char *message, void *user) {
  uint32_t *complaints = user;
  (*complaints)++;
  fprintf(stderr, "musterd: %s: %s\n", where, message);
}

int main(int count, char **arguments) {
  static settings settings;
  settings_call call = {0};
  uint32_t complaints = 0;
  settings_default(&settings);
  settings_read_flags(&settings, &call, count, arguments, complain, &complaints);
  if (call.help) return settings_show_help(), EXIT_SUCCESS;
  if (call.version) return printf("musterd %s\n", MUSTER_VERSION) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  settings_check(&settings, complain, &complaints);
  if (complaints) return STATUS_USAGE;
  return call.check ? EXIT_SUCCESS : service_run(&settings);
}
