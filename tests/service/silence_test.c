/* A world that gives no sign of life since its threads get no processor: nobody is blamed, and it has twice as long, a
 * few times. After that it is killed all the same: others wait for its files, and its players for it. */
#include "room.h"
#include "service/supervise/silence.h"

#include <sched.h>
#include <sys/prctl.h>

TestSuite(silence, .timeout = 120);

enum { RIVALS = 4, LOOK_MS = 20 };

static const uint64_t patience_ns = 800000000;

static struct settings settings = {.stuck_kill_ns = patience_ns};
static struct processes processes = {.settings = &settings, .count = 1};
static world_process *const world = &processes.worlds[0];
static uint64_t longest_ns; /* that it has had */

/* One that computes without end, on one processor with all the others. */
static pid_t make_rival(const cpu_set_t *processor) {
  pid_t parent = getpid(), child = fork();
  cr_assert(child >= 0);
  if (child > 0) return child;
  setpgid(0, 0); /* as the process of a world does */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || sched_setaffinity(0, sizeof *processor, processor)) _exit(1);
  for (volatile uint64_t i = 0;; i++) continue;
}

static void look(uv_timer_t *timer) {
  if (world->patience_ns > longest_ns) longest_ns = world->patience_ns;
  if (*world->stuck || longest_ns > patience_ns * 8) uv_stop(timer->loop);
}

static cpu_set_t any_processor(void) {
  cpu_set_t all, one;
  int number = 0;
  cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
  while (!CPU_ISSET(number, &all)) number++;
  CPU_ZERO(&one);
  CPU_SET(number, &one);
  return one;
}

Test(silence, a_world_without_a_processor_is_waited_for_eight_times_as_long_and_no_longer) {
  cpu_set_t processor = any_processor();
  pid_t rivals[RIVALS], ended = 0;
  uv_loop_t loop;
  uv_timer_t timer;
  int status;
  for (uint32_t i = 0; i < RIVALS; i++) rivals[i] = make_rival(&processor);
  cr_assert(uv_loop_init(&loop) == 0 && uv_timer_init(&loop, &world->timer) == 0 && uv_timer_init(&loop, &timer) == 0);
  snprintf(settings.socket, sizeof settings.socket, "/nowhere/at/all");
  snprintf(world->name, sizeof world->name, "starved");
  world->all = &processes;
  world->state = PROCESS_RUNNING;
  world->process.pid = rivals[0];
  world->timer.data = world;
  uv_timer_start(&timer, look, LOOK_MS, LOOK_MS);
  silence_end(world); /* a sign, which is the last */
  silence_watch(world);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(longest_ns, patience_ns * 8, "it had %lu ms, and the first time %lu", longest_ns / 1000000,
               patience_ns / 1000000);
  cr_expect(strstr(world->stuck, "its threads get no processor"), "'%s'", world->stuck);
  cr_expect(!world->by_code, "that is no fault of its code");
  if (*world->stuck) ended = waitpid(rivals[0], &status, 0);
  cr_expect(ended == rivals[0] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it was not killed");
  for (uint32_t i = ended ? 1 : 0; i < RIVALS; i++) {
    kill(rivals[i], SIGKILL);
    waitpid(rivals[i], NULL, 0);
  }
  uv_close((uv_handle_t *)&world->timer, NULL);
  uv_close((uv_handle_t *)&timer, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect_eq(uv_loop_close(&loop), 0);
}

Test(silence, a_sign_of_life_ends_the_longer_patience) {
  world->all = &processes;
  world->patience_ns = 4 * patience_ns;
  world->looked = true;
  silence_end(world);
  cr_expect_eq(world->patience_ns, patience_ns);
  cr_expect_not(world->looked);
}
