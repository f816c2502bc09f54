#include "plan/importance.h"

#include "base/assert.h"

#include <muster/bulk.h>

#include <math.h>
#include <string.h>

static inline float square_to(const struct seen_observer *seen, float x, float y, float z) {
  float dx = x - seen->x, dy = y - seen->y, dz = z - seen->z;
  return dx * dx + dy * dy + dz * dz;
}

/* The greatest importance that any of the observers gives at a point; in *observer, which one. Which of them is best
 * is unpredictable, so there are no branches on it; when all see equally far, the nearest one is. */
static float best_at(const observer_query *list, float x, float y, float z, uint32_t *observer) {
  const struct seen_observer *best = &list->seen[0];
  *observer = OBSERVER_NONE;
  if (list->count == 0) return 0.0f;
  float importance = 0.0f, square = square_to(best, x, y, z);
  if (list->alike) {
    for (uint32_t i = 1; i < list->count; i++) {
      float other = square_to(&list->seen[i], x, y, z);
      best = other < square ? &list->seen[i] : best;
      square = other < square ? other : square;
    }
    importance = seen_observer_importance(best, sqrtf(square));
  } else {
    for (uint32_t i = 0; i < list->count; i++) {
      float other = seen_observer_importance(&list->seen[i], sqrtf(square_to(&list->seen[i], x, y, z)));
      best = other > importance ? &list->seen[i] : best;
      importance = other > importance ? other : importance;
    }
  }
  if (importance > 0.0f) *observer = best->observer;
  return importance;
}

static void importance_at(const score_inputs *inputs, const query_box *around, float x, float y, float z,
                          importance_batch *batch, uint32_t i) {
  observer_query list;
  query_box box = {around->corner_x, around->corner_y, {x, y, z}, {x, y, z}, around->partition};
  observer_query_gather(inputs->observers, &box, &list);
  batch->looks += list.looks;
  batch->by_distance[i] = best_at(&list, x, y, z, &batch->observers[i]);
}

/* Finds the observers that matter in the area at the heights of the box. False when the box is not all in the area. */
static bool know_area(const score_inputs *inputs, importance_area *area, const query_box *box,
                      importance_batch *batch) {
  const float slack_m = 16.0f;
  query_box *whole = &area->box;
  for (uint32_t i = 0; i < 2; i++)
    if (box->low[i] < whole->low[i] || box->high[i] > whole->high[i]) return false;
  if (area->known && box->low[2] >= whole->low[2] && box->high[2] <= whole->high[2]) return true;
  whole->low[2] = box->low[2] - slack_m;
  whole->high[2] = box->high[2] + slack_m;
  observer_query_gather(inputs->observers, whole, &area->around);
  area->known = true;
  batch->looks += area->around.looks;
  return true;
}

/* The observers that matter in the box. When few matter in the area, all of those: telling them apart takes longer. */
static const observer_query *find_observers(const score_inputs *inputs, importance_area *area, const query_box *box,
                                            importance_batch *batch, observer_query *list) {
  enum { FEW = 4 };
  if (know_area(inputs, area, box, batch) && !area->around.crowded) {
    if (area->around.count <= FEW) return &area->around;
    observer_query_narrow(&area->around, box, list);
  } else {
    observer_query_gather(inputs->observers, box, list);
    batch->looks += list->looks;
  }
  return list;
}

void importance_together(const score_inputs *inputs, importance_area *area, importance_batch *batch) {
  ASSERT(batch->count > 0 && batch->count <= IMPORTANCE_BATCH_MAX);
  observer_query narrowed;
  query_box box = area->box;
  for (uint32_t i = 0; i < 3; i++) {
    const float *values = i == 0 ? batch->x : i == 1 ? batch->y : batch->z;
    float low = values[0], high = values[0];
    for (uint32_t k = 1; k < batch->count; k++) {
      low = values[k] < low ? values[k] : low;
      high = values[k] > high ? values[k] : high;
    }
    box.low[i] = low;
    box.high[i] = high;
  }
  batch->looks = 0;
  const observer_query *list = find_observers(inputs, area, &box, batch, &narrowed);
  for (uint32_t i = 0; i < batch->count; i++)
    if (list->crowded)
      importance_at(inputs, &box, batch->x[i], batch->y[i], batch->z[i], batch, i);
    else
      batch->by_distance[i] = best_at(list, batch->x[i], batch->y[i], batch->z[i], &batch->observers[i]);
}

void importance_apart(const score_inputs *inputs, importance_batch *batch) {
  ASSERT(batch->count <= IMPORTANCE_BATCH_MAX);
  double cell_m = inputs->space->cell_m;
  batch->looks = 0;
  for (uint32_t i = 0; i < batch->count; i++) {
    const agent_place *place = &inputs->store->places[batch->agents[i]];
    query_box box = {
        .corner_x = place->cell_x * cell_m, .corner_y = place->cell_y * cell_m, .partition = place->partition};
    importance_at(inputs, &box, place->x, place->y, place->z, batch, i);
  }
}

static float factor_of(const agent_row *row) {
  static const uint8_t all[MUSTER_FACTORS] = {255, 255, 255};
  if (memcmp(row->factors, all, sizeof all) == 0) return 1.0f;
  float factor = 1.0f;
  for (uint32_t i = 0; i < MUSTER_FACTORS; i++) factor *= (float)row->factors[i] * (1.0f / 255.0f);
  return factor;
}

/* The importance that observers give, times the host's factors and the type's importance. */
static float product_of(const score_inputs *inputs, const importance_batch *batch, uint32_t i) {
  const agent_row *row = &inputs->store->rows[batch->agents[i]];
  return batch->by_distance[i] * inputs->types->types[row->type].def.importance * factor_of(row);
}

/* The sum of the four factors. What company gives was found after an earlier score. What the agent is without company
 * is noted, where `standing` is given, for the agents in its company. */
static float importance_sum_of(const score_inputs *inputs, const importance_batch *batch, uint32_t i,
                               uint16_t *own_importance) {
  uint32_t index = batch->agents[i];
  const agent_row *row = &inputs->store->rows[index];
  const importance_weights *weights = inputs->factors;
  agent_ratings ratings = inputs->store->ratings[index];
  float role =
      ratings.role == RATING_OF_TYPE ? inputs->types->types[row->type].def.importance : rating_value(ratings.role);
  float alone = weights->focus * batch->by_distance[i] * factor_of(row) +
                weights->designer * rating_value(ratings.designer) + weights->role * role;
  float alone_most = weights->focus + weights->designer + weights->role;
  if (own_importance) own_importance[index] = alone_most > 0.0f ? share_of(fminf(alone / alone_most, 1.0f)) : 0;
  return fminf((alone + weights->company * share_value(inputs->store->inherited_importance[index])) * 0.25f, 1.0f);
}

static float merit_of(const score_inputs *inputs, const importance_batch *batch, uint32_t i, uint16_t *own_importance) {
  return inputs->factors ? importance_sum_of(inputs, batch, i, own_importance) : product_of(inputs, batch, i);
}

static void fill_query(const score_inputs *inputs, const importance_batch *batch, uint32_t i,
                       muster_importance_query *query) {
  uint32_t index = batch->agents[i];
  const agent_row *row = &inputs->store->rows[index];
  *query = (muster_importance_query){.agent = store_id(inputs->store, index),
                                     .position = space_position(inputs->space, &inputs->store->places[index]),
                                     .distance_m = INFINITY,
                                     .importance = batch->importance[i],
                                     .agent_user = row->user};
  if (batch->observers[i] == OBSERVER_NONE) return;
  const muster_position *from = &inputs->observers->sources[batch->observers[i]].position;
  double x = from->x - query->position.x, y = from->y - query->position.y, z = from->z - query->position.z;
  query->observed = true;
  query->observer_position = *from;
  query->distance_m = (float)sqrt(x * x + y * y + z * z);
}

static float clamp_answer(float answer, uint32_t type, importance_batch *batch) {
  if (answer >= 0.0f && answer <= 1.0f) return answer;
  batch->refused++;
  batch->refused_type = type;
  return answer > 1.0f ? 1.0f : 0.0f;
}

/* Asks a type's own model about the type's agents in the batch. */
static void ask_model(const score_inputs *inputs, uint32_t type, importance_batch *batch) {
  muster_importance_query queries[IMPORTANCE_BATCH_MAX];
  float answers[IMPORTANCE_BATCH_MAX];
  uint32_t asked[IMPORTANCE_BATCH_MAX], count = 0;
  const muster_type_def *def = &inputs->types->types[type].def;
  for (uint32_t i = 0; i < batch->count; i++) {
    if (inputs->store->rows[batch->agents[i]].type != type) continue;
    fill_query(inputs, batch, i, &queries[count]);
    answers[count] = queries[count].importance;
    asked[count++] = i;
  }
  if (!count) return;
  def->models.importance(queries, answers, count, def->user);
  for (uint32_t i = 0; i < count; i++) batch->importance[asked[i]] = clamp_answer(answers[i], type, batch);
}

void importance_finish(const score_inputs *inputs, importance_batch *batch) {
  uint32_t modelled[IMPORTANCE_BATCH_MAX], models = 0;
  batch->refused = 0;
  for (uint32_t i = 0; i < batch->count; i++) {
    const agent_row *row = &inputs->store->rows[batch->agents[i]];
    const muster_type_def *def = &inputs->types->types[row->type].def;
    batch->importance[i] = merit_of(inputs, batch, i, inputs->store->own_importance);
    if (!def->models.importance) continue;
    uint32_t known = 0;
    while (known < models && modelled[known] != row->type) known++;
    if (known == models) modelled[models++] = row->type;
  }
  for (uint32_t i = 0; i < models; i++) ask_model(inputs, modelled[i], batch);
  for (uint32_t i = 0; i < batch->count; i++) {
    float floor = share_value(inputs->store->rows[batch->agents[i]].floor);
    if (batch->importance[i] < floor) batch->importance[i] = floor;
  }
}

struct importance_steps importance_explain(const score_inputs *inputs, uint32_t index) {
  importance_batch batch;
  uint32_t type = inputs->store->rows[index].type;
  batch.count = 1;
  batch.agents[0] = index;
  importance_apart(inputs, &batch);
  float product = batch.importance[0] = merit_of(inputs, &batch, 0, NULL);
  if (inputs->types->types[type].def.models.importance) ask_model(inputs, type, &batch);
  return (struct importance_steps){batch.observers[0], batch.by_distance[0], product, batch.importance[0]};
}

bool importance_is_out_of_sight(const score_inputs *inputs, uint32_t index) {
  const agent_row *row = &inputs->store->rows[index];
  const agent_place *place = &inputs->store->places[index];
  if (inputs->factors || row->importance != row->floor || inputs->types->types[row->type].def.models.importance)
    return false;
  return !observer_query_may_see(inputs->observers, space_position(inputs->space, place), place->partition);
}
