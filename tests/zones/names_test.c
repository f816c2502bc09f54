/* Two daemons with one node name: the second is refused with host and address of the first, and the first has its
 * leases back at once after kill -9. With real brokers. */
#include "brokers.h"

#include "daemon.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TRIES = 600, PAUSE_US = 100000, LOOKS = 30 };

TestSuite(zones_names, .timeout = 300);

static daemon_reply reply;

/* Each in a folder of its own, as on two machines. */
static void begin(musterd *service, const brokers *servers) {
  char text[4096];
  daemon_prepare(service);
  snprintf(text, sizeof text,
           "[server]\ncluster = land\nnode = north\nnats = %s\nnats_user = %s\nnats_password_file = %s/password\n"
           "etcd = %s\nlease_ttl = 15s\nbalance = no\nsnapshot_file = %s/snapshot\nworkers = 1\ncrash_limit = 0\n"
           "[world west]\nzone = 1\nrectangle = 0 0 100 100\nbudget = 5ms\nhz = 10\nmodule = nomads\nagents = 10\n"
           "module.ground = 0 0 100 100\nmodule.speed = 1\nmodule.life = 1000\nmodule.books = 0\n",
           brokers_nats(servers), BROKERS_USER, service->folder, brokers_etcd(servers), service->folder);
  daemon_write(service, "conf", text);
  daemon_write(service, "password", BROKERS_PASSWORD "\n");
}

/* Behind a death its socket is still there. */
static bool answers(const musterd *service) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", service->socket);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool good = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
  close(descriptor);
  return good;
}

static void launch(musterd *service) {
  daemon_launch(service, "--isolation process --config @/conf --modules " MUSTER_TEST_MODULES);
  for (int tries = 0; !answers(service); tries++, usleep(PAUSE_US)) cr_assert_lt(tries, TRIES, "nobody listens");
}

static json_t *ask(const musterd *service, const char *path) {
  json_error_t error;
  daemon_ask(service, "GET", path, NULL, &reply);
  json_t *document = json_loads(reply.body, 0, &error);
  cr_assert_not_null(document, "%s: %s", path, reply.body);
  return document;
}

/* The epoch in which a daemon runs its zone; 0 = it does not. */
static uint32_t epoch_of(const musterd *service) {
  json_t *document = ask(service, "/v1/zones"), *zone = json_array_get(json_object_get(document, "zones"), 0);
  const char *state = json_string_value(json_object_get(zone, "state"));
  uint32_t epoch = (uint32_t)json_integer_value(json_object_get(zone, "epoch"));
  bool runs = state && strcmp(state, "runs") == 0;
  json_decref(document);
  return runs ? epoch : 0;
}

static uint32_t await_zone(const musterd *service) {
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    uint32_t epoch = epoch_of(service);
    if (epoch) return epoch;
  }
  cr_assert(false, "the zone does not run");
  return 0;
}

static void expect_problem(const musterd *service, const char *path, const char *words) {
  json_t *document = ask(service, path);
  const char *problem = json_string_value(json_object_get(document, "problem"));
  cr_expect(words ? problem && strstr(problem, words) : !problem, "%s: %s", path, problem ? problem : "(none)");
  json_decref(document);
}

static bool log_has(const musterd *service, const char *text) {
  char *log = daemon_log(service);
  bool has = strstr(log, text) != NULL;
  free(log);
  return has;
}

Test(zones_names, a_second_daemon_of_one_name_is_refused_and_the_first_comes_back_at_once) {
  static musterd first, second;
  char host[64] = "", words[192];
  if (!brokers_are_installed()) cr_skip_test("nats-server and etcd are not installed");
  brokers *servers = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  gethostname(host, sizeof host - 1);
  snprintf(words, sizeof words, "another daemon is node north, on host %s at 127.0.0.1", host);
  begin(&first, servers);
  begin(&second, servers);
  launch(&first);
  cr_expect_eq(await_zone(&first), 1);
  expect_problem(&first, "/v1/zones", NULL);

  launch(&second);
  daemon_await_log(&second, words);
  for (int i = 0; i < LOOKS; i++, usleep(PAUSE_US)) { /* it asks twice a second */
    cr_assert_eq(epoch_of(&first), 1, "nothing goes to and fro");
    cr_assert_eq(epoch_of(&second), 0);
  }
  expect_problem(&second, "/v1/nodes", words);
  expect_problem(&second, "/v1/zones", words);
  json_t *document = ask(&second, "/v1/nodes");
  json_t *heard = json_array_get(json_object_get(document, "nodes"), 0);
  cr_expect_eq(json_array_size(json_object_get(heard, "zones")), 1, "only the first tells under this name");
  json_decref(document);

  daemon_kill(&first); /* kill -9 */
  launch(&first);
  cr_expect_eq(await_zone(&first), 2);
  cr_expect(log_has(&first, "this is node north, run 2 of its state folder"));
  cr_expect(!log_has(&second, "this is node north"), "the first was back before its lease had ended");

  daemon_signal(&first, 15); /* in order: then another may have the name at once */
  daemon_wait(&first);
  cr_expect_eq(await_zone(&second), 3);
  expect_problem(&second, "/v1/zones", NULL);
  cr_expect(log_has(&second, "its snapshot of frame"), "and what is stored, not files of its own");
  daemon_kill(&second);
  daemon_clear(&first);
  daemon_clear(&second);
  brokers_end(servers);
}

Test(zones_names, of_one_state_folder_one_daemon_runs) {
  static musterd first, second;
  if (!brokers_are_installed()) cr_skip_test("nats-server and etcd are not installed");
  brokers *servers = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  begin(&first, servers);
  launch(&first);
  cr_expect_eq(await_zone(&first), 1);
  second = first;
  daemon_prepare(&second);
  char path[DAEMON_PATH_BYTES + 16], line[256];
  snprintf(path, sizeof path, "%s/conf", second.folder);
  snprintf(line, sizeof line, "cp %s/conf %s/conf", first.folder, second.folder); /* with the first's snapshot_file */
  cr_assert_eq(system(line), 0);
  launch(&second);
  daemon_await_log(&second, "another daemon has the state of this one: it has locked");
  cr_expect_eq(epoch_of(&second), 0);
  daemon_kill(&first);
  cr_expect_eq(await_zone(&second), 2, "it goes on with what the other has left");
  daemon_kill(&second);
  daemon_clear(&first);
  daemon_clear(&second);
  brokers_end(servers);
}
