#include "world/world_sound.h"

#include "agents/batch.h"
#include "base/fatal.h"
#include "plan/plan_sound.h"
#include "record/recorder.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/overruns_state.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_zone.h"

#include <muster/herd.h>

/* ------------------------------------------------------------------------------------------------------- statuses */

/* A waiting agent without a period is scheduled only when its type was put into quarantine as it was about to
 * run. */
static bool waiting_is_sound(const struct muster_world *world, const agent_row *row, uint32_t index, soundness *found) {
  bool events = world_type(world, row->type)->elapsed == MUSTER_ELAPSED_EVENTS;
  return SOUND(found, events || row->scheduled, "agent %u is WAITING for a period and not scheduled", index);
}

/* For an agent that is neither scheduled nor in the ring. */
static bool is_in_none(const agent_row *row, uint32_t index, soundness *found) {
  return SOUND(found, !row->scheduled, "agent %u is %s and in a list", index, agent_status_name(row->status));
}

static bool quarantined_is_sound(const agent_row *row, uint32_t index, soundness *found) {
  return is_in_none(row, index, found) &&
         SOUND(found, !row->woken && !row->queued, "agent %u is QUARANTINED and waits", index);
}

/* What holds for every status. */
static bool world_sound_is_known(const struct muster_world *world, const agent_row *row, uint32_t index,
                                 soundness *found) {
  if (!SOUND(found, row->type < world->agents.types.count, "agent %u is of type %u of %u", index, row->type,
             world->agents.types.count))
    return false;
  const agent_type *type = world_type(world, row->type);
  const agent_alarm *alarm = &world->agents.store.alarms[index];
  SOUND(found, identity_generation(&world->agents.ids, index) & 1, "agent %u is active, and its id is gone", index);
  SOUND_EQUAL(found, row->type, world->agents.store.places[index].type, "agent %u is of type %u, and of %u where it is",
              index);
  SOUND(found, row->level < type->def.levels.count, "agent %u is at level %u of %u", index, row->level,
        type->def.levels.count);
  SOUND(found, type->has_sets || !row->owes, "agent %u owes sets and has none", index);
  SOUND(found, !row->acts || row->status == AGENT_QUARANTINED,
        "agent %u is %s, and its actions wait until it is reinstated", index, agent_status_name(row->status));
  SOUND(found, row->reacts == timers_has(&world->queues->reactions, index),
        "agent %u %s react by a time, and is %s asked to", index, row->reacts ? "must" : "need not",
        row->reacts ? "not" : "still");
  SOUND(found, (!alarm->wake_at_ns && !row->delayed) || timers_has(&world->queues->timers, index),
        "agent %u waits for a time without a timer", index);
  return !found->broken;
}

bool agent_is_sound(const struct muster_world *world, uint32_t index, soundness *found) {
  const agent_row *row = world_row(world, index);
  bool acts = bits_has(world->queues->acting, index);
  if (!world_sound_is_known(world, row, index, found)) return false;
  SOUND(found, acts == (row->status == AGENT_ACTING), "agent %u is %s and %s the acting agents", index,
        agent_status_name(row->status), acts ? "among" : "not among");
  switch ((agent_status)row->status) {
  case AGENT_WAITING:
    return waiting_is_sound(world, row, index, found);
  case AGENT_READY:
    return !found->broken; /* ready_is_sound() looks where it is */
  case AGENT_ADMITTED:
  case AGENT_ACTING:
    return is_in_none(row, index, found);
  case AGENT_QUARANTINED:
    return quarantined_is_sound(row, index, found);
  default:
    return SOUND(found, false, "agent %u is active and %s", index, agent_status_name(row->status));
  }
}

/* ------------------------------------------------------------------------------------------- admitted and acting */

static void add_admitted(const struct muster_world *world, uint32_t agent, const char *where, struct tally *admitted,
                         soundness *found) {
  const agent_store *store = &world->agents.store;
  if (!SOUND(found, agent < store->maximum && store_is_active(store, agent), "agent %u is in %s and not active", agent,
             where))
    return;
  SOUND(found, store->rows[agent].status == AGENT_ADMITTED, "agent %u is in %s and %s", agent, where,
        agent_status_name(store->rows[agent].status));
  tally_add(admitted, agent);
}

/* Whether the batch still holds an entry's agent. An agent that was woken and ran is ADMITTED from the commit on. */
static bool is_unsettled(const struct muster_world *world, uint32_t entry, world_moment moment) {
  if (moment == WORLD_RANKED) return true;
  if (!world->commit->open || entry < world->commit->settled) return false;
  return world->batch->outcomes[entry] != OUTCOME_SETTLED;
}

static struct tally tally_batch(const struct muster_world *world, world_moment moment, soundness *found) {
  const struct batch *batch = world->batch;
  struct tally admitted = {0};
  SOUND(found, batch->held_count <= HELD_MAX, "%u agents are held", batch->held_count);
  for (uint32_t i = 0; i < batch->held_count && !found->broken; i++)
    add_admitted(world, batch->held[i], "the list of held agents", &admitted, found);
  for (uint32_t i = 0; i < batch->count && !found->broken; i++)
    if (is_unsettled(world, i, moment)) add_admitted(world, batch->entries[i].agent, "the batch", &admitted, found);
  return admitted;
}

/* Names an ADMITTED agent that is in neither list, or in one of them twice. */
static bool name_admitted(const struct muster_world *world, world_moment moment, soundness *found) {
  const struct batch *batch = world->batch;
  for (uint32_t i = 0; store_finds(&world->agents.store, &i); i++) {
    uint32_t times = 0;
    if (world_row(world, i)->status != AGENT_ADMITTED) continue;
    for (uint32_t k = 0; k < batch->held_count; k++) times += batch->held[k] == i;
    for (uint32_t k = 0; k < batch->count; k++) times += batch->entries[k].agent == i && is_unsettled(world, k, moment);
    SOUND(found, times == 1, "agent %u is ADMITTED and %u times in the batch or held", i, times);
  }
  return !found->broken;
}

static bool statuses_are_sound(const struct muster_world *world, world_moment moment, soundness *found) {
  struct tally admitted = {0};
  uint32_t acting = 0;
  for (uint32_t i = 0; store_finds(&world->agents.store, &i) && !found->broken; i++) {
    agent_is_sound(world, i, found);
    if (world_row(world, i)->status == AGENT_ADMITTED) tally_add(&admitted, i);
    acting += world_row(world, i)->status == AGENT_ACTING;
  }
  struct tally told = tally_batch(world, moment, found);
  if (!found->broken && !tally_equals(&told, &admitted)) name_admitted(world, moment, found);
  uint32_t marked = sound_bits(world->queues->acting, bits_words(world->def.limits.agents_max));
  return SOUND(found, acting == world->queues->acting_count && marked == acting,
               "%u agents are ACTING, %u among the acting agents, counted as %u", acting, marked,
               world->queues->acting_count);
}

/* ------------------------------------------------------------------------------------------------- what counts them */

static bool penalties_are_sound(const struct muster_world *world, soundness *found) {
  const overruns_state *overruns = world->overruns;
  uint32_t demoted = 0, quarantined = 0, types = 0;
  struct tally told = {0}, seen = {0};
  for (uint32_t i = 0; store_finds(&world->agents.store, &i); i++) {
    const agent_row *row = world_row(world, i);
    demoted += row->level_floor > 0;
    quarantined += row->status == AGENT_QUARANTINED;
    if (row->level_floor) tally_add(&seen, row->type * 2);
    if (row->status == AGENT_QUARANTINED) tally_add(&seen, row->type * 2 + 1);
  }
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    types += world_type(world, i)->quarantined;
    tally_add_times(&told, i * 2, overruns->table.types[i].agents_demoted);
    tally_add_times(&told, i * 2 + 1, overruns->table.types[i].agents_quarantined);
    SOUND(found, world_type(world, i)->quarantined == world->queues->classes.frozen[i],
          "type %u is %sin quarantine, and its classes are %sfrozen", i,
          world_type(world, i)->quarantined ? "" : "not ", world->queues->classes.frozen[i] ? "" : "not ");
  }
  SOUND_EQUAL(found, demoted, overruns->agents_demoted, "%u agents are demoted, counted as %u");
  SOUND_EQUAL(found, quarantined, overruns->agents_quarantined, "%u agents are QUARANTINED, counted as %u");
  SOUND_EQUAL(found, types, overruns->types_quarantined, "%u types are in quarantine, counted as %u");
  return SOUND(found, tally_equals(&told, &seen), "the penalties of agents are not those that their types count");
}

/* Agents that have been spawned and ids that are set aside are not active. */
static bool spawns_are_sound(const struct muster_world *world, soundness *found) {
  uint32_t high = identity_high(&world->agents.ids);
  bool taken = !recorder_replays(world->recorder); /* in a replay the record says which agents become active */
  for (uint32_t i = 0; taken && i < high && !found->broken; i++)
    SOUND(found, !spawn_queue_has(&world->commands->queues.spawns, i) || !world_is_active(world, i),
          "agent %u is active and among the spawns", i);
  for (uint32_t i = 0; !world->commit->open && i < world->commands->spawn_id_count && !found->broken; i++)
    SOUND(found, world->commands->spawn_ids[i] < high && !world_is_active(world, world->commands->spawn_ids[i]),
          "agent %u is active, and its id set aside for a spawn", world->commands->spawn_ids[i]);
  return SOUND(found, world->commands->deferred_count <= world->def.limits.commands_max,
               "%u commands wait for the next intake", world->commands->deferred_count);
}

/* A herd's id is live where the herd is, and only there. */
static bool herd_ids_are_sound(const struct muster_world *world, soundness *found) {
  for (uint32_t t = 0; t < world->herds->table.count; t++) {
    const struct herd_type *type = &world->herds->table.types[t];
    for (uint32_t home = 0; home < type->block_count * MUSTER_HERD_BLOCK && !found->broken; home++) {
      bool used = home % MUSTER_HERD_BLOCK < herds_block_of(type, home)->high;
      bool there = used && (type->members[home] || herds_number_in(type, home) != HERD_EMPTY);
      SOUND(found, there == (herd_ids_generation(&world->herds->ids, type->first + home) & 1),
            "herd %u of type '%s' is %s, and its id is not", type->first + home, type->name, there ? "there" : "gone");
    }
  }
  return !found->broken;
}

bool world_is_sound(const struct muster_world *world, world_moment moment, soundness *found) {
  const agent_store *store = &world->agents.store;
  uint32_t high = identity_high(&world->agents.ids);
  return store_is_sound(store, found) && statuses_are_sound(world, moment, found) &&
         space_is_sound(&world->agents.space, store, found) &&
         classes_are_sound(&world->queues->classes, store, found) &&
         looks_are_sound(&world->queues->classes, store, found) &&
         ready_is_sound(&world->queues->ready, store, found) &&
         timers_are_sound(&world->queues->timers, high, "the agents that wait for a time", found) &&
         timers_are_sound(&world->queues->reactions, high, "the agents that must react", found) &&
         score_is_sound(&world->score->board, store, found) &&
         shedding_is_sound(&world->score->shedding, store, found) &&
         overrun_table_is_sound(&world->overruns->table, store, found) && penalties_are_sound(world, found) &&
         mailbox_is_sound(&world->links->mailbox, store, world->commit->open, found) &&
         companions_are_sound(&world->links->companions, store, found) &&
         observers_are_sound(&world->observers->table, found) && spawns_are_sound(world, found) &&
         herd_ids_are_sound(world, found) && herds_are_sound(&world->herds->table, store, found);
}

bool world_ids_are_sound(const struct muster_world *world, soundness *found) {
  const struct identity *ids = &world->agents.ids;
  uint32_t high = identity_high(ids), live = 0, index;
  uint32_t aside =
      world->commands->spawn_id_count + (world->herds->table.links && world->herds->table.spare != HERD_NONE);
  for (uint32_t i = 0; i < high && !found->broken; i++) {
    bool somebody = identity_generation(ids, i) & 1, pending = spawn_queue_has(&world->commands->queues.spawns, i);
    live += somebody;
    bool ghost = world->zone && zone_ids_is_ghost(&world->zone->ids, i);
    SOUND(found, somebody == (pending || ghost || world_is_active(world, i)),
          "agent %u has an id that is %s, and is %s", i, somebody ? "live" : "gone",
          pending ? "PENDING" : agent_status_name(world_row(world, i)->status));
    SOUND(found, !pending || world_row(world, i)->status == AGENT_PENDING, "agent %u is among the spawns and %s", i,
          agent_status_name(world_row(world, i)->status));
  }
  uint32_t free = 0;
  for (; !found->broken && ring_peek(&ids->given_back, free, &index); free++)
    SOUND(found, index < high && !(identity_generation(ids, index) & 1), "agent %u is there, and its index free",
          index);
  if (world->zone) aside += zone_ids_resting(&world->zone->ids);
  return SOUND(found, live + free + aside == high, "%u agents, %u free indices and %u set aside are not %u", live, free,
               aside, high);
}

#ifndef NDEBUG
void world_check(const struct muster_world *world, world_moment moment) {
  enum { EACH_FRAME = 4096, SELDOM = 64 };
  soundness found = {0};
  uint64_t work = (uint64_t)world->def.limits.agents_max / 2 + 4ull * world->agents.store.high +
                  32ull * world->queues->classes.count;
  for (uint32_t i = 0; i < world->herds->table.count; i++)
    work += world->herds->table.types[i].block_count * MUSTER_HERD_BLOCK;
  uint64_t every = work / EACH_FRAME < SELDOM ? 1 + work / EACH_FRAME : SELDOM;
  if (world->frames % every != 0) return;
  if (!world_is_sound(world, moment, &found))
    fatal("frame %llu: the world is not sound: %s", (unsigned long long)world->frames, found.trouble);
}
#endif
