#include "townsfolk_plan.h"

#define WALK(place, name, meters)                                                                                      \
  [FOLK_GO + (place)] = {"go " name, 0, FOLK_AT(place), FOLK_AT_ANY & ~FOLK_AT(place), meters, 0, 0}
/* A deed that is done in one place. */
#define DEED(place, action, name, needs, ...) [action] = {name, FOLK_AT(place) | (needs), __VA_ARGS__}

static const folk_deed deeds[FOLK_ACTIONS] = {
    WALK(FOLK_HOME, "home", 11),
    WALK(FOLK_FIELDS, "to the fields", 13),
    WALK(FOLK_BAKERY, "to the bakery", 8),
    WALK(FOLK_MARKET, "to the market", 7),
    WALK(FOLK_INN, "to the inn", 8),
    WALK(FOLK_SMITHY, "to the smithy", 9),
    WALK(FOLK_WELL, "to the well", 7),
    WALK(FOLK_GATE, "to the gate", 10),
    WALK(FOLK_HALL, "to the hall", 8),
    WALK(FOLK_WOODS, "to the woods", 14),
    DEED(FOLK_HOME, FOLK_DO_SLEEP, "sleep", 0, FOLK_REACHED(FOLK_SLEEP), 0, 600, 0, 0),
    [FOLK_DO_WORK] = {"work", 0, FOLK_REACHED(FOLK_WORK), 0, 60, 0, 0},
    DEED(FOLK_HOME, FOLK_EAT_OWN, "eat of its own bread", FOLK_HAS_BREAD, FOLK_REACHED(FOLK_EAT), 0, 25, 0, 0),
    DEED(FOLK_INN, FOLK_EAT_AT_INN, "eat at the inn", FOLK_HAS_COINS, FOLK_REACHED(FOLK_EAT), 0, 35, 6, 15),
    DEED(FOLK_HALL, FOLK_EAT_ALMS, "eat at the poor's table", 0, FOLK_REACHED(FOLK_EAT), 0, 25, 0, 90),
    DEED(FOLK_MARKET, FOLK_BUY_BREAD, "buy bread", FOLK_HAS_COINS, FOLK_HAS_BREAD, 0, 5, 10, 0),
    DEED(FOLK_SMITHY, FOLK_BORROW_AXE, "borrow an axe", 0, FOLK_HAS_AXE, 0, 5, 0, 5),
    DEED(FOLK_WOODS, FOLK_CUT_WOOD, "cut wood", FOLK_HAS_AXE, FOLK_HAS_WOOD | FOLK_SATISFIED(FOLK_EXERCISE), 0, 40, 0,
         10),
    DEED(FOLK_MARKET, FOLK_SELL_WOOD, "sell wood", FOLK_HAS_WOOD, FOLK_HAS_COINS, FOLK_HAS_WOOD, 5, 0, 0),
    DEED(FOLK_WELL, FOLK_DRAW_WATER, "draw water", 0, FOLK_HAS_WATER, 0, 5, 0, 0),
    DEED(FOLK_HOME, FOLK_TIDY, "put the house in order", FOLK_HAS_WATER, FOLK_SATISFIED(FOLK_ORDER), FOLK_HAS_WATER, 30,
         0, 0),
    DEED(FOLK_FIELDS, FOLK_PICK_FLOWERS, "pick flowers", 0, FOLK_HAS_FLOWERS, 0, 15, 0, 0),
    DEED(FOLK_MARKET, FOLK_BUY_FLOWERS, "buy flowers", FOLK_HAS_COINS, FOLK_HAS_FLOWERS, 0, 5, 3, 0),
    DEED(FOLK_WELL, FOLK_COURT, "meet the beloved", FOLK_HAS_FLOWERS | FOLK_HAS_BELOVED, FOLK_SATISFIED(FOLK_ROMANCE),
         FOLK_HAS_FLOWERS, 40, 0, 0),
    DEED(FOLK_INN, FOLK_CHAT_AT_INN, "chat at the inn", FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_SOCIAL_CONTACT), 0, 40, 2,
         0),
    DEED(FOLK_WELL, FOLK_CHAT_AT_WELL, "chat at the well", 0, FOLK_SATISFIED(FOLK_SOCIAL_CONTACT), 0, 30, 0, 10),
    DEED(FOLK_GATE, FOLK_HEAR_NEWS, "ask travellers for news", 0, FOLK_SATISFIED(FOLK_CURIOSITY), 0, 30, 0, 0),
    DEED(FOLK_HALL, FOLK_SPEAK_UP, "speak up in the hall", FOLK_SATISFIED(FOLK_CURIOSITY), FOLK_SATISFIED(FOLK_POWER),
         0, 40, 0, 0),
    DEED(FOLK_MARKET, FOLK_BUY_FINERY, "buy finery", FOLK_HAS_COINS, FOLK_HAS_FINERY, 0, 15, 8, 0),
    DEED(FOLK_INN, FOLK_SHOW_OFF, "show off the finery over ale", FOLK_HAS_FINERY | FOLK_HAS_COINS,
         FOLK_SATISFIED(FOLK_STATUS), FOLK_HAS_FINERY, 35, 2, 0),
    DEED(FOLK_WOODS, FOLK_STROLL, "stroll alone", 0, FOLK_SATISFIED(FOLK_INDEPENDENCE), 0, 45, 0, 0),
    DEED(FOLK_MARKET, FOLK_CONFRONT, "have it out with somebody", FOLK_HAS_RIVAL, FOLK_SATISFIED(FOLK_VENGEANCE), 0, 15,
         0, 0),
    DEED(FOLK_GATE, FOLK_TEND_GRAVES, "tend the graves", FOLK_HAS_FLOWERS, FOLK_SATISFIED(FOLK_HONOUR),
         FOLK_HAS_FLOWERS, 30, 0, 0),
    DEED(FOLK_WELL, FOLK_GIVE_BREAD, "give bread to somebody poor", FOLK_HAS_BREAD, FOLK_SATISFIED(FOLK_IDEALISM),
         FOLK_HAS_BREAD, 20, 0, 0),
    DEED(FOLK_FIELDS, FOLK_RUN, "run round the fields", 0, FOLK_SATISFIED(FOLK_EXERCISE), 0, 30, 0, 0),
    DEED(FOLK_HOME, FOLK_PLAY, "play with the family", 0, FOLK_SATISFIED(FOLK_FAMILY), 0, 40, 0, 0),
    DEED(FOLK_INN, FOLK_FEAST, "feast at the inn", FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_EATING), 0, 45, 8, 0),
    DEED(FOLK_WELL, FOLK_APOLOGISE, "apologise with flowers", FOLK_HAS_FLOWERS | FOLK_HAS_WRONGED,
         FOLK_SATISFIED(FOLK_ACCEPTANCE), FOLK_HAS_FLOWERS | FOLK_HAS_WRONGED, 20, 0, 0),
    DEED(FOLK_INN, FOLK_JOIN_IN, "sing along at the inn", 0, FOLK_SATISFIED(FOLK_ACCEPTANCE), 0, 40, 0, 30),
    DEED(FOLK_HOME, FOLK_REST, "sit quietly at home", 0, FOLK_SATISFIED(FOLK_TRANQUILLITY), 0, 30, 0, 0),
    DEED(FOLK_HALL, FOLK_SAVE, "put coins aside", FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_SAVING), 0, 10, 10, 0),
    [FOLK_IDLE] = {"look around", 0, 0, 0, 10, 0, 0},
};

const folk_deed *folk_deed_of(uint32_t action) {
  return &deeds[action];
}

const char *folk_goal_words(uint32_t goal) {
  static const char *const words[FOLK_GOALS + 1] = {
      [FOLK_SLEEP] = "sleep",
      [FOLK_EAT] = "eat",
      [FOLK_WORK] = "do its work",
      [FOLK_WISH(FOLK_POWER)] = "have a say",
      [FOLK_WISH(FOLK_CURIOSITY)] = "know what is new",
      [FOLK_WISH(FOLK_INDEPENDENCE)] = "be alone for once",
      [FOLK_WISH(FOLK_STATUS)] = "be admired",
      [FOLK_WISH(FOLK_SOCIAL_CONTACT)] = "talk with somebody",
      [FOLK_WISH(FOLK_VENGEANCE)] = "get even",
      [FOLK_WISH(FOLK_HONOUR)] = "honour the dead",
      [FOLK_WISH(FOLK_IDEALISM)] = "help the poor",
      [FOLK_WISH(FOLK_EXERCISE)] = "move about",
      [FOLK_WISH(FOLK_ROMANCE)] = "be with its beloved",
      [FOLK_WISH(FOLK_FAMILY)] = "be with its family",
      [FOLK_WISH(FOLK_ORDER)] = "have a tidy house",
      [FOLK_WISH(FOLK_EATING)] = "feast",
      [FOLK_WISH(FOLK_ACCEPTANCE)] = "belong",
      [FOLK_WISH(FOLK_TRANQUILLITY)] = "have peace",
      [FOLK_WISH(FOLK_SAVING)] = "save",
      [FOLK_NO_GOAL] = "do nothing",
  };
  return words[goal <= FOLK_NO_GOAL ? goal : FOLK_NO_GOAL];
}

/* --------------------------------------------------------------------------------------------------- prepared plans */

/* By number: what the character does, each deed in its place; most plans have one deed, some two. */
static const uint8_t prepared_deeds[FOLK_PREPARED][FOLK_PREPARED_DEEDS] = {
    {FOLK_DO_SLEEP},
    {FOLK_EAT_OWN},
    {FOLK_BUY_BREAD, FOLK_EAT_OWN},
    {FOLK_EAT_AT_INN},
    {FOLK_EAT_ALMS},
    {FOLK_DO_WORK},
    {FOLK_HEAR_NEWS, FOLK_SPEAK_UP},
    {FOLK_HEAR_NEWS},
    {FOLK_STROLL},
    {FOLK_BUY_FINERY, FOLK_SHOW_OFF},
    {FOLK_CHAT_AT_INN},
    {FOLK_CHAT_AT_WELL},
    {FOLK_CONFRONT},
    {FOLK_PICK_FLOWERS, FOLK_TEND_GRAVES},
    {FOLK_GIVE_BREAD},
    {FOLK_RUN},
    {FOLK_BUY_FLOWERS, FOLK_COURT},
    {FOLK_PICK_FLOWERS, FOLK_COURT},
    {FOLK_PLAY},
    {FOLK_DRAW_WATER, FOLK_TIDY},
    {FOLK_FEAST},
    {FOLK_BUY_FLOWERS, FOLK_APOLOGISE},
    {FOLK_JOIN_IN},
    {FOLK_REST},
    {FOLK_SAVE},
};

const kit_prepared folk_prepared[FOLK_PREPARED] = {
    {.purpose = FOLK_SLEEP, .weight = 1},
    {.purpose = FOLK_EAT, .weight = 12, .needs = FOLK_HAS_BREAD},
    {.purpose = FOLK_EAT, .weight = 6, .needs = FOLK_HAS_COINS},
    {.purpose = FOLK_EAT, .weight = 1, .needs = FOLK_HAS_COINS},
    {.purpose = FOLK_EAT, .weight = 1},
    {.purpose = FOLK_WORK, .weight = 1},
    {.purpose = FOLK_WISH(FOLK_POWER), .weight = 1},
    {.purpose = FOLK_WISH(FOLK_CURIOSITY), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_INDEPENDENCE), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_STATUS), .weight = 1, .needs = FOLK_HAS_COINS | FOLK_HAS_PLENTY},
    {.purpose = FOLK_WISH(FOLK_SOCIAL_CONTACT), .weight = 3, .needs = FOLK_HAS_COINS},
    {.purpose = FOLK_WISH(FOLK_SOCIAL_CONTACT), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_VENGEANCE), .weight = 1, .needs = FOLK_HAS_RIVAL},
    {.purpose = FOLK_WISH(FOLK_HONOUR), .weight = 1},
    {.purpose = FOLK_WISH(FOLK_IDEALISM), .weight = 1, .needs = FOLK_HAS_BREAD},
    {.purpose = FOLK_WISH(FOLK_EXERCISE), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_ROMANCE), .weight = 1, .needs = FOLK_HAS_BELOVED | FOLK_HAS_COINS},
    {.purpose = FOLK_WISH(FOLK_ROMANCE), .weight = 1, .needs = FOLK_HAS_BELOVED},
    {.purpose = FOLK_WISH(FOLK_FAMILY), .weight = 3},
    {.purpose = FOLK_WISH(FOLK_ORDER), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_EATING), .weight = 1, .needs = FOLK_HAS_COINS},
    {.purpose = FOLK_WISH(FOLK_ACCEPTANCE), .weight = 1, .needs = FOLK_HAS_WRONGED | FOLK_HAS_COINS},
    {.purpose = FOLK_WISH(FOLK_ACCEPTANCE), .weight = 1},
    {.purpose = FOLK_WISH(FOLK_TRANQUILLITY), .weight = 2},
    {.purpose = FOLK_WISH(FOLK_SAVING), .weight = 1, .needs = FOLK_HAS_COINS},
};

/* Work is the only deed without a place of its own. */
folk_plan folk_prepared_plan(uint32_t number, folk_place workplace) {
  folk_plan plan = {0};
  for (uint32_t i = 0; i < FOLK_PREPARED_DEEDS && prepared_deeds[number][i]; i++) {
    uint8_t deed = prepared_deeds[number][i];
    uint64_t at = deeds[deed].needs & FOLK_AT_ANY;
    plan.steps[plan.count++] = (uint8_t)(FOLK_GO + (at ? (uint32_t)__builtin_ctzll(at) : workplace));
    plan.steps[plan.count++] = deed;
  }
  return plan;
}
