#include "agents/types.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/sized.h"

#include <math.h>
#include <string.h>

void types_create(type_table *table, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum > 0);
  *table = (type_table){.maximum = maximum};
  ARENA_ARRAY(arena, table->types, maximum);
}

/* Checks what the definition must leave out where the host runs updates. */
static muster_result check_planned(const muster_type_def *def) {
  if (def->elapsed.contract == MUSTER_ELAPSED_ANALYTIC)
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': elapsed analytic: elapsed.catch_up is never called in a planner world", def->name);
  if (def->act != MUSTER_ACT_SERIAL)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': act %d: the host runs actions in a planner world", def->name,
                     (int)def->act);
  if (def->published_bytes || def->messages.waiting_max || def->messages.sends_max || def->spawns_max)
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': published_bytes, messages.waiting_max, messages.sends_max and spawns_max must be 0 in "
                     "a planner world",
                     def->name);
  return MUSTER_OK;
}

static muster_result check_atoms(const muster_type_def *def) {
  if (!def->atoms || def->atom_count == 0)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': atom_count %u must be 1..%u, with atoms set", def->name,
                     def->atom_count, MUSTER_ATOMS_MAX);
  bool action = false;
  for (uint32_t i = 0; i < def->atom_count; i++) {
    const muster_atom *atom = &def->atoms[i];
    if (!atom->run) return error_set(MUSTER_E_ARGUMENT, "type '%s': atom %u has no run callback", def->name, i);
    if ((unsigned)atom->role > MUSTER_ROLE_ACTION)
      return error_set(MUSTER_E_ARGUMENT, "type '%s': atom %u has the unknown role %d", def->name, i, (int)atom->role);
    if (action && atom->role != MUSTER_ROLE_ACTION)
      return error_set(MUSTER_E_ARGUMENT, "type '%s': atom %u follows an action atom; action atoms come last",
                       def->name, i);
    action |= atom->role == MUSTER_ROLE_ACTION;
  }
  return MUSTER_OK;
}

static muster_result check_levels(const muster_type_def *def) {
  float above = 1.0f;
  for (uint32_t i = 0; i + 1 < def->levels.count; i++) {
    float threshold = def->levels.importance[i];
    if (!(threshold >= 0.0f && threshold <= above))
      return error_set(MUSTER_E_ARGUMENT, "type '%s': levels.importance[%u] = %g must fall from 1 to 0", def->name, i,
                       (double)threshold);
    above = threshold;
  }
  return MUSTER_OK;
}

static muster_result check_messages(const muster_type_def *def) {
  if (def->messages.waiting_max == 0 && (def->messages.bytes_max || def->messages.wake))
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': messages.bytes_max and messages.wake need boxes: set messages.waiting_max", def->name);
  return MUSTER_OK;
}

static muster_result check_steps(const muster_type_def *def) {
  unsigned long long whole_ns = (unsigned long long)def->elapsed.steps_max * def->elapsed.step_ns;
  if (def->elapsed.step_ns < 1 || def->elapsed.step_ns > def->period_ns || def->elapsed.steps_max < 1)
    return error_set(
        MUSTER_E_ARGUMENT,
        "type '%s': bounded steps: elapsed.step_ns %llu must be 1 .. period_ns (%llu), elapsed.steps_max %u 1..65536",
        def->name, (unsigned long long)def->elapsed.step_ns, (unsigned long long)def->period_ns,
        def->elapsed.steps_max);
  if (whole_ns < def->period_max_ns || whole_ns < def->period_ns + def->elapsed.step_ns)
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': elapsed.steps_max x elapsed.step_ns = %llu must be at least period_max_ns (%llu) and "
                     "a step more than "
                     "period_ns (%llu)",
                     def->name, whole_ns, (unsigned long long)def->period_max_ns, (unsigned long long)def->period_ns);
  return MUSTER_OK;
}

static muster_result check_elapsed(const muster_type_def *def) {
  bool steps = def->elapsed.contract == MUSTER_ELAPSED_STEPS,
       analytic = def->elapsed.contract == MUSTER_ELAPSED_ANALYTIC;
  if (analytic && (!def->elapsed.catch_up || def->elapsed.step_ns < 1))
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': analytic catch-up: elapsed.catch_up must be set, elapsed.step_ns %llu 1 ns .. 24 h",
                     def->name, (unsigned long long)def->elapsed.step_ns);
  if ((!analytic && def->elapsed.catch_up) || (!analytic && !steps && def->elapsed.step_ns) ||
      (!steps && def->elapsed.steps_max))
    return error_set(
        MUSTER_E_ARGUMENT,
        "type '%s': elapsed.step_ns, .steps_max and .catch_up belong to other contracts than elapsed.contract %d",
        def->name, (int)def->elapsed.contract);
  return steps ? check_steps(def) : MUSTER_OK;
}

static muster_result check_reserved(const muster_type_def *def) {
  if (FIELDS_RESERVED(def->levels) && FIELDS_RESERVED(def->messages) && FIELDS_RESERVED(def->elapsed) &&
      FIELDS_RESERVED(def->models) && FIELDS_RESERVED(def->parts) && FIELDS_RESERVED(def->overruns) &&
      FIELDS_RESERVED(def->sets) && FIELDS_RESERVED(def->slices) && FIELDS_RESERVED(def->strands))
    return MUSTER_OK;
  return error_set(
      MUSTER_E_ARGUMENT,
      "type '%s': a `reserved` part is not 0: set it by muster_type_def_default(), or run with a newer library",
      def->name);
}

/* Whether its updates can be cut, and on which strands they run. */
static muster_result check_slices(const muster_type_def *def, bool planned) {
  if (def->slices.slice_ns && def->sets.list)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': slices.slice_ns is for types without sets: it has sets.slice_ns",
                     def->name);
  if (def->strands.count && def->act != MUSTER_ACT_SERIAL)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': act %d: actions of a type with strands are serial", def->name,
                     (int)def->act);
  if (def->strands.of && !def->strands.count)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': strands.of needs strands.count", def->name);
  if (planned && (def->strands.count || def->slices.slice_ns))
    return error_set(MUSTER_E_ARGUMENT, "type '%s': strands and slices are kept by Muster: not in a planner world",
                     def->name);
  return MUSTER_OK;
}

/* How its updates share a frame, and how they act. */
static muster_result check_sharing(const muster_type_def *def, bool planned) {
  if (def->sets.list || def->sets.count) return planned ? sets_check_hosted(def) : sets_check(def);
  if (def->sets.share || def->sets.slice_ns)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': sets.share %u and sets.slice_ns %llu are for types with sets",
                     def->name, def->sets.share, (unsigned long long)def->sets.slice_ns);
  return MUSTER_OK;
}

static muster_result check_order(const char *what, const muster_type_def *def) {
  if (def->period_max_ns >= def->period_ns) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "%s '%s': period_max_ns %llu must be period_ns (%llu) .. 24 h", what, def->name,
                   (unsigned long long)def->period_max_ns, (unsigned long long)def->period_ns);
}

muster_result types_check_periods(const muster_type_def *type, uint64_t period_ns, uint64_t period_max_ns) {
  const char *what = type ? "type" : "agent";
  muster_type_def def = type ? *type : muster_type_def_default();
  if (!type) def.name = "periods";
  def.period_ns = period_ns;
  def.period_max_ns = period_max_ns;
  muster_result result = fields_check(fields_type, what, def.name, &def, FIELD_OF_SETS | FIELD_OF_PLANNER);
  if (!result) result = check_order(what, &def);
  return result ? result : check_elapsed(&def);
}

static muster_result check_definition(const muster_type_def *def, bool planned) {
  bool sets = def->sets.list || def->sets.count;
  muster_result result =
      fields_check(fields_type, "type", def->name, def, (sets ? 0 : FIELD_OF_SETS) | (planned ? 0 : FIELD_OF_PLANNER));
  if (result) return result;
  result = check_order("type", def);
  if (result == MUSTER_OK) result = check_reserved(def);
  if (result == MUSTER_OK) result = check_messages(def);
  if (result == MUSTER_OK) result = check_levels(def);
  if (result == MUSTER_OK) result = check_elapsed(def);
  if (result == MUSTER_OK) result = check_sharing(def, planned);
  if (result == MUSTER_OK) result = check_slices(def, planned);
  if (result == MUSTER_OK && planned) result = check_planned(def);
  if (result || def->sets.list || (planned && !def->atoms && def->atom_count == 0)) return result;
  return check_atoms(def);
}

/* Copies the atoms of a type. Without atoms it has parts, which are atoms without a callback; or sets, which have
 * copied their atoms already. */
static void copy_atoms(agent_type *type, muster_atom *atoms, bool planned) {
  uint32_t count = type->def.atom_count;
  const muster_atom part = {.model_ns = type->def.parts.part_ns};
  for (uint32_t i = 0; i < count && !type->has_sets; i++) atoms[i] = type->def.atoms ? type->def.atoms[i] : part;
  type->def.atoms = type->atoms = atoms;
  for (uint32_t i = 0; i < count; i++) {
    if (atoms[i].model_ns == 0) atoms[i].model_ns = 1000;
    type->model_ns += atoms[i].model_ns;
    if (planned || atoms[i].role != MUSTER_ROLE_ACTION) type->parallel_atoms = (uint16_t)(i + 1);
  }
}

uint32_t types_register(type_table *table, const muster_type_def *given, uint32_t agents_max, struct arena *arena) {
  muster_type_def def = muster_type_def_default();
  if (sized_read(SIZED(type_def), given, &def)) return UINT32_MAX;
  if (!def.name) def.name = "agent";
  if (check_definition(&def, table->planned)) return UINT32_MAX;
  if (def.sets.list)
    def.atom_count = sets_atom_count(&def);
  else if (!def.atoms)
    def.atom_count = def.parts.count;
  if (table->count == table->maximum) {
    error_set(MUSTER_E_FULL, "type '%s': types_max = %u types are registered already", def.name, table->maximum);
    return UINT32_MAX;
  }
  agent_type type = {.def = def,
                     .user = def.user,
                     .spawns_max = (uint16_t)def.spawns_max,
                     .sends_max = (uint16_t)def.messages.sends_max,
                     .atom_count = (uint16_t)def.atom_count,
                     .publishes = def.published_bytes > 0,
                     .has_boxes = def.messages.waiting_max > 0,
                     .has_sets = def.sets.count > 0,
                     .rated = def.sets.count > 0 && table->planned,
                     .sliced = def.slices.slice_ns > 0,
                     .strands = (uint16_t)def.strands.count,
                     .elapsed = (uint8_t)def.elapsed.contract,
                     .gapped = def.wake_gap_ns > 0,
                     .steps_max = def.elapsed.steps_max,
                     .step_ns = def.elapsed.step_ns};
  type.state_stride = (def.state_bytes + 7u) & ~7u;
  type.published_stride = (def.published_bytes + 7u) & ~7u;
  muster_atom *atoms = arena_reserve(arena, def.atom_count, sizeof *atoms);
  if (type.state_stride) type.states = arena_reserve(arena, agents_max, type.state_stride);
  if (type.published_stride) type.published = arena_reserve(arena, agents_max, (size_t)type.published_stride * 2);
  boxes_create(&type.boxes, agents_max, def.messages.waiting_max, def.messages.bytes_max, arena);
  sets_register(&type.sets, &def, atoms, agents_max, arena);
  if (arena->failed) {
    arena->failed = false;
    return UINT32_MAX;
  }
  copy_atoms(&type, atoms, table->planned);
  agent_type *stored = &table->types[table->count];
  *stored = type;
  strncpy(stored->name, def.name, sizeof stored->name - 1);
  stored->def.name = stored->name;
  stored->def.sets.list = NULL; /* the host's: ours are in the table */
  table->has_levels |= def.levels.count > 1;
  table->has_strands |= def.strands.count > 0;
  return table->count++;
}
