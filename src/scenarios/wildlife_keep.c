#include "scenarios/kept.h"
#include "scenarios/wildlife.h"

enum { VERSION = 1 };

/* What a snapshot keeps of a desert besides its animals; the cameras follow. */
typedef struct kept_desert {
  uint32_t version, agents, observer_count, begun;
  uint64_t begin_ns, now_ns;
  wildlife_tally tally;
} kept_desert;

muster_result wildlife_save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const wildlife *desert = instance;
  (void)world;
  kept_desert kept = {.version = VERSION,
                      .agents = desert->agents,
                      .observer_count = desert->observer_count,
                      .begun = desert->begun,
                      .begin_ns = desert->begin_ns,
                      .now_ns = desert->now_ns,
                      .tally = desert->tally};
  bool written = write(&kept, sizeof kept, write_user) &&
                 write(desert->observers, desert->observer_count * sizeof *desert->observers, write_user);
  return written ? MUSTER_OK : kept_unwritten("wildlife");
}

muster_result wildlife_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  wildlife *desert = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_desert kept;
  muster_result result = wildlife_register(desert, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != desert->agents || kept.observer_count != desert->observer_count ||
      kept.begun > 1)
    return kept_refused("wildlife");
  kept_take(&left, desert->observers, desert->observer_count * sizeof *desert->observers);
  if (!kept_is_read(&left)) return kept_refused("wildlife");
  desert->begun = kept.begun;
  desert->begin_ns = kept.begin_ns;
  desert->now_ns = kept.now_ns;
  desert->tally = kept.tally;
  return MUSTER_OK;
}
