#include "replication.h"

#include "readers.h"
#include "rounds.h"
#include "work.h"

#include <stdlib.h>

enum { WARM_UP = 24, FRAMES_MOST = REPLICATION_ROUND * REPLICATION_ROUNDS_MOST };

/* Figures of the measured frames. */
struct figures {
  double ns[FRAMES_MOST];
  uint32_t count;
};

struct replication {
  muster_pool *pool;
  work_threads threads;
  struct walkers worlds[2]; /* without changes, and with them */
  struct reader readers[READERS];
  struct sender sender;
  struct figures read[READERS], send[SENDERS], frames[2], added;
  double updates, changed, sent[SENDERS];
};

static bool open_all(struct replication *all, const replication_row *row) {
  muster_pool_def pool = muster_pool_def_default();
  uint64_t period_ns = (uint64_t)(1e9 / 30 * row->agents / row->updates_wanted);
  pool.workers = row->workers;
  all->pool = muster_pool_create(&pool);
  if (!all->pool) return false;
  work_threads_find(&all->threads);
  for (uint32_t i = 0; i < 2; i++)
    if (!walkers_open(&all->worlds[i], all->pool, row->agents, row->observers, period_ns, i)) return false;
  for (uint32_t i = 0; i < READERS; i++)
    if (!reader_open(&all->readers[i], (replication_reader)i, all->worlds[1].agents_max)) return false;
  return sender_open(&all->sender, all->worlds[1].agents_max);
}

static void close_all(struct replication *all) {
  for (uint32_t i = 0; i < 2; i++) walkers_close(&all->worlds[i]);
  for (uint32_t i = 0; i < READERS; i++) reader_close(&all->readers[i]);
  sender_close(&all->sender);
  muster_pool_destroy(all->pool);
}

static void note(struct figures *figures, double ns) {
  figures->ns[figures->count++] = ns;
}

/* Frames of both worlds, in turns, always in this order, so that each finds the caches as the other leaves them. Nobody
 * reads them: readers would leave one of them in the caches. */
static const char *run_frames(struct replication *all, uint32_t frames) {
  double cpu_ns[2];
  for (uint32_t frame = 0; frame < WARM_UP + frames; frame++) {
    for (uint32_t i = 0; i < 2; i++) {
      uint64_t begin_ns = work_threads_cpu(&all->threads);
      if (!walkers_frame(&all->worlds[i])) return muster_last_error();
      cpu_ns[i] = (double)(work_threads_cpu(&all->threads) - begin_ns);
    }
    if (frame < WARM_UP) continue;
    for (uint32_t i = 0; i < 2; i++) note(&all->frames[i], cpu_ns[i]);
    note(&all->added, cpu_ns[1] - cpu_ns[0]);
  }
  return NULL;
}

/* All read; the first is timed when it is wanted. False when they do not find the same. */
static bool read_all(struct replication *all, uint32_t frame, bool timed) {
  for (uint32_t i = 0; i < READERS; i++) {
    struct reader *reader = &all->readers[(frame + i) % READERS];
    uint64_t begin_ns = work_now();
    if (!reader_read(reader, &all->worlds[1])) return false;
    if (timed && i == 0) note(&all->read[reader->way], (double)(work_now() - begin_ns));
  }
  const struct reader *readers = all->readers;
  for (uint32_t i = 1; i < READERS; i++)
    if (readers[i].moved != readers[0].moved || readers[i].gone != readers[0].gone) return false;
  return true;
}

static void send_all(struct replication *all, uint32_t frame) {
  for (uint32_t i = 0; i < SENDERS; i++) {
    uint32_t way = (frame + i) % SENDERS;
    uint64_t begin_ns = work_now();
    all->sent[way] +=
        (double)sender_send(&all->sender, (replication_sender)way, &all->readers[READER_CHANGES], &all->worlds[1]);
    note(&all->send[way], (double)(work_now() - begin_ns));
  }
}

/* Frames of the world that keeps changes, each of which all read. */
static const char *run_readers(struct replication *all, uint32_t frames) {
  for (uint32_t frame = 0; frame < WARM_UP + frames; frame++) {
    bool timed = frame >= WARM_UP;
    if (!walkers_frame(&all->worlds[1])) return muster_last_error();
    if (!read_all(all, frame, timed)) return "the ways to read do not find the same changes";
    if (!timed) continue;
    send_all(all, frame);
    all->updates += all->worlds[1].report.completed;
    all->changed += all->readers[READER_CHANGES].changed;
  }
  return NULL;
}

static const char *run_all(struct replication *all, uint32_t frames) {
  const char *wrong = run_frames(all, frames);
  return wrong ? wrong : run_readers(all, frames);
}

static replication_time time_of(struct figures *figures) {
  replication_time time = {.median_ns = rounds_median(figures->ns, figures->count)};
  time.lowest_ns = time.highest_ns = figures->ns[0];
  for (uint32_t i = 0; i < figures->count; i++) {
    if (figures->ns[i] < time.lowest_ns) time.lowest_ns = figures->ns[i];
    if (figures->ns[i] > time.highest_ns) time.highest_ns = figures->ns[i];
  }
  return time;
}

static void summarise(struct replication *all, replication_row *row, uint32_t frames) {
  for (uint32_t i = 0; i < READERS; i++) row->readers[i] = time_of(&all->read[i]);
  for (uint32_t i = 0; i < READERS; i++)
    row->times_cheaper[i] = row->readers[i].median_ns / row->readers[READER_CHANGES].median_ns;
  for (uint32_t i = 0; i < SENDERS; i++) row->senders[i] = time_of(&all->send[i]);
  for (uint32_t i = 0; i < SENDERS; i++) row->sent[i] = all->sent[i] / frames;
  for (uint32_t i = 0; i < 2; i++) row->frame_ns[i] = time_of(&all->frames[i]).median_ns;
  row->added_ns = time_of(&all->added).median_ns;
  row->updates = all->updates / frames;
  row->changed = all->changed / frames;
}

const char *replication_measure(replication_row *row) {
  struct replication *all = calloc(1, sizeof *all);
  uint32_t frames = row->rounds * REPLICATION_ROUND;
  if (!all) return "out of memory";
  const char *wrong = open_all(all, row) ? run_all(all, frames) : muster_last_error();
  if (!wrong) summarise(all, row, frames);
  close_all(all);
  free(all);
  return wrong;
}
