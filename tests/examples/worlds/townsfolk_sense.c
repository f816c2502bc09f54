/* Perception: messages from others, characters in sight, and what happens in the town become events. */
#include "townsfolk.h"

#include <math.h>

static const float sight_m = 7.0f;

enum { LETTERS_MAX = 16, FACES_MAX = 8, MET_AGAIN_MINUTES = 180, FRIEND_LIKING = 25, RIVAL_LIKING = -15 };

/* Which events pass at a level: the least importance, the importance from which an event always passes, and how many
 * pass per window. */
static const kit_event_rule rules[FOLK_LEVELS] = {
    {.importance_sure = 2.0f, .events_most = 1},
    {.importance_least = 0.3f, .importance_sure = 0.8f, .events_most = 6, .window_ns = FOLK_HOUR_NS},
    {.importance_least = 0.5f, .importance_sure = 0.85f, .events_most = 2, .window_ns = FOLK_HOUR_NS},
    {.importance_least = 2.0f, .importance_sure = 2.0f, .window_ns = FOLK_HOUR_NS}};

/* An event reaches the character: it appraises it at once, lets it pass by, or keeps it for when it is met. */
static void take_in(folk_mind *mind, folk_event event, float severity, uint32_t from, uint64_t at_ns) {
  folk_self *self = mind->self;
  if (mind->level == 3) {
    kit_recorded_event kept = {.at_ns = at_ns, .who = from, .what = event, .importance = severity};
    kit_event_record(&self->log, self->remembered, FOLK_REMEMBERED, &kept);
    folk_note(mind, FOLK_ENTRY_KEPT, at_ns, event, from, severity);
    return;
  }
  if (kit_event_passes(&self->filter, &rules[mind->level], at_ns, severity))
    folk_appraise(mind, event, severity, from, at_ns);
}

static void read_messages(folk_mind *mind) {
  muster_message messages[LETTERS_MAX];
  uint32_t count = muster_update_messages(mind->update, messages, LETTERS_MAX);
  for (uint32_t i = 0; i < count; i++) {
    const folk_message *message = messages[i].bytes;
    if (messages[i].size == sizeof *message && message->event < FOLK_EVENTS)
      take_in(mind, (folk_event)message->event, message->severity, message->from, messages[i].sent_ns);
  }
}

/* A kept event counts less than one that happens now. */
static void meet_memory(const kit_recorded_event *event, void *user) {
  folk_mind *mind = user;
  uint64_t now_ns = mind->update->now_ns;
  float hours = now_ns > event->at_ns ? (float)(now_ns - event->at_ns) / (float)FOLK_HOUR_NS : 0.0f;
  folk_appraise(mind, (folk_event)event->what, event->importance * exp2f(-hours / 4.0f), (uint32_t)event->who, now_ns);
}

static void townsfolk_sense_look_around(folk_mind *mind) {
  folk_self *self = mind->self;
  muster_neighbour faces[FACES_MAX];
  uint64_t now_ns = mind->update->now_ns;
  uint32_t minute = (uint32_t)(now_ns / FOLK_MINUTE_NS);
  uint32_t count = muster_update_nearby(mind->update, sight_m, mind->town->folk->people, faces,
                                        mind->level == 0 ? FACES_MAX : FACES_MAX / 2);
  self->effort[mind->level] += count;
  for (uint32_t i = 0; i < count; i++) {
    const folk_face *face = faces[i].published;
    folk_relation *relation = folk_relation_to(self, face->member);
    if (!relation || minute - relation->met_minute < MET_AGAIN_MINUTES) continue;
    bool friend = relation->liking >= FRIEND_LIKING, rival = relation->liking <= RIVAL_LIKING;
    relation->met_minute = minute;
    if (friend || rival) take_in(mind, friend ? FOLK_MET_FRIEND : FOLK_MET_RIVAL, 0.5f, face->member, now_ns);
    if (friend && mind->level == 0) folk_tell(mind, face->member, FOLK_GREETED, 0.35f);
  }
}

static void notice_town(folk_mind *mind) {
  folk_self *self = mind->self;
  uint64_t now_ns = mind->update->now_ns;
  uint32_t hour = folk_hour_number(now_ns);
  if (hour == self->noticed_hour) return;
  self->noticed_hour = hour;
  folk_event event = folk_happening(mind->town, hour);
  if (event != FOLK_NO_EVENT) take_in(mind, event, event == FOLK_WOLVES ? 0.9f : 0.75f, FOLK_NOBODY, now_ns);
}

muster_atom_result folk_sense(muster_update *update) {
  folk_self *self = update->state;
  bool told = muster_update_messages(update, NULL, 0) > 0;
  /* At the cheapest level there is nothing to do but wait for the time of a goal. */
  bool waits = update->level == FOLK_LEVELS - 1 && update->now_ns < self->achievement.end_ns;
  if (!told && !self->received_bread && waits) {
    self->updates[FOLK_LEVELS - 1]++;
    self->level = FOLK_LEVELS - 1;
    return MUSTER_ATOM_FINISH;
  }
  folk_mind mind = folk_mind_of(update);
  self->bread = (uint16_t)(self->bread + self->received_bread);
  self->received_bread = 0;
  self->level = (uint8_t)mind.level;
  if (told) read_messages(&mind);
  if (mind.level == 3) return MUSTER_ATOM_NEXT;
  folk_feel_until(self, update->now_ns);
  if (mind.level < 2 && self->log.count) kit_event_replay(&self->log, self->remembered, meet_memory, &mind);
  if (folk_under_way(self) == FOLK_DO_SLEEP) return MUSTER_ATOM_NEXT;
  notice_town(&mind);
  if (mind.level < 2) townsfolk_sense_look_around(&mind);
  return MUSTER_ATOM_NEXT;
}
