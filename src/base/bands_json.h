/* base/bands_json.h - statistics by bands of importance, as `muster run` and musterd write them. */
#ifndef BASE_BANDS_JSON_H
#define BASE_BANDS_JSON_H

#include "base/json.h"

#include <muster/report.h>

/* Writes a member "staleness_by_importance": five objects, the least important first; times in ns. A band reaches from
 * above `from` (the first one includes it) up to `to`. The interval is null when no update was completed. */
void bands_json(json_writer *writer, const muster_statistics *statistics);

#endif
