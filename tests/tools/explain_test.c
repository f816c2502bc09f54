/* `muster explain`: which agent is meant, and what is said of it. */
#include "program.h"

/* So short of time that even the longest periods of all do not fit. */
#define SHORT "explain wildlife --virtual --agents 1500 --capacity 0.02ms --workers 1 --frames 60"

static bool has_reason(json_t *json, const char *name) {
  PROGRAM_EACH(i, reason, program_member(json, "reasons")) {
    if (strcmp(json_string_value(reason), name) == 0) return true;
  }
  return false;
}

Test(explain, tells_of_the_agent_that_was_asked_for) {
  json_auto_t *json = program_json(SHORT " --agent 12 --json -");
  cr_assert_eq(program_number(json, "agent"), 12);
  cr_assert(json_is_string(program_member(json, "type")));
  static const char *const numbers[] = {
      /* when */
      "frame", "sim_now_ns", "pressure",
      /* what it is */
      "importance.in_force", "importance.by_observer", "importance.floor", "level.number", "period.in_force_ns",
      "period.nominal_ns", "period.longest_ns", "period.elasticity", "period.class_members",
      /* its turn and its cost */
      "turn.last_update_ns", "turn.due_ns", "turn.delays", "cost.mean_ns", "cost.high_ns"};
  for (size_t i = 0; i < COUNT_OF(numbers); i++) program_number(json, numbers[i]);
  cr_assert_geq(program_number(json, "period.in_force_ns"), program_number(json, "period.nominal_ns"));
  cr_assert_not_null(strstr(program_text(json, "words"), " 12 runs every "));
}

Test(explain, finds_the_most_important_and_the_most_delayed) {
  json_auto_t *important = program_json(SHORT " --fit elastic --agent most-important --json -");
  json_auto_t *delayed = program_json(SHORT " --fit elastic --agent most-delayed --json -");
  json_auto_t *other = program_json(SHORT " --fit elastic --agent 12 --json -");
  cr_assert_geq(program_number(important, "importance.in_force"), program_number(other, "importance.in_force"));
  cr_assert_eq(program_number(important, "importance.in_force"), 1);
  cr_assert(has_reason(delayed, "carried") && has_reason(delayed, "overload"));
  cr_assert_gt(program_number(delayed, "turn.delays"), 0);
  cr_assert_leq(program_number(delayed, "turn.last_update_ns"), program_number(other, "turn.last_update_ns"));
}

Test(explain, speaks_to_people) {
  SCOPED_RUN *run = program_good(SHORT " --fit elastic");
  program_words(run->output);
  PROGRAM_EXPECT_SAYS(run->output, "After frame ", " runs every ", " instead of every ",
                      "Importance: ", "it found no time", "does not fit the budget");
}

/* And a file for machines at the same time; unless another is meant, of the most delayed. */
Test(explain, says_when_and_means_the_most_delayed) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both(SHORT, &json), *delayed = program_good(SHORT " --agent most-delayed");
  double frame = program_number(json, "frame"), now_ns = program_number(json, "sim_now_ns");
  PROGRAM_EXPECT_SAYS(run->output, formed("After frame %.0f, at %.3f s:\n\n", frame, now_ns * 1e-9));
  cr_expect_str_eq(run->output, delayed->output);
}

Test(explain, tells_of_the_first_agent) {
  PROGRAM_EXPECT_PRINTS("explain fixed --virtual --agents 5 --frames 3 --workers 1 --agent 0", " 0 runs every ");
}

Test(explain, refuses_agents_that_nobody_can_mean) {
  PROGRAM_EXPECT_REFUSALS(
      {"explain --agent most-importent", 2, "did you mean 'most-important'?"},
      {"explain --agent most-delay", 2, "did you mean 'most-delayed'?"},
      {"explain --agent bob", 2, "give the number of an agent, most-important or most-delayed"},
      {"explain --agent 12x", 2, "--agent is '12x'; give a whole number"},
      {"explain --agent 4294967295", 2, "from 0 to 4294967294"}, {"explain --agent", 2, "wants a value"},
      {"explain --agnet 3", 2, "did you mean '--agent'? See `muster explain --help`"},
      {"explain wildlive", 2, "did you mean 'wildlife'?"}, {"explian", 2, "did you mean 'explain'?"},
      {SHORT " --agent 4000000000", 1, "there is no agent 4000000000"},
      {"explain tan-wong --virtual --frames 1000000 --json /nowhere/e.json", 1, "cannot write '/nowhere/e.json'"});
}

Test(explain, has_a_help_of_its_own) {
  PROGRAM_EXPECT_TELLINGS({"explain --help", "--agent most-delayed"}, {"explain --help", "--budget 10ms"});
}
