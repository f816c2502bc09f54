#include "mmo_planned.hpp"

#include <muster/bulk.h>

#include <chrono>
#include <stdexcept>

namespace mmo {

static void Must(bool holds) {
  if (!holds) throw std::runtime_error(muster_last_error());
}

static uint64_t ClockNs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// One world per map, since a map has one thread.
PlannedMap::PlannedMap(uint32_t player_count, Budget budget) : Map(player_count), budget(budget) {
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 1;
  def.clock.kind = budget.measured ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  world = muster_world_create(&def);
  Must(world);
  muster_type_def type_def = muster_type_def_default();
  type_def.name = "creature";
  type_def.period_ns = TICK_MS * 1000000ull; // each tick, as before, while there is time
  type_def.period_max_ns = 2000000000;       // the longest that a creature far from players may wait
  type_def.parts.part_ns = UPDATE_NS;
  type = muster_type_register(world, &type_def);
  Must(type.index);
  for (auto &player : players) {
    muster_observer_def eye = muster_observer_def_default();
    eye.position = {player.place.x, player.place.y, 0};
    eyes.push_back(muster_observer_add(world, &eye));
    Must(!muster_observer_is_null(eyes.back()));
  }
}

PlannedMap::~PlannedMap() {
  muster_world_destroy(world);
}

uint32_t PlannedMap::Add(Point home) {
  uint32_t slot = Map::Add(home);
  agents.resize(creatures.size());
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  def.position = {home.x, home.y, 0};
  def.user = reinterpret_cast<void *>(static_cast<uintptr_t>(slot));
  agents[slot] = muster_agent_spawn(world, &def);
  Must(!muster_agent_is_null(agents[slot]));
  return slot;
}

void PlannedMap::Remove(uint32_t slot) {
  Map::Remove(slot);
  Must(muster_agent_remove(world, agents[slot]) == MUSTER_OK);
}

void PlannedMap::MovePlayers() {
  std::vector<muster_position> places;
  for (auto &player : players) places.push_back({player.place.x, player.place.y, 0});
  muster_observers_move(world, eyes.data(), places.data(), static_cast<uint32_t>(places.size()));
}

// Which creatures run in this tick, by slot.
uint32_t PlannedMap::Plan() {
  muster_plan_summary plan = muster_plan_summary_default();
  muster_frame frame = {now_ms * 1000000, budget.tick_ns};
  entries.resize(creatures.size() + 1);
  Must(muster_plan(world, &frame, entries.data(), static_cast<uint32_t>(entries.size()), &plan) == MUSTER_OK);
  due.assign(creatures.size(), nullptr);
  for (uint32_t i = 0; i < plan.count; i++) due[entries[i].user] = &entries[i];
  return plan.count;
}

// A frame at the time of the start takes the creatures in; nothing is due yet.
void PlannedMap::Start() {
  Plan();
  Must(muster_plan_report(world, nullptr, 0) == MUSTER_OK);
}

// Was: for each creature, Update(diff).
void PlannedMap::UpdateCreatures(uint32_t) {
  MovePlayers();
  results.clear();
  results.reserve(Plan());
  spent_ns = 0;
  for (uint32_t slot = 0; slot < creatures.size(); slot++) {
    if (!creatures[slot] || !due[slot]) continue;
    uint64_t begin_ns = budget.measured ? ClockNs() : 0;
    creatures[slot]->Update(*this, players, static_cast<uint32_t>(due[slot]->elapsed_ns / 1000000));
    muster_plan_result result = {};
    result.agent = due[slot]->agent;
    result.cost_ns = budget.measured ? ClockNs() - begin_ns : due[slot]->slice_ns;
    result.position = {creatures[slot]->place.x, creatures[slot]->place.y, 0};
    result.moved = 1;
    result.outcome = MUSTER_PLAN_FINISHED;
    results.push_back(result);
    spent_ns += result.cost_ns;
  }
  Must(muster_plan_report(world, results.data(), static_cast<uint32_t>(results.size())) == MUSTER_OK);
}

} // namespace mmo
