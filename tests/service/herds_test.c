/* Herds of a real musterd, as the live page sees them. */
#include "control.h"

#include <criterion/criterion.h>
#include <stdint.h>

#define WORLD "/v1/worlds/main"

static musterd service;

static void start(void) {
  daemon_start(&service, "--world main=herd --agents 4000 --observers 3");
  control_await_count(&service, WORLD, "frames", 60); /* herds near observers are unfolded by then */
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(herds, .init = start, .fini = stop, .timeout = 120);

/* Counts herds of a query, page by page, and checks each. */
static long long count_herds(const char *query, long long *unfolded) {
  long long count = 0;
  char path[256], cursor[32] = "0";
  for (bool more = true; more;) {
    json_t *herd, *next;
    size_t i;
    snprintf(path, sizeof path, "%s/herds?limit=40&cursor=%s%s", WORLD, cursor, query);
    json_t *page = control_ask(&service, "GET", path, NULL, 200);
    json_array_foreach(control_member(page, "herds"), i, herd) {
      long long leaves = control_count(herd, "leaves");
      cr_expect(control_count(herd, "members") > 0 && control_count(herd, "members") >= leaves);
      cr_expect_eq((long long)json_array_size(control_member(herd, "membrane")), leaves < 64 ? leaves : 64);
      *unfolded += leaves > 0;
      count++;
    }
    next = json_object_get(page, "next");
    more = json_is_string(next);
    if (more) snprintf(cursor, sizeof cursor, "%s", json_string_value(next));
    json_decref(page);
  }
  return count;
}

Test(herds, are_all_listed_with_the_leaves_of_those_that_are_unfolded) {
  static daemon_reply reply;
  long long unfolded = 0, part = 0;
  uint32_t agents;
  long long count = count_herds("", &unfolded);
  cr_expect(count > 0 && unfolded > 0, "%lld, unfolded %lld", count, unfolded);
  long long east = count_herds("&x0=0&y0=-1e9&x1=1e9&y1=1e9", &part);
  long long west = count_herds("&x0=-1e9&y0=-1e9&x1=0&y1=1e9", &part);
  cr_expect_eq(east + west, count);
  cr_expect_eq(part, unfolded);
  cr_expect_eq(count_herds("&partition=7", &part), 0);
  daemon_ask(&service, "GET", WORLD "/map?max=65536", NULL, &reply);
  memcpy(&agents, reply.body + 16, sizeof agents);
  json_t *world = control_ask(&service, "GET", WORLD, NULL, 200);
  cr_expect(agents > 0 && agents < control_count(world, "agents"), "blocks of herds are on the map: %u", agents);
  json_decref(world);
}
