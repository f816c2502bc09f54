/* agents/shards.h - which shard an agent belongs to.
 *
 * A world's agents are cut into shards, each with the slots at which its agents are looked at, so that a stage can be a
 * pass over shards. How many there are follows from agents_max, or is what the host says, and never follows from the
 * number of workers; nothing that a world does depends on it. Each 64 neighbouring indices belong to one shard, and the
 * next 64 to the next: so shards fill alike while the world fills, and what lies in columns by index is cut at cache
 * lines. */
#ifndef AGENTS_SHARDS_H
#define AGENTS_SHARDS_H

#include <stdint.h>

enum {
  SHARDS_USUAL_MAX = 128,
  SHARDS_FEW = 4,           /* so that several workers can settle beside each other */
  SHARDS_FEW_FROM = 1024,   /* agents */
  SHARD_AGENTS_USUAL = 4096 /* fewer would make the fixed costs of a shard show */
};

/* How agents are shared out. */
typedef struct shard_map {
  uint32_t count; /* of shards, a power of two */
  uint32_t shift; /* its logarithm */
  uint32_t words; /* how many words of 64 agents the fullest shard has */
} shard_map;

/* The map of `agents_max` agents over `count` shards: a power of two, or 0 for as many as agents_max asks for. */
static inline shard_map shards_of(uint32_t agents_max, uint32_t count) {
  if (!count)
    for (count = agents_max < SHARDS_FEW_FROM ? 1 : SHARDS_FEW;
         count < SHARDS_USUAL_MAX && agents_max / SHARD_AGENTS_USUAL >= 2 * count;)
      count *= 2;
  uint32_t words = (agents_max + 63) / 64;
  return (shard_map){count, (uint32_t)__builtin_ctz(count), (words + count - 1) / count};
}

/* The shard of an agent. */
static inline uint32_t shards_owner(const shard_map *map, uint32_t agent) {
  return agent / 64 & (map->count - 1);
}

#endif
