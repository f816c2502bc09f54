/* Classes of agents whose periods stretch alike: when there are too many, the nearest of the same type is shared. */
#include "plan/classes.h"
#include "plan/planning.h"

enum { TYPES = 32 };

Test(classes, a_full_table_gives_the_nearest_class_of_the_type_itself) {
  static class_table table;
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  muster_type_def type = muster_type_def_default();
  classes_create(&table, TYPES, 64, 1, &arena);
  cr_assert_not(arena.failed);
  for (uint32_t i = 0; i < TYPES; i++) classes_reserve(&table, &type, i);
  for (uint32_t i = 0; table.count < table.maximum; i++) {
    uint32_t step = i % ELASTICITY_STEPS, level = i / ELASTICITY_STEPS % MUSTER_LEVELS;
    classes_get(&table, &type, i / ELASTICITY_STEPS / MUSTER_LEVELS, level, step);
  }
  uint32_t full = table.count;
  for (uint32_t i = TYPES - 4; i < TYPES; i++) {
    const agent_class *class = classes_get(&table, &type, i, 1, 0);
    cr_assert_eq(class->type, i);
    cr_assert_eq(class->step, ELASTICITY_STEP_OF_ONE, "the only one that it has");
  }
  const agent_class *own = classes_get(&table, &type, 0, 2, 5);
  cr_assert(own->type == 0 && own->level == 2 && own->step == 5, "who has a class keeps it");
  cr_assert_eq(table.count, full);
}
