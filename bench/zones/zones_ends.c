/* Where a cluster ends. */
#include "zones_model.h"

#include <math.h>

enum { ZONES_LARGEST = 1 << 24 };

/* What brokers can take was measured by the test zones/limits: three servers of NATS and three members of etcd on one
 * machine with two cores, which whoever asks them shares. */
const zones_limit zones_limits[ZONES_RESOURCES] = {
    [ZONES_OF_SETTINGS] = {"zones that the settings of a node name", "zones", 16,
                           "each node names all zones of its cluster, and a musterd has room for 16 worlds: several "
                           "clusters"},
    [ZONES_OF_IDS] = {"zones that ids can have", "zones", 16383, "ids have 14 bits for the zone: several clusters"},
    [ZONES_OF_LIST] = {"zones in an answer of ctl zones", "zones", 4095,
                       "it asks etcd for the note of each, and 4,096 calls may be under way: several clusters"},
    [ZONES_OF_TABLE] = {"zones in the table of each node", "zones", 64,
                        "the balancer does not move those beyond: several clusters"},
    [ZONES_OF_NODES] = {"nodes in the table of each node", "nodes", 64,
                        "those beyond get no zones from the balancer, and what all tell all grows with their square: "
                        "larger nodes, or several clusters"},
    [ZONES_ETCD_REQUESTS] = {"requests of etcd", "a second", 1800,
                             "machines of its own for etcd, with fast disks, and in `nodes` two or three for each "
                             "zone; then several clusters, divided where nobody walks"},
    [ZONES_ETCD_HISTORY] = {"what etcd keeps of changes", "bytes a second", 8.0 * (1 << 30) / 600,
                            "8 GB hold two times five minutes of it (etcd.default): compact more often, or several "
                            "clusters"},
    [ZONES_NATS_MESSAGES] = {"messages at each server of NATS", "a second", 16700,
                             "machines of their own for NATS; journals are most of it: journal_stream = no; then "
                             "several clusters"},
    [ZONES_NATS_BYTES] = {"bytes at each server of NATS", "bytes a second", 155e6,
                          "snapshots and journals are most of it: a larger recovery_max, or journal_stream = no; then "
                          "several clusters"},
    [ZONES_NATS_KEPT] = {"files of each server of NATS", "bytes", 20e9, "a disk with more than these 20 GB free"},
};

double zones_taken(const zones_load *load, zones_resource resource) {
  zones_flow nats = zones_sum(load, true);
  const double taken[ZONES_RESOURCES] = {[ZONES_OF_SETTINGS] = load->zones,
                                         [ZONES_OF_IDS] = load->zones,
                                         [ZONES_ETCD_REQUESTS] = load->reads + load->writes,
                                         [ZONES_ETCD_HISTORY] = load->history_bytes,
                                         [ZONES_OF_LIST] = load->zones,
                                         [ZONES_OF_TABLE] = load->zones,
                                         [ZONES_OF_NODES] = load->nodes,
                                         [ZONES_NATS_MESSAGES] = nats.messages,
                                         [ZONES_NATS_BYTES] = nats.bytes,
                                         [ZONES_NATS_KEPT] = load->kept_bytes};
  return taken[resource];
}

zones_land zones_land_of(const zones_land *land, uint32_t zones) {
  zones_land other = *land;
  double each = (double)land->nodes / land->zones;
  other.zones = zones;
  other.columns = (uint32_t)ceil(sqrt(zones));
  other.nodes = (uint32_t)ceil(each * zones);
  if (other.nodes < 1) other.nodes = 1;
  if (other.nodes_of_zone > other.nodes) other.nodes_of_zone = other.nodes;
  return other;
}

static bool holds(const zones_land *land, uint32_t zones, zones_resource resource) {
  zones_land other = zones_land_of(land, zones);
  zones_load load;
  zones_model(&other, &load);
  return zones_taken(&load, resource) <= zones_limits[resource].most;
}

/* All resources are taken more with each zone more, but for the rows' ends: so it is near enough. */
uint32_t zones_end(const zones_land *land, zones_resource resource) {
  uint32_t lasts = 0, fails = 1;
  while (fails < ZONES_LARGEST && holds(land, fails, resource)) {
    lasts = fails;
    fails *= 2;
  }
  if (fails >= ZONES_LARGEST) return lasts;
  while (fails - lasts > 1) {
    uint32_t middle = lasts + (fails - lasts) / 2;
    if (holds(land, middle, resource))
      lasts = middle;
    else
      fails = middle;
  }
  return lasts;
}
