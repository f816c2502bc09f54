/* What can be chosen and tuned is recorded and replayed, on the wall clock and on any number of workers: weights,
 * factors of importance, company, reactions, further cycles, levels under pressure. */
#include "frame/frame_record.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "support/await.h"
#include "support/burn.h"
#include "world/fixture.h"
#include "world/world_learnt.h"

enum { CREATURES = 400 };

typedef struct creature {
  uint64_t updates, cycles, seen, late;
  double energy;
} creature;

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[2];
  self->updates += update->cycle == 0;
  self->cycles++;
  self->energy += (double)update->elapsed_ns * 1e-9;
  self->seen = self->seen * 31 + muster_update_random(update) + update->level + (uint64_t)(update->importance * 1000);
  spend(update->level ? 300 : 3000);
  if (update->cycle == 0 && muster_update_nearby(update, 20.0f, (muster_type){0}, near, 2) == 2) {
    if (self->updates % 5 == 1) muster_update_link(update, near[0].agent);
    if (self->updates % 7 == 1) muster_update_unlink(update, near[1].agent);
    if (self->updates % 6 == 1) muster_update_react_by(update, update->now_ns + 30000000u);
  }
  return MUSTER_ATOM_NEXT;
}

static void register_it(muster_world *world) {
  static const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 20000}, {live, MUSTER_ROLE_BEHAVIOUR, 10000}};
  /* Levels are such that pressure can lower many agents. */
  muster_type_def def = WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.state_bytes = sizeof(creature),
                             it.levels.count = 3, it.levels.importance[0] = 0.1f, it.levels.importance[1] = 0.05f,
                             it.period_ns = 10000000, it.period_max_ns = 80000000);
  cr_assert_eq(muster_type_register(world, &def).index, 1, "%s", muster_last_error());
}

static bool by_deadline; /* deadline order and the law of importance */

static muster_world_def choices(muster_clock clock) {
  return WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 1000, it.cell_m = 16.0f,
              it.importance_model = MUSTER_IMPORTANCE_FACTORS, it.priority.reduction = 0.5f, it.levels.pressure = 0.3f,
              it.order = by_deadline ? MUSTER_ORDER_DEADLINE : MUSTER_ORDER_PRIORITY,
              it.elastic = by_deadline ? MUSTER_ELASTIC_IMPORTANCE : MUSTER_ELASTIC_RATE, it.levels.cycles_max = 4,
              it.levels.cycles_importance = 0.3f);
}

/* The host tunes the world between recorded frames. */
static void turn(muster_world *world, uint32_t frame) {
  muster_world_tuning tuning = muster_world_tuning_default();
  if (frame % 10 == 3) muster_world_tuning_policy(&tuning, (muster_policy)(frame / 10 % 4));
  if (frame % 10 == 5) tuning.priority.guarantee_ns = 100000000u + frame * 1000000u;
  if (frame == 20)
    tuning.importance.focus = tuning.importance.designer = tuning.importance.role = tuning.importance.company = 0.5f;
  if (frame == 30) tuning.updates_per_frame = MUSTER_UPDATES_DERIVED;
  if (frame == 40) tuning.levels.cycles_max = 8;
  if (frame == 45) tuning.levels.pressure = 0.1f;
  if (frame == 50) tuning.importance.octaves = 5.0f;
  if (frame == 55) tuning.importance.wish_part = 0.3f;
  assert_ok(muster_world_tune(world, &tuning));
}

/* On the wall clock the machine's speed is unknown: long frames with time for further cycles come first, as long as
 * many agents are important enough (see turn()), then short ones, which build up pressure. */
static uint64_t budget_of(muster_clock clock, uint32_t frame, uint64_t budget_ns) {
  return clock == MUSTER_CLOCK_VIRTUAL || frame < 15 ? budget_ns : budget_ns >> 6;
}

static void record_run(struct recorded *run, uint32_t workers, muster_clock clock, uint32_t frames,
                       uint64_t budget_ns) {
  SCOPED_WORLD little = little_world_of(workers, choices(clock));
  little.provokes_idle = clock == MUSTER_CLOCK_WALL; /* its budgets fall to a 64th, see budget_of() */
  muster_agent agents[CREATURES];
  recorded_begin(run, little.world);
  register_it(little.world);
  for (uint32_t i = 0; i < CREATURES; i++)
    agents[i] =
        spawn_as(&little, WITH(muster_agent_def, it.type = (muster_type){1}, it.position.x = (double)i * 0.7,
                               it.designer = (float)(i % 16) / 15, it.role = i % 3 ? (float)(i % 5) / 4 : -1.0f));
  for (uint32_t i = 0; i < frames; i++) {
    turn(little.world, i);
    muster_agent_link(little.world, agents[i], agents[i + 1]);
    tune_agent(&little, agents[i * 3], WITH(muster_agent_tuning, it.designer = 0.9f));
    if (i % 9 == 0) muster_agent_remove(little.world, agents[i * 2 + 1]);
    recorded_note(run, &little, run_frame_with(&little, budget_of(clock, i, budget_ns)));
  }
  recorded_end(run, little.world);
}

static void replay_run(const struct recorded *run, uint32_t workers, muster_clock clock) {
  SCOPED_WORLD little = little_world_of(workers, choices(clock));
  little.provokes_idle = clock == MUSTER_CLOCK_WALL;
  recorded_replay(run, little.world);
  register_it(little.world);
  for (uint32_t i = 0; i < run->frames; i++) {
    muster_frame_report report = recorded_follow(run, little.world, i);
    cr_assert_eq(report.cycles, run->reports[i].cycles, "%u workers, frame %u", workers, i + 1);
    cr_assert_eq(report.agents_shed, run->reports[i].agents_shed, "%u workers, frame %u", workers, i + 1);
    cr_assert_eq(report.updates_max, run->reports[i].updates_max, "%u workers, frame %u", workers, i + 1);
  }
  muster_statistics sums = statistics_of(&little);
  cr_assert_eq(sums.reactions_met, run->sums.reactions_met);
  cr_assert_eq(sums.reactions_late, run->sums.reactions_late);
}

static bool has_all(const struct recorded *run) {
  uint64_t shed = 0;
  for (uint32_t i = 0; i < run->frames; i++) shed += run->reports[i].agents_shed;
  return run->sums.cycles && run->sums.reactions_met + run->sums.reactions_late && shed;
}

static void check_all(uint32_t workers, muster_clock clock) {
  enum { FRAMES = 90, BUDGETS = 17, TRIES = 3 };
  SCOPED(recorded_forget) struct recorded run = {0};
  bool all = false;
  /* The machine's speed is unknown, and other programs may take it away: finds a budget with which there is pressure,
   * and yet time for further cycles. */
  for (uint32_t i = 0; i < TRIES * BUDGETS && !all; i++) {
    recorded_forget(&run);
    uint32_t halves = i % BUDGETS + (clock == MUSTER_CLOCK_VIRTUAL ? 8 : 0); /* half octaves below 256 ms */
    record_run(&run, workers, clock, FRAMES, (halves % 2 ? 181000000u : 256000000u) >> halves / 2);
    all = has_all(&run);
  }
  cr_assert(all, "no budget with pressure, further cycles and reactions");
  replay_run(&run, 1, clock);
  replay_run(&run, 4, clock);
}

Test(record_choices, are_replayed_from_the_wall_clock) {
  check_all(2, MUSTER_CLOCK_WALL);
  check_all(1, MUSTER_CLOCK_WALL);
}

Test(record_choices, are_replayed_from_the_virtual_clock) {
  check_all(2, MUSTER_CLOCK_VIRTUAL);
}

Test(record_choices, are_replayed_in_the_order_of_deadlines, .disabled = UNDER_THREAD_SANITIZER) {
  by_deadline = true;
  check_all(2, MUSTER_CLOCK_WALL);
  check_all(2, MUSTER_CLOCK_VIRTUAL);
  by_deadline = false;
}

/* The number of workers makes no difference: runs that are recorded separately are the same. */
Test(record_choices, give_the_same_world_on_1_to_8_workers) {
  enum { FRAMES = 60 };
  SCOPED(recorded_forget) struct recorded one = {0}, many = {0};
  record_run(&one, 1, MUSTER_CLOCK_VIRTUAL, FRAMES, 2000000);
  for (uint32_t workers = 2; workers <= 8; workers *= 2) {
    record_run(&many, workers, MUSTER_CLOCK_VIRTUAL, FRAMES, 2000000);
    for (uint32_t i = 0; i < FRAMES; i++)
      cr_assert_eq(one.hashes[i], many.hashes[i], "%u workers, frame %u", workers, i + 1);
    recorded_forget(&many);
  }
}

/* ------------------------------------------------------------------------------------------------- on fewer workers */

enum { MEETING_FRAME = 4, ASKS = RUNNER_LOG_MAX - 7 };

/* Two agents, which ask for much in one frame: in the recorded run each on a worker of its own. */
typedef struct meeting {
  muster_agent agents[2];
  bool asks, meets;
  shared_u32 here;
} meeting;

static muster_atom_result ask_much(muster_update *update) {
  meeting *of = update->type_user;
  uint64_t *taken = update->state;
  muster_agent other = of->agents[muster_agent_equal(update->agent, of->agents[0])];
  if (!of->asks) return MUSTER_ATOM_NEXT;
  if (of->meets) {
    fetch_add_relaxed_u32(&of->here, 1);
    AWAIT(load_acquire_u32(&of->here) == 2);
  }
  for (uint32_t i = 0; i < ASKS; i++) *taken += muster_update_wake_at(update, other, MUSTER_WAKE_NEVER) == MUSTER_OK;
  return MUSTER_ATOM_NEXT;
}

static little_world meeting_world(uint32_t workers) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.commands_max = 4 * RUNNER_LOG_MAX;
  little_world little = little_world_create(workers, &def);
  little.provokes_idle = true;
  return little;
}

static void meeting_type(little_world *little, meeting *of) {
  static const muster_atom atom = {ask_much, MUSTER_ROLE_BEHAVIOUR, 1000000};
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = sizeof(uint64_t);
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.elasticity = 0;
  type.limit_ns = 1000000000;
  type.user = of;
  register_type(little, &type);
}

/* One worker takes in what all of the recorded run did. */
Test(record_choices, one_worker_has_room_for_what_several_asked_for) {
  static struct recorded run;
  meeting of = {.meets = true};
  little_world little = meeting_world(2);
  recorded_begin(&run, little.world);
  meeting_type(&little, &of);
  for (uint32_t i = 0; i < 2; i++) of.agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < 2 * MEETING_FRAME; i++) {
    of.asks = i == MEETING_FRAME;
    recorded_note(&run, &little, run_frame_with(&little, 100000000));
  }
  for (uint32_t i = 0; i < 2; i++)
    cr_assert_eq(*(const uint64_t *)info_of(&little, of.agents[i]).state, ASKS, "they were not on two workers");
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  of.meets = false;
  for (uint32_t workers = 1; workers <= 2; workers++) {
    little = meeting_world(workers);
    recorded_replay(&run, little.world);
    meeting_type(&little, &of);
    for (uint32_t i = 0; i < 2 * MEETING_FRAME; i++) {
      of.asks = i == MEETING_FRAME;
      cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%u workers: %s", workers, muster_last_error());
      cr_assert_eq(muster_world_hash(little.world), run.hashes[i], "%u workers, frame %u", workers, i + 1);
    }
    little_world_destroy(&little);
  }
  recorded_forget(&run);
}

/* ------------------------------------------------------------------------------------------ what cannot be measured */

/* Each time separately: a record with such a time is refused, and the world goes on with the times that it measured
 * itself. */
Test(record_choices, times_that_no_clock_measures_are_not_taken_from_a_record) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  SCOPED(recorded_forget) struct recorded run = {0};
  recorded_begin(&run, little.world);
  struct muster_world *world = little.world;
  frame_experience *read = &world->learnt->experience, own = *read;
  double *times[] = {&read->plan.mean_ns,
                     &read->settle.high_ns,
                     &read->settle_rest.mean_ns,
                     &read->act.mean_ns,
                     &read->act_each[MUSTER_ACT_SERIAL].mean_ns,
                     &read->act_each[MUSTER_ACT_REGION].mean_ns,
                     &read->act_each[MUSTER_ACT_PARALLEL].mean_ns,
                     &read->act_settle.mean_ns,
                     &read->prepare.mean_ns,
                     &read->rank.high_ns,
                     &read->each_ns,
                     &read->reserve_ns};
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    double kept = *times[i];
    *times[i] = -1.0;
    world->recorder->trouble[0] = '\0';
    frame_record_check_experience(world, &own);
    cr_assert(*times[i] >= kept && *times[i] <= kept, "time %zu", i);
    cr_assert_not_null(strstr(world->recorder->trouble, "measured times that cannot be"), "time %zu", i);
  }
  world->recorder->trouble[0] = '\0';
  frame_record_check_experience(world, &own);
  cr_assert_str_eq(world->recorder->trouble, "", "what was measured can be");
  recorded_end(&run, little.world);
}
