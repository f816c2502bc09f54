/* `muster bench scripts`: what behaviours in Lua cost. */
#include "bench_scripts.h"

#include "catalog.h"
#include "complaint.h"

enum { IDLE_OVER_NS = 400 };

static const double guarded_most = 0.62, raw_most = 0.75;

static const char *const ways[SCRIPTS_WAYS] = {"muster", "c", "guarded", "raw"};

static void show_help(FILE *stream) {
  fprintf(stream,
          "muster bench scripts - what behaviours in Lua cost\n"
          "\n"
          "usage: muster bench scripts [OPTION]...\n"
          "\n"
          "  --scripts FILE  the animals (default: wildlife.lua, as it ships)\n"
          "  --agents N      how many, 100 .. 1000000; default %d\n"
          "  --updates N     of each way, default %d\n"
          "  --workers N     of Muster; default 2\n"
          "  --seed N        default 1\n"
          "  --rounds R      default 10\n"
          "  --quick         few updates in one round: shows that it works, not how fast\n"
          "  --json FILE     the figures for machines, times in ns; - is standard output\n"
          "  --help\n"
          "\n"
          "How it is measured\n"
          "  An empty update: 2,000 agents in each of a round's 20 frames, of a type in C whose atom does nothing, and "
          "of a type in Lua whose method is empty, in turns. CPU of the calling thread, which is the only worker; all "
          "that frames take is divided by the updates. A scripted one is to cost at most %d ns more.\n"
          "  The animals: every animal is updated once in each frame, 100 ms after its last update, at the best level, "
          "with enough budget. Four ways take turns, in an order that rotates from round to round:\n"
          "  muster   wildlife.lua in a world, on all workers\n"
          "  c        the scenario wildlife in a world, on all workers\n"
          "  guarded  as servers do today: wildlife.lua in one Lua state on one thread, all animals in turn, each as "
          "long as it takes; no scheduler, no budget, no cuts, no coroutine. With the pairs, the frozen tables and the "
          "caps of memory that Muster's scripts have\n"
          "  raw      the same with Lua's own libraries and allocator\n"
          "  Muster is to take at most %.2f of the wall time of guarded, and %.2f of raw, for the same number of "
          "updates. The same by CPU shows what they would be without others on the processors: CPU of all threads, "
          "divided by the workers.\n"
          "  All is reported, not judged: it depends on the machine and on what else uses it.\n",
          SCRIPTS_AGENTS, SCRIPTS_UPDATES, IDLE_OVER_NS, guarded_most, raw_most);
}

static int check(void *user) {
  scripts_work *work = user;
  int status = STATUS_OK;
  if (!work->workers) work->workers = 2;
  if (!work->agents) work->agents = work->common.quick ? 1000 : SCRIPTS_AGENTS;
  if (!work->updates) work->updates = work->common.quick ? 2ull * work->agents : SCRIPTS_UPDATES;
  catalog_find(work->scripts ? work->scripts : "wildlife.lua", &work->scripts, &status);
  if (status == STATUS_OK && !work->scripts) return complain_usage("--scripts: give a file NAME.lua");
  return status;
}

static const char *measure(void *user) {
  scripts_work *work = user;
  const char *wrong = scripts_measure_idle(work);
  return wrong ? wrong : scripts_measure_ways(work);
}

static void print_way(const scripts_work *work, scripts_way way, double most) {
  const scripts_time *time = &work->ways[way];
  printf("  %-8s %10.0f %10.0f %10.2f s", ways[way], time->wall_ns, time->cpu_ns,
         time->wall_ns * (double)work->updates * 1e-9);
  if (way != SCRIPTS_MUSTER) printf("   %6.3f %6.3f", time->wall_share, time->cpu_share);
  puts(most > 0.0 && time->wall_share > most ? "  more than wanted" : "");
}

static void print(const void *user) {
  const scripts_work *work = user;
  printf("muster bench scripts: an empty update takes %.0f ns of CPU in C, %.0f ns in Lua: %+.0f ns%s\n\n",
         work->idle_ns[0], work->idle_ns[1], work->idle_over_ns,
         work->idle_over_ns > IDLE_OVER_NS ? ", more than wanted" : "");
  printf("%u animals, %u workers; an update, and %llu of them:\n", work->agents, work->workers,
         (unsigned long long)work->updates);
  printf("  %-8s %10s %10s %12s   %s\n", "way", "wall ns", "CPU ns", "wall", "Muster's share of it, wall and by CPU");
  print_way(work, SCRIPTS_MUSTER, 0.0);
  print_way(work, SCRIPTS_C, 0.0);
  print_way(work, SCRIPTS_GUARDED, guarded_most);
  print_way(work, SCRIPTS_RAW, raw_most);
}

static void write(const void *user, json_writer *writer) {
  const scripts_work *work = user;
  json_print(writer,
             "agents=%u workers=%u rounds=%u updates=%lu idle_c_ns=%g idle_ns=%g idle_over_ns=%g "
             "idle_over_wanted_ns=%u guarded_wanted=%g raw_wanted=%g ways[",
             work->agents, work->workers, work->common.rounds, (unsigned long)work->updates, work->idle_ns[0],
             work->idle_ns[1], work->idle_over_ns, IDLE_OVER_NS, guarded_most, raw_most);
  for (uint32_t i = 0; i < SCRIPTS_WAYS; i++)
    json_print(writer, "{ way=%s updates=%lu wall_ns=%g cpu_ns=%g muster_wall_share=%g muster_cpu_share=%g }", ways[i],
               (unsigned long)work->ways[i].updates, work->ways[i].wall_ns, work->ways[i].cpu_ns,
               work->ways[i].wall_share, work->ways[i].cpu_share);
  json_print(writer, "]");
}

static const option_def options[] = {BENCH_JSON,
                                     BENCH_SEED,
                                     BENCH_ROUNDS(SCRIPTS_ROUNDS_MOST),
                                     OPTION("scripts", TEXT, scripts_work, scripts),
                                     OPTION_WITHIN("agents", COUNT32, scripts_work, agents, 100, 1000000),
                                     OPTION_WITHIN("updates", COUNT, scripts_work, updates, 1, 1000000000),
                                     OPTION_WITHIN("workers", COUNT32, scripts_work, workers, 1, 256),
                                     BENCH_QUICK,
                                     {0}};

const bench_def bench_scripts = {"scripts",
                                 "what behaviours in Lua cost",
                                 show_help,
                                 options,
                                 sizeof(scripts_work),
                                 .rounds = {10, 1},
                                 .noisy = true,
                                 .check = check,
                                 .measure = measure,
                                 .print = print,
                                 .write = write};
