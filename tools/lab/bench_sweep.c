/* `muster bench sweep`: the same animals at rising loads. There is to be none at which important agents suddenly run
 * much less often. */
#include "benches.h"

#include "bench_load.h"
#include "complaint.h"
#include "plots.h"
#include "scenarios/scenarios.h"

#include <muster/view.h>

#include <math.h>

enum { LOADS = 40, AGENTS = 50000, AGENTS_QUICK = 10000, OBSERVERS = 17, WINDOW = 450 };

static const double load_first = 0.3, load_step = 1.1, importance_most = 0.9;

/* From one load to the next the interval of the important may grow by that part, or by a frame; and where the animals
 * themselves came to cost more meanwhile, which pressure tells, by that. */
static const double growth_allowed = 0.15;

typedef enum sweep_rule {
  SWEEP_LAW = 0, /* Muster's default: the law of importance, and deadlines */
  SWEEP_PAPERS,  /* Tan & Wong's elastic periods and Rankin's order */
  SWEEP_RULES
} sweep_rule;

static const char *const names[SWEEP_RULES] = {"law", "papers"};

typedef struct sweep_point {
  double pressure;                    /* as reported, mean of the window */
  load_band important, unimportant;   /* importance >= 0.9, and 0 */
  double growth;                      /* of the important's interval, from the load before; 0 at the first */
  bool holds;                         /* it may grow by that */
  uint64_t idle_frames, idle_windows; /* that did not use their capacity: idle_watch.h */
} sweep_point;

typedef struct sweep_result {
  double load; /* what all agents at the longest period take, as a part of the capacity */
  sweep_point rules[SWEEP_RULES];
} sweep_result;

typedef struct sweep_work {
  bench_work common;
  uint32_t agents;             /* 0 = as many as --quick says */
  sweep_result results[LOADS]; /* from a load of 0.3 on, each ten percent above the last */
} sweep_work;

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench sweep - how often the most important agents run, at rising loads\n"
      "\n"
      "usage: muster bench sweep [OPTION]...\n"
      "\n"
      "  --agents N    animals (default %d)\n"
      "  --quick       %d animals, unless --agents says how many\n"
      "  --seed S      of the world (default 1)\n"
      "  --costs NAME  constant (default), or log-normal: updates cost what their models say, times a factor by "
      "chance, of each update, with mean 1 and sigma 1\n"
      "  --json FILE   the rows for machines, times in ns; - is standard output\n"
      "  --plots DIR   draw the intervals as PNG into this folder (needs gnuplot)\n"
      "  --help\n"
      "\n"
      "How it is measured\n"
      "  The animals of `muster run wildlife` and 17 cameras at 30 Hz under the virtual clock, at %d "
      "loads from "
      "0.3 to 12, each 10 %% above the last. A load is what all would take at their longest periods, in parts of "
      "the capacity; each is a world of its own, 2 to 20 s to settle and 15 s in which it is watched. The interval of "
      "the "
      "animals of importance 0.9 and above is their number times the window, divided by their completed updates: "
      "animals that never run count.\n"
      "  Beside it the same under the papers' rules, which stretch the important last and end where the longest "
      "periods no longer fit: Tan & Wong's elastic periods and Rankin's order.\n"
      "\n"
      "Ends with status 1 when by the law of importance the interval grows by more than %.0f %%, and by more than a "
      "frame, from one load to the next, or when frames leave time for the longest of all updates though animals wait, "
      "or "
      "a tenth of it, over the time in which each has its turn, though periods are stretched.\n",
      AGENTS, AGENTS_QUICK, LOADS, growth_allowed * 100);
}

static uint32_t agents_of(const sweep_work *work) {
  if (work->agents) return work->agents;
  return work->common.quick ? AGENTS_QUICK : AGENTS;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* The wildlife under one rule. */
static load_setup setup_of(const sweep_work *work, sweep_rule rule) {
  load_setup setup = load_setup_of(muster_module_wildlife(), agents_of(work), OBSERVERS, work->common.seed);
  setup.sigma = work->common.sigma;
  if (rule == SWEEP_LAW) return setup;
  setup.host.world.elastic = MUSTER_ELASTIC_RATE;
  setup.host.world.order = MUSTER_ORDER_PRIORITY;
  return setup;
}

typedef struct sweep_sums {
  load_sums important, unimportant;
} sweep_sums;

static void see(const muster_view_agent *agent, void *user) {
  sweep_sums *sums = user;
  bool ran = (double)agent->staleness_s < 0.5 * LOAD_FRAME_S; /* an agent that ran has no staleness at the end */
  if ((double)agent->importance >= importance_most) load_add(&sums->important, agent, ran);
  if (agent->importance <= 0.0f) load_add(&sums->unimportant, agent, ran);
}

static bool watch(load_world *world, uint32_t warm_up, sweep_point *point) {
  muster_frame_report report;
  sweep_sums sums = {0};
  double pressure = 0;
  for (uint32_t i = 0; i < warm_up + WINDOW; i++) {
    if (!load_run_frame(world, &report)) return false;
    if (i < warm_up) continue;
    pressure += (double)report.pressure;
    load_look(world, see, &sums);
  }
  *point =
      (sweep_point){pressure / WINDOW, load_sum_up(&sums.important, WINDOW), load_sum_up(&sums.unimportant, WINDOW),
                    .holds = true,     .idle_frames = world->idle.frames,    .idle_windows = world->idle.usage.faults};
  return true;
}

static void compare(sweep_point *point, const sweep_point *before) {
  double interval_s = point->important.interval_s, before_s = before->important.interval_s;
  point->growth = interval_s / before_s - 1.0;
  point->holds = interval_s <= fmax(before_s * (1.0 + growth_allowed), before_s + LOAD_FRAME_S);
}

static bool measure_load(sweep_work *work, double wish_ns, sweep_result *result) {
  uint64_t capacity_ns = (uint64_t)llround(wish_ns / result->load);
  bool ran = true;
  progress_step(&work->common.line, "load %.2f of 0.3 to 12", result->load);
  for (sweep_rule rule = 0; rule < SWEEP_RULES && ran; rule++) {
    load_world world;
    load_setup one = setup_of(work, rule);
    ran = load_open(&world, &one, capacity_ns) && watch(&world, load_warm_up(result->load), &result->rules[rule]);
    load_close(&world);
    if (result > work->results) compare(&result->rules[rule], &result[-1].rules[rule]);
  }
  return ran;
}

static const char *measure(void *user) {
  sweep_work *work = user;
  load_setup law = setup_of(work, SWEEP_LAW);
  law.sigma = 0; /* the load is that of the means, so that both costs are asked of one capacity */
  double wish_ns = load_find_wish_ns(&law, WINDOW);
  bool ran = wish_ns > 0;
  for (uint32_t i = 0; i < LOADS && ran; i++) {
    work->results[i].load = round(load_first * pow(load_step, i) * 100.0) / 100.0;
    ran = measure_load(work, wish_ns, &work->results[i]);
  }
  return ran ? NULL : muster_last_error();
}

/* ---------------------------------------------------------------------------------------------------------- judging */

/* Loads at which it may not. */
static uint32_t cliffs_of(const sweep_work *work, sweep_rule rule) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < LOADS; i++) count += !work->results[i].rules[rule].holds;
  return count;
}

/* Frames, and windows, of all loads that did not use their capacity. */
static uint64_t idle_of(const sweep_work *work, sweep_rule rule) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < LOADS; i++)
    count += work->results[i].rules[rule].idle_frames + work->results[i].rules[rule].idle_windows;
  return count;
}

static double growth_most(const sweep_work *work, sweep_rule rule) {
  double most = 0;
  for (uint32_t i = 0; i < LOADS; i++) most = fmax(most, work->results[i].rules[rule].growth);
  return most;
}

static int judge(const void *user) {
  if (cliffs_of(user, SWEEP_LAW)) return complain_failure("there is a cliff; the rows say where");
  return idle_of(user, SWEEP_LAW) ? complain_failure("frames did not use their capacity though animals waited")
                                  : STATUS_OK;
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void print_row(const sweep_result *result) {
  printf("%6.2f", result->load);
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++) {
    const sweep_point *point = &result->rules[rule];
    printf("   %8.2f %7.0f ms %7.0f ms %+6.0f %% %8.0f ms", point->pressure, point->important.interval_s * 1e3,
           point->important.period_s * 1e3, point->growth * 100, point->unimportant.interval_s * 1e3);
  }
  puts(result->rules[SWEEP_LAW].holds ? "" : "  CLIFF");
}

static void print(const void *user) {
  const sweep_work *work = user;
  printf("muster bench sweep: %u animals, %.0f of them important, 30 Hz, virtual time, %s costs\n\n", agents_of(work),
         work->results[0].rules[SWEEP_LAW].important.agents, bench_costs_name(&work->common));
  printf("%6s   %-49s   %s\n", "", "the law of importance (default)", "the papers' rules");
  printf("%6s", "load");
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++)
    printf("   %8s %10s %10s %8s %11s", "pressure", "interval", "period", "growth", "of others");
  puts("");
  for (uint32_t i = 0; i < LOADS; i++) print_row(&work->results[i]);
  printf("\nload       what all would take at their longest periods, in parts of the capacity\n"
         "interval   agents x window / completed updates at importance 0.9 and above; of others: at importance 0\n"
         "period     that the fit gives to the important\n"
         "pressure   the load as the world reports it: what animals cost differs with what they do\n"
         "growth     of the interval over the load before, which was a tenth less\n\n"
         "Target: it grows by %.0f %% at most, or by a frame; most: %.0f %% by the law, %.0f %% by the papers' rules\n"
         "Frames, and windows, that did not use their capacity though animals waited: %lu by the law, %lu by the "
         "papers' rules\n",
         growth_allowed * 100, growth_most(work, SWEEP_LAW) * 100, growth_most(work, SWEEP_PAPERS) * 100,
         idle_of(work, SWEEP_LAW), idle_of(work, SWEEP_PAPERS));
}

static void write_row(const sweep_result *result, sweep_rule rule, json_writer *writer) {
  const sweep_point *point = &result->rules[rule];
  const load_band *important = &point->important, *unimportant = &point->unimportant;
  json_print(writer,
             "{ rule=%s load=%g pressure=%g important{ agents=%g interval_ns=%g period_ns=%g } unimportant{ agents=%g "
             "interval_ns=%g period_ns=%g } growth=%g holds=%d idle_frames=%lu "
             "idle_windows=%lu }",
             names[rule], result->load, point->pressure, important->agents, important->interval_s * 1e9,
             important->period_s * 1e9, unimportant->agents, unimportant->interval_s * 1e9, unimportant->period_s * 1e9,
             point->growth, point->holds, point->idle_frames, point->idle_windows);
}

static void write(const void *user, json_writer *writer) {
  const sweep_work *work = user;
  json_print(writer, "seed=%lu costs=%s agents=%u frame_ns=%g growth_most=%g rows[", work->common.seed,
             bench_costs_name(&work->common), agents_of(work), LOAD_FRAME_S * 1e9, growth_allowed);
  for (uint32_t i = 0; i < LOADS; i++)
    for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++) write_row(&work->results[i], rule, writer);
  json_end_array(writer);
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++)
    json_print(writer, "%s{ growth_most=%g cliffs=%u idle=%lu }", names[rule], growth_most(work, rule),
               cliffs_of(work, rule), idle_of(work, rule));
}

static bool draw(const void *user, const char *folder) {
  const sweep_work *work = user;
  FILE *script = plot_begin(folder, "sweep", 1000, 640);
  if (!script) return false;
  fprintf(script, "$loads << END\n");
  for (uint32_t i = 0; i < LOADS; i++) {
    const sweep_point *law = &work->results[i].rules[SWEEP_LAW], *papers = &work->results[i].rules[SWEEP_PAPERS];
    fprintf(script, "%g %g %g %g %g %g\n", work->results[i].load, law->important.interval_s, law->important.period_s,
            law->unimportant.interval_s, papers->important.interval_s, papers->unimportant.interval_s);
  }
  fprintf(script,
          "END\nset title '%u animals: how often the most important run, and the unimportant'\n"
          "set logscale xy\nset xrange [0.28:13]\nset yrange [0.03:*]\nset xtics (0.3,0.5,1,2,3,6,12)\n"
          "set ytics (0.05,0.1,0.2,0.5,1,2,5,10,20,50)\nset grid\nset key top left\n"
          "set xlabel 'load: what all would take at their longest periods, in parts of the capacity'\n"
          "set ylabel 'seconds between two updates'\n"
          "plot $loads using 1:6 with lines lw 1 lc rgb '#d55e00' title 'importance 0, papers',"
          " $loads using 1:5 with linespoints lw 2 pt 7 ps 0.6 lc rgb '#d55e00' title 'important, papers',"
          " $loads using 1:4 with lines lw 1 lc rgb '#0072b2' title 'importance 0, law',"
          " $loads using 1:3 with lines lw 5 lc rgb '#99c7e0' title 'important: period by the law',"
          " $loads using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '#0072b2' title 'important, law'\n",
          agents_of(work));
  return plot_end(script);
}

static const option_def options[] = {OPTION_WITHIN("agents", COUNT32, sweep_work, agents, 1000, 1000000),
                                     BENCH_COSTS,
                                     BENCH_JSON,
                                     BENCH_PLOTS,
                                     BENCH_SEED,
                                     BENCH_QUICK,
                                     {0}};

const bench_def bench_sweep = {"sweep",
                               "how often the most important agents run, at rising loads",
                               show_help,
                               options,
                               sizeof(sweep_work),
                               .measure = measure,
                               .print = print,
                               .plot = draw,
                               .write = write,
                               .judge = judge};
