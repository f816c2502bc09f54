/* What a land gives its brokers to do is what `muster bench zones` computes (bench/zones): by the brokers' own figures,
 * with three zones and with nine.
 *
 * What the machine decides is taken as it came: how many frames and updates there were, and how often a zone was
 * stored; how long agents were on their way; and how often etcd was asked, what waited was put, and a chunk of a
 * journal was kept, which a busy machine does less often, each time with more. Less often is all that it may be: more
 * often than is computed fails. MUSTER_SCALE_RATES=1 fails what is less often, too, on a quiet machine.
 * MUSTER_SCALE_FRAMES is how many frames of each zone are counted; without it, as for every change, no land is started:
 * the comparison itself is tested, by figures that are made up. */
#include "traffic.h"
#include "zones_model.h"

#include "service/zones/broker.h"
#include "service/zones/nodes.h"

#include <math.h>

TestSuite(scale, .timeout = 1800);

enum { WARM_FRAMES = 100 };

/* By how much the model may be off. */
static const double nats_tolerance = 0.10, etcd_tolerance = 0.15, history_tolerance = 0.3;

/* Until all zones together have run so many frames more. Returns how many agents stood in zones meanwhile. */
static double let_frames_pass(land *all, const traffic_tap *tap, double frames) {
  double agents = 0, looks = 0;
  traffic begin, now;
  traffic_read(all, tap, &begin);
  do {
    land_watch(all);
    traffic_read(all, tap, &now);
    agents += now.agents;
    looks++;
  } while (now.frames - begin.frames < frames);
  return agents / looks;
}

/* From one zone to the next, by how many are in none. */
static double seconds_away(const land *all, const traffic *is, double standing) {
  return (all->options.agents * all->zones - standing) / (is->departed / is->seconds);
}

/* What is known of a land before it runs. */
static zones_land plan_land(uint32_t zones, const land_options *options) {
  return (zones_land){.zones = zones,
                      .columns = LAND_ZONES,
                      .nodes = LAND_NODES,
                      .nodes_of_zone = LAND_NODES,
                      .agents = options->agents,
                      .side_m = LAND_SIDE,
                      .border_m = LAND_BORDER,
                      .speed_m = options->speed,
                      .round_frames = options->hz / LAND_GHOST_HZ,
                      .state_bytes = options->strollers,
                      .published_bytes = options->strollers,
                      .lease_ttl_s = LAND_TTL_S,
                      .stream = options->journal_stream};
}

static zones_land describe_land(const land *all, const traffic *is, double away_s) {
  zones_land described = plan_land(all->zones, &all->options);
  double zones = all->zones,
         stores = is->published[TRAFFIC_OBJECTS].messages / all->options.brokers.nats; /* a part each */
  described.hz = is->frames / zones / is->seconds;
  described.updates = is->completed / zones / is->seconds;
  described.store_s = zones * is->seconds / (stores > 0 ? stores : 1);
  described.pace.away_s = away_s;
  return described;
}

/* Requests of etcd that changed nothing. */
static double reads_of(const traffic *is) {
  return is->ranges + is->transactions - is->agreed;
}

/* How long etcd takes to answer, by how often it was asked. */
static double seconds_to_answer(zones_land described, double reads) {
  double least = 0, most = 60;
  zones_load load;
  for (uint32_t i = 0; i < 40; i++) {
    described.pace.answer_s = (least + most) / 2;
    zones_model(&described, &load);
    *(load.reads > reads ? &least : &most) = described.pace.answer_s;
  }
  return least;
}

/* The rest of what is computed is compared for as many questions, crossings and chunks as there were. */
static void take_pace(zones_land *described, const zones_load *load, const traffic *is) {
  described->pace.answer_s = seconds_to_answer(*described, reads_of(is) / is->seconds);
  described->pace.crossings = is->agreed / is->seconds - (load->writes - load->flows[ZONES_CROSSINGS].messages);
  described->pace.chunks = is->published[TRAFFIC_JOURNAL].messages / is->seconds / ZONES_SERVERS;
}

/* What was compared, and how many figures are too far off. */
typedef struct comparison {
  FILE *out;
  bool rates; /* what a busy machine does less often is off, too */
  uint32_t off;
} comparison;

/* It may be computed as so much less than counted, or more. */
static void compare_within(comparison *of, const char *what, double computed, double counted, double less,
                           double more) {
  double off = computed / counted - 1;
  bool holds = off >= -less && off <= more;
  of->off += !holds;
  fprintf(of->out, "  %-38s computed %12.1f, counted %12.1f a second: %+5.1f %%%s\n", what, computed, counted,
          off * 100, holds ? "" : ": THAT IS OFF");
  fflush(of->out);
}

static void compare(comparison *of, const char *what, double computed, double counted, double tolerance) {
  compare_within(of, what, computed, counted, tolerance, tolerance);
}

/* A busy machine does it less often. */
static void compare_rate(comparison *of, const char *what, double computed, double counted, double tolerance) {
  compare_within(of, what, computed, counted, tolerance, of->rates ? tolerance : INFINITY);
}

/* How often things are done, with nothing but the frames as they came. */
static void compare_rates(comparison *of, const zones_load *load, const traffic *is, bool stream) {
  double s = is->seconds;
  if (stream)
    compare_rate(of, "NATS: chunks of journals", load->flows[ZONES_JOURNAL].messages * ZONES_SERVERS,
                 is->published[TRAFFIC_JOURNAL].messages / s, nats_tolerance);
  compare_rate(of, "NATS: what nodes tell", load->flows[ZONES_NODES].messages * ZONES_SERVERS,
               is->published[TRAFFIC_NODES].messages / s, nats_tolerance);
  compare_rate(of, "etcd: requests that change nothing", load->reads, reads_of(is) / s, etcd_tolerance);
  compare_rate(of, "etcd: changes", load->writes, is->agreed / s, etcd_tolerance);
}

static void compare_nats(comparison *of, const zones_load *load, const traffic *is, bool stream) {
  double s = is->seconds, in = 0, in_bytes = 0, out = 0, out_bytes = 0;
  zones_flow sum = zones_sum(load, true);
  const zones_flow *nodes = &load->flows[ZONES_NODES];
  const traffic_flow *told = &is->published[TRAFFIC_NODES];
  for (uint32_t i = 0; i < ZONES_SERVERS; i++) {
    in += is->in[i].messages / s;
    in_bytes += is->in[i].bytes / s;
    out += is->out[i].messages / s;
    out_bytes += is->out[i].bytes / s;
  }
  compare(of, "NATS: tellings", load->flows[ZONES_GHOSTS].messages * ZONES_SERVERS,
          is->published[TRAFFIC_GHOSTS].messages / s, nats_tolerance);
  compare(of, "NATS: bytes of tellings", load->flows[ZONES_GHOSTS].bytes * ZONES_SERVERS,
          is->published[TRAFFIC_GHOSTS].bytes / s, nats_tolerance);
  compare(of, "NATS: bytes of what a node tells", nodes->bytes / nodes->messages, told->bytes / told->messages,
          nats_tolerance);
  if (stream)
    compare(of, "NATS: bytes of journals", load->flows[ZONES_JOURNAL].bytes * ZONES_SERVERS,
            is->published[TRAFFIC_JOURNAL].bytes / s, nats_tolerance);
  compare(of, "NATS: bytes of snapshots", load->flows[ZONES_SNAPSHOTS].bytes * ZONES_SERVERS,
          is->published[TRAFFIC_OBJECTS].bytes / s, nats_tolerance);
  compare(of, "NATS: messages in", sum.messages * ZONES_SERVERS, in, nats_tolerance);
  compare(of, "NATS: bytes in", sum.bytes * ZONES_SERVERS, in_bytes, nats_tolerance);
  compare(of, "NATS: messages out", sum.out_messages * ZONES_SERVERS, out, nats_tolerance);
  compare(of, "NATS: bytes out", sum.out_bytes * ZONES_SERVERS, out_bytes, nats_tolerance);
}

static void compare_etcd(comparison *of, const zones_load *load, const traffic *is) {
  double s = is->seconds;
  zones_flow sum = zones_sum(load, false);
  compare(of, "etcd: keys that are put", load->puts, is->puts / s, etcd_tolerance);
  compare(of, "etcd: bytes in", sum.bytes, is->wire[BROKERS_ETCD][0] / s, etcd_tolerance);
  compare(of, "etcd: bytes out", sum.out_bytes, is->wire[BROKERS_ETCD][1] / s, etcd_tolerance);
  compare(of, "etcd: bytes that its file grows by", load->history_bytes, is->database / s, history_tolerance);
}

static void compare_all(comparison *of, zones_land described, const traffic *is) {
  zones_load load;
  zones_model(&described, &load);
  compare_rates(of, &load, is, described.stream);
  take_pace(&described, &load, is);
  fprintf(of->out,
          "  %.2f s from one zone to the next, %.3f s until etcd answers; %.1f crossings, %.1f chunks a second\n",
          described.pace.away_s, described.pace.answer_s, described.pace.crossings, described.pace.chunks);
  zones_model(&described, &load);
  compare_nats(of, &load, is, described.stream);
  compare_etcd(of, &load, is);
  compare(of, "agents that cross", zones_leaving(&described) * described.zones, is->departed / is->seconds,
          etcd_tolerance);
}

static void check_land(const land_options *options) {
  if (!getenv("MUSTER_SCALE_FRAMES")) SKIP_TEST("MUSTER_SCALE_FRAMES is not set");
  traffic before, is;
  land *all = land_start(options);
  traffic_tap *tap = traffic_open(all);
  double frames = (double)from_environment("MUSTER_SCALE_FRAMES", 200);
  comparison of = {.out = stdout, .rates = from_environment("MUSTER_SCALE_RATES", 0) != 0};
  let_frames_pass(all, tap, WARM_FRAMES * all->zones);
  traffic_read(all, tap, &before);
  double standing = let_frames_pass(all, tap, frames * all->zones);
  traffic_read(all, tap, &is);
  traffic_less(&is, &before);
  traffic_print(&is, stdout);
  compare_all(&of, describe_land(all, &is, seconds_away(all, &is, standing)), &is);
  cr_expect_eq(of.off, 0, "%u figures are too far off: above", of.off);
  traffic_close(tap);
  land_end(all);
}

Test(scale, of_three_zones_is_what_is_computed) {
  check_land(&(land_options){.three = true, .agents = 600, .speed = 5, .strollers = 12});
}

Test(scale, of_nine_zones_with_the_stream_of_their_journals_too) {
  check_land(
      &(land_options){.three = true, .journal_stream = true, .rows = 3, .agents = 300, .speed = 3, .strollers = 100});
}

/* ------------------------------------------------------------------------------------------------------- comparison */

/* Nine zones as they are described, without brokers. */
static zones_land imagine_land(void) {
  const land_options options = {.journal_stream = true, .agents = 300, .hz = 10, .speed = 3, .strollers = 100};
  zones_land described = plan_land(LAND_ZONES_MAX, &options);
  described.hz = options.hz;
  described.updates = 3000;
  described.store_s = 6;
  return described;
}

static traffic_flow flow_in(const zones_flow *flow) {
  return (traffic_flow){flow->messages * ZONES_SERVERS, flow->bytes * ZONES_SERVERS};
}

/* What brokers would count in a second of a land that does just what is computed. */
static traffic imagine_traffic(const zones_land *described) {
  zones_load load;
  zones_model(described, &load);
  zones_flow nats = zones_sum(&load, true), etcd = zones_sum(&load, false);
  traffic is = {.seconds = 1,
                .published = {[TRAFFIC_GHOSTS] = flow_in(&load.flows[ZONES_GHOSTS]),
                              [TRAFFIC_NODES] = flow_in(&load.flows[ZONES_NODES]),
                              [TRAFFIC_JOURNAL] = flow_in(&load.flows[ZONES_JOURNAL]),
                              [TRAFFIC_OBJECTS] = flow_in(&load.flows[ZONES_SNAPSHOTS])},
                .wire = {[BROKERS_ETCD] = {etcd.bytes, etcd.out_bytes}},
                .transactions = load.reads + load.writes,
                .agreed = load.writes,
                .puts = load.puts,
                .database = load.history_bytes,
                .departed = zones_leaving(described) * described->zones};
  for (uint32_t i = 0; i < ZONES_SERVERS; i++) {
    is.in[i] = (traffic_flow){nats.messages, nats.bytes};
    is.out[i] = (traffic_flow){nats.out_messages, nats.out_bytes};
  }
  return is;
}

/* How many figures are off, when they are computed for one land and counted in another. */
static uint32_t count_off(const zones_land *computed, const traffic *counted, bool rates) {
  comparison of = {.out = fopen("/dev/null", "we"), .rates = rates};
  cr_assert_not_null(of.out);
  compare_all(&of, *computed, counted);
  fclose(of.out);
  return of.off;
}

Test(scale, nothing_is_off_where_brokers_count_what_is_computed) {
  zones_land described = imagine_land();
  traffic is = imagine_traffic(&described);
  cr_expect_eq(count_off(&described, &is, true), 0);
}

/* A busy machine asks, puts and keeps less often, each time with more. */
Test(scale, less_often_is_off_only_where_it_is_judged) {
  zones_land described = imagine_land(), busy = imagine_land();
  zones_load load;
  zones_model(&described, &load);
  busy.pace = (zones_pace){.answer_s = 0.2,
                           .crossings = load.flows[ZONES_CROSSINGS].messages / 2,
                           .chunks = load.flows[ZONES_JOURNAL].messages / 2};
  traffic is = imagine_traffic(&busy);
  cr_expect_eq(count_off(&described, &is, false), 0);
  cr_expect_eq(count_off(&described, &is, true), 3);
}

Test(scale, more_often_is_off_in_any_case) {
  zones_land described = imagine_land(), crossings = imagine_land(), chunks = imagine_land();
  zones_load load;
  zones_model(&described, &load);
  crossings.pace.crossings = load.flows[ZONES_CROSSINGS].messages * 2;
  chunks.pace.chunks = load.flows[ZONES_JOURNAL].messages * 2;
  const zones_land *const all[] = {&crossings, &chunks};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    traffic is = imagine_traffic(all[i]);
    cr_expect_eq(count_off(&described, &is, false), 1, "%zu", i);
  }
  traffic is = imagine_traffic(&described);
  is.transactions += load.flows[ZONES_LOOKS].messages;
  cr_expect_eq(count_off(&described, &is, false), 1, "twice as many looks");
}

/* Agents that are on their way for long are seen by nobody: that must be known. */
Test(scale, a_long_way_is_off_where_it_is_not_taken_as_it_came) {
  zones_land described = imagine_land(), busy = imagine_land();
  busy.pace.away_s = 3;
  traffic is = imagine_traffic(&busy);
  cr_expect_eq(count_off(&busy, &is, true), 0);
  cr_expect_gt(count_off(&described, &is, false), 0);
}

/* Each figure of the brokers alone, half or half as much again. */
Test(scale, each_figure_that_is_off_is_noticed) {
  zones_land described = imagine_land();
  traffic is = imagine_traffic(&described);
  double *const figures[] = {
      /* of NATS */
      &is.published[TRAFFIC_GHOSTS].messages, &is.published[TRAFFIC_GHOSTS].bytes, &is.published[TRAFFIC_NODES].bytes,
      &is.published[TRAFFIC_JOURNAL].bytes, &is.published[TRAFFIC_OBJECTS].bytes, &is.in[0].messages, &is.in[1].bytes,
      &is.out[2].messages, &is.out[0].bytes,
      /* of etcd, and of the zones */
      &is.puts, &is.wire[BROKERS_ETCD][0], &is.wire[BROKERS_ETCD][1], &is.database, &is.departed};
  for (size_t i = 0; i < COUNT_OF(figures); i++) {
    double was = *figures[i];
    *figures[i] = was * 0.5;
    cr_expect_gt(count_off(&described, &is, false), 0, "%zu, half", i);
    *figures[i] = was * 1.5;
    cr_expect_gt(count_off(&described, &is, false), 0, "%zu, half as much again", i);
    *figures[i] = was;
  }
}
