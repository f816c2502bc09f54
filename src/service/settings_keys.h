/* service/settings_keys.h - the table of all settings: one row per key of the file, which is also a flag. */
#ifndef SERVICE_SETTINGS_KEYS_H
#define SERVICE_SETTINGS_KEYS_H

#include "base/fields.h"
#include "service/settings.h"

typedef struct settings_key {
  field_row field;   /* of world_settings, or of settings; its name is that in the file, the flag has - for _ */
  const char *usage; /* placeholder of the value in the help */
  const char *help;  /* meaning */
  bool of_world;     /* in [world NAME]; else in [server] */
  bool live;         /* a reload brings it into force */
} settings_key;

/* Row `index` of the table; null after the last. */
const settings_key *settings_key_at(uint32_t index);

/* The row of a key in the file, or null. */
const settings_key *settings_key_find(bool of_world, const char *name);

/* Sets the field of `section` (a settings or a world_settings) from text. On failure it is unchanged, and
 * muster_last_error() says what to give. */
muster_result settings_key_set(const settings_key *key, void *section, const char *text);

/* Whether the field is the same in both sections; and copies it. */
bool settings_key_equal(const settings_key *key, const void *left, const void *right);
void settings_key_copy(const settings_key *key, void *to, const void *from);

#endif
