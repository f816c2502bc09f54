/* The settings' file against whatever bytes: it must end without a fault, and every text that it lets through must
 * leave settings that hold what the table of keys promises. */
#include "service/modules.h"
#include "service/settings_file.h"
#include "service/settings_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void take(const char *where, const char *message, void *user) {
  if (!strchr(where, ':') || !*message) abort(); /* every complaint has a place and a sentence */
  (*(unsigned *)user)++;
}

static void check_field(const settings_key *key, const void *section) {
  const char *place = (const char *)section + key->field.offset;
  bool module = strcmp(key->field.name, "module") == 0;
  if (module && *place && !modules_name_is_good(place)) abort();
  if (key->field.kind == FIELD_TEXT) {
    const char *end = memchr(place, '\0', field_bytes(&key->field));
    if (!end || (!module && (double)(end - place) < key->field.least)) abort();
  } else {
    double value = field_value(&key->field, place);
    if (fpclassify(value) != FP_ZERO && !field_allows(&key->field, value)) abort();
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
  for (uint32_t world = 0; world < settings.world_count; world++)
    if (!modules_name_is_good(settings.worlds[world].name)) abort();
  return 0;
}
