/* Null where something must be given, at every function of the public headers: each refuses, with a sentence, and does
 * nothing. The last test compares the list with the headers. */
#include "misuse/misuse.h"
#include "misuse/null_journals.h"
#include "misuse/null_zones.h"

#include <dirent.h>

/* A world with something of everything. */
typedef struct given {
  muster_pool *pool;
  muster_world *world, *planned;
  muster_type type;
  muster_agent agent;
  muster_observer observer;
  muster_herd herd;
  muster_update *update; /* inside an atom */
  uint32_t atoms;        /* that asked */
} given;

static const char *failed; /* the first function that let a null pass, or said nothing */

static void forget(void) {
  muster_module_fail(MUSTER_OK, "-");
}

/* Whether a call that was made after forget() left a sentence. */
static bool said(void) {
  return strlen(muster_last_error()) > 1;
}

#define REFUSES(CONDITION) (forget(), (CONDITION) && said())

static const muster_agent agents[1];
static const muster_observer observers[1];
static const muster_position positions[1];
static const float values[1];
static unsigned char bytes[64];

static void job(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

static void piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)begin, (void)end, (void)worker;
}

static bool is_none(muster_agent agent) {
  return muster_agent_is_null(agent);
}

/* Each takes what can be given, and leaves out what cannot be left out. */
#define OF_WORLDS(X)                                                                                                   \
  X(muster_world_create, REFUSES(!muster_world_create(NULL)))                                                          \
  X(muster_type_register,                                                                                              \
    REFUSES(!muster_type_register(NULL, &type).index) && REFUSES(!muster_type_register(g->world, NULL).index))         \
  X(muster_type_name, REFUSES(!muster_type_name(NULL, g->type)))                                                       \
  X(muster_type_find,                                                                                                  \
    REFUSES(!muster_type_find(NULL, "agent").index) && REFUSES(!muster_type_find(g->world, NULL).index))               \
  X(muster_frame_run, REFUSES(muster_frame_run(NULL, &frame)) && REFUSES(muster_frame_run(g->world, NULL)))            \
  X(muster_plan, REFUSES(muster_plan(NULL, &frame, entries, 1, &summary)) &&                                           \
                     REFUSES(muster_plan(g->planned, NULL, entries, 1, &summary)) &&                                   \
                     REFUSES(muster_plan(g->planned, &frame, NULL, 1, &summary)) &&                                    \
                     REFUSES(muster_plan(g->planned, &frame, entries, 1, NULL)))                                       \
  X(muster_plan_parts, REFUSES(muster_plan_parts(NULL, entries, 1, parts, 1, &count)) &&                               \
                           REFUSES(muster_plan_parts(g->planned, NULL, 1, parts, 1, &count)) &&                        \
                           REFUSES(muster_plan_parts(g->planned, entries, 1, NULL, 1, &count)) &&                      \
                           REFUSES(muster_plan_parts(g->planned, entries, 1, parts, 1, NULL)))                         \
  X(muster_plan_report,                                                                                                \
    REFUSES(muster_plan_report(NULL, results, 1)) && REFUSES(muster_plan_report(g->planned, NULL, 1)))                 \
  X(muster_world_hash, REFUSES(muster_world_hash(NULL) == 0))                                                          \
  X(muster_frame_kept, !muster_frame_kept(NULL))                                                                       \
  X(muster_frame_report_read,                                                                                          \
    REFUSES(muster_frame_report_read(NULL, &report)) && REFUSES(muster_frame_report_read(g->world, NULL)))             \
  X(muster_statistics_read,                                                                                            \
    REFUSES(muster_statistics_read(NULL, &statistics)) && REFUSES(muster_statistics_read(g->world, NULL)))             \
  X(muster_statistics_clear, REFUSES((muster_statistics_clear(NULL), true)))                                           \
  X(muster_type_cost_read, REFUSES(muster_type_cost_read(NULL, g->type, 0, &cost)) &&                                  \
                               REFUSES(muster_type_cost_read(g->world, g->type, 0, NULL)))                             \
  X(muster_world_tune, REFUSES(muster_world_tune(NULL, &tuning)) && REFUSES(muster_world_tune(g->world, NULL)))        \
  X(muster_world_tuning_read,                                                                                          \
    REFUSES(muster_world_tuning_read(NULL, &tuning)) && REFUSES(muster_world_tuning_read(g->world, NULL)))             \
  X(muster_world_set_workers, REFUSES(muster_world_set_workers(NULL, 1)))                                              \
  X(muster_world_workers, REFUSES(muster_world_workers(NULL) == 0))                                                    \
  X(muster_world_save, REFUSES(muster_world_save(NULL, &save)) && REFUSES(muster_world_save(g->world, NULL)) &&        \
                           REFUSES(muster_world_save(g->world, &save)))                                                \
  X(muster_world_settle, REFUSES(muster_world_settle(NULL)))                                                           \
  X(muster_world_settles, REFUSES(muster_world_settles(NULL) == 0))                                                    \
  X(muster_snapshot_look,                                                                                              \
    REFUSES(muster_snapshot_look(NULL, 9, &snapshot)) && REFUSES(muster_snapshot_look(bytes, sizeof bytes, NULL)))     \
  X(muster_world_load, REFUSES(muster_world_load(NULL, &load)) && REFUSES(muster_world_load(g->world, NULL)) &&        \
                           REFUSES(muster_world_load(g->world, &load)))                                                \
  X(muster_record_begin, REFUSES(muster_record_begin(NULL, &record)) &&                                                \
                             REFUSES(muster_record_begin(g->world, NULL)) &&                                           \
                             REFUSES(muster_record_begin(g->world, &record)))                                          \
  X(muster_record_end, REFUSES(muster_record_end(NULL)))                                                               \
  X(muster_record_status_read,                                                                                         \
    REFUSES(muster_record_status_read(NULL, &status)) && REFUSES(muster_record_status_read(g->world, NULL)))           \
  X(muster_record_look,                                                                                                \
    REFUSES(muster_record_look(NULL, 9, &info, NULL)) && REFUSES(muster_record_look(bytes, sizeof bytes, NULL, NULL))) \
  X(muster_replay_begin, REFUSES(muster_replay_begin(NULL, &replay)) &&                                                \
                             REFUSES(muster_replay_begin(g->world, NULL)) &&                                           \
                             REFUSES(muster_replay_begin(g->world, &replay)))                                          \
  X(muster_replay_frame, REFUSES(muster_replay_frame(NULL)))                                                           \
  X(muster_trace_write,                                                                                                \
    REFUSES(muster_trace_write(NULL, take_text, NULL)) && REFUSES(muster_trace_write(g->world, NULL, NULL)))           \
  X(muster_overrun_counts_read, REFUSES(muster_overrun_counts_read(NULL, g->type, &counts)) &&                         \
                                    REFUSES(muster_overrun_counts_read(g->world, g->type, NULL)))                      \
  X(muster_overruns_read,                                                                                              \
    REFUSES(!muster_overruns_read(NULL, overruns, 1)) && REFUSES(!muster_overruns_read(g->world, NULL, 1)))            \
  X(muster_type_reinstate, REFUSES(muster_type_reinstate(NULL, g->type)))                                              \
  X(muster_type_quarantine, REFUSES(muster_type_quarantine(NULL, g->type)))                                            \
  X(muster_type_set_share, REFUSES(muster_type_set_share(NULL, g->type, 1)))                                           \
  X(muster_type_set_periods, REFUSES(muster_type_set_periods(NULL, g->type, 1000000, 0)))                              \
  X(muster_type_periods_read, REFUSES(muster_type_periods_read(NULL, g->type, NULL, NULL)))                            \
  X(muster_set_tune,                                                                                                   \
    REFUSES(muster_set_tune(NULL, g->type, 0, &set)) && REFUSES(muster_set_tune(g->world, g->type, 0, NULL)))          \
  X(muster_flight_bytes, REFUSES(muster_flight_bytes(NULL) == 0))                                                      \
  X(muster_flight_attach, REFUSES(muster_flight_attach(NULL, bytes, sizeof bytes)))                                    \
  X(muster_flight_read, REFUSES(muster_flight_read(NULL, 99, flights, 1, &count)) &&                                   \
                            REFUSES(muster_flight_read(bytes, sizeof bytes, NULL, 1, &count)) &&                       \
                            REFUSES(muster_flight_read(bytes, sizeof bytes, flights, 1, NULL)))                        \
  X(muster_agents_view, REFUSES(!muster_agents_view(NULL, &view, shown, 1, &cursor)) &&                                \
                            REFUSES(!muster_agents_view(g->world, NULL, shown, 1, &cursor)) &&                         \
                            REFUSES(!muster_agents_view(g->world, &view, NULL, 1, &cursor)) &&                         \
                            REFUSES(!muster_agents_view(g->world, &view, shown, 1, NULL)))                             \
  X(muster_raster_add,                                                                                                 \
    REFUSES((muster_raster_add(NULL, shown, 1), true)) && REFUSES((muster_raster_add(&raster, shown, 1), true)))       \
  X(muster_agents_raster, REFUSES(!muster_agents_raster(NULL, &view, &raster, &cursor)) &&                             \
                              REFUSES(!muster_agents_raster(g->world, &view, NULL, &cursor)) &&                        \
                              REFUSES(!muster_agents_raster(g->world, &view, &raster, &cursor)))                       \
  X(muster_agents_extent, REFUSES(muster_agents_extent(NULL, 0, 9, &extent, &cursor)) &&                               \
                              REFUSES(muster_agents_extent(g->world, 0, 9, NULL, &cursor)) &&                          \
                              REFUSES(muster_agents_extent(g->world, 0, 9, &extent, NULL)))                            \
  X(muster_field_edge_m, REFUSES(!(muster_field_edge_m(NULL) > 0.0)))                                                  \
  X(muster_field_view, REFUSES(!muster_field_view(NULL, &view, cells, 1, &cursor)) &&                                  \
                           REFUSES(!muster_field_view(g->world, &view, NULL, 1, &cursor)))

#define OF_AGENTS(X)                                                                                                   \
  X(muster_agent_spawn,                                                                                                \
    REFUSES(is_none(muster_agent_spawn(NULL, &spawn))) && REFUSES(is_none(muster_agent_spawn(g->world, NULL))))        \
  X(muster_agent_remove, REFUSES(muster_agent_remove(NULL, g->agent)))                                                 \
  X(muster_agent_move, REFUSES(muster_agent_move(NULL, g->agent, positions[0])))                                       \
  X(muster_agent_wake, REFUSES(muster_agent_wake(NULL, g->agent)))                                                     \
  X(muster_agent_wake_at, REFUSES(muster_agent_wake_at(NULL, g->agent, 1)))                                            \
  X(muster_agent_send,                                                                                                 \
    REFUSES(muster_agent_send(NULL, g->agent, bytes, 1)) && REFUSES(muster_agent_send(g->world, g->agent, NULL, 1)))   \
  X(muster_agent_tune,                                                                                                 \
    REFUSES(muster_agent_tune(NULL, g->agent, &tune)) && REFUSES(muster_agent_tune(g->world, g->agent, NULL)))         \
  X(muster_agent_set_periods, REFUSES(muster_agent_set_periods(NULL, g->agent, 1000000, 0)))                           \
  X(muster_agent_exists, REFUSES(!muster_agent_exists(NULL, g->agent)))                                                \
  X(muster_agent_read,                                                                                                 \
    REFUSES(muster_agent_read(NULL, g->agent, &agent)) && REFUSES(muster_agent_read(g->world, g->agent, NULL)))        \
  X(muster_agent_next, REFUSES(is_none(muster_agent_next(NULL, agents[0]))))                                           \
  X(muster_agent_reinstate, REFUSES(muster_agent_reinstate(NULL, g->agent)))                                           \
  X(muster_agent_link, REFUSES(muster_agent_link(NULL, g->agent, agents[0])))                                          \
  X(muster_agent_unlink, REFUSES(muster_agent_unlink(NULL, g->agent, agents[0])))                                      \
  X(muster_agent_set_read, REFUSES(muster_agent_set_read(NULL, g->agent, 0, &set_info)) &&                             \
                               REFUSES(muster_agent_set_read(g->world, g->agent, 0, NULL)))                            \
  X(muster_agent_explain, REFUSES(muster_agent_explain(NULL, g->agent, &explanation)) &&                               \
                              REFUSES(muster_agent_explain(g->world, g->agent, NULL)))                                 \
  X(muster_explanation_print,                                                                                          \
    REFUSES(!muster_explanation_print(NULL, text, 9)) && REFUSES(!muster_explanation_print(&explanation, NULL, 9)))    \
  X(muster_explanation_json,                                                                                           \
    REFUSES(!muster_explanation_json(NULL, text, 9)) && REFUSES(!muster_explanation_json(&explanation, NULL, 9)))      \
  X(muster_agents_move, REFUSES(!muster_agents_move(NULL, agents, positions, 1)) &&                                    \
                            REFUSES(!muster_agents_move(g->world, NULL, positions, 1)) &&                              \
                            REFUSES(!muster_agents_move(g->world, agents, NULL, 1)))                                   \
  X(muster_agents_read, REFUSES(!muster_agents_read(NULL, agents, 1, &columns)) &&                                     \
                            REFUSES(!muster_agents_read(g->world, NULL, 1, &columns)) &&                               \
                            REFUSES(!muster_agents_read(g->world, agents, 1, NULL)))                                   \
  X(muster_agents_nearby, REFUSES(!muster_agents_nearby(NULL, &query, found, 1, NULL)) &&                              \
                              REFUSES(!muster_agents_nearby(g->world, NULL, found, 1, NULL)) &&                        \
                              REFUSES(!muster_agents_nearby(g->world, &query, NULL, 1, NULL)))                         \
  X(muster_frame_changes, REFUSES(muster_frame_changes(NULL, 1, &cursor, changes, 1, &count)) &&                       \
                              REFUSES(muster_frame_changes(g->world, 1, NULL, changes, 1, &count)) &&                  \
                              REFUSES(muster_frame_changes(g->world, 1, &cursor, NULL, 1, &count)) &&                  \
                              REFUSES(muster_frame_changes(g->world, 1, &cursor, changes, 1, NULL)))                   \
  X(muster_agents_set_factor, REFUSES(!muster_agents_set_factor(NULL, MUSTER_FACTOR_BULK, agents, values, 1)) &&       \
                                  REFUSES(!muster_agents_set_factor(g->world, MUSTER_FACTOR_BULK, NULL, values, 1)) && \
                                  REFUSES(!muster_agents_set_factor(g->world, MUSTER_FACTOR_BULK, agents, NULL, 1)))   \
  X(muster_observers_move, REFUSES(!muster_observers_move(NULL, observers, positions, 1)) &&                           \
                               REFUSES(!muster_observers_move(g->world, NULL, positions, 1)) &&                        \
                               REFUSES(!muster_observers_move(g->world, observers, NULL, 1)))                          \
  X(muster_observer_add, REFUSES(muster_observer_is_null(muster_observer_add(NULL, &observer))) &&                     \
                             REFUSES(muster_observer_is_null(muster_observer_add(g->world, NULL))))                    \
  X(muster_observer_move, REFUSES(muster_observer_move(NULL, g->observer, positions[0])))                              \
  X(muster_observer_remove, REFUSES(muster_observer_remove(NULL, g->observer)))                                        \
  X(muster_observer_next, REFUSES(muster_observer_is_null(muster_observer_next(NULL, observers[0]))))                  \
  X(muster_observer_read, REFUSES(muster_observer_read(NULL, g->observer, &observer)) &&                               \
                              REFUSES(muster_observer_read(g->world, g->observer, NULL)))

#define OF_HERDS(X)                                                                                                    \
  X(muster_herd_type_register, REFUSES(!muster_herd_type_register(NULL, &herd_type).index) &&                          \
                                   REFUSES(!muster_herd_type_register(g->world, NULL).index))                          \
  X(muster_herds_add, REFUSES(!muster_herds_add(NULL, (muster_herd_type){1}, herds, 1, NULL)) &&                       \
                          REFUSES(!muster_herds_add(g->world, (muster_herd_type){1}, NULL, 1, NULL)))                  \
  X(muster_herd_remove, REFUSES(muster_herd_remove(NULL, g->herd)))                                                    \
  X(muster_herd_wake, REFUSES(muster_herd_wake(NULL, g->herd, 0)))                                                     \
  X(muster_herd_name, REFUSES(is_none(muster_herd_name(NULL, g->herd, 0))))                                            \
  X(muster_herd_read,                                                                                                  \
    REFUSES(muster_herd_read(NULL, g->herd, &herd)) && REFUSES(muster_herd_read(g->world, g->herd, NULL)))             \
  X(muster_herd_next, REFUSES(muster_herd_is_null(muster_herd_next(NULL, (muster_herd){0}))))                          \
  X(muster_herd_leaves, REFUSES(!muster_herd_leaves(NULL, g->herd, NULL, NULL, 0)))                                    \
  X(muster_herd_of, REFUSES(muster_herd_is_null(muster_herd_of(NULL, g->agent))))                                      \
  X(muster_herds_nearby, REFUSES(!muster_herds_nearby(NULL, positions[0], 0, 9.0f, near, 1)) &&                        \
                             REFUSES(!muster_herds_nearby(g->world, positions[0], 0, 9.0f, NULL, 1)))

#define OF_UPDATES(X)                                                                                                  \
  X(muster_update_move, REFUSES(muster_update_move(NULL, positions[0])))                                               \
  X(muster_update_spawn,                                                                                               \
    REFUSES(is_none(muster_update_spawn(NULL, &spawn))) && REFUSES(is_none(muster_update_spawn(g->update, NULL))))     \
  X(muster_update_remove, REFUSES(muster_update_remove(NULL, g->agent)))                                               \
  X(muster_update_wake, REFUSES(muster_update_wake(NULL, g->agent)))                                                   \
  X(muster_update_wake_at, REFUSES(muster_update_wake_at(NULL, g->agent, 1)))                                          \
  X(muster_update_react_by, REFUSES(muster_update_react_by(NULL, 1)))                                                  \
  X(muster_update_set_periods, REFUSES(muster_update_set_periods(NULL, g->agent, 1000000, 0)))                         \
  X(muster_update_set_type_periods, REFUSES(muster_update_set_type_periods(NULL, g->type, 1000000, 0)))                \
  X(muster_update_link, REFUSES(muster_update_link(NULL, g->agent)))                                                   \
  X(muster_update_unlink, REFUSES(muster_update_unlink(NULL, g->agent)))                                               \
  X(muster_update_send, REFUSES(muster_update_send(NULL, g->agent, bytes, 1)) &&                                       \
                            REFUSES(muster_update_send(g->update, g->agent, NULL, 1)))                                 \
  X(muster_update_messages, REFUSES(!muster_update_messages(NULL, messages, 1)))                                       \
  X(muster_update_messages_lost, REFUSES(!muster_update_messages_lost(NULL)))                                          \
  X(muster_update_published_of, REFUSES(!muster_update_published_of(NULL, g->agent)))                                  \
  X(muster_update_position_of, REFUSES(!muster_update_position_of(NULL, g->agent, &position)) &&                       \
                                   REFUSES(!muster_update_position_of(g->update, g->agent, NULL)))                     \
  X(muster_update_published_as, REFUSES(!muster_update_published_as(NULL, g->agent, 4)))                               \
  X(muster_update_state_as, REFUSES(!muster_update_state_as(NULL, g->agent, 4)))                                       \
  X(muster_update_state_of, REFUSES(!muster_update_state_of(NULL, g->agent)))                                          \
  X(muster_update_nearby_cut, REFUSES(!muster_update_nearby_cut(NULL)))                                                \
  X(muster_update_nearby, REFUSES(!muster_update_nearby(NULL, 9.0f, g->type, neighbours, 1)) &&                        \
                              REFUSES(!muster_update_nearby(g->update, 9.0f, g->type, NULL, 1)))                       \
  X(muster_update_random, REFUSES(muster_update_random(NULL) == 0))                                                    \
  X(muster_update_random_share, REFUSES(!(muster_update_random_share(NULL) > 0.0f)))                                   \
  X(muster_update_progress, REFUSES((muster_update_progress(NULL, 0.5f), true)))                                       \
  X(muster_update_region, REFUSES(muster_update_region(NULL) == 0))                                                    \
  X(muster_update_should_yield, REFUSES(muster_update_should_yield(NULL)))                                             \
  X(muster_update_flock,                                                                                               \
    REFUSES(!muster_update_flock(NULL, &flock)) && REFUSES(!muster_update_flock(g->update, NULL)))                     \
  X(muster_update_herd_wake, REFUSES(muster_update_herd_wake(NULL, g->herd, 0)))                                       \
  X(muster_update_herd_remove, REFUSES(muster_update_herd_remove(NULL, g->herd)))                                      \
  X(muster_update_herds_nearby, REFUSES(!muster_update_herds_nearby(NULL, 9.0f, near, 1)) &&                           \
                                    REFUSES(!muster_update_herds_nearby(g->update, 9.0f, NULL, 1)))                    \
  X(muster_update_herd_take, REFUSES(!muster_update_herd_take(NULL, g->herd, 1, NULL)))                                \
  X(muster_update_herd_push, REFUSES(muster_update_herd_push(NULL, g->herd, 0.0f, 0.0f)))

#define OF_JOBS(X)                                                                                                     \
  X(muster_pool_create, REFUSES(!muster_pool_create(NULL)))                                                            \
  X(muster_pool_workers, REFUSES(!muster_pool_workers(NULL)))                                                          \
  X(muster_pool_indices, REFUSES(!muster_pool_indices(NULL)))                                                          \
  X(muster_pool_current_index, REFUSES(muster_pool_current_index(NULL) == UINT32_MAX))                                 \
  X(muster_group_init,                                                                                                 \
    REFUSES((muster_group_init(NULL, g->pool), true)) && REFUSES((muster_group_init(&group, NULL), true)))             \
  X(muster_group_is_complete, REFUSES(muster_group_is_complete(NULL)))                                                 \
  X(muster_group_wait, REFUSES(muster_group_wait(NULL)))                                                               \
  X(muster_group_wait_helping, REFUSES(muster_group_wait_helping(NULL, 1)))                                            \
  X(muster_group_wait_asleep, REFUSES(muster_group_wait_asleep(NULL)))                                                 \
  X(muster_job_submit,                                                                                                 \
    REFUSES(muster_job_submit(NULL, 1, job, NULL, NULL)) && REFUSES(muster_job_submit(g->pool, 1, NULL, NULL, NULL)))  \
  X(muster_parallel_for, REFUSES(muster_parallel_for(NULL, 1, 9, 1, piece, NULL)) &&                                   \
                             REFUSES(muster_parallel_for(g->pool, 1, 9, 1, NULL, NULL)))                               \
  X(muster_range_submit, REFUSES(muster_range_submit(NULL, g->pool, 1, 9, 1, piece, NULL, &group)) &&                  \
                             REFUSES(muster_range_submit(&range, NULL, 1, 9, 1, piece, NULL, &group)) &&               \
                             REFUSES(muster_range_submit(&range, g->pool, 1, 9, 1, NULL, NULL, &group)) &&             \
                             REFUSES(muster_range_submit(&range, g->pool, 1, 9, 1, piece, NULL, NULL)))                \
  X(muster_pool_statistics_read,                                                                                       \
    REFUSES(muster_pool_statistics_read(NULL, 0, &sums)) && REFUSES(muster_pool_statistics_read(g->pool, 0, NULL)))

/* Null is a no-op by their word, or they take no pointer; muster_module_fail() without a format says so itself. */
#define OF_OTHERS(X)                                                                                                   \
  X(muster_world_destroy, (muster_world_destroy(NULL), true))                                                          \
  X(muster_pool_destroy, (muster_pool_destroy(NULL), true))                                                            \
  X(muster_pool_stop, !muster_pool_stop(NULL))                                                                         \
  X(muster_flight_mark, !muster_flight_mark(NULL, 1))                                                                  \
  X(muster_flight_doing_name, muster_flight_doing_name((muster_flight_doing)99))                                       \
  X(muster_module_value_of, REFUSES(!muster_module_value_of(NULL, "a")))                                               \
  X(muster_module_number, REFUSES(muster_module_number(NULL, "a", 1) == 1))                                            \
  X(muster_module_text, REFUSES(!muster_module_text(NULL, "a", NULL)))                                                 \
  X(muster_module_instance, REFUSES(!*muster_module_instance(NULL)))                                                   \
  X(muster_module_fail, REFUSES(fail(MUSTER_E_INPUT, none)))                                                           \
  X(muster_available_processors, muster_available_processors())                                                        \
  X(muster_last_error, muster_last_error())                                                                            \
  X(muster_last_result, muster_last_result() != MUSTER_OK)                                                             \
  X(muster_clock_ns, muster_clock_ns() > 0)                                                                            \
  X(muster_clock_thread_ns, muster_clock_thread_ns() > 0)                                                              \
  X(muster_version, strcmp(muster_version(), MUSTER_VERSION) == 0)                                                     \
  X(muster_result_name, muster_result_name((muster_result)99))

#define CHECK(FUNCTION, ...)                                                                                           \
  if (!failed && !(__VA_ARGS__)) failed = #FUNCTION;

static void check_journals(given *g) {
  null_journals with = null_journals_default();
  OF_JOURNALS(CHECK)
}

static void check_zones(void) {
  null_zones with = null_zones_open();
  OF_ZONES(CHECK)
  little_world_destroy(&with.little);
}

static void check_worlds(given *g) {
  const muster_frame frame = {FRAME_NS, 5000000};
  muster_type_def type = muster_type_def_default();
  muster_plan_entry entries[1];
  muster_plan_result results[1] = {{.cost_ns = 0}};
  muster_plan_part parts[1];
  muster_plan_summary summary = muster_plan_summary_default();
  muster_frame_report report = muster_frame_report_default();
  muster_statistics statistics = muster_statistics_default();
  muster_type_cost cost = muster_type_cost_default();
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_save_def save = muster_save_def_default();
  muster_snapshot_info snapshot = muster_snapshot_info_default();
  muster_load_def load = muster_load_def_default();
  muster_record_def record = muster_record_def_default();
  muster_record_status status = muster_record_status_default();
  muster_record_info info = muster_record_info_default();
  muster_replay_def replay = muster_replay_def_default();
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun overruns[1];
  muster_set_tuning set = muster_set_tuning_default();
  muster_flight_entry flights[1];
  muster_view view = muster_view_default();
  muster_view_agent shown[1] = {{.x = 0.0f}};
  muster_raster raster = {.columns = 1, .rows = 1};
  muster_extent extent = {0};
  muster_field_cell cells[1];
  uint32_t cursor = 0, count = 0;
  OF_WORLDS(CHECK)
}

static void check_agents(given *g) {
  muster_agent_def spawn = muster_agent_def_default();
  muster_agent_tuning tune = muster_agent_tuning_default();
  muster_agent_info agent = muster_agent_info_default();
  muster_set_info set_info = muster_set_info_default();
  muster_agent_explanation explanation = muster_agent_explanation_default();
  muster_observer_def observer = muster_observer_def_default();
  muster_agent_columns columns = muster_agent_columns_default();
  muster_nearby_query query = muster_nearby_query_default();
  muster_nearby_agent found[1];
  muster_change changes[1];
  uint64_t cursor = 0;
  uint32_t count;
  char text[16];
  OF_AGENTS(CHECK)
}

static void check_herds(given *g) {
  muster_herd_type_def herd_type = muster_herd_type_def_default();
  muster_herd_def herds[1] = {{.members = 1}};
  muster_herd_info herd = muster_herd_info_default();
  muster_herd_near near[1];
  OF_HERDS(CHECK)
}

static void check_updates(given *g) {
  muster_agent_def spawn = muster_agent_def_default();
  muster_message messages[1];
  muster_position position;
  muster_neighbour neighbours[1];
  muster_flock flock;
  muster_herd_near near[1];
  OF_UPDATES(CHECK)
}

static void check_jobs(given *g) {
  muster_group group;
  muster_range range;
  muster_pool_statistics sums = muster_pool_statistics_default();
  OF_JOBS(CHECK)
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static muster_atom_result check_inside(muster_update *update) {
  given *g = update->type_user;
  g->update = update;
  check_updates(g);
  g->update = NULL;
  g->atoms++;
  return MUSTER_ATOM_NEXT;
}

/* The last frame has run, and asked its agent's atom. */
static given give(void) {
  static const muster_atom atoms[] = {{.run = check_inside, .role = MUSTER_ROLE_ACTION}};
  static given g;
  muster_world_def def = muster_world_def_default();
  little_world little = little_world_create(1, &def);
  muster_observer_def observer = muster_observer_def_default();
  muster_type_def type = WITH(
      muster_type_def, it.atoms = atoms, it.atom_count = 1, it.published_bytes = sizeof(muster_herd_body),
      it.messages.waiting_max = it.messages.sends_max = it.spawns_max = 1, it.messages.bytes_max = 8, it.user = &g);
  register_type(&little, &type);
  g = (given){.pool = little.pool, .world = little.world, .type = little.type, .agent = spawn_at(&little, 0)};
  g.observer = muster_observer_add(g.world, &observer);
  muster_herd_type_def herds = WITH(muster_herd_type_def, it.member = little.type);
  muster_herd_type herd_type = muster_herd_type_register(g.world, &herds);
  cr_assert_eq(muster_herds_add(g.world, herd_type, &(muster_herd_def){.members = 4}, 1, &g.herd), 1, "%s",
               muster_last_error());
  def.pool = g.pool;
  def.planner_workers = 1;
  g.planned = muster_world_create(&def);
  cr_assert_not_null(g.planned, "%s", muster_last_error());
  run_frames(&little, 20);
  return g;
}

static void take(given *g) {
  muster_world_destroy(g->planned);
  muster_world_destroy(g->world);
  muster_pool_destroy(g->pool);
}

Test(null, every_call_that_is_given_null_refuses_with_a_sentence) {
  given g = give();
  cr_assert_gt(g.atoms, 0);
  cr_assert_null(failed, "inside an atom %s let a null pass, or said nothing", failed);
  const char *none = NULL;
  muster_result (*fail)(muster_result, const char *, ...) = muster_module_fail; /* compilers check its format */
  check_worlds(&g);
  check_agents(&g);
  check_herds(&g);
  check_journals(&g);
  check_zones();
  check_updates(&g); /* their update is null now */
  check_jobs(&g);
  OF_OTHERS(CHECK)
  cr_assert_null(failed, "%s let a null pass, or said nothing", failed);
  take(&g);
}

#define NAME(FUNCTION, ...) #FUNCTION,

static bool is_listed(const char *name, size_t length) {
  static const char *const names[] = {OF_WORLDS(NAME) OF_AGENTS(NAME) OF_HERDS(NAME) OF_JOURNALS(NAME) OF_ZONES(NAME)
                                          OF_UPDATES(NAME) OF_JOBS(NAME) OF_OTHERS(NAME)};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return true;
  return false;
}

/* Asks for each function that a header declares; returns how many there are. */
static uint32_t look_through(const char *header, const char *text) {
  uint32_t functions = 0;
  for (const char *at = text; (at = strstr(at, "\nMUSTER_API "));) {
    const char *end = strchr(at, '('), *name = end;
    while (name[-1] == '_' || (name[-1] >= '0' && name[-1] <= '9') || (name[-1] >= 'a' && name[-1] <= 'z')) name--;
    cr_expect(is_listed(name, (size_t)(end - name)), "%s declares %.*s(), which this test does not ask", header,
              (int)(end - name), name);
    functions++;
    at = end;
  }
  return functions;
}

Test(null, no_function_of_the_headers_is_left_out) {
  uint32_t functions = 0;
  DIR *folder = opendir(MUSTER_SOURCE_DIR "/include/muster");
  cr_assert_not_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char text[65536];
    if (!strstr(entry->d_name, ".h")) continue;
    const char *path = formed(MUSTER_SOURCE_DIR "/include/muster/%s", entry->d_name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    functions += look_through(entry->d_name, text);
  }
  closedir(folder);
  cr_assert_geq(functions, 129, "only %u functions were found in the headers", functions);
}
