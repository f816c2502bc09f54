#include "scenarios/herd.h"

/* Sums over herds, and over what was counted. */
typedef struct census {
  uint64_t herds, unfolded, leaves, deer;
  double grazed_g, fawns, speed_mps;
  uint64_t births, deaths;
  double grazed_by_dead_g;
} census;

static census herd_report_take_census(const herd_world *self, const muster_world *world) {
  census sums = {.deaths = self->tally.deaths, .grazed_by_dead_g = self->tally.grazed_by_dead_g};
  muster_herd_info info = muster_default_herd_info();
  for (uint32_t i = 0; i < self->block_count; i++) {
    sums.births += self->blocks[i].births;
    sums.deaths += self->blocks[i].deaths;
    sums.grazed_by_dead_g += self->blocks[i].grazed_by_dead_g;
  }
  muster_herd herd = muster_herd_next(world, (muster_herd){0, 0});
  for (; herd.generation; herd = muster_herd_next(world, herd)) {
    if (muster_herd_read(world, herd, &info) != MUSTER_OK) continue;
    sums.herds++;
    sums.unfolded += info.leaves > 0;
    sums.leaves += info.leaves;
    sums.deer += info.members;
    sums.grazed_g += (double)info.totals[HERD_GRAZED];
    sums.fawns += (double)info.totals[HERD_FAWNS];
    sums.speed_mps += (double)hypotf(info.velocity_x, info.velocity_y);
  }
  return sums;
}

/* Numbers of members: first = deer + deaths + killed - births. */
void herd_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const herd_world *self = instance;
  census sums = herd_report_take_census(self, world);
  muster_statistics statistics = muster_default_statistics();
  muster_frame_report frame = muster_default_frame_report();
  muster_statistics_read(world, &statistics);
  muster_frame_report_read(world, &frame);
  double grazed_g = sums.grazed_g + sums.grazed_by_dead_g;
  double deer_s = self->deer_s + 1e-9;
  emit("represented", (double)frame.represented, emit_user);
  emit("first_deer", (double)self->first_deer, emit_user);
  emit("deer", (double)sums.deer, emit_user);
  emit("leaves", (double)sums.leaves, emit_user);
  emit("herds_folded", (double)(sums.herds - sums.unfolded), emit_user);
  emit("herds_unfolded", (double)sums.unfolded, emit_user);
  emit("wolves", self->wolves, emit_user);
  emit("simulated_s", (double)(self->now_ns - self->begin_ns) * 1e-9, emit_user);
  emit("births", (double)sums.births, emit_user);
  emit("fawns_waiting", sums.fawns, emit_user);
  emit("fawns_orphaned", self->tally.orphans, emit_user);
  emit("deaths", (double)sums.deaths, emit_user);
  emit("killed", (double)self->tally.killed, emit_user);
  emit("killed_folded", (double)self->tally.killed_folded, emit_user);
  emit("scares", (double)self->tally.scares, emit_user);
  emit("grazed_kg", grazed_g * 1e-3, emit_user);
  emit("grazed_kg_per_deer_hour", grazed_g * 3.6 / deer_s, emit_user);
  emit("herd_speed_mps", sums.herds ? sums.speed_mps / (double)sums.herds : 0.0, emit_user);
  emit("folds", (double)statistics.folds, emit_user);
  emit("unfolds", (double)statistics.unfolds, emit_user);
  emit("unfolds_refused", (double)statistics.unfolds_refused, emit_user);
  emit("folds_refused", (double)statistics.folds_refused, emit_user);
  emit("herds_refused", (double)statistics.herds_refused, emit_user);
  emit("changes_in_sight", (double)statistics.changes_in_sight, emit_user);
  emit("bytes_folded", (double)statistics.bytes_folded, emit_user);
  emit("bytes_unfolded", (double)statistics.bytes_unfolded, emit_user);
}
