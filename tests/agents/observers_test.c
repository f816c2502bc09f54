/* Groups of observers by partition against a look at everybody. */
#include "agents/observers.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MAXIMUM = 500 };

typedef struct fixture {
  arena arena;
  observer_table table;
} fixture;

static fixture *create(void) {
  fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  observers_create(&fixture->table, MAXIMUM, &fixture->arena);
  cr_assert_not(fixture->arena.failed);
  return fixture;
}

static void destroy(fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static void add(fixture *fixture, uint32_t index, uint32_t partition) {
  muster_observer_def def = muster_default_observer_def();
  def.partition = partition;
  def.position.x = index;
  observers_add(&fixture->table, index, &def);
}

/* Every group holds exactly the present observers of its partition, by index. */
static void check_groups(const observer_table *table) {
  uint32_t present = 0;
  for (uint32_t partition = 0; partition < PARTITIONS; partition++) {
    cr_assert_leq(table->starts[partition], table->starts[partition + 1]);
    for (uint32_t i = table->starts[partition]; i < table->starts[partition + 1]; i++) {
      const observer_row *row = &table->rows[table->order[i]];
      cr_assert(row->present && row->partition == partition);
      if (i > table->starts[partition]) cr_assert_lt(table->order[i - 1], table->order[i]);
    }
  }
  for (uint32_t i = 0; i < MAXIMUM; i++) present += table->rows[i].present;
  cr_assert_eq(table->starts[0], 0);
  cr_assert_eq(table->starts[PARTITIONS], present);
}

Test(observers, are_none_at_first) {
  fixture *fixture = create();
  observers_group(&fixture->table);
  check_groups(&fixture->table);
  cr_assert_eq(fixture->table.starts[PARTITIONS], 0);
  destroy(fixture);
}

Test(observers, are_grouped_by_partition_up_to_the_first_and_the_last) {
  fixture *fixture = create();
  add(fixture, 0, 65535);
  add(fixture, 1, 0);
  add(fixture, 2, 65535);
  add(fixture, 3, 65534);
  add(fixture, 4, 0);
  observers_group(&fixture->table);
  check_groups(&fixture->table);
  cr_assert_eq(fixture->table.starts[1] - fixture->table.starts[0], 2);
  cr_assert_eq(fixture->table.starts[65536] - fixture->table.starts[65535], 2);
  destroy(fixture);
}

Test(observers, stay_grouped_while_they_come_move_and_go) {
  fixture *fixture = create();
  observer_table *table = &fixture->table;
  for (uint32_t step = 0; step < 600; step++) {
    for (uint32_t i = 0; i < 20; i++) {
      uint32_t index = (uint32_t)(random_at(1, step, i, 0) % MAXIMUM);
      uint32_t partition = (uint32_t)(random_at(1, step, i, 1) % 7) * 9999;
      if (!table->rows[index].present)
        add(fixture, index, partition);
      else if (i % 2)
        observers_remove(table, index);
      else
        observers_move(table, index, (muster_position){step, i, 1});
    }
    observers_group(table);
    check_groups(table);
  }
  destroy(fixture);
}

Test(observers, keep_what_their_definition_said) {
  fixture *fixture = create();
  muster_observer_def def = muster_default_observer_def();
  def.position = (muster_position){1, -2, 3};
  def.partition = 70;
  def.near_m = 5;
  def.far_m = 6;
  observers_add(&fixture->table, 9, &def);
  observers_group(&fixture->table);
  const observer_row *row = &fixture->table.rows[fixture->table.order[fixture->table.starts[70]]];
  cr_assert(row->position.x == 1 && row->position.y == -2 && row->position.z == 3);
  cr_assert(row->near_m == 5 && row->far_m == 6);
  destroy(fixture);
}

Test(observers, move_without_being_grouped_again) {
  fixture *fixture = create();
  add(fixture, 3, 1);
  observers_group(&fixture->table);
  observers_move(&fixture->table, 3, (muster_position){7, 8, 9});
  cr_assert_not(fixture->table.regroup);
  const observer_row *row = &fixture->table.rows[3];
  cr_assert(row->position.x == 7 && row->position.y == 8 && row->position.z == 9);
  cr_assert_eq(row->partition, 1);
  destroy(fixture);
}

Test(observers, may_come_back_under_the_same_index_in_another_partition) {
  fixture *fixture = create();
  add(fixture, 3, 1);
  observers_group(&fixture->table);
  observers_remove(&fixture->table, 3);
  add(fixture, 3, 2);
  observers_group(&fixture->table);
  check_groups(&fixture->table);
  cr_assert_eq(fixture->table.starts[2], 0);
  cr_assert_eq(fixture->table.starts[3], 1);
  destroy(fixture);
}
