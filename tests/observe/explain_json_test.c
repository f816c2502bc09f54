/* An explanation for machines: each field has its own value in it, under its own name, and each reason its own word. */
#include "support/little_world.h"

#include <muster/explain.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static char text[1 << 16];

/* The value behind a name that stands in the object of that name, or in the whole; "" when there is none. */
static const char *value_of(const char *object, const char *name) {
  static char value[128];
  char key[64];
  const char *from = text;
  if (object) {
    snprintf(key, sizeof key, "\"%s\": {", object);
    from = strstr(text, key);
    cr_assert_not_null(from, "there is no %s in %s", object, text);
  }
  snprintf(key, sizeof key, "\"%s\": ", name);
  const char *at = strstr(from, key);
  *value = '\0';
  if (!at) return value;
  at += strlen(key);
  size_t count = strcspn(at, ",}\n");
  snprintf(value, sizeof value, "%.*s", (int)count, at);
  while (count && value[count - 1] == ' ') value[--count] = '\0';
  return value;
}

static void expect_value(const char *object, const char *name, double expected) {
  const char *value = value_of(object, name);
  cr_expect_neq(*value, '\0', "there is no %s", name);
  cr_expect_float_eq(strtod(value, NULL), expected, 1e-6 * (1 + expected), "%s is %s, not %g", name, value, expected);
}

static void expect_switch(const char *object, const char *name, bool expected) {
  cr_expect_str_eq(value_of(object, name), expected ? "true" : "false", "%s is %s", name, value_of(object, name));
}

static void expect_text(const char *name, const char *expected) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", expected);
  cr_expect_str_eq(value_of(NULL, name), quoted, "%s is %s", name, value_of(NULL, name));
}

/* Values of which no two are alike; switches as the bits of a number say. */
static muster_agent_explanation filled(uint32_t switches) {
  return WITH(
      muster_agent_explanation, it.agent = muster_agent_make(11, 12),
      snprintf(it.type_name, sizeof it.type_name, "badger"), snprintf(it.problem, sizeof it.problem, "it fails"),
      it.frame = 13, it.sim_now_ns = 14, it.pressure = 15, it.importance = 16, it.by_observer = 17, it.visibility = 18,
      it.bulk = 19, it.interactivity = 20, it.of_type = 21, it.modelled = switches & 1, it.by_model = 22, it.floor = 23,
      it.observer = muster_observer_make(24, 25), it.observed = switches & 2, it.distance_m = 26, it.near_m = 27,
      it.far_m = 28, it.level = 29, it.level_count = 30, it.level_low = 31, it.level_high = 32, it.period_ns = 33,
      it.nominal_ns = 34, it.longest_ns = 35, it.longest_is_wish = switches & 4, it.band_interval_ns = 36,
      it.elasticity = 37, it.elasticity_of_type = 38, it.elasticity_derived = switches & 8, it.class_members = 39,
      it.last_update_ns = 40, it.age_ns = 41, it.has_run = switches & 16, it.due_ns = 42, it.waited_ns = 43,
      it.delays = 44, it.atoms_done = 45, it.atoms = 46, it.deadline_ns = 47, it.priority_ns = 48,
      it.priority_wait_ns = 49, it.priority_importance_ns = 50, it.priority_progress_ns = 51, it.priority_runs_ns = 52,
      it.cost_mean_ns = 53, it.cost_high_ns = 54, it.cost_samples = 55);
}

static void write_whole(muster_agent_explanation of) {
  size_t length = muster_explanation_json(&of, text, sizeof text);
  cr_assert_gt(length, 0, "%s", muster_last_error());
  cr_assert_eq(length, strlen(text));
}

static void expect_switches(uint32_t switches) {
  write_whole(filled(switches));
  expect_switch("importance", "modelled", switches & 1);
  expect_switch("observer", "decides", switches & 2);
  expect_switch("period", "longest_is_wish", switches & 4);
  expect_switch("period", "elasticity_derived", switches & 8);
  expect_switch("turn", "has_run", switches & 16);
}

Test(explain_json, each_field_has_its_own_value) {
  static const struct {
    const char *object;
    uint32_t first; /* the value of the first of these names; those behind it count on */
    const char *names[16];
  } objects[] = {
      {NULL, 11, {"agent", "generation"}},
      {NULL, 13, {"frame", "sim_now_ns", "pressure"}},
      {"importance",
       16,
       {"in_force", "by_observer", "visibility", "bulk", "interactivity", "of_type", "by_model", "floor"}},
      {"observer", 24, {"index"}},
      {"observer", 26, {"distance_m", "near_m", "far_m"}},
      {"level", 29, {"number", "count", "cheaper_below", "better_from"}},
      {"period",
       33,
       {"in_force_ns", "nominal_ns", "longest_ns", "interval_of_band_ns", "elasticity", "elasticity_of_type",
        "class_members"}},
      {"turn",
       40,
       {"last_update_ns", "age_ns", "due_ns", "waited_ns", "delays", "atoms_done", "atoms", "deadline_ns",
        "priority_ns", "priority_wait_ns", "priority_importance_ns", "priority_progress_ns", "priority_runs_ns"}},
      {"cost", 53, {"mean_ns", "high_ns", "samples"}}};
  write_whole(filled(0));
  expect_text("type", "badger");
  expect_text("problem", "it fails");
  for (size_t i = 0; i < COUNT_OF(objects); i++)
    for (uint32_t k = 0; objects[i].names[k]; k++)
      expect_value(objects[i].object, objects[i].names[k], objects[i].first + k);
}

Test(explain_json, each_switch_is_its_own) {
  for (uint32_t i = 0; i < 5; i++) expect_switches(1u << i);
}

Test(explain_json, each_reason_has_its_own_word) {
  static const struct {
    muster_reason reason;
    const char *word;
  } words[] = {{MUSTER_REASON_SPAWN_WAITING, "spawn_waiting"},
               {MUSTER_REASON_ASLEEP, "asleep"},
               {MUSTER_REASON_CARRIED, "carried"},
               {MUSTER_REASON_PREEMPTED, "preempted"},
               {MUSTER_REASON_WAITS_FOR_ACTION, "waits_for_action"},
               {MUSTER_REASON_WOKEN, "woken"},
               {MUSTER_REASON_HELD, "held"},
               {MUSTER_REASON_GUARANTEED, "guaranteed"},
               {MUSTER_REASON_NO_OBSERVER_NEAR, "no_observer_near"},
               {MUSTER_REASON_LOWERED, "lowered"},
               {MUSTER_REASON_MODELLED, "modelled"},
               {MUSTER_REASON_FLOOR, "floor"},
               {MUSTER_REASON_CHEAPER_LEVEL, "cheaper_level"},
               {MUSTER_REASON_PERIOD_STRETCHED, "period_stretched"},
               {MUSTER_REASON_PERIOD_LONGEST, "period_longest"},
               {MUSTER_REASON_EXEMPT, "exempt"},
               {MUSTER_REASON_ELASTICITY_SET, "elasticity_set"},
               {MUSTER_REASON_OVERLOAD, "overload"},
               {MUSTER_REASON_REMOVAL_WAITING, "removal_waiting"},
               {MUSTER_REASON_NO_PERIOD, "no_period"},
               {MUSTER_REASON_TIME_ASKED, "time_asked"},
               {MUSTER_REASON_WAKE_DELAYED, "wake_delayed"},
               {MUSTER_REASON_QUARANTINED, "quarantined"},
               {MUSTER_REASON_PENALTY, "penalty"},
               {MUSTER_REASON_SHED, "shed"},
               {MUSTER_REASON_REACTION, "reaction"},
               {MUSTER_REASON_COMPANY, "company"},
               {MUSTER_REASON_OWED, "owed"},
               {MUSTER_REASON_BEYOND_WISH, "beyond_wish"},
               {MUSTER_REASON_OWN_PERIOD, "own_period"}};
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    char expected[64];
    write_whole(CHANGED(filled(0), it.reasons = words[i].reason));
    const char *reasons = strstr(text, "\"reasons\": [");
    cr_assert_not_null(reasons);
    snprintf(expected, sizeof expected, "\"%s\"", words[i].word);
    const char *word = strchr(reasons, '[') + 1, *end = strchr(word, ']');
    const char *found = strstr(word, expected);
    cr_expect(found && found < end, "no %s in %.80s", expected, reasons);
    cr_expect_null(memchr(word, ',', (size_t)(end - word)), "more than one in %.80s", reasons);
  }
}

Test(explain_json, without_an_observer_there_is_none) {
  write_whole(CHANGED(filled(0), it.distance_m = INFINITY));
  cr_expect_str_eq(value_of("importance", "observer"), "null");
}

/* One that does not decide, but is the nearest, is told of, too. */
Test(explain_json, an_observer_that_decides_nothing_is_told_of) {
  write_whole(CHANGED(filled(0), it.distance_m = 26));
  expect_value("observer", "index", 24);
  expect_switch("observer", "decides", false);
}

/* The words stand in it whole, however long they are, and what does not fit is told as 0 bytes. */
Test(explain_json, its_words_are_whole_or_there_is_nothing) {
  static char small[1 << 16];
  char words[4096];
  muster_agent_explanation of =
      CHANGED(filled(31), it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_OVERLOAD | MUSTER_REASON_PERIOD_STRETCHED |
                                       MUSTER_REASON_REACTION | MUSTER_REASON_REMOVAL_WAITING);
  size_t length = muster_explanation_print(&of, words, sizeof words), lines = 0, shown = 0;
  cr_assert(length > 700 && length < sizeof words);
  write_whole(of);
  for (const char *at = words; (at = strchr(at, '\n')); at++) lines++;
  const char *own = strstr(text, "\"words\": \"");
  cr_assert_not_null(own);
  for (const char *at = own; (at = strstr(at, "\\u000a")); at++) shown++;
  cr_expect_eq(shown, lines, "%s", own);
  cr_expect_not_null(strstr(own, "It is about to be removed."));
  size_t whole = strlen(text);
  for (size_t bytes = 0; bytes <= whole + 1; bytes += bytes < whole - 8 ? 97 : 1)
    cr_expect_eq(muster_explanation_json(&of, small, bytes), bytes > whole ? whole : 0, "in %zu bytes", bytes);
}
