#include "plan/plan_sound.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- classes */

/* What sums of factors are tallied as. */
static uint64_t factors_key(uint32_t number) {
  return ((uint64_t)UINT32_MAX << 1) + number;
}

/* Whether types and levels sum up what their classes do. */
static bool sums_are_sound(const class_table *classes, soundness *found) {
  struct tally told = {0}, seen = {0};
  uint32_t types = 0;
  for (uint32_t i = 0; i < classes->count; i++) {
    const agent_class *class = &classes->classes[i];
    uint32_t key = class->type * MUSTER_LEVELS + class->level;
    tally_add_times(&seen, key, class->factors);
    tally_add_times(&seen, factors_key(key), class->members);
    if (class->type >= types) types = class->type + 1u;
  }
  for (uint32_t key = 0; key < types * MUSTER_LEVELS; key++) {
    const class_sum *sum = &classes->sums[key / MUSTER_LEVELS][key % MUSTER_LEVELS];
    tally_add_times(&told, key, sum->factors);
    tally_add_times(&told, factors_key(key), sum->members);
  }
  return SOUND(found, tally_equals(&told, &seen), "types and levels do not sum up the cost factors of their %u classes",
               classes->count);
}

/* Finds the class that has not as many members as it says, or another sum of factors, after the sums have shown that
 * there is one. */
static bool name_class(const class_table *classes, const agent_store *store, soundness *found) {
  for (uint32_t number = 0; number < classes->count; number++) {
    const agent_class *class = &classes->classes[number];
    uint32_t members = 0, in_band[MUSTER_BANDS] = {0};
    uint64_t factors = 0, shifts = 0;
    for (uint32_t i = 0; store_finds(store, &i); i++) {
      const agent_row *row = &store->rows[i];
      if (row->class != number || row->status == AGENT_QUARANTINED) continue;
      members++;
      in_band[band_of(row->importance)]++;
      factors += factor_units_of(row->cost_factor);
      shifts += factor_shift_units_of(row->cost_factor);
    }
    SOUND_EQUAL(found, members, class->members, "class %u (type %u, level %u) has %u members, counted as %u", number,
                class->type, class->level);
    for (uint32_t band = 0; band < MUSTER_BANDS; band++)
      SOUND(found, in_band[band] == class->in_band[band], "class %u has %u members in band %u, counted as %u", number,
            in_band[band], band, class->in_band[band]);
    SOUND(found, factors == class->factors && shifts == class->shifts,
          "class %u has members with cost factors of %llu, summed up as %llu", number, (unsigned long long)factors,
          (unsigned long long)class->factors);
  }
  return !found->broken;
}

static void tally_members(const class_table *classes, struct tally *told, uint32_t in_band[MUSTER_BANDS],
                          soundness *found) {
  uint32_t with_members = 0;
  for (uint32_t i = 0; i < classes->count && !found->broken; i++) {
    const agent_class *class = &classes->classes[i];
    with_members += class->members > 0;
    SOUND_EQUAL(found, i, class->number, "class %u says that it is class %u");
    SOUND(found,
          !class->members ||
              (class->active_position < classes->active_count && classes->active[class->active_position] == i),
          "class %u has %u members and is not among the active ones", i, class->members);
    for (uint32_t band = 0; band < MUSTER_BANDS; band++) {
      tally_add_times(told, i * MUSTER_BANDS + band, class->in_band[band]);
      if (classes_in_bands(classes, class)) in_band[band] += class->in_band[band];
    }
    tally_add_times(told, UINT32_MAX + (uint64_t)i, class->members);
    tally_add_times(told, factors_key(2 * i), class->factors);
    tally_add_times(told, factors_key(2 * i + 1), class->shifts);
  }
  SOUND_EQUAL(found, with_members, classes->active_count, "%u classes have members, and %u are active");
}

bool classes_are_sound(const class_table *classes, const agent_store *store, soundness *found) {
  struct tally told = {0}, seen = {0};
  uint32_t in_band[MUSTER_BANDS] = {0};
  tally_members(classes, &told, in_band, found);
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++) {
    const agent_row *row = &store->rows[i];
    if (!SOUND(found, row->class < classes->count, "agent %u is of class %u of %u", i, row->class, classes->count))
      break;
    SOUND_EQUAL(found, row->type, classes->classes[row->class].type, "agent %u is of type %u and of a class of type %u",
                i);
    if (row->status == AGENT_QUARANTINED) continue;
    tally_add(&seen, row->class * MUSTER_BANDS + band_of(row->importance));
    tally_add(&seen, UINT32_MAX + (uint64_t)row->class);
    tally_add_times(&seen, factors_key(2u * row->class), factor_units_of(row->cost_factor));
    tally_add_times(&seen, factors_key(2u * row->class + 1), factor_shift_units_of(row->cost_factor));
  }
  if (!found->broken && !tally_equals(&told, &seen)) name_class(classes, store, found);
  for (uint32_t band = 0; band < MUSTER_BANDS; band++)
    SOUND(found, in_band[band] == classes->in_band[band], "%u members of classes are in band %u, counted as %u",
          in_band[band], band, classes->in_band[band]);
  return sums_are_sound(classes, found);
}

/* ------------------------------------------------------------------------------------------------------------ looks */

/* A scheduled agent has a slot of a clock in use, and its line knows of one there that is not later. */
static bool looks_right(const struct looks *looks, uint32_t agent, soundness *found) {
  uint16_t slot = *looks_slot_of(looks, agent);
  if (!SOUND(found, slot >> LOOK_NUMBER_BITS > 0 && looks->clocks >> ((slot >> LOOK_NUMBER_BITS) - 1) & 1,
             "agent %u is WAITING and not to be looked at: its slot is %x", agent, slot))
    return false;
  uint32_t clock = (slot >> LOOK_NUMBER_BITS) - 1u;
  uint16_t first = *looks_first_of(looks, clock, agent / LOOK_AGENTS);
  uint32_t now = (uint32_t)looks->numbers[clock];
  return SOUND(found, first && looks_ahead(first, now) <= looks_ahead(slot, now),
               "agent %u is to be looked at in slot %u of clock %u, before the first one of its line", agent,
               slot & LOOK_NUMBERS, clock);
}

/* An agent that is due was not looked at yet only because a release was cut short. */
static bool due_is_looked_at(const class_table *classes, const agent_row *row, uint32_t agent, soundness *found) {
  const agent_class *class = &classes->classes[row->class];
  uint16_t slot = *looks_slot_of(&classes->looks, agent);
  uint32_t now = (uint32_t)classes->looks.numbers[(slot >> LOOK_NUMBER_BITS) - 1];
  if (classes->frozen[class->type] || row->virtual_due_ns > class->clock_ns) return true;
  return SOUND(found, looks_ahead(slot, now) <= 0, "agent %u is due, and looked at later", agent);
}

bool looks_are_sound(const class_table *classes, const agent_store *store, soundness *found) {
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++) {
    const agent_row *row = &store->rows[i];
    if (row->status != AGENT_WAITING || !row->scheduled) continue;
    if (looks_right(&classes->looks, i, found)) due_is_looked_at(classes, row, i, found);
  }
  return !found->broken;
}

/* ------------------------------------------------------------------------------------------------------------ ready */

bool line_is_sound(const struct fifo *fifo, const agent_store *store, const char *name, soundness *found) {
  uint32_t standing = 0;
  SOUND(found, fifo->head <= fifo->tail, "the line of %s begins at %u and ends at %u", name, fifo->head, fifo->tail);
  for (uint32_t i = fifo->head; i < fifo->tail && !found->broken; i++) {
    uint32_t agent = (uint32_t)fifo->places[i];
    if (!SOUND(found, agent < store->maximum, "agent %u of %u is in the line of %s", agent, store->maximum, name))
      break;
    if (!fifo_stands(fifo, fifo->places[i])) continue;
    standing++;
    SOUND(found, store_is_active(store, agent), "agent %u is in the line of %s and not active", agent, name);
  }
  return SOUND(found, standing == fifo->standing, "%u agents are in the line of %s, counted as %u", standing, name,
               fifo->standing);
}

/* What a look at all entries of the ring is for. */
typedef struct ring_look {
  const agent_store *store;
  soundness *found;
  uint64_t *named; /* a bit for each agent that has an entry that its row knows */
  uint32_t entries;
} ring_look;

static void look_at_filed(uint64_t entry, void *user) {
  ring_look *look = user;
  uint32_t agent = ring_agent(entry);
  look->entries++;
  if (!SOUND(look->found, agent < look->store->maximum, "agent %u of %u is in the ring", agent, look->store->maximum))
    return;
  if (!store_is_active(look->store, agent) || look->store->rows[agent].status != AGENT_READY) return;
  if (look->store->rows[agent].filed == ring_mark(entry)) bits_set(look->named, agent);
}

/* Marks the agents that have an entry in the ring that their rows know. Between two walks there is room for the marks.
 */
static const uint64_t *mark_entries(const ready_set *ready, const agent_store *store, soundness *found) {
  ring_look look = {store, found, ready->ring.other, 0};
  memset(look.named, 0, bits_words(store->maximum) * sizeof *look.named);
  ready_ring_visit(&ready->ring, look_at_filed, &look);
  SOUND_EQUAL(found, look.entries, ready->ring.entries, "the ring holds %u entries, counted as %u");
  return look.named;
}

/* What a walk over the agents counted. */
typedef struct ready_counts {
  uint32_t ready, begun, in_ring, woken, fresh, queued;
  struct tally types;
  uint64_t factors; /* of those that wait; each times a number of its type and level */
} ready_counts;

static uint64_t number_of(uint32_t type, uint32_t level) {
  return type * MUSTER_LEVELS + level + 1u;
}

static void count_in_queue(const ready_set *ready, const agent_row *row, uint32_t agent, ready_counts *counts,
                           soundness *found) {
  bool waits = row->status == AGENT_READY || row->status == AGENT_ADMITTED || row->status == AGENT_ACTING;
  counts->queued += row->queued;
  if (row->queued && ready_by_deadline(ready))
    counts->factors += factor_units_of(row->cost_factor) * number_of(row->type, row->level);
  SOUND(found, ready_by_deadline(ready) || row->queued == (ready->waiting.stamps[agent] != 0),
        "agent %u is %sin the line by release and does not know it", agent, row->queued ? "not " : "");
  SOUND(found, waits || !row->queued, "agent %u is %s and in the line by release", agent,
        agent_status_name(row->status));
  SOUND(found, row->status == AGENT_READY || !ready->woken.stamps[agent], "agent %u is %s and in the line of the woken",
        agent, agent_status_name(row->status));
}

static void plan_sound_count_ready(const ready_set *ready, const uint64_t *in_ring, const agent_row *row,
                                   uint32_t agent, ready_counts *counts, soundness *found) {
  bool woken = ready->woken.stamps[agent] != 0;
  counts->ready++;
  counts->begun += (row->atom_next | row->owes) > 0;
  tally_add(&counts->types, row->type);
  SOUND(found, woken == (row->woken && !ready_by_deadline(ready)), "agent %u is READY and %s in the line of the woken",
        agent, woken ? "wrongly" : "not");
  counts->woken += woken;
  if (!row->filed) {
    counts->fresh += !woken;
    return;
  }
  counts->in_ring++;
  SOUND(found, !woken, "agent %u is READY, in the ring and in the line of the woken", agent);
  SOUND(found, bits_has(in_ring, agent), "agent %u is READY and not in the ring where it is filed", agent);
}

/* Every fresh agent is among the keys of the fresh. Keys may also name agents that have been admitted or are gone. */
static void check_fresh(const ready_set *ready, const agent_store *store, uint32_t fresh, soundness *found) {
  uint32_t named = 0;
  SOUND(found, ready->fresh_left <= ready->fresh_count && ready->fresh_count <= ready->fresh_max,
        "%u of %u fresh agents are left", ready->fresh_left, ready->fresh_count);
  for (uint32_t i = 0; i < ready->fresh_count && fresh; i++) {
    uint32_t agent = ring_agent(ready->fresh[i]);
    if (!store_is_active(store, agent) || ready->woken.stamps[agent]) continue;
    named += store->rows[agent].status == AGENT_READY && !store->rows[agent].filed;
  }
  SOUND(found, fresh <= named && fresh <= ready->fresh_left, "%u agents are READY in no list, and %u of them fresh",
        fresh, named);
}

bool ready_is_sound(const ready_set *ready, const agent_store *store, soundness *found) {
  ready_counts counts = {0};
  struct tally types = {0};
  uint64_t factors = 0;
  const uint64_t *in_ring = mark_entries(ready, store, found);
  for (uint32_t i = 0; store_finds(store, &i) && !found->broken; i++) {
    const agent_row *row = &store->rows[i];
    count_in_queue(ready, row, i, &counts, found);
    if (row->status == AGENT_READY) plan_sound_count_ready(ready, in_ring, row, i, &counts, found);
  }
  if (found->broken) return false;
  for (uint32_t i = 0; i < ready->types->count; i++) {
    tally_add_times(&types, i, ready->counts_of[i]);
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++)
      factors += ready->factors_of[i][level] * number_of(i, level);
  }
  SOUND(found, counts.ready == ready->count && counts.begun == ready->begun,
        "%u agents are READY and %u of them begun, counted as %u and %u", counts.ready, counts.begun, ready->count,
        ready->begun);
  SOUND(found, tally_equals(&types, &counts.types), "%u READY agents are not of the types that are counted",
        counts.ready);
  SOUND(found, counts.factors == factors, "the cost factors of %u waiting agents are not those that are counted",
        counts.queued);
  line_is_sound(&ready->woken, store, "the woken", found);
  line_is_sound(&ready->waiting, store, "waiting agents, by release", found);
  SOUND(found, counts.woken == ready->woken.standing && counts.queued == ready->waiting.standing + ready->waits.agents,
        "%u agents are in the line of the woken, and %u in that by release, counted as %u and %u", counts.woken,
        counts.queued, ready->woken.standing, ready->waiting.standing + ready->waits.agents);
  SOUND_EQUAL(found, counts.in_ring, ready->in_ring, "%u agents are READY in the ring, counted as %u");
  check_fresh(ready, store, counts.fresh, found);
  return !found->broken;
}

/* ----------------------------------------------------------------------------------------------------------- others */

bool timers_are_sound(const struct timers *timers, uint32_t high, const char *name, soundness *found) {
  enum { CHILDREN = 4 };
  uint32_t placed = 0;
  for (uint32_t i = 0; i < timers->count && !found->broken; i++) {
    const struct timer *timer = &timers->heap[i], *parent = &timers->heap[i ? (i - 1) / CHILDREN : 0];
    SOUND(found, timer->agent < high && timers->places[timer->agent] == i + 1,
          "agent %u is among %s, and does not know it", timer->agent, name);
    SOUND(found, parent->at_ns < timer->at_ns || (parent->at_ns == timer->at_ns && parent->agent <= timer->agent),
          "agent %u is among %s, before its turn", timer->agent, name);
  }
  for (uint32_t i = 0; i < high; i++) placed += timers->places[i] > 0;
  return SOUND(found, placed == timers->count && timers->count <= timers->high, "%u agents are among %s, counted as %u",
               placed, name, timers->count);
}

bool score_is_sound(const score_board *board, const agent_store *store, soundness *found) {
  struct tally told = {0}, seen = {0};
  for (uint32_t i = 0; store_finds(store, &i); i++) tally_add(&seen, store->rows[i].importance >> 8);
  for (uint32_t i = 0; i < IMPORTANCE_BINS; i++) tally_add_times(&told, i, board->importance[i]);
  SOUND(found, tally_equals(&told, &seen), "%u active agents are not in the bins of importance that are counted",
        store->active_count);
  for (uint32_t i = 0; i < board->noted_count && !found->broken; i++) {
    uint32_t agent = board->noted[((uint64_t)board->noted_head + i) % board->noted_max];
    SOUND(found, agent < board->noted_max && bits_has(board->noted_bits, agent),
          "agent %u is noted for the score and not marked", agent);
  }
  uint32_t marked = sound_bits(board->noted_bits, bits_words(board->noted_max));
  return SOUND_EQUAL(found, marked, board->noted_count, "%u agents are marked for the score, and %u noted");
}

bool shedding_is_sound(const struct shedding *shedding, const agent_store *store, soundness *found) {
  uint32_t shed = 0;
  for (uint32_t i = 0; store_finds(store, &i); i++) shed += store->shed[i] > 0;
  return SOUND_EQUAL(found, shed, shedding->shed, "%u agents are lowered by pressure, counted as %u");
}

bool overrun_table_is_sound(const struct overrun_table *table, const agent_store *store, soundness *found) {
  uint32_t placed = 0;
  if (!SOUND(found, table->count <= OVERRUN_ENTRIES_MAX, "%u agents have overrun counts", table->count)) return false;
  for (uint32_t i = 0; i < table->count && !found->broken; i++) {
    uint32_t agent = table->entries[i].agent;
    SOUND(found, agent < store->maximum && store_is_active(store, agent) && table->places[agent] == i + 1,
          "agent %u has overrun entry %u and does not know it, or is gone", agent, i);
  }
  for (uint32_t i = 0; store_finds(store, &i); i++) placed += table->places[i] > 0;
  return SOUND_EQUAL(found, placed, table->count, "%u agents have overrun counts, counted as %u");
}
