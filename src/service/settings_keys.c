#include "service/settings_keys.h"

#include "service/modules.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/quantity.h"

#include <stddef.h>
#include <string.h>

#define SERVER_FIELD(field) offsetof(struct settings, field)
#define WORLD_FIELD(field)  offsetof(world_settings, field)

enum { FIXED = false, LIVE = true, SERVER_KEY = false, WORLD_KEY = true };

/* Ranges are those of muster.h where it has them. */
static const settings_key keys[] = {
    {"module", "NAME", "the module that populates it", WORLD_KEY, FIXED, SETTING_MODULE, WORLD_FIELD(module), 1, 0},
    {"path", "FILE", "a file for the module", WORLD_KEY, FIXED, SETTING_TEXT, WORLD_FIELD(path), 0, PATH_BYTES},
    {"agents", "N", "how many agents (default: the module's own)", WORLD_KEY, FIXED, SETTING_COUNT, WORLD_FIELD(agents),
     0, 16000000},
    {"agents_max", "N", "room for so many (default: the module's own)", WORLD_KEY, FIXED, SETTING_COUNT,
     WORLD_FIELD(agents_max), 0, 16000000},
    {"observers", "K", "how many observers (default: the module's own)", WORLD_KEY, FIXED, SETTING_COUNT,
     WORLD_FIELD(observers), 0, 65536},
    {"seed", "S", "of everything random (default 1)", WORLD_KEY, FIXED, SETTING_NUMBER, WORLD_FIELD(seed), 0,
     UINT64_MAX},
    {"budget", "10ms", "wall time that a frame may take", WORLD_KEY, LIVE, SETTING_DURATION, WORLD_FIELD(budget_ns),
     10000, 10000000000},
    {"hz", "30", "frames per second", WORLD_KEY, LIVE, SETTING_RATE, WORLD_FIELD(rate), 100, 10000000},
    {"virtual", "yes|no", "costs come from the module's cost model (default no)", WORLD_KEY, FIXED, SETTING_SWITCH,
     WORLD_FIELD(virtual_clock), 0, 0},
    {"capacity", "10ms", "work per virtual frame (default: the budget)", WORLD_KEY, FIXED, SETTING_DURATION,
     WORLD_FIELD(capacity_ns), 10000, 10000000000},
    {"audit", "yes|no", "measures own overruns, for 0.4 us per claim, near the end per atom (default no)", WORLD_KEY,
     FIXED, SETTING_SWITCH, WORLD_FIELD(audit), 0, 0},

    {"workers", "N", "threads that run frames, the frames' own included (default: one per processor)", SERVER_KEY,
     FIXED, SETTING_COUNT, SERVER_FIELD(workers), 0, 256},
    {"modules", "DIR", "the folder of modules", SERVER_KEY, FIXED, SETTING_TEXT, SERVER_FIELD(modules), 1, PATH_BYTES},
    {"socket", "PATH", "the unix socket of control", SERVER_KEY, FIXED, SETTING_TEXT, SERVER_FIELD(socket), 1,
     SOCKET_BYTES},
    {"listen", "HOST:PORT", "control by TCP, too; loopback unless listen_anywhere (default: none)", SERVER_KEY, FIXED,
     SETTING_TEXT, SERVER_FIELD(listen), 0, sizeof((struct settings *)0)->listen},
    {"listen_anywhere", "yes|no", "listen names another host than loopback on purpose (default no)", SERVER_KEY, FIXED,
     SETTING_SWITCH, SERVER_FIELD(listen_anywhere), 0, 0},
    {"token_file", "FILE", "its first line is the token that control by TCP asks for", SERVER_KEY, LIVE, SETTING_TEXT,
     SERVER_FIELD(token_file), 0, PATH_BYTES},
    {"hosts", "NAMES", "further names that Host and Origin may bear, separated by blanks", SERVER_KEY, LIVE,
     SETTING_TEXT, SERVER_FIELD(hosts), 0, HOSTS_BYTES},
    {"connections_max", "N", "connections at a time (default 512)", SERVER_KEY, FIXED, SETTING_COUNT,
     SERVER_FIELD(connections_max), 1, 65536},
    {"client_connections_max", "N", "of these, from one address (default 256)", SERVER_KEY, FIXED, SETTING_COUNT,
     SERVER_FIELD(client_connections_max), 1, 65536},
    {"header_bytes_max", "N", "of a request (default 8192)", SERVER_KEY, FIXED, SETTING_COUNT,
     SERVER_FIELD(header_bytes_max), 1024, 1048576},
    {"body_bytes_max", "N", "of a request (default 4194304)", SERVER_KEY, LIVE, SETTING_COUNT,
     SERVER_FIELD(body_bytes_max), 1024, 268435456},
    {"idle_timeout", "10s", "a connection has so long to send a whole request, else it is closed", SERVER_KEY, LIVE,
     SETTING_DURATION, SERVER_FIELD(idle_timeout_ns), 1000000000, 3600000000000},
    {"snapshot_file", "FILE", "where the worlds are saved (default: nowhere)", SERVER_KEY, FIXED, SETTING_TEXT,
     SERVER_FIELD(snapshot_file), 0, PATH_BYTES - 32},
    {"snapshot_interval", "60s", "between two snapshots", SERVER_KEY, LIVE, SETTING_DURATION,
     SERVER_FIELD(snapshot_interval_ns), 1000000000, 86400000000000},
    {"flight_file", "FILE", "notes what each worker does, for after a crash (default: nowhere)", SERVER_KEY, FIXED,
     SETTING_TEXT, SERVER_FIELD(flight_file), 0, PATH_BYTES - 32},
    {"crash_limit", "N", "crashes after which a type is quarantined; 0 = never (default 3)", SERVER_KEY, LIVE,
     SETTING_COUNT, SERVER_FIELD(crash_limit), 0, 1000},
    {"log_level", "info|warning|error", "the least that is logged (default info)", SERVER_KEY, LIVE, SETTING_LEVEL,
     SERVER_FIELD(log_level), 0, 0},
};

enum { KEYS = sizeof keys / sizeof *keys };

const settings_key *settings_key_at(uint32_t index) {
  return index < KEYS ? &keys[index] : NULL;
}

const settings_key *settings_key_find(bool of_world, const char *name) {
  for (uint32_t i = 0; i < KEYS; i++)
    if (keys[i].of_world == of_world && strcmp(keys[i].name, name) == 0) return &keys[i];
  return NULL;
}

uint32_t settings_key_index(const settings_key *key) {
  ASSERT(key >= keys && key < keys + KEYS);
  return (uint32_t)(key - keys);
}

/* ----------------------------------------------------------------------------------------------------------- values */

static muster_result set_text(const settings_key *key, char *field, const char *text) {
  size_t length = strlen(text);
  if (length < key->least) return error_set(MUSTER_E_ARGUMENT, "it may not be empty");
  if (length >= key->most)
    return error_set(MUSTER_E_ARGUMENT, "it has %zu bytes; at most %zu fit", length, (size_t)key->most - 1);
  memcpy(field, text, length + 1);
  return MUSTER_OK;
}

static muster_result set_module(char *field, const char *text) {
  if (!modules_name_is_good(text))
    return error_set(MUSTER_E_ARGUMENT, "give the bare name of a module: at most %u letters, digits, - and _",
                     NAME_BYTES - 1u);
  memcpy(field, text, strlen(text) + 1);
  return MUSTER_OK;
}

static muster_result set_switch(bool *field, const char *text) {
  bool yes = strcmp(text, "yes") == 0;
  if (!yes && strcmp(text, "no") != 0) return error_set(MUSTER_E_ARGUMENT, "give yes or no");
  *field = yes;
  return MUSTER_OK;
}

static muster_result set_level(uint32_t *field, const char *text) {
  static const char *const names[] = {"info", "warning", "error"};
  for (uint32_t i = 0; i < 3; i++) {
    if (strcmp(text, names[i]) != 0) continue;
    *field = i;
    return MUSTER_OK;
  }
  return error_set(MUSTER_E_ARGUMENT, "give info, warning or error");
}

static muster_result set_count(const settings_key *key, uint32_t *field, const char *text) {
  uint64_t value;
  muster_result result = quantity_count(text, key->least, key->most, &value);
  if (!result) *field = (uint32_t)value;
  return result;
}

muster_result settings_key_set(const settings_key *key, void *section, const char *text) {
  void *field = (char *)section + key->offset;
  switch (key->kind) {
  case SETTING_TEXT:
    return set_text(key, field, text);
  case SETTING_MODULE:
    return set_module(field, text);
  case SETTING_COUNT:
    return set_count(key, field, text);
  case SETTING_NUMBER:
    return quantity_count(text, key->least, key->most, field);
  case SETTING_DURATION:
    return quantity_duration(text, key->least, key->most, field);
  case SETTING_RATE:
    return quantity_rate(text, key->least, key->most, field);
  case SETTING_SWITCH:
    return set_switch(field, text);
  case SETTING_LEVEL:
    return set_level(field, text);
  }
  return error_set(MUSTER_E_ARGUMENT, "a setting of an unknown kind");
}

static size_t settings_keys_size_of(const settings_key *key) {
  switch (key->kind) {
  case SETTING_TEXT:
    return key->most;
  case SETTING_MODULE:
    return NAME_BYTES;
  case SETTING_COUNT:
  case SETTING_LEVEL:
    return sizeof(uint32_t);
  case SETTING_SWITCH:
    return sizeof(bool);
  case SETTING_NUMBER:
  case SETTING_DURATION:
  case SETTING_RATE:
    break;
  }
  return sizeof(uint64_t);
}

bool settings_key_equal(const settings_key *key, const void *left, const void *right) {
  const char *first = (const char *)left + key->offset, *second = (const char *)right + key->offset;
  if (key->kind == SETTING_TEXT || key->kind == SETTING_MODULE) return strcmp(first, second) == 0;
  return memcmp(first, second, settings_keys_size_of(key)) == 0;
}

void settings_key_copy(const settings_key *key, void *to, const void *from) {
  memcpy((char *)to + key->offset, (const char *)from + key->offset, settings_keys_size_of(key));
}
