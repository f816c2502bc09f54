#include "run_options.h"

#include "catalog.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "pacing.h"
#include "parse.h"
#include "run_help.h"
#include "text.h"

#include "base/fields.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint64_t cost_min_ns = 100, cost_max_ns = 500000;
static const uint64_t frames_max = 1000000;

enum {
  OPTION_BUDGET = OPTION_OWN,
  OPTION_HZ,
  OPTION_FRAMES,
  OPTION_WARM_UP,
  OPTION_COST,
  OPTION_VIRTUAL,
  OPTION_CAPACITY,
  OPTION_FIT,
  OPTION_ACTIVATION_DELAY,
  OPTION_AUDIT,
  OPTION_NO_AUDIT,
  OPTION_MACHINE,
  OPTION_NO_PACE,
  OPTION_UP,
  OPTION_RECORD,
  OPTION_TRACE,
  OPTION_TRACE_FRAMES,
  OPTION_WATCH,
  OPTION_AGENT
};

/* The first is of `explain` alone. */
static const struct option long_options[] = {
    {"agent", required_argument, NULL, OPTION_AGENT},
    {"agents", required_argument, NULL, OPTION_AGENTS},
    {"workers", required_argument, NULL, OPTION_WORKERS},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"hz", required_argument, NULL, OPTION_HZ},
    {"frames", required_argument, NULL, OPTION_FRAMES},
    {"warm-up", required_argument, NULL, OPTION_WARM_UP},
    {"observers", required_argument, NULL, OPTION_OBSERVERS},
    {"cost", required_argument, NULL, OPTION_COST},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"virtual", no_argument, NULL, OPTION_VIRTUAL},
    {"capacity", required_argument, NULL, OPTION_CAPACITY},
    {"fit", required_argument, NULL, OPTION_FIT},
    {"activation-delay", required_argument, NULL, OPTION_ACTIVATION_DELAY},
    {"audit", no_argument, NULL, OPTION_AUDIT},
    {"no-audit", no_argument, NULL, OPTION_NO_AUDIT},
    {"machine", no_argument, NULL, OPTION_MACHINE},
    {"no-pace", no_argument, NULL, OPTION_NO_PACE},
    {"up", required_argument, NULL, OPTION_UP},
    {"record", required_argument, NULL, OPTION_RECORD},
    {"json", required_argument, NULL, OPTION_JSON},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"trace-frames", required_argument, NULL, OPTION_TRACE_FRAMES},
    {"watch", required_argument, NULL, OPTION_WATCH},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static bool read_up_axis(const char *text, char *axis) {
  if (strcmp(text, "y") == 0 || strcmp(text, "z") == 0) {
    *axis = text[0];
    return true;
  }
  complain_usage("--up is '%s'; give y or z, the axis of the file that is height", text);
  return false;
}

static bool read_fit(const char *text, muster_elastic *elastic) {
  static const struct {
    const char *name;
    muster_elastic elastic;
  } rules[] = {{"importance", MUSTER_ELASTIC_IMPORTANCE},
               {"elastic", MUSTER_ELASTIC_RATE},
               {"square-root", MUSTER_ELASTIC_SQUARE_ROOT}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (strcmp(text, rules[i].name) != 0) continue;
    *elastic = rules[i].elastic;
    return true;
  }
  complain_usage("--fit is '%s'; give importance, elastic or square-root", text);
  return false;
}

/* The options with a number or a duration. */
static bool read_quantity(run_options *options, int option, const char *text) {
  switch (option) {
  case OPTION_AGENTS:
    return parse_count32("--agents", text, 1, AGENTS_MOST, &options->agents);
  case OPTION_WORKERS:
    return parse_count32("--workers", text, 1, MUSTER_WORKERS_MAX, &options->workers);
  case OPTION_OBSERVERS:
    return parse_count32("--observers", text, 1, OBSERVERS_MOST, &options->observers);
  case OPTION_BUDGET:
    return parse_duration("--budget", text, BUDGET_LEAST_NS, BUDGET_MOST_NS, &options->budget_ns);
  case OPTION_CAPACITY:
    return parse_duration("--capacity", text, BUDGET_LEAST_NS, BUDGET_MOST_NS, &options->capacity_ns);
  case OPTION_COST:
    return parse_duration("--cost", text, cost_min_ns, cost_max_ns, &options->cost_ns);
  case OPTION_HZ:
    return parse_rate("--hz", text, RATE_LEAST, RATE_MOST, &options->rate);
  case OPTION_FRAMES:
    return parse_count("--frames", text, 1, frames_max, &options->frames);
  case OPTION_TRACE_FRAMES:
    return parse_count32("--trace-frames", text, 1, TRACE_FRAMES_MOST, &options->trace_frames);
  case OPTION_ACTIVATION_DELAY:
    return parse_count32("--activation-delay", text, 0, ACTIVATION_DELAY_MAX, &options->activation_delay);
  case OPTION_WARM_UP:
    return parse_count("--warm-up", text, 0, frames_max, &options->warm_up);
  default:
    return parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
  }
}

static bool read_option(void *user, int option, const char *text) {
  run_options *options = user;
  switch (option) {
  case OPTION_VIRTUAL:
    return options->virtual_clock = true;
  case OPTION_AUDIT:
    return options->audit = true;
  case OPTION_NO_AUDIT:
    options->audit = false;
    return true;
  case OPTION_MACHINE:
    return options->machine = true;
  case OPTION_NO_PACE:
    return options->no_pace = true;
  case OPTION_RECORD:
    options->record = text;
    return true;
  case OPTION_JSON:
    options->json = text;
    return true;
  case OPTION_TRACE:
    options->trace = text;
    return true;
  case OPTION_WATCH:
    options->watch = text;
    return true;
  case OPTION_AGENT:
    options->agent = text;
    return true;
  case OPTION_FIT:
    return read_fit(text, &options->elastic);
  case OPTION_UP:
    return read_up_axis(text, &options->up_axis);
  default:
    return read_quantity(options, option, text);
  }
}

/* A module that was built with an older header ends before the field. */
static bool takes_cost(const muster_module *module) {
  return module->size >= offsetof(muster_module, takes_cost) + sizeof module->takes_cost && module->takes_cost;
}

static bool can_watch(const muster_module *module) {
  return module->size >= offsetof(muster_module, watched) + sizeof module->watched && module->watch && module->watched;
}

static bool takes_standard_output(const char *file) {
  return file && strcmp(file, "-") == 0;
}

bool run_options_take_output(const run_options *options) {
  return takes_standard_output(options->json) || takes_standard_output(options->trace) ||
         takes_standard_output(options->record);
}

/* The machine is watched for as long as a frame, in the time that frames leave. */
static int find_contradiction_of_machine(const run_options *options, run_purpose purpose) {
  char budget[TEXT_BYTES], period[TEXT_BYTES];
  struct pacing pacing = {.rate = options->rate};
  uint64_t period_ns = pacing_sim_time(&pacing, 1);
  if (purpose != RUN_TO_REPORT) return complain_usage("--machine is for `muster run`, whose report tells of it");
  if (!options->audit || options->virtual_clock)
    return complain_usage("--machine stands beside the promise as it is measured on the wall clock; leave out %s",
                          options->virtual_clock ? "--virtual" : "--no-audit");
  if (options->no_pace) return complain_usage("--machine uses the time between frames; leave out --no-pace");
  if (5 * options->budget_ns <= 2 * period_ns) return STATUS_OK;
  return complain_usage("--machine takes as long as the budget of %s once more, and needs half of it to spare, but a "
                        "frame is %s; lower --budget or --hz",
                        text_duration(budget, (double)options->budget_ns), text_duration(period, (double)period_ns));
}

/* Results that would overwrite each other, or what is read. */
static int find_same_files(const run_options *options) {
  const struct {
    const char *option, *path;
  } files[] = {{"--json", options->json}, {"--trace", options->trace}, {"--record", options->record}};
  enum { FILES = sizeof files / sizeof *files };
  for (size_t i = 0; i < FILES; i++) {
    if (!files[i].path) continue;
    if (options->path && output_is_same(files[i].path, options->path))
      return complain_usage("%s would overwrite the population '%s'; give it another file", files[i].option,
                            options->path);
    for (size_t k = 0; k < i; k++) {
      if (!files[k].path || !output_is_same(files[i].path, files[k].path)) continue;
      if (takes_standard_output(files[i].path))
        return complain_usage("%s and %s both want standard output; give one of them a file", files[k].option,
                              files[i].option);
      return complain_usage("%s and %s are the same file '%s'; give each a file of its own", files[k].option,
                            files[i].option, files[i].path);
    }
  }
  return STATUS_OK;
}

/* A record is bytes, which no terminal shows. */
static int find_contradiction_of_output(const run_options *options) {
  if (options->watch && run_options_take_output(options))
    return complain_usage("--watch writes to standard output, and so do --json -, --trace - and --record -; give them "
                          "a file");
  if (takes_standard_output(options->record) && isatty(STDOUT_FILENO))
    return complain_usage(
        "--record - writes bytes, and standard output is a terminal; give a file, or a pipe behind it");
  return find_same_files(options);
}

/* What contradicts; STATUS_OK when nothing does. */
static int find_contradiction(const run_options *options, run_purpose purpose) {
  if (options->watch && purpose != RUN_TO_REPORT)
    return complain_usage("--watch is for `muster run`, which shows what happens while it happens");
  if (options->capacity_ns && !options->virtual_clock)
    return complain_usage("--capacity is the work of a virtual frame; add --virtual, or use --budget instead");
  if (options->trace_frames && !options->trace)
    return complain_usage("--trace-frames is the length of a trace; add --trace FILE");
  return options->machine ? find_contradiction_of_machine(options, purpose) : STATUS_OK;
}

/* What depends on several options, and what is left to its default. */
static bool complete(run_options *options, run_purpose purpose, int *status) {
  *status = find_contradiction(options, purpose);
  if (*status != STATUS_OK) return false;
  if (options->trace_frames == 0) options->trace_frames = 120;
  if (options->warm_up == UINT64_MAX) options->warm_up = (options->rate + 999) / 1000;
  if (options->workers == 0) options->workers = muster_available_processors();
  options->module = catalog_find(options->scenario, &options->path, status);
  if (options->module && (*status = find_contradiction_of_output(options)) != STATUS_OK) return false;
  if (options->module && options->watch && !can_watch(options->module)) {
    *status = complain_usage("'%s' has no agent to watch; use the scenario 'townsfolk' for that", options->scenario);
    return false;
  }
  if (!options->module || options->cost_ns == 0 || takes_cost(options->module)) return options->module != NULL;
  *status = complain_usage("'%s' takes no --cost, its updates cost what they do; use the scenario 'fixed' for one",
                           options->scenario);
  return false;
}

bool run_options_read(run_options *options, run_purpose purpose, int count, char **arguments, int *status) {
  static const option_reader readers[] = {{"run", long_options + 1, run_help, read_option},
                                          {"explain", long_options, run_explain_help, read_option}};
  *options = (run_options){.scenario = "wildlife",
                           .elastic = MUSTER_ELASTIC_IMPORTANCE,
                           .budget_ns = 10000000,
                           .rate = 30000,
                           .frames = 300,
                           .warm_up = UINT64_MAX,
                           .seed = 1,
                           .audit = purpose == RUN_TO_REPORT,
                           .up_axis = 'y'};
  if (!options_read(&readers[purpose], options, count, arguments, status)) return false;
  if (count - optind > 1) {
    *status =
        complain_usage("one scenario at a time: '%s' and '%s' were given", arguments[optind], arguments[optind + 1]);
    return false;
  }
  if (optind < count) options->scenario = arguments[optind];
  return complete(options, purpose, status);
}
