/* `muster bench journal`: what a journal costs, and what a recovery takes. */
#include "bench_journal.h"

#include "complaint.h"
#include "plots.h"
#include "text.h"

#include <muster/muster.h>

#include <string.h>

/* What the journal may take, in a hundred completed updates. */
static const double lost_most = 3.0;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench journal - what a journal costs, and what a recovery takes\n"
      "\n"
      "usage: muster bench journal [OPTION]...\n"
      "\n"
      "  --agents N         of wildlife; default 100000, 1000 .. 1000000\n"
      "  --workers N        default 2\n"
      "  --budget 10ms      wall time of a frame, 100us .. 1s\n"
      "  --hz 30            frames per second\n"
      "  --frames N         of a turn; default 90, 10 .. 3000\n"
      "  --recovery-max 700ms\n"
      "                     how long a recovery may take, 10ms .. 1h\n"
      "  --folder DIR       where the journal's files go (default /var/tmp): what a sync takes is that disk's\n"
      "  --rounds R         default 9\n"
      "  --seed S           default 1\n"
      "  --quick            a small world in one round: shows that it works, not how fast\n"
      "  --json FILE        the figures for machines, times in ns; - is standard output\n"
      "  --plots DIR        draw the ratios of the rounds as PNG into this folder (needs gnuplot)\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  One world runs its frames in turns: without a journal, and with a journal that is synced never (none), each "
      "second and each frame; the order rotates from round to round. What is compared are the updates that "
      "are completed in a frame, in the same round; the median of the ratios counts. Snapshots are taken as often as "
      "the longest recovery asks for. The journal of a turn is begun before its first frame and ended behind its "
      "last; the first 30 frames are not counted.\n"
      "  by CPU    updates for the same CPU time, of all threads and of the processes that write snapshots: what other "
      "programs take of the machine does not count there\n"
      "  pause     how long the frames stand still for the fork of a snapshot's process, as the journal counts it\n"
      "  recovery  after each turn of none another world is brought to the same frame from the files, and must come "
      "to the same hash: what the journal predicted, and what it took, opening the module and reading the files "
      "included\n"
      "  A journal that is synced never is to take at most %.0f %% of the completed updates. "
      "All is reported, not judged: it depends on the machine and on what else uses it.\n",
      lost_most);
}

static int check_journal(void *user) {
  journal_work *work = user;
  bool quick = work->common.quick;
  if (!work->agents) work->agents = quick ? 2000 : 100000;
  if (!work->workers) work->workers = 2;
  if (!work->budget_ns) work->budget_ns = quick ? 1000000 : 10000000;
  if (!work->rate) work->rate = 30000;
  if (!work->frames) work->frames = quick ? 20 : 90;
  if (!work->folder) work->folder = "/var/tmp";
  if (strlen(work->folder) < 400) return STATUS_OK;
  return complain_usage("--folder is longer than 400 bytes");
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void print_row(const journal_row *row) {
  printf("%-8s %9.1f %8.4f %8.4f .. %.4f %8.4f", row->name, row->median, row->ratio, row->lowest, row->highest,
         row->cpu_ratio);
  if (row->frames)
    printf(" %12s %10lu %11s", text_bytes((double)row->bytes / (double)row->frames), row->snapshots,
           text_ns((uint64_t)row->pause_ns));
  if (row->frames) printf(" %11s %11s", text_ns((uint64_t)row->pause_max_ns), text_ns(row->sync_ns));
  putchar('\n');
}

static void print_journal(const void *user) {
  const journal_work *work = user;
  const journal_row *none = &work->rows[WAY_NONE];
  double lost = (1 - none->ratio) * 100;
  printf("muster bench journal: wildlife, %s agents, %u workers, %s at %g Hz, %u rounds of %lu frames; files in %s\n\n",
         text_count(work->agents), work->workers, text_ns(work->budget_ns), (double)work->rate / 1000,
         work->common.rounds, work->frames, work->folder);
  printf("%-8s %9s %8s %18s %8s %12s %10s %11s %11s %11s\n", "journal", "updates", "ratio", "in the rounds", "by CPU",
         "bytes/frame", "snapshots", "pause, p50", "max", "sync");
  for (uint32_t i = 0; i < JOURNAL_WAYS; i++) print_row(&work->rows[i]);
  printf("\na journal that is synced never takes %.2f %% of the completed updates%s\n", lost,
         lost <= lost_most ? "" : ", which is more than wanted");
  printf("a snapshot has %s and took its process %s\n", text_bytes((double)none->snapshot_bytes),
         text_ns(none->snapshot_ns));
  printf("a recovery of %.0f frames was predicted to take %s and took %s, %s of that in the library%s\n",
         work->recovery.frames, text_ns((uint64_t)work->recovery.predicted_ns),
         text_ns((uint64_t)work->recovery.took_ns), text_ns((uint64_t)work->recovery.call_ns),
         none->holds ? "" : "; the journal said that it cannot keep its bound");
}

static void write_row(const journal_row *row, json_writer *writer) {
  json_print(
      writer,
      "{ journal=%s updates_per_frame=%g ratio=%g lowest_ratio=%g highest_ratio=%g cpu_ns_per_update=%g cpu_ratio=%g",
      row->name, row->median, row->ratio, row->lowest, row->highest, row->cpu_median_ns, row->cpu_ratio);
  if (row->frames)
    json_print(writer,
               "bytes_per_frame=%g snapshots=%lu snapshot_bytes=%lu snapshot_ns=%lu pause_ns=%g pause_max_ns=%g "
               "sync_ns=%lu holds=%d",
               (double)row->bytes / (double)row->frames, row->snapshots, row->snapshot_bytes, row->snapshot_ns,
               row->pause_ns, row->pause_max_ns, row->sync_ns, row->holds);
  json_end_object(writer);
}

static void write_journal(const void *user, json_writer *writer) {
  const journal_work *work = user;
  json_print(writer, "agents=%u workers=%u budget_ns=%lu frames=%lu rounds=%u lost_share=%g lost_share_wanted=%g rows[",
             work->agents, work->workers, work->budget_ns, work->frames, work->common.rounds,
             1 - work->rows[WAY_NONE].ratio, lost_most / 100);
  for (uint32_t i = 0; i < JOURNAL_WAYS; i++) write_row(&work->rows[i], writer);
  json_print(writer, "] recovery{ frames=%g predicted_ns=%g took_ns=%g call_ns=%g }", work->recovery.frames,
             work->recovery.predicted_ns, work->recovery.took_ns, work->recovery.call_ns);
}

static bool draw_journal(const void *user, const char *folder) {
  const journal_work *work = user;
  FILE *script = plot_begin(folder, "journal", 800, 400);
  if (!script) return false;
  for (uint32_t i = WAY_NONE; i < JOURNAL_WAYS; i++) {
    fprintf(script, "$%s << EOD\n", work->rows[i].name);
    for (uint32_t k = 0; k < work->common.rounds; k++) fprintf(script, "%u %g\n", k + 1, work->rows[i].ratios[k]);
    fprintf(script, "EOD\n");
  }
  fprintf(script, "set title 'Completed updates with a journal, as a share of those without'\n"
                  "set xlabel 'round'\nset key outside\nset yrange [*:1.05]\nplot ");
  for (uint32_t i = WAY_NONE; i < JOURNAL_WAYS; i++)
    fprintf(script, "$%s using 1:2 with linespoints title '%s', ", work->rows[i].name, work->rows[i].name);
  fprintf(script, "%g with lines dashtype 2 title 'wanted of none'\n", 1 - lost_most / 100);
  return plot_end(script);
}

static const option_def options[] = {
    OPTION_WITHIN("agents", COUNT32, journal_work, agents, 1000, 1000000),
    OPTION_WITHIN("workers", COUNT32, journal_work, workers, 1, MUSTER_WORKERS_MAX),
    OPTION_WITHIN("budget", DURATION, journal_work, budget_ns, 100000, 1000000000),
    OPTION_WITHIN("hz", RATE, journal_work, rate, 100, 10000000),
    OPTION_WITHIN("frames", COUNT, journal_work, frames, 10, 3000),
    OPTION_WITHIN("recovery-max", DURATION, journal_work, recovery_max_ns, 10000000, 3600000000000u),
    OPTION("folder", TEXT, journal_work, folder),
    BENCH_ROUNDS(JOURNAL_ROUNDS_MOST),
    BENCH_SEED,
    BENCH_QUICK,
    BENCH_JSON,
    BENCH_PLOTS,
    {0}};

const bench_def bench_journal = {"journal",
                                 "what a journal costs, and what a recovery takes",
                                 show_help,
                                 options,
                                 sizeof(journal_work),
                                 .rounds = {9, 1},
                                 .noisy = true,
                                 .check = check_journal,
                                 .measure = journal_measure,
                                 .print = print_journal,
                                 .plot = draw_journal,
                                 .write = write_journal};
