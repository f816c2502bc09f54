#include "service/api_bodies.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Parses a body and reads its members. */
static bool read_object(const void *body, size_t bytes, const api_field *fields, uint32_t count, void *out,
                        uint32_t *given, api_problem *problem) {
  json_t *json = api_parse(body, bytes, problem);
  if (!json) return false;
  bool read = api_read(json, "", fields, count, out, given, problem);
  json_decref(json);
  return read;
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

/* The members of the body as written. Members not given are zero, or what muster_default_world_tuning() sets. */
typedef struct world_fields {
  uint64_t budget_ns;
  float hz;
  bool paused;
  uint32_t workers;
  char policy[24];
  muster_world_tuning tuning;
} world_fields;

#define WORLD(field) offsetof(world_fields, field)
#define SHARE(name)                                                                                                    \
  { #name, API_FLOAT, WORLD(tuning.name), 0, 1, false }

enum { WORLD_BUDGET = 0, WORLD_HZ, WORLD_PAUSED, WORLD_WORKERS, WORLD_POLICY, WORLD_TUNING };

static const api_field world_fields_known[] = {
    {"budget_ns", API_TIME, WORLD(budget_ns), 10000, 1e10, false},
    {"hz", API_FLOAT, WORLD(hz), 0.1, 10000, false},
    {"paused", API_SWITCH, WORLD(paused), 0, 0, false},
    {"workers", API_COUNT, WORLD(workers), 0, 1024, false},
    {"policy", API_TEXT, WORLD(policy), 1, 23, false},
    SHARE(weight_importance),
    SHARE(weight_wait),
    SHARE(weight_runs),
    SHARE(weight_progress),
    SHARE(weight_reduction),
    {"guarantee_ns", API_TIME, WORLD(tuning.guarantee_ns), 1e6, 3.6e12, false},
    {"updates_per_frame", API_COUNT, WORLD(tuning.updates_per_frame), 0, 4294967293.0, false},
    SHARE(focus),
    SHARE(designer),
    SHARE(role),
    SHARE(company),
    {"level_pressure", API_FLOAT, WORLD(tuning.level_pressure), 0, 1, false},
    {"cycles_max", API_COUNT, WORLD(tuning.cycles_max), 1, MUSTER_CYCLES_MAX, false},
    SHARE(cycles_importance),
    {"importance_octaves", API_FLOAT, WORLD(tuning.importance_octaves), 0, 16, false},
    {"wish_part", API_FLOAT, WORLD(tuning.wish_part), 0.1, 0.9, false},
};

static bool set_policy(const char *name, muster_world_tuning *tuning, api_problem *problem) {
  static const char *const names[] = {"balanced", "fair", "importance_first", "least_slack"};
  for (uint32_t i = 0; i < COUNT_OF(names); i++) {
    if (strcmp(names[i], name) != 0) continue;
    muster_world_tuning_policy(tuning, (muster_policy)i);
    return true;
  }
  return api_complain(problem, 400, "out_of_range", "policy",
                      "policy must be balanced, fair, importance_first or least_slack");
}

bool world_change_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  world_change *change = out;
  world_fields fields = {.tuning = muster_default_world_tuning()};
  uint32_t given;
  if (!read_object(body, bytes, world_fields_known, COUNT_OF(world_fields_known), &fields, &given, problem))
    return false;
  if (!given) return api_complain(problem, 400, "missing", NULL, "say what to change");
  muster_world_tuning weights = fields.tuning;
  if (given & 1u << WORLD_POLICY) {
    if (given >> WORLD_TUNING & 31u)
      return api_complain(problem, 400, "conflict", "policy", "a policy sets all weights: give one or the other");
    if (!set_policy(fields.policy, &weights, problem)) return false;
  }
  *change = (world_change){.budget_ns = fields.budget_ns,
                           .rate = (uint64_t)llround((double)fields.hz * 1000),
                           .has_paused = given >> WORLD_PAUSED & 1u,
                           .paused = fields.paused,
                           .has_workers = given >> WORLD_WORKERS & 1u,
                           .workers = fields.workers,
                           .tunes = given >> WORLD_POLICY != 0,
                           .tuning = weights};
  return true;
}

bool step_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {{"frames", API_COUNT, 0, 1, 1000000, true}};
  return read_object(body, bytes, fields, COUNT_OF(fields), out, NULL, problem);
}

bool priority_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {{"priority", API_COUNT, 0, 0, 100, true}};
  return read_object(body, bytes, fields, COUNT_OF(fields), out, NULL, problem);
}

bool module_name_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {{"module", API_TEXT, 0, 1, 31, true}};
  return read_object(body, bytes, fields, COUNT_OF(fields), out, NULL, problem);
}

/* ----------------------------------------------------------------------------------------------------------- agents */

#define AGENT(field) offsetof(spawn_fields, def.field)

typedef struct spawn_fields {
  char type[TYPE_NAME_BYTES];
  muster_agent_def def;
} spawn_fields;

static const api_field spawn_fields_known[] = {
    {"type", API_TEXT, offsetof(spawn_fields, type), 1, TYPE_NAME_BYTES - 1, true},
    {"position", API_POSITION, AGENT(position), 0, 0, true},
    {"partition", API_COUNT, AGENT(partition), 0, 65535, false},
    {"importance_floor", API_FLOAT, AGENT(importance_floor), 0, 1, false},
    {"elasticity", API_FLOAT, AGENT(elasticity), 0, 1024, false},
    {"visibility", API_FLOAT, AGENT(visibility), 0, 1, false},
    {"bulk", API_FLOAT, AGENT(bulk), 0, 1, false},
    {"interactivity", API_FLOAT, AGENT(interactivity), 0, 1, false},
    {"designer", API_FLOAT, AGENT(designer), 0, 1, false},
    {"role", API_FLOAT, AGENT(role), 0, 1, false},
};

/* The index of a type's name in the order; SPAWN_TYPES_MAX when there are too many. */
static uint32_t api_bodies_number_of(spawn_order *order, const char *name) {
  for (uint32_t i = 0; i < order->name_count; i++)
    if (strcmp(order->names[i], name) == 0) return i;
  if (order->name_count == SPAWN_TYPES_MAX) return SPAWN_TYPES_MAX;
  memcpy(order->names[order->name_count], name, strlen(name) + 1);
  return order->name_count++;
}

static bool read_spawn(const json_t *json, uint32_t number, spawn_order *order, api_problem *problem) {
  char path[32];
  spawn_fields fields = {.def = muster_default_agent_def()};
  snprintf(path, sizeof path, "[%u].", number);
  if (!api_read(json, path, spawn_fields_known, COUNT_OF(spawn_fields_known), &fields, NULL, problem)) return false;
  spawn_one *one = &order->agents[number];
  one->name = api_bodies_number_of(order, fields.type);
  one->def = fields.def;
  if (one->name < SPAWN_TYPES_MAX) return true;
  return api_complain(problem, 400, "out_of_range", "type", "more than %d types in one request", SPAWN_TYPES_MAX);
}

static bool read_spawns(const json_t *json, spawn_order *order, api_problem *problem) {
  size_t count = json_array_size(json);
  if (!json_is_array(json) || count < 1 || count > SPAWNS_MAX)
    return api_complain(problem, 400, json_is_array(json) ? "out_of_range" : "wrong_type", NULL,
                        "the body must be an array of 1 .. %d agents", SPAWNS_MAX);
  order->agents = calloc(count, sizeof *order->agents);
  if (!order->agents) return api_complain(problem, 429, "busy", NULL, "no memory for so many agents now");
  for (; order->count < count; order->count++)
    if (!read_spawn(json_array_get(json, order->count), order->count, order, problem)) return false;
  return true;
}

bool spawn_order_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  spawn_order *order = out;
  json_t *json = api_parse(body, bytes, problem);
  if (!json) return false;
  *order = (spawn_order){0};
  bool read = read_spawns(json, order, problem);
  json_decref(json);
  if (!read) spawn_order_release(order);
  return read;
}

void spawn_order_release(void *given) {
  spawn_order *order = given;
  free(order->agents);
  order->agents = NULL;
}

#define TUNING(field) offsetof(muster_agent_tuning, field)

bool agent_tuning_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {
      {"importance_floor", API_FLOAT, TUNING(importance_floor), 0, 1, false},
      {"elasticity", API_FLOAT, TUNING(elasticity), 0, 1024, false},
      {"derive_elasticity", API_SWITCH, TUNING(derive_elasticity), 0, 0, false},
      {"visibility", API_FLOAT, TUNING(visibility), 0, 1, false},
      {"bulk", API_FLOAT, TUNING(bulk), 0, 1, false},
      {"interactivity", API_FLOAT, TUNING(interactivity), 0, 1, false},
      {"designer", API_FLOAT, TUNING(designer), 0, 1, false},
      {"role", API_FLOAT, TUNING(role), 0, 1, false},
  };
  enum { ELASTICITY = 1 << 1 };
  uint32_t given;
  muster_agent_tuning tuning = muster_default_agent_tuning();
  if (!read_object(body, bytes, fields, COUNT_OF(fields), &tuning, &given, problem)) return false;
  if (!given) return api_complain(problem, 400, "missing", NULL, "say what to change");
  if (tuning.derive_elasticity && given & ELASTICITY)
    return api_complain(problem, 400, "conflict", "elasticity", "it is set or derived: give one or the other");
  memcpy(out, &tuning, sizeof tuning);
  return true;
}

bool position_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {{"position", API_POSITION, 0, 0, 0, true}};
  return read_object(body, bytes, fields, COUNT_OF(fields), out, NULL, problem);
}

bool wake_order_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {{"at_ns", API_TIME, offsetof(wake_order, at_ns), 0, 4.6e18, true}};
  wake_order *order = out;
  *order = (wake_order){0};
  if (bytes == 0) return true;
  order->has_time = true;
  return read_object(body, bytes, fields, COUNT_OF(fields), order, NULL, problem);
}

/* -------------------------------------------------------------------------------------------------------- observers */

#define OBSERVER(field) offsetof(muster_observer_def, field)

bool observer_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const api_field fields[] = {
      {"position", API_POSITION, OBSERVER(position), 0, 0, true},
      {"partition", API_COUNT, OBSERVER(partition), 0, 65535, false},
      {"near_m", API_FLOAT, OBSERVER(near_m), 0, 1e9, false},
      {"far_m", API_FLOAT, OBSERVER(far_m), 0, 1e9, false},
  };
  muster_observer_def def = muster_default_observer_def();
  if (!read_object(body, bytes, fields, COUNT_OF(fields), &def, NULL, problem)) return false;
  if (!(def.far_m > def.near_m))
    return api_complain(problem, 400, "out_of_range", "far_m", "far_m must be greater than near_m");
  memcpy(out, &def, sizeof def);
  return true;
}
