/* Whatever crosses is as old behind the border as before it, by the time of all zones, whatever the clocks of the two
 * worlds say: messages on their way, in the box of an agent that crosses, and held back for it; and the phases of its
 * sets. */
#include "world/fixture.h"
#include "world/taken_messages.h"

enum { AGES = 8, HOUR_S = 3600 };

static const uint64_t base_ns = 10000000000000; /* no zone is younger than another is ahead */

/* What an agent reads when it is woken: it has no period. */
typedef struct listener {
  uint64_t count, words[AGES], ages_ns[AGES];
} listener;

static muster_atom_result listen(muster_update *update) {
  listener *self = update->state;
  muster_message messages[AGES];
  uint32_t count = muster_update_messages(update, messages, AGES);
  for (uint32_t i = 0; i < count && self->count < AGES; i++, self->count++) {
    memcpy(&self->words[self->count], messages[i].bytes, sizeof *self->words);
    self->ages_ns[self->count] = update->now_ns - messages[i].sent_ns;
  }
  return MUSTER_ATOM_NEXT;
}

static muster_type_def listener_type(void) {
  return CHANGED(type_running(listen, 2000), it.name = "listener", it.state_bytes = sizeof(listener),
                 it.elapsed.contract = MUSTER_ELAPSED_EVENTS, it.messages.waiting_max = AGES,
                 it.messages.bytes_max = 8);
}

/* Two zones at the same moment, of which the second is ahead and says so. */
typedef struct ages {
  little_world zones[2];
  int64_t ahead_ns;
} ages;

static ages ages_of(muster_type_def type, int64_t ahead_s) {
  muster_world_def one = zone_world_def(1), two = zone_world_def(2);
  ages pair = {.zones = {zone_world_of(1, &one, &type), zone_world_of(1, &two, &type)},
               .ahead_ns = ahead_s * 1000000000};
  pair.zones[0].now_ns = base_ns;
  pair.zones[1].now_ns = (uint64_t)((int64_t)base_ns + pair.ahead_ns);
  assert_ok(muster_zone_set_offset(pair.zones[1].world, pair.ahead_ns));
  return pair;
}

static void ages_frames(ages *pair, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) run_both(&pair->zones[0], &pair->zones[1], 1);
}

static void ages_destroy(ages *pair) {
  zones_destroy(&pair->zones);
}

/* The time of all zones. */
static uint64_t ages_now(const ages *pair) {
  return pair->zones[0].now_ns;
}

static void tell(const little_world *little, muster_agent to, uint64_t word) {
  assert_ok(muster_agent_send(little->world, to, &word, sizeof word));
}

/* Hands over what one zone has for the other. */
static void ages_carry(const ages *pair, uint32_t from, uint64_t sent_ns) {
  taken_messages taken = take_messages(&pair->zones[from]);
  for (uint32_t i = 0; i < taken.count; i++) {
    cr_expect_eq(taken.heads[i].sent_ns, sent_ns, "it says %lu instead of %lu", taken.heads[i].sent_ns, sent_ns);
    assert_ok(deliver(&pair->zones[!from], &taken, i));
  }
}

/* What the agent has read: words 1, 2, ..., each of that age when it was read. */
static void expect_ages(const listener *heard, const uint64_t *ages_ns, uint64_t count, int64_t ahead_s) {
  cr_assert_eq(heard->count, count, "%ld s ahead: %lu messages", ahead_s, heard->count);
  for (uint64_t i = 0; i < count; i++) {
    cr_expect_eq(heard->words[i], i + 1, "%ld s ahead: message %lu is %lu", ahead_s, i, heard->words[i]);
    cr_expect_eq(heard->ages_ns[i], ages_ns[i], "%ld s ahead: message %lu is %lu ns old, and not %lu", ahead_s, i,
                 heard->ages_ns[i], ages_ns[i]);
  }
}

static const int64_t aheads_s[] = {0, HOUR_S, -HOUR_S};
enum { AHEADS = COUNT_OF(aheads_s) };

/* A message that is sent behind an agent which has crossed. When that comes back, the message goes to and fro. */
static void send_behind(bool comes_back) {
  for (uint32_t k = 0; k < AHEADS; k++) {
    SCOPED(ages_destroy) ages pair = ages_of(listener_type(), aheads_s[k]);
    const little_world *there = &pair.zones[comes_back ? 0 : 1];
    muster_agent agent = spawn_at(&pair.zones[0], 1);
    ages_frames(&pair, 2);
    cross(&pair.zones[0], &pair.zones[1], agent);
    tell(&pair.zones[0], agent, 1);
    ages_frames(&pair, 1);
    uint64_t sent_ns = ages_now(&pair);
    if (comes_back) cross(&pair.zones[1], &pair.zones[0], agent);
    ages_frames(&pair, comes_back ? 3 : 5);
    ages_carry(&pair, 0, sent_ns);
    ages_frames(&pair, comes_back ? 3 : 4);
    if (comes_back) ages_carry(&pair, 1, sent_ns);
    cr_assert_eq(muster_agent_wake(there->world, agent), MUSTER_OK);
    ages_frames(&pair, 1);
    const uint64_t ages_ns[] = {ages_now(&pair) - sent_ns};
    expect_ages(info_of(there, agent).state, ages_ns, 1, aheads_s[k]);
  }
}

Test(zone_ages, messages_on_their_way_keep_theirs) {
  send_behind(false);
}

Test(zone_ages, messages_that_follow_an_agent_keep_theirs) {
  send_behind(true);
}

/* From a third zone, where it was sent at that time of all zones. */
static void deliver_to(const little_world *to, muster_agent agent, uint64_t number, uint64_t sent_ns) {
  const uint64_t word = number;
  const muster_agent from = {(uint64_t)3 << 50 | 7};
  const muster_zone_message message = {
      .from = from, .to = agent, .sequence = number, .sent_ns = sent_ns, .size = sizeof word, .bytes = &word};
  assert_ok(muster_zone_deliver_after(to->world, &message, number - 1));
}

/* Numbers 1 and 3 come where the agent is born, 2 and 4 where it goes. */
static void held_and_boxed(ages *pair, muster_agent *agent, uint64_t ages_ns[4]) {
  *agent = spawn_at(&pair->zones[0], 1);
  ages_frames(pair, 2);
  uint64_t begin_ns = ages_now(pair);
  deliver_to(&pair->zones[0], *agent, 1, begin_ns - 3 * FRAME_NS); /* waits in the box */
  ages_frames(pair, 3);
  deliver_to(&pair->zones[0], *agent, 3, begin_ns - 1 * FRAME_NS); /* held back: number 2 has not come */
  cr_assert_eq(info_of(&pair->zones[0], *agent).messages, 1);
  cr_assert_eq(zone_status(&pair->zones[0]).messages_held, 1);
  cross(&pair->zones[0], &pair->zones[1], *agent);
  cr_assert_eq(zone_status(&pair->zones[1]).messages_held, 1);
  ages_frames(pair, 2);
  deliver_to(&pair->zones[1], *agent, 2, begin_ns - 2 * FRAME_NS);
  tell(&pair->zones[1], *agent, 4);
  ages_frames(pair, 1);
  uint64_t sent_ns = ages_now(pair);
  ages_frames(pair, 2);
  cr_assert_eq(muster_agent_wake(pair->zones[1].world, *agent), MUSTER_OK);
  ages_frames(pair, 1);
  for (uint64_t i = 0; i < 3; i++) ages_ns[i] = ages_now(pair) - begin_ns + (3 - i) * FRAME_NS;
  ages_ns[3] = ages_now(pair) - sent_ns;
}

Test(zone_ages, messages_in_the_box_of_one_who_crosses_and_held_back_for_it_keep_theirs) {
  for (uint32_t k = 0; k < AHEADS; k++) {
    uint64_t ages_ns[4];
    muster_agent agent;
    SCOPED(ages_destroy) ages pair = ages_of(listener_type(), aheads_s[k]);
    held_and_boxed(&pair, &agent, ages_ns);
    expect_ages(info_of(&pair.zones[1], agent).state, ages_ns, 4, aheads_s[k]);
  }
}

/* The frame in which each run of a set with a period began, less that in which the agent was born. */
typedef struct sleeper {
  uint64_t count, frames[AGES * 4];
} sleeper;

static muster_atom_result count_run(muster_update *update) {
  sleeper *self = update->state;
  const uint64_t *zero_ns = update->type_user;
  if (self->count < COUNT_OF(self->frames)) self->frames[self->count++] = (update->now_ns - *zero_ns) / FRAME_NS;
  return MUSTER_ATOM_NEXT;
}

static muster_type register_set(const little_world *little, const uint64_t *zero_ns) {
  muster_set_def set = WITH(muster_set_def, it.atoms = atom_of(count_run, 2000), it.atom_count = 1,
                            it.period_updates = 0, it.period_ns = 7 * FRAME_NS);
  muster_type_def def = WITH(muster_type_def, it.name = "sleeper", it.sets.list = &set, it.sets.count = 1,
                             it.state_bytes = sizeof(sleeper), it.period_ns = it.period_max_ns = FRAME_NS,
                             it.elasticity = 0, it.user = (void *)(uintptr_t)zero_ns);
  return muster_type_register(little->world, &def);
}

/* An agent that crosses runs its set in the frames in which one does that stays. */
Test(zone_ages, sets_with_a_period_keep_their_phase) {
  enum { FRAMES = 60 };
  for (uint32_t k = 0; k < AHEADS; k++) {
    SCOPED(ages_destroy) ages pair = ages_of(listener_type(), aheads_s[k]);
    uint64_t zeros_ns[2] = {pair.zones[0].now_ns, pair.zones[1].now_ns};
    for (uint32_t zone = 0; zone < 2; zone++) pair.zones[zone].type = register_set(&pair.zones[zone], &zeros_ns[zone]);
    muster_agent crosses = spawn_at(&pair.zones[0], 1), stays = spawn_at(&pair.zones[0], 2);
    uint32_t at = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
      ages_frames(&pair, 1);
      if (frame % 5 != 3) continue;
      cross(&pair.zones[at], &pair.zones[!at], crosses);
      at = !at;
    }
    const sleeper *one = info_of(&pair.zones[at], crosses).state, *other = info_of(&pair.zones[0], stays).state;
    cr_expect_geq(other->count, FRAMES / 7);
    cr_expect_eq(one->count, other->count, "%ld s ahead: %lu runs, and %lu of who stayed", aheads_s[k], one->count,
                 other->count);
    for (uint64_t i = 0; i < one->count && i < other->count; i++)
      cr_expect_eq(one->frames[i], other->frames[i], "%ld s ahead: run %lu is in frame %lu, and not %lu", aheads_s[k],
                   i, one->frames[i], other->frames[i]);
  }
}

/* -------------------------------------------------------------------------------------------- what else goes along */

/* A wake within the gap waits for its end, on whatever side of the border. */
Test(zone_ages, gaps_between_wakes_end_when_they_should) {
  enum { GAP = 10 };
  for (uint32_t k = 0; k < AHEADS; k++) {
    SCOPED(ages_destroy) ages pair = ages_of(CHANGED(listener_type(), it.wake_gap_ns = GAP * FRAME_NS), aheads_s[k]);
    muster_agent agent = spawn_at(&pair.zones[0], 1);
    ages_frames(&pair, 2);
    cr_assert_eq(muster_agent_wake(pair.zones[0].world, agent), MUSTER_OK);
    ages_frames(&pair, 1);
    uint64_t ran_ns = ages_now(&pair);
    cr_assert_eq(info_of(&pair.zones[0], agent).last_update_ns, ran_ns, "it ran");
    cross(&pair.zones[0], &pair.zones[1], agent);
    cr_assert_eq(muster_agent_wake(pair.zones[1].world, agent), MUSTER_OK);
    for (uint32_t i = 1; i <= GAP + 1; i++) {
      ages_frames(&pair, 1);
      uint64_t last_ns = info_of(&pair.zones[1], agent).last_update_ns - (uint64_t)pair.ahead_ns;
      cr_expect_eq(last_ns, i < GAP ? ran_ns : ran_ns + GAP * FRAME_NS, "%ld s ahead, frame %u: it ran at %lu",
                   aheads_s[k], i, last_ns);
    }
  }
}

/* Sends more than a box takes, and is told so in its next update. */
typedef struct loser {
  muster_agent to;
  uint64_t lost, updates;
} loser;

enum { SENT = 6, TAKEN = 2 };

static muster_atom_result send_too_many(muster_update *update) {
  loser *self = update->state;
  self->lost += muster_update_messages_lost(update);
  if (self->updates++ == 0)
    for (uint32_t i = 0; i < SENT; i++) muster_update_send(update, self->to, "hen", 4);
  return MUSTER_ATOM_NEXT;
}

Test(zone_ages, messages_that_were_lost_are_told_behind_the_border) {
  SCOPED(ages_destroy)
  ages pair = ages_of(CHANGED(type_running(send_too_many, 1000), it.name = "loser", it.state_bytes = sizeof(loser),
                              it.elapsed.contract = MUSTER_ELAPSED_EVENTS, it.messages.waiting_max = TAKEN,
                              it.messages.bytes_max = 8, it.messages.sends_max = SENT),
                      0);
  muster_agent to = spawn_at(&pair.zones[0], 1), agent = spawn_at(&pair.zones[0], 2);
  ages_frames(&pair, 2);
  ((loser *)info_of(&pair.zones[0], agent).state)->to = to;
  cr_assert_eq(muster_agent_wake(pair.zones[0].world, agent), MUSTER_OK);
  ages_frames(&pair, 2);
  cr_assert_eq(info_of(&pair.zones[0], to).messages, TAKEN);
  cross(&pair.zones[0], &pair.zones[1], agent);
  cr_assert_eq(muster_agent_wake(pair.zones[1].world, agent), MUSTER_OK);
  ages_frames(&pair, 2);
  const loser *own = info_of(&pair.zones[1], agent).state;
  cr_assert_eq(own->updates, 2);
  cr_expect_eq(own->lost, SENT - TAKEN, "%lu of %d were lost", own->lost, SENT - TAKEN);
  cr_assert_eq(muster_agent_wake(pair.zones[1].world, agent), MUSTER_OK);
  ages_frames(&pair, 2);
  cr_expect_eq(((const loser *)info_of(&pair.zones[1], agent).state)->lost, SENT - TAKEN, "it is told twice");
}
