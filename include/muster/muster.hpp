/* muster/muster.hpp - the C headers for a server in C++17: owners, spans, and lambdas as atoms. Header-only; everything
 * is a thin inline call of the C function of the same name, whose comment says what it does, for which arguments and on
 * which thread. Structs, enums and ids are those of C: fill a definition by its muster_..._default() and change what
 * you need. Six nouns make a server:
 *
 *     world      muster::world           owns agents, observers and types; the host runs its frames
 *     type       muster::type_def<S, P>  S is what an agent keeps to itself, P what others may read of it
 *     agent      muster_agent            an id; spawned by the world or by an atom
 *     observer   muster_observer         a player or camera: agents near it matter, and run more often
 *     frame      world.run(now, budget)  once per turn of the host's own loop, which paces itself
 *     atom       a lambda                muster::behaviour([](auto &self) { self.move({1, 2, 0}); })
 *
 *     struct wolf { float hunger; };
 *     muster_world_def world_def = muster_world_def_default();
 *     muster::world world = muster::check(muster::world(world_def));
 *     muster::type_def<wolf> wolves("wolf");
 *     muster_agent_def npc = muster_agent_def_default();
 *     npc.type = muster::check(world.add(wolves, muster::behaviour([](auto &self) { self.state().hunger += 1; })));
 *     muster::check(world.spawn(npc));
 *     for (uint64_t now_ns = 0; now_ns < 1000000000; now_ns += 33333333) muster::check(world.run(now_ns, 2000000));
 *
 * Errors: every call returns what the C function returns: a muster_result, or a null id or pointer, or false. Nothing
 * here throws but muster::check(), which turns such an answer into a muster::error. With -fno-exceptions there is no
 * check(): look at the answer, and at muster_last_error(). Works with -fno-rtti, too.
 *
 * Memory: nothing here allocates. Atoms are made of lambdas without captures, which have no state: what they share is
 * the type's `user` (self.host<T>()), a struct of the host. A callback that an exception leaves ends the process.
 */
#ifndef MUSTER_MUSTER_HPP
#define MUSTER_MUSTER_HPP

#if __cplusplus < 201703L
#error "muster.hpp needs C++17: compile with -std=c++17 or a later one, or include the C headers alone"
#endif

#include <muster/bulk.h>
#include <muster/herd.h>
#include <muster/module.h>
#include <muster/muster.h>
#include <muster/replicate.h>
#include <muster/tune.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <exception>
#endif

/* Ids: == and != compare, std::hash hashes, muster::is_null() asks. Any thread. */
#define MUSTER_ID_OPERATORS(id, key)                                                                                   \
  constexpr bool operator==(id a, id b) noexcept {                                                                     \
    return a.key == b.key;                                                                                             \
  }                                                                                                                    \
  constexpr bool operator!=(id a, id b) noexcept {                                                                     \
    return a.key != b.key;                                                                                             \
  }                                                                                                                    \
  template <> struct std::hash<id> {                                                                                   \
    std::size_t operator()(id of) const noexcept { return std::hash<decltype(of.key)>()(of.key); }                     \
  };                                                                                                                   \
  namespace muster {                                                                                                   \
  constexpr bool is_null(id of) noexcept {                                                                             \
    return of.key == 0;                                                                                                \
  }                                                                                                                    \
  }
MUSTER_ID_OPERATORS(muster_agent, value)
MUSTER_ID_OPERATORS(muster_observer, value)
MUSTER_ID_OPERATORS(muster_herd, value)
MUSTER_ID_OPERATORS(muster_type, index)
#undef MUSTER_ID_OPERATORS

namespace muster {

/* ---------------------------------------------------------------------------------------------------------- spans */

/* Elements that lie in a row and belong to somebody else. Converts from C arrays and from all that has data() and
 * size(): std::vector, std::array, std::span. */
template <class T> class span {
public:
  constexpr span() noexcept = default;
  constexpr span(T *first, std::size_t count) noexcept : first_(first), count_(count) {}
  template <std::size_t N> constexpr span(T (&array)[N]) noexcept : first_(array), count_(N) {}
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::declval<C &>().data()), T *> &&
                         std::is_same_v<std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<C &>().data())>>,
                                        std::remove_cv_t<T>>>>
  constexpr span(C &&container) noexcept : first_(container.data()), count_(container.size()) {}

  constexpr T *data() const noexcept { return first_; }
  constexpr std::size_t size() const noexcept { return count_; }
  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr T *begin() const noexcept { return first_; }
  constexpr T *end() const noexcept { return first_ + count_; }
  constexpr T &operator[](std::size_t i) const noexcept { return first_[i]; }

private:
  T *first_ = nullptr;
  std::size_t count_ = 0;
};

/* At most N elements and room for them: what a query of an atom returns, by value and without allocation. */
template <class T, std::size_t N> class found {
public:
  found() noexcept {} /* leaves the room as it is: only the first size() elements are ever read */
  T *data() noexcept { return room_; }
  const T *data() const noexcept { return room_; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  const T *begin() const noexcept { return room_; }
  const T *end() const noexcept { return room_ + count_; }
  const T &operator[](std::size_t i) const noexcept { return room_[i]; }
  void resize(std::size_t count) noexcept { count_ = count; }

private:
  std::size_t count_ = 0;
  T room_[N];
};

/* ---------------------------------------------------------------------------------------------------------- atoms */

namespace detail {
/* The size of a state; void is none. Muster copies states as bytes. */
template <class T> constexpr std::uint32_t bytes_of() {
  if constexpr (std::is_void_v<T>) {
    return 0;
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "Muster copies and zeroes states as bytes: no strings, no vectors");
    static_assert(alignof(T) <= 8, "states are aligned to 8 bytes");
    return sizeof(T);
  }
}

/* A mistake in the program that would be a crash next: ends the process with a line that says what to do. */
[[noreturn]] inline void end(const muster_update *update, const char *mistake) noexcept {
  const char *type = muster_type_name(update->world, update->type);
  std::fprintf(stderr, "muster: type '%s': %s\n", type ? type : "?", mistake);
  std::abort();
}

/* What a pointer of an update points at; ends the process when it is null. */
template <class T> T &at(const muster_update *update, void *there, const char *mistake) noexcept {
  if (!there) end(update, mistake);
  return *static_cast<T *>(there);
}
} // namespace detail

/* What an atom of a type with this state and this published state is given: muster_update with types. Fields of the C
 * struct are read through ->, such as self->elapsed_ns. Valid until the atom returns. */
template <class State = void, class Published = void> class update {
public:
  explicit update(muster_update *of) noexcept : update_(of) {}
  muster_update *get() const noexcept { return update_; }
  const muster_update *operator->() const noexcept { return update_; }

  /* Its own state, to read and write. */
  template <class T = State> T &state() const noexcept {
    static_assert(std::is_void_v<State> || std::is_convertible_v<State *, T *>,
                  "the state of this type is another one");
    return detail::at<T>(update_, update_->state,
                         "state<T>(): it has no state; give type_def a State, or set state_bytes");
  }
  /* What others see of it after this frame's commit, to write. */
  template <class T = Published> T &published() const noexcept {
    static_assert(std::is_void_v<Published> || std::is_convertible_v<Published *, T *>,
                  "what this type publishes is another one");
    return detail::at<T>(update_, update_->published,
                         "published<T>(): it publishes nothing; give type_def a Published, or set published_bytes");
  }
  /* The type's user, which the host set in type_def.user; shared by all workers. */
  template <class T> T &host() const noexcept {
    return detail::at<T>(update_, update_->type_user, "host<T>(): set type_def.user before world.add()");
  }
  /* The agent's user, which the host set in muster_agent_def.user; may be null. */
  template <class T> T *user() const noexcept { return static_cast<T *>(update_->user); }
  /* The time to integrate over, in seconds. */
  double elapsed_s() const noexcept { return static_cast<double>(update_->elapsed_ns) * 1e-9; }

  /* muster_update_move(). */
  muster_result move(muster_position to) const noexcept { return muster_update_move(update_, to); }
  /* muster_update_spawn(): a null id where there is no room; the type needs spawns_max. */
  muster_agent spawn(const muster_agent_def &def) const noexcept { return muster_update_spawn(update_, &def); }
  /* muster_update_remove(). */
  muster_result remove(muster_agent agent) const noexcept { return muster_update_remove(update_, agent); }
  /* muster_update_wake(). */
  muster_result wake(muster_agent agent) const noexcept { return muster_update_wake(update_, agent); }
  /* muster_update_wake_at(). */
  muster_result wake_at(muster_agent agent, std::uint64_t at_ns) const noexcept {
    return muster_update_wake_at(update_, agent, at_ns);
  }

  /* Another agent's published state, which must be a T: muster_update_published_as(). Null when the id is stale; and,
   * with a message in the log, when its type publishes nothing, or a struct of another size. */
  template <class T = Published> const T *published_of(muster_agent agent) const noexcept {
    static_assert(!std::is_void_v<T>, "say what the other agent publishes: published_of<T>(agent)");
    return static_cast<const T *>(muster_update_published_as(update_, agent, detail::bytes_of<T>()));
  }
  /* Another agent's private state, which must be a T: muster_update_state_as(). Null when the id is stale and outside
   * action atoms; and, with a message in the log, when its type keeps none, or a struct of another size. */
  template <class T = State> T *state_of(muster_agent agent) const noexcept {
    static_assert(!std::is_void_v<T>, "say what the other agent keeps: state_of<T>(agent)");
    return static_cast<T *>(muster_update_state_as(update_, agent, detail::bytes_of<T>()));
  }
  /* Another agent's position as of the last commit; nothing when the id is stale. */
  std::optional<muster_position> position_of(muster_agent agent) const noexcept {
    muster_position position;
    if (!muster_update_position_of(update_, agent, &position)) return std::nullopt;
    return position;
  }
  /* The N nearest agents within a radius, nearest first: muster_update_nearby(). The null type is all types. */
  template <std::size_t N = 8> found<muster_neighbour, N> nearby(float radius_m, muster_type type = {}) const noexcept {
    static_assert(N > 0 && N <= MUSTER_NEIGHBOURS_MAX, "as many as muster_update_nearby() finds");
    found<muster_neighbour, N> all;
    all.resize(muster_update_nearby(update_, radius_m, type, all.data(), N));
    return all;
  }

  /* Sends a copy of a value: muster_update_send(). */
  template <class T> muster_result send(muster_agent to, const T &message) const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= MUSTER_MESSAGE_BYTES_MAX, "messages are bytes");
    return muster_update_send(update_, to, &message, sizeof message);
  }
  /* The N oldest messages that wait: muster_update_messages(). */
  template <std::size_t N = 16> found<muster_message, N> messages() const noexcept {
    found<muster_message, N> all;
    all.resize(muster_update_messages(update_, all.data(), N));
    return all;
  }

  /* Random numbers of this update: 64 bits, and 0 <= share < 1. */
  std::uint64_t random() const noexcept { return muster_update_random(update_); }
  float random_share() const noexcept { return muster_update_random_share(update_); }

private:
  muster_update *update_;
};

namespace detail {
/* Calls a lambda without captures, of which only the type is known. It has no state, so one that any bytes hold is as
 * good as the one that was given: it begins to live with the array (implicit-lifetime types, P0593). */
template <class F, class Self> decltype(auto) call(Self &self) {
  static_assert(std::is_empty_v<F> && std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>,
                "an atom is a lambda without captures; what it needs belongs into the type's user");
  alignas(F) unsigned char place[sizeof(F)] = {0};
  return (*std::launder(reinterpret_cast<F *>(place)))(self);
}

/* The function that C calls: atoms that return nothing go on with the next one. */
template <class F, class State, class Published> muster_atom_result run_atom(muster_update *given) {
  update<State, Published> self(given);
  if constexpr (std::is_void_v<decltype(call<F>(self))>) {
    call<F>(self);
    return MUSTER_ATOM_NEXT;
  } else {
    return call<F>(self);
  }
}

template <class F, class State, class Published> void run_callback(muster_update *given) {
  update<State, Published> self(given);
  call<F>(self);
}

/* A free function as an empty callable. */
template <auto Function> struct function {
  template <class Self> decltype(auto) operator()(Self &self) const { return Function(self); }
};
} // namespace detail

/* A step of an update, before its type is known. */
template <class F> struct atom {
  muster_role role;
  std::uint32_t model_ns;
};

/* Atoms of the three roles, of a lambda without captures that takes update<State, Published> & (or auto &) and returns
 * nothing or a muster_atom_result; the second argument is muster_atom.model_ns. A free function is named in angle
 * brackets instead: behaviour<&chase>(). */
template <class F> constexpr atom<F> behaviour(F, std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_BEHAVIOUR, model_ns};
}
template <class F> constexpr atom<F> perception(F, std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_PERCEPTION, model_ns};
}
template <class F> constexpr atom<F> action(F, std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_ACTION, model_ns};
}
template <auto Function> constexpr atom<detail::function<Function>> behaviour(std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_BEHAVIOUR, model_ns};
}
template <auto Function> constexpr atom<detail::function<Function>> perception(std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_PERCEPTION, model_ns};
}
template <auto Function> constexpr atom<detail::function<Function>> action(std::uint32_t model_ns = 0) {
  return {MUSTER_ROLE_ACTION, model_ns};
}

/* The C atom of a lambda, for arrays of the caller: the sets of muster/sets.h take them. */
template <class State = void, class Published = void, class F> constexpr muster_atom make_atom(atom<F> from) {
  return {&detail::run_atom<F, State, Published>, from.role, from.model_ns};
}

/* The definition of a type whose agents keep a State and publish a Published (void: none): muster_type_def with its
 * defaults and these sizes set. Change the other fields as in C; `user` is what host<T>() gives to atoms. */
template <class State = void, class Published = void> struct type_def : muster_type_def {
  explicit type_def(const char *its_name) noexcept : muster_type_def(muster_type_def_default()) {
    name = its_name;
    state_bytes = detail::bytes_of<State>();
    published_bytes = detail::bytes_of<Published>();
  }
  /* Sets on_spawned to a lambda: an agent's first callback. */
  template <class F> void spawned(F) noexcept { on_spawned = &detail::run_callback<F, State, Published>; }
  /* Sets on_removed to a lambda: an agent's last callback. */
  template <class F> void removed(F) noexcept { on_removed = &detail::run_callback<F, State, Published>; }
};

/* ---------------------------------------------------------------------------------------------------------- owners */

namespace detail {
struct destroy {
  void operator()(muster_pool *pool) const noexcept { muster_pool_destroy(pool); }
  void operator()(muster_world *world) const noexcept { muster_world_destroy(world); }
};
} // namespace detail

/* Owns a pool of workers; may be moved, not copied. Must outlive its worlds: declare it before them. */
class pool {
public:
  /* Owns nothing. */
  pool() noexcept = default;
  /* muster_pool_create(): owns nothing when that failed. */
  explicit pool(const muster_pool_def &def) noexcept : pool_(muster_pool_create(&def)) {}
  /* A pool of so many workers, the calling thread included; 0 = one per processor. */
  explicit pool(std::uint32_t workers) noexcept {
    muster_pool_def def = muster_pool_def_default();
    def.workers = workers;
    pool_.reset(muster_pool_create(&def));
  }
  explicit operator bool() const noexcept { return pool_ != nullptr; }
  muster_pool *get() const noexcept { return pool_.get(); }
  std::uint32_t workers() const noexcept { return muster_pool_workers(get()); }

  /* Calls run(begin, end, worker) for pieces of 0..count-1 on all workers and returns when all have ended:
   * muster_parallel_for(). The lambda may capture, since it stays where it is. */
  template <class F>
  muster_result parallel_for(std::uint64_t count, std::uint64_t grain, F &&run,
                             std::uint32_t urgency = MUSTER_URGENCY_NORMAL) const noexcept {
    using held = std::remove_reference_t<F>;
    auto piece = [](void *argument, std::uint64_t begin, std::uint64_t end, std::uint32_t worker) {
      (*static_cast<held *>(argument))(begin, end, worker);
    };
    return muster_parallel_for(get(), urgency, count, grain, piece,
                               const_cast<void *>(static_cast<const void *>(std::addressof(run))));
  }

private:
  std::unique_ptr<muster_pool, detail::destroy> pool_;
};

/* Owns a world; may be moved, not copied. The calls are those of muster/muster.h and bulk, report and replicate, on the
 * same threads. */
class world {
public:
  /* Owns nothing. */
  world() noexcept = default;
  /* muster_world_create(): owns nothing when that failed. */
  explicit world(const muster_world_def &def) noexcept : world_(muster_world_create(&def)) {}
  explicit operator bool() const noexcept { return world_ != nullptr; }
  /* For the C functions that are not here. */
  muster_world *get() const noexcept { return world_.get(); }

  /* Registers a type with these atoms, in order: muster_type_register(). The null type when that failed. */
  template <class State, class Published, class... F>
  [[nodiscard]] muster_type add(const type_def<State, Published> &def, atom<F>... atoms) noexcept {
    static_assert(sizeof...(F) > 0, "a type needs an atom; one of sets is registered by muster_type_register()");
    const muster_atom list[] = {make_atom<State, Published>(atoms)...};
    muster_type_def complete = def;
    if (def.state_bytes < detail::bytes_of<State>() || def.published_bytes < detail::bytes_of<Published>()) {
      muster_module_fail(MUSTER_E_ARGUMENT,
                         "type '%s': state_bytes %u and published_bytes %u are less than its State (%u) and Published "
                         "(%u): leave them as type_def sets them",
                         def.name ? def.name : "agent", def.state_bytes, def.published_bytes, detail::bytes_of<State>(),
                         detail::bytes_of<Published>());
      return {};
    }
    complete.atoms = list;
    complete.atom_count = sizeof...(F);
    return muster_type_register(get(), &complete);
  }

  /* muster_agent_spawn(): a null id when there is no room. */
  [[nodiscard]] muster_agent spawn(const muster_agent_def &def) noexcept { return muster_agent_spawn(get(), &def); }
  /* muster_agent_remove(). */
  muster_result remove(muster_agent agent) noexcept { return muster_agent_remove(get(), agent); }
  /* muster_agent_move(). */
  muster_result move(muster_agent agent, muster_position to) noexcept { return muster_agent_move(get(), agent, to); }
  /* muster_agents_move(): agents[i] to positions[i], as far as both reach. */
  std::uint32_t move(span<const muster_agent> agents, span<const muster_position> positions) noexcept {
    return muster_agents_move(get(), agents.data(), positions.data(), shorter(agents.size(), positions.size()));
  }
  /* muster_agent_wake(). */
  muster_result wake(muster_agent agent) noexcept { return muster_agent_wake(get(), agent); }
  /* muster_agent_wake_at(). */
  muster_result wake_at(muster_agent agent, std::uint64_t at_ns) noexcept {
    return muster_agent_wake_at(get(), agent, at_ns);
  }
  /* muster_agent_set_periods(), muster_type_set_periods(). */
  muster_result set_periods(muster_agent agent, std::uint64_t period_ns, std::uint64_t period_max_ns = 0) noexcept {
    return muster_agent_set_periods(get(), agent, period_ns, period_max_ns);
  }
  muster_result set_periods(muster_type type, std::uint64_t period_ns, std::uint64_t period_max_ns = 0) noexcept {
    return muster_type_set_periods(get(), type, period_ns, period_max_ns);
  }
  /* muster_agent_send(): a copy of a value. */
  template <class T> muster_result send(muster_agent to, const T &message) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= MUSTER_MESSAGE_BYTES_MAX, "messages are bytes");
    return muster_agent_send(get(), to, &message, sizeof message);
  }
  /* muster_agent_exists(). */
  bool exists(muster_agent agent) const noexcept { return muster_agent_exists(get(), agent); }
  /* muster_agent_read(): nothing when the id is gone. */
  std::optional<muster_agent_info> read(muster_agent agent) const noexcept {
    muster_agent_info info = muster_agent_info_default();
    if (muster_agent_read(get(), agent, &info) != MUSTER_OK) return std::nullopt;
    return info;
  }
  /* muster_agents_read(): of many agents into the caller's columns, which have a place for each. */
  std::uint32_t read(span<const muster_agent> agents, const muster_agent_columns &columns) const noexcept {
    return muster_agents_read(get(), agents.data(), static_cast<std::uint32_t>(agents.size()), &columns);
  }
  /* Calls each(agent) for all active agents, in agent order. */
  template <class F> void for_each_agent(F &&each) const {
    for (muster_agent agent = {}; !is_null(agent = muster_agent_next(get(), agent));) each(agent);
  }

  /* muster_observer_add(): a null id when there is no room. */
  [[nodiscard]] muster_observer add(const muster_observer_def &def) noexcept {
    return muster_observer_add(get(), &def);
  }
  /* muster_observer_move(). */
  muster_result move(muster_observer observer, muster_position to) noexcept {
    return muster_observer_move(get(), observer, to);
  }
  /* muster_observers_move(): observers[i] to positions[i], as far as both reach. */
  std::uint32_t move(span<const muster_observer> observers, span<const muster_position> positions) noexcept {
    return muster_observers_move(get(), observers.data(), positions.data(),
                                 shorter(observers.size(), positions.size()));
  }
  /* muster_observer_remove(). */
  muster_result remove(muster_observer observer) noexcept { return muster_observer_remove(get(), observer); }

  /* Runs one frame: muster_frame_run(). */
  [[nodiscard]] muster_result run(std::uint64_t sim_now_ns, std::uint64_t budget_ns) noexcept {
    const muster_frame frame = {sim_now_ns, budget_ns};
    return muster_frame_run(get(), &frame);
  }
  /* What happened in the last frame: muster_frame_report_read(). */
  muster_frame_report report() const noexcept {
    muster_frame_report report = muster_frame_report_default();
    muster_frame_report_read(get(), &report);
    return report;
  }
  /* Sums over frames: muster_statistics_read(). */
  muster_statistics statistics() const noexcept {
    muster_statistics sums = muster_statistics_default();
    muster_statistics_read(get(), &sums);
    return sums;
  }
  /* muster_world_hash(). */
  std::uint64_t hash() const noexcept { return muster_world_hash(get()); }

  /* Calls each(span<const muster_change>) until all that happened since the cursor was told: muster_frame_changes(), in
   * pieces of what `room` holds. MUSTER_E_STALE: too much was missed; read everybody, and go on from the cursor. */
  template <class F>
  [[nodiscard]] muster_result changes(std::uint32_t kinds, std::uint64_t &cursor, span<muster_change> room,
                                      F &&each) const {
    const std::uint32_t capacity = static_cast<std::uint32_t>(room.size());
    std::uint32_t count = 0;
    do {
      const muster_result result = muster_frame_changes(get(), kinds, &cursor, room.data(), capacity, &count);
      if (result != MUSTER_OK) return result;
      if (count) each(span<const muster_change>(room.data(), count));
    } while (count && count == capacity);
    return MUSTER_OK;
  }

private:
  static std::uint32_t shorter(std::size_t a, std::size_t b) noexcept {
    return static_cast<std::uint32_t>(a < b ? a : b);
  }
  std::unique_ptr<muster_world, detail::destroy> world_;
};

/* ---------------------------------------------------------------------------------------------------------- errors */

#if defined(__cpp_exceptions)
/* What check() throws: the result, and the sentence of muster_last_error(). Without one, since the result is another
 * than that of the last failure on this thread, what() is the result's name. */
class error : public std::exception {
public:
  explicit error(muster_result result) noexcept : result_(result) {
    const bool said = muster_last_result() == result && *muster_last_error();
    std::strncpy(what_, said ? muster_last_error() : muster_result_name(result), sizeof what_ - 1);
  }
  muster_result result() const noexcept { return result_; }
  const char *what() const noexcept override { return what_; }

private:
  muster_result result_;
  char what_[512] = {};
};

/* Throws muster::error for any result but MUSTER_OK. */
inline void check(muster_result result) {
  if (result != MUSTER_OK) throw error(result);
}
/* Returns a pool or a world; throws muster::error for one that could not be created. */
inline pool check(pool made) {
  if (!made) throw error(muster_last_result());
  return made;
}
inline world check(world made) {
  if (!made) throw error(muster_last_result());
  return made;
}
/* Returns an id; throws muster::error for a null one. */
template <class Id> auto check(Id id) -> std::enable_if_t<std::is_same_v<decltype(is_null(id)), bool>, Id> {
  if (is_null(id)) throw error(muster_last_result());
  return id;
}
#endif

} // namespace muster

#endif
