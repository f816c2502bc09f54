/* tests/support/diary.h - agents that write down what they are sent, and send what their plan says. */
#ifndef DIARY_H
#define DIARY_H

#include "support/little_world.h"
#include "support/with.h"

enum { DIARY_MAX = 200 };

struct received {
  muster_agent sender;
  uint64_t sent_ns, read_ns, value;
  uint32_t size;
};

/* The state of an agent. */
struct diary {
  uint32_t updates, count, lost, sent, refused, misaligned;
  struct received messages[DIARY_MAX];
};

/* An agent's user pointer: every update sends `each` numbers to `to`; null sends nothing. */
struct plan {
  muster_agent to;
  uint32_t each;
  bool in_action;
};

static inline void read_messages(muster_update *update) {
  muster_message messages[64];
  struct diary *diary = update->state;
  uint32_t count = muster_update_messages(update, messages, 64);
  for (uint32_t i = 0; i < count && diary->count < DIARY_MAX; i++) {
    struct received *received = &diary->messages[diary->count++];
    *received = (struct received){messages[i].sender, messages[i].sent_ns, update->now_ns, 0, messages[i].size};
    memcpy(&received->value, messages[i].bytes, received->size < 8 ? received->size : 8);
    diary->misaligned += (uintptr_t)messages[i].bytes % 8 != 0;
  }
  diary->lost += muster_update_messages_lost(update);
}

/* A value names its sender and stands in the order of sending. */
static inline uint64_t message_value(uint32_t sender, uint32_t number) {
  return (uint64_t)sender << 32 | number;
}

static inline void send_messages(muster_update *update) {
  const struct plan *plan = update->user;
  struct diary *diary = update->state;
  for (uint32_t i = 0; plan && i < plan->each; i++) {
    uint64_t value = message_value(muster_agent_index(update->agent), diary->sent);
    muster_result result = muster_update_send(update, plan->to, &value, sizeof value);
    if (result == MUSTER_OK) diary->sent++;
    if (result == MUSTER_E_FULL) diary->refused++;
  }
}

static inline muster_atom_result correspond(muster_update *update) {
  const struct plan *plan = update->user;
  ((struct diary *)update->state)->updates++;
  read_messages(update);
  if (plan && !plan->in_action) send_messages(update);
  return MUSTER_ATOM_NEXT;
}

static inline muster_atom_result act(muster_update *update) {
  const struct plan *plan = update->user;
  if (plan && plan->in_action) send_messages(update);
  return MUSTER_ATOM_NEXT;
}

/* Runs in every frame; up to 16 messages of 8 bytes in its box, 4 sent by an update. */
static inline muster_type_def correspondent_type(void) {
  static const muster_atom atoms[] = {{correspond, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 1000}};
  return WITH(muster_type_def, it.name = "correspondent", it.atoms = atoms, it.atom_count = 2,
              it.state_bytes = sizeof(struct diary), it.period_ns = it.period_max_ns = FRAME_NS,
              it.messages.waiting_max = 16, it.messages.bytes_max = 8, it.messages.sends_max = 4);
}

/* The same with another atom. */
static inline muster_type_def correspondent_of(const muster_atom *atom) {
  muster_type_def def = correspondent_type();
  def.atoms = atom;
  def.atom_count = 1;
  return def;
}

static inline muster_agent spawn_with(const little_world *little, const struct plan *plan, float importance) {
  muster_agent_def def = WITH(muster_agent_def, it.type = little->type, it.user = (void *)(uintptr_t)plan,
                              it.importance_floor = importance);
  muster_agent agent = muster_agent_spawn(little->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

static inline struct diary *diary_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

static inline muster_statistics sums_of(const little_world *little) {
  muster_statistics sums = muster_statistics_default();
  cr_assert_eq(muster_statistics_read(little->world, &sums), MUSTER_OK);
  return sums;
}

/* What is sent is delivered or dropped, once. */
static inline void check_balance(const little_world *little) {
  muster_statistics sums = sums_of(little);
  cr_assert_eq(sums.messages_sent, sums.messages_delivered + sums.messages_dropped);
}

#endif
