/* brokers.h - real nats-servers with JetStream and real etcd members on loopback, for one test. All that the tests of
 * zones include stands here, too.
 *
 *     brokers *all = brokers_start(&(brokers_options){.nats = 3, .etcd = 3});    all are ready; or the test is skipped
 *     const char *urls = brokers_urls(all, BROKERS_NATS);                        with commas between them
 *     brokers_kill(all, BROKERS_NATS, brokers_stream_leader(all, "ORDERS"));
 *     brokers_revive(all, ...);                                                  with what it had on disk
 *     brokers_end(all);
 *
 * {.nats = 1, .etcd = 1} is ready within a second. Nobody is let in without a name: BROKERS_USER with BROKERS_PASSWORD
 * has an account with JetStream in NATS, beside a second account (CVE-2023-47090), and with `etcd_users` the keys under
 * "muster/" in etcd. Everything lies in a temporary folder, on free ports of loopback, and ends with the test, however
 * that ends. One test process has one of these, and starts it before it has threads.
 *
 * What waits gives up after two minutes, which only a test that fails anyway comes to; every failure here fails the
 * test. */
#ifndef BROKERS_H
#define BROKERS_H

#include "support/skip.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BROKERS_USER     "muster"
#define BROKERS_PASSWORD "a-password-of-tests"

enum { BROKERS_MAX = 3, BROKERS_DOORS_MAX = 16, BROKERS_URLS_BYTES = 192 };

/* A leaf node is a nats-server without JetStream in front of one of the servers of NATS. */
typedef enum brokers_kind { BROKERS_NATS, BROKERS_ETCD, BROKERS_LEAVES, BROKERS_KINDS } brokers_kind;

typedef struct brokers_options {
  uint32_t nats, etcd; /* how many: 0, 1 or 3 of each */
  bool cluster;        /* NATS's servers form one, in which streams may have replicas; else each is for itself */
  bool between;        /* a proxy lies between the brokers, too, so that they can be cut from each other */
  bool etcd_users;     /* etcd asks for a name; otherwise it lets in everybody */
  bool leaves;         /* each server of NATS has a leaf node */
  bool short_history;  /* etcd keeps little of what was, as in a cluster that has run for long */
} brokers_options;

typedef struct brokers brokers;

/* Whether nats-server and etcd can be started here. */
bool brokers_are_installed(void);

/* Starts them and waits until they are ready; skips the test where none can be started. */
brokers *brokers_start(const brokers_options *options);

/* Ends them by SIGKILL and removes their folder. */
void brokers_end(brokers *all);

/* Waits until every broker that runs is ready and, where they form a cluster, this has a leader. */
void brokers_await(const brokers *all);

/* URLs of all of a kind, straight to them: nats://127.0.0.1:PORT,... and http://127.0.0.1:PORT,... */
const char *brokers_urls(const brokers *all, brokers_kind kind);

/* The same of one, without a comma. */
const char *brokers_url(const brokers *all, brokers_kind kind, uint32_t which);

/* -------------------------------------------------------------------------------------------- ends, pauses, leaders */

/* kill -9, and the start of the same broker with what is on its disk; revive does not wait for it to be ready. */
void brokers_kill(brokers *all, brokers_kind kind, uint32_t which);
void brokers_revive(brokers *all, brokers_kind kind, uint32_t which);
bool brokers_runs(const brokers *all, brokers_kind kind, uint32_t which);

/* SIGSTOP and SIGCONT. */
void brokers_pause(brokers *all, brokers_kind kind, uint32_t which);
void brokers_resume(brokers *all, brokers_kind kind, uint32_t which);

/* Which broker leads a stream, JetStream as a whole, or etcd, as a majority of those that answer sees it; -1 = none at
 * this moment, or there is no such stream. A KV bucket B is the stream KV_B. */
int brokers_stream_leader(const brokers *all, const char *stream);
int brokers_meta_leader(const brokers *all);
int brokers_etcd_leader(const brokers *all);

/* ------------------------------------------------------------------------------------------------------- partitions */

/* Cuts a broker from the others of its kind, and heals that. Needs `between`. */
void brokers_cut_off(brokers *all, brokers_kind kind, uint32_t which, bool is_cut);

/* Opens a client's own way to all brokers, a door, and returns its number, from 0. Doors stay open. */
uint32_t brokers_open_door(brokers *all);

/* URLs of a door, to all of a kind. */
const char *brokers_door(const brokers *all, uint32_t door, brokers_kind kind);

/* Cuts a door's client from one broker, or from all of a kind, and heals that. */
void brokers_cut_door(brokers *all, uint32_t door, brokers_kind kind, uint32_t which, bool is_cut);
void brokers_cut_door_whole(brokers *all, uint32_t door, bool is_cut);

/* How many bytes have passed over a door to a broker, and from it. */
void brokers_door_passed(brokers *all, uint32_t door, brokers_kind kind, uint32_t which, uint64_t *to, uint64_t *from);

/* -------------------------------------------------------------------------------------------------- what they serve */

typedef struct brokers_answer {
  long status; /* of HTTP; 0 = no answer */
  char *body;  /* ends with a zero; the caller frees it */
} brokers_answer;

/* POST (a body) or GET (null) of a path at a broker's HTTP side: etcd's gateway, or NATS's monitoring. `token` is
 * etcd's, or null. One that runs answers sometime, on a busy machine too. */
brokers_answer brokers_ask(const brokers *all, brokers_kind kind, uint32_t which, const char *path, const char *token,
                           const char *body);

/* The process of a broker; 0 = it does not run. */
pid_t brokers_process(const brokers *all, brokers_kind kind, uint32_t which);

/* POST of a path at the first member of etcd, which must take it. */
void brokers_tell_etcd(const brokers *all, const char *path, const char *body);

/* Where a broker's folder with its log "log" is. */
const char *brokers_folder(const brokers *all, brokers_kind kind, uint32_t which);

/* -------------------------------------------------------------------------------------------------------- and besides
 */

/* Adds to a text of so many bytes, in printf's manner; it must fit. */
void append_text(char *text, size_t bytes, const char *form, ...) __attribute__((format(printf, 3, 4)));

/* Sorts them. */
static inline int compare_reals(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare_reals);
  return count ? values[count / 2] : (double)NAN;
}

/* A number of the environment, by which a long run differs from that of each push. */
static inline uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *given = getenv(name);
  return given ? strtoull(given, NULL, 10) : otherwise;
}

#endif
