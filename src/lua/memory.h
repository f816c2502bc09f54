/* lua/memory.h - the memory of one Lua state: who owns each block, and how much each owner may have.
 *
 * A block is owned by the agent whose update makes it, until the collector frees it. An agent over its cap is refused
 * new objects, by an error that its update may catch as any other: not by a refused allocation, which would make Lua
 * collect the whole state at once. Arrays and buffers that grow are let grow, at most to twice the cap, and the update
 * fails at the next object, or at the next look.
 *
 * Small blocks come from lists by size, without a lock: a state runs on one worker at a time. */
#ifndef LUA_MEMORY_H
#define LUA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_OWNER_STATE = 0, MEMORY_CLASSES = 32, MEMORY_CLASS_BYTES = 16, MEMORY_SPENT_MOST = 128000 };

typedef struct script_memory {
  uint64_t bytes, cap_bytes;  /* of the state; 0 = no cap */
  uint64_t allocated_bytes;   /* all that were ever asked for: what drives the collector */
  uint32_t owner;             /* of what is allocated now; 0 = the state itself */
  uint32_t owner_cap_bytes;   /* of the owner; 0 = no cap */
  bool refuses;               /* an update runs: new objects over a cap are refused by `refuse` */
  bool refused;               /* and one was, or an array grew over the cap */
  uint64_t spent_bytes;       /* work of the update that runs since its last look, in bytes that it would fill */
  void (*hurry)(void *user);  /* called while an update runs that spent MEMORY_SPENT_MOST: it is to be looked at soon */
  void (*refuse)(void *user); /* raises an error, and does not return */
  void *user;                 /* handed to it */
  uint32_t *owned;            /* bytes of each owner */
  uint32_t owner_count, owner_room;
  void *lists[MEMORY_CLASSES]; /* free blocks by size */
  struct memory_chunk *chunks; /* from which they are cut */
  size_t chunk_left;
} script_memory;

/* Begins without blocks. False without memory. */
bool memory_create(script_memory *memory);

/* Frees everything; blocks of any size must have been freed but for small ones. */
void memory_destroy(script_memory *memory);

/* A lua_Alloc; `user` is the script_memory. */
void *memory_allocate(void *user, void *block, size_t before, size_t after);

/* Takes the number of an owner that has nothing, from `taken` on; 0 without memory. */
uint32_t memory_new_owner(script_memory *memory);

/* The update that runs did work that takes about as long as to fill so many bytes. */
static inline void memory_spend(script_memory *memory, uint64_t bytes) {
  memory->spent_bytes += bytes;
  if (memory->spent_bytes >= MEMORY_SPENT_MOST && memory->refuses) memory->hurry(memory->user);
}

/* From here on blocks belong to `owner`, which may have `cap_bytes`. */
static inline void memory_own(script_memory *memory, uint32_t owner, uint32_t cap_bytes) {
  memory->owner = owner;
  memory->owner_cap_bytes = cap_bytes;
}

#endif
