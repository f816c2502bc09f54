// A host in C++ by muster.hpp: a pool with jobs, a world with a type of sets, agents with state, messages and
// observers, frames. It also counts allocations, and looks at what muster.hpp converts and refuses.
#include <muster/herd.h>
#include <muster/module.h>
#include <muster/muster.hpp>
#include <muster/planner.h>
#include <muster/random.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

static std::atomic<unsigned> allocations{0};

// Counted, so that a hidden allocation is seen. Not inline: gcc then takes malloc and free for a mismatch.
[[gnu::noinline]] void *operator new(std::size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}

static void check(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "host.cpp: %s: %s (%s)\n", what, muster_last_error(), muster_result_name(muster_last_result()));
  std::exit(EXIT_FAILURE);
}

static muster::pool create_pool() {
  muster_pool_def def = muster_pool_def_default();
  def.workers = 2;
  def.name = "host";
  muster::pool pool(def);
  check(pool && pool.workers() == 2, "a pool of two workers");
  return pool;
}

// -----------------------------------------------------------------------------------------------------------------
// jobs

static void run_jobs(const muster::pool &pool) {
  static_assert(alignof(muster_group) == 64 && alignof(muster_range) == 64, "a cache line each, as in C");
  std::atomic<unsigned> ran{0};
  muster_group group;
  muster_group_init(&group, pool.get());
  for (int i = 0; i < 100; i++) {
    auto job = [](void *argument, uint32_t) { ++*static_cast<std::atomic<unsigned> *>(argument); };
    check(muster_job_submit(pool.get(), MUSTER_URGENCY_NORMAL, job, &ran, &group) == MUSTER_OK, "a job");
  }
  check(muster_group_wait(&group) == MUSTER_OK && ran == 100, "a hundred jobs");

  std::vector<int> numbers(1000, 1);
  auto twice = [&numbers](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; i++) numbers[i] *= 2;
  };
  check(pool.parallel_for(numbers.size(), 16, twice) == MUSTER_OK, "a parallel for");
  for (int number : numbers) check(number == 2, "each index once");
}

// ---------------------------------------------------------------------------------------------------------------
// agents

constexpr uint64_t frame_ns = 10'000'000;

struct hen {
  uint64_t lived_ns;
  uint32_t eggs, greeted;
};

struct yard {
  muster_agent first;
  std::atomic<unsigned> laid{0};
  unsigned foxes_gone = 0;
};

// What a member of a herd publishes, in C++: the body, and the totals behind it.
struct member {
  muster_herd_body body;
  std::array<float, 2> totals;
};
static_assert(offsetof(member, totals) == sizeof(muster_herd_body), "totals begin where the body ends");

static void greet(muster::update<hen> &self) {
  const std::array<char, 6> words = {"cluck"};
  const muster_agent first = self.host<yard>().first;
  if (self->agent != first) self.send(first, words);
}

static muster_type register_hens(muster::world &world, yard *here) {
  const unsigned before = allocations;
  auto live = [](auto &self) {
    self.state().lived_ns += self->elapsed_ns;
    self.state().greeted += static_cast<uint32_t>(self.messages().size());
  };
  auto lay = [](muster::update<hen> &self) {
    ++self.state().eggs;
    ++self.host<yard>().laid;
    return MUSTER_ATOM_FINISH;
  };
  const std::array<muster_atom, 2> thoughts = {muster::make_atom<hen>(muster::behaviour(live, 1000)),
                                               muster::make_atom<hen>(muster::behaviour<&greet>(1000))};
  const muster_atom deed = muster::make_atom<hen>(muster::action(lay, 1000));
  std::array<muster_set_def, 2> sets = {muster_set_def_default(), muster_set_def_default()};
  sets[0].role = MUSTER_ROLE_BEHAVIOUR;
  sets[0].atoms = thoughts.data();
  sets[0].atom_count = static_cast<uint32_t>(thoughts.size());
  sets[1].role = MUSTER_ROLE_ACTION;
  sets[1].atoms = &deed;
  sets[1].atom_count = 1;
  muster::type_def<hen> def("hen");
  def.user = here;
  def.sets.list = sets.data();
  def.sets.count = static_cast<uint32_t>(sets.size());
  def.period_ns = def.period_max_ns = frame_ns;
  def.messages.waiting_max = 16;
  def.messages.bytes_max = 16;
  def.messages.sends_max = 1;
  const muster_type type = muster_type_register(world.get(), &def);
  check(!muster::is_null(type) && allocations == before, "a type, without an allocation");
  check(std::string(muster_type_name(world.get(), type)) == "hen", "its name");
  return type;
}

// A fox stands still, and counts the hens that it sees; what it publishes it set when it came.
struct seen {
  uint32_t hens, updates;
};

static muster_type register_foxes(muster::world &world, yard *here) {
  muster::type_def<void, seen> def("fox");
  def.user = here;
  def.spawned([](auto &self) { self.published() = {0, 100}; });
  def.removed([](auto &self) { self.template host<yard>().foxes_gone++; });
  auto look = [](muster::update<void, seen> &self) {
    self.published().hens = 0;
    for (const muster_neighbour &hen : self.nearby<64>(100)) self.published().hens += hen.published == nullptr;
    self.published().updates++;
    check(!self.nearby<1>(100).empty() && self.nearby<1>(100)[0].agent == self.host<yard>().first, "the nearest");
    check(self.position_of(self.host<yard>().first)->x == 0 && !self.position_of({}), "places of others");
    check(self.random_share() < 1 && self.move({-1, 0, 0}) == MUSTER_OK, "a number, and a step");
    check(!self.state_of<hen>(self.host<yard>().first) && !self.published_of(self.host<yard>().first),
          "what is hidden");
  };
  auto steal = [](auto &self) -> muster_atom_result {
    hen *first = self.template state_of<hen>(self.template host<yard>().first);
    check(first != nullptr, "an action sees states");
    return MUSTER_ATOM_NEXT;
  };
  const unsigned before = allocations;
  const muster_type type = world.add(def, muster::perception(look, 1000), muster::action(steal));
  check(!muster::is_null(type) && allocations == before, "a type with its atoms, without an allocation");
  return type;
}

static uint32_t count_changes(const muster::world &world, uint64_t &cursor) {
  std::array<muster_change, 3> room; // fewer than there are changes
  uint32_t count = 0;
  auto add = [&count](muster::span<const muster_change> changes) { count += static_cast<uint32_t>(changes.size()); };
  check(world.changes(MUSTER_CHANGE_ALL, cursor, room, add) == MUSTER_OK, "changes");
  check(world.changes(MUSTER_CHANGE_ALL, cursor, {}, add) == MUSTER_OK, "no room, and an end");
  return count;
}

static void check_hens(const muster::world &world, const yard &here) {
  const muster_statistics sums = world.statistics();
  const auto info = world.read(here.first);
  check(info && !world.read(muster_agent{}), "an agent, and none");
  const auto *self = static_cast<const hen *>(info->state);
  check(sums.completed > here.laid && here.laid > 0 && self->eggs > 0, "each update of a hen acts once");
  check(self->lived_ns > 0 && self->lived_ns + frame_ns == info->last_update_ns,
        "an agent is told all time since the first frame");
  check(self->greeted > 0, "messages arrive");
}

static void move_all(muster::world &world, const std::vector<muster_agent> &hens) {
  std::vector<muster_position> places(hens.size(), muster_position{3, 4, 0});
  check(world.move(hens, places) == hens.size() && world.read(hens.back())->position.y == 4, "many moves");
  muster_agent one[] = {hens[0], hens[1]};
  check(world.move(one, muster::span<const muster_position>(places.data(), 1)) == 1, "as many as both have");
#if __cplusplus >= 202002L
  check(world.move(std::span<const muster_agent>(hens), std::span(places)) == hens.size(), "moves by std::span");
#endif
  std::unordered_set<muster_agent> all;
  world.for_each_agent([&all](muster_agent agent) { all.insert(agent); });
  check(all.size() == hens.size() + 1 && all.count(hens[7]) == 1, "all agents, by hash");
}

static muster::world create_world(const muster::pool &pool) {
  muster_world_def def = muster_world_def_default();
  def.pool = pool.get();
  def.limits.agents_max = 17;
  def.limits.changes_frames = 1;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  muster_world_def_policy(&def, MUSTER_POLICY_FAIR);
  muster::world made(def), world = std::move(made);
  check(world && !made, "a world, moved");
  def.limits.agents_max = 0;
  check(!muster::world(def) && muster_last_result() == MUSTER_E_ARGUMENT, "no world");
  return world;
}

static void run_frames(muster::world &world) {
  uint64_t cursor = 0;
  const unsigned before = allocations;
  uint32_t changes = 0;
  for (uint64_t frame = 1; frame <= 100; frame++) {
    check(world.run(frame * frame_ns, 8'000'000) == MUSTER_OK, "a frame");
    changes += count_changes(world, cursor);
  }
  check(allocations == before, "frames without allocations");
  check(changes > 16 && world.report().frame == 100 && world.hash() != 0, "changes, a report, a hash");
}

static void run_world(const muster::pool &pool) {
  yard here{};
  muster::world world = create_world(pool);
  muster_agent_def npc = muster_agent_def_default();
  npc.type = register_hens(world, &here);
  std::vector<muster_agent> hens;
  for (npc.position.x = 0; hens.size() < 16; npc.position.x += 1) hens.push_back(world.spawn(npc));
  here.first = hens.front();
  check(!muster::is_null(hens.back()), "agents");
  npc.type = register_foxes(world, &here);
  npc.position.x = -1;
  const muster_agent fox = world.spawn(npc);
  check(world.exists(fox) && fox != here.first, "a fox");
  check(muster::is_null(world.spawn(npc)) && muster_last_result() == MUSTER_E_FULL, "one agent too many");
  const muster_observer player = world.add(muster_observer_def_default());
  check(!muster::is_null(player) && world.move(player, {1, 1, 0}) == MUSTER_OK, "an observer");

  run_frames(world);
  check_hens(world, here);
  const auto *shown = static_cast<const seen *>(world.read(fox)->published);
  check(shown->hens == 16 && shown->updates > 100, "a fox sees the hens");
  move_all(world, hens);
  check(world.remove(fox) == MUSTER_OK && world.remove(player) == MUSTER_OK, "removals");
  check(world.run(101 * frame_ns, 8'000'000) == MUSTER_OK && here.foxes_gone == 1, "the fox is gone");
}

#if defined(__cpp_exceptions)
static void check_errors() {
  muster_world_def def = muster_world_def_default();
  muster::world world = muster::check(muster::world(def));
  try {
    muster::check(world.run(1, 1));
    check(false, "a frame without a budget");
  } catch (const muster::error &error) {
    check(error.result() == MUSTER_E_ARGUMENT && std::string(error.what()) == muster_last_error(), "an error");
  }
  try {
    muster::check(world.spawn(muster_agent_def_default()));
    check(false, "an agent without a type");
  } catch (const std::exception &error) {
    check(*error.what() != 0, "a sentence");
  }
}
#else
static void check_errors() {}
#endif

int main() {
  check(std::string(muster_version()) == MUSTER_VERSION, "headers and library are of one version");
  const muster::pool pool = create_pool();
  run_jobs(pool);
  run_world(pool);
  check_errors();
  std::puts("all of it ran");
}
