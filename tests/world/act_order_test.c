/* Which agents act when there is no time for all, what actions may reach, and what becomes of agents that are removed.
 */
#include "support/little_world.h"
#include "world/world.h"
#include "world/world_acts.h"

#include <muster/sets.h>

enum { MANY = 60, ROUND = 3 * MANY / 8 };

typedef struct person {
  uint64_t acts;
} person;

static muster_atom_result think(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result count(muster_update *update) {
  ((person *)update->state)->acts++;
  return MUSTER_ATOM_NEXT;
}

static muster_type_def type_of(muster_act act, const muster_atom atoms[2]) {
  muster_type_def def = muster_type_def_default();
  def.atoms = atoms;
  def.atom_count = 2;
  def.state_bytes = sizeof(person);
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.elasticity = 0;
  def.act = act;
  def.limit_ns = 100000000;
  return def;
}

static little_world create_by(muster_world_def def, uint32_t workers) {
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.cell_m = 10.0f;
  return little_world_create(workers, &def);
}

static uint64_t acts_of(const little_world *little, const muster_agent *agents, uint32_t number) {
  uint64_t acts = 0;
  for (uint32_t i = 0; i < number; i++) acts += ((const person *)info_of(little, agents[i]).state)->acts;
  return acts;
}

static little_world create(uint32_t workers) {
  return create_by(papers_world_def(), workers);
}

/* ------------------------------------------------------------------------------------------ how long actions wait */

/* All actions together take five times the budget; those of the important agents alone would fit. The important agents
 * act as often as they run, though the others have waited for longer and have the lower numbers. */
static void act_by_deadline(muster_act act) {
  enum { FEW = 8, OTHERS = 240, FRAMES = 200 };
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {count, MUSTER_ROLE_ACTION, 20000}};
  muster_agent agents[OTHERS], few[FEW];
  little_world little = create_by(muster_world_def_default(), 2);
  muster_type_def def = type_of(act, atoms);
  def.elasticity = 1.0f;
  def.period_ns = 2 * FRAME_NS;
  def.period_max_ns = 20 * FRAME_NS;
  register_type(&little, &def);
  for (uint32_t i = 0; i < OTHERS; i++) agents[i] = spawn_at(&little, i * 3.0);
  muster_agent_def one = muster_agent_def_default();
  one.type = little.type;
  one.importance_floor = 1.0f;
  for (uint32_t i = 0; i < FEW; i++) few[i] = muster_agent_spawn(little.world, &one);
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_frame_with(&little, 500000);
  uint64_t before = acts_of(&little, few, FEW), others = acts_of(&little, agents, OTHERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) run_frame_with(&little, 500000);
  before = acts_of(&little, few, FEW) - before;
  others = acts_of(&little, agents, OTHERS) - others;
  cr_assert_geq(before, FEW * FRAMES / 2 * 85 / 100, "each acts in every second frame: %lu", (unsigned long)before);
  cr_assert_geq(others, OTHERS * FRAMES / 40, "and the others go on: %lu", (unsigned long)others);
  little_world_destroy(&little);
}

Test(act_order, who_matters_acts_as_often_as_it_runs_though_most_actions_wait) {
  act_by_deadline(MUSTER_ACT_SERIAL);
  act_by_deadline(MUSTER_ACT_REGION);
  act_by_deadline(MUSTER_ACT_PARALLEL);
}

/* All agents have thought in the first two frames; then there is time for about ten actions in a frame. The action that
 * waits longest runs first, of whatever kind: in the time in which all agents act once, each kind acts. */
Test(act_order, no_kind_of_action_waits_for_the_end_of_another) {
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {count, MUSTER_ROLE_ACTION, 100000}};
  muster_agent agents[3][MANY];
  little_world little = create(2);
  for (uint32_t kind = 0; kind < 3; kind++) {
    muster_type_def def = type_of((muster_act)kind, atoms);
    register_type(&little, &def);
    for (uint32_t i = 0; i < MANY; i++) agents[kind][i] = spawn_at(&little, i * 3.0);
  }
  run_frames(&little, 2);
  for (uint32_t i = 0; i < 6; i++) {
    uint64_t before[3], acted[3];
    for (uint32_t kind = 0; kind < 3; kind++) before[kind] = acts_of(&little, agents[kind], MANY);
    for (uint32_t frame = 0; frame < ROUND; frame++) cr_assert_gt(run_frame_with(&little, 1000000).actions_waiting, 0);
    for (uint32_t kind = 0; kind < 3; kind++) acted[kind] = acts_of(&little, agents[kind], MANY) - before[kind];
    cr_assert(acted[0] > 0 && acted[1] > 0 && acted[2] > 0, "in a round %lu serial, %lu region, %lu parallel",
              (unsigned long)acted[0], (unsigned long)acted[1], (unsigned long)acted[2]);
  }
  little_world_destroy(&little);
}

/* One action takes longer than a frame. An agent that acted is ready at once and thinks again, and is first in agent
 * order. */
static void act_in_rounds(muster_act act) {
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {count, MUSTER_ROLE_ACTION, 2000000}};
  muster_type_def def = type_of(act, atoms);
  muster_agent agents[8];
  little_world little = create(2);
  register_type(&little, &def);
  for (uint32_t i = 0; i < 8; i++) agents[i] = spawn_at(&little, i * 2.5);
  for (uint32_t frame = 0; frame < 24; frame++) run_frame_with(&little, 1000000);
  for (uint32_t i = 0; i < 8; i++)
    cr_assert_geq(acts_of(&little, &agents[i], 1), 2, "agent %u acted %lu times", i,
                  (unsigned long)acts_of(&little, &agents[i], 1));
  cr_assert_geq(acts_of(&little, agents, 8), 20, "one in each frame");
  little_world_destroy(&little);
}

/* All agents are woken and think in one frame; one acts in each frame, and the turn of the others has passed. */
Test(act_order, who_waits_to_act_and_whose_turn_has_come_is_late) {
  enum { ACTORS = 8 };
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {count, MUSTER_ROLE_ACTION, 2000000}};
  muster_type_def def = type_of(MUSTER_ACT_SERIAL, atoms);
  muster_agent agents[ACTORS];
  little_world little = create_by(muster_world_def_default(), 2);
  register_type(&little, &def);
  for (uint32_t i = 0; i < ACTORS; i++) agents[i] = spawn_at(&little, i * 2.5);
  run_frame_with(&little, 1000000);
  for (uint32_t i = 0; i < ACTORS; i++) cr_assert_eq(muster_agent_wake(little.world, agents[i]), MUSTER_OK);
  cr_assert_eq(run_frame_with(&little, 1000000).actions_waiting, ACTORS - 1);
  for (uint32_t waited = ACTORS - 1; waited > ACTORS / 2; waited--) {
    muster_frame_report report = run_frame_with(&little, 1000000);
    cr_assert(report.agents_late == waited && report.actions_waiting == waited - 1, "%u late, %u wait of %u",
              report.agents_late, report.actions_waiting, waited);
  }
  little_world_destroy(&little);
}

Test(act_order, who_acted_waits_for_those_who_waited_longer) {
  act_in_rounds(MUSTER_ACT_REGION);
  act_in_rounds(MUSTER_ACT_PARALLEL);
}

/* ---------------------------------------------------------------------------------- which agents reach each other */

enum { HUNTERS_NEAR = 3, HUNTERS_FAR = 3 };

struct hunt {
  muster_agent prey, other_prey;
  muster_result results[2 * (HUNTERS_NEAR + HUNTERS_FAR)];
  uint32_t hunters, prey_acts, states;
  uint64_t region, far_region;
};

/* Each hunter stores its results in places of its own. */
static muster_atom_result bite(muster_update *update) {
  struct hunt *hunt = update->type_user;
  uint32_t number = muster_agent_index(update->agent) - 1;
  hunt->results[number] = muster_update_remove(update, hunt->prey);
  hunt->results[hunt->hunters + number] = muster_update_remove(update, hunt->other_prey);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result run_away(muster_update *update) {
  struct hunt *hunt = update->type_user;
  hunt->prey_acts++;
  return MUSTER_ATOM_NEXT;
}

static void add_prey(little_world *little, struct hunt *hunt, muster_act act, muster_agent *prey) {
  const muster_atom flees[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {run_away, MUSTER_ROLE_ACTION, 1000}};
  muster_type_def def = type_of(act, flees);
  def.user = hunt;
  register_type(little, &def);
  *prey = spawn_at(little, 5.0);
}

/* One prey is the very first of all agents, one the very last. */
static struct hunt hunt_with(muster_act act) {
  const muster_atom hunts[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {bite, MUSTER_ROLE_ACTION, 1000}};
  static struct hunt hunt;
  hunt = (struct hunt){.hunters = HUNTERS_NEAR + HUNTERS_FAR};
  little_world little = create(4);
  add_prey(&little, &hunt, act, &hunt.other_prey);
  muster_type_def def = type_of(act, hunts);
  def.user = &hunt;
  register_type(&little, &def);
  for (uint32_t i = 0; i < hunt.hunters; i++) spawn_at(&little, i < HUNTERS_NEAR ? 1.0 + i : 995.0 + i);
  add_prey(&little, &hunt, act, &hunt.prey);
  cr_assert(muster_agent_index(hunt.other_prey) == 0 && muster_agent_index(hunt.prey) == hunt.hunters + 1);
  run_frame(&little); /* no agent is due yet */
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.completed, hunt.hunters + 2);
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
  little_world_destroy(&little);
  return seen;
}

static void check_results(const struct hunt *hunt, const muster_result *results, uint32_t contested) {
  for (uint32_t i = 0; i < hunt->hunters; i++)
    cr_assert_eq(results[i], i > 0 && i < contested ? MUSTER_E_STALE : MUSTER_OK, "hunter %u: %s", i,
                 muster_result_name(results[i]));
}

Test(act_order, a_prey_is_eaten_once_and_acts_no_more) {
  struct hunt hunt = hunt_with(MUSTER_ACT_SERIAL);
  check_results(&hunt, hunt.results, hunt.hunters);
  check_results(&hunt, hunt.results + hunt.hunters, hunt.hunters);
}

Test(act_order, a_prey_is_eaten_once_by_those_of_its_region) {
  struct hunt hunt = hunt_with(MUSTER_ACT_REGION);
  check_results(&hunt, hunt.results, HUNTERS_NEAR);
  check_results(&hunt, hunt.results + hunt.hunters, HUNTERS_NEAR);
}

Test(act_order, parallel_hunters_all_get_it) {
  struct hunt hunt = hunt_with(MUSTER_ACT_PARALLEL);
  check_results(&hunt, hunt.results, 0);
}

Test(act_order, who_is_removed_before_its_turn_does_not_act) {
  uint32_t with_parallel = hunt_with(MUSTER_ACT_PARALLEL).prey_acts;
  cr_assert_eq(hunt_with(MUSTER_ACT_SERIAL).prey_acts, with_parallel - 1);
  cr_assert_eq(hunt_with(MUSTER_ACT_REGION).prey_acts, with_parallel - 1);
}

struct view {
  muster_agent agents[4];
  uint64_t regions[4];
  bool reaches[4][4];
};

static muster_atom_result look(muster_update *update) {
  struct view *view = update->type_user;
  view->regions[muster_agent_index(update->agent)] = muster_update_region(update);
  for (uint32_t i = 0; i < 4; i++)
    view->reaches[muster_agent_index(update->agent)][i] = muster_update_state_of(update, view->agents[i]) != NULL;
  return MUSTER_ATOM_NEXT;
}

/* Two agents in one cell, one in the next cell, one in the same cell of another partition. */
static struct view look_with(muster_act act) {
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {look, MUSTER_ROLE_ACTION, 1000}};
  static struct view view;
  view = (struct view){0};
  little_world little = create(2);
  muster_type_def def = type_of(act, atoms);
  def.user = &view;
  register_type(&little, &def);
  muster_agent_def agent = muster_agent_def_default();
  agent.type = little.type;
  for (uint32_t i = 0; i < 4; i++) {
    agent.position.x = (double[]){1, 9, 11, 1}[i];
    agent.partition = i == 3;
    view.agents[i] = muster_agent_spawn(little.world, &agent);
    cr_assert_eq(muster_agent_index(view.agents[i]), i);
  }
  run_frames(&little, 2);
  little_world_destroy(&little);
  return view;
}

Test(act_order, a_region_is_a_cell_and_its_actions_reach_no_further) {
  struct view view = look_with(MUSTER_ACT_REGION), serial = look_with(MUSTER_ACT_SERIAL);
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t k = 0; k < 4; k++) {
      bool same = i == k || (i < 2 && k < 2);
      cr_assert_eq(view.regions[i] == view.regions[k], same, "regions of %u and %u", i, k);
      cr_assert_eq(view.reaches[i][k], same, "%u reaches %u", i, k);
      cr_assert(serial.reaches[i][k] && serial.regions[i] == view.regions[i]);
    }
}

/* ------------------------------------------------------------------------------------------------- what is refused */

static muster_atom_result ask_too_much(muster_update *update) {
  muster_agent_def child = muster_agent_def_default();
  child.type = update->type;
  cr_assert_eq(muster_update_move(update, (muster_position){1e12, 0, 0}), MUSTER_E_ARGUMENT);
  cr_assert(!muster_agent_is_null(muster_update_spawn(update, &child)));
  cr_assert(muster_agent_is_null(muster_update_spawn(update, &child)));
  cr_assert_eq(muster_update_send(update, update->agent, NULL, 0), MUSTER_OK);
  cr_assert_eq(muster_update_send(update, update->agent, NULL, 0), MUSTER_E_FULL);
  return MUSTER_ATOM_NEXT;
}

Test(act_order, what_actions_are_refused_is_counted_and_what_they_are_granted_is_done) {
  const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 1000}, {ask_too_much, MUSTER_ROLE_ACTION, 1000}};
  for (muster_act act = MUSTER_ACT_SERIAL; act <= MUSTER_ACT_PARALLEL; act++) {
    little_world little = create(2);
    muster_type_def def = type_of(act, atoms);
    def.spawns_max = def.messages.sends_max = def.messages.waiting_max = 1;
    register_type(&little, &def);
    for (uint32_t i = 0; i < 10; i++) spawn_at(&little, i * 20.0);
    run_frames(&little, 2);
    muster_statistics sums = muster_statistics_default();
    muster_statistics_read(little.world, &sums);
    cr_assert_eq(sums.positions_refused, 10, "act %d: %lu positions", (int)act, (unsigned long)sums.positions_refused);
    cr_assert_eq(sums.spawns_refused, 10);
    cr_assert_eq(sums.messages_refused, 10);
    cr_assert_eq(sums.messages_delivered, 10);
    cr_assert_eq(run_frame(&little).agents, 20);
    little_world_destroy(&little);
  }
}

Test(act_order, in_a_planner_world_the_host_acts) {
  muster_world_def world = muster_world_def_default();
  world.planner_workers = 2;
  little_world little = little_world_create(1, &world);
  muster_type_def def = muster_type_def_default();
  def.act = MUSTER_ACT_REGION;
  cr_assert_eq(muster_type_register(little.world, &def).index, 0);
  cr_assert_not_null(strstr(muster_last_error(), "act 1: the host runs actions"), "%s", muster_last_error());
  def.act = MUSTER_ACT_SERIAL;
  register_type(&little, &def);
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------------ long chains */

/* If an agent of the longest chain were begun last, all other workers would wait for it. */
Test(act_order, the_longest_chain_of_a_region_is_begun_first) {
  enum { CROWDED = 40 };
  static const muster_atom atoms[2] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 10}, {nothing, MUSTER_ROLE_ACTION, 10}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  little_world little = little_world_create(2, &def);
  muster_type_def type = actors_def(atoms, MUSTER_ACT_REGION, NULL);
  register_type(&little, &type);
  for (uint32_t i = 0; i < 3; i++) spawn_at(&little, 100000.0 * (1 + i));
  uint32_t first = muster_agent_index(spawn_at(&little, 0));
  for (uint32_t i = 1; i < CROWDED; i++) spawn_at(&little, 0);
  const struct acts *acts = &little.world->acts->beside;
  for (uint32_t i = 0; i < 100 && acts->claim_count < 4; i++) run_frame(&little);
  cr_assert_eq(acts->claim_count, 4, "%u chains, %u acts", acts->claim_count, acts->count);
  cr_assert_eq(acts->entries[acts->chains[0]].agent, first);
  little_world_destroy(&little);
}
