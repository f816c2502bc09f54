/* ctl_step.c - frames of a world that is paused: waits until they are run, so that a command after it, such as resume,
 * does not take them away. */
#include "complaint.h"
#include "ctl.h"

#include "base/clock.h"

#include <jansson.h>
#include <time.h>

static const uint64_t look_ns = 10000000, patience_ns = 10000000000, frames_of_patience = 30;

typedef struct step_state {
  int paused, failed;
  json_int_t left, frames, period_ns;
} step_state;

static bool look(const ctl_options *options, const char *path, step_state *state) {
  json_t *world;
  if (!ctl_ask(options, "GET", path, NULL, &world)) return false;
  *state = (step_state){0};
  json_unpack(world, "{s:b, s:b, s:I, s:I, s:I}", "paused", &state->paused, "failed", &state->failed, "steps_left",
              &state->left, "frames", &state->frames, "period_ns", &state->period_ns);
  json_decref(world);
  return true;
}

/* False after a complaint, when nothing more can be waited for. */
static bool may_wait(const step_state *state, uint64_t waited_ns) {
  uint64_t most_ns = frames_of_patience * (uint64_t)state->period_ns;
  if (state->failed) return complain_failure("the world's frame failed, and it stands still; its log says why"), false;
  if (!state->paused) return complain_failure("the world was told to go on before these frames were done"), false;
  if (waited_ns < (most_ns > patience_ns ? most_ns : patience_ns)) return true;
  complain_failure(
      "the world has run no frame for %lu s; %lld are left, and `muster ctl world` tells when they are done",
      waited_ns / 1000000000u, state->left);
  return false;
}

/* Looks often where frames are short, and as often as there are frames where they are long. */
static bool await(const ctl_options *options, const char *path) {
  json_int_t frames = -1;
  uint64_t since_ns = clock_system();
  step_state state;
  while (look(options, path, &state)) {
    uint64_t now_ns = clock_system();
    if (state.paused && !state.failed && state.left == 0) return true;
    if (state.frames != frames) since_ns = now_ns;
    frames = state.frames;
    if (!may_wait(&state, now_ns - since_ns)) return false;
    uint64_t pause_ns = (uint64_t)state.period_ns > look_ns ? (uint64_t)state.period_ns : look_ns;
    if (pause_ns > 20 * look_ns) pause_ns = 20 * look_ns;
    nanosleep(&(struct timespec){0, (long)pause_ns}, NULL);
  }
  return false;
}

bool ctl_step(const ctl_options *options, const char *path, uint64_t frames) {
  char step[CTL_PATH_BYTES];
  json_t *answer;
  snprintf(step, sizeof step, "%s/step", path);
  if (!ctl_ask(options, "POST", step, json_pack("{s:I}", "frames", (json_int_t)frames), &answer)) return false;
  json_decref(answer);
  return await(options, path);
}
