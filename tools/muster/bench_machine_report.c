#include "bench_machine_report.h"

#include "noise.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

static void print_head(const bench_machine_results *results) {
  const bench_machine_options *options = results->options;
  char budget[TEXT_BYTES];
  printf("muster bench machine: %" PRIu64 " frames of %s at %g Hz, in which %" PRIu32
         " threads only read the clocks; %s\n\n",
         results->report.frames, text_duration(budget, (double)options->budget_ns), (double)options->rate / 1000,
         options->workers, results->real_time ? "real-time priority" : "usual priority");
}

static void print_lateness(const machine_report *report) {
  char limit[TEXT_BYTES], own[TEXT_BYTES], wall[TEXT_BYTES];
  printf("%-22s %12s %8s %12s %8s\n", "no thread late by over", "own", "frames", "wall", "frames");
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) {
    uint64_t own_frames = report->own_late.within[i], wall_frames = report->wall_late.within[i];
    printf("%-22s %12s %8" PRIu64 " %12s %8" PRIu64 "%s\n", text_duration(limit, (double)machine_limits_ns[i]),
           text_share(own, machine_share(report, own_frames)), own_frames,
           text_share(wall, machine_share(report, wall_frames)), wall_frames,
           i == MACHINE_GRACE_AND_CLAIM ? "  20 us and a claim of 50 us" : "");
  }
  printf("%-22s %12s %8" PRIu64 " %12s %8s  20 us and the frame's longest stall before the deadline\n",
         "as an audit counts", text_share(own, machine_share(report, report->as_audited)), report->as_audited, "", "");
  printf("%-22s %12s %8s %12s\n", "latest", text_duration(own, (double)report->own_late.latest_ns), "",
         text_duration(wall, (double)report->wall_late.latest_ns));
}

static void print_stalls(const machine_report *report, const char *name, const machine_stalls *stalls) {
  char longest[TEXT_BYTES], share[TEXT_BYTES];
  snprintf(share, sizeof share, "%.3f %%", machine_stalled_share(report, stalls) * 100);
  printf("%-22s %12.1f %8s %12s %8" PRIu64 "\n", name, machine_stalls_per_second(report, stalls), share,
         text_duration(longest, (double)stalls->longest_ns), stalls->count);
}

/* The conclusion, for readers. */
static void print_sentence(const machine_report *report) {
  char plain[TEXT_BYTES], claim[TEXT_BYTES], audited[TEXT_BYTES];
  if (report->own_late.within[MACHINE_GRACE] == report->frames) {
    puts("\nOn this machine, as it was, none of these frames was late by more than 20 us of own time for the machine's "
         "sake.");
    return;
  }
  printf("\nOn this machine, as it was, no program that works until its deadline can keep more than about %s of such\n"
         "frames within 20 us of own time (and a claim of 50 us: %s; as `muster run` counts, to which a claim\n"
         "that the machine stalls is a longer claim: %s).\n",
         text_share(plain, machine_share(report, report->own_late.within[MACHINE_GRACE])),
         text_share(claim, machine_share(report, report->own_late.within[MACHINE_GRACE_AND_CLAIM])),
         text_share(audited, machine_share(report, report->as_audited)));
}

void bench_machine_print(const bench_machine_results *results) {
  const machine_report *report = &results->report;
  print_head(results);
  print_lateness(report);
  printf("\n%-22s %12s %8s %12s %8s\n", "stalls over 20 us", "/s and thread", "of time", "longest", "all");
  print_stalls(report, "own", &report->own);
  print_stalls(report, "wall", &report->wall);
  if (report->missed)
    printf("threads woke only after the deadline %" PRIu64 " times, and saw nothing\n", report->missed);
  noise_print(results->others_share, results->stolen_share);
  print_sentence(report);
}

static void write_lateness(const machine_report *report, json_writer *writer) {
  json_begin_array(writer, "within");
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) {
    json_begin_object(writer, NULL);
    json_uint(writer, "limit_ns", machine_limits_ns[i]);
    json_uint(writer, "own_frames", report->own_late.within[i]);
    json_number(writer, "own_share", machine_share(report, report->own_late.within[i]));
    json_uint(writer, "wall_frames", report->wall_late.within[i]);
    json_number(writer, "wall_share", machine_share(report, report->wall_late.within[i]));
    json_end_object(writer);
  }
  json_end_array(writer);
  json_uint(writer, "as_audited_frames", report->as_audited);
  json_number(writer, "as_audited_share", machine_share(report, report->as_audited));
  json_begin_object(writer, "latest_ns");
  json_uint(writer, "own", report->own_late.latest_ns);
  json_uint(writer, "wall", report->wall_late.latest_ns);
  json_end_object(writer);
}

static void write_stalls(const machine_report *report, const char *name, const machine_stalls *stalls,
                         json_writer *writer) {
  json_begin_object(writer, name);
  json_uint(writer, "count", stalls->count);
  json_number(writer, "per_second", machine_stalls_per_second(report, stalls));
  json_number(writer, "time_share", machine_stalled_share(report, stalls));
  json_uint(writer, "total_ns", stalls->total_ns);
  json_uint(writer, "longest_ns", stalls->longest_ns);
  json_end_object(writer);
}

void bench_machine_write_json(const bench_machine_results *results, json_writer *writer) {
  const bench_machine_options *options = results->options;
  const machine_report *report = &results->report;
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "machine");
  json_uint(writer, "workers", options->workers);
  json_uint(writer, "frames", report->frames);
  json_uint(writer, "budget_ns", options->budget_ns);
  json_uint(writer, "frame_period_ns", options->period_ns);
  json_bool(writer, "real_time", results->real_time);
  write_lateness(report, writer);
  json_uint(writer, "woken_too_late", report->missed);
  json_uint(writer, "steps", report->steps);
  json_uint(writer, "watched_ns", report->watched_ns);
  json_begin_object(writer, "stalls");
  json_uint(writer, "longer_than_ns", MACHINE_GRACE_NS);
  write_stalls(report, "own", &report->own, writer);
  write_stalls(report, "wall", &report->wall, writer);
  json_end_object(writer);
  json_number(writer, "others_cpu_share", results->others_share);
  json_number(writer, "stolen_cpu_share", results->stolen_share);
  json_end_object(writer);
}
