/* bench_quality.h - `muster bench quality`: how fresh each rule keeps a crowd with the same CPU. */
#ifndef TOOLS_BENCH_QUALITY_H
#define TOOLS_BENCH_QUALITY_H

/* arguments[0] is the bench's name. Returns the exit status: failed when Muster misses its target, too. */
int bench_quality_command(int count, char **arguments);

#endif
