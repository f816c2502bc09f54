/* Who comes first, and that nobody waits for ever. */
#include "plan/rank.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { AGENTS = 64, FRAME_NS = 10000000 };

static muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

typedef struct fixture {
  arena arena;
  muster_world_def def;
  agent_store store;
  type_table types;
  cost_table costs;
  ready_set ready;
  batch batch;
  rank_limits limits;
  uint64_t frame;
} fixture;

static fixture *create(muster_order order) {
  fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  muster_atom atoms[3] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000},
                          {nothing, MUSTER_ROLE_BEHAVIOUR, 1000},
                          {nothing, MUSTER_ROLE_BEHAVIOUR, 1000}};
  muster_type_def type = muster_default_type_def();
  type.atoms = atoms;
  type.atom_count = 3;
  fixture->def = muster_default_world_def();
  fixture->def.agents_max = AGENTS;
  fixture->def.order = order;
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, AGENTS, &fixture->arena);
  types_create(&fixture->types, 1, &fixture->arena);
  costs_create(&fixture->costs, 1, &fixture->arena);
  batch_create(&fixture->batch, AGENTS, &fixture->arena);
  cr_assert_eq(types_register(&fixture->types, &type, AGENTS, &fixture->arena), 0);
  costs_guess(&fixture->costs, 0, 3000);
  ready_create(&fixture->ready, &fixture->def, &fixture->types, &fixture->arena);
  fixture->limits = (rank_limits){.capacity_ns = UINT64_MAX, .updates_max = UINT32_MAX};
  return fixture;
}

static void destroy(fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static void begin_frame(fixture *fixture, uint64_t now_ns) {
  fixture->frame++;
  fixture->limits.now_ns = now_ns;
  ready_advance(&fixture->ready, &fixture->store, now_ns);
}

static void release(fixture *fixture, uint32_t agent, uint64_t last_update_ns, float importance) {
  fixture->store.rows[agent] = (agent_row){.last_update_ns = last_update_ns, .importance = share_of(importance)};
  ready_release(&fixture->ready, &fixture->store, agent, fixture->limits.now_ns, fixture->frame);
  ready_enlist(&fixture->ready, &fixture->store, agent);
}

static void rank(fixture *fixture) {
  rank_result held = rank_held(&fixture->store, &fixture->types, &fixture->costs, &fixture->limits, &fixture->batch);
  rank_fill(&fixture->ready, &fixture->store, &fixture->types, &fixture->costs, &fixture->limits, held,
            &fixture->batch);
}

static double published_priority(const fixture *fixture, const agent_row *row) {
  double waited = (double)(fixture->limits.now_ns - row->last_update_ns) / (double)fixture->def.guarantee_ns;
  return (double)share_value(row->importance) + waited - (double)row->runs / RUNS_ONE;
}

Test(rank, follows_the_priority_formula_with_uncapped_ageing) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 5000000000u);
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t random = random_at(3, i, 0, 0);
    release(fixture, i, 4000000000u + random % 900000000u, random_share(random_mix(random)));
    ready_keep_fresh(&fixture->ready, &fixture->store);
    ready_admit(&fixture->ready, &fixture->store, i); /* give it a run counter, then file it anew */
    fixture->store.rows[i].runs = (uint16_t)(random_share(random_mix(random + 1)) * RUNS_ONE);
    ready_put_back(&fixture->ready, &fixture->store, i);
  }
  rank(fixture);
  cr_assert_eq(fixture->batch.count, AGENTS);
  for (uint32_t i = 1; i < AGENTS; i++) {
    const agent_row *before = &fixture->store.rows[fixture->batch.entries[i - 1].agent];
    const agent_row *after = &fixture->store.rows[fixture->batch.entries[i].agent];
    cr_assert_geq(published_priority(fixture, before) + 1e-5, published_priority(fixture, after));
  }
  destroy(fixture);
}

Test(rank, follows_the_papers_order_by_delays_and_then_by_elapsed_time) {
  fixture *fixture = create(MUSTER_ORDER_DELAYS);
  begin_frame(fixture, 1000000000u);
  release(fixture, 0, 900000000u, 1.0f);
  release(fixture, 1, 800000000u, 0.0f);
  begin_frame(fixture, 1000000000u + FRAME_NS);
  release(fixture, 2, 100000000u, 1.0f);
  release(fixture, 3, 200000000u, 1.0f);
  rank(fixture);
  const uint32_t expected[4] = {1, 0, 2, 3};
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(fixture->batch.entries[i].agent, expected[i]);
  destroy(fixture);
}

Test(rank, puts_woken_agents_first_and_then_whoever_waited_longer_than_the_guarantee) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 1000000000u);
  release(fixture, 0, 990000000u, 0.0f);
  begin_frame(fixture, 1000000000u + fixture->def.guarantee_ns);
  release(fixture, 1, 1000000000u, 1.0f);
  release(fixture, 2, 1400000000u, 0.0f);
  release(fixture, 3, 10000000u, 1.0f);
  ready_wake(&fixture->ready, &fixture->store, 2);
  rank(fixture);
  cr_assert_eq(fixture->batch.count, 4, "nobody twice");
  const uint32_t expected[4] = {2, 0, 3, 1};
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(fixture->batch.entries[i].agent, expected[i]);
  destroy(fixture);
}

Test(rank, admits_by_cost_and_leaves_the_rest_ready_in_their_place) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 1000000000u);
  for (uint32_t i = 0; i < 10; i++) release(fixture, i, 900000000u + i, 0.5f);
  fixture->limits.capacity_ns = 3000 * 4 - 1;
  rank(fixture);
  cr_assert_eq(fixture->batch.count, 4);
  cr_assert_eq(fixture->ready.count, 6);
  fixture->limits.updates_max = 3;
  rank(fixture);
  cr_assert_eq(fixture->batch.count, 3);
  cr_assert_eq(fixture->batch.entries[0].agent, 4);
  destroy(fixture);
}

Test(rank, admits_the_head_whatever_it_costs_when_nothing_else_ran) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 1000000000u);
  release(fixture, 0, 0, 0.5f);
  fixture->limits.virtual = true;
  fixture->limits.capacity_ns = 10;
  rank(fixture);
  cr_assert_eq(fixture->batch.count, 1);
  cr_assert_eq(fixture->batch.entries[0].atom_end, 1, "one atom runs, the next does not fit");
  destroy(fixture);
}

Test(rank, cuts_an_update_between_two_atoms_when_virtual_time_ends) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 1000000000u);
  for (uint32_t i = 0; i < 3; i++) release(fixture, i, i, 0.5f);
  fixture->limits.virtual = true;
  fixture->limits.capacity_ns = 3000 + 2500;
  rank(fixture);
  cr_assert_eq(fixture->batch.count, 2);
  cr_assert_eq(fixture->batch.entries[0].atom_end, 3);
  cr_assert_eq(fixture->batch.entries[1].atom_end, 2);
  cr_assert_eq(fixture->batch.entries[1].model_ns, 2000);
  destroy(fixture);
}

Test(rank, cuts_claims_at_twenty_microseconds_and_leaves_long_updates_alone) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  begin_frame(fixture, 1000000000u);
  for (uint32_t i = 0; i < AGENTS; i++) release(fixture, i, i, 0.5f);
  rank(fixture);
  uint32_t covered = 0;
  for (uint32_t i = 0; i < fixture->batch.claim_count; i++) {
    const batch_claim *claim = &fixture->batch.claims[i];
    cr_assert_eq(claim->first, covered);
    cr_assert_leq(claim->predicted_ns, CLAIM_NS);
    covered = claim->end;
  }
  cr_assert_eq(covered, AGENTS);
  costs_guess(&fixture->costs, 0, 50000);
  for (uint32_t i = 0; i < AGENTS; i++) ready_put_back(&fixture->ready, &fixture->store, i);
  rank(fixture);
  cr_assert_eq(fixture->batch.claim_count, AGENTS);
  destroy(fixture);
}

/* Runs `frames` frames in which everyone is always due and x are run; returns the longest wait in frames. One agent in
 * four is important and gets all progress credit there is; `key` spreads the rest. */
static uint64_t longest_wait(fixture *fixture, uint32_t x, uint32_t frames) {
  uint64_t released[AGENTS], worst = 0;
  begin_frame(fixture, 1000000000u);
  for (uint32_t i = 0; i < AGENTS; i++) {
    release(fixture, i, 1000000000u, i % 4 == 0 ? 1.0f : 0.0f);
    released[i] = fixture->frame;
  }
  fixture->limits.updates_max = x;
  for (uint32_t frame = 0; frame < frames; frame++) {
    rank(fixture);
    uint64_t now_ns = fixture->limits.now_ns;
    for (uint32_t i = 0; i < fixture->batch.count; i++) {
      uint32_t agent = fixture->batch.entries[i].agent;
      if (fixture->frame - released[agent] > worst) worst = fixture->frame - released[agent];
      ready_forget(&fixture->ready, &fixture->store, agent);
    }
    begin_frame(fixture, now_ns + FRAME_NS);
    for (uint32_t i = 0; i < fixture->batch.count; i++) {
      uint32_t agent = fixture->batch.entries[i].agent;
      release(fixture, agent, now_ns, agent % 4 == 0 ? 1.0f : 0.0f);
      released[agent] = fixture->frame;
    }
  }
  for (uint32_t i = 0; i < AGENTS; i++)
    if (fixture->frame - released[i] > worst) worst = fixture->frame - released[i];
  return worst;
}

Test(rank, nobody_waits_longer_than_the_guarantee_plus_one_round_of_the_population) {
  for (uint32_t x = 1; x <= 16; x *= 2) {
    fixture *fixture = create(MUSTER_ORDER_PRIORITY);
    fixture->ready.importance_unit = 1ll << 46; /* as if ageing did not count */
    uint64_t bound = fixture->def.guarantee_ns / FRAME_NS + (AGENTS + x - 1) / x + 1;
    uint64_t worst = longest_wait(fixture, x, 1000);
    cr_assert_leq(worst, bound, "x = %u: waited %lu frames, bound %lu", x, (unsigned long)worst, (unsigned long)bound);
    destroy(fixture);
  }
}

Test(rank, starves_the_unimportant_when_the_guarantee_is_taken_away_and_ageing_does_not_count) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  fixture->ready.importance_unit = 1ll << 46;
  fixture->ready.weights.guarantee_ns = 1e15;
  cr_assert_geq(longest_wait(fixture, 4, 1000), 900);
  destroy(fixture);
}

Test(rank, ageing_alone_keeps_everyone_running) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  cr_assert_leq(longest_wait(fixture, 4, 1000), 2 * fixture->def.guarantee_ns / FRAME_NS + AGENTS / 4 + 1);
  destroy(fixture);
}

Test(ready, keeps_every_agent_through_jumps_of_time_and_extreme_keys) {
  fixture *fixture = create(MUSTER_ORDER_PRIORITY);
  uint64_t now_ns = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    now_ns += random_at(9, i, 0, 0) % 20000000000u;
    begin_frame(fixture, now_ns);
    release(fixture, i, now_ns / (1 + i % 3), i % 2 ? 1.0f : 0.0f);
    fixture->store.rows[i].runs = i % 5 ? 0 : UINT16_MAX;
  }
  cr_assert_eq(fixture->ready.count, AGENTS);
  rank(fixture);
  cr_assert_eq(fixture->batch.count, AGENTS);
  cr_assert_eq(fixture->ready.count, 0);
  destroy(fixture);
}
