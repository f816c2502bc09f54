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
