#include "plan/classes.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

void classes_create(class_table *table, uint32_t types_max, uint32_t agents_max, uint32_t shards, struct arena *arena) {
  uint32_t keys = types_max * MUSTER_LEVELS * ELASTICITY_STEPS;
  /* Derived elasticities of all levels, some that designers set, and agents' own periods. */
  uint32_t usual = types_max * 64 + 1024;
  *table = (class_table){.maximum = usual < UINT16_MAX ? usual : UINT16_MAX};
  ARENA_ARRAY(arena, table->classes, table->maximum);
  ARENA_ARRAY(arena, table->active, table->maximum);
  ARENA_ARRAY(arena, table->lookup, keys);
  ARENA_ARRAY(arena, table->tuned, types_max);
  ARENA_ARRAY(arena, table->frozen, types_max);
  ARENA_ARRAY(arena, table->sums, types_max);
  for (uint32_t i = 0; i < CLASS_KINDS; i++) table->look_band_of[i] = (uint8_t)i;
  looks_create(&table->looks, agents_max, shards, arena);
}

/* How far a class is from what was asked for: an octave of the period counts more than any elasticity. */
static double distance_of(const agent_class *class, uint32_t step, uint64_t nominal_ns) {
  return fabs(log2((double)class->nominal_ns / (double)nominal_ns)) * ELASTICITY_STEPS + abs(class->step - (int)step);
}

/* For a full table, which takes more than a hundred types of all levels and elasticities, or a thousand periods of
 * agents: searches the type's classes. */
static agent_class *nearest_class(class_table *table, uint32_t type_index, uint32_t step, uint64_t nominal_ns) {
  agent_class *nearest = NULL;
  for (uint32_t i = 0; i < table->count; i++) {
    agent_class *class = &table->classes[i];
    if (class->type != type_index) continue;
    if (!nearest || distance_of(class, step, nominal_ns) < distance_of(nearest, step, nominal_ns)) nearest = class;
  }
  ASSERT(nearest);
  return nearest;
}

void classes_set_rate(agent_class *class, double rate) {
  class->rate = rate;
  class->period_ns = (float)((double)class->nominal_ns / rate);
}

void classes_reserve(class_table *table, const muster_type_def *type, uint32_t type_index) {
  classes_get(table, type, type_index, 0, ELASTICITY_STEP_OF_ONE);
}

void classes_set_periods(class_table *table, agent_class *class, class_periods periods) {
  ASSERT(periods.nominal_ns > 0 && periods.longest_ns >= periods.nominal_ns);
  class->nominal_ns = periods.nominal_ns;
  class->longest_ns = periods.longest_ns;
  class->per_nominal = 1.0f / (float)class->nominal_ns;
  classes_set_rate(class, class->rate);
  if (class->members) classes_follow_rate(table, class);
}

/* Whether a class has the periods that are asked for: the type's, or an agent's own. */
static bool has_periods(const agent_class *class, const class_periods *own) {
  if (!own) return !class->own;
  return class->own && class->nominal_ns == own->nominal_ns && class->longest_ns == own->longest_ns;
}

agent_class *classes_get(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                         uint32_t step) {
  return classes_get_own(table, type, type_index, level, step, NULL);
}

agent_class *classes_make(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                          uint32_t step, const class_periods *own) {
  uint16_t *entry = &table->lookup[(type_index * MUSTER_LEVELS + level) * ELASTICITY_STEPS + step];
  ASSERT(table->count < table->maximum && level < MUSTER_LEVELS && step < ELASTICITY_STEPS);
  while (*entry) entry = &table->classes[*entry - 1].next;
  agent_class *class = &table->classes[table->count++];
  *entry = (uint16_t)table->count;
  class->number = (uint16_t)(table->count - 1);
  class->type = (uint16_t)type_index;
  class->level = (uint8_t)level;
  class->step = (uint8_t)step;
  class->own = own != NULL;
  class->hard = type->period_max_hard;
  class->elasticity = elasticity_of_step(step);
  class->rate = 1.0;
  class->elapsed = (uint8_t)type->elapsed.contract;
  class->step_ns = type->elapsed.contract == MUSTER_ELAPSED_STEPS ? type->elapsed.step_ns : 0;
  classes_set_periods(table, class, own ? *own : classes_periods_of(table, type, type_index));
  return class;
}

agent_class *classes_get_own(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                             uint32_t step, const class_periods *own) {
  ASSERT(level < MUSTER_LEVELS && step < ELASTICITY_STEPS);
  uint16_t number = table->lookup[(type_index * MUSTER_LEVELS + level) * ELASTICITY_STEPS + step];
  for (; number; number = table->classes[number - 1].next)
    if (has_periods(&table->classes[number - 1], own)) return &table->classes[number - 1];
  if (table->count < table->maximum) return classes_make(table, type, type_index, level, step, own);
  return nearest_class(table, type_index, step,
                       own ? own->nominal_ns : classes_periods_of(table, type, type_index).nominal_ns);
}

/* Rates of four octaves are of a kind, and 1 is by itself: agents that stretch need not be looked at because others do
 * not stretch any more. */
static uint32_t kind_of_rate(double rate) {
  int exponent;
  frexp(rate, &exponent); /* 1 for 1, 0 from a half on */
  uint32_t kind = exponent < 1 ? 1 + (uint32_t)-exponent / 4 : 0;
  return kind < CLASS_RATES ? kind : CLASS_RATES - 1;
}

/* Of many classes a small one always has risen since some member was put in: all others would be looked at too early
 * for it. */
static uint32_t kind_of_class(const class_table *table, const agent_class *class) {
  return class->members < table->few ? (uint32_t)CLASS_OF_FEW : kind_of_rate(class->rate);
}

/* The pace of a band goes up and down with the rates of its classes, together: as the sum of what their members run.
 * Most rates change in the same proportion, since all follow from one scalar. */
static void follow_paces(class_table *table) {
  const double most = 1e6;
  double before[LOOK_BANDS] = {0}, now[LOOK_BANDS] = {0};
  uint32_t bands = 0;
  uint64_t members = 0;
  for (uint32_t i = 0; i < table->active_count; i++) {
    const agent_class *class = &table->classes[table->active[i]];
    members += class->members;
    bands |= class->look_bands;
    if (!classes_in_bands(table, class)) continue;
    for (uint32_t left = class->look_bands; left; left &= left - 1) {
      uint32_t band = (uint32_t)__builtin_ctz(left);
      before[band] += (double)class->members * class->rate_before;
      now[band] += (double)class->members * class->rate;
    }
  }
  table->all = members;
  table->few = (uint32_t)(members / CLASS_FEW_PART);
  table->looks.bands = bands;
  for (uint32_t left = bands; left; left &= left - 1) {
    uint32_t band = (uint32_t)__builtin_ctz(left);
    if (!(before[band] > 0.0)) continue;
    double pace = table->looks.pace[band] * (now[band] / before[band]);
    table->looks.pace[band] = pace > 1.0 / most ? pace < most ? pace : most : 1.0 / most;
  }
}

/* The bands by which agents are put in now: a bit for each. */
static uint32_t bands_in_use(const class_table *table) {
  uint32_t bands = 0;
  for (uint32_t kind = 0; kind < CLASS_KINDS; kind++) bands |= 1u << table->look_band_of[kind];
  return bands;
}

/* Where the clock of a band has come to run at another pace than when it came into use, its slots have another width.
 */
static bool has_pace_of_old(const class_table *table, uint32_t band) {
  double pace = table->looks.pace[band];
  return pace < 0.5 || pace > 2.0;
}

/* Where a band's clock must go faster than its pace, for members that were put in at a lower rate, it looks at all
 * others too early. */
static bool hurries(const class_table *table, uint32_t band, double speed) {
  static const double hurry_least = 1.01;
  return speed > table->looks.pace[band] * hurry_least;
}

/* Members are put in by another band, which is free, where their band has another pace than when it came into use; and
 * where it hurries, once looks in vain have come to cost as much as it costs to sweep all members into another one. */
static void choose_bands(class_table *table, const double speeds[LOOK_BANDS]) {
  struct looks *looks = &table->looks;
  bool costly = looks->vain > table->all, all_found = true;
  for (uint32_t kind = 0; kind < CLASS_KINDS; kind++) {
    uint32_t band = table->look_band_of[kind];
    if (!(looks->bands >> band & 1)) continue;
    if (!has_pace_of_old(table, band) && !(costly && hurries(table, band, speeds[band]))) continue;
    uint32_t free = ~(looks->bands | looks->swept | bands_in_use(table)) & ((1u << LOOK_BANDS) - 1);
    if (free)
      table->look_band_of[kind] = (uint8_t)__builtin_ctz(free);
    else
      all_found = false;
  }
  if (costly && all_found) looks->vain = 0;
}

/* A sweep has put all members in anew that its bands had. */
static void end_sweep(class_table *table) {
  for (uint32_t i = 0; i < table->active_count; i++)
    table->classes[table->active[i]].look_bands &= (uint16_t)~table->looks.swept;
  table->looks.bands &= ~table->looks.swept;
  table->looks.swept = 0;
}

/* A band by which agents are not put in any more goes on until it has looked at the last one, which may be a whole long
 * period ahead. It is swept, so that it is soon free, and the others that it has are not looked at too early until
 * then. */
static void sweep_bands(class_table *table) {
  struct looks *looks = &table->looks;
  if (looks->swept && looks->sweep_line == looks_lines(looks)) end_sweep(table);
  if (looks->swept) return;
  looks->swept = looks->bands & ~bands_in_use(table);
  looks->sweep_line = 0;
}

void classes_find_speeds(class_table *table, double speeds[LOOK_BANDS]) {
  follow_paces(table);
  for (uint32_t i = 0; i < table->active_count; i++) {
    const agent_class *class = &table->classes[table->active[i]];
    if (table->frozen[class->type]) continue;
    for (uint32_t left = class->look_bands; left; left &= left - 1) {
      uint32_t band = (uint32_t)__builtin_ctz(left);
      const class_stay *stay = &class->stays[band];
      double speed = class->rate / (stay->rate < stay->old_rate ? stay->rate : stay->old_rate);
      if (speed > speeds[band]) speeds[band] = speed;
    }
  }
  choose_bands(table, speeds);
  sweep_bands(table);
}

/* Forgets members that were put in so long ago that all of them were looked at since. */
static void forget_stays(const struct looks *looks, agent_class *class) {
  for (uint32_t left = class->look_bands; left; left &= left - 1) {
    uint32_t band = (uint32_t)__builtin_ctz(left);
    class_stay *stay = &class->stays[band];
    if (looks->clock_ns[band] < stay->old_end_ns + (2u << LOOK_FINE_SHIFT)) continue;
    *stay = (class_stay){stay->rate, INFINITY, stay->end_ns, 0};
    if (stay->old_end_ns == 0) class->look_bands &= (uint16_t) ~(1u << band);
  }
}

void classes_follow_rate(class_table *table, agent_class *class) {
  const double reach_max_ns = (double)LOOK_REACH * (double)(1ull << LOOK_COARSE_SHIFT);
  struct looks *looks = &table->looks;
  forget_stays(looks, class);
  uint32_t band = class->look_band = table->look_band_of[kind_of_class(table, class)];
  class_stay *stay = &class->stays[band];
  if (!(class->look_bands >> band & 1)) *stay = (class_stay){INFINITY, INFINITY, 0, 0};
  class->look_bands |= (uint16_t)(1u << band);
  looks_use_band(looks, band);
  double rate = class->rate / looks->pace[band], ahead_ns = (double)class->nominal_ns / rate;
  class->look_ahead = 1.0 / rate;
  class->rate_before = class->rate;
  class->furthest_ns = looks->clock_ns[band] + (uint64_t)(ahead_ns < reach_max_ns ? ahead_ns : reach_max_ns);
  if (rate < stay->rate) stay->rate = rate;
  if (class->furthest_ns > stay->end_ns) stay->end_ns = class->furthest_ns;
}

void classes_freeze(class_table *table, uint32_t type, bool frozen) {
  if (frozen == table->frozen[type]) return;
  table->frozen[type] = frozen;
  for (uint32_t i = 0; i < table->active_count; i++) {
    const agent_class *class = &table->classes[table->active[i]];
    if (class->type != type || class->elapsed == MUSTER_ELAPSED_EVENTS) continue;
    for (uint32_t band = 0; band < MUSTER_BANDS; band++)
      table->in_band[band] += frozen ? 0u - class->in_band[band] : class->in_band[band];
  }
}

void classes_count(class_table *table, agent_class *class, const agent_row *row, int32_t change) {
  class_sum *sum = &table->sums[class->type][class->level];
  uint64_t units = factor_units_of(row->cost_factor), shift = factor_shift_units_of(row->cost_factor);
  classes_count_band(table, class, band_of(row->importance), change);
  class->members += (uint32_t)change;
  sum->members += (uint64_t)(int64_t)change;
  class->factors += change > 0 ? units : 0 - units;
  class->shifts += change > 0 ? shift : 0 - shift;
  sum->factors += change > 0 ? units : 0 - units;
}

void classes_join(class_table *table, agent_class *class, const agent_row *row) {
  classes_count(table, class, row, 1);
  if (class->members > 1) return;
  class->active_position = table->active_count;
  table->active[table->active_count++] = class->number;
  classes_follow_rate(table, class);
}

void classes_leave(class_table *table, agent_class *class, const agent_row *row) {
  ASSERT(class->members > 0 && class->in_band[band_of(row->importance)] > 0);
  classes_count(table, class, row, -1);
  if (class->members > 0) return;
  class->pace = (activation_pace){0};
  class->look_bands = 0;
  uint16_t last = table->active[--table->active_count];
  table->active[class->active_position] = last;
  table->classes[last].active_position = class->active_position;
}

void classes_set_factor(class_table *table, agent_class *class, agent_row *row, int32_t factor) {
  ASSERT(class->members > 0 && factor_is_possible(factor));
  uint64_t more = (uint64_t)factor_units_of(factor) - factor_units_of(row->cost_factor); /* modulo 2^64 */
  class->factors += more;
  class->shifts += (uint64_t)factor_shift_units_of(factor) - factor_shift_units_of(row->cost_factor);
  table->sums[class->type][class->level].factors += more;
  row->cost_factor = (int8_t)factor;
}

float classes_note_elapsed(agent_class *class, uint64_t elapsed_ns) {
  enum { EACH = 32 };
  float before_ns = class->usual_samples ? class->usual_elapsed_ns : (float)elapsed_ns;
  uint32_t most = class->members < UINT32_MAX / EACH ? class->members * EACH : UINT32_MAX;
  class->usual_samples = class->usual_samples < most ? class->usual_samples + 1 : most ? most : 1;
  class->usual_elapsed_ns = before_ns + ((float)elapsed_ns - before_ns) / (float)class->usual_samples;
  return before_ns;
}
