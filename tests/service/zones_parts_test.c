/* The parts of zones that need no broker: whose a place is, which messages of a pair count, parcels, and the wire
 * between the process of a zone and its supervisor. */
#include "complaints.h"
#include "service/settings_file.h"
#include "service/zones/ground.h"
#include "service/zones/pair.h"
#include "service/zones/parcel.h"
#include "wires.h"

TestSuite(zones_parts, .timeout = 60);

/* ----------------------------------------------------------------------------------------------------------- ground */

static struct settings settings;
static complaints all;

static void read_settings(const char *worlds) {
  const char *text =
      formed("[server]\ncluster = land\nnode = a\nnats = nats://h:1\netcd = http://h:2\nsnapshot_file = /tmp/x\n"
             "border = 10\nmargin = 2\n%s",
             worlds);
  all = (complaints){0};
  settings_default(&settings);
  settings_read_text(&settings, "test", text, strlen(text), complaints_add, &all);
  settings_check(&settings, false, complaints_add, &all);
}

/* Two zones side by side, and one that nobody touches. */
static const char three[] = "[world west]\nmodule = m\nzone = 1\nrectangle = 0 0 100 100\n"
                            "[world east]\nmodule = m\nzone = 2\nrectangle = 100 0 200 100\n"
                            "[world far]\nmodule = m\nzone = 9\nrectangle = 500 0 600 100\n";

Test(zones_parts, an_agent_crosses_a_margin_beyond_its_ground) {
  zone_ground west, east;
  read_settings(three);
  cr_assert_str_eq(all.text, "");
  ground_of(&settings, &settings.worlds[0], &west);
  ground_of(&settings, &settings.worlds[1], &east);
  cr_expect_eq(west.neighbour_count, 1, "the far one is none");
  cr_expect_eq(ground_target(&west, 50, 50), 0);
  cr_expect_eq(ground_target(&west, 100.5, 50), 0, "it is beyond, and within the margin");
  cr_expect_eq(ground_target(&west, 102.5, 50), 2);
  cr_expect_eq(ground_target(&east, 102.5, 50), 0);
  cr_expect_eq(ground_target(&east, 99, 50), 0, "it does not come back at once");
  cr_expect_eq(ground_target(&east, 97, 50), 1);
  cr_expect_eq(ground_target(&west, -50, 50), 0, "nobody has that ground");
  cr_expect_eq(ground_target(&west, 550, 50), 2, "the nearest neighbour passes it on");
}

Test(zones_parts, what_is_near_a_neighbour_is_seen_there) {
  zone_ground west;
  read_settings(three);
  ground_of(&settings, &settings.worlds[0], &west);
  const zone_neighbour *east = ground_neighbour(&west, 2);
  cr_assert(east != NULL);
  zone_rectangle inner = ground_inner(&west);
  cr_expect(inner.x0 == 10 && inner.y0 == 10 && inner.x1 == 90 && inner.y1 == 90);
  cr_expect(ground_is_seen(&west, east, 95, 50));
  cr_expect(!(ground_is_seen(&west, east, 89, 50)));
}

Test(zones_parts, of_a_narrow_zone_all_is_seen) {
  zone_ground ground = {.number = 1, .rectangle = {0, 0, 20, 100}, .border_m = 10};
  zone_rectangle inner = ground_inner(&ground);
  cr_expect(inner.x0 > 1e9 && inner.x0 < inner.x1 && inner.y0 < inner.y1, "a view of it finds nobody");
}

Test(zones_parts, settings_that_contradict_are_told) {
  read_settings("[world a]\nmodule = m\nzone = 1\nrectangle = 0 0 100 100\n"
                "[world b]\nmodule = m\nzone = 2\nrectangle = 50 0 150 100\n"
                "[world c]\nmodule = m\nzone = 1\nrectangle = 200 0 300 100\n"
                "[world d]\nmodule = m\nzone = 4\nrectangle = 300 0 300 100\n");
  expect_in(all.text, "[world b]: its rectangle overlaps that of [world a]");
  expect_in(all.text, "[world c]: zone is 1, which is [world a]");
  expect_in(all.text, "[world d]: give four numbers");
}

/* From the first zone that has a rectangle on, over gaps up to the border's width. */
Test(zones_parts, a_zone_beyond_a_gap_is_out_of_reach_unless_others_lead_there) {
  static const struct {
    const char *rectangles[4];
    int unreached;
  } lands[] = {{{"0 0 100 100", "100 0 200 100", "200 0 300 100", "300 0 400 100"}, -1},
               {{"200 0 300 100", "300 0 400 100", "0 0 100 100", "100 0 200 100"}, -1},
               {{"0 0 100 100", "100 0 200 100", "220 0 300 100", "300 0 400 100"}, 2},
               {{"0 0 100 100", "100 0 200 100", "200 0 300 100", "320 0 400 100"}, 3},
               {{"0 0 100 100", "120 0 200 100", "120 100 200 200", "0 100 100 200"}, 1},
               {{"none", "0 0 100 100", "100 0 200 100", "220 0 300 100"}, 3}};
  for (size_t i = 0; i < COUNT_OF(lands); i++) {
    settings_default(&settings);
    settings.border_mm = 10000;
    for (uint32_t k = 0; k < 4; k++) {
      world_settings *world = settings_add_world(&settings, (char[]){(char)('a' + k), '\0'});
      world->zone = k + 1;
      snprintf(world->rectangle, sizeof world->rectangle, "%s", lands[i].rectangles[k]);
    }
    const world_settings *from, *unreached = ground_find_unreached(&settings, &from);
    cr_expect_eq(unreached ? unreached - settings.worlds : -1, lands[i].unreached, "land %zu", i);
    cr_expect_eq(from - settings.worlds, i == 5);
  }
}

/* ------------------------------------------------------------------------------------------------------------- pair */

/* Rows of {epoch, number}; the answer is a text of what counts. */
static void expect_counts(const uint32_t (*messages)[2], size_t count, const char *expected) {
  zone_pair pair = {0};
  char got[64] = "";
  for (size_t i = 0; i < count; i++)
    got[i] = pair_takes(&pair, (zone_place){1, i + 1}, messages[i][0], messages[i][1]) ? '+' : '-';
  got[count] = '\0';
  cr_expect_str_eq(got, expected);
}

#define EXPECT_COUNTS(expected, ...)                                                                                   \
  expect_counts((const uint32_t[][2]){__VA_ARGS__}, sizeof((uint32_t[][2]){__VA_ARGS__}) / sizeof(uint32_t[2]),        \
                expected)

Test(zones_parts, what_counts_is_the_next_one_or_the_first_of_an_owner) {
  EXPECT_COUNTS("++", {1, 1}, {1, 2});
  EXPECT_COUNTS("++-+", {1, 1}, {1, 2}, {1, 2}, {1, 3}); /* twice */
  EXPECT_COUNTS("+--+", {1, 1}, {1, 3}, {1, 4}, {1, 2}); /* behind a gap */
  EXPECT_COUNTS("++-+", {1, 1}, {2, 1}, {1, 2}, {2, 2}); /* an owner that has lost its zone */
  EXPECT_COUNTS("++-+", {1, 1}, {3, 1}, {2, 1}, {3, 2}); /* the first one of an owner before, late */
  EXPECT_COUNTS("--+", {1, 0}, {2, 2}, {2, 1});          /* an owner begins with number 1 */
}

Test(zones_parts, a_message_is_seen_once) {
  zone_pair pair = {0};
  cr_assert(pair_takes(&pair, (zone_place){1, 7}, 1, 1));
  cr_expect(!(pair_takes(&pair, (zone_place){1, 7}, 1, 2)), "the sequence was seen");
  cr_expect(pair_takes(&pair, (zone_place){1, 8}, 1, 2));
}

/* ---------------------------------------------------------------------------------------------------------- parcels */

static struct parcel_reader {
  parcel_item item;
  const unsigned char *bytes;
  size_t at;
  bool damaged;
} reader;

static bool next_item(const unsigned char *bytes, size_t count) {
  return parcel_next(bytes, count, &reader.at, &reader.item, &reader.bytes, &reader.damaged);
}

static void fill_parcel(struct parcel *parcel) {
  parcel_begin(parcel, 5, 17, 1000, 33);
  parcel_open(parcel, PARCEL_AGENT);
  parcel_put("abc", 3, parcel);
  parcel_put("def", 3, parcel);
  parcel_close(parcel);
  parcel_open(parcel, PARCEL_AGENT);
  parcel_put("taken back", 10, parcel);
  parcel_undo(parcel);
  parcel_open(parcel, PARCEL_MESSAGE);
  parcel_close(parcel);
}

Test(zones_parts, a_parcel_comes_out_as_it_went_in) {
  SCOPED(parcel_free) struct parcel parcel = {0};
  parcel_head head;
  fill_parcel(&parcel);
  cr_assert(parcel_has_items(&parcel));
  parcel_renumber(parcel.bytes, 6, 1);
  cr_assert_eq(parcel_read_head(parcel.bytes, parcel.count, &head), MUSTER_OK);
  cr_expect(head.epoch == 6 && head.number == 1 && head.frame == 1000);
  cr_assert(next_item(parcel.bytes, parcel.count));
  cr_expect(reader.item.kind == PARCEL_AGENT && reader.item.bytes == 6);
  cr_expect_eq(memcmp(reader.bytes, "abcdef", 6), 0);
  cr_assert(next_item(parcel.bytes, parcel.count));
  cr_expect(reader.item.kind == PARCEL_MESSAGE && reader.item.bytes == 0);
  cr_expect(!next_item(parcel.bytes, parcel.count));
  cr_expect(!reader.damaged);
}

/* The same one is filled in each frame, and given another number only where it is put again. */
Test(zones_parts, a_parcel_that_is_begun_again_has_nothing_of_before) {
  struct parcel parcel = {0};
  parcel_head head;
  fill_parcel(&parcel);
  parcel.failed = true;
  parcel_begin(&parcel, 7, 18, 1001, 34);
  cr_expect(!parcel.failed && !parcel_has_items(&parcel));
  for (uint32_t again = 0; again < 2; again++) {
    cr_assert_eq(parcel_read_head(parcel.bytes, parcel.count, &head), MUSTER_OK);
    cr_expect(head.epoch == 7 + again && head.number == (again ? 3 : 18) && head.frame == 1001 &&
              head.sim_now_ns == 34);
    cr_expect(place_equal(head.birth, (zone_place){7, 18}), "it was made so");
    parcel_renumber(parcel.bytes, 8, 3);
  }
  parcel_free(&parcel);
}

Test(zones_parts, a_cut_parcel_is_noticed_or_has_fewer_items) {
  SCOPED(parcel_free) struct parcel parcel = {0};
  fill_parcel(&parcel);
  for (size_t count = 0; count < parcel.count; count++) {
    SCOPED(free_memory) unsigned char *cut = exact_copy(parcel.bytes, count);
    parcel_head head;
    size_t items = 0;
    reader = (struct parcel_reader){0};
    const bool has_head = parcel_read_head(cut, count, &head) == MUSTER_OK;
    while (next_item(cut, count)) items++;
    cr_expect_eq(has_head, count >= sizeof head);
    cr_expect(has_head ? reader.damaged || items < 2 : reader.damaged && items == 0);
  }
}

/* ------------------------------------------------------------------------------------------------------------- wire */

Test(zones_parts, messages_cross_the_wire_in_order_whatever_their_size) {
  enum { MESSAGES = 300 };
  struct wire left, right;
  wire_message message;
  static unsigned char bytes[MESSAGES * 1000];
  wires_open(&left, &right, true);
  for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
  for (uint32_t i = 0; i < MESSAGES; i++)
    cr_assert(wire_put(&left, (wire_head){.kind = WIRE_FRAME, .number = i, .bytes = i * 1000ull}, bytes));
  for (uint32_t i = 0; i < MESSAGES; i++) {
    while (!wire_next(&right, &message)) {
      cr_assert(!(right.broken));
      wire_flush(&left);
    }
    cr_assert(message.head.number == i && message.head.bytes == i * 1000ull);
    cr_expect_eq(memcmp(message.bytes, bytes, message.head.bytes), 0);
  }
  cr_expect(wire_flush(&left), "nothing is left");
  close(left.descriptor);
  cr_expect(!(wire_next(&right, &message)));
  cr_expect(right.broken, "the other end is gone");
  close(right.descriptor);
  wire_close(&left), wire_close(&right);
}

Test(zones_parts, what_is_no_message_breaks_the_wire) {
  static const wire_head wrong[] = {{.kind = 0}, {.kind = WIRE_KINDS}, {.kind = 1, .bytes = WIRE_MESSAGE_MAX + 1}};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    struct wire wire, end;
    wire_message message;
    wires_open(&wire, &end, true);
    cr_assert_eq((int)write(end.descriptor, &wrong[i], sizeof wrong[i]), (int)sizeof wrong[i]);
    cr_expect(!(wire_next(&wire, &message)));
    cr_expect(wire.broken);
    wires_close(&wire, &end);
  }
}
