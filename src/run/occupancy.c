#include "run/occupancy.h"

#include <pthread.h>
#include <stddef.h>

void occupancy_set(struct occupancy *occupancy, enum occupation occupation) {
  store_relaxed_u64(&occupancy->thread, occupation ? thread_self() : 0);
  store_relaxed_u32(&occupancy->occupation, occupation);
}

bool occupancy_is_mine(const struct occupancy *occupancy) {
  return load_relaxed_u64(&occupancy->thread) == thread_self();
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
