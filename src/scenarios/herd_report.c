#include "scenarios/herd.h"

/* Sums over herds, and over what was counted. */
typedef struct census {
  uint64_t herds, folded, unfolded, leaves, deer, represented;
  double grazed_g, grazed_kg, grazed_kg_per_deer_hour, fawns, speed_mps;
  uint64_t births, deaths;
  muster_statistics statistics;
} census;

static void count_herds(const muster_world *world, census *sums) {
  muster_herd_info info = muster_default_herd_info();
  muster_herd herd = muster_herd_next(world, (muster_herd){0, 0});
  for (; herd.generation; herd = muster_herd_next(world, herd)) {
    if (muster_herd_read(world, herd, &info) != MUSTER_OK) continue;
    sums->herds++;
    sums->unfolded += info.leaves > 0;
    sums->leaves += info.leaves;
    sums->deer += info.members;
    sums->grazed_g += (double)info.totals[HERD_GRAZED];
    sums->fawns += (double)info.totals[HERD_FAWNS];
    sums->speed_mps += (double)hypotf(info.velocity_x, info.velocity_y);
  }
}

/* Numbers of members: first = deer + deaths + killed - births. */
void herd_conclude(const scaffold_look *look) {
  const herd_world *self = look->instance;
  census *sums = look->sums;
  double by_dead_g = self->tally.grazed_by_dead_g;
  muster_frame_report frame = muster_default_frame_report();
  muster_frame_report_read(look->world, &frame);
  sums->represented = frame.represented;
  sums->statistics = muster_default_statistics();
  muster_statistics_read(look->world, &sums->statistics);
  sums->deaths = self->tally.deaths;
  for (uint32_t i = 0; i < self->block_count; i++) {
    sums->births += self->blocks[i].births;
    sums->deaths += self->blocks[i].deaths;
    by_dead_g += self->blocks[i].grazed_by_dead_g;
  }
  count_herds(look->world, sums);
  double grazed_g = sums->grazed_g + by_dead_g;
  sums->folded = sums->herds - sums->unfolded;
  sums->grazed_kg = grazed_g * 1e-3;
  sums->grazed_kg_per_deer_hour = grazed_g * 3.6 / (self->deer_s + 1e-9);
  if (sums->herds) sums->speed_mps /= (double)sums->herds;
}

#define STATISTIC(name, member) SCAFFOLD_FOUND(name, census, statistics.member)

const scaffold_line herd_lines[] = {SCAFFOLD_FOUND("represented", census, represented),
                                    SCAFFOLD_OWN("first_deer", herd_world, first_deer),
                                    SCAFFOLD_FOUND("deer", census, deer),
                                    SCAFFOLD_FOUND("leaves", census, leaves),
                                    SCAFFOLD_FOUND("herds_folded", census, folded),
                                    SCAFFOLD_FOUND("herds_unfolded", census, unfolded),
                                    SCAFFOLD_OWN("wolves", herd_world, wolves),
                                    SCAFFOLD_SECONDS("simulated_s"),
                                    SCAFFOLD_FOUND("births", census, births),
                                    SCAFFOLD_FOUND("fawns_waiting", census, fawns),
                                    SCAFFOLD_OWN("fawns_orphaned", herd_world, tally.orphans),
                                    SCAFFOLD_FOUND("deaths", census, deaths),
                                    SCAFFOLD_OWN("killed", herd_world, tally.killed),
                                    SCAFFOLD_OWN("killed_folded", herd_world, tally.killed_folded),
                                    SCAFFOLD_OWN("scares", herd_world, tally.scares),
                                    SCAFFOLD_FOUND("grazed_kg", census, grazed_kg),
                                    SCAFFOLD_FOUND("grazed_kg_per_deer_hour", census, grazed_kg_per_deer_hour),
                                    SCAFFOLD_FOUND("herd_speed_mps", census, speed_mps),
                                    STATISTIC("folds", folds),
                                    STATISTIC("unfolds", unfolds),
                                    STATISTIC("unfolds_refused", unfolds_refused),
                                    STATISTIC("folds_refused", folds_refused),
                                    STATISTIC("herds_refused", herds_refused),
                                    STATISTIC("changes_in_sight", changes_in_sight),
                                    STATISTIC("bytes_folded", bytes_folded),
                                    STATISTIC("bytes_unfolded", bytes_unfolded),
                                    {0}};
