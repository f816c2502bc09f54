/* population_paths.c - the few agents that search paths: each update plans a way from the agent's place to its goal and
 * walks as far as the time allows. Most goals are near, a few are far or hard to reach, so that the cost of an update
 * has a heavy tail; it is cut into slices of at most SLICE_NODES cells, one per atom. */
#include "scenarios/population_roles.h"

#include <math.h>

enum { SLICE_NODES = 256, SLICES = SEARCH_CELLS / SLICE_NODES };

static const double nearest_goal_m = 6, farthest_goal_m = 42, tether_m = 60, spare_max_s = 10;

/* ----------------------------------------------------------------------------------------------------------- goals */

/* Goal distances follow a Pareto distribution: most are near the shortest, some are many times as far. */
static double choose_distance(muster_update *update) {
  double share = 1 - (double)muster_update_random_share(update);
  return fmin(nearest_goal_m * pow(share, -1 / 1.1), farthest_goal_m);
}

/* Chooses a free place to go to, if a few tries find one; an agent that is far from home turns back. */
static muster_position population_paths_choose_goal(const population_paths_state *state, muster_update *update) {
  enum { TRIES = 6 };
  muster_position place = update->position, goal = place;
  double distance_m = choose_distance(update);
  if (hypot(state->home.x - place.x, state->home.y - place.y) > tether_m)
    return population_approach(place, state->home, distance_m);
  for (int i = 0; i < TRIES; i++) {
    double angle = 6.283185307 * (double)muster_update_random_share(update);
    goal.x = place.x + distance_m * cos(angle);
    goal.y = place.y + distance_m * sin(angle);
    if (!search_is_blocked(search_cell_at(goal.x, goal.y))) break;
  }
  return goal;
}

static muster_position next_on_circuit(population_circuit *circuit) {
  circuit->angle = fmodf(circuit->angle + 1.5707963f, 6.2831853f);
  return population_circuit_place(circuit, 0);
}

static void set_out(population_paths_state *state, muster_update *update) {
  if (!state->has_goal)
    state->goal =
        state->circuit.speed_mps > 0 ? next_on_circuit(&state->circuit) : population_paths_choose_goal(state, update);
  state->has_goal = true;
  search_begin(&state->search, search_cell_at(update->position.x, update->position.y),
               search_cell_at(state->goal.x, state->goal.y));
}

/* --------------------------------------------------------------------------------------------------------- walking */

/* Walks to a place as far as the distance lasts, and subtracts what was walked from the distance. True when the agent
 * got there. */
static bool go(muster_position *place, muster_position to, double *distance_m) {
  double gap_m = hypot(to.x - place->x, to.y - place->y);
  *place = population_approach(*place, to, *distance_m);
  *distance_m = fmax(0, *distance_m - gap_m);
  return *distance_m > 0;
}

/* From cell to cell along the found way, then to the goal itself. */
static bool population_paths_follow(const population_paths_state *state, muster_position *place, double *distance_m) {
  search_cell cell = search_cell_at(place->x, place->y);
  while (search_step(&state->search, &cell)) {
    muster_position centre = {(cell.x + 0.5) * SEARCH_CELL_M, (cell.y + 0.5) * SEARCH_CELL_M, place->z};
    if (!go(place, centre, distance_m)) return false;
  }
  return go(place, state->goal, distance_m);
}

/* An agent that finds no way goes straight over blocked cells, so that no agent stays walled in. */
static void population_paths_walk(population_paths_state *state, muster_update *update) {
  bool found = state->search.status == SEARCH_FOUND;
  double time_s = population_seconds(update->elapsed_ns) + state->spare_s;
  double walked_m = (double)state->speed_mps * time_s, left_m = walked_m;
  muster_position place = update->position;
  bool arrived = found ? population_paths_follow(state, &place, &left_m) : go(&place, state->goal, &left_m);
  state->has_goal = !arrived;
  state->spare_s = fmin(left_m / (double)state->speed_mps, spare_max_s);
  *(state->circuit.speed_mps > 0 ? &state->circuit.walked_m : &state->wandered_m) += walked_m - left_m;
  state->paths_found += found;
  state->paths_missed += !found;
  muster_update_move(update, place);
}

/* ------------------------------------------------------------------------------------------------------------ role */

/* One slice: the first of an update begins the search, the slice that ends the search walks. The slices suffice for
 * every cell.
 */
static muster_atom_result population_paths_think(muster_update *update) {
  population_paths_state *state = update->state;
  if (state->search.status == SEARCH_NONE) set_out(state, update);
  state->nodes_expanded += search_expand(&state->search, SLICE_NODES);
  if (state->search.status == SEARCH_RUNNING) return MUSTER_ATOM_NEXT;
  population_public *public = update->published;
  public->activity = state->search.status;
  population_paths_walk(state, update);
  state->search.status = SEARCH_NONE;
  return MUSTER_ATOM_FINISH;
}

/* What a slice costs under the virtual clock. Measured: a cell takes 200 ns, beginning and walking 600 ns; half of the
 * searches close fewer than 10 cells, one in ten more than 100, one in a hundred 3,000. A power of one random draw per
 * update is distributed like that; every slice takes its part of it. */
static uint64_t paths_cost_ns(const muster_cost_query *query, void *user) {
  (void)user;
  double share = 1 - (double)muster_random_share(query->update_random);
  double nodes = fmin(3 * pow(share, -1.5), (double)SEARCH_CELLS),
         earlier = (double)(query->atom * (uint32_t)SLICE_NODES);
  uint64_t own_nodes = nodes > earlier ? (uint64_t)fmin(nodes - earlier, (double)SLICE_NODES) : 0;
  return own_nodes * 200u + (query->atom == 0 ? 600u : 0);
}

/* The mean update takes 20 us; model_ns is each slice's part of that. */
#define SLICE                                                                                                          \
  { .run = population_paths_think, .model_ns = 1250 }
#define FOUR_SLICES SLICE, SLICE, SLICE, SLICE

static const muster_atom atoms[] = {FOUR_SLICES, FOUR_SLICES, FOUR_SLICES, FOUR_SLICES};
_Static_assert(sizeof atoms / sizeof *atoms == SLICES, "one atom for each slice of the window");

static void paths_begin(void *memory, const population_start *start) {
  population_paths_state *state = memory;
  state->home = start->home;
  state->speed_mps = start->speed_mps;
}

const population_role population_paths = {"paths",    SCAFFOLD_ATOMS(atoms), sizeof(population_paths_state),
                                          500000000u, 4000000000u,           paths_cost_ns,
                                          paths_begin};
