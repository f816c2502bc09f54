/* What passes while herds are folded is what passes while they are not, at any period. */
#include "scenarios/herd_scene.h"

enum { DEER = 16384, PACE = 20, SECONDS = 60 };

/* Numbers per deer and second. */
typedef struct outcome {
  double grazed_g, births, deaths;
  double unfolded, pressure; /* share of herds in the end, and in the last frame */
} outcome;

/* Herds of 16 at first, so that there is room for births all the time. */
static outcome live(uint32_t observers, uint64_t frame_ns, uint64_t capacity_ns) {
  herd_choice choice = {.visible_m = 35.0f, .wolves = 0, .members = 16, .pace = PACE};
  scene it = herd_scene(DEER, observers, 1, capacity_ns, &choice);
  muster_frame_report report = muster_default_frame_report();
  for (uint64_t frames = SECONDS * 1000000000ull / frame_ns; frames > 0; frames--) report = scene_frame(&it, frame_ns);
  const herd_world *self = it.instance;
  double folded = scene_reported(&it, "herds_folded"), unfolded = scene_reported(&it, "herds_unfolded");
  double born = scene_reported(&it, "births") + scene_reported(&it, "fawns_waiting");
  outcome outcome = {.grazed_g = scene_reported(&it, "grazed_kg") * 1e3 / self->deer_s,
                     .births = (born + scene_reported(&it, "fawns_orphaned")) / self->deer_s,
                     .deaths = scene_reported(&it, "deaths") / self->deer_s,
                     .unfolded = unfolded / (folded + unfolded),
                     .pressure = (double)report.pressure};
  scene_close(&it);
  return outcome;
}

/* Grazing is exact but for the last period, births and deaths are drawn. */
static void check(const outcome *outcome, const char *what) {
  cr_assert_float_eq(outcome->grazed_g / (double)herd_grazing_g, 1.0, 0.02, "%s: grazed %g", what, outcome->grazed_g);
  cr_assert_float_eq(outcome->births / ((double)herd_births * PACE), 1.0, 0.06, "%s: births %g", what, outcome->births);
  cr_assert_float_eq(outcome->deaths / ((double)herd_deaths * PACE), 1.0, 0.06, "%s: deaths %g", what, outcome->deaths);
}

Test(herd_time, far_herds_live_as_the_rates_say) {
  outcome often = live(1, 100000000, 100000000), seldom = live(1, 3000000000u, 100000000);
  cr_assert_lt(often.unfolded, 0.1);
  check(&often, "far");
  check(&seldom, "far, looked at every 3 s");
}

Test(herd_time, near_herds_live_as_the_rates_say) {
  outcome often = live(150, 100000000, 1000000000);
  cr_assert_gt(often.unfolded, 0.8);
  check(&often, "near");
}

Test(herd_time, near_herds_live_as_the_rates_say_under_pressure) {
  outcome throttled = live(150, 100000000, 150000);
  cr_assert_gt(throttled.unfolded, 0.8);
  cr_assert_gt(throttled.pressure, 0.9);
  check(&throttled, "near, under pressure");
}
