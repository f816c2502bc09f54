/* agents/changes.h - which agents changed, frame by frame, for hosts that tell others (muster/replicate.h).
 *
 *   noted while a frame runs                 gathered at its end           read between frames
 *   notes: a bit for each agent and kind  ---> the open list, in agent  ---> lists of the last frames, by position
 *   touched: a bit for 64 agents               order behind those that left
 *
 * Both lie by shard. Stages that go over shards beside each other note changes of their own shards' agents, which share
 * no cache line with those of others. What is gathered does not depend on the order in which it was noted: so nothing
 * depends on workers. Where no lists are kept, noting is a test of a pointer.
 *
 * A position counts the records of a world. It begins with the time at which the world was created: so positions that
 * another world gave, or this one before its snapshot was loaded, are outside those that are kept. */
#ifndef AGENTS_CHANGES_H
#define AGENTS_CHANGES_H

#include "agents/shards.h"
#include "base/arena.h"
#include "base/bits.h"
#include "base/parts.h"
#include "base/prefetch.h"

#include <muster/replicate.h>

struct agent_store;

/* What happened in a frame. */
typedef struct change_list {
  muster_change *records; /* room for agents_max */
  uint32_t count;
  uint64_t begin; /* position of the first */
} change_list;

/* Kinds as they are noted; those that left are listed at once. */
typedef enum change_noted { NOTED_MOVED = 0, NOTED_SPAWNED, NOTED_PUBLISHED, NOTED_LEVEL, NOTED_KINDS } change_noted;

/* Of 64 neighbouring agents, since the last frame's end. */
typedef struct change_notes {
  uint64_t of[NOTED_KINDS];
} change_notes;

typedef struct change_log {
  change_notes *notes;   /* by shard; null: nothing is kept */
  uint64_t *touched;     /* by shard: which of its notes are not zero */
  uint64_t *touched_any; /* of any shard; and, by item of work, where its records begin: while a frame ends */
  uint32_t *starts;
  const struct agent_store *store; /* likewise */
  shard_map shards;
  uint32_t notes_apart;    /* from one shard to the next */
  uint32_t words, apart;   /* of `touched`, of each shard: in use; and from one shard to the next */
  uint32_t room;           /* records that a list has room for */
  change_list *lists;      /* a ring */
  uint32_t list_count;     /* one more than are kept: */
  uint32_t open;           /* this one is filled; the `kept` lists before it can be read */
  uint32_t kept;           /* at most list_count - 1 */
  bool full;               /* the open list has not had room for all */
  uint64_t origin;         /* position of the world's first change; */
  uint64_t oldest, newest; /* of the first that is kept, and behind the last */
} change_log;

/* Reserves what keeps the changes of so many frames; nothing for 0. Positions begin at `origin`, above 0. */
void changes_create(change_log *log, uint32_t frames, uint32_t agents_max, uint32_t shards, uint64_t origin,
                    struct arena *arena);

/* The notes of an agent. */
static inline change_notes *changes_notes_of(const change_log *log, uint32_t agent) {
  return log->notes + (size_t)shards_owner(&log->shards, agent) * log->notes_apart + (agent / 64 >> log->shards.shift);
}

/* Fetches what noting a change of an agent touches. */
PREFETCH_FUNCTION changes_prefetch(const change_log *log, uint32_t agent) {
  if (log->notes) __builtin_prefetch(changes_notes_of(log, agent), 1);
}

/* Notes that something happened to an active agent. Frame's thread, or the thread that has the agent's shard. */
static inline void changes_note(change_log *log, uint32_t agent, change_noted kind) {
  if (!log->notes) return;
  changes_notes_of(log, agent)->of[kind] |= 1ull << agent % 64;
  bits_set(log->touched + (size_t)shards_owner(&log->shards, agent) * log->apart, agent / 64 >> log->shards.shift);
}

/* Notes that an agent leaves. It is told also of one that came since the last frame's end: a reader may have met it
 * between the frames. Frame's thread. */
void changes_note_left(change_log *log, uint32_t index, muster_agent id, uint32_t type);

/* Ends a frame: what was noted can be read from now on. Frame's thread. O(changes and agents_max / 4096). */
void changes_end_frame(change_log *log, const struct agent_store *store, const struct parts *parts);

/* Bytes in use where so many agents ever were. */
uint64_t changes_bytes(const change_log *log, uint32_t agents);

/* Forgets all changes, noted or kept: every cursor is lost. */
void changes_forget(change_log *log);

/* Whether all changes since a cursor are kept. */
bool changes_reach(const change_log *log, uint64_t cursor);

/* Writes the records behind a cursor that have one of the kinds; moves the cursor on. Returns how many. */
uint32_t changes_read(const change_log *log, uint32_t kinds, uint64_t *cursor, muster_change *out, uint32_t capacity);

#endif
