#include "pool/crew.h"

#include "pool/worker.h"

void crew_wake(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers && worker_rouse(pool, NULL); i++) continue;
}

static void join(void *argument, uint32_t worker) {
  const struct crew *crew = argument;
  crew->orders.work(crew->orders.argument, worker);
}

static void take_out_entries(struct crew *crew, struct seat *seat) {
  uint64_t jobs = 0;
  uint32_t entries = worker_take_out_all(seat->pool, &crew->group, &jobs);
  if (entries) worker_complete(seat->pool, seat, &crew->group, entries);
}

static uint32_t most_of(const struct crew *crew, const struct muster_pool *pool) {
  uint32_t most = crew->orders.workers;
  return most && most < pool->workers ? most : pool->workers;
}

void crew_call(struct crew *crew, struct seat *seat) {
  struct muster_pool *pool = seat->pool;
  if (group_count(&crew->group) + 1 >= most_of(crew, pool) || !load_ordered_u32(&crew->open)) return;
  group_add(&crew->group, 1, MUSTER_PRIORITY_FRAME);
  /* The lane is full: the members that are inside do the work. */
  if (!worker_push(pool, seat, MUSTER_PRIORITY_FRAME, &(struct job){join, crew, &crew->group}))
    worker_complete(pool, seat, &crew->group, 1);
  else if (!load_ordered_u32(&crew->open))
    take_out_entries(crew, seat); /* closed meanwhile: its caller may have looked too early */
}

void crew_open(struct crew *crew, struct seat *seat, const crew_orders *orders, uint32_t helpers) {
  group_prepare(&crew->group, seat->pool, 0);
  crew->orders = *orders;
  store_ordered_u32(&crew->open, 1);
  for (uint32_t i = 1; i < seat->pool->workers && i <= helpers; i++) crew_call(crew, seat);
}

void crew_close(struct crew *crew, struct seat *seat) {
  store_ordered_u32(&crew->open, 0);
  if (!group_is_complete(&crew->group)) take_out_entries(crew, seat);
}

void crew_wait(struct crew *crew, struct seat *seat) {
  worker_wait(seat, &crew->group,
              &(wait_orders){.asleep = true,
                             .patience_ns = crew->orders.patience_ns,
                             .before_sleep = crew->orders.before_sleep,
                             .argument = crew->orders.argument});
}

void crew_run(struct crew *crew, struct seat *seat, const crew_orders *orders, uint32_t helpers) {
  crew_open(crew, seat, orders, helpers);
  orders->work(orders->argument, seat->index);
  crew_close(crew, seat);
  crew_wait(crew, seat);
}
