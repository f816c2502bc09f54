/* Calls that belong between two frames, made while a frame runs: each is refused with a sentence, on any thread. */
#include "misuse/misuse.h"

/* Inside a callback of the frame, by its own thread or by another. */
struct asked {
  muster_world *world;
  muster_type type;
  muster_agent agent;
  muster_observer observer;
  const char *let_pass; /* the first function that did not refuse, or said nothing of the frame */
  uint32_t asked;
};

#define CALLS(X)                                                                                                       \
  X(muster_type_register, !muster_type_register(a->world, &type).index)                                                \
  X(muster_herd_type_register, !muster_herd_type_register(a->world, &herd_type).index)                                 \
  X(muster_agent_read, muster_agent_read(a->world, a->agent, &agent) == MUSTER_E_STATE)                                \
  X(muster_agent_next, muster_agent_is_null(muster_agent_next(a->world, (muster_agent){0})))                           \
  X(muster_observer_next, muster_observer_is_null(muster_observer_next(a->world, (muster_observer){0})))               \
  X(muster_observer_read, muster_observer_read(a->world, a->observer, &observer) == MUSTER_E_STATE)                    \
  X(muster_frame_run, muster_frame_run(a->world, &frame) == MUSTER_E_STATE)                                            \
  X(muster_frame_report_read, muster_frame_report_read(a->world, &report) == MUSTER_E_STATE)                           \
  X(muster_statistics_read, muster_statistics_read(a->world, &statistics) == MUSTER_E_STATE)                           \
  X(muster_statistics_clear, (muster_statistics_clear(a->world), true))                                                \
  X(muster_type_cost_read, muster_type_cost_read(a->world, a->type, 0, &cost) == MUSTER_E_STATE)                       \
  X(muster_world_hash, muster_world_hash(a->world) == 0)                                                               \
  X(muster_overrun_counts_read, muster_overrun_counts_read(a->world, a->type, &counts) == MUSTER_E_STATE)              \
  X(muster_overruns_read, !muster_overruns_read(a->world, overruns, 1))                                                \
  X(muster_agent_explain, muster_agent_explain(a->world, a->agent, &explanation) == MUSTER_E_STATE)                    \
  X(muster_agent_set_read, muster_agent_set_read(a->world, a->agent, 0, &set) == MUSTER_E_STATE)                       \
  X(muster_agents_move, !muster_agents_move(a->world, &a->agent, &position, 1))                                        \
  X(muster_agents_read, !muster_agents_read(a->world, &a->agent, 1, &columns))                                         \
  X(muster_agents_nearby, !muster_agents_nearby(a->world, &query, found, 1, NULL))                                     \
  X(muster_frame_changes,                                                                                              \
    muster_frame_changes(a->world, MUSTER_CHANGE_ALL, &changed, changes, 1, &change_count) == MUSTER_E_STATE)          \
  X(muster_observers_move, !muster_observers_move(a->world, &a->observer, &position, 1))                               \
  X(muster_agents_set_factor, !muster_agents_set_factor(a->world, MUSTER_FACTOR_BULK, &a->agent, &share, 1))           \
  X(muster_flight_attach, muster_flight_attach(a->world, NULL, 0) == MUSTER_E_STATE)                                   \
  X(muster_herds_add, !muster_herds_add(a->world, (muster_herd_type){1}, &herds, 1, NULL))                             \
  X(muster_herd_name, muster_agent_is_null(muster_herd_name(a->world, muster_herd_make(1, 1), 0)))                     \
  X(muster_herd_read, muster_herd_read(a->world, muster_herd_make(1, 1), &herd) == MUSTER_E_STATE)                     \
  X(muster_herd_next, muster_herd_is_null(muster_herd_next(a->world, (muster_herd){0})))                               \
  X(muster_herd_leaves, !muster_herd_leaves(a->world, muster_herd_make(1, 1), NULL, NULL, 0))                          \
  X(muster_herd_of, muster_herd_is_null(muster_herd_of(a->world, a->agent)))                                           \
  X(muster_herds_nearby, !muster_herds_nearby(a->world, position, 0, 9.0f, &near, 1))                                  \
  X(muster_record_begin, muster_record_begin(a->world, &record) == MUSTER_E_STATE)                                     \
  X(muster_record_end, muster_record_end(a->world) == MUSTER_E_STATE)                                                  \
  X(muster_record_status_read, muster_record_status_read(a->world, &status) == MUSTER_E_STATE)                         \
  X(muster_replay_begin, muster_replay_begin(a->world, &replay) == MUSTER_E_STATE)                                     \
  X(muster_replay_frame, muster_replay_frame(a->world) == MUSTER_E_STATE)                                              \
  X(muster_world_save, muster_world_save(a->world, &save) == MUSTER_E_STATE)                                           \
  X(muster_world_settle, muster_world_settle(a->world) == MUSTER_E_STATE)                                              \
  X(muster_world_load, muster_world_load(a->world, &load) == MUSTER_E_STATE)                                           \
  X(muster_trace_write, muster_trace_write(a->world, take_text, NULL) == MUSTER_E_STATE)                               \
  X(muster_world_tuning_read, muster_world_tuning_read(a->world, &tuning) == MUSTER_E_STATE)                           \
  X(muster_world_set_workers, muster_world_set_workers(a->world, 1) == MUSTER_E_STATE)                                 \
  X(muster_world_workers, muster_world_workers(a->world) == 0)                                                         \
  X(muster_agents_view, !muster_agents_view(a->world, &view, shown, 1, &cursor))                                       \
  X(muster_agents_outside, !muster_agents_outside(a->world, &view, &a->agent, &position, NULL, 1, &cursor))            \
  X(muster_agents_raster, !muster_agents_raster(a->world, &view, &raster, &cursor))                                    \
  X(muster_agents_extent, muster_agents_extent(a->world, 0, 9, &extent, &cursor) == MUSTER_E_STATE)                    \
  X(muster_field_edge_m, !(muster_field_edge_m(a->world) > 0.0))                                                       \
  X(muster_field_view, !muster_field_view(a->world, &view, cells, 1, &cursor))

#define ASK(FUNCTION, ...)                                                                                             \
  muster_module_fail(MUSTER_OK, "-");                                                                                  \
  if (!a->let_pass && !((__VA_ARGS__) && says_why(muster_last_error()))) a->let_pass = #FUNCTION;

/* What saves a world is refused on other threads at any moment, and says so. */
static bool says_why(const char *sentence) {
  return strstr(sentence, "not inside a frame") || strstr(sentence, "not on this thread");
}

static void ask_all(struct asked *a) {
  const muster_frame frame = {UINT64_MAX / 4, 5000000};
  muster_type_def type = muster_type_def_default();
  muster_herd_type_def herd_type = muster_herd_type_def_default();
  muster_agent_info agent = muster_agent_info_default();
  muster_observer_def observer = muster_observer_def_default();
  muster_frame_report report = muster_frame_report_default();
  muster_statistics statistics = muster_statistics_default();
  muster_type_cost cost = muster_type_cost_default();
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun overruns[1];
  muster_agent_explanation explanation = muster_agent_explanation_default();
  muster_set_info set = muster_set_info_default();
  muster_position position = {0, 0, 0};
  const float share = 1.0f;
  muster_agent_columns columns = muster_agent_columns_default();
  muster_nearby_query query = muster_nearby_query_default();
  muster_nearby_agent found[1];
  muster_change changes[1];
  uint64_t changed = 0;
  uint32_t change_count;
  muster_herd_def herds = {.members = 1};
  muster_herd_info herd = muster_herd_info_default();
  muster_herd_near near;
  muster_record_def record = muster_record_def_default();
  muster_record_status status = muster_record_status_default();
  muster_replay_def replay = muster_replay_def_default();
  muster_save_def save = muster_save_def_default();
  muster_load_def load = muster_load_def_default();
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_view view = muster_view_default();
  muster_view_agent shown[1];
  muster_raster_cell raster_cells[1];
  muster_raster raster = {.columns = 1, .rows = 1, .cells = raster_cells};
  muster_extent extent = {0};
  muster_field_cell cells[1];
  uint32_t cursor = 0;
  record.write = save.write = take_bytes;
  replay.bytes = load.bytes = &position;
  replay.count = load.count = sizeof position;
  CALLS(ASK)
  a->asked++;
}

static void *ask_on_thread(void *argument) {
  ask_all(argument);
  return NULL;
}

static muster_atom_result ask_in_atom(muster_update *update) {
  ask_all(update->type_user);
  return MUSTER_ATOM_NEXT;
}

/* The frame goes on when the other thread has asked, so that it asks inside of it. */
static muster_atom_result ask_beside(muster_update *update) {
  pthread_t thread;
  if (!pthread_create(&thread, NULL, ask_on_thread, update->type_user)) pthread_join(thread, NULL);
  return MUSTER_ATOM_NEXT;
}

static void touch(muster_update *update) {
  ask_all(update->type_user);
}

/* Asks in these callbacks; each call is refused there, and is made `times` times, or at least once: 0. */
static void expect_refusals(const muster_atom *atom, void (*on_spawned)(muster_update *), uint32_t times) {
  struct asked a = {0};
  muster_observer_def observer = muster_observer_def_default();
  muster_type_def type =
      WITH(muster_type_def, it.atoms = atom, it.atom_count = 1, it.user = &a, it.on_spawned = on_spawned);
  SCOPED_WORLD little = typed_world(2, WITH(virtual_world_def, it.trace.frames = 2), type);
  a.world = little.world;
  a.type = little.type;
  a.observer = muster_observer_add(little.world, &observer);
  a.agent = spawn_at(&little, 0);
  run_frames(&little, 12);
  cr_assert_null(a.let_pass, "%s was let pass", a.let_pass);
  cr_assert(times ? a.asked == times : a.asked > 0, "%u times", a.asked);
}

Test(frame, calls_that_belong_between_frames_are_refused_in_atoms) {
  static const muster_atom behaviour = {.run = ask_in_atom}, action = {.run = ask_in_atom, .role = MUSTER_ROLE_ACTION};
  expect_refusals(&behaviour, NULL, 0);
  expect_refusals(&action, NULL, 0);
}

Test(frame, calls_that_belong_between_frames_are_refused_in_on_spawned) {
  static const muster_atom atom = {.run = nothing};
  expect_refusals(&atom, touch, 1);
}

Test(frame, calls_that_belong_between_frames_are_refused_on_another_thread_while_a_frame_runs) {
  static const muster_atom atom = {.run = ask_beside};
  expect_refusals(&atom, NULL, 0);
}

/* What a callback of a call between two frames may do. */
struct saving {
  muster_world *world;
  muster_result read, ran, saved;
};

static bool ask_in_write(const void *bytes, size_t count, void *user) {
  struct saving *saving = user;
  muster_statistics statistics = muster_statistics_default();
  muster_save_def save = WITH(muster_save_def, it.write = take_bytes);
  (void)bytes, (void)count;
  saving->read = muster_statistics_read(saving->world, &statistics);
  saving->ran = muster_frame_run(saving->world, &(muster_frame){FRAME_NS, 5000000});
  saving->saved = muster_world_save(saving->world, &save);
  return true;
}

Test(frame, in_a_callback_of_a_save_reading_is_allowed_and_a_frame_is_refused) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  struct saving saving = {.world = little.world, .read = MUSTER_E_INPUT};
  muster_save_def def = WITH(muster_save_def, it.write = ask_in_write, it.user = &saving);
  cr_assert_eq(muster_world_save(little.world, &def), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(saving.read, MUSTER_OK);
  cr_assert_eq(saving.ran, MUSTER_E_STATE);
  cr_assert_eq(saving.saved, MUSTER_E_STATE);
  run_frame(&little);
}
