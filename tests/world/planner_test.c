/* Planner and executor give the same schedule for the same virtual run: which agents run in which frame, in which
 * order, from which step to which, after how much time and at which level. What a host leaves out is carried; the order
 * of its reports makes no difference. */
#include "support/planned_world.h"

#include <muster/planner.h>

enum { KINDS = 3, CROWD = 1500, FRAMES = 300, OBSERVERS = 3 };

static const uint32_t parts_of[KINDS] = {3, 1, 5};

/* One run of an update. */
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
  const muster_atom of_kind[] = {{execute_first, MUSTER_ROLE_PERCEPTION, 4000},
                                 {execute, MUSTER_ROLE_BEHAVIOUR, 4000},
                                 {execute, MUSTER_ROLE_BEHAVIOUR, 4000},
                                 {execute, MUSTER_ROLE_BEHAVIOUR, 4000},
                                 {execute, MUSTER_ROLE_BEHAVIOUR, 4000}};
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    muster_type_def def = muster_type_def_default();
    def.period_ns = 30000000u + kind * 15000000u;
    def.period_max_ns = 2 * def.period_ns;
    def.elasticity = 1.0f + (float)kind;
    def.levels.count = kind + 1;
    if (kind != 1) def.models.cost_ns = cost_of;
    if (atoms) def.atoms = of_kind;
    if (atoms) def.atom_count = parts_of[kind];
    def.parts.count = parts_of[kind];
    def.parts.part_ns = 4000;
    types[kind] = muster_type_register(world, &def);
    cr_assert_neq(types[kind].index, 0, "%s", muster_last_error());
  }
}

struct scene {
  muster_world *world;
  muster_type types[KINDS];
  muster_agent agents[CROWD];
  muster_observer observers[OBSERVERS];
};

static muster_agent spawn(struct scene *scene, uint32_t number) {
  muster_agent_def def = muster_agent_def_default();
  def.type = scene->types[number % KINDS];
  def.position = (muster_position){number * 1.5, 0, 0};
  def.user = (void *)(uintptr_t)(number + 1);
  muster_agent agent = muster_agent_spawn(scene->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

static struct scene scene_create(muster_world *world, bool atoms) {
  struct scene scene = {.world = world};
  register_kinds(world, scene.types, atoms);
  for (uint32_t i = 0; i < CROWD; i++) scene.agents[i] = spawn(&scene, i);
  muster_observer_def observer = muster_observer_def_default();
  for (uint32_t i = 0; i < OBSERVERS; i++) scene.observers[i] = muster_observer_add(world, &observer);
  return scene;
}

/* What players and the game do from frame to frame. */
static void disturb(struct scene *scene, uint32_t frame) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  for (uint32_t i = 0; i < OBSERVERS; i++)
    muster_observer_move(scene->world, scene->observers[i], (muster_position){frame * 6.0 + i * 300.0, 10, 0});
  for (uint32_t i = 0; i < 5; i++) muster_agent_wake(scene->world, scene->agents[mix(frame, i) % CROWD]);
  uint32_t number = (uint32_t)(mix(frame, 77) % CROWD);
  if (frame % 3 == 0) {
    muster_agent_remove(scene->world, scene->agents[number]);
    scene->agents[number] = spawn(scene, number);
  }
  tuning.importance_floor = (float)(frame % 10) * 0.1f;
  muster_agent_tune(scene->world, scene->agents[mix(frame, 78) % CROWD], &tuning);
}

static muster_world_def scene_world(muster_order order, uint32_t updates_per_frame) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.order = order;
  def.limits.agents_max = 4000;
  def.updates_per_frame = updates_per_frame;
  def.clock.capacity_ns = 1000000; /* half of what all agents would take at their longest periods */
  return def;
}

static void note_plan(const planned_world *planned, struct record *record) {
  for (record->count = 0; record->count < planned->plan.count; record->count++) {
    const muster_plan_entry *entry = &planned->entries[record->count];
    record->runs[record->count] = (struct run){muster_agent_index(entry->agent),
                                               entry->type.index - 1,
                                               entry->level,
                                               entry->part_first,
                                               entry->part_end,
                                               entry->elapsed_ns};
  }
}

static muster_plan_result run_entry(const muster_plan_entry *entry) {
  muster_plan_result result = result_as_planned(entry, parts_of[entry->type.index - 1]);
  result.moved = entry->part_first == 0;
  if (result.moved) result.position = place_of(muster_agent_index(entry->agent), entry->now_ns);
  return result;
}

/* Reports the first `count` entries as run, in their order or in another one. */
static muster_frame_report report_run(planned_world *planned, uint32_t count, bool shuffled) {
  uint32_t stride = shuffled && count % 37 ? 37 : 1; /* visits every place once, since 37 is prime */
  for (uint32_t i = 0; i < count; i++) planned->results[i] = run_entry(&planned->entries[(uint64_t)i * stride % count]);
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

static bool are_alike(const struct run *one, const struct run *other) {
  return one->agent == other->agent && one->kind == other->kind && one->level == other->level &&
         one->first == other->first && one->end == other->end && one->elapsed_ns == other->elapsed_ns;
}

/* An atom is not told its number: the executor's record holds how many atoms ran, the planner's also which ones. */
static void compare_records(const struct record *planned, const struct record *run, uint32_t frame) {
  cr_assert_eq(planned->count, run->count, "frame %u: %u planned, %u run", frame, planned->count, run->count);
  for (uint32_t i = 0; i < run->count; i++) {
    struct run is = run->runs[i], should = planned->runs[i];
    should.end -= should.first;
    should.first = 0;
    cr_assert(are_alike(&is, &should), "frame %u, number %u: agent %u, planned was %u", frame, i, is.agent,
              should.agent);
  }
}

static muster_statistics sums_of(const muster_world *world) {
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(world, &sums);
  return sums;
}

static void compare_with_executor(muster_order order, uint32_t updates_per_frame, uint32_t workers) {
  static struct record planned_record;
  muster_world_def def = scene_world(order, updates_per_frame);
  little_world little = little_world_create(1, &def);
  def.planner_workers = workers;
  planned_world *planned = planned_world_create(&def);
  struct scene run_scene = scene_create(little.world, true), plan_scene = scene_create(planned->little.world, false);
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
  muster_statistics sums = sums_of(planned->little.world);
  cr_assert_gt(sums.carried, 20 * FRAMES, "overloaded: %lu carried, %lu completed", (unsigned long)sums.carried,
               (unsigned long)sums.completed);
  if (order == MUSTER_ORDER_PRIORITY && !updates_per_frame) cr_assert_gt(sums.preempted, FRAMES / 2);
  cr_assert_gt(sums.woken, FRAMES);
  cr_assert_eq(sums.interval_deviation_ns, sums_of(little.world).interval_deviation_ns);
  planned_world_destroy(planned);
  little_world_destroy(&little);
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
  planned_world *planned = planned_world_create(&def);
  struct scene scene = scene_create(planned->little.world, false);
  uint64_t hash = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t count = plan(planned);
    for (uint32_t i = 0; i < count; i++)
      hash = mix(hash, mix(muster_agent_index(planned->entries[i].agent), planned->entries[i].slice_ns));
    report_run(planned, count * share_of_256 / 256, shuffled);
    disturb(&scene, frame);
    hash = mix(hash, muster_world_hash(planned->little.world));
  }
  planned_world_destroy(planned);
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
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = 2000000;
  def.priority.guarantee_ns = PATIENCE_NS;
  planned_world *planned = planned_world_create(&def);
  muster_type_def type = parts_type(1);
  type.parts.part_ns = 50000;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < HERD; i++) spawn_at(&planned->little, i);
  uint32_t carried = 0;
  for (uint64_t frame = 0; frame < 500; frame++) {
    uint32_t count = plan(planned), runs = count / 2 < EACH_FRAME ? count / 2 : EACH_FRAME;
    for (uint32_t i = 0; i < count; i++)
      look_at_entry(&waiters[muster_agent_index(planned->entries[i].agent)], &planned->entries[i], frame, i < runs);
    for (uint32_t i = 0; i < runs; i++) planned->results[i] = result_as_planned(&planned->entries[i], 1);
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
  planned_world_destroy(planned);
}
