#include "service/api_bodies.h"

#include <muster/sets.h>
#include <muster/tune.h>

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Parses a body and reads its members. */
static bool read_object(const void *body, size_t bytes, const field_row *fields, void *out, uint32_t *given,
                        api_problem *problem) {
  json_t *json = api_parse(body, bytes, problem);
  if (!json) return false;
  bool read = api_read(json, "", fields, out, given, problem);
  json_decref(json);
  return read;
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

#define WORLD(field) offsetof(world_change, field), 0

enum { WORLD_BUDGET = 0, WORLD_HZ, WORLD_PAUSED, WORLD_WORKERS, WORLD_POLICY };

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
  world_change change = {.tuning = muster_world_tuning_default()};
  field_row rows[API_FIELDS] = {
      {"budget_ns", NULL, WORLD(budget_ns), FIELD_TIME, BUDGET_LEAST_NS, BUDGET_MOST_NS, 0},
      {"hz", NULL, WORLD(hz), FIELD_FLOAT, RATE_LEAST / 1e3, RATE_MOST / 1e3, 0},
      {"paused", NULL, WORLD(paused), FIELD_SWITCH, 0, 1, 0},
      {"workers", NULL, WORLD(workers), FIELD_COUNT, 0, 1024, 0},
      {"policy", NULL, WORLD(policy), FIELD_TEXT, 1, sizeof change.policy - 1, 0},
  };
  uint32_t given, weights_given = 0;
  api_append(rows, fields_world, true, offsetof(world_change, tuning));
  if (!read_object(body, bytes, rows, &change, &given, problem)) return false;
  for (uint32_t i = 0; rows[i].name; i++) weights_given |= rows[i].uses & FIELD_WEIGHT ? given & 1u << i : 0;
  if (!given) return api_complain(problem, 400, "missing", NULL, "say what to change");
  if (given & 1u << WORLD_POLICY) {
    if (weights_given)
      return api_complain(problem, 400, "conflict", "policy", "a policy sets all weights: give one or the other");
    if (!set_policy(change.policy, &change.tuning, problem)) return false;
  }
  change.rate = (uint64_t)llround((double)change.hz * 1000);
  change.has_paused = given >> WORLD_PAUSED & 1u;
  change.has_workers = given >> WORLD_WORKERS & 1u;
  change.tunes = given >> WORLD_POLICY != 0;
  memcpy(out, &change, sizeof change);
  return true;
}

bool step_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"frames", NULL, 0, 0, FIELD_COUNT, 1, 1000000, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

bool priority_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"priority", NULL, 0, 0, FIELD_COUNT, 0, MUSTER_SHARE_MAX, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

/* The library says which do not go together. */
bool periods_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  const double least_ns = 1e5, day_ns = 86400e9;
  const field_row fields[] = {
      {"period_ns", NULL, offsetof(periods_order, period_ns), 0, FIELD_TIME, least_ns, day_ns,
       FIELD_REQUIRED | FIELD_OR_ZERO},
      {"period_max_ns", NULL, offsetof(periods_order, period_max_ns), 0, FIELD_TIME, least_ns, day_ns, FIELD_OR_ZERO},
      {0}};
  periods_order *order = out;
  *order = (periods_order){0};
  return read_object(body, bytes, fields, order, NULL, problem);
}

bool node_name_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"node", NULL, 0, 0, FIELD_TEXT, 1, 31, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

bool drain_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"drain", NULL, 0, 0, FIELD_SWITCH, 0, 1, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

bool module_name_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"module", NULL, 0, 0, FIELD_TEXT, 1, 31, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

/* ----------------------------------------------------------------------------------------------------------- agents */

typedef struct spawn_fields {
  char type[TYPE_NAME_BYTES];
  muster_agent_def def;
} spawn_fields;

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
  spawn_fields fields = {.def = muster_agent_def_default()};
  field_row rows[API_FIELDS] = {
      {"type", NULL, offsetof(spawn_fields, type), 0, FIELD_TEXT, 1, TYPE_NAME_BYTES - 1, FIELD_REQUIRED},
      {"position", NULL, offsetof(spawn_fields, def.position), 0, FIELD_POSITION, 0, 0, FIELD_REQUIRED},
  };
  api_append(rows, fields_agent, false, offsetof(spawn_fields, def));
  snprintf(path, sizeof path, "[%u].", number);
  if (!api_read(json, path, rows, &fields, NULL, problem)) return false;
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

bool agent_tuning_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  field_row fields[API_FIELDS] = {
      {"derive_elasticity", NULL, offsetof(muster_agent_tuning, derive_elasticity), 0, FIELD_SWITCH, 0, 1, 0}};
  uint32_t given;
  muster_agent_tuning tuning = muster_agent_tuning_default();
  api_append(fields, fields_agent, true, 0);
  if (!read_object(body, bytes, fields, &tuning, &given, problem)) return false;
  if (!given) return api_complain(problem, 400, "missing", NULL, "say what to change");
  if (tuning.derive_elasticity && tuning.elasticity >= 0)
    return api_complain(problem, 400, "conflict", "elasticity", "it is set or derived: give one or the other");
  memcpy(out, &tuning, sizeof tuning);
  return true;
}

bool position_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {{"position", NULL, 0, 0, FIELD_POSITION, 0, 0, FIELD_REQUIRED}, {0}};
  return read_object(body, bytes, fields, out, NULL, problem);
}

bool wake_order_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {
      {"at_ns", NULL, offsetof(wake_order, at_ns), 0, FIELD_TIME, 0, 4.6e18, FIELD_REQUIRED}, {0}};
  wake_order *order = out;
  *order = (wake_order){0};
  if (bytes == 0) return true;
  order->has_time = true;
  return read_object(body, bytes, fields, order, NULL, problem);
}

/* -------------------------------------------------------------------------------------------------------- observers */

#define OBSERVER(field) offsetof(muster_observer_def, field)

bool observer_read(const void *body, size_t bytes, void *out, api_problem *problem) {
  static const field_row fields[] = {
      {"position", NULL, OBSERVER(position), 0, FIELD_POSITION, 0, 0, FIELD_REQUIRED},
      {"partition", NULL, OBSERVER(partition), 0, FIELD_COUNT, 0, PARTITION_MOST, 0},
      {"near_m", NULL, OBSERVER(near_m), 0, FIELD_FLOAT, 0, 1e9, 0},
      {"far_m", NULL, OBSERVER(far_m), 0, FIELD_FLOAT, 0, 1e9, 0},
      {0},
  };
  muster_observer_def def = muster_observer_def_default();
  if (!read_object(body, bytes, fields, &def, NULL, problem)) return false;
  if (!(def.far_m > def.near_m))
    return api_complain(problem, 400, "out_of_range", "far_m", "far_m must be greater than near_m");
  memcpy(out, &def, sizeof def);
  return true;
}
