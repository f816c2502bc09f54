/* Which agents act when there is no time for all, what actions may reach, and what becomes of agents that are removed.
 */
#include "world/fixture.h"
#include "world/world_acts.h"

enum { MANY = 60, ROUND = 3 * MANY / 8 };

static muster_atom_result count(muster_update *update) {
  ++*(uint64_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_of(muster_act act, atom_function *run, uint32_t model_ns) {
  return CHANGED(actors_running(run, model_ns, act), it.state_bytes = sizeof(uint64_t), it.limit_ns = 100000000);
}

static muster_world_def in_cells(muster_world_def def) {
  return CHANGED(def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.cell_m = 10.0f);
}

static uint64_t acts_of(const little_world *little, const muster_agent *agents, uint32_t number) {
  uint64_t acts = 0;
  for (uint32_t i = 0; i < number; i++) acts += *(const uint64_t *)info_of(little, agents[i]).state;
  return acts;
}

/* ------------------------------------------------------------------------------------------ how long actions wait */

/* All actions together take five times the budget; those of the important agents alone would fit. The important agents
 * act as often as they run, though the others have waited for longer and have the lower numbers. */
static void act_by_deadline(muster_act act) {
  enum { FEW = 8, OTHERS = 240, FRAMES = 200 };
  muster_agent agents[OTHERS], few[FEW];
  SCOPED_WORLD little = typed_world(2, in_cells(muster_world_def_default()),
                                    CHANGED(type_of(act, count, 20000), it.elasticity = 1.0f,
                                            it.period_ns = 2 * FRAME_NS, it.period_max_ns = 20 * FRAME_NS));
  for (uint32_t i = 0; i < OTHERS; i++) agents[i] = spawn_at(&little, i * 3.0);
  for (uint32_t i = 0; i < FEW; i++) few[i] = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 1.0f));
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_frame_with(&little, 500000);
  uint64_t before = acts_of(&little, few, FEW), others = acts_of(&little, agents, OTHERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_frame_with(&little, 500000);
  before = acts_of(&little, few, FEW) - before;
  others = acts_of(&little, agents, OTHERS) - others;
  cr_assert_geq(before, FEW * FRAMES / 2 * 85 / 100, "each acts in every second frame: %lu", before);
  cr_assert_geq(others, OTHERS * FRAMES / 40, "and the others go on: %lu", others);
}

Test(act_order, who_matters_acts_as_often_as_it_runs_though_most_actions_wait) {
  act_by_deadline(MUSTER_ACT_SERIAL);
  act_by_deadline(MUSTER_ACT_REGION);
  act_by_deadline(MUSTER_ACT_PARALLEL);
}

/* All agents have thought in the first two frames; then there is time for about ten actions in a frame. The action that
 * waits longest runs first, of whatever kind: in the time in which all agents act once, each kind acts. */
Test(act_order, no_kind_of_action_waits_for_the_end_of_another) {
  muster_agent agents[3][MANY];
  SCOPED_WORLD little = little_world_of(2, in_cells(papers_world_def()));
  for (uint32_t kind = 0; kind < 3; kind++) {
    add_type(&little, type_of((muster_act)kind, count, 100000));
    for (uint32_t i = 0; i < MANY; i++) agents[kind][i] = spawn_at(&little, i * 3.0);
  }
  run_frames(&little, 2);
  for (uint32_t i = 0; i < 6; i++) {
    uint64_t before[3], acted[3];
    for (uint32_t kind = 0; kind < 3; kind++) before[kind] = acts_of(&little, agents[kind], MANY);
    for (uint32_t frame = 0; frame < ROUND; frame++) cr_assert_gt(run_frame_with(&little, 1000000).actions_waiting, 0);
    for (uint32_t kind = 0; kind < 3; kind++) acted[kind] = acts_of(&little, agents[kind], MANY) - before[kind];
    cr_assert(acted[0] > 0 && acted[1] > 0 && acted[2] > 0, "in a round %lu serial, %lu region, %lu parallel", acted[0],
              acted[1], acted[2]);
  }
}

/* One action takes longer than a frame. An agent that acted is ready at once and thinks again, and is first in agent
 * order. */
static void act_in_rounds(muster_act act) {
  muster_agent agents[8];
  SCOPED_WORLD little = typed_world(2, in_cells(papers_world_def()), type_of(act, count, 2000000));
  for (uint32_t i = 0; i < 8; i++) agents[i] = spawn_at(&little, i * 2.5);
  for (uint32_t frame = 0; frame < 24; frame++) run_frame_with(&little, 1000000);
  for (uint32_t i = 0; i < 8; i++)
    cr_assert_geq(acts_of(&little, &agents[i], 1), 2, "agent %u acted %lu times", i, acts_of(&little, &agents[i], 1));
  cr_assert_geq(acts_of(&little, agents, 8), 20, "one in each frame");
}

/* All agents are woken and think in one frame; one acts in each frame, and the turn of the others has passed. */
Test(act_order, who_waits_to_act_and_whose_turn_has_come_is_late) {
  enum { ACTORS = 8 };
  muster_agent agents[ACTORS];
  SCOPED_WORLD little =
      typed_world(2, in_cells(muster_world_def_default()), type_of(MUSTER_ACT_SERIAL, count, 2000000));
  for (uint32_t i = 0; i < ACTORS; i++) agents[i] = spawn_at(&little, i * 2.5);
  run_frame_with(&little, 1000000);
  for (uint32_t i = 0; i < ACTORS; i++) cr_assert_eq(muster_agent_wake(little.world, agents[i]), MUSTER_OK);
  cr_assert_eq(run_frame_with(&little, 1000000).actions_waiting, ACTORS - 1);
  for (uint32_t waited = ACTORS - 1; waited > ACTORS / 2; waited--) {
    muster_frame_report report = run_frame_with(&little, 1000000);
    cr_assert(report.agents_late == waited && report.actions_waiting == waited - 1, "%u late, %u wait of %u",
              report.agents_late, report.actions_waiting, waited);
  }
}

Test(act_order, who_acted_waits_for_those_who_waited_longer) {
  act_in_rounds(MUSTER_ACT_REGION);
  act_in_rounds(MUSTER_ACT_PARALLEL);
}

/* ---------------------------------------------------------------------------------- which agents reach each other */

enum { HUNTERS_NEAR = 3, HUNTERS = 6 };

static struct hunt {
  muster_agent prey, other_prey;
  muster_result results[2 * HUNTERS];
  uint32_t prey_acts;
} hunt;

/* Each hunter stores its results in places of its own. */
static muster_atom_result bite(muster_update *update) {
  uint32_t number = muster_agent_index(update->agent) - 1;
  hunt.results[number] = muster_update_remove(update, hunt.prey);
  hunt.results[HUNTERS + number] = muster_update_remove(update, hunt.other_prey);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result run_away(muster_update *update) {
  (void)update;
  hunt.prey_acts++;
  return MUSTER_ATOM_NEXT;
}

/* One prey is the very first of all agents, one the very last. */
static struct hunt hunt_with(muster_act act) {
  hunt = (struct hunt){0};
  SCOPED_WORLD little = typed_world(4, in_cells(papers_world_def()), type_of(act, run_away, 1000));
  hunt.other_prey = spawn_at(&little, 5.0);
  add_type(&little, type_of(act, bite, 1000));
  for (uint32_t i = 0; i < HUNTERS; i++) spawn_at(&little, i < HUNTERS_NEAR ? 1.0 + i : 995.0 + i);
  add_type(&little, type_of(act, run_away, 1000));
  hunt.prey = spawn_at(&little, 5.0);
  cr_assert(muster_agent_index(hunt.other_prey) == 0 && muster_agent_index(hunt.prey) == HUNTERS + 1);
  run_frame(&little); /* no agent is due yet */
  cr_assert_eq(run_frame(&little).completed, HUNTERS + 2);
  struct hunt seen = hunt; /* the prey is removed in the next frame */
  cr_assert(muster_agent_exists(little.world, hunt.prey));
  run_frame(&little);
  cr_assert(!muster_agent_exists(little.world, hunt.prey) && !muster_agent_exists(little.world, hunt.other_prey));
  muster_agent born = spawn_at(&little, 5.0); /* of the prey's type and in its place: it is not removed */
  run_frames(&little, 2);
  cr_assert(muster_agent_exists(little.world, born));
  uint32_t acts = hunt.prey_acts;
  run_frames(&little, 2);
  cr_assert_eq(hunt.prey_acts, acts + 2, "whoever is next in a removed agent's place acts");
  return seen;
}

static void expect_eaten(muster_act act, uint32_t preys, uint32_t contested) {
  struct hunt seen = hunt_with(act);
  for (uint32_t i = 0; i < preys * HUNTERS; i++) {
    bool late = i % HUNTERS > 0 && i % HUNTERS < contested;
    cr_assert_eq(seen.results[i], late ? MUSTER_E_STALE : MUSTER_OK, "result %u", i);
  }
}

Test(act_order, a_prey_is_eaten_once_and_acts_no_more) {
  expect_eaten(MUSTER_ACT_SERIAL, 2, HUNTERS);
}
Test(act_order, a_prey_is_eaten_once_by_those_of_its_region) {
  expect_eaten(MUSTER_ACT_REGION, 2, HUNTERS_NEAR);
}
Test(act_order, parallel_hunters_all_get_it) {
  expect_eaten(MUSTER_ACT_PARALLEL, 1, 0);
}

Test(act_order, who_is_removed_before_its_turn_does_not_act) {
  uint32_t with_parallel = hunt_with(MUSTER_ACT_PARALLEL).prey_acts;
  cr_assert_eq(hunt_with(MUSTER_ACT_SERIAL).prey_acts, with_parallel - 1);
  cr_assert_eq(hunt_with(MUSTER_ACT_REGION).prey_acts, with_parallel - 1);
}

static struct view {
  muster_agent agents[4];
  uint64_t regions[4];
  bool reaches[4][4];
} view;

static muster_atom_result look(muster_update *update) {
  view.regions[muster_agent_index(update->agent)] = muster_update_region(update);
  for (uint32_t i = 0; i < 4; i++)
    view.reaches[muster_agent_index(update->agent)][i] = muster_update_state_of(update, view.agents[i]) != NULL;
  return MUSTER_ATOM_NEXT;
}

/* Two agents in one cell, one in the next cell, one in the same cell of another partition. */
static struct view look_with(muster_act act) {
  static const double places[] = {1, 9, 11, 1};
  view = (struct view){0};
  SCOPED_WORLD little = typed_world(2, in_cells(papers_world_def()), type_of(act, look, 1000));
  for (uint32_t i = 0; i < 4; i++) {
    view.agents[i] = spawn_in(&little, (muster_position){places[i], 0, 0}, i == 3);
    cr_assert_eq(muster_agent_index(view.agents[i]), i);
  }
  run_frames(&little, 2);
  return view;
}

Test(act_order, a_region_is_a_cell_and_its_actions_reach_no_further) {
  struct view region = look_with(MUSTER_ACT_REGION), serial = look_with(MUSTER_ACT_SERIAL);
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t k = 0; k < 4; k++) {
      bool same = i == k || (i < 2 && k < 2);
      cr_assert_eq(region.regions[i] == region.regions[k], same, "regions of %u and %u", i, k);
      cr_assert_eq(region.reaches[i][k], same, "%u reaches %u", i, k);
      cr_assert(serial.reaches[i][k] && serial.regions[i] == region.regions[i]);
    }
}

/* ------------------------------------------------------------------------------------------------- what is refused */

static muster_atom_result ask_too_much(muster_update *update) {
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type);
  cr_assert_eq(muster_update_move(update, (muster_position){1e12, 0, 0}), MUSTER_E_ARGUMENT);
  cr_assert(!muster_agent_is_null(muster_update_spawn(update, &child)));
  cr_assert(muster_agent_is_null(muster_update_spawn(update, &child)));
  cr_assert_eq(muster_update_send(update, update->agent, NULL, 0), MUSTER_OK);
  cr_assert_eq(muster_update_send(update, update->agent, NULL, 0), MUSTER_E_FULL);
  return MUSTER_ATOM_NEXT;
}

Test(act_order, what_actions_are_refused_is_counted_and_what_they_are_granted_is_done) {
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++) {
    SCOPED_WORLD little = typed_world(
        2, in_cells(papers_world_def()),
        CHANGED(type_of(act, ask_too_much, 1000), it.spawns_max = it.messages.sends_max = it.messages.waiting_max = 1));
    for (uint32_t i = 0; i < 10; i++) spawn_at(&little, i * 20.0);
    run_frames(&little, 2);
    muster_statistics sums = statistics_of(&little);
    cr_assert_eq(sums.positions_refused, 10, "act %d: %lu positions", (int)act, sums.positions_refused);
    cr_assert_eq(sums.spawns_refused, 10);
    cr_assert_eq(sums.messages_refused, 10);
    cr_assert_eq(sums.messages_delivered, 10);
    cr_assert_eq(run_frame(&little).agents, 20);
  }
}

Test(act_order, in_a_planner_world_the_host_acts) {
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.planner_workers = 2));
  expect_type_refused(&little, WITH(muster_type_def, it.act = MUSTER_ACT_REGION), "act 1: the host runs actions");
  add_type(&little, WITH(muster_type_def, it.act = MUSTER_ACT_SERIAL));
}

/* ------------------------------------------------------------------------------------------------------ long chains */

/* If an agent of the longest chain were begun last, all other workers would wait for it. */
Test(act_order, the_longest_chain_of_a_region_is_begun_first) {
  enum { CROWDED = 40 };
  static const muster_atom atoms[2] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 10}, {nothing, MUSTER_ROLE_ACTION, 10}};
  SCOPED_WORLD little = typed_world(2, virtual_world_def_default(), actors_def(atoms, MUSTER_ACT_REGION, NULL));
  for (uint32_t i = 0; i < 3; i++) spawn_at(&little, 100000.0 * (1 + i));
  uint32_t first = muster_agent_index(spawn_at(&little, 0));
  for (uint32_t i = 1; i < CROWDED; i++) spawn_at(&little, 0);
  const struct acts *acts = &little.world->acts->beside;
  for (uint32_t i = 0; i < 100 && acts->claim_count < 4; i++) run_frame(&little);
  cr_assert_eq(acts->claim_count, 4, "%u chains, %u acts", acts->claim_count, acts->count);
  cr_assert_eq(acts->entries[acts->chains[0]].agent, first);
}
