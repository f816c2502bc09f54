/* Which observers wait to be written, and which are found near agents: against a look at every observer. */
#include "agents/observer_query.h"
#include "support/arenas.h"

enum { MAXIMUM = 500 };

static struct arena arena;
static observer_table table;
static uint64_t draws;

static void end(void) {
  arena_destroy(&arena);
}

static void begin(void) {
  end();
  arena = begin_arena();
  table = (observer_table){0};
  observers_create(&table, MAXIMUM, &arena);
  cr_assert_not(arena.failed);
}

TestSuite(observers, .init = begin, .fini = end);

static double draw(double below) {
  return (double)muster_random_share(random_at(3, 0, 0, ++draws)) * below;
}

static void add(uint32_t index, muster_position position, uint32_t partition, float near_m, float far_m) {
  muster_observer_def def =
      WITH(muster_observer_def, it.position = position, it.partition = partition, it.near_m = near_m, it.far_m = far_m);
  observers_add(&table, index, &def);
}

static void add_usual(uint32_t index, double x) {
  add(index, (muster_position){x, 0, 0}, 0, 25, 250);
}

static uint32_t next(void) {
  uint32_t index = observers_next(&table, OBSERVER_LEAPS);
  return index == OBSERVER_NONE ? observers_next(&table, OBSERVER_WALKS) : index;
}

static void write_all(void) {
  uint32_t index;
  observers_count(&table);
  while ((index = next()) != OBSERVER_NONE) observers_write(&table, index);
}

Test(observers, wait_in_the_order_in_which_they_came_each_once) {
  for (uint32_t i = 10; i-- > 0;) add_usual(i, i);
  observers_move(&table, 9, (muster_position){1e6, 0, 0});
  observers_remove(&table, 5);
  add_usual(5, 77);
  observers_count(&table);
  for (uint32_t i = 10; i-- > 0;) {
    cr_assert_eq(next(), i);
    observers_write(&table, i);
  }
  cr_assert_eq(next(), OBSERVER_NONE);
  cr_assert_eq(table.sources[5].position.x, 77);
  cr_assert_eq(table.sources[9].position.x, 1e6);
}

Test(observers, wait_only_when_they_came_far_enough_from_where_they_were_written) {
  add_usual(3, 0);
  write_all();
  const double step_m = (double)OBSERVER_STEP * 225;
  for (double x = 0; x < step_m; x += 0.25) observers_move(&table, 3, (muster_position){x, 0, 0});
  cr_assert_eq(next(), OBSERVER_NONE);
  observers_move(&table, 3, (muster_position){0, 0, step_m * 1.01}); /* height counts */
  cr_assert_eq(table.sources[3].position.z, 0);
  cr_assert_eq(next(), 3);
  observers_write(&table, 3);
  cr_assert_float_eq(table.sources[3].position.z, step_m * 1.01, 1e-9);
}

Test(observers, who_leap_come_before_those_who_walk_and_are_written_once) {
  for (uint32_t i = 0; i < 4; i++) add_usual(i, 0);
  write_all();
  for (uint32_t i = 0; i < 4; i++) observers_move(&table, i, (muster_position){10, 0, 0});
  observers_move(&table, 2, (muster_position){100, 0, 0});
  cr_assert_eq(observers_waiting(&table), 5);
  cr_assert_eq(observers_next(&table, OBSERVER_LEAPS), 2);
  observers_write(&table, 2);
  observers_move(&table, 1, (muster_position){1, 0, 0}); /* comes back */
  cr_assert_eq(observers_next(&table, OBSERVER_WALKS), 0);
  observers_write(&table, 0);
  cr_assert_eq(observers_next(&table, OBSERVER_WALKS), 3);
  observers_write(&table, 3);
  cr_assert_eq(observers_next(&table, OBSERVER_LEAPS), OBSERVER_NONE);
  cr_assert_eq(observers_waiting(&table), 0);
}

Test(observers, who_walked_and_then_left_is_due_whichever_queue_is_asked_first) {
  add_usual(0, 0);
  write_all();
  observers_move(&table, 0, (muster_position){10, 0, 0});
  observers_remove(&table, 0);
  observers_count(&table);
  cr_assert_eq(observers_next(&table, OBSERVER_WALKS), 0);
  observers_write(&table, 0);
  cr_assert_not(table.sources[0].written);
}

Test(observers, the_nearest_is_told_whoever_came_first) {
  const double places[] = {70, -20, 30, -90};
  for (uint32_t i = 0; i < 4; i++) add_usual(i, places[i]);
  cr_assert_eq(observers_nearest(&table, (muster_position){0, 0, 0}, 0), 1);
  cr_assert_eq(observers_nearest(&table, (muster_position){60, 0, 0}, 0), 0);
  cr_assert_eq(observers_nearest(&table, (muster_position){0, 0, 0}, 1), OBSERVER_NONE);
}

/* Most see 16 m, but too many see 256 m to be called few: the typical far_m becomes 64 m, a quarter of that. */
Test(observers, what_is_usual_lets_few_see_more_than_four_times_as_far) {
  for (uint32_t i = 0; i < 100; i++) add(i, (muster_position){0, 0, 0}, 0, 5, i < 60 ? 16 : 256);
  write_all();
  cr_assert_float_eq(table.typical_far_m, 64.0f, 1e-3);
  cr_assert_eq(table.far_sighted_count, 0);
}

/* What may be near a box. */
static observer_query gather(query_box box) {
  observer_query list;
  observer_query_gather(&table, &box, &list);
  return list;
}

static float importance_at(const observer_source *row, double x, double y, double z) {
  double dx = x - row->position.x, dy = y - row->position.y, dz = z - row->position.z;
  double distance = sqrt(dx * dx + dy * dy + dz * dz);
  double share = ((double)row->far_m - distance) / ((double)row->far_m - (double)row->near_m);
  return (float)fmin(fmax(share, 0.0), 1.0);
}

static float best_of(uint32_t partition, double x, double y, double z) {
  float best = 0.0f;
  for (uint32_t i = 0; i < table.high; i++) {
    const observer_source *row = &table.sources[i];
    if (row->written && row->partition == partition) best = fmaxf(best, importance_at(row, x, y, z));
  }
  return best;
}

/* At points in the box, the best of those that were found is the best of all. */
static uint32_t check_box(double span_m, float edge_m, double height_m) {
  observer_query list;
  query_box box = {draw(span_m) - span_m / 2, draw(span_m) - span_m / 2, {0}, {0}, (uint32_t)draw(2)};
  for (uint32_t i = 0; i < 3; i++) {
    box.low[i] = (float)draw(i < 2 ? (double)edge_m : height_m);
    box.high[i] = box.low[i] + (float)draw((double)edge_m);
  }
  observer_query_gather(&table, &box, &list);
  if (list.crowded) return 0;
  for (uint32_t k = 0; k < 20; k++) {
    float point[3], found = 0.0f;
    for (uint32_t i = 0; i < 3; i++) point[i] = box.low[i] + (float)draw((double)(box.high[i] - box.low[i]));
    for (uint32_t i = 0; i < list.count; i++) {
      const struct seen_observer *seen = &list.seen[i];
      float dx = point[0] - seen->x, dy = point[1] - seen->y, dz = point[2] - seen->z;
      found = fmaxf(found, seen_observer_importance(seen, sqrtf(dx * dx + dy * dy + dz * dz)));
    }
    float best =
        best_of(box.partition, box.corner_x + (double)point[0], box.corner_y + (double)point[1], (double)point[2]);
    cr_assert_float_eq(found, best, 1e-3, "%g of %u found, %g", (double)found, list.count, (double)best);
  }
  return 1;
}

static void check_world(uint32_t observers, double span_m, bool alike, double height_m) {
  begin();
  uint32_t checked = 0;
  draws = (uint64_t)(span_m * 1000) + observers;
  for (uint32_t i = 0; i < observers; i++) {
    float near_m = alike ? 25.0f : (float)draw(50), far_m = alike ? 250.0f : near_m + (float)draw(400);
    muster_position position = {draw(span_m) - span_m / 2, draw(span_m) - span_m / 2, draw(height_m)};
    if (!alike && i % 50 == 7) far_m = 5000.0f; /* far-sighted ones stand apart */
    add(i, position, i % 2, near_m, far_m + 0.5f);
  }
  write_all();
  for (uint32_t i = 0; i < 300; i++) checked += check_box(span_m, 32.0f, height_m);
  cr_assert_gt(checked, 250);
}

Test(observers, that_matter_are_found_whatever_they_see_and_how_high_they_are) {
  const double spans[] = {50, 300, 2000, 8000};
  for (uint32_t i = 0; i < 4; i++) {
    check_world(10, spans[i], true, 1);
    check_world(100, spans[i], true, 200);
    check_world(100, spans[i], false, 1);
    if (i) check_world(400, spans[i], false, 300);
  }
}

Test(observers, on_top_of_each_other_are_one_to_whoever_looks) {
  for (uint32_t i = 0; i < MAXIMUM; i++) add_usual(i, 100);
  write_all();
  observer_query list = gather((query_box){0, 0, {0, 0, 0}, {30, 30, 2}, 0});
  cr_assert_not(list.crowded);
  cr_assert_eq(list.count, 1);
}

Test(observers, of_which_too_many_may_matter_are_asked_for_one_by_one) {
  for (uint32_t i = 0; i < MAXIMUM; i++) { /* a ring around the box: each is nearest to some point of it */
    double angle = i * 6.283185307 / MAXIMUM;
    add(i, (muster_position){100 * cos(angle), 100 * sin(angle), 0}, 0, 25, 250);
  }
  write_all();
  observer_query list = gather((query_box){0, 0, {-20, -20, 0}, {20, 20, 0}, 0});
  cr_assert(list.crowded);
  list = gather((query_box){0, 0, {20, 1, 0}, {20, 1, 0}, 0});
  cr_assert_not(list.crowded);
  cr_assert_eq(list.count, 1);
  cr_assert_float_eq(list.lowest, best_of(0, 20, 1, 0), 1e-4);
}

Test(observers, stay_findable_while_they_come_move_and_go_and_see_more_or_less) {
  for (uint32_t step = 0; step < 300; step++) {
    float far_m = step < 100 ? 100.0f : step < 200 ? 1500.0f : 30.0f;
    for (uint32_t i = 0; i < 20; i++) {
      uint32_t index = (uint32_t)draw(100);
      muster_position position = {draw(1000) - 500, draw(1000) - 500, 0};
      if (!table.rows[index].present)
        add(index, position, index % 2, 5, far_m);
      else if (i % 2)
        observers_remove(&table, index);
      else
        observers_move(&table, index, position);
    }
    write_all();
    check_box(1000, 20, 1);
  }
}

Test(observers, are_found_at_either_end_of_a_line) {
  for (uint32_t axis = 0; axis < 2; axis++)
    for (int side = -1; side <= 1; side += 2) {
      begin();
      observer_query list;
      query_box box = {0, 0, {0, 0, 0}, {0, 0, 0}, 0};
      box.low[axis] = -5000;
      box.high[axis] = 5000;
      double at = 4990.0 * side;
      add(0, (muster_position){axis ? 0 : at, axis ? at : 0, 0}, 0, 5, 25);
      write_all();
      observer_query_gather(&table, &box, &list);
      cr_assert_eq(list.count, 1, "axis %u, side %d", axis, side);
    }
}

/* An observer that sees half a metre far is found for a box around its place, and for a box of that very point. */
Test(observers, that_see_no_further_than_a_box_are_found_inside_it) {
  add(0, (muster_position){5, 5, 5}, 0, 0.25f, 0.5f);
  write_all();
  observer_query list = gather((query_box){0, 0, {0, 0, 0}, {10, 10, 10}, 0});
  cr_assert_eq(list.count, 1);
  cr_assert_eq(list.seen[0].highest, 1.0f);
  list = gather((query_box){0, 0, {5, 5, 5}, {5, 5, 5}, 0});
  cr_assert_eq(list.count, 1);
  cr_assert_eq(list.lowest, 1.0f);
}

/* No observer sees the middle of the line; its northern end lies at the corner. */
Test(observers, are_found_at_the_far_end_of_a_line_that_ends_at_the_corner) {
  add(0, (muster_position){0, -4990, 0}, 0, 5, 25);
  write_all();
  cr_assert_eq(gather((query_box){0, 0, {0, -5000, 0}, {0, 0, 0}, 0}).count, 1);
}
