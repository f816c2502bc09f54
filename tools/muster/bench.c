/* `muster bench`: all benches, and the one way in which each is run. */
#include "bench.h"
#include "engine.h"

#include "commands.h"
#include "complaint.h"
#include "noise.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON_BYTES = 1 << 26 /* of address space: pages that no document reaches are never used */ };

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

bool bench_read_costs(void *user, const char *text) {
  bench_work *work = user;
  if (strcmp(text, "constant") != 0 && strcmp(text, "log-normal") != 0) {
    complain_usage("--costs is '%s': constant or log-normal", text);
    return false;
  }
  work->sigma = strcmp(text, "constant") ? 1.0 : 0.0;
  return true;
}

const char *bench_costs_name(const bench_work *work) {
  return work->sigma > 0 ? "log-normal" : "constant";
}

static int write_document(const bench_def *bench, const bench_work *work, struct output *json) {
  json_writer writer;
  char *text = malloc(JSON_BYTES);
  if (!text) return complain_failure("out of memory");
  json_start(&writer, text, JSON_BYTES);
  json_begin_object(&writer, NULL);
  if (bench->name) json_string(&writer, "bench", bench->name);
  bench->write(work, &writer);
  if (bench->noisy)
    json_print(&writer, "others_cpu_share=%g stolen_cpu_share=%g", work->others_share, work->stolen_share);
  json_end_object(&writer);
  bool written = output_commit_json(json, &writer);
  free(text);
  return written ? STATUS_OK : STATUS_FAILED;
}

static int deliver(const bench_def *bench, const bench_work *work, struct output *json) {
  if (!work->quiet) bench->print(work);
  if (!work->quiet && bench->noisy) noise_print(work->others_share, work->stolen_share);
  /* The document first: it is there then, whatever becomes of the plots. */
  int status = work->json ? write_document(bench, work, json) : STATUS_OK;
  if (work->plots && !bench->plot(work, work->plots)) return STATUS_FAILED;
  return status == STATUS_OK && bench->judge ? bench->judge(work) : status;
}

static int measure(const bench_def *bench, bench_work *work, struct output *json) {
  struct noise before = noise_begin();
  work->line = progress_begin();
  const char *wrong = bench->measure(work);
  progress_end(&work->line);
  noise_end(&before, &work->others_share, &work->stolen_share);
  return wrong ? complain_failure("%s", wrong) : deliver(bench, work, json);
}

/* Completes and checks what was asked for. Returns the exit status. */
static int check(const bench_def *bench, bench_work *work) {
  if (bench->name && *work->rest) return complain_usage("one bench at a time: '%s' is too many", *work->rest);
  if (work->rounds == 0) work->rounds = bench->rounds[work->quick];
  work->quiet = work->json && strcmp(work->json, "-") == 0;
  int status = bench->check ? bench->check(work) : STATUS_OK;
  if (status != STATUS_OK || !work->spawns || access(work->spawns, R_OK) == 0) return status;
  return complain_failure("cannot read '%s': %s", work->spawns, strerror(errno));
}

static int read_and_run(const char *command, const bench_def *bench, bench_work *work, int count, char **arguments) {
  struct output json;
  int status;
  option_reader reader = {command, bench->options, bench->show_help};
  if (!options_read(&reader, work, count, arguments, &status)) return status;
  work->rest = arguments + optind;
  status = check(bench, work);
  if (status != STATUS_OK || !output_begin(&json, work->plots, work->json)) return status ? status : STATUS_FAILED;
  status = measure(bench, work, &json);
  output_discard(&json);
  return status;
}

int bench_run(const char *command, const bench_def *bench, int count, char **arguments) {
  bench_work *work = calloc(1, bench->bytes);
  if (!work) return complain_failure("out of memory");
  work->seed = 1;
  int status = read_and_run(command, bench, work, count, arguments);
  free(work);
  return status;
}

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
