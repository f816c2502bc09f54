// A host in C++: a pool with jobs, a world with a type of sets, agents with state, messages and observers, frames.
#include <muster/herd.h>
#include <muster/module.h>
#include <muster/muster.h>
#include <muster/planner.h>
#include <muster/random.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

static void check(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "host.cpp: %s: %s (%s)\n", what, muster_last_error(), muster_result_name(muster_last_result()));
  std::exit(EXIT_FAILURE);
}

struct destroy {
  void operator()(muster_world *world) const { muster_world_destroy(world); }
  void operator()(muster_pool *pool) const { muster_pool_destroy(pool); }
};

using pool_pointer = std::unique_ptr<muster_pool, destroy>;
using world_pointer = std::unique_ptr<muster_world, destroy>;

static pool_pointer create_pool() {
  muster_pool_def def = muster_pool_def_default();
  def.workers = 2;
  def.name = "host";
  pool_pointer pool(muster_pool_create(&def));
  check(pool && muster_pool_workers(pool.get()) == 2, "a pool of two workers");
  return pool;
}

// -----------------------------------------------------------------------------------------------------------------
// jobs

static void run_jobs(muster_pool *pool) {
  static_assert(alignof(muster_group) == 64 && alignof(muster_range) == 64, "a cache line each, as in C");
  std::atomic<unsigned> ran{0};
  muster_group group;
  muster_group_init(&group, pool);
  for (int i = 0; i < 100; i++) {
    auto job = [](void *argument, uint32_t) { ++*static_cast<std::atomic<unsigned> *>(argument); };
    check(muster_job_submit(pool, MUSTER_URGENCY_NORMAL, job, &ran, &group) == MUSTER_OK, "a job");
  }
  check(muster_group_wait(&group) == MUSTER_OK && ran == 100, "a hundred jobs");

  std::vector<int> numbers(1000, 1);
  auto twice = [](void *argument, uint64_t begin, uint64_t end, uint32_t) {
    auto &all = *static_cast<std::vector<int> *>(argument);
    for (uint64_t i = begin; i < end; i++) all[i] *= 2;
  };
  check(muster_parallel_for(pool, MUSTER_URGENCY_NORMAL, numbers.size(), 16, twice, &numbers) == MUSTER_OK,
        "a parallel for");
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
};

// What a member of a herd publishes, in C++: the body, and the totals behind it.
struct member {
  muster_herd_body body;
  std::array<float, 2> totals;
};
static_assert(offsetof(member, totals) == sizeof(muster_herd_body), "totals begin where the body ends");

static muster_atom_result live(muster_update *update) {
  auto *self = static_cast<hen *>(update->state);
  self->lived_ns += update->elapsed_ns;
  self->greeted += muster_update_messages(update, nullptr, 0);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result greet(muster_update *update) {
  auto *here = static_cast<yard *>(update->type_user);
  const char words[] = "cluck";
  if (!muster_agent_equal(update->agent, here->first)) muster_update_send(update, here->first, words, sizeof words);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result lay(muster_update *update) {
  ++static_cast<hen *>(update->state)->eggs;
  ++static_cast<yard *>(update->type_user)->laid;
  return MUSTER_ATOM_FINISH;
}

static muster_type register_hens(muster_world *world, yard *here) {
  const std::array<muster_atom, 2> thoughts = {muster_atom{live, MUSTER_ROLE_BEHAVIOUR, 1000},
                                               muster_atom{greet, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_atom deed = {lay, MUSTER_ROLE_ACTION, 1000};
  std::array<muster_set_def, 2> sets = {muster_set_def_default(), muster_set_def_default()};
  sets[0].role = MUSTER_ROLE_BEHAVIOUR;
  sets[0].atoms = thoughts.data();
  sets[0].atom_count = static_cast<uint32_t>(thoughts.size());
  sets[1].role = MUSTER_ROLE_ACTION;
  sets[1].atoms = &deed;
  sets[1].atom_count = 1;
  muster_type_def def = muster_type_def_default();
  def.name = "hen";
  def.user = here;
  def.sets.list = sets.data();
  def.sets.count = static_cast<uint32_t>(sets.size());
  def.state_bytes = sizeof(hen);
  def.period_ns = def.period_max_ns = frame_ns;
  def.messages.waiting_max = 16;
  def.messages.bytes_max = 16;
  def.messages.sends_max = 1;
  const muster_type type = muster_type_register(world, &def);
  check(type.index != 0 && std::string(muster_type_name(world, type)) == "hen", "a type");
  return type;
}

static void run_world(muster_pool *pool) {
  yard here{};
  muster_world_def def = muster_world_def_default();
  def.pool = pool;
  def.limits.agents_max = 16;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  muster_world_def_policy(&def, MUSTER_POLICY_FAIR);
  world_pointer world(muster_world_create(&def));
  check(world != nullptr, "a world");

  muster_agent_def npc = muster_agent_def_default();
  npc.type = register_hens(world.get(), &here);
  std::vector<muster_agent> hens;
  for (npc.position.x = 0; hens.size() < def.limits.agents_max; npc.position.x += 1)
    hens.push_back(muster_agent_spawn(world.get(), &npc));
  here.first = hens.front();
  check(!muster_agent_is_null(hens.back()), "agents");
  check(muster_agent_is_null(muster_agent_spawn(world.get(), &npc)) && muster_last_result() == MUSTER_E_FULL,
        "one agent too many");
  const muster_observer_def player = muster_observer_def_default();
  check(!muster_observer_is_null(muster_observer_add(world.get(), &player)), "an observer");

  for (uint64_t frame = 1; frame <= 100; frame++) {
    const muster_frame now = {frame * frame_ns, 8'000'000};
    check(muster_frame_run(world.get(), &now) == MUSTER_OK, "a frame");
  }
  muster_statistics sums = muster_statistics_default();
  muster_agent_info info = muster_agent_info_default();
  check(muster_statistics_read(world.get(), &sums) == MUSTER_OK && sums.completed > 0, "statistics");
  check(muster_agent_read(world.get(), here.first, &info) == MUSTER_OK, "an agent");
  const auto *self = static_cast<const hen *>(info.state);
  check(sums.completed == here.laid && self->eggs > 0, "each update acts once");
  check(self->lived_ns > 0 && self->lived_ns + frame_ns == info.last_update_ns,
        "an agent is told all time since the first frame");
  check(self->greeted > 0, "messages arrive");
}

int main() {
  check(std::strcmp(muster_version(), MUSTER_VERSION) == 0, "headers and library are of one version");
  const pool_pointer pool = create_pool();
  run_jobs(pool.get());
  run_world(pool.get());
  std::puts("all of it ran");
}
