/* One measure of one system, in a process of its own. */
#include "engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 131072, EXIT_NO_POOL = 3 };

bench_samples *bench_samples_create(void) {
  void *memory =
      mmap(NULL, BENCH_SERIES_MAX * sizeof(bench_samples), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void bench_sample(bench_context *context, uint32_t series, double value) {
  bench_samples *samples = &context->samples[series];
  if (samples->count < BENCH_SAMPLES_MAX) samples->values[samples->count++] = value;
}

/* Takes the measure in the child process. The alarm ends a process that hangs. */
static void take_and_exit(const bench_measure *measure, bench_context context, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGALRM, SIG_DFL);
  alarm(BENCH_LIMIT_SECONDS);
  bench_wishes wishes = {context.workers, JOBS_MAX, measure->need >= BENCH_NEEDS_TWO_LEVELS};
  if (measure->need != BENCH_NEEDS_NOTHING) context.pool = context.system->create(&wishes);
  if (measure->need != BENCH_NEEDS_NOTHING && !context.pool) _exit(EXIT_NO_POOL);
  measure->take(&context);
  if (context.pool) context.system->destroy(context.pool);
  _exit(0);
}

static const char *judge(int status) {
  static char message[128];
  if (status == 0) return NULL;
  if (!WIFSIGNALED(status) && WEXITSTATUS(status) == EXIT_NO_POOL) return "could not create its pool";
  if (!WIFSIGNALED(status))
    snprintf(message, sizeof message, "ended with status %d", WEXITSTATUS(status));
  else if (WTERMSIG(status) == SIGALRM)
    snprintf(message, sizeof message, "was not done after %d s", BENCH_LIMIT_SECONDS);
  else
    snprintf(message, sizeof message, "died: %s", strsignal(WTERMSIG(status)));
  return message;
}

const char *bench_take(const bench_measure *measure, const bench_context *context) {
  pid_t parent = getpid(), ended;
  int status;
  for (uint32_t i = 0; i < BENCH_SERIES_MAX; i++) context->samples[i].count = 0;
  pid_t child = fork();
  if (child < 0) return "could not be given a process of its own";
  if (child == 0) take_and_exit(measure, *context, parent);
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) return "was lost";
  const char *wrong = judge(status);
  return wrong || context->samples[0].count > 0 ? wrong : "brought no samples";
}
