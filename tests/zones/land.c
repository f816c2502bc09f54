#include "growth.h"

#include "base/clock.h"

#include <jansson.h>

enum { PATIENCE = 500, PAUSE_US = 200000, LOG_SHOWN = 4000, STILL = 15 /* looks */ };

static const char *const names[LAND_ZONES_MAX] = {"west",      "middle",  "east", "northwest", "north",
                                                  "northeast", "topwest", "top",  "topeast"};
static daemon_reply land_reply;

/* ------------------------------------------------------------------------------------------------------------ nodes */

const char *land_name(uint32_t zone) {
  return names[zone];
}

static void write_module(const land *all, uint32_t node, uint32_t zone, char *text, size_t bytes) {
  const land_options *options = &all->options;
  bool odd = options->odd && node + 1 == LAND_NODES;
  append_text(text, bytes, "module = %s\nagents = %u\nmodule.ground = 0 0 %d %u\nmodule.speed = %g\n",
              options->strollers ? "strollers" : "nomads",
              zone == 1 && options->in_middle ? options->in_middle : options->agents, LAND_ZONES * LAND_SIDE,
              all->zones / LAND_ZONES * LAND_SIDE, options->speed);
  if (options->strollers)
    append_text(text, bytes, "module.bytes = %u\n", odd ? options->odd : options->strollers);
  else
    append_text(text, bytes, "module.life = %g\nmodule.books = %d\n", options->life, !options->no_books);
}

/* The last node comes to NATS by leaf nodes, where there are any. */
static const char *nats_of(const land *all, uint32_t node, uint32_t door) {
  bool by_leaves = all->options.brokers.leaves && node + 1 == LAND_NODES;
  return brokers_door(all->brokers, door, by_leaves ? BROKERS_LEAVES : BROKERS_NATS);
}

/* Whoever kills processes in a test is not their module: none stays down for it. */
static void write_node(land *all, uint32_t node, uint32_t door) {
  char text[8192] = "";
  append_text(text, sizeof text,
              "[server]\ncluster = land\nnode = %c\nnats = %s\nnats_user = %s\nnats_password_file = %s/password\n"
              "etcd = %s\nlease_ttl = %ds\njournal_stream = %s\nborder = %d\nmargin = %d\nghost_hz = %d\n"
              "balance = no\nsnapshot_file = %s/snapshot\nsnapshot_interval = %ds\nworkers = 1\ncrash_limit = 0\n",
              'a' + (int)node, nats_of(all, node, door), BROKERS_USER, all->nodes[node].folder,
              brokers_door(all->brokers, door, BROKERS_ETCD), LAND_TTL_S, all->options.journal_stream ? "yes" : "no",
              LAND_BORDER, LAND_MARGIN, LAND_GHOST_HZ, all->nodes[node].folder, LAND_STORE_S);
  const land_options *options = &all->options;
  for (uint32_t i = 0; i < all->zones; i++) {
    uint32_t x = i % LAND_ZONES * LAND_SIDE, y = i / LAND_ZONES * LAND_SIDE;
    append_text(text, sizeof text,
                "[world %s]\nzone = %u\nrectangle = %u %u %u %u\nnodes = %c %c %c%s\nbudget = %s\nhz = %u\n", names[i],
                i + 1, x, y, x + LAND_SIDE, y + LAND_SIDE, 'a' + (int)(i % LAND_NODES),
                'a' + (int)((i + 1) % LAND_NODES), 'a' + (int)((i + 2) % LAND_NODES),
                all->node_count > LAND_NODES ? " d" : "", options->budget ? options->budget : "5ms", options->hz);
    write_module(all, node, i, text, sizeof text);
    if (options->in_middle) /* all may come to one zone, and be seen in it */
      append_text(text, sizeof text, "agents_max = %u\n", 2 * (options->in_middle + LAND_ZONES * options->agents));
  }
  daemon_write(&all->nodes[node], "conf", text);
  daemon_write(&all->nodes[node], "password", BROKERS_PASSWORD "\n");
}

static void launch_node(land *all, uint32_t node) {
  const char *wall = all->options.walls ? all->options.walls[node] : NULL;
  if (wall) setenv("LD_PRELOAD", MUSTER_TEST_WALL, 1);
  if (wall) setenv("MUSTER_TEST_WALL", wall, 1);
  daemon_launch(&all->nodes[node], "--isolation process --config @/conf --modules " MUSTER_TEST_MODULES);
  unsetenv("LD_PRELOAD");
}

land *land_start(const land_options *options) {
  land *all = calloc(1, sizeof *all);
  cr_assert_not_null(all);
  all->options = *options;
  if (!all->options.hz) all->options.hz = 10;
  if (options->three)
    all->options.brokers.nats = all->options.brokers.etcd = BROKERS_MAX;
  else if (!options->brokers.nats)
    all->options.brokers = (brokers_options){.nats = 1, .etcd = 1};
  all->node_count = options->nodes ? options->nodes : LAND_NODES;
  cr_assert_leq(all->node_count, LAND_NODES_MAX);
  all->zones = LAND_ZONES * (options->rows ? options->rows : 1);
  cr_assert_leq(all->zones, LAND_ZONES_MAX);
  all->ledger = ledger_open();
  all->brokers = brokers_start(&all->options.brokers);
  for (uint32_t i = 0; i < all->node_count; i++) {
    daemon_prepare(&all->nodes[i]);
    write_node(all, i, brokers_open_door(all->brokers));
    launch_node(all, i);
  }
  land_await(all);
  return all;
}

void land_end(land *all) {
  for (uint32_t i = 0; i < all->node_count; i++) {
    daemon_kill(&all->nodes[i]);
    daemon_clear(&all->nodes[i]);
  }
  brokers_end(all->brokers);
  ledger_close(all->ledger);
  free(all);
}

void land_kill(land *all, uint32_t node) {
  daemon_kill(&all->nodes[node]); /* its processes end with it */
}

void land_revive(land *all, uint32_t node) {
  launch_node(all, node);
}

void land_kill_or_revive(land *all, uint32_t node, bool is_dead) {
  (is_dead ? land_kill : land_revive)(all, node);
}

enum { CHILDREN = 16 };

static uint32_t list_children(int process, int children[CHILDREN]) {
  uint32_t count = 0;
  int child;
  FILE *file = fopen(formed("/proc/%d/task/%d/children", process, process), "re");
  cr_assert_not_null(file);
  while (count < CHILDREN && fscanf(file, "%d", &child) == 1) children[count++] = child;
  fclose(file);
  return count;
}

void land_crash(land *all, uint32_t node) {
  int children[CHILDREN];
  uint32_t count = list_children(all->nodes[node].process, children);
  for (uint32_t i = 0; i < count; i++) kill(children[i], SIGKILL);
}

/* Its children first when it stops, and itself first when it goes on: it misses none of them meanwhile. */
void land_pause(land *all, uint32_t node, bool is_paused) {
  int process = all->nodes[node].process, children[CHILDREN];
  uint32_t count = list_children(process, children);
  if (!is_paused) kill(process, SIGCONT);
  for (uint32_t i = 0; i < count; i++) kill(children[i], is_paused ? SIGSTOP : SIGCONT);
  if (is_paused) kill(process, SIGSTOP);
  all->paused[node] = is_paused;
}

void land_cut(land *all, uint32_t node, bool is_cut) {
  brokers_cut_door_whole(all->brokers, node, is_cut);
  all->cut[node] = is_cut;
}

/* ------------------------------------------------------------------------------------------------------------ zones */

/* Whether a node can be asked: it runs, and listens; behind a death its socket is still there. */
static bool node_answers(const land *all, uint32_t node) {
  return all->nodes[node].process > 0 && !all->paused[node] && daemon_listens(&all->nodes[node]);
}

/* Asks a node for what it knows of a zone; whether it runs it, with its epoch and how many have arrived. */
static bool ask_zone(const land *all, uint32_t node, uint32_t zone, uint32_t *epoch, uint64_t *arrived) {
  json_error_t error;
  if (!node_answers(all, node)) return false;
  daemon_ask(&all->nodes[node], "GET", formed("/v1/worlds/%s", names[zone]), NULL, &land_reply);
  if (land_reply.status != 200) return false;
  json_t *document = json_loads(land_reply.body, 0, &error), *part = json_object_get(document, "zone");
  bool runs = part && !json_is_true(json_object_get(part, "frozen"));
  *epoch = (uint32_t)json_integer_value(json_object_get(part, "epoch"));
  *arrived = (uint64_t)json_integer_value(json_object_get(part, "arrived"));
  json_decref(document);
  return runs;
}

/* Gives a command to a zone at a node; whether it was answered. */
static bool command_zone(const land *all, uint32_t node, uint32_t zone, const char *command, const char *body) {
  if (!node_answers(all, node)) return false;
  daemon_ask_bytes(&all->nodes[node], "POST", formed("/v1/worlds/%s/module/%s", names[zone], command), "text/plain",
                   body, strlen(body), &land_reply);
  return land_reply.status == 200;
}

bool land_ask(land *all, uint32_t zone, const char *method, const char *path, const char *body, daemon_reply *reply) {
  int node = land_owner(all, zone);
  if (node < 0) return false;
  daemon_ask(&all->nodes[node], method, formed("/v1/worlds/%s%s", names[zone], path), body, reply);
  return true;
}

double land_figure(land *all, uint32_t zone, const char *name) {
  cr_assert(land_ask(all, zone, "GET", "", NULL, &land_reply) && land_reply.status == 200);
  json_auto_t *document = json_loads(land_reply.body, 0, NULL);
  return json_number_value(json_object_get(json_object_get(document, "zone"), name));
}

bool land_has_logged(const land *all, uint32_t node, const char *text) {
  SCOPED(free_memory) char *log = daemon_log(&all->nodes[node]);
  return strstr(log, text) != NULL;
}

int land_owner(land *all, uint32_t zone) {
  uint32_t epoch;
  uint64_t arrived;
  for (uint32_t i = 0; i < all->node_count; i++)
    if (ask_zone(all, i, zone, &epoch, &arrived)) return (int)i;
  return -1;
}

/* What the books of a zone have since they were read last, or all at the end. */
static bool read_books(land *all, uint32_t node, uint32_t zone, bool at_end) {
  uint64_t next = at_end ? 0 : all->read[zone];
  for (bool is_last = false; !is_last;) {
    const char *body = formed("%" PRIu64, next);
    if (!command_zone(all, node, zone, "books", body)) return false;
    is_last = ledger_takes_books(all->ledger, zone + 1, land_reply.body, at_end, &next);
  }
  if (!at_end) all->read[zone] = next;
  return true;
}

static bool watch_zone(land *all, uint32_t zone) {
  bool seen = false;
  for (uint32_t i = 0; i < all->node_count; i++) daemon_drop_notices(&all->nodes[i]);
  for (uint32_t node = 0; node < all->node_count; node++) {
    uint32_t epoch = 0;
    uint64_t arrived = 0;
    if (!ask_zone(all, node, zone, &epoch, &arrived)) continue;
    if (epoch < all->epoch[zone]) continue; /* it does not know yet that it has lost the zone */
    if (epoch > all->epoch[zone]) {         /* another process: it counts anew, and its books may have lost their end */
      all->read[zone] = all->counted[zone] = 0;
      all->epoch[zone] = epoch;
    }
    all->arrived += arrived - all->counted[zone];
    all->counted[zone] = arrived;
    seen |= all->options.strollers || read_books(all, node, zone, false);
  }
  return seen;
}

void land_show(const land *all) {
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++)
    for (uint32_t node = 0; node < all->node_count; node++) {
      uint32_t epoch;
      uint64_t arrived;
      if (ask_zone(all, node, zone, &epoch, &arrived)) fprintf(stderr, "%s: %s\n", names[zone], land_reply.body);
    }
  for (uint32_t i = 0; i < all->node_count; i++) {
    char *log = daemon_log(&all->nodes[i]);
    size_t length = strlen(log);
    fprintf(stderr, "%c: %s\n", 'a' + (int)i, log + (length > LOG_SHOWN ? length - LOG_SHOWN : 0));
    free(log);
  }
}

/* Fails the test. */
static void give_up(const land *all, const char *why) {
  land_show(all);
  cr_assert(false, "%s", why);
}

/* How many zones are there. */
static uint32_t watch_all(land *all) {
  uint32_t count = 0;
  if (all->sizes) growth_sample(all->sizes, all);
  for (uint32_t zone = 0; zone < all->zones; zone++) count += watch_zone(all, zone);
  return count;
}

void land_watch(land *all) {
  watch_all(all);
  usleep(PAUSE_US);
}

void land_await(land *all) {
  for (int tries = 0; tries < PATIENCE; tries++, usleep(PAUSE_US))
    if (watch_all(all) == all->zones) return;
  give_up(all, "not all zones run");
}

void land_await_crossings(land *all, uint64_t count) {
  for (int tries = 0; tries < PATIENCE && all->arrived < count; tries++) land_watch(all);
  if (all->arrived < count) give_up(all, "nobody crosses any more");
}

/* --------------------------------------------------------------------------------------------------------- takeover */

uint32_t land_busy_node(land *all, uint32_t from) {
  for (int tries = 0; tries < PATIENCE; tries++, land_watch(all))
    for (uint32_t i = 0; i < all->node_count; i++)
      for (uint32_t zone = 0; zone < all->zones; zone++)
        if (land_owner(all, zone) == (int)((from + i) % all->node_count)) return (from + i) % all->node_count;
  cr_assert(false, "no zone runs");
  return 0;
}

void land_note_owned(land *all, uint32_t node) {
  uint64_t arrived;
  all->owned_ns = clock_system();
  for (uint32_t zone = 0; zone < all->zones; zone++)
    if (!ask_zone(all, node, zone, &all->owned_epoch[zone], &arrived)) all->owned_epoch[zone] = 0;
}

void land_await_takeover(land *all, const char *after) {
  uint32_t waiting = all->zones;
  for (int tries = 0; waiting > 0; tries++) {
    if (tries == PATIENCE) give_up(all, "nobody takes over");
    land_watch(all);
    waiting = 0;
    for (uint32_t zone = 0; zone < all->zones; zone++)
      waiting += all->owned_epoch[zone] && all->epoch[zone] <= all->owned_epoch[zone];
  }
  fprintf(stderr, "%s: taken over within %.1f s\n", after, (double)(clock_system() - all->owned_ns) * 1e-9);
  land_await(all);
}

/* ---------------------------------------------------------------------------------------------------------- judging */

/* Reads who stands in a zone into a ledger; false = it does not answer. */
static bool find_standing(land *all, uint32_t zone, ledger *found) {
  uint64_t after = 0;
  int node = land_owner(all, zone);
  if (node < 0) return false;
  for (bool is_last = false; !is_last;) {
    const char *body = formed("%" PRIu64, after);
    if (!command_zone(all, (uint32_t)node, zone, "stands", body)) return false;
    is_last = ledger_takes_standing(found, zone + 1, land_reply.body, &after);
  }
  return true;
}

/* How many stand anywhere; -1 = not all zones answer. */
static int64_t count_standing(land *all) {
  ledger *scratch = ledger_open();
  bool all_answer = true;
  for (uint32_t zone = 0; zone < all->zones; zone++) all_answer &= find_standing(all, zone, scratch);
  int64_t count = (int64_t)ledger_judge(scratch, NULL).stand;
  ledger_close(scratch);
  return all_answer ? count : -1;
}

void land_rest(land *all) {
  int64_t last = -1;
  uint64_t arrived = 0;
  for (uint32_t zone = 0; zone < all->zones; zone++) {
    int node = -1;
    for (int tries = 0; tries < PATIENCE; tries++, land_watch(all))
      if ((node = land_owner(all, zone)) >= 0 && command_zone(all, (uint32_t)node, zone, "rest", "yes")) break;
    cr_assert_geq(node, 0);
  }
  for (int tries = 0, still = 0; still < STILL; tries++) {
    if (tries == PATIENCE) give_up(all, "it does not come to rest");
    land_await(all);
    int64_t count = count_standing(all);
    still = count >= 0 && count == last && arrived == all->arrived ? still + 1 : 0;
    last = count;
    arrived = all->arrived;
    usleep(PAUSE_US);
  }
}

ledger_verdict land_judge(land *all, FILE *out) {
  for (uint32_t zone = 0; zone < all->zones; zone++) {
    int node = land_owner(all, zone);
    cr_assert_geq(node, 0);
    cr_assert(read_books(all, (uint32_t)node, zone, true));
    cr_assert(find_standing(all, zone, all->ledger));
  }
  ledger_verdict verdict = ledger_judge(all->ledger, out);
  ledger_print(&verdict, out);
  return verdict;
}

ledger_verdict land_end_with_all(land *all) {
  land_rest(all);
  ledger_verdict verdict = land_judge(all, stderr);
  fprintf(stderr, "%" PRIu64 " crossings were seen\n", all->arrived);
  if (!ledger_is_strong(&verdict)) land_show(all);
  cr_expect(ledger_is_strong(&verdict));
  land_end(all);
  return verdict;
}
