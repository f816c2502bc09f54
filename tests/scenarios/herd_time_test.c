/* What passes while herds are folded is what passes while they are not, at any period. */
#include "scenarios/herd_scene.h"

#include <muster/herd.h>

enum { DEER = 16384, PACE = 20, SECONDS = 60 };

/* Numbers per deer and second. */
struct outcome {
  double grazed_g; /* with what is still owed: for the time since the last updates */
  double births, deaths;
  double unfolded, pressure; /* share of herds in the end, and in the last frame */
};

/* Deer times time since they were last updated. */
static double owed_s(const struct scene *scene) {
  double owed = 0;
  muster_herd_info info = muster_herd_info_default();
  muster_herd herd = muster_herd_next(scene->world, (muster_herd){0});
  for (; muster_herd_generation(herd); herd = muster_herd_next(scene->world, herd)) {
    cr_assert_eq(muster_herd_read(scene->world, herd, &info), MUSTER_OK);
    owed += info.members * (double)(scene->now_ns - info.last_update_ns) * 1e-9;
  }
  return owed;
}

/* Herds of 16 at first, so that there is room for births all the time. */
static struct outcome live(uint32_t observers, uint64_t frame_ns, uint64_t capacity_ns) {
  herd_choice choice = {.visible_m = 35.0f, .wolves = 0, .members = 16, .pace = PACE};
  SCOPED(scene_close) struct scene scene = herd_scene(DEER, observers, 1, capacity_ns, &choice);
  muster_frame_report report = muster_frame_report_default();
  for (uint64_t frames = SECONDS * 1000000000ull / frame_ns; frames > 0; frames--)
    report = scene_frame(&scene, frame_ns);
  const herd_world *self = scene.instance;
  double folded = scene_reported(&scene, "herds_folded"), unfolded = scene_reported(&scene, "herds_unfolded");
  double born = scene_reported(&scene, "births") + scene_reported(&scene, "fawns_waiting");
  double lived_s = self->deer_s - owed_s(&scene); /* that updates have covered */
  double grazed_g = scene_reported(&scene, "grazed_kg") * 1e3 + owed_s(&scene) * (double)herd_grazing_g;
  struct outcome outcome = {.grazed_g = grazed_g / self->deer_s,
                            .births = (born + scene_reported(&scene, "fawns_orphaned")) / lived_s,
                            .deaths = scene_reported(&scene, "deaths") / lived_s,
                            .unfolded = unfolded / (folded + unfolded),
                            .pressure = (double)report.pressure};
  return outcome;
}

/* Grazing is exact, births and deaths are drawn. */
static void check(const struct outcome *outcome, const char *what) {
  cr_assert_float_eq(outcome->grazed_g / (double)herd_grazing_g, 1.0, 0.0005, "%s: grazed %g of what it should", what,
                     outcome->grazed_g / (double)herd_grazing_g);
  cr_assert_float_eq(outcome->births / ((double)herd_births * PACE), 1.0, 0.06, "%s: births %g", what, outcome->births);
  cr_assert_float_eq(outcome->deaths / ((double)herd_deaths * PACE), 1.0, 0.06, "%s: deaths %g", what, outcome->deaths);
}

Test(herd_time, far_herds_live_as_the_rates_say) {
  struct outcome often = live(1, 100000000, 100000000), seldom = live(1, 3000000000u, 100000000);
  cr_assert_lt(often.unfolded, 0.1);
  check(&often, "far");
  check(&seldom, "far, looked at every 3 s");
}

Test(herd_time, near_herds_live_as_the_rates_say) {
  struct outcome often = live(150, 100000000, 1000000000);
  cr_assert_gt(often.unfolded, 0.8);
  check(&often, "near");
}

Test(herd_time, near_herds_live_as_the_rates_say_under_pressure) {
  struct outcome throttled = live(150, 100000000, 60000);
  cr_assert_gt(throttled.unfolded, 0.8);
  cr_assert_gt(throttled.pressure, 0.6, "%g", throttled.pressure);
  check(&throttled, "near, under pressure");
}
