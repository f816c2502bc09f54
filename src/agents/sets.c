#include "agents/sets.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/sized.h"

#include <muster/sets.h>

#include <string.h>

static const uint64_t day_ns = 86400000000000u;

enum { PERIOD_UPDATES_MAX = 1000000, ASKS_MAX = 1000000, PART_NS_MAX = 1000000000 };

static muster_result check_period(const char *type, const char *set, uint32_t period_updates, uint64_t period_ns) {
  bool counts = period_updates > 0, timed = period_ns > 0;
  if (counts == timed)
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': one of period_updates and period_ns must be 0", type,
                     set);
  if (period_updates > PERIOD_UPDATES_MAX || (timed && (period_ns < 100000u || period_ns > day_ns)))
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s', set '%s': period_updates %u must be 1..%d, or period_ns %llu 100 us .. 24 h", type,
                     set, period_updates, PERIOD_UPDATES_MAX, (unsigned long long)period_ns);
  return MUSTER_OK;
}

static muster_result check_mode(const char *type, const char *set, uint32_t role, uint32_t mode) {
  if (role > MUSTER_ROLE_ACTION || mode > MUSTER_MODE_SLICEABLE)
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': role %u or mode %u is unknown", type, set, role, mode);
  if (role == MUSTER_ROLE_ACTION && mode != MUSTER_MODE_RUN)
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': mode %u: actions run whole, in mode run", type, set,
                     mode);
  return MUSTER_OK;
}

static muster_result check_share(const char *type, const char *set, uint32_t share) {
  if (share >= 1 && share <= MUSTER_SHARE_MAX) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': share %u must be 1..%u", type, set, share,
                   MUSTER_SHARE_MAX);
}

static muster_result check_times(const char *type, const muster_set_def *set) {
  bool counts = set->period_updates > 0, timed = set->period_ns > 0;
  muster_result result = check_period(type, set->name, set->period_updates, set->period_ns);
  if (result) return result;
  if ((counts && set->delay_updates >= set->period_updates) || (timed && set->delay_ns >= set->period_ns) ||
      (counts && set->delay_ns) || (timed && set->delay_updates))
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s', set '%s': its delay (%u updates, %llu ns) must be in what its period is in, and less",
                     type, set->name, set->delay_updates, (unsigned long long)set->delay_ns);
  return MUSTER_OK;
}

static muster_result check_set(const char *type, const muster_set_def *set) {
  muster_result result = check_mode(type, set->name, set->role, set->mode);
  if (result == MUSTER_OK) result = check_share(type, set->name, set->share);
  if (result) return result;
  if (set->asks < 1 || set->asks > ASKS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': asks %u must be 1..%d", type, set->name, set->asks,
                     ASKS_MAX);
  if (set->atom_count > MUSTER_ATOMS_MAX || (set->atom_count && !set->atoms))
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': atom_count %u must be at most %u, with atoms set", type,
                     set->name, set->atom_count, MUSTER_ATOMS_MAX);
  for (uint32_t i = 0; i < set->atom_count; i++)
    if (!set->atoms[i].run)
      return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': atom %u has no run callback", type, set->name, i);
  return check_times(type, set);
}

/* Sets lie as far apart as the host's header says: all of them have the size of the first. */
static muster_result read_set(const muster_type_def *def, uint32_t number, muster_set_def *set) {
  *set = muster_set_def_default();
  uint32_t stride = def->sets.list[0].size, size;
  const unsigned char *given = (const unsigned char *)def->sets.list + (size_t)number * stride;
  muster_result result = sized_read(SIZED(set_def), given, set);
  if (result) return error_set(result, "type '%s', set %u: %s", def->name, number, muster_last_error());
  memcpy(&size, given, sizeof size);
  if (size != stride)
    return error_set(MUSTER_E_NOT_INITIALISED,
                     "type '%s', set %u was not set by muster_set_def_default(): its size is %u, that of set 0 %u",
                     def->name, number, size, stride);
  if (!set->name) set->name = "set";
  return MUSTER_OK;
}

/* Reads a set of a definition that was checked. */
static muster_set_def set_at(const muster_type_def *def, uint32_t number) {
  muster_set_def set;
  muster_result result = read_set(def, number, &set);
  ASSERT(result == MUSTER_OK);
  (void)result;
  return set;
}

muster_result sets_check(const muster_type_def *def) {
  if (!def->sets.list || def->sets.count == 0 || def->sets.count > MUSTER_SETS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': set_count %u must be 1..%u, with sets set", def->name,
                     def->sets.count, MUSTER_SETS_MAX);
  if (def->atoms || def->atom_count)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': atoms and sets cannot be given both", def->name);
  if (def->elapsed.contract == MUSTER_ELAPSED_STEPS || def->elapsed.contract == MUSTER_ELAPSED_ANALYTIC)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': elapsed %d: sets are told delta or events", def->name,
                     (int)def->elapsed.contract);
  uint32_t atoms = 0;
  for (uint32_t i = 0; i < def->sets.count; i++) {
    muster_set_def set;
    muster_result result = read_set(def, i, &set);
    if (!result) result = check_set(def->name, &set);
    if (result) return result;
    atoms += set.atom_count;
  }
  if (atoms == 0 || atoms > MUSTER_ATOMS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': its sets have %u atoms in all: must be 1..%u", def->name, atoms,
                     MUSTER_ATOMS_MAX);
  return MUSTER_OK;
}

#define LEFT_ALONE(member)                                                                                             \
  { #member, offsetof(muster_set_def, member), sizeof((muster_set_def *)NULL)->member }

/* What is for sets that workers run. */
static const struct {
  const char *member;
  size_t offset, bytes;
} for_workers[] = {LEFT_ALONE(role),       LEFT_ALONE(mode),  LEFT_ALONE(atoms),
                   LEFT_ALONE(atom_count), LEFT_ALONE(share), LEFT_ALONE(delay_ns),
                   LEFT_ALONE(levels),     LEFT_ALONE(asks),  LEFT_ALONE(delay_updates)};

static muster_result check_hosted(const muster_type_def *def, const muster_set_def *set) {
  const muster_set_def none = muster_set_def_default();
  for (uint32_t i = 0; i < sizeof for_workers / sizeof *for_workers; i++)
    if (memcmp((const char *)set + for_workers[i].offset, (const char *)&none + for_workers[i].offset,
               for_workers[i].bytes))
      return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': %s must be the default in a planner world", def->name,
                       set->name, for_workers[i].member);
  if (set->period_updates || set->period_ns < def->period_ns || set->period_ns > day_ns)
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s', set '%s': in a planner world period_updates %u must be 0, and period_ns %llu the "
                     "type's (%llu) .. 24 h",
                     def->name, set->name, set->period_updates, (unsigned long long)set->period_ns,
                     (unsigned long long)def->period_ns);
  if (set->part_ns < 1 || set->part_ns > PART_NS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "type '%s', set '%s': part_ns %u must be 1..%d", def->name, set->name,
                     set->part_ns, PART_NS_MAX);
  return MUSTER_OK;
}

/* What of the type itself is for sets that workers run, or for updates that are one whole. */
static muster_result check_hosted_type(const muster_type_def *def) {
  if (!def->sets.list || def->sets.count == 0)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': set_count %u must be 1..%u, with sets set", def->name,
                     def->sets.count, MUSTER_SETS_MAX);
  if (def->atoms || def->atom_count)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': atoms and sets cannot be given both", def->name);
  if (def->parts.count != 1)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': parts.count %u must be 1: each of its sets is a part", def->name,
                     def->parts.count);
  if (def->elapsed.contract != MUSTER_ELAPSED_DELTA)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': elapsed %d: sets in a planner world are told delta", def->name,
                     (int)def->elapsed.contract);
  if (def->sets.share || def->sets.slice_ns || def->sets.order)
    return error_set(MUSTER_E_ARGUMENT,
                     "type '%s': sets.share %u, sets.slice_ns %llu and sets.order %u must be 0 in a planner world",
                     def->name, def->sets.share, (unsigned long long)def->sets.slice_ns, def->sets.order);
  return MUSTER_OK;
}

muster_result sets_check_hosted(const muster_type_def *def) {
  uint64_t least_ns = UINT64_MAX;
  muster_result result = check_hosted_type(def);
  for (uint32_t i = 0; !result && i < def->sets.count; i++) {
    muster_set_def set;
    result = read_set(def, i, &set);
    if (!result) result = check_hosted(def, &set);
    if (!result && set.period_ns < least_ns) least_ns = set.period_ns;
  }
  if (result || least_ns == def->period_ns) return result;
  return error_set(MUSTER_E_ARGUMENT, "type '%s': period_ns %llu must be the shortest period_ns of its sets, %llu",
                   def->name, (unsigned long long)def->period_ns, (unsigned long long)least_ns);
}

/* Of sets that workers run, at least one has atoms. */
static bool has_no_atoms(const muster_type_def *def) {
  for (uint32_t i = 0; i < def->sets.count; i++)
    if (set_at(def, i).atom_count) return false;
  return true;
}

uint32_t sets_atom_count(const muster_type_def *def) {
  uint32_t atoms = 0;
  for (uint32_t i = 0; i < def->sets.count; i++) atoms += set_at(def, i).atom_count;
  return has_no_atoms(def) ? def->sets.count : atoms;
}

static const uint32_t roles_in_order[] = {MUSTER_ROLE_PERCEPTION, MUSTER_ROLE_BEHAVIOUR, MUSTER_ROLE_ACTION};

enum { ROLES = sizeof roles_in_order / sizeof *roles_in_order };

static type_set copy_set(const muster_set_def *def, muster_atom *atoms, uint32_t first) {
  type_set set = {.first_atom = (uint16_t)first,
                  .end_atom = (uint16_t)(first + def->atom_count),
                  .role = (uint8_t)def->role,
                  .mode = (uint8_t)def->mode,
                  .share = (uint8_t)def->share,
                  .levels = (uint8_t)def->levels,
                  .period_updates = def->period_updates,
                  .delay_updates = def->delay_updates,
                  .period_ns = def->period_ns,
                  .delay_ns = def->delay_ns,
                  .asks = def->asks};
  strncpy(set.name, def->name, sizeof set.name - 1);
  for (uint32_t i = 0; i < def->atom_count; i++) {
    atoms[first + i] = def->atoms[i];
    atoms[first + i].role = (muster_role)def->role;
  }
  return set;
}

muster_result sets_check_tuning(const set_table *table, const char *type, uint32_t set,
                                const muster_set_tuning *tuning) {
  if (set >= table->count)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': set %u is none of its %u", type, set, table->count);
  const type_set *tuned = &table->sets[set];
  muster_result result = check_mode(type, tuned->name, tuned->role, tuning->mode);
  if (result == MUSTER_OK) result = check_share(type, tuned->name, tuning->share);
  if (result == MUSTER_OK) result = check_period(type, tuned->name, tuning->period_updates, tuning->period_ns);
  if (result || !table->least_ns || (tuning->period_ns >= table->least_ns && tuning->mode == MUSTER_MODE_RUN))
    return result;
  return error_set(MUSTER_E_ARGUMENT,
                   "type '%s', set '%s': in a planner world mode %u must be run, and period_ns %llu the type's (%llu) "
                   ".. 24 h",
                   type, tuned->name, tuning->mode, (unsigned long long)tuning->period_ns,
                   (unsigned long long)table->least_ns);
}

void sets_tune(set_table *table, uint32_t set, const muster_set_tuning *tuning) {
  type_set *tuned = &table->sets[set];
  if ((tuned->period_ns == 0) != (tuning->period_ns == 0)) tuned->unit++;
  tuned->share = (uint8_t)tuning->share;
  tuned->mode = (uint8_t)tuning->mode;
  tuned->period_updates = tuning->period_updates;
  tuned->period_ns = tuning->period_ns;
  sets_order(table);
}

static void mark_sets(set_table *table) {
  table->always = table->weight = 0;
  table->whole = 1;
  table->actions_first = (uint8_t)(table->count - (uint32_t)__builtin_popcount(table->actions));
  table->behaviours_first = (uint8_t)(table->actions_first - (uint32_t)__builtin_popcount(table->behaviours));
  memset(table->at_level, 0, sizeof table->at_level);
  for (uint32_t i = 0; i < table->count; i++) {
    const type_set *set = &table->sets[i];
    uint16_t bit = (uint16_t)(1u << i);
    if (set->period_updates == 1) table->always |= bit;
    if (!(table->actions & bit) && sets_whole(set) > table->whole) table->whole = (uint16_t)sets_whole(set);
    table->shares[i] = set->share;
    if ((table->behaviours & bit) && set->end_atom > set->first_atom) table->weight += set->share;
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++)
      if ((set->levels >> level & 1) && set->end_atom > set->first_atom) table->at_level[level] |= bit;
  }
}

/* Stable: sets that compare equal stay in the order of their definition. */
void sets_order(set_table *table) {
  uint32_t filled = 0;
  for (uint32_t r = 0; r < ROLES; r++) {
    uint32_t begin = filled;
    for (uint32_t i = 0; i < table->count; i++) {
      if (table->sets[i].role != roles_in_order[r]) continue;
      uint32_t place = filled++;
      bool sorts = table->order == MUSTER_SETS_BY_SHARE;
      for (; sorts && place > begin; place--) {
        if (table->sets[table->sequence[place - 1]].share >= table->sets[i].share) break;
        table->sequence[place] = table->sequence[place - 1];
      }
      table->sequence[place] = (uint8_t)i;
    }
  }
  mark_sets(table);
}

void sets_register(set_table *table, const muster_type_def *def, muster_atom *atoms, uint32_t agents_max,
                   struct arena *arena) {
  *table = (set_table){.count = def->sets.count, .order = def->sets.order};
  if (table->count == 0) return;
  ARENA_ARRAY(arena, table->states, (size_t)agents_max * table->count);
  ARENA_ARRAY(arena, table->passes, agents_max);
  if (arena->failed) return;
  uint32_t first = 0;
  bool hosted = has_no_atoms(def);
  if (hosted) table->least_ns = def->period_ns;
  for (uint32_t r = 0; r < ROLES; r++)
    for (uint32_t i = 0; i < table->count; i++) {
      muster_set_def set = set_at(def, i);
      const muster_atom part = {.model_ns = set.part_ns};
      if (set.role != roles_in_order[r]) continue;
      if (hosted) set.atoms = &part, set.atom_count = 1;
      table->sets[i] = copy_set(&set, atoms, first);
      first += set.atom_count;
      if (set.role == MUSTER_ROLE_BEHAVIOUR) table->behaviours |= (uint16_t)(1u << i);
      if (set.role == MUSTER_ROLE_ACTION) table->actions |= (uint16_t)(1u << i);
    }
  sets_order(table);
}

void sets_begin(const set_table *table, uint32_t slot, uint64_t now_ns) {
  set_state *states = sets_states_of(table, slot);
  table->passes[slot] = (set_pass){0};
  for (uint32_t i = 0; i < table->count; i++)
    states[i] = (set_state){
        .last_ns = now_ns, .began_ns = now_ns, .due_ns = now_ns + table->sets[i].delay_ns, .unit = table->sets[i].unit};
}
