#include "run/occupancy.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static _Thread_local uint32_t own_number; /* of the calling thread; 0 = it was not asked for yet */

static uint32_t number_of_thread(void) {
  if (!own_number) own_number = (uint32_t)gettid();
  return own_number;
}

void occupancy_set(struct occupancy *occupancy, enum occupation occupation) {
  store_relaxed_u64(&occupancy->thread, occupation ? thread_self() : 0);
  store_relaxed_u32(&occupancy->occupation, occupation);
}

bool occupancy_is_mine(const struct occupancy *occupancy) {
  return load_relaxed_u64(&occupancy->thread) == thread_self();
}

void occupancy_take_frames(struct occupancy *occupancy) {
  store_relaxed_u32(&occupancy->frames, number_of_thread());
}

uint32_t occupancy_other_thread(const struct occupancy *occupancy) {
  uint32_t frames = load_relaxed_u32(&occupancy->frames);
  bool other = frames && frames != number_of_thread() && tgkill(getpid(), (pid_t)frames, 0) == 0;
  return other ? frames : 0;
}

/* Whether a place is in the calling thread's own stack. */
static bool is_own_stack(const char *place) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes)) return false;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return place >= (const char *)lowest && place < (const char *)lowest + bytes;
}

/* Compares stack addresses: stacks grow down on every machine that this builds for. */
bool occupancy_was_left(const struct occupancy *occupancy, const char *here) {
  if (!occupancy_is_mine(occupancy) || here < occupancy->stack) return false;
  return is_own_stack(here) && is_own_stack(occupancy->stack);
}
