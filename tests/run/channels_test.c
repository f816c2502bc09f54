/* Ends of channels against a list that is looked through: found by owner and peer together, dropped oldest first, each
 * owner's own. The table is so small that many ends share a chain of it. */
#include "run/channels.h"
#include "support/arenas.h"

#include <muster/random.h>

enum { MAXIMUM = 24, OWNERS = 6, PEERS = 8, STEPS = 20000 };

/* One end as the list has it; the first was used last. */
typedef struct listed {
  uint32_t owner;
  uint64_t peer, number;
  bool held;
} listed;

typedef struct model {
  listed all[MAXIMUM];
  uint32_t count;
} model;

static uint32_t model_find(const model *list, uint32_t owner, uint64_t peer) {
  uint32_t i = 0;
  while (i < list->count && (list->all[i].owner != owner || list->all[i].peer != peer)) i++;
  return i;
}

static void model_take_out(model *list, uint32_t i) {
  memmove(&list->all[i], &list->all[i + 1], (list->count - i - 1) * sizeof *list->all);
  list->count--;
}

/* False when all hold something back. */
static bool model_use(model *list, uint32_t owner, uint64_t peer, uint64_t number) {
  listed used = {.owner = owner, .peer = peer};
  uint32_t i = model_find(list, owner, peer);
  if (i < list->count) {
    used = list->all[i];
    model_take_out(list, i);
  } else if (list->count == MAXIMUM) {
    uint32_t oldest = MAXIMUM;
    while (oldest > 0 && list->all[oldest - 1].held) oldest--;
    if (oldest == 0) return false;
    model_take_out(list, oldest - 1);
  }
  memmove(&list->all[1], &list->all[0], list->count * sizeof *list->all);
  used.number = number;
  list->all[0] = used;
  list->count++;
  return true;
}

static void expect_alike(const struct channels *channels, const model *list, uint32_t step) {
  cr_assert_eq(channels->count, list->count, "step %u", step);
  const channel *end = channels_oldest(channels);
  for (uint32_t i = list->count; i-- > 0; end = channels_newer(channels, end)) {
    cr_assert_not_null(end, "step %u", step);
    cr_assert(end->owner == list->all[i].owner && end->peer == list->all[i].peer && end->number == list->all[i].number,
              "step %u: place %u is of owner %u and peer %lu, number %lu", step, i, end->owner, end->peer, end->number);
  }
  cr_assert_null(end, "step %u", step);
  for (uint32_t owner = 0; owner < OWNERS; owner++) {
    end = channels_first(channels, owner);
    for (uint32_t i = 0; i < list->count; i++) {
      if (list->all[i].owner != owner) continue;
      cr_assert(end && end->owner == owner && end->peer == list->all[i].peer, "step %u: owner %u", step, owner);
      end = channels_next(channels, end);
    }
    cr_assert_null(end, "step %u: owner %u has more", step, owner);
    for (uint64_t peer = 1; peer <= PEERS; peer++) {
      const channel *found = channels_find(channels, owner, peer);
      uint32_t i = model_find(list, owner, peer);
      cr_assert_eq(found != NULL, i < list->count, "step %u: owner %u and peer %lu", step, owner, peer);
      if (found) cr_assert_eq(found->number, list->all[i].number, "step %u: owner %u, peer %lu", step, owner, peer);
    }
  }
}

static void do_step(struct channels *channels, model *list, uint64_t random, uint32_t step) {
  uint32_t owner = (uint32_t)(random % OWNERS), i;
  uint64_t peer = random / 16 % PEERS + 1;
  channel *end = channels_find(channels, owner, peer);
  switch (random >> 32 & 7) {
  case 0: /* dropped, if it is there and holds nothing */
    if (!end || end->held) return;
    model_take_out(list, model_find(list, owner, peer));
    channels_drop(channels, end);
    return;
  case 1: /* holds something back, or does so no more */
    if (!end) return;
    i = model_find(list, owner, peer);
    list->all[i].held = !list->all[i].held;
    end->held = list->all[i].held;
    return;
  default:
    end = channels_use(channels, owner, peer);
    cr_assert_eq(end != NULL, model_use(list, owner, peer, step), "step %u", step);
    if (end) end->number = step;
  }
}

Test(channels, are_found_by_owner_and_peer_together) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct channels channels;
  model list = {.count = 0};
  uint64_t random = 1;
  channels_create(&channels, MAXIMUM, OWNERS, &arena);
  cr_assert_not(arena.failed);
  channels.mask = 3; /* four chains, as of a table that is far larger and full */
  for (uint32_t step = 1; step <= STEPS; step++) {
    random = muster_random_mix(random + step);
    do_step(&channels, &list, random, step);
    expect_alike(&channels, &list, step);
  }
}
