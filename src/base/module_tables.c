#include "base/module_tables.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/sized.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t module_settings_count(const muster_module *module) {
  uint32_t count = 0;
  while (module->settings && module->settings[count].name) count++;
  return count;
}

uint32_t module_commands_count(const muster_module *module) {
  uint32_t count = 0;
  while (module->commands && module->commands[count].name) count++;
  return count;
}

uint32_t module_metrics_count(const muster_module *module) {
  uint32_t count = 0;
  while (module->metrics && module->metrics[count].name) count++;
  return count;
}

/* ----------------------------------------------------------------------------------------------------------- values */

void module_add_name(char words[MODULE_NAMES_BYTES], const char *name) {
  size_t used = strlen(words);
  snprintf(words + used, MODULE_NAMES_BYTES - used, "%s%s", used ? ", " : "", name);
}

static const char *const kind_words[] = {"a whole number", "a number", "a text", "yes or no"};

const char *module_setting_range(const muster_module_setting *row, char words[MODULE_RANGE_BYTES]) {
  const char *what = kind_words[row->kind];
  if (row->kind == MUSTER_MODULE_SWITCH)
    snprintf(words, MODULE_RANGE_BYTES, "%s", what);
  else
    snprintf(words, MODULE_RANGE_BYTES, "%s %s %.16g to %.16g%s", what, row->kind == MUSTER_MODULE_TEXT ? "of" : "from",
             row->least, row->most, row->kind == MUSTER_MODULE_TEXT ? " bytes" : "");
  return words;
}

/* strtod would also take blanks, hexadecimal digits, "inf" and "nan". */
static bool read_number(const char *text, bool whole, double *number) {
  const char *allowed = whole ? "+-0123456789" : "+-0123456789.eE";
  char *end;
  if (!*text || text[strspn(text, allowed)]) return false;
  *number = strtod(text, &end);
  return *end == '\0' && isfinite(*number);
}

static bool read_value(const muster_module_setting *row, const char *text, double *number) {
  *number = 0;
  switch (row->kind) {
  case MUSTER_MODULE_SWITCH:
    *number = strcmp(text, "yes") == 0;
    return *number != 0 || strcmp(text, "no") == 0;
  case MUSTER_MODULE_TEXT:
    return (double)strlen(text) >= row->least && (double)strlen(text) <= row->most;
  default:
    return read_number(text, row->kind == MUSTER_MODULE_INTEGER, number) && *number >= row->least &&
           *number <= row->most;
  }
}

static muster_result refuse_unknown(const muster_module *module, const char *name) {
  const char *names[MODULE_VALUES_MAX];
  uint32_t count = module_settings_count(module);
  if (count == 0)
    return error_set(MUSTER_E_ARGUMENT, "module %s has no settings, and was given '%.60s'", module->name, name);
  for (uint32_t i = 0; i < count; i++) names[i] = module->settings[i].name;
  const char *nearest = nearest_name(name, names, count);
  char all[MODULE_NAMES_BYTES] = "";
  for (uint32_t i = 0; i < count; i++) module_add_name(all, names[i]);
  return error_set(MUSTER_E_ARGUMENT, "module %s has no setting '%.60s'%s%s%s; its settings: %s", module->name, name,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'" : "", all);
}

static muster_result module_settings_take(const muster_module *module, const module_given *given,
                                          muster_module_value values[MODULE_VALUES_MAX]) {
  char range[MODULE_RANGE_BYTES];
  for (uint32_t i = 0; module->settings && module->settings[i].name; i++) {
    const muster_module_setting *row = &module->settings[i];
    if (strcmp(row->name, given->name) != 0) continue;
    if (!read_value(row, given->text, &values[i].number))
      return error_set(MUSTER_E_ARGUMENT, "%s is '%.60s'; give %s", given->shown ? given->shown : row->name,
                       given->text, module_setting_range(row, range));
    values[i].text = given->text;
    return MUSTER_OK;
  }
  return refuse_unknown(module, given->name);
}

muster_result module_settings_read(const muster_module *module, const module_given *given, uint32_t count,
                                   muster_module_value values[MODULE_VALUES_MAX], uint32_t *at_fault) {
  muster_module_value read[MODULE_VALUES_MAX];
  uint32_t rows = module_settings_count(module);
  for (uint32_t i = 0; i < rows; i++) {
    const muster_module_setting *row = &module->settings[i];
    read[i] = (muster_module_value){.name = row->name, .text = row->preset};
    read_value(row, row->preset, &read[i].number);
  }
  for (*at_fault = 0; *at_fault < count; ++*at_fault)
    if (module_settings_take(module, &given[*at_fault], read)) return MUSTER_E_ARGUMENT;
  memcpy(values, read, rows * sizeof *read);
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- commands */

const char *module_command_names(const muster_module *module, char words[MODULE_NAMES_BYTES]) {
  words[0] = '\0';
  for (uint32_t i = 0; i < module_commands_count(module); i++) module_add_name(words, module->commands[i].name);
  if (!words[0]) module_add_name(words, "none");
  return words;
}

const muster_module_command *module_command_find(const muster_module *module, const char *name) {
  for (uint32_t i = 0; i < module_commands_count(module); i++)
    if (strcmp(module->commands[i].name, name) == 0) return &module->commands[i];
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static bool name_is_good(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  size_t length = strlen(name);
  return strspn(name, letters) > 0 && length <= MUSTER_MODULE_NAME_MAX &&
         strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

/* A help text becomes a comment of the exposition, and a line of a table. */
static bool help_is_good(const char *help) {
  if (!help || !*help) return false;
  for (; *help; help++)
    if ((unsigned char)*help < ' ' || *help == '\\') return false;
  return true;
}

/* The rows of the three tables have different sizes, and begin with their names. */
typedef struct module_table {
  const char *what;
  const void *rows;
  size_t row_bytes, help_at;
} module_table;

static const char *name_at(const module_table *table, uint32_t row) {
  const char *name;
  memcpy(&name, (const char *)table->rows + row * table->row_bytes, sizeof name);
  return name;
}

static muster_result check_names(const module_table *table) {
  if (!table->rows) return MUSTER_OK;
  const char *name, *help;
  for (uint32_t i = 0; (name = name_at(table, i)) != NULL; i++) {
    memcpy(&help, (const char *)table->rows + i * table->row_bytes + table->help_at, sizeof help);
    if (i == MUSTER_MODULE_ROWS_MAX)
      return error_set(MUSTER_E_INPUT, "it has more than %u %ss", MUSTER_MODULE_ROWS_MAX, table->what);
    if (!name_is_good(name))
      return error_set(MUSTER_E_INPUT,
                       "%s '%.60s': a name has at most %u lower-case letters, digits and _, a letter first",
                       table->what, name, MUSTER_MODULE_NAME_MAX);
    if (!help_is_good(help))
      return error_set(MUSTER_E_INPUT, "%s %s: its help must be one line without backslashes", table->what, name);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(name, name_at(table, k)) == 0)
        return error_set(MUSTER_E_INPUT, "%s %s is there twice", table->what, name);
  }
  return MUSTER_OK;
}

static muster_result check_setting(const muster_module_setting *row) {
  static const double widest[][2] = {{-MUSTER_MODULE_INTEGER_MOST, MUSTER_MODULE_INTEGER_MOST},
                                     {-HUGE_VAL, HUGE_VAL},
                                     {0, MUSTER_MODULE_TEXT_MAX},
                                     {-HUGE_VAL, HUGE_VAL}};
  char range[MODULE_RANGE_BYTES];
  double number;
  if ((unsigned)row->kind > MUSTER_MODULE_SWITCH)
    return error_set(MUSTER_E_INPUT, "setting %s: %d is no kind of setting", row->name, (int)row->kind);
  if (!(row->least <= row->most) || row->least < widest[row->kind][0] || row->most > widest[row->kind][1])
    return error_set(MUSTER_E_INPUT, "setting %s: %g to %g is no range of %s", row->name, row->least, row->most,
                     kind_words[row->kind]);
  if (!row->preset || strlen(row->preset) > MUSTER_MODULE_TEXT_MAX || !read_value(row, row->preset, &number))
    return error_set(MUSTER_E_INPUT, "setting %s: its preset is '%.60s', which is not %s", row->name,
                     row->preset ? row->preset : "", module_setting_range(row, range));
  return MUSTER_OK;
}

static bool ends_in(const char *name, const char *ending) {
  size_t length = strlen(name), tail = strlen(ending);
  return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* What Prometheus expects of names: the ending of a counter says that it is one, and others belong to histograms. */
static muster_result check_metric(const muster_module_metric *row) {
  static const char *const taken[] = {"_count", "_sum", "_bucket", "_info"};
  if ((unsigned)row->kind > MUSTER_MODULE_COUNTER)
    return error_set(MUSTER_E_INPUT, "metric %s: %d is no kind of metric", row->name, (int)row->kind);
  if (ends_in(row->name, "_total") != (row->kind == MUSTER_MODULE_COUNTER))
    return error_set(MUSTER_E_INPUT, "metric %s: names of counters end in _total, and no others do", row->name);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (ends_in(row->name, taken[i]))
      return error_set(MUSTER_E_INPUT, "metric %s: its name may not end in %s", row->name, taken[i]);
  return MUSTER_OK;
}

muster_result module_tables_check(const muster_module *module) {
  const module_table tables[] = {
      {"setting", module->settings, sizeof *module->settings, offsetof(muster_module_setting, help)},
      {"command", module->commands, sizeof *module->commands, offsetof(muster_module_command, help)},
      {"metric", module->metrics, sizeof *module->metrics, offsetof(muster_module_metric, help)}};
  muster_result result = MUSTER_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !result; i++) result = check_names(&tables[i]);
  if (result) return result;
  for (uint32_t i = 0; i < module_settings_count(module) && !result; i++) result = check_setting(&module->settings[i]);
  for (uint32_t i = 0; i < module_metrics_count(module) && !result; i++) result = check_metric(&module->metrics[i]);
  if (result) return result;
  if (module_commands_count(module) > 0 && !module->command)
    return error_set(MUSTER_E_INPUT, "it has commands, and no function `command`");
  if (module_metrics_count(module) > 0 && !module->read_metrics)
    return error_set(MUSTER_E_INPUT, "it has metrics, and no function `read_metrics`");
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------ what modules call */

const muster_module_value *muster_module_value_of(const muster_module_options *options, const char *name) {
  if (!options || !name) {
    error_missing("module value of", options ? "name" : "options");
    return NULL;
  }
  if (options->size < offsetof(muster_module_options, value_count) + sizeof options->value_count) return NULL;
  for (uint32_t i = 0; i < options->value_count; i++)
    if (strcmp(options->values[i].name, name) == 0) return &options->values[i];
  return NULL;
}

double muster_module_number(const muster_module_options *options, const char *name, double otherwise) {
  const muster_module_value *value = muster_module_value_of(options, name);
  return value ? value->number : otherwise;
}

const char *muster_module_text(const muster_module_options *options, const char *name, const char *otherwise) {
  const muster_module_value *value = muster_module_value_of(options, name);
  return value ? value->text : otherwise;
}

const char *muster_module_instance(const muster_module_options *options) {
  const size_t bytes = offsetof(muster_module_options, instance) + sizeof options->instance;
  if (!options) error_missing("module instance", "options");
  return options && options->size >= bytes && options->instance ? options->instance : "";
}

/* ------------------------------------------------------------------------------------------------------------- code */

static muster_result take_interface(const muster_module *given, const char *what, muster_module *module) {
  if (!given) return error_set(MUSTER_E_INPUT, "%s: its muster_module_get gives no module", what);
  if (given->abi != MUSTER_MODULE_ABI)
    return error_set(MUSTER_E_INPUT, "%s: it was built for ABI %u, this program is for %u; build it anew", what,
                     given->abi, MUSTER_MODULE_ABI);
  if (!sized_is_published(SIZED(module), given->size))
    return error_set(MUSTER_E_INPUT, "%s: its size is %u bytes, which no header ever had; set it to sizeof", what,
                     given->size);
  *module = (muster_module){0};
  if (sized_read(SIZED(module), given, module)) return error_set(MUSTER_E_INPUT, "%s: %s", what, muster_last_error());
  if (!module->name || !module->summary || !module->open || !module->populate || !module->close)
    return error_set(MUSTER_E_INPUT, "%s: it lacks one of name, summary, open, populate and close", what);
  if (module_tables_check(module)) return error_set(MUSTER_E_INPUT, "%s: %s", what, muster_last_error());
  return MUSTER_OK;
}

muster_result module_take(void *handle, const char *what, muster_module *module) {
  muster_module_get_function get;
  void *symbol = dlsym(handle, "muster_module_get");
  if (!symbol) return error_set(MUSTER_E_INPUT, "%s: it exports no muster_module_get", what);
  memcpy(&get, &symbol, sizeof get);
  return take_interface(get(), what, module);
}
