#include "service/settings_modules.h"

#include "service/modules.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char unnamed[] = "module";

/* ------------------------------------------------------------------------------------------------------------ names */

/* Copies `length` bytes that must be a name. */
static bool take_name(char name[NAME_BYTES], const char *text, size_t length) {
  if (length >= NAME_BYTES) return false;
  memcpy(name, text, length);
  name[length] = '\0';
  return modules_name_is_good(name);
}

/* One word: INSTANCE:MODULE. */
static muster_result read_named(const char *word, size_t length, module_list *list) {
  const char *colon = memchr(word, ':', length);
  if (list->count == PARTS_MAX) return error_set(MUSTER_E_ARGUMENT, "give at most %u instances", (unsigned)PARTS_MAX);
  module_name *name = &list->names[list->count++];
  if (!colon || !take_name(name->instance, word, (size_t)(colon - word)) ||
      !take_name(name->module, colon + 1, length - (size_t)(colon + 1 - word)))
    return error_set(MUSTER_E_ARGUMENT,
                     "give the bare name of a module, or INSTANCE:MODULE for each of several, with blanks between: "
                     "names have at most %u letters, digits, - and _",
                     NAME_BYTES - 1u);
  for (uint32_t i = 0; i + 1 < list->count; i++)
    if (strcmp(list->names[i].instance, name->instance) == 0)
      return error_set(MUSTER_E_ARGUMENT, "the instance '%s' is there twice; give each a name of its own",
                       name->instance);
  return MUSTER_OK;
}

muster_result module_list_read(const char *text, module_list *list) {
  muster_result result = MUSTER_OK;
  *list = (module_list){.named = strpbrk(text, ": ") != NULL};
  if (!list->named) {
    memcpy(list->names[0].instance, unnamed, sizeof unnamed);
    list->count = 1;
    if (take_name(list->names[0].module, text, strlen(text))) return MUSTER_OK;
    return error_set(MUSTER_E_ARGUMENT, "give the bare name of a module: at most %u letters, digits, - and _",
                     NAME_BYTES - 1u);
  }
  for (text += strspn(text, " "); *text && !result; text += strspn(text, " ")) {
    size_t length = strcspn(text, " ");
    result = read_named(text, length, list);
    text += length;
  }
  return result || list->count ? result : read_named("", 0, list);
}

const char *module_list_label(const char *text) {
  return strpbrk(text, ": ") ? "several" : text;
}

/* --------------------------------------------------------------------------------------------------------- settings */

bool settings_is_of_module(const char *key) {
  return strchr(key, '.') != NULL;
}

module_setting *settings_module_find(const world_settings *world, const char *key) {
  size_t length = strcspn(key, ".");
  for (uint32_t i = 0; i < world->setting_count; i++) {
    const module_setting *setting = &world->settings[i];
    if (strlen(setting->instance) == length && strncmp(setting->instance, key, length) == 0 &&
        strcmp(setting->name, key + length + (key[length] == '.')) == 0)
      return (module_setting *)setting;
  }
  return NULL;
}

muster_result settings_module_set(world_settings *world, const char *key, const char *text, const char *file,
                                  uint32_t line) {
  size_t length = strcspn(key, "."), bytes = strlen(text);
  const char *name = key + length + (key[length] == '.');
  module_setting setting = {.file = file, .line = line};
  if (!take_name(setting.instance, key, length) || !*name || strlen(name) >= sizeof setting.name)
    return error_set(MUSTER_E_ARGUMENT, "'%.60s' is no INSTANCE.KEY, such as module.KEY: a KEY has at most %zu bytes",
                     key, sizeof setting.name - 1);
  if (bytes >= sizeof setting.text)
    return error_set(MUSTER_E_ARGUMENT, "it has %zu bytes; at most %zu fit", bytes, sizeof setting.text - 1);
  memcpy(setting.name, name, strlen(name));
  memcpy(setting.text, text, bytes);
  module_setting *there = settings_module_find(world, key);
  if (!there && world->setting_count == MODULE_SETTINGS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "the world has %u settings of modules already, the most",
                     (unsigned)MODULE_SETTINGS_MAX);
  *(there ? there : &world->settings[world->setting_count++]) = setting;
  return MUSTER_OK;
}

const char *settings_module_where(const module_setting *setting, char where[SETTINGS_WHERE_BYTES]) {
  if (setting->file)
    snprintf(where, SETTINGS_WHERE_BYTES, "%s:%u", setting->file, setting->line);
  else
    snprintf(where, SETTINGS_WHERE_BYTES, "--set");
  return where;
}

void settings_check_modules(const world_settings *world, settings_complaint complain, void *user) {
  module_list list;
  if (!world->module[0] || module_list_read(world->module, &list)) return; /* that was reported */
  for (uint32_t i = 0; i < world->setting_count; i++) {
    const module_setting *setting = &world->settings[i];
    char where[SETTINGS_WHERE_BYTES], message[256];
    bool known = false;
    for (uint32_t k = 0; k < list.count; k++) known |= strcmp(list.names[k].instance, setting->instance) == 0;
    if (known) continue;
    snprintf(message, sizeof message,
             "%s.%s: world %s has no instance '%s'; begin the key with '%s.', or name the instance in `module =`",
             setting->instance, setting->name, world->name, setting->instance, list.names[0].instance);
    complain(settings_module_where(setting, where), message, user);
  }
}

/* ----------------------------------------------------------------------------------------------------------- reload */

/* Complains of what `from` has and `other` has not, or, with `values`, has otherwise. */
static void complain_of_changes(const world_settings *from, const world_settings *other, bool values,
                                settings_complaint complain, void *user) {
  char where[NAME_BYTES * 2 + MODULE_KEY_BYTES + 2], key[NAME_BYTES + MODULE_KEY_BYTES];
  for (uint32_t i = 0; i < from->setting_count; i++) {
    const module_setting *setting = &from->settings[i];
    snprintf(key, sizeof key, "%s.%s", setting->instance, setting->name);
    const module_setting *there = settings_module_find(other, key);
    if (there && (!values || strcmp(there->text, setting->text) == 0)) continue;
    snprintf(where, sizeof where, "%s %s", from->name, key);
    complain(where, "it cannot change while the service runs and is left; restart for it", user);
  }
}

void settings_keep_modules(world_settings *next, const world_settings *now, settings_complaint complain, void *user) {
  complain_of_changes(next, now, true, complain, user);
  complain_of_changes(now, next, false, complain, user);
  memcpy(next->settings, now->settings, sizeof next->settings);
  next->setting_count = now->setting_count;
}
