/* Errors of scripts against a model: agents of several strands fail here and there, go away and are born again; at any
 * time each place, and each agent, has the numbers that it must have. */
#include "lua/problems.h"
#include "lua/scripts.h"
#include "scripts/script_host.h"

#include <muster/random.h>

enum { PLACES = 5, PLACES_STEPS = 4000, PLACES_AGENTS = 300, PLACES_STRANDS = 3 };

typedef struct places_model {
  script_host *host;
  script_world *scripts;
  script_state *states[PLACES_STRANDS], *before[PLACES_STRANDS];
  uint64_t drawn;
  struct {
    uint64_t count, last_ns;
  } places[PLACES];
  struct {
    uint32_t generation, place; /* place: one more than its number; 0 = it failed nowhere */
    uint64_t count, last_ns;
  } agents[PLACES_AGENTS];
  uint32_t told;
} places_model;

static uint32_t places_draw(places_model *model, uint32_t below) {
  return (uint32_t)(muster_random_mix(++model->drawn * 0x9e3779b97f4a7c15u) >> 33) % below;
}

static void places_fail(places_model *model, uint32_t index) {
  uint32_t place = places_draw(model, PLACES);
  muster_agent agent = muster_agent_make(index, model->agents[index].generation);
  problems_note(model->scripts->states[scripts_strand(model->scripts, agent)], formed("place %u", place),
                formed("what is wrong at %u\nand more", place), "think", &model->scripts->types[0], agent);
  model->places[place].count++;
  model->places[place].last_ns = model->agents[index].last_ns = model->scripts->now_ns;
  model->agents[index].place = place + 1;
  model->agents[index].count++;
}

static void places_replace(places_model *model, uint32_t index) {
  muster_agent agent = muster_agent_make(index, model->agents[index].generation);
  problems_forget(model->scripts->states[scripts_strand(model->scripts, agent)], agent);
  model->agents[index].generation++;
  model->agents[index].place = 0;
  model->agents[index].count = 0;
}

static void places_take_place(const muster_module_problem *problem, void *user) {
  places_model *model = user;
  uint32_t place = (uint32_t)strtoul(problem->where + strlen("place "), NULL, 10), agents = 0;
  const char *where = formed("place %u", place);
  for (uint32_t i = 0; i < PLACES_AGENTS; i++) agents += model->agents[i].place == place + 1;
  cr_assert_str_eq(problem->where, where);
  cr_assert_str_eq(problem->what, formed("what is wrong at %u", place));
  cr_assert_eq(problem->count, model->places[place].count, "%s: %lu times", where, problem->count);
  cr_assert_eq(problem->last_ns, model->places[place].last_ns, "%s: last at %lu ns", where, problem->last_ns);
  cr_assert_eq(problem->agents, agents, "%s: %u agents, not %u", where, problem->agents, agents);
  model->told++;
}

typedef struct places_of_agent {
  places_model *model;
  uint32_t index, told;
} places_of_agent;

static void places_take_agent(const muster_module_problem *problem, void *user) {
  places_of_agent *of = user;
  cr_assert_str_eq(problem->where, formed("place %u", of->model->agents[of->index].place - 1));
  cr_assert_eq(problem->count, of->model->agents[of->index].count);
  cr_assert_eq(problem->last_ns, of->model->agents[of->index].last_ns);
  cr_assert_eq(problem->agents, 0);
  of->told++;
}

static void places_check_agent(places_model *model, uint32_t index) {
  places_of_agent of = {.model = model, .index = index};
  muster_agent agent = muster_agent_make(index, model->agents[index].generation);
  problems_list(model->scripts, model->host->world, agent, places_take_agent, &of);
  cr_assert_eq(of.told, model->agents[index].place != 0, "agent %u", index);
}

static void places_check(places_model *model) {
  uint32_t failed = 0;
  for (uint32_t i = 0; i < PLACES; i++) failed += model->places[i].count > 0;
  model->told = 0;
  problems_list(model->scripts, model->host->world, (muster_agent){0}, places_take_place, model);
  cr_assert_eq(model->told, failed, "%u places of %u", model->told, failed);
  places_check_agent(model, places_draw(model, PLACES_AGENTS));
}

Test(places, have_the_numbers_of_a_model) {
  places_model *model = calloc(1, sizeof *model);
  model->host = script_start(SCRIPT_STILL(400));
  script_world *scripts = model->scripts = model->host->instance;
  uint32_t strands = scripts->strands;
  scripts->strands = PLACES_STRANDS;
  for (uint32_t i = 0; i < PLACES_STRANDS; i++) {
    model->before[i] = scripts->states[i];
    scripts->states[i] = model->states[i] = calloc(1, sizeof(script_state));
    model->states[i]->scripts = scripts;
  }
  for (uint32_t i = 0; i < PLACES_AGENTS; i++) model->agents[i].generation = 1 + i % 3;
  for (uint32_t i = 0; i < PLACES_STEPS; i++) {
    uint32_t index = places_draw(model, PLACES_AGENTS);
    scripts->now_ns += places_draw(model, 3);
    if (places_draw(model, 4))
      places_fail(model, index);
    else
      places_replace(model, index);
    if (places_draw(model, 8) == 0) places_check_agent(model, index);
    if (places_draw(model, 20) == 0) places_check(model);
  }
  for (uint32_t i = 0; i < PLACES_AGENTS; i++) places_check_agent(model, i);
  places_check(model);
  problems_clear(scripts);
  problems_list(scripts, model->host->world, (muster_agent){0}, places_take_place, model);
  for (uint32_t i = 0; i < PLACES_STRANDS; i++) {
    cr_expect_null(model->states[i]->problems);
    free(model->states[i]);
    scripts->states[i] = model->before[i];
  }
  scripts->strands = strands;
  script_end(model->host);
  free(model);
}

static void places_take_count(const muster_module_problem *problem, void *user) {
  *(uint64_t *)user += problem->count;
}

/* A log is told the first time, at ten times as many and so on, with a trace the first time; what comes in the last
 * frame is told when the world is closed; and a reload begins anew with its version. */
Test(places, are_told_each_time_that_they_are_ten_times_as_many) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
      "function a:think() self.n = (self.n or 0) + 1 if self.n == 1 or self.n > 30 then error('it is ' .. 5) end end\n"
      "function a:act() if self.n == 150 then error('the last') end end\n"
      "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end }\n");
  static const char again[] = "main.lua:2 has failed ";
  uint32_t told = 0;
  for (uint64_t frame = 0; frame < 140; frame++) {
    uint64_t count = 0;
    script_run(host, 1);
    host->module->problems(host->instance, host->world, (muster_agent){0}, places_take_count, &count);
    uint32_t wanted = count >= 100 ? 2 : count >= 10;
    if (wanted > told) {
      told = wanted;
      const char *line = formed(
          "%s%lu times, now in 1 agent: it is 5; last: think of agent 1 (generation 1) of type 'a'", again, count);
      SCRIPT_EXPECT_SAID(host, {line, 1});
    }
    cr_assert_eq(script_says(host, again), told, "%lu times:\n%s", count, script_said(host));
  }
  cr_expect_eq(told, 2);
  cr_expect_eq(script_says(host, "stack traceback"), 1, "%s", script_said(host));
  static script_answer answer;
  cr_assert_eq(script_command(host, "reload", "", &answer), MUSTER_OK);
  cr_expect_str_eq(answer.text, "1 scripts were loaded anew: version 2\n");
  uint64_t count = 0;
  host->module->problems(host->instance, host->world, (muster_agent){0}, places_take_count, &count);
  cr_expect_eq(count, 0);
  cr_expect_eq(script_reload(host, "muster.type {"), MUSTER_E_INPUT);
  unlink(host->path);
  cr_expect_eq(script_reload(host, NULL), MUSTER_E_INPUT);
  SCRIPT_EXPECT_FIGURES(host, {"scripts_reloads_total", 1}, {"scripts_reloads_refused_total", 2});
  script_run(host, 3);
  cr_expect_eq(script_says(host, "(generation 1) of type 'a': main.lua:2: it is 5"), 2, "%s", script_said(host));
  script_write(host, "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
                     "function a:think() error('at last') end\nmuster.world { agents = 1 }\n");
  cr_assert_eq(script_command(host, "reload", "", &answer), MUSTER_OK);
  cr_expect_str_eq(answer.text, "1 scripts were loaded anew: version 3\n");
  script_run(host, 1);
  cr_expect_eq(script_says(host, "at last"), 0);
  destroy_full(host->world);
  host->world = NULL;
  host->module->close(host->instance);
  host->instance = NULL;
  cr_expect_eq(script_says(host, "main.lua:2: at last"), 1, "%s", script_said(host));
}
