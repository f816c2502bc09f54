#include "idle_watch.h"

/* A frame keeps time for its actions, by what they took before. What was left of it counts only where the longest of
 * all updates would have fitted: one that waits may be as long. */
void idle_watch_add(idle_watch *watch, const muster_frame_report *report, uint64_t capacity_ns) {
  uint64_t acts_ns = report->stage_ns[MUSTER_STAGE_COMMIT];
  uint64_t offered_ns = capacity_ns - report->repaid_ns - report->announced_ns;
  if (report->longest_claim_ns > watch->longest_ns) watch->longest_ns = report->longest_claim_ns;
  if (acts_ns > watch->acts_ns) watch->acts_ns = acts_ns;
  uint64_t most_ns = report->update_cpu_ns + watch->longest_ns + watch->acts_ns - acts_ns;
  bool fits = most_ns < offered_ns;
  usage_sample sample = {.now_ns = report->sim_now_ns,
                         .longest_ns = report->turn_longest_ns,
                         .updates = report->completed,
                         .offered_ns = (double)offered_ns,
                         .left_ns = fits ? (double)(offered_ns - report->update_cpu_ns) : 0,
                         .took_ns = (double)report->update_cpu_ns,
                         .believed_ns = (double)report->update_cpu_ns,
                         .stretched = report->pressure > 0.0f};
  watch->frames += report->carried > 0 && fits;
  usage_add(&watch->usage, &sample);
}
