/* plan/classes.h - agents that stretch alike: the unit in which periods are planned.
 *
 * A class is (type, level, elasticity step): its members share period bounds and elasticity, so one number, the
 * rate, describes the periods of all of them. What they cost it knows as the sum of their factors. Agents that have
 * periods of their own are in further classes of the same three: one for each pair of periods. Elasticity is taken in
 * steps of an eighth of an octave: so classes are few, and what holds for the class holds exactly for each member. Each
 * class has a virtual clock that runs at `rate` = T_io / T_i (1 with no pressure, slower under pressure). A member is
 * due every T_io of that clock. So re-timing every waiting agent when the pressure changes costs one step per class,
 * and an agent that changes class takes its remaining fraction along. The clocks are the truth about who is due;
 * others only say when to look (plan/due.h).
 * (PAPERS: elastic periods of Tan & Wong; the class clocks are Muster's own.) */
#ifndef PLAN_CLASSES_H
#define PLAN_CLASSES_H

#include "agents/store.h"
#include "plan/activation.h"
#include "plan/cost_factors.h"
#include "plan/looks.h"

/* The members that are looked at by the clock of a band, as far as the band's clock must know them: the lowest rate, in
 * parts of the band's pace, at which they were put in, and how far on that clock the furthest lies. In two generations,
 * so that what has passed is forgotten. */
typedef struct class_stay {
  double old_rate, rate; /* INFINITY: none */
  uint64_t old_end_ns, end_ns;
} class_stay;

/* T_io and T_imax. */
typedef struct class_periods {
  uint64_t nominal_ns, longest_ns;
} class_periods;

/* The first two lines are what each frame's fit and clock need of a class, the last what looking at its members needs.
 */
typedef struct agent_class {
  _Alignas(64) uint16_t type;
  uint8_t level, step;
  uint16_t number; /* in class_table.classes, as agent_row.class */
  uint8_t elapsed; /* muster_elapsed of the type */
  bool hard;       /* longest_ns is a bound, not a wish */
  uint32_t members;
  uint32_t in_band[MUSTER_BANDS]; /* of these, by importance */
  uint64_t nominal_ns;            /* T_io */
  uint64_t longest_ns;            /* T_imax */
  double elasticity;              /* of the step */
  double rate;                    /* T_io / T_i by the last fit */
  float period_ns;                /* T_i */
  float per_nominal;              /* 1 / T_io */
  uint64_t clock_ns;              /* virtual time, */
  float clock_part;               /* and of the next nanosecond */
  uint16_t look_band;             /* by whose clock members are looked at that are put in now, */
  uint16_t look_bands;            /* and a bit for each that some may be looked at by */
  double look_ahead;              /* how far on the band's clock a nanosecond of its own clock is */
  double events_per_ns;           /* runs that are usually asked for ahead of any period, */
  uint32_t events;                /* and how many were since the last release */
  uint32_t cost_ns;               /* what an update is predicted to cost */
  uint64_t factors;               /* sum of its members' cost factors, in units */
  uint64_t furthest_ns;           /* on the clock of the band: members are put in no further ahead */
  uint64_t step_ns;               /* bounded steps: the type's; else 0 */
  activation_pace pace;           /* of its clock */
  uint64_t shifts;                /* the same of their shifts alone */
  double rate_before;             /* as the band's pace knows it */
  uint32_t active_position;       /* in class_table.active */
  uint16_t next;                  /* another class of its type, level and step: number + 1; 0 = none */
  bool own;                       /* its periods are its members' own: they do not follow the type's */
  float usual_elapsed_ns;         /* mean elapsed time of its members' updates, over some 32 of each */
  uint32_t usual_samples;         /* how many it is a mean of, up to as many as that */
  class_stay stays[LOOK_BANDS];
} agent_class;

_Static_assert(offsetof(agent_class, rate) + sizeof(double) == 64 && offsetof(agent_class, step_ns) == 128,
               "what each frame needs of a class is two cache lines");

/* Kinds of classes by their rates, and one more of classes with few members: those of a kind are looked at by the clock
 * of one band, which goes as fast as any of them asks for. */
enum { CLASS_RATES = 4, CLASS_OF_FEW = CLASS_RATES, CLASS_KINDS, CLASS_FEW_PART = 4096 };

/* The members of all classes of a type and level, and the sum of their cost factors, in units. */
typedef struct class_sum {
  uint64_t members, factors;
} class_sum;

typedef struct class_table {
  uint32_t maximum, count;
  agent_class *classes;
  uint16_t *lookup;     /* [type][level][step] -> class + 1: the first of them */
  class_periods *tuned; /* by type: in place of the definition's; nominal 0 = none */
  uint32_t active_count;
  uint16_t *active;                  /* classes with members */
  struct looks looks;                /* when waiting members are to be looked at */
  uint8_t look_band_of[CLASS_KINDS]; /* by which clocks they are put in now */
  uint64_t all;                      /* members of all classes */
  uint32_t few;                      /* a class has few members when it has fewer than these */
  bool *frozen;                      /* by type: no time passes for its classes, and they need none */
  uint32_t in_band[MUSTER_BANDS];    /* members of the classes that are in bands, by importance */
  class_sum (*sums)[MUSTER_LEVELS];  /* by type and level */
  activation_book activation;
} class_table;

/* Reserves the table for `types_max` types, and looks for `agents_max` agents in `shards` shards (0 = as many as
 * agents_max asks for). */
void classes_create(class_table *table, uint32_t types_max, uint32_t agents_max, uint32_t shards, struct arena *arena);

/* Makes the class that agents of a type fall back to when no more classes can be made. */
void classes_reserve(class_table *table, const muster_type_def *type, uint32_t type_index);

/* The class of (type, level, step), made when it is new. When no more classes can be made, the type's class with the
 * nearest elasticity. */
agent_class *classes_get(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                         uint32_t step);

/* The same for agents with periods of their own; null = the type's. When no more classes can be made, the one with the
 * nearest period and elasticity. */
agent_class *classes_get_own(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                             uint32_t step, const class_periods *own);

/* Makes such a class, whether there is one or not: for what is read from files. There must be room. */
agent_class *classes_make(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                          uint32_t step, const class_periods *own);

/* The periods in force for agents of a type that have none of their own. */
static inline class_periods classes_periods_of(const class_table *table, const muster_type_def *type,
                                               uint32_t type_index) {
  class_periods tuned = table->tuned[type_index];
  return tuned.nominal_ns ? tuned : (class_periods){type->period_ns, type->period_max_ns};
}

/* The periods of a class's members, where they are their own; else null. */
static inline const class_periods *classes_own(const agent_class *class, class_periods *room) {
  *room = (class_periods){class->nominal_ns, class->longest_ns};
  return class->own ? room : NULL;
}

/* Other periods for the members of a class, which its caller files anew. */
void classes_set_periods(class_table *table, agent_class *class, class_periods periods);

/* The simulation time in which virtual_ns pass on the class's clock at its rate: for nominal_ns the period T_i. */
static inline uint64_t classes_real_ns(const agent_class *class, uint64_t virtual_ns) {
  return (uint64_t)((double)virtual_ns / class->rate);
}

/* The period T_i in force; 0 = the class has none. */
static inline uint64_t classes_period_ns(const agent_class *class) {
  return class->elapsed == MUSTER_ELAPSED_EVENTS ? 0 : classes_real_ns(class, class->nominal_ns);
}

/* Sets the rate of a class's clock, and the period that follows. */
void classes_set_rate(agent_class *class, double rate);

/* Whether T_i is longer than T_imax, by more than rounding. */
static inline bool classes_beyond_wish(const agent_class *class) {
  return (double)class->nominal_ns > (double)class->longest_ns * (1.0 + 1e-9) * class->rate;
}

/* Whether its members are in the bands that reports tell of: they have a period, and their type is not frozen. */
static inline bool classes_in_bands(const class_table *table, const agent_class *class) {
  return class->elapsed != MUSTER_ELAPSED_EVENTS && !table->frozen[class->type];
}

/* A member of the class comes into a band (change 1) or leaves it (-1). */
static inline void classes_count_band(class_table *table, agent_class *class, uint32_t band, int32_t change) {
  class->in_band[band] += (uint32_t)change;
  if (classes_in_bands(table, class)) table->in_band[band] += (uint32_t)change;
}

/* The clocks of the bands are about to go on: finds the bands' paces, and how fast the clock of each must go, so that
 * no member is looked at late, however rates have changed since it was put in. O(classes). */
void classes_find_speeds(class_table *table, double speeds[LOOK_BANDS]);

/* Members of a class are put in by its present rate from now on. For each class with members, after its rate
 * was set and the clocks have gone on, and before another member is put in. */
void classes_follow_rate(class_table *table, agent_class *class);

/* Freezes the classes of a type, or lets time pass for them again. */
void classes_freeze(class_table *table, uint32_t type, bool frozen);

/* Counts one member more (1) or fewer (-1), of such an importance and cost factor. The class stays among those with
 * members, or is none of them: for members that are read from files. */
void classes_count(class_table *table, agent_class *class, const agent_row *row, int32_t change);

/* The same, of a class that comes to have members, or has none any more. */
void classes_join(class_table *table, agent_class *class, const agent_row *row);
void classes_leave(class_table *table, agent_class *class, const agent_row *row);

/* The cost factor of a member changes to `factor`. */
void classes_set_factor(class_table *table, agent_class *class, agent_row *row, int32_t factor);

/* An update of a member was so long after its last one. Returns what was usual before, as the cost factors of members
 * know it: those are learnt from as many updates. */
float classes_note_elapsed(agent_class *class, uint64_t elapsed_ns);

/* The mean cost factor of a class with members; what their shifts leave of it, in the mean by what they cost; and the
 * mean of all members of a type and level, when there are any. */
static inline double classes_factor(const agent_class *class) {
  return (double)class->factors / ((double)class->members * FACTOR_ONE);
}

static inline double classes_rest(const agent_class *class) {
  return (double)class->factors / (double)class->shifts;
}

static inline float classes_factor_of_all(const class_table *table, uint32_t type, uint32_t level) {
  const class_sum *sum = &table->sums[type][level];
  return sum->members ? (float)sum->factors / ((float)sum->members * (float)FACTOR_ONE) : 1.0f;
}

#endif
