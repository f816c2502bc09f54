#include "traffic.h"

#include "base/clock.h"

#include <jansson.h>
#include <math.h>
#include <nats/nats.h>
#include <pthread.h>

enum { ANSWER_TRIES = 100 };

/* Two subscriptions on each server: of what musterd publishes, and of what it asks JetStream. */
static const char *const tapped[] = {"muster.>", "$JS.API.>"};
enum { TAPPED = COUNT_OF(tapped) };

typedef struct tap_server {
  traffic_tap *tap;
  natsConnection *connection;
  natsSubscription *subscriptions[TAPPED];
  traffic_flow heard; /* all together */
} tap_server;

struct traffic_tap {
  pthread_mutex_t mutex; /* guards what is counted: callbacks come on threads of libnats */
  tap_server servers[BROKERS_MAX];
  traffic_flow published[TRAFFIC_KINDS];
};

/* -------------------------------------------------------------------------------------------------------------- tap */

static traffic_kind kind_of(const char *subject) {
  static const struct {
    const char *begins;
    traffic_kind kind;
  } kinds[] = {{"muster.land.ghosts.", TRAFFIC_GHOSTS},   {"muster.land.nodes", TRAFFIC_NODES},
               {"muster.land.settings", TRAFFIC_NODES},   {"muster.land.journal.", TRAFFIC_JOURNAL},
               {"muster.land.objects.", TRAFFIC_OBJECTS}, {"$JS.API.STREAM.PURGE.", TRAFFIC_REMOVALS}};
  for (size_t i = 0; i < COUNT_OF(kinds); i++)
    if (strncmp(subject, kinds[i].begins, strlen(kinds[i].begins)) == 0) return kinds[i].kind;
  return TRAFFIC_OTHERS;
}

static void on_tapped(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user) {
  tap_server *server = user;
  double bytes = natsMsg_GetDataLength(message);
  traffic_flow *of_kind = &server->tap->published[kind_of(natsMsg_GetSubject(message))];
  (void)connection, (void)subscription;
  pthread_mutex_lock(&server->tap->mutex);
  of_kind->messages++;
  of_kind->bytes += bytes;
  server->heard.messages++;
  server->heard.bytes += bytes;
  pthread_mutex_unlock(&server->tap->mutex);
  natsMsg_Destroy(message);
}

static void tap_one(const land *all, traffic_tap *tap, uint32_t which) {
  tap_server *server = &tap->servers[which];
  natsOptions *options = NULL;
  server->tap = tap;
  cr_assert_eq(natsOptions_Create(&options), NATS_OK);
  natsOptions_SetURL(options, brokers_url(all->brokers, BROKERS_NATS, which));
  natsOptions_SetUserInfo(options, BROKERS_USER, BROKERS_PASSWORD);
  cr_assert_eq(natsConnection_Connect(&server->connection, options), NATS_OK);
  natsOptions_Destroy(options);
  for (uint32_t i = 0; i < TAPPED; i++) {
    cr_assert_eq(natsConnection_Subscribe(&server->subscriptions[i], server->connection, tapped[i], on_tapped, server),
                 NATS_OK);
    natsSubscription_SetPendingLimits(server->subscriptions[i], -1, -1);
  }
  cr_assert_eq(natsConnection_Flush(server->connection), NATS_OK);
}

traffic_tap *traffic_open(const land *all) {
  traffic_tap *tap = calloc(1, sizeof *tap);
  cr_assert_not_null(tap);
  pthread_mutex_init(&tap->mutex, NULL);
  for (uint32_t i = 0; i < all->options.brokers.nats; i++) tap_one(all, tap, i);
  return tap;
}

void traffic_close(traffic_tap *tap) {
  for (uint32_t i = 0; i < BROKERS_MAX; i++) {
    if (!tap->servers[i].connection) continue;
    for (uint32_t k = 0; k < TAPPED; k++) natsSubscription_Destroy(tap->servers[i].subscriptions[k]);
    natsConnection_Destroy(tap->servers[i].connection);
  }
  nats_Close(); /* waits for the threads that call back */
  pthread_mutex_destroy(&tap->mutex);
  free(tap);
}

/* --------------------------------------------------------------------------------------------------------- counters */

/* A busy broker answers later than brokers_ask() waits. */
static brokers_answer ask_again(const land *all, brokers_kind kind, uint32_t which, const char *path) {
  brokers_answer answer = {0};
  for (uint32_t i = 0; answer.status != 200 && i <= ANSWER_TRIES; i++) {
    free(answer.body);
    answer = brokers_ask(all->brokers, kind, which, path, NULL, NULL);
  }
  cr_assert_eq(answer.status, 200, "%s: %ld", path, answer.status);
  return answer;
}

static void read_server(const land *all, const traffic_tap *tap, uint32_t which, traffic *now) {
  const tap_server *server = &tap->servers[which];
  brokers_answer answer = ask_again(all, BROKERS_NATS, which, "/varz");
  json_auto_t *varz = json_loads(answer.body, JSON_DECODE_INT_AS_REAL, NULL);
  cr_assert_not_null(varz, "a server of NATS does not tell what it did");
  now->in[which] = (traffic_flow){json_number_value(json_object_get(varz, "in_msgs")),
                                  json_number_value(json_object_get(varz, "in_bytes"))};
  now->out[which] = (traffic_flow){json_number_value(json_object_get(varz, "out_msgs")) - server->heard.messages,
                                   json_number_value(json_object_get(varz, "out_bytes")) - server->heard.bytes};
  free(answer.body);
}

/* The samples of a metric in Prometheus's text whose line begins so, added up. */
static double sum_samples(const char *text, const char *begin) {
  double sum = 0;
  size_t length = strlen(begin);
  for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
    if (strncmp(line, begin, length) == 0 && strchr("{ ,}\"", line[length])) {
      const char *value = line + strcspn(line, "} \n");
      if (*value == '}') value++;
      sum += strtod(value, NULL);
    }
  return sum;
}

static void read_member(const land *all, uint32_t which, traffic *now) {
  static const char served[] = "grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"";
  brokers_answer answer = ask_again(all, BROKERS_ETCD, which, "/metrics");
  now->ranges += sum_samples(answer.body, formed("%sRange\"", served));
  now->transactions += sum_samples(answer.body, formed("%sTxn\"", served));
  /* Of what each member applies, the one that is ahead. */
  now->puts = fmax(now->puts, sum_samples(answer.body, "etcd_mvcc_put_total"));
  now->deletes = fmax(now->deletes, sum_samples(answer.body, "etcd_mvcc_delete_total"));
  now->agreed = fmax(now->agreed, sum_samples(answer.body, "etcd_server_proposals_committed_total"));
  now->database = fmax(now->database, sum_samples(answer.body, "etcd_mvcc_db_total_size_in_use_in_bytes"));
  free(answer.body);
}

static void read_wire(land *all, traffic *now) {
  const uint32_t counts[BROKERS_KINDS] = {all->options.brokers.nats, all->options.brokers.etcd};
  for (uint32_t door = 0; door < LAND_NODES; door++)
    for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
      for (uint32_t i = 0; i < counts[kind]; i++) {
        uint64_t to, from;
        brokers_door_passed(all->brokers, door, kind, i, &to, &from);
        now->wire[kind][0] += (double)to;
        now->wire[kind][1] += (double)from;
      }
}

static double number_at(json_t *document, const char *part, const char *name) {
  return json_number_value(json_object_get(part ? json_object_get(document, part) : document, name));
}

static void read_zone(land *all, uint32_t zone, traffic *now) {
  static daemon_reply reply;
  int node = land_owner(all, zone);
  if (node < 0) {
    land_await(all); /* it answers later where the machine is busy */
    node = land_owner(all, zone);
  }
  cr_assert_geq(node, 0);
  now->completed +=
      daemon_metric(&all->nodes[node], formed("muster_updates_completed_total{world=\"%s\"}", land_name(zone)));
  cr_assert(land_ask(all, zone, "GET", "", NULL, &reply) && reply.status == 200, "a zone does not run");
  json_auto_t *world = json_loads(reply.body, 0, NULL);
  now->frames += number_at(world, NULL, "frames");
  now->agents += number_at(world, NULL, "agents");
  now->departed += number_at(world, "zone", "departed");
  now->ghosts += number_at(world, "zone", "ghosts");
  now->snapshots += number_at(world, "journal", "snapshots");
  now->journal_bytes += number_at(world, "journal", "bytes");
}

static double seconds_now(void) {
  return (double)clock_system() * 1e-9;
}

/* Between then and now; now is what follows' begin. */
static double middle_since(double *begin_s) {
  double now_s = seconds_now(), middle_s = (*begin_s + now_s) / 2;
  *begin_s = now_s;
  return middle_s;
}

void traffic_read(land *all, const traffic_tap *tap, traffic *now) {
  *now = (traffic){.seconds = seconds_now()};
  pthread_mutex_lock((pthread_mutex_t *)&tap->mutex);
  memcpy(now->published, tap->published, sizeof now->published);
  pthread_mutex_unlock((pthread_mutex_t *)&tap->mutex);
  double begin_s = seconds_now();
  for (uint32_t i = 0; i < all->options.brokers.nats; i++) read_server(all, tap, i, now);
  now->nats_s = middle_since(&begin_s);
  for (uint32_t i = 0; i < all->options.brokers.etcd; i++) read_member(all, i, now);
  now->etcd_s = middle_since(&begin_s);
  read_wire(all, now);
  now->wire_s = middle_since(&begin_s);
  for (uint32_t zone = 0; zone < all->zones; zone++) read_zone(all, zone, now);
  now->zones_s = middle_since(&begin_s);
}

static void stretch(double *first, const double *last, double by) {
  for (; first <= last; first++) *first *= by;
}

void traffic_less(traffic *now, const traffic *before) {
  double ghosts = now->ghosts, agents = now->agents, *values = (double *)now;
  _Static_assert(sizeof *now % sizeof(double) == 0, "all of it are numbers");
  for (size_t i = 0; i < sizeof *now / sizeof(double); i++) values[i] -= ((const double *)before)[i];
  stretch(&now->in[0].messages, &now->out[BROKERS_MAX - 1].bytes, now->seconds / now->nats_s);
  stretch(&now->ranges, &now->database, now->seconds / now->etcd_s);
  stretch(&now->wire[0][0], &now->wire[BROKERS_KINDS - 1][1], now->seconds / now->wire_s);
  stretch(&now->frames, &now->journal_bytes, now->seconds / now->zones_s);
  now->ghosts = ghosts;
  now->agents = agents;
}

/* ---------------------------------------------------------------------------------------------------------- printed */

static void print_flow(const char *name, const traffic_flow *flow, double seconds, FILE *out) {
  fprintf(out, "  %-12s %9.2f messages/s %12.0f bytes/s, %9.1f each\n", name, flow->messages / seconds,
          flow->bytes / seconds, flow->messages > 0 ? flow->bytes / flow->messages : 0);
}

void traffic_print(const traffic *between, FILE *out) {
  static const char *const names[TRAFFIC_KINDS] = {"ghosts", "nodes", "journal", "objects", "removals", "others"};
  double s = between->seconds;
  fprintf(out,
          "in %.1f s: %.2f frames/s, %.1f updates/s, %.2f left/s, %.3f snapshots/s, %.0f bytes/s of journals; %.0f "
          "agents, %.0f ghosts\n",
          s, between->frames / s, between->completed / s, between->departed / s, between->snapshots / s,
          between->journal_bytes / s, between->agents, between->ghosts);
  for (traffic_kind kind = 0; kind < TRAFFIC_KINDS; kind++) print_flow(names[kind], &between->published[kind], s, out);
  for (uint32_t i = 0; i < BROKERS_MAX; i++) {
    print_flow("NATS, in", &between->in[i], s, out);
    print_flow("NATS, out", &between->out[i], s, out);
  }
  fprintf(out, "  wire: NATS %.0f bytes/s in, %.0f out; etcd %.0f in, %.0f out\n", between->wire[BROKERS_NATS][0] / s,
          between->wire[BROKERS_NATS][1] / s, between->wire[BROKERS_ETCD][0] / s, between->wire[BROKERS_ETCD][1] / s);
  fprintf(out,
          "  etcd: %.2f ranges/s, %.2f transactions/s, %.2f puts/s, %.2f deletes/s, %.2f agreed/s, %.0f bytes/s in its "
          "file\n",
          between->ranges / s, between->transactions / s, between->puts / s, between->deletes / s, between->agreed / s,
          between->database / s);
}
