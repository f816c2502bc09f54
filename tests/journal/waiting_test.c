/* What a host asked for and no frame had taken when the world died arrives afterwards, once; and no id is given twice.
 */
#include "support/journal_town.h"

#include <muster/tune.h>

enum { WAITING_AGENTS = 3000, CROWD_IDS = 8192, FEW_FRAMES = 3 };

/* The ids that were told to a host; and the world, when it is back. */
typedef struct crowd_ids {
  journal_place place;
  told_frames *told;
  _Atomic uint32_t count;
  muster_agent ids[CROWD_IDS];
  little_world little;
} crowd_ids;

static little_world crowd_world(void) {
  const muster_world_def def = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL,
                                    it.limits.agents_max = 2 * WAITING_AGENTS, it.limits.commands_max = 64);
  return typed_world(2, def, town_type());
}

static void crowd_spawn(crowd_ids *crowd, const little_world *little, uint32_t agents) {
  for (; agents > 0; agents--, crowd->count++)
    crowd->ids[crowd->count] = spawn_at(little, (double)(crowd->count % 500));
}

/* It has died, and is back. */
static crowd_ids *crowd_lives(void (*live)(void *user), little_world (*world)(void), uint64_t frames) {
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  crowd->place = place_make();
  crowd->told = told_create();
  live_until_death(live, crowd);
  crowd->little = world();
  cr_assert_eq(journal_back(&crowd->little, crowd->place.path).frames, frames);
  return crowd;
}

static void crowd_end(crowd_ids **crowd) {
  little_world_destroy(&(*crowd)->little);
  told_destroy((*crowd)->told);
  place_remove(&(*crowd)->place);
  munmap(*crowd, sizeof **crowd);
}

/* Frames with so little time that an intake takes in a part only. */
static void crowd_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = crowd_world();
  journal_begin(&little, crowd->place.path);
  crowd_spawn(crowd, &little, WAITING_AGENTS);
  muster_agent first = crowd->ids[0];
  muster_agent_wake_at(little.world, first, 900000000u);
  for (uint32_t frame = 0; frame < FEW_FRAMES; frame++) {
    muster_frame_report report = run_frame_with(&little, 50000);
    must(report.spawns_waiting > 0, "all %u agents are in", report.agents);
    told_frame(crowd->told, &little, frame + 1);
  }
}

/* One with an id that was not given before. */
static muster_agent spawn_another(const crowd_ids *crowd, const little_world *little) {
  muster_agent agent = spawn_at(little, 1.0);
  bool is_known = false;
  for (uint32_t i = 0; i < crowd->count; i++)
    is_known |= muster_agent_index(crowd->ids[i]) == muster_agent_index(agent) &&
                muster_agent_generation(crowd->ids[i]) == muster_agent_generation(agent);
  cr_assert_not(is_known, "id %u.%u is given twice", muster_agent_index(agent), muster_agent_generation(agent));
  return agent;
}

Test(journal_waiting, spawns_that_no_intake_had_taken_come_in_and_their_ids_stay_theirs) {
  SCOPED(crowd_end) crowd_ids *crowd = crowd_lives(crowd_live, crowd_world, FEW_FRAMES);
  little_world *little = &crowd->little;
  expect_told(crowd->told, little, FEW_FRAMES);
  for (uint32_t i = 0; i < 200; i++) spawn_another(crowd, little);
  muster_frame_report report = run_frame(little);
  for (uint32_t i = 0; report.spawns_waiting && i < 1000; i++) report = run_frame(little);
  cr_assert_eq(report.agents, WAITING_AGENTS + 200);
  for (uint32_t i = 0; i < WAITING_AGENTS; i++)
    cr_assert(muster_agent_exists(little->world, crowd->ids[i]), "agent %u", i);
}

/* Ids of agents that left are not given again with the same generation. */
static void leavers_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = town();
  journal_begin(&little, crowd->place.path);
  for (uint32_t frame = 0; frame < 30; frame++) {
    crowd_spawn(crowd, &little, 5);
    if (frame > 3)
      for (uint32_t i = 0; i < 5; i++) muster_agent_remove(little.world, crowd->ids[crowd->count - 11 - i]);
    run_frame(&little);
    told_frame(crowd->told, &little, frame + 1);
  }
}

Test(journal_waiting, ids_of_agents_that_left_are_not_given_again) {
  SCOPED(crowd_end) crowd_ids *crowd = crowd_lives(leavers_live, town, 30);
  little_world *little = &crowd->little;
  expect_told(crowd->told, little, 30);
  for (uint32_t frame = 0; frame < 20; frame++) {
    uint32_t begin = crowd->count;
    for (; crowd->count < begin + 5; crowd->count++) crowd->ids[crowd->count] = spawn_another(crowd, little);
    run_frame(little);
    for (uint32_t i = begin; i < crowd->count; i++) muster_agent_remove(little->world, crowd->ids[i]);
  }
}

/* What waits longer than a frame: a wake far ahead, a message to an agent that sleeps, a tuning. */
static muster_atom_result sleeper_work(muster_update *update) {
  uint64_t *sum = update->state;
  muster_message messages[4];
  uint32_t count = muster_update_messages(update, messages, 4);
  *sum += 1;
  for (uint32_t i = 0; i < count; i++) *sum += (uint64_t)1000 * messages[i].size;
  return MUSTER_ATOM_NEXT;
}

static little_world sleepers(void) {
  muster_type_def type =
      CHANGED(town_type(), it.atoms = atom_of(sleeper_work, 2000), it.elapsed.contract = MUSTER_ELAPSED_EVENTS);
  return town_of(1, MUSTER_CLOCK_VIRTUAL, type);
}

static void sleepers_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  journal_begin(&little, crowd->place.path);
  crowd_spawn(crowd, &little, 3);
  run_frames(&little, 2);
  const muster_agent_tuning tuning = WITH(muster_agent_tuning, it.designer = 0.25f);
  muster_agent_wake_at(little.world, crowd->ids[0], 500000000u);
  muster_agent_send(little.world, crowd->ids[1], "abc", 3);
  muster_agent_tune(little.world, crowd->ids[2], &tuning);
  run_frames(&little, 1);
  told_frame(crowd->told, &little, 3);
  muster_agent_wake(little.world, crowd->ids[2]); /* of the frame that is never complete */
}

static uint64_t sum_of(const little_world *little, muster_agent agent) {
  return *(const uint64_t *)info_of(little, agent).state;
}

/* The message of three bytes has come, and no other. */
static void expect_message(little_world *little, muster_agent agent, const char *what) {
  muster_agent_wake(little->world, agent);
  run_frames(little, 3);
  cr_assert_eq(sum_of(little, agent) / 1000, 3, "%s", what);
}

Test(journal_waiting, wakes_and_messages_arrive_once_and_tunings_stay) {
  SCOPED(crowd_end) crowd_ids *crowd = crowd_lives(sleepers_live, sleepers, 3);
  little_world *little = &crowd->little;
  expect_told(crowd->told, little, 3);
  uint64_t woken = sum_of(little, crowd->ids[0]), idle = sum_of(little, crowd->ids[2]);
  run_frames(little, 60);
  cr_assert_eq(sum_of(little, crowd->ids[0]), woken + 1, "the wake of 500 ms");
  cr_assert_eq(sum_of(little, crowd->ids[2]), idle, "a wake after the last complete frame came back");
  expect_message(little, crowd->ids[1], "the message");
  expect_message(little, crowd->ids[1], "the message came twice");
}

/* ------------------------------------------------------------------------------------------------ during a frame */

/* What any thread gives while a frame runs waits for the next one, here given where the frame ends. */
typedef struct late_host {
  crowd_ids *crowd;
  little_world *little;
  uint64_t frames;
} late_host;

static void give_late(muster_journal *journal, void *user) {
  late_host *host = user;
  const crowd_ids *crowd = host->crowd;
  const muster_agent_tuning tuning = WITH(muster_agent_tuning, it.designer = 0.25f);
  (void)journal;
  if (++host->frames != 3) return;
  must(muster_agent_wake(host->little->world, crowd->ids[0]) == MUSTER_OK, "a wake");
  must(muster_agent_send(host->little->world, crowd->ids[1], "abc", 3) == MUSTER_OK, "a message");
  must(muster_agent_move(host->little->world, crowd->ids[2], (muster_position){77, 0, 0}) == MUSTER_OK, "a move");
  must(muster_agent_tune(host->little->world, crowd->ids[2], &tuning) == MUSTER_OK, "a tuning");
  must(muster_agent_remove(host->little->world, crowd->ids[3]) == MUSTER_OK, "a removal");
  crowd_spawn(host->crowd, host->little, 1);
}

static void late_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  late_host host = {.crowd = crowd, .little = &little};
  journal_begin_as(&little, WITH(muster_journal_def, it.end_frame = give_late, it.user = &host), crowd->place.path);
  crowd_spawn(crowd, &little, 4);
  run_frames(&little, 3);
  told_frame(crowd->told, &little, 3);
}

Test(journal_waiting, what_was_given_during_the_last_frame_arrives) {
  SCOPED(crowd_end) crowd_ids *crowd = crowd_lives(late_live, sleepers, 3);
  little_world *little = &crowd->little;
  uint64_t woken = sum_of(little, crowd->ids[0]);
  cr_expect_not(muster_agent_exists(little->world, crowd->ids[3]), "the removal");
  cr_expect_eq(run_frame(little).agents, 4, "the removal, and the spawn");
  run_frames(little, 2);
  cr_expect_eq(sum_of(little, crowd->ids[0]), woken + 1, "the wake");
  cr_expect_eq(info_of(little, crowd->ids[2]).position.x, 77.0, "the move");
  cr_expect(muster_agent_exists(little->world, crowd->ids[4]), "the spawn");
  expect_message(little, crowd->ids[1], "the message");
}

/* ------------------------------------------------------------------------------------------------ in the snapshot */

/* Given between the last frame and the snapshot with which the journal begins: the record has it, as the first intake
 * took it. What is given later is the last word. */
static void early_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  muster_world_tuning tuning = muster_world_tuning_default();
  crowd_spawn(crowd, &little, 3);
  run_frames(&little, 2);
  tuning.levels.pressure = 0.25f;
  must(muster_agent_send(little.world, crowd->ids[1], "abc", 3) == MUSTER_OK, "a message");
  must(muster_agent_move(little.world, crowd->ids[2], (muster_position){77, 0, 0}) == MUSTER_OK, "a move");
  must(muster_agent_wake(little.world, crowd->ids[0]) == MUSTER_OK, "a wake");
  must(muster_world_tune(little.world, &tuning) == MUSTER_OK, "a tuning");
  journal_begin(&little, crowd->place.path);
  run_frames(&little, 2);
  tuning.levels.pressure = 0.75f;
  must(muster_agent_move(little.world, crowd->ids[2], (muster_position){5, 0, 0}) == MUSTER_OK, "a move");
  must(muster_world_tune(little.world, &tuning) == MUSTER_OK, "a tuning");
  run_frames(&little, 2);
  told_frame(crowd->told, &little, 6);
}

Test(journal_waiting, what_waited_in_the_snapshot_comes_once) {
  SCOPED(crowd_end) crowd_ids *crowd = crowd_lives(early_live, sleepers, 6);
  little_world *little = &crowd->little;
  muster_world_tuning tuning = muster_world_tuning_default();
  expect_told(crowd->told, little, 6);
  uint64_t woken = sum_of(little, crowd->ids[0]);
  run_frames(little, 4);
  cr_expect_eq(sum_of(little, crowd->ids[0]), woken, "it is woken twice");
  cr_expect_float_eq(info_of(little, crowd->ids[2]).position.x, 5.0, 0.001, "it is moved twice");
  cr_assert_eq(muster_world_tuning_read(little->world, &tuning), MUSTER_OK);
  cr_expect_float_eq((double)tuning.levels.pressure, 0.75, 0.001, "it is tuned twice");
  uint32_t messages = info_of(little, crowd->ids[1]).messages;
  cr_expect_eq(messages, 1, "%u messages wait", messages);
  expect_message(little, crowd->ids[1], "the message comes twice");
}
