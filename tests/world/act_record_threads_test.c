/* A run on the wall clock, in which timing decides which agents act beside each other and which find no time, is
 * recorded and replayed: the world is the same after every frame, on any number of workers. Runs under ThreadSanitizer,
 * too. */
#include "world/fixture.h"

enum { FRAMES = 24, AGENTS = 360, SPACING = 2 };

typedef struct creature {
  uint64_t acts, told, heard;
} creature;

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
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
  uint32_t count = muster_update_nearby(update, 8.0f, (muster_type){0}, near, 2);
  for (uint32_t i = 0; i < count; i++) {
    creature *other = update->type_user ? muster_update_state_of(update, near[i].agent) : NULL;
    if (other) self->told = self->told * 31 + ++other->told;
    muster_update_send(update, near[i].agent, NULL, 0);
    if (muster_update_random(update) % 16 == 0) self->told += muster_update_remove(update, near[i].agent);
    if (muster_update_random(update) % 4 == 0) muster_update_wake(update, near[i].agent);
  }
  if (muster_update_random(update) % 4 == 0) self->told += muster_agent_index(muster_update_spawn(update, &child));
  step_by(update, (double)muster_update_random_share(update) * 4 - 2);
  self->acts++;
  for (volatile uint32_t i = 0; i < 60000; i++) continue;
  return MUSTER_ATOM_NEXT;
}

static little_world create(uint32_t workers) {
  return little_world_of(workers, WITH(muster_world_def, it.limits.agents_max = 2000, it.cell_m = 12.0f));
}

/* The user pointer of a type tells whether its actions may touch other agents. */
static void register_all(little_world *little) {
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 30000}};
  static bool yes = true;
  muster_type_def def =
      CHANGED(type_with(atoms, 2), it.state_bytes = sizeof(creature), it.spawns_max = it.messages.waiting_max = 1,
              it.messages.sends_max = 2, it.period_ns = 20000000, it.limit_ns = 100000000);
  for (muster_act kind = MUSTER_ACT_SERIAL; kind <= MUSTER_ACT_PARALLEL; kind++) {
    def.act = kind;
    def.user = kind == MUSTER_ACT_PARALLEL ? NULL : &yes;
    register_type(little, &def);
  }
}

static void record_run(struct recorded *run, uint32_t workers) {
  SCOPED_WORLD little = create(workers);
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
}

Test(act_record_threads, what_acted_beside_each_other_is_replayed_on_any_number_of_workers) {
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    SCOPED(recorded_forget) struct recorded run;
    record_run(&run, workers);
    for (uint32_t others = 1; others <= 4; others *= 4) {
      SCOPED_WORLD little = create(others);
      recorded_replay(&run, little.world);
      register_all(&little);
      replay_alike(&run, &little);
      muster_statistics sums = statistics_of(&little);
      cr_assert(sums.spawned == run.sums.spawned && sums.removed == run.sums.removed);
      cr_assert(sums.messages_delivered == run.sums.messages_delivered && sums.completed == run.sums.completed);
    }
  }
}
