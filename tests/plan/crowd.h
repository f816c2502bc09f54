/* tests/plan/crowd.h - agents and observers for tests of the score stage, and a look at every agent to compare with. */
#ifndef CROWD_H
#define CROWD_H

#include "agents/types.h"
#include "plan/classes.h"
#include "plan/due.h"
#include "plan/planning.h"
#include "plan/score.h"

struct crowd {
  struct arena arena;
  muster_world_def def;
  agent_store store;
  type_table types;
  struct space space;
  observer_table observers;
  class_table classes;
  score_board board;
  uint64_t draws, seed;
};

static inline muster_type_def crowd_type(void) {
  return CHANGED(idle_type(1), it.levels.count = 4);
}

static inline void crowd_register(struct crowd *crowd, muster_type_def type) {
  uint32_t index = types_register(&crowd->types, &type, crowd->def.limits.agents_max, &crowd->arena);
  cr_assert_neq(index, UINT32_MAX, "%s", muster_last_error());
  classes_reserve(&crowd->classes, &type, index);
}

/* Without a type. */
static inline struct crowd *crowd_create(uint32_t agents_max, uint32_t observers_max, float cell_m) {
  struct crowd *crowd = new_fixture(sizeof *crowd);
  crowd->def = WITH(papers_world_rules, it.limits.agents_max = agents_max, it.limits.observers_max = observers_max,
                    it.limits.types_max = 4, it.cell_m = cell_m);
  store_create(&crowd->store, agents_max, &crowd->arena);
  types_create(&crowd->types, crowd->def.limits.types_max, &crowd->arena);
  space_create(&crowd->space, agents_max, (double)cell_m, &crowd->arena);
  observers_create(&crowd->observers, observers_max, &crowd->arena);
  classes_create(&crowd->classes, crowd->def.limits.types_max, agents_max, 0, &crowd->arena);
  score_create(&crowd->board, &crowd->def, &crowd->arena);
  cr_assert_not(crowd->arena.failed);
  crowd->board.inputs =
      (score_inputs){&crowd->store, &crowd->types, &crowd->space, &crowd->observers, &crowd->classes, NULL, NULL};
  return crowd;
}

static inline struct crowd *crowd_create_plain(uint32_t agents_max, uint32_t observers_max, float cell_m) {
  struct crowd *crowd = crowd_create(agents_max, observers_max, cell_m);
  crowd_register(crowd, crowd_type());
  return crowd;
}

static inline double crowd_draw(struct crowd *crowd) {
  return (double)muster_random_share(random_at(crowd->seed, 0, 0, ++crowd->draws));
}

static inline muster_position crowd_place(struct crowd *crowd, double span_m) {
  double x = crowd_draw(crowd) * span_m, y = crowd_draw(crowd) * span_m, z = crowd_draw(crowd) * 80.0;
  return (muster_position){x - span_m / 2, y - span_m / 2, z};
}

static inline agent_row *crowd_spawn(struct crowd *crowd, uint32_t index, muster_position position, uint32_t partition,
                                     float floor) {
  agent_store *store = &crowd->store;
  store->rows[index] =
      (agent_row){.floor = share_of(floor), .elasticity_step = 255, .factors = {255, 255, 255}, .generation = 1};
  store->places[index].partition = (uint16_t)partition;
  space_place(&crowd->space, &store->places[index], position);
  space_link(&crowd->space, store, index);
  score_new_agent(&crowd->board, index);
  store_activate(store, index);
  store->rows[index].virtual_due_ns = 1000;
  due_insert(&crowd->classes, &crowd->classes.classes[store->rows[index].class], store, index);
  return &store->rows[index];
}

static inline void crowd_move(struct crowd *crowd, uint32_t index, muster_position position) {
  space_spot spot = space_spot_of(&crowd->space, position);
  if (score_notices(&crowd->board, &crowd->store.places[index], spot)) score_note(&crowd->board, index);
  space_move(&crowd->space, &crowd->store, index, spot);
}

static inline void crowd_observe(struct crowd *crowd, uint32_t index, muster_position position, uint32_t partition,
                                 float near_m, float far_m) {
  muster_observer_def def =
      WITH(muster_observer_def, it.position = position, it.partition = partition, it.near_m = near_m, it.far_m = far_m);
  observers_add(&crowd->observers, index, &def);
}

/* One stage, in `parts` calls as from so many threads. */
static inline score_summary crowd_frame(struct crowd *crowd, uint32_t units, uint32_t parts) {
  uint32_t items = score_prepare(&crowd->board, units);
  for (uint32_t i = parts; i-- > 0;) score_range(&crowd->board, items * i / parts, items * (i + 1) / parts);
  score_apply(&crowd->board);
  return crowd->board.summary;
}

/* Frames until nothing waits. */
static inline uint32_t crowd_settle(struct crowd *crowd) {
  uint32_t frames = 1;
  while (crowd_frame(crowd, SCORE_UNITS_MAX, 1).waiting) cr_assert_lt(frames++, 10000, "it never ends");
  return frames;
}

/* Importance by distance, by a look at every observer. */
static inline float crowd_importance(const struct crowd *crowd, uint32_t index, double *margin) {
  const agent_place *place = &crowd->store.places[index];
  muster_position at = space_position(&crowd->space, place);
  float best = 0.0f;
  *margin = INFINITY;
  for (uint32_t i = 0; i < crowd->observers.high; i++) {
    const observer_row *row = &crowd->observers.rows[i];
    if (!row->present || row->partition != place->partition) continue;
    double x = at.x - row->position.x, y = at.y - row->position.y, z = at.z - row->position.z;
    double distance = sqrt(x * x + y * y + z * z), span = (double)row->far_m - (double)row->near_m;
    double share = ((double)row->far_m - distance) / span;
    *margin = fmin(*margin, -share); /* below 0 inside far_m, above 1 is within near_m: in shares of importance */
    best = fmaxf(best, (float)fmin(fmax(share, 0.0), 1.0));
  }
  return best;
}

/* The worst error of any agent's importance. Well inside near_m and well outside far_m any error counts as 1. */
static inline float crowd_worst(const struct crowd *crowd, float tolerance) {
  float worst = 0.0f;
  for (uint32_t i = 0; (i = store_next_active(&crowd->store, i)) != UINT32_MAX; i++) {
    double beyond;
    float expected = crowd_importance(crowd, i, &beyond), found = share_value(crowd->store.rows[i].importance);
    bool must_be_0 = beyond > (double)tolerance, must_be_1 = beyond < -1.0 - (double)tolerance;
    worst = fmaxf(worst, fabsf(expected - found));
    if ((must_be_0 && found != 0.0f) || (must_be_1 && found != 1.0f)) worst = 1.0f;
  }
  return worst;
}

static inline void crowd_check(const struct crowd *crowd, float tolerance) {
  float worst = crowd_worst(crowd, tolerance);
  cr_assert_leq(worst, tolerance, "the worst error is %g", (double)worst);
}

/* The same when nothing waits any more. */
static inline void crowd_settle_and_check(struct crowd *crowd, float tolerance) {
  crowd_settle(crowd);
  crowd_check(crowd, tolerance);
}

/* Every class knows how many of its members are in each band. */
static inline void crowd_check_bands(const struct crowd *crowd) {
  uint32_t(*found)[MUSTER_BANDS] = calloc(crowd->classes.count, sizeof *found), all[MUSTER_BANDS] = {0};
  for (uint32_t i = 0; (i = store_next_active(&crowd->store, i)) != UINT32_MAX; i++)
    found[crowd->store.rows[i].class][band_of(crowd->store.rows[i].importance)]++;
  for (uint32_t i = 0; i < crowd->classes.count; i++) {
    cr_assert_arr_eq(crowd->classes.classes[i].in_band, found[i], sizeof *found, "class %u", i);
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) all[band] += found[i][band];
  }
  cr_assert_arr_eq(crowd->classes.in_band, all, sizeof all);
  free(found);
}

/* Bins, bands, levels and members add up. */
static inline void crowd_check_sums(const struct crowd *crowd) {
  crowd_check_bands(crowd);
  uint32_t binned = 0, members = 0, levelled = 0;
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) binned += crowd->board.importance[bin];
  for (uint32_t i = 0; i < crowd->classes.count; i++) members += crowd->classes.classes[i].members;
  for (uint32_t i = 0; i < MUSTER_LEVELS; i++) levelled += crowd->store.level_counts[i];
  cr_assert_eq(binned, crowd->store.active_count);
  cr_assert_eq(members, crowd->store.active_count);
  cr_assert_eq(levelled, crowd->store.active_count);
  for (uint32_t i = 0; (i = store_next_active(&crowd->store, i)) != UINT32_MAX; i++)
    cr_assert_eq(crowd->classes.classes[crowd->store.rows[i].class].level, crowd->store.rows[i].level);
}

#endif
