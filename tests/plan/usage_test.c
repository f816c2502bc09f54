/* Idle budget contradicts stretched periods: which windows say so, and what follows. */
#include "plan/usage.h"
#include "support/with.h"

#include <criterion/criterion.h>

#define FRAME_NS  10000000u
#define PERIOD_NS 400000000u

static struct usage usage;
static uint32_t frames; /* that the last window took */

/* Frames of 10 ms that offer as much, with 5 updates each, until a window ends. */
static usage_verdict run(usage_sample sample) {
  usage_verdict verdict = {0};
  uint64_t faults = usage.faults;
  for (frames = 0; frames < 200 && !verdict.contradicts; ++frames) {
    sample.now_ns += FRAME_NS;
    verdict = usage_add(&usage, &sample);
  }
  cr_assert_eq(usage.faults - faults, verdict.contradicts);
  return verdict;
}

static usage_sample frame_of(double took_ns, double believed_ns) {
  return (usage_sample){.now_ns = 5000000000u,
                        .longest_ns = PERIOD_NS,
                        .updates = 5,
                        .offered_ns = 1e7,
                        .left_ns = 1e7 - took_ns,
                        .took_ns = took_ns,
                        .believed_ns = believed_ns,
                        .stretched = true};
}

Test(usage, costs_that_are_believed_too_high_are_mended_by_what_a_window_showed) {
  usage_verdict verdict = run(frame_of(7e6, 1e7));
  cr_assert(verdict.contradicts);
  cr_assert_eq(frames, PERIOD_NS / FRAME_NS + 2, "every agent had its turn");
  cr_assert_float_eq(verdict.costs, 0.7, 1e-9);
  cr_assert_eq(verdict.plan, 1.0);
  usage = (struct usage){0};
  cr_assert_eq(run(frame_of(1e6, 1e7)).costs, 0.5, "by two at most");
}

Test(usage, a_plan_that_is_too_careful_gets_more) {
  usage_verdict verdict = run(frame_of(8e6, 8e6));
  cr_assert(verdict.contradicts);
  cr_assert_eq(verdict.costs, 1.0);
  cr_assert_float_eq(verdict.plan, 1.25, 1e-9);
}

Test(usage, nothing_follows_where_time_is_used_or_periods_are_as_wanted_or_something_else_kept_updates_away) {
  usage_sample sample = frame_of(9.1e6, 1e7);
  cr_assert_not(run(sample).contradicts);
  sample = CHANGED(frame_of(1e6, 1e6), it.stretched = false);
  cr_assert_not(run(sample).contradicts);
  sample.stretched = sample.excused = true;
  usage = (struct usage){0};
  cr_assert_not(run(sample).contradicts);
}

Test(usage, a_window_has_a_hundred_updates) {
  cr_assert(run(CHANGED(frame_of(7e6, 1e7), it.updates = 1)).contradicts);
  cr_assert_eq(frames, 100);
}

/* Where the load comes and goes, the time that was left before it came is not held against it. */
Test(usage, frames_whose_periods_are_as_wanted_do_not_count) {
  usage_sample full = frame_of(1e7, 1e7), idle = frame_of(2e6, 2e6);
  idle.stretched = false;
  for (uint32_t i = 0; i < 600; i++) {
    usage_sample *sample = i % 10 ? &idle : &full;
    sample->now_ns = 5000000000u + i * (uint64_t)FRAME_NS;
    cr_assert_not(usage_add(&usage, sample).contradicts, "frame %u", i);
  }
  full.left_ns = 2e6; /* and where time is left while they are stretched, it is told whatever lies between */
  usage = (struct usage){0};
  bool contradicts = false;
  for (uint32_t i = 0; i < 600; i++) {
    usage_sample *sample = i % 10 ? &idle : &full;
    sample->now_ns = 5000000000u + i * (uint64_t)FRAME_NS;
    contradicts |= usage_add(&usage, sample).contradicts;
  }
  cr_assert(contradicts);
}

/* Short periods are rounded to frames, and the plan follows a change by itself. */
Test(usage, a_window_has_some_thirty_frames) {
  cr_assert(run(CHANGED(frame_of(7e6, 1e7), it.updates = 1000, it.longest_ns = FRAME_NS)).contradicts);
  cr_assert_eq(frames, 32);
}
