#include "progress.h"

#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const uint64_t terminal_interval_ns = 100000000, other_interval_ns = 5000000000;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

progress progress_begin(void) {
  progress progress = {.terminal = isatty(STDERR_FILENO)};
  progress.interval_ns = progress.terminal ? terminal_interval_ns : other_interval_ns;
  progress.next_ns = now_ns() + progress.interval_ns;
  return progress;
}

bool progress_is_due(progress *progress) {
  uint64_t now = now_ns();
  if (now < progress->next_ns) return false;
  progress->next_ns = now + progress->interval_ns;
  return true;
}

void progress_show(progress *progress, uint64_t frame, uint64_t of, const muster_frame_report *report) {
  if (!progress_is_due(progress)) return;
  char agents[TEXT_BYTES], wall[TEXT_BYTES], count[64];
  if (of)
    snprintf(count, sizeof count, "frame %" PRIu64 " of %" PRIu64, frame, of);
  else
    snprintf(count, sizeof count, "warming up, frame %" PRIu64, frame);
  fprintf(stderr, "%s%s: %s agents, pressure %.2f, frame time %s%s", progress->terminal ? "\r" : "", count,
          text_count(agents, report->agents), (double)report->pressure, text_duration(wall, (double)report->wall_ns),
          progress->terminal ? "\033[K" : "\n");
  progress->shown = true;
}

void progress_end(progress *progress) {
  if (progress->terminal && progress->shown) fprintf(stderr, "\r\033[K");
  progress->shown = false;
}
