#include "service/module_parts.h"

#include "service/flight.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What stands before a part's data in the snapshot of several. */
typedef struct part_head {
  module_name name;
  uint64_t bytes;
} part_head;

static void begin(const module_parts *parts, const module_part *part, flight_function function) {
  flight_call_begin(parts->world, part->name.module, function);
}

/* --------------------------------------------------------------------------------------------------------- populate */

static uint32_t count_types(const muster_world *world) {
  muster_type type = {1};
  while (muster_type_name(world, type)) type.index++;
  return type.index;
}

static muster_result register_part(const module_part *part, muster_world *world) {
  return part->module->register_types ? part->module->register_types(part->instance, world) : MUSTER_OK;
}

static muster_result parts_populate(void *instance, muster_world *world) {
  module_parts *parts = instance;
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < parts->count && !result; i++) {
    module_part *part = &parts->parts[i];
    begin(parts, part, FLIGHT_POPULATE);
    result = register_part(part, world);
    if (!result) result = part->module->populate(part->instance, world);
    flight_call_end();
    part->types_end = count_types(world);
  }
  return result;
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static void parts_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  const module_parts *parts = instance;
  for (uint32_t i = 0; i < parts->count; i++) {
    const module_part *part = &parts->parts[i];
    if (!part->module->before_frame) continue;
    begin(parts, part, FLIGHT_BEFORE_FRAME);
    part->module->before_frame(part->instance, world, sim_now_ns);
    flight_call_end();
  }
}

/* Every part must agree to the time that passes. */
static uint64_t parts_skip(void *instance, uint64_t sim_now_ns) {
  const module_parts *parts = instance;
  uint64_t least_ns = UINT64_MAX;
  for (uint32_t i = 0; i < parts->count; i++) {
    const module_part *part = &parts->parts[i];
    begin(parts, part, FLIGHT_SKIP);
    uint64_t ns = part->module->skip_ns(part->instance, sim_now_ns);
    flight_call_end();
    if (ns < least_ns) least_ns = ns;
  }
  return least_ns;
}

static muster_result parts_complete(void *instance, const muster_world *world, muster_agent_def *def) {
  const module_parts *parts = instance;
  for (uint32_t i = 0; i < parts->count; i++) {
    const module_part *part = &parts->parts[i];
    if (def->type.index >= part->types_end && i + 1 < parts->count) continue;
    if (part->module->complete) return part->module->complete(part->instance, world, def);
    return error_set(MUSTER_E_STATE, "module %s makes no agents for others", part->name.module);
  }
  return MUSTER_E_STATE;
}

void module_parts_measure(module_parts *parts, const muster_world *world) {
  for (uint32_t i = 0; i < parts->count; i++) {
    module_part *part = &parts->parts[i];
    for (uint32_t k = 0; k < MODULE_VALUES_MAX; k++) part->metrics[k] = (double)NAN;
    if (!module_metrics_count(part->module)) continue;
    begin(parts, part, FLIGHT_METRICS);
    part->module->read_metrics(part->instance, world, part->metrics);
    flight_call_end();
  }
}

struct problem_search {
  uint64_t since_ns;
  module_problem *found;
};

/* What a module says goes into logs and terminals. */
static void parts_copy_printable(char *to, size_t room, const char *text) {
  snprintf(to, room, "%s", text);
  for (; *to; to++)
    if (*to < ' ' || *to > '~') *to = '?';
}

static void take_module_problem(const muster_module_problem *problem, void *user) {
  const struct problem_search *search = user;
  module_problem *found = search->found;
  if (problem->last_ns < search->since_ns || !problem->count) return;
  found->places++;
  if (problem->count <= found->count) return;
  found->count = problem->count;
  found->last_ns = problem->last_ns;
  found->agents = problem->agents;
  parts_copy_printable(found->where, sizeof found->where, problem->where);
  parts_copy_printable(found->what, sizeof found->what, problem->what);
}

void module_parts_find_problem(module_parts *parts, const muster_world *world, muster_agent agent, uint64_t since_ns,
                               module_problem *found) {
  struct problem_search search = {since_ns, found};
  *found = (module_problem){0};
  for (uint32_t i = 0; i < parts->count; i++) {
    const module_part *part = &parts->parts[i];
    if (!part->module->problems) continue;
    begin(parts, part, FLIGHT_METRICS);
    part->module->problems(part->instance, world, agent, take_module_problem, &search);
    flight_call_end();
  }
}

/* -------------------------------------------------------------------------------------------------- save and resume */

bool module_part_is_saved(const muster_module *module) {
  return (module->save && module->resume) || (module->register_types && !module->save && !module->resume);
}

static muster_result save_part(const module_part *part, const muster_world *world, muster_module_write write,
                               void *user) {
  return part->module->save ? part->module->save(part->instance, world, write, user) : MUSTER_OK;
}

static bool parts_count_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(uint64_t *)user += count;
  return true;
}

static muster_result parts_save(void *instance, const muster_world *world, muster_module_write write, void *user) {
  const module_parts *parts = instance;
  muster_result result = MUSTER_OK;
  if (!parts->named) return save_part(&parts->parts[0], world, write, user);
  for (uint32_t i = 0; i < parts->count && !result; i++) {
    part_head head;
    memset(&head, 0, sizeof head);
    head.name = parts->parts[i].name;
    result = save_part(&parts->parts[i], world, parts_count_bytes, &head.bytes);
    if (!result && !write(&head, sizeof head, user)) return MUSTER_E_SYSTEM;
    if (!result) result = save_part(&parts->parts[i], world, write, user);
  }
  return result;
}

static muster_result parts_resume_one(const module_parts *parts, module_part *part, muster_world *world,
                                      const void *bytes, size_t count) {
  if (!part->module->resume && count)
    return error_set(MUSTER_E_INPUT, "%s saved %zu bytes, and keeps nothing now", part->name.module, count);
  begin(parts, part, FLIGHT_RESUME);
  muster_result result = register_part(part, world);
  if (!result && part->module->resume) result = part->module->resume(part->instance, world, bytes, count);
  flight_call_end();
  part->types_end = count_types(world);
  return result;
}

static muster_result parts_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  module_parts *parts = instance;
  const unsigned char *next = bytes;
  muster_result result = MUSTER_OK;
  if (!parts->named) return parts_resume_one(parts, &parts->parts[0], world, bytes, count);
  for (uint32_t i = 0; i < parts->count && !result; i++) {
    module_part *part = &parts->parts[i];
    part_head head;
    if (count < sizeof head) return error_set(MUSTER_E_INPUT, "it has no instance %s", part->name.instance);
    memcpy(&head, next, sizeof head);
    next += sizeof head;
    count -= sizeof head;
    if (memcmp(&head.name, &part->name, sizeof head.name) != 0 || head.bytes > count)
      return error_set(MUSTER_E_INPUT, "its instance %u is not %s of module %s", i + 1, part->name.instance,
                       part->name.module);
    result = parts_resume_one(parts, part, world, next, (size_t)head.bytes);
    next += head.bytes;
    count -= (size_t)head.bytes;
  }
  return result || !count ? result : error_set(MUSTER_E_INPUT, "it has more instances than the settings");
}

/* --------------------------------------------------------------------------------------------------- open and close */

static void parts_close(void *instance) {
  module_parts *parts = instance;
  while (parts->count > 0) {
    module_part *part = &parts->parts[--parts->count];
    part->module->close(part->instance);
  }
}

/* The settings that the world's section gives to one of its instances. */
static muster_result check_settings(module_part *part, const world_settings *settings) {
  module_given given[MODULE_SETTINGS_MAX];
  const module_setting *from[MODULE_SETTINGS_MAX];
  char shown[MODULE_SETTINGS_MAX][NAME_BYTES + MODULE_KEY_BYTES + 1];
  uint32_t count = 0, at_fault;
  for (uint32_t i = 0; i < settings->setting_count; i++) {
    const module_setting *setting = &settings->settings[i];
    if (strcmp(setting->instance, part->name.instance) != 0) continue;
    from[count] = setting;
    snprintf(shown[count], sizeof *shown, "%s.%s", setting->instance, setting->name);
    given[count] = (module_given){setting->name, setting->text, shown[count]};
    count++;
  }
  part->value_count = module_settings_count(part->module);
  muster_result result = module_settings_read(part->module, given, count, part->values, &at_fault);
  if (!result) return MUSTER_OK;
  char where[SETTINGS_WHERE_BYTES], why[512];
  snprintf(why, sizeof why, "%s", muster_last_error());
  return error_set(MUSTER_E_INPUT, "%s: %s", settings_module_where(from[at_fault], where), why);
}

static muster_result open_part(module_parts *parts, module_part *part, const world_settings *settings, uint64_t seed) {
  muster_module_options options = muster_module_options_default();
  options.agents = settings->agents;
  options.observers = settings->observers;
  options.seed = seed;
  options.path = settings->path[0] ? settings->path : NULL;
  options.values = part->values;
  options.value_count = part->value_count;
  options.instance = parts->named ? part->name.instance : NULL;
  options.world = parts->world;
  part->needs = (muster_module_needs){.size = sizeof part->needs};
  begin(parts, part, FLIGHT_OPEN);
  muster_result result = part->module->open(&options, &part->instance, &part->needs);
  flight_call_end();
  return result;
}

static uint32_t sum_of(uint32_t a, uint32_t b) {
  return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void add_needs(muster_module_needs *all, const muster_module_needs *needs) {
  uint32_t most = needs->agents > needs->agents_max ? needs->agents : needs->agents_max;
  all->agents = sum_of(all->agents, needs->agents);
  all->agents_max = sum_of(all->agents_max, most);
  all->observers = sum_of(all->observers, needs->observers);
  if (needs->cell_m > all->cell_m) all->cell_m = needs->cell_m;
}

static void make_face(module_parts *parts, const world_settings *settings) {
  bool skips = true, completes = false, saved = true;
  for (uint32_t i = 0; i < parts->count; i++) {
    const muster_module *module = parts->parts[i].module;
    skips &= module->skip_ns != NULL;
    completes |= module->complete != NULL;
    saved &= module_part_is_saved(module);
  }
  parts->face = (muster_module){.size = sizeof parts->face,
                                .abi = MUSTER_MODULE_ABI,
                                .name = settings->module,
                                .summary = "",
                                .populate = parts_populate,
                                .before_frame = parts_before_frame,
                                .close = parts_close,
                                .skip_ns = skips ? parts_skip : NULL,
                                .complete = completes ? parts_complete : NULL,
                                .save = saved ? parts_save : NULL,
                                .resume = saved ? parts_resume : NULL};
}

/* All modules are loaded, and all settings checked, before any instance is made. */
static muster_result load_parts(module_parts *parts, struct modules *modules, const module_list *list,
                                const world_settings *settings) {
  for (uint32_t i = 0; i < list->count; i++) {
    module_part *part = &parts->parts[i];
    part->name = list->names[i];
    part->module = modules_load(modules, part->name.module);
    if (!part->module || check_settings(part, settings)) return MUSTER_E_INPUT;
    if (list->count > 1 && !part->module->shares_world)
      return error_set(MUSTER_E_INPUT, "module %s does not share a world (shares_world); give it one of its own",
                       part->name.module);
  }
  return MUSTER_OK;
}

muster_result module_parts_open(module_parts *parts, struct modules *modules, const world_settings *settings,
                                muster_module_needs *needs) {
  module_list list;
  memset(parts, 0, sizeof *parts);
  memcpy(parts->world, settings->name, sizeof parts->world);
  *needs = (muster_module_needs){.size = sizeof *needs};
  muster_result result = module_list_read(settings->module, &list);
  if (!result) result = load_parts(parts, modules, &list, settings);
  parts->named = list.named;
  while (!result && parts->count < list.count) {
    module_part *part = &parts->parts[parts->count];
    result = open_part(parts, part, settings, settings->seed + parts->count);
    if (result) break;
    parts->count++;
    add_needs(needs, &part->needs);
  }
  if (!result) {
    make_face(parts, settings);
    return MUSTER_OK;
  }
  parts_close(parts);
  return result;
}

module_part *module_parts_find(module_parts *parts, const char *instance) {
  for (uint32_t i = 0; i < parts->count; i++)
    if (strcmp(parts->parts[i].name.instance, instance) == 0) return &parts->parts[i];
  return NULL;
}
