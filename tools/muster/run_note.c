#include "run_note.h"
#include "catalog.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Lines of NAME=VALUE: the texts, then numbers. */
typedef struct noted_number {
  const char *name;
  size_t offset, bytes;
} noted_number;

#define NUMBER(name)                                                                                                   \
  { #name, offsetof(run_options, name), sizeof((run_options){0}.name) }

static const noted_number numbers[] = {
    NUMBER(agents),      NUMBER(observers), NUMBER(workers),       NUMBER(budget_ns),
    NUMBER(capacity_ns), NUMBER(cost_ns),   NUMBER(rate),          NUMBER(frames),
    NUMBER(warm_up),     NUMBER(seed),      NUMBER(elastic),       NUMBER(activation_delay),
    NUMBER(audit),       NUMBER(no_pace),   NUMBER(virtual_clock), NUMBER(up_axis),
    NUMBER(record_from),
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

bool run_note_write(const run_options *options, uint64_t skipped_ns, FILE *stream) {
  char whole[PATH_MAX] = "";
  if (options->path && !realpath(options->path, whole)) {
    muster_module_fail(MUSTER_E_SYSTEM, "cannot note where '%s' is", options->path);
    return false;
  }
  fprintf(stream, "scenario=%s\npath=%s\n", catalog_name(options->module), whole);
  for (size_t i = 0; i < NUMBERS; i++) {
    uint64_t value = 0;
    memcpy(&value, (const char *)options + numbers[i].offset, numbers[i].bytes);
    fprintf(stream, "%s=%lu\n", numbers[i].name, value);
  }
  for (uint32_t i = 0; i < options->given_count; i++)
    fprintf(stream, "set %s=%s\n", options->given[i].name, options->given[i].text);
  fprintf(stream, "skipped_ns=%lu\n", skipped_ns);
  fputc('\0', stream);
  return true;
}

static bool read_number(run_options *options, const char *name, const char *text) {
  for (size_t i = 0; i < NUMBERS; i++) {
    if (strcmp(name, numbers[i].name) != 0) continue;
    uint64_t value = strtoull(text, NULL, 10);
    memcpy((char *)options + numbers[i].offset, &value, numbers[i].bytes);
    return true;
  }
  return false;
}

/* musterd writes the name of the module's instance in front of a setting. */
static void read_setting(run_options *options, const char *name, const char *text) {
  const char *dot = strrchr(name, '.');
  if (dot) name = dot + 1;
  if (options->given_count < MODULE_VALUES_MAX)
    options->given[options->given_count++] = (module_given){.name = name, .text = text};
}

bool run_note_read(run_options *options, uint64_t *skipped_ns, char *note) {
  *options = (run_options){0};
  for (char *line = strtok(note, "\n"); line; line = strtok(NULL, "\n")) {
    char *value = strchr(line, '=');
    if (!value) return false;
    *value++ = '\0';
    if (strcmp(line, "scenario") == 0 || strcmp(line, "module") == 0)
      options->scenario = value;
    else if (strcmp(line, "path") == 0)
      options->path = *value ? value : NULL;
    else if (strncmp(line, "set ", 4) == 0)
      read_setting(options, line + 4, value);
    else if (strcmp(line, "skipped_ns") == 0)
      *skipped_ns = strtoull(value, NULL, 10);
    else if (!read_number(options, line, value) && strcmp(line, "world") != 0 && strcmp(line, "agents_max") != 0)
      return false;
  }
  /* A world in Lua is found by its scripts, wherever they are named. */
  for (uint32_t i = 0; options->scenario && !options->path && i < options->given_count; i++)
    if (strcmp(options->scenario, "lua") == 0 && strcmp(options->given[i].name, "scripts") == 0)
      options->path = options->given[i].text;
  return options->scenario && options->rate;
}
