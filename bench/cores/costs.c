/* What it costs to call helpers, measured with teams that do nothing. */
#include "cores.h"

#include "rounds.h"
#include "work.h"

#include "base/clock.h"
#include "pool/pool.h"
#include "pool/team.h"

#include <math.h>

enum { CALLS = 1000, CALLS_SLEEPING = 100, WRITES = 20000, APART_NS = 1000000, PATIENCE_NS = 100000000 };

static const double hop_ns = 300, slow_wake_ns = 60000, slow_planning = 3;

/* One team of the caller and a helper. */
typedef struct probe {
  muster_pool *pool;
  struct pool_entry entered;
  struct worker_slot *slot;
  struct team team;
  const clock_source *clock;
  uint32_t caller;
  shared_u64 begun_ns; /* 0: the helper has not come */
  _Alignas(64) shared_u64 line;
} probe;

typedef struct probe_samples {
  double call_ns[CALLS], begin_ns[CALLS], barrier_ns[CALLS];
} probe_samples;

static void probe_come(void *argument, uint32_t worker) {
  probe *self = argument;
  if (worker != self->caller) store_release_u64(&self->begun_ns, clock_now(self->clock));
}

/* Calls a helper, waits until it has come, and closes the team. A helper that does not come leaves no sample. */
static void probe_call(probe *self, probe_samples *samples, uint32_t *count) {
  team_orders orders = {.work = probe_come, .argument = self, .patience_ns = UINT64_MAX};
  store_release_u64(&self->begun_ns, 0);
  uint64_t open_ns = clock_now(self->clock), begun_ns = 0;
  team_open(&self->team, self->slot, &orders, 1);
  uint64_t called_ns = clock_now(self->clock), close_ns = called_ns;
  while (!begun_ns && close_ns < called_ns + PATIENCE_NS) {
    begun_ns = load_acquire_u64(&self->begun_ns);
    close_ns = clock_now(self->clock);
  }
  team_close(&self->team, self->slot);
  team_wait(&self->team, self->slot);
  uint64_t end_ns = clock_now(self->clock);
  if (!begun_ns) return;
  samples->call_ns[*count] = (double)(called_ns - open_ns);
  samples->begin_ns[*count] = begun_ns > called_ns ? (double)(begun_ns - called_ns) : 0;
  samples->barrier_ns[(*count)++] = (double)(end_ns - close_ns);
}

/* Caller and helper write a line in turns. */
static void probe_write(void *argument, uint32_t worker) {
  probe *self = argument;
  uint64_t own = worker != self->caller, at;
  while ((at = load_acquire_u64(&self->line)) < WRITES)
    if (at % 2 == own) store_release_u64(&self->line, at + 1);
}

/* What a line takes from one processor to another: so long a worker that takes something keeps the others from it. */
static double probe_hop(probe *self) {
  team_orders orders = {.work = probe_write, .argument = self, .patience_ns = UINT64_MAX};
  store_release_u64(&self->line, 0);
  uint64_t begin_ns = clock_now(self->clock);
  team_run(&self->team, self->slot, &orders, 1);
  return (double)(clock_now(self->clock) - begin_ns) / WRITES;
}

static void probe_measure(probe *self, cores_costs *costs) {
  enum { ROUNDS = 5 };
  static probe_samples samples;
  uint32_t count = 0;
  for (uint32_t i = 0; i < CALLS_SLEEPING; i++) {
    work_sleep(APART_NS);
    probe_call(self, &samples, &count);
  }
  costs->call_sleeping_ns = rounds_median(samples.call_ns, count);
  costs->wake_ns = rounds_median(samples.begin_ns, count);
  count = 0;
  for (uint32_t i = 0; i < CALLS; i++) probe_call(self, &samples, &count);
  costs->call_ns = rounds_median(samples.call_ns, count);
  costs->begin_ns = rounds_median(samples.begin_ns, count);
  costs->barrier_ns = rounds_median(samples.barrier_ns, count);
  double hops[ROUNDS];
  for (uint32_t i = 0; i < ROUNDS; i++) hops[i] = probe_hop(self);
  costs->take_ns = rounds_median(hops, ROUNDS);
}

bool cores_measure_costs(cores_costs *costs) {
  muster_pool_def def = muster_pool_def_default();
  static probe self;
  *costs = (cores_costs){.planning = 1};
  def.workers = muster_available_processors();
  if (def.workers < 2) {
    *costs = cores_pessimistic(costs);
    costs->planning = 1;
    return true;
  }
  if (def.workers > CORES_WORKERS_MAX) def.workers = CORES_WORKERS_MAX;
  self = (probe){.pool = muster_pool_create(&def)};
  if (!self.pool) return false;
  self.slot = pool_enter(&self.entered, self.pool);
  self.caller = pool_index_of(self.slot);
  self.clock = pool_clock(self.pool);
  probe_measure(&self, costs);
  pool_leave(&self.entered);
  muster_pool_destroy(self.pool);
  return true;
}

cores_costs cores_pessimistic(const cores_costs *measured) {
  cores_costs costs = *measured;
  costs.call_ns = fmax(costs.call_ns, hop_ns);
  costs.begin_ns = fmax(costs.begin_ns, hop_ns);
  costs.call_sleeping_ns = fmax(costs.call_sleeping_ns, hop_ns);
  costs.wake_ns = fmax(costs.wake_ns, slow_wake_ns);
  costs.take_ns = fmax(costs.take_ns, hop_ns);
  costs.barrier_ns = fmax(costs.barrier_ns, hop_ns);
  costs.planning = slow_planning;
  return costs;
}
