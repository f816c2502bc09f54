/* `muster bench control`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

static const char *const responses[] = {"steady", "step_up", "step_down", "step_few",
                                        "ramp",   "budget",  "spike",     "noise"};

static double figure(json_t *json, const char *response, const char *name) {
  char path[96];
  snprintf(path, sizeof path, "responses.%s.%s", response, name);
  return program_number(json, path);
}

static void expect_within(json_t *json) {
  for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
    const char *response = responses[i];
    cr_expect_lt(figure(json, response, "overshoot"), 0.10, "%s", response);
    cr_expect_leq(figure(json, response, "settle_frames"), 15, "%s", response);
    cr_expect_leq(figure(json, response, "frames_depressed"), 5, "%s", response);
    cr_expect_leq(figure(json, response, "swing"), 0.05, "%s: a limit cycle", response);
    cr_expect_eq(figure(json, response, "idle_frames"), 0, "%s", response);
    cr_expect_eq(figure(json, response, "idle_windows"), 0, "%s", response);
  }
  cr_expect(json_is_true(program_member(json, "within")));
}

Test(bench_control, every_response_is_within_its_bounds_whatever_the_seed) {
  static const char *const lines[] = {"bench control --json - --seed 1", "bench control --json - --seed 2",
                                      "bench control --json - --seed 77"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    json_t *json = program_json(lines[i]);
    expect_within(json);
    json_decref(json);
  }
}

Test(bench_control, sees_a_spike_a_ramp_and_noise_for_what_they_are) {
  json_t *json = program_json("bench control --json -");
  cr_expect_geq(figure(json, "spike", "frames_depressed"), 1, "200 ms in a budget of 10 ms cannot pass unnoticed");
  cr_expect_gt(figure(json, "step_up", "overshoot"), 0.0);
  cr_expect_gt(figure(json, "noise", "swing"), figure(json, "steady", "swing"));
  json_decref(json);
}
