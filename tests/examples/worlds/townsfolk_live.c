/* Passes time for a character, action by action. */
#include "townsfolk.h"

enum { STEPS_PER_UPDATE_MAX = 24 };

void folk_begin_step(folk_mind *mind) {
  folk_self *self = mind->self;
  self->step_begin_ns = self->lived_ns;
  self->step_end_ns = self->lived_ns + folk_duration_ns(self, folk_under_way(self));
}

/* An action that was possible when it was planned may have become impossible. */
static bool can_do(folk_mind *mind, uint32_t action) {
  uint64_t needs = folk_deed_of(action)->needs;
  if (action == FOLK_BUY_BREAD && mind->market && mind->market->stock[FOLK_BREAD] <= 0) return false;
  return !needs || !(needs & ~folk_facts(mind));
}

static void townsfolk_live_fail(folk_mind *mind, uint32_t action) {
  folk_self *self = mind->self;
  folk_note(mind, FOLK_ENTRY_FAILED, self->lived_ns, action, FOLK_NOBODY, 0.0f);
  self->plan.at = self->plan.count;
  kit_goal_lock_release(&self->lock);
  if (mind->level < 2)
    folk_appraise(mind, action == FOLK_BUY_BREAD ? FOLK_NO_BREAD : FOLK_PLAN_FAILED, 0.6f, FOLK_NOBODY, self->lived_ns);
}

static void end_step(folk_mind *mind) {
  folk_self *self = mind->self;
  uint32_t action = folk_under_way(self);
  if (!can_do(mind, action)) {
    townsfolk_live_fail(mind, action);
    return;
  }
  bool stays = self->place == action - FOLK_GO && self->place < FOLK_PLACES;
  folk_do(mind, action);
  if (!stays && action != FOLK_IDLE) folk_note(mind, FOLK_ENTRY_DONE, self->lived_ns, action, FOLK_NOBODY, 0.0f);
  if (++self->plan.at < self->plan.count)
    folk_begin_step(mind);
  else
    kit_goal_lock_release(&self->lock);
}

/* At the cheapest level a goal is reached when the time for its plan has passed; until then nothing is done. When the
 * character is met before that, it lives the time since then step by step, as it would have. */
static bool waits_for_achievement(folk_mind *mind, uint64_t now_ns) {
  folk_self *self = mind->self;
  uint64_t end_ns;
  if (mind->level < 3) {
    self->achievement = (kit_achievement){0};
    return false;
  }
  if (self->achievement.end_ns == 0) {
    uint64_t takes_ns = self->step_end_ns - self->step_begin_ns;
    for (uint32_t i = self->plan.at + 1u; i < self->plan.count; i++) {
      uint32_t action = self->plan.steps[i];
      takes_ns += action < FOLK_GO + FOLK_PLACES ? folk_deed_of(action)->minutes * FOLK_MINUTE_NS
                                                 : folk_duration_ns(self, action);
    }
    kit_achievement_begin(&self->achievement, self->goal, self->step_begin_ns, takes_ns);
  }
  return !kit_achievement_reached(&self->achievement, now_ns, &end_ns);
}

/* A gift waits for the commit: there is room for one only. */
void folk_live_until(folk_mind *mind, uint64_t now_ns) {
  folk_self *self = mind->self;
  for (uint32_t steps = 0; self->lived_ns < now_ns && steps < STEPS_PER_UPDATE_MAX; steps++) {
    if (self->plan.at >= self->plan.count) folk_decide(mind);
    if (waits_for_achievement(mind, now_ns)) return;
    if (self->step_end_ns > now_ns) {
      folk_pass(mind, now_ns);
      break;
    }
    folk_pass(mind, self->step_end_ns);
    end_step(mind);
    if (self->gift_to != FOLK_NOBODY) break;
  }
  if (self->lived_ns == now_ns) folk_reconsider(mind);
}

/* ----------------------------------------------------------------------------------------------------------- places */

void folk_place_now(const folk_self *self, float *x, float *y) {
  *x = self->x;
  *y = self->y;
  uint32_t action = folk_under_way(self);
  if (action >= FOLK_GO + FOLK_PLACES || self->step_end_ns <= self->step_begin_ns) return;
  float share = (float)(self->lived_ns - self->step_begin_ns) / (float)(self->step_end_ns - self->step_begin_ns);
  float to_x, to_y;
  folk_spot(self, action - FOLK_GO, &to_x, &to_y);
  *x += share * (to_x - *x);
  *y += share * (to_y - *y);
}

static void townsfolk_live_show(const folk_mind *mind) {
  const folk_self *self = mind->self;
  folk_face *face = mind->update->published;
  face->place = self->place;
  uint32_t action = folk_under_way(self);
  face->action = (uint8_t)(action < FOLK_ACTIONS ? action : FOLK_IDLE);
  face->emotion = (uint8_t)folk_strongest(self);
  face->level = (uint8_t)mind->level;
}

muster_atom_result folk_live(muster_update *update) {
  folk_mind mind = folk_mind_of(update);
  folk_self *self = mind.self;
  float x, y;
  folk_live_until(&mind, update->now_ns);
  folk_place_now(self, &x, &y);
  muster_position place = {mind.town->x + (double)x, mind.town->y + (double)y, 0.0};
  muster_update_move(update, place);
  townsfolk_live_show(&mind);
  self->updates[mind.level]++;
  bool due = self->due_coins || self->due_bread || self->due_ale || self->due_hours || self->gift_to != FOLK_NOBODY;
  return due ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}
