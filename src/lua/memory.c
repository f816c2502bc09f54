#include "lua/memory.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 65536 };

/* Before each block. */
typedef struct memory_head {
  uint32_t owner, unused;
} memory_head;

struct memory_chunk {
  struct memory_chunk *next;
  uint64_t unused;
};

_Static_assert(sizeof(memory_head) == 8 && sizeof(struct memory_chunk) == 16, "blocks are aligned to 8");

void memory_destroy(script_memory *memory) {
  while (memory->chunks) {
    struct memory_chunk *next = memory->chunks->next;
    free(memory->chunks);
    memory->chunks = next;
  }
  free(memory->owned);
  memory->owned = NULL;
}

/* The list of blocks of that size with their head; MEMORY_CLASSES = they come from malloc. */
static uint32_t class_of(size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  (void)bytes;
  return MEMORY_CLASSES; /* so that it knows each block */
#else
  size_t whole = bytes + sizeof(memory_head);
  return whole <= (size_t)MEMORY_CLASSES * MEMORY_CLASS_BYTES
             ? (uint32_t)((whole + MEMORY_CLASS_BYTES - 1) / MEMORY_CLASS_BYTES) - 1
             : MEMORY_CLASSES;
#endif
}

static void *cut_from_chunk(script_memory *memory, size_t bytes) {
  if (memory->chunk_left < bytes) {
    struct memory_chunk *chunk = malloc(CHUNK_BYTES);
    if (!chunk) return NULL;
    chunk->next = memory->chunks;
    memory->chunks = chunk;
    memory->chunk_left = CHUNK_BYTES - sizeof *chunk;
  }
  memory->chunk_left -= bytes;
  return (unsigned char *)memory->chunks + CHUNK_BYTES - memory->chunk_left - bytes;
}

static memory_head *memory_take_block(script_memory *memory, uint32_t class, size_t bytes) {
  if (class == MEMORY_CLASSES) return malloc(bytes + sizeof(memory_head));
  void *block = memory->lists[class];
  if (!block) return cut_from_chunk(memory, ((size_t) class + 1) * MEMORY_CLASS_BYTES);
  memcpy(&memory->lists[class], block, sizeof block);
  return block;
}

static void give_block(script_memory *memory, uint32_t class, memory_head *head) {
  if (class == MEMORY_CLASSES) {
    free(head);
    return;
  }
  memcpy(head, &memory->lists[class], sizeof(void *));
  memory->lists[class] = head;
}

/* Whether the owner, or the state, would be over its cap. */
static bool is_over(const script_memory *memory, size_t more) {
  if (memory->cap_bytes && memory->bytes + more > memory->cap_bytes) return true;
  return memory->owner && memory->owner_cap_bytes && memory->owned[memory->owner] + more > memory->owner_cap_bytes;
}

static void account(script_memory *memory, uint32_t owner, size_t before, size_t after) {
  memory->bytes += after - before;
  memory->owned[owner] += (uint32_t)after - (uint32_t)before;
  if (after <= before) return;
  memory->allocated_bytes += after - before;
}

/* Whether a new object counts as work of the update that runs: Lua tells its kind, 0 = it is none. Short strings may be
 * there already, by where the collector is; and how often a table grows depends on the seed of the state's hashes.
 * Where an update is looked at must follow from neither. */
static bool counts_as_work(size_t kind, size_t bytes) {
  enum { STRING_BYTES = 128 };
  return kind == LUA_TSTRING ? bytes > STRING_BYTES : kind > 0;
}

static void *new_block(script_memory *memory, size_t bytes) {
  uint32_t class = class_of(bytes);
  memory_head *head = memory_take_block(memory, class, bytes);
  if (!head) return NULL;
  head->owner = memory->owner;
  account(memory, head->owner, 0, bytes);
  return head + 1;
}

static void *resize_block(script_memory *memory, memory_head *head, size_t before, size_t after) {
  uint32_t class = class_of(before), wanted = class_of(after), owner = head->owner;
  if (class == MEMORY_CLASSES && wanted == MEMORY_CLASSES) {
    memory_head *moved = realloc(head, after + sizeof *head);
    if (!moved) return NULL;
    head = moved;
  } else if (class != wanted) {
    memory_head *moved = memory_take_block(memory, wanted, after);
    if (!moved) return NULL;
    memcpy(moved, head, sizeof *head + (before < after ? before : after));
    give_block(memory, class, head);
    head = moved;
  }
  account(memory, owner, before, after);
  return head + 1;
}

void *memory_allocate(void *user, void *block, size_t before, size_t after) {
  enum { KINDS = 16 }; /* of a new object Lua tells its kind in place of the size before; 0 = it is no object */
  script_memory *memory = user;
  memory_head *head = block ? (memory_head *)block - 1 : NULL;
  if (after == 0) {
    if (!head) return NULL;
    account(memory, head->owner, before, 0);
    give_block(memory, class_of(before), head);
    return NULL;
  }
  size_t more = !block ? after : after > before ? after - before : 0;
  if (memory->refuses && more && is_over(memory, more)) {
    memory->refused = true;
    if (!block && before > 0 && before < KINDS) memory->refuse(memory->user); /* does not return */
  }
  if (!block && counts_as_work(before, after)) memory_spend(memory, after);
  return block ? resize_block(memory, head, before, after) : new_block(memory, after);
}

uint32_t memory_new_owner(script_memory *memory) {
  if (memory->owner_count == memory->owner_room) {
    uint32_t room = memory->owner_room ? 2 * memory->owner_room : 64;
    uint32_t *owned = realloc(memory->owned, room * sizeof *owned);
    if (!owned) return 0;
    memset(owned + memory->owner_room, 0, (room - memory->owner_room) * sizeof *owned);
    memory->owned = owned;
    memory->owner_room = room;
  }
  return memory->owner_count++;
}

bool memory_create(script_memory *memory) {
  *memory = (script_memory){0};
  memory_new_owner(memory); /* the state, number 0 */
  return memory->owned != NULL;
}
