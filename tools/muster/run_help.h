/* run_help.h - what `muster run --help` and `muster explain --help` say. */
#ifndef TOOLS_RUN_HELP_H
#define TOOLS_RUN_HELP_H

#include <stdio.h>

void run_help(FILE *stream);
void run_explain_help(FILE *stream);

#endif
