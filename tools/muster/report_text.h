/* report_text.h - the report of `muster run` for people. */
#ifndef TOOLS_REPORT_TEXT_H
#define TOOLS_REPORT_TEXT_H

#include "summary.h"

#include <stdio.h>

/* Writes the report; the host is asked for the costs of its agent types. */
void report_text(FILE *stream, const run_summary *summary, const host *host);

#endif
