/* Whether frames under the virtual clock leave time though agents wait, from their reports. */
#include "idle_watch.h"

#include "support/little_world.h"

enum { CAPACITY_NS = 10000000, COST_NS = 20000, TURN_NS = 1000000000, FRAMES = 200 };

/* A frame whose updates took this long while agents waited. */
static muster_frame_report frame_of(uint64_t took_ns) {
  return (muster_frame_report){.update_cpu_ns = took_ns,
                               .longest_claim_ns = COST_NS,
                               .turn_longest_ns = TURN_NS,
                               .completed = 500,
                               .carried = 10,
                               .pressure = 1};
}

static idle_watch watched(const muster_frame_report *report) {
  idle_watch watch = {0};
  muster_frame_report frame = *report;
  for (uint32_t i = 0; i < FRAMES; i++) {
    frame.sim_now_ns = (i + 1ull) * FRAME_NS;
    idle_watch_add(&watch, &frame, CAPACITY_NS);
  }
  return watch;
}

Test(idle_watch, finds_nothing_where_frames_are_full) {
  muster_frame_report full = frame_of(CAPACITY_NS), all_but_one = frame_of(CAPACITY_NS - COST_NS), over = full;
  over.update_cpu_ns += COST_NS;
  idle_watch watch = watched(&full), rest = watched(&all_but_one), beyond = watched(&over);
  cr_expect_eq(watch.frames + watch.usage.faults, 0);
  cr_expect_eq(rest.frames + rest.usage.faults, 0, "the longest update would not have fitted");
  cr_expect_eq(beyond.frames + beyond.usage.faults, 0);
}

Test(idle_watch, finds_frames_with_time_for_one_more) {
  muster_frame_report room = frame_of(CAPACITY_NS - COST_NS - 1), alone = room;
  alone.carried = 0;
  idle_watch watch = watched(&room), nobody = watched(&alone);
  cr_expect_eq(watch.frames, FRAMES);
  cr_expect_eq(watch.usage.faults, 0, "less than a tenth");
  cr_expect_eq(nobody.frames, 0);
}

Test(idle_watch, excuses_frames_before_the_longest_update_that_waited_in_them) {
  muster_frame_report room = frame_of(CAPACITY_NS - 3 * COST_NS), more = frame_of(CAPACITY_NS / 2), full = room;
  idle_watch watch = {0};
  idle_watch_add(&watch, &more, CAPACITY_NS);
  idle_watch_add(&watch, &room, CAPACITY_NS);
  cr_expect_eq(watch.frames, 2);
  full.update_cpu_ns = CAPACITY_NS;
  full.longest_claim_ns = 3 * COST_NS;
  idle_watch_add(&watch, &full, CAPACITY_NS);
  cr_expect_eq(watch.frames, 1, "in the other one it would have fitted");
  full.longest_claim_ns = CAPACITY_NS / 2;
  idle_watch_add(&watch, &full, CAPACITY_NS);
  cr_expect_eq(watch.frames, 0);
}

Test(idle_watch, finds_windows_that_contradict_stretched_periods) {
  muster_frame_report idle = frame_of(CAPACITY_NS * 4 / 5), wanted;
  idle.carried = 0; /* all are believed to have to wait: nobody is due */
  wanted = CHANGED(idle, it.pressure = 0);
  idle_watch watch = watched(&idle), calm = watched(&wanted);
  cr_expect_eq(watch.frames, 0);
  cr_expect_geq(watch.usage.faults, 1);
  cr_expect_eq(calm.usage.faults, 0);
}

Test(idle_watch, excuses_what_is_kept_for_actions_repaid_or_announced) {
  muster_frame_report acted = frame_of(CAPACITY_NS * 4 / 5), repaid = acted, announced = acted;
  idle_watch watch = {0};
  acted.update_cpu_ns = CAPACITY_NS;
  acted.stage_ns[MUSTER_STAGE_COMMIT] = CAPACITY_NS / 5;
  idle_watch_add(&watch, &acted, CAPACITY_NS);
  acted.update_cpu_ns -= CAPACITY_NS / 5;
  acted.stage_ns[MUSTER_STAGE_COMMIT] = 0;
  idle_watch_add(&watch, &acted, CAPACITY_NS);
  cr_expect_eq(watch.frames, 0, "actions took as long before");
  acted.update_cpu_ns = CAPACITY_NS / 2;
  idle_watch_add(&watch, &acted, CAPACITY_NS);
  cr_expect_eq(watch.frames, 1, "but not half of a frame");
  repaid.repaid_ns = announced.announced_ns = CAPACITY_NS / 5;
  watch = watched(&repaid);
  cr_expect_eq(watch.frames + watch.usage.faults, 0);
  watch = watched(&announced);
  cr_expect_eq(watch.frames + watch.usage.faults, 0);
}

/* Four times what fits; the host may bound the updates of a frame. */
static idle_watch run(uint32_t updates_per_frame) {
  muster_world_def def =
      WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.updates_per_frame = updates_per_frame);
  SCOPED(little_world_destroy) little_world little = typed_world(1, def, type_running(nothing, COST_NS));
  for (uint32_t i = 0; i < 20000; i++) spawn_at(&little, 0);
  idle_watch watch = {0};
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < 2 * FRAMES; i++) {
    cr_assert_eq(muster_frame_run(little.world, &(muster_frame){(i + 1ull) * FRAME_NS, CAPACITY_NS}), MUSTER_OK);
    muster_frame_report_read(little.world, &report);
    idle_watch_add(&watch, &report, CAPACITY_NS);
  }
  return watch;
}

Test(idle_watch, sees_in_a_world_what_a_bound_of_its_host_leaves) {
  idle_watch free = run(0), bound = run(100);
  cr_expect_eq(free.frames + free.usage.faults, 0);
  cr_expect_gt(bound.frames, FRAMES);
  cr_expect_geq(bound.usage.faults, 1);
}
