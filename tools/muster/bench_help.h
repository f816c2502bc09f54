/* bench_help.h - what `muster bench --help` says, the definition of every figure included. */
#ifndef TOOLS_BENCH_HELP_H
#define TOOLS_BENCH_HELP_H

#include <stdio.h>

void bench_show_help(FILE *stream);

#endif
