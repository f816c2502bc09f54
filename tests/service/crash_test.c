/* What musterd makes of a type that brings it down. The module that does is crasher.c. */
#include "served.h"

static void prepare(void) {
  daemon_expect_deaths();
  daemon_prepare(&service);
}

TestSuite(crash, .init = prepare, .fini = stop);

static void launch(const char *how, const char *more) {
  daemon_drop_notices(&service);
  daemon_write(&service, "how", how);
  daemon_launch(&service,
                formed("--modules " MUSTER_TEST_MODULES " --world main=crasher --path @/how --hz 200 --budget "
                       "2ms --workers 2 --flight-file @/flight %s",
                       more));
}

static void expect(bool as_expected) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  cr_assert(as_expected, "its status is %d, and it said:\n%s", service.status, log);
}

static void launch_and_live(const char *how) {
  forget_log();
  launch(how, "");
  expect(daemon_await(&service, "READY=1"));
}

static void die_by(const char *how, int number) {
  launch(how, "");
  expect(daemon_wait(&service) == -number);
}

static void assert_logged(const char *text, bool expected) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  cr_assert_eq(strstr(log, text) != NULL, expected, "\"%s\" %s in the log:\n%s", text,
               expected ? "is not" : "should not be", log);
}

static long long count_of_bomb(void) {
  json_auto_t *crash = get("/v1/crash");
  long long crashes = 0;
  CONTROL_EACH(count, crash, "crashes") {
    cr_assert_str_eq(control_text(count, "type"), "bomb", "nobody else is counted");
    crashes = control_count(count, "count");
  }
  return crashes;
}

static void expect_named(const char *how, int number, const char *in) {
  die_by(how, number);
  SCOPED(free_memory) char *victim = daemon_read(&service, "how.victim"); /* "agent 1 (generation 1)" */
  cr_assert(*victim, "nobody was the victim");
  launch_and_live("none");
  assert_logged(formed("died of SIG%s", sigabbrev_np(number)), true);
  assert_logged(formed("by: world main (module crasher): %s of type 'bomb', in %s, frame ", victim, in), true);
  cr_assert_eq(count_of_bomb(), 1);
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
  die_by("segv module", SIGSEGV);
  launch_and_live("none");
  assert_logged("crashed by: world main (module crasher): its before_frame", true);
  expect_at("/v1/crash", "{'last_run.module_call.in': 'before_frame'}");
  cr_assert_eq(count_of_bomb(), 0, "it counts against no type");
}

Test(crash, is_told_by_the_api_and_the_metrics) {
  die_by("segv atom", SIGSEGV);
  launch_and_live("none");
  json_auto_t *crash = get("/v1/crash");
  cr_assert_eq(control_size(crash, "last_run.culprits"), 1);
  control_expect(crash, formed("{'recording': true, 'last_run.clean': false, 'last_run.signal': %d}", SIGSEGV));
  control_expect(crash, "{'last_run.culprits.0.type': 'bomb', 'last_run.culprits.0.in': 'atom', "
                        "'last_run.culprits.0.atom': 1}");
  cr_assert_eq(metric("muster_crashes_total{world=\"main\",type=\"bomb\"}"), 1.0);
  end_well();
  launch_and_live("none");
  expect_at("/v1/crash", "{'last_run.clean': true}");
  cr_assert_eq(count_of_bomb(), 1, "a good end changes nothing");
  assert_logged("the last run", false);
}

static void wait_for_frames(double frames) {
  AWAIT_WITH(usleep(10000), metric("muster_frames_total{world=\"main\"}") >= frames);
}

Test(crash, a_type_that_does_it_again_and_again_is_put_into_quarantine_and_the_world_goes_on) {
  for (int i = 0; i < 3; i++) die_by(i % 2 ? "abort atom" : "segv atom", i % 2 ? SIGABRT : SIGSEGV);
  launch_and_live("segv atom");
  assert_logged("type 'bomb' has crashed the service 3 times: in quarantine", true);
  wait_for_frames(50); /* it would have died in the tenth */
  assert_logged("--world main reinstate bomb` brings it back", true);
  assert_logged("muster_type_reinstate", false);
  cr_assert_eq(metric("muster_types_quarantined{world=\"main\"}"), 1.0);
  cr_assert_gt(metric("muster_updates_completed_total{world=\"main\"}"), 200.0, "the sheep go on");
  cr_assert_eq(count_of_bomb(), 3);
  tell("POST", WORLD "/types/bomb/reinstate", NULL, 200);
  cr_assert_eq(daemon_wait(&service), -SIGSEGV, "reinstated, it does it again");
  launch_and_live("none");
  cr_assert_eq(count_of_bomb(), 1, "reinstating it began a new count");
  assert_logged("in quarantine", false);
}

Test(crash, a_limit_of_one_is_enough_and_of_zero_never) {
  die_by("segv atom", SIGSEGV);
  launch("segv atom", "--crash-limit 0");
  cr_assert_eq(daemon_wait(&service), -SIGSEGV, "never in quarantine");
  launch("segv atom", "--crash-limit 1");
  cr_assert(daemon_await(&service, "READY=1"));
  wait_for_frames(50);
}

Test(crash, who_is_killed_from_outside_blames_nobody) {
  launch_and_live("none");
  wait_for_frames(5);
  daemon_kill(&service);
  launch_and_live("none");
  assert_logged("was killed, or ended without a trace", true);
  assert_logged("crashed by", false);
  assert_logged("no type is blamed", false); /* the kill left no signal to tell of */
  cr_assert_eq(count_of_bomb(), 0);
  daemon_signal(&service, SIGSEGV); /* sent to the process, not raised by it */
  cr_assert_eq(daemon_wait(&service), -SIGSEGV);
  launch_and_live("none");
  assert_logged("died of SIGSEGV", true);
  assert_logged("no type is blamed", true);
  cr_assert_eq(count_of_bomb(), 0);
}

Test(crash, a_damaged_file_is_kept_aside_with_the_reason) {
  daemon_write(&service, "flight", "this is no flight recorder's file");
  launch_and_live("none");
  assert_logged("cut off", true);
  cr_assert(exists("flight.damaged"));
  expect_at("/v1/crash", "{'last_run': null}");
}

Test(crash, a_file_that_another_service_uses_is_refused) {
  launch_and_live("none");
  const musterd first = service;
  daemon_prepare(&service);
  daemon_launch(&service, formed("--world main=wildlife --agents 100 --flight-file %s/flight", first.folder));
  cr_assert_eq(daemon_wait(&service), 1);
  assert_logged("another musterd uses it", true);
  daemon_clear(&service);
  service = first;
  end_well();
  daemon_clear(&service);
}

/* An NPC that sleeps inside its update is told in the log, in its type's overrun counts and in the metrics. */
Test(crash, an_atom_that_blocks_is_named_and_nothing_else_happens_to_it) {
  launch_and_live("sleep atom");
  await_log("of type 'bomb': blocked its worker for");
  assert_logged(" ms in atom 1, limit ", true);
  AWAIT_WITH(usleep(10000), metric("muster_atoms_blocked_total{world=\"main\"}") >= 1.0);
  json_auto_t *answer = get(WORLD "/types");
  CONTROL_EACH(type, answer, "types") {
    json_t *counts = control_member(type, "overrun_counts");
    bool bomb = strcmp(control_text(type, "type"), "bomb") == 0;
    cr_assert_eq(control_count(counts, "blocked") > 0, bomb);
    cr_assert_eq(json_is_string(json_object_get(counts, "worst_blocked_agent")), bomb);
    cr_assert(json_is_false(control_member(counts, "quarantined")));
    cr_assert_eq(control_count(counts, "agents_quarantined"), 0);
  }
  end_well();
}

/* The one bomb that burns too much, as an agent of the interface; null while there is none. */
static json_t *bomb_in_quarantine(void) {
  json_auto_t *answer = get(WORLD "/agents?type=bomb");
  json_t *found = NULL;
  CONTROL_EACH(agent, answer, "agents") {
    if (json_is_true(json_object_get(agent, "quarantined"))) found = json_incref(agent);
  }
  return found;
}

Test(crash, an_agent_in_quarantine_is_reinstated_by_its_id_and_runs_again) {
  json_t *bomb;
  launch_and_live("spin atom");
  AWAIT_WITH(usleep(10000), (bomb = bomb_in_quarantine()));
  cr_assert_eq(metric("muster_agents_quarantined{world=\"main\"}"), 1.0);
  const char *path = formed(WORLD "/agents/%s", control_text(bomb, "agent"));
  long long updated_ns = control_count(bomb, "last_update_ns");
  json_decref(bomb);
  tell("POST", formed("%s/reinstate", path), NULL, 200);
  for (bool runs = false; !runs; usleep(10000)) {
    json_auto_t *now = get(path);
    runs = control_count(now, "last_update_ns") > updated_ns;
    if (runs) cr_assert(json_is_false(control_member(now, "quarantined")));
  }
  end_well();
}
