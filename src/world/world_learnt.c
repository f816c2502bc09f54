#include "world/world_learnt.h"

#include "base/assert.h"

bool experience_is_possible(const frame_experience *experience) {
  ASSERT(experience);
  const struct controller *controller = &experience->controller;
  const cost_estimate *estimates[] = {&experience->plan,      &experience->prepare,     &experience->rank,
                                      &experience->settle,    &experience->settle_rest, &experience->act,
                                      &experience->act_settle};
  for (size_t i = 0; i < sizeof estimates / sizeof *estimates; i++)
    if (!estimate_is_possible(estimates[i])) return false;
  for (uint32_t i = 0; i < ACT_KINDS; i++)
    if (!estimate_is_possible(&experience->act_each[i])) return false;
  const struct usage *usage = &experience->usage;
  if (!costs_is_duration(usage->offered_ns) || !costs_is_duration(usage->left_ns) ||
      !costs_is_duration(usage->took_ns) || !costs_is_duration(usage->believed_ns) ||
      !(experience->mend_costs >= 0.0 && experience->mend_costs <= 1.0))
    return false;
  return costs_is_duration(experience->acts_left_ns) && costs_is_duration(experience->each_ns) &&
         experience->holding >= 0.0 && experience->holding <= 1.0 && costs_is_duration(experience->reserve_ns) &&
         controller->share > 0.0 && controller->share < 2.0 && costs_is_duration(controller->backlog_ns) &&
         costs_is_duration(controller->stood_ns) && controller->debt_budgets >= 0.0 &&
         controller->debt_budgets <= 8.0 && controller->debt_ns < 1000000000000u;
}
