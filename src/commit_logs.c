/* commit_logs.c - stage 8: what updates asked of others, in one order whatever worker was faster. */
#include "recorder.h"

#include <string.h>

/* Wakes that found their agent busy come last: which there are is a matter of time. */
static void defer_logged(struct muster_world *world, const logged_command *logged) {
  if (logged->entry == UINT32_MAX && recorder_records(world)) recorder_keep_command(world, &logged->command);
  intake_defer(world, &logged->command);
}

static void end_late_wakes(struct muster_world *world) {
  command wake;
  if (recorder_records(world)) recorder_keep_command(world, NULL);
  while (recorder_replays(world) && recorder_next_command(world, &wake)) intake_defer(world, &wake);
}

/* A worker's log, as far as it is not merged yet. */
typedef struct merged_log {
  const logged_command *next, *end;
} merged_log;

/* Few workers have a log. */
void commit_merge_logs(struct muster_world *world) {
  merged_log logs[IDLE_MAX];
  uint32_t count = 0;
  runner *runner = &world->runner;
  for (uint32_t i = 0; i < runner->state_count; i++) {
    worker_state *state = &runner->states[i];
    if (state->log_count == 0) continue;
    runner_sort_log(runner, state);
    logs[count++] = (merged_log){state->log, state->log + state->log_count};
  }
  while (count > 0) {
    merged_log *first = &logs[0];
    for (uint32_t i = 1; i < count; i++)
      if (runner_logged_before(logs[i].next, first->next)) first = &logs[i];
    defer_logged(world, first->next++);
    if (first->next == first->end) { /* the others keep their order: it tells who comes first among equals */
      count--;
      memmove(first, first + 1, (size_t)(&logs[count] - first) * sizeof *first);
    }
  }
  if (world->recorder) end_late_wakes(world);
}
