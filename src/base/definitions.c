/* definitions.c - the fields of the definitions of muster.h, in their order. */
#include "base/fields.h"

#include <muster/herd.h>
#include <muster/muster.h>
#include <muster/planner.h>
#include <muster/replicate.h>
#include <muster/tune.h>

#include <math.h>

#define HOUR 3.6e12
#define DAY  8.64e13

/* ------------------------------------------------------------------------------------------------------------ worlds
 */

#define WORLD(name, kind, least, most, uses)                                                                           \
  { #name, offsetof(muster_world_def, name), 0, FIELD_##kind, least, most, uses }
#define LIVE(name, kind, least, most, uses)                                                                            \
  { #name, offsetof(muster_world_def, name), offsetof(muster_world_tuning, name), FIELD_##kind, least, most, uses }

const field_row fields_world[] = {
    WORLD(agents_max, COUNT, 1, AGENTS_MOST, 0),
    WORLD(types_max, COUNT, 1, 1024, 0),
    WORLD(observers_max, COUNT, 1, OBSERVERS_MOST, 0),
    WORLD(commands_max, COUNT, 16, 1 << 24, 0),
    WORLD(seed, NUMBER, 0, 0x1p64, FIELD_SAME),
    WORLD(clock, CHOICE, 0, MUSTER_CLOCK_VIRTUAL, FIELD_SAME),
    WORLD(capacity_ns, TIME, 0, BUDGET_MOST_NS, 0),
    WORLD(order, CHOICE, 0, MUSTER_ORDER_DEADLINE, FIELD_SAME),
    WORLD(elastic, CHOICE, 0, MUSTER_ELASTIC_IMPORTANCE, FIELD_SAME),
    LIVE(weight_importance, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_wait, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_runs, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(weight_progress, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    LIVE(guarantee_ns, TIME, 1e6, HOUR, FIELD_RANKS),
    LIVE(updates_per_frame, COUNT, 0, MUSTER_UPDATES_LEAVE - 1, FIELD_UNBOUNDED),
    WORLD(cell_m, FLOAT, 0.5, 10000, FIELD_SAME),
    WORLD(audit, SWITCH, 0, 1, FIELD_LOCAL),
    WORLD(sends_per_frame, COUNT, 1, 1 << 24, 0),
    WORLD(debt_budgets, FLOAT, 0, 8, 0),
    WORLD(planner_workers, COUNT, 0, MUSTER_PLANNER_WORKERS_MAX, FIELD_LOCAL),
    WORLD(trace_frames, COUNT, 0, TRACE_FRAMES_MOST, FIELD_LOCAL),
    WORLD(trace_spans, COUNT, 16, 65536, FIELD_LOCAL),
    WORLD(stuck_ns, TIME, 1e7, HOUR, FIELD_LOCAL | FIELD_OR_ZERO),
    WORLD(activation_delay, COUNT, 0, ACTIVATION_DELAY_MAX, FIELD_SAME),
    LIVE(weight_reduction, FLOAT, 0, 1, FIELD_RANKS | FIELD_WEIGHT),
    WORLD(importance, CHOICE, 0, MUSTER_IMPORTANCE_FACTORS, FIELD_SAME),
    LIVE(focus, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(designer, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(role, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(company, FLOAT, 0, 1, FIELD_OF_FACTORS),
    LIVE(level_pressure, FLOAT, 0.05, 1, FIELD_OR_ZERO),
    LIVE(cycles_max, COUNT, 1, MUSTER_CYCLES_MAX, 0),
    LIVE(cycles_importance, FLOAT, 0, 1, 0),
    LIVE(importance_octaves, FLOAT, 0, 16, FIELD_WEIGHS),
    LIVE(wish_part, FLOAT, 0.1, 0.9, 0),
    WORLD(shards, COUNT, 0, 256, FIELD_LOCAL),
    WORLD(changes_frames, COUNT, 0, MUSTER_CHANGES_FRAMES_MAX, FIELD_LOCAL),
    {0},
};

/* ------------------------------------------------------------------------------------------------------------- types
 */

#define TYPE(name, kind, least, most, uses)                                                                            \
  { #name, offsetof(muster_type_def, name), 0, FIELD_##kind, least, most, uses }

const field_row fields_type[] = {
    TYPE(atom_count, COUNT, 0, MUSTER_ATOMS_MAX, FIELD_SAME),
    TYPE(state_bytes, COUNT, 0, 65536, FIELD_SAME),
    TYPE(published_bytes, COUNT, 0, 4096, FIELD_SAME),
    TYPE(period_ns, TIME, 1e5, DAY, FIELD_SAME),
    TYPE(period_max_ns, TIME, 1e5, DAY, FIELD_SAME),
    TYPE(limit_ns, TIME, 1e3, 1e9, 0),
    TYPE(elasticity, FLOAT, 0, ELASTICITY_MOST, 0),
    TYPE(level_count, COUNT, 1, MUSTER_LEVELS, FIELD_SAME),
    TYPE(level_importance, LEVELS, 0, 0, 0),
    TYPE(spawns_max, COUNT, 0, 1024, 0),
    TYPE(messages_max, COUNT, 0, 1024, FIELD_SAME),
    TYPE(message_bytes, COUNT, 0, MUSTER_MESSAGE_BYTES_MAX, FIELD_SAME),
    TYPE(sends_max, COUNT, 0, 1024, 0),
    TYPE(wake_on_message, SWITCH, 0, 1, 0),
    TYPE(importance, FLOAT, 0, 1, 0),
    TYPE(parts, COUNT, 1, MUSTER_ATOMS_MAX, FIELD_LOCAL | FIELD_OF_PLANNER),
    TYPE(part_ns, COUNT, 1, 1e9, FIELD_LOCAL | FIELD_OF_PLANNER),
    TYPE(elapsed, CHOICE, 0, MUSTER_ELAPSED_EVENTS, FIELD_SAME),
    TYPE(step_ns, TIME, 0, DAY, FIELD_SAME),
    TYPE(steps_max, COUNT, 0, 65536, 0),
    TYPE(wake_gap_ns, TIME, 0, DAY, 0),
    TYPE(strikes_demote, COUNT, 0, 10000, 0),
    TYPE(strikes_quarantine, COUNT, 0, 10000, 0),
    TYPE(set_count, COUNT, 1, MUSTER_SETS_MAX, FIELD_SAME | FIELD_OF_SETS),
    TYPE(set_order, CHOICE, 0, MUSTER_SETS_AS_DEFINED, FIELD_OF_SETS),
    TYPE(act, CHOICE, 0, MUSTER_ACT_PARALLEL, FIELD_SAME),
    TYPE(priority, COUNT, 0, MUSTER_PRIORITY_MAX, 0),
    TYPE(slice_ns, TIME, 1e3, 1e9, FIELD_OR_ZERO),
    TYPE(period_max_hard, SWITCH, 0, 1, 0),
    {0},
};

#define HERDS(name, kind, least, most, uses)                                                                           \
  { #name, offsetof(muster_herd_type_def, name), 0, FIELD_##kind, least, most, uses }

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

/* ------------------------------------------------------------------------------------------------------------ agents
 */

#define TUNED(name, least, most)                                                                                       \
  { #name, offsetof(muster_agent_def, name), offsetof(muster_agent_tuning, name), FIELD_FLOAT, least, most, 0 }

const field_row fields_agent[] = {
    {"partition", offsetof(muster_agent_def, partition), 0, FIELD_COUNT, 0, PARTITION_MOST, 0},
    TUNED(importance_floor, 0, 1),
    TUNED(elasticity, -INFINITY, ELASTICITY_MOST),
    TUNED(visibility, 0, 1),
    TUNED(bulk, 0, 1),
    TUNED(interactivity, 0, 1),
    TUNED(designer, 0, 1),
    TUNED(role, -INFINITY, 1),
    {0},
};

/* ------------------------------------------------------------------------------------------------------------ frames
 */

const field_row fields_frame[] = {
    {"budget_ns", offsetof(muster_frame, budget_ns), 0, FIELD_TIME, BUDGET_LEAST_NS, BUDGET_MOST_NS, 0}, {0}};
