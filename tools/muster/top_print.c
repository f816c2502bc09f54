/* top_print.c - `muster top` without a terminal. */
#include "bands.h"
#include "base/columns.h"
#include "text.h"
#include "top.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void print_world(const top_state *state) {
  const top_world *world = &state->world;
  char text[TOP_DRAWING_BYTES], first[TEXT_BYTES], second[TEXT_BYTES];
  printf("world %s (%s), %.4g Hz, %llu workers, frame %llu, %s simulated%s%s\n", world->name, world->module, world->hz,
         (unsigned long long)state->workers, (unsigned long long)world->frames, top_time(text, world->sim_now_ns),
         world->paused ? ", paused" : "", world->failed ? ", failed" : "");
  printf(
      "frame     [%s] %s of %s\n",
      text_bar(text, TEXT_BAR_CELLS, (double)world->wall_ns, (double)world->budget_ns, 1.25 * (double)world->budget_ns),
      text_duration(first, (double)world->wall_ns), text_duration(second, (double)world->budget_ns));
  printf("pressure  [%s] %s\n", text_bar(text, TEXT_BAR_CELLS, world->pressure, 1, 1.25),
         text_pressure(first, world->pressure));
  printf("workers   [%s] needs %.3g, has %.3g\n",
         text_bar(text, TEXT_BAR_CELLS, world->fitted, world->desired, world->desired), world->fitted, world->desired);
  printf("updates   released %llu, completed %llu, carried %llu, preempted %llu, woken %llu\n",
         (unsigned long long)world->released, (unsigned long long)world->completed, (unsigned long long)world->carried,
         (unsigned long long)world->preempted, (unsigned long long)world->woken);
  printf("levels    0: %llu, 1: %llu, 2: %llu, 3: %llu of %s agents\n\n", (unsigned long long)world->levels[0],
         (unsigned long long)world->levels[1], (unsigned long long)world->levels[2],
         (unsigned long long)world->levels[3], text_count(first, world->agents));
}

static void print_bands(const muster_band bands[MUSTER_BANDS]) {
  char line[BANDS_LINE_BYTES];
  puts(bands_head(line, COLUMNS_USUAL));
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) puts(bands_row(line, COLUMNS_USUAL, bands, i));
  putchar('\n');
}

void top_print(const top_state *state) {
  char count[TEXT_BYTES], mean[TEXT_BYTES], high[TEXT_BYTES];
  print_world(state);
  print_bands(state->world.bands);
  printf("%-23s %9s %9s %9s %6s  %s\n", "TYPE", "AGENTS", "MEAN", "HIGH", "COST%", "LEVELS");
  for (uint32_t i = 0; i < state->type_count; i++) {
    const top_type *type = &state->types[i];
    printf("%-23s %9s %9s %9s %6.1f  %llu %llu %llu %llu%s\n", type->name, text_count(count, type->agents),
           text_duration(mean, type->mean_ns), text_duration(high, type->high_ns), 100 * type->share,
           (unsigned long long)type->levels[0], (unsigned long long)type->levels[1],
           (unsigned long long)type->levels[2], (unsigned long long)type->levels[3],
           type->quarantined ? " quarantined" : "");
  }
}

static json_t *counts(const uint64_t *values, uint32_t count) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++) json_array_append_new(array, json_integer((json_int_t)values[i]));
  return array;
}

/* json_string() is a function of base/json.h here. */
static json_t *text_value(const char *text) {
  return json_stringn(text, strlen(text));
}

static json_t *whole(uint64_t value) {
  return json_integer((json_int_t)value);
}

static json_t *world_object(const top_state *state) {
  const top_world *world = &state->world;
  json_t *object = json_object();
  json_object_set_new(object, "world", text_value(world->name));
  json_object_set_new(object, "module", text_value(world->module));
  json_object_set_new(object, "paused", json_boolean(world->paused));
  json_object_set_new(object, "failed", json_boolean(world->failed));
  json_object_set_new(object, "frames", whole(world->frames));
  json_object_set_new(object, "sim_now_ns", whole(world->sim_now_ns));
  json_object_set_new(object, "hz", json_real(world->hz));
  json_object_set_new(object, "budget_ns", whole(world->budget_ns));
  json_object_set_new(object, "wall_ns", whole(world->wall_ns));
  json_object_set_new(object, "overrun_wall_ns", whole(world->overrun_ns));
  json_object_set_new(object, "pressure", json_real(world->pressure));
  json_object_set_new(object, "share", json_real(world->share));
  json_object_set_new(object, "utilisation_desired", json_real(world->desired));
  json_object_set_new(object, "utilisation_fitted", json_real(world->fitted));
  json_object_set_new(object, "workers", whole(state->workers));
  json_object_set_new(object, "agents", whole(world->agents));
  json_object_set_new(object, "levels", counts(world->levels, TOP_LEVELS));
  json_object_set_new(object, "released", whole(world->released));
  json_object_set_new(object, "completed", whole(world->completed));
  json_object_set_new(object, "carried", whole(world->carried));
  json_object_set_new(object, "preempted", whole(world->preempted));
  json_object_set_new(object, "woken", whole(world->woken));
  return object;
}

void top_print_json(const top_state *state) {
  json_t *object = world_object(state), *types = json_array();
  for (uint32_t i = 0; i < state->type_count; i++) {
    const top_type *type = &state->types[i];
    json_t *each = json_object();
    json_object_set_new(each, "type", text_value(type->name));
    json_object_set_new(each, "agents", whole(type->agents));
    json_object_set_new(each, "levels", counts(type->levels, TOP_LEVELS));
    json_object_set_new(each, "mean_ns", json_real(type->mean_ns));
    json_object_set_new(each, "p95_ns", json_real(type->high_ns));
    json_object_set_new(each, "cost_share", json_real(type->share));
    json_object_set_new(each, "quarantined", json_boolean(type->quarantined));
    json_array_append_new(types, each);
  }
  json_object_set_new(object, "types", types);
  json_object_set(object, "staleness_by_importance", state->bands);
  json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
  putchar('\n');
  json_decref(object);
}
