/* tests/support/journal_town.h - a few agents of one type that do little: a world whose journal is short. */
#ifndef JOURNAL_TOWN_H
#define JOURNAL_TOWN_H

#include "support/journals.h"

#include <sys/resource.h>

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
  return WITH(muster_type_def, it.atoms = &work, it.atom_count = 1, it.name = "townsman",
              it.state_bytes = sizeof(uint64_t), it.period_ns = 20000000u, it.messages.waiting_max = 4,
              it.messages.bytes_max = 8);
}

static inline little_world town_of(uint32_t workers, muster_clock clock, muster_type_def type) {
  return typed_world(workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 256), type);
}

static inline little_world town(void) {
  return town_of(1, MUSTER_CLOCK_VIRTUAL, town_type());
}

/* The same world, to which its people have come. */
static inline little_world peopled(little_world little) {
  for (uint32_t i = 0; i < TOWN_AGENTS; i++) spawn_at(&little, (double)i);
  return little;
}

static inline little_world peopled_town(void) {
  return peopled(town());
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

/* The first frames. */
static inline void town_frames(little_world *little, uint32_t frames) {
  for (uint32_t frame = 0; frame < frames; frame++) town_frame(little, frame);
}

/* What this process has used of the processors so far. */
static inline uint64_t used_us(void) {
  struct rusage self;
  cr_assert_eq(getrusage(RUSAGE_SELF, &self), 0);
  return (uint64_t)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) * 1000000 +
         (uint64_t)(self.ru_utime.tv_usec + self.ru_stime.tv_usec);
}

/* A world that keeps a journal in a place of its own. */
typedef struct kept_world {
  journal_place place;
  little_world little;
  muster_journal *journal; /* null = the test has ended it */
} kept_world;

static inline kept_world kept_world_of(little_world little, muster_journal_def def) {
  kept_world kept = {.place = place_make(), .little = little};
  kept.journal = journal_begin_as(&kept.little, def, kept.place.path);
  cr_assert_not_null(kept.journal);
  return kept;
}

static inline kept_world kept_town(void) {
  return kept_world_of(peopled_town(), muster_journal_def_default());
}

static inline muster_result kept_world_end_journal(kept_world *kept, bool remove) {
  muster_journal *journal = kept->journal;
  kept->journal = NULL;
  return muster_journal_end(journal, remove);
}

/* Ends the journal in order; its files stay. */
static inline muster_result kept_world_close(kept_world *kept) {
  return kept_world_end_journal(kept, false);
}

static inline void kept_world_end(kept_world *kept) {
  cr_expect_eq(muster_journal_end(kept->journal, true), MUSTER_OK, "%s", muster_last_error());
  little_world_destroy(&kept->little);
  place_remove(&kept->place);
}

/* A town that keeps a journal for so many frames, and dies. */
typedef struct town_life {
  journal_place place;
  told_frames *told;
  uint32_t frames;
  muster_journal_def def; /* its path is filled in */
  void (*after)(muster_journal *journal, little_world *little, uint32_t frame);
} town_life;

static inline town_life town_life_of(uint32_t frames,
                                     void (*after)(muster_journal *journal, little_world *little, uint32_t frame)) {
  return (town_life){place_make(), told_create(), frames, muster_journal_def_default(), after};
}

static inline void town_life_end(town_life *life) {
  told_destroy(life->told);
  place_remove(&life->place);
}

static inline void town_live(void *user) {
  town_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = journal_begin_as(&little, life->def, life->place.path);
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

/* The town that comes back after its death, with all of these frames. */
static inline little_world town_back(const town_life *life, uint64_t frames) {
  little_world little = town();
  cr_assert_eq(journal_back(&little, life->place.path).frames, frames);
  expect_told(life->told, &little, frames);
  return little;
}

#endif
