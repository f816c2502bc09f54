/* `muster bench zones`: what the zones of a cluster give its brokers to do, and where that ends. */
#include "benches.h"

#include "plots.h"
#include "text.h"
#include "zones_model.h"

#include <math.h>

enum { ZONES_ROWS = 6, PLOTTED = 41, GHOST_HZ = 5, COLOURS = 8 /* that gnuplot has: lines beyond these are thick */ };

static const uint32_t shown[ZONES_ROWS] = {3, 9, 16, 100, 1000, 10000};

/* A journal asks for a snapshot when a recovery would take recovery_max: loading takes so long for each agent, and each
 * frame since once more what it took (muster bench journal). */
static const double recovery_s = 0.7, load_s = 1.6e-6, update_s = 1.3e-6, frame_s = 3e-4, interval_s = 60;

typedef struct zones_work {
  bench_work common;
  uint32_t agents, side, border, hz, updates, state, nodes_of_zone, zones_of_node;
  uint64_t speed; /* mm/s */
  bool no_stream;
  zones_land land;
  zones_land lands[ZONES_ROWS];
  zones_load loads[ZONES_ROWS];
  uint32_t ends[ZONES_RESOURCES];
} zones_work;

static void show_help(FILE *stream) {
  fputs(
      "muster bench zones - what the zones of a cluster give NATS and etcd to do, and where that ends\n"
      "\n"
      "usage: muster bench zones [OPTION]...\n"
      "\n"
      "  --agents N          of each zone (default 10000)\n"
      "  --side METRES       of a zone, a square (default 4000)\n"
      "  --border METRES     as in musterd.conf (default 50)\n"
      "  --speed M/S         of all agents (default 1.4)\n"
      "  --hz N              frames in a second (default 30)\n"
      "  --updates N         of a zone in a second (default 60000)\n"
      "  --state BYTES       of an agent, which it publishes as well (default 64)\n"
      "  --no-stream         journal_stream = no\n"
      "  --nodes-of-zone N   nodes that may run a zone (default 2)\n"
      "  --zones-of-node N   that a node runs (default 4)\n"
      "  --json FILE         the rows for machines, bytes and times a second; - is standard output\n"
      "  --plots DIR         draw it as PNG into this folder (needs gnuplot)\n"
      "  --help\n"
      "\n"
      "Nothing is measured: messages, requests and bytes are computed, for lands of 3 to 10,000 zones that are squares "
      "side by side, from how zones work and from sizes that were measured with lands of three and nine zones. A test "
      "(zones/scale) compares it with what the brokers of such lands count: within 10 % for NATS, 15 % for etcd.\n"
      "Where it ends: each resource of the brokers lasts up to so many zones. What they can take was measured with "
      "three servers of each on one machine with two cores (zones/limits); machines of their own take more.\n",
      stream);
}

static uint32_t or_else(uint32_t given, uint32_t otherwise) {
  return given ? given : otherwise;
}

/* How long it is from one snapshot that is stored to the next: with the stream each of the journal's is. */
static double store_s_of(const zones_work *work, const zones_land *land) {
  double each_frame_s = frame_s + land->updates / land->hz * update_s;
  double own_s = (recovery_s - load_s * land->agents) / each_frame_s / land->hz;
  if (work->no_stream || own_s > interval_s) return interval_s;
  return own_s > 1 / land->hz ? own_s : 1 / land->hz;
}

static const char *measure(void *user) {
  zones_work *work = user;
  zones_land *land = &work->land;
  double state = or_else(work->state, 64);
  uint32_t zones_of_node = or_else(work->zones_of_node, 4);
  *land = (zones_land){.zones = 1000 * zones_of_node,
                       .nodes = 1000,
                       .nodes_of_zone = or_else(work->nodes_of_zone, 2),
                       .agents = or_else(work->agents, 10000),
                       .side_m = or_else(work->side, 4000),
                       .border_m = or_else(work->border, 50),
                       .speed_m = (double)(work->speed ? work->speed : 1400) * 1e-3,
                       .hz = or_else(work->hz, 30),
                       .updates = or_else(work->updates, 60000),
                       .state_bytes = state,
                       .published_bytes = state,
                       .lease_ttl_s = 15,
                       .stream = !work->no_stream};
  land->round_frames = land->hz > GHOST_HZ ? (uint32_t)(land->hz / GHOST_HZ) : 1;
  land->store_s = store_s_of(work, land);
  for (uint32_t i = 0; i < ZONES_ROWS; i++) {
    work->lands[i] = zones_land_of(land, shown[i]);
    zones_model(&work->lands[i], &work->loads[i]);
  }
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++) work->ends[i] = zones_end(land, i);
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- printed */

static const char *text_whole_of(double value) {
  return value < 99.5 ? text_of("%.3g", value) : text_count((uint64_t)llround(value));
}

static void print_loads(const zones_work *work, bool nats) {
  static const char *const names[ZONES_KINDS] = {"ghosts", "nodes", "journals", "snapshots", "removals", "looks",
                                                 "orders", "asks",  "renewals", "crossings", "notes"};
  uint32_t first = nats ? 0 : ZONES_NATS_KINDS, end = nats ? ZONES_NATS_KINDS : ZONES_KINDS;
  printf("\n%8s %8s", "zones", "of nodes");
  for (uint32_t kind = first; kind < end; kind++) printf(" %21s", names[kind]);
  printf(" %21s %14s\n", "all", "bytes out");
  for (uint32_t i = 0; i < ZONES_ROWS; i++) {
    zones_flow sum = zones_sum(&work->loads[i], nats);
    printf("%8s %8s", text_count(shown[i]), text_count(work->lands[i].nodes));
    for (uint32_t kind = first; kind < end; kind++) {
      const zones_flow *flow = &work->loads[i].flows[kind];
      printf(" %21s", text_of("%s, %s", text_whole_of(flow->messages), text_bytes(flow->bytes)));
    }
    printf(" %21s", text_of("%s, %s", text_whole_of(sum.messages), text_bytes(sum.bytes)));
    printf(" %14s\n", text_bytes(sum.out_bytes));
  }
}

static void print(const void *user) {
  const zones_work *work = user;
  const zones_land *land = &work->lands[ZONES_ROWS - 1];
  printf(
      "muster bench zones: %s agents in each zone, of which %.3g leave in a second; a neighbour beside it sees %.3g; "
      "a snapshot is stored every %s\n",
      text_count((uint64_t)llround(land->agents)), zones_leaving(land), zones_seen(land),
      text_duration(land->store_s * 1e9));
  puts("\neach of three servers of NATS is given, a second: messages, bytes");
  print_loads(work, true);
  puts("\nthe three members of etcd are asked together, a second: requests, bytes");
  print_loads(work, false);
  puts("\nwhere it ends:");
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++) {
    const zones_limit *limit = &zones_limits[i];
    printf("%9s zones  %s: %s %s\n                 %s\n", text_count(work->ends[i]), limit->name,
           text_whole_of(limit->most), limit->unit, limit->then);
  }
}

/* -------------------------------------------------------------------------------------------------- document, plot */

static const char *const keys[ZONES_RESOURCES] = {"settings",   "ids",           "list",         "table",
                                                  "nodes",      "etcd_requests", "etcd_history", "nats_messages",
                                                  "nats_bytes", "nats_kept"};

static void write(const void *user, json_writer *writer) {
  const zones_work *work = user;
  json_print(writer, "agents=%g side_m=%g border_m=%g speed_m=%g hz=%g store_s=%g stream=%d leaving=%g seen=%g rows[",
             work->land.agents, work->land.side_m, work->land.border_m, work->land.speed_m, work->land.hz,
             work->land.store_s, work->land.stream, zones_leaving(&work->lands[ZONES_ROWS - 1]),
             zones_seen(&work->lands[ZONES_ROWS - 1]));
  for (uint32_t i = 0; i < ZONES_ROWS; i++) {
    const zones_load *load = &work->loads[i];
    const zones_flow *nodes = &load->flows[ZONES_NODES];
    zones_flow nats = zones_sum(load, true), etcd = zones_sum(load, false);
    json_print(
        writer,
        "{ zones=%u nodes=%u nats_messages=%g nats_bytes=%g nats_out_messages=%g nats_out_bytes=%g ghosts_bytes=%g "
        "nodes_messages=%g nodes_bytes=%g nodes_out_messages=%g nodes_out_bytes=%g journal_bytes=%g snapshot_bytes=%g "
        "etcd_reads=%g orders=%g etcd_changes=%g etcd_bytes=%g etcd_out_bytes=%g "
        "history_bytes=%g kept_bytes=%g keys_standing=%g }",
        shown[i], work->lands[i].nodes, nats.messages, nats.bytes, nats.out_messages, nats.out_bytes,
        load->flows[ZONES_GHOSTS].bytes, nodes->messages, nodes->bytes, nodes->out_messages, nodes->out_bytes,
        load->flows[ZONES_JOURNAL].bytes, load->flows[ZONES_SNAPSHOTS].bytes, load->reads,
        load->flows[ZONES_ORDERS].messages, load->writes, etcd.bytes, etcd.out_bytes, load->history_bytes,
        load->kept_bytes, load->stand);
  }
  json_print(writer, "] ends[");
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++)
    json_print(writer, "{ resource=%s most=%g zones=%u }", keys[i], zones_limits[i].most, work->ends[i]);
  json_end_array(writer);
}

/* The part of each resource that is taken, by the number of zones. */
static bool plot(const void *user, const char *folder) {
  const zones_work *work = user;
  FILE *script = plot_begin(folder, "zones", 1200, 700);
  if (!script) return false;
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++) {
    fprintf(script, "$%s << END\n", keys[i]);
    for (uint32_t k = 0; k < PLOTTED; k++) {
      uint32_t zones = (uint32_t)lround(pow(10, 4.0 * k / (PLOTTED - 1)));
      zones_land land = zones_land_of(&work->land, zones);
      zones_load load;
      zones_model(&land, &load);
      fprintf(script, "%u %.6g\n", zones, zones_taken(&load, i) / zones_limits[i].most);
    }
    fprintf(script, "END\n");
  }
  fprintf(
      script,
      "set title 'Zones of a cluster: what part of each resource they take'\n"
      "set xlabel 'zones'\nset ylabel 'of what there is, measured on two cores'\nset logscale xy\n"
      "set xrange [1:10000]\nset yrange [1e-4:100]\nset grid\nset key outside bottom center horizontal\nplot 1 with "
      "lines lw 3 lc rgb '#444444' title 'all of it'");
  for (zones_resource i = 0; i < ZONES_RESOURCES; i++)
    fprintf(script, ", $%s using 1:2 with lines lw %u lt %u title '%s'", keys[i], 2 + i / COLOURS * 3, i % COLOURS + 1,
            zones_limits[i].name);
  fprintf(script, "\n");
  return plot_end(script);
}

static const option_def options[] = {OPTION_WITHIN("agents", COUNT32, zones_work, agents, 1, 1 << 20),
                                     OPTION_WITHIN("side", COUNT32, zones_work, side, 10, 1000000),
                                     OPTION_WITHIN("border", COUNT32, zones_work, border, 1, 100000),
                                     OPTION_WITHIN("speed", RATE, zones_work, speed, 1, 1000000),
                                     OPTION_WITHIN("hz", COUNT32, zones_work, hz, 1, 1000),
                                     OPTION_WITHIN("updates", COUNT32, zones_work, updates, 1, 1000000000),
                                     OPTION_WITHIN("state", COUNT32, zones_work, state, 1, 4096),
                                     OPTION("no-stream", ON, zones_work, no_stream),
                                     OPTION_WITHIN("nodes-of-zone", COUNT32, zones_work, nodes_of_zone, 1, 10000),
                                     OPTION_WITHIN("zones-of-node", COUNT32, zones_work, zones_of_node, 1, 16),
                                     BENCH_JSON,
                                     BENCH_PLOTS,
                                     {0}};

const bench_def bench_zones = {"zones",
                               "what the zones of a cluster give its brokers to do, and where that ends",
                               show_help,
                               options,
                               sizeof(zones_work),
                               .measure = measure,
                               .print = print,
                               .plot = plot,
                               .write = write};
