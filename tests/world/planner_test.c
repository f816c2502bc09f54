/* Planner and executor give the same schedule for the same virtual run: which agents run in which frame, in which
 * order, from which step to which, after how much time and at which level. What a host leaves out is carried; the order
 * of its reports makes no difference. */
#include "support/planned_world.h"
#include "world/fixture.h"

enum { KINDS = 3, CROWD = 1500, FRAMES = 300, OBSERVERS = 3 };

static const uint32_t parts_of[KINDS] = {3, 1, 5};

struct run {
  uint32_t agent, kind, level, first, end;
  uint64_t elapsed_ns;
};

struct record {
  uint32_t count;
  struct run runs[ENTRIES_MAX];
};

static struct record executed; /* written by one worker */

/* Any hash will do, as long as both hosts use the same one. */
static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xc2b2ae3d27d4eb4fu;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

static muster_position place_of(uint32_t agent, uint64_t now_ns) {
  uint64_t random = mix(agent, now_ns / 500000000u);
  return (muster_position){(double)(random % 2000), (double)(random >> 20 & 63), 0};
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return (1500 + query->random % 3000 + query->elapsed_ns / 100000) >> query->level;
}

/* Atoms in a row for one agent are one run. */
static muster_atom_result execute(muster_update *update) {
  struct record *record = &executed;
  struct run *last = &record->runs[record->count ? record->count - 1 : 0];
  if (record->count == 0 || last->agent != muster_agent_index(update->agent)) {
    last = &record->runs[record->count++];
    *last = (struct run){
        muster_agent_index(update->agent), update->type.index - 1, update->level, 0, 0, update->elapsed_ns};
  }
  last->end++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result execute_first(muster_update *update) {
  muster_update_move(update, place_of(muster_agent_index(update->agent), update->now_ns));
  return execute(update);
}

/* The same types for both worlds: with atoms that record, or with steps that the host runs. */
static void register_kinds(muster_world *world, muster_type *types, bool atoms) {
  const muster_atom first = {execute_first, MUSTER_ROLE_PERCEPTION, 4000}, next = {.run = execute, .model_ns = 4000};
  const muster_atom of_kind[] = {first, next, next, next, next};
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    little_world little = {.world = world};
    types[kind] = add_type(&little, WITH(muster_type_def, it.period_ns = 30000000u + kind * 15000000u,
                                         it.period_max_ns = 2 * it.period_ns, it.elasticity = 1.0f + (float)kind,
                                         it.levels.count = kind + 1, it.models.cost_ns = kind == 1 ? NULL : cost_of,
                                         it.atoms = atoms ? of_kind : NULL, it.atom_count = atoms ? parts_of[kind] : 0,
                                         it.parts.count = parts_of[kind], it.parts.part_ns = 4000));
  }
}

struct scene {
  little_world little;
  muster_type types[KINDS];
  muster_agent agents[CROWD];
  muster_observer observers[OBSERVERS];
};

static muster_agent spawn(struct scene *scene, uint32_t number) {
  return spawn_as(&scene->little,
                  WITH(muster_agent_def, it.type = scene->types[number % KINDS],
                       it.position = (muster_position){number * 1.5, 0, 0}, it.user = (void *)(uintptr_t)(number + 1)));
}

static struct scene scene_create(const little_world *little, bool atoms) {
  struct scene scene = {.little = *little};
  register_kinds(little->world, scene.types, atoms);
  for (uint32_t i = 0; i < CROWD; i++) scene.agents[i] = spawn(&scene, i);
  for (uint32_t i = 0; i < OBSERVERS; i++) scene.observers[i] = observe_at(little, 0);
  return scene;
}

/* What players and the game do from frame to frame. */
static void disturb(struct scene *scene, uint32_t frame) {
  muster_world *world = scene->little.world;
  for (uint32_t i = 0; i < OBSERVERS; i++)
    muster_observer_move(world, scene->observers[i], (muster_position){frame * 6.0 + i * 300.0, 10, 0});
  for (uint32_t i = 0; i < 5; i++) muster_agent_wake(world, scene->agents[mix(frame, i) % CROWD]);
  uint32_t number = (uint32_t)(mix(frame, 77) % CROWD);
  if (frame % 3 == 0) {
    muster_agent_remove(world, scene->agents[number]);
    scene->agents[number] = spawn(scene, number);
  }
  muster_agent_tuning tuning = WITH(muster_agent_tuning, it.importance_floor = (float)(frame % 10) * 0.1f);
  muster_agent_tune(world, scene->agents[mix(frame, 78) % CROWD], &tuning);
}

static muster_world_def scene_world(muster_order order, uint32_t updates_per_frame) {
  /* The capacity is half of what all agents would take at their longest periods. */
  return WITH(virtual_world_def, it.order = order, it.limits.agents_max = 4000,
              it.updates_per_frame = updates_per_frame, it.clock.capacity_ns = 1000000);
}

static void note_plan(const planned_world *planned, struct record *record) {
  for (record->count = 0; record->count < planned->plan.count; record->count++) {
    const muster_plan_entry *entry = &planned->entries[record->count];
    record->runs[record->count] = (struct run){.agent = muster_agent_index(entry->agent),
                                               .kind = entry->type.index - 1,
                                               .level = entry->level,
                                               .first = entry->part_first,
                                               .end = entry->part_end,
                                               .elapsed_ns = entry->elapsed_ns};
  }
}

/* Reports the first `count` entries as run, in their order or in another one. */
static muster_frame_report report_run(planned_world *planned, uint32_t count, bool shuffled) {
  uint32_t stride = shuffled && count % 37 ? 37 : 1; /* visits every place once, since 37 is prime */
  for (uint32_t i = 0; i < count; i++) {
    const muster_plan_entry *entry = &planned->entries[(uint64_t)i * stride % count];
    muster_plan_result *result = &planned->results[i];
    *result = result_as_planned(entry, parts_of[entry->type.index - 1]);
    result->moved = entry->part_first == 0;
    if (result->moved) result->position = place_of(muster_agent_index(entry->agent), entry->now_ns);
  }
  return report(planned, count);
}

static void compare_reports(const muster_frame_report *one, const muster_frame_report *other) {
  cr_assert_eq(one->released, other->released);
  cr_assert_eq(one->completed, other->completed);
  cr_assert_eq(one->carried, other->carried);
  cr_assert_eq(one->preempted, other->preempted);
  cr_assert_eq(one->woken, other->woken);
  cr_assert_eq(one->longest_wait_ns, other->longest_wait_ns);
  cr_assert_eq(one->longest_claim_ns, other->longest_claim_ns);
  cr_assert_eq(one->wall_ns, other->wall_ns);
  cr_assert(one->pressure == other->pressure && one->period_deviation_ns == other->period_deviation_ns);
  cr_assert(!memcmp(one->levels, other->levels, sizeof one->levels));
}

/* An atom is not told its number: the executor's record holds how many atoms ran, the planner's also which ones. */
static void compare_records(const struct record *planned, const struct record *run, uint32_t frame) {
  cr_assert_eq(planned->count, run->count, "frame %u: %u planned, %u run", frame, planned->count, run->count);
  for (uint32_t i = 0; i < run->count; i++) {
    const struct run is = run->runs[i], should = planned->runs[i];
    cr_assert(is.agent == should.agent && is.kind == should.kind && is.level == should.level && is.first == 0 &&
                  is.end == should.end - should.first && is.elapsed_ns == should.elapsed_ns,
              "frame %u, number %u: agent %u, planned was %u", frame, i, is.agent, should.agent);
  }
}

static void compare_with_executor(muster_order order, uint32_t updates_per_frame, uint32_t workers) {
  static struct record planned_record;
  muster_world_def def = scene_world(order, updates_per_frame);
  SCOPED_WORLD little = little_world_create(1, &def);
  def.planner_workers = workers;
  SCOPED(planned_world_end) planned_world *planned = planned_world_create(&def);
  struct scene run_scene = scene_create(&little, true), plan_scene = scene_create(&planned->little, false);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    executed.count = 0;
    muster_frame_report run = run_frame(&little);
    plan(planned);
    note_plan(planned, &planned_record);
    if (frame % 2) disturb(&plan_scene, frame); /* before the report or after it: commands are queued anyway */
    muster_frame_report report = report_run(planned, planned->plan.count, false);
    compare_records(&planned_record, &executed, frame);
    compare_reports(&report, &run);
    cr_assert_eq(muster_world_hash(planned->little.world), muster_world_hash(little.world), "frame %u", frame);
    disturb(&run_scene, frame);
    if (frame % 2 == 0) disturb(&plan_scene, frame);
  }
  muster_statistics sums = statistics_of(&planned->little);
  cr_assert_gt(sums.carried, 20 * FRAMES, "overloaded: %lu carried, %lu completed", sums.carried, sums.completed);
  if (order == MUSTER_ORDER_PRIORITY && !updates_per_frame) cr_assert_gt(sums.preempted, FRAMES / 2);
  cr_assert_gt(sums.woken, FRAMES);
  cr_assert_eq(sums.interval_deviation_ns, statistics_of(&little).interval_deviation_ns);
}

Test(planner, gives_the_schedule_of_the_executor) {
  compare_with_executor(MUSTER_ORDER_PRIORITY, 0, 1);
}

Test(planner, gives_it_whatever_number_of_workers_the_host_has) {
  compare_with_executor(MUSTER_ORDER_PRIORITY, 0, 8);
}

Test(planner, gives_it_in_the_papers_order_and_with_a_number_of_updates_for_each_frame) {
  compare_with_executor(MUSTER_ORDER_DELAYS, 0, 1);
  compare_with_executor(MUSTER_ORDER_PRIORITY, 60, 1);
}

/* Returns a hash over all plans and over the world after each frame. The host runs share_of_256 / 256 of each plan. */
static uint64_t run_scene_with(uint32_t share_of_256, bool shuffled) {
  muster_world_def def = scene_world(MUSTER_ORDER_PRIORITY, 0);
  SCOPED(planned_world_end) planned_world *planned = planned_world_create(&def);
  struct scene scene = scene_create(&planned->little, false);
  uint64_t hash = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t count = plan(planned);
    for (uint32_t i = 0; i < count; i++)
      hash = mix(hash, mix(muster_agent_index(planned->entries[i].agent), planned->entries[i].slice_ns));
    report_run(planned, count * share_of_256 / 256, shuffled);
    disturb(&scene, frame);
    hash = mix(hash, muster_world_hash(planned->little.world));
  }
  return hash;
}

Test(planner, does_not_care_in_which_order_it_is_reported_to) {
  cr_assert_eq(run_scene_with(256, false), run_scene_with(256, true));
  cr_assert_eq(run_scene_with(100, false), run_scene_with(100, true));
  cr_assert_neq(run_scene_with(100, false), run_scene_with(256, false));
}

/* 400 agents of 50 us. A frame plans 40, of which the host finds time for 20, so a round of all agents takes 200 ms. */
enum { HERD = 400, EACH_FRAME = 20, TURN_NS = HERD / EACH_FRAME * FRAME_NS, PATIENCE_NS = 50000000 };

struct waiter {
  uint64_t last_ns; /* simulation time of its last run */
  uint32_t runs, delays;
  bool carried; /* it was planned and left out */
  uint64_t planned_frame;
};

static void look_at_entry(struct waiter *waiter, const muster_plan_entry *entry, uint64_t frame, bool runs) {
  if (waiter->carried)
    cr_assert_eq(entry->delays, (waiter->delays + frame - waiter->planned_frame) % 256, "its age is kept");
  if (waiter->runs) cr_assert_eq(entry->elapsed_ns, entry->now_ns - waiter->last_ns);
  waiter->carried = !runs;
  waiter->delays = entry->delays;
  waiter->planned_frame = frame;
  if (!runs) return;
  waiter->runs++;
  waiter->last_ns = entry->now_ns;
}

Test(planner, carries_what_the_host_leaves_out_with_its_age_and_keeps_the_bound) {
  static struct waiter waiters[HERD];
  muster_world_def def =
      WITH(virtual_world_def, it.clock.capacity_ns = 2000000, it.priority.guarantee_ns = PATIENCE_NS);
  muster_type_def type = WITH(muster_type_def, it.parts.count = 1, it.parts.part_ns = 50000);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(&def, type, HERD);
  uint32_t carried = 0;
  for (uint64_t frame = 0; frame < 500; frame++) {
    uint32_t count = plan(planned), runs = count / 2 < EACH_FRAME ? count / 2 : EACH_FRAME;
    for (uint32_t i = 0; i < count; i++)
      look_at_entry(&waiters[muster_agent_index(planned->entries[i].agent)], &planned->entries[i], frame, i < runs);
    run_entries(planned, runs, 1);
    muster_frame_report last = report(planned, runs);
    carried += last.carried;
    cr_assert_eq(last.completed, runs);
    cr_assert_leq(last.longest_wait_ns, PATIENCE_NS + TURN_NS + FRAME_NS);
  }
  cr_assert_gt(carried, 500 * EACH_FRAME / 4, "%u waited", carried);
  for (uint32_t i = 0; i < HERD; i++) {
    cr_assert_gt(waiters[i].runs, 10, "agent %u: %u runs", i, waiters[i].runs);
    cr_assert_geq(waiters[i].last_ns + type.period_max_ns + PATIENCE_NS + TURN_NS, planned->little.now_ns);
  }
}
