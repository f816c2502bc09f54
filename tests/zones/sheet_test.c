/* What nodes tell of their zones for the map of the cluster: what is taken, and what is passed over. */
#include "support/with.h"

#include "service/zones/sheet.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ZONES = 2 };

#define SECOND_NS 1000000000u

static sheet_entry entries[ZONES];
static sheet_message message;
static zone_sheet sheet;

static void begin(void) {
  memset(entries, 0, sizeof entries);
  entries[0].zone = 3;
  entries[1].zone = 7;
  sheet = (zone_sheet){.agents = 5, .counts = {[0] = 2, [SHEET_CELLS - 1] = 3}};
}

TestSuite(sheet, .init = begin);

/* Node `node` tells of zone 7, `drawn` or not. */
static bool hear(uint32_t epoch, sheet_state state, const char *node, bool drawn, uint64_t now_s) {
  size_t length = sheet_write(&message, 7, epoch, state, node, drawn ? &sheet : NULL);
  return sheet_hear(entries, ZONES, &message, length, now_s * SECOND_NS);
}

Test(sheet, what_is_told_of_a_zone_is_its_entry_and_no_other) {
  cr_assert(hear(4, SHEET_RUNS, "north", true, 100));
  cr_expect_eq(entries[1].epoch, 4);
  cr_expect_eq(entries[1].state, SHEET_RUNS);
  cr_expect_eq(entries[1].heard_ns, 100ull * SECOND_NS);
  cr_expect_str_eq(entries[1].node, "north");
  cr_expect_eq(memcmp(&entries[1].sheet, &sheet, sizeof sheet), 0);
  cr_expect_eq(entries[0].heard_ns, 0);
}

Test(sheet, who_starts_a_zone_draws_nothing_and_the_last_sheet_stays) {
  hear(4, SHEET_RUNS, "north", true, 100);
  cr_assert(hear(5, SHEET_STARTS, "south", false, 116));
  cr_expect_eq(entries[1].state, SHEET_STARTS);
  cr_expect_str_eq(entries[1].node, "south");
  cr_expect_eq(entries[1].sheet.agents, 5);
}

Test(sheet, an_owner_that_has_lost_its_zone_does_not_count_while_the_next_one_is_heard) {
  hear(5, SHEET_RUNS, "south", true, 100);
  sheet.agents = 9;
  cr_expect_not(hear(4, SHEET_RUNS, "north", true, 101));
  cr_expect_not(hear(4, SHEET_RUNS, "north", true, 104));
  cr_expect_str_eq(entries[1].node, "south");
  cr_expect_eq(entries[1].sheet.agents, 5);
  cr_expect(hear(5, SHEET_RUNS, "south", true, 104), "one of the same epoch does");
  cr_expect_not(hear(4, SHEET_RUNS, "north", true, 108));
  cr_expect(hear(1, SHEET_RUNS, "north", true, 109), "the brokers have begun anew: nobody is heard of the old epochs");
  cr_expect_str_eq(entries[1].node, "north");
}

Test(sheet, what_is_none_is_passed_over) {
  size_t length = sheet_write(&message, 7, 4, SHEET_RUNS, "north", &sheet);
  sheet_message bad[] = {message, message, message, message, message, message};
  bad[0].version++;
  bad[1].zone = 8;
  bad[2].state = SHEET_STATES;
  *bad[3].node = '\0';
  bad[4].node[1] = '"';
  memset(bad[5].node, 'n', sizeof bad[5].node); /* without an end */
  cr_expect_not(sheet_hear(entries, ZONES, &message, length - 1, SECOND_NS), "it is cut");
  cr_expect_not(sheet_hear(entries, ZONES, &message, length - sizeof message, SECOND_NS), "it is empty");
  for (size_t i = 0; i < COUNT_OF(bad); i++)
    cr_expect_not(sheet_hear(entries, ZONES, &bad[i], length, SECOND_NS), "change %zu", i);
  for (int i = 0; i < ZONES; i++) cr_expect_eq(entries[i].heard_ns, 0);
  cr_expect(sheet_hear(entries, ZONES, &message, length, SECOND_NS));
}
