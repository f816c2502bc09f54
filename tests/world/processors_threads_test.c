/* A world whose process gets a processor, and loses it: frames follow, also in a record. */
#include "pool/inside.h"
#include "world/fixture.h"

#include <dirent.h>
#include <sched.h>

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
  little_world little = little_world_of(workers, WITH(muster_world_def, it.limits.agents_max = AGENTS));
  little.provokes_idle = true; /* frames are few, and learn what the machine has */
  return little;
}

static void begin(little_world *little) {
  add_type(little, CHANGED(type_running(toil, 2000), it.state_bytes = 8, it.period_ns = it.period_max_ns = FRAME_NS));
}

static void run_noted(struct recorded *run, little_world *little) {
  store_relaxed_u64(&little->pool->looked_ns, 0); /* as if it were a second later */
  for (uint32_t i = 0; i < FRAMES_EACH; i++) recorded_note(run, little, run_frame_with(little, 3000000));
}

Test(processors, that_come_work_on_a_world_that_is_recorded, .timeout = 60) {
  SCOPED(recorded_forget) struct recorded run = {0};
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
  assert_ok(muster_world_set_workers(little.world, 1));
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), 1, "no more than it asked for");
  assert_ok(muster_world_set_workers(little.world, 0));
  run_noted(&run, &little);
  cr_assert_eq(muster_world_workers(little.world), processors);
  recorded_end(&run, little.world);
  little_world_destroy(&little);

  little = create(3);
  recorded_replay(&run, little.world);
  begin(&little);
  replay_alike(&run, &little);
  cr_assert_eq(muster_world_set_workers(little.world, 1), MUSTER_E_STATE);
  little_world_destroy(&little);
}
