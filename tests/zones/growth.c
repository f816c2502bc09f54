#include "growth.h"

#include "base/clock.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

enum { SAMPLES_MAX = 4096, PAIRED_MAX = 400 /* samples of which all pairs are looked at */ };

static const double least_part = 1.0 / 8, warm_part = 0.25;

/* What is sampled; by how much it may grow, and in which unit it is printed. */
static const struct {
  const char *name, *unit;
  double least, scale;
} series[GROWTH_SERIES] = {
    {"memory of daemons", "MB", 4e6, 1e-6}, {"memory of NATS", "MB", 4e6, 1e-6}, {"memory of etcd", "MB", 4e6, 1e-6},
    {"files of daemons", "MB", 4e6, 1e-6},  {"files of NATS", "MB", 4e6, 1e-6},  {"files of etcd", "MB", 4e6, 1e-6},
    {"open in daemons", "files", 20, 1},
};

typedef struct growth_point {
  double at_s, values[GROWTH_SERIES];
} growth_point;

struct growth {
  uint32_t count;
  growth_point points[SAMPLES_MAX];
};

growth *growth_open(void) {
  growth *sizes = calloc(1, sizeof *sizes);
  cr_assert_not_null(sizes);
  return sizes;
}

void growth_close(growth *sizes) {
  free(sizes);
}

/* ---------------------------------------------------------------------------------------------------------- looking */

/* What a process has in memory, in bytes; one that is gone has nothing. */
static double memory_of(pid_t process) {
  unsigned long pages = 0;
  FILE *file = process > 0 ? fopen(formed("/proc/%d/statm", process), "re") : NULL;
  if (!file) return 0;
  if (fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_files_of(pid_t process) {
  double count = 0;
  DIR *folder = process > 0 ? opendir(formed("/proc/%d/fd", process)) : NULL;
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

/* Of a process and its children. */
static double sum_of_processes(pid_t process, double (*figure)(pid_t process)) {
  int child;
  double sum = figure(process);
  FILE *file = process > 0 ? fopen(formed("/proc/%d/task/%d/children", process, process), "re") : NULL;
  while (file && fscanf(file, "%d", &child) == 1) sum += figure(child);
  if (file) fclose(file);
  return sum;
}

/* Whether a file does not count: a log, or a segment of its own log that etcd has made in advance. A server has one or
 * two of these, of 64 MB, which hold nothing: what a killed server had made stays until the next one takes its name. */
static bool is_left_out(const char *path, const char *name) {
  const char *folder = strrchr(path, '/'), *end = strrchr(name, '.');
  return strcmp(name, "log") == 0 || (folder && end && strcmp(folder, "/wal") == 0 && strcmp(end, ".tmp") == 0);
}

/* What a folder takes on the disk. */
static double files_in(const char *path) {
  char name[512];
  struct stat status;
  double sum = 0;
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || is_left_out(path, entry->d_name))
      continue;
    if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name || lstat(name, &status)) continue;
    sum += S_ISDIR(status.st_mode) ? files_in(name) : (double)status.st_blocks * 512;
  }
  if (folder) closedir(folder);
  return sum;
}

void growth_note(growth *sizes, double at_s, const double values[GROWTH_SERIES]) {
  if (sizes->count == SAMPLES_MAX) { /* every other one stays */
    for (uint32_t i = 0; i < SAMPLES_MAX / 2; i++) sizes->points[i] = sizes->points[2 * i];
    sizes->count = SAMPLES_MAX / 2;
  }
  growth_point *point = &sizes->points[sizes->count++];
  point->at_s = at_s;
  memcpy(point->values, values, sizeof point->values);
}

void growth_sample(growth *sizes, const land *all) {
  const uint32_t counts[] = {all->options.brokers.nats, all->options.brokers.etcd};
  double at_s = (double)clock_system() * 1e-9, values[GROWTH_SERIES] = {0};
  if (sizes->count && at_s - sizes->points[sizes->count - 1].at_s < GROWTH_GAP_S) return;
  for (uint32_t i = 0; i < all->node_count; i++) {
    values[0] += sum_of_processes(all->nodes[i].process, memory_of);
    values[3] += files_in(all->nodes[i].folder);
    values[6] += sum_of_processes(all->nodes[i].process, open_files_of);
  }
  for (brokers_kind kind = BROKERS_NATS; kind <= BROKERS_ETCD; kind++)
    for (uint32_t i = 0; i < counts[kind]; i++) {
      values[1 + kind] += memory_of(brokers_process(all->brokers, kind, i));
      values[4 + kind] += files_in(brokers_folder(all->brokers, kind, i));
    }
  growth_note(sizes, at_s, values);
}

/* ---------------------------------------------------------------------------------------------------------- judging */

/* The median of the slopes between all pairs, in bytes a second. */
static double slope_of(const growth_point *points, uint32_t count, uint32_t which) {
  static double slopes[PAIRED_MAX * PAIRED_MAX / 2];
  uint32_t step = (count + PAIRED_MAX - 1) / PAIRED_MAX;
  size_t pairs = 0;
  if (count < 2) return 0;
  for (uint32_t i = 0; i < count; i += step)
    for (uint32_t j = i + step; j < count; j += step)
      slopes[pairs++] = (points[j].values[which] - points[i].values[which]) / (points[j].at_s - points[i].at_s);
  return median_of(slopes, pairs);
}

static bool judge_series(const growth_point *points, uint32_t count, double watched_s, uint32_t which, FILE *out) {
  static double values[SAMPLES_MAX];
  for (uint32_t i = 0; i < count; i++) values[i] = points[i].values[which];
  double middle = median_of(values, count), grown = slope_of(points, count, which) * watched_s;
  double most = fmax(series[which].least, middle * least_part), scale = series[which].scale;
  bool holds = grown <= most;
  fprintf(out, "%-18s %8.1f %s, %+7.2f in %.0f s, at most %.1f%s\n", series[which].name, middle * scale,
          series[which].unit, grown * scale, watched_s, most * scale, holds ? "" : ": IT GROWS");
  return holds;
}

bool growth_judge(const growth *sizes, FILE *out) {
  if (sizes->count < 2) return true;
  const growth_point *end = &sizes->points[sizes->count - 1];
  double begin_s = sizes->points[0].at_s, warm_s = begin_s + (end->at_s - begin_s) * warm_part;
  uint32_t first = 0;
  while (sizes->points[first].at_s < warm_s) first++;
  const growth_point *points = &sizes->points[first];
  double watched_s = end->at_s - points->at_s;
  bool holds = true;
  for (uint32_t i = 0; i < GROWTH_SERIES; i++) holds &= judge_series(points, sizes->count - first, watched_s, i, out);
  if (watched_s < GROWTH_LEAST_S) fprintf(out, "that is too short to be judged\n");
  return holds || watched_s < GROWTH_LEAST_S;
}
