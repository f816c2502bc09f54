/* `muster bench budget`: how much of its budget a frame uses while agents wait, by what updates cost. */
#include "benches.h"

#include "budget.h"
#include "complaint.h"
#include "noise.h"
#include "parse.h"
#include "text.h"

#include <string.h>

enum { LIST_MAX = 8 };

/* The rows of one number of agents and one budget, and what is shown of them. */
typedef struct budget_section {
  const char *only, *contenders;
  uint32_t agents, wall_frames;
  uint64_t budget_ns;
  uint32_t count;
  budget_row rows[BUDGET_ROWS];
} budget_section;

typedef struct budget_work {
  bench_work common;
  const char *only, *contenders, *report, *agents_given, *budgets_given;
  uint32_t hz, seconds, plans, wall_frames;
  bool no_wall;
  uint32_t agents[LIST_MAX], agents_count;
  uint64_t budgets_ns[LIST_MAX];
  uint32_t budgets_count, section_count;
  budget_section sections[LIST_MAX * LIST_MAX];
} budget_work;

/* ------------------------------------------------------------------------------------------------------- for people */

static bool is_shown(const budget_section *section, uint32_t contender, bool wall) {
  return options_list_has(section->contenders, budget_contenders[contender][0]) &&
         (wall || budget_threads(contender) == 1);
}

static void print_head(const budget_section *section, bool wall, const char *title) {
  printf("\n%s\n%-11s", title, "shape");
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
    if (is_shown(section, i, wall)) printf(" %11s", budget_contenders[i][0]);
  puts("");
}

/* A figure of every contender in every shape. */
static void print_table(const budget_section *section, bool wall, const char *title,
                        void (*cell)(const budget_result *result)) {
  print_head(section, wall, title);
  for (const budget_row *row = section->rows; row < section->rows + section->count; row++) {
    if (row->wall != wall) continue;
    printf("%-11s", row->shape);
    for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
      if (is_shown(section, i, wall)) cell(&row->results[i]);
    puts("");
  }
}

static void print_used(const budget_result *result) {
  if (result->frames_waiting)
    printf(" %11.3f", result->used);
  else
    printf(" %11s", "-");
}

static void print_ratio(const budget_result *result) {
  printf(" %9.2f x", result->ratio);
}

static void print_staleness(const budget_result *result) {
  printf(" %8.1f ms", result->staleness_ms);
}

static void print_idle(const budget_result *result) {
  printf(" %11u", result->idle_frames);
}

static void print_updates(const budget_result *result) {
  printf(" %11.1f", result->updates_per_frame);
}

static void print_updates_ratio(const budget_result *result) {
  printf(" %9.2f x", result->updates_ratio);
}

static void print_late(const budget_result *result) {
  printf(" %9.2f %%", result->late_share * 100);
}

static void print_repeats(const budget_result *result) {
  printf(" %11llu", (unsigned long long)result->repeats);
}

static bool is_late(const budget_result *result) {
  return result->late_share > 0;
}

static bool has_repeats(const budget_result *result) {
  return result->repeats > 0;
}

/* A table of what should not be; left out where it is not. */
static void print_wrongs(const budget_section *section, bool wall, const char *title,
                         void (*cell)(const budget_result *result), bool (*is)(const budget_result *result)) {
  bool any = false;
  for (const budget_row *row = section->rows; row < section->rows + section->count; row++)
    for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) any |= row->wall == wall && is(&row->results[i]);
  if (any)
    print_table(section, wall, title, cell);
  else
    printf("\n%s: none\n", title);
}

static bool has_rates(const budget_row *row) {
  return strncmp(row->shape, "player", 6) == 0;
}

static bool has_intervals(const budget_row *row) {
  return !row->wall && strstr(row->shape, "-type");
}

/* Of the agents far from and near to the player. */
static void print_rates(const budget_section *section, const budget_row *row) {
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    if (!is_shown(section, i, false)) continue;
    for (uint32_t group = 0; group < BUDGET_GROUPS; group++) {
      printf("%-11s %-8s %-5s", row->shape, budget_contenders[i][0], group ? "near" : "far");
      for (uint32_t second = 0; second < BUDGET_SECONDS; second++)
        printf(" %4.1f", row->results[i].groups[group].rates[second]);
      puts("");
    }
  }
}

static void print_intervals(const budget_section *section, const budget_row *row) {
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    const budget_group *groups = row->results[i].groups;
    if (is_shown(section, i, false))
      printf("%-11s %-8s %8.0f ms %8.0f ms %13.0f ms\n", row->shape, budget_contenders[i][0], groups[0].interval_ms,
             groups[1].interval_ms, row->results[i].mean_staleness_ms);
  }
}

static const budget_row *told_row(const budget_section *section, const char *shape) {
  for (const budget_row *row = section->rows; row < section->rows + section->count; row++)
    if (!row->wall && strcmp(row->shape, shape) == 0) return row;
  return NULL;
}

/* What it costs that cheap and dear agents are of one type. */
static void print_one_over_two(const budget_section *section) {
  const budget_row *one = told_row(section, "one-type"), *two = told_row(section, "two-types");
  if (!one || !two) return;
  printf("%-20s", "one type over two");
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
    if (is_shown(section, i, false) && two->results[i].mean_staleness_ms > 0)
      printf("  %s %.2f x", budget_contenders[i][0],
             one->results[i].mean_staleness_ms / two->results[i].mean_staleness_ms);
  puts("");
}

/* In how many shapes a contender uses nearly all, and is as fresh as the sorted loop. */
static void print_summary(const budget_section *section) {
  static const double nearly = 0.95, as_fresh = 1.005;
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    uint32_t waiting = 0, full = 0, rows = 0, fresh = 0;
    if (!is_shown(section, i, false)) continue;
    for (const budget_row *row = section->rows; row < section->rows + section->count && !row->wall; row++) {
      const budget_result *result = &row->results[i];
      waiting += result->frames_waiting > 0;
      full += result->frames_waiting > 0 && result->used >= nearly;
      rows++;
      fresh += result->ratio > 0 && result->ratio <= as_fresh;
    }
    printf("%-11s uses %.0f %% or more of its budget in %2u of %2u shapes in which agents wait",
           budget_contenders[i][0], nearly * 100, full, waiting);
    if (options_list_has(section->contenders, budget_contenders[BUDGET_SORTED][0]))
      printf(", and is as fresh as the sorted loop in %2u of %2u", fresh, rows);
    puts("");
  }
}

/* What the rows that have it say of their groups, below a title. */
static void print_groups(const budget_section *section, const char *title, bool (*has)(const budget_row *row),
                         void (*show)(const budget_section *section, const budget_row *row)) {
  bool any = false;
  for (const budget_row *row = section->rows; row < section->rows + section->count; row++) {
    if (!has(row)) continue;
    if (!any) puts(title);
    any = true;
    show(section, row);
  }
}

static void print_words(const budget_section *section) {
  puts("");
  for (uint32_t i = 0; i < BUDGET_SHAPES; i++)
    if (options_list_has(section->only, budget_shapes[i][0]))
      printf("%-11s %s\n", budget_shapes[i][0], budget_shapes[i][1]);
  puts("");
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
    if (is_shown(section, i, true)) printf("%-11s %s\n", budget_contenders[i][0], budget_contenders[i][1]);
}

static bool has_clock(const budget_section *section, bool wall) {
  for (uint32_t i = 0; i < section->count; i++)
    if (section->rows[i].wall == wall) return true;
  return false;
}

static void print_told(const budget_section *section, const char *title) {
  printf("\nBY ACCOUNTING: %s\n", title);
  print_summary(section);
  print_table(section, false, "Share of the budget that is used in frames that end while an agent waits", print_used);
  print_table(section, false, "Staleness weighted by importance, 2^(12 i), beside the sorted loop's", print_ratio);
  print_table(section, false, "The same in milliseconds", print_staleness);
  print_table(section, false, "Frames that use less than a fifth of their budget while an agent waits", print_idle);
  print_table(section, false, "Updates in a frame", print_updates);
  print_wrongs(section, false, "Frames late by more than their longest update", print_late, is_late);
  print_wrongs(section, false, "Updates of agents that had run in the same frame", print_repeats, has_repeats);
  print_groups(section, "\nUpdates of an agent in each second from when the player comes, in the tenth", has_rates,
               print_rates);
  print_groups(section, "\nMean interval              cheap        dear   mean staleness", has_intervals,
               print_intervals);
  print_one_over_two(section);
}

static void print_wall(const budget_section *section, const char *title) {
  printf("\nON THE WALL CLOCK: %s, %u frames\n", title, section->wall_frames);
  print_table(section, true, "Share of the budget that is used in frames that end while an agent waits", print_used);
  print_table(section, true, "Updates a second of their frames, beside those of sorted loops on as many threads",
              print_updates_ratio);
  print_wrongs(section, true, "Frames late by more than their longest update", print_late, is_late);
}

static void print(const void *user) {
  const budget_work *work = user;
  printf("muster bench budget: %u frames a second, %u s, at most %u plans%s\n", work->hz, work->seconds, work->plans,
         work->common.quick ? ", quick" : "");
  for (uint32_t i = 0; i < work->section_count; i++) {
    const budget_section *section = &work->sections[i];
    const char *title =
        text_of("%s agents, %.1f ms a frame", text_count(section->agents), (double)section->budget_ns * 1e-6);
    if (has_clock(section, false)) print_told(section, title);
    if (has_clock(section, true)) print_wall(section, title);
  }
  if (work->wall_frames) noise_print(work->common.others_share, work->common.stolen_share);
  print_words(work->sections);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_groups(const budget_result *result, json_writer *writer) {
  json_begin_array(writer, "groups");
  for (uint32_t i = 0; i < BUDGET_GROUPS; i++) {
    const budget_group *group = &result->groups[i];
    if (group->agents == 0) continue;
    json_print(writer, "{ agents=%u interval_ns=%g staleness_ns=%g rates_from_s=%u rates[", group->agents,
               group->interval_ms * 1e6, group->staleness_ms * 1e6, group->rates_from);
    for (uint32_t second = 0; second < BUDGET_SECONDS; second++) json_number(writer, NULL, group->rates[second]);
    json_print(writer, "] }");
  }
  json_end_array(writer);
}

static void write_row(const budget_row *row, uint32_t contender, json_writer *writer) {
  const budget_result *result = &row->results[contender];
  json_print(writer,
             "{ shape=%s clock=%s contender=%s agents=%u hz=%u budget_ns=%lu frames=%u frames_waiting=%u used_share=%g "
             "staleness_ns=%g ratio=%g mean_staleness_ns=%g late_share=%g longest_late_ns=%lu idle_frames=%u "
             "updates_per_frame=%g updates_per_second=%g updates_ratio=%g updates=%lu inside_ns=%lu repeats=%lu "
             "at_once=%lu faults=%lu",
             row->shape, row->wall ? "wall" : "told", budget_contenders[contender][0], row->agents, row->hz,
             row->budget_ns, result->frames, result->frames_waiting, result->used, result->staleness_ms * 1e6,
             result->ratio, result->mean_staleness_ms * 1e6, result->late_share, result->longest_late_ns,
             result->idle_frames, result->updates_per_frame, result->updates_per_second, result->updates_ratio,
             result->updates, result->inside_ns, result->repeats, result->at_once, result->faults);
  write_groups(result, writer);
  json_end_object(writer);
}

static void write(const void *user, json_writer *writer) {
  const budget_work *work = user;
  json_print(writer, "quick=%d seed=%lu hz=%u seconds=%u plans=%u wall_frames=%u report=%s rows[", work->common.quick,
             work->common.seed, work->hz, work->seconds, work->plans, work->wall_frames, work->report);
  for (const budget_section *section = work->sections; section < work->sections + work->section_count; section++)
    for (const budget_row *row = section->rows; row < section->rows + section->count; row++)
      for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
        if (row->results[i].measured) write_row(row, i, writer);
  json_print(writer, "]");
  if (work->wall_frames)
    json_print(writer, "others_cpu_share=%g stolen_cpu_share=%g", work->common.others_share, work->common.stolen_share);
}

/* ------------------------------------------------------------------------------------------------------ the command */

static void show_help(FILE *stream) {
  fprintf(
      stream,
      "muster bench budget - how much of its budget a frame uses while agents wait, by what updates cost\n"
      "\n"
      "usage: muster bench budget [OPTION]...\n"
      "\n"
      "  --shape NAME,...      only these; below\n"
      "  --spawns FILE.csv     the NPCs of a spawn file, too\n"
      "  --contender NAME,...  only these; below\n"
      "  --agents N,...        default 4000; some shapes have their own number\n"
      "  --budget T,...        of a frame (default 10ms): 2ms,5ms,10ms,33ms for example\n"
      "  --hz N                frames a second (default 20)\n"
      "  --seconds N           of simulation (default 300; at least 31); shapes that are about a first update have 30\n"
      "  --plans K             replan plans at most this often in a frame (default 4)\n"
      "  --report wall|own     what planners' hosts say that an update took: the time that passed (default), or the "
      "thread's own CPU time\n"
      "  --wall-frames N       frames on the wall clock (default 120; noise four times as many); 30 or more\n"
      "  --no-wall             by accounting alone\n"
      "  --seed S              of the costs and importances (default 1)\n"
      "  --quick               31 seconds, and 30 frames on the wall clock\n"
      "  --json FILE           the rows for machines; - is standard output\n"
      "  --help\n"
      "\n"
      "Shapes:\n");
  for (uint32_t i = 0; i < BUDGET_SHAPES; i++)
    fprintf(stream, "  %-12s %s\n", budget_shapes[i][0], budget_shapes[i][1]);
  fprintf(stream, "\nContenders:\n");
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
    fprintf(stream, "  %-12s %s\n", budget_contenders[i][0], budget_contenders[i][1]);
  fputs("\n"
        "How it is measured\n"
        "  By accounting: the clock is told the time. An update advances it by what it costs in its shape, and nothing "
        "else takes time, planning and sorting included, so that figures are exact and the same on any machine. Every "
        "contender meets the same costs. Agents have periods of 100 ms to 1 s, and importances from 0 to 15/16.\n"
        "  used: over frames at whose end an agent waits whose last update is a shortest period ago: the time inside "
        "updates, the budget at most, and what the frame repaid of earlier overruns, over the budget.\n"
        "  On the wall clock updates are busy work, frames follow each other at once, and contenders take turns of ten "
        "frames. Own time counts for the promise of the library, which judges itself; for others late is told by the "
        "wall.\n"
        "  The first 2 s are left out, but in the shapes that are about them; the player comes after 10 s. Shapes that "
        "are about a first update end after 30 s.\n",
        stream);
}

static bool knows(const char *list, const char *const (*names)[2], uint32_t count, const char *what) {
  char word[OPTION_WORD_BYTES];
  while (list && options_list_next(&list, word)) {
    uint32_t i = 0;
    while (i < count && strcmp(word, names[i][0])) i++;
    if (i == count) return complain_usage("unknown %s '%s': see muster bench budget --help", what, word), false;
  }
  return true;
}

static bool has_room(const char *option, uint32_t count) {
  if (count < LIST_MAX) return true;
  return complain_usage("%s has more than %d values", option, LIST_MAX), false;
}

static bool read_lists(budget_work *work) {
  const char *agents = work->agents_given ? work->agents_given : "4000";
  const char *budgets = work->budgets_given ? work->budgets_given : "10ms";
  char word[OPTION_WORD_BYTES];
  while (options_list_next(&agents, word))
    if (!has_room("--agents", work->agents_count) ||
        !parse_count32("--agents", word, 10, 1000000, &work->agents[work->agents_count++]))
      return false;
  while (options_list_next(&budgets, word))
    if (!has_room("--budget", work->budgets_count) ||
        !parse_duration("--budget", word, 100000, 1000000000, &work->budgets_ns[work->budgets_count++]))
      return false;
  return true;
}

static int check(void *user) {
  budget_work *work = user;
  if (*work->common.rest) return complain_usage("'%s' is too many", *work->common.rest);
  if (!knows(work->only, budget_shapes, BUDGET_SHAPES, "shape") ||
      !knows(work->contenders, budget_contenders, BUDGET_CONTENDERS, "contender") || !read_lists(work))
    return STATUS_USAGE;
  if (work->only && !work->common.spawns && options_list_has(work->only, "spawns"))
    return complain_usage("say where the spawns are: --spawns FILE.csv");
  if (!work->hz) work->hz = 20;
  if (!work->seconds) work->seconds = work->common.quick ? 31 : 300;
  if (!work->plans) work->plans = 4;
  if (!work->report) work->report = "wall";
  if (!work->wall_frames) work->wall_frames = work->common.quick ? 30 : 120;
  if (work->no_wall) work->wall_frames = 0;
  if (strcmp(work->report, "wall") && strcmp(work->report, "own"))
    return complain_usage("--report is '%s': wall or own", work->report);
  return STATUS_OK;
}

static void show(const char *doing, void *user) {
  budget_work *work = user;
  progress_step(&work->common.line, "%s", doing);
}

static const char *measure_section(budget_work *work, uint32_t agents, uint64_t budget_ns) {
  budget_section *section = &work->sections[work->section_count++];
  section->only = work->only;
  section->contenders = work->contenders;
  section->agents = agents;
  section->budget_ns = budget_ns;
  section->wall_frames = work->wall_frames;
  budget_setup setup = {.seed = work->common.seed,
                        .only = work->only,
                        .contenders = work->contenders,
                        .spawns = work->common.spawns,
                        .agents = agents,
                        .hz = work->hz,
                        .seconds = work->seconds,
                        .plans = work->plans,
                        .wall_frames = work->wall_frames,
                        .report_own = strcmp(work->report, "own") == 0,
                        .budget_ns = budget_ns,
                        .show = show,
                        .user = work};
  return budget_measure(&setup, section->rows, &section->count);
}

static const char *measure(void *user) {
  budget_work *work = user;
  for (uint32_t i = 0; i < work->agents_count; i++)
    for (uint32_t j = 0; j < work->budgets_count; j++) {
      const char *wrong = measure_section(work, work->agents[i], work->budgets_ns[j]);
      if (wrong) return wrong;
    }
  return NULL;
}

static const option_def options[] = {OPTION("shape", TEXT, budget_work, only),
                                     BENCH_SPAWNS,
                                     OPTION("contender", TEXT, budget_work, contenders),
                                     OPTION("agents", TEXT, budget_work, agents_given),
                                     OPTION("budget", TEXT, budget_work, budgets_given),
                                     OPTION_WITHIN("hz", COUNT32, budget_work, hz, 1, 1000),
                                     OPTION_WITHIN("seconds", COUNT32, budget_work, seconds, 31, 100000),
                                     OPTION_WITHIN("plans", COUNT32, budget_work, plans, 1, 64),
                                     OPTION("report", TEXT, budget_work, report),
                                     OPTION_WITHIN("wall-frames", COUNT32, budget_work, wall_frames, 30, 100000),
                                     OPTION("no-wall", ON, budget_work, no_wall),
                                     BENCH_JSON,
                                     BENCH_SEED,
                                     BENCH_QUICK,
                                     {0}};

const bench_def bench_budget = {"budget",
                                "how much of its budget a frame uses while agents wait, by what updates cost",
                                show_help,
                                options,
                                sizeof(budget_work),
                                .check = check,
                                .measure = measure,
                                .print = print,
                                .write = write};
