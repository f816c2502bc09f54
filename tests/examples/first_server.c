/* A first server, all of it: guards hunt rats on a field of half a kilometre, players walk among them, and each client
 * is told where the NPCs around its player are. first_server.cpp is the same server in C++.
 *
 *     cc first_server.c $(pkg-config --cflags --libs muster) -lm
 *     ./a.out [WORKERS [SECONDS [fast | virtual]]]     0 workers = one per processor; fast = as fast as it goes;
 *                                                      virtual = the same, and the same result on every machine
 */
#include <math.h>
#include <muster/bulk.h>
#include <muster/muster.h>
#include <muster/random.h>
#include <muster/replicate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GUARDS = 1000, RATS = 1000, PLAYERS = 50, HZ = 30, CHANGES = 512 };
static const double field_m = 500, sight_m = 60, reach_m = 1.5, second_ns = 1e9;

struct client {
  uint64_t bytes, sum; /* stand for a connection: how much was sent, and a sum of all of it */
};

struct server {
  muster_world *world;
  muster_type guards, rats; /* atoms find them here: the types' user is the server */
  muster_observer players[PLAYERS];
  muster_position places[PLAYERS];
  struct client clients[PLAYERS];
  uint64_t cursor; /* up to where the clients were told */
  uint64_t caught; /* written by actions, which run one at a time */
};

/* What agents keep and show. */
struct guard {
  muster_agent prey; /* in reach */
};
struct rat_seen {
  float x_mps, y_mps; /* its velocity */
};

/* What is sent of an agent. */
struct record {
  muster_agent agent;
  float x, y;
  uint32_t kinds, type;
};

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "first_server: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static muster_position place_of(uint64_t random) {
  muster_position place = {muster_random_share(random) * field_m,
                           muster_random_share(muster_random_mix(random)) * field_m, 0};
  return place;
}

static double within_field(double x) {
  return x < 0 ? 0 : x > field_m ? field_m : x;
}

/* ------------------------------------------------------------------------------------------------------------ atoms */

/* One step at a speed towards a point `x`, `y` from here, not beyond it. */
static void go(muster_update *update, double x, double y, double speed_mps) {
  double distance = hypot(x, y), step = speed_mps * (double)update->elapsed_ns / second_ns;
  double share = distance > step ? step / distance : 1;
  muster_position to = update->position;
  to.x = within_field(to.x + x * share);
  to.y = within_field(to.y + y * share);
  muster_update_move(update, to);
}

/* A rat runs from the nearest guard, or strolls. */
static muster_atom_result flee(muster_update *update) {
  const struct server *server = update->type_user;
  struct rat_seen *seen = update->published;
  muster_neighbour guard;
  double angle = 6.2831853 * muster_update_random_share(update), speed = 1;
  if (muster_update_nearby(update, 15, server->guards, &guard, 1)) {
    angle = atan2(update->position.y - guard.position.y, update->position.x - guard.position.x);
    speed = 3;
  }
  seen->x_mps = (float)(cos(angle) * speed);
  seen->y_mps = (float)(sin(angle) * speed);
  go(update, cos(angle) * 1000, sin(angle) * 1000, speed);
  return MUSTER_ATOM_NEXT;
}

/* A guard goes where the nearest rat will be in half a second. */
static muster_atom_result chase(muster_update *update) {
  const struct server *server = update->type_user;
  struct guard *self = update->state;
  muster_neighbour rat;
  if (!muster_update_nearby(update, 40, server->rats, &rat, 1)) return MUSTER_ATOM_FINISH;
  const struct rat_seen *seen = rat.published;
  go(update, rat.position.x + seen->x_mps / 2 - update->position.x,
     rat.position.y + seen->y_mps / 2 - update->position.y, 4);
  self->prey = rat.agent;
  return rat.distance_m <= reach_m ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH; /* out of reach: no action */
}

/* The first guard takes the rat, and another one appears elsewhere. */
static muster_atom_result take(muster_update *update) {
  struct server *server = update->type_user;
  const struct guard *self = update->state;
  if (muster_update_remove(update, self->prey) != MUSTER_OK) return MUSTER_ATOM_NEXT;
  server->caught++;
  muster_agent_def rat = muster_agent_def_default();
  rat.type = server->rats;
  rat.position = place_of(muster_update_random(update));
  muster_update_spawn(update, &rat);
  return MUSTER_ATOM_NEXT;
}

/* ------------------------------------------------------------------------------------------------------------ setup */

static void register_types(struct server *server) {
  const muster_atom hunt[] = {{chase, MUSTER_ROLE_BEHAVIOUR, 2000}, {take, MUSTER_ROLE_ACTION, 500}};
  const muster_atom run[] = {{flee, MUSTER_ROLE_BEHAVIOUR, 2000}};
  muster_type_def def = muster_type_def_default();
  def.name = "guard";
  def.user = server;
  def.atoms = hunt;
  def.atom_count = 2;
  def.state_bytes = sizeof(struct guard);
  def.spawns_max = 1;
  server->guards = muster_type_register(server->world, &def);
  def = muster_type_def_default();
  def.name = "rat";
  def.user = server;
  def.atoms = run;
  def.atom_count = 1;
  def.published_bytes = sizeof(struct rat_seen);
  server->rats = muster_type_register(server->world, &def);
  must(server->guards.index && server->rats.index, "types");
}

/* Players walk in circles, and see what is around them. */
static void walk(struct server *server, double seconds) {
  for (uint32_t i = 0; i < PLAYERS; i++) {
    double angle = i + seconds * 1.5 / 20; /* 1.5 m/s on a circle of 20 m */
    server->places[i] = place_of(muster_random_mix(i + 1));
    server->places[i].x += 20 * cos(angle);
    server->places[i].y += 20 * sin(angle);
  }
}

static void populate(struct server *server) {
  for (uint32_t i = 0; i < GUARDS + RATS; i++) {
    muster_agent_def npc = muster_agent_def_default();
    npc.type = i < GUARDS ? server->guards : server->rats;
    npc.position = place_of(muster_random_mix(1000 + i));
    must(!muster_agent_is_null(muster_agent_spawn(server->world, &npc)), "an NPC");
  }
  walk(server, 0);
  for (uint32_t i = 0; i < PLAYERS; i++) {
    muster_observer_def player = muster_observer_def_default();
    player.position = server->places[i];
    server->players[i] = muster_observer_add(server->world, &player);
    must(!muster_observer_is_null(server->players[i]), "a player");
  }
}

/* ---------------------------------------------------------------------------------------------------------- clients */

/* Where a server would write to its client's connection. */
static void send_to(struct client *client, const struct record *record) {
  uint64_t words[3];
  memcpy(words, record, sizeof words);
  for (uint32_t i = 0; i < 3; i++) client->sum = muster_random_mix(client->sum ^ words[i]);
  client->bytes += sizeof *record;
}

static void tell(struct server *server, const muster_change *changes, uint32_t count) {
  muster_agent agents[CHANGES];
  muster_position positions[CHANGES];
  muster_agent_columns columns = muster_agent_columns_default();
  columns.positions = positions;
  memset(positions, 0, sizeof positions); /* an agent that left has none */
  for (uint32_t i = 0; i < count; i++) agents[i] = changes[i].agent;
  muster_agents_read(server->world, agents, count, &columns);
  for (uint32_t i = 0; i < count; i++) {
    struct record record = {agents[i], (float)positions[i].x, (float)positions[i].y, changes[i].kinds,
                            changes[i].type.index};
    for (uint32_t k = 0; k < PLAYERS; k++) {
      const muster_position *eye = &server->places[k];
      bool left = record.kinds & MUSTER_CHANGE_LEFT;
      if (left || hypot(positions[i].x - eye->x, positions[i].y - eye->y) <= sight_m)
        send_to(&server->clients[k], &record);
    }
  }
}

/* Asked after every frame, it never misses a change. */
static void tell_clients(struct server *server) {
  muster_change changes[CHANGES];
  uint32_t count = 0;
  do {
    must(muster_frame_changes(server->world, MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT,
                              &server->cursor, changes, CHANGES, &count) == MUSTER_OK,
         "changes");
    tell(server, changes, count);
  } while (count == CHANGES);
}

static uint64_t bytes_told(const struct server *server) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < PLAYERS; i++) bytes += server->clients[i].bytes;
  return bytes;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

/* Sleeps until it is time for a frame; a server that is late goes on at once. */
static void wait_for(struct timespec start, uint64_t after_ns) {
  uint64_t at_ns = (uint64_t)start.tv_nsec + after_ns;
  start.tv_sec += (time_t)(at_ns / 1000000000);
  start.tv_nsec = (long)(at_ns % 1000000000);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
}

static void run(struct server *server, uint32_t seconds, bool paced) {
  uint64_t completed = 0, bytes = 0;
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (uint32_t frame = 1; frame <= seconds * HZ; frame++) {
    uint64_t now_ns = frame * 1000000000ull / HZ;
    if (paced) wait_for(start, now_ns);
    walk(server, (double)now_ns / second_ns);
    muster_observers_move(server->world, server->players, server->places, PLAYERS);
    muster_frame now = {now_ns, 8000000};
    must(muster_frame_run(server->world, &now) == MUSTER_OK, "a frame");
    tell_clients(server);
    muster_frame_report report = muster_frame_report_default();
    muster_frame_report_read(server->world, &report);
    completed += report.completed;
    if (frame % HZ) continue;
    printf("%3u s: %u NPCs, %llu updates, pressure %.2f, %llu rats caught, %llu kB to clients\n", frame / HZ,
           report.agents, (unsigned long long)completed, (double)report.pressure, (unsigned long long)server->caught,
           (unsigned long long)(bytes_told(server) - bytes) / 1000);
    completed = 0;
    bytes = bytes_told(server);
  }
}

int main(int count, char **arguments) {
  const char *pace = count > 3 ? arguments[3] : "";
  static struct server server;
  muster_pool_def pool_def = muster_pool_def_default();
  pool_def.workers = count > 1 ? (uint32_t)atoi(arguments[1]) : 0;
  muster_pool *pool = muster_pool_create(&pool_def);
  must(pool, "a pool");
  muster_world_def def = muster_world_def_default();
  def.pool = pool;
  def.limits.changes_frames = 1;
  if (strcmp(pace, "virtual") == 0) def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  server.world = muster_world_create(&def);
  must(server.world, "a world");
  register_types(&server);
  populate(&server);
  run(&server, count > 2 ? (uint32_t)atoi(arguments[2]) : 10, *pace == 0);
  uint64_t sum = muster_world_hash(server.world);
  for (uint32_t i = 0; i < PLAYERS; i++) sum = muster_random_mix(sum ^ server.clients[i].sum);
  printf("hash %016llx\n", (unsigned long long)sum);
  muster_world_destroy(server.world);
  muster_pool_destroy(pool);
}
