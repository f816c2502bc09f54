/* Herds of a real musterd, as the live page sees them. */
#include "served.h"

static void start(void) {
  daemon_start(&service, "--world main=herd --agents 4000 --observers 3");
  await_count(WORLD, "frames", 60); /* herds near observers are unfolded by then */
  pause_world();
}

TestSuite(herds, .init = start, .fini = stop, .timeout = 120);

/* Counts herds of a query, page by page, and checks each. */
static long long count_herds(const char *query, long long *unfolded) {
  long long count = 0;
  char cursor[32] = "0";
  for (bool more = true; more;) {
    json_t *next;
    json_auto_t *page = get(formed("%s/herds?limit=40&cursor=%s%s", WORLD, cursor, query));
    CONTROL_EACH(herd, page, "herds") {
      long long leaves = control_count(herd, "leaves");
      cr_expect(control_count(herd, "members") > 0 && control_count(herd, "members") >= leaves);
      cr_expect_eq((long long)control_size(herd, "membrane"), leaves < 64 ? leaves : 64);
      *unfolded += leaves > 0;
      count++;
    }
    next = json_object_get(page, "next");
    more = json_is_string(next);
    if (more) snprintf(cursor, sizeof cursor, "%s", json_string_value(next));
  }
  return count;
}

Test(herds, are_all_listed_with_the_leaves_of_those_that_are_unfolded) {
  long long unfolded = 0, part = 0;
  uint32_t agents;
  long long count = count_herds("", &unfolded);
  cr_expect(count > 0 && unfolded > 0, "%lld, unfolded %lld", count, unfolded);
  long long east = count_herds("&x0=0&y0=-1e9&x1=1e9&y1=1e9", &part);
  long long west = count_herds("&x0=-1e9&y0=-1e9&x1=0&y1=1e9", &part);
  cr_expect_eq(east + west, count);
  cr_expect_eq(part, unfolded);
  cr_expect_eq(count_herds("&partition=7", &part), 0);
  fetch("GET", WORLD "/map?max=65536", NULL);
  memcpy(&agents, reply.body + 16, sizeof agents);
  cr_expect(agents > 0 && agents < count_at(WORLD, "agents"), "blocks of herds are on the map: %u", agents);
}
