/* `muster bench sets`: what sets cost, beside lists of atoms and beside a plain loop. */
#include "benches.h"

#include "sets.h"
#include "work.h"

enum { OVER_LIST_NS = 15, OVERHEADS_MOST = 12, SCHEDULES_MOST = 4, AGENTS = 500 };

static const double overhead_most = 0.02;

typedef struct sets_work {
  bench_work common;
  uint32_t agents;
  uint64_t atom_ns;                            /* 0 = several */
  sets_overhead overheads[OVERHEADS_MOST + 1]; /* without any sets behind the last row, */
  sets_schedule schedules[SCHEDULES_MOST + 1]; /* and without agents */
} sets_work;

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

/* The rows that are asked for. */
static void plan_rows(sets_work *work) {
  bool quick = work->common.quick;
  uint32_t agents = work->agents ? work->agents : AGENTS;
  sets_overhead *overhead = work->overheads;
  sets_schedule *schedule = work->schedules;
  for (uint32_t sets = 1; sets <= SETS_SETS_MOST; sets *= 2)
    for (uint32_t atoms = 1; atoms <= SETS_ATOMS_MOST; atoms *= 2)
      if (!quick || sets == atoms) *overhead++ = (sets_overhead){.sets = sets, .atoms = atoms};
  for (uint32_t us = 1; us <= 3; us++)
    if (work->atom_ns == 0 && (!quick || us == 2))
      *schedule++ = (sets_schedule){.agents = agents, .atom_ns = 1000 * us};
  if (work->atom_ns) *schedule = (sets_schedule){.agents = agents, .atom_ns = (uint32_t)work->atom_ns};
}

static const char *measure(void *user) {
  sets_work *work = user;
  const char *wrong = NULL;
  work_calibrate();
  plan_rows(work);
  for (sets_overhead *row = work->overheads; row->sets && !wrong; row++)
    wrong = sets_measure_overhead(work->common.rounds, row);
  for (sets_schedule *row = work->schedules; row->agents && !wrong; row++) {
    wrong = sets_measure_schedule(work->common.rounds, row);
    if (!wrong && !row->equal) wrong = "the world and the loop did not run the same atoms";
  }
  return wrong;
}

static void print(const void *user) {
  const sets_work *work = user;
  puts("muster bench sets: CPU, an atom of next to nothing, all that frames take included\n");
  printf("%5s %6s %10s %10s %10s %12s\n", "sets", "atoms", "loop ns", "list ns", "sets ns", "over a list");
  for (const sets_overhead *row = work->overheads; row->sets; row++)
    printf("%5u %6u %10.1f %10.1f %10.1f %9.1f ns  %s\n", row->sets, row->atoms, row->loop_ns, row->list_ns,
           row->sets_ns, row->over_list_ns, row->over_list_ns <= OVER_LIST_NS ? "" : "more than wanted");
  printf("\n%6s %8s %14s %12s %14s %10s %18s\n", "agents", "atom ns", "atoms/update", "loop ns", "scheduled ns",
         "overhead", "rounds");
  for (const sets_schedule *row = work->schedules; row->agents; row++)
    printf("%6u %8u %14.2f %12.0f %14.0f %8.2f %% %7.2f .. %5.2f %%  %s\n", row->agents, row->atom_ns,
           row->atoms_per_update, row->loop_ns, row->scheduled_ns, row->overhead * 100, row->lowest * 100,
           row->highest * 100, row->overhead <= overhead_most ? "" : "more than wanted");
}

static void write(const void *user, json_writer *writer) {
  const sets_work *work = user;
  json_print(writer, "rounds=%u over_list_wanted_ns=%u overhead_wanted=%g over_list[", work->common.rounds,
             OVER_LIST_NS, overhead_most);
  for (const sets_overhead *row = work->overheads; row->sets; row++)
    json_print(
        writer,
        "{ sets=%u atoms=%u loop_ns_per_atom=%g list_ns_per_atom=%g sets_ns_per_atom=%g over_list_ns_per_atom=%g "
        "as_wanted=%d }",
        row->sets, row->atoms, row->loop_ns, row->list_ns, row->sets_ns, row->over_list_ns,
        row->over_list_ns <= OVER_LIST_NS);
  json_print(writer, "] scheduled[");
  for (const sets_schedule *row = work->schedules; row->agents; row++)
    json_print(
        writer,
        "{ agents=%u atom_ns=%u atoms_per_update=%g loop_ns_per_update=%g scheduled_ns_per_update=%g overhead=%g "
        "overhead_lowest_round=%g overhead_highest_round=%g as_wanted=%d }",
        row->agents, row->atom_ns, row->atoms_per_update, row->loop_ns, row->scheduled_ns, row->overhead, row->lowest,
        row->highest, row->overhead <= overhead_most);
  json_print(writer, "]");
}

static const option_def options[] = {BENCH_JSON,
                                     BENCH_ROUNDS(SETS_ROUNDS_MOST),
                                     OPTION_WITHIN("agents", COUNT32, sets_work, agents, 1, 100000),
                                     OPTION_WITHIN("atom", DURATION, sets_work, atom_ns, 100, 100000),
                                     BENCH_QUICK,
                                     {0}};

const bench_def bench_sets = {
    "sets",        "what sets of atoms cost", show_help,      options,       sizeof(sets_work), .rounds = {9, 1},
    .noisy = true, .measure = measure,        .print = print, .write = write};
