/* tests/plan/ready_set.h - a set of ready agents for tests, with as little around it as it wants. */
#ifndef READY_SET_H
#define READY_SET_H

#include "plan/planning.h"
#include "plan/ready_walk.h"

enum { SET_FRAME_NS = 10000000 };

typedef struct ready_fixture {
  struct arena arena;
  muster_world_def def;
  agent_store store;
  type_table types;
  ready_set ready;
  uint64_t now_ns, frame;
  uint32_t agents;
  uint8_t *met; /* by agent: how often a walk met it */
} ready_fixture;

static inline ready_fixture *ready_fixture_create(muster_world_def def, uint32_t agents) {
  ready_fixture *fixture = new_fixture(sizeof *fixture);
  muster_type_def type = idle_type(3);
  fixture->agents = agents;
  fixture->def = def;
  fixture->def.limits.agents_max = agents;
  fixture->met = arena_reserve(&fixture->arena, agents, 1);
  store_create(&fixture->store, agents, &fixture->arena);
  for (uint32_t i = 0; i < agents; i++) bits_set(fixture->store.active, i);
  types_create(&fixture->types, 1, &fixture->arena);
  cr_assert_eq(types_register(&fixture->types, &type, agents, &fixture->arena), 0);
  ready_create(&fixture->ready, &fixture->def, &fixture->types, NULL, &fixture->arena);
  return fixture;
}

static inline ready_fixture *ready_fixture_in(muster_order order, uint32_t agents) {
  return ready_fixture_create(WITH(muster_world_def, it.order = order), agents);
}

static inline void begin_frame_at(ready_fixture *fixture, uint64_t now_ns) {
  fixture->frame++;
  fixture->now_ns = now_ns;
  ready_advance(&fixture->ready, &fixture->store, now_ns);
}

static inline void begin_next_frame(ready_fixture *fixture) {
  begin_frame_at(fixture, fixture->now_ns + SET_FRAME_NS);
}

static inline void release_row(ready_fixture *fixture, uint32_t agent, agent_row row) {
  fixture->store.rows[agent] = row;
  ready_release(&fixture->ready, &fixture->store, agent, fixture->now_ns, fixture->frame);
}

/* The walk's next agent; UINT32_MAX: there is none. */
static inline uint32_t walk_on(ready_fixture *fixture) {
  return ready_next(&fixture->ready, &fixture->store);
}

/* Rankin's virtual deadline as published. */
static inline double published_key(const ready_fixture *fixture, const agent_row *row) {
  const muster_world_def *def = &fixture->def;
  double scale_ns = (double)def->priority.guarantee_ns / fmax((double)def->priority.wait, 1e-6);
  double progress = (double)row->atom_next / 4.0; /* of three atoms and what comes after */
  return (double)row->last_update_ns -
         scale_ns * ((double)def->priority.importance * row->importance / 65535.0 +
                     (double)def->priority.progress * progress - (double)def->priority.runs * row->runs / RUNS_ONE);
}

/* Whether `later` may come after `earlier`, to the resolution of the keys. */
static inline bool is_in_order(const ready_fixture *fixture, const agent_row *earlier, const agent_row *later) {
  const double resolution_ns = 1024.0, rounding_ns = 512.0, delays_ns = 65536.0;
  if (fixture->def.order == MUSTER_ORDER_PRIORITY)
    return published_key(fixture, earlier) <= published_key(fixture, later) + resolution_ns + rounding_ns;
  if (earlier->first_due_ns != later->first_due_ns) return earlier->first_due_ns < later->first_due_ns;
  return (double)earlier->last_update_ns <= (double)later->last_update_ns + delays_ns;
}

/* Walks over all agents that are ready and not woken, and admits some: each is met once, in order when `sorted`.
 * Returns how many were met. `chance` of 256 is admitted. */
static inline uint32_t walk_all(ready_fixture *fixture, bool sorted, uint32_t chance) {
  uint32_t index, count = 0, expected = 0;
  agent_row last = {0}; /* of those met so far, the one that should have come last */
  memset(fixture->met, 0, fixture->agents);
  for (uint32_t i = 0; i < fixture->agents; i++)
    expected += fixture->store.rows[i].status == AGENT_READY && !fixture->store.rows[i].woken;
  ready_begin_walk(&fixture->ready, NULL);
  while ((index = walk_on(fixture)) != UINT32_MAX) {
    const agent_row *row = &fixture->store.rows[index];
    cr_assert_lt(index, fixture->agents);
    cr_assert(row->status == AGENT_READY && !row->woken, "%u is not ready", index);
    cr_assert_eq(fixture->met[index]++, 0, "%u was met twice", index);
    if (sorted && count) cr_assert(is_in_order(fixture, &last, row), "%u comes too late", index);
    if (!count || is_in_order(fixture, &last, row)) last = *row;
    count++;
    if (random_at(fixture->frame, index, 7, 0) % 256 < chance) ready_admit(&fixture->ready, &fixture->store, index);
  }
  ready_end_walk(&fixture->ready, &fixture->store);
  cr_assert_eq(count, expected, "%u of %u were met", count, expected);
  return count;
}

#endif
