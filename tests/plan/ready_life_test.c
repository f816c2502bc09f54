/* Ready agents through many frames against plain lists: woken agents lead, first in, first out; waiting agents stand in
 * the queue by release. */
#include "ready_set.h"

enum { AGENTS = 300, FRAMES = 4000 };

/* A queue as a plain array. */
typedef struct plain_fifo {
  uint32_t agents[AGENTS], count;
} plain_fifo;

static void plain_leave(plain_fifo *line, uint32_t agent) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < line->count; i++)
    if (line->agents[i] != agent) line->agents[kept++] = line->agents[i];
  line->count = kept;
}

struct life {
  ready_fixture *fixture;
  plain_fifo woken;
  uint32_t longest_woken, longest_waiting; /* the queues' tails at their highest */
  uint32_t woken_runs, preempted, removed;
};

static agent_row *row_of(const struct life *life, uint32_t agent) {
  return &life->fixture->store.rows[agent];
}

static uint64_t chance(const struct life *life, uint32_t agent, uint32_t what) {
  return random_at(11, life->fixture->frame, agent, what);
}

/* As the intake does it. */
static void wake(struct life *life, uint32_t agent) {
  ready_fixture *fixture = life->fixture;
  agent_row *row = row_of(life, agent);
  if (row->woken) return;
  life->woken.agents[life->woken.count++] = agent;
  if (row->status == AGENT_READY) {
    ready_wake(&fixture->ready, &fixture->store, agent);
    return;
  }
  row->woken = 1;
  ready_release(&fixture->ready, &fixture->store, agent, fixture->now_ns, fixture->frame + 1);
  ready_queue(&fixture->ready, &fixture->store, agent);
}

static void take_away(struct life *life, uint32_t agent) {
  ready_fixture *fixture = life->fixture;
  agent_row *row = row_of(life, agent);
  uint32_t generation = row->generation;
  if (row->status != AGENT_READY) return;
  plain_leave(&life->woken, agent);
  ready_admit(&fixture->ready, &fixture->store, agent);
  ready_forget(&fixture->ready, &fixture->store, agent);
  *row = (agent_row){.generation = generation + 1, .last_update_ns = fixture->now_ns};
  life->removed++;
}

static void check_lines(struct life *life) {
  const ready_set *ready = &life->fixture->ready;
  uint32_t place = ready->woken.head, ready_count = 0, begun = 0, queued = 0, index;
  for (uint32_t i = 0; i < life->woken.count; i++) cr_assert_eq(ready_next_woken(ready, &place), life->woken.agents[i]);
  cr_assert_eq(ready_next_woken(ready, &place), UINT32_MAX);
  for (uint32_t i = 0; i < AGENTS; i++) {
    ready_count += row_of(life, i)->status == AGENT_READY;
    begun += row_of(life, i)->status == AGENT_READY && row_of(life, i)->atom_next > 0;
    queued += row_of(life, i)->queued;
  }
  cr_assert(ready->count == ready_count && ready->begun == begun && ready->woken.standing == life->woken.count);
  uint64_t last_ns = 0;
  for (place = ready->waiting.head; (index = ready_next_waiting(ready, &place)) != UINT32_MAX;) {
    cr_assert_geq(row_of(life, index)->first_due_ns, last_ns, "%u stands behind who was released later", index);
    last_ns = row_of(life, index)->first_due_ns;
    queued--;
  }
  cr_assert_eq(queued, 0);
  if (ready->woken.tail > life->longest_woken) life->longest_woken = ready->woken.tail;
  if (ready->waiting.tail > life->longest_waiting) life->longest_waiting = ready->waiting.tail;
}

/* Everything that comes between two frames: agents are woken and removed, and others become due. */
static void begin_frame(struct life *life, uint64_t elapsed_ns) {
  ready_fixture *fixture = life->fixture;
  fixture->now_ns += elapsed_ns;
  for (uint32_t i = 0; i < AGENTS; i++) {
    if (chance(life, i, 1) % 40 == 0) wake(life, i);
    if (chance(life, i, 2) % 200 == 0) take_away(life, i);
  }
  begin_frame_at(fixture, fixture->now_ns);
  for (uint32_t i = 0; i < AGENTS; i++) {
    agent_row *row = row_of(life, i);
    bool came_now = row->last_update_ns == fixture->now_ns; /* in the place of one that was removed */
    if (row->status != AGENT_FREE || came_now || chance(life, i, 3) % 8) continue;
    row->importance = (uint16_t)chance(life, i, 4);
    ready_release(&fixture->ready, &fixture->store, i, fixture->now_ns, fixture->frame);
  }
}

/* What became of an admitted agent: complete, preempted, or it did not run. */
static void settle(struct life *life, uint32_t agent) {
  ready_fixture *fixture = life->fixture;
  agent_row *row = row_of(life, agent);
  uint64_t fate = chance(life, agent, 5) % 8;
  if (fate > 1) {
    row->status = AGENT_FREE;
    row->woken = 0;
    row->atom_next = 0;
    row->filed = 0;
    row->last_update_ns = fixture->now_ns;
    ready_forget(&fixture->ready, &fixture->store, agent);
    return;
  }
  if (fate == 1) row->atom_next = (row->atom_next % 2u + 1u) & 3u;
  life->preempted += fate == 1;
  if (row->woken) life->woken.agents[life->woken.count++] = agent;
  ready_put_back(&fixture->ready, &fixture->store, agent);
}

static void run_frame(struct life *life, uint32_t most) {
  ready_fixture *fixture = life->fixture;
  uint32_t admitted[AGENTS], count = 0, place = fixture->ready.woken.head, index;
  check_lines(life);
  while (count < most && (index = ready_next_woken(&fixture->ready, &place)) != UINT32_MAX) {
    ready_admit(&fixture->ready, &fixture->store, index);
    plain_leave(&life->woken, index);
    admitted[count++] = index;
    life->woken_runs++;
  }
  ready_begin_walk(&fixture->ready, NULL);
  while (count < most && (index = walk_on(fixture)) != UINT32_MAX) {
    cr_assert(row_of(life, index)->status == AGENT_READY && !row_of(life, index)->woken);
    ready_admit(&fixture->ready, &fixture->store, index);
    admitted[count++] = index;
  }
  ready_end_walk(&fixture->ready, &fixture->store);
  ready_keep_fresh(&fixture->ready, &fixture->store);
  for (uint32_t i = 0; i < count; i++) settle(life, admitted[i]);
}

static void live(muster_order order, uint32_t most) {
  SCOPED(free_fixture)
  ready_fixture *fixture = ready_fixture_create(WITH(papers_world_rules, it.order = order), AGENTS);
  struct life life = {.fixture = fixture};
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint64_t elapsed_ns = 1000000 + chance(&life, 0, 6) % 20000000;
    if (frame % 500 == 499) elapsed_ns = 30000000000u;
    begin_frame(&life, elapsed_ns);
    run_frame(&life, frame / 100 % 4 == 3 ? AGENTS : most); /* now and then every agent catches up */
  }
  cr_assert(life.woken_runs > FRAMES / 2 && life.preempted > FRAMES / 2 && life.removed > FRAMES / 2);
  cr_assert_leq(life.longest_woken, 2 * AGENTS + FIFO_SLACK + 1);
  cr_assert_leq(life.longest_waiting, 2 * AGENTS + FIFO_SLACK + 1);
}

Test(ready_life, woken_and_waiting_agents_keep_their_order_through_thousands_of_frames) {
  live(MUSTER_ORDER_PRIORITY, 20);
  live(MUSTER_ORDER_PRIORITY, 4);
  live(MUSTER_ORDER_DELAYS, 20);
}

/* ------------------------------------------------------------------------------------------------- the woken queue */

static uint32_t run_first_woken(ready_fixture *fixture) {
  uint32_t place = fixture->ready.woken.head;
  uint32_t index = ready_next_woken(&fixture->ready, &place);
  cr_assert_neq(index, UINT32_MAX);
  ready_admit(&fixture->ready, &fixture->store, index);
  return index;
}

static void complete(ready_fixture *fixture, uint32_t agent) {
  agent_row *row = &fixture->store.rows[agent];
  row->status = AGENT_FREE;
  row->woken = 0;
  row->last_update_ns = fixture->now_ns;
  ready_forget(&fixture->ready, &fixture->store, agent);
}

/* Two are woken in every frame and one can run. */
Test(ready_life, who_was_woken_before_runs_before_who_ran_and_was_woken_again) {
  SCOPED(free_fixture) ready_fixture *fixture = ready_fixture_create(papers_world_def(), 2);
  uint32_t runs[2] = {0}, longest = 0;
  for (uint32_t frame = 0; frame < 5000; frame++) {
    fixture->now_ns += SET_FRAME_NS;
    for (uint32_t i = 0; i < 2; i++) {
      if (fixture->store.rows[i].status == AGENT_READY) continue;
      release_row(fixture, i, CHANGED(fixture->store.rows[i], it.woken = 1));
      ready_queue(&fixture->ready, &fixture->store, i);
    }
    begin_frame_at(fixture, fixture->now_ns);
    uint32_t agent = run_first_woken(fixture);
    complete(fixture, agent);
    runs[agent]++;
    if (fixture->ready.woken.tail > longest) longest = fixture->ready.woken.tail;
  }
  cr_assert_eq(runs[0], runs[1], "%u ran %u times, %u %u times", 0, runs[0], 1, runs[1]);
  cr_assert_leq(longest, 2 * 2 + FIFO_SLACK + 1);
}
