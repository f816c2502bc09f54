/* The results of `muster stress` as text and as a figure. */
#include "stress_report.h"

#include "noise.h"
#include "text.h"

#include "base/columns.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *const units[STRESS_AXES] = {"agents",          "observers", "messages per frame", "spawns per frame",
                                               "wakes per frame", "workers",   "agents in one cell", "agents, and all"};

static const char *text_whole(double value) {
  return text_count((uint64_t)llround(value));
}

/* -------------------------------------------------------------------------------------------------------- sentences */

const char *stress_broken_text(uint32_t criterion, const stress_figures *figures, const stress_limits *limits) {
  switch ((stress_criterion)criterion) {
  case STRESS_PROMISE:
    return text_of("kept in %s of frames, not in %s", text_share(stress_kept_share(figures)),
                   text_share(limits->kept_least));
  case STRESS_IMPORTANT:
    return text_of("they ran every %s, %.1f times what they want", text_duration(figures->important_interval_ns),
                   stress_stretch(figures));
  case STRESS_EVENTS:
    return text_of("%s of the messages or wakes asked for happened", text_share(stress_events_share(figures)));
  case STRESS_DELIVERY:
    return text_of("%s messages were refused, %s dropped", text_count(figures->messages_refused),
                   text_count(figures->messages_dropped));
  case STRESS_ACCEPTANCE:
    return text_of("%s spawns and %s wakes or removals were refused", text_count(figures->spawns_refused),
                   text_count(figures->commands_refused));
  case STRESS_INTAKE:
    return text_of("what %.1f frames bring waited for an intake at the end", stress_waiting_frames(figures));
  case STRESS_NEIGHBOURS:
    return text_of("in %s of updates not all near neighbours were looked at", text_share(stress_cut_share(figures)));
  case STRESS_MEMORY:
    return figures->memory_refused ? "the system gave no memory"
                                   : text_of("it needs up to %s, more than %s", text_bytes((double)figures->bytes),
                                             text_bytes((double)limits->memory_bytes));
  default:
    return "";
  }
}

const char *stress_cause_text(uint32_t cause, const stress_step *step, const stress_limits *limits) {
  const stress_figures *figures = &step->figures;
  const stress_type_figures *type = step->verdict.type < STRESS_TYPES ? &figures->types[step->verdict.type] : NULL;
  switch ((stress_cause)cause) {
  case STRESS_BY_MEMORY:
    return stress_broken_text(STRESS_MEMORY, figures, limits);
  case STRESS_BY_CROWD:
    if (figures->queries_cut + figures->crowd_rounds > 0)
      return text_of("%s queries for neighbours were cut, %s times all agents were looked at",
                     text_count(figures->queries_cut), text_count(figures->crowd_rounds));
    return text_of("%s of all agents in one cell; the important want %s times the capacity",
                   text_share(figures->cell_share), text_pressure(figures->important_load));
  case STRESS_BY_INTAKE:
    return text_of("%s spawns and commands waited", text_whole(figures->waiting));
  case STRESS_BY_SERIAL:
    return text_of("for %s of a frame one thread works alone: %s of the CPU is idle",
                   text_duration(figures->serial_per_frame_ns), text_share(stress_serial_idle(figures)));
  case STRESS_BY_TYPE:
    return text_of("'%s' takes %s of the time by %s of the updates", type ? type->name : "",
                   text_share(type ? type->time_share : 0), text_share(type ? type->updates_share : 0));
  case STRESS_BY_CAPACITY:
    if (figures->pressure > 1)
      return text_of("all at their longest periods take %s times the capacity", text_pressure(figures->pressure));
    if (figures->important_load > 1)
      return text_of("important agents alone want %s times the capacity", text_pressure(figures->important_load));
    return text_of("while work waits, %s of the CPU given is used", text_share(figures->waiting_used_share));
  case STRESS_BY_BOUND:
    return "something was refused, although the longest periods fit the capacity";
  case STRESS_BY_MACHINE:
    if (figures->load.knobs[STRESS_WORKERS] > figures->processors)
      return text_of("%u workers on %u processors", figures->load.knobs[STRESS_WORKERS], figures->processors);
    return text_of("others took %s of the processors, the host %s", text_share(figures->others_share),
                   text_share(figures->stolen_share));
  default:
    return "no figure of the reports shows why";
  }
}

/* ---------------------------------------------------------------------------------------------------------- an axis */

static const char *times_text(const stress_work *work, uint32_t axis, const stress_step *step) {
  double times = stress_times(axis, &work->baseline, &step->figures.load);
  return times < 1000 ? text_of("%.4g", times) : text_whole(times);
}

static void print_limit(const stress_work *work, uint32_t axis, const stress_climb *climb) {
  const stress_step *limit = climb->limit >= 0 ? &climb->steps[climb->limit] : NULL;
  const stress_step *fell = climb->fell >= 0 ? &climb->steps[climb->fell] : NULL;
  printf("\n%s: ", stress_axis_name(axis));
  if (!limit)
    printf("does not hold at %s %s", text_count(stress_value(axis, &fell->figures.load)), units[axis]);
  else
    printf("holds at %s %s, %s times the first step", text_count(stress_value(axis, &limit->figures.load)), units[axis],
           times_text(work, axis, limit));
  if (!fell)
    puts("; nothing gave way up to the most that was asked for");
  else if (fell->verdict.cause == STRESS_BY_UNKNOWN)
    printf("; what gave way at %s is unknown\n", text_count(stress_value(axis, &fell->figures.load)));
  else
    printf("; at %s gave way: %s\n", text_count(stress_value(axis, &fell->figures.load)),
           stress_cause_name(fell->verdict.cause));
}

static void print_reasons(const stress_work *work, const stress_step *fell) {
  for (uint32_t i = 0; i < STRESS_CRITERIA; i++)
    if (fell->verdict.broken & 1u << i)
      printf("  not met     %s: %s\n", stress_criterion_name(i), stress_broken_text(i, &fell->figures, &work->limits));
  for (uint32_t i = 0; i < STRESS_CAUSES; i++)
    if (fell->verdict.shown & 1u << i)
      printf("  %-11s %s: %s\n", i == fell->verdict.cause ? "gave way" : "also shown", stress_cause_name(i),
             stress_cause_text(i, fell, &work->limits));
}

static const char *dash_or(bool known, const char *text) {
  return known ? text : "-";
}

/* With how often it was measured. */
static const char *holds_text(const stress_step *step) {
  if (step->verdict.holds) return "yes";
  return step->figures.attempts > 1 ? text_of("no, %u", step->figures.attempts) : "no";
}

enum { CELLS = 16 };

static void print_cells(const char *const cells[CELLS]) {
  static const int widths[CELLS] = {11, -6, 8, 8, 9, 9, 8, 6, 8, 9, 8, 9, 9, 9, 7, 8};
  char line[256];
  size_t length = 0;
  for (uint32_t i = 0; i < CELLS && length < sizeof line; i++)
    length += (size_t)snprintf(line + length, sizeof line - length, "%s%*s", i == 1 ? " " : "", widths[i], cells[i]);
  while (length > 0 && line[length - 1] == ' ') length--;
  printf("%.*s\n", (int)length, line);
}

static void print_head(void) {
  static const char *const heads[2][CELLS] = {
      {"", "holds", "kept", "CPU", "updates", "pressure", "stretch", "load", "events", "overhead", "serial", "memory",
       "wall", "longest", "lost", "others"},
      {"", "", "", "used", "a frame", "", "", "", "", "an update", "share", "", "p99", "wait", "", ""}};
  print_cells(heads[0]);
  print_cells(heads[1]);
}

static void print_step(uint32_t axis, const stress_step *step) {
  const stress_figures *figures = &step->figures;
  uint64_t lost =
      figures->messages_refused + figures->messages_dropped + figures->spawns_refused + figures->commands_refused;
  const char *const cells[CELLS] = {
      text_count(stress_value(axis, &figures->load)),
      holds_text(step),
      text_share(stress_kept_share(figures)),
      text_share(figures->budget_used_share),
      text_whole(figures->updates_per_frame),
      text_pressure(figures->pressure),
      dash_or(figures->important_wanted_ns > 0, text_of("%.2f", stress_stretch(figures))),
      text_of("%.2f", figures->important_load),
      text_share(stress_events_share(figures)),
      dash_or(figures->overhead_per_update_ns > 0, text_duration(figures->overhead_per_update_ns)),
      text_share(figures->serial_share),
      text_bytes((double)figures->bytes),
      text_ns(figures->wall_p99_ns),
      text_ns(figures->longest_wait_ns),
      text_count(lost),
      dash_or(figures->noise_known, text_share(figures->others_share))};
  if (figures->frames)
    print_cells(cells);
  else
    printf("%11s %-6s not begun: memory %s\n", cells[0], cells[1], cells[10]);
}

static void print_axis(const stress_work *work, uint32_t axis) {
  const stress_climb *climb = &work->climbs[axis];
  if (climb->count == 0) return;
  print_limit(work, axis, climb);
  if (climb->fell >= 0) print_reasons(work, &climb->steps[climb->fell]);
  print_head();
  for (uint32_t i = 0; i < climb->count; i++) print_step(axis, &climb->steps[i]);
}

/* -------------------------------------------------------------------------------------------------------------- all */

static void print_baseline(const stress_work *work) {
  const uint32_t *knobs = work->baseline.knobs;
  printf("muster stress: %u worker%s on %u processor%s, %lu frames of %s at %g Hz for each step%s\n",
         knobs[STRESS_WORKERS], knobs[STRESS_WORKERS] == 1 ? "" : "s", muster_available_processors(),
         muster_available_processors() == 1 ? "" : "s", work->frames, text_ns(work->budget_ns),
         (double)work->rate / 1000, work->common.quick ? "; quick: figures mean little" : "");
  printf("baseline: %s agents%s, %s observers, %s messages, %s spawns, %s wakes in a frame; an update costs %s, a "
         "planner's %s\n",
         text_count(knobs[STRESS_AGENTS]), work->baseline.crowd ? " in one cell" : "",
         text_count(knobs[STRESS_OBSERVERS]), text_count(knobs[STRESS_MESSAGES]), text_count(knobs[STRESS_SPAWNS]),
         text_count(knobs[STRESS_WAKES]), text_ns(work->cost_ns), text_ns(work->planner_cost_ns));
  printf("a step holds: promise kept in %s of frames, important agents within %.3g times their wanted period, %s of "
         "messages sent\nand of wakes answered, nothing refused or dropped, at most %.3g frames' worth waits for an "
         "intake, at most %s of updates\nsee not all near neighbours, memory within %s\n",
         text_share(work->limits.kept_least), work->limits.stretch_most, text_share(work->limits.events_least),
         work->limits.waiting_most, text_share(work->limits.cut_most), text_bytes((double)work->limits.memory_bytes));
  if (work->signal) printf("INTERRUPTED by SIG%s: this is of the steps until then\n", sigabbrev_np(work->signal));
}

void stress_print(const void *user) {
  const stress_work *work = user;
  if (!work->again) {
    print_baseline(work);
    for (uint32_t i = 0; i < STRESS_AXES; i++) print_axis(work, stress_order[i]);
    fputs("\nin the loudest step, ", stdout);
    noise_print(stress_loudest(work, false), stress_loudest(work, true));
  }
  if (work->compared[0]) stress_columns_print(work->columns, work->column_count);
}
