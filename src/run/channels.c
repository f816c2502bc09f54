#include "run/channels.h"

#include "base/assert.h"

#include <muster/random.h>

_Static_assert(sizeof(channel) == 64, "it is as long as a line of the cache");

void channels_create(struct channels *channels, uint32_t maximum, uint32_t owners, struct arena *arena) {
  ASSERT(maximum > 0);
  uint32_t chains = round_up_to_power_of_two(maximum);
  *channels = (struct channels){.maximum = maximum, .mask = chains - 1};
  ARENA_ARRAY(arena, channels->all, maximum);
  ARENA_ARRAY(arena, channels->firsts, owners);
  ARENA_ARRAY(arena, channels->chains, chains);
}

static uint32_t channels_place(const struct channels *channels, const channel *end) {
  return (uint32_t)(end - channels->all) + 1;
}

static uint32_t *channels_chain(const struct channels *channels, uint32_t owner, uint64_t peer) {
  return &channels->chains[muster_random_mix(peer + muster_random_mix(owner)) & channels->mask];
}

channel *channels_find(const struct channels *channels, uint32_t owner, uint64_t peer) {
  channel *end = channels_at(channels, *channels_chain(channels, owner, peer));
  while (end && (end->owner != owner || end->peer != peer)) end = channels_at(channels, end->chain);
  return end;
}

/* ----------------------------------------------------------------------------------------------------------- lists */

static void join_newest(struct channels *channels, channel *end) {
  uint32_t place = channels_place(channels, end);
  end->newer = 0;
  end->older = channels->newest;
  if (end->older)
    channels_at(channels, end->older)->newer = place;
  else
    channels->oldest = place;
  channels->newest = place;
}

static void leave_order(struct channels *channels, const channel *end) {
  *(end->older ? &channels_at(channels, end->older)->newer : &channels->oldest) = end->newer;
  *(end->newer ? &channels_at(channels, end->newer)->older : &channels->newest) = end->older;
}

static void join_owner(struct channels *channels, channel *end) {
  uint32_t place = channels_place(channels, end), *chain = channels_chain(channels, end->owner, end->peer);
  end->chain = *chain;
  *chain = place;
  end->before = 0;
  end->next = channels->firsts[end->owner];
  if (end->next) channels_at(channels, end->next)->before = place;
  channels->firsts[end->owner] = place;
}

static void leave_owner(struct channels *channels, const channel *end) {
  uint32_t place = channels_place(channels, end), *chain = channels_chain(channels, end->owner, end->peer);
  while (*chain != place) chain = &channels_at(channels, *chain)->chain;
  *chain = end->chain;
  *(end->before ? &channels_at(channels, end->before)->next : &channels->firsts[end->owner]) = end->next;
  if (end->next) channels_at(channels, end->next)->before = end->before;
}

/* ------------------------------------------------------------------------------------------------------------ ends */

void channels_drop(struct channels *channels, channel *end) {
  ASSERT(end->peer && !end->held && channels->count > 0);
  leave_order(channels, end);
  leave_owner(channels, end);
  *end = (channel){.older = channels->free};
  channels->free = channels_place(channels, end);
  channels->count--;
}

static channel *find_place(struct channels *channels) {
  if (channels->count == channels->maximum) {
    channel *oldest = channels_oldest(channels);
    while (oldest && oldest->held) oldest = channels_newer(channels, oldest);
    if (!oldest) return NULL;
    channels_drop(channels, oldest);
  }
  channel *end = channels_at(channels, channels->free);
  if (end)
    channels->free = end->older;
  else
    end = &channels->all[channels->high++];
  channels->count++;
  return end;
}

channel *channels_use(struct channels *channels, uint32_t owner, uint64_t peer) {
  ASSERT(peer);
  channel *end = channels_find(channels, owner, peer);
  if (end) {
    leave_order(channels, end);
    leave_owner(channels, end);
  } else {
    end = find_place(channels);
    if (!end) return NULL;
    *end = (channel){.peer = peer, .owner = owner};
  }
  join_owner(channels, end);
  join_newest(channels, end);
  return end;
}
