/* How processors are dealt to worlds. */
#include "room.h"
#include "service/supervise/deal.h"

#include "base/random.h"

static deal dealt;
static cpu_set_t machine;

static struct settings *worlds_that_want(const uint32_t *wanted, uint32_t count) {
  static struct settings settings;
  settings_default(&settings);
  for (uint32_t i = 0; i < count; i++) settings_add_world(&settings, formed("w%u", i))->processors = wanted[i];
  return &settings;
}

static void deal_all(const struct settings *settings, uint32_t processors, uint32_t quota) {
  CPU_ZERO(&machine);
  for (uint32_t i = 0; i < processors; i++) CPU_SET(2 * i, &machine); /* every other one is somebody else's */
  deal_processors(settings, &machine, quota, &dealt);
}

static void expect_workers(uint32_t processors, uint32_t count, const uint32_t *wanted, const uint32_t *expected) {
  deal_all(worlds_that_want(wanted, count), processors, UINT32_MAX);
  for (uint32_t i = 0; i < count; i++)
    cr_expect_eq(dealt.workers[i], expected[i], "world %u of %u has %u", i, count, dealt.workers[i]);
}

Test(deal, one_world_has_the_machine) {
  expect_workers(8, 1, (uint32_t[]){0}, (uint32_t[]){8});
}

Test(deal, who_names_its_workers_gets_them_and_the_others_divide_the_rest) {
  expect_workers(8, 3, (uint32_t[]){0, 3, 0}, (uint32_t[]){3, 3, 2});
  expect_workers(2, 3, (uint32_t[]){0, 0, 0}, (uint32_t[]){1, 1, 1});
  expect_workers(4, 2, (uint32_t[]){16, 0}, (uint32_t[]){16, 1});
  expect_workers(8, 3, (uint32_t[]){3, 0, 0}, (uint32_t[]){3, 3, 2}); /* what is left is for those without a name */
  expect_workers(9, 4, (uint32_t[]){1, 0, 0, 0}, (uint32_t[]){1, 3, 3, 2});
}

Test(deal, the_server_s_workers_are_those_of_each_world_without_its_own) {
  struct settings *settings = worlds_that_want((uint32_t[]){0, 1}, 2);
  settings->workers = 2;
  deal_all(settings, 8, UINT32_MAX);
  cr_assert_eq(dealt.workers[0], 2);
  cr_assert_eq(dealt.workers[1], 1);
}

Test(deal, a_quota_is_divided_and_not_the_machine) {
  deal_all(worlds_that_want((uint32_t[]){0, 0}, 2), 16, 4);
  cr_assert_eq(dealt.workers[0], 2);
  cr_assert_eq(dealt.workers[1], 2);
}

/* Whatever the machine and the worlds: only its own, as many as named, and none has two worlds more than another. */
Test(deal, no_processor_is_shared_while_another_idles) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    uint32_t wanted[WORLDS_MAX], users[CPU_SETSIZE] = {0}, least = UINT32_MAX, most = 0;
    uint32_t processors = 1 + (uint32_t)(muster_random_mix(seed) % 40);
    uint32_t count = 1 + (uint32_t)(muster_random_mix(seed + 1000) % WORLDS_MAX);
    for (uint32_t i = 0; i < count; i++) wanted[i] = (uint32_t)(muster_random_mix(seed * 100 + i) % (processors + 1));
    deal_all(worlds_that_want(wanted, count), processors, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
      cr_assert_eq((uint32_t)CPU_COUNT(&dealt.processors[i]), dealt.workers[i]);
      for (uint32_t k = 0; k < CPU_SETSIZE; k++) users[k] += CPU_ISSET(k, &dealt.processors[i]) != 0;
    }
    for (uint32_t k = 0; k < CPU_SETSIZE; k++) {
      if (!CPU_ISSET(k, &machine)) {
        cr_assert_eq(users[k], 0);
        continue;
      }
      least = users[k] < least ? users[k] : least;
      most = users[k] > most ? users[k] : most;
    }
    cr_assert_leq(most, least + 1, "seed %lu: %u and %u worlds", seed, most, least);
  }
}

/* Worlds of one worker each on two processors, of which that one has the most promised. */
static void expect_most_promised(uint32_t count, const uint64_t *budgets_ms, const uint64_t *rates, double most,
                                 uint32_t on) {
  uint32_t processor;
  struct settings *settings = worlds_that_want((const uint32_t[]){1, 1, 1}, count);
  for (uint32_t i = 0; i < count; i++) {
    settings->worlds[i].budget_ns = budgets_ms[i] * 1000000;
    settings->worlds[i].rate = rates[i];
  }
  deal_all(settings, 2, UINT32_MAX);
  cr_assert_float_eq(deal_most_promised(settings, &dealt, &processor), most, 1e-9);
  cr_assert_eq(processor, on);
}

/* The first and the third world. */
Test(deal, promises_are_summed_for_the_processor_that_has_most_of_them) {
  expect_most_promised(3, (const uint64_t[]){5, 10, 15}, (const uint64_t[]){40000, 40000, 40000}, 0.8, 0);
}

Test(deal, promises_are_of_each_world_s_own_budget_and_rate) {
  expect_most_promised(2, (const uint64_t[]){10, 10}, (const uint64_t[]){10000, 40000}, 0.4, 2);
}
