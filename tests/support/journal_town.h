/* tests/support/journal_town.h - a few agents of one type that do little: a world whose journal is short. */
#ifndef JOURNAL_TOWN_H
#define JOURNAL_TOWN_H

#include "support/journals.h"

enum { TOWN_AGENTS = 40 };

static inline muster_atom_result town_work(muster_update *update) {
  uint64_t *sum = update->state;
  *sum = *sum * 31 + muster_update_random(update) + update->elapsed_ns;
  muster_position to = update->position;
  to.x += (double)(*sum % 5) - 2.0;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static inline muster_type_def town_type(void) {
  static const muster_atom work = {town_work, MUSTER_ROLE_BEHAVIOUR, 2000};
  muster_type_def def = type_with(&work, 1);
  def.name = "townsman";
  def.state_bytes = sizeof(uint64_t);
  def.period_ns = 20000000u;
  def.messages.waiting_max = 4;
  def.messages.bytes_max = 8;
  return def;
}

static inline little_world town_of(uint32_t workers, muster_clock clock, const muster_type_def *type) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.limits.agents_max = 256;
  little_world little = little_world_create(workers, &def);
  register_type(&little, type);
  return little;
}

static inline little_world town(void) {
  muster_type_def type = town_type();
  return town_of(1, MUSTER_CLOCK_VIRTUAL, &type);
}

static inline void town_populate(const little_world *little) {
  for (uint32_t i = 0; i < TOWN_AGENTS; i++) spawn_at(little, (double)i);
}

/* A frame before which the host has someone woken, sends a message, and at times has someone come and go. */
static inline void town_frame(little_world *little, uint32_t frame) {
  muster_agent one = muster_agent_next(little->world, muster_agent_make(frame * 7 % TOWN_AGENTS, 1));
  muster_agent_wake(little->world, one);
  muster_agent_send(little->world, one, &frame, sizeof frame);
  if (frame % 5 == 2) spawn_at(little, (double)frame);
  if (frame % 5 == 4) muster_agent_remove(little->world, one);
  run_frame(little);
}

/* A town that keeps a journal for so many frames, and dies. */
typedef struct town_life {
  const char *path;
  told_frames *told;
  uint32_t frames;
  muster_journal_def def; /* its path is filled in */
  void (*after)(muster_journal *journal, little_world *little, uint32_t frame);
} town_life;

static inline void town_live(void *user) {
  town_life *life = user;
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin_as(&little, life->def, life->path);
  told_frame(life->told, &little, 0);
  for (uint32_t frame = 0; frame < life->frames; frame++) {
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    muster_journal_status status = journal_status(journal);
    must(status.runs, "the journal ended: %s", status.ended_by);
    atomic_store(&life->told->safe, status.frames_safe);
    if (life->after) life->after(journal, &little, frame + 1);
  }
}

#endif
