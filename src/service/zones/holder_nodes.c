/* holder_nodes.c - what people ask and say of nodes: GET /v1/nodes, POST /v1/worlds/W/move, POST /v1/drain; and
 * metrics. */
#include "service/log.h"
#include "service/zones/balancer.h"

#include "base/clock.h"
#include "base/error.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values are made by json_pack() alone: base/json.h has names of jansson, too. */
static void answer_nodes(http_request *request, unsigned status, json_t *answer) {
  char *text = answer ? json_dumps(answer, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
  json_decref(answer);
  if (text)
    http_answer_owned(request, status, HTTP_JSON, text, strlen(text));
  else
    http_refuse(request, 429, "busy", NULL, "no memory for the answer: try again in a second");
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static json_t *describe_load(struct holder *holder, const node_zone *zone) {
  const struct holding *holding = holder_find_zone(holder, zone->zone);
  return json_pack("{s:I, s:s?, s:f}", "zone", (json_int_t)zone->zone, "world", holding ? holding->process->name : NULL,
                   "load", zone->load);
}

static json_t *describe_node(struct holder *holder, const node_row *row) {
  const node_told *told = &row->told;
  json_t *zones = json_array();
  double pressure = nodes_pressure(row);
  const struct nodes *nodes = &holder->balancer->nodes;
  char words[NODES_WALL_WORDS_BYTES];
  const node_row *of = NULL;
  int64_t ahead_ns = 0;
  bool known = nodes_wall(nodes, row, &ahead_ns, &of), off = nodes_wall_words(nodes, row, words);
  for (uint32_t i = 0; i < told->zone_count; i++) json_array_append_new(zones, describe_load(holder, &told->zones[i]));
  return json_pack("{s:s, s:I, s:f, s:f, s:f, s:b, s:b, s:o, s:s?, s:o}", "node", told->name, "heard_ns",
                   (json_int_t)(clock_boot() - row->heard_ns), "capacity", told->capacity, "load",
                   pressure * told->capacity, "pressure", pressure, "drains", told->drains, "balances", told->balances,
                   "clock_off_s", known ? json_pack("f", (double)ahead_ns * 1e-9) : json_pack("n"), "clock",
                   off ? words : NULL, "zones", zones);
}

bool holder_tells_of_clock(const struct holder *holder, uint32_t *next, char words[HOLDER_WORDS_BYTES]) {
  _Static_assert((int)HOLDER_WORDS_BYTES >= (int)NODES_WALL_WORDS_BYTES, "it has room for the sentence");
  const struct nodes *nodes = holder ? &holder->balancer->nodes : NULL;
  while (nodes && *next < nodes->count)
    if (nodes_wall_words(nodes, &nodes->rows[(*next)++], words)) return true;
  return false;
}

static const char *name_of_balancer(const struct nodes *nodes) {
  for (uint32_t i = 0; i < nodes->count; i++)
    if (nodes->rows[i].told.balances) return nodes->rows[i].told.name;
  return NULL;
}

void holder_list_nodes(struct holder *holder, http_request *request) {
  struct balancer *balancer = holder->balancer;
  const char *words = balancer_has_lease(balancer) && *balancer->words ? balancer->words : NULL;
  const char *unheard = balancer->nodes.count ? NULL : "nothing is heard, of this node either: NATS does not answer";
  json_t *rows = json_array();
  nodes_forget(&balancer->nodes, clock_boot());
  for (uint32_t i = 0; i < balancer->nodes.count; i++)
    json_array_append_new(rows, describe_node(holder, &balancer->nodes.rows[i]));
  answer_nodes(request, 200,
               json_pack("{s:s, s:s, s:s?, s:o, s:{s:s?, s:s?}}", "cluster", holder->settings.cluster, "node",
                         holder->settings.node, "problem", *holder->name.words ? holder->name.words : unheard, "nodes",
                         rows, "balancer", "node", name_of_balancer(&balancer->nodes), "words", words));
}

/* ------------------------------------------------------------------------------------------------------------- move */

typedef struct move_call {
  const struct holding *holding;
  http_request *request;
  char from[NAME_BYTES], to[NAME_BYTES]; /* from: "" = not known */
} move_call;

static void take_move(muster_result result, void *user) {
  move_call *call = user;
  const struct holding *holding = call->holding;
  if (result) {
    http_refuse(call->request, 503, "brokers", NULL, "etcd does not take that zone %u is to move: %s",
                holding->ground.number, muster_last_error());
  } else {
    log_line(MUSTER_LOG_INFO, "cluster %s: zone %u is to go to node %s, as asked", holding->holder->settings.cluster,
             holding->ground.number, call->to);
    answer_nodes(call->request, 202,
                 json_pack("{s:I, s:s, s:s?, s:s}", "zone", (json_int_t)holding->ground.number, "world",
                           holding->process->name, "node", *call->from ? call->from : NULL, "wanted", call->to));
  }
  free(call);
}

enum { OBSTACLE_BYTES = 512 };

/* Why a zone cannot go to a node; "" = it can. */
static void find_obstacle(const struct holder *holder, const struct holding *holding, const char *node,
                          char why[OBSTACLE_BYTES]) {
  const struct nodes *nodes = &holder->balancer->nodes;
  const world_settings *world = settings_find_world(&holder->settings, holding->process->name);
  const node_row *row = nodes_find(nodes, node);
  const zone_seat *seat = nodes_seat(nodes, holding->ground.number);
  *why = '\0';
  if (nodes_rank(world->nodes, node) < 0)
    snprintf(why, OBSTACLE_BYTES, "node %s may not run world %s: its nodes are %s", node, world->name, world->nodes);
  else if (!row)
    snprintf(why, OBSTACLE_BYTES, "node %s is not heard: `muster ctl nodes` lists those that are", node);
  else if (row->told.drains)
    snprintf(why, OBSTACLE_BYTES, "node %s drains, and gets no zone: `muster ctl drain --undo` there ends that", node);
  else if (seat && strcmp(seat->node, node) == 0 && nodes_find(nodes, seat->node))
    snprintf(why, OBSTACLE_BYTES, "world %s runs on node %s already", world->name, node);
}

void holder_move_zone(struct holder *holder, http_request *request, const world_process *process, const char *node) {
  char why[OBSTACLE_BYTES];
  const struct holding *holding = holder_find(holder, process);
  if (!holding) {
    http_refuse(request, 409, "state", NULL, "world %s is no zone of a cluster", process->name);
    return;
  }
  find_obstacle(holder, holding, node, why);
  if (*why) {
    http_refuse(request, 409, "state", "node", "%s", why);
    return;
  }
  const zone_seat *seat = nodes_seat(&holder->balancer->nodes, holding->ground.number);
  move_call *call = calloc(1, sizeof *call);
  if (call) {
    *call = (move_call){.holding = holding, .request = request};
    snprintf(call->to, sizeof call->to, "%s", node);
    if (seat) snprintf(call->from, sizeof call->from, "%s", seat->node);
    if (broker_move_want(holder->broker, holding->ground.number, node, take_move, call) == MUSTER_OK) return;
  }
  free(call);
  http_refuse(request, 503, "brokers", NULL, "etcd cannot be asked now: %s", call ? muster_last_error() : "no memory");
}

/* ------------------------------------------------------------------------------------------------------------ drain */

/* Zones that run here, and that no other node which is heard may run. */
static json_t *list_staying(const struct holder *holder) {
  json_t *staying = json_array();
  for (uint32_t i = 0; i < holder->count; i++) {
    const struct holding *holding = &holder->holdings[i];
    const world_settings *world = settings_find_world(&holder->settings, holding->process->name);
    if (holding->leased && !nodes_have_room(&holder->balancer->nodes, world->nodes, holder->settings.node))
      json_array_append_new(staying, json_pack("s", world->name));
  }
  return staying;
}

static json_t *list_leased(const struct holder *holder) {
  json_t *leased = json_array();
  for (uint32_t i = 0; i < holder->count; i++)
    if (holder->holdings[i].leased) json_array_append_new(leased, json_pack("s", holder->holdings[i].process->name));
  return leased;
}

void holder_drain(struct holder *holder, http_request *request, bool drain) {
  struct balancer *balancer = holder->balancer;
  if (balancer->drains != drain)
    log_line(MUSTER_LOG_INFO, "cluster %s: this node %s", holder->settings.cluster,
             drain ? "drains, as asked: its zones go to others" : "drains no longer, as asked");
  balancer->drains = drain;
  balancer_tell(balancer);
  answer_nodes(request, 200,
               json_pack("{s:s, s:b, s:o, s:o}", "node", holder->settings.node, "drains", drain, "zones",
                         list_leased(holder), "staying", list_staying(holder)));
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

static void write_family(FILE *out, const char *name, const char *type, const char *help, double value) {
  fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.9g\n", name, help, name, type, name, value);
}

void holder_write_metrics(const struct holder *holder, FILE *out) {
  static const struct balancer none;
  const struct balancer *balancer = holder ? holder->balancer : &none;
  double load = 0;
  for (uint32_t i = 0; holder && i < holder->count; i++)
    if (holder->holdings[i].stage == HOLDING_RUNNING) load += holder->holdings[i].load;
  write_family(out, "muster_nodes", "gauge", "Nodes of the cluster that are heard, this one included; 0 without one.",
               balancer->nodes.count);
  write_family(out, "muster_node_capacity", "gauge", "Processors of this node.", balancer->capacity);
  write_family(out, "muster_node_load", "gauge", "Processors that its zones want.", load);
  write_family(out, "muster_node_pressure", "gauge", "What its zones want, over its capacity.",
               holder ? load / balancer->capacity : 0);
  write_family(out, "muster_node_drains", "gauge", "1 while this node is to be emptied.", balancer->drains);
  write_family(out, "muster_balancer", "gauge", "1 while this node balances the zones of the cluster.",
               holder && balancer_has_lease(balancer));
  write_family(out, "muster_balancer_moves_total", "counter", "Moves that this node has named as the balancer.",
               (double)balancer->moves_named);
  write_family(out, "muster_balancer_moves_failed_total", "counter", "Of these, those that were given up.",
               (double)balancer->moves_failed);
}
