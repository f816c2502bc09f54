#include "bench_sets.h"

#include "complaint.h"
#include "noise.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "sets.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16, OVER_LIST_NS = 15, OVERHEADS_MOST = 12, SCHEDULES_MOST = 4, OPTION_ATOM = OPTION_OWN };

static const double overhead_most = 0.02;
static const uint64_t atom_least_ns = 100, atom_most_ns = 100000;

typedef struct sets_options {
  const char *json;
  uint32_t rounds, agents;
  uint64_t atom_ns; /* 0 = several */
  bool quick;
} sets_options;

typedef struct sets_report {
  const sets_options *options;
  sets_overhead overheads[OVERHEADS_MOST];
  sets_schedule schedules[SCHEDULES_MOST];
  uint32_t overhead_count, schedule_count;
  double others_share, stolen_share;
} sets_report;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench sets - what sets of atoms cost, beside lists of atoms and beside a plain loop\n"
      "\n"
      "usage: muster bench sets [OPTION]...\n"
      "\n"
      "  --atom 2us    what an atom takes in the comparison with the loop, 100ns .. 100us (default: 1us, 2us, 3us)\n"
      "  --agents N    of that crowd (default 500)\n"
      "  --rounds R    default 9\n"
      "  --quick       a few rows in one round: shows that it works, not how fast\n"
      "  --json FILE   the rows for machines, times in ns; - is standard output\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  CPU of the calling thread, which is the only worker; what is compared takes turns; medians of rounds.\n"
      "  Over a list: 2,000 agents run in each of a round's 20 frames, in one world with a list of atoms and in "
      "one with the same atoms in sets, all of them active. An atom adds one to a counter. All that frames take "
      "is divided by the atoms that ran; the difference is to be at most %d ns.\n"
      "  Scheduled: a crowd with five sets (perception, three behaviours with periods of 4, 6 and 8 updates and "
      "delays of 0, 1 and 2, action) with enough budget, beside a loop over the same callbacks that honours the "
      "same periods and delays and nothing else. Rounds are whole cycles of 24 frames. The difference is to be "
      "at most %.0f %% of the loop.\n"
      "  Both are reported, not judged: they depend on the machine and on what else uses it.\n",
      OVER_LIST_NS, overhead_most * 100);
}

static bool read_option(void *user, int option, const char *text) {
  sets_options *options = user;
  switch (option) {
  case OPTION_JSON:
    options->json = text;
    return true;
  case OPTION_QUICK:
    return options->quick = true;
  case OPTION_ROUNDS:
    return parse_count32("--rounds", text, 1, SETS_ROUNDS_MOST, &options->rounds);
  case OPTION_AGENTS:
    return parse_count32("--agents", text, 1, 100000, &options->agents);
  default:
    return parse_duration("--atom", text, atom_least_ns, atom_most_ns, &options->atom_ns);
  }
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(sets_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {{"json", required_argument, NULL, OPTION_JSON},
                                               {"rounds", required_argument, NULL, OPTION_ROUNDS},
                                               {"agents", required_argument, NULL, OPTION_AGENTS},
                                               {"atom", required_argument, NULL, OPTION_ATOM},
                                               {"quick", no_argument, NULL, OPTION_QUICK},
                                               {"help", no_argument, NULL, OPTION_HELP},
                                               {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench sets", long_options, show_help, read_option};
  *options = (sets_options){.agents = 500};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (options->rounds == 0) options->rounds = options->quick ? 1 : 9;
  if (optind == count) return true;
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

/* The rows that are asked for. */
static void plan_rows(sets_report *report) {
  const sets_options *options = report->options;
  for (uint32_t sets = 1; sets <= SETS_SETS_MOST; sets *= 2)
    for (uint32_t atoms = 1; atoms <= SETS_ATOMS_MOST; atoms *= 2)
      if (!options->quick || sets == atoms)
        report->overheads[report->overhead_count++] = (sets_overhead){.sets = sets, .atoms = atoms};
  for (uint32_t us = 1; us <= 3; us++)
    if (options->atom_ns == 0 && (!options->quick || us == 2))
      report->schedules[report->schedule_count++] = (sets_schedule){.agents = options->agents, .atom_ns = 1000 * us};
  if (options->atom_ns)
    report->schedules[report->schedule_count++] =
        (sets_schedule){.agents = options->agents, .atom_ns = (uint32_t)options->atom_ns};
}

static const char *take_all(sets_report *report) {
  const char *wrong = NULL;
  struct noise begin = noise_begin();
  plan_rows(report);
  for (uint32_t i = 0; i < report->overhead_count && !wrong; i++)
    wrong = sets_measure_overhead(report->options->rounds, &report->overheads[i]);
  for (uint32_t i = 0; i < report->schedule_count && !wrong; i++) {
    wrong = sets_measure_schedule(report->options->rounds, &report->schedules[i]);
    if (!wrong && !report->schedules[i].equal) wrong = "the world and the loop did not run the same atoms";
  }
  noise_end(&begin, &report->others_share, &report->stolen_share);
  return wrong;
}

static void print(const sets_report *report) {
  puts("muster bench sets: CPU, an atom of next to nothing, all that frames take included\n");
  printf("%5s %6s %10s %10s %10s %12s\n", "sets", "atoms", "loop ns", "list ns", "sets ns", "over a list");
  for (uint32_t i = 0; i < report->overhead_count; i++) {
    const sets_overhead *row = &report->overheads[i];
    printf("%5u %6u %10.1f %10.1f %10.1f %9.1f ns  %s\n", row->sets, row->atoms, row->loop_ns, row->list_ns,
           row->sets_ns, row->over_list_ns, row->over_list_ns <= OVER_LIST_NS ? "" : "more than wanted");
  }
  printf("\n%6s %8s %14s %12s %14s %10s %18s\n", "agents", "atom ns", "atoms/update", "loop ns", "scheduled ns",
         "overhead", "rounds");
  for (uint32_t i = 0; i < report->schedule_count; i++) {
    const sets_schedule *row = &report->schedules[i];
    printf("%6u %8u %14.2f %12.0f %14.0f %8.2f %% %7.2f .. %5.2f %%  %s\n", row->agents, row->atom_ns,
           row->atoms_per_update, row->loop_ns, row->scheduled_ns, row->overhead * 100, row->lowest * 100,
           row->highest * 100, row->overhead <= overhead_most ? "" : "more than wanted");
  }
  noise_print(report->others_share, report->stolen_share);
}

static void write_overhead(const sets_overhead *row, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_uint(writer, "sets", row->sets);
  json_uint(writer, "atoms", row->atoms);
  json_number(writer, "loop_ns_per_atom", row->loop_ns);
  json_number(writer, "list_ns_per_atom", row->list_ns);
  json_number(writer, "sets_ns_per_atom", row->sets_ns);
  json_number(writer, "over_list_ns_per_atom", row->over_list_ns);
  json_bool(writer, "as_wanted", row->over_list_ns <= OVER_LIST_NS);
  json_end_object(writer);
}

static void write_schedule(const sets_schedule *row, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_uint(writer, "agents", row->agents);
  json_uint(writer, "atom_ns", row->atom_ns);
  json_number(writer, "atoms_per_update", row->atoms_per_update);
  json_number(writer, "loop_ns_per_update", row->loop_ns);
  json_number(writer, "scheduled_ns_per_update", row->scheduled_ns);
  json_number(writer, "overhead", row->overhead);
  json_number(writer, "overhead_lowest_round", row->lowest);
  json_number(writer, "overhead_highest_round", row->highest);
  json_bool(writer, "as_wanted", row->overhead <= overhead_most);
  json_end_object(writer);
}

static void write_json(const sets_report *report, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "sets");
  json_uint(writer, "rounds", report->options->rounds);
  json_uint(writer, "over_list_wanted_ns", OVER_LIST_NS);
  json_number(writer, "overhead_wanted", overhead_most);
  json_begin_array(writer, "over_list");
  for (uint32_t i = 0; i < report->overhead_count; i++) write_overhead(&report->overheads[i], writer);
  json_end_array(writer);
  json_begin_array(writer, "scheduled");
  for (uint32_t i = 0; i < report->schedule_count; i++) write_schedule(&report->schedules[i], writer);
  json_end_array(writer);
  json_number(writer, "others_cpu_share", report->others_share);
  json_number(writer, "stolen_cpu_share", report->stolen_share);
  json_end_object(writer);
}

static int deliver(const sets_report *report, struct output *json, char *text) {
  json_writer writer;
  const char *file = report->options->json;
  if (!file || strcmp(file, "-") != 0) print(report);
  if (!file) return STATUS_OK;
  json_start(&writer, text, JSON_BYTES);
  write_json(report, &writer);
  return output_commit_json(json, &writer) ? STATUS_OK : STATUS_FAILED;
}

int bench_sets_command(int count, char **arguments) {
  sets_options options;
  sets_report report = {.options = &options};
  struct output json = {.descriptor = -1};
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (options.json && !output_open(&json, options.json)) return STATUS_FAILED;
  char *text = malloc(JSON_BYTES);
  work_calibrate();
  const char *wrong = text ? take_all(&report) : "out of memory";
  status = wrong ? complain_failure("%s", wrong) : deliver(&report, &json, text);
  free(text);
  output_discard(&json);
  return status;
}
