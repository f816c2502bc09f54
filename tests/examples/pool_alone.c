/* The worker pool without a world: projectiles move in a range, while a path is searched in a job.
 *
 *     cc pool_alone.c $(pkg-config --cflags --libs muster)
 *     ./a.out
 */
#include <muster/jobs.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROJECTILES = 10000 };

struct path_request {
  int from, to, steps;
};

static void find_path(void *argument, uint32_t worker) {
  struct path_request *request = argument;
  (void)worker;
  request->steps = abs(request->to - request->from);
}

static void move_projectiles(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  float *metres = argument;
  (void)worker;
  for (uint64_t i = begin; i < end; i++) metres[i] += 0.5f;
}

static bool run(muster_pool *pool) {
  static float metres[PROJECTILES];
  struct path_request request = {3, 45, 0};
  muster_group group;
  muster_group_init(&group, pool);
  muster_result result = muster_job_submit(pool, MUSTER_URGENCY_NORMAL, find_path, &request, &group);
  if (result == MUSTER_OK)
    result = muster_parallel_for(pool, MUSTER_URGENCY_HIGH, PROJECTILES, 64, move_projectiles, metres);
  muster_group_wait(&group);
  if (result != MUSTER_OK) return false;
  printf("%d steps, and projectile %d is at %.1f m\n", request.steps, PROJECTILES - 1, (double)metres[PROJECTILES - 1]);
  return true;
}

int main(void) {
  muster_pool_def def = muster_pool_def_default();
  muster_pool *pool = muster_pool_create(&def);
  bool done = pool && run(pool);
  if (!done) fprintf(stderr, "pool_alone: %s\n", muster_last_error());
  muster_pool_destroy(pool);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
