/* Birth spaces: taken only where ids could come twice, and used again when nothing names them. */
#include "room.h"
#include "service/zones/spaces.h"

#include "base/bits.h"
#include "service/zones/place.h"

enum { ZONE = 7, OTHER = 9 };

/* What etcd has of a zone, as its owners see it one after the other. */
typedef struct owners {
  zone_space space;
  zone_used used;
  uint64_t epoch;  /* of the last one */
  uint64_t frames; /* that it ran */
  uint32_t taken;  /* spaces */
} owners;

/* The next owner, which has the state behind a frame. Returns whether it goes on in the space. */
static bool take_over(owners *zone, uint64_t frame) {
  zone->epoch++;
  bool goes_on = space_goes_on(&zone->space, zone->epoch) && zone->space.frame == frame;
  zone->frames = frame;
  if (goes_on) return true;
  cr_assert(space_take(&zone->space, &zone->used, zone->epoch));
  zone->taken++;
  return false;
}

/* One whose owners have died until so many spaces were taken. */
static owners zone_of(uint32_t taken) {
  owners zone = {.epoch = 0};
  while (zone.taken < taken) take_over(&zone, 0);
  return zone;
}

static void hand_over(owners *zone) {
  char text[SPACE_TEXT_BYTES];
  space_close(&zone->space, zone->epoch, zone->frames);
  space_write(&zone->space, text); /* as it stands beside the lease */
  cr_assert(space_read(text, &zone->space), "%s", text);
}

Test(zones_spaces, a_hundred_thousand_hand_overs_take_one_space) {
  owners zone = zone_of(1);
  for (uint32_t i = 1; i <= 100000; i++) {
    zone.frames += 3;
    hand_over(&zone);
    cr_assert(take_over(&zone, zone.frames), "hand-over %u", i);
  }
  cr_expect_eq(zone.epoch, 100001, "each owner has an epoch of its own");
  cr_expect_eq(zone.taken, 1);
  cr_expect(zone.space.space == 1 && zone.space.used == 1);
}

Test(zones_spaces, whoever_has_less_than_its_predecessor_takes_another) {
  owners zone = zone_of(1);
  zone.frames = 50;
  cr_expect(!take_over(&zone, 50), "it died: what it gave behind its last frame, nobody knows");
  cr_expect_eq(zone.space.space, 2);
  zone.frames = 90;
  hand_over(&zone);
  cr_expect(!take_over(&zone, 89), "its files end before");
  cr_expect_eq(zone.space.space, 3);
  zone.frames = 120;
  hand_over(&zone);
  zone.epoch++; /* one that took the zone, and died before it ran */
  cr_expect(!take_over(&zone, 120), "what it did, nobody knows");
  cr_expect(zone.space.space == 4 && zone.space.used == 4 && !zone.space.closed);
}

Test(zones_spaces, epochs_go_on_beyond_32_bits) {
  owners zone = {.epoch = UINT32_MAX - 2u};
  take_over(&zone, 0);
  for (uint32_t i = 0; i < 6; i++) {
    zone.frames++;
    hand_over(&zone);
    cr_assert(take_over(&zone, zone.frames), "hand-over to epoch %llu", (unsigned long long)zone.epoch);
  }
  cr_expect_eq(zone.epoch, (uint64_t)UINT32_MAX + 5);
  hand_over(&zone);
  cr_expect_eq(zone.space.epoch, (uint64_t)UINT32_MAX + 5);
  cr_expect(!space_goes_on(&zone.space, (uint32_t)(zone.space.epoch + 1)), "its lower half alone is another epoch");
  cr_expect(place_is_before((zone_place){UINT32_MAX, 9}, (zone_place){(uint64_t)UINT32_MAX + 1, 1}));
}

Test(zones_spaces, as_text_are_what_they_were) {
  static const char *const bad[] = {"",      "1",         "1 2",    "0 1 1", "16384 1 1", "1 0 1",
                                    "1 1 0", "1 1 1 2 3", "1 1 1 ", "a 1 1", "1 1 1 x",   "1 1 16384"};
  const zone_space open = {.space = 16383, .used = 16383, .epoch = ZONE_EPOCH_MAX},
                   closed = {.space = 1, .used = 1, .epoch = 1, .frame = UINT64_MAX, .closed = true};
  char text[SPACE_TEXT_BYTES];
  zone_space back;
  space_write(&open, text);
  cr_assert(space_read(text, &back));
  cr_expect(back.space == 16383 && back.epoch == ZONE_EPOCH_MAX && !back.closed);
  space_write(&closed, text);
  cr_assert(space_read(text, &back));
  cr_expect(back.closed && back.frame == UINT64_MAX);
  for (size_t i = 0; i < COUNT_OF(bad); i++) cr_expect(!space_read(bad[i], &back), "\"%s\"", bad[i]);
}

/* Its brokers lost all: the zone goes on from files. */
Test(zones_spaces, up_to_that_of_a_restored_world_are_all_used) {
  owners zone = {.epoch = 100000};
  spaces_begin(&zone.used, 40);
  take_over(&zone, 0);
  cr_expect(zone.space.used == 41, "%u", zone.space.used);
  cr_expect(bits_has(zone.used.bits, zone.space.space) && zone.space.space == 41);
}

Test(zones_spaces, are_counted_and_half_of_them_is_told) {
  owners zone = {.epoch = 0};
  for (uint32_t i = 1; i <= SPACES_MAX; i++) {
    take_over(&zone, 0);
    cr_assert(zone.space.space == i && zone.space.used == i);
    cr_assert_eq(spaces_are_half(zone.space.used), i > SPACES_MAX / 2);
  }
  cr_expect(!space_take(&zone.space, &zone.used, zone.epoch + 1), "each may be named");
  cr_expect(zone.space.space == SPACES_MAX && zone.space.epoch == zone.epoch, "nothing has changed");
}

/* ------------------------------------------------------------------------------------------------------ used again */

static spaces_sweep sweep_since(int64_t taken) {
  spaces_sweep sweep;
  sweep_begin(&sweep, ZONE, taken);
  return sweep;
}

/* A zone's note that names these spaces of ZONE. */
static void add_note(spaces_sweep *sweep, int64_t since, int64_t after, const uint32_t *spaces, uint32_t count) {
  struct {
    spaces_note note;
    uint32_t names[64];
  } bytes = {.note = {.since = since, .after = after, .count = count + 1}};
  for (uint32_t i = 0; i < count; i++) bytes.names[i] = ZONE << 14 | spaces[i];
  bytes.names[count] = OTHER << 14 | 3; /* of another zone */
  sweep_add_zone(sweep);
  sweep_add_note(sweep, &bytes, sizeof bytes.note + (count + 1) * sizeof *bytes.names);
}

Test(zones_spaces, that_nothing_names_are_used_again) {
  owners zone = zone_of(10);
  spaces_sweep sweep = sweep_since(100);
  add_note(&sweep, 90, 140, (const uint32_t[]){10, 2}, 2);
  add_note(&sweep, 120, 200, (const uint32_t[]){5, 2}, 2);
  cr_assert_eq(sweep_moment(&sweep), 120);
  cr_expect_eq(sweep_free(&sweep, &zone.space, &zone.used), 7);
  for (uint32_t i = 1; i <= 10; i++)
    cr_expect_eq(bits_has(zone.used.bits, i), i == 2 || i == 5 || i == 10, "space %u", i);
  cr_expect_eq(zone.space.used, 3);
  take_over(&zone, 0);
  cr_expect_eq(zone.space.space, 11, "the free one that was used last comes last");
}

Test(zones_spaces, that_one_zone_names_are_not) {
  owners zone = zone_of(6);
  spaces_sweep sweep = sweep_since(1);
  add_note(&sweep, 10, 20, NULL, 0);
  add_note(&sweep, 10, 20, &(const uint32_t){4}, 1);
  add_note(&sweep, 10, 20, NULL, 0);
  cr_assert(sweep_moment(&sweep));
  sweep_free(&sweep, &zone.space, &zone.used);
  cr_expect(bits_has(zone.used.bits, 4), "somebody lives whose id is of it");
  cr_expect(bits_has(zone.used.bits, 6), "the one in force is used, whoever names it");
  cr_expect_eq(zone.space.used, 2);
}

Test(zones_spaces, need_one_moment_that_all_notes_have) {
  spaces_sweep sweep = sweep_since(1);
  cr_expect_eq(sweep_moment(&sweep), 0, "no zone");
  add_note(&sweep, 10, 20, NULL, 0);
  cr_expect_eq(sweep_moment(&sweep), 10);
  add_note(&sweep, 21, 30, NULL, 0);
  cr_expect_eq(sweep_moment(&sweep), 0, "an agent may have gone from one to the other between");
  sweep_begin(&sweep, ZONE, 25);
  add_note(&sweep, 10, 20, NULL, 0);
  cr_expect_eq(sweep_moment(&sweep), 0, "the last space was taken later: who was born before may be anywhere");
  sweep_begin(&sweep, ZONE, 1);
  add_note(&sweep, 10, 20, NULL, 0);
  sweep_add_zone(&sweep);
  cr_expect_eq(sweep_moment(&sweep), 0, "a zone has noted nothing");
}

Test(zones_spaces, of_a_note_that_says_too_little_stay_used) {
  const spaces_note many = {.since = 10, .after = 20, .count = UINT32_MAX}, late = {.since = 0, .after = 20},
                    cut = {.since = 10, .after = 20, .count = 2};
  const void *const notes[] = {&many, &late, &cut, NULL};
  for (size_t i = 0; i < COUNT_OF(notes); i++) {
    spaces_sweep sweep = sweep_since(1);
    add_note(&sweep, 10, 20, NULL, 0);
    sweep_add_zone(&sweep);
    sweep_add_note(&sweep, notes[i], notes[i] ? sizeof many : 0);
    cr_expect_eq(sweep_moment(&sweep), 0, "note %zu", i);
  }
}

/* Owners that die, each with a few who live on for a while, 50,000 times. */
Test(zones_spaces, do_not_end_while_owners_die) {
  enum { DEATHS = 50000, LIVES = 40, EACH = 500 };
  owners zone = {.epoch = 0};
  uint32_t last_use[SPACES_MAX + 1] = {0}, living[LIVES] = {0};
  for (uint32_t i = 1; i <= DEATHS; i++) {
    take_over(&zone, 0);
    uint32_t space = zone.space.space;
    for (uint32_t j = 0; j < LIVES; j++)
      cr_assert_neq(living[j], space, "death %u: somebody lives of space %u", i, space);
    cr_assert(!last_use[space] || i - last_use[space] > SPACES_MAX / 2, "space %u comes again so soon", space);
    last_use[space] = i;
    living[i % LIVES] = space;
    if (i % EACH) continue;
    spaces_sweep sweep = sweep_since(i);
    add_note(&sweep, i, i + 1, living, LIVES);
    sweep_free(&sweep, &zone.space, &zone.used);
    cr_assert_leq(zone.space.used, (uint32_t)LIVES + 1);
  }
}
