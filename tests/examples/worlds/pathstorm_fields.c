#include "pathstorm.h"

/* How long it is remembered that a goal cannot be reached: longer than the time from one order to the next, so that the
 * next order needs no search for it, and shorter than the time to the order after that. */
static const uint64_t memory_ns = 15000000000u;

static bool is_remembered(const pathstorm_field *field, uint64_t now_ns) {
  return field->knowledge == PATHSTORM_ALL && now_ns < field->kept_until_ns;
}

uint32_t pathstorm_field_take(pathstorm *self, uint32_t goal, uint64_t now_ns) {
  uint32_t taken = PATHSTORM_NONE;
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) {
    const pathstorm_field *field = &self->fields[i];
    if (field->followers || field->knowledge == PATHSTORM_SEARCHED) continue;
    if (!is_remembered(field, now_ns)) {
      taken = i;
      break;
    }
    if (taken == PATHSTORM_NONE || field->kept_until_ns < self->fields[taken].kept_until_ns) taken = i;
  }
  if (taken == PATHSTORM_NONE) return taken;
  self->fields[taken].goal = goal;
  self->fields[taken].knowledge = PATHSTORM_SEARCHED;
  return taken;
}

void pathstorm_field_keep(pathstorm *self, uint32_t field, bool knows_all, uint64_t now_ns) {
  self->fields[field].knowledge = knows_all ? PATHSTORM_ALL : PATHSTORM_PARTLY;
  self->fields[field].kept_until_ns = now_ns + memory_ns;
}

uint32_t pathstorm_field_about(const pathstorm *self, uint32_t goal, uint64_t now_ns) {
  for (uint32_t i = 0; i < PATHSTORM_FIELDS; i++) {
    const pathstorm_field *field = &self->fields[i];
    if (field->goal != goal) continue;
    if (is_remembered(field, now_ns) || (field->knowledge == PATHSTORM_PARTLY && field->followers)) return i;
  }
  return PATHSTORM_NONE;
}

static void give_back(pathstorm *self, pathstorm_grant *grant) {
  if (grant->field != PATHSTORM_NONE) self->fields[grant->field].followers--;
  grant->field = PATHSTORM_NONE;
}

void pathstorm_field_grant(pathstorm *self, uint32_t walker, uint32_t order, uint32_t field) {
  give_back(self, &self->grants[walker]);
  self->grants[walker] = (pathstorm_grant){field, order};
  self->fields[field].followers++;
}

void pathstorm_field_return(pathstorm *self, uint32_t walker, uint32_t order) {
  if (self->grants[walker].order <= order) give_back(self, &self->grants[walker]);
}
