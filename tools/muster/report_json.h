/* report_json.h - the report of `muster run` for machines: one JSON object, all times in nanoseconds. */
#ifndef TOOLS_REPORT_JSON_H
#define TOOLS_REPORT_JSON_H

#include "summary.h"

/* Writes the whole document. Under the virtual clock every member but `workers` is the same whatever the number of
 * workers. */
void report_json(json_writer *writer, const run_summary *summary);

#endif
