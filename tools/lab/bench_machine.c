/* `muster bench machine`: how often the machine itself makes a frame late. */
#include "benches.h"

#include "complaint.h"
#include "machine.h"
#include "pacing.h"
#include "text.h"

#include <muster/muster.h>

#include <sched.h>

typedef struct machine_work {
  bench_work common;
  uint32_t workers;
  uint64_t budget_ns, frames;
  uint64_t rate, period_ns; /* of frames, per 1000 seconds; of one frame */
  struct pacing pacing;
  machine_report report;
  bool real_time; /* at a priority before all usual programs */
} machine_work;

static void show_help(FILE *stream) {
  fputs(
      "muster bench machine - how often the machine itself makes a frame late\n"
      "\n"
      "usage: muster bench machine [OPTION]...\n"
      "\n"
      "  --workers N    threads, the calling one included (default: one per processor)\n"
      "  --budget 5ms   wall time of a frame, 100us .. 1s, at most the frame's whole time (default 5ms)\n"
      "  --hz 30        frames per second (default 30)\n"
      "  --frames N     default 600\n"
      "  --json FILE    the figures for machines, all times in ns; - is standard output\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  The threads are those of a pool, placed, woken and paced as in `muster run`.\n"
      "  In each frame every thread reads the clock and its own CPU time, over and over until the deadline, and "
      "then sleeps until the next frame. It has nothing to do that could make it late, so what is late was taken "
      "by the kernel, by other programs, or by the host of a virtual machine.\n"
      "  late    what lies behind the deadline as a thread sees that it has come, the latest thread of a frame; "
      "own: at most the CPU time that the thread took there, the measure of `muster run`. "
      "A host takes the processor unseen: what it takes counts as own time of the thread that ran.\n"
      "  stalls  readings more than 20 us apart, on the wall and in own time, at any time within a frame\n"
      "  The promise of `muster run` allows 20 us and the frame's longest atom. 70 us is that with an atom "
      "of 50 us. But an atom in which the machine stalls is longer in own time, and so allows more: as an audit counts "
      "are the frames that are late by at most 20 us and the longest stall of any thread before the deadline.\n"
      "  What is late here is late for any program that works until its deadline; one that ends earlier "
      "is late less often.\n"
      "  Under `chrt -f 10` other programs do not count, as in `chrt -f 10 muster run`.\n"
      "  It is reported, not judged: it depends on the machine and on what else uses it.\n",
      stream);
}

static int check(void *user) {
  machine_work *work = user;
  if (!work->workers) work->workers = muster_available_processors();
  if (!work->budget_ns) work->budget_ns = 5000000;
  if (!work->rate) work->rate = 30000;
  if (!work->frames) work->frames = 600;
  work->period_ns = pacing_sim_time(&(struct pacing){.rate = work->rate}, 1);
  if (work->budget_ns <= work->period_ns) return STATUS_OK;
  return complain_usage("--budget is %s, longer than a frame of %s; lower it or --hz", text_ns(work->budget_ns),
                        text_ns(work->period_ns));
}

static void wait_for_frame(void *user, uint64_t frame) {
  machine_work *work = user;
  if (progress_is_due(&work->common.line)) progress_put(&work->common.line, "frame %lu of %lu", frame, work->frames);
  pacing_wait(&work->pacing, frame);
}

static const char *measure(void *user) {
  machine_work *work = user;
  machine_setup setup = {.workers = work->workers,
                         .frames = work->frames,
                         .budget_ns = work->budget_ns,
                         .wait = wait_for_frame,
                         .user = work};
  int scheduler = sched_getscheduler(0);
  work->real_time = scheduler == SCHED_FIFO || scheduler == SCHED_RR;
  work->pacing = pacing_begin(work->rate, true);
  return machine_measure(&setup, &work->report);
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void print_lateness(const machine_report *report) {
  printf("%-22s %12s %8s %12s %8s\n", "no thread late by over", "own", "frames", "wall", "frames");
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) {
    uint64_t own_frames = report->own_late.within[i], wall_frames = report->wall_late.within[i];
    printf("%-22s %12s %8lu %12s %8lu%s\n", text_ns(machine_limits_ns[i]),
           text_share(machine_share(report, own_frames)), own_frames, text_share(machine_share(report, wall_frames)),
           wall_frames, i == MACHINE_GRACE_AND_CLAIM ? "  20 us and a claim of 50 us" : "");
  }
  printf("%-22s %12s %8lu %12s %8s  20 us and the frame's longest stall before the deadline\n", "as an audit counts",
         text_share(machine_share(report, report->as_audited)), report->as_audited, "", "");
  printf("%-22s %12s %8s %12s\n", "latest", text_ns(report->own_late.latest_ns), "",
         text_ns(report->wall_late.latest_ns));
}

static void print_stalls(const machine_report *report, const char *name, const machine_stalls *stalls) {
  char share[TEXT_BYTES];
  snprintf(share, sizeof share, "%.3f %%", machine_stalled_share(report, stalls) * 100);
  printf("%-22s %12.1f %8s %12s %8lu\n", name, machine_stalls_per_second(report, stalls), share,
         text_ns(stalls->longest_ns), stalls->count);
}

/* The conclusion, for readers. */
static void print_sentence(const machine_report *report) {
  if (report->own_late.within[MACHINE_GRACE] == report->frames) {
    puts("\nOn this machine, as it was, none of these frames was late by more than 20 us of own time for the machine's "
         "sake.");
    return;
  }
  printf("\nOn this machine, as it was, no program that works until its deadline can keep more than about %s of such\n"
         "frames within 20 us of own time (and a claim of 50 us: %s; as `muster run` counts, to which a claim\n"
         "that the machine stalls is a longer claim: %s).\n",
         text_share(machine_share(report, report->own_late.within[MACHINE_GRACE])),
         text_share(machine_share(report, report->own_late.within[MACHINE_GRACE_AND_CLAIM])),
         text_share(machine_share(report, report->as_audited)));
}

static void print(const void *user) {
  const machine_work *work = user;
  const machine_report *report = &work->report;
  printf("muster bench machine: %lu frames of %s at %g Hz, in which %u threads only read the clocks; %s\n\n",
         report->frames, text_ns(work->budget_ns), (double)work->rate / 1000, work->workers,
         work->real_time ? "real-time priority" : "usual priority");
  print_lateness(report);
  printf("\n%-22s %12s %8s %12s %8s\n", "stalls over 20 us", "/s and thread", "of time", "longest", "all");
  print_stalls(report, "own", &report->own);
  print_stalls(report, "wall", &report->wall);
  if (report->missed) printf("threads woke only after the deadline %lu times, and saw nothing\n", report->missed);
  print_sentence(report);
}

static void write_lateness(const machine_report *report, json_writer *writer) {
  json_begin_array(writer, "within");
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) {
    json_print(writer, "{ limit_ns=%lu own_frames=%lu own_share=%g wall_frames=%lu wall_share=%g }",
               machine_limits_ns[i], report->own_late.within[i], machine_share(report, report->own_late.within[i]),
               report->wall_late.within[i], machine_share(report, report->wall_late.within[i]));
  }
  json_print(writer, "] as_audited_frames=%lu as_audited_share=%g latest_ns{ own=%lu wall=%lu }", report->as_audited,
             machine_share(report, report->as_audited), report->own_late.latest_ns, report->wall_late.latest_ns);
}

static void write_stalls(const machine_report *report, const char *name, const machine_stalls *stalls,
                         json_writer *writer) {
  json_print(writer, "%s{ count=%lu per_second=%g time_share=%g total_ns=%lu longest_ns=%lu }", name, stalls->count,
             machine_stalls_per_second(report, stalls), machine_stalled_share(report, stalls), stalls->total_ns,
             stalls->longest_ns);
}

static void write(const void *user, json_writer *writer) {
  const machine_work *work = user;
  const machine_report *report = &work->report;
  json_print(writer, "workers=%u frames=%lu budget_ns=%lu frame_period_ns=%lu real_time=%d", work->workers,
             report->frames, work->budget_ns, work->period_ns, work->real_time);
  write_lateness(report, writer);
  json_print(writer, "woken_too_late=%lu steps=%lu watched_ns=%lu stalls{ longer_than_ns=%u", report->missed,
             report->steps, report->watched_ns, MACHINE_GRACE_NS);
  write_stalls(report, "own", &report->own, writer);
  write_stalls(report, "wall", &report->wall, writer);
  json_end_object(writer);
}

static const option_def options[] = {OPTION_WITHIN("workers", COUNT32, machine_work, workers, 1, MUSTER_WORKERS_MAX),
                                     OPTION_WITHIN("budget", DURATION, machine_work, budget_ns, 100000, 1000000000),
                                     OPTION_WITHIN("hz", RATE, machine_work, rate, 100, 10000000),
                                     OPTION_WITHIN("frames", COUNT, machine_work, frames, 1, 1000000),
                                     BENCH_JSON,
                                     {0}};

const bench_def bench_machine = {"machine",
                                 "how often the machine itself makes a frame late",
                                 show_help,
                                 options,
                                 sizeof(machine_work),
                                 .noisy = true,
                                 .check = check,
                                 .measure = measure,
                                 .print = print,
                                 .write = write};
