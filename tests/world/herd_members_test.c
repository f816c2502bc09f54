/* Single members of herds: woken, named, taken, removed. */
#include "support/herd_world.h"

#include <muster/explain.h>
#include <muster/herd.h>

#include <math.h>

static uint32_t members_of_all(const herd_world *herds) {
  uint32_t members = 0;
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(herds->little.world, herd)));)
    members += herd_info_of(herds, herd).members;
  return members;
}

Test(herd_members, that_are_woken_are_individuals_and_run_within_one_frame) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  run_frame(&herds.little);
  cr_assert_eq(muster_herd_wake(herds.little.world, herd, 7), MUSTER_OK);
  muster_frame_report report = run_frame(&herds.little);
  muster_herd_info info = herd_info_of(&herds, herd);
  cr_assert_eq(info.depth, 5);
  cr_assert_eq(info.leaves, 6);
  cr_assert_eq(report.woken, 1);
  muster_agent agents[32];
  uint32_t nodes[32], woken = 0;
  cr_assert_eq(muster_herd_leaves(herds.little.world, herd, agents, nodes, 32), 6);
  for (uint32_t i = 0; i < 6; i++) {
    cr_assert_eq(muster_herd_index(muster_herd_of(herds.little.world, agents[i])), muster_herd_index(herd));
    if (nodes[i] == 31 + 7) woken = i;
  }
  cr_assert_eq(info_of(&herds.little, agents[woken]).last_update_ns, herds.little.now_ns);
  run_frames(&herds.little, 150);
  cr_assert_eq(herd_info_of(&herds, herd).depth, 5, "held for hold_ns");
  run_frames(&herds.little, 150);
  cr_assert_eq(herd_info_of(&herds, herd).depth, 0, "and folded then");
  herd_world_destroy(&herds);
}

/* A leaf that was woken is not folded before its update ran. */
Test(herd_members, that_are_woken_in_every_frame_are_not_folded_until_that_ends) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  muster_agent agents[32];
  run_frames(&herds.little, 10);
  uint32_t leaves = herd_info_of(&herds, herd).leaves;
  cr_assert_eq(leaves, 32);
  cr_assert_eq(muster_observer_remove(herds.little.world, observer), MUSTER_OK);
  for (uint32_t frame = 0; frame < 20; frame++) {
    cr_assert_eq(muster_herd_leaves(herds.little.world, herd, agents, NULL, 32), leaves);
    for (uint32_t i = 0; i < leaves; i++) muster_agent_wake(herds.little.world, agents[i]);
    run_frame(&herds.little);
    cr_assert_eq(herd_info_of(&herds, herd).leaves, leaves, "frame %u", frame);
  }
  run_frames(&herds.little, 20);
  cr_assert_eq(herd_info_of(&herds, herd).leaves, 0);
  herd_world_destroy(&herds);
}

Test(herd_members, with_names_leave_the_tree_and_are_never_folded) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  run_frame(&herds.little);
  muster_agent agent = muster_herd_name(herds.little.world, herd, 3);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  cr_assert(info_of(&herds.little, agent).active);
  run_frames(&herds.little, 300);
  muster_herd_info info = herd_info_of(&herds, herd);
  cr_assert_eq(info.leaves, 0);
  cr_assert_eq(info.members, 31);
  cr_assert_eq(info.named, 1);
  cr_assert_eq(muster_herd_index(muster_herd_of(herds.little.world, agent)), muster_herd_index(herd));
  muster_frame_report report = run_frame(&herds.little);
  cr_assert_eq(report.represented, 32);
  muster_herd_remove(herds.little.world, herd);
  report = run_frame(&herds.little);
  cr_assert_eq(report.represented, 1);
  cr_assert(muster_agent_exists(herds.little.world, agent));
  cr_assert_eq(muster_herd_generation(muster_herd_of(herds.little.world, agent)), 0);
  herd_world_destroy(&herds);
}

static float designer_of(const herd_world *herds, muster_agent agent) {
  muster_agent_explanation why = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(herds->little.world, agent, &why), MUSTER_OK, "%s", muster_last_error());
  return why.designer;
}

/* What the designer said of a leaf that stands for many members holds for each of these members. */
Test(herd_members, inherit_what_the_designer_says_of_who_stood_for_them) {
  muster_world_def world = muster_world_def_default();
  muster_agent agents[32];
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.importance_model = MUSTER_IMPORTANCE_FACTORS;
  herd_world herds = herd_world_create(1, &world, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  muster_observer observer = observe(&herds, 225.0, 0.0);
  run_frames(&herds.little, 3);
  uint32_t leaves = muster_herd_leaves(herds.little.world, herd, agents, NULL, 32), told = 0;
  cr_assert(leaves >= 2 && leaves < 32, "%u leaves", leaves);
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.designer = 1.0f;
  cr_assert_eq(muster_agent_tune(herds.little.world, agents[0], &tuning), MUSTER_OK);
  run_frames(&herds.little, 2);
  muster_observer_move(herds.little.world, observer, (muster_position){0, 0, 0});
  run_frames(&herds.little, 30);
  cr_assert_eq(muster_herd_leaves(herds.little.world, herd, agents, NULL, 32), 32);
  for (uint32_t i = 0; i < 32; i++) told += designer_of(&herds, agents[i]) > 0.9f;
  cr_assert(told >= 32 / leaves / 2 && told > 1 && told < 32, "%u of 32, of %u before", told, leaves);
  herd_world_destroy(&herds);
}

Test(herd_members, cannot_all_have_names) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 2);
  cr_assert(!muster_agent_is_null(muster_herd_name(herds.little.world, herd, 1)));
  cr_assert(muster_agent_is_null(muster_herd_name(herds.little.world, herd, 0)));
  cr_assert_eq(herd_info_of(&herds, herd).members, 1);
  cr_assert(muster_agent_is_null(muster_herd_name(herds.little.world, herd, 32)), "beyond b^D");
  herd_world_destroy(&herds);
}

Test(herd_members, that_are_removed_as_agents_are_missing_from_their_herd) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 3);
  muster_agent agents[32];
  cr_assert_eq(muster_herd_leaves(herds.little.world, herd, agents, NULL, 32), 32);
  for (uint32_t i = 0; i < 31; i++) {
    muster_agent_remove(herds.little.world, agents[i]);
    muster_frame_report report = run_frame(&herds.little);
    cr_assert_eq(report.represented, 31 - i);
    cr_assert_eq(herd_info_of(&herds, herd).members, 31 - i);
  }
  muster_agent_remove(herds.little.world, agents[31]);
  cr_assert_eq(run_frame(&herds.little).represented, 0);
  muster_herd_info info = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(herds.little.world, herd, &info), MUSTER_E_STALE);
  cr_assert_eq(muster_herd_wake(herds.little.world, herd, 0), MUSTER_E_STALE);
  cr_assert_eq(muster_herd_remove(herds.little.world, herd), MUSTER_E_STALE);
  herd_world_destroy(&herds);
}

Test(herd_members, blocks_cannot_be_removed_as_agents) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  run_frame(&herds.little);
  muster_agent block = muster_agent_next(herds.little.world, (muster_agent){0});
  muster_agent_remove(herds.little.world, block);
  run_frames(&herds.little, 3);
  cr_assert(muster_agent_exists(herds.little.world, block));
  cr_assert_eq(herd_info_of(&herds, herd).members, 32);
  herd_world_destroy(&herds);
}

Test(herd_members, of_removed_herds_are_gone_and_their_homes_are_used_again) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd kept[1024];
  for (uint32_t i = 0; i < 1024; i++) kept[i] = add_herd(&herds, (double)i, 0.0, 1 + i % 32);
  run_frame(&herds.little);
  muster_herd_def def = {.position = {0, 0, 0}};
  cr_assert_eq(muster_herds_add(herds.little.world, herds.type, &def, 1, NULL), 0, "herds_max exist");
  muster_herd_remove(herds.little.world, kept[77]);
  run_frame(&herds.little);
  muster_herd again = add_herd(&herds, 5.0, 5.0, 9);
  cr_assert_eq(muster_herd_index(again), muster_herd_index(kept[77]));
  cr_assert_neq(muster_herd_generation(again), muster_herd_generation(kept[77]));
  cr_assert_eq(herd_info_of(&herds, again).members, 9);
  cr_assert_eq(members_of_all(&herds), run_frame(&herds.little).represented);
  herd_world_destroy(&herds);
}

static void expect_words(const herd_world *herds, muster_agent agent, const char *wanted) {
  char text[4096];
  muster_agent_explanation explanation = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(herds->little.world, agent, &explanation), MUSTER_OK, "%s", muster_last_error());
  muster_explanation_print(&explanation, text, sizeof text);
  cr_assert(strstr(text, wanted), "%s", text);
}

Test(herd_members, are_explained) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  muster_agent named = muster_herd_name(herds.little.world, herd, 3), leaf;
  observe(&herds, 245.0, 0.0);
  run_frames(&herds.little, 60);
  cr_assert_eq(muster_herd_leaves(herds.little.world, herd, &leaf, NULL, 1), 2);
  expect_words(&herds, leaf, "stands for 15 of herd 0");
  expect_words(&herds, named, "member of herd 0, with a name");
  expect_words(&herds, muster_agent_next(herds.little.world, (muster_agent){0}), "block of 1 herds");
  herd_world_destroy(&herds);
}

/* -------------------------------------------------------------------------------------------------------- predators */

struct hunt {
  muster_herd herd;
  uint32_t wanted, taken, found;
  float totals[MUSTER_HERD_TOTALS];
  muster_result pushed, refused[2]; /* velocities that no herd can have */
  bool outside;                     /* take succeeded in a parallel atom */
};

static muster_atom_result lurk(muster_update *update) {
  struct hunt *hunt = update->type_user;
  hunt->outside |= muster_update_herd_take(update, hunt->herd, 1, NULL) != 0;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result strike(muster_update *update) {
  struct hunt *hunt = update->type_user;
  muster_herd_near near[8];
  hunt->found = muster_update_herds_nearby(update, 100.0f, near, 8);
  hunt->pushed = muster_update_herd_push(update, hunt->herd, 1.0f, 2.0f);
  hunt->refused[0] = muster_update_herd_push(update, hunt->herd, INFINITY, 0.0f);
  hunt->refused[1] = muster_update_herd_push(update, hunt->herd, 0.0f, NAN);
  if (hunt->wanted) hunt->taken += muster_update_herd_take(update, hunt->herd, hunt->wanted, hunt->totals);
  hunt->wanted = 0;
  return MUSTER_ATOM_NEXT;
}

static herd_world world_with_wolf(struct hunt *hunt) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  const muster_atom atoms[2] = {{.role = MUSTER_ROLE_BEHAVIOUR, .run = lurk},
                                {.role = MUSTER_ROLE_ACTION, .run = strike}};
  muster_type_def def = muster_type_def_default();
  def.name = "wolf";
  def.atoms = atoms;
  def.atom_count = 2;
  def.period_ns = def.period_max_ns = FRAME_NS;
  def.user = hunt;
  muster_agent_def wolf = muster_agent_def_default();
  wolf.type = muster_type_register(herds.little.world, &def);
  hunt->herd = add_herd(&herds, 30.0, 0.0, 32);
  muster_agent_spawn(herds.little.world, &wolf);
  run_frames(&herds.little, 3);
  return herds;
}

Test(herd_members, are_taken_out_of_folded_herds_with_their_share) {
  struct hunt hunt = {0};
  herd_world herds = world_with_wolf(&hunt);
  cr_assert_eq(hunt.found, 1);
  cr_assert_eq(hunt.pushed, MUSTER_OK);
  cr_assert(hunt.refused[0] == MUSTER_E_ARGUMENT && hunt.refused[1] == MUSTER_E_ARGUMENT);
  cr_assert_not(hunt.outside);
  hunt.wanted = 8;
  run_frames(&herds.little, 2);
  cr_assert_eq(hunt.taken, 8);
  cr_assert(fabsf(hunt.totals[0] - 16.0f) < 1e-4f);
  muster_herd_info info = herd_info_of(&herds, hunt.herd);
  cr_assert_eq(info.members, 24);
  cr_assert(fabsf(info.totals[0] - 48.0f) < 1e-4f);
  cr_assert_eq(run_frame(&herds.little).represented, 25);
  hunt.wanted = 99;
  run_frames(&herds.little, 2);
  cr_assert_eq(hunt.taken, 32);
  cr_assert_eq(run_frame(&herds.little).represented, 1);
  cr_assert_eq(hunt.found, 0);
  herd_world_destroy(&herds);
}

Test(herd_members, are_taken_from_the_nearest_leaf_of_an_unfolded_herd) {
  struct hunt hunt = {0};
  herd_world herds = world_with_wolf(&hunt);
  observe(&herds, 30.0 + 220.0, 0.0);
  run_frames(&herds.little, 3);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).leaves, 2);
  cr_assert_eq(hunt.pushed, MUSTER_E_STATE);
  cr_assert_eq(hunt.found, 1);
  hunt.wanted = 10;
  run_frames(&herds.little, 2);
  cr_assert_eq(hunt.taken, 10);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).members, 22);
  cr_assert(fabsf(herd_info_of(&herds, hunt.herd).totals[0] - 44.0f) < 1e-3f);
  hunt.wanted = 99;
  run_frames(&herds.little, 2);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).leaves, 1);
  hunt.wanted = 99;
  run_frames(&herds.little, 3);
  cr_assert_eq(hunt.taken, 32);
  cr_assert_eq(run_frame(&herds.little).represented, 1);
  herd_world_destroy(&herds);
}

/* -------------------------------------------------------------------------------------------------------- the flock */

struct sights {
  uint32_t leaves, named, wrong;
};

static bool is_padded(const muster_flock *flock) {
  for (uint32_t i = flock->count; i % 8 != 0; i++)
    if (flock->x[i] < 1e9f || flock->leaf_members[i]) return false;
  return ((uintptr_t)flock->x | (uintptr_t)flock->y | (uintptr_t)flock->velocity_x | (uintptr_t)flock->leaf_members) %
             32 ==
         0;
}

static bool is_itself(const muster_update *update, const muster_flock *flock) {
  const muster_herd_body *body = update->published;
  return fabs(flock->origin_x + (double)flock->x[flock->self] - update->position.x) < 1e-3 &&
         fabsf(flock->velocity_x[flock->self] - body->velocity_x) < 1e-6f &&
         flock->leaf_members[flock->self] == flock->members;
}

static muster_atom_result look_around(muster_update *update) {
  struct sights *sights = update->type_user;
  muster_flock flock;
  if (!muster_update_flock(update, &flock)) {
    sights->wrong++;
    return MUSTER_ATOM_NEXT;
  }
  bool named = flock.self == UINT32_MAX;
  sights->named += named;
  sights->leaves += !named;
  if (!named) sights->wrong += !is_padded(&flock) || !is_itself(update, &flock);
  double x = flock.origin_x + (double)flock.herd_x;
  sights->wrong += !(fabs(x) < 5.0) || !(fabsf(flock.herd_velocity_x - 1.0f) < 2.5f);
  return MUSTER_ATOM_NEXT;
}

Test(herd_members, see_their_flock) {
  struct sights sights = {0};
  const muster_atom atom = {.role = MUSTER_ROLE_BEHAVIOUR, .run = look_around, .model_ns = 1000};
  muster_type_def deer = deer_def(&atom);
  deer.user = &sights;
  herd_world herds = herd_world_of(1, NULL, NULL, &deer);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 30);
  run_frames(&herds.little, 1);
  muster_agent named = muster_herd_name(herds.little.world, herd, 4);
  run_frames(&herds.little, 300);
  cr_assert_eq(herd_info_of(&herds, herd).leaves, 0);
  cr_assert_gt(sights.named, 0);
  uint32_t before = sights.named;
  observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 30);
  cr_assert_eq(herd_info_of(&herds, herd).leaves, 29);
  cr_assert_gt(sights.leaves, 29);
  cr_assert_gt(sights.named, before);
  cr_assert_eq(sights.wrong, 0);
  cr_assert(muster_agent_exists(herds.little.world, named));
  herd_world_destroy(&herds);
}
