#include "plan/offenders.h"

#include "base/assert.h"

#include <string.h>

void offenders_create(offenders *offenders, uint32_t agents_max, uint32_t types_max, arena *arena) {
  offenders->places = arena_reserve(arena, agents_max, sizeof *offenders->places);
  offenders->types = arena_reserve(arena, types_max, sizeof *offenders->types);
}

void offenders_count(offenders *offenders, uint32_t type, uint32_t more, uint64_t samples, uint64_t now_ns) {
  type_conduct *conduct = &offenders->types[type];
  if (!conduct->window_begin_ns) {
    conduct->window_begin_ns = now_ns + 1; /* never 0 */
    conduct->window_samples = samples;
  }
  conduct->offences += more;
  conduct->window_offences += more;
}

static void remove_entry(offenders *offenders, uint32_t number) {
  offenders->places[offenders->entries[number].agent] = 0;
  uint32_t last = --offenders->count;
  if (number == last) return;
  offenders->entries[number] = offenders->entries[last];
  offenders->places[offenders->entries[number].agent] = (uint16_t)(number + 1);
}

static bool is_milder(const offender *one, const offender *other) {
  return one->strikes != other->strikes ? one->strikes < other->strikes : one->last_ns < other->last_ns;
}

/* Lets the mildest of the next few go. */
static void make_room(offenders *offenders) {
  uint32_t mildest = offenders->hand % offenders->count;
  for (uint32_t i = 1; i < OFFENDERS_WEIGHED; i++) {
    uint32_t number = (offenders->hand + i) % offenders->count;
    if (is_milder(&offenders->entries[number], &offenders->entries[mildest])) mildest = number;
  }
  offenders->hand = (offenders->hand + OFFENDERS_WEIGHED) % OFFENDERS_MAX;
  remove_entry(offenders, mildest);
}

static offender *entry_of(offenders *offenders, const offence *offence) {
  uint32_t place = offenders->places[offence->agent];
  if (place) return &offenders->entries[place - 1];
  if (offenders->count == OFFENDERS_MAX) make_room(offenders);
  offender *entry = &offenders->entries[offenders->count++];
  *entry = (offender){.agent = offence->agent, .type = offence->type};
  offenders->places[offence->agent] = (uint16_t)offenders->count;
  return entry;
}

/* Each window without an offence takes one strike away. */
static void decay(offender *entry, uint64_t window_ns, uint64_t now_ns) {
  uint64_t windows = (now_ns - entry->last_ns) / (window_ns ? window_ns : 1);
  entry->strikes -= windows < entry->strikes ? (uint32_t)windows : entry->strikes;
}

offender_verdict offenders_strike(offenders *offenders, const offence *offence, const offender_terms *terms,
                                  uint64_t frame, uint64_t now_ns) {
  type_conduct *conduct = &offenders->types[offence->type];
  offender *entry = entry_of(offenders, offence);
  if (entry->frame == frame) return OFFENDER_LET_OFF;
  if (entry->frame == 0 || entry->last_ns + 1 < conduct->window_begin_ns) conduct->window_agents++;
  decay(entry, terms->window_ns, now_ns);
  entry->frame = frame;
  entry->last_ns = now_ns;
  entry->strikes++;
  uint32_t most = terms->cheapest ? terms->strikes_quarantine : terms->strikes_demote;
  /* One that is never demoted may still be put into quarantine. */
  bool demotes = !terms->cheapest && most > 0;
  if (!most && !terms->cheapest) most = terms->strikes_quarantine;
  if (!most || entry->strikes < most) return OFFENDER_LET_OFF;
  entry->strikes = 0;
  return demotes ? OFFENDER_DEMOTED : OFFENDER_QUARANTINED;
}

static void close_window(type_conduct *conduct) {
  conduct->window_begin_ns = conduct->window_samples = conduct->window_offences = 0;
  conduct->window_agents = 0;
}

offender_verdict offenders_judge_type(offenders *offenders, uint32_t type, const offender_terms *terms,
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

void offenders_forget(offenders *offenders, uint32_t agent) {
  if (offenders->places[agent]) remove_entry(offenders, offenders->places[agent] - 1u);
}

void offenders_forget_type(offenders *offenders, uint32_t type) {
  for (uint32_t i = offenders->count; i-- > 0;)
    if (offenders->entries[i].type == type) remove_entry(offenders, i);
  close_window(&offenders->types[type]);
  offenders->types[type].bad_windows = 0;
}
