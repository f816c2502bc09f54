#include "townsfolk.h"

/* Sums over the living, and what they come to. */
typedef struct census {
  double people, bread, goods, coins, coins_of_people, hunger, sleep_owed, work_owed;
  double updates[FOLK_LEVELS], effort[FOLK_LEVELS], feeling[FOLK_EMOTIONS + 1], asleep, at_work;
  double stock[FOLK_GOODS];
} census;

static void count_hall(const folk_hall *hall, census *sums) {
  sums->coins += (double)hall->coins;
  for (uint32_t good = 0; good < FOLK_GOODS; good++) sums->stock[good] += hall->stock[good];
}

static void count_self(const folk_self *self, const folk_face *face, census *sums) {
  sums->people++;
  sums->bread += self->bread + self->received_bread - self->due_bread + (self->gift_to != FOLK_NOBODY);
  sums->stock[FOLK_ALE] -= self->due_ale;
  sums->coins_of_people += self->coins + self->savings;
  sums->coins += self->coins + self->savings + self->due_coins;
  sums->hunger += (double)self->hunger;
  sums->sleep_owed += (double)self->sleep_owed;
  sums->work_owed += (double)self->work_owed;
  sums->feeling[face->emotion]++;
  sums->asleep += face->action == FOLK_DO_SLEEP;
  sums->at_work += face->action == FOLK_DO_WORK;
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    sums->updates[level] += self->updates[level];
    sums->effort[level] += self->effort[level];
  }
}

void folk_count(const scaffold_look *look) {
  if (look->info.type.index == ((const struct folk *)look->instance)->halls.index)
    count_hall(look->info.state, look->sums);
  else
    count_self(look->info.state, look->info.published, look->sums);
}

void folk_conclude(const scaffold_look *look) {
  census *sums = look->sums;
  double each = sums->people > 0.0 ? 1.0 / sums->people : 0.0;
  sums->goods = sums->bread;
  for (uint32_t good = 0; good < FOLK_GOODS; good++) sums->goods += sums->stock[good];
  for (uint32_t i = 0; i <= FOLK_EMOTIONS; i++) sums->feeling[i] *= each;
  for (uint32_t level = 0; level < FOLK_LEVELS; level++)
    sums->effort[level] = sums->updates[level] > 0.0 ? sums->effort[level] / sums->updates[level] : 0.0;
  sums->hunger *= each;
  sums->sleep_owed *= each;
  sums->work_owed *= each;
  sums->asleep *= each;
  sums->at_work *= each;
}

#define LIVES(name, member) SCAFFOLD_LINE(name, SUM, folk_self, member, offsetof(struct folk, people))
#define FOUND(name, member) SCAFFOLD_FOUND(name, census, member)
#define HALLS(name, member) SCAFFOLD_LINE(name, SUM, folk_hall, member, offsetof(struct folk, halls))
#define GOOD(name, used_as, good)                                                                                      \
  FOUND(name "_in_stock", stock[good]), HALLS(name "_made", made[good]), HALLS(name "_" used_as, used[good]),          \
      HALLS(name "_brought", brought[good])
#define LEVEL(level) FOUND("updates_level_" #level, updates[level]), FOUND("effort_level_" #level, effort[level])

const scaffold_line folk_lines[] = {
    SCAFFOLD_OWN("towns", struct folk, town_count),
    FOUND("people", people),
    LIVES("meals_eaten", meals),
    LIVES("hours_paid", hours),
    LIVES("wages_paid", wages),
    FOUND("coins_in_all", coins),
    FOUND("coins_of_people", coins_of_people),
    LIVES("quarrels", quarrels),
    LIVES("apologies", amends),
    LIVES("gifts", gifts),
    SCAFFOLD_LINE("longest_plan", MOST, folk_self, longest_plan, offsetof(struct folk, people)),
    FOUND("mean_hunger", hunger),
    FOUND("mean_sleep_owed_h", sleep_owed),
    FOUND("mean_work_owed_h", work_owed),
    FOUND("goods_in_town", goods),
    GOOD("grain", "used", FOLK_GRAIN),
    GOOD("bread", "taken", FOLK_BREAD),
    GOOD("tools", "used", FOLK_TOOLS),
    GOOD("ale", "drunk", FOLK_ALE),
    FOUND("bread_at_home", bread),
    FOUND("share_angry", feeling[FOLK_ANGER]),
    FOUND("share_disgusted", feeling[FOLK_DISGUST]),
    FOUND("share_afraid", feeling[FOLK_FEAR]),
    FOUND("share_happy", feeling[FOLK_HAPPINESS]),
    FOUND("share_sad", feeling[FOLK_SADNESS]),
    FOUND("share_surprised", feeling[FOLK_SURPRISE]),
    FOUND("share_calm", feeling[FOLK_CALM]),
    FOUND("share_asleep", asleep),
    FOUND("share_at_work", at_work),
    LEVEL(0),
    LEVEL(1),
    LEVEL(2),
    LEVEL(3),
    {0}};
