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

/* Its rows say what the document says, and the figure has 120 frames of each response. */
Test(bench_control, prints_and_draws_every_response) {
  char folder[] = "/tmp/muster-test-XXXXXX";
  json_auto_t *json = NULL;
  cr_assert_not_null(mkdtemp(folder));
  SCOPED_RUN *run = program_both(formed("bench control --plots %s", folder), &json);
  for (size_t i = 0; i <= COUNT_OF(responses); i++) {
    bool bound = i == COUNT_OF(responses);
    json_t *row = program_member(json, bound ? "bounds" : formed("responses.%s", responses[i]));
    PROGRAM_EXPECT_SAYS(run->output,
                        formed("\n%-10s %7.1f %% %3.0f frm %6.0f frm %5.1f %% ", bound ? "bound" : responses[i],
                               program_number(row, "overshoot") * 100, program_number(row, "settle_frames"),
                               program_number(row, "frames_depressed"), program_number(row, "swing") * 100));
  }
  PROGRAM_EXPECT_VALUES(json, {"seed", 1});
  SCOPED(free_memory) char *script = program_read(formed("%s/control.gp", folder));
  PROGRAM_EXPECT_SAYS(script, "size 1400,1000\n", "set output 'control.png'\n", "layout 4,2");
  for (int frame = 199; frame <= 320; frame++)
    cr_expect_eq(program_count(script, formed("\n%d ", frame)), frame < 200 || frame == 320 ? 0 : 8, "frame %d", frame);
  cr_assert_eq(system(formed("rm -r %s", folder)), 0);
}
