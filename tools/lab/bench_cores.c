/* `muster bench cores`: what frames would take on more processors than there are. */
#include "bench_cores.h"

#include "complaint.h"
#include "work.h"

#include <string.h>

enum { ROUNDS = 7, ROUNDS_QUICK = 1 };

static void show_options(FILE *stream) {
  fprintf(stream,
          "muster bench cores - what frames would take with 2 to %d workers, from what they take with one\n"
          "\n"
          "usage: muster bench cores [OPTION]...\n"
          "\n"
          "  --only ROW,... these rows alone:",
          CORES_WORKERS_MAX);
  for (uint32_t i = 0; i < CORES_ROWS; i++) fprintf(stream, " %s", cores_plans[i].name);
  fprintf(stream,
          "\n"
          "  --runs R       rounds that medians are of (default %d)\n"
          "  --workers N    measures nothing: runs each world with one worker and with N in virtual time, and compares "
          "the results\n"
          "  --seed S       of the worlds (default 1)\n"
          "  --quick        one round, few frames, a fiftieth of the agents: shows that it works, not how fast\n"
          "  --json FILE    the rows for machines, all times in ns; - is standard output\n"
          "  --plots DIR    draw the times as PNG into this folder (needs gnuplot)\n"
          "  --help\n",
          ROUNDS);
}

static void show_method(FILE *stream) {
  fprintf(
      stream,
      "\n"
      "How it is measured\n"
      "  A row is a world of `muster run fixed` or `wildlife`, 100,000 agents of which 7,000 are due in a frame, or "
      "1,000,000 of which 60,000 are; so much simulation passes in a frame. Frames follow each other at once, and "
      "their "
      "budget holds all updates. Times are the report's wall_ns per update.\n"
      "  In each round the world runs a few frames with one worker; as many that are recorded, while its thread goes "
      "to "
      "and fro between two processors; as many that are recorded where it stays; then the recordings are frozen and "
      "all "
      "is predicted from them; then as many frames with 2 workers, 4, and so on, up to one for each processor. Medians "
      "of frames, and of rounds.\n"
      "  Recorded is what the frame's thread does alone, what each run of a section takes, when claims are offered, "
      "and what each claim takes; sections are cut as for %d workers. `recorded` says by how much that is slower.\n"
      "  What calling a helper costs is measured with teams that do nothing.\n"
      "  What it costs that memory moves between processors, or that they have more cache: the thread that goes to and "
      "fro runs on another processor what a second worker would, and by as much as each stage takes longer so, it does "
      "with 2 workers, and up to twice that with many; `moved` says how much it is of a frame. Going there is not "
      "counted. Known of two processors alone: where others are farther apart, it is more.\n"
      "  The model does the steps of a frame in their order. As many helpers are called as the library calls for as "
      "much work where calls pay; a helper that has slept wakes first, and wakes the next; whoever is free takes a "
      "run, its own ones "
      "first, or a claim, one after the other; helpers take claims as soon as they are offered, while the caller goes "
      "on planning; the caller waits for the last to leave. Helpers sleep when a frame begins, and fall asleep as the "
      "pool's workers do. With one worker the recorded times add up.\n"
      "  times as fast: the frames with one worker, not recorded, over the model's. In parentheses pessimistic: all "
      "but "
      "the updates takes three times as long, with one worker, too, a line of memory goes from one processor to "
      "another "
      "in 300 ns, and a sleeper wakes in 60 us.\n"
      "  Where a frame's time goes, of the last round: as recorded; what it takes of a frame with %d workers; and its "
      "serial part, in which the caller works and no other worker has anything to do. `before x` is what the caller "
      "does "
      "until the section x begins, `until its end` what it does behind all others of its stage, and `beside claims` "
      "what "
      "it plans while others may take claims. Sections are called by their functions; what they take includes calling "
      "helpers and waiting for the last.\n"
      "  Not in the model: memory bandwidth, and processors that run slower when all are busy. With two processors, "
      "that is what --workers 64 cannot tell either: it shows that results are the "
      "same.\n"
      "\n"
      "Ends with status 1 when results differ.\n",
      CORES_WORKERS_MAX, CORES_TARGET_WORKERS);
}

static void show_help(FILE *stream) {
  show_options(stream);
  show_method(stream);
}

/* A bit for each row whose name stands in the list; all rows without one. */
static int take_rows(const char *list, uint32_t *wanted) {
  char name[OPTION_WORD_BYTES];
  if (!list) *wanted = (1u << CORES_ROWS) - 1;
  while (options_list_next(&list, name)) {
    uint32_t row = 0;
    while (row < CORES_ROWS && strcmp(cores_plans[row].name, name) != 0) row++;
    if (row == CORES_ROWS) return complain_usage("unknown row '%s'; muster bench cores --help names them all", name);
    *wanted |= 1u << row;
  }
  return STATUS_OK;
}

static int check(void *user) {
  cores_work *work = user;
  work->processors = muster_available_processors();
  if (work->workers && work->common.plots) return complain_usage("--workers measures nothing that --plots could draw");
  return take_rows(work->only, &work->wanted);
}

static const char *measure(void *user) {
  work_calibrate();
  return cores_measure(user);
}

static int judge(const void *user) {
  const cores_work *work = user;
  for (uint32_t i = 0; i < CORES_ROWS; i++)
    if (work->hashes[i][0] != work->hashes[i][1])
      return complain_failure("%s: %u workers came to another world than one", cores_plans[i].name, work->workers);
  return STATUS_OK;
}

static const option_def options[] = {OPTION("only", TEXT, cores_work, only),
                                     OPTION_WITHIN("workers", COUNT32, cores_work, workers, 2, CORES_WORKERS_MAX),
                                     OPTION_WITHIN("runs", COUNT32, bench_work, rounds, 1, CORES_ROUNDS_MAX),
                                     BENCH_SEED,
                                     BENCH_QUICK,
                                     BENCH_JSON,
                                     BENCH_PLOTS,
                                     {0}};

const bench_def bench_cores = {"cores",
                               "what frames would take on more processors, and what keeps them from it",
                               show_help,
                               options,
                               sizeof(cores_work),
                               .rounds = {ROUNDS, ROUNDS_QUICK},
                               .noisy = true,
                               .check = check,
                               .measure = measure,
                               .print = cores_print,
                               .plot = cores_plot,
                               .write = cores_write,
                               .judge = judge};
