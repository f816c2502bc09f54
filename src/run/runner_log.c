/* runner_log.c - what updates ask of others, worker by worker, in the order of their entries. */
#include "run/runner.h"

#include <string.h>

void runner_widen_logs(struct runner *runner, uint32_t log_max, struct arena *arena) {
  logged_command *logs = arena_reserve(arena, (size_t)runner->state_count * log_max, sizeof *logs);
  logged_command *scratch = arena_reserve(arena, log_max, sizeof *scratch);
  if (arena->failed) return;
  for (uint32_t i = 0; i < runner->state_count; i++) runner->states[i].log = logs + (size_t)i * log_max;
  runner->log_max = log_max;
  runner->log_scratch = scratch;
}

/* Merges [begin, middle) and [middle, end), both in order; of equals, those of the first part come first. */
static void merge_parts(logged_command *log, logged_command *scratch, uint32_t begin, uint32_t middle, uint32_t end) {
  uint32_t left = 0, right = middle, at = begin, count = middle - begin;
  memcpy(scratch, log + begin, count * sizeof *log);
  while (left < count && right < end)
    log[at++] = runner_logged_before(&log[right], &scratch[left]) ? log[right++] : scratch[left++];
  memcpy(log + at, scratch + left, (count - left) * sizeof *log);
}

void runner_sort_log(struct runner *runner, worker_state *state) {
  uint32_t count = state->log_count, i = 1;
  while (i < count && !runner_logged_before(&state->log[i], &state->log[i - 1])) i++;
  if (i >= count) return;
  for (uint32_t width = 1; width < count; width *= 2)
    for (uint32_t begin = 0; begin + width < count; begin += 2 * width) {
      uint32_t end = begin + 2 * width < count ? begin + 2 * width : count;
      if (runner_logged_before(&state->log[begin + width], &state->log[begin + width - 1]))
        merge_parts(state->log, runner->log_scratch, begin, begin + width, end);
    }
}

void runner_merge_logs(struct runner *runner, log_merge *merge) {
  merge->count = 0;
  for (uint32_t i = 0; i < runner->state_count; i++) {
    worker_state *state = &runner->states[i];
    if (state->log_count == 0) continue;
    runner_sort_log(runner, state);
    merge->logs[merge->count++] = (merged_log){state->log, state->log + state->log_count};
  }
}

const logged_command *runner_merge_next(log_merge *merge) {
  if (merge->count == 0) return NULL;
  merged_log *first = &merge->logs[0];
  for (uint32_t i = 1; i < merge->count; i++)
    if (runner_logged_before(merge->logs[i].next, first->next)) first = &merge->logs[i];
  const logged_command *logged = first->next++;
  if (first->next == first->end) { /* the other logs keep their order, which decides between equal commands */
    merge->count--;
    memmove(first, first + 1, (size_t)(&merge->logs[merge->count] - first) * sizeof *first);
  }
  return logged;
}
