/* worlds/siege.h - players gather at the gate of a town under siege, more than the budget can serve: so many NPCs
 * matter at once that even the important ones alone do not fit.
 *
 * The cost of an update follows only from kind and level and from whether there is a fight: so the time that the
 * important NPCs would take can be worked out by hand. */
#ifndef WORLDS_SIEGE_H
#define WORLDS_SIEGE_H

#include "convergence.h"
#include "scenarios/scaffold.h"
#include "worlds.h"

typedef enum siege_kind {
  SIEGE_BESIEGER = 0, /* goes for the gate, and strikes guards */
  SIEGE_TOWNSMAN,     /* keeps away from it */
  SIEGE_GUARD,        /* runs often, gives way less readily, and strikes besiegers */
  SIEGE_ANIMAL,       /* runs seldom, and gives way more readily */
  SIEGE_CAPTAIN,      /* commands: exempt, its period never gives way */
  SIEGE_KINDS
} siege_kind;

typedef struct siege siege;

typedef struct siege_cast {
  const siege *self;
  siege_kind kind;
  muster_type type;
} siege_cast;

/* The private state of an agent. */
typedef struct siege_state {
  convergence_mark mark;
  double walked_m;
  float home_x, home_y;
  uint64_t updates, looks, seen, strikes, struck; /* seen: looks along clear lines; struck: by others */
  muster_agent foe;                               /* the foe of the last look; null = none is near */
} siege_state;

struct siege {
  scaffold base; /* its observers are the players */
  bool fighting;
  float lasts_s;
  siege_cast casts[SIEGE_KINDS];
  uint32_t arrived; /* players at their place at the gate */
};

#endif
