/* service/zones/nodes.h - the nodes of a cluster, as each tells of itself twice a second, and where zones run. Pure: it
 * is given what came, and the time (CLOCK_BOOTTIME of this machine).
 *
 *     {"node": "north", "life": 17, "count": 512, "capacity": 8000000, "drains": false, "balances": true,
 *      "has_wall": true, "wall_ns": "1795680000000000000",
 *      "zones": [{"zone": 1, "epoch": 3, "load": 2500000}]}
 *
 * Capacity and loads are millionths of a processor. A telling may come late, twice or not at all: what is not newer
 * than what is known of its node is passed over, by `life`, the run of its state folder, and `count`. Members that are
 * not known are passed over, so that nodes of two versions understand each other.
 *
 * The load of a zone is what all its agents want at their wanted periods, in processors, or what its budget allows
 * (workers x budget x rate), if that is less: what it takes of a machine when the machine gives it all. So loads add
 * up, and are the same wherever the zone runs, as far as the machines are alike. The pressure of the world would be
 * neither: it says how much a budget lacks, and not how much another one would have to give. */
#ifndef SERVICE_ZONES_NODES_H
#define SERVICE_ZONES_NODES_H

#include "service/settings.h"
#include "service/zones/balance.h"

enum {
  NODES_MAX = BALANCE_NODES_MAX,
  NODES_TEXT_BYTES = 4096, /* of what a node tells */
  NODES_TELL_MS = 500,
  NODES_SETTLED_MS = 10000, /* heard for so long, a node gets zones */
  NODES_GONE_MS = 5000,     /* not heard for so long, it is gone */
  NODES_NOWHERE_MS = 60000  /* told by nobody for so long, a zone holds up no other */
};

/* From here on a wall clock is off. */
#define NODES_WALL_NS 1000000000

/* A zone that a node runs. */
typedef struct node_zone {
  uint32_t zone;
  uint64_t epoch;
  double load; /* processors */
} node_zone;

/* What a node tells. */
typedef struct node_told {
  char name[NAME_BYTES];
  uint64_t life, count;
  double capacity;       /* processors */
  bool drains, balances; /* balances: it has the balancer's lease */
  bool has_wall;         /* it knows land time, and */
  int64_t wall_ns;       /* its wall clock less that: the same on all nodes whose clocks are right */
  uint32_t zone_count;
  node_zone zones[WORLDS_MAX];
} node_told;

typedef struct node_row {
  node_told told;
  uint64_t since_ns, heard_ns; /* first and last */
  bool off_told;               /* that its wall clock is off: the log has it */
  uint64_t off_told_ns;        /* since when; 0 = never */
} node_row;

/* Where a zone was told to run last, under the highest epoch. */
typedef struct zone_seat {
  uint32_t zone;
  uint64_t epoch;
  char node[NAME_BYTES];
  double load;
  uint64_t since_ns, heard_ns; /* it is there; and was told last */
} zone_seat;

struct nodes {
  uint64_t opened_ns;
  uint32_t count, seat_count;
  node_row rows[NODES_MAX]; /* by name */
  zone_seat seats[BALANCE_ZONES_MAX];
};

/* Begins without any node. */
void nodes_open(struct nodes *nodes, uint64_t now_ns);

/* Writes what a node tells; returns its length, 0 = it does not fit. */
size_t nodes_write(const node_told *told, char text[NODES_TEXT_BYTES]);

/* Takes what a node told. False: it cannot be read, or there are too many nodes or zones. */
bool nodes_hear(struct nodes *nodes, const void *text, size_t bytes, uint64_t now_ns);

/* Drops nodes that are gone. */
void nodes_forget(struct nodes *nodes, uint64_t now_ns);

/* The node of that name; null: it is not heard. Where a zone was told last; null: never. Until the next change. */
const node_row *nodes_find(const struct nodes *nodes, const char *name);
const zone_seat *nodes_seat(const struct nodes *nodes, uint32_t zone);

/* How far the wall clock of a node is ahead of that of `of`, which is the one that most nodes share; the first by name,
 * where these are as many. False: it is not known. Nothing follows from wall clocks: they are for people. */
bool nodes_wall(const struct nodes *nodes, const node_row *row, int64_t *ahead_ns, const node_row **of);

enum { NODES_WALL_WORDS_BYTES = 128 };

/* The same as a sentence, where that is more than a second. */
bool nodes_wall_words(const struct nodes *nodes, const node_row *row, char words[NODES_WALL_WORDS_BYTES]);

/* What its zones want, over its capacity. */
double nodes_pressure(const node_row *row);

/* The place of a node among those that may run a zone, by the setting `nodes`: 0 = the first, or all are equal;
 * -1 = it may not. */
int nodes_rank(const char *allowed, const char *node);

/* Whether a node that may run the zone, other than this one, is heard and does not drain. */
bool nodes_have_room(const struct nodes *nodes, const char *allowed, const char *but);

enum { NODES_WHY_BYTES = 160 };

/* Fills in what the planner looks at: the nodes by their places here; the zones of the settings, in the order of their
 * worlds, then others that are told of, which may go nowhere. False with the reason while the tables are not whole:
 * this node has not listened for long enough, or a zone is on its way. The caller adds what it knows of moves. */
bool nodes_plan(const struct nodes *nodes, const struct settings *settings, uint64_t now_ns, balance_land *land,
                char why[NODES_WHY_BYTES]);

#endif
