#include "readers.h"

#include <stdlib.h>
#include <string.h>

bool reader_open(struct reader *reader, replication_reader way, uint32_t agents_max) {
  *reader = (struct reader){.way = way};
  reader->changes = calloc(agents_max, sizeof *reader->changes);
  reader->ids = calloc(agents_max, sizeof *reader->ids);
  reader->read = calloc(agents_max, sizeof *reader->read);
  reader->last = calloc(agents_max, sizeof *reader->last);
  reader->known = calloc(agents_max, sizeof *reader->known);
  reader->seen = calloc(agents_max, sizeof *reader->seen);
  reader->found = calloc(agents_max, sizeof *reader->found);
  return reader->changes && reader->ids && reader->read && reader->last && reader->known && reader->seen &&
         reader->found;
}

void reader_close(struct reader *reader) {
  free(reader->changes);
  free(reader->ids);
  free(reader->read);
  free(reader->last);
  free(reader->known);
  free(reader->seen);
  free(reader->found);
  *reader = (struct reader){0};
}

static void forget(struct reader *reader, muster_agent agent) {
  if (!muster_agent_equal(reader->known[muster_agent_index(agent)], agent))
    return; /* another one has its index already */
  reader->known[muster_agent_index(agent)] = (muster_agent){0};
  reader->gone++;
}

/* Finds out whether an agent has come or moved, and keeps where it is. */
static inline void compare(struct reader *reader, muster_agent agent, muster_position position) {
  const muster_position *last = &reader->last[muster_agent_index(agent)];
  bool same = muster_agent_equal(reader->known[muster_agent_index(agent)], agent) && last->x == position.x &&
              last->y == position.y && last->z == position.z;
  if (same) return;
  reader->known[muster_agent_index(agent)] = agent;
  reader->last[muster_agent_index(agent)] = position;
  reader->moved++;
}

static bool read_changes(struct reader *reader, const struct walkers *walkers) {
  const uint32_t kinds = MUSTER_CHANGE_MOVED | MUSTER_CHANGE_SPAWNED | MUSTER_CHANGE_LEFT;
  muster_agent_columns columns = muster_agent_columns_default();
  reader->count = 0;
  if (muster_frame_changes(walkers->world, kinds, &reader->cursor, reader->changes, walkers->agents_max,
                           &reader->changed))
    return false;
  for (uint32_t i = 0; i < reader->changed; i++) {
    if (!(reader->changes[i].kinds & MUSTER_CHANGE_LEFT)) reader->ids[reader->count++] = reader->changes[i].agent;
  }
  reader->gone = reader->changed - reader->count;
  reader->moved = reader->count;
  columns.positions = reader->read;
  muster_agents_read(walkers->world, reader->ids, reader->count, &columns);
  return true;
}

static void read_columns(struct reader *reader, const struct walkers *walkers) {
  muster_agent_columns columns = muster_agent_columns_default();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < WALKERS_COME; i++)
    if (!muster_agent_is_null(walkers->came[i])) reader->ids[reader->count++] = walkers->came[i];
  columns.positions = reader->read;
  columns.found = reader->found;
  muster_agents_read(walkers->world, reader->ids, reader->count, &columns);
  for (uint32_t i = 0; i < reader->count; i++) {
    muster_agent agent = reader->ids[i];
    if (!reader->found[i] && muster_agent_exists(walkers->world, agent)) { /* it waits for its intake */
      reader->ids[kept++] = agent;
    } else if (!reader->found[i]) {
      forget(reader, agent);
    } else {
      compare(reader, agent, reader->read[i]);
      reader->ids[kept++] = agent;
    }
  }
  reader->count = kept;
}

static void read_one_by_one(struct reader *reader, const struct walkers *walkers) {
  muster_agent_info info = muster_agent_info_default();
  reader->frame++;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(walkers->world, agent));) {
    muster_agent_read(walkers->world, agent, &info);
    muster_agent before = reader->known[muster_agent_index(agent)];
    if (!muster_agent_is_null(before) && !muster_agent_equal(before, agent)) forget(reader, before);
    reader->seen[muster_agent_index(agent)] = reader->frame;
    compare(reader, agent, info.position);
  }
  for (uint32_t i = 0; i < walkers->agents_max; i++)
    if (!muster_agent_is_null(reader->known[i]) && reader->seen[i] != reader->frame) forget(reader, reader->known[i]);
}

/* One that reads all ids begins with those that are there. */
static void list_all(struct reader *reader, const struct walkers *walkers) {
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(walkers->world, agent));) {
    muster_agent_info info = muster_agent_info_default();
    muster_agent_read(walkers->world, agent, &info);
    if (reader->way == READER_COLUMNS) reader->ids[reader->count++] = agent;
    if (reader->way != READER_CHANGES) compare(reader, agent, info.position);
  }
}

bool reader_read(struct reader *reader, const struct walkers *walkers) {
  bool begins = reader->frame == 0 && reader->count == 0;
  reader->moved = reader->gone = 0;
  if (begins) {
    list_all(reader, walkers);
    if (reader->way == READER_CHANGES) read_changes(reader, walkers); /* sets the cursor */
    reader->frame = 1;
    reader->moved = reader->gone = 0;
    return true;
  }
  if (reader->way == READER_CHANGES) return read_changes(reader, walkers);
  if (reader->way == READER_COLUMNS)
    read_columns(reader, walkers);
  else
    read_one_by_one(reader, walkers);
  return true;
}
