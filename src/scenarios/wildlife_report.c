#include "scenarios/wildlife.h"

#include <math.h>

/* Sums over the living, and with the dead. */
typedef struct census {
  uint32_t living[WILDLIFE_SPECIES], moods[WILDLIFE_MOODS];
  uint32_t count, outside;
  double grazed_of[WILDLIFE_SPECIES], grazed, eaten, distance_m, speed_mps, energy;
  double side_m, births, deaths[WILDLIFE_FATES], mood_shares[WILDLIFE_MOODS];
} census;

void wildlife_count(const scaffold_look *look) {
  const wildlife *desert = look->instance;
  const wildlife_animal *animal = look->info.state;
  const wildlife_face *face = look->info.published;
  census *sums = look->sums;
  sums->count++;
  sums->living[face->species]++;
  sums->moods[face->mood]++;
  sums->outside += fabs(look->info.position.x) > desert->half_m || fabs(look->info.position.y) > desert->half_m;
  sums->grazed_of[face->species] += animal->grazed;
  sums->eaten += animal->eaten;
  sums->distance_m += animal->distance_m;
  sums->speed_mps += (double)animal->speed_mps;
  sums->energy += (double)animal->energy;
}

void wildlife_conclude(const scaffold_look *look) {
  const wildlife *desert = look->instance;
  const wildlife_tally *tally = &desert->tally;
  census *sums = look->sums;
  double each = sums->count ? 1.0 / sums->count : 0.0;
  sums->side_m = 2.0 * desert->half_m;
  for (uint32_t species = 0; species < WILDLIFE_SPECIES; species++) {
    sums->births += (double)tally->births[species];
    sums->grazed += tally->grazed[species] + sums->grazed_of[species];
    for (uint32_t fate = 0; fate < WILDLIFE_FATES; fate++) sums->deaths[fate] += (double)tally->deaths[species][fate];
  }
  sums->eaten += tally->eaten;
  sums->distance_m += tally->distance_m;
  sums->speed_mps *= each;
  sums->energy *= each;
  for (uint32_t mood = 0; mood < WILDLIFE_MOODS; mood++) sums->mood_shares[mood] = sums->moods[mood] * each;
}

#define SPECIES(plural, species)                                                                                       \
  SCAFFOLD_FOUND(plural, census, living[species]), SCAFFOLD_OWN(plural "_born", wildlife, tally.births[species]),      \
      SCAFFOLD_OWN(plural "_killed", wildlife, tally.deaths[species][WILDLIFE_KILLED]),                                \
      SCAFFOLD_OWN(plural "_starved", wildlife, tally.deaths[species][WILDLIFE_STARVED]),                              \
      SCAFFOLD_OWN(plural "_aged", wildlife, tally.deaths[species][WILDLIFE_AGED])
#define MOOD(name, mood) SCAFFOLD_FOUND("share_" name, census, mood_shares[mood])

const scaffold_line wildlife_lines[] = {SCAFFOLD_FOUND("side_m", census, side_m),
                                        SCAFFOLD_SECONDS("simulated_s"),
                                        SPECIES("hares", WILDLIFE_HARE),
                                        SPECIES("javelinas", WILDLIFE_JAVELINA),
                                        SPECIES("groundhogs", WILDLIFE_GROUNDHOG),
                                        SPECIES("bobcats", WILDLIFE_BOBCAT),
                                        SCAFFOLD_AGENTS("population"),
                                        SCAFFOLD_FOUND("outside", census, outside),
                                        SCAFFOLD_FOUND("births", census, births),
                                        SCAFFOLD_OWN("births_refused", wildlife, tally.births_refused),
                                        SCAFFOLD_OWN("strikes", wildlife, tally.strikes),
                                        SCAFFOLD_FOUND("kills", census, deaths[WILDLIFE_KILLED]),
                                        SCAFFOLD_FOUND("starved", census, deaths[WILDLIFE_STARVED]),
                                        SCAFFOLD_FOUND("aged", census, deaths[WILDLIFE_AGED]),
                                        SCAFFOLD_FOUND("grazed_energy", census, grazed),
                                        SCAFFOLD_FOUND("eaten_energy", census, eaten),
                                        SCAFFOLD_FOUND("distance_m", census, distance_m),
                                        SCAFFOLD_FOUND("mean_speed_mps", census, speed_mps),
                                        SCAFFOLD_FOUND("mean_energy", census, energy),
                                        MOOD("graze", WILDLIFE_GRAZE),
                                        MOOD("wander", WILDLIFE_WANDER),
                                        MOOD("rest", WILDLIFE_REST),
                                        MOOD("alert", WILDLIFE_ALERT),
                                        MOOD("flee", WILDLIFE_FLEE),
                                        MOOD("hide", WILDLIFE_HIDE),
                                        MOOD("prowl", WILDLIFE_PROWL),
                                        MOOD("chase", WILDLIFE_CHASE),
                                        MOOD("feed", WILDLIFE_FEED),
                                        {0}};
