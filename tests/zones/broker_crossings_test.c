/* What crosses between zones, with real etcd servers: in order, and from the owner of a zone alone. */
#include "broker_here.h"

enum { SEEN_MAX = 4096, LARGE = BROKER_CROSSING_BYTES_MAX };

/* What a reading gave. */
typedef struct seen {
  uint32_t count;
  bool done;
  muster_result result;
  uint32_t from[SEEN_MAX];
  zone_place places[SEEN_MAX];
  size_t sizes[SEEN_MAX];
  char texts[SEEN_MAX][16];
} seen;

static seen all;

TestSuite(broker_crossings, .fini = end_here, .timeout = 300);

static void see(uint32_t from, zone_place place, const void *bytes, size_t count, void *user) {
  seen *to = user;
  cr_assert_lt(to->count, (uint32_t)SEEN_MAX);
  to->from[to->count] = from;
  to->places[to->count] = place;
  to->sizes[to->count] = count;
  snprintf(to->texts[to->count], sizeof *to->texts, "%.*s", (int)(count < 15 ? count : 15), (const char *)bytes);
  to->count++;
}

static void see_end(muster_result result, void *user) {
  seen *to = user;
  to->done = true;
  to->result = result;
}

/* What crosses says its number. */
static muster_result cross_number(struct broker *broker, const broker_lease *lease, uint32_t to, uint32_t number) {
  return cross(broker, lease, to, number, formed("%u", number));
}

static void read_all(struct broker *broker, uint32_t from, uint32_t to, zone_place behind) {
  memset(&all, 0, sizeof all);
  cr_assert_eq(broker_crossed(broker, from, to, behind, see, see_end, &all), MUSTER_OK, "%s", muster_last_error());
  LAB_AWAIT(&here, all.done);
  cr_assert_eq(all.result, MUSTER_OK, "%s", muster_last_error());
}

Test(broker_crossings, come_in_order_whatever_their_number_and_size) {
  static char large[LARGE];
  struct broker *a = open_as(0, "a");
  broker_lease lease = take(a, 2);
  for (uint32_t i = 1; i <= 50; i++) cr_assert_eq(cross_number(a, &lease, 12, i), MUSTER_OK);
  cr_assert_eq(cross(a, &lease, 1, 1, "another pair"), MUSTER_OK);
  memset(large, 'x', sizeof large);
  cr_assert_eq(cross_bytes(a, &lease, 12, 51, large, sizeof large), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(cross(a, &lease, 12, 52, ""), MUSTER_OK);
  const broker_message too_large[] = {{12, 53, large, LARGE - 2}, {1, 2, large, 3}};
  cr_expect_eq(broker_cross(a, &lease, too_large, 2, lab_done, NULL), MUSTER_E_ARGUMENT);
  read_all(a, 2, 12, (zone_place){0});
  cr_assert_eq(all.count, 52);
  for (uint32_t i = 0; i < 50; i++) {
    const char *text = formed("%u", i + 1);
    cr_expect(place_equal(all.places[i], (zone_place){lease.epoch, i + 1}));
    cr_expect_str_eq(all.texts[i], text);
  }
  cr_expect(all.sizes[50] == LARGE && all.sizes[51] == 0 && all.from[51] == 2);
  read_all(a, 2, 12, (zone_place){lease.epoch, 50});
  cr_expect_eq(all.count, 2, "behind a place");
  read_all(a, 3, 12, (zone_place){0});
  cr_expect_eq(all.count, 0, "another zone has sent nothing");
}

Test(broker_crossings, of_one_transaction_are_all_there_or_none) {
  broker_message messages[BROKER_CROSSINGS_MAX + 1];
  struct broker *a = open_as(0, "a");
  broker_lease lease = take(a, 2), next;
  for (uint32_t i = 0; i <= BROKER_CROSSINGS_MAX; i++) messages[i] = (broker_message){3 + i % 2, 1 + i / 2, "text", 4};
  cr_expect_eq(broker_cross(a, &lease, messages, BROKER_CROSSINGS_MAX + 1, lab_done, NULL), MUSTER_E_ARGUMENT);
  lab_answer answer = {0}, late = {0};
  call_here(broker_cross(a, &lease, messages, BROKER_CROSSINGS_MAX, lab_done, &answer), &answer);
  EXPECT_RESULT(answer, MUSTER_OK);
  read_all(a, 2, 3, (zone_place){0});
  cr_expect_eq(all.count, BROKER_CROSSINGS_MAX / 2);
  read_all(a, 2, 4, (zone_place){0});
  cr_expect_eq(all.count, BROKER_CROSSINGS_MAX / 2);
  next = take(a, 2);
  messages[0].number = messages[1].number = 1000;
  call_here(broker_cross(a, &lease, messages, 2, lab_done, &late), &late);
  cr_expect_eq(late.result, MUSTER_E_STATE);
  cr_expect_eq(next.epoch, lease.epoch + 1);
  read_all(a, 2, 3, (zone_place){lease.epoch, BROKER_CROSSINGS_MAX / 2});
  cr_expect_eq(all.count, 0);
}

Test(broker_crossings, are_of_the_owner_alone) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take(a, 7);
  cr_assert_eq(cross(a, &first, 8, 1, "one"), MUSTER_OK);
  cr_assert_eq(cross(a, &first, 8, 1, "one"), MUSTER_OK, "again");
  cr_assert_eq(lab_release(&here, a, &first).result, MUSTER_OK);
  cr_expect_eq(cross(a, &first, 8, 2, "without"), MUSTER_E_STATE, "nobody owns the zone");
  broker_lease second = take(b, 7);
  cr_expect_eq(cross(a, &first, 8, 2, "late"), MUSTER_E_STATE, "another does");
  cr_assert_eq(cross(b, &second, 8, 1, "two"), MUSTER_OK);
  broker_lease third = take(b, 7);
  cr_expect_eq(cross(b, &second, 8, 2, "later"), MUSTER_E_STATE, "it itself does, in another epoch");
  read_all(b, 7, 8, (zone_place){0});
  cr_assert_eq(all.count, 2);
  cr_expect(place_equal(all.places[0], (zone_place){1, 1}) &&
            place_equal(all.places[1], (zone_place){second.epoch, 1}));
  cr_expect_str_eq(all.texts[1], "two");

  forget(b, &second, 8, (zone_place){9, 9});
  read_all(b, 7, 8, (zone_place){0});
  cr_expect_eq(all.count, 2, "an owner of before lets nothing be forgotten");
  forget(b, &third, 8, (zone_place){1, 1});
  read_all(b, 7, 8, (zone_place){0});
  cr_expect(all.count == 1 && place_equal(all.places[0], (zone_place){second.epoch, 1}));
}

static char noted[64];
static bool read_done;

static void take_note(muster_result result, const void *bytes, size_t count, void *user) {
  (void)user;
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  snprintf(noted, sizeof noted, "%.*s", (int)count, bytes ? (const char *)bytes : "");
  read_done = true;
}

static const char *read_note(struct broker *broker, uint32_t zone) {
  read_done = false;
  cr_assert_eq(broker_read_stored(broker, zone, take_note, NULL), MUSTER_OK);
  LAB_AWAIT(&here, read_done);
  return noted;
}

static muster_result note(struct broker *broker, const broker_lease *lease, const char *text) {
  return CALL_HERE(broker_note_stored, broker, lease, text, strlen(text), NULL, 0).result;
}

Test(broker_crossings, so_is_the_note_of_what_is_stored) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take(a, 7);
  cr_expect_str_eq(read_note(b, 7), "");
  cr_assert_eq(note(a, &first, "version 1"), MUSTER_OK);
  cr_expect_str_eq(read_note(b, 7), "version 1");
  cr_assert_eq(lab_release(&here, a, &first).result, MUSTER_OK);
  broker_lease second = take(b, 7);
  cr_expect_eq(note(a, &first, "version 2"), MUSTER_E_STATE);
  cr_expect_str_eq(read_note(a, 7), "version 1");
  cr_assert_eq(note(b, &second, "version 3"), MUSTER_OK);
  cr_expect_str_eq(read_note(a, 7), "version 3");
}

/* Places of a pair rise by one, whatever comes twice. */
static uint32_t count_new(const seen *what, uint32_t from) {
  zone_place last = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < what->count; i++) {
    if (what->from[i] != from || !place_is_before(last, what->places[i])) continue;
    cr_assert(place_is_none(last) || place_equal(what->places[i], place_next(last)), "a gap behind %" PRIu64,
              last.number);
    last = what->places[i];
    count++;
  }
  return count;
}

Test(broker_crossings, arrive_without_gaps_while_leaders_die) {
  enum { EACH = 60, DEATHS = 3 };
  start_here(1, 3);
  struct broker *a = open_as(0, "a");
  broker_lease one = take(a, 1), two = take(a, 2);
  memset(&all, 0, sizeof all);
  broker_arrivals *arrivals = broker_await_arrivals(a, 5, (broker_sender[]){{1, {0}}, {2, {0}}}, 2, see, &all);
  cr_assert_not_null(arrivals);
  for (uint32_t i = 1; i <= EACH; i++) {
    while (cross_number(a, &one, 5, i) != MUSTER_OK) continue;
    while (cross_number(a, &two, 5, i) != MUSTER_OK) continue;
    int leader = i % (EACH / DEATHS) == 10 ? brokers_etcd_leader(here.servers) : -1;
    if (leader < 0) continue;
    brokers_kill(here.servers, BROKERS_ETCD, (uint32_t)leader);
    brokers_revive(here.servers, BROKERS_ETCD, (uint32_t)leader);
  }
  LAB_AWAIT(&here, count_new(&all, 1) == EACH && count_new(&all, 2) == EACH);
  broker_stop_arrivals(arrivals);
}

Test(broker_crossings, arrive_from_those_that_are_named_behind_what_is_known) {
  struct broker *a = open_as(0, "a");
  broker_lease one = take(a, 1), two = take(a, 2), three = take(a, 3);
  for (uint32_t i = 1; i <= 40; i++) {
    cr_assert_eq(cross_number(a, &one, 5, i), MUSTER_OK);
    cr_assert_eq(cross_number(a, &two, 5, i), MUSTER_OK);
    cr_assert_eq(cross_number(a, &three, 5, i), MUSTER_OK);
    cr_assert_eq(cross(a, &two, 6, i, "to another"), MUSTER_OK);
  }
  memset(&all, 0, sizeof all);
  const broker_sender senders[] = {{3, {0}}, {1, {one.epoch, 25}}};
  broker_arrivals *arrivals = broker_await_arrivals(a, 5, senders, 2, see, &all);
  LAB_AWAIT(&here, all.count >= 55);
  cr_assert_eq(cross_number(a, &one, 5, 41), MUSTER_OK);
  cr_assert_eq(cross_number(a, &two, 5, 41), MUSTER_OK);
  broker_lease again = take(a, 3);
  cr_assert_eq(cross(a, &again, 5, 1, "anew"), MUSTER_OK);
  LAB_AWAIT(&here, all.count >= 57);
  broker_stop_arrivals(arrivals);
  zone_place last[4] = {{0}, {one.epoch, 25}, {0}, {0}};
  for (uint32_t i = 0; i < all.count; i++) {
    cr_assert(all.from[i] == 1 || all.from[i] == 3, "of %u", all.from[i]);
    cr_expect(place_is_before(last[all.from[i]], all.places[i]), "what is known comes again, or in another order");
    last[all.from[i]] = all.places[i];
  }
  cr_expect_eq(all.count, 57);
  cr_expect(place_equal(last[1], (zone_place){one.epoch, 41}));
  cr_expect(place_equal(last[3], (zone_place){again.epoch, 1}));
}
