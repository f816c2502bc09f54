#include "idle_watch.h"

/* An update that waited may be the longest of all, and comes to its turn later: then it excuses frames before it. */
static void see_longest(idle_watch *watch, uint64_t longest_ns) {
  uint32_t held = watch->frames < IDLE_FRAMES_MAX ? (uint32_t)watch->frames : IDLE_FRAMES_MAX, kept = 0;
  if (longest_ns <= watch->longest_ns) return;
  watch->longest_ns = longest_ns;
  for (uint32_t i = 0; i < held; i++)
    if (watch->left_ns[i] > longest_ns) watch->left_ns[kept++] = watch->left_ns[i];
  if (watch->frames <= IDLE_FRAMES_MAX) watch->frames = kept;
}

static void note_idle(idle_watch *watch, uint64_t left_ns) {
  if (watch->frames < IDLE_FRAMES_MAX) watch->left_ns[watch->frames] = left_ns;
  watch->frames++;
}

/* A frame keeps time for its actions, by what they took before; where some found no time in the frame before, for these
 * besides, which is twice the most at most. What was left of it counts only where the longest of all updates would have
 * fitted: one that waits may be as long. */
void idle_watch_add(idle_watch *watch, const muster_frame_report *report, uint64_t capacity_ns) {
  uint64_t acts_ns = report->stage_ns[MUSTER_STAGE_COMMIT];
  uint64_t offered_ns = capacity_ns - report->repaid_ns - report->announced_ns;
  see_longest(watch, report->longest_claim_ns);
  if (acts_ns > watch->acts_ns) watch->acts_ns = acts_ns;
  uint64_t gone_ns = report->update_cpu_ns + 2 * watch->acts_ns - acts_ns;
  uint64_t left_ns = offered_ns > gone_ns ? offered_ns - gone_ns : 0;
  bool fits = left_ns > watch->longest_ns;
  usage_sample sample = {.now_ns = report->sim_now_ns,
                         .longest_ns = report->turn_longest_ns,
                         .updates = report->completed,
                         .offered_ns = (double)offered_ns,
                         .left_ns = fits ? (double)(offered_ns - report->update_cpu_ns) : 0,
                         .took_ns = (double)report->update_cpu_ns,
                         .believed_ns = (double)report->update_cpu_ns,
                         .stretched = report->pressure > 0.0f};
  if (report->carried > 0 && fits) note_idle(watch, left_ns);
  usage_add(&watch->usage, &sample);
}
