#include "townsfolk.h"

#include <math.h>

enum { DAY_MINUTES = 24 * 60, HOMES = FOLK_TOWN_PEOPLE / FOLK_HOME_PEOPLE };

uint32_t folk_minute_of_day(uint64_t at_ns) {
  return (uint32_t)((at_ns + FOLK_DAWN_NS) / FOLK_MINUTE_NS % DAY_MINUTES);
}

uint32_t folk_hour_number(uint64_t at_ns) {
  return (uint32_t)((at_ns + FOLK_DAWN_NS) / FOLK_HOUR_NS);
}

uint32_t folk_own_minute(const folk_self *self, uint64_t at_ns) {
  return (folk_minute_of_day(at_ns) + (uint32_t)(DAY_MINUTES + self->shift_minutes)) % DAY_MINUTES;
}

void folk_spot(const folk_self *self, uint32_t place, float *x, float *y) {
  static const float spots[FOLK_PLACES][2] = {
      [FOLK_FIELDS] = {34.0f, 4.0f}, [FOLK_BAKERY] = {6.0f, 7.0f},   [FOLK_MARKET] = {0.0f, 0.0f},
      [FOLK_INN] = {-8.0f, 6.0f},    [FOLK_SMITHY] = {10.0f, -7.0f}, [FOLK_WELL] = {-4.0f, -6.0f},
      [FOLK_GATE] = {-26.0f, -3.0f}, [FOLK_HALL] = {0.0f, 12.0f},    [FOLK_WOODS] = {-12.0f, 40.0f}};
  static const float home_ring_m = 22.0f, about_m = 2.0f;
  uint64_t own = scaffold_scatter(self->member);
  *x = spots[place][0] + about_m * ((float)(own & 255) / 128.0f - 1.0f);
  *y = spots[place][1] + about_m * ((float)(own >> 8 & 255) / 128.0f - 1.0f);
  if (place != FOLK_HOME) return;
  float angle = 6.2831853f * (0.5f + (float)(self->member / FOLK_HOME_PEOPLE)) / (float)HOMES;
  *x += home_ring_m * cosf(angle);
  *y += home_ring_m * sinf(angle);
}

folk_place folk_workplace(uint32_t role) {
  static const folk_place places[FOLK_ROLES] = {FOLK_FIELDS, FOLK_BAKERY, FOLK_SMITHY, FOLK_GATE,
                                                FOLK_MARKET, FOLK_INN,    FOLK_HALL,   FOLK_WELL};
  return places[role];
}

folk_event folk_happening(const folk_town *town, uint32_t hour) {
  enum { ONE_HOUR_IN = 7 };
  static const folk_event events[] = {FOLK_WOLVES, FOLK_STRANGERS, FOLK_MINSTRELS, FOLK_STENCH, FOLK_FUNERAL};
  uint64_t random = scaffold_scatter(town->folk->base.seed ^ scaffold_scatter((uint64_t)town->number << 32 | hour));
  if (random % ONE_HOUR_IN) return FOLK_NO_EVENT;
  return events[(random >> 32) % (sizeof events / sizeof *events)];
}
