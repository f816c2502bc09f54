/* Which agents come first, and that none waits for ever. */
#include "ranking.h"

enum { AGENTS = 64, FRAME_NS = 10000000 };

static struct ranking *create(muster_order order) {
  struct ranking *ranking = calloc(1, sizeof *ranking);
  ranking_create(ranking, WITH(muster_world_def, it.limits.agents_max = AGENTS, it.order = order), 3);
  return ranking;
}

static void release(struct ranking *ranking, uint32_t agent, uint64_t last_update_ns, float importance) {
  ranking->store.rows[agent] = (agent_row){.last_update_ns = last_update_ns, .importance = share_of(importance)};
  ready_release(&ranking->ready, &ranking->store, agent, ranking->limits.now_ns, ranking->frame);
  ready_queue(&ranking->ready, &ranking->store, agent);
}

/* At one second the first agents become ready, all of them of middling importance, in turn. */
static struct ranking *create_with(uint32_t agents) {
  struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  ranking_begin_frame(ranking, 1000000000u);
  for (uint32_t i = 0; i < agents; i++) release(ranking, i, 900000000u + i, 0.5f);
  return ranking;
}

/* How many agents are admitted. */
static uint32_t admit(struct ranking *ranking) {
  ranking_admit(ranking);
  return ranking->batch.count;
}

static double published_priority(const struct ranking *ranking, const agent_row *row) {
  double waited = (double)(ranking->limits.now_ns - row->last_update_ns) / (double)ranking->def.priority.guarantee_ns;
  return (double)share_value(row->importance) + waited - (double)row->runs / RUNS_ONE;
}

Test(rank, follows_the_priority_formula_with_uncapped_ageing) {
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  ranking_begin_frame(ranking, 5000000000u);
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t random = random_at(3, i, 0, 0);
    release(ranking, i, 4000000000u + random % 900000000u, muster_random_share(muster_random_mix(random)));
    ready_keep_fresh(&ranking->ready, &ranking->store);
    ready_admit(&ranking->ready, &ranking->store, i); /* give it a run counter, then file it anew */
    ranking->store.rows[i].runs = (uint16_t)(muster_random_share(muster_random_mix(random + 1)) * RUNS_ONE);
    ready_put_back(&ranking->ready, &ranking->store, i);
  }
  cr_assert_eq(admit(ranking), AGENTS);
  for (uint32_t i = 1; i < AGENTS; i++) {
    const agent_row *before = &ranking->store.rows[ranking->batch.entries[i - 1].agent];
    const agent_row *after = &ranking->store.rows[ranking->batch.entries[i].agent];
    cr_assert_geq(published_priority(ranking, before) + 1e-5, published_priority(ranking, after));
  }
}

Test(rank, follows_the_papers_order_by_delays_and_then_by_elapsed_time) {
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_DELAYS);
  ranking_begin_frame(ranking, 1000000000u);
  release(ranking, 0, 900000000u, 1.0f);
  release(ranking, 1, 800000000u, 0.0f);
  ranking_begin_frame(ranking, 1000000000u + FRAME_NS);
  release(ranking, 2, 100000000u, 1.0f);
  release(ranking, 3, 200000000u, 1.0f);
  ranking_admit(ranking);
  const uint32_t expected[4] = {1, 0, 2, 3};
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(ranking->batch.entries[i].agent, expected[i]);
}

Test(rank, puts_woken_agents_first_and_then_whoever_waited_longer_than_the_guarantee) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  release(ranking, 0, 990000000u, 0.0f);
  ranking_begin_frame(ranking, 1000000000u + ranking->def.priority.guarantee_ns);
  release(ranking, 1, 1000000000u, 1.0f);
  release(ranking, 2, 1400000000u, 0.0f);
  release(ranking, 3, 10000000u, 1.0f);
  ready_wake(&ranking->ready, &ranking->store, 2);
  cr_assert_eq(admit(ranking), 4, "nobody twice");
  const uint32_t expected[4] = {2, 0, 3, 1};
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(ranking->batch.entries[i].agent, expected[i]);
}

/* An update of the woken takes three times as long: while both wait, each has half of the time. */
Test(rank, the_woken_and_the_guaranteed_have_equal_time) {
  enum { WOKEN = 4, ALL = 20, FIRST = ALL - WOKEN };
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  ranking->costs.estimates[0][1] = ranking->costs.estimates[0][0];
  ranking->costs.estimates[0][1].mean_ns *= 3.0;
  ranking->costs.estimates[0][1].predicted_ns *= 3;
  ranking_begin_frame(ranking, 1000000000u);
  for (uint32_t i = 0; i < ALL; i++) {
    release(ranking, i, 990000000u, 0.0f);
    if (i >= FIRST) ranking->store.rows[i].level = 1;
  }
  ranking_begin_frame(ranking, 1000000000u + ranking->def.priority.guarantee_ns);
  for (uint32_t i = FIRST; i < ALL; i++) ready_wake(&ranking->ready, &ranking->store, i);
  cr_assert_eq(admit(ranking), ALL);
  for (uint32_t i = 0; i < 4 * WOKEN; i++) {
    bool woken = ranking->batch.entries[i].agent >= FIRST;
    cr_assert_eq(woken, i % 4 == 0, "entry %u is of agent %u", i, ranking->batch.entries[i].agent);
  }
}

Test(rank, admits_by_cost_and_leaves_the_rest_ready_in_their_place) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(10);
  ranking->limits.capacity_ns = 3000 * 4 - 1;
  cr_assert_eq(admit(ranking), 4);
  cr_assert_eq(ranking->ready.count, 6);
  ranking->limits.updates_max = 3;
  cr_assert_eq(admit(ranking), 3);
  cr_assert_eq(ranking->batch.entries[0].agent, 4);
}

Test(rank, charges_each_entry_what_ranking_and_settling_it_takes) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(20);
  ranking->limits.capacity_ns = 5000 * 4 - 1;
  ranking->limits.entry_ns = 2000; /* beside 3,000 of its own */
  cr_assert_eq(admit(ranking), 4);
  ranking->limits.entry_ns = 1000000;
  cr_assert_eq(admit(ranking), 1, "the first whatever it costs");
  ranking->limits.entry_ns = 0;
  cr_assert_eq(admit(ranking), 7);
}

/* The deviation of the sum of n updates of 3,000 ns, each of which deviates by as much, is 3,000 ns times the root of
 * n: 25 of them pass the capacity of 10 by 15 = 3 times 5. */
Test(rank, admits_more_than_fits_where_costs_vary_by_the_deviation_of_their_sum) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(AGENTS);
  ranking->limits.capacity_ns = 10 * 3000;
  cr_assert_eq(ranking_admit(ranking).fits, 10);
  cr_assert_eq(ranking->batch.count, 10);
  ranking->limits.deviations = 3.0f;
  cr_assert_eq(ranking_admit(ranking).fits, 10);
  cr_assert_eq(ranking->batch.count, 25);
  ranking->costs.estimates[0][0].variance_ns2 = 0.0f;
  cr_assert_eq(admit(ranking), 10, "costs do not vary");
  ranking->limits.entries_least = 17;
  cr_assert_eq(ranking_admit(ranking).fits, 10);
  cr_assert_eq(ranking->batch.count, 17);
}

/* Where nothing was measured yet the mean itself may be off by as much, for all of them. */
Test(rank, tells_a_host_of_more_while_its_costs_are_a_guess) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(AGENTS);
  ranking->limits.capacity_ns = 5 * 3000;
  ranking->limits.deviations = 3.0f;
  ranking->limits.planned = true;
  cr_assert_eq(ranking_admit(ranking).fits, 5);
  cr_assert_eq(ranking->batch.count, 20, "four times as many");
  ranking->costs.estimates[0][0].samples = 1000;
  cr_assert_eq(admit(ranking), 18);
}

/* What is ranked after updates ran takes no time for them, and none of it runs whatever it costs. */
Test(rank, appends_to_a_batch_that_ran_as_many_as_still_fit) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(30);
  ranking->limits.capacity_ns = 10 * 3000;
  rank_result ranked = ranking_admit(ranking);
  uint32_t claims = ranking->batch.claim_count;
  ranking->limits.appends = true;
  ranking->limits.entries_ran = ranking->batch.count;
  ranking->limits.scale = 0.5f;
  ranking->limits.longest_ns = 1500;
  ranked.predicted_ns = 0;
  ranked = rank_fill(&ranking->ready, &ranking->store, &ranking->types, &ranking->costs, &ranking->limits, ranked,
                     &ranking->batch);
  cr_assert_eq(ranking->batch.count, 20);
  cr_assert_eq(ranked.predicted_ns, 10 * 3000);
  uint64_t seen = 0;
  for (uint32_t i = 0; i < 20; i++) seen |= 1ull << ranking->batch.entries[i].agent;
  cr_assert_eq(__builtin_popcountll(seen), 20, "nobody is named twice");
  for (uint32_t i = claims; i < ranking->batch.claim_count; i++) {
    const batch_claim *claim = &ranking->batch.claims[i];
    cr_assert_eq(claim->predicted_ns, (claim->end - claim->first) * 1501, "half of what is believed");
    cr_assert_not(claim->sure);
  }
}

Test(rank, what_a_host_runs_is_charged_for_the_atoms_that_it_has_left) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  ranking->limits.planned = true;
  ranking->store.rows[0] = (agent_row){.last_update_ns = 900000000u, .atom_next = 2};
  ready_release(&ranking->ready, &ranking->store, 0, ranking->limits.now_ns, ranking->frame);
  ready_queue(&ranking->ready, &ranking->store, 0);
  cr_assert_eq(admit(ranking), 1);
  cr_assert_eq(ranking->batch.entries[0].model_ns, 1000, "two of three were run: this is its slice");
  cr_assert_lt(ranking->batch.entries[0].predicted_ns, 3000);
}

Test(rank, admits_the_head_whatever_it_costs_when_nothing_else_ran) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  release(ranking, 0, 0, 0.5f);
  ranking->limits.virtual = true;
  ranking->limits.capacity_ns = 10;
  cr_assert_eq(admit(ranking), 1);
  cr_assert_eq(ranking->batch.entries[0].atom_end, 1, "one atom runs, the next does not fit");
}

Test(rank, cuts_an_update_between_two_atoms_when_virtual_time_ends) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  for (uint32_t i = 0; i < 3; i++) release(ranking, i, i, 0.5f);
  ranking->limits.virtual = true;
  ranking->limits.capacity_ns = 3000 + 2500;
  cr_assert_eq(admit(ranking), 2);
  cr_assert_eq(ranking->batch.entries[0].atom_end, 3);
  cr_assert_eq(ranking->batch.entries[1].atom_end, 2);
  cr_assert_eq(ranking->batch.entries[1].model_ns, 2000);
}

Test(rank, cuts_claims_at_twenty_microseconds_and_leaves_long_updates_alone) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  for (uint32_t i = 0; i < AGENTS; i++) release(ranking, i, i, 0.5f);
  ranking_admit(ranking);
  uint32_t covered = 0;
  for (uint32_t i = 0; i < ranking->batch.claim_count; i++) {
    const batch_claim *claim = &ranking->batch.claims[i];
    cr_assert_eq(claim->first, covered);
    cr_assert_leq(claim->predicted_ns, CLAIM_NS);
    covered = claim->end;
  }
  cr_assert_eq(covered, AGENTS);
  costs_guess(&ranking->costs, 0, 50000);
  for (uint32_t i = 0; i < AGENTS; i++) ready_put_back(&ranking->ready, &ranking->store, i);
  ranking_admit(ranking);
  cr_assert_eq(ranking->batch.claim_count, AGENTS);
}

Test(rank, sums_up_how_much_the_updates_of_a_claim_vary) {
  enum { VARIANCE_NS2 = 700 * 700 };
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  ranking->costs.estimates[0][0].variance_ns2 = VARIANCE_NS2;
  for (uint32_t i = 0; i < AGENTS; i++) release(ranking, i, i, 0.5f);
  ranking_admit(ranking);
  for (uint32_t i = 0; i < ranking->batch.claim_count; i++) {
    const batch_claim *claim = &ranking->batch.claims[i];
    cr_assert_float_eq((double)claim->variance_ns2, (double)(claim->end - claim->first) * VARIANCE_NS2, 1.0);
  }
}

/* Runs `frames` frames in which every agent is always due and x are run; returns the longest wait in frames. One agent
 * in four is important and gets all progress credit there is; `key` spreads the rest. */
static uint64_t longest_wait(struct ranking *ranking, uint32_t x, uint32_t frames) {
  uint64_t released[AGENTS], worst = 0;
  ranking_begin_frame(ranking, 1000000000u);
  for (uint32_t i = 0; i < AGENTS; i++) {
    release(ranking, i, 1000000000u, i % 4 == 0 ? 1.0f : 0.0f);
    released[i] = ranking->frame;
  }
  ranking->limits.updates_max = x;
  for (uint32_t frame = 0; frame < frames; frame++) {
    ranking_admit(ranking);
    uint64_t now_ns = ranking->limits.now_ns;
    for (uint32_t i = 0; i < ranking->batch.count; i++) {
      uint32_t agent = ranking->batch.entries[i].agent;
      if (ranking->frame - released[agent] > worst) worst = ranking->frame - released[agent];
      ready_forget(&ranking->ready, &ranking->store, agent);
    }
    ranking_begin_frame(ranking, now_ns + FRAME_NS);
    for (uint32_t i = 0; i < ranking->batch.count; i++) {
      uint32_t agent = ranking->batch.entries[i].agent;
      release(ranking, agent, now_ns, agent % 4 == 0 ? 1.0f : 0.0f);
      released[agent] = ranking->frame;
    }
  }
  for (uint32_t i = 0; i < AGENTS; i++)
    if (ranking->frame - released[i] > worst) worst = ranking->frame - released[i];
  return worst;
}

Test(rank, nobody_waits_longer_than_the_guarantee_plus_one_round_of_the_population) {
  for (uint32_t x = 1; x <= 16; x *= 2) {
    SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
    ranking->ready.importance_unit = 1ll << 46; /* as if ageing did not count */
    uint64_t bound = ranking->def.priority.guarantee_ns / FRAME_NS + (AGENTS + x - 1) / x + 1;
    uint64_t worst = longest_wait(ranking, x, 1000);
    cr_assert_leq(worst, bound, "x = %u: waited %lu frames, bound %lu", x, worst, bound);
  }
}

Test(rank, starves_the_unimportant_when_the_guarantee_is_taken_away_and_ageing_does_not_count) {
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  ranking->ready.importance_unit = 1ll << 46;
  ranking->ready.weights.guarantee_ns = 1e15;
  cr_assert_geq(longest_wait(ranking, 4, 1000), 900);
}

Test(rank, ageing_alone_keeps_everyone_running) {
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  cr_assert_leq(longest_wait(ranking, 4, 1000), 2 * ranking->def.priority.guarantee_ns / FRAME_NS + AGENTS / 4 + 1);
}

Test(rank, keeps_every_agent_through_jumps_of_time_and_extreme_keys) {
  SCOPED(free_fixture) struct ranking *ranking = create(MUSTER_ORDER_PRIORITY);
  uint64_t now_ns = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    now_ns += random_at(9, i, 0, 0) % 20000000000u;
    ranking_begin_frame(ranking, now_ns);
    release(ranking, i, now_ns / (1 + i % 3), i % 2 ? 1.0f : 0.0f);
    ranking->store.rows[i].runs = i % 5 ? 0 : UINT16_MAX;
  }
  cr_assert_eq(ranking->ready.count, AGENTS);
  cr_assert_eq(admit(ranking), AGENTS);
  cr_assert_eq(ranking->ready.count, 0);
}

/* ------------------------------------------------------------------------------------- handed on while it is ranked */

struct listener {
  const struct ranking *ranking;
  batch_claim claims[AGENTS];
  batch_entry entries[AGENTS];
  uint32_t count, calls;
};

static void listen(void *owner, uint32_t claims, uint64_t predicted_ns) {
  struct listener *listener = owner;
  const struct batch *batch = &listener->ranking->batch;
  cr_assert(claims > listener->count && claims <= batch->claim_count);
  cr_assert_geq(predicted_ns, 3000ull * batch->claims[claims - 1].end);
  for (uint32_t i = listener->count; i < claims; i++) listener->claims[i] = batch->claims[i];
  for (uint32_t i = 0; i < batch->claims[claims - 1].end; i++) listener->entries[i] = batch->entries[i];
  listener->count = claims;
  listener->calls++;
}

Test(rank, hands_on_claims_that_stay_as_they_are_while_it_goes_on) {
  SCOPED(free_fixture) struct ranking *ranking = create_with(0);
  struct listener listener = {.ranking = ranking};
  ranking->limits.publish = listen;
  ranking->limits.owner = &listener;
  for (uint32_t i = 0; i < AGENTS; i++) release(ranking, i, 900000000u + i, 0.5f);
  cr_assert_eq(admit(ranking), AGENTS);
  cr_assert_gt(listener.calls, 1);
  cr_assert_lt(listener.count, ranking->batch.claim_count, "the last claim may still grow");
  for (uint32_t i = 0; i < listener.count; i++) {
    const batch_claim *claim = &ranking->batch.claims[i];
    cr_assert_arr_eq(&listener.claims[i], claim, sizeof *claim, "claim %u has changed", i);
    for (uint32_t k = claim->first; k < claim->end; k++)
      cr_assert_arr_eq(&listener.entries[k], &ranking->batch.entries[k], sizeof *listener.entries);
  }
}
