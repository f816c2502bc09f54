#include "plan/score.h"

#include "base/assert.h"
#include "base/random.h"

#include <math.h>

static const float level_hysteresis = 0.1f; /* share of a threshold */
static const float step_hysteresis = 0.75f; /* elasticity steps */
static const float importance_hysteresis = 0.01f;

static float importance_to(const observer_row *observer, muster_position position) {
  double x = position.x - observer->position.x, y = position.y - observer->position.y,
         z = position.z - observer->position.z;
  double square = x * x + y * y + z * z;
  if (square >= (double)observer->far_m * (double)observer->far_m) return 0.0f;
  float distance = (float)sqrt(square);
  if (distance <= observer->near_m) return 1.0f;
  return (observer->far_m - distance) / (observer->far_m - observer->near_m);
}

static float importance_of(const score_inputs *inputs, uint32_t index) {
  const agent_place *place = &inputs->store->places[index];
  const observer_table *observers = inputs->observers;
  muster_position position = space_position(inputs->space, place);
  float importance = share_value(inputs->store->rows[index].floor);
  uint32_t end = observers->starts[place->partition + 1];
  for (uint32_t i = observers->starts[place->partition]; i < end && importance < 1.0f; i++)
    importance = fmaxf(importance, importance_to(&observers->rows[observers->order[i]], position));
  return importance;
}

/* The level for an importance; `current` resists by the hysteresis. UINT32_MAX = no current level. */
static uint32_t level_for(const muster_type_def *type, float importance, uint32_t current) {
  uint32_t level = 0;
  for (uint32_t i = 0; i + 1 < type->level_count; i++) {
    float threshold = type->level_importance[i];
    if (current != UINT32_MAX) threshold *= current > i ? 1.0f + level_hysteresis : 1.0f - level_hysteresis;
    if (importance < threshold) level = i + 1;
  }
  return level;
}

/* Derived elasticity: the type's, from an eighth of it at importance 1 to eight times at 0. */
static float elasticity_of(const score_inputs *inputs, uint32_t index) {
  const agent_row *row = &inputs->store->rows[index];
  if (row->elasticity_step != ELASTICITY_DERIVED) return (float)elasticity_of_step(row->elasticity_step);
  return inputs->types->types[row->type].def.elasticity * exp2f(3.0f - 6.0f * share_value(row->importance));
}

static uint32_t importance_bin(uint16_t importance) {
  return importance >> 8;
}

static agent_class *class_for(const score_inputs *inputs, uint32_t index, uint32_t level, uint32_t step) {
  uint32_t type = inputs->store->rows[index].type;
  return classes_get(inputs->classes, &inputs->types->types[type].def, type, level, step);
}

void score_new_agent(score_board *board, const score_inputs *inputs, uint32_t index) {
  agent_row *row = &inputs->store->rows[index];
  row->importance = share_of(importance_of(inputs, index));
  row->level = (uint8_t)level_for(&inputs->types->types[row->type].def, share_value(row->importance), UINT32_MAX);
  board->importance[importance_bin(row->importance)]++;
  agent_class *class = class_for(inputs, index, row->level, elasticity_step_of(elasticity_of(inputs, index)));
  row->class = class->number;
  classes_join(inputs->classes, class);
}

void score_forget_agent(score_board *board, const score_inputs *inputs, uint32_t index) {
  const agent_row *row = &inputs->store->rows[index];
  board->importance[importance_bin(row->importance)]--;
  classes_leave(inputs->classes, &inputs->classes->classes[row->class]);
}

/* An agent that is not in a wheel takes its lateness along instead of its remaining fraction. */
static void rebase_due(agent_row *row, const agent_class *from, const agent_class *to) {
  int64_t ahead = (int64_t)(row->virtual_due_ns - from->clock_ns);
  int64_t due = (int64_t)to->clock_ns + ahead;
  row->virtual_due_ns = due > 0 ? (uint64_t)due : 0;
}

static void change_class(const score_inputs *inputs, uint32_t index, uint32_t level, uint32_t step) {
  agent_row *row = &inputs->store->rows[index];
  agent_class *from = &inputs->classes->classes[row->class], *to = class_for(inputs, index, level, step);
  if (to == from) return;
  if (row->status == AGENT_WAITING)
    wheel_transfer(inputs->classes, from, to, inputs->store, index);
  else
    rebase_due(row, from, to);
  classes_leave(inputs->classes, from);
  classes_join(inputs->classes, to);
  row->class = to->number;
}

void score_agent(score_board *board, const score_inputs *inputs, uint32_t index, bool tuned) {
  agent_row *row = &inputs->store->rows[index];
  if (!tuned && row->status == AGENT_ADMITTED) return;
  float importance = importance_of(inputs, index);
  float before = share_value(row->importance);
  bool at_an_end = importance != before && (importance <= 0.0f || importance >= 1.0f);
  if (at_an_end || fabsf(importance - before) > importance_hysteresis) {
    board->importance[importance_bin(row->importance)]--;
    row->importance = share_of(importance);
    board->importance[importance_bin(row->importance)]++;
  } else if (!tuned) {
    return;
  }
  const agent_class *class = &inputs->classes->classes[row->class];
  uint32_t level = level_for(&inputs->types->types[row->type].def, share_value(row->importance), row->level);
  float elasticity = elasticity_of(inputs, index);
  uint32_t step = elasticity_step_of(elasticity);
  bool derived = row->elasticity_step == ELASTICITY_DERIVED && class->step && step;
  if (derived && fabsf(log2f(elasticity) * 8.0f + (float)ELASTICITY_STEP_OF_ONE - (float)class->step) < step_hysteresis)
    step = class->step;
  if (level == row->level && step == class->step) return;
  change_class(inputs, index, level, step);
  store_set_level(inputs->store, index, level);
}

void score_sweep(score_board *board, const score_inputs *inputs) {
  const agent_store *store = inputs->store;
  uint32_t count = store->active_count / SCORE_SWEEP_FRAMES;
  if (count < SCORE_SWEEP_MIN) count = store->active_count < SCORE_SWEEP_MIN ? store->active_count : SCORE_SWEEP_MIN;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = store_next_active(store, board->cursor);
    if (index == UINT32_MAX) index = store_next_active(store, 0);
    if (index == UINT32_MAX) return;
    score_agent(board, inputs, index, false);
    board->cursor = index + 1;
  }
}

static uint8_t decile_at(uint64_t below, uint32_t population) {
  uint64_t decile = population ? below * MUSTER_DECILES / population : 0;
  return (uint8_t)(decile < MUSTER_DECILES ? decile : MUSTER_DECILES - 1);
}

void score_deciles(score_board *board, uint32_t population) {
  uint64_t below = 0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) {
    uint64_t through = below + board->importance[bin];
    uint64_t last = through > below ? through - 1 : below;
    board->decile_low[bin] = decile_at(below, population);
    board->decile_high[bin] = decile_at(last, population);
    below = through;
  }
}
