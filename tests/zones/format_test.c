/* One cluster, several builds: those that know its format run side by side, another one runs no zone; and what no build
 * of a node can read waits. MUSTERD_NEXT is this musterd as one that knows the next format, too. */
#include "land.h"

#include "service/zones/format.h"
#include "service/zones/holder_parts.h"
#include "service/zones/parcel.h"
#include "snapshot/crossing.h"

#include <jansson.h>

TestSuite(format, .timeout = 900);

enum { GLANCES = 300 };

static daemon_reply reply;

/* With a change of any of these FORMAT_MOST is to be raised, and the older format stays: see format.h. What stands in
 * memory as it is told has its size beside it. */
Test(format, is_what_it_was) {
  struct parcel parcel = {0};
  parcel_head head;
  parcel_begin(&parcel, 1, 1, 1, 1);
  cr_assert_eq(parcel_read_head(parcel.bytes, parcel.count, &head), MUSTER_OK);
  cr_expect_eq(head.version, 2);
  parcel_free(&parcel);
  cr_expect_eq(sizeof(stored_note), 840);
  cr_expect_eq(SNAPSHOT_VERSION, 13);
  cr_expect_eq(crossing_format().version, 3);
  cr_expect_eq(crossing_format().layout, 1726610036u, "%u", crossing_format().layout);
  cr_expect(format_least() == 2 && format_most() == 2);
}

Test(format, is_a_number_that_the_build_knows) {
  cr_expect_eq(format_check("2"), MUSTER_OK);
  cr_expect_eq(format_check(NULL), MUSTER_OK, "a cluster that has not begun");
  static const char *const others[] = {"0", "1", "3", "20", "", "two", "2 ", "-2"};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    cr_expect_eq(format_check(others[i]), MUSTER_E_INPUT, "%s", others[i]);
    cr_expect(strstr(muster_last_error(), "format"), "%s", muster_last_error());
  }
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* A node that ran another build until now. */
static void change_build(land *all, uint32_t node, const char *program) {
  land_note_owned(all, node);
  daemon_signal(&all->nodes[node], SIGTERM);
  land_await_takeover(all, program ? "a node ends for the next build" : "a node ends for the older build");
  daemon_wait(&all->nodes[node]);
  all->nodes[node].program = program;
  land_revive(all, node);
}

/* What a node says of a zone that it does not run. */
static void read_words(const land *all, uint32_t node, uint32_t zone, char words[256]) {
  size_t i;
  json_t *entry;
  *words = '\0';
  daemon_ask(&all->nodes[node], "GET", "/v1/zones", NULL, &reply);
  json_auto_t *document = json_loads(reply.body, 0, NULL);
  json_array_foreach(json_object_get(document, "zones"), i, entry) {
    const char *own = json_string_value(json_object_get(entry, "words"));
    if (json_integer_value(json_object_get(entry, "zone")) == zone + 1) snprintf(words, 256, "%s", own ? own : "");
  }
}

static void await_words(land *all, uint32_t node, uint32_t zone, const char *wanted) {
  char words[256];
  for (int glance = 0; glance < GLANCES; glance++) {
    land_watch(all);
    read_words(all, node, zone, words);
    if (strstr(words, wanted)) return;
  }
  cr_assert_fail("node %u says of zone %u \"%s\", and not \"%s\"", node, zone + 1, words, wanted);
}

/* Old and new nodes side by side, in both directions, until all are new and the format is raised. */
Test(format, is_raised_when_all_nodes_are_of_the_next_build) {
  const char *next = getenv("MUSTERD_NEXT");
  cr_assert_not_null(next);
  land *all = land_start(&(land_options){
      .brokers = {.nats = 3, .etcd = 3}, .journal_stream = true, .agents = 60, .speed = 20, .life = 20});
  land_await_crossings(all, 100);
  change_build(all, 0, next);
  land_await_crossings(all, 200);
  change_build(all, 1, next); /* what ran there goes on, on an old node or on a new one */
  land_await_crossings(all, 300);
  change_build(all, 0, NULL); /* and back */
  land_await_crossings(all, 400);
  change_build(all, 0, next);
  change_build(all, 2, next);
  /* muster/land/format = 3 */
  brokers_tell_etcd(all->brokers, "/v3/kv/put", "{\"key\": \"bXVzdGVyL2xhbmQvZm9ybWF0\", \"value\": \"Mw==\"}");
  land_await_crossings(all, 500);
  change_build(all, 0, NULL);
  for (uint32_t zone = 0; zone < all->zones; zone++) await_words(all, 0, zone, "the cluster has format 3");
  for (uint32_t zone = 0; zone < all->zones; zone++) cr_expect_neq(land_owner(all, zone), 0);
  land_await_crossings(all, 600);
  land_kill(all, 0);
  all->nodes[0].program = next;
  land_revive(all, 0);
  land_await_crossings(all, 700);
  land_end_with_all(all);
}

/* -------------------------------------------------------------------------------------------------------- crossings */

/* How many parcels from zone 2 to zone 3 stand in etcd. */
static uint64_t count_parcels(const land *all) {
  /* from muster/land/cross/00003/00002/ to the same with 00003 */
  static const char range[] = "{\"key\": \"bXVzdGVyL2xhbmQvY3Jvc3MvMDAwMDMvMDAwMDIv\", \"range_end\": "
                              "\"bXVzdGVyL2xhbmQvY3Jvc3MvMDAwMDMvMDAwMDMv\", \"count_only\": true}";
  brokers_answer answer = brokers_ask(all->brokers, BROKERS_ETCD, 0, "/v3/kv/range", NULL, range);
  json_auto_t *document = json_loads(answer.body, 0, NULL);
  const char *count = json_string_value(json_object_get(document, "count"));
  uint64_t parcels = count ? strtoull(count, NULL, 10) : 0;
  free(answer.body);
  return parcels;
}

Test(format, of_a_module_that_is_another_waits_instead_of_being_lost) {
  land *all = land_start(&(land_options){.agents = 60, .speed = 20, .strollers = 12, .odd = 24});
  daemon_await_log(&all->nodes[2], "what comes from zone 2 waits");
  daemon_await_log(&all->nodes[0], "node c has other settings than this one, a:");
  daemon_await_log(&all->nodes[2], "node a has other settings than this one, c:");
  while (land_figure(all, 1, "departed") < 40 || count_parcels(all) < 10) land_watch(all);
  cr_expect_eq(land_figure(all, 2, "arrived"), 0);
  cr_expect_eq(land_figure(all, 2, "refused"), 0, "they are lost");
  while (land_figure(all, 1, "arrived") == 0) land_watch(all); /* those from the other side come */
  cr_expect(!land_has_logged(all, 0, "node b has other settings"), "they are the same");
  land_end(all);
}
