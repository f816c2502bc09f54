#include "scenarios/wildlife.h"

#include <math.h>
#include <stdio.h>

static const char *const mood_names[WILDLIFE_MOODS] = {"graze", "wander", "rest",  "alert", "flee",
                                                       "hide",  "prowl",  "chase", "feed"};

/* Sums over the living. */
typedef struct census {
  uint32_t living[WILDLIFE_SPECIES], moods[WILDLIFE_MOODS];
  uint32_t count, outside;
  double grazed[WILDLIFE_SPECIES], eaten, distance_m, speed_mps, energy;
} census;

static void wildlife_report_count_one(const wildlife *desert, const muster_agent_info *info, census *sums) {
  const wildlife_animal *animal = info->state;
  const wildlife_face *face = info->published;
  sums->count++;
  sums->living[face->species]++;
  sums->moods[face->mood]++;
  sums->outside += fabs(info->position.x) > desert->half_m || fabs(info->position.y) > desert->half_m;
  sums->grazed[face->species] += animal->grazed;
  sums->eaten += animal->eaten;
  sums->distance_m += animal->distance_m;
  sums->speed_mps += (double)animal->speed_mps;
  sums->energy += (double)animal->energy;
}

static census wildlife_report_take_census(const wildlife *desert, const muster_world *world) {
  census sums = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) wildlife_report_count_one(desert, &info, &sums);
  return sums;
}

/* A number whose name has two parts. */
static void emit_part(muster_module_emit emit, void *emit_user, const char *first, const char *second, double value) {
  char name[64];
  snprintf(name, sizeof name, "%s_%s", first, second);
  emit(name, value, emit_user);
}

static void emit_species(const wildlife *desert, const census *sums, muster_module_emit emit, void *emit_user) {
  const wildlife_tally *tally = &desert->tally;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    const wildlife_profile *profile = wildlife_profile_of((wildlife_species)species);
    const uint64_t *deaths = tally->deaths[species];
    emit(profile->plural, sums->living[species], emit_user);
    emit_part(emit, emit_user, profile->plural, "born", (double)tally->births[species]);
    emit_part(emit, emit_user, profile->plural, "killed", (double)deaths[WILDLIFE_KILLED]);
    emit_part(emit, emit_user, profile->plural, "starved", (double)deaths[WILDLIFE_STARVED]);
    emit_part(emit, emit_user, profile->plural, "aged", (double)deaths[WILDLIFE_AGED]);
  }
}

static void emit_totals(const wildlife *desert, const census *sums, muster_module_emit emit, void *emit_user) {
  const wildlife_tally *tally = &desert->tally;
  double births = 0, deaths[WILDLIFE_FATES] = {0}, grazed = 0;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    births += (double)tally->births[species];
    grazed += tally->grazed[species] + sums->grazed[species];
    for (uint32_t fate = 0; fate < WILDLIFE_FATES; fate++) deaths[fate] += (double)tally->deaths[species][fate];
  }
  emit("population", sums->count, emit_user);
  emit("outside", sums->outside, emit_user);
  emit("births", births, emit_user);
  emit("births_refused", (double)tally->births_refused, emit_user);
  emit("strikes", (double)tally->strikes, emit_user);
  emit("kills", deaths[WILDLIFE_KILLED], emit_user);
  emit("starved", deaths[WILDLIFE_STARVED], emit_user);
  emit("aged", deaths[WILDLIFE_AGED], emit_user);
  emit("grazed_energy", grazed, emit_user);
  emit("eaten_energy", tally->eaten + sums->eaten, emit_user);
  emit("distance_m", tally->distance_m + sums->distance_m, emit_user);
}

void wildlife_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const wildlife *desert = instance;
  census sums = wildlife_report_take_census(desert, world);
  double each = sums.count ? 1.0 / sums.count : 0.0;
  emit("side_m", 2.0 * desert->half_m, emit_user);
  emit("simulated_s", (double)(desert->now_ns - desert->begin_ns) * 1e-9, emit_user);
  emit_species(desert, &sums, emit, emit_user);
  emit_totals(desert, &sums, emit, emit_user);
  emit("mean_speed_mps", sums.speed_mps * each, emit_user);
  emit("mean_energy", sums.energy * each, emit_user);
  for (uint32_t mood = 0; mood < WILDLIFE_MOODS; mood++)
    emit_part(emit, emit_user, "share", mood_names[mood], sums.moods[mood] * each);
}
