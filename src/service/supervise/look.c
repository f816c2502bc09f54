#include "service/supervise/look.h"

#include "service/log.h"
#include "service/supervise/bounds.h"
#include "service/supervise/hearing.h"
#include "service/supervise/orders.h"
#include "service/supervise/own_files.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 1000, LOOKS_AT_FOLDERS = 2 };

static double in_mb(uint64_t bytes) {
  return (double)bytes * 1e-6;
}

static const world_settings *settings_of(const world_process *process) {
  return settings_find_world(process->all->settings, process->name);
}

static uint64_t or_usual(uint64_t most, const char *folder) {
  return most ? most : bounds_usual_disk(folder);
}

/* What is for people goes until the rest fits. What the world goes on from stays, however much that is. Returns by how
 * much it is too much then. */
static uint64_t keep_own_within(world_process *process, const char *folder, const own_names *names, own_use *use) {
  uint64_t most = or_usual(settings_of(process)->state_max, folder);
  char removed[OWN_NAME_BYTES];
  while (use->kept_bytes && use->needed_bytes + use->kept_bytes > most &&
         own_files_remove_oldest(folder, names, removed)) {
    log_line(MUSTER_LOG_WARNING,
             "world %s: %s/%s is removed: Muster's own files take %.4g MB, and state_max is %.4g MB", process->name,
             folder, removed, in_mb(use->needed_bytes + use->kept_bytes), in_mb(most));
    own_files_read(folder, names, FOLDER_FILES_MAX, use);
  }
  if (use->needed_bytes <= most) return 0;
  if (!process->exceeds)
    log_line(MUSTER_LOG_WARNING,
             "world %s: what it goes on from takes %.4g MB in %s, and state_max is %.4g MB: nothing of it is removed",
             process->name, in_mb(use->needed_bytes), folder, in_mb(most));
  process->exceeds = true;
  return use->needed_bytes - most;
}

/* Kills it when what its module has in the folder, and in files that have lost their names, is too much. A module can
 * give its files names of Muster's: what is beyond state_max has to fit in disk_max, too. */
static bool look_at_folder(world_process *process, const char *folder, const own_names *names, uint64_t hidden_bytes) {
  char why[STUCK_BYTES];
  own_use use;
  if (!*folder) return false;
  own_files_read(folder, names, FOLDER_FILES_MAX, &use);
  uint64_t most = or_usual(settings_of(process)->disk_max, folder);
  uint64_t bytes = use.other_bytes + hidden_bytes + keep_own_within(process, folder, names, &use);
  if (use.files > FOLDER_FILES_MAX)
    snprintf(why, sizeof why, "it has more than %d files", FOLDER_FILES_MAX);
  else if (most && bytes > most)
    snprintf(why, sizeof why, "its files take %.4g MB of the disk, and disk_max is %.4g MB", in_mb(bytes), in_mb(most));
  else
    return false;
  process->stays_down = true;
  processes_kill(process, true, why);
  return true;
}

static void look_at_folders(world_process *process, uint64_t hidden_bytes) {
  own_names names;
  const struct settings *settings = process->all->settings;
  char snapshots[PATH_BYTES] = "", flight[PATH_BYTES] = "", journals[PATH_BYTES], path[PATH_BYTES];
  orders_path(settings->snapshot_file, process->name, snapshots, path);
  orders_flight_path(settings, process->name, flight, path);
  orders_journals(settings, process->name, journals);
  own_files_name(settings, process->name, &names);
  if (look_at_folder(process, snapshots, &names, hidden_bytes)) return;
  if (look_at_folder(process, journals, &names, hidden_bytes)) return;
  if (strcmp(snapshots, flight) != 0) look_at_folder(process, flight, &names, hidden_bytes);
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
