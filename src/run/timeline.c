#include "run/timeline.h"

#include <muster/report.h>

#include <stddef.h>

/* The time since the last call. */
static uint64_t timeline_passed(struct timeline *timeline) {
  uint64_t now_ns = clock_now(timeline->clock), passed_ns = now_ns - timeline->last_ns;
  timeline->last_ns = now_ns;
  return passed_ns > timeline->clock->read_ns ? passed_ns - timeline->clock->read_ns : 0;
}

static void timeline_add(struct timeline *timeline, timeline_step step) {
  step.stage = MUSTER_STAGES;
  step.first = timeline->piece_count;
  timeline->full |= timeline->step_count == timeline->steps_max;
  if (!timeline->full) timeline->steps[timeline->step_count++] = step;
}

static void timeline_add_piece(struct timeline *timeline) {
  uint64_t passed_ns = timeline_passed(timeline);
  timeline->full |= timeline->piece_count == timeline->pieces_max || passed_ns > UINT32_MAX;
  if (timeline->full) return;
  timeline_step *step = &timeline->steps[timeline->step_count - 1];
  timeline->pieces_ns[timeline->piece_count++] = (uint32_t)passed_ns;
  step->count++;
  step->ns += passed_ns;
}

static void timeline_note(struct timeline *timeline, const char *name) {
  timeline_add(timeline, (timeline_step){.kind = TIMELINE_ALONE, .name = name, .ns = timeline_passed(timeline)});
}

void timeline_begin_frame(struct timeline *timeline) {
  if (!timeline) return;
  timeline_passed(timeline);
  timeline->stage_first = timeline->step_count + 1;
  timeline_add(timeline, (timeline_step){.kind = TIMELINE_FRAME});
}

void timeline_end_frame(struct timeline *timeline) {
  timeline_alone(timeline, NULL);
}

void timeline_end_stage(struct timeline *timeline, uint32_t stage) {
  if (!timeline) return;
  timeline_note(timeline, NULL);
  for (; timeline->stage_first < timeline->step_count; timeline->stage_first++)
    timeline->steps[timeline->stage_first].stage = stage;
}

void timeline_alone(struct timeline *timeline, const char *name) {
  if (timeline) timeline_note(timeline, name);
}

void timeline_section(struct timeline *timeline, part_work work, uint64_t work_ns, uint64_t worth_ns) {
  timeline_note(timeline, NULL);
  timeline_add(timeline,
               (timeline_step){.kind = TIMELINE_SECTION, .work = work, .work_ns = work_ns, .worth_ns = worth_ns});
}

void timeline_offer(struct timeline *timeline, uint32_t claims, uint64_t work_ns, uint64_t worth_ns) {
  if (!timeline) return;
  timeline_note(timeline, NULL);
  timeline->offered = claims;
  timeline_add(timeline,
               (timeline_step){.kind = TIMELINE_OFFER, .count = claims, .work_ns = work_ns, .worth_ns = worth_ns});
}

void timeline_run(struct timeline *timeline) {
  timeline_add_piece(timeline);
}

/* Claims are done in turns, here and there. Few turns: what the kernel does to move a thread leaves caches cold. */
static void timeline_take_turns(struct timeline *timeline) {
  enum { TURNS = 16 };
  if (timeline->full || !timeline->offered) return;
  uint64_t done = timeline->steps[timeline->step_count - 1].count;
  timeline_place(timeline, done * TURNS / timeline->offered % 2);
}

void timeline_claim(struct timeline *timeline) {
  if (!timeline) return;
  if (!timeline->step_count || timeline->steps[timeline->step_count - 1].kind != TIMELINE_CLAIMS)
    timeline_add(timeline, (timeline_step){.kind = TIMELINE_CLAIMS});
  timeline_add_piece(timeline);
  timeline_take_turns(timeline);
}

void timeline_place(struct timeline *timeline, bool away) {
  if (!timeline || !timeline->move || timeline->away == away) return;
  uint64_t begin_ns = clock_now(timeline->clock);
  timeline->move(timeline->mover, away);
  timeline->away = away;
  timeline->last_ns += clock_now(timeline->clock) - begin_ns;
}
