/* The known systems: the built-in ones, and the peers' libraries that were built because their packages were
 * installed. */
#include "builtin.h"
#include "engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct entry {
  const bench_system *builtin; /* or null: */
  const char *key, *name;
  const char *packages; /* null: this is the best of the entry before it */
};

/* In the order of the table's columns. */
static const struct entry entries[] = {
    {&system_muster, "muster", NULL, NULL},
    {&system_muster_unpinned, "unpinned", NULL, NULL},
    {NULL, "tbb", "oneTBB", "g++ libtbb-dev"},
    {NULL, "tbb-best", NULL, NULL},
    {NULL, "openmp", "OpenMP", "gcc libgomp1"},
    {NULL, "openmp-best", NULL, NULL},
    {NULL, "glib", "GLib's GThreadPool", "libglib2.0-dev"},
    {NULL, "glib-best", NULL, NULL},
    {NULL, "libuv", "libuv's uv_queue_work", "libuv1-dev"},
    {NULL, "libuv-best", NULL, NULL},
    {&system_futex, "futex", NULL, NULL},
    {&system_futex_pinned, "futex-pin", NULL, NULL},
    {&system_split, "split", NULL, NULL},
    {&system_alone, "alone", NULL, NULL},
};

enum { ENTRIES = sizeof entries / sizeof *entries };
_Static_assert((int)ENTRIES <= (int)BENCH_SYSTEMS_MAX, "every system has room");

static bool own_folder(char folder[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - sizeof "/bench");
  if (length <= 0) return false;
  folder[length] = '\0';
  char *slash = strrchr(folder, '/');
  if (!slash) return false;
  memcpy(slash, "/bench", sizeof "/bench");
  return true;
}

static const bench_system *load(const char *folder, const char *key, char *reason, size_t reason_bytes) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/peer_%s.so", folder, key);
  if (access(path, F_OK) != 0) {
    snprintf(reason, reason_bytes, "there is no %.200s", path);
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "bench_peer") : NULL;
  if (!symbol) {
    snprintf(reason, reason_bytes, "%s", dlerror());
    return NULL;
  }
  bench_peer_function peer;
  memcpy(&peer, &symbol, sizeof peer);
  const bench_system *system = peer();
  if (system->size == sizeof *system && strcmp(system->key, key) == 0) return system;
  snprintf(reason, reason_bytes, "%.200s is of another build", path);
  return NULL;
}

static void add(bench_systems *systems, const bench_system *system) {
  systems->present[systems->present_count++] = system;
}

/* A peer with its best, or why there is none. */
static void add_peer(bench_systems *systems, const struct entry *entry, const char *folder) {
  bench_absence *absence = &systems->absent[systems->absent_count];
  const bench_system *system = load(folder, entry->key, absence->reason, sizeof absence->reason);
  if (system) {
    add(systems, system);
    add(systems, system->best);
    return;
  }
  absence->key = entry->key;
  absence->best = entry[1].key;
  absence->name = entry->name;
  absence->packages = entry->packages;
  systems->absent_count++;
}

void bench_systems_find(bench_systems *systems, const char *folder) {
  char own[PATH_MAX] = "";
  *systems = (bench_systems){0};
  if (!folder) folder = own_folder(own) ? own : ".";
  for (uint32_t i = 0; i < ENTRIES; i++)
    if (entries[i].builtin)
      add(systems, entries[i].builtin);
    else if (entries[i].packages)
      add_peer(systems, &entries[i], folder);
}

const char *bench_system_key(uint32_t number) {
  return number < ENTRIES ? entries[number].key : NULL;
}

/* Whether `key` is a word of `list`. */
static bool lists(const char *list, const char *key) {
  size_t length = strlen(key);
  for (const char *at = list; (at = strstr(at, key)) != NULL; at += length)
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

static bool offers(const bench_system *system, bench_need need) {
  switch (need) {
  case BENCH_NEEDS_SUBMIT:
    return system->submit != NULL;
  case BENCH_NEEDS_RANGES:
    return system->parallel_for != NULL;
  case BENCH_NEEDS_COUNT:
    return system->count != NULL;
  case BENCH_NEEDS_TWO_LEVELS:
    return system->levels >= 2;
  case BENCH_NEEDS_LEVELS:
    return system->levels > 2;
  case BENCH_NEEDS_RANGES_AT_LEVELS:
    return system->levels >= 2 && system->submit_range_at != NULL;
  default:
    return true;
  }
}

bool bench_takes_part(const bench_system *system, const bench_measure *measure, uint32_t workers) {
  if (workers < measure->workers_min) return false;
  if (measure->muster_only && system != &system_muster) return false;
  if (system->only && !lists(system->only, measure->series[0].key)) return false;
  return offers(system, measure->need);
}
