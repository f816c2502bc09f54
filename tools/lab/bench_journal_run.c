#include "bench_journal.h"
#include "host.h"
#include "pacing.h"
#include "rounds.h"

#include "base/clock.h"
#include "scenarios/scenarios.h"

#include <muster/journal.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SETTLED_FRAMES = 60, LEAD_FRAMES = 30 /* of a turn: what the one before left behind is over then */ };

/* What the module keeps, as the journal's snapshot has it. */
typedef struct kept_bytes {
  unsigned char *bytes;
  size_t count;
} kept_bytes;

typedef struct journal_bench {
  journal_work *work;
  struct host host;
  host_setup setup;
  struct pacing pacing;
  uint64_t frame;
  muster_journal *journal;
} journal_bench;

static host_setup setup_of_journal(const journal_work *work) {
  host_setup setup = host_default_setup(muster_module_wildlife());
  setup.workers = work->workers;
  setup.options.agents = work->agents;
  setup.options.seed = work->common.seed;
  setup.world.seed = work->common.seed;
  return setup;
}

static bool run_one(journal_bench *bench, muster_frame_report *report) {
  bench->frame++;
  pacing_wait(&bench->pacing, bench->frame);
  return host_run_frame(&bench->host, pacing_sim_time(&bench->pacing, bench->frame), bench->work->budget_ns, report);
}

/* All agents are in, and the costs of their updates are known. */
static bool settle_in(journal_bench *bench) {
  muster_frame_report report;
  uint32_t calm = 0, rest = bench->work->common.quick ? 5 : SETTLED_FRAMES;
  bool all_in = false;
  for (uint32_t i = 0; i < HOST_INTAKE_FRAMES_MAX && rest > 0; i++) {
    if (!run_one(bench, &report)) return false;
    if (all_in) rest--;
    all_in = all_in || host_is_in(&bench->host, &report, &calm);
    if (progress_is_due(&bench->work->common.line))
      progress_put(&bench->work->common.line, "%u agents are in", report.agents);
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static bool save_module(muster_journal_put put, void *put_user, void *user) {
  const journal_bench *bench = user;
  return bench->host.module->save(bench->host.instance, bench->host.world, put, put_user) == MUSTER_OK;
}

static bool begin_journal(journal_bench *bench, journal_way way) {
  muster_journal_def def = muster_journal_def_default();
  def.path = bench->work->path;
  def.sync = (muster_journal_sync)(way - WAY_NONE);
  def.save_host = save_module;
  def.user = bench;
  if (bench->work->recovery_max_ns) def.recovery_max_ns = bench->work->recovery_max_ns;
  return muster_journal_begin(bench->host.world, &def, &bench->journal) == MUSTER_OK;
}

static bool look_at_journal(journal_bench *bench, journal_row *row, uint64_t *snapshots) {
  muster_journal_status status = muster_journal_status_default();
  if (muster_journal_status_read(bench->journal, &status) != MUSTER_OK) return false;
  if (*snapshots == UINT64_MAX) *snapshots = status.snapshots;
  if (status.snapshots > *snapshots && row->pause_count < JOURNAL_PAUSES_MOST)
    row->pauses_ns[row->pause_count++] = (double)status.pause_ns;
  *snapshots = status.snapshots;
  return status.runs;
}

static bool add_up_journal(journal_bench *bench, journal_row *row, journal_recovery *recovery) {
  muster_journal_status status = muster_journal_status_default();
  if (muster_journal_status_read(bench->journal, &status) != MUSTER_OK) return false;
  row->frames += bench->work->frames + (bench->work->common.quick ? 1 : LEAD_FRAMES);
  row->bytes += status.bytes;
  row->snapshots += status.snapshots;
  row->snapshot_bytes = status.snapshot_bytes;
  if (status.snapshot_ns) row->snapshot_ns = status.snapshot_ns;
  row->sync_ns = status.sync_ns;
  row->holds = row->holds && status.holds;
  if (row == &bench->work->rows[WAY_NONE]) recovery->predicted_ns = (double)status.recovery_ns;
  return true;
}

/* --------------------------------------------------------------------------------------------------------- recovery */

static bool take_kept(const void *bytes, size_t count, void *user) {
  kept_bytes *kept = user;
  kept->bytes = malloc(count + 1);
  if (kept->bytes) memcpy(kept->bytes, bytes, count);
  kept->count = count;
  return kept->bytes != NULL;
}

/* Recovers another world from the files as they are now, as a new process would. */
static bool recover_beside(journal_bench *bench, const kept_bytes *kept, muster_journal_info *info, uint64_t *hash,
                           journal_recovery *recovery) {
  struct host other;
  host_setup setup = bench->setup;
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  recover.path = bench->work->path;
  setup.state = kept->bytes;
  setup.state_bytes = kept->count;
  if (!host_open(&other, &setup)) return false;
  uint64_t begin_ns = clock_system();
  bool recovered = muster_journal_recover(other.world, &recover, info) == MUSTER_OK;
  recovery->call_ns = (double)(clock_system() - begin_ns);
  if (recovered) *hash = muster_world_hash(other.world);
  host_close(&other);
  return recovered;
}

static const char *measure_recovery(journal_bench *bench, journal_recovery *recovery) {
  kept_bytes kept = {0};
  muster_journal_info info = muster_journal_info_default();
  muster_journal_look_def look = muster_journal_look_def_default();
  uint64_t begin_ns = clock_system(), hash = 0;
  look.path = bench->work->path;
  look.take_host = take_kept;
  look.user = &kept;
  bool recovered =
      muster_journal_look(&look, &info, NULL) == MUSTER_OK && recover_beside(bench, &kept, &info, &hash, recovery);
  recovery->took_ns = (double)(clock_system() - begin_ns);
  recovery->frames = (double)(info.frames - info.snapshot_frames);
  free(kept.bytes);
  if (!recovered) return muster_last_error();
  return hash == muster_world_hash(bench->host.world) ? NULL : "what was recovered is not the world that ran";
}

/* ------------------------------------------------------------------------------------------------------------ turns */

static double cpu_of_process(void) {
  struct timespec spent;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return (double)spent.tv_sec * 1e9 + (double)spent.tv_nsec;
}

static double cpu_of_children(void) {
  struct rusage spent;
  getrusage(RUSAGE_CHILDREN, &spent);
  return (double)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) * 1e9 +
         (double)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec) * 1e3;
}

static bool run_lead(journal_bench *bench) {
  muster_frame_report report;
  for (uint32_t i = 0; i < (bench->work->common.quick ? 1 : LEAD_FRAMES); i++) {
    if (!run_one(bench, &report)) return false;
    muster_journal_turn(bench->journal, pacing_spare_ns(&bench->pacing, bench->frame + 1));
  }
  return true;
}

static bool run_turn(journal_bench *bench, journal_row *row, uint32_t round) {
  muster_frame_report report;
  uint64_t completed = 0, snapshots = UINT64_MAX; /* of those before the turn the pauses do not count */
  double begin_ns = cpu_of_process();
  for (uint64_t i = 0; i < bench->work->frames; i++) {
    if (!run_one(bench, &report)) return false;
    completed += report.completed;
    if (!bench->journal) continue;
    muster_journal_turn(bench->journal, pacing_spare_ns(&bench->pacing, bench->frame + 1));
    if (!look_at_journal(bench, row, &snapshots)) return false;
  }
  row->updates[round] = (double)completed / (double)bench->work->frames;
  row->cpu_ns[round] = cpu_of_process() - begin_ns;
  return true;
}

/* Frames in one way. Its journal begins before them and is gone behind them, so that no snapshot is written while the
 * frames of another way run. */
static const char *take_turn(journal_bench *bench, journal_way way, uint32_t round) {
  journal_work *work = bench->work;
  journal_row *row = &work->rows[way];
  const char *wrong = NULL;
  double children_ns = cpu_of_children();
  bench->journal = NULL;
  if (way != WAY_WITHOUT && !begin_journal(bench, way)) return muster_last_error();
  bool ran = run_lead(bench) && run_turn(bench, row, round) &&
             (!bench->journal || add_up_journal(bench, row, &work->recoveries[round]));
  if (!ran) wrong = bench->journal ? "the journal ended, or a frame failed" : muster_last_error();
  if (!wrong && way == WAY_NONE) wrong = measure_recovery(bench, &work->recoveries[round]);
  if (bench->journal && muster_journal_end(bench->journal, true) != MUSTER_OK && !wrong) wrong = muster_last_error();
  row->cpu_ns[round] += cpu_of_children() - children_ns;
  row->cpu_ns[round] /= row->updates[round] * (double)work->frames;
  return wrong;
}

static const char *take_turns(journal_bench *bench) {
  const char *wrong = NULL;
  uint32_t rounds = bench->work->common.rounds;
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t i = 0; i < JOURNAL_WAYS && !wrong; i++) {
      progress_step(&bench->work->common.line, "round %u of %u", round + 1, rounds);
      wrong = take_turn(bench, (journal_way)((i + round) % JOURNAL_WAYS), round);
    }
  return wrong;
}

static double median_of(const double *values, uint32_t count) {
  double copy[JOURNAL_PAUSES_MOST];
  memcpy(copy, values, count * sizeof *copy);
  return count ? rounds_median(copy, count) : 0;
}

static void sum_up_row(const journal_work *work, journal_row *row) {
  uint32_t rounds = work->common.rounds;
  double by_cpu[JOURNAL_ROUNDS_MOST];
  for (uint32_t i = 0; i < rounds; i++) row->ratios[i] = row->updates[i] / work->rows[WAY_WITHOUT].updates[i];
  for (uint32_t i = 0; i < rounds; i++) by_cpu[i] = work->rows[WAY_WITHOUT].cpu_ns[i] / row->cpu_ns[i];
  row->cpu_median_ns = median_of(row->cpu_ns, rounds);
  row->cpu_ratio = median_of(by_cpu, rounds);
  row->median = median_of(row->updates, rounds);
  row->ratio = median_of(row->ratios, rounds);
  row->lowest = row->highest = row->ratios[0];
  for (uint32_t i = 0; i < rounds; i++) {
    if (row->ratios[i] < row->lowest) row->lowest = row->ratios[i];
    if (row->ratios[i] > row->highest) row->highest = row->ratios[i];
  }
  row->pause_ns = median_of(row->pauses_ns, row->pause_count);
  for (uint32_t i = 0; i < row->pause_count; i++)
    if (row->pauses_ns[i] > row->pause_max_ns) row->pause_max_ns = row->pauses_ns[i];
}

static void sum_up_recoveries(journal_work *work) {
  uint32_t rounds = work->common.rounds;
  double values[4][JOURNAL_ROUNDS_MOST];
  for (uint32_t i = 0; i < rounds; i++) {
    values[0][i] = work->recoveries[i].predicted_ns;
    values[1][i] = work->recoveries[i].took_ns;
    values[2][i] = work->recoveries[i].call_ns;
    values[3][i] = work->recoveries[i].frames;
  }
  work->recovery = (journal_recovery){median_of(values[0], rounds), median_of(values[1], rounds),
                                      median_of(values[2], rounds), median_of(values[3], rounds)};
}

const char *journal_measure(void *user) {
  static const char *const names[] = {"without", "none", "second", "frame"};
  journal_work *work = user;
  journal_bench bench = {.work = work, .setup = setup_of_journal(work)};
  for (uint32_t i = 0; i < JOURNAL_WAYS; i++) {
    work->rows[i].name = names[i];
    work->rows[i].holds = true;
  }
  snprintf(work->path, sizeof work->path, "%s/muster-bench-journal-%ld", work->folder, (long)getpid());
  if (!host_open(&bench.host, &bench.setup)) return muster_last_error();
  bench.pacing = pacing_begin(work->rate, !work->common.quick);
  const char *wrong = settle_in(&bench) ? take_turns(&bench) : muster_last_error();
  host_close(&bench.host);
  if (wrong) return wrong;
  for (uint32_t i = 0; i < JOURNAL_WAYS; i++) sum_up_row(work, &work->rows[i]);
  sum_up_recoveries(work);
  return NULL;
}
