// Muster under the loop of mmo_loop.hpp, last step: creatures decide in parallel on the workers of a pool, and act one
// at a time at the end of the tick.
#ifndef EXAMPLES_MMO_ATOMS_HPP
#define EXAMPLES_MMO_ATOMS_HPP

#include "mmo_loop.hpp"
#include "mmo_planned.hpp"

#include <muster/muster.h>

namespace mmo {

class AtomMap : public Map {
public:
  AtomMap(uint32_t player_count, Budget budget, uint32_t workers);
  ~AtomMap() override;
  AtomMap(const AtomMap &) = delete;
  AtomMap &operator=(const AtomMap &) = delete;

  uint32_t Add(Point home) override;
  void Remove(uint32_t slot) override;
  void Start() override;
  uint64_t SpentNs() const; // by the creatures of the last tick

protected:
  void UpdateCreatures(uint32_t diff) override;

private:
  static muster_atom_result Decide(muster_update *update);
  static muster_atom_result Act(muster_update *update);
  static void Removed(muster_update *update);
  void RunFrame();

  Budget budget;
  muster_pool *pool = nullptr;
  muster_world *world = nullptr;
  muster_type type{};
  std::vector<muster_agent> agents;               // by slot
  std::vector<muster_observer> eyes;              // by player
  std::vector<std::unique_ptr<Creature>> removed; // until their agents are gone, too
};

} // namespace mmo

#endif
