#include "scenarios/settling.h"

#include <stdlib.h>

bool settling_create(struct settling *settling, uint32_t capacity) {
  *settling = (struct settling){.capacity = capacity, .members = calloc(capacity, sizeof *settling->members)};
  return settling->members != NULL;
}

void settling_destroy(struct settling *settling) {
  free(settling->members);
}

void settling_begin(struct settling *settling, uint64_t since_ns) {
  settling->count = settling->left = settling->frames = 0;
  settling->frames_to_nine_tenths = settling->frames_to_last = 0;
  settling->since_ns = since_ns;
}

void settling_watch(struct settling *settling, muster_agent agent, uint64_t wanted_ns) {
  settling->members[settling->count++] = (settling_member){agent, wanted_ns};
  settling->left = settling->count;
}

static bool has_settled(const struct settling *settling, const settling_member *member, const muster_world *world) {
  muster_agent_info info = muster_default_agent_info();
  if (muster_agent_read(world, member->agent, &info) != MUSTER_OK) return true; /* gone */
  const settling_mark *mark = info.state;
  return mark->updated_ns > settling->since_ns && mark->elapsed_ns <= member->wanted_ns;
}

void settling_look(struct settling *settling, const muster_world *world) {
  if (settling->left == 0) return;
  settling->frames++;
  for (uint32_t i = 0; i < settling->left;) {
    if (has_settled(settling, &settling->members[i], world))
      settling->members[i] = settling->members[--settling->left];
    else
      i++;
  }
  if (settling->frames_to_nine_tenths == 0 && settling->left <= settling->count / 10)
    settling->frames_to_nine_tenths = settling->frames;
  if (settling->left == 0) settling->frames_to_last = settling->frames;
}
