/* The ledger notices each kind of trouble; and musterd with nomads, in one world that is no zone, gives it none. */
#include "ledger.h"

#include "service/control.h"

TestSuite(ledger, .timeout = 120);

enum { ZONE = 1 };

static const nomad fine = {.born_ns = 5, .at_ns = 12, .lived_ns = 7};

/* One that was born, in the books and as it was seen. */
static void bear(ledger *all, uint64_t agent, uint64_t index) {
  ledger_line line = {.zone = ZONE, .epoch = 1, .index = index, .agent = agent, .at_ns = 5};
  ledger_sees(all, &line);
  ledger_reads(all, &line);
}

/* Two that were born; the first has died, and the second stands. */
static ledger *begin(void) {
  ledger *all = ledger_open();
  ledger_line death = {.zone = ZONE, .epoch = 1, .index = 2, .agent = 71, .at_ns = 6, .died = true};
  bear(all, 71, 0);
  bear(all, 72, 1);
  ledger_sees(all, &death);
  ledger_reads(all, &death);
  ledger_finds(all, 72, ZONE, 3, &fine);
  return all;
}

static ledger_verdict end(ledger *all) {
  ledger_verdict verdict = ledger_judge(all, NULL);
  ledger_close(all);
  return verdict;
}

/* Exactly that member of a verdict is to be blamed. */
#define EXPECT_ONLY(all, member, count, weak)                                                                          \
  do {                                                                                                                 \
    ledger_verdict verdict = end(all);                                                                                 \
    cr_expect_eq(verdict.member, (count), #member);                                                                    \
    cr_expect(!ledger_is_strong(&verdict), #member);                                                                   \
    cr_expect_eq(ledger_is_weak(&verdict), (weak), #member);                                                           \
    verdict.member = 0;                                                                                                \
    cr_expect(ledger_is_strong(&verdict), #member " and something else");                                              \
  } while (0)

Test(ledger, finds_nothing_where_nothing_is_wrong) {
  ledger_verdict verdict = end(begin());
  cr_expect(ledger_is_strong(&verdict) && ledger_is_weak(&verdict));
  cr_expect_eq(verdict.born, 2);
  cr_expect_eq(verdict.died, 1);
  cr_expect_eq(verdict.stand, 1);
  cr_expect_eq(verdict.crossings, 3);
}

Test(ledger, notices_who_stands_where_it_must_not) {
  ledger *all = begin();
  ledger_finds(all, 72, ZONE + 1, 4, &fine);
  EXPECT_ONLY(all, twice, 1, false);
  all = begin();
  ledger_finds(all, 71, ZONE, 0, &fine);
  EXPECT_ONLY(all, risen, 1, false);
  all = begin();
  ledger_finds(all, 73, ZONE, 0, &fine);
  EXPECT_ONLY(all, unbooked, 1, true);
  all = begin();
  bear(all, 74, 3);
  EXPECT_ONLY(all, missing, 1, false);
}

Test(ledger, notices_what_was_taken_back) {
  ledger *all = begin();
  ledger_sees(all, &(ledger_line){.zone = ZONE, .epoch = 1, .index = 3, .agent = 75});
  EXPECT_ONLY(all, births_lost, 1, true);
  all = begin();
  ledger_sees(all, &(ledger_line){.zone = ZONE, .epoch = 1, .index = 3, .agent = 72, .died = true});
  EXPECT_ONLY(all, deaths_undone, 1, true);
  all = begin();
  ledger_sees(all, &(ledger_line){.zone = ZONE, .epoch = 1, .index = 1, .agent = 72, .at_ns = 4});
  EXPECT_ONLY(all, two_owners, 1, false);
  all = begin();
  ledger_sees(all, &(ledger_line){.zone = ZONE, .epoch = 1, .index = 1, .agent = 72, .at_ns = 5});
  cr_expect(ledger_is_strong(&(ledger_verdict[]){end(all)}[0]), "the same line, seen again");
}

Test(ledger, notices_wrong_times_and_numbers) {
  ledger *all = begin();
  bear(all, 76, 3);
  ledger_finds(all, 76, ZONE, 0, &(nomad){.born_ns = 5, .at_ns = 12, .lived_ns = 8});
  EXPECT_ONLY(all, wrong_time, 1, false);
  all = begin();
  bear(all, 77, 3);
  ledger_finds(all, 77, ZONE, 0, &(nomad){.repeated = 2});
  EXPECT_ONLY(all, repeated, 2, true);
  all = begin();
  bear(all, 78, 3);
  ledger_finds(all, 78, ZONE, 0, &(nomad){.skipped = 1});
  EXPECT_ONLY(all, skipped, 1, true);
  all = begin();
  bear(all, 79, 3);
  ledger_finds(all, 79, ZONE, 0, &(nomad){.late = 1});
  EXPECT_ONLY(all, late, 1, true);
}

/* ------------------------------------------------------------------------------------------------ nomads in musterd */

static daemon_reply reply;

static void tell_nomads(const musterd *service, const char *command, const char *body) {
  daemon_ask_bytes(service, "POST", formed("/v1/worlds/main/module/%s", command), "text/plain", body, strlen(body),
                   &reply);
  cr_assert_eq(reply.status, 200, "%s %s: %d: %s", command, body, reply.status, reply.body);
}

static void take_books(const musterd *service, ledger *all, bool at_end) {
  bool is_last = false;
  for (uint64_t next = 0; !is_last;) {
    const char *body = formed("%llu", (unsigned long long)next);
    tell_nomads(service, "books", body);
    is_last = ledger_takes_books(all, ZONE, reply.body, at_end, &next);
  }
}

Test(ledger, balances_for_nomads_that_are_born_and_die_in_one_world) {
  musterd service;
  ledger *all = ledger_open();
  bool is_last = false;
  daemon_start(&service, "--modules " MUSTER_TEST_MODULES
                         " --world main=nomads --agents 200 --hz 60 --budget 10ms --set speed=50 --set life=3");
  control_await_count(&service, "/v1/worlds/main", "frames", 500);
  take_books(&service, all, false);
  tell_nomads(&service, "rest", "yes");
  json_auto_t *rests = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
  long long frames = control_count(rests, "frames") + 120; /* what they did before they rested is done by then */
  control_await_count(&service, "/v1/worlds/main", "frames", frames);
  take_books(&service, all, true);
  for (uint64_t after = 0; !is_last;) {
    const char *body = formed("%llu", (unsigned long long)after);
    tell_nomads(&service, "stands", body);
    is_last = ledger_takes_standing(all, ZONE, reply.body, &after);
  }
  ledger_verdict verdict = ledger_judge(all, stderr);
  ledger_print(&verdict, stderr);
  cr_expect(ledger_is_strong(&verdict));
  cr_expect_gt(verdict.died, 200);
  cr_expect_eq(verdict.stand, verdict.born - verdict.died);
  cr_expect_gt(verdict.heard, 0);
  cr_expect_eq(verdict.twice_ns + verdict.missed_ns, 0);
  ledger_close(all);
  daemon_stop(&service);
}
