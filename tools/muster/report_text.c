#include "report_text.h"

#include "bands.h"
#include "noise.h"
#include "text.h"

#include "base/columns.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { BAR_LEAST = 10, BAR_BESIDE = 20 }; /* cells; columns beside it */

static void print_interruption(FILE *stream, const run_summary *summary) {
  if (!summary->interrupted) return;
  if (summary->signal)
    fprintf(stream, "INTERRUPTED by SIG%s: this is of the frames until then\n", sigabbrev_np(summary->signal));
  else
    fprintf(stream, "INTERRUPTED when it was recorded: this is of the frames until then\n");
}

static void print_title(FILE *stream, const run_summary *summary) {
  const run_options *options = summary->options;
  const char *agents = text_count(summary->record->last.agents);
  const char *frames = text_count(summary->record->frames);
  const char *all = text_count(options->frames);
  const char *budget = text_ns(options->budget_ns);
  fprintf(stream, "\n%s: %s agents, %u observer%s, seed %lu\n", summary->scenario, agents, summary->observers,
          summary->observers == 1 ? "" : "s", options->seed);
  fprintf(stream, "%s%s%s frames at %g Hz on %u worker%s, budget %s, %s clock\n", frames,
          summary->interrupted ? " of " : "", summary->interrupted ? all : "", (double)options->rate / 1000.0,
          options->workers, options->workers == 1 ? "" : "s", budget, options->virtual_clock ? "virtual" : "wall");
  print_interruption(stream, summary);
}

static void print_bar(FILE *stream, const char *name, double value_ns, double budget_ns, double full_ns) {
  char bar[TEXT_BAR_CELLS + 1];
  int room = columns_of(STDOUT_FILENO) - BAR_BESIDE;
  fprintf(stream, "  %-6s %9s  %s\n", name, text_duration(value_ns),
          text_bar(bar, room < BAR_LEAST ? BAR_LEAST : room, value_ns, budget_ns, full_ns));
}

static void print_frame_times(FILE *stream, const run_summary *summary) {
  const frame_quantiles *wall = &summary->wall_ns;
  double budget_ns = (double)summary->options->budget_ns;
  double full_ns = fmax(budget_ns * 1.25, fmin((double)wall->p999, budget_ns * 3));
  fprintf(stream, "\nFrame time, | = budget\n");
  print_bar(stream, "mean", wall->mean, budget_ns, full_ns);
  print_bar(stream, "p50", (double)wall->p50, budget_ns, full_ns);
  print_bar(stream, "p99", (double)wall->p99, budget_ns, full_ns);
  print_bar(stream, "p99.9", (double)wall->p999, budget_ns, full_ns);
  print_bar(stream, "max", (double)wall->max, budget_ns, full_ns);
}

static void print_machine(FILE *stream, const run_summary *summary) {
  if (summary->machine_frames)
    fprintf(stream, "          threads that only read the clocks until the deadline, after each frame, kept %s\n",
            text_share(summary->machine_kept_share));
  if (summary->machine_missed)
    fprintf(stream, "          (%lu times one of them woke too late to see anything, which counts as kept)\n",
            summary->machine_missed);
  if (!summary->noise_known) return;
  bool loud = noise_is_loud(summary->others_share, summary->stolen_share);
  fprintf(stream, "Machine   %s: other processes took %s of the processors and the host %s%s\n",
          loud ? "NOT QUIET" : "quiet", text_share(summary->others_share), text_share(summary->stolen_share),
          loud ? "; run it again for figures of Muster alone" : "");
}

/* A frame that keeps the promise may be as late as an atom is long, so an atom over its limit must be reported. */
static void print_longest(FILE *stream, const run_summary *summary) {
  uint64_t atom_ns = summary->record->longest_atom_ns, limit_ns = summary->runaways.worst_limit_ns;
  fprintf(stream, "          own overrun p99 %s, longest atom %s\n", text_ns(summary->overrun_own_ns.p99),
          text_ns(atom_ns));
  if (!limit_ns || atom_ns <= limit_ns) return;
  fprintf(stream, "          THE LONGEST ATOM is %.3g times its limit of %s, and so late a frame may be\n",
          (double)atom_ns / (double)limit_ns, text_ns(limit_ns));
}

static void print_promise(FILE *stream, const run_summary *summary) {
  fprintf(stream, "\nPromise   ");
  if (!summary->own_known) {
    fprintf(stream, "not measured; leave out --no-audit\n");
    return;
  }
  fprintf(stream, "kept in %s of frames: own overrun within longest atom + 20 us\n", text_share(summary->kept_share));
  print_longest(stream, summary);
  if (isfinite(summary->budget_used_share))
    fprintf(stream, "          %s of the CPU given was used while work waited\n",
            text_share(summary->budget_used_share));
  else
    fprintf(stream, "          no work ever waited for the next frame\n");
}

/* More than the budget gives is no share of it. */
static void print_overhead(FILE *stream, const run_summary *summary) {
  if (summary->options->virtual_clock || !isfinite(summary->overhead_per_update_ns)) return;
  fprintf(stream, "Overhead  %s per update, %s per frame, ", text_duration(summary->overhead_per_update_ns),
          text_duration(summary->overhead_per_frame_ns));
  if (summary->overhead_share > 1)
    fprintf(stream, "%.3g times the budget: raise --budget\n", summary->overhead_share);
  else
    fprintf(stream, "%s of the budget\n", text_share(summary->overhead_share));
}

/* What frames left though NPCs waited, and estimates that let them; nothing is said where they left nothing. */
static void print_idle(FILE *stream, const run_summary *summary) {
  const muster_statistics *sums = &summary->statistics;
  uint64_t all_ns = 0;
  if (sums->estimates_mended)
    fprintf(stream, "Mended    %s times estimates let periods stretch while the budget was idle\n",
            text_count(sums->estimates_mended));
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) all_ns += sums->idle_ns[i];
  if (!all_ns) return;
  fprintf(stream,
          "Idle      %s was left while NPCs waited: %s by x, %s too short for the updates that waited, %s for no "
          "known reason\n",
          text_duration((double)all_ns), text_duration((double)sums->idle_ns[MUSTER_IDLE_X]),
          text_duration((double)sums->idle_ns[MUSTER_IDLE_LONG]),
          text_duration((double)sums->idle_ns[MUSTER_IDLE_FAULT]));
}

/* By Amdahl's law. What one worker does alone may be work that others would share. */
static void print_serial(FILE *stream, const run_summary *summary) {
  if (!(summary->serial_share > 0)) return; /* not measured, or in virtual time */
  if (summary->options->workers > 1)
    fprintf(stream,
            "Serial    %s of the work is done while no other worker may work: any number of workers gives at most %s "
            "times the updates of one\n",
            text_share(summary->serial_share), text_times(1 / summary->serial_share));
  else
    fprintf(stream, "Serial    %s of the work is stages of the frame; more workers would share some of it\n",
            text_share(summary->serial_share));
}

/* Actions that run one after another have a limit of their own, which the host can lift. */
static void print_serial_acts(FILE *stream, const run_summary *summary) {
  if (!(summary->acts_serial_share > 0)) return;
  fprintf(
      stream,
      "Acts      %s of the work is actions that run one after another: they alone limit any number of workers to %s "
      "times the updates of one (act = MUSTER_ACT_REGION does not)\n",
      text_share(summary->acts_serial_share), text_times(1 / summary->acts_serial_share));
}

static void print_updates(FILE *stream, const run_summary *summary) {
  const muster_statistics *statistics = &summary->statistics;
  fprintf(stream, "Updates   %s (%s per frame); carried over %s times, preempted %s times\n",
          text_count(statistics->completed), text_count(statistics->completed / summary->record->frames),
          text_count(statistics->carried), text_count(statistics->preempted));
  if (statistics->nearby_cut)
    fprintf(stream, "          %s neighbour queries were cut: too many agents in one place\n",
            text_count(statistics->nearby_cut));
  print_overhead(stream, summary);
  print_idle(stream, summary);
  print_serial(stream, summary);
  print_serial_acts(stream, summary);
}

/* Where not even important agents fit, only more budget or fewer of them restores their periods. */
static void print_important(FILE *stream, const run_summary *summary) {
  if (summary->important_over_share > 0)
    fprintf(stream, "          important NPCs alone need %s times the budget, in %s of frames\n",
            text_times(summary->important_over_load), text_share(summary->important_over_share));
}

static void print_pressure(FILE *stream, const run_summary *summary) {
  fprintf(stream, "Pressure  mean %s, max %s (0 = wanted periods, 1 = the longest)\n",
          text_pressure(summary->pressure_mean), text_pressure(summary->record->pressure_max));
  if (summary->record->pressure_max >= TEXT_PRESSURE_MOST)
    fprintf(stream, "          over 1,000: frames whose budget left next to nothing for updates\n");
  fprintf(stream, "          updates took %s; planned: %s\n", text_processors(summary->utilisation_achieved),
          text_processors(summary->utilisation_desired));
  print_important(stream, summary);
  if (summary->period_deviation_ns > 0)
    fprintf(stream, "          periods stretched by %s on average\n", text_duration(summary->period_deviation_ns));
  else
    fprintf(stream, "          no period was stretched\n");
}

/* Where turns are few the bound is far beyond the run, which then shows nothing of it. */
static void print_wait(FILE *stream, const run_summary *summary) {
  if (!isfinite(summary->wait_bound_ns)) return;
  const char *wait = text_ns(summary->statistics.longest_wait_ns);
  const char *bound = text_duration(summary->wait_bound_ns);
  fprintf(stream, "Wait      longest %s from release to start; ", wait);
  if (summary->wait_within && summary->wait_bound_ns > summary->simulated_ns)
    fprintf(stream, "the guarantee is %s, longer than the run\n", bound);
  else
    fprintf(stream, "the guarantee is %s%s\n", bound, summary->wait_within ? "" : ": BROKEN");
}

static void print_levels(FILE *stream, const run_summary *summary) {
  fprintf(stream, "\nLevels    ");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++)
    fprintf(stream, "%s%u%s: %s", i ? ", " : "", i, i ? "" : " (best)", text_count(summary->record->last.levels[i]));
  fprintf(stream, "\nMemory    %s, %s per agent, %s of it for scheduling\n",
          text_bytes((double)summary->statistics.bytes_used), text_bytes(summary->bytes_per_agent),
          text_bytes(summary->scheduling_bytes_per_agent));
}

static void print_types(FILE *stream, const struct host *host) {
  const char *name;
  fprintf(stream, "\nCost by type          level    agents      mean       p95\n");
  for (muster_type type = {1}; (name = muster_type_name(host->world, type)) != NULL; type.index++)
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
      muster_type_cost cost = muster_type_cost_default();
      if (muster_type_cost_read(host->world, type, level, &cost)) break;
      if (cost.agents > 0)
        fprintf(stream, "  %-20.20s %5u %9s %9s %9s\n", name, level, text_count(cost.agents), text_ns(cost.mean_ns),
                text_ns(cost.high_ns));
    }
}

static void print_stages(FILE *stream, const run_summary *summary) {
  if (summary->options->virtual_clock) return;
  fprintf(stream, "\nStages    ");
  for (uint32_t i = 0; i < MUSTER_STAGES; i++)
    fprintf(stream, "%s%s %s", i ? ", " : "", text_stage((muster_stage)i), text_duration(summary->stage_ns[i]));
  fprintf(stream, "\n");
  if (summary->record->commits)
    fprintf(stream, "          for commits that were not put off, %s were kept, and they took %s\n",
            text_duration(summary->commit_kept_ns), text_duration(summary->commit_took_ns));
}

static void print_world(FILE *stream, const run_summary *summary) {
  const host_figures *figures = &summary->figures;
  fprintf(stream, "\nWorld     hash %016lx\n", summary->world_hash);
  for (uint32_t i = 0; i < figures->count; i++)
    fprintf(stream, "  %-24s %.10g\n", figures->names[i], figures->values[i]);
}

struct reported {
  const run_summary *summary;
  const struct host *host;
};

static void write_report(FILE *stream, const void *user) {
  const struct reported *reported = user;
  const run_summary *summary = reported->summary;
  print_title(stream, summary);
  print_frame_times(stream, summary);
  print_promise(stream, summary);
  print_machine(stream, summary);
  print_updates(stream, summary);
  print_pressure(stream, summary);
  print_wait(stream, summary);
  runaways_print(stream, &summary->runaways);
  fputc('\n', stream);
  bands_print(stream, columns_of(STDOUT_FILENO), summary->statistics.bands);
  print_levels(stream, summary);
  print_types(stream, reported->host);
  print_stages(stream, summary);
  print_world(stream, summary);
}

bool report_print(const run_summary *summary, const struct host *host) {
  struct reported reported = {summary, host};
  return columns_print_all(write_report, &reported);
}
