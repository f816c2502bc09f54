#include "scenarios/scaffold.h"

#include "scenarios/busy_work.h"

#include <muster/bulk.h>

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, LINES_MAX = 64, CACHE_LINE = 64 };

/* ------------------------------------------------------------------------------------------------------------- open */

static uint32_t scaffold_number_at(const void *instance, size_t at) {
  return *(const uint32_t *)(const void *)((const char *)instance + at);
}

static void **pointer_at(void *instance, size_t at) {
  return (void **)(void *)((char *)instance + at);
}

static const scaffold_array of_observers[] = {
    SCAFFOLD_ARRAY(scaffold, observers, observer_count), SCAFFOLD_ARRAY(scaffold, places, observer_count), {0}};

static bool make_array(void *instance, const scaffold_array *array) {
  void **array_at = pointer_at(instance, array->at);
  size_t count = scaffold_number_at(instance, array->room_at);
  if (*array_at) return true;
  if (count == 0) count = 1;
  if (array->bytes % CACHE_LINE)
    *array_at = calloc(count, array->bytes);
  else if ((*array_at = aligned_alloc(CACHE_LINE, count * array->bytes)))
    memset(*array_at, 0, count * array->bytes);
  return *array_at;
}

/* Any thread that runs a frame has a worker slot in the pool, and is the worker of that slot. */
enum { TALLIES = MUSTER_WORKERS_MAX + MUSTER_EXTERNAL_MAX };

/* From one worker's tally to the next: they share no cache line. */
static size_t tally_stride(const scaffold_plan *plan) {
  return (plan->tally_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static bool make_tallies(scaffold *base) {
  size_t bytes = TALLIES * tally_stride(base->plan);
  if (!bytes) return true;
  if ((base->tallies = aligned_alloc(CACHE_LINE, bytes))) memset(base->tallies, 0, bytes);
  return base->tallies;
}

void *scaffold_tally(const scaffold *base, const muster_update *update) {
  return (char *)base->tallies + update->worker * tally_stride(base->plan);
}

/* Adds what the workers counted to the tally of the instance. */
static void add_tallies(scaffold *base) {
  const scaffold_plan *plan = base->plan;
  uint64_t *sums = (uint64_t *)(void *)((char *)base + plan->tally_at);
  for (uint32_t worker = 0; worker < TALLIES && base->tallies; worker++) {
    uint64_t *tally = (uint64_t *)(void *)((char *)base->tallies + worker * tally_stride(plan));
    for (size_t i = 0; i < plan->tally_bytes / sizeof *tally; i++) sums[i] += tally[i];
    memset(tally, 0, plan->tally_bytes);
  }
}

static bool make_arrays(void *instance, const scaffold_array *arrays) {
  for (; arrays && arrays->bytes; arrays++)
    if (!make_array(instance, arrays)) return false;
  return true;
}

static void free_arrays(void *instance, const scaffold_array *arrays) {
  for (; arrays && arrays->bytes; arrays++) {
    free(*pointer_at(instance, arrays->at));
    *pointer_at(instance, arrays->at) = NULL;
  }
}

void scaffold_close(void *instance) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  if (plan->release) plan->release(instance);
  free_arrays(instance, plan->arrays);
  free_arrays(instance, of_observers);
  free(((scaffold *)instance)->tallies);
  free(instance);
}

static muster_result check_options(const scaffold_plan *plan, const muster_module_options *options) {
  if (!options || options->size == 0)
    return muster_module_fail(MUSTER_E_NOT_INITIALISED,
                              "%s: the options were not set by muster_module_options_default()", plan->name);
  if (options->path && !plan->takes_file)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s takes no file (%s); use 'population' for one", plan->name,
                              options->path);
  if (options->agents > plan->agents_max)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: %u agents are more than %u", plan->name, options->agents,
                              plan->agents_max);
  if (options->observers > plan->observers_max)
    return muster_module_fail(MUSTER_E_ARGUMENT, "%s: %u observers are more than %u", plan->name, options->observers,
                              plan->observers_max);
  return plan->check ? plan->check(options) : MUSTER_OK;
}

static muster_result refuse_memory(const scaffold_plan *plan, const muster_module_options *options) {
  return muster_module_fail(MUSTER_E_MEMORY, "%s: no memory for %u agents and %u observers", plan->name,
                            options->agents, options->observers);
}

static muster_result make_all(void *instance) {
  scaffold *base = instance;
  const scaffold_plan *plan = base->plan;
  muster_result result = plan->prepare ? plan->prepare(instance) : MUSTER_OK;
  if (result) return result;
  if (!make_arrays(instance, of_observers) || !make_arrays(instance, plan->arrays) || !make_tallies(base))
    return refuse_memory(plan, base->options);
  return plan->build ? plan->build(instance) : MUSTER_OK;
}

muster_result scaffold_open(const scaffold_plan *plan, const muster_module_options *options, void **instance,
                            muster_module_needs *needs) {
  double turns_per_ns = 0;
  muster_result result = check_options(plan, options);
  if (!result && plan->works) result = busy_work_calibrate(plan->name, &turns_per_ns);
  if (result) return result;
  scaffold *base = calloc(1, plan->bytes);
  if (!base) return refuse_memory(plan, options);
  uint32_t agents = options->agents ? options->agents : plan->agents_default;
  uint32_t observers = options->observers ? options->observers : plan->observers_default;
  *base = (scaffold){.plan = plan,
                     .options = options,
                     .needs = {(uint32_t)sizeof *needs, agents, agents, observers, plan->cell_m},
                     .seed = options->seed,
                     .version = VERSION,
                     .agents = agents,
                     .observer_count = observers,
                     .turns_per_ns = turns_per_ns};
  result = make_all(base);
  base->options = NULL;
  if (result) {
    scaffold_close(base);
    return result;
  }
  *instance = base;
  *needs = base->needs;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------- observers */

double scaffold_seconds(const scaffold *base) {
  return (double)(base->now_ns - base->begin_ns) * 1e-9;
}

/* The place on a line with two ends of a walker that has gone this way from its beginning, to and fro. */
static double to_and_fro(double line_m, double way_m) {
  double lap_m = fmod(way_m, 2 * line_m);
  if (lap_m < 0) lap_m += 2 * line_m;
  return lap_m <= line_m ? lap_m : 2 * line_m - lap_m;
}

muster_position scaffold_walk(const scaffold_walker *walker, double seconds, double low_m, double side_m) {
  return (muster_position){to_and_fro(side_m, walker->x + walker->east_mps * seconds - low_m) + low_m,
                           to_and_fro(side_m, walker->y + walker->north_mps * seconds - low_m) + low_m, 0.0};
}

void scaffold_gather(void *instance) {
  scaffold *base = instance;
  const scaffold_plan *plan = base->plan;
  double seconds = scaffold_seconds(base);
  if (plan->gather) plan->gather(instance, seconds);
  for (uint32_t i = 0; plan->place && i < base->observer_count; i++)
    base->places[i] = plan->place(instance, i, seconds);
}

void scaffold_move_observers(void *instance, muster_world *world) {
  const scaffold *base = instance;
  scaffold_gather(instance);
  if (!base->plan->one_by_one) muster_observers_move(world, base->observers, base->places, base->observer_count);
  for (uint32_t i = 0; base->plan->one_by_one && i < base->observer_count; i++)
    muster_observer_move(world, base->observers[i], base->places[i]);
}

static muster_result add_observers(scaffold *base, muster_world *world) {
  const scaffold_plan *plan = base->plan;
  scaffold_gather(base);
  for (uint32_t i = 0; plan->place && i < base->observer_count; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = base->places[i];
    if (plan->far_m > 0.0f) {
      def.near_m = plan->near_m;
      def.far_m = plan->far_m;
    }
    base->observers[i] = muster_observer_add(world, &def);
    if (muster_observer_is_null(base->observers[i])) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result join_all(void *instance, muster_world *world) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  muster_result result = plan->join ? plan->join(instance, world) : MUSTER_OK;
  for (uint32_t kind = 0; kind < plan->kinds && !result; kind++) result = plan->join_one(instance, world, kind);
  return result;
}

muster_result scaffold_populate(void *instance, muster_world *world) {
  scaffold *base = instance;
  const scaffold_plan *plan = base->plan;
  muster_result result = join_all(instance, world);
  if (!result && plan->observers_first) result = add_observers(base, world);
  if (!result && plan->spawn) result = plan->spawn(instance, world);
  for (uint32_t i = 0; plan->spawn_one && i < base->agents && !result; i++)
    result = plan->spawn_one(instance, world, i);
  if (!result && !plan->observers_first) result = add_observers(base, world);
  return result;
}

void scaffold_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  scaffold *base = instance;
  if (!base->begun) base->begin_ns = base->now_ns = sim_now_ns;
  base->begun = 1;
  base->frame_ns = sim_now_ns - base->now_ns;
  base->now_ns = sim_now_ns;
  if (base->plan->frame)
    base->plan->frame(instance, world);
  else if (!base->plan->still)
    scaffold_move_observers(instance, world);
}

/* -------------------------------------------------------------------------------------------------- save and resume */

struct scaffold_stream {
  muster_module_write write; /* null: it is read */
  void *write_user;
  const unsigned char *bytes; /* still to be read */
  size_t left;
};

bool scaffold_exchange(scaffold_stream *stream, void *bytes, size_t count) {
  if (stream->write) return stream->write(bytes, count, stream->write_user);
  if (count > stream->left) return false;
  if (count) memcpy(bytes, stream->bytes, count);
  stream->bytes += count;
  stream->left -= count;
  return true;
}

static bool keep_field(void *instance, const scaffold_field *field, scaffold_stream *stream) {
  void *own = (char *)instance + field->at;
  bool compared = !stream->write && field->rule == SCAFFOLD_RULE_SAME;
  if (compared && stream->left >= field->bytes && memcmp(own, stream->bytes, field->bytes) != 0) return false;
  return scaffold_exchange(stream, own, field->bytes) &&
         (field->rule != SCAFFOLD_RULE_FLAG || scaffold_number_at(instance, field->at) <= 1);
}

static bool keep_array(void *instance, const scaffold_array *array, scaffold_stream *stream) {
  size_t count = scaffold_number_at(instance, array->count_at);
  if (!array->kept) return true;
  return count <= scaffold_number_at(instance, array->room_at) &&
         scaffold_exchange(stream, *pointer_at(instance, array->at), count * array->bytes);
}

static bool keep_all(void *instance, scaffold_stream *stream) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  for (const scaffold_field *field = plan->kept; field->bytes; field++)
    if (!keep_field(instance, field, stream)) return false;
  if (plan->keep && !plan->keep(instance, stream)) return false;
  for (const scaffold_array *array = plan->arrays; array && array->bytes; array++)
    if (!keep_array(instance, array, stream)) return false;
  return true;
}

muster_result scaffold_save(void *instance, const muster_world *world, muster_module_write write, void *write_user) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  scaffold_stream stream = {.write = write, .write_user = write_user};
  if (plan->settle) plan->settle(instance, world);
  add_tallies(instance);
  if (keep_all(instance, &stream)) return MUSTER_OK;
  return muster_module_fail(MUSTER_E_SYSTEM, "%s: a write of the snapshot was refused", plan->name);
}

muster_result scaffold_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  scaffold_stream stream = {.bytes = bytes, .left = count};
  muster_result result = join_all(instance, world);
  if (result) return result;
  if (!keep_all(instance, &stream) || stream.left || (plan->resumed && !plan->resumed(instance)))
    return muster_module_fail(MUSTER_E_INPUT,
                              "%s: the snapshot is of another version of the module, or of other options (agents, "
                              "observers, path)",
                              plan->name);
  scaffold_gather(instance);
  return MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- report */

static double value_of(const scaffold_line *line, const void *bytes) {
  const void *at = (const char *)bytes + line->at;
  switch (line->number) {
  case SCAFFOLD_OF_SECONDS:
    return scaffold_seconds(bytes);
  case SCAFFOLD_BOOL:
    return *(const bool *)at;
  case SCAFFOLD_U16:
    return *(const uint16_t *)at;
  case SCAFFOLD_U32:
    return *(const uint32_t *)at;
  case SCAFFOLD_U64:
    return (double)*(const uint64_t *)at;
  case SCAFFOLD_FLOAT:
    return (double)*(const float *)at;
  default:
    return *(const double *)at;
  }
}

/* Adds an agent's state to a line's number. */
static double with_state(const scaffold_line *line, const scaffold_look *look, double number) {
  bool counts = !line->type_at || scaffold_number_at(look->instance, line->type_at) == look->info.type.index;
  if (!counts || line->source > SCAFFOLD_FROM_AGENTS) return number;
  double value = line->source == SCAFFOLD_FROM_AGENTS ? 1.0 : value_of(line, look->info.state);
  return line->source == SCAFFOLD_FROM_MOST ? fmax(number, value) : number + value;
}

static double line_number(const scaffold_line *line, const scaffold_look *look, double of_states) {
  if (line->source <= SCAFFOLD_FROM_AGENTS) return of_states;
  return value_of(line, line->source == SCAFFOLD_FROM_OWN ? look->instance : look->sums);
}

void scaffold_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const scaffold_plan *plan = ((const scaffold *)instance)->plan;
  const scaffold_line *lines = plan->lines;
  double of_states[LINES_MAX] = {0};
  _Alignas(16) unsigned char sums[SCAFFOLD_SUMS_BYTES] = {0};
  add_tallies(instance);
  scaffold_look look = {.instance = instance, .world = world, .info = muster_agent_info_default(), .sums = sums};
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(world, agent));) {
    if (muster_agent_read(world, agent, &look.info) != MUSTER_OK) continue;
    if (plan->count) plan->count(&look);
    for (uint32_t i = 0, sum = 0; lines[i].name; i++) {
      if (*lines[i].name) sum = i;
      of_states[sum] = with_state(&lines[i], &look, of_states[sum]);
    }
  }
  if (plan->conclude) plan->conclude(&look);
  for (uint32_t i = 0; lines[i].name; i++)
    if (*lines[i].name) emit(lines[i].name, line_number(&lines[i], &look, of_states[i]), emit_user);
}

/* ---------------------------------------------------------------------------------------------------------- updates */

void scaffold_spend(const scaffold *base, uint64_t cost_ns) {
  busy_work_spend((uint64_t)((double)cost_ns * base->turns_per_ns));
}

double scaffold_approach(muster_update *update, double x, double y, double stop_m, double speed_mps) {
  muster_position place = update->position;
  double way_x = x - place.x, way_y = y - place.y, distance_m = hypot(way_x, way_y);
  double step_m = fmin(speed_mps * (double)update->elapsed_ns * 1e-9, distance_m - stop_m);
  if (step_m <= 0.01) return 0.0;
  place.x += way_x * step_m / distance_m;
  place.y += way_y * step_m / distance_m;
  muster_update_move(update, place);
  return step_m;
}

/* ------------------------------------------------------------------------------------------------------------ types */

muster_type_def scaffold_type(const char *name, const muster_atom *atoms, uint32_t atom_count, size_t state_bytes,
                              uint64_t period_ns, uint64_t period_max_ns) {
  muster_type_def def = muster_type_def_default();
  def.name = name;
  def.atoms = atoms;
  def.atom_count = atom_count;
  def.state_bytes = (uint32_t)state_bytes;
  def.period_ns = period_ns;
  def.period_max_ns = period_max_ns;
  return def;
}

muster_result scaffold_register(muster_world *world, const muster_type_def *def, muster_type *type) {
  *type = muster_type_register(world, def);
  return type->index ? MUSTER_OK : muster_last_result();
}

muster_agent_def scaffold_agent(muster_type type, muster_position position, const void *state) {
  muster_agent_def def = muster_agent_def_default();
  def.type = type;
  def.position = position;
  def.state = state;
  return def;
}

muster_result scaffold_spawn(muster_world *world, const muster_agent_def *def, muster_agent *agent) {
  muster_agent spawned = muster_agent_spawn(world, def);
  if (agent) *agent = spawned;
  return muster_agent_is_null(spawned) ? MUSTER_E_FULL : MUSTER_OK;
}
