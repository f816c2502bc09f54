#include "examples/bot_server.h"

#include <muster/planner.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---------------------------------------------------------------------------------------------- the interpreter */

enum operation {
  OP_PUSH,       /* a number */
  OP_COUNT_DOWN, /* takes one from the top: jumps while more than zero is left, else drops it */
  OP_SEE,        /* pushes whether a player is within so many metres */
  OP_UNLESS,     /* drops the top, and jumps when it was zero */
  OP_LOOK,       /* compares one more player with the target, and takes the nearer */
  OP_CHASE,      /* goes for the target, so many metres a second */
  OP_PATROL,     /* goes round its post, so many metres a second */
  OP_SELL,       /* earns so many coins an hour */
  OP_END
};

struct instruction {
  enum operation operation;
  int32_t argument;
};

enum { PROGRAMS = 5, PROGRAM_MAX = 12 };

static const struct instruction programs[PROGRAMS][PROGRAM_MAX] = {
    /* 0: a guard */
    {{OP_SEE, 40},
     {OP_UNLESS, 7},
     {OP_PUSH, 40},
     {OP_LOOK, 0},
     {OP_COUNT_DOWN, 3},
     {OP_CHASE, 4},
     {OP_END, 0},
     {OP_PATROL, 1},
     {OP_END, 0}},
    /* 1: a guard that no player sees */
    {{OP_PATROL, 1}, {OP_END, 0}},
    /* 2: a merchant */
    {{OP_PUSH, 10}, {OP_COUNT_DOWN, 1}, {OP_SELL, 360}, {OP_END, 0}},
    /* 3: a wolf */
    {{OP_PUSH, 400}, {OP_LOOK, 0}, {OP_COUNT_DOWN, 1}, {OP_CHASE, 6}, {OP_END, 0}},
    /* 4: a wolf far from every player */
    {{OP_PUSH, 20}, {OP_LOOK, 0}, {OP_COUNT_DOWN, 1}, {OP_PATROL, 2}, {OP_END, 0}}};

/* Instructions that a run takes at most. */
static const uint32_t longest[PROGRAMS] = {86, 2, 13, 803, 43};

/* One for all scripts, as in many interpreters: it must never be used by two threads, or by two scripts at once. */
static struct {
  int64_t stack[BOT_STACK_MAX];
  uint32_t depth;
  bool busy, owned;
  pthread_t owner;
} machine;

static void enter_machine(void) {
  if (!machine.owned) machine.owner = pthread_self();
  machine.owned = true;
  if (machine.busy || !pthread_equal(machine.owner, pthread_self())) {
    fputs("two scripts run at once\n", stderr);
    abort();
  }
  machine.busy = true;
}

static double distance_to(const bot_server *server, const struct bot *bot, uint32_t player) {
  const bot_player *other = &server->players[player];
  if (player >= PLAYERS_MAX || !other->present) return INFINITY;
  return hypot(other->x - bot->x, other->y - bot->y);
}

static bool sees(const bot_server *server, const struct bot *bot, double metres) {
  for (uint32_t i = 0; i < PLAYERS_MAX; i++)
    if (distance_to(server, bot, i) <= metres) return true;
  return false;
}

static void go_towards(struct bot *bot, double x, double y, double metres) {
  double distance = hypot(x - bot->x, y - bot->y), share = distance > metres ? metres / distance : 1.0;
  bot->x += (x - bot->x) * share;
  bot->y += (y - bot->y) * share;
}

/* What an instruction does to the bot. */
static void act(const bot_server *server, struct bot *bot, const struct instruction *instruction) {
  double argument = instruction->argument;
  switch (instruction->operation) {
  case OP_LOOK: {
    uint32_t player = (uint32_t)machine.stack[machine.depth - 1] % PLAYERS_MAX;
    if (distance_to(server, bot, player) < distance_to(server, bot, bot->target)) bot->target = player;
    break;
  }
  case OP_CHASE:
    if (isfinite(distance_to(server, bot, bot->target)))
      go_towards(bot, server->players[bot->target].x, server->players[bot->target].y, argument * bot->seconds);
    break;
  case OP_PATROL: {
    double angle = argument * (double)bot->lived_ns * 1e-10;
    go_towards(bot, bot->post_x + 10 * cos(angle), bot->post_y + 10 * sin(angle), argument * bot->seconds);
    break;
  }
  default:
    bot->coins += argument * bot->seconds / 3600;
  }
}

/* What an instruction does to the interpreter; returns which is next. */
static uint32_t step(const bot_server *server, struct bot *bot, const struct instruction *instruction, uint32_t next) {
  switch (instruction->operation) {
  case OP_PUSH:
    machine.stack[machine.depth++] = instruction->argument;
    return next;
  case OP_COUNT_DOWN:
    if (--machine.stack[machine.depth - 1] > 0) return (uint32_t)instruction->argument;
    machine.depth--;
    return next;
  case OP_SEE:
    machine.stack[machine.depth++] = sees(server, bot, instruction->argument);
    return next;
  case OP_UNLESS:
    return machine.stack[--machine.depth] ? next : (uint32_t)instruction->argument;
  case OP_END:
    return UINT32_MAX;
  default:
    act(server, bot, instruction);
    return next;
  }
}

/* Begins a script, or goes on with one that was stopped, for at most so many instructions. */
static uint32_t run_script(const bot_server *server, struct bot *bot, uint32_t most) {
  bot_script *script = &bot->script;
  uint32_t count = 0, next = script->next;
  enter_machine();
  machine.depth = script->depth;
  for (uint32_t i = 0; i < script->depth; i++) machine.stack[i] = script->stack[i];
  for (; count < most && next != UINT32_MAX; count++)
    next = step(server, bot, &programs[script->program][next], next + 1);
  script->running = next != UINT32_MAX;
  script->next = next;
  script->done += count;
  script->depth = machine.depth;
  for (uint32_t i = 0; i < script->depth; i++) script->stack[i] = machine.stack[i];
  machine.busy = false;
  return count;
}

/* ------------------------------------------------------------------------------------------- Muster: kinds as types */

enum { STEPS = 100 }; /* a script's progress is reported in percent */

static uint32_t program_of(bot_kind kind, uint32_t level) {
  static const uint32_t by_level[BOT_KINDS][2] = {{0, 1}, {2, 2}, {3, 4}};
  return by_level[kind][level < 2 ? level : 1];
}

/* The longest way through its program, dealt out to the steps in whole instructions. */
static uint64_t cost_of_step(const muster_cost_query *query, void *user) {
  bot_kind kind = *(const bot_kind *)user;
  uint32_t all = longest[program_of(kind, query->level)];
  return ((query->atom + 1) * all / STEPS - query->atom * all / STEPS) * BOT_INSTRUCTION_NS;
}

static bool register_kinds(bot_server *server) {
  static bot_kind kinds[BOT_KINDS] = {BOT_GUARD, BOT_MERCHANT, BOT_WOLF};
  static const char *const names[BOT_KINDS] = {"guard", "merchant", "wolf"};
  static const uint32_t periods_ms[BOT_KINDS] = {100, 500, 200};
  for (uint32_t kind = 0; kind < BOT_KINDS; kind++) {
    muster_type_def def = muster_type_def_default();
    def.name = names[kind];
    def.period_ns = periods_ms[kind] * 1000000u;
    def.period_max_ns = 10 * def.period_ns;
    def.levels.count = kind == BOT_MERCHANT ? 1 : 2;
    def.levels.importance[0] = 0.2f;
    def.parts.count = STEPS;
    def.models.cost_ns = cost_of_step;
    def.user = &kinds[kind];
    server->types[kind] = muster_type_register(server->world, &def);
    if (server->types[kind].index == 0) return false;
  }
  return true;
}

static bool create_world(bot_server *server) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 2 * BOTS_MAX; /* the removed are there until the next plan */
  def.limits.observers_max = 2 * PLAYERS_MAX;
  def.clock.kind = server->options.measured ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  def.planner_workers = 1;
  def.planner.by_clock = server->options.measured;
  server->world = muster_world_create(&def);
  return server->world && register_kinds(server);
}

/* ------------------------------------------------------------------------------------------------ bots and players */

bot_server *bot_server_create(const bot_options *options) {
  bot_server *server = calloc(1, sizeof *server);
  if (!server) return NULL;
  server->options = *options;
  if (create_world(server)) return server; /* Muster */
  bot_server_destroy(server);
  return NULL;
}

void bot_server_destroy(bot_server *server) {
  if (!server) return;
  muster_world_destroy(server->world); /* Muster */
  free(server);
}

uint32_t bot_server_add(bot_server *server, bot_kind kind, double x, double y) {
  uint32_t number = 0;
  while (number < BOTS_MAX && server->bots[number].present) number++;
  if (number == BOTS_MAX) return BOTS_MAX;
  struct bot *bot = &server->bots[number];
  *bot = (struct bot){.present = true,
                      .kind = kind,
                      .x = x,
                      .y = y,
                      .post_x = x,
                      .post_y = y,
                      .target = PLAYERS_MAX,
                      .born_ns = server->now_ns};
  muster_agent_def def = muster_agent_def_default(); /* Muster: these six lines */
  def.type = server->types[kind];
  def.position = (muster_position){x, y, 0};
  def.user = (void *)(uintptr_t)number;
  bot->agent = muster_agent_spawn(server->world, &def);
  if (muster_agent_is_null(bot->agent)) bot->present = false;
  return bot->present ? number : BOTS_MAX;
}

void bot_server_remove(bot_server *server, uint32_t number) {
  server->bots[number].present = false;
  muster_agent_remove(server->world, server->bots[number].agent); /* Muster */
}

uint32_t bot_server_join(bot_server *server, double x, double y) {
  uint32_t player = 0;
  while (player < PLAYERS_MAX && server->players[player].present) player++;
  if (player == PLAYERS_MAX) return PLAYERS_MAX;
  muster_observer_def def = muster_observer_def_default(); /* Muster: these three lines */
  def.position = (muster_position){x, y, 0};
  muster_observer observer = muster_observer_add(server->world, &def);
  server->players[player] = (bot_player){true, x, y, observer};
  return player;
}

void bot_server_walk(bot_server *server, uint32_t player, double x, double y) {
  server->players[player].x = x;
  server->players[player].y = y;
  muster_observer_move(server->world, server->players[player].observer, (muster_position){x, y, 0}); /* Muster */
}

void bot_server_leave(bot_server *server, uint32_t player) {
  server->players[player].present = false;
  muster_observer_remove(server->world, server->players[player].observer); /* Muster */
}

/* --------------------------------------------------------------------------------------------------- the game loop */

static uint64_t read_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* How far a stopped script is, in steps; never back. */
static uint32_t progress_of(const struct bot *bot, uint32_t part_first) {
  uint32_t least = part_first ? part_first : 1;
  uint32_t steps = (uint32_t)((uint64_t)bot->script.done * STEPS / longest[bot->script.program]);
  return steps < least ? least : steps < STEPS ? steps : STEPS - 1;
}

static void begin_script(struct bot *bot, const muster_plan_entry *entry) {
  if (bot->script.running) return;
  bot->script = (bot_script){.program = program_of(bot->kind, entry->level)};
  bot->seconds = (double)entry->elapsed_ns * 1e-9; /* was: 0.05 */
}

/* Runs the script of one entry, whole or for the length of its slice, and says what became of it. */
static muster_plan_result run_bot(bot_server *server, struct bot *bot, const muster_plan_entry *entry) {
  uint64_t begin_ns = read_clock();
  uint64_t most = server->options.measured ? UINT32_MAX : entry->slice_ns / BOT_INSTRUCTION_NS;
  begin_script(bot, entry);
  uint32_t count = run_script(server, bot, (uint32_t)most);
  muster_plan_result result = {.agent = entry->agent,
                               .cost_ns = server->options.measured ? read_clock() - begin_ns
                                                                   : (uint64_t)count * BOT_INSTRUCTION_NS,
                               .position = {bot->x, bot->y, 0},
                               .outcome = MUSTER_PLAN_FINISHED,
                               .moved = 1};
  if (bot->script.running) {
    result.outcome = MUSTER_PLAN_CONTINUED;
    result.part_next = progress_of(bot, entry->part_first);
    server->stopped++;
    return result;
  }
  bot->runs++;
  bot->lived_ns += entry->elapsed_ns;
  return result;
}

/* Was: for every bot that is present, run_script(). */
static bool run_bots(bot_server *server) {
  muster_plan_summary plan = muster_plan_summary_default();
  uint32_t done = 0;
  muster_frame frame = {server->now_ns, server->options.budget_ns};
  if (muster_plan(server->world, &frame, server->entries, BOTS_MAX, &plan)) return false;
  uint64_t begin_ns = read_clock();
  server->script_ns = 0;
  for (uint32_t i = 0; i < plan.count; i++) {
    const muster_plan_entry *entry = &server->entries[i];
    struct bot *bot = &server->bots[entry->user];
    if (server->options.measured && read_clock() - begin_ns >= plan.run_ns && i > 0) break;
    server->results[done] = run_bot(server, bot, entry);
    server->script_ns += server->results[done++].cost_ns;
  }
  return muster_plan_report(server->world, server->results, done) == MUSTER_OK;
}

bool bot_server_tick(bot_server *server) {
  server->now_ns += BOT_TICK_NS;
  /* Here the server would read what players sent, and move them. */
  if (!run_bots(server)) return false;
  /* And here it would tell them what they see. */
  return true;
}
