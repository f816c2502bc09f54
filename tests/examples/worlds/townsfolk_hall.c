/* The hall: what the people of a town make, up to the wanted stock, and what they take. So stores stay about level,
 * whatever the town needs. */
#include "townsfolk.h"

enum { COINS_PER_HEAD = 400, HOURS_PER_TOOL = 10 /* of a farmer */ };

/* What an hour of work makes at most; and how much of it comes of a measure of grain, 0 = it is not made of grain. */
typedef struct hall_product {
  folk_good good;
  int32_t per_hour, per_grain;
} hall_product;

static const hall_product products[FOLK_ROLES] = {[FOLK_FARMER] = {FOLK_GRAIN, 6, 0},
                                                  [FOLK_BAKER] = {FOLK_BREAD, 9, 2},
                                                  [FOLK_SMITH] = {FOLK_TOOLS, 1, 0},
                                                  [FOLK_INNKEEPER] = {FOLK_ALE, 6, 1}};

static int32_t stock_wanted(uint32_t people, folk_good good) {
  static const int32_t per_head[FOLK_GOODS] = {12, 8, 1, 4};
  return per_head[good] * (int32_t)people;
}

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static void wear_tools(folk_hall *hall, uint32_t hours) {
  for (hall->wear += hours; hall->wear >= HOURS_PER_TOOL; hall->wear -= HOURS_PER_TOOL) {
    if (hall->stock[FOLK_TOOLS] <= 0) continue;
    hall->stock[FOLK_TOOLS]--;
    hall->used[FOLK_TOOLS]++;
  }
}

/* Makes no more than is wanted, and than there is grain for. */
void folk_make_goods(folk_hall *hall, uint32_t role, uint32_t hours) {
  const hall_product *product = &products[role];
  int32_t *stock = &hall->stock[product->good], of_grain = hall->stock[FOLK_GRAIN] * product->per_grain;
  int32_t amount = least(product->per_hour * (int32_t)hours, stock_wanted(hall->people, product->good) - *stock);
  if (product->per_grain) amount = least(amount, of_grain);
  if (amount > 0) {
    *stock += amount;
    hall->made[product->good] += (uint32_t)amount;
    int32_t grain = product->per_grain ? (amount + product->per_grain - 1) / product->per_grain : 0;
    hall->stock[FOLK_GRAIN] -= grain;
    hall->used[FOLK_GRAIN] += (uint32_t)grain;
  }
  if (role == FOLK_FARMER) wear_tools(hall, hours);
}

void folk_make_hall(const folk_town *town, folk_hall *hall, folk_hall_face *face) {
  *hall = (folk_hall){.coins = (int64_t)COINS_PER_HEAD * town->people, .people = town->people};
  for (uint32_t good = 0; good < FOLK_GOODS; good++)
    hall->stock[good] = face->stock[good] = stock_wanted(town->people, (folk_good)good);
}

/* When only a third is left, too little is made: a cart comes. */
static void send_for_carts(folk_hall *hall) {
  for (uint32_t good = 0; good < FOLK_GOODS; good++) {
    int32_t wanted = stock_wanted(hall->people, (folk_good)good);
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
