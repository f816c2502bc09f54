/* `muster bench`: all benches. */
#include "benches.h"
#include "engine.h"

#include "commands.h"

#include <string.h>

const bench_def *const benches[] = {&bench_activation,
                                    &bench_budget,
                                    &bench_control,
                                    &bench_cores,
                                    &bench_journal,
                                    &bench_law,
                                    &bench_lines,
                                    &bench_machine,
                                    &bench_quality,
                                    &bench_replication,
                                    &bench_scale,
                                    &bench_scripts,
                                    &bench_sets,
                                    &bench_stages,
                                    &bench_sweep,
                                    &bench_zones,
                                    NULL};

static int run(const bench_def *bench, int count, char **arguments) {
  char command[64];
  snprintf(command, sizeof command, "bench %s", bench->name);
  return bench_run(command, bench, count, arguments);
}

int bench_command(int count, char **arguments) {
#ifdef MUSTER_HAS_CTL
  if (count > 1 && strcmp(arguments[1], "all") == 0) return bench_all_command(count - 1, arguments + 1);
#endif
  for (size_t i = 0; count > 1 && benches[i]; i++)
    if (strcmp(arguments[1], benches[i]->name) == 0) return run(benches[i], count - 1, arguments + 1);
  return bench_run("bench", &bench_pool, count, arguments);
}

static void show_suites(FILE *stream) {
  for (const bench_suite *suite = bench_suites; suite->name; suite++)
    fprintf(stream, "  %-12s %s\n", suite->name, suite->summary);
#ifdef MUSTER_HAS_CTL
  fputs("  all          the figures of README.md and the book, by the others and `muster run`\n", stream);
#endif
  for (const bench_def *const *bench = benches; *bench; bench++)
    fprintf(stream, "  %-12s %s\n", (*bench)->name, (*bench)->summary);
  fputs("\n"
        "All but the first two have options of their own: `muster bench scale --help`.\n",
        stream);
}

static void show_measures(FILE *stream, const bench_suite *suite) {
  fprintf(stream, "\nMeasures of %s:\n", suite->name);
  for (const bench_measure *measure = suite->measures; measure->take; measure++)
    for (const bench_series *series = measure->series; series->key; series++)
      fprintf(stream, "  %-20s %s, %s%s\n", series->key, series->title, series->unit,
              series->more_is_better ? ", more is better" : "");
}

static void show_options(FILE *stream) {
  fputs("\n"
        "  --workers N        threads that execute jobs (default: one per processor, at least 2)\n"
        "  --workers 1..N     dispatch only: a sweep, of Muster alone unless --only names others\n"
        "  --rounds R         default 5\n"
        "  --only SYSTEM,...  of muster, unpinned, tbb, openmp, glib, libuv, each of these four with -best, "
        "futex, futex-pin, split, alone\n"
        "  --measure KEY,...  only these measures\n"
        "  --peers DIR        folder of the peers' libraries (default: bench beside the program)\n"
        "  --quick            a few samples in one round: shows that it works, not how fast\n"
        "  --json FILE        the rows for machines; - is standard output\n"
        "  --help\n",
        stream);
}

static void show_method(FILE *stream) {
  fputs("\n"
        "How it is measured\n"
        "  Rounds are interleaved: in each, every measure is taken of every system in turn, in an order that "
        "rotates from round to round. Each time a system is given a process of its own, so that none disturbs "
        "another.\n"
        "  The peers are measured as they come, and at their best for a server's frames: threads bound to processors "
        "and, where that is to be had (tbb, openmp), kept awake, which idle-cpu shows. The last column compares "
        "Muster as it comes with the best of all of them.\n"
        "  p50, p99 and max are those of a round's samples; a row has the median of the rounds for each. Where more "
        "is better, p99 is what 99 % of the samples reach, and max the worst of all. n counts the samples of all "
        "rounds.\n"
        "  Work is a number of dependent multiplications, calibrated once; it does not end sooner by losing the "
        "processor. Efficiency is what the work costs one thread in a plain loop (the fastest of many short "
        "slices), divided by workers * wall time from the first submit until all is done: 1 = no loss, 1/workers "
        "= one worker's worth.\n"
        "  submit, parallel-for and claim are wall time over count, all workers at it. start-...: from before the "
        "submit until another worker runs; the caller does not work along but looks. An index of parallel-for "
        "costs one thread about a cycle, so one cycle over workers is the floor.\n"
        "  frame-cpu: CPU of all threads from the first submit until all is done, less what the work costs one "
        "thread; frame-idle-cpu: from then until the next frame. idle-cpu begins as the work ends. `alone` shows "
        "what of these the machine takes anyway.\n"
        "  urgent-...: from before the submit until it runs, while 100,000 down to 20,000 jobs of 5 us wait at the "
        "lowest level (2.5 us for each worker, where there are more than two); two workers that serve it at their "
        "next job would need 1.5 us at p50. The thread outside sleeps between samples. In urgent-from-inside a "
        "job of the backlog submits at a random point of its work.\n"
        "  claim-shared-writes is counted, not timed: fetch-adds on the batch's ticket, read from the ticket "
        "itself, and the store that opened it, per update. queue-claims: claims from the pool's queues per job, "
        "as its statistics count them; each is at least one write to a shared line.\n"
        "  The report says how much of the processors others took meanwhile. urgent-from-outside for one has a "
        "thread more than workers and cannot be measured on a busy machine.\n"
        "\n"
        "tools/setup --peers installs the peers' packages; configure and build anew afterwards.\n",
        stream);
}

void bench_show_help(FILE *stream) {
  fputs("muster bench - measures the worker pool beside other job systems in the same run, and what scheduling costs\n"
        "\n"
        "usage: muster bench NAME [OPTION]...\n\n",
        stream);
  show_suites(stream);
  show_options(stream);
  for (const bench_suite *suite = bench_suites; suite->name; suite++) show_measures(stream, suite);
  show_method(stream);
}
