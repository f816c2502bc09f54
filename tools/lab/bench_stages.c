/* `muster bench stages`: what each stage of a frame takes, with cold caches, under pressure, after a burst and idle. */
#include "benches.h"

#include "complaint.h"
#include "stages.h"
#include "text.h"
#include "work.h"

#include <muster/jobs.h>

#include <math.h>
#include <string.h>

enum { ROUNDS = 5, ROUNDS_QUICK = 1, WORKERS_MAX = 256, EVICT_MAX_MIB = 16384 };

typedef struct stages_work {
  bench_work common;
  uint32_t agents, workers, evict_mib; /* 0 = the default */
  const char *only;                    /* names of rows; null: all */
  uint32_t wanted;
  uint64_t evicted_bytes;
  stages_row rows[STAGES_ROWS];
} stages_work;

static void show_rows(FILE *stream) {
  fputs("\n"
        "The rows, with the default of --agents\n"
        "  tenth-fits     100,000 agents of which 5,000 are due in a frame; the budget holds them; paced and cold\n"
        "  all-fit        the same with 1,000,000 agents\n"
        "  pressure-4     1,000,000 agents with periods from 100 ms to 1 s, and further under pressure; the budget is "
        "changed before each round so that the pressure is about 4; paced and cold\n"
        "  backlog-4      the same by the rule of rates, whose periods end at 1 s: most agents wait in a backlog\n"
        "  burst          500,000 agents that run when they are woken, all woken between two frames; all frames until "
        "each has run; cold\n"
        "  idle-few       frames of 1,000 agents of which none is due, back to back; idle-few-cold: cold\n"
        "  idle           the same with 1,000,000 agents; idle-cold: cold\n",
        stream);
}

static void show_method(FILE *stream) {
  fprintf(
      stream,
      "\n"
      "How it is measured\n"
      "  The times of the frame report's stages but run, which are those of the calling thread, divided by the updates "
      "that the frames completed, or in idle frames by the frames. What the commit of a frame leaves to the next is "
      "in intake.\n"
      "  helpers: CPU of the other workers in frames, less what they spent on updates: all claims, less what fits the "
      "caller's run stage. That is an estimate, with their search for work in it, and 0 with one worker. sum: the "
      "stages and the helpers.\n"
      "  An update is one atom of about %u us on 16 bytes of state. Agents stand all over a square of 10 km x 10 km, "
      "%u observers walk there at 0.7 to 2.1 m/s, and in the burst and the idle frames they stand. A frame brings 1/30 "
      "s of "
      "simulation. The budget is 25 ms but for pressure-4 and backlog-4.\n"
      "  Cold: before each frame the caller reads and writes every line of a buffer of an eighth more than the "
      "last-level cache, 64 MiB at least, or of --evict. Caches of other workers' processors lose what the shared "
      "cache makes them lose. Paced: it then sleeps until the frame is due, 30 of them in a second, at least 1 ms. "
      "Where the buffer takes longer than a frame, frames come as often as it allows: `apart` tells.\n"
      "  Each row has a world of its own; those of a kind share one. In each round every row is measured in turn: 30 "
      "frames, 100 where they are back to back. Medians of rounds are shown, each figure's own; the range is that of "
      "the sum.\n"
      "  Frames in which the kernel gave the caller's processor to another thread do not count, unless there are no "
      "others; up to three times as many frames are run for them. In the burst all count, so measure it on a quiet "
      "machine.\n"
      "  carried: agents that a frame left waiting, mean. bytes: what the world's statistics call scheduling, per "
      "agent.\n",
      STAGES_ATOM_NS / 1000, STAGES_OBSERVERS);
}

static void show_help(FILE *stream) {
  fprintf(stream,
          "muster bench stages - measures what each stage of a frame takes beside its updates\n"
          "\n"
          "usage: muster bench stages [OPTION]...\n"
          "\n"
          "  --agents N     of the large worlds, from %d on (default %d); the others have a part of it\n"
          "  --workers W    the calling thread included (default 1)\n"
          "  --evict MIB    how much memory is written before a frame where caches are to be cold\n"
          "  --only ROW,... measures these rows alone\n"
          "  --runs R       rounds that medians are of (default %d)\n"
          "  --quick        one round, few frames, %d agents unless --agents says otherwise, 64 MiB unless --evict "
          "does: shows that it works, not how fast\n"
          "  --json FILE    the rows for machines, all times in ns; - is standard output\n"
          "  --help\n",
          STAGES_AGENTS_MIN, STAGES_AGENTS, ROUNDS, STAGES_AGENTS_QUICK);
  show_rows(stream);
  show_method(stream);
}

/* A bit for each row whose name stands in the list; all rows without one. */
static int take_rows(const char *list, uint32_t *wanted) {
  char name[OPTION_WORD_BYTES];
  if (!list) *wanted = (1u << STAGES_ROWS) - 1;
  while (options_list_next(&list, name)) {
    uint32_t row = 0;
    while (stages_name(row) && strcmp(stages_name(row), name) != 0) row++;
    if (!stages_name(row)) return complain_usage("unknown row '%s'; muster bench stages --help names them all", name);
    *wanted |= 1u << row;
  }
  return STATUS_OK;
}

static int check(void *user) {
  stages_work *work = user;
  bool quick = work->common.quick;
  if (!work->agents) work->agents = quick ? STAGES_AGENTS_QUICK : STAGES_AGENTS;
  if (!work->workers) work->workers = 1;
  if (!work->evict_mib && quick) work->evict_mib = 64;
  work->evicted_bytes = work->evict_mib ? (uint64_t)work->evict_mib << 20 : stages_evicted_bytes();
  return take_rows(work->only, &work->wanted);
}

static void show_step(const char *row, const char *doing, void *user) {
  progress_step(user, "%s: %s", row, doing);
}

static const char *measure(void *user) {
  stages_work *work = user;
  stages_setup setup = {.agents = work->agents,
                        .workers = work->workers,
                        .rounds = work->common.rounds,
                        .evicted_bytes = work->evicted_bytes,
                        .wanted = work->wanted,
                        .quick = work->common.quick,
                        .show = show_step,
                        .user = &work->common.line};
  work_calibrate();
  return stages_measure(&setup, work->rows);
}

/* ---------------------------------------------------------------------------------------------------------- results */

static const char *text_whole(double value) {
  return text_count((uint64_t)llround(value));
}

/* In order of the table. */
static const uint32_t shown[] = {MUSTER_STAGE_INTAKE, MUSTER_STAGE_SCORE,   MUSTER_STAGE_FOLD,
                                 MUSTER_STAGE_FIT,    MUSTER_STAGE_RELEASE, MUSTER_STAGE_RANK,
                                 MUSTER_STAGE_COMMIT, STAGES_HELPERS,       STAGES_SUM};

enum { SHOWN = sizeof shown / sizeof *shown };

/* Times of updates in ns, of frames in us. */
static void print_times(const stages_row *row) {
  double unit_ns = row->per_frame ? 1000 : 1;
  printf("%-14s %10s %-9s", row->name, text_count(row->agents), row->per_frame ? "us/frame" : "ns/update");
  for (uint32_t i = 0; i < SHOWN; i++) printf(" %8.2f", row->figures[shown[i]] / unit_ns);
  printf("  %.2f .. %.2f\n", row->sum_lowest_ns / unit_ns, row->sum_highest_ns / unit_ns);
}

static void print_frames(const stages_row *row) {
  printf("%-14s %10s %10s %9s %9s %10s %8.2f %8.1f\n", row->name, text_whole(row->figures[STAGES_UPDATES]),
         text_whole(row->figures[STAGES_CARRIED]), text_whole(row->figures[STAGES_FRAMES]),
         text_duration(row->figures[STAGES_APART]), text_duration(row->figures[STAGES_BUDGET]),
         row->figures[STAGES_PRESSURE], row->bytes_per_agent);
}

static void print(const void *user) {
  const stages_work *work = user;
  uint32_t rounds = work->common.rounds;
  printf("muster bench stages: %u worker%s, medians of %u round%s; a last-level cache of %s, %s written before cold "
         "frames%s\n\n",
         work->workers, work->workers == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s",
         text_bytes((double)stages_cache_bytes()), text_bytes((double)work->evicted_bytes),
         work->common.quick ? "; quick: figures mean little" : "");
  puts("row                agents per         intake    score     fold      fit  release     rank   commit  helpers"
       "      sum  rounds");
  for (uint32_t i = 0; i < STAGES_ROWS; i++)
    if (work->rows[i].measured) print_times(&work->rows[i]);
  puts("\nrow               updates    carried    frames     apart     budget pressure    bytes\n"
       "                per frame  per frame per round                               per agent");
  for (uint32_t i = 0; i < STAGES_ROWS; i++)
    if (work->rows[i].measured) print_frames(&work->rows[i]);
}

static void write(const void *user, json_writer *writer) {
  const stages_work *work = user;
  json_print(writer, "processors=%u agents=%u workers=%u rounds=%u quick=%d cache_bytes=%lu evicted_bytes=%lu rows[",
             muster_available_processors(), work->agents, work->workers, work->common.rounds, work->common.quick,
             stages_cache_bytes(), work->evicted_bytes);
  for (const stages_row *row = work->rows; row < work->rows + STAGES_ROWS; row++) {
    const double *figures = row->figures;
    if (!row->measured) continue;
    json_print(writer,
               "{ name=%s agents=%u per=%s paced=%d cold=%d intake_ns=%g score_ns=%g fold_ns=%g fit_ns=%g "
               "release_ns=%g rank_ns=%g commit_ns=%g helpers_ns=%g sum_ns=%g sum_ns_lowest_round=%g "
               "sum_ns_highest_round=%g run_ns=%g",
               row->name, row->agents, row->per_frame ? "frame" : "update", row->paced, row->cold,
               figures[MUSTER_STAGE_INTAKE], figures[MUSTER_STAGE_SCORE], figures[MUSTER_STAGE_FOLD],
               figures[MUSTER_STAGE_FIT], figures[MUSTER_STAGE_RELEASE], figures[MUSTER_STAGE_RANK],
               figures[MUSTER_STAGE_COMMIT], figures[STAGES_HELPERS], figures[STAGES_SUM], row->sum_lowest_ns,
               row->sum_highest_ns, figures[MUSTER_STAGE_RUN]);
    json_print(writer,
               "updates_per_frame=%g carried_per_frame=%g frames_per_round=%g frames_apart_ns=%g budget_ns=%g "
               "pressure=%g bytes_per_agent=%g }",
               figures[STAGES_UPDATES], figures[STAGES_CARRIED], figures[STAGES_FRAMES], figures[STAGES_APART],
               figures[STAGES_BUDGET], figures[STAGES_PRESSURE], row->bytes_per_agent);
  }
  json_end_array(writer);
}

static const option_def options[] = {
    OPTION_WITHIN("agents", COUNT32, stages_work, agents, STAGES_AGENTS_MIN, STAGES_AGENTS_MAX),
    OPTION_WITHIN("workers", COUNT32, stages_work, workers, 1, WORKERS_MAX),
    OPTION_WITHIN("evict", COUNT32, stages_work, evict_mib, 1, EVICT_MAX_MIB),
    OPTION("only", TEXT, stages_work, only),
    OPTION_WITHIN("runs", COUNT32, bench_work, rounds, 1, STAGES_ROUNDS_MAX),
    BENCH_QUICK,
    BENCH_JSON,
    {0}};

const bench_def bench_stages = {"stages",
                                "what each stage of a frame takes beside its updates",
                                show_help,
                                options,
                                sizeof(stages_work),
                                .rounds = {ROUNDS, ROUNDS_QUICK},
                                .noisy = true,
                                .check = check,
                                .measure = measure,
                                .print = print,
                                .write = write};
