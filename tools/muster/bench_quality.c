#include "bench_quality.h"

#include "bench_quality_report.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "plots.h"
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16 };

typedef struct quality_options {
  const char *json;
  const char *plots;
  uint64_t seed;
  bool quick;
} quality_options;

static void show_help(FILE *stream) {
  fputs("muster bench quality - how fresh each rule keeps a crowd with the same CPU, beside the optimum\n"
        "\n"
        "usage: muster bench quality [OPTION]...\n"
        "\n"
        "  --quick       a small crowd for a short time\n"
        "  --seed S      where agents and observers stand (default 1)\n"
        "  --json FILE   the rows for machines, times in ns; - is standard output\n"
        "  --plots DIR   draw the ratios as PNG into this folder (needs gnuplot)\n"
        "  --help\n"
        "\n"
        "How it is measured\n"
        "  Staleness is the mean over time of sum w age / sum w; an agent's age grows with time and an update takes "
        "it back to zero. w = 2^(6 i - 3) for importance i, the inverse of the elasticity that Muster derives from "
        "it: at full importance staleness weighs 64 times as much as at none. Time is virtual and costs are exact: "
        "the same figures on any machine.\n"
        "  Every rule is given the same CPU in each frame of 20 ms and may use the same periods. The optimum is "
        "T = clamp(mu sqrt(cost / w)) with the mu that uses this CPU up, and an age of T / 2, without frames and "
        "without anybody waiting for another. Round robin passes over who is not due yet; the distance rule's "
        "scale is found so that it uses this CPU, and nothing of it ever waits: both are better than life.\n"
        "\n"
        "Ends with status 1 when the square-root rule misses the target.\n",
        stream);
}

static bool read_option(void *user, int option, const char *text) {
  quality_options *options = user;
  if (option == OPTION_JSON) options->json = text;
  if (option == OPTION_PLOTS) options->plots = text;
  if (option == OPTION_QUICK) options->quick = true;
  return option != OPTION_SEED || parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(quality_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {
      {"json", required_argument, NULL, OPTION_JSON}, {"plots", required_argument, NULL, OPTION_PLOTS},
      {"seed", required_argument, NULL, OPTION_SEED}, {"quick", no_argument, NULL, OPTION_QUICK},
      {"help", no_argument, NULL, OPTION_HELP},       {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench quality", long_options, show_help, read_option};
  *options = (quality_options){.seed = 1};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (optind == count) return true;
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

static void show_step(const char *doing, void *user) {
  progress_step(user, "%s", doing);
}

static int deliver(const quality_report *report, const quality_options *options, output *json, char *text) {
  json_writer writer;
  bool quiet = options->json && strcmp(options->json, "-") == 0;
  if (!quiet) quality_print(report);
  if (options->plots && !quality_plot(report, options->plots)) return STATUS_FAILED;
  if (options->json) {
    json_start(&writer, text, JSON_BYTES);
    quality_write_json(report, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  if (quality_reaches_always(report, QUALITY_SQUARE_ROOT)) return STATUS_OK;
  return complain_failure("the square-root rule misses the target; the rows say where");
}

static int measure(const quality_options *options, output *json) {
  quality_report report = {.setup = {.seed = options->seed, .quick = options->quick, .show = show_step}};
  progress line = progress_begin();
  report.setup.user = &line;
  const char *wrong = quality_measure(&report.setup, report.cases);
  progress_end(&line);
  if (wrong) return complain_failure("%s", wrong);
  char *text = malloc(JSON_BYTES);
  int status = text ? deliver(&report, options, json, text) : complain_failure("out of memory");
  free(text);
  return status;
}

int bench_quality_command(int count, char **arguments) {
  quality_options options;
  output json = {.descriptor = -1};
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (options.plots && !plots_prepare(options.plots)) return STATUS_FAILED;
  if (options.json && !output_open(&json, options.json)) return STATUS_FAILED;
  status = measure(&options, &json);
  output_discard(&json);
  return status;
}
