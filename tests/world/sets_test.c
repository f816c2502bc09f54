/* Types with sets: which sets run in an update, in which order, and how long. */
#include "support/set_world.h"

static char text[CALLS_MAX + 1];

/* Runs a frame; what it ran, as letters. */
static const char *run(little_world *little, calls *calls) {
  run_frame(little);
  return letters_of(calls, text);
}

/* One agent, brought to where it runs in every frame. */
static little_world create(const muster_set_def *sets, uint32_t count, calls *calls, uint64_t slice_ns,
                           muster_agent *agent) {
  little_world little = little_world_create(1, NULL);
  muster_type_def type = type_of_sets(sets, count, calls);
  type.slice_ns = slice_ns;
  calls->count = 0;
  register_type(&little, &type);
  *agent = spawn_at(&little, 0);
  return little;
}

static calls noted;

Test(sets, roles_come_in_order_and_priorities_within_them) {
  muster_set_def sets[5];
  muster_agent agent;
  for (uint32_t i = 0; i < 5; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 10 * (i + 1));
  sets[0].role = MUSTER_ROLE_ACTION;
  sets[4].role = MUSTER_ROLE_PERCEPTION;
  little_world little = create(sets, 5, &noted, 0, &agent);
  run(&little, &noted);
  cr_assert_str_eq(run(&little, &noted), "edcba");
  little_world_destroy(&little);
}

Test(sets, a_slice_cuts_by_mode) {
  static const char *expected[] = {"aaaaaaaa", "aaa", "aaa"};
  static const char *then[] = {"aaaaaaaa", "aaa", "aaa"};
  static const uint32_t next[] = {0, 0, 6};
  for (muster_mode mode = MUSTER_MODE_RUN; mode <= MUSTER_MODE_SLICEABLE; mode++) {
    muster_set_def set = set_of(8, mode, 50);
    muster_agent agent;
    little_world little = create(&set, 1, &noted, 3 * ATOM_NS, &agent);
    while (!*run(&little, &noted)) continue;
    (void)expected;
    cr_assert_str_eq(run(&little, &noted), then[mode], "%s", text);
    cr_assert_eq(set_info_of(&little, agent, 0).atom_next, next[mode], "%u", set_info_of(&little, agent, 0).atom_next);
    little_world_destroy(&little);
  }
}
