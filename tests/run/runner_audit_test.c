/* Which part of a claim was late, without a frame: the test gives the times, but for the thread's CPU clock. */
#include "run/runner.h"

#include <criterion/criterion.h>
#include <string.h>

/* A claim of a million seconds ended now, by either clock. Its last atom began `atom_began_ns` ago by the wall clock
 * and, if `on_both_clocks`, just now by the thread's CPU clock: the thread was off the processor in between. */
static uint64_t late_of(uint64_t atom_began_ns, bool on_both_clocks) {
  static worker_state state;
  static struct runner runner;
  const uint64_t claim_ns = 1000000000000000u, end_ns = 2 * claim_ns;
  memset(&state, 0, sizeof state);
  runner.promised_ns = end_ns - 1;
  uint64_t now_cpu_ns = clock_thread_cpu(), cpu_ns = now_cpu_ns - claim_ns;
  state.audit.atom_begin_ns = end_ns - atom_began_ns;
  state.audit.atom_begin_cpu_ns = on_both_clocks ? now_cpu_ns : 0;
  runner_audit_claim(&state, &runner, &cpu_ns, end_ns);
  cr_assert(state.audit.longest_claim_ns >= claim_ns);
  return state.audit.overrun_ns;
}

Test(runner_audit, an_atom_is_late_by_the_time_that_it_had_the_processor) {
  const uint64_t long_ns = 100000000000000u;
  cr_assert(late_of(long_ns, false) == long_ns, "all that is known of it is the wall clock");
  cr_assert(late_of(long_ns, true) < long_ns / 2);
}
