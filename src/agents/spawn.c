#include "agents/spawn.h"

#include "base/error.h"
#include "base/fields.h"
#include "base/sized.h"

#include <stddef.h>
#include <string.h>

muster_result spawn_check(const muster_agent_def *given, uint32_t types, muster_agent_def *def) {
  *def = muster_agent_def_default();
  muster_result result = sized_read(SIZED(agent_def), given, def);
  if (result) return result;
  if (def->type.index == 0 || def->type.index > types)
    return error_set(MUSTER_E_ARGUMENT, "agent: type %u is not registered", def->type.index);
  if (!space_accepts(def->position))
    return error_set(MUSTER_E_ARGUMENT, "agent: position (%.17g, %.17g, %.17g) must be finite and within +-1e9 m",
                     def->position.x, def->position.y, def->position.z);
  return fields_check(fields_agent, "agent", NULL, def, 0);
}

void spawn_write_state(const agent_type *type, uint32_t slot, const muster_agent_def *def) {
  if (type->states) {
    void *state = type_state(type, slot);
    memset(state, 0, type->state_stride);
    if (def->state) memcpy(state, def->state, type->def.state_bytes);
  }
  for (uint32_t buffer = 0; type->published && buffer < 2; buffer++) {
    void *published = type_published(type, slot, buffer);
    memset(published, 0, type->published_stride);
    if (def->published) memcpy(published, def->published, type->def.published_bytes);
  }
}

/* Other threads may be reading the generation, to test an old id. */
void spawn_write_row(agent_row *row, const agent_row *written) {
  enum { BEFORE = offsetof(agent_row, generation), AFTER = BEFORE + sizeof(uint32_t) };
  memcpy(row, written, BEFORE);
  memcpy((unsigned char *)row + AFTER, (const unsigned char *)written + AFTER, sizeof *row - AFTER);
}

void spawn_write(agent_store *store, const type_table *types, const struct space *space, uint32_t index, uint32_t slot,
                 const muster_agent_def *def) {
  uint16_t type = (uint16_t)(def->type.index - 1);
  agent_row row = {
      .type = type & ROW_TYPE_MASK,
      .state_slot = slot,
      .user = def->user,
      .status = AGENT_PENDING,
      .floor = share_of(def->importance_floor),
      .elasticity_step = (uint8_t)elasticity_step_of(def->elasticity),
      .factors = {byte_share_of(def->visibility), byte_share_of(def->bulk), byte_share_of(def->interactivity)}};
  spawn_write_row(&store->rows[index], &row);
  store->places[index] = (agent_place){.partition = (uint16_t)def->partition, .type = type};
  space_place(space, &store->places[index], def->position);
  if (store->ratings)
    store->ratings[index] =
        (agent_ratings){rating_of(def->designer), def->role < 0.0f ? (uint8_t)RATING_OF_TYPE : rating_of(def->role)};
  spawn_write_state(&types->types[type], slot, def);
}
