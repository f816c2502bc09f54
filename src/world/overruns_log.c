#include "world/overruns_log.h"

#include "base/assert.h"
#include "base/error.h"
#include "world/frame_state.h"
#include "world/overruns_state.h"

#include <muster/overruns.h>

#include <stdarg.h>
#include <stdio.h>

enum { OVERRUN_TEXT_BYTES = 96, COMMAND_BYTES = 256 };
static const uint64_t second_ns = 1000000000u, between_overruns_ns = 10000000000u;

void overruns_log_turn(struct muster_world *world) {
  overruns_state *overruns = world->overruns;
  ASSERT(overruns->log_lines <= OVERRUNS_LINES_PER_SECOND);
  if (world->frame->now_ns - overruns->log_begin_ns < second_ns) return;
  if (overruns->log_left_out)
    log_write(&world->def.log, MUSTER_LOG_WARNING, "runaways: %u more penalties were not logged one by one",
              overruns->log_left_out);
  overruns->log_begin_ns = world->frame->now_ns;
  overruns->log_lines = overruns->log_left_out = 0;
}

__attribute__((format(printf, 2, 3))) static void tell(struct muster_world *world, const char *format, ...) {
  overruns_state *overruns = world->overruns;
  char line[640];
  va_list arguments;
  if (overruns->log_lines == OVERRUNS_LINES_PER_SECOND) {
    overruns->log_left_out++;
    return;
  }
  overruns->log_lines++;
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
static const char *text_of_overrun(const muster_overrun *overrun, char text[OVERRUN_TEXT_BYTES]) {
  double took_ms = (double)overrun->duration_ns * 1e-6, most_ms = (double)overrun->limit_ns * 1e-6;
  if (overrun->kind == MUSTER_OVERRUN_STUCK)
    snprintf(text, OVERRUN_TEXT_BYTES, "a worker was stuck in it for %.4g ms", took_ms);
  else
    snprintf(text, OVERRUN_TEXT_BYTES, "%s%.4g ms in atom %u, limit %.4g ms",
             overrun->kind == MUSTER_OVERRUN_BLOCKED ? "blocked its worker for " : "", took_ms, overrun->atom, most_ms);
  return text;
}

/* How a penalty is lifted: by the command that the host's operators type, or by the call. */
static const char *reinstating_agent(const struct muster_world *world, muster_agent agent, char text[COMMAND_BYTES]) {
  if (!world->def.watch.reinstate_command) return "muster_agent_reinstate()";
  snprintf(text, COMMAND_BYTES, "`%s %u.%u`", world->def.watch.reinstate_command, muster_agent_index(agent),
           muster_agent_generation(agent));
  return text;
}

static const char *reinstating_type(const struct muster_world *world, uint32_t type, char text[COMMAND_BYTES]) {
  if (!world->def.watch.reinstate_command) return "muster_type_reinstate()";
  snprintf(text, COMMAND_BYTES, "`%s %s`", world->def.watch.reinstate_command, name_of(world, type));
  return text;
}

void overruns_log_overrun(struct muster_world *world, const muster_overrun *overrun) {
  uint32_t number = overrun->type.index - 1;
  type_overruns *type = &world->overruns->table.types[number];
  ASSERT(number < world->agents.types.count);
  char text[OVERRUN_TEXT_BYTES], more[64] = "";
  if (world->frame->now_ns < type->told_until_ns) {
    type->untold++;
    return;
  }
  if (type->untold) snprintf(more, sizeof more, "; %u more of this type since it was last told", type->untold);
  type->told_until_ns = world->frame->now_ns + between_overruns_ns;
  type->untold = 0;
  tell(world, "agent %u.%u of type '%s': %s%s", muster_agent_index(overrun->agent),
       muster_agent_generation(overrun->agent), name_of(world, number), text_of_overrun(overrun, text), more);
}

void overruns_log_demoted(struct muster_world *world, uint32_t level, const muster_overrun *overrun) {
  char text[OVERRUN_TEXT_BYTES], command[COMMAND_BYTES];
  tell(world, "agent %u.%u of type '%s': %s, repeatedly: down to level %u; %s lifts it",
       muster_agent_index(overrun->agent), muster_agent_generation(overrun->agent),
       name_of(world, overrun->type.index - 1), text_of_overrun(overrun, text), level,
       reinstating_agent(world, overrun->agent, command));
}

void overruns_log_quarantined(struct muster_world *world, const muster_overrun *overrun) {
  char text[OVERRUN_TEXT_BYTES], command[COMMAND_BYTES];
  tell(world, "agent %u.%u of type '%s': %s: in quarantine, not run any more; %s brings it back",
       muster_agent_index(overrun->agent), muster_agent_generation(overrun->agent),
       name_of(world, overrun->type.index - 1), text_of_overrun(overrun, text),
       reinstating_agent(world, overrun->agent, command));
}

void overruns_log_type_demoted(struct muster_world *world, uint32_t type) {
  char command[COMMAND_BYTES];
  tell(world,
       "type '%s': more than an eighth of its updates are over its limit of %.4g ms: all its agents go down to level "
       "%u; %s lifts it",
       name_of(world, type), limit_ms(world, type), world->overruns->table.types[type].level_floor,
       reinstating_type(world, type, command));
}

void overruns_log_type_quarantined(struct muster_world *world, uint32_t type) {
  char command[COMMAND_BYTES];
  tell(world,
       "type '%s': more than an eighth of its updates are over its limit of %.4g ms, repeatedly: in quarantine, none "
       "of its agents is run any more; %s brings it back",
       name_of(world, type), limit_ms(world, type), reinstating_type(world, type, command));
}

void overruns_log_set_aside(struct muster_world *world, uint32_t index) {
  char command[COMMAND_BYTES];
  tell(world, "agent %u of type '%s': in quarantine as the host asked, it is not run any more; %s brings it back",
       muster_agent_index(world_id(world, index)), name_of(world, world->agents.store.rows[index].type),
       reinstating_agent(world, world_id(world, index), command));
}

void overruns_log_type_set_aside(struct muster_world *world, uint32_t type) {
  char command[COMMAND_BYTES];
  tell(world, "type '%s': in quarantine as the host asked, none of its agents is run any more; %s brings it back",
       name_of(world, type), reinstating_type(world, type, command));
}
