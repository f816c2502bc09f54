#include "plan/overrun_table.h"

#include "base/assert.h"

#include <string.h>

void overrun_table_create(struct overrun_table *table, uint32_t agents_max, uint32_t types_max, struct arena *arena) {
  ARENA_ARRAY(arena, table->places, agents_max);
  ARENA_ARRAY(arena, table->types, types_max);
}

void overrun_table_count_type(struct overrun_table *table, uint32_t type, uint32_t more, uint64_t samples,
                              uint64_t now_ns) {
  type_overruns *overruns = &table->types[type];
  if (!overruns->window_begin_ns) {
    overruns->window_begin_ns = now_ns + 1; /* never 0 */
    overruns->window_samples = samples;
  }
  overruns->overruns += more;
  overruns->window_overruns += more;
}

static void remove_entry(struct overrun_table *table, uint32_t number) {
  table->places[table->entries[number].agent] = 0;
  uint32_t last = --table->count;
  if (number == last) return;
  table->entries[number] = table->entries[last];
  table->places[table->entries[number].agent] = (uint16_t)(number + 1);
}

static bool is_milder(const struct overrun_entry *one, const struct overrun_entry *other) {
  uint32_t count = one->overrun_count + one->blocked_count, others = other->overrun_count + other->blocked_count;
  return count != others ? count < others : one->last_ns < other->last_ns;
}

/* Forgets the mildest of the next few entries. */
static void overrun_table_make_room(struct overrun_table *table) {
  uint32_t mildest = table->hand % table->count;
  for (uint32_t i = 1; i < OVERRUN_ENTRIES_COMPARED; i++) {
    uint32_t number = (table->hand + i) % table->count;
    if (is_milder(&table->entries[number], &table->entries[mildest])) mildest = number;
  }
  table->hand = (table->hand + OVERRUN_ENTRIES_COMPARED) % OVERRUN_ENTRIES_MAX;
  remove_entry(table, mildest);
}

static struct overrun_entry *overrun_table_entry_of(struct overrun_table *table, const struct overrun *overrun) {
  uint32_t place = table->places[overrun->agent];
  if (place) return &table->entries[place - 1];
  if (table->count == OVERRUN_ENTRIES_MAX) overrun_table_make_room(table);
  struct overrun_entry *entry = &table->entries[table->count++];
  *entry = (struct overrun_entry){.agent = overrun->agent, .type = overrun->type};
  table->places[overrun->agent] = (uint16_t)table->count;
  return entry;
}

static uint32_t all_but(uint32_t count, uint64_t less) {
  return less < count ? count - (uint32_t)less : 0;
}

/* Takes one from both counts for each window without an overrun. */
static void decay(struct overrun_entry *entry, uint64_t window_ns, uint64_t now_ns) {
  uint64_t windows = (now_ns - entry->last_ns) / (window_ns ? window_ns : 1);
  entry->overrun_count = all_but(entry->overrun_count, windows);
  entry->blocked_count = all_but(entry->blocked_count, windows);
}

/* The penalty that follows from the counts of an agent. Where it cannot be demoted it may still be put into quarantine.
 */
static overrun_penalty penalty_of(const struct overrun_entry *entry, const overrun_terms *terms) {
  bool demotes = terms->demote && !terms->cheapest;
  bool repeated = terms->demote && entry->overrun_count + entry->blocked_count >= terms->demote;
  if (demotes) return repeated ? OVERRUN_DEMOTED : OVERRUN_NO_PENALTY;
  if (!terms->quarantine) return repeated ? OVERRUN_WARNED : OVERRUN_NO_PENALTY;
  return entry->overrun_count >= terms->quarantine ? OVERRUN_QUARANTINED : OVERRUN_NO_PENALTY;
}

overrun_penalty overrun_table_count_agent(struct overrun_table *table, const struct overrun *overrun,
                                          const overrun_terms *terms, uint64_t frame, uint64_t now_ns) {
  type_overruns *overruns = &table->types[overrun->type];
  struct overrun_entry *entry = overrun_table_entry_of(table, overrun);
  bool blocked = overrun->kind == OVERRUN_BLOCKED;
  if (entry->frame == frame) return OVERRUN_NO_PENALTY;
  if (!blocked && (entry->frame == 0 || entry->last_ns + 1 < overruns->window_begin_ns)) overruns->window_agents++;
  decay(entry, terms->window_ns, now_ns);
  entry->frame = frame;
  entry->last_ns = now_ns;
  ++*(blocked ? &entry->blocked_count : &entry->overrun_count);
  overrun_penalty penalty = penalty_of(entry, terms);
  if (penalty != OVERRUN_NO_PENALTY) entry->overrun_count = entry->blocked_count = 0;
  return penalty;
}

static void close_window(type_overruns *overruns) {
  overruns->window_begin_ns = overruns->window_samples = overruns->window_overruns = 0;
  overruns->window_agents = 0;
}

overrun_penalty overrun_table_type_penalty(struct overrun_table *table, uint32_t type, const overrun_terms *terms,
                                           uint64_t samples, uint64_t now_ns) {
  type_overruns *overruns = &table->types[type];
  if (!overruns->window_begin_ns || now_ns + 1 < overruns->window_begin_ns + terms->window_ns)
    return OVERRUN_NO_PENALTY;
  ASSERT(samples >= overruns->window_samples);
  uint64_t updates = samples - overruns->window_samples;
  if (updates < OVERRUN_WINDOW_UPDATES && overruns->window_overruns > 0 &&
      now_ns + 1 < overruns->window_begin_ns + OVERRUN_WINDOW_UPDATES * terms->window_ns)
    return OVERRUN_NO_PENALTY; /* too few to decide: the window stays open */
  bool bad = overruns->window_overruns * OVERRUN_TYPE_PART > updates && overruns->window_agents >= OVERRUN_TYPE_AGENTS;
  bool in_a_row = overruns->window_begin_ns <= overruns->bad_end_ns + terms->window_ns;
  close_window(overruns);
  if (!bad || !in_a_row) overruns->bad_windows = 0;
  if (!bad) return OVERRUN_NO_PENALTY;
  overruns->bad_end_ns = now_ns;
  if (!terms->cheapest && terms->demote) return OVERRUN_DEMOTED;
  overruns->bad_windows++;
  if (!terms->quarantine || overruns->bad_windows < terms->quarantine) return OVERRUN_NO_PENALTY;
  overruns->bad_windows = 0;
  return OVERRUN_QUARANTINED;
}

void overrun_table_forget(struct overrun_table *table, uint32_t agent) {
  if (table->places[agent]) remove_entry(table, table->places[agent] - 1u);
}

void overrun_table_forget_type(struct overrun_table *table, uint32_t type) {
  for (uint32_t i = table->count; i-- > 0;)
    if (table->entries[i].type == type) remove_entry(table, i);
  close_window(&table->types[type]);
  table->types[type].bad_windows = 0;
}
