/* The FIFO queue against a plain list of the agents that stand in it. */
#include "plan/fifo.h"
#include "plan/planning.h"

enum { AGENTS = 200, ROUNDS = 40000 };

struct fixture {
  struct arena arena;
  struct fifo fifo;
  bool stands[AGENTS];
  uint32_t standing[AGENTS], count;
  uint32_t longest; /* the tail's highest */
};

static void join(struct fixture *fixture, uint32_t agent) {
  fixture->stands[agent] = true;
  fifo_join(&fixture->fifo, agent);
  fixture->standing[fixture->count++] = agent;
  if (fixture->fifo.tail > fixture->longest) fixture->longest = fixture->fifo.tail;
  cr_assert_leq(fixture->fifo.tail, 2 * fixture->fifo.standing + FIFO_SLACK + 1);
}

/* In which the first agents stand already. */
static struct fixture *create(uint32_t standing) {
  struct fixture *fixture = new_fixture(sizeof *fixture);
  fifo_create(&fixture->fifo, AGENTS, &fixture->arena);
  for (uint32_t i = 0; i < standing; i++) join(fixture, i);
  return fixture;
}

static void leave(struct fixture *fixture, uint32_t agent) {
  uint32_t kept = 0;
  fixture->stands[agent] = false;
  fifo_leave(&fixture->fifo, agent);
  for (uint32_t i = 0; i < fixture->count; i++)
    if (fixture->standing[i] != agent) fixture->standing[kept++] = fixture->standing[i];
  cr_assert_eq(kept + 1, fixture->count);
  fixture->count = kept;
}

static void check(const struct fixture *fixture) {
  uint32_t place = fixture->fifo.head;
  cr_assert_eq(fixture->fifo.standing, fixture->count);
  for (uint32_t i = 0; i < fixture->count; i++) cr_assert_eq(fifo_next(&fixture->fifo, &place), fixture->standing[i]);
  cr_assert_eq(fifo_next(&fixture->fifo, &place), UINT32_MAX);
  cr_assert_eq(place, fixture->fifo.tail);
}

Test(line, keeps_the_order_of_arrival_whoever_leaves_and_comes_again) {
  SCOPED(free_fixture) struct fixture *fixture = create(0);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint64_t random = random_at(1, round, 0, 0);
    uint32_t agent = (uint32_t)(random % AGENTS);
    /* In turn nearly all agents are queued, then hardly any. */
    bool filling = (random >> 32) % 100 < (round / 2000 % 2 ? 90 : 10);
    if (fixture->stands[agent])
      leave(fixture, agent);
    else if (filling)
      join(fixture, agent);
    if (round % 16 == 0) fifo_settle(&fixture->fifo, UINT32_MAX);
    if (round % 8 == 0) check(fixture);
  }
  cr_assert_gt(fixture->longest, FIFO_SLACK, "it never closed up");
}

/* The head never moves, so that nothing but closing up can make room. */
Test(line, memory_is_bounded_while_one_waits_at_the_head_and_others_come_and_go_for_ever) {
  SCOPED(free_fixture) struct fixture *fixture = create(1);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t agent = 1 + round % (AGENTS - 1);
    join(fixture, agent);
    fifo_settle(&fixture->fifo, UINT32_MAX);
    leave(fixture, agent);
  }
  check(fixture);
  cr_assert_leq(fixture->longest, 2 * 2 + FIFO_SLACK + 1);
}

Test(line, everybody_fits_and_closing_up_while_all_stand_changes_nothing) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS);
  for (uint32_t turns = 0; turns < 20 * AGENTS; turns++) { /* the first goes to the end */
    uint32_t first = fixture->standing[0];
    leave(fixture, first);
    join(fixture, first);
  }
  fifo_close_up(&fixture->fifo);
  check(fixture);
  cr_assert_leq(fixture->longest, 2 * AGENTS + FIFO_SLACK + 1);
}

Test(line, begins_anew_when_the_last_has_left) {
  SCOPED(free_fixture) struct fixture *fixture = create(10);
  for (uint32_t i = 0; i < 10; i++) leave(fixture, (i + 5) % 10);
  cr_assert(fixture->fifo.head == 0 && fixture->fifo.tail == 0);
  join(fixture, 3);
  check(fixture);
}

Test(line, the_head_passes_over_those_who_left_and_no_further) {
  SCOPED(free_fixture) struct fixture *fixture = create(10);
  leave(fixture, 0);
  leave(fixture, 1);
  leave(fixture, 4);
  fifo_settle(&fixture->fifo, UINT32_MAX);
  cr_assert_eq(fixture->fifo.head, 2);
  join(fixture, 0); /* comes again: the last, not where it stood */
  fifo_settle(&fixture->fifo, UINT32_MAX);
  cr_assert_eq(fixture->fifo.head, 2);
  check(fixture);
}

Test(line, the_head_passes_over_no_more_places_at_a_time_than_asked) {
  SCOPED(free_fixture) struct fixture *fixture = create(10);
  for (uint32_t i = 0; i < 5; i++) leave(fixture, i);
  fifo_settle(&fixture->fifo, 2);
  cr_assert_eq(fixture->fifo.head, 2);
  cr_assert_eq(fifo_end_of_first(&fixture->fifo, 7), 9);
  cr_assert_eq(fifo_end_of_first(&fixture->fifo, 8), 10);
  cr_assert_eq(fifo_end_of_first(&fixture->fifo, UINT32_MAX), 10);
  fifo_settle(&fixture->fifo, 2);
  cr_assert_eq(fixture->fifo.head, 4);
  fifo_settle(&fixture->fifo, 2);
  cr_assert_eq(fixture->fifo.head, 5, "who stands is not passed over");
  check(fixture);
}
