/* `muster bench quality`: how fresh each rule keeps a crowd with the same CPU, beside the optimum. */
#include "benches.h"

#include "complaint.h"
#include "plots.h"
#include "quality.h"

#include <string.h>

typedef struct quality_work {
  bench_work common;
  const char *only; /* the one crowd that is measured, or null */
  uint32_t count;
  quality_case cases[QUALITY_CASES];
} quality_work;

/* The target of the rule that has a judge's weights: within this factor of the optimum, or of the wish's figure where
 * that is above the optimum; and no other rule fresher by more than this factor. */
static const double quality_target_ratio = 1.10, quality_target_lead = 0.01;

static bool quality_reaches(const quality_case *result, uint32_t judge) {
  double own = result->rules[judge].ratio[judge];
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    if (result->rules[rule].ratio[judge] < own * (1.0 - quality_target_lead)) return false;
  return own <= quality_target_ratio * result->wish[judge];
}

static uint32_t missed(const quality_work *work, uint32_t judge) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < work->count; i++) count += !quality_reaches(&work->cases[i], judge);
  return count;
}

static bool quality_reaches_always(const quality_work *work) {
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
    if (missed(work, judge)) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------------------- for people */

static void print_rows(const quality_work *work, uint32_t judge) {
  printf("\nJudged by k = %u\n%-8s %4s %7s %9s %5s", quality_octaves[judge], "crowd", "CPU", "load", "optimum", "wish");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %12s", quality_rules[rule][0]);
  puts("");
  for (uint32_t i = 0; i < work->count; i++) {
    const quality_case *result = &work->cases[i];
    printf("%-8s %2.0f %% %7.2f %6.0f ms %5.2f", result->crowd, result->cpu * 100, result->load,
           result->optimum_ms[judge], result->wish[judge]);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %10.2f x", result->rules[rule].ratio[judge]);
    puts(quality_reaches(result, judge) ? "" : "  MISSED");
  }
}

static void print_words(const quality_work *work) {
  puts("");
  for (uint32_t i = 0; i < QUALITY_CROWDS; i++) printf("%-12s %s\n", quality_crowds[i][0], quality_crowds[i][1]);
  puts("CPU          the CPU given, as a share of what all agents at the shortest period would take\n"
       "load         what all agents at the longest period would take, as a part of this CPU\n"
       "optimum      periods proportional to the root of cost over weight, from the shortest up, without a longest\n"
       "wish         what is best where the longest period is a wish, which stretches with the load: the rule of "
       "importance lets no agent wait for longer, and this is its price");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    printf("%-12s %s\n", quality_rules[rule][0], quality_rules[rule][1]);
  if (!work->common.spawns) puts("\nNo spawn file: --spawns FILE.csv measures one, too.");
}

static void print_verdict(const quality_work *work, uint32_t judge) {
  uint32_t misses = missed(work, judge);
  printf("  %-12s judged by k = %-2u ", quality_rules[judge][0], quality_octaves[judge]);
  if (misses)
    printf("MISSED in %u of %u cases\n", misses, work->count);
  else
    puts("in every case");
}

static void print(const void *user) {
  const quality_work *work = user;
  printf("muster bench quality: virtual time, %s costs%s\n", bench_costs_name(&work->common),
         work->common.quick ? ", quick: small crowds" : "");
  puts("staleness weighted by importance, 2^(k i), as a multiple of the optimum for the same CPU; less is better");
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) print_rows(work, judge);
  print_words(work);
  printf("\nTarget: at most %.2f x the optimum with the wish, and no rule fresher by more than %.0f %%\n",
         quality_target_ratio, quality_target_lead * 100);
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) print_verdict(work, judge);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_rule(const quality_case *result, uint32_t judge, quality_rule rule, json_writer *writer) {
  const quality_result *of_rule = &result->rules[rule];
  json_print(writer,
             "{ crowd=%s cpu=%g load=%g agents=%u observers=%u octaves=%u rule=%s staleness_ns=%g optimum_ns=%g "
             "wish_ratio=%g ratio=%g cpu_used_share=%g",
             result->crowd, result->cpu, result->load, result->agents, result->observers, quality_octaves[judge],
             quality_rules[rule][0], of_rule->staleness_ms[judge] * 1e6, result->optimum_ms[judge] * 1e6,
             result->wish[judge], of_rule->ratio[judge], of_rule->cpu_share);
  if (rule == judge) json_bool(writer, "reaches_target", quality_reaches(result, judge));
  json_end_object(writer);
}

static void write(const void *user, json_writer *writer) {
  const quality_work *work = user;
  json_print(writer, "quick=%d seed=%lu costs=%s target_ratio=%g target_lead=%g rows[", work->common.quick,
             work->common.seed, bench_costs_name(&work->common), quality_target_ratio, quality_target_lead);
  for (uint32_t i = 0; i < work->count; i++)
    for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
      for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) write_rule(&work->cases[i], judge, rule, writer);
  json_print(writer, "] reaches_target=%d", quality_reaches_always(work));
}

/* ------------------------------------------------------------------------------------------------------ as a figure */

/* The ratios of a crowd by a judge, a line for each share of the CPU. */
static void plot_data(const quality_work *work, const char *crowd, uint32_t judge, FILE *script) {
  fprintf(script, "$%s_%u << END\n", crowd, quality_octaves[judge]);
  for (uint32_t i = 0; i < work->count; i++) {
    const quality_case *result = &work->cases[i];
    if (strcmp(result->crowd, crowd) != 0) continue;
    fprintf(script, "%g", result->cpu * 100);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
      fprintf(script, " %.6g", result->rules[rule].ratio[judge]);
    fprintf(script, "\n");
  }
  fprintf(script, "END\n");
}

/* The first panel has the key. */
static void plot_panel(const char *crowd, uint32_t judge, FILE *script) {
  fprintf(script, "set title '%s, judged by k = %u'\nplot ", crowd, quality_octaves[judge]);
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    fprintf(script, "%s$%s_%u using 1:%d with linespoints lw 2 pt 7 lt %d title '%s'", rule ? ", " : "", crowd,
            quality_octaves[judge], (int)rule + 2, (int)rule + 1, quality_rules[rule][0]);
  fprintf(script, "\nunset key\n");
}

static bool draw(const void *user, const char *folder) {
  const quality_work *work = user;
  uint32_t columns = work->count / QUALITY_SHARES;
  FILE *script = plot_begin(folder, "quality", 420 * (int)columns, 900);
  if (!script) return false;
  for (uint32_t i = 0; i < work->count; i += QUALITY_SHARES)
    for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) plot_data(work, work->cases[i].crowd, judge, script);
  fprintf(script,
          "set multiplot layout %d,%u title 'Staleness weighted by importance, as a multiple of the optimum for the "
          "same CPU'\nset logscale xy\nset xrange [70:0.9]\nset yrange [0.9:40]\nset xtics (60,30,10,3,1)\n"
          "set ytics (1,1.1,1.5,2,3,5,10,20)\nset grid\nset key top left\n"
          "set xlabel 'CPU, %% of what all would take'\n",
          QUALITY_JUDGES, columns);
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
    for (uint32_t i = 0; i < work->count; i += QUALITY_SHARES) plot_panel(work->cases[i].crowd, judge, script);
  fprintf(script, "unset multiplot\n");
  return plot_end(script);
}

/* -------------------------------------------------------------------------------------------------------- measuring */

static void show_help(FILE *stream) {
  fputs("muster bench quality - how fresh each rule keeps a crowd with the same CPU, beside the optimum\n"
        "\n"
        "usage: muster bench quality [OPTION]...\n"
        "\n"
        "  --spawns FILE.csv  the crowd of a spawn file, too\n"
        "  --crowd NAME       one crowd alone: uniform, mixed, dense, patient, spawns\n"
        "  --costs NAME       constant (default), or log-normal: updates cost what is said, times a factor by chance, "
        "of each update, with mean 1 and sigma 1\n"
        "  --quick            small crowds for a short time\n"
        "  --seed S           where agents and observers stand (default 1)\n"
        "  --json FILE        the rows for machines, times in ns; - is standard output\n"
        "  --plots DIR        draw the ratios as PNG into this folder (needs gnuplot)\n"
        "  --help\n"
        "\n"
        "How it is measured\n"
        "  Staleness is the mean over time of sum w age / sum w; an agent's age grows with time and an update takes "
        "it back to zero, and agents that never run count, too. w = 2^(k i) for importance i: with k = 12 staleness at "
        "full importance weighs 4096 times as much as at none, with k = 6 64 times. A rule is given weights of its own "
        " (the law of importance k = 12 or 6, the papers' rules 6), and is judged by both. Time is "
        "virtual and costs are exact: the same figures on any machine.\n"
        "  Every rule is given the same CPU in each frame of 50 ms. The optimum is T = max(mu sqrt(cost / w), T_io) "
        "with the mu that uses this CPU up, and an age of T / 2, without frames and without waiting for "
        "another agent. Round robin passes over agents that are not due; the distance rule's scale is found so that it "
        "uses this CPU, and no update ever waits: both do better than they would on a real server.\n"
        "  The law's longest period is a wish that stretches with the load, so no agent waits for more than about "
        "twice what an equal share would be. Where more than half of all matter to an observer (dense), the optimum "
        "would let the others wait for longer; the wish column says what that costs, and is what the target counts "
        "from. A "
        "world may choose otherwise: with a wish_part of a third (patient) the target holds without it.\n"
        "\n"
        "Ends with status 1 when the law of importance misses the target by its own weights.\n",
        stream);
}

/* Whether there is a crowd of that name, and what it needs. */
static int check(void *user) {
  const quality_work *work = user;
  bool known = !work->only;
  for (uint32_t i = 0; i < QUALITY_CROWDS && !known; i++) known = strcmp(work->only, quality_crowds[i][0]) == 0;
  if (!known) return complain_usage("unknown crowd '%s'; see --help", work->only);
  if (!work->only || strcmp(work->only, "spawns") != 0 || work->common.spawns) return STATUS_OK;
  return complain_usage("say where the spawns are: --spawns FILE.csv");
}

static void show_step(const char *doing, void *user) {
  progress_step(user, "%s", doing);
}

static const char *measure(void *user) {
  quality_work *work = user;
  quality_setup setup = {.seed = work->common.seed,
                         .spawns = work->common.spawns,
                         .only = work->only,
                         .quick = work->common.quick,
                         .sigma = work->common.sigma,
                         .show = show_step,
                         .user = &work->common.line};
  return quality_measure(&setup, work->cases, &work->count);
}

static int judge(const void *user) {
  return quality_reaches_always(user) ? STATUS_OK
                                      : complain_failure("the law of importance misses the target; the rows say where");
}

static const option_def options[] = {BENCH_SPAWNS, OPTION("crowd", TEXT, quality_work, only),
                                     BENCH_COSTS,  BENCH_JSON,
                                     BENCH_PLOTS,  BENCH_SEED,
                                     BENCH_QUICK,  {0}};

const bench_def bench_quality = {"quality",
                                 "how fresh each rule keeps a crowd with the same CPU",
                                 show_help,
                                 options,
                                 sizeof(quality_work),
                                 .check = check,
                                 .measure = measure,
                                 .print = print,
                                 .plot = draw,
                                 .write = write,
                                 .judge = judge};
