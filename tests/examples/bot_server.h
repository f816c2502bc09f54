/* bot_server.h - an example to copy: an existing bot server that lets Muster decide which scripts run.
 *
 * The server is of the kind that cannot have its bots called from other threads: scripts run in an interpreter with one
 * global stack, in a game loop of 20 ticks a second that owns the bots. Before, each tick ran the script of every bot.
 * Now it asks for a plan, runs the scripts of those that are in it, and reports. What came in is marked "Muster:" in
 * bot_server.c:
 *
 *   - a world is created, and each kind of bot registered as a type: how often it wants to run, what its scripts cost
 *   - each bot is spawned and removed as an agent, each player as an observer, beside what was done anyway
 *   - the loop over all bots became a loop over the plan, and the time since the last run, which used to be one tick,
 *     comes from there: whatever is not run this time is made up for later
 *
 * Scripts are counted by the instruction, as interpreters can: one is taken to cost BOT_INSTRUCTION_NS, so that two
 * runs of the server are the same (MUSTER_CLOCK_VIRTUAL), and a script that is not done with its slice is stopped and
 * goes on later. With `measured` set the server reads a clock instead and lets scripts run to their ends. */
#ifndef EXAMPLES_BOT_SERVER_H
#define EXAMPLES_BOT_SERVER_H

#include <muster/muster.h>
#include <muster/planner.h>

enum { BOTS_MAX = 1024, PLAYERS_MAX = 64, BOT_TICK_NS = 50000000, BOT_INSTRUCTION_NS = 1000, BOT_STACK_MAX = 8 };

typedef enum bot_kind {
  BOT_GUARD = 0, /* walks about its post, and chases players that come near */
  BOT_MERCHANT,  /* sells, by the hour: whatever happens around it, the same must be sold in the end */
  BOT_WOLF,      /* thinks long about which player to hunt, when it matters */
  BOT_KINDS
} bot_kind;

/* A script that was stopped: its part of the interpreter's stack, and where it goes on. */
typedef struct bot_script {
  bool running;
  uint32_t program; /* that of its level when it began */
  uint32_t next;
  uint32_t depth;
  uint32_t done; /* instructions */
  int64_t stack[BOT_STACK_MAX];
} bot_script;

struct bot {
  bool present;
  bot_kind kind;
  double x, y, post_x, post_y;
  double coins;
  double seconds;  /* that the script's run is to cover */
  uint32_t target; /* a player; PLAYERS_MAX when it has none */
  bot_script script;
  uint64_t runs;     /* scripts that came to their end */
  uint64_t lived_ns; /* the time that these covered */
  uint64_t born_ns;
  muster_agent agent; /* Muster */
};

typedef struct bot_player {
  bool present;
  double x, y;
  muster_observer observer; /* Muster */
} bot_player;

typedef struct bot_options {
  uint64_t budget_ns; /* of a tick, for scripts */
  bool measured;
} bot_options;

typedef struct bot_server {
  bot_options options;
  uint64_t now_ns;
  struct bot bots[BOTS_MAX];
  bot_player players[PLAYERS_MAX];
  uint64_t script_ns; /* what the scripts of the last tick took */
  uint64_t stopped;   /* scripts that were, and went on later */
  /* Muster: */
  muster_world *world;
  muster_type types[BOT_KINDS];
  muster_plan_entry entries[BOTS_MAX];
  muster_plan_result results[BOTS_MAX];
} bot_server;

/* Null when there is no memory. */
bot_server *bot_server_create(const bot_options *options);
void bot_server_destroy(bot_server *server);

/* Returns the bot's number; BOTS_MAX when there is no room. */
uint32_t bot_server_add(bot_server *server, bot_kind kind, double x, double y);
void bot_server_remove(bot_server *server, uint32_t number);

/* Returns the player's number; PLAYERS_MAX when the server is full. */
uint32_t bot_server_join(bot_server *server, double x, double y);
void bot_server_walk(bot_server *server, uint32_t player, double x, double y);
void bot_server_leave(bot_server *server, uint32_t player);

/* One turn of the game loop. False with muster_last_error() when something is wrong. */
bool bot_server_tick(bot_server *server);

#endif
