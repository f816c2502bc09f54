/* The example bot_server: within its budget, attentive where players are, and fair to bots that no player sees. */
#include "examples/bot_server.h"

#include <criterion/criterion.h>

enum { GUARDS = 200, MERCHANTS = 300, WOLVES = 100, BOTS = GUARDS + MERCHANTS + WOLVES };

/* Bots stand along a road of 6 km, kinds mixed. */
static bot_server *create_town(uint64_t budget_ns, bool measured) {
  bot_server *server = bot_server_create(&(bot_options){budget_ns, measured});
  cr_assert_not_null(server, "%s", muster_last_error());
  for (uint32_t i = 0; i < BOTS; i++) {
    bot_kind kind = i % 6 == 0 ? BOT_WOLF : i % 2 ? BOT_MERCHANT : BOT_GUARD;
    cr_assert_eq(bot_server_add(server, kind, i * 10.0, 0), i);
  }
  return server;
}

static void tick(bot_server *server, uint32_t ticks) {
  for (uint32_t i = 0; i < ticks; i++) {
    cr_assert(bot_server_tick(server), "%s", muster_last_error());
    if (!server->options.measured)
      cr_assert_leq(server->script_ns, server->options.budget_ns, "tick at %lu", (unsigned long)server->now_ns);
  }
}

/* Runs of a kind's bots along a part of the road, for each of them. */
static double runs_between(const bot_server *server, bot_kind kind, double from, double to) {
  double runs = 0, bots = 0;
  for (uint32_t i = 0; i < BOTS_MAX; i++) {
    const struct bot *bot = &server->bots[i];
    if (!bot->present || bot->kind != kind || bot->post_x < from || bot->post_x >= to) continue;
    runs += (double)bot->runs;
    bots++;
  }
  return bots > 0 ? runs / bots : 0;
}

static void forget_runs(bot_server *server) {
  for (uint32_t i = 0; i < BOTS_MAX; i++) server->bots[i].runs = 0;
}

static muster_frame_report report_of(const bot_server *server) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(server->world, &report);
  return report;
}

Test(bot_server, stays_within_its_budget_and_runs_bots_near_players_more_often) {
  bot_server *server = create_town(1500000, false);
  for (uint32_t i = 0; i < 4; i++) bot_server_join(server, 1000 + i * 20.0, 5);
  tick(server, 100);
  forget_runs(server);
  tick(server, 600);
  cr_assert_gt(report_of(server).pressure, 0.1f, "there is not enough for all: %g", (double)report_of(server).pressure);
  for (bot_kind kind = BOT_GUARD; kind < BOT_KINDS; kind++) {
    double near = runs_between(server, kind, 950, 1110), far = runs_between(server, kind, 3000, 6000);
    cr_assert_gt(far, 2, "kind %d is not forgotten: %g runs", (int)kind, far);
    cr_assert_gt(near, 2 * far, "kind %d: %g near players, %g far from them", (int)kind, near, far);
  }
  cr_assert_gt(server->stopped, 100, "scripts were stopped and went on: %lu", (unsigned long)server->stopped);
  bot_server_destroy(server);
}

Test(bot_server, what_bots_do_in_an_hour_does_not_depend_on_how_often_they_run) {
  const uint64_t budgets[] = {40000000, 3000000, 1000000};
  for (uint32_t k = 0; k < 3; k++) {
    bot_server *server = create_town(budgets[k], false);
    bot_server_join(server, 1000, 5);
    tick(server, 1200);
    for (uint32_t i = 0; i < BOTS; i++) {
      const struct bot *bot = &server->bots[i];
      uint64_t age_ns = server->now_ns - bot->born_ns;
      cr_assert_leq(bot->lived_ns, age_ns);
      cr_assert_gt(bot->lived_ns + 15000000000u, age_ns, "bot %u lags by %lu ns", i,
                   (unsigned long)(age_ns - bot->lived_ns));
      if (bot->kind == BOT_MERCHANT) cr_assert_float_eq(bot->coins, (double)bot->lived_ns * 1e-10, 1e-6);
    }
    bot_server_destroy(server);
  }
}

Test(bot_server, follows_players_who_join_and_leave) {
  bot_server *server = create_town(1000000, false);
  for (uint32_t round = 0; round < 3; round++) {
    uint32_t player = bot_server_join(server, 500, 5);
    tick(server, 60);
    for (uint32_t i = 0; i < 100; i++) bot_server_walk(server, player, 500 + i * 40.0, 5), tick(server, 1);
    forget_runs(server);
    tick(server, 400);
    double here = runs_between(server, BOT_GUARD, 4400, 4520), there = runs_between(server, BOT_GUARD, 440, 560);
    cr_assert_gt(here, 1.5 * there, "%g where the player is, %g where it came from", here, there);
    bot_server_leave(server, player);
    tick(server, 200);
    forget_runs(server);
    tick(server, 400);
    here = runs_between(server, BOT_GUARD, 4400, 4520), there = runs_between(server, BOT_GUARD, 440, 560);
    cr_assert(here < 1.2 * there + 1 && there < 1.2 * here + 1, "%g and %g: nobody is there", here, there);
  }
  bot_server_destroy(server);
}

Test(bot_server, never_runs_a_bot_that_was_removed_or_took_the_place_of_one) {
  bot_server *server = create_town(3000000, false);
  tick(server, 20);
  for (uint32_t i = 0; i < BOTS; i += 2) bot_server_remove(server, i);
  for (uint32_t i = 0; i < BOTS; i += 4) cr_assert_neq(bot_server_add(server, BOT_MERCHANT, i, 20), BOTS_MAX);
  tick(server, 400);
  for (uint32_t i = 0; i < BOTS; i++) {
    const struct bot *bot = &server->bots[i];
    if (!bot->present) continue;
    cr_assert_gt(bot->runs, 0);
    cr_assert_leq(bot->lived_ns, server->now_ns - bot->born_ns, "bot %u lived for what was before it", i);
  }
  cr_assert_eq(report_of(server).agents, BOTS * 3 / 4);
  bot_server_destroy(server);
}

Test(bot_server, also_by_a_clock_instead_of_counting) {
  bot_server *server = create_town(20000000, true);
  bot_server_join(server, 1000, 5);
  tick(server, 400);
  for (bot_kind kind = BOT_GUARD; kind < BOT_KINDS; kind++)
    cr_assert_gt(runs_between(server, kind, 0, 6000), 0.5, "kind %d", (int)kind);
  cr_assert_eq(server->stopped, 0);
  bot_server_destroy(server);
}
