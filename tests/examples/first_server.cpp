/* A first server, all of it: guards hunt rats on a field of half a kilometre, players walk among them, and each client
 * is told where the NPCs around its player are. first_server.c is the same server in C, with the same result.
 *
 *     c++ -std=c++17 first_server.cpp $(pkg-config --cflags --libs muster)
 *     ./a.out [WORKERS [SECONDS [fast | virtual]]]     0 workers = one per processor; fast = as fast as it goes;
 *                                                      virtual = the same, and the same result on every machine
 */
#include <muster/muster.hpp>
#include <muster/random.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

constexpr std::uint32_t guard_count = 1000, rat_count = 1000, player_count = 50, hz = 30;
constexpr double field_m = 500, sight_m = 60, reach_m = 1.5, second_ns = 1e9;

/* What agents keep and show. */
struct guard {
  muster_agent prey; /* in reach */
};
struct rat_seen {
  float x_mps, y_mps; /* its velocity */
};

/* What is sent of an agent. */
struct record {
  muster_agent agent;
  float x, y;
  std::uint32_t kinds, type;
};

/* Stands for a connection: how much was sent, and a sum of all of it. */
struct client {
  std::uint64_t bytes = 0, sum = 0;

  void send(const record &what) {
    std::uint64_t words[3];
    static_assert(sizeof words == sizeof what);
    std::memcpy(words, &what, sizeof words);
    for (std::uint64_t word : words) sum = muster_random_mix(sum ^ word);
    bytes += sizeof what;
  }
};

muster_position place_of(std::uint64_t random) {
  return {muster_random_share(random) * field_m, muster_random_share(muster_random_mix(random)) * field_m, 0};
}

double within_field(double x) {
  return x < 0 ? 0 : x > field_m ? field_m : x;
}

/* One step at a speed towards a point `x`, `y` from here, not beyond it. */
template <class Self> void go(Self &self, double x, double y, double speed_mps) {
  const double distance = std::hypot(x, y), step = speed_mps * static_cast<double>(self->elapsed_ns) / second_ns;
  const double share = distance > step ? step / distance : 1;
  muster_position to = self->position;
  to.x = within_field(to.x + x * share);
  to.y = within_field(to.y + y * share);
  self.move(to);
}

class server {
public:
  server(std::uint32_t workers, bool is_virtual) : pool_(muster::check(muster::pool(workers))) {
    muster_world_def def = muster_world_def_default();
    def.pool = pool_.get();
    def.limits.changes_frames = 1;
    if (is_virtual) def.clock.kind = MUSTER_CLOCK_VIRTUAL;
    world_ = muster::check(muster::world(def));
    register_types();
    populate();
  }
  server(const server &) = delete; /* the types know where it is */
  server &operator=(const server &) = delete;

  void run(std::uint32_t seconds, bool paced) {
    std::uint64_t completed = 0, bytes = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t frame = 1; frame <= seconds * hz; frame++) {
      const std::uint64_t now_ns = frame * 1'000'000'000ull / hz;
      /* A server that is late goes on at once. */
      if (paced) std::this_thread::sleep_until(start + std::chrono::nanoseconds(now_ns));
      walk(static_cast<double>(now_ns) / second_ns);
      world_.move(players_, places_);
      muster::check(world_.run(now_ns, 8'000'000));
      tell_clients();
      const muster_frame_report report = world_.report();
      completed += report.completed;
      if (frame % hz) continue;
      std::printf("%3u s: %u NPCs, %llu updates, pressure %.2f, %llu rats caught, %llu kB to clients\n", frame / hz,
                  report.agents, static_cast<unsigned long long>(completed), static_cast<double>(report.pressure),
                  static_cast<unsigned long long>(caught_),
                  static_cast<unsigned long long>(bytes_told() - bytes) / 1000);
      completed = 0;
      bytes = bytes_told();
    }
  }

  std::uint64_t hash() const {
    std::uint64_t sum = world_.hash();
    for (const client &each : clients_) sum = muster_random_mix(sum ^ each.sum);
    return sum;
  }

private:
  void register_types() {
    muster::type_def<guard> guards("guard");
    guards.user = this; /* atoms find the other type's id there */
    guards.spawns_max = 1;
    /* A guard goes where the nearest rat will be in half a second. */
    auto chase = [](muster::update<guard> &self) {
      const auto rats = self.nearby<1>(40, self.host<server>().rats_);
      if (rats.empty()) return MUSTER_ATOM_FINISH;
      const muster_neighbour &rat = rats[0];
      const auto &seen = *static_cast<const rat_seen *>(rat.published);
      go(self, rat.position.x + seen.x_mps / 2 - self->position.x, rat.position.y + seen.y_mps / 2 - self->position.y,
         4);
      self.state().prey = rat.agent;
      return rat.distance_m <= reach_m ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH; /* out of reach: no action */
    };
    /* The first guard takes the rat, and another one appears elsewhere. */
    auto take = [](muster::update<guard> &self) {
      server &here = self.host<server>();
      if (self.remove(self.state().prey) != MUSTER_OK) return;
      here.caught_++;
      muster_agent_def rat = muster_agent_def_default();
      rat.type = here.rats_;
      rat.position = place_of(self.random());
      self.spawn(rat);
    };
    guards_ = muster::check(world_.add(guards, muster::behaviour(chase, 2000), muster::action(take, 500)));

    muster::type_def<void, rat_seen> rats("rat");
    rats.user = this;
    /* A rat runs from the nearest guard, or strolls. */
    auto flee = [](muster::update<void, rat_seen> &self) {
      double angle = 6.2831853 * self.random_share(), speed = 1;
      for (const muster_neighbour &guard : self.nearby<1>(15, self.host<server>().guards_)) {
        angle = std::atan2(self->position.y - guard.position.y, self->position.x - guard.position.x);
        speed = 3;
      }
      self.published() = {static_cast<float>(std::cos(angle) * speed), static_cast<float>(std::sin(angle) * speed)};
      go(self, std::cos(angle) * 1000, std::sin(angle) * 1000, speed);
    };
    rats_ = muster::check(world_.add(rats, muster::behaviour(flee, 2000)));
  }

  void populate() {
    for (std::uint32_t i = 0; i < guard_count + rat_count; i++) {
      muster_agent_def npc = muster_agent_def_default();
      npc.type = i < guard_count ? guards_ : rats_;
      npc.position = place_of(muster_random_mix(1000 + i));
      muster::check(world_.spawn(npc));
    }
    walk(0);
    for (std::uint32_t i = 0; i < player_count; i++) {
      muster_observer_def player = muster_observer_def_default();
      player.position = places_[i];
      players_[i] = muster::check(world_.add(player));
    }
  }

  /* Players walk in circles, and see what is around them. */
  void walk(double seconds) {
    for (std::uint32_t i = 0; i < player_count; i++) {
      const double angle = i + seconds * 1.5 / 20; /* 1.5 m/s on a circle of 20 m */
      places_[i] = place_of(muster_random_mix(i + 1));
      places_[i].x += 20 * std::cos(angle);
      places_[i].y += 20 * std::sin(angle);
    }
  }

  /* Asked after every frame, it never misses a change. */
  void tell_clients() {
    std::array<muster_change, 512> room;
    muster::check(world_.changes(MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT, cursor_, room,
                                 [this](muster::span<const muster_change> changes) { tell(changes); }));
  }

  void tell(muster::span<const muster_change> changes) {
    std::array<muster_agent, 512> agents;
    std::array<muster_position, 512> positions{}; /* an agent that left has none */
    for (std::size_t i = 0; i < changes.size(); i++) agents[i] = changes[i].agent;
    muster_agent_columns columns = muster_agent_columns_default();
    columns.positions = positions.data();
    world_.read({agents.data(), changes.size()}, columns);
    for (std::size_t i = 0; i < changes.size(); i++) {
      const muster_position &at = positions[i];
      const record what = {agents[i], static_cast<float>(at.x), static_cast<float>(at.y), changes[i].kinds,
                           changes[i].type.index};
      for (std::uint32_t k = 0; k < player_count; k++)
        if (what.kinds & MUSTER_CHANGE_LEFT || std::hypot(at.x - places_[k].x, at.y - places_[k].y) <= sight_m)
          clients_[k].send(what);
    }
  }

  std::uint64_t bytes_told() const {
    std::uint64_t bytes = 0;
    for (const client &each : clients_) bytes += each.bytes;
    return bytes;
  }

  muster::pool pool_; /* before the world, which it must outlive */
  muster::world world_;
  muster_type guards_{}, rats_{};
  std::array<muster_observer, player_count> players_{};
  std::array<muster_position, player_count> places_{};
  std::array<client, player_count> clients_{};
  std::uint64_t cursor_ = 0; /* up to where the clients were told */
  std::uint64_t caught_ = 0; /* written by actions, which run one at a time */
};

} // namespace

int main(int count, char **arguments) try {
  const std::string_view pace = count > 3 ? arguments[3] : "";
  server here(count > 1 ? static_cast<std::uint32_t>(std::atoi(arguments[1])) : 0, pace == "virtual");
  here.run(count > 2 ? static_cast<std::uint32_t>(std::atoi(arguments[2])) : 10, pace.empty());
  std::printf("hash %016llx\n", static_cast<unsigned long long>(here.hash()));
} catch (const muster::error &error) {
  std::fprintf(stderr, "first_server: %s (%s)\n", error.what(), muster_result_name(error.result()));
  return EXIT_FAILURE;
}
