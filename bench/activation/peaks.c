/* The load of frames, in virtual time. */
#include "activation.h"

#include "base/clock.h"
#include "plan/activation.h"

#include "scenarios/scaffold.h"

#include <muster/sets.h>

#include <math.h>

enum { FRAMES = 600, WARM_UP = 200, KINDS = 3, UPDATE_NS = 5000, RING_AGENTS = 5000, CYCLE_MAX = 1 << 12 };

static const double frame_ns = 1e9 / 30;

const activation_case activation_cases[ACTIVATION_CASES + 1] = {
    {"composite", {4, 6, 8}, 5000, 10, .most = 1.05},
    {"harmonic", {2, 4, 8}, 5000, 10, .most = 1.05},
    {"primes", {3, 5, 7}, 5000, 10, .most = 1.15},
    {"primes-long", {5, 7, 11}, 5000, 10, .most = 1.15},
    {"composite-10k", {4, 6, 8}, 10000, 10, .most = 1.05},
    {"composite-67", {4, 6, 8}, 67, .share = 10},
    {"sets", {4, 6, 8}, 500, 10, .most = 1.4, .sets = true},
    {"sets-primes", {3, 5, 7}, 500, 10, .most = 1.4, .sets = true},
    {"under-pressure", {4, 6, 8}, 5000, 0.6, .most = 1.05},
};

const activation_ring activation_rings[ACTIVATION_RINGS + 1] = {
    {"composite", {4, 6, 8}, .most = 1.05},
    {"harmonic", {2, 4, 8}, .most = 1.05},
    {"primes", {3, 5, 7}, .most = 1.15},
    {"primes-long", {5, 7, 11}, .most = 1.15},
};

static muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

/* One type that has everything in sets. */
static muster_type register_sets(muster_world *world, const activation_case *row) {
  static const muster_atom atoms[KINDS] = {{nothing, MUSTER_ROLE_BEHAVIOUR, UPDATE_NS},
                                           {nothing, MUSTER_ROLE_BEHAVIOUR, UPDATE_NS},
                                           {nothing, MUSTER_ROLE_BEHAVIOUR, UPDATE_NS}};
  muster_set_def sets[KINDS + 1];
  muster_type_def def = scaffold_type(NULL, NULL, 0, 0, (uint64_t)frame_ns, (uint64_t)frame_ns);
  for (uint32_t i = 0; i <= KINDS; i++) {
    sets[i] = muster_set_def_default();
    sets[i].role = i < KINDS ? MUSTER_ROLE_BEHAVIOUR : MUSTER_ROLE_PERCEPTION;
    sets[i].atoms = atoms;
    sets[i].atom_count = i < KINDS ? KINDS : 1;
    sets[i].period_updates = i < KINDS ? row->periods[i] : 1;
  }
  def.sets.list = sets;
  def.sets.count = KINDS + 1;
  return muster_type_register(world, &def);
}

static muster_type register_kind(muster_world *world, const activation_case *row, uint32_t kind) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, UPDATE_NS};
  uint64_t period_ns = (uint64_t)(row->periods[kind] * frame_ns);
  if (row->sets) return register_sets(world, row);
  muster_type_def def = scaffold_type(NULL, &atom, 1, 0, period_ns, 12 * period_ns);
  return muster_type_register(world, &def);
}

static bool populate(muster_world *world, const activation_case *row) {
  muster_type types[KINDS];
  for (uint32_t i = 0; i < KINDS; i++)
    if (!(types[i] = register_kind(world, row, i)).index) return false;
  for (uint32_t i = 0; i < row->agents; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = types[row->sets ? 0 : i % KINDS];
    def.elasticity = row->share < 1 ? 1.0f : 0.0f;
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  }
  return true;
}

/* What all agents want in a frame, in atoms. */
static double wanted(const activation_case *row) {
  double sum = 0;
  for (uint32_t i = 0; i < row->agents; i++) sum += 1.0 / row->periods[i % KINDS];
  return row->sets ? sum * KINDS * KINDS + row->agents : sum;
}

static activation_load load_of(const double *frames, uint32_t count) {
  double sum = 0, squares = 0, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += frames[i];
    squares += frames[i] * frames[i];
    most = fmax(most, frames[i]);
  }
  double mean = sum / count;
  return (activation_load){.peak = most / mean, .variation = sqrt(fmax(squares / count - mean * mean, 0)) / mean};
}

static bool run_frames(muster_world *world, const activation_case *row, activation_load *load) {
  double loads[FRAMES], carried = 0;
  uint64_t budget_ns = (uint64_t)(row->share * wanted(row) * UPDATE_NS);
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < FRAMES; i++) {
    if (muster_frame_run(world, &(muster_frame){(uint64_t)((i + 1) * frame_ns), budget_ns})) return false;
    muster_frame_report_read(world, &report);
    loads[i] = row->sets ? (double)report.update_cpu_ns : (double)report.released;
    if (i >= WARM_UP) carried += report.carried;
  }
  *load = load_of(loads + WARM_UP, FRAMES - WARM_UP);
  load->carried = carried / (FRAMES - WARM_UP);
  return true;
}

static const char *run_world(uint64_t seed, const activation_case *row, uint32_t delay, activation_load *load) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = row->agents;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.seed = seed;
  def.activation_delay = delay;
  muster_world *world = muster_world_create(&def);
  bool ran = world && populate(world, row) && run_frames(world, row, load);
  muster_world_destroy(world);
  return ran ? NULL : muster_last_error();
}

const char *activation_bench_case(uint64_t seed, activation_case *row) {
  const char *wrong = run_world(seed, row, 0, &row->plain);
  if (!wrong) wrong = run_world(seed, row, ACTIVATION_DELAY, &row->planned);
  row->within = row->most == 0 || row->planned.peak <= row->most;
  return wrong;
}

/* ------------------------------------------------------------------------------------------------------------ rings */

struct ring {
  uint32_t periods[RING_AGENTS], delays[RING_AGENTS];
  float costs[RING_AGENTS];
};

static double peak_of(const struct ring *ring, uint32_t cycle) {
  double load[CYCLE_MAX] = {0};
  for (uint32_t i = 0; i < RING_AGENTS; i++)
    for (uint32_t t = ring->delays[i] % ring->periods[i]; t < cycle; t += ring->periods[i])
      load[t] += (double)ring->costs[i];
  return load_of(load, cycle).peak;
}

/* Costs vary from one to five. */
const char *activation_bench_ring(activation_ring *row) {
  static struct ring ring;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < RING_AGENTS; i++) {
    ring.periods[i] = row->periods[i % KINDS];
    ring.costs[i] = 1.0f + (float)(i * 7919u % 1000u) / 250.0f;
    ring.delays[i] = 0;
    if (ring.periods[i] > longest) longest = ring.periods[i];
  }
  row->cycle = activation_cycle(ring.periods, RING_AGENTS, CYCLE_MAX);
  row->together_peak = peak_of(&ring, row->cycle);
  if (!activation_plan_offline(ring.periods, ring.costs, RING_AGENTS, ACTIVATION_DELAY, row->cycle, ring.delays))
    return "out of memory";
  row->short_peak = peak_of(&ring, row->cycle);
  uint64_t begin_ns = clock_thread_cpu();
  if (!activation_plan_offline(ring.periods, ring.costs, RING_AGENTS, longest - 1, row->cycle, ring.delays))
    return "out of memory";
  row->whole_ns = (double)(clock_thread_cpu() - begin_ns) / RING_AGENTS;
  row->whole_peak = peak_of(&ring, row->cycle);
  row->within = row->whole_peak <= row->most;
  return NULL;
}
