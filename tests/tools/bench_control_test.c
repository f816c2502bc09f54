/* `muster bench control`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

static const char *const responses[] = {"steady", "step_up", "step_down", "step_few",
                                        "ramp",   "budget",  "spike",     "noise"};

static void expect_within(json_t *json) {
  for (size_t i = 0; i < COUNT_OF(responses); i++) {
    json_t *response = program_member(json, formed("responses.%s", responses[i]));
    cr_expect_lt(program_number(response, "overshoot"), 0.10, "%s", responses[i]);
    cr_expect_leq(program_number(response, "settle_frames"), 15, "%s", responses[i]);
    cr_expect_leq(program_number(response, "frames_depressed"), 5, "%s", responses[i]);
    cr_expect_leq(program_number(response, "swing"), 0.05, "%s: a limit cycle", responses[i]);
    PROGRAM_EXPECT_VALUES(response, {"idle_frames", 0}, {"idle_windows", 0});
  }
  cr_expect(program_true(json, "within"));
}

Test(bench_control, every_response_is_within_its_bounds_whatever_the_seed) {
  static const char *const lines[] = {"bench control --json - --seed 1", "bench control --json - --seed 2",
                                      "bench control --json - --seed 77"};
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    json_auto_t *json = program_json(lines[i]);
    expect_within(json);
  }
}

Test(bench_control, sees_a_spike_a_ramp_and_noise_for_what_they_are) {
  json_auto_t *json = program_json("bench control --json -");
  json_t *all = program_member(json, "responses");
  cr_expect_geq(program_number(all, "spike.frames_depressed"), 1, "200 ms in a budget of 10 ms cannot pass unnoticed");
  cr_expect_gt(program_number(all, "step_up.overshoot"), 0.0);
  cr_expect_gt(program_number(all, "noise.swing"), program_number(all, "steady.swing"));
}
