/* worlds/townsfolk_plan.h - how townsfolk plan: facts, actions with needs and effects, prepared plans, and a planner
 * that searches backward from a goal.
 *
 *     townsfolk_actions.c  the actions and the prepared plans
 *     townsfolk_plan.c     the planner
 *
 * A fact is a bit. A plan is a list of actions whose last one makes the goal's fact true. */
#ifndef WORLDS_TOWNSFOLK_PLAN_H
#define WORLDS_TOWNSFOLK_PLAN_H

#include "scenarios/kit_reduction.h"

typedef enum folk_place {
  FOLK_HOME = 0,
  FOLK_FIELDS,
  FOLK_BAKERY,
  FOLK_MARKET,
  FOLK_INN,
  FOLK_SMITHY,
  FOLK_WELL,
  FOLK_GATE,
  FOLK_HALL,
  FOLK_WOODS,
  FOLK_PLACES
} folk_place;

/* Reiss' basic desires. */
typedef enum folk_desire {
  FOLK_POWER = 0,
  FOLK_CURIOSITY,
  FOLK_INDEPENDENCE,
  FOLK_STATUS,
  FOLK_SOCIAL_CONTACT,
  FOLK_VENGEANCE,
  FOLK_HONOUR,
  FOLK_IDEALISM,
  FOLK_EXERCISE,
  FOLK_ROMANCE,
  FOLK_FAMILY,
  FOLK_ORDER,
  FOLK_EATING,
  FOLK_ACCEPTANCE,
  FOLK_TRANQUILLITY,
  FOLK_SAVING,
  FOLK_DESIRES
} folk_desire;

/* First the needs of the body and the town, then one goal for each desire. */
enum {
  FOLK_SLEEP = 0,
  FOLK_EAT,
  FOLK_WORK,
  FOLK_WISHES,
  FOLK_GOALS = FOLK_WISHES + FOLK_DESIRES,
  FOLK_NO_GOAL = FOLK_GOALS
};

/* Facts: the places come first, FOLK_AT(place); the goals last, FOLK_REACHED(goal). */
#define FOLK_AT(place)         (1ull << (place))
#define FOLK_AT_ANY            (FOLK_AT(FOLK_PLACES) - 1)
#define FOLK_REACHED(goal)     (1ull << (40 + (goal)))
#define FOLK_WISH(desire)      (FOLK_WISHES + (desire))
#define FOLK_SATISFIED(desire) FOLK_REACHED(FOLK_WISH(desire))
#define FOLK_HAS_BREAD         (1ull << 16)
#define FOLK_HAS_COINS         (1ull << 17) /* enough for any purchase */
#define FOLK_HAS_AXE           (1ull << 18)
#define FOLK_HAS_WOOD          (1ull << 19)
#define FOLK_HAS_WATER         (1ull << 20)
#define FOLK_HAS_FLOWERS       (1ull << 21)
#define FOLK_HAS_FINERY        (1ull << 22)
#define FOLK_HAS_RIVAL         (1ull << 23) /* knows a character that wronged it */
#define FOLK_HAS_BELOVED       (1ull << 24)
#define FOLK_HAS_WRONGED       (1ull << 25) /* knows a character that it wronged */
#define FOLK_HAS_PLENTY        (1ull << 26) /* coins for a second purchase, too */
#define FOLK_ITEMS             (FOLK_HAS_AXE | FOLK_HAS_WATER | FOLK_HAS_FLOWERS | FOLK_HAS_FINERY)

typedef enum folk_action {
  FOLK_GO = 0, /* FOLK_GO + place */
  FOLK_DO_SLEEP = FOLK_GO + FOLK_PLACES,
  FOLK_DO_WORK,
  FOLK_EAT_OWN,
  FOLK_EAT_AT_INN,
  FOLK_EAT_ALMS,
  FOLK_BUY_BREAD,
  FOLK_BORROW_AXE,
  FOLK_CUT_WOOD,
  FOLK_SELL_WOOD,
  FOLK_DRAW_WATER,
  FOLK_TIDY,
  FOLK_PICK_FLOWERS,
  FOLK_BUY_FLOWERS,
  FOLK_COURT,
  FOLK_CHAT_AT_INN,
  FOLK_CHAT_AT_WELL,
  FOLK_HEAR_NEWS,
  FOLK_SPEAK_UP,
  FOLK_BUY_FINERY,
  FOLK_SHOW_OFF,
  FOLK_STROLL,
  FOLK_CONFRONT,
  FOLK_TEND_GRAVES,
  FOLK_GIVE_BREAD,
  FOLK_RUN,
  FOLK_PLAY,
  FOLK_FEAST,
  FOLK_APOLOGISE,
  FOLK_JOIN_IN,
  FOLK_REST,
  FOLK_SAVE,
  FOLK_IDLE, /* serves no goal */
  FOLK_ACTIONS
} folk_action;

typedef struct folk_deed {
  const char *words; /* as in "wants to ..." */
  uint64_t needs, gives, takes;
  uint16_t minutes; /* of game time; for walks the mean, for sleep and work the most */
  uint8_t coins;    /* coins that it costs */
  uint8_t bother;   /* what else counts against it, in minutes */
} folk_deed;

/* What an action needs, gives and takes. */
const folk_deed *folk_deed_of(uint32_t action);

/* The name of a goal, as in "wants to ...". */
const char *folk_goal_words(uint32_t goal);

enum { FOLK_STEPS_MAX = 14, FOLK_NODES_MAX = 176, FOLK_PREPARED = 25, FOLK_PREPARED_DEEDS = 2 };

/* Actions to do one after another. */
typedef struct folk_plan {
  uint8_t count, at; /* `at` is the step under way; count when there is none */
  uint8_t steps[FOLK_STEPS_MAX];
} folk_plan;

/* Prepared plans, which every character knows; an option is its number. */
extern const kit_prepared folk_prepared[FOLK_PREPARED];

/* The prepared plan of that number for a character that works at `workplace`. */
folk_plan folk_prepared_plan(uint32_t number, folk_place workplace);

/* The input of a search. */
typedef struct folk_problem {
  uint64_t facts;              /* facts that hold */
  uint64_t blocked;            /* forbidden actions, as bits */
  folk_place workplace;        /* where FOLK_DO_WORK is done */
  bool rich;                   /* one purchase leaves coins for the next */
  uint8_t costs[FOLK_ACTIONS]; /* minutes, as this character counts them; at least 1 */
} folk_problem;

/* Finds the cheapest plan from what holds to a goal's fact, by search backward from it: a node is what must hold before
 * the steps found so far. False when there is none within `nodes_most` (1 .. FOLK_NODES_MAX) nodes. The nodes made are
 * added to `nodes`, the cost in minutes goes to `cost`. */
bool folk_plan_search(const folk_problem *problem, uint32_t goal, uint32_t nodes_most, folk_plan *plan, uint32_t *cost,
                      uint32_t *nodes);

/* A search that goes on over several updates. */
typedef struct folk_partial_plan {
  uint64_t open; /* what must hold before the steps found so far; 0 = no search is under way */
  uint8_t goal, rounds, count;
  uint8_t steps[FOLK_STEPS_MAX - 1]; /* the last steps of the plan */
} folk_partial_plan;

typedef enum folk_progress { FOLK_THINKING = 0, FOLK_FOUND, FOLK_LOST } folk_progress;

/* Begins a search over several updates. */
void folk_partial_begin(folk_partial_plan *partial, uint32_t goal);

/* Goes on with it for `nodes_most` nodes, and then keeps to the most promising steps. FOLK_FOUND: `plan` is complete.
 * FOLK_LOST: these steps lead nowhere, and the search is over. */
folk_progress folk_partial_continue(folk_partial_plan *partial, const folk_problem *problem, uint32_t nodes_most,
                                    folk_plan *plan, uint32_t *nodes);

/* Whether the steps from `at` on can be done one after another from these facts, and reach the goal. */
bool folk_plan_holds(const folk_problem *problem, const folk_plan *plan, uint32_t goal);

#endif
