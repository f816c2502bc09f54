/* top_look.c - asks the daemon for what `muster top` shows. */
#include "complaint.h"
#include "top.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- reading */

static const json_t *at(const json_t *object, const char *name) {
  return json_object_get(object, name);
}

static uint64_t count(const json_t *value) {
  return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static void read_frame(const json_t *frame, top_world *world) {
  world->wall_ns = ctl_count_of(frame, "wall_ns");
  world->overrun_ns = ctl_count_of(frame, "overrun_wall_ns");
  world->released = ctl_count_of(frame, "released");
  world->completed = ctl_count_of(frame, "completed");
  world->carried = ctl_count_of(frame, "carried");
  world->preempted = ctl_count_of(frame, "preempted");
  world->woken = ctl_count_of(frame, "woken");
  world->desired = json_number_value(at(frame, "utilisation_desired"));
  world->fitted = json_number_value(at(frame, "utilisation_fitted"));
}

/* What agents got between two looks, where any of them ran; else since the world began. */
static uint64_t interval_of(const muster_band *band, const muster_band *before) {
  uint64_t completed = band->completed - before->completed;
  if (band->completed <= before->completed) return band->interval_ns;
  return (uint64_t)((band->agent_time_ns - before->agent_time_ns) / (double)completed);
}

static void read_bands(const json_t *array, const muster_band before[MUSTER_BANDS], top_world *world) {
  ctl_read_bands(array, world->bands);
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) world->bands[i].interval_ns = interval_of(&world->bands[i], &before[i]);
}

static void read_world(const json_t *object, top_world *world) {
  *world = (top_world){0};
  ctl_copy_text(object, "world", world->name, sizeof world->name);
  ctl_copy_text(object, "module", world->module, sizeof world->module);
  world->paused = json_is_true(at(object, "paused"));
  world->failed = json_is_true(at(object, "failed"));
  world->frames = ctl_count_of(object, "frames");
  world->sim_now_ns = ctl_count_of(object, "sim_now_ns");
  world->budget_ns = ctl_count_of(object, "budget_ns");
  world->hz = json_number_value(at(object, "hz"));
  world->agents = ctl_count_of(object, "agents");
  world->pressure = json_number_value(at(object, "pressure"));
  world->share = json_number_value(at(object, "share"));
  world->agents_quarantined = ctl_count_of(object, "agents_quarantined");
  world->bytes = ctl_count_of(object, "bytes_used");
  for (size_t i = 0; i < TOP_LEVELS; i++) world->levels[i] = count(json_array_get(at(object, "levels"), i));
  read_frame(at(object, "frame"), world);
}

static void read_verdict(const json_t *object, top_state *state) {
  const char *code = json_string_value(at(object, "code")), *words = json_string_value(at(object, "words")),
             *severity = json_string_value(at(object, "severity")), *next = json_string_value(at(object, "next"));
  bool named = code && words && strncmp(words, code, strlen(code)) == 0;
  snprintf(state->verdict, sizeof state->verdict, "%s%s%s", named || !code ? "" : code, named || !code ? "" : ": ",
           words ? words : "");
  snprintf(state->next, sizeof state->next, "%s", next ? next : "");
  snprintf(state->severity, sizeof state->severity, "%s", severity ? severity : "");
}

static void read_type(const json_t *object, top_type *type) {
  const json_t *levels = at(object, "levels"), *level;
  size_t i;
  *type = (top_type){0};
  ctl_copy_text(object, "type", type->name, sizeof type->name);
  type->quarantined = json_is_true(at(at(object, "overrun_counts"), "quarantined"));
  json_array_foreach(levels, i, level) {
    uint64_t agents = ctl_count_of(level, "agents"), number = ctl_count_of(level, "level");
    if (number < TOP_LEVELS) type->levels[number] = agents;
    type->agents += agents;
    type->mean_ns += (double)agents * (double)ctl_count_of(level, "mean_ns");
    type->high_ns += (double)agents * (double)ctl_count_of(level, "p95_ns");
  }
  type->share = type->mean_ns; /* made a share when all are known */
  if (type->agents) type->mean_ns /= (double)type->agents;
  if (type->agents) type->high_ns /= (double)type->agents;
}

static void read_types(const json_t *array, top_state *state) {
  double sum = 0;
  size_t i;
  const json_t *object;
  state->type_count = 0;
  json_array_foreach(array, i, object) {
    if (state->type_count == TOP_TYPES_MAX) break;
    read_type(object, &state->types[state->type_count]);
    sum += state->types[state->type_count++].share;
  }
  for (uint32_t k = 0; k < state->type_count && sum > 0; k++) state->types[k].share /= sum;
}

/* ---------------------------------------------------------------------------------------------------------- sorting */

bool top_searches_id(const top_state *state) {
  return *state->search >= '0' && *state->search <= '9';
}

static bool is_searched(const top_state *state, const top_type *type) {
  return !*state->search || top_searches_id(state) || strcasestr(type->name, state->search);
}

static int compare_types(const void *left, const void *right, void *user) {
  const top_type *a = left, *b = right;
  const top_state *state = user;
  int searched = is_searched(state, b) - is_searched(state, a);
  if (searched) return searched;
  const double differences[TOP_ORDERS] = {b->share - a->share, b->mean_ns - a->mean_ns, b->high_ns - a->high_ns,
                                          (double)b->agents - (double)a->agents};
  double difference = differences[state->order];
  int order = (difference > 0) - (difference < 0);
  if (order == 0) order = strcmp(a->name, b->name);
  return state->reversed ? -order : order;
}

void top_sort(top_state *state) {
  qsort_r(state->types, state->type_count, sizeof *state->types, compare_types, state);
  state->types_shown = 0;
  for (uint32_t i = 0; i < state->type_count; i++) state->types_shown += is_searched(state, &state->types[i]);
}

const char *top_order_name(top_order order) {
  static const char *const names[TOP_ORDERS] = {"COST%", "MEAN", "HIGH", "AGENTS", "TYPE"};
  return names[order];
}

/* ---------------------------------------------------------------------------------------------------------- looking */

static void note(top_history *history, double value) {
  if (history->count == TOP_HISTORY)
    memmove(history->values, history->values + 1, (TOP_HISTORY - 1) * sizeof *history->values);
  else
    history->count++;
  history->values[history->count - 1] = value;
}

static const json_t *find_world(const json_t *worlds, const char *name) {
  const json_t *object;
  size_t i;
  json_array_foreach(worlds, i, object) {
    const char *known = json_string_value(at(object, "world"));
    if (known && strcmp(known, name) == 0) return object;
  }
  return NULL;
}

/* The world that is wanted, or the first that runs, or the first of all. False after a complaint. */
static bool choose(top_state *state, const json_t *answer) {
  const json_t *all = at(answer, "processes"), *object;
  size_t i;
  bool chosen = false, runs = false;
  if (json_array_size(all) == 0) all = at(answer, "worlds");
  state->world_count = 0;
  json_array_foreach(all, i, object) {
    if (i == TOP_WORLDS_MAX) break;
    ctl_copy_text(object, "world", state->names[i], sizeof state->names[i]);
    state->world_count++;
    bool lives = find_world(at(answer, "worlds"), state->names[i]) != NULL;
    if (*state->wanted ? strcmp(state->names[i], state->wanted) != 0 : chosen && (runs || !lives)) continue;
    chosen = true;
    runs = lives;
    state->world_index = (uint32_t)i;
  }
  if (!chosen) complain_failure("there is no world '%s'; `muster ctl worlds` lists them", state->wanted);
  return chosen;
}

/* Of the other worlds the first that does not run. */
static void read_others(top_state *state, const json_t *answer) {
  *state->others = '\0';
  for (uint32_t i = 0; i < state->world_count && !*state->others; i++)
    if (i != state->world_index) ctl_words_of(ctl_process_of(answer, state->names[i]), state->others);
}

/* Of a world that does not run there is only the reason. */
static void take_absent(top_state *state, const json_t *process) {
  const char *name = state->names[state->world_index], *how = json_string_value(at(process, "state"));
  char words[CTL_WORDS_BYTES];
  state->world = (top_world){0};
  snprintf(state->world.name, sizeof state->world.name, "%s", name);
  snprintf(state->wanted, sizeof state->wanted, "%s", name);
  snprintf(state->world.module, sizeof state->world.module, "%s", how ? how : "does not run");
  ctl_words_of(process, words);
  snprintf(state->verdict, sizeof state->verdict, "%s", *words ? words : "it begins; it has not answered yet");
  snprintf(state->severity, sizeof state->severity, "%s", how && strcmp(how, "failed") == 0 ? "alarm" : "warning");
  *state->next = '\0';
  state->wall.count = state->pressure.count = state->carried.count = 0;
  state->type_count = state->types_shown = state->observer_count = 0;
  memset(state->lists, 0, sizeof state->lists);
}

static void take(top_state *state, const json_t *world, const json_t *types, const json_t *weights) {
  if (strcmp(state->names[state->world_index], state->world.name) != 0) state->wall.count = state->pressure.count = 0;
  if (state->wall.count == 0) state->carried.count = 0;
  top_world before = state->world;
  read_world(world, &state->world);
  if (strcmp(before.name, state->world.name) != 0 || before.frames > state->world.frames) before = (top_world){0};
  json_decref(state->bands);
  state->bands = json_deep_copy(at(world, "staleness_by_importance"));
  read_bands(state->bands, before.bands, &state->world);
  snprintf(state->wanted, sizeof state->wanted, "%s", state->world.name);
  read_verdict(at(world, "verdict"), state);
  read_types(at(types, "types"), state);
  state->workers = ctl_count_of(weights, "workers");
  note(&state->wall, (double)state->world.wall_ns);
  note(&state->pressure, state->world.pressure);
  note(&state->carried, (double)state->world.carried);
  top_sort(state);
}

bool top_look(top_state *state) {
  char path[128];
  json_t *worlds = NULL, *types = NULL, *weights = NULL;
  const json_t *world = NULL;
  bool chosen = ctl_ask(&state->ctl, "GET", "/v1/worlds", NULL, &worlds) && choose(state, worlds);
  const char *name = state->names[state->world_index];
  if (chosen) {
    world = find_world(at(worlds, "worlds"), name);
    state->absent = !world;
    read_others(state, worlds);
    json_decref(state->processes);
    state->processes = json_deep_copy(at(worlds, "processes"));
  }
  if (chosen && !world) take_absent(state, ctl_process_of(worlds, name));
  if (world) {
    snprintf(path, sizeof path, "/v1/worlds/%s/types", name);
    bool well = ctl_ask(&state->ctl, "GET", path, NULL, &types);
    snprintf(path, sizeof path, "/v1/worlds/%s/weights", name);
    well = well && ctl_ask(&state->ctl, "GET", path, NULL, &weights);
    if (well) take(state, world, types, weights);
    chosen = well && top_look_at_lists(state);
  }
  json_decref(worlds);
  json_decref(types);
  json_decref(weights);
  return chosen;
}

bool top_change(const top_state *state, const char *end, const char *member, json_t *value) {
  char path[128];
  json_t *answer = NULL, *body = json_object();
  json_object_set_new(body, member, value);
  snprintf(path, sizeof path, "/v1/worlds/%s%s", state->world.name, end);
  bool well = ctl_ask(&state->ctl, *end ? "POST" : "PATCH", path, body, &answer);
  json_decref(answer);
  return well;
}
