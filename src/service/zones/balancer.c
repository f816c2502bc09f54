#include "service/zones/balancer.h"

#include "service/log.h"

#include "base/clock.h"
#include "base/error.h"

#include <muster/jobs.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SETTLE_NS: behind the end of a move its zone may not be told of yet. */
enum { LEASE_TURNS = 4, NAME_TURNS = 2 };

#define SETTLE_NS 10000000000u
#define QUIET_NS  60000000000u

/* ---------------------------------------------------------------------------------------------------------- telling */

static double count_processors(void) {
  cpu_set_t machine;
  uint32_t most = muster_available_processors();
  uint32_t count = sched_getaffinity(0, sizeof machine, &machine) ? most : (uint32_t)CPU_COUNT(&machine);
  return count < most ? count : most;
}

/* What ends soon gets nothing, either. */
static bool is_draining(const struct balancer *balancer) {
  return balancer->drains || balancer->holder->processes->stopping;
}

static void fill_told(const struct balancer *balancer, node_told *told) {
  const struct holder *holder = balancer->holder;
  *told = (node_told){.life = holder->name.own.incarnation.run,
                      .count = balancer->turns,
                      .capacity = balancer->capacity,
                      .drains = is_draining(balancer),
                      .balances = balancer_has_lease(balancer),
                      .has_wall = clock_is_known(holder)};
  if (told->has_wall) told->wall_ns = (int64_t)(clock_real() - clock_land(holder));
  snprintf(told->name, sizeof told->name, "%s", holder->settings.node);
  for (uint32_t i = 0; i < holder->count; i++) {
    const struct holding *holding = &holder->holdings[i];
    if (holding->stage == HOLDING_RUNNING)
      told->zones[told->zone_count++] = (node_zone){holding->ground.number, holding->lease.epoch, holding->load};
  }
}

static void name_subject(const struct balancer *balancer, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.nodes", balancer->holder->settings.cluster);
}

/* Over one server after the other: whoever is connected to any of them hears one of three. What it hears of itself is
 * as the others hear it. */
void balancer_tell(struct balancer *balancer) {
  char text[NODES_TEXT_BYTES], subject[BROKER_SUBJECT_BYTES];
  node_told told;
  balancer->turns++;
  if (!balancer->holder->name.has) return; /* another tells under this name */
  fill_told(balancer, &told);
  name_subject(balancer, subject);
  size_t bytes = nodes_write(&told, text);
  if (bytes) broker_tell(balancer->holder->broker, balancer->turns, subject, text, bytes);
}

static void hear(const void *bytes, size_t count, void *user) {
  struct balancer *balancer = user;
  uint64_t now_ns = clock_boot();
  if (nodes_hear(&balancer->nodes, bytes, count, now_ns) || now_ns < balancer->quiet_ns) return;
  balancer->quiet_ns = now_ns + QUIET_NS;
  log_line(MUSTER_LOG_WARNING, "cluster %s: a node tells what cannot be read, or there are more than %d nodes or zones",
           balancer->holder->settings.cluster, NODES_MAX);
}

/* ------------------------------------------------------------------------------------------------------------ moves */

/* What this node has named is over: the zone is where it was to go, or it was given up, for a reason that the log of
 * its owner has. */
static void end_named(struct balancer *balancer, bool is_there) {
  struct holder *holder = balancer->holder;
  const struct holding *holding = holder_find_zone(holder, balancer->named.zone);
  if (holding && !is_there) balancer->failed_ns[holding - holder->holdings] = clock_boot();
  balancer->moves_failed += !is_there;
  log_line(is_there ? MUSTER_LOG_INFO : MUSTER_LOG_WARNING, "cluster %s: zone %u %s node %s", holder->settings.cluster,
           balancer->named.zone, is_there ? "has moved to" : "was given up on its way to", balancer->named.node);
  balancer->named = (move_order){0};
  balancer->over_ns = 0;
}

static void look_at_named(struct balancer *balancer) {
  const move_order *named = &balancer->named;
  const zone_seat *seat = nodes_seat(&balancer->nodes, named->zone);
  if (!named->zone) return;
  if (orders_find(&balancer->wanted, named->zone)) {
    balancer->over_ns = 0;
    return;
  }
  if (!balancer->over_ns) balancer->over_ns = clock_boot();
  bool is_there = seat && strcmp(seat->node, named->node) == 0;
  if (is_there || clock_boot() - balancer->over_ns > SETTLE_NS) end_named(balancer, is_there);
}

static void take_back_overdue(struct balancer *balancer) {
  for (const move_order *late; (late = orders_take_overdue(&balancer->wanted, clock_boot()));) {
    log_line(MUSTER_LOG_WARNING,
             "cluster %s: zone %u does not come to node %s, and nobody says why: it is wanted there no more",
             balancer->holder->settings.cluster, late->zone, late->node);
    broker_move_want(balancer->holder->broker, late->zone, "", NULL, NULL);
  }
}

static void take_named(muster_result result, void *user) {
  struct balancer *balancer = user;
  if (balancer->holder->closing) return;
  if (!result) {
    balancer->moves_named++;
    return;
  }
  log_line(MUSTER_LOG_WARNING, "cluster %s: zone %u cannot be told to move: %s", balancer->holder->settings.cluster,
           balancer->named.zone, muster_last_error());
  balancer->named = (move_order){0}; /* where it was told all the same, it is seen among those that are wanted */
  balancer->words[0] = '\0';
}

static void name_move(struct balancer *balancer, const balance_land *land, const balance_move *move) {
  struct holder *holder = balancer->holder;
  uint32_t zone = holder->holdings[move->zone].ground.number, from = land->zones[move->zone].node;
  const node_told *to = &balancer->nodes.rows[move->node].told;
  double pressures[BALANCE_NODES_MAX];
  balance_pressures(land, pressures);
  if (broker_move_want(holder->broker, zone, to->name, take_named, balancer)) return; /* the next turn tries again */
  balancer->named = (move_order){.zone = zone, .since_ns = clock_boot()};
  memcpy(balancer->named.node, to->name, NAME_BYTES);
  snprintf(balancer->words, sizeof balancer->words,
           "zone %u (%.2f processors) is to go from node %s (pressure %.2f) to %s (%.2f)", zone,
           land->zones[move->zone].load, balancer->nodes.rows[from].told.name, pressures[from], to->name,
           pressures[move->node]);
  log_line(MUSTER_LOG_INFO, "cluster %s: %s", holder->settings.cluster, balancer->words);
}

/* The first zones of the land are the holder's, in their order. */
static void name_next(struct balancer *balancer) {
  struct holder *holder = balancer->holder;
  balance_limits limits = balance_limits_usual();
  balance_land land;
  balance_move move;
  limits.drains_only = !holder->settings.balance;
  if (!nodes_plan(&balancer->nodes, &holder->settings, clock_boot(), &land, balancer->words)) return;
  for (uint32_t i = 0; i < holder->count; i++) {
    uint32_t zone = holder->holdings[i].ground.number;
    land.zones[i].failed_ns = balancer->failed_ns[i];
    land.zones[i].goes = zone == balancer->named.zone || orders_find(&balancer->wanted, zone);
    if (land.zones[i].goes) return;
  }
  balancer->words[0] = '\0';
  if (balance_next(&land, &limits, clock_boot(), &move)) name_move(balancer, &land, &move);
}

/* --------------------------------------------------------------------------------------------------- what is wanted */

static void take_wanted_move(uint32_t zone, const char *node, void *user) {
  struct balancer *balancer = user;
  orders_add(&balancer->read, &balancer->wanted, zone, node, clock_boot());
}

static void take_all_moves(muster_result result, void *user) {
  struct balancer *balancer = user;
  balancer->reads = false;
  if (balancer->holder->closing || !balancer_has_lease(balancer)) return;
  if (result) {
    snprintf(balancer->words, sizeof balancer->words, "etcd does not tell which moves are wanted");
    return;
  }
  balancer->wanted = balancer->read;
  look_at_named(balancer);
  take_back_overdue(balancer);
  name_next(balancer);
}

static void ask_what_is_wanted(struct balancer *balancer) {
  if (balancer->reads || !balancer_has_lease(balancer)) return;
  balancer->read.count = 0;
  balancer->reads =
      broker_moves_read(balancer->holder->broker, take_wanted_move, take_all_moves, balancer) == MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- life */

/* Changes, one a minute of each node. Nothing else happens: wall clocks are for people. */
static void look_at_walls(struct balancer *balancer) {
  struct nodes *nodes = &balancer->nodes;
  char words[NODES_WALL_WORDS_BYTES];
  for (uint32_t i = 0; i < nodes->count; i++) {
    node_row *row = &nodes->rows[i];
    bool off = nodes_wall_words(nodes, row, words);
    if (off == row->off_told || (row->off_told_ns && clock_boot() - row->off_told_ns < QUIET_NS)) continue;
    row->off_told = off;
    row->off_told_ns = clock_boot();
    if (off)
      log_line(MUSTER_LOG_WARNING, "cluster %s: %s: times in logs and certificates are wrong on one of them",
               balancer->holder->settings.cluster, words);
    else
      log_line(MUSTER_LOG_INFO, "cluster %s: the wall clock of node %s is as the others' again",
               balancer->holder->settings.cluster, row->told.name);
  }
}

static void balancer_turn(uv_timer_t *timer) {
  struct balancer *balancer = timer->data;
  if (balancer->holder->closing) return;
  nodes_forget(&balancer->nodes, clock_boot());
  look_at_walls(balancer);
  balancer_tell(balancer);
  if (balancer->holder->processes->stopping) {
    balancer_release(balancer, NULL, NULL);
    return;
  }
  bool due = balancer->turns % LEASE_TURNS == 0 || !clock_is_known(balancer->holder); /* which begins with a leader */
  if (due && balancer->holder->name.has) balancer_look_at_lease(balancer);
  if (balancer->turns % NAME_TURNS == 0) ask_what_is_wanted(balancer);
}

bool balancer_leaves(const struct balancer *balancer, const struct holding *holding) {
  const struct settings *settings = &balancer->holder->settings;
  const world_settings *world = settings_find_world(settings, holding->process->name);
  bool comes = holding->leased || strcmp(holding->wanted, settings->node) == 0;
  return balancer->drains && !comes && nodes_have_room(&balancer->nodes, world->nodes, settings->node);
}

struct balancer *balancer_open(struct holder *holder) {
  char subject[BROKER_SUBJECT_BYTES];
  struct balancer *balancer = calloc(1, sizeof *balancer);
  if (!balancer || uv_timer_init(holder->loop, &balancer->timer)) {
    free(balancer);
    error_set(MUSTER_E_MEMORY, "no memory for the table of nodes");
    return NULL;
  }
  balancer->holder = holder;
  balancer->capacity = count_processors();
  balancer->timer.data = balancer;
  nodes_open(&balancer->nodes, clock_boot());
  name_subject(balancer, subject);
  if (!broker_listen(holder->broker, subject, hear, balancer)) { /* no memory: nothing runs yet */
    free(balancer);
    return NULL;
  }
  uv_timer_start(&balancer->timer, balancer_turn, 0, NODES_TELL_MS);
  return balancer;
}

void balancer_free(struct balancer *balancer) {
  free(balancer);
}
