/* claims.c - what workers have claimed and not started; see worker.h. */
#include "pool/worker.h"

typedef struct claim_view {
  uint32_t lane, count;
  uint64_t first;
} claim_view;

static claim_view view_claim(const struct worker_slot *slot) {
  uint64_t claim = load_ordered_u64(&slot->claim);
  return (claim_view){.lane = (uint32_t)(claim >> CLAIM_COUNT_BITS) & 0xff,
                      .count = (uint32_t)claim & 0xff,
                      .first = claim >> (CLAIM_COUNT_BITS + CLAIM_LANE_BITS)};
}

/* Takes the last job of a claim first: its claimer comes to that one last. */
bool claims_take(struct muster_pool *pool, uint32_t from, uint32_t lanes, const struct group *only, struct job *job) {
  for (uint32_t i = 0; i < pool->slot_count; i++) {
    claim_view claim = view_claim(&pool->slots[(from + i) % pool->slot_count]);
    if (!claim.count || !(lanes >> claim.lane & 1)) continue;
    for (uint32_t k = claim.count; k-- > 0;)
      if (lane_take_out(&pool->queue.lanes[claim.lane], claim.first + k, only, job)) return true;
  }
  return false;
}

static bool one_waits(const struct muster_pool *pool, uint32_t lanes) {
  for (uint32_t i = 0; i < pool->slot_count; i++) {
    claim_view claim = view_claim(&pool->slots[i]);
    if (!claim.count || !(lanes >> claim.lane & 1)) continue;
    for (uint32_t k = 0; k < claim.count; k++)
      if (lane_waits(&pool->queue.lanes[claim.lane], claim.first + k)) return true;
  }
  return false;
}

bool claims_settle(struct muster_pool *pool, uint32_t lanes) {
  uint32_t claimed = queue_claimed(&pool->queue) & lanes;
  if (!claimed) return false;
  if (one_waits(pool, claimed)) return true;
  queue_forget_claimed(&pool->queue, claimed);
  if (!one_waits(pool, claimed)) return false;
  for (; claimed; claimed &= claimed - 1) queue_note_claimed(&pool->queue, (uint32_t)__builtin_ctz(claimed));
  return true;
}
