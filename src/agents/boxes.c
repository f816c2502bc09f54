#include "agents/boxes.h"

#include "base/assert.h"

#include <string.h>

void boxes_create(box_table *table, uint32_t slots, uint32_t capacity, uint32_t message_bytes, struct arena *arena) {
  *table = (box_table){0};
  if (capacity == 0) return;
  ASSERT(capacity <= UINT16_MAX / 2);
  table->capacity = capacity;
  table->slots = slots;
  table->message_bytes = message_bytes;
  table->stride = (uint32_t)sizeof(struct message_head) + ((message_bytes + 7u) & ~7u);
  ARENA_ARRAY(arena, table->boxes, slots);
  table->messages = arena_reserve_for_frames(arena, slots, (size_t)capacity * 2 * table->stride);
}

/* A place of the ring, from a number below twice its length. */
static uint32_t wrapped(const box_table *table, uint32_t place) {
  uint32_t places = table->capacity * 2;
  return place < places ? place : place - places;
}

static struct message_head *message_at(const box_table *table, uint32_t slot, uint32_t number) {
  uint32_t place = wrapped(table, table->boxes[slot].first + number);
  return (struct message_head *)(void *)(table->messages + ((size_t)place * table->slots + slot) * table->stride);
}

bool boxes_has_room(const box_table *table, uint32_t slot) {
  const struct box *box = &table->boxes[slot];
  return box->count - box->begun != (int)table->capacity;
}

bool boxes_put(box_table *table, uint32_t slot, const struct message_head *head, const void *bytes) {
  struct box *box = &table->boxes[slot];
  ASSERT(head->size <= table->message_bytes && box->begun <= table->capacity && box->begun <= box->count);
  if (!boxes_has_room(table, slot)) return false;
  struct message_head *place = message_at(table, slot, box->count++);
  *place = *head;
  if (head->size) memcpy(place + 1, bytes, head->size);
  return true;
}

const struct message_head *boxes_message(const box_table *table, uint32_t slot, uint32_t number) {
  ASSERT(number < table->boxes[slot].count);
  return message_at(table, slot, number);
}

struct message_head *boxes_change(const box_table *table, uint32_t slot, uint32_t number) {
  ASSERT(number < table->boxes[slot].count);
  return message_at(table, slot, number);
}

const void *boxes_end(const box_table *table, uint32_t slot) {
  return message_at(table, slot, table->boxes[slot].count);
}

void boxes_begin(box_table *table, uint32_t slot) {
  table->boxes[slot].begun = table->boxes[slot].count;
}

uint32_t boxes_complete(box_table *table, uint32_t slot, bool begun) {
  struct box *box = &table->boxes[slot];
  if (box->count == 0) return 0;
  uint32_t read = begun ? box->begun : box->count, left = box->count - read;
  ASSERT(read <= box->count);
  uint32_t first = wrapped(table, box->first + read);
  /* An empty box begins anew, so that a box that never holds much never touches the rest of its memory. */
  *box = (struct box){.first = (uint16_t)(left ? first : 0), .count = (uint16_t)left};
  return left;
}

void boxes_clear(box_table *table, uint32_t slot) {
  table->boxes[slot] = (struct box){0};
}
