/* runner_audit.c - what audit measures of the workers: worker_audit in run/runner.h. */
#include "run/runner.h"

/* What crossed the promised end is late: the atom that crossed it and what came after it, where the clock was read
 * after each atom; else the whole claim. */
void runner_audit_claim(worker_state *state, const struct runner *runner, uint64_t *cpu_ns, uint64_t end_ns) {
  worker_audit *audit = &state->audit;
  uint64_t now_cpu_ns = clock_thread_cpu();
  uint64_t own_ns = now_cpu_ns - *cpu_ns, since_ns = end_ns - audit->atom_begin_ns;
  if (audit->atom_begin_cpu_ns) since_ns = now_cpu_ns - audit->atom_begin_cpu_ns;
  *cpu_ns = now_cpu_ns;
  audit->reads++;
  if (own_ns > audit->longest_claim_ns) audit->longest_claim_ns = own_ns;
  audit->atom_begin_ns = audit->atom_begin_cpu_ns = audit->next_begin_cpu_ns = 0;
  if (end_ns > runner->promised_ns + state->blocked_ns) audit->overrun_ns += own_ns < since_ns ? own_ns : since_ns;
}

void runner_audit_settling(struct runner *runner, uint32_t worker, uint64_t cpu_ns) {
  worker_audit *audit = &runner->states[worker].audit;
  uint64_t now_ns = clock_now(&runner->clock), end_ns = runner->promised_ns + runner->states[worker].blocked_ns;
  uint64_t late_ns = now_ns > end_ns ? now_ns - end_ns : 0;
  audit->cpu_ns += cpu_ns;
  audit->overrun_ns += late_ns < cpu_ns ? late_ns : cpu_ns;
}

void runner_before_sleep(void *argument) {
  struct runner *runner = argument;
  runner_caller(runner)->audit.end_ns = clock_now(&runner->clock);
  runner_caller(runner)->audit.end_cpu_ns = clock_thread_cpu();
}

uint64_t runner_believed_ns(const struct runner *runner) {
  uint64_t believed_ns = 0;
  for (uint32_t i = 0; i < runner->state_count; i++) believed_ns += runner->states[i].believed_ns;
  return believed_ns;
}

uint64_t runner_left_ns(const struct runner *runner) {
  uint64_t left_ns = 0;
  for (uint32_t i = 0; i < runner->state_count; i++) left_ns += runner->states[i].left_ns;
  return left_ns;
}

uint64_t runner_taken_ns(const struct runner *runner) {
  uint64_t longest_ns = 0;
  for (uint32_t i = 0; i < runner->state_count; i++)
    if (runner->states[i].taken_ns > longest_ns) longest_ns = runner->states[i].taken_ns;
  return longest_ns;
}

uint64_t runner_beyond_ns(const struct runner *runner) {
  uint64_t longest_ns = 0;
  for (uint32_t i = 0; i < runner->state_count; i++)
    if (runner->states[i].beyond_ns > longest_ns) longest_ns = runner->states[i].beyond_ns;
  return longest_ns;
}

uint64_t runner_take_blocked(struct runner *runner) {
  uint64_t longest_ns = 0;
  for (uint32_t i = 0; i < runner->state_count; i++) {
    if (runner->states[i].blocked_ns > longest_ns) longest_ns = runner->states[i].blocked_ns;
    runner->states[i].blocked_ns = 0;
  }
  return longest_ns;
}
