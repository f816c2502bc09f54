#include "scenarios/hostile.h"

#include <math.h>

/* Sums over the living, and what they come to with the tally. */
typedef struct census {
  uint32_t of_kind[HOSTILE_KINDS];
  uint64_t count, sent, heard, heard_twice, lost, in_boxes, misplaced, lifetime_errors;
  double census_errors, invented, violations;
} census;

void hostile_check_census(hostile *self, const muster_world *world) {
  muster_frame_report report = muster_default_frame_report();
  muster_frame_report_read(world, &report);
  if (!report.frame && self->tally.frames) return; /* the world was loaded, and has run no frame yet */
  self->tally.census_errors += self->tally.births - self->tally.deaths != report.agents;
  if (report.agents > self->tally.population_max) self->tally.population_max = report.agents;
}

/* The last update may have done its atoms and not be complete. */
static bool has_lived_as_long(const hostile_life *life, const muster_agent_info *info) {
  uint64_t completed_ns = info->last_update_ns - life->born_ns;
  return life->lived_ns == completed_ns || life->lived_ns == completed_ns + life->last_elapsed_ns;
}

void hostile_count(const scaffold_look *look) {
  const hostile *self = look->instance;
  const hostile_life *life = look->info.state;
  const muster_position *place = &look->info.position;
  census *sums = look->sums;
  sums->count++;
  for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++)
    sums->of_kind[kind] += self->casts[kind].type.index == look->info.type.index;
  sums->sent += life->sent;
  sums->heard += life->heard;
  sums->heard_twice += life->heard_twice;
  sums->lost += life->lost;
  sums->in_boxes += look->info.messages;
  sums->misplaced += life->misplaced + !(isfinite(place->x) && isfinite(place->y) && isfinite(place->z));
  sums->lifetime_errors += !has_lived_as_long(life, &look->info);
}

/* Gossips never die, so every message that was heard, waits or was lost had been sent. */
void hostile_conclude(const scaffold_look *look) {
  const hostile *self = look->instance;
  const hostile_tally *tally = &self->tally;
  census *sums = look->sums;
  uint64_t arrived = sums->heard + sums->in_boxes + sums->lost;
  if (arrived > sums->sent) sums->invented = (double)(arrived - sums->sent);
  sums->census_errors = (double)tally->census_errors + (tally->births - tally->deaths != sums->count);
  sums->violations = sums->census_errors + sums->invented +
                     (double)(sums->lifetime_errors + sums->heard_twice + sums->misplaced) +
                     (tally->population_max > self->base.needs.agents_max);
}

#define KIND(name, kind) SCAFFOLD_FOUND("kind_" name, census, of_kind[HOSTILE_##kind])

/* Each of the last six must be 0. */
const scaffold_line hostile_lines[] = {SCAFFOLD_AGENTS("population"),
                                       SCAFFOLD_OWN("population_max", hostile, tally.population_max),
                                       KIND("endless", ENDLESS),
                                       KIND("flipper", FLIPPER),
                                       KIND("breeder", BREEDER),
                                       KIND("mayfly", MAYFLY),
                                       KIND("flapper", FLAPPER),
                                       KIND("chorus", CHORUS),
                                       KIND("glutton", GLUTTON),
                                       KIND("ringer", RINGER),
                                       KIND("gossip", GOSSIP),
                                       KIND("strayer", STRAYER),
                                       SCAFFOLD_OWN("births", hostile, tally.births),
                                       SCAFFOLD_OWN("deaths", hostile, tally.deaths),
                                       SCAFFOLD_OWN("kills", hostile, tally.kills),
                                       SCAFFOLD_OWN("births_refused", hostile, tally.births_refused),
                                       SCAFFOLD_SUM("updates_of_living", hostile_life, updates),
                                       SCAFFOLD_OWN("cost_flips", hostile, tally.flips),
                                       SCAFFOLD_OWN("chorus_calls", hostile, tally.calls),
                                       SCAFFOLD_OWN("chorus_calls_refused", hostile, tally.calls_refused),
                                       SCAFFOLD_SUM("level_changes", hostile_life, level_changes),
                                       SCAFFOLD_SUM("ring_wakes", hostile_life, wakes),
                                       SCAFFOLD_FOUND("messages_sent", census, sent),
                                       SCAFFOLD_FOUND("messages_heard", census, heard),
                                       SCAFFOLD_FOUND("messages_lost", census, lost),
                                       SCAFFOLD_SUM("moves_refused", hostile_life, refused),
                                       SCAFFOLD_FOUND("census_errors", census, census_errors),
                                       SCAFFOLD_FOUND("lifetime_errors", census, lifetime_errors),
                                       SCAFFOLD_FOUND("messages_heard_twice", census, heard_twice),
                                       SCAFFOLD_FOUND("messages_invented", census, invented),
                                       SCAFFOLD_FOUND("misplaced", census, misplaced),
                                       SCAFFOLD_FOUND("violations", census, violations),
                                       {0}};
