/* Fuzzes the bodies of control requests: the first byte chooses the reader. Whatever a body says, its reader fills the
 * struct with values of the documented ranges or tells a problem with a status, a code and a sentence. */
#include "service/api_bodies.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void expect(bool holds) {
  if (!holds) abort();
}

static bool is_share(float value) {
  return value >= 0.0f && value <= 1.0f;
}

static bool is_place(muster_position place) {
  return place.x >= -1e9 && place.x <= 1e9 && place.y >= -1e9 && place.y <= 1e9 && place.z >= -1e9 && place.z <= 1e9;
}

static void check_change(const world_change *change) {
  expect(change->budget_ns == 0 || (change->budget_ns >= 10000 && change->budget_ns <= 10000000000u));
  expect(change->rate == 0 || (change->rate >= 100 && change->rate <= 10000000u));
  expect(!(change->tuning.priority.wait > 1.0f) && change->tuning.levels.cycles_max <= MUSTER_CYCLES_MAX);
}

static void check_spawns(spawn_order *order) {
  expect(order->count >= 1 && order->count <= SPAWNS_MAX && order->name_count >= 1);
  for (uint32_t i = 0; i < order->count; i++) {
    const spawn_one *one = &order->agents[i];
    expect(one->name < order->name_count && *order->names[one->name]);
    expect(is_place(one->def.position) && is_share(one->def.importance_floor) && is_share(one->def.bulk));
    expect(one->def.partition <= 65535 && !one->def.state && !one->def.user);
  }
  spawn_order_release(order);
}

static void check_problem(const api_problem *problem) {
  expect(problem->status >= 400 && problem->status < 500);
  expect(*problem->code && *problem->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  static bool (*const readers[])(const void *body, size_t bytes, void *out, api_problem *problem) = {
      world_change_read, spawn_order_read, agent_tuning_read, position_read,   observer_read,
      wake_order_read,   step_read,        priority_read,     module_name_read};
  static union {
    world_change change;
    spawn_order spawns;
    muster_agent_tuning tuning;
    muster_position place;
    muster_observer_def observer;
    wake_order wake;
    uint32_t number;
    char name[32];
  } out;
  api_problem problem = {0};
  if (bytes == 0) return 0;
  uint32_t which = data[0] % (sizeof readers / sizeof *readers);
  memset(&out, 0xa5, sizeof out);
  if (!readers[which](data + 1, bytes - 1, &out, &problem)) {
    check_problem(&problem);
    return 0;
  }
  if (which == 0) check_change(&out.change);
  if (which == 1) check_spawns(&out.spawns);
  if (which == 2) expect(out.tuning.elasticity <= 1024.0f && out.tuning.bulk <= 1.0f);
  if (which == 3) expect(is_place(out.place));
  if (which == 4) expect(out.observer.far_m > out.observer.near_m && is_place(out.observer.position));
  if (which == 5) expect(!out.wake.has_time || out.wake.at_ns < UINT64_MAX / 2);
  if (which == 6) expect(out.number >= 1 && out.number <= 1000000);
  if (which == 7) expect(out.number <= 100);
  if (which == 8) expect(strnlen(out.name, sizeof out.name) < sizeof out.name);
  return 0;
}
