#include "agents/mailbox.h"

#include "base/assert.h"
#include "base/bits.h"

/* Sets or clears a bit and keeps the count of set bits. */
static void put(uint64_t *bits, uint32_t *count, uint32_t agent, bool value) {
  if (bits_has(bits, agent) == value) return;
  bits[agent / 64] ^= 1ull << (agent % 64);
  *count += value ? 1u : UINT32_MAX;
}

static uint32_t mailbox_take(uint64_t *bits, uint32_t *count, uint32_t from) {
  ASSERT(*count > 0);
  uint32_t agent = bits_next(bits, UINT32_MAX, from);
  put(bits, count, agent, false);
  return agent;
}

void mailbox_create(struct mailbox *mailbox, uint32_t agents_max, uint32_t sends_per_frame, struct arena *arena) {
  size_t words = bits_words(agents_max);
  struct mailbox fresh = {0};
  ARENA_ARRAY(arena, fresh.senders, words);
  ARENA_ARRAY(arena, fresh.entries, agents_max);
  ARENA_ARRAY(arena, fresh.to_wake, words);
  ARENA_ARRAY(arena, fresh.losses, agents_max);
  fresh.places = arena_reserve_for_frames(arena, sends_per_frame, sizeof *fresh.places);
  if (!arena->failed) *mailbox = fresh;
}

void mailbox_add_sender(struct mailbox *mailbox, uint32_t agent, uint32_t entry) {
  ASSERT(!bits_has(mailbox->senders, agent));
  put(mailbox->senders, &mailbox->sender_count, agent, true);
  mailbox->entries[agent] = entry;
}

uint32_t mailbox_take_sender(struct mailbox *mailbox, uint32_t from) {
  return mailbox_take(mailbox->senders, &mailbox->sender_count, from);
}

void mailbox_wake(struct mailbox *mailbox, uint32_t agent) {
  put(mailbox->to_wake, &mailbox->wake_count, agent, true);
}

uint32_t mailbox_take_wake(struct mailbox *mailbox, uint32_t from) {
  return mailbox_take(mailbox->to_wake, &mailbox->wake_count, from);
}

void mailbox_lose(struct mailbox *mailbox, uint32_t agent) {
  struct loss *loss = &mailbox->losses[agent];
  if (loss->count == 0) mailbox->owed_count++;
  if (loss->count < UINT32_MAX) loss->count++;
}

void mailbox_losses_begin(struct mailbox *mailbox, uint32_t agent) {
  mailbox->losses[agent].begun = mailbox->losses[agent].count;
}

void mailbox_losses_complete(struct mailbox *mailbox, uint32_t agent, bool begun) {
  struct loss *loss = &mailbox->losses[agent];
  if (loss->count == 0) return;
  uint32_t left = begun ? loss->count - loss->begun : 0;
  *loss = (struct loss){.count = left};
  if (left == 0) mailbox->owed_count--;
}

void mailbox_forget(struct mailbox *mailbox, uint32_t agent) {
  ASSERT(!bits_has(mailbox->senders, agent));
  put(mailbox->to_wake, &mailbox->wake_count, agent, false);
  mailbox_losses_complete(mailbox, agent, false);
}
