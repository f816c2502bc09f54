/* crasher.c - a module whose type 'bomb' brings the process down, beside a flock of innocents. Its file says how, and
 * where: "segv atom", "abort action", "overflow atom", "segv spawned", "segv module"; "none" for a world that lives;
 * "linger close" for one that ends when FILE.victim is removed, which it makes once its world is gone; "linger
 * populate" for one that begins when it is removed; "pause populate" for one that says so, and begins when its file
 * says something else; "sleep atom" for one that lives, but sleeps there each time; "say populate" for one that writes
 * lines as if others had; "spin atom" for one that burns a lot there, once, in a world that puts it into quarantine for
 * that; "loop atom" for one that does not come back from there, "deaf atom" for one that takes no SIGTERM besides. In
 * atoms it is the second of three bombs, in its second atom, from its tenth update on; it writes its id to FILE.victim.
 */
#include "own_module.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BOMBS = 3, SHEEP = 200, LIT = 10 };

struct crasher {
  char how[16], where[16];
  char victim[1100];
  muster_agent bombs[BOMBS];
};

/* By its thread's own clock: so much is too much on the busiest machine. */
static void spin(void) {
  enum { SPIN_NS = 40000000 };
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < SPIN_NS);
}

static void crash(const struct crasher *crasher, const muster_update *update) {
  if (strcmp(crasher->how, "sleep") == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return;
  }
  if (strcmp(crasher->how, "spin") == 0) {
    if (*(uint32_t *)update->state == LIT) spin();
    return;
  }
  FILE *file = fopen(crasher->victim, "we");
  if (file)
    fprintf(file, "agent %u (generation %u)", muster_agent_index(update->agent),
            muster_agent_generation(update->agent));
  if (file) fclose(file);
  if (strcmp(crasher->how, "deaf") == 0) signal(SIGTERM, SIG_IGN);
  for (volatile bool forever = true;
       forever && (strcmp(crasher->how, "loop") == 0 || strcmp(crasher->how, "deaf") == 0);)
    continue;
  if (strcmp(crasher->how, "abort") == 0) abort();
  if (strcmp(crasher->how, "overflow") == 0) exit((int)recurse(0));
  /* A fault that no sanitizer takes for its own. */
  volatile int *forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *forbidden = 1;
}

static bool is_lit(const struct crasher *crasher, const muster_update *update, const char *where) {
  if (strcmp(crasher->how, "none") == 0 || strcmp(crasher->where, where)) return false;
  return muster_agent_index(update->agent) == muster_agent_index(crasher->bombs[1]) &&
         *(uint32_t *)update->state >= LIT;
}

static muster_atom_result burn(muster_update *update) {
  ++*(uint32_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result explode(muster_update *update) {
  if (is_lit(update->type_user, update, "atom")) crash(update->type_user, update);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  if (is_lit(update->type_user, update, "action")) crash(update->type_user, update);
  return MUSTER_ATOM_NEXT;
}

static void be_born(muster_update *update) {
  const struct crasher *crasher = update->type_user;
  if (strcmp(crasher->where, "spawned") == 0 && strcmp(crasher->how, "none")) crash(crasher, update);
}

static muster_result open_crasher(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  FILE *file = options->path ? fopen(options->path, "re") : NULL;
  struct crasher *crasher = calloc(1, sizeof *crasher);
  bool read = file && crasher && fscanf(file, "%15s %15s", crasher->how, crasher->where) >= 1;
  if (file) fclose(file);
  if (!read) {
    free(crasher);
    return muster_module_fail(MUSTER_E_INPUT, "crasher: its file must say how and where");
  }
  snprintf(crasher->victim, sizeof crasher->victim, "%s.victim", options->path);
  needs->agents = needs->agents_max = BOMBS + SHEEP;
  *instance = crasher;
  return MUSTER_OK;
}

static muster_agent spawn(muster_world *world, muster_type type) {
  const muster_agent_def agent = WITH(muster_agent_def, it.type = type);
  return muster_agent_spawn(world, &agent);
}

static void before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  const struct crasher *crasher = instance;
  (void)world;
  if (sim_now_ns > 50000000 && strcmp(crasher->how, "none") && strcmp(crasher->where, "module") == 0)
    crash(crasher, &(muster_update){0});
}

/* Makes the file that tells that the module is here, and goes on when the file is removed. */
static void linger(const struct crasher *crasher) {
  enum { TRY_US = 1000 };
  FILE *file = fopen(crasher->victim, "we");
  if (file) fclose(file);
  while (access(crasher->victim, F_OK) == 0) usleep(TRY_US);
}

/* A confined one can read its file, and make none. */
static void wait_for_another_file(const struct crasher *crasher) {
  char path[sizeof crasher->victim], how[16] = "";
  snprintf(path, sizeof path, "%.*s", (int)(strlen(crasher->victim) - strlen(".victim")), crasher->victim);
  fputs("crasher waits\n", stderr);
  do {
    usleep(1000);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%15s", how) < 1) *how = '\0';
    if (file) fclose(file);
  } while (strcmp(how, "pause") == 0);
}

/* Lines that look as if others had said them. */
static void say(void) {
  fputs("musterd: error: world other has failed: its process died\n"
        "<3>world other is gone\n"
        "\033[1Aworld other\rworld third\n"
        "<end>\n",
        stderr);
}

static muster_result populate(void *instance, muster_world *world) {
  static const muster_atom atoms[] = {
      {burn, MUSTER_ROLE_PERCEPTION, 1000}, {explode, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 1000}};
  struct crasher *crasher = instance;
  if (strcmp(crasher->how, "say") == 0)
    say();
  else if (strcmp(crasher->how, "pause") == 0)
    wait_for_another_file(crasher);
  else if (strcmp(crasher->where, "populate") == 0)
    linger(crasher);
  muster_type_def def = WITH(muster_type_def, it.name = "sheep", it.atoms = atoms, it.atom_count = 1,
                             it.state_bytes = 8, it.period_ns = it.period_max_ns = 1000000);
  muster_type sheep = muster_type_register(world, &def);
  def.name = "bomb", def.atom_count = 3, def.user = crasher, def.on_spawned = be_born;
  def.overruns.quarantine = strcmp(crasher->how, "spin") == 0;
  muster_type bomb = muster_type_register(world, &def);
  for (uint32_t i = 0; i < BOMBS; i++) crasher->bombs[i] = spawn(world, bomb);
  for (uint32_t i = 0; i < SHEEP; i++) spawn(world, sheep);
  return sheep.index && bomb.index ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

static void close_crasher(void *instance) {
  struct crasher *crasher = instance;
  if (strcmp(crasher->where, "close") == 0) linger(crasher);
  free(crasher);
}

OWN_MODULE(.name = "crasher", .summary = "brings the process down, for tests", .open = open_crasher,
           .populate = populate, .before_frame = before_frame, .close = close_crasher)
