#include "scenarios/townsfolk.h"

/* Sums over the living. */
typedef struct folk_census {
  double people, meals, hours, wages, bread, coins, savings, due_coins;
  double quarrels, amends, gifts, hunger, sleep_owed, work_owed;
  double updates[FOLK_LEVELS], effort[FOLK_LEVELS], feeling[FOLK_EMOTIONS + 1], asleep, at_work;
  double hall_coins, stock[FOLK_GOODS], made[FOLK_GOODS], used[FOLK_GOODS], brought[FOLK_GOODS];
  uint32_t longest_plan;
} folk_census;

static void count_hall(const folk_hall *hall, folk_census *sums) {
  sums->hall_coins += (double)hall->coins;
  for (uint32_t good = 0; good < FOLK_GOODS; good++) {
    sums->stock[good] += hall->stock[good];
    sums->made[good] += hall->made[good];
    sums->used[good] += hall->used[good];
    sums->brought[good] += hall->brought[good];
  }
}

static void count_self(const folk_self *self, const folk_face *face, folk_census *sums) {
  sums->people++;
  sums->meals += self->meals;
  sums->hours += self->hours;
  sums->wages += self->wages;
  sums->bread += self->bread + self->received_bread - self->due_bread + (self->gift_to != FOLK_NOBODY);
  sums->stock[FOLK_ALE] -= self->due_ale;
  sums->coins += self->coins;
  sums->savings += self->savings;
  sums->due_coins += self->due_coins;
  sums->quarrels += self->quarrels;
  sums->amends += self->amends;
  sums->gifts += self->gifts;
  sums->hunger += (double)self->hunger;
  sums->sleep_owed += (double)self->sleep_owed;
  sums->work_owed += (double)self->work_owed;
  sums->feeling[face->emotion]++;
  sums->asleep += face->action == FOLK_DO_SLEEP;
  sums->at_work += face->action == FOLK_DO_WORK;
  if (self->longest_plan > sums->longest_plan) sums->longest_plan = self->longest_plan;
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    sums->updates[level] += self->updates[level];
    sums->effort[level] += self->effort[level];
  }
}

static folk_census townsfolk_report_take_census(const struct folk *folk, const muster_world *world) {
  folk_census sums = {0};
  muster_agent agent = {0, 0};
  while (!muster_agent_is_null(agent = muster_agent_next(world, agent))) {
    muster_agent_info info = muster_default_agent_info();
    if (muster_agent_read(world, agent, &info) != MUSTER_OK) continue;
    if (info.type.index == folk->halls.index)
      count_hall(info.state, &sums);
    else
      count_self(info.state, info.published, &sums);
  }
  return sums;
}

static void emit_goods(const folk_census *sums, muster_module_emit emit, void *user) {
  static const char *const names[FOLK_GOODS][4] = {{"grain_in_stock", "grain_made", "grain_used", "grain_brought"},
                                                   {"bread_in_stock", "bread_made", "bread_taken", "bread_brought"},
                                                   {"tools_in_stock", "tools_made", "tools_used", "tools_brought"},
                                                   {"ale_in_stock", "ale_made", "ale_drunk", "ale_brought"}};
  double goods = sums->bread;
  for (uint32_t good = 0; good < FOLK_GOODS; good++) goods += sums->stock[good];
  emit("goods_in_town", goods, user);
  for (uint32_t good = 0; good < FOLK_GOODS; good++) {
    emit(names[good][0], sums->stock[good], user);
    emit(names[good][1], sums->made[good], user);
    emit(names[good][2], sums->used[good], user);
    emit(names[good][3], sums->brought[good], user);
  }
  emit("bread_at_home", sums->bread, user);
}

static void emit_minds(const folk_census *sums, muster_module_emit emit, void *user) {
  static const char *const feelings[FOLK_EMOTIONS + 1] = {
      "share_angry", "share_disgusted", "share_afraid", "share_happy", "share_sad", "share_surprised", "share_calm"};
  static const char *const updates[FOLK_LEVELS] = {"updates_level_0", "updates_level_1", "updates_level_2",
                                                   "updates_level_3"};
  static const char *const efforts[FOLK_LEVELS] = {"effort_level_0", "effort_level_1", "effort_level_2",
                                                   "effort_level_3"};
  double each = sums->people > 0.0 ? 1.0 / sums->people : 0.0;
  for (uint32_t i = 0; i <= FOLK_EMOTIONS; i++) emit(feelings[i], sums->feeling[i] * each, user);
  emit("share_asleep", sums->asleep * each, user);
  emit("share_at_work", sums->at_work * each, user);
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    emit(updates[level], sums->updates[level], user);
    emit(efforts[level], sums->updates[level] > 0.0 ? sums->effort[level] / sums->updates[level] : 0.0, user);
  }
}

void folk_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const struct folk *folk = instance;
  folk_census sums = townsfolk_report_take_census(folk, world);
  double each = sums.people > 0.0 ? 1.0 / sums.people : 0.0;
  emit("towns", folk->town_count, emit_user);
  emit("people", sums.people, emit_user);
  emit("meals_eaten", sums.meals, emit_user);
  emit("hours_paid", sums.hours, emit_user);
  emit("wages_paid", sums.wages, emit_user);
  emit("coins_in_all", sums.coins + sums.savings + sums.due_coins + sums.hall_coins, emit_user);
  emit("coins_of_people", sums.coins + sums.savings, emit_user);
  emit("quarrels", sums.quarrels, emit_user);
  emit("apologies", sums.amends, emit_user);
  emit("gifts", sums.gifts, emit_user);
  emit("longest_plan", sums.longest_plan, emit_user);
  emit("mean_hunger", sums.hunger * each, emit_user);
  emit("mean_sleep_owed_h", sums.sleep_owed * each, emit_user);
  emit("mean_work_owed_h", sums.work_owed * each, emit_user);
  emit_goods(&sums, emit, emit_user);
  emit_minds(&sums, emit, emit_user);
}
