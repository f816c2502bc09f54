/* The herds of Osborne & Dickinson's experiments in a world. */
#include "scenarios/osborne.h"

#include "scenarios/scaffold.h"

#include <muster/herd.h>

#include <math.h>

enum { FIELD = MUSTER_HERD_BLOCK, ADDED_AT_ONCE = 256, AGENTS_MAX = 16000000, UNFOLDED_MAX = 1 << 20 };

/* An observer comes up to 21 m nearer than the outermost border of individuals (50 m) before an animal there is an
 * individual: a cycle passes until the observer is noticed there, and another until the herd is unfolded. */
static const float visible_m = 25.0f;
static const float begin_mps = 3.0f; /* herds set out with this speed at most */

/* -------------------------------------------------------------------------------------------------------- beginning */

double osborne_share(const osborne_def *def, uint32_t herd, uint32_t number) {
  return herd_mix(herd_mix((uint32_t)def->seed + herd * 0x9e3779b9u) + number * 0x85ebca6bu) * 0x1p-32;
}

/* Fields lie in rows, as nearly square as powers of two allow. */
muster_position osborne_herd_place(const osborne_def *def, uint32_t herd) {
  uint32_t fields = (def->herds + FIELD - 1) / FIELD, field = herd / FIELD;
  uint32_t columns = 1;
  while (columns * columns < fields) columns *= 2;
  uint32_t rows = (fields + columns - 1) / columns;
  double across = osborne_share(def, herd, 0), along = osborne_share(def, herd, 1);
  return (muster_position){((field % columns + across) / columns - 0.5) * def->side_m,
                           ((field / columns + along) / rows - 0.5) * def->side_m, 0};
}

void osborne_herd_velocity(const osborne_def *def, uint32_t herd, float *x, float *y) {
  float speed_mps = begin_mps * (float)osborne_share(def, herd, 2);
  herd_direction((float)osborne_share(def, herd, 3), x, y);
  *x *= speed_mps;
  *y *= speed_mps;
}

/* ------------------------------------------------------------------------------------------------------------- room */

static double herds_within(const osborne_def *def, double radius_m) {
  double inside = 3.14159265358979 * radius_m * radius_m / (def->side_m * def->side_m);
  return def->herds * fmin(inside, 1);
}

/* The zones are taken as wide as they are for herds that fold again, plus half as much, since herds stand at random. */
static double far_of(uint32_t zone) {
  muster_herd_type_def def = muster_herd_type_def_default();
  return zone * (double)OSBORNE_ZONES_M * (1 + (double)def.hysteresis);
}

static uint32_t with_room(double expected, double most) {
  return (uint32_t)fmin(1.5 * expected + 256, most);
}

uint32_t osborne_unfolded_max(const osborne_def *def) {
  return with_room(herds_within(def, far_of(OSBORNE_DEPTH)), fmin(def->herds, UNFOLDED_MAX));
}

uint32_t osborne_agents_max(const osborne_def *def) {
  double leaves = 0, blocks = (double)(def->herds / MUSTER_HERD_BLOCK) + 2;
  for (uint32_t zone = 1; zone <= OSBORNE_DEPTH; zone++)
    leaves += (herds_within(def, far_of(zone)) - herds_within(def, far_of(zone - 1))) *
              (double)(OSBORNE_MEMBERS >> (zone - 1));
  return with_room(leaves + blocks, AGENTS_MAX);
}

/* ----------------------------------------------------------------------------------------------------------- leaves */

/* What others see of an animal, or of the animals that it stands for: a muster_herd_body without totals. */
typedef struct animal {
  float velocity_x, velocity_y;
} animal;

/* A leaf flocks with the other leaves of its herd, as one body. */
static muster_atom_result osborne_live(muster_update *update) {
  const herd_ground ground = osborne_ground(update->type_user);
  animal *own = update->published;
  muster_flock flock;
  float elapsed_s = (float)update->elapsed_ns * 1e-9f;
  if (!muster_update_flock(update, &flock)) return MUSTER_ATOM_FINISH;
  herd_flock_bodies others = {flock.count, flock.x, flock.y, flock.velocity_x, flock.velocity_y, flock.leaf_members};
  herd_flock_step step = {
      .rules = &herd_flock_paper,
      .ground = &ground,
      .origin_x = (float)flock.origin_x,
      .origin_y = (float)flock.origin_y,
      .centre_x = flock.herd_x,
      .centre_y = flock.herd_y,
      .random = herd_mix(muster_herd_index(flock.herd) * 0x9e3779b9u + (uint32_t)(update->now_ns / 1000000u))};
  herd_flock_body body = {flock.x[flock.self], flock.y[flock.self], own->velocity_x, own->velocity_y};
  herd_flock_live(&step, &others, flock.node, elapsed_s, &body);
  own->velocity_x = body.velocity_x;
  own->velocity_y = body.velocity_y;
  muster_update_move(update, (muster_position){flock.origin_x + (double)body.x, flock.origin_y + (double)body.y, 0});
  return MUSTER_ATOM_NEXT;
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

/* What all herds of a block have in common. */
typedef struct folded_rules {
  float share, gain_mps2; /* of wandering: how often, and the acceleration per metre of the way to the random point */
  float radius_m, distance_m, speed_max_mps;
  float half_m, origin_x, origin_y;
  uint32_t random;
} folded_rules;

static folded_rules rules_of(const muster_herd_block *block) {
  const herd_flock_rules *paper = &herd_flock_paper;
  return (folded_rules){.share = paper->wander.share,
                        .gain_mps2 = paper->wander.weight_n / paper->mass_kg,
                        .radius_m = paper->wander_radius_m,
                        .distance_m = paper->wander_distance_m,
                        .speed_max_mps = paper->speed_max_mps,
                        .half_m = osborne_ground(block->user).half_m,
                        .origin_x = (float)block->origin_x,
                        .origin_y = (float)block->origin_y,
                        .random = herd_mix((uint32_t)block->random ^ (uint32_t)(block->random >> 32))};
}

/* A folded herd moves as one body without neighbours: of the forces only wandering remains. Moves eight herds. */
HERD_INLINE void wander(const folded_rules *rules, const herd_words *random, const herd_floats *elapsed_s,
                        herd_floats *velocity_x, herd_floats *velocity_y) {
  herd_floats share, x, y, speed = *velocity_x * *velocity_x + *velocity_y * *velocity_y + herd_flock_least;
  herd_floats one = (herd_floats){0} + 1.0f;
  herd_root(&speed);
  herd_lower_share_lanes(random, &share);
  herd_direction_lanes(&share, &x, &y);
  herd_floats ahead = rules->distance_m / speed;
  herd_upper_share_lanes(random, &share);
  herd_ints counts = share < rules->share;
  herd_floats gain = (herd_floats)((herd_ints)(*elapsed_s * rules->gain_mps2) & counts);
  *velocity_x += (*velocity_x * ahead + x * rules->radius_m) * gain;
  *velocity_y += (*velocity_y * ahead + y * rules->radius_m) * gain;
  speed = *velocity_x * *velocity_x + *velocity_y * *velocity_y + herd_flock_least;
  herd_root(&speed);
  herd_floats most = rules->speed_max_mps / speed;
  herd_ints slow = most > 1.0f;
  herd_where(&slow, &one, &most);
  *velocity_x *= most;
  *velocity_y *= most;
}

/* A herd that would cross the fence turns back. */
HERD_INLINE void turn_back(float half_m, float origin_m, const herd_floats *place, const herd_floats *elapsed_s,
                           herd_floats *way, herd_floats *velocity) {
  herd_floats next = *place + origin_m + *way * *elapsed_s, out = next;
  herd_magnitude(&out);
  herd_words sign = (herd_words)next & 0x80000000u, crosses = (herd_words)(out > half_m);
  *way = (herd_floats)((herd_words)*way ^ (((herd_words)*way ^ ~sign) & 0x80000000u & crosses));
  *velocity = (herd_floats)((herd_words)*velocity ^ (((herd_words)*velocity ^ ~sign) & 0x80000000u & crosses));
}

HERD_INLINE void live_folded(const folded_rules *rules, const muster_herd_block *block, uint32_t first) {
  herd_words random = *(const herd_words *)(const void *)(block->herds + first) * 0x9e3779b9u + rules->random;
  herd_floats *x = herd_lanes_to(block->x + first), *y = herd_lanes_to(block->y + first);
  herd_floats velocity_x = *herd_lanes(block->velocity_x + first), velocity_y = *herd_lanes(block->velocity_y + first);
  herd_floats elapsed_s = *herd_lanes(block->elapsed_s + first);
  herd_floats before_x = velocity_x, before_y = velocity_y;
  herd_mix_lanes(&random);
  wander(rules, &random, &elapsed_s, &velocity_x, &velocity_y);
  herd_floats way_x = 0.5f * (before_x + velocity_x), way_y = 0.5f * (before_y + velocity_y);
  turn_back(rules->half_m, rules->origin_x, x, &elapsed_s, &way_x, &velocity_x);
  turn_back(rules->half_m, rules->origin_y, y, &elapsed_s, &way_y, &velocity_y);
  *x += way_x * elapsed_s;
  *y += way_y * elapsed_s;
  *herd_lanes_to(block->velocity_x + first) = velocity_x;
  *herd_lanes_to(block->velocity_y + first) = velocity_y;
}

/* Moves the block in one step, however long it was since the last. */
HERD_CLONES static void run_block(muster_herd_block *block) {
  const folded_rules rules = rules_of(block);
  const muster_herd_block own = *block; /* a copy: nothing written through the block's pointers can change it */
  for (uint32_t i = 0; i < own.count; i += HERD_LANES) live_folded(&rules, &own, i);
}

/* ------------------------------------------------------------------------------------------------------- population */

static muster_result osborne_add_herds(muster_world *world, const osborne_def *def, muster_herd_type type) {
  muster_herd_def herds[ADDED_AT_ONCE];
  for (uint32_t first = 0; first < def->herds; first += ADDED_AT_ONCE) {
    uint32_t count = def->herds - first < ADDED_AT_ONCE ? def->herds - first : ADDED_AT_ONCE;
    for (uint32_t i = 0; i < count; i++) {
      herds[i] = (muster_herd_def){.position = osborne_herd_place(def, first + i)};
      osborne_herd_velocity(def, first + i, &herds[i].velocity_x, &herds[i].velocity_y);
    }
    if (muster_herds_add(world, type, herds, count, NULL) != count) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_type register_leaves(muster_world *world, const osborne_def *osborne) {
  const muster_atom atom = {.run = osborne_live};
  muster_type_def def = scaffold_type("animal", &atom, 1, 0, OSBORNE_CYCLE_NS, 4ull * OSBORNE_CYCLE_NS);
  def.published_bytes = sizeof(animal);
  def.user = (void *)(uintptr_t)osborne;
  return muster_type_register(world, &def);
}

muster_result osborne_populate(muster_world *world, const osborne_def *osborne, muster_herd_type *type) {
  muster_herd_type_def def = muster_herd_type_def_default();
  def.member = register_leaves(world, osborne);
  if (def.member.index == 0) return MUSTER_E_FULL;
  def.depth = OSBORNE_DEPTH;
  for (uint32_t zone = 0; zone < OSBORNE_DEPTH; zone++) def.zone_m[zone] = (float)(OSBORNE_ZONES_M * (zone + 1));
  def.visible_m = visible_m;
  def.herds_max = osborne->herds;
  def.unfolded_max = osborne_unfolded_max(osborne);
  def.period_ns = OSBORNE_CYCLE_NS;
  def.period_max_ns = 4ull * OSBORNE_CYCLE_NS;
  def.look_ns = OSBORNE_CYCLE_NS;
  def.run_block = run_block;
  def.user = (void *)(uintptr_t)osborne;
  *type = muster_herd_type_register(world, &def);
  return type->index == 0 ? MUSTER_E_ARGUMENT : osborne_add_herds(world, osborne, *type);
}
