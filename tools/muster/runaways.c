#include "runaways.h"

#include "text.h"

#include <muster/overruns.h>

static void find_worst(struct runaways *runaways, const muster_world *world) {
  const char *name;
  for (uint32_t i = 1; (name = muster_type_name(world, (muster_type){i})) != NULL; i++) {
    muster_overrun_counts counts = muster_overrun_counts_default();
    if (muster_overrun_counts_read(world, (muster_type){i}, &counts) != MUSTER_OK) continue;
    if (counts.worst_ns > runaways->worst_ns) {
      runaways->worst_ns = counts.worst_ns;
      runaways->worst_type = name;
    }
    if (counts.worst_blocked_ns <= runaways->blocked_ns) continue;
    runaways->blocked_ns = counts.worst_blocked_ns;
    runaways->blocked_type = name;
    runaways->blocked_agent = counts.worst_blocked_agent;
    runaways->blocked_atom = counts.worst_blocked_atom;
  }
}

/* Of the worst, as far as one of its type is among those that are kept. */
static uint64_t limit_of_worst(const struct runaways *runaways, const muster_world *world) {
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT];
  uint32_t count = muster_overruns_read(world, overruns, MUSTER_OVERRUNS_KEPT);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = muster_type_name(world, overruns[i].type);
    if (overruns[i].kind == MUSTER_OVERRUN_CPU && name == runaways->worst_type) return overruns[i].limit_ns;
  }
  return 0;
}

struct runaways runaways_of(const struct host *host, const muster_statistics *statistics,
                            const muster_frame_report *last) {
  struct runaways found = {.overruns = statistics->atoms_over_limit,
                           .blocked = statistics->atoms_blocked,
                           .demotions = statistics->demotions,
                           .quarantines = statistics->quarantines,
                           .stuck = statistics->stuck,
                           .agents_demoted = last->agents_demoted,
                           .agents_quarantined = last->agents_quarantined,
                           .types_quarantined = last->types_quarantined};
  find_worst(&found, host->world);
  if (found.worst_type) found.worst_limit_ns = limit_of_worst(&found, host->world);
  return found;
}

static void print_blocked(FILE *stream, const struct runaways *runaways) {
  if (!runaways->blocked) return;
  fprintf(stream, "          %s atom%s blocked", text_count(runaways->blocked), runaways->blocked == 1 ? "" : "s");
  fprintf(stream, "; the worst for %s: agent %u.%u of type %s,\n          in atom %u\n", text_ns(runaways->blocked_ns),
          muster_agent_index(runaways->blocked_agent), muster_agent_generation(runaways->blocked_agent),
          runaways->blocked_type, runaways->blocked_atom);
}

void runaways_print(FILE *stream, const struct runaways *runaways) {
  bool penalties = runaways->agents_demoted || runaways->agents_quarantined || runaways->types_quarantined;
  if (!runaways->overruns && !runaways->blocked && !runaways->stuck && !penalties) return;
  fprintf(stream, "Runaways  %s atom%s over the limit", text_count(runaways->overruns),
          runaways->overruns == 1 ? "" : "s");
  if (runaways->worst_type)
    fprintf(stream, "; the worst ever took %s, of type %s", text_ns(runaways->worst_ns), runaways->worst_type);
  fprintf(stream, "\n");
  print_blocked(stream, runaways);
  if (penalties)
    fprintf(stream, "          at the end %u agents demoted, %u and %u types in quarantine\n", runaways->agents_demoted,
            runaways->agents_quarantined, runaways->types_quarantined);
  if (runaways->stuck) fprintf(stream, "          a worker was stuck %lu times\n", runaways->stuck);
}

void runaways_json(json_writer *writer, const struct runaways *runaways) {
  json_print(writer,
             "runaways{ overruns=%lu blocked=%lu demotions=%lu quarantines=%lu stuck=%lu agents_demoted=%u "
             "agents_quarantined=%u types_quarantined=%u worst_ns=%lu worst_limit_ns=%lu worst_type=%s "
             "worst_blocked_ns=%lu worst_blocked_type=%s",
             runaways->overruns, runaways->blocked, runaways->demotions, runaways->quarantines, runaways->stuck,
             runaways->agents_demoted, runaways->agents_quarantined, runaways->types_quarantined, runaways->worst_ns,
             runaways->worst_limit_ns, runaways->worst_type, runaways->blocked_ns, runaways->blocked_type);
  if (runaways->blocked_type)
    json_print(writer, "worst_blocked_agent=%u worst_blocked_atom=%u", muster_agent_index(runaways->blocked_agent),
               runaways->blocked_atom);
  json_end_object(writer);
}
