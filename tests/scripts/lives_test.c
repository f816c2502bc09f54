/* What agents had is given back when they go, and whoever comes after them has nothing of it; and what the module tells
 * of its states is each its own. */
#include "lua/atoms.h"
#include "lua/scripts.h"
#include "scripts/script_host.h"

enum { LIVES_FRAMES = 1500 };

/* Nobody lives for more than a few updates, each with a table of its own, and another one is born in its place. */
static script_host *short_lives(const char *more) {
  return script_on(
      2,
      formed(
          "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', spawns_max = 1,\n"
          " memory = '64KB', cost = '10us', messages = {waiting_max = 2, sends_max = 1} }\n"
          "function a:spawned() assert(self.list == nil) self.list = {} for i = 1, 300 do self.list[i] = {i} end end\n"
          "function a:think() self.age = (self.age or 0) + 1 %s end\n"
          "function a:act() if self.age < 3 then return end muster.spawn(a, {x = self.x, y = 0}) muster.remove() end\n"
          "muster.world { agents = 20, agents_max = 200, start = function()\n"
          " for i = 1, 20 do muster.spawn(a, {x = i, y = 0}) end end }\n",
          more));
}

static uint32_t owners_of(const script_host *host) {
  const script_world *scripts = host->instance;
  uint32_t owners = 0;
  for (uint32_t i = 0; i < scripts->strands; i++)
    if (scripts->states[i]) owners += scripts->states[i]->memory.owner_count;
  return owners;
}

static uint64_t removed_by(const script_host *host) {
  muster_statistics statistics = muster_statistics_default();
  cr_assert_eq(muster_statistics_read(host->world, &statistics), MUSTER_OK);
  return statistics.removed;
}

/* Runs on until what everybody who went had would be far more than the states have. */
static void expect_given_back(script_host *host) {
  script_run(host, LIVES_FRAMES / 3);
  double bytes = script_figure(host, "scripts_bytes");
  uint32_t owners = owners_of(host);
  uint64_t removed = removed_by(host);
  script_run(host, LIVES_FRAMES);
  cr_assert_gt(removed_by(host), removed + 1000, "%lu went", removed_by(host) - removed);
  cr_expect_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
  cr_expect_lt(script_figure(host, "scripts_bytes"), 2 * bytes, "%g bytes, and %g before",
               script_figure(host, "scripts_bytes"), bytes);
  cr_expect_leq(owners_of(host), 2 * owners, "%u numbers, and %u before", owners_of(host), owners);
  cr_expect_eq(script_figure(host, "scripts_cut_updates"), 0);
  script_end(host);
}

Test(lives, an_agent_that_goes_gives_back_its_table) {
  expect_given_back(short_lives(""));
}

/* With an error at each birth, of which the place is told, and by whom. */
Test(lives, what_is_known_of_its_errors_goes_with_it) {
  SCOPED_HOST *host = short_lives("if self.age == 2 then self.f = print end");
  script_run(host, LIVES_FRAMES / 3);
  double bytes = script_figure(host, "scripts_bytes");
  script_run(host, LIVES_FRAMES);
  cr_expect_gt(script_figure(host, "scripts_errors_total"), 100, "%s", script_said(host));
  cr_expect_lt(script_figure(host, "scripts_bytes"), 2 * bytes);
}

/* Updates that were cut have a coroutine each, which goes with the agent. */
Test(lives, an_update_that_was_cut_ends_with_its_agent) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', cost = '100us', cuts_max = 100000 }\n"
      "local killer = muster.type { name = 'killer', period = '100ms', period_max = '100ms' }\n"
      "function a:think() while true do end end\n"
      "function killer:act() for id in muster.nearby(1000, a) do muster.remove(id) end end\n"
      "muster.world { agents = 40, start = function() muster.spawn(killer, {x = 0, y = 0})\n"
      " for i = 1, 30 do muster.spawn(a, {x = i, y = 0}) end end }\n");
  script_run(host, 8);
  cr_assert_gt(script_figure(host, "scripts_cut_updates"), 0, "%s", script_said(host));
  script_run(host, 60);
  cr_assert_geq(removed_by(host), 30, "%s", script_said(host));
  cr_expect_eq(script_figure(host, "scripts_cut_updates"), 0);
  cr_expect_gt(script_figure(host, "scripts_cuts_total"), 0);
}

/* One agent has much, in whatever state it is: the largest state is that one, and all states together have more. */
Test(lives, the_largest_state_is_the_one_with_most) {
  enum { BIG_BYTES = 600000 };
  SCOPED_HOST *host =
      script_on(2, "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', memory = '4MB' }\n"
                   "function a:spawned() if self.x == 7 then self.list = {}\n"
                   "  for i = 1, 10 do self.list[i] = string.rep(tostring(i), 60000 // #tostring(i)) end end end\n"
                   "function a:think() end\n" SCRIPT_CROWD(300));
  script_run(host, 5);
  const script_world *scripts = host->instance;
  double largest = script_figure(host, "scripts_largest_state_bytes"), all = script_figure(host, "scripts_bytes");
  double most = 0, sum = (double)scripts->host->memory.bytes;
  uint32_t states = 0;
  for (uint32_t i = 0; i < scripts->strands; i++) {
    if (!scripts->states[i]) continue;
    states++;
    sum += (double)scripts->states[i]->memory.bytes;
    if ((double)scripts->states[i]->memory.bytes > most) most = (double)scripts->states[i]->memory.bytes;
  }
  cr_assert_gt(states, 1);
  cr_assert_gt(most, BIG_BYTES * 0.9, "%s", script_said(host));
  cr_expect_eq(script_figure(host, "scripts_states"), states);
  cr_expect_float_eq(largest, most, 1.0);
  cr_expect_float_eq(all, sum, 1.0);
  cr_expect_gt(all, largest);
}

/* ------------------------------------------------------------------------------------------------ between updates */

/* Nothing of an update is left behind it: what is allocated then is the state's, is never refused, and no collector
 * runs by itself. */
static void expect_nobodys(const script_state *state, const char *body) {
  cr_expect_null(state->update, "%s", body);
  cr_expect_eq(state->memory.owner, MEMORY_OWNER_STATE, "owner %u: %s", state->memory.owner, body);
  cr_expect_eq(state->memory.owner_cap_bytes, 0, "%s", body);
  cr_expect_not(state->memory.refuses, "%s", body);
  cr_expect_eq(lua_gc(state->L, LUA_GCISRUNNING), 0, "%s", body);
  cr_expect(lua_gettop(state->runner) == 0 && lua_gettop(state->L) == 0, "values are left behind: %s", body);
}

/* The next agent of a text, behind `agent`; null = there is none. Collectors are agents, too. */
static muster_agent next_of_text(const script_host *host, muster_agent agent) {
  while (!muster_agent_is_null(agent = muster_agent_next(host->world, agent))) {
    muster_agent_info info = muster_agent_info_default();
    cr_assert_eq(muster_agent_read(host->world, agent, &info), MUSTER_OK);
    if (info.partition == 0) break;
  }
  return agent;
}

/* In whatever way an update ends, or is cut. */
Test(lives, between_updates_a_state_is_nobodys) {
  static const struct {
    const char *method, *body;
    bool cut, fails;
  } rows[] = {{"think", "self.n = 1", false, false},
              {"act", "self.n = {1}", false, false},
              {"think", "return false", false, false},
              {"act", "return 1, 2, {}", false, false},
              {"think", "error('no')", false, true},
              {"act", "while true do end", false, true},
              {"think", "local t = {} while true do t = {t} end", false, true},
              {"think", "for i = 1, 20000 do end", true, false},
              {"think", "for i = 1, 20000 do end error('no')", true, true},
              {"think", "while true do end", true, false},
              {"removed", "error('no')", false, true},
              {"spawned", "error('no')", false, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', cuts_max = 15 }\n"
             "function a:%s() %s end\n"
             "muster.world { agents = 2, start = function() muster.spawn(a, {x = 1, y = 0}) end }\n",
             rows[i].method, rows[i].body);
    script_host *host = script_begin(text, 1, MUSTER_CLOCK_VIRTUAL);
    const script_world *scripts = host->instance;
    for (uint32_t frame = 0; frame < 30; frame++) {
      script_run(host, 1);
      expect_nobodys(scripts->host, rows[i].body);
      if (scripts->states[0]) expect_nobodys(scripts->states[0], rows[i].body);
      if (frame == 25) muster_agent_remove(host->world, next_of_text(host, (muster_agent){0}));
    }
    cr_expect_eq(script_figure(host, "scripts_cuts_total") > 1, rows[i].cut, "%s", rows[i].body);
    cr_expect_eq(script_figure(host, "scripts_errors_total") > 0, rows[i].fails, "%s\n%s", rows[i].body,
                 script_said(host));
    script_end(host);
  }
}

/* What a newborn is given was within a cap already: a full state refuses updates new objects, and nobody's birth. */
Test(lives, who_is_born_in_a_full_state_is_born) {
  script_host *host = script_begin(
      "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
      "function a:think() self.n = (self.n or 0) + 1 end\n"
      "muster.world { agents = 1, agents_max = 9, start = function() muster.spawn(a, {x = 1, y = 0}) end,\n"
      "  frame = function(world) world.n = (world.n or 0) + 1\n"
      "    if world.n > 3 and world.n < 10 then muster.spawn(a, {x = world.n, y = 0}, {kept = {1, 2}}) end end }\n",
      1, MUSTER_CLOCK_VIRTUAL);
  const script_world *scripts = host->instance;
  script_run(host, 3);
  scripts->states[0]->memory.cap_bytes = scripts->states[0]->memory.bytes;
  script_run(host, 20);
  uint32_t agents = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = next_of_text(host, agent));) agents++;
  cr_expect_eq(agents, 7, "%u", agents);
  cr_expect_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
  cr_expect_eq(script_says(host, "birth of type"), 0, "%s", script_said(host));
  script_end(host);
}

/* ---------------------------------------------------------------------------------------------------- other agents */

/* A time that is asked for another agent is that agent's. */
Test(lives, a_time_is_asked_for_whom_it_is_for) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', elapsed = 'events' }\n"
      "function a:spawned() if self.x == 1 then muster.wake_at(0.1) end end\n"
      "function a:think() print('woken', self.x)\n"
      " if self.x == 1 and not self.asked then self.asked = muster.wake_at(0.3, (muster.nearest(10, a))) end end\n"
      "muster.world { agents = 2, start = function() muster.spawn(a, {x = 1, y = 0}) muster.spawn(a, {x = 2, y = 0}) "
      "end }\n");
  script_run(host, 60);
  SCRIPT_EXPECT_SAID(host, {"woken\t1.0", 1}, {"woken\t2.0", 1});
}

/* Everybody has a table, wherever the list of them grows. */
Test(lives, each_of_very_many_agents_has_a_table) {
  SCOPED_HOST *host = script_start("local a = muster.type { name = 'a' }\n" SCRIPT_CROWD(1200));
  script_world *scripts = host->instance;
  script_state *state;
  script_run(host, 1);
  uint32_t agents = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = next_of_text(host, agent)); agents++) {
    cr_assert(atoms_push_self(scripts, agent, &state), "agent %u", muster_agent_index(agent));
    lua_pop(state->L, 1);
  }
  cr_assert_eq(agents, 1200);
}

/* Of updates that fail, that are cut and end, and that a save has begin anew. */
Test(lives, no_coroutine_stays_behind_its_update) {
  static const struct {
    const char *think;
    bool saves;
  } rows[] = {{"error('no')", false}, {"for i = 1, 500 do end", false}, {"while true do end", true}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    SCOPED_HOST *host =
        script_start(formed("local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', asks = 2,\n"
                            " cuts_max = 100000 }\nfunction a:think() %s end\n" SCRIPT_CROWD(20),
                            rows[i].think));
    double before = 0;
    for (uint32_t frame = 0; frame < 500; frame++) {
      script_run(host, 1);
      if (frame == 100) before = script_figure(host, "scripts_bytes");
      if (!rows[i].saves) continue;
      SCOPED_SAVED saved = script_save(host);
      cr_assert_gt(saved.world.count, 0);
    }
    cr_expect_lt(script_figure(host, "scripts_bytes"), 1.5 * before, "%s: %g bytes, and %g before", rows[i].think,
                 script_figure(host, "scripts_bytes"), before);
  }
}

/* Neither that another's action was ended, nor that an array of another grew over its cap. */
Test(lives, an_update_has_nothing_of_the_one_before_it) {
  static const char *const others[] = {"function b:act() while true do end end",
                                       "function b:think() local t = {table.unpack(numbers)} end"};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    SCOPED_HOST *host = script_start(
        formed("numbers = {} for i = 1, 249 do numbers[i] = i end\n" SCRIPT_FAST
               "local b = muster.type { name = 'b', period = '10ms', period_max = '10ms', memory = '5KB' }\n%s\n"
               "function a:think() for i = 1, 20000 do end print('thought') end\n"
               "muster.world { agents = 9, start = function() for i = 1, 9 do\n"
               "  muster.spawn(i %% 2 == 0 and a or b, {x = i, y = 0}) end end }\n",
               others[i]));
    script_run(host, 40);
    SCRIPT_EXPECT_SAID(host, {"thought\n", 5 | OR_MORE}, {"of type 'a'", 0});
    cr_expect_gt(script_figure(host, "scripts_cuts_total"), 0);
  }
}

/* Of a world that was saved; a damaged one may name others. */
Test(lives, cuts_are_restored_of_types_and_methods_that_there_are) {
  static const struct {
    uint32_t type, method;
    bool good;
  } rows[] = {{0, METHOD_THINK, true}, {0, METHODS - 1, true}, {0, METHODS, false}, {1, METHOD_THINK, false}};
  SCOPED_HOST *host = script_start("local a = muster.type { name = 'a' }\n" SCRIPT_ONE);
  script_world *scripts = host->instance;
  script_run(host, 2);
  muster_agent agent = next_of_text(host, (muster_agent){0});
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    uint32_t before = scripts->states[0]->suspended_count;
    cr_expect_eq(atoms_restore_cuts(scripts, agent, rows[i].type, rows[i].method, 3), rows[i].good, "row %zu", i);
    cr_expect_eq(scripts->states[0]->suspended_count, before + rows[i].good, "row %zu", i);
  }
}
