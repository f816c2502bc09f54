#include "world/conduct_tell.h"

#include "base/assert.h"
#include "base/error.h"
#include "world/conduct_state.h"
#include "world/frame_state.h"

#include <muster/conduct.h>

#include <stdarg.h>
#include <stdio.h>

enum { LINES_PER_SECOND = 8, DEED_BYTES = 96, PARDON_BYTES = 256 };
static const uint64_t second_ns = 1000000000u, between_offences_ns = 10000000000u;

void conduct_tell_turn(struct muster_world *world) {
  conduct_state *conduct = world->conduct;
  if (world->frame->now_ns - conduct->log_begin_ns < second_ns) return;
  if (conduct->log_left_out)
    log_write(&world->def.log, MUSTER_LOG_WARNING, "runaways: %u more penalties were not logged one by one",
              conduct->log_left_out);
  conduct->log_begin_ns = world->frame->now_ns;
  conduct->log_lines = conduct->log_left_out = 0;
}

__attribute__((format(printf, 2, 3))) static void tell(struct muster_world *world, const char *format, ...) {
  conduct_state *conduct = world->conduct;
  char line[640];
  va_list arguments;
  if (conduct->log_lines == LINES_PER_SECOND) {
    conduct->log_left_out++;
    return;
  }
  conduct->log_lines++;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  log_write(&world->def.log, MUSTER_LOG_WARNING, "%s", line);
}

static const char *name_of(const struct muster_world *world, uint32_t type) {
  return world_type(world, type)->name;
}

static double limit_ms(const struct muster_world *world, uint32_t type) {
  return (double)world_type(world, type)->def.limit_ns * 1e-6;
}

/* What an agent did: "3.2 ms in atom 1, limit 0.5 ms". */
static const char *deed_of(const muster_offence *offence, char text[DEED_BYTES]) {
  double took_ms = (double)offence->duration_ns * 1e-6, most_ms = (double)offence->limit_ns * 1e-6;
  if (offence->kind == MUSTER_OFFENCE_STUCK)
    snprintf(text, DEED_BYTES, "a worker was stuck in it for %.4g ms", took_ms);
  else
    snprintf(text, DEED_BYTES, "%s%.4g ms in atom %u, limit %.4g ms",
             offence->kind == MUSTER_OFFENCE_BLOCKED ? "blocked its worker for " : "", took_ms, offence->atom, most_ms);
  return text;
}

/* How a penalty is lifted: by the command that the host's operators type, or by the call. */
static const char *pardon_of_agent(const struct muster_world *world, muster_agent agent, char text[PARDON_BYTES]) {
  if (!world->def.watch.pardon_command) return "muster_agent_pardon()";
  snprintf(text, PARDON_BYTES, "`%s %u.%u`", world->def.watch.pardon_command, muster_agent_index(agent),
           muster_agent_generation(agent));
  return text;
}

static const char *pardon_of_type(const struct muster_world *world, uint32_t type, char text[PARDON_BYTES]) {
  if (!world->def.watch.pardon_command) return "muster_type_pardon()";
  snprintf(text, PARDON_BYTES, "`%s %s`", world->def.watch.pardon_command, name_of(world, type));
  return text;
}

void conduct_tell_offence(struct muster_world *world, const muster_offence *offence) {
  uint32_t number = offence->type.index - 1;
  type_conduct *type = &world->conduct->offenders.types[number];
  ASSERT(number < world->agents.types.count);
  char deed[DEED_BYTES], more[64] = "";
  if (world->frame->now_ns < type->told_until_ns) {
    type->untold++;
    return;
  }
  if (type->untold) snprintf(more, sizeof more, "; %u more of this type since it was last told", type->untold);
  type->told_until_ns = world->frame->now_ns + between_offences_ns;
  type->untold = 0;
  tell(world, "agent %u.%u of type '%s': %s%s", muster_agent_index(offence->agent),
       muster_agent_generation(offence->agent), name_of(world, number), deed_of(offence, deed), more);
}

void conduct_tell_demoted(struct muster_world *world, const muster_offence *offence) {
  const agent_row *row = world_row(world, muster_agent_index(offence->agent));
  char deed[DEED_BYTES], pardon[PARDON_BYTES];
  tell(world, "agent %u.%u of type '%s': %s, repeatedly: down to level %u; %s lifts it",
       muster_agent_index(offence->agent), muster_agent_generation(offence->agent), name_of(world, row->type),
       deed_of(offence, deed), row->level, pardon_of_agent(world, offence->agent, pardon));
}

void conduct_tell_quarantined(struct muster_world *world, const muster_offence *offence) {
  char deed[DEED_BYTES], pardon[PARDON_BYTES];
  tell(world, "agent %u.%u of type '%s': %s: in quarantine, not run any more; %s brings it back",
       muster_agent_index(offence->agent), muster_agent_generation(offence->agent),
       name_of(world, offence->type.index - 1), deed_of(offence, deed), pardon_of_agent(world, offence->agent, pardon));
}

void conduct_tell_type_demoted(struct muster_world *world, uint32_t type) {
  char pardon[PARDON_BYTES];
  tell(world,
       "type '%s': more than an eighth of its updates are over its limit of %.4g ms: all its agents go down to level "
       "%u; %s lifts it",
       name_of(world, type), limit_ms(world, type), world->conduct->offenders.types[type].level_floor,
       pardon_of_type(world, type, pardon));
}

void conduct_tell_type_quarantined(struct muster_world *world, uint32_t type) {
  char pardon[PARDON_BYTES];
  tell(world,
       "type '%s': more than an eighth of its updates are over its limit of %.4g ms, repeatedly: in quarantine, none "
       "of its agents is run any more; %s brings it back",
       name_of(world, type), limit_ms(world, type), pardon_of_type(world, type, pardon));
}

void conduct_tell_type_set_aside(struct muster_world *world, uint32_t type) {
  char pardon[PARDON_BYTES];
  tell(world, "type '%s': in quarantine as the host asked, none of its agents is run any more; %s brings it back",
       name_of(world, type), pardon_of_type(world, type, pardon));
}
