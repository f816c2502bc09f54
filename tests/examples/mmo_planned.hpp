// Muster under the loop of mmo_loop.hpp, first step: it decides which creatures run in a tick. All code of the game
// stays on the thread of its map, and Creature::Update(diff) stays what it is.
#ifndef EXAMPLES_MMO_PLANNED_HPP
#define EXAMPLES_MMO_PLANNED_HPP

#include "mmo_loop.hpp"

#include <muster/planner.h>

namespace mmo {

// A budget for creatures in each tick; `measured` takes their costs by a clock. Without it each update is taken to cost
// UPDATE_NS, and two runs are the same.
struct Budget {
  uint64_t tick_ns;
  bool measured;
};

constexpr uint32_t UPDATE_NS = 10000;

class PlannedMap : public Map {
public:
  PlannedMap(uint32_t player_count, Budget budget);
  ~PlannedMap() override;
  PlannedMap(const PlannedMap &) = delete;
  PlannedMap &operator=(const PlannedMap &) = delete;

  uint32_t Add(Point home) override;
  void Remove(uint32_t slot) override;
  void Start() override;

  uint64_t spent_ns = 0; // by the creatures of the last tick

protected:
  void UpdateCreatures(uint32_t diff) override;

private:
  void MovePlayers();
  uint32_t Plan();

  Budget budget;
  muster_world *world = nullptr;
  muster_type type{};
  std::vector<muster_agent> agents;  // by slot
  std::vector<muster_observer> eyes; // by player
  std::vector<muster_plan_entry> entries;
  std::vector<muster_plan_result> results;
  std::vector<const muster_plan_entry *> due; // by slot; null = not in this tick
};

} // namespace mmo

#endif
