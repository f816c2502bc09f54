#include "agents/space_moves.h"

#include "base/assert.h"

enum {
  MOVES_CHUNK = 1024,
  MOVES_TOGETHER = 16, /* agents for which fetches are begun at once */
  NOTE_NS = 20,
  LINK_NS = 40
};

/* Marks agents that are left to the caller. */
#define SPACE_MOVES_LATER 0x80000000u

void space_moves_create(space_moves *moves, struct space *space, agent_store *store, uint32_t agents_max,
                        struct arena *arena) {
  *moves = (space_moves){.space = space, .store = store};
  space_side *const sides[] = {&moves->from, &moves->to};
  for (uint32_t i = 0; i < 2; i++) {
    sides[i]->parts = arena_reserve_for_frames(arena, agents_max, sizeof *sides[i]->parts);
    sides[i]->agents = arena_reserve_for_frames(arena, agents_max, sizeof *sides[i]->agents);
    counting_create(&sides[i]->sort, agents_max, space_parts(space) + 1, MOVES_CHUNK, arena);
  }
}

static uint32_t bucket_to(const space_moves *moves, uint32_t agent) {
  const agent_place *place = &moves->store->places[agent];
  return space_bucket_of(moves->space, place->cell_x, place->cell_y, place->partition);
}

static uint32_t bucket_from(const space_moves *moves, uint32_t agent) {
  return lists_block_of(moves->space->stores, moves->store->places[agent].spot)->owner;
}

/* The part that an agent leaves. */
static uint32_t part_from(const space_moves *moves, uint32_t agent) {
  if (moves->store->places[agent].depth) return space_parts(moves->space);
  return space_part_of(moves->space, bucket_from(moves, agent));
}

static void note_side(space_side *side, uint32_t chunk, uint32_t i, uint32_t part) {
  side->parts[i] = (uint8_t)part;
  counting_note(&side->sort, chunk, part);
}

/* Fetches places for the group of agents behind the one that begins with the i-th, and for that one their blocks. */
PREFETCH_FUNCTION prefetch_noting(const space_moves *moves, bool goes_on, uint32_t i, uint32_t end) {
  const agent_place *places = moves->store->places;
  uint32_t next = goes_on ? i + MOVES_TOGETHER : i;
  for (uint32_t k = next; k < i + 2 * MOVES_TOGETHER && k < end; k++) __builtin_prefetch(&places[moves->agents[k]], 1);
  for (uint32_t k = i; k < i + MOVES_TOGETHER && k < end; k++)
    __builtin_prefetch(lists_block_of(moves->space->stores, places[moves->agents[k]].spot), 1);
}

static void note_chunk(space_moves *moves, uint32_t chunk) {
  uint32_t first = counting_start(&moves->to.sort, chunk), end = counting_end(&moves->to.sort, chunk, moves->count);
  counting_begin(&moves->from.sort, chunk);
  counting_begin(&moves->to.sort, chunk);
  for (uint32_t i = first; i < end; i++) {
    if (i % MOVES_TOGETHER == 0) prefetch_noting(moves, i > first, i, end);
    note_side(&moves->from, chunk, i, part_from(moves, moves->agents[i]));
    note_side(&moves->to, chunk, i, space_part_of(moves->space, bucket_to(moves, moves->agents[i])));
  }
}

static void moves_note(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++) note_chunk(argument, chunk);
}

static void sort_side(const space_moves *moves, const space_side *side, uint32_t chunk) {
  for (uint32_t i = counting_start(&side->sort, chunk); i < counting_end(&side->sort, chunk, moves->count); i++)
    side->agents[counting_place(&side->sort, chunk, side->parts[i])] = moves->agents[i];
}

static void moves_sort(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const space_moves *moves = argument;
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++) {
    sort_side(moves, &moves->from, chunk);
    sort_side(moves, &moves->to, chunk);
  }
}

/* Where the agents of a part are listed. */
static uint32_t first_of(const space_moves *moves, const space_side *side, uint32_t part) {
  return counting_first(&side->sort, counting_chunks(&side->sort, moves->count), part);
}
static uint32_t last_of(const space_moves *moves, const space_side *side, uint32_t part) {
  return counting_last(&side->sort, counting_chunks(&side->sort, moves->count), part);
}

/* Fetches what taking agents out touches, in three steps, each once what the one before fetched is there. */
PREFETCH_FUNCTION prefetch_leaving(const space_moves *moves, uint32_t agent, uint32_t step) {
  const struct space *space = moves->space;
  const agent_place *place = &moves->store->places[agent];
  if (step == 0) __builtin_prefetch(lists_block_of(space->stores, place->spot), 1);
  if (step == 1) __builtin_prefetch(&space->buckets[bucket_from(moves, agent)], 1);
  if (step == 2) __builtin_prefetch(lists_last(space->stores, space->buckets[bucket_from(moves, agent)].list), 1);
}

/* The same for putting them in. */
PREFETCH_FUNCTION prefetch_entering(const space_moves *moves, uint32_t agent, uint32_t step) {
  const space_bucket *to = &moves->space->buckets[bucket_to(moves, agent)];
  if (step == 0) __builtin_prefetch(&moves->store->places[agent], 1);
  if (step == 1) __builtin_prefetch(to, 1);
  if (step == 2) __builtin_prefetch(lists_last(moves->space->stores, to->list), 1);
}

/* Takes the agents of a part out of its lists. */
static void leave_part(const space_moves *moves, uint32_t part) {
  enum { EACH = MOVES_TOGETHER };
  const uint32_t *agents = moves->from.agents;
  uint32_t first = first_of(moves, &moves->from, part), end = last_of(moves, &moves->from, part);
  for (uint32_t i = first; i < end; i++) {
    for (uint32_t step = 0; step < 3 && (i - first) % EACH == 0; step++)
      for (uint32_t k = i > first ? i + (3 - step) * EACH : i; k < i + (4 - step) * EACH && k < end; k++)
        prefetch_leaving(moves, agents[k], step);
    space_unlink_plain(moves->space, moves->store, agents[i]);
    moves->store->places[agents[i]].spot = 0;
  }
}

/* Puts an agent into the list of its cell. False when there is more to do than that: the cell is a crowd, or may have
 * become one. */
static bool enter_list(const space_moves *moves, uint32_t agent) {
  struct space *space = moves->space;
  const agent_place *place = &moves->store->places[agent];
  uint32_t bucket = bucket_to(moves, agent);
  if (space_crowd(space, place->cell_x, place->cell_y, place->partition)) return false;
  space_link_plain(space, moves->store, bucket, agent);
  return space->buckets[bucket].count <= CROWD_AGENTS;
}

static void enter_part(space_moves *moves, uint32_t part) {
  enum { EACH = MOVES_TOGETHER };
  uint32_t *agents = moves->to.agents;
  uint32_t first = first_of(moves, &moves->to, part), end = last_of(moves, &moves->to, part);
  moves->later[part] = false;
  for (uint32_t i = first; i < end; i++) {
    for (uint32_t step = 0; step < 3 && (i - first) % EACH == 0; step++)
      for (uint32_t k = i > first ? i + (3 - step) * EACH : i; k < i + (4 - step) * EACH && k < end; k++)
        prefetch_entering(moves, agents[k], step);
    if (enter_list(moves, agents[i])) continue;
    agents[i] |= SPACE_MOVES_LATER;
    moves->later[part] = true;
  }
}

static void moves_leave(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t part = first; part < end; part++) leave_part(argument, part);
}

static void moves_enter(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t part = first; part < end; part++) enter_part(argument, part);
}

static void leave_crowds(const space_moves *moves) {
  uint32_t crowds = space_parts(moves->space), end = last_of(moves, &moves->from, crowds);
  for (uint32_t i = first_of(moves, &moves->from, crowds); i < end; i++)
    space_unlink(moves->space, moves->store, moves->from.agents[i]);
}

/* Agents whose cell is a crowd enter it; cells that may have become crowds are looked at. */
static void enter_crowds(const space_moves *moves, uint32_t part) {
  struct space *space = moves->space;
  for (uint32_t i = first_of(moves, &moves->to, part); i < last_of(moves, &moves->to, part); i++) {
    uint32_t agent = moves->to.agents[i] & ~SPACE_MOVES_LATER, bucket;
    if (agent == moves->to.agents[i]) continue;
    if (!moves->store->places[agent].spot)
      space_link(space, moves->store, agent);
    else if (space->buckets[bucket = bucket_to(moves, agent)].count > CROWD_AGENTS)
      space_open_crowd(space, moves->store, bucket, agent);
  }
}

/* Sees to it that each part has the blocks that agents may need which come there. False when these are not to be had.
 */
static bool stock_parts(const space_moves *moves) {
  bool stocked = true;
  for (uint32_t part = 0; part < space_parts(moves->space) && stocked; part++) {
    uint32_t coming = last_of(moves, &moves->to, part) - first_of(moves, &moves->to, part);
    stocked = lists_stock(&moves->space->stores[1 + part], coming);
  }
  return stocked;
}

void space_moves_run(space_moves *moves, const uint32_t *agents, uint32_t count, const struct parts *parts) {
  uint32_t chunks = counting_chunks(&moves->to.sort, count), all = space_parts(moves->space);
  if (count == 0) return;
  moves->agents = agents;
  moves->count = count;
  parts_run(parts, moves_note, moves, chunks, (uint64_t)count * NOTE_NS);
  counting_sum(&moves->from.sort, chunks);
  counting_sum(&moves->to.sort, chunks);
  parts_run(parts, moves_sort, moves, chunks, (uint64_t)count * NOTE_NS / 4);
  parts_run(parts, moves_leave, moves, all, (uint64_t)count * LINK_NS);
  leave_crowds(moves);
  parts_run(stock_parts(moves) ? parts : NULL, moves_enter, moves, all, (uint64_t)count * LINK_NS);
  for (uint32_t part = 0; part < all; part++)
    if (moves->later[part]) enter_crowds(moves, part);
}
