/* The program `musterd`. */
#include "service/service.h"
#include "service/settings_cluster.h"
#include "service/settings_load.h"
#include "service/supervise/child.h"
#include "service/supervise/orders.h"
#include "service/supervise/supervisor.h"

#include "base/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <muster/common.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
  STATUS_USAGE = 2,
  STACK_BYTES_LEAST = 1 << 20,
  STACK_BYTES_USUAL = 8 << 20,
  FILES_LEAST = 64,
  FILES_USUAL = 1024
};

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  fprintf(stderr, "musterd: %s%s%s\n", where, *where ? ": " : "", message);
}

static void advise(const char *where, const char *message, void *user) {
  (void)user;
  fprintf(stderr, "musterd: warning: %s%s%s\n", where, *where ? ": " : "", message);
}

/* What is opened first would take the place of a standard descriptor that is closed, and be written to as that. */
static void open_standard(void) {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) open("/", O_RDONLY);
}

/* Where the shell that starts this allows smaller stacks than it needs, it takes what it may and begins anew, since the
 * stacks of threads are as large as was allowed in the beginning. False: that is not to be had. */
static bool widen_stacks(char **arguments) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_BYTES_LEAST) return true;
  if (limit.rlim_max < STACK_BYTES_LEAST) limit.rlim_max = STACK_BYTES_LEAST;
  limit.rlim_cur = limit.rlim_max < STACK_BYTES_USUAL ? limit.rlim_max : STACK_BYTES_USUAL;
  if (setrlimit(RLIMIT_STACK, &limit) == 0) execv("/proc/self/exe", arguments);
  return false;
}

/* Its loop ends it without a word where no file can be opened, and the files are worlds, connections and journals. */
static bool widen_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_LEAST) return true;
  limit.rlim_cur = limit.rlim_max < FILES_USUAL ? limit.rlim_max : FILES_USUAL;
  return limit.rlim_max >= FILES_LEAST && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int main(int count, char **arguments) {
  static struct settings settings;
  prctl(PR_SET_NAME, "musterd"); /* the process of a world is started by another name */
  open_standard();
  if (!widen_stacks(arguments))
    return complain("", "it needs stacks of 1 MiB, and may have less: say `ulimit -s 1024`, or more", NULL),
           STATUS_USAGE;
  if (!widen_files())
    return complain("", "it needs 64 open files, and may have fewer: say `ulimit -n 64`, or more", NULL), STATUS_USAGE;
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
