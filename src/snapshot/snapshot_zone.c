/* snapshot_zone.c - what a snapshot says of a world that is a zone: the ids of its agents and ghosts, where agents went
 * that left, messages to other zones and which came from there. */
#include "base/assert.h"
#include "snapshot/crossing.h"
#include "world/world_zone.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- agents */

/* The id of an index that is an agent's or a ghost's, and what is counted of it. */
static void exchange_id(struct snapshot *snapshot, uint32_t index) {
  struct world_zone *zone = snapshot->world->zone;
  zone_row substitute, *row = snapshot_object(snapshot, &zone->rows[index], &substitute);
  ASSERT(index < snapshot->high);
  uint64_t id = zone_ids_at(&zone->ids, index).value;
  uint32_t ghost = snapshot_number(snapshot, zone_ids_is_ghost(&zone->ids, index));
  snapshot_exchange(snapshot, &id, sizeof id);
  snapshot_exchange(snapshot, row, sizeof *row);
  snapshot_expect(snapshot, ghost <= 1 && zone_ids_is_id((muster_agent){id}), "agent %u has an id of no zone", index);
  snapshot_expect(snapshot, ghost ? row->zone && row->zone <= MUSTER_ZONES_MAX : !row->zone,
                  "agent %u is run by zone %u", index, row->zone);
  if (snapshot_checks(snapshot) && ghost) bits_set(snapshot->ghost_bits, index);
  if (snapshot_loads(snapshot))
    zone_ids_restore(&zone->ids, index, snapshot->rows[index].generation, (muster_agent){id}, ghost);
}

/* ---------------------------------------------------------------------------------------------------------- entries */

/* The numbers, keys and values of entries, in order. */
static void exchange_recent(struct snapshot *snapshot, struct recent *recent, bool marks) {
  ASSERT(snapshot_saves(snapshot) || recent->count == 0);
  uint64_t added = recent->added, number = added > recent->maximum ? added - recent->maximum : 0;
  uint32_t count = snapshot_count(snapshot, recent->count, recent->maximum, marks ? "marks" : "messages that came");
  snapshot_exchange(snapshot, &added, sizeof added);
  snapshot_expect(snapshot, added >= count && added < UINT64_MAX / 2, "%u entries of %llu", count,
                  (unsigned long long)added);
  if (!snapshot_saves(snapshot)) number = added > recent->maximum ? added - recent->maximum : 0;
  for (uint32_t i = 0; i < count; i++, number++) {
    struct {
      uint64_t number, value;
      recent_key key;
    } entry = {0};
    while (snapshot_saves(snapshot) && !recent_entry(recent, number, &entry.key, &entry.value)) number++;
    entry.number = number;
    snapshot_exchange(snapshot, &entry, sizeof entry);
    snapshot_expect(snapshot, entry.number >= number && entry.number < added && (entry.key.first | entry.key.second),
                    "entry %u is number %llu", i, (unsigned long long)entry.number);
    zone_mark mark = zone_mark_of(entry.value);
    bool possible = zone_ids_is_id((muster_agent){entry.key.first}) && !entry.key.second && mark.zone > 0 &&
                    mark.zone <= MUSTER_ZONES_MAX && mark.zone != snapshot->world->def.zone.number;
    snapshot_expect(snapshot, !marks || possible, "mark %u is none", i);
    number = entry.number;
    if (!snapshot_loads(snapshot)) continue;
    recent_restore(recent, number);
    recent_add(recent, entry.key, entry.value);
  }
  if (snapshot_loads(snapshot)) recent_restore(recent, added);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static void exchange_queue(struct snapshot *snapshot) {
  struct world_zone *zone = snapshot->world->zone;
  uint32_t most = snapshot->world->def.limits.sends_per_frame;
  uint32_t count = snapshot_count(snapshot, zone->queued, most, "messages to other zones");
  for (uint32_t i = 0; i < count; i++) {
    zone_outgoing checked;
    snapshot_zone_message(snapshot, snapshot_object(snapshot, &zone->queue[i], &checked));
  }
  if (snapshot_loads(snapshot)) zone->queued = count;
  snapshot_exchange_own(snapshot, &zone->host_sent, sizeof zone->host_sent);
}

void snapshot_zone(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  struct world_zone *zone = world->zone;
  if (!zone) return;
  if (snapshot_loads(snapshot)) zone_ids_restore_epoch(&zone->ids, world->def.zone.epoch);
  if (snapshot_loads(snapshot)) zone_ids_restore_epoch(&zone->observer_ids, world->def.zone.epoch);
  for (uint32_t i = 0; i < snapshot->high; i++) {
    const agent_row *row = &snapshot->rows[i];
    bool there = row->generation & 1;
    if (snapshot_saves(snapshot)) there = there && snapshot_is_somebody(snapshot, i);
    if (there) exchange_id(snapshot, i);
  }
  int64_t offset_ns = zone->offset_ns;
  snapshot_exchange(snapshot, &offset_ns, sizeof offset_ns);
  snapshot_expect(snapshot, offset_ns <= ZONE_OFFSET_MOST && offset_ns >= -ZONE_OFFSET_MOST, "its offset is none");
  if (snapshot_loads(snapshot)) zone->offset_ns = offset_ns;
  exchange_recent(snapshot, &zone->ids.marks, true);
  exchange_recent(snapshot, &zone->observer_ids.marks, true);
  exchange_recent(snapshot, &zone->delivered, false);
  exchange_queue(snapshot);
  snapshot_order(snapshot);
}
