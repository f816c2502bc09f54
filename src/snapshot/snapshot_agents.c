/* snapshot_agents.c - what a snapshot says of agents: which agent has which index, each agent with its state, the order
 * in which agents stand in the neighbour grid, and their companions. */
#include "agents/mailbox.h"
#include "agents/spawn.h"
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/overruns_state.h"
#include "world/saved_agent.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_zone.h"

#include <muster/snapshot.h>

#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- ids */

/* Whether an index belongs to an agent, for a snapshot: one that is active, or waits for its intake. An index that
 * another thread was about to use when the process was forked belongs to no agent yet. */
bool snapshot_is_somebody(const struct snapshot *snapshot, uint32_t index) {
  const struct muster_world *world = snapshot->world;
  return store_is_active(&world->agents.store, index) || spawn_queue_has(&world->commands->queues.spawns, index) ||
         (world->zone && zone_ids_is_ghost(&world->zone->ids, index));
}

/* The generation of an index: odd while it belongs to an agent. */
static void exchange_generation(struct snapshot *snapshot, uint32_t index) {
  struct muster_world *world = snapshot->world;
  uint32_t generation = identity_generation(&world->agents.ids, index);
  if (!snapshot_is_somebody(snapshot, index)) generation += generation & 1;
  generation = snapshot_number(snapshot, generation);
  if (snapshot_checks(snapshot)) snapshot->rows[index].generation = generation;
  if (snapshot_loads(snapshot)) identity_assign(&world->agents.ids, index, generation);
}

/* An id that was given back. */
static void exchange_free_id(struct snapshot *snapshot, void *value) {
  uint32_t *index = value;
  *index = snapshot_number(snapshot, *index);
  if (!snapshot_checks(snapshot)) return;
  snapshot_mark(snapshot, *index, SNAPSHOT_TAKEN, "the free ids");
  snapshot_expect(snapshot, !(snapshot->rows[*index].generation & 1), "agent %u is in the free ids", *index);
}

/* An index that another thread held when the process was forked comes back as the last of the free ones. In a zone an
 * index that is not among these may be one that rests. */
static void free_the_rest(struct snapshot *snapshot) {
  struct world_agents *agents = &snapshot->world->agents;
  for (uint32_t i = 0; i < snapshot->high; i++) {
    if (snapshot->marks[i] & SNAPSHOT_TAKEN || snapshot->rows[i].generation & 1) continue;
    if (agents->zone)
      zone_ids_give_back(agents->zone, i);
    else
      identity_give_back(&agents->ids, i);
  }
}

void snapshot_ids(struct snapshot *snapshot) {
  /* set aside for spawns from inside updates */
  static const snapshot_listing aside = {"ids set aside", "the ids set aside", SNAPSHOT_TAKEN, 1u << AGENT_FREE};
  struct muster_world *world = snapshot->world;
  uint32_t free_id;
  snapshot->high =
      snapshot_count(snapshot, snapshot->high, world->def.limits.agents_max, "indices of agents were in use");
  snapshot->active_high =
      snapshot_count_own(snapshot, &world->agents.store.high, snapshot->high, "indices of active agents");
  for (uint32_t i = 0; i < snapshot->high; i++) exchange_generation(snapshot, i);
  snapshot_array(snapshot, world->commands->spawn_ids, &world->commands->spawn_id_count, snapshot->high, &aside);
  snapshot_ring(snapshot, &world->agents.ids.given_back, "free ids", &free_id, exchange_free_id);
  if (snapshot_loads(snapshot)) free_the_rest(snapshot);
}

/* ----------------------------------------------------------------------------------------------------------- agents */

static uint64_t name_of_user(const struct snapshot *snapshot, uint32_t index, void *user) {
  muster_agent agent = world_id(snapshot->world, index);
  return user && snapshot->save->name_user ? snapshot->save->name_user(agent, user, snapshot->save->user) : 0;
}

void snapshot_saved(struct snapshot *snapshot, saved_agent *saved) {
  if (!snapshot_saves(snapshot)) memset(saved, 0, sizeof *saved);
  snapshot_exchange(snapshot, saved, offsetof(saved_agent, alarm));
  for (uint32_t i = 0; i < SAVED_COLUMNS; i++)
    if (saved->parts >> i & 1)
      snapshot_exchange(snapshot, (unsigned char *)saved + saved_columns[i].offset, saved_columns[i].bytes);
}

/* An agent with the columns that belong to it; a name stands for its user pointer. */
static void exchange_saved(struct snapshot *snapshot, uint32_t index, saved_agent *saved) {
  if (snapshot_saves(snapshot)) {
    saved_agent_describe(snapshot->world, index, saved);
    saved->row.user = (void *)(uintptr_t)name_of_user(snapshot, index, saved->row.user);
  }
  snapshot_saved(snapshot, saved);
}

/* Where an agent stands in lists is not saved: code that takes it out of a list relies on that place. Of one that waits
 * only whether it is scheduled is. */
static bool is_in_no_list(const saved_agent *saved) {
  return saved->row.scheduled <= (saved->row.status == AGENT_WAITING) && !saved->row.queued && !saved->row.state_slot &&
         !saved->place.spot;
}

/* What only agents with certain statuses can have. */
static bool has_its_status(const agent_row *row) {
  switch ((agent_status)row->status) {
  case AGENT_PENDING:
    return row->atom_next == 0 && !row->owes && !row->reacts && !row->level_floor;
  case AGENT_QUARANTINED:
    return !row->woken;
  case AGENT_GHOST:
    return row->atom_next == 0 && !row->reacts && !row->acts;
  default:
    return !row->acts;
  }
}

static bool is_row(const struct snapshot *snapshot, const saved_agent *saved) {
  const agent_row *row = &saved->row;
  bool ghost = snapshot_is_ghost(snapshot, saved->index);
  if (ghost != (row->status == AGENT_GHOST) || row->status < AGENT_PENDING) return false;
  const agent_type *type = &snapshot->world->agents.types.types[row->type];
  uint16_t atoms = type->has_sets || type->parallel_atoms == 0 ? 1 : type->parallel_atoms;
  if (!saved_agent_is_elastic(saved) || row->atom_next >= atoms || row->level >= type->def.levels.count) return false;
  if (!has_its_status(row)) return false;
  if (row->status == AGENT_PENDING) return true;
  if (ghost) return !row->scheduled && !row->user && !row->owes && !row->woken && !row->acts && !row->level_floor;
  if (row->level_floor && row->level_floor >= type->def.levels.count) return false;
  if (row->owes && !type->has_sets) return false;
  return row->class < snapshot->classes && snapshot->types[row->class] == row->type &&
         row->last_update_ns <= snapshot->info.sim_now_ns && row->first_due_ns <= snapshot->info.sim_now_ns &&
         row->virtual_due_ns < (uint64_t)INT64_MAX / 2;
}

static void check_agent(struct snapshot *snapshot, const saved_agent *saved) {
  ASSERT(snapshot_checks(snapshot));
  const struct muster_world *world = snapshot->world;
  uint32_t index = saved->index;
  snapshot_mark(snapshot, index, SNAPSHOT_TAKEN, "the agents");
  snapshot_expect(snapshot, snapshot->rows[index].generation & 1, "agent %u has an id that is gone", index);
  snapshot_expect(snapshot, saved->row.type < world->agents.types.count, "agent %u is of type %u", index,
                  saved->row.type + 1u);
  snapshot_expect(snapshot, is_row(snapshot, saved), "agent %u is what none can be", index);
  snapshot_expect(snapshot, is_in_no_list(saved), "agent %u stands in lists before any is read", index);
  if (saved->alarm.wake_at_ns || saved->row.delayed) snapshot_mark(snapshot, index, SNAPSHOT_AWAITS, "the alarms");
  snapshot_expect(snapshot, saved_agent_is_placed(world, &saved->place, saved->row.type),
                  "agent %u is where none can be", index);
  uint32_t cycle = world->plan->phases.delay_max ? world->plan->phases.types[saved->row.type].cycle : 0;
  snapshot_expect(snapshot, saved->parts < 1u << SAVED_COLUMNS && saved->shed < MUSTER_LEVELS && saved->phase <= cycle,
                  "agent %u is lowered, or planned, as none can be", index);
  snapshot_expect(snapshot, saved->begun.started_ns <= snapshot->info.sim_now_ns, "agent %u began later than now",
                  index);
  spawn_write_row(&snapshot->rows[index], &saved->row);
  snapshot->shed += saved->shed > 0;
  if (saved->row.status == AGENT_PENDING) return;
  snapshot_expect(snapshot, index < snapshot->active_high, "agent %u is beyond those that are active", index);
  snapshot->ghosts += saved->row.status == AGENT_GHOST;
  if (saved->row.status == AGENT_GHOST) return;
  snapshot->active++;
  if (saved->row.status == AGENT_QUARANTINED) return;
  snapshot_expect(snapshot, snapshot->members[saved->row.class] > 0, "class %u has no members", saved->row.class);
  snapshot->members[saved->row.class] = 2;
}

static void count_penalties(struct muster_world *world, const agent_row *row) {
  type_overruns *overruns = &world->overruns->table.types[row->type];
  ASSERT(row->status > AGENT_PENDING && row->type < world->agents.types.count);
  world->overruns->agents_demoted += row->level_floor > 0;
  overruns->agents_demoted += row->level_floor > 0;
  world->overruns->agents_quarantined += row->status == AGENT_QUARANTINED;
  overruns->agents_quarantined += row->status == AGENT_QUARANTINED;
}

static void snapshot_agents_take_agent(struct snapshot *snapshot, const saved_agent *saved) {
  struct muster_world *world = snapshot->world;
  uint32_t index = saved->index;
  agent_row *row = &world->agents.store.rows[index];
  const muster_load_def *load = snapshot->load;
  uint64_t name = (uint64_t)(uintptr_t)saved->row.user;
  muster_agent agent = world_id(world, index);
  void *user = name && load->user_of ? load->user_of(agent, name, load->user) : NULL;
  bool taken = saved_agent_take(world, saved, (1u << SAVED_COLUMNS) - 1, user);
  ASSERT(taken && !store_is_active(&world->agents.store, index));
  if (row->status == AGENT_PENDING) {
    if (row->removal_pending)
      removals_mark(&world->agents.removals, index, identity_generation(&world->agents.ids, index));
    spawn_queue_add(&world->commands->queues.spawns, index);
    return;
  }
  if (row->status == AGENT_GHOST) {
    world->agents.store.ghost_count++;
    return;
  }
  store_activate(&world->agents.store, index);
  if (row->status == AGENT_READY) {
    world->queues->ready.count++;
    world->queues->ready.counts_of[row->type]++;
    world->queues->ready.begun += (row->atom_next | row->owes) > 0;
  }
  if (row->status == AGENT_ACTING) {
    world->queues->acting[index / 64] |= 1ull << (index % 64);
    world->queues->acting_count++;
  }
  count_penalties(world, row);
  if (row->status == AGENT_QUARANTINED) return;
  agent_class *class = &world->queues->classes.classes[row->class];
  ASSERT(row->class < world->queues->classes.count && class->type == row->type);
  classes_count(&world->queues->classes, class, row, 1);
  if (row->scheduled) due_insert(&world->queues->classes, class, &world->agents.store, index);
}

/* ----------------------------------------------------------------------------------------------------------- states */

static bool is_pass(const set_table *sets, const set_pass *pass) {
  uint32_t all = (1u << sets->count) - 1u;
  return !((pass->owed | pass->left | pass->cut) & ~all) && pass->last[0] <= sets->count &&
         pass->last[1] <= sets->count && pass->current <= sets->count;
}

static bool is_state(const type_set *set, const set_state *state) {
  return state->goes_on == 0 || (state->goes_on > set->first_atom && state->goes_on <= set->end_atom);
}

static void exchange_sets(struct snapshot *snapshot, const agent_type *type, uint32_t slot) {
  static const snapshot_column columns[] = {SPAN(set_state, last_ns, unit), COUNT(set_state, reported, 1), COLUMNS_END};
  const set_table *sets = &type->sets;
  set_pass checked, *pass = snapshot_object(snapshot, &sets->passes[slot], &checked);
  snapshot_exchange(snapshot, pass, sizeof *pass);
  snapshot_expect(snapshot, is_pass(sets, pass), "an agent is with its sets where none can be");
  for (uint32_t i = 0; i < sets->count; i++) {
    set_state substitute, *state = snapshot_object(snapshot, &sets_states_of(sets, slot)[i], &substitute);
    snapshot_columns(snapshot, columns, state);
    snapshot_expect(snapshot, is_state(&sets->sets[i], state), "an agent is in a set where none can be");
  }
}

void snapshot_message(struct snapshot *snapshot, outgoing *message, uint32_t most) {
  snapshot_exchange(snapshot, &message->head, sizeof message->head);
  snapshot_expect(snapshot, message->head.size <= most, "a message of %u bytes", message->head.size);
  snapshot_exchange(snapshot, message->bytes, message->head.size);
}

static void exchange_boxed(struct snapshot *snapshot, box_table *boxes, uint32_t slot, uint32_t number) {
  outgoing message = {0};
  if (snapshot_saves(snapshot)) {
    const struct message_head *saved = boxes_message(boxes, slot, number);
    ASSERT(saved->size <= boxes->message_bytes);
    message.head = *saved;
    memcpy(message.bytes, saved + 1, saved->size);
  }
  snapshot_message(snapshot, &message, boxes->message_bytes);
  if (snapshot_loads(snapshot)) boxes_put(boxes, slot, &message.head, message.bytes);
}

/* An update that has begun has read the first messages of the box. */
static void exchange_box(struct snapshot *snapshot, box_table *boxes, uint32_t slot) {
  uint32_t capacity = boxes->capacity, own = boxes->boxes[slot].count, read = boxes->boxes[slot].begun;
  ASSERT(read <= own && own <= 2 * capacity);
  uint32_t count = snapshot_count(snapshot, own, 2 * capacity, "messages in a box");
  uint32_t begun = snapshot_count(snapshot, read, count < capacity ? count : capacity, "messages that were read");
  snapshot_expect(snapshot, count - begun <= capacity, "%u messages in a box of %u", count - begun, capacity);
  for (uint32_t i = 0; i < count; i++) {
    exchange_boxed(snapshot, boxes, slot, i);
    if (snapshot_loads(snapshot) && i + 1 == begun) boxes_begin(boxes, slot);
  }
}

void snapshot_state(struct snapshot *snapshot, const agent_row *row) {
  agent_type *type = &snapshot->world->agents.types.types[row->type];
  uint32_t slot = snapshot_checks(snapshot) ? 0 : row->state_slot;
  if (type->states) snapshot_exchange_own(snapshot, type_state(type, slot), type->state_stride);
  if (type->published)
    snapshot_exchange_own(snapshot, type_published(type, slot, 0), 2 * (size_t)type->published_stride);
  if (row->status != AGENT_PENDING && type->has_sets) exchange_sets(snapshot, type, slot);
  if (type->boxes.capacity) exchange_box(snapshot, &type->boxes, slot);
}

static void exchange_agent(struct snapshot *snapshot, uint32_t index) {
  saved_agent saved;
  exchange_saved(snapshot, index, &saved);
  if (snapshot_checks(snapshot)) check_agent(snapshot, &saved);
  if (snapshot_loads(snapshot)) snapshot_agents_take_agent(snapshot, &saved);
  snapshot_state(snapshot, &snapshot->rows[saved.index]);
}

/* Checks that every live id has its agent, and every class the members that it counts. */
static void check_all(struct snapshot *snapshot) {
  ASSERT(snapshot_checks(snapshot) && snapshot->active <= snapshot->high);
  for (uint32_t i = 0; i < snapshot->high; i++)
    if (snapshot->rows[i].generation & 1)
      snapshot_expect(snapshot, snapshot->marks[i] & SNAPSHOT_TAKEN, "agent %u is missing", i);
  for (uint32_t i = 0; i < snapshot->classes; i++)
    snapshot_expect(snapshot, snapshot->members[i] != 1, "class %u has no members", i);
  snapshot_expect(snapshot, snapshot->active == snapshot->info.agents, "%u agents, where the head says %u",
                  snapshot->active, snapshot->info.agents);
}

void snapshot_agents(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  uint32_t count = 0;
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < snapshot->high; i++) count += snapshot_is_somebody(snapshot, i);
  count = snapshot_count(snapshot, count, snapshot->high, "agents");
  for (uint32_t i = 0, index = 0; i < count; i++, index++) {
    while (snapshot_saves(snapshot) && !snapshot_is_somebody(snapshot, index)) index++;
    exchange_agent(snapshot, index);
  }
  if (snapshot_checks(snapshot)) check_all(snapshot);
  ASSERT(!snapshot_loads(snapshot) || world->agents.store.active_count == snapshot->info.agents);
}

/* ------------------------------------------------------------------------------------------------------------- grid */

/* Crowds come first: while a bucket is read, each crowd is a list of its own, so that it gets its own order back. */
static uint32_t list_bucket(struct snapshot *snapshot, uint32_t bucket, uint32_t count) {
  const struct space *space = &snapshot->world->agents.space;
  for (uint32_t crowd = space->first_crowds[bucket]; crowd; crowd = space->crowds.cells[crowd].next) {
    uint32_t slot = 0;
    for (agent_list list; (list = crowds_next_list(&space->crowds, crowd, &slot));)
      count = snapshot_list(snapshot, space->stores, list, count);
  }
  return snapshot_list(snapshot, space->stores, space->buckets[bucket].list, count);
}

void snapshot_grid(struct snapshot *snapshot) {
  static const snapshot_listing grid = {"agents in the grid", "the grid", SNAPSHOT_IN_GRID, LISTS_SEEN};
  struct world_agents *agents = &snapshot->world->agents;
  uint32_t count = 0;
  for (uint32_t i = 0; i <= agents->space.mask && snapshot_saves(snapshot); i++)
    count = list_bucket(snapshot, i, count);
  count = snapshot_indices(snapshot, count, snapshot->high, &grid);
  snapshot_expect(snapshot, count == snapshot->active + snapshot->ghosts, "%u agents in the grid, where there are %u",
                  count, snapshot->active + snapshot->ghosts);
  for (uint32_t i = 0; i < count && snapshot_loads(snapshot); i++)
    space_link(&agents->space, &agents->store, snapshot->indices[i]);
}

/* ------------------------------------------------------------------------------------------------------- companions */

void snapshot_companions(struct snapshot *snapshot) {
  static const snapshot_listing members = {"agents in company", "company", SNAPSHOT_HAS_COMPANIONS, LISTS_LIVE};
  struct companions *companions = &snapshot->world->links->companions;
  uint32_t next = snapshot_number(snapshot, companions->next), most = companions->of ? snapshot->high : 0;
  uint32_t count = snapshot_array(snapshot, companions->members, &companions->count, most, &members);
  if (snapshot_loads(snapshot)) companions->next = next;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = snapshot->indices[i];
    struct companion_list substitute, *list = snapshot_object(snapshot, &companions->of[index], &substitute);
    snapshot_exchange(snapshot, list, sizeof *list);
    snapshot_expect(snapshot, !muster_agent_is_null(list->others[0]), "agent %u has an empty company", index);
    if (snapshot_loads(snapshot)) companions->places[index] = i + 1;
  }
}
