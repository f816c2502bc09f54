#include "bench_control.h"

#include "base/json.h"
#include "complaint.h"
#include "control.h"
#include "options.h"
#include "output.h"
#include "parse.h"
#include "plots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_BYTES = 1 << 16 };

typedef struct control_options {
  const char *json;
  const char *plots;
  uint64_t seed;
} control_options;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench control - how the frame answers when costs or budgets change\n"
      "\n"
      "usage: muster bench control [OPTION]...\n"
      "\n"
      "  --seed S      of the costs (default 1)\n"
      "  --json FILE   the responses for machines; - is standard output\n"
      "  --plots DIR   draw the responses as PNG into this folder (needs gnuplot)\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  A world under the virtual clock that wants about 2.5 times its budget runs 480 frames; in frame 240 "
      "something happens. Watched are the updates completed in a frame and the mean period that the fit gives.\n"
      "  settle      frames until both stay within 10 %% of their new values; of a ramp, after its end\n"
      "  overshoot   how far either went beyond it, as a share of the step\n"
      "  depressed   frames with less than 90 %% of the rate that costs and budget allow\n"
      "  swing       standard deviation over the mean in the last 60 frames: a limit cycle would show\n"
      "  Time is virtual: the same figures on any machine.\n"
      "\n"
      "Ends with status 1 when a response is out of bounds: overshoot under %.0f %%, %u frames to settle, %u frames "
      "depressed, a swing of %.0f %%.\n",
      control_within.overshoot * 100, control_within.settle_frames, control_within.frames_depressed,
      control_within.swing * 100);
}

static bool read_option(void *user, int option, const char *text) {
  control_options *options = user;
  if (option == OPTION_JSON) options->json = text;
  if (option == OPTION_PLOTS) options->plots = text;
  return option != OPTION_SEED || parse_count("--seed", text, 0, UINT64_MAX, &options->seed);
}

/* True: go on; false: `status` is the exit status. */
static bool read_options(control_options *options, int count, char **arguments, int *status) {
  static const struct option long_options[] = {{"json", required_argument, NULL, OPTION_JSON},
                                               {"plots", required_argument, NULL, OPTION_PLOTS},
                                               {"seed", required_argument, NULL, OPTION_SEED},
                                               {"help", no_argument, NULL, OPTION_HELP},
                                               {NULL, 0, NULL, 0}};
  static const option_reader reader = {"bench control", long_options, show_help, read_option};
  *options = (control_options){.seed = 1};
  if (!options_read(&reader, options, count, arguments, status)) return false;
  if (optind == count) return true;
  *status = complain_usage("one bench at a time: '%s' is too many", arguments[optind]);
  return false;
}

static bool all_within(const control_response *responses) {
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++)
    if (!responses[i].within) return false;
  return true;
}

static void print(const control_response *responses) {
  puts("muster bench control: 480 frames at 2.5 times the budget, virtual time; in frame 240 something happens\n");
  printf("%-10s %9s %7s %10s %7s\n", "response", "overshoot", "settle", "depressed", "swing");
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++) {
    const control_response *response = &responses[i];
    printf("%-10s %7.1f %% %3u frm %6u frm %5.1f %%  %s %s\n", response->name, response->overshoot * 100,
           response->settle_frames, response->frames_depressed, response->swing * 100,
           response->within ? "      " : "MISSED", response->summary);
  }
  printf("%-10s %7.1f %% %3u frm %6u frm %5.1f %%\n", "bound", control_within.overshoot * 100,
         control_within.settle_frames, control_within.frames_depressed, control_within.swing * 100);
}

static void write_response(const control_response *response, json_writer *writer) {
  json_begin_object(writer, response->name);
  json_number(writer, "overshoot", response->overshoot);
  json_uint(writer, "settle_frames", response->settle_frames);
  json_uint(writer, "frames_depressed", response->frames_depressed);
  json_number(writer, "swing", response->swing);
  json_bool(writer, "within", response->within);
  json_end_object(writer);
}

static void write_json(const control_response *responses, uint64_t seed, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "control");
  json_uint(writer, "seed", seed);
  json_begin_object(writer, "bounds");
  json_number(writer, "overshoot", control_within.overshoot);
  json_uint(writer, "settle_frames", control_within.settle_frames);
  json_uint(writer, "frames_depressed", control_within.frames_depressed);
  json_number(writer, "swing", control_within.swing);
  json_end_object(writer);
  json_begin_object(writer, "responses");
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++) write_response(&responses[i], writer);
  json_end_object(writer);
  json_bool(writer, "within", all_within(responses));
  json_end_object(writer);
}

static void plot_traces(FILE *script, const control_response *response, uint32_t number) {
  fprintf(script, "$trace%u << END\n", number);
  for (uint32_t i = 200; i < 320; i++)
    fprintf(script, "%u %g %g %g %g\n", i, (double)response->trace.rate[i], (double)response->trace.allowed[i],
            (double)response->trace.period_ms[i], (double)response->trace.waiting[i]);
  fprintf(script,
          "END\nset title '%s'\nplot $trace%u using 1:3 with lines lc rgb '#999999' title 'allowed', "
          "$trace%u using 1:2 with lines lw 2 lc rgb '#0072b2' title 'completed', "
          "$trace%u using 1:4 axes x1y2 with lines lw 2 lc rgb '#d55e00' title 'period, ms'\n",
          response->name, number, number, number);
}

static bool draw(const control_response *responses, const char *folder) {
  struct plot plot;
  if (!plot_begin(&plot, folder, "control", 1400, 1000)) return false;
  fprintf(plot.script,
          "set multiplot layout 4,2 title 'updates in a frame and mean period, frames 200 to 320'\n"
          "set ytics nomirror\nset y2tics\nset yrange [0:*]\nset y2range [0:*]\nset grid\nset key bottom right\n"
          "set termoption noenhanced\n");
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++) plot_traces(plot.script, &responses[i], i);
  fprintf(plot.script, "unset multiplot\n");
  return plot_end(&plot);
}

static int deliver(const control_response *responses, const control_options *options, struct output *json, char *text) {
  json_writer writer;
  bool quiet = options->json && strcmp(options->json, "-") == 0;
  if (!quiet) print(responses);
  if (options->plots && !draw(responses, options->plots)) return STATUS_FAILED;
  if (options->json) {
    json_start(&writer, text, JSON_BYTES);
    write_json(responses, options->seed, &writer);
    if (!output_commit_json(json, &writer)) return STATUS_FAILED;
  }
  return all_within(responses) ? STATUS_OK : complain_failure("a response is out of bounds; the rows say which");
}

static int measure(const void *user, struct output *json) {
  const control_options *options = user;
  control_response *responses = calloc(CONTROL_RESPONSES, sizeof *responses);
  char *text = malloc(JSON_BYTES);
  const char *wrong = responses && text ? control_measure(options->seed, responses) : "out of memory";
  int status = wrong ? complain_failure("%s", wrong) : deliver(responses, options, json, text);
  free(text);
  free(responses);
  return status;
}

int bench_control_command(int count, char **arguments) {
  control_options options;
  int status;
  if (!read_options(&options, count, arguments, &status)) return status;
  return output_of_work(options.plots, options.json, measure, &options);
}
