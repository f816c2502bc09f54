#include "run/flight.h"

#include <muster/flight.h>

#include <pthread.h>
#include <unistd.h>

_Static_assert(sizeof(flight_line) == sizeof(muster_flight_line), "a line is a cache line");
_Static_assert(offsetof(flight_line, agent) == offsetof(muster_flight_line, agent), "as the header says");
_Static_assert(offsetof(flight_line, place) == offsetof(muster_flight_line, place), "as the header says");
_Static_assert(offsetof(flight_line, frame) == offsetof(muster_flight_line, frame), "as the header says");
_Static_assert(offsetof(flight_line, thread) == offsetof(muster_flight_line, thread), "as the header says");
_Static_assert(offsetof(flight_line, signal) == offsetof(muster_flight_line, signal), "as the header says");
_Static_assert(offsetof(flight_line, kernel_thread) == offsetof(muster_flight_line, kernel_thread),
               "as the header says");

static uint64_t own_thread(void) {
  return (uint64_t)pthread_self();
}

void flight_begin(flight_line *line, uint64_t frame) {
  if (!line) return;
  store_relaxed_u64(&line->frame, frame);
  if (load_relaxed_u64(&line->thread) == own_thread()) return;
  store_relaxed_u64(&line->thread, own_thread());
  store_relaxed_u64(&line->kernel_thread, (uint64_t)gettid());
}

bool flight_mark(flight_line *lines, uint32_t count, int signal) {
  bool inside = false;
  for (uint32_t i = 0; i < count; i++) {
    if (load_relaxed_u64(&lines[i].thread) != own_thread() || !load_relaxed_u64(&lines[i].place)) continue;
    store_relaxed_u64(&lines[i].signal, (uint64_t)signal);
    inside = true;
  }
  return inside;
}
