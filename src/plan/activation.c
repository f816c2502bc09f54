#include "plan/activation.h"

#include "base/assert.h"

#include <stdlib.h>

void activation_create(activation_book *book, uint32_t delay_max, uint32_t agents_max, struct arena *arena) {
  *book = (activation_book){.delay_max = delay_max, .sharers = 1};
  if (!delay_max) return;
  ARENA_ARRAY(arena, book->reserved_ns, ACTIVATION_BEATS);
  ARENA_ARRAY(arena, book->shares, ACTIVATION_SHARES);
  ARENA_ARRAY(arena, book->reservations, agents_max);
  for (uint32_t i = 0; book->shares && i < ACTIVATION_SHARES; i++) book->shares[i].first = ACTIVATION_BEATS;
}

/* Moves what a share has added into the book. */
static void fold_in(activation_book *book, activation_share *share) {
  for (uint32_t ahead = share->first; ahead < share->end; ahead++) {
    uint32_t slot = (book->beat + ahead) % ACTIVATION_BEATS;
    book->reserved_ns[slot] += share->reserved_ns[slot];
    share->reserved_ns[slot] = 0;
  }
  share->first = ACTIVATION_BEATS;
  share->end = 0;
}

/* Clears the beats that are over. */
static void pass_beats(activation_book *book, uint32_t count) {
  uint32_t cleared = count < ACTIVATION_BEATS ? count : ACTIVATION_BEATS;
  for (uint32_t i = 1; i <= cleared; i++) book->reserved_ns[(book->beat + i) % ACTIVATION_BEATS] = 0;
  book->beat += count;
}

bool activation_pace_is_possible(const activation_pace *pace) {
  return pace->beat_ns >= 0.0 && pace->beat_ns < 1e15 && pace->beats_per_ns >= 0.0 && pace->beats_per_ns <= 1e9 &&
         pace->late >= -0.5 && pace->late <= 0.5;
}

activation_pace activation_pace_of(double beat_ns, double late) {
  return (activation_pace){beat_ns, beat_ns > 0 ? 1.0 / beat_ns : 0.0, late};
}

/* A pause of the host counts as two beats at most, and a new frame rate is learnt within a second. Each call brings the
 * end of the beat nearer to the end of the frame. */
void activation_pace_on(activation_pace *pace, uint64_t elapsed_ns, uint32_t beats) {
  const double part = 1.0 / 8.0;
  double frame_ns = (double)elapsed_ns, passed = pace->late + frame_ns * pace->beats_per_ns - (double)beats;
  if (frame_ns > 2 * pace->beat_ns) frame_ns = 2 * pace->beat_ns;
  pace->beat_ns += (frame_ns - pace->beat_ns) * part;
  passed *= 1.0 - part;
  *pace = activation_pace_of(pace->beat_ns, passed < -0.5 ? -0.5 : passed < 0.5 ? passed : 0.5);
}

uint32_t activation_turn(activation_book *book, uint64_t elapsed_ns) {
  for (uint32_t i = 0; i < ACTIVATION_SHARES; i++) fold_in(book, &book->shares[i]);
  book->sharers = 1;
  if (elapsed_ns == 0) return 0;
  if (book->pace.beat_ns == 0) book->pace = activation_pace_of((double)elapsed_ns, 0.0);
  double passed = book->pace.late + (double)elapsed_ns * book->pace.beats_per_ns + 0.5;
  uint32_t beats = passed < 1e9 ? (uint32_t)passed : 1000000000u;
  pass_beats(book, beats);
  activation_pace_on(&book->pace, elapsed_ns, beats);
  return beats;
}

void activation_share_out(activation_book *book, const uint32_t wanted[ACTIVATION_SHARES]) {
  book->sharers = 0;
  for (uint32_t i = 0; i < ACTIVATION_SHARES; i++) book->sharers += wanted[i] > 0;
}

int64_t activation_reserved_ns(const activation_book *book, uint32_t beat) {
  int64_t reserved_ns = book->reserved_ns[beat % ACTIVATION_BEATS];
  for (uint32_t i = 0; i < ACTIVATION_SHARES; i++) reserved_ns += book->shares[i].reserved_ns[beat % ACTIVATION_BEATS];
  return reserved_ns;
}

uint32_t activation_cycle(const uint32_t *periods, uint32_t count, uint32_t most) {
  uint64_t cycle = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t a = cycle, b = periods[i];
    while (b) {
      uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    cycle = cycle / a * periods[i];
    if (cycle >= most) return most;
  }
  return (uint32_t)cycle;
}

/* What all frames are to run, so that an agent can judge the frames that it would use. */
typedef struct offline_plan {
  const uint32_t *periods;
  const float *costs;
  uint32_t horizon, delay_max;
  double *load; /* by frame */
} offline_plan;

typedef struct judgement {
  double peak, mean;
} judgement;

static judgement judge(const offline_plan *plan, uint32_t period, uint32_t delay) {
  double peak = 0, sum = 0, frames = 0;
  for (uint64_t t = delay; t < plan->horizon; t += period) {
    if (plan->load[t] > peak) peak = plan->load[t];
    sum += plan->load[t];
    frames++;
  }
  return (judgement){peak, frames > 0 ? sum / frames : 0};
}

static void book(const offline_plan *plan, uint32_t agent, uint32_t delay, double cost) {
  for (uint64_t t = delay; t < plan->horizon; t += plan->periods[agent]) plan->load[t] += cost;
}

/* The delay with the lowest peak; among equals the lowest load, then the shortest. */
static uint32_t best_delay(const offline_plan *plan, uint32_t agent) {
  uint32_t best = 0;
  judgement least = judge(plan, plan->periods[agent], 0);
  for (uint32_t delay = 1; delay <= plan->delay_max && delay < plan->periods[agent]; delay++) {
    judgement found = judge(plan, plan->periods[agent], delay);
    if (found.peak > least.peak || (found.peak == least.peak && found.mean >= least.mean)) continue;
    best = delay;
    least = found;
  }
  return best;
}

typedef struct dear_agent {
  float cost;
  uint32_t period, agent;
} dear_agent;

static int by_cost(const void *left, const void *right) {
  const dear_agent *a = left, *b = right;
  if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
  if (a->period != b->period) return a->period > b->period ? -1 : 1;
  return a->agent < b->agent ? -1 : a->agent > b->agent;
}

/* Takes every agent out once and puts it where it is best; returns how many agents found another place. */
static uint32_t improve(const offline_plan *plan, const dear_agent *order, uint32_t count, uint32_t *delays) {
  uint32_t moved = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t agent = order[i].agent, before = delays[agent];
    book(plan, agent, before, -(double)order[i].cost);
    judgement here = judge(plan, order[i].period, before);
    uint32_t best = best_delay(plan, agent);
    judgement there = judge(plan, order[i].period, best);
    bool better = there.peak < here.peak || (there.peak == here.peak && there.mean < here.mean);
    if (better) delays[agent] = best;
    moved += better;
    book(plan, agent, delays[agent], (double)order[i].cost);
  }
  return moved;
}

bool activation_plan_offline(const uint32_t *periods, const float *costs, uint32_t count, uint32_t delay_max,
                             uint32_t horizon, uint32_t *delays) {
  enum { PASSES = 8 };
  ASSERT(horizon >= 1 && horizon <= ACTIVATION_HORIZON_MAX);
  offline_plan plan = {periods, costs, horizon, delay_max, calloc(horizon, sizeof *plan.load)};
  dear_agent *order = malloc((count ? count : 1) * sizeof *order);
  bool fits = plan.load && order;
  for (uint32_t i = 0; fits && i < count; i++) order[i] = (dear_agent){costs[i], periods[i], i};
  if (fits) qsort(order, count, sizeof *order, by_cost);
  for (uint32_t i = 0; fits && i < count; i++) {
    uint32_t agent = order[i].agent;
    delays[agent] = best_delay(&plan, agent);
    book(&plan, agent, delays[agent], (double)costs[agent]);
  }
  for (uint32_t pass = 0; fits && pass < PASSES; pass++)
    if (improve(&plan, order, count, delays) == 0) break;
  free(order);
  free(plan.load);
  return fits;
}
