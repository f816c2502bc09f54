/* definitions.c - the fields of the definitions of muster.h, in their order. */
#include "base/fields.h"

#include <muster/herd.h>
#include <muster/muster.h>
#include <muster/planner.h>
#include <muster/replicate.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <math.h>

#define HOUR               3.6e12
#define DAY                8.64e13
#define SIMULATION_MOST_NS 9e15 /* which JSON and doubles have exactly */

/* ----------------------------------------------------------------------------------------------------------- worlds */

#define WORLD(name, place, kind, least, most, uses)                                                                    \
  { #name, #place, offsetof(muster_world_def, place), 0, FIELD_##kind, least, most, uses }
#define LIVE(name, place, kind, least, most, uses)                                                                     \
  {                                                                                                                    \
#name, #place, offsetof(muster_world_def, place), offsetof(muster_world_tuning, place), FIELD_##kind, least, most, \
        uses                                                                                                           \
  }

const field_row fields_world[] = {
    WORLD(agents_max, limits.agents_max, COUNT, 1, AGENTS_MOST, 0),
    WORLD(types_max, limits.types_max, COUNT, 1, 1024, 0),
    WORLD(observers_max, limits.observers_max, COUNT, 1, OBSERVERS_MOST, 0),
    WORLD(commands_max, limits.commands_max, COUNT, 16, 1 << 24, 0),
    WORLD(seed, seed, NUMBER, 0, 0x1p64, FIELD_SAME),
    WORLD(clock, clock.kind, CHOICE, 0, MUSTER_CLOCK_VIRTUAL, FIELD_SAME),
    WORLD(capacity_ns, clock.capacity_ns, TIME, 0, BUDGET_MOST_NS, 0),
    WORLD(order, order, CHOICE, 0, MUSTER_ORDER_DEADLINE, FIELD_SAME),
    WORLD(elastic, elastic, CHOICE, 0, MUSTER_ELASTIC_IMPORTANCE, FIELD_SAME),
    LIVE(weight_importance, priority.importance, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_wait, priority.wait, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_runs, priority.runs, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_progress, priority.progress, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(guarantee_ns, priority.guarantee_ns, TIME, 1e6, HOUR, FIELD_RANKS),
    LIVE(updates_per_frame, updates_per_frame, COUNT, 0, MUSTER_UPDATES_LEAVE - 1, FIELD_UNBOUNDED),
    WORLD(cell_m, cell_m, FLOAT, 0.5, 10000, FIELD_SAME),
    WORLD(audit, audit, SWITCH, 0, 1, FIELD_LOCAL),
    WORLD(sends_per_frame, limits.sends_per_frame, COUNT, 1, 1 << 24, 0),
    WORLD(debt_budgets, debt_budgets, FLOAT, 0, 8, 0),
    WORLD(planner_by_clock, planner.by_clock, SWITCH, 0, 1, FIELD_LOCAL),
    WORLD(planner_by_wall, planner.by_wall, SWITCH, 0, 1, FIELD_LOCAL),
    WORLD(planner_workers, planner_workers, COUNT, 0, MUSTER_PLANNER_WORKERS_MAX, FIELD_LOCAL),
    WORLD(trace_frames, trace.frames, COUNT, 0, TRACE_FRAMES_MOST, FIELD_LOCAL),
    WORLD(trace_spans, trace.spans, COUNT, 16, 65536, FIELD_LOCAL),
    WORLD(stuck_ns, watch.stuck_ns, TIME, 1e7, HOUR, FIELD_LOCAL | FIELD_OR_ZERO),
    WORLD(activation_delay, activation_delay, COUNT, 0, ACTIVATION_DELAY_MAX, FIELD_SAME),
    LIVE(weight_reduction, priority.reduction, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    WORLD(importance, importance_model, CHOICE, 0, MUSTER_IMPORTANCE_FACTORS, FIELD_SAME),
    LIVE(focus, importance.focus, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(designer, importance.designer, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(role, importance.role, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(company, importance.company, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(level_pressure, levels.pressure, FLOAT, 0.05, 1, FIELD_OR_ZERO),
    LIVE(cycles_max, levels.cycles_max, COUNT, 1, MUSTER_CYCLES_MAX, 0),
    LIVE(cycles_importance, levels.cycles_importance, FLOAT, 0, 1, 0),
    LIVE(importance_octaves, importance.octaves, FLOAT, 0, 16, FIELD_WEIGHS),
    LIVE(wish_part, importance.wish_part, FLOAT, 0.1, 0.9, 0),
    WORLD(shards, shards, COUNT, 0, 256, FIELD_LOCAL),
    WORLD(changes_frames, limits.changes_frames, COUNT, 0, MUSTER_CHANGES_FRAMES_MAX, FIELD_LOCAL),
    LIVE(load_from_ns, load.from_ns, TIME, 0, SIMULATION_MOST_NS, 0),
    LIVE(load_until_ns, load.until_ns, TIME, 0, SIMULATION_MOST_NS, 0),
    LIVE(load_ns, load.frame_ns, TIME, 0, BUDGET_MOST_NS, 0),
    WORLD(zone, zone.number, COUNT, 0, MUSTER_ZONES_MAX, FIELD_SAME),
    WORLD(zone_epoch, zone.epoch, COUNT, 0, MUSTER_EPOCHS_MAX, FIELD_BROUGHT),
    WORLD(zone_x_min, zone.x_min, DOUBLE, -1e9, 1e9, FIELD_BROUGHT),
    WORLD(zone_y_min, zone.y_min, DOUBLE, -1e9, 1e9, FIELD_BROUGHT),
    WORLD(zone_x_max, zone.x_max, DOUBLE, -1e9, 1e9, FIELD_BROUGHT),
    WORLD(zone_y_max, zone.y_max, DOUBLE, -1e9, 1e9, FIELD_BROUGHT),
    {0},
};

/* ------------------------------------------------------------------------------------------------------------ types */

#define TYPE(name, place, kind, least, most, uses)                                                                     \
  { #name, #place, offsetof(muster_type_def, place), 0, FIELD_##kind, least, most, uses }

const field_row fields_type[] = {
    TYPE(atom_count, atom_count, COUNT, 0, MUSTER_ATOMS_MAX, FIELD_SAME),
    TYPE(state_bytes, state_bytes, COUNT, 0, 65536, FIELD_SAME),
    TYPE(published_bytes, published_bytes, COUNT, 0, 4096, FIELD_SAME),
    TYPE(period_ns, period_ns, TIME, 1e5, DAY, FIELD_SAME),
    TYPE(period_max_ns, period_max_ns, TIME, 1e5, DAY, FIELD_SAME),
    TYPE(limit_ns, limit_ns, TIME, 1e3, 1e9, 0),
    TYPE(elasticity, elasticity, FLOAT, 0, ELASTICITY_MOST, 0),
    TYPE(level_count, levels.count, COUNT, 1, MUSTER_LEVELS, FIELD_SAME),
    TYPE(level_importance, levels.importance, LEVELS, 0, 0, 0),
    TYPE(spawns_max, spawns_max, COUNT, 0, 1024, 0),
    TYPE(messages_max, messages.waiting_max, COUNT, 0, 1024, FIELD_SAME),
    TYPE(message_bytes, messages.bytes_max, COUNT, 0, MUSTER_MESSAGE_BYTES_MAX, FIELD_SAME),
    TYPE(sends_max, messages.sends_max, COUNT, 0, 1024, 0),
    TYPE(wake_on_message, messages.wake, SWITCH, 0, 1, 0),
    TYPE(importance, importance, FLOAT, 0, 1, 0),
    TYPE(parts, parts.count, COUNT, 1, MUSTER_ATOMS_MAX, FIELD_LOCAL | FIELD_OF_PLANNER),
    TYPE(part_ns, parts.part_ns, COUNT, 1, 1e9, FIELD_LOCAL | FIELD_OF_PLANNER),
    TYPE(elapsed, elapsed.contract, CHOICE, 0, MUSTER_ELAPSED_EVENTS, FIELD_SAME),
    TYPE(step_ns, elapsed.step_ns, TIME, 0, DAY, FIELD_SAME),
    TYPE(steps_max, elapsed.steps_max, COUNT, 0, 65536, 0),
    TYPE(wake_gap_ns, wake_gap_ns, TIME, 0, DAY, 0),
    TYPE(overruns_demote, overruns.demote, COUNT, 0, 10000, 0),
    TYPE(overruns_quarantine, overruns.quarantine, COUNT, 0, 10000, 0),
    TYPE(set_count, sets.count, COUNT, 1, MUSTER_SETS_MAX, FIELD_SAME | FIELD_OF_SETS),
    TYPE(set_order, sets.order, CHOICE, 0, MUSTER_SETS_AS_DEFINED, FIELD_OF_SETS),
    TYPE(act, act, CHOICE, 0, MUSTER_ACT_PARALLEL, FIELD_SAME),
    TYPE(priority, sets.share, COUNT, 0, MUSTER_SHARE_MAX, 0),
    TYPE(slice_ns, sets.slice_ns, TIME, 1e3, 1e9, FIELD_OR_ZERO),
    TYPE(period_max_hard, period_max_hard, SWITCH, 0, 1, 0),
    TYPE(update_slice_ns, slices.slice_ns, TIME, 1e3, 1e9, FIELD_OR_ZERO),
    TYPE(asks, slices.asks, COUNT, 1, 1e6, 0),
    TYPE(strands, strands.count, COUNT, 0, MUSTER_STRANDS_MAX, FIELD_LOCAL),
    {0},
};

#define HERDS(name, kind, least, most, uses)                                                                           \
  { #name, NULL, offsetof(muster_herd_type_def, name), 0, FIELD_##kind, least, most, uses }

const field_row fields_herd_type[] = {
    HERDS(branching, COUNT, 2, BRANCHING_MOST, 0),
    HERDS(depth, COUNT, 1, MUSTER_HERD_DEPTHS, 0),
    HERDS(hysteresis, FLOAT, 0.01, 1, 0),
    HERDS(spread_m, FLOAT, 0.01, 1000, 0),
    HERDS(spread_mps, FLOAT, 0, 1e6, 0),
    HERDS(totals, COUNT, 0, MUSTER_HERD_TOTALS, 0),
    HERDS(herds_max, COUNT, 1, 1 << 26, 0),
    HERDS(unfolded_max, COUNT, 1, 1 << 20, 0),
    HERDS(look_ns, TIME, 1e6, HOUR, 0),
    HERDS(hold_ns, TIME, 0, DAY, 0),
    {0},
};

/* ----------------------------------------------------------------------------------------------------------- agents */

#define TUNED(name, least, most)                                                                                       \
  { #name, NULL, offsetof(muster_agent_def, name), offsetof(muster_agent_tuning, name), FIELD_FLOAT, least, most, 0 }

const field_row fields_agent[] = {
    {"partition", NULL, offsetof(muster_agent_def, partition), 0, FIELD_COUNT, 0, PARTITION_MOST, 0},
    TUNED(importance_floor, 0, 1),
    TUNED(elasticity, -INFINITY, ELASTICITY_MOST),
    TUNED(visibility, 0, 1),
    TUNED(bulk, 0, 1),
    TUNED(interactivity, 0, 1),
    TUNED(designer, 0, 1),
    TUNED(role, -INFINITY, 1),
    {0},
};

/* ----------------------------------------------------------------------------------------------------------- frames */

const field_row fields_frame[] = {
    {"budget_ns", NULL, offsetof(muster_frame, budget_ns), 0, FIELD_TIME, BUDGET_LEAST_NS, BUDGET_MOST_NS, 0}, {0}};
