/* report_text.h - the report of `muster run` for people. */
#ifndef TOOLS_REPORT_TEXT_H
#define TOOLS_REPORT_TEXT_H

#include "summary.h"

/* Prints the report, its lines broken where the terminal ends; the host is asked for the costs of its agent types.
 * False when memory is short. */
bool report_print(const run_summary *summary, const struct host *host);

#endif
