/* What is wrong with the settings of a cluster, what is hardly meant, and what all nodes must agree on. */
#include "complaints.h"
#include "service/settings_cluster.h"
#include "service/settings_file.h"
#include "service/settings_keys.h"

#define SERVERS "nats = tls://a:4222,tls://b:4222,tls://c:4222\netcd = https://a:2379,https://b:2379,https://c:2379\n"
#define SERVER  "[server]\ncluster = land\nnode = north\nsnapshot_file = /s\n"
#define LAND    SERVER SERVERS
#define WEST    ZONE("west", "1", "0 0 100 100") "nodes = north south\n"
#define EAST    ZONE("east", "2", "100 0 200 100") "nodes = south north\n"

#define ZONE(NAME, NUMBER, RECTANGLE) "[world " NAME "]\nmodule = m\nzone = " NUMBER "\nrectangle = " RECTANGLE "\n"

static struct settings settings;
static complaints all;

static void read_cluster(const char *text) {
  all = (complaints){0};
  settings_default(&settings);
  settings_read_text(&settings, "test.conf", text, strlen(text), complaints_add, &all);
  settings_check(&settings, all.count > 0, complaints_add, &all);
}

typedef struct found_text {
  const char *text, *says;
} found_text;

Test(cluster_settings, what_zones_cannot_run_with_is_told) {
  static const found_text mistakes[] = {
      {LAND WEST ZONE("east", "1", "100 0 200 100"), "[world east]: zone is 1, which is [world west]"},
      {LAND WEST ZONE("east", "2", "99 0 200 100"), "[world east]: its rectangle overlaps that of [world west]"},
      {LAND WEST ZONE("east", "2", "200 0 100 100"), "[world east]: give four numbers of metres"},
      {LAND WEST "[world east]\nmodule = m\nzone = 16384\n", "give a whole number from 0 to 16383"},
      {LAND WEST "[world east]\nmodule = m\nnodes = north\n", "[world east]: it has nodes and is no zone"},
      {LAND ZONE("west", "1", "0 0 1 1") "nodes = north, south\n", "[world west]: nodes names 'north,'"},
      {LAND ZONE("west", "1", "0 0 1 1") "nodes = north south north\n", "[world west]: nodes names 'north' twice"},
      {LAND ZONE("west", "1", "0 0 1 1") "virtual = yes\n", "[world west]: a zone follows the clock of its cluster"},
      {LAND ZONE("west", "1", "0 0 1 1") "agents_max = 1048577\n",
       "[world west]: a zone has room for 1,048,576 agents"},
      {LAND "lease_ttl = 14s\n" WEST, "lease_ttl is '14s'; give a duration from 15 s to 3600 s"},
      {SERVER "nats = a:4222,tls://b:4222\netcd = https://a:2379\n" WEST, "nats names 'a:4222'; give tls://HOST:PORT"},
      {SERVER "nats = tls://a\netcd = https://a:2379\n" WEST, "nats names 'tls://a'"},
      {SERVER "nats = tls://a:4222\netcd = https://a:2379 http://:2379\n" WEST, "etcd names 'http://:2379'"},
      {SERVER "nats = tls://a:4222\netcd = https://a:99999\n" WEST, "etcd names 'https://a:99999'"},
      {SERVER "nats = tls://a:4222\netcd = tls://a:2379\n" WEST, "give https://HOST:PORT or http://HOST:PORT"},
      {SERVER "nats = tls://a:1,tls://a:2,tls://a:3,tls://a:4,tls://a:5,tls://a:6,tls://a:7,tls://a:8\n"
              "etcd = https://a:2379\n" WEST,
       "nats names 8 servers; at most 7"},
      {LAND "nats_user = muster\n" WEST, "nats_user has no password"},
      {LAND "etcd_user = muster\n" WEST, "etcd_user has no password"},
      {LAND "cluster_certificate = /c\n" WEST, "give cluster_certificate and cluster_key, or neither"},
      {LAND "cluster_key = /k\n" WEST, "give cluster_certificate and cluster_key, or neither"},
      {LAND "isolation = none\n" WEST, "zones need `isolation = process`"},
      {LAND "journal = no\n" WEST, "zones need a snapshot_file and `journal = yes`"},
      {"[server]\ncluster = land\nnode = no.th\nsnapshot_file = /s\n" SERVERS WEST, "node is 'no.th'; a name has"},
      {"[server]\ncluster = a b\nnode = north\nsnapshot_file = /s\n" SERVERS WEST, "cluster is 'a b'; a name has"},
      {SERVER "etcd = https://a:2379\n" WEST, "a cluster needs `nats = URLS`"},
      {SERVER "nats = tls://a:4222\n" WEST, "a cluster needs `etcd = URLS`"},
      {"[server]\ncluster = land\nsnapshot_file = /s\n" SERVERS WEST, "a cluster needs `node = NAME`"},
      {LAND "[world west]\nmodule = m\n", "cluster is given and no world is a zone"},
      {"[server]\nsnapshot_file = /s\n" WEST, "there are zones and no cluster"},
  };
  for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
    read_cluster(mistakes[i].text);
    complaints_expect(&all, mistakes[i].says);
  }
}

Test(cluster_settings, what_is_hardly_meant_is_told_and_no_mistake) {
  static const found_text unwise[] = {
      {SERVER "nats = tls://a:4222\netcd = https://a:1,https://b:1,https://c:1\n" WEST EAST,
       "nats names 1 server: when one is gone, all zones stand still"},
      {SERVER "nats = tls://a:1,tls://b:1,tls://c:1\netcd = https://a:1,https://b:1\n" WEST EAST,
       "etcd names 2 servers: when one is gone, all zones stand still"},
      {SERVER "nats = tls://a:1,tls://b:1,nats://c:1\netcd = https://a:1,https://b:1,https://c:1\n" WEST EAST,
       "nats: passwords and agents go to nats://c:1 in the clear; use tls://"},
      {SERVER
       "nats = tls://a:1,tls://b:1,tls://c:1\netcd = http://127.0.0.1:1,http://10.0.0.1:1,http://[::1]:1\n" WEST EAST,
       "etcd: passwords and agents go to http://10.0.0.1:1 in the clear; use https://"},
      {SERVER "nats = tls://a:1,tls://b:1,tls://a:1\netcd = https://a:1,https://b:1,https://c:1\n" WEST EAST,
       "nats names tls://a:1 twice"},
      {LAND WEST ZONE("east", "2", "151 0 200 100"),
       "[world east]: nobody can walk there from [world west]: on the way, zones are more than `border` = 50 m apart"},
      {LAND "border = 10\n" WEST ZONE("east", "2", "107 109 200 200"),
       "[world east]: nobody can walk there from [world west]"},
      {LAND WEST ZONE("east", "2", "100 0 200 100") "nodes = south\n", "[world east]: node south alone may run it"},
      {LAND ZONE("west", "1", "0 0 100 100") "nodes = northern south\n",
       "node = north, which no zone names in `nodes`: this daemon runs no zone"},
      {LAND "margin = 50\n" WEST EAST, "margin = 50 m is no less than border = 50 m"},
  };
  for (size_t i = 0; i < COUNT_OF(unwise); i++) {
    read_cluster(unwise[i].text);
    complaints_expect_none(&all);
    settings_advise(&settings, complaints_add, &all);
    complaints_expect(&all, unwise[i].says);
  }
}

Test(cluster_settings, what_is_well_meant_is_not_told) {
  static const char *const texts[] = {
      LAND WEST EAST,
      LAND WEST ZONE("east", "2", "150 0 200 100"),     /* just near enough */
      LAND WEST ZONE("east", "2", "100 100 200 200"),   /* at a corner */
      LAND ZONE("far", "3", "200 0 300 100") WEST EAST, /* over another */
      SERVER "nats = nats://127.0.0.1:1,nats://localhost:2,nats://[::1]:3\n"
             "etcd = http://127.0.1.1:1/ , http://127.0.1.2:1,http://127.0.1.3:1\n" WEST EAST,
      "[world alone]\nmodule = m\n",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    read_cluster(texts[i]);
    settings_advise(&settings, complaints_add, &all);
    complaints_expect_none(&all);
  }
}

Test(cluster_settings, files_that_cannot_be_read_are_told_but_not_those_that_are_handed_out) {
  read_cluster(LAND "cluster_ca = /nowhere/ca.pem\ncluster_certificate = /run/credentials/x/node.pem\n"
                    "cluster_key = /dev/null\n" WEST EAST);
  complaints_expect_none(&all);
  settings_check_cluster_files(&settings, complaints_add, &all);
  complaints_expect(&all, "cluster_ca: /nowhere/ca.pem: No such file or directory");
  read_cluster("[server]\ncluster_ca = /nowhere/ca.pem\n[world alone]\nmodule = m\n");
  settings_check_cluster_files(&settings, complaints_add, &all);
  complaints_expect_none(&all);
}

static uint64_t sum_of(const char *text) {
  read_cluster(text);
  complaints_expect_none(&all);
  return settings_shared_sum(&settings);
}

Test(cluster_settings, have_one_sum_where_nodes_may_differ) {
  static const char *const alike[] = {
      LAND EAST WEST,
      SERVER "nats = tls://x:1,tls://y:1,tls://z:1\netcd = https://a:1,https://b:1,https://c:1\n" WEST EAST,
      "[server]\ncluster = land\nnode = south\nsnapshot_file = /elsewhere\nworkers = 3\nlisten = 127.0.0.1:1\n" SERVERS
          WEST EAST,
      LAND "lease_ttl = 15s\nborder = 50\njournal_stream = no\n" WEST "hz = 30\nseed = 1\n" EAST,
      LAND "[world other]\nmodule = m\n" WEST "budget = 3ms\nprocessors = 2\nmemory_max = 1000000\n" EAST,
  };
  uint64_t sum = sum_of(LAND WEST EAST);
  cr_expect_neq(sum, 0);
  for (size_t i = 0; i < COUNT_OF(alike); i++) cr_expect_eq(sum_of(alike[i]), sum, "%s", alike[i]);
}

Test(cluster_settings, have_another_sum_where_nodes_must_not_differ) {
  static const char *const others[] = {
      LAND WEST,
      SERVER "nats = tls://a:4222,tls://b:4222\netcd = https://a:2379,https://b:2379,https://c:2379\n" WEST EAST,
      LAND "lease_ttl = 16s\n" WEST EAST,
      LAND "journal_stream = yes\n" WEST EAST,
      LAND "border = 51\n" WEST EAST,
      LAND "margin = 3\n" WEST EAST,
      LAND "ghost_hz = 6\n" WEST EAST,
      LAND WEST "module.speed = 2\n" EAST,
      LAND WEST "hz = 20\n" EAST,
      LAND WEST "agents = 5\n" EAST,
      LAND EAST "[world west]\nmodule = n\nzone = 1\nrectangle = 0 0 100 100\nnodes = north south\n",
      LAND EAST ZONE("west", "1", "0 0 100 99") "nodes = north south\n",
      LAND EAST ZONE("west", "1", "0 0 100 100") "nodes = south north\n",
      LAND EAST ZONE("west", "3", "0 0 100 100") "nodes = north south\n",
      LAND EAST ZONE("best", "1", "0 0 100 100") "nodes = north south\n",
      LAND ZONE("west", "2", "0 0 100 100") "nodes = north south\n" ZONE("east", "1",
                                                                         "100 0 200 100") "nodes = south north\n",
  };
  uint64_t sum = sum_of(LAND WEST EAST);
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    uint64_t other = sum_of(others[i]);
    cr_expect_neq(other, sum, "%s", others[i]);
    for (size_t j = 0; j < i; j++) cr_expect_neq(other, sum_of(others[j]), "%s", others[i]);
  }
}

static bool is_of_cluster(const settings_key *key, bool *between) {
  static const char *const of_zones[] = {"zone", "rectangle", "nodes"};
  if (!key->of_world && strcmp(key->field.name, "cluster") == 0) *between = true;
  bool is = !key->of_world && *between;
  if (!key->of_world && strcmp(key->field.name, "ghost_hz") == 0) *between = false;
  for (size_t i = 0; i < COUNT_OF(of_zones); i++)
    is = is || (key->of_world && strcmp(key->field.name, of_zones[i]) == 0);
  return is;
}

/* What is shipped must be good and wise, and tell of every key of a cluster. */
Test(cluster_settings, that_are_shipped_are_good_and_name_every_key_of_a_cluster) {
  static char text[16384];
  bool between = false;
  uint32_t count = 0;
  read_shipped("cluster.conf", text, sizeof text);
  read_cluster(text);
  settings_check_cluster_files(&settings, complaints_add, &all);
  settings_advise(&settings, complaints_add, &all);
  complaints_expect_none(&all);
  const settings_key *key;
  for (uint32_t i = 0; (key = settings_key_at(i)) != NULL; i++) {
    if (!is_of_cluster(key, &between)) continue;
    bool shown = strstr(text, formed("\n%s =", key->field.name)) != NULL;
    cr_expect(shown || strstr(text, formed("\n# %s =", key->field.name)), "it does not tell of %s", key->field.name);
    count++;
  }
  cr_expect_eq(count, 20, "%u", count);
}
