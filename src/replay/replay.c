/* replay.c - the part of a replay that no recorded frame has: agents that are spawned as a host spawned them, what
 * stands between two frames, and a stage 7 that runs what ran, and as far as it ran, on any number of workers. */
#include "replay/replay.h"

#include "agents/spawn.h"
#include "api/calls.h"
#include "base/error.h"
#include "base/fields.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "record/recorder_fields.h"
#include "run/runner.h"
#include "snapshot/crossing.h"
#include "snapshot/prepare.h"
#include "world/guard.h"
#include "world/serial.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_observers.h"
#include "world/world_record.h"
#include "world/world_teams.h"

#include <math.h>
#include <muster/bulk.h>
#include <muster/record.h>
#include <muster/snapshot.h>
#include <string.h>

void replay_type(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  uint32_t number = recorder->types_known++;
  if (number >= world->agents.types.count) {
    recorder_diverges(recorder,
                      "type %u is not registered: register as many types as in the recorded run before this frame",
                      number + 1);
    return;
  }
  const agent_type *type = &world->agents.types.types[number];
  const char *field = fields_exchange_type(&recorder->tape, type);
  if (field) recorder_diverges(recorder, "type %u, '%s': its %s is not what it was", number + 1, type->name, field);
}

/* The user pointer of a recorded agent, which the record cannot know. */
static void *user_of(muster_agent agent, uint64_t name, void *of) {
  struct recorder *recorder = of;
  const muster_replay_def *replay = &recorder->replay;
  if (replay->user_of) return replay->user_of(agent, name, replay->user);
  recorder_diverges(recorder, "agent %u was spawned with a user pointer: give user_of", muster_agent_index(agent));
  return NULL;
}

static bool can_be_born(struct muster_world *world, uint64_t index, uint64_t generation, uint64_t type) {
  if (type < world->agents.types.count && generation <= UINT32_MAX && (generation & 1))
    return world_record_claim(world, index);
  return recorder_diverges(world->recorder, "its record spawns agent %llu of type %llu, which cannot be",
                           (unsigned long long)index, (unsigned long long)type + 1);
}

/* Whether the snapshot has the agent already: its spawner was about to log it when the snapshot was taken. */
static bool replay_knows(const struct muster_world *world, const struct logged_spawn *spawn) {
  return world->recorder->journal.on && spawn->index < world->def.limits.agents_max && (spawn->generation & 1) &&
         identity_generation(&world->agents.ids, (uint32_t)spawn->index) == spawn->generation &&
         world->agents.store.rows[spawn->index].status == AGENT_PENDING &&
         world->agents.store.rows[spawn->index].type == spawn->type && spawn->type < world->agents.types.count;
}

static void pass_states(struct tape *tape, const agent_type *type) {
  if (type->states) tape_take_place(tape, type->def.state_bytes);
  if (type->published) tape_take_place(tape, type->def.published_bytes);
}

void replay_logged_spawn(struct muster_world *world) {
  struct tape *tape = &world->recorder->tape;
  struct logged_spawn spawn = {0};
  saved_agent *saved = &spawn.agent;
  world_record_spawned(world, &spawn);
  if (replay_knows(world, &spawn)) {
    pass_states(tape, &world->agents.types.types[spawn.type]);
    return;
  }
  if (tape->failed || !can_be_born(world, spawn.index, spawn.generation, spawn.type)) return;
  const agent_type *type = &world->agents.types.types[spawn.type];
  muster_agent agent = muster_agent_make((uint32_t)spawn.index, (uint32_t)spawn.generation);
  void *user = spawn.any_user ? user_of(world->zone ? spawn.id : agent, spawn.name, world->recorder) : NULL;
  muster_agent_def def = {.state = type->states ? tape_take_place(tape, type->def.state_bytes) : NULL,
                          .published = type->published ? tape_take_place(tape, type->def.published_bytes) : NULL};
  saved->index = muster_agent_index(agent);
  saved->place.type = (uint16_t)spawn.type;
  saved->row.type = spawn.type & ROW_TYPE_MASK;
  saved->row.status = AGENT_PENDING;
  saved->place.spot = saved->place.depth = 0;
  if (tape->failed) return;
  if (!saved_agent_is_placed(world, &saved->place, saved->row.type) || !saved_agent_is_elastic(saved)) {
    recorder_diverges(world->recorder, "its record spawns agent %u as none can be", muster_agent_index(agent));
    return;
  }
  if (!saved_agent_take(world, saved, 1u << SAVED_RATINGS, user)) return;
  spawn_write_state(type, world->agents.store.rows[muster_agent_index(agent)].state_slot, &def);
  if (world->zone)
    zone_ids_restore(world->agents.zone, muster_agent_index(agent), muster_agent_generation(agent), spawn.id, false);
  else
    identity_assign(&world->agents.ids, muster_agent_index(agent), muster_agent_generation(agent));
}

/* ---------------------------------------------------------------------------------------------- where it begins */

/* From here on the record says which indices are taken, and `held` which are. */
static void hold_live(struct identity *ids, uint64_t *held) {
  ids->held = held;
  for (uint32_t i = 0; i < identity_high(ids); i++)
    if (identity_generation(ids, i) & 1) identity_claim(ids, i);
}

muster_result replay_load(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  uint64_t *agents = world->agents.ids.held, *observers = world->observers->ids.held;
  muster_load_def load = muster_load_def_default();
  load.bytes = recorder->snapshot;
  load.count = recorder->snapshot_bytes;
  load.user_of = user_of;
  load.user = recorder;
  /* It is loaded as into any new world. Other threads may ask for something meanwhile: by the recorder, which stays
   * where it is, they see that nothing is to be done, and so they do not look at the ids. */
  recorder->loads = true;
  world->agents.ids.held = world->observers->ids.held = NULL;
  muster_result result = muster_world_load(world, &load);
  recorder->loads = false;
  hold_live(&world->agents.ids, agents);
  hold_live(&world->observers->ids, observers);
  for (uint32_t i = 0; i < world->commands->spawn_id_count; i++)
    identity_claim(&world->agents.ids, world->commands->spawn_ids[i]);
  if (world->herds->table.count) identity_claim(&world->agents.ids, world->herds->table.spare);
  if (result) return result;
  spawn_queue_clear(
      &world->commands->queues.spawns); /* those that waited are in the record, as the intakes took them */
  recorder->snapshot = NULL;
  return recorder->trouble[0] ? error_set(MUSTER_E_INPUT, "replay: %s", recorder->trouble) : MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------- between two frames */

/* Arrays may stand at any address of a record, which structures may not: they are read a few at a time. */
enum { TOGETHER = 256 };

union values {
  muster_position positions[TOGETHER];
  float factors[TOGETHER];
};

static void replay_hand_over(struct muster_world *world, recorder_tag tag, muster_factor factor,
                             const muster_agent *ids, const union values *values, uint32_t count) {
  muster_observer observers[TOGETHER];
  memcpy(observers, ids, count * sizeof *observers);
  if (tag == TAG_MOVES) bulk_move_agents(world, ids, values->positions, count);
  if (tag == TAG_OBSERVER_MOVES) bulk_move_observers(world, observers, values->positions, count);
  if (tag == TAG_FACTORS) bulk_set_factor(world, factor, ids, values->factors, count);
}

static void replay_array(struct muster_world *world, recorder_tag tag) {
  struct tape *tape = &world->recorder->tape;
  muster_agent ids[TOGETHER];
  union values values;
  size_t each = tag == TAG_FACTORS ? sizeof *values.factors : sizeof *values.positions;
  uint64_t factor = tape_take_number(tape), count = tape_take_number(tape);
  if (factor >= MUSTER_FACTORS || count > UINT32_MAX) {
    recorder_diverges(world->recorder, "its record has an array of %llu for factor %llu", (unsigned long long)count,
                      (unsigned long long)factor);
    return;
  }
  const unsigned char *from = tape_take_place(tape, (size_t)count * sizeof *ids);
  const unsigned char *of = tape_take_place(tape, (size_t)count * each);
  if (!from || !of) return;
  if (count == 0) replay_hand_over(world, tag, (muster_factor)factor, ids, &values, 0);
  for (uint64_t i = 0, some; i < count; i += some) {
    some = count - i < TOGETHER ? count - i : TOGETHER;
    memcpy(ids, from + i * sizeof *ids, some * sizeof *ids);
    memcpy(&values, of + i * each, some * each);
    replay_hand_over(world, tag, (muster_factor)factor, ids, &values, (uint32_t)some);
  }
}

/* A call of a zone is made again. */
static void replay_zone(struct muster_world *world) {
  struct tape *tape = &world->recorder->tape;
  zone_call call = {0};
  tape_take(tape, &call, sizeof call);
  uint64_t count = tape_take_number(tape);
  const void *bytes = tape_take_place(tape, (size_t)count);
  if (tape->failed || (count && !bytes) || !crossing_repeat(world, &call, bytes, (size_t)count))
    recorder_diverges(world->recorder, "its record has a crossing of kind %u that cannot be", call.kind);
}

/* The frames from here on were planned for so many. */
static void replay_workers(struct muster_world *world) {
  uint64_t workers = tape_take_number(&world->recorder->tape);
  if (workers >= 1 && workers <= MUSTER_WORKERS_MAX)
    world->runner->workers = (uint32_t)workers;
  else
    recorder_diverges(world->recorder, "its record has %llu workers", (unsigned long long)workers);
}

bool replay_until_frame(struct muster_world *world, muster_frame *frame) {
  struct tape *tape = &world->recorder->tape;
  for (;;) {
    recorder_tag tag = recorder_next_tag(world->recorder);
    if (tag == TAG_MOVES || tag == TAG_OBSERVER_MOVES || tag == TAG_FACTORS) {
      replay_array(world, tag);
      continue;
    }
    if (tag == TAG_SETTLED) {
      snapshot_prepare(world);
      continue;
    }
    if (tag == TAG_FINISHED) {
      snapshot_finish_commit(world);
      continue;
    }
    if (tag == TAG_ZONE) {
      replay_zone(world);
      continue;
    }
    if (tag == TAG_WORKERS) {
      replay_workers(world);
      continue;
    }
    if (tag == TAG_FRAME) break;
    return recorder_diverges(world->recorder, "its record has item %d between two frames", (int)tag);
  }
  uint64_t types = tape_take_number(tape);
  *frame = (muster_frame){.sim_now_ns = tape_take_number(tape), .budget_ns = tape_take_number(tape)};
  if (!field_allows(fields_frame, (double)frame->budget_ns) || frame->sim_now_ns < world->last_now_ns ||
      frame->sim_now_ns > (uint64_t)INT64_MAX / 2)
    recorder_diverges(world->recorder, "its record has a frame at %llu ns with a budget of %llu ns",
                      (unsigned long long)frame->sim_now_ns, (unsigned long long)frame->budget_ns);
  if (types != world->agents.types.count)
    recorder_diverges(world->recorder, "%u types are registered, in the recorded run there were %llu",
                      world->agents.types.count, (unsigned long long)types);
  return !world->recorder->trouble[0] && !tape->failed;
}

/* --------------------------------------------------------------------------------------------------------- stage 7 */

/* Appends an entry to what is to be run, to the last claim if it fits there. */
static void replay_claim(struct muster_world *world, uint32_t entry, uint32_t *count) {
  enum { EACH = 32 };
  batch_claim *claims = world->recorder->claims, *last = *count ? &claims[*count - 1] : NULL;
  const struct batch *batch = world->batch;
  uint16_t strand = batch->strands && entry < batch->count ? batch->strands[entry] : 0;
  if (last && last->end == entry && last->end - last->first < EACH && last->strand == strand)
    last->end++;
  else
    claims[(*count)++] = (batch_claim){.first = entry, .end = entry + 1, .strand = strand};
}

/* An entry that was cut before `atom`, or inside it. */
static bool take_cut(struct muster_world *world, uint32_t entry, uint64_t atom) {
  batch_entry *given = &world->batch->entries[entry];
  const agent_row *row = &world->agents.store.rows[given->agent];
  uint64_t asks = 0;
  if (world->agents.types.types[row->type].sliced) asks = tape_take_number(&world->recorder->tape);
  if (asks > UINT32_MAX || atom < row->atom_next + (uint64_t)(asks == 0) || atom == 0 || atom >= given->atom_end)
    return false;
  given->atom_end = (uint16_t)(atom + (asks > 0));
  world->batch->results[entry].cut_asks = (uint32_t)asks;
  return true;
}

/* How an entry ended: 0 = not run, 1 = whole, else cut before the atom `how` - 2, or inside it. */
static bool take_outcome(struct muster_world *world, uint32_t entry, uint64_t how, uint32_t *claims) {
  if (how == 0) return true;
  world->batch->results[entry].cut_asks = 0;
  if (how > 1 && !take_cut(world, entry, how - 2)) return false;
  replay_claim(world, entry, claims);
  return true;
}

static bool take_batch(struct muster_world *world, uint32_t *claims) {
  struct tape *tape = &world->recorder->tape;
  const struct batch *batch = world->batch;
  uint64_t recorded = tape_take_number(tape);
  if (recorded != batch->count)
    return recorder_diverges(world->recorder, "it ranked %u agents, its record %llu", batch->count,
                             (unsigned long long)recorded);
  for (uint32_t i = 0; i < batch->count;) {
    uint64_t how = tape_take_number(tape), alike = how > 1 ? 1 : tape_take_number(tape);
    bool fits = !tape->failed && alike > 0 && alike <= batch->count - i;
    for (uint64_t k = 0; fits && k < alike; k++) fits = take_outcome(world, i++, how, claims);
    if (!fits) return recorder_diverges(world->recorder, "its record does not say how entry %u ended", i);
  }
  return true;
}

static uint32_t replay_take_woken(struct muster_world *world, uint32_t *claims) {
  struct tape *tape = &world->recorder->tape;
  uint64_t woken = tape_take_number(tape);
  for (uint32_t i = 0; i < woken; i++) {
    uint64_t agent = tape_take_number(tape), how = tape_take_number(tape);
    uint32_t entry = world->batch->count + i;
    if (!frame_record_put_woken(world, entry, agent)) return i;
    if (take_outcome(world, entry, how, claims)) continue;
    recorder_diverges(world->recorder, "its record does not say how agent %llu ended", (unsigned long long)agent);
    return i;
  }
  return (uint32_t)woken;
}

/* Checks whether each entry ended as recorded. */
static void compare_outcomes(struct muster_world *world, uint32_t claims) {
  const struct batch *batch = world->batch;
  for (uint32_t k = 0; k < claims; k++)
    for (uint32_t i = world->recorder->claims[k].first; i < world->recorder->claims[k].end; i++) {
      const batch_entry *entry = &batch->entries[i];
      uint16_t parallel = world->agents.types.types[world->agents.store.rows[entry->agent].type].parallel_atoms;
      bool cut = batch->outcomes[i] == OUTCOME_PREEMPTED;
      if (cut == (entry->atom_end < parallel || batch->results[i].cut_asks > 0)) continue;
      recorder_diverges(world->recorder, "agent %u: its update %s, in its record it %s", entry->agent,
                        cut ? "was cut" : "ended", cut ? "ended" : "was cut");
    }
}

void replay_run(struct muster_world *world) {
  struct runner *runner = world->runner;
  struct batch *batch = world->batch;
  batch_claim *claims = batch->claims;
  while (frame_append(world, false)) continue;
  uint32_t claim_count = batch->claim_count, count = 0, woken = 0;
  if (recorder_mark(world->recorder, TAG_OUTCOMES) && take_batch(world, &count))
    woken = replay_take_woken(world, &count);
  frame_record_cycles(world);
  batch->claims = world->recorder->claims;
  batch->claim_count = count;
  runner->virtual = runner->replays = true; /* no worker looks at a clock, or looks for woken agents */
  runner_open(runner);
  runner_publish_all(runner);
  team_orders orders = {.work = runner_work, .argument = runner, .patience_ns = UINT64_MAX};
  team_run(&world->teams->run, world->teams->slot, &orders, count > 1 ? serial_helpers_for(world, 0) : 0);
  runner_close(runner);
  runner->virtual = runner->replays = false;
  batch->claims = claims;
  batch->claim_count = claim_count;
  batch->woken_count = woken;
  compare_outcomes(world, count);
}
