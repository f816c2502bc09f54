#include "run_options.h"

#include "catalog.h"
#include "complaint.h"
#include "options.h"
#include "output.h"
#include "pacing.h"
#include "text.h"

#include "base/fields.h"

#include <string.h>
#include <unistd.h>

static const char help_of_options[] =
    "\n"
    "Population and load:\n"
    "  --agents N         how many agents (default: the scenario's own)\n"
    "  --observers K      how many observers (default: the scenario's own)\n"
    "  --cost 5us         what an update costs, of scenarios that take a cost: fixed (default 5us)\n"
    "  --set KEY=VALUE    a setting of the scenario; may be repeated\n"
    "  --help-settings    which settings the scenario has, and what they may be\n"
    "  --seed S           of everything random (default 1)\n"
    "  --up y|z           which axis of the population file is height (default y)\n"
    "Frames:\n"
    "  --budget 10ms      wall time that a frame may take (default 10ms)\n"
    "  --hz 30            frames per second of simulation (default 30)\n"
    "  --frames N         frames to count (default 300)\n"
    "  --warm-up N        frames before counting, after all agents are in (default: one second's worth)\n"
    "  --workers N        the calling thread included (default: one per processor)\n"
    "  --fit RULE         how periods give way: importance (default): the least staleness, weighted by importance, "
    "for the CPU, at any load, and in the order of deadlines; elastic: the important last; or square-root. Of the "
    "last two none is longer than the longest, and beyond that load agents that waited longer come first\n"
    "  --activation-delay N\n"
    "                     frames by which an update may be put off so that none has a peak (default 0)\n"
    "  --shards N         parts into which the agents are cut: 1, 2, 4 .. 256 (default: by their number)\n"
    "  --no-pace          run frames back to back instead of at --hz on the wall clock\n"
    "Clock:\n"
    "  --virtual          virtual time: costs come from the scenario's cost model; the same seed gives the same "
    "result on any number of workers\n"
    "  --capacity 10ms    work per virtual frame (default: the budget)\n"
    "Promise:\n"
    "  --no-audit         do not measure whether the promise is kept, as --audit does, the default of `muster run`: "
    "that "
    "takes 0.4 us of the budget for each claim, and near its end for each atom, to read the thread's CPU clock; the "
    "figures of overhead leave out those of claims\n"
    "  --machine          after each frame see for as long what the machine alone takes, as `muster bench machine` "
    "does, and tell how often that alone would have broken the promise; it takes the idle time between frames\n"
    "Report:\n"
    "  --json FILE        the report for machines, all times in ns; - is standard output\n"
    "  --trace FILE       the last frames for a trace viewer (ui.perfetto.dev, chrome://tracing); - is standard "
    "output\n"
    "  --trace-frames N   how many of them (default 120)\n"
    "  --record FILE      inputs, choices and measured costs, for `muster replay FILE`; - is standard output\n"
    "  --record-from N    record from frame N on, warm-up included (default: the first)\n"
    "  --journal PATH     keep a journal, so that a run that is killed loses no frame; its files are PATH-1.snapshot "
    "and so on\n"
    "  --journal-sync none|second|frame\n"
    "                     when it is brought to the disk (default none: whenever the system does)\n"
    "  --recover          go on from the journal's last complete frame, with the population and the seed of its run; "
    "without one begin anew\n"
    "  --watch NAME       what one character does, as it happens: townsfolk; of `muster run` alone\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 = done, 1 = failed, 2 = asked for wrongly, 130 = interrupted by SIGINT (^C), 143 = by SIGTERM; "
    "then "
    "the results are those of the frames until then, and say so.\n";

static void show(FILE *stream, const char *about) {
  fputs(about, stream);
  fputs("Scenarios (default wildlife):\n", stream);
  catalog_list(stream);
  fputs("Or a module of your own, MODULE.so; or scripts, in Lua: a folder, with a slash in its path, or NAME.lua\n",
        stream);
  fputs(help_of_options, stream);
}

static void run_help(FILE *stream) {
  show(stream, "muster run - runs a population inside its budget and reports how that went\n"
               "\n"
               "usage: muster run [SCENARIO|MODULE.so|SCRIPTS|POPULATION.csv] [OPTION]...\n"
               "\n");
}

void run_explain_help(FILE *stream) {
  show(
      stream,
      "muster explain - runs a population, or asks a running musterd, and says why one of the agents runs when and how "
      "it does\n"
      "\n"
      "usage: muster explain [SCENARIO|MODULE.so|SCRIPTS|POPULATION.csv] [--agent WHICH] [OPTION]...\n"
#ifdef MUSTER_HAS_CTL
      "       muster explain --agent INDEX.GENERATION [--socket PATH | --url URL] [--world NAME] [--json]\n"
#endif
      "\n"
      "Which agent, after the last frame:\n"
      "  --agent INDEX      the one with this number\n"
      "  --agent most-important\n"
      "  --agent most-delayed\n"
      "                     of agents that are due and wait, the one with the oldest last update; of all, when "
      "none waits (default)\n"
#ifdef MUSTER_HAS_CTL
      "Of a running musterd:\n"
      "  --agent ID         INDEX.GENERATION, as `muster ctl agents` lists it\n"
      "  --socket PATH      the daemon's socket (default: $MUSTER_SOCKET, or /run/musterd/control.sock)\n"
      "  --url URL          or where it listens by TCP, such as http://127.0.0.1:8420\n"
      "  --token-file FILE  its first line is the token that changes by TCP need\n"
      "  --world NAME       which world; not needed where there is one\n"
      "  --json             what the daemon answers, as it is\n"
#endif
      "\n");
}

enum { FRAMES_MAX = 1000000, COST_MIN_NS = 100, COST_MAX_NS = 500000 };

static bool read_up_axis(void *user, const char *text) {
  run_options *options = user;
  if (strcmp(text, "y") == 0 || strcmp(text, "z") == 0) {
    options->up_axis = text[0];
    return true;
  }
  complain_usage("--up is '%s'; give y or z, the axis of the file that is height", text);
  return false;
}

static bool read_fit(void *user, const char *text) {
  run_options *options = user;
  static const struct {
    const char *name;
    muster_elastic elastic;
  } rules[] = {{"importance", MUSTER_ELASTIC_IMPORTANCE},
               {"elastic", MUSTER_ELASTIC_RATE},
               {"square-root", MUSTER_ELASTIC_SQUARE_ROOT}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (strcmp(text, rules[i].name) != 0) continue;
    options->elastic = rules[i].elastic;
    return true;
  }
  complain_usage("--fit is '%s'; give importance, elastic or square-root", text);
  return false;
}

static bool read_sync(void *user, const char *text) {
  run_options *options = user;
  static const char *const names[] = {"none", "second", "frame"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    options->journal_sync = (muster_journal_sync)i;
    return true;
  }
  complain_usage("--journal-sync is '%s'; give none, second or frame", text);
  return false;
}

/* Splits the argument where it stands. A line end in a value would end its line in a record. The module's table checks
 * the rest. */
static bool read_setting(void *user, const char *text) {
  run_options *options = user;
  char *equals = strchr(text, '=');
  bool room = options->given_count < MODULE_VALUES_MAX;
  if (equals && room && !strchr(text, '\n')) {
    *equals = '\0';
    options->given[options->given_count++] = (module_given){.name = text, .text = equals + 1};
    return true;
  }
  if (room)
    complain_usage("--set is '%s'; give KEY=VALUE in one line", text);
  else
    complain_usage("--set is there more than %u times", MUSTER_MODULE_ROWS_MAX);
  return false;
}

#define RUN(name, kind, member)                     OPTION(name, kind, run_options, member)
#define RUN_WITHIN(name, kind, member, least, most) OPTION_WITHIN(name, kind, run_options, member, least, most)

/* The first is of `explain` alone. */
static const option_def known[] = {RUN("agent", TEXT, agent),
                                   RUN_WITHIN("agents", COUNT32, agents, 1, AGENTS_MOST),
                                   RUN_WITHIN("workers", COUNT32, workers, 1, MUSTER_WORKERS_MAX),
                                   RUN_WITHIN("budget", DURATION, budget_ns, BUDGET_LEAST_NS, BUDGET_MOST_NS),
                                   RUN_WITHIN("hz", RATE, rate, RATE_LEAST, RATE_MOST),
                                   RUN_WITHIN("frames", COUNT, frames, 1, FRAMES_MAX),
                                   RUN_WITHIN("warm-up", COUNT, warm_up, 0, FRAMES_MAX),
                                   RUN_WITHIN("observers", COUNT32, observers, 1, OBSERVERS_MOST),
                                   RUN_WITHIN("cost", DURATION, cost_ns, COST_MIN_NS, COST_MAX_NS),
                                   RUN_WITHIN("seed", COUNT, seed, 0, UINT64_MAX),
                                   RUN("virtual", ON, virtual_clock),
                                   RUN_WITHIN("capacity", DURATION, capacity_ns, BUDGET_LEAST_NS, BUDGET_MOST_NS),
                                   OPTION_BY("fit", read_fit),
                                   RUN_WITHIN("activation-delay", COUNT32, activation_delay, 0, ACTIVATION_DELAY_MAX),
                                   RUN_WITHIN("shards", COUNT32, shards, 1, 256),
                                   RUN("audit", ON, audit),
                                   RUN("no-audit", OFF, audit),
                                   RUN("machine", ON, machine),
                                   RUN("no-pace", ON, no_pace),
                                   OPTION_BY("up", read_up_axis),
                                   OPTION_BY("set", read_setting),
                                   RUN("help-settings", ON, help_settings),
                                   RUN("record", TEXT, record),
                                   RUN_WITHIN("record-from", COUNT, record_from, 1, FRAMES_MAX),
                                   RUN("journal", TEXT, journal),
                                   OPTION_BY("journal-sync", read_sync),
                                   RUN("recover", ON, recover),
                                   RUN("json", TEXT, json),
                                   RUN("trace", TEXT, trace),
                                   RUN_WITHIN("trace-frames", COUNT32, trace_frames, 1, TRACE_FRAMES_MOST),
                                   RUN("watch", TEXT, watch),
                                   {0}};

static bool takes_standard_output(const char *file) {
  return file && strcmp(file, "-") == 0;
}

bool run_options_take_output(const run_options *options) {
  return takes_standard_output(options->json) || takes_standard_output(options->trace) ||
         takes_standard_output(options->record);
}

/* The machine is watched for as long as a frame, in the time that frames leave. */
static int find_contradiction_of_machine(const run_options *options, run_purpose purpose) {
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
                        text_ns(options->budget_ns), text_ns(period_ns));
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

/* Of a journal with what else was asked for. */
static int find_contradiction_of_journal(const run_options *options, run_purpose purpose) {
  if (options->journal && purpose != RUN_TO_REPORT)
    return complain_usage("--journal is for `muster run`, which a later run can go on from");
  if (options->journal && options->record)
    return complain_usage("--journal and --record exclude each other: `muster replay --from` replays a journal, too");
  if (!options->journal && options->recover)
    return complain_usage("--recover goes on from a journal; add --journal PATH");
  if (!options->journal && options->journal_sync)
    return complain_usage("--journal-sync is about a journal; add --journal PATH");
  return STATUS_OK;
}

/* What contradicts; STATUS_OK when nothing does. */
static int find_contradiction(const run_options *options, run_purpose purpose) {
  if (options->watch && purpose != RUN_TO_REPORT)
    return complain_usage("--watch is for `muster run`, which shows what happens while it happens");
  if (options->capacity_ns && !options->virtual_clock)
    return complain_usage("--capacity is the work of a virtual frame; add --virtual, or use --budget instead");
  if (options->trace_frames && !options->trace)
    return complain_usage("--trace-frames is the length of a trace; add --trace FILE");
  if (options->record_from && !options->record)
    return complain_usage("--record-from is where a record begins; add --record FILE");
  int status = find_contradiction_of_journal(options, purpose);
  return !status && options->machine ? find_contradiction_of_machine(options, purpose) : status;
}

/* Shows the settings, or checks those that were given. False: `status` is the exit status. */
static bool take_settings(const run_options *options, int *status) {
  muster_module_value values[MODULE_VALUES_MAX];
  uint32_t at_fault;
  *status = STATUS_OK;
  if (options->help_settings) {
    catalog_list_settings(stdout, options->module);
    return false;
  }
  if (module_settings_read(options->module, options->given, options->given_count, values, &at_fault) == MUSTER_OK)
    return true;
  *status = complain_usage("--set: %s", muster_last_error());
  return false;
}

/* What depends on several options, and what is left to its default. */
static bool complete(run_options *options, run_purpose purpose, int *status) {
  *status = find_contradiction(options, purpose);
  if (*status != STATUS_OK) return false;
  if (options->trace_frames == 0) options->trace_frames = 120;
  if (options->warm_up == UINT64_MAX) options->warm_up = (options->rate + 999) / 1000;
  if (options->workers == 0) options->workers = muster_available_processors();
  options->module = catalog_find(options->scenario, &options->path, status);
  if (options->module && !take_settings(options, status)) return false;
  if (options->module && (*status = find_contradiction_of_output(options)) != STATUS_OK) return false;
  if (options->module && options->watch && !options->module->watch) {
    *status = complain_usage("'%s' has no agent to watch; use the scenario 'townsfolk' for that", options->scenario);
    return false;
  }
  if (!options->module || options->cost_ns == 0 || options->module->takes_cost) return options->module != NULL;
  *status = complain_usage("'%s' takes no --cost, its updates cost what they do; use the scenario 'fixed' for one",
                           options->scenario);
  return false;
}

bool run_options_read(run_options *options, run_purpose purpose, int count, char **arguments, int *status) {
  static const option_reader readers[] = {{"run", known + 1, run_help}, {"explain", known, run_explain_help}};
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
  options->scenario_given = optind < count;
  return complete(options, purpose, status);
}
