/* ctl_cluster.c - the zones and the nodes of a cluster, as people read them. Values are made by json_pack() alone:
 * base/json.h has names of jansson, too. */
#include "ctl.h"
#include "text.h"

#include <jansson.h>
#include <string.h>

static const char *text_in(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

/* ------------------------------------------------------------------------------------------------------------ zones */

/* "5.3, 12 s ago", of the epoch in which it was stored and the number there; without the age where the time of the
 * cluster is not known. */
static void add_stored(json_t *zone) {
  char text[64] = "nothing", ago[32] = "";
  const json_t *stored = json_object_get(zone, "stored"), *age_s = json_object_get(stored, "age_s");
  if (json_is_integer(age_s)) snprintf(ago, sizeof ago, ", %lld s ago", json_integer_value(age_s));
  if (json_is_object(stored))
    snprintf(text, sizeof text, "%lld.%lld%s", json_integer_value(json_object_get(stored, "epoch")),
             json_integer_value(json_object_get(stored, "number")), ago);
  json_object_set_new(zone, "kept", json_pack("s", text));
}

/* "north", "north, to south". */
static void add_node(json_t *zone) {
  bool is_free = json_is_true(json_object_get(zone, "free"));
  const char *node = text_in(zone, "node"), *wanted = text_in(zone, "wanted");
  const char *there = *node ? node : is_free ? "free" : "not known";
  json_object_set_new(zone, "node", json_pack("s", text_of("%s%s%s", there, *wanted ? ", to " : "", wanted)));
}

/* "stands by: the brokers have lost its zone ..." */
static void add_here(json_t *zone) {
  char text[CTL_WORDS_BYTES], state[32];
  const char *words = text_in(zone, "words");
  snprintf(state, sizeof state, "%s", text_in(zone, "state"));
  for (char *at = state; (at = strchr(at, '_')) != NULL;) *at = ' ';
  snprintf(text, sizeof text, "%s%s%s", state, *words ? ": " : "", words);
  json_object_set_new(zone, "here", json_pack("s", text));
}

void ctl_show_zones(const json_t *answer) {
  size_t i;
  json_t *zone;
  const json_t *zones = json_object_get(answer, "zones");
  const char *problem = text_in(answer, "problem");
  if (*problem) fprintf(stderr, "muster: the brokers do not tell: %s\n", problem);
  if (json_array_size(zones) == 0) {
    puts("no world of this daemon is a zone");
    return;
  }
  json_array_foreach(zones, i, zone) {
    add_stored(zone);
    add_node(zone);
    add_here(zone);
  }
  ctl_show_table(zones, "zone world node epoch stored=kept here");
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* "west 0.52, east 0.31": its zones with the processors that they want. */
static void add_runs(json_t *node) {
  char text[1024] = "";
  size_t i, length = 0;
  const json_t *zone;
  json_array_foreach(json_object_get(node, "zones"), i, zone) {
    const char *world = text_in(zone, "world");
    if (length >= sizeof text) break;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %.2f", i ? ", " : "",
                               *world ? world : text_of("zone %lld", json_integer_value(json_object_get(zone, "zone"))),
                               json_real_value(json_object_get(zone, "load")));
  }
  json_object_set_new(node, "runs", json_pack("s", *text ? text : "nothing"));
}

void ctl_show_nodes(const json_t *answer) {
  size_t i;
  json_t *node;
  const json_t *nodes = json_object_get(answer, "nodes"), *balancer = json_object_get(answer, "balancer");
  const char *problem = text_in(answer, "problem"), *name = text_in(balancer, "node"),
             *words = text_in(balancer, "words");
  if (*problem) fprintf(stderr, "muster: %s\n", problem);
  if (!*text_in(answer, "cluster")) puts("this daemon is no node of a cluster");
  if (json_array_size(nodes) == 0) return;
  json_array_foreach(nodes, i, node) add_runs(node);
  ctl_show_table(nodes, "node heard=heard_ns capacity pressure drains runs");
  json_array_foreach(nodes, i, node) if (*text_in(node, "clock")) printf("\n%s", text_in(node, "clock"));
  printf("\nbalancer: %s%s%s\n", *name ? name : "none", *words ? ": " : "", words);
}

void ctl_show_move(const json_t *answer) {
  const char *from = text_in(answer, "node");
  printf("world %s goes%s%s to node %s; `muster ctl zones` tells when it is there\n", text_in(answer, "world"),
         *from ? " from node " : "", from, text_in(answer, "wanted"));
}

/* The names in an array: "west, east". */
static const char *names_in(const json_t *array, char *text, size_t bytes) {
  size_t i, length = 0;
  const json_t *name;
  *text = '\0';
  json_array_foreach(array, i, name) {
    if (length < bytes)
      length += (size_t)snprintf(text + length, bytes - length, "%s%s", i ? ", " : "", json_string_value(name));
  }
  return text;
}

void ctl_show_drain(const json_t *answer) {
  char names[1024];
  bool drains = json_is_true(json_object_get(answer, "drains"));
  const json_t *zones = json_object_get(answer, "zones"), *staying = json_object_get(answer, "staying");
  bool empty = json_array_size(zones) == 0;
  printf("node %s %s%s%s\n", text_in(answer, "node"), drains ? "drains" : "gets zones again",
         !drains ? ""
         : empty ? ": it has no zone"
                 : ": others get ",
         drains ? names_in(zones, names, sizeof names) : "");
  if (drains && json_array_size(staying) > 0)
    printf("no other node that is heard may run %s: they stay\n", names_in(staying, names, sizeof names));
}
