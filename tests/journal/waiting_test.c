/* What a host asked for and no frame had taken when the world died arrives afterwards, once; and no id is given twice.
 */
#include "support/journal_town.h"

#include <muster/tune.h>

enum { WAITING_AGENTS = 3000, CROWD_IDS = 8192, FEW_FRAMES = 3 };

/* The ids that were told to a host. */
typedef struct crowd_ids {
  const char *path;
  told_frames *told;
  _Atomic uint32_t count;
  muster_agent ids[CROWD_IDS];
} crowd_ids;

static little_world crowd_world(void) {
  muster_world_def def = muster_world_def_default();
  muster_type_def type = town_type();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 2 * WAITING_AGENTS;
  def.limits.commands_max = 64;
  little_world little = little_world_create(2, &def);
  register_type(&little, &type);
  return little;
}

static void crowd_spawn(crowd_ids *crowd, const little_world *little) {
  muster_agent agent = spawn_at(little, (double)(crowd->count % 500));
  crowd->ids[crowd->count] = agent;
  crowd->count++;
}

/* One frame with so little time that an intake takes in a part only. */
static void crowd_frame(little_world *little) {
  muster_frame_report report = run_frame_with(little, 50000);
  must(report.spawns_waiting > 0, "all %u agents are in", report.agents);
}

static void crowd_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = crowd_world();
  journal_begin(&little, crowd->path);
  for (uint32_t i = 0; i < WAITING_AGENTS; i++) crowd_spawn(crowd, &little);
  muster_agent first = crowd->ids[0];
  muster_agent_wake_at(little.world, first, 900000000u);
  for (uint32_t frame = 0; frame < FEW_FRAMES; frame++) {
    crowd_frame(&little);
    told_frame(crowd->told, &little, frame + 1);
  }
}

static uint32_t find_id(const crowd_ids *crowd, muster_agent agent) {
  for (uint32_t i = 0; i < crowd->count; i++)
    if (muster_agent_index(crowd->ids[i]) == muster_agent_index(agent) &&
        muster_agent_generation(crowd->ids[i]) == muster_agent_generation(agent))
      return i;
  return UINT32_MAX;
}

Test(journal_waiting, spawns_that_no_intake_had_taken_come_in_and_their_ids_stay_theirs) {
  journal_place place = place_make();
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  muster_journal_info info;
  crowd->path = place.path;
  crowd->told = told_create();
  live_until_death(crowd_live, crowd);
  little_world little = crowd_world();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.frames, FEW_FRAMES);
  cr_assert_eq(muster_world_hash(little.world), crowd->told->hashes[FEW_FRAMES]);
  for (uint32_t i = 0; i < 200; i++) {
    muster_agent agent = spawn_at(&little, 1.0);
    cr_assert_eq(find_id(crowd, agent), UINT32_MAX, "id %u.%u is given twice", muster_agent_index(agent),
                 muster_agent_generation(agent));
  }
  muster_frame_report report = run_frame(&little);
  for (uint32_t i = 0; report.spawns_waiting && i < 1000; i++) report = run_frame(&little);
  cr_assert_eq(report.agents, WAITING_AGENTS + 200);
  for (uint32_t i = 0; i < WAITING_AGENTS; i++)
    cr_assert(muster_agent_exists(little.world, crowd->ids[i]), "agent %u", i);
  little_world_destroy(&little);
  told_destroy(crowd->told);
  place_remove(&place);
}

/* Ids of agents that left are not given again with the same generation. */
static void leavers_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = town();
  journal_begin(&little, crowd->path);
  for (uint32_t frame = 0; frame < 30; frame++) {
    for (uint32_t i = 0; i < 5; i++) crowd_spawn(crowd, &little);
    if (frame > 3)
      for (uint32_t i = 0; i < 5; i++) muster_agent_remove(little.world, crowd->ids[crowd->count - 11 - i]);
    run_frame(&little);
    told_frame(crowd->told, &little, frame + 1);
  }
}

Test(journal_waiting, ids_of_agents_that_left_are_not_given_again) {
  journal_place place = place_make();
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  muster_journal_info info;
  crowd->path = place.path;
  crowd->told = told_create();
  live_until_death(leavers_live, crowd);
  little_world little = town();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(little.world), crowd->told->hashes[30]);
  for (uint32_t frame = 0; frame < 20; frame++) {
    uint32_t begin = crowd->count;
    for (uint32_t i = 0; i < 5; i++) {
      muster_agent agent = spawn_at(&little, 1.0);
      cr_assert_eq(find_id(crowd, agent), UINT32_MAX, "frame %u: id %u.%u is given twice", frame,
                   muster_agent_index(agent), muster_agent_generation(agent));
      crowd->ids[crowd->count++] = agent;
    }
    run_frame(&little);
    for (uint32_t i = begin; i < crowd->count; i++) muster_agent_remove(little.world, crowd->ids[i]);
  }
  little_world_destroy(&little);
  told_destroy(crowd->told);
  place_remove(&place);
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
  static const muster_atom work = {sleeper_work, MUSTER_ROLE_BEHAVIOUR, 2000};
  muster_type_def type = town_type();
  type.atoms = &work;
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  return town_of(1, MUSTER_CLOCK_VIRTUAL, &type);
}

static void sleepers_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  journal_begin(&little, crowd->path);
  for (uint32_t i = 0; i < 3; i++) crowd_spawn(crowd, &little);
  run_frames(&little, 2);
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.designer = 0.25f;
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

Test(journal_waiting, wakes_and_messages_arrive_once_and_tunings_stay) {
  journal_place place = place_make();
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  muster_journal_info info;
  crowd->path = place.path;
  crowd->told = told_create();
  live_until_death(sleepers_live, crowd);
  little_world little = sleepers();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(little.world), crowd->told->hashes[3]);
  uint64_t woken = sum_of(&little, crowd->ids[0]), idle = sum_of(&little, crowd->ids[2]);
  run_frames(&little, 60);
  cr_assert_eq(sum_of(&little, crowd->ids[0]), woken + 1, "the wake of 500 ms");
  cr_assert_eq(sum_of(&little, crowd->ids[2]), idle, "a wake after the last complete frame came back");
  muster_agent_wake(little.world, crowd->ids[1]);
  run_frames(&little, 3);
  cr_assert_eq(sum_of(&little, crowd->ids[1]) / 1000, 3, "the message");
  muster_agent_wake(little.world, crowd->ids[1]);
  run_frames(&little, 3);
  cr_assert_eq(sum_of(&little, crowd->ids[1]) / 1000, 3, "the message came twice");
  little_world_destroy(&little);
  told_destroy(crowd->told);
  place_remove(&place);
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
  muster_agent_tuning tuning = muster_agent_tuning_default();
  (void)journal;
  if (++host->frames != 3) return;
  tuning.designer = 0.25f;
  must(muster_agent_wake(host->little->world, crowd->ids[0]) == MUSTER_OK, "a wake");
  must(muster_agent_send(host->little->world, crowd->ids[1], "abc", 3) == MUSTER_OK, "a message");
  must(muster_agent_move(host->little->world, crowd->ids[2], (muster_position){77, 0, 0}) == MUSTER_OK, "a move");
  must(muster_agent_tune(host->little->world, crowd->ids[2], &tuning) == MUSTER_OK, "a tuning");
  must(muster_agent_remove(host->little->world, crowd->ids[3]) == MUSTER_OK, "a removal");
  crowd_spawn(host->crowd, host->little);
}

static void late_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  late_host host = {.crowd = crowd, .little = &little};
  muster_journal_def def = muster_journal_def_default();
  def.end_frame = give_late;
  def.user = &host;
  journal_begin_as(&little, def, crowd->path);
  for (uint32_t i = 0; i < 4; i++) crowd_spawn(crowd, &little);
  run_frames(&little, 3);
  told_frame(crowd->told, &little, 3);
}

Test(journal_waiting, what_was_given_during_the_last_frame_arrives) {
  journal_place place = place_make();
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  muster_journal_info info;
  crowd->path = place.path;
  crowd->told = told_create();
  live_until_death(late_live, crowd);
  little_world little = sleepers();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.frames, 3);
  uint64_t woken = sum_of(&little, crowd->ids[0]);
  cr_expect_not(muster_agent_exists(little.world, crowd->ids[3]), "the removal");
  cr_expect_eq(run_frame(&little).agents, 4, "the removal, and the spawn");
  run_frames(&little, 2);
  cr_expect_eq(sum_of(&little, crowd->ids[0]), woken + 1, "the wake");
  cr_expect_eq(info_of(&little, crowd->ids[2]).position.x, 77.0, "the move");
  cr_expect(muster_agent_exists(little.world, crowd->ids[4]), "the spawn");
  muster_agent_wake(little.world, crowd->ids[1]);
  run_frames(&little, 3);
  cr_expect_eq(sum_of(&little, crowd->ids[1]) / 1000, 3, "the message");
  little_world_destroy(&little);
  told_destroy(crowd->told);
  place_remove(&place);
}

/* ------------------------------------------------------------------------------------------------ in the snapshot */

/* Given between the last frame and the snapshot with which the journal begins: the record has it, as the first intake
 * took it. What is given later is the last word. */
static void early_live(void *user) {
  crowd_ids *crowd = user;
  little_world little = sleepers();
  muster_world_tuning tuning = muster_world_tuning_default();
  for (uint32_t i = 0; i < 3; i++) crowd_spawn(crowd, &little);
  run_frames(&little, 2);
  tuning.levels.pressure = 0.25f;
  must(muster_agent_send(little.world, crowd->ids[1], "abc", 3) == MUSTER_OK, "a message");
  must(muster_agent_move(little.world, crowd->ids[2], (muster_position){77, 0, 0}) == MUSTER_OK, "a move");
  must(muster_agent_wake(little.world, crowd->ids[0]) == MUSTER_OK, "a wake");
  must(muster_world_tune(little.world, &tuning) == MUSTER_OK, "a tuning");
  journal_begin(&little, crowd->path);
  run_frames(&little, 2);
  tuning.levels.pressure = 0.75f;
  must(muster_agent_move(little.world, crowd->ids[2], (muster_position){5, 0, 0}) == MUSTER_OK, "a move");
  must(muster_world_tune(little.world, &tuning) == MUSTER_OK, "a tuning");
  run_frames(&little, 2);
  told_frame(crowd->told, &little, 6);
}

Test(journal_waiting, what_waited_in_the_snapshot_comes_once) {
  journal_place place = place_make();
  crowd_ids *crowd = shared_memory(sizeof *crowd);
  muster_journal_info info;
  muster_world_tuning tuning = muster_world_tuning_default();
  crowd->path = place.path;
  crowd->told = told_create();
  live_until_death(early_live, crowd);
  little_world little = sleepers();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.frames, 6);
  cr_assert_eq(muster_world_hash(little.world), crowd->told->hashes[6]);
  uint64_t woken = sum_of(&little, crowd->ids[0]);
  run_frames(&little, 4);
  cr_expect_eq(sum_of(&little, crowd->ids[0]), woken, "it is woken twice");
  cr_expect_float_eq(info_of(&little, crowd->ids[2]).position.x, 5.0, 0.001, "it is moved twice");
  cr_assert_eq(muster_world_tuning_read(little.world, &tuning), MUSTER_OK);
  cr_expect_float_eq((double)tuning.levels.pressure, 0.75, 0.001, "it is tuned twice");
  cr_expect_eq(info_of(&little, crowd->ids[1]).messages, 1, "%u messages wait",
               info_of(&little, crowd->ids[1]).messages);
  muster_agent_wake(little.world, crowd->ids[1]);
  run_frames(&little, 3);
  cr_expect_eq(sum_of(&little, crowd->ids[1]) / 1000, 3, "the message comes twice");
  little_world_destroy(&little);
  told_destroy(crowd->told);
  munmap(crowd, sizeof *crowd);
  place_remove(&place);
}
