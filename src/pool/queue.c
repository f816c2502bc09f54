#include "pool/queue.h"

void queue_create(struct queue *queue, uint32_t capacity, struct arena *arena) {
  for (uint32_t i = 0; i < MUSTER_URGENCIES; i++) lane_create(&queue->lanes[i], capacity, arena);
}

bool queue_push(struct queue *queue, uint32_t lane, const struct job *job) {
  if (!lane_push(&queue->lanes[lane], job)) return false;
  uint32_t bit = 1u << lane;
  /* Ordered, after the ordered publication: either this sees the bit that a settling worker has cleared, or that
   * worker's second look sees the job. */
  if (!(load_ordered_u32(&queue->occupied) & bit)) fetch_or_ordered_u32(&queue->occupied, bit);
  return true;
}

void queue_note_claimed(struct queue *queue, uint32_t lane) {
  uint32_t bit = 1u << lane;
  if (!(queue_claimed(queue) & bit)) fetch_or_ordered_u32(&queue->claimed, bit);
}

uint32_t queue_fair_part(const struct lane *lane, uint32_t most, uint32_t workers) {
  if (most <= 1 || workers == 0) return most;
  uint64_t head = load_relaxed_u64(&lane->head), tail = load_relaxed_u64(&lane->tail);
  uint64_t part = tail > head ? (tail - head) / (2 * workers) : 1;
  return part < 1 ? 1 : part < most ? (uint32_t)part : most;
}

bool queue_has_work(const struct queue *queue, uint32_t lanes) {
  for (uint32_t bits = queue_occupied(queue) & lanes; bits; bits &= bits - 1)
    if (lane_has_work(&queue->lanes[__builtin_ctz(bits)])) return true;
  return false;
}

bool queue_settle(struct queue *queue) {
  bool found = false;
  /* Relaxed: a thread that sees a bit of this word cleared below sees the count, too. */
  fetch_add_relaxed_u32(&queue->occupied, QUEUE_SETTLING);
  for (uint32_t lane = 0; lane < MUSTER_URGENCIES; lane++) {
    uint32_t bit = 1u << lane;
    if (load_ordered_u32(&queue->occupied) & bit) fetch_and_ordered_u32(&queue->occupied, ~bit);
    /* Also where the bit was clear: another settling thread may be between its two steps. */
    if (!lane_has_work(&queue->lanes[lane])) continue;
    fetch_or_ordered_u32(&queue->occupied, bit);
    found = true;
  }
  fetch_add_relaxed_u32(&queue->occupied, 0u - QUEUE_SETTLING);
  return found;
}
