/* The tables of modules: which are refused, and what is made of settings. */
#include "base/module_tables.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static const muster_module_setting settings[] = {
    {"speed", MUSTER_MODULE_REAL, 0, 20, "1.5", "metres per second"},
    {"count", MUSTER_MODULE_INTEGER, -5, 9007199254740992.0, "7", "of them"},
    {"label", MUSTER_MODULE_TEXT, 1, 8, "none", "a name"},
    {"loud", MUSTER_MODULE_SWITCH, 0, 0, "no", "whether it is"},
    {0},
};

static const muster_module module = {.name = "odd", .settings = settings};

static void expect_refused(const muster_module *wrong, const char *says) {
  cr_expect_eq(module_tables_check(wrong), MUSTER_E_INPUT, "it is not refused: %s", says);
  cr_expect(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
}

static void expect_wrong(const char *name, const char *text, const char *says) {
  const module_given given[] = {{.name = "speed", .text = "3"}, {.name = name, .text = text}};
  muster_module_value values[MODULE_VALUES_MAX] = {{.text = "as before"}};
  uint32_t at_fault = 7;
  cr_expect_eq(module_settings_read(&module, given, 2, values, &at_fault), MUSTER_E_ARGUMENT, "%s=%s", name, text);
  cr_expect(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
  cr_expect_eq(at_fault, 1);
  cr_expect_str_eq(values[0].text, "as before");
}

Test(module_tables, values_are_given_or_preset) {
  const module_given given[] = {{.name = "label", .text = "a b = c"}, {.name = "count", .text = "-5"}};
  muster_module_value values[MODULE_VALUES_MAX];
  uint32_t at_fault;
  cr_assert_eq(module_tables_check(&module), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(module_settings_read(&module, given, 2, values, &at_fault), MUSTER_OK, "%s", muster_last_error());
  muster_module_options options =
      WITH(muster_module_options, it.values = values, it.value_count = module_settings_count(&module));
  cr_expect_eq(muster_module_number(&options, "speed", 0), 1.5);
  cr_expect_eq(muster_module_number(&options, "count", 0), -5);
  cr_expect_eq(muster_module_number(&options, "loud", 9), 0);
  cr_expect_str_eq(muster_module_text(&options, "label", ""), "a b = c");
  cr_expect_eq(muster_module_number(&options, "sped", 9), 9);
  options.size = offsetof(muster_module_options, values); /* a host that is older */
  cr_expect_eq(muster_module_number(&options, "speed", 9), 9);
  cr_expect_str_eq(muster_module_instance(&options), "");
}

Test(module_tables, wrong_values_are_refused_with_what_is_allowed) {
  static const char *const no_numbers[] = {"", "fast", "1.5x", " 1", "1 ", "inf", "nan", "0x10", "1e999", "--1"};
  for (size_t i = 0; i < COUNT_OF(no_numbers); i++) expect_wrong("speed", no_numbers[i], "give a number from 0 to 20");
  expect_wrong("speed", "20.001", "speed is '20.001'; give a number from 0 to 20");
  expect_wrong("speed", "-0.1", "give a number from 0 to 20");
  expect_wrong("count", "1.5", "give a whole number from -5 to 9007199254740992");
  expect_wrong("count", "9007199254740994", "give a whole number");
  expect_wrong("label", "", "give a text of 1 to 8 bytes");
  expect_wrong("label", "ninebytes", "give a text of 1 to 8 bytes");
  expect_wrong("loud", "true", "loud is 'true'; give yes or no");
  expect_wrong("sped", "1",
               "module odd has no setting 'sped'; did you mean 'speed'; its settings: speed, count, label");
}

Test(module_tables, a_module_without_a_table_refuses_every_setting) {
  const muster_module bare = {.name = "bare"};
  const module_given given[] = {{.name = "speed", .text = "3"}};
  muster_module_value values[MODULE_VALUES_MAX];
  uint32_t at_fault;
  cr_expect_eq(module_tables_check(&bare), MUSTER_OK);
  cr_expect_eq(module_settings_read(&bare, given, 1, values, &at_fault), MUSTER_E_ARGUMENT);
  cr_expect(strstr(muster_last_error(), "module bare has no settings"), "%s", muster_last_error());
}

Test(module_tables, tables_that_break_a_rule_are_refused) {
  static const struct {
    muster_module_setting row;
    const char *says;
  } wrong[] = {
      {{"Speed", MUSTER_MODULE_REAL, 0, 1, "0", "h"}, "setting 'Speed': a name has at most 40 lower-case letters"},
      {{"", MUSTER_MODULE_REAL, 0, 1, "0", "h"}, "a name has"},
      {{"a.b", MUSTER_MODULE_REAL, 0, 1, "0", "h"}, "a name has"},
      {{"speed", MUSTER_MODULE_REAL, 0, 1, "0", NULL}, "setting speed: its help must be one line"},
      {{"speed", MUSTER_MODULE_REAL, 0, 1, "0", "a\nb"}, "its help must be one line"},
      {{"speed", MUSTER_MODULE_REAL, 2, 1, "1", "h"}, "2 to 1 is no range of a number"},
      {{"speed", MUSTER_MODULE_REAL, (double)NAN, 1, "1", "h"}, "is no range"},
      {{"speed", MUSTER_MODULE_INTEGER, 0, 1e300, "1", "h"}, "is no range of a whole number"},
      {{"speed", MUSTER_MODULE_TEXT, 0, 256, "1", "h"}, "0 to 256 is no range of a text"},
      {{"speed", MUSTER_MODULE_REAL, 0, 1, "2", "h"}, "its preset is '2', which is not a number from 0 to 1"},
      {{"speed", MUSTER_MODULE_SWITCH, 0, 0, NULL, "h"}, "its preset is ''"},
      {{"speed", (muster_module_kind)4, 0, 1, "1", "h"}, "4 is no kind of setting"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    const muster_module_setting table[] = {wrong[i].row, {0}};
    expect_refused(&(muster_module){.name = "odd", .settings = table}, wrong[i].says);
  }
  muster_module_setting many[MUSTER_MODULE_ROWS_MAX + 2] = {settings[0], settings[0]};
  expect_refused(&(muster_module){.name = "odd", .settings = many}, "setting speed is there twice");
  char names[MUSTER_MODULE_ROWS_MAX + 1][8];
  for (uint32_t i = 0; i <= MUSTER_MODULE_ROWS_MAX; i++) {
    many[i] = settings[0];
    snprintf(names[i], sizeof names[i], "n%u", i);
    many[i].name = names[i];
  }
  expect_refused(&(muster_module){.name = "odd", .settings = many}, "it has more than 32 settings");
}

static void read_none(void *instance, const muster_world *world, double *values) {
  (void)instance, (void)world, (void)values;
}

Test(module_tables, metrics_are_named_as_prometheus_wants_it) {
  static const struct {
    muster_module_metric row;
    const char *says;
  } wrong[] = {
      {{"walkers-now", MUSTER_MODULE_GAUGE, "h"}, "metric 'walkers-now': a name has"},
      {{"1st", MUSTER_MODULE_GAUGE, "h"}, "a letter first"},
      {{"walkers", MUSTER_MODULE_COUNTER, "h"}, "metric walkers: names of counters end in _total, and no others do"},
      {{"walkers_total", MUSTER_MODULE_GAUGE, "h"}, "names of counters end in _total"},
      {{"walkers_count", MUSTER_MODULE_GAUGE, "h"}, "its name may not end in _count"},
      {{"walkers_bucket", MUSTER_MODULE_GAUGE, "h"}, "its name may not end in _bucket"},
      {{"walkers", MUSTER_MODULE_GAUGE, "back\\slash"}, "its help must be one line without backslashes"},
      {{"walkers", (muster_module_metric_kind)2, "h"}, "2 is no kind of metric"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    const muster_module_metric table[] = {wrong[i].row, {0}};
    expect_refused(&(muster_module){.name = "odd", .metrics = table, .read_metrics = read_none}, wrong[i].says);
  }
  const muster_module_metric good[] = {{"walkers", MUSTER_MODULE_GAUGE, "Walkers."}, {0}};
  const muster_module_command command[] = {{"open", "opens"}, {0}};
  expect_refused(&(muster_module){.name = "odd", .metrics = good}, "it has metrics, and no function `read_metrics`");
  expect_refused(&(muster_module){.name = "odd", .commands = command}, "it has commands, and no function `command`");
}
