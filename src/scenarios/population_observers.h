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

typedef struct population_observers {
  population_walker *walkers; /* owned */
  uint32_t count;
  uint32_t *route;  /* owned; row numbers: the worlds one after the other, in each neighbours stand near each other */
  uint32_t *starts; /* owned; world w has the route from starts[w] to starts[w + 1] */
  uint64_t seed, last_now_ns;
  double walked_m;
  uint64_t goals; /* chosen so far */
} population_observers;

/* The number of observers for a wanted number (0 = POPULATION_OBSERVERS_DEFAULT): at least one for each world that has
 * agents. */
uint32_t population_observers_needed(const population_rows *rows, const uint32_t *world_agents, uint32_t wanted);

/* Lays out routes and places `count` walkers: one in each world that has agents, the others by the worlds' shares of
 * the agents. world_agents counts the rows of each world. False when memory is refused; free in either case. */
bool population_observers_begin(population_observers *observers, const population_rows *rows,
                                const uint32_t *world_agents, uint32_t count, uint64_t seed);

/* Adds the walkers to the world as observers. False, with the library's message, when one is refused. */
bool population_observers_enter(population_observers *observers, muster_world *world);

/* Lets every walker walk until sim_now_ns, and tells the world. */
void population_observers_walk(population_observers *observers, const population_rows *rows, muster_world *world,
                               uint64_t sim_now_ns);

/* Frees what the observers own; zeroed observers are a no-op. */
void population_observers_free(population_observers *observers);

#endif
