/* The heap of times against a plain table: whatever is set, moved and taken back, the agents that are due come out in
 * order. */
#include "plan/planning.h"
#include "plan/timers.h"

enum { AGENTS = 300, ACTIONS = 200000 };

struct model {
  uint64_t at_ns[AGENTS]; /* 0 = none */
};

static uint32_t first_due(const struct model *model, uint64_t now_ns) {
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < AGENTS; i++)
    if (model->at_ns[i] && model->at_ns[i] <= now_ns && (first == UINT32_MAX || model->at_ns[i] < model->at_ns[first]))
      first = i;
  return first;
}

Test(timers, who_is_due_comes_out_in_order_of_time_and_then_of_agents) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct timers timers;
  struct model model = {0};
  timers_create(&timers, AGENTS, &arena);
  uint64_t now_ns = 1;
  uint32_t taken = 0, high = 0;
  for (uint32_t i = 0; i < ACTIONS; i++) {
    uint64_t random = random_at(1, i, 0, 0);
    uint32_t agent = (uint32_t)(random >> 8) % AGENTS;
    switch (random % 8) {
    case 0:
      now_ns += (random >> 40) % 40;
      break;
    case 1:
      timers_cancel(&timers, agent);
      model.at_ns[agent] = 0;
      break;
    case 2:
    case 3: {
      uint32_t due = timers_take_due(&timers, now_ns);
      cr_assert_eq(due, first_due(&model, now_ns));
      if (due == UINT32_MAX) break;
      model.at_ns[due] = 0;
      taken++;
      break;
    }
    default: /* few different times: many are equal */
      model.at_ns[agent] = now_ns + (random >> 40) % 200;
      timers_set(&timers, agent, model.at_ns[agent]);
    }
    uint32_t count = 0;
    for (uint32_t k = 0; k < AGENTS; k++) count += model.at_ns[k] > 0;
    if (count > high) high = count;
    cr_assert_eq(timers.count, count);
    cr_assert_eq(timers_has(&timers, agent), model.at_ns[agent] > 0);
  }
  cr_assert_eq(timers.high, high);
  cr_assert_gt(taken, ACTIONS / 20);
}
