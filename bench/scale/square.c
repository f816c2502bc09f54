#include "square.h"

#include "scenarios/scaffold.h"

#include <muster/bulk.h>

#include <math.h>
#include <stdlib.h>

enum { STEPS_OUT = 2000, INTAKE_FRAMES_MAX = 100000, COMMANDS = 1 << 17 };

static const double side_m = 10000.0, walk_m_per_s = 1.4, turn_rad = 6.283185307179586;
static const uint64_t day_ns = 86400000000000u;

muster_atom_result square_live(muster_update *update) {
  creature *self = update->state;
  float seconds = (float)update->elapsed_ns * 1e-9f;
  for (int i = 0; i < 16; i++) {
    self->x += self->speed * seconds * 0.0625f;
    if (self->x > 100.0f || self->x < -100.0f) self->speed = -self->speed;
  }
  return MUSTER_ATOM_NEXT;
}

/* SplitMix64. */
uint64_t square_random(struct square *square) {
  return muster_random_mix(square->random += 0x9e3779b97f4a7c15u);
}

static double random_share(struct square *square) {
  return scaffold_share(square_random(square));
}

static muster_position random_place(struct square *square) {
  double x = random_share(square) * side_m, y = random_share(square) * side_m;
  return (muster_position){x, y, 0};
}

const char *square_wrong(void) {
  const char *reason = muster_last_error();
  return *reason ? reason : "agents wait for ever to come or to go";
}

uint64_t square_period(uint32_t agents) {
  uint64_t period_ns = (uint64_t)SQUARE_FRAME_NS * agents / SCALE_UPDATES_PER_FRAME;
  return period_ns < SQUARE_FRAME_NS ? SQUARE_FRAME_NS : period_ns;
}

/* Periods may give way, so that importance has an effect, but in a budget that holds everything none does. */
static bool register_type(struct square *square, uint64_t period_ns) {
  static const muster_atom atoms[] = {{square_live, MUSTER_ROLE_BEHAVIOUR, 100}};
  muster_type_def type = scaffold_type(NULL, SCAFFOLD_ATOMS(atoms), sizeof(creature), period_ns,
                                       period_ns > day_ns / 10 ? day_ns : period_ns * 10);
  return scaffold_register(square->world, &type, &square->type) == MUSTER_OK;
}

static bool add_walkers(struct square *square, uint32_t count) {
  const double step_m = walk_m_per_s * SQUARE_FRAME_NS * 1e-9;
  square->walkers = calloc(count + 1, sizeof *square->walkers);
  square->observers = calloc(count + 1, sizeof *square->observers);
  square->places = calloc(count + 1, sizeof *square->places);
  if (!square->walkers || !square->observers || !square->places) return false;
  for (; square->walker_count < count; square->walker_count++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = random_place(square);
    double heading_rad = random_share(square) * turn_rad;
    square->walkers[square->walker_count] =
        (square_walker){def.position, step_m * cos(heading_rad), step_m * sin(heading_rad),
                        (uint32_t)(square_random(square) % STEPS_OUT)};
    muster_observer observer = square->observers[square->walker_count] = muster_observer_add(square->world, &def);
    if (muster_observer_is_null(observer)) return false;
  }
  return true;
}

bool square_open(struct square *square, const square_def *def) {
  muster_pool_def pool = muster_pool_def_default();
  muster_world_def world = muster_world_def_default();
  *square = (struct square){.budget_ns = def->budget_ns, .random = 1};
  pool.workers = def->workers;
  square->pool = muster_pool_create(&pool);
  if (!square->pool) return false;
  work_threads_find(&square->threads);
  world.pool = square->pool;
  world.limits.agents_max = def->agents_max;
  world.limits.observers_max = def->observers ? def->observers : 1;
  world.limits.commands_max = COMMANDS + world.limits.observers_max;
  world.audit = def->audit;
  square->world = muster_world_create(&world);
  return square->world && register_type(square, def->period_ns) && add_walkers(square, def->observers);
}

void square_close(struct square *square) {
  muster_world_destroy(square->world);
  muster_pool_destroy(square->pool);
  free(square->walkers);
  free(square->observers);
  free(square->places);
  *square = (struct square){0};
}

creature square_creature(struct square *square) {
  return (creature){.x = (float)(random_share(square) * 200 - 100), .speed = 3.0f};
}

muster_agent square_spawn(struct square *square) {
  creature state = square_creature(square);
  muster_agent_def agent = scaffold_agent(square->type, random_place(square), &state);
  return muster_agent_spawn(square->world, &agent);
}

bool square_populate(struct square *square, uint32_t agents) {
  for (uint32_t i = 0; i < agents; i++)
    if (muster_agent_is_null(square_spawn(square))) return false;
  for (uint32_t i = 0; i < INTAKE_FRAMES_MAX && square->report.agents < agents; i++)
    if (!square_frame(square)) return false;
  return square->report.agents == agents;
}

bool square_frame(struct square *square) {
  square->now_ns += SQUARE_FRAME_NS;
  square->report = muster_frame_report_default();
  return muster_frame_run(square->world, &(muster_frame){square->now_ns, square->budget_ns}) == MUSTER_OK &&
         muster_frame_report_read(square->world, &square->report) == MUSTER_OK;
}

bool square_frames(struct square *square, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++)
    if (!square_frame(square)) return false;
  return true;
}

/* An observer walks straight ahead for STEPS_OUT steps and back again, which keeps it near the square. */
void square_walk(struct square *square) {
  square->walked_frames++;
  for (uint32_t i = 0; i < square->walker_count; i++) {
    const square_walker *walker = &square->walkers[i];
    uint64_t lap = (square->walked_frames + walker->steps_before) % (2 * STEPS_OUT);
    double steps = (double)(lap < STEPS_OUT ? lap : 2 * STEPS_OUT - lap) - walker->steps_before;
    square->places[i] =
        (muster_position){walker->begin.x + steps * walker->east_m, walker->begin.y + steps * walker->north_m, 0};
  }
  muster_observers_move(square->world, square->observers, square->places, square->walker_count);
}
