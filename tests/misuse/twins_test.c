/* A call that is refused changes nothing, whatever parts of what it was given were good: of two worlds that are alike
 * one is asked for what it refuses, and both save the same bytes, at once and after their next frame. */
#include "support/herd_world.h"
#include "support/snapshots.h"
#include "support/zones.h"

#include <muster/bulk.h>
#include <muster/journal.h>
#include <muster/overruns.h>
#include <muster/record.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <math.h>

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

/* ----------------------------------------------------------------------------------------------------- of agents */

static muster_result of_id(bool none) {
  return none ? muster_last_result() : MUSTER_OK;
}

static muster_agent_def agent_of(const twin *one) {
  muster_agent_def def = muster_agent_def_default();
  def.type = one->little.type;
  def.position.x = 77;
  return def;
}

static muster_result spawn_in_no_partition(twin *one) {
  muster_agent_def def = agent_of(one);
  def.partition = 65536;
  return of_id(muster_agent_is_null(muster_agent_spawn(one->little.world, &def)));
}

static muster_result spawn_of_no_type(twin *one) {
  muster_agent_def def = agent_of(one);
  def.type.index = 99;
  return of_id(muster_agent_is_null(muster_agent_spawn(one->little.world, &def)));
}

static muster_result tune_floor_and_bad_bulk(twin *one) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.importance_floor = tuning.elasticity = tuning.visibility = 0.5f;
  tuning.bulk = 1.5f;
  return muster_agent_tune(one->little.world, one->agents[0], &tuning);
}

static muster_result tune_designer_and_bad_role(twin *one) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.designer = 0.5f;
  tuning.role = -0.5f;
  tuning.interactivity = NAN;
  return muster_agent_tune(one->little.world, one->agents[0], &tuning);
}

static muster_result move_beyond(twin *one) {
  return muster_agent_move(one->little.world, one->agents[0], (muster_position){4, 5, INFINITY});
}

static muster_result wake_beyond(twin *one) {
  return muster_agent_wake_at(one->little.world, one->agents[0], UINT64_MAX - 1);
}

static muster_result periods_that_end_before_they_begin(twin *one) {
  return muster_agent_set_periods(one->little.world, one->agents[0], 50000000, 40000000);
}

static muster_result periods_of_a_type_likewise(twin *one) {
  return muster_type_set_periods(one->little.world, one->little.type, 50000000, 40000000);
}

static muster_result longest_period_alone(twin *one) {
  return muster_agent_set_periods(one->little.world, one->agents[0], 0, 90000000);
}

static muster_result company_of_oneself(twin *one) {
  return muster_agent_link(one->little.world, one->agents[0], one->agents[0]);
}

static muster_result company_of_nobody(twin *one) {
  return muster_agent_link(one->little.world, one->agents[0], one->gone);
}

static muster_result send_too_much(twin *one) {
  static const char bytes[MUSTER_MESSAGE_BYTES_MAX + 1];
  return muster_agent_send(one->little.world, one->agents[0], bytes, sizeof bytes);
}

static muster_result remove_who_is_gone(twin *one) {
  return muster_agent_remove(one->little.world, one->gone);
}

static muster_result quarantine_of_no_type(twin *one) {
  return muster_type_quarantine(one->little.world, (muster_type){99});
}

static muster_result factors_beyond(twin *one) {
  const float values[] = {-0.1f, 1.1f, NAN};
  bool none = muster_agents_set_factor(one->little.world, MUSTER_FACTOR_BULK, one->agents, values, 3) == 0;
  return of_id(none);
}

static muster_result factor_that_is_none(twin *one) {
  const float value = 0.5f;
  return of_id(muster_agents_set_factor(one->little.world, (muster_factor)MUSTER_FACTORS, one->agents, &value, 1) == 0);
}

/* -------------------------------------------------------------------------------------------------- of observers */

static muster_observer_def observer_def(void) {
  muster_observer_def def = muster_observer_def_default();
  def.position.x = 5;
  return def;
}

static muster_result try_to_observe(const twin *one, const muster_observer_def *def) {
  return of_id(muster_observer_is_null(muster_observer_add(one->little.world, def)));
}

static muster_result observe_near_beyond_far(twin *one) {
  muster_observer_def def = observer_def();
  def.near_m = def.far_m;
  return try_to_observe(one, &def);
}

static muster_result observe_no_partition(twin *one) {
  muster_observer_def def = observer_def();
  def.partition = 65536;
  return try_to_observe(one, &def);
}

static muster_result observe_beyond(twin *one) {
  muster_observer_def def = observer_def();
  def.position.y = 2e9;
  return try_to_observe(one, &def);
}

static muster_result move_observer_beyond(twin *one) {
  return muster_observer_move(one->little.world, one->observer, (muster_position){6, NAN, 0});
}

static muster_result remove_no_observer(twin *one) {
  return muster_observer_remove(one->little.world, (muster_observer){one->observer.value + 7});
}

/* ------------------------------------------------------------------------------------------------- of the world */

static muster_result tune_pressure_and_bad_wait(twin *one) {
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.levels.pressure = 0.5f;
  tuning.priority.importance = 3.0f;
  tuning.priority.wait = -INFINITY;
  return muster_world_tune(one->little.world, &tuning);
}

static muster_result tune_one_factor_of_four(twin *one) {
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.updates_per_frame = 3;
  tuning.levels.pressure = 0.5f;
  tuning.importance.focus = 0.5f;
  return muster_world_tune(one->little.world, &tuning);
}

static muster_result tune_all_factors_to_none(twin *one) {
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.importance.focus = tuning.importance.designer = tuning.importance.role = tuning.importance.company = 0;
  return muster_world_tune(one->little.world, &tuning);
}

static muster_result more_workers_than_there_are(twin *one) {
  return muster_world_set_workers(one->little.world, 2);
}

static muster_result frame_without_a_budget(twin *one) {
  return muster_frame_run(one->little.world, &(muster_frame){one->little.now_ns + 1, 0});
}

static muster_result frame_that_goes_back(twin *one) {
  return muster_frame_run(one->little.world, &(muster_frame){one->little.now_ns - 1, 1000000});
}

static muster_result type_without_an_atom(twin *one) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1}, {NULL, MUSTER_ROLE_BEHAVIOUR, 1}};
  muster_type_def def = type_with(atoms, 2);
  return of_id(!muster_type_register(one->little.world, &def).index);
}

static muster_result record_to_nowhere(twin *one) {
  muster_record_def def = muster_record_def_default();
  return muster_record_begin(one->little.world, &def);
}

static bool write_nothing(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static muster_result record_that_is_refused(twin *one) {
  muster_record_def def = muster_record_def_default();
  def.write = write_nothing;
  return muster_record_begin(one->little.world, &def);
}

static muster_result journal_nowhere(twin *one) {
  muster_journal *journal = NULL;
  muster_journal_def def = muster_journal_def_default();
  def.path = "/nowhere/at/all";
  return muster_journal_begin(one->little.world, &def, &journal);
}

/* ------------------------------------------------------------------------------------------------------- of sets */

static muster_result tune_set(const twin *one, uint32_t set, const muster_set_tuning *tuning) {
  return muster_set_tune(one->little.world, one->sets, set, tuning);
}

static muster_result tune_set_to_two_periods(twin *one) {
  muster_set_tuning tuning = muster_set_tuning_default();
  tuning.share = 7;
  tuning.period_updates = 3;
  tuning.period_ns = TWIN_PERIOD_NS;
  return tune_set(one, 0, &tuning);
}

static muster_result tune_set_beyond(twin *one) {
  muster_set_tuning tuning = muster_set_tuning_default();
  tuning.period_updates = 2;
  tuning.share = 101;
  return tune_set(one, 0, &tuning);
}

static muster_result tune_no_set(twin *one) {
  muster_set_tuning tuning = muster_set_tuning_default();
  tuning.share = 7;
  return tune_set(one, 9, &tuning);
}

static muster_result share_beyond(twin *one) {
  return muster_type_set_share(one->little.world, one->sets, MUSTER_SHARE_MAX + 1);
}

/* ------------------------------------------------------------------------------------------------------ of zones */

static bool put_refuses(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return false;
}

static muster_result depart_to_nowhere(twin *one) {
  return muster_agent_depart(one->little.world, one->agents[1], 2, put_refuses, NULL);
}

static muster_result depart_to_here(twin *one) {
  zone_bytes bytes = {0};
  return muster_agent_depart(one->little.world, one->agents[1], 1, zone_put, &bytes);
}

static muster_result observer_departs_to_nowhere(twin *one) {
  return muster_observer_depart(one->little.world, one->observer, 2, put_refuses, NULL);
}

static muster_result observer_departs_to_here(twin *one) {
  zone_bytes bytes = {0};
  return muster_observer_depart(one->little.world, one->observer, 1, zone_put, &bytes);
}

static muster_result arrive_cut(twin *one) {
  return muster_agent_arrive(one->little.world, one->left.bytes, one->left.count - 9, NULL);
}

static muster_result arrive_with_an_old_hop(twin *one) {
  return muster_agent_arrive(one->little.world, one->left.bytes, one->left.count, NULL);
}

static muster_result left_without_a_hop(twin *one) {
  return muster_agent_left(one->little.world, one->agents[2], 0, 2);
}

static muster_result observer_left_to_here(twin *one) {
  return muster_observer_left(one->little.world, one->observer, 9, 1);
}

static muster_result epoch_in_force(twin *one) {
  return muster_zone_set_epoch(one->little.world, 1);
}

static muster_result epoch_beyond(twin *one) {
  return muster_zone_set_epoch(one->little.world, MUSTER_EPOCHS_MAX + 1);
}

static muster_result offset_beyond(twin *one) {
  return muster_zone_set_offset(one->little.world, INT64_MAX);
}

static muster_result ghosts_of_damaged_bytes(twin *one) {
  return muster_ghosts_set(one->little.world, 2, one->left.bytes, one->left.count, true);
}

static muster_result ghosts_of_oneself(twin *one) {
  return muster_ghosts_set(one->little.world, 1, NULL, 0, true);
}

static muster_zone_message message_to(const twin *one) {
  return (muster_zone_message){
      .from = {(uint64_t)3 << 50 | 7}, .to = one->agents[3], .sequence = 5, .size = 4, .bytes = "abc"};
}

static muster_result deliver_what_follows_itself(twin *one) {
  const muster_zone_message message = message_to(one);
  return muster_zone_deliver_after(one->little.world, &message, 5);
}

static muster_result deliver_without_bytes(twin *one) {
  muster_zone_message message = message_to(one);
  message.bytes = NULL;
  return muster_zone_deliver(one->little.world, &message);
}

static muster_result deliver_to_nobody(twin *one) {
  muster_zone_message message = message_to(one);
  message.to = (muster_agent){(uint64_t)9 << 50 | 77};
  return muster_zone_deliver(one->little.world, &message);
}

/* ------------------------------------------------------------------------------------------------------ of herds */

static muster_result herd_type_of_no_tree(twin *one) {
  muster_herd_type_def def = muster_herd_type_def_default();
  def.member = one->little.type;
  def.totals = 1;
  def.branching = 2;
  def.depth = 99;
  return of_id(!muster_herd_type_register(one->little.world, &def).index);
}

static muster_result add_herds(const twin *one, const muster_herd_def *def) {
  return of_id(muster_herds_add(one->little.world, one->herds, def, 1, NULL) == 0);
}

static muster_herd_def herd_at(double x) {
  return (muster_herd_def){.position = {x, 3, 0}, .velocity_x = 1, .members = 8, .totals = {1}};
}

static muster_result herd_of_no_total(twin *one) {
  muster_herd_def def = herd_at(9000);
  def.totals[0] = NAN;
  return add_herds(one, &def);
}

static muster_result herd_of_too_many(twin *one) {
  muster_herd_def def = herd_at(9000);
  def.members = 100000;
  return add_herds(one, &def);
}

static muster_result herd_in_no_partition(twin *one) {
  muster_herd_def def = herd_at(9000);
  def.partition = 65536;
  return add_herds(one, &def);
}

static muster_result name_no_member(twin *one) {
  return of_id(muster_agent_is_null(muster_herd_name(one->little.world, one->herd, 100000)));
}

static muster_result wake_no_member(twin *one) {
  return muster_herd_wake(one->little.world, one->herd, 100000);
}

static muster_result herd_departs_to_nowhere(twin *one) {
  return muster_herd_depart(one->little.world, one->herd, 2, put_refuses, NULL);
}

static muster_result herd_departs_to_here(twin *one) {
  zone_bytes bytes = {0};
  return muster_herd_depart(one->little.world, one->herd, 1, zone_put, &bytes);
}

static muster_result herd_arrives_damaged(twin *one) {
  return muster_herd_arrive(one->little.world, one->left.bytes, one->left.count, NULL);
}

/* --------------------------------------------------------------------------------------------------------- twins */

static muster_atom_result twin_set(muster_update *update) {
  walker_mind *mind = update->state;
  mind->sum = mind->sum * 31 + muster_update_random(update) + update->set;
  return MUSTER_ATOM_NEXT;
}

static void register_sets(twin *one) {
  static const muster_atom atom = {twin_set, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_set_def sets[] = {muster_set_def_default(), muster_set_def_default()};
  muster_type_def def = muster_type_def_default();
  for (uint32_t i = 0; i < 2; i++) sets[i].atoms = &atom, sets[i].atom_count = 1;
  def.name = "with sets";
  def.sets.list = sets;
  def.sets.count = 2;
  def.state_bytes = sizeof(walker_mind);
  def.period_ns = TWIN_PERIOD_NS;
  one->sets = muster_type_register(one->little.world, &def);
  cr_assert_neq(one->sets.index, 0, "%s", muster_last_error());
}

static void register_herds(twin *one) {
  static const muster_atom still = {.role = MUSTER_ROLE_BEHAVIOUR, .run = stand_still, .model_ns = 1000};
  muster_herd_type_def def = muster_herd_type_def_default();
  muster_type_def deer = deer_def(&still);
  def.totals = 1;
  def.herds_max = 64;
  def.member = muster_type_register(one->little.world, &deer);
  one->herds = muster_herd_type_register(one->little.world, &def);
  cr_assert_neq(one->herds.index, 0, "%s", muster_last_error());
  const muster_herd_def herd = herd_at(5000);
  cr_assert_eq(muster_herds_add(one->little.world, one->herds, &herd, 1, &one->herd), 1, "%s", muster_last_error());
}

static twin twin_create(void) {
  muster_world_def def = zone_world_def(1);
  muster_type_def type = walker_type();
  muster_observer_def watcher = muster_observer_def_default();
  def.limits.agents_max = TWIN_AGENTS_MAX;
  def.limits.observers_max = 2;
  def.limits.commands_max = TWIN_COMMANDS;
  def.importance_model = MUSTER_IMPORTANCE_FACTORS;
  twin one = {.little = little_world_create(1, &def)};
  one.little.provokes_idle = true;
  register_type(&one.little, &type);
  register_sets(&one);
  register_herds(&one);
  for (uint32_t i = 0; i < TWIN_AGENTS; i++) {
    muster_agent_def agent = agent_of(&one);
    agent.position.x = i;
    if (i % 3 == 2) agent.type = one.sets;
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

typedef struct trial {
  const char *name;
  muster_result (*call)(twin *one);
} trial;

#define TRIAL(name)                                                                                                    \
  { #name, name }
static const trial trials[] = {TRIAL(spawn_in_no_partition),
                               TRIAL(spawn_of_no_type),
                               TRIAL(tune_floor_and_bad_bulk),
                               TRIAL(tune_designer_and_bad_role),
                               TRIAL(move_beyond),
                               TRIAL(wake_beyond),
                               TRIAL(periods_that_end_before_they_begin),
                               TRIAL(periods_of_a_type_likewise),
                               TRIAL(longest_period_alone),
                               TRIAL(company_of_oneself),
                               TRIAL(company_of_nobody),
                               TRIAL(send_too_much),
                               TRIAL(remove_who_is_gone),
                               TRIAL(quarantine_of_no_type),
                               TRIAL(factors_beyond),
                               TRIAL(factor_that_is_none),
                               TRIAL(observe_near_beyond_far),
                               TRIAL(observe_no_partition),
                               TRIAL(observe_beyond),
                               TRIAL(move_observer_beyond),
                               TRIAL(remove_no_observer),
                               TRIAL(tune_pressure_and_bad_wait),
                               TRIAL(tune_one_factor_of_four),
                               TRIAL(tune_all_factors_to_none),
                               TRIAL(more_workers_than_there_are),
                               TRIAL(frame_without_a_budget),
                               TRIAL(frame_that_goes_back),
                               TRIAL(type_without_an_atom),
                               TRIAL(record_to_nowhere),
                               TRIAL(record_that_is_refused),
                               TRIAL(journal_nowhere),
                               TRIAL(tune_set_to_two_periods),
                               TRIAL(tune_set_beyond),
                               TRIAL(tune_no_set),
                               TRIAL(share_beyond),
                               TRIAL(depart_to_nowhere),
                               TRIAL(depart_to_here),
                               TRIAL(observer_departs_to_nowhere),
                               TRIAL(observer_departs_to_here),
                               TRIAL(arrive_cut),
                               TRIAL(arrive_with_an_old_hop),
                               TRIAL(left_without_a_hop),
                               TRIAL(observer_left_to_here),
                               TRIAL(epoch_in_force),
                               TRIAL(epoch_beyond),
                               TRIAL(offset_beyond),
                               TRIAL(ghosts_of_damaged_bytes),
                               TRIAL(ghosts_of_oneself),
                               TRIAL(deliver_what_follows_itself),
                               TRIAL(deliver_without_bytes),
                               TRIAL(deliver_to_nobody),
                               TRIAL(herd_type_of_no_tree),
                               TRIAL(herd_of_no_total),
                               TRIAL(herd_of_too_many),
                               TRIAL(herd_in_no_partition),
                               TRIAL(name_no_member),
                               TRIAL(wake_no_member),
                               TRIAL(herd_departs_to_nowhere),
                               TRIAL(herd_departs_to_here),
                               TRIAL(herd_arrives_damaged)};
#undef TRIAL

static void try(twin *tried, twin *other, const trial *one) {
  cr_expect_neq(one->call(tried), MUSTER_OK, "%s: it is not refused", one->name);
  expect_same(tried, other, one->name, "at once");
  run_frame(&tried->little);
  run_frame(&other->little);
  expect_same(tried, other, one->name, "after a frame");
}

Test(twins, each_refused_call_leaves_the_world_as_it_was) {
  twin tried = twin_create(), other = twin_create();
  expect_same(&tried, &other, "nothing", "at first");
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) try(&tried, &other, &trials[i]);
  for (uint32_t i = 0; i < TWIN_AGENTS_MAX - TWIN_AGENTS; i++) { /* no id is lost, or given in another order */
    muster_agent_def def = agent_of(&tried);
    muster_agent one = muster_agent_spawn(tried.little.world, &def), two = muster_agent_spawn(other.little.world, &def);
    cr_expect_eq(one.value, two.value, "spawn %u", i);
  }
  muster_observer_def def = observer_def();
  muster_observer one = muster_observer_add(tried.little.world, &def),
                  two = muster_observer_add(other.little.world, &def);
  cr_expect(!muster_observer_is_null(two));
  cr_expect_eq(one.value, two.value);
  twin_destroy(&tried);
  twin_destroy(&other);
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
  muster_observer_def def = observer_def();
  return try_to_observe(one, &def);
}

static muster_result tune_again(twin *one) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.importance_floor = tuning.designer = 0.5f;
  return muster_agent_tune(one->little.world, one->agents[0], &tuning);
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
  twin tried = twin_create(), other = twin_create();
  for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
    fill_commands(&tried);
    fill_commands(&other);
    try(&tried, &other, &full[i]);
  }
  twin_destroy(&tried);
  twin_destroy(&other);
}

/* An id was drawn for it, which nobody has heard of: the next one is another, and that is all. */
Test(twins, an_observer_that_finds_no_room_takes_no_place) {
  twin tried = twin_create(), other = twin_create();
  for (uint32_t i = 0; i < 8; i++) {
    fill_commands(&tried);
    fill_commands(&other);
    cr_expect_eq(observe_again(&tried), MUSTER_E_FULL);
    run_frame(&tried.little);
    run_frame(&other.little);
    cr_expect_eq(muster_world_hash(tried.little.world), muster_world_hash(other.little.world));
    cr_expect_eq(zone_status(&tried.little).observer_ids_free, zone_status(&other.little).observer_ids_free);
    cr_expect_eq(zone_status(&tried.little).observer_ids_free, 1);
    cr_expect_eq(zone_status(&tried.little).observer_ids_resting, 0);
  }
  cr_expect_eq(observe_again(&tried), MUSTER_OK, "its place is lost: %s", muster_last_error());
  cr_expect_eq(observe_again(&tried), MUSTER_E_FULL);
  cr_expect_eq(zone_status(&tried.little).observer_ids_free, 0);
  twin_destroy(&tried);
  twin_destroy(&other);
}

static muster_result spawn_one(twin *one) {
  muster_agent_def def = agent_of(one);
  return of_id(muster_agent_is_null(muster_agent_spawn(one->little.world, &def)));
}

static muster_result herd_elsewhere(twin *one) {
  muster_herd_def def = herd_at(9000);
  def.partition = 7; /* of a block of its own, which is an agent */
  return add_herds(one, &def);
}

Test(twins, where_all_ids_are_given_nobody_is_lost) {
  static const trial full[] = {{"an agent", spawn_one}, {"a herd", herd_elsewhere}, {"an observer", observe_again}};
  twin pair[2] = {twin_create(), twin_create()};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t spawned = 0;
    while (spawn_one(&pair[i]) == MUSTER_OK) cr_assert_leq(++spawned, TWIN_AGENTS_MAX);
    cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
    cr_assert_eq(observe_again(&pair[i]), MUSTER_OK);
    run_frame(&pair[i].little);
  }
  expect_same(&pair[0], &pair[1], "nothing", "at first");
  for (size_t i = 0; i < sizeof full / sizeof *full; i++) try(&pair[0], &pair[1], &full[i]);
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(muster_agent_remove(pair[i].little.world, pair[i].agents[0]), MUSTER_OK);
    cr_assert_eq(muster_observer_remove(pair[i].little.world, pair[i].observer), MUSTER_OK);
    run_frame(&pair[i].little);
    cr_expect_eq(spawn_one(&pair[i]), MUSTER_OK, "%s", muster_last_error());
    cr_expect_eq(observe_again(&pair[i]), MUSTER_OK, "%s", muster_last_error());
  }
  expect_same(&pair[0], &pair[1], "room", "at last");
  twin_destroy(&pair[0]);
  twin_destroy(&pair[1]);
}
