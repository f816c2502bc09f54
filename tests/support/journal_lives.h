/* tests/support/journal_lives.h - a world that lives several lives: each begins where the one before had its last
 * complete frame, keeps a journal, and ends with a death. */
#ifndef JOURNAL_LIVES_H
#define JOURNAL_LIVES_H

#include "support/journals.h"

/* A world that does in a frame what the frame's number says. */
typedef struct journal_scene {
  const char *name;
  const void *of;
  little_world (*create)(const void *of, uint32_t workers);
  void (*populate)(little_world *little, const void *of);
  void (*frame)(little_world *little, const void *of, uint32_t frame);
} journal_scene;

/* How a life ends. */
typedef enum journal_death {
  DEATH_BETWEEN_FRAMES = 0, /* after the last frame of the life */
  DEATH_IN_UPDATE,          /* in an update of it, or of the frames behind it */
  DEATH_AT_ANY_MOMENT       /* when the parent has seen that frame */
} journal_death;

typedef struct journal_life {
  const journal_scene *scene;
  journal_place place;
  told_frames *told;
  uint32_t workers;
  uint32_t frames; /* of the world at the end of the life */
  uint32_t number; /* of the life */
  journal_death death;
  bool turns;               /* new snapshots are taken when they are due */
  uint64_t recovery_max_ns; /* 0 = the default */
} journal_life;

static inline journal_life life_of(const journal_scene *scene) {
  return (journal_life){.scene = scene, .place = place_make(), .told = told_create()};
}

static inline void life_end(journal_life *life) {
  told_destroy(life->told);
  place_remove(&life->place);
}

/* Updates until this process dies; 0 = it does not. */
static _Atomic uint64_t updates_left;

static inline void die_in_update(void) {
  if (atomic_load(&updates_left) && atomic_fetch_sub(&updates_left, 1) == 1) die();
}

/* A snapshot settles the world, which has another hash then. A life that ends while it takes one may come back as
 * either. */
static inline bool life_knows(const journal_life *life, uint64_t frame, uint64_t hash) {
  const told_frames *told = life->told;
  if (hash == told->hashes[frame]) return true;
  return life->turns && (atomic_load(&told->turning) == frame || hash == told->turned[frame]);
}

static inline void life_check(const journal_life *life, const little_world *little, uint64_t frames) {
  uint64_t known = atomic_load(&life->told->frames), hash = muster_world_hash(little->world);
  must(frames == known || frames == known + 1, "%s, life %u: back at frame %lu of %lu", life->scene->name, life->number,
       frames, known);
  if (frames == known)
    must(life_knows(life, known, hash), "%s, life %u: another world at frame %lu", life->scene->name, life->number,
         frames);
  told_frame(life->told, little, frames);
}

/* Creates the world and brings it to where the life before ended. */
static inline little_world life_begin(const journal_life *life, uint64_t *frames) {
  muster_journal_info info;
  muster_result found = journal_look(life->place.path, &info);
  little_world little = life->scene->create(life->scene->of, life->workers);
  must(found == (life->number ? MUSTER_OK : MUSTER_E_STALE), "%s, life %u: the look says %d", life->scene->name,
       life->number, (int)found);
  if (found == MUSTER_OK) {
    must(journal_recover(&little, life->place.path, &info) == MUSTER_OK, "%s, life %u: not recovered",
         life->scene->name, life->number);
    must(!info.clean, "%s, life %u: it is said to have ended in order", life->scene->name, life->number);
    life_check(life, &little, info.frames);
  } else {
    life->scene->populate(&little, life->scene->of);
  }
  *frames = found == MUSTER_OK ? info.frames : 0;
  return little;
}

static inline void life_turn(const journal_life *life, const little_world *little, muster_journal *journal,
                             uint64_t frame) {
  atomic_store(&life->told->turning, frame);
  muster_journal_turn(journal, 0);
  life->told->turned[frame] = muster_world_hash(little->world);
  atomic_store(&life->told->turning, 0);
}

static inline void life_live(void *user) {
  const journal_life *life = user;
  uint64_t frame = 0;
  little_world little = life_begin(life, &frame);
  muster_journal_def def = muster_journal_def_default();
  if (life->recovery_max_ns) def.recovery_max_ns = life->recovery_max_ns;
  muster_journal *journal = journal_begin_as(&little, def, life->place.path);
  life->told->begins[frame] = true;
  while (life->death == DEATH_AT_ANY_MOMENT || frame < life->frames) {
    if (life->death == DEATH_IN_UPDATE && frame + 1 == life->frames) updates_left = 1 + life->number * 37 % 150;
    life->scene->frame(&little, life->scene->of, (uint32_t)frame++);
    told_frame(life->told, &little, frame);
    if (life->turns) life_turn(life, &little, journal, frame);
    must(journal_status(journal).runs, "%s, life %u: the journal ended: %s", life->scene->name, life->number,
         journal_status(journal).ended_by);
    if (frame > life->frames) usleep(200); /* the parent may be late */
    must(frame + 1 < TOLD_FRAMES_MAX, "%s, life %u: nobody killed it", life->scene->name, life->number);
  }
}

/* The parent's part of a death at any moment. */
static inline void life_kill(const journal_life *life, pid_t process) {
  int status = 0;
  while (atomic_load(&life->told->frames) < life->frames) {
    cr_assert_eq(waitpid(process, &status, WNOHANG), 0, "it ended by itself, with status %x", (unsigned)status);
    sched_yield();
  }
  for (uint32_t i = 0; i < life->number * 977 % 4001; i++) sched_yield();
  kill(process, SIGKILL);
}

static inline void life_run(journal_life *life) {
  fflush(NULL);
  pid_t process = fork();
  cr_assert_geq(process, 0);
  if (process == 0) {
    life_live(life);
    die();
  }
  if (life->death == DEATH_AT_ANY_MOMENT) life_kill(life, process);
  expect_killed(process);
}

/* A world that does not die, and in which a journal begins wherever one began in the lives: in virtual time it comes to
 * the same in each frame. Stores the hashes of so many frames behind the last. */
static inline void never_died(const journal_scene *scene, const told_frames *told, uint32_t later, uint64_t *hashes) {
  SCOPED(place_remove) journal_place place = place_make();
  muster_journal *journal = NULL;
  SCOPED(little_world_destroy) little_world little = scene->create(scene->of, 2);
  scene->populate(&little, scene->of);
  for (uint32_t frame = 0; frame < told->frames + later; frame++) {
    if (told->begins[frame]) {
      cr_assert_eq(muster_journal_end(journal, true), MUSTER_OK, "%s", muster_last_error());
      journal = journal_begin(&little, place.path);
    }
    if (frame == told->frames) {
      cr_assert_eq(muster_journal_end(journal, true), MUSTER_OK, "%s", muster_last_error());
      journal = NULL; /* those that are compared with it keep none */
    }
    scene->frame(&little, scene->of, frame);
    uint64_t hash = muster_world_hash(little.world);
    if (frame < told->frames)
      cr_assert_eq(hash, told->hashes[frame + 1], "%s: frame %u is another in a world that died", scene->name,
                   frame + 1);
    else
      hashes[frame - told->frames] = hash;
  }
  muster_journal_end(journal, true);
}

/* All on from the last files, with other numbers of workers; the hashes of the frames behind are known, or null. */
static inline void expect_same_on_any_workers(const journal_life *life, uint32_t later, const uint64_t *hashes) {
  for (uint32_t i = 0; i < 3; i++) {
    SCOPED(little_world_destroy)
    little_world little = life->scene->create(life->scene->of, (const uint32_t[]){1, 2, 8}[i]);
    muster_journal_info info;
    cr_assert_eq(journal_recover(&little, life->place.path, &info), MUSTER_OK, "%s: %s", life->scene->name,
                 muster_last_error());
    cr_assert(info.frames == life->told->frames || info.frames == life->told->frames + 1);
    if (info.frames == life->told->frames)
      cr_assert(life_knows(life, info.frames, muster_world_hash(little.world)), "%s", life->scene->name);
    for (uint64_t frame = info.frames; frame < life->told->frames + later; frame++) {
      life->scene->frame(&little, life->scene->of, (uint32_t)frame);
      if (hashes)
        cr_assert_eq(muster_world_hash(little.world), hashes[frame - life->told->frames],
                     "%s: frame %lu, behind the last life", life->scene->name, frame + 1);
    }
  }
}

/* The same, where one that never died `is_known` to come to the same. */
static inline void expect_same_later(const journal_life *life, uint32_t later, bool is_known) {
  uint64_t hashes[TOLD_FRAMES_MAX];
  if (is_known) never_died(life->scene, life->told, later, hashes);
  expect_same_on_any_workers(life, later, is_known ? hashes : NULL);
}

#endif
