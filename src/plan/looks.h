/* plan/looks.h - when is each waiting agent to be looked at?
 *
 * Two bytes for an agent say at which slot of which clock. So the slots of 32 neighbours are a cache line, and for each
 * line and clock stands elsewhere the first slot at which any of them is to be looked at. A frame reads these numbers,
 * and the lines in which an agent is to be looked at; to put an agent in is to write its two bytes; and one that leaves
 * is not looked for, since its row says that it does not wait when its slot comes.
 *
 * There are LOOK_BANDS clocks, which plan/due.h drives, each with fine slots for what is near and coarse ones for
 * what is not. A slot is told by the lower bits of its number; no slot that is not empty is further than LOOK_REACH
 * from the present one, to either side; so two numbers are compared as they are seen from there. What is taken is
 * nothing but a set: which agents are to be looked at, in the order of their indices. */
#ifndef PLAN_LOOKS_H
#define PLAN_LOOKS_H

#include "agents/shards.h"
#include "base/arena.h"

enum {
  LOOK_BANDS = 7,
  LOOK_FINE_SHIFT = 22,   /* a fine slot is 4.2 ms wide, */
  LOOK_COARSE_SHIFT = 31, /* a coarse one 2.1 s */
  LOOK_NUMBER_BITS = 12,
  LOOK_REACH = 1 << (LOOK_NUMBER_BITS - 1),
  LOOK_NUMBERS = (1 << LOOK_NUMBER_BITS) - 1,
  LOOK_CLOCKS = 2 * LOOK_BANDS, /* fine, and then coarse, for each band */
  LOOK_FIRST = 1 << 15,         /* a line has a first slot; 0 = none */
  LOOK_AGENTS = 32,             /* of a line */
  LOOK_SWEEP_FRAMES = 64        /* a sweep goes through all lines in so many frames */
};

/* The agents of a shard. */
typedef struct look_shard {
  _Alignas(64) uint16_t *slots; /* [line][agent]: clock + 1 and number; 0 = the agent is not to be looked at */
  uint16_t *firsts; /* of the lines on clock 0, and a `span` further on on the next: the number of the first, and
                       LOOK_FIRST; 0 = none */
  uint16_t earliest[LOOK_CLOCKS]; /* no line has an earlier one, unless it is to be taken; likewise */
} look_shard;

struct looks {
  shard_map map;
  uint32_t bands;  /* a bit for each band in use */
  uint32_t clocks; /* a bit for each clock that has slots */
  uint32_t lines;  /* of a shard; */
  uint32_t span;   /* from the firsts of a clock to those of the next */
  uint64_t clock_ns[LOOK_BANDS];
  uint64_t numbers[LOOK_CLOCKS]; /* of the present slots; */
  uint64_t tidied[LOOK_CLOCKS];  /* when slots that had passed were last brought to the present, or there were none */
  bool left;                     /* not all slots that have passed were taken */
  uint64_t vain;                 /* looks at agents that were not due, since bands were last chosen anew for these */
  uint32_t swept;                /* a bit for each band that a sweep empties, */
  uint32_t sweep_line;           /* and the line that it has come to */
  double pace[LOOK_BANDS];       /* how the rates of a band's classes have changed since it came into use */
  look_shard *shards;
  uint32_t *passed; /* by shard: room for each line; */
  uint64_t *order;  /* and a bit for each, all clear between two uses */
};

/* Reserves looks for `agents_max` agents in `shards` shards (0 = as many as agents_max asks for). */
void looks_create(struct looks *looks, uint32_t agents_max, uint32_t shards, struct arena *arena);

/* Lines have numbers in the order of agents; this is the number of one in its shard, and back. */
static inline uint32_t looks_place(const struct looks *looks, uint32_t line) {
  return line / 2 >> looks->map.shift << 1 | line % 2;
}

static inline uint32_t looks_line(const struct looks *looks, uint32_t shard, uint32_t place) {
  return (place / 2 << looks->map.shift | shard) << 1 | place % 2;
}

static inline look_shard *looks_shard_of(const struct looks *looks, uint32_t line) {
  return &looks->shards[shards_owner(&looks->map, line * LOOK_AGENTS)];
}

/* The slots of a line, the slot of an agent, and the first of a line on a clock. */
static inline uint16_t *looks_slots_of(const struct looks *looks, uint32_t line) {
  return &looks_shard_of(looks, line)->slots[looks_place(looks, line) * LOOK_AGENTS];
}

static inline uint16_t *looks_slot_of(const struct looks *looks, uint32_t agent) {
  return &looks_slots_of(looks, agent / LOOK_AGENTS)[agent % LOOK_AGENTS];
}

static inline uint16_t *looks_first_of(const struct looks *looks, uint32_t clock, uint32_t line) {
  return &looks_shard_of(looks, line)->firsts[clock * looks->span + looks_place(looks, line)];
}

/* What stands for a slot. */
static inline uint16_t looks_entry(uint32_t clock, uint32_t number) {
  return (uint16_t)((clock + 1) << LOOK_NUMBER_BITS | (number & LOOK_NUMBERS));
}

/* How far a number lies ahead of another one; below 0: behind it. Other bits do not count. */
static inline int32_t looks_ahead(uint32_t number, uint32_t from) {
  return (int32_t)((number - from) << (32 - LOOK_NUMBER_BITS)) >> (32 - LOOK_NUMBER_BITS);
}

/* From now on agents are put in by a band's clock. */
static inline void looks_use_band(struct looks *looks, uint32_t band) {
  if (looks->bands >> band & 1) return;
  looks->bands |= 1u << band;
  looks->clocks |= 3u << 2 * band;
  looks->pace[band] = 1.0;
}

/* There is a slot of this number: it may be the first. Seen from the present one, since of two numbers one may have
 * passed long ago and the other lie far ahead. */
static inline void looks_lead(uint16_t *first, uint32_t number, uint64_t now) {
  if (!*first || looks_ahead(number, (uint32_t)now) < looks_ahead(*first, (uint32_t)now))
    *first = (uint16_t)(LOOK_FIRST | (number & LOOK_NUMBERS));
}

/* An agent is to be looked at when its band's clock comes to `at_ns`, or before. Agents of different shards may be put
 * in at the same time. O(1). */
static inline void looks_put(struct looks *looks, uint32_t band, uint64_t at_ns, uint32_t agent) {
  uint32_t clock = 2 * band;
  uint64_t now = looks->numbers[clock], number = at_ns >> LOOK_FINE_SHIFT;
  if (number < now) number = now;
  if (number - now >= LOOK_REACH) {
    now = looks->numbers[++clock];
    number = at_ns >> LOOK_COARSE_SHIFT;
    /* Those that lie even further ahead are spread, so that they do not come all at once. */
    if (number - now >= LOOK_REACH) number = now + LOOK_REACH / 2 + agent * 2654435769u % (LOOK_REACH / 2);
  }
  *looks_slot_of(looks, agent) = looks_entry(clock, (uint32_t)number);
  looks_lead(looks_first_of(looks, clock, agent / LOOK_AGENTS), (uint32_t)number, now);
  looks_lead(&looks_shard_of(looks, agent / LOOK_AGENTS)->earliest[clock], (uint32_t)number, now);
}

/* The clocks have gone on: from now on the slots that they have reached have passed. O(lines) when a clock has gone on
 * by half of its reach since the last time. */
void looks_pass(struct looks *looks);

/* Takes the agents of some shards that are to be looked at, in the order of agents on each clock where these are all
 * shards: they are put in again, or are not waiting.
 * Returns how many; there is room for all of these shards. Different shards may be taken at the same time. O(shards +
 * agents), and O(lines) for shards where there are any. */
uint32_t looks_take(struct looks *looks, uint32_t first, uint32_t end, uint32_t *agents);

/* Goes on with the sweep by some lines: takes all agents that were put in by the bands that it empties, in the order of
 * agents, whether their slots have passed or not. Returns how many; there is room for all. */
uint32_t looks_sweep(struct looks *looks, uint32_t *agents);

/* Takes those of a line alone: a bit for each. */
uint32_t looks_take_line(struct looks *looks, uint32_t line);

/* How many lines there are in all shards. */
static inline uint32_t looks_lines(const struct looks *looks) {
  return looks->lines * looks->map.count;
}

/* Bytes for so many agents. */
uint64_t looks_bytes(const struct looks *looks, uint32_t agents);

#endif
