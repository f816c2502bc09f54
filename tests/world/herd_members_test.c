/* Single members of herds: woken, named, taken, removed. */
#include "world/herd_fixture.h"

Test(herd_members, that_are_woken_are_individuals_and_run_within_one_frame) {
  SCOPED_HERDS herds = one_herd(muster_herd_type_def_default(), 1);
  cr_assert_eq(muster_herd_wake(herds.little.world, only_herd, 7), MUSTER_OK);
  muster_frame_report report = run_frame(&herds.little);
  muster_herd_info info = herd_info_of(&herds, only_herd);
  cr_assert_eq(info.depth, 5);
  cr_assert_eq(info.leaves, 6);
  cr_assert_eq(report.woken, 1);
  muster_agent agents[32];
  uint32_t nodes[32], woken = 0;
  cr_assert_eq(muster_herd_leaves(herds.little.world, only_herd, agents, nodes, 32), 6);
  for (uint32_t i = 0; i < 6; i++) {
    cr_assert_eq(muster_herd_index(muster_herd_of(herds.little.world, agents[i])), muster_herd_index(only_herd));
    if (nodes[i] == 31 + 7) woken = i;
  }
  cr_assert_eq(info_of(&herds.little, agents[woken]).last_update_ns, herds.little.now_ns);
  run_frames(&herds.little, 150);
  cr_assert_eq(herd_info_of(&herds, only_herd).depth, 5, "held for hold_ns");
  run_frames(&herds.little, 150);
  cr_assert_eq(herd_info_of(&herds, only_herd).depth, 0, "and folded then");
}

/* A leaf that was woken is not folded before its update ran. */
Test(herd_members, that_are_woken_in_every_frame_are_not_folded_until_that_ends) {
  SCOPED_HERDS herds = seen_herd(muster_herd_type_def_default(), 0.0, 10);
  muster_agent agents[32];
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 32);
  cr_assert_eq(muster_observer_remove(herds.little.world, only_observer), MUSTER_OK);
  for (uint32_t frame = 0; frame < 20; frame++) {
    read_leaves(&herds, only_herd, agents, 32);
    for (uint32_t i = 0; i < 32; i++) muster_agent_wake(herds.little.world, agents[i]);
    run_frame(&herds.little);
    cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 32, "frame %u", frame);
  }
  run_frames(&herds.little, 20);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 0);
}

Test(herd_members, with_names_leave_the_tree_and_are_never_folded) {
  SCOPED_HERDS herds = one_herd(muster_herd_type_def_default(), 1);
  muster_agent agent = muster_herd_name(herds.little.world, only_herd, 3);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  cr_assert(info_of(&herds.little, agent).active);
  run_frames(&herds.little, 300);
  expect_herd(&herds, only_herd, 0, 31);
  cr_assert_eq(herd_info_of(&herds, only_herd).named, 1);
  cr_assert_eq(muster_herd_index(muster_herd_of(herds.little.world, agent)), muster_herd_index(only_herd));
  cr_assert_eq(run_frame(&herds.little).represented, 32);
  muster_herd_remove(herds.little.world, only_herd);
  cr_assert_eq(run_frame(&herds.little).represented, 1);
  cr_assert(muster_agent_exists(herds.little.world, agent));
  cr_assert_eq(muster_herd_generation(muster_herd_of(herds.little.world, agent)), 0);
}

/* What the designer said of a leaf that stands for many members holds for each of these members. */
Test(herd_members, inherit_what_the_designer_says_of_who_stood_for_them) {
  muster_agent agents[32];
  muster_world_def world = WITH(virtual_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS);
  SCOPED_HERDS herds = herd_world_create(1, &world, NULL);
  add_seen_herd(&herds, 225.0, 3);
  uint32_t leaves = muster_herd_leaves(herds.little.world, only_herd, agents, NULL, 32), told = 0;
  cr_assert(leaves >= 2 && leaves < 32, "%u leaves", leaves);
  cr_assert_eq(tune_agent(&herds.little, agents[0], WITH(muster_agent_tuning, it.designer = 1.0f)), MUSTER_OK);
  run_frames(&herds.little, 2);
  look_from(&herds, only_observer, 0, 30);
  read_leaves(&herds, only_herd, agents, 32);
  for (uint32_t i = 0; i < 32; i++) told += explain(&herds.little, agents[i]).designer > 0.9f;
  cr_assert(told >= 32 / leaves / 2 && told > 1 && told < 32, "%u of 32, of %u before", told, leaves);
}

Test(herd_members, cannot_all_have_names) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 2);
  cr_assert(!muster_agent_is_null(muster_herd_name(herds.little.world, herd, 1)));
  cr_assert(muster_agent_is_null(muster_herd_name(herds.little.world, herd, 0)));
  cr_assert_eq(herd_info_of(&herds, herd).members, 1);
  cr_assert(muster_agent_is_null(muster_herd_name(herds.little.world, herd, 32)), "beyond b^D");
}

Test(herd_members, that_are_removed_as_agents_are_missing_from_their_herd) {
  SCOPED_HERDS herds = seen_herd(muster_herd_type_def_default(), 0.0, 3);
  muster_agent agents[32];
  read_leaves(&herds, only_herd, agents, 32);
  for (uint32_t i = 0; i < 31; i++) {
    muster_agent_remove(herds.little.world, agents[i]);
    cr_assert_eq(run_frame(&herds.little).represented, 31 - i);
    cr_assert_eq(herd_info_of(&herds, only_herd).members, 31 - i);
  }
  muster_agent_remove(herds.little.world, agents[31]);
  cr_assert_eq(run_frame(&herds.little).represented, 0);
  muster_herd_info info = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(herds.little.world, only_herd, &info), MUSTER_E_STALE);
  cr_assert_eq(muster_herd_wake(herds.little.world, only_herd, 0), MUSTER_E_STALE);
  cr_assert_eq(muster_herd_remove(herds.little.world, only_herd), MUSTER_E_STALE);
}

Test(herd_members, blocks_cannot_be_removed_as_agents) {
  SCOPED_HERDS herds = one_herd(muster_herd_type_def_default(), 1);
  muster_agent block = muster_agent_next(herds.little.world, (muster_agent){0});
  muster_agent_remove(herds.little.world, block);
  run_frames(&herds.little, 3);
  cr_assert(muster_agent_exists(herds.little.world, block));
  cr_assert_eq(herd_info_of(&herds, only_herd).members, 32);
}

Test(herd_members, of_removed_herds_are_gone_and_their_homes_are_used_again) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd kept[1024];
  for (uint32_t i = 0; i < 1024; i++) kept[i] = add_herd(&herds, (double)i, 0.0, 1 + i % 32);
  run_frame(&herds.little);
  cr_assert_eq(muster_herds_add(herds.little.world, herds.type, &(muster_herd_def){0}, 1, NULL), 0, "herds_max exist");
  muster_herd_remove(herds.little.world, kept[77]);
  run_frame(&herds.little);
  muster_herd again = add_herd(&herds, 5.0, 5.0, 9);
  cr_assert_eq(muster_herd_index(again), muster_herd_index(kept[77]));
  cr_assert_neq(muster_herd_generation(again), muster_herd_generation(kept[77]));
  cr_assert_eq(herd_info_of(&herds, again).members, 9);
  uint32_t members = 0;
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(herds.little.world, herd)));)
    members += herd_info_of(&herds, herd).members;
  cr_assert_eq(members, run_frame(&herds.little).represented);
}

static void expect_words(const herd_world *herds, muster_agent agent, const char *wanted) {
  char text[4096];
  muster_agent_explanation explanation = explain(&herds->little, agent);
  muster_explanation_print(&explanation, text, sizeof text);
  cr_assert(strstr(text, wanted), "%s", text);
}

Test(herd_members, are_explained) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0.0, 0.0, 32);
  muster_agent named = muster_herd_name(herds.little.world, herd, 3), leaf;
  observe(&herds, 245.0, 0.0);
  run_frames(&herds.little, 60);
  cr_assert_eq(muster_herd_leaves(herds.little.world, herd, &leaf, NULL, 1), 2);
  expect_words(&herds, leaf, "stands for 15 of herd 0");
  expect_words(&herds, named, "member of herd 0, with a name");
  expect_words(&herds, muster_agent_next(herds.little.world, (muster_agent){0}), "block of 1 herds");
}

/* -------------------------------------------------------------------------------------------------------- predators */

static struct {
  muster_herd herd;
  uint32_t wanted, taken, found;
  float totals[MUSTER_HERD_TOTALS];
  muster_result pushed, refused[2]; /* velocities that no herd can have */
  bool outside;                     /* take succeeded in a parallel atom */
} hunt;

static muster_atom_result lurk(muster_update *update) {
  hunt.outside |= muster_update_herd_take(update, hunt.herd, 1, NULL) != 0;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result strike(muster_update *update) {
  muster_herd_near near[8];
  hunt.found = muster_update_herds_nearby(update, 100.0f, near, 8);
  hunt.pushed = muster_update_herd_push(update, hunt.herd, 1.0f, 2.0f);
  hunt.refused[0] = muster_update_herd_push(update, hunt.herd, INFINITY, 0.0f);
  hunt.refused[1] = muster_update_herd_push(update, hunt.herd, 0.0f, NAN);
  if (hunt.wanted) hunt.taken += muster_update_herd_take(update, hunt.herd, hunt.wanted, hunt.totals);
  hunt.wanted = 0;
  return MUSTER_ATOM_NEXT;
}

static herd_world world_with_wolf(void) {
  const muster_atom atoms[2] = {{.run = lurk}, {.run = strike, .role = MUSTER_ROLE_ACTION}};
  herd_world herds = herd_world_create(1, NULL, NULL);
  add_type(&herds.little, CHANGED(type_with(atoms, 2), it.name = "wolf", it.period_ns = it.period_max_ns = FRAME_NS));
  hunt.herd = add_herd(&herds, 30.0, 0.0, 32);
  spawn_at(&herds.little, 0.0);
  run_frames(&herds.little, 3);
  return herds;
}

/* With so many taken in all. */
static void hunt_for(herd_world *herds, uint32_t members, uint32_t frames, uint32_t taken) {
  hunt.wanted = members;
  run_frames(&herds->little, frames);
  cr_assert_eq(hunt.taken, taken);
}

Test(herd_members, are_taken_out_of_folded_herds_with_their_share) {
  SCOPED_HERDS herds = world_with_wolf();
  cr_assert_eq(hunt.found, 1);
  cr_assert_eq(hunt.pushed, MUSTER_OK);
  cr_assert(hunt.refused[0] == MUSTER_E_ARGUMENT && hunt.refused[1] == MUSTER_E_ARGUMENT);
  cr_assert_not(hunt.outside);
  hunt_for(&herds, 8, 2, 8);
  cr_assert(fabsf(hunt.totals[0] - 16.0f) < 1e-4f);
  muster_herd_info info = herd_info_of(&herds, hunt.herd);
  cr_assert_eq(info.members, 24);
  cr_assert(fabsf(info.totals[0] - 48.0f) < 1e-4f);
  cr_assert_eq(run_frame(&herds.little).represented, 25);
  hunt_for(&herds, 99, 2, 32);
  cr_assert_eq(run_frame(&herds.little).represented, 1);
  cr_assert_eq(hunt.found, 0);
}

Test(herd_members, are_taken_from_the_nearest_leaf_of_an_unfolded_herd) {
  SCOPED_HERDS herds = world_with_wolf();
  observe(&herds, 30.0 + 220.0, 0.0);
  run_frames(&herds.little, 3);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).leaves, 2);
  cr_assert_eq(hunt.pushed, MUSTER_E_STATE);
  cr_assert_eq(hunt.found, 1);
  hunt_for(&herds, 10, 2, 10);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).members, 22);
  cr_assert(fabsf(herd_info_of(&herds, hunt.herd).totals[0] - 44.0f) < 1e-3f);
  hunt.wanted = 99;
  run_frames(&herds.little, 2);
  cr_assert_eq(herd_info_of(&herds, hunt.herd).leaves, 1);
  hunt_for(&herds, 99, 3, 32);
  cr_assert_eq(run_frame(&herds.little).represented, 1);
}

/* -------------------------------------------------------------------------------------------------------- the flock */

static struct { uint32_t leaves, named, wrong; } sights;

static bool is_padded(const muster_flock *flock) {
  for (uint32_t i = flock->count; i % 8 != 0; i++)
    if (flock->x[i] < 1e9f || flock->leaf_members[i]) return false;
  uintptr_t all = (uintptr_t)flock->x | (uintptr_t)flock->y | (uintptr_t)flock->velocity_x;
  return (all | (uintptr_t)flock->leaf_members) % 32 == 0;
}

static bool is_itself(const muster_update *update, const muster_flock *flock) {
  const muster_herd_body *body = update->published;
  return fabs(flock->origin_x + (double)flock->x[flock->self] - update->position.x) < 1e-3 &&
         fabsf(flock->velocity_x[flock->self] - body->velocity_x) < 1e-6f &&
         flock->leaf_members[flock->self] == flock->members;
}

static muster_atom_result look_around(muster_update *update) {
  muster_flock flock;
  bool there = muster_update_flock(update, &flock), named = there && flock.self == UINT32_MAX;
  sights.wrong += !there;
  if (!there) return MUSTER_ATOM_NEXT;
  sights.named += named;
  sights.leaves += !named;
  if (!named) sights.wrong += !is_padded(&flock) || !is_itself(update, &flock);
  double x = flock.origin_x + (double)flock.herd_x;
  sights.wrong += !(fabs(x) < 5.0) || !(fabsf(flock.herd_velocity_x - 1.0f) < 2.5f);
  return MUSTER_ATOM_NEXT;
}

Test(herd_members, see_their_flock) {
  muster_type_def deer = deer_def(atom_of(look_around, 1000));
  SCOPED_HERDS herds = herd_world_of(1, NULL, NULL, &deer);
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
}
