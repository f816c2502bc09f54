/* Thousands of agents that send to each other in every frame, on the wall clock, more than some boxes hold: whatever
 * workers run and settle them, each agent reads the same messages in the same order, and learns of the same losses.
 * Runs under ThreadSanitizer, too. */
#include "support/whole_frames.h"
#include "world/fixture.h"

enum { AGENTS = 6000, SLEEPERS = 64, TALKING_FRAMES = 8 };

typedef struct talker {
  uint64_t heard, lost, updates;
} talker;

static muster_atom_result listen(muster_update *update) {
  talker *self = update->state;
  muster_message messages[64];
  uint32_t count = muster_update_messages(update, messages, 64);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value;
    memcpy(&value, messages[i].bytes, sizeof value);
    self->heard = self->heard * 31 + value + muster_agent_index(messages[i].sender);
  }
  self->lost += muster_update_messages_lost(update);
  self->updates++;
  return MUSTER_ATOM_NEXT;
}

/* To anybody, or to one of a few who have no room for all of it. */
static muster_atom_result talk(muster_update *update) {
  const muster_agent *all = update->type_user;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t few = i == 2 ? SLEEPERS : AGENTS;
    uint32_t to = (uint32_t)(muster_update_random_share(update) * (float)few);
    uint64_t value = update->now_ns + i;
    muster_update_send(update, all[to < few ? to : 0], &value, sizeof value);
  }
  return MUSTER_ATOM_NEXT;
}

static muster_type_def talker_type(const muster_atom *atoms, uint32_t count, muster_agent *all) {
  return CHANGED(type_with(atoms, count), it.state_bytes = sizeof(talker), it.messages.waiting_max = 24,
                 it.messages.bytes_max = 8, it.messages.sends_max = 3, it.user = all, it.elasticity = 0);
}

/* The first agents have long periods and are woken by messages; the others run in every frame. */
static uint64_t talk_with(uint32_t workers, muster_statistics *sums) {
  static const muster_atom atoms[] = {{listen, MUSTER_ROLE_PERCEPTION, 0}, {talk, MUSTER_ROLE_BEHAVIOUR, 0}};
  static muster_agent all[AGENTS];
  little_world little = little_world_of(
      workers, CHANGED(papers_world_def(), it.limits.agents_max = AGENTS, it.limits.sends_per_frame = 3 * AGENTS));
  add_type(&little, CHANGED(due_every(1000 * FRAME_NS, talker_type(atoms, 1, all)), it.messages.wake = true));
  for (uint32_t i = 0; i < SLEEPERS; i++) all[i] = spawn_in(&little, (muster_position){i, 0, 0}, 0);
  add_type(&little, due_every(FRAME_NS, talker_type(atoms, 2, all)));
  for (uint32_t i = SLEEPERS; i < AGENTS; i++) all[i] = spawn_in(&little, (muster_position){i, 10, 0}, 0);
  *sums = run_whole_frames(&little, TALKING_FRAMES);
  return end_sound(&little);
}

Test(messages_threads, each_agent_hears_what_it_would_hear_with_one_worker) {
  muster_statistics one, many;
  uint64_t alone = talk_with(1, &one);
  cr_assert(one.messages_delivered > 2 * AGENTS * (TALKING_FRAMES - 2) && one.messages_dropped > AGENTS, "%lu, %lu",
            one.messages_delivered, one.messages_dropped);
  cr_assert_geq(one.woken, (uint64_t)SLEEPERS * (TALKING_FRAMES - 3));
  for (uint32_t workers = 4; workers <= 64; workers *= 16) {
    cr_assert_eq(talk_with(workers, &many), alone, "%u workers", workers);
    cr_assert(many.messages_delivered == one.messages_delivered && many.messages_dropped == one.messages_dropped);
    cr_assert(many.messages_sent == one.messages_sent && many.woken == one.woken);
  }
}
