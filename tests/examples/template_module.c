/* template_module.c - a behaviour module to copy and change: walkers on a square. No other file is needed.
 *
 *     cc -shared -fPIC template_module.c -o walkers.so        (with -I DIR where <muster/module.h> is not installed)
 *     musterd --modules . --world main=walkers                (only you may write the folder and the file) */
#include <muster/module.h>
#include <stdlib.h>

typedef struct walker {
  float speed_x, speed_y; /* m/s */
} walker;

/* One update: everything that was missed since the last one is in elapsed_ns. */
static muster_atom_result walk(muster_update *update) {
  const walker *own = update->state;
  double seconds = (double)update->elapsed_ns * 1e-9;
  muster_position place = update->position;
  place.x += own->speed_x * seconds;
  place.y += own->speed_y * seconds;
  muster_update_move(update, place);
  return MUSTER_ATOM_NEXT;
}

static muster_result open_walkers(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  uint32_t *agents = malloc(sizeof *agents);
  if (!agents) return muster_module_fail(MUSTER_E_MEMORY, "walkers: no memory");
  *agents = needs->agents = needs->agents_max = options->agents ? options->agents : 1000;
  *instance = agents;
  return MUSTER_OK;
}

static muster_result populate(void *instance, muster_world *world) {
  muster_atom atom = {.run = walk, .model_ns = 200};
  muster_type_def type = muster_type_def_default();
  muster_agent_def agent = muster_agent_def_default();
  type.name = "walker";
  type.atoms = &atom;
  type.atom_count = 1;
  type.state_bytes = sizeof(walker);
  agent.type = muster_type_register(world, &type);
  for (uint32_t i = 0; i < *(uint32_t *)instance; i++) {
    walker state = {(float)(i % 7) - 3.0f, (float)(i % 5) - 2.0f};
    agent.state = &state;
    agent.position = (muster_position){i % 100, i / 100, 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &agent))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static const muster_module module = {.size = sizeof module,
                                     .abi = MUSTER_MODULE_ABI,
                                     .name = "walkers",
                                     .summary = "walkers on a square",
                                     .open = open_walkers,
                                     .populate = populate,
                                     .close = free};

const muster_module *muster_module_get(void) {
  return &module;
}
