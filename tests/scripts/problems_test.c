/* A script that fails in each update of many agents: each place is told once with its count, and the host learns it. */
#include "scripts/script_host.h"

enum { MANY = 400, TOLD_MAX = 40 };

/* Half of them fail in line 4 in each update, and a few now and then in line 6. */
static const char failing[] = SCRIPT_FAST "function a:think()\n"
                                          "  self.n = (self.n or 0) + 1\n"
                                          "  if self.x % 2 == 1 then local y = self.none.y end\n"
                                          "  -- some of the others\n"
                                          "  if self.x < 20 and self.n % 8 == 0 then error('not\\nagain') end\n"
                                          "end\n" SCRIPT_CROWD(400);

typedef struct told_problem {
  char where[80], what[512];
  uint64_t count, last_ns;
  uint32_t agents;
} told_problem;

typedef struct told_problems {
  uint32_t count;
  told_problem list[TOLD_MAX];
} told_problems;

static void take_told(const muster_module_problem *problem, void *user) {
  told_problems *told = user;
  cr_assert_lt(told->count, TOLD_MAX);
  cr_assert_eq(problem->size, sizeof *problem);
  told_problem *one = &told->list[told->count++];
  *one = (told_problem){.count = problem->count, .last_ns = problem->last_ns, .agents = problem->agents};
  snprintf(one->where, sizeof one->where, "%s", problem->where);
  snprintf(one->what, sizeof one->what, "%s", problem->what);
}

static told_problems problems_of(script_host *host, muster_agent agent) {
  told_problems told = {0};
  host->module->problems(host->instance, host->world, agent, take_told, &told);
  return told;
}

static told_problems all_of(script_host *host) {
  return problems_of(host, (muster_agent){0});
}

static void expect_told(const told_problem *one, const char *where, const char *what, uint32_t agents) {
  cr_assert_str_eq(one->where, where);
  cr_assert_str_eq(one->what, what);
  cr_assert_eq(one->agents, agents);
}

/* The first agent whose x is that. */
static muster_agent agent_at_x(const script_host *host, double x) {
  muster_agent agent = {0};
  while (!muster_agent_is_null(agent = muster_agent_next(host->world, agent))) {
    muster_agent_info info = muster_agent_info_default();
    cr_assert_eq(muster_agent_read(host->world, agent, &info), MUSTER_OK);
    if (info.position.x == x) return agent;
  }
  cr_assert(false, "nobody stands at %g", x);
  return agent;
}

Test(problems, each_place_is_told_once_and_again_with_its_count) {
  SCOPED_HOST *host = script_on(2, failing);
  script_run(host, 200);
  SCRIPT_EXPECT_SAID(host, {"stack traceback", 2}, {": main.lua:4: attempt to index a nil value (field 'none')\n", 1},
                     {": main.lua:6: not\n", 1}, {"of type 'a': main.lua:4", 1},
                     {" s: main.lua:4 has failed ", 2 | OR_MORE}, {" times, now in 200 agents: ", 1 | OR_MORE});
  cr_assert_leq(script_says(host, " s: main.lua:4 has failed "), 5, "%s", script_said(host));
  cr_assert_lt(strlen(script_said(host)), 4000, "a log of one fault: %s", host->said);
}

Test(problems, the_host_reads_them_by_place_and_by_agent) {
  SCOPED_HOST *host = script_start(failing);
  cr_assert_eq(all_of(host).count, 0);
  script_run(host, 100);
  told_problems all = all_of(host);
  cr_assert_eq(all.count, 2);
  expect_told(&all.list[0], "main.lua:4", "attempt to index a nil value (field 'none')", MANY / 2);
  cr_assert_gt(all.list[0].count, 10 * MANY);
  cr_assert_gt(all.list[0].last_ns, host->now_ns - 50000000);
  expect_told(&all.list[1], "main.lua:6", "not", 9);
  cr_assert_eq((double)(all.list[0].count + all.list[1].count), script_figure(host, "scripts_errors_total"));

  muster_agent bad = agent_at_x(host, 7), good = agent_at_x(host, 40);
  told_problems one = problems_of(host, bad);
  cr_assert_eq(one.count, 1);
  cr_assert_str_eq(one.list[0].where, "main.lua:4");
  cr_expect(one.list[0].count > 10 && one.list[0].count <= 100, "%lu", one.list[0].count);
  cr_assert_eq(problems_of(host, good).count, 0);

  cr_assert_eq(muster_agent_remove(host->world, bad), MUSTER_OK);
  script_run(host, 3);
  cr_assert_eq(all_of(host).list[0].agents, MANY / 2 - 1, "one that is gone fails no more");
  cr_assert_eq(problems_of(host, bad).count, 0);
}

/* In a world of one there is one place for those who are born. */
Test(problems, a_newborn_has_none_of_who_was_in_its_place) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() error('again') end\n"
                                               "muster.world { agents = 1, agents_max = 1, start = function()\n"
                                               "  muster.spawn(a, {x = 1, y = 0}) end }\n");
  script_run(host, 50);
  muster_agent old = agent_at_x(host, 1);
  cr_assert_gt(problems_of(host, old).list[0].count, 40);
  cr_assert_eq(muster_agent_remove(host->world, old), MUSTER_OK);
  script_run(host, 2);
  const muster_agent_def def = WITH(muster_agent_def, it.type.index = 1, it.position.x = 2);
  cr_assert_not(muster_agent_is_null(muster_agent_spawn(host->world, &def)), "%s", muster_last_error());
  script_run(host, 5);
  muster_agent newborn = agent_at_x(host, 2);
  told_problems told = problems_of(host, newborn);
  cr_assert_eq(muster_agent_index(newborn), muster_agent_index(old));
  cr_assert_eq(told.count, 1);
  cr_expect(told.list[0].count > 0 && told.list[0].count <= 5, "%lu", told.list[0].count);
  cr_expect_eq(all_of(host).list[0].agents, 1);
}

/* It has no self of its own, and nothing of it may stay. */
Test(problems, of_a_birth_that_failed_go_with_who_was_born) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() end\n"
                                               "muster.world { agents = 2, agents_max = 2, start = function()\n"
                                               "  muster.spawn(a, {x = 1, y = 0}) end }\n");
  const uint32_t of_no_text[32] = {UINT32_MAX};
  script_run(host, 2);
  const muster_agent_def def = WITH(muster_agent_def, it.type.index = 1, it.position.x = 2, it.state = of_no_text);
  cr_assert_not(muster_agent_is_null(muster_agent_spawn(host->world, &def)), "%s", muster_last_error());
  script_run(host, 5);
  cr_assert_eq(all_of(host).count, 1, "%s", script_said(host));
  cr_expect(strstr(all_of(host).list[0].what, "none that muster.spawn has made"), "%s", all_of(host).list[0].what);
  cr_expect_str_eq(all_of(host).list[0].where, "birth of type 'a'");
  cr_assert_eq(all_of(host).list[0].agents, 1);
  cr_assert_eq(muster_agent_remove(host->world, agent_at_x(host, 2)), MUSTER_OK);
  script_run(host, 2);
  cr_expect_eq(all_of(host).list[0].agents, 0, "%u agents", all_of(host).list[0].agents);
}

Test(problems, new_texts_begin_without_any) {
  static const char mended[] = SCRIPT_FAST "function a:think() self.n = 1 end\n"
                                           "muster.world { agents = 400, start = function() end }\n";
  SCOPED_HOST *host = script_start(failing);
  script_run(host, 20);
  cr_assert_gt(all_of(host).count, 0);
  cr_assert_eq(script_reload(host, mended), MUSTER_OK, "%s", muster_last_error());
  script_run(host, 20);
  cr_assert_eq(all_of(host).count, 0);
  cr_assert_eq(problems_of(host, agent_at_x(host, 7)).count, 0);
}

Test(problems, the_worlds_own_function_is_one_of_them) {
  SCOPED_HOST *host = script_start("muster.type { name = 'a' }\n"
                                   "muster.world { agents = 1, start = function() end,\n"
                                   "  frame = function() local x = nothing.x end }\n");
  script_run(host, 30);
  told_problems all = all_of(host);
  cr_assert_eq(all.count, 1);
  cr_assert_str_eq(all.list[0].where, "main.lua:3");
  cr_assert_eq(all.list[0].count, 30);
  cr_expect_eq(script_figure(host, "scripts_errors_total"), 30);
  SCRIPT_EXPECT_SAID(host, {"stack traceback", 1}, {"muster.world.frame: main.lua:3: ", 1});
}

/* Many places: what there is no room for is counted together. */
Test(problems, are_bounded) {
  char text[8192] = SCRIPT_FAST "local f = {}\n";
  for (int i = 1; i <= 60; i++) strcat(text, formed("f[%d] = function() error('e') end\n", i));
  strcat(text, "function a:think() self.n = (self.n or 0) % 60 + 1 f[self.n]() end\n" SCRIPT_ONE);
  SCOPED_HOST *host = script_start(text);
  script_run(host, 130);
  told_problems all = all_of(host);
  cr_assert_eq(all.count, 32);
  cr_assert_str_eq(all.list[0].where, "other places");
}

/* Whatever is raised: where is what the message says, or else the line in which the script stood. */
Test(problems, have_a_place_whatever_is_raised) {
  static const char no_text[] = "a value that is no text was raised as an error";
  static const struct {
    const char *think, *where, *what;
  } rows[] = {{"function a:think() error('plain', 0) end", "main.lua:2", "plain"},
              {"function a:think() error('', 0) end", "main.lua:2", ""},
              {"function a:think() error('east: 5 wolves', 0) end", "main.lua:2", "east: 5 wolves"},
              {"function a:think() error({}) end", "main.lua:2", no_text},
              {"function a:think() error(7) end", "main.lua:2", "a number was raised as an error"},
              {"a.think = error", "think of type 'a'", no_text}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    SCOPED_HOST *host = script_start(formed(SCRIPT_FAST "%s\n" SCRIPT_ONE, rows[i].think));
    script_run(host, 5);
    told_problems all = all_of(host);
    cr_assert_eq(all.count, 1, "%s", script_said(host));
    expect_told(&all.list[0], rows[i].where, rows[i].what, 1);
  }
}

/* Places that failed as often stand by their names. */
Test(problems, are_told_in_the_order_of_their_counts_and_names) {
  SCOPED_HOST *host = script_start(
      SCRIPT_FAST "local function second() error('b') end\n"
                  "local function first() error('a') end\n"
                  "function a:think() if self.x == 1 then first() else second() end end\n" SCRIPT_CROWD(2));
  script_run(host, 5);
  told_problems all = all_of(host);
  cr_assert_eq(all.count, 2);
  cr_expect_eq(all.list[0].count, all.list[1].count);
  cr_expect_str_eq(all.list[0].where, "main.lua:2");
  cr_expect_str_eq(all.list[1].where, "main.lua:3");
}

/* In one strand, wherever the list of its agents grows. */
Test(problems, each_agent_has_its_own) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() error(('x'):rep(400), 0) end\n" SCRIPT_CROWD(100));
  script_run(host, 5);
  for (int x = 1; x <= 100; x++) {
    told_problems told = problems_of(host, agent_at_x(host, x));
    cr_assert_eq(told.count, 1, "agent at %d", x);
    cr_expect(told.list[0].count > 0 && told.list[0].count <= 5, "%lu", told.list[0].count);
    cr_expect_eq(strlen(told.list[0].what), 399, "as much as there is room for, not %zu", strlen(told.list[0].what));
  }
  cr_expect_eq(all_of(host).list[0].agents, 100);
}
