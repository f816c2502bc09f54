/* A recovery that may take longer than it should is told once, and again when it has been within bounds meanwhile. What
 * it may take is set here instead of measured. */
#include "support/journal_inside.h"
#include "support/journal_town.h"

typedef struct told_lines {
  uint32_t warnings;
  char last[400];
} told_lines;

static void count_warnings(muster_log_level level, const char *message, void *user) {
  told_lines *told = user;
  if (level != MUSTER_LOG_WARNING || !strstr(message, "a recovery may take")) return;
  told->warnings++;
  snprintf(told->last, sizeof told->last, "%s", message);
}

/* A turn after which a recovery may take so long; `costly`: another snapshot would cost too much now. */
static bool holds_after(kept_world *kept, uint64_t replay_ns, bool costly) {
  muster_journal *journal = kept->journal;
  muster_journal_status status = muster_journal_status_default();
  run_frame(&kept->little);
  journal->current.replay_ns = replay_ns;
  journal->looks = 0; /* no snapshot is begun by the first look */
  journal->snapshot_cpu_ns = costly ? 3600000000000u : 1;
  muster_journal_turn(journal, 1000000000u);
  cr_assert_eq(muster_journal_status_read(journal, &status), MUSTER_OK);
  return status.holds;
}

Test(limit_again, is_told_once_each_time_that_it_is_passed) {
  told_lines told = {0};
  const muster_world_def world =
      WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.log = (muster_log_sink){count_warnings, &told});
  const muster_journal_def def = WITH(muster_journal_def, it.recovery_max_ns = 1000000000, it.start_ns = 10000000);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little_world_create(1, &world), def);
  kept.journal->load_ns = 250000000;
  kept.journal->status.snapshot_bytes = 12340000;
  const char *says = formed("journal %s: a recovery may take 5.26 s, recovery_max is 1.00 s: loading a snapshot of "
                            "12.3 MB takes 0.25 s, and more of them would cost more than a 50th of the time",
                            kept.place.path);
  for (uint32_t time = 1; time <= 3; time++) {
    cr_expect_not(holds_after(&kept, 5000000000u, true), "it is beyond its bound");
    cr_expect_not(holds_after(&kept, 5000000000u, true));
    cr_expect_eq(told.warnings, time, "told %u times", told.warnings);
    cr_expect_str_eq(told.last, says, "%s", told.last);
    cr_expect(holds_after(&kept, 600000000u, false), "it is within it again");
    cr_expect_eq(told.warnings, time);
  }
}
