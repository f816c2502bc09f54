/* strollers.c - a module of animals that walk straight on, over a square and the four strips beside it, or over a
 * rectangle, and turn back where the ground ends. So they stay spread evenly, and as many cross each border one way as
 * the other. Each looks about for those nearest to it, ghosts among them. */
#include <math.h>
#include <muster/module.h>
#include <muster/random.h>
#include <muster/zone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 8, BYTES_MAX = 4096 };

typedef struct stroller {
  float speed_x, speed_y, crowd; /* crowd: mean distance of the nearest, in metres */
} stroller;

typedef struct strollers {
  double square, strip, speed, sight;
  double x0, y0, x1, y1; /* the rectangle; empty = the square and its strips */
  uint32_t bytes;        /* of the state, which is published */
  uint64_t seed;
  uint32_t agents;
  muster_type type;
} strollers;

static const muster_module_setting settings[] = {
    {"square", MUSTER_MODULE_REAL, 1, 1e6, "100", "edge of the square from 0 0 on, in metres"},
    {"strip", MUSTER_MODULE_REAL, 0, 1e6, "0", "how wide the strips beside it are, in metres"},
    {"speed", MUSTER_MODULE_REAL, 0, 1000, "2", "how fast they walk, in m/s"},
    {"ground", MUSTER_MODULE_TEXT, 0, 100, "", "a rectangle instead: X0 Y0 X1 Y1, in metres"},
    {"bytes", MUSTER_MODULE_INTEGER, sizeof(stroller), BYTES_MAX, "12", "of the state of each, which is published"},
    {"sight", MUSTER_MODULE_REAL, 0, 1000, "15", "how far they see, in metres"},
    {0},
};

static bool is_ground(const strollers *self, double x, double y) {
  if (self->x0 < self->x1) return x >= self->x0 && x < self->x1 && y >= self->y0 && y < self->y1;
  bool inside_x = x >= 0 && x < self->square, inside_y = y >= 0 && y < self->square;
  double beyond_x = inside_x ? 0 : fmax(-x, x - self->square), beyond_y = inside_y ? 0 : fmax(-y, y - self->square);
  return (inside_x || inside_y) && beyond_x <= self->strip && beyond_y <= self->strip;
}

static muster_atom_result stroll(muster_update *update) {
  const strollers *self = update->type_user;
  stroller *own = update->state;
  muster_neighbour nearest[NEAREST];
  double elapsed_s = (double)update->elapsed_ns * 1e-9;
  muster_position place = update->position;
  uint32_t count = muster_update_nearby(update, (float)self->sight, self->type, nearest, NEAREST);
  own->crowd = 0;
  for (uint32_t i = 0; i < count; i++) own->crowd += nearest[i].distance_m / (float)count;
  if (is_ground(self, place.x + (double)own->speed_x * elapsed_s, place.y))
    place.x += (double)own->speed_x * elapsed_s;
  else
    own->speed_x = -own->speed_x;
  if (is_ground(self, place.x, place.y + (double)own->speed_y * elapsed_s))
    place.y += (double)own->speed_y * elapsed_s;
  else
    own->speed_y = -own->speed_y;
  muster_update_move(update, place);
  memcpy(update->published, own, self->bytes);
  return MUSTER_ATOM_NEXT;
}

static muster_result open_strollers(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  strollers *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "strollers: no memory");
  const char *ground = muster_module_text(options, "ground", "");
  if (*ground && sscanf(ground, "%lf %lf %lf %lf", &self->x0, &self->y0, &self->x1, &self->y1) != 4) {
    free(self);
    return muster_module_fail(MUSTER_E_ARGUMENT, "strollers: ground is four numbers");
  }
  self->bytes = (uint32_t)muster_module_number(options, "bytes", sizeof(stroller));
  self->square = muster_module_number(options, "square", 100);
  self->strip = muster_module_number(options, "strip", 0);
  self->speed = muster_module_number(options, "speed", 2);
  self->sight = muster_module_number(options, "sight", 15);
  self->seed = options->seed;
  self->agents = needs->agents = options->agents;
  needs->agents_max = 2 * self->agents + 16384; /* with ghosts */
  *instance = self;
  return MUSTER_OK;
}

static muster_result register_types(void *instance, muster_world *world) {
  static const muster_atom atom = {.run = stroll, .model_ns = 1000};
  strollers *self = instance;
  muster_type_def type = muster_type_def_default();
  type.name = "stroller";
  type.atoms = &atom;
  type.atom_count = 1;
  type.state_bytes = type.published_bytes = self->bytes;
  type.period_ns = 33000000;
  type.user = self;
  self->type = muster_type_register(world, &type);
  return self->type.index ? MUSTER_OK : MUSTER_E_FULL;
}

static double part_of(uint64_t number, uint64_t n) {
  return (double)(muster_random_mix(muster_random_mix(number) + n) >> 11) * 0x1p-53;
}

static muster_result populate(void *instance, muster_world *world) {
  const strollers *self = instance;
  muster_zone_def zone = {0};
  muster_agent_def agent = muster_agent_def_default();
  if (muster_zone_read(world, &zone) != MUSTER_OK) zone.x_max = zone.y_max = self->square;
  agent.type = self->type;
  for (uint32_t i = 0; i < self->agents; i++) {
    uint64_t number = self->seed << 40 | (uint64_t)zone.number << 32 | i;
    double angle = part_of(number, 0) * 6.283185307179586;
    const stroller own = {.speed_x = (float)(self->speed * cos(angle)), .speed_y = (float)(self->speed * sin(angle))};
    char state[BYTES_MAX] = {0};
    memcpy(state, &own, sizeof own);
    agent.state = state;
    agent.position = (muster_position){zone.x_min + part_of(number, 1) * (zone.x_max - zone.x_min),
                                       zone.y_min + part_of(number, 2) * (zone.y_max - zone.y_min), 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &agent))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  static const muster_module module = {.size = sizeof module,
                                       .abi = MUSTER_MODULE_ABI,
                                       .name = "strollers",
                                       .summary = "animals that walk evenly over a square and strips, for tests",
                                       .open = open_strollers,
                                       .register_types = register_types,
                                       .populate = populate,
                                       .settings = settings,
                                       .close = free};
  return &module;
}
