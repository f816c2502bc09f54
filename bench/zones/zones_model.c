#include "zones_model.h"

#include <math.h>
#include <string.h>

/* Sizes in bytes, measured with nats-server 2.9.10 and etcd 3.4.23: three zones and nine, with 100 to 3,000 agents of
 * 12 to 212 bytes, 10 and 30 frames a second, and speeds of 1 to 15 m/s. The test zones/scale compares them with lands
 * that run now. */
static const struct {
  double telling, ghost;                      /* a telling without any; each that it names, beside what it publishes */
  double crosser;                             /* an agent that crosses, beside its state */
  double snapshot, row;                       /* a snapshot without agents; each agent and ghost in it */
  double frame, update, told, crossed;        /* of a journal: a frame, an update; of the bytes of tellings that come,
                                                 that part; beside the bytes of one that comes or goes */
  double chunk, ack, removal;                 /* head of a chunk; what a server answers; a removal */
  double told_node, told_zone, told_settings; /* what a node tells: a telling without zones; each zone; a sum */
  double look, look_sender, look_out, sender_out; /* of etcd, with HTTP and base64: a look, and for each neighbour; */
  double found;                                   /* each parcel that it finds, beside what crosses */
  double ask, ask_out;                            /* a question of a node that would take a lease, */
  double read, read_out;                          /* of another zone's note, beside it, */
  double orders, orders_out;                      /* which moves are wanted, while none is */
  double change, change_out;                      /* a transaction with one value, beside a note */
  double put, put_out, parcel, parcel_out;        /* one of parcels; each of them, beside what crosses */
  double note;                                    /* what a zone's note of what is stored has */
  double key;                                     /* what a change adds to etcd's file beside the value */
} sizes = {.telling = 172,
           .ghost = 40,
           .crosser = 311,
           .snapshot = 3400,
           .row = 193,
           .frame = 1354,
           .update = 0.32,
           .told = 1.03,
           .crossed = 75,
           .chunk = 16,
           .ack = 60,
           .removal = 50,
           .told_node = 135,
           .told_zone = 71,
           .told_settings = 18,
           .look = 141,
           .look_sender = 245,
           .look_out = 461,
           .sender_out = 50,
           .found = 218,
           .ask = 416,
           .ask_out = 998,
           .read = 166,
           .read_out = 564,
           .orders = 201,
           .orders_out = 431,
           .change = 410,
           .change_out = 509,
           .put = 296,
           .put_out = 462,
           .parcel = 203,
           .parcel_out = 47,
           .note = 576,
           .key = 200};

/* Base64 of what etcd is told. */
static const double coded = 4.0 / 3;

/* How long an agent is nowhere: until its frame is safe, it is put, somebody looks, and it is taken in. */
static const double look_s = 0.1, frames_on_the_way = 2;

/* Parts of what is stored; nodes ask twice a second for a zone that they would take. */
enum { STORED_PART_BYTES = 512 * 1024, TELLING_PART_BYTES = 1 << 17, LOOKS_BESIDE = 64 };
static const double asks_gap_s = 0.5, renewals_of_ttl = 3, tellings_to_whole = 5;

/* How often a node tells what it runs, and the sum of its settings, and asks which moves are wanted; how often the
 * balancer asks that, too; how often each node looks at the balancer's lease. */
static const double tells_hz = 2, settings_hz = 0.1, orders_gap_s = 0.5, balances_hz = 1, balancer_looks_hz = 0.5;

/* ----------------------------------------------------------------------------------------------------------- ground */

/* Ordered pairs of zones that touch along a side, and at a corner. */
typedef struct zones_pairs {
  double sides, corners;
} zones_pairs;

static zones_pairs pairs_of(const zones_land *land) {
  zones_pairs pairs = {0};
  for (uint32_t zone = 0; zone < land->zones; zone++) {
    uint32_t x = zone % land->columns, below = zone + land->columns;
    bool right = x + 1 < land->columns && zone + 1 < land->zones;
    pairs.sides += 2.0 * right + 2.0 * (below < land->zones);
    pairs.corners +=
        2.0 * (x + 1 < land->columns && below + 1 < land->zones) + 2.0 * (x > 0 && below - 1 < land->zones);
  }
  return pairs;
}

/* Agents on a square metre, with those on their way. */
static double density_of(const zones_land *land) {
  return land->agents / (land->side_m * land->side_m);
}

/* Through a line of a metre go speed / pi times what stands on a square metre, each way. */
static double flux_of(const zones_land *land) {
  return density_of(land) * land->speed_m / 3.141592653589793 * land->side_m;
}

double zones_leaving(const zones_land *land) {
  return flux_of(land) * pairs_of(land).sides / land->zones;
}

static double away_s_of(const zones_land *land) {
  return land->pace.away_s > 0 ? land->pace.away_s : look_s + frames_on_the_way / land->hz;
}

/* Of a zone, those that are there. */
static double standing_of(const zones_land *land) {
  double standing = land->agents - zones_leaving(land) * away_s_of(land);
  return standing > 0 ? standing : 0;
}

/* Who stands near a border, with those on their way; and near a corner. */
static double along_side(const zones_land *land) {
  return density_of(land) * land->side_m * land->border_m;
}

static double at_corner(const zones_land *land) {
  return density_of(land) * 3.141592653589793 / 4 * land->border_m * land->border_m;
}

/* Agents of neighbours that a zone sees. */
static double ghosts_of(const zones_land *land) {
  zones_pairs pairs = pairs_of(land);
  return (along_side(land) * pairs.sides + at_corner(land) * pairs.corners) / land->zones;
}

/* ----------------------------------------------------------------------------------------------------------- rounds */

/* A round looks at all agents once, some in each frame (zone_out.c). */
typedef struct zones_scan {
  double hz;      /* rounds in a second */
  double frames;  /* of a round */
  double parcels; /* of a pair along a side, in a second */
} zones_scan;

/* Goes through some hundred rounds as zone_out.c does: ghosts have places among the agents; where there are few of
 * both, the last frame of a round has few left. */
static zones_scan scan_of(const zones_land *land) {
  enum { ROUNDS = 500 };
  double of_round = land->round_frames, before = 0, frames = 0, parcels = 0;
  double each_frame = flux_of(land) / land->hz, places = standing_of(land) + ghosts_of(land);
  if (of_round < 1) of_round = 1;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    double all = places > before ? places : before, most = floor(all / of_round) + LOOKS_BESIDE, looks = 0;
    uint32_t length = (uint32_t)ceil(places / most);
    if (length == 0) length = 1;
    for (uint32_t i = 0; i < length; i++, looks += most) {
      double left = places - looks, share = places > 0 ? (left < most ? left : most) / places : 0;
      parcels += 1 - exp(-each_frame * length * share);
    }
    before = looks;
    frames += length;
  }
  return (zones_scan){
      .hz = land->hz * ROUNDS / frames, .frames = frames / ROUNDS, .parcels = parcels / frames * land->hz};
}

double zones_rounds(const zones_land *land) {
  return scan_of(land).hz;
}

/* Less those on their way, and those that came or went in a round. */
static double seen_along(const zones_land *land, const zones_scan *scan) {
  double seen = along_side(land) - flux_of(land) * (away_s_of(land) + 1 / scan->hz);
  return seen > 0 ? seen : 0;
}

double zones_seen(const zones_land *land) {
  zones_scan scan = scan_of(land);
  return seen_along(land, &scan);
}

/* ------------------------------------------------------------------------------------------------------------- NATS */

/* A whole telling names all, the others those that were updated since. */
static double named_share(const zones_land *land, const zones_scan *scan) {
  double each_frame = land->agents > 0 ? land->updates / land->hz / land->agents : 0;
  double changed = each_frame < 1 ? 1 - pow(1 - each_frame, scan->frames) : 1;
  return 1 / tellings_to_whole + (1 - 1 / tellings_to_whole) * changed;
}

static void add_tellings(zones_flow *flow, double pairs, double rounds_hz, double bytes) {
  flow->messages += pairs * rounds_hz * ceil(bytes / TELLING_PART_BYTES) / ZONES_SERVERS;
  flow->bytes += pairs * rounds_hz * bytes / ZONES_SERVERS;
}

/* Each telling goes over one of the servers, to one node. */
static void model_ghosts(const zones_land *land, const zones_scan *scan, zones_load *load) {
  zones_pairs pairs = pairs_of(land);
  zones_flow *flow = &load->flows[ZONES_GHOSTS];
  double each = (sizes.ghost + land->published_bytes) * named_share(land, scan);
  add_tellings(flow, pairs.sides, scan->hz, sizes.telling + seen_along(land, scan) * each);
  add_tellings(flow, pairs.corners, scan->hz, sizes.telling + at_corner(land) * each);
  flow->out_messages = flow->messages;
  flow->out_bytes = flow->bytes;
}

/* Each telling goes over one of the servers, and from there to all nodes: who tells hears it, too. */
static void model_nodes(const zones_land *land, zones_load *load) {
  double nodes = land->nodes, tellings = nodes * tells_hz, sums = nodes * settings_hz;
  zones_flow *flow = &load->flows[ZONES_NODES];
  flow->messages = (tellings + sums) / ZONES_SERVERS;
  flow->bytes = (tellings * sizes.told_node + land->zones * tells_hz * sizes.told_zone + sums * sizes.told_settings) /
                ZONES_SERVERS;
  flow->out_messages = flow->messages * nodes;
  flow->out_bytes = flow->bytes * nodes;
}

/* Each server is given all that is kept, and answers. */
static zones_flow kept(double messages, double bytes) {
  return (zones_flow){messages, bytes, messages, messages * sizes.ack};
}

static double crosser_bytes(const zones_land *land) {
  return sizes.crosser + land->state_bytes + 2 * land->published_bytes;
}

/* The record has what came: tellings, and who crossed; and who left, until it is put. */
static double journal_of(const zones_land *land, const zones_load *load) {
  double told = load->flows[ZONES_GHOSTS].bytes * ZONES_SERVERS / land->zones;
  return land->hz * sizes.frame + land->updates * sizes.update + told * sizes.told +
         2 * zones_leaving(land) * (crosser_bytes(land) + sizes.crossed);
}

static double snapshot_bytes(const zones_land *land) {
  double row = sizes.row + land->state_bytes + 2 * land->published_bytes;
  return sizes.snapshot + (standing_of(land) + ghosts_of(land)) * row;
}

static void model_kept(const zones_land *land, zones_load *load) {
  double stores = land->zones / land->store_s, bytes = snapshot_bytes(land), journal = journal_of(land, load);
  uint32_t streams = land->stream ? 2 : 1; /* a removal from each in which there is something */
  double chunks = land->pace.chunks > 0 ? land->pace.chunks : land->zones * land->hz;
  if (land->stream) load->flows[ZONES_JOURNAL] = kept(chunks, land->zones * journal + chunks * sizes.chunk);
  load->flows[ZONES_SNAPSHOTS] = kept(stores * ceil(bytes / STORED_PART_BYTES), stores * bytes);
  load->flows[ZONES_REMOVALS] = kept(stores * streams, stores * streams * sizes.removal);
  load->kept_bytes =
      land->zones * (2 * bytes + (land->stream ? journal * land->store_s : 0)); /* the next one beside it */
}

/* ------------------------------------------------------------------------------------------------------------- etcd */

/* The first parcel of a frame goes at once, those for other neighbours together behind it. */
static double crossings_of(const zones_land *land, const zones_scan *scan) {
  double neighbours = pairs_of(land).sides / land->zones, each = scan->parcels / land->hz;
  if (land->pace.crossings > 0) return land->pace.crossings / land->zones;
  double none = pow(1 - each, neighbours), one = neighbours * each * pow(1 - each, neighbours > 1 ? neighbours - 1 : 0);
  return land->hz * ((1 - none) + (1 - none - one > 0 ? 1 - none - one : 0));
}

static zones_flow requests(double count, double bytes, double out_bytes) {
  return (zones_flow){count, count * bytes, count, count * out_bytes};
}

/* How often each asks that waits so long behind an answer. */
static double hz_behind(const zones_land *land, double gap_s) {
  return 1 / (gap_s + land->pace.answer_s);
}

/* It is renewed at the first look behind a third of its time. */
static double balancer_renewals_of(const zones_land *land) {
  return balancer_looks_hz / ceil(land->lease_ttl_s / renewals_of_ttl * balancer_looks_hz);
}

/* Leases: of zones, and of the balancer, for which all other nodes ask. */
static void model_leases(const zones_land *land, zones_flow flows[ZONES_KINDS]) {
  double zones = land->zones, others = land->nodes - 1.0;
  flows[ZONES_ASKS] =
      requests(zones * (land->nodes_of_zone - 1) * hz_behind(land, asks_gap_s) + others * balancer_looks_hz, sizes.ask,
               sizes.ask_out);
  flows[ZONES_RENEWALS] = requests(zones * renewals_of_ttl / land->lease_ttl_s + balancer_renewals_of(land),
                                   sizes.change, sizes.change_out);
  flows[ZONES_ORDERS] =
      requests(land->nodes * hz_behind(land, orders_gap_s) + balances_hz, sizes.orders, sizes.orders_out);
}

static void model_etcd(const zones_land *land, const zones_scan *scan, zones_load *load) {
  zones_pairs pairs = pairs_of(land);
  double neighbours = (pairs.sides + pairs.corners) / land->zones, zones = land->zones, stores = zones / land->store_s;
  double leaving = zones_leaving(land) * zones, parcels = scan->parcels * pairs.sides,
         puts = crossings_of(land, scan) * zones;
  zones_flow *flows = load->flows;
  flows[ZONES_LOOKS] = requests(zones * hz_behind(land, look_s), sizes.look + sizes.look_sender * neighbours,
                                sizes.look_out + sizes.sender_out * neighbours);
  flows[ZONES_LOOKS].out_bytes += leaving * crosser_bytes(land) * coded + parcels * sizes.found;
  model_leases(land, flows);
  flows[ZONES_CROSSINGS] = requests(puts, sizes.put, sizes.put_out);
  flows[ZONES_CROSSINGS].bytes += parcels * sizes.parcel + leaving * crosser_bytes(land) * coded;
  flows[ZONES_CROSSINGS].out_bytes += parcels * sizes.parcel_out;
  flows[ZONES_NOTES] = requests(stores, sizes.change + sizes.note * coded, sizes.change_out);
  zones_flow covers = requests(stores * neighbours, sizes.read, sizes.read_out + sizes.note * coded),
             forgets = requests(stores * neighbours, sizes.change, sizes.change_out);
  load->reads =
      flows[ZONES_LOOKS].messages + flows[ZONES_ASKS].messages + flows[ZONES_ORDERS].messages + covers.messages;
  load->writes =
      flows[ZONES_RENEWALS].messages + flows[ZONES_CROSSINGS].messages + flows[ZONES_NOTES].messages + forgets.messages;
  flows[ZONES_NOTES].messages += covers.messages + forgets.messages;
  flows[ZONES_NOTES].bytes += covers.bytes + forgets.bytes;
  flows[ZONES_NOTES].out_messages += covers.messages + forgets.messages;
  flows[ZONES_NOTES].out_bytes += covers.out_bytes + forgets.out_bytes;
  load->puts = parcels + flows[ZONES_RENEWALS].messages + stores;
  load->history_bytes = (load->writes + 2 * parcels) * sizes.key + leaving * crosser_bytes(land) + stores * sizes.note;
  load->stand = parcels * 2 * land->store_s;
}

void zones_model(const zones_land *land, zones_load *load) {
  zones_scan scan = scan_of(land);
  memset(load, 0, sizeof *load);
  model_ghosts(land, &scan, load);
  model_nodes(land, load);
  model_kept(land, load);
  model_etcd(land, &scan, load);
  load->zones = land->zones;
  load->nodes = land->nodes;
}

zones_flow zones_sum(const zones_load *load, bool nats) {
  zones_flow sum = {0};
  for (uint32_t kind = nats ? 0 : ZONES_NATS_KINDS; kind < (nats ? ZONES_NATS_KINDS : ZONES_KINDS); kind++) {
    const zones_flow *flow = &load->flows[kind];
    sum.messages += flow->messages;
    sum.bytes += flow->bytes;
    sum.out_messages += flow->out_messages;
    sum.out_bytes += flow->out_bytes;
  }
  return sum;
}
