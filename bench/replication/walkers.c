#include "walkers.h"

#include <muster/random.h>

#include <math.h>
#include <stdlib.h>

enum { COMMANDS = 1 << 16, INTAKE_FRAMES_MOST = 100000 };

#define WALKERS_FRAME_NS  33333333u
#define WALKERS_BUDGET_NS 10000000000u

static muster_atom_result walk(muster_update *update) {
  muster_position to = update->position;
  double heading = muster_agent_index(update->agent) * 0.7, step_m = 1.4 * (double)update->elapsed_ns * 1e-9;
  uint64_t *published = update->published;
  to.x = fmod(to.x + step_m * cos(heading) + walkers_side_m, walkers_side_m);
  to.y = fmod(to.y + step_m * sin(heading) + walkers_side_m, walkers_side_m);
  published[0] = update->now_ns;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static uint64_t next_number(struct walkers *walkers) {
  return muster_random_mix(walkers->random += 0x9e3779b97f4a7c15u);
}

static muster_position any_place(struct walkers *walkers) {
  double x = (double)(next_number(walkers) >> 11) * 0x1p-53, y = (double)(next_number(walkers) >> 11) * 0x1p-53;
  return (muster_position){x * walkers_side_m, y * walkers_side_m, 0};
}

static muster_agent let_come(struct walkers *walkers) {
  muster_agent_def def = muster_agent_def_default();
  def.type = walkers->type;
  def.position = any_place(walkers);
  return muster_agent_spawn(walkers->world, &def);
}

static bool add_players(struct walkers *walkers, uint32_t players) {
  walkers->players = calloc(players + 1, sizeof *walkers->players);
  if (!walkers->players) return false;
  for (; walkers->player_count < players; walkers->player_count++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = walkers->players[walkers->player_count] = any_place(walkers);
    if (muster_observer_generation(muster_observer_add(walkers->world, &def)) == 0) return false;
  }
  return true;
}

static bool run_one(struct walkers *walkers) {
  walkers->now_ns += WALKERS_FRAME_NS;
  walkers->report = muster_frame_report_default();
  return muster_frame_run(walkers->world, &(muster_frame){walkers->now_ns, WALKERS_BUDGET_NS}) == MUSTER_OK &&
         muster_frame_report_read(walkers->world, &walkers->report) == MUSTER_OK;
}

static bool fill(struct walkers *walkers) {
  for (uint32_t i = 0; i < walkers->agents; i++)
    if (muster_agent_is_null(let_come(walkers))) return false;
  for (uint32_t i = 0; i < INTAKE_FRAMES_MOST && walkers->report.agents < walkers->agents; i++)
    if (!run_one(walkers)) return false;
  return walkers->report.agents == walkers->agents;
}

/* Periods do not give way: as many updates are due in each frame. */
bool walkers_open(struct walkers *walkers, muster_pool *pool, uint32_t agents, uint32_t players, uint64_t period_ns,
                  uint32_t changes_frames) {
  static const muster_atom atom = {walk, MUSTER_ROLE_BEHAVIOUR, 200};
  muster_world_def def = muster_world_def_default();
  *walkers = (struct walkers){.agents = agents, .agents_max = agents + 64 * WALKERS_COME, .random = 1};
  def.pool = pool;
  def.limits.agents_max = walkers->agents_max;
  def.limits.observers_max = players + 1;
  def.limits.commands_max = COMMANDS + players;
  def.limits.changes_frames = changes_frames;
  walkers->world = muster_world_create(&def);
  if (!walkers->world) return false;
  muster_type_def type = muster_type_def_default();
  type.atoms = &atom;
  type.atom_count = 1;
  type.published_bytes = 2 * sizeof(uint64_t);
  type.period_ns = type.period_max_ns = period_ns;
  type.elasticity = 0.0f;
  walkers->type = muster_type_register(walkers->world, &type);
  return walkers->type.index && add_players(walkers, players) && fill(walkers);
}

void walkers_close(struct walkers *walkers) {
  muster_world_destroy(walkers->world);
  free(walkers->players);
  *walkers = (struct walkers){0};
}

bool walkers_frame(struct walkers *walkers) {
  for (uint32_t i = 0; i < WALKERS_COME; i++) {
    walkers->came[i] = let_come(walkers);
    muster_agent any = muster_agent_make((uint32_t)(next_number(walkers) % walkers->agents), 1);
    any = muster_agent_next(walkers->world, any);
    if (!muster_agent_is_null(any)) muster_agent_remove(walkers->world, any);
  }
  return run_one(walkers);
}
