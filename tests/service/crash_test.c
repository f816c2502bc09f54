/* What musterd makes of a type that brings it down. The module that does is crasher.c. */
#include "daemon.h"
#include "support/await.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(crash, .init = daemon_expect_deaths);

static void launch(musterd *service, const char *how, const char *more) {
  char flags[512];
  daemon_drop_notices(service);
  daemon_write(service, "how", how);
  snprintf(flags, sizeof flags,
           "--modules %s --world main=crasher --path @/how --hz 200 --budget 2ms --workers 2 --flight-file @/flight %s",
           MUSTER_TEST_MODULES, more);
  daemon_launch(service, flags);
}

/* Begins the log anew, so that what it says is of the next run. */
static void forget_log(const musterd *service) {
  daemon_write(service, "log", "");
}

/* What is expected of a run, or its log is shown. */
static void expect(const musterd *service, bool as_expected) {
  char *log = daemon_log(service);
  cr_assert(as_expected, "its status is %d, and it said:\n%s", service->status, log);
  free(log);
}

static void launch_and_live(musterd *service, const char *how) {
  forget_log(service);
  launch(service, how, "");
  expect(service, daemon_await(service, "READY=1"));
}

static void die_by(musterd *service, const char *how, int number) {
  launch(service, how, "");
  expect(service, daemon_wait(service) == -number);
}

static void end_well(musterd *service) {
  daemon_signal(service, SIGTERM);
  cr_assert_eq(daemon_wait(service), 0);
}

static void assert_logged(const musterd *service, const char *text, bool expected) {
  char *log = daemon_log(service);
  cr_assert_eq(strstr(log, text) != NULL, expected, "\"%s\" %s in the log:\n%s", text,
               expected ? "is not" : "should not be", log);
  free(log);
}

/* "agent 1 (generation 1)", as the victim has said itself. */
static void read_victim(const musterd *service, char victim[64]) {
  char path[DAEMON_PATH_BYTES + 16];
  snprintf(path, sizeof path, "%s/how.victim", service->folder);
  FILE *file = fopen(path, "re");
  cr_assert_not_null(file, "nobody was the victim");
  cr_assert_not_null(fgets(victim, 64, file));
  fclose(file);
}

static json_t *ask_json(const musterd *service, const char *method, const char *path, int status) {
  static daemon_reply reply;
  daemon_ask(service, method, path, NULL, &reply);
  cr_assert_eq(reply.status, status, "%s: %d %s", path, reply.status, reply.body);
  json_t *answer = json_loads(reply.body, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(answer, "%s", reply.body);
  return answer;
}

static json_int_t count_of_bomb(const musterd *service) {
  json_t *crash = ask_json(service, "GET", "/v1/crash", 200), *count;
  json_int_t crashes = 0;
  size_t i;
  json_array_foreach(json_object_get(crash, "crashes"), i, count) {
    cr_assert_str_eq(json_string_value(json_object_get(count, "type")), "bomb", "nobody else is counted");
    crashes = json_integer_value(json_object_get(count, "count"));
  }
  json_decref(crash);
  return crashes;
}

static void expect_named(const char *how, int number, const char *in) {
  musterd service;
  char victim[64], line[256], died[64];
  daemon_prepare(&service);
  die_by(&service, how, number);
  read_victim(&service, victim);
  launch_and_live(&service, "none");
  snprintf(died, sizeof died, "died of SIG%s", sigabbrev_np(number));
  snprintf(line, sizeof line, "crashed by: world main (module crasher): %s of type 'bomb', in %s, frame ", victim, in);
  assert_logged(&service, died, true);
  assert_logged(&service, line, true);
  cr_assert_eq(count_of_bomb(&service), 1);
  daemon_stop(&service);
}

Test(crash, a_fault_in_an_atom_names_agent_type_and_atom) {
  expect_named("segv atom", SIGSEGV, "atom 1");
}

Test(crash, an_abort_in_an_action_is_named) {
  expect_named("abort action", SIGABRT, "action 2");
}

Test(crash, a_stack_that_is_used_up_is_named) {
  expect_named("overflow atom", SIGSEGV, "atom 1");
}

Test(crash, a_fault_in_on_spawned_is_named) {
  expect_named("segv spawned", SIGSEGV, "on_spawned");
}

Test(crash, a_fault_in_a_function_of_the_module_is_told_as_its_own) {
  musterd service;
  daemon_prepare(&service);
  die_by(&service, "segv module", SIGSEGV);
  launch_and_live(&service, "none");
  assert_logged(&service, "crashed by: world main (module crasher): its before_frame", true);
  json_t *crash = ask_json(&service, "GET", "/v1/crash", 200);
  const json_t *call = json_object_get(json_object_get(crash, "last_run"), "module_call");
  cr_assert_str_eq(json_string_value(json_object_get(call, "in")), "before_frame");
  cr_assert_eq(count_of_bomb(&service), 0, "it counts against no type");
  json_decref(crash);
  daemon_stop(&service);
}

Test(crash, is_told_by_the_api_and_the_metrics) {
  musterd service;
  daemon_prepare(&service);
  die_by(&service, "segv atom", SIGSEGV);
  launch_and_live(&service, "none");
  json_t *crash = ask_json(&service, "GET", "/v1/crash", 200);
  const json_t *last = json_object_get(crash, "last_run");
  const json_t *culprit = json_array_get(json_object_get(last, "culprits"), 0);
  cr_assert(json_is_true(json_object_get(crash, "recording")));
  cr_assert(json_is_false(json_object_get(last, "clean")));
  cr_assert_eq(json_integer_value(json_object_get(last, "signal")), SIGSEGV);
  cr_assert_eq(json_array_size(json_object_get(last, "culprits")), 1);
  cr_assert_str_eq(json_string_value(json_object_get(culprit, "type")), "bomb");
  cr_assert_str_eq(json_string_value(json_object_get(culprit, "in")), "atom");
  cr_assert_eq(json_integer_value(json_object_get(culprit, "atom")), 1);
  cr_assert_eq(daemon_metric(&service, "muster_crashes_total{world=\"main\",type=\"bomb\"}"), 1.0);
  json_decref(crash);
  end_well(&service);
  launch_and_live(&service, "none");
  crash = ask_json(&service, "GET", "/v1/crash", 200);
  cr_assert(json_is_true(json_object_get(json_object_get(crash, "last_run"), "clean")));
  cr_assert_eq(count_of_bomb(&service), 1, "a good end changes nothing");
  assert_logged(&service, "the last run", false);
  json_decref(crash);
  daemon_stop(&service);
}

static void wait_for_frames(const musterd *service, double frames) {
  AWAIT_WITH(usleep(10000), daemon_metric(service, "muster_frames_total{world=\"main\"}") >= frames);
}

Test(crash, a_type_that_does_it_again_and_again_is_put_into_quarantine_and_the_world_goes_on) {
  musterd service;
  daemon_prepare(&service);
  for (int i = 0; i < 3; i++) die_by(&service, i % 2 ? "abort atom" : "segv atom", i % 2 ? SIGABRT : SIGSEGV);
  launch_and_live(&service, "segv atom");
  assert_logged(&service, "type 'bomb' has crashed the service 3 times: in quarantine", true);
  wait_for_frames(&service, 50); /* it would have died in the tenth */
  assert_logged(&service, "--world main reinstate bomb` brings it back", true);
  assert_logged(&service, "muster_type_reinstate", false);
  cr_assert_eq(daemon_metric(&service, "muster_types_quarantined{world=\"main\"}"), 1.0);
  cr_assert_gt(daemon_metric(&service, "muster_updates_completed_total{world=\"main\"}"), 200.0, "the sheep go on");
  cr_assert_eq(count_of_bomb(&service), 3);
  json_decref(ask_json(&service, "POST", "/v1/worlds/main/types/bomb/reinstate", 200));
  cr_assert_eq(daemon_wait(&service), -SIGSEGV, "reinstated, it does it again");
  launch_and_live(&service, "none");
  cr_assert_eq(count_of_bomb(&service), 1, "reinstating it began a new count");
  assert_logged(&service, "in quarantine", false);
  daemon_stop(&service);
}

Test(crash, a_limit_of_one_is_enough_and_of_zero_never) {
  musterd service;
  daemon_prepare(&service);
  die_by(&service, "segv atom", SIGSEGV);
  launch(&service, "segv atom", "--crash-limit 0");
  cr_assert_eq(daemon_wait(&service), -SIGSEGV, "never in quarantine");
  launch(&service, "segv atom", "--crash-limit 1");
  cr_assert(daemon_await(&service, "READY=1"));
  wait_for_frames(&service, 50);
  daemon_stop(&service);
}

Test(crash, who_is_killed_from_outside_blames_nobody) {
  musterd service;
  daemon_prepare(&service);
  launch_and_live(&service, "none");
  wait_for_frames(&service, 5);
  daemon_kill(&service);
  launch_and_live(&service, "none");
  assert_logged(&service, "was killed, or ended without a trace", true);
  assert_logged(&service, "crashed by", false);
  assert_logged(&service, "no type is blamed", false); /* the kill left no signal to tell of */
  cr_assert_eq(count_of_bomb(&service), 0);
  daemon_signal(&service, SIGSEGV); /* sent to the process, not raised by it */
  cr_assert_eq(daemon_wait(&service), -SIGSEGV);
  launch_and_live(&service, "none");
  assert_logged(&service, "died of SIGSEGV", true);
  assert_logged(&service, "no type is blamed", true);
  cr_assert_eq(count_of_bomb(&service), 0);
  daemon_stop(&service);
}

Test(crash, a_damaged_file_is_kept_aside_with_the_reason) {
  musterd service;
  char path[DAEMON_PATH_BYTES + 32];
  daemon_prepare(&service);
  daemon_write(&service, "flight", "this is no flight recorder's file");
  launch_and_live(&service, "none");
  assert_logged(&service, "cut off", true);
  snprintf(path, sizeof path, "%s/flight.damaged", service.folder);
  cr_assert_eq(access(path, F_OK), 0);
  json_t *crash = ask_json(&service, "GET", "/v1/crash", 200);
  cr_assert(json_is_null(json_object_get(crash, "last_run")));
  json_decref(crash);
  daemon_stop(&service);
}

Test(crash, a_file_that_another_service_uses_is_refused) {
  musterd service;
  char flags[512];
  daemon_prepare(&service);
  launch_and_live(&service, "none");
  musterd second;
  daemon_prepare(&second);
  snprintf(flags, sizeof flags, "--world main=wildlife --agents 100 --flight-file %s/flight", service.folder);
  daemon_launch(&second, flags);
  cr_assert_eq(daemon_wait(&second), 1);
  assert_logged(&second, "another musterd uses it", true);
  daemon_clear(&second);
  end_well(&service);
  daemon_clear(&service);
}

/* An NPC that sleeps inside its update is told in the log, in its type's overrun counts and in the metrics. */
Test(crash, an_atom_that_blocks_is_named_and_nothing_else_happens_to_it) {
  musterd service;
  daemon_prepare(&service);
  launch_and_live(&service, "sleep atom");
  daemon_await_log(&service, "of type 'bomb': blocked its worker for");
  assert_logged(&service, " ms in atom 1, limit ", true);
  AWAIT_WITH(usleep(10000), daemon_metric(&service, "muster_atoms_blocked_total{world=\"main\"}") >= 1.0);
  json_t *answer = ask_json(&service, "GET", "/v1/worlds/main/types", 200), *type;
  size_t i;
  json_array_foreach(json_object_get(answer, "types"), i, type) {
    const json_t *counts = json_object_get(type, "overrun_counts");
    bool bomb = strcmp(json_string_value(json_object_get(type, "type")), "bomb") == 0;
    cr_assert_eq(json_integer_value(json_object_get(counts, "blocked")) > 0, bomb);
    cr_assert_eq(json_is_string(json_object_get(counts, "worst_blocked_agent")), bomb);
    cr_assert(json_is_false(json_object_get(counts, "quarantined")));
    cr_assert_eq(json_integer_value(json_object_get(counts, "agents_quarantined")), 0);
  }
  json_decref(answer);
  end_well(&service);
  daemon_stop(&service);
}

/* The one bomb that burns too much, as an agent of the interface; null while there is none. */
static json_t *bomb_in_quarantine(const musterd *service) {
  json_t *answer = ask_json(service, "GET", "/v1/worlds/main/agents?type=bomb", 200), *agent, *found = NULL;
  size_t i;
  json_array_foreach(json_object_get(answer, "agents"), i, agent) {
    if (json_is_true(json_object_get(agent, "quarantined"))) found = json_incref(agent);
  }
  json_decref(answer);
  return found;
}

Test(crash, an_agent_in_quarantine_is_reinstated_by_its_id_and_runs_again) {
  musterd service;
  json_t *bomb;
  char path[128];
  daemon_prepare(&service);
  launch_and_live(&service, "spin atom");
  AWAIT_WITH(usleep(10000), (bomb = bomb_in_quarantine(&service)));
  cr_assert_eq(daemon_metric(&service, "muster_agents_quarantined{world=\"main\"}"), 1.0);
  snprintf(path, sizeof path, "/v1/worlds/main/agents/%s/reinstate", json_string_value(json_object_get(bomb, "agent")));
  json_int_t updated_ns = json_integer_value(json_object_get(bomb, "last_update_ns"));
  json_decref(bomb);
  json_decref(ask_json(&service, "POST", path, 200));
  *strrchr(path, '/') = '\0';
  for (bool runs = false; !runs; usleep(10000)) {
    bomb = ask_json(&service, "GET", path, 200);
    runs = json_integer_value(json_object_get(bomb, "last_update_ns")) > updated_ns;
    if (runs) cr_assert(json_is_false(json_object_get(bomb, "quarantined")));
    json_decref(bomb);
  }
  end_well(&service);
  daemon_stop(&service);
}
