#include "scenarios/herd.h"
#include "scenarios/kept.h"

enum { VERSION = 1 };

/* What a snapshot keeps besides herds and wolves; the observers and the tallies of the blocks follow. */
typedef struct kept_herds {
  uint32_t version, deer, observers, wolves, block_count, begun;
  uint64_t begin_ns, now_ns, first_deer, represented;
  double deer_s;
  herd_tally tally;
} kept_herds;

typedef struct kept_block {
  uint64_t births, deaths;
  double grazed_by_dead_g;
} kept_block;

static bool write_blocks(const herd_world *self, muster_module_write write, void *write_user) {
  for (uint32_t i = 0; i < self->block_count; i++) {
    const herd_block_tally *tally = &self->blocks[i];
    kept_block kept = {tally->births, tally->deaths, tally->grazed_by_dead_g};
    if (!write(&kept, sizeof kept, write_user)) return false;
  }
  return true;
}

muster_result herd_save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const herd_world *self = instance;
  muster_frame_report report = muster_default_frame_report();
  muster_frame_report_read(world, &report);
  kept_herds kept = {.version = VERSION,
                     .deer = self->deer,
                     .observers = self->observers,
                     .wolves = self->wolves,
                     .block_count = self->block_count,
                     .begun = self->begun,
                     .begin_ns = self->begin_ns,
                     .now_ns = self->now_ns,
                     .first_deer = self->first_deer,
                     .represented = report.frame ? report.represented : self->represented,
                     .deer_s = self->deer_s,
                     .tally = self->tally};
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(self->observer_ids, self->observers * sizeof *self->observer_ids, write_user) &&
                 write_blocks(self, write, write_user);
  return written ? MUSTER_OK : kept_unwritten("herd");
}

muster_result herd_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  herd_world *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_herds kept;
  muster_result result = herd_register(self, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.deer != self->deer || kept.observers != self->observers ||
      kept.wolves != self->wolves || kept.block_count != self->block_count || kept.begun > 1)
    return kept_refused("herd");
  kept_take(&left, self->observer_ids, self->observers * sizeof *self->observer_ids);
  for (uint32_t i = 0; i < self->block_count; i++) {
    kept_block block;
    kept_take(&left, &block, sizeof block);
    self->blocks[i] = (herd_block_tally){block.births, block.deaths, block.grazed_by_dead_g};
  }
  if (!kept_is_read(&left)) return kept_refused("herd");
  herd_begin_walks(self);
  self->begun = kept.begun;
  self->begin_ns = kept.begin_ns;
  self->now_ns = kept.now_ns;
  self->first_deer = kept.first_deer;
  self->represented = kept.represented;
  self->deer_s = kept.deer_s;
  self->tally = kept.tally;
  return MUSTER_OK;
}
