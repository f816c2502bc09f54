/* metrics_worlds.c - the families of the worlds: single numbers from a table, and families with further labels. */
#include "service/metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- single numbers */

typedef enum field_type {
  FIELD_U64 = 0,
  FIELD_U32,
  FIELD_NS,
  FIELD_FLOAT,
  FIELD_DOUBLE_NS,
  FIELD_BOOL,
  FIELD_QUANTILES
} field_type;

struct field {
  const char *name;
  exposition_kind kind;
  field_type type;
  size_t offset; /* in world_published, or in what the table is of */
  const char *help;
};

#define FIELD_OF(whole, kind, type, member, name, help)                                                                \
  { name, EXPOSITION_##kind, FIELD_##type, offsetof(whole, member), help }
#define FIELD(...) FIELD_OF(world_published, __VA_ARGS__)
#define BAND(...)  FIELD_OF(muster_band, __VA_ARGS__)
#define COST(...)  FIELD_OF(muster_type_cost, __VA_ARGS__)

static const struct field fields[] = {
    FIELD(COUNTER, U64, frames, "muster_frames_total", "Frames run since the start."),
    FIELD(COUNTER, U64, frames_late, "muster_frames_late_total", "Frames begun more than a period behind their time."),
    FIELD(GAUGE, NS, sim_now_ns, "muster_simulation_time_seconds", "Simulation time of the world."),
    FIELD(GAUGE, NS, budget_ns, "muster_frame_budget_seconds", "Wall time that a frame may take."),
    FIELD(GAUGE, NS, period_ns, "muster_frame_period_seconds", "Time from frame to frame."),
    FIELD(GAUGE, BOOL, paused, "muster_world_paused", "1 while the world stands still by command."),
    FIELD(GAUGE, BOOL, failed, "muster_world_failed", "1 when the world failed; it runs no more frames."),
    FIELD(COUNTER, NS, timings.update_cpu_ns, "muster_update_cpu_seconds_total",
          "Time inside claims of updates, all workers."),
    FIELD(COUNTER, NS, timings.overhead_ns, "muster_overhead_seconds_total",
          "Time of workers in frames that was neither inside atoms nor idle."),

    FIELD(GAUGE, U32, report.agents, "muster_agents", "Active agents."),
    FIELD(GAUGE, U32, report.agents_eased, "muster_agents_eased",
          "Agents at a cheaper level than their importance gives, because of the pressure."),
    FIELD(GAUGE, U32, report.agents_demoted, "muster_agents_demoted",
          "Agents kept from their upper levels by a penalty."),
    FIELD(GAUGE, U32, report.agents_quarantined, "muster_agents_quarantined", "Agents not run at all by a penalty."),
    FIELD(GAUGE, U32, report.types_quarantined, "muster_types_quarantined", "Types not run at all by a penalty."),
    FIELD(GAUGE, U32, report.spawns_waiting, "muster_spawns_waiting", "Agents spawned and not active yet."),
    FIELD(GAUGE, U32, report.commands_waiting, "muster_commands_waiting", "Commands left to the next intakes."),
    FIELD(GAUGE, U32, report.actions_waiting, "muster_actions_waiting", "Agents whose action atoms found no time yet."),
    FIELD(GAUGE, U32, report.score_waiting, "muster_score_waiting",
          "Observers, cells and agents that the score stage left to the next frames."),
    FIELD(GAUGE, U32, report.updates_max, "muster_updates_limit",
          "Most updates of a frame; 0 is no limit but the budget."),
    FIELD(GAUGE, FLOAT, report.pressure, "muster_pressure",
          "0: all at their wanted periods, 1: all at their longest, above 1: even that does not fit."),
    FIELD(GAUGE, FLOAT, report.important_load, "muster_important_load",
          "What agents above importance 3/4 alone want, in parts of the capacity; above 1 they share what there is."),
    FIELD(GAUGE, FLOAT, report.held_load, "muster_held_load",
          "What exempt agents and hard types want at least, in parts of the capacity; above 1/2 they shrink alike."),
    FIELD(GAUGE, FLOAT, report.share, "muster_share",
          "Of the time that updates could have had, the part that they are planned to use."),
    FIELD(GAUGE, FLOAT, report.utilisation_desired, "muster_utilisation_desired",
          "Processors that updates may use: workers x budget / period."),
    FIELD(GAUGE, FLOAT, report.utilisation_nominal, "muster_utilisation_nominal",
          "Processors that everything at its shortest period would take."),
    FIELD(GAUGE, FLOAT, report.utilisation_fitted, "muster_utilisation_fitted",
          "Processors that the fitted periods should take."),
    FIELD(GAUGE, NS, report.debt_ns, "muster_debt_seconds", "Overruns that no frame has made up for yet."),
    FIELD(GAUGE, NS, report.repaid_ns, "muster_repaid_seconds",
          "Of the last frame's budget, what made up for earlier overruns."),
    FIELD(GAUGE, DOUBLE_NS, report.period_deviation_ns, "muster_period_deviation_seconds",
          "Mean of fitted less wanted period over active agents."),
    FIELD(GAUGE, NS, report.longest_wait_ns, "muster_longest_wait_seconds",
          "Longest time from release to start among agents started or waiting in the last frame."),
    FIELD(GAUGE, NS, report.turn_longest_ns, "muster_longest_turn_seconds",
          "How long after its release the turn of any agent comes at the latest."),
    FIELD(GAUGE, U32, report.agents_late, "muster_agents_late",
          "Agents that wait although their turn should have come."),

    FIELD(COUNTER, U64, statistics.released, "muster_updates_released_total", "Agents that became due."),
    FIELD(COUNTER, U64, statistics.completed, "muster_updates_completed_total", "Updates completed."),
    FIELD(COUNTER, U64, statistics.carried, "muster_updates_carried_total",
          "Times that an agent was due in a frame and not started."),
    FIELD(COUNTER, U64, statistics.preempted, "muster_updates_preempted_total",
          "Updates stopped between two atoms by the end of the frame."),
    FIELD(COUNTER, U64, statistics.woken, "muster_updates_woken_total", "Agents released by a wake."),
    FIELD(COUNTER, U64, statistics.interrupted, "muster_updates_interrupted_total",
          "Updates that gave way to something more urgent between two atoms."),
    FIELD(COUNTER, U64, statistics.cycles, "muster_update_cycles_total",
          "Further cycles of updates, behind their first."),
    FIELD(COUNTER, U64, statistics.spawned, "muster_agents_spawned_total", "Agents that became active."),
    FIELD(COUNTER, U64, statistics.removed, "muster_agents_removed_total", "Agents removed."),
    FIELD(COUNTER, U64, statistics.spawns_refused, "muster_spawns_refused_total",
          "Spawns from inside updates beyond their limit or short of ids."),
    FIELD(COUNTER, U64, statistics.positions_refused, "muster_positions_refused_total",
          "Moves to places that are not finite or out of range."),
    FIELD(COUNTER, U64, statistics.commands_dropped, "muster_commands_dropped_total",
          "Commands from inside updates, more than fit."),
    FIELD(COUNTER, U64, statistics.nearby_cut, "muster_nearby_cut_total",
          "Neighbour queries in a crowd that did not look at every agent."),
    FIELD(COUNTER, U64, statistics.sets_cut, "muster_sets_cut_total", "Times that a set of some agent was cut."),
    FIELD(COUNTER, U64, statistics.wakes_delayed, "muster_wakes_delayed_total",
          "Wakes that waited for the end of their type's gap."),
    FIELD(COUNTER, U64, statistics.wakes_timed, "muster_wakes_timed_total", "Times asked for that came."),
    FIELD(COUNTER, U64, statistics.reactions_met, "muster_reactions_met_total",
          "Reactions asked for by a time that began in time."),
    FIELD(COUNTER, U64, statistics.reactions_late, "muster_reactions_late_total", "Reactions that began late."),
    FIELD(COUNTER, U64, statistics.score_rounds, "muster_score_rounds_total",
          "Times that every agent's importance had to be looked at."),
    FIELD(COUNTER, U64, statistics.importances_refused, "muster_importances_refused_total",
          "Answers of importance models that had to be clamped."),
    FIELD(COUNTER, U64, statistics.results_refused, "muster_results_refused_total",
          "Answers of atoms that are none, or not allowed there."),
    FIELD(COUNTER, U64, statistics.messages_sent, "muster_messages_sent_total", "Messages delivered and dropped."),
    FIELD(COUNTER, U64, statistics.messages_delivered, "muster_messages_delivered_total", "Messages put into a box."),
    FIELD(COUNTER, U64, statistics.messages_dropped, "muster_messages_dropped_total", "Messages that found no room."),
    FIELD(COUNTER, U64, statistics.messages_refused, "muster_messages_refused_total",
          "Messages that their sender had no place for."),
    FIELD(COUNTER, U64, statistics.atoms_over_limit, "muster_atoms_over_limit_total",
          "Atoms seen to take more CPU time than their type's limit."),
    FIELD(COUNTER, U64, statistics.atoms_blocked, "muster_atoms_blocked_total",
          "Atoms seen to be blocked for longer than their type's limit."),
    FIELD(COUNTER, U64, statistics.demotions, "muster_demotions_total", "Agents and types demoted for their conduct."),
    FIELD(COUNTER, U64, statistics.quarantines, "muster_quarantines_total", "Agents and types put into quarantine."),
    FIELD(COUNTER, U64, statistics.pardons, "muster_pardons_total", "Agents and types pardoned."),
    FIELD(COUNTER, U64, statistics.stuck, "muster_stuck_total", "Times that a worker was stuck in an atom."),
    FIELD(GAUGE, U64, statistics.bytes_used, "muster_memory_used_bytes", "All stores of the world, as far as in use."),
    FIELD(GAUGE, U64, statistics.bytes_scheduling, "muster_memory_scheduling_bytes",
          "Of these, what is not the types' own state."),

    FIELD(GAUGE, U64, report.represented, "muster_individuals",
          "Individuals of the world: herd members and other agents together."),
    FIELD(GAUGE, U32, report.leaves, "muster_herd_leaves", "Agents that membranes of herds consist of."),
    FIELD(GAUGE, U32, report.herds_folded, "muster_herds_folded", "Herds that are folded."),
    FIELD(GAUGE, U32, report.herds_unfolded, "muster_herds_unfolded", "Herds that are unfolded."),
    FIELD(GAUGE, U32, report.changes_waiting, "muster_herd_changes_waiting",
          "Nodes that are to be folded or unfolded by the next intakes."),
    FIELD(COUNTER, U64, statistics.folds, "muster_herd_folds_total", "Nodes of herds folded."),
    FIELD(COUNTER, U64, statistics.unfolds, "muster_herd_unfolds_total", "Nodes of herds unfolded."),
    FIELD(COUNTER, U64, statistics.folds_refused, "muster_herd_folds_refused_total", "Folds refused by a callback."),
    FIELD(COUNTER, U64, statistics.unfolds_refused, "muster_herd_unfolds_refused_total",
          "Unfoldings without room or refused by a callback."),
    FIELD(COUNTER, U64, statistics.changes_in_sight, "muster_herd_changes_in_sight_total",
          "Folds and unfoldings near an observer."),
    FIELD(COUNTER, U64, statistics.herds_refused, "muster_herd_blocks_refused_total",
          "What updates of blocks left out of range."),
    FIELD(GAUGE, U64, statistics.bytes_folded, "muster_memory_folded_bytes", "Folded herds."),
    FIELD(GAUGE, U64, statistics.bytes_unfolded, "muster_memory_unfolded_bytes",
          "Unfolded herds, without their agents."),
};

static exposition_labels labels_of(const metrics_world *world) {
  return (exposition_labels){1, {{"world", world->name}}};
}

static void begin_family(struct exposition *exposition, const struct field *field) {
  exposition_begin(exposition, field->name, field->kind, field->help);
}

static void write_quantiles(struct exposition *exposition, const exposition_labels *labels,
                            const muster_quantiles *quantiles) {
  const struct {
    const char *quantile;
    uint64_t value_ns;
  } samples[] = {{"0.5", quantiles->p50_ns}, {"0.99", quantiles->p99_ns}, {"1", quantiles->max_ns}};
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    exposition_labels own = exposition_with(labels, "quantile", samples[i].quantile);
    exposition_write(exposition, "", &own, (double)samples[i].value_ns / 1e9);
  }
}

/* Writes the field of `whole`. */
static void write_field(struct exposition *exposition, const exposition_labels *labels, const struct field *field,
                        const void *whole) {
  const void *at = (const char *)whole + field->offset;
  switch (field->type) {
  case FIELD_U64:
    exposition_write_count(exposition, "", labels, *(const uint64_t *)at);
    break;
  case FIELD_U32:
    exposition_write_count(exposition, "", labels, *(const uint32_t *)at);
    break;
  case FIELD_NS:
    exposition_write(exposition, "", labels, (double)*(const uint64_t *)at / 1e9);
    break;
  case FIELD_FLOAT:
    exposition_write(exposition, "", labels, (double)*(const float *)at);
    break;
  case FIELD_DOUBLE_NS:
    exposition_write(exposition, "", labels, *(const double *)at / 1e9);
    break;
  case FIELD_BOOL:
    exposition_write_count(exposition, "", labels, *(const bool *)at);
    break;
  case FIELD_QUANTILES:
    write_quantiles(exposition, labels, at);
  }
}

static void render_fields(struct exposition *exposition, const metrics_facts *facts) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    begin_family(exposition, &fields[i]);
    for (uint32_t w = 0; w < facts->world_count; w++) {
      exposition_labels labels = labels_of(&facts->worlds[w]);
      write_field(exposition, &labels, &fields[i], &facts->worlds[w].published);
    }
  }
}

/* ----------------------------------------------------------------------------------------------------- histograms */

/* Writes cumulative buckets, as Prometheus requires. */
struct cumulative {
  struct exposition *exposition;
  exposition_labels labels;
  uint64_t count;
};

static void write_bucket(struct cumulative *cumulative, uint64_t bound_ns, uint64_t more) {
  char bound[32] = "+Inf";
  if (bound_ns != UINT64_MAX) snprintf(bound, sizeof bound, "%.9g", (double)bound_ns / 1e9);
  exposition_labels labels = exposition_with(&cumulative->labels, "le", bound);
  cumulative->count += more;
  exposition_write_count(cumulative->exposition, "_bucket", &labels, cumulative->count);
}

static void write_totals(const struct cumulative *cumulative, uint64_t sum_ns) {
  exposition_write(cumulative->exposition, "_sum", &cumulative->labels, (double)sum_ns / 1e9);
  exposition_write_count(cumulative->exposition, "_count", &cumulative->labels, cumulative->count);
}

static void write_timing(struct exposition *exposition, const exposition_labels *labels, const struct timing *timing) {
  struct cumulative cumulative = {exposition, *labels, 0};
  for (uint32_t i = 0; i < TIMING_BUCKETS; i++) write_bucket(&cumulative, timing_bound_ns(i), timing->counts[i]);
  write_totals(&cumulative, timing->sum_ns);
}

static void render_timing(struct exposition *exposition, const metrics_facts *facts, const char *name, size_t offset,
                          const char *help) {
  exposition_begin(exposition, name, EXPOSITION_HISTOGRAM, help);
  for (uint32_t w = 0; w < facts->world_count; w++) {
    exposition_labels labels = labels_of(&facts->worlds[w]);
    const char *timings = (const char *)&facts->worlds[w].published.timings;
    write_timing(exposition, &labels, (const struct timing *)(timings + offset));
  }
}

static void render_stages(struct exposition *exposition, const metrics_facts *facts) {
  static const char *const names[MUSTER_STAGES] = {"intake",  "score", "fold", "fit",
                                                   "release", "rank",  "run",  "commit"};
  exposition_begin(exposition, "muster_stage_seconds", EXPOSITION_HISTOGRAM, "Wall time of the stages of a frame.");
  for (uint32_t w = 0; w < facts->world_count; w++)
    for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
      exposition_labels world = labels_of(&facts->worlds[w]), labels = exposition_with(&world, "stage", names[i]);
      write_timing(exposition, &labels, &facts->worlds[w].published.timings.stages[i]);
    }
}

static void render_update_times(struct exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_update_seconds", EXPOSITION_HISTOGRAM,
                   "Time of updates that were timed: long ones, and one claim of sixteen of short ones.");
  for (uint32_t w = 0; w < facts->world_count; w++) {
    const muster_statistics *statistics = &facts->worlds[w].published.statistics;
    struct cumulative cumulative = {exposition, labels_of(&facts->worlds[w]), 0};
    for (uint32_t i = 0; i < MUSTER_UPDATE_TIMES; i++)
      write_bucket(&cumulative, muster_update_time_bound(i), statistics->update_times[i]);
    write_totals(&cumulative, statistics->update_times_ns);
  }
}

/* --------------------------------------------------------------------------------------------------------- labels */

static const char digits[10][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static void render_levels(struct exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_level_agents", EXPOSITION_GAUGE, "Active agents per capability level.");
  for (uint32_t w = 0; w < facts->world_count; w++)
    for (uint32_t i = 0; i < MUSTER_LEVELS; i++) {
      exposition_labels world = labels_of(&facts->worlds[w]), labels = exposition_with(&world, "level", digits[i]);
      exposition_write_count(exposition, "", &labels, facts->worlds[w].published.report.levels[i]);
    }
}

/* ------------------------------------------------------------------------------------------ bands of importance */

static const struct field band_fields[] = {
    BAND(GAUGE, U32, agents, "muster_band_agents",
         "Agents with a period, by the greatest importance in their band: 0, or above the band before."),
    BAND(GAUGE, U32, agents_beyond_wish, "muster_band_agents_beyond_wish",
         "Of these, those whose period is longer than their type wishes."),
    BAND(GAUGE, NS, wanted_ns, "muster_band_wanted_period_seconds", "Their wanted period, mean over rates."),
    BAND(GAUGE, NS, period_ns, "muster_band_period_seconds", "Their period by the rule in force, mean over rates."),
    BAND(GAUGE, NS, interval_ns, "muster_band_interval_seconds",
         "What they got since the start: agent seconds by updates, agents that never ran included."),
    BAND(COUNTER, DOUBLE_NS, agent_time_ns, "muster_band_agent_seconds_total",
         "Simulation time lived by agents in the band; its rate by that of the updates is the interval of a while."),
    BAND(COUNTER, U64, completed, "muster_band_updates_total", "Updates completed by agents in the band."),
    BAND(SUMMARY, QUANTILES, staleness, "muster_staleness_seconds",
         "Time between updates that were completed, by band."),
    BAND(SUMMARY, QUANTILES, age, "muster_age_seconds",
         "Time since the last update at the ends of frames, by band; of some agents in each frame."),
};

/* A band is named by its greatest importance. Without updates it has no interval. */
static void render_band(struct exposition *exposition, const metrics_facts *facts, const struct field *field) {
  static const char *const ends[MUSTER_BANDS] = {"0", "0.25", "0.5", "0.75", "1"};
  for (uint32_t w = 0; w < facts->world_count; w++)
    for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
      const muster_band *band = &facts->worlds[w].published.statistics.bands[i];
      exposition_labels world = labels_of(&facts->worlds[w]), labels = exposition_with(&world, "band", ends[i]);
      if (field->offset != offsetof(muster_band, interval_ns) || band->completed)
        write_field(exposition, &labels, field, band);
    }
}

static void render_importance(struct exposition *exposition, const metrics_facts *facts) {
  for (size_t i = 0; i < sizeof band_fields / sizeof *band_fields; i++) {
    begin_family(exposition, &band_fields[i]);
    render_band(exposition, facts, &band_fields[i]);
  }
}

/* --------------------------------------------------------------------------------------------------------- types */

/* Two types may have the same name; two series must not. */
static const char *label_of_type(const world_published *published, uint32_t number, char text[64]) {
  const char *name = published->types[number].name;
  for (uint32_t i = 0; i < number; i++)
    if (strcmp(published->types[i].name, name) == 0) {
      snprintf(text, 64, "%s#%u", name, number + 1);
      return text;
    }
  return name;
}

/* A level at which no agent is, or ever was, is left out. */
static void render_costs(struct exposition *exposition, const metrics_facts *facts, const struct field *field) {
  char text[64];
  for (uint32_t w = 0; w < facts->world_count; w++) {
    const world_published *published = &facts->worlds[w].published;
    for (uint32_t t = 0; t < published->type_count; t++) {
      exposition_labels world = labels_of(&facts->worlds[w]);
      exposition_labels type = exposition_with(&world, "type", label_of_type(published, t, text));
      for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
        const muster_type_cost *cost = &published->types[t].costs[level];
        exposition_labels labels = exposition_with(&type, "level", digits[level]);
        if (cost->agents || cost->samples) write_field(exposition, &labels, field, cost);
      }
    }
  }
}

static void render_types(struct exposition *exposition, const metrics_facts *facts) {
  static const struct field cost_fields[] = {
      COST(GAUGE, U32, agents, "muster_type_agents", "Active agents per type and level."),
      COST(GAUGE, NS, mean_ns, "muster_type_update_mean_seconds", "Moving mean of an update's cost."),
      COST(GAUGE, NS, high_ns, "muster_type_update_p95_seconds", "Moving 95th percentile of an update's cost."),
      COST(COUNTER, U64, samples, "muster_type_updates_timed_total", "Updates whose cost was measured."),
  };
  for (size_t i = 0; i < sizeof cost_fields / sizeof *cost_fields; i++) {
    begin_family(exposition, &cost_fields[i]);
    render_costs(exposition, facts, &cost_fields[i]);
  }
}

static void render_ages(struct exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_frame_age_seconds", EXPOSITION_GAUGE, "Time since the last frame's end.");
  for (uint32_t w = 0; w < facts->world_count; w++) {
    uint64_t end_ns = facts->worlds[w].published.frame_end_ns;
    exposition_labels labels = labels_of(&facts->worlds[w]);
    if (end_ns)
      exposition_write(exposition, "", &labels, facts->now_ns > end_ns ? (double)(facts->now_ns - end_ns) / 1e9 : 0);
  }
}

void metrics_render_worlds(struct exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_world_info", EXPOSITION_GAUGE, "1, with the module that a world runs.");
  for (uint32_t w = 0; w < facts->world_count; w++) {
    exposition_labels world = labels_of(&facts->worlds[w]);
    exposition_labels labels = exposition_with(&world, "module", facts->worlds[w].module);
    exposition_write_count(exposition, "", &labels, 1);
  }
  render_fields(exposition, facts);
  render_ages(exposition, facts);
  render_timing(exposition, facts, "muster_frame_seconds", offsetof(world_timings, frame), "Wall time of frames.");
  render_timing(exposition, facts, "muster_overrun_seconds", offsetof(world_timings, overrun_wall),
                "Wall time of frames past their budget, the kernel's doing included.");
  render_timing(exposition, facts, "muster_overrun_own_seconds", offsetof(world_timings, overrun_own),
                "Processor time that workers spent after the end of the budget, of audited frames. The promise allows "
                "the frame's longest atom and 20 us.");
  render_stages(exposition, facts);
  render_update_times(exposition, facts);
  render_levels(exposition, facts);
  render_importance(exposition, facts);
  render_types(exposition, facts);
}
