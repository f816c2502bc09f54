/* The known systems: the built-in ones, and the peers' libraries that were built because their packages were
 * installed. */
#include "builtin.h"
#include "engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct entry {
  const char *key, *name;
  const bench_system *builtin; /* or null: */
  const char *packages;        /* null: this is the best of the entry before it */
};

/* In the order of the table's columns. */
static const struct entry entries[] = {
    {"muster", .builtin = &system_muster},
    {"unpinned", .builtin = &system_muster_unpinned},
    {"tbb", "oneTBB", .packages = "g++ libtbb-dev"},
    {.key = "tbb-best"},
    {"openmp", "OpenMP", .packages = "gcc libgomp1"},
    {.key = "openmp-best"},
    {"glib", "GLib's GThreadPool", .packages = "libglib2.0-dev"},
    {.key = "glib-best"},
    {"libuv", "libuv's uv_queue_work", .packages = "libuv1-dev"},
    {.key = "libuv-best"},
    {"futex", .builtin = &system_futex},
    {"futex-pin", .builtin = &system_futex_pinned},
    {"split", .builtin = &system_split},
    {"alone", .builtin = &system_alone},
};

enum { ENTRIES = sizeof entries / sizeof *entries };
_Static_assert((int)ENTRIES <= (int)BENCH_SYSTEMS_MAX, "every system has room");

bool bench_own_folder(char folder[PATH_MAX]) {
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
  static bench_system bests[ENTRIES];
  bench_absence *absence = &systems->absent[systems->absent_count];
  const bench_system *system = load(folder, entry->key, absence->reason, sizeof absence->reason);
  if (system) {
    bench_system *best = &bests[entry - entries];
    *best = *system;
    best->key = entry[1].key;
    best->create = system->create_best;
    best->convention = system->best_convention;
    if (system->best_name) best->name = system->best_name;
    add(systems, system);
    add(systems, best);
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
  if (!folder) folder = bench_own_folder(own) ? own : ".";
  for (uint32_t i = 0; i < ENTRIES; i++)
    if (entries[i].builtin)
      add(systems, entries[i].builtin);
    else if (entries[i].packages)
      add_peer(systems, &entries[i], folder);
}

const char *bench_system_key(uint32_t number) {
  return number < ENTRIES ? entries[number].key : NULL;
}

static bool offers(const bench_system *system, bench_need need) {
  switch (need) {
  case BENCH_NEEDS_NOTHING:
    return system == &system_muster;
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
  default:
    return system->levels >= 2 && system->submit_range_at != NULL;
  }
}

bool bench_takes_part(const bench_system *system, const bench_measure *measure, uint32_t workers) {
  if (workers < measure->workers_min) return false;
  bool wanted = !system->only[0];
  for (uint32_t i = 0; i < 2 && system->only[i]; i++) wanted |= strcmp(system->only[i], measure->series->key) == 0;
  return wanted && offers(system, measure->need);
}
