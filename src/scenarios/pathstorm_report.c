#include "scenarios/pathstorm.h"

#include <math.h>

static const double same_place_m = 0.01; /* positions are kept to a tenth of a millimetre */

/* Sums over the walkers. */
typedef struct walk_sums {
  uint64_t walkers, orders, orders_reachable, requests, ways, nones, unanswered, waiting, longest_ns;
  uint64_t twice, wrong, invalid, misplaced, outside;
  uint64_t arrivals, steps, surveyed, seen;
} walk_sums;

static void pathstorm_report_add_walker(const pathstorm *self, const muster_agent_info *info, walk_sums *sums) {
  const pathstorm_walker_state *own = info->state;
  muster_position place = pathstorm_position(self, own->cell);
  bool waits = own->stage == PATHSTORM_ASKS || own->stage == PATHSTORM_WAITS;
  uint64_t waited_ns = waits ? self->now_ns - own->ordered_ns : 0;
  if (own->longest_ns > waited_ns) waited_ns = own->longest_ns;
  if (waited_ns > sums->longest_ns) sums->longest_ns = waited_ns;
  sums->walkers++;
  sums->orders += own->orders;
  sums->orders_reachable += own->orders_reachable;
  sums->requests += own->requests;
  sums->ways += own->answers_way;
  sums->nones += own->answers_none;
  sums->unanswered += own->unanswered;
  sums->waiting += waits;
  sums->twice += own->twice;
  sums->wrong += own->wrong;
  sums->invalid += own->invalid;
  sums->misplaced += !own->moved && hypot(place.x - info->position.x, place.y - info->position.y) > same_place_m;
  sums->outside += self->map.regions[own->cell] != 1;
  sums->arrivals += own->arrivals;
  sums->steps += own->steps;
  sums->surveyed += own->surveyed_steps;
  sums->seen += own->seen;
}

static void add_solver(const pathstorm_solver_state *own, pathstorm_solver_state *sums) {
  sums->requests += own->requests;
  sums->repeated += own->repeated;
  sums->overtaken += own->overtaken;
  sums->searches += own->searches;
  sums->exhausted += own->exhausted;
  sums->found += own->found;
  sums->shared += own->shared;
  sums->remembered += own->remembered;
  sums->unreachable += own->unreachable;
  sums->expanded += own->expanded;
  sums->slices += own->slices;
  sums->kept_waiting += own->kept_waiting;
  sums->sends_refused += own->sends_refused;
  if (own->largest_search > sums->largest_search) sums->largest_search = own->largest_search;
  if (own->largest_call > sums->largest_call) sums->largest_call = own->largest_call;
}

/* The number of fields whose count of followers differs from that of the grants. */
static uint32_t miscounted_fields(const pathstorm *self) {
  uint32_t followers[PATHSTORM_FIELDS] = {0}, errors = 0;
  for (uint32_t i = 0; i < self->walkers; i++)
    if (self->grants[i].field != PATHSTORM_NONE) followers[self->grants[i].field]++;
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) errors += followers[i] != self->fields[i].followers;
  return errors;
}

static void emit_answers(const walk_sums *walks, const pathstorm_solver_state *searches, muster_module_emit emit,
                         void *emit_user) {
  emit("orders", (double)walks->orders, emit_user);
  emit("orders_reachable", (double)walks->orders_reachable, emit_user);
  emit("answered_with_a_way", (double)walks->ways, emit_user);
  emit("answered_unreachable", (double)walks->nones, emit_user);
  emit("waiting", (double)walks->waiting, emit_user);
  emit("unanswered", (double)walks->unanswered, emit_user);
  emit("longest_wait_s", (double)walks->longest_ns * 1e-9, emit_user);
  emit("requests", (double)walks->requests, emit_user);
  emit("searches", (double)searches->searches, emit_user);
  emit("searches_exhausted", (double)searches->exhausted, emit_user);
  emit("answers_searched", (double)searches->found, emit_user);
  emit("answers_shared", (double)searches->shared, emit_user);
  emit("answers_remembered", (double)searches->remembered, emit_user);
}

static void emit_work(const walk_sums *walks, const pathstorm_solver_state *searches, muster_module_emit emit,
                      void *emit_user) {
  double per_search = searches->searches ? (double)searches->expanded / (double)searches->searches : 0.0;
  emit("cells_expanded", (double)searches->expanded, emit_user);
  emit("cells_per_search", per_search, emit_user);
  emit("cells_per_search_max", (double)searches->largest_search, emit_user);
  emit("cells_per_atom_max", searches->largest_call, emit_user);
  emit("slices", searches->slices, emit_user);
  emit("without_a_free_field", searches->kept_waiting, emit_user);
  emit("sends_refused", searches->sends_refused, emit_user);
  emit("steps_surveyed", (double)walks->surveyed, emit_user);
  emit("steps_walked", (double)walks->steps, emit_user);
  emit("arrivals", (double)walks->arrivals, emit_user);
  emit("neighbours_seen", (double)walks->seen, emit_user);
}

/* Each must be 0. Every order was answered, overtaken by the next one or waits. */
static void pathstorm_report_emit_violations(const pathstorm *self, const walk_sums *walks, muster_module_emit emit,
                                             void *emit_user) {
  uint64_t accounted = walks->ways + walks->nones + walks->unanswered + walks->waiting;
  double lost = walks->orders > accounted ? (double)(walks->orders - accounted) : (double)(accounted - walks->orders);
  double misplaced = (double)(walks->misplaced + walks->outside), miscounted = miscounted_fields(self);
  emit("answered_twice", (double)walks->twice, emit_user);
  emit("answered_wrongly", (double)walks->wrong, emit_user);
  emit("ways_invalid", (double)walks->invalid, emit_user);
  emit("orders_lost", lost, emit_user);
  emit("misplaced", misplaced, emit_user);
  emit("followers_miscounted", miscounted, emit_user);
  emit("violations", (double)(walks->twice + walks->wrong + walks->invalid) + lost + misplaced + miscounted, emit_user);
}

void pathstorm_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const pathstorm *self = instance;
  walk_sums walks = {0};
  pathstorm_solver_state searches = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    if (info.type.index == self->walker_type.index)
      pathstorm_report_add_walker(self, &info, &walks);
    else
      add_solver(info.state, &searches);
  }
  emit("walkers", (double)walks.walkers, emit_user);
  emit("map_cells", self->map.cells, emit_user);
  emit("map_regions", self->map.region_count, emit_user);
  emit_answers(&walks, &searches, emit, emit_user);
  emit_work(&walks, &searches, emit, emit_user);
  pathstorm_report_emit_violations(self, &walks, emit, emit_user);
}
