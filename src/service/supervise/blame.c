#include "service/supervise/blame.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

/* ------------------------------------------------------------------------------------------------------------ looks */

static bool read_line(const char *path, char line[LINE_BYTES]) {
  FILE *file = fopen(path, "re");
  bool read = file && fgets(line, LINE_BYTES, file);
  if (file) fclose(file);
  return read;
}

/* The state stands behind the name, which may hold anything. */
static char blame_state_of(pid_t process, const char *thread) {
  char path[320], line[LINE_BYTES];
  snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)process, thread);
  const char *end = read_line(path, line) ? strrchr(line, ')') : NULL;
  return end && end[1] ? end[2] : '?';
}

/* The time that a thread has computed for, and the time that it has waited for a processor. */
static void read_times(pid_t process, const char *thread, uint64_t *cpu_ns, uint64_t *waits_ns) {
  char path[320], line[LINE_BYTES];
  *cpu_ns = *waits_ns = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)process, thread);
  if (read_line(path, line)) sscanf(line, "%lu %lu", cpu_ns, waits_ns);
}

static void look_at_threads(pid_t process, blame_look *look) {
  for (uint32_t i = 0; i < look->count; i++) {
    blame_thread *thread = &look->threads[i];
    char name[24];
    uint64_t waits_ns;
    snprintf(name, sizeof name, "%lu", thread->place.line.kernel_thread);
    thread->state = blame_state_of(process, name);
    read_times(process, name, &thread->cpu_ns, &waits_ns);
  }
}

static void look_at_process(pid_t process, blame_look *look) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *threads = opendir(path);
  for (const struct dirent *thread; threads && (thread = readdir(threads)) != NULL;) {
    if (*thread->d_name == '.') continue;
    uint64_t cpu_ns, waits_ns;
    char state = blame_state_of(process, thread->d_name);
    read_times(process, thread->d_name, &cpu_ns, &waits_ns);
    look->stopped = look->stopped || state == 'T' || state == 't';
    look->cpu_ns += cpu_ns;
    look->waits_ns += waits_ns;
  }
  if (threads) closedir(threads);
}

static bool is_recorder_of(pid_t process, const char *bytes, size_t size) {
  uint64_t owner = 0;
  if (size >= sizeof(flight_head)) memcpy(&owner, bytes + offsetof(flight_head, process), sizeof owner);
  return owner == (uint64_t)process;
}

void blame_take_look(int file, pid_t process, uint64_t now_ns, blame_look *look) {
  flight_place places[FLIGHT_INSIDE_MAX];
  size_t size;
  *look = (blame_look){.time_ns = now_ns};
  void *bytes = file >= 0 ? flight_file_load(file, &size) : NULL;
  if (bytes && !is_recorder_of(process, bytes, size)) size = 0; /* an earlier one's: this process has none */
  if (bytes) look->count = flight_file_places(bytes, size, places, FLIGHT_INSIDE_MAX);
  if (bytes && size >= sizeof(flight_head)) {
    uint32_t function;
    memcpy(&function, (const char *)bytes + offsetof(flight_head, call.function), sizeof function);
    look->function = function < FLIGHT_FUNCTIONS ? function : FLIGHT_NO_FUNCTION;
  }
  free(bytes);
  for (uint32_t i = 0; i < look->count; i++) look->threads[i].place = places[i];
  look_at_threads(process, look);
  look_at_process(process, look);
}

/* ---------------------------------------------------------------------------------------------------------- verdict */

static bool sleeps(const blame_thread *thread) {
  return thread->state == 'S' || thread->state == 'D';
}

/* The same callback at an earlier look; null: it has begun since. */
static const blame_thread *same_before(const blame_look *before, const blame_thread *now) {
  for (uint32_t i = 0; i < before->count; i++) {
    const muster_flight_line *line = &before->threads[i].place.line, *wanted = &now->place.line;
    if (before->threads[i].place.offset == now->place.offset && line->agent == wanted->agent &&
        line->place == wanted->place && line->frame == wanted->frame && line->kernel_thread == wanted->kernel_thread)
      return &before->threads[i];
  }
  return NULL;
}

static bool find_computing(const blame_look *before, const blame_look *after, uint32_t *culprit) {
  uint64_t most_ns = (after->time_ns - before->time_ns) / 2;
  bool found = false;
  for (uint32_t i = 0; i < after->count; i++) {
    const blame_thread *then = same_before(before, &after->threads[i]);
    if (!then || after->threads[i].cpu_ns < then->cpu_ns || after->threads[i].cpu_ns - then->cpu_ns < most_ns) continue;
    most_ns = after->threads[i].cpu_ns - then->cpu_ns;
    *culprit = i;
    found = true;
  }
  return found;
}

/* Whether a callback computed whenever it could, and waited for a processor for a quarter of the time or more. */
static bool shares_processor(const blame_look *before, const blame_look *after) {
  uint64_t passed_ns = after->time_ns - before->time_ns;
  uint64_t waited_ns = after->waits_ns > before->waits_ns ? after->waits_ns - before->waits_ns : 0;
  for (uint32_t i = 0; i < after->count && waited_ns >= passed_ns / 4; i++) {
    const blame_thread *now = &after->threads[i], *then = same_before(before, now);
    uint64_t computed_ns = then && now->cpu_ns > then->cpu_ns ? now->cpu_ns - then->cpu_ns : 0;
    if (computed_ns && computed_ns + waited_ns >= passed_ns / 4 * 3) return true;
  }
  return false;
}

blame_verdict blame_judge(const blame_look *before, const blame_look *after, uint32_t *culprit) {
  if (after->stopped) return BLAME_STOPPED;
  if (find_computing(before, after, culprit)) return BLAME_COMPUTES;
  *culprit = 0;
  const blame_thread *alone = after->count == 1 && before->count == 1 ? &after->threads[0] : NULL;
  const blame_thread *then = alone ? same_before(before, alone) : NULL;
  bool function = !after->count && after->function && after->function == before->function;
  uint64_t half_ns = (after->time_ns - before->time_ns) / 2;
  if (function && after->cpu_ns >= before->cpu_ns + half_ns) return BLAME_FUNCTION;
  if (after->waits_ns > before->waits_ns + half_ns || shares_processor(before, after)) return BLAME_STARVED;
  if (then && sleeps(alone) && sleeps(then)) return BLAME_BLOCKS;
  return function ? BLAME_FUNCTION : BLAME_NOBODY;
}

/* ------------------------------------------------------------------------------------------------------------- file */

static bool put(int file, const void *value, size_t bytes, uint64_t offset) {
  return pwrite(file, value, bytes, (off_t)offset) == (ssize_t)bytes;
}

bool blame_mark(int file, const blame_look *look, blame_verdict verdict, uint32_t culprit) {
  const uint64_t number = SIGKILL;
  const uint32_t number_of_head = SIGKILL, hit = 1;
  if (file < 0) return false;
  if (verdict == BLAME_COMPUTES || verdict == BLAME_BLOCKS)
    return put(file, &number, sizeof number,
               look->threads[culprit].place.offset + offsetof(muster_flight_line, signal));
  return verdict == BLAME_FUNCTION &&
         put(file, &number_of_head, sizeof number_of_head, offsetof(flight_head, signal)) &&
         put(file, &hit, sizeof hit, offsetof(flight_head, call.hit)) &&
         put(file, &hit, sizeof hit, offsetof(flight_head, request.hit));
}

void blame_read_culprit(int file, pid_t process, char *text, size_t bytes) {
  flight_report report;
  flight_counts *counts = malloc(sizeof *counts);
  size_t size;
  void *read = counts && file >= 0 ? flight_file_load(file, &size) : NULL;
  *text = '\0';
  if (read && flight_file_read(read, size, &report, counts, NULL) == MUSTER_OK && !report.clean &&
      report.process == (uint64_t)process) {
    if (report.call.function)
      snprintf(text, bytes, "in %s of module %s", flight_function_name(report.call.function), report.call.module);
    else if (report.culprit_count)
      flight_describe(&report.inside[0], text, bytes);
  }
  free(read);
  free(counts);
}
