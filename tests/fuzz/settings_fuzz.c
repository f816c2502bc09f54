/* The settings' file against whatever bytes: it must end without a fault, and every text that it lets through must
 * leave settings that hold what the table of keys promises. */
#include "service/modules.h"
#include "service/settings_file.h"
#include "service/settings_keys.h"
#include "service/settings_modules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(const char *where, const char *message, void *user) {
  if (!strchr(where, ':') || !*message) abort(); /* every complaint has a place and a sentence */
  (*(unsigned *)user)++;
}

static void check_field(const settings_key *key, const void *section) {
  const char *place = (const char *)section + key->field.offset;
  bool module = strcmp(key->field.name, "module") == 0;
  module_list list;
  if (module && *place && module_list_read(place, &list)) abort();
  if (key->field.kind == FIELD_TEXT) {
    const char *end = memchr(place, '\0', field_bytes(&key->field));
    if (!end || (!module && (double)(end - place) < key->field.least)) abort();
  } else {
    double value = field_value(&key->field, place);
    if (fpclassify(value) != FP_ZERO && !field_allows(&key->field, value)) abort();
  }
}

/* Every setting of a module is found by its key, and is no longer than its room. */
static void check_world(const world_settings *world) {
  if (!modules_name_is_good(world->name) || world->setting_count > MODULE_SETTINGS_MAX) abort();
  for (uint32_t i = 0; i < world->setting_count; i++) {
    const module_setting *setting = &world->settings[i];
    char key[NAME_BYTES + MODULE_KEY_BYTES];
    if (!memchr(setting->name, 0, sizeof setting->name) || !memchr(setting->text, 0, sizeof setting->text)) abort();
    snprintf(key, sizeof key, "%s.%s", setting->instance, setting->name);
    if (settings_module_find(world, key) != setting || !setting->file || !setting->line) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static struct settings settings;
  unsigned complaints = 0;
  const settings_key *key;
  settings_default(&settings);
  settings_read_text(&settings, "fuzz", (const char *)bytes, size, take, &complaints);
  if (settings.world_count > WORLDS_MAX) abort();
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    if (!key->of_world) check_field(key, &settings);
    for (uint32_t world = 0; key->of_world && world < settings.world_count; world++)
      check_field(key, &settings.worlds[world]);
  }
  for (uint32_t world = 0; world < settings.world_count; world++) check_world(&settings.worlds[world]);
  return 0;
}
