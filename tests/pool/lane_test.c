/* Lanes: first in, first out, and out of turn; exactly one thread gets each job, however many want it. */
#include "pool/jobs_support.h"
#include "pool/lane.h"

struct bench {
  struct arena arena;
  struct lane lane;
};

static struct bench set_up(uint32_t capacity) {
  struct bench bench = {.arena = begin_arena()};
  lane_create(&bench.lane, capacity, &bench.arena);
  cr_assert_not(bench.arena.failed);
  return bench;
}

static uint64_t number_of(const struct job *job) {
  return (uintptr_t)job->argument;
}

static const struct group *group_named(uint64_t name) {
  return (const struct group *)(uintptr_t)name;
}

static bool push(struct bench *bench, uint64_t number, uint64_t group) {
  struct job job = {NULL, (void *)(uintptr_t)number, (struct group *)(uintptr_t)group};
  return lane_push(&bench->lane, &job);
}

/* Claims up to `most` and starts them; returns how many were claimed, and counts those that were still there. */
static uint32_t claim(struct lane *lane, uint32_t most, const struct group *only, uint64_t *got, uint32_t *got_count) {
  uint64_t first;
  uint32_t count = lane_look(lane, most, only, &first);
  if (!count || !lane_claim(lane, first, count)) return 0;
  for (uint32_t i = 0; i < count; i++) {
    struct job job;
    if (lane_start(lane, first + i, &job)) got[(*got_count)++] = number_of(&job);
  }
  return count;
}

Test(lane, is_first_in_first_out_over_many_laps) {
  SCOPED(end_fixture) struct bench bench = set_up(4);
  uint64_t pushed = 0, got[4], taken = 0;
  for (uint32_t round = 0; round < 1000; round++) {
    for (uint32_t i = 0; i < 1 + round % 4; i++) cr_assert(push(&bench, pushed++, 1));
    for (uint32_t count; taken < pushed;) {
      count = 0;
      cr_assert_gt(claim(&bench.lane, 1 + round % 3, NULL, got, &count), 0);
      for (uint32_t i = 0; i < count; i++) cr_assert_eq(got[i], taken++);
    }
    cr_assert_not(lane_has_work(&bench.lane));
  }
}

Test(lane, refuses_what_exceeds_its_capacity_and_has_room_once_a_job_has_started) {
  SCOPED(end_fixture) struct bench bench = set_up(4);
  uint64_t got[4];
  uint32_t count = 0;
  for (uint32_t round = 0; round < 100; round++) {
    for (uint32_t i = 0; i < 4; i++) cr_assert(push(&bench, i, 0));
    cr_assert_not(push(&bench, 4, 0));
    count = 0;
    cr_assert_eq(claim(&bench.lane, 1, NULL, got, &count), 1);
    cr_assert(push(&bench, 4, 0));
    cr_assert_not(push(&bench, 5, 0));
    count = 0;
    cr_assert_eq(claim(&bench.lane, 8, NULL, got, &count), 4);
    cr_assert_eq(count, 4);
  }
}

Test(lane, a_job_taken_out_of_turn_is_not_started_and_the_others_keep_their_order) {
  SCOPED(end_fixture) struct bench bench = set_up(8);
  struct job job;
  for (uint64_t lap = 0; lap < 50; lap++) {
    uint64_t got[8], first = lane_head(&bench.lane);
    uint32_t count = 0;
    for (uint64_t i = 0; i < 8; i++) cr_assert(push(&bench, i, 1 + i % 2));
    cr_assert_not(lane_take_out(&bench.lane, first + 2, group_named(2), &job), "it is of group 1");
    cr_assert(lane_take_out(&bench.lane, first + 2, group_named(1), &job));
    cr_assert_eq(number_of(&job), 2);
    cr_assert_not(lane_take_out(&bench.lane, first + 2, NULL, &job), "it is gone");
    cr_assert(lane_take_out(&bench.lane, first + 5, NULL, &job));
    cr_assert_eq(claim(&bench.lane, 8, NULL, got, &count), 8);
    cr_assert_eq(count, 6);
    const uint64_t rest[] = {0, 1, 3, 4, 6, 7};
    cr_assert(memcmp(rest, got, sizeof rest) == 0);
  }
}

Test(lane, a_job_may_be_taken_out_between_its_claim_and_its_start) {
  SCOPED(end_fixture) struct bench bench = set_up(4);
  struct job job;
  for (uint32_t lap = 0; lap < 50; lap++) {
    uint64_t first;
    cr_assert(push(&bench, 1, 0) && push(&bench, 2, 0));
    cr_assert_eq(lane_look(&bench.lane, 4, NULL, &first), 2);
    cr_assert(lane_claim(&bench.lane, first, 2));
    cr_assert_not(lane_claim(&bench.lane, first, 2), "claimed twice");
    cr_assert(lane_take_out(&bench.lane, first + 1, NULL, &job));
    cr_assert_eq(number_of(&job), 2);
    cr_assert(lane_start(&bench.lane, first, &job));
    for (uint64_t i = 3; i < 6; i++) cr_assert(push(&bench, i, 0));
    cr_assert_not(push(&bench, 6, 0), "its place is its claimer's");
    cr_assert_not(lane_start(&bench.lane, first + 1, &job));
    cr_assert(push(&bench, 6, 0), "who has been there");
    cr_assert_not(lane_take_out(&bench.lane, first, NULL, &job), "it has started");
    uint64_t got[4];
    uint32_t count = 0;
    cr_assert_eq(claim(&bench.lane, 4, NULL, got, &count), 4);
    cr_assert_eq(count, 4);
  }
}

Test(lane, a_claim_for_a_group_stops_at_the_first_job_of_another) {
  SCOPED(end_fixture) struct bench bench = set_up(8);
  uint64_t first;
  for (uint64_t i = 0; i < 8; i++) cr_assert(push(&bench, i, i < 3 ? 1 : 2));
  cr_assert_eq(lane_look(&bench.lane, 8, group_named(1), &first), 3);
  cr_assert_eq(lane_look(&bench.lane, 2, group_named(1), &first), 2);
  cr_assert_eq(lane_look(&bench.lane, 8, group_named(2), &first), 0);
  cr_assert_eq(lane_look(&bench.lane, 8, NULL, &first), 8);
}

Test(lane, a_sweep_frees_the_places_of_what_was_taken_out_at_the_head_and_nothing_else) {
  SCOPED(end_fixture) struct bench bench = set_up(8);
  struct job job;
  for (uint32_t lap = 0; lap < 50; lap++) {
    uint64_t got[8], first = lane_head(&bench.lane);
    uint32_t count = 0;
    for (uint64_t i = 0; i < 8; i++) cr_assert(push(&bench, i, 1));
    for (uint64_t i = 1; i < 6; i++) cr_assert(lane_take_out(&bench.lane, first + i, NULL, &job));
    cr_assert_not(lane_sweep(&bench.lane), "a job stands in front");
    cr_assert(lane_take_out(&bench.lane, first, NULL, &job));
    cr_assert(lane_sweep(&bench.lane));
    for (uint64_t i = 8; i < 14; i++) cr_assert(push(&bench, i, 1));
    cr_assert_not(push(&bench, 14, 1));
    while (count < 8) cr_assert_gt(claim(&bench.lane, 8, NULL, got, &count), 0);
    for (uint32_t i = 0; i < 8; i++) cr_assert_eq(got[i], i + 6);
  }
}

/* --------------------------------------------------------------------------------------------- many threads at once */

enum { JOBS = 60000 / SLOWER, PRODUCERS = 2, CLAIMERS = 2, TAKERS = 2, GROUPS = 3 };

struct market {
  struct bench bench;
  shared_u32 *got; /* by job */
  shared_u64 total, wrong_group, out_of_order;
};

struct trader {
  struct market *market;
  uint32_t number;
  pthread_t thread;
};

static void note_got(struct market *market, const struct job *job) {
  uint64_t number = number_of(job);
  fetch_add_relaxed_u32(&market->got[number], 1);
  if ((uintptr_t)job->group != 1 + number % GROUPS) fetch_add_relaxed_u64(&market->wrong_group, 1);
  fetch_add_relaxed_u64(&market->total, 1);
}

static void *produce(void *argument) {
  const struct trader *trader = argument;
  for (uint64_t i = trader->number; i < JOBS; i += PRODUCERS) AWAIT(push(&trader->market->bench, i, 1 + i % GROUPS));
  return NULL;
}

/* Jobs of one producer that one claimer gets come in order. */
static void *claim_and_start(void *argument) {
  const struct trader *trader = argument;
  struct market *market = trader->market;
  struct lane *lane = &market->bench.lane;
  uint64_t latest[PRODUCERS] = {0};
  while (load_ordered_u64(&market->total) < JOBS) {
    uint64_t first;
    uint32_t count = lane_look(lane, 1 + trader->number * 6, NULL, &first);
    if (!count || !lane_claim(lane, first, count)) {
      sched_yield();
      continue;
    }
    for (uint32_t i = 0; i < count; i++) {
      struct job job;
      if (!lane_start(lane, first + i, &job)) continue;
      uint64_t *before = &latest[number_of(&job) % PRODUCERS];
      if (number_of(&job) < *before) fetch_add_relaxed_u64(&market->out_of_order, 1);
      *before = number_of(&job);
      note_got(market, &job);
    }
  }
  return NULL;
}

static void *take_out(void *argument) {
  const struct trader *trader = argument;
  struct market *market = trader->market;
  struct lane *lane = &market->bench.lane;
  const struct group *only = trader->number ? group_named(trader->number) : NULL;
  while (load_ordered_u64(&market->total) < JOBS) {
    /* From behind the head on, where claimed jobs stand that have not started. */
    uint64_t head = lane_head(lane), tail = lane_tail(lane);
    for (uint64_t position = head > 8 ? head - 8 : 0; position < tail; position++) {
      struct job job;
      if (lane_take_out(lane, position, only, &job)) note_got(market, &job);
    }
    sched_yield();
  }
  return NULL;
}

static void run_market(uint32_t capacity) {
  SCOPED(free_memory) struct market *market = calloc(1, sizeof *market);
  SCOPED(free_memory) shared_u32 *got = calloc(JOBS, sizeof *got);
  struct trader traders[PRODUCERS + CLAIMERS + TAKERS];
  market->bench = set_up(capacity);
  market->got = got;
  for (uint32_t i = 0; i < PRODUCERS + CLAIMERS + TAKERS; i++) {
    void *(*run)(void *) = i < PRODUCERS ? produce : i < PRODUCERS + CLAIMERS ? claim_and_start : take_out;
    traders[i] = (struct trader){market, i < PRODUCERS ? i : (i - PRODUCERS) % 2, 0};
    traders[i].thread = start_thread(run, &traders[i]);
  }
  for (uint32_t i = 0; i < PRODUCERS + CLAIMERS + TAKERS; i++) pthread_join(traders[i].thread, NULL);
  for (uint32_t i = 0; i < JOBS; i++)
    cr_assert_eq(load_relaxed_u32(&got[i]), 1, "job %u was got %u times", i, load_relaxed_u32(&got[i]));
  cr_assert_eq(load_relaxed_u64(&market->wrong_group), 0);
  cr_assert_eq(load_relaxed_u64(&market->out_of_order), 0);
  end_fixture(&market->bench);
}

Test(lane, producers_claimers_and_those_who_take_out_of_turn_get_every_job_once) {
  run_market(2);
  run_market(8);
  run_market(1024);
}
