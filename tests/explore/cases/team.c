/* Cases of pool/team.h: all the work is done, a called worker comes or need not, and none is inside after the wait. */
#include "cases.h"

#include "little_pool.h"
#include "pool/team.h"

enum { ITEMS = 3 };

struct state {
  struct muster_pool *pool;
  struct team *team; /* of the frame; null outside */
  uint32_t next;     /* item */
  uint32_t items;    /* so far; a team's work may add some */
  uint8_t done[8];   /* by item */
  uint32_t inside;   /* the team's work */
  bool may_come;     /* the team is open, or a worker that came is not known to have left */
  uint32_t helped;   /* times that another fibre than the caller worked */
  bool one_worker;   /* only one worker comes */
  bool closed;       /* then: team_close has returned... */
  bool left;         /* ...before that worker left */
  struct parking came;
};

static struct state *state;

static void prepare_two(void) {
  state = little_pool_state(sizeof *state, 2, 2);
}

static void prepare_three(void) {
  state = little_pool_state(sizeof *state, 3, 2);
}

/* The work of each fibre in a team: takes items until there are none. Item 0 adds one more and calls for help. */
static void work(void *argument, uint32_t worker) {
  (void)argument;
  EXPLORE_CHECK(state->may_come);
  state->inside++;
  EXPLORE_CHECK(!state->left);
  if (explore_fibre() != 0) state->helped++;
  for (;;) {
    explore_moment();
    if (state->next >= state->items) break;
    uint32_t item = state->next++;
    explore_moment();
    EXPLORE_CHECK(!state->done[item]);
    state->done[item] = 1;
    if (item == 0) {
      state->items++;
      team_call(state->team, &state->pool->slots[worker], 1);
    }
  }
  EXPLORE_CHECK(state->may_come);
  state->left = state->closed;
  state->inside--;
}

static void open_team(struct worker_slot *slot) {
  state->team = explore_new(sizeof *state->team);
  state->may_come = true;
  state->next = 0;
  state->items = ITEMS - 1;
  for (uint32_t i = 0; i < ITEMS; i++) state->done[i] = 0;
  team_open(state->team, slot, &(team_orders){.work = work, .argument = state}, TEAM_ALL);
}

static void close_team(struct worker_slot *slot) {
  team_close(state->team, slot);
  state->closed = state->one_worker;
  team_wait(state->team, slot);
  state->may_come = false;
  EXPLORE_CHECK(state->inside == 0);
  explore_delete(state->team);
}

/* `frames` teams, one after the other. */
static void run_frames(uint32_t fibre, uint32_t frames) {
  if (little_works(state->pool, fibre, 2)) return;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  for (uint32_t frame = 0; frame < frames; frame++) {
    open_team(slot);
    work(state, slot->index);
    close_team(slot);
    for (uint32_t i = 0; i < ITEMS; i++) EXPLORE_CHECK(state->done[i]);
  }
  pool_leave(&entered);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

static void run_frame(uint32_t fibre) {
  run_frames(fibre, 1);
}

static void run_two_frames(uint32_t fibre) {
  run_frames(fibre, 2);
}

/* The caller closes when its time is up, whatever is left: workers that came finish, the others do not start. */
static void run_deadline(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  open_team(slot);
  close_team(slot);
  uint32_t done = 0;
  for (uint32_t i = 0; i < ITEMS; i++) done += state->done[i];
  EXPLORE_CHECK(done == state->next && (done > 0) == (state->helped > 0));
  pool_leave(&entered);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* The caller does nothing itself until a worker has come. */
static void come(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  EXPLORE_CHECK(state->may_come);
  state->helped++;
  park_wake(&state->came);
}

static void run_comes(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  state->team = explore_new(sizeof *state->team);
  state->may_come = true;
  team_open(state->team, slot, &(team_orders){.work = come, .argument = state}, TEAM_ALL);
  for (uint32_t ticket; ticket = park_ticket(&state->came), !state->helped;) park_wait(&state->came, ticket);
  close_team(slot);
  pool_leave(&entered);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* The only worker is busy until the frame is over: the caller's wait must not be for it. */
static void be_busy(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  for (uint32_t ticket; ticket = park_ticket(&state->came), state->may_come;) park_wait(&state->came, ticket);
}

static void run_busy(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  state->may_come = true;
  EXPLORE_CHECK(!muster_job_submit(state->pool, 0, be_busy, state, NULL));
  explore_until_quiet();
  open_team(slot);
  work(state, slot->index);
  close_team(slot);
  park_wake(&state->came);
  pool_leave(&entered);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0 && state->helped == 0);
}

/* A call that comes when the team closes: the only worker does not come again after it has left a closed team. */
static void begin_late_call(void) {
  state->one_worker = true;
}

/* Two worlds, each with a team of its own, share one worker. */
static void work_for_one(void *argument, uint32_t worker) {
  uint32_t *inside = argument;
  (void)worker;
  ++*inside;
  explore_moment();
  --*inside;
}

static void run_two_callers(uint32_t fibre) {
  if (fibre == 2) {
    little_worker(state->pool, 1, 2);
    return;
  }
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  struct team *team = explore_new(sizeof *team);
  uint32_t *inside = explore_new(sizeof *inside);
  team_run(team, slot, &(team_orders){.work = work_for_one, .argument = inside}, TEAM_ALL);
  EXPLORE_CHECK(*inside == 0);
  explore_delete(inside);
  explore_delete(team);
  pool_leave(&entered);
  if (fibre == 0) EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

const explore_case team_cases[] = {
    {"team/frame", 3, prepare_three, NULL, run_frame, little_pool_state_check, 0},
    {"team/two_frames", 2, prepare_two, NULL, run_two_frames, little_pool_state_check, 0},
    {"team/deadline", 3, prepare_three, NULL, run_deadline, little_pool_state_check, 0},
    {"team/comes", 3, prepare_three, NULL, run_comes, little_pool_state_check, 0},
    {"team/busy", 2, prepare_two, NULL, run_busy, little_pool_state_check, 0},
    {"team/late_call", 2, prepare_three, begin_late_call, run_deadline, little_pool_state_check, 0},
    {"team/two_callers", 3, prepare_two, NULL, run_two_callers, little_pool_state_check, 0},
    {0},
};
