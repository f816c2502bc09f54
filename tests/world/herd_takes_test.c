/* Predators, names and calls at random, against what each herd must have: as every member of a herd has the same share
 * of its totals, a herd has so many times its members of each, whatever was done to it, and whatever was taken has so
 * many times what was taken. */
#include "support/little_world.h"
#include "world/world.h"
#include "world/world_sound.h"

#include <muster/herd.h>
#include <muster/random.h>

#include <math.h>

enum { HERDS = 14, TOTALS = 3, WOLVES = 5, FRAMES = 400, UNTOUCHED = 77 };

struct beast {
  float velocity_x, velocity_y, totals[TOTALS]; /* as a muster_herd_body */
};

struct scene {
  little_world little;
  muster_herd_type types[2];
  muster_herd herds[HERDS];
  uint32_t type_of[HERDS], members[HERDS], named[HERDS];
  float push_x[HERDS], push_y[HERDS];
  uint64_t chance;
  uint32_t taken_folded, taken_leaves, whole, pushes, names, refused;
  bool hungry;
};

static uint64_t draw(struct scene *scene, uint64_t below) {
  return muster_random_mix(++scene->chance) % below;
}

/* What each member of a herd has of each total. */
static float each_has(uint32_t herd, uint32_t total) {
  return (float)(1 + herd % 5) * (total == 0 ? 1.0f : total == 1 ? 10.0f : -3.0f);
}

static uint32_t totals_of(const struct scene *scene, uint32_t herd) {
  return scene->type_of[herd] ? TOTALS - 1 : TOTALS;
}

static bool is_about(double value, double expected) {
  return fabs(value - expected) <= 1e-3 * (1.0 + fabs(expected));
}

static bool herd_exists(const struct scene *scene, uint32_t herd, muster_herd_info *info) {
  *info = muster_herd_info_default();
  return muster_herd_read(scene->little.world, scene->herds[herd], info) == MUSTER_OK;
}

static void take(struct scene *scene, muster_update *update) {
  uint32_t herd = (uint32_t)draw(scene, HERDS), wanted = (uint32_t)draw(scene, draw(scene, 4) ? 4 : 40);
  bool folded = muster_update_herd_push(update, scene->herds[herd], 0.0f, 0.0f) == MUSTER_OK;
  float totals[MUSTER_HERD_TOTALS];
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) totals[t] = UNTOUCHED;
  uint32_t taken = muster_update_herd_take(update, scene->herds[herd], wanted, totals);
  cr_assert_leq(taken, wanted);
  cr_assert_leq(taken, scene->members[herd], "herd %u has %u members", herd, scene->members[herd]);
  if (folded) cr_assert_eq(taken, wanted < scene->members[herd] ? wanted : scene->members[herd]);
  bool gone = scene->members[herd] == 0;
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) {
    bool kept = t >= totals_of(scene, herd) || (gone && totals[t] > 0.0f); /* it may be gone, or be without members */
    float should = kept ? UNTOUCHED : (float)taken * each_has(herd, t);
    cr_assert(is_about((double)totals[t], (double)should), "herd %u: %u taken, totals[%u] is %g", herd, taken, t,
              (double)totals[t]);
  }
  scene->members[herd] -= taken;
  scene->taken_folded += folded ? taken : 0;
  scene->taken_leaves += folded ? 0 : taken;
  scene->whole += taken && !scene->members[herd];
}

static void push(struct scene *scene, muster_update *update) {
  uint32_t herd = (uint32_t)draw(scene, HERDS);
  float x = (float)draw(scene, 5) - 2.0f, y = (float)draw(scene, 3) - 1.0f;
  cr_assert_neq(muster_update_herd_push(update, scene->herds[herd], x, INFINITY), MUSTER_OK);
  cr_assert_neq(muster_update_herd_push(update, scene->herds[herd], NAN, y), MUSTER_OK);
  if (muster_update_herd_push(update, scene->herds[herd], x, y) != MUSTER_OK) {
    scene->refused++;
    return;
  }
  scene->push_x[herd] += x;
  scene->push_y[herd] += y;
  scene->pushes++;
}

static muster_atom_result hunt(muster_update *update) {
  struct scene *scene = update->type_user;
  if (!scene->hungry) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; i < 2; i++) take(scene, update);
  push(scene, update);
  if (draw(scene, 4) == 0) {
    uint32_t herd = (uint32_t)draw(scene, HERDS), member = (uint32_t)draw(scene, 27);
    muster_result result = muster_update_herd_wake(update, scene->herds[herd], member);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_STALE, "%s", muster_last_error());
  }
  return MUSTER_ATOM_NEXT;
}

/* The beasts act as well, some in each frame: there are updates which wait for their actions while wolves take, and
 * beasts that have none. */
static const muster_atom of_beasts[] = {{.role = MUSTER_ROLE_BEHAVIOUR, .run = nothing, .model_ns = 1000},
                                        {.role = MUSTER_ROLE_ACTION, .run = nothing, .model_ns = 1000}};
static const muster_atom of_wolves[] = {{.role = MUSTER_ROLE_BEHAVIOUR, .run = nothing, .model_ns = 1000},
                                        {.role = MUSTER_ROLE_ACTION, .run = hunt, .model_ns = 1000}};

static void register_herds(struct scene *scene) {
  muster_type_def beast = actors_def(of_beasts, MUSTER_ACT_SERIAL, NULL);
  beast.name = "beast";
  beast.period_ns = beast.period_max_ns = 3 * FRAME_NS;
  beast.published_bytes = sizeof(struct beast);
  register_type(&scene->little, &beast);
  muster_herd_type_def def = muster_herd_type_def_default();
  def.member = scene->little.type;
  def.totals = TOTALS;
  def.hold_ns = 300000000u;
  scene->types[0] = muster_herd_type_register(scene->little.world, &def);
  def.totals = TOTALS - 1;
  def.branching = 3;
  def.depth = 3;
  scene->types[1] = muster_herd_type_register(scene->little.world, &def);
  cr_assert(scene->types[0].index && scene->types[1].index, "%s", muster_last_error());
}

static void add_herds(struct scene *scene) {
  for (uint32_t i = 0; i < HERDS; i++) {
    scene->type_of[i] = i % 3 == 0;
    scene->members[i] = scene->type_of[i] ? 27 : 32 - i % 4;
    muster_herd_def def = {.position = {40.0 * i, 25.0 * (i % 3), 0.0}, .velocity_x = 0.5f, .velocity_y = -0.25f};
    def.members = scene->members[i];
    for (uint32_t t = 0; t < totals_of(scene, i); t++) def.totals[t] = (float)def.members * each_has(i, t);
    cr_assert_eq(muster_herds_add(scene->little.world, scene->types[scene->type_of[i]], &def, 1, &scene->herds[i]), 1);
  }
}

static struct scene *scene_create(void) {
  static struct scene scene;
  scene.little = little_world_create(1, NULL);
  register_herds(&scene);
  add_herds(&scene);
  muster_type_def wolf = actors_def(of_wolves, MUSTER_ACT_SERIAL, &scene);
  wolf.name = "wolf";
  register_type(&scene.little, &wolf);
  for (uint32_t i = 0; i < WOLVES; i++) spawn_at(&scene.little, 100.0 * i);
  return &scene;
}

/* A member that is named leaves with its share. */
static void name_one(struct scene *scene) {
  muster_herd_info info;
  uint32_t herd = (uint32_t)draw(scene, HERDS), member = (uint32_t)draw(scene, 27);
  struct muster_world *world = scene->little.world;
  bool there = herd_exists(scene, herd, &info);
  muster_agent named = muster_herd_name(world, scene->herds[herd], member);
  if (muster_agent_is_null(named)) return;
  cr_assert(there && info.members > 1);
  const agent_row *row = world_row(world, muster_agent_index(named));
  const struct beast *beast = type_published(world_type(world, row->type), row->state_slot, row->front);
  for (uint32_t t = 0; t < totals_of(scene, herd); t++)
    cr_assert(is_about((double)beast->totals[t], (double)each_has(herd, t)), "a named member has %g of total %u",
              (double)beast->totals[t], t);
  cr_assert_eq(muster_herd_index(muster_herd_of(world, named)), muster_herd_index(scene->herds[herd]));
  scene->members[herd]--;
  scene->named[herd]++;
  scene->names++;
}

static void check_herd(struct scene *scene, uint32_t herd, const muster_herd_info *before) {
  muster_herd_info info;
  bool there = herd_exists(scene, herd, &info);
  cr_assert(there || !scene->members[herd], "herd %u: %u members", herd, scene->members[herd]);
  if (!there) return;
  cr_assert_eq(info.members, scene->members[herd], "herd %u", herd);
  cr_assert_eq(info.named, scene->named[herd], "herd %u", herd);
  for (uint32_t t = 0; t < totals_of(scene, herd); t++)
    cr_assert(is_about((double)info.totals[t], (double)info.members * (double)each_has(herd, t)),
              "herd %u: totals[%u] is %g", herd, t, (double)info.totals[t]);
  if (before->leaves || info.leaves || before->size == 0) return;
  cr_assert(is_about((double)info.velocity_x, (double)(before->velocity_x + scene->push_x[herd])), "herd %u", herd);
  cr_assert(is_about((double)info.velocity_y, (double)(before->velocity_y + scene->push_y[herd])), "herd %u", herd);
}

static void check_frame(struct scene *scene, const muster_herd_info *before, uint64_t represented) {
  soundness found = {0};
  uint64_t all = WOLVES;
  for (uint32_t i = 0; i < HERDS; i++) {
    check_herd(scene, i, &before[i]);
    all += scene->members[i] + scene->named[i];
  }
  cr_assert_eq(represented, all);
  world_is_sound(scene->little.world, WORLD_RESTS, &found);
  cr_assert(!found.broken, "%s", found.trouble);
}

Test(herd_takes, at_random_leave_each_herd_so_many_times_its_members_of_each_total) {
  struct scene *scene = scene_create();
  muster_herd_info before[HERDS];
  muster_observer_def near = muster_observer_def_default();
  muster_observer observer = muster_observer_add(scene->little.world, &near);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (draw(scene, 5) == 0) name_one(scene);
    if (draw(scene, 3) == 0) muster_herd_wake(scene->little.world, scene->herds[draw(scene, HERDS)], 3);
    muster_observer_move(scene->little.world, observer, (muster_position){frame * 1.5, 40, 0});
    for (uint32_t i = 0; i < HERDS; i++) {
      if (!herd_exists(scene, i, &before[i])) before[i].size = 0;
      scene->push_x[i] = scene->push_y[i] = 0.0f;
    }
    scene->hungry = frame % 7 == 3 || frame > FRAMES - 60;
    check_frame(scene, before, run_frame(&scene->little).represented);
  }
  cr_assert(scene->taken_folded > 50 && scene->taken_leaves > 50, "%u and %u", scene->taken_folded,
            scene->taken_leaves);
  cr_assert(scene->whole > 2 && scene->pushes > 10 && scene->refused > 20 && scene->names > 10, "%u %u %u %u",
            scene->whole, scene->pushes, scene->refused, scene->names);
  scene->little.provokes_idle = true;
  little_world_destroy(&scene->little);
}

/* ------------------------------------------------------------------------------------------------- several types */

/* Herds of three types of different room, all at the same distance: each has an id of its own, and they are found in
 * the order of their ids, with what each is. */
Test(herd_takes, herds_of_several_types_are_apart_and_found_in_order) {
  enum { TYPES = 3, EACH = 5 };
  const uint32_t room[TYPES] = {8, 3000, 600};
  little_world little = little_world_create(1, NULL);
  muster_type_def beast = actors_def(of_beasts, MUSTER_ACT_SERIAL, NULL);
  beast.published_bytes = sizeof(struct beast);
  register_type(&little, &beast);
  muster_herd_near near[TYPES * EACH + 1];
  muster_herd herds[TYPES][EACH];
  muster_herd_type types[TYPES];
  for (uint32_t t = 0; t < TYPES; t++) {
    muster_herd_type_def def = muster_herd_type_def_default();
    def.member = little.type;
    def.herds_max = room[t];
    types[t] = muster_herd_type_register(little.world, &def);
    cr_assert_neq(types[t].index, 0, "%s", muster_last_error());
  }
  for (uint32_t i = 0; i < EACH; i++)
    for (uint32_t t = TYPES; t-- > 0;) {
      double side = (i + t) % 2 ? 30.0 : -30.0;
      muster_herd_def def = {.position = {side, 0, 0}, .members = 10 * t + i + 1};
      cr_assert_eq(muster_herds_add(little.world, types[t], &def, 1, &herds[t][i]), 1, "%s", muster_last_error());
    }
  for (uint32_t frame = 0; frame < 2; frame++) {
    for (uint32_t t = 0; t < TYPES; t++)
      for (uint32_t i = 0; i < EACH; i++) {
        muster_herd_info info = muster_herd_info_default();
        cr_assert_eq(muster_herd_read(little.world, herds[t][i], &info), MUSTER_OK);
        cr_assert(info.type.index == types[t].index && info.members == 10 * t + i + 1, "type %u, herd %u", t, i);
      }
    cr_assert_eq(muster_herds_nearby(little.world, (muster_position){0}, 0, 31.0f, near, TYPES * EACH + 1),
                 TYPES * EACH);
    for (uint32_t n = 0; n < TYPES * EACH; n++) {
      muster_herd_info info = muster_herd_info_default();
      cr_assert_eq(muster_herd_read(little.world, near[n].herd, &info), MUSTER_OK);
      cr_assert(near[n].type.index == info.type.index && near[n].members == info.members && near[n].leaves == 0);
      cr_assert_float_eq(near[n].position.x, info.position.x, 1e-3);
      if (n) cr_assert_lt(muster_herd_index(near[n - 1].herd), muster_herd_index(near[n].herd), "place %u", n);
    }
    run_frame(&little);
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------- without room */

struct butcher {
  muster_herd herd;
  muster_agent leaf;
  bool full, removes;
  uint32_t taken, acts;
  float total;
};

static muster_atom_result butcher(muster_update *update) {
  struct butcher *butcher = update->type_user;
  if (!butcher->full && !butcher->removes) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; butcher->full && i < 1000; i++)
    if (muster_update_wake_at(update, butcher->leaf, MUSTER_WAKE_NEVER) == MUSTER_E_FULL) break;
  if (butcher->removes) cr_assert_eq(muster_update_remove(update, butcher->leaf), MUSTER_OK);
  butcher->taken = muster_update_herd_take(update, butcher->herd, 1, &butcher->total);
  butcher->full = butcher->removes = false;
  butcher->acts++;
  return MUSTER_ATOM_NEXT;
}

/* The last member of a leaf is taken by a command; without room for it nothing is. One that is removed is not taken
 * again: the next one is. */
Test(herd_takes, take_nothing_without_room_and_nobody_twice) {
  struct butcher of = {0};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.commands_max = 16;
  little_world little = little_world_create(1, &world);
  muster_type_def beast = actors_def(of_beasts, MUSTER_ACT_SERIAL, NULL);
  beast.published_bytes = sizeof(struct beast);
  register_type(&little, &beast);
  muster_herd_type_def type = muster_herd_type_def_default();
  type.member = little.type;
  type.totals = 1;
  muster_herd_type herds = muster_herd_type_register(little.world, &type);
  muster_herd_def def = {.members = 4, .totals = {8.0f}};
  cr_assert_eq(muster_herds_add(little.world, herds, &def, 1, &of.herd), 1, "%s", muster_last_error());
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {butcher, MUSTER_ROLE_ACTION, 1000}};
  muster_type_def wolf = actors_def(atoms, MUSTER_ACT_SERIAL, &of);
  register_type(&little, &wolf);
  muster_agent leaves[8];
  muster_observer_def eye = muster_observer_def_default();
  muster_observer_add(little.world, &eye);
  run_frames(&little, 9);
  uint32_t count = muster_herd_leaves(little.world, of.herd, leaves, NULL, 8), nearest = 0;
  cr_assert_eq(count, 4);
  for (uint32_t i = 1; i < count; i++) {
    muster_position at = info_of(&little, leaves[i]).position, best = info_of(&little, leaves[nearest]).position;
    if (hypot(at.x, at.y) < hypot(best.x, best.y)) nearest = i;
  }
  of.leaf = leaves[nearest];
  spawn_at(&little, 0);
  run_frames(&little, 3);
  muster_herd_info info = muster_herd_info_default();
  of.full = true;
  of.total = 7.0f;
  run_frame(&little);
  cr_assert(of.acts == 1 && of.taken == 0 && of.total < 0.5f, "%u taken, with %g", of.taken, (double)of.total);
  for (uint32_t i = 0; i < 100 && run_frame(&little).commands_waiting; i++) continue;
  cr_assert_eq(muster_herd_read(little.world, of.herd, &info), MUSTER_OK);
  cr_assert(info.members == 4 && info.leaves == 4 && is_about((double)info.totals[0], 8.0));
  of.removes = true;
  run_frames(&little, 2);
  cr_assert(of.acts == 2 && of.taken == 1 && is_about((double)of.total, 2.0), "%u taken", of.taken);
  cr_assert_eq(muster_herd_read(little.world, of.herd, &info), MUSTER_OK);
  cr_assert(info.members == 2 && info.leaves == 2 && is_about((double)info.totals[0], 4.0), "%u left", info.members);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

struct slaughter {
  muster_herd herd;
  muster_position place;
  uint32_t taken, acts_before, acts_after;
  bool hungry;
};

/* A herd of them; agents that are spawned from now on are of its members' type. */
static void add_herd(little_world *little, struct slaughter *scene, const muster_atom atoms[2], uint32_t members) {
  muster_type_def beast = actors_def(atoms, MUSTER_ACT_SERIAL, scene);
  beast.published_bytes = sizeof(struct beast);
  register_type(little, &beast);
  muster_herd_type_def type = muster_herd_type_def_default();
  type.member = little->type;
  muster_herd_def def = {.members = members};
  muster_herd_type herds = muster_herd_type_register(little->world, &type);
  cr_assert_eq(muster_herds_add(little->world, herds, &def, 1, &scene->herd), 1, "%s", muster_last_error());
}

static muster_atom_result graze(muster_update *update) {
  struct slaughter *scene = update->type_user;
  if (scene->taken)
    scene->acts_after++;
  else
    scene->acts_before++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result slaughter(muster_update *update) {
  struct slaughter *scene = update->type_user;
  for (uint32_t more = 1; scene->hungry && more;)
    scene->taken += more = muster_update_herd_take(update, scene->herd, 1, NULL);
  return MUSTER_ATOM_NEXT;
}

/* A leaf of which the last member was taken acts no more, not even in the frame in which it was. */
Test(herd_takes, those_of_whom_nobody_is_left_act_no_more) {
  struct slaughter scene = {0};
  little_world little = little_world_create(1, NULL);
  const muster_atom of_beast[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {graze, MUSTER_ROLE_ACTION, 1000}};
  const muster_atom of_wolf[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {slaughter, MUSTER_ROLE_ACTION, 1000}};
  muster_type_def wolf = actors_def(of_wolf, MUSTER_ACT_SERIAL, &scene);
  register_type(&little, &wolf);
  spawn_at(&little, 0); /* acts before all leaves */
  run_frame(&little);
  add_herd(&little, &scene, of_beast, 4);
  muster_observer_def eye = muster_observer_def_default();
  muster_observer_add(little.world, &eye);
  run_frames(&little, 12);
  cr_assert_eq(muster_herd_leaves(little.world, scene.herd, NULL, NULL, 0), 4);
  cr_assert_geq(scene.acts_before, 4);
  scene.hungry = true;
  run_frames(&little, 4);
  cr_expect_eq(scene.taken, 4);
  cr_expect_eq(scene.acts_after, 0, "%u actions of the dead", scene.acts_after);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

static muster_atom_result pick(muster_update *update) {
  struct slaughter *scene = update->type_user;
  if (!scene->hungry) return MUSTER_ATOM_NEXT;
  scene->taken = muster_update_herd_take(update, scene->herd, 1, NULL);
  scene->hungry = false;
  return MUSTER_ATOM_NEXT;
}

static double distance_m(const little_world *little, muster_agent agent, muster_position from) {
  muster_position at = info_of(little, agent).position;
  return hypot(at.x - from.x, at.y - from.y);
}

/* From wherever the hunter stands: of the leaves, the one that is nearest loses its member. */
Test(herd_takes, the_nearest_leaf_is_taken_from) {
  static const double places[][2] = {{0, 0}, {90, 0}, {-90, 0}, {0, 90}, {0, -90}, {60, 60}, {-60, -60}};
  for (uint32_t place = 0; place < sizeof places / sizeof *places; place++) {
    struct slaughter scene = {0};
    little_world little = little_world_create(1, NULL);
    add_herd(&little, &scene, of_beasts, 8);
    muster_observer_def eye = muster_observer_def_default();
    muster_observer_add(little.world, &eye);
    const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {pick, MUSTER_ROLE_ACTION, 1000}};
    muster_type_def hunter = actors_def(atoms, MUSTER_ACT_SERIAL, &scene);
    register_type(&little, &hunter);
    spawn_in(&little, (muster_position){places[place][0], places[place][1], 0}, 0);
    run_frames(&little, 12);
    muster_agent leaves[8], left[8];
    uint32_t count = muster_herd_leaves(little.world, scene.herd, leaves, NULL, 8), nearest = 0;
    cr_assert_eq(count, 8);
    scene.place = (muster_position){places[place][0], places[place][1], 0};
    for (uint32_t i = 1; i < count; i++)
      if (distance_m(&little, leaves[i], scene.place) < distance_m(&little, leaves[nearest], scene.place)) nearest = i;
    scene.hungry = true;
    run_frames(&little, 3);
    cr_assert_eq(scene.taken, 1);
    cr_assert_eq(muster_herd_leaves(little.world, scene.herd, left, NULL, 8), 7);
    cr_expect_not(muster_agent_exists(little.world, leaves[nearest]), "from place %u", place);
    little.provokes_idle = true;
    little_world_destroy(&little);
  }
}

static muster_atom_result ask_at_the_wrong_time(muster_update *update) {
  struct slaughter *scene = update->type_user;
  muster_herd_near near[2];
  float totals[MUSTER_HERD_TOTALS];
  static const char *const calls[] = {"herds nearby", "herd take", "herd push"};
  for (uint32_t call = 0; call < 3; call++) {
    if (call == 0) cr_expect_eq(muster_update_herds_nearby(update, 1000.0f, near, 2), 0);
    if (call == 1) cr_expect_eq(muster_update_herd_take(update, scene->herd, 1, totals), 0);
    if (call == 2) cr_expect_eq(muster_update_herd_push(update, scene->herd, 1.0f, 1.0f), MUSTER_E_STATE);
    cr_expect(strstr(muster_last_error(), calls[call]), "%s: %s", calls[call], muster_last_error());
  }
  scene->acts_before++;
  return MUSTER_ATOM_NEXT;
}

/* Whoever asks about herds while they are updated is refused: what is found would depend on workers. */
Test(herd_takes, are_for_serial_actions) {
  struct slaughter scene = {0};
  little_world little = little_world_create(1, NULL);
  add_herd(&little, &scene, of_beasts, 8);
  const muster_atom atom = {ask_at_the_wrong_time, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_type_def asker = type_with(&atom, 1);
  asker.user = &scene;
  register_type(&little, &asker);
  spawn_at(&little, 0);
  run_frames(&little, 20);
  cr_expect_gt(scene.acts_before, 0);
  muster_herd_info info = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(little.world, scene.herd, &info), MUSTER_OK);
  cr_expect(info.members == 8 && info.velocity_x == 0.0f);
  little.provokes_idle = true;
  little_world_destroy(&little);
}
