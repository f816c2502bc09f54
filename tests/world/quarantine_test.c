/* Quarantine of a type by the host's word. */
#include "support/recording.h"

enum { FRAMES = 40, AGENTS = 20, QUARANTINED_AT = 10, PARDONED_AT = 25 };

static muster_atom_result count_up(muster_update *update) {
  ++*(uint64_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

static little_world open_world(void) {
  static const muster_atom atom = {count_up, MUSTER_ROLE_BEHAVIOUR, 1000};
  little_world little = little_world_create(2, NULL);
  muster_type_def type = muster_default_type_def();
  type.atoms = &atom;
  type.atom_count = 1;
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.state_bytes = sizeof(uint64_t);
  register_type(&little, &type);
  return little;
}

static bool rests(uint32_t frame) {
  return frame >= QUARANTINED_AT && frame < PARDONED_AT;
}

Test(quarantine, by_the_hosts_word_keeps_a_type_from_running_until_a_pardon_and_is_replayed) {
  recorded run;
  little_world little = open_world();
  recorded_begin(&run, little.world);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (frame == QUARANTINED_AT) cr_assert_eq(muster_type_quarantine(little.world, little.type), MUSTER_OK);
    if (frame == PARDONED_AT) cr_assert_eq(muster_type_pardon(little.world, little.type), MUSTER_OK);
    muster_frame_report report = run_frame(&little);
    recorded_note(&run, &little, report);
    cr_assert_eq(report.types_quarantined, rests(frame), "frame %u", frame);
    if (frame > 2) cr_assert_eq(report.completed > 0, !rests(frame), "frame %u: %u updates", frame, report.completed);
  }
  recorded_end(&run, little.world);
  cr_assert_eq(run.sums.quarantines, 1);
  cr_assert_eq(run.sums.pardons, 1);
  little_world_destroy(&little);
  little = open_world();
  recorded_replay(&run, little.world);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(little.world), run.hashes[frame], "frame %u", frame);
  }
  little_world_destroy(&little);
  recorded_forget(&run);
}
