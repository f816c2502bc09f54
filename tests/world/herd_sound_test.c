/* A world in which everything happens that can happen to herds is sound after every frame. */
#include "support/herd_busy.h"
#include "world/fixture.h"
#include "world/world_herds.h"
#include "world/world_sound.h"

Test(herd_sound, a_busy_world_of_herds_is_sound_after_every_frame) {
  herd_busy busy = herd_busy_world(1, 40);
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < 600; frame++) {
    soundness found = {0};
    herd_busy_frame(&busy, frame);
    world_is_sound(busy.little.world, WORLD_RESTS, &found);
    cr_assert(!found.broken, "frame %u: %s", frame, found.trouble);
    world_ids_are_sound(busy.little.world, &found);
    cr_assert(!found.broken, "frame %u: %s", frame, found.trouble);
  }
  little_world_destroy(&busy.little);
}

static void expect_broken(const struct muster_world *world, void *place, const void *bytes, size_t count,
                          const char *words) {
  unsigned char kept[128];
  soundness found = {0};
  cr_assert(count <= sizeof kept);
  memcpy(kept, place, count);
  memcpy(place, bytes, count);
  cr_assert(!world_is_sound(world, WORLD_RESTS, &found), "nothing is found, expected: %s", words);
  cr_assert_not_null(strstr(found.trouble, words), "expected: %s; found: %s", words, found.trouble);
  memcpy(place, kept, count);
}

static void expect_counted(const struct muster_world *world, uint32_t *count, const char *words) {
  expect_broken(world, count, &(uint32_t){*count + 1}, sizeof *count, words);
}

static uint32_t find(const struct muster_world *world, herd_tie tie) {
  uint32_t i = 0;
  while ((i = store_next_active(&world->agents.store, i)) != UINT32_MAX && world->herds->table.links[i].tie != tie) i++;
  cr_assert_neq(i, UINT32_MAX);
  return i;
}

Test(herd_sound, what_is_broken_between_agents_and_herds_is_named) {
  herd_busy busy = herd_busy_driven(100, 40);
  struct muster_world *world = busy.little.world;
  herd_table *table = &world->herds->table;
  struct herd_type *type = &table->types[0];
  uint32_t leaf = find(world, HERD_TIE_LEAF), named = find(world, HERD_TIE_NAMED), block = find(world, HERD_TIE_BLOCK);
  herd_link link = table->links[leaf];
  struct herd_type *of_leaf = &table->types[link.type];
  herd_lanes lanes = herds_lanes(of_leaf, link.entry);
  char words[64];
  snprintf(words, sizeof words, "agent %u is in lane", leaf);
  link.lane++;
  expect_broken(world, &table->links[leaf], &link, sizeof link, words);
  expect_broken(world, &table->links[leaf], &(herd_link){0}, sizeof link, "leaves, counted as");
  expect_broken(world, &lanes.agents[table->links[leaf].lane], &named, sizeof named, words);
  expect_broken(world, &lanes.entry->pinned, &(uint16_t){999}, sizeof(uint16_t), "pinned leaves");
  expect_broken(world, &lanes.entry->state, &(uint8_t){HERD_ENTRY_KEPT}, sizeof(uint8_t), words);
  snprintf(words, sizeof words, "agent %u is a named member", named);
  expect_broken(world, &table->named[table->links[named].entry].agent, &leaf, sizeof leaf, words);
  snprintf(words, sizeof words, "agent %u stands for block", block);
  expect_broken(world, &type->blocks[table->links[block].entry].agent, &leaf, sizeof leaf, words);
  expect_counted(world, &type->leaves, "leaves, counted as");
  expect_counted(world, &type->unfolded, "are unfolded, counted as");
  expect_counted(world, &type->herds, "are counted as");
  expect_counted(world, &type->entry_used, "entries");
  expect_counted(world, &type->settling_count, "settle, counted as");
  expect_counted(world, &table->named_count, "named members are counted");
  expect_broken(world, &table->members, &(int64_t){table->members + 1}, sizeof(int64_t), "members of herds");
  expect_broken(world, &type->blocks[0].live, &(uint16_t){0}, sizeof(uint16_t), "block 0 of type 'deer' has");
  soundness found = {0};
  cr_assert(world_is_sound(world, WORLD_RESTS, &found), "put back: %s", found.trouble);
  herd_ids_turn(&world->herds->ids, lanes.entry->herd);
  cr_assert(!world_is_sound(world, WORLD_RESTS, &found));
  cr_assert_not_null(strstr(found.trouble, "is there, and its id is not"), "%s", found.trouble);
  herd_ids_turn(&world->herds->ids, lanes.entry->herd);
  little_world_destroy(&busy.little);
}
