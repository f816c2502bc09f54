/* A server of a small game: sheep graze, wolves hunt them, players walk among them, and clients are told what they see.
 * The guide in tools/docs/guide writes it from the first line on. */
#include <errno.h>
#include <math.h>
#include <muster/module.h>
#include <muster/muster.h>
#include <muster/replicate.h>
#include <muster/snapshot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHEEP = 2000, WOLVES = 20, PLAYERS = 4, HEARERS = 8, CHANGES = 256, HZ = 30, SECONDS = 10 };

static const uint64_t budget_ns = 1000000, second_ns = 1000000000;
static const double pasture_m = 400;

struct server {
  muster_world *world;
  muster_type sheep, wolves;
  uint32_t flock;      /* sheep to begin with */
  uint32_t eaten;      /* sheep, by wolves; only actions write it, which run one at a time */
  uint64_t now_ns;     /* of the last frame */
  uint64_t changes_at; /* up to where clients were told what changed */
  uint64_t bytes_to_clients;
  bool live;           /* by the real clock: */
  struct timespec due; /* when its next frame is */
};

/* What a sheep keeps from one update to the next. */
struct sheep {
  double eaten_g;
  bool flees;
  muster_position danger; /* what it flees from */
};

/* What a wolf keeps. */
struct wolf {
  muster_agent prey; /* within reach */
  uint64_t rests_until_ns;
};

/* What a wolf shows to others. */
struct wolf_shown {
  bool hunts;
};

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "server: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static void must_do(bool done, const char *path) {
  if (done) return;
  fprintf(stderr, "server: %s: %s\n", path, strerror(errno));
  exit(EXIT_FAILURE);
}

static double inside(double x) {
  return x < 0 ? 0 : x > pasture_m ? pasture_m : x;
}

/* Moves an agent towards a point that lies `east` and `north` of it: as far as it gets in the time that has passed. */
static void walk(muster_update *update, double east, double north, double speed_mps) {
  double distance = sqrt(east * east + north * north);
  double step = speed_mps * (double)update->elapsed_ns / (double)second_ns;
  double part = distance > step ? step / distance : 1;
  muster_position to = {inside(update->position.x + east * part), inside(update->position.y + north * part), 0};
  muster_update_move(update, to);
}

/* Some metres to the west (negative) or east, south or north. */
static double random_way(muster_update *update) {
  return 100 * (muster_update_random_share(update) - 0.5);
}

/* Tells the nearest sheep where the danger is. */
static void bleat(muster_update *update, muster_position danger) {
  const struct server *server = update->type_user;
  muster_neighbour others[HEARERS];
  uint32_t count = muster_update_nearby(update, 20, server->sheep, others, HEARERS);
  for (uint32_t i = 0; i < count; i++) muster_update_send(update, others[i].agent, &danger, sizeof danger);
}

/* Notes a danger that another sheep told of, and then the nearest wolf that hunts: at level 1 it only hears. */
static muster_atom_result look(muster_update *update) {
  const struct server *server = update->type_user;
  struct sheep *self = update->state;
  muster_message heard;
  muster_neighbour wolf;
  self->flees = muster_update_messages(update, &heard, 1) > 0;
  if (self->flees) memcpy(&self->danger, heard.bytes, sizeof self->danger);
  if (update->level > 0 || !muster_update_nearby(update, 15, server->wolves, &wolf, 1)) return MUSTER_ATOM_NEXT;
  const struct wolf_shown *shown = wolf.published;
  if (!shown->hunts) return MUSTER_ATOM_NEXT;
  self->flees = true;
  self->danger = wolf.position;
  bleat(update, wolf.position);
  return MUSTER_ATOM_NEXT;
}

/* What the atoms of a sheep cost by the virtual clock. */
static uint64_t sheep_cost_ns(const muster_cost_query *query, void *user) {
  (void)user;
  if (query->atom > 0) return 1000;
  return query->level > 0 ? 300 : 5000;
}

static muster_atom_result graze(muster_update *update) {
  struct sheep *self = update->state;
  if (self->flees) {
    walk(update, 100 * (update->position.x - self->danger.x), 100 * (update->position.y - self->danger.y), 4);
    return MUSTER_ATOM_NEXT;
  }
  self->eaten_g += 2 * (double)update->elapsed_ns / (double)second_ns;
  double east = random_way(update);
  walk(update, east, random_way(update), 0.3);
  return MUSTER_ATOM_NEXT;
}

/* A wolf that does not rest goes to the nearest sheep within 30 m. */
static muster_atom_result prowl(muster_update *update) {
  const struct server *server = update->type_user;
  struct wolf *self = update->state;
  struct wolf_shown *shown = update->published;
  muster_neighbour sheep;
  shown->hunts =
      update->now_ns >= self->rests_until_ns && muster_update_nearby(update, 30, server->sheep, &sheep, 1) > 0;
  if (!shown->hunts) {
    double east = random_way(update);
    walk(update, east, random_way(update), 1);
    return MUSTER_ATOM_FINISH;
  }
  walk(update, sheep.position.x - update->position.x, sheep.position.y - update->position.y, 5);
  self->prey = sheep.agent;
  return sheep.distance_m < 1.5f ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

/* The sheep is gone, and a lamb is born somewhere else: the flock keeps its size. */
static muster_atom_result bite(muster_update *update) {
  struct server *server = update->type_user;
  struct wolf *self = update->state;
  if (muster_update_remove(update, self->prey) != MUSTER_OK) return MUSTER_ATOM_NEXT; /* another wolf was first */
  server->eaten++;
  self->rests_until_ns = update->now_ns + 2 * second_ns;
  muster_agent_def lamb = muster_agent_def_default();
  lamb.type = server->sheep;
  lamb.position.x = pasture_m * muster_update_random_share(update);
  lamb.position.y = pasture_m * muster_update_random_share(update);
  muster_update_spawn(update, &lamb);
  return MUSTER_ATOM_NEXT;
}

static muster_result register_types(struct server *server) {
  const muster_atom sheep_atoms[] = {{look, MUSTER_ROLE_PERCEPTION, 5000}, {graze, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_atom wolf_atoms[] = {{prowl, MUSTER_ROLE_BEHAVIOUR, 8000}, {bite, MUSTER_ROLE_ACTION, 500}};
  muster_type_def sheep = muster_type_def_default();
  sheep.name = "sheep";
  sheep.user = server;
  sheep.atoms = sheep_atoms;
  sheep.atom_count = 2;
  sheep.state_bytes = sizeof(struct sheep);
  sheep.messages.waiting_max = 4;
  sheep.messages.bytes_max = sizeof(muster_position);
  sheep.messages.sends_max = HEARERS;
  sheep.messages.wake = true;
  sheep.wake_gap_ns = second_ns / 2;
  sheep.models.cost_ns = sheep_cost_ns;
  sheep.levels.count = 2;
  sheep.levels.importance[0] = 0; /* level 1 is for load alone */
  muster_type_def wolf = muster_type_def_default();
  wolf.name = "wolf";
  wolf.user = server;
  wolf.atoms = wolf_atoms;
  wolf.atom_count = 2;
  wolf.state_bytes = sizeof(struct wolf);
  wolf.spawns_max = 1;
  wolf.elasticity = 0;
  wolf.published_bytes = sizeof(struct wolf_shown);
  server->sheep = muster_type_register(server->world, &sheep);
  server->wolves = muster_type_register(server->world, &wolf);
  return server->sheep.index && server->wolves.index ? MUSTER_OK : muster_last_result();
}

/* Spawns agents in rows that fill the pasture. */
static muster_result spawn(const struct server *server, muster_type type, uint32_t count) {
  uint32_t columns = (uint32_t)sqrt(count) + 1;
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  for (uint32_t i = 0; i < count; i++) {
    def.position.x = pasture_m * (i % columns) / columns;
    def.position.y = pasture_m * (i / columns) / columns;
    if (muster_agent_is_null(muster_agent_spawn(server->world, &def))) return muster_last_result();
  }
  return MUSTER_OK;
}

/* Players walk to and fro, each on a line of its own. */
static muster_position place_of_player(uint32_t player, uint64_t now_ns) {
  double metres = fmod(100.0 * player + 2.0 * (double)now_ns / (double)second_ns, 2 * pasture_m);
  muster_position place = {metres < pasture_m ? metres : 2 * pasture_m - metres,
                           pasture_m * (player + 1) / (PLAYERS + 1), 0};
  return place;
}

static muster_result populate(const struct server *server) {
  for (uint32_t i = 0; i < PLAYERS; i++) {
    muster_observer_def player = muster_observer_def_default();
    player.position = place_of_player(i, 0);
    player.near_m = 20;
    player.far_m = 80;
    if (muster_observer_is_null(muster_observer_add(server->world, &player))) return muster_last_result();
  }
  muster_result result = spawn(server, server->sheep, server->flock);
  return result ? result : spawn(server, server->wolves, WOLVES);
}

/* What the game does before each frame. */
static void move_players(muster_world *world, uint64_t now_ns) {
  muster_observer player = muster_observer_next(world, (muster_observer){0});
  for (; !muster_observer_is_null(player); player = muster_observer_next(world, player))
    muster_observer_move(world, player, place_of_player(muster_observer_index(player), now_ns));
}

/* What a client is told of an agent. */
struct record {
  muster_agent agent;
  float x, y;
  uint32_t kinds;
};

/* Stands for writing to a connection. */
static void send_to_client(struct server *server, uint32_t player, const struct record *record) {
  (void)player;
  server->bytes_to_clients += sizeof *record;
}

static bool sees(const struct server *server, uint32_t player, muster_position place) {
  muster_position eye = place_of_player(player, server->now_ns);
  double east = place.x - eye.x, north = place.y - eye.y;
  return east * east + north * north < 80 * 80;
}

/* Tells each client of the changes that its player sees. An agent that left stands nowhere: all are told. */
static void tell(struct server *server, const muster_change *changes, uint32_t count) {
  muster_agent agents[CHANGES];
  muster_position places[CHANGES] = {0};
  muster_agent_columns columns = muster_agent_columns_default();
  columns.positions = places;
  for (uint32_t i = 0; i < count; i++) agents[i] = changes[i].agent;
  muster_agents_read(server->world, agents, count, &columns);
  for (uint32_t i = 0; i < count; i++) {
    struct record record = {agents[i], (float)places[i].x, (float)places[i].y, changes[i].kinds};
    for (uint32_t player = 0; player < PLAYERS; player++)
      if ((record.kinds & MUSTER_CHANGE_LEFT) || sees(server, player, places[i]))
        send_to_client(server, player, &record);
  }
}

/* For clients that know nothing yet, or missed something. */
static void tell_everything(struct server *server) {
  muster_agent agent = {0};
  while (!muster_agent_is_null(agent = muster_agent_next(server->world, agent))) {
    muster_change change = {agent, {0}, MUSTER_CHANGE_SPAWNED};
    tell(server, &change, 1);
  }
}

static void tell_clients(struct server *server) {
  muster_change changes[CHANGES];
  uint32_t count = 0;
  do {
    muster_result result =
        muster_frame_changes(server->world, MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT,
                             &server->changes_at, changes, CHANGES, &count);
    if (result == MUSTER_E_STALE)
      tell_everything(server);
    else
      must(result == MUSTER_OK, "the changes");
    tell(server, changes, count);
  } while (count == CHANGES);
}

/* Waits until the time of the next frame. A loop that is late goes on at once. */
static void wait_for_frame(struct timespec *due) {
  due->tv_nsec += (long)second_ns / HZ;
  if (due->tv_nsec >= (long)second_ns) {
    due->tv_nsec -= (long)second_ns;
    due->tv_sec++;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

static void run_frame(struct server *server, uint64_t now_ns) {
  if (server->live) wait_for_frame(&server->due);
  muster_frame frame = {now_ns, budget_ns};
  server->now_ns = now_ns;
  move_players(server->world, now_ns);
  must(muster_frame_run(server->world, &frame) == MUSTER_OK, "a frame");
  tell_clients(server);
}

/* Runs the frames of a second. */
static void run_second(struct server *server, uint32_t second) {
  uint64_t updates = 0, bytes = server->bytes_to_clients;
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t frame = second * HZ + 1; frame <= (second + 1) * HZ; frame++) {
    run_frame(server, frame * second_ns / HZ);
    muster_frame_report_read(server->world, &report);
    updates += report.completed;
  }
  printf("%2u s: %u agents, %llu updates, pressure %.2f, %u at level 1, %u sheep eaten, %llu kB to clients\n",
         second + 1, report.agents, (unsigned long long)updates, (double)report.pressure, report.levels[1],
         server->eaten, (unsigned long long)(server->bytes_to_clients - bytes) / 1000);
}

/* How often agents ran, by importance; and what became of messages. */
static void report(const struct server *server) {
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(server->world, &sums);
  for (uint32_t i = MUSTER_BANDS; i-- > 0;)
    printf("importance up to %.2f: %4u agents, an update every %4.0f ms\n", (double)muster_band_end(i),
           sums.bands[i].agents, (double)sums.bands[i].interval_ns / 1e6);
  printf("%llu messages delivered, %llu dropped\n", (unsigned long long)sums.messages_delivered,
         (unsigned long long)sums.messages_dropped);
}

static bool write_bytes(const void *bytes, size_t count, void *file) {
  return fwrite(bytes, 1, count, file) == count;
}

/* A new file takes the place of the old one only when it is complete. */
static void save(const struct server *server, const char *path) {
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s.new", path);
  FILE *file = fopen(fresh, "wb");
  must_do(file, fresh);
  muster_save_def def = muster_save_def_default();
  def.write = write_bytes;
  def.user = file;
  must(muster_world_save(server->world, &def) == MUSTER_OK, "the snapshot");
  must_do(fclose(file) == 0 && rename(fresh, path) == 0, path);
}

/* Goes on with the world of a snapshot; false when there is no such file. */
static bool load(struct server *server, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file && errno == ENOENT) return false;
  must_do(file, path);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  void *bytes = malloc(size + 1);
  rewind(file);
  must_do(bytes && fread(bytes, 1, size, file) == size, path);
  fclose(file);
  muster_load_def def = muster_load_def_default();
  def.bytes = bytes;
  def.count = size;
  must(muster_world_load(server->world, &def) == MUSTER_OK, path);
  muster_snapshot_info info = muster_snapshot_info_default();
  must(muster_snapshot_look(bytes, size, &info) == MUSTER_OK, path);
  server->now_ns = info.sim_now_ns;
  free(bytes);
  return true;
}

/* server [SHEEP [virtual | live [SNAPSHOT]]]: goes on with the snapshot when there is one, and writes it at the end. */
int main(int count, char **arguments) {
  static struct server server;
  server.flock = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : SHEEP;
  if (server.flock < 1 || server.flock > 50000) {
    fprintf(stderr, "server: '%s' is no flock: give the number of sheep, 1 to 50000\n", arguments[1]);
    return EXIT_FAILURE;
  }
  server.live = count > 2 && strcmp(arguments[2], "live") == 0;
  const char *snapshot = count > 3 ? arguments[3] : NULL;
  muster_pool_def pool_def = muster_pool_def_default();
  muster_pool *pool = muster_pool_create(&pool_def);
  must(pool, "the workers");
  muster_world_def def = muster_world_def_default();
  def.pool = pool;
  def.clock.kind = server.live ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  def.limits.changes_frames = 1;
  server.world = muster_world_create(&def);
  must(server.world, "the world");
  must(register_types(&server) == MUSTER_OK, "the types");
  if (!snapshot || !load(&server, snapshot)) must(populate(&server) == MUSTER_OK, "the population");
  must_do(clock_gettime(CLOCK_MONOTONIC, &server.due) == 0, "the clock");
  uint32_t begin = (uint32_t)(server.now_ns / second_ns);
  for (uint32_t second = begin; second < begin + SECONDS; second++) run_second(&server, second);
  report(&server);
  if (snapshot) save(&server, snapshot);
  muster_world_destroy(server.world);
  muster_pool_destroy(pool);
}

/* The same game as a module of musterd, which has the loop. */
static muster_result open_game(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  struct server *server = calloc(1, sizeof *server);
  if (!server) return muster_module_fail(MUSTER_E_MEMORY, "pasture: no memory");
  server->flock = options->agents ? options->agents : SHEEP;
  needs->agents = server->flock + WOLVES;
  needs->agents_max = needs->agents + 1000; /* a lamb may be born before the sheep that it replaces is gone */
  needs->observers = PLAYERS;
  *instance = server;
  return MUSTER_OK;
}

static muster_result register_game(void *instance, muster_world *world) {
  struct server *server = instance;
  server->world = world;
  return register_types(server);
}

static muster_result populate_game(void *instance, muster_world *world) {
  (void)world;
  return populate(instance);
}

static void before_frame(void *instance, muster_world *world, uint64_t now_ns) {
  (void)instance;
  move_players(world, now_ns);
}

static void read_metrics(void *instance, const muster_world *world, double *values) {
  const struct server *server = instance;
  (void)world;
  values[0] = server->eaten;
}

static const muster_module_metric metrics[] = {
    {"sheep_eaten_total", MUSTER_MODULE_COUNTER, "Sheep that wolves ate since the start."}, {0}};

static const muster_module module = {.size = sizeof module,
                                     .abi = MUSTER_MODULE_ABI,
                                     .name = "pasture",
                                     .summary = "sheep, wolves and players on a pasture",
                                     .open = open_game,
                                     .register_types = register_game,
                                     .populate = populate_game,
                                     .before_frame = before_frame,
                                     .close = free,
                                     .metrics = metrics,
                                     .read_metrics = read_metrics};

const muster_module *muster_module_get(void) {
  return &module;
}
