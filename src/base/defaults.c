/* The defaults of every struct of the public interface that begins with its size: muster_..._default() of the headers.
 */

#include <muster/explain.h>
#include <muster/herd.h>
#include <muster/journal.h>
#include <muster/module.h>
#include <muster/overruns.h>
#include <muster/planner.h>
#include <muster/record.h>
#include <muster/replicate.h>
#include <muster/sets.h>
#include <muster/snapshot.h>
#include <muster/tune.h>
#include <muster/view.h>
#include <muster/zone.h>

#include <string.h>

/* Writes the defaults of a struct over as many bytes as the host's header knows of it, whose number they begin with. */
static void defaults_write(void *given, size_t bytes, const void *defaults, size_t known) {
  uint32_t size = (uint32_t)bytes;
  if (!given || bytes < sizeof size) return;
  memset(given, 0, bytes);
  memcpy(given, defaults, bytes < known ? bytes : known);
  memcpy(given, &size, sizeof size);
}

#define DEFAULTS(name, ...)                                                                                            \
  void muster_##name##_init(muster_##name *def, size_t bytes) {                                                        \
    static const muster_##name defaults = {__VA_ARGS__};                                                               \
    defaults_write(def, bytes, &defaults, sizeof defaults);                                                            \
  }

DEFAULTS(herd_type_def, .name = "herd", .branching = 2, .depth = 5,
         .zone_m = {50, 100, 150, 200, 250, 300, 350, 400, 450, 500}, .hysteresis = 0.15f, .visible_m = 35.0f,
         .spread_m = 10.0f, .spread_mps = 2.0f, .herds_max = 1024, .unfolded_max = 1024, .period_ns = 500000000u,
         .period_max_ns = 2000000000u, .limit_ns = 500000u, .model_ns = 5000u, .look_ns = 200000000u,
         .hold_ns = 2000000000u)
DEFAULTS(pool_def, .name = "muster", .jobs_max = 131072, .external_max = 8)
DEFAULTS(module_options, .seed = 1, .up_axis = 'y')
DEFAULTS(
    world_def, .cell_m = 32.0f, .seed = 1, .order = MUSTER_ORDER_DEADLINE, .elastic = MUSTER_ELASTIC_IMPORTANCE,
    .debt_budgets = 1.0f,
    .limits =
        {.agents_max = 65536, .types_max = 64, .observers_max = 1024, .commands_max = 16384, .sends_per_frame = 65536},
    .priority = {.importance = 1.0f, .wait = 1.0f, .runs = 1.0f, .progress = 1.0f, .guarantee_ns = 500000000u},
    .importance = {.focus = 1.0f, .designer = 1.0f, .role = 1.0f, .company = 1.0f, .octaves = 12.0f, .wish_part = 0.5f},
    .levels = {.pressure = 0.5f, .cycles_max = 1, .cycles_importance = 0.9f}, .trace = {.spans = 2048},
    .watch = {.stuck_ns = 500000000u})
DEFAULTS(agent_def, .elasticity = -1.0f, .visibility = 1.0f, .bulk = 1.0f, .interactivity = 1.0f, .role = -1.0f)
DEFAULTS(agent_tuning, .importance_floor = -1.0f, .elasticity = -1.0f, .visibility = -1.0f, .bulk = -1.0f,
         .interactivity = -1.0f, .designer = -1.0f, .role = -1.0f)
DEFAULTS(observer_def, .near_m = 25.0f, .far_m = 250.0f)
DEFAULTS(record_def, .buffer_bytes = (size_t)256 << 20, .hash_every = 60)
DEFAULTS(journal_def, .recovery_max_ns = 700000000u, .start_ns = 100000000u, .incidents_max = 4,
         .buffer_bytes = (size_t)256 << 20)
DEFAULTS(set_def, .name = "set", .share = 50, .period_updates = 1, .levels = 0xffffffffu, .asks = 16,
         .part_ns = 1000)
DEFAULTS(set_tuning, .share = 50, .period_updates = 1)
DEFAULTS(world_tuning, .updates_per_frame = MUSTER_UPDATES_LEAVE,
         .priority = {.importance = -1.0f, .wait = -1.0f, .runs = -1.0f, .progress = -1.0f, .reduction = -1.0f},
         .importance =
             {.focus = -1.0f, .designer = -1.0f, .role = -1.0f, .company = -1.0f, .octaves = -1.0f, .wish_part = -1.0f},
         .levels = {.pressure = -1.0f, .cycles_importance = -1.0f})
DEFAULTS(type_def, .name = "agent", .period_ns = 100000000u, .period_max_ns = 1000000000u, .limit_ns = 500000u,
         .elasticity = 1.0f, .importance = 1.0f, .levels = {.count = 1, .importance = {0.5f, 0.25f, 0.1f}},
         .parts = {.count = 1, .part_ns = 1000}, .overruns = {.demote = 3}, .slices = {.asks = 16})
DEFAULTS(zone_status, .size = 0)
DEFAULTS(view, .looks_max = 16384)
DEFAULTS(overrun_counts, .size = 0)
DEFAULTS(agent_explanation, .size = 0)
DEFAULTS(herd_info, .size = 0)
DEFAULTS(pool_statistics, .size = 0)
DEFAULTS(agent_info, .size = 0)
DEFAULTS(plan_summary, .size = 0)
DEFAULTS(journal_info, .size = 0)
DEFAULTS(journal_look_def, .size = 0)
DEFAULTS(journal_recover_def, .size = 0)
DEFAULTS(journal_status, .size = 0)
DEFAULTS(record_status, .size = 0)
DEFAULTS(record_info, .size = 0)
DEFAULTS(replay_def, .size = 0)
DEFAULTS(frame_report, .size = 0)
DEFAULTS(statistics, .size = 0)
DEFAULTS(type_cost, .size = 0)
DEFAULTS(set_info, .size = 0)
DEFAULTS(save_def, .size = 0)
DEFAULTS(snapshot_info, .size = 0)
DEFAULTS(load_def, .size = 0)
DEFAULTS(agent_columns, .size = 0)
DEFAULTS(nearby_query, .size = 0)
