/* Unit tests of the atoms of pasture.c, in a world of virtual time. Any framework does; this is none.
 *
 *     cc pasture_test.c pasture.c $(pkg-config --cflags --libs muster) -lm
 *     ./a.out
 */
#include "pasture.h"

#include <math.h>
#include <muster/harness.h>
#include <muster/random.h>
#include <stdio.h>
#include <stdlib.h>

/* A test's world, with the types of the game. */
struct field {
  muster_harness test;
  struct pasture pasture;
};

#define expect(holds) expect_here(holds, #holds, __LINE__)
static void expect_here(bool holds, const char *what, int line) {
  if (holds) return;
  fprintf(stderr, "pasture_test.c:%d: not so: %s; %s\n", line, what, muster_last_error());
  exit(EXIT_FAILURE);
}

static void begin(struct field *field) {
  expect(muster_harness_begin(&field->test, NULL));
  expect(pasture_register(&field->pasture, field->test.world));
}

/* Each test ends with the question whether the atoms did anything that is a mistake in any game. */
static void end(struct field *field) {
  const char *problem = muster_harness_problem(&field->test);
  if (problem) fprintf(stderr, "%s\n", problem);
  expect(!problem);
  muster_harness_end(&field->test);
}

static muster_agent spawn(struct field *field, muster_type type, double x, double y) {
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  def.position = (muster_position){x, y, 0};
  muster_agent agent = muster_agent_spawn(field->test.world, &def);
  expect(!muster_agent_is_null(agent));
  return agent;
}

/* The most important test of an atom: how often it runs changes nothing. */
static void a_sheep_eats_as_much_by_ten_updates_as_by_one(void) {
  struct field field;
  begin(&field);
  muster_agent often = spawn(&field, field.pasture.sheep, 0, 0);
  for (int i = 0; i < 10; i++) expect(muster_harness_update(&field.test, often, 200000000) == MUSTER_OK);
  const struct sheep *own = muster_harness_state(&field.test, often);
  double eaten_kg = own->grass_kg;
  muster_agent seldom = spawn(&field, field.pasture.sheep, 0, 0);
  expect(muster_harness_update(&field.test, seldom, 2000000000) == MUSTER_OK);
  own = muster_harness_state(&field.test, seldom);
  expect(fabs(own->grass_kg - eaten_kg) < 1e-12);
  end(&field);
}

static void a_sheep_runs_from_a_wolf_and_does_not_graze(void) {
  struct field field;
  begin(&field);
  muster_agent sheep = spawn(&field, field.pasture.sheep, 10, 0);
  spawn(&field, field.pasture.wolves, 0, 0);
  expect(muster_harness_update(&field.test, sheep, 500000000) == MUSTER_OK);
  const struct sheep *own = muster_harness_state(&field.test, sheep);
  expect(own->afraid);
  expect(fabs(own->grass_kg) < 1e-12);
  expect(fabs(muster_harness_position(&field.test, sheep).x - 12) < 1e-3); /* 4 m/s for half a second */
  end(&field);
}

static void of_two_wolves_one_gets_the_sheep(void) {
  struct field field;
  begin(&field);
  muster_agent sheep = spawn(&field, field.pasture.sheep, 0, 0);
  muster_agent wolves[2] = {spawn(&field, field.pasture.wolves, 1, 0), spawn(&field, field.pasture.wolves, -1, 0)};
  expect(muster_harness_run(&field.test, 0) == MUSTER_OK); /* they come into being */
  expect(muster_agent_wake(field.test.world, wolves[0]) == MUSTER_OK);
  expect(muster_harness_update(&field.test, wolves[1], 100000000) == MUSTER_OK); /* both in one frame */
  const struct wolf *one = muster_harness_state(&field.test, wolves[0]);
  const struct wolf *other = muster_harness_state(&field.test, wolves[1]);
  expect(one->eaten + other->eaten == 1);
  expect(muster_harness_refusal(&field.test) != NULL); /* the second bite was refused, which is right */
  expect(muster_harness_run(&field.test, 100000000) == MUSTER_OK);
  expect(!muster_agent_exists(field.test.world, sheep));
  end(&field);
}

/* 500 sheep and 20 wolves. `user` is an array: each of both worlds has a pasture of its own. */
static bool make_crowd(muster_world *world, void *user) {
  struct pasture *pastures = user, *pasture = pastures[0].sheep.index ? &pastures[1] : &pastures[0];
  if (!pasture_register(pasture, world)) return false;
  for (uint32_t i = 0; i < 520; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = i < 20 ? pasture->wolves : pasture->sheep;
    def.position.x = 200 * (double)muster_random_share(muster_random_mix(2 * i));
    def.position.y = 200 * (double)muster_random_share(muster_random_mix(2 * i + 1));
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  }
  return true;
}

static void a_crowd_comes_out_alike_on_one_worker_and_on_four(void) {
  struct pasture pastures[2] = {0};
  expect(muster_harness_repeats(make_crowd, pastures, 4, 5000000000) == MUSTER_OK);
}

int main(void) {
  a_sheep_eats_as_much_by_ten_updates_as_by_one();
  a_sheep_runs_from_a_wolf_and_does_not_graze();
  of_two_wolves_one_gets_the_sheep();
  a_crowd_comes_out_alike_on_one_worker_and_on_four();
  puts("4 tests passed");
}
