/* The cost of the testbed's atoms, and of scheduling them: the only figures of this reproduction that are measured on
 * the wall clock. */
#include "base/clock.h"
#include "host.h"
#include "wright.h"

#include <math.h>
#include <string.h>

enum { COST_ROUNDS = 4, COST_WARM_UP = 120, COST_FRAMES = 120, INTERRUPTED_NS = 50000 };
enum { CYCLE = 24, CYCLES = 60, CYCLES_WARM_UP = 4, SEED = 1, ATTEMPTS = 4 };

static const uint64_t ample_ns = 10000000000;

/* ------------------------------------------------------------------------------------------------------------ atoms */

typedef struct costs {
  struct host host;
  clock_source clock;
  pursuit_meter meter;
  uint64_t now_ns;
  uint64_t begin_ns; /* of the atom that runs */
  uint64_t spent_ns[PURSUIT_ATOMS], calls[PURSUIT_ATOMS];
} costs;

/* No atom takes as long as an interruption does. */
static void note_cost(uint32_t atom, bool ended, void *user) {
  costs *it = user;
  uint64_t now_ns = clock_now(&it->clock), took_ns = now_ns - it->begin_ns;
  it->begin_ns = now_ns;
  if (!ended || took_ns > INTERRUPTED_NS) return;
  it->spent_ns[atom] += took_ns;
  it->calls[atom]++;
}

static bool choose_metered(void *user, muster_world *world) {
  costs *it = user;
  (void)world;
  pursuit_choose(it->host.instance, &(pursuit_version){.meter = &it->meter});
  return true;
}

static bool run_world(costs *it, uint32_t frames) {
  muster_frame_report report;
  for (uint32_t i = 0; i < frames; i++) {
    it->now_ns += PURSUIT_UPDATE_NS;
    if (!host_run_frame(&it->host, it->now_ns, ample_ns, &report)) return false;
  }
  return true;
}

/* The rounds see different moments of the same world; what disturbs one of them does not disturb the least of all. */
static bool measure_rounds(costs *it, double costs_ns[PURSUIT_ATOMS]) {
  if (!run_world(it, COST_WARM_UP)) return false;
  for (uint32_t round = 0; round < COST_ROUNDS; round++) {
    for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) it->spent_ns[atom] = it->calls[atom] = 0;
    if (!run_world(it, COST_FRAMES)) return false;
    for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) {
      double each_ns = (double)it->spent_ns[atom] / (double)it->calls[atom] - (double)it->clock.read_ns;
      costs_ns[atom] = fmin(costs_ns[atom], fmax(each_ns, 1));
    }
  }
  return true;
}

bool wright_measure_costs(double costs_ns[PURSUIT_ATOMS]) {
  costs it = {.clock = clock_calibrate()};
  host_setup setup = host_default_setup(muster_module_pursuit());
  setup.world = repro_world_def();
  setup.prepare = choose_metered;
  setup.prepare_user = &it;
  it.meter = (pursuit_meter){note_cost, &it};
  setup.options.agents = WRIGHT_SERVED;
  for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) costs_ns[atom] = INFINITY;
  bool measured = host_open(&it.host, &setup) && measure_rounds(&it, costs_ns);
  host_close(&it.host);
  return measured;
}

/* --------------------------------------------------------------------------------------------------------- overhead */

/* Two testbeds of the same agents, with short atoms, because longer work would hide the overhead: two hundredths of it.
 * The overhead of an update does not depend on how long its atoms think. For each testbed the fastest time of each
 * frame of the cycle after which the due sets repeat. */
typedef struct pair {
  clock_source clock;
  pursuit_loop *plain, *managed;
  muster_pool *pool;
  muster_world *world;
  uint64_t now_ns;
  uint64_t least_ns[2][CYCLE]; /* plain, managed */
} pair;

static bool open_pair(pair *it, const wright_version *version) {
  muster_pool_def pool = muster_pool_def_default();
  muster_world_def world = repro_world_def();
  pursuit_version managed = {.elastic = version->elastic};
  *it = (pair){.clock = clock_calibrate(),
               .plain = pursuit_loop_open(WRIGHT_SERVED, SEED, true),
               .managed = pursuit_loop_open(WRIGHT_SERVED, SEED, true)};
  pool.workers = 1;
  it->pool = muster_pool_create(&pool);
  world.pool = it->pool;
  world.limits.agents_max = WRIGHT_SERVED;
  world.activation_delay = version->delay;
  if (!it->plain || !it->managed || !it->pool) return false;
  it->world = muster_world_create(&world);
  if (!it->world || pursuit_loop_populate(it->managed, &managed, it->world) != MUSTER_OK) return false;
  return muster_frame_run(it->world, &(muster_frame){0, ample_ns}) == MUSTER_OK; /* its intake: no agent runs yet */
}

static void close_pair(pair *it) {
  muster_world_destroy(it->world);
  muster_pool_destroy(it->pool);
  pursuit_loop_close(it->plain);
  pursuit_loop_close(it->managed);
}

static void note_least(uint64_t *least_ns, uint64_t took_ns) {
  if (took_ns < *least_ns) *least_ns = took_ns;
}

static bool time_frame(pair *it, uint32_t frame) {
  it->now_ns += PURSUIT_UPDATE_NS;
  uint64_t begin_ns = clock_now(&it->clock);
  pursuit_loop_run(it->plain);
  uint64_t middle_ns = clock_now(&it->clock);
  pursuit_loop_begin(it->managed);
  muster_result result = muster_frame_run(it->world, &(muster_frame){it->now_ns, ample_ns});
  uint64_t end_ns = clock_now(&it->clock);
  note_least(&it->least_ns[0][frame], middle_ns - begin_ns);
  note_least(&it->least_ns[1][frame], end_ns - middle_ns);
  return result == MUSTER_OK;
}

static bool time_cycles(pair *it, uint32_t cycles) {
  memset(it->least_ns, 0xff, sizeof it->least_ns);
  for (uint32_t i = 0; i < cycles * CYCLE; i++)
    if (!time_frame(it, i % CYCLE)) return false;
  return true;
}

static bool measure_pair(pair *it, double *each_ns) {
  double extra_ns = 0;
  if (!time_cycles(it, CYCLES_WARM_UP) || !time_cycles(it, CYCLES)) return false;
  for (uint32_t frame = 0; frame < CYCLE; frame++)
    extra_ns += (double)it->least_ns[1][frame] - (double)it->least_ns[0][frame];
  *each_ns = extra_ns / (CYCLE * WRIGHT_SERVED);
  return true;
}

/* With delays of their own, agents avoid at other times than in the loop, but as often; without, they come to the same
 * world, unless the machine stood still for so long that an agent used up its share. */
bool wright_measure_overhead(const wright_version *version, double *each_ns) {
  bool measured = true, same = false;
  for (uint32_t i = 0; measured && !same && i < ATTEMPTS; i++) {
    pair it;
    measured = open_pair(&it, version) && measure_pair(&it, each_ns);
    same = measured && (version->delay > 0 || pursuit_loop_hash(it.plain) == pursuit_loop_hash(it.managed));
    close_pair(&it);
  }
  if (measured && !same) muster_module_fail(MUSTER_E_STATE, "the plain loop and Muster came to different worlds");
  return measured && same;
}
