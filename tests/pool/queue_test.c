/* The queue: its bitmap never shows a lane as empty that is not, and fair parts are fair. */
#include "pool/jobs_support.h"
#include "pool/queue.h"

enum { CAPACITY = 64 };

struct bench {
  struct arena arena;
  struct queue queue;
};

static struct bench set_up(void) {
  struct bench bench = {.arena = begin_arena()};
  queue_create(&bench.queue, CAPACITY, &bench.arena);
  cr_assert_not(bench.arena.failed);
  return bench;
}

static bool take_one(struct lane *lane) {
  uint64_t first;
  struct job job;
  return lane_look(lane, 1, NULL, &first) && lane_claim(lane, first, 1) && lane_start(lane, first, &job);
}

Test(queue, a_push_sets_the_bit_of_its_priority_and_settling_clears_those_over_empty_lanes) {
  SCOPED(end_fixture) struct bench bench = set_up();
  cr_assert_eq(queue_occupied(&bench.queue), 0);
  cr_assert_not(queue_has_work(&bench.queue, QUEUE_ALL));
  cr_assert_not(queue_settle(&bench.queue));
  for (uint32_t lane = 0; lane < MUSTER_URGENCIES; lane++) {
    cr_assert(queue_push(&bench.queue, lane, &(struct job){0}));
    cr_assert_eq(queue_occupied(&bench.queue), (2u << lane) - 1);
    cr_assert(queue_may_have(&bench.queue, 1u << lane));
    cr_assert_eq(queue_may_have(&bench.queue, ~((2u << lane) - 1)), false);
    cr_assert(queue_has_work(&bench.queue, 1u << lane));
  }
  cr_assert(take_one(&bench.queue.lanes[3]));
  cr_assert_eq(queue_occupied(&bench.queue), QUEUE_ALL, "a bit may stand over an empty lane");
  cr_assert_not(queue_has_work(&bench.queue, 1u << 3));
  cr_assert(queue_settle(&bench.queue));
  cr_assert_eq(queue_occupied(&bench.queue), QUEUE_ALL & ~(1u << 3));
}

Test(queue, a_full_lane_refuses_and_leaves_the_others_alone) {
  SCOPED(end_fixture) struct bench bench = set_up();
  for (uint32_t i = 0; i < CAPACITY; i++) cr_assert(queue_push(&bench.queue, 5, &(struct job){0}));
  cr_assert_not(queue_push(&bench.queue, 5, &(struct job){0}));
  cr_assert(queue_push(&bench.queue, 4, &(struct job){0}));
}

Test(queue, a_fair_part_leaves_something_for_the_other_workers) {
  SCOPED(end_fixture) struct bench bench = set_up();
  const struct lane *lane = &bench.queue.lanes[2];
  for (uint32_t waiting = 0; waiting <= CAPACITY; waiting++) {
    for (uint32_t workers = 1; workers <= 16; workers++) {
      uint32_t part = queue_fair_part(lane, 8, workers);
      cr_assert(part >= 1 && part <= 8);
      cr_assert(part == 1 || part * 2 * workers <= waiting, "%u of %u for one of %u", part, waiting, workers);
    }
    cr_assert_eq(queue_fair_part(lane, 8, 0), 8);
    if (waiting < CAPACITY) cr_assert(queue_push(&bench.queue, 2, &(struct job){0}));
  }
}

/* ------------------------------------------------------------------------------------------------ bits and settlers */

struct contest {
  struct bench bench;
  shared_u64 pushed, taken, settled, missed, over;
};

static void *settle_all_the_time(void *argument) {
  struct contest *contest = argument;
  while (!load_ordered_u64(&contest->over)) {
    queue_settle(&contest->bench.queue);
    fetch_add_relaxed_u64(&contest->settled, 1);
    sched_yield();
  }
  return NULL;
}

/* The producer takes the job that it pushed when no other thread has it; then every thread must see the bit. */
Test(queue, no_bit_is_lost_between_those_who_push_and_those_who_settle) {
  enum { SETTLERS = 3, ROUNDS = 200000 / SLOWER };
  SCOPED(free_memory) struct contest *contest = calloc(1, sizeof *contest);
  pthread_t threads[SETTLERS];
  contest->bench = set_up();
  start_threads(threads, SETTLERS, settle_all_the_time, contest, 0);
  uint64_t missed = 0;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t lane = round % MUSTER_URGENCIES;
    cr_assert(queue_push(&contest->bench.queue, lane, &(struct job){0}));
    if (round % 64 == 0) sched_yield();
    /* A settler may have it cleared for a moment, but sets it back: without end if the bit is lost. */
    for (uint32_t looks = 0; !queue_may_have(&contest->bench.queue, 1u << lane); looks++) {
      sched_yield();
      if (looks == 10000000) missed++;
      if (looks == 10000000) break;
    }
    cr_assert(take_one(&contest->bench.queue.lanes[lane]));
  }
  store_ordered_u64(&contest->over, 1);
  join_threads(threads, SETTLERS);
  cr_assert_eq(missed, 0);
  end_fixture(&contest->bench);
}
