/* `muster bench replication`: what it costs to tell clients what a frame changed. */
#include "benches.h"

#include "replication.h"
#include "work.h"

enum { TIMES_CHEAPER = 5 };

typedef struct replication_work {
  bench_work common;
  uint32_t agents, updates, observers, workers;
  replication_row row;
} replication_work;

static const char *const readers[READERS] = {"changes", "columns", "one-by-one"};
static const char *const senders[SENDERS] = {"grid", "nearby"};

static void show_help(FILE *stream) {
  fprintf(stream,
          "muster bench replication - what it costs to tell clients what a frame changed\n"
          "\n"
          "usage: muster bench replication [OPTION]...\n"
          "\n"
          "  --agents N     default %d, 1000 .. 4000000\n"
          "  --updates N    in a frame, default %d, 100 .. 1000000\n"
          "  --observers N  players, each of whom is to be sent what changes within %.0f m; default %d, 1 .. 60000\n"
          "  --workers N    default 1\n"
          "  --rounds R     of %d frames; default 9\n"
          "  --quick        a small world in one round: shows that it works, not how fast\n"
          "  --json FILE    the figures for machines, times in ns; - is standard output\n"
          "  --help\n"
          "\n"
          "How it is measured\n"
          "  Agents walk on a square of 10 km, so many of them in each frame; a few come and go in each. After "
          "a frame the host finds out which agents came, moved and left, in three ways, which must find the same:\n"
          "  changes     muster_frame_changes(), and muster_agents_read() of the agents that it names\n"
          "  columns     muster_agents_read() of all ids, compared with the last positions: the fair peer, since it is "
          "the fastest loop over everybody. It must be told of agents that came\n"
          "  one-by-one  muster_agent_next() and muster_agent_read(), compared in the same way\n"
          "  The ways take turns, and only the first after a frame is timed, with the caches as the frame leaves "
          "them. Changes are to cost at most a %dth of either loop.\n"
          "  Which players are to be sent which of the changed agents is found in two ways, in turns: the host sorts "
          "them into a grid and each player looks at nine cells; or muster_agents_nearby() around each player.\n"
          "  What keeping changes adds to a frame is the CPU of all threads, of two equal worlds that take turns: "
          "median of the differences.\n"
          "  All is reported, not judged: it depends on the machine and on what else uses it.\n",
          REPLICATION_AGENTS, REPLICATION_UPDATES, (double)replication_seen_m, REPLICATION_OBSERVERS, REPLICATION_ROUND,
          TIMES_CHEAPER);
}

static const char *measure(void *user) {
  replication_work *work = user;
  bool quick = work->common.quick;
  work_calibrate();
  work->row = (replication_row){.agents = work->agents ? work->agents
                                          : quick      ? 5000
                                                       : REPLICATION_AGENTS,
                                .updates_wanted = work->updates ? work->updates : REPLICATION_UPDATES,
                                .observers = work->observers ? work->observers
                                             : quick         ? 200
                                                             : REPLICATION_OBSERVERS,
                                .workers = work->workers ? work->workers : 1,
                                .rounds = work->common.rounds};
  return replication_measure(&work->row);
}

static void print_time(const char *name, const replication_time *time) {
  printf("  %-12s %10.1f us %10.1f .. %.1f", name, time->median_ns / 1e3, time->lowest_ns / 1e3,
         time->highest_ns / 1e3);
}

static void print(const void *user) {
  const replication_row *row = &((const replication_work *)user)->row;
  printf("muster bench replication: %u agents, %u workers, %.0f updates and %.0f changed agents in a frame\n\n",
         row->agents, row->workers, row->updates, row->changed);
  puts("to find out which agents came, moved and left in a frame:");
  for (uint32_t i = 0; i < READERS; i++) {
    print_time(readers[i], &row->readers[i]);
    if (i)
      printf("   %.1f times as long  %s\n", row->times_cheaper[i],
             row->times_cheaper[i] >= TIMES_CHEAPER ? "" : "less than wanted");
    else
      putchar('\n');
  }
  printf("\nto find out which of them each of %u players is to be sent, %.0f m around it:\n", row->observers,
         (double)replication_seen_m);
  for (uint32_t i = 0; i < SENDERS; i++) {
    print_time(senders[i], &row->senders[i]);
    printf("   %.0f agents to players\n", row->sent[i]);
  }
  printf("\na frame takes %.1f us of CPU, and with changes kept %.1f us: %+.1f us, %+.2f %%\n", row->frame_ns[0] / 1e3,
         row->frame_ns[1] / 1e3, row->added_ns / 1e3, row->added_ns / row->frame_ns[0] * 100);
}

static void write(const void *user, json_writer *writer) {
  const replication_row *row = &((const replication_work *)user)->row;
  json_print(writer,
             "agents=%u observers=%u workers=%u rounds=%u updates_per_frame=%g changed_per_frame=%g "
             "times_cheaper_wanted=%u readers[",
             row->agents, row->observers, row->workers, row->rounds, row->updates, row->changed, TIMES_CHEAPER);
  for (uint32_t i = 0; i < READERS; i++)
    json_print(writer, "{ way=%s ns=%g lowest_ns=%g highest_ns=%g times_changes=%g }", readers[i],
               row->readers[i].median_ns, row->readers[i].lowest_ns, row->readers[i].highest_ns, row->times_cheaper[i]);
  json_print(writer, "] senders[");
  for (uint32_t i = 0; i < SENDERS; i++)
    json_print(writer, "{ way=%s ns=%g lowest_ns=%g highest_ns=%g sent_per_frame=%g }", senders[i],
               row->senders[i].median_ns, row->senders[i].lowest_ns, row->senders[i].highest_ns, row->sent[i]);
  json_print(writer, "] frame_cpu_ns=%g frame_with_changes_cpu_ns=%g added_ns=%g added_share=%g", row->frame_ns[0],
             row->frame_ns[1], row->added_ns, row->added_ns / row->frame_ns[0]);
}

static const option_def options[] = {BENCH_JSON,
                                     BENCH_ROUNDS(REPLICATION_ROUNDS_MOST),
                                     OPTION_WITHIN("agents", COUNT32, replication_work, agents, 1000, 4000000),
                                     OPTION_WITHIN("updates", COUNT32, replication_work, updates, 100, 1000000),
                                     OPTION_WITHIN("observers", COUNT32, replication_work, observers, 1, 60000),
                                     OPTION_WITHIN("workers", COUNT32, replication_work, workers, 1, 256),
                                     BENCH_QUICK,
                                     {0}};

const bench_def bench_replication = {"replication",
                                     "what it costs to tell clients what a frame changed",
                                     show_help,
                                     options,
                                     sizeof(replication_work),
                                     .rounds = {9, 1},
                                     .noisy = true,
                                     .measure = measure,
                                     .print = print,
                                     .write = write};
