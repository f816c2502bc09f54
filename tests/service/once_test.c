/* Clients send requests with keys, and lose answers, while the process of their world dies again and again: each
 * request is carried out exactly once. */
#include "served.h"

#include <uv.h>

enum { REQUESTS = 1000, CLIENTS = 8, CRASHES = 20 };
enum {
  LOST_OF = 3,       /* of so many first tries one is sent by a client that does not wait for its answer */
  PAUSE_US = 5000,   /* before a request is sent again */
  MOMENT_US = 20000, /* at most, from a number of requests to the crash */
  TRIES_MAX = 4000   /* of one request: then the world will not come back */
};

/* What all clients share. */
static struct {
  uv_mutex_t mutex; /* guards: */
  uint32_t next, done, replayed, sent_again;
  char trouble[512]; /* an answer that should not be */
} shared;

typedef struct client {
  uv_thread_t thread;
  uint64_t random;
  daemon_reply reply;
} client;

/* Requests with an even number spawn an agent at that place, the others count it. */
static const char *describe(uint32_t number, char body[128]) {
  if (number % 2 == 0) {
    snprintf(body, 128, "[{\"type\": \"mark\", \"position\": {\"x\": %u, \"y\": 0}}]", number);
    return WORLD "/agents";
  }
  snprintf(body, 128, "%u", number);
  return WORLD "/module/count";
}

static bool is_answered(client *self, const char *path, const char *key, const char *body, bool *replayed) {
  char value[16];
  daemon_ask_once(&service, "POST", path, key, body, &self->reply);
  int status = self->reply.status;
  *replayed = daemon_header(&self->reply, "Idempotent-Replayed", value, sizeof value);
  if (status == 200 || status == 201) return true;
  if (status == 503 || status == 409 || status == 0) return false;
  uv_mutex_lock(&shared.mutex);
  snprintf(shared.trouble, sizeof shared.trouble, "%s with %s: %d: %.300s", path, key, status, self->reply.body);
  uv_mutex_unlock(&shared.mutex);
  return false;
}

static void carry_out(client *self, uint32_t number) {
  char key[32], body[128];
  bool replayed = false;
  uint32_t tries = 0;
  const char *path = describe(number, body);
  snprintf(key, sizeof key, "request-%u", number);
  if (next_random(&self->random) % LOST_OF == 0) {
    /* The connection breaks, before or after the request is carried out. */
    int connection = daemon_begin_once(&service, "POST", path, key, body);
    usleep((useconds_t)(next_random(&self->random) % (2 * MOMENT_US)));
    close(connection);
  }
  while (tries < TRIES_MAX && !is_answered(self, path, key, body, &replayed)) {
    tries++;
    usleep(PAUSE_US);
  }
  uv_mutex_lock(&shared.mutex);
  if (tries == TRIES_MAX) snprintf(shared.trouble, sizeof shared.trouble, "request %u was never answered", number);
  shared.done++;
  shared.replayed += replayed;
  shared.sent_again += tries > 0;
  uv_mutex_unlock(&shared.mutex);
}

static void be_client(void *argument) {
  client *self = argument;
  for (;;) {
    uv_mutex_lock(&shared.mutex);
    uint32_t number = shared.next++;
    bool over = number >= REQUESTS || *shared.trouble;
    uv_mutex_unlock(&shared.mutex);
    if (over) break;
    carry_out(self, number);
  }
}

/* False: something is wrong already. */
static bool await_done(uint32_t wanted) {
  for (;;) {
    uv_mutex_lock(&shared.mutex);
    uint32_t done = shared.done;
    bool wrong = *shared.trouble;
    uv_mutex_unlock(&shared.mutex);
    daemon_drop_notices(&service);
    if (done >= wanted || wrong) return !wrong;
    usleep(PAUSE_US);
  }
}

/* From outside, or inside a callback. The answer to that is of no interest. */
static void crash(client *chance, uint32_t number) {
  usleep((useconds_t)(next_random(&chance->random) % MOMENT_US));
  if (number % 2)
    daemon_ask_once(&service, "POST", WORLD "/module/strike", NULL, "now", &chance->reply);
  else
    kill(control_pid_of(&service, "main"), SIGKILL);
}

static uint32_t times[REQUESTS];

static void count_marks(void) {
  json_auto_t *page = get(WORLD "/agents?type=mark&limit=1000");
  CONTROL_EACH(agent, page, "agents") {
    double x = control_number(agent, "position.x");
    cr_assert(x >= 0 && x < REQUESTS, "an agent stands at %g", x);
    times[(uint32_t)x]++;
  }
}

static void count_counted(void) {
  json_auto_t *counts = ask("POST", WORLD "/module/counts", NULL, 200);
  CONTROL_EACH(count, counts, "") {
    if (count_index < REQUESTS) times[count_index] += (uint32_t)json_integer_value(count);
  }
}

Test(once, each_request_is_carried_out_exactly_once_through_twenty_crashes, .init = daemon_expect_deaths, .fini = stop,
     .timeout = 240) {
  static client clients[CLIENTS + 1];
  daemon_start(&service, "--isolation process --snapshot-file @/snapshot --crash-limit 0 --crash-window 1s "
                         "--modules " MUSTER_TEST_MODULES " --world main=counter --hz 60 --budget 2ms");
  cr_assert_eq(uv_mutex_init(&shared.mutex), 0);
  for (uint32_t i = 0; i <= CLIENTS; i++) clients[i].random = 88172645463325252u + i * 7919u;
  for (uint32_t i = 0; i < CLIENTS; i++) cr_assert_eq(uv_thread_create(&clients[i].thread, be_client, &clients[i]), 0);
  for (uint32_t i = 0; i < CRASHES && await_done((i + 1) * REQUESTS / (CRASHES + 2)); i++) crash(&clients[CLIENTS], i);
  await_done(REQUESTS);
  for (uint32_t i = 0; i < CLIENTS; i++) uv_thread_join(&clients[i].thread);
  cr_assert(!*shared.trouble, "%s\n%s", shared.trouble, daemon_log(&service));
  await_count(WORLD, "frames", 2);
  count_marks();
  count_counted();
  for (uint32_t i = 0; i < REQUESTS; i++) cr_expect_eq(times[i], 1, "request %u was carried out %u times", i, times[i]);
  cr_expect_geq(starts_of_main(), CRASHES + 1);
  cr_expect(shared.replayed > 0, "no request was sent again that had been carried out: nothing was tried here");
  printf("%u requests, %u sent again, %u of them answered from before, %g starts\n", shared.done, shared.sent_again,
         shared.replayed, starts_of_main());
}
