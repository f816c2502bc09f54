/* pathstorm_solver.c - agents that search. Each update hears new requests, goes on with the search until its share of
 * the frame is used up, and answers the walkers that can be answered. One run of the set `search` is one search: as
 * many atoms as it can take, each a bounded piece. */
#include "pathstorm.h"

#include <muster/sets.h>

#include <stdlib.h>
#include <string.h>

/* The most cells that an atom takes from the open list; how many it takes before it asks whether to go on; and the most
 * walkers that one update answers, so that answering takes at most some 20 us of a commit. */
enum { STEPS_PER_ATOM = 1024, STEPS_PER_QUESTION = 64, ANSWERS_PER_UPDATE = 128 };

/* The atoms of the set: the first ones clear the ways of the last search, one begins the search, and the others
 * search. */
enum { CLEARINGS = 8, SEARCH_ATOMS_MAX = 1040 };

/* Measured: an idle atom, hearing and answering, clearing and beginning, and STEPS_PER_ATOM. */
static const uint32_t idle_ns = 50, talk_ns = 5000, begin_ns = 20000, expand_ns = 75000;
static const uint64_t period_ns = 50000000, limit_ns = 500000, slice_ns = 4000000;

/* ----------------------------------------------------------------------------------------------------------- memory */

static bool create_one(pathstorm *self, pathstorm_solver *solver) {
  size_t walkers = self->base.agents;
  solver->self = self;
  solver->field = PATHSTORM_NONE;
  solver->waiting = calloc(walkers, sizeof *solver->waiting);
  solver->entry_of = malloc(walkers * sizeof *solver->entry_of);
  solver->answered = calloc(walkers, sizeof *solver->answered);
  if (!solver->waiting || !solver->entry_of || !solver->answered) return false;
  memset(solver->entry_of, 0xff, walkers * sizeof *solver->entry_of);
  return pathstorm_search_create(&solver->search, &self->map);
}

bool pathstorm_solvers_create(pathstorm *self) {
  for (uint32_t i = 0; i < PATHSTORM_SOLVERS; i++)
    if (!create_one(self, &self->solvers[i])) return false;
  return true;
}

void pathstorm_solvers_destroy(pathstorm *self) {
  for (uint32_t i = 0; i < PATHSTORM_SOLVERS; i++) {
    pathstorm_solver *solver = &self->solvers[i];
    pathstorm_search_destroy(&solver->search);
    free(solver->waiting);
    free(solver->entry_of);
    free(solver->answered);
  }
}

static pathstorm_solver *solver_of(const muster_update *update) {
  pathstorm *self = update->type_user;
  return &self->solvers[((const pathstorm_solver_state *)update->state)->number];
}

/* --------------------------------------------------------------------------------------------------------- requests */

static uint64_t goal_of(const pathstorm_solver *solver) {
  return solver->field == PATHSTORM_NONE ? UINT64_MAX : solver->self->fields[solver->field].goal;
}

/* Adds the requests for its goal that came since to a search that has begun. */
static void want(pathstorm_solver *solver, const pathstorm_waiting *entry) {
  if (!solver->begun || entry->request.goal != goal_of(solver)) return;
  bool known = pathstorm_search_want(&solver->search, entry->request.start);
  if (known || solver->search.status == PATHSTORM_EXHAUSTED) solver->has_news = true;
}

/* A walker asks for one way at a time: a later request takes the place of the one before. */
static void pathstorm_solver_hear(pathstorm_solver *solver, const muster_message *message,
                                  pathstorm_solver_state *own) {
  pathstorm_request request;
  if (message->size != sizeof request) return;
  memcpy(&request, message->bytes, sizeof request);
  uint32_t *entry_of = &solver->entry_of[request.walker];
  bool waits = *entry_of != PATHSTORM_NONE;
  own->requests++;
  if (request.order <= solver->answered[request.walker] ||
      (waits && solver->waiting[*entry_of].request.order >= request.order)) {
    own->repeated++;
    return;
  }
  own->overtaken += waits;
  if (!waits) *entry_of = solver->waits++;
  solver->waiting[*entry_of] = (pathstorm_waiting){message->sender, request, solver->sequence++, false};
  want(solver, &solver->waiting[*entry_of]);
}

static muster_atom_result pathstorm_solver_listen(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  uint32_t count = muster_update_messages(update, solver->inbox, PATHSTORM_INBOX_MAX);
  for (uint32_t i = 0; i < count; i++) pathstorm_solver_hear(solver, &solver->inbox[i], update->state);
  return MUSTER_ATOM_NEXT;
}

/* ----------------------------------------------------------------------------------------------------------- search */

/* A megabyte is more than one atom should write at once. */
static muster_atom_result pathstorm_solver_clear(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  if (solver->field == PATHSTORM_NONE) return MUSTER_ATOM_FINISH;
  if (solver->cleared == CLEARINGS) return MUSTER_ATOM_NEXT;
  uint32_t part = solver->self->map.cells / CLEARINGS;
  memset(solver->self->fields[solver->field].ways + (size_t)part * solver->cleared++, 0, part);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result pathstorm_solver_begin(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  if (solver->begun || solver->cleared < CLEARINGS) return MUSTER_ATOM_NEXT;
  pathstorm_solver_state *own = update->state;
  pathstorm_field *field = &solver->self->fields[solver->field];
  const pathstorm_map *map = &solver->self->map;
  pathstorm_box box = pathstorm_no_box;
  for (uint32_t i = 0; i < solver->waits; i++) {
    const pathstorm_request *request = &solver->waiting[i].request;
    if (request->goal == field->goal) box = pathstorm_box_around(map, box, request->start);
  }
  if (box.x0 > box.x1) box = (pathstorm_box){0, 0, 0, 0}; /* the walker has asked for another goal since */
  pathstorm_search_begin(&solver->search, field->ways, field->goal, box);
  solver->begun = true;
  own->searches++;
  own->searched = 0;
  for (uint32_t i = 0; i < solver->waits; i++) want(solver, &solver->waiting[i]);
  return MUSTER_ATOM_NEXT;
}

static void note_call(pathstorm_solver *solver, pathstorm_solver_state *own, uint32_t expanded) {
  own->expanded += expanded;
  own->searched += expanded;
  own->slices += expanded > 0;
  if (expanded > own->largest_call) own->largest_call = expanded;
  if (own->searched > own->largest_search) own->largest_search = own->searched;
  if (solver->search.arrivals || solver->search.status == PATHSTORM_EXHAUSTED) solver->has_news = true;
  solver->search.arrivals = 0;
}

/* Does a piece of the search, or, for pathstorm-whole, all of it. */
static muster_atom_result pathstorm_solver_expand(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  pathstorm_search *search = &solver->search;
  bool whole = pathstorm_is_whole(solver->self);
  uint32_t expanded = 0;
  bool yields = false;
  if (!solver->begun) return MUSTER_ATOM_FINISH;
  while (search->status == PATHSTORM_RUNNING && (whole || expanded < STEPS_PER_ATOM) && !yields) {
    expanded += pathstorm_search_expand(search, STEPS_PER_QUESTION);
    yields = !whole && muster_update_should_yield(update);
  }
  note_call(solver, update->state, expanded);
  if (!whole) muster_update_progress(update, (float)search->closed / (float)search->map->cells);
  if (search->status != PATHSTORM_RUNNING) return MUSTER_ATOM_FINISH;
  return yields ? MUSTER_ATOM_MORE : MUSTER_ATOM_NEXT;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void pathstorm_solver_forget(pathstorm_solver *solver, uint32_t index) {
  solver->entry_of[solver->waiting[index].request.walker] = PATHSTORM_NONE;
  if (index == --solver->waits) return;
  solver->waiting[index] = solver->waiting[solver->waits];
  solver->entry_of[solver->waiting[index].request.walker] = index;
}

/* False when the answer could not be sent, and has to be tried again. A walker that is gone needs no answer. */
static bool pathstorm_solver_answer(muster_update *update, uint32_t index, uint32_t field, bool remembered) {
  pathstorm_solver *solver = solver_of(update);
  pathstorm_solver_state *own = update->state;
  const pathstorm_waiting *entry = &solver->waiting[index];
  pathstorm_answer answer = {entry->request.order, field};
  muster_result result = muster_update_send(update, entry->walker, &answer, sizeof answer);
  own->sends_refused += result == MUSTER_E_FULL;
  if (result == MUSTER_E_FULL) return false;
  if (field != PATHSTORM_NONE) pathstorm_field_grant(solver->self, entry->request.walker, answer.order, field);
  own->unreachable += field == PATHSTORM_NONE;
  bool recalled = remembered && field == PATHSTORM_NONE;
  own->remembered += recalled;
  own->found += !recalled && entry->first;
  own->shared += !recalled && !entry->first;
  solver->answered[entry->request.walker] = answer.order;
  pathstorm_solver_forget(solver, index);
  return true;
}

/* Answers the walkers that want to reach the goal of a field and whose answer is known; false when there are more of
 * them than one update answers. */
static bool pathstorm_solver_answer_all(muster_update *update, uint32_t field, bool knows_all, bool remembered) {
  pathstorm_solver *solver = solver_of(update);
  const pathstorm_field *known = &solver->self->fields[field];
  uint32_t answers = 0;
  for (uint32_t i = solver->waits; i-- > 0;) { /* from the end, as each answer moves the last one to its place */
    const pathstorm_request *request = &solver->waiting[i].request;
    if (request->goal != known->goal) continue;
    bool reached = pathstorm_way_is_known(known->ways, request->start);
    if (!reached && !knows_all) continue;
    if (answers++ == ANSWERS_PER_UPDATE) return false;
    if (!pathstorm_solver_answer(update, i, reached ? field : PATHSTORM_NONE, remembered)) return false;
  }
  return true;
}

static void end_search(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  pathstorm_solver_state *own = update->state;
  bool exhausted = solver->search.status == PATHSTORM_EXHAUSTED;
  own->exhausted += exhausted;
  pathstorm_field_keep(solver->self, solver->field, exhausted, update->now_ns);
  solver->field = PATHSTORM_NONE;
  solver->begun = false;
}

/* Answers the walkers that wait for the goal of the search; when all of them are answered, the search has ended. */
static void tell_findings(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  bool exhausted = solver->search.status == PATHSTORM_EXHAUSTED;
  if (solver->has_news && !pathstorm_solver_answer_all(update, solver->field, exhausted, false)) return;
  solver->has_news = false;
  if (solver->search.status != PATHSTORM_RUNNING) end_search(update);
}

/* Takes up the goal of the walker that waits longest: answers from a kept field, or begins a search. False when no
 * walker waits, or no field is free. */
static bool pathstorm_solver_take_up(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  pathstorm_solver_state *own = update->state;
  if (solver->waits == 0) return false;
  uint32_t oldest = 0;
  for (uint32_t i = 1; i < solver->waits; i++)
    if (solver->waiting[i].sequence < solver->waiting[oldest].sequence) oldest = i;
  uint32_t goal = solver->waiting[oldest].request.goal, start = solver->waiting[oldest].request.start;
  uint32_t known = pathstorm_field_about(solver->self, goal, update->now_ns);
  if (known != PATHSTORM_NONE) {
    const pathstorm_field *field = &solver->self->fields[known];
    bool knows_all = field->knowledge == PATHSTORM_ALL;
    if (knows_all || pathstorm_way_is_known(field->ways, start)) {
      pathstorm_solver_answer_all(update, known, knows_all, true);
      return true;
    }
  }
  solver->field = pathstorm_field_take(solver->self, goal, update->now_ns);
  own->kept_waiting += solver->field == PATHSTORM_NONE;
  if (solver->field == PATHSTORM_NONE) return false;
  solver->cleared = 0;
  solver->waiting[oldest].first = true;
  return true;
}

static muster_atom_result talk(muster_update *update) {
  pathstorm_solver *solver = solver_of(update);
  bool goes_on = true;
  if (solver->begun) tell_findings(update);
  if (solver->field == PATHSTORM_NONE) goes_on = pathstorm_solver_take_up(update);
  solver->begins = solver->field != PATHSTORM_NONE && !solver->begun;
  solver->busy = solver->begins || (solver->begun && solver->search.status == PATHSTORM_RUNNING);
  if (goes_on) muster_update_wake(update, update->agent); /* in the next frame, whatever its period */
  return MUSTER_ATOM_NEXT;
}

/* -------------------------------------------------------------------------------------------------------- the type */

static uint32_t search_atoms(const pathstorm *self) {
  return CLEARINGS + 1 + (pathstorm_is_whole(self) ? 1 : self->map.cells / STEPS_PER_ATOM + 1);
}

/* The model cost follows from what the last commit left, which does not change while a frame runs. */
static uint64_t pathstorm_solver_model_cost(const muster_cost_query *query, void *user) {
  const pathstorm *self = user;
  uint32_t number = 0;
  while (number + 1 < PATHSTORM_SOLVERS && !muster_agent_equal(self->solver_ids[number], query->agent)) number++;
  const pathstorm_solver *solver = &self->solvers[number];
  bool first = query->atom == 0, last = query->atom == 1 + search_atoms(self);
  if (first || last) return talk_ns;
  if (query->atom <= CLEARINGS + 1) return solver->begins ? begin_ns : idle_ns;
  if (!solver->busy) return idle_ns;
  return pathstorm_is_whole(self) ? (uint64_t)self->map.cells / STEPS_PER_ATOM * expand_ns : expand_ns;
}

muster_result pathstorm_solvers_register(pathstorm *self, muster_world *world) {
  static const muster_atom listens = {pathstorm_solver_listen, MUSTER_ROLE_PERCEPTION, talk_ns};
  static const muster_atom talks = {talk, MUSTER_ROLE_ACTION, talk_ns};
  muster_atom searches[SEARCH_ATOMS_MAX];
  muster_set_def sets[3] = {muster_set_def_default(), muster_set_def_default(), muster_set_def_default()};
  for (uint32_t i = 0; i < search_atoms(self); i++) {
    searches[i] = (muster_atom){pathstorm_solver_expand, MUSTER_ROLE_BEHAVIOUR, expand_ns};
    if (i <= CLEARINGS)
      searches[i] = (muster_atom){i < CLEARINGS ? pathstorm_solver_clear : pathstorm_solver_begin,
                                  MUSTER_ROLE_BEHAVIOUR, begin_ns};
  }
  sets[0].name = "listen";
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[0].atoms = &listens;
  sets[0].atom_count = 1;
  sets[1].name = "search";
  sets[1].mode = pathstorm_is_whole(self) ? MUSTER_MODE_RUN : MUSTER_MODE_SLICEABLE;
  sets[1].atoms = searches;
  sets[1].atom_count = search_atoms(self);
  sets[1].asks = 2 * STEPS_PER_ATOM / STEPS_PER_QUESTION; /* virtual: a piece is never left before its end */
  sets[2].name = "talk";
  sets[2].role = MUSTER_ROLE_ACTION;
  sets[2].atoms = &talks;
  sets[2].atom_count = 1;
  muster_type_def def = scaffold_type("solver", NULL, 0, sizeof(pathstorm_solver_state), period_ns, period_ns);
  def.sets.list = sets;
  def.sets.count = 3;
  def.elasticity = 0.0f;
  def.limit_ns = limit_ns;
  def.messages.waiting_max = PATHSTORM_INBOX_MAX;
  def.messages.bytes_max = (uint32_t)sizeof(pathstorm_request);
  def.messages.sends_max = ANSWERS_PER_UPDATE;
  def.messages.wake = true;
  def.sets.share = 50;
  def.sets.slice_ns = slice_ns;
  def.user = self;
  def.models.cost_ns = pathstorm_solver_model_cost;
  def.overruns.demote = def.overruns.quarantine = 0; /* all walkers wait for solvers: overruns are only counted */
  return scaffold_register(world, &def, &self->solver_type);
}

muster_result pathstorm_solvers_spawn(void *instance, muster_world *world) {
  pathstorm *self = instance;
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < PATHSTORM_SOLVERS && !result; i++) {
    pathstorm_solver_state state = {.number = i};
    muster_agent_def def = scaffold_agent(self->solver_type, (muster_position){0, 0, 0}, &state);
    def.importance_floor = 1.0f;
    def.elasticity = 0.0f;
    result = scaffold_spawn(world, &def, &self->solver_ids[i]);
  }
  return result;
}
