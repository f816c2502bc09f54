/* With audit, a frame that is late by a known CPU time says so in every figure, wherever in the frame that time was
 * spent. Each figure has a lower bound, the time that the test burns, and an upper one, the processor time that its
 * process used during the call. Other load of the machine changes neither. */
#include "support/burn.h"
#include "support/skip.h"
#include "world/fixture.h"

#include <stdatomic.h>

enum { FRAMES = 12, BUDGET_NS = 2000000, BURNT_NS = 8000000 };
enum { LITTLE_NS = 100000 }; /* two clocks that measure the same may differ by so much */
enum { COMMANDS = 8400 };    /* more than a worker's log takes */

static struct stage {
  pthread_t caller;
  uint64_t burnt_ns; /* CPU time that they burn */
  uint64_t cpu_ns;   /* that the process had in the last frame */
  atomic_uint burns; /* how often, in this frame */
  atomic_uint left;  /* how often they still may in this frame */
  const char *line;  /* words of the log line at which the sink burns */
  muster_agent other;
  void (*after)(little_world *little); /* is called after each frame, if it is there */
} stage = {.burnt_ns = BURNT_NS};      /* each test runs in a process of its own */

static void burn_once(void) {
  uint32_t left = atomic_load(&stage.left);
  while (left && !atomic_compare_exchange_weak(&stage.left, &left, left - 1)) continue;
  if (!left) return;
  burn(stage.burnt_ns);
  atomic_fetch_add(&stage.burns, 1);
}

static muster_atom_result burn_here(muster_update *update) {
  (void)update;
  burn_once();
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result burn_beside_the_caller(muster_update *update) {
  (void)update;
  if (!pthread_equal(pthread_self(), stage.caller))
    burn_once();
  else
    burn(LITTLE_NS);
  return MUSTER_ATOM_NEXT;
}

static void burn_at_a_line(muster_log_level level, const char *message, void *user) {
  (void)level, (void)user;
  if (stage.line && strstr(message, stage.line)) burn_once();
}

static const muster_atom burns = {burn_here, MUSTER_ROLE_BEHAVIOUR, 1000};
static const muster_atom idles = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
static const muster_atom acts = {burn_here, MUSTER_ROLE_ACTION, 1000};

/* Each frame has the same budget. */
static muster_world_def audited(void) {
  return WITH(muster_world_def, it.audit = true, it.debt_budgets = 0.0f,
              it.log = (muster_log_sink){burn_at_a_line, NULL});
}

static muster_type_def actor(const muster_atom *atoms, uint32_t count) {
  return CHANGED(type_with(atoms, count), it.period_ns = it.period_max_ns = FRAME_NS, it.elasticity = 0,
                 it.limit_ns = 1000000000u);
}

static little_world world_of_one(muster_world_def def, muster_type_def type) {
  little_world little = typed_world(1, def, type);
  spawn_at(&little, 0);
  return little;
}

/* Runs a frame in which the callbacks may burn, and notes how much processor time the process had in it. */
static muster_frame_report run_burning(little_world *little, uint64_t budget_ns) {
  atomic_store(&stage.burns, 0);
  atomic_store(&stage.left, 1);
  stage.cpu_ns = cpu_of(CLOCK_PROCESS_CPUTIME_ID);
  muster_frame_report report = run_frame_with(little, budget_ns);
  stage.cpu_ns = cpu_of(CLOCK_PROCESS_CPUTIME_ID) - stage.cpu_ns + LITTLE_NS;
  return report;
}

/* Checks the report of a frame in which burnt_ns were burnt, at least late_ns of them after its end. */
static void check_late(const muster_frame_report *report, uint64_t late_ns) {
  uint64_t burnt_ns = stage.burnt_ns - LITTLE_NS;
  late_ns -= LITTLE_NS;
  cr_assert_geq(report->overrun_own_ns, late_ns, "frame %lu is late by %lu ns", report->frame, late_ns);
  cr_assert_leq(report->overrun_own_ns, stage.cpu_ns, "frame %lu is not late by what nobody computed", report->frame);
  cr_assert_geq(report->overrun_wall_ns, stage.burnt_ns - BUDGET_NS - LITTLE_NS, "the host sees it, too");
  cr_assert_geq(report->wall_ns, burnt_ns);
  cr_assert_geq(report->used_cpu_ns, burnt_ns, "it was used");
  cr_assert_leq(report->used_cpu_ns, stage.cpu_ns, "no more was used than there was");
  cr_assert_geq(report->given_cpu_ns, report->used_cpu_ns, "and what was used was given");
  cr_assert_leq(report->longest_claim_ns, stage.cpu_ns, "no claim is longer than the call");
  cr_assert_leq(report->longest_atom_ns, stage.cpu_ns, "nor an atom");
}

/* Where a test's frame burns. */
enum place { IN_A_CLAIM, IN_AN_ACTION, OUTSIDE_OF_ATOMS };

/* Runs frames until enough of them burnt something; each of these must be late by it. An atom's own time leaves out
 * what the kernel may have taken in it or before it, so only a frame in which the kernel took nothing shows all of it.
 */
static void expect_late(little_world *little, uint64_t late_ns, enum place place) {
  uint64_t atom_ns = 0; /* the most that any frame showed */
  uint32_t late = 0;
  for (uint32_t i = 0; i < 1000 && late < FRAMES; i++) {
    muster_frame_report report = run_burning(little, BUDGET_NS);
    if (stage.after) stage.after(little);
    if (!atomic_load(&stage.burns)) continue;
    late++;
    check_late(&report, late_ns);
    if (place == IN_A_CLAIM) cr_assert_geq(report.longest_claim_ns, stage.burnt_ns - LITTLE_NS);
    if (place == OUTSIDE_OF_ATOMS) cr_assert_not(muster_frame_kept(&report), "no atom was so long");
    if (report.longest_atom_ns > atom_ns) atom_ns = report.longest_atom_ns;
  }
  cr_assert_eq(late, FRAMES, "%u frames only burnt anything", late);
  if (place == OUTSIDE_OF_ATOMS) return;
  cr_assert_geq(atom_ns, stage.burnt_ns - stage.burnt_ns / 64 - LITTLE_NS, "no atom was longer than %lu ns", atom_ns);
}

/* The same of a world of one worker and one agent of this type. */
static void expect_type_late(muster_type_def type, uint64_t late_ns, enum place place) {
  SCOPED_WORLD little = world_of_one(audited(), type);
  expect_late(&little, late_ns, place);
}

/* ------------------------------------------------------------------------------------------------------- in a claim */

/* An atom that crosses the promised end counts as a whole. */
Test(audit, an_atom_that_crosses_the_end_is_late_as_a_whole) {
  expect_type_late(actor(&burns, 1), BURNT_NS, IN_A_CLAIM);
}

/* The least by which a frame can be late: a promised end that lies too late would be found. */
Test(audit, so_is_one_that_ends_soon_after_it) {
  stage.burnt_ns = BUDGET_NS + BUDGET_NS / 4;
  expect_type_late(actor(&burns, 1), stage.burnt_ns, IN_A_CLAIM);
}

Test(audit, a_frame_that_had_time_for_it_is_not_late) {
  SCOPED_WORLD little = world_of_one(audited(), actor(&burns, 1));
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t budget_ns = 10000000000u; /* the processor is never taken away for so long */
    muster_frame_report report = run_burning(&little, budget_ns);
    cr_assert_eq(report.overrun_own_ns, 0);
    cr_assert_eq(report.overrun_wall_ns, 0);
    if (!atomic_load(&stage.burns)) continue;
    cr_assert_geq(report.longest_claim_ns, BURNT_NS - LITTLE_NS);
    cr_assert_leq(report.longest_claim_ns, stage.cpu_ns);
  }
}

static muster_atom_result burn_little(muster_update *update) {
  (void)update;
  burn(BURNT_NS / 8);
  return MUSTER_ATOM_NEXT;
}

/* Atoms before the one that crosses the end are in time. Other load of the machine may hide that in a single frame. */
Test(audit, an_update_of_several_atoms_is_late_from_the_one_on_that_crosses_the_end) {
  const muster_atom atoms[] = {{burn_little, MUSTER_ROLE_BEHAVIOUR, 1000}, burns};
  uint64_t least_ns = UINT64_MAX;
  SCOPED_WORLD little = world_of_one(audited(), actor(atoms, 2));
  for (uint32_t i = 0, late = 0; i < 1000 && late < FRAMES; i++) {
    muster_frame_report report = run_burning(&little, 2 * BUDGET_NS);
    if (report.longest_claim_ns < BURNT_NS + BURNT_NS / 8 - LITTLE_NS) continue; /* cut between its atoms */
    late++;
    cr_assert_geq(report.overrun_own_ns, BURNT_NS - LITTLE_NS);
    if (report.overrun_own_ns < least_ns) least_ns = report.overrun_own_ns;
  }
  cr_assert_lt(least_ns, BURNT_NS + BURNT_NS / 16, "in no frame was it less than %lu ns", least_ns);
}

Test(audit, so_is_a_set) {
  const muster_set_def set = set_with(&burns, 1);
  expect_type_late(with_sets(actor(NULL, 0), &set, 1), BURNT_NS, IN_A_CLAIM);
}

static muster_atom_result burn_in_the_second_cycle(muster_update *update) {
  if (update->cycle == 1) burn_once();
  return MUSTER_ATOM_NEXT;
}

Test(audit, so_is_a_further_cycle) {
  SCOPED_WORLD little = typed_world(1, CHANGED(audited(), it.levels.cycles_max = 2, it.levels.cycles_importance = 0.0f),
                                    actor(atom_of(burn_in_the_second_cycle, 1000), 1));
  spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 1.0f));
  expect_late(&little, BURNT_NS, IN_A_CLAIM);
}

/* ----------------------------------------------------------------------------------------------------- in an action */

Test(audit, an_action_is_late_by_what_it_computes_past_the_end) {
  const muster_atom atoms[] = {idles, acts};
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++)
    expect_type_late(CHANGED(actor(atoms, 2), it.act = act), BURNT_NS - BUDGET_NS, IN_AN_ACTION);
}

Test(audit, so_is_an_action_set) {
  const muster_set_def set = CHANGED(set_with(&acts, 1), it.role = MUSTER_ROLE_ACTION);
  expect_type_late(with_sets(actor(NULL, 0), &set, 1), BURNT_NS - BUDGET_NS, IN_AN_ACTION);
}

Test(audit, an_action_of_another_worker_counts_as_one_of_the_caller) {
  const muster_atom atoms[] = {idles, {burn_beside_the_caller, MUSTER_ROLE_ACTION, LITTLE_NS}};
  if (muster_available_processors() < 2) SKIP_TEST("nobody works beside the caller");
  stage.caller = pthread_self();
  SCOPED_WORLD little = peopled(typed_world(2, audited(), CHANGED(actor(atoms, 2), it.act = MUSTER_ACT_PARALLEL)), 64);
  expect_late(&little, BURNT_NS - BUDGET_NS, IN_AN_ACTION);
}

/* ---------------------------------------------------------------------------------------------- after the actions */

static muster_atom_result ask_too_much(muster_update *update) {
  for (uint32_t i = 0; i < COMMANDS; i++) muster_update_wake_at(update, stage.other, update->now_ns + 1);
  return MUSTER_ATOM_FINISH;
}

Test(audit, settling_is_late_by_what_it_computes_past_the_end) {
  stage.line = "were dropped";
  SCOPED_WORLD little = typed_world(1, audited(), CHANGED(actor(&idles, 1), it.name = "idle"));
  stage.other = spawn_at(&little, 0);
  add_type(&little, actor(atom_of(ask_too_much, 1000), 1));
  spawn_at(&little, 1);
  expect_late(&little, BURNT_NS - BUDGET_NS, OUTSIDE_OF_ATOMS);
}

static muster_atom_result run_over(muster_update *update) {
  (void)update;
  burn(2 * LITTLE_NS);
  return MUSTER_ATOM_NEXT;
}

static void let_a_second_pass(little_world *little) {
  little->now_ns += 1000000000u; /* a second may tell of so many */
  /* In enough frames the whole type is demoted, too. */
  cr_assert_eq(muster_type_reinstate(little->world, little->type), MUSTER_OK);
}

/* Enforcing limits is the last step of a commit. Without pressure, which takes the level first that a penalty would. */
Test(audit, the_serial_tail_is_late_by_what_it_computes_past_the_end) {
  stage.line = "down to level";
  stage.after = let_a_second_pass;
  SCOPED_WORLD little =
      world_of_one(CHANGED(audited(), it.levels.pressure = 0.0f),
                   CHANGED(actor(atom_of(run_over, 1000), 1), it.limit_ns = LITTLE_NS, it.overruns.demote = 1,
                           it.overruns.quarantine = 0, it.levels.count = 2, it.levels.importance[0] = 0.0f));
  expect_late(&little, BURNT_NS - BUDGET_NS, OUTSIDE_OF_ATOMS);
}

static bool burn_and_write(const void *bytes, size_t count, void *user) {
  struct recorded *run = user;
  burn(BURNT_NS);
  return recorded_write(bytes, count, run);
}

/* Writing the record of a frame is part of the frame, and a replay tells the same of it. */
Test(audit, so_is_what_writing_the_record_computes) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = little_world_of(1, audited());
  muster_record_def record = WITH(muster_record_def, it.write = burn_and_write, it.user = &run);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  add_type(&little, actor(&idles, 1));
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_burning(&little, BUDGET_NS);
    check_late(&report, BURNT_NS - BUDGET_NS);
    cr_assert_not(muster_frame_kept(&report), "no atom was so long");
    recorded_note(&run, &little, report);
  }
  recorded_end(&run, little.world);
  SCOPED_WORLD again = little_world_of(1, audited());
  recorded_replay(&run, again.world);
  add_type(&again, actor(&idles, 1));
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = recorded_follow(&run, again.world, i);
    cr_assert_eq(report.overrun_own_ns, run.reports[i].overrun_own_ns);
    cr_assert_eq(report.overrun_wall_ns, run.reports[i].overrun_wall_ns);
    cr_assert_eq(report.wall_ns, run.reports[i].wall_ns);
    cr_assert_eq(report.used_cpu_ns, run.reports[i].used_cpu_ns);
    cr_assert_eq(report.given_cpu_ns, run.reports[i].given_cpu_ns);
    cr_assert_eq(report.serial_ns, run.reports[i].serial_ns);
    cr_assert_eq(report.work_ns, run.reports[i].work_ns);
  }
}

/* ---------------------------------------------------------------------------------------------------- what is given */

/* A frame that repays a debt is late only after its whole budget, so the whole budget is reported as given. */
Test(audit, a_frame_that_repays_was_given_all_of_its_budget) {
  uint64_t most_ns = 0;
  SCOPED_WORLD little = world_of_one(CHANGED(audited(), it.debt_budgets = 8.0f), actor(&burns, 1));
  for (uint32_t i = 0; i < 10 * FRAMES; i++) {
    atomic_store(&stage.left, i % 10 == 0);
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    if (report.repaid_ns < BUDGET_NS / 4) continue;
    uint64_t given_ns = report.given_cpu_ns;
    cr_assert(given_ns <= BUDGET_NS || given_ns == report.used_cpu_ns, "%lu ns", given_ns);
    if (given_ns <= BUDGET_NS && given_ns > most_ns) most_ns = given_ns;
  }
  cr_assert_gt(most_ns, BUDGET_NS - BUDGET_NS / 8, "at most %lu ns were given", most_ns);
}

/* ------------------------------------------------------------------------------------------------ in virtual time */

/* A virtual frame ends at the latest with the atom that crosses its end, and knows which atom is the longest. */
Test(audit, a_virtual_frame_tells_of_its_longest_atom) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 100000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 300000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 200000},
                                      {nothing, MUSTER_ROLE_ACTION, 50000}};
  for (uint32_t count = 2; count <= 4; count++) {
    SCOPED_WORLD little = world_of(actor(atoms + (count == 2), count == 2 ? 1 : count));
    for (uint32_t i = 0; i < 40; i++) spawn_at(&little, i);
    for (uint32_t i = 0; i < 4 * FRAMES; i++) {
      muster_frame_report report = run_frame(&little);
      if (report.completed > 1) cr_assert_eq(report.longest_atom_ns, 300000);
      cr_assert(muster_frame_kept(&report));
    }
  }
}

Test(audit, a_virtual_action_is_an_atom) {
  const muster_atom atoms[] = {idles, {nothing, MUSTER_ROLE_ACTION, 700000}};
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++) {
    SCOPED_WORLD little = world_of(CHANGED(actor(atoms, 2), it.act = act));
    uint32_t acted = 0;
    for (uint32_t i = 0; i < 4; i++) spawn_at(&little, i);
    for (uint32_t i = 0; i < FRAMES; i++) {
      muster_frame_report report = run_frame(&little);
      if (report.completed) cr_assert_eq(report.longest_atom_ns, 700000);
      cr_assert_eq(report.stage_ns[MUSTER_STAGE_COMMIT], 700000 * report.completed);
      cr_assert_eq(report.stage_ns[MUSTER_STAGE_RUN] + report.stage_ns[MUSTER_STAGE_COMMIT], report.wall_ns);
      acted += report.completed;
      cr_assert(muster_frame_kept(&report));
    }
    cr_assert_gt(acted, 0);
  }
}
