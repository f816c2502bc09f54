#include "plan/calling.h"

#include "base/assert.h"

/* So much shorter must frames be before the other way stays: less may be chance. */
static const double shorter = 0.97;

static double calling_middle(const double *each_ns) {
  double sorted[CALLING_FRAMES];
  for (uint32_t i = 0; i < CALLING_FRAMES; i++) {
    uint32_t at = i;
    for (; at > 0 && sorted[at - 1] > each_ns[i]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = each_ns[i];
  }
  return sorted[CALLING_FRAMES / 2];
}

static void end_trial(struct calling *state) {
  bool better = calling_middle(state->tried_ns) < calling_middle(state->own_ns) * shorter;
  state->timid ^= better;
  state->trying = false;
  state->frames = 0;
  state->pause = better ? CALLING_PAUSE_LEAST : 2 * state->pause;
  if (state->pause > CALLING_PAUSE_MOST) state->pause = CALLING_PAUSE_MOST;
}

void calling_note(struct calling *state, uint64_t work_ns, uint32_t others, uint64_t frame_ns, uint32_t updates) {
  ASSERT(state->frames <= CALLING_PAUSE_MOST);
  if (work_ns < CALLING_RUN_NS || updates == 0) return; /* nobody is called for it either way */
  if (work_ns >= (uint64_t)CALLING_RUN_NS * CALLING_TIMID * others) {
    *state = (struct calling){0}; /* all are called for its updates either way, so its stages need not do without */
    return;
  }
  double each_ns = (double)frame_ns / updates;
  if (state->pause == 0) state->pause = CALLING_PAUSE_LEAST;
  if (state->trying) {
    /* The first frame is left out: its agents lie in the caches as the other way put them there. */
    if (state->frames > 0) state->tried_ns[state->frames - 1] = each_ns;
    if (++state->frames > CALLING_FRAMES) end_trial(state);
    return;
  }
  state->own_ns[state->frames % CALLING_FRAMES] = each_ns;
  if (++state->frames < state->pause) return;
  state->trying = true;
  state->frames = 0;
}
