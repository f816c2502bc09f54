#include "pathstorm.h"

#include <math.h>

static const double same_place_m = 0.01; /* positions are kept to a tenth of a millimetre */

/* What follows from the states of walkers and solvers. */
typedef struct census {
  uint64_t walkers, orders, answered, wrong, waiting, longest_ns, misplaced, searches, expanded;
  double longest_s, cells_per_search, lost, miscounted, violations;
} census;

static void add_walker(const pathstorm *self, const muster_agent_info *info, census *sums) {
  const pathstorm_walker_state *own = info->state;
  muster_position place = pathstorm_position(self, own->cell);
  bool waits = own->stage == PATHSTORM_ASKS || own->stage == PATHSTORM_WAITS;
  uint64_t waited_ns = waits ? self->base.now_ns - own->ordered_ns : 0;
  if (own->longest_ns > waited_ns) waited_ns = own->longest_ns;
  if (waited_ns > sums->longest_ns) sums->longest_ns = waited_ns;
  sums->walkers++;
  sums->orders += own->orders;
  sums->answered += own->answers_way + own->answers_none + own->unanswered;
  sums->waiting += waits;
  sums->wrong += own->twice + own->wrong + own->invalid;
  sums->misplaced += !own->moved && hypot(place.x - info->position.x, place.y - info->position.y) > same_place_m;
  sums->misplaced += self->map.regions[own->cell] != 1;
}

void pathstorm_count(const scaffold_look *look) {
  const pathstorm *self = look->instance;
  const pathstorm_solver_state *solver = look->info.state;
  census *sums = look->sums;
  if (look->info.type.index == self->walker_type.index) {
    add_walker(self, &look->info, sums);
  } else {
    sums->searches += solver->searches;
    sums->expanded += solver->expanded;
  }
}

/* The number of fields whose count of followers differs from that of the grants. */
static uint32_t miscounted_fields(const pathstorm *self) {
  uint32_t followers[PATHSTORM_FIELDS] = {0}, errors = 0;
  for (uint32_t i = 0; i < self->base.agents; i++)
    if (self->grants[i].field != PATHSTORM_NONE) followers[self->grants[i].field]++;
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) errors += followers[i] != self->fields[i].followers;
  return errors;
}

/* Every order was answered, overtaken by the next one or waits. */
void pathstorm_conclude(const scaffold_look *look) {
  census *sums = look->sums;
  sums->longest_s = (double)sums->longest_ns * 1e-9;
  if (sums->searches) sums->cells_per_search = (double)sums->expanded / (double)sums->searches;
  sums->lost = fabs((double)sums->orders - (double)(sums->answered + sums->waiting));
  sums->miscounted = miscounted_fields(look->instance);
  sums->violations = (double)(sums->wrong + sums->misplaced) + sums->lost + sums->miscounted;
}

#define OF_TYPE(name, source, state, member, type) SCAFFOLD_LINE(name, source, state, member, offsetof(pathstorm, type))
#define WALKERS(name, member)                      OF_TYPE(name, SUM, pathstorm_walker_state, member, walker_type)
#define SOLVERS(name, member)                      OF_TYPE(name, SUM, pathstorm_solver_state, member, solver_type)
#define SOLVERS_MOST(name, member)                 OF_TYPE(name, MOST, pathstorm_solver_state, member, solver_type)

/* Each of the last seven must be 0. */
const scaffold_line pathstorm_lines[] = {SCAFFOLD_FOUND("walkers", census, walkers),
                                         SCAFFOLD_OWN("map_cells", pathstorm, map.cells),
                                         SCAFFOLD_OWN("map_regions", pathstorm, map.region_count),
                                         WALKERS("orders", orders),
                                         WALKERS("orders_reachable", orders_reachable),
                                         WALKERS("answered_with_a_way", answers_way),
                                         WALKERS("answered_unreachable", answers_none),
                                         SCAFFOLD_FOUND("waiting", census, waiting),
                                         WALKERS("unanswered", unanswered),
                                         SCAFFOLD_FOUND("longest_wait_s", census, longest_s),
                                         WALKERS("requests", requests),
                                         SOLVERS("searches", searches),
                                         SOLVERS("searches_exhausted", exhausted),
                                         SOLVERS("answers_searched", found),
                                         SOLVERS("answers_shared", shared),
                                         SOLVERS("answers_remembered", remembered),
                                         SOLVERS("cells_expanded", expanded),
                                         SCAFFOLD_FOUND("cells_per_search", census, cells_per_search),
                                         SOLVERS_MOST("cells_per_search_max", largest_search),
                                         SOLVERS_MOST("cells_per_atom_max", largest_call),
                                         SOLVERS("slices", slices),
                                         SOLVERS("without_a_free_field", kept_waiting),
                                         SOLVERS("sends_refused", sends_refused),
                                         WALKERS("steps_surveyed", surveyed_steps),
                                         WALKERS("steps_walked", steps),
                                         WALKERS("arrivals", arrivals),
                                         WALKERS("neighbours_seen", seen),
                                         WALKERS("answered_twice", twice),
                                         WALKERS("answered_wrongly", wrong),
                                         WALKERS("ways_invalid", invalid),
                                         SCAFFOLD_FOUND("orders_lost", census, lost),
                                         SCAFFOLD_FOUND("misplaced", census, misplaced),
                                         SCAFFOLD_FOUND("followers_miscounted", census, miscounted),
                                         SCAFFOLD_FOUND("violations", census, violations),
                                         {0}};
