#include "varied_costs.h"

#include "world/world.h"

#include <math.h>
#include <muster/module.h>
#include <stdlib.h>

enum { COST_MOST_NS = 1000000000 }; /* of a model: type.h */

/* What an atom of a type cost before. Only the model is given this: updates keep the type's own user. */
typedef struct varied_type {
  uint64_t (*cost_ns)(const muster_cost_query *query, void *user);
  void *user;
  const muster_atom *atoms;
  double sigma;
} varied_type;

struct varied_costs {
  uint32_t count;
  varied_type types[];
};

/* Two uniform numbers give a normal one (Box and Muller). */
double varied_factor(uint64_t random, double sigma) {
  double u = ((double)(random >> 32) + 1.0) / 4294967297.0, v = (double)(uint32_t)random / 4294967296.0;
  return exp(sigma * sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v) - sigma * sigma / 2);
}

/* All atoms of an update share the factor. */
static uint64_t cost_of(const muster_cost_query *query, void *user) {
  const varied_type *type = user;
  uint64_t cost_ns = type->cost_ns ? type->cost_ns(query, type->user) : type->atoms[query->atom].model_ns;
  return (uint64_t)llround(fmin((double)cost_ns * varied_factor(query->update_random, type->sigma), COST_MOST_NS));
}

struct varied_costs *varied_costs_begin(muster_world *world, double sigma) {
  type_table *types = &world->agents.types;
  struct varied_costs *varied = calloc(1, sizeof *varied + types->count * sizeof *varied->types);
  if (!varied) {
    muster_module_fail(MUSTER_E_MEMORY, "out of memory");
    return NULL;
  }
  varied->count = types->count;
  for (uint32_t i = 0; i < types->count; i++) {
    agent_type *type = &types->types[i];
    varied->types[i] = (varied_type){type->def.models.cost_ns, type->def.user, type->atoms, sigma};
    type->def.models.cost_ns = cost_of;
    type->def.user = &varied->types[i];
    type->def.limit_ns = COST_MOST_NS;
  }
  return varied;
}

void varied_costs_free(struct varied_costs *varied) {
  free(varied);
}
