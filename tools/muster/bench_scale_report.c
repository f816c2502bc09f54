#include "bench_scale_report.h"

#include "noise.h"
#include "plots.h"
#include "text.h"

#include <muster/jobs.h>

#include <math.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- tables */

static void print_cell(int width, const char *text) {
  printf(" %*s", width, text);
}

static void print_count(int width, double value) {
  char text[TEXT_BYTES];
  print_cell(width, text_count(text, (uint64_t)llround(value)));
}

static void print_duration(int width, double ns) {
  char text[TEXT_BYTES];
  print_cell(width, isfinite(ns) ? text_duration(text, ns) : "-");
}

static void print_setup(uint32_t agents, uint32_t observers, uint32_t workers) {
  print_count(9, agents);
  print_count(9, observers);
  print_count(7, workers);
}

static void print_rows(const bench_scale_results *results) {
  puts("\n                             updates  plain loop   overhead   overhead     walking      score       idle"
       "     bytes   resident\n"
       "    agents observers workers per frame per update per update  per frame  per update  per frame      frame"
       " per agent  per agent");
  for (uint32_t i = 0; i < results->row_count; i++) {
    const scale_row *row = &results->rows[i];
    print_setup(row->agents, row->observers, row->workers);
    print_count(9, row->updates_per_frame);
    print_duration(10, row->loop_ns_per_update);
    print_duration(10, row->ns_per_update);
    print_duration(10, row->ns_per_frame);
    print_duration(11, row->walking_ns_per_update);
    print_duration(10, row->score_ns);
    print_duration(10, row->idle_frame_ns);
    printf(" %9.1f %10.1f\n", row->bytes_per_agent, row->resident_per_agent);
  }
}

static void print_spawnings(const bench_scale_results *results) {
  puts("\n                               spawn     remove  spawning  removing     frames of all\n"
       "    agents observers workers    each       each    frames    frames rounds over budget");
  for (uint32_t i = 0; i < results->spawning_count; i++) {
    const scale_spawning *row = &results->spawnings[i];
    print_setup(row->agents, row->observers, row->workers);
    print_duration(8, row->spawn_ns);
    print_duration(10, row->remove_ns);
    print_count(9, row->spawn_frames);
    print_count(9, row->remove_frames);
    print_count(18, row->frames_over_budget);
    puts("");
  }
}

void bench_scale_print(const bench_scale_results *results) {
  uint32_t processors = muster_available_processors();
  printf("muster bench scale: on %u processor%s, medians of %u round%s%s\n", processors, processors == 1 ? "" : "s",
         results->options->rounds, results->options->rounds == 1 ? "" : "s",
         results->options->quick ? ", quick: figures mean little" : "");
  noise_print(results->others_share, results->stolen_share);
  for (uint32_t i = 0; i < results->note_count; i++) puts(results->notes[i]);
  print_rows(results);
  print_spawnings(results);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void write_setup(json_writer *writer, uint32_t agents, uint32_t observers, uint32_t workers) {
  json_uint(writer, "agents", agents);
  json_uint(writer, "observers", observers);
  json_uint(writer, "workers", workers);
}

static void write_row(const scale_row *row, json_writer *writer) {
  json_begin_object(writer, NULL);
  write_setup(writer, row->agents, row->observers, row->workers);
  json_number(writer, "updates_per_frame", row->updates_per_frame);
  json_number(writer, "loop_ns_per_update", row->loop_ns_per_update);
  json_number(writer, "ns_per_update", row->ns_per_update);
  json_number(writer, "ns_per_update_lowest_round", row->ns_per_update_lowest);
  json_number(writer, "ns_per_update_highest_round", row->ns_per_update_highest);
  json_number(writer, "ns_per_frame", row->ns_per_frame);
  json_number(writer, "walking_ns_per_update", row->walking_ns_per_update);
  json_number(writer, "walking_ns_per_frame", row->walking_ns_per_frame);
  json_number(writer, "idle_frame_ns", row->idle_frame_ns);
  json_number(writer, "score_ns", row->score_ns);
  json_number(writer, "bytes_per_agent", row->bytes_per_agent);
  json_number(writer, "resident_per_agent", row->resident_per_agent);
  json_end_object(writer);
}

static void write_spawning(const scale_spawning *row, json_writer *writer) {
  json_begin_object(writer, NULL);
  write_setup(writer, row->agents, row->observers, row->workers);
  json_number(writer, "spawn_ns", row->spawn_ns);
  json_number(writer, "remove_ns", row->remove_ns);
  json_number(writer, "spawn_frames", row->spawn_frames);
  json_number(writer, "remove_frames", row->remove_frames);
  json_number(writer, "frames", row->frames);
  json_uint(writer, "frames_over_budget", row->frames_over_budget);
  json_end_object(writer);
}

void bench_scale_write_json(const bench_scale_results *results, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "scale");
  json_uint(writer, "processors", muster_available_processors());
  json_uint(writer, "rounds", results->options->rounds);
  json_bool(writer, "quick", results->options->quick);
  json_number(writer, "others_cpu_share", results->others_share);
  json_number(writer, "stolen_cpu_share", results->stolen_share);
  json_begin_array(writer, "rows");
  for (uint32_t i = 0; i < results->row_count; i++) write_row(&results->rows[i], writer);
  json_end_array(writer);
  json_begin_array(writer, "spawning");
  for (uint32_t i = 0; i < results->spawning_count; i++) write_spawning(&results->spawnings[i], writer);
  json_end_array(writer);
  json_begin_array(writer, "notes");
  for (uint32_t i = 0; i < results->note_count; i++) json_string(writer, NULL, results->notes[i]);
  json_end_array(writer);
  json_end_object(writer);
}
