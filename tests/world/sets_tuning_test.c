/* Types with sets: changes while their agents run. */
#include "support/set_world.h"

static void tune(const little_world *little, uint32_t set, const muster_set_tuning *tuning) {
  assert_ok(muster_set_tune(little->world, little->type, set, tuning));
}

TestSuite(sets_tuning, .init = forget_calls);

Test(sets_tuning, a_new_priority_is_a_new_order) {
  muster_set_def sets[3] = {set_of(1, MUSTER_MODE_RUN, 70), set_of(1, MUSTER_MODE_RUN, 60),
                            set_of(1, MUSTER_MODE_RUN, 50)};
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 3));
  run_frames(&little, 5);
  calls_text();
  muster_set_tuning tuning = WITH(muster_set_tuning, it.share = 100, it.mode = MUSTER_MODE_RUN);
  tune(&little, 2, &tuning);
  cr_assert_str_eq(run_and_tell(&little), "c0a0b0");
}

/* What runs after a set of eight atoms in a slice of three was cut in `before`, and tuned to `after`. */
static const char *change_mode(muster_mode before, muster_mode after) {
  muster_set_def set = set_of(8, before, 50);
  muster_set_tuning tuning = WITH(muster_set_tuning, it.share = 50, it.mode = after);
  noted.count = 0;
  SCOPED_WORLD little = create_sets(sliced_type(&set, 1, 3));
  while (noted.count == 0) run_frame(&little);
  calls_text();
  tune(&little, 0, &tuning);
  return run_and_tell(&little);
}

Test(sets_tuning, who_was_cut_goes_on_by_its_new_mode) {
  cr_assert_str_eq(change_mode(MUSTER_MODE_SLICEABLE, MUSTER_MODE_SLICEABLE), "a3a4a5");
  cr_assert_str_eq(change_mode(MUSTER_MODE_SLICEABLE, MUSTER_MODE_SUSPENDABLE), "a0a1a2");
  cr_assert_str_eq(change_mode(MUSTER_MODE_SLICEABLE, MUSTER_MODE_RUN), "a0a1a2a3a4a5a6a7");
  cr_assert_str_eq(change_mode(MUSTER_MODE_SUSPENDABLE, MUSTER_MODE_SLICEABLE), "a0a1a2");
}

/* Returns, for each update, '1' if the only set was active in it: four updates before the change and eight after it. */
static const char *change_period(const muster_set_def *given, const muster_set_tuning *tuning, char text[13]) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 100), *given};
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 2));
  for (uint32_t update = 0; update < 12;) {
    const char *ran = run_and_tell(&little);
    if (!*ran) continue;
    text[update++] = strchr(ran, 'b') ? '1' : '0';
    if (update == 4) tune(&little, 1, tuning);
  }
  text[12] = 0;
  return text;
}

Test(sets_tuning, periods_change) {
  char text[13];
  muster_set_def set = CHANGED(set_of(1, MUSTER_MODE_RUN, 50), it.period_updates = 1000, it.delay_updates = 7);
  muster_set_tuning tuning = WITH(muster_set_tuning, it.period_updates = 3);
  cr_assert_str_eq(change_period(&set, &tuning, text), "000010010010", "%s: 7 modulo 3 is 1", text);
  tuning.period_updates = 0;
  tuning.period_ns = 3 * FRAME_NS;
  change_period(&set, &tuning, text);
  cr_assert_eq(strncmp(text, "00001", 5), 0, "%s: active at once", text);
  const char *first = strchr(text + 5, '1');
  cr_assert(first && first < text + 8 && first[3] == '1', "%s: in the phase of the spawn", text);
  set.delay_updates = set.period_updates = 0;
  set.period_ns = 1000 * (uint64_t)FRAME_NS;
  set.delay_ns = 999 * (uint64_t)FRAME_NS;
  change_period(&set, &tuning, text);
  cr_assert_eq(strncmp(text, "00001", 5), 0, "%s: the shorter period has passed", text);
  first = strchr(text + 5, '1');
  cr_assert(first && first < text + 8 && first[3] == '1', "%s: its phase stands", text);
}

/* Two types have sets that never end; counts how many atoms of each ran after the priority of one was changed. */
Test(sets_tuning, types_are_prioritised) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  muster_type types[2];
  uint32_t ran[2] = {0};
  SCOPED_WORLD little = little_world_create(1, NULL);
  for (int i = 0; i < 2; i++) {
    types[i] = add_type(&little, CHANGED(due_every(FRAME_NS, type_of_sets(&set, 1)), it.sets.share = 50));
    for (int k = 0; k < 20; k++) spawn_at(&little, k);
  }
  cr_assert_eq(muster_type_set_share(little.world, types[1], 1), MUSTER_OK);
  run_frames(&little, 10);
  for (uint32_t frame = 0; frame < 20; frame++) {
    noted.count = 0;
    run_frame_with(&little, 1600000u); /* room for 160 atoms of 40 agents */
    for (uint32_t i = 0; i < noted.count; i++) ran[noted.calls[i].agent / 20]++;
  }
  cr_assert_gt(ran[0], 2 * ran[1], "%u and %u", ran[0], ran[1]);
  cr_assert_gt(ran[1], 0);
}

/* A set counts updates again after it had a period in ns; who is spawned then must begin with the set's delay. */
Test(sets_tuning, who_is_spawned_after_a_change_keeps_its_delays) {
  muster_set_def set = CHANGED(set_of(1, MUSTER_MODE_RUN, 50), it.period_updates = 4, it.delay_updates = 3);
  uint32_t first = 0;
  muster_set_tuning tuning = WITH(muster_set_tuning, it.period_updates = 0, it.period_ns = 7 * FRAME_NS);
  SCOPED_WORLD little = create_sets(type_of_sets(&set, 1));
  tune(&little, 0, &tuning);
  run_frame(&little);
  tuning.period_updates = 4;
  tuning.period_ns = 0;
  tune(&little, 0, &tuning);
  run_frames(&little, 2);
  muster_agent agent = spawn_at(&little, 1);
  noted.count = 0;
  for (uint32_t frame = 0; frame < 20 && !first; frame++) {
    run_frame(&little);
    for (uint32_t i = 0; i < noted.count; i++)
      if (noted.calls[i].agent == muster_agent_index(agent)) first = frame + 1;
    noted.count = 0;
  }
  cr_assert_geq(first, 4, "in frame %u", first);
}
