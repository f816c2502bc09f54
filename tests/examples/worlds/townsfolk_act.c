/* Action: settles with the hall what a character took, gave and made since its last update, and hands over gifts. A
 * town lies in one region, so its people act one at a time, beside those of other towns. The character has counted on
 * these already: purses and stores may fall below zero for a moment, and nothing is lost. */
#include "townsfolk.h"

static void townsfolk_act_hand_over(folk_mind *mind) {
  folk_self *self = mind->self;
  folk_self *other = NULL;
  if (self->gift_to < mind->town->people)
    other = muster_update_state_of(mind->update, mind->town->members[self->gift_to]);
  if (other && other->received_bread < UINT8_MAX)
    other->received_bread++;
  else
    self->bread++;
  self->gift_to = FOLK_NOBODY;
}

static void townsfolk_act_settle(folk_self *self, folk_hall *hall) {
  hall->coins += self->due_coins;
  hall->stock[FOLK_BREAD] -= self->due_bread;
  hall->stock[FOLK_ALE] -= self->due_ale;
  hall->used[FOLK_BREAD] += self->due_bread;
  hall->used[FOLK_ALE] += self->due_ale;
  folk_make_goods(hall, self->role, self->due_hours);
  self->due_coins = 0;
  self->due_bread = self->due_ale = self->due_hours = 0;
}

muster_atom_result folk_act(muster_update *update) {
  folk_mind mind = folk_mind_of(update);
  folk_hall *hall = muster_update_state_of(update, mind.town->hall);
  if (mind.self->gift_to != FOLK_NOBODY) townsfolk_act_hand_over(&mind);
  if (hall) townsfolk_act_settle(mind.self, hall); /* a missing hall is not spawned yet: a later update settles */
  return MUSTER_ATOM_FINISH;
}
