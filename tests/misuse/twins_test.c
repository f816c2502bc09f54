/* A call that is refused changes nothing, whatever parts of what it was given were good: of two worlds that are alike
 * one is asked for what it refuses, and both save the same bytes, at once and after their next frame. */
#include "misuse/misuse.h"
#include "support/herd_world.h"
#include "support/snapshots.h"
#include "support/zones.h"

enum { TWIN_AGENTS = 12, TWIN_AGENTS_MAX = 24, TWIN_COMMANDS = 64, TWIN_PERIOD_NS = 30000000 };

/* One of the two. */
typedef struct twin {
  little_world little;
  muster_type sets; /* a second type */
  muster_herd_type herds;
  muster_herd herd;
  muster_agent agents[TWIN_AGENTS];
  muster_observer observer;
  zone_bytes left; /* an agent that left */
  muster_agent gone;
} twin;

/* ----------------------------------------------------------------------------------------------- what they ask for */

static muster_result of_id(bool none) {
  return none ? muster_last_result() : MUSTER_OK;
}

static muster_result spawn(const twin *one, uint32_t type, uint32_t partition) {
  muster_agent_def def = WITH(muster_agent_def, it.type.index = type, it.position.x = 77, it.partition = partition);
  return of_id(muster_agent_is_null(muster_agent_spawn(one->little.world, &def)));
}

static muster_result try_to_observe(const twin *one, muster_observer_def def) {
  return of_id(muster_observer_is_null(muster_observer_add(one->little.world, &def)));
}

static muster_result tune(const twin *one, muster_agent_tuning tuning) {
  return muster_agent_tune(one->little.world, one->agents[0], &tuning);
}

static muster_result tune_world(const twin *one, muster_world_tuning tuning) {
  return muster_world_tune(one->little.world, &tuning);
}

static muster_result tune_set(const twin *one, uint32_t set, muster_set_tuning tuning) {
  return muster_set_tune(one->little.world, one->sets, set, &tuning);
}

static muster_result set_factors(const twin *one, muster_factor factor, const float *values, uint32_t count) {
  return of_id(muster_agents_set_factor(one->little.world, factor, one->agents, values, count) == 0);
}

static muster_result add_type(const twin *one, const muster_atom atoms[2]) {
  muster_type_def def = type_with(atoms, 2);
  return of_id(!muster_type_register(one->little.world, &def).index);
}

static muster_result record(const twin *one, muster_record_def def) {
  return muster_record_begin(one->little.world, &def);
}

static muster_result begin_journal(const twin *one, muster_journal_def def) {
  muster_journal *journal = NULL;
  return muster_journal_begin(one->little.world, &def, &journal);
}

static bool refuse(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

/* A message that follows on another of its sender, or on none: 0. */
static muster_result deliver(const twin *one, muster_agent to, const void *bytes, uint64_t follows) {
  const muster_zone_message message = {
      .from = {(uint64_t)3 << 50 | 7}, .to = to, .sequence = 5, .size = 4, .bytes = bytes};
  return follows ? muster_zone_deliver_after(one->little.world, &message, follows)
                 : muster_zone_deliver(one->little.world, &message);
}

static muster_result add_herd_type(const twin *one, uint32_t depth) {
  muster_herd_type_def def =
      WITH(muster_herd_type_def, it.member = one->little.type, it.totals = 1, it.branching = 2, it.depth = depth);
  return of_id(!muster_herd_type_register(one->little.world, &def).index);
}

static muster_herd_def herd_at(double x) {
  return (muster_herd_def){.position = {x, 3, 0}, .velocity_x = 1, .members = 8, .totals = {1}};
}

static muster_result try_to_add_herd(const twin *one, float total, uint32_t members, uint32_t partition) {
  muster_herd_def def = herd_at(9000);
  def.totals[0] = total;
  def.members = members;
  def.partition = partition;
  return of_id(muster_herds_add(one->little.world, one->herds, &def, 1, NULL) == 0);
}

/* Each call by its name, and what it returns; `one` is asked, `world` is its world. */
#define TRIALS(X)                                                                                                      \
  X(spawn_in_no_partition, spawn(one, one->little.type.index, 65536))                                                  \
  X(spawn_of_no_type, spawn(one, 99, 0))                                                                               \
  X(tune_floor_and_bad_bulk,                                                                                           \
    tune(one, WITH(muster_agent_tuning, it.bulk = 1.5f, it.importance_floor = it.elasticity = it.visibility = 0.5f)))  \
  X(tune_designer_and_bad_role,                                                                                        \
    tune(one, WITH(muster_agent_tuning, it.designer = 0.5f, it.role = -0.5f, it.interactivity = NAN)))                 \
  X(move_beyond, muster_agent_move(world, one->agents[0], (muster_position){4, 5, INFINITY}))                          \
  X(wake_beyond, muster_agent_wake_at(world, one->agents[0], UINT64_MAX - 1))                                          \
  X(periods_that_end_before_they_begin, muster_agent_set_periods(world, one->agents[0], 50000000, 40000000))           \
  X(periods_of_a_type_likewise, muster_type_set_periods(world, one->little.type, 50000000, 40000000))                  \
  X(longest_period_alone, muster_agent_set_periods(world, one->agents[0], 0, 90000000))                                \
  X(company_of_oneself, muster_agent_link(world, one->agents[0], one->agents[0]))                                      \
  X(company_of_nobody, muster_agent_link(world, one->agents[0], one->gone))                                            \
  X(send_too_much,                                                                                                     \
    muster_agent_send(world, one->agents[0], (char[MUSTER_MESSAGE_BYTES_MAX + 1]){0}, MUSTER_MESSAGE_BYTES_MAX + 1))   \
  X(remove_who_is_gone, muster_agent_remove(world, one->gone))                                                         \
  X(quarantine_of_no_type, muster_type_quarantine(world, (muster_type){99}))                                           \
  X(factors_beyond, set_factors(one, MUSTER_FACTOR_BULK, (float[]){-0.1f, 1.1f, NAN}, 3))                              \
  X(factor_that_is_none, set_factors(one, (muster_factor)MUSTER_FACTORS, (float[]){0.5f}, 1))                          \
  X(observe_near_beyond_far, try_to_observe(one, WITH(muster_observer_def, it.position.x = 5, it.near_m = it.far_m)))  \
  X(observe_no_partition, try_to_observe(one, WITH(muster_observer_def, it.position.x = 5, it.partition = 65536)))     \
  X(observe_beyond, try_to_observe(one, WITH(muster_observer_def, it.position.x = 5, it.position.y = 2e9)))            \
  X(move_observer_beyond, muster_observer_move(world, one->observer, (muster_position){6, NAN, 0}))                    \
  X(remove_no_observer, muster_observer_remove(world, (muster_observer){one->observer.value + 7}))                     \
  X(tune_pressure_and_bad_wait, tune_world(one, WITH(muster_world_tuning, it.levels.pressure = 0.5f,                   \
                                                     it.priority.importance = 3.0f, it.priority.wait = -INFINITY)))    \
  X(tune_one_factor_of_four, tune_world(one, WITH(muster_world_tuning, it.updates_per_frame = 3,                       \
                                                  it.levels.pressure = 0.5f, it.importance.focus = 0.5f)))             \
  X(tune_all_factors_to_none,                                                                                          \
    tune_world(one, WITH(muster_world_tuning, it.importance.focus = 0, it.importance.designer = 0,                     \
                         it.importance.role = 0, it.importance.company = 0)))                                          \
  X(more_workers_than_there_are, muster_world_set_workers(world, 2))                                                   \
  X(frame_without_a_budget, muster_frame_run(world, &(muster_frame){one->little.now_ns + 1, 0}))                       \
  X(frame_that_goes_back, muster_frame_run(world, &(muster_frame){one->little.now_ns - 1, 1000000}))                   \
  X(type_without_an_atom,                                                                                              \
    add_type(one, (muster_atom[]){{nothing, MUSTER_ROLE_BEHAVIOUR, 1}, {NULL, MUSTER_ROLE_BEHAVIOUR, 1}}))             \
  X(record_to_nowhere, record(one, muster_record_def_default()))                                                       \
  X(record_that_is_refused, record(one, WITH(muster_record_def, it.write = refuse)))                                   \
  X(journal_nowhere, begin_journal(one, WITH(muster_journal_def, it.path = "/nowhere/at/all")))                        \
  X(tune_set_to_two_periods,                                                                                           \
    tune_set(one, 0, WITH(muster_set_tuning, it.share = 7, it.period_updates = 3, it.period_ns = TWIN_PERIOD_NS)))     \
  X(tune_set_beyond, tune_set(one, 0, WITH(muster_set_tuning, it.period_updates = 2, it.share = 101)))                 \
  X(tune_no_set, tune_set(one, 9, WITH(muster_set_tuning, it.share = 7)))                                              \
  X(share_beyond, muster_type_set_share(world, one->sets, MUSTER_SHARE_MAX + 1))                                       \
  X(depart_to_nowhere, muster_agent_depart(world, one->agents[1], 2, refuse, NULL))                                    \
  X(depart_to_here, muster_agent_depart(world, one->agents[1], 1, zone_put, &(zone_bytes){0}))                         \
  X(observer_departs_to_nowhere, muster_observer_depart(world, one->observer, 2, refuse, NULL))                        \
  X(observer_departs_to_here, muster_observer_depart(world, one->observer, 1, zone_put, &(zone_bytes){0}))             \
  X(arrive_cut, muster_agent_arrive(world, one->left.bytes, one->left.count - 9, NULL))                                \
  X(arrive_with_an_old_hop, muster_agent_arrive(world, one->left.bytes, one->left.count, NULL))                        \
  X(left_without_a_hop, muster_agent_left(world, one->agents[2], 0, 2))                                                \
  X(observer_left_to_here, muster_observer_left(world, one->observer, 9, 1))                                           \
  X(epoch_in_force, muster_zone_set_epoch(world, 1))                                                                   \
  X(epoch_beyond, muster_zone_set_epoch(world, MUSTER_EPOCHS_MAX + 1))                                                 \
  X(offset_beyond, muster_zone_set_offset(world, INT64_MAX))                                                           \
  X(ghosts_of_damaged_bytes, muster_ghosts_set(world, 2, one->left.bytes, one->left.count, true))                      \
  X(ghosts_of_oneself, muster_ghosts_set(world, 1, NULL, 0, true))                                                     \
  X(deliver_what_follows_itself, deliver(one, one->agents[3], "abc", 5))                                               \
  X(deliver_without_bytes, deliver(one, one->agents[3], NULL, 0))                                                      \
  X(deliver_to_nobody, deliver(one, (muster_agent){(uint64_t)9 << 50 | 77}, "abc", 0))                                 \
  X(herd_type_of_no_tree, add_herd_type(one, 99))                                                                      \
  X(herd_of_no_total, try_to_add_herd(one, NAN, 8, 0))                                                                 \
  X(herd_of_too_many, try_to_add_herd(one, 1, 100000, 0))                                                              \
  X(herd_in_no_partition, try_to_add_herd(one, 1, 8, 65536))                                                           \
  X(name_no_member, of_id(muster_agent_is_null(muster_herd_name(world, one->herd, 100000))))                           \
  X(wake_no_member, muster_herd_wake(world, one->herd, 100000))                                                        \
  X(herd_departs_to_nowhere, muster_herd_depart(world, one->herd, 2, refuse, NULL))                                    \
  X(herd_departs_to_here, muster_herd_depart(world, one->herd, 1, zone_put, &(zone_bytes){0}))                         \
  X(herd_arrives_damaged, muster_herd_arrive(world, one->left.bytes, one->left.count, NULL))

#define CALL(NAME, ...)                                                                                                \
  static muster_result NAME(twin *one) {                                                                               \
    muster_world *world = one->little.world;                                                                           \
    (void)world;                                                                                                       \
    return __VA_ARGS__;                                                                                                \
  }
TRIALS(CALL)

typedef struct trial {
  const char *name;
  muster_result (*call)(twin *one);
} trial;

#define TRIAL(NAME, ...) {#NAME, NAME},
static const trial trials[] = {TRIALS(TRIAL)};

/* --------------------------------------------------------------------------------------------------------- twins */

static muster_atom_result twin_set(muster_update *update) {
  walker_mind *mind = update->state;
  mind->sum = mind->sum * 31 + muster_update_random(update) + update->set;
  return MUSTER_ATOM_NEXT;
}

static void register_sets(twin *one) {
  static const muster_atom atom = {twin_set, MUSTER_ROLE_BEHAVIOUR, 1000};
  const muster_set_def set = WITH(muster_set_def, it.atoms = &atom, it.atom_count = 1), sets[] = {set, set};
  muster_type_def def = WITH(muster_type_def, it.name = "with sets", it.sets.list = sets, it.sets.count = 2,
                             it.state_bytes = sizeof(walker_mind), it.period_ns = TWIN_PERIOD_NS);
  one->sets = muster_type_register(one->little.world, &def);
  cr_assert_neq(one->sets.index, 0, "%s", muster_last_error());
}

static void register_herds(twin *one) {
  static const muster_atom still = {.role = MUSTER_ROLE_BEHAVIOUR, .run = stand_still, .model_ns = 1000};
  muster_type_def deer = deer_def(&still);
  muster_herd_type_def def = WITH(muster_herd_type_def, it.totals = 1, it.herds_max = 64,
                                  it.member = muster_type_register(one->little.world, &deer));
  one->herds = muster_herd_type_register(one->little.world, &def);
  cr_assert_neq(one->herds.index, 0, "%s", muster_last_error());
  const muster_herd_def herd = herd_at(5000);
  cr_assert_eq(muster_herds_add(one->little.world, one->herds, &herd, 1, &one->herd), 1, "%s", muster_last_error());
}

static twin twin_create(void) {
  muster_observer_def watcher = muster_observer_def_default();
  twin one = {.little = typed_world(1,
                                    WITH(zone_def, it.limits.agents_max = TWIN_AGENTS_MAX, it.limits.observers_max = 2,
                                         it.limits.commands_max = TWIN_COMMANDS,
                                         it.importance_model = MUSTER_IMPORTANCE_FACTORS),
                                    walker_type())};
  one.little.provokes_idle = true;
  register_sets(&one);
  register_herds(&one);
  for (uint32_t i = 0; i < TWIN_AGENTS; i++) {
    muster_agent_def agent =
        WITH(muster_agent_def, it.type = i % 3 == 2 ? one.sets : one.little.type, it.position.x = i);
    one.agents[i] = muster_agent_spawn(one.little.world, &agent);
  }
  one.observer = muster_observer_add(one.little.world, &watcher);
  muster_agent leaves = spawn_at(&one.little, 1);
  one.gone = spawn_at(&one.little, 2);
  run_frames(&one.little, 3);
  depart(&one.little, leaves, 2, &one.left);
  cr_assert_eq(muster_agent_remove(one.little.world, one.gone), MUSTER_OK);
  cr_assert_eq(muster_agent_send(one.little.world, leaves, "abc", 4), MUSTER_OK, "%s", muster_last_error());
  run_frames(&one.little, 3);
  cr_assert_eq(zone_status(&one.little).messages, 1, "it waits for another zone");
  return one;
}

static void twin_destroy(twin *one) {
  free(one->left.bytes);
  little_world_destroy(&one->little);
}

static void expect_same(const twin *tried, const twin *other, const char *what, const char *when) {
  saved_world one = save_world(tried->little.world), two = save_world(other->little.world);
  cr_expect_eq(muster_world_hash(tried->little.world), muster_world_hash(other->little.world), "%s, %s: another world",
               what, when);
  cr_expect_eq(one.count, two.count, "%s, %s: it saves %zu bytes, and the other %zu", what, when, one.count, two.count);
  size_t at = 0, least = one.count < two.count ? one.count : two.count;
  while (at < least && one.bytes[at] == two.bytes[at]) at++;
  cr_expect_eq(at, least, "%s, %s: byte %zu of what it saves is another", what, when, at);
  free(one.bytes);
  free(two.bytes);
}

static void try(twin *tried, twin *other, const trial *one) {
  cr_expect_neq(one->call(tried), MUSTER_OK, "%s: it is not refused", one->name);
  expect_same(tried, other, one->name, "at once");
  run_both(&tried->little, &other->little, 1);
  expect_same(tried, other, one->name, "after a frame");
}

Test(twins, each_refused_call_leaves_the_world_as_it_was) {
  SCOPED(twin_destroy) twin tried = twin_create(), other = twin_create();
  expect_same(&tried, &other, "nothing", "at first");
  for (size_t i = 0; i < COUNT_OF(trials); i++) try(&tried, &other, &trials[i]);
  for (uint32_t i = 0; i < TWIN_AGENTS_MAX - TWIN_AGENTS; i++) { /* no id is lost, or given in another order */
    muster_agent_def def = WITH(muster_agent_def, it.type = tried.little.type, it.position.x = 77);
    muster_agent one = muster_agent_spawn(tried.little.world, &def), two = muster_agent_spawn(other.little.world, &def);
    cr_expect_eq(one.value, two.value, "spawn %u", i);
  }
  muster_observer_def def = WITH(muster_observer_def, it.position.x = 5);
  muster_observer one = muster_observer_add(tried.little.world, &def),
                  two = muster_observer_add(other.little.world, &def);
  cr_expect(!muster_observer_is_null(two));
  cr_expect_eq(one.value, two.value);
}

/* ---------------------------------------------------------------------------------------------- where it is full */

static void fill_commands(twin *one) {
  for (uint32_t i = 0;; i++) {
    cr_assert_leq(i, 2 * TWIN_COMMANDS, "it is never full");
    if (muster_agent_move(one->little.world, one->agents[i % TWIN_AGENTS], (muster_position){i, 1, 0})) break;
  }
  cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
}

static muster_result observe_again(twin *one) {
  return try_to_observe(one, WITH(muster_observer_def, it.position.x = 5));
}

static muster_result tune_again(twin *one) {
  return tune(one, WITH(muster_agent_tuning, it.importance_floor = it.designer = 0.5f));
}

static muster_result periods_again(twin *one) {
  return muster_agent_set_periods(one->little.world, one->agents[0], 50000000, 60000000);
}

static muster_result remove_herd(twin *one) {
  return muster_herd_remove(one->little.world, one->herd);
}

static muster_result share_again(twin *one) {
  return muster_type_set_share(one->little.world, one->sets, 3);
}

/* All of it would be taken where there is room. */
Test(twins, what_finds_no_room_leaves_the_world_as_it_was) {
  static const trial full[] = {{"a tuning", tune_again},
                               {"periods", periods_again},
                               {"a herd that goes", remove_herd},
                               {"a share", share_again}};
  SCOPED(twin_destroy) twin tried = twin_create(), other = twin_create();
  for (size_t i = 0; i < COUNT_OF(full); i++) {
    fill_commands(&tried);
    fill_commands(&other);
    try(&tried, &other, &full[i]);
  }
}

/* An id was drawn for it, which nobody has heard of: the next one is another, and that is all. */
Test(twins, an_observer_that_finds_no_room_takes_no_place) {
  SCOPED(twin_destroy) twin tried = twin_create(), other = twin_create();
  for (uint32_t i = 0; i < 8; i++) {
    fill_commands(&tried);
    fill_commands(&other);
    cr_expect_eq(observe_again(&tried), MUSTER_E_FULL);
    run_both(&tried.little, &other.little, 1);
    cr_expect_eq(muster_world_hash(tried.little.world), muster_world_hash(other.little.world));
    cr_expect_eq(zone_status(&tried.little).observer_ids_free, zone_status(&other.little).observer_ids_free);
    cr_expect_eq(zone_status(&tried.little).observer_ids_free, 1);
    cr_expect_eq(zone_status(&tried.little).observer_ids_resting, 0);
  }
  cr_expect_eq(observe_again(&tried), MUSTER_OK, "its place is lost: %s", muster_last_error());
  cr_expect_eq(observe_again(&tried), MUSTER_E_FULL);
  cr_expect_eq(zone_status(&tried.little).observer_ids_free, 0);
}

static muster_result spawn_one(twin *one) {
  return spawn(one, one->little.type.index, 0);
}

static muster_result herd_elsewhere(twin *one) {
  return try_to_add_herd(one, 1, 8, 7); /* of a block of its own, which is an agent */
}

Test(twins, where_all_ids_are_given_nobody_is_lost) {
  static const trial full[] = {{"an agent", spawn_one}, {"a herd", herd_elsewhere}, {"an observer", observe_again}};
  SCOPED(twin_destroy) twin tried = twin_create(), other = twin_create();
  twin *const pair[] = {&tried, &other};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t spawned = 0;
    while (spawn_one(pair[i]) == MUSTER_OK) cr_assert_leq(++spawned, TWIN_AGENTS_MAX);
    cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
    cr_assert_eq(observe_again(pair[i]), MUSTER_OK);
    run_frame(&pair[i]->little);
  }
  expect_same(&tried, &other, "nothing", "at first");
  for (size_t i = 0; i < COUNT_OF(full); i++) try(&tried, &other, &full[i]);
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(muster_agent_remove(pair[i]->little.world, pair[i]->agents[0]), MUSTER_OK);
    cr_assert_eq(muster_observer_remove(pair[i]->little.world, pair[i]->observer), MUSTER_OK);
    run_frame(&pair[i]->little);
    cr_expect_eq(spawn_one(pair[i]), MUSTER_OK, "%s", muster_last_error());
    cr_expect_eq(observe_again(pair[i]), MUSTER_OK, "%s", muster_last_error());
  }
  expect_same(&tried, &other, "room", "at last");
}
