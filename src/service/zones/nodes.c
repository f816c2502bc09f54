#include "service/zones/nodes.h"

#include "service/zones/document.h"

#include "base/error.h"
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double millionths = 1e6, processors_most = 1e6;

void nodes_open(struct nodes *nodes, uint64_t now_ns) {
  *nodes = (struct nodes){.opened_ns = now_ns};
}

/* ---------------------------------------------------------------------------------------------------------- telling */

static uint64_t millionths_of(double processors) {
  return (uint64_t)llround(processors * millionths);
}

size_t nodes_write(const node_told *told, char text[NODES_TEXT_BYTES]) {
  json_writer writer;
  char wall[24]; /* below zero it is no number of this writer */
  snprintf(wall, sizeof wall, "%" PRId64, told->wall_ns);
  json_start(&writer, text, NODES_TEXT_BYTES);
  json_print(&writer, "{ node=%s life=%lu count=%lu capacity=%lu drains=%d balances=%d has_wall=%d wall_ns=%s zones[",
             told->name, told->life, told->count, millionths_of(told->capacity), told->drains, told->balances,
             told->has_wall, wall);
  for (uint32_t i = 0; i < told->zone_count; i++)
    json_print(&writer, "{ zone=%u epoch=%lu load=%lu }", told->zones[i].zone, told->zones[i].epoch,
               millionths_of(told->zones[i].load));
  json_print(&writer, "] }");
  return json_finish(&writer) ? writer.length : 0;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static bool read_processors(const struct document *value, double *processors) {
  *processors = (double)document_number(value) / millionths;
  return *processors >= 0 && *processors <= processors_most;
}

static bool read_told_zone(const struct document *value, node_zone *zone) {
  int64_t number = document_number(document_member(value, "zone")),
          epoch = document_number(document_member(value, "epoch"));
  *zone = (node_zone){.zone = (uint32_t)number, .epoch = (uint64_t)epoch};
  return number > 0 && number <= UINT32_MAX && epoch > 0 &&
         read_processors(document_member(value, "load"), &zone->load);
}

static bool read_told(const struct document *whole, node_told *told) {
  static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const struct document *zones = document_member(whole, "zones");
  const char *name = document_text(document_member(whole, "node"));
  int64_t life = document_number(document_member(whole, "life")),
          count = document_number(document_member(whole, "count"));
  if (!name || !*name || strlen(name) >= NAME_BYTES || name[strspn(name, good)]) return false;
  *told = (node_told){.life = (uint64_t)life,
                      .count = (uint64_t)count,
                      .drains = document_is_true(document_member(whole, "drains")),
                      .balances = document_is_true(document_member(whole, "balances")),
                      .has_wall = document_is_true(document_member(whole, "has_wall")),
                      .wall_ns = document_number(document_member(whole, "wall_ns"))};
  strcpy(told->name, name);
  bool good_numbers = life > 0 && count > 0 && document_count(zones) <= WORLDS_MAX &&
                      read_processors(document_member(whole, "capacity"), &told->capacity) && told->capacity > 0;
  for (; good_numbers && told->zone_count < document_count(zones); told->zone_count++)
    if (!read_told_zone(document_at(zones, told->zone_count), &told->zones[told->zone_count])) return false;
  return good_numbers;
}

/* ------------------------------------------------------------------------------------------------------------ table */

static bool is_over(uint64_t since_ns, uint64_t now_ns, uint64_t ms) {
  return now_ns - since_ns > ms * 1000000;
}

/* The row of a node, made where its name belongs; null: there are too many. */
static node_row *place_row(struct nodes *nodes, const char *name, uint64_t now_ns) {
  uint32_t at = 0;
  while (at < nodes->count && strcmp(nodes->rows[at].told.name, name) < 0) at++;
  if (at < nodes->count && strcmp(nodes->rows[at].told.name, name) == 0) return &nodes->rows[at];
  if (nodes->count == NODES_MAX) return NULL;
  memmove(&nodes->rows[at + 1], &nodes->rows[at], (nodes->count++ - at) * sizeof *nodes->rows);
  nodes->rows[at] = (node_row){.since_ns = now_ns};
  return &nodes->rows[at];
}

static zone_seat *place_seat(struct nodes *nodes, uint32_t zone) {
  for (uint32_t i = 0; i < nodes->seat_count; i++)
    if (nodes->seats[i].zone == zone) return &nodes->seats[i];
  if (nodes->seat_count == BALANCE_ZONES_MAX) return NULL;
  nodes->seats[nodes->seat_count] = (zone_seat){.zone = zone};
  return &nodes->seats[nodes->seat_count++];
}

/* One that does not know yet that it has lost its zone tells of it for a while, under an epoch that is over. Epochs
 * that nobody tells of any more count no longer: the brokers may have lost all, and begun anew. */
static bool note_seat(struct nodes *nodes, const char *node, const node_zone *zone, uint64_t now_ns) {
  zone_seat *seat = place_seat(nodes, zone->zone);
  if (!seat) return false;
  if (zone->epoch < seat->epoch && !is_over(seat->heard_ns, now_ns, NODES_GONE_MS)) return true;
  if (strcmp(seat->node, node) != 0) seat->since_ns = now_ns;
  snprintf(seat->node, sizeof seat->node, "%s", node);
  seat->epoch = zone->epoch;
  seat->load = zone->load;
  seat->heard_ns = now_ns;
  return true;
}

static bool hear_told(struct nodes *nodes, const node_told *told, uint64_t now_ns) {
  node_row *row = place_row(nodes, told->name, now_ns);
  bool good = row != NULL;
  if (!row) return false;
  if (told->life < row->told.life || (told->life == row->told.life && told->count <= row->told.count)) return true;
  row->told = *told;
  row->heard_ns = now_ns;
  for (uint32_t i = 0; i < told->zone_count; i++) good &= note_seat(nodes, told->name, &told->zones[i], now_ns);
  return good;
}

bool nodes_hear(struct nodes *nodes, const void *text, size_t bytes, uint64_t now_ns) {
  node_told told;
  struct document *document = document_read(text, bytes);
  bool good = document && read_told(document, &told);
  document_free(document);
  return good && hear_told(nodes, &told, now_ns);
}

void nodes_forget(struct nodes *nodes, uint64_t now_ns) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < nodes->count; i++)
    if (!is_over(nodes->rows[i].heard_ns, now_ns, NODES_GONE_MS)) nodes->rows[left++] = nodes->rows[i];
  nodes->count = left;
}

/* -------------------------------------------------------------------------------------------------------- questions */

const node_row *nodes_find(const struct nodes *nodes, const char *name) {
  for (uint32_t i = 0; i < nodes->count; i++)
    if (strcmp(nodes->rows[i].told.name, name) == 0) return &nodes->rows[i];
  return NULL;
}

const zone_seat *nodes_seat(const struct nodes *nodes, uint32_t zone) {
  for (uint32_t i = 0; i < nodes->seat_count; i++)
    if (nodes->seats[i].zone == zone) return &nodes->seats[i];
  return NULL;
}

static uint64_t walls_apart_ns(const node_row *left, const node_row *right) {
  int64_t a = left->told.wall_ns, b = right->told.wall_ns;
  return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* How many have a wall clock as that node has. */
static uint32_t count_walls_beside(const struct nodes *nodes, const node_row *row) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < nodes->count; i++)
    count += nodes->rows[i].told.has_wall && walls_apart_ns(&nodes->rows[i], row) <= NODES_WALL_NS;
  return count;
}

bool nodes_wall(const struct nodes *nodes, const node_row *row, int64_t *ahead_ns, const node_row **of) {
  uint32_t most = 0;
  if (!row->told.has_wall) return false;
  for (uint32_t i = 0; i < nodes->count; i++) {
    const node_row *other = &nodes->rows[i];
    uint32_t count = other->told.has_wall ? count_walls_beside(nodes, other) : 0;
    if (count > most) *of = other;
    if (count > most) most = count;
  }
  if (most) *ahead_ns = (int64_t)((uint64_t)row->told.wall_ns - (uint64_t)(*of)->told.wall_ns);
  return most > 0;
}

bool nodes_wall_words(const struct nodes *nodes, const node_row *row, char words[NODES_WALL_WORDS_BYTES]) {
  const node_row *of = NULL;
  int64_t ahead_ns = 0;
  if (!nodes_wall(nodes, row, &ahead_ns, &of) || walls_apart_ns(row, of) <= NODES_WALL_NS) return false;
  snprintf(words, NODES_WALL_WORDS_BYTES, "the wall clock of node %s is %.1f s %s that of node %s", row->told.name,
           fabs((double)ahead_ns) * 1e-9, ahead_ns > 0 ? "ahead of" : "behind", of->told.name);
  return true;
}

double nodes_pressure(const node_row *row) {
  double load = 0;
  for (uint32_t i = 0; i < row->told.zone_count; i++) load += row->told.zones[i].load;
  return load / row->told.capacity;
}

int nodes_rank(const char *allowed, const char *node) {
  size_t length = strlen(node);
  int rank = 0;
  if (!allowed[strspn(allowed, " ")]) return 0;
  for (const char *next = allowed; *(next += strspn(next, " ")); rank++) {
    size_t count = strcspn(next, " ");
    if (count == length && memcmp(next, node, count) == 0) return rank;
    next += count;
  }
  return -1;
}

bool nodes_have_room(const struct nodes *nodes, const char *allowed, const char *but) {
  for (uint32_t i = 0; i < nodes->count; i++) {
    const node_told *told = &nodes->rows[i].told;
    if (strcmp(told->name, but) != 0 && !told->drains && nodes_rank(allowed, told->name) >= 0) return true;
  }
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- to plan */

static uint32_t place_of(const struct nodes *nodes, const char *name) {
  const node_row *row = nodes_find(nodes, name);
  return row ? (uint32_t)(row - nodes->rows) : BALANCE_NOWHERE;
}

static uint64_t allowed_places(const struct nodes *nodes, const char *allowed) {
  uint64_t places = 0;
  for (uint32_t i = 0; i < nodes->count; i++)
    if (nodes_rank(allowed, nodes->rows[i].told.name) >= 0) places |= (uint64_t)1 << i;
  return places;
}

static balance_zone zone_at(const struct nodes *nodes, const zone_seat *seat, uint64_t now_ns) {
  bool is_there = seat && !is_over(seat->heard_ns, now_ns, NODES_GONE_MS);
  if (!is_there) return (balance_zone){.node = BALANCE_NOWHERE};
  return (balance_zone){.node = place_of(nodes, seat->node), .load = seat->load, .moved_ns = seat->since_ns};
}

static bool is_known(const struct settings *settings, uint32_t zone) {
  for (uint32_t i = 0; i < settings->world_count; i++)
    if (settings->worlds[i].zone == zone) return true;
  return false;
}

/* Whether a zone that nobody tells of may soon be told of. */
static bool is_awaited(const struct nodes *nodes, const zone_seat *seat, uint64_t now_ns) {
  uint64_t last_ns = seat && seat->heard_ns > nodes->opened_ns ? seat->heard_ns : nodes->opened_ns;
  return !is_over(last_ns, now_ns, NODES_NOWHERE_MS);
}

static bool add_zones(const struct nodes *nodes, const struct settings *settings, uint64_t now_ns, balance_land *land,
                      char why[NODES_WHY_BYTES]) {
  for (uint32_t i = 0; i < settings->world_count; i++) {
    const world_settings *world = &settings->worlds[i];
    const zone_seat *seat = nodes_seat(nodes, world->zone);
    if (!world->zone) continue;
    balance_zone *zone = &land->zones[land->zone_count++];
    *zone = zone_at(nodes, seat, now_ns);
    zone->nodes_allowed = allowed_places(nodes, world->nodes);
    if (zone->node != BALANCE_NOWHERE || !is_awaited(nodes, seat, now_ns)) continue;
    snprintf(why, NODES_WHY_BYTES, "no node tells yet that it runs world %s", world->name);
    return false;
  }
  for (uint32_t i = 0; i < nodes->seat_count && land->zone_count < BALANCE_ZONES_MAX; i++)
    if (!is_known(settings, nodes->seats[i].zone))
      land->zones[land->zone_count++] = zone_at(nodes, &nodes->seats[i], now_ns);
  return true;
}

bool nodes_plan(const struct nodes *nodes, const struct settings *settings, uint64_t now_ns, balance_land *land,
                char why[NODES_WHY_BYTES]) {
  *land = (balance_land){.node_count = nodes->count};
  for (uint32_t i = 0; i < nodes->count; i++)
    land->nodes[i] = (balance_node){.capacity = nodes->rows[i].told.capacity,
                                    .drains = nodes->rows[i].told.drains,
                                    .heard = is_over(nodes->rows[i].since_ns, now_ns, NODES_SETTLED_MS)};
  if (is_over(nodes->opened_ns, now_ns, NODES_SETTLED_MS)) return add_zones(nodes, settings, now_ns, land, why);
  snprintf(why, NODES_WHY_BYTES, "it has listened for less than %d s", NODES_SETTLED_MS / 1000);
  return false;
}
