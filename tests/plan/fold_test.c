/* Stage 3: which groups are near which observers, and what a membrane wants. */
#include "plan/fold.h"
#include "support/herd_lanes.h"

enum { OBSERVERS = 300, AGENTS = 64 };

/* One herd type with an unfolded herd, on memory of its own. */
static struct scene {
  struct arena arena;
  herd_table table;
  struct herd_type type;
  observer_table observers;
  fold_board board;
  uint32_t number; /* of the entry */
} scene;

static void end(void) {
  arena_destroy(&scene.arena);
}

static void begin(void) {
  struct herd_type *type = &scene.type;
  end();
  scene = (struct scene){.arena = begin_arena()};
  lay_out_herds(&scene.table, type, 4, AGENTS, &scene.arena);
  observers_create(&scene.observers, OBSERVERS, &scene.arena);
  fold_create(&scene.board, OBSERVERS, 1, &scene.arena);
  fold_reserve(&scene.board, 0, &scene.arena);
  herds_open_block(type, 0, 0.0, 0.0);
  type->herds++;
  cr_assert_eq(herds_take_slot(type, 0), 0);
  herds_write(type, 0, &(herd_body){.members = 32});
}

TestSuite(fold, .init = begin, .fini = end);

static void observe(uint32_t index, double x, double y, uint32_t partition) {
  muster_observer_def def =
      WITH(muster_observer_def, it.position = (muster_position){x, y, 0.0}, it.partition = partition);
  observers_add(&scene.observers, index, &def);
  fold_watch(&scene.board, &scene.table, &scene.observers);
}

/* The herd of the scene consists of these nodes at these places. */
static herd_lanes unfold(const herd_body *bodies, uint32_t count) {
  uint32_t agents[AGENTS];
  for (uint32_t i = 0; i < count; i++) agents[i] = i;
  scene.number = herds_take_entry(&scene.type, 0, 0.0, 0.0);
  herds_insert(&scene.table, &scene.type, scene.number, 0, bodies, agents, count);
  return herds_lanes(&scene.type, scene.number);
}

Test(fold, finds_the_nearest_of_many_observers_of_the_partition) {
  for (uint32_t i = 0; i < OBSERVERS; i++)
    observe(i, 5000.0 * (double)muster_random_share(random_at(1, i, 0, 0)) - 2500.0,
            5000.0 * (double)muster_random_share(random_at(1, i, 1, 0)) - 2500.0, i % 3);
  for (uint32_t k = 0; k < 2000; k++) {
    double x = 5000.0 * (double)muster_random_share(random_at(2, k, 0, 0)) - 2500.0;
    double y = 5000.0 * (double)muster_random_share(random_at(2, k, 1, 0)) - 2500.0, least = 1e30;
    for (uint32_t i = 1; i < OBSERVERS; i += 3)
      least = fmin(least, hypot(scene.observers.rows[i].position.x - x, scene.observers.rows[i].position.y - y));
    fold_near near = fold_near_of(&scene.board, 1, x, y, x, y, 400.0, x, y);
    float found = fold_distance(&near, 0.0f, 0.0f);
    if (least <= 400.0)
      cr_assert(fabs((double)found - least) < 1e-2, "%g, not %g", (double)found, least);
    else
      cr_assert(found > 400.0f);
  }
}

Test(fold, a_leaf_unfolds_in_the_zone_of_the_depth_below_it) {
  const struct herd_type *type = &scene.type;
  for (uint32_t depth = 0; depth < 5; depth++) {
    float zone_m = 50.0f * (float)(5 - depth);
    cr_assert(fold_unfolds(type, depth, zone_m - 0.01f));
    cr_assert_not(fold_unfolds(type, depth, zone_m));
  }
  cr_assert_not(fold_unfolds(type, 5, 0.0f));
}

Test(fold, the_nearest_leaf_is_unfolded_first) {
  herd_lanes lanes =
      unfold((herd_body[]){{.x = 190, .node = 1, .members = 16}, {.x = 170, .node = 2, .members = 16}}, 2);
  observe(0, 0.0, 0.0, 0);
  fold_measure(&scene.board, &scene.type, &lanes);
  cr_assert_eq(fold_next_unfolding(&scene.board, &scene.type, &lanes), 1);
}

/* Whether two leaves of depth 1 about a place are folded for an observer at zero. */
static bool folds_at(double x, double apart, uint32_t pin, uint64_t now_ns) {
  begin();
  herd_lanes lanes =
      unfold((herd_body[]){{.x = x - apart, .node = 1, .members = 16}, {.x = x + apart, .node = 2, .members = 16}}, 2);
  lanes.pins[1] = pin;
  observe(0, 0.0, 0.0, 0);
  fold_near near = fold_measure(&scene.board, &scene.type, &lanes);
  fold_siblings siblings = fold_next_folding(&scene.board, &scene.type, &lanes, &near, 0, now_ns);
  cr_assert(siblings.count == 0 || siblings.count == 2);
  return siblings.count == 2;
}

Test(fold, siblings_fold_beyond_the_zone_and_its_hysteresis) {
  cr_assert_not(folds_at(249.0, 1.0, 0, 0));
  cr_assert_not(folds_at(287.0, 1.0, 0, 0));
  cr_assert(folds_at(288.0, 1.0, 0, 0));
  cr_assert_not(folds_at(300.0, 60.0, 0, 0), "one of them is in the zone");
}

Test(fold, siblings_that_are_held_do_not_fold_until_their_time_is_over) {
  const uint64_t second = 1000000000u;
  cr_assert_not(folds_at(400.0, 1.0, fold_pin(10 * second), 9 * second));
  cr_assert(folds_at(400.0, 1.0, fold_pin(10 * second), 11 * second));
}

Test(fold, siblings_fold_only_when_all_of_them_are_leaves) {
  herd_body bodies[3] = {
      {.x = 900, .node = 1, .members = 16}, {.x = 900, .node = 5, .members = 8}, {.x = 900, .node = 6, .members = 8}};
  herd_lanes lanes = unfold(bodies, 3);
  observe(0, 0.0, 0.0, 0);
  fold_near near = fold_measure(&scene.board, &scene.type, &lanes);
  fold_siblings siblings = fold_next_folding(&scene.board, &scene.type, &lanes, &near, 0, 0);
  cr_assert_eq(siblings.first, 1);
  cr_assert_eq(siblings.count, 2);
}

Test(fold, the_list_is_in_order_of_unfolding_and_distance) {
  fold_board *board = &scene.board;
  for (uint32_t i = 0; i < FOLD_LISTED_MAX; i++)
    board->items[i] = (fold_item){i, (float)(random_at(3, i, 0, 0) % 500), random_at(3, i, 1, 0) % 3 == 0};
  board->item_count = FOLD_LISTED_MAX;
  fold_sort(board);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < FOLD_LISTED_MAX; i++) {
    const fold_item *item = &board->items[i], *before = &board->items[i ? i - 1 : 0];
    sum += item->herd;
    if (i == 0) continue;
    cr_assert(before->folds <= item->folds);
    if (before->folds == item->folds) cr_assert(before->distance_m <= item->distance_m);
    if (before->folds == item->folds && before->distance_m >= item->distance_m) cr_assert_lt(before->herd, item->herd);
  }
  cr_assert_eq(sum, (uint64_t)FOLD_LISTED_MAX * (FOLD_LISTED_MAX - 1) / 2, "each once");
}

Test(fold, of_observers_out_of_reach_nothing_is_measured) {
  static const double places[4][2] = {{5000, 0}, {-5000, 0}, {0, 5000}, {0, -5000}};
  for (uint32_t i = 0; i < 4; i++) {
    begin();
    herd_lanes lanes =
        unfold((herd_body[]){{.x = -9, .node = 1, .members = 16}, {.y = 7, .node = 2, .members = 16}}, 2);
    observe(0, places[i][0], places[i][1], 0);
    cr_assert_eq(fold_measure(&scene.board, &scene.type, &lanes).count, 0, "place %u", i);
  }
}

/* A herd's worth in the first block, and one in the second; both seen by one observer, or not. */
static uint32_t listed_at(double x) {
  begin();
  struct herd_type *type = &scene.type;
  herds_open_block(type, 0, 0.0, 0.0);
  herds_write(type, herds_take_slot(type, 1), &(herd_body){.members = 32});
  observe(0, x, 0.0, 0);
  scene.board.item_count = 0;
  struct fold_blocks blocks = fold_next_blocks(&scene.board, type, 0, 2);
  cr_assert_eq(blocks.count, 2);
  for (uint32_t i = 2; i-- > 0;) fold_look(&scene.board, &blocks, i, i + 1, 0); /* workers come in any order */
  fold_list(&scene.board, &blocks);
  for (uint32_t i = 0; i < scene.board.item_count; i++)
    cr_assert_not(scene.board.items[i].folds, "who is folded can only unfold");
  return scene.board.item_count;
}

Test(fold, herds_in_the_outermost_zone_are_listed_whichever_block_was_looked_at_first) {
  cr_assert_eq(listed_at(249.0), 2);
  cr_assert_eq(listed_at(251.0), 0);
  cr_assert_eq(listed_at(-251.0), 0);
}

Test(fold, the_middle_of_an_unfolded_herd_is_that_of_its_members) {
  herd_lanes lanes = unfold((herd_body[]){{.x = 10, .y = -4, .velocity_x = 1, .node = 1, .members = 24},
                                          {.x = 50, .y = 12, .velocity_y = 2, .node = 2, .members = 8}},
                            2);
  fold_watch(&scene.board, &scene.table, &scene.observers);
  fold_look_at_entries(&scene.board, &scene.type, 0, 1, 0);
  cr_assert_float_eq(lanes.entry->x, 20.0f, 1e-4);
  cr_assert_float_eq(lanes.entry->y, 0.0f, 1e-4);
  cr_assert_float_eq(lanes.entry->velocity_x, 0.75f, 1e-4);
  cr_assert_float_eq(lanes.entry->velocity_y, 0.5f, 1e-4);
}

Test(fold, blocks_are_given_out_in_parts_one_behind_the_other) {
  struct fold_blocks first = fold_next_blocks(&scene.board, &scene.type, 0, FOLD_BLOCKS + 3);
  struct fold_blocks rest = fold_next_blocks(&scene.board, &scene.type, 0, 3);
  cr_assert(first.first == 0 && first.count == FOLD_BLOCKS);
  cr_assert(rest.first == FOLD_BLOCKS && rest.count == 3);
}

Test(fold, who_is_kept_on_the_list_is_listed_once_and_who_is_not_may_come_again) {
  fold_board *board = &scene.board;
  for (uint32_t herd = 7; herd < 10; herd++) fold_note(board, herd, 1.0f, false);
  fold_keep(board, 2);
  for (uint32_t herd = 7; herd < 10; herd++) fold_note(board, herd, 1.0f, false);
  cr_assert_eq(board->item_count, 3);
  for (uint32_t i = 0; i < 3; i++) cr_assert_eq(board->items[i].herd, 7 + i);
}
