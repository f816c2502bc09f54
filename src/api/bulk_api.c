/* bulk_api.c - many positions and factors at once, between two frames: applied here, not queued.
 *
 * Agents that stay in their cell with a step that does not matter to importance are written in parallel; the others are
 * marked and follow one by one, since they change lists. The result is the same as one by one only while each agent is
 * named once. */
#include "api/calls.h"
#include "frame/frame.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/observer_ids.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_record.h"
#include "world/world_score.h"
#include "world/world_sums.h"

#include <muster/bulk.h>

#include <string.h>

enum { MARK_DONE = 0, MARK_STEPPED, MARK_FOLLOWS, MARK_STALE, MARK_REFUSED, WORTH_SHARING = 2048 };

typedef struct bulk_moves {
  struct muster_world *world;
  const muster_agent *agents;
  const muster_position *positions;
  uint32_t first; /* in the caller's array */
} bulk_moves;

static bool is_ready(const struct muster_world *world, bool arrays, const char *what) {
  return !guard_between(world, what) && (arrays || !error_missing(what, "arrays"));
}

/* Settles first what the last commit left over: it may hold positions, too. */
static uint64_t begin(struct muster_world *world) {
  uint64_t now_ns = world_is_virtual(world) ? 0 : clock_now(world->clock);
  frame_settle_between(world);
  return now_ns;
}

static void end(struct muster_world *world, uint64_t begin_ns) {
  if (!world_is_virtual(world)) world->sums->prepaid_ns += clock_now(world->clock) - begin_ns;
}

/* Whether the agent is a leaf: what a herd notes of its leaf follows with the position. */
static bool is_leaf(const struct muster_world *world, uint32_t index) {
  return world->herds->table.count && world->herds->table.links[index].tie == HERD_TIE_LEAF;
}

/* The handles of some of an array's ids, of which there are agents_max at most. */
static const muster_agent *find_handles(const struct muster_world *world, const muster_agent *ids, uint32_t count) {
  if (!world->zone) return ids;
  for (uint32_t i = 0; i < count; i++) world->agents.handles[i] = world_find(world, ids[i]);
  return world->agents.handles;
}

/* Whether an agent of an array exists. Which ones other threads had removed by then is asked once, before the array is
 * recorded: a replay comes to the same. */
static bool is_there(const struct muster_world *world, muster_agent agent) {
  return world_is_live(world, agent) && !removals_saw(&world->agents.removals, muster_agent_index(agent));
}

static uint8_t try_move(struct muster_world *world, muster_agent agent, muster_position position) {
  if (!is_there(world, agent)) return MARK_STALE;
  if (!space_accepts(position)) return MARK_REFUSED;
  agent_place *place = &world->agents.store.places[muster_agent_index(agent)];
  bool active = world_is_active(world, muster_agent_index(agent));
  if (active && is_leaf(world, muster_agent_index(agent))) return MARK_FOLLOWS;
  space_spot to = space_spot_of(&world->agents.space, position);
  if (active && (!space_stays(&world->agents.space, place, to) || score_notices(&world->score->board, place, to)))
    return MARK_FOLLOWS;
  bool stepped = active && !space_is_at(place, to);
  space_place(&world->agents.space, place, position);
  return stepped ? MARK_STEPPED : MARK_DONE;
}

static void move_range(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  enum { AHEAD = 12 };
  const bulk_moves *moves = argument;
  struct muster_world *world = moves->world;
  (void)worker;
  for (uint64_t i = begin; i < end; i++) {
    if (i + AHEAD < end && muster_agent_index(moves->agents[i + AHEAD]) < world->agents.store.maximum)
      __builtin_prefetch(&world->agents.store.places[muster_agent_index(moves->agents[i + AHEAD])], 1);
    world->agents.marks[i] = try_move(world, moves->agents[i], moves->positions[i]);
  }
}

/* A call for an array goes on behind what it refuses; its message is of the last. */
static void bulk_refuse(const char *what, uint32_t place, muster_position position) {
  error_set(MUSTER_E_ARGUMENT, "%s: positions[%u] (%.17g, %.17g, %.17g) must be finite and within +-1e9 m", what, place,
            position.x, position.y, position.z);
}

/* Moves the agents that were marked; counts the others. */
static uint32_t bulk_api_follow(const bulk_moves *moves, uint32_t count) {
  struct muster_world *world = moves->world;
  uint32_t moved = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint8_t mark = world->agents.marks[i];
    moved += mark <= MARK_FOLLOWS;
    world->sums->statistics.positions_refused += mark == MARK_REFUSED;
    if (mark == MARK_REFUSED) bulk_refuse("positions of agents", moves->first + i, moves->positions[i]);
    if (mark == MARK_STALE) guard_gone(moves->agents[i]);
    if (mark == MARK_STEPPED)
      changes_note(&world->agents.store.changes, muster_agent_index(moves->agents[i]), NOTED_MOVED);
    if (mark == MARK_FOLLOWS)
      lifecycle_move(world, muster_agent_index(moves->agents[i]),
                     space_spot_of(&world->agents.space, moves->positions[i]));
  }
  return moved;
}

/* Whether no agent is named twice. An array in ascending order needs no more than a look. */
static bool come_once(struct muster_world *world, const muster_agent *agents, uint32_t count) {
  uint32_t i = 1;
  while (i < count && muster_agent_index(agents[i - 1]) < muster_agent_index(agents[i])) i++;
  if (i >= count) return true;
  bool once = true;
  for (i = 0; i < count && once; i++)
    if (muster_agent_index(agents[i]) < world->agents.store.maximum) {
      once = !bits_has(world->agents.seen, muster_agent_index(agents[i]));
      bits_set(world->agents.seen, muster_agent_index(agents[i]));
    }
  memset(world->agents.seen, 0, bits_words(world->agents.store.maximum) * sizeof *world->agents.seen);
  return once;
}

static uint32_t move_some(bulk_moves *moves, uint32_t count) {
  struct muster_world *world = moves->world;
  if (come_once(world, moves->agents, count)) {
    if (count < WORTH_SHARING || muster_parallel_for(world->pool, MUSTER_URGENCY_FRAME, count, 256, move_range, moves))
      move_range(moves, 0, count, 0);
    return bulk_api_follow(moves, count);
  }
  uint32_t moved = 0;
  for (uint32_t i = 0; i < count; i++) {
    bulk_moves one = {world, moves->agents + i, moves->positions + i, moves->first + i};
    move_range(&one, 0, 1, 0);
    moved += bulk_api_follow(&one, 1);
  }
  return moved;
}

uint32_t muster_agents_move(muster_world *world, const muster_agent *agents, const muster_position *positions,
                            uint32_t count) {
  if (!is_ready(world, count == 0 || (agents && positions), "positions of agents")) return 0;
  removals_look(&world->agents.removals, &world->agents.ids);
  if (!world_record_array(world, TAG_MOVES, 0, agents, positions, sizeof *positions, count)) return count;
  return bulk_move_agents(world, agents, positions, count);
}

uint32_t bulk_move_agents(struct muster_world *world, const muster_agent *agents, const muster_position *positions,
                          uint32_t count) {
  uint32_t moved = 0;
  uint64_t begin_ns = begin(world);
  for (uint32_t first = 0, each; first < count; first += each) {
    each = count - first < world->agents.store.maximum ? count - first : world->agents.store.maximum;
    moved += move_some(&(bulk_moves){world, find_handles(world, agents + first, each), positions + first, first}, each);
  }
  end(world, begin_ns);
  return moved;
}

uint32_t muster_agents_set_factor(muster_world *world, muster_factor factor, const muster_agent *agents,
                                  const float *values, uint32_t count) {
  if (!is_ready(world, count == 0 || (agents && values), "factors of agents")) return 0;
  if ((unsigned)factor >= MUSTER_FACTORS) {
    error_set(MUSTER_E_ARGUMENT, "factors of agents: factor %d is unknown", (int)factor);
    return 0;
  }
  removals_look(&world->agents.removals, &world->agents.ids);
  if (!world_record_array(world, TAG_FACTORS, (uint32_t)factor, agents, values, sizeof *values, count)) return count;
  return bulk_set_factor(world, factor, agents, values, count);
}

uint32_t bulk_set_factor(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                         const float *values, uint32_t count) {
  uint32_t set = 0;
  uint64_t begin_ns = begin(world);
  for (uint32_t i = 0; i < count; i++) {
    muster_agent agent = world_find(world, agents[i]);
    bool there = is_there(world, agent), allowed = values[i] >= 0.0f && values[i] <= 1.0f;
    if (!there) guard_gone(agents[i]);
    if (there && !allowed)
      error_set(MUSTER_E_ARGUMENT, "factors of agents: values[%u] %.9g must be 0..1", i, (double)values[i]);
    if (!there || !allowed) continue;
    uint8_t *held = &world_row(world, muster_agent_index(agent))->factors[factor];
    uint8_t value = byte_share_of(values[i]);
    set++;
    if (*held == value) continue;
    *held = value;
    if (world_is_active(world, muster_agent_index(agent))) score_note(&world->score->board, muster_agent_index(agent));
  }
  end(world, begin_ns);
  return set;
}

/* An observer that waits to be added is moved after that. */
static bool bulk_api_move_observer(struct muster_world *world, muster_observer observer, muster_position position) {
  if (world->observers->table.rows[muster_observer_index(observer)].present) {
    observers_move(&world->observers->table, muster_observer_index(observer), position);
    return true;
  }
  struct command command = {.kind = COMMAND_OBSERVER_MOVE,
                            .index = muster_observer_index(observer),
                            .generation = muster_observer_generation(observer),
                            .position = position};
  return ring_push(&world->commands->queues.commands, &command);
}

uint32_t muster_observers_move(muster_world *world, const muster_observer *observers, const muster_position *positions,
                               uint32_t count) {
  if (!is_ready(world, count == 0 || (observers && positions), "positions of observers")) return 0;
  if (!world_record_array(world, TAG_OBSERVER_MOVES, 0, observers, positions, sizeof *positions, count)) return count;
  return bulk_move_observers(world, observers, positions, count);
}

uint32_t bulk_move_observers(struct muster_world *world, const muster_observer *observers,
                             const muster_position *positions, uint32_t count) {
  uint32_t moved = 0;
  uint64_t begin_ns = begin(world);
  for (uint32_t i = 0; i < count; i++) {
    muster_observer found = observer_ids_find(world, observers[i]);
    if (!observer_ids_is_live(world, found)) {
      observer_ids_gone(world, observers[i]);
      continue;
    }
    if (space_accepts(positions[i])) {
      moved += bulk_api_move_observer(world, found, positions[i]);
      continue;
    }
    world->sums->statistics.positions_refused++;
    bulk_refuse("positions of observers", i, positions[i]);
  }
  end(world, begin_ns);
  return moved;
}
