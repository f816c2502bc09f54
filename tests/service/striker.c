/* striker.c - a module for tests whose world goes down when it is told to: POST .../module/striker/strike with "HOW
 * WHERE". How: segv, abort, exit, overflow (of the stack), loop, block, leak, wild (a write to anywhere), scribble
 * (once, into a sheep's state), stray (the same, but not when the frame is run again, as a wild write). Where: atom or
 * action (of the one agent of type 'bomb'), module (in before_frame). The answer names the agent. Beside it, as many
 * sheep as the world's settings say. It can be saved: who the bomb is, with 64 KiB more for each observer that the
 * settings ask for. */
#include "own_module.h"

#include <muster/record.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct striker {
  uint32_t sheep;
  char how[16], where[16]; /* changed between frames only */
  uint32_t ballast;        /* of 64 KiB */
  muster_agent bomb, first_sheep;
  void *target; /* the state of that */
  uint64_t seed;
} striker;

/* Until memory is refused; what is refused is written to, as by code that does not look. No compiler leaves that out.
 */
static void leak(void) {
  enum { PIECE_BYTES = 4 << 20 };
  for (;;) explicit_bzero(malloc(PIECE_BYTES), PIECE_BYTES);
}

static void strike(const striker *self) {
  const char *how = self->how;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "overflow") == 0) exit((int)recurse(0));
  if (strcmp(how, "leak") == 0) leak();
  if (strcmp(how, "loop") == 0)
    for (volatile uint32_t turns = 0;; turns++) continue;
  while (strcmp(how, "block") == 0) pause();
  uintptr_t wild = (uintptr_t)(self->seed % (1ull << 46)) & ~(uintptr_t)7;
  *(volatile uint64_t *)(strcmp(how, "wild") == 0 ? wild : (uintptr_t)8) = 1; /* anywhere, or where nothing can be */
}

static void strike_if(striker *self, const char *where) {
  if (strcmp(self->where, where) != 0) return;
  if (strcmp(self->how, "scribble") != 0 && strcmp(self->how, "stray") != 0) strike(self);
  *(uint32_t *)self->target += 1000000;
  *self->where = '\0';
}

static muster_atom_result graze(muster_update *update) {
  ++*(uint32_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result tick(muster_update *update) {
  strike_if(update->type_user, "atom");
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  strike_if(update->type_user, "action");
  return MUSTER_ATOM_NEXT;
}

static muster_result open_striker(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  striker *made = calloc(1, sizeof *made);
  if (!made) return muster_module_fail(MUSTER_E_MEMORY, "striker: no memory");
  *made = (striker){.sheep = options->agents, .seed = options->seed, .ballast = options->observers};
  needs->agents = needs->agents_max = options->agents + 1;
  *instance = made;
  return MUSTER_OK;
}

static muster_result register_types(void *instance, muster_world *world) {
  static const muster_atom grazing[] = {{graze, MUSTER_ROLE_BEHAVIOUR, 1000}},
                           ticking[] = {{tick, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 1000}};
  striker *self = instance;
  const muster_type_def sheep = WITH(muster_type_def, it.name = "sheep", it.atoms = grazing, it.atom_count = 1,
                                     it.state_bytes = 8, it.period_ns = 200000000),
                        bomb = WITH(muster_type_def, it.name = "bomb", it.atoms = ticking, it.atom_count = 2,
                                    it.state_bytes = 8, it.user = self, it.period_ns = it.period_max_ns = 1000000);
  bool both = muster_type_register(world, &sheep).index && muster_type_register(world, &bomb).index;
  return both ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

static muster_result populate(void *instance, muster_world *world) {
  striker *self = instance;
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster_type_find(world, "sheep");
  for (uint32_t i = 0; i < self->sheep; i++) {
    muster_agent sheep = muster_agent_spawn(world, &agent);
    if (i == 0) self->first_sheep = sheep;
  }
  agent.type = muster_type_find(world, "bomb");
  self->bomb = muster_agent_spawn(world, &agent);
  return muster_agent_is_null(self->bomb) ? MUSTER_E_FULL : MUSTER_OK;
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  static const char ballast[64 << 10];
  const striker *self = instance;
  (void)world;
  bool good = write(&self->bomb, sizeof self->bomb, write_user) &&
              write(&self->first_sheep, sizeof self->first_sheep, write_user);
  for (uint32_t i = 0; i < self->ballast && good; i++) good = write(ballast, sizeof ballast, write_user);
  return good ? MUSTER_OK : muster_module_fail(MUSTER_E_SYSTEM, "striker: it was not written");
}

static muster_result resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  striker *self = instance;
  (void)world;
  if (count < sizeof self->bomb + sizeof self->first_sheep) return muster_module_fail(MUSTER_E_INPUT, "striker: cut");
  memcpy(&self->bomb, bytes, sizeof self->bomb);
  memcpy(&self->first_sheep, (const char *)bytes + sizeof self->bomb, sizeof self->first_sheep);
  return MUSTER_OK;
}

static void before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  (void)world, (void)sim_now_ns;
  strike_if(instance, "module");
}

static muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                             muster_module_answer answer, void *answer_user) {
  striker *self = instance;
  char text[64];
  muster_agent_info info = muster_agent_info_default();
  if (muster_agent_read(world, self->first_sheep, &info) == MUSTER_OK) self->target = (void *)(uintptr_t)info.state;
  if (sscanf(call->body, "%15s %15s %lu", self->how, self->where, &self->seed) < 2)
    return muster_module_fail(MUSTER_E_INPUT, "say how and where");
  /* A fault is over with the process that it struck. */
  if (strcmp(self->how, "scribble") != 0 && muster_world_is_replaying(world)) *self->where = '\0';
  int length = snprintf(text, sizeof text, "agent %u (generation %u) of type 'bomb'", muster_agent_index(self->bomb),
                        muster_agent_generation(self->bomb));
  answer(200, false, text, (size_t)length, answer_user);
  return MUSTER_OK;
}

static void close_striker(void *instance) {
  free(instance);
}

static const muster_module_command commands[] = {{"strike", "brings the world down: HOW WHERE"}, {0}};

OWN_MODULE(.name = "striker", .summary = "brings its world down when it is told to, for tests", .open = open_striker,
           .register_types = register_types, .populate = populate, .save = save, .resume = resume,
           .before_frame = before_frame, .commands = commands, .command = command, .close = close_striker)
