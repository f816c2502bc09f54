#include "examples/ranch.h"

#include <muster/herd.h>

#include <math.h>

static const double seconds_per_ns = 1e-9, grass_half_s = 20.0, cart_wants_mps = 8.0;

/* ------------------------------------------------------------------------------------------------------------ carts */

void cart_drive(struct cart *cart, double seconds) {
  cart->speed += (cart_wants_mps - cart->speed) * seconds;
  cart->x += cart->speed * seconds;
  cart->steps++;
}

static muster_atom_result drive(muster_update *update) {
  struct cart *own = update->state;
  for (uint32_t i = 0; i < update->steps; i++) cart_drive(own, (double)update->step_ns * seconds_per_ns);
  return MUSTER_ATOM_NEXT;
}

/* ------------------------------------------------------------------------------------------------------------ grass */

double grass_height(double seconds) {
  return 1.0 - exp2(-seconds / grass_half_s);
}

static void grow(struct grass *own, uint64_t ns) {
  own->grown_s += (double)ns * seconds_per_ns;
  own->height = grass_height(own->grown_s);
}

/* For all but the last second. */
static void leap(muster_update *update) {
  struct grass *own = update->state;
  grow(own, update->elapsed_ns);
  own->leaps++;
}

static muster_atom_result sprout(muster_update *update) {
  grow(update->state, update->elapsed_ns);
  return MUSTER_ATOM_NEXT;
}

/* ------------------------------------------------------------------------------------------------------------- cows */

/* In the herd and as a player's own. */
static muster_atom_result stroll(muster_update *update) {
  const muster_herd_body *body = update->published;
  double seconds = (double)update->elapsed_ns * seconds_per_ns;
  muster_position place = update->position;
  place.x += (double)body->velocity_x * seconds;
  place.y += (double)body->velocity_y * seconds;
  muster_update_move(update, place);
  return MUSTER_ATOM_NEXT;
}

static bool add_cows(struct ranch *ranch) {
  static const muster_atom atom = {.run = stroll, .model_ns = 500};
  muster_type_def cow = muster_type_def_default();
  muster_herd_type_def herd = muster_herd_type_def_default();
  cow.name = "cow";
  cow.atoms = &atom;
  cow.atom_count = 1;
  cow.published_bytes = sizeof(muster_herd_body);
  herd.name = "cows";
  herd.member = muster_type_register(ranch->world, &cow);
  herd.depth = 6; /* 64 cows */
  muster_herd_type type = muster_herd_type_register(ranch->world, &herd);
  muster_herd_def def = {.velocity_x = 0.5f};
  return type.index && muster_herds_add(ranch->world, type, &def, 1, &ranch->cows) == 1;
}

muster_agent ranch_buy(struct ranch *ranch, uint32_t cow) {
  return muster_herd_name(ranch->world, ranch->cows, cow);
}

/* ------------------------------------------------------------------------------------------------------------ ranch */

static bool add(struct ranch *ranch, const muster_type_def *def, muster_agent *agents, uint32_t count) {
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster_type_register(ranch->world, def);
  for (uint32_t i = 0; agent.type.index && i < count; i++) {
    agent.position = (muster_position){5.0 * i, 20, 0};
    agents[i] = muster_agent_spawn(ranch->world, &agent);
    if (muster_agent_is_null(agents[i])) return false;
  }
  return agent.type.index != 0;
}

static bool populate(struct ranch *ranch) {
  static const muster_atom driving = {.run = drive, .model_ns = 2000}, sprouting = {.run = sprout, .model_ns = 500};
  muster_type_def carts = muster_type_def_default(), patches = muster_type_def_default();
  carts.name = "cart";
  carts.atoms = &driving;
  carts.atom_count = 1;
  carts.state_bytes = sizeof(struct cart);
  carts.elapsed.contract = MUSTER_ELAPSED_STEPS;
  carts.elapsed.step_ns = CART_STEP_NS;
  carts.elapsed.steps_max = 60; /* 1.2 s, more than the longest period */
  patches.name = "grass";
  patches.atoms = &sprouting;
  patches.atom_count = 1;
  patches.state_bytes = sizeof(struct grass);
  patches.period_ns = 5000000000u;
  patches.period_max_ns = 60000000000u;
  patches.elapsed.contract = MUSTER_ELAPSED_ANALYTIC;
  patches.elapsed.step_ns = 1000000000u;
  patches.elapsed.catch_up = leap;
  return add(ranch, &carts, ranch->carts, RANCH_CARTS) && add(ranch, &patches, ranch->patches, RANCH_PATCHES) &&
         add_cows(ranch);
}

bool ranch_open(struct ranch *ranch) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 4096;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  *ranch = (struct ranch){.world = muster_world_create(&def)};
  if (ranch->world && populate(ranch)) return true;
  ranch_close(ranch);
  return false;
}

void ranch_close(struct ranch *ranch) {
  muster_world_destroy(ranch->world);
  ranch->world = NULL;
}

bool ranch_tick(struct ranch *ranch, uint64_t budget_ns) {
  ranch->now_ns += 50000000u;
  return muster_frame_run(ranch->world, &(muster_frame){ranch->now_ns, budget_ns}) == MUSTER_OK;
}
