/* No member pops into or out of sight: each visible agent is followed from frame to frame by its id. An agent that is
 * seen now was an individual before, and went no further than it can; an agent that was seen before is still there,
 * except those that died. */
#include "scenarios/herd_scene.h"

#include <muster/herd.h>

#include <stdlib.h>

enum { FIRST_INDIVIDUAL = (1 << HERD_DEPTH) - 1, AGENTS = 65536, SETTLING = 60 };

/* An individual as it was in the last frame in which it was one. */
typedef struct sighting {
  muster_position place;
  uint32_t generation, frame;
  uint64_t last_update_ns;
  bool visible;
} sighting;

static struct watch {
  struct scene it;
  const herd_world *herds;
  float visible_m;
  sighting *sightings; /* by index of the agent */
  uint32_t *seen, seen_count, *seen_before, seen_before_count;
  uint64_t checked, crossings; /* individuals followed into the next frame, and those that came into sight in it */
  double dead;
} watch; /* each test runs in a process of its own */

static bool is_visible(muster_position place) {
  for (uint32_t i = 0; i < watch.herds->base.observer_count; i++) {
    double x = place.x - watch.herds->base.places[i].x, y = place.y - watch.herds->base.places[i].y;
    if (x * x + y * y <= (double)(watch.visible_m * watch.visible_m)) return true;
  }
  return false;
}

static void follow(muster_agent agent, const muster_agent_info *info, bool visible) {
  uint32_t index = muster_agent_index(agent), frame = watch.it.frames;
  sighting *old = &watch.sightings[index];
  bool known = old->generation == muster_agent_generation(agent) && old->frame + 1 == frame;
  if (visible && frame > SETTLING) {
    cr_assert(known, "frame %u: agent %u appears at %g, %g", frame, index, info->position.x, info->position.y);
    double way_m = hypot(info->position.x - old->place.x, info->position.y - old->place.y);
    double elapsed_s = (double)(info->last_update_ns - old->last_update_ns) * 1e-9;
    double most_m = (double)watch.herds->rules.speed_max_mps * elapsed_s + 0.01;
    cr_assert_leq(way_m, most_m, "frame %u: agent %u jumps %g m in %g s", frame, index, way_m, elapsed_s);
    watch.checked++;
    watch.crossings += !old->visible;
  }
  *old = (sighting){info->position, muster_agent_generation(agent), frame, info->last_update_ns, visible};
  if (visible) watch.seen[watch.seen_count++] = index;
}

/* Leaves that stand for several members must not be where members are visible. */
static void look_at(muster_herd herd) {
  muster_agent agents[HERD_MEMBERS];
  uint32_t nodes[HERD_MEMBERS];
  muster_agent_info info = muster_agent_info_default();
  uint32_t count = muster_herd_leaves(watch.it.world, herd, agents, nodes, HERD_MEMBERS), frame = watch.it.frames;
  for (uint32_t i = 0; i < count; i++) {
    cr_assert_eq(muster_agent_read(watch.it.world, agents[i], &info), MUSTER_OK);
    bool visible = is_visible(info.position);
    if (nodes[i] >= FIRST_INDIVIDUAL)
      follow(agents[i], &info, visible);
    else if (frame > SETTLING)
      cr_assert(!visible, "frame %u: node %u of herd %u is in sight", frame, nodes[i], muster_herd_index(herd));
  }
}

static void look_around(void) {
  muster_herd_info info = muster_herd_info_default();
  uint32_t *seen = watch.seen_before, gone = 0, frame = watch.it.frames;
  watch.seen_before = watch.seen;
  watch.seen_before_count = watch.seen_count;
  watch.seen = seen;
  watch.seen_count = 0;
  for (muster_herd herd = {0}; muster_herd_generation((herd = muster_herd_next(watch.it.world, herd)));) {
    cr_assert_eq(muster_herd_read(watch.it.world, herd, &info), MUSTER_OK);
    if (info.leaves > 0)
      look_at(herd);
    else if (frame > SETTLING)
      cr_assert(!is_visible(info.position), "frame %u: herd %u is in sight", frame, muster_herd_index(herd));
  }
  for (uint32_t i = 0; i < watch.seen_before_count; i++) gone += watch.sightings[watch.seen_before[i]].frame != frame;
  double dead = scene_reported(&watch.it, "killed") + scene_reported(&watch.it, "deaths");
  if (frame > SETTLING) cr_assert_leq(gone, dead - watch.dead, "frame %u: %u vanish", frame, gone);
  watch.dead = dead;
}

static void watch_for(uint32_t frames, herd_choice choice) {
  static uint32_t seen[2][AGENTS];
  watch = (struct watch){.it = herd_scene(AGENTS, 8, 1, 20000000, &choice),
                         .visible_m = choice.visible_m,
                         .seen = seen[0],
                         .seen_before = seen[1]};
  watch.herds = watch.it.instance;
  watch.sightings = calloc(watch.it.needs.agents_max, sizeof *watch.sightings);
  cr_assert(watch.sightings);
  for (uint32_t i = 0; i < frames; i++) {
    scene_frame(&watch.it, SCENE_FRAME_NS);
    if (watch.it.frames == SETTLING) muster_statistics_clear(watch.it.world);
    look_around();
  }
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(watch.it.world, &statistics);
  cr_assert_eq(statistics.changes_in_sight, 0);
  cr_assert_eq(statistics.unfolds_refused, 0);
  cr_assert_gt(watch.checked, 1000);
  cr_assert_gt(watch.crossings, 20, "%lu came into sight", watch.crossings);
  scene_close(&watch.it);
  free(watch.sightings);
}

Test(herd_sight, nobody_pops_among_walking_observers) {
  watch_for(900, (herd_choice){.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 0, .members = 32, .pace = 1.0f});
}
Test(herd_sight, nobody_pops_among_riders) {
  watch_for(600, (herd_choice){.visible_m = 30.0f, .observer_mps = 8.0f, .wolves = 0, .members = 32, .pace = 1.0f});
}
Test(herd_sight, nobody_pops_where_wolves_hunt) {
  watch_for(600, (herd_choice){.visible_m = 30.0f, .observer_mps = 3.0f, .wolves = 60, .members = 32, .pace = 1.0f});
}
