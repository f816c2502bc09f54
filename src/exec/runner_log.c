/* runner_log.c - what updates ask of others, worker by worker, in the order of their entries. */
#include "exec/runner.h"

#include <string.h>

void runner_widen_logs(runner *runner, uint32_t log_max, arena *arena) {
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

void runner_sort_log(runner *runner, worker_state *state) {
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

void runner_audit_settling(runner *runner, uint32_t worker, uint64_t cpu_ns) {
  worker_audit *audit = &runner->states[worker].audit;
  uint64_t now_ns = clock_now(&runner->clock);
  uint64_t late_ns = now_ns > runner->deadline_ns ? now_ns - runner->deadline_ns : 0;
  audit->cpu_ns += cpu_ns;
  audit->overrun_ns += late_ns < cpu_ns ? late_ns : cpu_ns;
}

void runner_before_sleep(void *argument) {
  runner *runner = argument;
  runner_caller(runner)->audit.end_ns = clock_now(&runner->clock);
  runner_caller(runner)->audit.end_cpu_ns = clock_thread_cpu();
}
