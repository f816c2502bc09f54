/* top_print.c - `muster top` without a terminal. */
#include "bands.h"
#include "base/columns.h"
#include "text.h"
#include "top.h"

#include <jansson.h>

static void print_absent(const top_state *state) {
  printf("world %s does not run (%s)\n", state->world.name, state->world.module);
  if (*state->others) printf("%s\n", state->others);
  printf("%s\n", state->verdict);
}

static void print_world(const top_state *state) {
  const top_world *world = &state->world;
  char text[TOP_DRAWING_BYTES];
  printf("world %s (%s), %.4g Hz, %lu workers, frame %lu, %s simulated%s%s\n", world->name, world->module, world->hz,
         state->workers, world->frames, top_time(text, world->sim_now_ns), world->paused ? ", paused" : "",
         world->failed ? ", failed" : "");
  if (*state->others) printf("%s\n", state->others);
  if (*state->verdict) printf("%s\n", state->verdict);
  if (*state->next) printf("%s\n", state->next);
  printf(
      "frame     [%s] %s of %s\n",
      text_bar(text, TEXT_BAR_CELLS, (double)world->wall_ns, (double)world->budget_ns, 1.25 * (double)world->budget_ns),
      text_ns(world->wall_ns), text_ns(world->budget_ns));
  printf("pressure  [%s] %s\n", text_bar(text, TEXT_BAR_CELLS, world->pressure, 1, 1.25),
         text_pressure(world->pressure));
  printf("workers   [%s] needs %.3g, has %.3g\n",
         text_bar(text, TEXT_BAR_CELLS, world->fitted, world->desired, world->desired), world->fitted, world->desired);
  printf("updates   released %lu, completed %lu, carried %lu, preempted %lu, woken %lu\n", world->released,
         world->completed, world->carried, world->preempted, world->woken);
  printf("levels    0: %lu, 1: %lu, 2: %lu, 3: %lu of %s agents\n\n", world->levels[0], world->levels[1],
         world->levels[2], world->levels[3], text_count(world->agents));
}

static void print_lists(const top_state *state) {
  char line[TOP_DRAWING_BYTES];
  for (top_list_kind kind = TOP_DELAYED; kind <= TOP_EXPENSIVE; kind++) {
    printf("\n%s\n", top_agents_head(line, kind));
    for (uint32_t i = 0; i < state->lists[kind].count; i++) puts(top_agents_row(line, &state->lists[kind].agents[i]));
  }
  printf("\n%s\n", top_observers_head(line));
  for (uint32_t i = 0; i < state->observer_count; i++) puts(top_observers_row(line, &state->observers[i]));
}

void top_print(const top_state *state) {
  enum { NAME_CELLS = 23 };
  char line[TOP_DRAWING_BYTES];
  if (state->absent) {
    print_absent(state);
    return;
  }
  print_world(state);
  bands_print(stdout, COLUMNS_USUAL, state->world.bands);
  printf("\n%s\n", top_types_head(line, NAME_CELLS));
  for (uint32_t i = 0; i < state->type_count; i++)
    puts(top_types_row(line, NAME_CELLS, TOP_NAME_BYTES, &state->types[i]));
  print_lists(state);
}

static json_t *counts(const uint64_t *values, uint32_t count) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++) json_array_append_new(array, json_integer((json_int_t)values[i]));
  return array;
}

static json_t *world_object(const top_state *state) {
  const top_world *world = &state->world;
  return json_pack(
      "{s:s, s:s, s:b, s:b, s:I, s:I, s:f, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:o, s:I, s:I, s:I, "
      "s:I, s:I}",
      "world", world->name, "module", world->module, "paused", world->paused, "failed", world->failed, "frames",
      world->frames, "sim_now_ns", world->sim_now_ns, "hz", world->hz, "budget_ns", world->budget_ns, "wall_ns",
      world->wall_ns, "overrun_wall_ns", world->overrun_ns, "pressure", world->pressure, "share", world->share,
      "utilisation_desired", world->desired, "utilisation_fitted", world->fitted, "workers", state->workers, "agents",
      world->agents, "levels", counts(world->levels, TOP_LEVELS), "released", world->released, "completed",
      world->completed, "carried", world->carried, "preempted", world->preempted, "woken", world->woken);
}

void top_print_json(const top_state *state) {
  json_t *object = world_object(state), *types = json_array();
  for (const top_type *type = state->types; type < state->types + state->type_count; type++)
    json_array_append_new(types,
                          json_pack("{s:s, s:I, s:o, s:f, s:f, s:f, s:b}", "type", type->name, "agents", type->agents,
                                    "levels", counts(type->levels, TOP_LEVELS), "mean_ns", type->mean_ns, "p95_ns",
                                    type->high_ns, "cost_share", type->share, "quarantined", type->quarantined));
  json_object_set_new(object, "types", types);
  if (!state->absent) json_object_set(object, "staleness_by_importance", state->bands);
  if (state->absent) json_object_set_new(object, "words", json_pack("s", state->verdict));
  json_object_set(object, "processes", state->processes);
  json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
  putchar('\n');
  json_decref(object);
}
