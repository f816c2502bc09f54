/* `muster bench machine`, as the program tells it: structure and plausibility. How late anything is, is not tested: the
 * machine that tests is busy with other tests. */
#include "program.h"

static void expect_share(json_t *json, const char *path) {
  double share = program_number(json, path);
  cr_expect(share >= 0 && share <= 1, "%s is %g", path, share);
}

static void expect_limits(json_t *json, double frames) {
  static const double limits_ns[] = {20000, 50000, 70000, 100000};
  json_t *rows = program_list(json, "within", COUNT_OF(limits_ns)), *before = NULL;
  for (size_t i = 0; i < json_array_size(rows); i++) {
    json_t *row = json_array_get(rows, i);
    double own = program_number(row, "own_frames"), wall = program_number(row, "wall_frames");
    cr_expect_eq(program_number(row, "limit_ns"), limits_ns[i]);
    cr_expect(wall >= 0 && wall <= own && own <= frames, "%g on the wall, %g own", wall, own);
    cr_expect_float_eq(program_number(row, "own_share"), own / frames, 1e-12);
    cr_expect_float_eq(program_number(row, "wall_share"), wall / frames, 1e-12);
    if (before) cr_expect_geq(own, program_number(before, "own_frames"));
    before = row;
  }
  double audited = program_number(json, "as_audited_frames");
  cr_expect(audited >= program_number(json_array_get(rows, 0), "own_frames") && audited <= frames, "%g", audited);
  cr_expect_float_eq(program_number(json, "as_audited_share"), audited / frames, 1e-12);
  double latest_ns = program_number(json, "latest_ns.own");
  cr_expect_leq(latest_ns, program_number(json, "latest_ns.wall"));
  cr_expect_eq(program_number(before, "own_frames") == frames, latest_ns <= 100000);
}

static void expect_stalls(json_t *json, const char *clock) {
  json_t *stalls = program_member(json, formed("stalls.%s", clock));
  double count = program_number(stalls, "count"), total_ns = program_number(stalls, "total_ns");
  double longest_ns = program_number(stalls, "longest_ns"), watched_ns = program_number(json, "watched_ns");
  cr_expect_geq(total_ns, count * program_number(json, "stalls.longer_than_ns"));
  cr_expect(longest_ns <= total_ns && total_ns <= count * longest_ns, "%g in %g", longest_ns, total_ns);
  cr_expect_float_eq(program_number(stalls, "per_second"), count / watched_ns * 1e9, 1e-6);
  cr_expect_float_eq(program_number(stalls, "time_share"), total_ns / watched_ns, 1e-9);
}

Test(bench_machine, tells_how_many_frames_were_late_and_what_stalled) {
  json_auto_t *json = program_json("bench machine --frames 10 --budget 1ms --hz 100 --workers 2 --json -");
  PROGRAM_EXPECT_VALUES(json, {"workers", 2}, {"frames", 10}, {"budget_ns", 1000000}, {"frame_period_ns", 10000000});
  cr_expect(json_is_boolean(program_member(json, "real_time")));
  double missed = program_number(json, "woken_too_late");
  cr_expect(missed >= 0 && missed <= 20, "%g", missed);
  cr_expect_geq(program_number(json, "steps"), 20 - missed);
  cr_expect_gt(program_number(json, "watched_ns"), 0);
  expect_limits(json, 10);
  expect_stalls(json, "own");
  expect_stalls(json, "wall");
  expect_share(json, "others_cpu_share");
  expect_share(json, "stolen_cpu_share");
}

Test(bench_machine, says_in_words_what_the_machine_leaves_to_a_promise) {
  PROGRAM_EXPECT_PRINTS("bench machine --frames 3 --budget 500us --hz 1000 --workers 1",
                        "3 frames of 500 us at 1000 Hz", "\nOn this machine, as it was, no",
                        "20 us and a claim of 50 us");
}

Test(bench_machine, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("machine", "scale", {"--workers 0", 2, "--workers is '0'"},
                        {"--workers 257", 2, "from 1 to 256"}, {"--frames 0", 2, "--frames is '0'"},
                        {"--budget 5", 2, "--budget is '5'"}, {"--budget 99us", 2, "from 100 us to 1 s"},
                        {"--hz 0", 2, "--hz is '0'"}, {"--budget 40ms", 2, "longer than a frame of 33.3 ms"});
  PROGRAM_EXPECT_REFUSALS({"bench --json x machine", 2, "give 'machine' before its options"},
                          {"bench machin", 2, "did you mean 'machine'"});
}
