/* Players walk over three zones while processes of zones and nodes die: each is in one zone, and who moves it where it
 * was is told where it is. With real brokers and three nodes. */
#include "land.h"

#include <jansson.h>

enum { PLAYERS = 8, STEPS = 16, DEATH_AT = 8, TRIES = 300, PAUSE_US = 100000 };

typedef struct player {
  char id[32];
  uint32_t zone; /* where its client believes it to be */
  double x;
} player;

static uint32_t told; /* answers that named another zone */

TestSuite(observers, .timeout = 600);

static const char *text_of(json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

/* Whether a reply is an error of that code; and its message. */
static bool is_error(const daemon_reply *reply, const char *code, char message[256]) {
  json_t *document = json_loads(reply->body, 0, NULL), *part = json_object_get(document, "error");
  bool is = strcmp(text_of(part, "code"), code) == 0;
  snprintf(message, 256, "%s", text_of(part, "message"));
  json_decref(document);
  return is;
}

/* Moves a player as its client does: where it was, or in the zone that the answer names; again when nobody answers. */
static void move_player(land *all, player *one, double x) {
  daemon_reply reply;
  char path[96], body[96], message[256];
  snprintf(path, sizeof path, "/observers/%s/position", one->id);
  snprintf(body, sizeof body, "{\"position\": {\"x\": %g, \"y\": 50}}", x);
  for (int tries = 0; tries < TRIES; tries++) {
    bool answered = land_ask(all, one->zone, "PUT", path, body, &reply);
    if (answered && reply.status == 200) {
      one->x = x;
      return;
    }
    const char *named = answered && is_error(&reply, "moved", message) ? strstr(message, "is in zone ") : NULL;
    if (named) {
      cr_assert_eq(reply.status, 409);
      told++;
      one->zone = (uint32_t)strtoul(named + strlen("is in zone "), NULL, 10) - 1;
      cr_assert_lt(one->zone, LAND_ZONES, "%s", message);
    }
    usleep(PAUSE_US);
  }
  cr_assert(false, "player %s is in no zone: %u %s", one->id, reply.status, reply.body);
}

/* How often an id is among the observers of a zone; -1 = it does not answer. */
static int count_in_zone(land *all, uint32_t zone, const char *id) {
  daemon_reply reply;
  int count = 0;
  if (!land_ask(all, zone, "GET", "/observers?limit=1000", NULL, &reply) || reply.status != 200) return -1;
  json_t *document = json_loads(reply.body, 0, NULL), *list = json_object_get(document, "observers");
  for (size_t i = 0; i < json_array_size(list); i++)
    count += strcmp(text_of(json_array_get(list, i), "observer"), id) == 0;
  json_decref(document);
  return count;
}

/* Waits until a player is in the zone of its place, and nowhere else. */
static void await_player(land *all, const player *one) {
  uint32_t wanted = (uint32_t)(one->x / 100);
  int found[LAND_ZONES] = {0};
  for (int tries = 0; tries < TRIES; tries++) {
    bool is_there = true;
    for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
      found[zone] = count_in_zone(all, zone, one->id);
      is_there &= found[zone] == (zone == wanted);
    }
    if (is_there) return;
    usleep(PAUSE_US);
  }
  cr_assert(false, "player %s at %g is %d, %d and %d times in the zones", one->id, one->x, found[0], found[1],
            found[2]);
}

static void add_player(land *all, player *one, uint32_t number) {
  daemon_reply reply;
  *one = (player){.zone = number % LAND_ZONES, .x = number % LAND_ZONES * 100 + 50};
  const char *body = formed("{\"position\": {\"x\": %g, \"y\": 50}, \"near_m\": 5, \"far_m\": 20}", one->x);
  cr_assert(land_ask(all, one->zone, "POST", "/observers", body, &reply));
  cr_assert_eq(reply.status, 201, "%s", reply.body);
  json_auto_t *document = json_loads(reply.body, 0, NULL);
  snprintf(one->id, sizeof one->id, "%s", text_of(document, "observer"));
}

static void crash_all(land *all) {
  for (uint32_t node = 0; node < LAND_NODES; node++) land_crash(all, node);
}

static void kill_one(land *all) {
  land_note_owned(all, 0);
  land_kill(all, 0);
  land_await_takeover(all, "node killed");
  land_revive(all, 0);
}

/* Players walk, while `die` happens. */
static void walk_about(const land_options *options, void (*die)(land *all)) {
  player players[PLAYERS];
  land *all = land_start(options);
  for (uint32_t i = 0; i < PLAYERS; i++) add_player(all, &players[i], i);
  for (uint32_t step = 1; step <= STEPS; step++) {
    for (uint32_t i = 0; i < PLAYERS; i++) move_player(all, &players[i], (double)((step * 37 + i * 71) % 300));
    if (step == DEATH_AT) die(all);
    land_watch(all);
  }
  for (uint32_t i = 0; i < PLAYERS; i++) move_player(all, &players[i], (double)((i * 71) % 3 * 100 + 50));
  for (uint32_t i = 0; i < PLAYERS; i++) await_player(all, &players[i]);
  cr_assert_gt(told, STEPS, "%u", told);
  land_end(all);
}

Test(observers, are_in_one_zone_wherever_they_go_and_whatever_process_dies) {
  walk_about(&(land_options){.agents = 10, .speed = 5}, crash_all);
}

Test(observers, are_in_one_zone_when_a_node_has_died) {
  walk_about(&(land_options){.journal_stream = true, .agents = 10, .speed = 5}, kill_one);
}
