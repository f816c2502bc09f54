/* top_lists.c - asks the daemon for the agents that stand out, for those that are searched, and for observers. */
#include "top.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static double number_of(const json_t *object, const char *name) {
  return json_number_value(json_object_get(object, name));
}

/* The document at a path below the world. Null after a complaint. */
static json_t *ask_world(const top_state *state, const char *end) {
  char path[CTL_PATH_BYTES], name[CTL_ESCAPED_BYTES];
  json_t *answer = NULL;
  snprintf(path, sizeof path, "/v1/worlds/%s/%.600s", ctl_escape(state->world.name, name), end);
  return ctl_ask(&state->ctl, "GET", path, NULL, &answer) ? answer : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- agents */

static void add_agent(top_list *list, const json_t *object) {
  if (list->count == TOP_LIST_MAX) return;
  top_agent *agent = &list->agents[list->count++];
  *agent = (top_agent){.importance = number_of(object, "importance"),
                       .load = number_of(object, "load"),
                       .late_ns = ctl_count_of(object, "late_ns"),
                       .period_ns = ctl_count_of(object, "period_ns"),
                       .cost_ns = ctl_count_of(object, "expected_cost_ns"),
                       .level = ctl_count_of(object, "level")};
  ctl_copy_text(object, "agent", agent->id, sizeof agent->id);
  ctl_copy_text(object, "type", agent->type, sizeof agent->type);
}

/* The list of the daemon has only lateness and load of agents that stand out; of others they follow from the figures.
 */
static void complete(top_agent *agent, const top_state *state, const json_t *object) {
  uint64_t due_ns = ctl_count_of(object, "last_update_ns") + agent->period_ns;
  if (!agent->period_ns) return;
  agent->load = (double)agent->cost_ns / (double)agent->period_ns;
  if (state->world.sim_now_ns > due_ns) agent->late_ns = state->world.sim_now_ns - due_ns;
}

/* Where just one type is searched, the lists are of that type. */
static bool look_at_ranking(top_state *state) {
  static const char *const names[] = {"delayed", "expensive", "important"};
  char end[CTL_PATH_BYTES], type[CTL_ESCAPED_BYTES];
  size_t i;
  const json_t *object;
  bool one = *state->search && !top_searches_id(state) && state->types_shown == 1;
  snprintf(end, sizeof end, "ranking?limit=%u%s%s", state->list_rows, one ? "&type=" : "",
           one ? ctl_escape(state->types[0].name, type) : "");
  json_t *answer = ask_world(state, end);
  if (!answer) return false;
  for (top_list_kind kind = TOP_DELAYED; kind <= TOP_IMPORTANT; kind++) {
    state->lists[kind].count = 0;
    json_array_foreach(json_object_get(answer, names[kind]), i, object) add_agent(&state->lists[kind], object);
  }
  json_decref(answer);
  return true;
}

/* Agents from an index on, as far as their ids begin as the search does. */
static bool find_from(top_state *state, unsigned long index, unsigned long most) {
  top_list *found = &state->lists[TOP_FOUND];
  char end[64];
  size_t i;
  const json_t *object;
  snprintf(end, sizeof end, "agents?cursor=%lu&limit=%lu", index, most);
  json_t *answer = ask_world(state, end);
  if (!answer) return false;
  json_array_foreach(json_object_get(answer, "agents"), i, object) {
    const char *id = json_string_value(json_object_get(object, "agent"));
    if (!id || strncmp(id, state->search, strlen(state->search)) != 0 || found->count == TOP_LIST_MAX) continue;
    add_agent(found, object);
    complete(&found->agents[found->count - 1], state, object);
  }
  json_decref(answer);
  return true;
}

/* The index that the digits are, and those that have them in front: 51, 510 .. 519, 5100 .. 5199, while rows are left.
 */
static bool look_at_found(top_state *state) {
  unsigned long index = strtoul(state->search, NULL, 10);
  bool whole = strchr(state->search, '.') != NULL, well = true;
  state->lists[TOP_FOUND].count = 0;
  if (!top_searches_id(state)) return true;
  for (unsigned long most = 1; well && index < UINT32_MAX && most <= 1000; index *= 10, most *= 10) {
    well = find_from(state, index, most);
    if (whole || index == 0 || state->lists[TOP_FOUND].count >= state->list_rows) break;
  }
  return well;
}

/* -------------------------------------------------------------------------------------------------------- observers */

static void read_observer(const json_t *object, top_observer *observer) {
  const json_t *position = json_object_get(object, "position");
  *observer = (top_observer){.x = number_of(position, "x"),
                             .y = number_of(position, "y"),
                             .z = number_of(position, "z"),
                             .near_m = number_of(object, "near_m"),
                             .far_m = number_of(object, "far_m"),
                             .held = json_is_true(json_object_get(object, "held"))};
  ctl_copy_text(object, "observer", observer->id, sizeof observer->id);
}

static bool look_at_observers(top_state *state) {
  char end[64];
  size_t i;
  const json_t *object;
  snprintf(end, sizeof end, "observers?limit=%u", state->list_rows);
  json_t *answer = ask_world(state, end);
  if (!answer) return false;
  state->observer_count = 0;
  json_array_foreach(json_object_get(answer, "observers"), i, object) {
    if (state->observer_count < TOP_LIST_MAX) read_observer(object, &state->observers[state->observer_count++]);
  }
  json_decref(answer);
  return true;
}

bool top_look_at_lists(top_state *state) {
  if (state->list_rows > TOP_LIST_MAX) state->list_rows = TOP_LIST_MAX;
  return !state->list_rows || (look_at_ranking(state) && look_at_found(state) && look_at_observers(state));
}
