/* How processors are dealt to worlds. */
#include "service/supervise/deal.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <stdio.h>

static cpu_set_t machine_of(uint32_t processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t i = 0; i < processors; i++) CPU_SET(2 * i, &set); /* every other one is somebody else's */
  return set;
}

static struct settings *worlds_that_want(const uint32_t *wanted, uint32_t count) {
  static struct settings settings;
  settings_default(&settings);
  for (uint32_t i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "w%u", i);
    settings_add_world(&settings, name)->processors = wanted[i];
  }
  return &settings;
}

static void expect_workers(uint32_t processors, uint32_t count, const uint32_t *wanted, const uint32_t *expected) {
  deal dealt;
  cpu_set_t machine = machine_of(processors);
  deal_processors(worlds_that_want(wanted, count), &machine, UINT32_MAX, &dealt);
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
  expect_workers(8, 3, (uint32_t[]){3, 0, 0},
                 (uint32_t[]){3, 3, 2}); /* what is left over is for those without a name */
  expect_workers(9, 4, (uint32_t[]){1, 0, 0, 0}, (uint32_t[]){1, 3, 3, 2});
}

Test(deal, the_server_s_workers_are_those_of_each_world_without_its_own) {
  deal dealt;
  cpu_set_t machine = machine_of(8);
  struct settings *settings = worlds_that_want((uint32_t[]){0, 1}, 2);
  settings->workers = 2;
  deal_processors(settings, &machine, UINT32_MAX, &dealt);
  cr_assert_eq(dealt.workers[0], 2);
  cr_assert_eq(dealt.workers[1], 1);
}

Test(deal, a_quota_is_divided_and_not_the_machine) {
  deal dealt;
  cpu_set_t machine = machine_of(16);
  deal_processors(worlds_that_want((uint32_t[]){0, 0}, 2), &machine, 4, &dealt);
  cr_assert_eq(dealt.workers[0], 2);
  cr_assert_eq(dealt.workers[1], 2);
}

/* Of any machine and worlds: only the machine's, as many as named, and no processor has two worlds more than another.
 */
Test(deal, no_processor_is_shared_while_another_idles) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    uint32_t wanted[WORLDS_MAX], users[CPU_SETSIZE] = {0}, least = UINT32_MAX, most = 0;
    uint32_t processors = 1 + (uint32_t)(muster_random_mix(seed) % 40);
    uint32_t count = 1 + (uint32_t)(muster_random_mix(seed + 1000) % WORLDS_MAX);
    for (uint32_t i = 0; i < count; i++) wanted[i] = (uint32_t)(muster_random_mix(seed * 100 + i) % (processors + 1));
    deal dealt;
    cpu_set_t machine = machine_of(processors);
    deal_processors(worlds_that_want(wanted, count), &machine, UINT32_MAX, &dealt);
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

Test(deal, promises_are_summed_for_the_processor_that_has_most_of_them) {
  deal dealt;
  uint32_t processor;
  cpu_set_t machine = machine_of(2);
  struct settings *settings = worlds_that_want((uint32_t[]){1, 1, 1}, 3);
  for (uint32_t i = 0; i < 3; i++) {
    settings->worlds[i].budget_ns = (i + 1) * 5000000u;
    settings->worlds[i].rate = 40000;
  }
  deal_processors(settings, &machine, UINT32_MAX, &dealt);
  cr_assert_float_eq(deal_most_promised(settings, &dealt, &processor), 0.8, 1e-9, "the first and the third world");
  cr_assert_eq(processor, 0);
}

Test(deal, promises_are_of_each_world_s_own_budget_and_rate) {
  deal dealt;
  uint32_t processor;
  cpu_set_t machine = machine_of(2);
  struct settings *settings = worlds_that_want((uint32_t[]){1, 1}, 2);
  static const uint64_t rates[] = {10000, 40000};
  for (uint32_t i = 0; i < 2; i++) {
    settings->worlds[i].budget_ns = 10000000u;
    settings->worlds[i].rate = rates[i];
  }
  deal_processors(settings, &machine, UINT32_MAX, &dealt);
  cr_assert_float_eq(deal_most_promised(settings, &dealt, &processor), 0.4, 1e-9);
  cr_assert_eq(processor, 2);
}
