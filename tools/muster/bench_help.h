/* bench_help.h - what `muster bench --help` says, the definition of every figure included. */
#ifndef TOOLS_BENCH_HELP_H
#define TOOLS_BENCH_HELP_H

void bench_show_help(void);

#endif
