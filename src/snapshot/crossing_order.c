/* crossing_order.c - what keeps messages in their order (world/zone_order.h), of one agent that crosses or of a whole
 * world. */
#include "base/assert.h"
#include "snapshot/crossing.h"
#include "world/zone_order.h"

/* An end of a channel, and a message that is held back: `age` frames after it was used, or came. */
typedef struct saved_end {
  uint64_t peer, number, age;
  uint32_t owner, zero;
} saved_end;

/* Whose: of a whole world, or of one agent, whose index is none while it is checked. */
typedef struct order_scope {
  bool all;
  uint32_t owner;
  const crossing_way *way; /* by which the agent has come */
} order_scope;

void snapshot_zone_message(struct snapshot *snapshot, zone_outgoing *message) {
  snapshot_exchange(snapshot, message, offsetof(zone_outgoing, bytes));
  bool possible = message->size <= MUSTER_MESSAGE_BYTES_MAX && message->sequence && zone_ids_is_id(message->to) &&
                  message->zone && message->zone <= MUSTER_ZONES_MAX && message->hops <= MUSTER_ZONE_HOPS_MAX;
  snapshot_expect(snapshot, possible, "a message of %u bytes to zone %u", message->size, message->zone);
  snapshot_exchange(snapshot, message->bytes, message->size);
}

/* The host sends, and nobody sends to it. */
static bool order_is_owner(const struct snapshot *snapshot, uint32_t owner, bool sends) {
  if (owner == snapshot->world->def.limits.agents_max) return sends;
  return owner < snapshot->high && (snapshot->rows[owner].generation & 1) && !snapshot_is_ghost(snapshot, owner);
}

static void exchange_end(struct snapshot *snapshot, struct channels *channels, const channel *end, order_scope scope) {
  saved_end saved = {0};
  uint64_t now = snapshot->world->frames;
  if (end) saved = (saved_end){end->peer, end->number, now - end->frame, scope.all ? end->owner : 0, 0};
  snapshot_exchange(snapshot, &saved, sizeof saved);
  snapshot_expect(snapshot, saved.peer && saved.age < INT64_MAX / 2, "a channel is none");
  bool sends = channels == &snapshot->world->zone->out;
  ASSERT(!end || snapshot_saves(snapshot));
  snapshot_expect(snapshot, scope.all ? order_is_owner(snapshot, saved.owner, sends) : !saved.owner,
                  "a channel is of agent %u", saved.owner);
  if (!snapshot_loads(snapshot)) return;
  channel *taken = channels_use(channels, scope.all ? saved.owner : scope.owner, saved.peer);
  if (!taken) return;
  taken->number = saved.number;
  taken->frame = now - saved.age;
}

static uint32_t count_ends(const struct channels *channels, uint32_t owner) {
  uint32_t count = 0;
  for (const channel *end = channels_first(channels, owner); end; end = channels_next(channels, end)) count++;
  return count;
}

static void exchange_ends(struct snapshot *snapshot, struct channels *channels, order_scope scope) {
  bool all = scope.all, saves = snapshot_saves(snapshot);
  uint32_t count = !saves ? 0 : all ? channels->count : count_ends(channels, scope.owner);
  const channel *end = !saves ? NULL : all ? channels_oldest(channels) : channels_first(channels, scope.owner);
  count = snapshot_count(snapshot, count, channels->maximum, "channels");
  for (uint32_t i = 0; i < count; i++) {
    exchange_end(snapshot, channels, end, scope);
    if (end) end = all ? channels_newer(channels, end) : channels_next(channels, end);
  }
}

/* ------------------------------------------------------------------------------------------- messages held back */

static void exchange_early(struct snapshot *snapshot, const zone_early *early, order_scope scope) {
  struct {
    uint64_t age;
    uint32_t owner, zero;
  } head = {0};
  uint64_t now = snapshot->world->frames;
  zone_outgoing message = {.size = 0};
  if (early) {
    head.age = now - early->frame;
    head.owner = scope.all ? early->in->owner : 0;
    message = early->message;
  }
  snapshot_exchange(snapshot, &head, sizeof head);
  snapshot_zone_message(snapshot, &message);
  snapshot_expect(snapshot, scope.all ? order_is_owner(snapshot, head.owner, false) : !head.owner,
                  "a message is held back for agent %u", head.owner);
  snapshot_expect(snapshot,
                  head.age < INT64_MAX / 2 && zone_order_peer(message.from, message.sequence) &&
                      message.follows < message.sequence,
                  "a message is held back that cannot be");
  if (!snapshot_loads(snapshot)) return;
  struct muster_world *world = snapshot->world;
  ASSERT(!early && (scope.all || world_is_live(world, world_agent(world, scope.owner))));
  uint32_t owner = scope.all ? head.owner : scope.owner;
  channel *in = channels_find(&world->zone->in, owner, zone_order_peer(message.from, message.sequence));
  message.to = world_id(world, owner);
  if (!scope.all) message.sent_ns = crossing_time(scope.way, message.sent_ns);
  bool held = in && zone_order_hold(world, in, &message, now - head.age);
  if (!held && !scope.all) zone_order_deliver(world, &message); /* in a running world others may have to go first */
}

/* The next one of an owner: behind those of its end, those of the next end that holds any. */
static const zone_early *next_of_owner(const struct world_zone *zone, const zone_early *early) {
  const channel *end = early->in;
  ASSERT(end && end->held);
  if (early->next) return zone_order_early(zone, early->next);
  do end = channels_next(&zone->in, end);
  while (end && !end->held);
  return end ? zone_order_early(zone, end->held) : NULL;
}

static const zone_early *first_of_owner(const struct world_zone *zone, uint32_t owner) {
  const channel *end = channels_first(&zone->in, owner);
  while (end && !end->held) end = channels_next(&zone->in, end);
  return end ? zone_order_early(zone, end->held) : NULL;
}

static void exchange_all_early(struct snapshot *snapshot, order_scope scope) {
  const struct world_zone *zone = snapshot->world->zone;
  bool all = scope.all, saves = snapshot_saves(snapshot);
  uint32_t count = saves && all ? zone->early_count : 0,
           most = all ? snapshot->world->def.limits.sends_per_frame : UINT32_MAX;
  const zone_early *early = NULL;
  if (saves) early = all ? zone_order_early(zone, zone->early_oldest) : first_of_owner(zone, scope.owner);
  for (const zone_early *next = early; next && !all; next = next_of_owner(zone, next)) count++;
  count = snapshot_count(snapshot, count, most, "messages that are held back");
  for (uint32_t i = 0; i < count; i++) {
    exchange_early(snapshot, early, scope);
    if (early) early = all ? zone_order_early(zone, early->newer) : next_of_owner(zone, early);
  }
}

/* ------------------------------------------------------------------------------------------------------------ calls */

void snapshot_order(struct snapshot *snapshot) {
  const order_scope all = {.all = true};
  struct world_zone *zone = snapshot->world->zone;
  ASSERT(!snapshot_loads(snapshot) || (!zone->out.count && !zone->in.count && !zone->early_count));
  exchange_ends(snapshot, &zone->out, all);
  exchange_ends(snapshot, &zone->in, all);
  exchange_all_early(snapshot, all);
}

void crossing_order(struct snapshot *snapshot, uint32_t index, const crossing_way *way) {
  const order_scope one = {.owner = index, .way = way};
  struct world_zone *zone = snapshot->world->zone;
  exchange_ends(snapshot, &zone->out, one);
  exchange_ends(snapshot, &zone->in, one);
  exchange_all_early(snapshot, one);
}
