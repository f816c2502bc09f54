/* A neighbour grid of at most AGENTS_MAX agents, and a look at every agent to compare it with. */
#ifndef TESTS_AGENTS_GRID_H
#define TESTS_AGENTS_GRID_H

#include "agents/nearby.h"
#include "support/arenas.h"

enum { AGENTS_MAX = 400, FOUND_MAX = 512, EIGHTHS = 8, TYPES = 3, PARTITIONS_USED = 3 };

struct fixture {
  struct arena arena;
  agent_store store;
  struct space space;
  struct neighbour *expected; /* store.maximum */
  uint64_t counter;
  uint32_t cut; /* queries that were cut */
};

/* A store of `agents` and a grid that was made for `agents_max`. */
static struct fixture *create_for(uint32_t agents, uint32_t agents_max, double cell_m) {
  struct fixture *fixture = new_fixture(sizeof *fixture);
  store_create(&fixture->store, agents, &fixture->arena);
  space_create(&fixture->space, agents_max, cell_m, &fixture->arena);
  fixture->expected = arena_reserve(&fixture->arena, agents, sizeof *fixture->expected);
  cr_assert_not(fixture->arena.failed);
  return fixture;
}

static inline struct fixture *create(uint32_t agents_max, double cell_m) {
  return create_for(AGENTS_MAX, agents_max, cell_m);
}

static inline uint32_t draw(struct fixture *fixture, uint32_t below) {
  return (uint32_t)(random_at(1, 0, 0, ++fixture->counter) % below);
}

static bool is_linked(const struct fixture *fixture, uint32_t index) {
  return store_is_active(&fixture->store, index);
}

static void put(struct fixture *fixture, uint32_t index, muster_position position, uint16_t partition, uint16_t type) {
  agent_place *place = &fixture->store.places[index];
  place->partition = partition;
  place->type = type;
  space_place(&fixture->space, place, position);
  space_link(&fixture->space, &fixture->store, index);
  store_activate(&fixture->store, index);
}

static inline void put_at(struct fixture *fixture, uint32_t index, double x, double y) {
  put(fixture, index, (muster_position){x, y, 0}, 0, 0);
}

static inline void move_to(struct fixture *fixture, uint32_t index, muster_position position) {
  space_move(&fixture->space, &fixture->store, index, space_spot_of(&fixture->space, position));
}

static inline void take_out(struct fixture *fixture, uint32_t index) {
  space_unlink(&fixture->space, &fixture->store, index);
  store_deactivate(&fixture->store, index);
}

/* In eighths of a metre, so that floats and squares of distances are exact and many distances are equal. */
static inline muster_position draw_eighths(struct fixture *fixture, uint32_t span_m) {
  double x = (double)draw(fixture, span_m * EIGHTHS) / EIGHTHS - span_m / 2.0;
  double y = (double)draw(fixture, span_m * EIGHTHS) / EIGHTHS - span_m / 2.0;
  return (muster_position){x, y, (double)draw(fixture, 1000)};
}

/* Anywhere on a square, in one of a few partitions, of one of the types. */
static inline void put_anywhere(struct fixture *fixture, uint32_t index, uint32_t span_m) {
  put(fixture, index, draw_eighths(fixture, span_m), (uint16_t)draw(fixture, PARTITIONS_USED),
      (uint16_t)draw(fixture, TYPES));
}

struct query {
  uint32_t index, type, capacity;
  float radius_m;
};

/* What the grid answers. */
struct answer {
  uint32_t count;
  nearby_looks looks;
  struct neighbour found[FOUND_MAX];
};

static struct answer ask(const struct fixture *fixture, const struct query *query) {
  struct answer answer;
  memset(&answer, 0xee, sizeof answer);
  nearby_query nearby = {.index = query->index, .type = query->type, .radius_m = query->radius_m};
  answer.count = nearby_find(&fixture->space, &fixture->store, &nearby, answer.found, query->capacity, &answer.looks);
  return answer;
}

static int compare(const void *a, const void *b) {
  const struct neighbour *left = a, *right = b;
  if (left->distance_squared != right->distance_squared)
    return left->distance_squared < right->distance_squared ? -1 : 1;
  return left->index < right->index ? -1 : left->index > right->index;
}

/* All agents within the radius, in the promised order. */
static uint32_t look_at_everybody(const struct fixture *fixture, const struct query *query, struct neighbour *out) {
  const agent_place *centre = &fixture->store.places[query->index];
  muster_position from = space_position(&fixture->space, centre);
  uint32_t count = 0;
  for (uint32_t i = 0; i < fixture->store.maximum; i++) {
    const agent_place *place = &fixture->store.places[i];
    if (!is_linked(fixture, i) || i == query->index || place->partition != centre->partition) continue;
    if (query->type != UINT32_MAX && place->type != query->type) continue;
    muster_position to = space_position(&fixture->space, place);
    double square = (to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y);
    if (square > (double)query->radius_m * (double)query->radius_m) continue;
    out[count++] = (struct neighbour){i, (float)square};
  }
  qsort(out, count, sizeof *out, compare);
  return count;
}

/* Checks a query that was cut: it found some of the agents that there are, and tells them in order. */
static void check_cut(const struct neighbour *everybody, uint32_t count, const struct answer *answer) {
  for (uint32_t i = 0; i < answer->count; i++) {
    cr_assert_not_null(bsearch(&answer->found[i], everybody, count, sizeof *everybody, compare));
    if (i > 0) cr_assert_lt(compare(&answer->found[i - 1], &answer->found[i]), 0);
  }
}

static inline void check_query(struct fixture *fixture, const struct query *query) {
  struct answer answer = ask(fixture, query);
  uint32_t all = look_at_everybody(fixture, query, fixture->expected);
  uint32_t wanted = all < query->capacity ? all : query->capacity;
  cr_assert_leq(answer.looks.looked, NEARBY_LOOKS);
  cr_assert_leq(answer.count, query->capacity);
  cr_assert_eq(answer.found[query->capacity].index, 0xeeeeeeeeu, "wrote beyond the capacity");
  fixture->cut += answer.looks.cut;
  if (answer.looks.cut) {
    check_cut(fixture->expected, all, &answer);
    return;
  }
  cr_assert_eq(answer.count, wanted, "radius %g, capacity %u: %u found, expected %u", (double)query->radius_m,
               query->capacity, answer.count, wanted);
  for (uint32_t i = 0; i < answer.count; i++)
    cr_assert_eq(compare(&answer.found[i], &fixture->expected[i]), 0,
                 "radius %g, place %u: agent %u at %g, expected %u at %g", (double)query->radius_m, i,
                 answer.found[i].index, (double)answer.found[i].distance_squared, fixture->expected[i].index,
                 (double)fixture->expected[i].distance_squared);
}

static inline struct query draw_query(struct fixture *fixture) {
  static const uint32_t capacities[] = {0, 1, 2, 7, 64, AGENTS_MAX};
  static const uint32_t types[] = {UINT32_MAX, 0, 1, 2, TYPES};
  return (struct query){draw(fixture, fixture->store.maximum), types[draw(fixture, 5)], capacities[draw(fixture, 6)],
                        (float)draw(fixture, 100 * EIGHTHS) / EIGHTHS};
}

static inline void check_some_queries(struct fixture *fixture, uint32_t queries) {
  for (uint32_t i = 0; i < queries; i++) {
    struct query query = draw_query(fixture);
    if (is_linked(fixture, query.index)) check_query(fixture, &query);
  }
}

#endif
