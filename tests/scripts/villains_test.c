/* Villains among scripts: each is named with its file and line, and the updates of the others hardly fall. By hand,
 * with more agents and on the wall clock: tests/scripts/villains. */
#include "scripts/script_host.h"

#include <muster/report.h>

enum { VILLAIN_FRAMES = 600, VILLAINS_TEXT_BYTES = 8192 };

/* What runs, with these names before it. */
static void villains_text(const char *before, char text[VILLAINS_TEXT_BYTES]) {
  FILE *file = fopen(MUSTER_SOURCE_DIR "/tests/scripts/villains.lua", "r");
  cr_assert_not_null(file);
  size_t count = (size_t)snprintf(text, VILLAINS_TEXT_BYTES, "%s", before);
  count += fread(text + count, 1, VILLAINS_TEXT_BYTES - 1 - count, file);
  text[count] = 0;
  fclose(file);
}

/* A line about that type says that it happened where the text has `code`. */
static void villain_is_named(script_host *host, const char *text, const char *type, const char *code) {
  uint32_t line = 1;
  const char *at = strstr(text, code);
  cr_assert_not_null(at);
  for (const char *before = text; before < at; before++) line += *before == '\n';
  const char *named = formed("of type '%s'", type), *place = formed("main.lua:%u:", line);
  for (const char *said = strstr(script_said(host), named); said; said = strstr(said + 1, named)) {
    const char *end = strstr(said, "muster lua: "), *found = strstr(said, place);
    if (found && (!end || found < end)) return;
  }
  cr_assert_fail("'%s' is not named with %s\n%s", type, place, script_said(host));
}

/* Completed updates; those of the villains, of which few complete, are so few that they do not count. */
static uint64_t villains_run(const char *before) {
  static char text[VILLAINS_TEXT_BYTES];
  muster_statistics statistics = muster_statistics_default();
  villains_text(before, text);
  SCOPED_HOST *host = script_on(2, text);
  script_run(host, VILLAIN_FRAMES);
  cr_assert_eq(muster_statistics_read(host->world, &statistics), MUSTER_OK);
  if (strstr(before, "villains")) {
    villain_is_named(host, text, "endless loop", "  while true do end");
    villain_is_named(host, text, "loop in pcall", "  while true do pcall");
    villain_is_named(host, text, "gigabyte", "text = text .. text");
    villain_is_named(host, text, "pattern", "self.found =");
    cr_assert_eq(script_says(host, "goes into quarantine"), 2, "%s", script_said(host));
  }
  return statistics.completed;
}

Test(villains, one_of_each_in_10000_takes_less_than_2_percent_of_the_others_updates) {
  uint64_t without = villains_run("size = 10000 cost = '20us' ");
  uint64_t with = villains_run("size = 10000 cost = '20us' villains = 10000 ");
  printf("updates of 10,000 agents: %llu without villains, %llu with them: %.4f\n", (unsigned long long)without,
         (unsigned long long)with, (double)with / (double)without);
  cr_assert_geq((double)with, 0.98 * (double)without);
  cr_assert_lt((double)with, (double)without, "the villains took nothing: is there no load?");
}
