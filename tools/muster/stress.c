/* `muster stress`: what gives way first as a world is raised, and at how much. */
#include "stress_report.h"

#include "commands.h"
#include "complaint.h"
#include "output.h"
#include "pacing.h"
#include "scale.h"
#include "stress_world.h"
#include "text.h"

#include <muster/jobs.h>

#include <string.h>

enum {
  AGENTS = 2000,
  OBSERVERS = 16,
  MESSAGES = 64,
  SPAWNS = 4,
  WAKES = 16,
  SECONDS = 5,
  STEPS = STRESS_STEPS_MAX - 1,
  OBSERVERS_MOST = 65536,
  SPAWNS_MOST = 65536,
  FRAMES_MOST = 1000000
};

/* With --quick. */
enum { QUICK_AGENTS = 200, QUICK_OBSERVERS = 4, QUICK_FRAMES = 6, QUICK_WARM_UP = 2, QUICK_STEPS = 2 };

static void show_options(FILE *stream) {
  fprintf(stream,
          "muster stress - raises agents, observers, messages, spawns, wakes and workers until something gives way\n"
          "\n"
          "usage: muster stress [OPTION]...\n"
          "\n"
          "What is raised:\n"
          "  --axes NAME,...      of agents, crowd, observers, messages, spawns, wakes, workers, all (default: each of "
          "them, in this order)\n"
          "  --steps N            at most so many times an axis is doubled (default %d)\n"
          "The baseline, which every axis begins with, and up to what it is raised:\n"
          "  --agents N           default %d;  --max-agents N     default 4000000\n"
          "  --observers N        default %d;    --max-observers N  default %d\n"
          "  --messages N         in a frame, default %d;  --max-messages N  default %d\n"
          "  --spawns N           in a frame, default %d;   --max-spawns N    default %d\n"
          "  --wakes N            in a frame, default %d;  --max-wakes N     default %d\n"
          "  --workers N          the calling thread included, default and --max-workers: one per processor\n"
          "  --crowd              all agents and observers stand in one cell, on every axis\n"
          "  --cost 5us           of an update's work, 0.1us .. 200us (default 5us)\n"
          "  --planner-cost 40us  of a planner's, one agent in 16, 0.1us .. 400us (default eight times --cost, 400us "
          "at most)\n"
          "  --seed S             of everything random (default 1)\n"
          "Frames:\n"
          "  --budget 10ms        wall time that a frame may take, at most the frame's whole time (default 10ms)\n"
          "  --hz 30              frames per second (default 30)\n"
          "  --seconds S          that a step is measured for (default %d); or --frames N\n"
          "  --memory MIB         that the world of a step may take (default: three quarters of what the machine has "
          "available)\n"
          "Report:\n"
          "  --compare FILE       a report that --json wrote, here or on another machine; side by side with this run. "
          "May be repeated, %d times at most\n"
          "  --again              measures nothing: only the reports of --compare, side by side\n"
          "  --plots DIR          draws what each axis keeps as it is raised\n"
          "  --json FILE          the report for machines, all times in ns; - is standard output\n"
          "  --quick              a small baseline, two doublings, a few frames: shows that it works, not how far it "
          "holds\n"
          "  -h, --help\n"
          "\n"
          "Exit status: 0 = done, whatever gave way, 1 = failed, 2 = asked for wrongly, 130 = interrupted by SIGINT "
          "(^C), 143 = by SIGTERM; then the results are those of the steps until then, and say so.\n",
          STEPS, AGENTS, OBSERVERS, OBSERVERS_MOST, MESSAGES, STRESS_EVENTS_MOST, SPAWNS, SPAWNS_MOST, WAKES,
          STRESS_EVENTS_MOST, SECONDS, STRESS_COMPARED_MAX);
}

static void show_world(FILE *stream) {
  fprintf(
      stream,
      "\n"
      "The world\n"
      "  A square of 4 km. An agent is a walker, which looks for its 8 nearest neighbours within 16 m, works and walks "
      "around its home; one in 16 is a planner, which works for longer. Both want to run every 100 ms, and every "
      "second at least. Messages: couriers, which are exempt, run in each frame and send %d to each other. Spawns: "
      "visitors, which the "
      "host removes after a second. Wakes: sleepers, which the host wakes in each frame, and which have no period. "
      "Observers see 250 m far and walk at 0.7 to 2.1 m/s.\n"
      "  Each step has a world and a pool of its own. All agents come in, frames are run for a second, and then for "
      "the step, paced on the wall clock. Each step of an axis doubles what it raises; the rest stays at the baseline. "
      "`crowd` raises agents that, with the observers, stand in one cell of 32 m; `workers` begins at 1, and does not "
      "end where few workers do not hold, only where more do not; `all` raises everything together, each up to its "
      "most.\n"
      "  All of it takes about ten minutes. A step that does not hold is measured a second time at once, and where the "
      "machine gave way a third time; the "
      "last time counts (`no, 2`).\n",
      STRESS_LETTERS);
}

static void show_criteria(FILE *stream) {
  stress_limits limits = stress_default_limits();
  fprintf(stream,
          "\n"
          "A step holds when it meets all of these\n"
          "  promise              muster_frame_kept() in %s of the frames, or in all but one. Broken frames in which "
          "/proc/stat counts time "
          "that the host of a virtual machine held back are left out.\n"
          "  important agents     those of importance above 3/4 got their updates, on average, within %.3g times their "
          "wanted period (muster_band.interval_ns, wanted_ns). Not judged where there are none.\n"
          "  events               of the messages of a frame at least %s are sent (messages_sent), and of its wakes so "
          "many lead to an update, which the sleepers count\n"
          "  messages             none was refused or dropped\n"
          "  spawns and commands  no call that spawns, wakes or removes was refused\n"
          "  intake               at the end at most %.3g times what the host brings in a frame waits for an intake\n"
          "  neighbours           queries that were cut (nearby_cut) are at most %s of all updates\n"
          "  memory               bytes_used of the world is within --memory. A step for which twice the bytes of the "
          "step before would not be is not begun; neither is one for which the system gives no memory.\n",
          text_share(limits.kept_least), limits.stretch_most, text_share(limits.events_least), limits.waiting_most,
          text_share(limits.cut_most));
}

static void show_causes(FILE *stream) {
  fprintf(
      stream,
      "\n"
      "What gave way: the first of these that the reports of the first step that does not hold show, and that can "
      "explain a criterion that is not met (in brackets). Others that they show are told, too.\n"
      "  memory               (memory) as above\n"
      "  a crowded cell       (promise, important agents, neighbours) queries for neighbours were cut, as above; or "
      "a cell has more than 8,192 agents, so that all agents had to be looked at (score_rounds); or at least %d %% "
      "of all agents stand in one cell of 32 m (muster_agents_raster), and the mean important_load is above 1\n"
      "  intake               (intake) more comes than the part of a frame that intakes may take lets in\n"
      "  serial rest          (promise, important agents, events, messages) of the CPU given at least %d %% lies "
      "idle while one thread works alone: serial_ns of a frame x (workers - 1) / (workers x budget). Never with one "
      "worker.\n"
      "  one type             (important agents, events, messages) the capacity is too small, as below, and a type "
      "takes at least %d %% of the time by at most %d %% of the updates: counted updates x "
      "muster_type_cost.mean_ns\n"
      "  capacity             (important agents, events, messages) the mean pressure is above 1: the longest periods "
      "of all agents do not fit workers x budget; or the mean important_load is above 1: not even the wanted "
      "periods of important agents fit; or work waits at the end of at least %d %% of the frames, and these use at "
      "least %d %% of the CPU given\n"
      "  a bound of the world  (messages, spawns and commands) something was refused, and none of the above is "
      "shown: a box, commands_max, agents_max\n"
      "  the machine          (promise, important agents, events) other processes took more than %d %% of the "
      "processors, or the host more than %d %%; or there are more workers than processors\n"
      "  unknown              none of them is shown\n",
      STRESS_CELL_PERCENT, STRESS_SERIAL_IDLE_PERCENT, STRESS_TYPE_TIME_PERCENT, STRESS_TYPE_UPDATES_PERCENT,
      STRESS_WAITING_PERCENT, STRESS_USED_PERCENT, STRESS_OTHERS_PERCENT, STRESS_STOLEN_PERCENT);
}

static void show_columns(FILE *stream) {
  fputs("\n"
        "The columns\n"
        "  kept: frames within the promise. CPU used: by all workers in frames, of the CPU given. pressure: mean. "
        "stretch: the interval of important agents in wanted periods. load: what these want, in parts of the capacity. "
        "events: as above. "
        "overhead: all workers' time in frames outside of atoms, for each completed update. serial share: "
        "of that and the updates' time. wall p99: of a frame. longest wait: from release to start. lost: messages, "
        "spawns and commands that were refused or dropped. others: what other processes took of the processors; what "
        "the kernel takes away from workers is no part of the promise, but of the wall time.\n",
        stream);
}

static void show_help(FILE *stream) {
  show_options(stream);
  show_world(stream);
  show_criteria(stream);
  show_causes(stream);
  show_columns(stream);
}

/* ---------------------------------------------------------------------------------------------------------- options */

/* Which of the axes, and complains of others. */
static int take_axes(stress_work *work) {
  char name[OPTION_WORD_BYTES];
  const char *list = work->axes, *names[STRESS_AXES];
  for (uint32_t axis = 0; axis < STRESS_AXES; axis++) {
    names[axis] = stress_axis_name(stress_order[axis]);
    work->climbs[axis].wanted = !list;
  }
  while (options_list_next(&list, name)) {
    uint32_t axis = 0;
    while (axis < STRESS_AXES && strcmp(stress_axis_name(axis), name) != 0) axis++;
    if (axis == STRESS_AXES) return complain_unknown("axis", name, names, STRESS_AXES, "");
    work->climbs[axis].wanted = true;
  }
  return STATUS_OK;
}

/* What was not given. */
static void take_defaults(stress_work *work) {
  static const uint32_t baseline[STRESS_KNOBS] = {AGENTS, OBSERVERS, MESSAGES, SPAWNS, WAKES, 0};
  static const uint32_t quick[STRESS_KNOBS] = {QUICK_AGENTS, QUICK_OBSERVERS, MESSAGES, SPAWNS, WAKES, 0};
  static const uint32_t most[STRESS_KNOBS] = {4000000,     OBSERVERS_MOST,     STRESS_EVENTS_MOST,
                                              SPAWNS_MOST, STRESS_EVENTS_MOST, 0};
  bool brief = work->common.quick;
  uint32_t processors = muster_available_processors();
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++) {
    uint32_t *first = &work->baseline.knobs[knob], *last = &work->most.knobs[knob];
    if (!*first) *first = knob == STRESS_WORKERS ? processors : brief ? quick[knob] : baseline[knob];
    if (!*last) *last = knob == STRESS_WORKERS ? processors : most[knob];
    if (*last < *first && knob == STRESS_WORKERS) *last = *first;
  }
  if (!work->cost_ns) work->cost_ns = 5000;
  if (!work->planner_cost_ns) work->planner_cost_ns = work->cost_ns < 50000 ? 8 * work->cost_ns : 400000;
  if (!work->budget_ns) work->budget_ns = 10000000;
  if (!work->rate) work->rate = 30000;
  if (!work->steps_most) work->steps_most = brief ? QUICK_STEPS : STEPS;
  work->frame_ns = pacing_sim_time(&(struct pacing){.rate = work->rate}, 1);
  uint64_t seconds = work->seconds ? work->seconds : SECONDS;
  if (!work->frames) work->frames = brief && !work->seconds ? QUICK_FRAMES : (seconds * work->rate + 999) / 1000;
  work->warm_up = brief ? QUICK_WARM_UP : (work->rate + 999) / 1000;
  work->limits = stress_default_limits();
  uint64_t available = scale_bytes_available();
  work->limits.memory_bytes = work->memory_mib ? (uint64_t)work->memory_mib << 20 : available / 4 * 3;
}

/* A maximum below its baseline, and visitors that no world has room for. */
static int check_loads(const stress_work *work) {
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++)
    if (work->most.knobs[knob] < work->baseline.knobs[knob])
      return complain_usage("--max-%s is %u, less than the baseline of %u; raise it, or lower --%s",
                            stress_axis_name(knob), work->most.knobs[knob], work->baseline.knobs[knob],
                            stress_axis_name(knob));
  if (work->budget_ns > work->frame_ns)
    return complain_usage("--budget is %s, longer than a frame of %s; lower it or --hz", text_ns(work->budget_ns),
                          text_ns(work->frame_ns));
  uint64_t visitors = stress_visitors(&work->most, work->frame_ns);
  if (visitors > STRESS_VISITORS_MOST)
    return complain_usage("--max-spawns would let %s visitors live at once, more than %s; lower it or --hz",
                          text_count(visitors), text_count(STRESS_VISITORS_MOST));
  return STATUS_OK;
}

/* What is asked for beside the reports that are compared. */
static int check_again(const stress_work *work) {
  if (!work->compared[0]) return complain_usage("--again compares reports: add --compare FILE");
  if (work->common.json || work->common.plots || work->common.quick || work->axes)
    return complain_usage("--again measures nothing: leave out --json, --plots, --quick and --axes");
  return STATUS_OK;
}

static int check_contradictions(const stress_work *work) {
  if (*work->common.rest) return complain_usage("'%s' is no option; see `muster stress --help`", *work->common.rest);
  if (work->seconds && work->frames)
    return complain_usage("--seconds and --frames both say how long a step is; leave out one of them");
  if (work->again) return check_again(work);
  if (work->compared[0] && work->common.quiet)
    return complain_usage("--compare prints a table, and --json - wants standard output; give it a file");
  for (const char *const *path = work->compared; *path; path++)
    if (work->common.json && output_is_same(work->common.json, *path))
      return complain_usage("--json would overwrite the report '%s', which is compared; give it another file", *path);
  return STATUS_OK;
}

/* The reports are read before anything is measured, so that a mistake is told at once. The first column is this run. */
static int read_compared(stress_work *work) {
  work->column_count = work->again ? 0 : 1;
  for (const char *const *path = work->compared; *path; path++) {
#ifdef MUSTER_HAS_CTL
    if (!stress_column_read(*path, &work->columns[work->column_count++])) return STATUS_FAILED;
#else
    return complain_failure("this program was built without the service, and so without what reads '%s'; build it with "
                            "-D MUSTER_SERVICE=ON",
                            *path);
#endif
  }
  return STATUS_OK;
}

static int check(void *user) {
  stress_work *work = user;
  int status = check_contradictions(work);
  if (status != STATUS_OK) return status;
  status = take_axes(work);
  if (status != STATUS_OK) return status;
  take_defaults(work);
  status = check_loads(work);
  return status == STATUS_OK ? read_compared(work) : status;
}

static bool take_compared(void *options, const char *text) {
  stress_work *work = options;
  uint32_t count = 0;
  while (work->compared[count]) count++;
  if (count < STRESS_COMPARED_MAX) {
    work->compared[count] = text;
    return true;
  }
  complain_usage("--compare was given more than %d times; leave out '%s'", STRESS_COMPARED_MAX, text);
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- command */

static const char *measure(void *user) {
  stress_work *work = user;
  const char *wrong = stress_measure(work);
  bool any = work->again;
  for (uint32_t axis = 0; axis < STRESS_AXES; axis++) any |= work->climbs[axis].count > 0;
  if (!wrong && !any) return "interrupted in the first step: there is nothing to report";
  if (!work->again) stress_fill_column(work, &work->columns[0]);
  return wrong;
}

static int judge(const void *user) {
  const stress_work *work = user;
  return work->signal ? 128 + work->signal : STATUS_OK;
}

#define KNOB(name, knob, at_least, at_most)                                                                            \
  OPTION_WITHIN(name, COUNT32, stress_work, baseline.knobs[knob], at_least, at_most),                                  \
      OPTION_WITHIN("max-" name, COUNT32, stress_work, most.knobs[knob], at_least, at_most)

static const option_def options[] = {KNOB("agents", STRESS_AGENTS, 16, STRESS_AGENTS_MOST),
                                     KNOB("observers", STRESS_OBSERVERS, 1, OBSERVERS_MOST),
                                     KNOB("messages", STRESS_MESSAGES, 1, STRESS_EVENTS_MOST),
                                     KNOB("spawns", STRESS_SPAWNS, 1, STRESS_EVENTS_MOST),
                                     KNOB("wakes", STRESS_WAKES, 1, STRESS_EVENTS_MOST),
                                     KNOB("workers", STRESS_WORKERS, 1, MUSTER_WORKERS_MAX),
                                     OPTION("axes", TEXT, stress_work, axes),
                                     OPTION_WITHIN("steps", COUNT32, stress_work, steps_most, 1, STEPS),
                                     OPTION("crowd", ON, stress_work, baseline.crowd),
                                     OPTION_WITHIN("cost", DURATION, stress_work, cost_ns, 100, 200000),
                                     OPTION_WITHIN("planner-cost", DURATION, stress_work, planner_cost_ns, 100, 400000),
                                     OPTION_WITHIN("budget", DURATION, stress_work, budget_ns, 100000, 1000000000),
                                     OPTION_WITHIN("hz", RATE, stress_work, rate, 1000, 1000000),
                                     OPTION_WITHIN("seconds", COUNT32, stress_work, seconds, 1, 3600),
                                     OPTION_WITHIN("frames", COUNT, stress_work, frames, 1, FRAMES_MOST),
                                     OPTION_WITHIN("memory", COUNT32, stress_work, memory_mib, 1, 1 << 24),
                                     OPTION_BY("compare", take_compared),
                                     OPTION("again", ON, stress_work, again),
                                     BENCH_SEED,
                                     BENCH_QUICK,
                                     BENCH_PLOTS,
                                     BENCH_JSON,
                                     {0}};

int stress_command(int count, char **arguments) {
  static const bench_def stress = {.show_help = show_help,
                                   .options = options,
                                   .bytes = sizeof(stress_work),
                                   .check = check,
                                   .measure = measure,
                                   .print = stress_print,
                                   .plot = stress_plot,
                                   .write = stress_write,
                                   .judge = judge};
  return bench_run("stress", &stress, count, arguments);
}
