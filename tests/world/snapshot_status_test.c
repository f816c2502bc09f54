/* What a snapshot says of one agent must fit its lists, times and counts; and what waits for an agent that is not
 * active yet is saved, too. */
#include "support/busy_worlds.h"
#include "support/snapshot_parts.h"
#include "world/world_sound.h"

enum { SECTION_AGENTS = 6, FRAMES = 40 };

/* Offset of the first agent's row in its section: it follows the number of agents, the agent's index and two more
 * values. */
enum { FIRST_ROW = 4 + 4 + 2 + 2 };

static const busy_kind *const kind = &busy_kinds[1];

static struct snapshot_parts driven_parts(void) {
  little_world little = busy_world(kind, 1);
  busy_populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) busy_frame(&little, kind, frame);
  saved_world saved = save_world(little.world);
  struct snapshot_parts parts = take_apart(&saved);
  little_world_destroy(&little);
  free(saved.bytes);
  return parts;
}

static void expect_loaded(const struct snapshot_parts *parts, const char *why) {
  little_world little = busy_world(kind, 1);
  saved_world saved = put_together(parts);
  muster_result result = load_world(little.world, saved.bytes, saved.count);
  cr_assert_eq(result, why ? MUSTER_E_INPUT : MUSTER_OK, "%s", muster_last_error());
  if (why) cr_assert_not_null(strstr(muster_last_error(), why), "%s", muster_last_error());
  little_world_destroy(&little);
  free(saved.bytes);
}

/* Loads with the first agent's row changed. */
static void expect_row(const struct snapshot_parts *parts, const agent_row *row, const char *why) {
  agent_row kept;
  unsigned char *place = parts->bytes + parts->begin[SECTION_AGENTS] + FIRST_ROW;
  memcpy(&kept, place, sizeof kept);
  memcpy(place, row, sizeof *row);
  expect_loaded(parts, why);
  memcpy(place, &kept, sizeof kept);
}

static agent_row first_row(const struct snapshot_parts *parts) {
  agent_row row;
  memcpy(&row, parts->bytes + parts->begin[SECTION_AGENTS] + FIRST_ROW, sizeof row);
  return row;
}

Test(snapshot_status, a_row_that_no_agent_of_its_status_has_is_refused) {
  struct snapshot_parts parts = driven_parts();
  agent_row row = first_row(&parts);
  cr_assert(row.status >= AGENT_WAITING && !row.reacts && !row.delayed, "the first agent is not plain");
  expect_row(&parts, &row, NULL);
  row.scheduled = 17;
  expect_row(&parts, &row, "agent 0 stands in lists before any is read");
  row = first_row(&parts);
  row.queued = 1;
  expect_row(&parts, &row, "agent 0 stands in lists before any is read");
  row = first_row(&parts);
  row.acts = 1;
  expect_row(&parts, &row, "agent 0 is what none can be");
  row = first_row(&parts);
  row.reacts = 1;
  expect_row(&parts, &row, "agent 0 is not among the agents that must react");
  row = first_row(&parts);
  row.delayed = 1;
  expect_row(&parts, &row, "agent 0 waits for a time without a timer");
  row = first_row(&parts);
  row.importance ^= 0x8000;
  expect_row(&parts, &row, "importance as no population has it");
  free(parts.bytes);
}

/* More agents than an intake takes: the last of them is asked to run at a time while it is not active yet. */
Test(snapshot_status, a_time_that_an_agent_waits_for_before_it_is_active_is_kept) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 100};
  little_world worlds[2];
  muster_type_def type = type_with(&atom, 1);
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  for (uint32_t i = 0; i < 2; i++) {
    worlds[i] = little_world_create(1, NULL);
    register_type(&worlds[i], &type);
  }
  muster_agent last = {0};
  for (uint32_t i = 0; i < 700; i++) last = spawn_at(&worlds[0], i);
  cr_assert_eq(muster_agent_wake_at(worlds[0].world, last, 10 * FRAME_NS), MUSTER_OK);
  run_frame_with(&worlds[0], 20000);
  cr_assert(!info_of(&worlds[0], last).active, "all are active after a frame");
  saved_world saved = save_world(worlds[0].world);
  cr_assert_eq(load_world(worlds[1].world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  worlds[1].now_ns = worlds[0].now_ns;
  for (uint32_t i = 0; i < 2; i++) {
    muster_statistics sums = muster_statistics_default();
    for (uint32_t frame = 0; frame < 20; frame++) run_frame_with(&worlds[i], 20000);
    muster_statistics_read(worlds[i].world, &sums);
    cr_assert_eq(sums.wakes_timed, 1, "world %u", i);
  }
  cr_assert_eq(muster_world_hash(worlds[0].world), muster_world_hash(worlds[1].world));
  free(saved.bytes);
  for (uint32_t i = 0; i < 2; i++) little_world_destroy(&worlds[i]);
}
