/* template_module.c - a behaviour module to copy and change: walkers on a square. No other file is needed.
 *
 *     cc -shared -fPIC template_module.c -o walkers.so        (with -I DIR where <muster/module.h> is not installed)
 *     muster run ./walkers.so --agents 10000 --set speed=2
 *     musterd --modules . --world main=walkers --set speed=2  (only you may write the folder and the file)
 *     curl --unix-socket SOCKET -H 'Content-Type: text/plain' -d 10 http://localhost/v1/worlds/main/module/add
 *
 * All that must outlive the process is in the walkers' states: so the host saves and resumes the world by itself. */
#include <muster/module.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walker {
  float speed_x, speed_y; /* m/s, at a speed of 1 */
} walker;

/* One instance: what open() and register_types() make of the settings. */
typedef struct walkers {
  char name[64]; /* of the type */
  uint32_t agents, columns;
  double speed, added; /* added: since the start of the process */
  muster_type type;
} walkers;

static const muster_module_setting settings[] = {
    {"speed", MUSTER_MODULE_REAL, 0, 20, "1", "how fast they walk, as a factor"},
    {"columns", MUSTER_MODULE_INTEGER, 1, 10000, "100", "how many begin side by side"},
    {0},
};
static const muster_module_command commands[] = {{"add", "spawns as many walkers as the body says"}, {0}};
static const muster_module_metric metrics[] = {
    {"walkers_added_total", MUSTER_MODULE_COUNTER, "Walkers added by command."}, {0}};

/* One update: everything that was missed since the last one is in elapsed_ns. */
static muster_atom_result walk(muster_update *update) {
  const walkers *self = update->type_user;
  const walker *own = update->state;
  double metres = self->speed * (double)update->elapsed_ns * 1e-9;
  muster_position place = update->position;
  place.x += own->speed_x * metres;
  place.y += own->speed_y * metres;
  muster_update_move(update, place);
  return MUSTER_ATOM_NEXT;
}

static muster_result open_walkers(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  walkers *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "walkers: no memory");
  snprintf(self->name, sizeof self->name, "%s%swalker", muster_module_instance(options),
           *muster_module_instance(options) ? " " : "");
  self->speed = muster_module_number(options, "speed", 1);
  self->columns = (uint32_t)muster_module_number(options, "columns", 100);
  self->agents = needs->agents = options->agents ? options->agents : 1000;
  needs->agents_max = 2 * self->agents;
  *instance = self;
  return MUSTER_OK;
}

static muster_result register_types(void *instance, muster_world *world) {
  walkers *self = instance;
  muster_atom atom = {.run = walk, .model_ns = 200};
  muster_type_def type = muster_type_def_default();
  type.name = self->name;
  type.atoms = &atom;
  type.atom_count = 1;
  type.state_bytes = sizeof(walker);
  type.user = self;
  self->type = muster_type_register(world, &type);
  return self->type.index ? MUSTER_OK : MUSTER_E_FULL;
}

static muster_result spawn(const walkers *self, muster_world *world, uint32_t count) {
  muster_agent_def agent = muster_agent_def_default();
  agent.type = self->type;
  for (uint32_t i = 0; i < count; i++) {
    walker state = {(float)(i % 7) - 3.0f, (float)(i % 5) - 2.0f};
    agent.state = &state;
    agent.position = (muster_position){i % self->columns, i / self->columns, 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &agent))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result populate(void *instance, muster_world *world) {
  const walkers *self = instance;
  return spawn(self, world, self->agents);
}

/* There is one command. Numbers of the body come from outside: they are checked. */
static muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                             muster_module_answer answer, void *answer_user) {
  walkers *self = instance;
  char text[64];
  unsigned long count = strtoul(call->body, NULL, 10);
  if (count < 1 || count > 1000)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: say how many to add, from 1 to 1000", call->command);
  muster_result result = spawn(self, world, (uint32_t)count);
  if (result) return result;
  self->added += (double)count;
  snprintf(text, sizeof text, "{\"added\": %lu}", count);
  answer(200, true, text, strlen(text), answer_user);
  return MUSTER_OK;
}

static void read_metrics(void *instance, const muster_world *world, double *values) {
  (void)world;
  values[0] = ((const walkers *)instance)->added;
}

static const muster_module module = {.size = sizeof module,
                                     .abi = MUSTER_MODULE_ABI,
                                     .name = "walkers",
                                     .summary = "walkers on a square",
                                     .open = open_walkers,
                                     .populate = populate,
                                     .close = free,
                                     .register_types = register_types,
                                     .shares_world = true,
                                     .settings = settings,
                                     .commands = commands,
                                     .command = command,
                                     .metrics = metrics,
                                     .read_metrics = read_metrics};

const muster_module *muster_module_get(void) {
  return &module;
}
