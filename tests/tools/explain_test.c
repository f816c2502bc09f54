/* `muster explain`: which agent is meant, and what is said of it. */
#include "program.h"

/* So short of time that even the longest periods of all do not fit. */
#define SHORT "explain wildlife --virtual --agents 1500 --capacity 0.02ms --workers 1 --frames 60"

static bool has_reason(json_t *json, const char *name) {
  size_t i;
  json_t *reason;
  json_array_foreach(program_member(json, "reasons"), i,
                     reason) if (strcmp(json_string_value(reason), name) == 0) return true;
  return false;
}

Test(explain, tells_of_the_agent_that_was_asked_for) {
  json_t *json = program_json(SHORT " --agent 12 --json -");
  cr_assert_eq(program_number(json, "agent"), 12);
  cr_assert(json_is_string(program_member(json, "type")));
  static const char *const numbers[] = {"frame",
                                        "sim_now_ns",
                                        "pressure",
                                        "importance.in_force",
                                        "importance.by_observer",
                                        "importance.floor",
                                        "level.number",
                                        "period.in_force_ns",
                                        "period.nominal_ns",
                                        "period.longest_ns",
                                        "period.elasticity",
                                        "period.class_members",
                                        "turn.last_update_ns",
                                        "turn.due_ns",
                                        "turn.delays",
                                        "cost.mean_ns",
                                        "cost.high_ns"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) program_number(json, numbers[i]);
  cr_assert_geq(program_number(json, "period.in_force_ns"), program_number(json, "period.nominal_ns"));
  cr_assert_not_null(strstr(json_string_value(program_member(json, "words")), " 12 runs every "));
  json_decref(json);
}

Test(explain, finds_the_most_important_and_the_most_delayed) {
  json_t *important = program_json(SHORT " --fit elastic --agent most-important --json -");
  json_t *delayed = program_json(SHORT " --fit elastic --agent most-delayed --json -");
  json_t *other = program_json(SHORT " --fit elastic --agent 12 --json -");
  cr_assert_geq(program_number(important, "importance.in_force"), program_number(other, "importance.in_force"));
  cr_assert_eq(program_number(important, "importance.in_force"), 1);
  cr_assert(has_reason(delayed, "carried") && has_reason(delayed, "overload"));
  cr_assert_gt(program_number(delayed, "turn.delays"), 0);
  cr_assert_leq(program_number(delayed, "turn.last_update_ns"), program_number(other, "turn.last_update_ns"));
  json_decref(important);
  json_decref(delayed);
  json_decref(other);
}

Test(explain, speaks_to_people) {
  program_run *run = program_start(SHORT " --fit elastic");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  program_words(run->output);
  const char *says[] = {"After frame ", " runs every ",     " instead of every ",
                        "Importance: ", "it found no time", "does not fit the budget"};
  for (size_t i = 0; i < sizeof says / sizeof *says; i++)
    cr_assert_not_null(strstr(run->output, says[i]), "no '%s' in: %s", says[i], run->output);
  free(run);
}

Test(explain, refuses_agents_that_nobody_can_mean) {
  PROGRAM_EXPECT_REFUSALS(
      {"explain --agent most-importent", 2, "did you mean 'most-important'?"},
      {"explain --agent most-delay", 2, "did you mean 'most-delayed'?"},
      {"explain --agent bob", 2, "give the number of an agent, most-important or most-delayed"},
      {"explain --agent 12x", 2, "--agent is '12x'; give a whole number"}, {"explain --agent", 2, "wants a value"},
      {"explain --agnet 3", 2, "did you mean '--agent'? See `muster explain --help`"},
      {"explain wildlive", 2, "did you mean 'wildlife'?"}, {"explian", 2, "did you mean 'explain'?"},
      {SHORT " --agent 4000000000", 1, "there is no agent 4000000000"},
      {"explain tan-wong --virtual --frames 1000000 --json /nowhere/e.json", 1, "cannot write '/nowhere/e.json'"});
}

Test(explain, has_a_help_of_its_own) {
  program_run *run = program_start("explain --help");
  cr_assert_eq(run->status, 0);
  cr_assert_not_null(strstr(run->output, "--agent most-delayed"));
  cr_assert_not_null(strstr(run->output, "--budget 10ms"));
  free(run);
}
