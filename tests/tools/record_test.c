/* What `muster run` keeps of the frames that it counts. */
#include "record.h"

#include <criterion/criterion.h>

static muster_frame_report report_of(uint64_t overrun_own_ns, uint64_t longest_atom_ns, uint32_t carried) {
  muster_frame_report report = muster_frame_report_default();
  report.overrun_own_ns = overrun_own_ns;
  report.longest_atom_ns = longest_atom_ns;
  report.longest_claim_ns = 2 * longest_atom_ns; /* which is no excuse */
  report.used_cpu_ns = 3;
  report.given_cpu_ns = 4;
  report.carried = carried;
  return report;
}

Test(record, a_frame_keeps_the_promise_within_its_longest_atom_and_20_us) {
  static const struct {
    uint64_t overrun_ns, longest_ns;
    uint64_t kept; /* so far */
  } frames[] = {{0, 0, 1}, {20000, 0, 2}, {20001, 0, 2}, {520000, 500000, 3}, {520001, 500000, 3}, {1, 40000000, 4}};
  run_record record;
  cr_assert(record_create(&record, 16));
  for (uint32_t i = 0; i < sizeof frames / sizeof *frames; i++) {
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
