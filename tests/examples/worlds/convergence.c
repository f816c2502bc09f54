#include "convergence.h"

void convergence_begin(struct convergence *convergence, uint64_t since_ns) {
  *convergence = (struct convergence){.members = convergence->members, .since_ns = since_ns};
}

void convergence_watch(struct convergence *convergence, muster_agent agent, uint64_t wanted_ns) {
  convergence->members[convergence->count++] = (convergence_member){agent, wanted_ns};
  convergence->left = convergence->count;
}

static bool has_settled(const struct convergence *convergence, const convergence_member *member,
                        const muster_world *world) {
  muster_agent_info info = muster_agent_info_default();
  if (muster_agent_read(world, member->agent, &info) != MUSTER_OK) return true; /* gone */
  const convergence_mark *mark = info.state;
  return mark->updated_ns > convergence->since_ns && mark->elapsed_ns <= member->wanted_ns;
}

static void note_settled(const struct convergence *convergence, convergence_sums *sums) {
  sums->events++;
  sums->frames_to_nine_tenths += convergence->frames_to_nine_tenths;
  sums->frames_to_last += convergence->frames_to_last;
  if (convergence->frames_to_nine_tenths > sums->nine_tenths_max)
    sums->nine_tenths_max = convergence->frames_to_nine_tenths;
  if (convergence->frames_to_last > sums->last_max) sums->last_max = convergence->frames_to_last;
}

void convergence_look(struct convergence *convergence, const muster_world *world, convergence_sums *sums) {
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
  if (convergence->left) return;
  convergence->frames_to_last = convergence->frames;
  note_settled(convergence, sums);
}

convergence_means convergence_mean(const convergence_sums *sums) {
  double events = sums->events ? (double)sums->events : 1.0;
  return (convergence_means){(double)sums->frames_to_nine_tenths / events, (double)sums->frames_to_last / events};
}
