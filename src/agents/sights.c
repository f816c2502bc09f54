#include "agents/sights.h"

#include "base/assert.h"

#include <math.h>

/* lesser and greater are comparisons, since fminf() and fmaxf() would be calls. */
static inline float lesser(float a, float b) {
  return a < b ? a : b;
}

static inline float greater(float a, float b) {
  return a > b ? a : b;
}

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

/* Whether `nearer` is at least as near as `sight` everywhere in the box: the difference of two squared distances is
 * linear, so it is least in a corner. */
static bool is_covered(const sight_box *box, const struct sight *sight, const struct sight *nearer) {
  if (sight->near_m > nearer->near_m || sight->far_m > nearer->far_m) return false;
  const float a[3] = {sight->x, sight->y, sight->z}, b[3] = {nearer->x, nearer->y, nearer->z};
  float least = 0.0f;
  for (uint32_t i = 0; i < 3; i++) {
    float twice = 2.0f * (b[i] - a[i]);
    least += square(a[i]) - square(b[i]) + lesser(twice * box->low[i], twice * box->high[i]);
  }
  return least >= 0.0f;
}

/* Leaves out observers that cannot matter, as far as is known by now; puts the provider first. */
static void thin_out(const sight_box *box, sight_list *list) {
  if (list->provider == OBSERVER_NONE) return;
  struct sight *sights = list->sights;
  uint32_t kept = 1;
  for (uint32_t i = 0; i < list->count; i++) {
    if (sights[i].observer != list->provider) continue;
    struct sight best = sights[i];
    sights[i] = sights[0];
    sights[0] = best;
  }
  for (uint32_t i = 1; i < list->count; i++)
    if (sights[i].highest > list->lowest && !is_covered(box, &sights[i], &sights[0])) sights[kept++] = sights[i];
  list->count = kept;
}

/* Considers an observer; its `slope` and `highest` are not set yet. Most are too far away, which is seen without a
 * square root. */
static inline void consider(const sight_box *box, struct sight sight, sight_list *list) {
  float nearest = outside(box->low[0], box->high[0], sight.x) + outside(box->low[1], box->high[1], sight.y) +
                  outside(box->low[2], box->high[2], sight.z);
  float reach_m = sight.far_m - list->lowest * (sight.far_m - sight.near_m);
  if (nearest >= square(reach_m) || list->crowded) return;
  float away = furthest(box->low[0], box->high[0], sight.x) + furthest(box->low[1], box->high[1], sight.y) +
               furthest(box->low[2], box->high[2], sight.z);
  if (list->count == SIGHTS_MAX) thin_out(box, list);
  list->crowded = list->count == SIGHTS_MAX;
  if (list->crowded) return;
  sight.slope = 1.0f / (sight.far_m - sight.near_m);
  sight.highest = sight_importance(&sight, sqrtf(nearest));
  float lowest = sight_importance(&sight, sqrtf(away));
  list->sights[list->count++] = sight;
  if (lowest <= list->lowest) return;
  list->lowest = lowest;
  list->provider = sight.observer;
}

static inline void sights_offer(const observer_table *table, const sight_box *box, uint32_t index, sight_list *list) {
  const observer_source *source = &table->sources[index];
  consider(box,
           (struct sight){.x = (float)(source->position.x - box->corner_x),
                          .y = (float)(source->position.y - box->corner_y),
                          .z = (float)source->position.z,
                          .near_m = source->near_m,
                          .far_m = source->far_m,
                          .observer = index},
           list);
}

static bool is_settled(const sight_list *list) {
  return list->lowest >= 1.0f || list->crowded;
}

/* A search in the buckets around the one that holds the middle of the box. */
struct search {
  const observer_table *table;
  const sight_box *box;
  int32_t number_x, number_y; /* the middle bucket */
  float x, y;                 /* its corner, from the box's */
  float width_m;
  float reach_m; /* how far an observer in a bucket may be and still be worth more than `lowest` */
};

static void find_reach(struct search *search, const sight_list *list) {
  search->reach_m = list->lowest * search->table->near_m + (1.0f - list->lowest) * search->table->far_m;
}

static void look_into(struct search *search, int32_t east, int32_t north, sight_list *list) {
  const observer_table *table = search->table;
  const sight_box *box = search->box;
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
      sights_offer(table, box, link - 1, list);
    link = source->next;
    if (is_settled(list)) return;
  }
  find_reach(search, list);
}

/* Looks into the buckets whose larger offset from the middle is `ring`. */
static void sights_look_around(struct search *search, int32_t ring, sight_list *list) {
  for (int32_t north = -ring; north <= ring && !is_settled(list); north++) {
    int32_t step = north == -ring || north == ring || ring == 0 ? 1 : 2 * ring;
    for (int32_t east = -ring; east <= ring && !is_settled(list); east += step) look_into(search, east, north, list);
  }
}

/* How far the box is from the buckets that lie outside of all rings before this one. */
static float margin_of(const struct search *search, int32_t ring) {
  const sight_box *box = search->box;
  float before_m = (float)(ring - 1) * search->width_m, behind_m = (float)ring * search->width_m;
  float x = lesser(box->low[0] - search->x + before_m, search->x + behind_m - box->high[0]);
  float y = lesser(box->low[1] - search->y + before_m, search->y + behind_m - box->high[1]);
  return lesser(x, y);
}

static void search_buckets(const observer_table *table, const sight_box *box, sight_list *list) {
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
    sights_look_around(&search, ring, list);
  }
}

static void sights_clear(sight_list *list) {
  list->count = list->looks = 0;
  list->crowded = false;
  list->lowest = 0.0f;
  list->provider = OBSERVER_NONE;
}

static void sights_finish(const sight_box *box, sight_list *list) {
  if (!list->crowded) thin_out(box, list);
  bool alike = true;
  for (uint32_t i = 1; i < list->count; i++)
    alike &= list->sights[i].near_m == list->sights[0].near_m && list->sights[i].far_m == list->sights[0].far_m;
  list->alike = alike;
}

bool sights_may_see(const observer_table *table, muster_position position, uint32_t partition) {
  if (table->far_sighted_count) return true;
  if (!(table->far_m > 0.0f)) return false;
  return observers_may_see(table, (int32_t)floor(position.x / table->bucket_m),
                           (int32_t)floor(position.y / table->bucket_m), partition);
}

void sights_gather(const observer_table *table, const sight_box *box, sight_list *list) {
  sights_clear(list);
  list->looks = table->far_sighted_count;
  for (uint32_t i = 0; i < table->far_sighted_count && !is_settled(list); i++)
    if (table->sources[table->far_sighted[i]].partition == box->partition)
      sights_offer(table, box, table->far_sighted[i], list);
  if (table->far_m > 0.0f && !is_settled(list)) search_buckets(table, box, list);
  sights_finish(box, list);
}

void sights_narrow(const sight_list *around, const sight_box *box, sight_list *list) {
  ASSERT(!around->crowded);
  sights_clear(list);
  for (uint32_t i = 0; i < around->count && !is_settled(list); i++) consider(box, around->sights[i], list);
  sights_finish(box, list);
}
