/* The reference for the bindings: a server that runs its own NPCs by plans of Muster (muster/planner.h). Two thousand
 * NPCs walk a field of half a kilometre: hunters run after the nearest of 50 players, and rats run away from it. Each
 * client is told where the NPCs around its player are. PlannerServer.cs and PlannerServer.java are the same server.
 *
 *     planner_server [SECONDS [BUDGET_US [virtual]]]    of simulation, as fast as it goes; virtual = costs are not
 *                                                       measured, so the result is the same on every machine
 *
 * All arithmetic is addition, multiplication, division and square roots, each rounded once, so the three languages come
 * to the same positions bit for bit. */
#include <math.h>
#include <muster/bulk.h>
#include <muster/muster.h>
#include <muster/planner.h>
#include <muster/random.h>
#include <muster/replicate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NPCS = 2000, PLAYERS = 50, HZ = 30, CHANGES = 512 };
static const double field_m = 500, sight_m = 60, second_ns = 1e9;

struct npc {
  muster_agent agent;
  muster_position place;
};

static struct {
  muster_world *world;
  muster_type hunters, rats;
  struct npc npcs[NPCS]; /* even ones are hunters */
  muster_observer players[PLAYERS];
  muster_position places[PLAYERS]; /* of the players */
  uint64_t bytes, sum;             /* what was sent to the clients */
  uint64_t cursor, caught, completed;
  bool measured;
} server;

static muster_plan_entry entries[NPCS];
static muster_plan_result results[NPCS];

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "planner_server: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static muster_position place_of(uint64_t random) {
  muster_position place = {(double)muster_random_share(random) * field_m,
                           (double)muster_random_share(muster_random_mix(random)) * field_m, 0};
  return place;
}

static double within_field(double x) {
  return x < 0 ? 0 : x > field_m ? field_m : x;
}

/* Players walk round squares of 20 m. */
static void walk(double seconds) {
  for (uint32_t i = 0; i < PLAYERS; i++) {
    double way = i * 7 + seconds * 1.5;
    way -= 80 * floor(way / 80);
    server.places[i] = place_of(muster_random_mix(i + 1));
    server.places[i].x += way < 20 ? way : way < 40 ? 20 : way < 60 ? 60 - way : 0;
    server.places[i].y += way < 20 ? 0 : way < 40 ? way - 20 : way < 60 ? 20 : 80 - way;
  }
}

/* ------------------------------------------------------------------------------------------------------------- NPCs */

/* One step in a direction, not beyond its end. */
static void go(struct npc *npc, double x, double y, double step) {
  double distance = sqrt(x * x + y * y);
  double share = distance > step ? step / distance : 1;
  npc->place.x = within_field(npc->place.x + x * share);
  npc->place.y = within_field(npc->place.y + y * share);
}

/* The update of one NPC, over the time since its last one. Returns whether it caught a player. */
static bool update(struct npc *npc, bool hunter, const muster_plan_entry *entry) {
  double seconds = (double)entry->elapsed_ns / second_ns, nearest = hunter ? 1600 : 225, x = 0, y = 0;
  bool sees = false;
  for (uint32_t i = 0; i < PLAYERS; i++) {
    double dx = server.places[i].x - npc->place.x, dy = server.places[i].y - npc->place.y;
    double square = dx * dx + dy * dy;
    if (square >= nearest) continue;
    nearest = square, x = dx, y = dy, sees = true;
  }
  uint64_t random = muster_random_mix(npc->agent.value ^ entry->now_ns);
  if (!sees) {
    x = (double)muster_random_share(random) - 0.5;
    y = (double)muster_random_share(muster_random_mix(random)) - 0.5;
    go(npc, x * 1000, y * 1000, seconds);
  } else if (hunter) {
    go(npc, x, y, 4 * seconds);
  } else {
    go(npc, x * -1000, y * -1000, 3 * seconds);
  }
  return hunter && nearest < 2.25;
}

static void spawn(uint32_t i, muster_position place) {
  muster_agent_def def = muster_agent_def_default();
  def.type = i % 2 == 0 ? server.hunters : server.rats;
  def.position = place;
  def.user = (void *)(uintptr_t)i; /* comes back in each plan entry */
  server.npcs[i] = (struct npc){muster_agent_spawn(server.world, &def), place};
  must(!muster_agent_is_null(server.npcs[i].agent), "an NPC");
}

/* A hunter that caught a player is sent away, and another one comes elsewhere. */
static void replace(uint32_t i, uint64_t now_ns) {
  muster_agent gone = server.npcs[i].agent;
  must(muster_agent_remove(server.world, gone) == MUSTER_OK, "a removal");
  spawn(i, place_of(muster_random_mix(gone.value + now_ns)));
  server.caught++;
}

/* One frame: Muster says which NPCs run, the server runs them, and says what came of it. */
static void run_npcs(uint64_t now_ns, uint64_t budget_ns) {
  uint32_t caught[NPCS], count = 0, done = 0;
  muster_plan_summary plan = muster_plan_summary_default();
  muster_frame frame = {now_ns, budget_ns};
  must(muster_plan(server.world, &frame, entries, NPCS, &plan) == MUSTER_OK, "a plan");
  uint64_t start_ns = clock_ns(), begin_ns = start_ns;
  for (; done < plan.count; done++) {
    if (server.measured && done > 0 && begin_ns - start_ns > plan.run_ns) break;
    const muster_plan_entry *entry = &entries[done];
    uint32_t i = (uint32_t)entry->user;
    if (update(&server.npcs[i], i % 2 == 0, entry)) caught[count++] = i;
    uint64_t end_ns = server.measured ? clock_ns() : 0;
    results[done] = (muster_plan_result){.agent = entry->agent,
                                         .cost_ns = server.measured ? end_ns - begin_ns : entry->slice_ns,
                                         .position = server.npcs[i].place,
                                         .outcome = MUSTER_PLAN_FINISHED,
                                         .moved = 1};
    begin_ns = end_ns;
  }
  must(muster_plan_report(server.world, results, done) == MUSTER_OK, "a report");
  server.completed += done;
  for (uint32_t i = 0; i < count; i++) replace(caught[i], now_ns);
}

/* ---------------------------------------------------------------------------------------------------------- clients */

static uint64_t bits_of(double x, double y) {
  float parts[2] = {(float)x, (float)y};
  uint32_t bits[2];
  memcpy(bits, parts, sizeof bits);
  return (uint64_t)bits[0] << 32 | bits[1];
}

/* Where a server would write to connections: a record is 24 bytes. */
static void tell(const muster_change *changes, uint32_t count) {
  static muster_agent agents[CHANGES];
  static muster_position positions[CHANGES];
  muster_agent_columns columns = muster_agent_columns_default();
  columns.positions = positions;
  memset(positions, 0, sizeof positions); /* an agent that left has none */
  for (uint32_t i = 0; i < count; i++) agents[i] = changes[i].agent;
  muster_agents_read(server.world, agents, count, &columns);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < PLAYERS; k++) {
      double x = positions[i].x - server.places[k].x, y = positions[i].y - server.places[k].y;
      if (!(changes[i].kinds & MUSTER_CHANGE_LEFT) && x * x + y * y > sight_m * sight_m) continue;
      server.sum = muster_random_mix(server.sum ^ k ^ agents[i].value);
      server.sum = muster_random_mix(server.sum ^ bits_of(positions[i].x, positions[i].y));
      server.sum = muster_random_mix(server.sum ^ ((uint64_t)changes[i].kinds << 32 | changes[i].type.index));
      server.bytes += 24;
    }
  }
}

static void tell_clients(void) {
  static muster_change changes[CHANGES];
  uint32_t count = 0;
  do {
    must(muster_frame_changes(server.world, MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT,
                              &server.cursor, changes, CHANGES, &count) == MUSTER_OK,
         "changes");
    tell(changes, count);
  } while (count == CHANGES);
}

/* ------------------------------------------------------------------------------------------------------------ setup */

static muster_type register_type(const char *name, uint64_t period_ns) {
  muster_type_def def = muster_type_def_default();
  def.name = name;
  def.period_ns = period_ns;
  def.parts.part_ns = 2000; /* what an update costs under the virtual clock */
  muster_type type = muster_type_register(server.world, &def);
  must(type.index, "a type");
  return type;
}

static void set_up(void) {
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 1;
  def.limits.changes_frames = 1;
  def.clock.kind = server.measured ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  server.world = muster_world_create(&def);
  must(server.world, "a world");
  server.hunters = register_type("hunter", 100000000);
  server.rats = register_type("rat", 200000000);
  for (uint32_t i = 0; i < NPCS; i++) spawn(i, place_of(muster_random_mix(1000 + i)));
  walk(0);
  for (uint32_t i = 0; i < PLAYERS; i++) {
    muster_observer_def player = muster_observer_def_default();
    player.position = server.places[i];
    server.players[i] = muster_observer_add(server.world, &player);
    must(!muster_observer_is_null(server.players[i]), "a player");
  }
}

static void print_second(uint64_t second) {
  muster_frame_report report = muster_frame_report_default();
  must(muster_frame_report_read(server.world, &report) == MUSTER_OK, "a report");
  uint32_t pressure = (uint32_t)((double)report.pressure * 1000);
  printf("%3u s: %u NPCs, %llu updates, pressure %u.%03u, %llu caught, %llu kB to clients\n", (uint32_t)second,
         report.agents, (unsigned long long)server.completed, pressure / 1000, pressure % 1000,
         (unsigned long long)server.caught, (unsigned long long)server.bytes / 1000);
}

int main(int count, char **arguments) {
  uint64_t seconds = count > 1 ? strtoull(arguments[1], NULL, 10) : 10;
  uint64_t budget_ns = (count > 2 ? strtoull(arguments[2], NULL, 10) : 2000) * 1000;
  server.measured = count < 4 || strcmp(arguments[3], "virtual") != 0;
  set_up();
  for (uint64_t frame = 1; frame <= seconds * HZ; frame++) {
    uint64_t now_ns = frame * 1000000000 / HZ;
    walk((double)now_ns / second_ns);
    muster_observers_move(server.world, server.players, server.places, PLAYERS);
    run_npcs(now_ns, budget_ns);
    tell_clients();
    if (frame % HZ == 0) print_second(frame / HZ);
  }
  printf("world %016llx, clients %016llx\n", (unsigned long long)muster_world_hash(server.world),
         (unsigned long long)server.sum);
  muster_world_destroy(server.world);
}
