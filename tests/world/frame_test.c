/* What a frame promises: exact elapsed time, publication at the commit, order of actions, slicing, the budget. */
#include "world/fixture.h"
#include "world/world_queues.h"

enum { LOG_MAX = 4096 };

static struct journal {
  uint32_t count, agents[LOG_MAX];
  uint64_t elapsed_ns[LOG_MAX], sum_ns;
  muster_agent prey;
  uint32_t eaten, refused;
  bool flag;
} journal; /* each test runs in a process of its own */

static void note(muster_update *update) {
  journal.sum_ns += update->elapsed_ns;
  if (journal.count == LOG_MAX) return;
  journal.agents[journal.count] = muster_agent_index(update->agent);
  journal.elapsed_ns[journal.count++] = update->elapsed_ns;
}

static muster_atom_result note_update(muster_update *update) {
  note(update);
  return MUSTER_ATOM_NEXT;
}

Test(frame, the_elapsed_times_of_an_agent_add_up_to_the_time_that_passed_however_it_is_throttled) {
  for (uint64_t budget_ns = 10000; budget_ns <= 10000000; budget_ns *= 10) {
    journal = (struct journal){0};
    SCOPED_WORLD little = papers_world(1);
    add_type(&little, type_running(note_update, 100000));
    muster_agent agents[20];
    for (int i = 0; i < 20; i++) agents[i] = spawn_at(&little, i);
    run_frame_with(&little, budget_ns);
    uint64_t begin = little.now_ns, expected = 0;
    for (int i = 0; i < 400; i++) run_frame_with(&little, budget_ns);
    for (int i = 0; i < 20; i++) expected += info_of(&little, agents[i]).last_update_ns - begin;
    cr_assert_eq(journal.sum_ns, expected);
    cr_assert_gt(journal.count, 70, "at its longest period each runs four times in four seconds");
  }
}

Test(frame, periods_stretch_so_that_demand_fits_and_never_beyond_the_longest) {
  SCOPED_WORLD little = papers_world(1);
  add_type(&little, CHANGED(type_running(note_update, 100000), it.period_ns = 20000000, it.period_max_ns = 200000000));
  muster_agent agent = spawn_at(&little, 0);
  for (int i = 1; i < 200; i++) spawn_at(&little, i);
  for (int i = 0; i < 50; i++) run_frame_with(&little, 30000000); /* no update waits, so the fit is not corrected */
  muster_frame_report report = run_frame_with(&little, 4000000);  /* 0.4 of the time; nominal 1.0, minimum 0.1 */
  cr_assert_float_eq(report.utilisation_nominal, 1.0, 1e-3);
  cr_assert_float_eq(report.utilisation_fitted, 0.4, 1e-3);
  cr_assert_float_eq(report.pressure, 2.0 / 3.0, 1e-3);
  cr_assert_float_eq((double)info_of(&little, agent).period_ns, 5e7, 1e5);
  cr_assert_float_eq(report.period_deviation_ns, 3e7, 1e5);
  report = run_frame_with(&little, 500000);
  cr_assert_gt(report.pressure, 1.0f);
  cr_assert_eq(info_of(&little, agent).period_ns, 200000000);
}

Test(frame, spends_no_more_than_the_budget_in_virtual_time_and_uses_it_while_work_waits) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 30000}, {nothing, MUSTER_ROLE_BEHAVIOUR, 40000}};
  SCOPED_WORLD little = world_of(CHANGED(type_with(atoms, 2), it.period_ns = it.period_max_ns = 10000000));
  for (int i = 0; i < 200; i++) spawn_at(&little, i);
  for (int i = 0; i < 100; i++) {
    muster_frame_report report = run_frame_with(&little, 1000000);
    cr_assert_leq(report.wall_ns, 1000000);
    cr_assert_eq(report.overrun_own_ns, 0);
    if (report.carried) cr_assert_gt(report.wall_ns, 1000000 - 40000);
  }
}

static muster_atom_result publish_count(muster_update *update) {
  ++*(uint64_t *)update->published;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result read_neighbour(muster_update *update) {
  const uint64_t *seen = muster_update_published_of(update, journal.prey);
  cr_assert_not_null(seen);
  note(update);
  journal.elapsed_ns[journal.count - 1] = *seen;
  return MUSTER_ATOM_NEXT;
}

Test(frame, others_see_published_state_as_of_the_last_commit) {
  const muster_atom atoms[] = {{publish_count, MUSTER_ROLE_BEHAVIOUR, 0}, {read_neighbour, MUSTER_ROLE_BEHAVIOUR, 0}};
  SCOPED_WORLD little =
      world_of(CHANGED(type_with(atoms, 2), it.published_bytes = 8, it.period_ns = it.period_max_ns = FRAME_NS));
  journal.prey = spawn_at(&little, 0);
  spawn_at(&little, 1);
  run_frames(&little, 5);
  /* In each frame both agents run, and both see what the first had published before the frame. */
  for (uint32_t i = 0; i < journal.count / 2 * 2; i++) cr_assert_eq(journal.elapsed_ns[i], i / 2);
  cr_assert_geq(journal.count, 8);
  cr_assert_eq(*(const uint64_t *)info_of(&little, journal.prey).published, journal.count / 2);
}

static muster_atom_result eat(muster_update *update) {
  note(update);
  if (muster_agent_is_null(journal.prey) || muster_agent_equal(update->agent, journal.prey)) return MUSTER_ATOM_NEXT;
  muster_result result = muster_update_remove(update, journal.prey);
  journal.eaten += result == MUSTER_OK;
  journal.refused += result == MUSTER_E_STALE;
  return MUSTER_ATOM_NEXT;
}

Test(frame, action_atoms_run_in_agent_order_and_a_prey_is_eaten_once) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 0}, {eat, MUSTER_ROLE_ACTION, 0}};
  SCOPED_WORLD little = little_world_create(4, NULL);
  add_type(&little, CHANGED(type_with(atoms, 2), it.period_ns = it.period_max_ns = FRAME_NS));
  muster_agent agents[50];
  for (int i = 0; i < 50; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  journal.count = 0;
  journal.prey = agents[17];
  run_frame(&little);
  cr_assert_eq(journal.eaten, 1);
  cr_assert_gt(journal.refused, 10);
  for (uint32_t i = 1; i < journal.count; i++) cr_assert_lt(journal.agents[i - 1], journal.agents[i]);
  run_frame(&little);
  cr_assert(!muster_agent_exists(little.world, agents[17]));
}

Test(frame, action_atoms_without_time_lead_the_next_commit_and_none_is_lost) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {note_update, MUSTER_ROLE_ACTION, 200000}};
  SCOPED_WORLD little = world_of(CHANGED(type_with(atoms, 2), it.period_ns = it.period_max_ns = 100000000));
  for (int i = 0; i < 50; i++) spawn_at(&little, i);
  uint32_t waited = 0, completed = 0;
  for (int i = 0; i < 300; i++) {
    muster_frame_report report = run_frame_with(&little, 1000000);
    waited += report.actions_waiting > 0;
    completed += report.completed;
    cr_assert_leq(report.wall_ns, 1000000 + 200000);
  }
  cr_assert_gt(waited, 10, "50 x 0.2 ms per 100 ms in frames of 1 ms: sometimes there is no time");
  cr_assert_eq(journal.count, completed);
  cr_assert_gt(completed, 50 * 20);
}

static muster_atom_result slice(muster_update *update) {
  uint64_t *state = update->state;
  if (state[0] == 0) state[1] = update->elapsed_ns;
  cr_assert_eq(state[1], update->elapsed_ns, "the whole update stands for one and the same span of time");
  if (++state[0] == 10) {
    state[0] = 0;
    note(update);
  }
  return MUSTER_ATOM_NEXT;
}

Test(frame, a_preempted_update_goes_on_where_it_stopped) {
  muster_atom atoms[10];
  for (int i = 0; i < 10; i++) atoms[i] = (muster_atom){slice, MUSTER_ROLE_BEHAVIOUR, 100000};
  SCOPED_WORLD little =
      world_of(CHANGED(type_with(atoms, 10), it.state_bytes = 16, it.period_ns = it.period_max_ns = 200000000));
  for (int i = 0; i < 7; i++) spawn_at(&little, i);
  uint32_t preempted = 0, completed = 0;
  for (int i = 0; i < 500; i++) {
    muster_frame_report report = run_frame_with(&little, 730000);
    preempted += report.preempted;
    completed += report.completed;
  }
  cr_assert_gt(preempted, 100);
  cr_assert_eq(journal.count, completed);
  cr_assert_geq(completed, 7 * 24);
}

static muster_atom_result finish_early(muster_update *update) {
  note(update);
  return MUSTER_ATOM_FINISH;
}

static muster_atom_result never(muster_update *update) {
  (void)update;
  journal.flag = true;
  return MUSTER_ATOM_NEXT;
}

Test(frame, an_atom_that_finishes_skips_the_rest_and_the_actions) {
  const muster_atom atoms[] = {
      {finish_early, MUSTER_ROLE_BEHAVIOUR, 0}, {never, MUSTER_ROLE_BEHAVIOUR, 0}, {never, MUSTER_ROLE_ACTION, 0}};
  SCOPED_WORLD little = world_of(type_with(atoms, 3));
  spawn_at(&little, 0);
  run_frames(&little, 50);
  cr_assert_gt(journal.count, 3);
  cr_assert(!journal.flag);
}

static muster_atom_result breed(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
  for (int i = 0; i < 3; i++) {
    muster_agent child = muster_update_spawn(update, &def);
    journal.refused += muster_agent_is_null(child);
    if (!muster_agent_is_null(child)) cr_assert(muster_agent_exists(update->world, child));
  }
  return MUSTER_ATOM_NEXT;
}

Test(frame, an_update_spawns_as_many_as_its_type_may_and_the_rest_is_refused_and_counted) {
  SCOPED_WORLD little =
      world_of(CHANGED(type_running(breed, 0), it.spawns_max = 2, it.period_ns = it.period_max_ns = 100000000));
  spawn_at(&little, 0);
  while (run_frame(&little).completed == 0) continue;
  run_frame(&little);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_eq(statistics.completed, 1);
  cr_assert_eq(statistics.spawned, 3);
  cr_assert_eq(statistics.spawns_refused, 1);
  cr_assert_eq(journal.refused, 1);
}

static muster_atom_result frame_inside(muster_update *update) {
  journal.flag = muster_frame_run(update->world, &(muster_frame){UINT32_MAX, 1000000}) == MUSTER_E_STATE &&
                 muster_type_register(update->world, &(muster_type_def){0}).index == 0;
  return MUSTER_ATOM_NEXT;
}

Test(frame, refuses_what_makes_no_sense_and_changes_nothing) {
  SCOPED_WORLD little = world_of(type_running(frame_inside, 0));
  spawn_at(&little, 0);
  run_frames(&little, 20);
  cr_assert(journal.flag, "neither a frame nor a registration inside a frame");
  uint64_t hash = muster_world_hash(little.world);
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){little.now_ns - 1, 1000000}), MUSTER_E_TIME);
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){UINT64_MAX, 1000000}), MUSTER_E_TIME);
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){little.now_ns, 0}), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){little.now_ns, UINT64_MAX}), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_frame_run(NULL, &(muster_frame){0, 1000000}), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_world_hash(little.world), hash);
  cr_assert_eq(muster_frame_run(little.world, &(muster_frame){little.now_ns, 1000000}), MUSTER_OK, "no time passes");
}

static muster_atom_result move_badly(muster_update *update) {
  cr_assert_eq(muster_update_move(update, (muster_position){0.0 / 0.0, 0, 0}), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_update_move(update, (muster_position){0, 1e300, 0}), MUSTER_E_ARGUMENT);
  cr_assert_null(muster_update_state_of(update, update->agent), "another's state belongs to action atoms");
  return MUSTER_ATOM_NEXT;
}

Test(frame, counts_positions_that_are_not_finite_and_keeps_the_old_one) {
  SCOPED_WORLD little = world_of(type_running(move_badly, 0));
  muster_agent agent = spawn_at(&little, 5);
  run_frames(&little, 11);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_eq(statistics.positions_refused, 2 * statistics.completed);
  cr_assert_float_eq(info_of(&little, agent).position.x, 5.0, 1e-5);
}

Test(frame, every_class_counts_among_the_bytes_that_are_in_use) {
  enum { TYPES = 8 };
  SCOPED_WORLD little = little_world_create(1, NULL);
  for (uint32_t i = 0; i < TYPES; i++) {
    add_type(&little, type_running(nothing, 1000));
    spawn_at(&little, i);
  }
  run_frames(&little, 2);
  muster_statistics statistics = statistics_of(&little);
  cr_assert_geq(little.world->queues->classes.count, TYPES);
  cr_assert_gt(statistics.bytes_scheduling,
               sizeof *little.world + little.world->queues->classes.count * sizeof(agent_class));
}
