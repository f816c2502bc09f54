#include "plan/ready.h"

#include "base/assert.h"
#include "base/lesser.h"
#include "base/prefetch.h"
#include "plan/costs.h"
#include "plan/ready_fresh.h"

#include <math.h>
#include <string.h>

/* A tiny weight of waiting makes the other weights huge: they need not be exact then, only ordered. */
static int64_t unit_of(double value_ns) {
  return (int64_t)fmin(value_ns * 256.0, 0x1p46);
}

/* Makes buckets wide enough for the agents that run least often. In the papers' orders the ring covers how long ago
 * they ran; in that of deadlines, how far ahead their deadlines lie where wishes have stretched by a usual factor.
 * Agents whose deadlines lie even further ahead are filed as if they lay at the end. */
static uint32_t plan_ready_widen(const ready_set *ready, uint32_t shift) {
  const double stretch = 8.0, most_ns = 200e9;
  double covered_ns = (double)ready->longest_ns * 1.25, buckets = READY_PAST_BUCKETS;
  if (ready->weights.order == MUSTER_ORDER_DELAYS) return shift;
  if (ready_by_deadline(ready)) {
    covered_ns = fmin((double)ready->longest_ns * stretch, most_ns);
    buckets = RING_BUCKETS - READY_LATE_BUCKETS;
  }
  while (shift < READY_WIDTH_SHIFT_MAX && ldexp(buckets, (int)shift) < covered_ns) shift++;
  return shift;
}

/* As wide as the weights ask for, and wide enough for the longest period. */
static uint32_t width_for(const ready_set *ready, const muster_world_def *def, double wait) {
  double share_ns = ready->weights.guarantee_ns / wait / 256.0;
  uint64_t width_ns = def->order == MUSTER_ORDER_PRIORITY ? (uint64_t)fmin(share_ns, 1e15) : 1000000u;
  uint32_t shift = 64u - (uint32_t)__builtin_clzll(width_ns | 1u);
  return plan_ready_widen(ready, shift > READY_KEY_SHIFT ? shift : READY_KEY_SHIFT);
}

/* Limited from below: a tiny weight of waiting would make the other terms longer than keys are (2^48 ns are 78 hours).
 */
static double weight_of_wait(const muster_world_def *def, double others) {
  return fmax(fmax((double)def->priority.wait, 1e-6), (double)def->priority.guarantee_ns * others / 0x1p48);
}

static void ready_weigh(ready_set *ready, const muster_world_def *def) {
  double others =
      (double)(def->priority.importance + def->priority.runs + def->priority.progress + def->priority.reduction);
  double wait = weight_of_wait(def, others), guarantee_ns = (double)def->priority.guarantee_ns;
  ready->weights = (ready_weights){
      .order = def->order,
      .guarantee_ns = guarantee_ns,
      .progress = (double)def->priority.progress / wait,
      .lift_ns = fmin(guarantee_ns * (1.0 + others / wait), 0x1p60),
      .importance_share = (float)((double)def->priority.importance / (4.0 * wait * 65535.0)),
      .runs_share = (float)((double)def->priority.runs / (4.0 * wait * RUNS_ONE)),
      .progress_share = (float)((double)def->priority.progress / (4.0 * wait)),
  };
  ready->importance_unit = unit_of(guarantee_ns * (double)def->priority.importance / wait / 65535.0);
  ready->runs_unit = unit_of(guarantee_ns * (double)def->priority.runs / wait / (double)RUNS_ONE);
  ready->reduction_unit = unit_of(guarantee_ns * (double)def->priority.reduction / wait / (MUSTER_LEVELS - 1));
  ready->reduces = def->priority.reduction > 0.0f;
  ready->width_shift = width_for(ready, def, wait);
}

/* How far behind the frame's time keys begin. */
static int64_t epoch_behind_ns(const ready_set *ready) {
  bool delays = ready->weights.order == MUSTER_ORDER_DELAYS;
  return delays ? 1ll << (RING_KEY_BITS - READY_ELAPSED_BITS + READY_DELAYS_SHIFT - 1)
                : 1ll << (RING_KEY_BITS + READY_KEY_SHIFT - 1);
}

void ready_place_ring(ready_set *ready) {
  bool delays = ready->weights.order == MUSTER_ORDER_DELAYS;
  int32_t key_shift = delays ? READY_DELAYS_SHIFT - READY_ELAPSED_BITS : READY_KEY_SHIFT;
  uint32_t past = ready_by_deadline(ready) ? READY_LATE_BUCKETS : READY_PAST_BUCKETS;
  uint32_t shift = (uint32_t)((int32_t)ready->width_shift - key_shift);
  ready_ring_place(&ready->ring, shift, (ready_key_of_time(ready, (int64_t)ready->now_ns) >> shift) - past);
}

void ready_create(ready_set *ready, const muster_world_def *def, const type_table *types, const agent_class *classes,
                  struct arena *arena) {
  *ready = (ready_set){.types = types, .classes = classes};
  ready_weigh(ready, def);
  ready->epoch_ns = -epoch_behind_ns(ready);
  ready_ring_create(&ready->ring, def->limits.agents_max, arena);
  ready_place_ring(ready);
  fifo_create(&ready->woken, def->limits.agents_max, arena);
  fifo_create(&ready->waiting, def->limits.agents_max, arena);
  waits_create(&ready->waits, arena);
  ready->fresh_max = def->limits.agents_max;
  ARENA_ARRAY(arena, ready->fresh, def->limits.agents_max);
  ARENA_ARRAY(arena, ready->fresh_too, def->limits.agents_max);
  ARENA_ARRAY(arena, ready->fresh_piles, def->limits.agents_max);
  counting_create(&ready->fresh_sort, def->limits.agents_max, FRESH_KEYS, FRESH_CHUNK, arena);
  ARENA_ARRAY(arena, ready->counts_of, types->maximum);
  ARENA_ARRAY(arena, ready->factors_of, types->maximum);
  ARENA_ARRAY(arena, ready->released_of, types->maximum);
}

int64_t ready_progress_lead_ns(const ready_set *ready, const agent_row *row) {
  const agent_type *type = &ready->types->types[row->type];
  double progress = (double)row->atom_next / (double)(type->parallel_atoms + 1);
  if (row->owes) progress = (double)share_value(type->sets.passes[row->state_slot].progress);
  return (int64_t)fmin(ready->weights.guarantee_ns * ready->weights.progress * progress, 0x1p60);
}

int64_t ready_reaction_lead_ns(const ready_set *ready, const agent_row *row) {
  if (!ready->reacting) return 0;
  const agent_alarm *alarm = &ready->reacting->alarms[row - ready->reacting->rows];
  if (ready->now_ns >= alarm->react_by_ns) return (int64_t)ready->weights.lift_ns;
  if (ready->now_ns <= alarm->react_from_ns) return 0;
  double passed_ns = (double)(ready->now_ns - alarm->react_from_ns);
  return (int64_t)(ready->weights.lift_ns * passed_ns / (double)(alarm->react_by_ns - alarm->react_from_ns));
}

static int64_t reduction_lead_ns(const ready_set *ready, const agent_row *row) {
  return (ready->reduction_unit * row->level) >> 8;
}

int64_t ready_rare_leads_ns(const ready_set *ready, const agent_row *row) {
  int64_t lead_ns = reduction_lead_ns(ready, row);
  if (row->atom_next | row->owes) lead_ns += ready_progress_lead_ns(ready, row);
  return row->reacts ? lead_ns + ready_reaction_lead_ns(ready, row) : lead_ns;
}

ready_terms ready_explain(const ready_set *ready, const agent_row *row) {
  if (ready->weights.order != MUSTER_ORDER_PRIORITY) return (ready_terms){0};
  ready_terms terms = {.priority_ns = (int64_t)ready->now_ns - ready_priority_key(ready, row),
                       .wait_ns = (int64_t)(ready->now_ns - row->last_update_ns),
                       .importance_ns = (ready->importance_unit * row->importance) >> 8,
                       .progress_ns = row->atom_next | row->owes ? ready_progress_lead_ns(ready, row) : 0,
                       .reduction_ns = reduction_lead_ns(ready, row),
                       .reaction_ns = row->reacts ? ready_reaction_lead_ns(ready, row) : 0};
  int64_t others_ns = terms.wait_ns + terms.importance_ns + terms.progress_ns + terms.reduction_ns + terms.reaction_ns;
  terms.runs_ns = terms.priority_ns - others_ns;
  return terms;
}

uint64_t ready_delays_key(const ready_set *ready, const agent_row *row) {
  const uint64_t most = (1u << READY_ELAPSED_BITS) - 1;
  uint64_t elapsed = (row->first_due_ns - row->last_update_ns) >> READY_ELAPSED_SHIFT;
  return ready_key_of_time(ready, (int64_t)row->first_due_ns) + (elapsed < most ? most - elapsed : 0);
}

/* The part of its update that a preempted agent has behind it; or the progress of a set that is owed time. */
static float progress_of(const ready_set *ready, const agent_row *row) {
  const agent_type *type = &ready->types->types[row->type];
  if (row->owes) return share_value(type->sets.passes[row->state_slot].progress);
  return (float)row->atom_next / (float)(type->parallel_atoms + 1);
}

int64_t ready_deadline(const ready_set *ready, const agent_row *row) {
  const agent_class *class = &ready->classes[row->class];
  const ready_weights *weights = &ready->weights;
  float period_ns = class->elapsed == MUSTER_ELAPSED_EVENTS ? (float)weights->guarantee_ns : class->period_ns;
  float wake_ns = lesser(period_ns * (1.0f / 8.0f), (float)weights->guarantee_ns * (1.0f / 64.0f));
  float part = 1.0f - (float)row->importance * weights->importance_share + (float)row->runs * weights->runs_share;
  if (row->atom_next | row->owes) part -= weights->progress_share * progress_of(ready, row);
  part = part > READY_TURN_LEAST ? lesser(part, READY_TURN_MOST) : READY_TURN_LEAST; /* whatever the weights */
  float ahead_ns = row->woken ? lesser(part * period_ns, wake_ns) : part * period_ns;
  int64_t deadline = (int64_t)row->first_due_ns + (int64_t)ahead_ns;
  if (!row->reacts || !ready->reacting) return deadline;
  int64_t react_by = (int64_t)ready->reacting->alarms[row - ready->reacting->rows].react_by_ns;
  return react_by < deadline ? react_by : deadline;
}

/* Whether an entry is still its agent's. The row of an agent that is not active may be in the hands of a thread that
 * spawns. */
static bool is_live(const agent_store *store, uint64_t entry) {
  uint32_t agent = ring_agent(entry);
  if (!store_is_active(store, agent)) return false;
  const agent_row *row = &store->rows[agent];
  return row->status == AGENT_READY && row->filed == ring_mark(entry);
}

uint32_t ready_keep_live(const agent_store *store, uint64_t *entries, uint32_t count) {
  enum { TOGETHER = 16 };
  uint32_t live = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = i % TOGETHER ? count : i + TOGETHER; k < i + 2 * TOGETHER && k < count; k++)
      __builtin_prefetch(&store->rows[ring_agent(entries[k])]);
    if (is_live(store, entries[i])) entries[live++] = entries[i];
  }
  return live;
}

uint32_t ready_drop_twins(uint64_t *entries, uint32_t count) {
  uint32_t kept = count > 0;
  for (uint32_t i = 1; i < count; i++)
    if (entries[i] != entries[i - 1]) entries[kept++] = entries[i];
  return kept;
}

const uint64_t *ready_entries(ready_set *ready, const agent_store *store, uint32_t *count) {
  ready_ring *ring = &ready->ring;
  uint32_t all = ready_ring_take_all(ring), live = ready_keep_live(store, ring->sorted, all);
  ready_ring_sort(&ring->sorted, &ring->other, live);
  *count = ready_drop_twins(ring->sorted, live);
  for (uint32_t i = 0; i < *count; i++) ready_ring_add(ring, ring->sorted[i]);
  return ring->sorted;
}

/* Puts an agent into the ring, in which it has no entry, or gives it another one. */
void ready_file(ready_set *ready, agent_store *store, uint64_t entry) {
  agent_row *row = &store->rows[ring_agent(entry)];
  uint32_t mark = ring_mark(entry);
  if (row->filed == mark) return;
  ready->in_ring += row->filed == 0;
  row->filed = mark;
  ready_ring_add(&ready->ring, entry);
  uint32_t count;
  if (ready_ring_is_full(&ready->ring, ready->in_ring)) ready_entries(ready, store, &count);
}

static void file(ready_set *ready, agent_store *store, uint32_t index) {
  ready_file(ready, store, ready_entry(ready, &store->rows[index], index));
}

static void count_in(ready_set *ready, agent_row *row) {
  row->status = AGENT_READY;
  ready->count++;
  ready->counts_of[row->type]++;
  ready->begun += (row->atom_next | row->owes) > 0;
}

/* Files every agent of the ring anew. */
static void refile_all(ready_set *ready, agent_store *store) {
  enum { AHEAD = 12 };
  uint32_t count = ready_ring_take_all(&ready->ring);
  uint32_t live = ready_keep_live(store, ready->ring.sorted, count);
  ready_place_ring(ready);
  for (uint32_t i = 0; i < live; i++) {
    if (i + AHEAD < live) __builtin_prefetch(&store->rows[ring_agent(ready->ring.sorted[i + AHEAD])], 1);
    uint32_t agent = ring_agent(ready->ring.sorted[i]);
    uint64_t entry = ready_entry(ready, &store->rows[agent], agent);
    store->rows[agent].filed = ring_mark(entry);
    ready_ring_add(&ready->ring, entry);
  }
}

bool ready_epoch_is_possible(const ready_set *ready) {
  int64_t behind_ns = epoch_behind_ns(ready), now_ns = (int64_t)ready->now_ns;
  return ready->epoch_ns <= now_ns - behind_ns / 2 && ready->epoch_ns > now_ns - 2 * behind_ns;
}

/* Time goes on, and keys have an end: they begin anew before they reach it. */
static void move_epoch(ready_set *ready, agent_store *store) {
  int64_t behind_ns = epoch_behind_ns(ready), now_ns = (int64_t)ready->now_ns;
  if (now_ns - ready->epoch_ns < behind_ns + behind_ns / 2) return;
  ready->epoch_ns = now_ns / (behind_ns / 4) * (behind_ns / 4) - behind_ns;
  refile_all(ready, store);
}

void ready_advance(ready_set *ready, agent_store *store, uint64_t now_ns) {
  ready_keep_fresh(ready, store);
  ready->now_ns = now_ns;
  fifo_settle(&ready->woken, UINT32_MAX);
  fifo_settle(&ready->waiting, UINT32_MAX);
  move_epoch(ready, store);
  uint32_t past = ready_by_deadline(ready) ? READY_LATE_BUCKETS : READY_PAST_BUCKETS;
  ready_ring_advance(&ready->ring, (ready_key_of_time(ready, (int64_t)now_ns) >> ready->ring.shift) - past);
}

void ready_widen(ready_set *ready, agent_store *store, uint64_t longest_ns) {
  if (longest_ns > ready->longest_ns) ready->longest_ns = longest_ns;
  uint32_t shift = plan_ready_widen(ready, ready->width_shift);
  if (shift == ready->width_shift) return;
  ready->width_shift = shift;
  refile_all(ready, store);
}

/* Whether two lambdas differ by more than a factor of two. Lambda is 0 where no agent has to give way, and infinity
 * where none can. */
static bool differ(double one, double other) {
  bool usual = one > 0.0 && other > 0.0 && isfinite(one) && isfinite(other);
  return usual ? one > 2.0 * other || other > 2.0 * one : one < other || other < one;
}

void ready_follow_periods(ready_set *ready, agent_store *store, double lambda) {
  if (!ready_by_deadline(ready) || !differ(lambda, ready->filed_lambda)) return;
  ready->filed_lambda = lambda;
  ready_keep_fresh(ready, store);
  refile_all(ready, store);
}

uint32_t ready_count_late(const ready_set *ready) {
  return ready_ring_count_before(&ready->ring, ready_key_of_time(ready, (int64_t)ready->now_ns));
}

void ready_reweigh(ready_set *ready, agent_store *store, const muster_world_def *def) {
  ready_keep_fresh(ready, store);
  ready_weigh(ready, def);
  ready->epoch_ns = (int64_t)ready->now_ns - epoch_behind_ns(ready); /* another order has other keys */
  refile_all(ready, store);
}

void ready_release_aside(ready_set *ready, agent_store *store, uint32_t index) {
  if (ready_stands_apart(ready, &store->rows[index])) {
    fifo_join(&ready->woken, index);
    return;
  }
  file(ready, store, index);
  ready_queue(ready, store, index);
}

void ready_release_sums(ready_set *ready, ready_sums *sums) {
  ready->count += sums->count;
  ready->begun += sums->begun;
  ready->fresh_count += sums->count;
  ready->fresh_left += sums->count;
  ASSERT(ready->fresh_count <= ready->fresh_max);
  for (uint32_t i = 0; i < ready->types->count && sums->count; i++) {
    ready->counts_of[i] += sums->of_type[i];
    ready->released_of[i] += sums->of_type[i];
    sums->of_type[i] = 0;
  }
  sums->count = sums->begun = 0;
}

/* Fetches what keeping a fresh agent touches: its row, and its stamp in the queue by release, where there is one. */
PREFETCH_FUNCTION prefetch_kept(const ready_set *ready, const agent_store *store, uint32_t i) {
  enum { AHEAD = 12 };
  if (i + AHEAD >= ready->fresh_count) return;
  uint32_t index = ring_agent(ready->fresh[i + AHEAD]);
  __builtin_prefetch(&store->rows[index], 1);
  if (!ready_by_deadline(ready)) __builtin_prefetch(&ready->waiting.stamps[index], 1);
}

void ready_keep_fresh(ready_set *ready, agent_store *store) {
  ASSERT(!ready->walks);
  if (ready->fresh_left == 0) ready->fresh_count = 0;
  for (uint32_t i = 0; i < ready->fresh_count; i++) {
    prefetch_kept(ready, store, i);
    uint32_t index = ring_agent(ready->fresh[i]);
    const agent_row *row = &store->rows[index];
    if (row->status != AGENT_READY) continue;
    /* An agent that was put back after the ranking is in the ring already. */
    if (!row->filed && !ready_stands_apart(ready, row)) ready_file(ready, store, ready->fresh[i]);
    ready_queue(ready, store, index);
  }
  ready->fresh_count = ready->fresh_left = 0;
}

void ready_queue(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (row->queued) return;
  if (!ready_by_deadline(ready)) {
    fifo_join(&ready->waiting, index);
  } else {
    if (row->status != AGENT_READY || (row->atom_next | row->owes)) return; /* held, or begun: reports look at these */
    waits_enter(&ready->waits, row->first_due_ns);
    ready_count_in(ready, row);
  }
  row->queued = 1;
}

double ready_waiting_ns(const ready_set *ready, const cost_table *costs) {
  double sum_ns = 0.0;
  for (uint32_t type = 0; type < ready->types->count && ready->waits.agents; type++)
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++)
      sum_ns += (double)ready->factors_of[type][level] / FACTOR_ONE * costs_usual_ns(costs_of(costs, type, level));
  return sum_ns;
}

/* Takes an agent out of the ring, if it is there. Its entry is dropped when its turn comes. */
static void leave_ring(ready_set *ready, agent_row *row) {
  ready->in_ring -= row->filed != 0;
  row->filed = 0;
}

void ready_leave(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (row->filed)
    leave_ring(ready, row);
  else
    fifo_leave(&ready->woken, index);
}

void ready_refresh(ready_set *ready, agent_store *store, uint32_t index) {
  if (store->rows[index].filed) file(ready, store, index);
}

void ready_put_back(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(row->status == AGENT_ADMITTED);
  count_in(ready, row);
  if (ready_stands_apart(ready, row))
    fifo_join(&ready->woken, index);
  else
    file(ready, store, index);
  ready_queue(ready, store, index);
}

void ready_wake(ready_set *ready, agent_store *store, uint32_t index) {
  ASSERT(store->rows[index].status == AGENT_READY && !store->rows[index].woken);
  agent_row *row = &store->rows[index];
  bool fresh = !row->filed;
  row->woken = 1;
  if (!ready_by_deadline(ready)) {
    leave_ring(ready, row);
    fifo_join(&ready->woken, index);
  } else if (!fresh) {
    file(ready, store, index);
  }
}

uint32_t ready_next_woken(const ready_set *ready, uint32_t *place) {
  return fifo_next(&ready->woken, place);
}

void ready_pass_over(ready_set *ready, uint32_t most) {
  fifo_settle(&ready->waiting, most);
}

uint32_t ready_next_waiting(const ready_set *ready, uint32_t *place) {
  return fifo_next(&ready->waiting, place);
}

/* The agent that waits longest stands near the head of the queue by release; agents before it have started. */
uint64_t ready_oldest_ns(const ready_set *ready, const agent_store *store, uint32_t most) {
  enum { LOOKS = 8 };
  const struct fifo *fifo = &ready->waiting;
  uint32_t place = fifo->head, end = fifo_end_of_first(fifo, most), index;
  if (ready_by_deadline(ready)) return waits_oldest_ns(&ready->waits);
  for (uint32_t i = 0; i < LOOKS && (index = fifo_next_before(fifo, &place, end)) != UINT32_MAX; i++) {
    const agent_row *row = &store->rows[index];
    bool waits = row->status == AGENT_READY || row->status == AGENT_ADMITTED;
    if (waits && !(row->atom_next | row->owes)) return row->first_due_ns;
  }
  return UINT64_MAX;
}
