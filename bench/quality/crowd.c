#include "crowd.h"

#include "varied_costs.h"

#include <math.h>
#include <muster/random.h>
#include <stdlib.h>

static const double metres_per_agent = 45.0; /* the square's edge = this x sqrt(agents) */

uint64_t crowd_random(uint64_t seed, uint64_t purpose, uint64_t index) {
  return muster_random_mix(
      muster_random_mix(muster_random_mix(seed + 0x9e3779b97f4a7c15u) + purpose * 0xd1b54a32d192ed03u) +
      index * 0x9e3779b97f4a7c15u);
}

static crowd_place place_of(uint64_t seed, uint64_t purpose, uint64_t index, double edge_m) {
  uint64_t random = crowd_random(seed, purpose, index);
  return (crowd_place){
      .position = {(double)(uint32_t)random * 0x1p-32 * edge_m, (double)(random >> 32) * 0x1p-32 * edge_m, 0}};
}

static double between_m(muster_position a, muster_position b) {
  return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

static double nearest_m(const struct crowd *crowd, crowd_place place) {
  double nearest = INFINITY;
  for (uint32_t i = 0; i < crowd->observer_count; i++)
    if (crowd->observers[i].partition == place.partition)
      nearest = fmin(nearest, between_m(place.position, crowd->observers[i].position));
  return nearest;
}

/* Importance by the default of observers: 1 within 25 m, 0 from 250 m on. */
static double importance_at(double distance_m) {
  return fmin(fmax((250.0 - distance_m) / (250.0 - 25.0), 0.0), 1.0);
}

bool crowd_reserve(struct crowd *crowd, uint32_t agents, uint32_t observers) {
  crowd->count = agents;
  crowd->observer_count = observers;
  crowd->members = calloc(agents, sizeof *crowd->members);
  crowd->observers = calloc(observers, sizeof *crowd->observers);
  return crowd->members && crowd->observers;
}

void crowd_put(struct crowd *crowd, uint32_t number, crowd_place place, uint32_t type) {
  const crowd_type *of = &crowd->types[type];
  double distance_m = nearest_m(crowd, place);
  crowd->members[number] = (crowd_member){.place = place,
                                          .type = type,
                                          .distance_m = distance_m,
                                          .importance = importance_at(distance_m),
                                          .cost_s = (double)of->cost_ns * 1e-9,
                                          .shortest_s = (double)of->period_ns * 1e-9,
                                          .longest_s = (double)of->period_max_ns * 1e-9};
}

bool crowd_open(struct crowd *crowd, const crowd_def *def, uint32_t agents, uint64_t seed) {
  double edge_m = metres_per_agent * sqrt(agents);
  uint32_t observers = agents > def->agents_per_observer ? agents / def->agents_per_observer : 1;
  *crowd = (struct crowd){.seed = seed, .type_count = def->type_count};
  for (uint32_t i = 0; i < def->type_count; i++) crowd->types[i] = def->types[i];
  if (!crowd_reserve(crowd, agents, observers)) return false;
  for (uint32_t i = 0; i < observers; i++) crowd->observers[i] = place_of(seed, 1, i, edge_m);
  for (uint32_t i = 0; i < agents; i++) crowd_put(crowd, i, place_of(seed, 2, i, edge_m), i % def->type_count);
  return true;
}

void crowd_close(struct crowd *crowd) {
  free(crowd->members);
  free(crowd->observers);
}

double crowd_demand(const struct crowd *crowd, double *wish) {
  double sum = *wish = 0;
  for (const crowd_member *member = crowd->members; member < crowd->members + crowd->count; member++) {
    sum += member->cost_s / member->shortest_s;
    *wish += member->cost_s / member->longest_s;
  }
  return sum;
}

void crowd_weigh(struct crowd *crowd, double octaves) {
  for (uint32_t i = 0; i < crowd->count; i++) crowd->members[i].weight = exp2(octaves * crowd->members[i].importance);
}

/* ------------------------------------------------------------------------------------------------------ the optimum */

/* Sets the periods for one mu; returns the CPU that they take. */
static double set_periods(struct crowd *crowd, double mu, double stretch) {
  double cpu = 0;
  for (uint32_t i = 0; i < crowd->count; i++) {
    crowd_member *member = &crowd->members[i];
    double wanted_s = fmax(mu * sqrt(member->cost_s / member->weight), member->shortest_s);
    member->period_s = fmin(wanted_s, stretch * member->longest_s);
    cpu += member->cost_s / member->period_s;
  }
  return cpu;
}

void crowd_fit(struct crowd *crowd, double low, double high, double stretch, double cpu, crowd_cpu_function *cpu_of) {
  for (int i = 0; i < 100; i++) {
    double middle = sqrt(low * high);
    if (cpu_of(crowd, middle, stretch) > cpu)
      low = middle;
    else
      high = middle;
  }
  cpu_of(crowd, high, stretch);
}

double crowd_solve(struct crowd *crowd, double cpu, double stretch) {
  double staleness = 0, weights = 0;
  crowd_fit(crowd, 1e-9, 1e12, stretch, cpu, set_periods);
  for (uint32_t i = 0; i < crowd->count; i++) {
    staleness += crowd->members[i].weight * crowd->members[i].period_s * 0.5;
    weights += crowd->members[i].weight;
  }
  return staleness / weights * 1e3;
}

/* ------------------------------------------------------------------------------------------------------------- ages */

void crowd_restart(struct crowd *crowd) {
  crowd->now_s = crowd->window_s = crowd->spent_s = 0;
  for (uint32_t i = 0; i < crowd->count; i++) {
    crowd->members[i].last_s = crowd->members[i].aged = 0;
    crowd->members[i].updates = 0;
  }
}

/* Its age from the last update until now, integrated. */
static double aged_since(const struct crowd *crowd, const crowd_member *member) {
  double age_s = crowd->now_s - member->last_s;
  return 0.5 * age_s * age_s;
}

void crowd_begin_window(struct crowd *crowd) {
  crowd->window_s = crowd->now_s;
  crowd->spent_s = 0;
  for (uint32_t i = 0; i < crowd->count; i++) crowd->members[i].aged = -aged_since(crowd, &crowd->members[i]);
}

void crowd_refresh(const struct crowd *crowd, crowd_member *member) {
  member->aged += aged_since(crowd, member);
  member->last_s = crowd->now_s;
}

double crowd_update(struct crowd *crowd, crowd_member *member) {
  uint64_t random = crowd_random(crowd->seed, 4 + member->updates++, (uint64_t)(member - crowd->members));
  double cost_s = member->cost_s * varied_factor(random, crowd->sigma);
  crowd_refresh(crowd, member);
  crowd->spent_s += cost_s;
  return cost_s;
}

double crowd_staleness(const struct crowd *crowd) {
  double staleness = 0, weights = 0;
  for (uint32_t i = 0; i < crowd->count; i++) {
    const crowd_member *member = &crowd->members[i];
    staleness += member->weight * (member->aged + aged_since(crowd, member));
    weights += member->weight;
  }
  return staleness / weights / (crowd->now_s - crowd->window_s) * 1e3;
}
