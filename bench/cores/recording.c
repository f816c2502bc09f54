#include "cores_model.h"
#include "symbols.h"

#include "base/clock.h"
#include "run/runner.h"
#include "world/world.h"

#include <muster/report.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 1 << 18, PIECES_MAX = 1 << 20 };

struct cores_recording {
  struct timeline timeline;
  cores_step *steps; /* of a prediction */
  cpu_set_t allowed; /* to the caller, where it is to move; */
  int home;          /* and where it was when recording began */
};

/* Memory is touched here, so that frames need not. */
cores_recording *cores_recording_create(void) {
  cores_recording *recording = calloc(1, sizeof *recording);
  if (!recording) return NULL;
  struct timeline *timeline = &recording->timeline;
  timeline->steps = malloc(STEPS_MAX * sizeof *timeline->steps);
  timeline->pieces_ns = malloc(PIECES_MAX * sizeof *timeline->pieces_ns);
  recording->steps = malloc(STEPS_MAX * sizeof *recording->steps);
  if (timeline->steps && timeline->pieces_ns && recording->steps) {
    memset(timeline->steps, 1, STEPS_MAX * sizeof *timeline->steps);
    memset(timeline->pieces_ns, 1, PIECES_MAX * sizeof *timeline->pieces_ns);
    timeline->steps_max = STEPS_MAX;
    timeline->pieces_max = PIECES_MAX;
    return recording;
  }
  cores_recording_destroy(recording);
  return NULL;
}

void cores_recording_destroy(cores_recording *recording) {
  if (!recording) return;
  free(recording->timeline.steps);
  free(recording->timeline.pieces_ns);
  free(recording->steps);
  free(recording);
}

/* Takes the caller to the first allowed processor that is not its own, or home. It stays where there is none. */
static void recording_move(void *mover, bool away) {
  const cores_recording *recording = mover;
  cpu_set_t one;
  int to = away ? 0 : recording->home;
  while (away && to < CPU_SETSIZE && (to == recording->home || !CPU_ISSET(to, &recording->allowed))) to++;
  if (to == CPU_SETSIZE) return;
  CPU_ZERO(&one);
  CPU_SET(to, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static bool recording_finds_home(cores_recording *recording) {
  recording->home = sched_getcpu();
  return recording->home >= 0 && sched_getaffinity(0, sizeof recording->allowed, &recording->allowed) == 0;
}

void cores_record(cores_recording *recording, muster_world *world, bool moving) {
  struct timeline *timeline = &recording->timeline;
  timeline->clock = world->clock;
  timeline->step_count = timeline->piece_count = timeline->stage_first = 0;
  timeline->full = timeline->away = false;
  timeline->move = moving && recording_finds_home(recording) ? recording_move : NULL;
  timeline->mover = recording;
  world->runner->timeline = timeline;
}

void cores_freeze(cores_recording *recording, muster_world *world) {
  world->runner->timeline = NULL;
  if (recording->timeline.move) sched_setaffinity(0, sizeof recording->allowed, &recording->allowed);
}

void cores_drop_frame(cores_recording *recording) {
  struct timeline *timeline = &recording->timeline;
  timeline_step step;
  do {
    step = timeline->steps[--timeline->step_count];
    if (step.kind == TIMELINE_SECTION || step.kind == TIMELINE_CLAIMS) timeline->piece_count = step.first;
  } while (step.kind != TIMELINE_FRAME);
}

uint32_t cores_recorded_frames(const cores_recording *recording) {
  const struct timeline *timeline = &recording->timeline;
  uint32_t frames = 0;
  for (uint32_t i = 0; i < timeline->step_count; i++) frames += timeline->steps[i].kind == TIMELINE_FRAME;
  return timeline->full ? UINT32_MAX : frames;
}

static double *cores_part_of(cores_frame *frame, timeline_kind kind) {
  return kind == TIMELINE_SECTION ? &frame->sections : kind == TIMELINE_CLAIMS ? &frame->claims : NULL;
}

void cores_predict(const cores_recording *recording, const cores_costs *costs, uint32_t workers, cores_frame *frames) {
  const struct timeline *timeline = &recording->timeline;
  cores_model(timeline, costs, workers, recording->steps);
  cores_frame *frame = frames - 1;
  for (uint32_t i = 0; i < timeline->step_count; i++) {
    const cores_step *step = &recording->steps[i];
    if (timeline->steps[i].kind == TIMELINE_FRAME) *++frame = (cores_frame){0};
    frame->whole += step->wall;
    frame->alone += step->alone;
    if (timeline->steps[i].stage < MUSTER_STAGES) frame->stages[timeline->steps[i].stage] += step->wall;
    double *part = cores_part_of(frame, timeline->steps[i].kind);
    if (part) *part += step->wall;
  }
}

/* ------------------------------------------------------------------------------------------------------------ moves */

typedef double recorded_sums[CORES_STAGES][CORES_KINDS];

static void recording_sum(const cores_recording *recording, recorded_sums sums) {
  const struct timeline *timeline = &recording->timeline;
  for (uint32_t i = 0; i < timeline->step_count; i++)
    sums[timeline->steps[i].stage][timeline->steps[i].kind] += (double)timeline->steps[i].ns;
}

void cores_charge_moves(cores_costs *costs, const cores_recording *moving, const cores_recording *still) {
  recorded_sums moved = {{0}}, stayed = {{0}};
  recording_sum(moving, moved);
  recording_sum(still, stayed);
  for (uint32_t stage = 0; stage < CORES_STAGES; stage++)
    for (uint32_t kind = 0; kind < CORES_KINDS; kind++)
      costs->moved[stage][kind] = stayed[stage][kind] > 0 ? moved[stage][kind] / stayed[stage][kind] - 1 : 0;
}

/* -------------------------------------------------------------------------------------------------------- stretches */

static bool is_stretch(const cores_stretch *one, const cores_stretch *other) {
  bool named = one->name == other->name || (one->name && other->name && !strcmp(one->name, other->name));
  return named && one->stage == other->stage && one->before == other->before && one->shared == other->shared;
}

/* The stretch that is the same, known or new; null where there is no room for a new one. */
static cores_stretch *stretch_of(cores_stretch *stretches, uint32_t *count, const cores_stretch *same) {
  for (uint32_t i = 0; i < *count; i++)
    if (is_stretch(&stretches[i], same)) return &stretches[i];
  if (*count == CORES_STRETCHES_MAX) return NULL;
  stretches[*count] = *same;
  return &stretches[(*count)++];
}

static const char *section_name(const timeline_step *step) {
  const char *name = symbols_name((uintptr_t)step->work);
  return name ? name : "a section";
}

/* What the caller does alone and has no name is called after what follows; and where claims are offered already, it is
 * done while others may take some. */
static void name_alone(const timeline_step *step, bool last, bool offered, cores_stretch *stretch) {
  stretch->name = step->name;
  if (step->name || last) return;
  if (step[1].kind == TIMELINE_SECTION) stretch->name = section_name(step + 1);
  if (step[1].kind == TIMELINE_OFFER) stretch->name = offered ? "beside claims" : "claims";
  stretch->before = step[1].kind == TIMELINE_SECTION || (step[1].kind == TIMELINE_OFFER && !offered);
}

/* What a step is. `offered`: claims are. */
static cores_stretch stretch_at(const timeline_step *step, bool last, bool *offered) {
  cores_stretch stretch = {.stage = step->stage};
  stretch.shared = step->kind == TIMELINE_SECTION || step->kind == TIMELINE_CLAIMS;
  if (step->kind == TIMELINE_SECTION) stretch.name = section_name(step);
  if (step->kind == TIMELINE_CLAIMS) stretch.name = "claims";
  if (step->kind == TIMELINE_OFFER) stretch.name = "calls for help with claims";
  if (step->kind == TIMELINE_ALONE) name_alone(step, last, *offered, &stretch);
  if (step->kind == TIMELINE_OFFER) *offered = true;
  if (step->kind == TIMELINE_CLAIMS || step->kind == TIMELINE_FRAME) *offered = false;
  return stretch;
}

static int serial_first(const void *one, const void *other) {
  const cores_stretch *a = one, *b = other;
  if (a->shared != b->shared) return a->shared - b->shared;
  double a_ns = a->shared ? a->wall : a->alone, b_ns = b->shared ? b->wall : b->alone;
  return (a_ns < b_ns) - (a_ns > b_ns);
}

uint32_t cores_stretches(const cores_recording *recording, const cores_costs *costs, uint32_t workers,
                         cores_stretch stretches[CORES_STRETCHES_MAX]) {
  const struct timeline *timeline = &recording->timeline;
  uint32_t count = 0;
  double frames = cores_recorded_frames(recording);
  bool offered = false;
  cores_model(timeline, costs, workers, recording->steps);
  for (uint32_t i = 0; i < timeline->step_count; i++) {
    const timeline_step *step = &timeline->steps[i];
    cores_stretch same = stretch_at(step, i + 1 == timeline->step_count, &offered);
    cores_stretch *stretch = step->kind == TIMELINE_FRAME ? NULL : stretch_of(stretches, &count, &same);
    if (!stretch) continue;
    stretch->recorded += (double)step->ns / frames;
    stretch->wall += recording->steps[i].wall / frames;
    stretch->alone += recording->steps[i].alone / frames;
    if (!stretch->shared) continue;
    stretch->pieces += step->count / frames;
    stretch->workers += recording->steps[i].workers / frames;
  }
  qsort(stretches, count, sizeof *stretches, serial_first);
  return count;
}
