#include "plan/periods.h"

#include "base/assert.h"
#include "base/prefetch.h"

#include <math.h>

void periods_create(struct periods *periods, const class_table *classes, const muster_world_def *def,
                    struct arena *arena) {
  *periods =
      (struct periods){.elastic = def->elastic, .wish_part = (double)def->importance.wish_part, .price_most = INFINITY};
  ARENA_ARRAY(arena, periods->kinds, classes->maximum);
  periods->types = def->limits.types_max;
  ARENA_ARRAY(arena, periods->of_types, periods->types);
  const shard_map *map = &classes->looks.map;
  uint32_t types = (def->limits.types_max + 15) / 16 * 16; /* whole cache lines */
  uint32_t *of_types = arena_reserve(arena, (size_t)types * map->count, sizeof *of_types);
  ARENA_ARRAY(arena, periods->agents, (size_t)looks_lines(&classes->looks) * LOOK_AGENTS);
  ARENA_ARRAY(arena, periods->parts, map->count);
  for (uint32_t i = 0; i < map->count && !arena->failed; i++) periods->parts[i].sums.of_type = of_types + types * i;
}

static fit_rule rule_of(const struct periods *periods) {
  return periods->elastic >= MUSTER_ELASTIC_SQUARE_ROOT ? FIT_SQUARE_ROOT : FIT_ELASTIC;
}

/* What an update of an agent is believed to cost, but for what elapsed time adds where there are periods: the mean over
 * the members of a class, without and with its actions; and, with them, what one of its type and level usually costs.
 */
typedef struct class_cost {
  double update_ns, own_ns, usual_ns;
} class_cost;

static inline class_cost class_cost_of(const agent_class *class, const cost_table *costs) {
  const cost_estimate *estimate = costs_of(costs, class->type, class->level);
  bool periodic = class->elapsed != MUSTER_ELAPSED_EVENTS;
  double usual_ns = periodic ? costs_fixed_ns(estimate) : costs_usual_ns(estimate);
  double update_ns = usual_ns * classes_factor(class), actions_ns = costs->actions[class->type].each_ns;
  return (class_cost){update_ns, update_ns + actions_ns, usual_ns + actions_ns};
}

/* What a member costs for each ns that passes, in the mean over the members, however often it runs. Few have any. */
static inline double slope_of(const agent_class *class, const cost_table *costs) {
  const cost_estimate *estimate = costs_of(costs, class->type, class->level);
  if (estimate->slope <= 0.0f || class->elapsed == MUSTER_ELAPSED_EVENTS) return 0.0;
  return costs_slope(estimate) * classes_factor(class);
}

double periods_cost_ns(const agent_class *class, const cost_table *costs) {
  return class_cost_of(class, costs).update_ns + slope_of(class, costs) * (double)class->period_ns;
}

/* E_i for the rule in use. A period follows from what an update usually costs, not from what those of the members do.
 * By the law of importance it is to follow that too: then the half octaves of the members' cost factors are in the
 * elasticity (plan/grade.c), and what these leave is taken in the mean. */
static double elasticity_of(const struct periods *periods, const agent_class *class, class_cost cost) {
  double cost_ns = cost.own_ns, usual_ns = cost.usual_ns;
  switch (periods->elastic) {
  case MUSTER_ELASTIC_UTILISATION:
    return class->elasticity;
  case MUSTER_ELASTIC_IMPORTANCE:
    usual_ns *= classes_rest(class);
    __attribute__((fallthrough));
  case MUSTER_ELASTIC_SQUARE_ROOT:
    return cost_ns > 0 ? sqrt(class->elasticity * usual_ns * 1e9) / cost_ns : 0.0;
  default:
    return class->elasticity * cost_ns * 1e-9;
  }
}

/* The shortest period of members. By the law of importance, where a frame comes less often than that, it is as long as
 * a frame: an agent runs once in a frame, so what it is due more often takes no time, and others can have it. */
static double shortest_of(const struct periods *periods, const agent_class *class) {
  bool law = periods->elastic == MUSTER_ELASTIC_IMPORTANCE;
  double nominal_ns = (double)class->nominal_ns;
  return law && periods->frame_ns > nominal_ns ? periods->frame_ns : nominal_ns;
}

static fit_kind periods_kind_of(const struct periods *periods, const class_table *classes, const agent_class *class,
                                class_cost cost) {
  double shortest_ns = shortest_of(periods, class);
  double longest_ns = (double)class->longest_ns;
  return (fit_kind){.members = classes->frozen[class->type] ? 0.0 : (double)class->members,
                    .nominal = cost.own_ns / shortest_ns,
                    .minimum = cost.own_ns / (longest_ns > shortest_ns ? longest_ns : shortest_ns),
                    .elasticity = elasticity_of(periods, class, cost),
                    .hard = class->hard};
}

/* Agents without a period: one kind that takes what they usually take together, and never gives way. */
static fit_kind kind_of_events(const agent_class *class, class_cost cost) {
  double share = cost.own_ns * class->events_per_ns;
  return (fit_kind){.members = 1.0, .nominal = share, .minimum = share};
}

static fit_kind kind_for(const struct periods *periods, const class_table *classes, const agent_class *class,
                         class_cost cost) {
  return class->elapsed == MUSTER_ELAPSED_EVENTS ? kind_of_events(class, cost)
                                                 : periods_kind_of(periods, classes, class, cost);
}

double periods_elapsed_load(const class_table *classes, const agent_class *class, const cost_table *costs) {
  return classes->frozen[class->type] ? 0.0 : slope_of(class, costs) * (double)class->members;
}

/* The part that is left to periods, whatever takes time that they do not lower: longer ones would make agents staler,
 * and nothing cheaper. */
static const double room_least = 0.25;

static double room_beside(double desired, double taken) {
  return fmax(desired - taken, room_least * desired);
}

/* The part of the desired utilisation that is left to periods, when agents without a period have run, and further
 * updates of woken agents, and beside what agents take for the time that passes. Agents without a period leave the fit:
 * no period makes them fewer. Of the rest, wakes take half at most, since the order of running leaves half to agents
 * that are late by their periods: beyond that, agents that are due wait for their turn among the woken ones. */
static double room_for_periods(struct periods *periods, const class_table *classes, const cost_table *costs,
                               double desired, double elapsed, double *events) {
  static const double woken_most = 0.5;
  double alone = 0.0, woken = 0.0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    if (class->events_per_ns <= 0.0) continue;
    double share = class_cost_of(class, costs).own_ns * class->events_per_ns;
    if (class->elapsed != MUSTER_ELAPSED_EVENTS) {
      woken += share;
      continue;
    }
    alone += share;
    periods->kinds[i] = (fit_kind){0};
  }
  *events = alone + woken;
  double room = room_beside(desired, alone + elapsed);
  return room - fmin(woken, woken_most * room);
}

/* Under the law of importance, pressure is the load of the wishes while any agent has to give way. */
static fit_result solve_by_law(struct periods *periods, const class_table *classes, const cost_table *costs,
                               double desired, double elapsed, fit_wishes *wishes) {
  double events, room = room_for_periods(periods, classes, costs, desired, elapsed, &events);
  *wishes = fit_stretch_wishes(periods->kinds, classes->active_count, room, periods->wish_part);
  fit_result fit = fit_solve(FIT_SQUARE_ROOT, periods->kinds, classes->active_count, room, periods->lambda);
  if (fit.pressure > 0.0 || wishes->held_rate < 1.0) fit.pressure = wishes->load;
  fit.nominal_sum += events;
  fit.minimum_sum += events;
  fit.fitted_sum += events;
  return fit;
}

/* What the members of the uppermost band would take at their wanted period; 0 when they have none. */
static double important_of(const class_table *classes, const agent_class *class, const fit_kind *kind) {
  return classes_in_bands(classes, class) ? (double)class->in_band[MUSTER_BANDS - 1] * kind->nominal : 0.0;
}

static fit_result solve(struct periods *periods, const class_table *classes, const cost_table *costs, double desired,
                        double elapsed, fit_wishes *wishes) {
  *wishes = (fit_wishes){.held_rate = 1.0};
  bool law = periods->elastic == MUSTER_ELASTIC_IMPORTANCE && isfinite(desired);
  fit_result fit = law ? solve_by_law(periods, classes, costs, desired, elapsed, wishes)
                       : fit_solve(rule_of(periods), periods->kinds, classes->active_count,
                                   room_beside(desired, elapsed), periods->lambda);
  periods->lambda = fit.lambda;
  fit.nominal_sum += elapsed;
  fit.minimum_sum += elapsed;
  fit.fitted_sum += elapsed;
  return fit;
}

static void set_rate(const struct periods *periods, agent_class *class, const fit_kind *kind, double held_rate) {
  double rate = fit_rate(rule_of(periods), kind, periods->lambda) * (kind->elasticity > 0.0 ? 1.0 : held_rate);
  if (rate < 1.0) rate *= (double)class->nominal_ns / shortest_of(periods, class);
  double longest = (double)class->nominal_ns / (double)class->longest_ns;
  double least = longest < PERIODS_RATE_LEAST ? longest : PERIODS_RATE_LEAST;
  classes_set_rate(class, rate > least ? rate : least);
}

/* What each frame needs of a class. */
PREFETCH_FUNCTION prefetch_class(const agent_class *class) {
  __builtin_prefetch(class, 1);
  __builtin_prefetch(&class->period_ns, 1);
}

/* --------------------------------------------------------------------------------------- more than there is time for
 */

/* What a nanosecond of a member costs beside what it is worth, where longer periods may put it off; else 0. */
static double price_of(const agent_class *class, const cost_table *costs) {
  return class->hard ? 0.0 : class->elasticity * slope_of(class, costs);
}

static bool is_put_off(const struct periods *periods, const agent_class *class, const cost_table *costs) {
  return price_of(class, costs) > periods->price_most;
}

/* What agents of no higher price take for the time that passes. */
static double elapsed_load_up_to(const class_table *classes, const cost_table *costs, double price) {
  double load = 0.0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    if (price_of(class, costs) <= price) load += periods_elapsed_load(classes, class, costs);
  }
  return load;
}

/* The highest price up to which that fits into `most`; and the next one, where what fits is little. Those whose time
 * costs the least stay in any case, and those with about the same price: some must run. */
static double price_for(const class_table *classes, const cost_table *costs, double most) {
  enum { ROUNDS = 40 };
  static const double about = 1.25, little = 0.5;
  double low = INFINITY, high = 0.0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    double price = price_of(&classes->classes[classes->active[i]], costs);
    if (price > 0.0) low = fmin(low, price);
    high = fmax(high, price);
  }
  low *= about;
  for (uint32_t round = 0; round < ROUNDS && high > low * (1.0 + 1e-6); round++) {
    double middle = sqrt(low) * sqrt(high);
    if (elapsed_load_up_to(classes, costs, middle) <= most)
      low = middle;
    else
      high = middle;
  }
  return elapsed_load_up_to(classes, costs, low) < little * most ? high : low;
}

/* When time that passes alone costs more than there is, all agents would run later and later, however long their
 * periods, the important among them: what is due first runs first. Then those are put off whose time is worth the least
 * for what it costs, until the others fit beside the part that is left to periods. They come back when there is clearly
 * room for them: each brings all the time along for which it did not run. */
static double price_most_of(const struct periods *periods, const class_table *classes, const cost_table *costs,
                            double load) {
  static const double back = 0.9;
  double most = (1.0 - room_least) * periods->desired_mean;
  if (load <= back * most || (load <= most && isinf(periods->price_most))) return INFINITY;
  double upper = load > most ? price_for(classes, costs, most) : INFINITY;
  return fmin(fmax(periods->price_most, price_for(classes, costs, back * most)), upper);
}

/* Who is put off must not go to and fro with what a frame has. */
static void follow_desired(struct periods *periods, double desired) {
  static const double frames = 64.0;
  if (!isfinite(desired)) return;
  if (periods->desired_mean <= 0.0) periods->desired_mean = desired;
  periods->desired_mean += (desired - periods->desired_mean) / frames;
}

/* Agents that are put off leave the fit. Returns what the others take for the time that passes. */
static double leave_put_off(struct periods *periods, const class_table *classes, const cost_table *costs,
                            double desired, periods_told *told) {
  double put_off_load = 0.0;
  bool law = periods->elastic == MUSTER_ELASTIC_IMPORTANCE && isfinite(desired);
  follow_desired(periods, desired);
  periods->price_most = law ? price_most_of(periods, classes, costs, told->elapsed_load) : INFINITY;
  if (isinf(periods->price_most)) return told->elapsed_load;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    if (!is_put_off(periods, class, costs)) continue;
    put_off_load += periods_elapsed_load(classes, class, costs);
    told->put_off += class->members;
    periods->kinds[i] = (fit_kind){0};
  }
  return told->elapsed_load - put_off_load;
}

/* 1 + the type whose agents take the most for the time that passes. */
static uint32_t elapsed_type_of(const struct periods *periods, const class_table *classes, const cost_table *costs) {
  uint32_t most = 0;
  for (uint32_t type = 0; type < periods->types; type++) periods->of_types[type] = 0.0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    periods->of_types[class->type] += periods_elapsed_load(classes, class, costs);
  }
  for (uint32_t type = 0; type < periods->types; type++)
    if (periods->of_types[type] > periods->of_types[most]) most = type;
  return most + 1;
}

periods_told periods_fit(struct periods *periods, class_table *classes, const cost_table *costs, double desired,
                         uint64_t frame_ns) {
  enum { AHEAD = 6 };
  uint32_t count = classes->active_count;
  periods->frame_ns = (double)frame_ns;
  periods_told told = {0};
  double members = 0;
  for (uint32_t i = 0; i < count; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    if (i + AHEAD < count) prefetch_class(&classes->classes[classes->active[i + AHEAD]]);
    class_cost cost = class_cost_of(class, costs);
    class->cost_ns = costs_whole_ns(cost.update_ns);
    periods->kinds[i] = kind_for(periods, classes, class, cost);
    told.important_load += important_of(classes, class, &periods->kinds[i]);
    told.elapsed_load += periods_elapsed_load(classes, class, costs);
  }
  if (told.important_load > 0.0) told.important_load /= desired;
  told.fit =
      solve(periods, classes, costs, desired, leave_put_off(periods, classes, costs, desired, &told), &told.wishes);
  for (uint32_t i = 0; i < count; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    const fit_kind *kind = &periods->kinds[i];
    if (class->elapsed == MUSTER_ELAPSED_EVENTS) continue;
    double slope = slope_of(class, costs);
    if (slope > 0.0) class->cost_ns = costs_whole_ns(periods_cost_ns(class, costs));
    if (is_put_off(periods, class, costs)) {
      classes_set_rate(class, PERIODS_RATE_LEAST);
      told.beyond_wish += class->members;
      continue;
    }
    set_rate(periods, class, kind, told.wishes.held_rate);
    double period_ns = (double)class->nominal_ns / class->rate;
    told.deviation_ns += kind->members * (period_ns - (double)class->nominal_ns);
    members += kind->members;
    told.everybody_ns += kind->members * (kind->nominal * shortest_of(periods, class) + slope * period_ns);
    if (kind->members > 0.0 && period_ns > told.longest_ns) told.longest_ns = period_ns;
    if (classes_beyond_wish(class)) told.beyond_wish += (uint32_t)kind->members;
  }
  if (members > 0) told.deviation_ns /= members;
  if (told.elapsed_load > 0.0) told.elapsed_type = elapsed_type_of(periods, classes, costs);
  return told;
}

/* Learns events_per_ns as a mean over about sixteen frames. */
static void learn_events(agent_class *class, uint64_t elapsed_ns) {
  if (elapsed_ns == 0 || (class->events == 0 && class->events_per_ns <= 0.0)) return;
  class->events_per_ns += ((double)class->events / (double)elapsed_ns - class->events_per_ns) / 16.0;
  class->events = 0;
}

/* Advances the clocks of all classes. Where activation is planned, also learns how fast each clock runs, and the mean
 * load of a beat. */
static void advance(class_table *classes, uint64_t elapsed_ns) {
  activation_book *book = &classes->activation;
  bool planned = book->delay_max > 0;
  uint32_t beats = planned ? activation_turn(book, elapsed_ns) : 0;
  double load_ns = 0;
  due_advance_bands(classes, elapsed_ns);
  for (uint32_t i = 0; i < classes->active_count; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    uint64_t before_ns = class->clock_ns;
    due_advance(classes, class, elapsed_ns);
    learn_events(class, elapsed_ns);
    if (!planned || class->elapsed == MUSTER_ELAPSED_EVENTS || class->clock_ns == before_ns) continue;
    if (class->pace.beat_ns > 0)
      activation_pace_on(&class->pace, class->clock_ns - before_ns, beats);
    else
      class->pace = activation_pace_of(book->pace.beat_ns * class->rate, book->pace.late);
    load_ns += (double)class->members * (double)class->cost_ns * class->pace.beat_ns * (double)class->per_nominal;
  }
  if (planned && elapsed_ns) book->mean_ns = (int64_t)load_ns;
}

/* ---------------------------------------------------------------------------------------------------------- release */

/* A frame's release. */
typedef struct releasing {
  struct periods *periods;
  class_table *classes;
  agent_store *store;
  ready_set *ready;
  uint64_t now_ns, frame;
  uint32_t most; /* agents that there is room for */
  bool done;     /* all were released when they were looked at */
} releasing;

/* Where the agents of a shard are listed. */
static uint32_t *periods_listed(const releasing *release, uint32_t shard) {
  return release->periods->agents + (size_t)shard * release->classes->looks.map.words * 64;
}

static inline void hand_over(const releasing *release, uint32_t index, ready_sums *sums, uint64_t *fresh) {
  agent_row *row = &release->store->rows[index];
  ready_release_row(row, release->now_ns, release->frame, sums);
  *fresh = ready_entry(release->ready, row, index);
}

/* Releases those agents that are due of some that are not too many to be released all. */
static void release_now(releasing *release, const uint32_t *agents, uint32_t count, ready_sums *sums) {
  uint64_t *fresh = release->ready->fresh + release->ready->fresh_count;
  for (uint32_t i = 0; i < count; i++) {
    due_prefetch_rows(release->store, agents, i, count);
    if (due_has_come(release->classes, release->store, agents[i], release->now_ns))
      hand_over(release, agents[i], sums, fresh + sums->count);
  }
  release->done = true;
}

/* Looks at the agents of shards whose turn has come, and lists those that are due as the first one's. Where these are
 * all shards, and there is no question whether all are released, that is done at once. */
static void periods_look(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  releasing *release = argument;
  uint32_t *agents = periods_listed(release, first), due = 0;
  uint32_t count = looks_take(&release->classes->looks, first, end, agents);
  (void)worker;
  if (end - first == release->classes->looks.map.count && count <= release->most && ready_by_deadline(release->ready)) {
    ready_sums *sums = &release->periods->parts[first].sums;
    release_now(release, agents, count, sums);
    release->periods->parts[first].vain = count - sums->count;
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    due_prefetch_rows(release->store, agents, i, count);
    if (due_has_come(release->classes, release->store, agents[i], release->now_ns)) agents[due++] = agents[i];
  }
  for (uint32_t shard = first; shard < end; shard++) release->periods->parts[shard].due = shard == first ? due : 0;
  release->periods->parts[first].vain = count - due;
}

/* Releases the agents that are listed for a shard. */
static void hand_over_listed(const releasing *release, uint32_t shard) {
  const uint32_t *agents = periods_listed(release, shard);
  release_part *part = &release->periods->parts[shard];
  uint64_t *fresh = release->ready->fresh + part->place;
  for (uint32_t i = 0; i < part->due; i++) {
    due_prefetch_rows(release->store, agents, i, part->due);
    hand_over(release, agents[i], &part->sums, fresh + i);
  }
}

static void periods_hand_over(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  (void)worker;
  for (uint32_t shard = first; shard < end; shard++) hand_over_listed(argument, shard);
}

/* Finds where the entries of each shard go. Returns how many agents are due. */
static uint32_t periods_place(const releasing *release) {
  uint32_t shards = release->classes->looks.map.count, due = 0;
  for (uint32_t i = 0; i < shards; i++) {
    release->periods->parts[i].place = release->ready->fresh_count + due;
    due += release->periods->parts[i].due;
  }
  return due;
}

/* Not all that are due are released: they are to be looked at again. */
static void periods_put_back(const releasing *release) {
  struct looks *looks = &release->classes->looks;
  for (uint32_t shard = 0; shard < looks->map.count; shard++) {
    const uint32_t *agents = periods_listed(release, shard);
    for (uint32_t i = 0; i < release->periods->parts[shard].due; i++)
      due_put_back(release->classes, release->store, agents[i]);
  }
}

/* In the orders of the papers woken agents stand in a queue of their own: in the order of agents, whatever the shards.
 */
static void hand_over_in_turn(const releasing *release) {
  ready_ring *ring = &release->ready->ring;
  uint32_t woken = 0;
  for (uint32_t shard = 0; shard < release->classes->looks.map.count; shard++) {
    const uint32_t *agents = periods_listed(release, shard);
    for (uint32_t i = 0; i < release->periods->parts[shard].due; i++) {
      if (release->store->rows[agents[i]].woken)
        ring->sorted[woken++] = agents[i];
      else
        ready_release(release->ready, release->store, agents[i], release->now_ns, release->frame);
    }
  }
  ready_ring_sort(&ring->sorted, &ring->other, woken);
  for (uint32_t i = 0; i < woken; i++)
    ready_release(release->ready, release->store, (uint32_t)ring->sorted[i], release->now_ns, release->frame);
}

/* Releases all agents that are due, shard by shard beside each other; false, and none, when there is no room for them.
 */
static bool release_all(releasing *release, const struct parts *parts) {
  struct periods *periods = release->periods;
  uint32_t shards = release->classes->looks.map.count;
  uint64_t work_ns = (uint64_t)periods->released * RELEASE_NS;
  parts_run(parts, periods_look, release, shards, work_ns);
  for (uint32_t i = 0; i < shards; i++) {
    release->classes->looks.vain += periods->parts[i].vain;
    periods->parts[i].vain = 0;
  }
  uint32_t due = release->done ? 0 : periods_place(release);
  if (due > release->most) {
    periods_put_back(release);
    return false;
  }
  if (due && ready_by_deadline(release->ready))
    parts_run(parts, periods_hand_over, release, shards, work_ns / 4);
  else if (due)
    hand_over_in_turn(release);
  periods->released = ready_by_deadline(release->ready) ? 0 : due;
  for (uint32_t i = 0; i < shards; i++) {
    periods->released += periods->parts[i].sums.count;
    ready_release_sums(release->ready, &periods->parts[i].sums);
  }
  return true;
}

static inline uint32_t release_if_due(const releasing *release, uint32_t index) {
  if (!due_has_come(release->classes, release->store, index, release->now_ns)) return 0;
  ready_release(release->ready, release->store, index, release->now_ns, release->frame);
  return 1;
}

static uint32_t release_few(const releasing *release, const uint32_t *agents, uint32_t count) {
  uint32_t due = 0;
  for (uint32_t i = 0; i < count; i++) {
    due_prefetch_rows(release->store, agents, i, count);
    due += release_if_due(release, agents[i]);
  }
  return due;
}

/* Releases agents line by line, until they are enough: a crowd that comes due at once is spread over frames, and what
 * finds no place in this one leads the next. Which agents those are depends on nothing but who is due. */
static uint32_t release_in_order(const releasing *release, uint32_t most) {
  enum { TOGETHER = 1024 };
  struct periods *periods = release->periods;
  struct looks *looks = &release->classes->looks;
  uint32_t agents[TOGETHER + LOOK_AGENTS], due = 0, lines = looks_lines(looks), line = periods->next % lines;
  uint32_t seen = 0;
  while (seen < lines && due < most) {
    uint32_t few = 0, room = most - due < TOGETHER ? most - due : TOGETHER;
    for (; seen < lines && few < room; seen++, line = line + 1 < lines ? line + 1 : 0)
      for (uint32_t left = looks_take_line(looks, line); left; left &= left - 1)
        agents[few++] = line * LOOK_AGENTS + (uint32_t)__builtin_ctz(left);
    due += release_few(release, agents, few);
  }
  looks->left = seen < lines;
  periods->next = line;
  return due;
}

uint32_t periods_release(struct periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         const release_frame *frame, const struct parts *parts) {
  uint32_t room = ready->fresh_max - ready->fresh_count;
  releasing release = {.periods = periods,
                       .classes = classes,
                       .store = store,
                       .ready = ready,
                       .now_ns = frame->now_ns,
                       .frame = frame->number,
                       .most = frame->most < room ? frame->most : room};
  advance(classes, frame->elapsed_ns);
  looks_pass(&classes->looks);
  due_sweep(classes, store, frame->now_ns, periods->agents);
  if (classes->looks.left || !release_all(&release, parts)) periods->released = release_in_order(&release, frame->most);
  return periods->released;
}

void periods_release_early(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t now_ns,
                           uint64_t frame) {
  agent_class *class = &classes->classes[store->rows[index].class];
  class->events++;
  ready_release(ready, store, index, now_ns, frame);
}

/* The least whole number that is not below x; 0 when x is below 0. */
static inline uint32_t round_up(double x) {
  if (x <= 0) return 0;
  uint32_t whole = (uint32_t)x;
  return whole + ((double)whole < x);
}

void periods_plan(activation_book *book, const agent_class *class, uint32_t share, agent_row *row, uint32_t index) {
  const activation_pace *pace = &class->pace;
  if (!(pace->beat_ns > 0)) return;
  double ahead = (double)due_remaining_ns(class, row) * pace->beats_per_ns + pace->late;
  double next = ahead + (double)class->nominal_ns * pace->beats_per_ns;
  if (!(next < ACTIVATION_BEATS)) return;
  uint32_t first = round_up(ahead), most = round_up(next) - 1;
  if (first == 0) first = 1; /* due soon: the next frame releases it */
  most = most > first ? most - first : 0;
  if (most > book->delay_max) most = book->delay_max;
  uint32_t delay = activation_choose(book, share, first, most, class->cost_ns);
  /* Whole beats keep dues as far apart as they were: clusters would fall into one frame when frames are irregular. */
  uint64_t delay_ns = (uint64_t)((double)delay * pace->beat_ns);
  row->virtual_due_ns += delay_ns;
  activation_enter(book, share, index, first + delay, class->cost_ns, delay_ns);
}

uint32_t periods_first_update(const class_table *classes, uint32_t class, uint32_t index) {
  const activation_book *book = &classes->activation;
  const agent_class *own = &classes->classes[class];
  if (!book->delay_max) return 0;
  const activation_reservation *reservation = &book->reservations[index];
  double beats = (double)own->nominal_ns * book->pace.beats_per_ns, whole = floor(beats + 0.5);
  if (fabs(beats - whole) < 0.01) beats = whole; /* measured, and meant to be a number of frames */
  if (beats < 1) beats = 1;                      /* in every frame */
  return (uint32_t)((reservation->cost_ns ? reservation->beat : book->beat + 1) / beats);
}

void periods_owing(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t reached_ns,
                   bool continued, uint64_t frame) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  if (!continued) {
    row->runs = periods_run_counter(row, class->per_nominal);
    row->last_update_ns = reached_ns;
    row->woken = 0;
    row->timed = 0;
    if (class->elapsed != MUSTER_ELAPSED_EVENTS) periods_set_next(classes, class, 0, row, index);
  }
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) class->events++;
  ready_forget(ready, store, index);
  row->owes = 1;
  row->first_due_ns = ready->now_ns;
  row->released_frame = (uint8_t)frame;
  row->status = AGENT_ADMITTED;
  ready_put_back(ready, store, index);
}

int64_t periods_ahead_ns(const class_table *classes, const agent_store *store, uint32_t index) {
  const agent_row *row = &store->rows[index];
  const activation_book *book = &classes->activation;
  uint64_t delay_ns = book->delay_max ? book->reservations[index].delay_ns : 0;
  uint64_t due_ns = row->virtual_due_ns > delay_ns ? row->virtual_due_ns - delay_ns : 0;
  return (int64_t)(due_ns - classes->classes[row->class].clock_ns);
}

void periods_resume(class_table *classes, agent_store *store, uint32_t index, int64_t ahead_ns, uint64_t passed_ns) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  ahead_ns -= (int64_t)((double)passed_ns * class->rate);
  bool before = ahead_ns < 0 && (uint64_t)-ahead_ns > class->clock_ns; /* this clock began later */
  row->virtual_due_ns = before ? 0 : class->clock_ns + (uint64_t)ahead_ns;
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) {
    row->status = AGENT_WAITING;
    return;
  }
  if (classes->activation.delay_max) periods_plan(&classes->activation, class, 0, row, index);
  due_insert(classes, class, store, index);
}

uint64_t periods_first_ns(const agent_class *class, uint64_t random) {
  double share = (double)(random >> 11) * 0x1p-53;
  uint64_t ahead_ns = (uint64_t)(share * (double)class->nominal_ns);
  return ahead_ns < class->step_ns ? ahead_ns + class->nominal_ns : ahead_ns; /* else no whole step would be due */
}

void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t behind_ns, uint64_t ahead_ns) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  /* The rate that the clock makes up for it with is not known before the fit: the last one is about as fast. */
  double passes_ns = (double)behind_ns * class->rate, most_ns = (double)class->nominal_ns;
  row->virtual_due_ns = class->clock_ns + (uint64_t)(passes_ns < most_ns ? passes_ns : most_ns) + ahead_ns;
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) {
    row->status = AGENT_WAITING;
    return;
  }
  if (classes->activation.delay_max) periods_plan(&classes->activation, class, 0, row, index);
  due_insert(classes, class, store, index);
}
