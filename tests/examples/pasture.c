/* Sheep graze, and run from wolves; wolves bite the nearest sheep. pasture_test.c tests these atoms one by one. */
#include "pasture.h"

#include <math.h>

enum { SIGHT_M = 20, BITE_M = 2 };

static const double grass_kg_per_s = 0.001, flight_mps = 4;

static muster_atom_result look(muster_update *update) {
  const struct pasture *pasture = update->type_user;
  struct sheep *own = update->state;
  muster_neighbour wolf;
  own->afraid = muster_update_nearby(update, SIGHT_M, pasture->wolves, &wolf, 1) == 1;
  if (!own->afraid) return MUSTER_ATOM_NEXT;
  double x = update->position.x - wolf.position.x, y = update->position.y - wolf.position.y, far = hypot(x, y);
  double metres = flight_mps * (double)update->elapsed_ns * 1e-9;
  muster_position to = update->position;
  to.x += far > 0 ? x / far * metres : metres; /* on the same spot any direction is away */
  to.y += far > 0 ? y / far * metres : 0;
  muster_update_move(update, to);
  return MUSTER_ATOM_FINISH;
}

static muster_atom_result graze(muster_update *update) {
  struct sheep *own = update->state;
  own->grass_kg += grass_kg_per_s * (double)update->elapsed_ns * 1e-9;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result hunt(muster_update *update) {
  const struct pasture *pasture = update->type_user;
  struct wolf *own = update->state;
  muster_neighbour sheep;
  if (!muster_update_nearby(update, BITE_M, pasture->sheep, &sheep, 1)) return MUSTER_ATOM_FINISH;
  own->prey = sheep.agent;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result bite(muster_update *update) {
  struct wolf *own = update->state;
  if (muster_update_remove(update, own->prey) == MUSTER_OK) own->eaten++; /* another wolf may have been first */
  return MUSTER_ATOM_NEXT;
}

bool pasture_register(struct pasture *pasture, muster_world *world) {
  const muster_atom of_sheep[] = {{look, MUSTER_ROLE_PERCEPTION, 2000}, {graze, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_atom of_wolves[] = {{hunt, MUSTER_ROLE_BEHAVIOUR, 2000}, {bite, MUSTER_ROLE_ACTION, 500}};
  muster_type_def def = muster_type_def_default();
  def.name = "sheep";
  def.user = pasture;
  def.atoms = of_sheep;
  def.atom_count = 2;
  def.state_bytes = sizeof(struct sheep);
  pasture->sheep = muster_type_register(world, &def);
  def.name = "wolf";
  def.atoms = of_wolves;
  def.state_bytes = sizeof(struct wolf);
  pasture->wolves = muster_type_register(world, &def);
  return pasture->sheep.index && pasture->wolves.index;
}
