/* tests/support/recording.h - a record in memory, and what the recorded run came to frame by frame. */
#ifndef RECORDING_H
#define RECORDING_H

#include "support/little_world.h"

#include <muster/record.h>
#include <muster/tune.h>

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

static inline muster_result record_with(muster_world *world, muster_record_def def) {
  return muster_record_begin(world, &def);
}

/* How a recording in memory begins. */
static inline muster_record_def record_into(struct recorded *run) {
  return WITH(muster_record_def, it.write = recorded_write, it.user = run, it.hash_every = 1);
}

static inline void recorded_begin(struct recorded *run, muster_world *world) {
  *run = (struct recorded){0};
  cr_assert_eq(record_with(world, record_into(run)), MUSTER_OK, "%s", muster_last_error());
}

static inline void recorded_note(struct recorded *run, const little_world *little, muster_frame_report report) {
  run->hashes[run->frames] = muster_world_hash(little->world);
  run->reports[run->frames++] = report;
}

static inline muster_record_status record_status_of(const muster_world *world) {
  muster_record_status status = muster_record_status_default();
  cr_assert_eq(muster_record_status_read(world, &status), MUSTER_OK, "%s", muster_last_error());
  return status;
}

static inline void recorded_end(struct recorded *run, muster_world *world) {
  muster_record_status status = record_status_of(world);
  cr_assert_eq(status.frames, run->frames, "the recording ended: %s", status.ended_by);
  cr_assert_eq(muster_record_end(world), MUSTER_OK, "%s", muster_last_error());
  run->sums = muster_statistics_default();
  muster_statistics_read(world, &run->sums);
}

/* Frames of the same budget, as many as that. */
static inline void record_frames(struct recorded *run, little_world *little, uint32_t frames, uint64_t budget_ns) {
  for (uint32_t i = 0; i < frames; i++) recorded_note(run, little, run_frame_with(little, budget_ns));
}

static inline muster_record_info record_look(const void *bytes, size_t count) {
  muster_record_info info = muster_record_info_default();
  cr_assert_eq(muster_record_look(bytes, count, &info, NULL), MUSTER_OK, "%s", muster_last_error());
  return info;
}

static inline muster_result replay_with(muster_world *world, muster_replay_def def) {
  return muster_replay_begin(world, &def);
}

static inline muster_replay_def replay_of(const struct recorded *run) {
  return WITH(muster_replay_def, it.bytes = run->bytes, it.count = run->count);
}

static inline void recorded_replay(const struct recorded *run, muster_world *world) {
  cr_assert_eq(replay_with(world, replay_of(run)), MUSTER_OK, "%s", muster_last_error());
}

/* Replays a frame of the record, which has begun: the world is as it was then. Returns the frame's report. */
static inline muster_frame_report recorded_follow(const struct recorded *run, muster_world *world, uint32_t frame) {
  muster_frame_report report = muster_frame_report_default();
  uint32_t workers = muster_world_workers(world);
  cr_assert_eq(muster_replay_frame(world), MUSTER_OK, "%u workers: %s", workers, muster_last_error());
  cr_assert_eq(muster_world_hash(world), run->hashes[frame], "%u workers, frame %u", workers, frame + 1);
  muster_frame_report_read(world, &report);
  return report;
}

static inline void recorded_forget(struct recorded *run) {
  free(run->bytes);
  *run = (struct recorded){0};
}

#endif
