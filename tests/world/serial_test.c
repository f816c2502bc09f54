/* serial_ns is the time of the frame's thread in which no other worker may work, and work_ns that of all workers: of
 * what a test burns, what counts as which is known. Other load of the machine changes neither. */
#include "run/runner.h"
#include "support/burn.h"
#include "support/skip.h"
#include "world/fixture.h"
#include "world/frame_state.h"
#include "world/serial.h"

#include <stdatomic.h>

enum { AGENTS = 64, FRAMES = 12, FRAMES_MOST = 5000, BURNT_NS = 200000 };
enum { BUDGET_NS = 1000000000 /* nothing is ever left to the next frame */ };
enum { LITTLE_NS = 100000 /* two clocks that measure the same may differ by so much */ };

struct crowd {
  pthread_t caller;
  atomic_uint own, others; /* atoms that burnt in this frame, on the frame's thread and beside it */
};

static muster_atom_result burn_here(muster_update *update) {
  struct crowd *crowd = update->type_user;
  atomic_fetch_add(pthread_equal(pthread_self(), crowd->caller) ? &crowd->own : &crowd->others, 1);
  burn(BURNT_NS);
  return MUSTER_ATOM_NEXT;
}

/* A frame, and the thread CPU time that its thread had in it. */
static muster_frame_report run_burning(little_world *little, struct crowd *crowd, uint64_t *cpu_ns) {
  atomic_store(&crowd->own, 0);
  atomic_store(&crowd->others, 0);
  *cpu_ns = own_ns();
  muster_frame_report report = run_frame_with(little, BUDGET_NS);
  *cpu_ns = own_ns() - *cpu_ns + LITTLE_NS;
  return report;
}

static little_world crowded_world(struct crowd *crowd, uint32_t workers, uint32_t agents, bool audit,
                                  muster_type_def type) {
  *crowd = (struct crowd){.caller = pthread_self()};
  type.user = crowd;
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.elasticity = 0;
  type.limit_ns = 1000000000u;
  little_world little = peopled(typed_world(workers, WITH(muster_world_def, it.audit = audit), type), agents);
  return little;
}

/* ------------------------------------------------------------------------------------------------- what is serial */

static void check_alone(bool audit) {
  static struct crowd crowd;
  SCOPED_WORLD little = crowded_world(&crowd, 1, 8, audit, type_running(burn_here, 1000));
  uint64_t serial_ns = 0, work_ns = 0;
  uint32_t burnt = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &crowd, &cpu_ns);
    uint64_t burnt_ns = (uint64_t)BURNT_NS * atomic_load(&crowd.own), stages_ns = 0;
    for (uint32_t k = 0; k < MUSTER_STAGES; k++) stages_ns += report.stage_ns[k];
    cr_expect_gt(report.serial_ns, 0);
    cr_expect_leq(report.serial_ns, report.wall_ns + LITTLE_NS);
    if (burnt_ns) cr_expect_leq(report.serial_ns, stages_ns, "frame %u took less behind its stages", i);
    cr_expect_geq(report.work_ns, report.serial_ns + burnt_ns - (burnt_ns ? LITTLE_NS : 0), "updates are work");
    if (audit) cr_expect_leq(report.serial_ns + burnt_ns, cpu_ns, "updates are not serial");
    if (audit) cr_expect_eq(report.work_ns, report.used_cpu_ns);
    serial_ns += report.serial_ns;
    work_ns += report.work_ns;
    burnt += burnt_ns > 0;
  }
  muster_statistics statistics = statistics_of(&little);
  cr_expect_geq(burnt, FRAMES - 2, "updates ran in %u frames only", burnt);
  cr_expect_eq(statistics.serial_ns, serial_ns);
  cr_expect_eq(statistics.work_ns, work_ns);
  cr_expect_float_eq((double)statistics.serial_share, (double)serial_ns / (double)work_ns, 1e-6);
  muster_statistics_clear(little.world);
  statistics = statistics_of(&little);
  cr_expect(statistics.serial_ns == 0 && statistics.work_ns == 0 && statistics.serial_share == 0.0f);
}

Test(serial, is_what_the_stages_take_but_not_the_updates) {
  check_alone(true);
}

Test(serial, is_wall_time_without_audit) {
  check_alone(false);
}

/* The caller runs these actions alone, whatever the number of workers. */
Test(serial, actions_that_run_one_by_one_are_serial) {
  static struct crowd crowd;
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {burn_here, MUSTER_ROLE_ACTION, 1000}};
  muster_type_def type = WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.act = MUSTER_ACT_SERIAL);
  SCOPED_WORLD little = crowded_world(&crowd, 2, 4, true, type);
  uint32_t burnt = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &crowd, &cpu_ns);
    cr_assert_eq(atomic_load(&crowd.others), 0);
    burnt += atomic_load(&crowd.own);
    cr_expect_geq(report.serial_ns + LITTLE_NS, (uint64_t)BURNT_NS * atomic_load(&crowd.own));
    cr_expect_leq(report.serial_ns, cpu_ns);
  }
  cr_assert_gt(burnt, 0);
}

Test(serial, what_the_caller_does_beside_others_in_a_stage_is_not) {
  static struct crowd crowd;
  static const muster_atom atoms[] = {{.run = nothing, .model_ns = 1000}, {burn_here, MUSTER_ROLE_ACTION, BURNT_NS}};
  if (muster_available_processors() < 2) SKIP_TEST("nobody works beside the caller");
  muster_type_def type = WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.act = MUSTER_ACT_PARALLEL);
  SCOPED_WORLD little = crowded_world(&crowd, 2, AGENTS, true, type);
  uint32_t seen = 0;
  for (uint32_t i = 0; i < FRAMES_MOST && seen < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &crowd, &cpu_ns);
    if (!atomic_load(&crowd.others) || !atomic_load(&crowd.own)) continue;
    seen++;
    cr_expect_leq(report.serial_ns + (uint64_t)BURNT_NS * atomic_load(&crowd.own), cpu_ns);
    cr_expect_geq(report.work_ns + LITTLE_NS,
                  (uint64_t)BURNT_NS * (atomic_load(&crowd.own) + atomic_load(&crowd.others)));
  }
  cr_assert_eq(seen, FRAMES, "two workers acted in %u frames only", seen);
}

/* Planning took 900 ns of the caller's own time in 1,000 ns after the early claims were opened; the other worker left
 * them `left_ns` after that, and teams took `team_ns` meanwhile. Returns how much of it is not serial. */
static uint64_t beside_early(uint64_t left_ns, bool claims_left, uint64_t team_ns) {
  worker_state states[2] = {{.early_end_ns = 0}, {.early_end_ns = left_ns ? 5000 + left_ns : 0}};
  struct runner runner = {.states = states, .state_count = 2};
  frame_state frame =
      CHANGED((frame_state){0}, it.mark_ns = 6000, it.mark_own_ns = 1900, it.serial_ns = 1900,
              it.helped_ns = 50 + team_ns, it.early_ns = 5000, it.early_own_ns = 1000, it.early_helped_ns = 50);
  struct muster_world world = {.frame = &frame, .runner = &runner};
  serial_count_early(&world, claims_left);
  cr_expect_eq(serial_alone_ns(&world), 1900 - frame.helped_ns);
  return frame.helped_ns - 50;
}

Test(serial, planning_is_not_while_others_have_early_claims) {
  cr_expect_eq(beside_early(500, false, 0), 450, "they left in the middle of it");
  cr_expect_eq(beside_early(1000, false, 0), 900);
  cr_expect_eq(beside_early(7000, false, 0), 900, "they left when it was over");
  cr_expect_eq(beside_early(500, true, 0), 900, "one left, but another might have come");
  cr_expect_eq(beside_early(0, true, 0), 900, "so it might where nobody came");
  cr_expect_eq(beside_early(0, false, 0), 0, "but not in a world of one worker");
  cr_expect_eq(beside_early(500, false, 100), 100 + 400, "teams are told apart already");
  cr_expect_eq(beside_early(500, false, 900), 900);
}

Test(serial, is_not_known_in_virtual_time) {
  SCOPED_WORLD little = peopled(typed_world(2, virtual_world_def_default(), type_running(nothing, 100000)), AGENTS);
  uint64_t work_ns = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_frame(&little);
    cr_expect_eq(report.serial_ns, 0);
    cr_expect_eq(report.work_ns, report.used_cpu_ns);
    work_ns += report.work_ns;
  }
  muster_statistics statistics = statistics_of(&little);
  cr_expect_gt(work_ns, 0);
  cr_expect_eq(statistics.work_ns, work_ns);
  cr_expect(statistics.serial_ns == 0 && statistics.serial_share == 0.0f);
}
