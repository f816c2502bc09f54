/* A server that loses no frame, all of it: farmers grow grain, carriers bring it to the market, and players hire more
 * carriers. Kill it at any moment, also with -9, and start it again: it goes on from its last complete frame.
 *
 *     cc journal_host.c $(pkg-config --cflags --libs muster)
 *     ./a.out PATH [FRAMES [HZ]]     PATH = what the journal's files are called, such as /dev/shm/farm
 */
#include <inttypes.h>
#include <muster/journal.h>
#include <muster/muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FARMERS = 200, CARRIERS_MAX = 5000, FRAMES_PER_ORDER = 3 };

struct server {
  muster_world *world;
  muster_journal *journal;
  muster_type farmers, carriers;
  uint64_t frames;  /* that the world has run */
  uint64_t orders;  /* of players to hire a carrier, so far: the one thing that this host keeps outside of Muster */
  uint64_t answers; /* orders that were answered */
};

struct goods {
  uint64_t grain; /* the state of an agent of either type */
};

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "journal_host: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

/* ------------------------------------------------------------------------------------------------------------ types */

static muster_atom_result grow(muster_update *update) {
  struct goods *own = update->state;
  own->grain += 1 + muster_update_random(update) % 3;
  memcpy(update->published, own, sizeof *own);
  return MUSTER_ATOM_NEXT;
}

/* Takes a walk across the fields, and a grain wherever a farmer has one. */
static muster_atom_result carry(muster_update *update) {
  struct goods *own = update->state;
  muster_neighbour near[4];
  uint32_t count = muster_update_nearby(update, 20, (muster_type){0}, near, 4);
  for (uint32_t i = 0; i < count; i++) own->grain += ((const struct goods *)near[i].published)->grain > 0;
  muster_position to = update->position;
  to.x += (double)(muster_update_random(update) % 9) - 4;
  to.y += (double)(muster_update_random(update) % 9) - 4;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static muster_type register_type(struct server *server, const char *name, muster_atom_result (*run)(muster_update *)) {
  const muster_atom atom = {run, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_type_def def = muster_type_def_default();
  def.name = name;
  def.atoms = &atom;
  def.atom_count = 1;
  def.state_bytes = def.published_bytes = sizeof(struct goods);
  muster_type type = muster_type_register(server->world, &def);
  must(type.index, name);
  return type;
}

static void spawn(struct server *server, muster_type type, uint64_t number) {
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  def.position = (muster_position){(double)(number % 20) * 15, (double)(number / 20 % 20) * 15, 0};
  must(!muster_agent_is_null(muster_agent_spawn(server->world, &def)), "an agent");
}

/* ------------------------------------------------------------------------------------------------- what is kept */

/* Into each snapshot goes what the host must know then; into the journal, what has happened since. */
static bool save_orders(muster_journal_put put, void *put_user, void *user) {
  const struct server *server = user;
  return put(&server->orders, sizeof server->orders, put_user);
}

static bool take_orders(const void *bytes, size_t count, void *user) {
  struct server *server = user;
  if (count != sizeof server->orders) return false;
  memcpy(&server->orders, bytes, count);
  return true;
}

static bool take_note(const void *bytes, size_t count, uint64_t frame, void *user) {
  (void)frame; /* of the frame that had the order */
  return take_orders(bytes, count, user);
}

/* A player's order. The carrier is an input of the next frame, and so is the note that the order was given. */
static void order(struct server *server) {
  spawn(server, server->carriers, server->orders++);
  must(muster_journal_note(server->journal, &server->orders, sizeof server->orders) == MUSTER_OK, "a note");
}

/* Answers what the journal holds for good. Here each frame answers at once; with MUSTER_JOURNAL_SYNC_FRAME a frame or
 * two may have to wait for the disk. */
static void answer(struct server *server) {
  muster_journal_status status = muster_journal_status_default();
  must(muster_journal_status_read(server->journal, &status) == MUSTER_OK, "the status");
  if (status.frames_safe < server->frames) return;
  for (; server->answers < server->orders; server->answers++) printf("order %" PRIu64 " is done\n", server->answers);
}

/* ---------------------------------------------------------------------------------------------------------- frames */

/* Brings the world to its last complete frame; or makes it, when there is no journal. */
static void begin(struct server *server, const char *path) {
  muster_journal_look_def look = muster_journal_look_def_default();
  muster_journal_info info = muster_journal_info_default();
  look.path = path;
  look.take_host = take_orders;
  look.take_notes = take_note;
  look.user = server;
  muster_result found = muster_journal_look(&look, &info, NULL);
  must(found == MUSTER_OK || found == MUSTER_E_STALE, "the journal"); /* stale: there is none */
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = FARMERS + CARRIERS_MAX;
  server->world = muster_world_create(&def);
  must(server->world, "a world");
  server->farmers = register_type(server, "farmer", grow);
  server->carriers = register_type(server, "carrier", carry);
  if (found == MUSTER_OK) {
    muster_journal_recover_def recover = muster_journal_recover_def_default();
    recover.path = path;
    must(muster_journal_recover(server->world, &recover, &info) == MUSTER_OK, "the recovery");
    server->frames = info.frames;
    server->answers = server->orders; /* what was not answered is asked again, and answered from what is kept */
  }
  for (uint64_t i = 0; i < FARMERS && found != MUSTER_OK; i++) spawn(server, server->farmers, i);
  muster_journal_def journal = muster_journal_def_default();
  journal.path = path;
  journal.save_host = save_orders;
  journal.user = server;
  must(muster_journal_begin(server->world, &journal, &server->journal) == MUSTER_OK, "a journal");
}

static void tell(const struct server *server, const char *what) {
  printf("%s %" PRIu64 ", hash %016" PRIx64 ", %" PRIu64 " orders\n", what, server->frames,
         muster_world_hash(server->world), server->orders);
  fflush(stdout);
}

static void run_frame(struct server *server, uint64_t period_ns) {
  const muster_frame frame = {(server->frames + 1) * period_ns, period_ns / 4};
  const struct timespec rest = {(time_t)(period_ns / 1000000000), (long)(period_ns % 1000000000)};
  muster_frame_report report = muster_frame_report_default();
  if (server->frames % FRAMES_PER_ORDER == 0 && server->orders < CARRIERS_MAX) order(server);
  must(muster_frame_run(server->world, &frame) == MUSTER_OK, "a frame");
  must(muster_frame_report_read(server->world, &report) == MUSTER_OK, "its report");
  server->frames++;
  answer(server);
  tell(server, "frame");
  must(report.agents + report.spawns_waiting == FARMERS + server->orders, "each order hires one carrier");
  muster_journal_turn(server->journal, period_ns / 2);
  nanosleep(&rest, NULL);
}

int main(int count, char **arguments) {
  struct server server = {0};
  uint64_t last = count > 2 ? strtoull(arguments[2], NULL, 10) : 100,
           hz = count > 3 ? strtoull(arguments[3], NULL, 10) : 30;
  if (count < 2 || hz == 0) {
    fprintf(stderr, "usage: journal_host PATH [FRAMES [HZ]]\n");
    return 2;
  }
  begin(&server, arguments[1]);
  tell(&server, server.frames ? "goes on from frame" : "begins with frame");
  while (server.frames < last) run_frame(&server, 1000000000 / hz);
  must(muster_journal_end(server.journal, false) == MUSTER_OK, "the end of the journal");
  muster_world_destroy(server.world);
  return 0;
}
