// The loop of mmo_loop.hpp before and after Muster: with time for all creatures the same to the bit; with too little,
// within the budget, attentive where players are, and fair to creatures that no player sees.
#include "mmo_atoms.hpp"
#include "mmo_loop.hpp"
#include "mmo_planned.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>

using namespace mmo;

constexpr uint32_t CREATURES = 1000, PLAYERS = 20, TICKS = 200;

static void Check(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "mmo_test: does not hold: %s\n", what);
  std::exit(EXIT_FAILURE);
}

// Creatures stand along a road of 4 km, on which players walk between 300 m and 400 m.
static void Populate(Map &map) {
  for (uint32_t i = 0; i < CREATURES; i++) map.Add({i * 4.0, (i % 7) * 2.0});
  map.Start();
}

using AfterTick = std::function<void(uint32_t)>;

static void Run(
    Map &map, const AfterTick &after = [](uint32_t) {}) {
  for (uint32_t tick = 1; tick <= TICKS; tick++) {
    map.Update(TICK_MS);
    after(tick);
  }
}

static uint64_t StrikesOf(const Map &map) {
  uint64_t damage = 0;
  for (auto &player : map.players) damage += static_cast<uint64_t>(player.deaths * 1000 + 1000 - player.health);
  return damage;
}

static double UpdatesBetween(const Map &map, double from, double to) {
  double updates = 0, count = 0;
  for (auto &creature : map.creatures) {
    if (!creature || creature->home.x < from || creature->home.x >= to) continue;
    updates += creature->updates;
    count++;
  }
  return updates / count;
}

// Twenty seconds beside a player, in ticks and in seconds.
static void AnyDiff() {
  for (uint32_t diff : {TICK_MS, 500u, 1000u, 4000u}) {
    Map map(1);
    Creature creature(1, map.players[0].place);
    for (uint32_t ms = 0; ms < 20000; ms += diff) creature.Decide(map, diff);
    Check(creature.strikes >= 9 && creature.strikes <= 11, "one strike in two seconds, whatever the diff");
    Check(creature.health == 200, "and five points of health in one");
  }
}

// Nothing that players could notice differs, and no creature skipped a tick.
static void SameAtFullBudget() {
  Map before(PLAYERS);
  PlannedMap planned(PLAYERS, {40000000, false});
  AtomMap one(PLAYERS, {40000000, false}, 1), four(PLAYERS, {40000000, false}, 4);
  for (Map *map : {&before, static_cast<Map *>(&planned), static_cast<Map *>(&one), static_cast<Map *>(&four)}) {
    Populate(*map);
    Run(*map);
  }
  std::printf("full budget: before %016llx, planned %016llx, atoms %016llx; %llu damage\n",
              static_cast<unsigned long long>(before.Hash()), static_cast<unsigned long long>(planned.Hash()),
              static_cast<unsigned long long>(one.Hash()), static_cast<unsigned long long>(StrikesOf(before)));
  Check(StrikesOf(before) > 1000, "creatures strike players");
  Check(UpdatesBetween(planned, 0, 4000) == UpdatesBetween(before, 0, 4000), "planned creatures run in every tick");
  Check(planned.Hash() == before.Hash(), "the planned map comes to the same");
  Check(one.Hash() == before.Hash(), "so does the one with atoms");
  Check(four.Hash() == before.Hash(), "and on four workers");
}

// Creatures die and others come in their slots, while a plan may still name those that are gone.
template <class AnyMap> static void LivesAndDeaths(AnyMap &map) {
  Populate(map);
  std::vector<uint64_t> born_ms(CREATURES, 0);
  Run(map, [&](uint32_t tick) {
    if (tick % 10 == 0) map.Remove(tick);
    if (tick % 10 == 5 && tick > 10) born_ms[map.Add({tick * 1.0, 0})] = map.now_ms;
  });
  uint32_t left = 0;
  for (uint32_t slot = 0; slot < CREATURES; slot++) {
    if (!map.creatures[slot]) continue;
    left++;
    uint64_t age_ms = map.now_ms - born_ms[slot], lived_ms = map.creatures[slot]->lived_ms;
    Check(lived_ms <= age_ms && lived_ms + TICK_MS >= age_ms, "each creature lives from its own beginning on");
  }
  Check(left == CREATURES - 1, "one place is free");
}

// A fifth of the time that all creatures would take.
template <class AnyMap> static void FairUnderLoad(AnyMap &map, const char *name, const AfterTick &after) {
  Populate(map);
  Run(map, after);
  double near = UpdatesBetween(map, 320, 380), far = UpdatesBetween(map, 2000, 4000);
  std::printf("a fifth of the budget, %s: %.0f updates near players, %.0f far from them, of %u ticks\n", name, near,
              far, TICKS);
  Check(near > 3 * far, "creatures near players run more often");
  Check(far > 3, "the others are not forgotten");
  for (auto &creature : map.creatures) {
    Check(creature->lived_ms <= map.now_ms, "no time is lived twice");
    Check(creature->lived_ms + 5000 > map.now_ms, "no time is lost");
    Check(creature->health == 100 + static_cast<int32_t>(creature->lived_ms / 200),
          "health comes back by time, not by updates");
  }
}

int main() {
  AnyDiff();
  SameAtFullBudget();
  PlannedMap planned_town(PLAYERS, {40000000, false});
  LivesAndDeaths(planned_town);
  AtomMap atoms_town(PLAYERS, {40000000, false}, 2);
  LivesAndDeaths(atoms_town);
  Budget little = {2000000, false};
  PlannedMap planned(PLAYERS, little);
  FairUnderLoad(planned, "planned",
                [&](uint32_t) { Check(planned.spent_ns <= little.tick_ns, "a tick stays within its budget"); });
  AtomMap atoms(PLAYERS, little, 2);
  FairUnderLoad(atoms, "atoms",
                [&](uint32_t) { Check(atoms.SpentNs() <= little.tick_ns, "a tick stays within its budget"); });
  PlannedMap measured(PLAYERS, {40000000, true});
  Populate(measured);
  Run(measured);
  Check(UpdatesBetween(measured, 0, 4000) >= 1, "by a clock creatures run, too");
}
