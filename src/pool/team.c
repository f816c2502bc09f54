#include "pool/team.h"

#include "pool/threads.h"
#include "pool/worker.h"

void team_wake(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers && worker_wake_one(pool, NULL); i++) continue;
}

static void join(void *argument, uint32_t worker) {
  const struct team *team = argument;
  team->orders.work(team->orders.argument, worker);
}

static uint32_t most_of(const struct team *team, const struct muster_pool *pool) {
  uint32_t most = team->orders.workers, workers = threads_count(pool);
  return most && most < workers ? most : workers;
}

/* Calls a worker and wakes none; false when no more may come. */
static bool call_quietly(struct team *team, struct worker_slot *slot) {
  struct muster_pool *pool = slot->pool;
  if (group_count(&team->group) + 1 >= most_of(team, pool) || !load_ordered_u32(&team->open)) return false;
  group_add(&team->group, 1, MUSTER_URGENCY_FRAME);
  if (worker_push_quietly(pool, MUSTER_URGENCY_FRAME, &(struct job){join, team, &team->group})) return true;
  worker_complete(pool, slot, &team->group, 1); /* the lane is full: the members that are inside do the work */
  return false;
}

void team_call(struct team *team, struct worker_slot *slot, uint32_t count) {
  struct muster_pool *pool = slot->pool;
  uint32_t called = 0;
  while (called < count && call_quietly(team, slot)) called++;
  if (called > 0) worker_wake(pool, slot, &team->group);
  for (uint32_t i = 1; i < called && i < WORKER_WAKES; i++) worker_wake_one(pool, slot);
  if (called > 0 && !load_ordered_u32(&team->open))
    worker_take_out_all(pool, slot, &team->group); /* closed meanwhile: its caller may have looked too early */
}

void team_open(struct team *team, struct worker_slot *slot, const team_orders *orders, uint32_t helpers) {
  group_prepare(&team->group, slot->pool);
  team->orders = *orders;
  store_ordered_u32(&team->open, 1);
  team_call(team, slot, helpers);
}

void team_close(struct team *team, struct worker_slot *slot) {
  store_ordered_u32(&team->open, 0);
  if (!group_is_complete(&team->group)) worker_take_out_all(slot->pool, slot, &team->group);
}

void team_wait(struct team *team, struct worker_slot *slot) {
  worker_wait(slot, &team->group,
              &(wait_orders){.asleep = true,
                             .patience_ns = team->orders.patience_ns,
                             .before_sleep = team->orders.before_sleep,
                             .argument = team->orders.argument});
}

void team_run(struct team *team, struct worker_slot *slot, const team_orders *orders, uint32_t helpers) {
  team_open(team, slot, orders, helpers);
  orders->work(orders->argument, slot->index);
  team_close(team, slot);
  team_wait(team, slot);
}
