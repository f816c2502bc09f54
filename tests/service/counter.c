/* counter.c - a module for tests that count what was carried out. POST .../module/count with a number counts it once
 * more, and .../module/counts answers how often each number was counted. Agents of type 'mark' stay where they are
 * spawned, so that a number can stand in their position; there are as many to begin with as the world's settings say,
 * three metres from each other. POST .../module/strike brings the process down in the next
 * update of one of the agents of type 'bomb': each crash costs one of them; .../module/die does so at once, with the
 * word "killed" as if from outside. All of it can be saved. */
#include "own_module.h"

#include <muster/record.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2048, BOMBS = 32, MARKS_MAX = 4096, ROW = 1000 };

typedef struct counter {
  unsigned char counts[NUMBERS];
  uint32_t marks;
  bool armed; /* changed between frames only; not saved: what comes back lives */
} counter;

static muster_atom_result stay(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result burn(muster_update *update) {
  const counter *self = update->type_user;
  if (self->armed) abort();
  return MUSTER_ATOM_NEXT;
}

static muster_result open_counter(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  counter *made = calloc(1, sizeof *made);
  if (!made) return muster_module_fail(MUSTER_E_MEMORY, "counter: no memory");
  made->marks = options->agents;
  needs->agents = BOMBS + made->marks;
  needs->agents_max = MARKS_MAX + made->marks;
  *instance = made;
  return MUSTER_OK;
}

static muster_result register_types(void *instance, muster_world *world) {
  static const muster_atom staying[] = {{stay, MUSTER_ROLE_BEHAVIOUR, 1000}},
                           burning[] = {{burn, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_type_def mark = WITH(muster_type_def, it.name = "mark", it.atoms = staying, it.atom_count = 1),
                        bomb = WITH(muster_type_def, it.name = "bomb", it.atoms = burning, it.atom_count = 1,
                                    it.user = instance, it.period_ns = it.period_max_ns = 1000000);
  bool both = muster_type_register(world, &mark).index && muster_type_register(world, &bomb).index;
  return both ? MUSTER_OK : MUSTER_E_FULL;
}

static muster_result populate(void *instance, muster_world *world) {
  const counter *self = instance;
  const muster_agent_def bomb = WITH(muster_agent_def, it.type = muster_type_find(world, "bomb"));
  muster_agent_def mark = WITH(muster_agent_def, it.type = muster_type_find(world, "mark"));
  for (int i = 0; i < BOMBS; i++)
    if (muster_agent_is_null(muster_agent_spawn(world, &bomb))) return MUSTER_E_FULL;
  for (uint32_t i = 0; i < self->marks; i++) {
    mark.position = (muster_position){3.0 * (i % ROW), 3.0 * (i / ROW), 0};
    if (muster_agent_is_null(muster_agent_spawn(world, &mark))) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

/* A mark needs no state. */
static muster_result complete(void *instance, const muster_world *world, muster_agent_def *def) {
  (void)instance, (void)world, (void)def;
  return MUSTER_OK;
}

static void list_counts(const counter *self, muster_module_answer answer, void *answer_user) {
  static char text[NUMBERS * 5 + 8];
  size_t length = 1;
  text[0] = '[';
  for (int i = 0; i < NUMBERS; i++) length += (size_t)sprintf(text + length, "%s%u", i ? "," : "", self->counts[i]);
  text[length++] = ']';
  answer(200, true, text, length, answer_user);
}

static muster_result command(void *instance, muster_world *world, const muster_module_call *call,
                             muster_module_answer answer, void *answer_user) {
  counter *self = instance;
  char text[64];
  if (strcmp(call->command, "strike") == 0) {
    self->armed = !muster_world_is_replaying(world);
    return MUSTER_OK;
  }
  if (strcmp(call->command, "counts") == 0) {
    list_counts(self, answer, answer_user);
    return MUSTER_OK;
  }
  if (strcmp(call->command, "die") == 0) {
    if (strcmp(call->body, "killed") == 0) raise(SIGKILL);
    abort();
  }
  unsigned long number = strtoul(call->body, NULL, 10);
  if (number >= NUMBERS) return muster_module_fail(MUSTER_E_ARGUMENT, "count: say a number below %d", NUMBERS);
  int length = snprintf(text, sizeof text, "%lu was counted %u times", number, ++self->counts[number]);
  answer(200, false, text, (size_t)length, answer_user);
  return MUSTER_OK;
}

static muster_result save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const counter *self = instance;
  (void)world;
  return write(self->counts, sizeof self->counts, write_user)
             ? MUSTER_OK
             : muster_module_fail(MUSTER_E_SYSTEM, "counter: it was not written");
}

static muster_result resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  counter *self = instance;
  (void)world;
  if (count != sizeof self->counts) return muster_module_fail(MUSTER_E_INPUT, "counter: these are no counts");
  memcpy(self->counts, bytes, count);
  return MUSTER_OK;
}

static void close_counter(void *instance) {
  free(instance);
}

static const muster_module_command commands[] = {{"count", "counts a number once more"},
                                                 {"counts", "how often each number was counted"},
                                                 {"strike", "brings the process down in a callback"},
                                                 {"die", "brings the process down at once"},
                                                 {0}};

OWN_MODULE(.name = "counter", .summary = "counts what was carried out, for tests", .open = open_counter,
           .register_types = register_types, .populate = populate, .complete = complete, .save = save, .resume = resume,
           .commands = commands, .command = command, .close = close_counter)
