#include "bench_quality.h"

#include "bench_quality_report.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "plots.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_SPAWNS = OPTION_OWN, OPTION_CROWD };

enum { JSON_BYTES = 1 << 18 };

typedef struct quality_options {
  const char *json;
  const char *plots;
  quality_setup setup;
} quality_options;

static void show_help(FILE *stream) {
  fputs("muster bench quality - how fresh each rule keeps a crowd with the same CPU, beside the optimum\n"
        "\n"
        "usage: muster bench quality [OPTION]...\n"
        "\n"
        "  --spawns FILE.csv  the crowd of a spawn file, too\n"
        "  --crowd NAME       one crowd alone: uniform, mixed, dense, patient, spawns\n"
        "  --quick            small crowds for a short time\n"
        "  --seed S           where agents and observers stand (default 1)\n"
        "  --json FILE        the rows for machines, times in ns; - is standard output\n"
        "  --plots DIR        draw the ratios as PNG into this folder (needs gnuplot)\n"
        "  --help\n"
        "\n"
        "How it is measured\n"
        "  Staleness is the mean over time of sum w age / sum w; an agent's age grows with time and an update takes "
        "it back to zero, and agents that never run count, too. w = 2^(k i) for importance i: with k = 12 staleness at "
        "full importance weighs 4096 times as much as at none, with k = 6 64 times. A rule is given weights of its own "
        " (the law of importance k = 12 or 6, the papers' rules 6), and is judged by both. Time is "
        "virtual and costs are exact: the same figures on any machine.\n"
        "  Every rule is given the same CPU in each frame of 50 ms. The optimum is T = max(mu sqrt(cost / w), T_io) "
        "with the mu that uses this CPU up, and an age of T / 2, without frames and without waiting for "
        "another agent. Round robin passes over agents that are not due; the distance rule's scale is found so that it "
        "uses this CPU, and no update ever waits: both do better than they would on a real server.\n"
        "  The law's longest period is a wish that stretches with the load, so no agent waits for more than about "
        "twice what an equal share would be. Where more than half of all matter to an observer (dense), the optimum "
        "would let the others wait for longer; the wish column says what that costs, and is what the target counts "
        "from. A "
        "world may choose otherwise: with a wish_part of a third (patient) the target holds without it.\n"
        "\n"
        "Ends with status 1 when the law of importance misses the target by its own weights.\n",
        stream);
}

static bool read_option(void *user, int option, const char *text) {
  quality_options *options = user;
  if (option == OPTION_JSON) options->json = text;
  if (option == OPTION_PLOTS) options->plots = text;
  if (option == OPTION_SPAWNS) options->setup.spawns = text;
  if (option == OPTION_CROWD) options->setup.only = text;
  if (option == OPTION_QUICK) options->setup.quick = true;
  return option != OPTION_SEED || parse_count("--seed", text, 0, UINT64_MAX, &options->setup.seed);
}

/* Whether there is a crowd of that name, and what it needs. */
static bool check_crowd(const quality_setup *setup) {
  bool known = !setup->only;
  for (uint32_t i = 0; quality_crowd_name(i) && !known; i++) known = strcmp(setup->only, quality_crowd_name(i)) == 0;
  if (!known) complain_usage("unknown crowd '%s'; see --help", setup->only);
  bool lacks = known && setup->only && strcmp(setup->only, "spawns") == 0 && !setup->spawns;
  if (lacks) complain_usage("say where the spawns are: --spawns FILE.csv");
  return known && !lacks;
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(quality_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {
      {"spawns", required_argument, NULL, OPTION_SPAWNS}, {"crowd", required_argument, NULL, OPTION_CROWD},
      {"json", required_argument, NULL, OPTION_JSON},     {"plots", required_argument, NULL, OPTION_PLOTS},
      {"seed", required_argument, NULL, OPTION_SEED},     {"quick", no_argument, NULL, OPTION_QUICK},
      {"help", no_argument, NULL, OPTION_HELP},           {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench quality", long_options, show_help, read_option};
  *options = (quality_options){.setup.seed = 1};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  *status = STATUS_USAGE;
  if (optind == count) return check_crowd(&options->setup);
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

static void show_step(const char *doing, void *user) {
  progress_step(user, "%s", doing);
}

static int deliver(const quality_report *report, const quality_options *options, struct output *json, char *text) {
  json_writer writer;
  bool quiet = options->json && strcmp(options->json, "-") == 0;
  if (!quiet) quality_print(report);
  if (options->plots && !quality_plot(report, options->plots)) return STATUS_FAILED;
  if (options->json) {
    json_start(&writer, text, JSON_BYTES);
    quality_write_json(report, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  if (quality_reaches_always(report)) return STATUS_OK;
  return complain_failure("the law of importance misses the target; the rows say where");
}

static int measure(const void *user, struct output *json) {
  const quality_options *options = user;
  quality_report report = {.setup = options->setup};
  struct progress line = progress_begin();
  report.setup.show = show_step;
  report.setup.user = &line;
  const char *wrong = quality_measure(&report.setup, report.cases, &report.count);
  progress_end(&line);
  if (wrong) return complain_failure("%s", wrong);
  char *text = malloc(JSON_BYTES);
  int status = text ? deliver(&report, options, json, text) : complain_failure("out of memory");
  free(text);
  return status;
}

int bench_quality_command(int count, char **arguments) {
  quality_options options;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  const char *spawns = options.setup.spawns; /* they come last, and after a while */
  if (spawns && access(spawns, R_OK) != 0) return complain_failure("cannot read '%s': %s", spawns, strerror(errno));
  return output_of_work(options.plots, options.json, measure, &options);
}
