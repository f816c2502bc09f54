#include "plan/shedding.h"

#include "agents/types.h"
#include "base/assert.h"
#include "plan/classes.h"

#include <math.h>
#include <string.h>

static const double step_apart = 0.25, top = 0.9;
static const double calm_part = 0.5; /* of the pressure from which levels fall */
static const double nearly = 1.0 - 1e-6;
static const double few = 0.005; /* of the population: so few with something to give are no beginning */
static const uint32_t patience_least = 4, patience_most = 256, relapse_rounds = 32;

void shedding_create(struct shedding *shedding, double from) {
  *shedding = (struct shedding){.from = from, .patience = patience_least};
}

void shedding_note(struct shedding *shedding, double pressure, bool gives_way) {
  if (shedding->from == 0.0) return;
  shedding->pressure += (fmin(pressure, 2.0) - shedding->pressure) / 4.0;
  shedding->gives_way = gives_way;
}

/* Whether levels must fall (is_pressed), or may rise (is_calm). */
static bool is_pressed(const struct shedding *shedding) {
  return shedding->pressure > shedding->from && shedding->gives_way;
}

static bool is_calm(const struct shedding *shedding) {
  return shedding->pressure < shedding->from * calm_part;
}

/* The share of the population that is `step` + 1 levels down, or more. */
static double share_down(double depth, uint32_t step) {
  double others = fmin(fmax(depth - step_apart * step, 0.0), top);
  return depth > SHEDDING_OTHERS ? top + fmin(depth - SHEDDING_OTHERS, 1.0 - top) : others;
}

static void draw_lines(const struct shedding *shedding, const score_board *board, uint32_t population,
                       shedding_lines *lines) {
  double below = 0.0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) {
    lines->below[bin] = below;
    below += board->importance[bin];
  }
  for (uint32_t step = 0; step < SHEDDING_STEPS; step++) {
    double share = share_down(shedding->depth, step), band = share > 0.0 ? SHEDDING_BAND : 0.0;
    if (share < top && share + band > top) band = top - share; /* never into the top tenth by this */
    lines->down[step] = share * population;
    lines->stays_down[step] = (share + band) * population;
  }
}

/* Whether an agent of a bin is below a line. In the bin where the line lies its hash decides, `spread` in 2^32ths. */
static bool is_below(double line, double below, uint32_t count, uint32_t spread) {
  if (line <= below) return false;
  if (line - below >= count) return true;
  return spread < (uint64_t)((line - below) / count * 0x1p32);
}

static uint32_t steps_below(const shedding_lines *lines, const score_board *board, uint32_t bin, uint32_t index,
                            uint32_t now) {
  uint32_t spread = index * 2654435761u, wanted = 0; /* Fibonacci hashing */
  for (uint32_t step = 0; step < SHEDDING_STEPS; step++) {
    double line = (step < now ? lines->stays_down : lines->down)[step];
    wanted += is_below(line, lines->below[bin], board->importance[bin], spread);
  }
  return wanted;
}

uint32_t shedding_wanted(const struct shedding *shedding, const score_board *board, uint32_t population,
                         uint16_t importance, uint32_t index, uint32_t down) {
  shedding_lines lines;
  draw_lines(shedding, board, population, &lines);
  return steps_below(&lines, board, importance >> 8, index, down);
}

/* -------------------------------------------------------------------------------------------------------- the depth */

static void begin_round(struct shedding *shedding, const agent_store *store) {
  shedding->left = store->high;
  memset(shedding->gives, 0, sizeof shedding->gives);
}

/* The share of the population that is less important than those that have something to give. */
static double begins_at(const struct shedding *shedding, const score_board *board) {
  double population = board->inputs.store->active_count, below = 0.0, gives = 0.0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) {
    if ((gives += shedding->gives[bin]) > few * population) return fmin(below / population, top);
    below += board->importance[bin];
  }
  return 0.0;
}

static void go_down(struct shedding *shedding, const score_board *board) {
  double by = fmin(fmax((shedding->pressure - shedding->from) * 0.6, 0.02), 0.3);
  if (shedding->relapsed && shedding->patience < patience_most) shedding->patience *= 2;
  shedding->relapsed = false;
  shedding->calm = 0;
  shedding->depth = fmin(fmax(shedding->depth, begins_at(shedding, board)) + by, SHEDDING_DEEPEST);
  shedding->downs++;
}

static void come_up(struct shedding *shedding) {
  double by = fmin(fmax((shedding->from * calm_part - shedding->pressure) * 0.4, 0.01), 0.12);
  shedding->depth = fmax(shedding->depth - by, 0.0);
  shedding->relapsed = true;
  shedding->calm = shedding->since_up = 0;
  shedding->ups++;
}

/* A step: all agents have been looked at, and the fit has had time to follow. */
static void step(struct shedding *shedding, const score_board *board) {
  shedding->frames = 0;
  if (shedding->relapsed && ++shedding->since_up == relapse_rounds) {
    shedding->relapsed = false;
    if (shedding->patience > patience_least) shedding->patience /= 2;
  }
  if (shedding->from == 0.0) {
    shedding->depth = 0.0; /* switched off */
  } else if (is_pressed(shedding)) {
    if (shedding->depth < SHEDDING_DEEPEST) go_down(shedding, board);
  } else if (!is_calm(shedding)) {
    shedding->calm = 0;
  } else if (shedding->depth > 0.0) {
    shedding->calm += shedding->pressure < shedding->from * 0.2 ? 4 : 1; /* almost no pressure: the load has gone */
    if (shedding->calm >= shedding->patience) come_up(shedding);
  }
}

/* ------------------------------------------------------------------------------------------------------- the agents */

/* How many levels an agent should be down; as many as it is when it cannot, or need not, change. */
static uint32_t wanted_of(const score_board *board, const shedding_lines *lines, uint32_t index) {
  const agent_store *store = board->inputs.store;
  const agent_row *row = &store->rows[index];
  uint32_t now = store->shed[index], level_count = board->types[row->type].level_count;
  if (level_count < 2 || row->status == AGENT_ADMITTED) return now; /* the latter may be running */
  uint32_t wanted = row->elasticity_step == 0 ? 0 : steps_below(lines, board, row->importance >> 8, index, now);
  if (wanted > now && board->inputs.classes->classes[row->class].rate >= nearly) return now; /* it has its period */
  if (wanted > now && row->level + 1u == level_count) return now;                            /* no level is cheaper */
  return wanted;
}

/* Whether there is a cheaper level for it, or pressure lowers it already. */
static bool gives(const score_board *board, uint32_t index) {
  const agent_store *store = board->inputs.store;
  const agent_row *row = &store->rows[index];
  uint32_t level_count = board->types[row->type].level_count;
  return row->elasticity_step > 0 && (store->shed[index] > 0 || row->level + 1u < level_count);
}

static void change_level(struct shedding *shedding, const score_board *board, uint32_t index, uint32_t wanted) {
  agent_store *store = board->inputs.store;
  const grade_type *type = &board->types[store->rows[index].type];
  grade_change change;
  ASSERT(wanted != store->shed[index]);
  shedding->shed += (wanted > 0) - (store->shed[index] > 0);
  shedding->changes++;
  if (grade_shed(board->inputs.classes, type, store, index, (uint8_t)wanted, &change))
    grade_apply(board->inputs.classes, board->inputs.types, store, board->inputs.ready, &change);
}

uint32_t shedding_prepare(struct shedding *shedding, const score_board *board, uint32_t looks, shedding_looks *list) {
  enum { SETTLING_FRAMES = 30 };
  ASSERT(looks <= SCORE_UNITS_MAX && board->agent_count == 0);
  const agent_store *store = board->inputs.store;
  list->begin = list->end = 0;
  if (!(shedding->from > 0.0 && is_pressed(shedding)) && shedding->depth == 0.0 && shedding->shed == 0) return 0;
  if (!board->inputs.types->has_levels) return 0; /* looks at agents would find nothing */
  shedding->frames++;
  if (shedding->left == 0) {
    if (shedding->frames >= SETTLING_FRAMES) step(shedding, board);
    begin_round(shedding, store);
    shedding->cursor = 0;
  }
  draw_lines(shedding, board, store->active_count, &list->lines);
  uint32_t count = looks < shedding->left ? looks : shedding->left;
  list->begin = shedding->cursor;
  list->end = shedding->cursor += count;
  shedding->left -= count;
  return (count + SHEDDING_ITEM_AGENTS - 1) / SHEDDING_ITEM_AGENTS;
}

/* Where the agents of an item begin. */
static uint32_t begin_of(const shedding_looks *list, uint32_t item) {
  uint32_t begin = list->begin + item * SHEDDING_ITEM_AGENTS;
  return begin < list->end ? begin : list->end;
}

void shedding_range(const score_board *board, shedding_looks *list, uint32_t begin, uint32_t end) {
  enum { AHEAD = 24 };
  const agent_store *store = board->inputs.store;
  for (uint32_t item = begin; item < end; item++) {
    uint32_t *found = &board->agents[item * SHEDDING_ITEM_AGENTS], count = 0;
    memset(list->gives[item], 0, sizeof list->gives[item]);
    for (uint32_t i = begin_of(list, item); i < begin_of(list, item + 1); i++) {
      i = store_next_active(store, i);
      if (i >= begin_of(list, item + 1)) break;
      __builtin_prefetch(&store->rows[i + AHEAD]);
      list->gives[item][store->rows[i].importance >> 8] += gives(board, i);
      if (wanted_of(board, &list->lines, i) != store->shed[i]) found[count++] = i;
    }
    list->found[item] = count;
  }
}

void shedding_apply(struct shedding *shedding, const score_board *board, const shedding_looks *list) {
  for (uint32_t item = 0; begin_of(list, item) < list->end; item++) {
    for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) shedding->gives[bin] += list->gives[item][bin];
    for (uint32_t k = 0; k < list->found[item]; k++) {
      uint32_t index = board->agents[item * SHEDDING_ITEM_AGENTS + k];
      change_level(shedding, board, index, wanted_of(board, &list->lines, index));
    }
  }
}
