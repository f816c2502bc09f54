#include "plan/offenders.h"

#include "base/assert.h"

#include <string.h>

void offenders_create(struct offenders *offenders, uint32_t agents_max, uint32_t types_max, struct arena *arena) {
  ARENA_ARRAY(arena, offenders->places, agents_max);
  ARENA_ARRAY(arena, offenders->types, types_max);
}

void offenders_count(struct offenders *offenders, uint32_t type, uint32_t more, uint64_t samples, uint64_t now_ns) {
  type_conduct *conduct = &offenders->types[type];
  if (!conduct->window_begin_ns) {
    conduct->window_begin_ns = now_ns + 1; /* never 0 */
    conduct->window_samples = samples;
  }
  conduct->offences += more;
  conduct->window_offences += more;
}

static void remove_entry(struct offenders *offenders, uint32_t number) {
  offenders->places[offenders->entries[number].agent] = 0;
  uint32_t last = --offenders->count;
  if (number == last) return;
  offenders->entries[number] = offenders->entries[last];
  offenders->places[offenders->entries[number].agent] = (uint16_t)(number + 1);
}

static bool is_milder(const struct offender *one, const struct offender *other) {
  uint32_t strikes = one->strikes + one->blocked, others = other->strikes + other->blocked;
  return strikes != others ? strikes < others : one->last_ns < other->last_ns;
}

/* Forgets the mildest of the next few entries. */
static void offenders_make_room(struct offenders *offenders) {
  uint32_t mildest = offenders->hand % offenders->count;
  for (uint32_t i = 1; i < OFFENDERS_WEIGHED; i++) {
    uint32_t number = (offenders->hand + i) % offenders->count;
    if (is_milder(&offenders->entries[number], &offenders->entries[mildest])) mildest = number;
  }
  offenders->hand = (offenders->hand + OFFENDERS_WEIGHED) % OFFENDERS_MAX;
  remove_entry(offenders, mildest);
}

static struct offender *offenders_entry_of(struct offenders *offenders, const struct offence *offence) {
  uint32_t place = offenders->places[offence->agent];
  if (place) return &offenders->entries[place - 1];
  if (offenders->count == OFFENDERS_MAX) offenders_make_room(offenders);
  struct offender *entry = &offenders->entries[offenders->count++];
  *entry = (struct offender){.agent = offence->agent, .type = offence->type};
  offenders->places[offence->agent] = (uint16_t)offenders->count;
  return entry;
}

static uint32_t all_but(uint32_t strikes, uint64_t less) {
  return less < strikes ? strikes - (uint32_t)less : 0;
}

/* Takes one strike of each kind away for each window without an offence. */
static void decay(struct offender *entry, uint64_t window_ns, uint64_t now_ns) {
  uint64_t windows = (now_ns - entry->last_ns) / (window_ns ? window_ns : 1);
  entry->strikes = all_but(entry->strikes, windows);
  entry->blocked = all_but(entry->blocked, windows);
}

/* What follows from the strikes of an agent. Where it cannot be demoted it may still be put into quarantine. */
static offender_verdict sentence(const struct offender *entry, const offender_terms *terms) {
  bool demotes = terms->strikes_demote && !terms->cheapest;
  bool repeated = terms->strikes_demote && entry->strikes + entry->blocked >= terms->strikes_demote;
  if (demotes) return repeated ? OFFENDER_DEMOTED : OFFENDER_LET_OFF;
  if (!terms->strikes_quarantine) return repeated ? OFFENDER_TOLD : OFFENDER_LET_OFF;
  return entry->strikes >= terms->strikes_quarantine ? OFFENDER_QUARANTINED : OFFENDER_LET_OFF;
}

offender_verdict offenders_strike(struct offenders *offenders, const struct offence *offence,
                                  const offender_terms *terms, uint64_t frame, uint64_t now_ns) {
  type_conduct *conduct = &offenders->types[offence->type];
  struct offender *entry = offenders_entry_of(offenders, offence);
  bool blocked = offence->kind == OFFENCE_BLOCKED;
  if (entry->frame == frame) return OFFENDER_LET_OFF;
  if (!blocked && (entry->frame == 0 || entry->last_ns + 1 < conduct->window_begin_ns)) conduct->window_agents++;
  decay(entry, terms->window_ns, now_ns);
  entry->frame = frame;
  entry->last_ns = now_ns;
  ++*(blocked ? &entry->blocked : &entry->strikes);
  offender_verdict verdict = sentence(entry, terms);
  if (verdict != OFFENDER_LET_OFF) entry->strikes = entry->blocked = 0;
  return verdict;
}

static void close_window(type_conduct *conduct) {
  conduct->window_begin_ns = conduct->window_samples = conduct->window_offences = 0;
  conduct->window_agents = 0;
}

offender_verdict offenders_type_verdict(struct offenders *offenders, uint32_t type, const offender_terms *terms,
                                        uint64_t samples, uint64_t now_ns) {
  type_conduct *conduct = &offenders->types[type];
  if (!conduct->window_begin_ns || now_ns + 1 < conduct->window_begin_ns + terms->window_ns) return OFFENDER_LET_OFF;
  ASSERT(samples >= conduct->window_samples);
  uint64_t updates = samples - conduct->window_samples;
  if (updates < OFFENDERS_UPDATES && conduct->window_offences > 0 &&
      now_ns + 1 < conduct->window_begin_ns + OFFENDERS_UPDATES * terms->window_ns)
    return OFFENDER_LET_OFF; /* too few to judge: the window stays open */
  bool bad =
      conduct->window_offences * OFFENDERS_TYPE_PART > updates && conduct->window_agents >= OFFENDERS_TYPE_AGENTS;
  bool in_a_row = conduct->window_begin_ns <= conduct->bad_end_ns + terms->window_ns;
  close_window(conduct);
  if (!bad || !in_a_row) conduct->bad_windows = 0;
  if (!bad) return OFFENDER_LET_OFF;
  conduct->bad_end_ns = now_ns;
  if (!terms->cheapest && terms->strikes_demote) return OFFENDER_DEMOTED;
  conduct->bad_windows++;
  if (!terms->strikes_quarantine || conduct->bad_windows < terms->strikes_quarantine) return OFFENDER_LET_OFF;
  conduct->bad_windows = 0;
  return OFFENDER_QUARANTINED;
}

void offenders_forget(struct offenders *offenders, uint32_t agent) {
  if (offenders->places[agent]) remove_entry(offenders, offenders->places[agent] - 1u);
}

void offenders_forget_type(struct offenders *offenders, uint32_t type) {
  for (uint32_t i = offenders->count; i-- > 0;)
    if (offenders->entries[i].type == type) remove_entry(offenders, i);
  close_window(&offenders->types[type]);
  offenders->types[type].bad_windows = 0;
}
