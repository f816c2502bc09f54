/* Signs of life: only while both threads answer. */
#include "served.h"
#include "service/notify.h"
#include "service/watchdog.h"

enum { MANY = 20 };

static char path[64];
static int notices;

static void listen_for_notices(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(path, sizeof path, "/tmp/musterd-watchdog-XXXXXX");
  cr_assert_not_null(mkdtemp(path));
  strcat(path, "/notices");
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  cr_assert(notices >= 0 && bind(notices, (struct sockaddr *)&address, sizeof address) == 0, "%s", strerror(errno));
  setenv("NOTIFY_SOCKET", path, 1);
  setenv("WATCHDOG_USEC", "2000", 1);
  unsetenv("WATCHDOG_PID");
}

static void remove_notices(void) {
  close(notices);
  unlink(path);
  *strrchr(path, '/') = '\0';
  rmdir(path);
}

static int count_signs(void) {
  char notice[256];
  int count = 0;
  for (ssize_t length; (length = recv(notices, notice, sizeof notice - 1, 0)) > 0;) {
    notice[length] = '\0';
    count += strstr(notice, "WATCHDOG=1") != NULL;
  }
  return count;
}

struct turns {
  int left, signs;
};

/* Few notices fit before the sender of one has to wait. */
static void count_turn(uv_timer_t *timer) {
  struct turns *turns = timer->data;
  turns->signs += count_signs();
  if (--turns->left == 0) uv_stop(timer->loop);
}

/* Long enough for the watchdog's own timer, which has the same gap. Returns how many signs of life there were. */
static int turn(uv_loop_t *loop) {
  struct turns turns = {.left = MANY};
  uv_timer_t timer = {.data = &turns};
  cr_assert(uv_timer_init(loop, &timer) == 0 && uv_timer_start(&timer, count_turn, 1, 1) == 0);
  uv_run(loop, UV_RUN_DEFAULT);
  uv_close((uv_handle_t *)&timer, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
  return turns.signs + count_signs();
}

/* sd_notify() would wait for ever. */
Test(watchdog, a_manager_that_does_not_read_stops_nobody, .init = listen_for_notices, .fini = remove_notices,
     .timeout = 60) {
  char notice[64];
  int most = 0;
  FILE *limit = fopen("/proc/sys/net/unix/max_dgram_qlen", "re");
  cr_assert(limit && fscanf(limit, "%d", &most) == 1 && fclose(limit) == 0);
  for (int i = 0; i < most + 3; i++) notify_problem("it waits");
  cr_assert(recv(notices, notice, sizeof notice, 0) > 0);
  notify_problem("it waits no longer");
  int count = 1;
  while (recv(notices, notice, sizeof notice, 0) > 0) count++;
  cr_expect(count >= most && count <= most + 2, "%d of %d", count, most);
}

Test(watchdog, frames_that_do_not_answer_stop_the_signs_of_life, .init = listen_for_notices, .fini = remove_notices) {
  uv_loop_t loop;
  struct frame_mailbox mailbox;
  struct watchdog watchdog;
  cr_assert(uv_loop_init(&loop) == 0 && frame_mailbox_open(&mailbox, &loop) == MUSTER_OK);
  cr_assert(watchdog_open(&watchdog, &mailbox, &loop) == MUSTER_OK);
  cr_expect(turn(&loop) > 0, "while the worlds are opened, the loop answers alone");
  watchdog_watch_frames(&watchdog);
  cr_expect(turn(&loop) == 0, "nobody serves the mailbox, and all the same it tells that it lives");
  cr_expect(frame_mailbox_read_counts(&mailbox).waiting == 1, "one question is enough");
  frame_mailbox_serve(&mailbox, NULL, 0, UINT64_MAX / 2);
  cr_expect(turn(&loop) == 1);
  watchdog_close(&watchdog);
  frame_mailbox_close(&mailbox);
  uv_close((uv_handle_t *)&watchdog.timer, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  cr_expect(uv_loop_close(&loop) == 0);
}

Test(watchdog, a_service_whose_manager_asks_for_it_gives_signs_of_life, .fini = stop) {
  setenv("WATCHDOG_USEC", "20000", 1);
  daemon_start(&service, "--world main=fixed --agents 100");
  cr_expect(daemon_await(&service, "WATCHDOG=1"));
  cr_expect(daemon_await(&service, "WATCHDOG=1"));
}
