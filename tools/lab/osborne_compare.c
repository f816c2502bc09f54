/* With level of detail and without: the three take turns in one run. Each is timed by the CPU that its one thread used,
 * so that other work of the machine does not count. */
#include "osborne.h"

#include "base/clock.h"
#include "rounds.h"

#include <muster/herd.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3 /* cycles of the loops; a world has settled by itself */ };

/* Where a herd is, and whether it is folded. */
typedef struct osborne_place {
  double x, y;
  bool folded;
} osborne_place;

typedef struct comparison {
  const osborne_plan *plan;
  osborne_world world;
  osborne_loop *loops[OSBORNE_WAYS]; /* none for the first */
  osborne_place *before;             /* of all herds */
  osborne_comparison *out;
} comparison;

static bool open_all(comparison *it) {
  osborne_def def = {.herds = it->plan->herds, .side_m = it->plan->side_m, .seed = 1};
  it->loops[OSBORNE_WITHOUT_SIMD] = osborne_loop_open(&def, true);
  it->loops[OSBORNE_WITHOUT_SCALAR] = osborne_loop_open(&def, false);
  it->before = calloc(def.herds, sizeof *it->before);
  if (!it->before || !it->loops[OSBORNE_WITHOUT_SIMD] || !it->loops[OSBORNE_WITHOUT_SCALAR]) {
    muster_module_fail(MUSTER_E_MEMORY, "out of memory");
    return false;
  }
  for (int i = 0; i < WARM_UP; i++)
    for (int way = OSBORNE_WITHOUT_SIMD; way < OSBORNE_WAYS; way++) osborne_loop_run(it->loops[way]);
  return osborne_open(&it->world, &def, 1);
}

static void close_all(comparison *it) {
  for (int way = 0; way < OSBORNE_WAYS; way++) osborne_loop_close(it->loops[way]);
  osborne_close(&it->world);
  free(it->before);
}

static bool look(comparison *it) {
  const muster_frame_report *report = &it->world.report;
  osborne_comparison *out = it->out;
  if (!osborne_look(&it->world)) return false;
  if (report->leaves < out->leaves_least) out->leaves_least = report->leaves;
  if (report->leaves > out->leaves_most) out->leaves_most = report->leaves;
  if (report->represented != (uint64_t)it->plan->herds * OSBORNE_MEMBERS) out->complete = false;
  return true;
}

/* Looking between cycles is not timed. */
static bool run_round(comparison *it, uint32_t first, uint32_t cycles) {
  bool done = true;
  for (int way = 0; way < OSBORNE_WAYS; way++)
    for (uint32_t i = first; i < first + cycles && done; i++) {
      uint64_t begin_ns = clock_thread_cpu();
      if (way == OSBORNE_WITH)
        done = osborne_cycle(&it->world);
      else
        osborne_loop_run(it->loops[way]);
      it->out->series_ms[way][i] = (double)(clock_thread_cpu() - begin_ns) * 1e-6;
      done = done && (way != OSBORNE_WITH || look(it));
    }
  return done;
}

static double median_of(const double *series_ms, uint32_t count) {
  double sorted_ms[OSBORNE_CYCLES_MAX];
  memcpy(sorted_ms, series_ms, count * sizeof *series_ms);
  return rounds_median(sorted_ms, count);
}

static void sum_up(osborne_comparison *out, uint32_t each) {
  for (int way = 0; way < OSBORNE_WAYS; way++) {
    double rounds_ms[OSBORNE_ROUNDS], sum_ms = 0;
    for (uint32_t round = 0; round < OSBORNE_ROUNDS; round++)
      rounds_ms[round] = median_of(&out->series_ms[way][round * each], each);
    for (uint32_t i = 0; i < out->cycles; i++) sum_ms += out->series_ms[way][i];
    out->ms[way] = rounds_median(rounds_ms, OSBORNE_ROUNDS);
    out->mean_ms[way] = sum_ms / out->cycles;
  }
}

/* ------------------------------------------------------------------------------------ what is simulated, how finely */

/* A leaf and the player walk on between a look and what it leads to; and siblings wait for each other. */
static const double slack_m = 60, visible_m = 25;

/* How far a leaf of a depth may be from the player before it is folded: its zone and the hysteresis. */
static double reach_of(uint32_t depth) {
  muster_herd_type_def def = muster_herd_type_def_default();
  return (OSBORNE_DEPTH - depth + 1) * (double)OSBORNE_ZONES_M * (1 + (double)def.hysteresis);
}

static bool inspect_leaves(const osborne_world *it, muster_herd herd, osborne_inspection *out) {
  muster_agent agents[OSBORNE_MEMBERS];
  uint32_t nodes[OSBORNE_MEMBERS];
  muster_agent_info info = muster_agent_info_default();
  uint32_t count = muster_herd_leaves(it->world, herd, agents, nodes, OSBORNE_MEMBERS);
  for (uint32_t i = 0; i < count; i++) {
    if (muster_agent_read(it->world, agents[i], &info) != MUSTER_OK) return false;
    double distance_m = hypot(info.position.x - it->place.x, info.position.y - it->place.y);
    uint32_t depth = osborne_depth(nodes[i]);
    out->leaves++;
    out->too_coarse += distance_m < visible_m && depth < OSBORNE_DEPTH;
    out->too_fine += distance_m > reach_of(depth) + slack_m;
    out->individuals += depth == OSBORNE_DEPTH;
  }
  return true;
}

/* Places of all herds, in index order. */
static uint32_t read_places(const osborne_world *it, osborne_place *places) {
  muster_herd_info info = muster_herd_info_default();
  uint32_t count = 0;
  for (muster_herd herd = {0};
       count < it->def.herds && muster_herd_generation((herd = muster_herd_next(it->world, herd))); count++)
    if (muster_herd_read(it->world, herd, &info) == MUSTER_OK)
      places[count] = (osborne_place){info.position.x, info.position.y, info.leaves == 0};
  return count;
}

static bool inspect(osborne_world *it, osborne_place *before, osborne_inspection *out) {
  muster_herd_info info = muster_herd_info_default();
  uint32_t count = read_places(it, before);
  if (!osborne_cycle(it) || !osborne_look(it)) return false;
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(it->world, herd))); before++, count--) {
    if (count == 0 || muster_herd_read(it->world, herd, &info) != MUSTER_OK) return false;
    if (!inspect_leaves(it, herd, out)) return false;
    if (!before->folded || info.leaves > 0) continue;
    out->folded++;
    out->moved += before->x != info.position.x || before->y != info.position.y;
  }
  out->cycles++;
  return count == 0;
}

/* ----------------------------------------------------------------------------------------------------------- rounds */

static bool run_rounds(comparison *it, struct progress *line) {
  uint32_t each = it->plan->cycles / OSBORNE_ROUNDS;
  for (uint32_t round = 0; round < OSBORNE_ROUNDS; round++) {
    progress_step(line, "osborne: with and without level of detail, round %u of %d", round + 1, OSBORNE_ROUNDS);
    if (!run_round(it, round * each, each) || !inspect(&it->world, it->before, &it->out->found)) return false;
  }
  it->out->counts = osborne_count(&it->world);
  sum_up(it->out, each);
  return true;
}

bool osborne_compare(osborne_results *results) {
  comparison it = {.plan = &results->plan, .out = &results->compare};
  const char *plots = results->base.plots;
  *it.out = (osborne_comparison){.leaves_least = UINT32_MAX, .complete = true, .cycles = it.plan->cycles};
  bool done = open_all(&it) && run_rounds(&it, &results->base.line);
  results->base.undrawn = done && plots && !osborne_picture(&it.world, plots);
  close_all(&it);
  return done;
}
