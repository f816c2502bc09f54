/* land.h - a large world of three zones with nomads, run by three real musterd, for tests of what zones promise.
 *
 *     land *all = land_start(&(land_options){...});    three zones side by side, or nine in three rows; all of them run
 *     land_kill(all, node); land_await(all);           taken over by another
 *     land_rest(all);                                  everybody stands still, and nothing is on its way
 *     ledger_verdict verdict = land_judge(all);
 *     land_end(all);
 *
 * Each node has a way of its own to the brokers, so that it can be cut off. What zones tell of births and deaths goes
 * to a ledger while the land is watched (land_watch), which all that waits here does. Failures fail the test. */
#ifndef LAND_H
#define LAND_H

#include "brokers.h"
#include "ledger.h"

#include "daemon.h"

enum {
  LAND_NODES = 3, /* where not more are asked for */
  LAND_NODES_MAX = 4,
  LAND_ZONES = 3,
  LAND_ROWS_MAX = 3,
  LAND_ZONES_MAX = LAND_ZONES * LAND_ROWS_MAX,
  LAND_TTL_S = 15
};
enum { LAND_SIDE = 100, LAND_BORDER = 10, LAND_MARGIN = 1, LAND_GHOST_HZ = 5, LAND_STORE_S = 5 }; /* metres; s */

typedef struct land_options {
  brokers_options brokers; /* nothing = one server of each kind */
  bool three;              /* servers of each kind, whatever else `brokers` says */
  bool journal_stream;
  uint32_t nodes;     /* 0 = LAND_NODES; those beyond have no zone in the beginning */
  uint32_t rows;      /* of LAND_ZONES zones each; 0 = 1 */
  uint32_t agents;    /* of each zone, in the beginning */
  uint32_t hz;        /* frames in a second; 0 = 10 */
  double speed;       /* m/s */
  double life;        /* s */
  uint32_t strollers; /* these instead of nomads, with so many bytes of state: spread evenly, without books to judge; */
  uint32_t odd;       /* or with so many on the last node, which has another version of their module; 0 = the same */
  uint32_t in_middle; /* agents of that in the middle; 0 = as of each */
  bool no_books;      /* of births and deaths, which take room: there is no ledger then */
  const char *budget; /* of a frame; null = "5ms" */
  const char *const *walls; /* of each node, as wall.c understands it; null = all have this machine's wall clock */
} land_options;

typedef struct land {
  land_options options;
  brokers *brokers;
  musterd nodes[LAND_NODES_MAX];
  uint32_t node_count;
  bool paused[LAND_NODES_MAX], cut[LAND_NODES_MAX];
  uint32_t zones; /* so many there are */
  ledger *ledger;
  uint64_t read[LAND_ZONES_MAX];  /* lines of books that were seen, */
  uint32_t epoch[LAND_ZONES_MAX]; /* in the epoch that was seen last */
  uint64_t arrived;               /* crossings that were seen */
  uint64_t counted[LAND_ZONES_MAX];
  uint32_t owned_epoch[LAND_ZONES_MAX]; /* what must be exceeded; 0 = that zone is another's */
  uint64_t owned_ns;                    /* since when */
  struct growth *sizes;                 /* sampled while it is watched; null = not wanted */
} land;

land *land_start(const land_options *options);
void land_end(land *all);

/* What a zone is called in the settings; zones count from 0 here, and from 1 there. */
const char *land_name(uint32_t zone);

/* Which node runs a zone and answers for it now; -1 = none. */
int land_owner(land *all, uint32_t zone);

/* Asks the node that runs a zone; `path` stands behind that of the world. False: none runs it now. */
bool land_ask(land *all, uint32_t zone, const char *method, const char *path, const char *body, daemon_reply *reply);

/* A figure of a zone, as its owner tells it. */
double land_figure(land *all, uint32_t zone, const char *name);

/* Whether a node has logged that. */
bool land_has_logged(const land *all, uint32_t node, const char *text);

/* Looks at all zones once: what their books have since the last look, and how many have arrived. */
void land_watch(land *all);

/* Watches until every zone answers; until that many have arrived since the beginning. */
void land_await(land *all);
void land_await_crossings(land *all, uint64_t count);

/* Orders that a zone be moved to a node; -1 = takes the order back. Which order stands: the node, or -1. */
void land_move(land *all, uint32_t zone, int node);
int land_ordered(land *all, uint32_t zone);

/* A node that runs a zone, the first one from a number on. */
uint32_t land_busy_node(land *all, uint32_t from);

/* Watches until what that node ran when `land_note_owned` was called has other owners; prints how long it took. */
void land_note_owned(land *all, uint32_t node);
void land_await_takeover(land *all, const char *after);

/* kill -9 of a node with all its zones, and its start again with its files; either of them. */
void land_kill(land *all, uint32_t node);
void land_revive(land *all, uint32_t node);
void land_kill_or_revive(land *all, uint32_t node, bool is_dead);

/* kill -9 of the processes of a node's zones, which it starts again. */
void land_crash(land *all, uint32_t node);

/* Stops a node with all its processes, and lets it go on (SIGSTOP, SIGCONT). */
void land_pause(land *all, uint32_t node, bool is_paused);

/* Cuts a node off from all brokers, and lets it back. */
void land_cut(land *all, uint32_t node, bool is_cut);

/* Brings everybody to rest, and waits until nothing is on its way. */
void land_rest(land *all);

/* Once all rest: reads the books and who stands where, and judges. */
ledger_verdict land_judge(land *all, FILE *out);

/* Rests, judges that the strong promise was kept, and ends; shows the land first where it was not. */
ledger_verdict land_end_with_all(land *all);

/* Prints what the zones say of themselves, and what the nodes have logged last. */
void land_show(const land *all);

#endif
