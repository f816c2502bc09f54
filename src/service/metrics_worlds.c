/* metrics_worlds.c - the families of the worlds: single numbers from a table, and families with further labels. */
#include "service/metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- single numbers */

typedef enum field_type { OF_U64 = 0, OF_U32, OF_FLOAT, OF_DOUBLE, OF_BOOL, OF_QUANTILES, OF_TIMING } field_type;

/* A duration is in nanoseconds, and in seconds where its family's name says so. */
struct field {
  field_type type;
  size_t offset; /* in world_published, or in what the table is of */
  const char *name, *help;
};

#define TYPE_OF(value)                                                                                                 \
  _Generic(value, uint64_t                                                                                             \
           : OF_U64, uint32_t                                                                                          \
           : OF_U32, float                                                                                             \
           : OF_FLOAT, double                                                                                          \
           : OF_DOUBLE, bool                                                                                           \
           : OF_BOOL, muster_quantiles                                                                                 \
           : OF_QUANTILES, struct timing                                                                               \
           : OF_TIMING)
#define FIELD_OF(whole, member, name, help)                                                                            \
  { TYPE_OF(((whole *)0)->member), offsetof(whole, member), name, help }
#define FIELD(...)          FIELD_OF(world_published, __VA_ARGS__)
#define REPORT(member, ...) FIELD(report.member, __VA_ARGS__)
#define STATS(member, ...)  FIELD(statistics.member, __VA_ARGS__)
#define KEPT(member, ...)   FIELD(journal.member, __VA_ARGS__)
#define ZONED(member, ...)  FIELD(zone.member, __VA_ARGS__)
#define BAND(...)           FIELD_OF(muster_band, __VA_ARGS__)
#define COST(...)           FIELD_OF(muster_type_cost, __VA_ARGS__)

static const struct field fields[] = {
    FIELD(frames, "muster_frames_total", "Frames run since the start."),
    FIELD(frames_late, "muster_frames_late_total", "Frames begun more than a period behind their time."),
    FIELD(sim_now_ns, "muster_simulation_time_seconds", "Simulation time of the world."),
    FIELD(budget_ns, "muster_frame_budget_seconds", "Wall time that a frame may take."),
    FIELD(period_ns, "muster_frame_period_seconds", "Time from frame to frame."),
    FIELD(paused, "muster_world_paused", "1 while the world stands still by command."),
    FIELD(failed, "muster_world_failed", "1 when the world failed; it runs no more frames."),
    FIELD(timings.update_cpu_ns, "muster_update_cpu_seconds_total", "Time inside claims of updates, all workers."),
    FIELD(timings.overhead_ns, "muster_overhead_seconds_total",
          "Time of workers in frames that was neither inside atoms nor idle."),

    REPORT(agents, "muster_agents", "Active agents."),
    REPORT(agents_shed, "muster_agents_shed",
           "Agents at a cheaper level than their importance gives, because of the pressure."),
    REPORT(agents_demoted, "muster_agents_demoted", "Agents kept from their upper levels by a penalty."),
    REPORT(agents_quarantined, "muster_agents_quarantined", "Agents not run at all by a penalty."),
    REPORT(types_quarantined, "muster_types_quarantined", "Types not run at all by a penalty."),
    REPORT(spawns_waiting, "muster_spawns_waiting", "Agents spawned and not active yet."),
    REPORT(commands_waiting, "muster_commands_waiting", "Commands left to the next intakes."),
    REPORT(actions_waiting, "muster_actions_waiting", "Agents whose action atoms found no time yet."),
    REPORT(score_waiting, "muster_score_waiting",
           "Observers, cells and agents that the score stage left to the next frames."),
    REPORT(updates_max, "muster_updates_limit", "Most updates of a frame; 0 is no limit but the budget."),
    REPORT(pressure, "muster_pressure",
           "0: all at their wanted periods, 1: all at their longest, above 1: even that does not fit."),
    REPORT(important_load, "muster_important_load",
           "What agents above importance 3/4 alone want, in parts of the capacity; above 1 they share what there is."),
    REPORT(held_load, "muster_held_load",
           "What exempt agents and hard types want at least, in parts of the capacity; above 1/2 they shrink alike."),
    REPORT(elapsed_load, "muster_elapsed_load",
           "What the time that passes costs by itself, in parts of the capacity; above 1 no period can help."),
    REPORT(agents_put_off, "muster_agents_put_off", "Agents that are put off because of it."),
    REPORT(share, "muster_share", "Of the time that updates could have had, the part that they are planned to use."),
    REPORT(utilisation_desired, "muster_utilisation_desired",
           "Processors that updates may use: workers x budget / period."),
    REPORT(utilisation_nominal, "muster_utilisation_nominal",
           "Processors that everything at its shortest period would take."),
    REPORT(utilisation_fitted, "muster_utilisation_fitted", "Processors that the fitted periods should take."),
    REPORT(debt_ns, "muster_debt_seconds", "Overruns that no frame has made up for yet."),
    REPORT(repaid_ns, "muster_repaid_seconds", "Of the last frame's budget, what made up for earlier overruns."),
    REPORT(period_deviation_ns, "muster_period_deviation_seconds",
           "Mean of fitted less wanted period over active agents."),
    REPORT(longest_wait_ns, "muster_longest_wait_seconds",
           "Longest time from release to start among agents started or waiting in the last frame."),
    REPORT(turn_longest_ns, "muster_longest_turn_seconds",
           "How long after its release the turn of any agent comes at the latest."),
    REPORT(agents_late, "muster_agents_late", "Agents that wait although their turn should have come."),

    STATS(released, "muster_updates_released_total", "Agents that became due."),
    STATS(completed, "muster_updates_completed_total", "Updates completed."),
    STATS(carried, "muster_updates_carried_total", "Times that an agent was due in a frame and not started."),
    STATS(preempted, "muster_updates_preempted_total", "Updates stopped between two atoms by the end of the frame."),
    STATS(woken, "muster_updates_woken_total", "Agents released by a wake."),
    STATS(interrupted, "muster_updates_interrupted_total",
          "Updates that gave way to something more urgent between two atoms."),
    STATS(cycles, "muster_update_cycles_total", "Further cycles of updates, behind their first."),
    STATS(spawned, "muster_agents_spawned_total", "Agents that became active."),
    STATS(removed, "muster_agents_removed_total", "Agents removed."),
    STATS(spawns_refused, "muster_spawns_refused_total",
          "Spawns from inside updates beyond their limit or short of ids."),
    STATS(positions_refused, "muster_positions_refused_total", "Moves to places that are not finite or out of range."),
    STATS(commands_dropped, "muster_commands_dropped_total", "Commands from inside updates, more than fit."),
    STATS(nearby_cut, "muster_nearby_cut_total", "Neighbour queries in a crowd that did not look at every agent."),
    STATS(sets_cut, "muster_sets_cut_total", "Times that a set of some agent was cut."),
    STATS(wakes_delayed, "muster_wakes_delayed_total", "Wakes that waited for the end of their type's gap."),
    STATS(wakes_timed, "muster_wakes_timed_total", "Times asked for that came."),
    STATS(reactions_met, "muster_reactions_met_total", "Reactions asked for by a time that began in time."),
    STATS(reactions_late, "muster_reactions_late_total", "Reactions that began late."),
    STATS(score_rounds, "muster_score_rounds_total", "Times that every agent's importance had to be looked at."),
    STATS(importances_refused, "muster_importances_refused_total",
          "Answers of importance models that had to be clamped."),
    STATS(results_refused, "muster_results_refused_total", "Answers of atoms that are none, or not allowed there."),
    STATS(messages_sent, "muster_messages_sent_total", "Messages delivered and dropped."),
    STATS(messages_delivered, "muster_messages_delivered_total", "Messages put into a box."),
    STATS(messages_dropped, "muster_messages_dropped_total", "Messages that found no room."),
    STATS(messages_refused, "muster_messages_refused_total", "Messages that their sender had no place for."),
    STATS(atoms_over_limit, "muster_atoms_over_limit_total",
          "Atoms seen to take more CPU time than their type's limit."),
    STATS(atoms_blocked, "muster_atoms_blocked_total", "Atoms seen to be blocked for longer than their type's limit."),
    STATS(demotions, "muster_demotions_total", "Agents and types demoted for overruns of their atoms."),
    STATS(quarantines, "muster_quarantines_total", "Agents and types put into quarantine."),
    STATS(reinstated, "muster_reinstated_total", "Agents and types reinstated."),
    STATS(stuck, "muster_stuck_total", "Times that a worker was stuck in an atom."),
    STATS(serial_share, "muster_serial_share",
          "Part of the workers' time in which only the frame's thread may work: 1 / it is the most that workers give."),
    STATS(serial_ns, "muster_serial_seconds_total", "Time of the frame's thread in which no other worker may work."),
    STATS(work_ns, "muster_work_seconds_total", "Time of all workers in frames: updates and stages."),
    STATS(idle_ns[MUSTER_IDLE_FAULT], "muster_idle_fault_seconds_total",
          "Time of workers that frames left though NPCs waited, for no known reason."),
    STATS(idle_frames[MUSTER_IDLE_FAULT], "muster_idle_fault_frames_total", "Frames that left some."),
    STATS(idle_ns[MUSTER_IDLE_X], "muster_idle_at_x_seconds_total",
          "The same, where the most updates of a frame were reached."),
    STATS(idle_ns[MUSTER_IDLE_LONG], "muster_idle_long_seconds_total",
          "The same, where each update that waited was believed to take longer than what was left."),
    STATS(
        estimates_mended, "muster_estimates_mended_total",
        "Times that periods were found stretched while the budget was idle, and what is believed of costs was mended."),
    STATS(bytes_used, "muster_memory_used_bytes", "All stores of the world, as far as in use."),
    STATS(bytes_scheduling, "muster_memory_scheduling_bytes", "Of these, what is not the types' own state."),

    REPORT(represented, "muster_individuals", "Individuals of the world: herd members and other agents together."),
    REPORT(leaves, "muster_herd_leaves", "Agents that membranes of herds consist of."),
    REPORT(herds_folded, "muster_herds_folded", "Herds that are folded."),
    REPORT(herds_unfolded, "muster_herds_unfolded", "Herds that are unfolded."),
    REPORT(changes_waiting, "muster_herd_changes_waiting",
           "Nodes that are to be folded or unfolded by the next intakes."),
    STATS(folds, "muster_herd_folds_total", "Nodes of herds folded."),
    STATS(unfolds, "muster_herd_unfolds_total", "Nodes of herds unfolded."),
    STATS(folds_refused, "muster_herd_folds_refused_total", "Folds refused by a callback."),
    STATS(unfolds_refused, "muster_herd_unfolds_refused_total", "Unfoldings without room or refused by a callback."),
    STATS(changes_in_sight, "muster_herd_changes_in_sight_total", "Folds and unfoldings near an observer."),
    STATS(herds_refused, "muster_herd_blocks_refused_total", "What updates of blocks left out of range."),
    STATS(bytes_folded, "muster_memory_folded_bytes", "Folded herds."),
    STATS(bytes_unfolded, "muster_memory_unfolded_bytes", "Unfolded herds, without their agents."),

    KEPT(on, "muster_journal_on", "1 while a crash loses no frame but the one that it happens in."),
    KEPT(broken, "muster_journal_broken", "1 when the journal ended by itself, or its frames could not be run again."),
    KEPT(holds, "muster_journal_holds", "1 while the predicted recovery stays under recovery_max."),
    KEPT(recovery_ns, "muster_journal_recovery_seconds", "How long the world would take to come back, predicted."),
    KEPT(frames_written, "muster_journal_frames_written", "The last frame of the world that is in the journal."),
    KEPT(frames_safe, "muster_journal_frames_safe", "The last frame that is as safe as journal_sync asks for."),
    KEPT(bytes, "muster_journal_bytes_total", "Bytes of journals since the start."),
    KEPT(snapshots, "muster_journal_snapshots_total", "Snapshots of the journal that are complete."),
    KEPT(snapshots_failed, "muster_journal_snapshots_failed_total", "Snapshots of the journal that failed."),
    KEPT(snapshot_bytes, "muster_journal_snapshot_bytes", "Size of the newest one."),
    KEPT(snapshot_ns, "muster_journal_snapshot_duration_seconds", "How long the newest one took to be written."),
    KEPT(pause_ns, "muster_journal_pause_seconds", "How long the frames stood still for it."),
    KEPT(sync_ns, "muster_journal_sync_seconds", "How long it took to bring the last frames to the disk."),
    KEPT(incidents, "muster_journal_incidents", "Journals of crashes that are kept."),
    KEPT(lost.losses, "muster_journal_losses", "Losses of frames that nobody has acknowledged."),
    KEPT(lost.frames, "muster_journal_lost_frames", "Frames that these have taken, as far as they could be counted."),
    KEPT(recovered_frames, "muster_journal_recovered_frames", "Frames that were run again when the world came back."),
    KEPT(recovered_ns, "muster_journal_recovered_seconds", "How long it took to come back."),

    ZONED(number, "muster_zone", "The number of the zone; 0 = the world is none."),
    ZONED(epoch, "muster_zone_epoch", "How often the zone has had a new owner."),
    ZONED(space, "muster_zone_birth_space", "The birth space in which its ids are given."),
    ZONED(spaces_used, "muster_zone_birth_spaces_used", "Birth spaces that something may name, of 16383."),
    ZONED(ids_resting, "muster_zone_ids_resting", "Indices of agents that wait for another birth space."),
    ZONED(frozen, "muster_zone_frozen",
          "1 while it stands still: its lease was not renewed in time, or it is being moved."),
    ZONED(ghosts, "muster_zone_ghosts", "Agents of neighbours that it perceives."),
    ZONED(waiting, "muster_zone_parcels_waiting", "What crosses and is not stored yet."),
    ZONED(departed, "muster_zone_departed_total", "Agents that left for a neighbour."),
    ZONED(arrived, "muster_zone_arrived_total", "Agents that came from one."),
    ZONED(refused, "muster_zone_refused_total", "Agents that were not taken in: known already, or no room."),
    ZONED(sent, "muster_zone_messages_sent_total", "Messages of agents to neighbours."),
    ZONED(delivered, "muster_zone_messages_delivered_total", "Messages of agents of neighbours."),
    ZONED(lost, "muster_zone_messages_lost_total", "Of both, those that found no receiver."),
    {0},
};

static void write_quantiles(struct exposition *exposition, const exposition_labels *labels,
                            const muster_quantiles *quantiles) {
  static const char *const names[] = {"0.5", "0.99", "1"};
  const uint64_t values_ns[] = {quantiles->p50_ns, quantiles->p99_ns, quantiles->max_ns};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    exposition_labels own = exposition_with(labels, "quantile", names[i]);
    exposition_write(exposition, "", &own, (double)values_ns[i] / 1e9);
  }
}

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

/* Writes the field of `whole`. */
static void write_field(struct exposition *exposition, const exposition_labels *labels, const struct field *field,
                        const void *whole) {
  const void *at = (const char *)whole + field->offset;
  switch (field->type) {
  case OF_U64:
    if (strstr(field->name, "_seconds"))
      exposition_write(exposition, "", labels, (double)*(const uint64_t *)at / 1e9);
    else
      exposition_write_count(exposition, "", labels, *(const uint64_t *)at);
    break;
  case OF_U32:
    exposition_write_count(exposition, "", labels, *(const uint32_t *)at);
    break;
  case OF_FLOAT:
    exposition_write(exposition, "", labels, (double)*(const float *)at);
    break;
  case OF_DOUBLE:
    exposition_write(exposition, "", labels, *(const double *)at / 1e9);
    break;
  case OF_BOOL:
    exposition_write_count(exposition, "", labels, *(const bool *)at);
    break;
  case OF_QUANTILES:
    write_quantiles(exposition, labels, at);
    break;
  case OF_TIMING:
    write_timing(exposition, labels, at);
  }
}

/* A family, and the world whose samples are rendered; `what` is the family's own. */
struct family {
  struct exposition *to;
  exposition_labels labels;
  const metrics_world *world;
  const void *what;
};

typedef void render_world(const struct family *family);

static void render_family(struct exposition *exposition, const metrics_facts *facts, const char *name,
                          exposition_kind kind, const char *help, render_world *render, const void *what) {
  exposition_begin(exposition, name, kind, help);
  for (uint32_t i = 0; i < facts->world_count; i++)
    render(&(struct family){exposition, {1, {{"world", facts->worlds[i].name}}}, &facts->worlds[i], what});
}

static void render_table(struct exposition *exposition, const metrics_facts *facts, const struct field *field,
                         render_world *render) {
  for (; field->name; field++) {
    exposition_kind kind = field->type == OF_QUANTILES ? EXPOSITION_SUMMARY
                           : field->type == OF_TIMING  ? EXPOSITION_HISTOGRAM
                                                       : EXPOSITION_NUMBER;
    render_family(exposition, facts, field->name, kind, field->help, render, field);
  }
}

static void render_field(const struct family *family) {
  write_field(family->to, &family->labels, family->what, &family->world->published);
}

static void render_info(const struct family *family) {
  exposition_labels own = exposition_with(&family->labels, "module", family->world->module);
  exposition_write_count(family->to, "", &own, 1);
}

static void render_age(const struct family *family) {
  uint64_t now_ns = *(const uint64_t *)family->what, end_ns = family->world->published.frame_end_ns;
  if (end_ns) exposition_write(family->to, "", &family->labels, now_ns > end_ns ? (double)(now_ns - end_ns) / 1e9 : 0);
}

/* ----------------------------------------------------------------------------------------------------- histograms */

static const struct field timing_fields[] = {
    FIELD(timings.frame, "muster_frame_seconds", "Wall time of frames."),
    FIELD(timings.overrun_wall, "muster_overrun_seconds",
          "Wall time of frames past their budget, the kernel's doing included."),
    FIELD(timings.overrun_own, "muster_overrun_own_seconds",
          "Processor time that workers spent after the end of the budget, of audited frames. The promise allows "
          "the frame's longest atom and 20 us."),
    {0},
};

static void render_stages(const struct family *family) {
  static const char *const names[MUSTER_STAGES] = {"intake",  "score", "fold", "fit",
                                                   "release", "rank",  "run",  "commit"};
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
    exposition_labels own = exposition_with(&family->labels, "stage", names[i]);
    write_timing(family->to, &own, &family->world->published.timings.stages[i]);
  }
}

static void render_update_times(const struct family *family) {
  const muster_statistics *statistics = &family->world->published.statistics;
  struct cumulative cumulative = {family->to, family->labels, 0};
  for (uint32_t i = 0; i < MUSTER_UPDATE_TIMES; i++)
    write_bucket(&cumulative, muster_update_time_bound(i), statistics->update_times[i]);
  write_totals(&cumulative, statistics->update_times_ns);
}

/* --------------------------------------------------------------------------------------------------------- labels */

static const char digits[10][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static void render_levels(const struct family *family) {
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) {
    exposition_labels own = exposition_with(&family->labels, "level", digits[i]);
    exposition_write_count(family->to, "", &own, family->world->published.report.levels[i]);
  }
}

/* ------------------------------------------------------------------------------------------ bands of importance */

static const struct field band_fields[] = {
    BAND(agents, "muster_band_agents",
         "Agents with a period, by the greatest importance in their band: 0, or above the band before."),
    BAND(agents_beyond_wish, "muster_band_agents_beyond_wish",
         "Of these, those whose period is longer than their type wishes."),
    BAND(wanted_ns, "muster_band_wanted_period_seconds", "Their wanted period, mean over rates."),
    BAND(period_ns, "muster_band_period_seconds", "Their period by the rule in force, mean over rates."),
    BAND(interval_ns, "muster_band_interval_seconds",
         "What they got since the start: agent seconds by updates, agents that never ran included."),
    BAND(agent_time_ns, "muster_band_agent_seconds_total",
         "Simulation time lived by agents in the band; its rate by that of the updates is the interval of a while."),
    BAND(completed, "muster_band_updates_total", "Updates completed by agents in the band."),
    BAND(staleness, "muster_staleness_seconds", "Time between updates that were completed, by band."),
    BAND(age, "muster_age_seconds",
         "Time since the last update at the ends of frames, by band; of some agents in each frame."),
    {0},
};

/* A band is named by its greatest importance. Without updates it has no interval. */
static void render_bands(const struct family *family) {
  static const char *const ends[MUSTER_BANDS] = {"0", "0.25", "0.5", "0.75", "1"};
  const struct field *field = family->what;
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    const muster_band *band = &family->world->published.statistics.bands[i];
    exposition_labels own = exposition_with(&family->labels, "band", ends[i]);
    if (field->offset != offsetof(muster_band, interval_ns) || band->completed)
      write_field(family->to, &own, field, band);
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

static const struct field cost_fields[] = {
    COST(agents, "muster_type_agents", "Active agents per type and level."),
    COST(mean_ns, "muster_type_update_mean_seconds", "Moving mean of an update's cost."),
    COST(high_ns, "muster_type_update_p95_seconds", "Moving 95th percentile of an update's cost."),
    COST(elapsed_load, "muster_type_elapsed_load",
         "What the time that passes costs by itself, in parts of the capacity."),
    COST(samples, "muster_type_updates_timed_total", "Updates whose cost was measured."),
    {0},
};

/* A level at which no agent is, or ever was, is left out. */
static void render_costs(const struct family *family) {
  char text[64];
  const world_published *published = &family->world->published;
  for (uint32_t t = 0; t < published->type_count; t++) {
    exposition_labels type = exposition_with(&family->labels, "type", label_of_type(published, t, text));
    for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
      const muster_type_cost *cost = &published->types[t].costs[level];
      exposition_labels own = exposition_with(&type, "level", digits[level]);
      if (cost->agents || cost->samples) write_field(family->to, &own, family->what, cost);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- families */

void metrics_render_worlds(struct exposition *exposition, const metrics_facts *facts) {
  render_family(exposition, facts, "muster_world_info", EXPOSITION_NUMBER, "1, with the module that a world runs.",
                render_info, NULL);
  render_table(exposition, facts, fields, render_field);
  render_family(exposition, facts, "muster_frame_age_seconds", EXPOSITION_NUMBER, "Time since the last frame's end.",
                render_age, &facts->now_ns);
  render_table(exposition, facts, timing_fields, render_field);
  render_family(exposition, facts, "muster_stage_seconds", EXPOSITION_HISTOGRAM, "Wall time of the stages of a frame.",
                render_stages, NULL);
  render_family(exposition, facts, "muster_update_seconds", EXPOSITION_HISTOGRAM,
                "Time of updates that were timed: long ones, and one claim of sixteen of short ones.",
                render_update_times, NULL);
  render_family(exposition, facts, "muster_level_agents", EXPOSITION_NUMBER, "Active agents per capability level.",
                render_levels, NULL);
  render_table(exposition, facts, band_fields, render_bands);
  render_table(exposition, facts, cost_fields, render_costs);
}
