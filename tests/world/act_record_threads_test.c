/* A run on the wall clock, in which timing decides which agents act beside each other and which find no time, is
 * recorded and replayed: the world is the same after every frame, on any number of workers. Runs under ThreadSanitizer,
 * too. */
#include "support/recording.h"

#include <muster/record.h>

enum { FRAMES = 24, AGENTS = 360, SPACING = 2 };

typedef struct creature {
  uint64_t acts, told, heard;
} creature;

static void spend(uint32_t turns) {
  for (volatile uint32_t i = 0; i < turns; i++) continue;
}

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_message messages[2];
  uint32_t count = muster_update_messages(update, messages, 2);
  for (uint32_t i = 0; i < count; i++) self->heard = self->heard * 31 + muster_agent_index(messages[i].sender);
  return MUSTER_ATOM_NEXT;
}

/* Parallel actions reach their neighbours through Muster alone. */
static muster_atom_result act(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[2];
  muster_agent_def child = muster_agent_def_default();
  child.type = update->type;
  child.position = update->position;
  uint32_t count = muster_update_nearby(update, 8.0f, (muster_type){0}, near, 2);
  for (uint32_t i = 0; i < count; i++) {
    creature *other = update->type_user ? muster_update_state_of(update, near[i].agent) : NULL;
    if (other) self->told = self->told * 31 + ++other->told;
    muster_update_send(update, near[i].agent, NULL, 0);
    if (muster_update_random(update) % 16 == 0) self->told += muster_update_remove(update, near[i].agent);
    if (muster_update_random(update) % 4 == 0) muster_update_wake(update, near[i].agent);
  }
  if (muster_update_random(update) % 4 == 0) self->told += muster_agent_index(muster_update_spawn(update, &child));
  muster_position to = update->position;
  to.x += (double)muster_update_random_share(update) * 4 - 2;
  muster_update_move(update, to);
  self->acts++;
  spend(60000);
  return MUSTER_ATOM_NEXT;
}

static little_world create(uint32_t workers) {
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 2000;
  def.cell_m = 12.0f;
  return little_world_create(workers, &def);
}

/* The user pointer of a type tells whether its actions may touch other agents. */
static void register_all(little_world *little) {
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 30000}};
  static bool yes = true;
  muster_type_def def = type_with(atoms, 2);
  def.state_bytes = sizeof(creature);
  def.spawns_max = def.messages.waiting_max = 1;
  def.messages.sends_max = 2;
  def.period_ns = 20000000;
  def.limit_ns = 100000000;
  for (muster_act kind = MUSTER_ACT_SERIAL; kind <= MUSTER_ACT_PARALLEL; kind++) {
    def.act = kind;
    def.user = kind == MUSTER_ACT_PARALLEL ? NULL : &yes;
    register_type(little, &def);
  }
}

static void record_run(struct recorded *run, uint32_t workers) {
  little_world little = create(workers);
  uint64_t waited = 0;
  recorded_begin(run, little.world);
  register_all(&little);
  for (uint32_t i = 0; i < AGENTS; i++) {
    little.type.index = 1 + i % 3;
    spawn_at(&little, (double)(i * SPACING));
  }
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_frame_with(&little, 3000000);
    waited += report.actions_waiting;
    recorded_note(run, &little, report);
  }
  recorded_end(run, little.world);
  cr_assert_gt(waited, 0, "all actions found time");
  cr_assert(run->sums.spawned > AGENTS && run->sums.removed > 0 && run->sums.messages_delivered > 0);
  little_world_destroy(&little);
}

static void replay_run(const struct recorded *run, uint32_t workers) {
  little_world little = create(workers);
  recorded_replay(run, little.world);
  register_all(&little);
  for (uint32_t i = 0; i < run->frames; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%u workers: %s", workers, muster_last_error());
    cr_assert_eq(muster_world_hash(little.world), run->hashes[i], "%u workers, frame %u", workers, i + 1);
  }
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(little.world, &sums);
  cr_assert(sums.spawned == run->sums.spawned && sums.removed == run->sums.removed);
  cr_assert(sums.messages_delivered == run->sums.messages_delivered && sums.completed == run->sums.completed);
  little_world_destroy(&little);
}

Test(act_record_threads, what_acted_beside_each_other_is_replayed_on_any_number_of_workers) {
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    struct recorded run;
    record_run(&run, workers);
    for (uint32_t others = 1; others <= 4; others *= 4) replay_run(&run, others);
    recorded_forget(&run);
  }
}
