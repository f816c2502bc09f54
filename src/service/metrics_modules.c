/* metrics_modules.c - the families of the modules: a name in several modules, instances or worlds is one family. */
#include "service/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One metric of one instance. */
typedef struct module_sample {
  const metrics_world *world;
  const published_part *part;
  uint32_t row;
} module_sample;

/* Goes on to the next metric of any instance; begins with one without a world. False behind the last. */
static bool next_sample(const metrics_facts *facts, module_sample *sample) {
  const metrics_world *end = facts->worlds + facts->world_count;
  if (sample->world && ++sample->row < module_metrics_count(sample->part->tables)) return true;
  while (true) {
    sample->row = 0;
    if (!sample->world)
      sample->part = (sample->world = facts->worlds)->published.parts;
    else
      sample->part++;
    while (sample->world < end && sample->part == sample->world->published.parts + sample->world->published.part_count)
      if (++sample->world < end) sample->part = sample->world->published.parts;
    if (sample->world >= end) return false;
    if (module_metrics_count(sample->part->tables)) return true;
  }
}

static const muster_module_metric *row_of(const module_sample *sample) {
  return &sample->part->tables->metrics[sample->row];
}

static bool is_first(const metrics_facts *facts, const module_sample *sample) {
  module_sample other = {0};
  while (next_sample(facts, &other) && strcmp(row_of(&other)->name, row_of(sample)->name) != 0) continue;
  return other.part == sample->part && other.row == sample->row;
}

static void metrics_modules_write(struct exposition *exposition, const module_sample *sample) {
  double value = sample->part->metrics[sample->row];
  exposition_labels labels = {
      3, {{"world", sample->world->name}, {"module", sample->part->module}, {"instance", sample->part->instance}}};
  if (!isnan(value)) exposition_write(exposition, "", &labels, value);
}

void metrics_render_modules(struct exposition *exposition, const metrics_facts *facts) {
  char name[MUSTER_MODULE_NAME_MAX + 16];
  for (module_sample first = {0}; facts->world_count && next_sample(facts, &first);) {
    if (!is_first(facts, &first)) continue;
    snprintf(name, sizeof name, "muster_module_%s", row_of(&first)->name);
    exposition_begin(exposition, name, EXPOSITION_NUMBER, row_of(&first)->help);
    for (module_sample each = {0}; next_sample(facts, &each);)
      if (strcmp(row_of(&each)->name, row_of(&first)->name) == 0) metrics_modules_write(exposition, &each);
  }
}
