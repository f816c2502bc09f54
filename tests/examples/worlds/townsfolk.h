/* worlds/townsfolk.h - the characters of the townsfolk scenario: what they are and how one of their updates goes.
 *
 *     townsfolk.c          the module: towns, the first population, observers, what a snapshot keeps
 *     townsfolk_town.c     places, hours, what happens in a town
 *     townsfolk_people.c   the inhabitants: names, roles, personalities, relations
 *     townsfolk_type.c     the agent types, their levels and what these cost
 *     townsfolk_sense.c    atom 1, perception: messages, neighbours and what happens in the town become events
 *     townsfolk_feel.c       an event is appraised, moves the emotions, and is coped with
 *     townsfolk_live.c     atom 2, behaviour: the time since the last update passes, action by action
 *     townsfolk_wish.c       what each goal is worth
 *     townsfolk_decide.c     which goal is followed, by which plan (townsfolk_plan.h)
 *     townsfolk_deeds.c      what an action that is done changes
 *     townsfolk_act.c      atom 3, action: coins and goods change hands
 *     townsfolk_hall.c     the town's hall: its purse, its stores
 *     townsfolk_watch.c    the log of one character
 *     townsfolk_report.c   the numbers of the world
 *
 * Every character has a time of its own, lived_ns, and an update lives from there to now, however late it is: an action
 * that was over in between ends at its own time, and the next one begins there. Hunger, sleep and work are debts: they
 * grow with time at a fixed rate, and actions pay them off by fixed amounts, so that the meals, wages and goods of a
 * day depend neither on how often nor on how well a character thinks. How well it thinks is its level:
 *
 *     0  weighs all goals with all desires at every update, each with the best plan that a search finds for it
 *     1  weighs with its six strongest desires when a plan has run or something moved it; a search goes on over updates
 *     2  weighs with its three strongest when a plan has run; follows the prepared plans
 *     3  takes a goal and such a plan at random, and counts the goal as reached when the plan's time has passed; keeps
 *        what happened to it, and appraises that when it is met */
#ifndef WORLDS_TOWNSFOLK_H
#define WORLDS_TOWNSFOLK_H

#include "scenarios/scaffold.h"
#include "townsfolk_plan.h"

/* A minute of the town is a second of simulation; the simulation begins at six in the morning. */
#define FOLK_MINUTE_NS 1000000000ull
#define FOLK_HOUR_NS   (60 * FOLK_MINUTE_NS)
#define FOLK_DAY_NS    (24 * FOLK_HOUR_NS)
#define FOLK_DAWN_NS   (6 * FOLK_HOUR_NS)

enum {
  FOLK_TOWN_PEOPLE = 48,
  FOLK_HOME_PEOPLE = 4,
  FOLK_RELATIONS = 6,
  FOLK_REMEMBERED = 4,
  FOLK_TOWN_AGENTS = FOLK_TOWN_PEOPLE + 1, /* the hall is one */
  FOLK_LEVELS = 4,
  FOLK_BREAD_BOUGHT = 2, /* loaves at a time */
  FOLK_ENTRIES_MAX = 256
};

#define FOLK_NOBODY UINT16_MAX
#define FOLK_ON_WAY FOLK_PLACES /* the place of a character that is between places */

typedef enum folk_role {
  FOLK_FARMER = 0,
  FOLK_BAKER,
  FOLK_SMITH,
  FOLK_GUARD,
  FOLK_MERCHANT,
  FOLK_INNKEEPER,
  FOLK_CHILD,
  FOLK_ELDER,
  FOLK_ROLES
} folk_role;

/* Ekman's six. */
typedef enum folk_emotion {
  FOLK_ANGER = 0,
  FOLK_DISGUST,
  FOLK_FEAR,
  FOLK_HAPPINESS,
  FOLK_SADNESS,
  FOLK_SURPRISE,
  FOLK_EMOTIONS,
  FOLK_CALM = FOLK_EMOTIONS /* no emotion is above the threshold */
} folk_emotion;

typedef enum folk_event {
  FOLK_GREETED = 0, /* from here: messages of others */
  FOLK_TALKED_TO,
  FOLK_INSULTED,
  FOLK_GIVEN,
  FOLK_COURTED,
  FOLK_APOLOGISED_TO,
  FOLK_PLAYED_WITH,
  FOLK_ORDERED,
  FOLK_SHOWN_FINERY,
  FOLK_MET_FRIEND, /* from here: what it sees */
  FOLK_MET_RIVAL,
  FOLK_WOLVES, /* what happens in the town */
  FOLK_STRANGERS,
  FOLK_MINSTRELS,
  FOLK_STENCH,
  FOLK_FUNERAL,
  FOLK_NO_BREAD, /* from here: what happens to its plans */
  FOLK_PLAN_FAILED,
  FOLK_REGRET,
  FOLK_EVENTS,
  FOLK_NO_EVENT = FOLK_EVENTS
} folk_event;

typedef enum folk_coping {
  FOLK_BEAR_IT = 0,
  FOLK_FACE_IT,
  FOLK_WITHDRAW,
  FOLK_SEEK_SUPPORT,
  FOLK_MAKE_AMENDS,
  FOLK_SHARE_IT,
  FOLK_EXPLORE_IT,
  FOLK_CLEAN_UP,
  FOLK_COPINGS
} folk_coping;

typedef enum folk_good { FOLK_GRAIN = 0, FOLK_BREAD, FOLK_TOOLS, FOLK_ALE, FOLK_GOODS } folk_good;

/* What a character knows of another. */
typedef struct folk_relation {
  uint16_t who;  /* number in the town; FOLK_NOBODY = a free place */
  int8_t liking; /* -100 .. 100 */
  uint8_t bonds; /* FOLK_FAMILY_BOND ... */
  uint32_t met_minute;
} folk_relation;

enum { FOLK_FAMILY_BOND = 1, FOLK_LOVE_BOND = 2, FOLK_WRONGED_BOND = 4 /* it was unfair to the other one */ };

/* What others see of a character. */
typedef struct folk_face {
  uint16_t member;
  uint8_t role, place, action, emotion, level;
  uint8_t unused;
} folk_face;

/* A message from one character to another. */
typedef struct folk_message {
  uint8_t event, unused;
  uint16_t from;
  float severity; /* 0..1 */
} folk_message;

/* The private state of a character. */
typedef struct folk_self {
  uint64_t lived_ns; /* its own time */
  kit_achievement achievement;
  uint32_t updates[FOLK_LEVELS];
  uint8_t received_bread; /* by others' actions */
  uint8_t level, role, place, goal, urge_goal;
  uint8_t stirred; /* an event moved it since it last decided */
  uint8_t unused;
  uint16_t member, gift_to, urge_whom;
  int16_t shift_minutes; /* its day begins so much earlier; members below do not change while it waits for a goal */
  uint64_t step_begin_ns, step_end_ns; /* begin and end of the action under way */
  folk_plan plan;
  uint64_t felt_ns;       /* the time of its emotions */
  uint64_t urge_until_ns; /* until then the urge that coping left lasts */
  uint64_t items;         /* FOLK_HAS_AXE .. FOLK_HAS_FINERY */
  kit_event_filter filter;
  kit_coping coping;
  kit_goal_lock lock;
  kit_event_log log;
  kit_recorded_event remembered[FOLK_REMEMBERED];
  folk_partial_plan partial;
  float desires[FOLK_DESIRES]; /* 0..1 */
  float emotions[FOLK_EMOTIONS];
  float hunger;                /* meals owed to the body */
  float sleep_owed, work_owed; /* hours */
  float worked;                /* hours, not paid yet */
  float urge;
  float x, y;                       /* metres from the middle of the town: where it is, or where its walk began */
  uint32_t satisfied[FOLK_DESIRES]; /* the minute when last */
  folk_relation relations[FOLK_RELATIONS];
  int32_t coins, savings;
  int32_t due_coins; /* coins to pay; the due members are settled with the hall at the commit */
  uint32_t noticed_hour;
  uint32_t meals, hours, wages;           /* sums over its life */
  uint32_t effort[FOLK_LEVELS];           /* what was weighed, steps of reasoning */
  uint16_t due_bread, due_ale, due_hours; /* bread and ale to take; hours to turn into goods */
  uint16_t quarrels, amends, gifts, bread, wood;
  uint32_t town, longest_plan;
} folk_self;

/* Worlds are hashed byte by byte: no padding. */
_Static_assert(sizeof(folk_self) == 600, "folk_self has padding, or has grown");

typedef struct folk_hall_face {
  int32_t stock[FOLK_GOODS];
} folk_hall_face;

/* The private state of a hall. */
typedef struct folk_hall {
  int64_t coins;
  int32_t stock[FOLK_GOODS];                                        /* below 0: promised */
  uint32_t made[FOLK_GOODS], used[FOLK_GOODS], brought[FOLK_GOODS]; /* brought: by carts, when too little is made */
  uint32_t wear, people;
} folk_hall;

_Static_assert(sizeof(folk_hall) == 80, "folk_hall has padding");

struct folk;

/* One town: written when it is populated, read only after that. */
typedef struct folk_town {
  struct folk *folk;
  uint32_t number, people;
  double x, y;
  muster_agent hall;
  muster_agent members[FOLK_TOWN_PEOPLE];
} folk_town;

typedef enum folk_entry_kind {
  FOLK_ENTRY_DONE = 0, /* an action */
  FOLK_ENTRY_DECIDED,
  FOLK_ENTRY_DROPPED, /* a goal, for another */
  FOLK_ENTRY_FAILED,  /* an action that has become impossible */
  FOLK_ENTRY_THINKS,  /* a search goes on */
  FOLK_ENTRY_EVENT,
  FOLK_ENTRY_KEPT, /* an event, for later */
  FOLK_ENTRY_COPES,
  FOLK_ENTRY_PAID
} folk_entry_kind;

/* A line of the log of a character, before it is turned into words. */
typedef struct folk_entry {
  uint64_t at_ns;
  uint8_t kind, what, goal, place, emotion, level;
  uint16_t who;
  float number;
  folk_plan plan;
} folk_entry;

/* What the watched character wrote since the last frame. Only its own updates write here, one at a time. */
typedef struct folk_journal {
  muster_agent agent; /* null = no character is watched */
  const folk_town *town;
  uint32_t level; /* as told last; FOLK_LEVELS = never */
  uint32_t count, lost;
  uint64_t told_ns;                     /* the latest time that was told */
  folk_entry entries[FOLK_ENTRIES_MAX]; /* in order of time */
} folk_journal;

/* One opened scenario. */
struct folk {
  scaffold base;
  uint32_t town_count, across; /* towns in a row of the land */
  muster_type people, halls;
  folk_town *towns;
  folk_journal journal;
};

/* A character that thinks: what the steps of its update share. Without an update (in tests) it says nothing to others.
 */
typedef struct folk_mind {
  folk_self *self;
  const folk_town *town;
  const folk_hall_face *market; /* what it believes about the stores; null = there is enough */
  muster_update *update;
  folk_journal *journal; /* null = it is not watched */
  uint64_t random;       /* of this update; 0 = not drawn yet */
  uint32_t level;
} folk_mind;

/* ------------------------------------------------------------------------------------------------ townsfolk_town.c */

/* Minutes since midnight, and hours and days since the midnight before the simulation began. */
uint32_t folk_minute_of_day(uint64_t at_ns);
uint32_t folk_hour_number(uint64_t at_ns);

/* The same minute by a character's own clock: a baker's day begins earlier. */
uint32_t folk_own_minute(const folk_self *self, uint64_t at_ns);

/* Where a member of the town stands in a place, metres from the middle. */
void folk_spot(const folk_self *self, uint32_t place, float *x, float *y);

/* Where a role works. */
folk_place folk_workplace(uint32_t role);

/* What happens in a town in an hour; FOLK_NO_EVENT most of the time. */
folk_event folk_happening(const folk_town *town, uint32_t hour);

/* ---------------------------------------------------------------------------------------------- townsfolk_people.c */

/* Fills the state and the face of a new character. */
void folk_make(const folk_town *town, uint32_t member, folk_self *self, folk_face *face);

/* Writes a name, such as "Anna of Ashford"; at most `bytes` with the zero. */
void folk_name(const folk_town *town, uint32_t member, char *text, size_t bytes);

/* The name without the town. */
const char *folk_first_name(const folk_town *town, uint32_t member);

/* Finds the character of a name: "Anna", the first of that name, or "Anna of Ashford"; case does not matter, and '-'
 * stands for a blank. False when there is none. */
bool folk_find(const struct folk *folk, const char *name, uint32_t *town, uint32_t *member);

/* The names of the roles. */
extern const char *const folk_role_words[FOLK_ROLES];

/* ------------------------------------------------------------------------------------------------ townsfolk_feel.c */

/* The words for an event, as in "it is greeted". */
const char *folk_event_words(uint32_t event);

/* Lets emotions fade up to a time. */
void folk_feel_until(folk_self *self, uint64_t now_ns);

/* The strongest emotion, or FOLK_CALM. */
folk_emotion folk_strongest(const folk_self *self);

/* Which desires take part in a decision at a level, as bits. */
uint32_t folk_traits(const folk_self *self, uint32_t level);

/* Appraises an event: emotions, relation, coping. */
void folk_appraise(folk_mind *mind, folk_event event, float severity, uint32_t from, uint64_t at_ns);

/* The relation to a member of the town; null when they do not know each other. */
folk_relation *folk_relation_to(folk_self *self, uint32_t who);

/* ------------------------------------------------------------------------------------------------ townsfolk_wish.c */

/* What holds at the character's own time, as facts for plans. */
uint64_t folk_facts(const folk_mind *mind);

/* What each goal is worth at its own time, with the desires of its level; below 0 = it is out of the question. */
void folk_weigh(folk_mind *mind, float worth[FOLK_GOALS]);

/* Fills a problem for the planner: facts, and what each action costs this character. */
void folk_pose(const folk_mind *mind, folk_problem *problem);

/* ---------------------------------------------------------------------------------------------- townsfolk_decide.c */

/* Chooses a goal and a plan for a character that has none, at its own time. */
void folk_decide(folk_mind *mind);

/* Whether something else is worth more than what is under way; if so, takes it up, at its own time. */
void folk_reconsider(folk_mind *mind);

/* A random number of this update. */
uint64_t folk_random(folk_mind *mind);

/* ------------------------------------------------------------------------------------------------ townsfolk_deeds.c */

/* How long an action takes that begins now at the character's own time. */
uint64_t folk_duration_ns(const folk_self *self, uint32_t action);

/* Applies the changes of an action that is done. */
void folk_do(folk_mind *mind, uint32_t action);

/* Passes time in the action under way, up to `to_ns`: debts grow, sleep and work pay them off. */
void folk_pass(folk_mind *mind, uint64_t to_ns);

/* Sends a message to another member of the town. */
void folk_tell(folk_mind *mind, uint32_t who, folk_event event, float severity);

/* ------------------------------------------------------------------------------------------------ townsfolk_live.c */

/* Lives up to `now_ns`, as far as an update may go; what is left is lived by the next one. */
void folk_live_until(folk_mind *mind, uint64_t now_ns);

/* Begins the step of the plan that is next, at the character's own time. */
void folk_begin_step(folk_mind *mind);

/* The action under way, or FOLK_ACTIONS when there is none. */
static inline uint32_t folk_under_way(const folk_self *self) {
  return self->plan.at < self->plan.count ? self->plan.steps[self->plan.at] : FOLK_ACTIONS;
}

/* Where it is at its own time, metres from the middle of the town; a walking character is between places. */
void folk_place_now(const folk_self *self, float *x, float *y);

/* The atoms of an update, in their order. */
muster_atom_result folk_sense(muster_update *update);
muster_atom_result folk_live(muster_update *update);
muster_atom_result folk_act(muster_update *update);

/* -------------------------------------------------------------------------------------- townsfolk_type.c and others */

/* The mind of an update; any atom. */
folk_mind folk_mind_of(muster_update *update);

/* Registers the types of people and halls. Thread of the frames, between frames. */
muster_result folk_register(void *instance, muster_world *world);

/* Fills the state and the face of a new hall. */
void folk_make_hall(const folk_town *town, folk_hall *hall, folk_hall_face *face);

/* The update of a hall. */
muster_atom_result folk_keep_hall(muster_update *update);

/* Turns paid hours of a role into goods, as far as they are wanted. */
void folk_make_goods(folk_hall *hall, uint32_t role, uint32_t hours);

/* Writes into the log of the watched character. */
void folk_note(folk_mind *mind, folk_entry_kind kind, uint64_t at_ns, uint32_t what, uint32_t who, float number);

/* The module's watch and watched: muster/module.h. */
muster_result folk_watch(void *instance, muster_world *world, const char *name, muster_module_line line,
                         void *line_user);
void folk_watched(void *instance, const muster_world *world, muster_module_line line, void *line_user);

/* The report: the numbers of the world. */
extern const scaffold_line folk_lines[];

/* Counts an agent in; thread of the frames. */
void folk_count(const scaffold_look *look);

/* What the sums come to; thread of the frames. */
void folk_conclude(const scaffold_look *look);

#endif
