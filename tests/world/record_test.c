/* A run on the wall clock, in which timing decides what runs when, is recorded and replayed: the world is the same
 * after every frame, on any number of workers. Its agents do all that could make it depend on threads: they move, send,
 * wake, breed and kill, their updates are cut and interrupted, and another thread wakes, moves and spawns beside them.
 */
#include "support/burn.h"
#include "world/fixture.h"

#include <stdatomic.h>

enum { FRAMES = UNDER_THREAD_SANITIZER ? 70 : 120, FRAMES_BEFORE = 50 };
enum { CREATURES = 900, LISTENERS = 300, WATCHERS = 20 };

typedef struct creature {
  uint64_t updates, seen, heard;
  double energy;
} creature;

static muster_atom_result look_and_hear(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[6];
  uint32_t count = muster_update_nearby(update, 12.0f, (muster_type){0}, near, 6);
  for (uint32_t i = 0; i < count; i++) {
    const double *energy = near[i].published;
    self->energy += *energy * 0.001;
    self->seen =
        self->seen * 31 + muster_agent_index(near[i].agent) + (uint64_t)(update->importance * 1000) + update->level;
  }
  muster_message messages[4];
  uint32_t heard = muster_update_messages(update, messages, 4);
  for (uint32_t i = 0; i < heard; i++) {
    uint64_t word = 0;
    memcpy(&word, messages[i].bytes, messages[i].size < sizeof word ? messages[i].size : sizeof word);
    self->heard = self->heard * 31 + word + muster_agent_index(messages[i].sender) + messages[i].sent_ns;
  }
  self->heard += muster_update_messages_lost(update);
  spend(600);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result walk(muster_update *update) {
  creature *self = update->state;
  double seconds = (double)update->elapsed_ns * 1e-9;
  muster_position to = update->position;
  to.x += ((double)muster_update_random_share(update) - 0.5) * 40 * seconds;
  to.y += ((double)muster_update_random_share(update) - 0.5) * 40 * seconds;
  muster_update_move(update, to);
  self->updates++;
  self->energy += seconds;
  *(double *)update->published = self->energy;
  muster_neighbour near[2];
  if (muster_update_random_share(update) < 0.2f && muster_update_nearby(update, 30, (muster_type){0}, near, 2) == 2) {
    muster_update_wake(update, near[0].agent);
    muster_update_send(update, near[1].agent, &self->seen, sizeof self->seen);
  }
  spend(600);
  return self->energy > 1.0 ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

static muster_atom_result act(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[1];
  muster_agent_def child = WITH(muster_agent_def, it.type = (muster_type){1}, it.position = update->position);
  if (muster_update_random_share(update) < 0.3f) muster_update_spawn(update, &child);
  if (muster_update_random_share(update) < 0.3f && muster_update_nearby(update, 30, (muster_type){1}, near, 1) == 1) {
    creature *other = muster_update_state_of(update, near[0].agent);
    if (muster_update_remove(update, near[0].agent) == MUSTER_OK && other) self->energy += other->energy;
  }
  self->energy -= 1.0;
  return MUSTER_ATOM_NEXT;
}

/* A long update of several atoms, which are cut and interrupted. */
static muster_atom_result ponder(muster_update *update) {
  creature *self = update->state;
  self->seen = self->seen * 31 + muster_update_random(update);
  spend(6000);
  muster_neighbour near[1];
  if (muster_update_nearby(update, 50.0f, (muster_type){2}, near, 1)) muster_update_wake(update, near[0].agent);
  if (muster_update_nearby(update, 50.0f, (muster_type){1}, near, 1))
    muster_update_send(update, near[0].agent, &self->seen, 5);
  *(double *)update->published = (double)(self->seen & 255);
  return MUSTER_ATOM_NEXT;
}

static void born(muster_update *update) {
  ((creature *)update->state)->energy += muster_update_random_share(update);
}

static void register_both(muster_world *world) {
  const muster_atom few[] = {{look_and_hear, MUSTER_ROLE_PERCEPTION, 3000},
                             {walk, MUSTER_ROLE_BEHAVIOUR, 1500},
                             {act, MUSTER_ROLE_ACTION, 2000}};
  const muster_atom thought = {ponder, MUSTER_ROLE_BEHAVIOUR, 20000};
  const muster_atom many[] = {thought, thought, thought, {walk, MUSTER_ROLE_BEHAVIOUR, 5000}};
  muster_type_def def =
      WITH(muster_type_def, it.name = "creature", it.atoms = few, it.atom_count = 3, it.state_bytes = sizeof(creature),
           it.published_bytes = sizeof(double), it.spawns_max = 1, it.levels.count = 4, it.period_ns = 20000000,
           it.period_max_ns = 60000000, it.messages.waiting_max = 3, it.messages.bytes_max = 8,
           it.messages.sends_max = 1, it.on_spawned = born);
  def.limit_ns = 1000000000; /* no runaways on slow machines: their claims would not be started at the end of a frame */
  cr_assert_eq(muster_type_register(world, &def).index, 1, "%s", muster_last_error());
  def = CHANGED(def, it.name = "listener", it.atoms = many, it.atom_count = 4, it.spawns_max = 0,
                it.messages.sends_max = 4, it.messages.wake = true);
  cr_assert_eq(muster_type_register(world, &def).index, 2, "%s", muster_last_error());
}

static muster_world_def world_def(muster_clock clock) {
  return CHANGED(papers_world_def(), it.clock.kind = clock, it.limits.agents_max = 4000, it.cell_m = 16.0f);
}

/* ------------------------------------------------------------------------------------------------ the recorded run */

struct meddler {
  muster_world *world;
  muster_clock clock;
  muster_agent agents[LISTENERS];
  atomic_bool stop;
};

/* Another thread wakes, moves, tunes, sends and spawns without pause while frames run. */
static void *meddle(void *argument) {
  struct meddler *meddler = argument;
  muster_agent_tuning tuning = muster_agent_tuning_default();
  muster_agent_def def = WITH(muster_agent_def, it.type = (muster_type){1});
  for (uint64_t i = 0; !atomic_load(&meddler->stop); i++) {
    muster_agent agent = meddler->agents[i * 7 % LISTENERS];
    muster_agent_wake(meddler->world, agent);
    if (i % 5 == 0) muster_agent_move(meddler->world, agent, (muster_position){(double)(i % 500), (double)(i % 37), 0});
    if (i % 11 == 0) muster_agent_send(meddler->world, agent, &i, sizeof i);
    tuning.importance_floor = (float)(i % 10) * 0.1f;
    if (i % 13 == 0) muster_agent_tune(meddler->world, agent, &tuning);
    def.position.x = (double)(i % 400);
    def.state = &(creature){.energy = (double)(i % 3)};
    if (i % 17 != 0) continue;
    muster_agent child = muster_agent_spawn(meddler->world, &def);
    if (i % 34 == 0 && !muster_agent_is_null(child)) muster_agent_move(meddler->world, child, def.position);
    if (i % 51 == 0 && !muster_agent_is_null(child)) muster_agent_remove(meddler->world, child);
    usleep(200);
  }
  return NULL;
}

static void populate(muster_world *world, struct meddler *meddler, muster_observer *watchers) {
  muster_agent_def def = muster_agent_def_default();
  muster_observer_def observer = muster_observer_def_default();
  for (uint32_t i = 0; i < CREATURES + LISTENERS; i++) {
    def.type = (muster_type){i < CREATURES ? 1 : 2};
    def.position = (muster_position){(double)(i % 400), (double)(i % 31), 0};
    muster_agent agent = muster_agent_spawn(world, &def);
    if (i >= CREATURES) meddler->agents[i - CREATURES] = agent;
  }
  for (uint32_t i = 0; i < WATCHERS; i++) watchers[i] = muster_observer_add(world, &observer);
}

/* Called between two frames: moves and tunes by arrays. */
static void move_many(muster_world *world, const struct meddler *meddler, const muster_observer *watchers,
                      uint32_t frame) {
  muster_position places[LISTENERS];
  float values[LISTENERS];
  for (uint32_t i = 0; i < LISTENERS; i++) {
    places[i] = (muster_position){(double)((i * 3 + frame * 5) % 400), (double)((i + frame) % 31), 0};
    values[i] = (float)((i + frame) % 11) * 0.1f;
  }
  if (frame % 4 == 1) muster_agents_move(world, meddler->agents, places, LISTENERS);
  if (frame % 6 == 2) muster_agents_set_factor(world, MUSTER_FACTOR_VISIBILITY, meddler->agents, values, LISTENERS);
  if (frame % 10 == 9) muster_agent_remove(world, meddler->agents[frame]);
  muster_observers_move(world, watchers, places, WATCHERS);
}

/* On the wall clock the machine's speed is unknown, so long and short frames alternate: what a short frame leaves
 * undone, or cuts, a long one runs. */
static uint64_t budget_of(muster_clock clock, uint32_t frame, uint32_t times) {
  enum { LENGTHS = 7 };
  if (clock == MUSTER_CLOCK_VIRTUAL) return 900000u + frame % 3 * 400000;
  return times * (900000ull << frame * 3 % LENGTHS);
}

/* Runs frames while meddle() runs; notes them if `run` is given. */
static void run_meddled(struct recorded *run, little_world *little, struct meddler *meddler,
                        const muster_observer *watchers, uint32_t first, uint32_t end, uint32_t times) {
  pthread_t thread;
  atomic_store(&meddler->stop, false);
  cr_assert_eq(pthread_create(&thread, NULL, meddle, meddler), 0);
  for (uint32_t i = first; i < end; i++) {
    move_many(little->world, meddler, watchers, i);
    muster_frame_report report = run_frame_with(little, budget_of(meddler->clock, i, times));
    if (run) recorded_note(run, little, report);
  }
  atomic_store(&meddler->stop, true);
  pthread_join(thread, NULL);
}

/* Most of a frame here is what is around updates of 200 ns, of more workers than there are processors. How much of that
 * is left over is not this file's subject. */
static little_world open_world(uint32_t workers, muster_world_def def) {
  return careless(little_world_of(workers, def));
}

/* Records from the beginning, or from the middle of the life of a world that has run `before` frames. */
static void record_run(struct recorded *run, uint32_t workers, muster_clock clock, uint32_t times, uint32_t before) {
  muster_observer watchers[WATCHERS];
  SCOPED_WORLD little = open_world(workers, world_def(clock));
  struct meddler meddler = {.world = little.world, .clock = clock};
  if (!before) recorded_begin(run, little.world);
  register_both(little.world);
  populate(little.world, &meddler, watchers);
  if (before) {
    run_meddled(NULL, &little, &meddler, watchers, 0, before, times);
    recorded_begin(run, little.world);
    muster_statistics_clear(little.world);
  }
  run_meddled(run, &little, &meddler, watchers, before, before + FRAMES, times);
  recorded_end(run, little.world);
}

/* Replays on so many workers; every frame must leave the world that the recorded one did. */
static void replay_run(const struct recorded *run, uint32_t workers, muster_clock clock) {
  SCOPED_WORLD little = open_world(workers, world_def(clock));
  recorded_replay(run, little.world);
  register_both(little.world);
  for (uint32_t i = 0; i < run->frames; i++) {
    muster_frame_report report = recorded_follow(run, little.world, i);
    cr_assert(!memcmp(&report, &run->reports[i], sizeof report), "%u workers, frame %u: the report", workers, i + 1);
  }
  cr_assert_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  muster_statistics sums = statistics_of(&little);
  cr_assert_eq(sums.spawned, run->sums.spawned);
  cr_assert_eq(sums.removed, run->sums.removed);
  cr_assert_eq(sums.messages_delivered, run->sums.messages_delivered);
  cr_assert_eq(sums.interrupted, run->sums.interrupted);
}

/* Whether everything happened that the record must hold. */
static bool has_all(const muster_statistics *sums, uint32_t before) {
  return sums->preempted && sums->carried && sums->woken && sums->spawned > (before ? 0 : CREATURES + LISTENERS) &&
         sums->removed && sums->messages_delivered;
}

static void check_all(uint32_t workers, muster_clock clock, uint32_t before) {
  enum { TIMES_MAX = 8 };
  SCOPED(recorded_forget) struct recorded run = {0};
  uint32_t times = 1;
  record_run(&run, workers, clock, times, before);
  for (; clock == MUSTER_CLOCK_WALL && times < TIMES_MAX && !has_all(&run.sums, before); times *= 2) {
    recorded_forget(&run);
    record_run(&run, workers, clock, times * 2, before);
  }
  cr_assert(has_all(&run.sums, before), "no budget with which everything happens");
  replay_run(&run, 1, clock);
  replay_run(&run, 2, clock);
  replay_run(&run, 8, clock);
}

/* ------------------------------------------------------------------------------------------------ a crowd of many */

enum { CROWD = 30000, CROWD_FRAMES = UNDER_THREAD_SANITIZER ? 20 : 40 };

static muster_atom_result stroll(muster_update *update) {
  uint64_t *own = update->state;
  muster_position to = update->position;
  to.x += (double)(muster_update_random(update) % 100) * 0.01;
  muster_update_move(update, to);
  *own = *own * 31 + update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

static little_world crowd_create(uint32_t workers, uint32_t shards, uint32_t delay) {
  return open_world(
      workers, WITH(muster_world_def, it.limits.agents_max = CROWD, it.shards = shards, it.activation_delay = delay));
}

static void crowd_register(little_world *little, uint32_t period_frames) {
  add_type(little, CHANGED(type_running(stroll, 300), it.state_bytes = 8,
                           it.period_ns = period_frames * (uint64_t)FRAME_NS, it.period_max_ns = 4 * it.period_ns));
}

/* More agents are due than a frame releases: which of them lead is the same in the replay, in other shards as well. */
static void check_crowd(uint32_t workers, uint32_t delay) {
  SCOPED(recorded_forget) struct recorded run = {0};
  uint32_t period_frames = delay ? 2 * delay : 1; /* there is something to choose from */
  SCOPED_WORLD little = crowd_create(workers, 16, delay);
  recorded_begin(&run, little.world);
  crowd_register(&little, period_frames);
  for (int i = 0; i < CROWD; i++) spawn_at(&little, i * 0.3);
  for (int i = 0; i < CROWD_FRAMES; i++) recorded_note(&run, &little, run_frame_with(&little, 8000000));
  recorded_end(&run, little.world);
  cr_assert_gt(run.sums.completed, 0);
  for (uint32_t others = 1; others <= 4; others *= 4) {
    SCOPED_WORLD again = crowd_create(others, others * others, delay);
    recorded_replay(&run, again.world);
    crowd_register(&again, period_frames);
    for (uint32_t i = 0; i < CROWD_FRAMES; i++) recorded_follow(&run, again.world, i);
  }
}

Test(record, a_crowd_that_several_workers_settle_beside_each_other_is_replayed) {
  if (!UNDER_THREAD_SANITIZER) check_crowd(2, 0);
  check_crowd(4, 0);
}

/* Reservations depend on which agents reserve together. */
Test(record, so_is_one_whose_activation_is_planned) {
  if (!UNDER_THREAD_SANITIZER) check_crowd(2, 3);
  check_crowd(4, 3);
}

Test(record, a_run_of_four_workers_on_the_wall_clock_is_replayed_bit_for_bit_on_any_number) {
  check_all(4, MUSTER_CLOCK_WALL, 0);
}

Test(record, so_is_one_of_two, .disabled = UNDER_SANITIZER) {
  check_all(2, MUSTER_CLOCK_WALL, 0);
}

Test(record, so_is_one_of_a_single_worker, .disabled = UNDER_SANITIZER) {
  check_all(1, MUSTER_CLOCK_WALL, 0);
}

Test(record, so_is_one_on_the_virtual_clock) {
  check_all(3, MUSTER_CLOCK_VIRTUAL, 0);
}

/* Agents are pending, preempted, held, acting and about to be woken when the recording begins. */
Test(record, one_that_began_in_the_middle_of_a_worlds_life_is_replayed_from_there) {
  check_all(4, MUSTER_CLOCK_WALL, FRAMES_BEFORE);
}

Test(record, so_is_one_of_a_single_worker_that_began_in_the_middle, .disabled = UNDER_SANITIZER) {
  check_all(1, MUSTER_CLOCK_WALL, FRAMES_BEFORE);
}

Test(record, so_is_one_on_the_virtual_clock_that_began_in_the_middle, .disabled = UNDER_SANITIZER) {
  check_all(3, MUSTER_CLOCK_VIRTUAL, FRAMES_BEFORE);
}
