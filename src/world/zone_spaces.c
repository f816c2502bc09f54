#include "world/zone_spaces.h"

#include "base/assert.h"
#include "base/bits.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_zone.h"

#include <muster/random.h>
#include <string.h>

enum { SPACE_SHIFT = ZONE_INDEX_BITS + ZONE_GENERATION_BITS };

_Static_assert((ZONE_SPACES_SLOTS & (ZONE_SPACES_SLOTS - 1)) == 0, "a hash is cut to a slot by a mask");

void zone_spaces_note(struct zone_spaces *spaces, muster_agent id) {
  if (!zone_ids_is_id(id) || spaces->many) return;
  uint32_t space = (uint32_t)(id.value >> SPACE_SHIFT);
  uint32_t slot = (uint32_t)muster_random_mix(space) & (ZONE_SPACES_SLOTS - 1);
  ASSERT(spaces->slots && space);
  while (spaces->slots[slot] && spaces->slots[slot] != space) slot = (slot + 1) & (ZONE_SPACES_SLOTS - 1);
  if (spaces->slots[slot]) return;
  spaces->many = spaces->count == MUSTER_ZONE_SPACES_MAX;
  if (spaces->many) return;
  spaces->slots[slot] = space;
  spaces->count++;
}

void zone_spaces_clear(struct zone_spaces *spaces) {
  memset(spaces->slots, 0, ZONE_SPACES_SLOTS * sizeof *spaces->slots);
  spaces->count = 0;
  spaces->many = false;
}

void zone_spaces_note_agent(struct muster_world *world, uint32_t index) {
  struct zone_spaces *spaces = &world->zone->spaces;
  const agent_row *row = world_row(world, index);
  const struct companions *companions = &world->links->companions;
  zone_spaces_note(spaces, zone_ids_at(&world->zone->ids, index));
  for (uint32_t i = 0; companions->of && i < MUSTER_COMPANIONS_MAX; i++)
    zone_spaces_note(spaces, companions->of[index].others[i]);
  if (zone_ids_is_ghost(&world->zone->ids, index) || !world_is_active(world, index)) return;
  const box_table *boxes = &world_type(world, row->type)->boxes;
  uint32_t count = boxes->capacity ? boxes->boxes[row->state_slot].count : 0;
  for (uint32_t i = 0; i < count; i++) zone_spaces_note(spaces, boxes_message(boxes, row->state_slot, i)->peer);
}

static void look_at_entries(struct zone_spaces *spaces, const struct recent *recent) {
  uint64_t number = recent->added > recent->maximum ? recent->added - recent->maximum : 0, value;
  recent_key key;
  for (; number < recent->added; number++)
    if (recent_entry(recent, number, &key, &value)) zone_spaces_note(spaces, (muster_agent){key.first});
}

static void look_at_channels(struct zone_spaces *spaces, const struct channels *channels) {
  for (const channel *end = channels_oldest(channels); end; end = channels_newer(channels, end))
    zone_spaces_note(spaces, (muster_agent){end->peer});
}

static void look_at_message(struct zone_spaces *spaces, const zone_outgoing *message) {
  zone_spaces_note(spaces, message->from);
  zone_spaces_note(spaces, message->to);
}

static void look_at_observers(struct muster_world *world) {
  const struct identity *ids = &world->observers->ids;
  for (uint32_t i = 0; i < identity_high(ids); i++)
    if (identity_generation(ids, i) & 1)
      zone_spaces_note(&world->zone->spaces, zone_ids_at(&world->zone->observer_ids, i));
}

void zone_spaces_look(struct muster_world *world) {
  struct world_zone *zone = world->zone;
  uint32_t high = identity_high(&world->agents.ids);
  zone_spaces_note(&zone->spaces, zone_ids_of(&zone->ids, 0, 0, zone_ids_epoch(&zone->ids)));
  for (uint32_t i = 0; i < high; i++)
    if (identity_generation(&world->agents.ids, i) & 1) zone_spaces_note_agent(world, i);
  look_at_observers(world);
  look_at_entries(&zone->spaces, &zone->ids.marks);
  look_at_entries(&zone->spaces, &zone->observer_ids.marks);
  look_at_entries(&zone->spaces, &zone->delivered);
  look_at_channels(&zone->spaces, &zone->out);
  look_at_channels(&zone->spaces, &zone->in);
  for (uint32_t i = 0; i < zone->queued; i++) look_at_message(&zone->spaces, &zone->queue[i]);
  for (uint32_t at = zone->early_oldest; at; at = zone->early[at - 1].newer)
    look_at_message(&zone->spaces, &zone->early[at - 1].message);
}
