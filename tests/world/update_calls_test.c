/* What an atom may call, against a model of what each call does: times that are asked for again and again, commands and
 * messages beyond what there is room for, refusals that mark nothing, mistakes that are told once each. */
#include "run/runner.h"
#include "world/fixture.h"

#include <muster/random.h>

/* A world of agents that run this one atom in each frame. */
static little_world calling_world(muster_atom_result (*run)(muster_update *), muster_role role, muster_act act,
                                  muster_world_def def, void *user) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {run, role, 1000}};
  return careless(typed_world(1, def,
                              CHANGED(actors_def(atoms, act, user), it.spawns_max = 2, it.messages.waiting_max = 8,
                                      it.messages.sends_max = 3, it.messages.bytes_max = 8)));
}

/* ------------------------------------------------------------------------------------------------ times to run at */

enum { ASKS = 400 };

struct asked {
  uint64_t wake_ns, react_ns, chance;
  bool wakes, cancels, reacts;
  uint32_t rounds;
};

static uint64_t draw(uint64_t *chance, uint64_t below) {
  return muster_random_mix(++*chance) % below;
}

static uint64_t draw_time(struct asked *asked) {
  uint64_t times[] = {MUSTER_WAKE_NEVER, UINT64_MAX / 2, 5000000000u + draw(&asked->chance, 1000)};
  uint64_t kind = draw(&asked->chance, 8);
  return times[kind < 2 ? kind : 2];
}

static void ask_wake(struct asked *asked, muster_update *update) {
  uint64_t at_ns = draw_time(asked);
  bool wrong = at_ns == UINT64_MAX / 2;
  cr_assert_eq(muster_update_wake_at(update, update->agent, at_ns), wrong ? MUSTER_E_ARGUMENT : MUSTER_OK);
  if (wrong) return;
  if (at_ns == MUSTER_WAKE_NEVER) {
    asked->wakes = false;
    asked->cancels = true;
    return;
  }
  asked->wake_ns = asked->wakes && asked->wake_ns < at_ns ? asked->wake_ns : at_ns;
  asked->wakes = true;
}

static void ask_reaction(struct asked *asked, muster_update *update) {
  uint64_t by_ns = draw_time(asked);
  bool wrong = by_ns == UINT64_MAX / 2, timed = asked->reacts && asked->react_ns != MUSTER_WAKE_NEVER;
  cr_assert_eq(muster_update_react_by(update, by_ns), wrong ? MUSTER_E_ARGUMENT : MUSTER_OK);
  if (wrong) return;
  asked->react_ns = timed && asked->react_ns < by_ns && by_ns != MUSTER_WAKE_NEVER ? asked->react_ns : by_ns;
  asked->reacts = true;
}

static muster_atom_result ask_again_and_again(muster_update *update) {
  struct asked *asked = update->type_user;
  const update_context *context = (const update_context *)(const void *)update;
  const agent_alarm *alarm = &context->runner->store->alarms[context->index];
  asked->wakes = asked->cancels = asked->reacts = false;
  asked->rounds++;
  for (uint32_t i = 0; i < ASKS / 20; i++) {
    if (draw(&asked->chance, 2))
      ask_wake(asked, update);
    else
      ask_reaction(asked, update);
    uint8_t asks = context->result->asks;
    cr_assert_eq((asks & ASK_TIME) != 0, asked->wakes, "round %u, %u", asked->rounds, i);
    cr_assert_eq((asks & ASK_NEVER) != 0, asked->cancels, "round %u, %u", asked->rounds, i);
    cr_assert_eq((asks & ASK_REACTION) != 0, asked->reacts, "round %u, %u", asked->rounds, i);
    if (asked->wakes) cr_assert_eq(alarm->asked_ns, asked->wake_ns);
    if (asked->reacts) cr_assert_eq(alarm->react_asked_ns, asked->react_ns);
  }
  return MUSTER_ATOM_NEXT;
}

Test(update_calls, for_times_keep_the_earlier_one_until_it_is_cancelled) {
  struct asked asked = {0};
  SCOPED_WORLD little =
      calling_world(ask_again_and_again, MUSTER_ROLE_BEHAVIOUR, MUSTER_ACT_SERIAL, virtual_world_def_default(), &asked);
  spawn_and_run(&little, 0, 40);
  cr_assert_gt(asked.rounds, 20);
}

/* --------------------------------------------------------------------------------------------------- no room left */

struct crowd {
  muster_agent other;
  uint32_t tries, done, full;
  muster_result removed[3];
};

static muster_atom_result send_commands(muster_update *update) {
  struct crowd *crowd = update->type_user;
  if (muster_agent_equal(update->agent, crowd->other)) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; i < crowd->tries; i++) {
    muster_result result = muster_update_wake_at(update, crowd->other, MUSTER_WAKE_NEVER);
    crowd->done += result == MUSTER_OK;
    crowd->full += result == MUSTER_E_FULL;
  }
  crowd->tries = 0;
  return MUSTER_ATOM_NEXT;
}

Test(update_calls, of_one_worker_are_as_many_as_its_log_has_room_for_and_counted_beyond) {
  struct crowd crowd = {0};
  SCOPED_WORLD little = calling_world(send_commands, MUSTER_ROLE_BEHAVIOUR, MUSTER_ACT_SERIAL,
                                      WITH(virtual_world_def, it.limits.commands_max = 4 * RUNNER_LOG_MAX), &crowd);
  crowd.other = spawn_at(&little, 0);
  spawn_and_run(&little, 1, 3);
  for (uint32_t round = 1; round < 3; round++) {
    crowd = (struct crowd){.other = crowd.other, .tries = RUNNER_LOG_MAX + 7};
    run_frame(&little);
    cr_assert(crowd.done == RUNNER_LOG_MAX && crowd.full == 7, "%u and %u", crowd.done, crowd.full);
    cr_assert_eq(statistics_of(&little).commands_dropped, 7 * round);
    for (uint32_t i = 0; i < 200 && run_frame_with(&little, 1000000000u).commands_waiting; i++) continue;
  }
}

/* Removes with and without room for the command, and twice. */
static muster_atom_result remove_other(muster_update *update) {
  struct crowd *crowd = update->type_user;
  if (muster_agent_equal(update->agent, crowd->other) || !crowd->tries) return MUSTER_ATOM_NEXT;
  bool full = crowd->tries == 2;
  for (uint32_t i = 0; full && i < 100000; i++)
    if (muster_update_wake_at(update, crowd->other, MUSTER_WAKE_NEVER) == MUSTER_E_FULL) break;
  for (uint32_t i = 0; i < 3; i++) crowd->removed[i] = muster_update_remove(update, crowd->other);
  crowd->tries = 0;
  return MUSTER_ATOM_NEXT;
}

static void remove_by(muster_act act) {
  struct crowd crowd = {0};
  SCOPED_WORLD little = calling_world(remove_other, MUSTER_ROLE_ACTION, act,
                                      WITH(virtual_world_def, it.limits.commands_max = 16), &crowd);
  crowd.other = spawn_at(&little, 1);
  spawn_and_run(&little, 1.5, 3);
  crowd.tries = 2;
  run_frame(&little);
  for (uint32_t i = 0; i < 3; i++) cr_assert_eq(crowd.removed[i], MUSTER_E_FULL, "act %u", act);
  for (uint32_t i = 0; i < 3000 && run_frame_with(&little, 1000000000u).commands_waiting; i++) continue;
  cr_assert(muster_agent_exists(little.world, crowd.other));
  crowd.tries = 1;
  run_frame(&little);
  cr_assert_eq(crowd.removed[0], MUSTER_OK, "a removal that was refused marks nothing: %u", act);
  cr_assert(crowd.removed[1] == MUSTER_E_STALE && crowd.removed[2] == MUSTER_E_STALE, "act %u", act);
  run_frames(&little, 2);
  cr_assert(!muster_agent_exists(little.world, crowd.other));
}

Test(update_calls, to_remove_count_once_and_not_at_all_without_room) {
  remove_by(MUSTER_ACT_SERIAL);
  remove_by(MUSTER_ACT_REGION);
}

struct talk {
  muster_agent to;
  uint32_t tries, sent, full, born, unborn;
};

static muster_atom_result talk_much(muster_update *update) {
  struct talk *talk = update->type_user;
  for (uint32_t i = 0; i < talk->tries; i++) {
    muster_result result = muster_update_send(update, talk->to, &i, sizeof i);
    talk->sent += result == MUSTER_OK;
    talk->full += result == MUSTER_E_FULL;
    muster_agent_def def = WITH(muster_agent_def, it.type = (muster_type){1});
    bool born = !muster_agent_is_null(muster_update_spawn(update, &def));
    talk->born += born;
    talk->unborn += !born;
  }
  talk->tries = 0;
  return MUSTER_ATOM_NEXT;
}

Test(update_calls, beyond_what_a_type_may_send_and_bear_are_refused_and_counted) {
  const muster_act acts[] = {MUSTER_ACT_SERIAL, MUSTER_ACT_REGION, MUSTER_ACT_PARALLEL};
  for (uint32_t i = 0; i < 4; i++) {
    struct talk talk = {0};
    muster_role role = i < 3 ? MUSTER_ROLE_ACTION : MUSTER_ROLE_BEHAVIOUR;
    SCOPED_WORLD little = calling_world(talk_much, role, acts[i % 3], virtual_world_def_default(), &talk);
    talk.to = spawn_at(&little, 0);
    run_frames(&little, 3);
    for (uint32_t round = 1; round < 3; round++) {
      talk.tries = 9;
      run_frames(&little, 2);
      cr_assert(talk.sent == 3 * round && talk.full == 6 * round, "kind %u: %u and %u", i, talk.sent, talk.full);
      cr_assert(talk.born == 2 * round && talk.unborn == 7 * round, "kind %u: %u and %u", i, talk.born, talk.unborn);
      muster_statistics sums = statistics_of(&little);
      cr_assert_eq(sums.messages_refused, 6 * round, "kind %u: %lu", i, sums.messages_refused);
      cr_assert_eq(sums.spawns_refused, 7 * round, "kind %u: %lu", i, sums.spawns_refused);
      cr_assert_eq(sums.messages_sent, 3 * round, "kind %u: %lu", i, sums.messages_sent);
    }
  }
}

static muster_atom_result err_in_turn(muster_update *update) {
  const uint32_t *turn = update->type_user;
  muster_neighbour near;
  muster_agent_def def = muster_agent_def_default();
  uint32_t mistake = *turn % 6;
  if (mistake == 0) muster_update_move(update, (muster_position){NAN, 0, 0});
  if (mistake == 1) muster_update_spawn(update, &def);
  if (mistake == 2) muster_update_send(update, update->agent, "much too long", 13);
  if (mistake == 3) muster_update_published_as(update, update->agent, 8);
  if (mistake == 4) muster_update_state_of(update, update->agent);
  if (mistake == 5) muster_update_nearby(update, -1.0f, (muster_type){0}, &near, 1);
  return MUSTER_ATOM_NEXT;
}

Test(update_calls, that_are_mistakes_are_told_once_each_in_whatever_order) {
  for (uint32_t first = 0; first < 6; first++) {
    uint32_t turn = first;
    struct said said = {.about = "was refused"};
    muster_world_def def = WITH(virtual_world_def, it.log = log_to(&said));
    little_world little = {.world = muster_world_create(&def)}; /* without a pool: each worker tells what it sees */
    add_type(&little, CHANGED(due_every(FRAME_NS, type_running(err_in_turn, 1000)), it.user = &turn,
                              it.messages.waiting_max = it.messages.sends_max = 1, it.messages.bytes_max = 8));
    spawn_at(&little, 0);
    said.lines = 0;
    for (uint32_t i = 0; i < 14; i++, turn++) run_frame(&little);
    cr_assert_eq(said.lines, 6, "%u of six mistakes", said.lines);
    cr_assert_geq(statistics_of(&little).positions_refused, 2);
    little_world_destroy(&little);
  }
}

struct look {
  uint32_t rounds, wrong;
};

/* Structs of one byte more or less are others; a refused move moves nobody; no two numbers are the same. */
static muster_atom_result look_closely(muster_update *update) {
  struct look *look = update->type_user;
  muster_agent self = update->agent;
  look->wrong += muster_update_move(update, (muster_position){0, 0, INFINITY}) == MUSTER_OK;
  for (uint32_t bytes = 23; bytes < 26; bytes++) {
    look->wrong += (muster_update_published_as(update, self, bytes) != NULL) != (bytes == 24);
    look->wrong += (muster_update_state_as(update, self, bytes + 8) != NULL) != (bytes == 24);
  }
  look->wrong += muster_update_random(update) == muster_update_random(update);
  look->rounds++;
  return MUSTER_ATOM_NEXT;
}

Test(update_calls, that_are_refused_change_nothing_and_structs_have_their_size) {
  struct look look = {0};
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {look_closely, MUSTER_ROLE_ACTION, 1000}};
  SCOPED_WORLD little =
      world_of(CHANGED(actors_def(atoms, MUSTER_ACT_SERIAL, &look), it.published_bytes = 24, it.state_bytes = 32));
  muster_agent agent = spawn_and_run(&little, 7, 5);
  cr_assert(look.rounds > 2 && look.wrong == 0, "%u wrong in %u rounds", look.wrong, look.rounds);
  cr_assert_float_eq(info_of(&little, agent).position.x, 7, 1e-3);
}

/* ------------------------------------------------------------------------------------------- who is not there yet */

struct born {
  muster_agent child;
  uint32_t asked;
};

static muster_atom_result bear(muster_update *update) {
  struct born *born = update->type_user;
  const muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  muster_position position = {77, 77, 77};
  if (born->asked) return MUSTER_ATOM_NEXT;
  born->child = muster_update_spawn(update, &def);
  cr_assert(!muster_agent_is_null(born->child), "%s", muster_last_error());
  cr_expect_not(muster_update_position_of(update, born->child, &position));
  cr_expect_eq(position.x, 77);
  cr_expect_null(muster_update_published_of(update, born->child));
  cr_expect_null(muster_update_published_as(update, born->child, 8));
  cr_expect_null(muster_update_state_of(update, born->child));
  cr_expect_null(muster_update_state_as(update, born->child, 8));
  born->asked++;
  return MUSTER_ATOM_NEXT;
}

/* A child has an id at once, and is there from its intake on. */
Test(update_calls, see_nothing_of_a_child_before_its_intake) {
  for (uint32_t acts = 0; acts < 2; acts++) {
    struct born born = {0};
    SCOPED_WORLD little = calling_world(bear, acts ? MUSTER_ROLE_ACTION : MUSTER_ROLE_BEHAVIOUR, MUSTER_ACT_SERIAL,
                                        virtual_world_def_default(), &born);
    spawn_and_run(&little, 0, 4);
    cr_expect_eq(born.asked, 1);
    cr_expect(muster_agent_exists(little.world, born.child));
  }
}
