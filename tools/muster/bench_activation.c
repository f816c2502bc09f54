#include "bench_activation.h"

#include "activation.h"
#include "complaint.h"
#include "noise.h"
#include "options.h"
#include "output.h"
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16, ROUNDS_MOST = 64, TARGET_NS = 300 };

static const uint32_t populations[ACTIVATION_BOOKINGS] = {1000, 10000, 100000, 1000000};

typedef struct activation_options {
  const char *json;
  uint64_t seed;
  uint32_t rounds;
  bool quick;
} activation_options;

typedef struct activation_report {
  const activation_options *options;
  activation_case cases[ACTIVATION_CASES];
  activation_ring rings[ACTIVATION_RINGS];
  activation_booking_cost bookings[ACTIVATION_BOOKINGS];
  uint32_t booking_count;
  double others_share, stolen_share;
} activation_report;

static void show_help(FILE *stream) {
  fprintf(stream,
          "muster bench activation - how even frames become when updates may be put off, and what that costs\n"
          "\n"
          "usage: muster bench activation [OPTION]...\n"
          "\n"
          "  --seed S      of the agents' phases (default 1)\n"
          "  --rounds R    of the booking's cost (default 9)\n"
          "  --quick       the cost for 1,000 and 10,000 agents only, in one round\n"
          "  --json FILE   the rows for machines; - is standard output\n"
          "  --help\n"
          "\n"
          "How it is measured\n"
          "  Worlds under the virtual clock run 600 frames at 30 per second; agents have one of three periods, "
          "random phases and the same cost. The load is what a frame releases, from frame 200 on. Planned: the "
          "same world with activation_delay %d. under-pressure has 60 %% of the budget that all want, and elastic "
          "periods. The same figures on any machine.\n"
          "  Rings: 5,000 agents, costs from one to five, that all begin in frame 0; planned ahead for the whole "
          "cycle with delays of at most %d frames, or of any part of the period.\n"
          "  Booking: CPU of the calling thread for hanging agents back into their wheels after an update, from the "
          "same code with and without planning; rounds of at least 200,000 insertions take turns, medians.\n"
          "\n"
          "Ends with status 1 when a peak is above its bound. Booking is to take less than %d ns; as it is measured on "
          "the machine's own clock, it is told and not judged.\n",
          ACTIVATION_DELAY, ACTIVATION_DELAY, TARGET_NS);
}

static bool read_option(void *user, int option, const char *text) {
  activation_options *options = user;
  if (option == OPTION_JSON) options->json = text;
  if (option == OPTION_QUICK) options->quick = true;
  if (option == OPTION_ROUNDS) return parse_count32("--rounds", text, 1, ROUNDS_MOST, &options->rounds);
  return option != OPTION_SEED || parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(activation_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {
      {"json", required_argument, NULL, OPTION_JSON}, {"seed", required_argument, NULL, OPTION_SEED},
      {"quick", no_argument, NULL, OPTION_QUICK},     {"rounds", required_argument, NULL, OPTION_ROUNDS},
      {"help", no_argument, NULL, OPTION_HELP},       {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench activation", long_options, show_help, read_option};
  *options = (activation_options){.seed = 1};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (options->rounds == 0) options->rounds = options->quick ? 1 : 9;
  if (optind == count) return true;
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

static bool all_within(const activation_report *report) {
  for (uint32_t i = 0; i < ACTIVATION_CASES; i++)
    if (!report->cases[i].within) return false;
  for (uint32_t i = 0; i < ACTIVATION_RINGS; i++)
    if (!report->rings[i].within) return false;
  return true;
}

static void print_cases(const activation_report *report) {
  puts("muster bench activation: the fullest frame over the mean, its variation, and what waits; virtual time\n");
  printf("%-15s %-8s %6s  %8s %8s %8s  %8s %8s %8s\n", "world", "periods", "agents", "peak", "variat.", "waiting",
         "planned", "variat.", "waiting");
  for (uint32_t i = 0; i < ACTIVATION_CASES; i++) {
    const activation_case *row = &report->cases[i];
    char periods[32];
    snprintf(periods, sizeof periods, "%u,%u,%u", row->periods[0], row->periods[1], row->periods[2]);
    printf("%-15s %-8s %6u  %8.4f %8.4f %8.1f  %8.4f %8.4f %8.1f  %s\n", row->name, periods, row->agents,
           row->plain.peak, row->plain.variation, row->plain.carried, row->planned.peak, row->planned.variation,
           row->planned.carried, row->within ? "" : "ABOVE ITS BOUND");
  }
}

static void print_rest(const activation_report *report) {
  printf("\n%-15s %-8s %6s  %10s %10s %10s %10s\n", "ring", "periods", "cycle", "together", "delay 3", "any delay",
         "ns/agent");
  for (uint32_t i = 0; i < ACTIVATION_RINGS; i++) {
    const activation_ring *row = &report->rings[i];
    char periods[32];
    snprintf(periods, sizeof periods, "%u,%u,%u", row->periods[0], row->periods[1], row->periods[2]);
    printf("%-15s %-8s %6u  %10.4f %10.4f %10.4f %10.0f  %s\n", row->name, periods, row->cycle, row->together_peak,
           row->short_peak, row->whole_peak, row->whole_ns, row->within ? "" : "ABOVE ITS BOUND");
  }
  printf("\n%-15s %12s %12s %12s   (CPU; target %d ns)\n", "agents", "plain ns", "planned ns", "booking ns", TARGET_NS);
  for (uint32_t i = 0; i < report->booking_count; i++) {
    const activation_booking_cost *row = &report->bookings[i];
    printf("%-15u %12.1f %12.1f %12.1f\n", row->agents, row->plain_ns, row->planned_ns, row->booking_ns);
  }
  noise_print(report->others_share, report->stolen_share);
}

static void write_load(const char *name, const activation_load *load, json_writer *writer) {
  json_begin_object(writer, name);
  json_number(writer, "peak", load->peak);
  json_number(writer, "variation", load->variation);
  json_number(writer, "carried", load->carried);
  json_end_object(writer);
}

static void write_periods(const uint32_t periods[3], json_writer *writer) {
  json_begin_array(writer, "periods");
  for (uint32_t i = 0; i < 3; i++) json_uint(writer, NULL, periods[i]);
  json_end_array(writer);
}

static void write_case(const activation_case *row, json_writer *writer) {
  json_begin_object(writer, row->name);
  write_periods(row->periods, writer);
  json_uint(writer, "agents", row->agents);
  write_load("plain", &row->plain, writer);
  write_load("planned", &row->planned, writer);
  if (row->most > 0) json_number(writer, "bound", row->most);
  json_bool(writer, "within", row->within);
  json_end_object(writer);
}

static void write_ring(const activation_ring *row, json_writer *writer) {
  json_begin_object(writer, row->name);
  write_periods(row->periods, writer);
  json_uint(writer, "cycle", row->cycle);
  json_number(writer, "together_peak", row->together_peak);
  json_number(writer, "short_peak", row->short_peak);
  json_number(writer, "whole_peak", row->whole_peak);
  json_number(writer, "whole_ns_per_agent", row->whole_ns);
  json_number(writer, "bound", row->most);
  json_bool(writer, "within", row->within);
  json_end_object(writer);
}

static void write_json(const activation_report *report, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "activation");
  json_uint(writer, "seed", report->options->seed);
  json_uint(writer, "delay", ACTIVATION_DELAY);
  json_begin_object(writer, "worlds");
  for (uint32_t i = 0; i < ACTIVATION_CASES; i++) write_case(&report->cases[i], writer);
  json_end_object(writer);
  json_begin_object(writer, "rings");
  for (uint32_t i = 0; i < ACTIVATION_RINGS; i++) write_ring(&report->rings[i], writer);
  json_end_object(writer);
  json_uint(writer, "booking_target_ns", TARGET_NS);
  json_begin_array(writer, "booking");
  for (uint32_t i = 0; i < report->booking_count; i++) {
    const activation_booking_cost *row = &report->bookings[i];
    json_begin_object(writer, NULL);
    json_uint(writer, "agents", row->agents);
    json_uint(writer, "insertions", row->insertions);
    json_number(writer, "plain_ns", row->plain_ns);
    json_number(writer, "planned_ns", row->planned_ns);
    json_number(writer, "booking_ns", row->booking_ns);
    json_end_object(writer);
  }
  json_end_array(writer);
  json_number(writer, "others_cpu_share", report->others_share);
  json_number(writer, "stolen_cpu_share", report->stolen_share);
  json_bool(writer, "within", all_within(report));
  json_end_object(writer);
}

static const char *take_all(activation_report *report) {
  const char *wrong = NULL;
  struct noise begin = noise_begin();
  activation_bench_cases(report->cases);
  activation_bench_rings(report->rings);
  for (uint32_t i = 0; i < ACTIVATION_CASES && !wrong; i++)
    wrong = activation_bench_case(report->options->seed, &report->cases[i]);
  for (uint32_t i = 0; i < ACTIVATION_RINGS && !wrong; i++) wrong = activation_bench_ring(&report->rings[i]);
  report->booking_count = report->options->quick ? 2 : ACTIVATION_BOOKINGS;
  for (uint32_t i = 0; i < report->booking_count && !wrong; i++)
    wrong = activation_bench_booking(populations[i], report->options->rounds, &report->bookings[i]);
  noise_end(&begin, &report->others_share, &report->stolen_share);
  return wrong;
}

static int deliver(const activation_report *report, struct output *json, char *text) {
  json_writer writer;
  const char *file = report->options->json;
  if (!file || strcmp(file, "-") != 0) {
    print_cases(report);
    print_rest(report);
  }
  if (file) {
    json_start(&writer, text, JSON_BYTES);
    write_json(report, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  return all_within(report) ? STATUS_OK : complain_failure("a peak is above its bound; the rows say which");
}

int bench_activation_command(int count, char **arguments) {
  activation_options options;
  activation_report report = {.options = &options};
  struct output json = {.descriptor = -1};
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  if (options.json && !output_open(&json, options.json)) return STATUS_FAILED;
  char *text = malloc(JSON_BYTES);
  const char *wrong = text ? take_all(&report) : "out of memory";
  status = wrong ? complain_failure("%s", wrong) : deliver(&report, &json, text);
  free(text);
  output_discard(&json);
  return status;
}
