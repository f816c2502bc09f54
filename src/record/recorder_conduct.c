/* recorder_conduct.c - which atoms took too long is known by clocks alone: written down with the frame, or read. */
#include "record/recorder.h"
#include "run/watchdog.h"

static void put_list(struct muster_world *world, const offence_list *list) {
  tape *tape = &world->recorder->tape;
  uint32_t all = offences_counts(world->types.count), counts = 0;
  for (uint32_t i = 0; i < all; i++) counts += list->by_type[i] > 0;
  tape_put_number(tape, list->count);
  tape_put(tape, list->offences, list->count * sizeof *list->offences);
  tape_put_number(tape, counts);
  for (uint32_t i = 0; i < all; i++) {
    if (!list->by_type[i]) continue;
    tape_put_number(tape, i);
    tape_put_number(tape, list->by_type[i]);
  }
}

static bool is_possible(const struct muster_world *world, const offence *offence) {
  return offence->agent < world->def.agents_max && offence->type < world->types.count &&
         offence->level < MUSTER_LEVELS && offence->kind < OFFENCE_KINDS;
}

static void take_list(struct muster_world *world, offence_list *list) {
  tape *tape = &world->recorder->tape;
  uint64_t count = tape_take_number(tape);
  if (count > OFFENCES_MAX) {
    recorder_diverges(world, "its record has %llu offences of one worker", (unsigned long long)count);
    return;
  }
  tape_take(tape, list->offences, count * sizeof *list->offences);
  for (uint32_t i = 0; i < count && !tape->failed; i++)
    if (is_possible(world, &list->offences[i])) list->offences[list->count++] = list->offences[i];
  if (list->count < count) recorder_diverges(world, "its record has offences that cannot be");
  for (uint64_t left = tape_take_number(tape); left > 0 && !tape->failed; left--) {
    uint64_t i = tape_take_number(tape), more = tape_take_number(tape);
    if (i < offences_counts(world->types.count)) list->by_type[i] = (uint32_t)more;
  }
}

bool recorder_exchange_offences(struct muster_world *world, offence_list *list) {
  bool any = recorder_exchange_choice(world, list && list->count > 0);
  if (!any || !recorder_mark(world, TAG_OFFENCES)) return false;
  if (recorder_records(world)) put_list(world, list);
  return true;
}

bool recorder_next_offences(struct muster_world *world, offence_list *list) {
  if (!recorder_exchange_offences(world, NULL)) return false;
  take_list(world, list);
  return !world->recorder->trouble[0];
}

bool recorder_exchange_suspect(struct muster_world *world, bool any, uint32_t *type) {
  if (!recorder_exchange_choice(world, any)) return false;
  recorder_exchange(world, TAG_SUSPECT, type, sizeof *type);
  return *type < world->types.count;
}

bool recorder_exchange_incident(struct muster_world *world, bool any, watch_incident *incident) {
  if (!recorder_exchange_choice(world, any)) return false;
  recorder_exchange(world, TAG_INCIDENT, incident, sizeof *incident);
  return incident->agent < world->def.agents_max && incident->type < world->types.count;
}
