#include "stress_world.h"

#include "work.h"

#include <muster/bulk.h>
#include <muster/random.h>
#include <muster/view.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANNERS_EACH = 16, NEIGHBOURS = 8, BOX = 8 * STRESS_LETTERS, COMMANDS = 1 << 14, CACHE_LINE = 64 };

enum { WALKER, PLANNER, COURIER, VISITOR, SLEEPER };

/* The ground's cells begin a cell before the square and end a cell behind it. */
enum { SIDE_CELLS = 125, GROUND_CELLS = SIDE_CELLS + 2 };

static const double cell_m = 32, side_m = SIDE_CELLS * 32.0, around_m = 3,
                    turn_ns = 2e10; /* a walk around home: 20 s */
static const double observer_mps = 1.4, observer_way_s = 60;
static const float query_m = 16;
static const uint64_t second_ns = 1000000000, wanted_ns = 100000000, longest_ns = 1000000000;

/* Written by one worker alone, apart from those of others. */
typedef struct stress_tally {
  _Alignas(CACHE_LINE) uint64_t updates[STRESS_TYPES];
} stress_tally;

typedef struct stress_mind {
  float home_x, home_y;
  uint32_t number, neighbours;
} stress_mind;

typedef struct stress_letter {
  uint64_t number;
} stress_letter;

struct stress_world {
  stress_world_def def;
  muster_pool *pool;
  muster_world *world;
  muster_type types[STRESS_TYPES];
  uint32_t turns[STRESS_TYPES]; /* of work, in an update */
  stress_tally *tallies;        /* one for each index of a worker */
  uint32_t tally_count;
  muster_agent *couriers, *sleepers, *visitors; /* visitors: a row of spawns for each frame of their lives */
  muster_observer *observers;
  muster_position *starts, *places; /* of the observers */
  muster_raster_cell *cells;        /* of the ground, to count agents in */
  uint32_t courier_count, life_frames;
  uint64_t frame, now_ns, random;
  uint64_t spawns_refused, commands_refused; /* by calls between frames */
};

static uint32_t load_of(const stress_world *world, stress_knob knob) {
  return world->def.load.knobs[knob];
}

/* ---------------------------------------------------------------------------------------------------------- updates */

static void work(const muster_update *update, uint32_t type) {
  const stress_world *world = update->type_user;
  world->tallies[update->worker].updates[type]++;
  work_turn(world->turns[type]);
}

static void walk(muster_update *update) {
  const stress_mind *self = update->state;
  double angle = 6.283185307179586 * fmod((double)update->now_ns / turn_ns + self->number * 0.618033988749895, 1.0);
  muster_update_move(update, (muster_position){(double)self->home_x + around_m * cos(angle),
                                               (double)self->home_y + around_m * sin(angle), 0});
}

static muster_atom_result look(muster_update *update) {
  stress_mind *self = update->state;
  muster_neighbour found[NEIGHBOURS];
  self->neighbours = muster_update_nearby(update, query_m, (muster_type){0}, found, NEIGHBOURS);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result walker_think(muster_update *update) {
  work(update, WALKER);
  walk(update);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result planner_think(muster_update *update) {
  work(update, PLANNER);
  walk(update);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result visitor_think(muster_update *update) {
  work(update, VISITOR);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result sleeper_think(muster_update *update) {
  work(update, SLEEPER);
  return MUSTER_ATOM_NEXT;
}

/* The last courier sends what is left of the frame's messages. Which courier gets them changes from update to update,
 * so that all get about as many. */
static muster_atom_result courier_send(muster_update *update) {
  const stress_world *world = update->type_user;
  const stress_mind *self = update->state;
  uint32_t left = load_of(world, STRESS_MESSAGES) - self->number * STRESS_LETTERS;
  uint64_t first = self->number + 1 + update->now_ns / world->def.frame_ns;
  work(update, COURIER);
  for (uint32_t i = 0; i < STRESS_LETTERS && i < left; i++) {
    stress_letter letter = {first + i};
    muster_update_send(update, world->couriers[(first + i) % world->courier_count], &letter, sizeof letter);
  }
  return MUSTER_ATOM_NEXT;
}

/* ------------------------------------------------------------------------------------------------------------ types */

static const muster_atom walker_atoms[] = {{look, MUSTER_ROLE_PERCEPTION, 0}, {walker_think, 0, 0}};
static const muster_atom planner_atoms[] = {{planner_think, 0, 0}};
static const muster_atom courier_atoms[] = {{courier_send, 0, 0}};
static const muster_atom visitor_atoms[] = {{visitor_think, 0, 0}};
static const muster_atom sleeper_atoms[] = {{sleeper_think, 0, 0}};

static const struct {
  const char *name;
  const muster_atom *atoms;
  uint32_t atom_count;
} kinds[STRESS_TYPES] = {{"walker", walker_atoms, 2},
                         {"planner", planner_atoms, 1},
                         {"courier", courier_atoms, 1},
                         {"visitor", visitor_atoms, 1},
                         {"sleeper", sleeper_atoms, 1}};

/* Penalties would change the load. */
static muster_type_def type_of(stress_world *world, uint32_t kind) {
  muster_type_def def = muster_type_def_default();
  uint64_t frame_ns = world->def.frame_ns;
  def.name = kinds[kind].name;
  def.atoms = kinds[kind].atoms;
  def.atom_count = kinds[kind].atom_count;
  def.state_bytes = sizeof(stress_mind);
  def.user = world;
  def.period_ns = kind == COURIER || wanted_ns < frame_ns ? frame_ns : wanted_ns;
  def.period_max_ns = longest_ns < 2 * frame_ns ? 2 * frame_ns : longest_ns;
  def.overruns.demote = 0;
  if (kind == SLEEPER) def.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  if (kind == COURIER) {
    def.elasticity = 0; /* messages are to be sent, as wakes are, at any load that leaves room for them */
    def.messages.waiting_max = BOX;
    def.messages.bytes_max = sizeof(stress_letter);
    def.messages.sends_max = STRESS_LETTERS;
  }
  return def;
}

/* Without messages there are no boxes, which take memory for each of agents_max. */
static bool register_types(stress_world *world) {
  for (uint32_t kind = 0; kind < STRESS_TYPES; kind++) {
    if (kind == COURIER && world->courier_count == 0) continue;
    muster_type_def def = type_of(world, kind);
    world->types[kind] = muster_type_register(world->world, &def);
    if (world->types[kind].index == 0) return false;
    world->turns[kind] = work_turns((double)(kind == PLANNER ? world->def.planner_cost_ns : world->def.cost_ns));
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- places */

static double next_share(stress_world *world) {
  world->random += 0x9e3779b97f4a7c15u;
  return (double)(muster_random_mix(world->random) >> 11) * 0x1p-53;
}

/* A crowd keeps so far from the edges of its cell that no walk leads out of it. */
static muster_position next_place(stress_world *world) {
  bool crowd = world->def.load.crowd;
  double edge_m = crowd ? around_m + 1 : 0, room_m = (crowd ? cell_m : side_m) - 2 * edge_m;
  double x = edge_m + next_share(world) * room_m, y = edge_m + next_share(world) * room_m;
  return (muster_position){x, y, 0};
}

static muster_agent spawn(stress_world *world, uint32_t kind, uint32_t number) {
  muster_agent_def def = muster_agent_def_default();
  stress_mind mind = {.number = number};
  def.type = world->types[kind];
  def.position = next_place(world);
  mind.home_x = (float)def.position.x;
  mind.home_y = (float)def.position.y;
  def.state = &mind;
  return muster_agent_spawn(world->world, &def);
}

static bool spawn_row(stress_world *world, uint32_t kind, muster_agent *out, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    muster_agent agent = spawn(world, kind, i);
    if (muster_agent_is_null(agent)) return false;
    if (out) out[i] = agent;
  }
  return true;
}

static bool add_observers(stress_world *world) {
  for (uint32_t i = 0; i < load_of(world, STRESS_OBSERVERS); i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = world->starts[i] = next_place(world);
    world->observers[i] = muster_observer_add(world->world, &def);
    if (muster_observer_is_null(world->observers[i])) return false;
  }
  return true;
}

static bool populate(stress_world *world) {
  uint32_t agents = load_of(world, STRESS_AGENTS), planners = agents / PLANNERS_EACH;
  return add_observers(world) && spawn_row(world, WALKER, NULL, agents - planners) &&
         spawn_row(world, PLANNER, NULL, planners) &&
         spawn_row(world, COURIER, world->couriers, world->courier_count) &&
         spawn_row(world, SLEEPER, world->sleepers, load_of(world, STRESS_WAKES));
}

/* --------------------------------------------------------------------------------------------------------- creation */

static uint32_t life_of(uint64_t frame_ns) {
  uint64_t frames = second_ns / frame_ns;
  return frames ? (uint32_t)frames : 1;
}

uint64_t stress_visitors(const stress_load *load, uint64_t frame_ns) {
  return (uint64_t)load->knobs[STRESS_SPAWNS] * life_of(frame_ns);
}

/* An array has an element more than wanted: none is empty. */
static void *make(size_t count, size_t bytes) {
  return calloc(count + 1, bytes);
}

static bool make_arrays(stress_world *world) {
  uint32_t observers = load_of(world, STRESS_OBSERVERS);
  world->tally_count = muster_pool_indices(world->pool);
  world->tallies = aligned_alloc(CACHE_LINE, world->tally_count * sizeof *world->tallies);
  world->couriers = make(world->courier_count, sizeof *world->couriers);
  world->sleepers = make(load_of(world, STRESS_WAKES), sizeof *world->sleepers);
  world->visitors = make(stress_visitors(&world->def.load, world->def.frame_ns), sizeof *world->visitors);
  world->observers = make(observers, sizeof *world->observers);
  world->starts = make(observers, sizeof *world->starts);
  world->places = make(observers, sizeof *world->places);
  world->cells = make((size_t)GROUND_CELLS * GROUND_CELLS, sizeof *world->cells);
  if (world->tallies) memset(world->tallies, 0, world->tally_count * sizeof *world->tallies);
  return world->tallies && world->couriers && world->sleepers && world->visitors && world->observers && world->starts &&
         world->places;
}

/* Bounds of the world are far beyond what the load needs, so that none of them is what gives way. A visitor's place is
 * free again some frames after it was asked to go. */
static bool make_world(stress_world *world) {
  const stress_load *load = &world->def.load;
  muster_world_def def = muster_world_def_default();
  uint32_t visitors = (uint32_t)stress_visitors(load, world->def.frame_ns);
  uint32_t events = 2 * load->knobs[STRESS_SPAWNS] + load->knobs[STRESS_WAKES];
  def.pool = world->pool;
  def.limits.agents_max =
      load->knobs[STRESS_AGENTS] + world->courier_count + load->knobs[STRESS_WAKES] + 2 * visitors + 1;
  def.limits.agents_ready = def.limits.agents_max;
  def.limits.observers_max = load->knobs[STRESS_OBSERVERS];
  def.limits.commands_max = COMMANDS + 4 * events + def.limits.observers_max;
  def.limits.sends_per_frame = 2 * STRESS_LETTERS * (world->courier_count + 1);
  def.cell_m = (float)cell_m;
  def.seed = world->def.seed;
  def.audit = true;
  world->world = muster_world_create(&def);
  return world->world != NULL;
}

stress_world *stress_world_create(const stress_world_def *def) {
  muster_pool_def pool = muster_pool_def_default();
  stress_world *world = calloc(1, sizeof *world);
  if (!world) return NULL;
  world->def = *def;
  world->random = def->seed;
  world->courier_count = (load_of(world, STRESS_MESSAGES) + STRESS_LETTERS - 1) / STRESS_LETTERS;
  world->life_frames = life_of(def->frame_ns);
  pool.workers = load_of(world, STRESS_WORKERS);
  world->pool = muster_pool_create(&pool);
  if (world->pool && make_arrays(world) && make_world(world) && register_types(world) && populate(world)) return world;
  stress_world_destroy(world);
  return NULL;
}

void stress_world_destroy(stress_world *world) {
  if (!world) return;
  muster_world_destroy(world->world);
  muster_pool_destroy(world->pool);
  free(world->tallies);
  free(world->couriers);
  free(world->sleepers);
  free(world->visitors);
  free(world->observers);
  free(world->starts);
  free(world->places);
  free(world->cells);
  free(world);
}

/* ----------------------------------------------------------------------------------------------------------- frames */

/* To and fro from where each began; every observer has a speed of its own, so that not all steps that matter come in
 * the same frames. In a crowd they stay in its cell. */
static void move_observers(stress_world *world) {
  uint32_t count = load_of(world, STRESS_OBSERVERS);
  double seconds = (double)world->now_ns * 1e-9, way = fmod(seconds, 2 * observer_way_s);
  double on_s = way < observer_way_s ? way : 2 * observer_way_s - way;
  double away_m = world->def.load.crowd ? fmod(on_s, 1.0) : observer_mps * on_s;
  for (uint32_t i = 0; i < count; i++) {
    world->places[i] = world->starts[i];
    world->places[i].x += away_m * (0.5 + (double)i / count);
  }
  muster_observers_move(world->world, world->observers, world->places, count);
}

/* Visitors that have lived for a second go, and as many others come in their place. */
static void change_visitors(stress_world *world) {
  uint32_t count = load_of(world, STRESS_SPAWNS);
  muster_agent *row = world->visitors + (size_t)count * (world->frame % world->life_frames);
  for (uint32_t i = 0; i < count; i++) {
    if (!muster_agent_is_null(row[i]) && muster_agent_remove(world->world, row[i]) == MUSTER_E_FULL)
      world->commands_refused++;
    row[i] = spawn(world, VISITOR, i);
    world->spawns_refused += muster_agent_is_null(row[i]);
  }
}

static void wake_sleepers(stress_world *world) {
  for (uint32_t i = 0; i < load_of(world, STRESS_WAKES); i++)
    if (muster_agent_wake(world->world, world->sleepers[i]) != MUSTER_OK) world->commands_refused++;
}

static bool run_frame(stress_world *world, muster_frame_report *report) {
  muster_frame frame = {.sim_now_ns = world->now_ns, .budget_ns = world->def.budget_ns};
  *report = muster_frame_report_default();
  return muster_frame_run(world->world, &frame) == MUSTER_OK &&
         muster_frame_report_read(world->world, report) == MUSTER_OK;
}

bool stress_world_frame(stress_world *world, muster_frame_report *report) {
  world->now_ns += world->def.frame_ns;
  world->frame++;
  move_observers(world);
  change_visitors(world);
  wake_sleepers(world);
  return run_frame(world, report);
}

bool stress_world_let_in(stress_world *world, bool *in) {
  muster_frame_report report;
  world->now_ns += world->def.frame_ns;
  bool ran = run_frame(world, &report);
  *in = ran && report.spawns_waiting == 0;
  return ran;
}

/* ---------------------------------------------------------------------------------------------------------- figures */

void stress_world_clear(stress_world *world) {
  muster_statistics_clear(world->world);
  memset(world->tallies, 0, world->tally_count * sizeof *world->tallies);
  world->spawns_refused = world->commands_refused = 0;
}

/* Updates of a type as they were counted, times its mean cost as the library estimates it. */
static void read_type(const stress_world *world, uint32_t kind, stress_type_figures *figures) {
  double cost_ns = 0, samples = 0;
  *figures = (stress_type_figures){.name = kinds[kind].name};
  for (uint32_t i = 0; i < world->tally_count; i++) figures->updates_share += (double)world->tallies[i].updates[kind];
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    muster_type_cost cost = muster_type_cost_default();
    if (!world->types[kind].index || muster_type_cost_read(world->world, world->types[kind], level, &cost)) break;
    figures->agents += cost.agents;
    cost_ns += (double)cost.mean_ns * (double)cost.samples;
    samples += (double)cost.samples;
  }
  figures->mean_ns = samples > 0 ? cost_ns / samples : 0;
  figures->time_share = figures->updates_share * figures->mean_ns;
}

static void read_types(const stress_world *world, stress_type_figures types[STRESS_TYPES]) {
  double updates = 0, time_ns = 0;
  for (uint32_t kind = 0; kind < STRESS_TYPES; kind++) {
    read_type(world, kind, &types[kind]);
    updates += types[kind].updates_share;
    time_ns += types[kind].time_share;
  }
  for (uint32_t kind = 0; kind < STRESS_TYPES; kind++) {
    types[kind].updates_share /= updates > 0 ? updates : 1;
    types[kind].time_share /= time_ns > 0 ? time_ns : 1;
  }
}

/* Agents of the fullest cell, of all. A crowd's cell begins at the origin; homes are in the square, and walks lead a
 * little out of it. */
static double fullest_cell(const stress_world *world) {
  muster_view view = muster_view_default();
  view.x0 = view.y0 = -cell_m;
  view.x1 = view.y1 = side_m + cell_m;
  uint32_t agents = 0, fullest = 0;
  muster_raster raster = {.columns = GROUND_CELLS, .rows = GROUND_CELLS, .cells = world->cells};
  memset(world->cells, 0, (size_t)GROUND_CELLS * GROUND_CELLS * sizeof *world->cells);
  for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;)
    agents += muster_agents_raster(world->world, &view, &raster, &cursor);
  for (uint32_t i = 0; i < GROUND_CELLS * GROUND_CELLS; i++)
    if (world->cells[i].count > fullest) fullest = world->cells[i].count;
  return agents ? (double)fullest / agents : 0;
}

bool stress_world_read(const stress_world *world, muster_statistics *statistics, stress_figures *figures) {
  *statistics = muster_statistics_default();
  figures->load = world->def.load;
  figures->budget_ns = world->def.budget_ns;
  figures->spawns_refused = world->spawns_refused;
  figures->commands_refused = world->commands_refused;
  figures->brought_per_frame = 2.0 * load_of(world, STRESS_SPAWNS) + load_of(world, STRESS_WAKES);
  for (uint32_t i = 0; i < world->tally_count; i++) figures->wakes_answered += world->tallies[i].updates[SLEEPER];
  figures->cell_share = fullest_cell(world);
  read_types(world, figures->types);
  return muster_statistics_read(world->world, statistics) == MUSTER_OK;
}
