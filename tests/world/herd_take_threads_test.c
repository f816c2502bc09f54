/* Leaves that act beside each other take members out of themselves, and out of no other leaf: none is lost or counted
 * twice, nor is what it had, and leaves that look at their herd meanwhile see it as it was. Runs under ThreadSanitizer,
 * too. */
#include "support/herd_world.h"

#include <muster/herd.h>

enum { HERDS = 12, WORKERS = 4, MEMBERS = 32 };

/* What the deer of one worker took. */
struct taken {
  _Alignas(64) uint64_t members, refused, changed;
  double totals;
};

struct plague {
  struct taken by[WORKERS];
  muster_herd herds[HERDS];
  bool rages;
};

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
  struct plague *plague = update->type_user;
  struct taken *taken = &plague->by[update->worker];
  muster_flock flock;
  if (!plague->rages || !muster_update_flock(update, &flock)) return MUSTER_ATOM_NEXT;
  uint32_t seen = members_seen(&flock);
  bool first = muster_herd_index(flock.herd) == muster_herd_index(plague->herds[0]);
  taken->refused += muster_update_herd_take(update, plague->herds[first], 1, NULL) == 0;
  take_some(update, taken, flock.herd);
  take_some(update, taken, flock.herd);
  taken->changed += members_seen(&flock) != seen;
  return MUSTER_ATOM_NEXT;
}

/* What is left to a leaf without members is lost to its herd. */
static void be_gone(muster_update *update) {
  struct plague *plague = update->type_user;
  plague->by[update->worker].totals += (double)((const struct deer *)update->published)->total;
}

static herd_world world_with_plague(struct plague *plague, muster_act act) {
  const muster_atom atoms[] = {{.role = MUSTER_ROLE_BEHAVIOUR, .run = stand_still, .model_ns = 1000},
                               {.role = MUSTER_ROLE_ACTION, .run = fall_ill, .model_ns = 1000}};
  muster_type_def deer = deer_def(atoms);
  deer.atom_count = 2;
  deer.act = act;
  deer.user = plague;
  deer.on_removed = be_gone;
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  herd_world herds = herd_world_of(WORKERS, &def, NULL, &deer);
  for (uint32_t i = 0; i < HERDS; i++) {
    plague->herds[i] = add_herd(&herds, 12.0 * i, 0.0, MEMBERS);
    observe(&herds, 12.0 * i, 150.0);
  }
  run_frames(&herds.little, 30);
  return herds;
}

static struct taken sum_of(const struct plague *plague) {
  struct taken sum = {0};
  for (uint32_t i = 0; i < WORKERS; i++) {
    sum.members += plague->by[i].members;
    sum.totals += plague->by[i].totals;
    sum.refused += plague->by[i].refused;
    sum.changed += plague->by[i].changed;
  }
  return sum;
}

static void check_books(const herd_world *herds, const struct plague *plague, uint64_t represented) {
  struct taken gone = sum_of(plague);
  uint64_t members = 0;
  muster_herd_info info = muster_herd_info_default();
  muster_herd herd = muster_herd_next(herds->little.world, (muster_herd){0});
  for (; muster_herd_generation(herd); herd = muster_herd_next(herds->little.world, herd)) {
    cr_assert_eq(muster_herd_read(herds->little.world, herd, &info), MUSTER_OK);
    members += info.members;
    gone.totals += (double)info.totals[0];
  }
  cr_assert_eq(members + gone.members, HERDS * MEMBERS, "%llu live", (unsigned long long)members);
  cr_assert_eq(represented, members);
  cr_assert_float_eq(gone.totals, 2.0 * HERDS * MEMBERS, 0.01, "totals are %g", gone.totals);
  cr_assert_eq(gone.changed, 0, "a herd changed while its leaves acted");
}

static uint64_t hash_of_plague(muster_act act) {
  struct plague plague = {0};
  herd_world herds = world_with_plague(&plague, act);
  cr_assert_gt(herd_info_of(&herds, plague.herds[0]).leaves, 2);
  check_books(&herds, &plague, HERDS * MEMBERS);
  plague.rages = true;
  for (uint32_t i = 0; i < 8; i++) {
    run_frames(&herds.little, 2);
    plague.rages = i < 3;
    uint64_t represented = run_frame(&herds.little).represented;
    check_books(&herds, &plague, represented);
  }
  struct taken gone = sum_of(&plague);
  cr_assert_gt(gone.members, 2 * HERDS);
  cr_assert_gt(gone.refused, 2 * HERDS, "a leaf took members of another herd");
  uint64_t hash = muster_world_hash(herds.little.world);
  herd_world_destroy(&herds);
  return hash;
}

Test(herd_take_threads, leaves_that_act_beside_each_other_take_out_of_themselves) {
  uint64_t regions = hash_of_plague(MUSTER_ACT_REGION);
  cr_assert_eq(hash_of_plague(MUSTER_ACT_REGION), regions);
  cr_assert_eq(hash_of_plague(MUSTER_ACT_PARALLEL), regions);
}

static muster_atom_result take_a_stranger(muster_update *update) {
  struct plague *plague = update->type_user;
  plague->by[update->worker].refused += muster_update_herd_take(update, plague->herds[0], 1, NULL) == 0;
  return MUSTER_ATOM_NEXT;
}

Test(herd_take_threads, other_agents_that_act_beside_others_take_nothing) {
  struct plague plague = {0};
  herd_world herds = world_with_plague(&plague, MUSTER_ACT_REGION);
  const muster_atom atoms[] = {{.role = MUSTER_ROLE_BEHAVIOUR, .run = nothing, .model_ns = 1000},
                               {.role = MUSTER_ROLE_ACTION, .run = take_a_stranger, .model_ns = 1000}};
  muster_type_def wolf = actors_def(atoms, MUSTER_ACT_REGION, &plague);
  muster_agent_def def = muster_agent_def_default();
  def.type = muster_type_register(herds.little.world, &wolf);
  cr_assert_neq(def.type.index, 0, "%s", muster_last_error());
  muster_agent_spawn(herds.little.world, &def);
  run_frames(&herds.little, 9);
  cr_assert_gt(sum_of(&plague).refused, 0);
  check_books(&herds, &plague, HERDS * MEMBERS);
  herd_world_destroy(&herds);
}
