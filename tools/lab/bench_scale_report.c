/* The results of `muster bench scale` as text, as a document and as a figure. */
#include "bench_scale.h"

#include "plots.h"
#include "text.h"

#include <muster/jobs.h>

#include <math.h>

static const char *text_whole(double value) {
  return text_count((uint64_t)llround(value));
}

static const char *text_time(double ns) {
  return isfinite(ns) ? text_duration(ns) : "-";
}

void scale_print(const void *user) {
  const scale_work *work = user;
  uint32_t processors = muster_available_processors(), rounds = work->common.rounds;
  printf("muster bench scale: on %u processor%s, medians of %u round%s%s\n", processors, processors == 1 ? "" : "s",
         rounds, rounds == 1 ? "" : "s", work->common.quick ? ", quick: figures mean little" : "");
  for (uint32_t i = 0; i < work->note_count; i++) puts(work->notes[i]);
  puts("\n                             updates  plain loop   overhead   overhead     walking      score       idle"
       "     bytes   resident\n"
       "    agents observers workers per frame per update per update  per frame  per update  per frame      frame"
       " per agent  per agent");
  for (const scale_row *row = work->rows; row->agents; row++)
    printf(" %9s %9s %7s %9s %10s %10s %10s %11s %10s %10s %9.1f %10.1f\n", text_whole(row->agents),
           text_whole(row->observers), text_whole(row->workers), text_whole(row->updates_per_frame),
           text_time(row->loop_ns_per_update), text_time(row->ns_per_update), text_time(row->ns_per_frame),
           text_time(row->walking_ns_per_update), text_time(row->score_ns), text_time(row->idle_frame_ns),
           row->bytes_per_agent, row->resident_per_agent);
  puts("\n                               spawn     remove  spawning  removing     frames of all\n"
       "    agents observers workers    each       each    frames    frames rounds over budget");
  for (const scale_spawning *row = work->spawnings; row->agents; row++)
    printf(" %9s %9s %7s %8s %10s %9s %9s %18s\n", text_whole(row->agents), text_whole(row->observers),
           text_whole(row->workers), text_time(row->spawn_ns), text_time(row->remove_ns), text_whole(row->spawn_frames),
           text_whole(row->remove_frames), text_whole(row->frames_over_budget));
}

void scale_write(const void *user, json_writer *writer) {
  const scale_work *work = user;
  json_print(writer, "processors=%u rounds=%u quick=%d rows[", muster_available_processors(), work->common.rounds,
             work->common.quick);
  for (const scale_row *row = work->rows; row->agents; row++)
    json_print(writer,
               "{ agents=%u observers=%u workers=%u updates_per_frame=%g loop_ns_per_update=%g ns_per_update=%g "
               "ns_per_update_lowest_round=%g ns_per_update_highest_round=%g ns_per_frame=%g walking_ns_per_update=%g "
               "walking_ns_per_frame=%g idle_frame_ns=%g score_ns=%g bytes_per_agent=%g resident_per_agent=%g }",
               row->agents, row->observers, row->workers, row->updates_per_frame, row->loop_ns_per_update,
               row->ns_per_update, row->ns_per_update_lowest, row->ns_per_update_highest, row->ns_per_frame,
               row->walking_ns_per_update, row->walking_ns_per_frame, row->idle_frame_ns, row->score_ns,
               row->bytes_per_agent, row->resident_per_agent);
  json_print(writer, "] spawning[");
  for (const scale_spawning *row = work->spawnings; row->agents; row++)
    json_print(
        writer,
        "{ agents=%u observers=%u workers=%u spawn_ns=%g remove_ns=%g spawn_frames=%g remove_frames=%g frames=%g "
        "frames_over_budget=%u }",
        row->agents, row->observers, row->workers, row->spawn_ns, row->remove_ns, row->spawn_frames, row->remove_frames,
        row->frames, row->frames_over_budget);
  json_print(writer, "] notes[");
  for (uint32_t i = 0; i < work->note_count; i++) json_string(writer, NULL, work->notes[i]);
  json_end_array(writer);
}

/* ----------------------------------------------------------------------------------------------------------- figure */

/* What is aimed at. */
static const struct {
  uint32_t ns;
  const char *title, *colour;
} targets[] = {{60, "target at 10,000: 60 ns", "#bbbbbb"},
               {120, "aim at 1,000,000: 120 ns", "#888888"},
               {250, "target at 1,000,000: 250 ns", "#444444"}};

enum { TARGETS = sizeof targets / sizeof *targets };

/* The data of one curve: all rows with that many observers and workers. */
static void print_curve(FILE *script, const scale_work *work, uint32_t observers, uint32_t workers) {
  fprintf(script, "$observers%u_workers%u << END\n", observers, workers);
  for (uint32_t i = 0; i < work->row_count; i++) {
    const scale_row *row = &work->rows[i];
    if (row->observers == observers && row->workers == workers)
      fprintf(script, "%u %.6g\n", row->agents, row->ns_per_update);
  }
  fprintf(script, "END\n");
}

bool scale_plot(const void *user, const char *folder) {
  const scale_work *work = user;
  const scale_list *observers = &work->observers, *workers = &work->workers;
  FILE *script = plot_begin(folder, "scale", 1200, 760);
  if (!script) return false;
  for (uint32_t i = 0; i < observers->count; i++)
    for (uint32_t j = 0; j < workers->count; j++) print_curve(script, work, observers->values[i], workers->values[j]);
  fprintf(script, "set title 'Overhead of scheduling per update, all threads'\n"
                  "set xlabel 'agents'\nset ylabel 'ns per update'\nset logscale x\nset format x '%%.0f'\n"
                  "set xrange [500:*]\nset yrange [0:*]\nset grid\nset key outside bottom center horizontal\n"
                  "plot ");
  for (uint32_t i = 0; i < TARGETS; i++)
    fprintf(script, "%u with lines lw 2 lc rgb '%s' title '%s', ", targets[i].ns, targets[i].colour, targets[i].title);
  for (uint32_t i = 0; i < observers->count; i++)
    for (uint32_t j = 0; j < workers->count; j++)
      fprintf(script, "%s$observers%u_workers%u using 1:2 with linespoints lw 2 ps 2 title 'observers %u, workers %u'",
              i + j ? ", " : "", observers->values[i], workers->values[j], observers->values[i], workers->values[j]);
  fprintf(script, "\n");
  return plot_end(script);
}
