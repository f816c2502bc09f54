/* herds_check.c - what the update of a block left: entries with impossible values get back what they had, herds that
 * lost their last member are noted, and the block's box is made anew. In one pass, eight entries at a time: nearly
 * always there is nothing wrong with any of them. */
#include "herds/herds.h"

#include "base/assert.h"
#include "base/clones.h"

#include <muster/herd.h>

#include <math.h>

enum { EIGHT = 8 };

typedef float floats __attribute__((vector_size(32)));
typedef int32_t ints __attribute__((vector_size(32))); /* results of comparisons: -1 where true, else 0 */
typedef uint16_t halves __attribute__((vector_size(16)));
typedef uint64_t quarters __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

/* Where positions may be, from the block's origin, and where they are. */
struct boxes {
  float low_x, low_y, high_x, high_y;
  floats least_x, least_y, most_x, most_y;
};

/* One pass over a block. */
typedef struct checking {
  const struct herd_type *type;
  const muster_herd_block *shown;
  herd_block *block;
  herd_scratch *scratch;
  uint32_t first; /* home of the first entry */
} checking;

INLINE const floats *floats_at(const float *at) {
  return (const floats *)(const void *)at;
}

/* Clears `good` where a value is infinite or NaN. */
INLINE void keep_finite(const float *at, ints *good) {
  *good &= ((ints)*floats_at(at) & 0x7fffffff) < 0x7f800000;
}

/* Takes the values that count into the least or the most. */
INLINE void lower(const floats *value, const ints *counts, floats *least) {
  ints less = (*value < *least) & *counts;
  *least = (floats)(((ints)*value & less) | ((ints)*least & ~less));
}

INLINE void raise(const floats *value, const ints *counts, floats *most) {
  ints more = (*value > *most) & *counts;
  *most = (floats)(((ints)*value & more) | ((ints)*most & ~more));
}

INLINE bool are_all(const ints *condition) {
  quarters all = (quarters)*condition;
  return (all[0] & all[1] & all[2] & all[3]) == UINT64_MAX;
}

/* Chooses bits, not numbers: a slot may hold NaN. */
INLINE void restore(float *at, const float *saved, const ints *kept) {
  ints *column = (ints *)(void *)at;
  *column = (*column & *kept) | (*(const ints *)(const void *)saved & ~*kept);
}

/* Puts back the slots that hold no folded herd: the block may not write them. */
INLINE void restore_eight(const checking *it, uint32_t i, const ints *kept) {
  const muster_herd_block *shown = it->shown;
  const herd_scratch *saved = it->scratch;
  restore(shown->x + i, saved->x + i, kept);
  restore(shown->y + i, saved->y + i, kept);
  restore(shown->velocity_x + i, saved->velocity_x + i, kept);
  restore(shown->velocity_y + i, saved->velocity_y + i, kept);
  for (uint32_t t = 0; t < it->type->def.totals; t++) restore(shown->totals[t] + i, saved->totals[t] + i, kept);
  *(halves *)(void *)(shown->members + i) &= __builtin_convertvector(*kept, halves);
}

/* Passes eight entries when each has possible values and members, or holds no herd. Otherwise it does nothing, and they
 * must be looked at singly. */
INLINE bool pass_eight(const checking *it, uint32_t i, struct boxes *boxes, ints *more) {
  const muster_herd_block *shown = it->shown;
  ints members = __builtin_convertvector(*(const halves *)(const void *)(shown->members + i), ints);
  ints before = __builtin_convertvector(*(const halves *)(const void *)(it->scratch->members + i), ints);
  floats x = *floats_at(shown->x + i), y = *floats_at(shown->y + i);
  ints present = before > 0;
  ints good = (x >= boxes->low_x) & (x <= boxes->high_x) & (y >= boxes->low_y) & (y <= boxes->high_y);
  keep_finite(shown->velocity_x + i, &good);
  keep_finite(shown->velocity_y + i, &good);
  good &= (*floats_at(shown->elapsed_s + i) > 0.0f) & (members > 0) & (members <= (int32_t)it->type->tree.below[0]);
  for (uint32_t t = 0; t < it->type->def.totals; t++) keep_finite(shown->totals[t] + i, &good);
  good |= ~present;
  if (!are_all(&good)) return false;
  *more += (members & present) - before;
  lower(&x, &present, &boxes->least_x);
  lower(&y, &present, &boxes->least_y);
  raise(&x, &present, &boxes->most_x);
  raise(&y, &present, &boxes->most_y);
  if (!are_all(&present)) restore_eight(it, i, &present);
  return true;
}

static bool may_stay(const checking *it, uint32_t i, const struct boxes *boxes) {
  const muster_herd_block *shown = it->shown;
  bool good = shown->x[i] >= boxes->low_x && shown->x[i] <= boxes->high_x && shown->y[i] >= boxes->low_y &&
              shown->y[i] <= boxes->high_y && isfinite(shown->velocity_x[i]) && isfinite(shown->velocity_y[i]) &&
              shown->members[i] <= it->type->tree.below[0];
  for (uint32_t t = 0; t < it->type->def.totals; t++) good = good && isfinite(shown->totals[t][i]);
  return good;
}

/* Copies bits, not numbers: a slot may hold NaN. */
static void put_back(const checking *it, uint32_t i) {
  const muster_herd_block *shown = it->shown;
  const herd_scratch *saved = it->scratch;
  __builtin_memcpy(&shown->x[i], &saved->x[i], sizeof(float));
  __builtin_memcpy(&shown->y[i], &saved->y[i], sizeof(float));
  __builtin_memcpy(&shown->velocity_x[i], &saved->velocity_x[i], sizeof(float));
  __builtin_memcpy(&shown->velocity_y[i], &saved->velocity_y[i], sizeof(float));
  for (uint32_t t = 0; t < it->type->def.totals; t++)
    __builtin_memcpy(&shown->totals[t][i], &saved->totals[t][i], sizeof(float));
  shown->members[i] = saved->members[i];
}

static void check_one(const checking *it, uint32_t i, struct boxes *boxes) {
  const muster_herd_block *shown = it->shown;
  herd_scratch *scratch = it->scratch;
  bool told = shown->elapsed_s[i] > 0.0f;
  if (!told || !may_stay(it, i, boxes)) {
    put_back(it, i);
    scratch->refused += told;
  }
  scratch->members_more += (int64_t)shown->members[i] - (int64_t)scratch->members[i];
  if (!scratch->members[i]) return; /* the slot holds no herd, or an unfolded one */
  if (shown->members[i]) {
    uint32_t lane = i % EIGHT;
    boxes->least_x[lane] = shown->x[i] < boxes->least_x[lane] ? shown->x[i] : boxes->least_x[lane];
    boxes->least_y[lane] = shown->y[i] < boxes->least_y[lane] ? shown->y[i] : boxes->least_y[lane];
    boxes->most_x[lane] = shown->x[i] > boxes->most_x[lane] ? shown->x[i] : boxes->most_x[lane];
    boxes->most_y[lane] = shown->y[i] > boxes->most_y[lane] ? shown->y[i] : boxes->most_y[lane];
    return;
  }
  herds_put_number(it->type, it->first + i, HERD_DYING);
  it->block->dying++;
  scratch->dying = true;
}

static float least_of(const floats *value) {
  float least = (*value)[0];
  for (uint32_t i = 1; i < EIGHT; i++) least = (*value)[i] < least ? (*value)[i] : least;
  return least;
}

static float most_of(const floats *value) {
  float most = (*value)[0];
  for (uint32_t i = 1; i < EIGHT; i++) most = (*value)[i] > most ? (*value)[i] : most;
  return most;
}

VECTOR_CLONES static void pass(const checking *it, struct boxes *box) {
  struct boxes boxes = *box;
  ints more = {0};
  for (uint32_t i = 0; i < it->shown->count; i += EIGHT) {
    if (pass_eight(it, i, &boxes, &more)) continue;
    for (uint32_t k = i; k < i + EIGHT; k++) check_one(it, k, &boxes);
  }
  for (uint32_t i = 0; i < EIGHT; i++) it->scratch->members_more += more[i];
  *box = boxes;
}

void herds_check(const struct herd_type *type, uint32_t number, const muster_herd_block *shown, herd_scratch *scratch) {
  herd_block *block = &type->blocks[number];
  ASSERT(shown->count % EIGHT == 0 && shown->count <= MUSTER_HERD_BLOCK);
  const floats none = {0};
  struct boxes boxes = {.low_x = (float)(-1e9 - block->origin_x),
                        .low_y = (float)(-1e9 - block->origin_y),
                        .high_x = (float)(1e9 - block->origin_x),
                        .high_y = (float)(1e9 - block->origin_y),
                        .least_x = none + HERD_NOWHERE,
                        .least_y = none + HERD_NOWHERE,
                        .most_x = none - HERD_NOWHERE,
                        .most_y = none - HERD_NOWHERE};
  checking it = {type, shown, block, scratch, number * MUSTER_HERD_BLOCK};
  pass(&it, &boxes);
  block->low_x = least_of(&boxes.least_x);
  block->low_y = least_of(&boxes.least_y);
  block->high_x = most_of(&boxes.most_x);
  block->high_y = most_of(&boxes.most_y);
}
