#include "bench_machine.h"

#include "bench_machine_report.h"
#include "complaint.h"
#include "noise.h"
#include "options.h"
#include "output.h"
#include "pacing.h"
#include "parse.h"
#include "progress.h"
#include "text.h"

#include <muster/muster.h>

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 14, OPTION_BUDGET = OPTION_OWN, OPTION_HZ, OPTION_FRAMES };

static const uint64_t budget_least_ns = 100000, budget_most_ns = 1000000000, frames_most = 1000000;
static const uint64_t rate_least = 100, rate_most = 10000000;

static void show_help(FILE *stream) {
  fputs(
      "muster bench machine - how often the machine itself makes a frame late\n"
      "\n"
      "usage: muster bench machine [OPTION]...\n"
      "\n"
      "  --workers N    threads, the calling one included (default: one per processor)\n"
      "  --budget 5ms   wall time of a frame, 100us .. 1s, at most the frame's whole time (default 5ms)\n"
      "  --hz 30        frames per second (default 30)\n"
      "  --frames N     default 600\n"
      "  --json FILE    the figures for machines, all times in ns; - is standard output\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  The threads are those of a pool, placed, woken and paced as in `muster run`.\n"
      "  In each frame every thread reads the clock and its own CPU time, over and over until the deadline, and "
      "then sleeps until the next frame. It has nothing to do that could make it late, so what is late was taken "
      "by the kernel, by other programs, or by the host of a virtual machine.\n"
      "  late    what lies behind the deadline as a thread sees that it has come, the latest thread of a frame; "
      "own: at most the CPU time that the thread took there, the measure of `muster run`. "
      "A host takes the processor unseen: what it takes counts as own time of the thread that ran.\n"
      "  stalls  readings more than 20 us apart, on the wall and in own time, at any time within a frame\n"
      "  The promise of `muster run` allows 20 us and the frame's longest atom. 70 us is that with an atom "
      "of 50 us. But an atom in which the machine stalls is longer in own time, and so allows more: as an audit counts "
      "are the frames that are late by at most 20 us and the longest stall of any thread before the deadline.\n"
      "  What is late here is late for any program that works until its deadline; one that ends earlier "
      "is late less often.\n"
      "  Under `chrt -f 10` other programs do not count, as in `chrt -f 10 muster run`.\n"
      "  It is reported, not judged: it depends on the machine and on what else uses it.\n",
      stream);
}

static bool read_option(void *user, int option, const char *text) {
  bench_machine_options *options = user;
  switch (option) {
  case OPTION_JSON:
    options->json = text;
    return true;
  case OPTION_WORKERS:
    return parse_count32("--workers", text, 1, MUSTER_WORKERS_MAX, &options->workers);
  case OPTION_BUDGET:
    return parse_duration("--budget", text, budget_least_ns, budget_most_ns, &options->budget_ns);
  case OPTION_HZ:
    return parse_rate("--hz", text, rate_least, rate_most, &options->rate);
  default:
    return parse_count("--frames", text, 1, frames_most, &options->frames);
  }
}

static int complete(bench_machine_options *options, int count, char **arguments) {
  char budget[TEXT_BYTES], period[TEXT_BYTES];
  struct pacing pacing = {.rate = options->rate};
  options->period_ns = pacing_sim_time(&pacing, 1);
  if (options->workers == 0) options->workers = muster_available_processors();
  if (optind < count) return complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  if (options->budget_ns <= options->period_ns) return STATUS_OK;
  return complain_usage("--budget is %s, longer than a frame of %s; lower it or --hz",
                        text_duration(budget, (double)options->budget_ns),
                        text_duration(period, (double)options->period_ns));
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(bench_machine_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {{"workers", required_argument, NULL, OPTION_WORKERS},
                                               {"budget", required_argument, NULL, OPTION_BUDGET},
                                               {"hz", required_argument, NULL, OPTION_HZ},
                                               {"frames", required_argument, NULL, OPTION_FRAMES},
                                               {"json", required_argument, NULL, OPTION_JSON},
                                               {"help", no_argument, NULL, OPTION_HELP},
                                               {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench machine", long_options, show_help, read_option};
  *options = (bench_machine_options){.budget_ns = 5000000, .rate = 30000, .frames = 600};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  *status = complete(options, count, arguments);
  return *status == STATUS_OK;
}

/* What happens between frames. */
typedef struct machine_pause {
  const bench_machine_options *options;
  struct progress progress;
  struct pacing pacing;
} machine_pause;

static void wait_for_frame(void *user, uint64_t frame) {
  machine_pause *pause = user;
  if (progress_is_due(&pause->progress))
    progress_put(&pause->progress, "frame %" PRIu64 " of %" PRIu64, frame, pause->options->frames);
  pacing_wait(&pause->pacing, frame);
}

static const char *measure(bench_machine_results *results) {
  const bench_machine_options *options = results->options;
  machine_pause pause = {.options = options, .progress = progress_begin(), .pacing = pacing_begin(options->rate, true)};
  machine_setup setup = {.workers = options->workers,
                         .frames = options->frames,
                         .budget_ns = options->budget_ns,
                         .wait = wait_for_frame,
                         .user = &pause};
  struct noise begin = noise_begin();
  int scheduler = sched_getscheduler(0);
  results->real_time = scheduler == SCHED_FIFO || scheduler == SCHED_RR;
  const char *wrong = machine_measure(&setup, &results->report);
  noise_end(&begin, &results->others_share, &results->stolen_share);
  progress_end(&pause.progress);
  return wrong;
}

static int deliver(const bench_machine_results *results, struct output *json, char *text) {
  json_writer writer;
  const char *file = results->options->json;
  if (!file || strcmp(file, "-") != 0) bench_machine_print(results);
  if (!file) return STATUS_OK;
  json_start(&writer, text, JSON_BYTES);
  bench_machine_write_json(results, &writer);
  return output_commit_json(json, &writer) ? STATUS_OK : STATUS_FAILED;
}

int bench_machine_command(int count, char **arguments) {
  bench_machine_options options;
  bench_machine_results results = {.options = &options};
  struct output json = {.descriptor = -1};
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (options.json && !output_open(&json, options.json)) return STATUS_FAILED;
  char *text = malloc(JSON_BYTES);
  const char *wrong = text ? measure(&results) : "out of memory";
  status = wrong ? complain_failure("%s", wrong) : deliver(&results, &json, text);
  free(text);
  output_discard(&json);
  return status;
}
