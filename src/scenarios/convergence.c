#include "scenarios/convergence.h"

#include <stdlib.h>

bool convergence_create(struct convergence *convergence, uint32_t capacity) {
  *convergence = (struct convergence){.capacity = capacity, .members = calloc(capacity, sizeof *convergence->members)};
  return convergence->members != NULL;
}

void convergence_destroy(struct convergence *convergence) {
  free(convergence->members);
}

void convergence_begin(struct convergence *convergence, uint64_t since_ns) {
  convergence->count = convergence->left = convergence->frames = 0;
  convergence->frames_to_nine_tenths = convergence->frames_to_last = 0;
  convergence->since_ns = since_ns;
}

void convergence_watch(struct convergence *convergence, muster_agent agent, uint64_t wanted_ns) {
  convergence->members[convergence->count++] = (convergence_member){agent, wanted_ns};
  convergence->left = convergence->count;
}

static bool has_settled(const struct convergence *convergence, const convergence_member *member,
                        const muster_world *world) {
  muster_agent_info info = muster_default_agent_info();
  if (muster_agent_read(world, member->agent, &info) != MUSTER_OK) return true; /* gone */
  const convergence_mark *mark = info.state;
  return mark->updated_ns > convergence->since_ns && mark->elapsed_ns <= member->wanted_ns;
}

void convergence_look(struct convergence *convergence, const muster_world *world) {
  if (convergence->left == 0) return;
  convergence->frames++;
  for (uint32_t i = 0; i < convergence->left;) {
    if (has_settled(convergence, &convergence->members[i], world))
      convergence->members[i] = convergence->members[--convergence->left];
    else
      i++;
  }
  if (convergence->frames_to_nine_tenths == 0 && convergence->left <= convergence->count / 10)
    convergence->frames_to_nine_tenths = convergence->frames;
  if (convergence->left == 0) convergence->frames_to_last = convergence->frames;
}
