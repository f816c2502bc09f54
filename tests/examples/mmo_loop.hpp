// The loop of a monolithic MMO server, as a stub: what Muster is put under in mmo_planned.cpp and mmo_atoms.cpp. The
// note tools/docs/porting-mmo.md goes through it step by step.
//
// Such servers have one thread per map. World::Update(diff) calls Map::Update(diff), which walks all creatures and
// calls Creature::Update(diff) on each, with the milliseconds since the last tick. However many creatures there are,
// all of them run in every tick.
#ifndef EXAMPLES_MMO_LOOP_HPP
#define EXAMPLES_MMO_LOOP_HPP

#include <cstdint>
#include <memory>
#include <vector>

namespace mmo {

constexpr uint32_t TICK_MS = 50;

struct Point {
  double x = 0, y = 0;
};

class Map;

struct Player {
  Point place;
  int32_t health = 1000;
  uint32_t last_attacker = 0;
  uint32_t deaths = 0;

  void Hurt(uint32_t attacker, int32_t damage);
  void Update(uint32_t diff, uint64_t map_ms, uint32_t number);
};

// A creature keeps to its home, runs at players that come near, and strikes them.
class Creature {
public:
  Creature(uint32_t guid, Point home) : guid(guid), home(home), place(home) {}

  void Update(const Map &map, std::vector<Player> &players, uint32_t diff) {
    Decide(map, diff);
    Act(players);
  }

  // Reads the map and writes this creature alone.
  void Decide(const Map &map, uint32_t diff);

  // Does to players what was decided.
  void Act(std::vector<Player> &players);

  bool HasToAct() const { return strikes > 0; }

  const uint32_t guid;
  const Point home;
  Point place;
  int32_t health = 100;             // five points come back in a second
  int32_t health_rest = 0;          // of a point, in thousandths
  int32_t strike_timer = 0;         // milliseconds until it can strike again
  bool in_reach = false;            // of its target, at its last update
  uint32_t target = 0, strikes = 0; // decided, not done yet
  uint64_t lived_ms = 0;            // time that its updates covered
  uint32_t updates = 0;
};

class Map {
public:
  explicit Map(uint32_t player_count);
  virtual ~Map() = default;

  // Creatures keep their slot: a guid is one for good, a slot is used again.
  virtual uint32_t Add(Point home);
  virtual void Remove(uint32_t slot);

  // Once, when the map is populated.
  virtual void Start() {}

  // A tick.
  void Update(uint32_t diff);

  // Sum over all that players would notice.
  uint64_t Hash() const;

  uint64_t now_ms = 0;
  std::vector<std::unique_ptr<Creature>> creatures; // by slot; null = free
  std::vector<Player> players;

protected:
  virtual void UpdateCreatures(uint32_t diff);

private:
  uint32_t next_guid = 1;
};

} // namespace mmo

#endif
