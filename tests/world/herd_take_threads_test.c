/* Leaves that act beside each other take members out of themselves, and out of no other leaf: none is lost or counted
 * twice, nor is what it had, and leaves that look at their herd meanwhile see it as it was. Runs under ThreadSanitizer,
 * too. */
#include "support/herd_world.h"
#include "world/fixture.h"

enum { HERDS = 12, WORKERS = 4, MEMBERS = 32 };

struct taken {
  _Alignas(64) uint64_t members, refused, changed;
  double totals;
};

static struct plague {
  struct taken by[WORKERS];
  muster_herd herds[HERDS];
  bool rages;
} plague;

static uint32_t members_seen(const muster_flock *flock) {
  uint32_t members = 0;
  for (uint32_t i = 0; i < flock->count; i++) members += flock->leaf_members[i];
  return members;
}

static void take_some(muster_update *update, struct taken *taken, muster_herd herd) {
  float totals[MUSTER_HERD_TOTALS] = {0};
  taken->members += muster_update_herd_take(update, herd, 1 + muster_agent_index(update->agent) % 3, totals);
  taken->totals += (double)totals[0];
}

/* A leaf loses members twice in one action; what it had goes with them. */
static muster_atom_result fall_ill(muster_update *update) {
  struct taken *taken = &plague.by[update->worker];
  muster_flock flock;
  if (!plague.rages || !muster_update_flock(update, &flock)) return MUSTER_ATOM_NEXT;
  uint32_t seen = members_seen(&flock);
  bool first = muster_herd_index(flock.herd) == muster_herd_index(plague.herds[0]);
  taken->refused += muster_update_herd_take(update, plague.herds[first], 1, NULL) == 0;
  take_some(update, taken, flock.herd);
  take_some(update, taken, flock.herd);
  taken->changed += members_seen(&flock) != seen;
  return MUSTER_ATOM_NEXT;
}

/* What is left to a leaf without members is lost to its herd. */
static void be_gone(muster_update *update) {
  plague.by[update->worker].totals += (double)((const struct deer *)update->published)->total;
}

static herd_world world_with_plague(muster_act act) {
  plague = (struct plague){0};
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {fall_ill, MUSTER_ROLE_ACTION, 1000}};
  const muster_type_def deer = CHANGED(deer_def(atoms), it.atom_count = 2, it.act = act, it.on_removed = be_gone);
  herd_world herds = herd_world_of(WORKERS, NULL, NULL, &deer);
  for (uint32_t i = 0; i < HERDS; i++) {
    plague.herds[i] = add_herd(&herds, 12.0 * i, 0.0, MEMBERS);
    observe(&herds, 12.0 * i, 150.0);
  }
  run_frames(&herds.little, 30);
  return herds;
}

static struct taken sum_of(void) {
  struct taken sum = {0};
  for (uint32_t i = 0; i < WORKERS; i++) {
    sum.members += plague.by[i].members;
    sum.totals += plague.by[i].totals;
    sum.refused += plague.by[i].refused;
    sum.changed += plague.by[i].changed;
  }
  return sum;
}

static void check_books(const herd_world *herds, uint64_t represented) {
  struct taken gone = sum_of();
  uint64_t members = 0;
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(herds->little.world, herd)));) {
    muster_herd_info info = herd_info_of(herds, herd);
    members += info.members;
    gone.totals += (double)info.totals[0];
  }
  cr_assert_eq(members + gone.members, HERDS * MEMBERS, "%lu live", members);
  cr_assert_eq(represented, members);
  cr_assert_float_eq(gone.totals, 2.0 * HERDS * MEMBERS, 0.01, "totals are %g", gone.totals);
  cr_assert_eq(gone.changed, 0, "a herd changed while its leaves acted");
}

static uint64_t hash_of_plague(muster_act act) {
  SCOPED_HERDS herds = world_with_plague(act);
  cr_assert_gt(herd_info_of(&herds, plague.herds[0]).leaves, 2);
  check_books(&herds, HERDS * MEMBERS);
  plague.rages = true;
  for (uint32_t i = 0; i < 8; i++) {
    run_frames(&herds.little, 2);
    plague.rages = i < 3;
    check_books(&herds, run_frame(&herds.little).represented);
  }
  struct taken gone = sum_of();
  cr_assert_gt(gone.members, 2 * HERDS);
  cr_assert_gt(gone.refused, 2 * HERDS, "a leaf took members of another herd");
  return muster_world_hash(herds.little.world);
}

Test(herd_take_threads, leaves_that_act_beside_each_other_take_out_of_themselves) {
  uint64_t regions = hash_of_plague(MUSTER_ACT_REGION);
  cr_assert_eq(hash_of_plague(MUSTER_ACT_REGION), regions);
  cr_assert_eq(hash_of_plague(MUSTER_ACT_PARALLEL), regions);
}

static muster_atom_result take_a_stranger(muster_update *update) {
  plague.by[update->worker].refused += muster_update_herd_take(update, plague.herds[0], 1, NULL) == 0;
  return MUSTER_ATOM_NEXT;
}

Test(herd_take_threads, other_agents_that_act_beside_others_take_nothing) {
  SCOPED_HERDS herds = world_with_plague(MUSTER_ACT_REGION);
  add_type(&herds.little, actors_running(take_a_stranger, 1000, MUSTER_ACT_REGION));
  spawn_at(&herds.little, 0.0);
  run_frames(&herds.little, 9);
  cr_assert_gt(sum_of().refused, 0);
  check_books(&herds, HERDS * MEMBERS);
}
