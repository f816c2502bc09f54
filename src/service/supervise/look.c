#include "service/supervise/look.h"

#include "service/supervise/bounds.h"
#include "service/supervise/hearing.h"
#include "service/supervise/orders.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 1000, LOOKS_AT_FOLDERS = 2 };

static double in_mb(uint64_t bytes) {
  return (double)bytes * 1e-6;
}

static const world_settings *settings_of(const world_process *process) {
  return settings_find_world(process->all->settings, process->name);
}

/* Kills it when the folder and the files that have lost their names hold too much. */
static bool look_at_folder(world_process *process, const char *folder, uint64_t hidden_bytes) {
  char why[STUCK_BYTES];
  uint64_t bytes, most = settings_of(process)->disk_max;
  uint32_t files;
  if (!*folder) return false;
  if (!most) most = bounds_usual_disk(folder);
  bounds_read_folder(folder, &bytes, &files);
  if (files > FOLDER_FILES_MAX)
    snprintf(why, sizeof why, "it has more than %d files", FOLDER_FILES_MAX);
  else if (most && bytes + hidden_bytes > most)
    snprintf(why, sizeof why, "its files take %.4g MB of the disk, and disk_max is %.4g MB",
             in_mb(bytes + hidden_bytes), in_mb(most));
  else
    return false;
  process->stays_down = true;
  processes_kill(process, true, why);
  return true;
}

static void look_at_folders(world_process *process, uint64_t hidden_bytes) {
  const struct settings *settings = process->all->settings;
  char snapshots[PATH_BYTES] = "", flight[PATH_BYTES] = "", journals[PATH_BYTES], path[PATH_BYTES];
  orders_path(settings->snapshot_file, process->name, snapshots, path);
  orders_flight_path(settings, process->name, flight, path);
  orders_journals(settings, process->name, journals);
  if (look_at_folder(process, snapshots, hidden_bytes) || look_at_folder(process, journals, hidden_bytes)) return;
  if (strcmp(snapshots, flight) != 0) look_at_folder(process, flight, hidden_bytes);
}

static void look_at_world(world_process *process, bool folders) {
  char why[STUCK_BYTES];
  bounds_use use;
  uint64_t most = settings_of(process)->memory_max;
  if (!most) most = bounds_usual_memory();
  if (!bounds_read(process->process.pid, most, &use)) return;
  if (use.memory_bytes > most) {
    snprintf(why, sizeof why, "it uses %.4g MB of memory, and memory_max is %.4g MB", in_mb(use.memory_bytes),
             in_mb(most));
    processes_kill(process, true, why);
  } else if (use.copies > COPIES_MAX) {
    snprintf(why, sizeof why, "it has made %u copies of itself, and snapshots need %d", use.copies, COPIES_MAX);
    processes_kill(process, true, why);
  } else if (folders) {
    look_at_folders(process, use.hidden_bytes);
  }
}

static void look_at_worlds(uv_timer_t *timer) {
  struct processes *processes = timer->data;
  bool folders = processes->looks++ % LOOKS_AT_FOLDERS == 0;
  for (uint32_t i = 0; i < processes->count; i++) {
    world_process *process = &processes->worlds[i];
    if (!process->has_process || *process->stuck) continue;
    processes_hear_on(process);
    look_at_world(process, folders);
  }
}

void look_begin(struct processes *processes) {
  uv_timer_init(processes->loop, &processes->look);
  processes->look.data = processes;
  uv_timer_start(&processes->look, look_at_worlds, LOOK_MS, LOOK_MS);
}
