/* snapshot_agents.c - what a snapshot says of agents: which agent has which index, each agent with its state, the order
 * in which agents stand in the neighbour grid, and their companions. */
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/conduct_state.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_plan.h"
#include "world/world_queues.h"

#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- ids
 */

/* Whether an index belongs to an agent, for a snapshot: one that is active, or waits for its intake. An index that
 * another thread was about to use when the process was forked belongs to no agent yet. */
static bool is_somebody(const struct muster_world *world, uint32_t index) {
  return store_is_active(&world->agents.store, index) || spawn_queue_has(&world->commands->queues.spawns, index);
}

/* The generation of an index: odd while it belongs to an agent. */
static void exchange_generation(struct snapshot *snapshot, uint32_t index) {
  struct muster_world *world = snapshot->world;
  uint32_t generation = 0;
  if (snapshot_saves(snapshot)) {
    generation = identity_generation(&world->agents.ids, index);
    if (!is_somebody(world, index)) generation += generation & 1;
  }
  generation = snapshot_number(snapshot, generation);
  if (snapshot_checks(snapshot)) snapshot->rows[index].generation = generation;
  if (snapshot_loads(snapshot)) identity_assign(&world->agents.ids, index, generation);
}

/* Ids that are set aside for spawns from inside updates. */
static void exchange_ids_aside(struct snapshot *snapshot) {
  static const snapshot_listing aside = {"ids set aside", "the ids set aside", SNAPSHOT_TAKEN, 1u << AGENT_FREE};
  struct world_commands *commands = snapshot->world->commands;
  uint32_t count = commands->spawn_id_count;
  if (snapshot_saves(snapshot) && count) memcpy(snapshot->indices, commands->spawn_ids, count * sizeof(uint32_t));
  count = snapshot_indices(snapshot, count, snapshot->high, &aside);
  if (!snapshot_loads(snapshot)) return;
  commands->spawn_id_count = count;
  if (count) memcpy(commands->spawn_ids, snapshot->indices, count * sizeof(uint32_t));
}

/* Ids that were given back, in the order in which they are taken again. */
static void exchange_free_ids(struct snapshot *snapshot) {
  static const snapshot_listing free_ids = {"free ids", "the free ids", SNAPSHOT_TAKEN, 1u << AGENT_FREE};
  struct identity *ids = &snapshot->world->agents.ids;
  uint32_t count = snapshot_saves(snapshot) ? snapshot_ring(snapshot, &ids->given_back) : 0;
  count = snapshot_indices(snapshot, count, snapshot->high, &free_ids);
  for (uint32_t i = 0; i < count && snapshot_loads(snapshot); i++) identity_give_back(ids, snapshot->indices[i]);
}

/* An index that another thread held when the process was forked comes back as the last of the free ones. */
static void free_the_rest(struct snapshot *snapshot) {
  for (uint32_t i = 0; i < snapshot->high; i++)
    if (!(snapshot->marks[i] & SNAPSHOT_TAKEN) && !(snapshot->rows[i].generation & 1))
      identity_give_back(&snapshot->world->agents.ids, i);
}

void snapshot_ids(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  snapshot->high = snapshot_count(snapshot, snapshot->high, world->def.agents_max, "indices of agents were in use");
  uint32_t active_high = snapshot_count(snapshot, world->agents.store.high, snapshot->high, "indices of active agents");
  for (uint32_t i = 0; i < snapshot->high && !snapshot->failed; i++) exchange_generation(snapshot, i);
  exchange_ids_aside(snapshot);
  exchange_free_ids(snapshot);
  if (snapshot_checks(snapshot)) snapshot->active_high = active_high;
  if (!snapshot_loads(snapshot)) return;
  free_the_rest(snapshot);
  world->agents.store.high = active_high;
}

/* ----------------------------------------------------------------------------------------------------------- agents
 */

typedef struct saved_agent {
  uint32_t index;
  uint16_t parts, zero; /* bitmap of the columns below that follow; the others are zero */
  agent_row row;
  agent_place place;
  agent_alarm alarm;
  agent_ratings ratings;
  uint16_t own_importance, inherited_importance, phase;
  uint8_t shed;
  agent_begun begun;
  activation_reservation reservation;
} saved_agent;

/* Values of all agents in memory, and where one of them stands in a saved agent. */
typedef struct agent_column {
  void *values; /* null: the world has no such column */
  uint32_t bytes, offset;
} agent_column;

/* Agents that are not active have only the columns before AGENT_SHED. */
enum { AGENT_SHED = 4, AGENT_BEGUN = 6, AGENT_RESERVATION, AGENT_COLUMNS };

typedef struct agent_columns {
  agent_column all[AGENT_COLUMNS];
} agent_columns;

#define AGENT_COLUMN(values, member)                                                                                   \
  { values, sizeof *(values), offsetof(saved_agent, member) }

static agent_columns agent_columns_of(const struct muster_world *world) {
  const agent_store *store = &world->agents.store;
  return (agent_columns){
      {AGENT_COLUMN(store->alarms, alarm), AGENT_COLUMN(store->ratings, ratings),
       AGENT_COLUMN(store->own_importance, own_importance),
       AGENT_COLUMN(store->inherited_importance, inherited_importance), [AGENT_SHED] = AGENT_COLUMN(store->shed, shed),
       AGENT_COLUMN(world->plan->phases.places, phase), [AGENT_BEGUN] = AGENT_COLUMN(store->begun, begun),
       AGENT_COLUMN(world->queues->classes.activation.reservations, reservation)}};
}

static bool is_zero(const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < count; i++)
    if (byte[i]) return false;
  return true;
}

static uint64_t name_of_user(const struct snapshot *snapshot, muster_agent agent, void *user) {
  return user && snapshot->save->name_user ? snapshot->save->name_user(agent, user, snapshot->save->user) : 0;
}

/* Whether what stands in a column belongs to the agent, and not to an update or to an agent before it. */
static bool has_column(const saved_agent *saved, uint32_t number) {
  const agent_row *row = &saved->row;
  if (number == AGENT_BEGUN) return row->atom_next || row->status == AGENT_ACTING || row->acts || row->owes;
  if (number == AGENT_RESERVATION) /* otherwise its beat is past */
    return row->status != AGENT_PENDING && (saved->reservation.cost_ns | saved->reservation.delay_ns);
  return number < AGENT_SHED || row->status != AGENT_PENDING;
}

static void describe_agent(const struct snapshot *snapshot, uint32_t index, saved_agent *saved) {
  const agent_store *store = &snapshot->world->agents.store;
  ASSERT(index < snapshot->high && store->rows[index].status != AGENT_FREE);
  saved->index = index;
  saved->row = store->rows[index];
  saved->place = store->places[index];
  muster_agent agent = {index, saved->row.generation};
  saved->row.user = (void *)(uintptr_t)name_of_user(snapshot, agent, saved->row.user);
  saved->row.generation = saved->row.spot = saved->row.state_slot = saved->row.queued = 0;
  saved->place.spot = saved->place.depth = 0;
  const agent_columns columns = agent_columns_of(snapshot->world);
  for (uint32_t i = 0; i < AGENT_COLUMNS; i++) {
    const agent_column *column = &columns.all[i];
    if (!column->values) continue;
    unsigned char *value = (unsigned char *)saved + column->offset;
    memcpy(value, (const unsigned char *)column->values + (size_t)index * column->bytes, column->bytes);
    if (has_column(saved, i) && !is_zero(value, column->bytes)) saved->parts |= (uint16_t)(1u << i);
  }
}

/* The columns that the agent has; the others stay zero. */
static void exchange_columns(struct snapshot *snapshot, saved_agent *saved) {
  snapshot_exchange(snapshot, saved, offsetof(saved_agent, alarm));
  const agent_columns columns = agent_columns_of(snapshot->world);
  for (uint32_t i = 0; i < AGENT_COLUMNS; i++)
    if (saved->parts >> i & 1)
      snapshot_exchange(snapshot, (unsigned char *)saved + columns.all[i].offset, columns.all[i].bytes);
}

static bool is_place(const struct muster_world *world, const agent_place *place) {
  float cell_m = (float)world->agents.space.cell_m;
  return place->x >= 0.0f && place->x <= cell_m && place->y >= 0.0f && place->y <= cell_m && fabsf(place->z) <= 1e9f &&
         place->depth == 0 && space_accepts(space_position(&world->agents.space, place));
}

/* Where an agent stands in lists is not saved: code that takes it out of a list relies on that place. */
static bool is_in_no_list(const saved_agent *saved) {
  return !saved->row.spot && !saved->row.queued && !saved->row.state_slot && !saved->place.spot;
}

/* What only agents with certain statuses can have. */
static bool has_its_status(const agent_row *row) {
  switch ((agent_status)row->status) {
  case AGENT_PENDING:
    return row->atom_next == 0 && !row->owes && !row->reacts && !row->acts && !row->level_floor;
  case AGENT_QUARANTINED:
    return !row->woken;
  default:
    return !row->acts;
  }
}

static bool is_row(const struct snapshot *snapshot, const agent_row *row) {
  if (row->status < AGENT_PENDING || row->status > AGENT_QUARANTINED) return false;
  const agent_type *type = &snapshot->world->agents.types.types[row->type];
  uint16_t atoms = type->has_sets || type->parallel_atoms == 0 ? 1 : type->parallel_atoms;
  bool step = row->elasticity_step < ELASTICITY_STEPS || row->elasticity_step == ELASTICITY_DERIVED;
  if (!step || row->atom_next >= atoms || row->level >= type->def.level_count) return false;
  if (!has_its_status(row)) return false;
  if (row->status == AGENT_PENDING) return true;
  if (row->level_floor && row->level_floor >= type->def.level_count) return false;
  if (row->owes && !type->has_sets) return false;
  return row->class < snapshot->classes && snapshot->types[row->class] == row->type &&
         row->last_update_ns <= snapshot->info.sim_now_ns && row->first_due_ns <= snapshot->info.sim_now_ns &&
         row->virtual_due_ns < (uint64_t)INT64_MAX / 2;
}

static void check_agent(struct snapshot *snapshot, const saved_agent *saved) {
  ASSERT(snapshot_checks(snapshot));
  const struct muster_world *world = snapshot->world;
  uint32_t index = saved->index;
  if (!snapshot_mark(snapshot, index, SNAPSHOT_TAKEN, "the agents")) return;
  if (!snapshot_expect(snapshot, snapshot->rows[index].generation & 1, "agent %u has an id that is gone", index))
    return;
  if (!snapshot_expect(snapshot, saved->row.type < world->agents.types.count, "agent %u is of type %u", index,
                       saved->row.type + 1u))
    return;
  snapshot_expect(snapshot, is_row(snapshot, &saved->row), "agent %u is what none can be", index);
  snapshot_expect(snapshot, is_in_no_list(saved), "agent %u stands in lists before any is read", index);
  if (saved->alarm.wake_at_ns || saved->row.delayed) snapshot_mark(snapshot, index, SNAPSHOT_AWAITS, "the alarms");
  snapshot_expect(snapshot, saved->place.type == saved->row.type && is_place(world, &saved->place),
                  "agent %u is where none can be", index);
  uint32_t cycle = world->plan->phases.delay_max ? world->plan->phases.types[saved->row.type].cycle : 0;
  snapshot_expect(snapshot, saved->parts < 1u << AGENT_COLUMNS && saved->shed < MUSTER_LEVELS && saved->phase <= cycle,
                  "agent %u is lowered, or planned, as none can be", index);
  snapshot_expect(snapshot, saved->begun.started_ns <= snapshot->info.sim_now_ns, "agent %u began later than now",
                  index);
  uint32_t generation = snapshot->rows[index].generation;
  snapshot->rows[index] = saved->row;
  snapshot->rows[index].generation = generation;
  snapshot->shed += saved->shed > 0;
  if (saved->row.status == AGENT_PENDING) return;
  snapshot_expect(snapshot, index < snapshot->active_high, "agent %u is beyond those that are active", index);
  snapshot->active++;
  if (saved->row.status == AGENT_QUARANTINED || snapshot->failed) return;
  snapshot_expect(snapshot, snapshot->members[saved->row.class] > 0, "class %u has no members", saved->row.class);
  snapshot->members[saved->row.class] = 2;
}

static void count_penalties(struct muster_world *world, const agent_row *row) {
  type_conduct *conduct = &world->conduct->offenders.types[row->type];
  ASSERT(row->status > AGENT_PENDING && row->type < world->agents.types.count);
  world->conduct->agents_demoted += row->level_floor > 0;
  conduct->agents_demoted += row->level_floor > 0;
  world->conduct->agents_quarantined += row->status == AGENT_QUARANTINED;
  conduct->agents_quarantined += row->status == AGENT_QUARANTINED;
}

static void take_columns(struct muster_world *world, const saved_agent *saved) {
  const agent_columns columns = agent_columns_of(world);
  for (uint32_t i = 0; i < AGENT_COLUMNS; i++) {
    const agent_column *column = &columns.all[i];
    unsigned char *values = column->values;
    if (values)
      memcpy(values + (size_t)saved->index * column->bytes, (const unsigned char *)saved + column->offset,
             column->bytes);
  }
}

static void snapshot_agents_take_agent(struct snapshot *snapshot, const saved_agent *saved) {
  struct muster_world *world = snapshot->world;
  uint32_t index = saved->index;
  agent_row *row = &world->agents.store.rows[index], read = saved->row;
  const muster_load_def *load = snapshot->load;
  read.generation = row->generation;
  read.state_slot = identity_take(&world->agents.slots[read.type]);
  ASSERT(read.state_slot != IDENTITY_NONE && !store_is_active(&world->agents.store, index));
  uint64_t name = (uint64_t)(uintptr_t)read.user;
  read.user = name && load->user_of ? load->user_of((muster_agent){index, read.generation}, name, load->user) : NULL;
  *row = read;
  world->agents.store.places[index] = saved->place;
  take_columns(world, saved);
  if (read.status == AGENT_PENDING) return;
  store_activate(&world->agents.store, index);
  count_penalties(world, row);
  if (read.status == AGENT_QUARANTINED) return;
  agent_class *class = &world->queues->classes.classes[read.class];
  ASSERT(read.class < world->queues->classes.count && class->type == read.type);
  class->members++;
  classes_count_band(&world->queues->classes, class, band_of(read.importance), 1);
}

/* ---------------------------------------------------------------------------------------------------------- states
 */

static bool is_pass(const set_table *sets, const set_pass *pass) {
  uint32_t all = (1u << sets->count) - 1u;
  return !((pass->owed | pass->left | pass->cut) & ~all) && pass->last[0] <= sets->count &&
         pass->last[1] <= sets->count && pass->current <= sets->count;
}

static bool is_state(const type_set *set, const set_state *state) {
  return state->goes_on == 0 || (state->goes_on > set->first_atom && state->goes_on <= set->end_atom);
}

static void exchange_sets(struct snapshot *snapshot, const agent_type *type, uint32_t slot) {
  const set_table *sets = &type->sets;
  set_pass pass = {0};
  if (snapshot_saves(snapshot)) pass = sets->passes[slot];
  snapshot_exchange(snapshot, &pass, sizeof pass);
  snapshot_expect(snapshot, is_pass(sets, &pass), "an agent is with its sets where none can be");
  if (snapshot_loads(snapshot)) sets->passes[slot] = pass;
  for (uint32_t i = 0; i < sets->count; i++) {
    set_state state = {0};
    if (snapshot_saves(snapshot)) state = sets_states_of(sets, slot)[i];
    unsigned char reported = state.reported;
    snapshot_exchange(snapshot, &state, offsetof(set_state, reported));
    snapshot_exchange(snapshot, &reported, sizeof reported);
    snapshot_expect(snapshot, is_state(&sets->sets[i], &state) && reported <= 1,
                    "an agent is in a set where none can be");
    state.reported = reported == 1;
    if (snapshot_loads(snapshot)) sets_states_of(sets, slot)[i] = state;
  }
}

static void exchange_message(struct snapshot *snapshot, agent_type *type, uint32_t slot, uint32_t number) {
  unsigned char bytes[MUSTER_MESSAGE_BYTES_MAX];
  struct message_head head = {0};
  if (snapshot_saves(snapshot)) {
    const struct message_head *saved = boxes_message(&type->boxes, slot, number);
    head = *saved;
    ASSERT(head.size <= type->boxes.message_bytes);
    memcpy(bytes, saved + 1, head.size);
  }
  snapshot_exchange(snapshot, &head, sizeof head);
  if (!snapshot_expect(snapshot, head.size <= type->boxes.message_bytes, "a message has %u bytes", head.size)) return;
  snapshot_exchange(snapshot, bytes, head.size);
  if (snapshot_loads(snapshot)) boxes_put(&type->boxes, slot, &head, bytes);
}

/* An update that has begun has read the first messages of the box. */
static void exchange_box(struct snapshot *snapshot, agent_type *type, uint32_t slot) {
  uint32_t capacity = type->boxes.capacity, own = 0, begun = 0;
  if (snapshot_saves(snapshot)) {
    own = type->boxes.boxes[slot].count;
    begun = type->boxes.boxes[slot].begun;
    ASSERT(begun <= own && own <= 2 * capacity);
  }
  uint32_t count = snapshot_count(snapshot, own, 2 * capacity, "messages in a box");
  begun = snapshot_count(snapshot, begun, count < capacity ? count : capacity, "messages that were read");
  snapshot_expect(snapshot, count - begun <= capacity, "%u messages in a box of %u", count - begun, capacity);
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    exchange_message(snapshot, type, slot, i);
    if (snapshot_loads(snapshot) && i + 1 == begun) boxes_begin(&type->boxes, slot);
  }
}

static void exchange_state(struct snapshot *snapshot, uint32_t index) {
  struct muster_world *world = snapshot->world;
  const agent_row *row = &snapshot->rows[index];
  agent_type *type = &world->agents.types.types[row->type];
  uint32_t slot = snapshot_checks(snapshot) ? 0 : row->state_slot;
  if (type->states) snapshot_exchange_own(snapshot, type_state(type, slot), type->state_stride);
  if (type->published)
    snapshot_exchange_own(snapshot, type_published(type, slot, 0), 2 * (size_t)type->published_stride);
  if (row->status == AGENT_PENDING) return;
  if (type->has_sets) exchange_sets(snapshot, type, slot);
}

static void exchange_agent(struct snapshot *snapshot, uint32_t index) {
  saved_agent saved;
  memset(&saved, 0, sizeof saved);
  if (snapshot_saves(snapshot)) describe_agent(snapshot, index, &saved);
  exchange_columns(snapshot, &saved);
  if (snapshot_checks(snapshot)) check_agent(snapshot, &saved);
  if (snapshot->failed) return;
  if (snapshot_loads(snapshot)) snapshot_agents_take_agent(snapshot, &saved);
  exchange_state(snapshot, saved.index);
  agent_type *type = &snapshot->world->agents.types.types[saved.row.type];
  if (type->boxes.capacity)
    exchange_box(snapshot, type, snapshot_checks(snapshot) ? 0 : snapshot->rows[saved.index].state_slot);
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
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < snapshot->high; i++) count += is_somebody(world, i);
  count = snapshot_count(snapshot, count, snapshot->high, "agents");
  for (uint32_t i = 0, index = 0; i < count && !snapshot->failed; i++, index++) {
    while (snapshot_saves(snapshot) && !is_somebody(world, index)) index++;
    exchange_agent(snapshot, index);
  }
  if (snapshot_checks(snapshot)) check_all(snapshot);
  ASSERT(!snapshot_loads(snapshot) || world->agents.store.active_count == snapshot->info.agents);
}

/* ------------------------------------------------------------------------------------------------------------- grid
 */

/* Crowds come first: while a bucket is read, each crowd is a list of its own, so that it gets its own order back. */
static uint32_t list_bucket(struct snapshot *snapshot, uint32_t bucket, uint32_t count) {
  const struct space *space = &snapshot->world->agents.space;
  for (uint32_t crowd = space->first_crowds[bucket]; crowd; crowd = space->crowds.cells[crowd].next) {
    uint32_t slot = 0;
    for (agent_list list; (list = crowds_next_list(&space->crowds, crowd, &slot));)
      count = snapshot_list(snapshot, &space->members, list, count);
  }
  return snapshot_list(snapshot, &space->members, space->buckets[bucket].list, count);
}

void snapshot_grid(struct snapshot *snapshot) {
  static const snapshot_listing grid = {"agents in the grid", "the grid", SNAPSHOT_IN_GRID, LISTS_ACTIVE};
  struct world_agents *agents = &snapshot->world->agents;
  uint32_t count = 0;
  for (uint32_t i = 0; i <= agents->space.mask && snapshot_saves(snapshot); i++)
    count = list_bucket(snapshot, i, count);
  count = snapshot_indices(snapshot, count, snapshot->high, &grid);
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, count == snapshot->info.agents, "%u agents in the grid, where there are %u", count,
                    snapshot->info.agents);
  for (uint32_t i = 0; i < count && snapshot_loads(snapshot); i++)
    space_link(&agents->space, &agents->store, snapshot->indices[i]);
}

/* ------------------------------------------------------------------------------------------------------- companions
 */

void snapshot_companions(struct snapshot *snapshot) {
  static const snapshot_listing members = {"agents in company", "company", SNAPSHOT_HAS_COMPANIONS, LISTS_LIVE};
  struct companions *companions = &snapshot->world->links->companions;
  uint32_t count = companions->count, next = snapshot_number(snapshot, companions->next);
  if (snapshot_saves(snapshot) && count) memcpy(snapshot->indices, companions->members, count * sizeof(uint32_t));
  count = snapshot_indices(snapshot, count, companions->of ? snapshot->high : 0, &members);
  if (snapshot_loads(snapshot)) companions->next = next;
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = snapshot->indices[i];
    struct companion_list substitute, *list = snapshot_object(snapshot, &companions->of[index], &substitute);
    snapshot_exchange(snapshot, list, sizeof *list);
    snapshot_expect(snapshot, !muster_agent_is_null(list->others[0]), "agent %u has an empty company", index);
    if (!snapshot_loads(snapshot)) continue;
    companions->members[companions->count++] = index;
    companions->places[index] = companions->count;
  }
}
