/* Programs of hurried C programmers, each with one mistake: every one ends in a sentence that says what is wrong, in
 * the log, in muster_last_error(), or in the last line of a process that ends. None is silent, none crashes without
 * words. */
#include "support/last_words.h"
#include "support/little_world.h"

#include <muster/bulk.h>
#include <muster/explain.h>
#include <muster/herd.h>
#include <muster/planner.h>
#include <muster/record.h>
#include <muster/replicate.h>
#include <muster/sets.h>
#include <muster/snapshot.h>
#include <muster/tune.h>

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------ what they use
 */

static muster_atom_result rest(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static const muster_atom resting = {.run = rest, .model_ns = 1000};

static muster_world *new_world(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  return muster_world_create(&def);
}

static muster_type_def wolves(const muster_atom *atom) {
  muster_type_def def = muster_type_def_default();
  def.name = "wolf";
  def.atoms = atom;
  def.atom_count = 1;
  def.period_ns = FRAME_NS;
  return def;
}

static muster_agent spawn_wolf(muster_world *world, const muster_atom *atom) {
  muster_type_def type = wolves(atom);
  muster_agent_def def = muster_agent_def_default();
  def.type = muster_type_register(world, &type);
  return muster_agent_spawn(world, &def);
}

static void run_world(muster_world *world) {
  for (uint64_t i = 1; i <= 6; i++) muster_frame_run(world, &(muster_frame){i * FRAME_NS, 5000000});
}

/* A world of two wolves that run an atom, some frames long. */
static void live(muster_atom_result (*run)(muster_update *)) {
  const muster_atom atom = {.run = run, .model_ns = 1000};
  muster_world *world = new_world();
  spawn_wolf(world, &resting);
  spawn_wolf(world, &atom);
  run_world(world);
}

static bool take_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  (void)count;
  (void)user;
  return true;
}

enum { HERD = 8 };

static muster_world *new_plans(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.planner_workers = 1;
  muster_world *world = muster_world_create(&def);
  muster_type_def type = wolves(NULL);
  type.atom_count = 0;
  muster_agent_def agent = muster_agent_def_default();
  agent.type = muster_type_register(world, &type);
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

/* ---------------------------------------------------------------------------------------------------------- programs
 */

static muster_atom_result return_garbage(muster_update *update) {
  (void)update;
  return (muster_atom_result)32767;
}

static muster_atom_result bear(muster_update *update) {
  muster_agent_def def = muster_agent_def_default();
  def.type = update->type;
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
  muster_save_def def = muster_save_def_default();
  def.write = take_bytes;
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

#define PROGRAM(NAME, ...)                                                                                             \
  static void NAME(void) {                                                                                             \
    __VA_ARGS__                                                                                                        \
  }

PROGRAM(garbage, live(return_garbage);)
PROGRAM(births, live(bear);)
PROGRAM(births_of_nothing, live(bear_nothing);)
PROGRAM(bites, live(bite);)
PROGRAM(far_looks, live(look_far);)
PROGRAM(looks_for_nobody, live(look_for_nobody);)
PROGRAM(shouts, live(shout);)
PROGRAM(leaps, live(leap);)
PROGRAM(reads_another, live(read_another);)
PROGRAM(saves_in_atom, live(save_here);)
PROGRAM(registers_in_atom, live(register_here);)
PROGRAM(destroys_in_atom, live(destroy_here);)
PROGRAM(keeps_update, live(keep); muster_update_move(kept, (muster_position){0});)
PROGRAM(empty_world_def, muster_world_def def = {0}; muster_world_create(&def);)
PROGRAM(empty_type_def, muster_type_def def = {0}; muster_type_register(new_world(), &def);)
PROGRAM(empty_agent_def, muster_agent_def def = {0}; muster_agent_spawn(new_world(), &def);)
PROGRAM(no_atoms, muster_type_def def = wolves(NULL); muster_type_register(new_world(), &def);)
PROGRAM(no_run, const muster_atom none = {0}; muster_type_def def = wolves(&none);
        muster_type_register(new_world(), &def);)
PROGRAM(atoms_uncounted, muster_type_def def = wolves(&resting); def.atom_count = 0;
        muster_type_register(new_world(), &def);)
PROGRAM(type_of_another_world, muster_agent_def def = muster_agent_def_default(); def.type.index = 3;
        muster_agent_spawn(new_world(), &def);)
PROGRAM(no_type, muster_agent_def def = muster_agent_def_default(); muster_agent_spawn(new_world(), &def);)
PROGRAM(misspelt_type, muster_world *world = new_world(); spawn_wolf(world, &resting);
        muster_type_find(world, "wolve");)
PROGRAM(no_frame, muster_frame_run(new_world(), NULL);)
PROGRAM(budget_in_ms, muster_frame_run(new_world(), &(muster_frame){FRAME_NS, 16});)
PROGRAM(time_in_ms, muster_world *world = new_world(); spawn_wolf(world, &resting);
        for (uint64_t now_ms = 0; now_ms < 10000; now_ms += 16)
            muster_frame_run(world, &(muster_frame){now_ms, 5000000});)
PROGRAM(time_goes_back, muster_world *world = new_world(); run_world(world);
        muster_frame_run(world, &(muster_frame){1, 5000000});)
PROGRAM(time_of_centuries, muster_frame_run(new_world(), &(muster_frame){UINT64_MAX, 5000000});)
PROGRAM(period_in_ms, muster_type_def def = wolves(&resting); def.period_ns = 100;
        muster_type_register(new_world(), &def);)
PROGRAM(periods_reversed, muster_type_def def = wolves(&resting); def.period_ns = 2000000000;
        def.period_max_ns = 1000000000; muster_type_register(new_world(), &def);)
PROGRAM(dead_agent, muster_world *world = new_world(); muster_agent agent = spawn_wolf(world, &resting);
        muster_agent_info info = muster_agent_info_default(); muster_agent_remove(world, agent);
        muster_agent_read(world, agent, &info);)
PROGRAM(removed_twice, muster_world *world = new_world(); muster_agent agent = spawn_wolf(world, &resting);
        muster_agent_remove(world, agent); muster_agent_remove(world, agent);)
PROGRAM(null_agent, muster_agent_wake(new_world(), (muster_agent){0});)
PROGRAM(far_before_near, muster_observer_def def = muster_observer_def_default(); def.far_m = 10;
        muster_observer_add(new_world(), &def);)
PROGRAM(observer_at_infinity, muster_observer_def def = muster_observer_def_default(); def.position.x = INFINITY;
        muster_observer_add(new_world(), &def);)
PROGRAM(partition_too_large, muster_world *world = new_world(); muster_agent_def def = muster_agent_def_default();
        spawn_wolf(world, &resting); def.type.index = 1; def.partition = 70000; muster_agent_spawn(world, &def);)
PROGRAM(wake_in_centuries, muster_world *world = new_world();
        muster_agent_wake_at(world, spawn_wolf(world, &resting), UINT64_MAX - 1);)
PROGRAM(large_message, char bytes[300] = ""; muster_world *world = new_world();
        muster_agent_send(world, spawn_wolf(world, &resting), bytes, sizeof bytes);)
PROGRAM(no_boxes, muster_world *world = new_world(); muster_agent_send(world, spawn_wolf(world, &resting), "hi", 3);)
PROGRAM(visibility_of_two, muster_world *world = new_world();
        muster_agent_tuning tuning = muster_agent_tuning_default(); tuning.visibility = 2;
        muster_agent_tune(world, spawn_wolf(world, &resting), &tuning);)
PROGRAM(factor_of_two, muster_world *world = new_world(); muster_agent agent = spawn_wolf(world, &resting);
        const float two = 2; run_world(world); muster_agents_set_factor(world, MUSTER_FACTOR_BULK, &agent, &two, 1);)
PROGRAM(many_to_nowhere, muster_world *world = new_world(); muster_agent agent = spawn_wolf(world, &resting);
        const muster_position place = {0, -2e9, 0}; run_world(world); muster_agents_move(world, &agent, &place, 1);)
PROGRAM(many_that_are_gone, muster_world *world = new_world(); muster_agent agent = spawn_wolf(world, &resting);
        const muster_position place = {0}; muster_agent_remove(world, agent); run_world(world);
        muster_agents_move(world, &agent, &place, 1);)
PROGRAM(observers_that_are_gone, const muster_observer gone = muster_observer_make(3, 1);
        const muster_position place = {0}; muster_observers_move(new_world(), &gone, &place, 1);)
PROGRAM(no_agents, muster_world_def def = muster_world_def_default(); def.limits.agents_max = 0;
        muster_world_create(&def);)
PROGRAM(too_many_workers, muster_pool_def def = muster_pool_def_default(); def.workers = 1000;
        muster_pool_create(&def);)
PROGRAM(no_room_for_agents, muster_nearby_query query = muster_nearby_query_default();
        muster_agents_nearby(new_world(), &query, NULL, 8, NULL);)
PROGRAM(changes_not_kept, uint64_t cursor = 0; muster_change changes[2]; uint32_t count;
        muster_frame_changes(new_world(), MUSTER_CHANGE_ALL, &cursor, changes, 2, &count);)
PROGRAM(company_without_factors, muster_world *world = new_world();
        muster_agent_link(world, spawn_wolf(world, &resting), spawn_wolf(world, &resting));)
PROGRAM(set_of_none, muster_world *world = new_world(); muster_set_tuning tuning = muster_set_tuning_default();
        spawn_wolf(world, &resting); muster_set_tune(world, (muster_type){1}, 0, &tuning);)
PROGRAM(plan_of_no_planner, muster_plan_entry entries[4]; muster_plan_summary summary = muster_plan_summary_default();
        muster_plan(new_world(), &(muster_frame){FRAME_NS, 5000000}, entries, 4, &summary);)
PROGRAM(frame_of_planner, muster_world_def def = muster_world_def_default(); def.planner_workers = 1;
        muster_frame_run(muster_world_create(&def), &(muster_frame){FRAME_NS, 5000000});)
PROGRAM(plans_unreported, muster_world *world = new_plans(); muster_plan_result results[HERD];
        plan_wolves(world, 1, HERD, results); plan_wolves(world, 2, HERD, results);)
PROGRAM(reported_twice, muster_world *world = new_plans(); muster_plan_result results[HERD];
        plan_wolves(world, 1, HERD, results); muster_plan_report(world, NULL, 0); muster_plan_report(world, NULL, 0);)
PROGRAM(moves_untold, plan_long(HERD, UINT64_MAX, HERD);)
PROGRAM(room_for_one, plan_long(1, 0, HERD);)
PROGRAM(nothing_reported, plan_long(HERD, 0, 0);)
PROGRAM(negative_period, muster_type_def def = wolves(&resting); def.period_ns = (uint64_t)-1;
        muster_type_register(new_world(), &def);)
PROGRAM(negative_agents, muster_world_def def = muster_world_def_default(); def.limits.agents_max = (uint32_t)-2;
        muster_world_create(&def);)
PROGRAM(observer_before_its_frame, muster_world *world = new_world();
        muster_observer_def def = muster_observer_def_default();
        muster_observer_read(world, muster_observer_add(world, &def), &def);)
PROGRAM(garbage_loaded, muster_load_def def = muster_load_def_default(); def.bytes = "not a snapshot at all";
        def.count = 21; muster_world_load(new_world(), &def);)
PROGRAM(record_to_nowhere, muster_record_def def = muster_record_def_default(); muster_record_begin(new_world(), &def);)
PROGRAM(herd_of_nobody, muster_herd_type_def def = muster_herd_type_def_default();
        muster_herd_type_register(new_world(), &def);)
PROGRAM(world_destroyed_twice, muster_world *world = new_world(); muster_world_destroy(world);
        muster_world_destroy(world);)
PROGRAM(pool_before_world, muster_pool_def pool = muster_pool_def_default();
        muster_world_def def = muster_world_def_default(); def.pool = muster_pool_create(&pool);
        muster_world_create(&def); muster_pool_destroy(def.pool);)
PROGRAM(centimetres, muster_world *world = new_world(); muster_observer_def observer = muster_observer_def_default();
        muster_agent_def def = muster_agent_def_default(); spawn_wolf(world, &resting); def.type.index = 1;
        observer.position.x = 500000; muster_observer_add(world, &observer);
        for (uint32_t i = 0; i < 20; i++) def.position.x = 501500 + 300.0 * i, muster_agent_spawn(world, &def);
        for (uint64_t i = 1; i < 1200; i++) muster_frame_run(world, &(muster_frame){i * FRAME_NS, 5000000});)

static const struct {
  void (*program)(void);
  const char *name, *says;
} rows[] = {
#define ROW(PROGRAM_OF, SAYS)                                                                                          \
  { PROGRAM_OF, #PROGRAM_OF, SAYS }
    ROW(garbage, "atoms returned what is no muster_atom_result"),
    ROW(births, "an update of type 'wolf' was refused: type 'wolf' may spawn 0 per update (spawns_max)"),
    ROW(births_of_nothing, "an update of type 'wolf' was refused: agent: type 0 is not registered"),
    ROW(bites, "an update of type 'wolf' was refused: state: in action atoms only"),
    ROW(far_looks, "an update of type 'wolf' was refused: nearby: radius_m"),
    ROW(looks_for_nobody, "an update of type 'wolf' was refused: type 9 is none of the 2 that are registered"),
    ROW(shouts,
        "an update of type 'wolf' was refused: message: type 'wolf' has no boxes: set its messages.waiting_max"),
    ROW(leaps, "an update of type 'wolf' was refused: position ("),
    ROW(reads_another, "an update of type 'wolf' was refused: published state of type 'wolf': it has none"),
    ROW(saves_in_atom, "not inside a frame: atom 0 of agent 1 (generation 1) of type 'wolf'"),
    ROW(registers_in_atom, "type: not inside a frame: atom 0 of agent 1 (generation 1) of type 'wolf'"),
    ROW(destroys_in_atom, "muster_world_destroy: inside a frame: atom 0 of agent 1"),
    ROW(keeps_update, "this update is not under way on this thread"),
    ROW(empty_world_def, "muster_world_def_default()"),
    ROW(empty_type_def, "muster_type_def_default()"),
    ROW(empty_agent_def, "muster_agent_def_default()"),
    ROW(no_atoms, "type 'wolf'"),
    ROW(no_run, "type 'wolf'"),
    ROW(atoms_uncounted, "type 'wolf'"),
    ROW(type_of_another_world, "agent: type 3 is not registered"),
    ROW(no_type, "agent: type 0 is not registered"),
    ROW(misspelt_type, "type find: no type has the name 'wolve'"),
    ROW(no_frame, "frame: the frame must be given"),
    ROW(budget_in_ms, "budget_ns 16 must be 10 us .. 10 s"),
    ROW(time_in_ms, "simulation time hardly moves"),
    ROW(time_goes_back, "sim_now_ns 1 is before the last frame's"),
    ROW(time_of_centuries, "is beyond 146 years"),
    ROW(period_in_ms, "period_ns 100 must be"),
    ROW(periods_reversed, "period_max_ns"),
    ROW(dead_agent, "agent 0 (generation 1) is gone"),
    ROW(removed_twice, "agent 0 (generation 1) is gone"),
    ROW(null_agent, "agent 0 (generation 0) is gone"),
    ROW(far_before_near, "observer: 0 <= near_m (25) < far_m (10)"),
    ROW(observer_at_infinity, "position (inf, 0, 0) must be finite"),
    ROW(partition_too_large, "partition 70000 must be"),
    ROW(wake_in_centuries, "is beyond 146 years"),
    ROW(large_message, "message: size 300 must be at most 256"),
    ROW(no_boxes, "message: no type of this world has boxes: set messages.waiting_max"),
    ROW(visibility_of_two, "visibility 2 must be"),
    ROW(factor_of_two, "factors of agents: values[0] 2 must be 0..1"),
    ROW(many_to_nowhere, "positions of agents: positions[0] (0, -2000000000, 0) must be finite"),
    ROW(many_that_are_gone, "agent 0 (generation 1) is gone"),
    ROW(observers_that_are_gone, "observer 3"),
    ROW(no_agents, "agents_max 0 must be"),
    ROW(too_many_workers, "workers 1000"),
    ROW(no_room_for_agents, "nearby: the array must be given"),
    ROW(changes_not_kept, "changes: this world keeps none; set changes_frames"),
    ROW(company_without_factors, "MUSTER_IMPORTANCE_FACTORS"),
    ROW(set_of_none, "type 'wolf' has no sets"),
    ROW(plan_of_no_planner, "plan: this world was created without planner_workers: use muster_frame_run"),
    ROW(frame_of_planner, "is run by muster_plan and muster_plan_report"),
    ROW(plans_unreported, "plan: the last plan was not reported yet: call muster_plan_report() before"),
    ROW(reported_twice, "report: there is no plan to report about: call muster_plan() before"),
    ROW(moves_untold, "and none has `moved`: set it to 1, or agents stay where they are"),
    ROW(nothing_reported, "report: nothing ran of the last 128 plans, though they had entries: report those that ran"),
    ROW(room_for_one, "plan: in each of the last 128 plans agents waited"),
    ROW(negative_period, "period_ns 18446744073709551615 (-1, taken for an unsigned number) must be"),
    ROW(negative_agents, "agents_max 4294967294 (-2, taken for an unsigned number) must be"),
    ROW(observer_before_its_frame, "observer 0 (generation 1) begins with the next frame: run one, then read it"),
    ROW(garbage_loaded, "snapshot"),
    ROW(record_to_nowhere, "write"),
    ROW(herd_of_nobody, "member"),
    ROW(world_destroyed_twice, "it was destroyed already"),
    ROW(pool_before_world, "world"),
    ROW(centimetres, "no agent is near any observer: the nearest is 1500 m away"),
};

static void (*program)(void);

/* A hurried programmer reads the message when nothing happens. */
static void run_program(void) {
  program();
  fprintf(stderr, "%s\n", muster_last_error());
}

Test(hurried, each_mistake_in_c_has_its_sentence, .timeout = 120) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
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
