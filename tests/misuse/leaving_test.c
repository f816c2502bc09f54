/* Callbacks that are left in another way than by returning. */
#include "misuse/misuse.h"
#include "misuse/throwing.h"
#include "support/last_words.h"

#include <setjmp.h>
#include <unwind.h>

static jmp_buf outside;
static void (*leave)(void);

/* What g++ throws, as far as the unwinder sees. */
static void throw_plainly(void) {
  static struct _Unwind_Exception exception = {.exception_class = 0x474e5543432b2b00}; /* "GNUCC++" */
  _Unwind_RaiseException(&exception);
}

static void end_thread(void) {
  pthread_exit(NULL);
}

static void cancel_thread(void) {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

static void jump(void) {
  longjmp(outside, 1);
}

static muster_atom_result leave_atom(muster_update *update) {
  (void)update;
  leave();
  return MUSTER_ATOM_NEXT;
}

static void leave_touch(muster_update *update) {
  (void)update;
  leave();
}

static void leave_job(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  leave();
}

static void leave_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)begin, (void)end, (void)worker;
  leave();
}

static const muster_atom behaviours[] = {{.run = nothing}, {.run = leave_atom}};
static const muster_atom actions[] = {{.run = nothing}, {.run = leave_atom, .role = MUSTER_ROLE_ACTION}};

static little_world guarded(const muster_atom *atoms, bool touches) {
  little_world little =
      world_of(1, WITH(muster_type_def, it.name = "guard", it.atoms = atoms, it.atom_count = 2,
                       it.period_ns = it.period_max_ns = FRAME_NS, it.on_spawned = touches ? leave_touch : NULL));
  spawn_at(&little, 0);
  return little;
}

static void run_guarded(const muster_atom *atoms, bool touches) {
  little_world little = guarded(atoms, touches);
  run_frames(&little, 20);
}

static void leave_behaviour(void) {
  run_guarded(behaviours, false);
}

static void leave_action(void) {
  run_guarded(actions, false);
}

static void leave_on_spawned(void) {
  run_guarded(actions, true);
}

static void leave_submitted_job(void) {
  run_job(pool_of(1), leave_job, NULL);
}

static void leave_range(void) {
  muster_parallel_for(pool_of(muster_pool_def_default().workers), MUSTER_URGENCY_NORMAL, 100, 1, leave_piece, NULL);
}

/* Each of these aborts, and names what was left, and by what. */
static void expect_left(const char *by) {
  assert_aborts(leave_behaviour, formed("atom 1 of agent 0 (generation 1) of type 'guard' was left by %s", by));
  assert_aborts(leave_action, formed("action atom 1 of agent 0 (generation 1) of type 'guard' was left by %s", by));
  assert_aborts(leave_on_spawned, formed("on_spawned of agent 0 (generation 1) of type 'guard' was left by %s", by));
}

Test(leaving, an_exception_out_of_an_atom_aborts_and_names_agent_type_and_atom) {
  leave = throw_plainly;
  expect_left("a C++ exception");
}

Test(leaving, an_end_of_the_thread_in_an_atom_aborts_and_names_agent_type_and_atom) {
  leave = end_thread;
  expect_left("pthread_exit()");
  leave = cancel_thread;
  assert_aborts(leave_behaviour, "atom 1 of agent 0 (generation 1) of type 'guard' was left by pthread_exit() or a");
}

Test(leaving, a_job_or_a_piece_that_is_left_aborts) {
  leave = throw_plainly;
  assert_aborts(leave_submitted_job, "a job, a piece of a range or another callback of a pool was left by a C++ exc");
  assert_aborts(leave_range, "a job, a piece of a range or another callback of a pool was left by a C++ exception");
  leave = end_thread;
  assert_aborts(leave_submitted_job, "a job, a piece of a range or another callback of a pool was left by pthread");
}

/* ----------------------------------------------------------------------------------------------- another worker */

/* Leaves a job of the frame's priority: a worker takes it, whatever a frame would have made of its agents. */
static void leave_on_worker(void) {
  muster_group group;
  muster_pool *pool = pool_of(2);
  muster_group_init(&group, pool);
  muster_job_submit(pool, MUSTER_URGENCY_FRAME, leave_job, NULL, &group);
  muster_group_wait_asleep(&group);
}

Test(leaving, an_exception_that_nobody_would_catch_on_a_worker_is_told_too) {
  leave = throw_plainly;
  assert_aborts(leave_on_worker, "was left by a C++ exception");
  leave = end_thread;
  assert_aborts(leave_on_worker, "was left by pthread_exit()");
}

/* ------------------------------------------------------------------------------------------------------- longjmp */

/* A host that goes on with its loop, whatever happened in a frame. */
static void jump_out_of(const muster_atom *atoms, bool touches) {
  static little_world little;
  static volatile uint32_t frames;
  little = guarded(atoms, touches);
  while (frames++ < 20) {
    if (setjmp(outside)) continue;
    muster_frame_run(little.world, &(muster_frame){frames * (uint64_t)FRAME_NS, 5000000});
  }
}

static void jump_out_of_behaviour(void) {
  jump_out_of(behaviours, false);
}

static void jump_out_of_action(void) {
  jump_out_of(actions, false);
}

static void jump_out_of_on_spawned(void) {
  jump_out_of(actions, true);
}

Test(leaving, the_frame_after_a_longjmp_aborts_and_names_what_was_left) {
  leave = jump;
  assert_aborts(jump_out_of_behaviour, "the last frame of this world never ended: atom 1 of agent 0 (generation 1) of "
                                       "type 'guard' was left by longjmp()");
  assert_aborts(jump_out_of_action, "action atom 1 of agent 0 (generation 1) of type 'guard' was left by longjmp()");
  assert_aborts(jump_out_of_on_spawned, "on_spawned of agent 0 (generation 1) of type 'guard' was left by longjmp()");
}

static little_world *jump_out(void) {
  static little_world little;
  little = guarded(behaviours, false);
  if (!setjmp(outside)) run_frames(&little, 20);
  return &little;
}

static void jump_and_destroy(void) {
  muster_world_destroy(jump_out()->world);
}

static void jump_and_destroy_pool(void) {
  muster_pool_destroy(jump_out()->pool);
}

Test(leaving, a_world_and_a_pool_whose_frame_was_left_cannot_be_destroyed) {
  leave = jump;
  assert_aborts(jump_and_destroy, "muster_world_destroy: inside a frame: atom 1 of agent 0");
  assert_aborts(jump_and_destroy_pool, "muster_pool_destroy: inside a job, a piece of a range or an update");
}

static muster_result frame_result;

static muster_atom_result run_frame_inside(muster_update *update) {
  frame_result = muster_frame_run(update->world, &(muster_frame){update->now_ns + FRAME_NS, 5000000});
  return MUSTER_ATOM_NEXT;
}

Test(leaving, a_frame_inside_a_frame_is_an_error_and_not_taken_for_a_frame_that_was_left) {
  static const muster_atom atoms[] = {{.run = nothing}, {.run = run_frame_inside}};
  SCOPED_WORLD little = guarded(atoms, false);
  frame_result = MUSTER_OK;
  run_frames(&little, 20);
  cr_assert_eq(frame_result, MUSTER_E_STATE);
  expect_error("atom 1 of agent 0 (generation 1) of type 'guard' must return first");
}

/* ------------------------------------------------------------------------------------------------------------ C++ */

static void throw_and_catch(void) {
  catching_run(leave_behaviour);
}

static void catch_inside(void) {
  catching_run(throw_something);
}

Test(leaving, cxx_exceptions_that_stay_inside_an_atom_are_its_own_affair) {
  if (!throwing_is_built()) return;
  leave = catch_inside;
  leave_behaviour();
}

Test(leaving, a_cxx_exception_aborts_also_when_the_host_would_catch_it) {
  if (!throwing_is_built()) return;
  leave = throw_something;
  assert_aborts(throw_and_catch, "atom 1 of agent 0 (generation 1) of type 'guard' was left by a C++ exception");
  assert_aborts(leave_behaviour, "atom 1 of agent 0 (generation 1) of type 'guard' was left by a C++ exception");
}
