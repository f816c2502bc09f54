#include "mmo_atoms.hpp"

#include <muster/bulk.h>

#include <algorithm>
#include <stdexcept>

namespace mmo {

static void Must(bool holds) {
  if (!holds) throw std::runtime_error(muster_last_error());
}

// On any worker, beside other creatures: reads the map as the players left it, and writes its own creature.
muster_atom_result AtomMap::Decide(muster_update *update) {
  auto *map = static_cast<const AtomMap *>(update->type_user);
  auto *creature = static_cast<Creature *>(update->user);
  creature->Decide(*map, static_cast<uint32_t>(update->elapsed_ns / 1000000));
  muster_update_move(update, {creature->place.x, creature->place.y, 0});
  return creature->HasToAct() ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

// One creature at a time, in the order of their agents: may touch anything.
muster_atom_result AtomMap::Act(muster_update *update) {
  auto *map = static_cast<AtomMap *>(update->type_user);
  static_cast<Creature *>(update->user)->Act(map->players);
  return MUSTER_ATOM_NEXT;
}

// The last callback for a creature, on the thread of the map. Before it, an update may still use the creature.
void AtomMap::Removed(muster_update *update) {
  auto &waiting = static_cast<AtomMap *>(update->type_user)->removed;
  auto is_it = [&](auto &creature) { return creature.get() == update->user; };
  waiting.erase(std::remove_if(waiting.begin(), waiting.end(), is_it), waiting.end());
}

AtomMap::AtomMap(uint32_t player_count, Budget budget, uint32_t workers) : Map(player_count), budget(budget) {
  muster_pool_def pool_def = muster_pool_def_default();
  pool_def.workers = workers;
  pool = muster_pool_create(&pool_def);
  Must(pool);
  muster_world_def def = muster_world_def_default();
  def.pool = pool;
  def.clock.kind = budget.measured ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  world = muster_world_create(&def);
  Must(world);
  const muster_atom atoms[] = {{Decide, MUSTER_ROLE_BEHAVIOUR, UPDATE_NS}, {Act, MUSTER_ROLE_ACTION, 100}};
  muster_type_def type_def = muster_type_def_default();
  type_def.name = "creature";
  type_def.atoms = atoms;
  type_def.atom_count = 2;
  type_def.user = this;
  type_def.on_removed = Removed;
  type_def.period_ns = TICK_MS * 1000000ull;
  type_def.period_max_ns = 2000000000;
  type = muster_type_register(world, &type_def);
  Must(type.index);
  for (auto &player : players) {
    muster_observer_def eye = muster_observer_def_default();
    eye.position = {player.place.x, player.place.y, 0};
    eyes.push_back(muster_observer_add(world, &eye));
    Must(!muster_observer_is_null(eyes.back()));
  }
}

AtomMap::~AtomMap() {
  muster_world_destroy(world);
  muster_pool_destroy(pool);
}

uint32_t AtomMap::Add(Point home) {
  uint32_t slot = Map::Add(home);
  agents.resize(creatures.size());
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  def.position = {home.x, home.y, 0};
  def.user = creatures[slot].get();
  agents[slot] = muster_agent_spawn(world, &def);
  Must(!muster_agent_is_null(agents[slot]));
  return slot;
}

void AtomMap::Remove(uint32_t slot) {
  removed.push_back(std::move(creatures[slot]));
  Map::Remove(slot);
  Must(muster_agent_remove(world, agents[slot]) == MUSTER_OK);
}

// A frame at the time of the start takes the creatures in; nothing is due yet.
void AtomMap::Start() {
  RunFrame();
}

// Was: for each creature, Update(diff).
void AtomMap::UpdateCreatures(uint32_t) {
  std::vector<muster_position> places;
  for (auto &player : players) places.push_back({player.place.x, player.place.y, 0});
  muster_observers_move(world, eyes.data(), places.data(), static_cast<uint32_t>(places.size()));
  RunFrame();
}

void AtomMap::RunFrame() {
  muster_frame frame = {now_ms * 1000000, budget.tick_ns};
  Must(muster_frame_run(world, &frame) == MUSTER_OK);
}

uint64_t AtomMap::SpentNs() const {
  muster_frame_report report = muster_frame_report_default();
  Must(muster_frame_report_read(world, &report) == MUSTER_OK);
  return report.update_cpu_ns;
}

} // namespace mmo
