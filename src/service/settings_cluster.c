#include "service/settings_cluster.h"

#include "service/modules.h"
#include "service/settings_keys.h"
#include "service/zones/ground.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { SERVERS_LEAST = 3, SERVERS_MOST = 7, PORT_MOST = 65535, WHERE_BYTES = NAME_BYTES + 16, WORDS_BYTES = 512 };

/* ---------------------------------------------------------------------------------------------------------- servers */

/* Servers of one kind, as the settings name them. */
typedef struct server_list {
  const char *key, *text;        /* the setting */
  const char *plain, *encrypted; /* what URLs begin with */
} server_list;

static server_list list_nats(const struct settings *settings) {
  return (server_list){"nats", settings->nats, "nats://", "tls://"};
}

static server_list list_etcd(const struct settings *settings) {
  return (server_list){"etcd", settings->etcd, "http://", "https://"};
}

/* The next server of a list, without what follows it; false behind the last. */
static bool next_server(const char **rest, char url[URLS_BYTES]) {
  *rest += strspn(*rest, ", ");
  size_t length = strcspn(*rest, ", ");
  snprintf(url, URLS_BYTES, "%.*s", (int)length, *rest);
  *rest += length;
  return length > 0;
}

static bool has_begin(const char *text, const char *begin) {
  return strncmp(text, begin, strlen(begin)) == 0;
}

/* What stands behind the scheme; null when it has neither of the two. */
static const char *host_of(const server_list *list, const char *url) {
  if (has_begin(url, list->encrypted)) return url + strlen(list->encrypted);
  return has_begin(url, list->plain) ? url + strlen(list->plain) : NULL;
}

static bool is_server(const server_list *list, const char *url) {
  const char *host = host_of(list, url), *colon = host ? strrchr(host, ':') : NULL;
  if (!colon || colon == host || colon[-1] == ':') return false;
  char *end;
  unsigned long port = strtoul(colon + 1, &end, 10);
  return colon[1] >= '0' && colon[1] <= '9' && (!*end || strcmp(end, "/") == 0) && port >= 1 && port <= PORT_MOST;
}

static bool names_loopback(const char *host) {
  return has_begin(host, "127.") || has_begin(host, "localhost:") || has_begin(host, "[::1]:");
}

static void check_servers(const server_list *list, settings_complaint complain, void *user) {
  char url[URLS_BYTES], why[WORDS_BYTES];
  const char *rest = list->text;
  uint32_t count = 0;
  for (; next_server(&rest, url); count++) {
    if (is_server(list, url)) continue;
    snprintf(why, sizeof why, "%s names '%.100s'; give %sHOST:PORT or %sHOST:PORT, with commas between servers",
             list->key, url, list->encrypted, list->plain);
    complain("", why, user);
  }
  if (count <= SERVERS_MOST) return;
  snprintf(why, sizeof why, "%s names %u servers; at most %d are asked, and three are enough", list->key, count,
           SERVERS_MOST);
  complain("", why, user);
}

/* ------------------------------------------------------------------------------------------------------------ zones */

static void name_world(const world_settings *world, char where[WHERE_BYTES]) {
  snprintf(where, WHERE_BYTES, "[world %s]", world->name);
}

/* The next name of a list with blanks; false behind the last. */
static bool next_node_name(const char **rest, char name[NODES_BYTES]) {
  *rest += strspn(*rest, " ");
  size_t length = strcspn(*rest, " ");
  snprintf(name, NODES_BYTES, "%.*s", (int)length, *rest);
  *rest += length;
  return length > 0;
}

static bool names_node(const char *nodes, const char *wanted) {
  char name[NODES_BYTES];
  while (next_node_name(&nodes, name))
    if (strcmp(name, wanted) == 0) return true;
  return false;
}

static void check_nodes(const world_settings *world, settings_complaint complain, void *user) {
  char where[WHERE_BYTES], name[NODES_BYTES], why[WORDS_BYTES];
  name_world(world, where);
  if (*world->nodes && !world->zone) complain(where, "it has nodes and is no zone; add `zone = N`", user);
  for (const char *rest = world->nodes; next_node_name(&rest, name);) {
    if (!modules_name_is_good(name))
      snprintf(why, sizeof why,
               "nodes names '%.60s'; a node has 1 to %u letters, digits, - and _, with blanks between nodes", name,
               NAME_BYTES - 1u);
    else if (names_node(rest, name))
      snprintf(why, sizeof why, "nodes names '%.60s' twice", name);
    else
      continue;
    complain(where, why, user);
  }
}

static void check_world_of_cluster(const world_settings *world, settings_complaint complain, void *user) {
  char where[WHERE_BYTES];
  name_world(world, where);
  check_nodes(world, complain, user);
  if (world->zone && world->virtual_clock)
    complain(where, "a zone follows the clock of its cluster; leave `virtual` out", user);
  if (world->zone && (world->agents > ZONE_AGENTS_MAX || world->agents_max > ZONE_AGENTS_MAX))
    complain(where, "a zone has room for 1,048,576 agents; make more zones", user);
}

static void check_name(const char *key, const char *name, settings_complaint complain, void *user) {
  char why[WORDS_BYTES];
  if (!*name || modules_name_is_good(name)) return;
  snprintf(why, sizeof why, "%s is '%.60s'; a name has 1 to %u letters, digits, - and _", key, name, NAME_BYTES - 1u);
  complain("", why, user);
}

static void check_secrets(const struct settings *settings, settings_complaint complain, void *user) {
  if (*settings->nats_user && !*settings->nats_password_file)
    complain("", "nats_user has no password; give `nats_password_file = FILE`", user);
  if (*settings->etcd_user && !*settings->etcd_password_file)
    complain("", "etcd_user has no password; give `etcd_password_file = FILE`", user);
  if (!*settings->cluster_certificate != !*settings->cluster_key)
    complain("", "give cluster_certificate and cluster_key, or neither of them", user);
}

void settings_check_cluster(const struct settings *settings, settings_complaint complain, void *user) {
  const server_list nats = list_nats(settings), etcd = list_etcd(settings);
  bool any = false;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    any = any || settings->worlds[i].zone;
    check_world_of_cluster(&settings->worlds[i], complain, user);
  }
  if (any && !*settings->cluster)
    complain("", "there are zones and no cluster; give `cluster = NAME` in [server], or leave out `zone`", user);
  if (!*settings->cluster) return;
  if (!any) complain("", "cluster is given and no world is a zone; add `zone = N` and `rectangle` to a world", user);
  if (!*settings->node) complain("", "a cluster needs `node = NAME`: what this daemon is called in it", user);
  if (!*settings->nats) complain("", "a cluster needs `nats = URLS`, such as tls://a:4222,tls://b:4222", user);
  if (!*settings->etcd) complain("", "a cluster needs `etcd = URLS`, such as https://a:2379,https://b:2379", user);
  check_name("cluster", settings->cluster, complain, user);
  check_name("node", settings->node, complain, user);
  check_servers(&nats, complain, user);
  check_servers(&etcd, complain, user);
  check_secrets(settings, complain, user);
  if (settings->isolation != ISOLATION_PROCESS) complain("", "zones need `isolation = process`", user);
  if (!*settings->snapshot_file || !settings->journal)
    complain("", "zones need a snapshot_file and `journal = yes`: an agent that has crossed must not come back", user);
  ground_check(settings, complain, user);
}

void settings_check_cluster_files(const struct settings *settings, settings_complaint complain, void *user) {
  static const char handed_out[] = "/run/credentials/";
  const struct {
    const char *key, *path;
  } files[] = {{"nats_password_file", settings->nats_password_file},
               {"etcd_password_file", settings->etcd_password_file},
               {"cluster_ca", settings->cluster_ca},
               {"cluster_certificate", settings->cluster_certificate},
               {"cluster_key", settings->cluster_key}};
  char why[PATH_BYTES + 64];
  if (!*settings->cluster) return;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const char *path = files[i].path;
    if (!*path || access(path, R_OK) == 0 || has_begin(path, handed_out)) continue;
    snprintf(why, sizeof why, "%s: %s", path, strerror(errno));
    complain(files[i].key, why, user);
  }
}

/* ----------------------------------------------------------------------------------------------------------- advice */

static void advise_on_servers(const server_list *list, const char *needed, settings_complaint tell, void *user) {
  char url[URLS_BYTES], why[WORDS_BYTES];
  uint32_t count = 0;
  for (const char *rest = list->text; next_server(&rest, url); count++) {
    const char *host = host_of(list, url);
    if (strstr(rest, url)) {
      snprintf(why, sizeof why, "%s names %.100s twice: a server counts once", list->key, url);
      tell("", why, user);
    }
    if (!host || !has_begin(url, list->plain) || names_loopback(host)) continue;
    snprintf(why, sizeof why, "%s: passwords and agents go to %.100s in the clear; use %s", list->key, url,
             list->encrypted);
    tell("", why, user);
  }
  if (count == 0 || count >= SERVERS_LEAST) return;
  snprintf(why, sizeof why, "%s names %u server%s: when one is gone, all zones stand still; with three, %s", list->key,
           count, count == 1 ? "" : "s", needed);
  tell("", why, user);
}

static void advise_on_nodes(const struct settings *settings, settings_complaint tell, void *user) {
  char where[WHERE_BYTES], name[NODES_BYTES], why[WORDS_BYTES];
  bool runs_any = false;
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    const char *rest = world->nodes;
    if (!world->zone) continue;
    bool one = next_node_name(&rest, name) && !rest[strspn(rest, " ")];
    runs_any = runs_any || !*world->nodes || names_node(world->nodes, settings->node);
    if (!one) continue;
    name_world(world, where);
    snprintf(why, sizeof why, "node %.31s alone may run it: nobody takes it over", name);
    tell(where, why, user);
  }
  if (runs_any || !*settings->node) return;
  snprintf(why, sizeof why, "node = %s, which no zone names in `nodes`: this daemon runs no zone", settings->node);
  tell("", why, user);
}

static void advise_on_ground(const struct settings *settings, settings_complaint tell, void *user) {
  char where[WHERE_BYTES], why[WORDS_BYTES];
  const world_settings *from, *unreached = ground_find_unreached(settings, &from);
  if (unreached) {
    name_world(unreached, where);
    snprintf(why, sizeof why,
             "nobody can walk there from [world %s]: on the way, zones are more than `border` = %g m apart", from->name,
             (double)settings->border_mm * 1e-3);
    tell(where, why, user);
  }
  if (settings->margin_mm < settings->border_mm || !settings->border_mm) return;
  snprintf(why, sizeof why, "margin = %g m is no less than border = %g m: who crosses has not been seen there before",
           (double)settings->margin_mm * 1e-3, (double)settings->border_mm * 1e-3);
  tell("", why, user);
}

void settings_advise(const struct settings *settings, settings_complaint tell, void *user) {
  const server_list nats = list_nats(settings), etcd = list_etcd(settings);
  if (!*settings->cluster) return;
  advise_on_servers(&nats, "two are enough", tell, user);
  advise_on_servers(&etcd, "two agree", tell, user);
  advise_on_nodes(settings, tell, user);
  advise_on_ground(settings, tell, user);
}

/* -------------------------------------------------------------------------------------------------------------- sum */

/* Of the server, what nodes agree by; of a zone, all but what is a machine's own matter. */
static bool is_shared(const settings_key *key) {
  static const char *const of_server[] = {"cluster", "lease_ttl", "journal_stream", "border", "margin", "ghost_hz"};
  static const char *const of_machine[] = {"path",       "budget",   "capacity",  "audit", "processors",
                                           "memory_max", "disk_max", "state_max", "zone"};
  const char *const *names = key->of_world ? of_machine : of_server;
  size_t count = key->of_world ? sizeof of_machine / sizeof *of_machine : sizeof of_server / sizeof *of_server;
  bool named = false;
  for (size_t i = 0; i < count; i++) named = named || strcmp(names[i], key->field.name) == 0;
  return named != key->of_world;
}

static uint64_t sum_text(const char *name, const void *value, size_t bytes) {
  return XXH3_64bits_withSeed(value, bytes, XXH3_64bits(name, strlen(name)));
}

/* Sums are added up, so that the order of keys and of sections is of no matter. */
static uint64_t sum_section(bool of_world, const void *section, const void *defaults) {
  const settings_key *key;
  uint64_t sum = 0;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    if (key->of_world != of_world || !is_shared(key) || settings_key_equal(key, section, defaults)) continue;
    const char *place = (const char *)section + key->field.offset;
    sum += sum_text(key->field.name, place, key->field.kind == FIELD_TEXT ? strlen(place) : field_bytes(&key->field));
  }
  return sum;
}

static uint64_t sum_zone(const world_settings *world, const world_settings *defaults) {
  uint64_t sum = sum_section(true, world, defaults);
  for (uint32_t i = 0; i < world->setting_count; i++) {
    const module_setting *setting = &world->settings[i];
    char name[NAME_BYTES + MODULE_KEY_BYTES];
    snprintf(name, sizeof name, "%s.%s", setting->instance, setting->name);
    sum += sum_text(name, setting->text, strlen(setting->text));
  }
  sum += sum_text("name", world->name, strlen(world->name));
  return XXH3_64bits_withSeed(&sum, sizeof sum, world->zone);
}

/* How many there are; which, may differ, where a node comes by leaf nodes. */
static uint64_t sum_servers(const server_list *list) {
  char url[URLS_BYTES];
  uint64_t count = 0;
  for (const char *rest = list->text; next_server(&rest, url);) count++;
  return sum_text(list->key, &count, sizeof count);
}

uint64_t settings_shared_sum(const struct settings *settings) {
  const server_list nats = list_nats(settings), etcd = list_etcd(settings);
  struct settings *defaults = malloc(sizeof *defaults);
  if (!defaults) return 0;
  settings_default(defaults);
  settings_default_world(&defaults->worlds[0]);
  uint64_t sum = sum_section(false, settings, defaults) + sum_servers(&nats) + sum_servers(&etcd);
  for (uint32_t i = 0; i < settings->world_count; i++)
    if (settings->worlds[i].zone) sum += sum_zone(&settings->worlds[i], &defaults->worlds[0]);
  free(defaults);
  return sum ? sum : 1;
}
