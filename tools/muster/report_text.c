#include "report_text.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>

static void print_title(FILE *stream, const run_summary *summary) {
  const run_options *options = summary->options;
  char agents[TEXT_BYTES], frames[TEXT_BYTES], budget[TEXT_BYTES];
  text_count(agents, summary->agents);
  text_count(frames, summary->frames);
  text_duration(budget, (double)options->budget_ns);
  fprintf(stream, "\n%s: %s agents, %u observer%s, seed %" PRIu64 "\n", summary->scenario, agents, summary->observers,
          summary->observers == 1 ? "" : "s", options->seed);
  fprintf(stream, "%s frames at %g Hz on %u worker%s, budget %s, %s clock%s\n", frames, (double)options->rate / 1000.0,
          options->workers, options->workers == 1 ? "" : "s", budget, options->virtual_clock ? "virtual" : "wall",
          summary->interrupted ? "; interrupted" : "");
}

static void print_bar(FILE *stream, const char *name, double value_ns, double budget_ns, double full_ns) {
  char duration[TEXT_BYTES], bar[TEXT_BAR_CELLS + 1];
  fprintf(stream, "  %-6s %9s  %s\n", name, text_duration(duration, value_ns),
          text_bar(bar, value_ns, budget_ns, full_ns));
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

static void print_promise(FILE *stream, const run_summary *summary) {
  char kept[TEXT_BYTES], own[TEXT_BYTES], claim[TEXT_BYTES], used[TEXT_BYTES];
  fprintf(stream, "\nPromise   ");
  if (!summary->own_known) {
    fprintf(stream, "not measured; add --audit\n");
    return;
  }
  fprintf(stream, "kept in %s of frames (own overrun at most the longest claim + 20 us)\n",
          text_share(kept, summary->kept_share));
  if (summary->machine_frames)
    fprintf(stream, "          threads that only read the clocks until the deadline, after each frame, kept %s\n",
            text_share(kept, summary->machine_kept_share));
  if (summary->machine_missed)
    fprintf(stream, "          (%" PRIu64 " times one of them woke too late to see anything, which counts as kept)\n",
            summary->machine_missed);
  fprintf(stream, "          own overrun p99 %s, longest claim %s\n",
          text_duration(own, (double)summary->overrun_own_ns.p99),
          text_duration(claim, (double)summary->longest_claim_ns));
  if (isfinite(summary->budget_used_share))
    fprintf(stream, "          %s of the CPU given was used while work waited\n",
            text_share(used, summary->budget_used_share));
  else
    fprintf(stream, "          no work ever waited for the next frame\n");
}

static void print_updates(FILE *stream, const run_summary *summary) {
  const muster_statistics *statistics = &summary->statistics;
  char completed[TEXT_BYTES], each[TEXT_BYTES], carried[TEXT_BYTES], preempted[TEXT_BYTES];
  char update[TEXT_BYTES], frame[TEXT_BYTES], share[TEXT_BYTES];
  fprintf(stream, "Updates   %s (%s per frame); carried over %s times, preempted %s times\n",
          text_count(completed, statistics->completed), text_count(each, statistics->completed / summary->frames),
          text_count(carried, statistics->carried), text_count(preempted, statistics->preempted));
  if (summary->options->virtual_clock || !isfinite(summary->overhead_per_update_ns)) return;
  fprintf(stream, "Overhead  %s per update, %s per frame, %s of the capacity\n",
          text_duration(update, summary->overhead_per_update_ns), text_duration(frame, summary->overhead_per_frame_ns),
          text_share(share, summary->overhead_share));
}

static void print_pressure(FILE *stream, const run_summary *summary) {
  char desired[TEXT_BYTES], achieved[TEXT_BYTES], deviation[TEXT_BYTES], wait[TEXT_BYTES], bound[TEXT_BYTES];
  fprintf(stream, "Pressure  mean %.2f, max %.2f (0 = all at wanted periods, 1 = all at their longest)\n",
          summary->pressure_mean, summary->pressure_max);
  fprintf(stream, "          utilisation %s of %s wanted, periods stretched by %s on average\n",
          text_share(achieved, summary->utilisation_achieved), text_share(desired, summary->utilisation_desired),
          text_duration(deviation, summary->period_deviation_ns));
  text_duration(wait, (double)summary->statistics.longest_wait_ns);
  if (isfinite(summary->wait_bound_ns))
    fprintf(stream, "Wait      longest %s from release to start; the guarantee is %s%s\n", wait,
            text_duration(bound, summary->wait_bound_ns), summary->wait_within ? "" : ": BROKEN");
}

static void print_staleness(FILE *stream, const muster_statistics *statistics) {
  char p50[TEXT_BYTES], p99[TEXT_BYTES], max[TEXT_BYTES];
  fprintf(stream, "\nStaleness by importance     p50       p99       max\n");
  for (uint32_t i = MUSTER_DECILES; i-- > 0;) {
    const muster_quantiles *decile = &statistics->staleness[i];
    const char *note = i == MUSTER_DECILES - 1 ? "most" : i == 0 ? "least" : "";
    fprintf(stream, "  %3u - %3u %%  %-5s %9s %9s %9s\n", i * 10, i * 10 + 10, note,
            text_duration(p50, (double)decile->p50_ns), text_duration(p99, (double)decile->p99_ns),
            text_duration(max, (double)decile->max_ns));
  }
}

static void print_levels(FILE *stream, const run_summary *summary) {
  char count[TEXT_BYTES], total[TEXT_BYTES], each[TEXT_BYTES], scheduling[TEXT_BYTES];
  fprintf(stream, "\nLevels    ");
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++)
    fprintf(stream, "%s%u: %s", i ? ", " : "", i, text_count(count, summary->levels[i]));
  fprintf(stream, "\nMemory    %s, %s per agent, %s of it for scheduling\n",
          text_bytes(total, (double)summary->statistics.bytes_used), text_bytes(each, summary->bytes_per_agent),
          text_bytes(scheduling, summary->scheduling_bytes_per_agent));
}

static void print_type(FILE *stream, const host *host, muster_type type, const char *name) {
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    muster_type_cost cost = muster_default_type_cost();
    char agents[TEXT_BYTES], mean[TEXT_BYTES], high[TEXT_BYTES];
    if (!muster_type_cost_read(host->world, type, level, &cost)) return;
    if (cost.agents == 0) continue;
    fprintf(stream, "  %-20.20s %5u %9s %9s %9s\n", name, level, text_count(agents, cost.agents),
            text_duration(mean, (double)cost.mean_ns), text_duration(high, (double)cost.high_ns));
  }
}

static void print_types(FILE *stream, const host *host) {
  const char *name;
  fprintf(stream, "\nCost by type          level    agents      mean       p95\n");
  for (uint32_t i = 1; (name = muster_type_name(host->world, (muster_type){i})) != NULL; i++)
    print_type(stream, host, (muster_type){i}, name);
}

static void print_stages(FILE *stream, const run_summary *summary) {
  char duration[TEXT_BYTES];
  if (summary->options->virtual_clock) return;
  fprintf(stream, "\nStages    ");
  for (uint32_t i = 0; i < MUSTER_STAGES; i++)
    fprintf(stream, "%s%s %s",
            i == 4 ? ",\n          "
            : i    ? ", "
                   : "",
            stage_name((muster_stage)i), text_duration(duration, summary->stage_ns[i]));
  fprintf(stream, "\n");
}

static void print_world(FILE *stream, const run_summary *summary) {
  const host_figures *figures = &summary->figures;
  fprintf(stream, "\nWorld     hash %016" PRIx64 "\n", summary->world_hash);
  for (uint32_t i = 0; i < figures->count; i++)
    fprintf(stream, "  %-24s %.10g\n", figures->names[i], figures->values[i]);
}

void report_text(FILE *stream, const run_summary *summary, const host *host) {
  print_title(stream, summary);
  print_frame_times(stream, summary);
  print_promise(stream, summary);
  print_updates(stream, summary);
  print_pressure(stream, summary);
  runaways_print(stream, &summary->runaways);
  print_staleness(stream, &summary->statistics);
  print_levels(stream, summary);
  print_types(stream, host);
  print_stages(stream, summary);
  print_world(stream, summary);
}
