/* An update that is used when its atom has returned, or on another thread than the one that runs it. */
#include "misuse/misuse.h"

static muster_agent self; /* some agent that lives */

#define CALLS(X)                                                                                                       \
  X(muster_update_move, muster_update_move(u, position) == MUSTER_E_STATE)                                             \
  X(muster_update_spawn, muster_agent_is_null(muster_update_spawn(u, &spawn)))                                         \
  X(muster_update_remove, muster_update_remove(u, self) == MUSTER_E_STATE)                                             \
  X(muster_update_wake, muster_update_wake(u, self) == MUSTER_E_STATE)                                                 \
  X(muster_update_wake_at, muster_update_wake_at(u, self, 1) == MUSTER_E_STATE)                                        \
  X(muster_update_react_by, muster_update_react_by(u, 1) == MUSTER_E_STATE)                                            \
  X(muster_update_link, muster_update_link(u, self) == MUSTER_E_STATE)                                                 \
  X(muster_update_unlink, muster_update_unlink(u, self) == MUSTER_E_STATE)                                             \
  X(muster_update_send, muster_update_send(u, self, NULL, 0) == MUSTER_E_STATE)                                        \
  X(muster_update_messages, !muster_update_messages(u, NULL, 0))                                                       \
  X(muster_update_messages_lost, !muster_update_messages_lost(u))                                                      \
  X(muster_update_published_of, !muster_update_published_of(u, self))                                                  \
  X(muster_update_position_of, !muster_update_position_of(u, self, &position))                                         \
  X(muster_update_published_as, !muster_update_published_as(u, self, 4))                                               \
  X(muster_update_state_as, !muster_update_state_as(u, self, 4))                                                       \
  X(muster_update_state_of, !muster_update_state_of(u, self))                                                          \
  X(muster_update_nearby, !muster_update_nearby(u, 100.0f, (muster_type){0}, neighbours, 4))                           \
  X(muster_update_random, muster_update_random(u) == 0)                                                                \
  X(muster_update_random_share, !(muster_update_random_share(u) > 0.0f))                                               \
  X(muster_update_progress, (muster_update_progress(u, 0.5f), true))                                                   \
  X(muster_update_region, muster_update_region(u) == 0)                                                                \
  X(muster_update_should_yield, muster_update_should_yield(u))                                                         \
  X(muster_update_flock, !muster_update_flock(u, &flock))                                                              \
  X(muster_update_herd_wake, muster_update_herd_wake(u, muster_herd_make(1, 1), 0) == MUSTER_E_STATE)                  \
  X(muster_update_herd_remove, muster_update_herd_remove(u, muster_herd_make(1, 1)) == MUSTER_E_STATE)                 \
  X(muster_update_herds_nearby, !muster_update_herds_nearby(u, 100.0f, near, 4))                                       \
  X(muster_update_herd_take, !muster_update_herd_take(u, muster_herd_make(1, 1), 1, NULL))                             \
  X(muster_update_herd_push, muster_update_herd_push(u, muster_herd_make(1, 1), 0.0f, 0.0f) == MUSTER_E_STATE)

#define ASK(FUNCTION, ...)                                                                                             \
  muster_module_fail(MUSTER_OK, "-");                                                                                  \
  if (!let_pass && !((__VA_ARGS__) && strstr(muster_last_error(), "not under way"))) let_pass = #FUNCTION;

/* The first function that does not refuse the update; null when all do. */
static const char *use(muster_update *u) {
  const char *let_pass = NULL;
  muster_position position = {1, 2, 3};
  muster_agent_def spawn = muster_agent_def_default();
  muster_neighbour neighbours[4];
  muster_herd_near near[4];
  muster_flock flock;
  CALLS(ASK)
  return let_pass;
}

static muster_update *kept[MUSTER_LEVELS]; /* by role, and of on_spawned */

static muster_atom_result keep_behaviour(muster_update *update) {
  kept[0] = update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result keep_action(muster_update *update) {
  kept[1] = update;
  return MUSTER_ATOM_NEXT;
}

static void keep_touch(muster_update *update) {
  kept[2] = update;
}

Test(update, one_that_was_kept_beyond_its_callback_is_refused_between_frames) {
  static const muster_atom atoms[] = {{.run = keep_behaviour}, {.run = keep_action, .role = MUSTER_ROLE_ACTION}};
  muster_type_def type = actors_def(atoms, MUSTER_ACT_SERIAL, NULL);
  type.on_spawned = keep_touch;
  SCOPED_WORLD little = world_of(1, type);
  self = spawn_at(&little, 5);
  spawn_at(&little, 6);
  run_frames(&little, 3);
  for (uint32_t i = 0; i < 3; i++) {
    cr_assert_not_null(kept[i]);
    const char *let_pass = use(kept[i]);
    cr_assert_null(let_pass, "%s took update %u", let_pass, i);
  }
  cr_assert(muster_agent_exists(little.world, self));
  cr_assert_float_eq(info_of(&little, self).position.x, 5, 1e-3);
}

static const char *passed_beside = "nobody asked";

static void *use_on_thread(void *update) {
  passed_beside = use(update);
  return NULL;
}

static muster_atom_result give_away(muster_update *update) {
  pthread_t thread;
  if (!pthread_create(&thread, NULL, use_on_thread, update)) pthread_join(thread, NULL);
  /* It is still its own. */
  if (muster_update_move(update, (muster_position){7, 0, 0})) passed_beside = "the atom itself was refused";
  return MUSTER_ATOM_NEXT;
}

Test(update, one_that_another_thread_uses_while_its_atom_runs_is_refused) {
  static const muster_atom atoms[] = {{.run = give_away}, {.run = nothing, .role = MUSTER_ROLE_ACTION}};
  SCOPED_WORLD little = world_of(1, actors_def(atoms, MUSTER_ACT_SERIAL, NULL));
  self = spawn_at(&little, 5);
  run_frames(&little, 3);
  cr_assert_null(passed_beside, "%s", passed_beside);
  cr_assert_float_eq(info_of(&little, self).position.x, 7, 1e-3);
}
