/* runaways.h - a run's atoms over their limit and the consequences, for both reports. */
#ifndef TOOLS_RUNAWAYS_H
#define TOOLS_RUNAWAYS_H

#include "base/json.h"
#include "host.h"

#include <stdio.h>

struct runaways {
  uint64_t overruns, blocked, demotions, quarantines, stuck; /* of the counted frames */
  uint32_t agents_demoted, agents_quarantined, types_quarantined;
  const char *worst_type;            /* since the world was created; null = no overrun ever */
  uint64_t worst_ns, worst_limit_ns; /* 0 = it is not known any more */
  const char *blocked_type;          /* likewise, of atoms that were blocked; and the agent */
  uint64_t blocked_ns;
  muster_agent blocked_agent;
  uint32_t blocked_atom;
};

/* Gathers them at the end of a run. */
struct runaways runaways_of(const struct host *host, const muster_statistics *statistics,
                            const muster_frame_report *last);

/* Writes lines for people, if there was anything. */
void runaways_print(FILE *stream, const struct runaways *runaways);

/* Writes the member "runaways". */
void runaways_json(json_writer *writer, const struct runaways *runaways);

#endif
