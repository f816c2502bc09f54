#include "agents/observer_query.h"

#include "base/assert.h"
#include "base/lesser.h"

#include <math.h>

static inline float square(float value) {
  return value * value;
}

/* The square of the distance between an interval and a value. */
static inline float outside(float low, float high, float value) {
  return square(greater(greater(low - value, value - high), 0.0f));
}

static inline float furthest(float low, float high, float value) {
  return square(greater(value - low, high - value));
}

/* Whether `nearer` is at least as near as `seen` everywhere in the box: the difference of two squared distances is
 * linear, so it is least in a corner. */
static bool is_covered(const query_box *box, const struct seen_observer *seen, const struct seen_observer *nearer) {
  if (seen->near_m > nearer->near_m || seen->far_m > nearer->far_m) return false;
  const float a[3] = {seen->x, seen->y, seen->z}, b[3] = {nearer->x, nearer->y, nearer->z};
  float least = 0.0f;
  for (uint32_t i = 0; i < 3; i++) {
    float twice = 2.0f * (b[i] - a[i]);
    least += square(a[i]) - square(b[i]) + lesser(twice * box->low[i], twice * box->high[i]);
  }
  return least >= 0.0f;
}

/* Leaves out observers that cannot matter, as far as is known by now; puts the provider first. */
static void thin_out(const query_box *box, observer_query *list) {
  if (list->provider == OBSERVER_NONE) return;
  struct seen_observer *seen = list->seen;
  uint32_t kept = 1;
  for (uint32_t i = 0; i < list->count; i++) {
    if (seen[i].observer != list->provider) continue;
    struct seen_observer best = seen[i];
    seen[i] = seen[0];
    seen[0] = best;
  }
  for (uint32_t i = 1; i < list->count; i++)
    if (seen[i].highest > list->lowest && !is_covered(box, &seen[i], &seen[0])) seen[kept++] = seen[i];
  list->count = kept;
}

/* Considers an observer; its `slope` and `highest` are not set yet. Most are too far away, which is seen without a
 * square root. */
static inline void consider(const query_box *box, struct seen_observer seen, observer_query *list) {
  float nearest = outside(box->low[0], box->high[0], seen.x) + outside(box->low[1], box->high[1], seen.y) +
                  outside(box->low[2], box->high[2], seen.z);
  float reach_m = seen.far_m - list->lowest * (seen.far_m - seen.near_m);
  if (nearest >= square(reach_m) || list->crowded) return;
  float away = furthest(box->low[0], box->high[0], seen.x) + furthest(box->low[1], box->high[1], seen.y) +
               furthest(box->low[2], box->high[2], seen.z);
  if (list->count == QUERY_SEEN_MAX) thin_out(box, list);
  list->crowded = list->count == QUERY_SEEN_MAX;
  if (list->crowded) return;
  seen.slope = 1.0f / (seen.far_m - seen.near_m);
  seen.highest = seen_observer_importance(&seen, sqrtf(nearest));
  float lowest = seen_observer_importance(&seen, sqrtf(away));
  list->seen[list->count++] = seen;
  if (lowest <= list->lowest) return;
  list->lowest = lowest;
  list->provider = seen.observer;
}

static inline void observer_query_offer(const observer_table *table, const query_box *box, uint32_t index,
                                        observer_query *list) {
  const observer_source *source = &table->sources[index];
  consider(box,
           (struct seen_observer){.x = (float)(source->position.x - box->corner_x),
                                  .y = (float)(source->position.y - box->corner_y),
                                  .z = (float)source->position.z,
                                  .near_m = source->near_m,
                                  .far_m = source->far_m,
                                  .observer = index},
           list);
}

static bool is_settled(const observer_query *list) {
  return list->lowest >= 1.0f || list->crowded;
}

/* A search in the buckets around the one that holds the middle of the box. */
struct search {
  const observer_table *table;
  const query_box *box;
  int32_t number_x, number_y; /* the middle bucket */
  float x, y;                 /* its corner, from the box's */
  float width_m;
  float reach_m; /* how far an observer in a bucket may be and still be worth more than `lowest` */
};

static void find_reach(struct search *search, const observer_query *list) {
  search->reach_m = list->lowest * search->table->near_m + (1.0f - list->lowest) * search->table->far_m;
}

static void look_into(struct search *search, int32_t east, int32_t north, observer_query *list) {
  const observer_table *table = search->table;
  const query_box *box = search->box;
  float west_m = search->x + (float)east * search->width_m, south_m = search->y + (float)north * search->width_m;
  float x = greater(greater(west_m - box->high[0], box->low[0] - west_m - search->width_m), 0.0f);
  float y = greater(greater(south_m - box->high[1], box->low[1] - south_m - search->width_m), 0.0f);
  if (square(x) + square(y) > square(search->reach_m)) return;
  int32_t number_x = search->number_x + east, number_y = search->number_y + north;
  list->looks++;
  for (uint32_t link = observers_bucket(table, number_x, number_y, box->partition); link;) {
    const observer_source *source = &table->sources[link - 1];
    list->looks++;
    if (source->bucket_x == number_x && source->bucket_y == number_y && source->partition == box->partition)
      observer_query_offer(table, box, link - 1, list);
    link = source->next;
    if (is_settled(list)) return;
  }
  find_reach(search, list);
}

/* Looks into the buckets whose larger offset from the middle is `ring`. */
static void observer_query_look_around(struct search *search, int32_t ring, observer_query *list) {
  for (int32_t north = -ring; north <= ring && !is_settled(list); north++) {
    int32_t step = north == -ring || north == ring || ring == 0 ? 1 : 2 * ring;
    for (int32_t east = -ring; east <= ring && !is_settled(list); east += step) look_into(search, east, north, list);
  }
}

/* How far the box is from the buckets that lie outside of all rings before this one. */
static float margin_of(const struct search *search, int32_t ring) {
  const query_box *box = search->box;
  float before_m = (float)(ring - 1) * search->width_m, behind_m = (float)ring * search->width_m;
  float x = lesser(box->low[0] - search->x + before_m, search->x + behind_m - box->high[0]);
  float y = lesser(box->low[1] - search->y + before_m, search->y + behind_m - box->high[1]);
  return lesser(x, y);
}

static void search_buckets(const observer_table *table, const query_box *box, observer_query *list) {
  double width_m = table->bucket_m;
  double x = floor((box->corner_x + 0.5 * (double)(box->low[0] + box->high[0])) / width_m);
  double y = floor((box->corner_y + 0.5 * (double)(box->low[1] + box->high[1])) / width_m);
  struct search search = {.table = table,
                          .box = box,
                          .number_x = (int32_t)x,
                          .number_y = (int32_t)y,
                          .x = (float)(x * width_m - box->corner_x),
                          .y = (float)(y * width_m - box->corner_y),
                          .width_m = (float)width_m};
  bool point = box->low[0] == box->high[0] && box->low[1] == box->high[1];
  list->looks++;
  if (point && !observers_may_see(table, search.number_x, search.number_y, box->partition)) return;
  find_reach(&search, list);
  for (int32_t ring = 0; !is_settled(list); ring++) {
    if (ring > 0 && margin_of(&search, ring) > search.reach_m) break;
    observer_query_look_around(&search, ring, list);
  }
}

static void observer_query_clear(observer_query *list) {
  list->count = list->looks = 0;
  list->crowded = false;
  list->lowest = 0.0f;
  list->provider = OBSERVER_NONE;
}

static void observer_query_finish(const query_box *box, observer_query *list) {
  if (!list->crowded) thin_out(box, list);
  bool alike = true;
  for (uint32_t i = 1; i < list->count; i++)
    alike &= list->seen[i].near_m == list->seen[0].near_m && list->seen[i].far_m == list->seen[0].far_m;
  list->alike = alike;
}

bool observer_query_may_see(const observer_table *table, muster_position position, uint32_t partition) {
  if (table->far_sighted_count) return true;
  if (!(table->far_m > 0.0f)) return false;
  return observers_may_see(table, (int32_t)floor(position.x / table->bucket_m),
                           (int32_t)floor(position.y / table->bucket_m), partition);
}

void observer_query_gather(const observer_table *table, const query_box *box, observer_query *list) {
  observer_query_clear(list);
  list->looks = table->far_sighted_count;
  for (uint32_t i = 0; i < table->far_sighted_count && !is_settled(list); i++)
    if (table->sources[table->far_sighted[i]].partition == box->partition)
      observer_query_offer(table, box, table->far_sighted[i], list);
  if (table->far_m > 0.0f && !is_settled(list)) search_buckets(table, box, list);
  observer_query_finish(box, list);
}

void observer_query_narrow(const observer_query *around, const query_box *box, observer_query *list) {
  ASSERT(!around->crowded);
  observer_query_clear(list);
  for (uint32_t i = 0; i < around->count && !is_settled(list); i++) consider(box, around->seen[i], list);
  observer_query_finish(box, list);
}
