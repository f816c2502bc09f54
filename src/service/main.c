/* The program `musterd`. */
#include "service/service.h"
#include "service/settings_cluster.h"
#include "service/settings_load.h"
#include "service/supervise/child.h"
#include "service/supervise/orders.h"
#include "service/supervise/supervisor.h"

#include "base/columns.h"

#include <muster/common.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_USAGE = 2 };

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  fprintf(stderr, "musterd: %s%s%s\n", where, *where ? ": " : "", message);
}

static void advise(const char *where, const char *message, void *user) {
  (void)user;
  fprintf(stderr, "musterd: warning: %s%s%s\n", where, *where ? ": " : "", message);
}

int main(int count, char **arguments) {
  static struct settings settings;
  settings_call call = {0};
  bool good = settings_load(&settings, &call, count, arguments, complain, NULL);
  if (call.help) return columns_print_help(settings_show_help), EXIT_SUCCESS;
  if (call.version)
    return printf("musterd %s\n", MUSTER_VERSION) > 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  if (!good) return STATUS_USAGE;
  if (call.check) return settings_advise(&settings, advise, NULL), EXIT_SUCCESS;
  if (!orders_world() && settings.isolation == ISOLATION_PROCESS) return supervisor_run(&settings, count, arguments);
  if (orders_world() && child_begin(&settings, call.file)) return complain("", muster_last_error(), NULL), EXIT_FAILURE;
  return service_run(&settings, count, arguments);
}
