/* Zones that are moved while they run, with real brokers and three nodes: who walks there notices nothing, and for how
 * long the zone stands still is printed. MUSTER_MOVE_AGENTS says how many stand in it, and MUSTER_MOVES how often it is
 * moved to and fro; with MUSTER_MOVE_MOST_MS the longest standstill is judged, which only a machine can be that has
 * nothing else to do. */
#include "land.h"

#include "base/clock.h"
#include "base/random.h"
#include "service/zones/spaces.h"

#include <jansson.h>

TestSuite(moves, .timeout = 3600);

enum { MIDDLE = 1, MOVES = 20, PATIENCE = 1000, LOOK_US = 100000, MOVES_MOST = 100, BOOKS_MOST = 20000 };

static daemon_reply reply;

/* ------------------------------------------------------------------------------------------------------------- logs */

/* Behind the last place in a log where a text stands; null = nowhere. */
static const char *behind_last(const char *log, const char *text) {
  const char *found = NULL;
  for (const char *next = log; (next = strstr(next, text)) != NULL; next++) found = next + strlen(text);
  return found;
}

static void await_logged(land *all, uint32_t node, const char *text) {
  for (int tries = 0; !land_has_logged(all, node, text); tries++) {
    cr_assert_lt(tries, PATIENCE, "node %c does not log \"%s\"", 'a' + (int)node, text);
    usleep(LOOK_US);
  }
}

/* A number that a node has logged of an epoch of the zone. */
static double number_logged(land *all, uint32_t node, uint32_t epoch, const char *before, const char *number_behind) {
  double number = -1;
  const char *text = formed("zone %d, epoch %u, %s", MIDDLE + 1, epoch, before);
  await_logged(all, node, text);
  SCOPED(free_memory) char *log = daemon_log(&all->nodes[node]);
  const char *at = behind_last(log, text), *behind = at ? strstr(at, number_behind) : NULL;
  if (behind) number = strtod(behind + strlen(number_behind), NULL);
  cr_assert_geq(number, 0, "%s%s: %.200s", text, number_behind, at);
  return number;
}

/* ------------------------------------------------------------------------------------------------------------ moves */

/* Whether a node has the zone, of a later epoch. */
static bool has_moved(land *all, uint32_t node, uint32_t epoch) {
  land_watch(all);
  return all->epoch[MIDDLE] > epoch && land_owner(all, MIDDLE) == (int)node;
}

/* On a machine that has other work a move may be given up: it is ordered again. */
static void await_moved(land *all, uint32_t node, uint32_t epoch) {
  for (int tries = 0; !has_moved(all, node, epoch); tries++) {
    cr_assert_lt(tries, PATIENCE, "zone %d does not come to node %c", MIDDLE + 1, 'a' + (int)node);
    if (land_ordered(all, MIDDLE) >= 0 || has_moved(all, node, epoch)) continue;
    fprintf(stderr, "zone %d: the move to node %c was given up, and is ordered again\n", MIDDLE + 1, 'a' + (int)node);
    land_move(all, MIDDLE, (int)node);
  }
}

static uint32_t owner_of_middle(land *all) {
  int owner = land_owner(all, MIDDLE);
  for (int tries = 1; owner < 0 && tries < PATIENCE; tries++, owner = land_owner(all, MIDDLE)) usleep(LOOK_US);
  cr_assert_geq(owner, 0);
  return (uint32_t)owner;
}

static void await_no_order(land *all) {
  for (int tries = 0; land_ordered(all, MIDDLE) >= 0; tries++) {
    cr_assert_lt(tries, PATIENCE, "the order stays");
    usleep(LOOK_US);
  }
}

static int64_t figure_of_middle(land *all, const char *name) {
  return (int64_t)land_figure(all, MIDDLE, name);
}

/* Moves the zone once; how long it stood still, in milliseconds. */
static double move_once(land *all, uint32_t to) {
  land_await(all);
  uint32_t from = owner_of_middle(all), epoch = all->epoch[MIDDLE];
  int64_t space = figure_of_middle(all, "space");
  cr_assert_neq(from, to);
  cr_assert(space > 0 && figure_of_middle(all, "spaces_used") == space);
  land_move(all, MIDDLE, (int)to);
  await_moved(all, to, epoch);
  cr_assert_eq(all->epoch[MIDDLE], epoch + 1, "it had another owner meanwhile");
  cr_assert_eq(figure_of_middle(all, "space"), space, "who is handed the very state takes no other birth space");
  double last = number_logged(all, from, epoch, "was given to node ", "behind frame "),
         first = number_logged(all, to, epoch + 1, "goes on with ", "frame ");
  cr_assert_eq(first, last + 1, "frame %.0f is the next behind frame %.0f", first, last);
  await_no_order(all);
  return number_logged(all, to, epoch + 1, "goes on with ", "stood still for ");
}

static void judge_times(double *times, uint32_t count, uint64_t agents) {
  uint64_t most = from_environment("MUSTER_MOVE_MOST_MS", 0);
  qsort(times, count, sizeof *times, compare_reals);
  fprintf(stderr, "%" PRIu64 " agents, %u moves: the zone stood still for %.0f ms in the median, %.0f ms at most\n",
          agents, count, times[count / 2], times[count - 1]);
  if (most) cr_expect_leq(times[count - 1], (double)most);
}

Test(moves, to_and_fro_lose_nothing) {
  double times[MOVES_MOST];
  uint64_t agents = from_environment("MUSTER_MOVE_AGENTS", 10000);
  uint32_t count = (uint32_t)from_environment("MUSTER_MOVES", MOVES);
  bool books = agents <= BOOKS_MOST;
  cr_assert(count > 0 && count <= MOVES_MOST);
  land *all = land_start(&(land_options){.three = true,
                                         .journal_stream = true,
                                         .agents = 100,
                                         .in_middle = (uint32_t)agents,
                                         .speed = 1,
                                         .no_books = !books,
                                         .hz = 30,
                                         .budget = "10ms"});
  for (uint32_t i = 0; i < count; i++) times[i] = move_once(all, (owner_of_middle(all) + 1) % 2);
  judge_times(times, count, agents);
  if (books)
    land_end_with_all(all);
  else
    land_end(all);
}

/* ----------------------------------------------------------------------------------------------------------- orders */

/* Families of births, deaths and messages, in all zones. */
static land *start_families(bool journal_stream) {
  return land_start(
      &(land_options){.three = true, .journal_stream = journal_stream, .agents = 60, .speed = 10, .life = 20});
}

/* Asks for something that changes nothing, as fast as it is answered, until the zone is moved: it is always answered,
 * or refused with a reason. */
static void ask_until_moved(land *all, uint32_t from, uint32_t to, uint32_t epoch) {
  uint32_t answered[2] = {0}, refused[2] = {0};
  for (int tries = 0; answered[1] == 0 || !has_moved(all, to, epoch); tries++) {
    cr_assert_lt(tries, 100 * PATIENCE);
    for (uint32_t i = 0; i < 2; i++) {
      daemon_ask_bytes(&all->nodes[i ? to : from], "POST", "/v1/worlds/middle/module/rest", "text/plain", "no", 2,
                       &reply);
      cr_assert(reply.status == 200 || reply.status == 503, "%ld: %s", reply.status, reply.body);
      if (reply.status == 503) cr_assert(strstr(reply.body, "\"message\""), "%s", reply.body);
      ++*(reply.status == 200 ? &answered[i] : &refused[i]);
    }
  }
  fprintf(stderr, "answered and refused: %u and %u by the owner, %u and %u by the other\n", answered[0], refused[0],
          answered[1], refused[1]);
  cr_expect(answered[0] > 0 && refused[1] > 0);
}

/* The first 24 bytes of a text in base64. */
static void read_head(const char *text, unsigned char bytes[24]) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t three = 0;
    for (uint32_t k = 0; k < 4; k++) three = three << 6 | (uint32_t)(strchr(digits, text[4 * i + k]) - digits);
    for (uint32_t k = 0; k < 3; k++) bytes[3 * i + k] = (unsigned char)(three >> (16 - 8 * k));
  }
}

/* Whether all zones have noted which birth spaces they name, in intervals that have a moment in common. */
static bool notes_meet(const land *all) {
  /* from muster/land/named/ to muster/land/named0 */
  static const char range[] = "{\"key\": \"bXVzdGVyL2xhbmQvbmFtZWQv\", \"range_end\": \"bXVzdGVyL2xhbmQvbmFtZWQw\"}";
  size_t i;
  json_t *entry;
  brokers_answer answer = brokers_ask(all->brokers, BROKERS_ETCD, 0, "/v3/kv/range", NULL, range);
  json_auto_t *document = json_loads(answer.body, 0, NULL);
  spaces_sweep sweep;
  sweep_begin(&sweep, MIDDLE + 1, 1);
  for (uint32_t zone = 0; zone < all->zones; zone++) sweep_add_zone(&sweep);
  json_array_foreach(json_object_get(document, "kvs"), i, entry) {
    spaces_note note = {0};
    const char *value = json_string_value(json_object_get(entry, "value"));
    if (value && strlen(value) >= 32) read_head(value, (unsigned char *)&note);
    note.count = note.count <= SPACES_NAMED_MAX ? 0 : note.count; /* without its names */
    sweep_add_note(&sweep, &note, sizeof note);
  }
  free(answer.body);
  return sweep_moment(&sweep) > 0;
}

/* From these notes a zone's owner sees which of its birth spaces nobody needs any more. */
Test(moves, zones_note_which_birth_spaces_they_name) {
  land *all = start_families(true);
  land_await(all);
  for (int tries = 0; !notes_meet(all); tries++) {
    cr_assert_lt(tries, PATIENCE, "no moment is in the notes of all");
    land_watch(all);
    usleep(LOOK_US);
  }
  land_end(all);
}

/* A node that ends in order leaves the very state with the brokers; of one that dies nobody knows who was born last. */
Test(moves, a_node_that_ends_closes_its_birth_space_and_one_that_dies_does_not) {
  land *all = start_families(true);
  land_await(all);
  uint32_t first = owner_of_middle(all);
  int64_t space = figure_of_middle(all, "space");
  land_note_owned(all, first);
  daemon_signal(&all->nodes[first], SIGTERM);
  land_await_takeover(all, "a node ends");
  daemon_wait(&all->nodes[first]);
  uint32_t second = owner_of_middle(all);
  cr_assert_neq(second, first);
  cr_expect_eq(figure_of_middle(all, "space"), space);
  cr_expect_eq(figure_of_middle(all, "spaces_used"), space);
  land_revive(all, first);
  land_await(all);
  uint32_t third = owner_of_middle(all); /* on a busy machine not the second any more */
  int64_t before = figure_of_middle(all, "space");
  land_note_owned(all, third);
  land_kill(all, third);
  land_await_takeover(all, "a node dies");
  int64_t taken = figure_of_middle(all, "space"), used = figure_of_middle(all, "spaces_used");
  cr_expect_gt(taken, before, "space %ld, %ld before: ids that were given last may come twice", taken, before);
  cr_expect_eq(used, taken, "%ld of %ld", used, taken);
  land_revive(all, third);
  land_end_with_all(all);
}

Test(moves, without_a_stream_it_stands_still_longer_and_loses_nothing) {
  land *all = start_families(false);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t from = owner_of_middle(all), to = (from + 1) % LAND_NODES, epoch = all->epoch[MIDDLE];
    land_move(all, MIDDLE, (int)to);
    ask_until_moved(all, from, to, epoch);
    cr_assert_eq(all->epoch[MIDDLE], epoch + 1);
    cr_assert(land_has_logged(all, from, "could follow it"));
    fprintf(stderr, "without a stream it stood still for %.0f ms\n",
            number_logged(all, to, epoch + 1, "goes on with ", "stood still for "));
    land_await(all);
  }
  land_end_with_all(all);
}

/* A zone whose world is paused has no frames, and its lease all the same. */
static void expect_paused(land *all, uint32_t node, bool is_paused) {
  daemon_ask(&all->nodes[node], "GET", "/v1/worlds/middle", NULL, &reply);
  cr_assert_eq(reply.status, 200, "%s", reply.body);
  cr_assert(strstr(reply.body, is_paused ? "\"paused\": true" : "\"paused\": false"), "%s", reply.body);
}

static void pause_middle(land *all, bool is_paused) {
  cr_assert(land_ask(all, MIDDLE, "PATCH", "", is_paused ? "{\"paused\": true}" : "{\"paused\": false}", &reply));
  cr_assert_eq(reply.status, 200, "%s", reply.body);
}

Test(moves, a_paused_zone_keeps_its_lease_and_is_moved_as_it_is) {
  land *all = start_families(true);
  uint32_t from = owner_of_middle(all), epoch = all->epoch[MIDDLE];
  pause_middle(all, true);
  expect_paused(all, from, true);
  for (uint32_t i = 0; i < (LAND_TTL_S + 5) * 5; i++) land_watch(all);
  cr_assert_eq(owner_of_middle(all), from);
  cr_assert_eq(all->epoch[MIDDLE], epoch, "it has lost its lease");
  land_move(all, MIDDLE, (int)((from + 1) % LAND_NODES));
  await_moved(all, (from + 1) % LAND_NODES, epoch);
  expect_paused(all, (from + 1) % LAND_NODES, true);
  pause_middle(all, false);
  expect_paused(all, (from + 1) % LAND_NODES, false);
  land_end_with_all(all);
}

Test(moves, orders_that_ask_for_nothing_or_cannot_be_carried_out_go) {
  land *all = start_families(true);
  uint32_t from = owner_of_middle(all), epoch = all->epoch[MIDDLE];
  land_move(all, MIDDLE, (int)from);
  await_no_order(all);
  land_move(all, MIDDLE, LAND_NODES + 2); /* nobody */
  await_no_order(all);
  cr_assert(land_has_logged(all, from, "is not moved to node f: it is none of the nodes that its settings name"));
  land_await(all);
  cr_assert_eq(owner_of_middle(all), from);
  cr_assert_eq(all->epoch[MIDDLE], epoch);
  land_end(all);
}

/* The node that wants it stands still while it follows; then the order is taken back, and nobody notices anything. */
Test(moves, one_that_is_taken_back_leaves_the_zone_where_it_is) {
  land *all = start_families(true);
  uint32_t from = owner_of_middle(all), to = (from + 1) % LAND_NODES, epoch = all->epoch[MIDDLE];
  land_pause(all, to, true);
  land_move(all, MIDDLE, (int)to);
  await_logged(all, from, formed("zone %d is to be moved to node %c", MIDDLE + 1, 'a' + (int)to));
  land_move(all, MIDDLE, -1);
  await_logged(all, from, "the order was taken back");
  land_pause(all, to, false);
  land_await(all);
  cr_assert_eq(owner_of_middle(all), from);
  cr_assert_eq(all->epoch[MIDDLE], epoch, "it has lost its lease");
  land_end_with_all(all);
}

/* ----------------------------------------------------------------------------------------------------------- deaths */

/* One of the two nodes of a move is lost at some moment of it, or behind it: the zone goes on somewhere. */
static void lose_one(land *all, uint64_t random) {
  static void (*const ways[])(land * all, uint32_t node, bool is_lost) = {land_kill_or_revive, land_pause, land_cut};
  static const char *const names[] = {"dies", "stops", "is cut off"};
  uint32_t from = owner_of_middle(all), to = (from + 1 + (uint32_t)(random % 2)) % LAND_NODES;
  uint32_t lost = random / 2 % 2 ? to : from, way = (uint32_t)(random / 4 % 3), epoch = all->epoch[MIDDLE];
  uint64_t after_ms = random / 12 % 2000;
  fprintf(stderr, "zone %d goes from %c to %c, and %c %s after %" PRIu64 " ms\n", MIDDLE + 1, 'a' + (int)from,
          'a' + (int)to, 'a' + (int)lost, names[way], after_ms);
  land_move(all, MIDDLE, (int)to);
  usleep((useconds_t)after_ms * 1000);
  land_note_owned(all, lost);
  ways[way](all, lost, true);
  land_await_takeover(all, "a loss in a move");
  ways[way](all, lost, false);
  land_move(all, MIDDLE, -1);
  land_await(all);
  fprintf(stderr, "epoch %u, behind %u\n", all->epoch[MIDDLE], epoch);
}

Test(moves, a_node_that_is_lost_in_one_takes_nobody_with_it) {
  uint64_t seed = from_environment("MUSTER_LAND_SEED", clock_system()),
           count = from_environment("MUSTER_MOVE_DEATHS", 2);
  fprintf(stderr, "MUSTER_LAND_SEED=%" PRIu64 "\n", seed);
  land *all = start_families(true);
  for (uint64_t i = 0; i < count; i++) {
    land_await_crossings(all, all->arrived + 20);
    lose_one(all, muster_random_mix(seed + i));
  }
  land_end_with_all(all);
}
