/* What a herd type's definition asks for is so: of its blocks, of its room, of the last type and the last member. */
#include "world/herd_fixture.h"

Test(herd_types, give_their_blocks_what_was_asked_for_and_have_all_their_room) {
  enum { ROOM = 100 };
  SCOPED_WORLD little = world_of(deer_def(atom_of(nothing, 1000)));
  muster_herd_type_def def = WITH(muster_herd_type_def, it.member = little.type, it.herds_max = ROOM);
  for (uint32_t i = 0; i < MUSTER_HERD_TYPES_MAX; i++) {
    char name[16], blocks_name[32];
    snprintf(name, sizeof name, "herd%u", i);
    snprintf(blocks_name, sizeof blocks_name, "%s blocks", name);
    def.name = name;
    def.period_ns = 200000000u + i;
    def.period_max_ns = 700000000u + i;
    def.limit_ns = 300000u + i;
    def.model_ns = 6000 + i;
    muster_herd_type type = add_herd_type(&little, def);
    cr_assert_eq(type.index, i + 1);
    const agent_type *blocks = world_type(little.world, muster_type_find(little.world, blocks_name).index - 1);
    cr_assert(blocks->def.period_ns == def.period_ns && blocks->def.period_max_ns == def.period_max_ns);
    cr_assert(blocks->def.limit_ns == def.limit_ns && blocks->model_ns == def.model_ns);
    cr_assert(blocks->def.overruns.demote == 0 && blocks->def.overruns.quarantine == 0, "herds live there");
    for (uint32_t herd = 0; herd < ROOM; herd++) {
      const muster_herd_def one = {.partition = i < 2 ? herd % 7 : 0};
      cr_assert_eq(muster_herds_add(little.world, type, &one, 1, NULL), 1, "%u: %s", herd, muster_last_error());
    }
    cr_assert_eq(muster_herds_add(little.world, type, &(muster_herd_def){0}, 1, NULL), 0);
  }
  def.name = "one more";
  cr_assert_eq(muster_herd_type_register(little.world, &def).index, 0);
  cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
}
