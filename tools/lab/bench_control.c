/* `muster bench control`: how the frame answers when costs or budgets change. */
#include "benches.h"

#include "complaint.h"
#include "control.h"
#include "plots.h"

typedef struct control_work {
  bench_work common;
  control_response responses[CONTROL_RESPONSES + 1]; /* without a name behind the last */
} control_work;

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
      "  idle        frames that leave time for the longest of all updates though agents wait, and times in which each "
      "agent has its turn and a tenth of the capacity is left though periods are stretched\n"
      "  Time is virtual: the same figures on any machine.\n"
      "\n"
      "Ends with status 1 when a response is out of bounds: overshoot under %.0f %%, %u frames to settle, %u frames "
      "depressed, a swing of %.0f %%, nothing idle.\n",
      control_within.overshoot * 100, control_within.settle_frames, control_within.frames_depressed,
      control_within.swing * 100);
}

static bool all_within(const control_work *work) {
  bool within = true;
  for (const control_response *row = work->responses; row->name; row++) within &= row->within;
  return within;
}

static void print_figures(const char *name, const control_figures *figures) {
  printf("%-10s %7.1f %% %3u frm %6u frm %5.1f %%", name, figures->overshoot * 100, figures->settle_frames,
         figures->frames_depressed, figures->swing * 100);
}

static void print(const void *user) {
  const control_work *work = user;
  puts("muster bench control: 480 frames at 2.5 times the budget, virtual time; in frame 240 something happens\n");
  printf("%-10s %9s %7s %10s %7s %5s\n", "response", "overshoot", "settle", "depressed", "swing", "idle");
  for (const control_response *row = work->responses; row->name; row++) {
    print_figures(row->name, &row->figures);
    printf(" %4lu  %s %s\n", row->idle_frames + row->idle_windows, row->within ? "      " : "MISSED", row->summary);
  }
  print_figures("bound", &control_within);
  puts("    0");
}

/* What else is known of them follows; the object is open. */
static void write_figures(const char *name, const control_figures *figures, json_writer *writer) {
  json_print(writer, "%s{ overshoot=%g settle_frames=%u frames_depressed=%u swing=%g", name, figures->overshoot,
             figures->settle_frames, figures->frames_depressed, figures->swing);
}

static void write(const void *user, json_writer *writer) {
  const control_work *work = user;
  json_print(writer, "seed=%lu", work->common.seed);
  write_figures("bounds", &control_within, writer);
  json_print(writer, "} responses{");
  for (const control_response *row = work->responses; row->name; row++) {
    write_figures(row->name, &row->figures, writer);
    json_print(writer, "idle_frames=%lu idle_windows=%lu within=%d }", row->idle_frames, row->idle_windows,
               row->within);
  }
  json_print(writer, "} within=%d", all_within(work));
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

static bool draw(const void *user, const char *folder) {
  const control_work *work = user;
  FILE *script = plot_begin(folder, "control", 1400, 1000);
  if (!script) return false;
  fprintf(script,
          "set multiplot layout 4,2 title 'updates in a frame and mean period, frames 200 to 320'\n"
          "set ytics nomirror\nset y2tics\nset yrange [0:*]\nset y2range [0:*]\nset grid\nset key bottom right\n"
          "set termoption noenhanced\n");
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++) plot_traces(script, &work->responses[i], i);
  fprintf(script, "unset multiplot\n");
  return plot_end(script);
}

static const char *measure(void *user) {
  control_work *work = user;
  return control_measure(work->common.seed, work->responses);
}

static int judge(const void *user) {
  return all_within(user) ? STATUS_OK : complain_failure("a response is out of bounds; the rows say which");
}

static const option_def options[] = {BENCH_JSON, BENCH_PLOTS, BENCH_SEED, {0}};

const bench_def bench_control = {"control",
                                 "how the frame answers when costs or budgets change",
                                 show_help,
                                 options,
                                 sizeof(control_work),
                                 .measure = measure,
                                 .print = print,
                                 .plot = draw,
                                 .write = write,
                                 .judge = judge};
