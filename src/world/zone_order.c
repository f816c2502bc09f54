#include "world/zone_order.h"

#include "agents/mailbox.h"
#include "base/assert.h"
#include "world/message_put.h"

#include <string.h>

enum { ZONE_SHIFT = 64 - ZONE_EPOCH_BITS /* of its number in sequences of hosts */ };

static uint32_t order_sender(const struct muster_world *world, uint32_t from) {
  return from == MESSAGE_OF_HOST ? world->def.limits.agents_max : from;
}

uint64_t zone_order_peer(muster_agent from, uint64_t sequence) {
  return muster_agent_is_null(from) ? sequence >> ZONE_SHIFT : from.value;
}

/* ---------------------------------------------------------------------------------------------------------- sending */

static channel *order_out(const struct muster_world *world, uint32_t from, muster_agent to) {
  const struct channels *out = &world->zone->out;
  uint32_t sender = order_sender(world, from);
  channel *end = out->firsts[sender] ? channels_find(out, sender, to.value) : NULL;
  return end && world->frames - end->frame <= ZONE_ORDER_FRAMES ? end : NULL;
}

uint64_t zone_order_last_sent(const struct muster_world *world, uint32_t from, muster_agent to) {
  const channel *end = order_out(world, from, to);
  return end ? end->number : 0;
}

void zone_order_note_sent(struct muster_world *world, uint32_t from, muster_agent to, uint64_t number) {
  channel *end = channels_use(&world->zone->out, order_sender(world, from), to.value);
  ASSERT(end && end->number < number); /* of those that send, none holds anything back */
  end->number = number;
  end->frame = world->frames;
}

bool zone_order_is_even(struct muster_world *world, uint32_t from, muster_agent sender, muster_agent to) {
  struct world_zone *zone = world->zone;
  channel *end = order_out(world, from, to);
  if (!end && !zone->early_count) return true;
  uint64_t peer = muster_agent_is_null(sender) ? world->def.zone.number : sender.value;
  const channel *in = channels_find(&zone->in, muster_agent_index(world_find(world, to)), peer);
  if (!end) return !in || !in->held; /* what waits for room may wait longer than its sender knows of it */
  if (!in || in->number < end->number) return false;
  channels_drop(&zone->out, end);
  return true;
}

/* -------------------------------------------------------------------------------------------------------- receiving */

static void order_put(struct muster_world *world, const zone_outgoing *message) {
  struct message_head head = {.peer = message->to, .sent_ns = message->sent_ns, .size = message->size};
  messages_put(world, message->from, &head, message->bytes);
  world->zone->counts.messages_in++;
}

/* Those that are held back stand in the order in which they came, or were renewed. */
static void order_link_newest(struct world_zone *zone, uint32_t place, uint64_t frame) {
  zone_early *early = zone_order_early(zone, place);
  early->frame = frame;
  early->newer = 0;
  early->older = zone->early_newest;
  *(early->older ? &zone_order_early(zone, early->older)->newer : &zone->early_oldest) = place;
  zone->early_newest = place;
}

static void order_unlink(struct world_zone *zone, const zone_early *early) {
  *(early->older ? &zone_order_early(zone, early->older)->newer : &zone->early_oldest) = early->newer;
  *(early->newer ? &zone_order_early(zone, early->newer)->older : &zone->early_newest) = early->older;
}

/* Takes out the first message that is held back at an end; it stays readable until the next one is held back. */
static const zone_outgoing *order_take_out(struct world_zone *zone, channel *in) {
  uint32_t place = in->held;
  zone_early *early = zone_order_early(zone, place);
  ASSERT(early && early->in == in);
  in->held = early->next;
  in->held_count--;
  order_unlink(zone, early);
  early->in = NULL;
  early->next = zone->early_free;
  zone->early_free = place;
  zone->early_count--;
  return &early->message;
}

static void order_put_first(struct muster_world *world, channel *in) {
  const zone_outgoing *message = order_take_out(world->zone, in);
  if (in->number < message->sequence) in->number = message->sequence;
  in->frame = world->frames;
  order_put(world, message);
}

static bool order_is_next(const struct world_zone *zone, const channel *in) {
  return in->held && zone_order_early(zone, in->held)->message.follows <= in->number;
}

/* What was held back comes as the box has room: all of it at once may be more than a box takes. */
static void order_put_following(struct muster_world *world, channel *in) {
  while (order_is_next(world->zone, in) && message_has_room(world, in->owner)) order_put_first(world, in);
  world->zone->early_waits |= order_is_next(world->zone, in);
}

/* Whose turn has come, and for which there was no room; of each sender and receiver in turn. */
static void order_put_waiting(struct muster_world *world) {
  struct world_zone *zone = world->zone;
  zone->early_waits = false;
  for (uint32_t place = zone->early_oldest, newer; place; place = newer) {
    channel *in = zone_order_early(zone, place)->in;
    newer = zone_order_early(zone, place)->newer;
    if (in->held != place || !order_is_next(zone, in)) continue;
    if (message_has_room(world, in->owner)) order_put_first(world, in);
    zone->early_waits |= order_is_next(zone, in);
  }
}

/* The message that has waited longest waits no more: the one that it follows may be lost. Those before it go first. For
 * room it waits on. */
static void order_expire(struct muster_world *world) {
  struct world_zone *zone = world->zone;
  const uint32_t place = zone->early_oldest;
  const uint64_t number = zone_order_early(zone, place)->message.sequence;
  channel *in = zone_order_early(zone, place)->in;
  uint64_t before = in->number;
  for (zone_early *early = zone_order_early(zone, in->held); early && early->message.sequence <= number;
       early = zone_order_early(zone, early->next)) {
    zone->counts.messages_unordered += early->message.follows > before;
    if (early->message.follows > before) early->message.follows = 0;
    if (before < early->message.sequence) before = early->message.sequence;
  }
  order_put_following(world, in);
  if (zone->early_oldest != place) return;
  order_unlink(zone, zone_order_early(zone, place));
  order_link_newest(zone, place, world->frames);
  channels_use(&zone->in, in->owner, in->peer)->frame = world->frames; /* it stays as long as what it holds */
}

/* There is room for no more that wait. The message that has waited longest goes, and those before it, also where they
 * find no room. */
static void order_give_up(struct muster_world *world) {
  struct world_zone *zone = world->zone;
  const zone_early *early = zone_order_early(zone, zone->early_oldest);
  uint64_t number = early->message.sequence;
  channel *in = early->in;
  while (in->held && zone_order_early(zone, in->held)->message.sequence <= number) {
    zone->counts.messages_unordered += !order_is_next(zone, in);
    order_put_first(world, in);
  }
  order_put_following(world, in);
}

bool zone_order_hold(struct muster_world *world, channel *in, const zone_outgoing *message, uint64_t frame) {
  struct world_zone *zone = world->zone;
  if (zone->early_count == world->def.limits.sends_per_frame) return false;
  uint32_t place = zone->early_free ? zone->early_free : ++zone->early_high;
  zone_early *early = zone_order_early(zone, place);
  if (zone->early_free) zone->early_free = early->next;
  uint32_t *link = &in->held;
  if (in->held && zone_order_early(zone, in->held_last)->message.sequence < message->sequence) /* as most come */
    link = &zone_order_early(zone, in->held_last)->next;
  while (*link && zone_order_early(zone, *link)->message.sequence < message->sequence)
    link = &zone_order_early(zone, *link)->next;
  early->in = in;
  early->next = *link;
  if (!early->next) in->held_last = place;
  *link = place;
  in->held_count++;
  order_link_newest(zone, place, frame);
  zone->early_count++;
  memcpy(&early->message, message, offsetof(zone_outgoing, bytes) + message->size);
  zone->early_waits |= order_is_next(zone, in);
  return true;
}

/* A message came that names none of those which are held back and were sent before it: its sender has forgotten them,
 * and what they follow. */
static void order_await_no_more(struct muster_world *world, channel *in, uint64_t sequence) {
  zone_early *early = zone_order_early(world->zone, in->held);
  if (!early || early->message.sequence > sequence) return;
  for (; early && early->message.sequence < sequence; early = zone_order_early(world->zone, early->next))
    early->message.follows = 0;
  order_put_following(world, in);
}

/* Where too much waits for a box that stays full, what has waited longest is lost there. */
static bool order_hold_new(struct muster_world *world, channel *in, const zone_outgoing *message) {
  while (in->held_count >= MUSTER_ZONE_WAITING_MAX && order_is_next(world->zone, in)) order_put_first(world, in);
  return zone_order_hold(world, in, message, world->frames);
}

void zone_order_deliver(struct muster_world *world, const zone_outgoing *message) {
  struct world_zone *zone = world->zone;
  uint32_t receiver = muster_agent_index(world_find(world, message->to));
  channel *in = channels_use(&zone->in, receiver, zone_order_peer(message->from, message->sequence));
  ASSERT(world_is_live(world, world_find(world, message->to)));
  for (; in && in->number < message->follows; order_give_up(world))
    if (order_hold_new(world, in, message)) return;
  if (in) order_await_no_more(world, in, message->sequence);
  if (in && !message_has_room(world, receiver) && order_hold_new(world, in, message)) return;
  zone->counts.messages_unordered += !in || in->number > message->sequence;
  if (in && in->number < message->sequence) in->number = message->sequence;
  if (in) in->frame = world->frames;
  order_put(world, message);
  if (in) order_put_following(world, in);
}

/* ---------------------------------------------------------------------------------------------------------- passing */

void zone_order_pass(struct muster_world *world) {
  struct world_zone *zone = world->zone;
  channel *end;
  if (zone->early_waits) order_put_waiting(world);
  while (zone->early_oldest && world->frames - zone_order_early(zone, zone->early_oldest)->frame > ZONE_ORDER_FRAMES)
    order_expire(world);
  while ((end = channels_oldest(&zone->out)) && world->frames - end->frame > ZONE_ORDER_FRAMES)
    channels_drop(&zone->out, end);
  while ((end = channels_oldest(&zone->in)) && !end->held && world->frames - end->frame > 2 * ZONE_ORDER_FRAMES)
    channels_drop(&zone->in, end);
}

void zone_order_forget(struct muster_world *world, uint32_t index) {
  struct world_zone *zone = world->zone;
  channel *end;
  while ((end = channels_first(&zone->out, index)) != NULL) channels_drop(&zone->out, end);
  while ((end = channels_first(&zone->in, index)) != NULL) {
    while (end->held) order_take_out(zone, end);
    channels_drop(&zone->in, end);
  }
  zone->rows[index] = (zone_row){0};
}
