/* Importance, levels, elasticity and deciles. */
#include "plan/score.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { AGENTS = 1000 };

static muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

typedef struct fixture {
  arena arena;
  agent_store store;
  type_table types;
  space space;
  observer_table observers;
  class_table classes;
  score_board board;
  score_inputs inputs;
} fixture;

static fixture *create(void) {
  fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = muster_default_type_def();
  type.atoms = &atom;
  type.atom_count = 1;
  type.level_count = 4;
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, AGENTS, &fixture->arena);
  types_create(&fixture->types, 1, &fixture->arena);
  space_create(&fixture->space, AGENTS, 32.0, &fixture->arena);
  observers_create(&fixture->observers, 8, &fixture->arena);
  classes_create(&fixture->classes, 1, AGENTS, &fixture->arena);
  types_register(&fixture->types, &type, AGENTS, &fixture->arena);
  fixture->inputs =
      (score_inputs){&fixture->store, &fixture->types, &fixture->space, &fixture->observers, &fixture->classes};
  return fixture;
}

static void destroy(fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static void observe(fixture *fixture, uint32_t index, double x, uint32_t partition) {
  muster_observer_def def = muster_default_observer_def();
  def.position.x = x;
  def.partition = partition;
  observers_add(&fixture->observers, index, &def);
  observers_group(&fixture->observers);
}

static agent_row *born(fixture *fixture, uint32_t index, double x, uint32_t partition, float floor) {
  agent_store *store = &fixture->store;
  store->rows[index] = (agent_row){.floor = share_of(floor), .elasticity_step = ELASTICITY_DERIVED};
  store->places[index].partition = (uint16_t)partition;
  space_place(&fixture->space, &store->places[index], (muster_position){x, 0, 0});
  score_new_agent(&fixture->board, &fixture->inputs, index);
  store_activate(store, index);
  store->rows[index].virtual_due_ns = 1000;
  wheel_insert(&fixture->classes, &fixture->classes.classes[store->rows[index].class], 0, store, index);
  return &store->rows[index];
}

static void place_at(fixture *fixture, uint32_t index, double x) {
  space_place(&fixture->space, &fixture->store.places[index], (muster_position){x, 0, 0});
  score_agent(&fixture->board, &fixture->inputs, index, true);
}

Test(score, importance_falls_from_near_to_far_and_takes_the_nearest_observer_of_the_partition) {
  fixture *fixture = create();
  observe(fixture, 0, 0, 0);
  observe(fixture, 1, 1000, 0);
  observe(fixture, 2, 500, 7);
  const struct {
    double x;
    uint32_t partition;
    float floor, importance;
  } cases[] = {{10, 0, 0, 1},  {137.5, 0, 0, 0.5f}, {500, 0, 0, 0},
               {500, 7, 0, 1}, {990, 0, 0, 1},      {500, 0, 0.25f, 0.25f}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const agent_row *row = born(fixture, i, cases[i].x, cases[i].partition, cases[i].floor);
    cr_assert_float_eq(share_value(row->importance), cases[i].importance, 1e-5, "case %u", i);
  }
  destroy(fixture);
}

Test(score, importance_sets_the_level_and_the_elasticity) {
  fixture *fixture = create();
  observe(fixture, 0, 0, 0);
  const agent_row *near = born(fixture, 0, 0, 0, 0), *far = born(fixture, 1, 5000, 0, 0);
  cr_assert_eq(near->level, 0);
  cr_assert_eq(far->level, 3);
  cr_assert_float_eq(fixture->classes.classes[near->class].elasticity, 0.125, 1e-9);
  cr_assert_float_eq(fixture->classes.classes[far->class].elasticity, 8.0, 1e-9);
  cr_assert_eq(fixture->store.level_counts[0], 1);
  cr_assert_eq(fixture->store.level_counts[3], 1);
  destroy(fixture);
}

Test(score, a_step_to_and_fro_on_a_border_does_not_flap_the_level) {
  fixture *fixture = create();
  observe(fixture, 0, 0, 0);
  const agent_row *row = born(fixture, 0, 134, 0, 0);
  cr_assert_eq(row->level, 0);
  for (int i = 0; i < 10; i++) {
    place_at(fixture, 0, i % 2 ? 134 : 142); /* importance 0.516 and 0.48 around the threshold 0.5 */
    cr_assert_eq(row->level, 0);
  }
  place_at(fixture, 0, 160);
  cr_assert_eq(row->level, 1);
  place_at(fixture, 0, 134);
  cr_assert_eq(row->level, 1);
  place_at(fixture, 0, 100);
  cr_assert_eq(row->level, 0);
  destroy(fixture);
}

Test(score, an_exempt_agent_keeps_elasticity_zero_wherever_it_is) {
  fixture *fixture = create();
  observe(fixture, 0, 0, 0);
  const agent_row *row = born(fixture, 0, 0, 0, 0);
  fixture->store.rows[0].elasticity_step = 0;
  place_at(fixture, 0, 3000);
  cr_assert_eq(fixture->classes.classes[row->class].elasticity, 0.0);
  destroy(fixture);
}

Test(score, a_sweep_sees_everyone_within_sixteen_frames) {
  fixture *fixture = create();
  for (uint32_t i = 0; i < AGENTS; i++) born(fixture, i, i, 0, 0);
  observe(fixture, 0, 500, 0);
  for (uint32_t frame = 0; frame < SCORE_SWEEP_FRAMES; frame++) score_sweep(&fixture->board, &fixture->inputs);
  for (uint32_t i = 0; i < AGENTS; i++) {
    double distance = fabs((double)i - 500);
    if (distance < 245) cr_assert_gt(fixture->store.rows[i].importance, 0, "agent %u", i);
    if (distance >= 250) cr_assert_eq(fixture->store.rows[i].importance, 0, "agent %u", i);
  }
  uint32_t counted = 0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) counted += fixture->board.importance[bin];
  cr_assert_eq(counted, AGENTS);
  destroy(fixture);
}

Test(score, deciles_cut_the_population_into_equal_parts_even_with_ties) {
  fixture *fixture = create();
  observe(fixture, 0, 0, 0);
  for (uint32_t i = 0; i < AGENTS; i++) born(fixture, i, i, 0, 0); /* three quarters have importance 0 */
  score_deciles(&fixture->board, AGENTS);
  uint32_t counts[MUSTER_DECILES] = {0};
  for (uint32_t i = 0; i < AGENTS; i++)
    counts[score_decile_of(&fixture->board, fixture->store.rows[i].importance, i)]++;
  for (uint32_t decile = 0; decile < MUSTER_DECILES; decile++)
    cr_assert(counts[decile] > 50 && counts[decile] < 150, "decile %u has %u", decile, counts[decile]);
  cr_assert_eq(score_decile_of(&fixture->board, UINT16_MAX, 3), MUSTER_DECILES - 1);
  destroy(fixture);
}

Test(score, forgetting_an_agent_leaves_no_trace) {
  fixture *fixture = create();
  const agent_row *row = born(fixture, 0, 0, 0, 0);
  wheel_remove(&fixture->classes, &fixture->classes.classes[row->class], &fixture->store, 0);
  score_forget_agent(&fixture->board, &fixture->inputs, 0);
  store_deactivate(&fixture->store, 0);
  cr_assert_eq(fixture->classes.active_count, 0);
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) cr_assert_eq(fixture->board.importance[bin], 0);
  destroy(fixture);
}
