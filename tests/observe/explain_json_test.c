/* An explanation for machines: each field has its own value in it, under its own name, and each reason its own word. */
#include "support/little_world.h"

#include <muster/explain.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  cr_expect_float_eq(strtod(value, NULL), expected, 1e-6 * (1 + expected), "%s is %s, and not %g", name, value,
                     expected);
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
  muster_agent_explanation of = muster_agent_explanation_default();
  of.agent = muster_agent_make(11, 12);
  snprintf(of.type_name, sizeof of.type_name, "badger");
  snprintf(of.problem, sizeof of.problem, "it fails");
  of.frame = 13;
  of.sim_now_ns = 14;
  of.pressure = 15;
  of.importance = 16;
  of.by_observer = 17;
  of.visibility = 18;
  of.bulk = 19;
  of.interactivity = 20;
  of.of_type = 21;
  of.modelled = switches & 1;
  of.by_model = 22;
  of.floor = 23;
  of.observer = muster_observer_make(24, 25);
  of.observed = switches & 2;
  of.distance_m = 26;
  of.near_m = 27;
  of.far_m = 28;
  of.level = 29;
  of.level_count = 30;
  of.level_low = 31;
  of.level_high = 32;
  of.period_ns = 33;
  of.nominal_ns = 34;
  of.longest_ns = 35;
  of.longest_is_wish = switches & 4;
  of.band_interval_ns = 36;
  of.elasticity = 37;
  of.elasticity_of_type = 38;
  of.elasticity_derived = switches & 8;
  of.class_members = 39;
  of.last_update_ns = 40;
  of.age_ns = 41;
  of.has_run = switches & 16;
  of.due_ns = 42;
  of.waited_ns = 43;
  of.delays = 44;
  of.atoms_done = 45;
  of.atoms = 46;
  of.deadline_ns = 47;
  of.priority_ns = 48;
  of.priority_wait_ns = 49;
  of.priority_importance_ns = 50;
  of.priority_progress_ns = 51;
  of.priority_runs_ns = 52;
  of.cost_mean_ns = 53;
  of.cost_high_ns = 54;
  of.cost_samples = 55;
  return of;
}

static void write_whole(const muster_agent_explanation *of) {
  size_t length = muster_explanation_json(of, text, sizeof text);
  cr_assert_gt(length, 0, "%s", muster_last_error());
  cr_assert_eq(length, strlen(text));
}

static void expect_switches(uint32_t switches) {
  const muster_agent_explanation of = filled(switches);
  write_whole(&of);
  expect_switch("importance", "modelled", switches & 1);
  expect_switch("observer", "decides", switches & 2);
  expect_switch("period", "longest_is_wish", switches & 4);
  expect_switch("period", "elasticity_derived", switches & 8);
  expect_switch("turn", "has_run", switches & 16);
}

Test(explain_json, each_field_has_its_own_value) {
  const muster_agent_explanation of = filled(0);
  write_whole(&of);
  expect_value(NULL, "agent", 11);
  expect_value(NULL, "generation", 12);
  expect_text("type", "badger");
  expect_text("problem", "it fails");
  expect_value(NULL, "frame", 13);
  expect_value(NULL, "sim_now_ns", 14);
  expect_value(NULL, "pressure", 15);
  expect_value("importance", "in_force", 16);
  expect_value("importance", "by_observer", 17);
  expect_value("importance", "visibility", 18);
  expect_value("importance", "bulk", 19);
  expect_value("importance", "interactivity", 20);
  expect_value("importance", "of_type", 21);
  expect_value("importance", "by_model", 22);
  expect_value("importance", "floor", 23);
  expect_value("observer", "index", 24);
  expect_value("observer", "distance_m", 26);
  expect_value("observer", "near_m", 27);
  expect_value("observer", "far_m", 28);
  expect_value("level", "number", 29);
  expect_value("level", "count", 30);
  expect_value("level", "cheaper_below", 31);
  expect_value("level", "better_from", 32);
  expect_value("period", "in_force_ns", 33);
  expect_value("period", "nominal_ns", 34);
  expect_value("period", "longest_ns", 35);
  expect_value("period", "interval_of_band_ns", 36);
  expect_value("period", "elasticity", 37);
  expect_value("period", "elasticity_of_type", 38);
  expect_value("period", "class_members", 39);
  expect_value("turn", "last_update_ns", 40);
  expect_value("turn", "age_ns", 41);
  expect_value("turn", "due_ns", 42);
  expect_value("turn", "waited_ns", 43);
  expect_value("turn", "delays", 44);
  expect_value("turn", "atoms_done", 45);
  expect_value("turn", "atoms", 46);
  expect_value("turn", "deadline_ns", 47);
  expect_value("turn", "priority_ns", 48);
  expect_value("turn", "priority_wait_ns", 49);
  expect_value("turn", "priority_importance_ns", 50);
  expect_value("turn", "priority_progress_ns", 51);
  expect_value("turn", "priority_runs_ns", 52);
  expect_value("cost", "mean_ns", 53);
  expect_value("cost", "high_ns", 54);
  expect_value("cost", "samples", 55);
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
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    muster_agent_explanation of = filled(0);
    char expected[64];
    of.reasons = words[i].reason;
    write_whole(&of);
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
  muster_agent_explanation of = filled(0);
  of.distance_m = INFINITY;
  write_whole(&of);
  cr_expect_str_eq(value_of("importance", "observer"), "null");
}

/* One that does not decide, but is the nearest, is told of, too. */
Test(explain_json, an_observer_that_decides_nothing_is_told_of) {
  muster_agent_explanation of = filled(0);
  of.distance_m = 26;
  write_whole(&of);
  expect_value("observer", "index", 24);
  expect_switch("observer", "decides", false);
}

/* The words stand in it whole, however long they are, and what does not fit is told as 0 bytes. */
Test(explain_json, its_words_are_whole_or_there_is_nothing) {
  static char small[1 << 16];
  char words[4096];
  muster_agent_explanation of = filled(31);
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_OVERLOAD | MUSTER_REASON_PERIOD_STRETCHED |
               MUSTER_REASON_REACTION | MUSTER_REASON_REMOVAL_WAITING;
  size_t length = muster_explanation_print(&of, words, sizeof words), lines = 0, shown = 0;
  cr_assert(length > 700 && length < sizeof words);
  write_whole(&of);
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
