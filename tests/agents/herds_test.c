/* Where herds of a type are at home, and what stands in the lanes of an unfolded one. */
#include "support/herd_lanes.h"

enum { BLOCKS = 4, AGENTS = 8 };

struct fixture {
  struct arena arena;
  herd_table table;
  struct herd_type type;
};

static struct fixture *create(void) {
  struct fixture *fixture = new_fixture(sizeof *fixture);
  lay_out_herds(&fixture->table, &fixture->type, BLOCKS, AGENTS, &fixture->arena);
  return fixture;
}

/* A block whose every slot has a herd. */
static void open_full_block(struct herd_type *type) {
  herds_open_block(type, 0, 0.0, 0.0);
  uint32_t number = type->block_count - 1;
  for (uint32_t i = 0; i < MUSTER_HERD_BLOCK; i++)
    herds_write(type, herds_take_slot(type, number), &(herd_body){.members = 32});
}

static void take_away(struct herd_type *type, uint32_t number, uint32_t slot) {
  uint32_t home = number * MUSTER_HERD_BLOCK + slot;
  type->members[home] = 0;
  herds_give_slot(type, home);
}

Test(herds, gaps_of_a_block_are_filled_before_another_is_begun) {
  SCOPED(free_fixture) struct fixture *fixture = create();
  struct herd_type *type = &fixture->type;
  for (uint32_t i = 0; i < 3; i++) open_full_block(type);
  cr_assert_eq(herds_find_block(type, 0), 3, "all are full");
  take_away(type, 1, 5);
  take_away(type, 1, 6);
  cr_assert_eq(herds_find_block(type, 0), 1);
  take_away(type, 2, 9); /* the last that was opened */
  cr_assert_eq(herds_take_slot(type, herds_find_block(type, 0)), MUSTER_HERD_BLOCK + 5);
  cr_assert_eq(herds_find_block(type, 0), 1);
}

Test(herds, leaves_are_where_they_were_put_however_far_the_herd_is_from_zero) {
  SCOPED(free_fixture) struct fixture *fixture = create();
  struct herd_type *type = &fixture->type;
  herds_open_block(type, 0, 0.0, 0.0);
  herds_write(type, herds_take_slot(type, 0), &(herd_body){.members = 32});
  uint32_t number = herds_take_entry(type, 0, 3000.0, -7000.0), agents[2] = {0, 1};
  herd_body bodies[2] = {{.x = 3010, .y = -6980, .velocity_x = 1, .node = 1, .members = 16},
                         {.x = 2990, .y = -7020, .velocity_y = 2, .node = 2, .members = 16}};
  herds_insert(&fixture->table, type, number, 0, bodies, agents, 2);
  herd_lanes lanes = herds_lanes(type, number);
  for (uint32_t i = 0; i < 2; i++) {
    herd_body leaf = herds_leaf(type, &lanes, i);
    cr_assert(leaf.x == bodies[i].x && leaf.y == bodies[i].y, "%g, %g", leaf.x, leaf.y);
    cr_assert(leaf.velocity_x == bodies[i].velocity_x && leaf.velocity_y == bodies[i].velocity_y);
    cr_assert(leaf.node == bodies[i].node && leaf.members == bodies[i].members);
  }
}
