/* The frame's own overrun is what it computes after its end, without the time for which the caller sleeps until the
 * other workers leave. */
#include "support/burn.h"
#include "support/skip.h"
#include "world/fixture.h"

#include <stdatomic.h>
#include <time.h>

enum { AGENTS = 64, FRAMES_MOST = 5000, WAITS = 20, EVERY = 4, COMPUTED = 3 };
enum { BUDGET_NS = 3000000, BURNT_NS = 100000, SLEPT_NS = 8000000 };

static struct {
  pthread_t caller;
  atomic_bool sleeps;          /* in this frame a worker other than the caller sleeps */
  atomic_uint computed, slept; /* actions of the caller, and of others */
} crowd;

/* Burns time, and the end of the frame is still to come. But when a worker other than the caller is to sleep, it sleeps
 * until long after that end. */
static muster_atom_result act(muster_update *update) {
  (void)update;
  bool others = !pthread_equal(pthread_self(), crowd.caller);
  if (others && atomic_exchange(&crowd.sleeps, false)) {
    atomic_fetch_add(&crowd.slept, 1);
    nanosleep(&(struct timespec){.tv_nsec = SLEPT_NS}, NULL);
    return MUSTER_ATOM_NEXT;
  }
  if (!others) atomic_fetch_add(&crowd.computed, 1);
  burn(BURNT_NS);
  return MUSTER_ATOM_NEXT;
}

Test(audit_wait, what_the_caller_sleeps_through_is_no_overrun_of_its_own) {
  if (muster_available_processors() < 2) SKIP_TEST("nobody works beside the caller");
  SCOPED_WORLD little = little_world_of(2, WITH(muster_world_def, it.audit = true, it.debt_budgets = 0.0f));
  add_type(&little, CHANGED(actors_running(act, BURNT_NS, MUSTER_ACT_PARALLEL),
                            it.overruns.demote = it.overruns.quarantine = 0));
  for (int i = 0; i < AGENTS; i++) spawn_at(&little, i);
  crowd.caller = pthread_self();
  uint64_t least_ns = UINT64_MAX, given_most_ns = 0;
  uint32_t waits = 0;
  for (uint32_t frame = 0; frame < FRAMES_MOST && waits < WAITS; frame++) {
    atomic_store(&crowd.computed, 0);
    atomic_store(&crowd.slept, 0);
    atomic_store(&crowd.sleeps, frame % EVERY == EVERY - 1);
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    if (!atomic_load(&crowd.slept) || atomic_load(&crowd.computed) < COMPUTED) continue;
    waits++;
    if (report.given_cpu_ns > given_most_ns) given_most_ns = report.given_cpu_ns;
    if (report.overrun_own_ns < least_ns) least_ns = report.overrun_own_ns;
  }
  cr_assert_eq(waits, WAITS, "nobody slept while the caller computed");
  cr_assert_lt(least_ns, (COMPUTED - 1) * BURNT_NS, "in no frame was it less than %lu ns", least_ns);
  cr_assert_gt(given_most_ns, 2 * BUDGET_NS - BUDGET_NS / 2, "the kernel took it: %lu ns", given_most_ns);
}
