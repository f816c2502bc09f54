/* Serial actions run one at a time, in agent order, whatever else runs beside each other in the same world. So they may
 * do what only code that runs alone may: here they move money between any two accounts, without atomics. Runs under
 * ThreadSanitizer, too. */
#include "world/fixture.h"

#include <sched.h>
#include <stdatomic.h>

enum { CLERKS = 120, OTHERS = 40, FRAMES = 40, MONEY_EACH = 1000 };

static struct {
  int64_t accounts[CLERKS]; /* touched by serial actions alone */
  uint32_t last, acted;     /* of this frame */
  uint32_t out_of_order;
  atomic_uint others_inside, serial_inside, disturbed;
} bank;

/* Yields in between, so that another thread has time to come in. */
static muster_atom_result transfer(muster_update *update) {
  uint32_t from = (uint32_t)(muster_update_random(update) % CLERKS),
           to = (uint32_t)(from + 1 + muster_agent_index(update->agent)) % CLERKS;
  atomic_fetch_add(&bank.disturbed, atomic_fetch_add(&bank.serial_inside, 1) > 0);
  atomic_fetch_add(&bank.disturbed, atomic_load(&bank.others_inside) > 0);
  int64_t amount = (int64_t)(muster_update_random(update) % 50), has = bank.accounts[from], gets = bank.accounts[to];
  sched_yield();
  if (from != to && has >= amount) {
    bank.accounts[from] = has - amount;
    bank.accounts[to] = gets + amount;
  }
  bank.out_of_order += bank.acted > 0 && muster_agent_index(update->agent) <= bank.last;
  bank.last = muster_agent_index(update->agent);
  bank.acted++;
  atomic_fetch_sub(&bank.serial_inside, 1);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result bustle(muster_update *update) {
  (void)update;
  atomic_fetch_add(&bank.others_inside, 1);
  atomic_fetch_add(&bank.disturbed, atomic_load(&bank.serial_inside) > 0);
  sched_yield();
  atomic_fetch_sub(&bank.others_inside, 1);
  return MUSTER_ATOM_NEXT;
}

static void spawn_type(little_world *little, muster_act act, atom_function *run, uint32_t count) {
  add_type(little, actors_running(run, 2000, act));
  for (uint32_t i = 0; i < count; i++) spawn_at(little, i * 11.0);
}

Test(act_serial_threads, money_moved_between_anybody_by_anybody_stays_as_much_as_it_was) {
  SCOPED_WORLD little = little_world_create(4, NULL);
  for (uint32_t i = 0; i < CLERKS; i++) bank.accounts[i] = MONEY_EACH;
  spawn_type(&little, MUSTER_ACT_PARALLEL, bustle, OTHERS);
  spawn_type(&little, MUSTER_ACT_SERIAL, transfer, CLERKS);
  spawn_type(&little, MUSTER_ACT_REGION, bustle, OTHERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_frame_report report = run_frame(&little);
    cr_assert_eq(report.actions_waiting, 0);
    int64_t sum = 0;
    for (uint32_t i = 0; i < CLERKS; i++) sum += bank.accounts[i];
    cr_assert_eq(sum, (int64_t)CLERKS * MONEY_EACH, "money was made or lost: %ld", (long)sum);
    cr_assert_eq(bank.out_of_order, 0, "every agent acted once, in agent order");
    cr_assert_eq(bank.acted, report.completed ? CLERKS : 0);
    cr_assert_eq(atomic_load(&bank.disturbed), 0, "somebody acted beside a serial action");
    bank.acted = 0;
  }
}
