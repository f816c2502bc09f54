/* What `muster run` keeps of the frames that it counts. */
#include "record.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>

static muster_frame_report report_of(uint64_t overrun_own_ns, uint64_t longest_atom_ns, uint32_t carried) {
  return WITH(muster_frame_report, it.overrun_own_ns = overrun_own_ns, it.longest_atom_ns = longest_atom_ns,
              it.longest_claim_ns = 2 * longest_atom_ns, /* which is no excuse */
              it.used_cpu_ns = 3, it.given_cpu_ns = 4, it.carried = carried);
}

Test(record, a_frame_keeps_the_promise_within_its_longest_atom_and_20_us) {
  static const struct {
    uint64_t overrun_ns, longest_ns;
    uint64_t kept; /* so far */
  } frames[] = {{0, 0, 1}, {20000, 0, 2}, {20001, 0, 2}, {520000, 500000, 3}, {520001, 500000, 3}, {1, 40000000, 4}};
  run_record record;
  cr_assert(record_create(&record, 16));
  for (uint32_t i = 0; i < COUNT_OF(frames); i++) {
    muster_frame_report report = report_of(frames[i].overrun_ns, frames[i].longest_ns, 0);
    record_add(&record, &report);
    cr_expect_eq(record.kept, frames[i].kept, "frame %u", i);
    cr_expect_eq(record.overrun_own_ns[i], frames[i].overrun_ns);
  }
  cr_expect_eq(record.longest_atom_ns, 40000000);
  cr_expect_eq(record.longest_claim_ns, 80000000);
  record_destroy(&record);
}

Test(record, what_is_used_of_the_budget_is_told_of_frames_in_which_work_waits) {
  run_record record;
  cr_assert(record_create(&record, 16));
  for (uint32_t i = 0; i < 5; i++) {
    muster_frame_report report = report_of(0, 0, i % 2);
    record_add(&record, &report);
  }
  cr_expect_eq(record.waiting_frames, 2);
  cr_expect_eq(record.waiting_used_ns, 2 * 3);
  cr_expect_eq(record.waiting_given_ns, 2 * 4);
  cr_expect_eq(record.used_ns, 5 * 3);
  record_destroy(&record);
}

/* --------------------------------------------------------------------------------------------------------- by a model
 */

enum { FRAMES = 1000 };

static uint32_t below(uint32_t most) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % most;
}

static muster_frame_report random_report(uint32_t number) {
  muster_frame_report report = muster_frame_report_default();
  uint64_t *const times[] = {&report.wall_ns,         &report.overrun_wall_ns,  &report.overrun_own_ns,
                             &report.longest_atom_ns, &report.longest_claim_ns, &report.used_cpu_ns,
                             &report.given_cpu_ns,    &report.update_cpu_ns,    &report.overhead_ns,
                             &report.serial_ns,       &report.acts_serial_ns,   &report.work_ns,
                             &report.frame_period_ns, &report.budget_ns,        &report.turn_longest_ns};
  for (size_t i = 0; i < COUNT_OF(times); i++) *times[i] = below(100000) + 1;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) report.stage_ns[i] = below(1000);
  if (below(3) == 0) report.commit_kept_ns = below(1000) + 1;
  report.carried = number / 70 % 3 ? below(20) + 1 : 0; /* long rows of frames with and without */
  report.preempted = below(4) == 0;
  report.completed = below(50);
  report.woken = below(30);
  report.agents_late = below(1000);
  report.period_deviation_ns = number % 50 ? below(1000) : (double)NAN;
  report.utilisation_desired = number ? (float)(below(1000)) / 256 : INFINITY;
  report.pressure = number % 90 == 7 ? INFINITY : (float)below(1000) / 512;
  report.important_load = (float)below(1000) / 512;
  return report;
}

/* What the frames came to, each figure by itself. */
static run_record record_of(const muster_frame_report *reports, uint32_t count) {
  run_record sums = {.frames = count, .turns_least = (double)INFINITY, .last = reports[count - 1]};
  for (uint32_t i = 0; i < count; i++) {
    const muster_frame_report *one = &reports[i];
    bool waits = one->carried > 0 || one->preempted > 0;
    double load = (double)one->important_load, desired = (double)one->utilisation_desired;
    bool over = isfinite(desired) && load > 1;
    sums.kept += muster_frame_kept(one);
    if (one->longest_atom_ns > sums.longest_atom_ns) sums.longest_atom_ns = one->longest_atom_ns;
    if (one->longest_claim_ns > sums.longest_claim_ns) sums.longest_claim_ns = one->longest_claim_ns;
    if (one->frame_period_ns > sums.frame_period_max_ns) sums.frame_period_max_ns = one->frame_period_ns;
    if (one->turn_longest_ns > sums.turn_longest_ns) sums.turn_longest_ns = one->turn_longest_ns;
    if (one->agents_late > sums.late_max) sums.late_max = one->agents_late;
    if ((double)one->pressure > sums.pressure_max) sums.pressure_max = (double)one->pressure;
    sums.waiting_frames += waits;
    sums.waiting_used_ns += waits * one->used_cpu_ns;
    sums.waiting_given_ns += waits * one->given_cpu_ns;
    sums.used_ns += one->used_cpu_ns;
    sums.update_ns += one->update_cpu_ns;
    sums.overhead_ns += one->overhead_ns;
    sums.serial_ns += one->serial_ns;
    sums.acts_serial_ns += one->acts_serial_ns;
    sums.work_ns += one->work_ns;
    sums.sim_ns += one->frame_period_ns;
    sums.budget_ns += one->budget_ns;
    for (uint32_t k = 0; k < MUSTER_STAGES; k++) sums.stage_ns[k] += one->stage_ns[k];
    sums.commits += one->commit_kept_ns > 0;
    sums.commit_kept_ns += one->commit_kept_ns;
    if (one->commit_kept_ns) sums.commit_took_ns += one->stage_ns[MUSTER_STAGE_COMMIT];
    if (isfinite(one->period_deviation_ns)) sums.deviation_ns += one->period_deviation_ns;
    if (isfinite(desired)) sums.desired += desired;
    if (isfinite((double)one->pressure)) sums.pressure += (double)one->pressure;
    if (isfinite(desired)) sums.important += load * desired;
    if (isfinite(desired) && load > sums.important_load_max) sums.important_load_max = load;
    if (over) sums.important_over += load * desired, sums.desired_over += desired;
    sums.frames_over += over;
  }
  /* Frames with waiting agents in a row, block by block. */
  for (uint32_t begin = 0; begin < count;) {
    uint32_t end = begin;
    while (end < count && reports[end].carried) end++;
    for (uint32_t at = begin; at + RECORD_BLOCK_FRAMES <= end; at += RECORD_BLOCK_FRAMES) {
      double turns = 0;
      for (uint32_t i = at; i < at + RECORD_BLOCK_FRAMES; i++)
        turns += reports[i].completed > reports[i].woken ? (double)(reports[i].completed - reports[i].woken) : 0;
      sums.turns_least = fmin(sums.turns_least, turns / RECORD_BLOCK_FRAMES);
    }
    /* Of the last row what is not a block yet. */
    for (uint32_t i = end - (end - begin) % RECORD_BLOCK_FRAMES; end == count && i < end; i++, sums.block_frames++)
      sums.block_turns += reports[i].completed > reports[i].woken ? reports[i].completed - reports[i].woken : 0;
    begin = end + 1;
  }
  return sums;
}

static size_t first_difference(const run_record *one, const run_record *other) {
  size_t at = 0;
  while (at < sizeof *one && ((const char *)one)[at] == ((const char *)other)[at]) at++;
  return at;
}

Test(record, each_figure_is_of_all_frames) {
  static muster_frame_report reports[FRAMES];
  run_record record;
  cr_assert(record_create(&record, FRAMES));
  for (uint32_t i = 0; i < FRAMES; i++) {
    reports[i] = random_report(i);
    record_add(&record, &reports[i]);
    if (i % 37 && i != FRAMES - 1) continue;
    run_record wanted = record_of(reports, i + 1);
    wanted.capacity = FRAMES;
    wanted.wall_ns = record.wall_ns;
    wanted.overrun_wall_ns = record.overrun_wall_ns;
    wanted.overrun_own_ns = record.overrun_own_ns;
    cr_assert_eq(first_difference(&record, &wanted), sizeof record, "after %u frames byte %zu differs", i + 1,
                 first_difference(&record, &wanted));
  }
  for (uint32_t i = 0; i < FRAMES; i++)
    cr_expect(record.wall_ns[i] == reports[i].wall_ns && record.overrun_wall_ns[i] == reports[i].overrun_wall_ns &&
                  record.overrun_own_ns[i] == reports[i].overrun_own_ns,
              "frame %u", i);
  record_add(&record, &reports[0]); /* one too many is left out */
  cr_expect_eq(record.frames, FRAMES);
  record_destroy(&record);
}
