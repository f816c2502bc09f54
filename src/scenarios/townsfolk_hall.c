/* The hall: what the people of a town make, up to the wanted stock, and what they take. So stores stay about level,
 * whatever the town needs. */
#include "scenarios/townsfolk.h"

enum {
  COINS_PER_HEAD = 400,
  BREAD_PER_HOUR = 9, /* at most */
  GRAIN_PER_HOUR = 6,
  TOOLS_PER_HOUR = 1,
  ALE_PER_HOUR = 6,
  HOURS_PER_TOOL = 10 /* of a farmer */
};

int32_t folk_stock_wanted(uint32_t people, folk_good good) {
  static const int32_t per_head[FOLK_GOODS] = {12, 8, 1, 4};
  return per_head[good] * (int32_t)people;
}

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

/* How much of a good is made: limited by what is wanted and by the stock that it is made of. */
static int32_t townsfolk_hall_make(folk_hall *hall, folk_good good, int32_t most) {
  int32_t amount = least(most, folk_stock_wanted(hall->people, good) - hall->stock[good]);
  if (amount <= 0) return 0;
  hall->stock[good] += amount;
  hall->made[good] += (uint32_t)amount;
  return amount;
}

/* Of a measure of grain come two loaves, or a barrel of ale. */
static void make_of_grain(folk_hall *hall, folk_good good, int32_t most, int32_t per_grain) {
  int32_t grain = hall->stock[FOLK_GRAIN];
  int32_t amount = grain > 0 ? townsfolk_hall_make(hall, good, least(most, grain * per_grain)) : 0;
  int32_t taken = (amount + per_grain - 1) / per_grain;
  hall->stock[FOLK_GRAIN] -= taken;
  hall->used[FOLK_GRAIN] += (uint32_t)taken;
}

static void wear_tools(folk_hall *hall, uint32_t hours) {
  for (hall->wear += hours; hall->wear >= HOURS_PER_TOOL; hall->wear -= HOURS_PER_TOOL) {
    if (hall->stock[FOLK_TOOLS] <= 0) continue;
    hall->stock[FOLK_TOOLS]--;
    hall->used[FOLK_TOOLS]++;
  }
}

void folk_make_goods(folk_hall *hall, uint32_t role, uint32_t hours) {
  int32_t times = (int32_t)hours;
  switch (role) {
  case FOLK_FARMER:
    townsfolk_hall_make(hall, FOLK_GRAIN, GRAIN_PER_HOUR * times);
    wear_tools(hall, hours);
    break;
  case FOLK_BAKER:
    make_of_grain(hall, FOLK_BREAD, BREAD_PER_HOUR * times, 2);
    break;
  case FOLK_SMITH:
    townsfolk_hall_make(hall, FOLK_TOOLS, TOOLS_PER_HOUR * times);
    break;
  case FOLK_INNKEEPER:
    make_of_grain(hall, FOLK_ALE, ALE_PER_HOUR * times, 1);
    break;
  default:
    break;
  }
}

void folk_make_hall(const folk_town *town, folk_hall *hall, folk_hall_face *face) {
  *hall = (folk_hall){.coins = (int64_t)COINS_PER_HEAD * town->people, .people = town->people};
  for (uint32_t good = 0; good < FOLK_GOODS; good++)
    hall->stock[good] = face->stock[good] = folk_stock_wanted(town->people, (folk_good)good);
}

/* When only a third is left, too little is made: a cart comes. */
static void send_for_carts(folk_hall *hall) {
  for (uint32_t good = 0; good < FOLK_GOODS; good++) {
    int32_t wanted = folk_stock_wanted(hall->people, (folk_good)good);
    if (hall->stock[good] > wanted / 3) continue;
    hall->brought[good] += (uint32_t)(wanted - hall->stock[good]);
    hall->stock[good] = wanted;
  }
}

muster_atom_result folk_keep_hall(muster_update *update) {
  folk_hall *hall = update->state;
  folk_hall_face *face = update->published;
  send_for_carts(hall);
  for (uint32_t good = 0; good < FOLK_GOODS; good++) face->stock[good] = hall->stock[good];
  return MUSTER_ATOM_FINISH;
}
