/* The frame's own overrun is what it computes after its end, without the time for which the caller sleeps until the
 * other workers leave. */
#include "support/burn.h"
#include "support/little_world.h"
#include "support/skip.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
  AGENTS = 64,
  FRAMES_MOST = 5000,
  WAITS = 20,
  EVERY = 4,
  COMPUTED = 3,
  BUDGET_NS = 3000000,
  BURNT_NS = 100000,
  SLEPT_NS = 8000000
};

struct crowd {
  pthread_t caller;
  atomic_bool sleeps;          /* in this frame a worker other than the caller sleeps */
  atomic_uint computed, slept; /* actions of the caller, and of others */
};

/* Burns time, and the end of the frame is still to come. But when a worker other than the caller is to sleep, it sleeps
 * until long after that end. */
static muster_atom_result act(muster_update *update) {
  struct crowd *crowd = update->type_user;
  bool others = !pthread_equal(pthread_self(), crowd->caller);
  if (others && atomic_exchange(&crowd->sleeps, false)) {
    atomic_fetch_add(&crowd->slept, 1);
    nanosleep(&(struct timespec){.tv_nsec = SLEPT_NS}, NULL);
    return MUSTER_ATOM_NEXT;
  }
  if (!others) atomic_fetch_add(&crowd->computed, 1);
  burn(BURNT_NS);
  return MUSTER_ATOM_NEXT;
}

Test(audit_wait, what_the_caller_sleeps_through_is_no_overrun_of_its_own) {
  static struct crowd crowd;
  if (muster_available_processors() < 2) SKIP_TEST("nobody works beside the caller");
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, BURNT_NS}};
  muster_world_def world = muster_world_def_default();
  world.audit = true;
  world.debt_budgets = 0.0f;
  little_world little = little_world_create(2, &world);
  muster_type_def def = actors_def(atoms, MUSTER_ACT_PARALLEL, &crowd);
  def.overruns.demote = def.overruns.quarantine = 0;
  register_type(&little, &def);
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
  cr_assert_lt(least_ns, (COMPUTED - 1) * BURNT_NS, "in no frame was it less than %llu ns",
               (unsigned long long)least_ns);
  cr_assert_gt(given_most_ns, 2 * BUDGET_NS - BUDGET_NS / 2, "nor did the kernel take it: %llu ns were given",
               (unsigned long long)given_most_ns);
  little_world_destroy(&little);
}
