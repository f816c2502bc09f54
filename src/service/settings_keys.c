#include "service/settings_keys.h"

#include "service/settings_modules.h"

#include "base/error.h"

#include <muster/journal.h>
#include <muster/muster.h>
#include <stddef.h>
#include <string.h>

#define WORLD(name, member, kind, least, most, live, usage, help)                                                      \
  { {name, NULL, offsetof(world_settings, member), 0, FIELD_##kind, least, most, 0}, usage, help, true, live }
#define SERVER(name, member, kind, least, most, live, usage, help)                                                     \
  { {name, NULL, offsetof(struct settings, member), 0, FIELD_##kind, least, most, 0}, usage, help, false, live }

enum { FIXED = false, LIVE = true };

static const settings_key keys[] = {
    WORLD("module", module, TEXT, 1, MODULES_BYTES - 1, FIXED, "NAME",
          "the module that populates it, or INSTANCE:MODULE of several, with blanks between"),
    WORLD("path", path, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE", "a file for the module"),
    WORLD("agents", agents, COUNT, 0, AGENTS_MOST, FIXED, "N", "how many agents (default: the module's own)"),
    WORLD("agents_max", agents_max, COUNT, 0, AGENTS_MOST, FIXED, "N", "room for so many (default: the module's own)"),
    WORLD("observers", observers, COUNT, 0, OBSERVERS_MOST, FIXED, "K",
          "how many observers (default: the module's own)"),
    WORLD("seed", seed, NUMBER, 0, 0x1p64, FIXED, "S", "of everything random (default 1)"),
    WORLD("budget", budget_ns, TIME, BUDGET_LEAST_NS, BUDGET_MOST_NS, LIVE, "10ms", "wall time that a frame may take"),
    WORLD("hz", rate, RATE, RATE_LEAST, RATE_MOST, LIVE, "30", "frames per second"),
    WORLD("virtual", virtual_clock, SWITCH, 0, 1, FIXED, "yes|no",
          "costs come from the module's cost model (default no)"),
    WORLD("capacity", capacity_ns, TIME, BUDGET_LEAST_NS, BUDGET_MOST_NS, FIXED, "10ms",
          "work per virtual frame (default: the budget)"),
    WORLD("audit", audit, SWITCH, 0, 1, FIXED, "yes|no",
          "measures own overruns, for 0.4 us per claim, near the end per atom (default no)"),
    WORLD("processors", processors, COUNT, 0, 256, FIXED, "N",
          "so many for its frames, one thread each (default: its share, or workers)"),
    WORLD("allow", allow, CHOICE, 0, ALLOW_NETWORK, FIXED, "nothing|network",
          "network: its process may open connections (default: nothing beyond what worlds need)"),
    WORLD(
        "memory_max", memory_max, NUMBER, 0, 0x1p63, FIXED, "BYTES",
        "of memory that its process may use (isolation = process; default: three quarters of the machine's, or of its "
        "control group's)"),
    WORLD("disk_max", disk_max, NUMBER, 0, 0x1p63, FIXED, "BYTES",
          "that its module's files may take (isolation = process; default: a quarter of the file system)"),
    WORLD("state_max", state_max, NUMBER, 0, 0x1p63, FIXED, "BYTES",
          "that Muster's own files may take: incidents go first (isolation = process; default: a quarter of the file "
          "system)"),
    WORLD("zone", zone, COUNT, 0, MUSTER_ZONES_MAX, FIXED, "N",
          "its number in the world of the cluster (default: no zone)"),
    WORLD("rectangle", rectangle, TEXT, 0, RECTANGLE_BYTES - 1, FIXED, "X0 Y0 X1 Y1",
          "the ground of the zone in metres"),
    WORLD("nodes", nodes, TEXT, 0, NODES_BYTES - 1, FIXED, "NAMES",
          "nodes that may run the zone, the first before the others (default: each)"),
    SERVER("workers", workers, COUNT, 0, 256, FIXED, "N",
           "threads that run frames, the frames' own included (default: one per processor)"),
    SERVER("modules", modules, TEXT, 1, PATH_BYTES - 1, FIXED, "DIR", "the folder of modules"),
    SERVER("socket", socket, TEXT, 1, SOCKET_BYTES - 1, FIXED, "PATH", "the unix socket of control"),
    SERVER("listen", listen, TEXT, 0, sizeof((struct settings *)0)->listen - 1, FIXED, "HOST:PORT",
           "control by TCP, too; loopback unless listen_anywhere (default: none)"),
    SERVER("listen_anywhere", listen_anywhere, SWITCH, 0, 1, FIXED, "yes|no",
           "listen names another host than loopback on purpose (default no)"),
    SERVER("token_file", token_file, TEXT, 0, PATH_BYTES - 1, LIVE, "FILE",
           "its first line is the token that control by TCP asks for"),
    SERVER("hosts", hosts, TEXT, 0, HOSTS_BYTES - 1, LIVE, "NAMES",
           "further names that Host and Origin may bear, separated by blanks"),
    SERVER("connections_max", connections_max, COUNT, 1, 65536, FIXED, "N", "connections at a time (default 512)"),
    SERVER("client_connections_max", client_connections_max, COUNT, 1, 65536, FIXED, "N",
           "of these, from one address (default 256)"),
    SERVER("header_bytes_max", header_bytes_max, COUNT, 1024, 1048576, FIXED, "N", "of a request (default 8192)"),
    SERVER("body_bytes_max", body_bytes_max, COUNT, 1024, 268435456, LIVE, "N", "of a request (default 4194304)"),
    SERVER("idle_timeout", idle_timeout_ns, TIME, 1e9, 3.6e12, LIVE, "10s",
           "a connection has so long to send a whole request, else it is closed"),
    SERVER("snapshot_file", snapshot_file, TEXT, 0, PATH_BYTES - 33, FIXED, "FILE",
           "where the worlds are saved (default: nowhere)"),
    SERVER("snapshot_interval", snapshot_interval_ns, TIME, 1e9, 8.64e13, LIVE, "60s", "between two snapshots"),
    SERVER("journal", journal, SWITCH, 0, 1, FIXED, "yes|no",
           "a world goes on from its last complete frame after a crash (default yes, where there is a snapshot_file)"),
    SERVER("journal_sync", journal_sync, CHOICE, 0, MUSTER_JOURNAL_SYNC_FRAME, FIXED, "none|second|frame",
           "when journals are brought to the disk, for when the machine dies, too (default none)"),
    SERVER("journal_folder", journal_folder, TEXT, 0, PATH_BYTES - 33, FIXED, "DIR",
           "where journals lie, such as a folder in memory (default: beside snapshot_file)"),
    SERVER("recovery_max", recovery_max_ns, TIME, 1e7, 3.6e12, FIXED, "0.7s",
           "how long a world may take to come back by its journal (default 0.7s)"),
    SERVER("flight_file", flight_file, TEXT, 0, PATH_BYTES - 33, FIXED, "FILE",
           "notes what each worker does, for after a crash (default: nowhere)"),
    SERVER("crash_limit", crash_limit, COUNT, 0, 1000, LIVE, "N",
           "crashes after which a type is quarantined; 0 = never (default 3)"),
    SERVER("crash_window", crash_window_ns, TIME, 1e9, 8.64e13, LIVE, "10min",
           "a world that crashed more than crash_limit times within it stays down (default 600s)"),
    SERVER("stuck_kill", stuck_kill_ns, TIME, 0, 3.6e12, FIXED, "2s",
           "a world that runs no frame for so long is killed and started again; 0 = never (default 2s)"),
    SERVER("stop_grace", stop_grace_ns, TIME, 1e8, 3.6e12, FIXED, "20s",
           "a world that has not ended so long after it was asked to is killed (default 20s)"),
    SERVER("isolation", isolation, CHOICE, 0, ISOLATION_NONE, FIXED, "process|none",
           "process: each world runs in a process of its own (default); none: all run in this one"),
    SERVER("cluster", cluster, TEXT, 0, NAME_BYTES - 1, FIXED, "NAME",
           "the world that spans machines, whose zones this daemon runs (default: none)"),
    SERVER("node", node, TEXT, 0, NAME_BYTES - 1, FIXED, "NAME", "what this daemon is called in the cluster"),
    SERVER("nats", nats, TEXT, 0, URLS_BYTES - 1, FIXED, "URLS", "NATS servers, such as tls://a:4222,tls://b:4222"),
    SERVER("nats_user", nats_user, TEXT, 0, NAME_BYTES - 1, FIXED, "NAME", "the user there"),
    SERVER("nats_password_file", nats_password_file, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE",
           "its first line is the user's password"),
    SERVER("etcd", etcd, TEXT, 0, URLS_BYTES - 1, FIXED, "URLS", "etcd servers, such as https://a:2379,https://b:2379"),
    SERVER("etcd_user", etcd_user, TEXT, 0, NAME_BYTES - 1, FIXED, "NAME", "the user there"),
    SERVER("etcd_password_file", etcd_password_file, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE",
           "its first line is the user's password"),
    SERVER("cluster_ca", cluster_ca, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE",
           "certificates that sign those of the servers (default: the system's)"),
    SERVER("cluster_certificate", cluster_certificate, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE",
           "the daemon's own certificate"),
    SERVER("cluster_key", cluster_key, TEXT, 0, PATH_BYTES - 1, FIXED, "FILE", "its key"),
    SERVER("lease_ttl", lease_ttl_ns, TIME, 15e9, 3.6e12, FIXED, "15s",
           "a zone whose owner gives no sign for so long is taken over (default 15s)"),
    SERVER("journal_stream", journal_stream, SWITCH, 0, 1, FIXED, "yes|no",
           "journals of zones go to a stream, so that no frame is lost with a machine (default no)"),
    SERVER("balance", balance, SWITCH, 0, 1, FIXED, "yes|no",
           "zones that several nodes may run move from laden nodes to others; no: by hand and by drains alone (default "
           "yes)"),
    SERVER("border", border_mm, RATE, 0, 1e9, FIXED, "METRES",
           "agents this near a neighbour are seen there (default 50)"),
    SERVER("margin", margin_mm, RATE, 0, 1e9, FIXED, "METRES", "agents cross this far beyond the border (default 2)"),
    SERVER("ghost_hz", ghost_rate, RATE, 1, 100000, FIXED, "5",
           "how often neighbours are told what they see (default 5)"),
    SERVER("log_level", log_level, CHOICE, 0, MUSTER_LOG_ERROR, LIVE, "info|warning|error",
           "the least that is logged (default info)"),
};

enum { KEYS = sizeof keys / sizeof *keys };

const settings_key *settings_key_at(uint32_t index) {
  return index < KEYS ? &keys[index] : NULL;
}

const settings_key *settings_key_find(bool of_world, const char *name) {
  for (uint32_t i = 0; i < KEYS; i++)
    if (keys[i].of_world == of_world && strcmp(keys[i].field.name, name) == 0) return &keys[i];
  return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- values */

static muster_result set_text(const field_row *field, char *place, const char *text) {
  size_t length = strlen(text);
  if (length < (size_t)field->least) return error_set(MUSTER_E_ARGUMENT, "it may not be empty");
  if (length > (size_t)field->most)
    return error_set(MUSTER_E_ARGUMENT, "it has %zu bytes; at most %zu fit", length, (size_t)field->most);
  memcpy(place, text, length + 1);
  return MUSTER_OK;
}

static muster_result set_switch(bool *place, const char *text) {
  bool yes = strcmp(text, "yes") == 0;
  if (!yes && strcmp(text, "no") != 0) return error_set(MUSTER_E_ARGUMENT, "give yes or no");
  *place = yes;
  return MUSTER_OK;
}

/* The words of a choice are those of its usage, in the order of its values. */
static muster_result set_choice(const settings_key *key, uint32_t *place, const char *text) {
  size_t length = strlen(text);
  uint32_t value = 0;
  for (const char *word = key->usage; word; value++) {
    const char *end = strchr(word, '|');
    if (strlen(word) >= length && strncmp(word, text, length) == 0 && (word[length] == '|' || !word[length])) {
      *place = value;
      return MUSTER_OK;
    }
    word = end ? end + 1 : NULL;
  }
  return error_set(MUSTER_E_ARGUMENT, "give one of %s", key->usage);
}

muster_result settings_key_set(const settings_key *key, void *section, const char *text) {
  void *place = (char *)section + key->field.offset;
  module_list list;
  bool module = key->of_world && key->field.offset == offsetof(world_settings, module);
  if (module && module_list_read(text, &list)) return MUSTER_E_ARGUMENT;
  if (key->field.kind == FIELD_TEXT) return set_text(&key->field, place, text);
  if (key->field.kind == FIELD_SWITCH) return set_switch(place, text);
  return key->field.kind == FIELD_CHOICE ? set_choice(key, place, text) : field_read_text(&key->field, text, place);
}

bool settings_key_equal(const settings_key *key, const void *left, const void *right) {
  const char *first = (const char *)left + key->field.offset, *second = (const char *)right + key->field.offset;
  if (key->field.kind == FIELD_TEXT) return strcmp(first, second) == 0;
  return memcmp(first, second, field_bytes(&key->field)) == 0;
}

void settings_key_copy(const settings_key *key, void *to, const void *from) {
  memcpy((char *)to + key->field.offset, (const char *)from + key->field.offset, field_bytes(&key->field));
}
