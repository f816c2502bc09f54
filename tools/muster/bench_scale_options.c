#include "bench_scale_options.h"

#include "bench_options.h"
#include "complaint.h"
#include "options.h"
#include "parse.h"
#include "scale.h"

#include <muster/jobs.h>

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 9, ROUNDS_QUICK = 2, OBSERVERS_MAX = 65536 };

static const struct option long_options[] = {{"agents", required_argument, NULL, OPTION_AGENTS},
                                             {"observers", required_argument, NULL, OPTION_OBSERVERS},
                                             {"workers", required_argument, NULL, OPTION_WORKERS},
                                             {"rounds", required_argument, NULL, OPTION_ROUNDS},
                                             {"quick", no_argument, NULL, OPTION_QUICK},
                                             {"plots", required_argument, NULL, OPTION_PLOTS},
                                             {"json", required_argument, NULL, OPTION_JSON},
                                             {"help", no_argument, NULL, OPTION_HELP},
                                             {NULL, 0, NULL, 0}};

static void show_options(FILE *stream) {
  fprintf(stream,
          "muster bench scale - measures what scheduling costs beside the updates, from few agents to millions\n"
          "\n"
          "usage: muster bench scale [OPTION]...\n"
          "\n"
          "  --agents N,...     from %d on (default 1000,10000,100000,1000000,4000000, as far as memory allows)\n"
          "  --observers K,...  (default 1,100,5000)\n"
          "  --workers W,...    the calling thread included; all = from 1 to one per processor (default)\n"
          "  --rounds R         that medians are of (default %d)\n"
          "  --quick            two rounds, few frames, at most 10,000 agents unless --agents says otherwise: shows "
          "that it works, not how fast\n"
          "  --plots DIR        draws the overhead against the number of agents\n"
          "  --json FILE        the rows for machines, all times in ns; - is standard output\n"
          "  --help\n",
          SCALE_AGENTS_MIN, ROUNDS);
}

static void show_method(FILE *stream) {
  fprintf(stream,
          "\n"
          "How it is measured\n"
          "  Agents stand all over a square of 10 km x 10 km, whatever their number; an update is a few floating-point "
          "operations on 8 bytes of state. Frames follow each other at once and bring 1/30 s of simulation each. "
          "Periods make %d updates due in a frame, or all agents where there are fewer. Periods may give way, but the "
          "budget is ample. Every agent has run once before anything is measured.\n"
          "  ns_per_update: CPU of all threads in 30 frames less that of a plain loop over the same callbacks, which "
          "takes as many states in random order, divided by the updates. The two alternate; the median of the "
          "rounds is shown, observers standing. ns_per_frame is that of all the updates of a frame.\n"
          "  walking_...: the same in 300 frames in which every observer walks at 1.4 m/s; the host's own calls that "
          "move them are not counted, what they lead to in the frame is. score_ns: mean of the report's score stage "
          "in these frames.\n"
          "  idle_frame_ns: wall time of a frame in which no agent is due and nothing has changed; median of 301, in a "
          "world whose periods are a day.\n"
          "  bytes_per_agent: what the world's statistics call scheduling. resident_per_agent: by how much the process "
          "grew by creating and populating the world and 20 frames, less the types' own states.\n"
          "  spawn_ns, remove_ns: CPU per agent of the calls and of all threads in the frames that carried them out, "
          "%d agents at once, removed in random order, %d observers, every round in a new world. A frame is "
          "over its budget of 10 ms when its own overrun exceeds its longest atom + 20 us (the promise).\n",
          SCALE_UPDATES_PER_FRAME, SCALE_SPAWNED, SCALE_OBSERVERS_OF_SPAWNING);
}

static void show_help(FILE *stream) {
  show_options(stream);
  show_method(stream);
}

static bool read_list(bench_scale_list *list, const char *option, const char *text, uint32_t minimum,
                      uint32_t maximum) {
  char number[32];
  list->count = 0;
  for (const char *next = text;; next++) {
    uint32_t value;
    size_t length = strcspn(next, ",");
    snprintf(number, sizeof number, "%.*s", length < sizeof number ? (int)length : (int)sizeof number, next);
    if (!parse_count32(option, number, minimum, maximum, &value)) return false;
    if (list->count == BENCH_SCALE_LIST_MAX) {
      complain_usage("%s has more than %d numbers; give fewer", option, BENCH_SCALE_LIST_MAX);
      return false;
    }
    list->values[list->count++] = value;
    next += length;
    if (!*next) return true;
  }
}

/* The steps of every sweep over workers. */
static void choose_all_workers(bench_scale_list *list) {
  uint32_t processors = muster_available_processors();
  bench_options steps = {.workers_last = processors < BENCH_WORKERS_MAX ? processors : BENCH_WORKERS_MAX};
  list->count = 0;
  for (uint32_t workers = 1; workers <= steps.workers_last && list->count < BENCH_SCALE_LIST_MAX;
       workers = bench_options_next_workers(&steps, workers))
    list->values[list->count++] = workers;
}

static bool read_workers(bench_scale_list *list, const char *text) {
  if (strcmp(text, "all") != 0) return read_list(list, "--workers", text, 1, BENCH_WORKERS_MAX);
  choose_all_workers(list);
  return true;
}

static bool read_option(void *user, int option, const char *text) {
  bench_scale_options *options = user;
  switch (option) {
  case OPTION_AGENTS:
    return read_list(&options->agents, "--agents", text, SCALE_AGENTS_MIN, SCALE_AGENTS_MAX);
  case OPTION_OBSERVERS:
    return read_list(&options->observers, "--observers", text, 0, OBSERVERS_MAX);
  case OPTION_WORKERS:
    return read_workers(&options->workers, text);
  case OPTION_ROUNDS:
    return parse_count32("--rounds", text, 1, SCALE_ROUNDS_MAX, &options->rounds);
  case OPTION_PLOTS:
    options->plots = text;
    return true;
  case OPTION_JSON:
    options->json = text;
    return true;
  default:
    return options->quick = true;
  }
}

static void complete(bench_scale_options *options) {
  static const bench_scale_list agents = {{1000, 10000, 100000, 1000000, 4000000}, 5}, observers = {{1, 100, 5000}, 3};
  if (options->agents.count == 0) {
    options->agents = agents;
    if (options->quick) options->agents.count = 2;
  }
  if (options->observers.count == 0) options->observers = observers;
  if (options->workers.count == 0) choose_all_workers(&options->workers);
  if (options->rounds == 0) options->rounds = options->quick ? ROUNDS_QUICK : ROUNDS;
}

bool bench_scale_options_read(bench_scale_options *options, int count, char **arguments, int *status) {
  static const option_reader reader = {"bench scale", long_options, show_help, read_option};
  *options = (bench_scale_options){0};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (optind < count) {
    *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
    return false;
  }
  complete(options);
  return true;
}
