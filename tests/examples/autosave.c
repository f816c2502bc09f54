/* A server that saves itself every second without a pause of its frames, and goes on from there. The file before the
 * last one stays as a spare.
 *
 *     cc autosave.c $(pkg-config --cflags --libs muster)
 *     ./a.out FILE [SECONDS]
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <muster/muster.h>
#include <muster/snapshot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHEEP = 2000, HZ = 30, PATH_BYTES = 1000 };

/* What the server keeps besides its world. It stands in front of the snapshot: both are of one moment. */
struct own {
  char mark[8]; /* of this layout; another one gets another mark */
  uint64_t starts;
};

struct server {
  muster_world *world;
  uint64_t now_ns;
  struct own own;
  const char *path;
  char fresh[PATH_BYTES + 8], spare[PATH_BYTES + 8];
  pid_t saver; /* the process that writes; 0 = none */
};

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "autosave: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static muster_atom_result stroll(muster_update *update) {
  double metres = 0.5 * (double)update->elapsed_ns * 1e-9;
  muster_position to = update->position;
  to.x += muster_update_random_share(update) < 0.5f ? metres : -metres;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static void open_world(struct server *server) {
  const muster_atom atom = {stroll, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_world_def def = muster_world_def_default();
  server->world = muster_world_create(&def);
  must(server->world, "a world");
  muster_type_def type = muster_type_def_default();
  type.name = "sheep";
  type.atoms = &atom;
  type.atom_count = 1;
  must(muster_type_register(server->world, &type).index, "a type");
}

static void populate(struct server *server) {
  muster_agent_def def = muster_agent_def_default();
  def.type = muster_type_find(server->world, "sheep");
  for (uint32_t i = 0; i < SHEEP; i++) {
    def.position.x = i % 50;
    def.position.y = i / 50;
    must(!muster_agent_is_null(muster_agent_spawn(server->world, &def)), "a sheep");
  }
}

/* ------------------------------------------------------------------------------------------------------------- saving
 */

static bool write_all(const void *bytes, size_t count, void *user) {
  const int *file = user;
  for (const char *at = bytes; count > 0;) {
    ssize_t written = write(*file, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    count -= (size_t)written;
  }
  return true;
}

/* Writes a new file, brings it to the disk, and only then gives it the name: at any moment there is a complete one.
 * Nothing here allocates or takes a lock, so that a forked process may do it. */
static bool save(struct server *server) {
  int file = open(server->fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  muster_save_def def = muster_save_def_default();
  def.write = write_all;
  def.user = &file;
  bool done = file >= 0 && write_all(&server->own, sizeof server->own, &file) &&
              muster_world_save(server->world, &def) == MUSTER_OK && fsync(file) == 0;
  if (file >= 0) done = close(file) == 0 && done;
  if (!done) return false;
  unlink(server->spare);
  if (link(server->path, server->spare) != 0 && errno != ENOENT) return false;
  return rename(server->fresh, server->path) == 0;
}

/* Looks whether the last save is done. A host says so where an operator sees it: what is not saved, nobody misses until
 * it is too late. */
static void look_after(struct server *server, int options) {
  int status;
  if (!server->saver || waitpid(server->saver, &status, options) != server->saver) return;
  server->saver = 0;
  bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  printf("%s\n", done ? "saved" : "NOT SAVED: is the disk full?");
  fflush(stdout);
}

/* On the thread of the frames, between two of them. The frames stand still for the fork alone: the child has the world
 * as it is now. */
static void autosave(struct server *server) {
  look_after(server, WNOHANG);
  if (server->saver) return; /* the last one is not done: the next second does it */
  must(muster_world_settle(server->world) == MUSTER_OK, "the save");
  pid_t child = fork();
  if (child == 0) _exit(save(server) ? 0 : 1);
  if (child < 0) fprintf(stderr, "autosave: no process: %s\n", strerror(errno));
  server->saver = child > 0 ? child : 0;
}

/* ------------------------------------------------------------------------------------------------------------ loading
 */

/* The bytes of a file; null when there is none, or it cannot be read. */
static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *bytes = end >= 0 ? malloc((size_t)end + 1) : NULL;
  if (file) rewind(file);
  if (bytes && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
    free(bytes);
    bytes = NULL;
  }
  if (file) fclose(file);
  *size = (size_t)end;
  return bytes;
}

/* Goes on from a file. False: there is none, or it is damaged or of another version, which is said. */
static bool load(struct server *server, const char *path) {
  size_t size, own = sizeof server->own;
  char *bytes = read_file(path, &size);
  if (!bytes) return false;
  muster_snapshot_info info = muster_snapshot_info_default();
  muster_load_def def = muster_load_def_default();
  bool good = size > own && memcmp(bytes, server->own.mark, sizeof server->own.mark) == 0;
  if (good) {
    def.bytes = bytes + own;
    def.count = size - own;
    good = muster_snapshot_look(def.bytes, def.count, &info) == MUSTER_OK &&
           muster_world_load(server->world, &def) == MUSTER_OK;
  }
  if (good) {
    memcpy(&server->own, bytes, own);
    server->now_ns = info.sim_now_ns;
    printf("goes on from %s at %.1f s, with %" PRIu32 " sheep\n", path, (double)info.sim_now_ns * 1e-9, info.agents);
  } else {
    fprintf(stderr, "autosave: %s is not used: %s\n", path, muster_last_error());
  }
  free(bytes);
  return good;
}

/* -------------------------------------------------------------------------------------------------------------- frames
 */

static void run_frame(struct server *server) {
  static const struct timespec rest = {0, 1000000000 / HZ};
  server->now_ns += 1000000000 / HZ;
  const muster_frame frame = {server->now_ns, 5000000};
  must(muster_frame_run(server->world, &frame) == MUSTER_OK, "a frame");
  nanosleep(&rest, NULL);
}

int main(int count, char **arguments) {
  static struct server server = {.own = {.mark = "SHEEP 1"}};
  if (count < 2 || strlen(arguments[1]) > PATH_BYTES) {
    fprintf(stderr, "usage: autosave FILE [SECONDS]\n");
    return 2;
  }
  server.path = arguments[1];
  snprintf(server.fresh, sizeof server.fresh, "%s.new", server.path);
  snprintf(server.spare, sizeof server.spare, "%s.old", server.path);
  open_world(&server);
  if (!load(&server, server.path) && !load(&server, server.spare)) populate(&server);
  printf("start %" PRIu64 "\n", ++server.own.starts);
  fflush(stdout);
  uint64_t frames = HZ * (count > 2 ? strtoull(arguments[2], NULL, 10) : 10);
  for (uint64_t i = 1; i <= frames; i++) {
    run_frame(&server);
    if (i % HZ == 0) autosave(&server);
  }
  look_after(&server, 0);
  must(save(&server), "the last save");
  muster_world_destroy(server.world);
}
