/* report.c - what a host may read between two frames. */
#include "observe/report.h"
#include "agents/batch.h"
#include "base/sized.h"
#include "world/guard.h"
#include "world/observer_ids.h"
#include "world/overruns_state.h"
#include "world/planner_state.h"
#include "world/timing.h"
#include "world/trace.h"
#include "world/workers.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_teams.h"
#include "world/world_zone.h"

#include <string.h>
#include <xxhash.h>

muster_result muster_frame_report_read(const muster_world *world, muster_frame_report *report) {
  muster_result result = guard_read(world, "frame report");
  if (result) return result;
  const muster_frame_report *last = world_is_planned(world) ? &world->planner->report : &world->sums->report;
  return sized_write(SIZED(frame_report), last, report);
}

bool muster_frame_kept(const muster_frame_report *report) {
  muster_frame_report whole = muster_frame_report_default();
  if (!report || sized_read(SIZED(frame_report), report, &whole)) return false;
  return whole.overrun_own_ns <= whole.longest_atom_ns + MUSTER_PROMISE_GRACE_NS;
}

/* Of the types' own state, or of their sets. */
static uint64_t bytes_of_types(const muster_world *world, bool states) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    const agent_type *type = &world->agents.types.types[i];
    uint64_t each = 0;
    if (states) each = type->state_stride + 2 * type->published_stride;
    if (states && type->boxes.capacity)
      each += sizeof(struct box) + (uint64_t)type->boxes.capacity * 2 * type->boxes.stride;
    if (!states && type->has_sets) each = sizeof(set_pass) + type->sets.count * sizeof(set_state);
    bytes += (uint64_t)identity_high(&world->agents.slots[i]) * each;
  }
  return bytes;
}

/* Bytes in use per agent that was ever in use; the batch and its sort buffers count for the largest batch so far. The
 * workers' own scratch is left to the pool, so that the figure does not depend on their number. */
static uint64_t bytes_scheduling(const muster_world *world) {
  bool parted = false; /* updates may be preempted, or wait for action atoms */
  for (uint32_t i = 0; i < world->agents.types.count; i++) parted |= world->agents.types.types[i].atom_count > 1;
  uint64_t agents = identity_high(&world->agents.ids);
  uint64_t each =
      sizeof(agent_row) + sizeof(agent_place) + sizeof(uint8_t) /* wake word */ + (parted ? sizeof(agent_begun) : 0);
  if (world->planner->numbers) each += sizeof *world->planner->numbers;
  uint64_t buckets = world->agents.space.mask + 1 < agents ? world->agents.space.mask + 1 : agents;
  uint64_t batch = sizeof(batch_entry) + sizeof(batch_result) + sizeof(batch_claim);
  if (world->batch->passes) batch += sizeof(batch_pass);
  uint64_t bits = agents / 8 * 3 /* active, pending, noted for the score */;
  return world->bytes + agents * each + bits + world->score->board.field.tile_count * sizeof(field_tile) +
         buckets * sizeof(space_bucket) + world->sums->batch_high * batch +
         world->queues->classes.count * sizeof(agent_class) + sizeof(settle_part) +
         looks_bytes(&world->queues->classes.looks, (uint32_t)agents) + ready_ring_bytes(&world->queues->ready.ring) +
         lists_bytes(&world->agents.space.blocks) + bytes_of_types(world, false) +
         world->queues->timers.high *
             (sizeof(struct timer) + sizeof(*world->queues->timers.places) + sizeof(agent_alarm));
}

static muster_quantiles quantiles_of(const struct histogram *histogram) {
  return (muster_quantiles){histogram_quantile(histogram, 0.5), histogram_quantile(histogram, 0.99),
                            histogram->maximum};
}

static uint64_t completed_in(const muster_world *world, uint32_t band) {
  uint64_t completed = 0;
  for (uint32_t part = 0; part < world->sums->part_count; part++)
    completed += world->sums->parts[part].bands[band].completed;
  return completed;
}

uint64_t world_band_interval(const struct muster_world *world, uint32_t band) {
  uint64_t completed = completed_in(world, band);
  return completed ? (uint64_t)(world->plan->bands.agent_time_ns[band] / (double)completed + 0.5) : 0;
}

static muster_band band_read(const muster_world *world, uint32_t number) {
  muster_band band = {.interval_ns = world_band_interval(world, number),
                      .agent_time_ns = world->plan->bands.agent_time_ns[number],
                      .completed = completed_in(world, number),
                      .age = quantiles_of(&world->plan->bands.ages[number])};
  struct histogram all = {0};
  bands_count(&world->queues->classes, number, &band);
  for (uint32_t part = 0; part < world->sums->part_count; part++) {
    const struct histogram *one = &world->sums->parts[part].bands[number].staleness;
    if (!one->total && !one->maximum) continue; /* most workers of a large pool completed nothing */
    all.total += one->total;
    if (one->maximum > all.maximum) all.maximum = one->maximum;
    for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) all.counts[bucket] += one->counts[bucket];
  }
  band.staleness = quantiles_of(&all);
  return band;
}

muster_result muster_statistics_read(const muster_world *world, muster_statistics *statistics) {
  muster_result result = guard_read(world, "statistics");
  if (result) return result;
  muster_statistics whole = world->sums->statistics;
  double deviation_ns = 0;
  for (uint32_t part = 0; part < world->sums->part_count; part++) {
    deviation_ns += (double)(int64_t)world->sums->parts[part].interval_deviation_sum_ns;
    if (world->sums->parts[part].steps_behind_max > whole.steps_behind_max)
      whole.steps_behind_max = world->sums->parts[part].steps_behind_max;
  }
  if (whole.completed) whole.interval_deviation_ns = deviation_ns / (double)whole.completed;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) whole.bands[i] = band_read(world, i);
  if (whole.work_ns) whole.serial_share = (float)((double)whole.serial_ns / (double)whole.work_ns);
  whole.bytes_scheduling = bytes_scheduling(world);
  herds_bytes(world, &whole.bytes_folded, &whole.bytes_unfolded);
  whole.bytes_scheduling += whole.bytes_folded + whole.bytes_unfolded;
  if (world->herds->table.count)
    whole.bytes_scheduling += identity_high(&world->agents.ids) * (uint64_t)sizeof(herd_link);
  whole.bytes_used = whole.bytes_scheduling + bytes_of_types(world, true) +
                     (uint64_t)world->links->mailbox.places_high * sizeof(outgoing) + trace_bytes(world->trace) +
                     changes_bytes(&world->agents.store.changes, identity_high(&world->agents.ids));
  return sized_write(SIZED(statistics), &whole, statistics);
}

void muster_statistics_clear(muster_world *world) {
  if (guard_between(world, "statistics")) return;
  world->sums->statistics = muster_statistics_default();
  for (uint32_t part = 0; part < world->sums->part_count; part++) {
    settle_part *own = &world->sums->parts[part];
    uint64_t used = own->completed, unreported = used; /* the next frame's report counts them */
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) used += own->bands[band].completed;
    if (used) *own = (settle_part){.completed = unreported};
  }
  memset(&world->plan->bands, 0, sizeof world->plan->bands);
}

muster_result muster_type_cost_read(const muster_world *world, muster_type type, uint32_t level,
                                    muster_type_cost *cost) {
  muster_result result = guard_read(world, "type cost");
  if (result) return result;
  if (type.index == 0 || type.index > world->agents.types.count)
    return error_set(MUSTER_E_STALE, "type cost: no type %u is registered", type.index);
  const agent_type *known = &world->agents.types.types[type.index - 1];
  if (level >= known->def.levels.count)
    return error_set(MUSTER_E_ARGUMENT, "type cost: level %u of type '%s' must be below %u", level, known->def.name,
                     known->def.levels.count);
  const cost_estimate *estimate = costs_of(&world->learnt->costs, type.index - 1, level);
  muster_type_cost whole = {.mean_ns = (uint64_t)estimate->mean_ns,
                            .high_ns = (uint64_t)estimate->high_ns,
                            .samples = estimate->samples,
                            .levels = known->def.levels.count,
                            .per_second_ns = (uint64_t)(costs_slope(estimate) * 1e9),
                            .fixed_ns = (uint64_t)(costs_fixed_ns(estimate) * (1.0 + estimate->factor_more))};
  double load = 0.0;
  for (uint32_t i = 0; i < world->queues->classes.active_count; i++) {
    const agent_class *class = &world->queues->classes.classes[world->queues->classes.active[i]];
    if (class->type + 1u != type.index || class->level != level) continue;
    whole.agents += class->members;
    load += periods_elapsed_load(&world->queues->classes, class, &world->learnt->costs);
  }
  double capacity = (double)world->sums->report.utilisation_desired;
  if (load > 0.0 && capacity > 0.0) whole.elapsed_load = (float)(load / capacity);
  return sized_write(SIZED(type_cost), &whole, cost);
}

static void describe_active(const muster_world *world, uint32_t index, muster_agent_info *info) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_class *class = &world->queues->classes.classes[row->class];
  const cost_estimate *estimate = costs_of(&world->learnt->costs, row->type, row->level);
  info->active = true;
  info->importance = share_value(row->importance);
  info->elasticity = (float)class->elasticity;
  info->level = row->level;
  info->period_ns = classes_period_ns(class);
  info->last_update_ns = row->last_update_ns;
  if (row->status == AGENT_READY || row->status == AGENT_ADMITTED)
    info->delays = (uint8_t)(world->frames - row->released_frame + 1);
  info->atoms_done = row->atom_next;
  info->expected_cost_ns =
      (uint64_t)(estimate->mean_ns * (double)costs_part(estimate, row->cost_factor, info->period_ns));
}

bool muster_agent_exists(const muster_world *world, muster_agent agent) {
  return !guard_any(world, "agent exists") && world_exists(world, world_find(world, agent));
}

muster_result muster_agent_read(const muster_world *world, muster_agent id, muster_agent_info *info) {
  muster_result result = guard_read(world, "agent");
  if (result) return result;
  muster_agent agent = world_find(world, id);
  if (!world_exists(world, agent)) return guard_gone(id);
  const agent_row *row = &world->agents.store.rows[muster_agent_index(agent)];
  const agent_type *type = &world->agents.types.types[row->type];
  muster_agent_info whole = {
      .type = {row->type + 1u},
      .partition = world->agents.store.places[muster_agent_index(agent)].partition,
      .position = space_position(&world->agents.space, &world->agents.store.places[muster_agent_index(agent)]),
      .user = row->user,
      .published = type_published(type, row->state_slot, row->front),
      .state = type_state(type, row->state_slot)};
  whole.penalty = world->overruns->table.types[row->type].level_floor;
  if (row->level_floor > whole.penalty) whole.penalty = row->level_floor;
  whole.quarantined = type->quarantined || row->status == AGENT_QUARANTINED;
  if (type->boxes.capacity) whole.messages = type->boxes.boxes[row->state_slot].count;
  whole.wake_at_ns = world->agents.store.alarms[muster_agent_index(agent)].wake_at_ns;
  if (store_is_active(&world->agents.store, muster_agent_index(agent)))
    describe_active(world, muster_agent_index(agent), &whole);
  return sized_write(SIZED(agent_info), &whole, info);
}

muster_agent muster_agent_next(const muster_world *world, muster_agent agent) {
  if (guard_read(world, "next agent")) return (muster_agent){0};
  muster_agent after = world_find_seen(world, agent);
  bool first = muster_agent_is_null(agent);
  if (!first && muster_agent_is_null(after)) return after; /* of a zone, and gone */
  for (uint32_t index = first ? 0 : muster_agent_index(after) + 1; store_finds(&world->agents.store, &index); index++)
    if (world_exists(world, world_agent(world, index))) return world_id(world, index);
  return (muster_agent){0};
}

static bool observer_is_present(const muster_world *world, muster_observer observer) {
  return muster_observer_index(observer) < world->observers->table.maximum &&
         world->observers->table.rows[muster_observer_index(observer)].present && observer_ids_is_live(world, observer);
}

muster_observer muster_observer_next(const muster_world *world, muster_observer observer) {
  if (guard_read(world, "next observer")) return (muster_observer){0};
  muster_observer after = observer_ids_find(world, observer);
  if (!muster_observer_is_null(observer) && muster_observer_is_null(after)) return after; /* of a zone, and gone */
  uint32_t index = muster_observer_generation(after) ? muster_observer_index(after) + 1 : 0;
  for (; index < world->observers->table.high; index++) {
    muster_observer next = muster_observer_make(index, identity_generation(&world->observers->ids, index));
    if (observer_is_present(world, next)) return observer_ids_at(world, index);
  }
  return (muster_observer){0};
}

muster_result muster_observer_read(const muster_world *world, muster_observer observer, muster_observer_def *def) {
  muster_result result = guard_read(world, "observer");
  if (result) return result;
  muster_observer found = observer_ids_find(world, observer);
  if (!observer_is_present(world, found))
    return observer_ids_is_live(world, found)
               ? error_set(MUSTER_E_STALE,
                           "observer %u (generation %u) begins with the next frame: run one, then read it",
                           muster_observer_index(observer), muster_observer_generation(observer))
               : observer_ids_gone(world, observer);
  const observer_row *row = &world->observers->table.rows[muster_observer_index(found)];
  muster_observer_def whole = {
      .position = row->position, .partition = row->partition, .near_m = row->near_m, .far_m = row->far_m};
  return sized_write(SIZED(observer_def), &whole, def);
}

/* The parts of a row that describe the world; its links do not. */
typedef struct hashed_row {
  uint64_t last_update_ns, virtual_due_ns, first_due_ns;
  muster_position position;
  uint32_t index, generation, partition, type, level, status, atom_next;
  float importance, runs;
  uint32_t zero;
} hashed_row;

static uint64_t hash_messages(const muster_world *world, uint32_t index, uint64_t hash) {
  const agent_row *row = &world->agents.store.rows[index];
  const box_table *boxes = &world->agents.types.types[row->type].boxes;
  if (world->links->mailbox.owed_count)
    hash = XXH3_64bits_withSeed(&world->links->mailbox.losses[index], sizeof(struct loss), hash);
  if (!boxes->capacity) return hash;
  const struct box *box = &boxes->boxes[row->state_slot];
  for (uint32_t i = 0; i < box->count; i++) {
    const struct message_head *message = boxes_message(boxes, row->state_slot, i);
    uint64_t head[4] = {message->peer.value, message->sent_ns, message->size, i < box->begun};
    hash = XXH3_64bits_withSeed(head, sizeof head, hash);
    hash = XXH3_64bits_withSeed(message + 1, message->size, hash);
  }
  return hash;
}

static uint64_t hash_sets(const agent_type *type, const agent_row *row, uint64_t hash) {
  const set_table *sets = &type->sets;
  if (!type->has_sets) return hash;
  hash = XXH3_64bits_withSeed(&sets->passes[row->state_slot], sizeof(set_pass), hash);
  for (uint32_t i = 0; i < sets->count; i++) {
    const set_state *state = &sets_states_of(sets, row->state_slot)[i];
    uint64_t hashed[4] = {state->last_ns, state->began_ns, state->due_ns,
                          (uint64_t)state->goes_on << 32 | (uint64_t)state->progress << 16 | state->unit};
    hash = XXH3_64bits_withSeed(hashed, sizeof hashed, hash);
  }
  return hash;
}

static uint64_t hash_agent(const struct muster_world *world, uint32_t index, uint64_t hash) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_type *type = &world->agents.types.types[row->type];
  hashed_row hashed = {row->last_update_ns,
                       row->virtual_due_ns,
                       row->first_due_ns,
                       space_position(&world->agents.space, &world->agents.store.places[index]),
                       muster_agent_index(world_id(world, index)),
                       muster_agent_generation(world_id(world, index)),
                       world->agents.store.places[index].partition,
                       row->type,
                       row->level,
                       row->status,
                       row->atom_next,
                       row->importance,
                       row->runs,
                       0};
  hash = XXH3_64bits_withSeed(&hashed, sizeof hashed, hash);
  if (type->states) hash = XXH3_64bits_withSeed(type_state(type, row->state_slot), type->def.state_bytes, hash);
  if (type->published)
    hash = XXH3_64bits_withSeed(type_published(type, row->state_slot, row->front), type->def.published_bytes, hash);
  hash = hash_sets(type, row, hash);
  hash = hash_messages(world, index, hash);
  return timing_hash(&world->agents, world->queues, index, hash);
}

static uint64_t hash_ghost(const struct muster_world *world, uint32_t index) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_type *type = &world->agents.types.types[row->type];
  muster_position at = space_position(&world->agents.space, &world->agents.store.places[index]);
  uint64_t hash = XXH3_64bits_withSeed(&at, sizeof at, world_id(world, index).value);
  if (!type->published) return hash;
  return XXH3_64bits_withSeed(type_published(type, row->state_slot, row->front), type->def.published_bytes, hash);
}

/* The ends of channels, each by its agent's id. */
static uint64_t hash_ends(const struct muster_world *world, const struct channels *channels) {
  uint64_t hash = 0;
  for (const channel *end = channels_oldest(channels); end; end = channels_newer(channels, end)) {
    bool host = end->owner == world->def.limits.agents_max;
    const uint64_t parts[] = {host ? 0 : world_id(world, end->owner).value, end->peer, end->number,
                              world->frames - end->frame};
    hash += XXH3_64bits(parts, sizeof parts);
  }
  return hash;
}

static uint64_t hash_early(const struct world_zone *zone) {
  uint64_t hash = 0;
  for (uint32_t place = zone->early_oldest; place; place = zone->early[place - 1].newer) {
    const zone_outgoing *message = &zone->early[place - 1].message;
    hash += XXH3_64bits(message, offsetof(zone_outgoing, bytes) + message->size);
  }
  return hash;
}

static uint64_t hash_marks(const struct recent *marks) {
  recent_key key;
  uint64_t value, hash = 0, number = marks->added;
  for (uint32_t left = marks->count; left > 0;)
    if (recent_entry(marks, --number, &key, &value)) {
      hash += XXH3_64bits_withSeed(&value, sizeof value, key.first);
      left--;
    }
  return hash;
}

/* Observers, each by its id. */
static uint64_t hash_observers(const struct muster_world *world) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < world->observers->table.high; i++) {
    const observer_row *row = &world->observers->table.rows[i];
    if (!row->present) continue;
    uint64_t of_hop = world->zone->observer_hops[i];
    hash += XXH3_64bits_withSeed(&row->position, sizeof row->position, observer_ids_at(world, i).value + of_hop);
  }
  return hash;
}

/* What a zone has besides its agents. */
static uint64_t hash_zone(const struct muster_world *world, uint64_t hash) {
  const struct world_zone *zone = world->zone;
  const agent_store *store = &world->agents.store;
  uint32_t words = bits_words(store->maximum), left = store->ghost_count;
  for (uint32_t i = 0; left > 0; i++, left--) {
    i = bits_next(store->ghosts, words, i);
    hash += XXH3_64bits_withSeed(&zone->rows[i], sizeof *zone->rows, hash_ghost(world, i));
  }
  hash += hash_marks(&zone->ids.marks) + 3 * hash_marks(&zone->observer_ids.marks) + hash_observers(world);
  for (uint32_t i = 0; i < zone->queued; i++)
    hash = XXH3_64bits_withSeed(&zone->queue[i], offsetof(zone_outgoing, bytes) + zone->queue[i].size, hash);
  hash += hash_ends(world, &zone->out) + 3 * hash_ends(world, &zone->in) + hash_early(zone);
  const uint64_t counts[] = {zone->host_sent, world->def.zone.epoch, zone->delivered.added};
  return XXH3_64bits_withSeed(counts, sizeof counts, hash);
}

/* In a zone an agent may have any index: so its agents are summed up, each by its id. */
uint64_t world_hash(const struct muster_world *world) {
  uint64_t hash = world->last_now_ns;
  for (uint32_t i = 0; (i = store_next_active(&world->agents.store, i)) != UINT32_MAX; i++) {
    if (!world->zone)
      hash = hash_agent(world, i, hash);
    else
      hash += XXH3_64bits_withSeed(&world->zone->rows[i], sizeof *world->zone->rows, hash_agent(world, i, 0));
  }
  if (world->zone) hash = hash_zone(world, hash);
  return world->herds->table.count ? herds_hash(world, hash) : hash;
}

uint64_t muster_world_hash(const muster_world *world) {
  return guard_read(world, "hash") ? 0 : world_hash(world);
}
