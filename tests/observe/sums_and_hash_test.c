/* Statistics on any number of workers and after they were cleared, and hashes: worlds that differ in one thing alone
 * have different ones. */
#include "agents/boxes.h"
#include "support/busy_worlds.h"
#include "support/zones.h"
#include "world/herd_fixture.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_sums.h"

#include <muster/view.h>

/* ------------------------------------------------------------------------------------------------------ statistics */

enum { BUSY_FRAMES = 40, CLEARED_AT = 20 };

typedef struct told {
  muster_statistics then, end;
  muster_type_cost costs[4][4];
  uint64_t hash;
} told;

static told run_busy(uint32_t workers, bool clears) {
  const busy_kind kind = CHANGED(busy_kinds[1], it.repeats = true);
  told all;
  memset(&all, 0, sizeof all);
  SCOPED_WORLD little = careless(busy_driven(&kind, workers, CLEARED_AT));
  all.then = statistics_of(&little);
  if (clears) muster_statistics_clear(little.world);
  for (uint32_t frame = CLEARED_AT; frame < BUSY_FRAMES; frame++) busy_frame(&little, &kind, frame);
  all.end = statistics_of(&little);
  all.hash = muster_world_hash(little.world);
  for (uint32_t type = 0; type < 4; type++) {
    uint32_t agents = 0, counted = 0;
    for (uint32_t level = 0; level < 4; level++) {
      muster_type_cost *cost = &all.costs[type][level];
      *cost = muster_type_cost_default();
      cr_assert_eq(muster_type_cost_read(little.world, (muster_type){type + 1}, level, cost), MUSTER_OK);
      agents += cost->agents;
      uint32_t of_level = 0;
      for (muster_agent at = {0}; !muster_agent_is_null(at = muster_agent_next(little.world, at));) {
        muster_agent_info info = info_of(&little, at);
        of_level += info.type.index == type + 1 && info.level == level && !info.quarantined;
        counted += level == 0 && info.type.index == type + 1 && !info.quarantined;
      }
      cr_expect_eq(cost->agents, of_level, "type %u, level %u", type, level);
    }
    cr_expect_eq(agents, counted, "type %u", type);
  }
  return all;
}

Test(sums, are_the_same_on_any_number_of_workers) {
  told one = run_busy(1, true), many = run_busy(4, true);
  cr_assert_eq(one.hash, many.hash);
  cr_expect_eq(memcmp(&one.end, &many.end, sizeof one.end), 0);
  cr_expect_eq(memcmp(one.costs, many.costs, sizeof one.costs), 0);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const muster_quantiles *quantiles[] = {&one.end.bands[band].staleness, &one.end.bands[band].age};
    for (uint32_t i = 0; i < 2; i++)
      cr_expect(quantiles[i]->p50_ns <= quantiles[i]->p99_ns && quantiles[i]->p99_ns <= quantiles[i]->max_ns * 33 / 32,
                "band %u", band);
  }
}

/* With bounded steps: the most that any update left undone, on whichever worker. */
Test(sums, of_steps_left_undone_are_the_most) {
  uint64_t most[2], completed[2];
  double deviations_ns[2];
  for (uint32_t i = 0; i < 2; i++) {
    SCOPED_WORLD little = careless(little_world_create(i ? 4 : 1, NULL));
    add_type(&little, CHANGED(type_running(nothing, 100000), it.elapsed.contract = MUSTER_ELAPSED_STEPS,
                              it.elapsed.step_ns = FRAME_NS, it.elapsed.steps_max = 2, it.period_ns = FRAME_NS,
                              it.period_max_ns = 2 * FRAME_NS));
    for (int k = 0; k < 64; k++) spawn_as(&little, WITH(muster_agent_def, it.importance_floor = k % 8 ? 0 : 1));
    for (uint32_t k = 0; k < 30; k++) run_frame_with(&little, k < 15 ? 400000u : 6000000u);
    muster_statistics statistics = statistics_of(&little);
    most[i] = statistics.steps_behind_max;
    deviations_ns[i] = statistics.interval_deviation_ns;
    completed[i] = statistics.completed;
  }
  cr_expect_gt(most[0], 2, "%lu steps", most[0]);
  cr_expect_eq(most[0], most[1], "%lu and %lu steps", most[0], most[1]);
  cr_expect_eq(completed[0], completed[1]);
  cr_expect(deviations_ns[0] == deviations_ns[1] && deviations_ns[0] > 0);
}

/* Each worker has a part of the sums: what is read is what all have, and a clearing forgets all but what the next
 * report counts. */
Test(sums, of_all_workers_are_put_together) {
  enum { WORKERS = 4, COMPLETED = 40 };
  static const uint64_t steps[WORKERS] = {7, 19, 3, 5}, unreported[WORKERS] = {0, 3, 0, 2};
  static const int64_t deviations_ns[WORKERS] = {-100, 900, 50, -250};
  static struct histogram staleness[MUSTER_BANDS], ages[MUSTER_BANDS];
  SCOPED_WORLD little = little_world_create(WORKERS, NULL);
  struct world_sums *sums = little.world->sums;
  cr_assert_geq(sums->part_count, WORKERS, "%u parts", sums->part_count);
  sums->statistics.completed = COMPLETED;
  memset(staleness, 0, sizeof staleness);
  memset(ages, 0, sizeof ages);
  for (uint32_t part = 0; part < WORKERS; part++) {
    sums->parts[part].completed = unreported[part];
    sums->parts[part].steps_behind_max = steps[part];
    sums->parts[part].interval_deviation_sum_ns = (uint64_t)deviations_ns[part];
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
      sums->parts[part].bands[band].completed = (part + 1) * (band + 2);
      for (uint64_t i = 1; i <= 50 * (part + 1); i++) {
        uint64_t value_ns = i * 1000 * (part == band % WORKERS ? 90 : 1) + band;
        histogram_add(&sums->parts[part].bands[band].staleness, value_ns);
        histogram_add(&staleness[band], value_ns);
      }
    }
  }
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    little.world->plan->bands.agent_time_ns[band] = 1e6 * (band + 1) + 3;
    for (uint64_t i = 1; i < 300; i++) {
      histogram_add(&little.world->plan->bands.ages[band], i * i * (band + 1));
      histogram_add(&ages[band], i * i * (band + 1));
    }
  }
  muster_statistics read = statistics_of(&little);
  cr_expect_eq(read.steps_behind_max, 19);
  cr_expect_float_eq(read.interval_deviation_ns, 600.0 / COMPLETED, 1e-9);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const muster_band *is = &read.bands[band];
    const struct histogram *of[] = {&staleness[band], &ages[band]};
    const muster_quantiles *quantiles[] = {&is->staleness, &is->age};
    cr_expect_eq(is->completed, 10 * (band + 2));
    cr_expect_eq(is->interval_ns, (uint64_t)((1e6 * (band + 1) + 3) / (10.0 * (band + 2)) + 0.5));
    for (uint32_t i = 0; i < 2; i++) {
      cr_expect_eq(quantiles[i]->p50_ns, histogram_quantile(of[i], 0.5), "band %u", band);
      cr_expect_eq(quantiles[i]->p99_ns, histogram_quantile(of[i], 0.99), "band %u", band);
      cr_expect_eq(quantiles[i]->max_ns, of[i]->maximum, "band %u", band);
    }
  }
  muster_statistics_clear(little.world);
  read = statistics_of(&little);
  cr_expect(!read.completed && !read.steps_behind_max && read.interval_deviation_ns == 0.0);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const muster_band none = {0};
    cr_expect_eq(memcmp(&read.bands[band], &none, sizeof none), 0, "band %u", band);
  }
  for (uint32_t part = 0; part < WORKERS; part++) {
    cr_expect_eq(sums->parts[part].completed, unreported[part]);
    cr_expect(!sums->parts[part].steps_behind_max && !sums->parts[part].interval_deviation_sum_ns);
  }
}

/* What is in use does not depend on the order of types; a trace is none of what schedules. */
Test(sums, of_bytes_count_each_type_and_the_trace) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {nothing, MUSTER_ROLE_ACTION, 1000}};
  muster_statistics read[3];
  for (uint32_t i = 0; i < 3; i++) {
    SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.trace.frames = i == 2 ? 4 : 0));
    for (uint32_t k = 0; k < 2; k++) {
      add_type(&little, CHANGED(type_with(atoms, 1 + (k == i % 2)), it.state_bytes = 24));
      for (uint32_t n = 0; n < 50; n++) spawn_at(&little, n);
    }
    run_frames(&little, 8);
    read[i] = statistics_of(&little);
  }
  cr_expect_eq(read[0].bytes_scheduling, read[1].bytes_scheduling);
  cr_expect_eq(read[0].bytes_used, read[1].bytes_used);
  cr_expect_eq(read[0].bytes_scheduling, read[2].bytes_scheduling);
  cr_expect_gt(read[2].bytes_used, read[0].bytes_used);
  cr_expect_geq(read[0].bytes_used, read[0].bytes_scheduling + 100u * 24u);
}

/* State is there once for each agent, published state and messages twice: as an update left them, and as the next one
 * writes them. Each is rounded up to 8 bytes. */
Test(sums, of_bytes_count_all_that_a_type_keeps_of_its_agents) {
  enum { AGENTS = 40, KINDS = 6, BOX = 4 };
  static const struct {
    uint32_t state_bytes, published_bytes, waiting_max, message_bytes, more; /* more: than the first, of each agent */
  } kinds[KINDS] = {
      {0, 0, 0, 0, 0},
      {24, 0, 0, 0, 24},
      {0, 24, 0, 0, 48},
      {1, 9, 0, 0, 8 + 32},
      {0, 0, BOX, 16, (uint32_t)sizeof(struct box) + 2 * BOX * ((uint32_t)sizeof(struct message_head) + 16)},
      {40, 8, BOX, 1, 56 + (uint32_t)sizeof(struct box) + 2 * BOX * ((uint32_t)sizeof(struct message_head) + 8)}};
  uint64_t bytes[KINDS];
  for (uint32_t i = 0; i < KINDS; i++) {
    SCOPED_WORLD little = peopled(
        world_of(CHANGED(type_running(nothing, 1000), it.state_bytes = kinds[i].state_bytes,
                         it.published_bytes = kinds[i].published_bytes, it.messages.waiting_max = kinds[i].waiting_max,
                         it.messages.bytes_max = kinds[i].message_bytes)),
        AGENTS);
    run_frames(&little, 3);
    muster_statistics read = statistics_of(&little);
    bytes[i] = read.bytes_used - read.bytes_scheduling;
    cr_expect_eq(bytes[i] - bytes[0], (uint64_t)AGENTS * kinds[i].more, "kind %u: %lu more", i, bytes[i] - bytes[0]);
  }
}

/* Of an agent that costs as much as the others: what a second adds, and what an update takes besides. */
Test(sums, of_costs_tell_the_line_in_seconds) {
  const muster_type_def type = type_running(nothing, 1000);
  SCOPED_WORLD little = world_of(type);
  spawn_and_run(&little, 0, 3);
  add_type(&little, CHANGED(type, it.levels.count = 2));
  cost_estimate *estimate = (cost_estimate *)(uintptr_t)costs_of(&little.world->learnt->costs, 1, 1);
  estimate->mean_ns = 70000.0;
  estimate->high_ns = 90000.0;
  estimate->samples = 12;
  estimate->slope = 0.25f;
  estimate->elapsed_ns = 100000.0f;
  muster_type_cost cost = muster_type_cost_default();
  assert_ok(muster_type_cost_read(little.world, little.type, 1, &cost));
  cr_expect(cost.mean_ns == 70000 && cost.high_ns == 90000 && cost.samples == 12 && cost.levels == 2);
  cr_expect_eq(cost.per_second_ns, 250000000u, "%lu ns", cost.per_second_ns);
  cr_expect_eq(cost.fixed_ns, 45000u, "%lu ns", cost.fixed_ns);
  const muster_type_cost other = type_cost_of(&little);
  cr_expect(other.mean_ns == 1000 && other.per_second_ns == 0 && other.fixed_ns == 1000 && other.samples == 0);
  cr_assert_gt(little.world->sums->report.utilisation_desired, 0.0f);
  cr_expect(cost.elapsed_load == 0.0f && other.elapsed_load == 0.0f, "nobody is there for whom time passes");
}

#define SUM(NAME)                                                                                                      \
  { #NAME, offsetof(muster_statistics, NAME) }

/* Before they were cleared, and after: together what there is without. */
Test(sums, begin_anew_when_they_are_cleared) {
  static const struct sum {
    const char *name;
    size_t offset;
  } sums[] = {SUM(frames),
              SUM(released),
              SUM(completed),
              SUM(carried),
              SUM(preempted),
              SUM(woken),
              SUM(spawned),
              SUM(removed),
              SUM(spawns_refused),
              SUM(commands_dropped),
              SUM(atoms_over_limit),
              SUM(messages_sent),
              SUM(messages_delivered),
              SUM(messages_dropped),
              SUM(messages_refused),
              SUM(wakes_delayed),
              SUM(wakes_timed),
              SUM(demotions),
              SUM(quarantines),
              SUM(reinstated),
              SUM(sets_cut),
              SUM(reactions_met),
              SUM(reactions_late),
              SUM(cycles)};
  told whole = run_busy(2, false), cleared = run_busy(2, true);
  cr_assert_eq(whole.hash, cleared.hash);
  cr_expect_eq(memcmp(&whole.then, &cleared.then, sizeof whole.then), 0);
  for (size_t i = 0; i < COUNT_OF(sums); i++) {
    uint64_t before, after, all;
    memcpy(&before, (const char *)&whole.then + sums[i].offset, sizeof before);
    memcpy(&after, (const char *)&cleared.end + sums[i].offset, sizeof after);
    memcpy(&all, (const char *)&whole.end + sums[i].offset, sizeof all);
    cr_expect_eq(before + after, all, "%s: %lu before, %lu after, %lu in all", sums[i].name, before, after, all);
  }
  for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
    const muster_band *before = &whole.then.bands[band], *after = &cleared.end.bands[band],
                      *all = &whole.end.bands[band];
    cr_expect_eq(before->completed + after->completed, all->completed, "band %u", band);
    cr_expect_float_eq(before->agent_time_ns + after->agent_time_ns, all->agent_time_ns, 1.0, "band %u", band);
    cr_expect(after->agents == all->agents && after->period_ns == all->period_ns && after->wanted_ns == all->wanted_ns);
    cr_expect_eq(after->interval_ns,
                 after->completed ? (uint64_t)(after->agent_time_ns / (double)after->completed + 0.5) : 0);
    cr_expect_leq(after->staleness.max_ns, all->staleness.max_ns);
  }
  cr_expect(cleared.end.bytes_used == whole.end.bytes_used &&
            cleared.end.bytes_scheduling == whole.end.bytes_scheduling);
}

Test(sums, a_frame_kept_its_promise_up_to_the_grace_and_no_further) {
  muster_frame_report report = WITH(muster_frame_report, it.longest_atom_ns = 1000, it.longest_claim_ns = 500000,
                                    it.overrun_wall_ns = 900000, it.overrun_own_ns = 1000 + MUSTER_PROMISE_GRACE_NS);
  cr_expect(muster_frame_kept(&report));
  report.overrun_own_ns++;
  cr_expect_not(muster_frame_kept(&report));
  cr_expect_not(muster_frame_kept(NULL));
}

/* Agents of two types in turn: a slot of a type is no index of an agent. */
Test(sums, messages_are_those_of_the_agents_own_box) {
  enum { AGENTS = 12 };
  const muster_type_def type =
      CHANGED(due_every(DAY_NS, type_running(nothing, 1000)), it.messages.waiting_max = 4, it.messages.bytes_max = 8);
  SCOPED_WORLD little = little_world_create(1, NULL);
  const muster_type types[] = {add_type(&little, type), add_type(&little, type)};
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++)
    agents[i] = spawn_as(&little, WITH(muster_agent_def, it.type = types[i % 2], it.position.x = i));
  run_frame(&little);
  for (uint32_t i = 0; i < AGENTS; i++)
    for (uint32_t k = 0; k < i % 5; k++) cr_assert_eq(muster_agent_send(little.world, agents[i], &k, 4), MUSTER_OK);
  run_frame(&little);
  for (uint32_t i = 0; i < AGENTS; i++) cr_expect_eq(info_of(&little, agents[i]).messages, i % 5, "agent %u", i);
}

/* ---------------------------------------------------------------------------------------------------------- hashes */

typedef enum difference {
  NO_DIFFERENCE = 0,
  OTHER_WORD, /* of a message that waits */
  OTHER_LOSS, /* a message more of an agent that found no room */
  OTHER_SIZE, /* of a message that waits */
  OTHER_PUBLISHED,
  OTHER_PARTITION,
  OTHER_HEIGHT,
  OTHER_GENERATION,
  OTHER_WAKE, /* a time that was asked for */
  OTHER_LINK, /* of state alone */
  DIFFERENCES
} difference;

static uint64_t published_now;
static uint32_t sends_now;
static muster_agent sent_to;

static muster_atom_result publish(muster_update *update) {
  memcpy(update->published, &published_now, sizeof published_now);
  for (uint32_t i = 0; i < sends_now; i++) muster_update_send(update, sent_to, &published_now, 4);
  return MUSTER_ATOM_NEXT;
}

/* The hashes after each of some frames in which two agents do next to nothing. */
static void run_different(difference what, bool other, uint64_t hashes[4]) {
  SCOPED_WORLD little = careless(world_of(CHANGED(due_every(DAY_NS, type_running(nothing, 1000)), it.state_bytes = 8,
                                                  it.messages.waiting_max = 2, it.messages.bytes_max = 8)));
  muster_position at = {3, 4, what == OTHER_HEIGHT && other ? 6 : 5};
  for (uint32_t life = 0; life < 2 && what == OTHER_GENERATION; life++) {
    muster_agent gone = {0};
    if (life == 0 || other) gone = spawn_in(&little, at, 0);
    run_frame(&little);
    muster_agent_remove(little.world, gone);
    run_frame(&little);
  }
  muster_agent one = spawn_in(&little, at, what == OTHER_PARTITION && other);
  add_type(&little, CHANGED(due_every(FRAME_NS, type_running(publish, 1000)), it.published_bytes = 8,
                            it.messages.sends_max = 4));
  spawn_and_run(&little, 9, 1);
  for (uint64_t i = 0; i < 4; i++) {
    published_now = what == OTHER_PUBLISHED && other ? 100 + i : 7;
    uint64_t word = what == OTHER_WORD && other ? 8 : 7;
    if (i == 1 && (what == OTHER_WORD || what == OTHER_SIZE))
      muster_agent_send(little.world, one, &word, what == OTHER_SIZE && other ? 8 : 4);
    sends_now = i == 1 && what == OTHER_LOSS ? 3u + other : 0;
    sent_to = one;
    if (i == 1 && what == OTHER_WAKE) muster_agent_wake_at(little.world, one, 900000000u + other);
    if (i == 1 && what == OTHER_LINK && other) *(uint64_t *)info_of(&little, one).state = 1;
    run_frame(&little);
    hashes[i] = muster_world_hash(little.world);
  }
}

Test(hashes, tell_worlds_apart_that_differ_in_one_thing) {
  static const uint32_t first[DIFFERENCES] = {9, 1, 1, 1, 0, 0, 0, 0, 1, 1}; /* frame from which on they differ */
  for (difference what = 0; what < DIFFERENCES; what++) {
    uint64_t one[4], same[4], other[4];
    run_different(what, false, one);
    run_different(what, false, same);
    run_different(what, true, other);
    for (uint32_t i = 0; i < 4; i++) {
      cr_expect_eq(one[i], same[i], "difference %d, frame %u", (int)what, i);
      if (what == OTHER_LOSS && i > 1) continue; /* the sender has been told of it by then */
      cr_expect_eq(one[i] != other[i], i >= first[what], "difference %d, frame %u", (int)what, i);
    }
  }
}

enum { HERDS = 150, HERD_DIFFERENCES = 10 };

/* The hash of folded herds, of which the last differs in one field; reading each tells what it was given. */
static uint64_t hash_of_herds(uint32_t what, bool second_type) {
  static muster_herd_def defs[HERDS];
  static muster_herd ids[2][HERDS];
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_herd_type types[2];
  uint32_t kinds = 1 + second_type;
  for (uint32_t kind = 0; kind < kinds; kind++) {
    muster_type deer =
        add_type(&little, CHANGED(deer_def(atom_of(stand_still, 1000)), it.published_bytes = 8 * sizeof(float)));
    muster_herd_type_def type = WITH(muster_herd_type_def, it.totals = 3, it.member = deer);
    types[kind] = muster_herd_type_register(little.world, &type);
    cr_assert_neq(types[kind].index, 0, "%s", muster_last_error());
  }
  for (uint32_t i = 0; i < HERDS; i++)
    defs[i] = (muster_herd_def){.position = {5.0 + i, 7.0 + i, 0},
                                .velocity_x = 0.25f,
                                .velocity_y = 0.5f,
                                .partition = i / 50,
                                .members = 20 + i % 10,
                                .totals = {1.0f + (float)i, 1000.0f + (float)i, 2000.0f + (float)i}};
  muster_herd_def *last = &defs[HERDS - 1];
  if (what == 1) last->position.x += 1;
  if (what == 2) last->position.y += 1;
  if (what == 3) last->velocity_x = 0.75f;
  if (what == 4) last->velocity_y = 0.75f;
  if (what == 5) last->partition = 9;
  if (what == 6) last->members = 31;
  if (what >= 7 && what <= 9) last->totals[what - 7] += 1;
  for (uint32_t kind = 0; kind < kinds; kind++)
    cr_assert_eq(muster_herds_add(little.world, types[kind], defs, HERDS, ids[kind]), HERDS, "%s", muster_last_error());
  muster_herd next = {0};
  for (uint32_t kind = 0; kind < kinds; kind++)
    for (uint32_t i = 0; i < HERDS; i++) {
      muster_herd_info info = muster_herd_info_default();
      next = muster_herd_next(little.world, next);
      cr_assert(!muster_herd_is_null(next), "there are %u herds of type %u, and no more", i, kind);
      assert_ok(muster_herd_read(little.world, ids[kind][i], &info));
      cr_expect(info.position.x == defs[i].position.x && info.position.y == defs[i].position.y);
      cr_expect(info.velocity_x == defs[i].velocity_x && info.velocity_y == defs[i].velocity_y);
      cr_expect(info.partition == defs[i].partition && info.members == defs[i].members);
      cr_expect_eq(memcmp(info.totals, defs[i].totals, 3 * sizeof *info.totals), 0, "herd %u", i);
      cr_expect(info.type.index == types[kind].index && !info.leaves && !info.named && !info.depth);
      cr_expect_eq(muster_herd_leaves(little.world, ids[kind][i], NULL, NULL, 0), 0);
    }
  cr_expect(muster_herd_is_null(muster_herd_next(little.world, next)), "there are more");
  uint64_t hash = muster_world_hash(little.world);
  if (what == 0) { /* one that goes and comes again is another one */
    muster_herd again;
    cr_assert_eq(muster_herd_remove(little.world, ids[0][HERDS - 1]), MUSTER_OK);
    run_frame(&little);
    cr_assert_eq(muster_herds_add(little.world, types[0], last, 1, &again), 1, "%s", muster_last_error());
    muster_herd_info info = muster_herd_info_default();
    cr_expect_eq(muster_herd_read(little.world, ids[0][HERDS - 1], &info), MUSTER_E_STALE);
    cr_expect_eq(muster_herd_read(little.world, again, &info), MUSTER_OK);
  }
  return hash;
}

Test(hashes, tell_herds_apart_that_differ_in_one_thing) {
  uint64_t hash = hash_of_herds(0, false);
  cr_expect_eq(hash_of_herds(0, false), hash);
  for (uint32_t what = 1; what < HERD_DIFFERENCES; what++)
    if (what != 5) cr_expect_neq(hash_of_herds(what, false), hash, "difference %u", what);
  hash_of_herds(5, true); /* is read as it was given; so are those of a second type */
}

/* How many totals a type has changes nothing else that is told of its herds. */
Test(hashes, herds_are_read_alike_with_each_number_of_totals) {
  muster_herd_info first[2];
  for (uint32_t totals = 0; totals <= MUSTER_HERD_TOTALS; totals++) {
    SCOPED_WORLD little = careless(world_of(
        CHANGED(deer_def(atom_of(stand_still, 1000)), it.published_bytes = sizeof(float[2 + MUSTER_HERD_TOTALS]))));
    muster_herd_type herds =
        add_herd_type(&little, WITH(muster_herd_type_def, it.totals = totals, it.member = little.type));
    muster_herd_def def = {.position = {3, 4, 0}, .velocity_x = 0.25f, .velocity_y = 0.5f, .members = 20};
    for (uint32_t t = 0; t < totals; t++) def.totals[t] = 64.0f * (float)(t + 1);
    muster_herd herd = add_herd_to(&little, herds, def);
    for (uint32_t unfolded = 0; unfolded < 2; unfolded++) {
      if (unfolded) observe_at(&little, 0);
      run_frames(&little, 12);
      muster_herd_info info = read_herd(&little, herd);
      cr_expect_eq(info.leaves > 0, unfolded);
      for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++)
        cr_expect_float_eq(info.totals[t], t < totals ? def.totals[t] : 0.0f, 1e-3, "total %u of %u", t, totals);
      memset(info.totals, 0, sizeof info.totals);
      if (!totals) first[unfolded] = info;
      cr_expect_eq(memcmp(&info, &first[unfolded], sizeof info), 0, "%u totals", totals);
    }
  }
}

/* A herd that is unfolded, and what its leaves are. */
Test(hashes, leaves_are_counted_whatever_room_there_is) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd far = add_herd(&herds, 200, 0, 32), near = add_herd(&herds, 0, 0, 32);
  muster_agent agents[40];
  uint32_t nodes[40];
  observe(&herds, 0, 0);
  run_frames(&herds.little, 30);
  for (uint32_t which = 0; which < 2; which++) {
    muster_herd herd = which ? near : far;
    muster_herd_info info = herd_info_of(&herds, herd);
    uint32_t count = muster_herd_leaves(herds.little.world, herd, NULL, NULL, 0), deepest = 0, members = 0;
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    cr_expect_eq(info.leaves, count);
    for (uint32_t room = 0; room <= count; room++) {
      memset(agents, 0, sizeof agents);
      cr_expect_eq(muster_herd_leaves(herds.little.world, herd, agents, nodes, room), count);
      for (uint32_t i = 0; i < 40; i++) cr_expect_eq(muster_agent_is_null(agents[i]), i >= room);
    }
    for (uint32_t i = 0; i < count; i++) {
      uint32_t depth = 0;
      for (uint32_t node = nodes[i]; node; node = (node - 1) / 2) depth++;
      deepest = depth > deepest ? depth : deepest;
      members += 32u >> depth;
      muster_agent_info leaf = info_of(&herds.little, agents[i]);
      first_ns = leaf.last_update_ns < first_ns ? leaf.last_update_ns : first_ns;
      last_ns = leaf.last_update_ns > last_ns ? leaf.last_update_ns : last_ns;
    }
    cr_expect_eq(info.depth, deepest, "herd %u", which);
    if (count) cr_expect(info.last_update_ns >= first_ns && info.last_update_ns <= last_ns);
    if (count) cr_expect_eq(members, 32);
  }
}

/* What a zone has of others: what a ghost publishes and where it is, a message that waits for its zone, a mark. */
static uint64_t hash_of_zone(uint32_t what) {
  SCOPED_WORLD here = careless(zone_world(1)), there = careless(zone_world(2));
  muster_agent walker = spawn_at(&there, 40);
  spawn_at(&here, 10);
  muster_agent leaves = spawn_at(&here, 20);
  run_both(&here, &there, 4);
  uint64_t published = *(const uint64_t *)info_of(&there, walker).published + (what == 1);
  memcpy((void *)(uintptr_t)info_of(&there, walker).published, &published, sizeof published);
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(&there, &walker, 1), gone = {0};
  if (what != 2) show_ghosts(&here, 2, &bytes, true);
  uint64_t word = 7 + (what == 3);
  if (what != 2 && what != 4) cr_assert_eq(muster_agent_send(here.world, walker, &word, sizeof word), MUSTER_OK);
  run_frame(&here);
  if (what == 5) depart(&here, leaves, 2, &gone);
  cr_expect_eq(muster_agent_is_ghost(here.world, walker), what != 2);
  const muster_view view = WITH(muster_view, it.x0 = it.y0 = -1000, it.x1 = it.y1 = 1000);
  muster_view_agent seen[4];
  uint32_t cursor = 0, ghosts = 0, count = muster_agents_view(here.world, &view, seen, 4, &cursor);
  for (uint32_t i = 0; i < count; i++) {
    if (!muster_agent_equal(seen[i].agent, walker)) continue;
    cr_expect(seen[i].flags == MUSTER_VIEW_GHOST && seen[i].type == there.type.index);
    cr_expect_float_eq(seen[i].x, (float)info_of(&there, walker).position.x + 1000, 1e-3);
    cr_expect(seen[i].period_s == 0 && seen[i].importance == 0 && seen[i].staleness_s == 0 && !seen[i].level);
    ghosts++;
  }
  cr_expect_eq(ghosts, what != 2);
  return muster_world_hash(here.world);
}

Test(hashes, tell_zones_apart_that_differ_in_one_thing) {
  uint64_t hash = hash_of_zone(0);
  cr_expect_eq(hash_of_zone(0), hash);
  for (uint32_t what = 1; what < 6; what++) cr_expect_neq(hash_of_zone(what), hash, "difference %u", what);
}
