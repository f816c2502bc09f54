/* Scripts by a grammar of what scripts do to break a frame, a state or the sandbox. MUSTER_HOSTILE is how many, and
 * MUSTER_HOSTILE_SEED the seed of the first. A script that crashes stays in /tmp, with its seed in the first line. */
#include "scripts/hostile_grammar.h"
#include "scripts/script_host.h"

#include "support/sanitized.h"

#include <muster/report.h>

enum { HOSTILE_FRAMES = 40, HOSTILE_SECONDS = 120 };

static bool drop_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(size_t *)user += count;
  return true;
}

/* Saving begins updates anew that were cut, and walks what hostile agents keep: it may be refused, with a message. */
static void hostile_save(script_host *host) {
  size_t count = 0;
  const muster_save_def def = WITH(muster_save_def, it.write = drop_bytes, it.user = &count);
  cr_assert_eq(muster_world_save(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  if (host->module->save(host->instance, host->world, drop_bytes, &count) != MUSTER_OK)
    cr_assert_neq(*muster_last_error(), 0);
}

/* What became of scripts. */
typedef struct hostile_sums {
  uint32_t run, refused, quarantined;
  double errors, cut;
} hostile_sums;

static void hostile_run(hostile_script *script, uint64_t seed, hostile_sums *sums) {
  muster_frame_report report = muster_frame_report_default();
  alarm(HOSTILE_SECONDS); /* a hang is a failure */
  SCOPED_HOST *host = script_open(hostile_generate(script, seed));
  if (host->opened != MUSTER_OK) {
    cr_assert_neq(*muster_last_error(), 0);
    if (getenv("MUSTER_HOSTILE_TELL")) printf("seed %llu: %s\n", (unsigned long long)seed, muster_last_error());
    sums->refused++;
    return;
  }
  script_populate(host, 2, MUSTER_CLOCK_VIRTUAL);
  for (uint32_t i = 0; i < HOSTILE_FRAMES; i++) {
    script_run(host, 1);
    muster_frame_report_read(host->world, &report);
    cr_assert(muster_frame_kept(&report), "seed %llu, frame %u: %llu ns over", (unsigned long long)seed, i,
              (unsigned long long)report.overrun_own_ns);
    if (i == HOSTILE_FRAMES / 2) hostile_save(host);
    if (i == HOSTILE_FRAMES / 3) cr_assert_eq(script_reload(host, NULL), MUSTER_OK, "%s", muster_last_error());
  }
  cr_assert_eq(script_says(host, "ESCAPE"), 0, "seed %llu\n%s", (unsigned long long)seed, script_said(host));
  sums->run++;
  sums->errors += script_figure(host, "scripts_errors_total");
  sums->quarantined += script_says(host, "goes into quarantine");
}

Test(hostile, scripts_by_a_grammar_break_nothing, .timeout = 14000) {
  hostile_script *script = malloc(sizeof *script);
  hostile_sums sums = {0};
  uint32_t count = script_setting("MUSTER_HOSTILE", UNDER_THREAD_SANITIZER ? 6 : 100),
           first = script_setting("MUSTER_HOSTILE_SEED", 1);
  for (uint32_t i = 0; i < count; i++) hostile_run(script, first + i, &sums);
  printf("hostile scripts of seeds %u to %u: %u run, %u refused; %.0f errors, %u quarantines\n", first,
         first + count - 1, sums.run, sums.refused, sums.errors, sums.quarantined);
  cr_assert_leq(sums.refused, count / 10, "the grammar makes scripts that do not compile");
  cr_assert_gt(sums.errors, 0);
  cr_assert(sums.quarantined > 0 || count < 24, "no script was cut too often");
  free(script);
}
