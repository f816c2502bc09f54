#include "mmo_loop.hpp"

#include <muster/random.h>

#include <cmath>
#include <cstring>

namespace mmo {

void Player::Hurt(uint32_t attacker, int32_t damage) {
  health -= damage;
  last_attacker = attacker;
}

// Players walk to and fro along the road. Who was killed gets up again at the next tick.
void Player::Update(uint32_t diff, uint64_t map_ms, uint32_t number) {
  (void)diff;
  double way = std::fmod(static_cast<double>(map_ms) * 0.002 + number * 10.0, 200.0);
  place.x = 300.0 + (way < 100.0 ? way : 200.0 - way);
  place.y = 3.0 * (number % 4);
  if (health > 0) return;
  health = 1000;
  deaths++;
}

static void GoTowards(Point &place, Point to, double metres) {
  double dx = to.x - place.x, dy = to.y - place.y, distance = std::sqrt(dx * dx + dy * dy);
  double share = distance > metres ? metres / distance : 1.0;
  place.x += dx * share;
  place.y += dy * share;
}

void Creature::Decide(const Map &map, uint32_t diff) {
  updates++;
  lived_ms += diff;

  health_rest += static_cast<int32_t>(diff) * 5; // five points a second
  int32_t more = health_rest / 1000;
  health_rest -= more * 1000;
  health = health + more > 5000 ? 5000 : health + more;

  double nearest = 30.0 * 30.0;
  bool sees = false;
  for (uint32_t i = 0; i < map.players.size(); i++) {
    double dx = map.players[i].place.x - place.x, dy = map.players[i].place.y - place.y;
    if (dx * dx + dy * dy >= nearest) continue;
    nearest = dx * dx + dy * dy;
    target = i;
    sees = true;
  }
  GoTowards(place, sees ? map.players[target].place : home, diff * 0.007);

  // A timer that counts whatever the diff is: `if (timer <= diff) strike` would strike once where two strikes are due.
  strike_timer -= static_cast<int32_t>(diff);
  if (!in_reach && strike_timer < 0) strike_timer = 0; // it was ready, and waited
  in_reach = sees && nearest < 4.0;
  for (; in_reach && strike_timer <= 0; strike_timer += 2000) strikes++;
}

void Creature::Act(std::vector<Player> &players) {
  for (; strikes > 0; strikes--) players[target].Hurt(guid, 15);
}

Map::Map(uint32_t player_count) : players(player_count) {
  for (uint32_t i = 0; i < player_count; i++) players[i].Update(0, 0, i);
}

uint32_t Map::Add(Point home) {
  uint32_t slot = 0;
  while (slot < creatures.size() && creatures[slot]) slot++;
  if (slot == creatures.size()) creatures.emplace_back();
  creatures[slot] = std::make_unique<Creature>(next_guid++, home);
  return slot;
}

void Map::Remove(uint32_t slot) {
  creatures[slot].reset();
}

void Map::Update(uint32_t diff) {
  now_ms += diff;
  for (uint32_t i = 0; i < players.size(); i++) players[i].Update(diff, now_ms, i);
  UpdateCreatures(diff);
}

void Map::UpdateCreatures(uint32_t diff) {
  for (auto &creature : creatures)
    if (creature) creature->Update(*this, players, diff);
}

static uint64_t Mix(uint64_t sum, Point place) {
  uint64_t words[2];
  std::memcpy(words, &place, sizeof words);
  return muster_random_mix(muster_random_mix(sum ^ words[0]) ^ words[1]);
}

uint64_t Map::Hash() const {
  uint64_t sum = now_ms;
  for (auto &creature : creatures) {
    if (!creature) continue;
    sum = Mix(sum ^ creature->guid, creature->place);
    sum = muster_random_mix(sum ^ creature->lived_ms << 20 ^ static_cast<uint32_t>(creature->strike_timer));
    sum = muster_random_mix(sum ^ static_cast<uint64_t>(creature->health) << 20 ^ creature->target);
  }
  for (auto &player : players)
    sum = muster_random_mix(Mix(sum ^ player.deaths, player.place) ^ static_cast<uint32_t>(player.health) ^
                            static_cast<uint64_t>(player.last_attacker) << 32);
  return sum;
}

} // namespace mmo
