/* What it costs a zone to have neighbours: a zone with four of them beside the same world alone, in one process, frame
 * by frame in turns, since a machine's speed differs more from minute to minute than what is measured. The worlds are
 * the service's, from hosting_open() on; what the supervisor does at the other end of their wires, the test does at
 * once, without brokers.
 *
 * Each run looks whether the figure can be trusted: agents cross both ways, and none is lost. A run of the size that a
 * figure needs takes MUSTER_COST_AGENTS, MUSTER_COST_FRAMES and, for worlds with journals, MUSTER_COST_JOURNAL; it
 * prints the figure, and judges it. Other programs disturb it least when it runs as chrt -f 20. */
#include "brokers.h"

#include "service/frames.h"
#include "service/hosting.h"
#include "service/service.h"
#include "service/settings_file.h"
#include "service/supervise/orders.h"
#include "service/zones/zone_parts.h"

#include "base/clock.h"

#include <fcntl.h>
#include <math.h>
#include <sys/socket.h>

TestSuite(cost, .timeout = 3600);

#define LEAST_RATIO 0.95

enum {
  PLACES = 6, /* alone, the zone, and its neighbours */
  ALONE = 0,
  MIDDLE = 1,
  WARM_FRAMES = 240,
  WINDOW = 50, /* frames */
  WINDOWS_MAX = 1000,
  REST_US = 5000, /* of each turn: threads of a real-time class get 95 % of the time */
  SPARE_NS = 20000000
};

/* What one side's frames took and did. */
typedef struct cost_sums {
  uint64_t frames, completed;
  uint64_t in_ns, frame_ns, out_ns, journal_ns;
} cost_sums;

typedef struct cost_place {
  struct service *service;
  hosted_world *world;
  struct wire end; /* the supervisor's; not open of the world alone */
  uint64_t stored[PLACES];
  cost_sums last, sums;
  bool full; /* the last frame had more to do than it had time */
} cost_place;

static cost_place places[PLACES];
static struct settings all;
static char folder[] = "/tmp/muster-cost-XXXXXX";
static const char *const names[PLACES] = {"alone", "middle", "west", "east", "south", "north"};

/* ------------------------------------------------------------------------------------------------------------- land */

static void complain(const char *where, const char *message, void *user) {
  (void)user;
  cr_assert_fail("%s: %s", where, message);
}

/* The neighbours have a budget for their agents as the zone has: so these are updated as often, and change as often. */
static size_t describe_world(char *text, uint32_t place, uint32_t agents, double square, double strip, double speed) {
  const double low[PLACES][2] = {{0, 0}, {0, 0}, {-strip, 0}, {square, 0}, {0, -strip}, {0, square}};
  bool upright = place == 2 || place == 3, big = place <= MIDDLE;
  double wide = big || !upright ? square : strip, high = big || upright ? square : strip;
  size_t length =
      (size_t)sprintf(text,
                      "[world %s]\nmodule = strollers\nagents = %u\nhz = 30\nbudget = %s\nmodule.square = %.17g\n"
                      "module.strip = %.17g\nmodule.speed = %.17g\n",
                      names[place], big ? agents : (uint32_t)(agents * strip / square), big ? "10ms" : "1ms", square,
                      place == ALONE ? 0.0 : strip, speed);
  if (place == ALONE) return length;
  return length + (size_t)sprintf(text + length, "zone = %u\nrectangle = %.17g %.17g %.17g %.17g\n", place,
                                  low[place][0], low[place][1], low[place][0] + wide, low[place][1] + high);
}

/* An agent on 40 m^2, and such a speed that one of a hundred crosses in a second: through a border go speed / pi times
 * what stands on a metre of it. */
static void describe_land(uint32_t agents) {
  static char text[8192];
  double square = sqrt(40.0 * agents), speed = 0.01 * 3.141592653589793 * square / 4;
  size_t length =
      (size_t)sprintf(text,
                      "[server]\ncluster = land\nnode = a\nnats = nats://h:1\netcd = http://h:2\nworkers = 2\n"
                      "modules = " MUSTER_TEST_MODULES "\nsnapshot_file = %s/snapshot\n",
                      folder);
  for (uint32_t i = 0; i < PLACES; i++) length += describe_world(text + length, i, agents, square, 100, speed);
  settings_default(&all);
  settings_read_text(&all, "cost", text, length, complain, NULL);
  settings_check(&all, false, complain, NULL);
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

static void greet_zone(cost_place *place, const world_settings *settings) {
  wire_begin begin = {.epoch = 1, .ttl_ns = 86400000000000u, .leased_ns = clock_boot()};
  ground_of(&all, settings, &begin.ground);
  begin.clock = (land_reading){.boot_ns = clock_boot()};
  wire_put(&place->end, (wire_head){.kind = WIRE_BEGIN, .bytes = sizeof begin}, &begin);
  wire_put(&place->end, (wire_head){.kind = WIRE_SPACE, .number = 1, .sequence = 1}, NULL);
  wire_put(&place->end, (wire_head){.kind = WIRE_CAUGHT_UP}, NULL);
  wire_put(&place->end, (wire_head){.kind = WIRE_ALL_CAME}, NULL);
  cr_assert(wire_flush(&place->end));
}

/* The descriptor of a zone is fixed, and each place has it while it is opened: taken before Criterion opens its own. */
__attribute__((constructor)) static void keep_descriptor(void) {
  int other = open("/dev/null", O_RDWR);
  if (fcntl(ORDERS_ZONE, F_GETFD) < 0) dup2(other, ORDERS_ZONE);
  if (other != ORDERS_ZONE) close(other);
}

static void open_place(uint32_t index, bool journal) {
  cost_place *place = &places[index];
  struct service *service = place->service = calloc(1, sizeof *service);
  int ends[2];
  cr_assert_not_null(service);
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  service->settings = all;
  service->settings.world_count = service->world_count = 1;
  service->settings.worlds[0] = all.worlds[index];
  service->settings.journal = journal && index <= MIDDLE;
  if (index > MIDDLE) service->settings.workers = 1;
  place->world = &service->worlds[0];
  place->world->settings = all.worlds[index];
  memcpy(place->world->name, all.worlds[index].name, sizeof place->world->name);
  place->world->budget_ns = all.worlds[index].budget_ns;
  place->world->period_ns = settings_period_ns(all.worlds[index].rate);
  uv_mutex_init(&place->world->mutex);
  uv_mutex_init(&service->news_mutex);
  uv_mutex_init(&service->snapshots.mutex);
  wire_open(&place->end, ends[0]);
  cr_assert_eq(dup2(ends[1], ORDERS_ZONE), ORDERS_ZONE);
  if (index != ALONE) greet_zone(place, &all.worlds[index]);
  cr_assert_eq(hosting_open(service), MUSTER_OK, "%s", muster_last_error());
  cr_assert_not_null(place->world->world);
  cr_assert_eq(place->world->journal != NULL, service->settings.journal, "%s", place->world->kept.why);
  if (index != ALONE) place->world->zone->wire.descriptor = ends[1];
}

/* ------------------------------------------------------------------------------------------------------- supervisor */

static void carry_one(uint32_t from, const wire_message *message) {
  cost_place *place = &places[from];
  uint32_t to = message->head.zone;
  if (message->head.kind == WIRE_PUBLISH) {
    cr_assert(to >= MIDDLE && to < PLACES);
    uint64_t sequence = ++place->stored[to];
    wire_put(&place->end, (wire_head){.kind = WIRE_STORED, .zone = to, .epoch = 1, .number = sequence}, NULL);
    wire_put(
        &places[to].end,
        (wire_head){.kind = WIRE_INCOMING, .zone = from, .epoch = 1, .number = sequence, .bytes = message->head.bytes},
        message->bytes);
  } else if (message->head.kind == WIRE_TELL) {
    cr_assert(to >= MIDDLE && to < PLACES);
    wire_put(&places[to].end, (wire_head){.kind = WIRE_TOLD, .zone = from, .bytes = message->head.bytes},
             message->bytes);
  }
}

static void carry_all(void) {
  wire_message message;
  for (uint32_t i = MIDDLE; i < PLACES; i++)
    while (wire_next(&places[i].end, &message)) carry_one(i, &message);
  for (uint32_t i = MIDDLE; i < PLACES; i++) {
    wire_flush(&places[i].end);
    cr_assert(!places[i].end.broken);
  }
}

/* ----------------------------------------------------------------------------------------------------------- frames */

/* As src/service/frames.c does it, but that a zone's clock goes as that of a world does which is none. */
static void run_place(cost_place *place) {
  hosted_world *world = place->world;
  uint64_t at_ns[5];
  at_ns[0] = clock_system();
  zone_take_in(world);
  at_ns[1] = clock_system();
  if (world->zone)
    world->zone->lease.clock = (land_reading){.boot_ns = clock_boot(), .land_ns = world->sim_now_ns + world->period_ns};
  cr_assert_eq(hosting_run_frame(world), MUSTER_OK, "%s", muster_last_error());
  world->frames++;
  at_ns[2] = clock_system();
  zone_send_out(world);
  at_ns[3] = clock_system();
  journals_turn(place->service, SPARE_NS);
  at_ns[4] = clock_system();
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world->world, &report);
  place->full = report.carried > 0;
  place->last = (cost_sums){.frames = 1,
                            .completed = report.completed,
                            .in_ns = at_ns[1] - at_ns[0],
                            .frame_ns = at_ns[2] - at_ns[1],
                            .out_ns = at_ns[3] - at_ns[2],
                            .journal_ns = at_ns[4] - at_ns[3]};
}

static void turn(uint64_t number) {
  run_place(&places[number % 2 ? ALONE : MIDDLE]);
  carry_all();
  run_place(&places[number % 2 ? MIDDLE : ALONE]);
  carry_all();
  for (uint32_t i = MIDDLE + 1; i < PLACES; i++) {
    run_place(&places[i]);
    carry_all();
  }
  usleep(REST_US);
}

static void add_sums(cost_sums *sums, const cost_sums *more) {
  sums->frames += more->frames;
  sums->completed += more->completed;
  sums->in_ns += more->in_ns;
  sums->frame_ns += more->frame_ns;
  sums->out_ns += more->out_ns;
  sums->journal_ns += more->journal_ns;
}

/* ---------------------------------------------------------------------------------------------------------- figures */

/* Updates in a millisecond of all that the thread of the frames does for the world. */
static double pace_of(const cost_sums *sums) {
  return (double)sums->completed * 1e6 / (double)(sums->in_ns + sums->frame_ns + sums->out_ns + sums->journal_ns);
}

static double ratio_of(const cost_sums *zone, const cost_sums *alone) {
  return (double)zone->completed / (double)alone->completed;
}

static void print_sums(const char *name, const cost_sums *sums) {
  double frames = (double)sums->frames * 1e6;
  printf("%-7s %8.0f updates a frame; ms: %.3f in, %.3f frame, %.3f out, %.3f journal\n", name,
         (double)sums->completed / (double)sums->frames, (double)sums->in_ns / frames, (double)sums->frame_ns / frames,
         (double)sums->out_ns / frames, (double)sums->journal_ns / frames);
}

typedef struct cost_figures {
  uint32_t windows;
  double ratios[WINDOWS_MAX], paces[WINDOWS_MAX];
} cost_figures;

/* Frames count in which both had more to do than they had time. */
static void measure(uint64_t frames, cost_figures *figures) {
  cost_sums window[2] = {0};
  for (uint64_t i = 0; i < frames; i++) {
    turn(i);
    for (uint32_t side = ALONE; side <= MIDDLE && places[ALONE].full && places[MIDDLE].full; side++) {
      add_sums(&window[side], &places[side].last);
      add_sums(&places[side].sums, &places[side].last);
    }
    if (window[ALONE].frames < WINDOW || figures->windows == WINDOWS_MAX) continue;
    figures->ratios[figures->windows] = ratio_of(&window[MIDDLE], &window[ALONE]);
    figures->paces[figures->windows++] = pace_of(&window[MIDDLE]) / pace_of(&window[ALONE]);
    memset(window, 0, sizeof window);
  }
}

/* Agents that left, and are not on their way yet: the frame in which they left is not safe. */
static uint64_t count_kept(const struct zone *zone) {
  const zone_waiting *waiting;
  const unsigned char *bytes;
  parcel_item item;
  bool damaged;
  uint64_t count = 0;
  TAILQ_FOREACH(waiting, &zone->waiting, link)
  for (size_t at = 0; !waiting->sent && parcel_next(waiting->parcel, waiting->bytes, &at, &item, &bytes, &damaged);)
    count += item.kind == PARCEL_AGENT;
  return count;
}

/* What is on its way arrives: the time of each zone comes to that of the others. */
static void drain(void) {
  uint64_t latest_ns = 0;
  for (uint32_t i = MIDDLE; i < PLACES; i++)
    if (places[i].world->sim_now_ns > latest_ns) latest_ns = places[i].world->sim_now_ns;
  for (uint32_t i = MIDDLE; i < PLACES; i++) places[i].world->sim_now_ns = latest_ns;
  for (uint32_t turns = 0; turns < 64; turns++) {
    carry_all();
    for (uint32_t i = MIDDLE; i < PLACES; i++) {
      zone_take_in(places[i].world);
      journals_turn(places[i].service, SPARE_NS);
      wire_flush(&places[i].world->zone->wire);
    }
  }
}

Test(cost, of_four_neighbours) {
  static cost_figures figures;
  uint64_t agents = from_environment("MUSTER_COST_AGENTS", 4000), frames = from_environment("MUSTER_COST_FRAMES", 0);
  bool journal = from_environment("MUSTER_COST_JOURNAL", 0) != 0;
  zone_published before, after;
  cr_assert_not_null(mkdtemp(folder));
  describe_land((uint32_t)agents);
  for (uint32_t i = 0; i < PLACES; i++) open_place(i, journal);
  for (uint64_t i = 0; i < WARM_FRAMES; i++) turn(i);
  zone_publish(places[MIDDLE].world, &before);
  measure(frames, &figures);
  zone_publish(places[MIDDLE].world, &after);
  if (frames) {
    double seconds = (double)frames / 30;
    printf("%lu agents%s: %.2f %% left in a second, %.2f %% came; %u ghosts; %lu frames of equal work\n", agents,
           journal ? ", journals" : "", 100 * (double)(after.departed - before.departed) / seconds / (double)agents,
           100 * (double)(after.arrived - before.arrived) / seconds / (double)agents, after.ghosts,
           places[ALONE].sums.frames);
    print_sums("alone", &places[ALONE].sums);
    print_sums("zone", &places[MIDDLE].sums);
    printf("updates, zone to alone: %.4f of all, %.4f median of %u windows; in equal time: %.4f, %.4f\n",
           ratio_of(&places[MIDDLE].sums, &places[ALONE].sums), median_of(figures.ratios, figures.windows),
           figures.windows, pace_of(&places[MIDDLE].sums) / pace_of(&places[ALONE].sums),
           median_of(figures.paces, figures.windows));
    fflush(stdout);
    cr_expect(ratio_of(&places[MIDDLE].sums, &places[ALONE].sums) >= LEAST_RATIO,
              "a zone with neighbours is promised to complete at least 95 %% of what the same world does alone");
  }
  drain();
  uint64_t departed = 0, arrived = 0;
  for (uint32_t i = MIDDLE; i < PLACES; i++) {
    zone_publish(places[i].world, &after);
    cr_expect(after.departed > 0 && after.arrived > 0 && after.ghosts > 0, "%s", names[i]);
    cr_expect_eq(after.refused, 0, "%s", names[i]);
    departed += after.departed;
    arrived += after.arrived + count_kept(places[i].world->zone);
  }
  cr_expect_eq(departed, arrived, "%lu left, %lu came", departed, arrived);
  for (uint32_t i = 0; i < PLACES; i++) hosting_close(places[i].service);
}
