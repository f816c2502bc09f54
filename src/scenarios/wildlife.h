/* scenarios/wildlife.h - the animals of the wildlife scenario: what they are and how one of their updates goes.
 *
 *     wildlife.c           the module: the desert, its first animals, the cameras, what a snapshot keeps, the numbers
 * of the world wildlife_profiles.c  what a species is: its numbers, its agent type wildlife_sense.c     atom 1,
 * perception: animals nearby wildlife_think.c     atom 2, behaviour: the state machine of moods wildlife_live.c atom 3,
 * behaviour: the time since the last update passes in that mood wildlife_act.c       atom 4, action: what changes
 * others - strikes, births, deaths
 *
 * Every change over time is a rate times elapsed time, never an amount per update: an animal that is updated ten times
 * less often grazes, hungers, walks, ages and breeds the same in an hour. Populations limit themselves: an animal that
 * lives among many of its own kind breeds less, and grazes less where many graze. */
#ifndef SCENARIOS_WILDLIFE_H
#define SCENARIOS_WILDLIFE_H

#include "scenarios/scaffold.h"

typedef enum wildlife_species {
  WILDLIFE_HARE = 0,
  WILDLIFE_JAVELINA,
  WILDLIFE_GROUNDHOG,
  WILDLIFE_BOBCAT,
  WILDLIFE_SPECIES
} wildlife_species;

typedef enum wildlife_mood {
  WILDLIFE_GRAZE = 0, /* eats what grows here */
  WILDLIFE_WANDER,    /* looks for a better place, with its kind if it keeps company */
  WILDLIFE_REST,      /* gains vigour */
  WILDLIFE_ALERT,     /* stands still, or its ground, and watches a bobcat */
  WILDLIFE_FLEE,      /* runs from a bobcat; a groundhog runs to its burrow */
  WILDLIFE_HIDE,      /* in its burrow, out of reach */
  WILDLIFE_PROWL,     /* bobcat: walks up to prey, or looks for some */
  WILDLIFE_CHASE,     /* bobcat: sprints after its quarry */
  WILDLIFE_FEED,      /* bobcat: eats what it killed */
  WILDLIFE_MOODS
} wildlife_mood;

/* How an agent died. */
typedef enum wildlife_fate { WILDLIFE_KILLED = 0, WILDLIFE_STARVED, WILDLIFE_AGED, WILDLIFE_FATES } wildlife_fate;

/* What others see of an animal. */
typedef struct wildlife_face {
  uint8_t species;
  uint8_t mood;
  uint8_t company; /* how many of its kind are around it */
  uint8_t unused;
  float heading; /* radians */
  float speed_mps;
} wildlife_face;

/* A way in the desert, m, or a direction. */
typedef struct wildlife_way {
  float x, y;
} wildlife_way;

/* What an animal noticed in its last perception; ways are from its own place. */
typedef struct wildlife_senses {
  wildlife_way prey_way;    /* to the best prey */
  wildlife_way threat_way;  /* to the nearest bobcat */
  float threat_m;           /* its distance; INFINITY = none in sight */
  wildlife_way kin_way;     /* to the mean place of its own kind */
  wildlife_way kin_heading; /* mean direction of its own kind */
  wildlife_way apart;       /* away from those that stand too close */
  uint32_t threat_mood;
  uint32_t kin; /* how many of its own kind */
} wildlife_senses;

/* What an update wants done at the commit. */
enum { WILDLIFE_STRIKES = 1, WILDLIFE_BEARS = 2, WILDLIFE_DIES = 4 };

/* The private state of an animal. */
typedef struct wildlife_animal {
  double grazed; /* energy taken from plants in its life */
  double eaten;  /* energy taken from prey */
  double distance_m;
  muster_agent quarry; /* bobcat: the animal that it chases, */
  muster_agent prey;   /* and the best prey that it noticed; null = none */
  wildlife_senses senses;
  float energy; /* 0 = starved, 1 = full */
  float vigour; /* 0 = exhausted, 1 = rested */
  float age_s, life_s;
  float gestation;   /* 1 = gives birth */
  float crowding;    /* its own kind around it, per 1000 m2, smoothed over some seconds */
  float company;     /* all animals around it, per 1000 m2, smoothed likewise */
  float survey_s;    /* bobcat: time until it looks around its territory again */
  float mood_left_s; /* until it chooses anew */
  float heading;     /* radians */
  float aim;         /* where it wants to head */
  float reach_m;     /* how far it wants to go there; INFINITY = on and on */
  float speed_mps;
  float home_x, home_y; /* groundhog: its burrow */
  uint32_t mood;
  uint32_t intent; /* WILDLIFE_STRIKES | WILDLIFE_BEARS | WILDLIFE_DIES */
} wildlife_animal;

/* Worlds are hashed byte by byte: no padding. */
_Static_assert(sizeof(wildlife_animal) == 160, "wildlife_animal has padding");

#define WILDLIFE_LEVELS 3u

/* What makes a species. Rates are per second of simulation time, energies are shares of a full animal. */
typedef struct wildlife_profile {
  const char *name;
  double share; /* of the first population */
  uint64_t period_ns, period_max_ns;
  float elasticity;
  float sight_m[WILDLIFE_LEVELS];    /* how far it senses */
  uint32_t notices[WILDLIFE_LEVELS]; /* how many neighbours it takes in */
  float walk_mps, run_mps;
  float turn_rps; /* radians per second; twice as much when it runs */
  float hunger;   /* energy used per second when awake and walking */
  float grazing;  /* energy gained per second on the best ground, alone */
  float life_s, adult_s;
  float gestation_s; /* between two litters of an uncrowded, well-fed adult */
  uint32_t litter;
  float birth_energy; /* that the mother gives to each of a litter */
  float crowding_max; /* of its own kind per 1000 m2: none breeds from here on */
  float flight_m;     /* flees from a hunting bobcat within this distance */
  float meal;         /* energy that it is worth to a bobcat */
  float caught;       /* share of strikes at it that succeed */
} wildlife_profile;

struct wildlife;

/* A species in one world: what its atoms get as type_user. */
typedef struct wildlife_kind {
  struct wildlife *desert;
  const wildlife_profile *profile;
  wildlife_species species;
  muster_type type;
} wildlife_kind;

/* Counted in action atoms, which run region by region: a tally of the scaffold. */
typedef struct wildlife_tally {
  uint64_t births[WILDLIFE_SPECIES];
  uint64_t births_refused; /* the world was full */
  uint64_t deaths[WILDLIFE_SPECIES][WILDLIFE_FATES];
  uint64_t strikes;
  uint64_t grazed[WILDLIFE_SPECIES], eaten, distance_m; /* of the dead, in all their lives: see scaffold_tallied() */
} wildlife_tally;

/* A rectangle: its middle, and half of its edges, m. */
typedef struct wildlife_ground {
  double x, y, half_x, half_y;
} wildlife_ground;

/* One opened scenario; its observers are cameras. */
typedef struct wildlife {
  scaffold base;
  wildlife_ground fence; /* around the desert */
  wildlife_ground own;   /* its first animals and the cameras: in a zone that zone, else all of it */
  uint32_t zone;         /* 0 = it is none */
  bool fenced;           /* the setting `ground` says where the fence is */
  bool eternal;          /* nobody is born, and nobody dies */
  wildlife_kind kinds[WILDLIFE_SPECIES];
  wildlife_tally tally;
  double credit[WILDLIFE_SPECIES];    /* what each species is owed of the first animals */
  uint32_t spawned[WILDLIFE_SPECIES]; /* of the first animals */
} wildlife;

/* What the steps of an atom share. */
typedef struct wildlife_turn {
  muster_update *update;
  const wildlife_kind *kind;
  wildlife_animal *self;
} wildlife_turn;

/* The turn of an update; any atom. */
static inline wildlife_turn wildlife_turn_of(muster_update *update) {
  return (wildlife_turn){update, update->type_user, update->state};
}

/* Moves a place in a direction. */
static inline void wildlife_go(muster_position *place, float heading, float length_m) {
  place->x += (double)(length_m * cosf(heading));
  place->y += (double)(length_m * sinf(heading));
}

/* The way from one place to another; its length; and adds one to a sum, that many times. */
static inline wildlife_way wildlife_way_between(muster_position from, muster_position to) {
  return (wildlife_way){(float)(to.x - from.x), (float)(to.y - from.y)};
}
static inline float wildlife_length(wildlife_way way) {
  return hypotf(way.x, way.y);
}
static inline void wildlife_add(wildlife_way *sum, wildlife_way way, float weight) {
  sum->x += weight * way.x;
  sum->y += weight * way.y;
}

/* Whether two places are no further apart than that. */
static inline bool wildlife_within(muster_position one, muster_position other, float distance_m) {
  double x = other.x - one.x, y = other.y - one.y;
  return x * x + y * y <= (double)(distance_m * distance_m);
}

/* The face and the place of a bobcat's quarry; null when that is gone or underground. */
static inline const wildlife_face *wildlife_quarry(const wildlife_turn *turn, muster_position *place) {
  const wildlife_face *face = muster_update_published_of(turn->update, turn->self->quarry);
  bool there = face && face->mood != WILDLIFE_HIDE;
  return there && muster_update_position_of(turn->update, turn->self->quarry, place) ? face : NULL;
}

extern const wildlife_profile wildlife_profiles[WILDLIFE_SPECIES];

/* The share of strikes at an animal that succeed: javelinas defend each other. */
float wildlife_odds(const wildlife_face *prey);

/* Registers the agent type of a species with a world. Thread of the frames, between frames. */
muster_result wildlife_register(void *instance, muster_world *world, uint32_t species);

/* Fills the state and the face of a new animal: grown-ups are somewhere in their lives, the others newborn. `random`
 * decides what differs from one to the next. */
void wildlife_make(const wildlife_kind *kind, bool grown_up, uint64_t random, muster_position place,
                   wildlife_animal *animal, wildlife_face *face);

/* Spreads one random number into the `which`-th of several shares 0..1. */
float wildlife_share_of(uint64_t random, uint32_t which);

/* The plant growth at a place: 0.35 .. 1, the same for the same seed, smooth over some 20 m. */
float wildlife_richness(const wildlife *desert, double x, double y);

/* Keeps a place inside a ground, such as that of the fence. True when it was outside. */
bool wildlife_keep_in(const wildlife_ground *ground, muster_position *place);

/* The four atoms of an update, in their order. */
muster_atom_result wildlife_sense(muster_update *update);
muster_atom_result wildlife_think(muster_update *update);
muster_atom_result wildlife_live(muster_update *update);
muster_atom_result wildlife_act(muster_update *update);

/* Takes up a mood for a while. */
void wildlife_take_mood(wildlife_animal *animal, wildlife_mood mood, float duration_s);

/* Chooses the mood that follows one that has run its time. */
void wildlife_choose_mood(const wildlife_turn *turn, muster_position place);

/* Sets where an animal at `place` wants to head in its mood, and how far. */
void wildlife_steer(const wildlife_turn *turn, muster_position place);

#endif
