/* pathstorm_walker.c - agents that are ordered to a place: they ask for a way, check it from beginning to end, and
 * follow it. */
#include "pathstorm.h"

#include <muster/sets.h>

#include <string.h>

enum { MESSAGES_MAX = 8, STEPS_PER_QUESTION = 64, QUESTIONS = 64, SEEN_MAX = 8 };

static const uint64_t period_ns = 200000000, period_max_ns = 2000000000, follow_ns = 200000000, limit_ns = 500000;
static const double pace_mps = 4.0;
static const float step_m[2] = {1.0f, 1.41421356f}; /* straight, diagonal */

/* --------------------------------------------------------------------------------------------------------- messages */

/* A walker that still waits for an answer to the previous order counts that order as unanswered. */
static void take_order(pathstorm *self, pathstorm_walker_state *own, const pathstorm_order *order, uint64_t sent_ns) {
  own->unanswered += own->stage == PATHSTORM_ASKS || own->stage == PATHSTORM_WAITS;
  own->order = order->number;
  own->goal = self->goals[order->place];
  own->solver = order->place % PATHSTORM_SOLVERS;
  own->field = PATHSTORM_NONE;
  own->stage = PATHSTORM_ASKS;
  own->ordered_ns = sent_ns;
  own->orders++;
  own->orders_reachable += pathstorm_is_reachable(self, own->cell, own->goal);
}

/* Only an answer to the latest order is used. */
static void take_answer(pathstorm *self, pathstorm_walker_state *own, const pathstorm_answer *answer, uint64_t now_ns) {
  bool way = answer->field != PATHSTORM_NONE;
  if (answer->order != own->order) return;
  if (own->stage != PATHSTORM_WAITS) {
    own->twice++;
    return;
  }
  own->wrong += way != pathstorm_is_reachable(self, own->cell, own->goal);
  if (now_ns - own->ordered_ns > own->longest_ns) own->longest_ns = now_ns - own->ordered_ns;
  own->answers_way += way;
  own->answers_none += !way;
  own->field = answer->field;
  own->surveyed = own->cell;
  own->left = self->map.cells;
  own->stage = way ? PATHSTORM_SURVEYS : PATHSTORM_REFUSED;
}

static muster_atom_result pathstorm_walker_hear(muster_update *update) {
  pathstorm_walker_state *own = update->state;
  muster_message messages[MESSAGES_MAX];
  uint32_t count = muster_update_messages(update, messages, MESSAGES_MAX);
  for (uint32_t i = 0; i < count; i++) {
    pathstorm_order order;
    pathstorm_answer answer;
    if (muster_agent_is_null(messages[i].sender)) {
      memcpy(&order, messages[i].bytes, sizeof order);
      take_order(update->type_user, own, &order, messages[i].sent_ns);
    } else {
      memcpy(&answer, messages[i].bytes, sizeof answer);
      take_answer(update->type_user, own, &answer, update->now_ns);
    }
  }
  return MUSTER_ATOM_NEXT;
}

/* A request that found the solver's inbox full is sent again. */
static muster_atom_result pathstorm_walker_ask(muster_update *update) {
  const pathstorm *self = update->type_user;
  pathstorm_walker_state *own = update->state;
  bool lost = own->stage == PATHSTORM_WAITS && muster_update_messages_lost(update) > 0;
  if (own->stage != PATHSTORM_ASKS && !lost) return MUSTER_ATOM_NEXT;
  pathstorm_request request = {own->number, own->order, own->cell, own->goal};
  if (muster_update_send(update, self->solver_ids[own->solver], &request, sizeof request) != MUSTER_OK)
    return MUSTER_ATOM_NEXT; /* in the next update */
  own->requests++;
  own->stage = PATHSTORM_WAITS;
  return MUSTER_ATOM_NEXT;
}

/* ---------------------------------------------------------------------------------------------------------- the way */

/* One step of a way; false when it does not go on, or by a step that the map forbids. */
static bool step_on(const pathstorm *self, uint32_t field, uint32_t *cell, uint32_t *direction) {
  const uint8_t *ways = self->fields[field].ways;
  if (!pathstorm_way_is_known(ways, *cell)) return false;
  *direction = pathstorm_way_step(ways, *cell);
  if (!(self->map.exits[*cell] >> *direction & 1u)) return false;
  *cell = pathstorm_neighbour(&self->map, *cell, *direction);
  return true;
}

static void reject_way(pathstorm_walker_state *own) {
  own->invalid++;
  own->stage = PATHSTORM_REFUSED;
}

/* Checks the whole way before the walker sets out, as a game would do to smooth it. */
static muster_atom_result pathstorm_walker_survey(muster_update *update) {
  const pathstorm *self = update->type_user;
  pathstorm_walker_state *own = update->state;
  uint32_t direction, questions = 0;
  while (own->stage == PATHSTORM_SURVEYS) {
    for (uint32_t i = 0; i < STEPS_PER_QUESTION && own->surveyed != own->goal; i++) {
      if (own->left-- == 0 || !step_on(self, own->field, &own->surveyed, &direction)) {
        reject_way(own);
        return MUSTER_ATOM_NEXT;
      }
      own->surveyed_steps++;
    }
    if (own->surveyed == own->goal) own->stage = PATHSTORM_WALKS;
    if (own->stage == PATHSTORM_SURVEYS && (muster_update_should_yield(update) || ++questions == QUESTIONS))
      return MUSTER_ATOM_MORE;
  }
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result pathstorm_walker_follow(muster_update *update) {
  const pathstorm *self = update->type_user;
  pathstorm_walker_state *own = update->state;
  if (own->stage != PATHSTORM_WALKS) return MUSTER_ATOM_NEXT;
  own->ahead_m += (float)(pace_mps * (double)update->elapsed_ns * 1e-9);
  while (own->ahead_m >= step_m[1] && own->cell != own->goal) {
    uint32_t direction;
    if (!step_on(self, own->field, &own->cell, &direction)) {
      reject_way(own);
      return MUSTER_ATOM_NEXT;
    }
    own->ahead_m -= step_m[direction & 1u];
    own->steps++;
    own->moved = true;
  }
  if (own->cell != own->goal) return MUSTER_ATOM_NEXT;
  own->stage = PATHSTORM_ARRIVED;
  own->ahead_m = 0;
  own->arrivals++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result pathstorm_walker_look(muster_update *update) {
  pathstorm_walker_state *own = update->state;
  muster_neighbour near[SEEN_MAX];
  own->seen += muster_update_nearby(update, 6.0f, update->type, near, SEEN_MAX);
  return MUSTER_ATOM_NEXT;
}

/* Gives back the field that was granted for an earlier order, and for this one once it is carried out. */
static muster_atom_result pathstorm_walker_act(muster_update *update) {
  pathstorm *self = update->type_user;
  pathstorm_walker_state *own = update->state;
  bool done = own->stage == PATHSTORM_ARRIVED || own->stage == PATHSTORM_REFUSED;
  if (own->order) pathstorm_field_return(self, own->number, done ? own->order : own->order - 1);
  if (own->moved) muster_update_move(update, pathstorm_position(self, own->cell));
  own->moved = false;
  return MUSTER_ATOM_NEXT;
}

/* -------------------------------------------------------------------------------------------------------- the type */

typedef struct walker_set {
  const char *name;
  muster_mode mode;
  uint32_t priority, period_updates;
  muster_atom atom; /* with the set's role, and its measured cost */
} walker_set;

static const walker_set walker_sets[] = {
    {"hear", MUSTER_MODE_RUN, 90, 1, {pathstorm_walker_hear, MUSTER_ROLE_PERCEPTION, 100}},
    {"look", MUSTER_MODE_RUN, 10, 2, {pathstorm_walker_look, MUSTER_ROLE_PERCEPTION, 1000}},
    {"ask", MUSTER_MODE_RUN, 90, 1, {pathstorm_walker_ask, MUSTER_ROLE_BEHAVIOUR, 100}},
    {"survey", MUSTER_MODE_SLICEABLE, 70, 1, {pathstorm_walker_survey, MUSTER_ROLE_BEHAVIOUR, 500}},
    {"follow", MUSTER_MODE_RUN, 50, 0, {pathstorm_walker_follow, MUSTER_ROLE_BEHAVIOUR, 150}},
    {"act", MUSTER_MODE_RUN, 50, 1, {pathstorm_walker_act, MUSTER_ROLE_ACTION, 150}},
};

enum { SETS = sizeof walker_sets / sizeof *walker_sets };

muster_result pathstorm_register(void *instance, muster_world *world) {
  pathstorm *self = instance;
  muster_result result = pathstorm_solvers_register(self, world);
  muster_set_def sets[SETS];
  for (uint32_t i = 0; i < SETS; i++) {
    const walker_set *set = &walker_sets[i];
    sets[i] = muster_set_def_default();
    sets[i].name = set->name;
    sets[i].role = set->atom.role;
    sets[i].mode = set->mode;
    sets[i].share = set->priority;
    sets[i].period_updates = set->period_updates;
    if (!set->period_updates) sets[i].period_ns = follow_ns;
    sets[i].atoms = &set->atom;
    sets[i].atom_count = 1;
    sets[i].asks = 32;
  }
  muster_type_def def = scaffold_type("walker", NULL, 0, sizeof(pathstorm_walker_state), period_ns, period_max_ns);
  def.sets.list = sets;
  def.sets.count = SETS;
  def.limit_ns = limit_ns;
  def.messages.waiting_max = MESSAGES_MAX;
  def.messages.bytes_max = (uint32_t)sizeof(pathstorm_answer);
  def.messages.sends_max = 1;
  def.messages.wake = true;
  def.user = self;
  return result ? result : scaffold_register(world, &def, &self->walker_type);
}

/* A random cell of the largest region. */
static uint32_t place_walker(const pathstorm *self, uint64_t random) {
  uint32_t cell = (uint32_t)(random % self->map.cells);
  while (self->map.regions[cell] != 1) cell = (cell + 1) % self->map.cells;
  return cell;
}

muster_result pathstorm_walker_spawn(void *instance, muster_world *world, uint32_t number) {
  pathstorm *self = instance;
  uint32_t cell = place_walker(self, pathstorm_random(self, number, 1));
  pathstorm_walker_state state = {.number = number, .field = PATHSTORM_NONE, .cell = cell};
  muster_agent_def def = scaffold_agent(self->walker_type, pathstorm_position(self, cell), &state);
  return scaffold_spawn(world, &def, &self->walker_ids[number]);
}
