#include "scenarios/townsfolk_plan.h"

#define WALK(place, name, meters)                                                                                      \
  [FOLK_GO + (place)] = {"go " name, 0, FOLK_AT(place), FOLK_AT_ANY & ~FOLK_AT(place), meters, 0, 0}

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
    [FOLK_DO_SLEEP] = {"sleep", FOLK_AT(FOLK_HOME), FOLK_REACHED(FOLK_SLEEP), 0, 600, 0, 0},
    [FOLK_DO_WORK] = {"work", 0, FOLK_REACHED(FOLK_WORK), 0, 60, 0, 0},
    [FOLK_EAT_OWN] = {"eat of its own bread", FOLK_AT(FOLK_HOME) | FOLK_HAS_BREAD, FOLK_REACHED(FOLK_EAT), 0, 25, 0, 0},
    [FOLK_EAT_AT_INN] = {"eat at the inn", FOLK_AT(FOLK_INN) | FOLK_HAS_COINS, FOLK_REACHED(FOLK_EAT), 0, 35, 6, 15},
    [FOLK_EAT_ALMS] = {"eat at the poor's table", FOLK_AT(FOLK_HALL), FOLK_REACHED(FOLK_EAT), 0, 25, 0, 90},
    [FOLK_BUY_BREAD] = {"buy bread", FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS, FOLK_HAS_BREAD, 0, 5, 10, 0},
    [FOLK_BORROW_AXE] = {"borrow an axe", FOLK_AT(FOLK_SMITHY), FOLK_HAS_AXE, 0, 5, 0, 5},
    [FOLK_CUT_WOOD] = {"cut wood", FOLK_AT(FOLK_WOODS) | FOLK_HAS_AXE, FOLK_HAS_WOOD | FOLK_SATISFIED(FOLK_EXERCISE), 0,
                       40, 0, 10},
    [FOLK_SELL_WOOD] = {"sell wood", FOLK_AT(FOLK_MARKET) | FOLK_HAS_WOOD, FOLK_HAS_COINS, FOLK_HAS_WOOD, 5, 0, 0},
    [FOLK_DRAW_WATER] = {"draw water", FOLK_AT(FOLK_WELL), FOLK_HAS_WATER, 0, 5, 0, 0},
    [FOLK_TIDY] = {"put the house in order", FOLK_AT(FOLK_HOME) | FOLK_HAS_WATER, FOLK_SATISFIED(FOLK_ORDER),
                   FOLK_HAS_WATER, 30, 0, 0},
    [FOLK_PICK_FLOWERS] = {"pick flowers", FOLK_AT(FOLK_FIELDS), FOLK_HAS_FLOWERS, 0, 15, 0, 0},
    [FOLK_BUY_FLOWERS] = {"buy flowers", FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS, FOLK_HAS_FLOWERS, 0, 5, 3, 0},
    [FOLK_COURT] = {"meet the beloved", FOLK_AT(FOLK_WELL) | FOLK_HAS_FLOWERS | FOLK_HAS_BELOVED,
                    FOLK_SATISFIED(FOLK_ROMANCE), FOLK_HAS_FLOWERS, 40, 0, 0},
    [FOLK_CHAT_AT_INN] = {"chat at the inn", FOLK_AT(FOLK_INN) | FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_SOCIAL_CONTACT), 0,
                          40, 2, 0},
    [FOLK_CHAT_AT_WELL] = {"chat at the well", FOLK_AT(FOLK_WELL), FOLK_SATISFIED(FOLK_SOCIAL_CONTACT), 0, 30, 0, 10},
    [FOLK_HEAR_NEWS] = {"ask travellers for news", FOLK_AT(FOLK_GATE), FOLK_SATISFIED(FOLK_CURIOSITY), 0, 30, 0, 0},
    [FOLK_SPEAK_UP] = {"speak up in the hall", FOLK_AT(FOLK_HALL) | FOLK_SATISFIED(FOLK_CURIOSITY),
                       FOLK_SATISFIED(FOLK_POWER), 0, 40, 0, 0},
    [FOLK_BUY_FINERY] = {"buy finery", FOLK_AT(FOLK_MARKET) | FOLK_HAS_COINS, FOLK_HAS_FINERY, 0, 15, 8, 0},
    [FOLK_SHOW_OFF] = {"show off the finery over ale", FOLK_AT(FOLK_INN) | FOLK_HAS_FINERY | FOLK_HAS_COINS,
                       FOLK_SATISFIED(FOLK_STATUS), FOLK_HAS_FINERY, 35, 2, 0},
    [FOLK_STROLL] = {"stroll alone", FOLK_AT(FOLK_WOODS), FOLK_SATISFIED(FOLK_INDEPENDENCE), 0, 45, 0, 0},
    [FOLK_CONFRONT] = {"have it out with somebody", FOLK_AT(FOLK_MARKET) | FOLK_HAS_RIVAL,
                       FOLK_SATISFIED(FOLK_VENGEANCE), 0, 15, 0, 0},
    [FOLK_TEND_GRAVES] = {"tend the graves", FOLK_AT(FOLK_GATE) | FOLK_HAS_FLOWERS, FOLK_SATISFIED(FOLK_HONOUR),
                          FOLK_HAS_FLOWERS, 30, 0, 0},
    [FOLK_GIVE_BREAD] = {"give bread to somebody poor", FOLK_AT(FOLK_WELL) | FOLK_HAS_BREAD,
                         FOLK_SATISFIED(FOLK_IDEALISM), FOLK_HAS_BREAD, 20, 0, 0},
    [FOLK_RUN] = {"run round the fields", FOLK_AT(FOLK_FIELDS), FOLK_SATISFIED(FOLK_EXERCISE), 0, 30, 0, 0},
    [FOLK_PLAY] = {"play with the family", FOLK_AT(FOLK_HOME), FOLK_SATISFIED(FOLK_FAMILY), 0, 40, 0, 0},
    [FOLK_FEAST] = {"feast at the inn", FOLK_AT(FOLK_INN) | FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_EATING), 0, 45, 8, 0},
    [FOLK_APOLOGISE] = {"apologise with flowers", FOLK_AT(FOLK_WELL) | FOLK_HAS_FLOWERS | FOLK_HAS_WRONGED,
                        FOLK_SATISFIED(FOLK_ACCEPTANCE), FOLK_HAS_FLOWERS | FOLK_HAS_WRONGED, 20, 0, 0},
    [FOLK_JOIN_IN] = {"sing along at the inn", FOLK_AT(FOLK_INN), FOLK_SATISFIED(FOLK_ACCEPTANCE), 0, 40, 0, 30},
    [FOLK_REST] = {"sit quietly at home", FOLK_AT(FOLK_HOME), FOLK_SATISFIED(FOLK_TRANQUILLITY), 0, 30, 0, 0},
    [FOLK_SAVE] = {"put coins aside", FOLK_AT(FOLK_HALL) | FOLK_HAS_COINS, FOLK_SATISFIED(FOLK_SAVING), 0, 10, 10, 0},
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

/* Stands for the character's workplace. */
enum { WORKPLACE = FOLK_PLACES };

/* By number: where the character goes, and what it does there; most plans do this once, some twice. */
static const uint8_t prepared_steps[FOLK_PREPARED][FOLK_PREPARED_STEPS] = {
    {FOLK_HOME, FOLK_DO_SLEEP},
    {FOLK_HOME, FOLK_EAT_OWN},
    {FOLK_MARKET, FOLK_BUY_BREAD, FOLK_HOME, FOLK_EAT_OWN},
    {FOLK_INN, FOLK_EAT_AT_INN},
    {FOLK_HALL, FOLK_EAT_ALMS},
    {WORKPLACE, FOLK_DO_WORK},
    {FOLK_GATE, FOLK_HEAR_NEWS, FOLK_HALL, FOLK_SPEAK_UP},
    {FOLK_GATE, FOLK_HEAR_NEWS},
    {FOLK_WOODS, FOLK_STROLL},
    {FOLK_MARKET, FOLK_BUY_FINERY, FOLK_INN, FOLK_SHOW_OFF},
    {FOLK_INN, FOLK_CHAT_AT_INN},
    {FOLK_WELL, FOLK_CHAT_AT_WELL},
    {FOLK_MARKET, FOLK_CONFRONT},
    {FOLK_FIELDS, FOLK_PICK_FLOWERS, FOLK_GATE, FOLK_TEND_GRAVES},
    {FOLK_WELL, FOLK_GIVE_BREAD},
    {FOLK_FIELDS, FOLK_RUN},
    {FOLK_MARKET, FOLK_BUY_FLOWERS, FOLK_WELL, FOLK_COURT},
    {FOLK_FIELDS, FOLK_PICK_FLOWERS, FOLK_WELL, FOLK_COURT},
    {FOLK_HOME, FOLK_PLAY},
    {FOLK_WELL, FOLK_DRAW_WATER, FOLK_HOME, FOLK_TIDY},
    {FOLK_INN, FOLK_FEAST},
    {FOLK_MARKET, FOLK_BUY_FLOWERS, FOLK_WELL, FOLK_APOLOGISE},
    {FOLK_INN, FOLK_JOIN_IN},
    {FOLK_HOME, FOLK_REST},
    {FOLK_HALL, FOLK_SAVE},
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

folk_plan folk_prepared_plan(uint32_t number, folk_place workplace) {
  const uint8_t *steps = prepared_steps[number];
  folk_plan plan = {.count = steps[3] ? 4 : 2};
  for (uint32_t i = 0; i < plan.count; i += 2) {
    plan.steps[i] = (uint8_t)(FOLK_GO + (steps[i] == WORKPLACE ? workplace : steps[i]));
    plan.steps[i + 1] = steps[i + 1];
  }
  return plan;
}
