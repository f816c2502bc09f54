/* Programs of hurried C programmers, each with one mistake: every one ends in a sentence that says what is wrong, in
 * the log, in muster_last_error(), or in the last line of a process that ends. None is silent, none crashes without
 * words. */
#include "misuse/misuse.h"
#include "support/last_words.h"

/* ---------------------------------------------------------------------------------------------------- what they use */

static const muster_atom resting = {.run = nothing, .model_ns = 1000};

static muster_world *create_world(muster_world_def def) {
  return muster_world_create(&def);
}

static muster_type_def wolves(const muster_atom *atom) {
  return WITH(muster_type_def, it.name = "wolf", it.atoms = atom, it.atom_count = 1, it.period_ns = FRAME_NS);
}

/* Wolves that rest, but for some fields. */
#define RESTING(...)                                                                                                   \
  WITH(muster_type_def, it.name = "wolf", it.atoms = &resting, it.atom_count = 1, it.period_ns = FRAME_NS, __VA_ARGS__)

static void add_type(muster_type_def def) {
  muster_type_register(virtual_world(), &def);
}

static void add_agent(muster_agent_def def) {
  muster_agent_spawn(virtual_world(), &def);
}

static void add_observer(muster_observer_def def) {
  muster_observer_add(virtual_world(), &def);
}

static muster_agent spawn_wolf(muster_world *world, const muster_atom *atom) {
  muster_type_def type = wolves(atom);
  muster_agent_def def = WITH(muster_agent_def, it.type = muster_type_register(world, &type));
  return muster_agent_spawn(world, &def);
}

static void run_world(muster_world *world) {
  for (uint64_t i = 1; i <= 6; i++) muster_frame_run(world, &(muster_frame){i * FRAME_NS, 5000000});
}

/* A world with a wolf, and that wolf. */
static muster_world *wolf_world(void) {
  muster_world *world = virtual_world();
  spawn_wolf(world, &resting);
  return world;
}

#define WOLF muster_agent_make(0, 1)

/* A world of two wolves that run an atom, some frames long. */
static void live(muster_atom_result (*run)(muster_update *)) {
  const muster_atom atom = {.run = run, .model_ns = 1000};
  muster_world *world = wolf_world();
  spawn_wolf(world, &atom);
  run_world(world);
}

enum { HERD = 8 };

static muster_world *new_plans(void) {
  muster_world *world = create_world(WITH(virtual_world_def, it.planner_workers = 1));
  muster_type_def type = wolves(NULL);
  type.atom_count = 0;
  muster_agent_def agent = WITH(muster_agent_def, it.type = muster_type_register(world, &type));
  for (uint32_t i = 0; i < HERD; i++) muster_agent_spawn(world, &agent);
  return world;
}

/* A plan, and a result for each of its entries; returns how many. */
static uint32_t plan_wolves(muster_world *world, uint64_t frame, uint32_t room, muster_plan_result results[HERD]) {
  muster_plan_entry entries[HERD];
  muster_plan_summary plan = muster_plan_summary_default();
  if (muster_plan(world, &(muster_frame){frame * FRAME_NS, 5000000}, entries, room, &plan)) return 0;
  for (uint32_t i = 0; i < plan.count; i++)
    results[i] = (muster_plan_result){.agent = entries[i].agent,
                                      .cost_ns = entries[i].slice_ns,
                                      .outcome = MUSTER_PLAN_FINISHED,
                                      .position = {3, 4, 0}};
  return plan.count;
}

/* Wolves that go somewhere, told with `moved` from frame `told` on, of which so many are reported. */
static void plan_long(uint32_t room, uint64_t told, uint32_t reported) {
  muster_world *world = new_plans();
  muster_plan_result results[HERD];
  for (uint64_t frame = 1; frame < 200; frame++) {
    uint32_t count = plan_wolves(world, frame, room, results);
    for (uint32_t i = 0; i < count; i++) results[i].moved = frame >= told;
    muster_plan_report(world, results, count < reported ? count : reported);
  }
}

/* --------------------------------------------------------------------------------------------------------- programs */

static muster_atom_result return_garbage(muster_update *update) {
  (void)update;
  return (muster_atom_result)32767;
}

static muster_atom_result bear(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  (void)muster_update_spawn(update, &def);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result bear_nothing(muster_update *update) {
  muster_agent_def def = muster_agent_def_default();
  (void)muster_update_spawn(update, &def);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result bite(muster_update *update) {
  *(volatile int *)muster_update_state_of(update, muster_agent_make(0, 1)) = 1;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result look_far(muster_update *update) {
  muster_neighbour found[4];
  muster_update_nearby(update, nanf(""), (muster_type){0}, found, 4);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result look_for_nobody(muster_update *update) {
  muster_neighbour found[4];
  muster_update_nearby(update, 5, (muster_type){9}, found, 4);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result shout(muster_update *update) {
  (void)muster_update_send(update, muster_agent_make(0, 1), "hello", 6);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result leap(muster_update *update) {
  (void)muster_update_move(update, (muster_position){NAN, 0, 0});
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result read_another(muster_update *update) {
  muster_update_published_as(update, muster_agent_make(0, 1), 8);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result save_here(muster_update *update) {
  muster_save_def def = WITH(muster_save_def, it.write = take_bytes);
  if (muster_world_save(update->world, &def)) fprintf(stderr, "%s\n", muster_last_error());
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result register_here(muster_update *update) {
  muster_type_def def = wolves(&resting);
  if (!muster_type_register(update->world, &def).index) fprintf(stderr, "%s\n", muster_last_error());
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result destroy_here(muster_update *update) {
  muster_world_destroy(update->world);
  return MUSTER_ATOM_NEXT;
}

static muster_update *kept;

static muster_atom_result keep(muster_update *update) {
  kept = update;
  return MUSTER_ATOM_NEXT;
}

/* Each program, and what is said to it. */
#define PROGRAMS(X)                                                                                                    \
  X(garbage, "atoms returned what is no muster_atom_result", live(return_garbage);)                                    \
  X(births, "an update of type 'wolf' was refused: type 'wolf' may spawn 0 per update (spawns_max)", live(bear);)      \
  X(births_of_nothing, "an update of type 'wolf' was refused: agent: type 0 is not registered", live(bear_nothing);)   \
  X(bites, "an update of type 'wolf' was refused: state: in action atoms only", live(bite);)                           \
  X(far_looks, "an update of type 'wolf' was refused: nearby: radius_m", live(look_far);)                              \
  X(looks_for_nobody, "an update of type 'wolf' was refused: type 9 is none of the 2 that are registered",             \
    live(look_for_nobody);)                                                                                            \
  X(shouts, "an update of type 'wolf' was refused: message: type 'wolf' has no boxes: set its messages.waiting_max",   \
    live(shout);)                                                                                                      \
  X(leaps, "an update of type 'wolf' was refused: position (", live(leap);)                                            \
  X(reads_another, "an update of type 'wolf' was refused: published state of type 'wolf': it has none",                \
    live(read_another);)                                                                                               \
  X(saves_in_atom, "not inside a frame: atom 0 of agent 1 (generation 1) of type 'wolf'", live(save_here);)            \
  X(registers_in_atom, "type: not inside a frame: atom 0 of agent 1 (generation 1) of type 'wolf'",                    \
    live(register_here);)                                                                                              \
  X(destroys_in_atom, "muster_world_destroy: inside a frame: atom 0 of agent 1", live(destroy_here);)                  \
  X(keeps_update, "this update is not under way on this thread", live(keep);                                           \
    muster_update_move(kept, (muster_position){0});)                                                                   \
  X(empty_world_def, "muster_world_def_default()", create_world((muster_world_def){0});)                               \
  X(empty_type_def, "muster_type_def_default()", add_type((muster_type_def){0});)                                      \
  X(empty_agent_def, "muster_agent_def_default()", add_agent((muster_agent_def){0});)                                  \
  X(no_atoms, "type 'wolf'", add_type(wolves(NULL));)                                                                  \
  X(no_run, "type 'wolf'", add_type(wolves(&(muster_atom){0}));)                                                       \
  X(atoms_uncounted, "type 'wolf'", add_type(RESTING(it.atom_count = 0));)                                             \
  X(type_of_another_world, "agent: type 3 is not registered", add_agent(WITH(muster_agent_def, it.type.index = 3));)   \
  X(no_type, "agent: type 0 is not registered", add_agent(muster_agent_def_default());)                                \
  X(misspelt_type, "type find: no type has the name 'wolve'", muster_type_find(wolf_world(), "wolve");)                \
  X(no_frame, "frame: the frame must be given", muster_frame_run(virtual_world(), NULL);)                              \
  X(budget_in_ms, "budget_ns 16 must be 10 us .. 10 s",                                                                \
    muster_frame_run(virtual_world(), &(muster_frame){FRAME_NS, 16});)                                                 \
  X(time_in_ms, "simulation time hardly moves", muster_world *world = wolf_world();                                    \
    for (uint64_t now_ms = 0; now_ms < 10000; now_ms += 16)                                                            \
        muster_frame_run(world, &(muster_frame){now_ms, 5000000});)                                                    \
  X(time_goes_back, "sim_now_ns 1 is before the last frame's", muster_world *world = virtual_world();                  \
    run_world(world); muster_frame_run(world, &(muster_frame){1, 5000000});)                                           \
  X(time_of_centuries, "is beyond 146 years",                                                                          \
    muster_frame_run(virtual_world(), &(muster_frame){UINT64_MAX, 5000000});)                                          \
  X(period_in_ms, "period_ns 100 must be", add_type(RESTING(it.period_ns = 100));)                                     \
  X(periods_reversed, "period_max_ns", add_type(RESTING(it.period_ns = 2000000000, it.period_max_ns = 1000000000));)   \
  X(dead_agent, "agent 0 (generation 1) is gone", muster_world *world = wolf_world();                                  \
    muster_agent_info info = muster_agent_info_default(); muster_agent_remove(world, WOLF);                            \
    muster_agent_read(world, WOLF, &info);)                                                                            \
  X(removed_twice, "agent 0 (generation 1) is gone", muster_world *world = wolf_world();                               \
    muster_agent_remove(world, WOLF); muster_agent_remove(world, WOLF);)                                               \
  X(null_agent, "agent 0 (generation 0) is gone", muster_agent_wake(virtual_world(), (muster_agent){0});)              \
  X(far_before_near, "observer: 0 <= near_m (25) < far_m (10)",                                                        \
    add_observer(WITH(muster_observer_def, it.far_m = 10));)                                                           \
  X(observer_at_infinity, "position (inf, 0, 0) must be finite",                                                       \
    add_observer(WITH(muster_observer_def, it.position.x = INFINITY));)                                                \
  X(partition_too_large, "partition 70000 must be",                                                                    \
    muster_agent_def def = WITH(muster_agent_def, it.type.index = 1, it.partition = 70000);                            \
    muster_agent_spawn(wolf_world(), &def);)                                                                           \
  X(wake_in_centuries, "is beyond 146 years", muster_agent_wake_at(wolf_world(), WOLF, UINT64_MAX - 1);)               \
  X(large_message, "message: size 300 must be at most 256",                                                            \
    muster_agent_send(wolf_world(), WOLF, (char[300]){0}, 300);)                                                       \
  X(no_boxes, "message: no type of this world has boxes: set messages.waiting_max",                                    \
    muster_agent_send(wolf_world(), WOLF, "hi", 3);)                                                                   \
  X(visibility_of_two, "visibility 2 must be",                                                                         \
    muster_agent_tuning tuning = WITH(muster_agent_tuning, it.visibility = 2);                                         \
    muster_agent_tune(wolf_world(), WOLF, &tuning);)                                                                   \
  X(factor_of_two, "factors of agents: values[0] 2 must be 0..1", muster_world *world = wolf_world();                  \
    const muster_agent agent = WOLF; const float two = 2; run_world(world);                                            \
    muster_agents_set_factor(world, MUSTER_FACTOR_BULK, &agent, &two, 1);)                                             \
  X(many_to_nowhere, "positions of agents: positions[0] (0, -2000000000, 0) must be finite",                           \
    muster_world *world = wolf_world();                                                                                \
    const muster_agent agent = WOLF; run_world(world);                                                                 \
    muster_agents_move(world, &agent, &(muster_position){0, -2e9, 0}, 1);)                                             \
  X(many_that_are_gone, "agent 0 (generation 1) is gone", muster_world *world = wolf_world();                          \
    const muster_agent agent = WOLF; muster_agent_remove(world, agent); run_world(world);                              \
    muster_agents_move(world, &agent, &(muster_position){0}, 1);)                                                      \
  X(observers_that_are_gone, "observer 3", const muster_observer gone = muster_observer_make(3, 1);                    \
    muster_observers_move(virtual_world(), &gone, &(muster_position){0}, 1);)                                          \
  X(no_agents, "agents_max 0 must be", create_world(WITH(muster_world_def, it.limits.agents_max = 0));)                \
  X(too_many_workers, "workers 1000", pool_of(1000);)                                                                  \
  X(no_room_for_agents, "nearby: the array must be given", muster_nearby_query query = muster_nearby_query_default();  \
    muster_agents_nearby(virtual_world(), &query, NULL, 8, NULL);)                                                     \
  X(changes_not_kept, "changes: this world keeps none; set changes_frames", uint64_t cursor = 0;                       \
    muster_change changes[2]; uint32_t count;                                                                          \
    muster_frame_changes(virtual_world(), MUSTER_CHANGE_ALL, &cursor, changes, 2, &count);)                            \
  X(company_without_factors, "MUSTER_IMPORTANCE_FACTORS", muster_world *world = virtual_world();                       \
    muster_agent_link(world, spawn_wolf(world, &resting), spawn_wolf(world, &resting));)                               \
  X(set_of_none, "type 'wolf' has no sets", muster_set_tuning tuning = muster_set_tuning_default();                    \
    muster_set_tune(wolf_world(), (muster_type){1}, 0, &tuning);)                                                      \
  X(plan_of_no_planner, "plan: this world was created without planner_workers: use muster_frame_run",                  \
    muster_plan_entry entries[4];                                                                                      \
    muster_plan_summary summary = muster_plan_summary_default();                                                       \
    muster_plan(virtual_world(), &(muster_frame){FRAME_NS, 5000000}, entries, 4, &summary);)                           \
  X(frame_of_planner, "is run by muster_plan and muster_plan_report",                                                  \
    muster_frame_run(create_world(WITH(muster_world_def, it.planner_workers = 1)),                                     \
                     &(muster_frame){FRAME_NS, 5000000});)                                                             \
  X(plans_unreported, "plan: the last plan was not reported yet: call muster_plan_report() before",                    \
    muster_world *world = new_plans();                                                                                 \
    muster_plan_result results[HERD]; plan_wolves(world, 1, HERD, results); plan_wolves(world, 2, HERD, results);)     \
  X(reported_twice, "report: there is no plan to report about: call muster_plan() before",                             \
    muster_world *world = new_plans();                                                                                 \
    muster_plan_result results[HERD]; plan_wolves(world, 1, HERD, results); muster_plan_report(world, NULL, 0);        \
    muster_plan_report(world, NULL, 0);)                                                                               \
  X(moves_untold, "and none has `moved`: set it to 1, or agents stay where they are",                                  \
    plan_long(HERD, UINT64_MAX, HERD);)                                                                                \
  X(nothing_reported, "report: nothing ran of the last 128 plans, though they had entries: report those that ran",     \
    plan_long(HERD, 0, 0);)                                                                                            \
  X(room_for_one, "plan: in each of the last 128 plans agents waited", plan_long(1, 0, HERD);)                         \
  X(negative_period, "period_ns 18446744073709551615 (-1, taken for an unsigned number) must be",                      \
    add_type(RESTING(it.period_ns = (uint64_t)-1));)                                                                   \
  X(negative_agents, "agents_max 4294967294 (-2, taken for an unsigned number) must be",                               \
    create_world(WITH(muster_world_def, it.limits.agents_max = (uint32_t)-2));)                                        \
  X(observer_before_its_frame, "observer 0 (generation 1) begins with the next frame: run one, then read it",          \
    muster_world *world = virtual_world();                                                                             \
    muster_observer_def def = muster_observer_def_default();                                                           \
    muster_observer_read(world, muster_observer_add(world, &def), &def);)                                              \
  X(garbage_loaded, "snapshot",                                                                                        \
    muster_load_def def = WITH(muster_load_def, it.bytes = "not a snapshot at all", it.count = 21);                    \
    muster_world_load(virtual_world(), &def);)                                                                         \
  X(record_to_nowhere, "write", muster_record_def def = muster_record_def_default();                                   \
    muster_record_begin(virtual_world(), &def);)                                                                       \
  X(herd_of_nobody, "member", muster_herd_type_def def = muster_herd_type_def_default();                               \
    muster_herd_type_register(virtual_world(), &def);)                                                                 \
  X(world_destroyed_twice, "it was destroyed already", muster_world *world = virtual_world();                          \
    muster_world_destroy(world); muster_world_destroy(world);)                                                         \
  X(pool_before_world, "world", muster_pool_def def = muster_pool_def_default();                                       \
    muster_pool *pool = muster_pool_create(&def); create_world(WITH(muster_world_def, it.pool = pool));                \
    muster_pool_destroy(pool);)                                                                                        \
  X(centimetres, "no agent is near any observer: the nearest is 1500 m away", muster_world *world = wolf_world();      \
    muster_observer_def observer = WITH(muster_observer_def, it.position.x = 500000);                                  \
    muster_agent_def def = WITH(muster_agent_def, it.type.index = 1); muster_observer_add(world, &observer);           \
    for (uint32_t i = 0; i < 20; i++) def.position.x = 501500 + 300.0 * i, muster_agent_spawn(world, &def);            \
    for (uint64_t i = 1; i < 1200; i++) muster_frame_run(world, &(muster_frame){i * FRAME_NS, 5000000});)

#define PROGRAM(NAME, SAYS, ...)                                                                                       \
  static void NAME(void) {                                                                                             \
    __VA_ARGS__                                                                                                        \
  }
PROGRAMS(PROGRAM)

#define ROW(NAME, SAYS, ...) {NAME, #NAME, SAYS},
static const struct {
  void (*program)(void);
  const char *name, *says;
} rows[] = {PROGRAMS(ROW)};

static void (*program)(void);

/* A hurried programmer reads the message when nothing happens. */
static void run_program(void) {
  program();
  fprintf(stderr, "%s\n", muster_last_error());
}

Test(hurried, each_mistake_in_c_has_its_sentence, .timeout = 120) {
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    program = rows[i].program;
    struct last_words words = last_words_of(run_program);
    cr_expect(strstr(words.text, rows[i].says), "%s: '%s' was not said, but: %s", rows[i].name, rows[i].says,
              words.text);
  }
}

static void plan_well(void) {
  plan_long(HERD, 1, 1);
  fprintf(stderr, "done");
}

Test(hurried, plans_without_a_mistake_are_told_of_none) {
  struct last_words words = last_words_of(plan_well);
  cr_expect(strncmp(words.text, "done", 4) == 0, "it said: %s", words.text);
}
