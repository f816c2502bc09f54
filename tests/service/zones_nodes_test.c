/* What nodes tell each other of themselves, the table that this makes, and what the planner is told of it. */
#include "room.h"
#include "service/settings_file.h"
#include "service/zones/nodes.h"

static const uint64_t second_ns = 1000000000;

static struct nodes table;
static uint64_t counts; /* of tellings */

static void open_table(void) {
  nodes_open(&table, 0);
}

TestSuite(zones_nodes, .init = open_table, .timeout = 60);

/* A telling of one zone; of none when that is 0. */
static node_told told_by(const char *name, uint64_t life, uint64_t count, uint32_t zone, uint64_t epoch, double load) {
  node_told told = {.life = life, .count = count, .capacity = 4};
  snprintf(told.name, sizeof told.name, "%s", name);
  if (zone) told.zones[told.zone_count++] = (node_zone){zone, epoch, load};
  return told;
}

static bool hear(const node_told *told, double at_s) {
  char text[NODES_TEXT_BYTES];
  size_t bytes = nodes_write(told, text);
  cr_assert_gt(bytes, 0);
  return nodes_hear(&table, text, bytes, (uint64_t)(at_s * 1e9));
}

static void tell(const char *name, uint64_t life, uint64_t count, uint32_t zone, uint64_t epoch, double load,
                 double at_s) {
  node_told told = told_by(name, life, count, zone, epoch, load);
  cr_assert(hear(&told, at_s));
}

Test(zones_nodes, what_a_node_tells_is_heard_as_it_was_told) {
  node_told told = told_by("north", 17, 3, 7, 2, 1.25);
  told.drains = told.balances = true;
  for (uint32_t i = 1; i < WORLDS_MAX; i++)
    told.zones[told.zone_count++] = (node_zone){BALANCE_ZONES_MAX + i, UINT32_MAX, 1e6};
  cr_assert(hear(&told, 1));
  const node_row *row = nodes_find(&table, "north");
  cr_assert_not_null(row);
  cr_expect(row->told.drains && row->told.balances);
  cr_expect_eq(row->told.capacity, 4);
  cr_expect_eq(row->told.zone_count, WORLDS_MAX);
  cr_expect(row->told.zones[0].zone == 7 && row->told.zones[0].epoch == 2 && row->told.zones[0].load == 1.25);
  cr_expect_eq(row->told.zones[WORLDS_MAX - 1].load, 1e6);
  cr_expect_null(nodes_find(&table, "south"));
  cr_expect_eq(nodes_seat(&table, 7)->load, 1.25);
  cr_expect_null(nodes_seat(&table, 8));
}

Test(zones_nodes, what_cannot_be_read_is_refused) {
  static const char *const bad[] = {
      "",
      "{",
      "[]",
      "{\"life\": 1, \"count\": 1, \"capacity\": 1}",
      "{\"node\": \"\", \"life\": 1, \"count\": 1, \"capacity\": 1}",
      "{\"node\": \"a b\", \"life\": 1, \"count\": 1, \"capacity\": 1}",
      "{\"node\": \"a123456789012345678901234567890123456789\", \"life\": 1, \"count\": 1, \"capacity\": 1}",
      "{\"node\": \"a\", \"life\": 0, \"count\": 1, \"capacity\": 1}",
      "{\"node\": \"a\", \"life\": 1, \"count\": -1, \"capacity\": 1}",
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 0}",
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"zones\": [{\"zone\": 0, \"epoch\": 1}]}",
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"zones\": [{\"zone\": 1, \"epoch\": 0}]}",
      ("{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"zones\": [{\"zone\": 1, \"epoch\": 1, "
       "\"load\": -1}]}"),
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1000000000001}", /* millionths: more than a million */
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": -1}",
      ("{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"zones\": [{\"zone\": 1, \"epoch\": 1, "
       "\"load\": 1000000000001}]}"),
      "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"zones\": [1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]}"};
  static const char good[] = "{\"node\": \"a\", \"life\": 1, \"count\": 1, \"capacity\": 1, \"what\": [\"is new\"]}";
  for (size_t i = 0; i < COUNT_OF(bad); i++)
    cr_expect(!nodes_hear(&table, bad[i], strlen(bad[i]), second_ns), "%s", bad[i]);
  cr_expect_eq(table.count, 0);
  cr_expect(nodes_hear(&table, good, strlen(good), second_ns), "members that are not known are passed over");
  cr_expect_eq(table.count, 1);
}

/* They go over three servers, each of which may be slow, and a node may have been started anew. */
Test(zones_nodes, the_newest_telling_counts) {
  tell("a", 5, 10, 1, 1, 0.5, 1);
  tell("a", 5, 9, 1, 1, 0.1, 1.1);
  tell("a", 5, 10, 1, 1, 0.2, 1.2);
  tell("a", 4, 99, 1, 1, 0.3, 1.3);
  const node_row *row = nodes_find(&table, "a");
  cr_expect_eq(row->told.zones[0].load, 0.5);
  cr_expect_eq(row->heard_ns, second_ns, "what is older does not keep it alive");
  tell("a", 6, 1, 1, 1, 0.4, 1.4);
  cr_expect_eq(row->told.zones[0].load, 0.4);
  cr_expect_eq(nodes_seat(&table, 1)->load, 0.4, "where it is, it weighs that now");
  nodes_forget(&table, 7 * second_ns);
  tell("a", 2, 1, 1, 1, 0.6, 7);
  cr_expect_not_null(nodes_find(&table, "a"), "its clock was set back while it was down");
}

Test(zones_nodes, who_is_not_heard_is_gone) {
  tell("b", 1, 1, 0, 0, 0, 1);
  tell("a", 1, 1, 0, 0, 0, 3);
  tell("c", 1, 1, 0, 0, 0, 3);
  cr_expect_eq(table.count, 3);
  for (uint32_t i = 0; i < 3; i++) cr_expect_eq(table.rows[i].told.name[0], 'a' + (char)i, "by name");
  nodes_forget(&table, 6 * second_ns);
  cr_expect_eq(table.count, 3);
  nodes_forget(&table, 6 * second_ns + 1);
  cr_expect_eq(table.count, 2);
  cr_expect_null(nodes_find(&table, "b"));
  cr_expect_not_null(nodes_find(&table, "c"));
  nodes_forget(&table, 20 * second_ns);
  cr_expect_eq(table.count, 0);
  for (const char *name = "abc"; *name; name++) cr_expect_null(nodes_find(&table, (char[]){*name, '\0'}), "%s", name);
}

Test(zones_nodes, a_node_too_many_is_refused_and_leaves_the_others) {
  for (uint32_t i = 0; i < NODES_MAX; i++) tell(formed("n%02u", i), 1, 1, 0, 0, 0, 1);
  node_told more = told_by("a", 1, 1, 0, 0, 0);
  cr_expect(!hear(&more, 1));
  cr_expect_eq(table.count, NODES_MAX);
  nodes_forget(&table, 10 * second_ns);
  cr_expect(hear(&more, 10));
}

Test(zones_nodes, an_epoch_beyond_32_bits_is_above_those_below) {
  tell("a", 1, 1, 7, UINT32_MAX, 1, 1);
  tell("b", 1, 1, 7, (uint64_t)UINT32_MAX + 2, 1, 1);
  tell("a", 1, 2, 7, UINT32_MAX, 1, 2);
  cr_expect_str_eq(nodes_seat(&table, 7)->node, "b");
  cr_expect_eq(nodes_seat(&table, 7)->epoch, (uint64_t)UINT32_MAX + 2);
}

Test(zones_nodes, a_zone_is_where_its_highest_epoch_is) {
  tell("a", 1, 1, 3, 4, 0.5, 1);
  const zone_seat *seat = nodes_seat(&table, 3);
  cr_expect(strcmp(seat->node, "a") == 0 && seat->since_ns == second_ns);
  tell("b", 1, 1, 3, 5, 0.6, 2);
  cr_expect(strcmp(seat->node, "b") == 0 && seat->since_ns == 2 * second_ns && seat->load == 0.6);
  tell("a", 1, 2, 3, 4, 0.5, 2.5);
  cr_expect_str_eq(seat->node, "b", "the other does not know yet that it has lost it");
  tell("b", 1, 2, 3, 6, 0.7, 3);
  cr_expect_eq(seat->since_ns, 2 * second_ns, "its process has ended there and begun again");
  tell("a", 1, 3, 3, 1, 0.8, 8);
  cr_expect_str_eq(seat->node, "b", "it was heard five seconds ago");
  tell("a", 1, 4, 3, 1, 0.8, 8.1);
  cr_expect_str_eq(seat->node, "a", "brokers that have lost everything give epochs anew");
}

Test(zones_nodes, the_setting_says_who_may_run_a_zone) {
  cr_expect_eq(nodes_rank("", "a"), 0);
  cr_expect_eq(nodes_rank("  ", "a"), 0);
  cr_expect_eq(nodes_rank(" north  a south", "a"), 1);
  cr_expect_eq(nodes_rank("north ab", "a"), -1);
  cr_expect_eq(nodes_rank("north a", "nort"), -1);
  tell("a", 1, 1, 0, 0, 0, 1);
  tell("b", 1, 1, 0, 0, 0, 1);
  cr_expect(nodes_have_room(&table, "a b", "a"));
  cr_expect(nodes_have_room(&table, "", "b"));
  cr_expect(!nodes_have_room(&table, "a c", "a"));
  node_told drains = told_by("b", 1, 2, 0, 0, 0);
  drains.drains = true;
  cr_assert(hear(&drains, 2));
  cr_expect(!nodes_have_room(&table, "a b", "a"));
}

/* ------------------------------------------------------------------------------------------------------ wall clocks */

static void tell_wall(const char *name, int64_t wall_ns) {
  node_told told = told_by(name, 1, ++counts, 0, 0, 0);
  told.has_wall = true;
  told.wall_ns = wall_ns;
  cr_assert(hear(&told, (double)counts * 0.1));
}

static void expect_wall(const char *name, const char *words) {
  char found[NODES_WALL_WORDS_BYTES] = "";
  bool is_off = nodes_wall_words(&table, nodes_find(&table, name), found);
  cr_expect_eq(is_off, words != NULL, "%s: %s", name, found);
  if (words) cr_expect_str_eq(found, words);
}

Test(zones_nodes, a_wall_clock_that_is_off_is_named) {
  static const int64_t now_ns = 1795680000000000000, hour_ns = 3600000000000;
  tell("d", 1, ++counts, 0, 0, 0, 0.1);
  tell_wall("c", now_ns);
  expect_wall("c", NULL);
  expect_wall("d", NULL); /* it does not know land time yet */
  tell_wall("b", now_ns + hour_ns);
  expect_wall("b", NULL); /* of two nobody knows which is right: the first by name is what is compared with */
  expect_wall("c", "the wall clock of node c is 3600.0 s behind that of node b");
  tell_wall("a", now_ns + 900000000);
  EACH_PAIR(expect_wall, {"a", NULL}, {"b", "the wall clock of node b is 3599.1 s ahead of that of node a"},
            {"c", NULL});
  tell_wall("b", now_ns - 40 * hour_ns);
  expect_wall("b", "the wall clock of node b is 144000.9 s behind that of node a");
  tell_wall("b", now_ns);
  expect_wall("b", NULL);
  tell_wall("b", INT64_MIN); /* whatever is told */
  tell_wall("c", INT64_MAX);
  char words[NODES_WALL_WORDS_BYTES];
  for (uint32_t i = 0; i < table.count; i++) nodes_wall_words(&table, &table.rows[i], words);
}

/* ---------------------------------------------------------------------------------------------------------- to plan */

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  cr_assert(false, "%s: %s", where, message);
}

static struct settings settings;

static void read_land(void) {
  static const char text[] =
      "[server]\ncluster = land\nnode = a\nnats = nats://h:1\netcd = http://h:2\nsnapshot_file = /tmp/x\n"
      "[world first]\nmodule = m\nzone = 5\nrectangle = 0 0 100 100\nnodes = b a\n"
      "[world plain]\nmodule = m\n"
      "[world second]\nmodule = m\nzone = 2\nrectangle = 100 0 200 100\nnodes = a\n";
  settings_default(&settings);
  settings_read_text(&settings, "test", text, strlen(text), complain, NULL);
  settings_check(&settings, false, complain, NULL);
  cr_assert(settings.balance, "unless it says no");
}

/* Both nodes tell each half second, of the zones that `a` and `b` say, until a time. */
static void tell_until(double from_s, double until_s, const char *on_a, const char *on_b) {
  for (double at_s = from_s; at_s < until_s; at_s += 0.5) {
    const char *const all[] = {on_a, on_b};
    counts++;
    for (uint32_t node = 0; node < 2; node++) {
      if (!all[node]) continue;
      node_told told = told_by(node ? "b" : "a", 1, counts, 0, 0, 0);
      for (const char *at = all[node]; *at; at++)
        told.zones[told.zone_count++] = (node_zone){(uint32_t)(*at - '0'), 1, (*at - '0') / 10.0};
      cr_assert(hear(&told, at_s));
    }
    nodes_forget(&table, (uint64_t)(at_s * 1e9));
  }
}

static balance_land land;
static char why[NODES_WHY_BYTES];

static bool plan_at(double at_s) {
  return nodes_plan(&table, &settings, (uint64_t)(at_s * 1e9), &land, why);
}

Test(zones_nodes, the_planner_is_told_when_the_tables_are_whole) {
  read_land();
  tell_until(0, 10, "2", "59");
  cr_expect(!plan_at(10), "it has listened for less");
  expect_in(why, "listened");
  tell_until(10, 11, "2", "59");
  cr_assert(plan_at(11), "%s", why);
  cr_assert_eq(land.node_count, 2);
  cr_assert_eq(land.zone_count, 3, "one that the settings do not know weighs, too");
  cr_expect(land.nodes[0].heard && land.nodes[1].heard && land.nodes[0].capacity == 4);
  cr_expect(land.zones[0].node == 1 && land.zones[0].nodes_allowed == 3 && land.zones[0].load == 0.5);
  cr_expect(land.zones[1].node == 0 && land.zones[1].nodes_allowed == 1 && land.zones[1].load == 0.2);
  cr_expect(land.zones[2].node == 1 && land.zones[2].nodes_allowed == 0 && land.zones[2].load == 0.9);
}

Test(zones_nodes, a_zone_on_its_way_is_waited_for_and_not_for_ever) {
  read_land();
  tell_until(0, 20, "2", "5");
  tell_until(20, 26, "2", "");
  cr_expect(!plan_at(26));
  expect_in(why, "world first");
  tell_until(26, 81, "2", "");
  cr_assert(plan_at(81), "%s", why);
  cr_expect(land.zones[0].node == BALANCE_NOWHERE && land.zones[1].node == 0);
  tell_until(81, 90, "2", NULL);
  cr_assert(plan_at(90), "%s", why);
  cr_expect_eq(land.node_count, 1);
  tell_until(90, 95, "2", "5");
  cr_assert(plan_at(95), "%s", why);
  cr_expect(land.zones[0].node == 1 && !land.nodes[1].heard, "it is back, and gets nothing for some seconds");
  tell_until(95, 101, "2", "5");
  cr_assert(plan_at(101), "%s", why);
  cr_expect(land.nodes[1].heard);
}
