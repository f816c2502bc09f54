#include "townsfolk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FIRST_NAMES = 64, TOWN_BEGINS = 20, TOWN_ENDS = 12, EXAMPLES_BYTES = 64 };

static const char *const first_names[FIRST_NAMES] = {
    "Anna",   "Bruno",  "Clara",   "David",  "Edith", "Felix",  "Greta",   "Hugo",     "Ida",   "Jakob",  "Katrin",
    "Leo",    "Marta",  "Nils",    "Olga",   "Paul",  "Quirin", "Rosa",    "Simon",    "Thea",  "Ulrich", "Vera",
    "Walter", "Xenia",  "Yann",    "Zita",   "Agnes", "Bernd",  "Cecilia", "Dora",     "Emil",  "Frieda", "Georg",
    "Hanna",  "Ivo",    "Johanna", "Karl",   "Lena",  "Moritz", "Nora",    "Oskar",    "Petra", "Ralf",   "Sofia",
    "Tilda",  "Ursula", "Viktor",  "Wanda",  "Alma",  "Benno",  "Carla",   "Dietrich", "Elsa",  "Franz",  "Gisela",
    "Henrik", "Irma",   "Jonas",   "Kaspar", "Lotte", "Magnus", "Nelly",   "Otto",     "Pia"};

static const char *const town_begins[TOWN_BEGINS] = {"Ash",   "Beech", "Clear", "Deer",  "Elm",    "Fern",  "Green",
                                                     "Hazel", "Iron",  "King",  "Lark",  "Mill",   "North", "Oak",
                                                     "Pine",  "Rook",  "Stone", "Thorn", "Willow", "Yew"};
static const char *const town_ends[TOWN_ENDS] = {"ford",  "ton",  "well", "bury", "field",  "brook",
                                                 "stead", "wick", "dale", "ham",  "bridge", "hill"};

/* Four live in a home: two adults, a child, and an elder or another adult. Bakers and innkeepers have low numbers, so
 * that a small town has them. */
static const uint8_t roles[FOLK_TOWN_PEOPLE] = {
    FOLK_BAKER,     FOLK_FARMER,   FOLK_CHILD, FOLK_ELDER, FOLK_INNKEEPER, FOLK_SMITH,    FOLK_CHILD, FOLK_FARMER,
    FOLK_GUARD,     FOLK_MERCHANT, FOLK_CHILD, FOLK_ELDER, FOLK_BAKER,     FOLK_FARMER,   FOLK_CHILD, FOLK_FARMER,
    FOLK_GUARD,     FOLK_FARMER,   FOLK_CHILD, FOLK_ELDER, FOLK_MERCHANT,  FOLK_SMITH,    FOLK_CHILD, FOLK_FARMER,
    FOLK_BAKER,     FOLK_FARMER,   FOLK_CHILD, FOLK_ELDER, FOLK_GUARD,     FOLK_FARMER,   FOLK_CHILD, FOLK_MERCHANT,
    FOLK_INNKEEPER, FOLK_FARMER,   FOLK_CHILD, FOLK_ELDER, FOLK_GUARD,     FOLK_SMITH,    FOLK_CHILD, FOLK_FARMER,
    FOLK_BAKER,     FOLK_FARMER,   FOLK_CHILD, FOLK_ELDER, FOLK_GUARD,     FOLK_MERCHANT, FOLK_CHILD, FOLK_FARMER};

static float share(uint64_t random, uint32_t which) {
  return muster_random_share(scaffold_scatter(random + which));
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* Every town takes the names in order, beginning with a different one. */
const char *folk_first_name(const folk_town *town, uint32_t member) {
  return first_names[(town->number * 7 + member) % FIRST_NAMES];
}

/* The same pairs of beginning and end would come again after 60 towns, so ends then move on by one: 240 names. */
void folk_name(const folk_town *town, uint32_t member, char *text, size_t bytes) {
  uint32_t kind = town->number % (TOWN_BEGINS * TOWN_ENDS), again = town->number / (TOWN_BEGINS * TOWN_ENDS);
  char number[16] = "";
  if (again) snprintf(number, sizeof number, " %u", again + 1);
  snprintf(text, bytes, "%s of %s%s%s", folk_first_name(town, member), town_begins[kind % TOWN_BEGINS],
           town_ends[(kind + kind / 60) % TOWN_ENDS], number);
}

static bool same_name(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    char of_a = *a == '-' ? ' ' : *a, of_b = *b == '-' ? ' ' : *b;
    if (strncasecmp(&of_a, &of_b, 1) != 0) return false;
  }
  return *a == *b;
}

bool folk_find(const struct folk *folk, const char *name, uint32_t *town, uint32_t *member) {
  char full[EXAMPLES_BYTES];
  for (*town = 0; *town < folk->town_count; (*town)++)
    for (*member = 0; *member < folk->towns[*town].people; (*member)++) {
      folk_name(&folk->towns[*town], *member, full, sizeof full);
      if (same_name(name, full) || same_name(name, folk_first_name(&folk->towns[*town], *member))) return true;
    }
  return false;
}

const char *const folk_role_words[FOLK_ROLES] = {"farmer",   "baker",     "smith", "guard",
                                                 "merchant", "innkeeper", "child", "elder"};

/* ------------------------------------------------------------------------------------------------------ characters */

/* Which desires of a role are stronger than chance made them. */
static void set_desires(folk_self *self, uint64_t random) {
  static const uint8_t of_role[FOLK_ROLES][2] = {
      [FOLK_FARMER] = {FOLK_INDEPENDENCE, FOLK_EXERCISE}, [FOLK_BAKER] = {FOLK_ORDER, FOLK_FAMILY},
      [FOLK_SMITH] = {FOLK_EXERCISE, FOLK_STATUS},        [FOLK_GUARD] = {FOLK_HONOUR, FOLK_POWER},
      [FOLK_MERCHANT] = {FOLK_SAVING, FOLK_STATUS},       [FOLK_INNKEEPER] = {FOLK_SOCIAL_CONTACT, FOLK_EATING},
      [FOLK_CHILD] = {FOLK_CURIOSITY, FOLK_FAMILY},       [FOLK_ELDER] = {FOLK_TRANQUILLITY, FOLK_IDEALISM}};
  for (uint32_t i = 0; i < FOLK_DESIRES; i++) {
    float one = share(random, 20 + i), other = share(random, 40 + i);
    self->desires[i] = 0.15f + 0.7f * one * other + 0.15f * one;
  }
  for (uint32_t i = 0; i < 2; i++) {
    float *desire = &self->desires[of_role[self->role][i]];
    *desire = 1.0f - 0.6f * (1.0f - *desire);
  }
}

/* Fills the relations: the others of its home, and some of the town. Couples love each other. */
static void set_relations(const folk_town *town, folk_self *self, uint64_t random) {
  uint32_t home = self->member / FOLK_HOME_PEOPLE, own = self->member % FOLK_HOME_PEOPLE, count = 0;
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) self->relations[i].who = FOLK_NOBODY;
  for (uint32_t i = 0; i < FOLK_HOME_PEOPLE; i++) {
    uint32_t who = home * FOLK_HOME_PEOPLE + i;
    if (i == own || who >= town->people) continue;
    bool couple = i < 2 && own < 2;
    self->relations[count++] = (folk_relation){.who = (uint16_t)who,
                                               .liking = (int8_t)(40 + 40 * share(random, 60 + i)),
                                               .bonds = couple ? FOLK_FAMILY_BOND | FOLK_LOVE_BOND : FOLK_FAMILY_BOND};
  }
  for (uint32_t i = 0; i < 2 && town->people > FOLK_HOME_PEOPLE; i++) {
    uint32_t who = (self->member + FOLK_HOME_PEOPLE + (uint32_t)(7.0f * share(random, 70 + i)) * 5) % town->people;
    if (who / FOLK_HOME_PEOPLE == home || folk_relation_to(self, who)) continue;
    float liking = 120.0f * share(random, 80 + i) - 50.0f;
    self->relations[count++] = (folk_relation){.who = (uint16_t)who, .liking = (int8_t)liking};
  }
}

/* Bakers rise three hours early, innkeepers two late, and some guards rise when others go to bed. */
static int16_t shift_of(const folk_self *self, uint64_t random) {
  int32_t shift = (int32_t)(90.0f * share(random, 1)) - 45;
  if (self->role == FOLK_BAKER) shift += 180;
  if (self->role == FOLK_INNKEEPER) shift -= 120;
  if (self->role == FOLK_GUARD && self->member % 3 == 1) shift += 720;
  return (int16_t)(shift > 720 ? shift - 1440 : shift);
}

/* Sets the debts at this hour of its own clock, about as they would be after a long time. */
static void set_debts(folk_self *self, uint64_t random) {
  float hour = (float)folk_own_minute(self, 0) / 60.0f;
  bool awake = hour >= 6.0f && hour < 22.0f;
  self->sleep_owed = awake ? (hour - 6.0f) / 3.0f : 5.3f - fmodf(hour + 2.0f, 24.0f) * 2.0f / 3.0f;
  float full_day = self->role == FOLK_CHILD || self->role == FOLK_ELDER ? 0.5f : 1.0f;
  float owed = hour < 8.0f ? 2.5f + hour / 3.0f : hour < 17.0f ? 5.2f - 0.58f * (hour - 8.0f) : (hour - 17.0f) / 3.0f;
  self->work_owed = full_day * owed;
  self->hunger = 0.3f + 0.7f * share(random, 2);
}

void folk_make(const folk_town *town, uint32_t member, folk_self *self, folk_face *face) {
  uint64_t random =
      scaffold_scatter(town->folk->base.seed ^ scaffold_scatter((uint64_t)town->number * FOLK_TOWN_PEOPLE + member)) |
      1;
  *self = (folk_self){.member = (uint16_t)member,
                      .town = town->number,
                      .role = roles[member],
                      .gift_to = FOLK_NOBODY,
                      .urge_whom = FOLK_NOBODY,
                      .urge_goal = FOLK_NO_GOAL,
                      .goal = FOLK_NO_GOAL,
                      .place = FOLK_HOME,
                      .coins = (int32_t)(45.0f * share(random, 3)),
                      .bread = (uint16_t)(3.0f * share(random, 4)),
                      .noticed_hour = folk_hour_number(0)};
  self->shift_minutes = shift_of(self, random);
  set_desires(self, random);
  set_relations(town, self, random);
  set_debts(self, random);
  folk_spot(self, FOLK_HOME, &self->x, &self->y);
  *face = (folk_face){
      .member = self->member, .role = self->role, .place = FOLK_HOME, .action = FOLK_IDLE, .emotion = FOLK_CALM};
}
