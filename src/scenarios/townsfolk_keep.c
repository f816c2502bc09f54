#include "scenarios/kept.h"
#include "scenarios/townsfolk.h"

enum { VERSION = 1 };

/* What a snapshot keeps of the land besides its characters; halls, people and observers follow. */
typedef struct kept_land {
  uint32_t version, agents, observer_count, town_count;
} kept_land;

static bool save_town(const folk_town *town, muster_module_write write, void *write_user) {
  return write(&town->hall, sizeof town->hall, write_user) &&
         write(town->members, town->people * sizeof *town->members, write_user);
}

muster_result folk_save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const struct folk *folk = instance;
  (void)world;
  kept_land kept = {VERSION, folk->agents, folk->observer_count, folk->town_count};
  bool written = write(&kept, sizeof kept, write_user);
  for (uint32_t i = 0; i < folk->town_count && written; i++) written = save_town(&folk->towns[i], write, write_user);
  if (written) written = write(folk->observers, folk->observer_count * sizeof *folk->observers, write_user);
  return written ? MUSTER_OK : kept_unwritten("townsfolk");
}

muster_result folk_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  struct folk *folk = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_land kept;
  muster_result result = folk_register(folk, world);
  if (result) return result;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != folk->agents || kept.observer_count != folk->observer_count ||
      kept.town_count != folk->town_count)
    return kept_refused("townsfolk");
  for (uint32_t i = 0; i < folk->town_count; i++) {
    folk_town *town = &folk->towns[i];
    kept_take(&left, &town->hall, sizeof town->hall);
    kept_take(&left, town->members, town->people * sizeof *town->members);
  }
  kept_take(&left, folk->observers, folk->observer_count * sizeof *folk->observers);
  return kept_is_read(&left) ? MUSTER_OK : kept_refused("townsfolk");
}
