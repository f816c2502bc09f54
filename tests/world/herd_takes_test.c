/* Predators, names and calls at random, against what each herd must have: as every member of a herd has the same share
 * of its totals, a herd has so many times its members of each, whatever was done to it, and whatever was taken has so
 * many times what was taken. */
#include "support/whole_frames.h"
#include "world/herd_fixture.h"

#include <muster/random.h>

enum { HERDS = 14, TOTALS = 3, WOLVES = 5, FRAMES = 400, UNTOUCHED = 77 };

struct beast {
  float velocity_x, velocity_y, totals[TOTALS]; /* as a muster_herd_body */
};

static struct {
  little_world little;
  muster_herd_type types[2];
  muster_herd herds[HERDS];
  uint32_t type_of[HERDS], members[HERDS], named[HERDS];
  float push_x[HERDS], push_y[HERDS];
  uint64_t chance;
  uint32_t taken_folded, taken_leaves, whole, pushes, names, refused;
  bool hungry;
} scene; /* each test runs in a process of its own */

static uint64_t draw(uint64_t below) {
  return muster_random_mix(++scene.chance) % below;
}

/* What each member of a herd has of each total. */
static float each_has(uint32_t herd, uint32_t total) {
  return (float)(1 + herd % 5) * (total == 0 ? 1.0f : total == 1 ? 10.0f : -3.0f);
}

static uint32_t totals_of(uint32_t herd) {
  return scene.type_of[herd] ? TOTALS - 1 : TOTALS;
}

static bool is_about(double value, double expected) {
  return fabs(value - expected) <= 1e-3 * (1.0 + fabs(expected));
}

static bool herd_exists(uint32_t herd, muster_herd_info *info) {
  *info = muster_herd_info_default();
  return muster_herd_read(scene.little.world, scene.herds[herd], info) == MUSTER_OK;
}

static void take(muster_update *update) {
  uint32_t herd = (uint32_t)draw(HERDS), wanted = (uint32_t)draw(draw(4) ? 4 : 40);
  bool folded = muster_update_herd_push(update, scene.herds[herd], 0.0f, 0.0f) == MUSTER_OK;
  float totals[MUSTER_HERD_TOTALS];
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) totals[t] = UNTOUCHED;
  uint32_t taken = muster_update_herd_take(update, scene.herds[herd], wanted, totals);
  cr_assert_leq(taken, wanted);
  cr_assert_leq(taken, scene.members[herd], "herd %u has %u members", herd, scene.members[herd]);
  if (folded) cr_assert_eq(taken, wanted < scene.members[herd] ? wanted : scene.members[herd]);
  bool gone = scene.members[herd] == 0;
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) {
    bool kept = t >= totals_of(herd) || (gone && totals[t] > 0.0f); /* it may be gone, or be without members */
    float should = kept ? UNTOUCHED : (float)taken * each_has(herd, t);
    cr_assert(is_about((double)totals[t], (double)should), "herd %u: %u taken, totals[%u] is %g", herd, taken, t,
              (double)totals[t]);
  }
  scene.members[herd] -= taken;
  scene.taken_folded += folded ? taken : 0;
  scene.taken_leaves += folded ? 0 : taken;
  scene.whole += taken && !scene.members[herd];
}

static void push(muster_update *update) {
  uint32_t herd = (uint32_t)draw(HERDS);
  float x = (float)draw(5) - 2.0f, y = (float)draw(3) - 1.0f;
  cr_assert_neq(muster_update_herd_push(update, scene.herds[herd], x, INFINITY), MUSTER_OK);
  cr_assert_neq(muster_update_herd_push(update, scene.herds[herd], NAN, y), MUSTER_OK);
  if (muster_update_herd_push(update, scene.herds[herd], x, y) != MUSTER_OK) {
    scene.refused++;
    return;
  }
  scene.push_x[herd] += x;
  scene.push_y[herd] += y;
  scene.pushes++;
}

static muster_atom_result hunt(muster_update *update) {
  if (!scene.hungry) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; i < 2; i++) take(update);
  push(update);
  if (draw(4) == 0) {
    uint32_t herd = (uint32_t)draw(HERDS), member = (uint32_t)draw(27);
    muster_result result = muster_update_herd_wake(update, scene.herds[herd], member);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_STALE, "%s", muster_last_error());
  }
  return MUSTER_ATOM_NEXT;
}

/* The beasts act as well, some in each frame: there are updates which wait for their actions while wolves take, and
 * beasts that have none. */
static muster_type_def beast_def(void) {
  return CHANGED(actors_running(nothing, 1000, MUSTER_ACT_SERIAL), it.name = "beast",
                 it.published_bytes = sizeof(struct beast));
}

static void scene_create(void) {
  scene.little = little_world_create(1, NULL);
  add_type(&scene.little, CHANGED(beast_def(), it.period_ns = it.period_max_ns = 3 * FRAME_NS));
  muster_herd_type_def type =
      WITH(muster_herd_type_def, it.member = scene.little.type, it.totals = TOTALS, it.hold_ns = 300000000u);
  scene.types[0] = add_herd_type(&scene.little, type);
  scene.types[1] = add_herd_type(&scene.little, CHANGED(type, it.totals = TOTALS - 1, it.branching = it.depth = 3));
  for (uint32_t i = 0; i < HERDS; i++) {
    scene.type_of[i] = i % 3 == 0;
    scene.members[i] = scene.type_of[i] ? 27 : 32 - i % 4;
    muster_herd_def def = {.position = {40.0 * i, 25.0 * (i % 3), 0.0}, .velocity_x = 0.5f, .velocity_y = -0.25f};
    def.members = scene.members[i];
    for (uint32_t t = 0; t < totals_of(i); t++) def.totals[t] = (float)def.members * each_has(i, t);
    scene.herds[i] = add_herd_to(&scene.little, scene.types[scene.type_of[i]], def);
  }
  add_type(&scene.little, CHANGED(actors_running(hunt, 1000, MUSTER_ACT_SERIAL), it.name = "wolf"));
  for (uint32_t i = 0; i < WOLVES; i++) spawn_at(&scene.little, 100.0 * i);
}

/* A member that is named leaves with its share. */
static void name_one(void) {
  muster_herd_info info;
  uint32_t herd = (uint32_t)draw(HERDS), member = (uint32_t)draw(27);
  struct muster_world *world = scene.little.world;
  bool there = herd_exists(herd, &info);
  muster_agent named = muster_herd_name(world, scene.herds[herd], member);
  if (muster_agent_is_null(named)) return;
  cr_assert(there && info.members > 1);
  const agent_row *row = world_row(world, muster_agent_index(named));
  const struct beast *beast = type_published(world_type(world, row->type), row->state_slot, row->front);
  for (uint32_t t = 0; t < totals_of(herd); t++)
    cr_assert(is_about((double)beast->totals[t], (double)each_has(herd, t)), "a named member has %g of total %u",
              (double)beast->totals[t], t);
  cr_assert_eq(muster_herd_index(muster_herd_of(world, named)), muster_herd_index(scene.herds[herd]));
  scene.members[herd]--;
  scene.named[herd]++;
  scene.names++;
}

static void check_herd(uint32_t herd, const muster_herd_info *before) {
  muster_herd_info info;
  bool there = herd_exists(herd, &info);
  cr_assert(there || !scene.members[herd], "herd %u: %u members", herd, scene.members[herd]);
  if (!there) return;
  cr_assert_eq(info.members, scene.members[herd], "herd %u", herd);
  cr_assert_eq(info.named, scene.named[herd], "herd %u", herd);
  for (uint32_t t = 0; t < totals_of(herd); t++)
    cr_assert(is_about((double)info.totals[t], (double)info.members * (double)each_has(herd, t)),
              "herd %u: totals[%u] is %g", herd, t, (double)info.totals[t]);
  if (before->leaves || info.leaves || before->size == 0) return;
  cr_assert(is_about((double)info.velocity_x, (double)(before->velocity_x + scene.push_x[herd])), "herd %u", herd);
  cr_assert(is_about((double)info.velocity_y, (double)(before->velocity_y + scene.push_y[herd])), "herd %u", herd);
}

Test(herd_takes, at_random_leave_each_herd_so_many_times_its_members_of_each_total) {
  scene_create();
  muster_herd_info before[HERDS];
  muster_observer observer = observe_at(&scene.little, 0);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (draw(5) == 0) name_one();
    if (draw(3) == 0) muster_herd_wake(scene.little.world, scene.herds[draw(HERDS)], 3);
    muster_observer_move(scene.little.world, observer, (muster_position){frame * 1.5, 40, 0});
    for (uint32_t i = 0; i < HERDS; i++) {
      if (!herd_exists(i, &before[i])) before[i].size = 0;
      scene.push_x[i] = scene.push_y[i] = 0.0f;
    }
    scene.hungry = frame % 7 == 3 || frame > FRAMES - 60;
    uint64_t represented = run_frame(&scene.little).represented, all = WOLVES;
    for (uint32_t i = 0; i < HERDS; i++) {
      check_herd(i, &before[i]);
      all += scene.members[i] + scene.named[i];
    }
    cr_assert_eq(represented, all);
    must_be_sound(scene.little.world);
  }
  cr_assert(scene.taken_folded > 50 && scene.taken_leaves > 50, "%u, %u", scene.taken_folded, scene.taken_leaves);
  cr_assert(scene.whole > 2 && scene.pushes > 10 && scene.refused > 20 && scene.names > 10, "%u %u %u %u", scene.whole,
            scene.pushes, scene.refused, scene.names);
  scene.little.provokes_idle = true;
  little_world_destroy(&scene.little);
}

/* ------------------------------------------------------------------------------------------------- several types */

/* Herds of three types of different room, all at the same distance: each has an id of its own, and they are found in
 * the order of their ids, with what each is. */
Test(herd_takes, herds_of_several_types_are_apart_and_found_in_order) {
  enum { TYPES = 3, EACH = 5 };
  const uint32_t room[TYPES] = {8, 3000, 600};
  SCOPED_WORLD little = world_of(beast_def());
  muster_herd_near near[TYPES * EACH + 1];
  muster_herd herds[TYPES][EACH];
  muster_herd_type types[TYPES];
  for (uint32_t t = 0; t < TYPES; t++)
    types[t] = add_herd_type(&little, WITH(muster_herd_type_def, it.member = little.type, it.herds_max = room[t]));
  for (uint32_t i = 0; i < EACH; i++)
    for (uint32_t t = TYPES; t-- > 0;) {
      double side = (i + t) % 2 ? 30.0 : -30.0;
      herds[t][i] =
          add_herd_to(&little, types[t], (muster_herd_def){.position = {side, 0, 0}, .members = 10 * t + i + 1});
    }
  for (uint32_t frame = 0; frame < 2; frame++) {
    for (uint32_t t = 0; t < TYPES; t++)
      for (uint32_t i = 0; i < EACH; i++) {
        muster_herd_info info = read_herd(&little, herds[t][i]);
        cr_assert(info.type.index == types[t].index && info.members == 10 * t + i + 1, "type %u, herd %u", t, i);
      }
    uint32_t count = muster_herds_nearby(little.world, (muster_position){0}, 0, 31.0f, near, TYPES * EACH + 1);
    cr_assert_eq(count, TYPES * EACH);
    for (uint32_t n = 0; n < TYPES * EACH; n++) {
      muster_herd_info info = read_herd(&little, near[n].herd);
      cr_assert(near[n].type.index == info.type.index && near[n].members == info.members && near[n].leaves == 0);
      cr_assert_float_eq(near[n].position.x, info.position.x, 1e-3);
      if (n) cr_assert_lt(muster_herd_index(near[n - 1].herd), muster_herd_index(near[n].herd), "place %u", n);
    }
    run_frame(&little);
  }
  little.provokes_idle = true;
}

/* ------------------------------------------------------------------------------------------------- without room */

static struct {
  muster_herd herd;
  muster_agent leaf;
  bool full, removes;
  uint32_t taken, acts;
  float total;
} of;

static muster_atom_result butcher(muster_update *update) {
  if (!of.full && !of.removes) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; of.full && i < 1000; i++)
    if (muster_update_wake_at(update, of.leaf, MUSTER_WAKE_NEVER) == MUSTER_E_FULL) break;
  if (of.removes) cr_assert_eq(muster_update_remove(update, of.leaf), MUSTER_OK);
  of.taken = muster_update_herd_take(update, of.herd, 1, &of.total);
  of.full = of.removes = false;
  of.acts++;
  return MUSTER_ATOM_NEXT;
}

/* Which of these agents is nearest to a place. */
static uint32_t nearest_to(const little_world *little, muster_position from, const muster_agent *agents,
                           uint32_t count) {
  uint32_t nearest = 0;
  double nearest_m = INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    muster_position at = info_of(little, agents[i]).position;
    double distance_m = hypot(at.x - from.x, at.y - from.y);
    if (distance_m >= nearest_m) continue;
    nearest = i;
    nearest_m = distance_m;
  }
  return nearest;
}

/* The last member of a leaf is taken by a command; without room for it nothing is. One that is removed is not taken
 * again: the next one is. */
Test(herd_takes, take_nothing_without_room_and_nobody_twice) {
  SCOPED_WORLD little = typed_world(1, WITH(virtual_world_def, it.limits.commands_max = 16), beast_def());
  little.provokes_idle = true;
  muster_herd_type herds = add_herd_type(&little, WITH(muster_herd_type_def, it.member = little.type, it.totals = 1));
  of.herd = add_herd_to(&little, herds, (muster_herd_def){.members = 4, .totals = {8.0f}});
  add_type(&little, actors_running(butcher, 1000, MUSTER_ACT_SERIAL));
  muster_agent leaves[8];
  observe_at(&little, 0);
  run_frames(&little, 9);
  cr_assert_eq(muster_herd_leaves(little.world, of.herd, leaves, NULL, 8), 4);
  of.leaf = leaves[nearest_to(&little, (muster_position){0}, leaves, 4)];
  spawn_at(&little, 0);
  run_frames(&little, 3);
  of.full = true;
  of.total = 7.0f;
  run_frame(&little);
  cr_assert(of.acts == 1 && of.taken == 0 && of.total < 0.5f, "%u taken, with %g", of.taken, (double)of.total);
  for (uint32_t i = 0; i < 100 && run_frame(&little).commands_waiting; i++) continue;
  muster_herd_info info = read_herd(&little, of.herd);
  cr_assert(info.members == 4 && info.leaves == 4 && is_about((double)info.totals[0], 8.0));
  of.removes = true;
  run_frames(&little, 2);
  cr_assert(of.acts == 2 && of.taken == 1 && is_about((double)of.total, 2.0), "%u taken", of.taken);
  info = read_herd(&little, of.herd);
  cr_assert(info.members == 2 && info.leaves == 2 && is_about((double)info.totals[0], 4.0), "%u left", info.members);
}

/* ------------------------------------------------------------------------------------------------- one herd of prey */

static struct prey {
  muster_herd herd;
  uint32_t taken, acts_before, acts_after, asked;
  bool hungry; /* whoever hunts it */
} prey;

/* A herd of them; agents that are spawned from now on are of its members' type. */
static void add_prey(little_world *little, muster_type_def beast, uint32_t members) {
  add_type(little, CHANGED(beast, it.published_bytes = sizeof(struct beast)));
  muster_herd_type type = add_herd_type(little, WITH(muster_herd_type_def, it.member = little->type));
  prey.herd = add_herd_to(little, type, (muster_herd_def){.members = members});
}

static muster_atom_result graze(muster_update *update) {
  (void)update;
  ++*(prey.taken ? &prey.acts_after : &prey.acts_before);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result slaughter(muster_update *update) {
  for (uint32_t more = 1; prey.hungry && more;)
    prey.taken += more = muster_update_herd_take(update, prey.herd, 1, NULL);
  return MUSTER_ATOM_NEXT;
}

/* A leaf of which the last member was taken acts no more, not even in the frame in which it was. */
Test(herd_takes, those_of_whom_nobody_is_left_act_no_more) {
  SCOPED_WORLD little = careless(world_of(actors_running(slaughter, 1000, MUSTER_ACT_SERIAL)));
  spawn_and_run(&little, 0, 1); /* acts before all leaves */
  add_prey(&little, actors_running(graze, 1000, MUSTER_ACT_SERIAL), 4);
  observe_at(&little, 0);
  run_frames(&little, 12);
  cr_assert_eq(muster_herd_leaves(little.world, prey.herd, NULL, NULL, 0), 4);
  cr_assert_geq(prey.acts_before, 4);
  prey.hungry = true;
  run_frames(&little, 4);
  cr_expect_eq(prey.taken, 4);
  cr_expect_eq(prey.acts_after, 0, "%u actions of the dead", prey.acts_after);
}

static muster_atom_result pick(muster_update *update) {
  if (prey.hungry) prey.taken = muster_update_herd_take(update, prey.herd, 1, NULL);
  prey.hungry = false;
  return MUSTER_ATOM_NEXT;
}

/* From wherever the hunter stands: of the leaves, the one that is nearest loses its member. */
Test(herd_takes, the_nearest_leaf_is_taken_from) {
  static const muster_position from[] = {{0},        {.x = 90},          {.x = -90},          {.y = 90},
                                         {.y = -90}, {.x = 60, .y = 60}, {.x = -60, .y = -60}};
  for (uint32_t place = 0; place < COUNT_OF(from); place++) {
    SCOPED_WORLD little = careless(little_world_create(1, NULL));
    muster_agent leaves[8], left[8];
    prey = (struct prey){0};
    add_prey(&little, beast_def(), 8);
    observe_at(&little, 0);
    add_type(&little, actors_running(pick, 1000, MUSTER_ACT_SERIAL));
    spawn_in(&little, from[place], 0);
    run_frames(&little, 12);
    cr_assert_eq(muster_herd_leaves(little.world, prey.herd, leaves, NULL, 8), 8);
    uint32_t nearest = nearest_to(&little, from[place], leaves, 8);
    prey.hungry = true;
    run_frames(&little, 3);
    cr_assert_eq(prey.taken, 1);
    cr_assert_eq(muster_herd_leaves(little.world, prey.herd, left, NULL, 8), 7);
    cr_expect_not(muster_agent_exists(little.world, leaves[nearest]), "from place %u", place);
  }
}

static muster_atom_result ask_at_the_wrong_time(muster_update *update) {
  muster_herd_near near[2];
  float totals[MUSTER_HERD_TOTALS];
  cr_expect_eq(muster_update_herds_nearby(update, 1000.0f, near, 2), 0);
  expect_error("herds nearby");
  cr_expect_eq(muster_update_herd_take(update, prey.herd, 1, totals), 0);
  expect_error("herd take");
  cr_expect_eq(muster_update_herd_push(update, prey.herd, 1.0f, 1.0f), MUSTER_E_STATE);
  expect_error("herd push");
  prey.asked++;
  return MUSTER_ATOM_NEXT;
}

/* Whoever asks about herds while they are updated is refused: what is found would depend on workers. */
Test(herd_takes, are_for_serial_actions) {
  SCOPED_WORLD little = careless(little_world_create(1, NULL));
  add_prey(&little, beast_def(), 8);
  add_type(&little, type_running(ask_at_the_wrong_time, 1000));
  spawn_and_run(&little, 0, 20);
  cr_expect_gt(prey.asked, 0);
  muster_herd_info info = read_herd(&little, prey.herd);
  cr_expect(info.members == 8 && info.velocity_x == 0.0f);
}
