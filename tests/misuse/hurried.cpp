/* Programs of hurried C++ programmers: each mistake ends in a sentence that says what is wrong, and none in a crash
 * without words. A row is a small program, run in a process of its own, and what it must say: in the log or the last
 * line (standard error), or by what() of an exception, which it prints there itself. */
#include <muster/muster.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t frame_ns = 10'000'000;

struct wolf {
  std::uint64_t hunger, age;
};
struct rock {
  std::uint32_t weight;
};
struct sign {
  std::uint32_t text;
};

muster_world_def world_def() {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.importance_model = MUSTER_IMPORTANCE_PRODUCT;
  return def;
}

/* A world of one type, one agent of which does something; others are known by `first`. */
struct place {
  muster::world world = muster::check(muster::world(world_def()));
  muster_agent first = {};
  muster_type type = {};
};

muster_type_def plain(const char *name, muster_atom_result (*run)(muster_update *), std::uint32_t state_bytes) {
  static muster_atom atoms[8];
  static unsigned count;
  muster_type_def def = muster_type_def_default();
  atoms[count] = {run, MUSTER_ROLE_BEHAVIOUR, 1000};
  def.name = name;
  def.atoms = &atoms[count++];
  def.atom_count = 1;
  def.period_ns = frame_ns;
  def.state_bytes = state_bytes;
  return def;
}

muster_atom_result nothing(muster_update *) {
  return MUSTER_ATOM_NEXT;
}

/* Adds rocks, which keep a rock and publish a sign, and stones, which keep and publish nothing. */
muster_agent add_rock(muster::world &world) {
  muster_type_def def = plain("rock", nothing, sizeof(rock));
  def.published_bytes = sizeof(sign);
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster::check(muster_type_register(world.get(), &def));
  return muster::check(world.spawn(agent));
}

muster_agent add_stone(muster::world &world) {
  const muster_type_def def = plain("stone", nothing, 0);
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster::check(muster_type_register(world.get(), &def));
  return muster::check(world.spawn(agent));
}

void run_frames(muster::world &world, unsigned frames = 6) {
  for (unsigned i = 1; i <= frames; i++) muster::check(world.run(i * frame_ns, 5'000'000));
}

/* Lets one agent of a type with these atoms act on another one. */
struct scene {
  muster::world *world;
  muster_agent other;
};

template <class State = void, class Published = void, class Add, class... F>
void act_on(Add add, muster::atom<F>... atoms) {
  place here;
  scene seen = {&here.world, add(here.world)};
  muster::type_def<State, Published> def("wolf");
  def.user = &seen;
  def.period_ns = frame_ns;
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster::check(here.world.add(def, atoms...));
  muster::check(here.world.spawn(agent));
  run_frames(here.world);
}

template <class State = void, class Published = void, class F> void in_behaviour(F run) {
  act_on<State, Published>(add_rock, muster::behaviour(run, 1000));
}

struct row {
  const char *name;
  void (*run)();
  const char *says;
};

/* Uses what a call gave without a look at it, as hurried programs do. */
template <class T> void use(const T *given) {
  std::fprintf(stderr, "used %d\n", reinterpret_cast<const volatile char *>(given)[0]);
}

#define ROW(NAME, SAYS, ...)                                                                                           \
  { NAME, [] __VA_ARGS__, SAYS }

const row rows[] = {
    ROW("the state of a rock as that of a wolf", "state of type 'rock': it has 4 bytes, and is read as one of 16",
        {
          act_on<wolf>(add_rock, muster::action([](auto &self) {
                         use(self.template state_of<wolf>(self.template host<scene>().other));
                       }));
        }),
    ROW("the state of what has none", "state of type 'stone': it has none, and is read as one of 16 bytes",
        {
          act_on<wolf>(add_stone, muster::action([](auto &self) {
                         use(self.template state_of<wolf>(self.template host<scene>().other));
                       }));
        }),
    ROW("the state of another one in a behaviour", "an update of type 'wolf' was refused: state: in action atoms only",
        {
          in_behaviour<wolf>([](auto &self) { use(self.template state_of<rock>(self.template host<scene>().other)); });
        }),
    ROW("what nobody publishes", "published state of type 'stone': it has none, and is read as one of 4 bytes",
        {
          act_on<>(add_stone, muster::behaviour([](auto &self) {
                     use(self.template published_of<sign>(self.template host<scene>().other));
                   }));
        }),
    ROW("what a rock publishes as something else", "published state of type 'rock': it has 4 bytes, and is read as one",
        {
          in_behaviour<>([](auto &self) { use(self.template published_of<wolf>(self.template host<scene>().other)); });
        }),
    ROW("its own state without any", "type 'wolf': state<T>(): it has no state; give type_def a State",
        { in_behaviour<>([](auto &self) { self.template state<wolf>().hunger++; }); }),
    ROW("its own published state without any", "type 'wolf': published<T>(): it publishes nothing; give type_def a",
        { in_behaviour<>([](auto &self) { self.template published<sign>().text++; }); }),
    ROW("a host that was not given", "type 'wolf': host<T>(): set type_def.user before world.add()",
        {
          place here;
          muster::type_def<> def("wolf");
          def.period_ns = frame_ns;
          muster_agent_def agent = muster_agent_def_default();
          agent.type = muster::check(
              here.world.add(def, muster::behaviour([](auto &self) { self.template host<scene>().other = {}; }, 1000)));
          muster::check(here.world.spawn(agent));
          run_frames(here.world);
        }),
    ROW("a state that is too small", "type 'wolf': state_bytes 4 and published_bytes 0 are less than its State (16)",
        {
          place here;
          muster::type_def<wolf> def("wolf");
          def.state_bytes = 4;
          muster::check(here.world.add(def, muster::behaviour([](auto &self) { self.state().hunger++; })));
        }),
    ROW("a world out of its range", "cell_m 0 must be",
        {
          muster_world_def def = world_def();
          def.cell_m = 0;
          muster::check(muster::world(def));
        }),
    ROW("a definition without its default", "muster_world_def_default()",
        { muster::check(muster::world(muster_world_def{})); }),
    ROW("an agent of no type", "agent: type 0 is not registered",
        {
          place here;
          muster::check(here.world.spawn(muster_agent_def_default()));
        }),
    ROW("time that goes back", "sim_now_ns 1 is before the last frame's 2",
        {
          place here;
          muster::check(here.world.run(2, 5'000'000));
          muster::check(here.world.run(1, 5'000'000));
        }),
    ROW("a budget in milliseconds", "budget_ns 16 must be 10 us .. 10 s",
        {
          place here;
          muster::check(here.world.run(1, 16));
        }),
    ROW("a period in milliseconds", "period_ns 100 must be",
        {
          place here;
          muster::type_def<> def("wolf");
          def.period_ns = 100;
          muster::check(here.world.add(def, muster::behaviour([](auto &) {})));
        }),
    ROW("time in milliseconds", "simulation time hardly moves",
        {
          place here;
          for (std::uint64_t now_ms = 16; now_ms < 16'000; now_ms += 16)
            muster::check(here.world.run(now_ms, 5'000'000));
        }),
    ROW("a refusal thrown out of an atom",
        "atom 0 of agent 1 (generation 1) of type 'wolf' was left by a C++ exception (the last call that failed here "
        "said: "
        "position (1.0000000000000001e+300",
        { in_behaviour<>([](auto &self) {
            muster::check(self.move({1e300, 0, 0}));
          }); }),
    ROW("another exception out of an atom",
        "atom 0 of agent 1 (generation 1) of type 'wolf' was left by a C++ exception",
        { in_behaviour<>([](auto &) { (void)std::vector<int>(1).at(2); }); }),
    ROW("a pool that goes before its world", "world",
        {
          muster::world world;
          muster::pool pool(2u);
          muster_world_def def = world_def();
          def.pool = pool.get();
          world = muster::check(muster::world(def));
        }),
    ROW("a world that was moved away", "frame: the world must be given",
        {
          place here;
          muster::world other = std::move(here.world);
          muster::check(here.world.run(1, 5'000'000));
        }),
    ROW("a world that was never made", "muster_agent_spawn: the world must be given",
        {
          muster::world world;
          muster::check(world.spawn(muster_agent_def_default()));
        }),
    ROW("a spawn by the world in an atom",
        "muster_agent_spawn: not inside atom 0 of agent 1 (generation 1) of type 'wolf'",
        {
          in_behaviour<>([](auto &self) {
            muster_agent_def def = muster_agent_def_default();
            def.type = self->type;
            if (muster::is_null(self.template host<scene>().world->spawn(def))) {
              std::fprintf(stderr, "%s\n", muster_last_error());
              std::_Exit(1);
            }
          });
        }),
    ROW("a frame in an atom", "frame: not inside a frame: atom 0 of agent 1",
        { in_behaviour<>([](auto &self) { muster::check(self.template host<scene>().world->run(1, 5'000'000)); }); }),
    ROW("an update that is kept", "this update is not under way on this thread",
        {
          static muster_update *kept;
          in_behaviour<>([](auto &self) { kept = self.get(); });
          /* Its world is gone by now: only one that is kept while the world lives can be told. */
          place here;
          muster::type_def<> def("wolf");
          def.period_ns = frame_ns;
          muster_agent_def agent = muster_agent_def_default();
          agent.type =
              muster::check(here.world.add(def, muster::behaviour([](auto &self) { kept = self.get(); }, 1000)));
          muster::check(here.world.spawn(agent));
          run_frames(here.world);
          muster::check(muster::update<>(kept).move({1, 2, 3}));
        }),
    ROW("a world that ends in its own atom", "muster_world_destroy: inside a frame: atom 0 of agent 1",
        { in_behaviour<>([](auto &self) { *self.template host<scene>().world = muster::world(); }); }),
    ROW("a result that no call on this thread gave", "MUSTER_E_STALE", { muster::check(MUSTER_E_STALE); }),
    ROW("a spawn of a type that may not", "type 'wolf' may spawn 0 per update (spawns_max)",
        {
          in_behaviour<>([](auto &self) {
            muster_agent_def def = muster_agent_def_default();
            def.type = self->type;
            (void)self.spawn(def);
          });
        }),
    ROW("a message to a type without boxes", "message: type 'rock' has no boxes: set its messages.waiting_max",
        { in_behaviour<>([](auto &self) { (void)self.send(self.template host<scene>().other, 5); }); }),
    ROW("a message of a type that may send none", "type 'wolf' may send messages.sends_max = 0 per update",
        {
          act_on<>(
              [](muster::world &world) {
                muster_type_def def = plain("rock", nothing, 0);
                def.messages.waiting_max = 4;
                def.messages.bytes_max = 8;
                muster_agent_def agent = muster_agent_def_default();
                agent.type = muster::check(muster_type_register(world.get(), &def));
                return muster::check(world.spawn(agent));
              },
              muster::behaviour([](auto &self) { (void)self.send(self.template host<scene>().other, 5); }, 1000));
        }),
    ROW("a radius below 0", "nearby: radius_m -5 must be a number of at least 0",
        { in_behaviour<>([](auto &self) { (void)self.nearby(-5); }); }),
    ROW("a move to nowhere", "an update of type 'wolf' was refused: position (",
        { in_behaviour<>([](auto &self) {
            (void)self.move({0.0 / (self->elapsed_ns * 0.0), 0, 0});
          }); }),
};

/* Runs a program in a child; what it said. */
std::string words_of(const row &one, int &status) {
  int ends[2];
  std::string words;
  if (pipe(ends)) std::abort();
  const pid_t child = fork();
  if (!child) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], STDERR_FILENO);
    alarm(60);
    try {
      one.run();
    } catch (const std::exception &thrown) {
      std::fprintf(stderr, "what: %s\n", thrown.what());
    }
    std::_Exit(0);
  }
  close(ends[1]);
  std::array<char, 4096> piece;
  for (ssize_t got; (got = read(ends[0], piece.data(), piece.size())) > 0;) words.append(piece.data(), got);
  close(ends[0]);
  waitpid(child, &status, 0);
  return words;
}

} // namespace

int main(int count, char **arguments) {
  int failed = 0;
  for (const row &one : rows) {
    int status = 0;
    if (count > 1 && !std::strstr(one.name, arguments[1])) continue;
    const std::string words = words_of(one, status);
    if (words.find(one.says) != std::string::npos) continue;
    std::printf("%s: '%s' was not said (status %x), but: %s\n", one.name, one.says, static_cast<unsigned>(status),
                words.empty() ? "nothing" : words.c_str());
    failed++;
  }
  std::printf("%zu programs, %d without their words\n", sizeof rows / sizeof *rows, failed);
  return failed != 0;
}
