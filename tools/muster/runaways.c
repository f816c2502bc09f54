#include "runaways.h"

#include "text.h"

#include <inttypes.h>

static void find_worst(runaways *runaways, const muster_world *world) {
  const char *name;
  for (uint32_t i = 1; (name = muster_type_name(world, (muster_type){i})) != NULL; i++) {
    muster_conduct conduct = muster_default_conduct();
    if (muster_conduct_read(world, (muster_type){i}, &conduct) != MUSTER_OK) continue;
    if (conduct.worst_ns <= runaways->worst_ns) continue;
    runaways->worst_ns = conduct.worst_ns;
    runaways->worst_type = name;
  }
}

runaways runaways_of(const host *host, const muster_statistics *statistics, const muster_frame_report *last) {
  runaways found = {.offences = statistics->atoms_over_limit,
                    .demotions = statistics->demotions,
                    .quarantines = statistics->quarantines,
                    .stuck = statistics->stuck,
                    .agents_demoted = last->agents_demoted,
                    .agents_quarantined = last->agents_quarantined,
                    .types_quarantined = last->types_quarantined};
  find_worst(&found, host->world);
  return found;
}

void runaways_print(FILE *stream, const runaways *runaways) {
  char offences[TEXT_BYTES], worst[TEXT_BYTES];
  bool penalties = runaways->agents_demoted || runaways->agents_quarantined || runaways->types_quarantined;
  if (!runaways->offences && !runaways->stuck && !penalties) return;
  fprintf(stream, "Runaways  %s atom%s over the limit", text_count(offences, runaways->offences),
          runaways->offences == 1 ? "" : "s");
  if (runaways->worst_type)
    fprintf(stream, "; the worst ever took %s, of type %s", text_duration(worst, (double)runaways->worst_ns),
            runaways->worst_type);
  fprintf(stream, "\n");
  if (penalties)
    fprintf(stream, "          at the end %u agents demoted, %u and %u types in quarantine\n", runaways->agents_demoted,
            runaways->agents_quarantined, runaways->types_quarantined);
  if (runaways->stuck) fprintf(stream, "          a worker was stuck %" PRIu64 " times\n", runaways->stuck);
}

void runaways_json(json_writer *writer, const runaways *runaways) {
  json_begin_object(writer, "runaways");
  json_uint(writer, "offences", runaways->offences);
  json_uint(writer, "demotions", runaways->demotions);
  json_uint(writer, "quarantines", runaways->quarantines);
  json_uint(writer, "stuck", runaways->stuck);
  json_uint(writer, "agents_demoted", runaways->agents_demoted);
  json_uint(writer, "agents_quarantined", runaways->agents_quarantined);
  json_uint(writer, "types_quarantined", runaways->types_quarantined);
  json_uint(writer, "worst_ns", runaways->worst_ns);
  if (runaways->worst_type)
    json_string(writer, "worst_type", runaways->worst_type);
  else
    json_null(writer, "worst_type");
  json_end_object(writer);
}
