#include "pacing.h"

#include "base/clock.h"

#include <errno.h>
#include <time.h>

static const uint64_t second_ns = 1000000000u;

struct pacing pacing_begin(uint64_t rate, bool paced) {
  return (struct pacing){.rate = rate, .paced = paced, .start_ns = clock_system()};
}

uint64_t pacing_sim_time(const struct pacing *pacing, uint64_t number) {
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)number * 1000 * second_ns / pacing->rate);
}

void pacing_wait(struct pacing *pacing, uint64_t number) {
  if (!pacing->paced) return;
  uint64_t due_ns = pacing->start_ns + pacing_sim_time(pacing, number), now = clock_system();
  if (now >= due_ns) {
    if (now - due_ns > pacing_sim_time(pacing, 1)) pacing->start_ns += now - due_ns;
    return;
  }
  struct timespec until = {.tv_sec = (time_t)(due_ns / second_ns), .tv_nsec = (long)(due_ns % second_ns)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

uint64_t pacing_spare_ns(const struct pacing *pacing, uint64_t number) {
  uint64_t due_ns = pacing->start_ns + pacing_sim_time(pacing, number), now = clock_system();
  return pacing->paced && due_ns > now ? due_ns - now : 0;
}
