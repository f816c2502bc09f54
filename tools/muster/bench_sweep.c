#include "bench_sweep.h"

#include "bench_sweep_report.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "plots.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16, AGENTS = 50000, AGENTS_QUICK = 10000 };

typedef struct sweep_options {
  const char *json;
  const char *plots;
  uint64_t seed;
  bool quick;
} sweep_options;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench sweep - how often the most important agents run, at rising loads\n"
      "\n"
      "usage: muster bench sweep [OPTION]...\n"
      "\n"
      "  --quick       %d animals instead of %d\n"
      "  --seed S      of the world (default 1)\n"
      "  --json FILE   the rows for machines, times in ns; - is standard output\n"
      "  --plots DIR   draw the intervals as PNG into this folder (needs gnuplot)\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  The animals of `muster run wildlife` and 17 cameras at 30 Hz under the virtual clock, at %d "
      "loads from "
      "0.3 to 12, each 10 %% above the last. A load is what all would take at their longest periods, in parts of "
      "the capacity; each is a world of its own, 2 to 20 s to settle and 5 s in which it is watched. The interval of "
      "the "
      "animals of importance 0.9 and above is their number times the window, divided by their completed updates: "
      "animals that never run count.\n"
      "  Beside it the same under the papers' rules, which stretch the important last and end where the longest "
      "periods no longer fit: Tan & Wong's elastic periods and Rankin's order.\n"
      "\n"
      "Ends with status 1 when by the law of importance the interval grows by more than %.0f %%, and by more than a "
      "frame, from one load to the next.\n",
      AGENTS_QUICK, AGENTS, SWEEP_LOADS, sweep_growth_most * 100);
}

static bool read_option(void *user, int option, const char *text) {
  sweep_options *options = user;
  if (option == OPTION_JSON) options->json = text;
  if (option == OPTION_PLOTS) options->plots = text;
  if (option == OPTION_QUICK) options->quick = true;
  return option != OPTION_SEED || parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(sweep_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {
      {"json", required_argument, NULL, OPTION_JSON}, {"plots", required_argument, NULL, OPTION_PLOTS},
      {"seed", required_argument, NULL, OPTION_SEED}, {"quick", no_argument, NULL, OPTION_QUICK},
      {"help", no_argument, NULL, OPTION_HELP},       {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench sweep", long_options, show_help, read_option};
  *options = (sweep_options){.seed = 1};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (optind == count) return true;
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

static void show_load(double load, void *user) {
  progress_step(user, "load %.2f of 0.3 to 12", load);
}

static int deliver(const sweep_report *report, const sweep_options *options, struct output *json, char *text) {
  json_writer writer;
  bool quiet = options->json && strcmp(options->json, "-") == 0;
  if (!quiet) sweep_print(report);
  if (options->plots && !sweep_plot(report, options->plots)) return STATUS_FAILED;
  if (options->json) {
    json_start(&writer, text, JSON_BYTES);
    sweep_write_json(report, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  if (sweep_cliffs(report, SWEEP_LAW) == 0) return STATUS_OK;
  return complain_failure("there is a cliff; the rows say where");
}

static int measure(const void *user, struct output *json) {
  const sweep_options *options = user;
  struct progress line = progress_begin();
  sweep_report report = {
      .setup = {
          .seed = options->seed, .agents = options->quick ? AGENTS_QUICK : AGENTS, .show = show_load, .user = &line}};
  const char *wrong = sweep_measure(&report.setup, report.results);
  progress_end(&line);
  if (wrong) return complain_failure("%s", wrong);
  char *text = malloc(JSON_BYTES);
  int status = text ? deliver(&report, options, json, text) : complain_failure("out of memory");
  free(text);
  return status;
}

int bench_sweep_command(int count, char **arguments) {
  sweep_options options;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  return output_of_work(options.plots, options.json, measure, &options);
}
