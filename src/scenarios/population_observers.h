/* scenarios/population_observers.h - the players of the population: they walk from spawn to spawn. */
#ifndef SCENARIOS_POPULATION_OBSERVERS_H
#define SCENARIOS_POPULATION_OBSERVERS_H

#include "scenarios/population_csv.h"

#define POPULATION_OBSERVERS_DEFAULT 16u
#define POPULATION_OBSERVERS_MAX     65536u

typedef struct population_walker {
  muster_observer observer;
  muster_position place, goal;
  uint32_t world;
  uint32_t near; /* index of the spawn that it goes to, in the world's part of the route */
} population_walker;

/* A row with its place on a curve through its world that visits neighbours soon after each other (Morton's). */
typedef struct population_stop {
  uint64_t key; /* world and place */
  uint32_t row;
} population_stop;

typedef struct population_observers {
  population_walker *walkers; /* owned */
  uint32_t count, worlds;     /* worlds that have agents */
  population_stop *route;     /* owned; the worlds one after the other, in each neighbours stand near each other */
  uint32_t *starts;           /* owned; world w has the route from starts[w] to starts[w + 1] */
  uint64_t seed, last_now_ns;
  double walked_m;
  uint64_t goals; /* chosen so far */
} population_observers;

/* Lays out routes and places `wanted` walkers (0 = POPULATION_OBSERVERS_DEFAULT), at least one for each world that has
 * agents: one in each of these, the others by the worlds' shares of the agents. False when memory is refused; free in
 * either case. */
bool population_observers_begin(population_observers *observers, const population_rows *rows, uint32_t wanted,
                                uint64_t seed);

/* Adds the walkers to the world as observers. False, with the library's message, when one is refused. */
bool population_observers_enter(population_observers *observers, muster_world *world);

/* Lets every walker walk until sim_now_ns, and tells the world. */
void population_observers_walk(population_observers *observers, const population_rows *rows, muster_world *world,
                               uint64_t sim_now_ns);

/* Frees what the observers own; zeroed observers are a no-op. */
void population_observers_free(population_observers *observers);

#endif
