/* Snapshots with herds that are damaged, or of other herds, are refused with the reason, and the world is as new. */
#include "support/herd_busy.h"
#include "support/snapshot_parts.h"
#include "world/fixture.h"
#include "world/world_herds.h"

enum { NEXT = UNDER_SANITIZER ? 5 : 1 }; /* of so many places one is tried */
enum { UNFOLDED = 40, HERDS = 16 /* the section of herds; the changes that wait follow it */ };

static saved_world save_busy(uint32_t frames) {
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_driven(frames, UNFOLDED);
  return save_world(busy.little.world);
}

static void expect_refused(muster_world *world, const void *bytes, size_t count, const char *why) {
  muster_result result = load_world(world, bytes, count);
  cr_assert_eq(result, MUSTER_E_INPUT, "%s: %s", why, muster_result_name(result));
  cr_assert(strncmp(muster_last_error(), "snapshot: ", 10) == 0, "%s: %s", why, muster_last_error());
  cr_assert(muster_agent_is_null(muster_agent_next(world, (muster_agent){0})));
  cr_assert_eq(muster_herd_generation(muster_herd_next(world, (muster_herd){0})), 0, "%s", why);
}

/* A world that refused a snapshot is still a new one: it loads the whole snapshot, and goes on. */
static void expect_loaded(herd_busy *busy, const saved_world *saved) {
  assert_ok(load_world(busy->little.world, saved->bytes, saved->count));
  cr_assert_eq(muster_world_hash(busy->little.world), look_at(saved).hash);
  busy->little.now_ns = look_at(saved).sim_now_ns;
  for (uint32_t i = 0; i < 10; i++) run_frame_with(&busy->little, BUSY_BUDGET_NS);
}

Test(snapshot_herds_refusals, every_truncation) {
  SCOPED(saved_world_forget) saved_world saved = save_busy(50);
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_world(1, UNFOLDED);
  for (size_t count = 0; count < saved.count; count += NEXT)
    expect_refused(busy.little.world, saved.bytes, count, "cut");
  expect_loaded(&busy, &saved);
}

static uint64_t next_random(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

Test(snapshot_herds_refusals, two_thousand_flips_of_a_bit) {
  SCOPED(saved_world_forget) saved_world saved = save_busy(50);
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_world(1, UNFOLDED);
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < 2000; i++) {
    size_t bit = next_random(&random) % (saved.count * 8);
    saved.bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    expect_refused(busy.little.world, saved.bytes, saved.count, "flipped");
    saved.bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  expect_loaded(&busy, &saved);
}

/* Changes the sections of herds: writes a special value of a random width, or flips one bit. */
static void mutate(const struct snapshot_parts *parts, uint64_t *random) {
  static const uint64_t values[] = {0, 1, 2, 7, 16, 1024, 65535, 0xfffffffe, UINT32_MAX, UINT64_MAX, 0x7f800000};
  size_t length = parts->begin[SECTIONS + 1] - parts->begin[HERDS], width = (size_t)1 << next_random(random) % 4;
  size_t at = next_random(random) % (length - width) / width * width;
  unsigned char *place = parts->bytes + parts->begin[HERDS] + at;
  uint64_t drawn = next_random(random), value = values[drawn % COUNT_OF(values)];
  if (drawn >> 60 < 8)
    memcpy(place, &value, width);
  else
    *place ^= (unsigned char)(1u << (drawn >> 8) % 8);
}

/* Each changed snapshot is refused, or the world goes on with it. */
Test(snapshot_herds_refusals, what_was_changed_and_sealed_again) {
  enum { MUTATIONS = 2000 };
  SCOPED(saved_world_forget) saved_world saved = save_busy(50);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_world(1, UNFOLDED);
  uint64_t random = 1234567u, now_ns = look_at(&saved).sim_now_ns;
  uint32_t refused = 0;
  SCOPED(free_memory) unsigned char *good = malloc(parts.begin[SECTIONS + 1]);
  memcpy(good, parts.bytes, parts.begin[SECTIONS + 1]);
  for (int i = 0; i < MUTATIONS; i++) {
    memcpy(parts.bytes, good, parts.begin[SECTIONS + 1]);
    mutate(&parts, &random);
    SCOPED(saved_world_forget) saved_world changed = put_together(&parts);
    muster_result result = load_world(busy.little.world, changed.bytes, changed.count);
    if (result) {
      cr_assert_eq(result, MUSTER_E_INPUT, "%s", muster_last_error());
      cr_assert_eq(muster_herd_generation(muster_herd_next(busy.little.world, (muster_herd){0})), 0);
      refused++;
    } else {
      busy.little.now_ns = now_ns;
      for (uint32_t frame = 50; frame < 54; frame++) {
        muster_herd_name(busy.little.world, busy_herd(&busy, frame * 5), frame % 8);
        run_frame_with(&busy.little, BUSY_BUDGET_NS);
      }
      little_world_destroy(&busy.little);
      busy = herd_busy_world(1, UNFOLDED);
    }
  }
  cr_assert(refused > MUTATIONS / 20 && refused < MUTATIONS, "%u of %d are refused", refused, MUTATIONS);
  expect_loaded(&busy, &saved);
}

/* ------------------------------------------------------------------------------------------------------ other herds */

static void expect_differs(const saved_world *saved, muster_herd_type_def def, const char *what) {
  SCOPED(herd_world_destroy) herd_world other = herd_world_create(1, NULL, &def);
  expect_refused(other.little.world, saved->bytes, saved->count, what);
  expect_error(what);
}

/* The parts, sealed again, are refused with these words. */
static void expect_parts_refused(const struct snapshot_parts *parts, const char *what, const char *words) {
  SCOPED(saved_world_forget) saved_world changed = put_together(parts);
  SCOPED(herd_busy_end) herd_busy other = herd_busy_world(1, UNFOLDED);
  expect_refused(other.little.world, changed.bytes, changed.count, what);
  expect_error(words);
}

Test(snapshot_herds_refusals, herd_types_that_differ) {
  SCOPED(herd_world_destroy) herd_world herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < 4; i++) add_herd(&herds, 30.0 * i, 0, 8);
  observe(&herds, 0, 0);
  run_frames(&herds.little, 60);
  SCOPED(saved_world_forget) saved_world saved = save_world(herds.little.world);
  expect_differs(&saved, WITH(muster_herd_type_def, it.depth = 4), "its depth is 4, in the snapshot it was 5");
  expect_differs(&saved, WITH(muster_herd_type_def, it.zone_m[1] = 90.0f),
                 "its zone_m[1] is 90, in the snapshot it was 100");
  expect_differs(&saved, WITH(muster_herd_type_def, it.retains = true), "its retains is 1, in the snapshot it was 0");
  expect_differs(&saved, WITH(muster_herd_type_def, it.unfolded_max = 1), "there is room for 1");
  expect_differs(&saved, WITH(muster_herd_type_def, it.unfolded_max = 20, it.herds_max = 3), "there is room for 3");
  /* Another size that suffices is accepted, and so is another look_ns. */
  muster_herd_type_def def = WITH(muster_herd_type_def, it.unfolded_max = 20, it.herds_max = 5000, it.look_ns *= 2);
  SCOPED(herd_world_destroy) herd_world other = herd_world_create(1, NULL, &def);
  assert_ok(load_world(other.little.world, saved.bytes, saved.count));
  cr_assert_eq(muster_world_hash(other.little.world), muster_world_hash(herds.little.world));
}

/* Positions of herds and numbers of their members stand block by block, as columns. */
Test(snapshot_herds_refusals, folded_herds_that_are_where_none_can_be_or_too_many) {
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_driven(50, UNFOLDED);
  const struct herd_type *type = &busy.little.world->herds->table.types[0];
  uint32_t slot = 0, count = type->blocks[0].high;
  while (!type->members[slot]) slot++;
  cr_assert_lt(slot, count);
  SCOPED(saved_world_forget) saved_world saved = save_world(busy.little.world);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  struct {
    const void *column;
    size_t each;
    uint32_t bits;
  } forged[] = {{type->x, sizeof(float), 0x7f800000u}, {type->y, sizeof(float), 0x7f800000u}, {type->members, 2, 33}};
  for (uint32_t i = 0; i < 3; i++) {
    size_t bytes = count * forged[i].each, at = parts.begin[HERDS];
    while (at + bytes <= parts.begin[SECTIONS + 1] && memcmp(parts.bytes + at, forged[i].column, bytes) != 0) at++;
    cr_assert_leq(at + bytes, parts.begin[SECTIONS + 1], "column %u is not there", i);
    unsigned char *place = parts.bytes + at + slot * forged[i].each, kept[4];
    memcpy(kept, place, sizeof kept);
    memcpy(place, &forged[i].bits, forged[i].each);
    expect_parts_refused(&parts, "a folded herd", "or is where none can be");
    memcpy(place, kept, sizeof kept);
  }
}

/* The section holds how many partitions have herds, and for each its number and the block for its next herd. */
Test(snapshot_herds_refusals, herds_of_partitions_that_there_are_not) {
  SCOPED(herd_busy_end) herd_busy busy = herd_busy_driven(50, UNFOLDED);
  const uint32_t is[] = {1, 0, busy.little.world->herds->table.types[0].open[0]};
  SCOPED(saved_world_forget) saved_world saved = save_world(busy.little.world);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  size_t at = parts.begin[HERDS], found = 0, places = 0;
  for (; at + sizeof is <= parts.begin[SECTIONS + 1]; at++)
    if (memcmp(parts.bytes + at, is, sizeof is) == 0) found = at, places++;
  cr_assert_gt(places, 0, "all herds are of partition 0");
  const uint32_t forged[][2] = {{65536, is[2]}, {0, 0}, {0, 1000}};
  for (uint32_t i = 0; i < 3; i++) {
    memcpy(parts.bytes + found + 4, forged[i], sizeof forged[i]);
    expect_parts_refused(&parts, "an open block", "are put into block");
  }
}

/* The section of herds ends with the members that have names, an id that is set aside, and whether herds died out. */
Test(snapshot_herds_refusals, what_stands_in_a_free_place_of_a_name_is_no_reason) {
  SCOPED(herd_world_destroy) herd_world herds = herd_world_create(1, NULL, NULL);
  add_herd(&herds, 0, 0, 8);
  run_frames(&herds.little, 5);
  SCOPED(saved_world_forget) saved_world saved = save_world(herds.little.world);
  SCOPED(snapshot_parts_forget) struct snapshot_parts parts = take_apart(&saved);
  const double far = 1e300;
  const uint32_t one = 1, none = UINT32_MAX, dying = 2;
  unsigned char place[sizeof(herd_named) + sizeof(uint32_t)] = {0};
  size_t columns = 2 * sizeof(double) + sizeof(muster_herd) + 4 * sizeof(uint32_t), bytes = columns + sizeof(uint32_t);
  size_t end = parts.begin[HERDS + 1], names = end - 3 * sizeof(uint32_t), behind = parts.begin[SECTIONS + 1] - end;
  cr_assert_eq(memcmp(parts.bytes + names, &(uint32_t){0}, sizeof(uint32_t)), 0, "members have names");
  memcpy(place, &far, sizeof far);
  memcpy(place + 2 * sizeof(double) + sizeof(muster_herd), &none, sizeof none);
  parts.bytes = realloc(parts.bytes, end + bytes + behind);
  memmove(parts.bytes + names + sizeof one + bytes, parts.bytes + names + sizeof one, 2 * sizeof(uint32_t) + behind);
  memcpy(parts.bytes + names, &one, sizeof one);
  memcpy(parts.bytes + names + sizeof one, place, bytes);
  memcpy(parts.bytes + end + bytes - sizeof dying, &dying, sizeof dying);
  for (uint32_t section = HERDS + 1; section <= SECTIONS + 1; section++) parts.begin[section] += bytes;
  SCOPED(saved_world_forget) saved_world changed = put_together(&parts);
  SCOPED(herd_world_destroy) herd_world other = herd_world_create(1, NULL, NULL);
  expect_refused(other.little.world, changed.bytes, changed.count, "herds that died out twice");
  expect_error("times herds died out");
  cr_assert_null(strstr(muster_last_error(), ": its "), "%s", muster_last_error());
}
