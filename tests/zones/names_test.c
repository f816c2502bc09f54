/* Two daemons with one node name: the second is refused with host and address of the first, and the first has its
 * leases back at once after kill -9. With real brokers. */
#include "lone_node.h"

TestSuite(zones_names, .timeout = 300);

static void expect_problem(const musterd *service, const char *path, const char *words) {
  json_auto_t *document = lone_ask(service, path);
  const char *problem = json_string_value(json_object_get(document, "problem"));
  cr_expect(words ? problem && strstr(problem, words) : !problem, "%s: %s", path, problem ? problem : "(none)");
}

static bool log_has(const musterd *service, const char *text) {
  SCOPED(free_memory) char *log = daemon_log(service);
  return strstr(log, text) != NULL;
}

Test(zones_names, a_second_daemon_of_one_name_is_refused_and_the_first_comes_back_at_once) {
  static musterd first, second;
  char host[64] = "", words[192];
  brokers *servers = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  gethostname(host, sizeof host - 1);
  snprintf(words, sizeof words, "another daemon is node north, on host %s at 127.0.0.1", host);
  lone_start(&first, servers);
  lone_begin(&second, servers);
  expect_problem(&first, "/v1/zones", NULL);

  lone_launch(&second);
  daemon_await_log(&second, words);
  for (int i = 0; i < LOOKS; i++, usleep(PAUSE_US)) { /* it asks twice a second */
    cr_assert_eq(lone_epoch(&first), 1, "nothing goes to and fro");
    cr_assert_eq(lone_epoch(&second), 0);
  }
  expect_problem(&second, "/v1/nodes", words);
  expect_problem(&second, "/v1/zones", words);
  json_auto_t *document = lone_ask(&second, "/v1/nodes");
  json_t *heard = json_array_get(json_object_get(document, "nodes"), 0);
  cr_expect_eq(json_array_size(json_object_get(heard, "zones")), 1, "only the first tells under this name");

  daemon_kill(&first); /* kill -9 */
  lone_launch(&first);
  cr_expect_eq(lone_await(&first), 2);
  cr_expect(log_has(&first, "this is node north, run 2 of its state folder"));
  cr_expect(!log_has(&second, "this is node north"), "the first was back before its lease had ended");

  daemon_signal(&first, 15); /* in order: then another may have the name at once */
  daemon_wait(&first);
  cr_expect_eq(lone_await(&second), 3);
  expect_problem(&second, "/v1/zones", NULL);
  cr_expect(log_has(&second, "its snapshot of frame"), "and what is stored, not files of its own");
  lone_end(&first);
  lone_end(&second);
  brokers_end(servers);
}

Test(zones_names, of_one_state_folder_one_daemon_runs) {
  static musterd first, second;
  brokers *servers = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  lone_start(&first, servers);
  second = first;
  daemon_prepare(&second);
  /* with the first's snapshot_file */
  cr_assert_eq(system(formed("cp %s/conf %s/conf", first.folder, second.folder)), 0);
  lone_launch(&second);
  daemon_await_log(&second, "another daemon has the state of this one: it has locked");
  cr_expect_eq(lone_epoch(&second), 0);
  daemon_kill(&first);
  cr_expect_eq(lone_await(&second), 2, "it goes on with what the other has left");
  lone_end(&first);
  lone_end(&second);
  brokers_end(servers);
}
