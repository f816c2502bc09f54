/* base/bands_json.h - what the statistics say by bands of importance, as `muster run` and musterd write it. */
#ifndef BASE_BANDS_JSON_H
#define BASE_BANDS_JSON_H

#include "base/json.h"

#include <muster/report.h>

/* Writes a member "staleness_by_importance": five objects, the least important first; times in ns. `from` and `to` are
 * the ends of a band: above `from`, but for the first, up to `to`. The interval is null when no update was completed.
 */
void bands_json(json_writer *writer, const muster_statistics *statistics);

#endif
