#include "plan/ease.h"

#include <math.h>

/* Where the lines between the steps lie in each bin: who of a bin has a hash below is down so far. */
typedef struct ease_lines {
  uint64_t down[IMPORTANCE_BINS][EASE_STEPS];
  uint64_t stays_down[IMPORTANCE_BINS][EASE_STEPS];
} ease_lines;

static const double step_apart = 0.25, top = 0.9;
static const double calm_part = 0.5; /* of the pressure from which levels fall */
static const double nearly = 1.0 - 1e-6;
static const uint32_t patience_least = 4, patience_most = 256, relapse_rounds = 32;

void ease_create(struct ease *ease, double from) {
  *ease = (struct ease){.from = from, .patience = patience_least};
}

void ease_note(struct ease *ease, double pressure, bool gives_way) {
  if (ease->from == 0.0) return;
  ease->pressure += (fmin(pressure, 2.0) - ease->pressure) / 4.0;
  ease->gives_way = gives_way;
}

/* Whether somebody must give way, and whether there is no need of it. */
static bool is_pressed(const struct ease *ease) {
  return ease->pressure > ease->from && ease->gives_way;
}

static bool is_calm(const struct ease *ease) {
  return ease->pressure < ease->from * calm_part;
}

/* The share of the population that is `step` + 1 levels down, or more. */
static double share_down(double depth, uint32_t step) {
  double others = fmin(fmax(depth - step_apart * step, 0.0), top);
  return depth > EASE_OTHERS ? top + fmin(depth - EASE_OTHERS, 1.0 - top) : others;
}

/* The part of a bin that lies below a line, in 2^32ths. */
static uint64_t part_below(double line, double below, double count) {
  double part = count > 0.0 ? (line - below) / count : line > below ? 1.0 : 0.0;
  return (uint64_t)(fmin(fmax(part, 0.0), 1.0) * 0x1p32);
}

static void draw_bin(const struct ease *ease, double below, double count, double population, uint64_t down[EASE_STEPS],
                     uint64_t stays_down[EASE_STEPS]) {
  for (uint32_t step = 0; step < EASE_STEPS; step++) {
    double share = share_down(ease->depth, step), band = share > 0.0 ? EASE_BAND : 0.0;
    if (share < top && share + band > top) band = top - share; /* never into the top tenth by this */
    down[step] = part_below(share * population, below, count);
    stays_down[step] = part_below((share + band) * population, below, count);
  }
}

static void draw_lines(const struct ease *ease, const score_board *board, uint32_t population, ease_lines *lines) {
  double below = 0.0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) {
    double count = board->importance[bin];
    draw_bin(ease, below, count, population, lines->down[bin], lines->stays_down[bin]);
    below += count;
  }
}

static uint32_t steps_below(const uint64_t down[EASE_STEPS], const uint64_t stays_down[EASE_STEPS], uint32_t index,
                            uint32_t now) {
  uint32_t spread = index * 2654435761u, wanted = 0; /* Fibonacci hashing */
  for (uint32_t step = 0; step < EASE_STEPS; step++) wanted += spread < (step < now ? stays_down : down)[step];
  return wanted;
}

uint32_t ease_wanted(const struct ease *ease, const score_board *board, uint32_t population, uint16_t importance,
                     uint32_t index, uint32_t down) {
  ease_lines lines;
  draw_lines(ease, board, population, &lines);
  return steps_below(lines.down[importance >> 8], lines.stays_down[importance >> 8], index, down);
}

/* --------------------------------------------------------------------------------------------------------- the depth
 */

static void begin_round(struct ease *ease, const agent_store *store) {
  ease->left = store->high;
}

static void go_down(struct ease *ease) {
  double by = fmin(fmax((ease->pressure - ease->from) * 0.6, 0.02), 0.3);
  if (ease->relapsed && ease->patience < patience_most) ease->patience *= 2;
  ease->relapsed = false;
  ease->calm = 0;
  ease->depth = fmin(ease->depth + by, EASE_DEEPEST);
  ease->downs++;
}

static void come_up(struct ease *ease) {
  double by = fmin(fmax((ease->from * calm_part - ease->pressure) * 0.4, 0.01), 0.12);
  ease->depth = fmax(ease->depth - by, 0.0);
  ease->relapsed = true;
  ease->calm = ease->since_up = 0;
  ease->ups++;
}

/* Everybody has been looked at, and the fit has had time to follow. */
static void step(struct ease *ease) {
  ease->frames = 0;
  if (ease->relapsed && ++ease->since_up == relapse_rounds) {
    ease->relapsed = false;
    if (ease->patience > patience_least) ease->patience /= 2;
  }
  if (ease->from == 0.0) {
    ease->depth = 0.0; /* switched off */
  } else if (is_pressed(ease)) {
    if (ease->depth < EASE_DEEPEST) go_down(ease);
  } else if (!is_calm(ease)) {
    ease->calm = 0;
  } else if (ease->depth > 0.0) {
    ease->calm += ease->pressure < ease->from * 0.2 ? 4 : 1; /* next to none: the load has gone */
    if (ease->calm >= ease->patience) come_up(ease);
  }
}

/* -------------------------------------------------------------------------------------------------------- the agents
 */

static void ease_look_at(struct ease *ease, const score_board *board, const score_inputs *inputs,
                         const ease_lines *lines, uint32_t index) {
  agent_store *store = inputs->store;
  const agent_row *row = &store->rows[index];
  const grade_type *type = &board->types[row->type];
  uint32_t bin = row->importance >> 8, now = store->eased[index];
  if (type->level_count < 2 || row->status == AGENT_ADMITTED) return; /* the latter may be running */
  uint32_t wanted = row->elasticity_step == 0 ? 0 : steps_below(lines->down[bin], lines->stays_down[bin], index, now);
  if (wanted > now && inputs->classes->classes[row->class].rate >= nearly) return; /* it has its wanted period */
  if (wanted > now && row->level + 1u == type->level_count) return;                /* there is nothing cheaper */
  if (wanted == now) return;
  grade_change change;
  ease->eased += (wanted > 0) - (now > 0);
  ease->changes++;
  if (grade_ease(inputs->classes, type, store, index, (uint8_t)wanted, &change))
    grade_apply(inputs->classes, inputs->types, store, inputs->ready, &change);
}

void ease_run(struct ease *ease, score_board *board, const score_inputs *inputs, uint32_t looks) {
  enum { SETTLING_FRAMES = 30 };
  const agent_store *store = inputs->store;
  if (!(ease->from > 0.0 && is_pressed(ease)) && ease->depth == 0.0 && ease->eased == 0) return;
  ease->frames++;
  if (ease->left == 0) {
    if (ease->frames >= SETTLING_FRAMES) step(ease);
    begin_round(ease, store);
    ease->cursor = 0;
  }
  ease_lines lines;
  draw_lines(ease, board, store->active_count, &lines);
  for (uint32_t looked = 0; ease->left > 0 && looked < looks; looked++) {
    uint32_t index = store_next_active(store, ease->cursor);
    if (index == UINT32_MAX || index - ease->cursor >= ease->left) {
      ease->left = 0;
      break;
    }
    ease->left -= index - ease->cursor + 1;
    ease->cursor = index + 1;
    ease_look_at(ease, board, inputs, &lines, index);
  }
}
