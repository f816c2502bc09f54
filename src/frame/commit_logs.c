/* commit_logs.c - stage 8: what updates asked of others, in one order whatever worker was faster. */
#include "frame/stages.h"
#include "world/lifecycle.h"
#include "world/world_record.h"

/* Wakes that found their agent busy come last: which there are is a matter of time. */
static bool is_late_wake(const logged_command *logged) {
  return logged && logged->entry == UINT32_MAX;
}

void commit_merge_logs(struct muster_world *world) {
  log_merge merge;
  const logged_command *logged;
  runner_merge_logs(&world->runner, &merge);
  while ((logged = runner_merge_next(&merge)) && !is_late_wake(logged)) lifecycle_defer(world, &logged->command);
  for (command wake;; logged = runner_merge_next(&merge)) {
    if (logged) wake = logged->command;
    if (!recorder_exchange_command(world, logged != NULL, &wake)) return;
    lifecycle_defer(world, &wake);
  }
}
