/* Some thousand agents of several kinds on the wall clock and two workers: whatever is stretched, carried, preempted or
 * woken, every agent lives through exactly the time that passed, and all counts agree. Runs under ThreadSanitizer, too.
 */
#include "world/fixture.h"

/* Most frames have time for every agent, also under ThreadSanitizer; in some, most agents are left waiting. */
enum { TYPES = 4, PEOPLE = 4000, AGENTS_MAX = 8000, FRAMES = 120, BUDGET_NS = 12000000, SHORT_BUDGET_NS = 300000 };

/* What the agents that were removed had done. */
static struct { uint64_t spawned, removed, updates, wrong; } ledger;

struct person {
  uint64_t born_ns, lived_ns, updates, wrong;
  double x; /* the position that it moved to last */
  uint32_t alive, atoms;
};

static void expect(struct person *person, bool condition) {
  person->wrong += !condition;
}

static void be_born(muster_update *update) {
  struct person *self = update->state;
  ledger.spawned++;
  *self = (struct person){.born_ns = update->now_ns, .x = update->position.x, .alive = 1};
  expect(self, update->elapsed_ns == 0);
}

static void die(muster_update *update) {
  struct person *self = update->state;
  expect(self, self->alive == 1 && self->born_ns + self->lived_ns <= update->now_ns);
  self->alive = 0;
  ledger.removed++;
  ledger.updates += self->updates;
  ledger.wrong += self->wrong;
}

/* Every kind of update ends with an atom that calls this. */
static void live(muster_update *update) {
  struct person *self = update->state;
  expect(self, self->alive == 1);
  expect(self, self->born_ns + self->lived_ns + update->elapsed_ns == update->now_ns);
  self->lived_ns += update->elapsed_ns;
  self->updates++;
  *(uint64_t *)update->published = self->updates;
}

static muster_atom_result look(muster_update *update) {
  struct person *self = update->state;
  muster_neighbour near[8];
  bool looks = muster_update_random(update) % 8 == 0;
  uint32_t count = looks ? muster_update_nearby(update, 12.0f, (muster_type){0}, near, 8) : 0;
  for (uint32_t i = 0; i < count; i++) {
    expect(self, !muster_agent_equal(near[i].agent, update->agent) && near[i].distance_m <= 12.01f);
    expect(self, *(const uint64_t *)near[i].published < UINT32_MAX);
    if (muster_update_random(update) % 64 == 0) muster_update_wake(update, near[i].agent);
  }
  self->atoms++;
  return MUSTER_ATOM_NEXT;
}

/* Some agents go far into another cell. */
static muster_atom_result walk(muster_update *update) {
  struct person *self = update->state;
  muster_position to = update->position;
  expect(self, fabs(to.x - self->x) < 1e-3);
  double stride_m = muster_update_random(update) % 8 ? 1.0 : 40.0;
  to.x += ((double)muster_update_random_share(update) - 0.5) * stride_m;
  if (muster_update_move(update, to) == MUSTER_OK) self->x = to.x;
  live(update);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result stay(muster_update *update) {
  live(update);
  return MUSTER_ATOM_FINISH;
}

static muster_atom_result multiply(muster_update *update) {
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
  if (muster_update_random(update) % 16 == 0) muster_update_spawn(update, &child);
  if (muster_update_random(update) % 16 == 0) muster_update_remove(update, update->agent);
  live(update);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom walker[] = {{look, MUSTER_ROLE_PERCEPTION, 0}, {walk, MUSTER_ROLE_BEHAVIOUR, 0}};
static const muster_atom dweller[] = {{stay, MUSTER_ROLE_BEHAVIOUR, 0}};
static const muster_atom breeder[] = {{look, MUSTER_ROLE_PERCEPTION, 0}, {multiply, MUSTER_ROLE_BEHAVIOUR, 0}};
static const muster_atom actor[] = {{look, MUSTER_ROLE_PERCEPTION, 0}, {walk, MUSTER_ROLE_ACTION, 0}};

static const struct {
  const muster_atom *atoms;
  uint32_t atom_count, spawns_max;
  uint64_t period_ns;
  float elasticity;
} kinds[TYPES] = {{walker, 2, 0, 10000000, 1.0f},
                  {dweller, 1, 0, 25000000, 0.0f},
                  {breeder, 2, 1, 60000000, 8.0f},
                  {actor, 2, 0, 100000000, 0.25f}};

static struct {
  little_world little;
  muster_type types[TYPES];
  muster_observer observer;
  uint64_t completed, released, woken; /* sums of the reports */
} scene;                               /* each test runs in a process of its own */

static muster_agent spawn(uint32_t number) {
  muster_agent_def def = WITH(muster_agent_def, it.type = scene.types[number % TYPES],
                              it.position = (muster_position){number % 60 * 5.0, number / 60 % 60 * 5.0, 0});
  return muster_agent_spawn(scene.little.world, &def);
}

static void destroy(void) {
  muster_statistics sums = statistics_of(&scene.little);
  cr_assert_eq(sums.idle_frames[MUSTER_IDLE_FAULT], 0, "frames ended though agents waited");
  little_world_destroy(&scene.little);
}

static void create(uint32_t people, uint32_t agents_max) {
  scene.little = little_world_of(2, CHANGED(papers_world_def(), it.limits.agents_max = agents_max));
  scene.little.provokes_idle = true; /* budgets change by forty times: no plan is right, and estimates are mended */
  for (uint32_t i = 0; i < TYPES; i++) {
    add_type(&scene.little, CHANGED(type_with(kinds[i].atoms, kinds[i].atom_count), it.spawns_max = kinds[i].spawns_max,
                                    it.period_ns = kinds[i].period_ns, it.elasticity = kinds[i].elasticity,
                                    it.period_max_ns = 10 * it.period_ns, it.state_bytes = sizeof(struct person),
                                    it.published_bytes = sizeof(uint64_t), it.levels.count = 1 + i,
                                    it.on_spawned = be_born, it.on_removed = die));
    scene.types[i] = scene.little.type;
  }
  scene.observer = observe_at(&scene.little, 0);
  for (uint32_t i = 0; i < people; i++) cr_assert(!muster_agent_is_null(spawn(i)));
}

/* What a host does between two frames: some agents come, go, are woken, moved and tuned; the observer walks on. */
static void disturb(uint32_t frame) {
  muster_world *world = scene.little.world;
  muster_agent agent = {0};
  muster_observer_move(world, scene.observer, (muster_position){frame % 100 * 3.0, frame % 70 * 4.0, 0});
  for (uint32_t i = 0; i < 8; i++) spawn(frame * 13 + i);
  for (uint32_t i = frame % 89; !muster_agent_is_null(agent = muster_agent_next(world, agent)); i++) {
    if (i % 89 == 0) muster_agent_wake(world, agent);
    if (i % 331 == 1) muster_agent_remove(world, agent);
    if (i % 97 == 2)
      tune_agent(&scene.little, agent,
                 WITH(muster_agent_tuning, it.importance_floor = (float)(i % 3) * 0.5f,
                      it.elasticity = i % 2 ? 2.0f : 0.0f, it.derive_elasticity = i % 5 == 0));
  }
}

/* Compares what the report says with what the agents say. Returns the updates of all agents that live. */
static uint64_t check_agents(const muster_frame_report *report) {
  uint32_t levels[MUSTER_LEVELS] = {0}, count = 0;
  uint64_t updates = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(scene.little.world, agent));) {
    muster_agent_info info = info_of(&scene.little, agent);
    const struct person *self = info.state;
    cr_assert(info.active && self->alive == 1);
    cr_assert_eq(self->wrong, 0, "agent %u saw %lu wrong things", muster_agent_index(agent), self->wrong);
    levels[info.level]++;
    updates += self->updates;
    count++;
  }
  cr_assert_eq(count, report->agents);
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++)
    cr_assert_eq(levels[i], report->levels[i], "level %u: %u, reported %u", i, levels[i], report->levels[i]);
  return updates;
}

static muster_frame_report run(uint64_t budget_ns) {
  muster_frame_report report = run_frame_with(&scene.little, budget_ns);
  scene.completed += report.completed;
  scene.released += report.released;
  scene.woken += report.woken;
  return report;
}

/* Runs frames with plenty of time and without new commands until no agent waits. */
static muster_frame_report settle(void) {
  muster_frame_report report;
  do report = run(2000000000u);
  while (report.carried + report.preempted + report.actions_waiting + report.spawns_waiting + report.commands_waiting);
  return report;
}

Test(crowd_threads, everyone_lives_through_the_time_that_passed_and_all_counts_agree) {
  create(PEOPLE, AGENTS_MAX);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_frame_report report = run(frame % 4 == 3 ? SHORT_BUDGET_NS : BUDGET_NS);
    if (frame % 25 == 0) check_agents(&report);
    disturb(frame);
  }
  muster_frame_report report = settle();
  uint64_t updates = check_agents(&report);
  muster_statistics sums = statistics_of(&scene.little);
  cr_assert_eq(ledger.wrong, 0, "those who are gone saw %lu wrong things", ledger.wrong);
  cr_assert_eq(sums.completed, scene.completed);
  cr_assert_eq(sums.completed, ledger.updates + updates);
  cr_assert(sums.released == scene.released && sums.woken == scene.woken);
  cr_assert(sums.spawned == ledger.spawned && sums.removed == ledger.removed);
  cr_assert_eq(sums.spawned - sums.removed, report.agents);
  cr_assert_eq(sums.commands_dropped, 0);
  cr_assert_eq(sums.positions_refused, 0);
  cr_assert(sums.spawned > PEOPLE + FRAMES && sums.removed > FRAMES && sums.woken > FRAMES);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(scene.little.world, agent));) {
    muster_agent_info info = info_of(&scene.little, agent);
    const struct person *self = info.state;
    cr_assert_eq(self->born_ns + self->lived_ns, info.last_update_ns, "it lived from its birth to its last update");
    cr_assert_leq(info.last_update_ns, scene.little.now_ns);
    cr_assert_float_eq(info.position.x, self->x, 1e-3);
  }
  destroy();
  cr_assert_eq(ledger.removed, ledger.spawned);
}

/* -------------------------------------------------------------------------------------- removals that come too late */

enum { PRODUCERS = 2, ROUNDS = 200, TOGETHER = 32 };

/* Orders the removal of every agent three times, so that late commands name agents that are gone and have their places
 * taken by others. */
static void *spawn_and_remove(void *unused) {
  muster_agent agents[TOGETHER];
  for (uint32_t left = ROUNDS * TOGETHER; left > 0;) {
    uint32_t count = 0;
    while (count < TOGETHER && count < left && !muster_agent_is_null(agents[count] = spawn(1))) count++;
    for (uint32_t again = 0; again < 3; again++)
      for (uint32_t i = 0; i < count; i++)
        while (muster_agent_remove(scene.little.world, agents[i]) == MUSTER_E_FULL) continue;
    left -= count;
  }
  return unused;
}

Test(crowd_threads, removals_that_come_too_late_touch_nobody_else) {
  create(0, 1200); /* places are taken again soon */
  pthread_t producers[PRODUCERS];
  for (uint32_t i = 0; i < PRODUCERS; i++) pthread_create(&producers[i], NULL, spawn_and_remove, NULL);
  for (uint32_t i = 0; i < PRODUCERS; i++)
    while (pthread_tryjoin_np(producers[i], NULL)) run(SHORT_BUDGET_NS);
  cr_assert_eq(settle().agents, 0);
  cr_assert(ledger.spawned == ledger.removed && ledger.wrong == 0);
  destroy();
}
