/* A world whose process gets a processor, and loses it: frames follow, also in a record. */
#include "support/recording.h"

#include "pool/inside.h"
#include "world/world.h"

#include <muster/tune.h>

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>

enum { AGENTS = 3000, FRAMES_EACH = 15 };

static muster_atom_result toil(muster_update *update) {
  uint64_t *own = update->state;
  for (uint32_t i = 0; i < 2000; i++) *own = *own * 6364136223846793005u + 1;
  return MUSTER_ATOM_NEXT;
}

/* As `taskset -a` does: all threads of the process get these processors. */
static void give_processors(const cpu_set_t *given) {
  DIR *threads = opendir("/proc/self/task");
  for (const struct dirent *entry; (entry = readdir(threads)) != NULL;)
    if (atoi(entry->d_name) > 0) sched_setaffinity(atoi(entry->d_name), sizeof *given, given);
  closedir(threads);
}

static little_world create(uint32_t workers) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = AGENTS;
  little_world little = little_world_create(workers, &def);
  little.provokes_idle = true; /* frames are few, and learn what the machine has */
  return little;
}

static void begin(little_world *little) {
  const muster_atom atom = {toil, MUSTER_ROLE_BEHAVIOUR, 2000};
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = 8;
  type.period_ns = type.period_max_ns = FRAME_NS;
  register_type(little, &type);
}

static void run_noted(struct recorded *run, little_world *little) {
  store_relaxed_u64(&little->pool->looked_ns, 0); /* as if it were a second later */
  for (uint32_t i = 0; i < FRAMES_EACH; i++) recorded_note(run, little, run_frame_with(little, 3000000));
}

Test(processors, that_come_work_on_a_world_that_is_recorded, .timeout = 60) {
  static struct recorded run;
  cpu_set_t all, one;
  cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
  uint32_t processors = muster_available_processors(), first = 0;
  if (processors < 2) return; /* none can come */
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  give_processors(&one);

  little_world little = create(0);
  recorded_begin(&run, little.world);
  begin(&little);
  for (int i = 0; i < AGENTS; i++) spawn_at(&little, i);
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), 1);
  give_processors(&all);
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), processors);
  give_processors(&one);
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), 1);
  give_processors(&all);
  cr_assert_eq(muster_world_set_workers(little.world, 1), MUSTER_OK, "%s", muster_last_error());
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), 1, "no more than it asked for");
  cr_assert_eq(muster_world_set_workers(little.world, 0), MUSTER_OK, "%s", muster_last_error());
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), processors);
  recorded_end(&run, little.world);
  little_world_destroy(&little);

  little = create(3);
  recorded_replay(&run, little.world);
  begin(&little);
  for (uint32_t i = 0; i < run.frames; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(little.world), run.hashes[i], "frame %u", i + 1);
  }
  cr_assert_eq(muster_world_set_workers(little.world, 1), MUSTER_E_STATE);
  little_world_destroy(&little);
  recorded_forget(&run);
}
