/* What a land gives its brokers to do is what `muster bench zones` computes (bench/zones): by the brokers' own figures,
 * with three zones and with nine.
 *
 * How many frames and updates there were, and how often a zone was stored, is taken as it came, since a busy machine
 * has fewer of them; so is how often etcd was asked for what had not changed, which MUSTER_SCALE_RATES=1 judges, too,
 * on a quiet one. MUSTER_SCALE_FRAMES is how many frames of each zone are counted. */
#include "traffic.h"
#include "zones_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

TestSuite(scale, .timeout = 1800);

enum { WARM_FRAMES = 100 };

/* By how much the model may be off; by twice as much beside other work, which lets more wait and go at once. */
static double nats_tolerance = 0.10, etcd_tolerance = 0.15, history_tolerance = 0.3;

static double number_given(const char *name, double otherwise) {
  const char *given = getenv(name);
  return given ? strtod(given, NULL) : otherwise;
}

/* Until all zones together have run so many frames more. */
static void let_frames_pass(land *all, const traffic_tap *tap, double frames) {
  traffic begin, now;
  traffic_read(all, tap, &begin);
  do {
    land_watch(all);
    traffic_read(all, tap, &now);
  } while (now.frames - begin.frames < frames);
}

static zones_land describe_land(const land *all, const traffic *is) {
  const land_options *options = &all->options;
  double zones = all->zones, stores = is->published[TRAFFIC_OBJECTS].messages / options->brokers.nats; /* a part each */
  return (zones_land){.zones = all->zones,
                      .columns = LAND_ZONES,
                      .nodes = LAND_NODES,
                      .nodes_of_zone = LAND_NODES,
                      .agents = options->agents,
                      .side_m = LAND_SIDE,
                      .border_m = LAND_BORDER,
                      .speed_m = options->speed,
                      .hz = is->frames / zones / is->seconds,
                      .round_frames = options->hz / LAND_GHOST_HZ,
                      .updates = is->completed / zones / is->seconds,
                      .state_bytes = options->strollers,
                      .published_bytes = options->strollers,
                      .store_s = zones * is->seconds / (stores > 0 ? stores : 1),
                      .lease_ttl_s = LAND_TTL_S,
                      .stream = options->journal_stream};
}

static void compare(const char *what, double computed, double counted, double tolerance) {
  double off = computed / counted - 1;
  printf("  %-38s computed %12.1f, counted %12.1f a second: %+5.1f %%\n", what, computed, counted, off * 100);
  fflush(stdout);
  cr_expect(fabs(off) <= tolerance, "%s: %.1f is computed, %.1f counted", what, computed, counted);
}

static void compare_nats(const zones_load *load, const traffic *is, bool stream) {
  double s = is->seconds, in = 0, in_bytes = 0, out = 0, out_bytes = 0;
  zones_flow sum = zones_sum(load, true);
  for (uint32_t i = 0; i < ZONES_SERVERS; i++) {
    in += is->in[i].messages / s;
    in_bytes += is->in[i].bytes / s;
    out += is->out[i].messages / s;
    out_bytes += is->out[i].bytes / s;
  }
  compare("NATS: tellings", load->flows[ZONES_GHOSTS].messages * ZONES_SERVERS,
          is->published[TRAFFIC_GHOSTS].messages / s, nats_tolerance);
  compare("NATS: bytes of tellings", load->flows[ZONES_GHOSTS].bytes * ZONES_SERVERS,
          is->published[TRAFFIC_GHOSTS].bytes / s, nats_tolerance);
  if (stream)
    compare("NATS: bytes of journals", load->flows[ZONES_JOURNAL].bytes * ZONES_SERVERS,
            is->published[TRAFFIC_JOURNAL].bytes / s, nats_tolerance);
  compare("NATS: bytes of snapshots", load->flows[ZONES_SNAPSHOTS].bytes * ZONES_SERVERS,
          is->published[TRAFFIC_OBJECTS].bytes / s, nats_tolerance);
  compare("NATS: messages in", sum.messages * ZONES_SERVERS, in, nats_tolerance);
  compare("NATS: bytes in", sum.bytes * ZONES_SERVERS, in_bytes, nats_tolerance);
  compare("NATS: messages out", sum.out_messages * ZONES_SERVERS, out, nats_tolerance);
  compare("NATS: bytes out", sum.out_bytes * ZONES_SERVERS, out_bytes, nats_tolerance);
}

/* Bytes are computed for as many requests as there were: how often something is asked, and how much is put at once,
 * depends on how fast the machine is. */
static void compare_etcd(const zones_load *load, const traffic *is, bool rates) {
  double s = is->seconds, writes = is->agreed / s, reads = (is->ranges + is->transactions) / s - writes;
  const zones_flow *looks = &load->flows[ZONES_LOOKS], *asks = &load->flows[ZONES_ASKS],
                   *renewals = &load->flows[ZONES_RENEWALS];
  double more_reads = (reads - load->reads) / (looks->messages + asks->messages);
  double more_writes = (writes - load->writes) / renewals->messages;
  zones_flow sum = zones_sum(load, false);
  sum.bytes += more_reads * (looks->bytes + asks->bytes) + more_writes * renewals->bytes;
  sum.out_bytes += more_reads * (looks->out_bytes + asks->out_bytes) + more_writes * renewals->out_bytes;
  compare("etcd: requests that change nothing", load->reads, reads, rates ? etcd_tolerance : INFINITY);
  compare("etcd: changes", load->writes, writes, rates ? etcd_tolerance : INFINITY);
  compare("etcd: keys that are put", load->puts, is->puts / s, etcd_tolerance);
  compare("etcd: bytes in", sum.bytes, is->wire[BROKERS_ETCD][0] / s, etcd_tolerance);
  compare("etcd: bytes out", sum.out_bytes, is->wire[BROKERS_ETCD][1] / s, etcd_tolerance);
}

static void check_land(const land_options *options) {
  traffic before, is;
  bool quiet = number_given("MUSTER_SCALE_RATES", 0) != 0;
  if (!quiet) nats_tolerance *= 2, etcd_tolerance *= 2, history_tolerance *= 2;
  land *all = land_start(options);
  traffic_tap *tap = traffic_open(all);
  double frames = number_given("MUSTER_SCALE_FRAMES", 200);
  let_frames_pass(all, tap, WARM_FRAMES * all->zones);
  traffic_read(all, tap, &before);
  let_frames_pass(all, tap, frames * all->zones);
  traffic_read(all, tap, &is);
  traffic_less(&is, &before);
  traffic_print(&is, stdout);
  zones_land described = describe_land(all, &is);
  zones_load load;
  zones_model(&described, &load);
  compare_nats(&load, &is, options->journal_stream);
  compare_etcd(&load, &is, quiet);
  compare("etcd: bytes that its file grows by", load.history_bytes, is.database / is.seconds, history_tolerance);
  compare("agents that cross", zones_leaving(&described) * all->zones, is.departed / is.seconds, etcd_tolerance);
  traffic_close(tap);
  land_end(all);
}

Test(scale, of_three_zones_is_what_is_computed) {
  check_land(&(land_options){
      .brokers = {.nats = BROKERS_MAX, .etcd = BROKERS_MAX}, .agents = 600, .speed = 5, .strollers = 12});
}

Test(scale, of_nine_zones_with_the_stream_of_their_journals_too) {
  check_land(&(land_options){.brokers = {.nats = BROKERS_MAX, .etcd = BROKERS_MAX},
                             .journal_stream = true,
                             .rows = 3,
                             .agents = 300,
                             .speed = 3,
                             .strollers = 100});
}
