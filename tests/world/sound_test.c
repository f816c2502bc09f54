/* A world in which everything happens that can happen is sound after every frame, and each thing that is broken by hand
 * is named: which agent, which status, which list. */
#include "agents/agents_sound.h"
#include "agents/batch.h"
#include "support/busy_worlds.h"
#include "world/fixture.h"
#include "world/overruns_state.h"
#include "world/penalties.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sound.h"

static void expect_sound(const struct muster_world *world, const char *kind, uint32_t frame) {
  soundness found = {0};
  world_is_sound(world, WORLD_RESTS, &found);
  cr_assert(!found.broken, "%s, frame %u: %s", kind, frame, found.trouble);
  world_ids_are_sound(world, &found);
  cr_assert(!found.broken, "%s, frame %u: %s", kind, frame, found.trouble);
}

Test(sound, a_busy_world_is_sound_after_every_frame) {
  for (uint32_t k = 0; k < BUSY_KINDS; k++) {
    SCOPED_WORLD little = busy_driven(&busy_kinds[k], 1, 0);
    for (uint32_t frame = 0; frame < 150; frame++) {
      busy_frame(&little, &busy_kinds[k], frame);
      expect_sound(little.world, busy_kinds[k].name, frame);
    }
  }
}

/* ------------------------------------------------------------------------------------------------ broken by hand */

static void expect_named(const struct muster_world *world, const char *words) {
  soundness found = {0};
  cr_assert(!world_is_sound(world, WORLD_RESTS, &found), "nothing is found, expected: %s", words);
  cr_assert_not_null(strstr(found.trouble, words), "expected: %s; found: %s", words, found.trouble);
}

/* Expects `words` while other bytes are at a place; then puts the old ones back. */
static void expect_broken(const struct muster_world *world, void *place, const void *bytes, size_t count,
                          const char *words) {
  unsigned char kept[256];
  cr_assert(count <= sizeof kept);
  memcpy(kept, place, count);
  memcpy(place, bytes, count);
  expect_named(world, words);
  memcpy(place, kept, count);
}

static void expect_counted(const struct muster_world *world, uint32_t *count, const char *words) {
  expect_broken(world, count, &(uint32_t){*count + 1}, sizeof *count, words);
}

/* Returns the words that name an agent. */
static const char *of(uint32_t agent, const char *words) {
  static char text[128];
  snprintf(text, sizeof text, "agent %u is %s", agent, words);
  return text;
}

static agent_row row_of(const struct muster_world *world, uint32_t agent) {
  return world->agents.store.rows[agent];
}

static void expect_row(struct muster_world *world, uint32_t agent, agent_row row, const char *words) {
  expect_broken(world, &world->agents.store.rows[agent], &row, sizeof row, words);
}

static void expect_status(struct muster_world *world, uint32_t agent, agent_status status, const char *words) {
  expect_row(world, agent, CHANGED(row_of(world, agent), it.status = status & 7u), of(agent, words));
}

/* Returns the first agent of a status that is in a list, or in none. */
static uint32_t find(const struct muster_world *world, agent_status status, bool listed) {
  uint32_t i = 0;
  for (; (i = store_next_active(&world->agents.store, i)) != UINT32_MAX; i++) {
    const agent_row *row = &world->agents.store.rows[i];
    if (row->status == status && listed == (row->scheduled != 0) && !row->atom_next && !row->owes && !row->woken &&
        !row->acts)
      break;
  }
  return i;
}

/* Quarantines one waiting, one ready and one acting agent, as far as there are such agents. */
static void quarantine_some(struct muster_world *world) {
  for (uint32_t status = AGENT_WAITING; status <= AGENT_ACTING; status++) {
    uint32_t agent = status == AGENT_ADMITTED ? UINT32_MAX : find(world, (agent_status)status, status != AGENT_ACTING);
    if (agent == UINT32_MAX) continue;
    const agent_row *row = &world->agents.store.rows[agent];
    penalties_quarantine_agent(
        world, agent, &(muster_overrun){.agent = muster_agent_make(agent, row->generation), .type = {row->type + 1u}});
  }
}

/* A world in which some agents wait and some are in quarantine. */
static little_world driven_world(const busy_kind *kind) {
  little_world little = busy_driven(kind, 1, 100);
  quarantine_some(little.world);
  expect_sound(little.world, kind->name, 100);
  return little;
}

Test(sound, an_agent_whose_status_is_changed_and_no_more_is_named_with_its_list) {
  SCOPED_WORLD little = driven_world(&busy_kinds[1]);
  uint32_t waiting = find(little.world, AGENT_WAITING, true), ready = find(little.world, AGENT_READY, true);
  uint32_t acting = find(little.world, AGENT_ACTING, false), out = find(little.world, AGENT_QUARANTINED, false);
  uint32_t called = find(little.world, AGENT_WAITING, false);
  cr_assert(waiting != UINT32_MAX && ready != UINT32_MAX && acting != UINT32_MAX && out != UINT32_MAX);
  cr_assert_neq(called, UINT32_MAX);
  expect_status(little.world, waiting, AGENT_PENDING, "active and PENDING");
  expect_status(little.world, waiting, AGENT_READY, "READY and not in the ring where it is filed");
  expect_status(little.world, waiting, AGENT_ADMITTED, "ADMITTED and in a list");
  expect_status(little.world, waiting, AGENT_ACTING, "ACTING and not among the acting agents");
  expect_status(little.world, waiting, AGENT_QUARANTINED, "QUARANTINED and in a list");
  expect_status(little.world, called, AGENT_ADMITTED, "ADMITTED and 0 times in the batch or held");
  expect_row(little.world, called, CHANGED(row_of(little.world, called), it.status = AGENT_QUARANTINED),
             "members, counted as");
  expect_status(little.world, ready, AGENT_WAITING, "WAITING and not to be looked at: its slot is 0");
  expect_status(little.world, ready, AGENT_ADMITTED, "ADMITTED and in a list");
  expect_status(little.world, acting, AGENT_WAITING, "WAITING and among the acting agents");
  expect_status(little.world, acting, AGENT_QUARANTINED, "QUARANTINED and among the acting agents");
  expect_status(little.world, out, AGENT_WAITING, "WAITING for a period and not scheduled");
  expect_status(little.world, out, AGENT_ADMITTED, "ADMITTED and 0 times in the batch or held");
}

Test(sound, an_agent_whose_row_tells_another_story_is_named) {
  SCOPED_WORLD little = driven_world(&busy_kinds[1]);
  struct muster_world *world = little.world;
  uint32_t waiting = find(world, AGENT_WAITING, true), ready = find(world, AGENT_READY, true);
  agent_row row = row_of(world, waiting), other = row_of(world, ready);
  expect_row(world, waiting, CHANGED(row, it.queued = 1), of(waiting, "not in the line by release"));
  expect_row(world, waiting, CHANGED(row, it.class ++), "class");
  expect_row(world, waiting, CHANGED(row, it.level = (it.level + 1u) & 3u), "are at level");
  expect_row(world, waiting, CHANGED(row, it.reacts = !it.reacts), "react by a time");
  expect_row(world, waiting, CHANGED(row, it.acts = 1),
             of(waiting, "WAITING, and its actions wait until it is reinstated"));
  expect_row(world, ready, CHANGED(other, it.filed = 0), "agents are READY in the ring, counted as");
  expect_row(world, ready, CHANGED(other, it.filed ^= 1u), of(ready, "READY and not in the ring where it is filed"));
}

Test(sound, counts_of_agents_that_are_wrong_are_told) {
  SCOPED_WORLD little = driven_world(&busy_kinds[1]);
  struct muster_world *world = little.world;
  expect_counted(world, &world->agents.store.active_count, "agents are active, and counted");
  expect_counted(world, &world->agents.store.level_counts[1], "are at level 1, and counted");
  expect_counted(world, &world->queues->acting_count, "among the acting agents, counted");
  expect_counted(world, &world->queues->ready.count, "agents are READY");
  expect_counted(world, &world->queues->ready.begun, "agents are READY");
  expect_counted(world, &world->queues->ready.counts_of[0], "of the types that are counted");
  expect_counted(world, &world->queues->ready.waiting.standing, "in the line of waiting agents, by release");
  expect_counted(world, &world->queues->ready.in_ring, "agents are READY in the ring, counted as");
  expect_counted(world, &world->queues->ready.ring.entries, "entries, counted as");
  expect_counted(world, &world->score->board.importance[7], "bins of importance");
  expect_counted(world, &world->score->shedding.shed, "lowered by pressure");
  expect_counted(world, &world->overruns->agents_demoted, "are demoted, counted");
  expect_counted(world, &world->overruns->agents_quarantined, "QUARANTINED, counted");
  expect_counted(world, &world->overruns->types_quarantined, "types are in quarantine");
  expect_counted(world, &world->overruns->table.types[0].agents_demoted, "that their types count");
  expect_counted(world, &world->links->mailbox.wake_count, "woken by messages");
  expect_counted(world, &world->links->mailbox.owed_count, "have lost messages");
  expect_counted(world, &world->observers->table.queues[0].count, "observers are in queue 0");
  expect_counted(world, &world->queues->timers.count, "the agents that wait for a time");
  expect_counted(world, &world->queues->classes.in_band[0], "members of classes are in band 0");
  uint32_t number = world->agents.store.rows[find(world, AGENT_WAITING, true)].class;
  expect_counted(world, &world->queues->classes.classes[number].members, "members, counted as");
  expect_counted(world, &world->queues->classes.classes[number].in_band[0], "in band 0");
}

Test(sound, lists_that_hold_somebody_wrongly_are_named) {
  SCOPED_WORLD little = driven_world(&busy_kinds[1]);
  struct muster_world *world = little.world;
  uint32_t waiting = find(world, AGENT_WAITING, true), acting = find(world, AGENT_ACTING, false);
  agent_place *place = &world->agents.store.places[waiting];
  agent_place elsewhere = CHANGED(*place, it.cell_x += 100), nowhere = CHANGED(*place, it.spot = 0);
  expect_broken(world, place, &elsewhere, sizeof elsewhere, of(waiting, "in"));
  expect_broken(world, place, &nowhere, sizeof nowhere, of(waiting, "active and not in the grid"));
  uint16_t *slot = looks_slot_of(&world->queues->classes.looks, waiting);
  expect_broken(world, slot, &(uint16_t){0}, sizeof *slot,
                of(waiting, "WAITING and not to be looked at: its slot is 0"));
  uint16_t earlier = (uint16_t)((*slot & ~LOOK_NUMBERS) | ((*slot - 1000) & LOOK_NUMBERS));
  expect_broken(world, slot, &earlier, sizeof *slot, "before the first one of its line");
  uint64_t bits = world->queues->acting[acting / 64] & ~(1ull << acting % 64);
  expect_broken(world, &world->queues->acting[acting / 64], &bits, 8,
                of(acting, "ACTING and not among the acting agents"));
  world->batch->held_count = 1;
  expect_broken(world, &world->batch->held[0], &waiting, 4, of(waiting, "in the list of held agents and WAITING"));
  world->batch->held_count = 0;
  world->commands->spawn_id_count++;
  expect_broken(world, &world->commands->spawn_ids[world->commands->spawn_id_count - 1], &waiting, 4,
                of(waiting, "active, and its id"));
  world->commands->spawn_id_count--;
  struct timer late = {UINT64_MAX, world->queues->timers.heap[0].agent};
  expect_broken(world, &world->queues->timers.heap[0], &late, sizeof late, "before its turn");
  expect_sound(world, "put back", 100);
  spawn_queue_add(&world->commands->queues.spawns, waiting);
  expect_named(world, of(waiting, "active and among the spawns"));
}

Test(sound, company_that_is_listed_wrongly_is_named) {
  SCOPED_WORLD little = driven_world(&busy_kinds[3]);
  struct muster_world *world = little.world;
  uint32_t member = world->links->companions.members[0];
  cr_assert_gt(world->links->companions.count, 0);
  expect_broken(world, &world->links->companions.places[member], &(uint32_t){999999}, 4, of(member, "in company"));
  expect_broken(world, &world->links->companions.of[member], &(struct companion_list){0}, sizeof(struct companion_list),
                of(member, "without company"));
  expect_broken(world, &world->links->companions.count, &(uint32_t){0}, 4, "in company");
}

/* The frames that follow show whether reinstating finds each agent where it was left. */
Test(sound, a_world_stays_sound_through_quarantine_and_reinstating) {
  for (uint32_t k = 0; k < BUSY_KINDS; k++) {
    SCOPED_WORLD little = driven_world(&busy_kinds[k]);
    for (uint32_t frame = 100; frame < 160; frame++) {
      if (frame % 16 == 1) quarantine_some(little.world);
      if (frame % 8 == 0) muster_type_quarantine(little.world, (muster_type){1 + frame / 8 % 4});
      if (frame % 8 == 4) muster_type_reinstate(little.world, (muster_type){1 + frame / 8 % 4});
      busy_frame(&little, &busy_kinds[k], frame);
      expect_sound(little.world, busy_kinds[k].name, frame);
    }
  }
}
