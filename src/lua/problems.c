#include "lua/problems.h"

#include "lua/hints.h"
#include "lua/lines.h"
#include "lua/safepoints.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS_MAX = 32, WHERE_BYTES = 80, WHAT_BYTES = 400, TRACE_BYTES = 1600 };

/* A place that fails. */
typedef struct script_problem {
  char where[WHERE_BYTES], what[WHAT_BYTES];
  uint64_t count, told; /* told: the count that the log was told last */
  uint64_t last_ns;     /* simulation time of the latest one, */
  char who[128];        /* and in what it was */
  uint32_t agents;      /* that failed there last, and live */
  char *trace;          /* of the first one; owned; null = there is none */
} script_problem;

/* Of an agent: where it failed last. */
typedef struct script_failure {
  uint32_t generation; /* 0 = nowhere */
  uint32_t place;
  uint64_t count, last_ns; /* of all its failures */
} script_failure;

/* Of a state; or of all together, without agents. */
typedef struct script_problems {
  uint32_t count;
  bool changed; /* since they were put together */
  script_problem list[PROBLEMS_MAX];
  script_failure *of_agents; /* by their index in the strand */
  uint32_t agents_max;
} script_problems;

static script_problems *of_state(script_state *state) {
  if (!state->problems) state->problems = calloc(1, sizeof *state->problems);
  if (!state->problems) abort();
  return state->problems;
}

/* The last one stands for all that there is no room for. */
static script_problem *problems_find_place(script_problems *problems, const char *where) {
  for (uint32_t i = 0; i < problems->count; i++)
    if (strncmp(problems->list[i].where, where, WHERE_BYTES - 1) == 0) return &problems->list[i];
  if (problems->count == PROBLEMS_MAX) return &problems->list[PROBLEMS_MAX - 1];
  script_problem *made = &problems->list[problems->count++];
  snprintf(made->where, sizeof made->where, "%s", problems->count == PROBLEMS_MAX ? "other places" : where);
  return made;
}

/* ----------------------------------------------------------------------------------------------------------- noting */

static uint32_t index_in_strand(const script_world *scripts, muster_agent agent) {
  uint32_t index = muster_agent_index(agent);
  return index / 64 / scripts->strands * 64 + index % 64;
}

/* Null: there is no room for it. */
static script_failure *failure_of(script_problems *problems, const script_world *scripts, muster_agent agent) {
  uint32_t index = index_in_strand(scripts, agent);
  if (index >= problems->agents_max) {
    uint32_t room = problems->agents_max ? problems->agents_max : 64;
    while (room <= index) room *= 2;
    script_failure *more = realloc(problems->of_agents, room * sizeof *more);
    if (!more) return NULL;
    memset(more + problems->agents_max, 0, (room - problems->agents_max) * sizeof *more);
    problems->of_agents = more;
    problems->agents_max = room;
  }
  return &problems->of_agents[index];
}

static void note_agent(script_problems *problems, const script_world *scripts, uint32_t place, muster_agent agent) {
  script_failure *failure = failure_of(problems, scripts, agent);
  if (!failure) return;
  bool known = failure->generation == muster_agent_generation(agent);
  if (failure->generation) problems->list[failure->place].agents--;
  problems->list[place].agents++;
  *failure = (script_failure){.generation = muster_agent_generation(agent),
                              .place = place,
                              .count = (known ? failure->count : 0) + 1,
                              .last_ns = scripts->now_ns};
}

/* One line that can go into a log and a terminal. */
static void copy_line(char *to, size_t room, const char *text) {
  size_t length = strcspn(text, "\n");
  if (length > room - 1) length = room - 1;
  for (size_t i = 0; i < length; i++) to[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
  to[length] = '\0';
}

static script_problem *note_place(script_state *state, const char *where, const char *text, const char *what,
                                  const script_type *type, muster_agent agent) {
  script_problems *problems = of_state(state);
  script_problem *problem = problems_find_place(problems, where);
  problems->changed = true;
  if (!problem->count++) copy_line(problem->what, sizeof problem->what, text);
  problem->last_ns = state->scripts->now_ns;
  if (muster_agent_is_null(agent)) {
    snprintf(problem->who, sizeof problem->who, "%s", what);
    return problem;
  }
  snprintf(problem->who, sizeof problem->who, "%s of agent %u (generation %u) of type '%s'", what,
           muster_agent_index(agent), muster_agent_generation(agent), type->name);
  note_agent(problems, state->scripts, (uint32_t)(problem - problems->list), agent);
  return problem;
}

/* How long the "NAME:LINE" is with which most messages begin; 0 = this one does not. */
static size_t place_length(const char *text) {
  size_t name = strcspn(text, ": \n"), digits = text[name] == ':' ? strspn(text + name + 1, "0123456789") : 0;
  size_t length = name + 1 + digits;
  return digits && text[length] == ':' && text[length + 1] == ' ' && length < WHERE_BYTES ? length : 0;
}

/* Where the thread stands, for messages that do not say it. */
static void find_where(lua_State *thread, const char *what, const script_type *type, char where[WHERE_BYTES]) {
  lua_Debug record;
  for (int level = safepoints_level(thread); lua_getstack(thread, level, &record); level++) {
    if (!lua_getinfo(thread, "Sl", &record) || record.currentline <= 0) continue;
    snprintf(where, WHERE_BYTES, "%.60s:%d", record.short_src, record.currentline);
    return;
  }
  snprintf(where, WHERE_BYTES, type ? "%.30s of type '%s'" : "%.30s", what, type ? type->name : "");
}

void problems_note_error(script_state *state, lua_State *thread, const char *what, const script_type *type,
                         muster_agent agent) {
  char where[WHERE_BYTES];
  const char *text = lua_type(thread, -1) == LUA_TSTRING   ? lua_tostring(thread, -1)
                     : lua_type(thread, -1) == LUA_TNUMBER ? "a number was raised as an error"
                                                           : "a value that is no text was raised as an error";
  size_t length = place_length(text);
  if (length)
    snprintf(where, sizeof where, "%.*s", (int)length, text);
  else
    find_where(thread, what, type, where);
  script_problem *problem = note_place(state, where, text + (length ? length + 2 : 0), what, type, agent);
  if (problem->trace || problem->count > 1) return;
  copy_line(problem->what, sizeof problem->what, hints_push(thread, state->L, text) + (length ? length + 2 : 0));
  lua_pop(state->L, 1);
  luaL_traceback(state->L, thread, NULL, safepoints_level(thread));
  problem->trace = strndup(lua_tostring(state->L, -1), TRACE_BYTES);
  lua_pop(state->L, 1);
}

void problems_note_endless(script_state *state, lua_State *thread, const char *what, const script_type *type,
                           muster_agent agent) {
  char where[WHERE_BYTES];
  find_where(thread, what, type, where);
  note_place(state, where, "the update does not end here, and its agent runs no more", what, type, agent);
}

void problems_note_host(script_state *host, const char *text) {
  static const char what[] = "muster.world.frame";
  char where[WHERE_BYTES];
  size_t length = place_length(text);
  snprintf(where, sizeof where, "%.*s", (int)(length ? length : sizeof what - 1), length ? text : what);
  script_problem *problem = note_place(host, where, text + (length ? length + 2 : 0), what, NULL, (muster_agent){0});
  const char *trace = strchr(text, '\n');
  if (trace && problem->count == 1) problem->trace = strndup(trace + 1, TRACE_BYTES);
}

void problems_note(script_state *state, const char *where, const char *text, const char *what, const script_type *type,
                   muster_agent agent) {
  note_place(state, where, text, what, type, agent);
}

void problems_forget(script_state *state, muster_agent agent) {
  script_problems *problems = state->problems;
  uint32_t index = problems ? index_in_strand(state->scripts, agent) : 0;
  if (!problems || index >= problems->agents_max || !problems->of_agents[index].generation) return;
  problems->list[problems->of_agents[index].place].agents--;
  problems->of_agents[index].generation = 0;
  problems->changed = true;
}

/* ---------------------------------------------------------------------------------------------------------- telling */

static bool take_change(script_state *state) {
  bool changed = state && state->problems && state->problems->changed;
  if (changed) state->problems->changed = false;
  return changed;
}

static void add_up(script_problems *all, script_state *state) {
  for (uint32_t i = 0; state && state->problems && i < state->problems->count; i++) {
    script_problem *from = &state->problems->list[i], *to = problems_find_place(all, from->where);
    if (!to->what[0]) memcpy(to->what, from->what, sizeof to->what);
    if (from->last_ns >= to->last_ns) {
      to->last_ns = from->last_ns;
      memcpy(to->who, from->who, sizeof to->who);
    }
    to->count += from->count;
    to->agents += from->agents;
    if (to->trace || !from->trace) continue;
    to->trace = from->trace;
    from->trace = NULL;
  }
}

/* Puts together what the strands have noted. False: nothing is new. */
static bool gather_all(script_world *scripts) {
  bool changed = take_change(scripts->host);
  for (uint32_t i = 0; i < scripts->strands; i++) changed = take_change(scripts->states[i]) || changed;
  if (!changed) return false;
  if (!scripts->problems) scripts->problems = calloc(1, sizeof *scripts->problems);
  if (!scripts->problems) return false;
  for (uint32_t i = 0; i < scripts->problems->count; i++)
    scripts->problems->list[i].count = scripts->problems->list[i].agents = 0;
  for (uint32_t i = 0; i < scripts->strands; i++) add_up(scripts->problems, scripts->states[i]);
  add_up(scripts->problems, scripts->host);
  return true;
}

static void tell_place(const script_world *scripts, script_problem *problem) {
  double seconds = (double)problem->last_ns * 1e-9;
  if (problem->told)
    lines_say(scripts, "%.3f s: %s has failed %llu times, now in %u agent%s: %s; last: %s", seconds, problem->where,
              (unsigned long long)problem->count, problem->agents, problem->agents == 1 ? "" : "s", problem->what,
              problem->who);
  else
    lines_say(scripts, "%.3f s: %s: %s: %s%s%s", seconds, problem->who, problem->where, problem->what,
              problem->trace ? "\n" : "", problem->trace ? problem->trace : "");
  problem->told = problem->told ? problem->count : 1;
}

void problems_tell(script_world *scripts) {
  if (!gather_all(scripts)) return;
  for (uint32_t i = 0; i < scripts->problems->count; i++) {
    script_problem *problem = &scripts->problems->list[i];
    if (problem->count > 0 && problem->told == 0) tell_place(scripts, problem);
    if (problem->count >= 10 * problem->told) tell_place(scripts, problem);
  }
}

/* --------------------------------------------------------------------------------------------------------- the host */

static int compare_counts(const void *left, const void *right) {
  const script_problem *a = *(script_problem *const *)left, *b = *(script_problem *const *)right;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return strcmp(a->where, b->where);
}

static void list_of_agent(const script_world *scripts, muster_agent agent, muster_module_tell tell, void *tell_user) {
  const script_state *state = scripts->states[scripts_strand(scripts, agent)];
  const script_problems *problems = state ? state->problems : NULL;
  uint32_t index = problems ? index_in_strand(scripts, agent) : 0;
  if (!problems || index >= problems->agents_max) return;
  const script_failure *failure = &problems->of_agents[index];
  if (failure->generation != muster_agent_generation(agent)) return;
  const script_problem *place = &problems->list[failure->place];
  const muster_module_problem told = {.size = sizeof told,
                                      .where = place->where,
                                      .what = place->what,
                                      .count = failure->count,
                                      .last_ns = failure->last_ns};
  tell(&told, tell_user);
}

void problems_list(void *instance, const muster_world *world, muster_agent agent, muster_module_tell tell,
                   void *tell_user) {
  script_world *scripts = instance;
  script_problem *sorted[PROBLEMS_MAX];
  (void)world;
  if (!muster_agent_is_null(agent)) {
    list_of_agent(scripts, agent, tell, tell_user);
    return;
  }
  problems_tell(scripts);
  uint32_t count = 0;
  for (uint32_t i = 0; scripts->problems && i < scripts->problems->count; i++)
    if (scripts->problems->list[i].count) sorted[count++] = &scripts->problems->list[i];
  if (count) qsort(sorted, count, sizeof *sorted, compare_counts);
  for (uint32_t i = 0; i < count; i++) {
    const muster_module_problem told = {.size = sizeof told,
                                        .agents = sorted[i]->agents,
                                        .where = sorted[i]->where,
                                        .what = sorted[i]->what,
                                        .count = sorted[i]->count,
                                        .last_ns = sorted[i]->last_ns};
    tell(&told, tell_user);
  }
}

void problems_free(script_problems *problems) {
  if (!problems) return;
  for (uint32_t i = 0; i < problems->count; i++) free(problems->list[i].trace);
  free(problems->of_agents);
  free(problems);
}

static void clear_state(script_state *state) {
  if (!state) return;
  problems_free(state->problems);
  state->problems = NULL;
}

void problems_clear(script_world *scripts) {
  problems_tell(scripts);
  for (uint32_t i = 0; i < scripts->strands; i++) clear_state(scripts->states[i]);
  clear_state(scripts->host);
  problems_free(scripts->problems);
  scripts->problems = NULL;
}
