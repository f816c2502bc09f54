/* commit_logs.c - stage 8: what updates asked of others, in one order whatever worker was faster. */
#include "frame/stages.h"
#include "world/lifecycle.h"
#include "world/world_record.h"

/* Wakes that found their agent busy come last: which there are is a matter of time. */
static void defer_logged(struct muster_world *world, const logged_command *logged) {
  if (logged->entry == UINT32_MAX && recorder_records(world->recorder)) recorder_keep_command(world, &logged->command);
  lifecycle_defer(world, &logged->command);
}

static void end_late_wakes(struct muster_world *world) {
  command wake;
  if (recorder_records(world->recorder)) recorder_keep_command(world, NULL);
  while (recorder_replays(world->recorder) && recorder_next_command(world, &wake)) lifecycle_defer(world, &wake);
}

void commit_merge_logs(struct muster_world *world) {
  log_merge merge;
  const logged_command *logged;
  runner_merge_logs(&world->runner, &merge);
  while ((logged = runner_merge_next(&merge))) defer_logged(world, logged);
  if (world->recorder) end_late_wakes(world);
}
