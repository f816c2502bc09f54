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
  uint32_t generation;
  uint32_t frame;
  uint64_t last_update_ns;
  bool visible;
} sighting;

struct watch {
  struct scene it;
  const herd_world *herds;
  float visible_m;
  sighting *sightings; /* by index of the agent */
  uint32_t *seen, seen_count, *seen_before, seen_before_count;
  uint64_t checked, crossings; /* individuals followed into the next frame, and those that came into sight in it */
  double dead;
};

static bool is_visible(const struct watch *watch, muster_position place) {
  for (uint32_t i = 0; i < watch->herds->base.observer_count; i++) {
    double x = place.x - watch->herds->base.places[i].x, y = place.y - watch->herds->base.places[i].y;
    if (x * x + y * y <= (double)(watch->visible_m * watch->visible_m)) return true;
  }
  return false;
}

static void follow(struct watch *watch, muster_agent agent, const muster_agent_info *info, bool visible) {
  sighting *old = &watch->sightings[muster_agent_index(agent)];
  bool known = old->generation == muster_agent_generation(agent) && old->frame + 1 == watch->it.frames;
  if (visible && watch->it.frames > SETTLING) {
    cr_assert(known, "frame %u: agent %u appears at %g, %g", watch->it.frames, muster_agent_index(agent),
              info->position.x, info->position.y);
    double way_m = hypot(info->position.x - old->place.x, info->position.y - old->place.y);
    double elapsed_s = (double)(info->last_update_ns - old->last_update_ns) * 1e-9;
    double most_m = (double)watch->herds->rules.speed_max_mps * elapsed_s + 0.01;
    cr_assert_leq(way_m, most_m, "frame %u: agent %u jumps %g m in %g s", watch->it.frames, muster_agent_index(agent),
                  way_m, elapsed_s);
    watch->checked++;
    watch->crossings += !old->visible;
  }
  *old = (sighting){info->position, muster_agent_generation(agent), watch->it.frames, info->last_update_ns, visible};
  if (visible) watch->seen[watch->seen_count++] = muster_agent_index(agent);
}

/* Leaves that stand for several members must not be where members are visible. */
static void look_at(struct watch *watch, muster_herd herd) {
  muster_agent agents[HERD_MEMBERS];
  uint32_t nodes[HERD_MEMBERS];
  muster_agent_info info = muster_agent_info_default();
  uint32_t count = muster_herd_leaves(watch->it.world, herd, agents, nodes, HERD_MEMBERS);
  for (uint32_t i = 0; i < count; i++) {
    cr_assert_eq(muster_agent_read(watch->it.world, agents[i], &info), MUSTER_OK);
    bool visible = is_visible(watch, info.position);
    if (nodes[i] >= FIRST_INDIVIDUAL)
      follow(watch, agents[i], &info, visible);
    else if (watch->it.frames > SETTLING)
      cr_assert(!visible, "frame %u: node %u of herd %u is in sight", watch->it.frames, nodes[i],
                muster_herd_index(herd));
  }
}

static double dead_of(const struct watch *watch) {
  return scene_reported(&watch->it, "killed") + scene_reported(&watch->it, "deaths");
}

static void look_around(struct watch *watch) {
  muster_herd_info info = muster_herd_info_default();
  uint32_t *seen = watch->seen_before, gone = 0;
  watch->seen_before = watch->seen;
  watch->seen_before_count = watch->seen_count;
  watch->seen = seen;
  watch->seen_count = 0;
  muster_herd herd = muster_herd_next(watch->it.world, (muster_herd){0});
  for (; muster_herd_generation(herd); herd = muster_herd_next(watch->it.world, herd)) {
    cr_assert_eq(muster_herd_read(watch->it.world, herd, &info), MUSTER_OK);
    if (info.leaves > 0)
      look_at(watch, herd);
    else if (watch->it.frames > SETTLING)
      cr_assert(!is_visible(watch, info.position), "frame %u: herd %u is in sight", watch->it.frames,
                muster_herd_index(herd));
  }
  for (uint32_t i = 0; i < watch->seen_before_count; i++)
    gone += watch->sightings[watch->seen_before[i]].frame != watch->it.frames;
  double dead = dead_of(watch);
  if (watch->it.frames > SETTLING)
    cr_assert_leq(gone, dead - watch->dead, "frame %u: %u vanish", watch->it.frames, gone);
  watch->dead = dead;
}

static struct watch begin(uint32_t observers, uint64_t capacity_ns, const herd_choice *choice) {
  struct watch watch = {.it = herd_scene(AGENTS, observers, 1, capacity_ns, choice), .visible_m = choice->visible_m};
  watch.herds = watch.it.instance;
  watch.sightings = calloc(watch.it.needs.agents_max, sizeof *watch.sightings);
  watch.seen = calloc(AGENTS, sizeof *watch.seen);
  watch.seen_before = calloc(AGENTS, sizeof *watch.seen_before);
  cr_assert(watch.sightings && watch.seen && watch.seen_before);
  return watch;
}

static void end(struct watch *watch) {
  scene_close(&watch->it);
  free(watch->sightings);
  free(watch->seen);
  free(watch->seen_before);
}

static void run(struct watch *watch, uint32_t frames) {
  muster_statistics statistics = muster_statistics_default();
  for (uint32_t i = 0; i < frames; i++) {
    scene_frame(&watch->it, SCENE_FRAME_NS);
    if (watch->it.frames == SETTLING) muster_statistics_clear(watch->it.world);
    look_around(watch);
  }
  muster_statistics_read(watch->it.world, &statistics);
  cr_assert_eq(statistics.changes_in_sight, 0);
  cr_assert_eq(statistics.unfolds_refused, 0);
  cr_assert_gt(watch->checked, 1000);
  cr_assert_gt(watch->crossings, 20, "%llu came into sight", (unsigned long long)watch->crossings);
}

Test(herd_sight, nobody_pops_among_walking_observers) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 0, .members = 32, .pace = 1.0f};
  struct watch watch = begin(8, 20000000, &choice);
  run(&watch, 900);
  end(&watch);
}

Test(herd_sight, nobody_pops_among_riders) {
  herd_choice choice = {.visible_m = 30.0f, .observer_mps = 8.0f, .wolves = 0, .members = 32, .pace = 1.0f};
  struct watch watch = begin(8, 20000000, &choice);
  run(&watch, 600);
  end(&watch);
}

Test(herd_sight, nobody_pops_where_wolves_hunt) {
  herd_choice choice = {.visible_m = 30.0f, .observer_mps = 3.0f, .wolves = 60, .members = 32, .pace = 1.0f};
  struct watch watch = begin(8, 20000000, &choice);
  run(&watch, 600);
  end(&watch);
}
