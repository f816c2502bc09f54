#include "loop_ground.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool loop_ground_open(loop_ground *ground, uint32_t room, double side_m, double cell_m) {
  uint32_t side = (uint32_t)(side_m / cell_m) + 1;
  *ground = (loop_ground){.room = room, .side = side, .cell_m = cell_m};
  ground->agents = calloc(room, sizeof *ground->agents);
  ground->free = malloc(room * sizeof *ground->free);
  ground->cells = malloc((size_t)side * side * sizeof *ground->cells);
  if (!ground->agents || !ground->free || !ground->cells) return false;
  memset(ground->cells, 0xff, (size_t)side * side * sizeof *ground->cells);
  return true;
}

void loop_ground_close(loop_ground *ground) {
  free(ground->agents);
  free(ground->free);
  free(ground->cells);
  *ground = (loop_ground){0};
}

/* The column, or the row, of a place; the outermost reach on without end. */
static uint32_t line_of(const loop_ground *ground, double place) {
  double line = floor(place / ground->cell_m) + ground->side / 2;
  return line <= 0 ? 0 : line >= ground->side - 1 ? ground->side - 1 : (uint32_t)line;
}

static uint32_t cell_of(const loop_ground *ground, double x, double y) {
  return line_of(ground, y) * ground->side + line_of(ground, x);
}

static void link_agent(loop_ground *ground, uint32_t agent) {
  loop_agent *one = &ground->agents[agent];
  uint32_t *first = &ground->cells[one->cell];
  one->next = *first;
  one->last = LOOP_NONE;
  if (*first != LOOP_NONE) ground->agents[*first].last = agent;
  *first = agent;
}

static void unlink_agent(loop_ground *ground, uint32_t agent) {
  const loop_agent *one = &ground->agents[agent];
  if (one->next != LOOP_NONE) ground->agents[one->next].last = one->last;
  if (one->last != LOOP_NONE)
    ground->agents[one->last].next = one->next;
  else
    ground->cells[one->cell] = one->next;
}

uint32_t loop_ground_add(loop_ground *ground, uint32_t type, double x, double y) {
  uint32_t agent = LOOP_NONE;
  if (ground->free_count)
    agent = ground->free[--ground->free_count];
  else if (ground->count < ground->room)
    agent = ground->count++;
  if (agent == LOOP_NONE) return agent;
  loop_agent *one = &ground->agents[agent];
  one->type = type;
  one->x = x;
  one->y = y;
  one->cell = cell_of(ground, x, y);
  link_agent(ground, agent);
  return agent;
}

void loop_ground_remove(loop_ground *ground, uint32_t agent) {
  loop_agent *one = &ground->agents[agent];
  unlink_agent(ground, agent);
  one->type = LOOP_NONE;
  one->generation++;
  memset(one->fields, 0, sizeof one->fields);
  ground->free[ground->free_count++] = agent;
}

void loop_ground_move(loop_ground *ground, uint32_t agent, double x, double y) {
  loop_agent *one = &ground->agents[agent];
  uint32_t cell = cell_of(ground, x, y);
  one->x = x;
  one->y = y;
  if (cell == one->cell) return;
  unlink_agent(ground, agent);
  one->cell = cell;
  link_agent(ground, agent);
}

/* Puts one into its place among the nearest; returns how many these are now. */
static uint32_t keep_near(loop_near *near, uint32_t count, uint32_t most, uint32_t agent, double distance) {
  if (count == most && distance >= near[count - 1].distance_m) return count;
  uint32_t place = count < most ? count++ : count - 1;
  for (; place > 0 && near[place - 1].distance_m > distance; place--) near[place] = near[place - 1];
  near[place] = (loop_near){agent, distance};
  return count;
}

/* Distances are squared until all were found. */
uint32_t loop_ground_nearby(const loop_ground *ground, uint32_t agent, double radius_m, uint32_t type, uint32_t most,
                            loop_near near[LOOP_NEAREST_MOST]) {
  const loop_agent *self = &ground->agents[agent];
  uint32_t left = line_of(ground, self->x - radius_m), right = line_of(ground, self->x + radius_m);
  uint32_t top = line_of(ground, self->y + radius_m), count = 0;
  for (uint32_t row = line_of(ground, self->y - radius_m); row <= top; row++)
    for (uint32_t column = left; column <= right; column++)
      for (uint32_t i = ground->cells[row * ground->side + column]; i != LOOP_NONE; i = ground->agents[i].next) {
        const loop_agent *other = &ground->agents[i];
        double x = other->x - self->x, y = other->y - self->y, distance = x * x + y * y;
        if (distance > radius_m * radius_m || i == agent || (type != LOOP_NONE && other->type != type)) continue;
        count = keep_near(near, count, most, i, distance);
      }
  for (uint32_t i = 0; i < count; i++) near[i].distance_m = sqrt(near[i].distance_m);
  return count;
}
