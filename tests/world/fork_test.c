/* A host that forks without exec: the child has the memory of worlds and pools, and none of their threads. */
#include "support/await.h"
#include "world/fixture.h"

#include <signal.h>
#include <sys/wait.h>

enum { HUNG = 1000 }; /* what `status_of` gives for a child that does not end */

/* How a child ends: its status; -signal; HUNG. */
static int status_of(pid_t child) {
  int status = 0;
  for (int i = 0; i < 2000; i++) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return HUNG;
}

static muster_pool *pool_of_three(void) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = 3);
  muster_pool *pool = muster_pool_create(&def);
  cr_assert_not_null(pool);
  return pool;
}

Test(fork, a_child_may_destroy_world_and_pool, .timeout = 60) {
  SCOPED_WORLD little = typed_world(3, WITH(muster_world_def, it.watch.stuck_ns = 1000000000u /* a thread more */),
                                    type_running(nothing, 1000));
  for (int i = 0; i < 500; i++) spawn_at(&little, i);
  run_frames(&little, 20);
  pid_t child = fork();
  if (child == 0) {
    bool same = run_frame(&little).agents == 500;
    little_world_destroy(&little);
    _exit(same ? 7 : 8);
  }
  cr_assert_eq(status_of(child), 7);
  run_frames(&little, 20); /* the parent has its threads */
}

static void count(void *argument, uint32_t worker) {
  (void)worker;
  __atomic_fetch_add((int *)argument, 1, __ATOMIC_SEQ_CST);
}

Test(fork, a_child_runs_the_jobs_that_it_waits_for, .timeout = 60) {
  muster_pool *pool = pool_of_three();
  pid_t child = fork();
  if (child == 0) {
    int ran = 0;
    muster_group group;
    muster_group_init(&group, pool);
    for (int i = 0; i < 100; i++)
      if (muster_job_submit(pool, 0, count, &ran, &group)) _exit(9);
    muster_group_wait(&group);
    muster_pool_destroy(pool);
    _exit(ran == 100 ? 7 : 8);
  }
  cr_assert_eq(status_of(child), 7);
  muster_pool_destroy(pool);
}

static int begun, let_go;

static void linger(void *argument, uint32_t worker) {
  (void)worker, (void)argument;
  __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
  AWAIT_WITH(usleep(1000), __atomic_load_n(&let_go, __ATOMIC_SEQ_CST));
}

Test(fork, a_child_that_waits_for_a_thread_of_its_parent_ends_and_says_so, .timeout = 60) {
  muster_group group;
  muster_pool *pool = pool_of_three();
  muster_group_init(&group, pool);
  cr_assert_eq(muster_job_submit(pool, 0, linger, NULL, &group), MUSTER_OK);
  AWAIT_WITH(usleep(1000), __atomic_load_n(&begun, __ATOMIC_SEQ_CST));
  pid_t child = fork();
  if (child == 0) {
    muster_group_wait(&group);
    _exit(8);
  }
  cr_assert_eq(status_of(child), -SIGABRT);
  __atomic_store_n(&let_go, 1, __ATOMIC_SEQ_CST);
  muster_group_wait(&group);
  muster_pool_destroy(pool);
}
