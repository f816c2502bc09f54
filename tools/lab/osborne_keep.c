/* What folding and unfolding must keep, in a small world without forces: herds that drift past a player that walks
 * among them are folded and unfolded many times, and must end where they would be without an observer. Virtual time. */
#include "osborne.h"

#include <muster/herd.h>

#include <math.h>

enum { HERDS = OSBORNE_KEPT_HERDS, WALKED = 240, AWAY = 40, ROWS = 8, AGENTS_MAX = 4096 };

static const double apart_m = 60, walk_m = 5 /* of the player, per cycle */, far_m = 10000;
static const float total = 1000;

/* A member that was just unfolded is a cycle behind the others once. With very different speeds the mean of places at
 * different times would differ from the centroid. */
static const float spread_mps = 0.1f;

/* A leaf, or a folded herd, goes straight on. */
static muster_atom_result drift(muster_update *update) {
  const muster_herd_body *body = update->published;
  double elapsed_s = (double)update->elapsed_ns * 1e-9;
  muster_position place = update->position;
  place.x += (double)body->velocity_x * elapsed_s;
  place.y += (double)body->velocity_y * elapsed_s;
  muster_update_move(update, place);
  return MUSTER_ATOM_NEXT;
}

static muster_herd_type register_herds(muster_world *world) {
  const muster_atom atom = {.run = drift};
  muster_type_def member = muster_type_def_default();
  muster_herd_type_def herd = muster_herd_type_def_default();
  member.name = "drifting animal";
  member.atoms = &atom;
  member.atom_count = 1;
  member.published_bytes = sizeof(muster_herd_body) + sizeof(float);
  member.period_ns = member.period_max_ns = OSBORNE_CYCLE_NS;
  herd.member = muster_type_register(world, &member);
  herd.totals = 1;
  herd.herds_max = herd.unfolded_max = HERDS;
  herd.spread_mps = spread_mps;
  herd.period_ns = herd.period_max_ns = herd.look_ns = OSBORNE_CYCLE_NS;
  return muster_herd_type_register(world, &herd);
}

static double along(uint32_t place) {
  return ((double)place - 0.5 * (ROWS - 1)) * apart_m;
}

/* In rows, with velocities of their own. */
static void place_herds(muster_herd_def defs[HERDS]) {
  for (uint32_t i = 0; i < HERDS; i++) {
    double angle = i * 2.399963229728653;
    defs[i] = (muster_herd_def){.position = {along(i % ROWS), along(i / ROWS), 0},
                                .velocity_x = (float)(0.5 * cos(angle)),
                                .velocity_y = (float)(0.5 * sin(angle)),
                                .totals = {total}};
  }
}

/* How far a herd is from what it would be without an observer. */
static bool judge(const muster_world *world, muster_herd id, const muster_herd_def *def, osborne_kept *kept) {
  muster_herd_info info = muster_herd_info_default();
  if (muster_herd_read(world, id, &info) != MUSTER_OK) return false;
  double passed_s = (double)info.last_update_ns * 1e-9;
  double x = def->position.x + (double)def->velocity_x * passed_s,
         y = def->position.y + (double)def->velocity_y * passed_s;
  kept->members += info.members;
  kept->total += (double)info.totals[0];
  kept->centroid_m = fmax(kept->centroid_m, hypot(info.position.x - x, info.position.y - y));
  kept->velocity_mps = fmax(kept->velocity_mps, hypot((double)(info.velocity_x - def->velocity_x),
                                                      (double)(info.velocity_y - def->velocity_y)));
  return true;
}

/* Walks there and back again through the herds, which begin to move with the first frame; and then far away. */
static bool walk(muster_world *world, muster_observer player) {
  for (uint64_t cycle = 0; cycle < WALKED + AWAY; cycle++) {
    double way_m = walk_m * (double)cycle, side_m = ROWS * apart_m, turn_m = fmod(way_m, 2 * side_m);
    muster_position place = {(turn_m < side_m ? turn_m : 2 * side_m - turn_m) - side_m / 2, way_m * 0.2 - side_m / 4,
                             0};
    if (cycle >= WALKED) place.x += far_m;
    if (muster_observer_move(world, player, place) != MUSTER_OK ||
        muster_frame_run(world, &(muster_frame){cycle * OSBORNE_CYCLE_NS, OSBORNE_CYCLE_NS}) != MUSTER_OK)
      return false;
  }
  return true;
}

static bool keep(muster_world *world, osborne_kept *kept) {
  muster_herd_def defs[HERDS];
  muster_herd ids[HERDS];
  muster_observer_def player = muster_observer_def_default();
  muster_statistics statistics = muster_statistics_default();
  muster_herd_type type = register_herds(world);
  place_herds(defs);
  if (!type.index || muster_herds_add(world, type, defs, HERDS, ids) != HERDS) return false;
  if (!walk(world, muster_observer_add(world, &player))) return false;
  for (uint32_t i = 0; i < HERDS; i++)
    if (!judge(world, ids[i], &defs[i], kept)) return false;
  muster_statistics_read(world, &statistics);
  kept->folds = statistics.folds;
  kept->unfolds = statistics.unfolds;
  kept->bytes_unfolded = statistics.bytes_unfolded;
  kept->hash = muster_world_hash(world);
  return true;
}

static bool keep_once(osborne_kept *kept) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = AGENTS_MAX;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  *kept = (osborne_kept){0};
  muster_world *world = muster_world_create(&def);
  bool done = world && keep(world, kept);
  muster_world_destroy(world);
  return done;
}

/* Twice, since the same seed must give the same children. */
bool osborne_keep(osborne_kept *kept) {
  osborne_kept again;
  if (!keep_once(kept) || !keep_once(&again)) return false;
  kept->total_lost = fabs(kept->total / HERDS - (double)total);
  kept->alike = again.hash == kept->hash;
  return true;
}
