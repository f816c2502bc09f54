/* A world is saved on the thread that runs its frames; on another one each try is refused with a sentence. */
#include "misuse/misuse.h"

#include <semaphore.h>

static bool take(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(size_t *)user += count;
  return true;
}

struct saver {
  muster_world *world;
  uint32_t stop;
  uint32_t tries, refused, helped; /* helped: the sentence says where to save */
};

static void try_to_save(struct saver *saver) {
  size_t bytes = 0;
  muster_save_def def = WITH(muster_save_def, it.write = take, it.user = &bytes);
  muster_result results[2] = {muster_world_settle(saver->world), MUSTER_OK};
  saver->helped += strstr(muster_last_error(), "call it there, between two of them") != NULL;
  results[1] = muster_world_save(saver->world, &def);
  saver->helped += strstr(muster_last_error(), "call it there, between two of them") != NULL;
  __atomic_add_fetch(&saver->tries, 2, __ATOMIC_RELAXED);
  saver->refused += (results[0] == MUSTER_E_STATE) + (results[1] == MUSTER_E_STATE);
}

static void *save_on_and_on(void *argument) {
  struct saver *saver = argument;
  while (!__atomic_load_n(&saver->stop, __ATOMIC_RELAXED)) try_to_save(saver);
  return NULL;
}

static little_world begin(uint32_t workers, uint32_t agents) {
  little_world little = world_of(workers, type_running(nothing, 1000));
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, i);
  return little;
}

Test(save, on_another_thread_than_the_frames_is_refused_at_every_try) {
  SCOPED_WORLD little = begin(2, 500);
  pthread_t thread;
  run_frames(&little, 2);
  struct saver saver = {.world = little.world};
  cr_assert_eq(pthread_create(&thread, NULL, save_on_and_on, &saver), 0);
  for (uint32_t i = 0; i < 200 || __atomic_load_n(&saver.tries, __ATOMIC_RELAXED) < 100; i++) run_frame(&little);
  __atomic_store_n(&saver.stop, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  cr_assert_eq(saver.refused, saver.tries);
  cr_assert_eq(saver.helped, saver.tries);
}

struct frames {
  little_world *little;
  sem_t ran, end;
};

static void *run_some_frames(void *argument) {
  struct frames *frames = argument;
  run_frames(frames->little, 3);
  sem_post(&frames->ran);
  sem_wait(&frames->end);
  return NULL;
}

Test(save, goes_to_any_thread_when_the_thread_of_the_frames_has_ended) {
  SCOPED_WORLD little = begin(1, 1);
  struct frames frames = {.little = &little};
  struct saver saver = {.world = little.world};
  pthread_t thread;
  try_to_save(&saver);
  cr_assert_eq(saver.refused, 0, "before the first frame");
  sem_init(&frames.ran, 0, 0);
  sem_init(&frames.end, 0, 0);
  cr_assert_eq(pthread_create(&thread, NULL, run_some_frames, &frames), 0);
  sem_wait(&frames.ran);
  try_to_save(&saver);
  cr_assert_eq(saver.refused, 2, "it lives");
  sem_post(&frames.end);
  pthread_join(thread, NULL);
  try_to_save(&saver);
  cr_assert_eq(saver.refused, 2, "it has ended: %s", muster_last_error());
  run_frames(&little, 1);
  try_to_save(&saver);
  cr_assert_eq(saver.refused, 2, "frames run here now: %s", muster_last_error());
}
