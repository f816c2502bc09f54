/* A zone among two neighbours, over many frames of random crossings: what its journal has of it, a piece and the notes
 * behind it, makes a zone that saves the same. */
#include "support/border_town.h"
#include "support/journals.h"

#include "base/random.h"

TestSuite(zone_notes, .timeout = 60);

enum { FRAMES = 250, WATCHERS = 6 };

static uint64_t seed, numbers[TOWN_LINKS], stored[TOWN_LINKS]; /* the last letters, and parcels that the brokers have */
static uint32_t came, went;                                    /* herds */

static uint64_t chance(uint64_t most) {
  return muster_random_mix(seed++) % most;
}

/* --------------------------------------------------------------------------------------------------------- events */

static void add_letter(struct parcel *parcel, uint32_t link) {
  const parcel_letter letter = {.from = (uint64_t)zone->links[link].zone << 50 | 1ull << 36 | 7,
                                .to = (uint64_t)TOWN_WEST << 50 | 1ull << 36 | 9,
                                .sequence = ++numbers[link]};
  parcel_add(parcel, PARCEL_MESSAGE, &letter, sizeof letter);
}

/* Its herds stand in this zone, or are to go on through it. */
static void take_letters_and_herds(uint32_t link) {
  zone_link *from = &zone->links[link];
  SCOPED(parcel_free) struct parcel parcel = parcel_of(TOWN_EPOCH, from->in.number + 1, 0);
  for (uint64_t items = 1 + chance(3); items > 0; items--)
    if (chance(3))
      add_letter(&parcel, link);
    else
      parcel_add_herd(&parcel, (double)chance(3u * TOWN_SIDE_M) - TOWN_SIDE_M, 30), came++;
  take_parcel(from, from->in.seen.number + 1 + chance(3), &parcel);
  cr_assert(STAILQ_EMPTY(&from->held));
}

/* A neighbour tells of some of its observers, and of others the next time. */
static void take_observers(uint32_t link) {
  seen_observer seen[WATCHERS];
  uint32_t count = 0;
  memset(seen, 0, sizeof seen);
  for (uint32_t i = 0; i < WATCHERS; i++)
    if (chance(2)) seen[count++] = (seen_observer){.id = 70 + i, .x = (double)chance(99), .near_m = 5, .far_m = 9};
  zone_take_observers(&town.world, &zone->links[link], seen, count * sizeof *seen);
}

/* The brokers have some more of what this zone has sent. */
static void store_some(uint32_t link) {
  const zone_link *to = &zone->links[link];
  if (stored[link] == to->numbered) return;
  stored[link] += 1 + chance(to->numbered - stored[link]);
  wire_put(&town.end, (wire_head){.kind = WIRE_STORED, .zone = to->zone, .epoch = TOWN_EPOCH, .number = stored[link]},
           NULL);
}

static void run_on(void) {
  wire_message message;
  for (uint32_t link = 0; link < TOWN_LINKS; link++) {
    if (!chance(3)) take_letters_and_herds(link);
    if (!chance(4)) take_observers(link);
    if (!chance(3)) store_some(link);
  }
  wire_flush(&town.end);
  zone_take_in(&town.world);
  run_frame(here);
  town.world.sim_now_ns = here->now_ns;
  uint64_t before = zone->published.departed;
  zone_send_out(&town.world);
  went += zone->published.departed > before;
  if (town.world.journal) muster_journal_turn(town.world.journal, 0);
  wire_flush(&zone->wire);
  while (wire_next(&town.end, &message)) continue;
}

/* ------------------------------------------------------------------------------------------------------------ same */

static bool take_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  const unsigned char *note = bytes;
  (void)frame;
  if (*note == JOURNAL_ZONE) zone_take(user, note + 1, count - 1);
  return true;
}

static void expect_all_of_a_zone(const struct zone *is, const struct zone *was) {
  for (uint32_t i = 0; i < TOWN_LINKS; i++) {
    const zone_link *a = &is->links[i], *b = &was->links[i];
    cr_expect_eq(memcmp(&a->in, &b->in, sizeof a->in), 0, "link %u: taken", i);
    cr_expect_eq(memcmp(&a->kept, &b->kept, sizeof a->kept), 0, "link %u: stored", i);
    cr_expect_eq(memcmp(&a->out, &b->out, sizeof a->out), 0, "link %u: stored, as it knows", i);
    cr_expect_eq(memcmp(&a->part, &b->part, sizeof a->part), 0, "link %u: a part", i);
    cr_assert_eq(a->watcher_count, b->watcher_count, "link %u: %u watchers", i, a->watcher_count);
    for (uint32_t j = 0; j < a->watcher_count; j++) {
      cr_expect_eq(a->watchers[j].id, b->watchers[j].id, "link %u: watcher %u", i, j);
      cr_expect(muster_observer_equal(a->watchers[j].own, b->watchers[j].own), "link %u: watcher %u", i, j);
    }
  }
  cr_assert_eq(is->herd_count, was->herd_count, "%u herds of %u", is->herd_count, was->herd_count);
  for (uint32_t i = 0; i < is->herd_count; i++)
    cr_expect_eq(memcmp(&is->herds[i], &was->herds[i], sizeof is->herds[i]), 0, "herd %u", i);
  const zone_waiting *a = TAILQ_FIRST(&is->waiting), *b = TAILQ_FIRST(&was->waiting);
  for (; a && b; a = TAILQ_NEXT(a, link), b = TAILQ_NEXT(b, link))
    cr_expect(a->to == b->to && a->number == b->number && a->bytes == b->bytes &&
                  memcmp(a->parcel, b->parcel, a->bytes) == 0 && a->noted && !a->sent && a->looks >= ZONE_LOOKS,
              "parcel %lu to zone %u", b->number, b->to);
  cr_expect(!a && !b, "parcels that wait");
}

/* Each life begins with the piece that the one before has saved, and notes what happens in it. */
Test(zone_notes, and_a_piece_make_the_zone_that_was) {
  SCOPED(zone_bytes_forget) zone_bytes piece = {0};
  for (uint64_t life = 1; life <= 3; life++) {
    SCOPED(place_remove) journal_place place = place_make();
    seed = life * 1000, came = went = 0;
    memset(numbers, 0, sizeof numbers), memset(stored, 0, sizeof stored);
    town_begin(4096);
    zone_note_all_came(zone);
    zone_catch_up(&town.world);
    for (uint32_t frame = 0; frame < FRAMES / 4; frame++) run_on();
    piece.count = 0;
    cr_assert(zone_save(&town.world, zone_put, &piece));
    town.world.journal = journal_begin(here, place.path);
    for (uint32_t frame = 0; frame < FRAMES; frame++) run_on();
    run_frame(here); /* what was noted behind a frame stands in the next one */
    muster_journal_status status = journal_status(town.world.journal);
    cr_assert_eq(status.snapshots, 1, "the notes are behind the first one");
    hosted_world back = {.zone = town_zone()};
    muster_journal_look_def look =
        WITH(muster_journal_look_def, it.path = place.path, it.take_notes = take_note, it.user = &back);
    muster_journal_info info = muster_journal_info_default();
    zone_take(&back, piece.bytes, piece.count);
    cr_assert_eq(muster_journal_look(&look, &info, NULL), MUSTER_OK, "%s", muster_last_error());
    expect_all_of_a_zone(back.zone, zone);
    cr_expect(came > 20 && went > 10 && zone->herd_count > 0, "%u herds came, %u went", came, went);
    town_zone_free(back.zone);
    muster_journal_end(town.world.journal, true);
    town_end();
  }
}
