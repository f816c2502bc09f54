/* broker_here.h - a lab of each file's own, in which brokers of the service are asked one thing after the other.
 *
 *     TestSuite(broker_moves, .fini = end_here, .timeout = 120);
 *     struct broker *a = open_as(0, "a"), *b = open_as(1, "b");         on one server of each kind, or what was started
 *     broker_lease lease = take(a, 7);
 *     CALL_HERE(broker_lease_renew, a, &lease).result */
#ifndef BROKER_HERE_H
#define BROKER_HERE_H

#include "broker_lab.h"

static struct lab here;

static inline void end_here(void) {
  if (here.servers) lab_end(&here);
}

static inline void start_here(uint32_t nats, uint32_t etcd) {
  lab_start(&here, &(brokers_options){.nats = nats, .etcd = etcd});
}

static inline struct broker *open_as(uint32_t place, const char *node) {
  if (!here.servers) start_here(1, 1);
  broker_settings settings = lab_settings(&here, node);
  return lab_open(&here, place, &settings, true);
}

static inline lab_answer call_here(muster_result called, lab_answer *answer) {
  return lab_await(&here, called, answer);
}

/* What a function of the broker comes to that tells of its end alone. */
#define CALL_HERE(FUNCTION, ...)                                                                                       \
  __extension__({                                                                                                      \
    lab_answer answer_ = {0};                                                                                          \
    call_here(FUNCTION(__VA_ARGS__, lab_done, &answer_), &answer_);                                                    \
  })

#define EXPECT_RESULT(answer, expected)                                                                                \
  cr_assert_eq((answer).result, expected, "%s: %s", muster_result_name((answer).result), (answer).reason)

/* Takes the lease of a zone, which is free, or this node's own; of one that is free only. */
static inline broker_lease take(struct broker *broker, uint32_t zone) {
  lab_answer answer = lab_take(&here, broker, zone, true);
  EXPECT_RESULT(answer, MUSTER_OK);
  return answer.lease;
}

static inline broker_lease take_free(struct broker *broker, uint32_t zone) {
  lab_answer answer = lab_take(&here, broker, zone, false);
  EXPECT_RESULT(answer, MUSTER_OK);
  return answer.lease;
}

static inline muster_result cross_bytes(struct broker *broker, const broker_lease *lease, uint32_t to, uint64_t number,
                                        const void *bytes, size_t count) {
  const broker_message message = {to, number, bytes, count};
  return CALL_HERE(broker_cross, broker, lease, &message, 1).result;
}

static inline muster_result cross(struct broker *broker, const broker_lease *lease, uint32_t to, uint64_t number,
                                  const char *text) {
  return cross_bytes(broker, lease, to, number, text, strlen(text));
}

static inline void forget(struct broker *broker, const broker_lease *lease, uint32_t to, zone_place through) {
  CALL_HERE(broker_forget, broker, lease, to, through);
}

static inline lab_answer give(struct broker *broker, const broker_lease *lease, const char *node,
                              const zone_space *closed) {
  return CALL_HERE(broker_lease_give, broker, lease, node, closed);
}

#endif
