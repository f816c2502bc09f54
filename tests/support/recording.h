/* tests/support/recording.h - a record in memory, and what the recorded run came to frame by frame. */
#ifndef RECORDING_H
#define RECORDING_H

#include "support/little_world.h"

#include <muster/record.h>

#include <stdlib.h>
#include <unistd.h>

enum { RECORDED_FRAMES_MAX = 256 };

struct recorded {
  unsigned char *bytes;
  size_t count, capacity;
  uint32_t frames;
  uint64_t hashes[RECORDED_FRAMES_MAX];
  muster_frame_report reports[RECORDED_FRAMES_MAX];
  muster_statistics sums;
};

static inline bool recorded_write(const void *bytes, size_t count, void *user) {
  struct recorded *run = user;
  if (run->count + count > run->capacity) {
    run->capacity = (run->count + count) * 2;
    run->bytes = realloc(run->bytes, run->capacity);
  }
  memcpy(run->bytes + run->count, bytes, count);
  run->count += count;
  return true;
}

static inline void recorded_begin(struct recorded *run, muster_world *world) {
  muster_record_def def = muster_record_def_default();
  *run = (struct recorded){0};
  def.write = recorded_write;
  def.user = run;
  def.hash_every = 1;
  cr_assert_eq(muster_record_begin(world, &def), MUSTER_OK, "%s", muster_last_error());
}

static inline void recorded_note(struct recorded *run, const little_world *little, muster_frame_report report) {
  run->hashes[run->frames] = muster_world_hash(little->world);
  run->reports[run->frames++] = report;
}

static inline void recorded_end(struct recorded *run, muster_world *world) {
  muster_record_status status = muster_record_status_default();
  muster_record_status_read(world, &status);
  cr_assert_eq(status.frames, run->frames, "the recording ended: %s", status.ended_by);
  cr_assert_eq(muster_record_end(world), MUSTER_OK, "%s", muster_last_error());
  run->sums = muster_statistics_default();
  muster_statistics_read(world, &run->sums);
}

static inline void recorded_replay(const struct recorded *run, muster_world *world) {
  muster_replay_def def = muster_replay_def_default();
  def.bytes = run->bytes;
  def.count = run->count;
  cr_assert_eq(muster_replay_begin(world, &def), MUSTER_OK, "%s", muster_last_error());
}

static inline void recorded_forget(struct recorded *run) {
  free(run->bytes);
  *run = (struct recorded){0};
}

#endif
