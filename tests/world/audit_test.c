/* With audit, a frame that is late by a known CPU time says so in every figure, wherever in the frame that time was
 * spent. Each figure has a lower bound, the time that the test burns, and an upper one, the processor time that its
 * process used during the call. Other load of the machine changes neither. */
#include "support/burn.h"
#include "support/recording.h"
#include "support/skip.h"

#include <muster/overruns.h>
#include <muster/record.h>
#include <muster/sets.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
  FRAMES = 12,
  BUDGET_NS = 2000000,
  BURNT_NS = 8000000,
  LITTLE_NS = 100000, /* two clocks that measure the same may differ by so much */
  COMMANDS = 8400     /* more than a worker's log takes */
};

/* What the callbacks of a test share. */
struct stage {
  pthread_t caller;
  uint64_t burnt_ns; /* CPU time that they burn */
  atomic_uint burns; /* how often, in this frame */
  atomic_uint left;  /* how often they still may in this frame */
  const char *line;  /* words of the log line at which the sink burns */
  muster_agent other;
};

static void burn_once(struct stage *stage) {
  uint32_t left = atomic_load(&stage->left);
  while (left && !atomic_compare_exchange_weak(&stage->left, &left, left - 1)) continue;
  if (!left) return;
  burn(stage->burnt_ns);
  atomic_fetch_add(&stage->burns, 1);
}

static muster_atom_result burn_here(muster_update *update) {
  burn_once(update->type_user);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result burn_beside_the_caller(muster_update *update) {
  struct stage *stage = update->type_user;
  if (!pthread_equal(pthread_self(), stage->caller))
    burn_once(stage);
  else
    burn(LITTLE_NS);
  return MUSTER_ATOM_NEXT;
}

static void burn_at_a_line(muster_log_level level, const char *message, void *user) {
  struct stage *stage = user;
  (void)level;
  if (stage->line && strstr(message, stage->line)) burn_once(stage);
}

static muster_world_def audited(struct stage *stage) {
  muster_world_def def = muster_world_def_default();
  def.audit = true;
  def.debt_budgets = 0.0f; /* each frame has the same budget */
  def.log = (muster_log_sink){burn_at_a_line, stage};
  return def;
}

static muster_type_def actor(struct stage *stage, const muster_atom *atoms, uint32_t count) {
  muster_type_def def = type_with(atoms, count);
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.elasticity = 0;
  def.limit_ns = 1000000000u;
  def.user = stage;
  return def;
}

/* A world of one worker and one agent, which burns in each frame. */
static little_world world_of_one(struct stage *stage, uint64_t burnt_ns) {
  static const muster_atom atom = {burn_here, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_world_def def = audited(stage);
  *stage = (struct stage){.burnt_ns = burnt_ns};
  little_world little = little_world_create(1, &def);
  muster_type_def type = actor(stage, &atom, 1);
  register_type(&little, &type);
  spawn_at(&little, 0);
  return little;
}

/* Runs a frame in which the callbacks may burn, and notes how much processor time the process had in it. */
static muster_frame_report run_burning(little_world *little, struct stage *stage, uint64_t budget_ns,
                                       uint64_t *cpu_ns) {
  atomic_store(&stage->burns, 0);
  atomic_store(&stage->left, 1);
  *cpu_ns = cpu_of(CLOCK_PROCESS_CPUTIME_ID);
  muster_frame_report report = run_frame_with(little, budget_ns);
  *cpu_ns = cpu_of(CLOCK_PROCESS_CPUTIME_ID) - *cpu_ns + LITTLE_NS;
  return report;
}

/* Checks the report of a frame in which burnt_ns were burnt, at least late_ns of them after its end. */
static void check_late(const muster_frame_report *report, const struct stage *stage, uint64_t late_ns,
                       uint64_t cpu_ns) {
  uint64_t burnt_ns = stage->burnt_ns - LITTLE_NS;
  late_ns -= LITTLE_NS;
  cr_assert_geq(report->overrun_own_ns, late_ns, "frame %llu is late by %llu ns", (unsigned long long)report->frame,
                (unsigned long long)late_ns);
  cr_assert_leq(report->overrun_own_ns, cpu_ns, "frame %llu is not late by what nobody computed",
                (unsigned long long)report->frame);
  cr_assert_geq(report->overrun_wall_ns, stage->burnt_ns - BUDGET_NS - LITTLE_NS, "the host sees it, too");
  cr_assert_geq(report->wall_ns, burnt_ns);
  cr_assert_geq(report->used_cpu_ns, burnt_ns, "it was used");
  cr_assert_leq(report->used_cpu_ns, cpu_ns, "no more was used than there was");
  cr_assert_geq(report->given_cpu_ns, report->used_cpu_ns, "and what was used was given");
  cr_assert_leq(report->longest_claim_ns, cpu_ns, "no claim is longer than the call");
  cr_assert_leq(report->longest_atom_ns, cpu_ns, "nor an atom");
}

/* Where a test's frame burns. */
enum place { IN_A_CLAIM, IN_AN_ACTION, OUTSIDE_OF_ATOMS };

/* Checks what is known of the longest atom and claim of frames that burnt. An atom's own time leaves out what the
 * kernel may have taken in it or before it, so only a frame in which the kernel took nothing shows all of it: *atom_ns
 * is the most that any frame showed. */
static void check_longest(const muster_frame_report *report, const struct stage *stage, enum place place,
                          uint64_t *atom_ns) {
  if (place == IN_A_CLAIM) cr_assert_geq(report->longest_claim_ns, stage->burnt_ns - LITTLE_NS);
  if (place == OUTSIDE_OF_ATOMS) cr_assert_not(muster_frame_kept(report), "no atom was so long");
  if (report->longest_atom_ns > *atom_ns) *atom_ns = report->longest_atom_ns;
}

/* Runs frames until enough of them burnt something; each of these must be late by it. */
static void expect_late(little_world *little, struct stage *stage, uint64_t late_ns, enum place place) {
  uint64_t atom_ns = 0;
  uint32_t late = 0;
  for (uint32_t i = 0; i < 1000 && late < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(little, stage, BUDGET_NS, &cpu_ns);
    if (!atomic_load(&stage->burns)) continue;
    late++;
    check_late(&report, stage, late_ns, cpu_ns);
    check_longest(&report, stage, place, &atom_ns);
  }
  cr_assert_eq(late, FRAMES, "%u frames only burnt anything", late);
  if (place == OUTSIDE_OF_ATOMS) return;
  cr_assert_geq(atom_ns, stage->burnt_ns - stage->burnt_ns / 64 - LITTLE_NS, "no atom was longer than %llu ns",
                (unsigned long long)atom_ns);
}

/* ------------------------------------------------------------------------------------------------------- in a claim */

/* An atom that crosses the promised end counts as a whole. */
Test(audit, an_atom_that_crosses_the_end_is_late_as_a_whole) {
  static struct stage stage;
  little_world little = world_of_one(&stage, BURNT_NS);
  expect_late(&little, &stage, BURNT_NS, IN_A_CLAIM);
  little_world_destroy(&little);
}

/* The least by which a frame can be late: a promised end that lies too late would be found. */
Test(audit, so_is_one_that_ends_soon_after_it) {
  static struct stage stage;
  little_world little = world_of_one(&stage, BUDGET_NS + BUDGET_NS / 4);
  expect_late(&little, &stage, BUDGET_NS + BUDGET_NS / 4, IN_A_CLAIM);
  little_world_destroy(&little);
}

Test(audit, a_frame_that_had_time_for_it_is_not_late) {
  static struct stage stage;
  little_world little = world_of_one(&stage, BURNT_NS);
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t cpu_ns, budget_ns = 10000000000u; /* the processor is never taken away for so long */
    muster_frame_report report = run_burning(&little, &stage, budget_ns, &cpu_ns);
    cr_assert_eq(report.overrun_own_ns, 0);
    cr_assert_eq(report.overrun_wall_ns, 0);
    if (!atomic_load(&stage.burns)) continue;
    cr_assert_geq(report.longest_claim_ns, BURNT_NS - LITTLE_NS);
    cr_assert_leq(report.longest_claim_ns, cpu_ns);
  }
  little_world_destroy(&little);
}

static muster_atom_result burn_little(muster_update *update) {
  (void)update;
  burn(BURNT_NS / 8);
  return MUSTER_ATOM_NEXT;
}

/* Atoms before the one that crosses the end are in time. Other load of the machine may hide that in a single frame. */
Test(audit, an_update_of_several_atoms_is_late_from_the_one_on_that_crosses_the_end) {
  static const muster_atom atoms[] = {{burn_little, MUSTER_ROLE_BEHAVIOUR, 1000},
                                      {burn_here, MUSTER_ROLE_BEHAVIOUR, 1000}};
  static struct stage stage;
  muster_world_def def = audited(&stage);
  uint64_t least_ns = UINT64_MAX;
  stage = (struct stage){.burnt_ns = BURNT_NS};
  little_world little = little_world_create(1, &def);
  muster_type_def type = actor(&stage, atoms, 2);
  register_type(&little, &type);
  spawn_at(&little, 0);
  for (uint32_t i = 0, late = 0; i < 1000 && late < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &stage, 2 * BUDGET_NS, &cpu_ns);
    if (report.longest_claim_ns < BURNT_NS + BURNT_NS / 8 - LITTLE_NS) continue; /* cut between its atoms */
    late++;
    cr_assert_geq(report.overrun_own_ns, BURNT_NS - LITTLE_NS);
    if (report.overrun_own_ns < least_ns) least_ns = report.overrun_own_ns;
  }
  cr_assert_lt(least_ns, BURNT_NS + BURNT_NS / 16, "in no frame was it less than %llu ns",
               (unsigned long long)least_ns);
  little_world_destroy(&little);
}

Test(audit, so_is_a_set) {
  static const muster_atom atom = {burn_here, MUSTER_ROLE_BEHAVIOUR, 1000};
  static struct stage stage;
  muster_world_def def = audited(&stage);
  muster_type_def type = actor(&stage, NULL, 0);
  muster_set_def set = muster_set_def_default();
  stage = (struct stage){.burnt_ns = BURNT_NS};
  set.atoms = &atom;
  set.atom_count = 1;
  type.sets.list = &set;
  type.sets.count = 1;
  little_world little = little_world_create(1, &def);
  register_type(&little, &type);
  spawn_at(&little, 0);
  expect_late(&little, &stage, BURNT_NS, IN_A_CLAIM);
  little_world_destroy(&little);
}

static muster_atom_result burn_in_the_second_cycle(muster_update *update) {
  if (update->cycle == 1) burn_once(update->type_user);
  return MUSTER_ATOM_NEXT;
}

Test(audit, so_is_a_further_cycle) {
  static const muster_atom atom = {burn_in_the_second_cycle, MUSTER_ROLE_BEHAVIOUR, 1000};
  static struct stage stage;
  muster_world_def def = audited(&stage);
  def.levels.cycles_max = 2;
  def.levels.cycles_importance = 0.0f;
  stage = (struct stage){.burnt_ns = BURNT_NS};
  little_world little = little_world_create(1, &def);
  muster_type_def type = actor(&stage, &atom, 1);
  register_type(&little, &type);
  muster_agent_def agent = muster_agent_def_default();
  agent.type = little.type;
  agent.importance_floor = 1.0f;
  cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &agent)));
  expect_late(&little, &stage, BURNT_NS, IN_A_CLAIM);
  little_world_destroy(&little);
}

/* ----------------------------------------------------------------------------------------------------- in an action */

static void expect_late_actions(const muster_type_def *type, struct stage *stage) {
  muster_world_def def = audited(stage);
  *stage = (struct stage){.burnt_ns = BURNT_NS};
  little_world little = little_world_create(1, &def);
  register_type(&little, type);
  spawn_at(&little, 0);
  expect_late(&little, stage, BURNT_NS - BUDGET_NS, IN_AN_ACTION);
  little_world_destroy(&little);
}

Test(audit, an_action_is_late_by_what_it_computes_past_the_end) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {burn_here, MUSTER_ROLE_ACTION, 1000}};
  static struct stage stage;
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++) {
    muster_type_def type = actor(&stage, atoms, 2);
    type.act = act;
    expect_late_actions(&type, &stage);
  }
}

Test(audit, so_is_an_action_set) {
  static const muster_atom acts = {burn_here, MUSTER_ROLE_ACTION, 1000};
  static struct stage stage;
  muster_type_def type = actor(&stage, NULL, 0);
  muster_set_def set = muster_set_def_default();
  set.atoms = &acts;
  set.atom_count = 1;
  set.role = MUSTER_ROLE_ACTION;
  type.sets.list = &set;
  type.sets.count = 1;
  expect_late_actions(&type, &stage);
}

Test(audit, an_action_of_another_worker_counts_as_one_of_the_caller) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000},
                                      {burn_beside_the_caller, MUSTER_ROLE_ACTION, LITTLE_NS}};
  static struct stage stage;
  if (muster_available_processors() < 2) SKIP_TEST("nobody works beside the caller");
  muster_world_def def = audited(&stage);
  stage = (struct stage){.caller = pthread_self(), .burnt_ns = BURNT_NS};
  little_world little = little_world_create(2, &def);
  muster_type_def type = actor(&stage, atoms, 2);
  type.act = MUSTER_ACT_PARALLEL;
  register_type(&little, &type);
  for (uint32_t i = 0; i < 64; i++) spawn_at(&little, i);
  expect_late(&little, &stage, BURNT_NS - BUDGET_NS, IN_AN_ACTION);
  little_world_destroy(&little);
}

/* ---------------------------------------------------------------------------------------------- after the actions */

static muster_atom_result ask_too_much(muster_update *update) {
  const struct stage *stage = update->type_user;
  for (uint32_t i = 0; i < COMMANDS; i++) muster_update_wake_at(update, stage->other, update->now_ns + 1);
  return MUSTER_ATOM_FINISH;
}

Test(audit, settling_is_late_by_what_it_computes_past_the_end) {
  static const muster_atom asks = {ask_too_much, MUSTER_ROLE_BEHAVIOUR, 1000};
  static const muster_atom idles = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  static struct stage stage;
  muster_world_def def = audited(&stage);
  stage = (struct stage){.burnt_ns = BURNT_NS, .line = "were dropped"};
  little_world little = little_world_create(1, &def);
  muster_type_def idle = actor(&stage, &idles, 1), asking = actor(&stage, &asks, 1);
  idle.name = "idle";
  register_type(&little, &idle);
  stage.other = spawn_at(&little, 0);
  register_type(&little, &asking);
  spawn_at(&little, 1);
  expect_late(&little, &stage, BURNT_NS - BUDGET_NS, OUTSIDE_OF_ATOMS);
  little_world_destroy(&little);
}

static muster_atom_result run_over(muster_update *update) {
  (void)update;
  burn(2 * LITTLE_NS);
  return MUSTER_ATOM_NEXT;
}

/* Enforcing limits is the last step of a commit. */
Test(audit, the_serial_tail_is_late_by_what_it_computes_past_the_end) {
  static const muster_atom atom = {run_over, MUSTER_ROLE_BEHAVIOUR, 1000};
  static struct stage stage;
  muster_world_def def = audited(&stage);
  def.levels.pressure = 0.0f; /* else pressure takes the level first that a penalty would take */
  stage = (struct stage){.burnt_ns = BURNT_NS, .line = "down to level"};
  little_world little = little_world_create(1, &def);
  muster_type_def type = actor(&stage, &atom, 1);
  type.limit_ns = LITTLE_NS;
  type.overruns.demote = 1;
  type.overruns.quarantine = 0;
  type.levels.count = 2;
  type.levels.importance[0] = 0.0f;
  register_type(&little, &type);
  spawn_at(&little, 0);
  uint32_t late = 0;
  for (uint32_t i = 0; i < 1000 && late < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &stage, BUDGET_NS, &cpu_ns);
    little.now_ns += 1000000000u; /* a second may tell of so many */
    /* In enough frames the whole type is demoted, too. */
    cr_assert_eq(muster_type_reinstate(little.world, little.type), MUSTER_OK);
    if (!atomic_load(&stage.burns)) continue;
    late++;
    check_late(&report, &stage, BURNT_NS - BUDGET_NS, cpu_ns);
    cr_assert_not(muster_frame_kept(&report), "no atom was so long");
  }
  cr_assert_eq(late, FRAMES, "%u frames only told of a demotion", late);
  little_world_destroy(&little);
}

static bool burn_and_write(const void *bytes, size_t count, void *user) {
  struct recorded *run = user;
  burn(BURNT_NS);
  return recorded_write(bytes, count, run);
}

/* Writing the record of a frame is part of the frame, and a replay tells the same of it. */
Test(audit, so_is_what_writing_the_record_computes) {
  static struct recorded run;
  static struct stage stage;
  muster_world_def def = audited(&stage);
  static const muster_atom idles = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_type_def type = actor(&stage, &idles, 1);
  muster_record_def record = muster_record_def_default();
  stage = (struct stage){.burnt_ns = BURNT_NS};
  little_world little = little_world_create(1, &def);
  record.write = burn_and_write;
  record.user = &run;
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  register_type(&little, &type);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < FRAMES; i++) {
    uint64_t cpu_ns;
    muster_frame_report report = run_burning(&little, &stage, BUDGET_NS, &cpu_ns);
    check_late(&report, &stage, BURNT_NS - BUDGET_NS, cpu_ns);
    cr_assert_not(muster_frame_kept(&report), "no atom was so long");
    recorded_note(&run, &little, report);
  }
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  little = little_world_create(1, &def);
  recorded_replay(&run, little.world);
  register_type(&little, &type);
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = muster_frame_report_default();
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    muster_frame_report_read(little.world, &report);
    cr_assert_eq(report.overrun_own_ns, run.reports[i].overrun_own_ns);
    cr_assert_eq(report.overrun_wall_ns, run.reports[i].overrun_wall_ns);
    cr_assert_eq(report.wall_ns, run.reports[i].wall_ns);
    cr_assert_eq(report.used_cpu_ns, run.reports[i].used_cpu_ns);
    cr_assert_eq(report.given_cpu_ns, run.reports[i].given_cpu_ns);
    cr_assert_eq(report.serial_ns, run.reports[i].serial_ns);
    cr_assert_eq(report.work_ns, run.reports[i].work_ns);
  }
  little_world_destroy(&little);
  recorded_forget(&run);
}

/* ---------------------------------------------------------------------------------------------------- what is given */

/* A frame that repays a debt is late only after its whole budget, so the whole budget is reported as given. */
Test(audit, a_frame_that_repays_was_given_all_of_its_budget) {
  static struct stage stage;
  static const muster_atom atom = {burn_here, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_world_def def = audited(&stage);
  uint64_t most_ns = 0;
  def.debt_budgets = 8.0f;
  stage = (struct stage){.burnt_ns = BURNT_NS};
  little_world little = little_world_create(1, &def);
  muster_type_def type = actor(&stage, &atom, 1);
  register_type(&little, &type);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < 10 * FRAMES; i++) {
    atomic_store(&stage.left, i % 10 == 0);
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    if (report.repaid_ns < BUDGET_NS / 4) continue;
    uint64_t given_ns = report.given_cpu_ns;
    cr_assert(given_ns <= BUDGET_NS || given_ns == report.used_cpu_ns, "%llu ns", (unsigned long long)given_ns);
    if (given_ns <= BUDGET_NS && given_ns > most_ns) most_ns = given_ns;
  }
  cr_assert_gt(most_ns, BUDGET_NS - BUDGET_NS / 8, "at most %llu ns were given", (unsigned long long)most_ns);
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------ in virtual time */

/* A virtual frame ends at the latest with the atom that crosses its end, and knows which atom is the longest. */
Test(audit, a_virtual_frame_tells_of_its_longest_atom) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 100000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 300000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 200000},
                                      {nothing, MUSTER_ROLE_ACTION, 50000}};
  static struct stage stage;
  for (uint32_t count = 2; count <= 4; count++) {
    little_world little = little_world_create(1, NULL);
    muster_type_def type = actor(&stage, atoms + (count == 2), count == 2 ? 1 : count);
    register_type(&little, &type);
    for (uint32_t i = 0; i < 40; i++) spawn_at(&little, i);
    for (uint32_t i = 0; i < 4 * FRAMES; i++) {
      muster_frame_report report = run_frame(&little);
      if (report.completed > 1) cr_assert_eq(report.longest_atom_ns, 300000);
      cr_assert(muster_frame_kept(&report));
    }
    little_world_destroy(&little);
  }
}

Test(audit, a_virtual_action_is_an_atom) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {nothing, MUSTER_ROLE_ACTION, 700000}};
  static struct stage stage;
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++) {
    little_world little = little_world_create(1, NULL);
    muster_type_def type = actor(&stage, atoms, 2);
    uint32_t acted = 0;
    type.act = act;
    register_type(&little, &type);
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
    little_world_destroy(&little);
  }
}
