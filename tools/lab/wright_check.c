/* What the reproduction of Wright & Marshall must show. Their numbers of agents are those of their machine: the checks
 * are about the order of the versions and the ratio. Overheads are shown, not judged: they depend on the machine. */
#include "wright.h"

#include <muster/sets.h>

#include <math.h>

static void check_table2(const wright_results *results) {
  static const char *const names[WRIGHT_COUNTS] = {"4, 6, 8: two", "4, 6, 8: three", "3, 5, 7: two", "3, 5, 7: three"};
  for (int i = 0; i < WRIGHT_COUNTS; i++)
    repro_check_that(results->counts[i] == wright_published[i], "Table 2: %s processes in %.0f frames (%.0f)", names[i],
                     wright_published[i], results->counts[i]);
}

static double most_of(const double *values) {
  double most = 0;
  for (int i = WRIGHT_FRAMES / 2; i < WRIGHT_FRAMES; i++) most = fmax(most, values[i]);
  return most;
}

static void check_peaks(const wright_results *results) {
  double before = most_of(results->before), after = most_of(results->after);
  repro_check_that(2 * after <= before, "delays of up to %d frames halve the peak of P(t) or better (%.0f to %.0f)",
                   WRIGHT_DELAY, before, after);
}

/* Three parts that go by priority, and all time used. */
static void check_shares(const wright_shares *shares, const char *of) {
  const double *parts = shares->parts;
  bool hold = true;
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) hold &= fabs(parts[i] - wright_priorities[i] / 100.0) <= 0.02;
  repro_check_that(hold, "%s: priorities 10, 30 and 60 have 10, 30 and 60 %% of it within 2 (%.1f, %.1f, %.1f)", of,
                   parts[0] * 100, parts[1] * 100, parts[2] * 100);
  repro_check_that(shares->used >= 0.97 && shares->used <= 1, "%s: all of it is used (%.1f %%)", of,
                   shares->used * 100);
}

static void check_mode(const wright_mode *mode, const char *what, wright_mode wanted) {
  bool holds = mode->began == wanted.began && mode->atoms == wanted.atoms && mode->completed == wanted.completed;
  repro_check_that(holds, "%s (begun %lu times, %lu atoms, completed %lu times)", what, mode->began, mode->atoms,
                   mode->completed);
}

static void check_manager(const wright_manager *manager) {
  const uint64_t frames = WRIGHT_MODE_FRAMES, atoms = WRIGHT_MODE_ATOMS;
  const double *turns = manager->turns, each = WRIGHT_TURN_FRAMES / WRIGHT_PARTS;
  check_shares(&manager->agents, "agents' share of the frame");
  check_shares(&manager->sets, "sets' share of the update");
  check_mode(&manager->modes[MUSTER_MODE_RUN], "mode run: what has begun runs whole, whatever its share",
             (wright_mode){frames, frames * 3 * atoms, frames});
  check_mode(&manager->modes[MUSTER_MODE_SUSPENDABLE], "mode suspendable: what was cut begins with its first atom",
             (wright_mode){frames, frames * atoms, 0});
  check_mode(&manager->modes[MUSTER_MODE_SLICEABLE], "mode sliceable: what was cut goes on after its last atom",
             (wright_mode){1, frames * atoms, 1});
  repro_check_that(turns[0] == each && turns[1] == each && turns[2] == each,
                   "out of time, it goes on behind the last set that ran (turns of three: %.0f, %.0f, %.0f)", turns[0],
                   turns[1], turns[2]);
}

static void check_ratio(uint32_t delayed, uint32_t unscheduled, const char *until) {
  repro_check_that(delayed >= 2.5 * unscheduled,
                   "%s scheduled with delay serves 2.5 times the agents of unscheduled (%.2f; paper: %.2f)", until,
                   (double)delayed / unscheduled, (double)WRIGHT_SERVED / WRIGHT_BASE);
}

static void check_limits(const wright_row *rows) {
  uint32_t naive = rows[WRIGHT_NAIVE].agents, unscheduled = rows[WRIGHT_UNSCHEDULED].agents;
  uint32_t scheduled = rows[WRIGHT_SCHEDULED].agents, delayed = rows[WRIGHT_DELAYED].agents;
  repro_check_that(naive < unscheduled, "unscheduled serves more agents than naive (%u, by the choice of T_d; %u)",
                   unscheduled, naive);
  repro_check_that(scheduled > unscheduled, "scheduled serves more than unscheduled (%u; %u)", scheduled, unscheduled);
  repro_check_that(delayed > scheduled, "scheduled with delay serves more than without (%u; %u)", delayed, scheduled);
  check_ratio(delayed, unscheduled, "before degradation,");
  check_ratio(rows[WRIGHT_DELAYED].untroubled, rows[WRIGHT_UNSCHEDULED].untroubled, "before anything is missed,");
  for (int i = WRIGHT_OURS + 1; i < WRIGHT_VERSIONS; i++) {
    uint32_t more = rows[i].agents, fewer = rows[i - 1].agents;
    repro_check_that(more >= 1.6 * fewer, "%s: %.2f times the agents of %s (%u; %u)", wright_versions[i].name,
                     (double)more / fewer, wright_versions[i - 1].name, more, fewer);
  }
}

static void check_crowds(const wright_row *rows) {
  for (int i = 0; i < WRIGHT_VERSIONS; i++)
    repro_check_that(!wright_versions[i].managed || rows[i].crowd.peak_load <= 1.02,
                     "%s: with too many agents %s frame is over its budget (%.2f)", wright_versions[i].name,
                     wright_versions[i].managed ? "no" : "a", rows[i].crowd.peak_load);
  double with = rows[WRIGHT_DELAYED].served.missed_sets, without = rows[WRIGHT_SCHEDULED].served.missed_sets;
  repro_check_that(with <= 0 && without > 0,
                   "%d agents: with delay nothing is missed (%.1f %%), without something is (%.1f %%)", WRIGHT_SERVED,
                   with * 100, without * 100);
  for (int i = WRIGHT_OURS + 1; i < WRIGHT_VERSIONS; i++)
    repro_check_that(rows[i].alike, "%s: run on %u threads, the same world as on one with as much time",
                     wright_versions[i].name, wright_versions[i].workers);
}

/* With periods that give way fewer releases are missed. */
static void check_ours(const wright_row *rows) {
  double fixed = rows[WRIGHT_DELAYED].crowd.missed_last, elastic = rows[WRIGHT_OURS].crowd.missed_last;
  repro_check_that(elastic < 0.75 * fixed,
                   "with too many agents, elastic periods soon save a quarter of what is missed (%.1f to %.1f %%)",
                   fixed * 100, elastic * 100);
}

void wright_check(const void *all) {
  const wright_results *results = all;
  check_table2(results);
  check_peaks(results);
  check_manager(&results->manager);
  check_crowds(results->rows);
  check_ours(results->rows);
  if (!results->base.quick) check_limits(results->rows);
}
