/* What zones promise, with real brokers and three nodes: nomads walk across three zones while nodes and brokers die,
 * stop and are cut off; a ledger judges. MUSTER_CROSSINGS says how many crossings, else a few. */
#include "land.h"

#include <criterion/criterion.h>

TestSuite(zones, .timeout = 1200);

Test(zones, nomads_cross_and_nothing_is_lost) {
  land *all = land_start(&(land_options){.brokers = {.nats = 1, .etcd = 1}, .agents = 60, .speed = 20, .life = 40});
  land_await_crossings(all, 300);
  land_rest(all);
  ledger_verdict verdict = land_judge(all, stderr);
  cr_expect(ledger_is_strong(&verdict));
  land_end(all);
}
