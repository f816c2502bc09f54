/* `muster bench activation`: how even frames become when updates may be put off. */
#include "benches.h"

#include "activation.h"
#include "complaint.h"
#include "text.h"

#include <string.h>

enum { TARGET_NS = 300 };

static const uint32_t populations[ACTIVATION_RESERVATIONS] = {1000, 10000, 100000, 1000000};

typedef struct activation_work {
  bench_work common;
  /* Each with an empty row behind the last. */
  activation_case cases[ACTIVATION_CASES + 1];
  activation_ring rings[ACTIVATION_RINGS + 1];
  activation_reservation_cost reservations[ACTIVATION_RESERVATIONS + 1];
} activation_work;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench activation - how even frames become when updates may be put off, and what that costs\n"
      "\n"
      "usage: muster bench activation [OPTION]...\n"
      "\n"
      "  --seed S      of the agents' phases (default 1)\n"
      "  --rounds R    of the cost of reserving (default 9)\n"
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
      "  Reserving: CPU of the calling thread for letting agents wait again after an update, from the "
      "same code with and without planning; rounds of at least 200,000 insertions take turns, medians.\n"
      "\n"
      "Ends with status 1 when a peak is above its bound. Reserving is to take less than %d ns; as it is measured on "
      "the machine's own clock, it is told and not judged.\n",
      ACTIVATION_DELAY, ACTIVATION_DELAY, TARGET_NS);
}

static bool all_within(const activation_work *work) {
  bool within = true;
  for (const activation_case *row = work->cases; row->name; row++) within &= row->within;
  for (const activation_ring *row = work->rings; row->name; row++) within &= row->within;
  return within;
}

static const char *text_periods(const uint32_t periods[3]) {
  return text_of("%u,%u,%u", periods[0], periods[1], periods[2]);
}

static void print(const void *user) {
  const activation_work *work = user;
  puts("muster bench activation: the fullest frame over the mean, its variation, and what waits; virtual time\n");
  printf("%-15s %-8s %6s  %8s %8s %8s  %8s %8s %8s\n", "world", "periods", "agents", "peak", "variat.", "waiting",
         "planned", "variat.", "waiting");
  for (const activation_case *row = work->cases; row->name; row++)
    printf("%-15s %-8s %6u  %8.4f %8.4f %8.1f  %8.4f %8.4f %8.1f  %s\n", row->name, text_periods(row->periods),
           row->agents, row->plain.peak, row->plain.variation, row->plain.carried, row->planned.peak,
           row->planned.variation, row->planned.carried, row->within ? "" : "ABOVE ITS BOUND");
  printf("\n%-15s %-8s %6s  %10s %10s %10s %10s\n", "ring", "periods", "cycle", "together", "delay 3", "any delay",
         "ns/agent");
  for (const activation_ring *row = work->rings; row->name; row++)
    printf("%-15s %-8s %6u  %10.4f %10.4f %10.4f %10.0f  %s\n", row->name, text_periods(row->periods), row->cycle,
           row->together_peak, row->short_peak, row->whole_peak, row->whole_ns, row->within ? "" : "ABOVE ITS BOUND");
  printf("\n%-15s %12s %12s %12s   (CPU; target %d ns)\n", "agents", "plain ns", "planned ns", "reserve ns", TARGET_NS);
  for (const activation_reservation_cost *row = work->reservations; row->agents; row++)
    printf("%-15u %12.1f %12.1f %12.1f\n", row->agents, row->plain_ns, row->planned_ns, row->reservation_ns);
}

static void write_case(const activation_case *row, json_writer *writer) {
  json_print(writer,
             "%s{ periods[ %u %u %u ] agents=%u plain{ peak=%g variation=%g carried=%g } planned{ peak=%g variation=%g "
             "carried=%g }",
             row->name, row->periods[0], row->periods[1], row->periods[2], row->agents, row->plain.peak,
             row->plain.variation, row->plain.carried, row->planned.peak, row->planned.variation, row->planned.carried);
  if (row->most > 0) json_number(writer, "bound", row->most);
  json_print(writer, "within=%d }", row->within);
}

static void write(const void *user, json_writer *writer) {
  const activation_work *work = user;
  json_print(writer, "seed=%lu delay=%u worlds{", work->common.seed, ACTIVATION_DELAY);
  for (const activation_case *row = work->cases; row->name; row++) write_case(row, writer);
  json_print(writer, "} rings{");
  for (const activation_ring *row = work->rings; row->name; row++)
    json_print(writer,
               "%s{ periods[ %u %u %u ] cycle=%u together_peak=%g short_peak=%g whole_peak=%g whole_ns_per_agent=%g "
               "bound=%g within=%d }",
               row->name, row->periods[0], row->periods[1], row->periods[2], row->cycle, row->together_peak,
               row->short_peak, row->whole_peak, row->whole_ns, row->most, row->within);
  json_print(writer, "} reservation_target_ns=%u reservations[", TARGET_NS);
  for (const activation_reservation_cost *row = work->reservations; row->agents; row++)
    json_print(writer, "{ agents=%u insertions=%lu plain_ns=%g planned_ns=%g reservation_ns=%g }", row->agents,
               row->insertions, row->plain_ns, row->planned_ns, row->reservation_ns);
  json_print(writer, "] within=%d", all_within(work));
}

static const char *measure(void *user) {
  activation_work *work = user;
  const char *wrong = NULL;
  memcpy(work->cases, activation_cases, sizeof work->cases);
  memcpy(work->rings, activation_rings, sizeof work->rings);
  for (activation_case *row = work->cases; row->name && !wrong; row++)
    wrong = activation_bench_case(work->common.seed, row);
  for (activation_ring *row = work->rings; row->name && !wrong; row++) wrong = activation_bench_ring(row);
  for (uint32_t i = 0; i < (work->common.quick ? 2 : ACTIVATION_RESERVATIONS) && !wrong; i++)
    wrong = activation_bench_reservations(populations[i], work->common.rounds, &work->reservations[i]);
  return wrong;
}

static int judge(const void *user) {
  return all_within(user) ? STATUS_OK : complain_failure("a peak is above its bound; the rows say which");
}

static const option_def options[] = {BENCH_JSON, BENCH_SEED, BENCH_QUICK, BENCH_ROUNDS(ACTIVATION_ROUNDS_MOST), {0}};

const bench_def bench_activation = {"activation",
                                    "how even frames become when updates may be put off",
                                    show_help,
                                    options,
                                    sizeof(activation_work),
                                    .rounds = {9, 1},
                                    .noisy = true,
                                    .measure = measure,
                                    .print = print,
                                    .write = write,
                                    .judge = judge};
