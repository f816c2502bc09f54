/* Work beside the updates that periods ask for: updates that wakes bring, and the actions in which updates end. Periods
 * make room for both, so that neither piles up. */
#include "world/fixture.h"

enum { AGENTS = 1000, WARM_UP = 1500, WINDOW = 1000, WOKEN = 12 };

#define SHORTEST_NS 50000000u
#define LONGEST_NS  2000000000u

struct thought {
  uint64_t thought_ns, acted, waited_ns, waited_most_ns; /* from thinking to acting */
};

static struct crowd {
  little_world little;
  muster_agent agents[AGENTS];
  uint64_t budget_ns;
} crowd;

static muster_atom_result think(muster_update *update) {
  struct thought *thought = update->state;
  thought->thought_ns = crowd.little.now_ns;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  struct thought *thought = update->state;
  uint64_t waited_ns = crowd.little.now_ns - thought->thought_ns;
  thought->acted++;
  thought->waited_ns += waited_ns;
  if (waited_ns > thought->waited_most_ns) thought->waited_most_ns = waited_ns;
  return MUSTER_ATOM_NEXT;
}

/* All agents at their longest period would take twice the budget. */
static void open_crowd(const muster_atom *atoms, uint32_t count) {
  crowd.little = little_world_of(1, WITH(virtual_world_def, it.levels.pressure = 0.0f));
  add_type(&crowd.little,
           CHANGED(type_with(atoms, count), it.state_bytes = sizeof(struct thought), it.period_ns = SHORTEST_NS,
                   it.period_max_ns = LONGEST_NS, it.limit_ns = 1000000000u));
  uint64_t cost_ns = 0;
  for (uint32_t i = 0; i < count; i++) cost_ns += atoms[i].model_ns;
  crowd.budget_ns = AGENTS * cost_ns * FRAME_NS / (2ull * LONGEST_NS);
  for (uint32_t i = 0; i < AGENTS; i++) crowd.agents[i] = spawn_at(&crowd.little, i);
}

static muster_frame_report frame_of(uint32_t woken) {
  static uint32_t next;
  for (uint32_t i = 0; i < woken; i++, next = (next + 7) % AGENTS)
    muster_agent_wake(crowd.little.world, crowd.agents[next]);
  return run_frame_with(&crowd.little, crowd.budget_ns);
}

/* Wakes bring nearly half of the updates that fit the budget. At most a quarter of all agents may wait. */
Test(overload, periods_make_room_for_those_who_are_woken) {
  open_crowd(atom_of(think, 1000000), 1);
  double carried = 0;
  uint64_t woken = 0;
  for (uint32_t i = 0; i < WARM_UP + WINDOW; i++) {
    muster_frame_report report = frame_of(i % 10 == 0 ? WOKEN : 0);
    if (i < WARM_UP) continue;
    carried += (double)report.carried / WINDOW;
    woken += report.woken;
  }
  cr_assert_eq(woken, WOKEN * WINDOW / 10);
  cr_assert(carried > 0.0 && carried <= AGENTS / 4, "%g wait", carried);
  little_world_destroy(&crowd.little);
}

/* Thinking takes as long as acting, and there is time for half of what all agents want. */
Test(overload, who_has_thought_acts_soon) {
  static const muster_atom atoms[] = {{think, MUSTER_ROLE_BEHAVIOUR, 500000}, {act, MUSTER_ROLE_ACTION, 500000}};
  open_crowd(atoms, 2);
  for (uint32_t i = 0; i < WARM_UP + WINDOW; i++) frame_of(0);
  uint64_t waited_ns = 0, waited_most_ns = 0, acted = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    const struct thought *thought = info_of(&crowd.little, crowd.agents[i]).state;
    waited_ns += thought->waited_ns;
    acted += thought->acted;
    if (thought->waited_most_ns > waited_most_ns) waited_most_ns = thought->waited_most_ns;
  }
  double mean_ns = (double)waited_ns / (double)acted,
         period_ns = (double)info_of(&crowd.little, crowd.agents[0]).period_ns;
  cr_assert_gt(acted, 4 * AGENTS);
  cr_assert_leq(mean_ns, 2.0 * FRAME_NS);
  cr_assert_leq((double)waited_most_ns, 0.1 * period_ns, "%g of %g s", (double)waited_most_ns * 1e-9, period_ns * 1e-9);
  little_world_destroy(&crowd.little);
}
