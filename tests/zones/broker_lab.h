/* broker_lab.h - one broker of the service, or several, on a loop of the test's own. */
#ifndef BROKER_LAB_H
#define BROKER_LAB_H

#include "brokers.h"

#include "service/zones/broker.h"
#include "support/await.h"

enum { LAB_BROKERS_MAX = 3 };

typedef struct lab_broker {
  struct broker *broker;
  bool nats, etcd;  /* what `changed` said last */
  uint32_t changes; /* how often it did */
  bool closed;
} lab_broker;

struct lab {
  uv_loop_t loop;
  brokers *servers;
  char password[64]; /* a file that holds it */
  lab_broker all[LAB_BROKERS_MAX];
};

/* Starts servers and a loop; skips the test where none can be started. */
void lab_start(struct lab *lab, const brokers_options *options);

/* Settings that reach the servers. */
broker_settings lab_settings(const struct lab *lab, const char *node);

/* Opens a broker at a place, and waits until both of its halves answer, where `await`. */
struct broker *lab_open(struct lab *lab, uint32_t place, const broker_settings *settings, bool await);

void lab_close(struct lab *lab, uint32_t place);

/* Closes all brokers and the loop; and the servers, too. */
void lab_leave(struct lab *lab);
void lab_end(struct lab *lab);

/* Runs the loop until the expression is true. */
#define LAB_AWAIT(lab, expression) AWAIT_WITH(uv_run(&(lab)->loop, UV_RUN_ONCE), expression)

/* What a call came to; each function waits for it. */
typedef struct lab_answer {
  bool done;
  muster_result result;
  broker_lease lease;
  char reason[256];
} lab_answer;

void lab_done(muster_result result, void *user);                             /* user: a lab_answer */
void lab_taken(muster_result result, const broker_lease *lease, void *user); /* the same */

/* Waits for the answer of a call, which must have been let in. */
lab_answer lab_await(struct lab *lab, muster_result called, lab_answer *answer);

lab_answer lab_take(struct lab *lab, struct broker *broker, uint32_t zone, bool own_again);
lab_answer lab_renew(struct lab *lab, struct broker *broker, const broker_lease *lease);
lab_answer lab_release(struct lab *lab, struct broker *broker, const broker_lease *lease);
#endif
