/* The release over all classes: a crowd that comes due at once is spread over frames, and no agent is forgotten. */
#include "plan/periods.h"
#include "ready_set.h"

enum { CROWD = 50000, CLASSES = 5, PERIOD_NS = 100000000, MOST = 8192 };

struct fixture {
  ready_fixture *set;
  class_table classes;
  struct periods periods;
  muster_type_def type;
  agent_class *of[CLASSES];
  uint8_t *released; /* by agent */
};

static struct fixture *create_in(uint32_t agents, uint64_t period_ns, uint32_t shards) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  fixture->set = ready_fixture_create(papers_world_def(), agents);
  fixture->type = WITH(muster_type_def, it.period_ns = period_ns, it.period_max_ns = 10 * period_ns);
  fixture->released = arena_reserve(&fixture->set->arena, agents, 1);
  classes_create(&fixture->classes, 1, agents, shards, &fixture->set->arena);
  periods_create(&fixture->periods, &fixture->classes, &fixture->set->def, &fixture->set->arena);
  for (uint32_t i = 0; i < CLASSES; i++)
    fixture->of[i] = classes_get(&fixture->classes, &fixture->type, 0, i % MUSTER_LEVELS, 10 + i);
  return fixture;
}

static struct fixture *create(uint32_t agents, uint64_t period_ns) {
  return create_in(agents, period_ns, 0);
}

static void destroy(struct fixture **fixture) {
  free_fixture(&(*fixture)->set);
  free(*fixture);
}

static void schedule(struct fixture *fixture, uint32_t agent, uint64_t due_ns) {
  agent_class *class = fixture->of[agent % CLASSES];
  agent_row *row = &fixture->set->store.rows[agent];
  row->class = class->number;
  row->virtual_due_ns = due_ns;
  classes_join(&fixture->classes, class, &(agent_row){0});
  due_insert(&fixture->classes, class, &fixture->set->store, agent);
}

/* A frame's release; returns how many. Released agents run at once. */
static uint32_t release(struct fixture *fixture, uint64_t elapsed_ns, uint32_t most) {
  ready_fixture *set = fixture->set;
  begin_frame_at(set, set->now_ns + elapsed_ns);
  const release_frame frame = {set->now_ns, elapsed_ns, set->frame, most};
  uint32_t due = periods_release(&fixture->periods, &fixture->classes, &set->store, &set->ready, &frame, NULL);
  cr_assert_eq(set->ready.count, due);
  cr_assert_lt(due, most + LOOK_AGENTS);
  for (uint32_t i = 0; i < set->agents; i++) {
    agent_row *row = &set->store.rows[i];
    if (row->status != AGENT_READY) continue;
    cr_assert_leq(row->virtual_due_ns, fixture->of[i % CLASSES]->clock_ns);
    cr_assert_eq(row->first_due_ns, set->now_ns);
    fixture->released[i]++;
    ready_admit(&set->ready, &set->store, i);
    row->status = AGENT_FREE;
  }
  ready_keep_fresh(&set->ready, &set->store);
  return due;
}

Test(periods, a_crowd_that_is_due_at_once_is_released_over_frames_each_bounded_and_nobody_twice) {
  SCOPED(destroy) struct fixture *fixture = create(CROWD, PERIOD_NS);
  for (uint32_t i = 0; i < CROWD; i++) schedule(fixture, i, random_at(1, i, 0, 0) % PERIOD_NS);
  uint32_t total = release(fixture, 2ull * PERIOD_NS, MOST), frames = 1;
  cr_assert_geq(total, MOST);
  for (; total < CROWD; frames++) {
    uint32_t due = release(fixture, 1000000, MOST);
    cr_assert_gt(due, 0);
    total += due;
  }
  cr_assert_leq(frames, (CROWD + MOST - 1) / MOST);
  for (uint32_t i = 0; i < CROWD; i++) cr_assert_eq(fixture->released[i], 1, "%u: %u times", i, fixture->released[i]);
  cr_assert_eq(release(fixture, 10ull * PERIOD_NS, MOST), 0);
}

/* The room of a frame ends exactly where a line of agents does, and in every other place. */
Test(periods, agents_follow_one_another_wherever_the_room_of_a_frame_ends) {
  enum { EACH = 64, AGENTS = CLASSES * EACH };
  for (uint32_t room = 1; room <= AGENTS + 1; room += room < 3 * EACH ? 1 : EACH) {
    SCOPED(destroy) struct fixture *fixture = create(AGENTS, PERIOD_NS);
    for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, i, 1 + i % 3 * (PERIOD_NS / 3));
    uint32_t total = 0, frames = 0;
    for (; total < AGENTS && frames <= AGENTS; frames++) total += release(fixture, PERIOD_NS, room);
    cr_assert_leq(frames, (AGENTS + room - 1) / room, "room for %u: %u frames", room, frames);
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(fixture->released[i], 1);
  }
}

/* Agents that are looked at and are not due yet must not use up the room of a frame. */
Test(periods, a_crowd_that_is_not_due_yet_in_the_current_slot_delays_nobody_who_is) {
  SCOPED(destroy) struct fixture *fixture = create(CROWD, 60000000000u);
  for (uint32_t i = 0; i < CROWD; i++) schedule(fixture, i, 3000000 + i);
  for (uint32_t frame = 0; frame < 60; frame++) cr_assert_eq(release(fixture, 10000, 1000), 0);
  agent_row *row = &fixture->set->store.rows[CROWD - 1];
  const agent_class *class = fixture->of[(CROWD - 1) % CLASSES];
  due_remove(&fixture->set->store, CROWD - 1);
  row->virtual_due_ns = class->clock_ns + 5000;
  due_insert(&fixture->classes, class, &fixture->set->store, CROWD - 1);
  cr_assert_eq(release(fixture, 10000, 1000), 1);
  cr_assert_eq(fixture->released[CROWD - 1], 1);
  uint32_t total = 1;
  for (uint32_t frame = 0; total < CROWD && frame < 60 + CROWD / 1000; frame++)
    total += release(fixture, 3000000, 1000);
  cr_assert_eq(total, CROWD);
}

/* Which agents a frame without room for all leaves to the next depends on the due times and on nothing else. */
Test(periods, shards_do_not_change_who_is_released_when) {
  enum { AGENTS = 5000, FRAMES = 60, SOME = 300 };
  static uint8_t when[3][AGENTS];
  static const uint32_t shards[3] = {1, 4, 64};
  for (uint32_t k = 0; k < 3; k++) {
    SCOPED(destroy) struct fixture *fixture = create_in(AGENTS, PERIOD_NS, shards[k]);
    for (uint32_t i = 0; i < AGENTS; i++) schedule(fixture, i, random_at(3, i, 0, 0) % PERIOD_NS);
    for (uint32_t frame = 1; frame < FRAMES; frame++) {
      release(fixture, PERIOD_NS / 30, SOME);
      for (uint32_t i = 0; i < AGENTS; i++)
        if (fixture->released[i] && !when[k][i]) when[k][i] = (uint8_t)frame;
    }
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(when[k][i], when[0][i], "agent %u, %u shards", i, shards[k]);
  }
}

/* ------------------------------------------------------------------------------------------------- the run counter */

static double counter_after(uint64_t gap_ns, uint32_t runs) {
  agent_row row = {0};
  for (uint32_t i = 0; i < runs; i++) {
    row.first_due_ns = row.last_update_ns + gap_ns;
    row.runs = periods_run_counter(&row, 1.0f / (float)PERIOD_NS);
    row.last_update_ns = row.first_due_ns;
  }
  return (double)row.runs / RUNS_ONE;
}

Test(periods, the_run_counter_is_the_share_of_periods_in_which_an_agent_ran) {
  cr_assert_float_eq(counter_after(PERIOD_NS, 1), 1.0 / 16.0, 1e-3);
  cr_assert_float_eq(counter_after(PERIOD_NS, 1000), 1.0, 0.02);
  cr_assert_float_eq(counter_after(4ull * PERIOD_NS, 1000), 1.0 / 16.0 / (1.0 - pow(15.0 / 16.0, 4)), 0.01);
  cr_assert_float_eq(counter_after(1000ull * PERIOD_NS, 1000), 1.0 / 16.0, 1e-3);
}

Test(periods, the_run_counter_of_who_is_woken_all_the_time_never_falls) {
  double last = 0;
  for (uint32_t runs = 1; runs < 300; runs++) {
    double counter = counter_after(PERIOD_NS / 20, runs);
    cr_assert_geq(counter, last, "after %u runs", runs);
    last = counter;
  }
  cr_assert_gt(last, 1.0);
}

/* -------------------------------------------------------------------------------------------- cut short, and loaded */

enum { SLOW = 3000, SLOW_SOME = 25 };
static const uint64_t slow_ns = 8000000000u;

/* A frame of agents that run at once and wait again, with long periods, pauses of the host and little room. */
static uint32_t live_slowly(struct fixture *fixture, uint32_t frame) {
  ready_fixture *set = fixture->set;
  uint64_t elapsed_ns = 33000000 + (random_at(21, frame, 0, 0) % 40 ? 0 : random_at(21, frame, 1, 0) % 3000000000u);
  for (uint32_t i = 0; i < CLASSES; i++)
    classes_set_rate(fixture->of[i], frame / 100 % 2 ? ldexp(1.0, -(int)(random_at(21, frame / 30, i, 2) % 3)) : 1.0);
  begin_frame_at(set, set->now_ns + elapsed_ns);
  const release_frame passing = {set->now_ns, elapsed_ns, set->frame, SLOW_SOME};
  uint32_t due = periods_release(&fixture->periods, &fixture->classes, &set->store, &set->ready, &passing, NULL);
  for (uint32_t i = 0; i < set->agents; i++) {
    agent_row *row = &set->store.rows[i];
    const agent_class *class = &fixture->classes.classes[row->class];
    cr_assert(due >= SLOW_SOME || row->status != AGENT_WAITING || row->virtual_due_ns > class->clock_ns,
              "frame %u: agent %u is due, and not released", frame, i);
    if (row->status != AGENT_READY) continue;
    fixture->released[i] = (uint8_t)frame;
    ready_admit(&set->ready, &set->store, i);
    due_set_next(class, row);
    due_insert(&fixture->classes, class, &set->store, i);
  }
  ready_keep_fresh(&set->ready, &set->store);
  for (uint32_t k = 0; k < 20; k++) { /* woken agents have run, too, whether they were due or not */
    uint32_t i = (uint32_t)(random_at(21, frame, k, 4) % SLOW);
    const agent_class *class = &fixture->classes.classes[set->store.rows[i].class];
    due_set_next(class, &set->store.rows[i]);
    due_insert(&fixture->classes, class, &set->store, i);
  }
  return due;
}

/* Another fixture that goes on where one is: all that is known of waiting agents are their due times. */
static struct fixture *load_slowly(const struct fixture *from, uint32_t shards) {
  struct fixture *fixture = create_in(SLOW, slow_ns, shards);
  fixture->set->now_ns = from->set->now_ns;
  fixture->set->frame = from->set->frame;
  fixture->periods.next = from->periods.next;
  for (uint32_t i = 0; i < CLASSES; i++) {
    fixture->of[i]->clock_ns = from->of[i]->clock_ns;
    fixture->of[i]->clock_part = from->of[i]->clock_part;
    classes_set_rate(fixture->of[i], from->of[i]->rate);
  }
  for (uint32_t i = 0; i < SLOW; i++) schedule(fixture, i, from->set->store.rows[i].virtual_due_ns);
  return fixture;
}

Test(periods, a_release_that_is_cut_short_forgets_nobody_and_goes_on_the_same_once_it_is_loaded) {
  enum { FRAMES = 900 };
  SCOPED(destroy) struct fixture *fixture = create_in(SLOW, slow_ns, 4);
  SCOPED(destroy) struct fixture *loaded = NULL;
  uint32_t cut = 0;
  for (uint32_t i = 0; i < SLOW; i++) schedule(fixture, i, random_at(22, i, 0, 0) % (slow_ns));
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t due = live_slowly(fixture, frame);
    cut += due >= SLOW_SOME;
    if (loaded) {
      cr_assert_eq(live_slowly(loaded, frame), due, "frame %u", frame);
      cr_assert_arr_eq(loaded->released, fixture->released, SLOW, "frame %u", frame);
    }
    if (frame % 60 != 59) continue;
    if (loaded) destroy(&loaded);
    loaded = load_slowly(fixture, frame % 120 == 59 ? 1 : 64);
    memcpy(loaded->released, fixture->released, SLOW);
  }
  cr_assert(cut > FRAMES / 8 && cut < FRAMES, "%u frames of %u were cut short", cut, FRAMES);
}
