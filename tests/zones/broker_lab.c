#include "broker_lab.h"

void lab_start(struct lab *lab, const brokers_options *options) {
  memset(lab, 0, sizeof *lab);
  lab->servers = brokers_start(options);
  snprintf(lab->password, sizeof lab->password, "/tmp/muster-broker-test-XXXXXX");
  int file = mkstemp(lab->password);
  cr_assert(file >= 0 &&
            write(file, BROKERS_PASSWORD "\n", sizeof BROKERS_PASSWORD) == (ssize_t)sizeof BROKERS_PASSWORD);
  close(file);
  cr_assert_eq(uv_loop_init(&lab->loop), 0);
}

broker_settings lab_settings(const struct lab *lab, const char *node) {
  broker_settings settings = {.answer_ms = 20000, .world = "large", .nats_user = BROKERS_USER};
  snprintf(settings.node, sizeof settings.node, "%s", node);
  snprintf(settings.nats, sizeof settings.nats, "%s", brokers_urls(lab->servers, BROKERS_NATS));
  snprintf(settings.etcd, sizeof settings.etcd, "%s", brokers_urls(lab->servers, BROKERS_ETCD));
  snprintf(settings.nats_password_file, sizeof settings.nats_password_file, "%s", lab->password);
  return settings;
}

static void note_halves(bool nats, bool etcd, void *user) {
  lab_broker *of = user;
  of->nats = nats;
  of->etcd = etcd;
  of->changes++;
}

struct broker *lab_open(struct lab *lab, uint32_t place, const broker_settings *settings, bool await) {
  lab_broker *of = &lab->all[place];
  *of = (lab_broker){0};
  of->broker = broker_open(&lab->loop, settings, note_halves, of);
  cr_assert_not_null(of->broker, "%s", muster_last_error());
  cr_assert(!of->nats && !of->etcd && of->changes == 0, "nothing is told from inside the call");
  if (await) LAB_AWAIT(lab, of->nats && of->etcd);
  return of->broker;
}

static void note_closed(void *user) {
  ((lab_broker *)user)->closed = true;
}

void lab_close(struct lab *lab, uint32_t place) {
  lab_broker *of = &lab->all[place];
  if (!of->broker) return;
  broker_close(of->broker, note_closed, of);
  cr_assert(!of->closed);
  LAB_AWAIT(lab, of->closed);
  of->broker = NULL;
}

void lab_leave(struct lab *lab) {
  for (uint32_t place = 0; place < LAB_BROKERS_MAX; place++) lab_close(lab, place);
  uv_run(&lab->loop, UV_RUN_DEFAULT); /* what is closed is let go */
  cr_expect_eq(uv_loop_close(&lab->loop), 0, "a handle is left open");
}

void lab_end(struct lab *lab) {
  lab_leave(lab);
  unlink(lab->password);
  brokers_end(lab->servers);
}

static void note_answer(lab_answer *answer, muster_result result) {
  cr_assert(!answer->done, "it is done twice");
  answer->done = true;
  answer->result = result;
  if (result != MUSTER_OK) snprintf(answer->reason, sizeof answer->reason, "%s", muster_last_error());
}

void lab_done(muster_result result, void *user) {
  note_answer(user, result);
}

void lab_taken(muster_result result, const broker_lease *lease, void *user) {
  if (lease) ((lab_answer *)user)->lease = *lease;
  note_answer(user, result);
}

lab_answer lab_await(struct lab *lab, muster_result called, lab_answer *answer) {
  cr_assert_eq(called, MUSTER_OK, "%s", muster_last_error());
  cr_assert(!answer->done, "it is done from inside the call");
  LAB_AWAIT(lab, answer->done);
  return *answer;
}

lab_answer lab_take(struct lab *lab, struct broker *broker, uint32_t zone, bool own_again) {
  lab_answer answer = {0};
  return lab_await(lab, broker_lease_take(broker, zone, own_again, 0, 0, lab_taken, &answer), &answer);
}

lab_answer lab_renew(struct lab *lab, struct broker *broker, const broker_lease *lease) {
  lab_answer answer = {0};
  return lab_await(lab, broker_lease_renew(broker, lease, lab_done, &answer), &answer);
}

lab_answer lab_release(struct lab *lab, struct broker *broker, const broker_lease *lease) {
  lab_answer answer = {0};
  return lab_await(lab, broker_lease_release(broker, lease, NULL, lab_done, &answer), &answer);
}
