/* Listeners whose places are all taken, again and again, by clients that never say anything: TCP, the control socket,
 * and the socket at which a world's process serves the daemon. Nothing else of Muster listens: the nodes of a cluster
 * call the brokers. Their reserves answer all the while, and everybody is answered once the silent are cut. As many
 * rounds as MUSTER_LIMIT_ROUNDS in the environment says, of some two seconds each; else a few. */
#include "loopback.h"
#include "served.h"

enum { ROUNDS = 3, PLACES = 20, RESERVE = 8, TRIES_MOST = 300, TRY_US = 50000 };
enum { SILENT = 3 * PLACES + 2 * RESERVE }; /* at each listener: the reserve is taken, and others wait to be accepted */

#define TOKEN "a-token-of-this-test"

typedef enum place { TCP, CONTROL, OF_WORLD, LISTENERS } place;

static uint16_t port;
static int silent[LISTENERS][SILENT];

static int dial(place where) {
  musterd listens = service;
  if (where == TCP) return loopback_dial(port, 0);
  if (where == OF_WORLD) strcat(listens.socket, ".main");
  return daemon_connect(&listens);
}

/* Opens so many at each listener. */
static void fall_silent(uint32_t from, uint32_t to) {
  for (int k = 0; k < LISTENERS; k++)
    for (uint32_t i = from; i < to; i++) silent[k][i] = dial((place)k);
}

/* Of the first so many at a listener those that the daemon has cut. */
static uint32_t count_cut(place where, uint32_t count) {
  uint32_t cut = 0;
  char byte;
  for (uint32_t i = 0; i < count; i++) cut += recv(silent[where][i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  return cut;
}

/* Those that waited to be accepted, too: a listener that is deaf from then on leaves them open. */
static void await_cut(void) {
  for (int k = 0; k < LISTENERS; k++) {
    for (uint32_t tries = 0; count_cut((place)k, SILENT) < SILENT; usleep(TRY_US))
      cr_assert_lt(tries++, TRIES_MOST, "listener %d leaves %u alone: %s", k, SILENT - count_cut((place)k, SILENT),
                   daemon_log(&service));
    close_all(silent[k], SILENT);
  }
}

/* A request on a connection of its own; its status, 0 = it was cut. */
static int ask_once_at(place where, const char *path, bool token) {
  int descriptor = dial(where);
  const char *text = formed("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path,
                            token ? "Authorization: Bearer " TOKEN "\r\n" : "");
  send(descriptor, text, strlen(text), MSG_NOSIGNAL);
  daemon_end(descriptor, &reply);
  return reply.status;
}

/* Until it is answered well: at times who is silent has the reserve, too, for a second. Returns the tries. */
static uint32_t ask_at(place where, const char *path, bool token) {
  uint32_t tries = 1;
  while (ask_once_at(where, path, token) != 200) {
    cr_assert_lt(tries++, TRIES_MOST, "%s at %d has no answer: %s: %s", path, (int)where, reply.text,
                 daemon_log(&service));
    usleep(TRY_US);
  }
  return tries;
}

static const struct reserved {
  place where;
  const char *path;
  bool token;
} reserved[] = {{TCP, "/healthz", false},
                {TCP, "/v1/worlds", true},
                {CONTROL, "/v1/worlds", false},
                {CONTROL, "/metrics", false},
                {OF_WORLD, WORLD, false}};

enum { RESERVED = COUNT_OF(reserved) };

/* Each listener has as many silent connections as it has places: the reserve answers at once. Returns how many were
 * asked before any of the silent had used up its time. */
static uint32_t ask_reserves_of_full(void) {
  uint32_t asked = 0;
  for (uint32_t i = 0; i < RESERVED; i++) {
    int status = ask_once_at(reserved[i].where, reserved[i].path, reserved[i].token);
    if (count_cut(reserved[i].where, PLACES)) continue;
    cr_assert_eq(status, 200, "%s at %d: %s", reserved[i].path, (int)reserved[i].where, reply.text);
    asked++;
  }
  int status = ask_once_at(TCP, "/v1/worlds", false);
  if (!count_cut(TCP, PLACES)) cr_assert_eq(status, 503, "it has a place for anybody: %s", reply.text);
  return asked;
}

static void start(void) {
  daemon_prepare(&service);
  daemon_write(&service, "token", TOKEN "\n");
  cr_assert_eq(chmod(path_of("token"), 0600), 0);
  configure("[server]\nlisten = 127.0.0.1:0\nconnections_max = 20\nclient_connections_max = 20\nidle_timeout = 1s\n"
            "[world main]\nmodule = wildlife\nagents = 100\nhz = 20\nbudget = 2ms\n");
  launch_ready("--isolation process --config @/musterd.conf --token-file @/token");
  SCOPED(free_memory) char *log = daemon_log(&service);
  const char *at = strstr(log, ", port ");
  cr_assert(at && sscanf(at, ", port %hu", &port) == 1, "%s", log);
}

TestSuite(limits, .init = start, .fini = stop);

Test(limits, reserves_answer_while_all_places_are_taken_and_everybody_is_answered_afterwards, .timeout = 14400) {
  uint32_t rounds = (uint32_t)environment_number("MUSTER_LIMIT_ROUNDS", ROUNDS), at_once = 0, tries = 0;
  for (uint32_t i = 0; i < rounds; i++) {
    fall_silent(0, PLACES);
    at_once += ask_reserves_of_full();
    fall_silent(PLACES, SILENT);
    for (uint32_t k = 0; k < RESERVED; k++) tries += ask_at(reserved[k].where, reserved[k].path, reserved[k].token);
    tries += ask_at(CONTROL, WORLD, false);
    await_cut();
    for (int k = 0; k < LISTENERS; k++) ask_at((place)k, WORLD, false);
  }
  cr_expect_gt(at_once, 0, "no listener was full for long enough");
  fprintf(stderr, "%u rounds: reserves answered %u times of %u while all others waited, and %u times in %u tries\n",
          rounds, at_once, RESERVED * rounds, (RESERVED + 1) * rounds, tries);
}
